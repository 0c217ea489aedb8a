"""The calls by which a rank communicates with other ranks."""

from __future__ import annotations

import contextlib
import operator
import os
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import accumulate
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from lehr import _checks, _combining, _frames, _map_reduce, _native
from lehr._combining import Operation
from lehr._grid import Grid
from lehr._messages import Messages, checked_rank, checked_tag
from lehr._requests import Request
from lehr._window import Window

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Mapped = TypeVar("Mapped")
Reduced = TypeVar("Reduced")


class Communicator(Messages):
    """The calls by which a rank communicates with other ranks. :func:`run` creates a communicator for each rank. It is valid while the program runs, on the thread
    of this rank.

    Every call takes any value. A NumPy array of numbers travels as its bytes. Everything else is pickled, so the receiver gets a copy. Unpickling runs code that
    the message names, as in :mod:`multiprocessing`: start only programs that you trust.

    Attributes
    ----------
    rank : int
        The number of this rank, from 0.
    size : int
        The number of ranks.

    Examples
    --------
    >>> import lehr
    >>> def program(comm):
    ...     return comm.rank, comm.size, comm.all_reduce(comm.rank + 1.0)
    >>> lehr.ranks.run(program, ranks=2)
    [(0, 2, 3.0), (1, 2, 3.0)]
    """

    def __init__(self, native: _native.Communicator, board: dict[Any, Any], family: WeakSet[Communicator | Request] | None = None) -> None:
        self._native = native
        self.rank: int = native.rank
        self.size: int = native.size
        # What the threads of this process share: the arrays of windows.
        self._board = board
        # What holds the connection of this rank open: its communicators and its requests.
        self._family: WeakSet[Communicator | Request] = WeakSet() if family is None else family
        self._family.add(self)

    def __repr__(self) -> str:
        return f"Communicator(rank={self.rank}, size={self.size})"

    def _close(self) -> None:
        self._native.close()

    def _end(self) -> None:
        """Ends this rank. Ranks that wait for it receive an error."""
        for member in list(self._family):
            # Another thread of the program may be inside a call of a member. The others are closed all the same.
            with contextlib.suppress(RuntimeError):
                member._close()

    def barrier(self) -> None:
        """Wait until all ranks have arrived.

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

    def broadcast(self, value: Any = None, root: int = 0, *, out: NDArray[Any] | None = None) -> Any:
        """Send the root's value to all ranks.

        Parameters
        ----------
        value : object, default=None
            The value of the root. Ignored on other ranks.
        root : int, default=0
            The rank whose value all ranks receive.
        out : ndarray, default=None
            An array that is overwritten with the root's array, of the same type and shape. A rank may pass it or not.

        Returns
        -------
        value : object
            The value, or ``out``. On the root, the value itself and not a copy.

        Raises
        ------
        ValueError
            If the root's value does not fit ``out``.

        Examples
        --------
        >>> import lehr
        >>> def told(comm):
        ...     return comm.broadcast({"seed": 7} if comm.rank == 1 else None, root=1)
        >>> lehr.ranks.run(told, ranks=2)
        [{'seed': 7}, {'seed': 7}]
        """
        root = checked_rank("root", root)
        if self.rank != root:
            is_written, received = self._native.receive_broadcast(root, out)
            if out is not None and not is_written:
                raise _frames.misfit(out, received)
            return out if is_written else received
        if out is not None:
            _frames.room(out)
        self._native.broadcast(value, root)
        if out is None or out is value:
            return value
        if not _frames.fits(out, value):
            raise _frames.misfit(out, value)
        np.copyto(out, value)
        return out

    def scatter(self, values: Any = None, root: int = 0, *, counts: Sequence[int] | None = None) -> Any:
        """Send each rank its part of the root's values.

        Parameters
        ----------
        values : ndarray or sequence, default=None
            The values of the root: an array whose rows are divided, or a sequence with one value of any type for each rank. Ignored on other ranks.
        root : int, default=0
            The rank whose values are distributed.
        counts : sequence of int, default=None
            For an array, the number of rows of each rank. ``None`` means equal parts. Ignored on other ranks.

        Returns
        -------
        part : object
            The rows or the value of this rank: of an array, the first rows on rank 0, the next on rank 1, and so on.

        Raises
        ------
        ValueError
            If the root's values cannot be divided. Raised on all ranks.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def part(comm):
        ...     rows = np.arange(6).reshape(3, 2) if comm.rank == 0 else None
        ...     return comm.scatter(rows, counts=[1, 2]).tolist()
        >>> lehr.ranks.run(part, ranks=2)
        [[[0, 1]], [[2, 3], [4, 5]]]
        """
        root = checked_rank("root", root)
        parts = None
        if self.rank == root:
            try:
                parts = self._parts(values, counts)
            except BaseException:
                # The other ranks wait for their parts.
                self._native.scatter(None, root)
                raise
        part, has_come = self._native.scatter(parts, root)
        if not has_come:
            raise ValueError(f"rank {root}, the root of scatter, has no values that it can divide")
        return part

    def _parts(self, values: Any, counts: Sequence[int] | None = None) -> list[Any]:
        """Divides an array into consecutive rows for each rank, or checks that a sequence has a value for each rank."""
        if not isinstance(values, np.ndarray):
            try:
                parts = list(values)
            except TypeError:
                raise TypeError(f"expected an array, or a sequence with one value for each of {self.size} ranks, found {type(values).__name__}") from None
            if counts is not None:
                raise ValueError("The 'counts' parameter is the numbers of rows of an array. A sequence has one value for each rank.")
            if len(parts) != self.size:
                raise ValueError(f"expected one value for each of {self.size} ranks, found {len(parts)} values")
            return parts
        if values.ndim == 0:
            raise ValueError("an array without dimensions has no rows for the ranks")
        if counts is None:
            if len(values) % self.size:
                raise ValueError(f"{len(values)} rows cannot be divided into equal parts for {self.size} ranks. Pass 'counts', the number of rows of each rank.")
            counts = [len(values) // self.size] * self.size
        lengths = [checked_rank("counts", count) for count in counts]
        if len(lengths) != self.size or sum(lengths) != len(values):
            raise _checks.wrong("counts", f"{self.size} numbers with the sum {len(values)}, the number of rows", list(counts))
        return [values[end - length : end] for length, end in zip(lengths, accumulate(lengths))]

    def gather(self, value: Any, root: int = 0) -> list[Any] | None:
        """Collect the values of all ranks at the root.

        Parameters
        ----------
        value : object
            The value of this rank. Types and shapes may differ between ranks.
        root : int, default=0
            The rank that receives the values.

        Returns
        -------
        values : list
            The values in the order of ranks; ``None`` on ranks other than the root.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def parts(comm):
        ...     arrays = comm.gather(np.arange(comm.rank))
        ...     return None if arrays is None else np.concatenate(arrays).tolist()
        >>> lehr.ranks.run(parts, ranks=3)
        [[0, 0, 1], None, None]
        """
        return self._native.gather(value, checked_rank("root", root))

    def all_gather(self, value: Any) -> list[Any]:
        """Collect the values of all ranks on each rank.

        Parameters
        ----------
        value : object
            The same as for :meth:`gather`.

        Returns
        -------
        values : list
            The values in the order of ranks.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.all_gather(comm.rank), ranks=3)
        [[0, 1, 2], [0, 1, 2], [0, 1, 2]]
        """
        gathered = self._native.gather(value, None)
        assert gathered is not None
        return gathered

    def all_to_all(self, values: Any, *, counts: Sequence[int] | None = None) -> list[Any]:
        """Send a value to each rank, and receive a value from each rank.

        Parameters
        ----------
        values : ndarray or sequence
            An array whose rows are divided, or a sequence with one value of any type for each rank.
        counts : sequence of int, default=None
            For an array, the number of rows for each rank. ``None`` means equal parts.

        Returns
        -------
        values : list
            The received values, in the order of ranks.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.all_to_all([f"{comm.rank} to {to}" for to in range(2)]), ranks=2)
        [['0 to 0', '1 to 0'], ['0 to 1', '1 to 1']]
        """
        return self._native.all_to_all(self._parts(values, counts))

    def all_reduce(self, value: Any, op: Operation = "sum", *, out: NDArray[Any] | None = None) -> Any:
        """Combine the values of all ranks, and return the result on each rank.

        Arrays are combined element by element. Arrays of whole numbers and floats are combined without the interpreter; sums of integers wrap around, as in NumPy,
        and NaN stays NaN. Every other value is gathered on each rank, which takes memory for the values of all ranks.

        Parameters
        ----------
        value : object
            The value of this rank. Arrays must have the same type and shape on all ranks.
        op : {'sum', 'prod', 'min', 'max', 'and', 'or', 'xor'} or callable, default='sum'
            The operation that combines two values. A function gets the values from the left to the right, in the order of ranks, and must be the same on all ranks.
        out : ndarray, default=None
            An array that is overwritten with the result, of the type and shape of ``value``. It may be ``value`` itself.

        Returns
        -------
        result : object
            The result, or ``out``. For a given number of ranks, it has the same bits on any division into threads and processes.

        Raises
        ------
        ValueError
            If the ranks pass arrays of different types or shapes, or different operations. Raised on all ranks.
        RankError
            If a rank has ended.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def largest(comm):
        ...     return comm.all_reduce(np.array([comm.rank, -comm.rank]), op="max").tolist()
        >>> lehr.ranks.run(largest, ranks=3)
        [[2, 0], [2, 0], [2, 0]]
        >>> lehr.ranks.run(lambda comm: sorted(comm.all_reduce({comm.rank}, op=set.union)), ranks=2)
        [[0, 1], [0, 1]]
        """
        own, prepared, call = self._prepared("all_reduce", value, op, out)
        if prepared is not None:
            self._native.all_reduce(call, *prepared)
            return own
        self._native.agree(call)
        return self._written(_combining.folded(self.all_gather(value), op), out)

    def reduce(self, value: Any, root: int = 0, op: Operation = "sum", *, out: NDArray[Any] | None = None) -> Any:
        """Combine the values of all ranks, and return the result on the root.

        Parameters
        ----------
        value : object
            The same as for :meth:`all_reduce`.
        root : int, default=0
            The rank that receives the result.
        op : {'sum', 'prod', 'min', 'max', 'and', 'or', 'xor'} or callable, default='sum'
            The same as for :meth:`all_reduce`.
        out : ndarray, default=None
            The same as for :meth:`all_reduce`. Ignored on ranks other than the root.

        Returns
        -------
        result : object
            The result on the root, ``None`` on other ranks.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.reduce(comm.rank, root=1), ranks=3)
        [None, 3, None]
        """
        root = checked_rank("root", root)
        own, prepared, call = self._prepared(f"reduce with root {root}", value, op, out if self.rank == root else None)
        if prepared is not None:
            self._native.reduce(call, *prepared, root)
            return own if self.rank == root else None
        self._native.agree(call)
        values = self.gather(value, root)
        return None if values is None else self._written(_combining.folded(values, op), out)

    def scan(self, value: Any, op: Operation = "sum", *, exclusive: bool = False, out: NDArray[Any] | None = None) -> Any:
        """Combine the values from rank 0 up to this rank.

        Parameters
        ----------
        value : object
            The same as for :meth:`all_reduce`.
        op : {'sum', 'prod', 'min', 'max', 'and', 'or', 'xor'} or callable, default='sum'
            The same as for :meth:`all_reduce`.
        exclusive : bool, default=False
            Whether to combine only up to the previous rank.
        out : ndarray, default=None
            The same as for :meth:`all_reduce`. With ``exclusive``, rank 0 leaves it alone.

        Returns
        -------
        result : object
            The result. With ``exclusive``, ``None`` on rank 0, which has no ranks before it.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.scan(10 * (comm.rank + 1)), ranks=3)
        [10, 30, 60]
        >>> lehr.ranks.run(lambda comm: comm.scan(10 * (comm.rank + 1), exclusive=True), ranks=3)
        [None, 10, 30]
        """
        name = "exclusive scan" if exclusive else "scan"
        is_first = exclusive and self.rank == 0
        own, prepared, call = self._prepared(name, value, op, None if is_first else out)
        if prepared is not None:
            self._native.scan(call, *prepared, bool(exclusive))
            return None if is_first else own
        self._native.agree(call)
        values = self.all_gather(value)[: self.rank + (not exclusive)]
        return self._written(_combining.folded(values, op), out) if values else None

    def reduce_scatter(self, values: Any, op: Operation = "sum") -> Any:
        """Combine the values of all ranks, and return one part of the result on each rank.

        Parameters
        ----------
        values : ndarray or sequence
            An array of the same type and shape on all ranks, whose rows are divided into equal parts. Or a sequence with one value of any type for each rank.
        op : {'sum', 'prod', 'min', 'max', 'and', 'or', 'xor'} or callable, default='sum'
            The same as for :meth:`all_reduce`.

        Returns
        -------
        part : object
            The combination of the parts of all ranks for this rank.

        Raises
        ------
        ValueError
            If the array cannot be divided into equal parts.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> lehr.ranks.run(lambda comm: comm.reduce_scatter(np.arange(4) + comm.rank).tolist(), ranks=2)
        [[1, 3], [5, 7]]
        """
        _combining.check(op)
        parts = self._parts(values)
        call = f"reduce_scatter by {_combining.described(op)} of {_frames.told(values)}"
        plan = _combining.plan(values, op)
        if plan is not None:
            own = np.ascontiguousarray(values)
            part = np.empty_like(own[: len(own) // self.size])
            self._native.reduce_scatter(call, own.view(plan[0]), plan[1], part.view(plan[0]))
            return part
        self._native.agree(call)
        return _combining.folded(self.all_to_all(parts), op)

    def _prepared(
        self, name: str, value: Any, op: Operation, out: NDArray[Any] | None
    ) -> tuple[Any, tuple[NDArray[Any], str] | None, str]:
        """Returns the array that the Rust code overwrites with the result, a view of it with the operation, and the description of the call.

        There is no view if the Rust code cannot combine such values.
        """
        _combining.check(op)
        call = f"{name} by {_combining.described(op)} of {_frames.told(value)}"
        if out is not None:
            _frames.room(out)
            if not _frames.fits(out, value):
                raise _frames.misfit(out, value)
        plan = _combining.plan(value, op)
        if plan is None:
            return None, None, call
        if out is None:
            own = np.array(value, order="C")
        else:
            own = out
            if own is not value:
                np.copyto(own, value)
        return own, (own.view(plan[0]), plan[1]), call

    @staticmethod
    def _written(result: Any, out: NDArray[Any] | None) -> Any:
        if out is None:
            return result
        np.copyto(out, result)
        return out

    def shift(self, value: Any, displacement: int = 1) -> Any:
        """Pass values along a ring: send a value to a rank ahead, and receive a value from the rank at the same distance behind.

        Parameters
        ----------
        value : object
            The value to send. Types and shapes may differ between ranks.
        displacement : int, default=1
            How many ranks ahead to send the value. A negative number sends it to a rank behind.

        Returns
        -------
        value : object
            The received value.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.run(lambda comm: comm.shift(comm.rank), ranks=3)
        [2, 0, 1]
        """
        return self._native.shift(value, operator.index(displacement) % self.size)

    def exchange(self, values: Sequence[Any], grid: Grid) -> list[Any]:
        """Exchange values with the neighbours on a grid.

        Parameters
        ----------
        values : sequence
            The values for the neighbours, in the order of :meth:`Grid.neighbours`. A value for no rank, beyond an open end, is ignored.
        grid : Grid
            A grid with as many ranks as this communicator, the same on all ranks.

        Returns
        -------
        values : list
            The values of the neighbours in the same order; ``None`` beyond an open end.

        Examples
        --------
        >>> import lehr
        >>> line = lehr.ranks.Grid((3,))
        >>> lehr.ranks.run(lambda comm: comm.exchange([f"{comm.rank} down", f"{comm.rank} up"], line), ranks=3)
        [[None, '1 down'], ['0 up', '2 down'], ['1 up', None]]
        """
        if not isinstance(grid, Grid):
            raise TypeError(f"The 'grid' parameter must be a lehr.ranks.Grid. Got {type(grid).__name__} instead.")
        if grid.size != self.size:
            raise _checks.wrong("grid", f"a grid of {self.size} ranks", grid)
        outgoing = list(values)
        if len(outgoing) != 2 * len(grid.shape):
            raise _checks.wrong("values", f"{2 * len(grid.shape)} values, two for each dimension of the grid", f"{len(outgoing)} values")
        return self._native.exchange(list(zip(grid.shape, grid.periodic)), outgoing)

    def split(self, group: int | None, key: int = 0) -> Communicator | None:
        """Divide the ranks into groups. All ranks must make the call.

        Parameters
        ----------
        group : int or None
            The number of the group of this rank, 0 to 2**32 - 1. ``None`` means no group.
        key : int, default=0
            The place in the group: ranks are numbered by their keys, and ranks with the same key by their former numbers.

        Returns
        -------
        communicator : Communicator or None
            A communicator of the ranks with the same number, whose messages do not mix with those of other communicators.

        Examples
        --------
        >>> import lehr
        >>> def program(comm):
        ...     group = comm.split(comm.rank % 2)
        ...     return group.rank, group.all_gather(comm.rank)
        >>> lehr.ranks.run(program, ranks=4)
        [(0, [0, 2]), (0, [1, 3]), (1, [0, 2]), (1, [1, 3])]
        """
        part = self._native.split(None if group is None else checked_tag(group, "group"), operator.index(key))
        return None if part is None else Communicator(part, self._board, self._family)

    def duplicate(self) -> Communicator:
        """Create a communicator of the same ranks, whose messages do not mix with those of this communicator. All ranks must make the call.

        Returns
        -------
        duplicate : Communicator
            The new communicator.

        Examples
        --------
        >>> import lehr
        >>> def program(comm):
        ...     library = comm.duplicate()
        ...     library.send("for the library", to=comm.rank)
        ...     return comm.probe(wait=False), library.receive(comm.rank)
        >>> lehr.ranks.run(program, ranks=1)
        [(None, 'for the library')]
        """
        duplicate = self.split(0)
        assert duplicate is not None
        return duplicate

    def window(self, array: NDArray[Any]) -> Window:
        """Give all ranks access to an array of each rank. All ranks must make the call, and all must be threads of one process.

        Parameters
        ----------
        array : ndarray
            The array of this rank, which other ranks read and write. Types and shapes may differ between ranks.

        Returns
        -------
        window : Window
            The arrays of all ranks.

        Raises
        ------
        RuntimeError
            If the ranks are in several processes. Raised on all ranks.

        Examples
        --------
        See :class:`Window`.
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"The 'array' parameter must be a NumPy array. Got {type(array).__name__} instead.")
        key = (os.getpid(), id(array), threading.get_ident())
        # The array is alive and this thread is here until all ranks have taken what is on the board, so keys are unique.
        self._board[key] = (array, threading.RLock())
        try:
            keys = self.all_gather(key)
            if len({process for process, *_ in keys}) > 1:
                raise RuntimeError("a window needs ranks on threads of one process, but these ranks are in several processes. Send messages instead.")
            found = [self._board[key] for key in keys]
            self.barrier()
        finally:
            del self._board[key]
        return Window([array for array, _ in found], [lock for _, lock in found], self.barrier)

    def map_reduce(
        self,
        items: Iterable[Item],
        map: Callable[[Item], Iterable[tuple[Key, Mapped]]],
        reduce: Callable[[Key, list[Mapped]], Reduced],
        *,
        combine: Callable[[Key, list[Mapped]], Mapped] | None = None,
        everywhere: bool = False,
    ) -> dict[Key, Reduced]:
        """Group the values that a function finds in the items of all ranks by their keys, and reduce each group. All ranks must make the call.

        Parameters
        ----------
        items : iterable
            The items of this rank.
        map : callable
            A function of an item. It returns or yields pairs of a key and a value.
        reduce : callable
            A function of a key and the list of its values, in the order of ranks and items. It returns the result for the key.
        combine : callable, default=None
            A function like ``reduce`` that combines the values of one rank to one value before they are sent. It saves messages if a rank has many values of a key.
        everywhere : bool, default=False
            Whether each rank gets the results of all keys. Otherwise each key is on one rank.

        Returns
        -------
        results : dict
            The results by their keys.

        Raises
        ------
        TypeError
            If a key is not text, bytes, a number, ``None``, or a tuple or frozenset of them. Only such keys have the same hash in all processes.

        Notes
        -----
        Without ``combine``, the results do not depend on the number of ranks if the ranks hold consecutive items in their order. To iterate, call it in a
        loop: the program keeps what stays the same between the rounds, as Twister does.

        Examples
        --------
        >>> import lehr
        >>> lines = ["to be or", "not to be"]
        >>> def count(comm):
        ...     words = lambda line: ((word, 1) for word in line.split())
        ...     return comm.map_reduce(lines[comm.rank::comm.size], words, lambda word, ones: sum(ones), everywhere=True)
        >>> sorted(lehr.ranks.run(count, ranks=2)[0].items())
        [('be', 2), ('not', 1), ('or', 1), ('to', 2)]
        """
        return _map_reduce.map_reduce(self, items, map, reduce, combine, everywhere)
