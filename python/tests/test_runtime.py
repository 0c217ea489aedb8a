"""Ports and interleaves in asyncio: which items arrive where. No item is lost when a waiting coroutine is cancelled."""

import asyncio
import gc
import os
import threading
import weakref

import pytest

import lehr
from lehr.runtime import Closed, Dispatcher, Full, Interleave, Port, choice, join


async def _turns(count=5):
    """Lets all other tasks run."""
    for _ in range(count):
        await asyncio.sleep(0)


def test_items_come_in_order_also_from_other_threads():
    async def main():
        port = Port("numbers")
        threading.Thread(target=lambda: [port.post(number) for number in range(1000)]).start()
        received = [await port.receive() for _ in range(1000)]
        assert received == list(range(1000)) and len(port) == 0
        assert (port.name, port.waiting, bool(port)) == ("numbers", 0, True)
        assert repr(port) == "Port('numbers', items=0, waiting=0)"

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_receive_that_is_cancelled_leaves_the_item_and_its_place():
    async def main():
        port = Port()
        first, second = (asyncio.ensure_future(port.receive()) for _ in range(2))
        await _turns()
        assert port.waiting == 2
        first.cancel()
        await _turns()
        assert port.waiting == 1
        port.post("one")
        assert await second == "one"
        # The wait is cancelled in the same turn in which an item arrives, so the item stays.
        late = asyncio.ensure_future(port.receive())
        await _turns()
        port.post("two")
        late.cancel()
        with pytest.raises(asyncio.CancelledError):
            await late
        assert (len(port), port.waiting, port.try_receive()) == (1, 0, "two")

    asyncio.run(main())


def test_no_item_is_lost_or_taken_twice_under_cancellation():
    async def main():
        port, taken = Port(), []

        async def receive():
            taken.append(await port.receive())

        poster = threading.Thread(target=lambda: [port.post(number) for number in range(2000)])
        poster.start()
        while len(taken) + len(port) < 2000 or poster.is_alive():
            tasks = [asyncio.create_task(receive()) for _ in range(20)]
            await _turns(2)
            for task in tasks[::2]:
                task.cancel()
            for task in tasks[1::2]:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        poster.join()
        assert port.waiting == 0
        left = port.drain()
        assert sorted(taken + left) == list(range(2000))
        # A receive that begins while earlier coroutines are about to take their items takes the next one. If those are then cancelled, their items go back to
        # the front and are taken later. So the order of what was taken can differ from the order of posting, but not the order of what is left.
        assert left == sorted(left)

    asyncio.run(asyncio.wait_for(main(), 120))


def test_a_time_limit_gives_the_item_back():
    async def main():
        port = Port()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(port.receive(), 0.01)
        port.post(1)
        assert await port.receive() == 1

    asyncio.run(main())


def test_a_join_takes_all_or_nothing():
    async def main():
        left, right = Port("left"), Port("right")
        both = asyncio.ensure_future(join(left, right))
        left.post(1)
        await _turns()
        # The join does not take this item before the other has arrived, so a single receiver can take it.
        assert await left.receive() == 1
        right.post("b")
        left.post(2)
        assert await both == [2, "b"]
        both = asyncio.ensure_future(join(left, right))
        await _turns()
        left.post(3)
        both.cancel()
        await _turns()
        assert len(left) == 1
        with pytest.raises(ValueError, match="port \"left\" is named twice in one join"):
            await join(left, left)

    asyncio.run(main())


def test_a_choice_takes_what_comes_first_and_leaves_the_rest():
    async def main():
        first, second, third = Port(), Port(), Port()
        chosen = asyncio.ensure_future(choice(first.receive(), join(second, third), third.receive()))
        await _turns()
        third.post("c")
        assert await chosen == (2, "c")
        assert [port.waiting for port in (first, second, third)] == [0, 0, 0]
        # If several are ready, the first in the list wins.
        first.post("a")
        third.post("c")
        assert await choice(third.receive(), first.receive()) == (0, "c")
        assert len(first) == 1
        waiting = first.receive()
        assert await waiting == "a"
        with pytest.raises(RuntimeError, match="cannot be awaited again"):
            await waiting
        with pytest.raises(RuntimeError, match="has been awaited or chosen already"):
            choice(waiting)
        with pytest.raises(ValueError, match="one wait or more"):
            choice()

    asyncio.run(main())


def test_takes_come_together():
    async def main():
        port = Port()
        three = asyncio.ensure_future(port.take(3))
        port.post(1)
        port.post(2)
        await _turns()
        assert not three.done() and len(port) == 2
        port.post(3)
        assert await three == [1, 2, 3]

    asyncio.run(main())


def test_a_closed_port_gives_what_it_holds():
    async def main():
        port = Port("desk")
        waiting = asyncio.ensure_future(port.take(2))
        port.post(1)
        await _turns()
        port.close()
        with pytest.raises(Closed, match="port \"desk\" is closed"):
            await waiting
        assert [item async for item in port] == [1]
        with pytest.raises(Closed):
            await port.receive()
        with pytest.raises(Closed, match="item not posted: the port is closed"):
            port.post(2)
        assert port.is_closed

    asyncio.run(main())


def test_a_full_port_waits_refuses_or_forgets():
    async def main():
        port = Port(capacity=1)
        port.post(1)
        with pytest.raises(Full):
            port.post(2)
        given_up, waiting = (asyncio.ensure_future(port.post_wait(item)) for item in ("no", 3))
        await _turns()
        given_up.cancel()
        await _turns()
        assert not waiting.done()
        assert await port.receive() == 1
        await waiting
        assert port.drain() == [3]
        assert Port().name.startswith("made at test_runtime.py:")
        last = Port(capacity=2, overflow="drop_oldest")
        for number in range(5):
            last.post(number)
        assert last.drain() == [3, 4]

    asyncio.run(main())


def test_parameters_that_cannot_be():
    with pytest.raises(ValueError, match="'capacity' parameter must be at least 1"):
        Port(capacity=0)
    with pytest.raises(ValueError, match="'overflow' parameter must be one of 'wait', 'reject'"):
        Port(overflow="grow")
    with pytest.raises(TypeError, match="'name' parameter must be a str"):
        Port(name=3)
    with pytest.raises(ValueError, match="'threads' parameter must be at least 1"):
        Dispatcher(0)


def test_writers_run_alone_and_readers_together():
    async def main():
        write, read, seen = Port("write"), Port("read"), []
        inside = {"writers": 0, "readers": 0}
        gate = asyncio.Event()

        async def written(state, item):
            assert inside == {"writers": 0, "readers": 0}
            inside["writers"] += 1
            await _turns()
            state.append(item)
            inside["writers"] -= 1

        async def looked_at(state, reply):
            assert inside["writers"] == 0
            inside["readers"] += 1
            if inside["readers"] == 2:
                gate.set()
            # The wait ends only if both readers run at the same time.
            await gate.wait()
            inside["readers"] -= 1
            reply.set_result(list(state))

        with Dispatcher() as dispatcher:
            interleave = Interleave(dispatcher, [], exclusive=[(write, written)], concurrent=[(read, looked_at)])
            replies = [asyncio.get_running_loop().create_future() for _ in range(2)]
            write.post(1)
            write.post(2)
            for reply in replies:
                read.post(reply)
            write.post(3)
            seen = [await reply for reply in replies]
            state = await interleave.stop()
        assert seen == [[1, 2], [1, 2]] and state[:2] == [1, 2]
        assert (state + write.drain()) == [1, 2, 3]
        with pytest.raises(Closed, match="has been stopped"):
            interleave.stop()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_teardown_ends_it_after_what_runs():
    async def main():
        work, stop, told = Port("work"), Port("stop"), []
        begun, go_on = asyncio.Event(), asyncio.Event()

        async def worked(state, item):
            begun.set()
            await go_on.wait()
            told.append(item)

        async def last(state, item):
            told.append((state, item))

        with Dispatcher() as dispatcher:
            interleave = Interleave(dispatcher, "state", exclusive=[(work, worked)], teardown=[(stop, last)], name="shop")
            work.post(1)
            await begun.wait()
            stop.post("now")
            with pytest.raises(Closed):
                work.post(2)
            go_on.set()
            await interleave.ended()
        assert told == [1, ("state", "now")]

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_branch_that_joins_takes_of_all_its_ports_or_of_none():
    async def main():
        orders, stock, bell, packed, told = Port("orders"), Port("stock"), Port("bell"), Port(), Port()

        async def pack(state, pair):
            state.append(tuple(pair))
            packed.post(len(state))

        async def tell(state, number):
            told.post(state[number])

        with Dispatcher() as dispatcher:
            shop = Interleave(dispatcher, [], exclusive=[((orders, stock), pack)], concurrent=[(bell, tell)])
            orders.post("Ada")
            orders.post("Grace")
            stock.post("a loom")
            assert await packed.receive() == 1
            # A join takes nothing until all its items have arrived, so a single receiver can take this one.
            assert (len(orders), len(stock), await orders.receive()) == (1, 0, "Grace")
            stock.post("a wheel")
            bell.post(0)
            assert await told.receive() == ("Ada", "a loom") and len(stock) == 1
            orders.post("Mary")
            assert await packed.receive() == 2
            assert await shop.stop() == [("Ada", "a loom"), ("Mary", "a wheel")]

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.parametrize("group", ["exclusive", "concurrent", "independent"])
def test_joins_of_every_group_come_in_the_order_of_their_ports(group):
    async def main():
        left, right, seen = Port("left"), Port("right"), []
        done = asyncio.get_running_loop().create_future()

        async def both(state, pair):
            await _turns()
            seen.append(pair)
            if len(seen) == 100:
                done.set_result(None)

        def post(port):
            for number in range(100):
                port.post((port.name, number))

        with Dispatcher() as dispatcher:
            interleave = Interleave(dispatcher, None, **{group: [((left, right), both)]})
            posters = [threading.Thread(target=post, args=(port,)) for port in (left, right)]
            for poster in posters:
                poster.start()
            await done
            for poster in posters:
                poster.join()
            await interleave.stop()
        assert seen == [[("left", number), ("right", number)] for number in range(100)]

    asyncio.run(asyncio.wait_for(main(), 60))


def test_branches_that_cannot_be():
    async def handler(state, item):
        raise AssertionError("nothing was posted")

    async def main():
        port, other = Port("desk"), Port()
        with Dispatcher() as dispatcher:
            with pytest.raises(ValueError, match='port "desk" is named twice in one join'):
                Interleave(dispatcher, None, exclusive=[((port, port), handler)])
            for source in ((), "desk", (port, "desk"), [port, other]):
                with pytest.raises(TypeError, match="branches of 'concurrent' must be for ports or tuples of ports"):
                    Interleave(dispatcher, None, concurrent=[(source, handler)])
            with pytest.raises(TypeError, match="branches of 'teardown' must be for ports. Got"):
                Interleave(dispatcher, None, teardown=[((port, other), handler)])
            with pytest.raises(TypeError, match="handlers of 'exclusive' must be callable. Got 'loom'"):
                Interleave(dispatcher, None, exclusive=[(port, "loom")])
            assert (port.waiting, other.waiting) == (0, 0)

    asyncio.run(main())


def test_what_a_handler_raises_is_told_and_the_interleave_goes_on():
    async def main():
        heard = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context))
        port, done = Port(), Port()

        async def handler(state, item):
            if item == 0:
                raise ZeroDivisionError("of a handler")
            done.post(item)

        with Dispatcher() as dispatcher:
            interleave = Interleave(dispatcher, None, exclusive=[(port, handler)], name="fragile")
            port.post(0)
            port.post(1)
            assert await done.receive() == 1
            await interleave.stop()
        assert [str(context["exception"]) for context in heard] == ["of a handler"]
        assert "fragile" in heard[0]["message"]
        with pytest.raises(RuntimeError, match="dispatcher is closed"):
            Interleave(dispatcher, None)

    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fork is POSIX's")
@pytest.mark.thread_unsafe(reason="a fork has none of the other threads, whatever they hold")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_no_workers_and_says_so():
    async def main(dispatcher):
        with pytest.raises(RuntimeError, match="spawn"):
            Interleave(dispatcher, None)

    with Dispatcher() as dispatcher:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                asyncio.run(main(dispatcher))
                # There is nothing to wait for.
                dispatcher.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_nothing_is_kept():
    class Thing:
        pass

    async def main():
        port, things = Port(), [Thing() for _ in range(10)]
        gone = [weakref.ref(thing) for thing in things]
        for thing in things:
            port.post(thing)
        taken = await port.take(5)
        waiting = asyncio.ensure_future(port.take(6))
        await _turns()
        waiting.cancel()
        await _turns()
        del thing, things, taken
        gc.collect()
        assert [reference() is None for reference in gone] == [True] * 5 + [False] * 5
        return gone

    gone = asyncio.run(main())
    gc.collect()
    assert all(reference() is None for reference in gone)


def test_a_loop_that_is_closed_hears_nothing():
    port = Port()

    async def main():
        # The task still waits when the loop ends.
        task = asyncio.ensure_future(port.receive())
        await _turns()
        assert port.waiting == 1
        return task

    asyncio.run(main())
    port.post(1)
    assert (port.waiting, port.try_receive()) == (0, 1)
