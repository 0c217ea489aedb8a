"""The stability of clusters under resampling."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import StandardScaler

import lehr


@pytest.fixture
def groups():
    draw = np.random.default_rng(0)
    return np.vstack([draw.normal(at, 1.0, (100, 2)) for at in ([0, 0], [12, 0], [0, 12])])


@pytest.mark.parametrize("estimator", [lehr.DAClustering(3), lehr.KMeans(3), lehr.DAGaussianMixture(3)], ids=repr)
def test_groups_far_apart_are_found_again(estimator, groups):
    from sklearn.base import clone

    found = lehr.stability(clone(estimator).fit(groups), groups, n_resamples=5)
    np.testing.assert_array_equal(found.clusters, 1.0)
    np.testing.assert_array_equal(found.rows, 1.0)
    assert isinstance(found, lehr.Stability)
    assert repr(found) == "Stability of 3 clusters in 5 resamples: 1.00, 1.00, 1.00"


def test_a_cloud_that_is_cut_is_not_found_again(groups):
    # There are three groups but four clusters, so one group is cut.
    model = lehr.DAClustering(4).fit(groups)
    found = lehr.stability(model, groups, n_resamples=20)
    # Which group is cut may change between resamples, so the two groups that are whole here are sometimes cut.
    whole = model.labels_ < 2
    assert found.clusters[:2].min() > 0.8 > found.clusters[2:].max()
    assert found.rows[whole].mean() > 0.8 > found.rows[~whole].mean()


def test_the_same_draws_give_the_same_figures_and_rows_outside_have_none(groups):
    rows = np.vstack([groups, [[100.0, 100.0]]])
    model = lehr.DAClustering(3, outlier_radius=6.0).fit(rows)
    found, again = (lehr.stability(model, rows, n_resamples=3, random_state=7) for _ in range(2))
    np.testing.assert_array_equal(found.clusters, again.clusters)
    np.testing.assert_array_equal(found.rows, again.rows)
    assert np.isnan(found.rows[300]) and np.isnan(found.rows).sum() == np.sum(model.labels_ < 0)


def test_weights_and_sparse_rows_and_a_chosen_number(groups):
    model = lehr.DAClustering().fit(groups)
    weighted = lehr.stability(model, groups, sample_weight=np.full(300, 2.0), n_resamples=3)
    np.testing.assert_array_equal(weighted.clusters, 1.0)
    sparse = csr_array(groups)
    assert lehr.stability(lehr.DAClustering(3).fit(sparse), sparse, n_resamples=2).clusters.shape == (3,)


def test_what_cannot_be_resampled_is_refused(groups):
    with pytest.raises(NotFittedError):
        lehr.stability(lehr.DAClustering(3), groups)
    model = lehr.DAClustering(3).fit(groups)
    with pytest.raises(ValueError, match="X has 299 rows, but the model was fitted to 300"):
        lehr.stability(model, groups[1:])
    with pytest.raises(ValueError, match="n_resamples == 0, must be >= 1"):
        lehr.stability(model, groups, n_resamples=0)
    with pytest.raises(ValueError, match="found StandardScaler"):
        scaler = StandardScaler().fit(groups)
        scaler.labels_ = model.labels_
        lehr.stability(scaler, groups)


def test_an_estimator_without_weights_of_0_is_refused():
    model = lehr.AgglomerativeClustering(2).fit([[0.0], [1.0], [9.0]])
    with pytest.raises(ValueError, match="AgglomerativeClustering takes no weight of 0, which stands for rows that a resample leaves out"):
        lehr.stability(model, [[0.0], [1.0], [9.0]])
