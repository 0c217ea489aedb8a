"""Ends a Python process that belongs to an MPI job of several processes.

Either all processes finish together, or one process aborts the job. An uncaught exception aborts the job, because the other processes would wait for the failed
process.
"""

from __future__ import annotations

import atexit
import os
import sys
from types import TracebackType

from lehr import _native

_FAILED = 1


def _finish() -> None:
    if not _native.is_joined():
        return
    try:
        _native.finish()
    except BaseException as error:  # noqa: BLE001  whatever it is, the others must not wait
        sys.stderr.write(f"lehr: the MPI job did not end well: {error}\n")
        sys.stderr.flush()
        _abort()


def _abort() -> None:
    _native.abort(_FAILED)
    # The launcher ends the other processes when this process exits without finishing the job.
    os._exit(_FAILED)


def install() -> None:
    """Makes this process finish the job at its exit, and abort the job after an uncaught exception."""
    atexit.register(_finish)
    former = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        former(kind, error, trace)
        if _native.is_joined():
            sys.stdout.flush()
            sys.stderr.flush()
            _abort()

    sys.excepthook = hook


def process() -> tuple[int, int]:
    """Return the rank of this process, and the number of processes in the job that ``mpiexec`` started.

    The first call joins the job, and waits until every process has joined it.

    Returns
    -------
    number : int
        The rank, from 0. Only process 0 shows progress and warnings.
    count : int
        The number of processes; 1 without ``mpiexec``.

    Examples
    --------
    >>> import lehr
    >>> lehr.process()
    (0, 1)
    """
    return _native.process()
