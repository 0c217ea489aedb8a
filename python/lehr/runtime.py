"""Coordination in asyncio: ports that you can await, also several at once, and a state with handlers.

A :class:`Port` is a queue that any thread may post to. To await items, use :meth:`Port.receive` for one and :meth:`Port.take` for several. :func:`join` waits
for an item from each of several ports, :func:`choice` for the first item from any of them. An :class:`Interleave` combines a state with handlers, and decides
which handlers may run together.

A waiting coroutine holds no items: if it is cancelled, all items stay in their ports, in the same order. Handlers run as coroutines in the event loop in which
the interleave was created.
"""

from __future__ import annotations

import asyncio
import os
import sys
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable
from types import TracebackType
from typing import Any, Generic, Literal, TypeVar

from lehr import _checks, _native
from lehr._names import listed
from lehr._native import Closed, Full

__all__ = ["Closed", "Dispatcher", "Full", "Interleave", "Port", "Waiting", "choice", "join"]
__dir__ = listed(__all__)

T = TypeVar("T")
S = TypeVar("S")

_OVERFLOWS = ("wait", "reject", "drop_oldest", "drop_newest")


def _release(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)


class Waiting(Generic[T]):
    """An awaitable that ports, :func:`join`, :func:`choice` and interleaves return. You can await it once.

    The wait starts at ``await``. A coroutine that is cancelled while it waits takes no item.

    Examples
    --------
    >>> import asyncio, lehr
    >>> async def main():
    ...     port = lehr.runtime.Port()
    ...     waiting = port.receive()
    ...     port.post("an item")
    ...     return await waiting
    >>> asyncio.run(main())
    'an item'
    """

    def __init__(self, native: _native.Wait) -> None:
        self._native = native

    def __await__(self) -> Generator[Any, None, T]:
        return self._until().__await__()

    async def _until(self) -> T:
        loop = asyncio.get_running_loop()
        try:
            while True:
                woken: asyncio.Future[None] = loop.create_future()

                # The thread that posts calls this function. If the loop is closed, the function raises an error, which is ignored.
                def wake(woken: asyncio.Future[None] = woken) -> None:
                    loop.call_soon_threadsafe(_release, woken)

                there = self._native.poll(wake)
                if there is not None:
                    return there[0]
                await woken
        finally:
            self._native.cancel()


class Port(Generic[T]):
    """A queue that any thread may post to, and whose items you await.

    Parameters
    ----------
    name : str, default=None
        The name in error messages. ``None`` means the file and line where the port is created.
    capacity : int, default=None
        The maximum number of items that the port holds. ``None`` means no limit.
    overflow : {'wait', 'reject', 'drop_oldest', 'drop_newest'}, default='wait'
        The policy for an item that is posted to a full port. With ``'wait'`` and ``'reject'``, ``post`` raises :class:`Full`. With ``'wait'``, you can also
        wait for space with ``post_wait``. With ``'drop_oldest'``, the oldest item in the port is discarded; with ``'drop_newest'``, the new item.

    Attributes
    ----------
    name : str
        The name of the port in error messages.
    waiting : int
        The number of coroutines that wait at the port.
    is_closed : bool
        Whether :meth:`close` was called.

    Examples
    --------
    >>> import asyncio, lehr
    >>> async def main():
    ...     port = lehr.runtime.Port("orders")
    ...     port.post("a loom")
    ...     port.close()
    ...     return [item async for item in port], len(port)
    >>> asyncio.run(main())
    (['a loom'], 0)
    """

    def __init__(self, name: str | None = None, *, capacity: int | None = None, overflow: Literal["wait", "reject", "drop_oldest", "drop_newest"] = "wait") -> None:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"The 'name' parameter must be a str or None. Got {name!r} instead.")
        if name is None:
            made = sys._getframe(1)
            name = f"made at {os.path.basename(made.f_code.co_filename)}:{made.f_lineno}"
        places = _checks.integer("capacity", capacity, optional=True)
        self.name = name
        self._native = _native.Port(name, places, _checks.choice("overflow", overflow, _OVERFLOWS))

    @property
    def waiting(self) -> int:
        return self._native.waiting

    @property
    def is_closed(self) -> bool:
        return self._native.is_closed

    def __len__(self) -> int:
        return len(self._native)

    def __bool__(self) -> bool:
        # A port is true even if it is empty.
        return True

    def __repr__(self) -> str:
        return f"Port({self.name!r}, items={len(self)}, waiting={self.waiting})"

    async def __aiter__(self) -> AsyncIterator[T]:
        while True:
            try:
                item = await self.receive()
            except Closed:
                return
            yield item

    def post(self, item: T) -> None:
        """Append an item without waiting and without running a handler. Any thread may call this method.

        Parameters
        ----------
        item : object
            Any object.

        Returns
        -------
        None

        Raises
        ------
        Closed
            If the port is closed.
        Full
            If the port is full, and ``overflow`` is ``'wait'`` or ``'reject'``.

        Examples
        --------
        >>> import lehr
        >>> port = lehr.runtime.Port(capacity=1)
        >>> port.post(1)
        >>> len(port)
        1
        """
        self._native.post(item)

    def post_wait(self, item: T) -> Waiting[None]:
        """Append an item as soon as there is space for it. If the wait is cancelled, the item is not posted.

        Parameters
        ----------
        item : object
            Any object.

        Returns
        -------
        waiting : Waiting
            An awaitable.

        Examples
        --------
        >>> import asyncio, lehr
        >>> async def main():
        ...     port = lehr.runtime.Port(capacity=1)
        ...     port.post(1)
        ...     later = asyncio.ensure_future(port.post_wait(2))
        ...     return [await port.receive(), await port.receive()]
        >>> asyncio.run(main())
        [1, 2]
        """
        return Waiting(self._native.post_wait(item))

    def receive(self) -> Waiting[T]:
        """Wait for the next item.

        Returns
        -------
        waiting : Waiting
            An awaitable of the item, which raises :class:`Closed` if the port is closed and empty.

        Examples
        --------
        See :class:`Port`.
        """
        return Waiting(self._native.receive())

    def take(self, count: int) -> Waiting[list[T]]:
        """Wait until the port has several items, and take them all at once.

        Parameters
        ----------
        count : int
            The number of items.

        Returns
        -------
        waiting : Waiting
            An awaitable of the list of items.

        Examples
        --------
        >>> import asyncio, lehr
        >>> async def main():
        ...     port = lehr.runtime.Port()
        ...     for number in range(3):
        ...         port.post(number)
        ...     return await port.take(2), len(port)
        >>> asyncio.run(main())
        ([0, 1], 1)
        """
        items = _checks.integer("count", count)
        assert items is not None
        return Waiting(self._native.take(items))

    def try_receive(self, default: Any = None) -> Any:
        """Take the next item if there is one, without waiting.

        Parameters
        ----------
        default : object, default=None
            The value to return if there is no item.

        Returns
        -------
        item : object

        Examples
        --------
        >>> import lehr
        >>> lehr.runtime.Port().try_receive("nothing")
        'nothing'
        """
        there = self._native.try_receive()
        return default if there is None else there[0]

    def drain(self) -> list[T]:
        """Take all items that are in the port, without waiting.

        Returns
        -------
        items : list

        Examples
        --------
        >>> import lehr
        >>> port = lehr.runtime.Port()
        >>> port.post(1)
        >>> port.drain(), len(port)
        ([1], 0)
        """
        return self._native.drain()

    def close(self) -> None:
        """Close the port for new items. Items in the port can still be received.

        Returns
        -------
        None

        Examples
        --------
        See :class:`Port`.
        """
        self._native.close()


def join(*ports: Port[Any]) -> Waiting[list[Any]]:
    """Wait for one item of each port, and take all of them at once. While a join waits, other receivers can still take the items.

    Parameters
    ----------
    *ports : Port
        The ports, without duplicates.

    Returns
    -------
    waiting : Waiting
        An awaitable of a list of items, in the order of the ports.

    Examples
    --------
    >>> import asyncio, lehr
    >>> async def main():
    ...     orders, stock = lehr.runtime.Port(), lehr.runtime.Port()
    ...     orders.post("Ada")
    ...     stock.post("a loom")
    ...     return await lehr.runtime.join(orders, stock)
    >>> asyncio.run(main())
    ['Ada', 'a loom']
    """
    return Waiting(_native.join_ports([port._native for port in ports]))


def choice(*waits: Waiting[Any]) -> Waiting[tuple[int, Any]]:
    """Wait for the first of several awaitables. If several awaitables are ready, the first one in the list wins. The other awaitables leave their items in the
    ports.

    Parameters
    ----------
    *waits : Waiting
        Awaitables of receives, takes, joins or choices, none of which has been awaited yet.

    Returns
    -------
    waiting : Waiting
        An awaitable of the position of the awaitable that was ready first, from 0, and its result.

    Examples
    --------
    >>> import asyncio, lehr
    >>> async def main():
    ...     bell, orders = lehr.runtime.Port(), lehr.runtime.Port()
    ...     orders.post("Ada")
    ...     return await lehr.runtime.choice(bell.receive(), orders.receive())
    >>> asyncio.run(main())
    (1, 'Ada')
    """
    if not waits:
        raise ValueError("A choice is between one wait or more. Got none.")
    return Waiting(_native.choose([wait._native for wait in waits]))


class Dispatcher:
    """Worker threads that schedule handlers. Use it in a ``with`` statement, or call :meth:`close` when you no longer need it: until then its threads keep running.

    Parameters
    ----------
    threads : int, default=1
        The number of threads. Handlers run on the event loop, so one thread is nearly always enough.

    Examples
    --------
    >>> import lehr
    >>> with lehr.runtime.Dispatcher() as dispatcher:
    ...     dispatcher.threads
    1
    """

    def __init__(self, threads: int = 1) -> None:
        count = _checks.integer("threads", threads)
        if not count:
            raise _checks.wrong("threads", "at least 1", threads)
        self.threads = count
        self._native = _native.Dispatcher(count)
        # The finalizer also runs when the interpreter exits, because worker threads must not outlive the interpreter.
        self._finalizer = weakref.finalize(self, self._native.close)

    def close(self) -> None:
        """Stop the worker threads and all interleaves of the dispatcher. Pending items stay in their ports.

        Returns
        -------
        None

        Examples
        --------
        >>> import lehr
        >>> lehr.runtime.Dispatcher().close()
        """
        self._finalizer()

    def __enter__(self) -> Dispatcher:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


Handler = Callable[[S, Any], Awaitable[object]]
#: The source of items for a branch of an interleave: one port, or a tuple of ports that are joined.
Source = Port[Any] | tuple[Port[Any], ...]


class Interleave(Generic[S]):
    """A state with handlers: readers run together, and a writer runs without readers, in order of arrival across all ports.

    Create it in a running event loop. Handlers are coroutines ``handler(state, item)`` that run in this loop. As long as a handler may not start, its item
    stays in the port. If a handler raises an exception, the loop's exception handler reports it, and the interleave continues.

    Parameters
    ----------
    dispatcher : Dispatcher
        The dispatcher that schedules the handlers.
    state : object
        The object that every handler receives. Handlers change it in place.
    exclusive, concurrent, independent : iterable of (Port, handler), default=()
        While an exclusive handler runs or is suspended, no other handler runs except independent handlers. Concurrent handlers run together, but not with
        exclusive handlers. Independent handlers run at any time. If you give a tuple of ports instead of one port, the branch joins the ports. The handler of
        this branch receives a list with one item of each port; all these items are taken when the handler may start. Handlers of a branch that joins ports do
        not overlap.
    teardown : iterable of (Port, handler), default=()
        Handlers that end the interleave. When an item for such a handler arrives, no other handler starts any more, and the ports are closed. After the running
        handlers have ended, the teardown handler runs alone.
    name : str, default=None
        The name in error messages.

    Examples
    --------
    >>> import asyncio, lehr
    >>> async def main():
    ...     add, read = lehr.runtime.Port("add"), lehr.runtime.Port("read")
    ...     async def added(total, number):
    ...         total.append(number)
    ...     async def told(total, reply):
    ...         reply.set_result(sum(total))
    ...     with lehr.runtime.Dispatcher() as dispatcher:
    ...         sums = lehr.runtime.Interleave(dispatcher, [], exclusive=[(add, added)], concurrent=[(read, told)])
    ...         add.post(1)
    ...         add.post(2)
    ...         reply = asyncio.get_running_loop().create_future()
    ...         read.post(reply)
    ...         return await reply, await sums.stop()
    >>> asyncio.run(main())
    (3, [1, 2])
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        state: S,
        *,
        exclusive: Iterable[tuple[Source, Handler[S]]] = (),
        concurrent: Iterable[tuple[Source, Handler[S]]] = (),
        independent: Iterable[tuple[Source, Handler[S]]] = (),
        teardown: Iterable[tuple[Port[Any], Handler[S]]] = (),
        name: str | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        running: set[asyncio.Task[object]] = set()

        def end(task: asyncio.Task[object], ended: _native.Ended) -> None:
            running.discard(task)
            ended.tell()
            if not task.cancelled() and task.exception() is not None:
                loop.call_exception_handler(
                    {"message": f"a handler of {name or 'an interleave'} raised", "exception": task.exception(), "task": task}
                )

        async def call(handler: Handler[S], state: S, item: Any) -> object:
            return await handler(state, item)

        def begin(handler: Handler[S], state: S, item: Any, ended: _native.Ended) -> None:
            task = loop.create_task(call(handler, state, item))
            # The loop keeps only weak references to tasks, so this set keeps the tasks alive.
            running.add(task)
            task.add_done_callback(lambda task: end(task, ended))

        def start(handler: Handler[S], state: S, item: Any, ended: _native.Ended) -> None:
            loop.call_soon_threadsafe(begin, handler, state, item, ended)

        groups = {"exclusive": exclusive, "concurrent": concurrent, "independent": independent, "teardown": teardown}
        branches = []
        for group, handlers in groups.items():
            for source, handler in handlers:
                if not callable(handler):
                    raise TypeError(f"The handlers of '{group}' must be callable. Got {handler!r} instead.")
                is_join = isinstance(source, tuple)
                ports = source if isinstance(source, tuple) else (source,)
                if not ports or not all(isinstance(port, Port) for port in ports) or (is_join and group == "teardown"):
                    expected = "ports" if group == "teardown" else "ports or tuples of ports"
                    raise TypeError(f"The branches of '{group}' must be for {expected}. Got {source!r} instead.")
                branches.append((group, [port._native for port in ports], is_join, handler))
        self._native = _native.Interleave(dispatcher._native, name, state, branches, start)

    def ended(self) -> Waiting[None]:
        """Wait until a teardown has ended the interleave.

        Returns
        -------
        waiting : Waiting
            An awaitable, which raises :class:`Closed` if the interleave was stopped, or its dispatcher closed, before a teardown.

        Examples
        --------
        >>> import asyncio, lehr
        >>> async def main():
        ...     stop, total = lehr.runtime.Port("stop"), []
        ...     async def last(state, item):
        ...         state.append(item)
        ...     with lehr.runtime.Dispatcher() as dispatcher:
        ...         interleave = lehr.runtime.Interleave(dispatcher, total, teardown=[(stop, last)])
        ...         stop.post("the end")
        ...         await interleave.ended()
        ...     return total, stop.is_closed
        >>> asyncio.run(main())
        (['the end'], True)
        """
        return Waiting(self._native.ended())

    def stop(self) -> Waiting[S]:
        """Stop the interleave without a teardown, and without closing ports. Running handlers finish, and pending items stay in their ports.

        Returns
        -------
        waiting : Waiting
            An awaitable of the state.

        Examples
        --------
        See :class:`Interleave`.
        """
        return Waiting(self._native.stop())
