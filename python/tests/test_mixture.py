"""Mixtures: their results, compared with scikit-learn's."""

import csv
import subprocess

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

import lehr


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_the_likelihood_is_no_worse_than_that_of_twenty_starts(form, wine):
    ours = lehr.DAGaussianMixture(3, covariance_type=form).fit(wine)
    theirs = GaussianMixture(3, covariance_type=form, n_init=20, random_state=0).fit(wine)
    # Twenty random initialisations of full matrices find a few rows with a high likelihood, so only the simpler types are compared.
    if form != "full":
        assert ours.score(wine) >= theirs.score(wine) - 1e-3
    assert ours.covariances_.shape == theirs.covariances_.shape
    assert np.all(np.diff(ours.ascent_) >= -1e-9)
    np.testing.assert_array_equal(ours.history_["log_likelihood"], ours.ascent_)
    assert ours.free_energy_ == -ours.log_likelihood_


def test_the_number_of_components_is_found(wine):
    random = np.random.default_rng(3)
    X = np.concatenate([random.normal(center, 0.5, (100, 2)) for center in ([0, 0], [9, 0], [0, 9])])
    model = lehr.DAGaussianMixture(max_components=6).fit(X)
    assert len(model.weights_) == 3
    assert model.candidates_["bic"].min() == model.bic_
    assert adjusted_rand_score(np.repeat([0, 1, 2], 100), model.labels_) == 1.0


def test_densities_are_those_of_the_components():
    random = np.random.default_rng(5)
    X = random.normal(size=(200, 3)) @ random.normal(size=(3, 3))
    model = lehr.DAGaussianMixture(2).fit(X)
    parts = zip(model.weights_, model.means_, model.covariances_, strict=True)
    density = sum(weight * multivariate_normal(mean, matrix).pdf(X) for weight, mean, matrix in parts)
    np.testing.assert_allclose(np.exp(model.score_samples(X)), density, rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_draws_are_from_the_mixture_and_repeat_themselves_with_a_seed_only(wine):
    model = lehr.DAGaussianMixture(3, covariance_type="diag", random_state=0).fit(wine)
    X, labels = model.sample(20_000)
    np.testing.assert_array_equal(model.sample(20_000)[0], X)
    np.testing.assert_allclose(np.bincount(labels) / len(labels), model.weights_, atol=0.02)
    for state in (None, np.random.RandomState(0)):
        model.set_params(random_state=state)
        first, second = (model.sample(10)[0] for _ in range(2))
        assert not np.array_equal(first, second)
    for wrong in (0,):
        with pytest.raises(ValueError, match="Invalid value for 'n_samples': 0"):
            model.sample(wrong)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_criteria_and_precisions_are_those_that_scikit_learn_has_of_the_same_mixture(form, wine):
    X = wine[:, :4]
    ours = lehr.DAGaussianMixture(3, covariance_type=form).fit(X)
    theirs = GaussianMixture(3, covariance_type=form)
    theirs.weights_, theirs.means_, theirs.covariances_ = ours.weights_, ours.means_, ours.covariances_
    theirs.precisions_cholesky_ = ours.precisions_cholesky_
    assert ours.bic(X) == pytest.approx(theirs.bic(X)) and ours.aic(X) == pytest.approx(theirs.aic(X))
    assert ours.bic(X) == pytest.approx(ours.bic_) and ours.aic(X) == pytest.approx(ours.aic_)
    np.testing.assert_allclose(theirs.score_samples(X), ours.score_samples(X))
    assert ours.precisions_.shape == ours.covariances_.shape
    if form in ("full", "tied"):
        np.testing.assert_allclose(ours.precisions_ @ ours.covariances_, np.broadcast_to(np.eye(4), ours.covariances_.shape), atol=1e-9)
    else:
        np.testing.assert_allclose(ours.precisions_ * ours.covariances_, 1.0)
    assert ours.lower_bound_ == pytest.approx(ours.score(X)) and ours.n_components_ == 3
    weighted = lehr.DAGaussianMixture(2, covariance_type=form).fit(X, sample_weight=np.full(178, 3.0))
    assert weighted.lower_bound_ == pytest.approx(weighted.score(X))


def test_iterations_are_those_of_the_fit(wine):
    with pytest.warns(ConvergenceWarning):
        model = lehr.DAGaussianMixture(3, covariance_type="diag", max_iter=1, tol=1e-12).fit(wine)
    assert model.n_iter_ == 1 and not model.converged_ and model.n_passes_ > 100
    whole = lehr.DAGaussianMixture(3, covariance_type="diag").fit(wine)
    assert whole.converged_ and 1 < whole.n_iter_ == len(whole.lower_bounds_) <= 2000


def test_a_column_that_does_not_vary_is_named():
    with pytest.raises(ValueError, match="the same in all rows"):
        lehr.DAGaussianMixture(1).fit([[0.0, 1.0], [2.0, 1.0]])


def _gapped(X):
    """Returns the rows with every seventh value missing, and one row without any value."""
    X = np.where(np.arange(X.size).reshape(X.shape) % 7, X, np.nan)
    X[5] = np.nan
    return X


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_a_row_with_gaps_has_the_density_of_the_cells_it_has(form, wine):
    X = _gapped(wine[:, :4])
    model = lehr.DAGaussianMixture(2, covariance_type=form).fit(X)
    matrices = _matrices(model)
    found, memberships = model.score_samples(X), model.predict_proba(X)
    for row, log_density, shares in zip(X, found, memberships, strict=True):
        there = ~np.isnan(row)
        parts = model.weights_.copy()
        if there.any():
            parts *= [
                multivariate_normal(mean[there], matrix[np.ix_(there, there)]).pdf(row[there])
                for mean, matrix in zip(model.means_, matrices, strict=True)
            ]
        assert log_density == pytest.approx(np.log(parts.sum()), abs=1e-9)
        np.testing.assert_allclose(shares, parts / parts.sum(), atol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert np.all(np.diff(model.ascent_) >= -1e-9)
    assert model.score(X, sample_weight=np.ones(len(X))) == pytest.approx(found.mean())


def _matrices(model):
    count, width = model.means_.shape
    numbers = model.covariances_
    if model.covariance_type == "full":
        return numbers
    if model.covariance_type == "tied":
        return [numbers] * count
    return [np.eye(width) * numbers[k] for k in range(count)]


def test_gaps_have_the_results_of_the_command(command, wine, tmp_path):
    X = _gapped(wine)
    np.save(tmp_path / "wine.npy", X)
    line = [command, "mixture", tmp_path / "wine.npy", "--components", "2", "--covariance", "diagonal", "--missing", "--scale", "none"]
    subprocess.run([*line, "--out", tmp_path / "out", "--quiet"], check=True)
    with open(tmp_path / "out" / "labels.csv", newline="") as file:
        labels = [int(row["component"]) for row in csv.DictReader(file)]
    model = lehr.DAGaussianMixture(2, covariance_type="diag").fit(X)
    assert model.labels_.tolist() == labels
    np.testing.assert_array_equal(lehr.load(tmp_path / "out" / "model.json").means_, model.means_)


def test_weights_of_rows_with_gaps_are_so_many_rows(wine):
    X, times = _gapped(wine[:60, :3]), 1 + np.arange(60) % 3
    weighted = lehr.DAGaussianMixture(2, covariance_type="diag").fit(X, sample_weight=times)
    repeated = lehr.DAGaussianMixture(2, covariance_type="diag").fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-5)
    assert weighted.score(X, sample_weight=times) == pytest.approx(repeated.score(np.repeat(X, times, axis=0)), abs=1e-8)


def test_rows_with_gaps_that_cannot_be(wine):
    X = _gapped(wine)
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="x3"):
        lehr.DAGaussianMixture(2).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        lehr.DAGaussianMixture(2).fit(np.where(np.isnan(X), np.inf, X))


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_from_starts_that_are_given_em_goes_where_scikit_learns_goes(form, wine, tmp_path):
    X = wine[:, :3]
    given = GaussianMixture(3, covariance_type=form, max_iter=1, random_state=1).fit(X)
    start = {"weights_init": given.weights_, "means_init": given.means_, "precisions_init": given.precisions_}
    for iterations in (1, 4, 200):
        more = {"covariance_type": form, "max_iter": iterations, "tol": 1e-3, "reg_covar": 1e-6, **start}
        ours, theirs = lehr.DAGaussianMixture(3, **more).fit(X), GaussianMixture(3, **more).fit(X)
        assert ours.n_iter_ == theirs.n_iter_ and ours.converged_ == theirs.converged_
        for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
        np.testing.assert_array_equal(ours.labels_, theirs.predict(X))
        assert (ours.bic_, ours.aic_) == pytest.approx((theirs.bic(X), theirs.aic(X)))
    ours.save(tmp_path / "model")
    np.testing.assert_array_equal(lehr.load(tmp_path / "model").predict(X), ours.labels_)
    none = lehr.DAGaussianMixture(3, covariance_type=form, max_iter=0, **start).fit(X)
    np.testing.assert_array_equal(none.means_, given.means_)
    assert none.n_iter_ == 0 and not none.converged_
    # A row of weight 2 counts as two equal rows.
    times = 1 + np.arange(178) % 2
    more = {"covariance_type": form, **start}
    weighted = lehr.DAGaussianMixture(3, **more).fit(X, sample_weight=times)
    repeated = lehr.DAGaussianMixture(3, **more).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, atol=1e-5)
    # Criteria use the effective number of rows, so the unit of weights does not matter.
    for unit in (1e-6, 7.0):
        other = lehr.DAGaussianMixture(3, **more).fit(X, sample_weight=unit * times)
        assert (other.bic_, other.aic_, other.icl_) == pytest.approx((weighted.bic_, weighted.aic_, weighted.icl_))
    effective = times.sum() ** 2 / np.square(times).sum()
    per_row = weighted.log_likelihood_ / times.sum()
    assert weighted.bic_ == pytest.approx(-2 * effective * per_row + weighted._n_parameters() * np.log(effective))


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data", "annealed"])
def test_starts_that_are_drawn(init, wine):
    X = wine[:, :4]
    model = lehr.DAGaussianMixture(3, covariance_type="diag", init_params=init, n_init=3, reg_covar=1e-6, tol=1e-4).fit(X)
    assert model.converged_ and np.all(np.diff(model.weights_) <= 0)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    again = lehr.DAGaussianMixture(3, covariance_type="diag", init_params=init, n_init=3, reg_covar=1e-6, tol=1e-4).fit(X)
    np.testing.assert_array_equal(again.means_, model.means_)


def test_the_criteria_are_computed_as_by_the_default_start(wine):
    X = wine[:, :4]
    whole = lehr.DAGaussianMixture(2, covariance_type="diag").fit(X)
    start = {"weights_init": whole.weights_, "means_init": whole.means_, "precisions_init": whole.precisions_}
    same = lehr.DAGaussianMixture(2, covariance_type="diag", max_iter=0, **start).fit(X)
    for name in ("bic_", "aic_", "icl_", "log_likelihood_", "free_energy_", "lower_bound_"):
        assert getattr(same, name) == pytest.approx(getattr(whole, name), rel=1e-9), name


def test_a_warm_start_goes_on(wine):
    X = wine[:, :4]
    more = {"covariance_type": "diag", "init_params": "kmeans", "tol": 1e-5, "random_state": 0}
    whole = lehr.DAGaussianMixture(3, **more).fit(X)
    model = lehr.DAGaussianMixture(3, warm_start=True, max_iter=1, **more)
    fits = 0
    with pytest.warns(ConvergenceWarning, match="Best performing initialization did not converge"):
        while fits < 200 and not getattr(model, "converged_", False):
            model.fit(X)
            fits += 1
    # Each fit is one iteration. Components keep the order of the first fit.
    assert fits == whole.n_iter_ and model.lower_bound_ == pytest.approx(whole.lower_bound_, rel=1e-12)


def test_columns_that_do_not_vary_are_fitted_with_reg_covar():
    X = np.array([[0.0, 5.0], [1.0, 5.0], [9.0, 5.0], [10.0, 5.0]])
    model = lehr.DAGaussianMixture(2, reg_covar=1e-3).fit(X)
    assert sorted(model.means_[:, 0].round(6).tolist()) == [0.5, 9.5]
    np.testing.assert_allclose(model.covariances_[:, 1, 1], 1e-3)
    with pytest.raises(ValueError, match="ill-defined empirical covariance .*increase reg_covar"):
        lehr.DAGaussianMixture(2, reg_covar=0.0).fit(X - [0.0, 5.0])


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"n_components": None, "reg_covar": 1e-6}, "need a number of components: say n_components"),
        ({"init_params": "lucky"}, "'init_params' parameter of DAGaussianMixture must be a str among {'annealed', 'kmeans'"),
        ({"init_params": "random", "n_init": 0}, "'n_init' parameter of DAGaussianMixture must be an int in the range"),
        ({"reg_covar": -1.0}, "'reg_covar' parameter of DAGaussianMixture must be a float in the range"),
        ({"weights_init": [0.5, 0.6]}, "should be normalized"),
        ({"means_init": [[0.0]]}, r"'means' should have the shape of \(2, 4\), but got \(1, 1\)"),
        ({"precisions_init": -np.ones((2, 4)), "covariance_type": "diag"}, "'diag precision' should be positive"),
        ({"n_components": 500, "init_params": "random"}, "n_samples=178 should be >= n_components=500"),
    ],
)
def test_starts_that_cannot_be(more, words, wine):
    with pytest.raises(ValueError, match=words):
        lehr.DAGaussianMixture(**{"n_components": 2, **more}).fit(wine[:, :4])
    with pytest.raises(ValueError, match="Missing cells are taken by the default start only"):
        lehr.DAGaussianMixture(2, init_params="random").fit(_gapped(wine))
