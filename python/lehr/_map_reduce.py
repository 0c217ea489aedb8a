"""Map-reduce over any keys and values, on the ranks of a communicator."""

from __future__ import annotations

import numbers
import zlib
from collections.abc import Callable, Hashable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from lehr._communicator import Communicator

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)
Mapped = TypeVar("Mapped")
Reduced = TypeVar("Reduced")

#: Mixes the numbers of the parts of a tuple; any odd number does.
_FACTOR = 1_000_003
_MASK = 2**61 - 1


def place(key: Any) -> int:
    """Returns a number of a key, which is the same for equal keys in all processes. (Python's ``hash`` of text differs between processes.)"""
    if isinstance(key, str):
        return zlib.crc32(key.encode("utf-8", "surrogatepass"))
    if isinstance(key, bytes):
        return zlib.crc32(key)
    if key is None:
        return 0
    if isinstance(key, tuple):
        number = len(key)
        for part in key:
            number = (number * _FACTOR + place(part)) & _MASK
        return number
    if isinstance(key, frozenset):
        return sum(map(place, key)) & _MASK
    if isinstance(key, numbers.Number | np.number | np.bool_):
        # Equal numbers of all types have the same hash, which is computed from the value. A NaN equals nothing, and its hash is its address.
        return 0 if key != key else hash(key)
    raise TypeError(f"expected keys of text, bytes, numbers, None, or tuples or frozensets of them, found {type(key).__name__}: {key!r}")


def _grouped(pairs: Iterable[tuple[Key, Mapped]]) -> dict[Key, list[Mapped]]:
    groups: dict[Key, list[Mapped]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups


def map_reduce(
    comm: Communicator,
    items: Iterable[Item],
    map: Callable[[Item], Iterable[tuple[Key, Mapped]]],
    reduce: Callable[[Key, list[Mapped]], Reduced],
    combine: Callable[[Key, list[Mapped]], Mapped] | None,
    everywhere: bool,
) -> dict[Key, Reduced]:
    groups = _grouped(pair for item in items for pair in map(item))
    parts: list[dict[Key, list[Mapped]]] = [{} for _ in range(comm.size)]
    for key, values in groups.items():
        parts[place(key) % comm.size][key] = values if combine is None else [combine(key, values)]
    mine = _grouped((key, value) for part in comm.all_to_all(parts) for key, values in part.items() for value in values)
    reduced = {key: reduce(key, values) for key, values in mine.items()}
    if not everywhere:
        return reduced
    return {key: value for part in comm.all_gather(reduced) for key, value in part.items()}
