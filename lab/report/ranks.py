"""Writes docs/lab/ranks.md from a record of `lehr lab ranks --record RECORD.json` (or of its `--json`).

RECORD.machine.json beside the record has the activity of the machine, and a handwritten note for the page. The reasons for lost cells are in
lab/definitions/ranks/reasons.json: patterns of cell names, of which the first match counts.

Usage: ranks.py RECORD.json > docs/lab/ranks.md. Standard library only.
"""

import re

from comparison import ABSENT, cells, digits, has_one_core, is_floor, is_ours, ratio_of, shown, spread, table
from parts import cell_rows, definitions, of, opening, others, tally, worst, write

COMPARED = ("patterns", "collectives", "arrays")
WITH_TABLES = (*COMPARED, "arrays rate", "unit", "absent")
THREADS = "lehr threads"
PORTS = "lehr ports"
ON_MPI = "lehr on "
# The goal for Lehr on MPI: its time divided by the C program's.
WITHIN = 1.10
PAPERS_UNITS = 20


def commanded(only):
    return f"`lehr lab ranks --only '{only}'`"


def size_of(doubles):
    size = 8 * doubles
    return f"{size} B" if size < 1000 else f"{size // 1024} KiB" if size % 1024 == 0 else f"{size / 1000:g} KB"


def place(holder):
    """Returns the cell of a holder: experiment, case and whether it has one core. The lab names its cells in the same way."""
    operation, ranks, doubles, units = (holder[name] for name in ("operation", "ranks", "doubles", "units"))
    if holder["experiment"] == "arrays":
        case = f"{operation}, P = {ranks}, {doubles} doubles"
    elif operation == "barrier":
        case = f"{operation}, P = {ranks}, {units} units"
    else:
        case = f"{operation}, P = {ranks}, {size_of(doubles)}, {units} units"
    return holder["experiment"], case, False


def cells_of(figures, holders, engine, one_core=False):
    """Returns the cells of Lehr in one of its forms."""
    found = cells(figures, holders, COMPARED, lambda figure: figure["engine"] == engine, place)
    return [cell for cell in found if cell.one_core == one_core]


def ranks_of(cell):
    found = re.search(r"P = (\d+)", cell.case)
    return int(found.group(1)) if found else 0


def others_of(figures, cell):
    """Returns the figures of all others in a cell, without floors and Lehr."""
    where = (cell.experiment, cell.case)
    return [
        figure
        for figure in figures
        if (figure["experiment"], figure["case"]) == where and has_one_core(figure) == cell.one_core and not is_ours(figure) and not is_floor(figure)
    ]


def groups(found):
    """Yields the kinds of cells that the summary counts separately."""
    for experiment in COMPARED:
        for with_units in (False, True):
            here = [cell for cell in found if (cell.experiment, cell.units > 0) == (experiment, with_units)]
            if here:
                yield f"{experiment}{', with computation' if with_units else ''}", here
    for ranks in dict.fromkeys(map(ranks_of, found)):
        yield f"P = {ranks}", [cell for cell in found if ranks_of(cell) == ranks]


def summary(found):
    def lines():
        for name, here in [*groups(found), ("all", found)]:
            floors = [cell.to_floor for cell in here if cell.to_floor is not None]
            within = f"{sum(value <= 2 for value in floors)} of {len(floors)}" if floors else ABSENT
            holders = tally([cell.to_holder for cell in here]) if any(cell.holder for cell in here) else ABSENT
            yield [name, str(len(here)), tally([cell.to_peer for cell in here]), holders, within]

    yield from table(["cells of threads", "number", "against the best MPI of this run: ahead / level / behind", "against the best known", "within twice the floor"], lines())


def every_mpi(found, figures):
    """Yields the section that compares Lehr on threads with each MPI."""
    values = {}
    for cell in found:
        for figure in others_of(figures, cell):
            values.setdefault(figure["engine"], []).append(cell.ratio_to(figure))
    if not values:
        return
    yield "Against each alone:"
    yield ""
    lines = ([engine, str(len(ratios)), tally(ratios)] for engine, ratios in sorted(values.items()))
    yield from table(["other side", "cells", "threads ahead / level / behind"], lines)


def on_mpi(figures):
    """Yields (case, Lehr's figure on an MPI, the C program's figure on the same MPI)."""
    theirs = {(figure["experiment"], figure["case"], figure["engine"]): figure for figure in figures}
    for figure in figures:
        if figure["experiment"] in COMPARED and figure["engine"].startswith(ON_MPI):
            other = theirs.get((figure["experiment"], figure["case"], figure["engine"].removeprefix(ON_MPI)))
            if other:
                yield figure, other


def on_mpi_section(figures):
    pairs = list(on_mpi(figures))
    if not pairs:
        return
    engines = dict.fromkeys(figure["engine"] for figure, _ in pairs)
    yield "## Ours on MPI beside a C program on the same library"
    yield ""
    yield f"Both are processes, started by the same launcher. Aim: at most {WITHIN:.2f} of the C program's time."
    yield ""

    def counts():
        for engine in engines:
            ratios = [ratio_of(ours, theirs) for ours, theirs in pairs if ours["engine"] == engine]
            known = [value for value in ratios if value is not None]
            yield [engine.removeprefix("lehr "), str(len(ratios)), f"{sum(value <= WITHIN for value in known)} of {len(known)}", tally(ratios)]

    yield from table(["", "cells", "within 10 %", "ahead / level / behind"], counts())
    for engine in engines:
        lines = (
            [ours["case"], spread(ours), spread(theirs), shown(ratio_of(ours, theirs))]
            for ours, theirs in pairs
            if ours["engine"] == engine
        )
        yield f"### {engine.removeprefix(ON_MPI)}"
        yield ""
        yield from table(["cell", "ours, µs", "C, µs", "×"], lines)


def known(cell):
    """Formats the best earlier figure without MPI, near / far."""
    floor = (cell.holder or {}).get("floor")
    if not floor:
        return ABSENT
    return digits(floor[0]) if floor[0] == floor[1] else " / ".join(map(digits, floor))


def subjects(found):
    heads = ["cell", "ours, µs", "as", "best known", "×", "best MPI of this run, µs", "×", "floor", "×", "floor known"]
    for title, experiment in (("Messages between neighbours", "patterns"), ("Collectives", "collectives"), ("Arrays", "arrays")):
        here = [cell for cell in found if cell.experiment == experiment]
        if here:
            yield f"### {title}"
            yield ""
            yield commanded(experiment)
            yield ""
            yield from table(heads, ([*row, known(cell)] for row, cell in zip(cell_rows(here), here)))


def forms(figures, found):
    """Returns the section that compares Lehr's other forms (one worker, and over ports) with threads on all cores."""
    by_case = {}
    for engine, one_core in ((THREADS, True), (PORTS, False), (PORTS, True)):
        for cell in cells_of(figures, [], engine, one_core):
            by_case.setdefault((cell.experiment, cell.case), {})[engine, one_core] = cell
    if not by_case:
        return
    yield "## Ours in its other forms, µs"
    yield ""
    yield "One worker keeps all ranks on one core, so no message crosses: it wins without computation, and loses a core with it. Over ports, messages go through the ports of"
    yield "the runtime, as in papers 000 to 004. × is against the floor on as many cores."
    yield ""

    def lines():
        for cell in found:
            line = [cell.case, spread(cell.ours)]
            for form in ((THREADS, True), (PORTS, False), (PORTS, True)):
                other = by_case.get((cell.experiment, cell.case), {}).get(form)
                line += [digits(other.ours["median"]), shown(other.to_floor)] if other else [ABSENT, ABSENT]
            yield line

    yield from table(["cell", "threads, all cores", "threads, one worker", "×", "ports, all cores", "×", "ports, one worker", "×"], lines())


def rates(figures):
    here = [figure for figure in of(figures, "arrays rate") if not has_one_core(figure)]
    if not here:
        return
    engines = list(dict.fromkeys(figure["engine"] for figure in here))
    cases = dict.fromkeys(figure["case"] for figure in here)
    medians = {(figure["case"], figure["engine"]): figure["median"] for figure in here}
    yield "## Arrays, GB/s"
    yield ""
    yield "What all ranks receive together, on all cores; more is better."
    yield ""
    lines = ([case, *(digits(medians[case, engine]) if (case, engine) in medians else ABSENT for engine in engines)] for case in cases)
    yield from table(["cell", *(engine.removeprefix("lehr ") if is_ours({"engine": engine}) else engine for engine in engines)], lines)


def papers_section(figures, found, papers):
    """Returns the section of 000 table III and 004 table 2, each line beside the cell with as many ranks."""
    exchanges = {ranks_of(cell): cell for cell in found if cell.case.startswith("exchange,") and cell.units == PAPERS_UNITS and cell.experiment == "patterns"}
    yield "## Beside the papers"
    yield ""
    yield "Papers 000 (table III) and 004 (table 2): latency of an exchange in µs, measured in 2007 on 4 and 8 cores, ranks meeting about every 30 µs. Ours and the best MPI of this"
    yield f"run have {PAPERS_UNITS} units of computation between exchanges, and the cores of this machine: the table says what has become of the latency. {commanded(f', {PAPERS_UNITS} units')}"
    yield ""

    def lines():
        for row in papers["rows"]:
            cell = exchanges.get(row["ranks"])
            on_mpis = [figure for figure in figures if cell and (figure["experiment"], figure["case"]) == (cell.experiment, cell.case) and figure["engine"].startswith(ON_MPI)]
            here = min(on_mpis, key=lambda figure: figure["median"], default=None)
            yield [
                f"{row['machine']}, {row['system']}",
                row["runtime"],
                f"{row['ranks']} {row['grains']}",
                f"{row['latency']:g}",
                f"**{digits(cell.ours['median'])}**" if cell else ABSENT,
                f"{digits(here['median'])} ({here['engine'].removeprefix(ON_MPI)})" if here else ABSENT,
                f"{digits(cell.peer['median'])} ({cell.peer['engine']})" if cell and cell.peer else ABSENT,
            ]

    yield from table(["machine", "runtime", "grains", "paper, µs", "ours on threads", "ours on MPI", "best MPI of this run"], lines())


def presence(figures):
    units = of(figures, "unit")
    if units:
        yield "## Who took part"
        yield ""
        yield from table(["engine", "a unit of computation, ns"], ([figure["engine"], digits(figure["median"])] for figure in units))
    gone = of(figures, "absent")
    if gone:
        yield from table(["absent", "why"], ([figure["engine"], figure["case"]] for figure in gone))


def page(figures, holders, reasons, papers, about):
    found = cells_of(figures, holders, THREADS)
    runs = max((figure["runs"] for figure in figures if figure["experiment"] in COMPARED), default=0)
    notes = [
        f"- **Figures** are medians of up to {runs} rounds in which every side took its turn, with least and most in parentheses. A unit of computation lasted {figures[0]['unit_ns']:.0f} ns.",
        "- **Ratios** (×) are ours over theirs: below 1 we are ahead; from 0.95 to 1.05 is *level*. An overhead whose least is not above zero cannot be told from zero and has no ratio.",
        "- **Best known**: what an MPI reached in earlier measurements, near / far where the placement of the two cores matters, from `lab/definitions/ranks/ranks.json`, which says",
        "  who. **Floor**: a C program without any library of messages, on as many cores. `w`: workers. More ranks than cores take turns on them.",
        f"- `{ABSENT}`: not in this record, or nothing to compare with.",
    ]
    yield from opening("Ranks beside MPI", "ranks", "lab-ranks", notes, about)
    yield "## In short"
    yield ""
    yield from summary(found)
    yield from every_mpi(found, figures)
    yield from worst(found, reasons)
    yield from on_mpi_section(figures)
    yield "## Threads, µs a stage"
    yield ""
    yield from subjects(found)
    yield from rates(figures)
    yield from forms(figures, found)
    yield from papers_section(figures, found, papers)
    yield from presence(figures)
    yield from others(figures, WITH_TABLES)


def main():
    definition, reasons, papers = definitions("ranks", "ranks")
    write(__doc__, lambda figures, about: page(figures, definition["holders"], reasons, papers, about))


if __name__ == "__main__":
    main()
