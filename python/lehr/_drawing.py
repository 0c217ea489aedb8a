"""Axes and colours that all plots share."""

from __future__ import annotations

from typing import Any

#: The number of colours for classes.
COLOURS = 20


def axes_or_new(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """Returns the given axes, or those of a new figure."""
    if ax is not None:
        return ax
    # Importing matplotlib takes longer than most fits, and a program on a cluster draws nothing.
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def class_colours() -> list[Any]:
    """The colours of classes in their order: ten strong colours, then the light variant of each, so that few classes never look alike."""
    # Already imported with the axes.
    from matplotlib import colormaps

    pairs: Any = colormaps["tab20"].colors  # type: ignore[attr-defined]
    return [*pairs[::2], *pairs[1::2]]
