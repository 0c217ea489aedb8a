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
