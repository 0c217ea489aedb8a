"""Reads tables from files, and describes them column by column."""

from __future__ import annotations

import codecs
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import IO, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from lehr import _checks, _native
from lehr._columns import ATTRIBUTE, Columns
from lehr._names import listed

__all__ = ["ColumnAccount", "ColumnAccounts", "describe_columns", "read_table"]
__dir__ = listed(__all__)

#: Python's encodings, and their names in the Rust extension.
_ENCODINGS = {
    "ascii": "utf-8",
    "utf-8": "utf-8",
    "utf-8-sig": "utf-8",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "iso8859-1": "windows-1252",
    "cp1252": "windows-1252",
}
_DATES = ("day_first", "month_first", "year_first")


@dataclass(frozen=True)
class ColumnAccount:
    """The description of a column.

    Attributes
    ----------
    name : str
        The name of the column; ``x0``, ``x1`` and so on for columns of arrays.
    role : str
        ``'measure'``, ``'category'``, ``'date'``, ``'id'``, ``'text'``, ``'constant'``, ``'empty'`` or ``'duplicate'``.
    reason : str or None
        The reason for the role, if the values alone don't show the reason.
    duplicate_of : str or None
        For a duplicate, the name of the column with the same values.
    read_as : str
        How the column was read, such as ``"number, decimal ',', €"``.
    rows, missing, distinct : int
        The numbers of rows in the table, of missing values, and of distinct values.
    low, high : float, numpy.datetime64 or None
        The smallest and the largest value of numbers or dates.
    median, mean, deviation, skewness : float or None
        Statistics of numbers. ``deviation`` is the standard deviation of the population. ``skewness`` is the mean cube of the standardised values.
    log_skewness : float or None
        The skewness of the logarithms, if no value is below 0.
    dominant : tuple of (int, float) or None
        If at most 1 % of the rows cause at least 90 % of the variance, the number of these rows and their share of the variance.
    levels : tuple of (str, int)
        Up to five of the most frequent texts, with their numbers of rows.
    is_used : bool or None
        Whether a preparation uses the column; ``None`` without a preparation.
    use : str or None
        How a preparation uses the column, or why it does not use the column.

    Examples
    --------
    >>> import lehr
    >>> age = lehr.describe_columns({"age": [31.0, 45.0, None, 38.0]})["age"]
    >>> age.role, age.missing, age.median
    ('measure', 1, 38.0)
    """

    name: str
    role: str
    reason: str | None
    duplicate_of: str | None
    read_as: str
    rows: int
    missing: int
    distinct: int
    low: float | np.datetime64 | None = None
    high: float | np.datetime64 | None = None
    median: float | None = None
    mean: float | None = None
    deviation: float | None = None
    skewness: float | None = None
    log_skewness: float | None = None
    dominant: tuple[int, float] | None = None
    levels: tuple[tuple[str, int], ...] = ()
    is_used: bool | None = None
    use: str | None = None

    @classmethod
    def _of(cls, told: dict[str, Any]) -> ColumnAccount:
        """Converts the Rust extension's description of a column."""
        facts = told["facts"]
        found: dict[str, Any] = {}
        if isinstance(facts, dict) and "numbers" in facts:
            of_numbers = facts["numbers"]
            found = {name: of_numbers.get(name) for name in ("low", "high", "median", "mean", "deviation", "skewness", "log_skewness")}
            dominant = of_numbers.get("dominant")
            found["dominant"] = None if dominant is None else (dominant["rows"], dominant["share"])
        elif isinstance(facts, dict) and "times" in facts:
            found = {name: _time(facts["times"][name]) for name in ("low", "high")}
        elif isinstance(facts, dict):
            found["levels"] = tuple((text, count) for text, count in facts["levels"])
        return cls(
            name=told["name"],
            role=told["role"],
            reason=told.get("reason"),
            duplicate_of=told.get("of"),
            read_as=told["shown"],
            rows=told["rows"],
            missing=told["missing"],
            distinct=told["distinct"],
            is_used=told.get("is_used"),
            use=told.get("how"),
            **found,
        )


class ColumnAccounts(Sequence[ColumnAccount]):
    """The descriptions of a table's columns, in their order. Printing them shows a line for each column.

    Parameters
    ----------
    columns : sequence of ColumnAccount
        The description of each column.
    text : str
        The text that printing shows.

    Examples
    --------
    >>> import lehr
    >>> accounts = lehr.describe_columns({"city": ["Bern", "Basel", "Bern"], "rent": [1200.0, 1450.0, 990.0]})
    >>> accounts
    column  role      read as  missing  range         use
    city    category  text     -        2 texts
    rent    measure   number   -        990 to 1,450
    >>> accounts[0].levels, accounts["rent"].high
    ((('Bern', 2), ('Basel', 1)), 1450.0)
    """

    def __init__(self, columns: Sequence[ColumnAccount], text: str) -> None:
        self._columns, self._text = tuple(columns), text

    @classmethod
    def _of(cls, told: Mapping[str, Any]) -> ColumnAccounts:
        return cls([ColumnAccount._of(column) for column in told["columns"]], told["text"])

    def __len__(self) -> int:
        return len(self._columns)

    def __iter__(self) -> Iterator[ColumnAccount]:
        return iter(self._columns)

    @overload
    def __getitem__(self, key: int | str) -> ColumnAccount: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[ColumnAccount, ...]: ...
    def __getitem__(self, key: int | str | slice) -> ColumnAccount | tuple[ColumnAccount, ...]:
        """Returns the column at a position or with a name, or several columns for a slice."""
        if not isinstance(key, str):
            return self._columns[key]
        for column in self._columns:
            if column.name == key:
                return column
        raise KeyError(key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnAccounts) and self._columns == other._columns

    def __hash__(self) -> int:
        return hash(self._columns)

    def __repr__(self) -> str:
        return self._text.rstrip("\n")

    def to_frame(self) -> Any:
        """Return the descriptions as a table.

        Returns
        -------
        pandas.DataFrame
            A row for each column, with its name as the index, and a column for each attribute of :class:`ColumnAccount`.

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import lehr
        >>> lehr.describe_columns({"rent": [1200.0, 1450.0, 990.0]}).to_frame()["median"].tolist()
        [1200.0]
        """
        import pandas

        return pandas.DataFrame([vars(column) for column in self._columns]).set_index("name")


def _time(seconds: float) -> np.datetime64:
    """Converts seconds since 1970 to a time."""
    return np.datetime64(round(seconds * 1e6), "us")


def describe_columns(X: Any) -> ColumnAccounts:
    """Describe each column of a table: its role, missing values, range and skewness.

    The description shows which columns are measurements that clustering can use, and which are identifiers, categories, dates or texts. ``lehr cluster FILE``
    shows the same description.

    Parameters
    ----------
    X : table of pandas, Polars or Arrow, dict of columns, or array-like of shape (n_samples, n_columns)
        The table. For a data frame from :func:`read_table`, columns are described as they were in the file. Columns of an array are named ``x0``, ``x1`` and so
        on.

    Returns
    -------
    ColumnAccounts
        A :class:`ColumnAccount` for each column.

    Raises
    ------
    ValueError
        If the table has no rows or columns, or infinite numbers; the message gives their positions.

    Examples
    --------
    >>> import lehr
    >>> lehr.describe_columns({"id": [103, 101, 102], "member": [True, False, True], "joined": ["2024-01-05", "2024-03-01", ""]})
    column  role      read as                            missing  range    use
    id      id        number                             -        101 to 103   a different whole number in each row, and a name of identifiers
    member  category  yes or no ("True" is 1, "False" is 0)  -    0 to 1   yes or no
    joined  text      text                               33 %     2 texts  most of its texts are numbers or dates, and it is read as text
    """
    return ColumnAccounts._of(Columns(X).frame().describe())


def read_table(
    source: str | PathLike[str] | bytes | IO[Any],
    *,
    decimal: str | None = None,
    dates: Literal["day_first", "month_first", "year_first"] | None = None,
    missing: str | Sequence[str] = (),
    encoding: str | None = None,
    skip_lines: int | None = None,
    sheet: str | int | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    text: str | Sequence[str] = (),
    number: str | Sequence[str] = (),
) -> Any:
    """Read a table from an export, a spreadsheet or JSON, with currency signs, decimal commas, missing values, dates, titles and totals.

    Lehr detects the format of each column from all of its values. Lehr warns you of each unusual or ambiguous decision, which you can override with a
    parameter. The command reads files in the same way.

    Parameters
    ----------
    source : path-like, bytes or file-like
        Delimited text (also gzip-compressed), an Excel or OpenDocument workbook, JSON lines, an array of JSON objects, Parquet, or NPY. The URL of an object
        in S3 (``s3://bucket/key``) or of a file on a web server will do as well.
    decimal : {'.', ','}, default=None
        The decimal separator. With ``None``, Lehr detects it for each column.
    dates : {'day_first', 'month_first', 'year_first'}, default=None
        The order of dates such as ``3/4/2021``. With ``None``, Lehr detects it.
    missing : str or sequence of str, default=()
        Further texts that stand for a missing value, such as ``'-999'``, in addition to empty fields, ``NA``, ``N/A``, ``null`` and similar texts.
    encoding : str, default=None
        The character encoding: ``'utf-8'``, ``'utf-16-le'``, ``'utf-16-be'``, ``'latin-1'`` or ``'cp1252'``. With ``None``, Lehr detects it.
    skip_lines : int, default=None
        The number of lines to skip above the header. With ``None``, Lehr detects it.
    sheet : str or int, default=None
        The sheet of a workbook, by its name or by its number, counted from 1. ``None`` means the first sheet with a table.
    delimiter : str, default=None
        The delimiter. With ``None``, Lehr detects it.
    header : bool, default=None
        Whether the table has a header of column names. With ``None``, Lehr detects it.
    text : str or sequence of str, default=()
        The columns to read as text, whatever they contain. Numbers in these columns become categories.
    number : str or sequence of str, default=()
        The columns to read as numbers, even if they look like codes (``00042``), dates, or yes and no. A value that is not a number is an error.

    Returns
    -------
    pandas.DataFrame or dict of str to ndarray
        A data frame if pandas is installed, otherwise an array for each column. Numbers become float64, and dates datetime64. Yes and no become bool, or
        float64 with NaN if values are missing. Everything else becomes text. ``attrs['lehr']`` of the frame describes how the file was read: ``columns``,
        ``dialect`` and ``notes``.

    Raises
    ------
    ValueError
        If the file is not a valid table. The message lists the first ten errors with their lines and columns.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import io, lehr
    >>> table = lehr.read_table(io.StringIO("Name;Umsatz;seit\\nA;1.818,99 €;2021-04-23\\nB;n/a;2023-12-02\\n"))
    >>> table["Umsatz"].tolist(), str(table["seit"][0].date())
    ([1818.99, nan], '2021-04-23')
    >>> lehr.describe_columns(table)["Umsatz"].read_as
    "number, decimal ',', thousands '.', €"
    """
    form: dict[str, Any] = {"missing": _texts("missing", missing), "text": _texts("text", text), "number": _texts("number", number)}
    if decimal is not None:
        form["decimal"] = _checks.choice("decimal", decimal, (".", ","))
    if dates is not None:
        form["dates"] = _checks.choice("dates", dates, _DATES)
    if skip_lines is not None:
        form["skip"] = _checks.integer("skip_lines", skip_lines)
    if sheet is not None:
        form["sheet"] = str(sheet)
    if header is not None:
        form["header"] = bool(header)
    if delimiter is not None:
        if not isinstance(delimiter, str) or len(delimiter) != 1 or not delimiter.isascii():
            raise _checks.wrong("delimiter", "one ASCII character", delimiter)
        form["delimiter"] = delimiter
    if encoding is not None:
        form["encoding"] = _encoding(encoding)
    named = "the table"
    file: str | bytes
    if isinstance(source, (str, os.PathLike)):
        file = os.fspath(source)
    elif isinstance(source, bytes):
        file = source
    else:
        named = str(getattr(source, "name", named))
        content = source.read()
        if isinstance(content, str):
            form["encoding"] = "utf-8"
        file = content.encode("utf-8") if isinstance(content, str) else content
    found = _native.read_table(file, named, json.dumps(form))
    for note in found.notes:
        _checks.warn(note, UserWarning)
    read = found.columns()
    columns = {column["name"]: _values(column) for column in read}
    try:
        import pandas
    except ImportError:
        return columns
    frame = pandas.DataFrame(columns)
    frame.attrs[ATTRIBUTE] = {
        "columns": {column["name"]: column["read_as"] for column in read},
        "dialect": found.dialect,
        "notes": found.notes,
    }
    return frame


def _texts(name: str, given: str | Sequence[str]) -> list[str]:
    texts = [given] if isinstance(given, str) else list(given)
    if not all(isinstance(text, str) for text in texts):
        raise _checks.wrong(name, "a str or a sequence of str", given)
    return texts


def _encoding(encoding: str) -> str:
    try:
        return _ENCODINGS[codecs.lookup(encoding).name]
    except (LookupError, TypeError):
        raise _checks.wrong("encoding", "one of 'utf-8', 'utf-16-le', 'utf-16-be', 'latin-1', 'cp1252'", encoding) from None


def _values(column: dict[str, Any]) -> NDArray[Any]:
    """Converts a column to the types of NumPy and pandas."""
    values: NDArray[Any] = column["values"]
    if column["kind"] == "times":
        gone = np.isnan(values)
        times = np.round(np.where(gone, 0.0, values) * 1e6).astype("datetime64[us]")
        times[gone] = np.datetime64("NaT")
        return times
    if column["kind"] == "texts":
        # The code -1 of a missing value selects the last entry, None.
        return np.array([*column["levels"], None], dtype=object)[values]
    if column["read_as"]["kind"] == "truth" and not np.isnan(values).any():
        return values.astype(bool)
    return values
