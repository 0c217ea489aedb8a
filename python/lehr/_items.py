"""The input for clusterings of items: the dissimilarities of all pairs, or rows of numbers from which dissimilarities are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from lehr import _checks
from lehr._centers import FLOATS
from lehr._model import symmetric, weights
from lehr.distances import of_rows, takes_gaps, takes_sparse, warn_of_scales


class ItemsMixin(ClusterMixin):
    """A clustering with a ``metric`` for rows, or with ``'precomputed'`` dissimilarities."""

    #: For tools that read the type of an estimator as scikit-learn did before 1.6.
    _estimator_type = "clusterer"

    metric: Any
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    labels_: NDArray[np.int32]
    #: Whether dissimilarities may be missing.
    _takes_gaps = True
    #: Whether an item may have the weight 0.
    _takes_weight_0 = True

    def _is_given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _allows_nan(self) -> bool:
        return self._takes_gaps if self._is_given() else takes_gaps(self.metric)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.positive_only = self._is_given()
        tags.input_tags.sparse = takes_sparse(self.metric)
        tags.input_tags.allow_nan = self._allows_nan()
        return tags

    def fit_predict(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> NDArray[np.int32]:
        """Find the clusters, and return the cluster of each item.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_samples) or (n_samples, n_features)
            The same as for ``fit``.
        y : ignored
            Ignored; present for scikit-learn's interface.
        sample_weight : array-like of shape (n_samples,), default=None
            The same as for ``fit``.

        Returns
        -------
        labels : ndarray of shape (n_samples,), int32
            ``labels_``.

        Examples
        --------
        >>> import lehr
        >>> lehr.KMedoids(1).fit_predict([[0.0], [2.0]]).tolist()
        [0, 0]
        """
        fitted: Any = self
        labels: NDArray[np.int32] = fitted.fit(X, y, sample_weight=sample_weight).labels_
        return labels

    def _validated(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        finite = "allow-nan" if self._allows_nan() else True
        sparse = "csr" if takes_sparse(self.metric) else False
        return _checks.validate_data(self, X, dtype=FLOATS, ensure_all_finite=finite, accept_sparse=sparse, reset=reset)

    def _items(
        self, X: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None, NDArray[Any]]:
        """Returns the data to fit, the weights, and the dissimilarities of all pairs."""
        items = self._validated(X, reset=True)
        item_weights = weights(sample_weight, items)
        if not self._takes_weight_0 and item_weights is not None and not item_weights.all():
            row = int(np.argmin(item_weights))
            raise ValueError(f"{type(self).__name__} requires sample weights above 0, found 0 in row {row}: leave such items out.")
        if self._is_given():
            refuse_negative(items, f"{type(self).__name__}.fit")
            return items, item_weights, items
        _checks.warn_of_dissimilarities(items)
        warn_of_scales(getattr(self, "feature_names_in_", None), items, self.metric)
        return items, item_weights, symmetric(of_rows(items, None, self.metric, self.metric_params, self.n_jobs))

    def _to_others(self, items: Any, others: NDArray[Any] | None, asked: str) -> NDArray[Any]:
        """Returns the checked dissimilarities of items to other rows. If ``others`` is ``None``, the items already are these dissimilarities."""
        to_others = items if others is None else of_rows(items, others, self.metric, self.metric_params, self.n_jobs)
        return not_negative(to_others, f"{type(self).__name__}.{asked}")


class MembersMixin(ItemsMixin):
    """A clustering whose model is the members of each cluster. A new item is compared with all of them."""

    _kept: tuple[str, ...] = ("_fit_X", "_weights")
    #: One row for each cluster, with ``mean_within``: the mean dissimilarity between members.
    clusters_: NDArray[Any]
    #: The fitted rows; ``None`` for ``'precomputed'`` dissimilarities.
    _fit_X: NDArray[Any] | None
    _weights: NDArray[np.float64] | None

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:
        """Predict the cluster of new items: the cluster in which the item has the smallest field.

        The field of an item in a cluster is its mean dissimilarity to the members of the cluster, minus half the mean dissimilarity between members.

        Parameters
        ----------
        X : array-like of shape (n_items, n_samples) or (n_items, n_features)
            Dissimilarities to the fitted items for ``metric='precomputed'``, with NaN for unknown dissimilarities if ``fit`` accepts these.
            Otherwise rows of numbers.

        Returns
        -------
        labels : ndarray of shape (n_items,), int32

        Raises
        ------
        ValueError
            If an item has no known dissimilarity to a fitted item.

        Examples
        --------
        >>> import lehr
        >>> model = lehr.PairwiseClustering(n_clusters=2).fit([[0.0], [1.0], [10.0], [11.0]])
        >>> bool(model.predict([[9.0]])[0] == model.labels_[2])
        True
        """
        return np.argmin(self._fields(X, "predict"), axis=1).astype(np.int32)

    def _learnt(self) -> tuple[str, dict[str, Any]]:
        if not self._is_given():
            raise ValueError(
                "The model is its fitted rows, so a JSON model needs their dissimilarities: fit with metric='precomputed', or use save and lehr.load."
            )
        fields = {"labels": self.labels_.tolist(), "mean_within": self.clusters_["mean_within"].tolist()}
        given = self._weights
        return "pairwise", fields if given is None or (given == 1.0).all() else {**fields, "weights": given.tolist()}

    def _fields(self, X: ArrayLike, asked: str) -> NDArray[np.float64]:
        """Returns the field of each item in each cluster. The field is infinite if no dissimilarity to the cluster is known."""
        check_is_fitted(self)
        to_fitted = self._to_others(self._validated(X, reset=False), self._fit_X, asked)
        item_weights = np.ones(len(self.labels_)) if self._weights is None else self._weights
        members = np.zeros((len(self.labels_), len(self.clusters_)))
        members[np.arange(len(self.labels_)), self.labels_] = item_weights
        is_known = ~np.isnan(to_fitted)
        known = is_known.astype(np.float64) @ members
        refuse_unknown(known.any(axis=1))
        sums = np.where(is_known, to_fitted, 0.0) @ members
        # A cluster without any known dissimilarity cannot be chosen.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(known > 0, sums / known - 0.5 * self.clusters_["mean_within"], np.inf)


def not_negative(dissimilarities: NDArray[Any], asked: str) -> NDArray[Any]:
    """Replaces values slightly below 0, which come from rounding, by 0. The tolerance is the same as in the Rust library."""
    return np.maximum(dissimilarities, 0) if refuse_negative(dissimilarities, asked) else dissimilarities


def refuse_negative(dissimilarities: NDArray[Any], asked: str) -> bool:
    """Raises an error for dissimilarities so far below 0 that rounding does not explain them. Otherwise returns whether any value is below 0."""
    if not np.any(dissimilarities < 0):
        return False
    share = 3.5e-4 if dissimilarities.dtype == np.float32 else 1.5e-8
    if np.nanmin(dissimilarities) < -share * np.nanmax(np.abs(dissimilarities)):
        row, column = np.unravel_index(np.nanargmin(dissimilarities), dissimilarities.shape)
        found = dissimilarities[row, column]
        raise ValueError(f"Negative values in data passed to {asked}: dissimilarities are 0 or more. Got {found} at [{row}, {column}].")
    return True


def refuse_unknown(is_known: NDArray[np.bool_]) -> None:
    """Raises an error if an item has no known dissimilarity."""
    if not is_known.all():
        lost = np.flatnonzero(~is_known)
        raise ValueError(f"{len(lost)} of the items have no finite dissimilarity to any fitted item, the first at row {lost[0]} (counted from 0).")
