"""Writes docs/lab/mixed.md from a record of `make bench-mixed`: the job from a messy file to labels, and quality on tables of mixed types, beside other tools.

Usage: mixed.py RECORD.json > docs/lab/mixed.md. Standard library only.
"""

import json
import statistics
import sys
from pathlib import Path

from comparison import ABSENT, digits, table

HERE = Path(__file__).resolve().parent
POINTS = HERE.parent / "definitions/mixed/points.json"
# Agreements that differ by less than this count as level.
LEVEL = 0.02
WORDS = {"yes": "yes", "hand": "by hand", "no": "no"}
PROGRAMS = {"Lehr": "job_lehr.sh", "scikit-learn + skrub": "job_skrub.py", "Orange": "job_orange.py", "FactoMineR": "job_factominer.R", "DuckDB (reads only)": "job_duckdb.py"}
ORDER = {
    "given": ["Lehr", "Lehr, all columns", "k-prototypes (kmodes)", "k-prototypes (clustMixType)", "Gower + PAM", "FAMD + k-means (prince)", "FAMD + HCPC (FactoMineR)", "skrub + k-means"],
    "found": ["Lehr", "Lehr, all columns", "FAMD + HCPC (FactoMineR)", "skrub + k-means, silhouette"],
}
TRIALS = {
    "new column": "a new column, which no step needs",
    "missing column": "a column missing that was used",
    "other marks": "the next file with English marks, and the same separator",
    "first file from England": "both files from England",
}


def point(cell):
    verdict, evidence = cell
    return WORDS[verdict] + (f": {evidence}" if evidence else "")


def share(value):
    return ABSENT if value is None else f"{value:.3f}"


def time(seconds):
    return f"**{digits(statistics.median(seconds))}** ({digits(min(seconds))} to {digits(max(seconds))})" if seconds else ABSENT


def job_row(name, found):
    reads_only = "reads only" in name
    judged = [ABSENT] * 4 if reads_only else [str(found["clusters"]), share(found["agreement"]), f"{found['planted_among_first']} of 12", share(found["agreement_of_next"])]
    return [f"[{name}](../../lab/runners/mixed/{PROGRAMS[name]})", str(found["lines"]), time(found["seconds"]), *judged]


def outcome(name, trial):
    """Describes in words the result of a program for a changed file."""
    if trial["is_refused"]:
        return "refused" + (", the column named" if trial["is_named"] else "")
    agreement = trial["agreement_of_next"]
    if name == "new column":
        return "reported" if trial["is_named"] else "not mentioned"
    if name == "first file from England" and trial["agreement"] is not None:
        return f"no fault reported: groups {share(trial['agreement'])}, next {share(agreement)}"
    return f"no fault reported: next {share(agreement)}"


def mean(found):
    return statistics.mean(found["agreement"])


def is_best(found, others):
    return mean(found) >= max(mean(other) for other in others) - LEVEL


def cell(entry, part, name):
    found = entry[part].get(name)
    if found is None:
        return ABSENT
    # A tiny negative mean is shown as 0.
    text = f"{round(mean(found), 2) + 0.0:.2f}"
    text = f"**{text}**" if is_best(found, entry[part].values()) else text
    if part == "given":
        return text
    least, most = min(found["clusters"]), max(found["clusters"])
    return f"{text} ({least})" if least == most else f"{text} ({least} to {most})"


def tally(entries, part, name):
    """Returns how often a contender is the best, or level with the best."""
    judged = [entry for entry in entries if name in entry[part]]
    return f"{sum(is_best(entry[part][name], entry[part].values()) for entry in judged)} of {len(judged)}" if judged else ABSENT


def behind(sets, part, name):
    """Returns the sets in which a contender is below the best by more than LEVEL, the worst first, with both figures."""
    lost = []
    for title, entry in sets.items():
        best = max(map(mean, entry[part].values()))
        if name in entry[part] and best - mean(entry[part][name]) > LEVEL:
            lost.append((best - mean(entry[part][name]), f"{title} ({cell(entry, part, name).replace(' (', ', K ').removesuffix(')')}, best {best:.2f})"))
    return [text for _, text in sorted(lost, reverse=True)]


def of_job(record):
    yield "## The job"
    yield ""
    yield "5,120 rows of invented customers, German marks: four groups, 12 extreme rows, money, per cent, dates, a tenth of the measures missing, skew, rows entered twice. A month later 1,000 more come, with a column less and a new one. A program reads the file, forms and explains groups, lists outliers, and labels the second file. A competent user of each tool would write it so; each is linked."
    yield ""
    yield "- *Lines* are lines of code, without blank lines and comments. How long a person takes to write them was not measured.\n- *Seconds* are those of the whole program from its start: median (least to most) of five rounds in turns.\n- *Agreement* is the adjusted Rand index with the planted groups, without the 12. It is 1 for the same groups, and about 0 by chance."
    yield ""
    yield from table(["program", "lines", "seconds", "groups (4)", "agreement", "extreme rows among the first 15 listed", "agreement of the next file"], (job_row(name, found) for name, found in record["job"].items()))
    yield "## Reading the file"
    yield ""
    reading = record["reading"]
    count = len(reading["columns"])
    yield f"How many of the {count} columns that are numbers or dates each reader takes for what they are, before a person helps. The others of the 11 are texts for everybody."
    yield ""
    readers = list(reading["right"]["German"])
    yield from table(["reader", "German file", "English file"], ([name, *(f"{len(reading['right'][country][name])} of {count}" for country in ("German", "English"))] for name in readers))
    yield "Told the type of a column too, DuckDB reads the one with thousands. It does not read signs of currency."
    yield ""


def of_points(points):
    yield "## Point by point"
    yield ""
    yield "*Yes*: the tool does it by itself, or by a call that is made for it. *By hand*: the program does it, with the parts named. Edited in `lab/definitions/mixed/points.json`."
    yield ""
    yield from table(["point", *points["tools"]], ([entry["point"], *(point(one) for one in entry["cells"])] for entry in points["points"]))


def of_trials(record):
    programs = {name: found for name, found in record["job"].items() if "trials" in found}
    yield "## Files that differ"
    yield ""
    yield "The same programs with files that they were not written for. Figures are agreements with the planted groups. Programs in Python and R report a new column because they compare the sets of names by hand. Orange's refused other marks because of the dates' form. The others read `50.43` as 5043."
    yield ""
    yield from table(["file", *programs], ([words, *(outcome(trial, found["trials"][trial]) for found in programs.values())] for trial, words in TRIALS.items()))


def of_quality(record, reasons):
    sets = record["quality"]
    yield "## Quality on mixed types"
    yield ""
    yield f"Adjusted Rand index, the mean over five seeds (three where the number is found); in bold what is within {LEVEL} of the best of the row."
    yield ""
    yield "- **Class labels are not clusters.** For the real tables the index says how far groups agree with what people named, which need not be groups at all. Only the invented and drawn tables have known groups."
    yield "- *Lehr* is `lehr cluster FILE --auto` on the file as it is, without its class: measures form clusters, categories explain them. *All columns* names measures and categories by `--columns`; but one of credit approval, whose numbers begin with zeros, is a code for Lehr."
    yield "- The others cannot read such files. They get a frame in which a person said what is a measure and what a category, gaps filled by median or most frequent text, logarithms of positive measures with skewness above 2. Ids and remarks are left out. In the job above a person left out the categories too, and k-means found the groups of the customers."
    yield "- k-means and clustMixType have ten starts a seed; kmodes and PAM three, since they take long. FAMD keeps five axes. HCPC has no chance in it: one run. With no number given, HCPC chooses from 3 to 10, silhouettes from 2 to 10."
    yield ""
    for part, title in (("given", "The number of groups given"), ("found", "The number found")):
        yield f"### {title}"
        yield ""
        if part == "found":
            yield "In parentheses how many were found. One cluster has agreement 0."
            yield ""
        heads = ["table", "rows", "measures", "categories", "groups", *ORDER[part]]
        rows = [[name, f"{entry['rows']:,}", str(entry["measures"]), str(entry["categories"]), str(entry["groups"]), *(cell(entry, part, side) for side in ORDER[part])] for name, entry in sets.items()]
        for kind, words in (("groups", "best or level, known groups"), ("classes", "best or level, classes")):
            entries = [entry for entry in sets.values() if entry["kind"] == kind]
            rows.append([f"*{words}*", "", "", "", "", *(tally(entries, part, side) for side in ORDER[part])])
        yield from table(heads, rows)
    yield "### Where Lehr is behind"
    yield ""
    for part, words in (("given", "number given"), ("found", "number found")):
        for name in ("Lehr", "Lehr, all columns"):
            lost = behind(sets, part, name)
            yield f"- *{name}*, {words}: {len(lost)} of {len(sets)}" + (": " + "; ".join(lost) if lost else "") + "."
    yield ""
    yield "Why (edited in `lab/definitions/mixed/points.json`):"
    yield ""
    yield from (f"- {reason}" for reason in reasons)


def page(record, points):
    about = record["machine"]
    yield "# Tables of mixed types: Lehr beside other tools"
    yield ""
    yield "Generated by `lab/report/mixed.py` from a record of `make bench-mixed`; do not edit. Programs: [lab/runners/mixed](../../lab/runners/mixed). Real tables: [sources and terms](../../lab/mixed/README.md)."
    yield ""
    yield f"{about['processor']}, {about['threads']} threads, {about['system']}. {', '.join(f'{name} {number}' for name, number in record['versions'].items())}."
    yield ""
    if "note" in record:
        yield record["note"]
        yield ""
    yield from of_job(record)
    yield from of_points(points)
    yield from of_trials(record)
    yield from of_quality(record, points["reasons"])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip().splitlines()[-1])
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("\n".join(page(given, json.loads(POINTS.read_text(encoding="utf-8")))).rstrip())
