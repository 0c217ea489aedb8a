"""Shows interactive reports in a notebook: the report of a run of the command, or of a fitted estimator (``model.show(X)``).

``lehr cluster``, ``lehr mixture``, ``lehr gtm``, ``lehr pairwise``, ``lehr kmedoids``, ``lehr embed`` and the demonstrations write a report ``report.html``
beside their results. A report has figures, sortable tables and interactive plots. It is a single file without external resources, so a notebook cell can show
it.
"""

from __future__ import annotations

import html
import os
from pathlib import Path

from lehr import _checks, _native
from lehr._names import listed

__all__ = ["Report", "show"]
__dir__ = listed(__all__)

_PAGE = "report.html"
#: The characters with which every report begins.
_BEGINNING = "<!doctype html"


class Report:
    """A report that the command wrote, or that ``show`` of an estimator created. A notebook displays it as the last value of a cell.

    The scripts of the report run in a sandboxed frame, which has no access to the notebook, its cells or its origin. The report is part of the cell's output,
    so a saved notebook shows it without the folder.

    Parameters
    ----------
    results : path-like
        The folder that the command wrote, or the report file itself.
    height : int, default=720
        The height of the frame, in pixels.

    Attributes
    ----------
    path : pathlib.Path or None
        The file of the report; ``None`` for the report of an estimator.
    page : str
        The report as HTML.
    height : int
        The height of the frame, in pixels.

    Raises
    ------
    OSError
        If there is no report, or it cannot be read.
    ValueError
        If the file is not an HTML file in UTF-8.

    Examples
    --------
    >>> import pathlib, tempfile, lehr
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> size = (folder / "report.html").write_text("<!doctype html><title>wine</title>")
    >>> lehr.report.Report(folder)._repr_html_().split()[0]
    '<iframe'
    """

    path: Path | None

    def __init__(self, results: str | os.PathLike[str], *, height: int = 720) -> None:
        self.height = _pixels(height)
        path = Path(results)
        path = path / _PAGE if path.is_dir() else path
        try:
            page = path.read_text(encoding="utf-8")
        except FileNotFoundError as cause:
            raise FileNotFoundError(cause.errno, f"there is no page. The command writes one beside its results: {cause.strerror}", str(path)) from cause
        except UnicodeDecodeError as cause:
            raise ValueError(f"{path} is no text: {cause}") from cause
        if not page.lstrip().lower().startswith(_BEGINNING):
            raise ValueError(f"{path} is no page in HTML.")
        self.path, self._title, self.page = path, str(path), page

    @classmethod
    def _of(cls, title: str, page: str, height: int) -> Report:
        """Creates the report of an estimator."""
        report = object.__new__(cls)
        report.path, report._title = None, title
        report.page, report.height = page, _pixels(height)
        return report

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a single file, which you can send to other people.

        Parameters
        ----------
        path : path-like
            The file to write. An existing file is replaced; if writing fails, no partial file remains.

        Raises
        ------
        OSError
            If the folder cannot be written to or the disk is full.

        Examples
        --------
        >>> import pathlib, tempfile, lehr
        >>> X = [[0.0, 1.0], [1.0, 1.5], [10.0, 2.0], [12.0, 1.0]]
        >>> path = pathlib.Path(tempfile.mkdtemp(), "clusters.html")
        >>> lehr.KMeans(2).fit(X).show(X).save(path)
        >>> path.read_text(encoding="utf-8")[:15]
        '<!doctype html>'
        """
        _native.write_bytes(path, self.page.encode())

    def __repr__(self) -> str:
        return f"Report({self._title!r})"

    def _repr_html_(self) -> str:
        # Without allow-same-origin, scripts in the frame have an opaque origin that nothing else shares.
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" sandbox="allow-scripts allow-downloads" width="100%" height="{self.height}" style="border:0" title="{html.escape(self._title)}"></iframe>'


def _pixels(height: int) -> int:
    pixels = _checks.integer("height", height)
    if not pixels:
        raise _checks.wrong("height", "pixels above 0", height)
    return pixels


def show(results: str | os.PathLike[str], *, height: int = 720) -> Report:
    """Show the report of a run of the command, as the last value of a cell.

    Parameters
    ----------
    results : path-like
        The folder that the command wrote (``--out``), or the report file itself.
    height : int, default=720
        The height of the frame, in pixels.

    Returns
    -------
    report : Report
        The report, which a notebook displays.

    Examples
    --------
    >>> import pathlib, tempfile, lehr
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> size = (folder / "report.html").write_text("<!doctype html><title>wine</title>")
    >>> lehr.report.show(folder, height=400).height
    400
    """
    return Report(results, height=height)
