"""Sparse rows: compared with the clusters of the same dense rows, and with the clusters of the command."""

import csv
import subprocess
import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from scipy.io import mmwrite
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import dump_svmlight_file
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import lehr

ESTIMATORS = [
    lehr.DAClustering(4),
    lehr.DAClustering(),
    lehr.DAClustering(4, outlier_radius=6.0),
    lehr.DAClustering(4, precision="single"),
    lehr.KMeans(4),
    lehr.KMeans(4, algorithm="plain", precision="single"),
]


@pytest.fixture(scope="module")
def texts():
    """Returns counts of 60 words in 300 texts about four topics. The topics have different numbers of texts, and two texts are empty."""
    draw = np.random.default_rng(5)
    counts = draw.poisson(0.05, size=(300, 60))
    about = np.array([0, 1, 2, 3, 0, 1, 2, 0, 1, 0])[np.arange(300) % 10]
    for thing in range(4):
        of = about == thing
        counts[of, 15 * thing : 15 * thing + 15] += draw.poisson(0.9, size=(of.sum(), 15))
    counts[[7, 200]] = 0
    return scipy.sparse.csr_array(counts.astype(np.float64))


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_clusters_are_those_of_the_same_rows_with_their_zeros(estimator, texts):
    weights = np.arange(300) % 3
    for more in ({}, {"sample_weight": weights}):
        sparse = clone(estimator).fit(texts, **more)
        assert isinstance(sparse.cluster_centers_, np.ndarray) and sparse.n_features_in_ == 60
        dense = clone(estimator).fit(texts.toarray(), **more)
        np.testing.assert_array_equal(sparse.labels_, dense.labels_)
        np.testing.assert_allclose(sparse.cluster_centers_, dense.cluster_centers_, atol=1e-9)
        assert sparse.inertia_ == pytest.approx(dense.inertia_, rel=1e-9)
        np.testing.assert_array_equal(sparse.predict(texts), dense.predict(texts.toarray()))
        np.testing.assert_allclose(sparse.transform(texts), dense.transform(texts.toarray()), atol=1e-7)
        assert sparse.score(texts, **more) == pytest.approx(dense.score(texts.toarray(), **more), rel=1e-9)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("form", ["array", "matrix"])
def test_every_format_has_the_bits_of_compressed_rows(kind, form, texts):
    rows = getattr(scipy.sparse, f"{kind}_{form}")(texts[:80])
    expected, found = lehr.DAClustering(3).fit(texts[:80]), lehr.DAClustering(3).fit(rows)
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_)
    np.testing.assert_array_equal(found.predict(rows), expected.predict(texts[:80]))


def _shuffled(rows):
    """Returns the same rows with their columns in another order."""
    data, indices = rows.data.copy(), rows.indices.copy()
    for start, end in zip(rows.indptr, rows.indptr[1:]):
        data[start:end], indices[start:end] = data[start:end][::-1].copy(), indices[start:end][::-1].copy()
    return scipy.sparse.csr_array((data, indices, rows.indptr), shape=rows.shape)


def _halves(rows):
    """Returns the same rows with each value stored as two parts."""
    return scipy.sparse.csr_array((np.repeat(rows.data / 2, 2), np.repeat(rows.indices, 2), 2 * rows.indptr), shape=rows.shape)


def _zeros(rows):
    """Returns the same rows with explicit zeros, and with duplicate entries that add up to 0."""
    data = np.column_stack([rows.data, np.zeros(rows.nnz), np.ones(rows.nnz), -np.ones(rows.nnz)]).ravel()
    other = (rows.indices + 1) % rows.shape[1]
    indices = np.column_stack([rows.indices, rows.indices, other, other]).ravel()
    return scipy.sparse.csr_array((data, indices, 4 * rows.indptr), shape=rows.shape)


def _long(rows):
    """Returns the same rows with 64-bit indices."""
    wide = rows.copy()
    wide.indices, wide.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    return wide


def _behind(rows):
    """Returns the same rows with additional numbers after the last row."""
    data, indices = np.append(rows.data, [9.0, 9.0]), np.append(rows.indices, [0, 1]).astype(np.int32)
    return scipy.sparse.csr_array((data, indices, rows.indptr), shape=rows.shape)


@pytest.mark.parametrize("made", [_shuffled, _halves, _zeros, _long, _behind, lambda rows: rows.astype(np.float32), lambda rows: rows.astype(int)])
@pytest.mark.parametrize("estimator", [lehr.DAClustering(4), lehr.KMeans(4)], ids=repr)
def test_the_same_rows_written_otherwise_have_the_same_bits_and_are_left_as_they_were(estimator, made, texts):
    expected = clone(estimator).fit(texts)
    rows = made(texts)
    before = [part.copy() for part in (rows.data, rows.indices, rows.indptr)]
    found = clone(estimator).fit(rows)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    # For rows in single precision, centres are in single precision too.
    np.testing.assert_array_equal(found.cluster_centers_, expected.cluster_centers_.astype(found.cluster_centers_.dtype))
    assert found.cluster_centers_.dtype == (np.float32 if rows.dtype == np.float32 else np.float64)
    np.testing.assert_array_equal(found.predict(rows), expected.predict(texts))
    for part, kept in zip((rows.data, rows.indices, rows.indptr), before):
        assert part.dtype == kept.dtype
        np.testing.assert_array_equal(part, kept)


@pytest.mark.parametrize("arguments", [["--method", "da"], ["--method", "da", "--outlier-radius", "6"], ["--method", "kmeans", "--seed", "3"]])
@pytest.mark.parametrize("name", ["texts.svmlight", "texts.mtx"])
def test_labels_are_those_of_the_command(arguments, name, command, texts, tmp_path):
    if name.endswith("mtx"):
        mmwrite(tmp_path / name, scipy.sparse.coo_array(texts))
    else:
        dump_svmlight_file(texts, np.zeros(300), str(tmp_path / name))
    line = [command, "cluster", tmp_path / name, "--clusters", "4", *arguments, "--scale", "none", "--out", tmp_path / "out", "--quiet"]
    if name.endswith("svmlight"):
        line += ["--first-column", "0"]
    subprocess.run(line, check=True)
    with open(tmp_path / "out" / "labels.csv", newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    if "kmeans" in arguments:
        model = lehr.KMeans(4, random_state=3)
    else:
        model = lehr.DAClustering(4, outlier_radius=6.0 if "--outlier-radius" in arguments else None)
    assert model.fit(texts).labels_.tolist() == labels
    model.export(tmp_path / "model.json")
    predicting = [command, "predict", tmp_path / "model.json", tmp_path / name]
    ended = subprocess.run(predicting, check=True, capture_output=True, text=True)
    assert [int(row["cluster"]) for row in csv.DictReader(ended.stdout.splitlines())] == model.predict(texts).tolist()


def _with(texts, place, value):
    rows = texts.copy()
    rows.data[place] = value
    return rows


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda rows: _with(rows, 3, np.nan), "contains NaN"),
        (lambda rows: _with(rows, 3, -np.inf), "infinity"),
        (lambda rows: rows.astype(complex), "Complex data not supported"),
        (lambda rows: rows[:0], "0 sample"),
        (lambda rows: rows[:2], r"n_samples=2 should be >= n_clusters=4"),
        # Each of the two halves is finite, but their sum is not.
        (lambda rows: scipy.sparse.csr_array(([1e308, 1e308] * 4, [0] * 8, [0, 2, 4, 6, 8]), shape=(4, 20)), "expected a finite number, found inf"),
        (lambda rows: scipy.sparse.csr_array((np.ones(4), [0, 1, 2, 3], [0, 1, 2, 3, 4]), shape=(4, 1 << 25)), "1 to 16777216 columns, found 33554432"),
    ],
)
@pytest.mark.parametrize("estimator", [lehr.DAClustering(4), lehr.KMeans(4)], ids=repr)
@pytest.mark.filterwarnings("ignore:.*[Oo]verflow")
def test_sparse_rows_that_cannot_be(estimator, made, words, texts):
    with pytest.raises(ValueError, match=words):
        clone(estimator).fit(made(texts))


def test_places_that_are_none_are_told(texts):
    for column, words in ((-1, "expected places from 0 on, found -1"), (60, "expected columns below 60, found column 60")):
        rows = texts.copy()
        rows.indices[rows.indptr[4]] = column
        # The flag says that the format was checked before, so it is not checked again.
        rows.has_canonical_format = True
        with pytest.raises(ValueError, match=words):
            lehr.KMeans(4).fit(rows)


@pytest.mark.parametrize("rows", [scipy.sparse.csr_array((5, 40)), scipy.sparse.csr_array((5, 3))], ids=["many columns", "few"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_that_are_all_empty_are_one_cluster(rows):
    for estimator in (lehr.DAClustering(2), lehr.KMeans(2)):
        model = estimator.fit(rows)
        assert model.labels_.tolist() == [0] * 5 and model.inertia_ == 0.0
        assert not model.cluster_centers_.any()


def test_rows_of_another_width_and_other_kinds_of_rows_afterwards(texts):
    model = lehr.DAClustering(4).fit(texts)
    with pytest.raises(ValueError, match="X has 59 features, but DAClustering is expecting 60 features"):
        model.predict(texts[:, :59])
    np.testing.assert_array_equal(model.predict(texts.toarray()), model.predict(texts))
    assert model.fit(texts.toarray()).predict(texts).tolist() == model.labels_.tolist()


def test_in_a_pipeline_from_a_start_that_is_given(texts):
    # One text about each topic, scaled like all texts.
    begin = MaxAbsScaler().fit(texts).transform(texts[:4]).toarray()
    model = make_pipeline(MaxAbsScaler(), lehr.KMeans(4, init=begin)).fit(texts)
    theirs = make_pipeline(MaxAbsScaler(), KMeans(4, init=begin, n_init=1, tol=0.0, algorithm="lloyd")).fit(texts)
    assert model[-1].inertia_ == pytest.approx(theirs[-1].inertia_, rel=1e-9)
    np.testing.assert_array_equal(model.predict(texts), model[-1].labels_)


@pytest.mark.thread_unsafe(reason="it traces all memory of the process")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_whose_zeros_no_memory_holds():
    # The dense rows would take 40 GB.
    columns = np.random.default_rng(1).integers(0, 100_000, size=250_000)
    rows = scipy.sparse.csr_array((np.ones(250_000), columns, np.arange(0, 250_001, 5)), shape=(50_000, 100_000))
    rows.sum_duplicates()
    model = lehr.KMeans(3, n_init=1, max_iter=5, n_jobs=1)
    tracemalloc.start()
    try:
        labels = model.fit(rows).predict(rows)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # Memory holds the centres that the fit returns, and no copy of the rows on Python's side.
    assert len(labels) == 50_000 and peak < 2 * model.cluster_centers_.nbytes + rows.data.nbytes


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "manhattan"])
@pytest.mark.parametrize("places", [np.int32, np.int64])
def test_values_of_one_place_are_added_up_before_rows_are_compared_28(metric, places):
    columns, starts = np.array([0, 0, 1, 0, 1], dtype=places), np.array([0, 2, 3, 5], dtype=places)
    rows = scipy.sparse.csr_array((np.array([0.5, 0.5, 2.0, 3.0, 3.0]), columns, starts), shape=(3, 2))
    given = rows.data.copy()
    for made in (lehr.SMACOF(metric=metric), lehr.PairwiseClustering(2, metric=metric), lehr.AgglomerativeClustering(2, metric=metric), lehr.KMedoids(2, metric=metric)):
        sparse, dense = (clone(made).fit(of) for of in (rows, rows.toarray()))
        for name in ("raw_stress_", "cost_", "inertia_", "labels_"):
            if hasattr(dense, name):
                np.testing.assert_allclose(getattr(sparse, name), getattr(dense, name), atol=1e-12)
    assert np.array_equal(rows.data, given) and rows.indices.dtype == places
