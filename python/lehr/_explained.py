"""Methods of clusterings that explain how clusters differ, and list outliers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native
from lehr._columns import Columns, is_frame
from lehr._model import weights
from lehr.explanation import Explanation, Outlier, Outliers


class ExplainedMixin:
    """A clustering with ``labels_`` and ``predict`` whose clusters can be explained by the columns of a table."""

    labels_: NDArray[np.int32]
    n_features_in_: int

    def _n_groups(self) -> int:
        """Returns the number of clusters."""
        return len(getattr(self, "cluster_centers_"))

    def _away(self, X: Any) -> NDArray[np.float64]:
        """Returns the distances of rows from their centres."""
        return getattr(self, "_nearest")(X)[1]

    def explain(
        self,
        X: Any,
        *,
        table: Any = None,
        labels: ArrayLike | None = None,
        log: Mapping[str, float] | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Explanation:
        """Find the columns in which each cluster differs from the whole data, name the cluster after these columns, and find rules that reproduce the labels.

        Lehr tests each column in each cluster, as ``catdes`` of FactoMineR does: numbers by the test value of a mean, texts by the hypergeometric test.
        P-values are multiplied by the number of tests (Bonferroni), so they stay valid for many columns. Effect sizes are Cohen's d and h.

        Parameters
        ----------
        X : array-like or table of shape (n_samples, n_features)
            Rows, as for ``predict``. A table may have further columns. If its rows are the fitted rows, it need not have the model's columns.
        table : table of pandas, Polars or Arrow, dict of columns, or array-like, default=None
            The columns that explain the clusters, for the same rows: numbers, texts, dates. ``None`` means the columns of ``X``.
        labels : array-like of shape (n_samples,), default=None
            The cluster of each row, -1 for no cluster. ``None`` means the labels of ``predict(X)``.
        log : dict of str to float, default=None
            The columns that were replaced by their logarithms before fitting, with the number that was added first: ``log_`` of a :class:`TablePreparation`.
            Lehr reports geometric means of these columns.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that you gave to ``fit``. Rows of weight 0 are left out, such as rows that :meth:`TablePreparation.sample_weight` excludes. All other
            rows count once.

        Returns
        -------
        Explanation
            A :class:`~lehr.explanation.Portrait` for each cluster.

        Raises
        ------
        ValueError
            If ``table``, ``labels`` or ``sample_weight`` has another number of rows than ``X``.

        Examples
        --------
        >>> import numpy as np, lehr
        >>> rng = np.random.default_rng(0)
        >>> table = {"revenue": np.exp(np.repeat([3.0, 6.0], 50) + rng.normal(0, 0.3, 100)), "plan": ["basic"] * 50 + ["gold"] * 50}
        >>> preparation = lehr.TablePreparation(log=["revenue"])
        >>> Z = preparation.fit_transform(table)
        >>> model = lehr.DAClustering(2).fit(Z)
        >>> sorted(portrait.name for portrait in model.explain(Z, table=table, log=preparation.log_))
        ['high revenue, plan gold', 'low revenue, plan basic']
        """
        check_is_fitted(self)
        shown = Columns(X if table is None else table)
        names = getattr(self, "feature_names_in_", [])
        if table is None and not shown.is_named and len(shown.names) == len(names):
            shown = shown.called(map(str, names))
        rows = _rows_in(self, X)
        if rows is None and labels is None:
            if len(shown) != len(self.labels_):
                raise ValueError(
                    f"X has neither the columns of the model nor the {len(self.labels_)} rows that were fitted, but {len(shown)}: pass the rows that the model takes as X, and this as table."
                )
            labels = self.labels_
        given = np.asarray(getattr(self, "predict")(rows) if labels is None else labels)
        away = np.zeros(len(given)) if rows is None else self._away(rows)
        if len(given) != len(shown) or len(away) != len(shown):
            raise ValueError(f"expected as many rows of the table and labels as of X, found {len(shown)}, {len(given)} and {len(away)}.")
        if sample_weight is not None:
            weights = np.asarray(sample_weight)
            if weights.shape != given.shape:
                raise ValueError(f"expected a sample_weight for each of the {len(given)} rows, found an array of shape {weights.shape}.")
            given = np.where(weights > 0, given, -1)
        told = _native.explain_clusters(
            shown.frame(), _integers(given), away, self._n_groups(), dict(log or {}), shown.is_of_kinds
        )
        return Explanation._of(told, is_placed=rows is not None)


class OutliersMixin(ExplainedMixin):
    """A clustering with centres that can list outliers."""

    def outliers(self, X: Any, *, labels: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Outliers:
        """List the outliers: rows unusually far from the centre of their cluster, or in a cluster with very few rows.

        A distance is unusual if it exceeds the upper quartile of its cluster by three interquartile ranges (Tukey's *far out*). For a cluster of fewer than 20
        rows, Lehr uses the quartiles of all clusters. Very few rows means at most 0.2 % of all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
            Rows, as for ``predict``. If the model was fitted to a data frame, for example from ``TablePreparation().set_output(transform="pandas")``, the
            result names its columns. Otherwise the columns are ``x0``, ``x1`` and so on.
        labels : array-like of shape (n_samples,), default=None
            The cluster of each row, -1 for no cluster. ``None`` means the labels of ``predict(X)``.
        sample_weight : array-like of shape (n_samples,), default=None
            The weights that you gave to ``fit``. Rows of weight 0 do not affect the quartiles.

        Returns
        -------
        Outliers
            An :class:`~lehr.explanation.Outlier` for each outlier, by decreasing score. Each :class:`~lehr.explanation.Outlier` names the columns that
            contribute most to the distance.

        Examples
        --------
        >>> import lehr
        >>> X = [[float(row % 7), float(row % 5)] for row in range(70)] + [[3.0, 50.0]]
        >>> lehr.KMeans(1).fit(X).outliers(X)
        1 of 71 rows is far out for its cluster (from the centre of a typical one: more than ...)
        row 70: 47.3 from cluster 0, score ..., by x1 (100 %)
        """
        check_is_fitted(self)
        found_rows = _rows_in(self, X)
        if found_rows is None:
            raise ValueError("X does not have the columns of the model: pass rows as for predict.")
        given = np.asarray(getattr(self, "predict")(found_rows) if labels is None else labels)
        rows = getattr(self, "_rows")(found_rows, reset=False)
        count = rows.shape[0] if hasattr(rows, "shape") else len(rows)
        if len(given) != count:
            raise ValueError(f"expected a label for each of {count} rows, found {len(given)}.")
        centers = np.asarray(getattr(self, "cluster_centers_"), dtype=np.float64)
        found = _native.outliers(rows, weights(sample_weight, rows), _integers(given), centers)
        names = [str(name) for name in getattr(self, "feature_names_in_", [f"x{place}" for place in range(centers.shape[1])])]
        columns = [tuple((names[column], share) for column, share in of_row) for of_row in found["columns"]]
        parts = zip(*(found[name].tolist() for name in ("row", "cluster", "distance", "score")), columns)
        return Outliers([Outlier(*part) for part in parts], found["radius"], count)


def _integers(labels: NDArray[Any]) -> NDArray[np.int32]:
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        raise _checks.wrong("labels", "a whole number for each row", labels)
    return np.ascontiguousarray(labels, dtype=np.int32)


def _named(columns: dict[str, Any]) -> Any:
    """Returns columns as a data frame if pandas is installed, otherwise as an array."""
    try:
        import pandas
    except ImportError:
        return np.column_stack([np.asarray(values, dtype=np.float64) for values in columns.values()])
    return pandas.DataFrame(columns)


def _rows_in(model: Any, X: Any) -> Any:
    """Returns the rows of a table in the form that the model takes; ``None`` if the table lacks the model's columns."""
    if not is_frame(X) and not isinstance(X, Mapping):
        return X
    names = [str(name) for name in getattr(model, "feature_names_in_", [])]
    present = [str(name) for name in (X if isinstance(X, Mapping) else getattr(X, "column_names", X.columns))]
    if names and set(names) <= set(present):
        if isinstance(X, Mapping):
            return _named({name: X[name] for name in names})
        return X.select(names) if hasattr(X, "column_names") else X[names]
    return X if not names and len(present) == model.n_features_in_ and not isinstance(X, Mapping) and not Columns(X).has_texts else None
