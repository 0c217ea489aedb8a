"""Runs programs that are written for mpi4py on ranks, one after the other: ``python3 on_ranks.py RANKS PROGRAM…``. Under ``mpiexec``, the ranks are in its processes."""

import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "names_of_mpi4py"))

from mpi4py import MPI  # noqa: E402  these names are beside this file

import lehr


def on_ranks(program, ranks):
    """Runs a program once for each rank, each with its own globals. Returns the globals of the ranks of this process."""

    def run(comm):
        MPI.enter(comm)
        return runpy.run_path(program, run_name="__main__")

    return lehr.ranks.run(run, ranks)


if __name__ == "__main__":
    for program in sys.argv[2:]:
        on_ranks(program, int(sys.argv[1]))
        # In one piece, because the lines of several processes meet.
        sys.stdout.write(f"{Path(program).stem}\n")
        sys.stdout.flush()
