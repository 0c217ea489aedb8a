"""Plots: their content, not their appearance."""

import json

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator

import lehr

matplotlib.use("Agg")

pytestmark = pytest.mark.thread_unsafe(reason="pyplot draws for one thread")


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("columns", [1, 2, 13])
def test_all_rows_and_centres_are_drawn(columns, wine):
    X = wine[:, :columns]
    ax = lehr.DAClustering(3).fit(X).plot(X)
    rows, centers = ax.collections
    assert (len(rows.get_offsets()), len(centers.get_offsets())) == (len(X), 3)


def test_a_model_without_labels_is_refused(wine, tmp_path):
    lehr.KMeans(2).fit(wine).export(tmp_path / "model.json")
    with pytest.raises(ValueError, match="a model that the command wrote has no labels of its rows"):
        lehr.load(tmp_path / "model.json").plot(wine)


def test_other_rows_than_those_fitted_are_refused(wine):
    with pytest.raises(ValueError, match="expected the 178 rows"):
        lehr.DAClustering(3).fit(wine).plot(wine[1:])


@pytest.mark.parametrize("columns", [2, 13])
def test_sparse_rows_are_drawn_where_the_same_rows_are_with_their_zeros(columns, wine):
    X = np.where(wine[:, :columns] > 0.5, wine[:, :columns], 0.0)
    model = lehr.KMeans(3).fit(X)
    dense, sparse = (model.plot(rows).collections for rows in (X, csr_array(X)))
    for expected, found in zip(dense, sparse, strict=True):
        # The direction of an axis is arbitrary.
        np.testing.assert_allclose(np.abs(found.get_offsets()), np.abs(expected.get_offsets()), atol=1e-6)


def test_of_a_mixture_rows_with_gaps_are_left_out(wine):
    X = wine[:, :4].copy()
    X[::10, 2] = np.nan
    model = lehr.DAGaussianMixture(2).fit(X)
    assert len(model.plot(X).collections[0].get_offsets()) == 178 - 18
    X[1:, 3] = np.nan
    with pytest.raises(ValueError, match="expected two rows or more without a missing cell, found 0"):
        model.plot(X)


def test_a_map_and_its_diagram(wine):
    model = lehr.SMACOF().fit(wine)
    ax = model.plot(lehr.datasets.load_wine().target)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), model.embedding_)
    assert model.shepard_["counts"].sum() == len(wine) * (len(wine) - 1) // 2
    assert lehr.plot.shepard(model).get_ylabel() == "dissimilarity"


def _named(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_clusters_have_a_legend_unless_they_are_too_many(wine):
    assert _named(lehr.KMeans(3).fit(wine).plot(wine)) == ["cluster 0", "cluster 1", "cluster 2", "centre"]
    assert _named(lehr.DAClustering(3, outlier_radius=4.0).fit(wine).plot(wine))[-2:] == ["no cluster", "centre"]
    assert lehr.KMeans(25).fit(wine).plot(wine).get_legend() is None


def test_labels_that_are_numbers_are_drawn_on_a_scale_and_others_as_classes(wine):
    model = lehr.SMACOF().fit(wine)
    for classes in (lehr.datasets.load_wine().target, np.array(["a", "b"])[np.arange(178) % 2], np.arange(178.0) % 3, np.arange(178) % 2 == 0):
        ax = model.plot(classes)
        assert _named(ax) == [str(name) for name in np.unique(classes)] and len(ax.figure.axes) == 1
        assert len(np.unique(ax.collections[0].to_rgba(ax.collections[0].get_array()), axis=0)) == len(np.unique(classes))
    for numbers in (wine[:, 0], np.arange(178)):
        ax = model.plot(numbers)
        assert ax.get_legend() is None and len(ax.figure.axes) == 2
        np.testing.assert_array_equal(ax.collections[0].get_array(), numbers)
    with pytest.raises(ValueError, match=r"expected labels of the 178 rows that were fitted, found an array of shape \(177,\)"):
        model.plot(wine[1:, 0])


def test_public_modules_show_public_names_only():
    for name in ("agglomerative", "plot", "ranks", "runtime", "services", "datasets", "report", "kmeans", "manifold", "mixture", "cluster", "distances"):
        module = getattr(lehr, name)
        assert dir(module) == sorted(module.__all__)


def test_annealing_shows_each_division(wine):
    model = lehr.DAClustering(3).fit(wine)
    ax = lehr.plot.annealing(model)
    assert [text.get_text() for text in ax.texts] == [str(count) for count in model.splits_["n_clusters"]]
    assert ax.xaxis.get_inverted()


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("columns", [1, 2, 13])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_mixture_has_an_ellipse_for_each_component(form, columns, wine):
    X = wine[:, :columns]
    model = lehr.DAGaussianMixture(3, covariance_type=form).fit(X)
    ax = model.plot(X)
    assert len(ax.patches) == 3
    if columns == 2:
        matrices = np.array(lehr.plot._covariances(model))
        for ellipse, mean, matrix in zip(ax.patches, model.means_, matrices, strict=True):
            np.testing.assert_allclose(ellipse.center, mean)
            # The axes of the ellipse end one standard deviation from the mean, and are uncorrelated.
            turn = np.radians(ellipse.angle)
            ends = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]) * [[ellipse.width / 2], [ellipse.height / 2]]
            np.testing.assert_allclose(ends @ np.linalg.inv(matrix) @ ends.T, np.eye(2), atol=1e-9)


def test_items_are_shown_by_cluster(wine, two_pairs):
    mixed = two_pairs[np.ix_([0, 2, 1, 3], [0, 2, 1, 3])]
    ax = lehr.PairwiseClustering(2, metric="precomputed").fit(mixed).plot(mixed)
    np.testing.assert_array_equal(ax.images[0].get_array(), two_pairs)
    assert [line.get_ydata()[0] for line in ax.lines[::2]] == [1.5]
    assert lehr.PairwiseClustering(3).fit(wine).plot().images[0].get_array().shape == (178, 178)
    with pytest.raises(ValueError, match="are not kept. Pass them"):
        lehr.PairwiseClustering(2, metric="precomputed").fit(mixed).plot()
    with pytest.raises(ValueError, match=r"found an array of shape \(4, 3\)"):
        lehr.PairwiseClustering(2, metric="precomputed").fit(mixed).plot(mixed[:, :3])


@pytest.mark.parametrize("clusters", [1, 3, 8])
def test_the_tree_has_a_branch_for_each_cluster_and_a_fork_for_each_division(clusters, wine):
    for model in (lehr.DAClustering(clusters).fit(wine), lehr.PairwiseClustering(clusters).fit(wine)):
        ax = model.plot_tree()
        title = ax.get_title()
        assert ax.xaxis.get_inverted() and title.startswith("1 cluster" if clusters == 1 else f"{clusters} clusters")
        branches = [line for line in ax.lines if line.get_color() == "black"]
        forks = [line for line in ax.lines if line.get_color() == "tab:red"]
        divisions = model.splits_
        assert (len(branches), len(forks)) == (2 * len(divisions) + 1, len(divisions))
        assert ("dotted" in title) == any(fork.get_linestyle() == ":" for fork in forks)
        assert len([line for line in ax.lines if line.get_color() == "grey"]) == np.count_nonzero(divisions["merged_into"] >= 0)
        np.testing.assert_allclose([fork.get_xdata()[0] for fork in forks], [split["temperature"] for split in divisions])
        # Each branch except the first begins at one end of a fork, and no two branches overlap.
        ends = {(line.get_xdata()[0], height) for line in forks for height in line.get_ydata()}
        assert {(branch.get_xdata()[0], branch.get_ydata()[0]) for branch in branches[1:]} == ends
        leaves = [branch.get_ydata()[0] for branch in branches if branch.get_xdata()[1] not in {x for x, _ in ends}]
        assert len(leaves) == len(set(leaves))


def test_a_tree_shows_where_clusters_merged():
    class Merged(BaseEstimator):
        """Three clusters, one of which merged into another before that one divided again."""

        history_ = np.array([(9.0,), (4.0,), (3.5,), (3.0,), (1.0,)], dtype=[("temperature", float)])
        splits_ = np.array(
            [(5.0, 0, 2, np.nan, -1), (4.0, 1, 3, 3.5, 0), (3.0, 0, 3, np.nan, -1)],
            dtype=[("temperature", float), ("parent", int), ("n_clusters", int), ("merged_at", float), ("merged_into", int)],
        )
        clusters_ = np.zeros(3)

        def fit(self):
            pass

        def __sklearn_is_fitted__(self):
            return True

    ax = lehr.plot.annealing_tree(Merged())
    assert ax.get_title() == "3 clusters"
    branches = [line for line in ax.lines if line.get_color() == "black"]
    (merge,) = [line for line in ax.lines if line.get_color() == "grey"]
    assert len(branches) == 7 and min(min(branch.get_xdata()) for branch in branches) == 1.0
    # The merged branch ends at the grey line, which leads to the branch of component 0 before its second division.
    assert list(merge.get_xdata()) == [3.5, 3.5]
    ended, into = ([tuple(branch.get_xdata()) for branch in branches if branch.get_ydata()[0] == height] for height in merge.get_ydata())
    assert (4.0, 3.5) in ended and (5.0, 3.0) in into


def test_overheads_are_drawn_against_the_points_of_a_rank(tmp_path):
    figures = [
        {"experiment": "overhead", "layout": layout, "rows": rows, "clusters": clusters, "min": 0.1, "median": 0.2 + rows / 1e6, "max": 0.5}
        for layout in ("2x1x1", "1x4x1") for clusters in (10, 20) for rows in (20000, 5000)
    ]  # fmt: skip
    others = [{"experiment": "run", "layout": "2x1x1", "rows": 1, "clusters": 10, "min": 1, "median": 1, "max": 1}, {**figures[0], "method": "pairs"}]
    record = tmp_path / "overhead.json"
    record.write_text(json.dumps(figures + others))
    ax = lehr.plot.overhead(record)
    assert ax.get_title() == "20 clusters"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["2 threads", "4 processes"]
    lines = [container.lines[0] for container in ax.containers]
    np.testing.assert_allclose([line.get_xdata(orig=False) for line in lines], [[2500, 10000], [1250, 5000]])
    np.testing.assert_allclose(lines[0].get_ydata(orig=False), [0.205, 0.22])
    assert lehr.plot.overhead(figures, n_clusters=10).get_title() == "10 clusters"
    with pytest.raises(ValueError, match=r"one of the numbers of clusters \[10, 20\], found 7"):
        lehr.plot.overhead(figures, n_clusters=7)
    with pytest.raises(ValueError, match="no overhead in it"):
        lehr.plot.overhead(others)


def test_components_have_a_legend_and_blocks_their_numbers(wine):
    X = wine[:, :4]
    assert _named(lehr.DAGaussianMixture(2).fit(X).plot(X)) == ["component 0", "component 1", "mean"]
    distances = lehr.pairwise_distances(wine)
    for model, given in ((lehr.KMedoids(3), wine), (lehr.KMedoids(3, metric="precomputed"), distances), (lehr.PairwiseClustering(3, metric="precomputed"), distances)):
        fig, own = plt.subplots()
        ax = model.fit(given).plot(given, ax=own)
        assert ax is own
        assert [text.get_text() for text in ax.get_yticklabels()] == ["0", "1", "2"]
        order = np.argsort(model.labels_, kind="stable")
        np.testing.assert_allclose(ax.images[0].get_array(), distances[np.ix_(order, order)])
