"""The end of a Python process that is one of several of an MPI job.

There are two ends only: all processes finish together, or one ends them all. An exception that is not caught is the second kind, because the others wait for
the process that it ends.
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
    # The launcher ends the others once one is gone without a word.
    os._exit(_FAILED)


def install() -> None:
    """Makes this process end its job in one of the two ways."""
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
    """The rank of this process and the number of processes in the job that ``mpiexec`` started.

    The first call joins the job, and waits until all processes have made their first call of lehr.

    Returns
    -------
    number : int
        From 0. Process 0 shows progress and warnings.
    count : int
        1 for a single process.

    Examples
    --------
    >>> import lehr
    >>> lehr.process()
    (0, 1)
    """
    return _native.process()
