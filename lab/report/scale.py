"""Writes docs/lab/scale.md from a record of `lehr lab scale --record RECORD.json` (or of its `--json`).

RECORD.machine.json beside the record has the activity of the machine, and a handwritten note for the page.

Usage: scale.py RECORD.json > docs/lab/scale.md. Standard library only.
"""

import re

from comparison import ABSENT, digits, spread, table
from parts import of, opening, write

STAGES = ("lehr distances", "lehr pairwise", "lehr embed", "lehr place")
EXPERIMENTS = ("time", "memory", "passes", "time of a pass")
# The exponents that follow from the size of a matrix: each stage reads or writes each of its numbers.
THEORY = {"time of a pass": "2: each number is read once", "memory": "2: the matrix", "time": "2, and more where larger sets take more passes"}


def stages_of(figures):
    """Returns (case, stage, figures by experiment), in the order of the record."""
    found = {}
    for figure in figures:
        if figure["experiment"] in EXPERIMENTS:
            found.setdefault((figure["case"], figure["engine"]), {})[figure["experiment"]] = figure
    return [(case, stage, parts) for (case, stage), parts in found.items() if "time" in parts]


def middle(parts, experiment):
    return digits(parts[experiment]["median"]) if experiment in parts else ABSENT


def matrix_mebibytes(case):
    """Returns the size of the matrix of the items that are compared with each other; their number is the last one in the case's first part."""
    items, element = re.findall(r"\d+", case.split(",")[0])[-1], case.split(", ")[1]
    return int(items) ** 2 * {"f64": 8, "f32": 4}.get(element, 2) / 2**20


def speed(case, parts):
    """Returns the GB of the full matrix that a pass reads in a second."""
    if "time of a pass" not in parts:
        return ABSENT
    return f"{matrix_mebibytes(case) * 2**20 / 1e6 / parts['time of a pass']['median']:.1f}"


def page(figures, about):
    notes = [
        "- **Items** are aligned sequences of 282 letters in six families, made by mutation (`lab/harness/src/scale/sequences.rs`): compared place by place, clustered into six, laid out in three dimensions; *among* places all in the map of a sample. The",
        "  clusters of every case are the families (adjusted Rand above 0.95), or the measurement ends.",
        "- **Items of a file** (`name: …`) are aligned pair by pair; equal ones are one with a weight (`--sequences`).",
        "- **A stage** is a command as users run it, a process of its own: its time is from start to end with reading and writing, its memory the maximum that was resident.",
        "- **GB/s** is the full matrix over the time of one pass, which reads every number once.",
        f"- `{ABSENT}`: the stage has none, or it was not taken.",
    ]
    yield from opening("How dissimilarities grow with the number of items", "scale", "lab", notes, about)
    yield "## Stages"
    yield ""
    lines = []
    for case, stage, parts in stages_of(figures):
        time = parts["time"]
        seconds = spread(time) if time["runs"] > 1 else f"**{digits(time['median'])}**"
        lines.append([
            case, stage, seconds, middle(parts, "memory"), f"{matrix_mebibytes(case):.0f}",
            middle(parts, "passes"), middle(parts, "time of a pass"), speed(case, parts),
        ])
    yield from table(["case", "stage", "seconds", "most MiB", "MiB of the matrix", "passes", "ms a pass", "GB/s"], lines)
    exponents = of(figures, "exponent")
    if exponents:
        yield "## Growth"
        yield ""
        yield "Exponents e of `c N^e`, fitted to the logarithms of each round over the sizes that were taken in rounds. Small sizes have what does not grow in them: the start of a process, threads."
        yield ""
        order = sorted(exponents, key=lambda figure: (STAGES.index(figure["engine"]), figure["case"]))
        yield from table(
            ["stage", "of", "exponent", "expected"],
            ([figure["engine"], figure["case"].removesuffix(" against items"), spread(figure), THEORY[figure["case"].removesuffix(" against items")]] for figure in order),
        )


if __name__ == "__main__":
    write(__doc__, page)
