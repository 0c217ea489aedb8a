"""Small real data sets inside the package (``load_*``), and larger data sets from their public sources (``fetch_*``).

The folder ``datasets`` of the source code states the origin and licence of each small data set. For the larger data sets, see the notes of each function. Lehr
downloads a file once (:func:`fetch`), and checks its shape. So you get an error if a network returned a web page instead of the file.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from sklearn.utils import Bunch

from lehr import _checks, _native, _public
from lehr._download import fetch
from lehr._names import listed
from lehr._native import Sequences

__all__ = [
    "fetch",
    "fetch_block_groups",
    "fetch_covertype",
    "fetch_letters",
    "fetch_pen_digits",
    "fetch_sipu",
    "load_alu",
    "load_breast_cancer",
    "load_census_blocks",
    "load_digits",
    "load_iris",
    "load_wine",
]
__dir__ = listed(__all__)

_Folder = os.PathLike[str] | str | None


def _load(name: str, return_X_y: bool) -> Any:
    found = _native.load_points(name)
    if return_X_y:
        return found["data"], found["target"]
    return Bunch(data=found["data"], target=found["target"], feature_names=found["feature_names"])


def load_iris(*, return_X_y: bool = False) -> Any:
    """Load 150 iris flowers with 4 lengths in cm.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.

    Returns
    -------
    Bunch
        ``data`` of shape (150, 4), ``feature_names``, and ``target``: 0 setosa, 1 versicolor, 2 virginica; 50 flowers of each.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.load_iris().data.shape
    (150, 4)
    """
    return _load("iris", return_X_y)


def load_wine(*, return_X_y: bool = False) -> Any:
    """Load 178 wines with 13 chemical measurements in different units.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.

    Returns
    -------
    Bunch
        ``data`` of shape (178, 13), ``feature_names``, and ``target``: the 3 growers, with 59, 71 and 48 wines.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.load_wine().data.shape
    (178, 13)
    """
    return _load("wine", return_X_y)


def load_breast_cancer(*, return_X_y: bool = False) -> Any:
    """Load 569 breast masses with 30 measurements of their cell nuclei.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.

    Returns
    -------
    Bunch
        ``data`` of shape (569, 30), ``feature_names``, and ``target``: 0 malignant (212), 1 benign (357).

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.load_breast_cancer().data.shape
    (569, 30)
    """
    return _load("breast_cancer", return_X_y)


def load_digits(*, return_X_y: bool = False) -> Any:
    """Load 1,797 handwritten digits of 8 x 8 pixels, with values from 0 to 16.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.

    Returns
    -------
    Bunch
        ``data`` of shape (1797, 64), ``feature_names``, and ``target``: the digits.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.load_digits().data.shape
    (1797, 64)
    """
    return _load("digits", return_X_y)


def load_census_blocks() -> Any:
    """Load 201,174 census blocks of Nevada, Utah and West Virginia, with longitude and latitude in degrees, and inhabitants as weights.

    Returns
    -------
    Bunch
        ``data`` of shape (201174, 2), ``feature_names``, and ``weight``; a third of the weights are 0.

    Examples
    --------
    >>> import numpy as np, lehr
    >>> blocks = lehr.datasets.load_census_blocks()
    >>> int(blocks.weight.sum())
    8169946

    A degree of longitude is shorter than a degree of latitude. Therefore compare positions on the sphere, here in km, as ``lehr cluster --lonlat`` does.

    >>> lon, lat = np.radians(blocks.data).T
    >>> X = 6371.0088 * np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    >>> model = lehr.DAClustering(3).fit(X, sample_weight=blocks.weight)
    >>> len(model.cluster_centers_)
    3
    """
    found = _native.load_points("census_blocks")
    return Bunch(data=found["data"], weight=found["weight"], feature_names=found["feature_names"])


def load_alu() -> Sequences:
    """Load human Alu repeats: short DNA sequences that form families and are not aligned.

    Returns
    -------
    Sequences

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.load_alu().alphabet
    'dna'
    """
    return _native.load_alu()


def fetch_sipu(name: str, *, return_X_y: bool = False, url: str | None = None, folder: _Folder = None, verbose: bool | int = False) -> Any:
    """Fetch a point set of the clustering basic benchmark, with a known number of clusters.

    Parameters
    ----------
    name : str
        The name of the set. ``'s1'`` to ``'s4'``: 5,000 points in 15 clusters that overlap more and more. ``'a1'`` to ``'a3'``: 3,000, 5,250 and 7,500 points
        in 20, 35 and 50 clusters. ``'birch1'`` to ``'birch3'``: 100,000 points in 100 clusters. ``'unbalance'``: 6,500 points in 8 clusters. ``'dim032'``,
        ``'dim064'``, ``'dim128'``, ``'dim256'``, ``'dim512'`` and ``'dim1024'``: 1,024 points in 16 clusters, with the number of columns in the name. Sets with
        labels are ``'aggregation'``, ``'compound'``, ``'d31'``, ``'flame'``, ``'jain'``, ``'pathbased'``, ``'r15'`` and ``'spiral'``.
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.
    url : str, default=None
        Another URL of the same file. ``None`` means the URL at the School of Computing, University of Eastern Finland.
    folder : path-like, default=None
        The folder for the file. ``None`` means the same folder as for :func:`fetch`.
    verbose : bool, default=False
        Whether to show progress on standard error.

    Returns
    -------
    Bunch
        ``data`` of shape (n, 2), or (1024, d), ``feature_names``, ``n_clusters`` as the authors state it, and ``target``. The targets are labels from 0;
        ``None`` if the file has no labels.

    Raises
    ------
    OSError
        If the file cannot be downloaded, or has another shape than expected. There are no published checksums.

    Notes
    -----
    The authors publish the sets for use with citation, without a named licence: P. Fränti and S. Sieranoja, "K-means properties on six clustering benchmark
    datasets", Applied Intelligence 48, 2018, and the source that https://cs.uef.fi/sipu/datasets names for each set.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.fetch_sipu("birch1").data.shape  # doctest: +SKIP
    (100000, 2)
    """
    known = _public.SIPU[_checks.choice("name", name, tuple(_public.SIPU))]
    path = fetch(known.url if url is None else url, name=known.file, folder=folder, verbose=verbose)
    table = _public.table(path, known.file, known.rows, known.columns + known.is_labelled)
    data, target = (table[:, :-1].copy(), _public.from_zero(table[:, -1])) if known.is_labelled else (table, None)
    if return_X_y:
        return data, target
    return Bunch(data=data, target=target, feature_names=[f"x{column}" for column in range(1, known.columns + 1)], n_clusters=known.n_clusters)


def fetch_letters(*, return_X_y: bool = False, url: str | None = None, folder: _Folder = None, verbose: bool | int = False) -> Any:
    """Fetch 20,000 distorted printed letters in twenty typefaces, with 16 features of their pixels, from 0 to 15.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.
    url : str, default=None
        Another URL of the same file; Lehr verifies its checksum. ``None`` means the URL at the UCI Machine Learning Repository.
    folder : path-like, default=None
        The folder for the file. ``None`` means the same folder as for :func:`fetch`.
    verbose : bool, default=False
        Whether to show progress on standard error.

    Returns
    -------
    Bunch
        ``data`` of shape (20000, 16), ``feature_names``, and ``target``: from 0 for A to 25 for Z.

    Notes
    -----
    CC BY 4.0. D. Slate, "Letter Recognition", 1991, https://doi.org/10.24432/C5ZP40.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.fetch_letters().data.shape  # doctest: +SKIP
    (20000, 16)
    """
    table = _public.tables(_public.LETTERS, url, folder, verbose, {0: lambda field: ord(field) - ord("A")})
    return _named(table[:, 1:].copy(), _public.counted(table[:, 0]), _public.LETTER_FEATURES, return_X_y)


def fetch_pen_digits(*, return_X_y: bool = False, url: str | None = None, folder: _Folder = None, verbose: bool | int = False) -> Any:
    """Fetch 10,992 digits that 44 people wrote with a pen, as 8 points along the stroke, with coordinates from 0 to 100.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.
    url : str, default=None
        Another URL of the same file; Lehr verifies its checksum. ``None`` means the URL at the UCI Machine Learning Repository.
    folder : path-like, default=None
        The folder for the file. ``None`` means the same folder as for :func:`fetch`.
    verbose : bool, default=False
        Whether to show progress on standard error.

    Returns
    -------
    Bunch
        ``data`` of shape (10992, 16), ``feature_names``, and ``target``: the digits. The first 7,494 rows are by 30 writers, the remaining rows by 14 other
        writers.

    Notes
    -----
    CC BY 4.0. E. Alpaydin and F. Alimoglu, "Pen-Based Recognition of Handwritten Digits", 1996, https://doi.org/10.24432/C5MG6K.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.fetch_pen_digits().data.shape  # doctest: +SKIP
    (10992, 16)
    """
    table = _public.tables(_public.PEN_DIGITS, url, folder, verbose)
    return _named(table[:, :-1].copy(), _public.counted(table[:, -1]), _public.PEN_FEATURES, return_X_y)


def fetch_covertype(*, return_X_y: bool = False, url: str | None = None, folder: _Folder = None, verbose: bool | int = False) -> Any:
    """Fetch 581,012 squares of forest, 30 m wide, with 54 columns.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return only ``(data, target)``.
    url : str, default=None
        Another URL of the same file; Lehr verifies its checksum. ``None`` means the copy of the UCI Machine Learning Repository's file that scikit-learn also
        uses.
    folder : path-like, default=None
        The folder for the file. ``None`` means the same folder as for :func:`fetch`.
    verbose : bool, default=False
        Whether to show progress on standard error.

    Returns
    -------
    Bunch
        ``data`` of shape (581012, 54), ``feature_names``, and ``target`` from 0 to 6. The first 10 columns are measurements of the terrain in different units.
        The other 44 columns are 0 or 1, for the wilderness area and the soil type. Targets are spruce and fir, lodgepole pine, ponderosa pine, cottonwood and
        willow, aspen, Douglas fir, krummholz.

    Notes
    -----
    CC BY 4.0. J. Blackard, "Covertype", 1998, https://doi.org/10.24432/C50K5N.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.fetch_covertype().data.shape  # doctest: +SKIP
    (581012, 54)
    """
    table = _public.tables(_public.COVERTYPE, url, folder, verbose)
    return _named(table[:, :-1].copy(), _public.from_zero(table[:, -1]), _public.COVERTYPE_FEATURES, return_X_y)


def fetch_block_groups(state: str | None = None, *, url: str | None = None, folder: _Folder = None, verbose: bool | int = False) -> Any:
    """Fetch the block groups of the US census of 2020, with the mean centre of population in degrees, and the population as weights.

    Parameters
    ----------
    state : str, default=None
        The two-digit code of a state, such as ``'18'`` for Indiana. ``None`` means all states, the District of Columbia and Puerto Rico, with 242,335 block
        groups.
    url : str, default=None
        Another URL of the same file. ``None`` means the URL at the US Census Bureau.
    folder : path-like, default=None
        The folder for the file. ``None`` means the same folder as for :func:`fetch`.
    verbose : bool, default=False
        Whether to show progress on standard error.

    Returns
    -------
    Bunch
        ``data`` of shape (n, 2), with longitude and latitude; ``feature_names``; ``weight``, which may be 0; and ``geoid``, the 12-digit codes of the block
        groups.

    Raises
    ------
    OSError
        If the file cannot be downloaded, or does not contain block groups. There are no published checksums.

    Notes
    -----
    A work of the US government, in the public domain: "Centers of Population by Block Group", 2020. The Census Bureau adds noise to the counts of small areas.

    Examples
    --------
    >>> import lehr
    >>> indiana = lehr.datasets.fetch_block_groups("18")  # doctest: +SKIP
    >>> int(indiana.weight.sum())  # doctest: +SKIP
    6785528
    """
    if state is not None and not (isinstance(state, str) and len(state) == 2 and state.isascii() and state.isdecimal()):
        raise _checks.wrong("state", "two digits, such as '18', or None", state)
    file = f"CenPop2020_Mean_BG{state or ''}.txt"
    path = fetch(_public.BLOCK_GROUPS + file if url is None else url, name=file, folder=folder, verbose=verbose)
    geoid, weight, data = _public.block_groups(path, state)
    return Bunch(data=data, weight=weight, feature_names=["lon", "lat"], geoid=geoid)


def _named(data: Any, target: Any, feature_names: Sequence[str], return_X_y: bool) -> Any:
    return (data, target) if return_X_y else Bunch(data=data, target=target, feature_names=list(feature_names))
