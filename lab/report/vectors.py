"""Writes docs/lab/vectors.md from the records of `lehr-lab bench kernels`, `bench runs` and `bench people`: kernels.csv, runs.csv and people.csv of one folder.

NAME.machine.json beside each record describes the machine. The page has no table for a missing record.

Usage: vectors.py FOLDER > docs/lab/vectors.md. Standard library only.
"""

from comparison import digits, table
from figures import definition, spread, tables, write

STEP = "time per point and centre"
TOLERANCE = "expected time to within the tolerance"
ANNEALED = "lehr"


def kernels(found):
    about = definition("kernels")
    aims = {"c": about["aim"], "bits": about["bits"]["aim"], "sparse": about["sparse"]["aim"]}
    yield "## A step of E and M"
    yield ""
    yield "Nanoseconds a row and centre, both sides in turns over the same rows, their results compared. Of numbers beside a loop in C that is compiled for this machine alone; of bits and sparse rows beside our own step over the same rows as numbers."
    yield ""
    lines, reached = [], 0
    for case, of in found.items():
        joint = next(engine for engine in of if "/" in engine)
        first, second = joint.split("/")
        aim = aims["c" if second == "c" else first]
        ratio = of[joint]["ratio"]
        reached += ratio["median"] <= aim
        verdict = f"{aim}: {'reached' if ratio['median'] <= aim else 'missed'}"
        lines.append([case, first, spread(of[first][STEP], "{:.3f}"), second, spread(of[second][STEP], "{:.3f}"), spread(ratio, "{:.3f}"), verdict])
    yield f"{reached} of {len(lines)} reach their aim."
    yield ""
    yield from table(["case", "side", "ns", "beside", "ns", "ratio", "aim"], lines)


def runs(found):
    yield "## Whole runs"
    yield ""
    yield "Seconds of a run on all cores, how far its sum of squares is above the best known, and the time until a result within 0.1 % of it is to be expected: all seconds over the seeds that reached it; `never` where none did. *lehr* is annealing."
    yield ""
    known = {case: engines for case, engines in found.items() if any(TOLERANCE in of for of in engines.values())}
    first, late = 0, []
    for case, engines in known.items():
        times = {engine: of[TOLERANCE]["median"] for engine, of in engines.items() if TOLERANCE in of}
        fastest = min(times, key=times.get)
        first += fastest == ANNEALED
        if fastest != ANNEALED:
            ours = times.get(ANNEALED)
            late.append(f"{case} ({fastest}: {'never by annealing' if ours is None else f'in {times[fastest] / ours:.2f} of its time'})")
    yield f"Annealing is first to within 0.1 % in {first} of {len(known)}." + (f" Others are in {'; '.join(late)}." if late else "")
    yield ""
    lines = []
    for case, engines in found.items():
        for engine, of in engines.items():
            within = spread(of[TOLERANCE], None) if TOLERANCE in of else "never"
            lines.append([case, engine, spread(of["run"], None), spread(of["excess over the best known"]), within])
    yield from table(["set", "engine", "s", "excess, %", "s to within 0.1 %"], lines)
    yield from medians(found)


def medians(found):
    """Yields the time of our methods to a peer's result, beside the peer itself."""
    peers = list(dict.fromkeys(engine for engines in found.values() for engine in engines if not engine.startswith("lehr")))
    ours = list(dict.fromkeys(engine for engines in found.values() for engine in engines if engine.startswith("lehr")))
    lines, ahead, of_all = [], 0, 0
    for case, engines in found.items():
        for peer in peers:
            figure = f"expected time to the median of {peer}, or better"
            if figure not in engines.get(peer, {}):
                continue
            times = {engine: engines[engine][figure]["median"] for engine in ours if figure in engines.get(engine, {})}
            itself = engines[peer][figure]["median"]
            of_all += 1
            ahead += any(time < itself for time in times.values())
            lines.append([case, peer, digits(itself)] + [digits(times[engine]) if engine in times else "never" for engine in ours])
    if lines:
        yield "### To what each peer reaches"
        yield ""
        yield f"The time until the middle of a peer's sums of squares, or a lower one, is to be expected. One of ours is ahead in {ahead} of {of_all}."
        yield ""
        yield from table(["set", "to the middle of", "itself, s"] + [f"{engine}, s" for engine in ours], lines)


def people(found):
    yield "## People as rows"
    yield ""
    yield "Census blocks weighted by their people, and a row for each of them: 8.17 million. The measurement ends with an error unless both have the same clusters and, to rounding, the same sum of squares."
    yield ""
    lines = []
    for case, of in found.items():
        blocks, each = of["lehr, blocks with weights"], of["lehr, people as rows"]
        lines.append([case, spread(blocks["run"], None), spread(each["run"], None), spread(each["time over that of weights"], "{:.1f}"), f"{each['adjusted Rand index to that of weights']['min']:.6f}", f"{each['sum of squares over that of weights, less 1']['median']:.1e}"])
    yield from table(["blocks", "with weights, s", "people as rows, s", "times as long", "adjusted Rand index of both", "sums of squares differ by"], lines)


PARTS = (("kernels", kernels), ("runs", runs), ("people", people))


def page(folder):
    yield "# Vectors: steps, whole runs, people as rows"
    yield ""
    yield "Generated by `lab/report/vectors.py` from records of `make bench-kernels`, `make bench-runs` and `make bench-people`; do not edit. How it is measured: [METHOD](../../lab/METHOD.md), and why so: [annealing](../design/annealing.md),"
    yield "[numerics](../design/numerics.md), [k-means](../design/kmeans.md). How good the results are: [quality](quality.md)."
    yield ""
    yield "Figures are medians over rounds or seeds, with least and most in parentheses where they differ. What has no record yet is not on the page."
    yield ""
    yield from tables(folder, PARTS)


if __name__ == "__main__":
    write(__doc__, page, "vectors")
