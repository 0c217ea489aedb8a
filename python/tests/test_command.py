"""The same results as the command, in one process and under mpiexec."""

import csv
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import lehr


def _table(path, X):
    np.save(path, X)
    return path


def test_labels_are_those_of_the_command(command, wine, tmp_path):
    table = _table(tmp_path / "wine.npy", wine)
    out = tmp_path / "out"
    subprocess.run([command, "cluster", table, "--clusters", "5", "--out", out, "--quiet"], check=True)
    with open(out / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    model = lehr.DAClustering(5).fit(wine)
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert [float(row["probability"]) for row in rows] == model.probabilities_.tolist()


def test_centres_of_a_stream_are_those_of_the_command(command, wine, tmp_path):
    table, out = tmp_path / "wine.csv", tmp_path / "out"
    weights = np.arange(len(wine)) % 5.0
    names = [f"x{column}" for column in range(wine.shape[1])]
    rows = [",".join(map(repr, [*row, weight])) for row, weight in zip(wine.tolist(), weights.tolist(), strict=True)]
    table.write_text("\n".join([",".join([*names, "weight"]), *rows]) + "\n", encoding="utf-8")
    options = ["--weights", "weight", "--clusters", "5", "--batch-rows", "50", "--half-life", "90"]
    subprocess.run([command, "minibatch", table, *options, "--out", out, "--quiet"], check=True)
    with open(out / "centers.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    model = lehr.MiniBatchKMeans(5, batch_size=50, half_life=90.0).fit((wine[part], weights[part]) for part in np.split(np.arange(len(wine)), [7, 100]))
    assert [float(row["weight"]) for row in rows] == model.clusters_["weight"].tolist()
    np.testing.assert_array_equal(lehr.load(out / "model.json").cluster_centers_, model.cluster_centers_)


def test_dissimilarities_are_those_of_the_command(command, wine, tmp_path):
    table = _table(tmp_path / "wine.npy", wine)
    out = tmp_path / "out"
    subprocess.run([command, "distances", table, "--element", "f64", "--out", out, "--quiet"], check=True)
    np.testing.assert_array_equal(np.load(out / "dissimilarities.npy"), lehr.pairwise_distances(wine))


def test_clusters_and_maps_of_items_are_those_of_the_command(command, wine, tmp_path):
    matrix = lehr.pairwise_distances(wine)
    table, pairs, places = _table(tmp_path / "matrix.npy", matrix), tmp_path / "pairs", tmp_path / "map"
    subprocess.run([command, "pairwise", table, "--clusters", "3", "--out", pairs, "--quiet"], check=True)
    with open(pairs / "labels.csv", newline="") as file:
        labels = [int(row["cluster"]) for row in csv.DictReader(file)]
    assert lehr.PairwiseClustering(3, metric="precomputed").fit(matrix).labels_.tolist() == labels
    tree = tmp_path / "tree"
    subprocess.run([command, "hierarchy", table, "--linkage", "ward", "--out", tree, "--quiet"], check=True)
    model = lehr.AgglomerativeClustering(metric="precomputed", linkage="ward").fit(matrix)
    with open(tree / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    assert [float(row["silhouette"]) for row in rows] == model.silhouette_samples_.tolist()
    assert np.argsort([int(row["place"]) for row in rows]).tolist() == model.order_.tolist()
    np.testing.assert_array_equal(np.loadtxt(tree / "merges.csv", delimiter=",", skiprows=1), model.linkage_matrix_)
    assert (tree / "tree.nwk").read_text(encoding="utf-8") == model.to_newick() + "\n"
    subprocess.run([command, "embed", table, "--out", places, "--quiet"], check=True)
    np.testing.assert_array_equal(np.load(places / "positions.npy"), lehr.SMACOF(metric="precomputed").fit_transform(matrix))


def _run(mpiexec, processes, script):
    command = [mpiexec, "-n", str(processes), sys.executable, "-c", textwrap.dedent(script)]
    return subprocess.run(command, capture_output=True, text=True)


def test_four_processes_find_what_one_finds(mpiexec, wine, tmp_path):
    table = _table(tmp_path / "wine.npy", wine)
    ended = _run(
        mpiexec,
        4,
        f"""
        import numpy as np, lehr
        number, count = lehr.process()
        X = np.load({str(table)!r})
        model = lehr.DAClustering(5, verbose=1).fit(X)
        positions = lehr.SMACOF().fit_transform(X)
        gaps = np.where(np.arange(X.size).reshape(X.shape) % 11, X, np.nan)
        places = lehr.GTM(n_nodes=6, n_basis=3).fit_transform(gaps)
        centers = lehr.KMeans(6).fit(X).cluster_centers_
        tree = lehr.AgglomerativeClustering(linkage="ward").fit(X)
        np.savez(
            {str(tmp_path)!r} + f"/of{{number}}.npz", labels=model.labels_, centers=model.cluster_centers_, positions=positions, places=places, kmeans=centers,
            tree=tree.linkage_matrix_, silhouettes=tree.silhouette_samples_,
        )
        """,
    )
    assert ended.returncode == 0, ended.stderr
    model, positions = lehr.DAClustering(5).fit(wine), lehr.SMACOF().fit_transform(wine)
    gaps = np.where(np.arange(wine.size).reshape(wine.shape) % 11, wine, np.nan)
    places, centers = lehr.GTM(n_nodes=6, n_basis=3).fit_transform(gaps), lehr.KMeans(6).fit(wine).cluster_centers_
    tree = lehr.AgglomerativeClustering(linkage="ward").fit(wine)
    for number in range(4):
        found = np.load(tmp_path / f"of{number}.npz")
        np.testing.assert_array_equal(found["labels"], model.labels_)
        np.testing.assert_array_equal(found["centers"], model.cluster_centers_)
        np.testing.assert_array_equal(found["positions"], positions)
        np.testing.assert_array_equal(found["places"], places)
        np.testing.assert_array_equal(found["kmeans"], centers)
        np.testing.assert_array_equal(found["tree"], tree.linkage_matrix_)
        np.testing.assert_array_equal(found["silhouettes"], tree.silhouette_samples_)
    # Only one process shows progress.
    assert ended.stderr.count("annealing,   0%") <= 1


def test_processes_with_other_data_all_hear_of_it(mpiexec):
    ended = _run(
        mpiexec,
        2,
        """
        import lehr
        number, count = lehr.process()
        try:
            lehr.DAClustering(1).fit([[0.0], [1.0 + number]])
        except ValueError as error:
            assert "process 1 of the MPI job has other data" in str(error), error
            print("told")
        """,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("told") == 2


def test_a_process_that_fails_ends_the_others(mpiexec):
    ended = _run(
        mpiexec,
        2,
        """
        import lehr
        number, count = lehr.process()
        if number == 1:
            raise RuntimeError("one of two")
        lehr.DAClustering(1).fit([[0.0], [1.0]])
        """,
    )
    assert ended.returncode != 0
    assert "one of two" in ended.stderr


def test_a_fork_of_a_process_in_a_job_is_refused(mpiexec):
    ended = _run(
        mpiexec,
        2,
        """
        import os, lehr
        lehr.process()
        child = os.fork()
        if child == 0:
            try:
                lehr.DAClustering(1).fit([[0.0], [1.0]])
            except RuntimeError as error:
                os._exit(7 if "spawn" in str(error) else 1)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        """,
    )
    assert ended.returncode == 0, ended.stderr


def test_programs_on_ranks_of_several_processes(mpiexec):
    ended = _run(
        mpiexec,
        2,
        """
        import numpy as np, lehr
        number, count = lehr.process()

        def program(comm):
            array = comm.all_reduce(np.arange(5.0) * comm.rank)
            parts = comm.gather(np.full(comm.rank, comm.rank), root=3)
            part = comm.scatter(np.arange(8).reshape(4, 2) if comm.rank == 1 else None, root=1)
            before = comm.scan(np.array([comm.rank + 1]))
            comm.send([comm.rank], to=(comm.rank + 3) % 4, tag=comm.rank)
            heard = comm.receive((comm.rank + 1) % 4, tag=(comm.rank + 1) % 4)
            comm.barrier()
            # Long messages: received while they are copied, received late, synchronous, and never received.
            ahead, behind, out = (comm.rank + 2) % 4, (comm.rank - 2) % 4, np.zeros(1_000_000)
            for synchronous in (False, True):
                sent = comm.start_send(np.arange(1e6) + comm.rank, ahead, tag=9, synchronous=synchronous)
                assert comm.receive(behind, tag=9, out=out) is out and out[-1] == 999_999 + behind
                sent.wait()
            comm.send(np.arange(1e6), ahead, tag=10)
            comm.barrier()
            assert comm.receive(behind, tag=10)[-1] == 999_999
            comm.send(np.arange(1e6), ahead, tag=11)
            try:
                comm.all_reduce(np.zeros(1 + comm.rank))
            except ValueError as error:
                assert "rank 0 calls all_reduce" in str(error)
            try:
                comm.window(np.zeros(1))
            except RuntimeError as error:
                assert "in several processes" in str(error)
            return array.tolist(), parts and [len(part) for part in parts], part.tolist(), before.item(), heard, comm.shift([comm.rank])

        mine = lehr.ranks.run(program, ranks=4)
        for rank, found in zip(range(2 * number, 2 * number + 2), mine, strict=True):
            expected = ([0.0, 6.0, 12.0, 18.0, 24.0], [0, 1, 2, 3] if rank == 3 else None, [[2 * rank, 2 * rank + 1]],
                        [1, 3, 6, 10][rank], [(rank + 1) % 4], [(rank + 3) % 4])
            assert found == expected, (rank, found)
        # One rank a process, and a method after it.
        assert [comm.size for comm in lehr.ranks.run(lambda comm: comm)] == [2]
        assert len(set(lehr.DAClustering(2).fit([[0.0], [1.0], [9.0]]).labels_)) == 2
        try:
            lehr.ranks.run(lambda comm: None, ranks=3)
        except ValueError as error:
            assert "multiple of the 2 processes" in str(error), error
        print("well")
        """,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.count("well") == 2


def test_a_rank_that_raises_is_heard_of_in_all_processes(mpiexec):
    ended = _run(
        mpiexec,
        2,
        """
        import numpy as np, lehr
        number, count = lehr.process()

        def program(comm):
            if comm.rank == 1:
                raise KeyError("of rank 1")
            comm.all_reduce(np.zeros(1))

        try:
            lehr.ranks.run(program)
        except KeyError as error:
            assert number == 1, error
            print("raised")
        except lehr.ranks.RankError as error:
            assert number == 0 and "rank 1 raised KeyError" in str(error), error
            print("heard")

        def nested(comm):
            lehr.DAClustering(1).fit([[0.0], [1.0]])

        try:
            lehr.ranks.run(nested)
        except RuntimeError as error:
            assert "call it outside of lehr.ranks.run, with all rows" in str(error), error
            print("refused")
        assert lehr.DAClustering(1).fit([[0.0], [1.0]]).inertia_ == 0.5
        """,
    )
    assert ended.returncode == 0, ended.stderr
    # Lines of two processes may be interleaved.
    assert [ended.stdout.count(word) for word in ("heard", "raised", "refused")] == [1, 1, 2]


def _stop_after(steps):
    calls = []

    def callback(progress):
        calls.append(progress)
        return len(calls) < steps

    return callback


@pytest.mark.parametrize(
    ("line", "make", "found"),
    [
        (["cluster"], lambda **more: lehr.DAClustering(5, random_state=2, **more), "labels_"),
        (["cluster"], lambda **more: lehr.DAClustering(4, outlier_radius=4.0, precision="single", **more), "labels_"),
        (["cluster"], lambda **more: lehr.KMeans(9, **more), "labels_"),
        (["mixture"], lambda **more: lehr.DAGaussianMixture(3, covariance_type="tied", **more), "labels_"),
        (["gtm"], lambda **more: lehr.GTM(n_nodes=8, n_basis=4, **more), "embedding_"),
        (["pairwise"], lambda **more: lehr.PairwiseClustering(3, metric="precomputed", **more), "labels_"),
        (["embed"], lambda **more: lehr.SMACOF(metric="precomputed", tol=1e-9, **more), "embedding_"),
    ],
    ids=lambda value: repr(value()) if callable(value) else "",
)
def test_the_command_goes_on_with_a_run_of_python(line, make, found, command, wine, tmp_path):
    of_items = line[0] in ("pairwise", "embed")
    X = lehr.pairwise_distances(wine) if of_items else wine
    table, folder = _table(tmp_path / "rows.npy", X), tmp_path / "out"
    folder.mkdir()
    with pytest.raises(lehr.Stopped):
        make(callback=_stop_after(7), checkpoint=folder / "checkpoint").fit(X)
    assert [path.name for path in folder.iterdir()] == ["checkpoint"]
    scale = [] if of_items else ["--scale", "none"]
    subprocess.run([command, *line, table, *scale, "--resume", folder, "--quiet"], check=True)
    assert not (folder / "checkpoint").exists()
    expected = getattr(make().fit(X), found)
    if line == ["gtm"]:
        with open(folder / "places.csv", newline="") as file:
            went_on = [[float(row["z1"]), float(row["z2"])] for row in csv.DictReader(file)]
    elif line == ["embed"]:
        went_on = np.load(folder / "positions.npy")
    else:
        with open(folder / "labels.csv", newline="") as file:
            name = "component" if line == ["mixture"] else "cluster"
            went_on = [int(row[name]) if row[name] else -1 for row in csv.DictReader(file)]
    np.testing.assert_array_equal(went_on, expected)


@pytest.mark.skipif(sys.platform == "win32", reason="it is stopped by a signal of POSIX's")
@pytest.mark.parametrize(
    ("line", "make"),
    [
        (["--clusters", "80"], lambda **more: lehr.DAClustering(80, **more)),
        (["--method", "kmeans", "--clusters", "300", "--n-init", "3"], lambda **more: lehr.KMeans(300, n_init=3, tol=0, **more)),
    ],
    ids=["da", "kmeans"],
)
def test_python_goes_on_with_a_run_of_the_command(line, make, command, tmp_path):
    blocks = lehr.datasets.load_census_blocks()
    data, weight = blocks.data, blocks.weight
    table = _table(tmp_path / "blocks.npy", np.column_stack([data, weight]))
    columns = ["--columns", "x0,x1", "--weights", "x2", "--scale", "none"]
    path = tmp_path / "out" / "checkpoint"
    arguments = [*columns, *line, "--threads", "1", "--out", tmp_path / "out", "--quiet"]
    run = subprocess.Popen([command, "cluster", table, *arguments], stderr=subprocess.PIPE)
    while not path.exists():
        assert run.poll() is None, "the run ended before it had a checkpoint"
        time.sleep(0.001)
    run.send_signal(signal.SIGINT)
    said = run.communicate()[1]
    assert run.returncode == 130, said
    seen = []
    model = make(callback=seen.append, checkpoint=path).fit(data, sample_weight=weight)
    whole = make().fit(data, sample_weight=weight)
    np.testing.assert_array_equal(model.labels_, whole.labels_)
    assert model.n_iter_ == whole.n_iter_ and seen[0].n_iter > 1
    assert not path.exists()
