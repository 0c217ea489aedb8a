"""Mini-batch k-means: compared with NumPy, in batches of any size, stopped and resumed."""

import threading

import numpy as np
import pandas
import pytest

import lehr


def _rows(count=3000, seed=1):
    random = np.random.default_rng(seed)
    return random.normal(size=(count, 3)) + random.integers(0, 4, count)[:, None] * 6.0


def _told_by_numpy(rows, weights, batch, clusters, half_life):
    """Returns the centres after one pass, computed by NumPy from the centres that annealing finds in the first batch."""
    first = lehr.DAClustering(clusters).fit(rows[:batch], sample_weight=weights[:batch])
    centers, counts = first.cluster_centers_.copy(), first.clusters_["weight"].copy()
    total = counts.copy()
    for begin in range(batch, len(rows), batch):
        part, share = rows[begin : begin + batch], weights[begin : begin + batch]
        nearest = ((part[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        counts *= 0.5 ** (np.count_nonzero(share) / half_life)
        given = np.bincount(nearest, share, len(centers))
        counts += given
        total += given
        for cluster in np.flatnonzero(given):
            mean = np.average(part[nearest == cluster], axis=0, weights=share[nearest == cluster])
            centers[cluster] += given[cluster] / counts[cluster] * (mean - centers[cluster])
    order = np.argsort(-total, kind="stable")
    return centers[order], total[order], counts[order]


@pytest.mark.parametrize("half_life", [None, 700.0])
def test_centres_are_those_that_numpy_finds(half_life):
    rows = _rows()
    weights = np.random.default_rng(2).integers(0, 4, len(rows)).astype(float)
    model = lehr.MiniBatchKMeans(4, batch_size=400, half_life=half_life).fit(rows, sample_weight=weights)
    # Rows of weight 0 are skipped.
    count = np.count_nonzero(weights)
    centers, total, counts = _told_by_numpy(rows[weights > 0], weights[weights > 0], 400, 4, half_life or np.inf)
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-12)
    np.testing.assert_allclose(model.clusters_["weight"], total, rtol=1e-12)
    np.testing.assert_allclose(model.clusters_["remembered"], counts, rtol=1e-12)
    assert model.n_steps_ == -(-count // 400) and model.n_samples_seen_ == count == model.clusters_["n_samples"].sum()
    assert np.array_equal(model.labels_, model.predict(rows))
    squares = ((rows - model.cluster_centers_[model.labels_]) ** 2).sum(axis=1)
    assert model.inertia_ == pytest.approx(squares @ weights, rel=1e-12)


def test_an_array_and_batches_of_any_size_give_the_same_bits_on_any_threads():
    rows, weights = _rows(), np.random.default_rng(3).random(3000)
    whole = lehr.MiniBatchKMeans(4, batch_size=700, n_jobs=1).fit(rows, sample_weight=weights)
    cuts = np.split(np.arange(3000), [1, 5, 699, 1500, 1500, 2900])
    parts = ((rows[cut], weights[cut]) for cut in cuts if len(cut))
    streamed = lehr.MiniBatchKMeans(4, batch_size=700, n_jobs=2).fit(parts)
    assert np.array_equal(whole.cluster_centers_, streamed.cluster_centers_)
    assert whole.objective_ == streamed.objective_ and whole.n_steps_ == streamed.n_steps_ == 5
    assert not hasattr(streamed, "labels_") and streamed.predict(rows).tolist() == whole.labels_.tolist()


def test_batches_without_weight_are_skipped_and_names_of_columns_are_kept():
    rows, weights = _rows(), np.ones(3000)
    weights[1000:1500] = 0
    frame, cuts = pandas.DataFrame(rows, columns=["a", "b", "c"]), range(0, 3000, 500)
    model = lehr.MiniBatchKMeans(4, batch_size=500).fit(frame, sample_weight=weights)
    parts = ((frame.iloc[cut : cut + 500], weights[cut : cut + 500]) for cut in cuts)
    streamed = lehr.MiniBatchKMeans(4, batch_size=500).fit(parts)
    assert model.n_steps_ == streamed.n_steps_ == 5 and model.n_samples_seen_ == 2500
    assert np.array_equal(model.cluster_centers_, streamed.cluster_centers_)
    assert list(model.feature_names_in_) == list(streamed.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="expected rows of numbers, found no rows"):
        lehr.MiniBatchKMeans(4).fit(iter([(rows, np.zeros(3000))]))


def test_single_precision_stays_unless_a_batch_is_double():
    rows = _rows().astype(np.float32)
    assert lehr.MiniBatchKMeans(4).fit(iter([rows, rows])).cluster_centers_.dtype == np.float32
    assert lehr.MiniBatchKMeans(4).fit(iter([rows, rows.astype(np.float64)])).cluster_centers_.dtype == np.float64


def test_a_stream_is_read_in_the_thread_that_asked_and_its_errors_are_raised():
    rows, threads = _rows(), set()

    def batches():
        for part in np.split(rows, 3):
            threads.add(threading.get_ident())
            yield part
        raise OSError("the cable is out")

    with pytest.raises(OSError, match="the cable is out"):
        lehr.MiniBatchKMeans(4, batch_size=1000).fit(batches())
    assert threads == {threading.get_ident()}


def test_a_stopped_run_goes_on_to_the_same_bits(tmp_path):
    rows, path = _rows(), tmp_path / "run"
    expected = lehr.MiniBatchKMeans(4, batch_size=300).fit(rows)

    def interrupted():
        yield rows[:1400]
        raise ConnectionError

    model = lehr.MiniBatchKMeans(4, batch_size=300, checkpoint=path)
    with pytest.raises(ConnectionError):
        model.fit(interrupted())
    assert path.exists()
    with pytest.raises(ValueError, match="other data"):
        model.fit(rows + 1.0)
    with pytest.raises(lehr.Stopped):
        lehr.MiniBatchKMeans(4, batch_size=300, checkpoint=path, callback=lambda _: False).fit(iter([rows]))
    model.fit(iter([rows]))
    assert np.array_equal(model.cluster_centers_, expected.cluster_centers_) and not path.exists()


def test_partial_fit_is_a_batch_of_the_same_stream():
    rows = _rows()
    fitted = lehr.MiniBatchKMeans(4, batch_size=1000, half_life=2000.0).fit(rows)
    model = lehr.MiniBatchKMeans(4, batch_size=1000, half_life=2000.0)
    for part in np.split(rows, 3):
        model.partial_fit(part)
    assert model.n_steps_ == 3 and model.n_samples_seen_ == 3000
    assert model.objective_ == pytest.approx(fitted.objective_, rel=1e-12)
    order = np.argsort(-model.clusters_["weight"], kind="stable")
    np.testing.assert_allclose(model.cluster_centers_[order], fitted.cluster_centers_, rtol=1e-12)
    for name in ("weight", "remembered", "spread"):
        np.testing.assert_allclose(model.clusters_[name][order], fitted.clusters_[name], rtol=1e-12)


def test_a_model_is_saved_and_exported(tmp_path):
    rows = _rows()
    model = lehr.MiniBatchKMeans(4, half_life=9.0).fit(rows)
    model.save(tmp_path / "kept")
    again = lehr.load(tmp_path / "kept")
    assert isinstance(again, lehr.MiniBatchKMeans) and again.half_life == 9.0
    model.export(tmp_path / "model.json")
    for other in (again, lehr.load(tmp_path / "model.json")):
        assert np.array_equal(other.predict(rows), model.labels_)


@pytest.mark.parametrize(
    ("parameters", "given", "words"),
    [
        ({"init_size": 3}, lambda: [[0.0]] * 9, "init_size=3 should be >= n_clusters=4"),
        ({"batch_size": 2}, lambda: [[0.0]] * 9, "batch_size=2 should be >= n_clusters=4"),
        ({}, lambda: iter([]), "expected rows of numbers, found no rows"),
        ({}, lambda: iter([[[0.0]]]), "n_samples=1 should be >= n_clusters=4"),
        ({}, lambda: iter([[[0.0]] * 5, [[0.0, 1.0]]]), "X has 2 features, but MiniBatchKMeans is expecting 1 features"),
        ({}, lambda: iter([[[0.0]] * 5, [[np.nan]]]), "contains NaN"),
        ({}, lambda: iter([([[0.0]] * 5, [1.0] * 4)]), "expected \\(5,\\)"),
        ({"half_life": 0}, lambda: [[0.0]] * 9, "half_life"),
    ],
)
def test_what_cannot_be_is_said(parameters, given, words):
    with pytest.raises(ValueError, match=words):
        lehr.MiniBatchKMeans(4, **parameters).fit(given())


def test_weights_of_a_stream_come_with_it():
    with pytest.raises(ValueError, match="as pairs"):
        lehr.MiniBatchKMeans(1).fit(iter([[[0.0]]]), sample_weight=[1.0])
