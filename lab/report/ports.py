"""Writes docs/lab/ports.md from a record of `lehr lab ports --json`: our best beside the holder, the best peer and the floor of that run.

What the page should say about the machine stands beside the record, in RECORD.machine.json as "note".

Usage: ports.py RECORD.json > docs/lab/ports.md. Standard library only.
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
DEFINITION = ROOT / "lab" / "definitions" / "runtime" / "ports.json"

# Microseconds a stage as the papers printed them, with the computation taken off: CCR on 4 AMD cores (002 table 2, "AMD4"), 2007.
PAPER_002 = {
    "spawned pipeline": {1: 1.76, 2: 4.52, 3: 4.4, 4: 4.84, 7: 1.42, 8: 8.54},
    "spawned shift": {2: 4.48, 3: 4.62, 4: 4.8, 7: 0.84, 8: 8.94},
    "spawned two-shifts": {2: 7.44, 3: 8.9, 4: 10.18, 7: 12.74, 8: 23.92},
    "rendezvous pipeline": {1: 3.7, 2: 5.88, 3: 6.52, 4: 6.74, 7: 8.54, 8: 14.98},
    "rendezvous shift": {2: 6.8, 3: 8.42, 4: 9.36, 7: 2.74, 8: 11.16},
    "rendezvous two-shifts": {2: 14.1, 3: 15.9, 4: 19.14, 7: 11.78, 8: 22.6},
    "rendezvous exchange": {2: 10.32, 3: 15.5, 4: 16.3, 7: 11.3, 8: 21.38},
}


def is_ours(figure):
    return figure["engine"].startswith("lehr")


def is_floor(figure):
    return figure["engine"].startswith("floor")


def has_one_core(figure):
    return figure.get("workers") == 1


def digits(value):
    size = abs(value)
    return f"{value:.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.2f}" if size >= 1 else f"{value:.3f}"


def spread(figure):
    return f"{digits(figure['min'])} / **{digits(figure['median'])}** / {digits(figure['max'])}"


def ratio(ours, theirs):
    """Ours over theirs; nothing where an overhead is not above zero."""
    if theirs is None or ours <= 0 or theirs <= 0:
        return ""
    return f"{ours / theirs:.2f}"


def best(figures):
    return min(figures, key=lambda figure: figure["median"], default=None)


def holder_of(holders, experiment, case, one_core):
    for holder in holders:
        name = f"{holder['pattern']}, P = {holder['ranks']}, {holder['units']} units"
        if (holder["form"], name, holder["cores"] == 1) == (experiment, case, one_core):
            return holder
    return None


def rows(figures, holders, experiments):
    """One row a case and number of cores that ours was measured on."""
    cases = list(dict.fromkeys((figure["experiment"], figure["case"]) for figure in figures if figure["experiment"] in experiments))
    for experiment, case in cases:
        here = [figure for figure in figures if (figure["experiment"], figure["case"]) == (experiment, case)]
        for one_core in (False, True):
            side = [figure for figure in here if has_one_core(figure) == one_core]
            ours = best([figure for figure in side if is_ours(figure)])
            if ours is None:
                continue
            peer = best([figure for figure in side if not is_ours(figure) and not is_floor(figure)])
            floor = best([figure for figure in side if is_floor(figure)])
            holder = holder_of(holders, experiment, case, one_core)
            near, far = ((ours.get(place) or {}).get("median") for place in ("near", "far"))
            beside = ""
            if holder:
                beside = " / ".join(ratio(value, holder[place]) or "-" if value else "-" for value, place in ((near, "near"), (far, "far")))
            yield [
                f"{experiment}: {case}",
                "1" if one_core else "all",
                f"{ours['engine']}, {ours.get('workers', '-')} workers",
                spread(ours),
                f"{digits(holder['near'])} / {digits(holder['far'])}" if holder else "",
                beside,
                f"{peer['engine']} {spread(peer)}" if peer else "",
                ratio(ours["median"], peer and peer["median"]),
                f"{digits(floor['median'])}" if floor else "",
                ratio(ours["median"], floor and floor["median"]),
            ]


def table(heads, lines):
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def papers(figures):
    """Paper 002's Table 2 beside ours in the same cells, computation taken off on both sides."""
    for name, cells in PAPER_002.items():
        form, pattern = name.split(" ", 1)
        line = [name]
        for ranks in (1, 2, 3, 4, 7, 8):
            here = [
                figure
                for figure in figures
                if is_ours(figure) and figure["experiment"] == form and figure["case"].startswith(f"{pattern}, P = {ranks}, ") and not has_one_core(figure)
            ]
            with_work = [figure for figure in here if figure["case"].endswith("20 units")]
            found = best(with_work or here)
            line.append(f"{cells.get(ranks, '-')} → {digits(found['median']) if found else '·'}")
        yield line


def page(figures, holders, command, note):
    runs = max(figure["runs"] for figure in figures)
    unit = figures[0]["unit_ns"]
    yield "# The port runtime beside its peers"
    yield ""
    yield f"Generated by `lab/report/ports.py` from a record of `{command}`; do not edit. Up to {runs} rounds in which every side took its turn; a unit of"
    yield f"computation lasted {unit:.0f} ns. Cells are least / **median** / most; ratios are ours over theirs, of medians: below 1 we are ahead. *Holder* is the best"
    yield "figure known before, in microseconds with the two cores near / far (`lab/definitions/runtime/ports.json` names who); its ratio compares near samples with"
    yield "near and far with far. *Peer* and *floor* (C) are the best of this run on as many cores. How it is measured: [METHOD](../../lab/METHOD.md)."
    yield ""
    if note:
        yield note
        yield ""
    yield "## The four patterns, microseconds a stage"
    yield ""
    heads = ["cell", "cores", "ours", "µs", "holder n / f", "× n / f", "best peer of this run", "×", "floor", "×"]
    yield from table(heads, rows(figures, holders, ("rendezvous", "spawned", "spare workers", "rings")))
    yield ""
    yield "## Paper 002, Table 2 (4 cores, 2007) → ours here, microseconds a stage"
    yield ""
    yield "Their figures are with computation between messages; ours with 20 units where this record has them, without where it has not. `·`: not in this record."
    yield ""
    yield from table(["CCR on AMD4 → ours", "P = 1", "2", "3", "4", "7", "8"], papers(figures))
    yield ""
    yield "## Services, regions, memory, arrays"
    yield ""
    others = [figure for figure in figures if figure["experiment"] not in ("rendezvous", "spawned", "spare workers", "rings")]
    heads = ["case", "engine", "workers", "unit", "min / median / max"]
    yield from table(
        heads,
        ([f"{f['experiment']}: {f['case']}", f["engine"], str(f.get("workers", "")), f["unit"], spread(f)] for f in others),
    )


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    figures = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    holders = json.loads(DEFINITION.read_text(encoding="utf-8"))["holders"]
    command = "lehr lab ports --quick --json" if "quick" in Path(sys.argv[1]).name else "lehr lab ports --json"
    beside = Path(sys.argv[1]).with_suffix(".machine.json")
    note = json.loads(beside.read_text(encoding="utf-8"))["note"] if beside.is_file() else ""
    print("\n".join(page(figures, holders, command, note)))


if __name__ == "__main__":
    main()
