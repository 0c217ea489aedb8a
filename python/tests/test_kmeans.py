"""K-means: results are bit-identical to the command's, and as good as scikit-learn's."""

import csv
import subprocess
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

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
    line = [command, "cluster", tmp_path / "wine.npy", "--method", "kmeans", "--clusters", "7", "--n-init", "4", "--seed", "5"]
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
    for iterations in (1, 2, 4):
        with pytest.warns(ConvergenceWarning, match=f"10 of 10 initialisations had not converged after {iterations} iterations"):
            lehr.KMeans(8, max_iter=iterations, tol=0).fit(wine)


def _one_by_one(X, centers, iterations):
    """Returns the centres after the given number of iterations, and the labels that follow from them."""
    for _ in range(iterations):
        labels = np.argmin(((X[:, None] - centers) ** 2).sum(axis=2), axis=1)
        centers = np.array([X[labels == k].mean(axis=0) for k in range(len(centers))])
    return centers, np.argmin(((X[:, None] - centers) ** 2).sum(axis=2), axis=1)


@pytest.mark.parametrize("iterations", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("made", [np.asarray, csr_array, lambda X: X.astype(np.float32)], ids=["dense", "sparse", "single"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_run_that_ends_early_has_the_centres_labels_and_inertia_of_so_many_iterations(iterations, made):
    X = np.random.default_rng(3).random((300, 4)).astype(np.float32).astype(float)
    rows = made(X)
    model = lehr.KMeans(5, init=X[:5], max_iter=iterations, tol=0).fit(rows)
    centers, labels = _one_by_one(X, X[:5], iterations)
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-6)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    assert model.n_iter_ == iterations
    assert model.inertia_ == pytest.approx(((X - centers[labels]) ** 2).sum(), rel=1e-6)
    assert model.clusters_["n_samples"].tolist() == np.bincount(model.labels_).tolist()
    assert model.clusters_["weight"].tolist() == np.bincount(model.labels_).tolist()
    squares = model.clusters_["weight"] * model.clusters_["spread"] ** 2
    assert squares.sum() == pytest.approx(model.inertia_, rel=1e-6)


@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_labels_and_inertia_belong_to_the_centres_where_the_tolerance_ends_a_run(tol):
    X = np.random.default_rng(8).random((20_000, 3))
    model = lehr.KMeans(20, n_init=1, tol=tol).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.inertia_ == pytest.approx(-model.score(X), rel=1e-12)
    # With a tolerance, the result is worse than at convergence, but as good as scikit-learn's from the same centres.
    whole = lehr.KMeans(20, n_init=1, tol=0).fit(X)
    assert model.n_iter_ < whole.n_iter_ and model.inertia_ <= whole.inertia_ * 1.01
    ours, theirs = lehr.KMeans(20, init=X[:20], tol=tol).fit(X), KMeans(20, init=X[:20], n_init=1, tol=tol).fit(X)
    assert ours.inertia_ <= theirs.inertia_ * (1 + 1e-3)


def test_the_tolerance_has_no_unit(wine):
    first, other = lehr.KMeans(6, n_init=1).fit(wine), lehr.KMeans(6, n_init=1).fit(wine * 1024)
    np.testing.assert_array_equal(first.labels_, other.labels_)
    assert first.n_iter_ == other.n_iter_


@pytest.mark.parametrize("made", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_starts_are_drawn_from_the_rows_or_by_a_function(made, wine):
    X = made(wine)
    weight = np.arange(178.0) % 3
    model = lehr.KMeans(6, init="random", n_init=4, random_state=3).fit(X, sample_weight=weight)
    assert len(model.inertias_) == 4 and len(set(model.inertias_)) > 1
    assert model.inertia_ == pytest.approx(model.inertias_.min())
    again = lehr.KMeans(6, init="random", n_init=4, random_state=3).fit(X, sample_weight=weight)
    np.testing.assert_array_equal(again.labels_, model.labels_)
    asked = []

    def init(X, n_clusters, random_state):
        asked.append((X.shape, n_clusters))
        return wine[random_state.choice(178, n_clusters, replace=False)]

    made_up = lehr.KMeans(6, init=init, n_init=3).fit(X)
    assert asked == [((178, 13), 6)] * 3 and len(made_up.inertias_) == 3


def test_the_number_of_starts():
    X = np.random.default_rng(0).random((60, 2))
    centers = X[:3]
    for more, starts in [
        ({}, 10), ({"init": "random"}, 10), ({"init": centers}, 1), ({"n_init": 4}, 4),
        ({"n_init": "auto"}, 1), ({"n_init": "auto", "init": "random"}, 10), ({"n_init": "auto", "init": centers}, 1),
        ({"n_init": "auto", "init": lambda X, k, random_state: X[:k]}, 10),
    ]:  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert len(lehr.KMeans(3, **more).fit(X).inertias_) == starts
    with pytest.warns(RuntimeWarning, match="performing only one init in KMeans instead of n_init=4") as caught:
        assert len(lehr.KMeans(3, init=centers, n_init=4).fit(X).inertias_) == 1
    # Warnings point at the line of the caller.
    assert caught[0].filename == __file__


def test_a_checkpoint_is_of_one_run(wine, tmp_path):
    with pytest.raises(ValueError, match="here are 10: say n_init=1, or leave checkpoint out"):
        lehr.KMeans(3, init="random", checkpoint=tmp_path / "run").fit(wine)
    once = lehr.KMeans(3, init="random", n_init=1, checkpoint=tmp_path / "run").fit(wine)
    np.testing.assert_array_equal(once.labels_, lehr.KMeans(3, init="random", n_init=1).fit(wine).labels_)


def test_names_of_scikit_learns_algorithms(wine):
    expected = lehr.KMeans(7).fit(wine)
    for algorithm in ("plain", "lloyd", "elkan"):
        model = lehr.KMeans(7, algorithm=algorithm).fit(wine)
        np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_)
    with pytest.warns(RuntimeWarning, match="algorithm='elkan' doesn't make sense for a single cluster"):
        lehr.KMeans(1, algorithm="elkan").fit(wine)


@pytest.mark.parametrize("made", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_a_centre_without_rows_begins_again_elsewhere(made):
    X = np.array([[0, 0], [0.5, 0], [0.5, 1], [1, 1]])
    model = lehr.KMeans(2, init=[[0.5, 0.5], [3, 3]]).fit(made(X))
    assert model.n_clusters_ == 2 and model.inertia_ == 0.25
    far = lehr.KMeans(4, init=[[0.0, 0.0], [90, 90], [91, 91], [92, 92]]).fit(made(X))
    assert far.n_clusters_ == 4 and far.inertia_ == 0.0
    light = lehr.KMeans(2, init=[[-1.0], [10.0]]).fit(made(np.array([[-1.0], [1.0]])), sample_weight=[1.9, 0.1])
    np.testing.assert_allclose(np.sort(light.cluster_centers_.ravel()), [-1.0, 1.0])
    # A row of weight 0 does not become a centre.
    with pytest.warns(ConvergenceWarning, match="Number of distinct clusters"):
        none = lehr.KMeans(2, init=[[-1.0], [10.0]]).fit(made(np.array([[-1.0], [1.0]])), sample_weight=[1.0, 0.0])
    assert none.n_clusters_ == 1


def test_fewer_distinct_rows_than_clusters_are_told(wine):
    X = np.asarray([[0.1, 0], [0, 0.1], [1, 0], [1, 0]])
    words = r"Number of distinct clusters \(3\) found smaller than n_clusters \(4\). Possibly due to duplicate points in X."
    for init in ("k-means++", "random", X):
        with pytest.warns(ConvergenceWarning, match=words) as caught:
            model = lehr.KMeans(4, init=init).fit(X)
        assert len(caught) == 1 and caught[0].filename == __file__
        assert set(model.labels_.tolist()) == {0, 1, 2} and model.n_clusters_ == 3 and model.inertia_ < 1e-30


@pytest.mark.thread_unsafe(reason="threadpoolctl's limits are of the process")
def test_threads_are_bounded_by_threadpoolctl_and_joblib(monkeypatch):
    import joblib
    import threadpoolctl

    from lehr import _checks

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert _checks.threads(None) is None
    with joblib.parallel_config(n_jobs=1):
        assert _checks.threads(None) == 1
    if joblib.cpu_count() > 1:
        with threadpoolctl.threadpool_limits(1):
            assert _checks.threads(None) == 1 and _checks.threads(2) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert _checks.threads(None) == 3


def test_a_start_that_is_given_goes_where_scikit_learns_goes(wine):
    begin = wine[[0, 60, 90, 130]]
    ours = lehr.KMeans(4, init=begin).fit(wine)
    theirs = KMeans(4, init=begin, n_init=1, tol=0.0, algorithm="lloyd").fit(wine)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-12) and len(ours.inertias_) == 1
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, atol=1e-12)
    # Centres may have any numeric type, and may be lists.
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
        ("forgy", "'init' parameter of KMeans must be a str among {'k-means\\+\\+', 'random'}, a callable or an array-like. Got 'forgy' instead"),
        (None, "'init' parameter of KMeans must be .* Got None instead"),
        (lambda X, n_clusters, random_state: X[:1], r"initial centers \(1, 1\) does not match the number of clusters 2"),
    ],
)
def test_starts_that_cannot_be(init, words):
    with pytest.raises(ValueError, match=words):
        lehr.KMeans(2, init=init).fit([[0.0], [1.0], [5.0]])


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"n_clusters": None}, TypeError, "'n_clusters' parameter of KMeans must be an int"),
        ({"n_clusters": 4}, ValueError, "n_samples=3 should be >= n_clusters=4"),
        ({"n_init": 0}, ValueError, "'n_init' parameter of KMeans must be .* an int in the range"),
        ({"max_iter": 0}, ValueError, "'max_iter' parameter of KMeans must be an int in the range"),
        ({"n_init": "several"}, ValueError, "'n_init' parameter of KMeans must be a str among {'auto'}, .* Got 'several' instead"),
        ({"tol": -1.0}, ValueError, "'tol' parameter of KMeans must be a float in the range"),
        ({"algorithm": "full"}, ValueError, "'algorithm' parameter of KMeans must be a str among {'bounded', 'plain', 'elkan', 'lloyd'}. Got 'full' instead"),
    ],
)
def test_parameters_that_cannot_be(parameters, kind, words):
    with pytest.raises(kind, match=words):
        lehr.KMeans(**{"n_clusters": 1, **parameters}).fit([[0.0], [1.0], [5.0]])


def _in_batches(model, X, weight, size):
    for begin in range(0, len(weight), size):
        model.partial_fit(X[begin : begin + size], sample_weight=weight[begin : begin + size])
    return model


@pytest.mark.parametrize("made", [np.asarray, csr_array, lambda X: X.astype(np.float32)], ids=["dense", "sparse", "single"])
def test_batches_move_centres_to_the_means_of_all_that_they_were_given(made):
    X = np.random.default_rng(4).normal(size=(600, 3)).astype(np.float32).astype(float)
    weight = np.random.default_rng(5).integers(0, 4, 600).astype(float)
    one = _in_batches(lehr.KMeans(1), made(X), weight, 50)
    np.testing.assert_allclose(one.cluster_centers_[0], np.average(X, axis=0, weights=weight), rtol=1e-5)
    assert one.n_steps_ == 12 and one.clusters_["weight"][0] == weight.sum() and one.clusters_["n_samples"][0] == 600
    model = _in_batches(lehr.KMeans(4, random_state=1), made(X), weight, 100)
    # A plain loop over the batches, which starts from the centres of the first batch.
    first = lehr.KMeans(4, random_state=1).fit(made(X[:100]), sample_weight=weight[:100])
    centers, counts = first.cluster_centers_.astype(float), first.clusters_["weight"].copy()
    for begin in range(100, 600, 100):
        rows, shares = X[begin : begin + 100], weight[begin : begin + 100]
        labels = np.argmin(((rows[:, None] - centers) ** 2).sum(axis=2), axis=1)
        for k in range(4):
            given = shares[labels == k].sum()
            if given > 0:
                counts[k] += given
                centers[k] += given / counts[k] * (np.average(rows[labels == k], axis=0, weights=shares[labels == k]) - centers[k])
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(model.clusters_["weight"], counts)
    assert model.cluster_centers_.dtype == first.cluster_centers_.dtype
    # Labels and inertia describe the last batch, and belong to the current centres.
    np.testing.assert_array_equal(model.labels_, model.predict(made(X[500:])))
    assert model.inertia_ == pytest.approx(-model.score(made(X[500:]), sample_weight=weight[500:]))


def test_batches_come_near_the_clusters_of_all_rows():
    draw = np.random.default_rng(0)
    X = draw.normal(size=(3000, 2)) + np.array([[0, 0], [9, 0], [0, 9]])[draw.integers(0, 3, 3000)]
    model = _in_batches(lehr.KMeans(3), X, np.ones(3000), 300)
    whole = lehr.KMeans(3).fit(X)
    assert -model.score(X) <= whole.inertia_ * 1.01
    assert not hasattr(model.fit(X), "n_steps_")
    # After a fit, its rows count as the rows of a batch.
    assert model.partial_fit(X[:10]).n_steps_ == 2 and model.clusters_["weight"].sum() == 3010


def test_batches_that_cannot_be():
    with pytest.raises(ValueError, match="n_samples=2 should be >= n_clusters=3"):
        lehr.KMeans(3).partial_fit([[0.0], [1.0]])
    model = lehr.KMeans(2).partial_fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="X has 2 features, but KMeans is expecting 1 features"):
        model.partial_fit([[0.0, 1.0]])
    bits = lehr.Fingerprints(np.random.default_rng(0).integers(0, 256, (40, 4), dtype=np.uint8), 32)
    rows = np.unpackbits(bits.packed(), axis=1, bitorder="little").astype(float)
    of_bits, of_rows = (lehr.KMeans(3).partial_fit(X[:20]).partial_fit(X[20:]) for X in (bits, rows))
    np.testing.assert_allclose(of_bits.cluster_centers_, of_rows.cluster_centers_)


def test_pieces_of_streams_are_saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(90, 2))
    model = lehr.KMeans(3).partial_fit(X[:30]).partial_fit(X[30:60])
    model.save(tmp_path / "model")
    again = lehr.load(tmp_path / "model").partial_fit(X[60:])
    np.testing.assert_array_equal(again.cluster_centers_, model.partial_fit(X[60:]).cluster_centers_)
    assert again.n_steps_ == 3


@pytest.mark.parametrize("columns", [2, 16, 70])
def test_other_rows_have_the_labels_of_double_precision_from_arrays_of_any_kind_on_any_number_of_threads(columns):
    draw = np.random.default_rng(0)
    # With steps of a quarter, some rows are equally near to several centres.
    X = np.round(draw.normal(size=(30_000, columns)) * 8) / 4
    model = lehr.KMeans(20, n_init=1, max_iter=3, tol=1.0).fit(X[:500])
    model.cluster_centers_ = X[:20].copy()
    squares = np.stack([np.square(X - center).sum(axis=1) for center in model.cluster_centers_], axis=1)
    expected = squares.argmin(axis=1)
    single = X.astype(np.float32)
    for rows in (X, single, np.asfortranarray(X), np.asfortranarray(single), np.repeat(single, 2, axis=0)[::2]):
        for threads in (1, 2, 4):
            model.set_params(n_jobs=threads)
            np.testing.assert_array_equal(model.predict(rows), expected)
            assert model.score(rows) == pytest.approx(-squares.min(axis=1).sum(), rel=1e-12)
