"""The outlier radius: rows that are far from every centre are in no cluster."""

import csv
import subprocess

import matplotlib
import numpy as np
import pytest

import lehr

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def scattered():
    """Returns two groups, 1 wide and 20 apart, and ten rows at the end that are in neither group."""
    random = np.random.default_rng(11)
    groups = [random.normal(center, 1.0, (60, 2)) for center in ([0.0, 0.0], [20.0, 0.0])]
    far = np.column_stack([np.linspace(-60.0, 60.0, 10), np.full(10, 45.0)])
    return np.concatenate([*groups, far])


def test_what_is_far_from_all_is_an_outlier_and_moves_no_centre(scattered):
    model = lehr.DAClustering(2, outlier_radius=6.0).fit(scattered)
    assert np.flatnonzero(model.labels_ == -1).tolist() == list(range(120, 130))
    np.testing.assert_allclose(np.sort(model.cluster_centers_[:, 0]), [0.0, 20.0], atol=0.5)
    assert model.clusters_["n_samples"].sum() == 120
    inside = lehr.DAClustering(2).fit(scattered[:120])
    assert model.inertia_ == pytest.approx(inside.inertia_)
    np.testing.assert_array_equal(model.predict(scattered), model.labels_)
    assert model.predict([[0.0, 5.9], [0.0, 30.0]]).tolist() == [model.labels_[0], -1]
    # Rows outside the radius count as if they were at the radius.
    assert model.score(scattered) == pytest.approx(-(model.inertia_ + 10 * 36.0))


def test_labels_are_those_of_the_command(command, scattered, tmp_path):
    np.save(tmp_path / "rows.npy", scattered)
    line = [command, "cluster", tmp_path / "rows.npy", "--clusters", "2", "--outlier-radius", "6", "--scale", "none"]
    subprocess.run([*line, "--out", tmp_path / "out", "--quiet"], check=True)
    with open(tmp_path / "out" / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    model = lehr.DAClustering(2, outlier_radius=6.0).fit(scattered)
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert [float(row["probability"]) for row in rows] == model.probabilities_.tolist()


def test_a_saved_sponge_is_one(scattered, tmp_path):
    lehr.DAClustering(2, outlier_radius=6.0).fit(scattered).save(tmp_path / "model")
    loaded = lehr.DAClustering.load(tmp_path / "model")
    assert loaded.set_params(outlier_radius=None).predict([[0.0, 30.0]]).tolist() == [-1]


@pytest.mark.thread_unsafe(reason="pyplot draws for one thread")
def test_outliers_are_drawn_apart(scattered):
    ax = lehr.DAClustering(2, outlier_radius=6.0).fit(scattered).plot(scattered)
    assert [len(drawn.get_offsets()) for drawn in ax.collections] == [120, 10, 2]


def test_a_sponge_that_holds_most_is_refused(scattered):
    with pytest.raises(ValueError, match="take a larger radius, or more clusters"):
        lehr.DAClustering(1, outlier_radius=1e-3).fit(scattered)
    for wrong in (0.0, -1.0):
        with pytest.raises(ValueError, match=r"'outlier_radius' parameter of DAClustering must be a float in the range \(0.0, inf\) or None"):
            lehr.DAClustering(1, outlier_radius=wrong).fit(scattered)
