"""Message passing between the threads of a script, and between the processes that ``mpiexec`` started.

:func:`run` calls a function once for each rank, with a :class:`Communicator`. A waiting rank releases the interpreter lock. For a given number of ranks, results are
bit-identical for any division into threads and processes.

=======================================================================================  ===========================================================
:meth:`~Communicator.send`, :meth:`~Communicator.receive`, :meth:`~Communicator.probe`   messages from one rank to another
:meth:`~Communicator.start_send`, :meth:`~Communicator.start_receive`, :class:`Request`  the same, completed later
:meth:`~Communicator.shift`, :meth:`~Communicator.exchange`, :class:`Grid`               values to and from neighbours on a ring or a grid
:meth:`~Communicator.barrier`                                                            wait until all ranks have arrived
:meth:`~Communicator.broadcast`, :meth:`~Communicator.scatter`                           send the root's value to all ranks; send each rank its part
:meth:`~Communicator.gather`, :meth:`~Communicator.all_gather`                           collect the values of all ranks at the root; at all ranks
:meth:`~Communicator.all_to_all`                                                         send each rank a value, and receive one from each
:meth:`~Communicator.reduce`, :meth:`~Communicator.all_reduce`                           combine the values of all ranks at the root; at all ranks
:meth:`~Communicator.reduce_scatter`, :meth:`~Communicator.scan`                         combine the values in parts; up to each rank
:meth:`~Communicator.map_reduce`                                                         group values by their keys, and reduce each group
:meth:`~Communicator.split`, :meth:`~Communicator.duplicate`                             communicators of some of the ranks; of all ranks
:meth:`~Communicator.window`, :class:`Window`                                            read and write the arrays of other threads
=======================================================================================  ===========================================================

Every call takes any value: arrays of numbers travel as their bytes, other values as pickles. All ranks must call collectives in the same order. If ranks pass
incompatible arrays, or different roots or operations, the call raises a ``ValueError`` on all ranks.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from lehr import _checks, _native, _progress
from lehr._communicator import Communicator
from lehr._grid import Grid
from lehr._messages import Status
from lehr._names import listed
from lehr._native import RankError
from lehr._requests import Persistent, Request, wait_all, wait_any
from lehr._window import Window

__all__ = ["Communicator", "Grid", "Persistent", "RankError", "Request", "Status", "Window", "run", "wait_all", "wait_any"]
__dir__ = listed(__all__)

T = TypeVar("T")

#: After Ctrl-C, Lehr waits this many seconds for the ranks to end, and then abandons them.
_GRACE = 0.5
#: The seconds between checks for signals while the main thread waits.
_TICK = 0.1


class _Thread(threading.Thread, Generic[T]):
    """The thread of a rank, with the value that the program returned or the error that it raised."""

    def __init__(self, program: Callable[[Communicator], T], native: _native.Communicator, board: dict[Any, Any]) -> None:
        # After Ctrl-C, ranks that still run must not keep the process alive.
        super().__init__(name=f"lehr-rank-{native.rank}", daemon=True)
        self.program = program
        self.native = native
        self.board = board
        self.returned: T | None = None
        self.raised: BaseException | None = None

    def run(self) -> None:
        _progress.RANK.size = self.native.size
        comm = Communicator(self.native, self.board)
        try:
            self.returned = self.program(comm)
        except BaseException as error:  # noqa: BLE001  the thread that started it raises it
            self.raised = error
        finally:
            comm._end()


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
    ...     total = comm.all_reduce(part.sum(axis=0))
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
    board: dict[Any, Any] = {}
    threads = [_Thread(program, native, board) for native in natives]
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
