"""Models on disk."""

import csv
import json
import subprocess

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import lehr
from lehr import _native


@pytest.mark.parametrize(
    "model",
    [
        lehr.DAClustering(3),
        lehr.DAClustering(),
        lehr.DAGaussianMixture(2),
        lehr.GTM(n_nodes=6, n_basis=3),
        lehr.GTM(1, n_nodes=20, n_basis=4, init="plane"),
        lehr.KMeans(3),
        lehr.PairwiseClustering(3),
        lehr.SMACOF(),
    ],
    ids=repr,
)
def test_a_model_comes_back_as_it_was(model, wine, tmp_path):
    path = tmp_path / "model"
    model.fit(wine).save(path)
    copy = type(model).load(path)
    assert copy.get_params() == model.get_params()
    for name, value in vars(model).items():
        if isinstance(value, np.ndarray):
            read = getattr(copy, name)
            assert read.dtype == value.dtype
            for column in value.dtype.names or [...]:
                np.testing.assert_array_equal(read[column], value[column], err_msg=name)
    method = "transform" if isinstance(model, (lehr.GTM, lehr.SMACOF)) else "predict"
    np.testing.assert_array_equal(getattr(copy, method)(wine[:9]), getattr(model, method)(wine[:9]))


def test_the_format_is_what_the_documentation_says(wine, tmp_path):
    path = tmp_path / "model"
    lehr.DAClustering(3).fit(wine).save(path)
    head, content, end = path.read_text().split("\n")
    assert head.split()[:4] == ["lehr", "model", "1", "xxh3"] and end == ""
    model = json.loads(content)
    assert model["method"] == "vector" and model["parameters"]["n_clusters"] == 3
    assert model["fitted"]["cluster_centers_"]["shape"] == [3, 13]


def test_what_is_no_model_is_refused(wine, tmp_path):
    path = tmp_path / "model"
    with pytest.raises(NotFittedError):
        lehr.DAClustering().save(path)
    assert not path.exists()
    lehr.DAClustering(3).fit(wine).save(path)
    with pytest.raises(ValueError, match="expected a model of 'smacof', found one of 'vector'"):
        lehr.SMACOF.load(path)
    path.write_bytes(path.read_bytes().replace(b'"n_clusters": 3', b'"n_clusters": 4'))
    with pytest.raises(ValueError, match="does not match its hash"):
        lehr.DAClustering.load(path)
    for content, words in [
        ({"method": "vector"}, "expected the fields fitted, method, parameters, version"),
        ({"method": "vector", "version": "9.0", "parameters": {"hue": 1}, "fitted": {}}, r"lehr 9\.0 wrote it.*knows no hue"),
    ]:
        _native.write_model(path, json.dumps(content))
        with pytest.raises(ValueError, match=words):
            lehr.DAClustering.load(path)
    with pytest.raises(FileNotFoundError):
        lehr.DAClustering.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("model", "column"),
    [
        (lehr.DAClustering(5), "cluster"),
        (lehr.DAClustering(3, sponge=4.0), "cluster"),
        (lehr.KMeans(5), "cluster"),
        (lehr.DAGaussianMixture(3, covariance_type="diag"), "component"),
        (lehr.DAGaussianMixture(2), "component"),
        (lehr.GTM(n_nodes=6, n_basis=3), "node"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_command_says_of_other_rows_what_the_estimator_says(model, column, command, wine, tmp_path):
    model.fit(wine[::2]).export(tmp_path / "model.json")
    others = wine[1::2]
    np.save(tmp_path / "others.npy", others)
    ended = subprocess.run(
        [command, "predict", tmp_path / "model.json", tmp_path / "others.npy"], check=True, capture_output=True, text=True
    )
    rows = list(csv.DictReader(ended.stdout.splitlines()))
    if isinstance(model, lehr.GTM):
        positions = np.array([[float(row["z1"]), float(row["z2"])] for row in rows])
        np.testing.assert_array_equal(positions, model.transform(others))
    else:
        assert [int(row[column]) for row in rows] == model.predict(others).tolist()
    if hasattr(model, "score_samples"):
        np.testing.assert_array_equal([float(row["log_density"]) for row in rows], model.score_samples(others))


def test_columns_have_their_names_in_what_is_exported(wine, tmp_path):
    pandas = pytest.importorskip("pandas")
    with pytest.raises(NotFittedError):
        lehr.KMeans(2).export(tmp_path / "model.json")
    lehr.KMeans(2).fit(pandas.DataFrame(wine[:, :2], columns=["alcohol", "malic acid"])).export(tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["columns"] == ["alcohol", "malic acid"]
    with pytest.raises(FileNotFoundError):
        lehr.KMeans(2).fit(wine).export(tmp_path / "none" / "model.json")
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
