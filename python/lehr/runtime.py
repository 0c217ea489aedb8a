"""Messages in asyncio: ports to await, several at once, and a state with handlers around it.

A :class:`Port` is a queue that any thread may post to. You await items: :meth:`Port.receive` for one item, :meth:`Port.take` for several. :func:`join` waits
for one of each of several ports, :func:`choice` for the one that comes first. An :class:`Interleave` puts handlers around one state and says who may run beside
whom.

A waiting coroutine holds nothing: if it is cancelled, every item stays in its port, in its order. Handlers are coroutines of the event loop in which the
interleave was started.
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
    """An awaitable, once: made by ports, :func:`join`, :func:`choice` and interleaves.

    It starts to wait at its first ``await``. A coroutine that is cancelled there takes nothing.

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

                # On whichever thread posts; a loop that is closed raises, and nobody hears.
                def wake(woken: asyncio.Future[None] = woken) -> None:
                    loop.call_soon_threadsafe(_release, woken)

                there = self._native.poll(wake)
                if there is not None:
                    return there[0]
                await woken
        finally:
            self._native.cancel()


class Port(Generic[T]):
    """A queue that any thread may post to, and that you await.

    Parameters
    ----------
    name : str, default=None
        The name in errors. ``None``: the file and line where it is made.
    capacity : int, default=None
        The largest number of items. ``None``: any number.
    overflow : {'wait', 'reject', 'drop_oldest', 'drop_newest'}, default='wait'
        The policy of a full port for one more item. ``post`` raises :class:`Full`, and with ``'wait'`` you can wait for a place with ``post_wait``. Otherwise
        an item is given up.

    Attributes
    ----------
    name : str
        Its name.
    waiting : int
        The number of coroutines that wait at it.
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
        # A port without items is a port.
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
        """Append an item. It never waits and runs no handler; you can call it from any thread.

        Parameters
        ----------
        item : object
            Anything.

        Returns
        -------
        None

        Raises
        ------
        Closed
            If the port is closed.
        Full
            If the port is full.

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
        """Append an item when there is a place for it. If it is cancelled, the item has not been posted.

        Parameters
        ----------
        item : object
            Anything.

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
        """Receive the next item.

        Returns
        -------
        waiting : Waiting
            An awaitable. Raises :class:`Closed` if the port is closed and empty.

        Examples
        --------
        See :class:`Port`.
        """
        return Waiting(self._native.receive())

    def take(self, count: int) -> Waiting[list[T]]:
        """Receive the next items, all together: it takes none before there are enough.

        Parameters
        ----------
        count : int
            The number of items.

        Returns
        -------
        waiting : Waiting
            An awaitable: a list.

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
        """Receive the next item, if there is one now.

        Parameters
        ----------
        default : object, default=None
            The value if there is no item.

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
        """Receive all items that are there now.

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
        """Stop taking items. Items in the port can still be received.

        Returns
        -------
        None

        Examples
        --------
        See :class:`Port`.
        """
        self._native.close()


def join(*ports: Port[Any]) -> Waiting[list[Any]]:
    """One item of each port, all together or none: a waiting join keeps no item from others who need only one.

    Parameters
    ----------
    *ports : Port
        Ports, each once.

    Returns
    -------
    waiting : Waiting
        An awaitable: a list in the order of the ports.

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
    """Wait for the first of several; if several are ready, the first named wins. The others leave their items in the ports.

    Parameters
    ----------
    *waits : Waiting
        Receives, takes, joins, choices, none of which has been awaited.

    Returns
    -------
    waiting : Waiting
        An awaitable: the number of the first, from 0, and its outcome.

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
    """Worker threads that schedule handlers. Use it in a ``with`` statement, or close it.

    Parameters
    ----------
    threads : int, default=1
        The number of threads. Handlers run on the event loop, so one is nearly always enough.

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
        # Also at the end of the interpreter, which workers must not outlive.
        self._finalizer = weakref.finalize(self, self._native.close)

    def close(self) -> None:
        """End its workers, and their interleaves. Pending items stay in their port.

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
#: What a branch of an interleave waits for: one port, or several together.
Source = Port[Any] | tuple[Port[Any], ...]


class Interleave(Generic[S]):
    """A state, and handlers around it: readers run together, a writer runs alone, by order of arrival across all ports.

    Start it in a running event loop, where its handlers are coroutines ``handler(state, item)``. A handler that may not start yet has not been called: its item
    is still in its port. The loop's exception handler reports an exception of a handler, and the interleave continues.

    Parameters
    ----------
    dispatcher : Dispatcher
        The dispatcher that schedules its handlers.
    state : object
        The object that every handler gets. Handlers that may change it change it in place.
    exclusive, concurrent, independent : iterable of (Port, handler), default=()
        Handlers that run alone, also while they are suspended; handlers that run together, but not with exclusive ones; handlers that run at any time. If you
        give a tuple of ports in place of one port, the branch joins them. Its handler receives a list with one item of each, all taken together when it may
        start. Handlers of one such branch do not overlap.
    teardown : iterable of (Port, handler), default=()
        Handlers that end it. From the item's arrival on, nothing more starts, and the ports are closed. After the running handlers have ended, this one runs
        alone.
    name : str, default=None
        The name in errors.

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
            # The loop itself would forget a task that nobody holds.
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
        """Wait for the end by teardown.

        Returns
        -------
        waiting : Waiting
            An awaitable. It raises :class:`Closed` if it was stopped, or its dispatcher closed, before.

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
        """End it without a teardown, and without closing ports: running handlers finish, pending items stay in their ports.

        Returns
        -------
        waiting : Waiting
            An awaitable: the state.

        Examples
        --------
        See :class:`Interleave`.
        """
        return Waiting(self._native.stop())
