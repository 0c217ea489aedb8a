"""Ranks on a line or a grid, whose dimensions are open at their ends or closed to a ring."""

from __future__ import annotations

import operator
from collections.abc import Sequence

from lehr import _checks


class Grid:
    """Ranks on a Cartesian grid. Ranks are numbered row by row: the last dimension varies fastest.

    Parameters
    ----------
    shape : sequence of int
        The number of ranks in each dimension.
    periodic : bool or sequence of bool, default=False
        Whether a dimension is closed to a ring, so that the last rank is a neighbour of the first. One value is for all dimensions.

    Attributes
    ----------
    shape : tuple of int
        The number of ranks in each dimension.
    periodic : tuple of bool
        Whether each dimension is a ring.
    size : int
        The number of ranks.

    Examples
    --------
    >>> import lehr
    >>> grid = lehr.ranks.Grid((2, 3), periodic=(False, True))
    >>> grid.coordinates(5), grid.rank((1, 2))
    ((1, 2), 5)
    >>> grid.neighbours(5)
    [2, None, 4, 3]
    """

    def __init__(self, shape: Sequence[int], periodic: bool | Sequence[bool] = False) -> None:
        extents = [_checks.integer("shape", extent) for extent in shape]
        if not extents or any(not extent for extent in extents):
            raise _checks.wrong("shape", "at least one number of 1 or more", tuple(shape))
        self.shape: tuple[int, ...] = tuple(extent for extent in extents if extent is not None)
        rings = [periodic] * len(extents) if isinstance(periodic, bool) else list(periodic)
        if len(rings) != len(extents):
            raise _checks.wrong("periodic", f"a bool, or one for each of the {len(extents)} dimensions", periodic)
        self.periodic: tuple[bool, ...] = tuple(map(bool, rings))
        self.size = 1
        for extent in self.shape:
            self.size *= extent

    def __repr__(self) -> str:
        return f"Grid(shape={self.shape}, periodic={self.periodic})"

    @classmethod
    def balanced(cls, size: int, dimensions: int, periodic: bool | Sequence[bool] = False) -> Grid:
        """Create a grid whose extents are as equal as possible, the largest first.

        Parameters
        ----------
        size : int
            The number of ranks.
        dimensions : int
            The number of dimensions.
        periodic : bool or sequence of bool, default=False
            The same as for the class.

        Returns
        -------
        grid : Grid
            The grid.

        Examples
        --------
        >>> import lehr
        >>> lehr.ranks.Grid.balanced(12, 2).shape, lehr.ranks.Grid.balanced(7, 2).shape
        ((4, 3), (7, 1))
        """
        ranks, count = _checks.integer("size", size), _checks.integer("dimensions", dimensions)
        if not ranks or not count:
            raise _checks.wrong("size" if not ranks else "dimensions", "at least 1", size if not ranks else dimensions)
        # Of all ways to write `size` as a product, takes the one with the smallest largest extent, then the smallest second, and so on.
        found: list[tuple[int, ...]] = []

        def extend(rest: int, chosen: tuple[int, ...]) -> None:
            if len(chosen) == count - 1:
                if not chosen or rest <= chosen[-1]:
                    found.append((*chosen, rest))
                return
            most = chosen[-1] if chosen else rest
            for extent in range(1, min(most, rest) + 1):
                if rest % extent == 0:
                    extend(rest // extent, (*chosen, extent))

        extend(ranks, ())
        return cls(min(found), periodic)

    def coordinates(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of a rank.

        Parameters
        ----------
        rank : int
            The rank.

        Returns
        -------
        coordinates : tuple of int
            One coordinate for each dimension, from 0.

        Examples
        --------
        See :class:`Grid`.
        """
        rest = _checks.integer("rank", rank)
        if rest is None or rest >= self.size:
            raise _checks.wrong("rank", f"a rank from 0 to {self.size - 1}", rank)
        places = []
        for extent in reversed(self.shape):
            places.append(rest % extent)
            rest //= extent
        return tuple(reversed(places))

    def rank(self, coordinates: Sequence[int]) -> int:
        """Return the rank at coordinates. On a ring, coordinates beyond the ends go round.

        Parameters
        ----------
        coordinates : sequence of int
            One coordinate for each dimension.

        Returns
        -------
        rank : int
            The rank.

        Raises
        ------
        ValueError
            If a coordinate is outside an open dimension.

        Examples
        --------
        See :class:`Grid`.
        """
        if len(coordinates) != len(self.shape):
            raise _checks.wrong("coordinates", f"{len(self.shape)} numbers", tuple(coordinates))
        rank = 0
        for place, extent, is_ring in zip(map(operator.index, coordinates), self.shape, self.periodic):
            if is_ring:
                place %= extent
            elif not 0 <= place < extent:
                raise _checks.wrong("coordinates", f"inside the grid of shape {self.shape}", tuple(coordinates))
            rank = rank * extent + place
        return rank

    def neighbour(self, rank: int, dimension: int, displacement: int) -> int | None:
        """Return the rank at a distance along a dimension.

        Parameters
        ----------
        rank : int
            The rank to start from.
        dimension : int
            The dimension, from 0.
        displacement : int
            The number of steps; negative for steps down.

        Returns
        -------
        neighbour : int or None
            The rank; ``None`` beyond the end of an open dimension.

        Examples
        --------
        >>> import lehr
        >>> line = lehr.ranks.Grid((4,))
        >>> line.neighbour(0, 0, 2), line.neighbour(0, 0, -1)
        (2, None)
        """
        places = list(self.coordinates(rank))
        which = _checks.integer("dimension", dimension)
        if which is None or which >= len(self.shape):
            raise _checks.wrong("dimension", f"a dimension from 0 to {len(self.shape) - 1}", dimension)
        places[which] += operator.index(displacement)
        if not self.periodic[which] and not 0 <= places[which] < self.shape[which]:
            return None
        return self.rank(places)

    def neighbours(self, rank: int) -> list[int | None]:
        """Return the neighbours of a rank, in the order of :meth:`Communicator.exchange`.

        Parameters
        ----------
        rank : int
            The rank.

        Returns
        -------
        neighbours : list of int or None
            The lower and the upper neighbour in the first dimension, in the second dimension, and so on. ``None`` beyond an open end.

        Examples
        --------
        See :class:`Grid`.
        """
        steps = [(dimension, step) for dimension in range(len(self.shape)) for step in (-1, 1)]
        return [self.neighbour(rank, dimension, step) for dimension, step in steps]
