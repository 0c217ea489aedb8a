"""Converts tables of pandas, Polars, Arrow and NumPy, and dictionaries of columns, to data frames of the Rust extension."""

from __future__ import annotations

import datetime
import json
import numbers
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from lehr import _checks, _native
from lehr._native import Fingerprints, Sequences

#: The key in pandas' ``DataFrame.attrs`` that records how each column was read.
ATTRIBUTE = "lehr"
#: How Lehr describes the reading of a column of Python's ``True`` and ``False``.
_TRUTH = {"kind": "truth", "yes": "True", "no": "False"}
#: A column in the form that the Rust extension takes: its name, kind, values and distinct texts, and how it was read, as JSON.
_Column = tuple[str, str, NDArray[Any], list[str], str | None]


class Columns:
    """The columns of a table, as the Rust extension reads them.

    ``names`` are the names of the columns. ``is_named`` says whether the table has these names; columns of arrays are numbered. ``is_of_kinds`` says whether
    columns may have different kinds: all columns of an array of numbers are measurements.
    """

    def __init__(self, table: Any) -> None:
        self.is_named, self.is_of_kinds = True, True
        known: dict[str, Any] = {}
        named: list[tuple[Any, Any]]
        if issparse(table):
            raise TypeError("Sparse data was passed, but dense data is required: X has columns of several kinds. Use X.toarray() to convert to a dense array.")
        if isinstance(table, (Sequences, Fingerprints)):
            raise TypeError(f"expected a table. Got {type(table).__name__}.")
        table = _checks.of_arrow(table)
        _checks._refuse_complex(table)
        if isinstance(table, Mapping):
            named = list(table.items())
        elif is_frame(table):
            known = dict(getattr(table, "attrs", {}).get(ATTRIBUTE, {}).get("columns", {}))
            named = _of_frame(table)
        elif isinstance(table, np.ndarray) and table.dtype.names is not None:
            named = [(name, table[name]) for name in table.dtype.names]
        else:
            array = as_array(table)
            self.is_named, self.is_of_kinds = False, array.dtype.kind == "O"
            named = [(f"x{place}", array[:, place]) for place in range(array.shape[1])]
        self.names: list[str] = [str(name) for name, _ in named]
        # As in scikit-learn, names that are not strings are ignored.
        self.is_named = self.is_named and all(isinstance(name, str) for name, _ in named)
        twice = {name for name in self.names if self.names.count(name) > 1}
        if twice:
            raise ValueError(f"X has several columns of one name: {', '.join(sorted(twice))}. Rename them.")
        self._columns = [_column(name, values, known.get(name)) for name, (_, values) in zip(self.names, named)]
        self._rows = len(self._columns[0][2]) if named else 0
        if not self._rows:
            raise ValueError(f"Found a table with 0 {'samples' if named else 'features'}: a minimum of 1 is required.")

    def __len__(self) -> int:
        """Returns the number of rows."""
        return self._rows

    @property
    def has_texts(self) -> bool:
        """Returns whether at least one column contains texts."""
        return any(kind == "texts" for _, kind, *_ in self._columns)

    def frame(self) -> _native.DataFrame:
        """Returns the table as a data frame of the Rust extension."""
        return _native.DataFrame(self._columns)

    def read_as(self) -> dict[str, dict[str, Any]]:
        """Describes how each column was read."""
        kinds = {"numbers": "number", "times": "date", "texts": "text"}
        return {name: {"kind": kinds[kind]} if read_as is None else json.loads(read_as) for name, kind, _, _, read_as in self._columns}

    def called(self, names: Iterable[str]) -> Columns:
        """Returns the same columns under other names."""
        other = object.__new__(Columns)
        other.is_named, other.is_of_kinds, other._rows = self.is_named, self.is_of_kinds, self._rows
        other.names = list(names)
        other._columns = [(name, *column[1:]) for name, column in zip(other.names, self._columns)]
        return other


def is_frame(table: Any) -> bool:
    """Returns whether an object has named columns, like a pandas or Polars frame or an Arrow table or batch."""
    return hasattr(table, "columns") and not isinstance(table, np.ndarray)


def _of_frame(table: Any) -> list[tuple[Any, Any]]:
    if hasattr(table, "get_columns"):
        return [(column.name, column) for column in table.get_columns()]
    if hasattr(table, "column_names"):
        return list(zip(table.column_names, table.columns))
    if not hasattr(table, "iloc"):
        raise TypeError(f"expected a table of pandas, Polars or Arrow, an array or a dictionary of columns. Got {type(table).__name__}.")
    return [(name, table.iloc[:, place]) for place, name in enumerate(table.columns)]


def as_array(table: Any) -> NDArray[Any]:
    """Converts rows to a two-dimensional array. In lists of numbers and texts, each value keeps its type."""
    array = table if hasattr(table, "dtype") else np.asarray(table)
    if array.dtype.kind in "US":
        array = np.asarray(table, dtype=object)
    return _checks.check_array(array, dtype=None, ensure_all_finite=False, input_name="X")


def _column(name: str, values: Any, known: dict[str, Any] | None) -> _Column:
    """Converts a column of any kind. Keeps how the column was read, if this is known and still fits the values."""
    kind, found, levels, read_as = _read(name, values)
    if known is not None and _fits(kind, found, read_as, known):
        read_as = known
    return name, kind, found, levels, None if read_as is None else json.dumps(read_as)


def _fits(kind: str, values: NDArray[Any], read_as: dict[str, Any] | None, known: dict[str, Any]) -> bool:
    """Returns whether the values still fit the way in which they were read from the file: the frame may have changed since then."""
    if known.get("kind") == "truth":
        return read_as is _TRUTH or (kind == "numbers" and bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all()))
    return read_as is None and kind == {"text": "texts", "date": "times"}.get(known.get("kind", ""), "numbers")


def _read(name: str, values: Any) -> tuple[str, NDArray[Any], list[str], dict[str, Any] | None]:
    """Returns the kind of a column, its values and its distinct texts, and how the column was read if the kind does not imply this."""
    if hasattr(values, "to_numpy") and hasattr(values, "is_null"):
        values = _of_arrow_or_polars(values)
    elif hasattr(values, "cat") and str(getattr(values, "dtype", "")) == "category":
        # Each category is converted to a Python string only once.
        known = [_text(level) for level in values.cat.categories]
        codes = np.asarray(values.cat.codes, dtype=np.int64)
        return "texts", codes, known, None
    elif hasattr(values, "dt") and hasattr(values, "isna") and hasattr(values.dt, "tz_convert") and values.dt.tz is not None:
        values = values.dt.tz_convert(None).to_numpy()
    elif hasattr(values, "isna") and str(values.dtype).startswith("period"):
        values = values.dt.to_timestamp().to_numpy()
    elif hasattr(values, "isna") and not isinstance(values.dtype, np.dtype):
        values = _of_extension(values)
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"column {name!r}: expected one value a row. Got an array of shape {array.shape}.")
    if array.dtype.kind == "b":
        return "numbers", array.astype(np.float64), [], _TRUTH
    if array.dtype.kind in "iuf":
        return "numbers", np.ascontiguousarray(array, dtype=np.float64), [], None
    if array.dtype.kind == "M":
        return "times", _seconds(array), [], None
    if array.dtype.kind == "m":
        return "numbers", _seconds(array), [], None
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{name}\n")
    return _of_objects(array.astype(object) if array.dtype.kind != "O" else array)


def _seconds(times: NDArray[Any]) -> NDArray[np.float64]:
    """Converts times or durations to seconds. A missing time becomes NaN."""
    seconds = times.astype(f"{times.dtype.kind}8[us]").astype(np.int64) / 1e6
    seconds[np.isnat(times)] = np.nan
    return seconds


def _of_extension(values: Any) -> Any:
    """Converts a column of one of pandas' extension types."""
    kind = str(values.dtype).lower()
    if kind.startswith(("int", "uint", "float", "double")):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind.startswith("sparse"):
        return np.asarray(values)
    gone = values.isna().to_numpy()
    found = values.astype(object).to_numpy(copy=True)
    found[gone] = None
    return found


def _of_arrow_or_polars(values: Any) -> Any:
    """Converts a column of Polars or Arrow: numbers through NumPy, other values one by one."""
    kind = str(getattr(values, "dtype", getattr(values, "type", ""))).lower()
    if kind.startswith(("int", "uint", "float", "double", "decimal", "halffloat")):
        if hasattr(values, "cast") and hasattr(values, "rechunk"):
            import polars

            return values.cast(polars.Float64).to_numpy()
        return np.array([np.nan if value is None else float(value) for value in values.to_pylist()]) if values.null_count else np.asarray(values.to_numpy())
    listed = values.to_list() if hasattr(values, "to_list") else values.to_pylist()
    found = np.empty(len(listed), dtype=object)
    found[:] = listed
    return found


def _is_gap(value: Any) -> bool:
    """Returns whether a value is missing: ``None``, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    return type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, (np.datetime64, np.timedelta64)) and bool(np.isnat(value)))


def _of_objects(array: NDArray[Any]) -> tuple[str, NDArray[Any], list[str], dict[str, Any] | None]:
    """Converts a column of objects. If all present values have one kind, the column has this kind; otherwise it has texts."""
    there = [value for value in array if not _is_gap(value)]
    if there and all(isinstance(value, (bool, np.bool_)) for value in there):
        return "numbers", _filled(array, float), [], _TRUTH
    if not there or all(_is_number(value) for value in there):
        return "numbers", _filled(array, float), [], None
    if all(isinstance(value, (datetime.date, np.datetime64)) for value in there):
        return "times", _filled(array, _second), [], None
    if all(isinstance(value, (datetime.timedelta, np.timedelta64)) for value in there):
        return "numbers", _filled(array, lambda span: float(np.timedelta64(span, "us").astype(np.int64)) / 1e6), [], None
    if all(isinstance(value, datetime.time) for value in there):
        return "numbers", _filled(array, lambda time: 3600.0 * time.hour + 60.0 * time.minute + time.second + 1e-6 * time.microsecond), [], {"kind": "time_of_day"}
    places: dict[str, int] = {}
    codes = np.full(len(array), -1, dtype=np.int64)
    for row, value in enumerate(array):
        if not _is_gap(value):
            codes[row] = places.setdefault(_text(value), len(places))
    return "texts", codes, list(places), None


def _is_number(value: Any) -> bool:
    # Python's Decimal is not registered as a Real.
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) or type(value).__name__ == "Decimal"


def _filled(array: NDArray[Any], number: Any) -> NDArray[np.float64]:
    return np.array([np.nan if _is_gap(value) else number(value) for value in array], dtype=np.float64)


def _second(time: Any) -> float:
    """Converts a date or time to seconds since 1970. A time without a time zone counts as UTC."""
    if isinstance(time, datetime.datetime):
        time = time.replace(tzinfo=time.tzinfo or datetime.timezone.utc)
        return (time - datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds()
    return float(np.datetime64(time, "us").astype(np.int64)) / 1e6


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
