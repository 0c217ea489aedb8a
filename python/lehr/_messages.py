"""Messages between two ranks."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeVar, overload
from weakref import WeakSet

from numpy.typing import NDArray

from lehr import _checks, _frames
from lehr._native import Communicator as Rank, Request as NativeRequest
from lehr._requests import Persistent, Request

Array = TypeVar("Array", bound=NDArray[Any])

_MOST_TAG = 2**32 - 1


class Status(NamedTuple):
    """The source, the tag and the length of a message that has not been received yet. :meth:`Communicator.probe` returns it.

    Attributes
    ----------
    source : int
        The rank that sent the message.
    tag : int
        The tag of the message.
    bytes : int
        The length of the message, with the description of its type.

    Examples
    --------
    See :meth:`Communicator.probe`.
    """

    source: int
    tag: int
    bytes: int


def checked_rank(name: str, value: Any) -> int:
    """Checks that a parameter is a rank, or another whole number of 0 or more."""
    if type(value) is int and value >= 0:
        return value
    rank = _checks.integer(name, value)
    assert rank is not None
    return rank


def checked_tag(value: Any, name: str = "tag") -> int:
    """Checks that a parameter is a tag, or another number of 32 bits."""
    tag = checked_rank(name, value)
    if tag > _MOST_TAG:
        raise _checks.wrong(name, f"at most {_MOST_TAG}", value)
    return tag


def _any_rank(value: Any) -> int | None:
    return None if value is None else checked_rank("source", value)


def _any_tag(value: Any) -> int | None:
    return None if value is None else checked_tag(value)


class Messages:
    """The calls of a communicator for messages between two ranks."""

    _native: Rank
    #: What holds the connection of this rank open: its communicators and its requests.
    _family: WeakSet[Any]

    def _started(self, native: NativeRequest | None, out: NDArray[Any] | None = None) -> Request:
        request = Request(native, out)
        self._family.add(request)
        return request

    def send(self, value: Any, to: int, tag: int = 0, *, synchronous: bool = False) -> None:
        """Send a value to a rank. The call returns as soon as the value has been copied, without waiting for the receiver.

        Parameters
        ----------
        value : object
            Any value that can be pickled. An array of numbers travels as its bytes, which is faster.
        to : int
            The receiving rank, which may be this rank itself.
        tag : int, default=0
            A number by which the receiver can select messages, 0 to 2**32 - 1.
        synchronous : bool, default=False
            Whether to wait until the receiver has received the message.

        Returns
        -------
        None

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def talk(comm):
        ...     comm.send({"rows": np.arange(3), "name": "first"}, to=1 - comm.rank)
        ...     return comm.receive(1 - comm.rank)["rows"].sum().item()
        >>> lehr.ranks.run(talk, ranks=2)
        [3, 3]
        """
        self._native.send(value, checked_rank("to", to), checked_tag(tag), bool(synchronous))

    @overload
    def receive(self, source: int, tag: int | None = None, *, out: None = None) -> Any: ...
    @overload
    def receive(self, source: int, tag: int | None = None, *, out: Array) -> Array: ...
    def receive(self, source: int, tag: int | None = None, *, out: NDArray[Any] | None = None) -> Any:
        """Wait for the next value from a rank, with a given or any tag.

        Parameters
        ----------
        source : int
            The rank.
        tag : int, default=None
            The tag of the message. ``None`` means any tag.
        out : ndarray, default=None
            An array that is overwritten with the received array, of the same type and shape. This is faster than a new array.

        Returns
        -------
        value : object
            The value, or ``out``. A received array is new, and belongs to you.

        Raises
        ------
        RankError
            If the sending rank has ended and no value with this tag remains.
        ValueError
            If the message does not fit ``out``. The message is then lost.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def talk(comm):
        ...     comm.send(np.array([1.5, comm.rank]), to=1 - comm.rank)
        ...     values = np.empty(2)
        ...     comm.receive(1 - comm.rank, out=values)
        ...     return values.tolist()
        >>> lehr.ranks.run(talk, ranks=2)
        [[1.5, 1.0], [1.5, 0.0]]
        """
        return self._receive(checked_rank("source", source), _any_tag(tag), out)[0]

    def receive_any(self, source: int | None = None, tag: int | None = None, *, out: NDArray[Any] | None = None) -> tuple[Any, int, int]:
        """Wait for the first value from a given or any rank, with a given or any tag.

        Parameters
        ----------
        source : int, default=None
            The sending rank. ``None`` means any rank.
        tag : int, default=None
            The tag. ``None`` means any tag.
        out : ndarray, default=None
            The same as for :meth:`receive`.

        Returns
        -------
        value : object
            The value, or ``out``.
        source : int
            The rank that sent the value.
        tag : int
            The tag of the message.

        Examples
        --------
        >>> import lehr
        >>> def first(comm):
        ...     if comm.rank == 1:
        ...         return comm.send("ready", to=0, tag=7)
        ...     return comm.receive_any()
        >>> lehr.ranks.run(first, ranks=2)
        [('ready', 1, 7), None]
        """
        return self._receive(_any_rank(source), _any_tag(tag), out)

    def _receive(self, source: int | None, tag: int | None, out: NDArray[Any] | None) -> tuple[Any, int, int]:
        if out is None:
            return self._native.receive(source, tag)
        source, tag, trailer = self._native.receive_into(source, tag, out)
        if trailer is not None:
            raise _frames.misfit(out, trailer=trailer)
        return out, source, tag

    def send_receive(self, value: Any, to: int, source: int, tag: int = 0, *, receive_tag: int | None = None, out: NDArray[Any] | None = None) -> Any:
        """Send a value to one rank, and receive a value from another or the same rank.

        Parameters
        ----------
        value : object
            The value to send.
        to : int
            The receiving rank.
        source : int
            The rank that sends to this rank.
        tag : int, default=0
            The tag of the message that is sent.
        receive_tag : int, default=None
            The tag of the message that is received. ``None`` means the same tag.
        out : ndarray, default=None
            The same as for :meth:`receive`.

        Returns
        -------
        value : object
            The received value, or ``out``.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.send_receive(comm.rank, to=1 - comm.rank, source=1 - comm.rank), ranks=2)
        [1, 0]
        """
        tag = checked_tag(tag)
        self.send(value, to, tag)
        return self.receive(source, tag if receive_tag is None else checked_tag(receive_tag, "receive_tag"), out=out)

    @overload
    def probe(self, source: int | None = None, tag: int | None = None, *, wait: Literal[True] = True) -> Status: ...
    @overload
    def probe(self, source: int | None = None, tag: int | None = None, *, wait: bool) -> Status | None: ...
    def probe(self, source: int | None = None, tag: int | None = None, *, wait: bool = True) -> Status | None:
        """Find out which message comes next, without receiving it.

        Parameters
        ----------
        source : int, default=None
            The sending rank. ``None`` means any rank.
        tag : int, default=None
            The tag. ``None`` means any tag.
        wait : bool, default=True
            Whether to wait for a message.

        Returns
        -------
        status : Status or None
            The source, the tag and the length of the message. ``None`` if no message has arrived and ``wait`` is false.

        Examples
        --------
        >>> import lehr
        >>> def program(comm):
        ...     before = comm.probe(wait=False)
        ...     comm.send("to myself", to=0, tag=3)
        ...     status = comm.probe()
        ...     return before, status.source, status.tag, comm.receive(status.source, status.tag)
        >>> lehr.ranks.run(program, ranks=1)
        [(None, 0, 3, 'to myself')]
        """
        found = self._native.probe(_any_rank(source), _any_tag(tag), bool(wait))
        return None if found is None else Status(*found)

    def start_send(self, value: Any, to: int, tag: int = 0, *, synchronous: bool = False) -> Request:
        """Send a value to a rank, and return a request. A send does not wait, so its request is complete at once. The request of a synchronous send is complete
        when the receiver has received the message.

        Parameters
        ----------
        value : object
            The value to send. You may change it after the call, because it has been copied.
        to : int
            The receiving rank.
        tag : int, default=0
            The tag of the message.
        synchronous : bool, default=False
            Whether the request is complete only when the message has been received.

        Returns
        -------
        request : Request
            The request.

        Examples
        --------
        >>> import lehr
        >>> def program(comm):
        ...     requests = [comm.start_receive(1 - comm.rank), comm.start_send(comm.rank, to=1 - comm.rank)]
        ...     return lehr.ranks.wait_all(requests)[0]
        >>> lehr.ranks.run(program, ranks=2)
        [1, 0]
        """
        if synchronous:
            return self._started(self._native.start_send(value, checked_rank("to", to), checked_tag(tag)))
        self.send(value, to, tag)
        return self._started(None)

    def start_receive(self, source: int | None = None, tag: int | None = None, *, out: NDArray[Any] | None = None) -> Request:
        """Start to receive a value, and return at once. Of several receives that match a message, the one that was started first gets it.

        Parameters
        ----------
        source : int, default=None
            The sending rank. ``None`` means any rank.
        tag : int, default=None
            The tag. ``None`` means any tag.
        out : ndarray, default=None
            The same as for :meth:`receive`. It is overwritten when the request is found complete, by :meth:`Request.wait` or :meth:`Request.done`.

        Returns
        -------
        request : Request
            The request, which is complete when the message has come.

        Examples
        --------
        See :class:`Request`.
        """
        if out is not None:
            _frames.room(out)
        return self._started(self._native.start_receive(_any_rank(source), _any_tag(tag)), out)

    def persistent_send(self, array: NDArray[Any], to: int, tag: int = 0) -> Persistent:
        """Prepare a send that is repeated with the present values of an array.

        Parameters
        ----------
        array : ndarray
            The array, whose values you may change between sends.
        to : int
            The receiving rank.
        tag : int, default=0
            The tag of the messages.

        Returns
        -------
        send : Persistent
            The send, which its ``start`` repeats.

        Examples
        --------
        See :class:`Persistent`.
        """
        return Persistent(lambda: self.start_send(array, to, tag))

    def persistent_receive(self, out: NDArray[Any], source: int | None = None, tag: int | None = None) -> Persistent:
        """Prepare a receive that is repeated into the same array.

        Parameters
        ----------
        out : ndarray
            The array that each receive overwrites.
        source : int, default=None
            The sending rank. ``None`` means any rank.
        tag : int, default=None
            The tag. ``None`` means any tag.

        Returns
        -------
        receive : Persistent
            The receive, which its ``start`` repeats.

        Examples
        --------
        See :class:`Persistent`.
        """
        _frames.room(out)
        return Persistent(lambda: self.start_receive(source, tag, out=out))
