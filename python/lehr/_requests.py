"""Messages that are started and completed later: requests, and sends and receives that are repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lehr import _frames, _native

#: What the native request returns: the value, the source, the tag.
_Come = tuple[Any, int, int]


class Request:
    """A message that has been started. :meth:`Communicator.start_receive` and :meth:`Communicator.start_send` create requests.

    A send is complete at once, because its value has been copied. A synchronous send is complete when its message has been received, and a receive when its
    message has come.

    Attributes
    ----------
    source : int or None
        The rank that sent the message; ``None`` while the receive is pending, and for a send.
    tag : int or None
        The tag of the message; ``None`` while the receive is pending, and for a send.

    Examples
    --------
    >>> import lehr
    >>> def program(comm):
    ...     request = comm.start_receive(1 - comm.rank)
    ...     comm.send(f"from {comm.rank}", to=1 - comm.rank)
    ...     return request.wait()
    >>> lehr.ranks.run(program, ranks=2)
    ['from 1', 'from 0']
    """

    def __init__(self, native: _native.Request | None, out: NDArray[Any] | None = None) -> None:
        self._native = native
        self._out = out
        self._value: Any = None
        self._raised: BaseException | None = None
        self._is_taken = False
        self.source: int | None = None
        self.tag: int | None = None

    def __repr__(self) -> str:
        state = "complete" if self._native is None else "pending"
        return f"<Request: {state}>"

    def _complete(self, come: _Come | None) -> None:
        self._native = None
        if come is None:
            return
        value, self.source, self.tag = come
        if self._out is None:
            self._value = value
            return
        if not _frames.fits(self._out, value):
            raise _frames.misfit(self._out, value)
        np.copyto(self._out, value)
        self._value = self._out

    def _failed(self, error: Exception) -> None:
        """Keeps an error for :meth:`wait`."""
        self._native, self._raised = None, error

    def _close(self) -> None:
        if self._native is not None:
            self._native.close()

    def done(self) -> bool:
        """Return whether the message is complete, without waiting. A receive takes its message if it has come.

        Returns
        -------
        done : bool
            Whether :meth:`wait` would return, or raise, at once.

        Examples
        --------
        >>> import lehr
        >>> def program(comm):
        ...     request = comm.start_receive(comm.rank)
        ...     before = request.done()
        ...     comm.send(1, to=comm.rank)
        ...     return before, request.done()
        >>> lehr.ranks.run(program, ranks=1)
        [(False, True)]
        """
        if self._native is not None:
            try:
                is_complete, come = self._native.test()
                if is_complete:
                    self._complete(come)
            except Exception as error:
                self._failed(error)
        return self._native is None

    def wait(self) -> Any:
        """Wait until the message is complete.

        Returns
        -------
        value : object
            The received value: ``out`` if you passed it to the receive. ``None`` for a send.

        Raises
        ------
        RankError
            If the sending rank has ended, and no matching message remains.
        ValueError
            If the message does not fit ``out``.

        Examples
        --------
        See :class:`Request`.
        """
        if self._native is not None:
            try:
                self._complete(self._native.wait())
            except Exception as error:
                self._failed(error)
        self._is_taken = True
        if self._raised is not None:
            raise self._raised
        return self._value


class Persistent:
    """A send or a receive that is repeated with the same rank, tag and array. :meth:`Communicator.persistent_send` and :meth:`Communicator.persistent_receive`
    create it.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> def program(comm):
    ...     mine, theirs = np.zeros(2), np.zeros(2)
    ...     send = comm.persistent_send(mine, to=1 - comm.rank)
    ...     receive = comm.persistent_receive(theirs, 1 - comm.rank)
    ...     for round in range(3):
    ...         mine[:] = 10 * comm.rank + round
    ...         send.start()
    ...         receive.start().wait()
    ...     return theirs.tolist()
    >>> lehr.ranks.run(program, ranks=2)
    [[12.0, 12.0], [2.0, 2.0]]
    """

    def __init__(self, start: Callable[[], Request]) -> None:
        self._start = start

    def start(self) -> Request:
        """Start the message once more. A send takes the present values of its array.

        Returns
        -------
        request : Request
            The started message.

        Examples
        --------
        See :class:`Persistent`.
        """
        return self._start()


def wait_all(requests: Sequence[Request]) -> list[Any]:
    """Wait until all messages are complete.

    Parameters
    ----------
    requests : sequence of Request
        The requests of this rank.

    Returns
    -------
    values : list
        The values of the messages, in the order of the requests.

    Examples
    --------
    >>> import lehr
    >>> def program(comm):
    ...     requests = [comm.start_receive(source) for source in range(comm.size)]
    ...     for to in range(comm.size):
    ...         comm.send(10 * comm.rank + to, to)
    ...     return lehr.ranks.wait_all(requests)
    >>> lehr.ranks.run(program, ranks=2)
    [[0, 10], [1, 11]]
    """
    return [request.wait() for request in requests]


def wait_any(requests: Sequence[Request]) -> int:
    """Wait until the message of one of several requests is complete.

    Parameters
    ----------
    requests : sequence of Request
        The requests of this rank; at least one.

    Returns
    -------
    index : int
        The index of a request that is complete, and whose :meth:`~Request.wait` you have not called. That call returns, or raises, at once. So call it before you
        wait for the next request.

    Raises
    ------
    ValueError
        If there are no requests, or you have called ``wait`` of all of them.

    Examples
    --------
    >>> import lehr
    >>> def program(comm):
    ...     requests = [comm.start_receive(tag=tag) for tag in (1, 2)]
    ...     comm.send("two", to=0, tag=2)
    ...     index = lehr.ranks.wait_any(requests)
    ...     return index, requests[index].wait()
    >>> lehr.ranks.run(program, ranks=1)
    [(1, 'two')]
    """
    left = [(index, request) for index, request in enumerate(requests) if not request._is_taken]
    if not left:
        raise ValueError("The 'requests' parameter must have at least one request that you have not waited for. Got none.")
    for index, request in left:
        if request._native is None:
            return index
    index, request = left[_native.wait_any([request._native for _, request in left if request._native is not None])]
    request.done()
    return index
