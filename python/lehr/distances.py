"""Dissimilarities between sequences, fingerprints or numeric rows, and readers for their files."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike, fspath
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import sklearn.metrics
from numpy.typing import NDArray
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics.pairwise import _VALID_METRICS, PAIRWISE_BOOLEAN_FUNCTIONS

from lehr import _checks, _native, _partitioned
from lehr._columns import Columns
from lehr._constraints import one_of
from lehr._names import listed
from lehr._native import Fingerprints, Sequences
from lehr._partitions import Result, is_partitioned
from lehr._progress import Watch
from lehr.tables import describe_columns

__all__ = ["Fingerprints", "Sequences", "fingerprints_from_rdkit", "pairwise_distances", "read_fasta", "read_fps", "read_molecules"]
__dir__ = listed(__all__)

#: Metrics of rows of numbers.
FEATURE_METRICS = ("euclidean", "sqeuclidean", "manhattan", "cosine", "correlation")
#: The further metrics of scikit-learn.
_OTHER_METRICS = frozenset(_VALID_METRICS) - {"precomputed", *FEATURE_METRICS}
#: The metrics that support sparse rows. Other metrics would make the rows dense.
_SPARSE_METRICS = frozenset({"cityblock", "cosine", "euclidean", "l1", "l2", "manhattan", "sqeuclidean"})
#: Metrics that have another name in SciPy and scikit-learn than in Lehr.
_NAMES = {"sqeuclidean": "squared-euclidean"}
#: The largest cosine or correlation distance that counts as a rounding error of 0.
_ROUNDING = 8 * np.finfo(np.float64).eps
#: The metrics in which columns with large numbers outweigh the others.
_SCALED = ("euclidean", "sqeuclidean", "squared-euclidean", "manhattan", "cosine", "correlation", "chebyshev", "cityblock", "l1", "l2", "minkowski", "nan_euclidean")
#: Lehr's names for the element types of a result.
_ELEMENTS = {np.dtype(np.float64): "f64", np.dtype(np.float32): "f32"}


_Items = TypeVar("_Items", Fingerprints, Sequences)
#: The names of metrics that estimators accept.
Metric: TypeAlias = Literal[
    "precomputed", "euclidean", "sqeuclidean", "manhattan", "cosine", "correlation", "braycurtis", "canberra", "chebyshev", "cityblock", "dice",
    "hamming", "haversine", "jaccard", "l1", "l2", "mahalanobis", "matching", "minkowski", "nan_euclidean", "rogerstanimoto", "russellrao", "seuclidean",
    "sokalsneath", "yule",
]  # fmt: skip
#: The allowed values of an estimator's ``metric``.
METRIC: list[Any] = [one_of("precomputed", *FEATURE_METRICS, *sorted(_OTHER_METRICS)), callable]


def warn_of_scales(names: Any, rows: Any, metric: Any) -> None:
    """Warns, as the command does, if one column decides all distances by this metric."""
    if isinstance(metric, str) and metric in _SCALED:
        _checks.warn_of_scales(names, rows)


def takes_gaps(metric: Any) -> bool:
    """Returns whether the metric allows missing values."""
    return isinstance(metric, str) and metric == "nan_euclidean"


def takes_sparse(metric: Any) -> bool:
    """Returns whether the metric supports sparse rows."""
    return isinstance(metric, str) and metric in _SPARSE_METRICS


def of_rows(X: Any, Y: Any, metric: Any, metric_params: dict[str, Any] | None, n_jobs: int | None) -> NDArray[Any]:
    """Computes the dissimilarities between rows, or from rows to the rows of ``Y``, by a metric of Lehr or scikit-learn."""
    if metric in FEATURE_METRICS and not metric_params and not issparse(X) and not issparse(Y):
        if Y is None:
            with Watch("pairwise_distances", 0, None):
                return _native.distances_of(X, json.dumps({"metric": _word(_NAMES.get(metric, metric)), "element": "f64"}), threads=_checks.threads(n_jobs))
        if metric in ("cosine", "correlation"):
            return _defined(_angles(X, Y, metric), metric)
        return cdist(X, Y, "cityblock" if metric == "manhattan" else metric)
    X, Y = _canonical(X), _canonical(Y)
    if metric == "sqeuclidean" and issparse(X):
        metric, metric_params = "euclidean", {**(metric_params or {}), "squared": True}
    if metric in PAIRWISE_BOOLEAN_FUNCTIONS:
        # Convert numbers here, because scikit-learn's warning about the conversion would point at its own code.
        X, Y = _truths(X, metric), None if Y is None else _truths(Y, metric)
    found = sklearn.metrics.pairwise_distances(X, Y, metric=metric, n_jobs=n_jobs, **(metric_params or {}))
    if Y is None and np.ndim(found) == 2:
        # Because of rounding, the distance of a row to itself may differ from 0.
        np.fill_diagonal(found, 0.0)
    return _defined(np.asarray(found), metric)


def _canonical(rows: Any) -> Any:
    """Converts sparse rows for scikit-learn's metrics: without duplicate entries, and with 32-bit indices if these suffice.

    Otherwise most metrics would count each duplicate entry as a separate value, and Manhattan distances fail with 64-bit indices.
    """
    if not issparse(rows):
        return rows
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    if rows.indices.dtype != np.int32 and max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max:
        kind = type(rows)
        rows = kind((rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape)
    return rows


def _truths(rows: NDArray[Any], metric: str) -> NDArray[np.bool_]:
    """Converts rows to truth values, for metrics that compare these. Warns if a number is neither 0 nor 1."""
    truths: NDArray[np.bool_] = rows != 0
    if not np.array_equal(truths, rows):
        _checks.warn(f"metric {metric!r} compares truth values: numbers other than 0 count as true.", DataConversionWarning)
    return truths


def _angles(X: Any, Y: Any, metric: str) -> NDArray[np.float64]:
    """Computes cosine or correlation distances row by row, so that they do not depend on other rows. Tiny rounding errors become 0."""
    found: NDArray[np.float64] = cdist(X, Y, metric)
    if metric == "cosine":
        # SciPy returns NaN for a row of zeros, whose distance from every other row is 1.
        found[~X.any(axis=1)] = 1.0
        found[:, ~Y.any(axis=1)] = 1.0
    found[found <= _ROUNDING] = 0.0
    return found


def _defined(found: NDArray[Any], metric: Any) -> NDArray[Any]:
    """Returns the dissimilarities if none is NaN.

    Raises
    ------
    ValueError
        If the metric is undefined for a pair of rows; the message gives the positions of one such pair.
    """
    undefined = np.isnan(found)
    if found.ndim == 2 and undefined.any():
        # The row with the most undefined pairs is probably the cause.
        row = int(undefined.sum(axis=1).argmax())
        column = int(undefined[row].argmax())
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", "the function")
        raise ValueError(
            f"metric {name!r} gives no number for rows {row} and {column} (counted from 0), and for {int(undefined.sum()) - 1} more entries: "
            "leave out rows for which it is not defined, such as constant rows for a correlation, or use another metric."
        )
    return found


def read_fasta(path: str | PathLike[str], *, alphabet: Literal["dna", "protein"] | None = None, aligned: bool = False) -> Sequences:
    """Read the sequences of a FASTA file, plain or gzip-compressed.

    Parameters
    ----------
    path : path-like
        The file.
    alphabet : {'dna', 'protein'}, default=None
        The kind of sequences. With ``None``, Lehr detects the kind.
    aligned : bool, default=False
        Whether the sequences are aligned. Aligned sequences may have gaps, and must have equal lengths.

    Returns
    -------
    Sequences
        The sequences. The id of a sequence is the first word after ``>``.

    Raises
    ------
    ValueError
        If there are invalid letters, empty sequences, or aligned sequences of different lengths. The message lists the first ten with their lines.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile, lehr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "genes.fasta")
    ...     with open(path, "w") as file:
    ...         _ = file.write(">one\\nACGT\\n>two\\nACGA\\n")
    ...     lehr.read_fasta(path).ids
    ['one', 'two']
    """
    return _with_told_ids(_native.read_fasta(path, alphabet=alphabet, aligned=aligned), path)


def read_fps(path: str | PathLike[str]) -> Fingerprints:
    """Read the fingerprints of an FPS file, plain or gzip-compressed.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    Fingerprints

    Raises
    ------
    ValueError
        If rows are not hexadecimal or differ in length. The message lists the first ten with their lines.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile, lehr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "compounds.fps")
    ...     with open(path, "w") as file:
    ...         _ = file.write("#FPS1\\n#num_bits=8\\n0f\\tone\\nff\\ttwo\\n")
    ...     lehr.read_fps(path).ids
    ['one', 'two']
    """
    return _with_told_ids(_native.read_fps(path), path)


def read_molecules(path: str | PathLike[str], *, fingerprint: Literal["morgan", "maccs"] = "morgan") -> Fingerprints:
    """Read the molecules of a file of SMILES or an SD file as fingerprints, plain or gzip-compressed.

    Each line of a file of SMILES has a structure, white space and a name. A file that ends in ``.sdf``, ``.sd`` or ``.mol`` is an SD file, whose titles become
    the ids. The fingerprints have the same bits as those of RDKit.

    Parameters
    ----------
    path : path-like
        The file.
    fingerprint : {'morgan', 'maccs'}, default='morgan'
        The kind of fingerprints. ``'morgan'``: circular (ECFP), radius 2, 2,048 bits. ``'maccs'``: the 166 MACCS keys; key i is bit i of 167.

    Returns
    -------
    Fingerprints

    Raises
    ------
    ValueError
        If molecules cannot be read. The message lists the first ten with their lines.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import os, tempfile, lehr
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "compounds.smi")
    ...     with open(path, "w") as file:
    ...         _ = file.write("CCO ethanol\\nc1ccccc1 benzene\\n")
    ...     lehr.read_molecules(path).ids
    ...     lehr.read_molecules(path, fingerprint="maccs").n_bits
    ['ethanol', 'benzene']
    167
    """
    return _with_told_ids(_native.read_molecules(path, fingerprint=fingerprint), path)


def fingerprints_from_rdkit(vectors: Iterable[Any], ids: Iterable[str] | None = None) -> Fingerprints:
    """Convert RDKit bit vectors to fingerprints.

    Parameters
    ----------
    vectors : iterable of rdkit.DataStructs.ExplicitBitVect
        The bit vectors, all of the same length.
    ids : iterable of str, default=None
        The ids of the vectors. ``None`` means numbers from 0.

    Returns
    -------
    Fingerprints

    Raises
    ------
    ImportError
        If RDKit is not installed.
    ValueError
        If the vectors differ in length, or there are none.

    Examples
    --------
    >>> import lehr
    >>> from rdkit import Chem  # doctest: +SKIP
    >>> from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator  # doctest: +SKIP
    >>> generator = GetMorganGenerator(radius=2, fpSize=1024)  # doctest: +SKIP
    >>> lehr.fingerprints_from_rdkit([generator.GetFingerprint(Chem.MolFromSmiles("CCO"))])  # doctest: +SKIP
    Fingerprints(1 of 1024 bits)
    """
    from rdkit import DataStructs

    vectors = list(vectors)
    lengths = {vector.GetNumBits() for vector in vectors}
    if len(lengths) != 1:
        raise ValueError(f"expected bit vectors of one length, found {sorted(lengths) or 'none'}")
    n_bits = lengths.pop()
    bits = np.zeros((len(vectors), n_bits), dtype=np.uint8)
    for row, vector in zip(bits, vectors, strict=True):
        DataStructs.ConvertToNumpyArray(vector, row)
    return Fingerprints(np.packbits(bits, axis=1, bitorder="little"), n_bits, None if ids is None else list(ids))


def _with_told_ids(items: _Items, path: str | PathLike[str]) -> _Items:
    """Returns the items, and warns, as the command does, if several have the same id."""
    told = _native.shared_ids(items.ids)
    if told is not None:
        _checks.warn(f"{fspath(path)}: {told}", UserWarning)
    return items


def _is_texts(items: Any) -> bool:
    return isinstance(items, (list, tuple)) and len(items) > 0 and all(isinstance(item, str) for item in items)


def _is_bit_vectors(items: Any) -> bool:
    return isinstance(items, (list, tuple)) and len(items) > 0 and all(hasattr(item, "GetNumBits") for item in items)


def pairwise_distances(
    items: Any,
    Y: Any = None,
    metric: str | None = None,
    *,
    alignment: Literal["local", "global", "semi-global", "given"] | None = None,
    matrix: str | None = None,
    gap_open: int | None = None,
    gap_extend: int | None = None,
    overlap: float | None = None,
    ambiguous: Literal["skip", "differ"] | None = None,
    standardize: bool = False,
    condensed: bool = False,
    dtype: Any = np.float64,
    n_jobs: int | None = None,
    verbose: int = 0,
    callback: Any = None,
    gap: tuple[int, int] | None = None,
) -> NDArray[Any]:
    """Compute the dissimilarities of all pairs of items.

    Metrics and results are the same as in ``lehr distances``. The result takes 8 bytes for each of the ``n_items ** 2`` pairs, for example 800 MB for 10,000
    items. With ``numpy.float32`` it takes half as much memory, and so it does if condensed.

    Parameters
    ----------
    items : Sequences, Fingerprints, list of str, list of RDKit bit vectors, or array-like of shape (n_items, n_features)
        The items to compare, with each other or with ``Y``. A Dask collection, Ray dataset or Spark data frame is compared with the rows of ``Y``, and the
        result has the form of the table. In numeric rows, NaN is a missing value: a distance uses the columns that both rows have, and is
        scaled up to all columns. With ``metric='gower'``, a table with numbers, categories and dates: from pandas, Polars or Arrow, a dictionary of columns, or
        an array.
    Y : as ``items``, default=None
        Other items to compare with: Lehr then computes only the ``n_items * n_others`` pairs of an item and another item. With ``None``, the items are compared
        with each other. A string is taken as ``metric``, which was the second argument in earlier versions.
    metric : str, default=None
        For sequences ``'identity'`` (the default), ``'identity-without-gaps'``, ``'jukes-cantor'``, ``'kimura'``, ``'score-over-smaller'``,
        ``'score-over-larger'``, ``'score-over-mean'``; with ``alignment='given'`` ``'hamming'`` (the default), ``'p-distance'``, ``'jukes-cantor'``,
        ``'kimura'``. For fingerprints ``'tanimoto'``. For rows ``'euclidean'`` (the default), ``'sqeuclidean'``, ``'manhattan'``, ``'cosine'``,
        ``'correlation'``. A row of zeros has cosine distance 1 from every other row, as in scikit-learn. A constant row has no correlation and raises an error.
        For tables with columns of several kinds ``'gower'``: the mean difference over the columns that both rows have. Numbers and dates differ by a share of
        their column's range, categories by 0 or 1. Identifiers, free text and constants are left out with a warning.
    alignment : {'local', 'global', 'semi-global', 'given'}, default=None
        For sequences: Smith-Waterman, Needleman-Wunsch, Needleman-Wunsch without penalties for gaps at the ends, or the existing alignment. ``None``:
        ``'given'`` for ``'hamming'`` and ``'p-distance'``, otherwise ``'local'``.
    matrix : str, default=None
        For sequences: ``'ednafull'``, ``'blosum62'`` or ``'EQUAL/DIFFERENT'`` such as ``'5/-4'``. ``None`` means ``'ednafull'`` for DNA, ``'blosum62'`` for
        proteins.
    gap_open : int, default=None
        For sequences: the cost of the first letter in a gap. ``None`` means 14 for DNA, 10 for proteins.
    gap_extend : int, default=None
        For sequences: the cost of each further letter in a gap. ``None`` means 4 for DNA, 1 for proteins.
    overlap : float, default=None
        A share from 0 to 1. Local alignments that cover a smaller share of the shorter sequence give NaN. ``None`` means 0.7.
    ambiguous : {'skip', 'differ'}, default=None
        For aligned nucleotides, with ``'p-distance'``, ``'jukes-cantor'`` and ``'kimura'``: how to count a position with an ambiguous letter, such as a masked
        ``N``. ``'skip'``: leave the position out, like a gap. ``'differ'``: count a difference, unless both letters are the same. ``None`` means ``'skip'``.
    standardize : bool, default=False
        For rows: whether to standardise each column to mean 0 and standard deviation 1 first.
    condensed : bool, default=False
        Whether to return only the pairs above the diagonal, row by row, in the form that SciPy's ``linkage`` takes.
    dtype : {numpy.float64, numpy.float32}, default=numpy.float64
        The type of the result.
    n_jobs : int, default=None
        The number of threads; -1 uses all processors. ``None`` uses ``OMP_NUM_THREADS`` if it is set, otherwise all processors, or one thread for each process
        of an MPI job. The result does not depend on the number of threads.
    verbose : int, default=0
        If above 0, show progress on standard error.
    callback : callable, default=None
        A function that is called with a :class:`lehr.Progress` after each step. Return ``False`` to stop the run.
    gap : tuple of two ints, default=None
        The older form of ``gap_open`` and ``gap_extend``, in this order.

    Returns
    -------
    ndarray of shape (n_items, n_items), (n_items, n_others), or (n_items * (n_items - 1) / 2,) if condensed
        The dissimilarities; NaN for a pair without a value.

    Raises
    ------
    ValueError
        If the metric does not support these items.
    Stopped
        If the callback returned ``False``.

    Examples
    --------
    >>> import lehr
    >>> lehr.pairwise_distances(["ACGTACGTAC", "ACGTACCTAC"], condensed=True).round(3)
    array([0.1])
    >>> lehr.pairwise_distances([[0.0], [3.0], [7.0]], "manhattan").tolist()
    [[0.0, 3.0, 7.0], [3.0, 0.0, 4.0], [7.0, 4.0, 0.0]]
    >>> people = {"age": [20.0, 30.0, 60.0, 60.0], "city": ["Bern", "Basel", "Bern", "Basel"]}
    >>> lehr.pairwise_distances(people, metric="gower")[0].tolist()
    [0.0, 0.625, 0.5, 1.0]
    """
    if isinstance(Y, str) and metric is None:
        Y, metric = None, Y
    if metric is not None and not isinstance(metric, str):
        raise TypeError(f"The 'metric' parameter must be a str or None. Got {type(metric).__name__} instead.")
    if Y is not None and condensed:
        raise ValueError("condensed=True is for items that are compared with each other: expected no Y.")
    element = _ELEMENTS.get(np.dtype(dtype))
    if element is None:
        raise _checks.wrong("dtype", "numpy.float64 or numpy.float32", dtype)
    if is_partitioned(items):
        of_sequences = (alignment, matrix, gap_open, gap_extend, overlap, ambiguous, gap)
        if Y is None or is_partitioned(Y) or metric == "gower" or standardize or callback is not None or any(one is not None for one in of_sequences):
            raise ValueError(
                "pairwise_distances of a table in partitions compares its rows with rows in memory: expected Y, which is not in partitions, and "
                "neither metric='gower', standardize=True, callback nor options of sequences."
            )
        others = _as_items(Y, "Y")
        return _partitioned.distances_of(items, others, {"metric": metric, "dtype": dtype}, Result("distances", dtype, len(others)))
    if gap is not None:
        if gap_open is not None or gap_extend is not None:
            raise ValueError("The 'gap' parameter is the earlier form of 'gap_open' and 'gap_extend': expected one of the two forms.")
        gap_open, gap_extend = gap
    columns, names = None, getattr(items, "columns", None)
    if metric == "gower":
        if Y is not None:
            raise ValueError("metric='gower' compares rows of one table, since ranges are those of all its rows: expected no Y.")
        items, columns = _of_several_kinds(items)
    else:
        items = _as_items(items, "items")
    options = {
        "columns": columns,
        "metric": None if metric is None else _word(_NAMES.get(metric, metric)),
        "alignment": None if alignment is None else _word(alignment),
        "matrix": matrix,
        "gap_open": _checks.integer("gap_open", gap_open, optional=True),
        "gap_extend": _checks.integer("gap_extend", gap_extend, optional=True),
        "overlap": _checks.real("overlap", overlap, optional=True),
        "ambiguous": ambiguous,
        "standardize": bool(standardize),
        "element": element,
    }
    others = None if Y is None else _as_items(Y, "Y")
    if not standardize:
        warn_of_scales(names, items, metric or "euclidean")
    with Watch("pairwise_distances", verbose, callback) as watch:
        if others is not None:
            found = _native.distances_between(items, others, json.dumps(options), threads=_checks.threads(n_jobs))
        else:
            found = _native.distances_of(items, json.dumps(options), condensed=bool(condensed), threads=_checks.threads(n_jobs), callback=watch.callback)
    if isinstance(items, Sequences) and alignment in (None, "local") and metric not in ("hamming", "p-distance"):
        _warn_of_parts(items, others, found, bool(condensed))
    return found


def _as_items(items: Any, name: str) -> Any:
    """Converts items to sequences, fingerprints or rows of numbers, as the Rust extension takes them."""
    if _is_texts(items):
        return Sequences(items)
    if _is_bit_vectors(items):
        return fingerprints_from_rdkit(items)
    if isinstance(items, (Sequences, Fingerprints)):
        return items
    return _checks.check_array(items, dtype=(np.float64, np.float32), ensure_all_finite="allow-nan", input_name=name)


def _of_several_kinds(table: Any) -> tuple[_native.DataFrame, list[str]]:
    """Returns the table in the form that the Rust extension takes, and the columns that are compared."""
    columns = Columns(table)
    frame = columns.frame()
    if not columns.is_named:
        return frame, columns.names
    accounts = describe_columns(table)
    used = [account.name for account in accounts if account.role in ("measure", "category", "date")]
    left_out = [f"{account.name} ({account.role})" for account in accounts if account.name not in used]
    if not used:
        raise ValueError(f"metric='gower': expected a column of numbers, categories or dates, found {', '.join(left_out)}.")
    if left_out:
        _checks.warn(f"metric='gower' leaves out {', '.join(left_out)}.", UserWarning)
    return frame, used


def _warn_of_parts(items: Sequences, others: Sequences | None, found: NDArray[Any], is_condensed: bool) -> None:
    """Warns if local alignment, which compares the best matching parts, leaves out the parts that distinguish sequences."""
    numbers: dict[str, int] = {}
    kinds = [numbers.setdefault(items[row], len(numbers)) for row in range(len(items))]
    to = np.array(kinds if others is None else [numbers.setdefault(others[row], len(numbers)) for row in range(len(others))])
    lost = alike = pairs = 0
    for row, kind in enumerate(kinds):
        # Among items that are compared with each other, each pair counts once.
        first = 0 if others is not None else row + 1
        length = len(to) - first
        distances = found[pairs : pairs + length] if is_condensed else found[row, first:]
        pairs += length
        lost += int(np.count_nonzero(np.isnan(distances)))
        alike += int(np.count_nonzero((distances == 0) & (to[first:] != kind)))
    cure = "Local alignment compares the parts that match best: say alignment='global' to compare whole sequences"
    if lost:
        _checks.warn(f"{lost} of {pairs} pairs of sequences have no distance (NaN), because too little of them matches. {cure}, or overlap=0.", UserWarning)
    if alike:
        _checks.warn(f"{alike} of {pairs} pairs of different sequences are at distance 0. {cure}.", UserWarning)


def _word(name: str) -> str:
    """Returns the name of an option's value in the Rust extension, with underscores instead of hyphens."""
    return name.replace("-", "_")
