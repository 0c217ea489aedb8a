"""Operations that combine the values of ranks, and which of them the library's Rust code does."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any, Literal

import numpy as np

from lehr import _frames

Name = Literal["sum", "prod", "min", "max", "and", "or", "xor"]
#: An operation: a name, or a function of two values.
Operation = Name | Callable[[Any, Any], Any]

_NUMBERS = {np.dtype(name) for name in ("float64", "float32", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8")}
_BITWISE = {"and", "or", "xor"}
#: On bool arrays, the operation on the bytes 0 and 1 that gives the same.
_OF_BOOL = {"sum": "max", "prod": "min", "min": "min", "max": "max", "and": "and", "or": "or", "xor": "xor"}


def _least(left: Any, right: Any) -> Any:
    # NaN stays NaN, as in NumPy.
    return right if right < left or right != right else left


def _largest(left: Any, right: Any) -> Any:
    return right if right > left or right != right else left


_OF_ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": np.add,
    "prod": np.multiply,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_OF_OBJECTS: dict[str, Callable[[Any, Any], Any]] = {
    "sum": operator.add,
    "prod": operator.mul,
    "min": _least,
    "max": _largest,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}


def check(op: Any) -> None:
    """Checks that an operation is a known name or a function."""
    if not callable(op) and not (isinstance(op, str) and op in _OF_OBJECTS):
        names = ", ".join(map(repr, _OF_OBJECTS))
        raise ValueError(f"The 'op' parameter must be one of {names}, or a function of two values. Got {op!r} instead.")


def described(op: Operation) -> str:
    """Describes an operation for the comparison of the ranks' calls."""
    return f"the function {getattr(op, '__name__', type(op).__name__)}" if callable(op) else f"'{op}'"


def plan(value: Any, op: Operation) -> tuple[np.dtype[Any], str] | None:
    """Returns the type as which the Rust code combines an array, and the operation that it does; ``None`` if it cannot combine such values."""
    if callable(op) or not _frames.travels_as_bytes(value):
        return None
    dtype = value.dtype
    if op in _BITWISE and dtype.kind in "fc":
        raise TypeError(f"The 'op' parameter must be 'sum', 'prod', 'min' or 'max' for an array of {dtype}: '{op}' needs whole numbers or bool.")
    if dtype in _NUMBERS:
        return dtype, op
    if dtype == np.bool_:
        return np.dtype(np.uint8), _OF_BOOL[op]
    if dtype.kind == "c" and op == "sum" and value.ndim:
        # The sum of complex numbers is the sum of their real and imaginary parts.
        part = np.empty(0, dtype).real.dtype
        return (part, op) if part in _NUMBERS else None
    return None


def folded(values: Sequence[Any], op: Operation) -> Any:
    """Combines values from the left to the right."""
    if callable(op):
        return reduce(op, values)
    if isinstance(values[0], np.ndarray):
        # The functions of NumPy return numbers for arrays without dimensions.
        return np.asarray(reduce(_OF_ARRAYS[op], values))
    table = _OF_ARRAYS if isinstance(values[0], np.generic) else _OF_OBJECTS
    return reduce(table[op], values)
