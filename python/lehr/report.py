"""The interactive report of the command, shown in a notebook.

``lehr cluster``, ``lehr mixture``, ``lehr gtm``, ``lehr pairwise``, ``lehr kmedoids``, ``lehr embed`` and the demonstrations write a page ``report.html`` beside
their results. It has figures, tables that you can sort, and pictures that you can explore. It is one file that loads nothing, so a cell of your notebook can show it as
it is.
"""

from __future__ import annotations

import html
import os
from pathlib import Path

from lehr import _checks
from lehr._names import listed

__all__ = ["Report", "show"]
__dir__ = listed(__all__)

_PAGE = "report.html"
#: How a page of the command begins.
_BEGINNING = "<!doctype html"


class Report:
    """A page that the command wrote; as the last value of a notebook's cell it is shown there.

    Its scripts run in a frame of their own, which cannot reach the notebook, its cells or the network address that it came from. The page is a part of the cell's output, so a notebook that is kept shows it without the folder.

    Parameters
    ----------
    results : path-like
        The folder that the command wrote, or the page itself.
    height : int, default=720
        Of the frame, in pixels.

    Attributes
    ----------
    path : pathlib.Path
        The page.
    page : str
        The report as HTML.
    height : int
        Of the frame.

    Raises
    ------
    OSError
        If there is no page.
    ValueError
        If the file is no page of the command's.

    Examples
    --------
    >>> import pathlib, tempfile, lehr
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> size = (folder / "report.html").write_text("<!doctype html><title>wine</title>")
    >>> lehr.report.Report(folder)._repr_html_().split()[0]
    '<iframe'
    """

    def __init__(self, results: str | os.PathLike[str], *, height: int = 720) -> None:
        pixels = _checks.integer("height", height)
        if not pixels:
            raise _checks.wrong("height", "pixels above 0", height)
        path = Path(results)
        self.path, self.height = path / _PAGE if path.is_dir() else path, pixels
        try:
            self.page = self.path.read_text(encoding="utf-8")
        except FileNotFoundError as cause:
            raise FileNotFoundError(cause.errno, f"there is no page. The command writes one beside its results: {cause.strerror}", str(self.path)) from cause
        except UnicodeDecodeError as cause:
            raise ValueError(f"{self.path} is no text: {cause}") from cause
        if not self.page.lstrip().lower().startswith(_BEGINNING):
            raise ValueError(f"{self.path} is no page in HTML.")

    def __repr__(self) -> str:
        return f"Report({str(self.path)!r})"

    def _repr_html_(self) -> str:
        # Without the right to its origin a script in it has none that anything else has.
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}" style="border:0" title="{html.escape(str(self.path))}"></iframe>'


def show(results: str | os.PathLike[str], *, height: int = 720) -> Report:
    """The page of a run of the command, to end a cell with.

    Parameters
    ----------
    results : path-like
        The folder that the command wrote (``--out``), or the page itself.
    height : int, default=720
        Of the frame, in pixels.

    Returns
    -------
    report : Report
        Shown by notebooks.

    Examples
    --------
    >>> import pathlib, tempfile, lehr
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> size = (folder / "report.html").write_text("<!doctype html><title>wine</title>")
    >>> lehr.report.show(folder, height=400).height
    400
    """
    return Report(results, height=height)
