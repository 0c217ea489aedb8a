"""Axes and colours that all plots share."""

from __future__ import annotations

from typing import Any

#: The number of colours for classes.
COLOURS = 20


def axes_or_new(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """Returns the given axes, or the axes of a new figure."""
    if ax is not None:
        return ax
    # Importing matplotlib takes longer than most fits, and programs on a cluster do not draw.
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def class_colours() -> list[Any]:
    """Returns the colours of classes in order: ten strong colours, then their light variants, so that a few classes never look alike."""
    # matplotlib has already been imported with the axes.
    from matplotlib import colormaps

    pairs: Any = colormaps["tab20"].colors  # type: ignore[attr-defined]
    return [*pairs[::2], *pairs[1::2]]
