"""HDBSCAN: the clusters of scikit-learn's, weights as repetitions, the tree, and refused input."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances

import lehr

MOONS = make_moons(300, noise=0.06, random_state=0)[0]
BLOBS = make_blobs(250, centers=5, random_state=1)[0]


def _peer(X, **parameters):
    return HDBSCAN(algorithm="brute", copy=True, **parameters).fit(X)


@pytest.mark.parametrize("X", [MOONS, BLOBS], ids=["moons", "blobs"])
@pytest.mark.parametrize("parameters", [
    {"min_cluster_size": 5}, {"min_cluster_size": 15}, {"min_cluster_size": 20, "cluster_selection_method": "leaf"},
    {"min_cluster_size": 10, "max_cluster_size": 100}, {"min_cluster_size": 10, "metric": "manhattan"},
], ids=str)
def test_clusters_are_scikit_learns_where_no_distances_are_equal(X, parameters):
    # Core distances of 0 leave the distances of random rows as they are, and no two of these are equal.
    own, peer = lehr.HDBSCAN(min_samples=1, **parameters).fit(X), _peer(X, min_samples=1, **parameters)
    assert adjusted_rand_score(own.labels_, peer.labels_) == 1
    assert_array_equal(own.labels_ == -1, peer.labels_ == -1)
    assert_allclose(own.probabilities_, peer.probabilities_, atol=1e-9)
    assert own.n_clusters_ == peer.labels_.max() + 1 == len(own.cluster_persistence_)


@pytest.mark.parametrize("X", [MOONS, BLOBS], ids=["moons", "blobs"])
@pytest.mark.parametrize("size", [5, 15])
def test_equal_distances_change_few_labels(X, size):
    own, peer = lehr.HDBSCAN(size).fit(X), _peer(X, min_cluster_size=size)
    assert own.n_clusters_ == peer.labels_.max() + 1
    assert adjusted_rand_score(own.labels_, peer.labels_) > 0.95


def test_two_moons_are_two_clusters():
    X, moons = make_moons(1000, noise=0.05, random_state=3)
    assert adjusted_rand_score(moons, lehr.HDBSCAN(20).fit_predict(X)) > 0.99


def test_a_given_matrix_has_the_clusters_of_its_rows():
    rows, given = lehr.HDBSCAN(10).fit(BLOBS), lehr.HDBSCAN(10, metric="precomputed").fit(pairwise_distances(BLOBS))
    assert_array_equal(rows.labels_, given.labels_)
    assert_allclose(rows.outlier_scores_, given.outlier_scores_, atol=1e-9)


def test_a_weight_of_two_is_the_row_twice():
    weights = np.where(np.arange(len(BLOBS)) % 2 == 0, 2.0, 1.0)
    # Sizes are in items of average weight, which is 1.5.
    weighted = lehr.HDBSCAN(10).fit(BLOBS, sample_weight=weights)
    whole = lehr.HDBSCAN(15).fit(np.repeat(BLOBS, weights.astype(int), axis=0))
    assert_array_equal(np.repeat(weighted.labels_, weights.astype(int)), whole.labels_)
    assert_allclose(weighted.clusters_["weight"], whole.clusters_["n_samples"])
    for scale in (1 / weights.sum(), 5.0):
        assert_array_equal(lehr.HDBSCAN(10).fit(BLOBS, sample_weight=scale * weights).labels_, weighted.labels_)


def test_the_tree_has_the_chosen_clusters_and_their_parents():
    model = lehr.HDBSCAN(10, 1).fit(BLOBS)
    tree = model.condensed_tree_
    assert tree["parent"][0] == -1 and tree["n_samples"][0] == len(BLOBS) and np.isnan(tree["distance"][0])
    assert (tree["parent"][1:] < np.arange(1, len(tree))).all() and (tree["end"][1:] <= tree["distance"][1:]).all()
    chosen = tree[tree["cluster"] >= 0]
    assert sorted(chosen["cluster"]) == list(range(model.n_clusters_))
    assert_allclose(model.clusters_["stability"][chosen["cluster"]], chosen["stability"])
    for cluster, facts in enumerate(model.clusters_):
        assert model.labels_[facts["exemplar"]] == cluster and model.probabilities_[facts["exemplar"]] == 1


def test_a_saved_model_is_the_same(tmp_path):
    model = lehr.HDBSCAN(10).fit(BLOBS)
    model.save(tmp_path / "dense.json")
    loaded = lehr.load(tmp_path / "dense.json")
    assert isinstance(loaded, lehr.HDBSCAN)
    assert_array_equal(loaded.labels_, model.labels_)
    assert_array_equal(loaded.condensed_tree_["cluster"], model.condensed_tree_["cluster"])


def test_no_cluster_is_a_warning_and_wrong_parameters_are_errors():
    with pytest.warns(UserWarning, match="no cluster was found"):
        assert (lehr.HDBSCAN(200).fit(BLOBS).labels_ == -1).all()
    with pytest.raises(ValueError, match="at least as many items as min_samples .here 251., found 250 samples"):
        lehr.HDBSCAN(5, 251).fit(BLOBS)
    with pytest.raises(ValueError, match="at least as many items as min_samples .here 251., found 250 samples"):
        lehr.HDBSCAN(5, 251).fit(BLOBS, sample_weight=np.full(250, 5.0))
    with pytest.raises(ValueError, match="'min_cluster_size' parameter of HDBSCAN"):
        lehr.HDBSCAN(1).fit(BLOBS)
    with pytest.raises(ValueError, match="weights above 0, found 0 in row 3"):
        lehr.HDBSCAN().fit(BLOBS, sample_weight=np.arange(250) != 3)
