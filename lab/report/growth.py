"""Writes docs/lab/growth.md from a record of `lehr lab growth --record RECORD.json` (or of its `--json`).

RECORD.machine.json beside the record has the activity of the machine, and a handwritten note for the page.

Usage: growth.py RECORD.json > docs/lab/growth.md. Standard library only.
"""

from comparison import ABSENT, digits, spread, table
from parts import of, opening, write

TITLES = {"clusters": "Annealed clusters", "k-means": "K-means, one start", "mixture": "Mixtures with full covariances", "map": "Topographic maps"}
ENGINES = {"clusters": "lehr cluster", "k-means": "lehr cluster --method kmeans", "mixture": "lehr mixture", "map": "lehr gtm"}
EXPERIMENTS = ("time", "passes", "time of a pass", "memory")
# The exponents that follow from the formulas of a pass.
A_PASS = {"rows": "1", "columns": "1", "clusters": "1", "ranks": "-1 as far as there are cores"}
A_PASS_OF = {("mixture", "columns"): "between 1 and 2: a triangle of covariances"}
MEMORY = {"rows": "1 where the rows are most of it", "columns": "1 where the rows are most of it", "clusters": "0", "ranks": "0"}


def cases(figures, method):
    """Returns (case, figures by experiment) of a method, in the order of the record."""
    found = {}
    for figure in figures:
        if figure["experiment"] in EXPERIMENTS and figure["case"].startswith(method + ", "):
            found.setdefault(figure["case"].removeprefix(method + ", "), {})[figure["experiment"]] = figure
    return [(case, parts) for case, parts in found.items() if "time" in parts]


def is_misleading(figure):
    """Returns whether a figure is misleading: for k-means, passes are sweeps, but the time includes drawing the start, with two passes for each centre. So the time of a pass would have no meaning."""
    return figure["engine"] == ENGINES["k-means"] and "time of a pass" in figure["experiment"] + figure["case"]


def expected(method, experiment, quantity):
    if experiment == "time of a pass":
        return A_PASS_OF.get((method, quantity), A_PASS[quantity])
    return MEMORY[quantity] if experiment == "memory" else ABSENT


def page(figures, about):
    figures = [figure for figure in figures if not is_misleading(figure)]
    notes = [
        "- **Rows** are blobs on a grid, each moved a little (`lab/harness/src/growth/blobs.rs`): N rows of D columns in K blobs. Annealing and mixtures find the blobs (adjusted Rand above 0.95), or the measurement ends.",
        "- **A run** is a command as users run it, a process of its own on all cores: its time is from start to end with reading and writing, its memory the maximum that was resident. P ranks are so many threads.",
        "- **Passes** go over all rows; *ms a pass* is the method's time over their number, without reading and writing; there is none of k-means, whose passes are sweeps and whose time has the drawing of its start in it. Maps have nodes in the place of clusters: 225 below 2,000 rows, 400 from there on, which is in their exponents against rows.",
        "- **Exponents** e of `c x^e` are fitted to the logarithms of each round. Small sizes have what does not grow in them: the start of a process, threads. Memory is looked at every 20 ms: of a run that is hardly longer it says little.",
        f"- `{ABSENT}`: there is none, or nothing is expected of it: how many passes a run takes is the data's.",
    ]
    yield from opening("How clusters, mixtures and maps of rows grow", "growth", "lab", notes, about)
    for method, title in TITLES.items():
        lines = cases(figures, method)
        if not lines:
            continue
        yield f"## {title}"
        yield ""
        yield f"`{ENGINES[method]}`"
        yield ""

        def cell(parts, experiment):
            return digits(parts[experiment]["median"]) if experiment in parts else ABSENT

        yield from table(
            ["case", "seconds", "passes", "ms a pass", "most MiB"],
            ([case, spread(parts["time"]), cell(parts, "passes"), cell(parts, "time of a pass"), cell(parts, "memory")] for case, parts in lines),
        )
        exponents = [figure for figure in of(figures, "exponent") if figure["engine"] == ENGINES[method]]
        if exponents:
            parts = [(figure, *figure["case"].split(" against ")) for figure in exponents]
            yield from table(
                ["exponent of", "against", "measured", "expected"],
                ([experiment, quantity, spread(figure), expected(method, experiment, quantity)] for figure, experiment, quantity in parts),
            )


if __name__ == "__main__":
    write(__doc__, page)
