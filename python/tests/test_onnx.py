"""Exported models in the format ONNX give in ONNX Runtime what the estimators give."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_iris

import lehr

IRIS = load_iris().data
FORMS = ("full", "tied", "diag", "spherical")
CLUSTERS = {
    "annealed": lehr.DAClustering(3),
    "k-means": lehr.KMeans(4),
    "batches": lehr.MiniBatchKMeans(3),
    "outliers": lehr.DAClustering(3, outlier_radius=0.9),
}


def run(model: Any, rows: NDArray[Any], path: Path) -> dict[str, NDArray[Any]]:
    """Exports a model, and runs it on rows."""
    model.export(path)
    session = onnxruntime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": rows})))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", CLUSTERS)
def test_clusters(name: str, dtype: Any, tmp_path: Path) -> None:
    rows = IRIS.astype(dtype)
    model = clone(CLUSTERS[name]).fit(rows)
    found = run(model, rows, tmp_path / "model.onnx")
    assert np.array_equal(found["label"], model.predict(rows))
    assert found["distances"].dtype == dtype
    assert np.allclose(found["distances"], model.transform(rows), rtol=1e-5 if dtype == np.float32 else 1e-12, atol=1e-6)
    if name == "outliers":
        assert -1 in found["label"]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", FORMS)
def test_mixtures(form: Any, dtype: Any, tmp_path: Path) -> None:
    rows = IRIS.astype(dtype)
    model = lehr.DAGaussianMixture(3, covariance_type=form).fit(rows)
    found = run(model, rows, tmp_path / "model.onnx")
    near = {"rtol": 1e-3, "atol": 1e-3} if dtype == np.float32 else {"rtol": 1e-9, "atol": 1e-9}
    assert np.array_equal(found["label"], model.predict(rows))
    assert np.allclose(found["probabilities"], model.predict_proba(rows), **near)
    assert np.allclose(found["log_density"], model.score_samples(rows), **near)


def test_maps(tmp_path: Path) -> None:
    model = lehr.GTM(n_nodes=6, n_basis=3).fit(IRIS)
    found = run(model, IRIS, tmp_path / "model.onnx")
    assert np.allclose(found["positions"], model.transform(IRIS), atol=1e-9)
    assert np.allclose(found["responsibilities"], model.responsibilities(IRIS), atol=1e-9)


def test_large_coordinates_cancel_no_digits(tmp_path: Path) -> None:
    rows = IRIS + 1e7
    model = lehr.DAClustering(3).fit(rows)
    found = run(model, rows, tmp_path / "model.onnx")
    assert np.array_equal(found["label"], model.labels_)
    assert np.sum(np.min(found["distances"], axis=1) ** 2) == pytest.approx(model.inertia_, rel=1e-6)


def test_names_of_columns_are_metadata(tmp_path: Path) -> None:
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    lehr.KMeans(2).fit(frame).export(tmp_path / "MODEL.ONNX")
    session = onnxruntime.InferenceSession(tmp_path / "MODEL.ONNX")
    assert json.loads(session.get_modelmeta().custom_metadata_map["columns"]) == ["a", "b", "c", "d"]
    assert session.get_modelmeta().producer_name == "lehr"


def test_what_cannot_be_exported_is_refused_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.onnx"
    model = lehr.KMeans(2).fit(IRIS)
    # `lehr.load` marks the models of the command's prepared tables in this way.
    model._of_table = True
    with pytest.raises(ValueError, match="fitted to a prepared table"):
        model.export(path)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match="onnx"):
        lehr.KMeans(2).fit(IRIS).export(path)
    assert list(tmp_path.iterdir()) == []
