"""Compares messages and collectives of Python programs: lehr.ranks on two threads and in two processes, and mpi4py in two processes.

    python side_by_side.py [--rounds 5] [--mpiexec mpiexec] [--record FILE]

In each round, each side runs once, in turns. Each run makes a call many times and notes the mean of a call; a message counts half of there and back. Shown are the
minimum, the median and the maximum over the rounds, in microseconds. Arrays are received into arrays that are there, in both libraries.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

SIDES = ("lehr, threads", "lehr, mpiexec", "mpi4py, mpiexec")
#: The calls and how often each is made.
CALLS = {
    "message of 8 B": 5000,
    "message of 8 KB": 3000,
    "message of 8 MB": 40,
    "message of a dict": 3000,
    "all-reduce of 8 B": 3000,
    "all-reduce of 800 KB": 100,
    "broadcast of a dict": 3000,
    "barrier": 3000,
}
OBJECT = {"name": "rows", "range": (0, 100), "seed": 7}


def of_lehr(comm):
    """Returns the calls of lehr.ranks; those of a message are there and back."""
    import numpy as np

    other = 1 - comm.rank
    small, middle, long = np.zeros(1), np.zeros(1000), np.zeros(1_000_000)
    room = {len(array): np.zeros_like(array) for array in (small, middle, long)}
    hundred = np.zeros(100_000)

    def pass_array(array):
        out = room[len(array)]
        if comm.rank == 0:
            comm.send(array, other)
            comm.receive(other, out=out)
        else:
            comm.receive(other, out=out)
            comm.send(array, other)

    def pass_object():
        if comm.rank == 0:
            comm.send(OBJECT, other)
            comm.receive(other)
        else:
            comm.receive(other)
            comm.send(OBJECT, other)

    return {
        "message of 8 B": lambda: pass_array(small),
        "message of 8 KB": lambda: pass_array(middle),
        "message of 8 MB": lambda: pass_array(long),
        "message of a dict": pass_object,
        "all-reduce of 8 B": lambda: comm.all_reduce(small, out=small),
        "all-reduce of 800 KB": lambda: comm.all_reduce(hundred, out=hundred),
        "broadcast of a dict": lambda: comm.broadcast(OBJECT),
        "barrier": comm.barrier,
    }


def of_mpi4py(comm):
    """Returns the same calls of mpi4py."""
    import numpy as np
    from mpi4py import MPI

    other = 1 - comm.rank
    small, middle, long = np.zeros(1), np.zeros(1000), np.zeros(1_000_000)
    room = {len(array): np.zeros_like(array) for array in (small, middle, long)}
    hundred = np.zeros(100_000)

    def pass_array(array):
        out = room[len(array)]
        if comm.rank == 0:
            comm.Send(array, other)
            comm.Recv(out, other)
        else:
            comm.Recv(out, other)
            comm.Send(array, other)

    def pass_object():
        if comm.rank == 0:
            comm.send(OBJECT, other)
            comm.recv(source=other)
        else:
            comm.recv(source=other)
            comm.send(OBJECT, other)

    return {
        "message of 8 B": lambda: pass_array(small),
        "message of 8 KB": lambda: pass_array(middle),
        "message of 8 MB": lambda: pass_array(long),
        "message of a dict": pass_object,
        "all-reduce of 8 B": lambda: comm.Allreduce(MPI.IN_PLACE, small),
        "all-reduce of 800 KB": lambda: comm.Allreduce(MPI.IN_PLACE, hundred),
        "broadcast of a dict": lambda: comm.bcast(OBJECT),
        "barrier": comm.Barrier,
    }


def timed(calls, barrier):
    """Returns the microseconds of each call."""
    found = {}
    for name, count in CALLS.items():
        call = calls[name]
        for _ in range(count // 10):
            call()
        barrier()
        start = time.perf_counter()
        for _ in range(count):
            call()
        seconds = time.perf_counter() - start
        found[name] = 1e6 * seconds / count / (2 if name.startswith("message") else 1)
    return found


def one(side):
    """Makes all calls of a side in this process, and prints the microseconds."""
    if side == "mpi4py, mpiexec":
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
        found, first = timed(of_mpi4py(comm), comm.Barrier), comm.rank == 0
    else:
        import lehr

        found = lehr.ranks.run(lambda comm: timed(of_lehr(comm), comm.barrier), 2)[0]
        first = lehr.process()[0] == 0
    if first:
        print(json.dumps(found))


def run(side, mpiexec):
    """Runs a side in processes of its own."""
    launcher = [] if side == "lehr, threads" else [mpiexec, "-n", "2"]
    ended = subprocess.run([*launcher, sys.executable, __file__, "--one", side], capture_output=True, text=True, timeout=600)
    if ended.returncode != 0:
        raise SystemExit(f"side_by_side: {side}: {ended.stderr.strip()}")
    return json.loads(ended.stdout)


def about():
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").is_file() else []
    processor = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    libraries = {name: version(name) for name in ("lehr", "mpi4py", "numpy")}
    return {"processor": processor, "threads": os.cpu_count(), "python": platform.python_version(), "libraries": libraries, "load": os.getloadavg()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mpiexec", default="mpiexec", help="the launcher of the MPI that both libraries use")
    parser.add_argument("--record", type=Path, help="keep the figures in this file, as JSON")
    arguments = parser.parse_args()
    if arguments.one:
        return one(arguments.one)
    rounds = [{side: run(side, arguments.mpiexec) for side in (SIDES if number % 2 else reversed(SIDES))} for number in range(arguments.rounds)]
    print(f"{'microseconds: median (min to max)':36}" + "".join(f"{side:>32}" for side in SIDES))
    for name in CALLS:
        cells = []
        for side in SIDES:
            seen = [found[side][name] for found in rounds]
            cells.append(f"{statistics.median(seen):.2f} ({min(seen):.2f} to {max(seen):.2f})")
        print(f"{name:36}" + "".join(f"{cell:>32}" for cell in cells))
    if arguments.record:
        arguments.record.parent.mkdir(parents=True, exist_ok=True)
        arguments.record.write_text(json.dumps({"about": about(), "rounds": rounds}, indent=1) + "\n")


if __name__ == "__main__":
    main()
