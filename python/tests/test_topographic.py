"""Topographic maps: their results for fitted and new rows, with and without missing values."""

import csv
import subprocess

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import lehr

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(scope="module")
def curve():
    """Returns rows along a bent line in three columns, and their positions on the line."""
    random = np.random.default_rng(7)
    t = np.sort(random.uniform(-1.0, 1.0, 200))
    X = np.column_stack([3.0 * t, np.sin(2.0 * t), t**2]) + random.normal(scale=0.05, size=(200, 3))
    return X, t


@pytest.fixture(scope="module")
def line(curve):
    return lehr.GTM(1, n_nodes=40, n_basis=6).fit(curve[0])


def test_places_follow_the_curve(line, curve):
    X, t = curve
    assert abs(np.corrcoef(line.embedding_[:, 0], t)[0, 1]) > 0.99
    np.testing.assert_allclose(line.inverse_transform(line.embedding_), X, atol=0.35)
    assert line.order_ > 0.95 and line.converged_


def test_the_objective_never_falls_and_cooling_ends_at_one(line):
    assert np.all(np.diff(line.ascent_) > -1e-9)
    assert line.history_["temperature"][-1] == 1.0 and np.all(np.diff(line.history_["temperature"]) < 0)
    assert line.free_energy_ == pytest.approx(-line.ascent_[-1])


def test_rows_of_the_fit_come_back_to_their_places(line, curve):
    X, _ = curve
    np.testing.assert_allclose(line.transform(X), line.embedding_, atol=1e-9)
    np.testing.assert_array_equal(line.modes(X), line.nodes_[line.modes_])
    assert line.score(X) * len(X) == pytest.approx(line.log_likelihood_, rel=1e-9)


def test_densities_and_posteriors_are_those_of_the_nodes(line, curve):
    X = curve[0][:20]
    nodes = [multivariate_normal(mean, line.noise_variance_ * np.eye(3)).logpdf(X) for mean in line.means_]
    joint = np.array(nodes).T - np.log(len(line.nodes_))
    density = np.logaddexp.reduce(joint, axis=1)
    np.testing.assert_allclose(line.score_samples(X), density, rtol=1e-9)
    posterior = np.exp(joint - density[:, None])
    found = line.responsibilities(X)
    np.testing.assert_allclose(found, posterior, atol=1e-9)
    np.testing.assert_allclose(found @ line.nodes_, line.transform(X), atol=1e-9)
    np.testing.assert_array_equal(found.argmax(axis=1), line.modes_[:20])
    np.testing.assert_allclose(-np.sum(found * np.log(np.maximum(found, 1e-300)), axis=1), line.entropies_[:20], atol=1e-9)


def test_both_beginnings_are_followed_and_the_likelier_is_kept(wine):
    both = lehr.GTM(n_nodes=8, n_basis=3).fit(wine)
    assert both.candidates_["init"].tolist() == ["annealed", "plane"]
    alone = {init: lehr.GTM(n_nodes=8, n_basis=3, init=init).fit(wine) for init in ("annealed", "plane")}
    for init, model in alone.items():
        assert model.init_ == init and model.candidates_["init"].tolist() == [init]
    best = max(alone.values(), key=lambda model: model.log_likelihood_)
    assert both.init_ == best.init_
    np.testing.assert_array_equal(both.embedding_, best.embedding_)


def test_missing_cells_are_left_out(curve, line):
    X, t = curve
    gaps = X.copy()
    gaps[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
    gaps[0] = np.nan
    with pytest.warns(UserWarning, match="no value at all"):
        model = lehr.GTM(1, n_nodes=40, n_basis=6).fit(gaps)
    assert abs(np.corrcoef(model.embedding_[1:, 0], t[1:])[0, 1]) > 0.97
    # A complete row gets the same position, whether or not another row has missing values.
    np.testing.assert_allclose(line.transform(np.vstack([X[:5], gaps[:1]]))[:5], line.transform(X[:5]), atol=1e-9)
    half = X[:3].copy()
    half[:, 1] = np.nan
    kept = np.delete(np.arange(3), 1)
    density = [multivariate_normal(mean[kept], line.noise_variance_ * np.eye(2)).pdf(half[:, kept]) for mean in line.means_]
    np.testing.assert_allclose(line.score_samples(half), np.log(np.mean(density, axis=0)), rtol=1e-9)
    np.testing.assert_allclose(line.responsibilities(half) @ line.nodes_, line.transform(half), atol=1e-9)


def test_a_weight_is_so_many_rows(wine):
    weight = np.arange(len(wine)) % 3
    # The regularisation counts effective rows: the weight of one is the sum of squared weights divided by the sum of weights.
    row_weight = np.square(weight).sum() / weight.sum()
    make = lambda regularization: lehr.GTM(n_nodes=6, n_basis=3, init="plane", tol=1e-9, regularization=regularization)  # noqa: E731
    weighted = make(0.1).fit(wine, sample_weight=weight)
    repeated = make(0.1 * row_weight).fit(np.repeat(wine, weight, axis=0))
    # The unit of weights does not matter.
    np.testing.assert_array_equal(make(0.1).fit(wine, sample_weight=weight * 4.0).embedding_, weighted.embedding_)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_, rel=1e-6)
    np.testing.assert_allclose(np.repeat(weighted.embedding_, weight, axis=0), repeated.embedding_, atol=1e-3)


def test_the_same_bits_on_any_number_of_threads(wine):
    maps = [lehr.GTM(n_nodes=6, n_basis=3, n_jobs=threads).fit(wine).embedding_ for threads in (1, 2, 8)]
    for other in maps[1:]:
        np.testing.assert_array_equal(other, maps[0])


def _places(folder):
    with open(folder / "places.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row["z1"]), float(row["z2"])] for row in rows]), [int(row["node"]) for row in rows]


def test_places_are_those_of_the_command_with_gaps_and_without(command, wine, tmp_path):
    gaps = wine.copy()
    gaps[np.random.default_rng(2).random(wine.shape) < 0.1] = np.nan
    for name, X, more in [("whole", wine, []), ("gaps", gaps, ["--missing"])]:
        np.save(tmp_path / f"{name}.npy", X)
        options = ["--nodes", "8", "--basis", "3", "--scale", "none", *more]
        subprocess.run(
            [command, "gtm", tmp_path / f"{name}.npy", *options, "--out", tmp_path / name, "--quiet"], check=True
        )
        positions, nodes = _places(tmp_path / name)
        model = lehr.GTM(n_nodes=8, n_basis=3).fit(X)
        np.testing.assert_array_equal(model.embedding_, positions)
        assert model.modes_.tolist() == nodes


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"n_components": 4}, ValueError, "'n_components' parameter of GTM must be an int in the range \\[1, 3\\]. Got 4 instead"),
        ({"n_components": 3}, ValueError, "n_components=3 must be at most n_features=2"),
        ({"n_nodes": 1}, ValueError, "'n_nodes' parameter of GTM must be an int in the range \\[2, 10000\\] or None"),
        ({"n_nodes": 3, "n_basis": 4}, ValueError, "'n_basis' parameter must be at most as many functions as there are nodes"),
        ({"width": 0.0}, ValueError, "'width' parameter of GTM must be a float in the range \\[0.1, 10.0\\]"),
        ({"regularization": "soft"}, TypeError, "'regularization' parameter of GTM must be a float in the range"),
        ({"init": "random"}, ValueError, "'init' parameter of GTM must be a str among {'both', 'annealed', 'plane'}. Got 'random' instead"),
        ({"max_iter": 0}, ValueError, "'max_iter' parameter of GTM must be an int in the range"),
    ],
)
def test_parameters_that_cannot_be(parameters, kind, words):
    with pytest.raises(kind, match=words):
        lehr.GTM(**parameters).fit([[0.0, 1.0], [1.0, 5.0], [5.0, 2.0]])


def test_data_that_cannot_be():
    with pytest.raises(ValueError, match="the same in all rows"):
        lehr.GTM(1).fit([[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="no value in any row"):
        lehr.GTM(1).fit([[1.0, np.nan], [2.0, np.nan]])
    with pytest.raises(ValueError, match="infinity"):
        lehr.GTM(1).fit([[1.0], [np.inf]])
    model = lehr.GTM(1, n_nodes=5, n_basis=2).fit([[0.0, 1.0], [1.0, 5.0], [5.0, 2.0]])
    with pytest.raises(ValueError, match="expected places of 1 coordinates, found 2"):
        model.inverse_transform([[0.0, 0.0]])


@pytest.mark.thread_unsafe(reason="pyplot draws for one thread")
def test_rows_are_drawn_over_what_is_stretched(wine):
    ax = lehr.GTM(n_nodes=6, n_basis=3).fit(wine).plot(lehr.datasets.load_wine().target)
    mesh, rows = ax.collections
    assert len(rows.get_offsets()) == len(wine)
    assert mesh.get_array().size == 36
    cube = lehr.GTM(3, n_nodes=4, n_basis=2).fit(wine)
    assert len(cube.plot().collections[0].get_offsets()) == len(wine)
    with pytest.raises(ValueError, match="expected labels of the 178 rows"):
        cube.plot(labels=[1, 2])
