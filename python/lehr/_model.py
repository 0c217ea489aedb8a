"""The common part of all estimators: weights, warnings of a run, and files of fitted models.

A saved model is two lines of text: ``lehr model 1 xxh3 HASH``, then JSON. The JSON has ``method``, ``version``, ``parameters`` (of the constructor) and
``fitted`` (the results of ``fit``, by attribute). Arrays are ``{"dtype", "shape", "values"}``, sparse rows ``{"rows", "shape"}``, tables ``{"columns"}``,
dictionaries ``{"entries"}``. Numbers are written in the shortest form that reads back bit-identically. A number that is not finite is written as a word.
"""

from __future__ import annotations

import json
import math
import numbers
import re
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native
from lehr._constraints import plain

Self = TypeVar("Self", bound="SavedMixin")

#: Parameters that do not affect the result, and are therefore not saved.
_UNSAVED = frozenset({"callback", "checkpoint", "n_jobs", "verbose"})
#: The texts of warnings about the data, after which the fit itself is complete.
_OF_DATA = re.compile("corrected rounding errors|rounded to 53 bits|have no value|^no row has both|raw stress is|beyond the largest number|form one group|hardly form groups")
#: The fields of the JSON in a saved model.
_FIELDS = frozenset({"method", "version", "parameters", "fitted"})


def weights(sample_weight: Any, X: Any, *, may_be_zero: bool = False) -> NDArray[np.float64] | None:
    """Checks and returns the weights of rows; ``None`` if the rows have no weights. At least one weight must be above 0, unless ``may_be_zero``."""
    if sample_weight is None:
        return None
    # Sparse rows have no ``len``.
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(rows, sample_weight)
    checked: NDArray[np.float64] = _checks.check_array(
        sample_weight, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, ensure_all_finite="allow-nan", input_name="sample_weight"
    )
    if np.any(np.isnan(checked)):
        row = int(np.isnan(checked).ravel().argmax())
        raise ValueError(f"Input sample_weight contains NaN. The first one is in row {row}. The weight 0 leaves a row out.")
    if checked.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {checked.ndim}D array.")
    if len(checked) != rows:
        raise ValueError(f"sample_weight.shape == {checked.shape}, expected {(rows,)}!")
    if np.any(checked < 0):
        row = int(np.argmax(checked < 0))
        raise ValueError(f"Negative values in data passed to `sample_weight`: weights are 0 or more, found {checked[row]:g} in row {row}.")
    if not may_be_zero and not np.any(checked):
        raise ValueError("Sample weights must contain at least one non-zero number.")
    with np.errstate(over="ignore"):
        total = float(np.sum(checked))
    if not math.isfinite(total):
        raise ValueError("expected sample weights with a finite sum, found a sum beyond the largest number: divide them by a constant, which changes no result.")
    return checked


def symmetric(matrix: NDArray[Any]) -> NDArray[Any]:
    """Makes computed dissimilarities symmetric if their two halves differ only by rounding: replaces both values of a pair by their mean."""
    share, differs = 1e-5 if matrix.dtype == np.float32 else 1e-10, False
    for above, below in _mirrored(matrix):
        if not np.array_equal(above, below, equal_nan=True):
            differs = True
            if not np.allclose(above, below, rtol=share, atol=0.0, equal_nan=True):
                return matrix
    if not differs:
        return matrix
    matrix = matrix.copy()
    for above, below in _mirrored(matrix):
        above[...] = below[...] = (above + below) / 2
    return matrix


#: The side of a block. Two blocks of double numbers fit into a second-level cache, in which a transposed block is read quickly.
_BLOCK = 256


def _mirrored(matrix: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
    """Yields blocks on and above the diagonal, each with the transposed block on the other side, as views."""
    starts = range(0, len(matrix), _BLOCK)
    for row in starts:
        for column in starts[row // _BLOCK :]:
            here, there = slice(row, row + _BLOCK), slice(column, column + _BLOCK)
            yield matrix[here, there], matrix[there, here].T


def tell(found: Mapping[str, Any]) -> None:
    """Issues the warnings of a run. In a job of several processes, only one process issues warnings.

    Warnings about the data have their own class, because users may turn a ``ConvergenceWarning`` into an error.
    """
    if not found["is_lead"]:
        return
    for text in found["warnings"]:
        _checks.warn(text, UserWarning if _OF_DATA.search(text) else ConvergenceWarning)
    if found["checkpoint_failure"] is not None:
        _checks.warn(f"no checkpoint could be kept: {found['checkpoint_failure']}", UserWarning)


def table(columns: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """Combines columns into a structured array, which ``pandas.DataFrame`` accepts directly."""
    length = len(next(iter(columns.values())))
    rows = np.empty(length, dtype=[(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        rows[name] = column
    return rows


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else repr(value)


def _encoded(value: Any) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, np.ndarray):
        if value.dtype.names is not None:
            return {"columns": {name: _encoded(value[name]) for name in value.dtype.names}}
        values = value.ravel().tolist()
        if value.dtype.kind == "f":
            values = [_number(number) for number in values]
        # Names of columns become objects; other texts keep their fixed-length type.
        kind = {"O": "object", "U": value.dtype.str}.get(value.dtype.kind, value.dtype.name)
        return {"dtype": kind, "shape": list(value.shape), "values": values}
    if issparse(value):
        rows = value.tocsr()
        return {"rows": [_encoded(part) for part in (rows.data, rows.indices, rows.indptr)], "shape": list(rows.shape)}
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else {"number": repr(value)}
    if isinstance(value, int):
        return value
    if isinstance(value, (list, tuple)):
        return [_encoded(entry) for entry in value]
    if isinstance(value, dict):
        return {"entries": {name: _encoded(entry) for name, entry in value.items()}}
    raise TypeError(f"a model cannot be saved with {value!r}: expected numbers, words, arrays or None")


def _decoded(value: Any) -> Any:
    if isinstance(value, dict) and "columns" in value:
        return table({name: _decoded(column) for name, column in value["columns"].items()})
    if isinstance(value, dict) and "rows" in value:
        return csr_array(tuple(_decoded(part) for part in value["rows"]), shape=tuple(value["shape"]))
    if isinstance(value, dict) and "number" in value:
        return float(value["number"])
    if isinstance(value, dict) and "entries" in value:
        return {name: _decoded(entry) for name, entry in value["entries"].items()}
    if isinstance(value, dict):
        values = value["values"]
        if value["dtype"].startswith("float"):
            values = [float(number) for number in values]
        return np.array(values, dtype=value["dtype"]).reshape(value["shape"])
    if isinstance(value, list):
        return [_decoded(entry) for entry in value]
    return value


class SavedMixin(BaseEstimator):
    """An estimator with ``save`` and ``load``."""

    #: The method's name in files.
    _method: str
    #: The attributes that ``save`` also writes, although their names do not end in ``_``.
    _kept: tuple[str, ...] = ()
    #: The allowed values of each parameter.
    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    def _told(self, **parameters: str) -> dict[str, Any]:
        """Checks all parameters, and returns the chosen parameters by their names in the Rust extension."""
        self._validate_params()
        return {name: plain(getattr(self, parameter)) for name, parameter in parameters.items()}

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file that :func:`lehr.load` reads.

        If writing fails, no partial file remains. ``lehr predict`` cannot read the file: for the command and services, use ``export``.

        Parameters
        ----------
        path : path-like
            The file to write. An existing file is replaced.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        OSError
            If the folder cannot be written to or the disk is full.

        Examples
        --------
        >>> import tempfile, os, lehr
        >>> model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [10.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "clusters.lehr")
        ...     model.save(path)
        ...     lehr.DAClustering.load(path).predict([[9.0]]).tolist()
        [1]
        """
        check_is_fitted(self)
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in _UNSAVED}
        if not isinstance(parameters.get("random_state", 0), (int, np.integer)):
            # The generator's state has changed since the fit, but the numbers that it drew are part of the result.
            parameters["random_state"] = None
        fitted = {
            name: _encoded(value)
            for name, value in vars(self).items()
            if (name.endswith("_") and not name.startswith("_")) or name in (*self._kept, "_of_table")
        }
        content = {
            "method": self._method,
            "version": _native.__version__,
            "parameters": {name: _encoded(value) for name, value in parameters.items()},
            "fitted": fitted,
        }
        _native.write_model(path, json.dumps(content, allow_nan=False))

    @classmethod
    def load(cls: type[Self], path: str | PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
            The file.

        Returns
        -------
        estimator
            The fitted estimator. ``callback``, ``checkpoint``, ``n_jobs`` and ``verbose`` have their defaults.

        Raises
        ------
        ValueError
            If the file is not a model, is incomplete or damaged, or belongs to another estimator or to a version with other parameters.
        OSError
            If the file cannot be read.

        Examples
        --------
        See :meth:`save`.
        """
        content = json.loads(_native.read_model(path))
        if not isinstance(content, dict) or not _FIELDS <= content.keys():
            raise ValueError(f"{path}: no model of lehr: expected the fields {', '.join(sorted(_FIELDS))}")
        if content["method"] != cls._method:
            raise ValueError(f"{path}: expected a model of {cls.__name__}, found one of {class_of(content['method'])}")
        unknown = content["parameters"].keys() - cls._get_param_names()
        if unknown:
            raise ValueError(
                f"{path}: lehr {content['version']} wrote it, this is {_native.__version__}: {cls.__name__} knows no "
                f"{', '.join(sorted(unknown))}"
            )
        model = cls(**{name: _decoded(value) for name, value in content["parameters"].items()})
        for name, value in content["fitted"].items():
            setattr(model, name, _decoded(value))
        return model


def class_of(method: object) -> str:
    """Returns the name of the estimator whose files have this method, or the method itself if no estimator has it."""
    kinds = list(SavedMixin.__subclasses__())
    for kind in kinds:
        kinds += kind.__subclasses__()
    return next((kind.__name__ for kind in kinds if getattr(kind, "_method", None) == method), repr(method))
