"""Turns a table into the numbers that estimators take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from numbers import Integral
from os import PathLike, fspath
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from lehr import _checks, _native
from lehr._columns import Columns
from lehr._constraints import one_of
from lehr._model import SavedMixin
from lehr._names import listed
from lehr.tables import ColumnAccounts

__all__ = ["TablePreparation"]
__dir__ = listed(__all__)

_SCALES = ("none", "std", "robust")
#: The ways to treat missing values, and their names in the Rust extension.
_MISSING = {"skip": "skip", "median": "median", "mode": "mode", "nearest": "nearest", "error": "fault"}
_DATE_PARTS = ("days", "weekday", "month")


class TablePreparation(TransformerMixin, SavedMixin):
    """Choose the columns by which rows are compared, and convert them to comparable numbers.

    Prepares a table in a pipeline as ``lehr cluster FILE --auto`` does. The preparation uses measurements, and leaves out identifiers, texts and constants. The
    preparation also takes the logarithms of skewed columns, fills in missing values and scales the columns. ``columns_`` gives the reason for each choice, and
    parameters override the choices.

    A category gets a feature for each of its texts, and counts as much in distances as one numeric column. Dates become days since 1970, or the parts in
    ``date_parts``.

    Parameters
    ----------
    columns : sequence of str or int, default=None
        The columns to use, by name, or by position from 0. ``None`` means all measurements, or all categories if there are no measurements. To use categories
        and dates as well, name them here.
    exclude : sequence of str or int, default=()
        The columns to leave out.
    log : sequence of str or int, default=()
        The columns to replace by their logarithms. ``auto`` adds columns whose skewness is above 1.5, if the logarithm at least halves the skewness.
    scale : {'none', 'std', 'robust'}, default=None
        ``'std'``: mean 0 and standard deviation 1. ``'robust'``: median 0 and interquartile range 1. ``None`` means ``'robust'`` with ``auto``, otherwise
        ``'none'``.
    missing : {'skip', 'median', 'mode', 'nearest', 'error'}, default=None
        How to treat missing values. ``'skip'`` keeps NaN, which :class:`DAGaussianMixture` and :class:`GTM` accept. ``'nearest'`` gives a number the median of the five
        nearest rows of the fitted table. Rows of other tables get the median, so that rows do not depend on each other. ``None`` means ``'nearest'`` with
        ``auto``, otherwise ``'error'``.
    auto : bool, default=True
        Whether Lehr chooses logarithms, scale and the treatment of missing values from the data, if you don't give them.
    date_parts : sequence of {'days', 'weekday', 'month'}, default=('days',)
        The parts of dates to compare rows by. ``'weekday'`` and ``'month'`` are categories: all Mondays, or all Januaries, are equal.

    Attributes
    ----------
    columns_ : ColumnAccounts
        The role of each column, whether and how it is used, and the reason.
    notes_ : list of str
        Notes about changes to the fitted rows, such as missing values that were filled in.
    log_ : dict of str to float
        The columns that are replaced by their logarithms, with the number that is added first.
    scale_, missing_ : str
        The chosen scale and treatment of missing values.
    n_features_in_ : int
        The number of columns of ``X``.
    feature_names_in_ : ndarray of shape (``n_features_in_``,)
        The names of the columns, if ``X`` has any.

    See Also
    --------
    describe_columns : Describes the roles of columns, without a preparation.
    read_table : Reads a table from a file.

    Notes
    -----
    ``fit_transform(X)`` and ``fit(X).transform(X)`` differ in the values that ``missing='nearest'`` fills in.

    If missing values are filled in, a row without any value gets the features of a typical row, so its label is meaningless. ``notes_`` lists such rows, and
    ``transform`` warns about them.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> rng = np.random.default_rng(0)
    >>> table = {"id": np.arange(200), "revenue": np.exp(rng.normal(5, 2, 200)), "age": rng.normal(40, 9, 200), "plan": ["basic", "gold"] * 100}
    >>> preparation = lehr.TablePreparation().fit(table)
    >>> preparation.get_feature_names_out().tolist()
    ['revenue', 'age']
    >>> preparation.log_, preparation.columns_["plan"].use
    ({'revenue': 0.0}, 'a category: it explains the clusters; `columns` makes it part of the distances')

    In a pipeline:

    >>> from sklearn.pipeline import make_pipeline
    >>> model = make_pipeline(lehr.TablePreparation(exclude=["age"]), lehr.KMeans(2)).fit(table)
    >>> model[-1].n_features_in_
    1
    """

    _method = "preparation"
    _kept = ("_preparation", "_account", "_named", "_form")
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": ["array-like", str, Integral, None],
        "exclude": ["array-like", str, Integral],
        "log": ["array-like", str, Integral],
        "scale": [one_of(*_SCALES), None],
        "missing": [one_of(*_MISSING), None],
        "auto": ["boolean"],
        "date_parts": ["array-like", one_of(*_DATE_PARTS)],
    }
    #: The options with which the command reads tables, if the command made the preparation; ``None`` otherwise.
    _form: dict[str, Any] | None = None

    def __init__(
        self,
        columns: Sequence[str | int] | None = None,
        *,
        exclude: Sequence[str | int] = (),
        log: Sequence[str | int] = (),
        scale: Literal["none", "std", "robust"] | None = None,
        missing: Literal["skip", "median", "mode", "nearest", "error"] | None = None,
        auto: bool = True,
        date_parts: Literal["days", "weekday", "month"] | Sequence[Literal["days", "weekday", "month"]] = ("days",),
    ) -> None:
        self.columns = columns
        self.exclude = exclude
        self.log = log
        self.scale = scale
        self.missing = missing
        self.auto = auto
        self.date_parts = date_parts

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing not in (None, "error") or (self.missing is None and bool(self.auto))
        tags.input_tags.string = True
        return tags

    @property
    def columns_(self) -> ColumnAccounts:
        """The role of each column, and how it is used."""
        if not hasattr(self, "_account"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute 'columns_'")
        return ColumnAccounts._of(json.loads(self._account))

    def fit(self, X: Any, y: object = None) -> TablePreparation:
        """Decide how to use each column.

        Parameters
        ----------
        X : table of pandas, Polars or Arrow, dict of columns, or array-like of shape (n_samples, n_columns)
            Numbers, truth values, dates and texts. NaN, None, NA, NaT and empty texts are missing values.
        y : ignored
            Ignored; present for scikit-learn's interface.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a column that you name does not exist or cannot be used, or the table has no usable column or only one row. Also if there are infinite numbers,
            or missing values with ``missing='error'``.

        Examples
        --------
        >>> import lehr
        >>> lehr.TablePreparation().fit([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]]).columns_["x1"].use
        'it has one value in all rows'
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: object = None) -> NDArray[np.float64]:
        """Decide how to use each column, and prepare these rows.

        Parameters
        ----------
        X : table of pandas, Polars or Arrow, dict of columns, or array-like of shape (n_samples, n_columns)
            The same as for :meth:`fit`.
        y : ignored
            Ignored; present for scikit-learn's interface.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            The prepared rows; a data frame after ``set_output``. With ``missing='nearest'``, missing values are filled in from other rows.

        Examples
        --------
        >>> import lehr
        >>> lehr.TablePreparation(scale="std").fit_transform([[0.0], [2.0]]).tolist()
        [[-1.0], [1.0]]
        """
        return self._fit(X)

    def _fit(self, X: Any) -> NDArray[np.float64]:
        """Fits the preparation, and returns the prepared rows."""
        wish: object = self.missing
        if isinstance(wish, str) and wish == "drop":
            raise ValueError("The 'missing' parameter cannot be 'drop': a transformer keeps all rows. Drop them before (DataFrame.dropna).")
        self._validate_params()
        columns = Columns(X)

        def names(name: str, given: Any) -> list[str]:
            listed = [given] if isinstance(given, (str, int)) else list(given)
            for one in listed:
                if isinstance(one, bool) or not isinstance(one, (str, int, np.integer)):
                    raise _checks.wrong(name, "names (str) or positions (int) of columns", given)
                if not isinstance(one, str) and not -len(columns.names) <= one < len(columns.names):
                    raise ValueError(f"The {name!r} parameter has the position {one}, and X has {len(columns.names)} columns.")
            return [one if isinstance(one, str) else columns.names[one] for one in listed]

        parts = [self.date_parts] if isinstance(self.date_parts, str) else self.date_parts
        asked: dict[str, Any] = {
            "columns": None if self.columns is None else names("columns", self.columns),
            "exclude": names("exclude", self.exclude),
            "log": names("log", self.log),
            "scale": self.scale,
            "missing": None if self.missing is None else _MISSING[self.missing],
            "auto": bool(self.auto),
            "date_parts": [_checks.choice("date_parts", part, _DATE_PARTS) for part in parts],
        }
        frame = columns.frame()
        if len(columns) == 1:
            raise ValueError("X: expected at least 2 rows, found 1 sample: one row says nothing of what a column is.")
        decided = frame.prepare(json.dumps(asked))
        for column in decided["columns"]:
            if column["name"] in asked["log"] and not column["is_used"] and column["name"] not in asked["exclude"]:
                raise ValueError(f"column {column['name']!r}: expected a column whose logarithm can be taken, found {column['how']}")
        prepared = _applied(frame, decided["preparation"], False)
        self._take(decided["preparation"])
        self._account = json.dumps({"columns": decided["columns"], "text": decided["text"]})
        self._named: list[str] = columns.names
        self.n_features_in_ = len(columns.names)
        self.__dict__.pop("feature_names_in_", None)
        if columns.is_named:
            self.feature_names_in_: NDArray[Any] = np.array(columns.names, dtype=object)
        self.notes_: list[str] = prepared["notes"]
        if prepared["filled"]:
            self.notes_.append(f"filled {prepared['filled']} missing values, by missing={self.missing_!r}")
        return prepared["features"]

    def _take(self, preparation: str) -> None:
        """Sets the fitted attributes from a preparation in JSON."""
        content = json.loads(preparation)
        self._preparation = preparation
        self.scale_: str = content["scale"]
        self.missing_: str = "error" if content["missing"] == "fault" else content["missing"]
        features = content["features"]
        self.log_: dict[str, float] = {
            feature["column"]: feature["log_offset"] for feature in features if feature.get("log_offset") is not None
        }

    @classmethod
    def _restored(cls, content: dict[str, Any], form: dict[str, Any]) -> TablePreparation:
        """Restores the preparation of a command's model. Where the command filled values in from other rows or dropped rows, new rows keep missing values."""
        if content["missing"] in ("nearest", "drop"):
            content = {**content, "missing": "skip"}
        preparation = cls(auto=False)
        preparation._take(json.dumps(content))
        preparation._form = form
        preparation._named = [used["column"] for used in content["uses"]]
        preparation.n_features_in_ = len(preparation._named)
        preparation.feature_names_in_ = np.array(preparation._named, dtype=object)
        preparation.notes_ = []
        used = [used["column"] for used in content["uses"] if used["is_used"]]
        preparation.set_params(columns=used, log=list(preparation.log_), scale=preparation.scale_, missing=preparation.missing_)
        return preparation

    def _features(self) -> list[dict[str, Any]]:
        return json.loads(self._preparation)["features"]

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Prepare the rows of a table in the same way as the fitted rows.

        Parameters
        ----------
        X : table of pandas, Polars or Arrow, dict of columns, or array-like of shape (n_samples, n_columns)
            Named columns are found by name, in any order; other columns by position. A preparation that :func:`load` restored from a model of the command also
            takes the path of a file, and reads it as ``lehr predict`` does.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            The prepared rows; a data frame after ``set_output``. With ``missing='nearest'``, missing values become the median. A preparation of the command
            keeps NaN in rows without any value.

        Raises
        ------
        ValueError
            If a used column is missing, or contains values of another kind than before.

        Warns
        -----
        UserWarning
            If there are new columns or new texts, an unused column is missing, or a column is read differently than before.

        Examples
        --------
        >>> import lehr
        >>> preparation = lehr.TablePreparation(scale="none", missing="median").fit({"height": [1.0, 2.0, 4.0]})
        >>> preparation.transform({"height": [None, 3.0]}).tolist()
        [[2.0], [3.0]]
        """
        check_is_fitted(self)
        frame = self._frame(X)
        prepared = _applied(frame, self._preparation, True)
        for note in prepared["notes"]:
            _checks.warn(note, UserWarning)
        features: NDArray[np.float64] = prepared["features"]
        if self._form is not None and self.missing_ in ("median", "mode"):
            # All values of these rows were filled in, so they get no label, as in the command.
            features[self._without_values(frame)] = np.nan
        return features

    def _frame(self, X: Any) -> _native.DataFrame:
        """Returns the data frame of another table, or of the table in a file."""
        if self._form is None or not isinstance(X, (str, PathLike)):
            return self._columns_of(X).frame()
        path = fspath(X)
        frame = _native.read_table(path, path, json.dumps(self._form))
        for note in frame.notes:
            _checks.warn(note, UserWarning)
        return frame

    def _columns_of(self, X: Any) -> Columns:
        """Returns the columns of another table, named like the fitted columns."""
        columns, name = Columns(X), type(self).__name__
        is_named = hasattr(self, "feature_names_in_")
        if not (is_named and columns.is_named):
            if len(columns.names) != self.n_features_in_:
                raise ValueError(f"X has {len(columns.names)} features, but {name} is expecting {self.n_features_in_} features as input.")
            if is_named:
                _checks.warn(f"X does not have valid feature names, but {name} was fitted with feature names", UserWarning)
            elif columns.is_named:
                _checks.warn(f"X has feature names, but {name} was fitted without feature names", UserWarning)
            return columns.called(self._named)
        used = {feature["column"]: feature["read_as"] for feature in self._features()}
        gone = [column for column in self._named if column not in columns.names]
        lost = [column for column in gone if column in used]
        if lost:
            listed = "".join(f"- {column}\n" for column in lost)
            raise ValueError(
                f"The feature names should match those that were passed during fit.\nFeature names seen at fit time, yet now missing:\n{listed}"
            )
        new = [column for column in columns.names if column not in self._named]
        if new:
            _checks.warn(f"X has columns that were not there before, which are not used: {', '.join(new)}", UserWarning)
        if gone:
            _checks.warn(f"X does not have columns that were there before and not used: {', '.join(gone)}", UserWarning)
        for column, read_as in columns.read_as().items():
            if column in used and _differ(used[column], read_as):
                _checks.warn(f"column {column!r} was read as {_words(used[column])} before, and is now read as {_words(read_as)}", UserWarning)
        return columns

    def inverse_transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Convert features, such as the centres of clusters, back to the units of the columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Rows as :meth:`transform` returns them.

        Returns
        -------
        values : ndarray of shape (n_samples, n_features_out)
            A column for each name of :meth:`get_feature_names_out`. Logarithms become the original numbers, dates become days since 1970, and a text of a
            category becomes its share.

        Examples
        --------
        >>> import lehr
        >>> preparation = lehr.TablePreparation(log=["pay"], scale="none").fit({"pay": [1.0, 10.0, 100.0]})
        >>> preparation.inverse_transform(preparation.transform({"pay": [10.0]})).round(9).tolist()
        [[10.0]]
        """
        check_is_fitted(self)
        rows = _checks.check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")
        return _native.back(self._preparation, rows)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of the columns, if the fitted columns had none.

        Returns
        -------
        names : ndarray of str objects
            The names of the columns, or names such as ``city = Bern`` for the texts of a category.

        Examples
        --------
        >>> import lehr
        >>> table = {"size": [1.0, 2.0, 3.0, 5.0], "city": ["Bern", "Basel", "Bern", "Bern"]}
        >>> lehr.TablePreparation(columns=["size", "city"]).fit(table).get_feature_names_out().tolist()
        ['size', 'city = Bern', 'city = Basel']
        """
        check_is_fitted(self)
        given = dict(zip(self._named, _check_feature_names_in(self, input_features)))
        names = (given[feature["column"]] + feature["name"][len(feature["column"]) :] for feature in self._features())
        return np.array(list(names), dtype=object)

    def sample_weight(self, X: Any) -> NDArray[np.float64]:
        """Return weights that exclude isolated rows, as the command does with ``--auto``. Pass these weights to ``fit`` of a clustering.

        Without these weights, a few rows far from all other rows would get their own clusters before any group is divided.

        Parameters
        ----------
        X : table of pandas, Polars or Arrow, dict of columns, or array-like of shape (n_samples, n_columns)
            The rows to cluster. If there are fewer than 50 rows, no row counts as isolated.

        Returns
        -------
        weights : ndarray of shape (n_samples,)
            0 for rows without any value and for isolated rows, 1 for all other rows. A row is isolated if the distance to its fifth nearest neighbour is much
            larger than this distance is for its neighbours. If more than 5 % of the rows are isolated, none is excluded.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> X = np.append(np.arange(60) / 10, 1e3)[:, None]
        >>> preparation = lehr.TablePreparation(exclude=(), log=(), auto=False).fit(X)
        >>> np.flatnonzero(preparation.sample_weight(X) == 0).tolist()
        [60]
        """
        check_is_fitted(self)
        content = json.loads(self._preparation)
        if content["missing"] == "skip":
            content["missing"] = "median"
        frame = self._columns_of(X).frame()
        features = _applied(frame, json.dumps(content), False)["features"]
        there = np.flatnonzero(~self._without_values(frame)) if content["missing"] != "fault" else np.arange(len(features))
        weights = np.zeros(len(features))
        weights[there] = 1.0
        weights[there[_native.isolated_rows(features[there])]] = 0.0
        return weights

    def _without_values(self, frame: _native.DataFrame) -> NDArray[np.bool_]:
        """Returns which rows have no value in any used column."""
        content = {**json.loads(self._preparation), "missing": "skip"}
        gone: NDArray[np.bool_] = np.isnan(_applied(frame, json.dumps(content), True)["features"]).all(axis=1)
        return gone


def _applied(frame: _native.DataFrame, preparation: str, is_other: bool) -> Any:
    """Applies a preparation to a table, and explains errors about missing values."""
    try:
        return frame.apply(preparation, is_other)
    except ValueError as error:
        if "expected a value, found none" not in str(error):
            raise
        raise ValueError(f"{error}\nX contains NaN or other missing values. Fill them with missing='nearest', 'median' or 'mode', or keep them with 'skip'.") from None


def _differ(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """Returns whether two ways of reading a column give values with different meanings. Data frames do not record how numbers were written."""
    kinds = {"number" if read_as["kind"] == "written_number" else read_as["kind"] for read_as in (before, now)}
    if len(kinds) > 1:
        return True
    if before["kind"] != "written_number" or now["kind"] != "written_number":
        return False
    return any(before.get(part) != now.get(part) for part in ("currency", "is_percent"))


def _words(read_as: dict[str, Any]) -> str:
    words = {"number": "numbers", "written_number": "numbers", "truth": "yes or no", "date": "dates", "time_of_day": "times of day", "text": "text"}
    unit = "%" if read_as.get("is_percent") else read_as.get("currency")
    return words[read_as["kind"]] + (f" in {unit}" if unit else "")
