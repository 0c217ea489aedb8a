"""Programs on ranks: the messages that arrive, the calls that are refused, and the end of a program."""

import gc
import os
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import lehr
from lehr.ranks import RankError, run

TYPES = ["float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8"]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_arrays_of_every_type_are_combined_where_they_lie(dtype, ranks):
    def program(comm):
        array = np.array([[comm.rank + 1, 2], [3, comm.rank]], dtype=dtype)
        place = array.ctypes.data
        results = {}
        for op in ("sum", "prod", "min", "max"):
            own = array.copy()
            comm.all_reduce(own, op)
            results[op] = own
        comm.all_reduce(array)
        assert array.ctypes.data == place and array.dtype == dtype
        np.testing.assert_array_equal(array, results["sum"])
        return results

    parts = np.array([[[rank + 1, 2], [3, rank]] for rank in range(ranks)], dtype=dtype)
    for results in run(program, ranks):
        np.testing.assert_array_equal(results["sum"], parts.sum(axis=0, dtype=dtype))
        np.testing.assert_array_equal(results["prod"], parts.prod(axis=0, dtype=dtype))
        np.testing.assert_array_equal(results["min"], parts.min(axis=0))
        np.testing.assert_array_equal(results["max"], parts.max(axis=0))


def test_large_sums_have_the_bits_of_small_ones_and_a_nan_stays():
    random = np.random.default_rng(0).normal(size=(4, 100_000))
    random[2, 7] = np.nan

    def program(comm):
        whole, piece = random[comm.rank].copy(), random[comm.rank, :10].copy()
        least = piece.copy()
        comm.all_reduce(whole)
        comm.all_reduce(piece)
        comm.all_reduce(least, "min")
        return whole, piece, least

    for whole, piece, least in run(program, 4):
        np.testing.assert_array_equal(whole[:10], piece)
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(whole)), [7])
        np.testing.assert_array_equal(least, random[:, :10].min(axis=0))
        np.testing.assert_allclose(np.delete(whole, 7), np.delete(random.sum(axis=0), 7))


def test_what_the_root_has_and_what_it_gets():
    def program(comm):
        array = np.full((2, 3), comm.rank, dtype=np.float32)
        comm.broadcast(array, root=2)
        part = comm.scatter(np.arange(12).reshape(6, 2) if comm.rank == 1 else None, root=1)
        gathered = comm.gather(np.full((comm.rank, 2), comm.rank), root=1)
        total = np.array([comm.rank])
        comm.reduce(total, root=2)
        return array, part, gathered, total.item()

    for rank, (array, part, gathered, total) in enumerate(run(program, 3)):
        np.testing.assert_array_equal(array, np.full((2, 3), 2))
        np.testing.assert_array_equal(part, np.arange(12).reshape(6, 2)[2 * rank : 2 * rank + 2])
        if rank == 1:
            assert [part.shape for part in gathered] == [(0, 2), (1, 2), (2, 2)]
            np.testing.assert_array_equal(gathered[2], [[2, 2], [2, 2]])
        else:
            assert gathered is None
        if rank == 2:
            assert total == 3


def test_scans_shifts_and_everybodys_arrays():
    def program(comm):
        upto, before = np.array([comm.rank + 1]), np.array([comm.rank + 1])
        comm.scan(upto)
        comm.scan(before, exclusive=True)
        return upto.item(), before.item(), comm.shift([comm.rank], -1).item(), comm.all_gather(np.float64(comm.rank))

    found = run(program, 4)
    assert [upto for upto, *_ in found] == [1, 3, 6, 10]
    assert [before for _, before, *_ in found] == [1, 1, 3, 6]
    assert [shifted for *_, shifted, _ in found] == [1, 2, 3, 0]
    for *_, gathered in found:
        assert [(array.shape, array.item()) for array in gathered] == [((), rank) for rank in range(4)]


def test_messages_keep_type_shape_and_order():
    def program(comm):
        if comm.rank == 0:
            comm.send(np.arange(6, dtype=np.int16).reshape(2, 3), to=1, tag=5)
            comm.send(np.array(2.5), to=1, tag=5)
            comm.send(np.asfortranarray(np.arange(6.0).reshape(2, 3)), to=1, tag=9)
            return None
        later = comm.receive(0, tag=9)
        first, source, tag = comm.receive_any(tag=5)
        assert (source, tag) == (0, 5)
        return first, comm.receive(0, tag=5), later

    first, second, later = run(program, 2)[1]
    assert (first.dtype, first.tolist()) == (np.int16, [[0, 1, 2], [3, 4, 5]])
    assert (second.shape, second.item()) == ((), 2.5)
    np.testing.assert_array_equal(later, np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ([np.zeros(3), np.zeros(4)], r"rank 0 calls all_reduce by 'sum' of float64 of shape \(3,\), rank 1 all_reduce .* \(4,\)"),
        ([np.zeros(2), np.zeros(4, dtype=np.float32)], r"float64 of shape \(2,\).*float32 of shape \(4,\)"),
        ([np.zeros((2, 3)), np.zeros((3, 2))], r"shape \(2, 3\).*shape \(3, 2\)"),
    ],
)
def test_arrays_that_differ_are_an_error_on_all(arrays, words):
    told = []

    def program(comm):
        try:
            comm.all_reduce(arrays[comm.rank].copy())
        except ValueError as error:
            told.append(str(error))
            raise

    with pytest.raises(ValueError, match=words):
        run(program, 2)
    assert len(told) == 2


def test_calls_roots_and_operations_that_differ_are_an_error_on_all():
    programs = {
        "rank 0 calls barrier|all_gather|disagree": lambda comm: comm.barrier() if comm.rank else comm.all_reduce(np.zeros(1)),
        "broadcast with root 0 .*, rank 1 broadcast with root 1": lambda comm: comm.broadcast(np.zeros(1), root=comm.rank),
        "by 'sum' .*, rank 1 all_reduce by 'max'": lambda comm: comm.all_reduce(np.zeros(1), ["sum", "max"][comm.rank]),
        "gather with root 0 .*, rank 1 scan by 'sum'": lambda comm: comm.scan(np.zeros(1)) if comm.rank else comm.gather([1]),
        "10 rows cannot be dealt in equal parts to 4": lambda comm: comm.scatter(np.zeros(10) if comm.rank == 0 else None),
        "the root deals an array: got none": lambda comm: comm.scatter(None),
    }
    for words, program in programs.items():
        with pytest.raises(ValueError, match=words):
            run(program, 4 if "equal parts" in words else 2)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda comm: comm.all_reduce(np.zeros(2, dtype=complex)), TypeError, "expected a NumPy array of float64, .*, found one of complex128"),
        (lambda comm: comm.all_reduce(np.zeros(2, dtype=">f8")), TypeError, "order of bytes of this machine"),
        (lambda comm: comm.all_reduce([1.0, 2.0]), TypeError, "found <class 'list'>"),
        (lambda comm: comm.all_reduce(np.zeros((4, 4))[:, ::2]), ValueError, "C-contiguous array"),
        (lambda comm: comm.all_reduce(np.zeros((4, 4), order="F")), ValueError, "np.ascontiguousarray"),
        (lambda comm: comm.all_reduce(np.broadcast_to(1.0, (1,))), ValueError, "read-only"),
        (lambda comm: comm.all_reduce(np.zeros(1), "mean"), ValueError, "'op' parameter must be one of 'sum', 'prod', 'min', 'max'. Got 'mean'"),
        (lambda comm: comm.broadcast(np.zeros(1), root=1), ValueError, "'root' parameter must be a rank from 0 to 0. Got 1"),
        (lambda comm: comm.send([1.0], to=-1), ValueError, "'to' parameter must be an int of 0 or more"),
        (lambda comm: comm.send([1.0], to=0, tag=2**32), ValueError, "'tag' parameter must be at most"),
        (lambda comm: comm.receive("0"), TypeError, "'source' parameter must be an int"),
        (lambda comm: comm.send(["word"], to=0), TypeError, "expected a NumPy array"),
    ],
)
def test_what_cannot_be_meant_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        run(call, 1)


def test_parameters_that_cannot_be():
    with pytest.raises(TypeError, match="'program' parameter must be callable"):
        run(None, 2)
    with pytest.raises(ValueError, match="'ranks' parameter must be at least 1"):
        run(lambda comm: None, 0)
    with pytest.raises(TypeError, match="'ranks' parameter must be an int"):
        run(lambda comm: None, 1.5)


def test_what_one_rank_raises_comes_through_and_the_others_do_not_wait_for_ever():
    class Mine(Exception):
        pass

    told = []

    def program(comm):
        if comm.rank == 2:
            raise Mine("of rank 2")
        try:
            comm.all_reduce(np.zeros(1))
        except RankError as error:
            told.append(str(error))
            raise

    with pytest.raises(Mine, match="of rank 2") as raised:
        run(program, 4)
    assert len(told) == 3 and all("rank 2 had ended" in text for text in told)
    if sys.version_info >= (3, 11):
        assert raised.value.__notes__ == ["raised in rank 2 of 4"]


def test_a_message_that_nobody_will_send_is_told():
    with pytest.raises(RankError, match="rank 1 had ended while another rank waited for it in receive"):
        run(lambda comm: comm.receive(1) if comm.rank == 0 else None, 2)


def test_a_communicator_is_over_with_its_program():
    kept = run(lambda comm: comm, 2)
    with pytest.raises(RankError, match="has returned"):
        kept[0].barrier()
    assert repr(kept[1]) == "Communicator(rank=1, size=2)"


@pytest.mark.thread_unsafe(reason="it counts the threads of the process")
def test_nothing_is_left_behind():
    def once():
        arrays = [np.arange(1000.0) for _ in range(3)]

        def program(comm):
            comm.all_reduce(arrays[comm.rank])
            comm.send(arrays[comm.rank], to=(comm.rank + 1) % 3)
            return comm.receive((comm.rank + 2) % 3)

        results = run(program, 3)
        return [weakref.ref(array) for array in arrays + results]

    for _ in range(20):
        held = once()
    gc.collect()
    assert all(reference() is None for reference in held)
    tasks = "/proc/self/task"
    if os.path.isdir(tasks):
        before = len(os.listdir(tasks))
        for _ in range(20):
            once()
        # A thread that was joined is listed until the system has removed it.
        until = time.monotonic() + 10
        while len(os.listdir(tasks)) > before and time.monotonic() < until:
            time.sleep(0.01)
        assert len(os.listdir(tasks)) <= before


def test_methods_are_called_outside_of_a_program(wine):
    """Checks that methods refuse to run inside a program, as under mpiexec (test_command.py): each rank would fit only its own part of the data."""
    for method in (lehr.KMeans(3).fit, lehr.DAGaussianMixture(2).fit, lehr.SMACOF().fit_transform, lehr.pairwise_distances):
        with pytest.raises(RuntimeError, match="in a program of lehr.ranks, by one of its 2 ranks. .* call it outside of lehr.ranks.run, with all rows"):
            run(lambda comm, method=method: method(wine), 2)
    # A fitted model may label rows inside a program.
    model = lehr.DAClustering(3).fit(wine)
    parts = run(lambda comm: model.predict(wine[comm.rank :: comm.size]), 2)
    for rank, labels in enumerate(parts):
        np.testing.assert_array_equal(labels, model.labels_[rank::2])
    # After the program, the calling thread is not a rank.
    np.testing.assert_array_equal(lehr.DAClustering(3).fit(wine).labels_, model.labels_)


@pytest.mark.skipif(sys.platform == "win32", reason="signals to threads are POSIX's")
@pytest.mark.thread_unsafe(reason="signals are the main thread's")
def test_a_signal_ends_ranks_that_wait():
    class Halt(Exception):
        pass

    def handler(number, frame):
        raise Halt

    waiting, ended = threading.Barrier(4), []

    def program(comm):
        waiting.wait()
        try:
            comm.receive(comm.rank)
        except RankError as error:
            ended.append(str(error))

    def interrupt():
        waiting.wait()
        signal.pthread_kill(main, signal.SIGUSR1)

    main = threading.get_ident()
    former = signal.signal(signal.SIGUSR1, handler)
    helper = threading.Thread(target=interrupt)
    helper.start()
    try:
        with pytest.raises(Halt):
            run(program, 3)
    finally:
        helper.join()
        signal.signal(signal.SIGUSR1, former)
    deadline = time.monotonic() + 10
    while len(ended) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert ended == ["the program was stopped"] * 3
