"""Maps: what they say, new items, and how they are laid over each other."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

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
    # A row a little beside an item lands near it, in a map whose extent is about 10.
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
    # Of another number of items, or in other dimensions, there is nothing to go on from.
    fewer = model.fit(wine[:50])
    np.testing.assert_array_equal(fewer.embedding_, lehr.SMACOF().fit(wine[:50]).embedding_)
    np.testing.assert_array_equal(model.set_params(n_components=3).fit(wine).embedding_, lehr.SMACOF(3).fit(wine).embedding_)
