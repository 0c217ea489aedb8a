"""Clusters of tables in partitions, on local clusters of Dask, Ray and Spark: the labels of a fit in memory, clear faults, and workers that die."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from conftest import NAMES, Engine
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

import lehr
from lehr import _partitioned

#: Rows, columns, groups and partitions: all rows in memory, cells, and a sample of rows.
SIZES = [(3_000, 2, 5, 4), (30_000, 3, 8, 5), (60_000, 20, 6, 3)]


def blobs(rows: int, columns: int, groups: int) -> pd.DataFrame:
    X, _ = make_blobs(rows, n_features=columns, centers=groups, cluster_std=1.0, center_box=(-20, 20), random_state=3)
    return pd.DataFrame(X, columns=[f"x{number}" for number in range(columns)])


def renumbered(labels: np.ndarray) -> np.ndarray:
    """Labels, numbered in the order in which they occur first."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


@pytest.mark.parametrize("size", SIZES, ids=["rows", "cells", "sample"])
def test_labels_are_those_of_a_fit_in_memory(engine: Engine, size: tuple[int, int, int, int]) -> None:
    rows, columns, groups, partitions = size
    frame = blobs(rows, columns, groups)
    table = engine.table(frame, partitions)
    model = lehr.DAClustering(groups).fit(table)
    whole = lehr.DAClustering(groups).fit(frame if engine.has_names else frame.to_numpy())
    labels = engine.values(model.predict(table), "cluster")
    assert np.array_equal(renumbered(labels), renumbered(whole.labels_))
    assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-9)
    assert model.clusters_["n_samples"].tolist() == np.bincount(labels).tolist()
    assert model.clusters_["weight"].tolist() == sorted(model.clusters_["weight"], reverse=True)
    assert model.clusters_["probability"] == pytest.approx(whole.clusters_["probability"], abs=2e-3)
    assert not hasattr(model, "labels_")
    assert getattr(model, "feature_names_in_", np.array([])).tolist() == (frame.columns.tolist() if engine.has_names else [])


def test_other_results_are_those_of_the_same_model_in_memory(engine: Engine, tmp_path: Path) -> None:
    frame = blobs(4_000, 3, 4)
    table = engine.table(frame, 3)
    model = lehr.DAClustering(4).fit(table)
    rows = frame if engine.has_names else frame.to_numpy()
    assert np.array_equal(engine.values(model.predict(table), "cluster"), model.predict(rows))
    assert np.array_equal(engine.values(model.predict_proba(table), "probabilities"), model.predict_proba(rows))
    # How matrices are multiplied, and so how products are rounded, depends on the number of rows.
    assert np.allclose(engine.values(model.transform(table), "distances"), model.transform(rows), rtol=1e-12)
    assert model.score(table) == pytest.approx(model.score(rows), rel=1e-12)
    assert model.predict_proba(rows).max(axis=1).mean() == pytest.approx(0.99, abs=0.02)
    model.save(tmp_path / "model.lehr")
    again = lehr.load(tmp_path / "model.lehr")
    assert np.array_equal(engine.values(again.predict(table), "cluster"), model.predict(rows))
    model.export(tmp_path / "model.json")


def test_the_number_of_clusters_is_chosen(engine: Engine) -> None:
    frame = blobs(30_000, 2, 5)
    model = lehr.DAClustering().fit(engine.table(frame, 4))
    assert model.n_clusters_ == lehr.DAClustering().fit(frame).n_clusters_
    assert model.choice_ and model.candidates_ is not None


def test_k_means_from_given_centres_takes_the_same_course(engine: Engine) -> None:
    frame = blobs(25_000, 4, 6)
    rows = frame if engine.has_names else frame.to_numpy()
    table, start = engine.table(frame, 5), frame.to_numpy()[:6]
    for options in ({}, {"tol": 0.0}, {"tol": 0.05}):
        model, whole = lehr.KMeans(6, init=start, **options).fit(table), lehr.KMeans(6, init=start, **options).fit(rows)
        assert np.array_equal(engine.values(model.predict(table), "cluster"), whole.labels_), options
        assert (model.n_iter_, model.inertia_) == (whole.n_iter_, pytest.approx(whole.inertia_, rel=1e-9)), options
    with pytest.warns(ConvergenceWarning, match="had not converged after 2 iterations"):
        model = lehr.KMeans(6, init=start, max_iter=2).fit(table)
    assert model.n_iter_ == 2
    drawn = lehr.KMeans(6).fit(table)
    assert drawn.inertia_ == pytest.approx(lehr.KMeans(6).fit(rows).inertia_, rel=1e-6)


def test_weights_are_a_column_or_a_collection(engine: Engine) -> None:
    frame = blobs(24_000, 2, 4)
    counts = np.arange(len(frame)) % 4
    whole = lehr.DAClustering(4).fit(frame.to_numpy(), sample_weight=counts)
    if engine.has_names:
        table = engine.table(frame.assign(n=counts), 4)
        model = lehr.DAClustering(4).fit(table, sample_weight="n")
        assert model.feature_names_in_.tolist() == ["x0", "x1"]
    else:
        import dask.array

        table = engine.table(frame, 4)
        model = lehr.DAClustering(4).fit(table, sample_weight=dask.array.from_array(counts, chunks=table.chunks[0]))
    assert np.array_equal(renumbered(engine.values(model.predict(table), "cluster")), renumbered(whole.labels_))
    assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-9)
    assert model.clusters_["weight"].sum() == counts.sum()


def test_partitions_without_rows_and_columns_that_are_not_of_the_model_do_no_harm(engine: Engine) -> None:
    iris = load_iris(as_frame=True)
    frame = iris.data.set_axis(["a", "b", "c", "d"], axis=1).iloc[::10]
    whole = lehr.DAClustering(3).fit(frame.to_numpy())
    table = engine.table(frame, 20)
    model = lehr.DAClustering(3).fit(table)
    assert np.array_equal(engine.values(model.predict(table), "cluster"), whole.labels_)
    if engine.has_names:
        wider = engine.table(frame.assign(name=iris.target_names[iris.target][::10])[["name", "d", "c", "b", "a"]], 3)
        assert np.array_equal(engine.values(model.predict(wider), "cluster"), whole.labels_)


def test_types_of_columns_and_empty_partitions_of_large_tables(engine: Engine) -> None:
    frame = blobs(25_000, 2, 4)
    frame = frame.assign(count=np.arange(25_000) % 3, is_even=frame["x0"].round() % 2 == 0)
    if not engine.has_names:
        frame = frame.astype(float)
    model = lehr.DAClustering(4).fit(engine.table(frame, 3))
    whole = lehr.DAClustering(4).fit(frame.astype(float).to_numpy())
    assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-9)
    # The first partitions have no rows of positive weight, and one has no rows.
    if engine.has_names:
        counts = np.where(np.arange(25_000) < 9_000, 0.0, 1.0)
        model = lehr.DAClustering(4).fit(engine.table(frame.assign(n=counts), 5), sample_weight="n")
        whole = lehr.DAClustering(4).fit(frame.astype(float).to_numpy(), sample_weight=counts)
        assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-9)


def test_dask_columns_need_no_names_that_are_texts_and_arrays_no_known_length(engine_named: Callable[[str], Engine]) -> None:
    frame = blobs(200, 3, 3)
    whole = lehr.DAClustering(3).fit(frame.to_numpy())
    import dask.dataframe

    engine_named("dask frame")
    table = dask.dataframe.from_pandas(frame.set_axis([0, 1, 2], axis=1), npartitions=2)
    model = lehr.DAClustering(3).fit(table)
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(model.predict(table).compute(), whole.labels_)
    unknown = table.to_dask_array()
    assert np.isnan(unknown.shape[0])
    assert np.array_equal(lehr.DAClustering(3).fit(unknown).predict(unknown).compute(), whole.labels_)
    with pytest.raises(TypeError, match="X has sparse blocks"):
        from scipy.sparse import csr_matrix

        lehr.DAClustering(3).fit(engine_named("dask array").table(frame, 2).map_blocks(csr_matrix))


def test_rows_in_single_precision_give_centres_in_single_precision(engine: Engine) -> None:
    frame = blobs(2_000, 2, 3).astype(np.float32)
    model = lehr.DAClustering(3).fit(engine.table(frame, 3))
    assert model.cluster_centers_.dtype == np.float32
    assert np.allclose(model.cluster_centers_, lehr.DAClustering(3).fit(frame.to_numpy()).cluster_centers_, rtol=1e-6)


@pytest.mark.parametrize("name", ["ray", "spark"])
def test_a_column_of_arrays_is_several_columns(name: str, engine_named: Callable[[str], Engine]) -> None:
    engine, frame = engine_named(name), blobs(500, 3, 4)
    whole = lehr.DAClustering(4).fit(frame.to_numpy())
    if name == "ray":
        import ray.data

        table = ray.data.from_numpy([*np.array_split(frame.to_numpy(), 3), np.empty((0, 3))])
    else:
        from pyspark.sql import functions

        whole_table = engine.table(frame, 3)
        # Three partitions have no rows.
        table = whole_table.union(whole_table.filter("x0 > 1e9")).select(functions.array("x0", "x1", "x2").alias("features"))
    model = lehr.DAClustering(4).fit(table)
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    assert np.array_equal(engine.values(model.predict(table), "cluster"), whole.labels_)


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_a_mixture_is_that_of_a_fit_in_memory(engine_named: Callable[[str], Engine], form: Any) -> None:
    engine, frame = engine_named("dask frame"), blobs(70_000, 3, 4)
    table = engine.table(frame, 4)
    model = lehr.DAGaussianMixture(4, covariance_type=form).fit(table)
    whole = lehr.DAGaussianMixture(4, covariance_type=form).fit(frame)
    # The groups have the same number of rows, so only rounding decides how components are numbered.
    order, other = np.argsort(model.means_[:, 0]), np.argsort(whole.means_[:, 0])
    assert np.array_equal(np.argsort(order)[engine.values(model.predict(table), "cluster")], np.argsort(other)[whole.labels_])
    assert model.lower_bound_ == pytest.approx(whole.lower_bound_, abs=1e-7)
    assert np.allclose(model.means_[order], whole.means_[other], rtol=1e-4, atol=1e-4)
    if form != "tied":
        assert np.allclose(model.covariances_[order], whole.covariances_[other], rtol=1e-3, atol=1e-3)
    assert (model.bic_, model.icl_) == (pytest.approx(whole.bic_, rel=1e-7), pytest.approx(whole.icl_, rel=1e-6))


def test_mixtures_and_maps_take_tables(engine: Engine) -> None:
    frame = blobs(1_500, 2, 3)
    rows, table = frame if engine.has_names else frame.to_numpy(), engine.table(frame, 3)
    mixture, whole = lehr.DAGaussianMixture().fit(table), lehr.DAGaussianMixture().fit(rows)
    assert mixture.n_components_ == whole.n_components_
    assert np.array_equal(engine.values(mixture.predict(table), "cluster"), whole.labels_)
    assert np.allclose(engine.values(mixture.predict_proba(table), "probabilities"), mixture.predict_proba(rows), rtol=1e-12)
    assert np.allclose(engine.values(mixture.score_samples(table), "log_density"), mixture.score_samples(rows), rtol=1e-12)
    assert mixture.score(table) == pytest.approx(mixture.score(rows), rel=1e-12)
    map_of = lehr.GTM(1, n_nodes=5, n_basis=2).fit(rows)
    assert np.allclose(engine.values(map_of.transform(table), "positions"), map_of.transform(rows), rtol=1e-9)
    with pytest.raises(ValueError, match="takes the default start only"):
        lehr.DAGaussianMixture(2, init_params="random").fit(table)


def test_distances_to_rows_in_memory(engine: Engine) -> None:
    frame = blobs(300, 3, 2)
    table, others = engine.table(frame, 3), frame.to_numpy()[:5]
    found = engine.values(lehr.pairwise_distances(table, others, "manhattan"), "distances")
    assert np.array_equal(found, lehr.pairwise_distances(frame.to_numpy(), others, "manhattan"))
    with pytest.raises(ValueError, match="expected Y, which is not in partitions"):
        lehr.pairwise_distances(table)


def test_faults_are_told_where_they_are(engine: Engine) -> None:
    frame = blobs(40, 2, 2)
    frame.iloc[12, 1], frame.iloc[35, 0] = np.nan, np.inf
    column = "column 'x1'" if engine.has_names else "column 1"
    with pytest.raises(ValueError, match=f"2 values that are not finite.*\n  partition 1, row 2, {column}: found nan\n  partition 3, row 5, .*: found inf"):
        lehr.DAClustering(2).fit(engine.table(frame, 4))
    for options in ({"stop_length": 1.0}, {"checkpoint": "here"}, {"outlier_radius": 2.0}, {"exact": True}, {"callback": print}):
        with pytest.raises(ValueError, match=f"'{next(iter(options))}' parameter has no effect on a table in partitions"):
            lehr.DAClustering(2, **options).fit(engine.table(blobs(40, 2, 2), 2))
    with pytest.raises(ValueError, match="should be >= n_clusters=50"):
        lehr.KMeans(50).fit(engine.table(blobs(40, 2, 2), 2))
    if not engine.has_names:
        return
    texts = engine.table(blobs(40, 2, 2).assign(place="here"), 2)
    with pytest.raises(ValueError, match="expected columns of numbers, found 'place' .*; select the columns to use"):
        lehr.DAClustering(2).fit(texts)
    model = lehr.DAClustering(2).fit(engine.table(blobs(40, 2, 2), 2))
    with pytest.raises(ValueError, match="found no column 'x1'; .* has x0, y"):
        model.predict(engine.table(blobs(40, 2, 2).rename(columns={"x1": "y"}), 2))
    with pytest.raises(ValueError, match="expected the name of a column|expected a Dask array or series"):
        lehr.DAClustering(2).fit(engine.table(blobs(40, 2, 2), 2), sample_weight=[1.0] * 40)
    with pytest.raises(ValueError, match="1 values .* weights below 0.*\n.*\n?  partition 0, row 3, weight: found -1"):
        lehr.DAClustering(2).fit(engine.table(blobs(40, 2, 2).assign(n=np.where(np.arange(40) == 3, -1.0, 1.0)), 2), sample_weight="n")


def test_engines_with_the_same_partitions_give_the_same_bits(engine_named: Callable[[str], Engine]) -> None:
    frame = blobs(25_000, 2, 7)
    models = [lehr.DAClustering(7).fit(engine_named(name).table(frame, 4)) for name in NAMES]
    for model in models[1:]:
        assert np.array_equal(model.cluster_centers_, models[0].cluster_centers_)
        assert (model.inertia_, model._borders) == (models[0].inertia_, models[0]._borders)


def test_a_fit_survives_a_worker_that_is_killed(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = blobs(30_000, 3, 8)
    table = engine.table(frame, 6)
    before = lehr.DAClustering(8).fit(table)
    killed = []

    def teller(estimator: Any, what: str) -> Callable[[int, float], None]:
        def tell(sweep: int, cost: float) -> None:
            if not killed:
                engine.kill_a_worker()
                killed.append(sweep)

        return tell

    monkeypatch.setattr(_partitioned, "teller", teller)
    after = lehr.DAClustering(8).fit(table)
    assert killed == [1]
    assert np.array_equal(after.cluster_centers_, before.cluster_centers_)
    assert after._borders == before._borders


def test_progress_is_told_on_request(engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
    lehr.KMeans(2, verbose=1).fit(engine.table(blobs(100, 2, 2), 2))
    assert "KMeans: sweep 1, sum of squares " in capsys.readouterr().err


def test_rows_of_weight_0_are_nowhere_in_the_way(engine_named: Callable[[str], Engine]) -> None:
    """A whole partition has weight 0; or every third row of sorted clusters has, as in the folds of a cross-validation."""
    engine, frame = engine_named("dask frame"), blobs(60_000, 2, 2).sort_values("x0")
    for weights in (np.where(np.arange(60_000) < 20_000, 0.0, 1.0), (np.arange(60_000) % 3 != 0).astype(float)):
        table = engine.table(frame.assign(w=weights), 3)
        for kind in (lehr.DAClustering, lehr.KMeans):
            model, whole = kind(2).fit(table, sample_weight="w"), kind(2).fit(frame, sample_weight=weights)
            assert model.inertia_ == pytest.approx(whole.inertia_, rel=1e-9)
            assert model.score(table, sample_weight="w") == pytest.approx(-model.inertia_, rel=1e-9)
            assert model.clusters_["probability"].mean() == pytest.approx(whole.clusters_["probability"].mean(), abs=2e-3)
    mixture = lehr.DAGaussianMixture(2).fit(table, sample_weight="w")
    assert mixture.score(table, sample_weight="w") == pytest.approx(mixture.lower_bound_, rel=1e-12)
    for wrong, told in ((-1.0, "Negative values"), (0.0, "expected at least one row with a weight above 0")):
        with pytest.raises(ValueError, match=told):
            mixture.score(engine.table(frame.assign(w=wrong), 3), sample_weight="w")


def test_fewer_different_rows_than_clusters(engine_named: Callable[[str], Engine]) -> None:
    engine = engine_named("dask array")
    same = engine.table(pd.DataFrame({"x": np.ones(30_000), "y": 2.0}), 3)
    with pytest.warns(ConvergenceWarning, match=r"Number of distinct clusters \(1\) found smaller than n_clusters \(3\)"):
        assert lehr.KMeans(3).fit(same).inertia_ == 0
    with pytest.raises(ValueError, match="takes at most 10000 clusters"):
        lehr.KMeans(10_001).fit(same)


def test_lists_must_have_the_same_length_and_a_missing_one_is_told(engine_named: Callable[[str], Engine]) -> None:
    import pyarrow as pa
    import ray.data

    engine_named("ray")
    lists = pa.table({"v": pa.array([[1.0, 2.0], [3.0, 4.0], [9.0, 9.0]])})
    assert sorted(lehr.DAClustering(2).fit(ray.data.from_arrow(lists)).clusters_["n_samples"]) == [1, 2]
    with pytest.raises(ValueError, match="2 values .*\n  partition 0, row 1, column 'v': found nan"):
        lehr.DAClustering(2).fit(ray.data.from_arrow(pa.table({"v": pa.array([[1.0, 2.0], None, [9.0, 9.0]])})))
    with pytest.raises(ValueError, match="arrays of 1 and of 3 numbers"):
        lehr.DAClustering(2).fit(ray.data.from_arrow(pa.table({"v": pa.array([[1.0], [2.0, 3.0, 4.0]])})))


def test_spark_takes_names_with_dots_and_knows_the_weights_again(engine_named: Callable[[str], Engine]) -> None:
    from pyspark.sql import functions

    engine, frame = engine_named("spark"), blobs(300, 2, 2)
    dotted = engine.table(frame.set_axis(["x.a", "x.b"], axis=1), 2)
    model = lehr.DAClustering(2).fit(dotted)
    assert np.array_equal(engine.values(model.predict(dotted), "cluster"), lehr.DAClustering(2).fit(frame).labels_)
    table = engine.table(frame.assign(w=2.0), 2).select(functions.array("x0", "x1").alias("v"), "w")
    model = lehr.DAClustering(2).fit(table, sample_weight="w")
    assert len(engine.values(model.predict(table), "cluster")) == 300


def test_dask_frames_keep_their_index_and_integer_names_their_columns(engine_named: Callable[[str], Engine]) -> None:
    import dask.dataframe

    engine_named("dask frame")
    frame = blobs(200, 2, 3).set_axis([0, 1], axis=1)
    frame.index = pd.Index([f"row {number}" for number in range(200)], name="key")
    table = dask.dataframe.from_pandas(frame, npartitions=2, sort=False)
    model = lehr.DAClustering(3).fit(table)
    found = model.predict(table[[1, 0]]).reset_index().compute()
    assert found["key"].tolist() == frame.index.tolist()
    assert np.array_equal(found["cluster"], lehr.DAClustering(3).fit(frame.to_numpy()).labels_)
    with pytest.raises(ValueError, match="found a Dask array of complex128"):
        lehr.DAClustering(3).fit(table.to_dask_array() + 1j)
    assert model.predict(frame.to_numpy()).tolist() == found["cluster"].tolist(), "a refused fit changes nothing"


def test_a_column_that_varies_in_few_rows_is_no_constant_of_a_mixture(engine_named: Callable[[str], Engine]) -> None:
    frame = blobs(60_000, 2, 2).assign(rare=np.where(np.arange(60_000) == 31, 1.0, 0.0))
    model = lehr.DAGaussianMixture(2, covariance_type="diag").fit(engine_named("dask frame").table(frame, 3))
    assert model.means_[:, 2].max() > 0
