"""Clusterings: their results, and their use together with scikit-learn."""

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
import sklearn.metrics
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lehr


def test_five_points_on_paper():
    model = lehr.DAClustering(n_clusters=2).fit([[0.0], [1.0], [2.0], [10.0], [12.0]])
    np.testing.assert_array_equal(model.labels_, [0, 0, 0, 1, 1])
    np.testing.assert_allclose(model.cluster_centers_, [[1.0], [11.0]])
    assert model.inertia_ == pytest.approx(4.0)
    assert model.clusters_["n_samples"].tolist() == [3, 2]


def test_one_run_is_no_worse_than_a_hundred_starts_of_k_means(wine):
    for clusters in (3, 8):
        ours = lehr.DAClustering(clusters).fit(wine)
        theirs = KMeans(clusters, n_init=100, random_state=0).fit(wine)
        assert ours.inertia_ <= theirs.inertia_ * (1 + 1e-9)


def test_the_number_of_clusters_is_found_and_its_evidence_told():
    random = np.random.default_rng(3)
    X = np.concatenate([random.normal(center, 0.1, (50, 2)) for center in ([0, 0], [5, 0], [0, 5])])
    model = lehr.DAClustering().fit(X)
    assert len(model.cluster_centers_) == 3
    separated = model.candidates_[model.candidates_["is_separated"] == 1]
    assert separated["n_clusters"].max() == 3 and separated["separation"][0] > 6
    assert model.choice_.startswith("3 clusters: the density has a valley between every two neighbouring clusters")
    given = lehr.DAClustering(3).fit(X)
    assert given.candidates_ is None and given.choice_ is None
    np.testing.assert_array_equal(given.cluster_centers_, model.cluster_centers_)


def test_rows_without_structure_are_one_group():
    X = np.random.default_rng(3).normal(size=(500, 3))
    model = lehr.DAClustering().fit(X)
    assert model.n_clusters_ == 1
    assert model.choice_.startswith("1 cluster: in every division")


def test_a_weight_is_so_many_rows(wine):
    weight = np.arange(len(wine)) % 3
    weighted = lehr.DAClustering(3).fit(wine, sample_weight=weight)
    repeated = lehr.DAClustering(3).fit(np.repeat(wine, weight, axis=0))
    np.testing.assert_allclose(weighted.cluster_centers_, repeated.cluster_centers_, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, weight), repeated.labels_)


def test_temperatures_fall_while_clusters_divide_and_again_with_the_number_that_is_kept(wine):
    for history in (lehr.DAClustering(3).fit(wine).history_, lehr.PairwiseClustering(3).fit(wine).history_):
        rises = np.flatnonzero(np.diff(history["temperature"]) > 0) + 1
        assert len(rises) == 1
        growth, again = np.split(history, rises)
        assert growth["n_clusters"][0] == 1 and growth["n_clusters"][-1] > 3
        assert set(again["n_clusters"]) == {3}


def test_fitted_rows_are_predicted_as_they_were_labelled(wine):
    model = lehr.DAClustering(3).fit(wine)
    np.testing.assert_array_equal(model.predict(wine), model.labels_)
    assert model.score(wine) == pytest.approx(-model.inertia_)
    np.testing.assert_array_equal(model.transform(wine).argmin(axis=1), model.labels_)


def test_labels_do_not_depend_on_threads(wine):
    models = [lehr.DAClustering(5, n_jobs=threads).fit(wine) for threads in (1, 2, 8)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.labels_, models[0].labels_)
        np.testing.assert_array_equal(model.cluster_centers_, models[0].cluster_centers_)


def test_pairwise_finds_the_pairs(two_pairs):
    model = lehr.PairwiseClustering(2, metric="precomputed").fit(two_pairs)
    assert model.labels_.tolist() == [0, 0, 1, 1]
    assert model.cost_ == 1.0
    assert model.predict([[8.0, 8.0, 2.0, 2.0], [np.nan, 1.0, np.nan, 7.0]]).tolist() == [1, 0]


def test_the_score_of_what_was_fitted_is_its_cost(wine):
    weight = np.arange(len(wine)) % 3
    model = lehr.PairwiseClustering(3).fit(wine)
    assert model.score(wine) == pytest.approx(-model.cost_)
    model = lehr.PairwiseClustering(3).fit(wine, sample_weight=weight)
    assert model.score(wine, sample_weight=weight) == pytest.approx(-model.cost_)
    assert model.score(wine[:9]) < model.score(wine[:3]) < 0


def test_pairwise_on_squared_distances_is_vector_annealing(wine):
    points = lehr.DAClustering(3).fit(wine)
    pairs = lehr.PairwiseClustering(3, metric="sqeuclidean").fit(wine)
    assert adjusted_rand_score(points.labels_, pairs.labels_) == 1.0
    assert pairs.cost_ == pytest.approx(points.inertia_)


def test_halves_that_differ_by_rounding_are_averaged(two_pairs):
    rounded = two_pairs.copy()
    rounded[0, 2] = np.nextafter(9.0, 10.0)
    with pytest.warns(UserWarning, match="corrected rounding errors.*1 pair whose two values differ") as caught:
        assert lehr.PairwiseClustering(2, metric="precomputed").fit(rounded).labels_.tolist() == [0, 0, 1, 1]
    # This warning is not about the fit, and users turn warnings of the other class into errors.
    assert [one.category for one in caught] == [UserWarning]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("made", ["cosine", "correlation"])
def test_one_less_a_similarity_is_clustered_and_mapped_28(made, dtype, wine):
    rows = np.asarray(wine, dtype=dtype)[:40]
    similarity = (rows @ rows.T / np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(rows, axis=1))) if made == "cosine" else np.corrcoef(rows)
    D = (1 - similarity).astype(dtype)
    # Products of other functions have such rounding errors.
    D[3, 5] = np.nextafter(D[3, 5], dtype(2))
    D[7, 7] = -np.finfo(dtype).eps / 8
    for estimator in (lehr.PairwiseClustering(2, metric="precomputed"), lehr.AgglomerativeClustering(2, metric="precomputed"), lehr.KMedoids(2, metric="precomputed"), lehr.SMACOF(metric="precomputed")):
        with pytest.warns(UserWarning, match="corrected rounding errors"):
            estimator.fit(D)
    # The dissimilarities of new items have rounding errors too.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lehr.KMedoids(2, metric="precomputed").fit(D)
    near = D[:5].copy()
    near[0, 0] = -1e-17
    assert model.predict(near).shape == (5,)


def test_what_is_more_than_rounding_is_refused_with_places_counted_from_0_28(two_pairs):
    wrong = two_pairs.copy()
    wrong[0, 2] = 9.1
    with pytest.raises(ValueError, match=r"row 2, column 0: expected 9.1, as on the other side.*counted from 0"):
        lehr.PairwiseClustering(2, metric="precomputed").fit(wrong)


@pytest.mark.parametrize("estimator", [lehr.PairwiseClustering(2, metric="cosine"), lehr.AgglomerativeClustering(2, metric="cosine"), lehr.KMedoids(2, metric="cosine"), lehr.SMACOF(metric="cosine")])
def test_a_row_of_zeros_is_at_cosine_distance_1_28(estimator):
    rows = np.array([[1.0, 0.0], [2.0, 0.1], [0.0, 1.0], [0.1, 3.0], [0.0, 0.0]])
    clone(estimator).fit(rows)
    expected = sklearn.metrics.pairwise_distances(rows, metric="cosine")
    np.testing.assert_allclose(lehr.pairwise_distances(rows, "cosine"), expected, atol=1e-15)


def test_a_constant_row_has_no_correlation_and_is_named_28():
    rows = np.array([[1.0, 2.0, 4.0], [0.1, 0.1, 0.1], [3.0, 1.0, 0.0]])
    for fit in (lehr.PairwiseClustering(2, metric="correlation").fit, lehr.AgglomerativeClustering(2, metric="correlation").fit, lambda X: lehr.pairwise_distances(X, "correlation")):
        with pytest.raises(ValueError, match=r"row 1 \(counted from 0\)"):
            fit(rows)


def test_missing_pairs_are_counted(two_pairs):
    gaps = two_pairs.copy()
    gaps[0, 3] = gaps[3, 0] = np.nan
    model = lehr.PairwiseClustering(2, metric="precomputed").fit(gaps)
    assert model.missing_pairs_ == 1
    assert model.labels_.tolist() == [0, 0, 1, 1]


def test_in_a_pipeline_and_a_grid_search(wine):
    pipeline = make_pipeline(StandardScaler(), lehr.DAClustering())
    search = GridSearchCV(pipeline, {"daclustering__n_clusters": [1, 3]}, cv=3, n_jobs=2).fit(wine)
    assert search.best_params_ == {"daclustering__n_clusters": 3}


def test_clone_and_pickle(wine):
    model = lehr.DAClustering(3, cooling=0.9).fit(wine)
    assert clone(model).get_params() == model.get_params()
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(wine), model.labels_)


def test_pandas_in_and_out(wine):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(wine, columns=lehr.datasets.load_wine().feature_names)
    model = lehr.DAClustering(3).set_output(transform="pandas").fit(frame)
    assert model.transform(frame).columns.tolist() == ["daclustering0", "daclustering1", "daclustering2"]
    assert model.feature_names_in_[12] == "proline"
    assert pandas.DataFrame(model.history_)["n_clusters"].iloc[0] == 1


def test_polars_in(wine):
    polars = pytest.importorskip("polars")
    model = lehr.DAClustering(3).fit(polars.DataFrame(wine))
    np.testing.assert_array_equal(model.labels_, lehr.DAClustering(3).fit(wine).labels_)


def _labels(X):
    return lehr.DAClustering(3, n_jobs=2).fit(X).labels_


@pytest.mark.thread_unsafe(reason="it starts threads and processes of its own")
def test_several_fits_at_once_from_threads_and_processes(wine):
    alone = _labels(wine)
    with ThreadPoolExecutor(4) as pool:
        for labels in pool.map(_labels, [wine] * 8):
            np.testing.assert_array_equal(labels, alone)
    for labels in joblib.Parallel(n_jobs=2)(joblib.delayed(_labels)(wine) for _ in range(2)):
        np.testing.assert_array_equal(labels, alone)


@pytest.mark.parametrize("more", [{"n_clusters": 3}, {"n_clusters": 3, "outlier_radius": 4.0}, {"stop_temperature": 3.0}], ids=repr)
def test_shares_in_all_clusters_are_those_of_the_fit(more, wine):
    model = lehr.DAClustering(**more).fit(wine)
    shares = model.predict_proba(wine)
    assert shares.shape == (178, model.n_clusters_) == (178, len(model.cluster_centers_))
    outside = model.labels_ < 0
    of_label = np.where(outside, 1 - shares.sum(axis=1), shares[np.arange(178), model.labels_])
    # A run that ended at a given temperature has labels from before its centres moved to the means.
    same = outside | (model.predict(wine) == model.labels_)
    assert same.mean() > 0.95
    np.testing.assert_allclose(of_label[same], model.probabilities_[same], atol=1e-9)
    if "outlier_radius" not in more:
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_a_row_between_two_groups_is_of_either():
    draw = np.random.default_rng(0)
    left, right = draw.normal(0.0, 1.0, (500, 1)), draw.normal(4.0, 1.0, (500, 1))
    model = lehr.DAClustering(2).fit(np.vstack([left, right]))
    first = int(model.predict([[0.0]])[0])
    told = model.predict_proba([[0.0], [1.0], [2.0], [3.0]])[:, first]
    # The two densities are equal at 2, where their logarithms differ by 4 for each unit.
    np.testing.assert_allclose(told, 1 / (1 + np.exp(4 * (np.array([0.0, 1.0, 2.0, 3.0]) - 2))), atol=0.06)
    assert 0.02 < np.mean(model.probabilities_ < 0.8) < 0.1
    np.testing.assert_allclose(model.clusters_["probability"], [model.probabilities_[model.labels_ == k].mean() for k in (0, 1)])


def test_the_number_that_was_found_has_an_attribute(wine, tmp_path):
    for estimator in (lehr.AgglomerativeClustering(), lehr.DAClustering(), lehr.KMeans(4), lehr.KMedoids(3), lehr.PairwiseClustering(5)):
        assert not hasattr(estimator, "n_clusters_")
        model = estimator.fit(wine)
        assert model.n_clusters_ == model.labels_.max() + 1
        model.save(tmp_path / "model")
        assert lehr.load(tmp_path / "model").n_clusters_ == model.n_clusters_
