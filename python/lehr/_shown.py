"""Shows fitted estimators as reports: the rows by cluster, the clusters, and the history of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_is_fitted

from lehr import _checks, _native, _page
from lehr._centers import unpacked
from lehr._columns import Columns
from lehr._dendrogram import top_of
from lehr._explained import ExplainedMixin, OutliersMixin, _rows_in
from lehr._native import Fingerprints, Sequences
from lehr.report import Report

#: The maximum number of rows in the picture of a report. If there are more rows, the report draws a random row from each of equally long stretches.
_ROWS_MAX = 100_000
#: The maximum numbers of bytes of values and of columns in a report.
_BYTES_MAX, _COLUMNS_MAX = 3 << 20, 60
#: The maximum numbers of columns of centres in the table of clusters, of clusters in this table, and of outliers in their list.
_CENTRED_MAX, _LISTED_MAX, _OUTLIERS_MAX = 12, 1000, 20
#: For the heat map of dissimilarities: the number of cells on each side, the share of cells that may exceed the brightest shade, and the factor by which the
#: largest cell must exceed this shade.
_CELLS, _FAR, _FAR_TIMES = 240, 0.03, 2.0

#: The maximum number of nodes at the bottom of a tree of items.
_LEAVES = 80

#: The attributes that a report shows in large type, with their titles.
_TILES = (
    ("n_clusters_", "Clusters"), ("n_components_", "Components"), ("inertia_", "Sum of squares"), ("cost_", "Cost"), ("silhouette_score_", "Mean silhouette"), ("log_likelihood_", "Log-likelihood"),
    ("bic_", "BIC"), ("noise_variance_", "Noise variance"), ("order_", "Order"), ("stress_", "Stress"), ("stress_1_", "Stress-1"), ("temperature_", "Last temperature"),
    ("free_energy_", "Free energy"), ("n_iter_", "Iterations"),
)  # fmt: skip


class ShownMixin:
    """An estimator that can show itself in a notebook cell."""

    def show(self, X: Any = None, *, table: Any = None, labels: ArrayLike | None = None, names: Sequence[Any] | None = None, height: int = 720) -> Report:
        """Show the fitted model in a notebook cell, as the interactive report of the command.

        You can rotate, zoom and select points, colour them by any column, compare clusters and replay the annealing. The report contains its data and works
        offline. To write it to a file, use :meth:`lehr.report.Report.save`.

        Parameters
        ----------
        X : array-like, table, sparse matrix or Fingerprints, default=None
            The rows to draw, as for ``predict``: most estimators do not keep the fitted rows. With ``metric="precomputed"``, pass the dissimilarities of the
            fitted items. With ``None``, the report shows the model without rows. :class:`SMACOF`, :class:`GTM`, :class:`PairwiseClustering` and
            :class:`AgglomerativeClustering` keep their fitted items and show them anyway. The last two do not keep dissimilarities that you computed.
        table : table of pandas, Polars or Arrow, dict of columns, or array-like, default=None
            Columns of the same rows to show and to colour by: numbers, texts, dates, with or without missing values. ``None`` means the columns of ``X``.
        labels : array-like of shape (n_samples,), default=None
            The cluster of each row, -1 for no cluster. ``None`` means ``labels_`` if the estimator has kept ``X`` as its fitted items, otherwise the labels of
            ``predict(X)``.
        names : sequence, default=None
            The names of the rows. ``None`` means the numbers of the rows, from 0.
        height : int, default=720
            The height of the frame in the notebook, in pixels.

        Returns
        -------
        report : lehr.report.Report
            The report, which a notebook displays.

        Raises
        ------
        NotFittedError
            If the estimator has not been fitted.
        ValueError
            If ``X`` lacks columns of the model, or the table, the labels or the names have another number of rows than ``X``.

        Examples
        --------
        >>> import lehr
        >>> X = [[0.0, 1.0], [1.0, 1.5], [10.0, 2.0], [12.0, 1.0]]
        >>> lehr.DAClustering(2).fit(X).show(X, names=["ann", "bob", "cyd", "dan"])
        Report('4 rows in 2 clusters')
        """
        check_is_fitted(self)
        points = _Points.of(self, X, table, labels, names)
        made = _page.Page(_headline(self, points), f"lehr.{type(self).__name__}")
        made.tiles([(title, getattr(self, name)) for name, title in _TILES if getattr(self, name, None) is not None])
        _draw_points(made, self, points)
        _draw_tree(made, self, points)
        _draw_dissimilarities(made, self, points)
        _list_clusters(made, self, points)
        _list_outliers(made, self, points)
        _draw_course(made, self)
        _draw_map(made, self)
        parameters = getattr(self, "get_params")(deep=False)
        made.section("parameters", "Parameters", "", _page.facts([(name, _short(value)) for name, value in parameters.items()]))
        return Report._of(made.headline, made.html(), height)


class _Points(NamedTuple):
    """The rows of a report, with their clusters and columns."""

    #: The number of rows of the data.
    rows: int
    #: The cluster of each row; ``None`` for a map.
    labels: NDArray[Any] | None
    #: The probability of each row's cluster, if it is known.
    probabilities: NDArray[Any] | None
    #: The rows as numbers, dense or sparse; ``None`` if there are only dissimilarities.
    numbers: Any
    #: The columns that the report shows.
    columns: Columns | None
    #: The positions of the rows on a map.
    places: NDArray[Any] | None
    #: The dissimilarities of all pairs, if the model takes dissimilarities.
    matrix: NDArray[Any] | None
    names: list[str] | None
    #: The arguments of ``show`` in the form that the user gave.
    X: Any
    table: Any
    #: Whether the model takes dissimilarities.
    is_given: bool

    @classmethod
    def of(cls, model: Any, X: Any, table: Any, labels: ArrayLike | None, names: Sequence[Any] | None) -> _Points:
        is_given = bool(getattr(model, "_is_given", bool)())
        is_map = hasattr(model, "stress_")
        rows = X if X is None or is_given else _rows_in(model, X)
        if X is not None and rows is None:
            raise ValueError("X does not have the columns of the model: pass rows as for predict, and other columns as table.")
        told = _labels(model, rows, labels, is_given)
        places = getattr(model, "embedding_", None)
        if places is not None and rows is not None and not is_map:
            places = model.transform(rows)
        kept = getattr(model, "_fit_X", None) if rows is None else rows
        matrix = np.asarray(kept, dtype=np.float64) if is_given and kept is not None and not is_map else None
        numbers, columns = (None, None) if is_given or kept is None else _numbers(model, kept, X)
        columns = columns if table is None else Columns(table)
        count = next((_length(some) for some in (places, numbers, told, columns) if some is not None), 0)
        for what, some in (("X", numbers), ("table", columns), ("labels", told), ("names", names)):
            if some is not None and _length(some) != count:
                raise ValueError(f"expected {what} of {count} rows, found {_length(some)}: pass X, the rows that it belongs to.")
        return cls(count, told, _probabilities(model, rows, told), numbers, columns, places, matrix, None if names is None else [str(name) for name in names], X, table, is_given)

    @property
    def drawn(self) -> NDArray[np.int64]:
        """Returns the rows that the report draws: a random row from each of equally long stretches, because rows may repeat a pattern."""
        ends = np.linspace(0, self.rows, min(self.rows, _ROWS_MAX) + 1).astype(np.int64)
        return ends[:-1] + (np.random.default_rng(0).random(len(ends) - 1) * np.diff(ends)).astype(np.int64)


def _length(rows: Any) -> int:
    # Sparse rows have no ``len``.
    return int(rows.shape[0]) if hasattr(rows, "shape") else len(rows)


def _labels(model: Any, rows: Any, labels: ArrayLike | None, is_given: bool) -> NDArray[Any] | None:
    """Returns the cluster of each row; ``None`` if the model has no clusters."""
    if labels is not None:
        told = np.asarray(labels)
        if told.ndim != 1 or told.dtype.kind not in "iu":
            raise _checks.wrong("labels", "a whole number for each row", told)
        return told
    known = getattr(model, "labels_", None)
    # A square matrix of this size has the dissimilarities among the fitted items. ``predict`` takes dissimilarities of new items to the fitted items.
    is_fitted = is_given and known is not None and np.shape(rows) == (len(known), len(known))
    kept = getattr(model, "_fit_X", None)
    if kept is not None and not is_fitted and not issparse(kept) and known is not None:
        # For its own items, a cut tree may predict other clusters than those of the tree.
        is_fitted = np.shape(rows) == kept.shape and np.array_equal(np.asarray(rows), kept)
    if known is not None and not hasattr(model, "predict") and rows is not None and _length(rows) != len(known):
        raise ValueError(f"{type(model).__name__} has labels of its {len(known)} fitted rows only: pass these rows, or pass labels. Got {_length(rows)} rows.")
    if rows is None or is_fitted or not hasattr(model, "predict"):
        return None if known is None else np.asarray(known)
    return np.asarray(model.predict(rows))


def _probabilities(model: Any, rows: Any, labels: NDArray[Any] | None) -> NDArray[Any] | None:
    """Returns the probability of each row's cluster, unless the labels are not those of the model."""
    if labels is None:
        return None
    known, own = getattr(model, "probabilities_", None), getattr(model, "labels_", None)
    if known is not None and own is not None and np.ndim(known) == 1 and np.array_equal(labels, own):
        return np.asarray(known)
    if rows is None or not hasattr(model, "predict_proba") or not np.array_equal(labels, model.predict(rows)):
        return None
    found = np.asarray(model.predict_proba(rows))
    inside = (labels >= 0) & (labels < found.shape[1])
    return np.where(inside, found[np.arange(len(labels)), np.where(inside, labels, 0)], np.nan)


def _numbers(model: Any, rows: Any, X: Any) -> tuple[Any, Columns | None]:
    """Returns the rows as numbers, and the columns to show."""
    if isinstance(rows, Fingerprints):
        return csr_array(unpacked(rows.packed(), rows.n_bits)).astype(np.float64), None
    if isinstance(rows, Sequences):
        return None, None
    if issparse(rows):
        return csr_array(rows).astype(np.float64), None
    columns = Columns(rows)
    numbers = np.column_stack([values for _, kind, values, *_ in columns._columns if kind == "numbers"])
    shown = columns if X is None else Columns(X)
    names = [str(name) for name in getattr(model, "feature_names_in_", [])]
    if not shown.is_named and len(shown.names) == len(names):
        shown = shown.called(names)
    return numbers, shown


def _headline(model: Any, points: _Points) -> str:
    if hasattr(model, "embedding_"):
        if not hasattr(model, "stress_"):
            return f"{points.rows:,} rows on a map"
        width = model.embedding_.shape[1]
        return f"{points.rows:,} items in {width} {'dimension' if width == 1 else 'dimensions'}"
    groups, word = _groups(model)
    found = f"{groups:,} {word if groups != 1 else word[:-1]}"
    noise = 0 if points.labels is None else int(np.count_nonzero(points.labels < 0))
    if noise and hasattr(model, "condensed_tree_"):
        found += f"; {noise:,} of noise"
    if not points.rows:
        return found[0].upper() + found[1:]
    things = "item" if points.matrix is not None else "row"
    return f"{points.rows:,} {things if points.rows == 1 else f'{things}s'} in {found}"


def _groups(model: Any) -> tuple[int, str]:
    """Returns the number of clusters or components of a model, and the word for them."""
    if hasattr(model, "means_"):
        return len(model.means_), "components"
    return int(model.n_clusters_), "clusters"


def _draw_points(page: _page.Page, model: Any, points: _Points) -> None:
    layouts = _layouts(model, points)
    columns = _columns(model, points)
    numbers = sum("values" in column for column in columns)
    if not layouts and numbers < 2:
        if points.matrix is None:
            kind = "dissimilarities" if points.is_given else "rows"
            page.section("points", "The points", f"To see the {kind} here, pass them: show(X).")
        return
    drawn = points.drawn
    # An axis that has the values of a column is the column's index.
    places = {column["values"]: place for place, column in enumerate(columns) if "values" in column}
    for layout in layouts:
        layout["axes"] = [places.get(axis, axis) for axis in layout["axes"]]
    scene: dict[str, Any] = {
        "kind": "scene", "name": type(model).__name__, "rows": len(drawn), "columns": columns, "groupings": [], "layouts": layouts, "isEqual": False,
    }  # fmt: skip
    if len(drawn) < points.rows:
        scene["numbers"] = _page.rows(drawn)
    if points.names is not None:
        scene["ids"] = [points.names[row] for row in drawn]
    if points.labels is not None:
        grouping: dict[str, Any] = {"title": _groups(model)[1], "of": _page.labels(points.labels[drawn])}
        about = _marks(model, points)
        if about:
            grouping["about"] = about
        if points.probabilities is not None:
            grouping["probability"] = _page.probabilities(points.probabilities[drawn])
            grouping["means"] = _means(points.labels, points.probabilities, _groups(model)[0])
        partners, joins = _merges(model)
        if partners:
            grouping |= {"partners": partners, "joins": joins}
        scene["groupings"].append(grouping)
        scene["table"] = "clusters"
    elif hasattr(model, "item_stress_"):
        scene["colour"] = f"column:{columns[-1]['name']}"
    elif numbers:
        scene["colour"] = f"column:{next(column['name'] for column in columns if 'values' in column)}"
    note = f"The page draws {len(drawn):,} of {points.rows:,} rows, evenly chosen." if len(drawn) < points.rows else ""
    page.section("points", "The map" if points.places is not None else "The points", note, page.figure("picture", scene))


def _means(labels: NDArray[Any], probabilities: NDArray[Any], groups: int) -> list[float]:
    """Returns the mean probability of each cluster."""
    known = (labels >= 0) & (labels < groups)
    sums = np.bincount(labels[known], probabilities[known], minlength=groups)
    return (sums / np.maximum(np.bincount(labels[known], minlength=groups), 1)).tolist()


def _merges(model: Any) -> tuple[list[str], list[tuple[int, int] | None]]:
    """Returns the clusters that each cluster merges with first, and the order in which clusters disappear; empty lists for models without centres."""
    centers, clusters = getattr(model, "cluster_centers_", None), getattr(model, "clusters_", None)
    if centers is None or clusters is None or issparse(centers):
        return [], []
    return _native.merged_clusters(np.ascontiguousarray(centers, dtype=np.float64), clusters["weight"].tolist())


def _columns(model: Any, points: _Points) -> list[dict[str, Any]]:
    """Returns the columns that the report contains."""
    drawn = points.drawn
    room = int(np.clip(_BYTES_MAX // (4 * max(1, len(drawn))), 2, _COLUMNS_MAX))
    found: list[dict[str, Any]] = []
    for name, kind, values, levels, _ in points.columns._columns[:room] if points.columns is not None else []:
        if kind == "numbers":
            found.append({"name": name, "values": _page.floats(values[drawn])})
            continue
        texts = [_date(value) for value in values[drawn]] if kind == "times" else [levels[code] if code >= 0 else "" for code in values[drawn]]
        if sum(map(len, texts)) <= _BYTES_MAX:
            found.append({"name": name, "texts": texts})
    for name, title in (("item_stress_", "stress"), ("outlier_scores_", "outlier score")):
        scores = getattr(model, name, None)
        if scores is not None and len(scores) == points.rows:
            found.append({"name": title, "values": _page.floats(scores[drawn])})
    return found


def _date(seconds: float) -> str:
    """Formats a time as a day, with the time of day unless it is midnight."""
    if not np.isfinite(seconds):
        return ""
    text = str(np.datetime64(round(seconds), "s"))
    return text.removesuffix("T00:00:00").replace("T", " ")


def _marks(model: Any, points: _Points) -> list[str]:
    """Returns the name of each cluster, which describes the columns in which the cluster differs."""
    if not isinstance(model, ExplainedMixin) or points.X is None or points.columns is None or points.labels is None:
        return []
    return [portrait.name for portrait in model.explain(points.X, table=points.table, labels=points.labels)]


def _layouts(model: Any, points: _Points) -> list[dict[str, Any]]:
    """Returns the layouts of the rows: on a map, on their principal axes, or by their two columns."""
    drawn = points.drawn
    if points.places is not None:
        places = np.asarray(points.places)[drawn, :3]
        names = [f"z{axis + 1}" for axis in range(places.shape[1])]
        about = _ground(model) if hasattr(model, "magnifications_") else {"title": "map"}
        return [_layout("places", names, places, isEqual=True, **about)]
    if points.numbers is None or not len(drawn):
        return []
    # The package has already imported lehr.plot, but not matplotlib.
    from lehr.plot import _covariances, _Plane

    rows = points.numbers[drawn]
    width = rows.shape[1]
    notes = []
    if not issparse(rows) and np.isnan(rows).any():
        known = ~np.isnan(rows)
        means = np.divide(np.where(known, rows, 0.0).sum(axis=0), known.sum(axis=0), out=np.zeros(width), where=known.any(axis=0))
        rows = np.where(known, rows, means)
        notes.append("Rows that lack a value are drawn as if they had its column's mean.")
    if width > 2 and min(rows.shape) < 3:
        return []
    with np.errstate(invalid="ignore", divide="ignore"):
        plane = _Plane(rows if width > 2 or not issparse(rows) else rows.toarray())
    names = [name.replace("(nan% of the variance)", "").strip() for name in plane.names]
    if width > 2:
        notes.insert(0, f"The axes are the two directions in which the {width} columns vary most. Clusters that overlap here may be apart in other directions.")
    elif points.columns is not None:
        names = [*points.columns.names[:width], ""][:2]
    beyond: dict[str, Any] = {"title": "principal axes" if width > 2 else " and ".join(name for name in names if name), "note": " ".join(notes), "isEqual": width > 2}
    if hasattr(model, "means_"):
        spread = (plane.axes @ matrix @ plane.axes.T for matrix in _covariances(model))
        beyond["outlines"] = [
            {"group": group, "mean": list(mean), "covariance": [matrix[0, 0], matrix[0, 1], matrix[1, 1]]}
            for group, (mean, matrix) in enumerate(zip(plane.places(model.means_), spread, strict=True))
        ]
        beyond["note"] = " ".join(["Solid ellipses are at one standard deviation of a component, dashed ones at two.", *notes])
    return [_layout("picture", names, np.asarray(plane.places(rows)), **beyond)]


def _layout(key: str, names: list[str], places: NDArray[Any], **beyond: Any) -> dict[str, Any]:
    if places.shape[1] == 1:
        names, places = [names[0], ""], np.column_stack([places, np.zeros(len(places))])
    return {"key": key, "names": names, "axes": [_page.floats(axis) for axis in places.T], **beyond}


def _ground(model: Any) -> dict[str, Any]:
    """Returns the background of a topographic map: shades that show how far the map is stretched at each node."""
    side, width = model.n_nodes_, model.embedding_.shape[1]
    if width > 2:
        return {"title": "topographic map"}
    stretched = np.log(np.maximum(model.magnifications_, np.finfo(float).tiny))
    low, high = stretched.min(), stretched.max()
    tall = side if width == 2 else 1
    corner = [count / (count - 1) if count > 1 else 1.0 for count in (side, tall)]
    shade = (stretched - low) / (high - low or 1.0)
    return {
        "title": "topographic map",
        "note": f"The background is darker where the map is stretched: from {np.exp(low):.3g} to {np.exp(high):.3g}, logarithmic.",
        "ground": {"columns": side, "rows": tall, "shade": shade, "low": [-end for end in corner], "high": corner},
    }


def _draw_tree(page: _page.Page, model: Any, points: _Points) -> None:
    if not hasattr(model, "linkage_matrix_"):
        return
    # The tree always has the fitted items, whose names may be unknown if the report shows other rows.
    names = points.names if points.labels is not None and np.array_equal(points.labels, model.labels_) else None
    tree = top_of(model, model._names_of_items(names), _LEAVES)
    drawn = {"kind": "dendrogram", "title": "tree", "leaves": [leaf._asdict() for leaf in tree.leaves], "joins": tree.joins, "cut": tree.cut}
    note = "Two parts are joined at the height of their distance. The dashed line cuts the tree into the clusters."
    if len(tree.leaves) < model.n_leaves_:
        note += " The page draws only the top of the tree."
    page.section("dendrogram-section", "The tree", note, page.figure("dendrogram", drawn))


def _draw_dissimilarities(page: _page.Page, model: Any, points: _Points) -> None:
    matrix, labels = points.matrix, points.labels
    if matrix is None or labels is None or matrix.shape != (len(labels), len(labels)):
        return
    # Items of noise stand in no cluster.
    items = np.flatnonzero(labels >= 0)
    if not len(items):
        return
    matrix, labels = matrix[np.ix_(items, items)], labels[items]
    from scipy.cluster.hierarchy import leaves_list, linkage

    groups = int(labels.max(initial=0)) + 1
    known = np.isfinite(matrix)
    np.fill_diagonal(known, False)
    filled = np.where(known, matrix, 0.0)
    members = np.equal.outer(labels, np.arange(groups)).astype(np.float64)
    pairs = members.T @ known @ members
    between = np.divide(members.T @ filled @ members, pairs, out=np.full((groups, groups), np.nan), where=pairs > 0)
    order, tree = np.arange(groups), []
    if groups > 1:
        apart = np.where(np.isnan(between), np.nanmax(between, initial=0.0), between)
        joins = linkage(apart[np.triu_indices(groups, 1)], "average", optimal_ordering=True)
        order = leaves_list(joins)
        place = np.argsort(order)
        tree = [[int(place[int(node)]) if node < groups else int(node) for node in (a, b)] + [height] for a, b, height, _ in joins]
    sorted_rows = np.argsort(np.argsort(order)[labels], kind="stable")
    cells = min(len(labels), _CELLS)
    starts = np.arange(cells) * len(labels) // cells
    in_order = np.ix_(sorted_rows, sorted_rows)
    sums, counts = (np.add.reduceat(np.add.reduceat(some[in_order], starts, axis=0), starts, axis=1) for some in (filled, known.astype(np.float64)))
    means = np.divide(sums, counts, out=np.full((cells, cells), np.nan), where=counts > 0)
    # A diagonal cell with a single item has no pair. An item has dissimilarity 0 from itself.
    means[np.diag_indices(cells)] = np.where(np.isnan(np.diag(means)), 0.0, np.diag(means))
    largest, beyond = _brightest(means)
    sizes = members.sum(axis=0)[order]
    ends = np.cumsum(sizes) / len(labels)
    page.section(
        "heat-section", "The dissimilarities",
        "Dark means a small dissimilarity: a cluster is a dark square on the diagonal. Close clusters stand beside each other, joined above by the mean dissimilarity between them.",
        page.figure("heat", {
            "kind": "heat", "title": "The dissimilarities", "cells": cells, "levels": _page.shares(means.ravel() / (largest or 1.0)), "largest": largest, "beyond": beyond,
            "blocks": [{"cluster": int(cluster), "from": end - size / len(labels), "to": end, "items": int(size)} for cluster, end, size in zip(order, ends, sizes, strict=True)],
            "between": _page.floats(between[np.ix_(order, order)].ravel()), "tree": tree,
            "ids": [(points.names[row] if points.names else f"row {row}") for row in items[sorted_rows]] if len(labels) <= 20_000 else None,
        }),
    )  # fmt: skip


def _brightest(means: NDArray[np.float64]) -> tuple[float, float | None]:
    """Returns the mean for the brightest shade, and the largest mean if it is higher. If the largest mean set the scale, one far item would make all other cells dark."""
    known = np.sort(means[np.isfinite(means)])
    if not len(known):
        return 0.0, None
    most, largest = float(known[int((len(known) - 1) * (1.0 - _FAR))]), float(known[-1])
    return (most, largest) if most > 0.0 and largest > _FAR_TIMES * most else (largest, None)


def _list_clusters(page: _page.Page, model: Any, points: _Points) -> None:
    if hasattr(model, "embedding_"):
        return
    groups, word = _groups(model)
    head: list[str] = [word[:-1]]
    cells: list[Sequence[Any]] = [list(range(groups))]
    if points.labels is not None:
        head.append("items" if points.matrix is not None else "rows")
        cells.append(np.bincount(points.labels[points.labels >= 0], minlength=groups).tolist()[:groups])
    partners = _merges(model)[0]
    known: Any = getattr(model, "clusters_", None)
    for name in (known.dtype.names or ()) if known is not None else ():
        if name != "n_samples":
            head.append(name.replace("_", " "))
            cells.append(known[name].tolist())
    if hasattr(model, "means_"):
        head.append("weight")
        cells.append(np.asarray(model.weights_).tolist())
    if hasattr(model, "medoid_indices_") and (known is None or "medoid" not in (known.dtype.names or ())):
        head.append("medoid")
        cells.append(model.medoid_indices_.tolist())
    if points.names is not None and "medoid" in head and points.labels is getattr(model, "labels_", None):
        of = head.index("medoid")
        cells[of] = [points.names[row] for row in cells[of]]
    centers = getattr(model, "means_", getattr(model, "cluster_centers_", None))
    if centers is not None and not issparse(centers):
        width = np.shape(centers)[1]
        names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{column}" for column in range(width)])]
        head.extend(names[:_CENTRED_MAX])
        cells.extend(np.asarray(centers, dtype=np.float64)[:, column].tolist() for column in range(min(width, _CENTRED_MAX)))
    if partners:
        head.append("merges first with")
        cells.append(partners)
    listed = [(cluster, [column[cluster] for column in cells]) for cluster in range(min(groups, _LISTED_MAX))]
    note = "Click a number to select its rows." if points.labels is not None and points.matrix is None else ""
    page.section("table", f"The {word}", note, _page.table("clusters", f"The {word}", head, listed))


def _list_outliers(page: _page.Page, model: Any, points: _Points) -> None:
    if not isinstance(model, OutliersMixin) or points.X is None or points.labels is None:
        return
    found = model.outliers(points.X, labels=points.labels)
    if not len(found):
        return
    body = [
        (None, [points.names[one.row] if points.names else one.row, one.cluster, one.distance, one.score, ", ".join(f"{name} ({share:.0%})" for name, share in one.columns)])
        for one in found[:_OUTLIERS_MAX]
    ]
    shown = f" The first {_OUTLIERS_MAX} are listed." if len(found) > _OUTLIERS_MAX else ""
    page.section(
        "outliers-section", f"{len(found):,} {'row' if len(found) == 1 else 'rows'} far out",
        f"Unusually far from the nearest centre for their cluster, or in a cluster of hardly any rows. The columns have most of the squared distance.{shown}",
        _page.table("outliers", "Rows far out", ["row", "nearest cluster", "distance", "score", "columns"], body),
    )  # fmt: skip


def _draw_course(page: _page.Page, model: Any) -> None:
    """Draws the history of the fit."""
    history: Any = getattr(model, "history_", None)
    names = _fields(history)
    drawn: dict[str, Any] | None = None
    title, note = "How the clusters came about", ""
    if "n_clusters" in names and len(history):
        steps = history[["temperature", "n_clusters", "free_energy"]].tolist()
        splits = [
            [split["temperature"], int(split["parent"]), None if np.isnan(split["merged_at"]) else split["merged_at"], None if split["merged_into"] < 0 else int(split["merged_into"])]
            for split in model.splits_
        ]
        drawn = {"kind": "anneal", "steps": steps, "splits": splits, "unit": ""}
        note = getattr(model, "choice_", None) or ""
    elif "silhouette" in _fields(getattr(model, "candidates_", None)) and len(model.candidates_) > 1:
        title, found = "How many clusters", model.candidates_
        note = "A mean silhouette is 1 if all items are far closer to their own cluster than to another one."
        drawn = _line("Mean silhouette", "clusters", found["n_clusters"], found["silhouette"], dots="line", best=int(np.argmax(found["silhouette"])))
    elif hasattr(model, "bic_") and len(model.candidates_) > 1:
        title, found = "How many components", model.candidates_
        note = "BIC weighs the likelihood against the number of parameters. Lower is better."
        drawn = _line("BIC", "components", found["n_components"], found["bic"], dots="line", best=int(np.nanargmin(found["bic"])))
    elif "noise_variance" in names:
        title = "How the map unfolded"
        drawn = _line("Noise, as a standard deviation", "temperature", history["temperature"], np.sqrt(history["noise_variance"]), isLogX=True, isFalling=True)
    elif "stress" in names:
        title = "How the stress fell"
        drawn = _line("Stress", "iteration", np.arange(1, len(history) + 1), history["stress"], isLogY=bool(np.all(history["stress"] > 0)))
    elif len(getattr(model, "inertias_", ())) > 1:
        note = "The sum of squares of each start."
        drawn = _line("Sum of squares", "start", np.arange(1, len(model.inertias_) + 1), model.inertias_, dots="alone", best=int(np.argmin(model.inertias_)))
    if drawn is not None:
        page.section("course-section", title, note, page.figure("course", drawn))


def _fields(table: Any) -> Sequence[str]:
    """Returns the names of the columns of a structured array, which may be ``None``."""
    return () if table is None else table.dtype.names or ()


def _line(title: str, across: str, x: NDArray[Any], y: NDArray[Any], **how: Any) -> dict[str, Any]:
    return {"kind": "lines", "lines": [{"title": title, "xName": across, "x": x, "y": y, **how}]}


def _draw_map(page: _page.Page, model: Any) -> None:
    """Draws the columns across a topographic map, or the Shepard diagram of a map of items."""
    if hasattr(model, "shepard_"):
        counts = np.asarray(model.shepard_["counts"])
        ends = [model.shepard_["largest_distance"], model.shepard_["largest_dissimilarity"]]
        density = {
            "kind": "density", "title": "Distances and dissimilarities", "bins": len(counts), "counts": counts.ravel(), "names": ["distance in the map", "dissimilarity"], "ends": ends,
        }  # fmt: skip
        page.section("density-section", "Distances and dissimilarities", "The number of pairs by dissimilarity and by distance in the map. On the line, both are equal.", page.figure("density", density))
    if hasattr(model, "magnifications_") and model.embedding_.shape[1] == 2:
        width = model.means_.shape[1]
        names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{column}" for column in range(width)])][:_CENTRED_MAX]
        planes = [{"name": name, "values": _page.floats(model.means_[:, column])} for column, name in enumerate(names)]
        page.section(
            "planes-section", "The columns across the map", "The row that the map predicts at each node.",
            page.figure("planes", {"kind": "planes", "title": "columns", "columns": model.n_nodes_, "rows": model.n_nodes_, "planes": planes}),
        )  # fmt: skip


def _short(value: Any) -> Any:
    """Formats a parameter in one short line."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return "none" if value is None else value
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}…"
