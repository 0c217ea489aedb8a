"""Sets papers 001 (tables 1 to 3) and 002 (table 2) beside our figures, in the papers' own cells. Standard library only."""

from comparison import ABSENT, best, digits, is_ours, table

# The form of CCR, with one handler for each message; the rendezvous forms have one engine.
SPAWNED = "lehr persistent receivers"


def ours(figures, form, pattern, ranks, is_workers):
    """Returns our figure of a cell: with 20 units of computation as in the papers, otherwise without; None if the record has neither."""
    for units in (20, 0):
        case = f"{pattern}, P = {ranks}, {units} units"
        here = [
            figure
            for figure in figures
            if (figure["experiment"], figure["case"]) == (form, case)
            and is_ours(figure)
            and (form != "spawned" or figure["engine"] == SPAWNED)
            and is_workers(figure.get("workers"))
        ]
        if here:
            return best(here) | {"units": units}
    return None


def of_paper(machines, column):
    """Formats the papers' machines in one cell: `0.77 / 1.7 / 1.33`."""
    values = [machine[column] for machine in machines]
    return ABSENT if all(value is None for value in values) else " / ".join("-" if value is None else str(value) for value in values)


def beside(value, figure, digits_of=lambda figure: digits(figure["median"])):
    if value == ABSENT:
        return ABSENT
    return f"{value} → **{digits_of(figure) + ('' if figure['units'] else '°')}**" if figure else f"{value} → {ABSENT}"


def paper_001(figures, paper, cores):
    """Returns tables 1 and 2: seconds of 500,000 stages and overheads, with as many workers as ranks (match) and with one for each core (default)."""
    workers = {"match": lambda ranks: lambda count: count == ranks, "default": lambda ranks: lambda count: count == cores}

    def seconds(ranks, choice):
        # The paper's Table 2 is its Table 1 minus the computation; our total is the overhead plus the computation.
        def total(figure):
            at_once = min(ranks, ranks if choice == "match" else cores, cores)
            computation = 20 * figure["unit_ns"] * 1e-3 * -(-ranks // at_once)
            return digits((figure["median"] + computation) * 1e-6 * paper["stages"])

        return total

    def lines(tables, as_seconds):
        for pattern, choices in tables.items():
            for choice, machines in choices.items():
                line = [pattern, choice]
                for column, ranks in enumerate(paper["ranks"]):
                    figure = ours(figures, "spawned", pattern, ranks, workers[choice](ranks))
                    show = seconds(ranks, choice) if as_seconds else lambda figure: digits(figure["median"])
                    line.append(beside(of_paper(machines, column), figure, show))
                yield line

    heads = ["pattern", "threads", *(f"P = {ranks}" for ranks in paper["ranks"])]
    yield f"### Paper 001, table 2: overhead of a stage in µs ({', '.join(paper['machines'])} → ours)"
    yield ""
    yield from table(heads, lines(paper["overheads"], False))
    yield f"### Paper 001, table 1: seconds of {paper['stages']:,} stages with computation"
    yield ""
    yield f"Ours is calculated from our overheads, as the paper calculated its table 2 from this one; here the cores are {cores}, and more ranks compute in turns."
    yield ""
    yield from table(heads, lines(paper["seconds"], True))


def paper_002(figures, paper):
    """Returns table 2: overheads of three spawned and four rendezvous patterns."""

    def lines():
        for name, machines in paper["overheads"].items():
            form, pattern = name.split(" ", 1)
            line = [name]
            for column, ranks in enumerate(paper["ranks"]):
                line.append(beside(of_paper(machines, column), ours(figures, form, pattern, ranks, lambda count: count and count > 1)))
            yield line

    yield f"### Paper 002, table 2: overhead of a stage in µs ({', '.join(paper['machines'])} → ours)"
    yield ""
    yield from table(["pattern", *(f"P = {ranks}" for ranks in paper["ranks"])], lines())


def bandwidths(rates, paper):
    """Returns 001 table 3 beside our figures: `rates` maps (form, doubles, units, one_core) to our GB/s."""

    def lines():
        for form, sizes in paper.items():
            if form == "about":
                continue
            for doubles, printed in sizes.items():
                units, found = next(((units, rates[key]) for units in (40, 0) if (key := (form, int(doubles), units, False)) in rates), (0, None))
                yield [form, f"{int(doubles):,}", " / ".join(map(str, printed)), digits(found) + ("" if units else "°") if found else ABSENT]

    yield "### Paper 001, table 3: GB/s over all cores (AMD, Intel → ours)"
    yield ""
    yield from table(["array", "doubles", "AMD / Intel, 4 cores", "ours, all cores"], lines())
