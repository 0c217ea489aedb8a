"""Writes docs/lab/overhead.md from a record of `lehr lab overhead --record RECORD.json` (or of its `--json`).

RECORD.machine.json beside the record has the activity of the machine, and a handwritten note for the page. The measurement itself fits the laws
(lab/harness/src/overhead/fits.rs); this program only formats them.

Usage: overhead.py RECORD.json > docs/lab/overhead.md. Standard library only.
"""

from comparison import ABSENT, table
from parts import of, opening, write

# The goal for the overhead; papers 002 and 004 reach 0.02 to 0.1 at large grain sizes.
AIM = 0.05
# The R² that E25 of the specification expects of f = a + b/n.
EXPECTED_R2 = 0.9
EXPECTED_A = (0.0, 0.15)


def digits(value):
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.3f}" if size >= 0.01 or size == 0 else f"{value:.1e}"


def spread(figure):
    """Formats the median, and the minimum to the maximum."""
    return f"**{digits(figure['median'])}** ({digits(figure['min'])} to {digits(figure['max'])})"


def unique(values):
    return list(dict.fromkeys(values))


def pivot(head, rows, columns, cell):
    """Yields a table of `cell(row, column)`, which is a figure or None."""
    lines = []
    for row in rows:
        found = [cell(row, column) for column in columns]
        lines.append([str(row), *(spread(figure) if figure else ABSENT for figure in found)])
    yield from table([head, *columns], lines)


def layout_kind(layout):
    threads, processes, nodes = (int(number) for number in layout.split("x"))
    if processes * nodes == 1:
        return "threads"
    return "processes" if threads == 1 else "threads in processes"


def ranks(layout):
    threads, processes, nodes = (int(number) for number in layout.split("x"))
    return threads * processes * nodes


def of_points(figures):
    return [figure for figure in of(figures, "overhead") if "method" not in figure]


def summary(figures):
    overheads = of_points(figures)
    lines = []
    for layout in unique(figure["layout"] for figure in overheads):
        here = [figure for figure in overheads if figure["layout"] == layout]
        largest = max(figure["rows"] for figure in here)
        at_largest = [figure for figure in here if figure["rows"] == largest]
        best = min(at_largest, key=lambda figure: figure["median"])
        within = sum(figure["median"] <= AIM for figure in here)
        lines.append([layout, layout_kind(layout), f"{within} of {len(here)}", f"{digits(best['median'])} (K = {best['clusters']})", f"{100 / (1 + best['median']):.0f} %"])
    yield from table(["layout", "", f"cases with f up to {AIM}", "f at the largest grain", "efficiency 1/(1+f)"], lines)


def overheads(figures):
    found = {(figure["rows"], figure["clusters"], figure["layout"]): figure for figure in of_points(figures)}
    layouts = unique(key[2] for key in found)
    counts = {}
    for rows, clusters, _ in found:
        counts.setdefault(clusters, set()).add(rows)
    for clusters in sorted(clusters for clusters, rows in counts.items() if len(rows) > 1):
        yield f"### Against grain size, K = {clusters}"
        yield ""
        lines = []
        for rows in sorted(counts[clusters]):
            cells = [found.get((rows, clusters, layout)) for layout in layouts]
            lines.append([f"{rows:,}", " / ".join(unique(f"{rows // ranks(layout):,}" for layout in layouts)), *(spread(cell) if cell else ABSENT for cell in cells)])
        yield from table(["N", "n = N/p", *layouts], lines)
    by_rows = {}
    for rows, clusters, _ in found:
        by_rows.setdefault(rows, set()).add(clusters)
    for rows in sorted(rows for rows, clusters in by_rows.items() if len(clusters) > 2):
        yield f"### Against the number of clusters, N = {rows:,}"
        yield ""
        yield from pivot("K", sorted(by_rows[rows]), layouts, lambda clusters, layout: found.get((rows, clusters, layout)))


#: The tables of overheads by case and layout, apart from those of points: the method, the title, and the text after the command.
METHODS = (
    ("census", "Of the census", "census blocks of three states, weighted by their inhabitants, against the number of clusters (000 figure 2 (a), 004 figure 2 (a))."),
    ("pairs", "Of pairwise clustering", "003's method. Every rank has its rows of the matrix of distances; the memberships of all items are gathered each sweep."),
    ("sequences", "Of gene sequences", "003's method on Alu repeats compared by local alignments (003 figures 4 to 11; the paper's own sequences were not published)."),
)


def by_method(figures):
    for method, title, text in METHODS:
        found = {(figure["case"].removeprefix(f"{method}, "), figure["layout"]): figure for figure in of(figures, "overhead") if figure.get("method") == method}
        if found:
            yield f"### {title}"
            yield ""
            yield f"`lehr lab overhead --only {method}`: {text}"
            yield ""
            yield from pivot("case", unique(case for case, _ in found), unique(layout for _, layout in found), lambda case, layout, found=found: found.get((case, layout)))


def engines(figures):
    """Yields the section for 003 figure 9."""
    found = {(figure["case"].removeprefix("pairs, "), figure["layout"]): figure for figure in of(figures, "ports less loop")}
    if not found:
        return
    yield "### Of pairwise clustering, ports less the loop"
    yield ""
    yield "The difference of their overheads, both over ranks on one thread (003 figure 9, CCR less TPL): above 0, ports lose more. In processes ranks run alone, so figure 12, the same in MPI processes, has no counterpart."
    yield ""
    yield from pivot("case", unique(case for case, _ in found), unique(layout for _, layout in found), lambda case, layout: found.get((case, layout)))


def scaling(figures):
    """Yields the section for 003 section 5.2."""
    titles = {
        "scaling": "Seconds of 100 iterations (003 figures 15, 17 and 19)",
        "efficiency of scaling": "Efficiency, T(1) / (p T(p)) of the same engine (003 figures 16, 18 and 20)",
        "ports over loop": "Ports over the loop on as many threads",
    }
    if not any(of(figures, experiment) for experiment in titles):
        return
    yield "## Maps by three engines"
    yield ""
    yield "`lehr lab overhead --only scaling`: the papers' sets, from the same random positions, without the longer steps that the method takes otherwise; three dimensions, the matrix in 32 bits. Every side ends with the same bits."
    yield ""
    for experiment, title in titles.items():
        found = {(figure["case"].removeprefix("scaling, "), figure["engine"]): figure for figure in of(figures, experiment)}
        if found:
            yield f"### {title}"
            yield ""
            sides = unique(side for _, side in found)
            yield from pivot("set", unique(case for case, _ in found), sides, lambda case, side: found.get((case, side)))


def law(case):
    """Returns ("a + b/n", "K = 10, 2x1x1") of a fit's case."""
    name, group = case.split("; ", 1)
    return name, group


def laws(figures):
    fits = of(figures, "fit")
    for name in unique(law(figure["case"])[0] for figure in fits):
        here = [figure for figure in fits if law(figure["case"])[0] == name]
        coefficients = unique(figure["engine"] for figure in here)
        yield f"### f = {name}"
        yield ""
        lines = []
        for group in unique(law(figure["case"])[1] for figure in here):
            mine = {figure["engine"]: figure for figure in here if law(figure["case"])[1] == group}
            residuals = [figure for figure in of(figures, "residual") if figure["case"] == f"{name}; {group}"]
            largest = max(residuals, key=lambda figure: abs(figure["median"]), default=None)
            points = next((figure.get("note") for figure in mine.values() if figure.get("note")), ABSENT)
            lines.append([group, points, *(spread(mine[coefficient]) for coefficient in coefficients), f"{digits(largest['median'])} at {largest['engine']}" if largest else ABSENT])
        yield from table(["for", "", *coefficients, "largest residual"], lines)
    left = of(figures, "left out") + of(figures, "not fitted")
    if left:
        yield "Left out, or not fitted:"
        yield ""
        yield from table(["law", "point", "f", "why"], ([figure["case"], figure["engine"], spread(figure), figure.get("note", ABSENT)] for figure in left))
    else:
        yield "No point was left out: every f is below 1, the region that the models are for."
        yield ""


def expectations(figures):
    """Yields the section for E25 (b): the law, its quality, its asymptote, and whether b falls as K grows."""
    fits = {}
    for figure in of(figures, "fit"):
        name, group = law(figure["case"])
        if name == "a + b/n" and group.startswith("K = "):
            clusters, layout = group.removeprefix("K = ").split(", ")
            fits.setdefault(layout, {}).setdefault(int(clusters), {})[figure["engine"]] = figure["median"]
    lines = []
    for layout, by_clusters in fits.items():
        quality = [fit["R²"] for fit in by_clusters.values()]
        limits = [fit["a"] for fit in by_clusters.values()]
        slopes = [by_clusters[clusters]["b"] for clusters in sorted(by_clusters)]
        falls = all(later < earlier for earlier, later in zip(slopes, slopes[1:]))
        lines.append(
            [
                layout,
                ", ".join(f"{value:.2f}" for value in quality) + (" (holds)" if min(quality) > EXPECTED_R2 else " (missed)"),
                ", ".join(digits(value) for value in limits) + (" (holds)" if EXPECTED_A[0] <= min(limits) and max(limits) <= EXPECTED_A[1] else " (missed)"),
                ", ".join(digits(value) for value in slopes) + ("" if len(slopes) < 2 else " (holds)" if falls else " (missed)"),
            ]
        )
    yield from table(["layout", f"R² above {EXPECTED_R2}", f"a from {EXPECTED_A[0]:.0f} to {EXPECTED_A[1]}", "b falls as K grows"], lines)


def reduced(figures):
    found = {(figure["case"], figure["layout"]): figure for figure in of(figures, "map-reduce")}
    if not found:
        return
    yield "## Map-reduce beside ranks"
    yield ""
    yield "The same run, rounds as map, shuffle, reduce and gather (`--engine map-reduce`), over ranks in the same layout: 2 is twice as long. Same bits."
    yield ""
    yield from pivot("case", unique(case for case, _ in found), unique(layout for _, layout in found), lambda case, layout: found.get((case, layout)))


def stages(figures):
    titles = {
        "deviation over mean": "Standard deviation over mean of all times of all ranks (000 figures 6 and 7, 004 figures 4 and 5)",
        "range over mean": "Most less least over mean of the ranks of a stage, averaged over stages (000 figure 8)",
        "kernel": "The kernel, ns a point and centre: scaled run time (000 figures 3 to 5, 004 figure 3)",
    }
    if not any(of(figures, experiment) for experiment in titles):
        return
    yield "## How evenly ranks run"
    yield ""
    yield "`lehr lab overhead --only stages`: the kernel alone, n points of each rank and K centres, in stages that all ranks begin together; the synchronisation is not counted. *C*: threads or processes that meet at a lock, with a kernel in C."
    yield ""
    for experiment, title in titles.items():
        # The engine is the layout, after "C, " for the program in C.
        found = {(figure["case"].removeprefix("stages, "), figure["engine"]): figure for figure in of(figures, experiment)}
        if found:
            cases, layouts = unique(case for case, _ in found), unique(layout for _, layout in found)
            yield f"### {title}"
            yield ""
            yield from pivot("case", cases, layouts, lambda case, layout: found.get((case, layout)))
            if experiment == "deviation over mean":
                yield "Samples in each round, all ranks together: 1000 a rank as in the papers where the stages are short enough, fewer where they are not."
                yield ""
                counts = {key: figure.get("note", ABSENT).removesuffix(" samples a round") for key, figure in found.items()}
                yield from table(["case", *layouts], ([case, *(counts.get((case, layout), ABSENT) for layout in layouts)] for case in cases))


def padding(figures):
    found = of(figures, "padding")
    if not found:
        return
    yield "## Sums that share cache lines"
    yield ""
    yield "`lehr lab overhead --only padding` (000 table II, which has separations of 8, 32, 64 and 8192 bytes; E25 (c)): each thread adds to sums of its own, in memory each time, and the sums of the"
    yield "threads follow each other. Time of the slowest thread over that with 8192 bytes between the sums, in samples in which the threads add at the same time. With 3, 30 and 240 sums: the masses and"
    yield "moments of 1, 10 and 80 clusters in the plane, packed; the papers saw factors up to 25 at 8 threads. Lehr's sums are each leaf's own, in memory that its thread asked for."
    yield ""
    engines = unique(figure["engine"] for figure in found)
    cells = {(figure["case"].removeprefix("padding, "), figure["engine"]): figure for figure in found}
    yield from pivot("case", unique(case for case, _ in cells), engines, lambda case, engine: cells.get((case, engine)))


def page(figures, about):
    cores = (about.get("sessions") or [{}])[-1].get("machine", {}).get("threads")
    notes = [
        "- **f** = p T(p) / (p_ref T(p_ref)) - 1 (003 eq. 2 and 3) with p_ref = 1: both solve the same N rows, so with n = N/p rows a rank it is the scaled form (P T(n,P) - T(Pn,1)) / T(Pn,1)",
        "  of 004 eq. 2. T is a whole clustering run, threads started and stopped; every layout ends with the same bits.",
        "- **Layouts** are threads x processes x nodes: 2x1x1 is two threads of a process, 1x2x1 two MPI processes.",
        "- **Figures** are medians over rounds in which every side took its turn, with least and most in parentheses. Laws are fitted to each round by itself.",
        *([f"- **This machine** has {cores} cores; layouts with more ranks were not taken. Laws in p need a machine with more."] if cores else []),
        f"- `{ABSENT}`: not in this record.",
    ]
    yield from opening("What is lost by dividing a run", "overhead", "lab", notes, about)
    if of_points(figures):
        yield "## In short"
        yield ""
        yield from summary(figures)
        yield "What the specification expects (E25) of f = a + b/n, by number of clusters:"
        yield ""
        yield from expectations(figures)
    if of(figures, "overhead"):
        yield "## Overheads"
        yield ""
        yield from overheads(figures)
        yield from by_method(figures)
        yield from engines(figures)
        yield "## Laws"
        yield ""
        yield from laws(figures)
    yield from reduced(figures)
    yield from scaling(figures)
    yield from stages(figures)
    yield from padding(figures)


if __name__ == "__main__":
    write(__doc__, page)
