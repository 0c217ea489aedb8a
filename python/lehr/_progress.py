"""Progress on standard error, combined with the user's callback."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from lehr import _checks, _native
from lehr._native import Progress

#: In a thread that runs a program of ``lehr.ranks``, ``size`` is the number of ranks.
RANK = threading.local()

Callback = Callable[[Progress], object]


class _Line:
    """Shows progress on standard error. On a terminal, it overwrites one line; elsewhere, it prints a line for each tenth of the run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tenth = -1

    def __call__(self, progress: Progress) -> None:
        tenth = int(progress.fraction * 10)
        text = f"{self.name}: {progress.stage}, {progress.fraction:4.0%}"
        if progress.n_clusters is not None:
            text += f", {progress.n_clusters} clusters"
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text}\x1b[K")
        elif tenth > self.tenth:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        self.tenth = max(tenth, self.tenth)

    def end(self) -> None:
        if sys.stderr.isatty() and self.tenth >= 0:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class _Bar:
    """Shows progress as a bar in a notebook, redrawn in place."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.shown: Any = None
        self.percent = -1

    def __call__(self, progress: Progress) -> None:
        percent = int(progress.fraction * 100)
        if percent > self.percent:
            self.percent = percent
            self._show(f"{progress.stage}, {percent} %")

    def end(self) -> None:
        if self.shown is not None:
            self._show("ended" if self.percent < 100 else "done")

    def _show(self, text: str) -> None:
        from IPython.display import HTML, display

        bar = HTML(f'<progress value="{self.percent}" max="100"></progress> {self.name}: {text}')
        if self.shown is None:
            self.shown = display(bar, display_id=True)
        else:
            self.shown.update(bar)


def _is_notebook() -> bool:
    """Returns whether this process is the kernel of a notebook. Does not import IPython, because a kernel has already imported it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


class Run(NamedTuple):
    """The arguments of a run that an estimator passes to the Rust extension, in addition to the data."""

    #: The parameters of the method, as JSON.
    parameters: str
    threads: int | None
    callback: Callback | None
    checkpoint: Any


class Watch:
    """The callbacks of a run: the progress line or bar, if there is one, and then the user's callback. Use this class in a ``with`` statement."""

    def __init__(self, name: str, verbose: object, callback: object, checkpoint: Any = None) -> None:
        ranks = getattr(RANK, "size", None)
        if ranks is not None:
            what = name if name == "pairwise_distances" else f"{name}.fit"
            raise RuntimeError(
                f"{what} was called in a program of lehr.ranks, by one of its {ranks} ranks. It computes on all ranks by itself: call it outside of lehr.ranks.run, "
                "with all rows; where each rank holds some, return them from the program, or bring them together with comm.gather."
            )
        self.checkpoint = checkpoint
        if callback is not None and not callable(callback):
            raise TypeError(f"The 'callback' parameter must be callable or None. Got {callback!r} instead.")
        # Only one of several processes shows progress.
        self._line: _Line | _Bar | None = None
        if verbose and _native.process()[0] == 0:
            self._line = _Bar(name) if _is_notebook() else _Line(name)
        self._callback = callback

    def __enter__(self) -> Watch:
        return self

    @property
    def callback(self) -> Callback | None:
        return self._callback if self._line is None else self._both

    def run(self, parameters: dict[str, Any], n_jobs: object) -> Run:
        """Returns the arguments of a run with these parameters. ``n_jobs`` has the same meaning as in scikit-learn."""
        return Run(json.dumps(parameters), _checks.threads(n_jobs), self.callback, self.checkpoint)

    def _both(self, progress: Progress) -> object:
        assert self._line is not None
        self._line(progress)
        return True if self._callback is None else self._callback(progress)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._line is not None:
            self._line.end()
        # Exceptions in Python 3.10 do not have add_note.
        if isinstance(error, (KeyboardInterrupt, _native.Stopped)) and hasattr(error, "add_note"):
            if self.checkpoint is not None and os.path.exists(self.checkpoint):
                error.add_note(f"The run is kept in {os.fspath(self.checkpoint)}: the same fit goes on from it.")
            elif self.checkpoint is None:
                error.add_note("Nothing of the run is kept: give the estimator a file, checkpoint=..., to go on where it was stopped.")
