"""Repeated calls, from several threads at once, leak neither memory nor objects."""

import asyncio
import ctypes
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import lehr

pytestmark = pytest.mark.thread_unsafe(reason="what the whole process has in use is counted; threads are the test's own")

THREADS = 4
#: The calls of a thread before the first count, and between two counts. The first calls create caches and the memory of threads.
WARM, CALLS = 3, 20
#: The number of rows: an array with one number for each takes 16 kB.
ROWS = 2000


class _Given(ctypes.Structure):
    """The memory that glibc has allocated (mallinfo2)."""

    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


def _bytes_in_use():
    told = getattr(ctypes.CDLL(None), "mallinfo2", None) if sys.platform == "linux" else None
    if told is None:
        pytest.skip("only the C library of GNU tells what it has given out")
    told.restype = _Given
    given = told()
    return given.uordblks + given.hblkhd


def _rows():
    return np.random.default_rng(7).normal(size=(ROWS, 3)) + 6.0 * np.arange(ROWS)[:, None] % 18


def _matrix():
    return lehr.pairwise_distances(_rows()[:150])


def _fit_and_predict(make):
    rows = _rows()

    def call():
        model = make().fit(rows)
        model.predict(rows)
        model.score(rows)

    return call


def _place():
    rows = _rows()

    def call():
        model = lehr.GTM(n_nodes=4, n_basis=2, max_iter=5).fit(rows)
        model.transform(rows)
        model.responsibilities(rows)

    return call


def _draw_items():
    matrix = _matrix()

    def call():
        lehr.SMACOF(max_iter=20).fit_transform(matrix)

    return call


def _cluster_items():
    matrix = _matrix()

    def call():
        lehr.PairwiseClustering(3).fit_predict(matrix)

    return call


def _compare():
    rows = _rows()[:300]
    bits = lehr.Fingerprints(np.random.default_rng(1).integers(0, 256, size=(300, 16), dtype=np.uint8), 128)
    texts = ["".join(np.random.default_rng(seed).choice(list("ACGT"), 80)) for seed in range(20)]
    genes = lehr.Sequences(texts, alphabet="dna")

    def call():
        for things in (rows, bits, genes):
            lehr.pairwise_distances(things)

    return call


def _refuse():
    rows = _rows()
    rows[0, 0] = np.nan

    def call():
        with pytest.raises(ValueError, match="NaN"):
            lehr.DAClustering(2).fit(rows)

    return call


def _stop():
    rows = _rows()

    def stop(progress):
        raise ZeroDivisionError

    def call():
        with pytest.raises(ZeroDivisionError):
            lehr.DAClustering(3, callback=stop).fit(rows)

    return call


def _rank():
    arrays = _rows()[: ROWS - ROWS % 3]

    def program(comm):
        part = comm.scatter(arrays if comm.rank == 0 else None)
        comm.all_reduce(part.sum(axis=0))
        comm.start_receive()
        comm.split(0).send({"rank": comm.rank}, to=0)
        return comm.all_gather(part)

    def call():
        lehr.ranks.run(program, 3)

    return call


def _wait():
    async def main():
        left, right = lehr.runtime.Port("left"), lehr.runtime.Port("right")
        done = lehr.runtime.Port("done")

        async def both(state, pair):
            done.post(pair)

        with lehr.runtime.Dispatcher() as dispatcher:
            interleave = lehr.runtime.Interleave(dispatcher, [], exclusive=[((left, right), both)])
            for _ in range(20):
                left.post(np.zeros(ROWS))
                right.post(np.zeros(ROWS))
                await lehr.runtime.choice(lehr.runtime.join(done), left.take(1000))
            given_up = asyncio.ensure_future(done.receive())
            await asyncio.sleep(0)
            given_up.cancel()
            await interleave.stop()

    return lambda: asyncio.run(main())


CASES = {
    "DAClustering": lambda: _fit_and_predict(lambda: lehr.DAClustering(3)),
    "KMeans": lambda: _fit_and_predict(lambda: lehr.KMeans(3)),
    "DAGaussianMixture": lambda: _fit_and_predict(lambda: lehr.DAGaussianMixture(3, max_iter=20)),
    "GTM": _place,
    "SMACOF": _draw_items,
    "PairwiseClustering": _cluster_items,
    "pairwise_distances": _compare,
    "errors": _refuse,
    "callbacks that raise": _stop,
    "ranks": _rank,
    "ports": _wait,
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_what_is_called_again_and_again_keeps_nothing(case):
    call = CASES[case]()

    def many(count):
        for _ in range(count):
            call()

    def together(count):
        with ThreadPoolExecutor(THREADS) as pool:
            for ended in [pool.submit(many, count) for _ in range(THREADS)]:
                ended.result()
        gc.collect()
        return _bytes_in_use(), sys.getallocatedblocks(), len(gc.get_objects())

    together(WARM)
    before = together(CALLS)
    after = together(CALLS)
    in_use, blocks, objects = (now - then for now, then in zip(after, before, strict=True))
    # The limits are below one array in all calls, and below one Python object for each call. Threads and caches cause small differences.
    assert in_use < 8 * ROWS and blocks < THREADS * CALLS and objects < THREADS * CALLS
