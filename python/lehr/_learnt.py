"""Models in the command's format: ``model.json``, which ``lehr predict`` reads.

The fields are ``kind``, ``format``, ``version``, ``columns``, ``shifts``, ``divisors`` and ``model``. From each column, its shift is subtracted first; then the
column is divided by its divisor. ``model`` is an object with one field whose name is the kind of the model: ``clusters``, ``mixture``, ``gtm``, ``medoids``,
``pairwise`` or ``embedding``. Numbers are written in the shortest form that reads back bit-identically. ``docs/reference/model.md`` lists all fields.
"""

from __future__ import annotations

import json
import os
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native, _onnx

#: The version of the format. It increases when the meaning of the content changes.
FORMAT = 1
#: The value of the field ``kind`` in every model file.
KIND = "lehr model"


class LearntMixin:
    """An estimator whose model ``lehr predict`` can apply to other rows."""

    n_features_in_: int
    #: Whether rows come from a prepared table, as in the command. Then values may be missing, and a row without any value gets no label.
    _of_table = False

    def _without_values(self, rows: Any) -> NDArray[np.bool_] | None:
        """Returns the rows that the model cannot label, and warns about them; ``None`` if there are none."""
        if not self._of_table or not isinstance(rows, np.ndarray):
            return None
        gone: NDArray[np.bool_] = np.asarray(np.isnan(rows).all(axis=1))
        if not gone.any():
            return None
        names = [str(row + 1) for row in np.flatnonzero(gone)]
        if len(names) > 5:
            which = f"{len(names)} rows ({', '.join(names[:5])} and {len(names) - 5} more) have"
        else:
            which = f"rows {', '.join(names[:-1])} and {names[-1]} have" if len(names) > 1 else f"row {names[0]} has"
        _checks.warn(f"{which} no value in any of the model's columns: no label is given", UserWarning)
        return gone

    def _learnt_columns(self) -> list[str]:
        """Returns the names of the columns to which the model applies."""
        names = getattr(self, "feature_names_in_", None)
        return [f"x{number}" for number in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        """Returns the kind of the model and its fields in ``model.json``."""
        raise NotImplementedError

    def _onnx(self, columns: list[str]) -> Any:
        """Returns the model in the format ONNX."""
        raise ValueError(f"ONNX has no form of {type(self).__name__}, whose input is dissimilarities: export .json instead.")

    def _take_learnt(self, parts: Any) -> None:
        """Sets the fitted attributes from the parts of a model file, as the Rust extension has parsed them."""
        raise NotImplementedError

    def export(self, path: str | PathLike[str]) -> None:
        """Write the fitted model for other programs: as JSON, PMML or ONNX, by the ending of the file.

        The JSON is the ``model.json`` that ``lehr predict``, services and :func:`lehr.load` read. Every estimator of clusters, mixtures and maps has this form;
        :class:`AgglomerativeClustering`, :class:`PairwiseClustering`, :class:`SMACOF` and :class:`KMedoids` need ``metric='precomputed'``, or for ``KMedoids``
        also a Euclidean metric. Its columns are then the dissimilarities to the fitted items.

        The ending ``.pmml`` selects PMML 4.4, for scoring engines and databases. Only clusters with centres have this form. The outputs are ``cluster`` and
        ``distance``.

        The ending ``.onnx`` selects ONNX, which needs the package ``onnx``. Such a model takes complete rows ``X``, in the precision of the fitted rows. Its outputs
        are ``label`` and ``distances`` for clusters, ``label``, ``probabilities`` and ``log_density`` for a mixture, and ``positions`` and ``responsibilities`` for
        a map. They are those of the estimator's methods, up to rounding.

        The file does not contain earlier steps, such as a ``StandardScaler``. Therefore give the command rows in the form that you passed to ``fit``. If
        writing fails, no partial file remains.

        Parameters
        ----------
        path : path-like
            The file to write, such as ``model.json``, ``model.pmml`` or ``model.onnx``. An existing file is replaced.

        Returns
        -------
        None

        Raises
        ------
        NotFittedError
            If the model has not been fitted.
        OSError
            If the folder cannot be written to or the disk is full.
        ImportError
            If ``path`` ends in ``.onnx``, and ``onnx`` is not installed.
        ValueError
            If the format cannot represent the model. For example, PMML has no mixtures.

        Examples
        --------
        >>> import json, os, tempfile, lehr
        >>> model = lehr.KMeans(1).fit([[0.0], [2.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "model.json")
        ...     model.export(path)
        ...     with open(path) as file:
        ...         json.load(file)["model"]["clusters"]["centers"]
        [1.0]
        """
        check_is_fitted(self)
        names = self._learnt_columns()
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if self._of_table and ending in (".onnx", ".pmml"):
            instead = "run lehr export with the model.json of the command" if ending == ".pmml" else "export model.json"
            raise ValueError(
                f"{type(self).__name__} was fitted to a prepared table, whose texts and gaps the estimator does not know: {instead} instead."
            )
        if ending == ".onnx":
            _onnx.write(self._onnx(names), path)
            return
        kind, fields = self._learnt()
        content: dict[str, Any] = {
            "kind": KIND,
            "format": FORMAT,
            "version": _native.__version__,
            "columns": names,
            "shifts": [0.0] * len(names),
            "divisors": [1.0] * len(names),
            "model": {kind: fields},
        }
        content["checksum"] = _native.model_checksum(json.dumps(content, allow_nan=False))
        text = json.dumps(content, allow_nan=False) + "\n"
        _native.write_bytes(os.fspath(path), (_native.pmml_of(text) if ending == ".pmml" else text).encode())
