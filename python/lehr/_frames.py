"""Values in messages between ranks: an array of numbers travels as its bytes, everything else as a pickle.

The Rust code handles C-contiguous arrays of the common types itself. It calls these functions for all other values, and for long arrays that have come. A value becomes a *payload* and a *trailer*. The trailer of an array is its type and its lengths, such as ``b"<f8 3 4"``. The trailer of a pickle is empty.
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The kinds of types that travel as bytes: bool, whole numbers, floats, complex numbers.
_KINDS = "biufc"
#: An array of more dimensions is pickled, so that trailers stay short.
_DIMENSIONS_MAX = 8


@lru_cache(maxsize=1024)
def _written(dtype: str, shape: tuple[int, ...]) -> bytes:
    return " ".join([dtype, *map(str, shape)]).encode()


@lru_cache(maxsize=1024)
def _read(trailer: bytes) -> tuple[np.dtype[Any], tuple[int, ...]]:
    dtype, *shape = trailer.decode().split(" ")
    return np.dtype(dtype), tuple(map(int, shape))


# NumPy takes longer to write the name of a type than a short message takes.
@lru_cache(maxsize=1024)
def _told(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    return f"{dtype} of shape {shape}"


def travels_as_bytes(value: Any) -> bool:
    """Returns whether a value is an array of numbers. A subclass of ``ndarray`` may have more than numbers, so it is pickled."""
    return type(value) is np.ndarray and value.dtype.kind in _KINDS and value.ndim <= _DIMENSIONS_MAX


def told(value: Any) -> str:
    """Describes a value for an error message: the type and the shape of an array, else the type."""
    return _told(value.dtype, value.shape) if type(value) is np.ndarray else "Python objects"


def packed(value: Any) -> tuple[NDArray[np.uint8] | bytes, bytes]:
    """Returns the payload and the trailer of a value. The payload of a C-contiguous array is its own memory."""
    if not travels_as_bytes(value):
        return pickle.dumps(value, pickle.HIGHEST_PROTOCOL), b""
    # `asarray` keeps arrays without dimensions as they are; `ascontiguousarray` would add one.
    array = np.asarray(value, order="C")
    return array.reshape(-1).view(np.uint8), _written(array.dtype.str, array.shape)


def opened(payload: NDArray[np.uint8], trailer: bytes) -> Any:
    """Returns the value of a message. An array takes over the memory of the message."""
    if not trailer:
        return pickle.loads(payload.data)
    dtype, shape = _read(trailer)
    return payload.view(dtype).reshape(shape)


def room(out: Any) -> tuple[NDArray[np.uint8], bytes]:
    """Returns the memory of an array that is to be overwritten, and the trailer that a message for it has.

    Raises
    ------
    TypeError
        If ``out`` is not an array of numbers.
    ValueError
        If ``out`` is read-only or not C-contiguous.
    """
    if not travels_as_bytes(out):
        raise TypeError(f"The 'out' parameter must be a NumPy array of numbers. Got {type(out).__name__} instead.")
    if not out.flags.c_contiguous:
        raise ValueError("The 'out' parameter must be a C-contiguous array, because it is overwritten where it lies. Pass np.empty(shape, dtype), and copy from it.")
    if not out.flags.writeable:
        raise ValueError("The 'out' parameter must be an array that can be written. Got a read-only array instead.")
    return out.reshape(-1).view(np.uint8), _written(out.dtype.str, out.shape)


def fits(out: NDArray[Any], value: Any) -> bool:
    """Returns whether a value can be copied into an array as a message is: whether both have the same type and shape."""
    return type(value) is np.ndarray and (value.dtype, value.shape) == (out.dtype, out.shape)


def misfit(out: NDArray[Any], value: Any = None, trailer: bytes | None = None) -> ValueError:
    """Returns the error for a value, or for the trailer of a message, that does not fit the array of the receiver."""
    if trailer:
        dtype, shape = _read(trailer)
        found = f"{dtype} of shape {shape}"
    else:
        found = told(value) if type(value) is np.ndarray else "a Python object"
    return ValueError(f"The 'out' parameter is an array of {told(out)}, but the message holds {found}. Receive it without 'out', or send an array that fits.")
