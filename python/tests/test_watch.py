"""Runs in progress: callbacks, checkpoints, signals and forks."""

import multiprocessing
import signal
import sys
import threading
import time
import types

import numpy as np
import pytest
from sklearn.base import clone

import lehr


def test_a_callback_sees_every_temperature_in_the_thread_that_called(wine):
    seen, threads = [], set()

    def callback(progress):
        seen.append(progress)
        threads.add(threading.get_ident())

    model = lehr.DAClustering(3, callback=callback).fit(wine)
    assert threads == {threading.get_ident()}
    assert len(seen) >= len(model.history_)
    assert seen[0].stage == "annealing" and 0 <= seen[0].fraction <= seen[-1].fraction <= 1


@pytest.mark.parametrize("estimator", [lehr.AgglomerativeClustering(3), lehr.DAClustering(3), lehr.DAGaussianMixture(3), lehr.GTM(), lehr.KMeans(3), lehr.KMedoids(3), lehr.PairwiseClustering(3), lehr.SMACOF()])
def test_a_callback_stops_the_run(estimator, wine):
    with pytest.raises(lehr.Stopped):
        clone(estimator).set_params(callback=lambda progress: False).fit(wine)
    with pytest.raises(lehr.Stopped):
        lehr.pairwise_distances(np.arange(2000.0)[:, None], callback=lambda progress: progress.fraction >= 1)


def test_what_a_callback_raises_comes_through(wine):
    class Mine(Exception):
        pass

    def callback(progress):
        raise Mine

    with pytest.raises(Mine):
        lehr.DAClustering(3, callback=callback).fit(wine)


@pytest.mark.parametrize(
    "make", [lambda **more: lehr.DAClustering(3, **more), lambda **more: lehr.PairwiseClustering(3, **more)]
)
def test_a_stopped_run_goes_on_to_the_same_bits(make, wine, tmp_path):
    path = tmp_path / "run"
    calls = []

    def callback(progress):
        calls.append(progress)
        return len(calls) < 10

    with pytest.raises(lehr.Stopped):
        make(callback=callback, checkpoint=path).fit(wine)
    assert path.read_text().startswith("lehr checkpoint ")
    later = []
    resumed = make(callback=later.append, checkpoint=path).fit(wine)
    whole = make().fit(wine)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)
    assert resumed.history_.tolist() == whole.history_.tolist()
    # The run continued from its checkpoint, and a completed run needs no checkpoint.
    assert later[0].n_iter > calls[0].n_iter
    assert not path.exists()


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda **more: lehr.KMeans(12, **more), "cluster_centers_"),
        (lambda **more: lehr.GTM(n_nodes=8, n_basis=4, **more), "embedding_"),
    ],
)
def test_a_stopped_kmeans_or_map_goes_on_to_the_same_bits(make, found, wine, tmp_path):
    path = tmp_path / "run"
    calls = []

    def callback(progress):
        calls.append(progress)
        return len(calls) < 8

    with pytest.raises(lehr.Stopped):
        make(callback=callback, checkpoint=path).fit(wine)
    assert path.read_text().startswith("lehr checkpoint ")
    later = []
    resumed = make(callback=later.append, checkpoint=path).fit(wine)
    whole = make().fit(wine)
    np.testing.assert_array_equal(getattr(resumed, found), getattr(whole, found))
    assert resumed.n_iter_ == whole.n_iter_ and later[0].n_iter > calls[0].n_iter
    assert not path.exists()


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exceptions have no notes")
def test_who_stops_a_run_is_told_whether_it_is_kept(wine, tmp_path):
    for estimator in (lehr.DAClustering(3), lehr.KMeans(3), lehr.SMACOF(init="random")):
        estimator.set_params(callback=lambda progress: False)
        with pytest.raises(lehr.Stopped) as stopped:
            estimator.fit(wine)
        assert stopped.value.__notes__ == ["Nothing of the run is kept: give the estimator a file, checkpoint=..., to go on where it was stopped."]
        path = tmp_path / type(estimator).__name__
        with pytest.raises(lehr.Stopped) as stopped:
            estimator.set_params(checkpoint=path).fit(wine)
        assert stopped.value.__notes__ == [f"The run is kept in {path}: the same fit goes on from it."] and path.exists()


def test_a_checkpoint_of_other_data_or_parameters_is_refused(wine, tmp_path):
    path = tmp_path / "run"
    with pytest.raises(lehr.Stopped):
        lehr.DAClustering(3, callback=lambda progress: False, checkpoint=path).fit(wine)
    with pytest.raises(ValueError, match="other data"):
        lehr.DAClustering(3, checkpoint=path).fit(wine[1:])
    with pytest.raises(ValueError, match="other parameters"):
        lehr.DAClustering(4, checkpoint=path).fit(wine)


@pytest.mark.skipif(sys.platform == "win32", reason="signals to threads are POSIX's")
@pytest.mark.thread_unsafe(reason="signals are the main thread's")
def test_a_signal_ends_a_run_before_it_is_done():
    blocks = lehr.datasets.load_census_blocks()
    main = threading.get_ident()
    # While a function in C runs, the interpreter does not run Python code in which it would check for signals.
    seen = []

    class Halt(Exception):
        pass

    def handler(number, frame):
        raise Halt

    def interrupt():
        while not seen:
            time.sleep(0.001)
        signal.pthread_kill(main, signal.SIGUSR1)

    former = signal.signal(signal.SIGUSR1, handler)
    helper = threading.Thread(target=interrupt)
    helper.start()
    try:
        with pytest.raises(Halt):
            lehr.DAClustering(500, callback=seen.append).fit(blocks.data, sample_weight=blocks.weight)
    finally:
        helper.join()
        signal.signal(signal.SIGUSR1, former)
    assert seen[-1].fraction < 1


def _labels(X):
    return lehr.DAClustering(3, n_jobs=2).fit(X).labels_.tolist()


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
@pytest.mark.thread_unsafe(reason="a fork has none of the other threads, whatever they hold")
def test_other_processes_compute_too(method, wine):
    expected = _labels(wine)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply(_labels, (wine,)) == expected


@pytest.mark.thread_unsafe(reason="it puts a module in the place of IPython")
def test_a_notebook_shows_one_bar(wine, monkeypatch, capsys):
    shown = []

    class Handle:
        def update(self, bar):
            shown.append(("update", bar))

    def display(bar, display_id):
        assert display_id is True
        shown.append(("new", bar))
        return Handle()

    kernel = types.SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", types.SimpleNamespace(HTML=str, display=display))
    lehr.KMeans(5, verbose=1).fit(wine)
    assert [how for how, _ in shown].count("new") == 1 and shown[0][0] == "new" and len(shown) > 2
    assert all("<progress value=" in bar and "KMeans: " in bar for _, bar in shown)
    assert shown[-1][1].endswith("KMeans: done")
    assert capsys.readouterr().err == ""
    # IPython in a terminal shows no bars.
    kernel = types.SimpleNamespace()
    shown.clear()
    lehr.KMeans(5, verbose=1).fit(wine)
    assert shown == [] and "KMeans: " in capsys.readouterr().err
