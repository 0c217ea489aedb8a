"""The parts of a report: sections with text and tables, and figures that the report's script draws from numbers in the page."""

from __future__ import annotations

import base64
import html
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehr import _native

#: The numbers that the script reads as a missing label and as a missing share.
_NO_LABEL, _NO_SHARE = 65_535, 255


def _packed(values: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")


def floats(values: ArrayLike) -> str:
    """Encodes numbers in single precision: four bytes each, about seven digits."""
    with np.errstate(over="ignore"):
        return _packed(np.asarray(values, dtype=np.float64).astype("<f4"))


def rows(numbers: NDArray[Any]) -> str:
    """Encodes row numbers in four bytes each."""
    return _packed(numbers.astype("<u4"))


def labels(of: NDArray[Any]) -> str:
    """Encodes clusters in two bytes each; numbers below 0 or out of range become a missing label."""
    return _packed(np.where((of < 0) | (of >= _NO_LABEL), _NO_LABEL, of).astype("<u2"))


def probabilities(of: NDArray[Any]) -> str:
    """Encodes probabilities in two bytes each: 0 to 65,534 for 0 to 1. NaN becomes a missing probability."""
    known = np.isfinite(of)
    return _packed(np.where(known, np.rint((_NO_LABEL - 1) * np.clip(np.where(known, of, 0.0), 0.0, 1.0)), _NO_LABEL).astype("<u2"))


def shares(of: NDArray[np.float64]) -> str:
    """Encodes shares from 0 to 1 in one byte each; NaN becomes a missing share."""
    known = np.isfinite(of)
    return _packed(np.where(known, np.rint(254.0 * np.clip(np.where(known, of, 0.0), 0.0, 1.0)), _NO_SHARE).astype("u1"))


def figure(value: Any) -> str:
    """Formats a number for reading; leaves a name unchanged."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return f"{int(value):,}".replace("-", "−")
    if isinstance(value, (float, np.floating)):
        return f"{float(value):,.5g}".replace("-", "−") if math.isfinite(value) else "–"
    return str(value)


class Page:
    """A report under construction. Texts are escaped, so a name never becomes markup."""

    def __init__(self, headline: str, lead: str) -> None:
        self.headline, self.lead = headline, lead
        self._parts: list[str] = []
        self._figures: dict[str, Any] = {}

    def tiles(self, found: Iterable[tuple[str, Any]]) -> None:
        """Adds a row of names, each with its value in large type."""
        drawn = "".join(f'<div><dt>{html.escape(name)}</dt><dd class="big">{html.escape(figure(value))}</dd></div>' for name, value in found)
        self._parts.append(f'<dl class="tiles" aria-label="The result in figures">{drawn}</dl>')

    def section(self, place: str, title: str, note: str, *content: str) -> None:
        """Adds a section with a title and a note; ``place`` is the prefix of its title's id."""
        below = f'<p class="note">{html.escape(note)}</p>' if note else ""
        self._parts.append(
            f'<section class="card" aria-labelledby="{place}-title"><div class="head"><div><h2 id="{place}-title">{html.escape(title)}</h2>{below}</div></div>{"".join(content)}</section>'
        )

    def figure(self, place: str, drawn: dict[str, Any]) -> str:
        """Adds the data of a figure, and returns the element in which the script draws it."""
        self._figures[place] = drawn
        return f'<div class="figure" id="{place}"></div>'

    def html(self) -> str:
        """Returns the whole page."""
        return _native.report_page(self.headline, self.lead, "".join(self._parts), json.dumps({"figures": _plain(self._figures)}, allow_nan=False))


def table(place: str, label: str, head: Sequence[str], body: Iterable[tuple[int | None, Sequence[Any]]]) -> str:
    """Returns a table whose headers sort it. In the row of a cluster, the first cell shows the cluster's colour and selects the rows of the cluster."""
    lines = []
    for cluster, cells in body:
        first, *others = (html.escape(figure(cell)) for cell in cells)
        if cluster is None:
            lines.append(f'<tr><td>{first}</td>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>')
            continue
        mark = f'<button type="button" class="link" aria-label="Select the rows of cluster {cluster}"><i class="swatch" data-cluster="{cluster}"></i>{first}</button>'
        lines.append(f'<tr data-cluster="{cluster}"><td>{mark}</td>{"".join(f"<td>{cell}</td>" for cell in others)}</tr>')
    heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}"><table class="sortable" id="{place}"><thead><tr>{heads}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
    )


def facts(found: Sequence[tuple[str, Any]]) -> str:
    """Returns names and values in two lists side by side."""
    middle = (len(found) + 1) // 2
    lists = (found[:middle], found[middle:])
    drawn = ("".join(f"<div><dt>{html.escape(name)}</dt><dd>{html.escape(figure(value))}</dd></div>" for name, value in some) for some in lists)
    return f'<div class="sheets">{"".join(f"<dl>{some}</dl>" for some in drawn)}</div>'


def _plain(value: Any) -> Any:
    """Converts numbers to JSON values; a number that is not finite becomes null."""
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value
