"""Loads models from files that an estimator or the command has written."""

from __future__ import annotations

import json
import os
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from lehr import _native
from lehr._learnt import FORMAT, KIND, LearntMixin
from lehr._model import SavedMixin, class_of
from lehr.agglomerative import AgglomerativeClustering
from lehr.cluster import DAClustering, PairwiseClustering
from lehr.density import HDBSCAN
from lehr.kmeans import KMeans
from lehr.kmedoids import KMedoids
from lehr.manifold import SMACOF
from lehr.minibatch import MiniBatchKMeans
from lehr.mixture import DAGaussianMixture
from lehr.preparation import TablePreparation
from lehr.topographic import GTM

#: The estimators with a method ``save``.
_SAVED: tuple[type[SavedMixin], ...] = (
    AgglomerativeClustering, DAClustering, DAGaussianMixture, GTM, HDBSCAN, KMeans, KMedoids, MiniBatchKMeans, PairwiseClustering, SMACOF, TablePreparation,
)  # fmt: skip
#: The fields that are optional in a model file.
_OPTIONAL = {"checksum", "form", "id", "limits", "lonlat", "preparation"}
#: The estimators of items, by the kind of their model. Their columns are dissimilarities. A cut tree has the model of a pairwise clustering.
_ITEMS: dict[str, Any] = {"medoids": KMedoids, "pairwise": PairwiseClustering, "embedding": SMACOF}
#: The fields that every model file has.
_FIELDS = ("columns", "divisors", "format", "kind", "model", "shifts", "version")


def load(path: str | PathLike[str]) -> Any:
    """Read a model: a file that ``save`` or ``export`` wrote, or the ``model.json`` in a folder of the command's results.

    A model of the command can label new rows as ``lehr predict`` does. Such a model lacks the history of the run and, except for a :class:`PairwiseClustering`,
    the labels of the fitted rows.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    estimator
        A fitted estimator. A file that ``save`` wrote gives an estimator of the same class. A mixture becomes a :class:`DAGaussianMixture`, a topographic map a
        :class:`GTM`. Results of ``lehr kmedoids``, ``lehr pairwise`` and ``lehr embed`` become a :class:`KMedoids`, a :class:`PairwiseClustering` and a
        :class:`SMACOF` with ``metric='precomputed'``. The clusters of ``lehr hierarchy`` also become a :class:`PairwiseClustering`, without the tree. Clusters
        become a :class:`DAClustering` if they have a temperature above 0 or an outlier radius, otherwise a :class:`KMeans`. If the command changed the columns
        first, you get a ``Pipeline`` that ends with one of these estimators. For example, after ``--scale`` the pipeline begins by scaling rows in the same
        way. If the command prepared a table (``--auto``, ``--log``, ``--exclude``), the pipeline begins with a :class:`TablePreparation`. Pass it a table from
        :func:`read_table`, or the path of a file. The pipeline treats missing values as ``lehr predict`` does; a row without any value gets the label -1. If
        the columns are longitude and latitude in degrees, the pipeline begins by converting them to points on the sphere, in kilometres. The columns keep the
        names that they had in the command's table.

    Raises
    ------
    ValueError
        If the file is not a model, is incomplete or damaged, or has a format that this version of Lehr does not read. Also if the clusters were fitted with
        ``--cost bernoulli``, because no estimator supports this cost.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile, lehr
    >>> fitted = lehr.KMeans(2).fit([[0.0], [1.0], [10.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.json")
    ...     fitted.export(path)
    ...     lehr.load(path)
    KMeans(n_clusters=2)
    """
    with open(path, "rb") as file:
        # A file of ``save`` begins with these words; a file of the command is JSON.
        is_saved = file.read(len(KIND)) == KIND.encode()
    if is_saved:
        return _saved(path)
    with open(path, "rb") as file:
        text = file.read()
    try:
        return learnt(text)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def _saved(path: str | PathLike[str]) -> SavedMixin:
    content = json.loads(_native.read_model(path))
    method = content.get("method") if isinstance(content, dict) else None
    for kind in _SAVED:
        if kind._method == method:
            return kind.load(path)
    known = ", ".join(kind.__name__ for kind in _SAVED)
    raise ValueError(f"{os.fspath(path)}: expected a model of {known}, found one of {class_of(method)}")


def learnt(text: bytes) -> Any:
    """Returns the estimator or pipeline in the text of a ``model.json``."""
    try:
        content = json.loads(text)
    except ValueError as error:
        raise ValueError(f"expected a model, found no JSON ({error})") from None
    if not isinstance(content, dict) or content.get("kind") != KIND:
        raise ValueError("expected a model: the model.json in the folder that a method of lehr wrote, such as lehr cluster")
    form = content.get("format")
    if form != FORMAT:
        is_newer = isinstance(form, int) and form > FORMAT
        writer = f": Lehr {content.get('version')} wrote it, this is {_native.__version__}" if is_newer else ""
        raise ValueError(f"expected a model of format {FORMAT}, found format {form}{writer}")
    if content.keys() - _OPTIONAL != set(_FIELDS):
        raise ValueError(f"not a whole model: expected the fields {', '.join(_FIELDS)}")
    if "checksum" in content and content["checksum"] != _native.model_checksum(text.decode()):
        cure = 'if you changed the model on purpose, remove its "checksum"'
        raise ValueError(f"the model was damaged or changed: its content has another checksum; {cure}.")
    if not isinstance(content["model"], dict) or len(content["model"]) != 1:
        raise ValueError("not a whole model: expected one model")
    ((kind, fields),) = content["model"].items()
    parts = _native.learnt(kind, json.dumps(fields))
    model: Any
    if kind in _ITEMS:
        model = _ITEMS[kind](metric="precomputed")
    elif kind == "clusters":
        # At temperature 0, each row belongs only to the nearest centre, as in k-means.
        model = KMeans() if parts["temperature"] == 0.0 and parts["sponge"] is None else DAClustering()
    else:
        model = DAGaussianMixture() if kind == "mixture" else GTM()
    assert isinstance(model, LearntMixin)
    model._take_learnt(parts)
    width = _width(model)
    if kind not in _ITEMS:
        model.n_features_in_ = width
    if content.get("preparation") is not None:
        model._of_table = True
        return make_pipeline(_preparation(content["preparation"], content.get("form") or {}, width), model)
    if content.get("lonlat", False):
        if kind != "clusters" or width != 3:
            raise ValueError("expected clusters in three dimensions of longitude and latitude")
        before: Any = FunctionTransformer(_on_sphere, validate=True)
        shifts, divisors, names = _scale(content, 2)
        before.n_features_in_ = 2
    else:
        shifts, divisors, names = _scale(content, width)
        if not shifts.any() and (divisors == 1.0).all():
            # The columns have the ids of items, which do not name the columns of a matrix of dissimilarities.
            if kind not in _ITEMS:
                _name(model, names)
            return model
        if kind in _ITEMS:
            raise ValueError("expected dissimilarities without shifts and divisors")
        before = StandardScaler(with_mean=bool(shifts.any()))
        before.mean_, before.scale_, before.var_, before.n_features_in_ = shifts, divisors, np.square(divisors), width
    _name(before, names)
    return make_pipeline(before, model)


def _preparation(content: Any, form: Any, width: int) -> TablePreparation:
    """Returns the step that turns a table into the columns of the model."""
    try:
        preparation = TablePreparation._restored(content, form)
        # The Rust extension checks that the preparation is complete.
        _native.back(preparation._preparation, np.zeros((1, width)))
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ValueError(f"not a whole model: expected a preparation of {width} features") from None
    return preparation


def _on_sphere(X: NDArray[Any]) -> NDArray[np.float64]:
    """Converts longitudes and latitudes in degrees to points on the sphere, in kilometres from its centre."""
    return _native.on_sphere(X.astype(np.float64, copy=False))


def _width(model: Any) -> int:
    """Returns the number of columns to which a model was fitted."""
    if isinstance(model, KMedoids):
        return len(model.medoid_indices_)
    if isinstance(model, (PairwiseClustering, SMACOF)):
        return int(model.n_features_in_)
    centers = model.cluster_centers_ if hasattr(model, "cluster_centers_") else model.means_
    return int(centers.shape[1])


def _scale(content: dict[str, Any], width: int) -> tuple[NDArray[np.float64], NDArray[np.float64], list[str]]:
    """Returns the shifts of the columns, their divisors, and their names."""
    names = content["columns"]
    try:
        shifts, divisors = (np.array(content[name], dtype=np.float64) for name in ("shifts", "divisors"))
    except (TypeError, ValueError):
        raise ValueError("not a whole model: expected numbers as shifts and divisors") from None
    is_named = isinstance(names, list) and all(isinstance(name, str) for name in names)
    if not is_named or len(names) != width or shifts.shape != (width,) or divisors.shape != (width,):
        raise ValueError(f"expected a name, a shift and a divisor for each of {width} columns")
    if not (np.isfinite(shifts).all() and np.isfinite(divisors).all() and (divisors > 0.0).all()):
        raise ValueError("expected finite shifts, and divisors above 0")
    return shifts, divisors, names


def _name(estimator: Any, names: list[str]) -> None:
    """Sets the names of the columns, unless they are only numbered, as ``x0`` or ``x1`` onwards."""
    if any(names == [f"x{number + first}" for number in range(len(names))] for first in (0, 1)):
        return
    estimator.feature_names_in_ = np.array(names, dtype=object)
