"""Describes the cells that cause an error: their column, row and value, and what to do about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The maximum number of columns that a message names.
_NAMED = 10


def repeated_names(X: Any) -> str | None:
    """Returns a sentence if two columns of a data frame have the same name; otherwise ``None``."""
    twice = [repr(name) for name, count in Counter(map(str, _names(X))).items() if count > 1]
    if not twice:
        return None
    return f"X has several columns with one name: {_listed(twice)}. Rename them, so that messages and results can tell them apart."


def with_text(X: Any) -> str | None:
    """Returns sentences about the first text that is not a number; ``None`` if there is none."""
    found = _first(X, _is_no_number)
    if found is None:
        return None
    names, place, value = found
    told = f"X has text in column {names[0]}: expected numbers, found {value!r} in {place}."
    others = f" So have the columns {_listed(names[1:])}." if names[1:] else ""
    text = value if isinstance(value, str) else ""
    comma = f" To read {value!r} as a number, use lehr.read_table, or decimal=',' in pandas.read_csv." if _is_number(text.replace(",", ".")) else ""
    return f"{told}{others}\nlehr.TablePreparation().fit_transform(X) makes numbers of an ordinary table. Or leave such columns out.{comma}"


def with_times(X: Any) -> str | None:
    """Returns sentences about the first date or duration of a data frame; ``None`` if there is none."""
    found = _first(X, _is_time) if _names(X) else None
    if found is None:
        return None
    names, place, value = found
    others = f" So have the columns {_listed(names[1:])}." if names[1:] else ""
    return (
        f"X has dates or durations in column {names[0]}: expected numbers, found {value} in {place}.{others}\n"
        "lehr.TablePreparation(columns=list(X.columns)).fit_transform(X) counts dates in days. Or leave such columns out."
    )


def with_object(X: Any) -> str | None:
    """Returns sentences about the first value that is neither a number nor a text; ``None`` if there is none."""
    found = _first(X, _is_object)
    if found is None:
        return None
    names, place, value = found
    cure = "Give each number a column of its own" if isinstance(value, (Sequence, Mapping, np.ndarray)) else "Convert the column to numbers"
    return f"Column {names[0]} has a value of type {type(value).__name__}: expected numbers, found {value!r} in {place}.\n{cure}, or leave the column out."


def with_complex(X: Any) -> str | None:
    """Returns a sentence about the first complex number of a data frame; ``None`` if there is none."""
    found = _first(X, lambda values: np.full(len(values), values.dtype.kind == "c"))
    return None if found is None else f"Expected real numbers in column {found[0][0]}, found {found[2]} in {found[1]}. Use its real and imaginary parts as two columns."


def with_gaps(X: Any) -> str | None:
    """Returns a sentence about the first missing value; ``None`` if there is none."""
    found = _first(X, _is_missing)
    if found is None:
        return None
    names, place, _ = found
    return f"The first missing value is in column {names[0]}, {place}." + (f" The columns {_listed(names[1:])} have some too." if names[1:] else "")


def with_infinity(X: Any) -> str | None:
    """Returns a sentence about the first infinite value; ``None`` if there is none."""
    found = _first(X, _is_infinite)
    return None if found is None else f"The first one is in column {found[0][0]}, {found[1]}: {found[2]}. Replace such values by finite numbers, or drop these rows."


def _names(X: Any) -> list[Any]:
    """Returns the names of the columns of a data frame; an empty list for other objects."""
    names = getattr(X, "columns", None)
    return list(names) if names is not None and (hasattr(X, "iloc") or hasattr(X, "to_series")) else []


def _columns(X: Any) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yields the columns of a data frame or of an array, each with its name or its number."""
    for place, name in enumerate(_names(X)):
        column = X.iloc[:, place] if hasattr(X, "iloc") else X.to_series(place)
        yield repr(str(name)), np.asarray(column.to_numpy())
    if isinstance(X, np.ndarray) and X.ndim == 2:
        for place in range(X.shape[1]):
            yield str(place), X[:, place]


def _first(X: Any, is_bad: Callable[[NDArray[Any]], NDArray[np.bool_]]) -> tuple[list[str], str, Any] | None:
    """Returns the names of the columns with bad cells, the row of the first bad cell in the user's terms, and its value."""
    names: list[str] = []
    first: tuple[int, Any] | None = None
    for name, values in _columns(X):
        bad = is_bad(values)
        if bad.any():
            names.append(name)
            row = int(bad.argmax())
            first = first or (row, values[row])
    if first is None:
        return None
    row, value = first
    index = getattr(X, "index", None)
    # In a frame whose rows have names, the row number alone does not help the user.
    label = None if index is None or not hasattr(X, "iloc") or index[row] == row else index[row]
    return names, f"row {row}" + ("" if label is None else f" (index {label!r})"), value


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _is_no_number(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind not in "OUST":
        return np.zeros(len(values), dtype=bool)
    return np.array([isinstance(value, (str, bytes)) and not _is_number(value) for value in values], dtype=bool)


def _is_time(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind in "Mm":
        return ~np.isnat(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    # The attribute `year` identifies the periods of pandas. A missing date (NaT) does not equal itself.
    return np.array([(isinstance(value, (date, timedelta)) or hasattr(value, "year")) and bool(value == value) for value in values], dtype=bool)


def _is_object(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    is_missing = _is_missing(values)
    return np.array(
        [
            not gone and (isinstance(value, np.ndarray) or not (isinstance(value, (str, bytes)) or hasattr(value, "__float__")))
            for value, gone in zip(values, is_missing, strict=True)
        ],
        dtype=bool,
    )


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=bool)
    # pandas.NA equals nothing, and comparisons with it have no truth value.
    return np.array([value is None or type(value).__name__ == "NAType" or (not isinstance(value, np.ndarray) and value != value) for value in values], dtype=bool)


def _is_infinite(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isinf(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def _listed(names: list[str]) -> str:
    """Returns the first ten names, and the number of names that are left out."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
