"""Pictures: what is drawn, not how it looks."""

import matplotlib
import numpy as np
import pytest

import lehr

matplotlib.use("Agg")


@pytest.mark.parametrize("columns", [1, 2, 13])
def test_all_rows_and_centres_are_drawn(columns, wine):
    X = wine[:, :columns]
    ax = lehr.DAClustering(3).fit(X).plot(X)
    rows, centers = ax.collections
    assert (len(rows.get_offsets()), len(centers.get_offsets())) == (len(X), 3)


def test_other_rows_than_those_fitted_are_refused(wine):
    with pytest.raises(ValueError, match="expected the 178 rows"):
        lehr.DAClustering(3).fit(wine).plot(wine[1:])


def test_a_map_and_its_diagram(wine):
    model = lehr.SMACOF().fit(wine)
    ax = model.plot(lehr.datasets.load_wine().target)
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), model.embedding_)
    assert model.shepard_["counts"].sum() == len(wine) * (len(wine) - 1) // 2
    assert lehr.plot.shepard(model).get_ylabel() == "dissimilarity"


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
            # Its axes end one standard deviation from the mean, and are uncorrelated.
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
