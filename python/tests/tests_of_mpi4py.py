"""Runs mpi4py's own tests of what ``lehr.ranks`` offers, by mpi4py's names: ``python3 tests_of_mpi4py.py CHECKOUT RANKS``.

CHECKOUT is a working copy of mpi4py. Under ``mpiexec``, the ranks are in its processes. Prints the number of tests of each module, and the tests that fail.
"""

import runpy
import sys
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "names_of_mpi4py"))

from mpi4py import MPI  # noqa: E402  these names are beside this file

import lehr

MODULES = ["test_p2p_obj", "test_cco_obj", "test_cco_ngh_obj", "test_p2p_buf", "test_cco_buf", "test_cco_vec"]
#: Tests of what is not offered, and why.
LEFT_OUT = {
    "testCancel": "a request is cancelled by dropping it",
    "testMessage": "matched probes: receive_any gives a message and its status in one step",
    "testManyISendRecv": None,
}


def run(comm, folder):
    MPI.enter(comm)
    outcomes = []
    for name in MODULES:
        names = runpy.run_path(str(folder / f"{name}.py"), run_name=name)
        module = types.ModuleType(name)
        vars(module).update(names)
        suite = unittest.defaultTestLoader.loadTestsFromModule(module)
        result = unittest.TestResult()
        suite.run(result)
        comm.barrier()
        outcomes.append((name, result.testsRun, len(result.skipped), [(test.id(), text) for test, text in result.failures + result.errors]))
    return outcomes


def main():
    folder = Path(sys.argv[1]) / "test"
    sys.path.append(str(folder))
    outcomes = lehr.ranks.run(lambda comm: run(comm, folder), int(sys.argv[2]))
    for rank, modules in enumerate(outcomes):
        for name, count, skipped, failed in modules:
            if rank == 0 or failed:
                print(f"{name}: {count} tests, {skipped} skipped, {len(failed)} failed on rank {rank}")
            for test, text in failed if rank == 0 else []:
                print(f"  {test}: {text.strip().splitlines()[-1]}")


if __name__ == "__main__":
    main()
