"""Axes and colours that all pictures share."""

from __future__ import annotations

from typing import Any

#: Colours of classes.
COLOURS = 20


def axes_or_new(ax: Any, size: tuple[float, float] | None = None) -> Any:
    """These axes, or those of a new figure."""
    if ax is not None:
        return ax
    # Importing it takes longer than most fits, and on a cluster nobody draws.
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=size, layout="constrained")[1]


def class_colours() -> list[Any]:
    """The colours of classes in their order: ten strong ones, then the light one of each, so that few classes never look alike."""
    # Imported already, with the axes.
    from matplotlib import colormaps

    pairs: Any = colormaps["tab20"].colors  # type: ignore[attr-defined]
    return [*pairs[::2], *pairs[1::2]]
