"""The names that a public module shows to tools that complete them."""

from collections.abc import Callable


def listed(names: list[str]) -> Callable[[], list[str]]:
    """A module's ``__dir__`` that gives public names only."""
    return lambda: sorted(names)
