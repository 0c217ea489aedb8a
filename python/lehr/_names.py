"""The names that a public module offers for completion."""

from collections.abc import Callable


def listed(names: list[str]) -> Callable[[], list[str]]:
    """A module's ``__dir__`` that gives public names only."""
    return lambda: sorted(names)
