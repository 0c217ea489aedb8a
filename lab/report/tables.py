"""Clusters each table of lab/tables with `lehr cluster FILE --auto`, and compares Lehr's account of its columns with the truth beside it.

The truth of FILE.csv is FILE.toml, written by hand from the file: see lab/tables/README.md. Prints a line a table; writes the page to PAGE.

Usage: tables.py LEHR [PAGE]. Standard library only.
"""

import json
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

from comparison import table

TABLES = Path(__file__).resolve().parent.parent / "tables"

EITHER = "either"


def read_as(form):
    """Returns how a column was read, in the words that the command prints."""
    match form["kind"]:
        case "written_number":
            words = ["number"]
            if form["decimal"] != ".":
                words.append(f"decimal '{form['decimal']}'")
            if form["thousands"]:
                words.append(f"thousands '{form['thousands']}'")
            if form["currency"]:
                words.append(form["currency"])
            if form["is_percent"]:
                words.append("per cent")
            if form["has_powers"]:
                words.append("K and M")
            if form["is_ambiguous"]:
                words.append("ambiguous")
            return ", ".join(words)
        case "truth":
            return "yes or no"
        case "date":
            return ("date and time, " if form["has_time"] else "date, ") + form["form"]
        case "time_of_day":
            return "time of day"
        case kind:
            return kind


def allowed(found, truth):
    """Returns whether the found reading is one that the truth allows."""
    if truth == EITHER:
        return True
    return any(found == one or (one == "date, any" and found.startswith("date")) for one in str(truth).split("|"))


def wrong_of_column(account, truth):
    """Returns the parts of a column's account that the truth does not allow, as texts."""
    _, role, form, missing, used = truth
    pairs = [
        ("role", account["role"], role),
        ("read as", read_as(account["read_as"]), form),
        ("missing", str(account["missing"]), missing),
        ("used", "yes" if account["is_used"] else "no", used),
    ]
    if account["role"] in ("constant", "empty"):
        # The reading of a single value does not matter.
        del pairs[1]
    return [f"{what} {found}, should be {right}" for what, found, right in pairs if not allowed(found, right)]


def wrong_of_columns(accounts, truths):
    """Yields (name, faults) of each column that is wrong or absent, or that the table doesn't have."""
    extra = [account for account in accounts if account["role"] != "empty" or any(truth[0] == account["name"] for truth in truths)]
    if len(extra) == len(truths):
        pairs = list(zip(extra, truths))
    else:
        by_name = {account["name"]: account for account in extra}
        pairs = [(by_name.pop(truth[0], None), truth) for truth in truths]
        yield from ((name, "no column of the table") for name in by_name)
    for account, truth in pairs:
        if account is None:
            yield truth[0], "not in the account"
            continue
        wrong = wrong_of_column(account, truth)
        if " ".join(truth[0].split()) not in account["name"]:
            wrong.append(f"named {account['name']!r}")
        if wrong:
            yield truth[0], "; ".join(wrong)


def truth_of(file):
    """Returns the truth beside a table: FILE.toml, or FILE.csv.toml if two tables have the same name."""
    for path in (file.with_name(file.name + ".toml"), file.with_suffix(".toml")):
        if path.is_file():
            return tomllib.loads(path.read_text(encoding="utf-8"))
    sys.exit(f"{file}: no truth beside it")


def run(command, file, folder):
    """Returns (summary, seconds, message) of one run; the summary is None if it failed."""
    begun = time.monotonic()
    done = subprocess.run([command, "cluster", str(file), "--auto", "--quiet", "--out", folder], capture_output=True, text=True, check=False)
    seconds = time.monotonic() - begun
    summary = Path(folder) / "summary.json"
    if done.returncode or not summary.is_file():
        return None, seconds, done.stderr.strip()
    return json.loads(summary.read_text(encoding="utf-8")), seconds, ""


def result_of(command, file):
    """Returns the result of one table, compared with its truth."""
    truth = truth_of(file)
    with tempfile.TemporaryDirectory() as folder:
        summary, seconds, message = run(command, file, folder)
    found = {"file": file.name, "kind": truth["kind"], "seconds": seconds, "columns": len(truth["columns"])}
    if summary is None:
        return found | {"wrong": [("the table", message)], "right": 0, "failed": True}
    wrong = list(wrong_of_columns(summary["columns"], truth["columns"]))
    right = len(truth["columns"]) - len({name for name, _ in wrong if name in {column[0] for column in truth["columns"]}})
    if summary["input"]["rows"] != truth["rows"]:
        wrong.insert(0, ("rows", f"{summary['input']['rows']:,}, should be {truth['rows']:,}"))
    sizes = [cluster["rows"] for cluster in summary["clusters"]]
    return found | {
        "wrong": wrong,
        "right": right,
        "failed": False,
        "rows": summary["input"]["rows"],
        "used": len(summary["input"]["columns"]),
        "sizes": sizes,
        "outliers": (summary.get("outlying") or {}).get("rows", 0),
        "names": [cluster["name"] for cluster in summary["explanation"]["clusters"]],
        "tree": summary["explanation"].get("tree"),
    }


def line(result):
    """Returns one line for the terminal."""
    if result["failed"]:
        return f"{result['file']}: failed: {result['wrong'][0][1]}"
    return f"{result['file']}: {result['right']} of {result['columns']} columns right; clusters of {', '.join(map(str, result['sizes']))}; {result['outliers']} outliers; {result['seconds']:.2f} s"


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def page(results):
    columns = sum(result["columns"] for result in results)
    right = sum(result["right"] for result in results)
    whole = sum(not result["wrong"] for result in results)
    yield "# Ordinary tables, at the first command"
    yield ""
    yield "Generated by `make bench-tables` (`lab/report/tables.py`); do not edit. The tables are real and public: [sources and licences](../../lab/tables/README.md)."
    yield ""
    yield "- Each was clustered by `lehr cluster FILE --auto`, with no other option."
    yield "- A person wrote down beforehand what each column is: its role, how its values are to be read, how many are missing, and whether it belongs in distances. Where two answers are sensible, both count."
    yield "- A column is right if all four are. There is no true number of clusters; sizes and names are there to judge by eye. One cluster means that no division has a valley of density in it: Lehr says so, and how to divide the rows all the same."
    yield ""
    yield f"**{right} of {columns} columns are right; {whole} of {len(results)} tables have nothing wrong.**"
    yield ""
    yield from table(
        ["table", "what", "rows", "columns right", "in distances", "rows of each cluster", "rows far out", "s"],
        (
            [
                f"`{result['file']}`",
                result["kind"],
                *(
                    ["failed", "", "", "", ""]
                    if result["failed"]
                    else [f"{result['rows']:,}", f"{result['right']} of {result['columns']}", str(result["used"]), ", ".join(f"{size:,}" for size in result["sizes"]), str(result["outliers"])]
                ),
                f"{result['seconds']:.1f}",
            ]
            for result in results
        ),
    )
    yield ""
    yield "## What was wrong"
    yield ""
    wrong = [[f"`{result['file']}`", cell(name), cell(what)] for result in results for name, what in result["wrong"]]
    if wrong:
        yield from table(["table", "column", "what"], wrong)
    else:
        yield "Nothing."
    yield ""
    yield "## What sets the clusters apart"
    yield ""
    yield from table(["table", "clusters"], ([f"`{result['file']}`", cell("; ".join(f"**{number}** {name}" for number, name in enumerate(result["names"])))] for result in results if not result["failed"]))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    results = []
    for file in sorted(path for path in TABLES.iterdir() if path.suffix not in (".toml", ".md")):
        result = result_of(sys.argv[1], file)
        results.append(result)
        print(line(result), flush=True)
        for name, what in result["wrong"]:
            print(f"  {name}: {what}", flush=True)
    if len(sys.argv) == 3:
        Path(sys.argv[2]).write_text("\n".join(page(results)).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
