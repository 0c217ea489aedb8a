"""K-means: the command's bits, scikit-learn's results."""

import csv
import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans

import lehr


def test_five_points_on_paper():
    model = lehr.KMeans(2).fit([[0.0], [1.0], [2.0], [10.0], [12.0]])
    assert model.labels_.tolist() == [0, 0, 0, 1, 1]
    assert model.cluster_centers_.ravel().tolist() == [1.0, 11.0]
    assert model.inertia_ == 4.0 and model.clusters_["n_samples"].tolist() == [3, 2]


def test_as_good_as_scikit_learn_of_as_many_starts(wine):
    for clusters in (3, 8):
        ours = lehr.KMeans(clusters, n_init=50).fit(wine)
        theirs = KMeans(clusters, n_init=50, random_state=0).fit(wine)
        assert ours.inertia_ <= theirs.inertia_ * (1 + 5e-3)
        assert len(ours.inertias_) == 50 and ours.inertias_.min() == pytest.approx(ours.inertia_)
        assert ours.score(wine) == pytest.approx(-ours.inertia_)
        np.testing.assert_array_equal(ours.predict(wine), ours.labels_)


@pytest.mark.parametrize("more", [{}, {"algorithm": "plain"}, {"n_jobs": 3}, {"n_jobs": 1}])
def test_labels_are_those_of_the_command(more, command, wine, tmp_path):
    np.save(tmp_path / "wine.npy", wine)
    line = [command, "cluster", tmp_path / "wine.npy", "--method", "kmeans", "--clusters", "7", "--starts", "4", "--seed", "5"]
    subprocess.run([*line, "--scale", "none", "--out", tmp_path / "out", "--quiet"], check=True)
    with open(tmp_path / "out" / "labels.csv", newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    model = lehr.KMeans(7, n_init=4, random_state=5, **more).fit(wine)
    assert model.labels_.tolist() == labels


def test_the_same_seed_is_the_same_result_and_another_is_not(wine):
    first, again, other = (lehr.KMeans(8, n_init=1, random_state=seed).fit(wine) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.cluster_centers_, again.cluster_centers_)
    assert not np.array_equal(first.cluster_centers_, other.cluster_centers_)


def test_few_sweeps_are_told(wine):
    with pytest.warns(UserWarning, match="had not come to their fixed point after 1 sweeps"):
        lehr.KMeans(8, max_iter=1).fit(wine)


def test_a_start_that_is_given_goes_where_scikit_learns_goes(wine):
    begin = wine[[0, 60, 90, 130]]
    ours = lehr.KMeans(4, init=begin).fit(wine)
    theirs = KMeans(4, init=begin, n_init=1, tol=0.0, algorithm="lloyd").fit(wine)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12) and len(ours.inertias_) == 1
    order = np.argsort(-np.bincount(theirs.labels_), kind="stable")
    np.testing.assert_array_equal(order[ours.labels_], theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_[order], atol=1e-12)
    # Any kind of numbers, and rows of lists.
    for same in (begin.tolist(), np.asfortranarray(begin)):
        np.testing.assert_array_equal(lehr.KMeans(4, init=same).fit(wine).cluster_centers_, ours.cluster_centers_)
    whole = lehr.KMeans(2, init=np.array([[0], [1]])).fit([[0.0], [1.0], [10.0], [11.0]])
    assert whole.cluster_centers_.ravel().tolist() == [0.5, 10.5] and whole.n_iter_ == 3


def test_fits_go_on_from_where_others_ended(wine, tmp_path):
    first = lehr.KMeans(5, n_init=3).fit(wine)
    again = clone(lehr.KMeans(5, init=first.cluster_centers_, n_jobs=1)).fit(wine)
    np.testing.assert_array_equal(again.labels_, first.labels_)
    assert again.n_iter_ <= 2
    again.save(tmp_path / "model")
    np.testing.assert_array_equal(lehr.KMeans.load(tmp_path / "model").init, first.cluster_centers_)


@pytest.mark.parametrize(
    ("init", "words"),
    [
        ([[0.0]], r"initial centers \(1, 1\) does not match the number of clusters 2"),
        ([[0.0, 1.0], [2.0, 3.0]], r"initial centers \(2, 2\) does not match the number of features of the data 1"),
        ([0.0, 1.0], "Expected 2D array, got 1D array"),
        ([[0.0], [np.nan]], "Input init contains NaN"),
        ([[0.0], [1e300]], "'init' parameter must be centres no farther from the points than .* Got 1e300 instead"),
        ("random", "'init' parameter must be 'k-means\\+\\+' or an array-like.*Got 'random' instead"),
        (None, "'init' parameter must be .* Got None instead"),
    ],
)
def test_starts_that_cannot_be(init, words):
    with pytest.raises(ValueError, match=words):
        lehr.KMeans(2, init=init).fit([[0.0], [1.0], [5.0]])


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"n_clusters": None}, TypeError, "'n_clusters' parameter must be an int"),
        ({"n_clusters": 4}, ValueError, "n_samples=3 should be >= n_clusters=4"),
        ({"n_init": 0}, ValueError, "'n_init' parameter must be at least 1"),
        ({"max_iter": 0}, ValueError, "'max_iter' parameter must be at least 1"),
        ({"tol": 2.0}, ValueError, "'tol' parameter must be 0 to 1"),
        ({"algorithm": "elkan"}, ValueError, "'algorithm' parameter must be one of 'bounded', 'plain'. Got 'elkan' instead"),
    ],
)
def test_parameters_that_cannot_be(parameters, kind, words):
    with pytest.raises(kind, match=words):
        lehr.KMeans(**{"n_clusters": 1, **parameters}).fit([[0.0], [1.0], [5.0]])
