"""Writes docs/lab/services.md from a record of `lehr lab services --record RECORD.json` (or of its `--json`).

RECORD.machine.json beside the record has the activity of the machine, and a handwritten note for the page. The reasons for lost cells are in
lab/definitions/services/reasons.json: patterns of cell names, of which the first match counts.

Usage: services.py RECORD.json > docs/lab/services.md. Standard library only.
"""

import re

from comparison import ABSENT, cells, digits, ratio_of, shown, spread, table
from parts import definitions, of, opening, others, tally, worst, write

MESSAGES = "messages"
HISTOGRAM = "histogram"
HTTP = "http"
LATENCY = "http latency"
LISTENERS = "listeners"
MEMORY = "memory"
NEIGHBOURS = "neighbours"
CLUSTERINGS = "clusterings"
COMPARED = (MESSAGES, HTTP, LATENCY)
WITH_TABLES = (*COMPARED, HISTOGRAM, LISTENERS, MEMORY, NEIGHBOURS, CLUSTERINGS, "unit", "absent")
FORMS = ("two-way in turn", "two-way at once", "one-way")
HEATS = ("warm", "cold")
BINS = 8


def commanded(only):
    return f"`lehr lab services --only '{only}'`"


def rate(us):
    """Returns the messages a second."""
    return f"{1e6 / us:,.0f}"


def workers_of(cell):
    return "1" if cell.one_core else str(cell.ours.get("workers", ABSENT))


def group_of(cell):
    found = re.search(r"group (\d+)", cell.case)
    return found.group(1) if found else ABSENT


def is_aimed_at(cell, aims):
    """Returns whether the cell has a goal and meets it: warm groups against the fastest peer, requests against the bare handler."""
    if cell.to_peer is None or cell.experiment == LATENCY or cell.case.endswith(", cold"):
        return None
    return cell.to_peer <= aims["http" if cell.experiment == HTTP else "messages"]


def summary(found, aims):
    kinds = [(f"messages {form}, {heat}", [cell for cell in found if cell.experiment == MESSAGES and cell.case.startswith(form) and cell.case.endswith(heat)]) for form in FORMS for heat in HEATS]
    kinds += [("requests over HTTP", [cell for cell in found if cell.experiment == HTTP]), ("their latencies", [cell for cell in found if cell.experiment == LATENCY])]

    def lines():
        for name, here in kinds:
            if here:
                met = [met for met in (is_aimed_at(cell, aims) for cell in here) if met is not None]
                yield [name, str(len(here)), tally([cell.to_peer for cell in here]), f"{sum(met)} of {len(met)}" if met else ABSENT]

    yield from table(["", "cells", "against the fastest other: ahead / level / behind", "aim met"], lines())


def rows(here):
    for cell in here:
        peer = cell.peer
        yield [
            workers_of(cell),
            spread(cell.ours),
            rate(cell.ours["median"]),
            f"{peer['engine']} {spread(peer)}" if peer else ABSENT,
            shown(cell.to_peer),
        ]


def messages(found):
    heads = ["group", "workers", "ours, µs a message", "a second", "fastest other, µs", "×"]
    for form in FORMS:
        for heat in HEATS:
            here = [cell for cell in found if cell.experiment == MESSAGES and cell.case.startswith(form) and cell.case.endswith(heat)]
            if here:
                yield f"### {form.capitalize()}, {heat}"
                yield ""
                yield commanded(f"messages {form}")
                yield ""
                yield from table(heads, ([group_of(cell), *row] for cell, row in zip(here, rows(here))))


def every_peer(figures, found):
    """Yields the section that compares Lehr with each peer, warm."""
    warm = [cell for cell in found if cell.experiment == MESSAGES and cell.case.endswith(", warm")]
    values = {}
    for cell in warm:
        for figure in of(figures, MESSAGES):
            if figure["case"] == cell.case and figure.get("workers") == cell.ours.get("workers") and not figure["engine"].startswith("lehr"):
                values.setdefault(figure["engine"], []).append(ratio_of(cell.ours, figure))
    if values:
        yield "Warm groups against each peer alone:"
        yield ""
        lines = ([engine, str(len(ratios)), tally(ratios)] for engine, ratios in sorted(values.items()))
        yield from table(["peer", "cells", "ours ahead / level / behind"], lines)


def bins(values):
    """Returns the number of values in each of as many equal bins, from the minimum to the maximum."""
    least, most = min(map(min, values)), max(map(max, values))
    step = (most - least) / BINS or 1.0
    edges = [least + step * number for number in range(BINS + 1)]
    counts = [[0] * BINS for _ in values]
    for place, own in enumerate(values):
        for value in own:
            counts[place][min(int((value - least) / step), BINS - 1)] += 1
    return edges, counts


def histograms(figures):
    here = [figure for figure in of(figures, HISTOGRAM) if figure.get("values")]
    if not here:
        return
    yield "## Histogram of thirty groups of two hundred"
    yield ""
    yield f"As figure 13 (b) of paper 001. How many of the groups took so many µs a message. {commanded('histogram')}"
    yield ""
    for case in dict.fromkeys(figure["case"] for figure in here):
        for workers in dict.fromkeys(figure.get("workers") for figure in here if figure["case"] == case):
            rows_here = [figure for figure in here if (figure["case"], figure.get("workers")) == (case, workers)]
            ours = [figure for figure in rows_here if figure["engine"].startswith("lehr")]
            if not ours:
                continue
            fastest = sorted((figure for figure in rows_here if figure not in ours), key=lambda figure: figure["median"])[:1]
            shown_here = ours + fastest
            edges, counts = bins([figure["values"] for figure in shown_here])
            yield f"{case}, {workers} worker{'' if workers == 1 else 's'}:"
            yield ""
            heads = ["µs a message", *(f"from {digits(edge)}" for edge in edges[:-1])]
            yield from table(heads, ([figure["engine"], *map(str, own)] for figure, own in zip(shown_here, counts)))


def http(found):
    here = [cell for cell in found if cell.experiment == HTTP]
    latencies = [cell for cell in found if cell.experiment == LATENCY]
    if not here and not latencies:
        return
    yield "## Over loopback HTTP"
    yield ""
    yield "One worker: the server is bound to one core and the load runs on another. More: nothing is bound, and the load takes its part of the same cores. Both sides answer the same bytes."
    yield ""
    heads = ["case", "workers", "ours, µs a request", "a second", "axum, µs", "×"]
    yield from table(heads, ([cell.case, *row] for cell, row in zip(here, rows(here))))
    yield f"What so many of the requests took at most, from when each was due. {commanded('http')}"
    yield ""
    heads = ["case", "workers", "ours, µs", "axum, µs", "×"]
    yield from table(heads, ([cell.case, row[0], row[1], row[3], row[4]] for cell, row in zip(latencies, rows(latencies))))


def company(figures):
    listeners, memory = of(figures, LISTENERS), of(figures, MEMORY)
    neighbours, clusterings = of(figures, NEIGHBOURS), of(figures, CLUSTERINGS)
    if not (listeners or neighbours or memory or clusterings):
        return
    yield "## What others do to a service"
    yield ""
    if listeners:
        least = next((figure for figure in listeners if figure["case"].endswith("heard by nobody")), None)
        lines = ([figure["case"], spread(figure), shown(ratio_of(figure, least))] for figure in listeners)
        yield from table(["case", "µs a request", "× nobody"], lines)
    for figure in memory:
        yield f"Memory of the node for each of {figure['case']}, its connection included: {spread(figure)} bytes. {commanded('memory')}"
        yield ""
    computing = (
        (neighbours, NEIGHBOURS, "A service that computes, on one core.", "µs a request"),
        (clusterings, CLUSTERINGS, "A clustering as a job of `lehr serve`, on one core by the manifest; the other is a job of another service, which clusters all the while.", "ms a job"),
    )
    for here, experiment, what, unit in computing:
        if here:
            alone = next((figure for figure in here if figure["engine"].endswith(", alone")), None)
            yield f"{what} {commanded(experiment)}"
            yield ""
            lines = ([figure["engine"].split(", ", 1)[-1], figure["case"], spread(figure), shown(ratio_of(figure, alone))] for figure in here)
            yield from table(["beside", "case", unit, "× alone"], lines)


def papers_section(found, figures, papers):
    yield "## Beside the papers"
    yield ""
    yield "What the papers measured of services in 2007, each beside ours here, on as many workers as there are cores. Machines and ages differ: the table says what has become of it."
    yield ""

    def band(values, form):
        least, most = values
        return form(least) if least == most else f"{form(least)} to {form(most)}"

    def ours_of(beside):
        if beside == HISTOGRAM:
            here = [figure for figure in of(figures, HISTOGRAM) if figure["engine"].startswith("lehr") and "in turn" in figure["case"]]
            return max(here, key=lambda figure: figure.get("workers", 0), default=None)
        return next((cell.ours for cell in found if cell.case == beside and not cell.one_core), None)

    def lines():
        for row in papers["rows"]:
            ours = ours_of(row["beside"])
            yield [
                f"{row['figure']}: {row['what']}",
                row["machine"],
                band(row["messages_a_second"], lambda value: f"{value:,}"),
                band(row["us"], str),
                row["beside"],
                rate(ours["median"]) if ours else ABSENT,
                digits(ours["median"]) if ours else ABSENT,
            ]

    yield from table(["paper", "machine", "messages a second", "µs", "ours: case", "a second", "µs"], lines())


def presence(figures):
    gone = of(figures, "absent")
    if gone:
        yield "## Who was absent"
        yield ""
        yield from table(["who", "why"], ([figure["engine"], figure["case"]] for figure in gone))


def page(figures, definition, reasons, papers, about):
    found = cells(figures, [], COMPARED)
    aims = definition["aims"]
    runs = max((figure["runs"] for figure in figures if figure["experiment"] in COMPARED), default=0)
    notes = [
        f"- **Figures** are medians of up to {runs} rounds in which every side took its turn, with least and most in parentheses. A unit of computation lasted {figures[0]['unit_ns']:.0f} ns.",
        "- **Ratios** (×) are ours over theirs: below 1 we are ahead; from 0.95 to 1.05 is *level*.",
        f"- **Aims**: a warm message at most {aims['messages']:.2f} of the fastest peer's time, a request over HTTP at most {aims['http']:.2f} of the bare handler's, which is {1 / aims['http']:.0%} of its requests a second.",
        f"- `{ABSENT}`: not in this record, or nothing to compare with.",
    ]
    yield from opening("Services beside actor libraries and a bare HTTP handler", "services", "lab-services", notes, about)
    yield "## In short"
    yield ""
    yield from summary(found, aims)
    yield from every_peer(figures, found)
    yield from worst([cell for cell in found if not cell.case.endswith(", cold")], reasons)
    yield "## Messages in one process"
    yield ""
    yield "A group is sent by one client to one service: *in turn*, each message after the answer to the one before; *at once*, all messages and then all answers; *one-way*, no answer but to one"
    yield "question at the end. *Cold* is the first group that a service was ever sent."
    yield ""
    yield from messages(found)
    yield from histograms(figures)
    yield from http(found)
    yield from company(figures)
    yield from papers_section(found, figures, papers)
    yield from presence(figures)
    yield from others(figures, WITH_TABLES)


def main():
    definition, reasons, papers = definitions("services", "services")
    write(__doc__, lambda figures, about: page(figures, definition, reasons, papers, about))


if __name__ == "__main__":
    main()
