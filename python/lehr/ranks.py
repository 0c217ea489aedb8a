"""Message passing with NumPy arrays, between the threads of a script and between the processes that ``mpiexec`` started.

:func:`run` calls a function once for each rank, with a :class:`Communicator`. Arrays are read and written in place, and a waiting rank releases the interpreter
lock. For a given number of ranks, sums are bit-identical for any division into threads and processes.

========================================================================  ================================================================
:meth:`~Communicator.send`, :meth:`~Communicator.receive`                  send a message from one rank to another
:meth:`~Communicator.shift`                                               pass arrays along a ring
:meth:`~Communicator.barrier`                                             wait until all ranks have arrived
:meth:`~Communicator.broadcast`, :meth:`~Communicator.scatter`             send the root's array to all ranks; send each rank its part
:meth:`~Communicator.gather`, :meth:`~Communicator.all_gather`             collect the arrays of all ranks at the root; at all ranks
:meth:`~Communicator.reduce`, :meth:`~Communicator.all_reduce`             combine the arrays of all ranks at the root; at all ranks
:meth:`~Communicator.scan`                                                combine the arrays of all ranks up to each rank
========================================================================  ================================================================

All ranks must call collectives in the same order. Before each collective, Lehr compares the calls. If ranks pass incompatible arrays, or different roots or
operations, the call raises a ``ValueError`` on all ranks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehr import _checks, _native, _progress
from lehr._names import listed
from lehr._native import RankError

__all__ = ["Communicator", "RankError", "run"]
__dir__ = listed(__all__)

T = TypeVar("T")

#: After Ctrl-C, Lehr waits this many seconds for the ranks to end, and then abandons them.
_GRACE = 0.5
#: The seconds between checks for signals while the main thread waits.
_TICK = 0.1
_MOST_TAG = 2**32 - 1


def _rank(name: str, value: Any) -> int:
    rank = _checks.integer(name, value)
    assert rank is not None
    return rank


def _tag(value: Any) -> int:
    tag = _rank("tag", value)
    if tag > _MOST_TAG:
        raise _checks.wrong("tag", f"at most {_MOST_TAG}", value)
    return tag


def _ordered(array: ArrayLike) -> NDArray[Any]:
    """Returns the array itself if it is C-contiguous, otherwise a contiguous copy. (``ascontiguousarray`` would add a dimension to 0-dimensional arrays.)"""
    return np.asarray(array, order="C")


class Communicator:
    """The methods by which a rank communicates with other ranks. :func:`run` creates a communicator for each rank, which is valid while the program runs, on
    the thread of this rank.

    Attributes
    ----------
    rank : int
        The number of this rank, from 0.
    size : int
        The number of ranks.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> def program(comm):
    ...     total = np.array([comm.rank + 1.0])
    ...     comm.all_reduce(total)
    ...     return total[0].item()
    >>> lehr.ranks.run(program, ranks=4)
    [10.0, 10.0, 10.0, 10.0]
    """

    def __init__(self, native: _native.Communicator) -> None:
        self._native = native
        self.rank = native.rank
        self.size = native.size

    def __repr__(self) -> str:
        return f"Communicator(rank={self.rank}, size={self.size})"

    def barrier(self) -> None:
        """Wait until all ranks have called this method.

        Returns
        -------
        None

        Raises
        ------
        RankError
            If a rank has ended.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.barrier(), ranks=2)
        [None, None]
        """
        self._native.barrier()

    def all_reduce(self, array: NDArray[Any], op: Literal["sum", "prod", "min", "max"] = "sum") -> None:
        """Combine the arrays of all ranks element by element, and write the result into the array of each rank.

        Parameters
        ----------
        array : ndarray
            A C-contiguous array of float64, float32 or integers, with the same type and shape on all ranks. The result overwrites the array in place.
        op : {'sum', 'prod', 'min', 'max'}, default='sum'
            The operation that combines two values. Sums of integers wrap around, as in NumPy; NaN stays NaN.

        Returns
        -------
        None

        Raises
        ------
        ValueError
            If the arrays of the ranks differ in type or shape, or an array is read-only or not contiguous. Raised on all ranks.
        TypeError
            If ``array`` is not an array of float64, float32 or integers.
        RankError
            If a rank has ended.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def largest(comm):
        ...     array = np.array([comm.rank, -comm.rank])
        ...     comm.all_reduce(array, op="max")
        ...     return array.tolist()
        >>> lehr.ranks.run(largest, ranks=3)
        [[2, 0], [2, 0], [2, 0]]
        """
        self._native.all_reduce(array, op)

    def reduce(self, array: NDArray[Any], root: int = 0, op: Literal["sum", "prod", "min", "max"] = "sum") -> None:
        """Combine the arrays of all ranks, and write the result into the root's array. The arrays of the other ranks are undefined afterwards.

        Parameters
        ----------
        array : ndarray
            The same as for :meth:`all_reduce`.
        root : int, default=0
            The rank that receives the result.
        op : {'sum', 'prod', 'min', 'max'}, default='sum'
            The same as for :meth:`all_reduce`.

        Returns
        -------
        None

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def total(comm):
        ...     array = np.array([comm.rank])
        ...     comm.reduce(array, root=1)
        ...     return array.item() if comm.rank == 1 else None
        >>> lehr.ranks.run(total, ranks=3)
        [None, 3, None]
        """
        self._native.reduce(array, _rank("root", root), op)

    def broadcast(self, array: NDArray[Any], root: int = 0) -> None:
        """Copy the root's array to the arrays of all ranks.

        Parameters
        ----------
        array : ndarray
            The same as for :meth:`all_reduce`.
        root : int, default=0
            The rank whose array all ranks receive.

        Returns
        -------
        None

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def told(comm):
        ...     array = np.full(2, comm.rank)
        ...     comm.broadcast(array, root=1)
        ...     return array.tolist()
        >>> lehr.ranks.run(told, ranks=2)
        [[1, 1], [1, 1]]
        """
        self._native.broadcast(array, _rank("root", root))

    def scan(self, array: NDArray[Any], op: Literal["sum", "prod", "min", "max"] = "sum", *, exclusive: bool = False) -> None:
        """Overwrite the array of each rank with the combination of the arrays from rank 0 up to this rank.

        Parameters
        ----------
        array : ndarray
            The same as for :meth:`all_reduce`.
        op : {'sum', 'prod', 'min', 'max'}, default='sum'
            The same as for :meth:`all_reduce`.
        exclusive : bool, default=False
            Whether to combine only up to the previous rank. Rank 0 then keeps its own array.

        Returns
        -------
        None

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def sums(comm):
        ...     array = np.array([10.0 * (comm.rank + 1)])
        ...     comm.scan(array)
        ...     return array[0].item()
        >>> lehr.ranks.run(sums, ranks=3)
        [10.0, 30.0, 60.0]
        """
        self._native.scan(array, op, bool(exclusive))

    def gather(self, array: ArrayLike, root: int = 0) -> list[NDArray[Any]] | None:
        """Collect the arrays of all ranks at the root.

        Parameters
        ----------
        array : array-like
            An array with the same type on all ranks, and the same shape except for the first dimension.
        root : int, default=0
            The rank that receives the arrays.

        Returns
        -------
        arrays : list of ndarray
            The arrays in the order of ranks; ``None`` on ranks other than the root.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def parts(comm):
        ...     arrays = comm.gather(np.arange(comm.rank))
        ...     return None if arrays is None else [array.tolist() for array in arrays]
        >>> lehr.ranks.run(parts, ranks=3)
        [[[], [0], [0, 1]], None, None]
        """
        return self._native.gather(_ordered(array), _rank("root", root))

    def all_gather(self, array: ArrayLike) -> list[NDArray[Any]]:
        """Collect the arrays of all ranks on each rank.

        Parameters
        ----------
        array : array-like
            The same as for :meth:`gather`.

        Returns
        -------
        arrays : list of ndarray
            The arrays in the order of ranks.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> lehr.ranks.run(lambda comm: np.concatenate(comm.all_gather([comm.rank])).tolist(), ranks=3)
        [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
        """
        gathered = self._native.all_gather(_ordered(array))
        assert gathered is not None
        return gathered

    def scatter(self, array: ArrayLike | None = None, root: int = 0) -> NDArray[Any]:
        """Distribute the rows of the root's array to the ranks in equal parts.

        Parameters
        ----------
        array : array-like, default=None
            The array at the root, whose first dimension must be a multiple of the number of ranks. Ignored on other ranks.
        root : int, default=0
            The rank whose rows are distributed.

        Returns
        -------
        part : ndarray
            A new array: the first ``len(array) / size`` rows on rank 0, the next on rank 1, and so on.

        Raises
        ------
        ValueError
            If the root's array cannot be divided evenly. Raised on all ranks.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def part(comm):
        ...     rows = np.arange(6).reshape(3, 2) if comm.rank == 0 else None
        ...     return comm.scatter(rows).tolist()
        >>> lehr.ranks.run(part, ranks=3)
        [[[0, 1]], [[2, 3]], [[4, 5]]]
        """
        own = _ordered(array) if array is not None and self.rank == root else None
        return self._native.scatter(own, _rank("root", root))

    def send(self, array: ArrayLike, to: int, tag: int = 0) -> None:
        """Send an array to a rank. The call returns as soon as the array has been copied, without waiting for the receiver.

        Parameters
        ----------
        array : array-like
            An array of any shape.
        to : int
            The receiving rank, which may be this rank itself.
        tag : int, default=0
            A number by which the receiver can select messages, 0 to 2**32 - 1.

        Returns
        -------
        None

        Examples
        --------
        >>> import lehr
        >>> def talk(comm):
        ...     comm.send([1.5, comm.rank], to=1 - comm.rank)
        ...     return comm.receive(1 - comm.rank).tolist()
        >>> lehr.ranks.run(talk, ranks=2)
        [[1.5, 1.0], [1.5, 0.0]]
        """
        self._native.send(_ordered(array), _rank("to", to), _tag(tag))

    def receive(self, source: int, tag: int = 0) -> NDArray[Any]:
        """Wait for the next array from a rank with the given tag.

        Parameters
        ----------
        source : int
            The rank.
        tag : int, default=0
            The tag of the message.

        Returns
        -------
        array : ndarray
            A new array, with the type and shape of the sent array.

        Raises
        ------
        RankError
            If the sending rank has ended and no array with this tag remains.

        Examples
        --------
        See :meth:`send`.
        """
        return self._native.receive(_rank("source", source), _tag(tag))[0]

    def receive_any(self, source: int | None = None, tag: int | None = None) -> tuple[NDArray[Any], int, int]:
        """Wait for the first array from a given or any rank, with a given or any tag.

        Parameters
        ----------
        source : int, default=None
            The sending rank. ``None`` means any rank.
        tag : int, default=None
            The tag. ``None`` means any tag.

        Returns
        -------
        array : ndarray
            A new array.
        source : int
            The rank that sent the array.
        tag : int
            The tag of the message.

        Examples
        --------
        >>> import lehr
        >>> def first(comm):
        ...     if comm.rank == 1:
        ...         return comm.send([1, 2], to=0, tag=7)
        ...     array, source, tag = comm.receive_any()
        ...     return array.tolist(), source, tag
        >>> lehr.ranks.run(first, ranks=2)
        [([1, 2], 1, 7), None]
        """
        return self._native.receive(None if source is None else _rank("source", source), None if tag is None else _tag(tag))

    def shift(self, array: ArrayLike, displacement: int = 1) -> NDArray[Any]:
        """Pass arrays along a ring: send an array to a rank ahead, and receive an array from the rank at the same distance behind.

        Parameters
        ----------
        array : array-like
            An array with the same type and shape on all ranks.
        displacement : int, default=1
            How many ranks ahead to send the array. A negative number sends the array to a rank behind.

        Returns
        -------
        array : ndarray
            A new array.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.shift([comm.rank]).item(), ranks=3)
        [2, 0, 1]
        """
        return self._native.shift(_ordered(array), int(displacement))


class _Thread(threading.Thread, Generic[T]):
    """The thread of a rank, with the value that the program returned or the error that it raised."""

    def __init__(self, program: Callable[[Communicator], T], native: _native.Communicator) -> None:
        # After Ctrl-C, ranks that still run must not keep the process alive.
        super().__init__(name=f"lehr-rank-{native.rank}", daemon=True)
        self.program = program
        self.native = native
        self.returned: T | None = None
        self.raised: BaseException | None = None

    def run(self) -> None:
        _progress.RANK.size = self.native.size
        try:
            self.returned = self.program(Communicator(self.native))
        except BaseException as error:  # noqa: BLE001  the thread that started it raises it
            self.raised = error
        finally:
            # Ranks that wait for this rank receive an error.
            self.native.close()


def run(program: Callable[[Communicator], T], ranks: int | None = None) -> list[T]:
    """Call a function once for each rank, concurrently, each on its own Python thread.

    A program computes with its own arrays. ``fit`` and :func:`lehr.pairwise_distances` already use all ranks, so call them outside of a program.

    Under ``mpiexec``, all processes make the same call, and the ranks are divided among them. Except in free-threaded Python, only one rank of a process runs
    Python code at a time. NumPy computations that release the interpreter lock run in parallel.

    Parameters
    ----------
    program : callable
        A function that takes a :class:`Communicator`.
    ranks : int, default=None
        The number of all ranks; in an MPI job, a multiple of the number of processes. ``None`` means one rank for each processor, or one for each process of
        the MPI job.

    Returns
    -------
    returned : list
        The values that the ranks of this process returned, in the order of ranks.

    Raises
    ------
    BaseException
        The error of a rank. If several ranks fail, the error of the lowest rank that did not fail because of another rank.
    RankError
        If only ranks of other processes failed.
    RuntimeError
        If a rank calls ``fit`` or :func:`lehr.pairwise_distances`.
    KeyboardInterrupt
        After Ctrl-C. Ranks that wait in a communicator end; ranks that compute are abandoned.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> rows = np.arange(12.0).reshape(6, 2)
    >>> def mean(comm):
    ...     part = comm.scatter(rows if comm.rank == 0 else None)
    ...     total = part.sum(axis=0)
    ...     comm.all_reduce(total)
    ...     return (total / len(rows)).tolist()
    >>> lehr.ranks.run(mean, ranks=3)
    [[5.0, 6.0], [5.0, 6.0], [5.0, 6.0]]
    """
    if not callable(program):
        raise TypeError(f"The 'program' parameter must be callable. Got {program!r} instead.")
    count = _checks.integer("ranks", ranks, optional=True)
    if count == 0:
        raise _checks.wrong("ranks", "at least 1", ranks)
    natives, whole = _native.begin_ranks(count)
    threads = [_Thread(program, native) for native in natives]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(_TICK)
    except BaseException:
        whole.stop()
        # Only join threads that have started, because the signal may arrive before all threads have started.
        for thread in filter(threading.Thread.is_alive, threads):
            thread.join(_GRACE / len(threads))
        raise
    failed = [thread for thread in threads if thread.raised is not None]
    first = next((thread for thread in failed if not isinstance(thread.raised, RankError)), failed[0] if failed else None)
    message = None
    if first is not None:
        message = f"rank {first.native.rank} raised {type(first.raised).__name__}: {first.raised}"
    agreed = whole.end(message, first is not None and not isinstance(first.raised, RankError))
    if agreed is not None and agreed != message:
        raise RankError(agreed)
    if first is not None:
        assert first.raised is not None
        if hasattr(first.raised, "add_note"):
            first.raised.add_note(f"raised in rank {first.native.rank} of {first.native.size}")
        raise first.raised
    return [thread.returned for thread in threads]  # type: ignore[misc]
