"""What clusterings of items take: dissimilarities of all pairs, or rows of numbers that these are computed of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin

from lehr import _checks
from lehr._centers import FLOATS
from lehr._model import symmetric, weights
from lehr.distances import checked_metric, of_rows, takes_sparse


class ItemsMixin(ClusterMixin):
    """A clustering with a ``metric`` of rows, or ``'precomputed'``."""

    #: For tools that ask as scikit-learn before 1.6 did.
    _estimator_type = "clusterer"

    metric: Any
    metric_params: dict[str, Any] | None
    n_jobs: int | None
    #: Whether pairs may be missing.
    _takes_gaps = True

    def _is_given(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_given()
        tags.input_tags.sparse = takes_sparse(self.metric)
        tags.input_tags.allow_nan = self._is_given() and self._takes_gaps
        return tags

    def _validated(self, X: ArrayLike, *, reset: bool) -> NDArray[Any]:
        finite = "allow-nan" if self._is_given() and self._takes_gaps else True
        sparse = "csr" if takes_sparse(self.metric) else False
        return _checks.validate_data(self, X, dtype=FLOATS, ensure_all_finite=finite, accept_sparse=sparse, reset=reset)

    def _items(
        self, X: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[NDArray[Any], NDArray[np.float64] | None, NDArray[Any]]:
        """What is to be fitted, the weights, and the dissimilarities of all pairs."""
        checked_metric(self.metric)
        items = self._validated(X, reset=True)
        item_weights = weights(sample_weight, items)
        if self._is_given():
            return items, item_weights, items
        _checks.warn_of_dissimilarities(items)
        return items, item_weights, symmetric(of_rows(items, None, self.metric, self.metric_params, self.n_jobs))

    def _to_others(self, X: ArrayLike, others: NDArray[Any] | None, asked: str) -> NDArray[Any]:
        """The dissimilarities of items to other rows; those that ``X`` holds if there are no others."""
        items = self._validated(X, reset=False)
        to_others = items if others is None else of_rows(items, others, self.metric, self.metric_params, self.n_jobs)
        return not_negative(to_others, f"{type(self).__name__}.{asked}")


def not_negative(to_others: NDArray[Any], asked: str) -> NDArray[Any]:
    """Dissimilarities to other items, with 0 for what rounding left just below it: as far below as the library takes for rounding in a matrix."""
    if not np.any(to_others < 0):
        return to_others
    share = 3.5e-4 if to_others.dtype == np.float32 else 1.5e-8
    if np.nanmin(to_others) < -share * np.nanmax(np.abs(to_others)):
        row, column = np.unravel_index(np.nanargmin(to_others), to_others.shape)
        raise ValueError(
            f"Negative values in data passed to {asked}: dissimilarities are 0 or more. Got {to_others[row, column]} at [{row}, {column}]."
        )
    return np.maximum(to_others, 0)


def refuse_unknown(is_known: NDArray[np.bool_]) -> None:
    """The error for items of which nothing is known."""
    if not is_known.all():
        lost = np.flatnonzero(~is_known)
        raise ValueError(f"{len(lost)} of the items have no finite dissimilarity to any fitted item, the first at row {lost[0]} (counted from 0).")
