"""Every estimator, written and read again in each form: its predictions are bit-identical in Python and in the command."""

import csv
import json
import subprocess
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from sklearn.base import clone

import lehr
from lehr._load import _SAVED

#: Estimators of rows, and of dissimilarities.
_OF_ROWS = [
    lehr.DAClustering(3),
    lehr.DAClustering(3, outlier_radius=120.0),
    lehr.KMeans(4),
    lehr.MiniBatchKMeans(3),
    lehr.KMedoids(3),
    lehr.DAGaussianMixture(2, covariance_type="diag"),
    lehr.DAGaussianMixture(2, covariance_type="tied"),
    lehr.GTM(n_nodes=6, n_basis=3),
]
_OF_ITEMS = [
    lehr.KMedoids(3, metric="precomputed"),
    lehr.AgglomerativeClustering(3, metric="precomputed"),
    lehr.PairwiseClustering(3, metric="precomputed"),
    lehr.SMACOF(metric="precomputed"),
    lehr.SMACOF(3, metric="precomputed", n_neighbors=6),
]


def _said(model, X):
    """Returns what a model says of rows: labels, or positions on a map."""
    return model.predict(X) if hasattr(model, "predict") else model.transform(X)


def _fitted(model, wine):
    """Returns a fitted copy of an estimator, and rows that it has not seen."""
    old, new = wine[::2], wine[1::2]
    if getattr(model, "metric", None) != "precomputed":
        return clone(model).fit(old), new
    return clone(model).fit(lehr.pairwise_distances(old)), lehr.pairwise_distances(new, old)


def _of_command(command, path, table, *options):
    ended = subprocess.run([command, "predict", path, table, *options], check=True, capture_output=True, text=True)
    rows = list(csv.DictReader(ended.stdout.splitlines()))
    if "cluster" in rows[0] or "component" in rows[0]:
        return np.array([int(row.get("cluster", row.get("component"))) for row in rows])
    axes = [name for name in ("z1", "z2", "x", "y", "z") if name in rows[0]]
    return np.array([[float(row[axis]) for axis in axes] for row in rows])


def test_no_estimator_is_forgotten():
    classes = {type(model) for model in [*_OF_ROWS, *_OF_ITEMS]}
    # A preparation has no predictions; its tests are in test_files.py and test_tables.py. Dense groups have no model for new items.
    assert classes | {lehr.HDBSCAN, lehr.TablePreparation} == set(_SAVED)


@pytest.mark.parametrize("model", [*_OF_ROWS, *_OF_ITEMS, lehr.AgglomerativeClustering(3), lehr.PairwiseClustering(3), lehr.SMACOF()], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_saved_model_says_the_same(model, wine, tmp_path):
    model, others = _fitted(model, wine)
    model.save(tmp_path / "model")
    for copy in (lehr.load(tmp_path / "model"), type(model).load(tmp_path / "model")):
        assert type(copy) is type(model)
        np.testing.assert_array_equal(_said(copy, others), _said(model, others))


@pytest.mark.parametrize("model", [*_OF_ROWS, *_OF_ITEMS], ids=repr)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_exported_model_says_the_same_in_python_and_in_the_command(model, command, wine, tmp_path):
    model, others = _fitted(model, wine)
    path, again, table = tmp_path / "model.json", tmp_path / "again.json", tmp_path / "others.npy"
    model.export(path)
    expected = _said(model, others)
    copy = lehr.load(path)
    np.testing.assert_array_equal(_said(copy, others), expected)
    # A model that was read is written again, with the same bits.
    copy.export(again)
    assert json.loads(again.read_text())["model"] == json.loads(path.read_text())["model"]
    np.save(table, others)
    np.testing.assert_array_equal(_of_command(command, path, table), expected)


@pytest.mark.parametrize(
    ("method", "kind"), [("kmedoids", lehr.KMedoids), ("pairwise", lehr.PairwiseClustering), ("hierarchy", lehr.PairwiseClustering), ("embed", lehr.SMACOF)]
)
def test_a_model_of_items_of_the_command_says_the_same_in_python(method, kind, command, wine, tmp_path):
    old, new = wine[::2], wine[1::2]
    np.save(tmp_path / "matrix.npy", lehr.pairwise_distances(old))
    options = [] if method == "embed" else ["--clusters", "3"]
    subprocess.run([command, method, tmp_path / "matrix.npy", *options, "--out", tmp_path / "out", "--quiet"], check=True)
    others = lehr.pairwise_distances(new, old)
    path = tmp_path / "out" / "model.json"
    names = json.loads(path.read_text())["columns"]
    model = lehr.load(tmp_path / "out" / "model.json")
    assert type(model) is kind
    # The columns are found by the ids of the items.
    with open(tmp_path / "others.csv", "w", encoding="utf-8") as file:
        file.write(",".join(str(number) for number in range(len(old))) + "\n")
        file.writelines(",".join(map(repr, row)) + "\n" for row in others.tolist())
    assert set(names) <= {str(number) for number in range(len(old))}
    np.testing.assert_array_equal(_of_command(command, path, tmp_path / "others.csv", "--header"), _said(model, others))


def test_unknown_dissimilarities_are_left_out_as_in_python(command, wine, tmp_path):
    old, new = wine[::2], wine[1::2]
    others = lehr.pairwise_distances(new, old)
    others[np.random.default_rng(0).random(others.shape) < 0.3] = np.nan
    np.save(tmp_path / "others.npy", others)
    for model in (lehr.PairwiseClustering(3, metric="precomputed"), lehr.SMACOF(metric="precomputed")):
        model.fit(lehr.pairwise_distances(old)).export(tmp_path / "model.json")
        said = _of_command(command, tmp_path / "model.json", tmp_path / "others.npy", "--missing")
        np.testing.assert_array_equal(said, _said(model, others))


def test_what_has_no_form_is_refused_with_another_way(wine, tmp_path):
    for model, words in [
        (lehr.KMedoids(2, metric="manhattan"), "metric='manhattan' cannot be exported"),
        (lehr.AgglomerativeClustering(2), "fit with metric='precomputed'"),
        (lehr.PairwiseClustering(2), "fit with metric='precomputed'"),
        (lehr.SMACOF(), "fit with metric='precomputed'"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.fit(wine).export(tmp_path / "model.json")
    D = lehr.pairwise_distances(wine)
    for ending, words in [("pmml", "no model of dissimilarities"), ("onnx", "ONNX has no form")]:
        with pytest.raises(ValueError, match=words):
            lehr.KMedoids(2, metric="precomputed").fit(D).export(tmp_path / f"model.{ending}")
    with pytest.raises(ValueError, match=r"PMML has no model for a mixture of Gaussians.*\.onnx"):
        lehr.DAGaussianMixture(2).fit(wine).export(tmp_path / "model.pmml")
    assert list(tmp_path.iterdir()) == []


def test_a_model_of_a_newer_version_is_refused_with_both_versions(command, wine, tmp_path):
    path = tmp_path / "model.json"
    lehr.KMeans(2).fit(wine).export(path)
    path.write_text(json.dumps({**json.loads(path.read_text()), "format": 2, "version": "9.9.0"}))
    words = f"expected a model of format 1, found format 2: Lehr 9.9.0 wrote it, this is {lehr.__version__}"
    with pytest.raises(ValueError, match=words):
        lehr.load(path)
    np.save(tmp_path / "wine.npy", wine)
    ended = subprocess.run([command, "predict", path, tmp_path / "wine.npy"], capture_output=True, text=True)
    assert ended.returncode == 3 and words in ended.stderr


def _nearest(path, X):
    """Evaluates a PMML file without derived fields: returns the nearest cluster of each row, or -1 beyond the radius, and the distance."""
    space = {"p": "http://www.dmg.org/PMML-4_4"}
    model = ElementTree.parse(path).getroot().find("p:ClusteringModel", space)
    assert model.find("p:LocalTransformations", space) is None
    centers = np.array([[float(number) for number in cluster.find("p:Array", space).text.split()] for cluster in model.findall("p:Cluster", space)])
    apart = np.sqrt(np.square(X[:, None] - centers).sum(axis=2))
    condition = model.find("p:Output/p:OutputField[@name='cluster']/p:Apply/p:Apply[@function='greaterThan']/p:Constant", space)
    radius = np.inf if condition is None else float(condition.text)
    return np.where(apart.min(axis=1) > radius, -1, apart.argmin(axis=1)), apart.min(axis=1)


@pytest.mark.parametrize("model", _OF_ROWS[:5], ids=repr)
def test_pmml_has_the_clusters_of_the_estimator(model, command, wine, tmp_path):
    model, others = _fitted(model, wine)
    model.export(tmp_path / "model.pmml")
    labels, apart = _nearest(tmp_path / "model.pmml", others)
    np.testing.assert_array_equal(labels, model.predict(others))
    np.testing.assert_allclose(apart, model.transform(others).min(axis=1))
    # The command writes the same file from the JSON of the model.
    model.export(tmp_path / "model.json")
    subprocess.run([command, "export", tmp_path / "model.json", "--out", tmp_path / "again.pmml", "--quiet"], check=True)
    assert (tmp_path / "again.pmml").read_bytes() == (tmp_path / "model.pmml").read_bytes()
