"""Writes docs/lab/chemistry.md from a record of `lehr lab chemistry --record RECORD.json` (or of its `--json`).

RECORD.machine.json beside the record has the activity of the machine, and a handwritten note for the page.

Usage: chemistry.py RECORD.json > docs/lab/chemistry.md. Standard library only.
"""

import re

from comparison import ABSENT, digits, spread, table
from parts import of, opening, write

BITS, NUMBERS = "lehr bits", "lehr numbers"


def by_size(figures):
    """Sorts figures by rows and clusters, in whatever order they were measured."""
    return sorted(figures, key=lambda figure: [int(number) for number in re.findall(r"\d+", figure["case"])][:2])


def found(figures, experiment, like, engine=None, workers=None):
    """Returns the figure of another experiment in the same case, of the given side and number of workers."""
    for figure in of(figures, experiment):
        if figure["case"] == like["case"] and engine in (None, figure["engine"]) and workers in (None, figure.get("workers")):
            return figure
    return None


def middle(figure):
    return ABSENT if figure is None else digits(figure["median"])


def whole(figure):
    """Formats a figure, with its spread if it was measured more than once."""
    if figure is None:
        return ABSENT
    return spread(figure) if figure["runs"] > 1 else f"**{digits(figure['median'])}**"


def squares(figure):
    """Formats a sum of squares with one decimal, since bits and numbers may differ only in the last of six digits."""
    return ABSENT if figure is None else f"{figure['median']:.1f}"


def percent(figure):
    return ABSENT if figure is None else f"{100 * figure['median']:.1f} %"


def steps(figures):
    for step in of(figures, "step"):
        if step["engine"] == BITS:
            numbers = found(figures, "step", step, NUMBERS)
            yield [step["case"].replace(", step", ""), whole(step), whole(numbers), whole(found(figures, "bits over numbers", step, BITS))]


def runs(figures, is_synthetic):
    for run in of(figures, "run"):
        if ("synthetic" in run["case"]) == is_synthetic:
            side, workers = run["engine"], run.get("workers")
            yield run, lambda experiment, run=run, side=side, workers=workers: found(figures, experiment, run, side, workers)


def page(figures, about):
    figures = by_size(figures)
    notes = [
        "- **Compounds** are those of the NCI's antiviral screen, 1,047 structural keys each, of which one in six is set: all 41,119 where the record's cases say so, the 10,280 that come with the project elsewhere.",
        "- **A step** is one pass of E and M on one thread, by the kernel that reads bits and by the kernel of numbers over the same rows, in turns; both are held against a plain loop.",
        "- **A run** is `lehr cluster` as users run it, a process of its own; its seconds are without reading and writing. Sums of squares are counted bit by bit from the labels, and one thread and several end with the same bytes, or the measurement ends.",
        "- **Overhead** is p T(p) / T(1) - 1 of the run over bits (003 eq. 2).",
        "- **Purity** is the share of an active compound's cluster that is active, averaged over the active compounds; **rich** clusters are those in which active compounds are at least twice as frequent as in all.",
        "- **Synthetic** compounds are ten templates with one bit in twenty flipped, as dense as the others; the clusters must be the templates (`lab/harness/src/chemistry/compounds.rs`).",
        f"- `{ABSENT}`: not taken.",
    ]
    yield from opening("Compounds as rows of bits", "chemistry", "bits", notes, about)
    lines = list(steps(figures))
    if lines:
        yield "## A step"
        yield ""
        yield from table(["case", "bits, ns a row and centre", "numbers", "bits over numbers"], lines)
    lines = [
        [run["case"].removesuffix(", runs"), run["engine"].removeprefix("lehr "), str(run.get("workers", ABSENT)), whole(run), whole(same("bits over numbers")), whole(same("overhead")),
         middle(same("passes")), middle(same("time of a pass")), middle(same("memory"))]
        for run, same in runs(figures, False)
    ]
    if lines:
        yield "## Runs"
        yield ""
        yield from table(["case", "rows", "threads", "seconds", "bits over numbers", "overhead", "passes", "ms a pass", "most MiB"], lines)
    lines = [
        [agreement["case"].removesuffix(", runs"), squares(found(figures, "sum of squares", agreement, BITS)), squares(found(figures, "sum of squares", agreement, NUMBERS)), digits(agreement["median"]),
         percent(found(figures, "purity of the active", agreement)), percent(found(figures, "active in rich clusters", agreement)), percent(found(figures, "compounds in rich clusters", agreement))]
        for agreement in of(figures, "agreement")
        if "synthetic" not in agreement["case"]
    ]
    if lines:
        yield "## What is found"
        yield ""
        yield from table(["case", "sum of squares, bits", "of numbers", "adjusted Rand of both", "purity of the active", "active in rich clusters", "compounds in them"], lines)
    lines = [
        [run["case"], whole(run), whole(same("whole command")), middle(same("passes")), middle(same("time of a pass")), middle(same("memory")), digits(found(figures, "agreement", run)["median"])]
        for run, same in runs(figures, True)
    ]
    if lines:
        yield "## Many"
        yield ""
        yield from table(["case", "seconds", "with reading and writing", "passes", "ms a pass", "most MiB", "adjusted Rand with the templates"], lines)
    lines = [[beyond["case"], f"{beyond['experiment'].removeprefix('extrapolated ')}, {beyond['unit']}", digits(beyond["median"])] for beyond in figures if beyond["experiment"].startswith("extrapolated")]
    if lines:
        yield "Not taken, but extrapolated from the sizes above: time in proportion to the largest of them, memory on a line through the largest two (`lab/harness/src/chemistry/extrapolation.rs`)."
        yield ""
        yield from table(["case", "of", "extrapolated"], lines)


if __name__ == "__main__":
    write(__doc__, page)
