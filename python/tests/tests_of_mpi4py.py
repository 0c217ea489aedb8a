"""Runs mpi4py's own tests of what ``lehr.ranks`` offers, by mpi4py's names: ``python3 tests_of_mpi4py.py CHECKOUT RANKS``.

CHECKOUT is a working copy of mpi4py. Under ``mpiexec``, the ranks are in its processes. Prints the number of tests of each module, and the tests that fail.
"""

import contextlib
import itertools
import runpy
import sys
import threading
import types
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "names_of_mpi4py"))

from mpi4py import MPI  # noqa: E402  these names are beside this file

import lehr

MODULES = ["test_p2p_obj", "test_cco_obj", "test_p2p_buf", "test_cco_buf", "test_cco_vec"]
#: What their tests need and ``lehr.ranks`` or these names do not offer, by parts of the names of the tests.
LEFT_OUT = {
    "Cancel": "a request is cancelled by dropping it",
    "testCommLock": "looks into mpi4py",
    "testMixed": "receives the bytes of mpi4py's pickles",
    "testRecvObjArg": "a warning of mpi4py's",
    "testConstructor": "handles of MPI are copied",
    "TypeIndexed": "derived types; NumPy copies what is not contiguous",
    "TestReduceLocal": "an operation without ranks; NumPy has it",
    "Alltoallw": "a type for each rank; send arrays of different types with all_to_all",
}
#: The arrays of the tests whose memory NumPy reads by itself.
ARRAYS = ("ArrayArray", "ArrayNumPy")


class _Loop(threading.local):
    """The loop of the tests over arrays: over the types of NumPy and `array` only. Each thread has its own place in the loop."""

    array = typecode = None

    def __call__(self, *args):
        for self.array in self.backends:
            for self.typecode in self.array.TypeMap:
                for product in itertools.product(*args) if args else [()]:
                    yield (self.array, self.typecode, *product)


def _tests(suite):
    for test in suite:
        if isinstance(test, unittest.TestCase):
            if not any(part in test.id() for part in LEFT_OUT):
                yield test
        else:
            yield from _tests(test)


class _Result(unittest.TestResult):
    """Prints a test that fails at once, because its ranks may not agree any more about what comes next."""

    def _note(self, test, error):
        print(f"  {test.id()}: {error[0].__name__}: {error[1]}", flush=True)

    def addFailure(self, test, error):
        self._note(test, error)
        super().addFailure(test, error)

    def addError(self, test, error):
        self._note(test, error)
        super().addError(test, error)

    def addSubTest(self, test, part, error):
        if error is not None:
            self._note(part, error)
        super().addSubTest(test, part, error)


def run(comm, folder):
    MPI.enter(comm)
    outcomes = []
    for name in MODULES:
        names = runpy.run_path(str(folder / f"{name}.py"), run_name=name)
        module = types.ModuleType(name)
        vars(module).update(names)
        suite = unittest.TestSuite(_tests(unittest.defaultTestLoader.loadTestsFromModule(module)))
        result = _Result()
        suite.run(result)
        comm.barrier()
        outcomes.append((name, result.testsRun, len(result.skipped), len(result.failures + result.errors)))
    return outcomes


def main():
    folder = Path(sys.argv[1]) / "test"
    sys.path.append(str(folder))
    import arrayimpl

    _Loop.backends = [array for array in arrayimpl.ArrayBackends if array.__name__ in ARRAYS]
    arrayimpl.loop = _Loop()
    arrayimpl.test = lambda case, **parameters: contextlib.nullcontext()
    outcomes = lehr.ranks.run(lambda comm: run(comm, folder), int(sys.argv[2]))
    failures = sum(failed for modules in outcomes for *_, failed in modules)
    for rank, modules in enumerate(outcomes):
        for name, count, skipped, failed in modules:
            if failed or (rank == 0 and lehr.process()[0] == 0):
                print(f"{name}: {count} tests, {skipped} skipped, {failed} failed on rank {rank}")


    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
