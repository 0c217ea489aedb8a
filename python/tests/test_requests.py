"""Messages of ranks that are started and completed later: requests, synchronous and persistent messages, probes."""

import gc
import threading
import time

import numpy as np
import pytest

import lehr
from lehr.ranks import RankError, run


def test_requests_get_messages_in_the_order_in_which_they_were_started():
    def program(comm):
        if comm.rank == 0:
            comm.barrier()
            for number in range(4):
                comm.send(number, to=1, tag=number % 2)
            return None
        first, second, odd = comm.start_receive(0, 0), comm.start_receive(), comm.start_receive(tag=1)
        assert not first.done() and "pending" in repr(first) and first.source is None
        # A collective may run between the start of a receive and its end.
        comm.barrier()
        values = odd.wait(), second.wait(), first.wait()
        assert first.done() and "complete" in repr(first) and (second.source, second.tag) == (0, 1)
        return values, comm.receive_any()[0]

    # The messages 0 1 2 3 have the tags 0 1 0 1: `first` gets 0, `second` the next of all, 1, and `odd` the next of tag 1, 3.
    assert run(program, 2)[1] == ((3, 1, 0), 2)


def test_requests_are_waited_for_together():
    def program(comm):
        others = [other for other in range(comm.size) if other != comm.rank]
        requests = [comm.start_receive(other) for other in others]
        sent = [comm.start_send(100 * comm.rank + to, to) for to in others]
        assert lehr.ranks.wait_all(sent) == [None] * len(others) and all(request.done() for request in sent)
        left = dict(enumerate(requests))
        values = {}
        while left:
            numbers = list(left)
            index = numbers[lehr.ranks.wait_any([left[number] for number in numbers])]
            assert left[index].done()
            values[others[index]] = left.pop(index).wait()
        return values

    found = run(program, 4)
    for rank, values in enumerate(found):
        assert values == {other: 100 * other + rank for other in range(4) if other != rank}


def test_a_request_that_failed_says_so_again():
    def program(comm):
        comm.send("text", to=0)
        misfit = comm.start_receive(0, out=np.zeros(1))
        for _ in range(2):
            with pytest.raises(ValueError, match="the message holds a Python object"):
                misfit.wait()
        assert misfit.done()
        requests = [comm.start_send(at, 0) for at in range(3)]
        order = []
        for _ in requests:
            order.append(lehr.ranks.wait_any(requests))
            requests[order[-1]].wait()
        assert sorted(order) == [0, 1, 2]
        with pytest.raises(ValueError, match="at least one request that you have not waited for"):
            lehr.ranks.wait_any(requests)

    run(program, 1)


def test_a_receive_that_nobody_waits_for_fails_nobody():
    def program(comm):
        if comm.rank == 0:
            comm.start_receive(1, 99)
            assert comm.probe(1, 99, wait=False) is None
            return comm.receive(2)
        if comm.rank == 2:
            time.sleep(0.1)
            comm.send("x", to=0)
            return comm.receive_any()[0]
        if comm.rank == 3:
            time.sleep(0.3)
            comm.send("late", to=2)
        return None

    assert run(program, 4) == ["x", None, "late", None]


def test_a_request_that_is_dropped_takes_no_message():
    def program(comm):
        request = comm.start_receive()
        del request
        gc.collect()
        comm.send("here", to=comm.rank)
        return comm.receive(comm.rank)

    assert run(program, 1) == ["here"]


def test_a_request_for_a_rank_that_has_ended():
    def program(comm):
        if comm.rank == 1:
            return
        request = comm.start_receive(1)
        with pytest.raises(RankError, match="rank 1 had ended"):
            request.wait()

    run(program, 2)


def test_a_synchronous_send_waits_for_its_receiver():
    arrived = threading.Event()

    def program(comm):
        if comm.rank == 0:
            comm.send("taken", to=1, synchronous=True)
            return arrived.is_set()
        time.sleep(0.05)
        arrived.set()
        return comm.receive(0)

    assert run(program, 2) == [True, "taken"]


def test_synchronous_sends_in_a_ring_end_if_receives_were_started():
    def program(comm):
        ahead, behind = (comm.rank + 1) % comm.size, (comm.rank - 1) % comm.size
        receive = comm.start_receive(behind)
        comm.send(comm.rank, ahead, synchronous=True)
        again = comm.start_receive(behind, tag=1)
        send = comm.start_send(comm.rank, ahead, tag=1, synchronous=True)
        assert send.wait() is None and send.done()
        # A barrier lets a synchronous send end too.
        late = comm.start_receive(behind if comm.rank == 1 % comm.size else comm.rank, tag=2)
        if comm.rank == 0:
            comm.send("late", ahead, tag=2, synchronous=True)
        comm.barrier()
        return receive.wait(), again.wait(), late.done()

    for ranks in (1, 2, 3):
        found = run(program, ranks)
        assert found == [((rank - 1) % ranks, (rank - 1) % ranks, rank == 1 % ranks) for rank in range(ranks)]


def test_a_started_synchronous_send_is_complete_when_it_is_received():
    def program(comm):
        send = comm.start_send("x", 0, synchronous=True)
        before = send.done()
        comm.receive(0)
        return before, send.done(), send.wait()

    assert run(program, 1) == [(False, True, None)]


def test_persistent_messages_keep_their_arrays():
    def program(comm):
        mine, theirs = np.zeros(3), np.zeros(3)
        send, receive = comm.persistent_send(mine, to=1 - comm.rank, tag=4), comm.persistent_receive(theirs, 1 - comm.rank, 4)
        seen = []
        for stage in range(3):
            request = receive.start()
            mine[:] = 10 * comm.rank + stage
            assert send.start().done() and request.wait() is theirs
            seen.append(theirs[0].item())
        return seen

    assert run(program, 2) == [[10.0, 11.0, 12.0], [0.0, 1.0, 2.0]]


def test_probes():
    def program(comm):
        assert comm.probe(wait=False) is None
        comm.send(np.zeros(1000), to=0, tag=5)
        assert comm.probe(tag=6, wait=False) is None
        status = comm.probe(wait=False)
        assert status == comm.probe(0, 5) and (status.source, status.tag) == (0, 5) and 8000 < status.bytes < 8100
        comm.receive(0, 5)
        assert comm.probe(wait=False) is None

    run(program, 1)
