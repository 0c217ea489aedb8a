"""Rows of bits: compared with the clusters of the same rows as numbers, and with the clusters of the command."""

import csv
import subprocess

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.base import clone

import lehr


@pytest.fixture(scope="module")
def rows():
    """Returns three kinds of rows of 70 bits: 80, 60 and 40 rows. The different weights determine the order of the clusters."""
    draw = np.random.default_rng(4)
    shares = draw.choice([0.1, 0.8], size=(3, 70))
    return (draw.random((180, 70)) < np.repeat(shares, [80, 60, 40], axis=0)).astype(np.uint8)


def _packed(rows):
    return lehr.Fingerprints(np.packbits(rows, axis=1, bitorder="little"), rows.shape[1])


@pytest.mark.parametrize(
    "estimator",
    [lehr.DAClustering(3), lehr.DAClustering(), lehr.DAClustering(2, outlier_radius=4.0), lehr.KMeans(3, n_init=2), lehr.KMeans(3, precision="single")],
    ids=repr,
)
@pytest.mark.parametrize("columns", [70, 9])
def test_clusters_are_those_of_the_same_rows_as_numbers(estimator, columns, rows):
    rows = rows[:, :columns]
    bits, weights = _packed(rows), np.arange(180) % 4
    for more in ({}, {"sample_weight": weights}):
        fitted = clone(estimator).fit(bits, **more)
        assert fitted.n_features_in_ == columns and not hasattr(fitted, "feature_names_in_")
        numbers = clone(estimator).fit(rows.astype(float), **more)
        np.testing.assert_array_equal(fitted.labels_, numbers.labels_)
        np.testing.assert_allclose(fitted.cluster_centers_, numbers.cluster_centers_, atol=1e-12)
        np.testing.assert_array_equal(fitted.predict(bits), numbers.predict(rows))
        np.testing.assert_allclose(fitted.transform(bits), numbers.transform(rows), atol=1e-7)
        assert fitted.score(bits, **more) == pytest.approx(numbers.score(rows, **more), rel=1e-12)


@pytest.mark.parametrize("method", ["da", "kmeans"])
def test_labels_are_those_of_the_command(method, command, rows, tmp_path):
    np.save(tmp_path / "rows.npy", np.packbits(rows, axis=1))
    line = [command, "cluster", tmp_path / "rows.npy", "--bits", "70", "--clusters", "3", "--method", method]
    subprocess.run([*line, "--out", tmp_path / "out", "--quiet"], check=True)
    with open(tmp_path / "out" / "labels.csv", newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    model = (lehr.DAClustering(3) if method == "da" else lehr.KMeans(3)).fit(_packed(rows))
    assert model.labels_.tolist() == labels
    np.testing.assert_array_equal(lehr.load(tmp_path / "out" / "model.json").cluster_centers_, model.cluster_centers_)


def test_many_rows_are_unpacked_in_parts(rows):
    model = lehr.KMeans(3).fit(_packed(rows))
    many = np.tile(rows, (15, 1))
    np.testing.assert_allclose(model.transform(_packed(many)), model.transform(many), atol=1e-7)
    assert model.fit_predict(_packed(rows)).tolist() == model.labels_.tolist()


@pytest.mark.thread_unsafe(reason="pyplot draws for one thread")
def test_a_start_that_is_given_and_a_picture(rows):
    matplotlib.use("Agg")
    model = lehr.KMeans(3, init=rows[[0, 80, 140]]).fit(_packed(rows))
    assert len(model.inertias_) == 1
    assert len(model.plot(_packed(rows)).collections[0].get_offsets()) == 180
    plt.close("all")


def test_bits_that_cannot_be(rows):
    model = lehr.DAClustering(3).fit(_packed(rows))
    with pytest.raises(ValueError, match="X has 69 features, but DAClustering is expecting 70 features as input"):
        model.predict(_packed(rows[:, :69]))
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        lehr.KMeans(4).fit(_packed(rows[:3]))
    with pytest.raises(ValueError, match=r"expected \(180,\)"):
        model.fit(_packed(rows), sample_weight=[1.0])
