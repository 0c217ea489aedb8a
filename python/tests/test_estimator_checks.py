"""scikit-learn's own checks of estimators, for the parameters that the documentation shows."""

import inspect

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

import lehr

#: A check on dense rows that some estimators fail by design. If the check passes, the test fails.
_WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
_SPARSE_WEIGHTS = "check_sample_weight_equivalence_on_sparse_data"


def _meant(estimator):
    """Returns the checks that an estimator fails by design, with the reasons."""
    if getattr(estimator, "metric", None) == "precomputed":
        meant = {"check_estimators_pickle": "cells of one half of the matrix are made missing, and the other half is not"}
        if isinstance(estimator, (lehr.AgglomerativeClustering, lehr.HDBSCAN, lehr.KMedoids)):
            meant = {}
        return meant if isinstance(estimator, lehr.SMACOF) else meant | {"check_clustering": "gives rows where a matrix is due, whatever the tags say"}
    if getattr(estimator, "metric", None) == "nan_euclidean":
        return {"check_estimators_pickle": "so many cells are made missing that two rows share none, which have no distance then"}
    if isinstance(estimator, lehr.SMACOF):
        why = "starts count items: from one start a weight is so many items, which test_manifold.py checks"
        return {_WEIGHTS: why, _SPARSE_WEIGHTS: why}
    if isinstance(estimator, lehr.KMeans):
        why = "of repeated rows other starts are drawn than of one with their weight, as by scikit-learn's own"
        return {_WEIGHTS: why, _SPARSE_WEIGHTS: why}
    if isinstance(estimator, lehr.MiniBatchKMeans) and estimator.batch_size < 100:
        return {_WEIGHTS: "repeated rows fall into other batches than one with their weight"}
    if isinstance(estimator, lehr.DAGaussianMixture) and estimator.init_params != "annealed":
        return {_WEIGHTS: "of repeated rows other starts are drawn than of one with their weight, as by scikit-learn's own"}
    if isinstance(estimator, lehr.GTM) or (isinstance(estimator, lehr.DAGaussianMixture) and estimator.n_components is None):
        # The unit of weights must not matter, but twice as many rows are more evidence. No estimator can satisfy both.
        return {_WEIGHTS: "the prior of a map and BIC count the effective number of rows, and repeated rows are more of them"}
    meant = {}
    if isinstance(estimator, (lehr.AgglomerativeClustering, lehr.HDBSCAN)):
        why = "the check gives weights of 0, and an item without weight would still be a part of the tree"
        meant = {_WEIGHTS: why, _SPARSE_WEIGHTS: why}
    if isinstance(estimator, lehr.DAClustering):
        why = "of whatever has predict_proba and takes sparse rows the check reads the tags of classifiers"
        meant |= {"check_estimator_sparse_array": why, "check_estimator_sparse_matrix": why}
    if isinstance(estimator, (lehr.DAClustering, lehr.PairwiseClustering)) and estimator.n_clusters is estimator.stop_temperature is None:
        why = "a number of clusters that is found leaves two rows a cluster, however heavy: weights have no unit"
        meant |= {_WEIGHTS: why, _SPARSE_WEIGHTS: why} if estimator.__sklearn_tags__().input_tags.sparse else {_WEIGHTS: why}
    return meant


CHECKED = [
    lehr.DAClustering(),
    lehr.DAClustering(n_clusters=2),
    lehr.DAClustering(n_clusters=2, precision="single"),
    lehr.DAClustering(n_clusters=2, outlier_radius=1000.0),
    lehr.KMeans(n_clusters=2),
    lehr.KMeans(n_clusters=2, n_init=2, precision="single", algorithm="plain"),
    lehr.KMeans(n_clusters=2, init="random", n_init="auto", algorithm="elkan", tol=0),
    lehr.KMedoids(n_clusters=2),
    lehr.MiniBatchKMeans(n_clusters=2),
    lehr.MiniBatchKMeans(n_clusters=2, batch_size=10, half_life=100.0),
    lehr.GTM(n_nodes=4, n_basis=2),
    lehr.GTM(1, n_nodes=8, n_basis=3, init="annealed"),
    lehr.DAGaussianMixture(),
    lehr.DAGaussianMixture(n_components=2, covariance_type="diag"),
    lehr.DAGaussianMixture(n_components=1, reg_covar=1e-6, warm_start=True),
    lehr.DAGaussianMixture(n_components=2, init_params="kmeans", covariance_type="tied", reg_covar=1e-3),
    lehr.AgglomerativeClustering(),
    lehr.AgglomerativeClustering(n_clusters=2),
    lehr.AgglomerativeClustering(n_clusters=2, linkage="ward"),
    lehr.AgglomerativeClustering(n_clusters=2, linkage="single", metric="cosine"),
    lehr.AgglomerativeClustering(n_clusters=2, metric="precomputed"),
    lehr.HDBSCAN(),
    lehr.HDBSCAN(min_cluster_size=10, min_samples=1, metric="manhattan", cluster_selection_epsilon=0.01),
    lehr.HDBSCAN(metric="precomputed", allow_single_cluster=True),
    lehr.PairwiseClustering(),
    lehr.PairwiseClustering(n_clusters=2),
    lehr.SMACOF(),
    lehr.SMACOF(init="random", n_init=2, annealed=True),
    lehr.SMACOF(metric="minkowski", metric_params={"p": 3}, normalized_stress=True, eps=1e-6),
    lehr.SMACOF(metric_mds=False),
    lehr.KMedoids(n_clusters=2, metric="chebyshev"),
    lehr.KMedoids(n_clusters=2, metric="nan_euclidean"),
    lehr.KMedoids(n_clusters=2, metric="precomputed"),
    lehr.PairwiseClustering(n_clusters=2, metric="precomputed"),
    lehr.PairwiseClustering(n_clusters=2, metric="cosine"),
    lehr.SMACOF(metric="precomputed"),
    lehr.SMACOF(metric="cosine", max_iter=100),
    lehr.SMACOF(weighting="sammon"),
    lehr.DAClustering(stop_temperature=1.0),
    lehr.TablePreparation(),
    lehr.TablePreparation(auto=False, scale="std"),
    lehr.TablePreparation(missing="skip"),
]


@pytest.mark.thread_unsafe(reason="the checks catch warnings and set scikit-learn's configuration")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(CHECKED, expected_failed_checks=_meant)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_every_estimator_is_checked():
    public = {getattr(lehr, name) for name in lehr.__all__}
    estimators = {thing for thing in public if inspect.isclass(thing) and issubclass(thing, BaseEstimator)}
    assert {type(estimator) for estimator in CHECKED} == estimators and len(estimators) >= 6
