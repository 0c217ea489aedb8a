"""One-sided access to the arrays of other ranks in the same process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehr import _checks, _combining


class Window:
    """The arrays of all ranks, each of which may be read and written by every rank. :meth:`Communicator.window` creates a window.

    Each call locks the array that it reads or writes, so calls do not disturb each other. Between calls, :meth:`fence` separates rounds of writing from rounds of
    reading. The window does not copy: a rank sees writes to its own array at once.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> def program(comm):
    ...     counts = np.zeros(comm.size, dtype=int)
    ...     window = comm.window(counts)
    ...     for rank in range(comm.size):
    ...         window.accumulate(1 + comm.rank, rank, index=comm.rank)
    ...     window.fence()
    ...     return counts.tolist()
    >>> lehr.ranks.run(program, ranks=2)
    [[1, 2], [1, 2]]
    """

    def __init__(self, arrays: list[NDArray[Any]], locks: list[threading.RLock], fence: Callable[[], None]) -> None:
        self._arrays = arrays
        self._locks = locks
        self._fence = fence

    def __repr__(self) -> str:
        return f"<Window: {len(self._arrays)} arrays>"

    def _array(self, rank: int) -> NDArray[Any]:
        number = _checks.integer("rank", rank)
        if number is None or number >= len(self._arrays):
            raise _checks.wrong("rank", f"a rank from 0 to {len(self._arrays) - 1}", rank)
        return self._arrays[number]

    def fence(self) -> None:
        """Wait until all ranks have come here. All accesses before are then visible to all ranks.

        Returns
        -------
        None

        Examples
        --------
        See :class:`Window`.
        """
        self._fence()

    @contextmanager
    def lock(self, rank: int) -> Iterator[None]:
        """Keep other ranks from an array during several accesses.

        Parameters
        ----------
        rank : int
            The rank whose array is locked.

        Returns
        -------
        context : context manager
            The lock, for a ``with`` statement.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def program(comm):
        ...     window = comm.window(np.zeros(1))
        ...     with window.lock(0):
        ...         window.put(2 * window.get(0) + 1, 0)
        ...     window.fence()
        ...     return window.get(0).item()
        >>> lehr.ranks.run(program, ranks=3)
        [7.0, 7.0, 7.0]
        """
        self._array(rank)
        with self._locks[rank]:
            yield

    def get(self, rank: int, index: Any = ...) -> NDArray[Any]:
        """Return a copy of the values of a rank.

        Parameters
        ----------
        rank : int
            The rank.
        index : index, default=...
            What to read, as NumPy indexes an array: ``3``, ``slice(0, 2)``, an array of indices. All values by default.

        Returns
        -------
        values : ndarray
            A new array.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def program(comm):
        ...     window = comm.window(np.arange(4) + 10 * comm.rank)
        ...     return window.get(1 - comm.rank, slice(1, 3)).tolist()
        >>> lehr.ranks.run(program, ranks=2)
        [[11, 12], [1, 2]]
        """
        array = self._array(rank)
        with self._locks[rank]:
            return np.array(array[index])

    def put(self, values: ArrayLike, rank: int, index: Any = ...) -> None:
        """Overwrite values of a rank.

        Parameters
        ----------
        values : array-like
            The new values. NumPy broadcasts them to the shape of what they overwrite.
        rank : int
            The rank.
        index : index, default=...
            What to overwrite; the same as for :meth:`get`.

        Returns
        -------
        None

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def program(comm):
        ...     mine = np.zeros(2)
        ...     window = comm.window(mine)
        ...     window.put(comm.rank + 1, 1 - comm.rank, index=0)
        ...     window.fence()
        ...     return mine.tolist()
        >>> lehr.ranks.run(program, ranks=2)
        [[2.0, 0.0], [1.0, 0.0]]
        """
        array = self._array(rank)
        with self._locks[rank]:
            array[index] = values

    def accumulate(self, values: ArrayLike, rank: int, op: _combining.Operation = "sum", index: Any = ...) -> NDArray[Any]:
        """Combine values with values of a rank, in one step that no other access interrupts.

        Parameters
        ----------
        values : array-like
            The values to combine.
        rank : int
            The rank whose values are overwritten with the result.
        op : {'sum', 'prod', 'min', 'max', 'and', 'or', 'xor'} or callable, default='sum'
            The operation. A function gets the present values and the new values.
        index : index, default=...
            What to overwrite; the same as for :meth:`get`. An index that is repeated counts once, as in ``array[index] += values`` of NumPy.

        Returns
        -------
        values : ndarray
            A copy of the values before.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> def program(comm):
        ...     window = comm.window(np.zeros(1, dtype=int))
        ...     ticket = window.accumulate(1, 0, index=0)
        ...     return int(ticket)
        >>> sorted(lehr.ranks.run(program, ranks=3))
        [0, 1, 2]
        """
        _combining.check(op)
        array = self._array(rank)
        with self._locks[rank]:
            before = np.array(array[index])
            result = np.asarray(_combining.folded([before, np.asarray(values)], op))
            if not np.can_cast(result.dtype, array.dtype, "same_kind"):
                raise TypeError(f"The result has the type {result.dtype}, which an array of {array.dtype} cannot hold.")
            array[index] = result
        return before
