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
