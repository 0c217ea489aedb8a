"""Mixtures: what they find, beside scikit-learn's."""

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
    # Twenty random starts of full matrices find corners of few rows and high likelihood: there only the simpler forms compare.
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
    """A cell in seven is missing, and one row has none."""
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
