"""The names that ``dir`` and completion list for a public module."""

from collections.abc import Callable


def listed(names: list[str]) -> Callable[[], list[str]]:
    """Returns a module's ``__dir__`` that lists only public names."""
    return lambda: sorted(names)
