"""Maps: their results, the placing of new items, and the alignment of two maps."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.manifold import MDS
from sklearn.metrics import pairwise_distances

import lehr

SQUARE = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [0.0, 3.0]])


def test_a_square_stays_a_square():
    model = lehr.SMACOF().fit(SQUARE)
    assert model.stress_ < 1e-12 and model.is_converged_
    np.testing.assert_allclose(pdist(model.embedding_), pdist(SQUARE), atol=1e-6)


def test_stress_never_rises(wine):
    stress = lehr.SMACOF().fit(wine).history_["stress"]
    assert len(stress) > 1 and np.all(np.diff(stress) <= 1e-12)


def test_fitted_items_come_back_to_their_places_and_new_ones_near_theirs(wine):
    model = lehr.SMACOF(2).fit(wine)
    np.testing.assert_array_equal(model.transform(wine), model.embedding_)
    # A row close to an item is placed near it, in a map whose extent is about 10.
    beside = model.transform(wine[:5] + 1e-3)
    assert np.abs(beside - model.embedding_[:5]).max() < 2.0


def test_a_new_item_is_placed_alone():
    model = lehr.SMACOF().fit(SQUARE)
    new = np.array([[1.5, 1.5], [1.0, 2.0]])
    together = model.transform(new)
    np.testing.assert_array_equal(together[1:], model.transform(new[1:]))
    np.testing.assert_allclose(together[0], 0, atol=1e-5)


def test_missing_pairs_and_weights():
    D = np.array([[0.0, 3.0, np.nan], [3.0, 0.0, 4.0], [np.nan, 4.0, 0.0]])
    model = lehr.SMACOF(1, metric="precomputed").fit(D)
    assert model.missing_pairs_ == 1 and model.stress_ < 1e-10
    weight = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    full = np.array([[0.0, 3.0, 100.0], [3.0, 0.0, 4.0], [100.0, 4.0, 0.0]])
    assert lehr.SMACOF(1, metric="precomputed").fit(full, pair_weight=weight).stress_ < 1e-10


def test_a_weight_is_so_many_items_in_one_place(wine):
    weight = np.arange(len(wine)) % 3
    init = lehr.SMACOF().fit(wine).embedding_ + np.random.default_rng(1).normal(scale=0.1, size=(len(wine), 2))
    weighted = lehr.SMACOF(max_iter=30).fit(wine, sample_weight=weight, init=init)
    repeated = lehr.SMACOF(max_iter=30).fit(np.repeat(wine, weight, axis=0), init=np.repeat(init, weight, axis=0))
    assert weighted.stress_ == pytest.approx(repeated.stress_, rel=1e-9)
    np.testing.assert_allclose(np.repeat(weighted.embedding_, weight, axis=0), repeated.embedding_, rtol=0, atol=1e-6)


def test_fixed_items_stay():
    init = SQUARE + 10.0
    model = lehr.SMACOF().fit(SQUARE, init=init, fixed=[0, 1])
    np.testing.assert_allclose(model.embedding_[:2], init[:2])


def test_maps_are_laid_over_each_other(wine):
    classical = lehr.SMACOF().fit(wine).embedding_
    turned = classical @ np.array([[0.0, 1.0], [-1.0, 0.0]]) + 7.0
    np.testing.assert_allclose(lehr.align(turned, classical), classical, atol=1e-8)


def test_what_nothing_ties_together_is_refused():
    D = np.full((4, 4), np.nan)
    np.fill_diagonal(D, 0.0)
    D[0, 1] = D[1, 0] = D[2, 3] = D[3, 2] = 1.0
    with pytest.raises(ValueError, match="2 separate parts"):
        lehr.SMACOF(1, metric="precomputed").fit(D)


def test_positions_do_not_depend_on_threads(wine):
    maps = [lehr.SMACOF(3, n_jobs=threads).fit_transform(wine) for threads in (1, 2, 8)]
    for other in maps[1:]:
        np.testing.assert_array_equal(other, maps[0])


def test_the_score_of_what_was_fitted_is_its_stress(wine):
    weight = 1.0 + np.arange(len(wine)) % 3
    for weighting in ("equal", "sammon", "inverse_square"):
        model = lehr.SMACOF(weighting=weighting).fit(wine)
        assert model.score(wine) == pytest.approx(-model.stress_, rel=1e-9)
    model = lehr.SMACOF().fit(wine, sample_weight=weight)
    assert model.score(wine, sample_weight=weight) == pytest.approx(-model.stress_, rel=1e-9)
    gaps = lehr.pairwise_distances(wine)
    gaps[3, 5] = gaps[5, 3] = np.nan
    model = lehr.SMACOF(metric="precomputed").fit(gaps)
    assert model.score(gaps) == pytest.approx(-model.stress_, rel=1e-9)


def test_a_warm_start_goes_on_where_the_last_fit_ended(wine):
    model = lehr.SMACOF(warm_start=True).fit(wine)
    cold, stress = model.n_iter_, model.stress_
    again = model.fit(wine)
    assert again.n_iter_ < cold / 2 and again.stress_ <= stress * (1 + 1e-9)
    # With another number of items, or another dimension, a warm start has no positions to start from.
    fewer = model.fit(wine[:50])
    np.testing.assert_array_equal(fewer.embedding_, lehr.SMACOF().fit(wine[:50]).embedding_)
    np.testing.assert_array_equal(model.set_params(n_components=3).fit(wine).embedding_, lehr.SMACOF(3).fit(wine).embedding_)


def _one_step(D, Z):
    """Returns the Guttman transform of a map."""
    d = squareform(pdist(Z))
    with np.errstate(divide="ignore", invalid="ignore"):
        B = -np.where(d > 0, D / d, 0.0)
    np.fill_diagonal(B, -B.sum(axis=1))
    return B @ Z / len(Z)


@pytest.mark.parametrize("iterations", [1, 2, 3])
def test_positions_move_as_often_as_asked_for(iterations):
    # Borg and Groenen, "Modern Multidimensional Scaling", page 154.
    D = np.array([[0, 5, 3, 4], [5, 0, 2, 2], [3, 2, 0, 1], [4, 2, 1, 0]], dtype=float)
    Z = np.array([[-0.266, -0.539], [0.451, 0.252], [0.016, -0.238], [-0.200, 0.524]])
    model = lehr.SMACOF(metric="precomputed", relaxed=False, max_iter=iterations).fit(D, init=Z)
    for _ in range(iterations):
        Z = _one_step(D, Z)
    if iterations == 1:
        np.testing.assert_allclose(Z, [[-1.415, -2.471], [1.633, 1.107], [0.249, -0.067], [-0.468, 1.431]], atol=1e-3)
    np.testing.assert_allclose(pdist(model.embedding_), pdist(Z), rtol=1e-9)
    assert model.n_iter_ == iterations and not model.is_converged_


def test_a_fit_that_is_cut_short_says_after_how_many_iterations(wine):
    for iterations in (1, 3):
        with pytest.warns(ConvergenceWarning, match=f"the stress still fell after {iterations} iterations: the map is not finished"):
            lehr.SMACOF(max_iter=iterations, init="random", n_init=1).fit(wine)


def test_stress_by_scikit_learns_names(wine):
    D = pdist(wine)
    kinds = {kind: lehr.SMACOF(normalized_stress=kind).fit(wine) for kind in (None, False, "auto", True)}
    d = pdist(kinds[None].embedding_)
    raw = ((d - D) ** 2).sum()
    assert kinds[None].stress_ == pytest.approx(raw / (D**2).sum())
    assert kinds[False].stress_ == kinds["auto"].stress_ == pytest.approx(raw) == kinds[None].raw_stress_
    assert kinds[True].stress_ == pytest.approx(np.sqrt(raw / (d**2).sum()))
    theirs = MDS(init="random", n_init=1, max_iter=1, random_state=0).fit(wine)
    raw = ((pdist(theirs.embedding_) - D) ** 2).sum()
    assert theirs.stress_ == pytest.approx(raw)
    with pytest.raises(ValueError, match="'normalized_stress' parameter of SMACOF must be .* a str among {'auto'} or None. Got 'no' instead"):
        lehr.SMACOF(normalized_stress="no").fit(wine)


def test_eps_is_the_tolerance(wine):
    for eps in (1e-3, 1e-5):
        np.testing.assert_array_equal(lehr.SMACOF(eps=eps).fit(wine).embedding_, lehr.SMACOF(tol=eps).fit(wine).embedding_)
    with pytest.raises(ValueError, match="'eps' parameter of SMACOF must be a float in the range"):
        lehr.SMACOF(eps=float("inf")).fit(wine)


def _city_block(x, y):
    return float(np.abs(x - y).sum())


@pytest.mark.parametrize(
    ("metric", "params"),
    [("chebyshev", None), ("minkowski", {"p": 3}), ("l1", None), ("canberra", None), (_city_block, None), ("manhattan", None)],
    # Show a function by its name, because its address differs between the processes that run tests.
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@pytest.mark.parametrize("make", [lehr.SMACOF, lambda **more: lehr.KMedoids(4, **more), lambda **more: lehr.PairwiseClustering(4, **more), lambda **more: lehr.AgglomerativeClustering(4, **more)])
def test_metrics_of_scikit_learn(make, metric, params, wine):
    X = wine[:60]
    D = pairwise_distances(X, metric=metric, **(params or {}))
    model = make(metric=metric, metric_params=params).fit(X)
    given = make(metric="precomputed").fit(D)
    found = "embedding_" if isinstance(model, lehr.SMACOF) else "labels_"
    np.testing.assert_allclose(getattr(model, found), getattr(given, found), atol=1e-6)
    asked = "transform" if isinstance(model, lehr.SMACOF) else "predict"
    to_fitted = pairwise_distances(wine[60:70], X, metric=metric, **(params or {}))
    np.testing.assert_allclose(getattr(model, asked)(wine[60:70]), getattr(given, asked)(to_fitted), atol=1e-6)
    with pytest.raises(ValueError, match="'metric' parameter of .* must be a str among {'precomputed', 'euclidean'"):
        make(metric="nearness").fit(X)


@pytest.mark.parametrize("metric", ["cosine", "euclidean", "manhattan", "sqeuclidean"])
@pytest.mark.parametrize("make", [lehr.SMACOF, lambda **more: lehr.KMedoids(3, **more), lambda **more: lehr.PairwiseClustering(3, **more), lambda **more: lehr.AgglomerativeClustering(3, **more)])
def test_sparse_rows_are_compared_as_the_same_rows_with_their_zeros(make, metric, tmp_path):
    draw = np.random.default_rng(2)
    X = draw.random((50, 20)) * (draw.random((50, 20)) < 0.4) + np.eye(50, 20)
    sparse, dense = make(metric=metric).fit(csr_array(X)), make(metric=metric).fit(X)
    found, asked = ("embedding_", "transform") if isinstance(sparse, lehr.SMACOF) else ("labels_", "predict")
    np.testing.assert_allclose(np.abs(getattr(sparse, found)), np.abs(getattr(dense, found)), atol=1e-3)
    sparse.save(tmp_path / "model")
    again = lehr.load(tmp_path / "model")
    np.testing.assert_allclose(getattr(again, asked)(csr_array(X[:9])), getattr(sparse, asked)(csr_array(X[:9])))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_non_metric_scaling_looks_at_the_order_only(wine):
    X = wine[:60]
    D = squareform(pdist(X))
    model = lehr.SMACOF(metric="precomputed", metric_mds=False).fit(D)
    # Any increasing function of the dissimilarities gives the same map, up to its scale.
    other = lehr.SMACOF(metric="precomputed", metric_mds=False).fit(D**3, init=lehr.SMACOF().fit(X).embedding_)
    again = lehr.SMACOF(metric="precomputed", metric_mds=False).fit(D, init=lehr.SMACOF().fit(X).embedding_)
    np.testing.assert_allclose(other.embedding_, again.embedding_, atol=1e-9)
    # The distances of a plane are recovered exactly from any increasing function of them.
    plane = np.random.default_rng(0).random((30, 2))
    bent = lehr.SMACOF(metric="precomputed", metric_mds=False, max_iter=3000, tol=1e-9).fit(squareform(pdist(plane)) ** 2)
    assert bent.stress_ < 0.01 and np.corrcoef(pdist(bent.embedding_), pdist(plane))[0, 1] > 0.999
    d, disparities = pdist(model.embedding_), squareform(model.disparities_)
    assert np.all(np.diff(disparities[np.argsort(squareform(D), kind="stable")]) >= -1e-12)
    assert model.raw_stress_ == pytest.approx(((d - disparities) ** 2).sum())
    assert model.stress_ == model.stress_1_ == pytest.approx(np.sqrt(model.raw_stress_ / (d**2).sum()))
    assert model.stress_ < lehr.SMACOF().fit(X).stress_1_
    assert np.all(np.diff(model.history_["stress"]) <= 1e-3) and model.shepard_["counts"].sum() == 60 * 59 // 2


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_in_non_metric_scaling(wine):
    X, init = wine[:20], lehr.SMACOF().fit(wine[:20]).embedding_
    more = {"metric_mds": False, "max_iter": 20}
    equal, none = lehr.SMACOF(**more).fit(X, sample_weight=np.full(20, 3.0), init=init), lehr.SMACOF(**more).fit(X, init=init)
    np.testing.assert_allclose(equal.embedding_, none.embedding_, atol=1e-9)
    assert equal.stress_ == pytest.approx(none.stress_) and equal.raw_stress_ == pytest.approx(9 * none.raw_stress_)
    # An item of weight 0 gets a position and moves no other item.
    weight = np.r_[np.ones(19), 0.0]
    one = lehr.SMACOF(**more).fit(X, sample_weight=weight, init=init)
    without = lehr.SMACOF(**more).fit(X[:19], init=init[:19])
    np.testing.assert_allclose(one.embedding_[:19], without.embedding_, atol=1e-9)
    assert one.stress_ == pytest.approx(without.stress_) and np.abs(one.embedding_[19]).max() > 0


def test_what_non_metric_scaling_does_not_take(wine):
    gaps = squareform(pdist(wine[:9]))
    gaps[0, 1] = gaps[1, 0] = np.nan
    with pytest.raises(ValueError, match="takes no missing pairs"):
        lehr.SMACOF(metric="precomputed", metric_mds=False).fit(gaps)
    with pytest.raises(ValueError, match="takes no pair_weight"):
        lehr.SMACOF(metric_mds=False).fit(wine[:9], pair_weight=np.ones((9, 9)))
    for more in ({"annealed": True}, {"weighting": "sammon"}):
        with pytest.raises(ValueError, match="annealed or weighting"):
            lehr.SMACOF(metric_mds=False, **more).fit(wine[:9])
