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
            before = array.copy()
            results[op] = comm.all_reduce(array, op)
            np.testing.assert_array_equal(array, before)
        assert comm.all_reduce(array, out=array) is array
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
        piece = random[comm.rank, :10]
        return comm.all_reduce(random[comm.rank]), comm.all_reduce(piece), comm.all_reduce(piece, "min")

    for whole, piece, least in run(program, 4):
        np.testing.assert_array_equal(whole[:10], piece)
        np.testing.assert_array_equal(np.flatnonzero(np.isnan(whole)), [7])
        np.testing.assert_array_equal(least, random[:, :10].min(axis=0))
        np.testing.assert_allclose(np.delete(whole, 7), np.delete(random.sum(axis=0), 7))


def test_what_the_root_has_and_what_it_gets():
    def program(comm):
        array = np.full((2, 3), comm.rank, dtype=np.float32)
        assert comm.broadcast(array, root=2, out=array) is array
        part = comm.scatter(np.arange(12).reshape(6, 2) if comm.rank == 1 else None, root=1)
        gathered = comm.gather(np.full((comm.rank, 2), comm.rank), root=1)
        total = comm.reduce(np.array([comm.rank]), root=2)
        return array, part, gathered, total

    for rank, (array, part, gathered, total) in enumerate(run(program, 3)):
        np.testing.assert_array_equal(array, np.full((2, 3), 2))
        np.testing.assert_array_equal(part, np.arange(12).reshape(6, 2)[2 * rank : 2 * rank + 2])
        if rank == 1:
            assert [part.shape for part in gathered] == [(0, 2), (1, 2), (2, 2)]
            np.testing.assert_array_equal(gathered[2], [[2, 2], [2, 2]])
        else:
            assert gathered is None
        assert total == 3 if rank == 2 else total is None


def test_scans_shifts_and_everybodys_arrays():
    def program(comm):
        own = np.array([comm.rank + 1])
        upto, before = comm.scan(own), comm.scan(own, exclusive=True)
        return upto.item(), before if before is None else before.item(), comm.shift([comm.rank], -1), comm.all_gather(np.float64(comm.rank))

    found = run(program, 4)
    assert [upto for upto, *_ in found] == [1, 3, 6, 10]
    assert [before for _, before, *_ in found] == [None, 1, 3, 6]
    assert [shifted for *_, shifted, _ in found] == [[1], [2], [3], [0]]
    for *_, gathered in found:
        assert gathered == [0.0, 1.0, 2.0, 3.0] and all(type(value) is np.float64 for value in gathered)


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
        "by 'sum' .*, rank 1 all_reduce by 'max'": lambda comm: comm.all_reduce(np.zeros(1), ["sum", "max"][comm.rank]),
        "disagree in their calls of gather": lambda comm: comm.gather(1, root=comm.rank),
        "disagree in their calls of scatter": lambda comm: comm.scatter([1] * comm.size, root=comm.rank),
        "the ranks disagree in their calls of": lambda comm: comm.scan(np.zeros(1)) if comm.rank else comm.gather([1]),
        "rank 0 calls broadcast with root 0, rank 1 broadcast with root 1": lambda comm: comm.broadcast(1, root=comm.rank),
        "10 rows cannot be divided into equal parts for 4 ranks. Pass 'counts'": lambda comm: comm.scatter(np.zeros(10) if comm.rank == 0 else None),
        "of float64 of shape .*, rank 1 all_reduce by 'sum' of Python objects": lambda comm: comm.all_reduce(1.5 if comm.rank else np.zeros(1)),
        "of complex128 of shape .* float64 of shape": lambda comm: comm.all_reduce(np.zeros(4) if comm.rank else np.zeros(2, dtype=complex)),
    }
    for words, program in programs.items():
        with pytest.raises(ValueError, match=words):
            run(program, 4 if "equal parts" in words else 2)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda comm: comm.all_reduce(np.zeros(2), out=np.zeros(3)), ValueError, r"'out' parameter is an array of float64 of shape \(3,\), but the message holds float64 of shape \(2,\)"),
        (lambda comm: comm.all_reduce(1.5, out=np.zeros(1)), ValueError, "the message holds a Python object"),
        (lambda comm: comm.all_reduce(np.zeros(2), out=[0, 0]), TypeError, "'out' parameter must be a NumPy array of numbers. Got list"),
        (lambda comm: comm.all_reduce(np.zeros((4, 2)), out=np.zeros((4, 4))[:, ::2]), ValueError, "'out' parameter must be a C-contiguous array"),
        (lambda comm: comm.all_reduce(np.zeros(1), out=np.broadcast_to(1.0, (1,))), ValueError, "read-only"),
        (lambda comm: comm.all_reduce(np.zeros(1), "mean"), ValueError, "'op' parameter must be one of 'sum', 'prod', .*, or a function of two values. Got 'mean'"),
        (lambda comm: comm.all_reduce(np.zeros(1), "and"), TypeError, "'and' needs whole numbers or bool"),
        (lambda comm: comm.broadcast(np.zeros(1), root=1), ValueError, "'root' parameter must be a rank from 0 to 0. Got 1"),
        (lambda comm: comm.send([1.0], to=-1), ValueError, "'to' parameter must be an int of 0 or more"),
        (lambda comm: comm.send([1.0], to=0, tag=2**32), ValueError, "'tag' parameter must be at most"),
        (lambda comm: comm.receive("0"), TypeError, "'source' parameter must be an int"),
        (lambda comm: comm.receive(1), ValueError, "'source' parameter must be a rank from 0 to 0. Got 1"),
        (lambda comm: comm.send_receive(1, 0, 0, receive_tag=-1), ValueError, "'receive_tag' parameter"),
        (lambda comm: comm.scatter([1, 2]), ValueError, "expected one value for each of 1 ranks, found 2 values"),
        (lambda comm: comm.scatter(None), TypeError, "a sequence with one value for each of 1 ranks, found NoneType"),
        (lambda comm: comm.scatter(np.zeros(3), counts=[2]), ValueError, "'counts' parameter must be 1 numbers with the sum 3, the number of rows"),
        (lambda comm: comm.scatter([1], counts=[1]), ValueError, "'counts' parameter is the numbers of rows of an array"),
        (lambda comm: comm.scatter(np.array(1.0)), ValueError, "without dimensions"),
        (lambda comm: comm.exchange([1, 2], lehr.ranks.Grid((2,))), ValueError, "'grid' parameter must be a grid of 1 ranks"),
        (lambda comm: comm.exchange([1], lehr.ranks.Grid((1,))), ValueError, "'values' parameter must be 2 values"),
        (lambda comm: comm.exchange([1, 2], (1,)), TypeError, "'grid' parameter must be a lehr.ranks.Grid. Got tuple"),
        (lambda comm: comm.all_reduce(1, [1]), ValueError, "'op' parameter must be one of"),
        (lambda comm: comm.window(np.zeros(1, dtype=int)).accumulate(0.5, 0), TypeError, "type float64, which an array of int64 cannot hold"),
        (lambda comm: comm.split(-1), ValueError, "'group' parameter"),
        (lambda comm: comm.window([1.0]), TypeError, "'array' parameter must be a NumPy array"),
        (lambda comm: comm.window(np.zeros(1)).get(1), ValueError, "'rank' parameter must be a rank from 0 to 0"),
        (lambda comm: comm.map_reduce([1], lambda item: [(object(), 1)], len), TypeError, "expected keys of text, bytes, numbers, None, .* found object"),
        (lambda comm: lehr.ranks.wait_any([]), ValueError, "at least one request"),
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


VALUES = [
    None,
    {"a": [1, 2.5], "b": ("text", b"bytes")},
    "x" * 10_000,
    np.array([True, False]),
    np.array([[1 + 2j, 3], [4, 5j]], dtype=np.complex64),
    np.arange(3, dtype=np.float16),
    np.arange(3, dtype=">i4"),
    np.array(2.5),
    np.empty((0, 3)),
    np.zeros((1,) * 9),
    np.array(["a", "bc"]),
    np.array([{"any": "object"}, None], dtype=object),
    np.array([(1, 2.5)], dtype=[("n", "i4"), ("x", "f8")]),
    np.array(["2020-01-01"], dtype="datetime64[D]"),
    np.ma.masked_array([1, 2], [True, False]),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(10)[::3],
    np.random.default_rng(0).normal(size=100_000),
]


def assert_same(found, value):
    assert type(found) is type(value)
    if isinstance(value, np.ndarray):
        assert (found.dtype, found.shape) == (value.dtype, value.shape)
        np.testing.assert_array_equal(found, value)
    else:
        assert found == value


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_every_call_takes_every_value(ranks):
    """Checks each call with values of every kind. Ranks pass different kinds where a call allows it."""

    def program(comm):
        rank, size = comm.rank, comm.size
        ahead, behind = (rank + 1) % size, (rank - 1) % size
        for at, value in enumerate(VALUES):
            other = VALUES[at - 1]
            comm.send(value, to=ahead, tag=at)
            assert_same(comm.receive(behind, tag=at), value)
            assert_same(comm.send_receive(value, ahead, behind), value)
            for root in range(size):
                assert_same(comm.broadcast(value if rank == root else None, root), value)
                mine = comm.scatter([value if to % 2 else other for to in range(size)] if rank == root else None, root)
                assert_same(mine, value if rank % 2 else other)
                gathered = comm.gather(value if rank % 2 else other, root)
                assert (gathered is None) == (rank != root)
                for source, found in enumerate(gathered or []):
                    assert_same(found, value if source % 2 else other)
            for source, found in enumerate(comm.all_gather(value if rank % 2 else other)):
                assert_same(found, value if source % 2 else other)
            for source, found in enumerate(comm.all_to_all([value if to == rank else other for to in range(size)])):
                assert_same(found, value if source == rank else other)
            assert_same(comm.shift(value if rank else other), value if behind else other)
            assert_same(comm.start_receive(comm.rank).wait() if comm.send(value, to=rank) is None else None, value)

    run(program, ranks)


def test_a_received_array_belongs_to_the_receiver():
    def program(comm):
        mine = np.arange(100.0)
        comm.send(mine, to=1 - comm.rank)
        mine[:] = -1
        got = comm.receive(1 - comm.rank)
        got += 1
        return got

    for got in run(program, 2):
        np.testing.assert_array_equal(got, np.arange(1.0, 101.0))


@pytest.mark.parametrize("length", [1, 1000, 5000, 200_000])
def test_messages_are_received_into_arrays(length):
    def program(comm):
        other, out = 1 - comm.rank, np.full(length, -1.0)
        results = []
        for call in (
            lambda: comm.receive(other, out=out),
            lambda: comm.receive_any(other, out=out)[0],
            lambda: comm.start_receive(other, out=out).wait(),
        ):
            comm.send(np.arange(length) + comm.rank / 2, to=other)
            assert call() is out
            results.append(out.copy())
        assert comm.send_receive(np.arange(length) + comm.rank / 2, other, other, out=out) is out
        results.append(out.copy())
        own = np.arange(length) + comm.rank / 2
        for receive in (lambda: comm.receive(other, out=out), lambda: comm.receive(other)):
            if comm.rank == 0:
                comm.send(own, to=other, synchronous=True)
            results.append(receive().copy())
            if comm.rank == 1:
                comm.start_send(own, to=other, synchronous=True).wait()
        return results

    for rank, results in enumerate(run(program, 2)):
        for found in results:
            np.testing.assert_array_equal(found, np.arange(length) + (1 - rank) / 2)


@pytest.mark.parametrize("sent", [np.zeros(4), np.zeros(2, dtype=np.int64), np.zeros((1, 2)), "text", np.zeros(10_000), "text" * 10_000])
def test_a_message_that_does_not_fit_is_refused(sent):
    def program(comm):
        for call in (lambda out: comm.receive(0, out=out), lambda out: comm.start_receive(out=out).wait()):
            out = np.full(2, 7.0)
            comm.send(sent, to=0)
            with pytest.raises(ValueError, match=r"'out' parameter is an array of float64 of shape \(2,\), but the message holds"):
                call(out)
            assert out.tolist() == [7.0, 7.0]

    run(program, 1)


def test_a_broadcast_into_arrays_and_without():
    def program(comm):
        big = np.arange(100_000.0)
        out = big if comm.rank == 0 else np.empty(100_000) if comm.rank == 1 else None
        got = comm.broadcast(big if comm.rank == 0 else None, out=out)
        assert out is None or got is out
        wrong = np.empty(3) if comm.rank == 1 else None
        try:
            comm.broadcast(big if comm.rank == 0 else None, out=wrong)
        except ValueError as error:
            assert comm.rank == 1 and "the message holds float64 of shape (100000,)" in str(error)
        else:
            assert comm.rank != 1
        comm.barrier()
        return got

    for got in run(program, 3):
        np.testing.assert_array_equal(got, np.arange(100_000.0))


def test_unequal_parts_of_an_array():
    def program(comm):
        counts = [0, 3, 1]
        rows = np.arange(8).reshape(4, 2)
        part = comm.scatter(rows if comm.rank == 1 else None, root=1, counts=counts if comm.rank == 1 else None)
        back = np.concatenate(comm.all_gather(part))
        parts = comm.all_to_all(rows + 10 * comm.rank, counts=counts)
        return part.tolist(), back, parts

    found = run(program, 3)
    assert [part for part, *_ in found] == [[], [[0, 1], [2, 3], [4, 5]], [[6, 7]]]
    for rank, (_, back, parts) in enumerate(found):
        np.testing.assert_array_equal(back, np.arange(8).reshape(4, 2))
        start, end = [(0, 0), (0, 3), (3, 4)][rank]
        for source, part in enumerate(parts):
            np.testing.assert_array_equal(part, np.arange(8).reshape(4, 2)[start:end] + 10 * source)


@pytest.mark.parametrize("dtype", ["bool", "float16", "complex64", "complex128", "longdouble", "int16", "float64"])
@pytest.mark.parametrize("op", ["sum", "prod", "min", "max", "and", "or", "xor"])
def test_reductions_are_what_numpy_does(dtype, op):
    ufunc = {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}[op]
    values = np.random.default_rng(1).integers(0, 3, size=(3, 6, 2)).astype(dtype)
    if np.dtype(dtype).kind == "c":
        values += 1j * np.random.default_rng(2).integers(0, 3, size=(3, 6, 2)).astype(dtype)
    try:
        expected = [ufunc.reduce(values[: rank + 1], axis=0) for rank in range(3)] if op not in ("sum", "prod") else [values[0], ufunc(values[0], values[1]), ufunc(ufunc(values[0], values[1]), values[2])]
    except TypeError:
        expected = None

    def program(comm):
        own = values[comm.rank].copy()
        results = comm.all_reduce(own, op), comm.scan(own, op), comm.scan(own, op, exclusive=True), comm.reduce(own, 1, op), comm.reduce_scatter(own, op)
        np.testing.assert_array_equal(own, values[comm.rank])
        out = np.empty_like(own)
        assert comm.all_reduce(own, op, out=out) is out
        np.testing.assert_array_equal(out, results[0])
        return results

    if expected is None:
        with pytest.raises(TypeError, match="needs whole numbers or bool"):
            run(program, 3)
        return
    for rank, (all_reduced, scanned, before, reduced, part) in enumerate(run(program, 3)):
        for found in (all_reduced, scanned, part):
            assert found.dtype == dtype
        np.testing.assert_array_equal(all_reduced, expected[2])
        np.testing.assert_array_equal(scanned, expected[rank])
        assert before is None if rank == 0 else np.array_equal(before, expected[rank - 1])
        assert np.array_equal(reduced, expected[2]) if rank == 1 else reduced is None
        np.testing.assert_array_equal(part, expected[2][2 * rank : 2 * rank + 2])


def test_reductions_of_objects_and_by_functions():
    def program(comm):
        rank = comm.rank
        return (
            comm.all_reduce(2**70 + rank),
            comm.all_reduce("abc"[rank]),
            comm.all_reduce((5 - rank, rank), "min"),
            comm.all_reduce({rank}, set.union),
            comm.scan([rank], op=lambda left, right: left + right),
            comm.all_reduce(np.array([rank, 10.0]), lambda left, right: left - right).tolist(),
            comm.all_reduce(np.float32(rank), "max"),
            comm.reduce_scatter([f"{rank}{to}" for to in range(3)]),
            comm.all_reduce(0 if rank else 0.5),
        )

    assert run(lambda comm: comm.all_reduce([1.0, float("nan")][comm.rank], "min"), 2)[0] != 1.0
    assert [run(lambda comm: comm.all_reduce(np.array(1j)).shape, ranks)[0] for ranks in (1, 2)] == [(), ()]
    assert run(lambda comm: comm.shift(comm.rank, 2**63 + 1), 2) == [1, 0]
    for rank, found in enumerate(run(program, 3)):
        assert found[:4] == (3 * 2**70 + 3, "abc", (3, 2), {0, 1, 2})
        assert found[4] == list(range(rank + 1))
        assert found[5:] == ([-3.0, -10.0], 2.0, f"0{rank}1{rank}2{rank}", 0.5)


def test_functions_that_differ_are_an_error_on_all():
    with pytest.raises(ValueError, match="rank 0 calls all_reduce by the function union of Python objects, rank 1 all_reduce by the function intersection"):
        run(lambda comm: comm.all_reduce({1}, [set.union, set.intersection][comm.rank]), 2)


def test_an_error_is_raised_though_another_thread_is_inside_a_call():
    def program(comm):
        if comm.rank == 0:
            waiting = threading.Thread(target=lambda: pytest.raises(RankError, comm.duplicate().receive, 0), daemon=True)
            waiting.start()
            time.sleep(0.1)
            raise KeyError("of rank 0")

    with pytest.raises(KeyError, match="of rank 0"):
        run(program, 1)


def test_a_shifted_array_keeps_no_more_memory_than_it_has():
    def program(comm):
        small = comm.shift(np.zeros(4_000_000 if comm.rank == 0 else 20_000))
        if comm.rank == 1:
            return None
        base = small
        while base.base is not None and isinstance(base.base, np.ndarray):
            base = base.base
        return small.nbytes, base.nbytes

    assert run(program, 3)[2] == (160_000, 160_000)


def test_what_is_kept_after_the_program_does_not_hold_other_ranks():
    """Checks that ranks learn of the end of a rank that has kept requests and communicators."""
    kept = []

    def program(comm):
        group = comm.duplicate()
        if comm.rank == 1:
            kept.extend([comm, group, comm.start_receive(0)])
            return
        with pytest.raises(RankError, match="rank 1 had ended"):
            comm.receive(1)

    run(program, 2)
    for call in (kept[0].barrier, kept[1].barrier, kept[2].wait, kept[2].wait):
        with pytest.raises(RankError, match="has returned"):
            call()


def test_grids():
    for shape in [(6,), (2, 3), (3, 2, 1)]:
        for periodic in (False, True):
            grid = lehr.ranks.Grid(shape, periodic)
            assert [grid.rank(grid.coordinates(rank)) for rank in range(6)] == list(range(6))
            for values, rank in zip(run(lambda comm, grid=grid: comm.exchange([(comm.rank, at) for at in range(2 * len(grid.shape))], grid), 6), range(6)):
                for at, (value, neighbour) in enumerate(zip(values, grid.neighbours(rank))):
                    # What came from below was sent upwards.
                    assert value == (None if neighbour is None else (neighbour, at ^ 1))
    assert lehr.ranks.Grid((2, 2), (True, False)).rank((3, 1)) == 3
    assert [lehr.ranks.Grid.balanced(size, 3).shape for size in (1, 8, 12, 30, 7)] == [(1, 1, 1), (2, 2, 2), (3, 2, 2), (5, 3, 2), (7, 1, 1)]
    for wrong, words in [
        (lambda: lehr.ranks.Grid(()), "'shape' parameter"),
        (lambda: lehr.ranks.Grid((2, 0)), "'shape' parameter"),
        (lambda: lehr.ranks.Grid((2,), (True, True)), "'periodic' parameter"),
        (lambda: lehr.ranks.Grid((2,)).coordinates(2), "a rank from 0 to 1"),
        (lambda: lehr.ranks.Grid((2,)).rank((2,)), "inside the grid"),
        (lambda: lehr.ranks.Grid((2,)).rank((0, 0)), "1 numbers"),
        (lambda: lehr.ranks.Grid((2,)).neighbour(0, 1, 1), "a dimension from 0 to 0"),
        (lambda: lehr.ranks.Grid.balanced(0, 1), "'size' parameter must be at least 1"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()


def test_groups():
    def program(comm):
        group = comm.split(comm.rank % 2 if comm.rank < 4 else None, key=-comm.rank)
        if comm.rank == 4:
            assert group is None
            return None
        inner = group.split(0)
        group.send("outer", to=0)
        inner.send("inner", to=0)
        heard = [(inner.receive_any()[0], group.receive_any()[0]) for _ in range(2)] if group.rank == 0 else []
        return group.rank, group.size, group.all_gather(comm.rank), group.all_reduce(1), heard

    messages = [("inner", "outer")] * 2
    assert run(program, 5) == [(1, 2, [2, 0], 2, []), (1, 2, [3, 1], 2, []), (0, 2, [2, 0], 2, messages), (0, 2, [3, 1], 2, messages), None]


def test_windows():
    def program(comm):
        mine = np.zeros((comm.rank + 1, 2))
        window = comm.window(mine)
        assert repr(window) == f"<Window: {comm.size} arrays>"
        ahead = (comm.rank + 1) % comm.size
        window.put([comm.rank, -comm.rank], ahead, index=0)
        window.fence()
        assert mine[0].tolist() == [(comm.rank - 1) % comm.size, -((comm.rank - 1) % comm.size)]
        assert window.get(ahead).shape == (ahead + 1, 2)
        window.fence()
        for _ in range(200):
            window.accumulate(1, 0, index=(0, 0))
        window.accumulate(comm.rank, 0, "max", index=(0, 1))
        window.accumulate(2, comm.rank, lambda old, new: old + 10 * new, index=(comm.rank, 1)) if comm.rank else None
        window.fence()
        return window.get(0, (0, slice(None))).tolist(), mine[-1].tolist()

    found = run(program, 3)
    assert {tuple(first) for first, _ in found} == {(602.0, 2.0)}
    assert [last for _, last in found][1:] == [[0.0, 20.0], [0.0, 20.0]]


def test_map_reduce_does_not_depend_on_the_number_of_ranks():
    keys = ["a", "é", b"a", 1, 1.5, 2**80, True, None, ("a", 1), ("a", ("b", None)), frozenset({"x", 2}), np.float64(2.5), -1]
    items = [(keys[at * at % len(keys)], at) for at in range(200)]
    expected = {}
    for key, value in items:
        expected.setdefault(key, []).append(value)

    for ranks in (1, 2, 3, 5):
        for everywhere in (False, True):

            def program(comm, everywhere=everywhere):
                mine = items[len(items) * comm.rank // comm.size : len(items) * (comm.rank + 1) // comm.size]
                in_lists = comm.map_reduce(mine, lambda item: [item], lambda key, values: values, everywhere=everywhere)
                sums = comm.map_reduce(mine, lambda item: [item, item], lambda key, values: sum(values), combine=lambda key, values: sum(values), everywhere=everywhere)
                return in_lists, sums

            found = run(program, ranks)
            if everywhere:
                for in_lists, sums in found:
                    assert in_lists == expected and sums == {key: 2 * sum(values) for key, values in expected.items()}
            else:
                assert sum(len(in_lists) for in_lists, _ in found) == len(expected)
                assert {key: value for in_lists, _ in found for key, value in in_lists.items()} == expected


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
            comm.all_reduce(arrays[comm.rank], out=arrays[comm.rank])
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
