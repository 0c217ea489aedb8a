"""Saved models."""

import csv
import json
import pickle
import subprocess

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline

import lehr
from lehr import _native


@pytest.mark.parametrize(
    "model",
    [
        lehr.AgglomerativeClustering(3),
        lehr.AgglomerativeClustering(linkage="ward"),
        lehr.DAClustering(3),
        lehr.DAClustering(),
        lehr.DAGaussianMixture(2),
        lehr.GTM(n_nodes=6, n_basis=3),
        lehr.GTM(1, n_nodes=20, n_basis=4, init="plane"),
        lehr.KMeans(3),
        lehr.KMedoids(3),
        lehr.PairwiseClustering(3),
        lehr.SMACOF(),
    ],
    ids=repr,
)
def test_a_model_comes_back_as_it_was(model, wine, tmp_path):
    path = tmp_path / "model"
    model = clone(model).fit(wine)
    model.save(path)
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
    with pytest.raises(ValueError, match="expected a model of SMACOF, found one of DAClustering"):
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
        (lehr.DAClustering(3, outlier_radius=4.0), "cluster"),
        (lehr.KMeans(5), "cluster"),
        (lehr.DAGaussianMixture(3, covariance_type="diag"), "component"),
        (lehr.DAGaussianMixture(2), "component"),
        (lehr.GTM(n_nodes=6, n_basis=3), "node"),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_command_says_of_other_rows_what_the_estimator_says(model, column, command, wine, tmp_path):
    model = clone(model).fit(wine[::2])
    model.export(tmp_path / "model.json")
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


def _command(command, *arguments):
    ended = subprocess.run([command, *map(str, arguments)], check=True, capture_output=True, text=True)
    return list(csv.DictReader(ended.stdout.splitlines()))


@pytest.mark.parametrize(
    ("line", "column", "kind"),
    [
        (["cluster", "--clusters", "4", "--scale", "none"], "cluster", lehr.DAClustering),
        (["cluster", "--clusters", "3", "--scale", "none", "--outlier-radius", "90"], "cluster", lehr.DAClustering),
        (["cluster", "--clusters", "4", "--scale", "std"], "cluster", lehr.DAClustering),
        (["cluster", "--clusters", "4", "--scale", "robust", "--method", "kmeans"], "cluster", lehr.KMeans),
        (["mixture", "--components", "2", "--covariance", "diagonal"], "component", lehr.DAGaussianMixture),
        (["mixture", "--components", "2", "--covariance", "tied", "--scale", "none"], "component", lehr.DAGaussianMixture),
        (["gtm", "--nodes", "6", "--basis", "3"], "node", lehr.GTM),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_model_of_the_command_says_of_other_rows_what_the_command_says(line, column, kind, command, tmp_path):
    data = lehr.datasets.load_wine().data
    method, *options = line
    np.save(tmp_path / "some.npy", data[::2])
    np.save(tmp_path / "others.npy", data[1::2])
    subprocess.run([command, method, tmp_path / "some.npy", *options, "--out", tmp_path / "out", "--quiet"], check=True)
    path = tmp_path / "out" / "model.json"
    rows = _command(command, "predict", path, tmp_path / "others.npy")
    model = lehr.load(path)
    last = model[-1] if hasattr(model, "steps") else model
    assert type(last) is kind and last.n_features_in_ == 13
    if kind is lehr.GTM:
        positions = np.array([[float(row["z1"]), float(row["z2"])] for row in rows])
        np.testing.assert_array_equal(positions, model.transform(data[1::2]))
        assert last.means_.shape == (36, 13) and last.magnifications_.shape == (36,)
    else:
        labels = [int(row[column]) if row[column] else -1 for row in rows]
        assert model.predict(data[1::2]).tolist() == labels
        assert ("--outlier-radius" in line) == (-1 in labels)
    if kind is lehr.DAGaussianMixture:
        np.testing.assert_allclose(model.score_samples(data[1::2]), [float(row["log_density"]) for row in rows], rtol=1e-13)
        assert last.covariances_.shape == ((2, 13) if "diagonal" in line else (13, 13))
    # A loaded model is written again unchanged, and can be pickled like every estimator.
    last.export(tmp_path / "again.json")
    written, read = (json.loads(file.read_text()) for file in (path, tmp_path / "again.json"))
    assert read["model"] == written["model"]
    asked = "transform" if kind is lehr.GTM else "predict"
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(getattr(copy, asked)(data), getattr(model, asked)(data))
    last.save(tmp_path / "saved")
    assert lehr.load(tmp_path / "saved").get_params() == last.get_params()


def test_names_of_columns_come_from_the_table_and_places_go_onto_the_sphere(command, tmp_path):
    pandas = pytest.importorskip("pandas")
    draw = np.random.default_rng(0)
    places = np.concatenate([draw.normal([179.5, -17.0], 0.7, size=(45, 2)), draw.normal([10.0, 50.0], 0.7, size=(35, 2))])
    places[:, 0] = (places[:, 0] + 180.0) % 360.0 - 180.0
    frame = pandas.DataFrame(places, columns=["lon", "lat"])
    frame.to_csv(tmp_path / "places.csv", index=False)
    line = [command, "cluster", tmp_path / "places.csv", "--clusters", "2", "--lonlat", "--out", tmp_path / "out", "--quiet"]
    subprocess.run(line, check=True)
    model = lehr.load(tmp_path / "out" / "model.json")
    assert model[:-1].transform(frame).shape == (80, 3) and model[0].feature_names_in_.tolist() == ["lon", "lat"]
    rows = _command(command, "predict", tmp_path / "out" / "model.json", tmp_path / "places.csv")
    assert model.predict(frame).tolist() == [int(row["cluster"]) for row in rows] == [0] * 45 + [1] * 35
    assert pickle.loads(pickle.dumps(model)).predict(frame).tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="a latitude of -90 to 90 degrees"):
        model.predict(pandas.DataFrame([[0.0, 91.0]], columns=["lon", "lat"]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["lat", "lon"]])


def test_sparse_rows_are_scaled_as_the_command_scaled_them(command, tmp_path):
    draw = np.random.default_rng(2)
    counts = draw.poisson(0.2, size=(200, 40)) + draw.poisson(2.0, size=(200, 40)) * (np.arange(40) // 20 == (np.arange(200) % 2)[:, None])
    texts = scipy.sparse.csr_array(counts.astype(float))
    scipy.io.mmwrite(tmp_path / "texts.mtx", scipy.sparse.coo_array(texts))
    for scale, kind in (("std", Pipeline), ("none", lehr.DAClustering)):
        line = [command, "cluster", tmp_path / "texts.mtx", "--clusters", "2", "--scale", scale, "--out", tmp_path / scale, "--quiet"]
        subprocess.run(line, check=True)
        model = lehr.load(tmp_path / scale / "model.json")
        rows = _command(command, "predict", tmp_path / scale / "model.json", tmp_path / "texts.mtx")
        assert isinstance(model, kind)
        assert model.predict(texts).tolist() == [int(row["cluster"]) for row in rows]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: "id,x\n", "expected a model, found no JSON"),
        (lambda model: "[1]", "expected a model: the model.json in the folder"),
        (lambda model: {**model, "format": 9}, "expected a model of format 1, found format 9"),
        (lambda model: {key: model[key] for key in model if key != "shifts"}, "expected the fields columns, divisors"),
        (lambda model: {**model, "hue": 1}, "expected the fields columns, divisors"),
        (lambda model: {**model, "columns": ["x"]}, "a name, a shift and a divisor for each of 13 columns"),
        (lambda model: {**model, "divisors": [0.0] * 13}, "divisors above 0"),
        (lambda model: {**model, "shifts": ["a"] * 13}, "expected numbers as shifts"),
        (lambda model: {**model, "lonlat": True}, "expected clusters in three dimensions"),
        (lambda model: {**model, "model": {"forest": {}}}, "expected clusters, a mixture, a gtm, medoids, .* found \"forest\""),
        (lambda model: {**model, "model": {"clusters": {}}}, r"not a whole model \(missing field"),
        (lambda model: {**model, "model": {"clusters": {**model["model"]["clusters"], "dimension": 12}}}, "centers: expected at least one centre"),
        (
            lambda model: {**model, "model": {"clusters": {**model["model"]["clusters"], "centers": [0.5] * 26, "bernoulli": True}}},
            "clusters by likelihood",
        ),
    ],
)
def test_what_is_no_model_of_the_command_is_refused_with_its_name(change, words, wine, tmp_path):
    path = tmp_path / "model.json"
    lehr.KMeans(2).fit(wine).export(path)
    content = json.loads(path.read_text())
    # With its checksum, a changed model is refused whatever was changed.
    path.write_text(json.dumps({**content, "shifts": [1.0] * 13}))
    with pytest.raises(ValueError, match="damaged or changed: .* remove its \"checksum\""):
        lehr.load(path)
    del content["checksum"]
    changed = change(content)
    path.write_text(changed if isinstance(changed, str) else json.dumps(changed))
    with pytest.raises(ValueError, match=words) as raised:
        lehr.load(path)
    assert str(raised.value).startswith(f"{path}: ")


def test_what_was_saved_is_loaded_by_whom_it_names(wine, tmp_path):
    path = tmp_path / "model"
    for model in (lehr.SMACOF(), lehr.KMeans(2), lehr.DAGaussianMixture(2)):
        model.fit(wine).save(path)
        assert type(lehr.load(path)) is type(model)
    _native.write_model(path, json.dumps({"method": "forest", "version": "1", "parameters": {}, "fitted": {}}))
    with pytest.raises(ValueError, match="expected a model of AgglomerativeClustering, DAClustering, .* found one of 'forest'"):
        lehr.load(path)
    with pytest.raises(FileNotFoundError):
        lehr.load(tmp_path / "none")
