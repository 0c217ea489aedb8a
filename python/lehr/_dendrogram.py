"""The top of a tree of items, for plots and reports. Each node below the top stands for its items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class Leaf(NamedTuple):
    """A node at the bottom of a drawing."""

    #: The name of the item, or the name of the first item and the number of others.
    name: str
    #: The number of items.
    items: int
    #: The cluster; ``None`` if the items are in several clusters.
    cluster: int | None


class Join(NamedTuple):
    """A join in a drawing. Nodes are numbered: first the leaves, then the joins."""

    left: int
    right: int
    height: float
    #: The cluster; ``None`` if the items are in several clusters.
    cluster: int | None


class Top(NamedTuple):
    """The joins at the top of a tree, and the nodes below them."""

    #: The leaves in an order in which no lines cross.
    leaves: list[Leaf]
    #: The joins by increasing height.
    joins: list[Join]
    #: The height at which the tree is cut into clusters; ``None`` for a single cluster.
    cut: float | None


def top_of(model: Any, names: Sequence[str], most: int) -> Top:
    """Returns the top of a fitted tree, with ``most`` leaves or fewer."""
    # Lists, because the loops below read single numbers.
    children: list[list[int]] = model.children_.tolist()
    heights: list[float] = model.distances_.tolist()
    items, clusters = len(names), int(model.n_clusters_)
    first_drawn = items - min(items, most)
    # The first item and the cluster of each node. The last joins are above the cut.
    first = list(range(items))
    cluster: list[int | None] = model.labels_.tolist()
    for join, (left, _) in enumerate(children):
        first.append(first[left])
        cluster.append(cluster[left] if join < items - clusters else None)
    counts = [1] * items + model.linkage_matrix_[:, 3].astype(int).tolist()
    number: dict[int, int] = {}
    leaves: list[Leaf] = []
    # A stack instead of recursion, because a tree may be as deep as it has items.
    waiting = [len(first) - 1]
    while waiting:
        node = waiting.pop()
        if node >= items + first_drawn:
            waiting.extend(reversed(children[node - items]))
            continue
        number[node] = len(leaves)
        others = counts[node] - 1
        name = names[first[node]]
        leaves.append(Leaf(f"{name} and {others} more" if others else name, counts[node], cluster[node]))
    joins: list[Join] = []
    for join in range(first_drawn, items - 1):
        left, right = children[join]
        number[items + join] = len(leaves) + len(joins)
        joins.append(Join(number[left], number[right], heights[join], cluster[items + join]))
    if clusters == 1:
        return Top(leaves, joins, None)
    if model.distance_threshold is not None:
        return Top(leaves, joins, model.distance_threshold)
    below = heights[items - clusters - 1] if clusters < items else 0.0
    return Top(leaves, joins, (below + heights[items - clusters]) / 2)
