"""Public data sets: their URLs, their known sizes, and the readers of their files.

Lehr checks a file against the known size of its data set before it uses the file. Most files have no checksum, and some networks return a web page instead of
the file.
"""

from __future__ import annotations

import gzip
import math
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lehr._download import fetch


class Known(NamedTuple):
    """A file with a checksum that contains comma-separated tables, which are concatenated. Each table is the file itself, or a named part of a zip file."""

    url: str
    file: str
    sha256: str
    columns: int
    #: The name and number of rows of each part.
    parts: tuple[tuple[str, int], ...]


class Sipu(NamedTuple):
    """A data set of https://cs.uef.fi/sipu/datasets: one file, with labels in the last column if it has labels."""

    file: str
    rows: int
    columns: int
    n_clusters: int
    is_labelled: bool = False

    @property
    def url(self) -> str:
        return f"https://cs.uef.fi/sipu/datasets/{self.file}"


SIPU = {
    **{f"s{number}": Sipu(f"s{number}.txt", 5_000, 2, 15) for number in range(1, 5)},
    "a1": Sipu("a1.txt", 3_000, 2, 20),
    "a2": Sipu("a2.txt", 5_250, 2, 35),
    "a3": Sipu("a3.txt", 7_500, 2, 50),
    **{f"birch{number}": Sipu(f"birch{number}.txt", 100_000, 2, 100) for number in range(1, 4)},
    "unbalance": Sipu("unbalance.txt", 6_500, 2, 8),
    **{f"dim{columns:03}": Sipu(f"dim{columns:03}.txt", 1_024, columns, 16) for columns in (32, 64, 128, 256, 512, 1024)},
    "aggregation": Sipu("Aggregation.txt", 788, 2, 7, True),
    "compound": Sipu("Compound.txt", 399, 2, 6, True),
    "d31": Sipu("D31.txt", 3_100, 2, 31, True),
    "flame": Sipu("flame.txt", 240, 2, 2, True),
    "jain": Sipu("jain.txt", 373, 2, 2, True),
    "pathbased": Sipu("pathbased.txt", 300, 2, 3, True),
    "r15": Sipu("R15.txt", 600, 2, 15, True),
    "spiral": Sipu("spiral.txt", 312, 2, 3, True),
}

LETTERS = Known(
    "https://archive.ics.uci.edu/static/public/59/letter+recognition.zip",
    "letter-recognition.zip",
    "3b5f07a334697b6cace4fbae22940393a18fee596e73f68d97ce5973d52dc60f",
    17,
    (("letter-recognition.data", 20_000),),
)
LETTER_FEATURES = "x_box y_box width high onpix x_bar y_bar x2bar y2bar xybar x2ybr xy2br x_ege xegvy y_ege yegvx".split()

PEN_DIGITS = Known(
    "https://archive.ics.uci.edu/static/public/81/pen+based+recognition+of+handwritten+digits.zip",
    "pen-digits.zip",
    "1e02bea023613c2b11c9492f6f34caf975420455934f3527d270cee9a1f03b64",
    17,
    (("pendigits.tra", 7_494), ("pendigits.tes", 3_498)),
)
PEN_FEATURES = [f"{axis}{place}" for place in range(1, 9) for axis in "xy"]

COVERTYPE = Known(
    "https://ndownloader.figshare.com/files/5976039",
    "covtype.data.gz",
    "614360d0257557dd1792834a85a1cdebfadc3c4f30b011d56afee7ffb5b15771",
    55,
    (("covtype.data.gz", 581_012),),
)
COVERTYPE_FEATURES = [
    "elevation",
    "aspect",
    "slope",
    "horizontal_distance_to_hydrology",
    "vertical_distance_to_hydrology",
    "horizontal_distance_to_roadways",
    "hillshade_9am",
    "hillshade_noon",
    "hillshade_3pm",
    "horizontal_distance_to_fire_points",
    *(f"wilderness_area_{area}" for area in range(1, 5)),
    *(f"soil_type_{soil}" for soil in range(1, 41)),
]

BLOCK_GROUPS = "https://www2.census.gov/geo/docs/reference/cenpop2020/blkgrp/"
_BLOCK_GROUP_COLUMNS = "STATEFP,COUNTYFP,TRACTCE,BLKGRPCE,POPULATION,LATITUDE,LONGITUDE"


def _another(path: Path, expected: str, found: object) -> OSError:
    return OSError(f"{path} is not what is known of this set: expected {expected}, found {found}. Delete it, or put the right file there.")


def table(
    path: Path,
    part: str,
    rows: int,
    columns: int,
    *,
    delimiter: str | None = None,
    converters: Mapping[int | str, Callable[[str], Any]] | None = None,
) -> NDArray[np.float64]:
    """Reads the numbers of a text file, compressed or not, or of the named part of a zip file, and checks their shape."""
    expected = f"{rows} rows of {columns} columns"
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed, packed.open(part) as file:
                found = np.loadtxt(file, delimiter=delimiter, converters=converters, ndmin=2, encoding="utf-8")
        else:
            found = np.loadtxt(path, delimiter=delimiter, converters=converters, ndmin=2, encoding="utf-8")
    except (ValueError, TypeError, KeyError, EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error) as cause:
        raise _another(path, expected, str(cause)) from cause
    if found.shape != (rows, columns):
        raise _another(path, expected, f"{found.shape[0]} of {found.shape[1]}")
    return found


def tables(
    known: Known,
    url: str | None,
    folder: str | os.PathLike[str] | None,
    verbose: bool | int,
    converters: Mapping[int | str, Callable[[str], Any]] | None = None,
) -> NDArray[np.float64]:
    """Reads the tables of a file with a checksum, after downloading the file if it is missing."""
    path = fetch(known.url if url is None else url, sha256=known.sha256, name=known.file, folder=folder, verbose=verbose)
    parts = [table(path, part, rows, known.columns, delimiter=",", converters=converters) for part, rows in known.parts]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def counted(labels: NDArray[np.float64]) -> NDArray[np.int64]:
    """Converts labels to whole numbers, or raises an error if they are not whole."""
    found = labels.astype(np.int64)
    if (found != labels).any():
        raise OSError(f"the labels of this set are whole numbers, found {labels[found != labels][0]}")
    return found


def from_zero(labels: NDArray[np.float64]) -> NDArray[np.int64]:
    """Converts labels that start at 1 to labels that start at 0."""
    return counted(labels) - 1


def block_groups(path: Path, state: str | None) -> tuple[NDArray[np.str_], NDArray[np.float64], NDArray[np.float64]]:
    """Reads the code, the number of inhabitants, and the longitude and latitude of each block group."""
    codes, numbers = [], []
    with open(path, encoding="utf-8-sig", errors="replace") as file:
        header = file.readline().strip()
        if header.replace(" ", "").upper() != _BLOCK_GROUP_COLUMNS:
            raise _another(path, f"the columns {_BLOCK_GROUP_COLUMNS}", repr(header[:100]))
        for number, line in enumerate(file, start=2):
            fields = [field.strip() for field in line.split(",")]
            if fields == [""]:
                continue
            code = "".join(fields[:4])
            try:
                people, latitude, longitude = map(float, fields[4:])
            except ValueError:
                raise _another(path, f"three numbers behind the code in line {number}", repr(line.strip()[:100])) from None
            if not (people >= 0 and math.isfinite(people) and abs(latitude) <= 90 and abs(longitude) <= 180):
                raise _another(path, f"inhabitants, a latitude and a longitude in line {number}", repr(line.strip()[:100]))
            if not line.endswith("\n"):
                raise _another(path, "a whole last line", repr(line[:100]))
            if len(code) != 12 or not (code.isascii() and code.isdecimal()) or not code.startswith(state or ""):
                raise _another(path, f"a code of 12 digits{f' that begin with {state}' if state else ''} in line {number}", repr(code))
            codes.append(code)
            numbers.append((people, longitude, latitude))
    if not numbers:
        raise _another(path, "block groups", "none")
    found = np.array(numbers)
    return np.array(codes), found[:, 0].copy(), found[:, 1:].copy()
