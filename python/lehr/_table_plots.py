"""Plots of the clusters of a table, by its columns. :mod:`lehr.plot` exports these functions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lehr._drawing import COLOURS, axes_or_new, class_colours
from lehr._grouped import Column, Grouped, Silhouettes, spread, word_of

#: The maximum numbers of columns in one plot, and of box plots. If there are more columns, the plot shows those that differ most between clusters.
_MOST_COLUMNS, _MOST_BOXES = 40, 24
#: The maximum numbers of lines for rows, and of outliers for each box, that a plot draws.
_MOST_LINES, _MOST_OUTLIERS = 1000, 200
#: The colour scale ends at this many standard deviations from the mean.
_MOST_SCORE = 3.0
#: The maximum number of letters that a plot shows of a column's name.
_LETTERS = 30


def _colour(group: int, count: int) -> Any:
    """Returns the colour of a cluster, as in :func:`clusters`. The last group, the rows in no cluster, is grey."""
    return class_colours()[group % COLOURS] if group < count else "grey"


def _ink() -> Any:
    """Returns the text colour of the current matplotlib style, which also suits dark styles."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def _short(name: str) -> str:
    return name if len(name) <= _LETTERS else f"{name[: _LETTERS - 1]}…"


def _longest(columns: list[Column]) -> float:
    """Returns the length of the longest shown name in inches, at about 0.07 inches for each letter."""
    return 0.07 * max(len(_short(column.name)) for column in columns)


def _name_columns(ax: Any, columns: list[Column]) -> None:
    """Writes the names of columns below the axes, rotated if they would overlap."""
    # The factor 0.9 leaves space for a legend or a colour bar, which may be added beside the axes later.
    meet = len(columns) * (_longest(columns) + 0.07) > 0.9 * ax.get_window_extent().width / ax.figure.dpi
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if meet else {}
    ax.set_xticks(range(len(columns)), [_short(column.name) for column in columns], fontsize=8, **turned)


def _counted(grouped: Grouped, columns: list[Column], of: int) -> str:
    """Returns the numbers of clusters and columns, for the title of a plot."""
    groups = f"{grouped.count} {grouped.word}{'s' if grouped.count != 1 else ''}"
    shown = f"{len(columns)} of {of}" if len(columns) < of else f"{of}"
    return f"{groups}, {shown} column{'s' if of != 1 else ''}"


def profiles(model: Any, X: Any, *, ax: Any = None) -> Any:
    """Plot a heat map of the clusters' means, with a row for each cluster and a column for each column of ``X``.

    Means are shown as z-scores, so that columns in different units are comparable: 1 is one standard deviation above the mean of all rows. Missing values are
    left out. Each text in at least 5 % of the rows becomes a column, such as ``plan = gold``, with the z-score of its share. If there are more than 40 columns,
    the plot shows the 40 columns whose means differ most. Cells without any value are grey.

    Parameters
    ----------
    model : AgglomerativeClustering, DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator.
    X : {array-like, table of pandas, Polars or Arrow, dict of columns, sparse matrix or array, Fingerprints} of shape (n_samples, n_columns)
        The fitted rows, or other columns of the same rows, such as the table before its preparation.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure that is large enough for the values.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of rows in ``X`` differs from the number of fitted rows, or ``X`` has no column to show.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> table = {"visits": [1.0, 2.0, 11.0, 12.0], "plan": ["basic", "basic", "gold", "gold"]}
    >>> model = lehr.KMeans(2).fit([[visits] for visits in table["visits"]])
    >>> ax = lehr.plot.profiles(model, table)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['visits', 'plan = basic', 'plan = gold']
    """
    grouped = Grouped(model, X)
    columns, of = grouped.differing(grouped.all(with_texts=True), _MOST_COLUMNS)
    if not columns:
        raise ValueError("expected a column of numbers, dates or texts that at least a twentieth of the rows share, but not all: found none in X")
    scores = np.column_stack([grouped.scores(column) for column in columns])
    height, width = scores.shape
    ax = axes_or_new(ax, (float(np.clip(3.0 + 0.42 * width, 6.4, 18.0)), float(np.clip(1.0 + 0.36 * height, 2.2, 12.0)) + 0.8 * _longest(columns)))
    # Already imported with the axes.
    from matplotlib import colormaps

    largest = float(np.nanmax(np.abs(scores), initial=0.0))
    end = min(largest, _MOST_SCORE) or 1.0
    image = ax.imshow(scores, cmap=colormaps["RdBu_r"].with_extremes(bad="lightgrey"), vmin=-end, vmax=end, aspect="auto", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="z-score of the mean", extend="both" if largest > end else "neither")
    _name_columns(ax, columns)
    if height <= 2 * COLOURS:
        ax.set_yticks(range(height), [f"{name} ({rows:,})" for name, rows in zip(grouped.names, grouped.rows, strict=True)], fontsize=8)
    ax.set(title=_counted(grouped, columns, of), ylabel=f"{grouped.word} (rows)")
    _write(ax, image, scores)
    return ax


def _write(ax: Any, image: Any, scores: NDArray[np.float64]) -> None:
    """Writes the values into the cells of a heat map, if the cells are large enough."""
    # The size of the cells is only known after the layout.
    ax.figure.canvas.figure.draw_without_rendering()
    box, point = ax.get_window_extent(), ax.figure.dpi / 72.0
    height, width = scores.shape
    if box.width / width < 20.0 * point or box.height / height < 9.0 * point:
        return
    brightness = image.to_rgba(np.nan_to_num(scores))[..., :3] @ np.array([0.3, 0.59, 0.11])
    for (row, column), score in np.ndenumerate(scores):
        if not np.isnan(score):
            colour = "white" if brightness[row, column] < 0.5 else "black"
            # Adding 0.0 avoids "-0.0".
            ax.text(column, row, f"{round(score, 1) + 0.0:.1f}", ha="center", va="center", fontsize=7, color=colour)


def box_plots(model: Any, X: Any, *, columns: str | int | Sequence[str | int] | None = None, axes: Any = None) -> Any:
    """Plot a small box plot for each column, with a box for each cluster.

    A box extends from the lower to the upper quartile, with a line at the median. Whiskers end at the last value within 1.5 interquartile ranges of the box.
    Dots show the values beyond the whiskers, at most 200 for each box. Missing values and columns of texts are left out; for texts, use :func:`profiles`.

    Parameters
    ----------
    model : AgglomerativeClustering, DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator.
    X : {array-like, table of pandas, Polars or Arrow, dict of columns, sparse matrix or array, Fingerprints} of shape (n_samples, n_columns)
        The fitted rows, or other columns of the same rows, such as the table before its preparation.
    columns : str, int or sequence of them, default=None
        The columns to show, by name, or by position from 0. ``None`` means all columns of numbers and dates. If there are more than 24 columns, the 24 columns
        whose means differ most.
    axes : sequence or array of matplotlib.axes.Axes, default=None
        The axes to draw on, at least one for each column. ``None`` creates a grid in a new figure.

    Returns
    -------
    ndarray of matplotlib.axes.Axes
        The axes, one for each column.

    Raises
    ------
    ValueError
        If the number of rows in ``X`` differs from the number of fitted rows, or ``X`` lacks one of ``columns``. Also if one of ``columns`` contains texts, or
        there are fewer axes than columns.
    TypeError
        If ``axes`` contains something other than matplotlib axes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> table = {"visits": [1.0, 2.0, 11.0, 12.0], "age": [30.0, 50.0, 40.0, 60.0]}
    >>> model = lehr.KMeans(2).fit([[visits] for visits in table["visits"]])
    >>> [ax.get_title() for ax in lehr.plot.box_plots(model, table)]
    ['visits', 'age']
    """
    grouped = Grouped(model, X)
    if columns is None:
        chosen, of = grouped.differing(grouped.all(), _MOST_BOXES)
        if not chosen:
            raise grouped.only_texts()
    else:
        chosen = grouped.chosen([columns] if isinstance(columns, str) or not isinstance(columns, Iterable) else columns)
        of = len(chosen)
        if not chosen:
            raise ValueError("expected one column or more in columns, found none; None shows all")
    given = axes is not None
    across = len(chosen) if len(chosen) < 5 else int(np.ceil(np.sqrt(len(chosen))))
    drawn = np.ravel(np.asarray(axes, dtype=object)) if given else _grid(len(chosen), across, len(grouped.names))
    if len(drawn) < len(chosen):
        raise ValueError(f"expected axes for {len(chosen)} columns, found {len(drawn)}: pass more axes, or fewer columns")
    drawn = drawn[: len(chosen)]
    for ax in drawn:
        if not hasattr(ax, "bxp"):
            raise TypeError(f"expected axes of matplotlib in axes, found {type(ax).__name__}")
    for ax, column in zip(drawn, chosen, strict=True):
        _boxes(ax, grouped, column)
    # In a grid, only the lowest axes of each column of the grid get a label.
    for ax in drawn if given else drawn[-across:]:
        ax.set_xlabel(grouped.word, fontsize=8)
    if not given and len(chosen) < of:
        drawn[0].figure.suptitle(f"{len(chosen)} of {of} columns", fontsize=10)
    return drawn


def _grid(count: int, across: int, groups: int) -> NDArray[Any]:
    """Returns the axes of a new figure, as a grid with ``across`` axes in each row."""
    import matplotlib.pyplot as plt

    down = -(-count // across)
    size = (across * float(np.clip(1.2 + 0.12 * groups, 2.0, 4.0)), 0.3 + 1.9 * down)
    axes = plt.subplots(down, across, figsize=size, layout="constrained", squeeze=False)[1].ravel()
    for ax in axes[count:]:
        ax.remove()
    return axes[:count]


def _boxes(ax: Any, grouped: Grouped, column: Column) -> None:
    """Draws a box for each group that has a value in the column."""
    parts = grouped.parts(column)
    there = [group for group, part in enumerate(parts) if len(part)]
    # Matplotlib takes dates as days since 1970.
    drawn = ax.bxp(
        [_box(parts[group] / 86400.0 if column.is_time else parts[group]) for group in there], positions=there, widths=0.7, patch_artist=True, manage_ticks=False,
        flierprops={"marker": ".", "markersize": 3}, medianprops={"color": "black", "linewidth": 1.5},
    )  # fmt: skip
    for name in ("boxes", "whiskers", "caps"):
        for line in drawn[name]:
            line.set(color=_ink(), linewidth=0.8)
    for group, box, outliers in zip(there, drawn["boxes"], drawn["fliers"], strict=True):
        colour = _colour(group, grouped.count)
        box.set_facecolor(colour)
        outliers.set(markerfacecolor=colour, markeredgecolor=colour)
    if column.is_time:
        from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

        places = AutoDateLocator(maxticks=6)  # type: ignore[no-untyped-call]
        ax.yaxis.set(major_locator=places, major_formatter=ConciseDateFormatter(places))  # type: ignore[no-untyped-call]
    names = [str(group) for group in range(grouped.count)] + ["none"] * (len(parts) - grouped.count)
    ax.set_xlim(-0.7, len(parts) - 0.3)
    step = -(-len(parts) // COLOURS)
    ax.set_xticks(range(0, len(parts), step), names[::step])
    ax.tick_params(labelsize=8)
    ax.set_title(_short(column.name), fontsize=9)


def _box(values: NDArray[np.float64]) -> dict[str, Any]:
    """Returns the five numbers of a box, and its outliers. If there are many outliers, returns some at even intervals of their order."""
    lower, median, upper = np.quantile(values, [0.25, 0.5, 0.75])
    reach = 1.5 * (upper - lower)
    inside = (values >= lower - reach) & (values <= upper + reach)
    # An interpolated quartile may lie beyond all values within the whiskers' reach.
    low, high = min(values[inside].min(initial=lower), lower), max(values[inside].max(initial=upper), upper)
    beyond = np.sort(values[~inside])
    return {"q1": lower, "med": median, "q3": upper, "whislo": low, "whishi": high, "fliers": beyond[spread(len(beyond), _MOST_OUTLIERS)]}


def silhouettes(model: Any, X: Any, *, sample_weight: ArrayLike | None = None, ax: Any = None) -> Any:
    """Plot the silhouettes of the rows, sorted within each cluster, with the mean of all rows as a line.

    The silhouette of a row is (b - a) / max(a, b). The mean distance to the other rows of its cluster is ``a``. The mean distance to the rows of the nearest
    other cluster is ``b``. Near 1, the row is well inside its cluster; near 0, it lies between two clusters; below 0, another cluster is nearer. Distances are
    Euclidean, or by the metric of the model.

    Rows in no cluster are left out. If there are more than 2,000 rows, the plot compares and shows 2,000 rows, at even intervals within the clusters.

    Parameters
    ----------
    model : AgglomerativeClustering, DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator with two clusters or more.
    X : {array-like, table of pandas, Polars or Arrow, sparse matrix or array, Fingerprints} of shape (n_samples, n_features)
        The fitted rows; with ``metric="precomputed"``, the fitted dissimilarities.
    sample_weight : array-like of shape (n_samples,), default=None
        Rows of weight 0 are left out. Other weights have no effect.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If ``X`` does not have the shape of the fitted data, or the rows are in fewer than two clusters.

    References
    ----------
    Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of cluster analysis", Journal of Computational and Applied Mathematics 20
    (1987).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> X = [[0.0], [1.0], [10.0], [11.0]]
    >>> lehr.plot.silhouettes(lehr.KMeans(2).fit(X), X).get_title()
    'mean silhouette 0.90'
    """
    found = Silhouettes.of(model, X, sample_weight)
    known, counts = np.unique(found.labels, return_counts=True)
    ax = axes_or_new(ax, (6.4, float(np.clip(1.5 + 0.45 * len(known), 3.6, 12.0))))
    # Already imported with the axes.
    from matplotlib.patheffects import withStroke

    mean, word = float(found.values.mean()), word_of(model)
    # A gap shows where each cluster ends.
    gap, begin = 0.02 * len(found.values), 0.0
    middles, names = [], []
    for label, count in zip(known, counts, strict=True):
        widths = np.sort(found.values[found.labels == label])[::-1]
        colour = _colour(int(label), int(label) + 1)
        ax.stairs(widths, begin + np.arange(count + 1), orientation="horizontal", baseline=0, fill=True, color=colour)
        middles.append(begin + count / 2)
        names.append(f"{word} {label} ({count:,})\nmean {widths.mean():.2f}" if len(known) <= COLOURS else str(label))
        begin += count + gap
    ax.axvline(0.0, color=_ink(), linewidth=0.8)
    # The edge keeps the line visible on bars of any colour.
    edge = withStroke(linewidth=3, foreground=ax.get_facecolor())
    ax.axvline(mean, color=_ink(), linewidth=1, linestyle="--", path_effects=[edge])
    step = -(-len(known) // (2 * COLOURS))
    ax.set_yticks(middles[::step], names[::step], fontsize=8)
    ax.set_ylim(begin - gap / 2, -gap / 2)
    ax.margins(x=0.02)
    across = "silhouette"
    if len(found.values) < found.among:
        across += f" ({len(found.values):,} of {found.among:,} rows, at even intervals within {word}s)"
    ax.set(title=f"mean silhouette {mean:.2f}", xlabel=across)
    return ax


def parallel_coordinates(model: Any, X: Any, *, ax: Any = None) -> Any:
    """Plot each row as a line across all columns, in the colour of its cluster. A thick line joins the medians of each cluster.

    The axis of each column runs from the 1st to the 99th percentile. If there are at most 20 columns, these values are written at the ends. Values beyond the
    percentiles are drawn at the ends. A line is interrupted where a value is missing. Columns of texts are left out; for texts, use :func:`profiles`. If there
    are more than 40 columns, the plot shows the 40 columns whose means differ most. If there are more than 1,000 rows, the plot shows 1,000 rows, at even
    intervals within the clusters. Medians are computed from all rows.

    Parameters
    ----------
    model : AgglomerativeClustering, DAClustering, KMeans, KMedoids, PairwiseClustering or DAGaussianMixture
        A fitted estimator.
    X : {array-like, table of pandas, Polars or Arrow, dict of columns, sparse matrix or array, Fingerprints} of shape (n_samples, n_columns)
        The fitted rows, or other columns of the same rows, such as the table before its preparation.
    ax : matplotlib.axes.Axes, default=None
        The axes to draw on. ``None`` creates a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    ValueError
        If the number of rows in ``X`` differs from the number of fitted rows, or ``X`` has fewer than two columns of numbers and dates.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import lehr
    >>> X = [[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]]
    >>> lehr.plot.parallel_coordinates(lehr.DAClustering(n_clusters=2).fit(X), X).get_title()
    '2 clusters, 2 columns'
    """
    grouped = Grouped(model, X)
    columns, of = grouped.differing(grouped.all(), _MOST_COLUMNS)
    if not columns:
        raise grouped.only_texts()
    if len(columns) < 2:
        raise ValueError(f"expected two columns of numbers or dates or more, found {columns[0].name!r} alone: lehr.plot.box_plots shows one")
    ax = axes_or_new(ax, (float(np.clip(3.0 + 0.8 * len(columns), 6.4, 16.0)), 4.4 + 0.5 * _longest(columns)))
    # Already imported with the axes.
    from matplotlib.collections import LineCollection
    from matplotlib.patheffects import withStroke

    ends = [np.quantile(known, [0.01, 0.99]) if len(known := column.values[~np.isnan(column.values)]) else np.full(2, np.nan) for column in columns]
    order = np.argsort(grouped.groups, kind="stable")
    # Lines are drawn in the order of rows, so that no cluster covers the previous one.
    shown = np.sort(order[spread(len(order), _MOST_LINES)])
    heights = np.column_stack([_share(column.values[shown], *end) for column, end in zip(columns, ends, strict=True)])
    places = np.broadcast_to(np.arange(len(columns)), heights.shape)
    colours = [_colour(int(group), grouped.count) for group in grouped.groups[shown]]
    alpha = float(np.clip(6.0 / np.sqrt(len(shown)), 0.12, 0.6))
    ax.add_collection(LineCollection(list(np.stack([places, heights], axis=2)), colors=colours, linewidths=0.6, alpha=alpha), autolim=False)
    medians = np.array([[np.median(part) if len(part) else np.nan for part in grouped.parts(column)] for column in columns])
    for group, name in enumerate(grouped.names):
        middle = [_share(median, *end) for median, end in zip(medians[:, group], ends, strict=True)]
        edge = withStroke(linewidth=4.5, foreground=ax.get_facecolor())
        ax.plot(middle, color=_colour(group, grouped.count), linewidth=2.5, marker="o", markersize=3, label=name, path_effects=[edge])
    for place in range(len(columns)):
        ax.axvline(place, color="grey", linewidth=0.5, zorder=0)
    _name_columns(ax, columns)
    if len(columns) <= COLOURS:
        for place, (column, (low, high)) in enumerate(zip(columns, ends, strict=True)):
            for height, value, side in ((0.0, low, "top"), (1.0, high, "bottom")):
                away = -0.015 if side == "top" else 0.015
                ax.text(place, height + away, _value(value, column.is_time), ha="center", va=side, fontsize=7)
    ax.set_xlim(-0.5, len(columns) - 0.5)
    ax.set_ylim(-0.08, 1.08)
    title = _counted(grouped, columns, of)
    if len(shown) < len(order):
        title += f", {len(shown):,} of {len(order):,} rows"
    ax.set(title=title, ylabel="1st to 99th percentile", yticks=[])
    if len(grouped.names) <= COLOURS:
        # The legend is beside the axes, because lines cover the whole plot.
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return ax


def _share(values: Any, low: float, high: float) -> Any:
    """Returns values as shares of a range, clipped to 0 and 1; 0.5 if the range is empty."""
    if not high > low:
        return np.where(np.isnan(values), np.nan, 0.5)
    return np.clip((values - low) / (high - low), 0.0, 1.0)


def _value(value: float, is_time: bool) -> str:
    """Formats a number with four significant digits, or a time as a date; NaN becomes an empty string."""
    if np.isnan(value):
        return ""
    return str(np.datetime64(round(value), "s"))[:10] if is_time else f"{value:.4g}"
