"""Programs written for mpi4py give the same on ranks, on threads and under mpiexec: its tutorial's subjects, by its names (names_of_mpi4py)."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "tutorial").glob("*.py"))


def _run(launcher, ranks, programs):
    ended = subprocess.run([*map(str, [*launcher, sys.executable, HERE / "on_ranks.py", ranks, *programs])], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    done = ended.stdout.split()
    for program in programs:
        # Each process says that its ranks have ended the program.
        assert done.count(program.stem) == len(done) // len(programs) > 0


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_on_threads(ranks):
    _run([], ranks, PROGRAMS)


@pytest.mark.parametrize(("processes", "ranks"), [(2, 2), (2, 4), (3, 3)])
def test_in_processes(mpiexec, processes, ranks):
    # One-sided access is between threads.
    _run([mpiexec, "-n", processes], ranks, [program for program in PROGRAMS if program.stem != "one_sided"])
