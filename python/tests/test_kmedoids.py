"""K-medoids: compared with brute force and a plain PAM. Also weights, matrices and rows, new items, checkpoints and errors."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import lehr


def _rows(count, seed):
    """Returns rows around four positions."""
    draw = np.random.default_rng(seed)
    return draw.normal(scale=4.0, size=(4, 2))[draw.integers(4, size=count)] + draw.normal(size=(count, 2))


def _cost(matrix, medoids):
    return matrix[:, list(medoids)].min(axis=1).sum()


def _pam(matrix, clusters):
    """Returns the cost of plain PAM: a greedy start, then the best of all swaps until no swap lowers the cost."""
    items = range(len(matrix))
    medoids = []
    while len(medoids) < clusters:
        medoids.append(min((item for item in items if item not in medoids), key=lambda item: _cost(matrix, [*medoids, item])))
    cost = _cost(matrix, medoids)
    while True:
        swaps = ([*medoids[:at], item, *medoids[at + 1 :]] for at in range(clusters) for item in items if item not in medoids)
        best = min(swaps, key=lambda swapped: _cost(matrix, swapped))
        if _cost(matrix, best) >= cost * (1 - 1e-12):
            return cost
        medoids, cost = best, _cost(matrix, best)


@pytest.mark.parametrize("clusters", [1, 2, 3, 4])
def test_ten_items_against_all_choices_of_medoids(clusters):
    """Checks that no swap lowers the cost. In most cases, and always with one medoid, the cost is also the minimum over all choices."""
    least_found = 0
    for seed in range(20):
        rows = _rows(10, seed)
        matrix = cdist(rows, rows)
        model = lehr.KMedoids(clusters).fit(rows)
        medoids = model.medoid_indices_.tolist()
        assert model.inertia_ == pytest.approx(_cost(matrix, medoids), rel=1e-12)
        np.testing.assert_array_equal(model.cluster_centers_, rows[medoids])
        np.testing.assert_array_equal(model.labels_, matrix[:, medoids].argmin(axis=1))
        swaps = ([*medoids[:at], item, *medoids[at + 1 :]] for at in range(clusters) for item in range(10) if item not in medoids)
        assert min(_cost(matrix, swapped) for swapped in swaps) >= model.inertia_ * (1 - 1e-12)
        least = min(_cost(matrix, chosen) for chosen in combinations(range(10), clusters))
        assert model.inertia_ >= least * (1 - 1e-12)
        least_found += model.inertia_ <= least * (1 + 1e-12)
    assert least_found == 20 if clusters == 1 else least_found >= 17


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_sixty_points_cost_no_more_than_by_plain_pam(seed, metric):
    rows = _rows(60, seed)
    matrix = lehr.pairwise_distances(rows, metric)
    model = lehr.KMedoids(4, metric=metric).fit(rows)
    assert model.inertia_ <= _pam(matrix, 4) * (1 + 1e-12)
    assert model.n_iter_ > 4 and model.labels_.dtype == np.int32


def test_a_weight_of_two_is_the_item_twice():
    rows = _rows(30, seed=1)
    weight = np.where(np.arange(30) % 3 == 0, 2.0, 1.0)
    order = np.repeat(np.arange(30), weight.astype(int))
    weighed = lehr.KMedoids(3).fit(rows, sample_weight=weight)
    repeated = lehr.KMedoids(3).fit(rows[order])
    assert weighed.inertia_ == pytest.approx(repeated.inertia_, rel=1e-12)
    np.testing.assert_array_equal(weighed.labels_[order], repeated.labels_)
    np.testing.assert_array_equal(weighed.cluster_centers_, repeated.cluster_centers_)


def test_an_item_of_weight_0_is_labelled_and_is_no_medoid():
    model = lehr.KMedoids(1).fit([[0.0], [2.0], [5.0]], sample_weight=[1.0, 0.0, 3.0])
    assert (model.medoid_indices_.tolist(), model.labels_.tolist(), model.inertia_) == ([2], [0, 0, 0], 5.0)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "cosine", "correlation"])
def test_a_matrix_gives_what_its_rows_give(metric, wine):
    of_rows = lehr.KMedoids(3, metric=metric).fit(wine)
    matrix = lehr.pairwise_distances(wine, metric)
    of_matrix = lehr.KMedoids(3, metric="precomputed").fit(matrix)
    for name in ("labels_", "medoid_indices_", "inertia_", "n_iter_"):
        np.testing.assert_array_equal(getattr(of_rows, name), getattr(of_matrix, name))
    assert of_matrix.cluster_centers_ is None
    np.testing.assert_array_equal(of_rows.predict(wine), of_rows.labels_)
    np.testing.assert_array_equal(of_matrix.predict(matrix), of_matrix.labels_)
    np.testing.assert_array_equal(of_matrix.transform(matrix[:5]), matrix[:5][:, of_matrix.medoid_indices_])
    np.testing.assert_allclose(of_rows.transform(wine), of_matrix.transform(matrix), rtol=1e-6, atol=1e-7)


def test_single_precision_and_halves_that_differ_by_rounding(wine):
    matrix = lehr.pairwise_distances(wine)
    wanted = lehr.KMedoids(3, metric="precomputed").fit(matrix).labels_
    skewed = matrix * (1 + 1e-14 * np.tri(len(matrix)))
    for other in (matrix.astype(np.float32), skewed):
        np.testing.assert_array_equal(lehr.KMedoids(3, metric="precomputed").fit(other).labels_, wanted)


def test_labels_do_not_depend_on_threads(wine):
    one, three = (lehr.KMedoids(5, n_jobs=jobs).fit(wine) for jobs in (1, 3))
    np.testing.assert_array_equal(one.labels_, three.labels_)
    assert one.inertia_ == three.inertia_


def test_a_stopped_run_goes_on_to_the_same_bits_and_refuses_other_parameters(wine, tmp_path):
    path, seen = tmp_path / "run", []

    def callback(progress):
        seen.append(progress)
        return len(seen) < 4

    with pytest.raises(lehr.Stopped):
        lehr.KMedoids(5, callback=callback, checkpoint=path).fit(wine)
    assert seen[-1].n_clusters == 4 and seen[-1].objective > 0 and seen[-1].n_iter == 4
    with pytest.raises(ValueError, match="written with other parameters"):
        lehr.KMedoids(5, max_iter=99, checkpoint=path).fit(wine)
    with pytest.raises(ValueError, match="Fit the data that the checkpoint was written for"):
        lehr.KMedoids(5, checkpoint=path).fit(wine[1:])
    passes = []
    whole, rest = lehr.KMedoids(5).fit(wine), lehr.KMedoids(5, checkpoint=path, callback=passes.append).fit(wine)
    np.testing.assert_array_equal(whole.labels_, rest.labels_)
    assert (whole.inertia_, whole.n_iter_) == (rest.inertia_, rest.n_iter_)
    assert passes[0].n_iter > 3 and not path.exists()


def test_a_checkpoint_of_another_method_is_refused(wine, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(lehr.Stopped):
        lehr.PairwiseClustering(3, callback=lambda _: False, checkpoint=path).fit(wine)
    with pytest.raises(ValueError, match="Delete the file to start again"):
        lehr.KMedoids(3, checkpoint=path).fit(wine)


def test_passes_that_end_too_early_are_told(wine):
    with pytest.warns(match="the search for swaps ended at its limit of 1 pass;"):
        lehr.KMedoids(8, max_iter=1).fit(wine)
    assert lehr.KMedoids(8, max_iter=0).fit(wine).n_iter_ == 8


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"n_clusters": 0}, ValueError, "The 'n_clusters' parameter of KMedoids must be an int in the range .* Got 0 instead"),
        ({"n_clusters": -1}, ValueError, "The 'n_clusters' parameter of KMedoids must be an int in the range .* Got -1 instead"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters"),
        ({"n_clusters": 4}, ValueError, "n_samples=3 should be >= n_clusters=4"),
        ({"max_iter": -1}, ValueError, "The 'max_iter' parameter of KMedoids must be an int in the range"),
        ({"metric": "nearness"}, ValueError, "The 'metric' parameter of KMedoids must be a str among {'precomputed', 'euclidean'"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"callback": 3}, TypeError, "callback"),
        ({"metric": "correlation"}, ValueError, r"one value alone in row 0 \(counted from 0\)"),
    ],
)
def test_parameters_that_cannot_be(parameters, kind, words):
    with pytest.raises(kind, match=words):
        lehr.KMedoids(**{"n_clusters": 2, **parameters}).fit([[0.0, 0.0], [1.0, 1.0], [4.0, 3.0]])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.0, 1.0], [2.0, 0.0]], "expected 1"),
        ([[0.0, -1.0], [-1.0, 0.0]], r"Negative values in data passed to KMedoids.fit: .* Got -1.0 at \[0, 1\]"),
        ([[1.0, 1.0], [1.0, 0.0]], "expected 0 on the diagonal"),
        ([[0.0, np.nan], [np.nan, 0.0]], "does not accept missing dissimilarities. lehr.PairwiseClustering and"),
        ([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]], r"requires shape \(n_samples, n_samples\)"),
    ],
)
def test_dissimilarities_that_cannot_be(matrix, words):
    with pytest.raises(ValueError, match=words):
        lehr.KMedoids(1, metric="precomputed").fit(matrix)


def test_other_items_that_cannot_be():
    matrix = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
    with pytest.warns(UserWarning, match="say metric='precomputed'"):
        lehr.KMedoids(2).fit(matrix)
    model = lehr.KMedoids(2, metric="precomputed").fit(matrix)
    for asked in ("predict", "transform"):
        with pytest.raises(ValueError, match=f"Negative values in data passed to KMedoids.{asked}"):
            getattr(model, asked)([[-1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="X has 2 features, but KMedoids is expecting 3"):
        model.predict([[1.0, 1.0]])
    # A row of zeros has cosine distance 1 from all other rows. A constant row has no correlation.
    by_angle = lehr.KMedoids(1, metric="cosine").fit([[1.0, 0.0], [1.0, 1.0]])
    assert by_angle.transform([[0.0, 0.0]]).tolist() == [[1.0]]
    by_correlation = lehr.KMedoids(1, metric="correlation").fit([[1.0, 0.0, 2.0], [1.0, 1.0, 4.0]])
    with pytest.raises(ValueError, match=r"metric 'correlation' gives no number for rows 1 and 0 \(counted from 0\)"):
        by_correlation.predict([[1.0, 2.0, 1.0], [5.0, 5.0, 5.0]])


def test_it_goes_through_a_file(wine, tmp_path):
    model = lehr.KMedoids(3).fit(wine)
    model.save(tmp_path / "model")
    copy = lehr.load(tmp_path / "model")
    assert isinstance(copy, lehr.KMedoids)
    np.testing.assert_array_equal(copy.predict(wine), model.labels_)
    assert copy.get_feature_names_out().tolist() == ["kmedoids0", "kmedoids1", "kmedoids2"]
