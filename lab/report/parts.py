"""Parts of the pages that are made from records of `lehr lab`: the machine, who is ahead, the worst cells. Standard library only."""

import json

from comparison import ABSENT, digits, reason_for, shown, spread, table, verdict

WORST = 12


def read(path, otherwise):
    """What a file of JSON holds; `otherwise` if there is none."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else otherwise


def of(figures, experiment):
    """The figures of one experiment."""
    return [figure for figure in figures if figure["experiment"] == experiment]


def machine(about):
    """Lines about the machine and how busy it was; a record from before sessions were kept has its fields at the top."""
    for session in about.get("sessions", [about] if "processor" in about else []):
        of_machine = session.get("machine", session)
        names = ("processor", "threads", "system", "c_compiler", "rust", "commit")
        said = [f"{name.replace('_', ' ')} {of_machine[name]}" for name in names if name in of_machine]
        if "load" in session:
            said.append(f"load {session['load']}")
        activity = session.get("activity")
        if activity:
            least, middle, most = activity["others"]
            said.append(f"other programs used {middle:.0f} % of the machine (from {least:.0f} to {most:.0f} by case), its host took {activity['stolen'][1]:.0f} %")
        libraries = session.get("libraries")
        if libraries:
            said.append("peers " + ", ".join(f"{name} {version}" for name, version in libraries.items()))
        yield ("`" + session["command"] + "`: " if "command" in session else "") + "; ".join(said) + "."


def tally(values):
    """ahead / level / behind."""
    verdicts = [verdict(value) for value in values]
    counts = " / ".join(str(verdicts.count(name)) for name in ("ahead", "level", "behind"))
    return counts


def worst(found, reasons):
    """The cells in which ours is behind, the worst first, with the reasons."""
    lost = sorted((cell for cell in found if cell.worst), key=lambda cell: cell.worst, reverse=True)
    if not lost:
        yield "Behind in no cell."
        yield ""
        return
    yield f"Behind in {len(lost)} of {len(found)} cells. The worst, and why (*by least*: ours over the best peer's, each at its least, which a busy machine spoils less):"
    yield ""
    yield from table(
        ["cell", "× holder", "× best peer", "by least", "why"],
        ([cell.name, shown(cell.to_holder), shown(cell.to_peer), shown(cell.least_to_peer), reason_for(cell.name, reasons)] for cell in lost[:WORST]),
    )


def cell_rows(here):
    """Lines of a table of cells: ours and in which form, the holder, the best peer and the floor, each with its ratio."""
    for cell in here:
        holder = cell.holder
        near_far = [] if holder is None else [digits(holder["near"])] if holder["near"] == holder["far"] else [digits(holder["near"]), digits(holder["far"])]
        ours = f"{cell.ours['engine'].removeprefix('lehr ')}, {cell.ours.get('workers', '-')} w"
        yield [
            cell.case,
            spread(cell.ours),
            ours,
            " / ".join(near_far) or ABSENT,
            shown(cell.to_holder),
            f"{cell.peer['engine']} {spread(cell.peer)}" if cell.peer else ABSENT,
            shown(cell.to_peer),
            digits(cell.floor["median"]) if cell.floor else ABSENT,
            shown(cell.to_floor),
        ]


def others(figures, with_tables):
    """Figures of experiments that have no table of their own."""
    left = [figure for figure in figures if figure["experiment"] not in with_tables]
    if left:
        yield "## Other cases"
        yield ""
        lines = ([f"{figure['experiment']}: {figure['case']}", figure["engine"], str(figure.get("workers", ABSENT)), figure["unit"], spread(figure)] for figure in left)
        yield from table(["case", "engine", "workers", "unit", "median (least to most)"], lines)
