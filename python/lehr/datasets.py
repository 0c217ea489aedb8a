"""Small real data sets inside the package, and larger ones by their addresses.

Where each of the small ones comes from and under which terms: the folder ``datasets`` of the source.
"""

from __future__ import annotations

from typing import Any

from sklearn.utils import Bunch

from lehr import _native
from lehr._download import fetch
from lehr._native import Sequences

__all__ = ["fetch", "load_alu", "load_breast_cancer", "load_census_blocks", "load_digits", "load_iris", "load_wine"]


def _load(name: str, return_X_y: bool) -> Any:
    found = _native.load_points(name)
    if return_X_y:
        return found["data"], found["target"]
    return Bunch(data=found["data"], target=found["target"], feature_names=found["feature_names"])


def load_iris(*, return_X_y: bool = False) -> Any:
    """150 iris flowers: 4 lengths in cm.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.

    Returns
    -------
    Bunch
        ``data`` of shape (150, 4), ``feature_names``, and ``target``: 0 setosa, 1 versicolor, 2 virginica, 50 of each.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.load_iris().data.shape
    (150, 4)
    """
    return _load("iris", return_X_y)


def load_wine(*, return_X_y: bool = False) -> Any:
    """178 wines: 13 chemical measurements in units of their own.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.

    Returns
    -------
    Bunch
        ``data`` of shape (178, 13), ``feature_names``, and ``target``: 3 growers with 59, 71 and 48 wines.

    Examples
    --------
    >>> import lehr
    >>> lehr.datasets.load_wine().data.shape
    (178, 13)
    """
    return _load("wine", return_X_y)


def load_breast_cancer(*, return_X_y: bool = False) -> Any:
    """569 breast masses: 30 measurements of cell nuclei.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.

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
    """1,797 handwritten digits: 8 x 8 pixels from 0 to 16.

    Parameters
    ----------
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` alone.

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
    """201,174 census blocks of Nevada, Utah and West Virginia: longitude and latitude in degrees, inhabitants as weights.

    Returns
    -------
    Bunch
        ``data`` of shape (201174, 2), ``feature_names``, and ``weight``, of which a third is 0.

    Examples
    --------
    >>> import lehr
    >>> int(lehr.datasets.load_census_blocks().weight.sum())
    8169946
    """
    found = _native.load_points("census_blocks")
    return Bunch(data=found["data"], weight=found["weight"], feature_names=found["feature_names"])


def load_alu() -> Sequences:
    """Human Alu repeats, not aligned: short sequences of DNA in families.

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
