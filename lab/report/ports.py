"""Writes docs/lab/ports.md from a record of `lehr lab ports --record RECORD.json` (or of its `--json`).

RECORD.machine.json beside the record has the activity of the machine, and a handwritten note for the page. The reasons for lost cells are in
lab/definitions/runtime/reasons.json: patterns of cell names, of which the first match counts.

Usage: ports.py RECORD.json > docs/lab/ports.md. Standard library only.
"""

import re

from comparison import ABSENT, cells, digits, has_one_core, is_ours, reason_for, shown, spread, table
from paper_tables import bandwidths, paper_001, paper_002
from parts import cell_rows, definitions, of, opening, others, tally, worst, write

PATTERNS = ("rendezvous", "spawned")
COMPARED = (*PATTERNS, "requests", "regions")
WITH_TABLES = (*COMPARED, "spare workers", "rings", "posting", "posting rate", "stages", "pending", "allocations", "idle")
COPY = "floor: C memcpy"
HAND_OVER = "floor: C memcpy and a hand-over"


def commanded(only):
    quoted = only if only.isalpha() else f"'{only}'"
    return f"`lehr lab ports --only {quoted}`"


# ---- the summary -------------------------------------------------------------------------------------------------------------------------


def groups(found):
    """Yields the kinds of cells that the summary counts separately."""
    for form in COMPARED:
        for one_core in (True, False):
            for with_units in (False, True):
                name = f"{form}, {'one core' if one_core else 'all cores'}{', with computation' if with_units else ''}"
                here = [cell for cell in found if (cell.experiment, cell.one_core, cell.units > 0) == (form, one_core, with_units)]
                if form == "regions" and with_units:
                    continue
                if form == "regions":
                    here = [cell for cell in found if (cell.experiment, cell.one_core) == (form, one_core)]
                if here:
                    yield name, here


def summary(found):
    def lines():
        for name, here in [*groups(found), ("all", found)]:
            floors = [cell.to_floor for cell in here if cell.to_floor is not None]
            within = f"{sum(value <= 2 for value in floors)} of {len(floors)}" if floors else ABSENT
            holders = tally([cell.to_holder for cell in here]) if any(cell.holder for cell in here) else ABSENT
            yield [name, str(len(here)), holders, tally([cell.to_peer for cell in here]), within]

    heads = ["cells", "number", "against the holder: ahead / level / behind", "against the best peer of this run", "within twice the floor"]
    yield from table(heads, lines())


def aims(figures):
    """Yields the other goals of the definition, each with the record's figure."""

    def line(aim, values, holds, said):
        state = ABSENT if not values else "holds" if all(map(holds, values)) else "missed"
        return [aim, state, said(values) if values else ABSENT]

    def at_least_90(share):
        return share >= 0.9

    def of_cells(values):
        return f"{sum(map(at_least_90, values))} of {len(values)} cells; least {100 * min(values):.0f} %"

    bytes_each = {figure["engine"]: figure["median"] for figure in of(figures, "pending") if figure["case"] == "memory" and is_ours(figure)}
    least = [min(bytes_each.values())] if bytes_each else []
    copies, handed = ([share for share, _ in shares(figures, floor).values()] for floor in (COPY, HAND_OVER))
    idle = [figure["median"] for figure in of(figures, "idle")]
    allocated = [figure["median"] for figure in of(figures, "allocations") if figure["case"] == "post to handler"]
    rings = of(figures, "rings")
    yield from table(
        ["aim", "", "measured"],
        [
            line("a pending receive takes at most 128 bytes", least, lambda value: value <= 128, lambda values: ", ".join(f"{engine} {digits(value)}" for engine, value in bytes_each.items())),
            line("copied arrays reach 90 % of memcpy", copies, at_least_90, of_cells),
            line("the same of memcpy and a hand-over", handed, at_least_90, of_cells),
            line("idle workers use less than 1 % of a core", idle, lambda value: value < 1, lambda values: f"at most {digits(max(values))} %"),
            line("a message from post to handler allocates nothing", allocated, lambda value: value == 0, lambda values: f"{digits(max(values))} allocations"),
            line("every ring of exchanges ends", rings, lambda figure: figure["median"] > 0, lambda values: f"{len(values)} of ranks and workers, each message of its stage"),
        ],
    )


# ---- tables by subject -------------------------------------------------------------------------------------------------------------------


def patterns(found):
    heads = ["cell", "ours, µs", "as", "holder", "×", "best peer of this run, µs", "×", "floor", "×"]
    for name, here in groups([cell for cell in found if cell.experiment in PATTERNS]):
        yield f"### {name[0].upper()}{name[1:]}"
        yield ""
        yield from table(heads, cell_rows(here))


def pivot(figures, experiment, heads, row, column):
    """Yields a table of the medians of one experiment: `row` and `column` return a figure's place."""
    here = of(figures, experiment)
    columns = list(dict.fromkeys(column(figure) for figure in here))
    rows = list(dict.fromkeys(row(figure) for figure in here))
    medians = {(row(figure), column(figure)): digits(figure["median"]) for figure in here}
    yield from table([heads, *columns], ([name, *(medians.get((name, title), ABSENT) for title in columns)] for name in rows))


def services(found, figures):
    heads = ["case", "ours, µs", "as", "best peer of this run, µs", "×"]

    def lines(experiment):
        for cell in found:
            if cell.experiment == experiment:
                peer = f"{cell.peer['engine']} {spread(cell.peer)}" if cell.peer else ABSENT
                cores = "one core" if cell.one_core else "all cores"
                yield [f"{cell.case}, {cores}", spread(cell.ours), f"{cell.ours.get('workers', '-')} w", peer, shown(cell.to_peer)]

    for title, experiment in (("Request and response, µs a two-way message", "requests"), ("Parallel regions of two parts, µs over the computation", "regions")):
        lines_of = list(lines(experiment))
        if lines_of:
            yield f"## {title}"
            yield ""
            yield commanded(experiment)
            yield ""
            yield from table(heads, lines_of)
    if of(figures, "spare workers") or of(figures, "rings"):
        yield "## Spare workers, and rings that must end"
        yield ""
        yield f"A single rank's pipeline with more workers than it needs, µs a stage ({commanded('spare workers')}):"
        yield ""
        yield from pivot(figures, "spare workers", "case", lambda figure: figure["case"], lambda figure: f"{figure['workers']} workers")
        yield f"Exchange stages, µs a stage ({commanded('rings')}); each row ended with the right messages:"
        yield ""
        yield from pivot(figures, "rings", "ring", lambda figure: figure["case"].removeprefix("exchange, "), lambda figure: f"{figure['workers']} workers")


def rates(figures):
    """Returns the GB/s of posted arrays: {(form, doubles, units, one_core): {engine: GB/s}}."""
    found = {}
    for figure in of(figures, "posting rate"):
        place = re.match(r"(\w+), (\d+) doubles, (\d+) units", figure["case"])
        if place and place[1] != "handle":
            key = (place[1], int(place[2]), int(place[3]), has_one_core(figure))
            found.setdefault(key, {})["lehr" if is_ours(figure) else figure["engine"]] = figure["median"]
    return found


def shares(figures, floor):
    """Returns {cell: (our rate divided by the floor's, the floor's GB/s)} for cells that have both."""
    return {
        key: (engines["lehr"] / engines[floor], engines[floor])
        for key, engines in rates(figures).items()
        if "lehr" in engines and engines.get(floor, 0) > 0
    }


def posting(figures, paper, reasons):
    all_rates = rates(figures)
    handles = [figure for figure in of(figures, "posting") if figure["case"].startswith("handle")]
    if not all_rates and not handles:
        return
    yield "## Posted arrays, GB/s"
    yield ""
    yield f"{commanded('posting')}. A message is an array and six integers (001, section 3). *memcpy*: the copy alone in C; *and a hand-over*: the copy, and its message"
    yield "through a ring under a lock, in C. Shares are ours over theirs, where more is better; rates of all cores are summed."
    yield ""
    if any(share < 0.9 for share, _ in shares(figures, COPY).values()):
        yield f"Why less than 90 % of memcpy: {reason_for('posting', reasons)}."
        yield ""
    for units in sorted({key[2] for key in all_rates}):
        heads = ["array", "doubles"]
        for cores in ("one core", "all cores"):
            heads += [f"{cores}: lehr", "memcpy", "share", "and a hand-over", "share"]

        def lines():
            forms = dict.fromkeys((key[0], key[1]) for key in sorted(all_rates) if key[2] == units)
            for form, doubles in forms:
                line = [form, f"{doubles:,}"]
                for one_core in (True, False):
                    engines = all_rates.get((form, doubles, units, one_core), {})
                    ours = engines.get("lehr")
                    line.append(f"**{digits(ours)}**" if ours else ABSENT)
                    for floor in (COPY, HAND_OVER):
                        value = engines.get(floor)
                        line += [digits(value) if value else ABSENT, f"{100 * ours / value:.0f} %" if ours and value else ABSENT]
                yield line

        yield f"### {units} units of computation a stage"
        yield ""
        yield from table(heads, lines())
    if handles:
        yield "### By handle: nothing is copied, µs a message"
        yield ""
        named = {True: {}, False: {}}
        for figure in handles:
            array = re.sub(r"^handle, |, \d+ cores$", "", figure["case"])
            named[is_ours(figure)][f"{array}, {figure['workers']} cores"] = digits(figure["median"])
        lines = ([array, ours, named[False].get(array, ABSENT)] for array, ours in named[True].items())
        yield from table(["array", "lehr", "a hand-over in C"], lines)
    yield from bandwidths({key: engines.get("lehr") for key, engines in all_rates.items() if "lehr" in engines}, paper)


def divided(figures):
    """Returns the figures of the divided computation: {(messages, cores): {engine: {stages: figure}}}."""
    found = {}
    for figure in of(figures, "stages"):
        place = re.match(r"(.+), P = (\d+), (\d+) stages$", figure["case"])
        engines = found.setdefault((place[1], int(place[2])), {})
        engines.setdefault(figure["engine"], {})[int(place[3])] = figure
    return found


def overhead_us(by_stages, stages):
    """Returns the overhead of a stage in microseconds: what a run takes longer than with one stage, for each stage."""
    return (by_stages[stages]["median"] - by_stages[1]["median"]) / stages * 1e6


def is_above(by_stages, stages):
    """Returns whether every run took longer than every run with one stage: what is below cannot be told from zero."""
    return 1 in by_stages and by_stages[stages]["min"] > by_stages[1]["max"]


def stages(figures, paper):
    found = divided(figures)
    if not found:
        return
    yield "## A fixed computation in more and more stages"
    yield ""
    yield f"{commanded('stages')} (001 figures 2 to 6 and 8, 002 figure 5). Each rank has a core, and computes the same number of units in all, divided into stages with messages between them."
    yield "Seconds of the run. *Overhead*: what the run takes longer than with one stage, for each stage, in µs, if every run took longer than every run with one stage."
    yield ""
    for (messages, cores), engines in found.items():
        yield f"### {messages[0].upper()}{messages[1:]}, {cores} cores"
        yield ""
        ours = next(by_stages for engine, by_stages in engines.items() if engine.startswith("lehr"))
        heads = ["stages", "lehr", "overhead", *(engine for engine in engines if not engine.startswith("lehr"))]

        def lines():
            for count in sorted(ours):
                own = digits(overhead_us(ours, count)) if is_above(ours, count) else ABSENT
                others = (spread(by_stages[count]) if count in by_stages else ABSENT for engine, by_stages in engines.items() if not engine.startswith("lehr"))
                yield [f"{count:,}", spread(ours[count]), own, *others]

        yield from table(heads, lines())
    yield "The papers' overheads, µs a stage, beside ours on the cores of this machine:"
    yield ""
    rows = []
    for row in paper["overheads"]:
        engines = next((engines for (messages, _), engines in found.items() if messages == row["messages"]), {})
        ours = next((by_stages for engine, by_stages in engines.items() if engine.startswith("lehr")), {})
        own = digits(overhead_us(ours, row["stages"])) if row["stages"] in ours and is_above(ours, row["stages"]) else ABSENT
        rows.append([row["messages"], str(row["cores"]), f"{row['stages']:,}", *(digits(value) for value in row["us"]), own])
    yield from table(["messages", "cores", "up to stages", *(f"CCR, {machine}" for machine in paper["machines"]), "lehr"], rows)


def resources(figures):
    if of(figures, "pending"):
        yield "## Receives that wait"
        yield ""
        yield commanded("pending")
        yield ""
        engines = dict.fromkeys(figure["engine"] for figure in of(figures, "pending"))

        def lines():
            for engine in engines:
                mine = {figure["case"]: figure for figure in of(figures, "pending") if figure["engine"] == engine}
                count = next(iter(mine.values())).get("stages")
                yield [engine, f"{count:,}" if count else ABSENT, *(spread(mine[case]) if case in mine else ABSENT for case in ("memory", "create", "complete"))]

        yield from table(["engine", "receives", "bytes each", "ns to create", "ns to complete"], lines())
    if of(figures, "allocations"):
        yield "## Heap allocations"
        yield ""
        yield f"{commanded('allocations')}; ours, on one worker, when warm."
        yield ""
        yield from table(["of", "allocations", ""], ([figure["case"], digits(figure["median"]), figure["unit"].removeprefix("allocations ")] for figure in of(figures, "allocations")))
    if of(figures, "idle"):
        yield "## Idle workers"
        yield ""
        yield f"{commanded('idle')}: processor time after a burst of work, with receives waiting."
        yield ""
        yield from table(["workers", "% of a core"], ([str(figure.get("workers", ABSENT)), digits(figure["median"])] for figure in of(figures, "idle")))


def page(figures, holders, reasons, papers, about):
    found = cells(figures, holders, COMPARED)
    runs = max(figure["runs"] for figure in figures)
    cores = (about.get("sessions") or [{}])[-1].get("machine", {}).get("threads", 2)
    notes = [
        f"- **Figures** are medians of up to {runs} rounds in which every side took its turn, with least and most in parentheses. A unit of computation lasted {figures[0]['unit_ns']:.0f} ns.",
        "- **Ratios** (×) are ours over theirs: below 1 we are ahead; from 0.95 to 1.05 is *level*. An overhead whose least is not above zero cannot be told from zero and has no ratio.",
        "- **Holder**: the best figure known before, near / far where the placement of the two cores matters, from `lab/definitions/runtime/ports.json`, which says who. **Peer**",
        "  and **floor** (a C program) are the best of this record on as many cores. `w`: workers.",
        f"- `{ABSENT}`: not in this record, or nothing to compare with. °: without computation, where this record has no figure with it.",
    ]
    yield from opening("The port runtime beside its peers", "ports", "lab-ports", notes, about)
    yield "## In short"
    yield ""
    yield from summary(found)
    yield from aims(figures)
    yield from worst(found, reasons)
    yield "## The patterns, µs a stage"
    yield ""
    yield f"{commanded('rendezvous')}, {commanded('spawned')}"
    yield ""
    yield from patterns(found)
    yield "## Beside the papers"
    yield ""
    yield "Measured between 2006 and 2007 on four and eight cores, where ours has the cores of this machine: the tables say what has become of the overheads, not what is due to the"
    yield f"runtime. Spawned is our persistent receivers, as it was CCR's; all with 20 units of computation. {commanded(', 20 units')}"
    yield ""
    yield from paper_001(figures, papers["001"], cores)
    yield from paper_002(figures, papers["002"])
    yield from services(found, figures)
    yield from posting(figures, papers["001"]["bandwidths"], reasons)
    yield from stages(figures, papers["001"]["divided"])
    yield from resources(figures)
    yield from others(figures, WITH_TABLES)


def main():
    definition, reasons, papers = definitions("runtime", "ports")
    write(__doc__, lambda figures, about: page(figures, definition["holders"], reasons, papers, about))


if __name__ == "__main__":
    main()
