"""The names that ``dir`` lists for a public module, also for completion."""

from collections.abc import Callable


def listed(names: list[str]) -> Callable[[], list[str]]:
    """Returns a module's ``__dir__`` that lists only public names."""
    return lambda: sorted(names)
