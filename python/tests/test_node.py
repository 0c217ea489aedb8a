"""The Python client with a local node: `lehr serve` of the command."""

import asyncio
import doctest
import subprocess
import threading

import numpy as np
import pytest

import lehr
from lehr import _asking, async_node
from lehr import node as module

pytest.importorskip("httpx")


@pytest.fixture(scope="module")
def url(command):
    with subprocess.Popen([command, "serve", "--listen", "127.0.0.1:0", "--start", "lehr.mixture=/mixture"], stdout=subprocess.PIPE, text=True) as serving:
        address = serving.stdout.readline().strip()
        assert address.startswith("http://"), address
        yield address
        serving.terminate()


@pytest.fixture
def node(url):
    with lehr.Node(url) as node:
        yield node


def test_examples_run(url):
    names = {"lehr": lehr, "url": url, "asyncio": asyncio}
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    counts = [doctest.testmod(part, extraglobs=names, optionflags=flags) for part in (_asking, module, async_node)]
    assert all(tried > 3 and failed == 0 for failed, tried in counts) and sum(tried for _, tried in counts) > 50


def test_labels_are_those_of_the_estimator(node, wine):
    node.upload(wine, "wine", replace=True)
    job = node.run("/clustering", "wine", clusters=5)
    assert job.wait(timeout=60)["state"] == "done"
    model = lehr.DAClustering(5).fit(wine)
    found = job.table("labels")
    np.testing.assert_array_equal(found["cluster"], model.labels_)
    np.testing.assert_array_equal(found["probability"], model.probabilities_)
    np.testing.assert_array_equal(node.table(f"{job.id}/labels")["cluster"], model.labels_)


def test_large_files_go_in_pieces_and_say_the_same(node, monkeypatch):
    X = np.random.default_rng(0).normal(size=(400, 3))
    whole = node.upload(X, "whole", replace=True)
    monkeypatch.setattr(_asking, "_BODY_BYTES", 2000)
    pieces = node.upload(X, "pieces", replace=True)
    assert whole["checksum"] == pieces["checksum"] and pieces["rows"] == 400
    np.testing.assert_array_equal(node.table("pieces")["x2"], X[:, 2])


def test_tables_and_files_are_taken_as_they_are(node, tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    columns = {"name": ["a", "b", "c"], "x": [1.5, 2.5, 4.5], "y": [0.1, 0.2, 0.3]}
    path = tmp_path / "points.csv"
    pandas.DataFrame(columns).to_csv(path, index=False)
    for number, source in enumerate([pandas.DataFrame(columns), polars.DataFrame(columns), path, str(path)]):
        node.upload(source, f"points-{number}", id="name", replace=True)
        table = node.table(f"points-{number}")
        np.testing.assert_array_equal(table["x"], columns["x"])
        assert pandas.DataFrame(table)["name"].tolist() == columns["name"]


def test_gaps_are_nan_and_counts_are_whole(node):
    node.upload(b"x,y\n1,\n2,0.5\n", "gaps", format="csv", gaps=True, replace=True)
    table = node.table("gaps")
    np.testing.assert_array_equal(table["y"], [np.nan, 0.5])
    node.upload([[0.0], [1.0], [9.0]], "three", replace=True)
    job = node.run("/clustering", "three", clusters=2)
    job.wait()
    assert job.table("labels")["cluster"].dtype == np.int64


def test_changes_are_heard_of(node, url):
    node.upload([[0.0]], "before", replace=True)
    events = node.watch("/datasets")
    seed = next(events)
    assert seed.kind == "seed" and "before" in str(seed.data["state"])
    # This connection is not the one that listens.
    with lehr.Node(url) as other:
        other.upload([[1.0]], "after", replace=True)
    assert next(events).kind == "change"
    assert [event.kind for event in node.watch("/datasets", expires_ms=50)] == ["seed"]


def test_a_subscription_is_taken_up_again_after_a_break(monkeypatch):
    import httpx

    starts = []

    def answer(request):
        starts.append(str(request.url))
        if len(starts) == 2:
            raise httpx.ConnectError("refused")
        text = f'event: seed\ndata: {{"version": {len(starts)}}}\n\n'
        return httpx.Response(200, text=text)

    monkeypatch.setattr(_asking, "_AGAIN_SECONDS", (0.001, 0.01))
    node = lehr.Node("http://127.0.0.1:1")
    node._client = httpx.Client(base_url="http://127.0.0.1:1", transport=httpx.MockTransport(answer))
    events = node.watch("/log")
    assert [next(events).data["version"] for _ in range(2)] == [1, 3]


def test_faults_say_what_is_wrong(node):
    with pytest.raises(lehr.Fault, match=r"there is no service at /nowhere \(unknown_service\)") as told:
        node.get("/nowhere")
    assert told.value.status == 404 and "/clustering" in told.value.details["services"]
    with pytest.raises(lehr.Fault, match=r"line 3, column 2 .*expected a finite number, found \"four\""):
        node.upload(b"x,y\n1,2\n3,four\n", "wrong", format="csv")
    with pytest.raises(lehr.Fault) as told:
        node.run("/clustering", "nobody", clusters=2)
    assert "nobody" in told.value.reason
    with pytest.raises(lehr.Fault, match="does not answer"):
        lehr.Node("http://127.0.0.1:1", timeout=2).ls()


def test_what_cannot_be_meant_is_refused_before_it_is_sent(node):
    with pytest.raises(ValueError, match="begins with http://"):
        lehr.Node("127.0.0.1:8420")
    with pytest.raises(ValueError, match="'timeout' parameter must be seconds above 0"):
        lehr.Node("http://127.0.0.1:1", timeout=0)
    with pytest.raises(ValueError, match="begins with / and has no colon"):
        node.get("clustering")
    with pytest.raises(ValueError, match="begins with / and has no colon"):
        node.query("/clustering:run", "x")
    with pytest.raises(TypeError, match="Expected a path, bytes, a table or an array of numbers"):
        node.upload(np.array(["a"]), "words")
    with pytest.raises(ValueError, match="format of the data is not known"):
        node.upload(b"x\n1\n", "unknown")
    with pytest.raises(TypeError, match="which has no set"):
        node.submit("/clustering", "run", {"input": {1, 2}})


def test_an_answer_that_is_no_nodes_is_told():
    import httpx

    node = lehr.Node("http://127.0.0.1:1")
    pages = httpx.MockTransport(lambda _: httpx.Response(502, text="<h1>Bad gateway</h1>"))
    node._client = httpx.Client(base_url="http://127.0.0.1:1", transport=pages)
    with pytest.raises(lehr.Fault, match="expected an answer of a node, found status 502: <h1>Bad"):
        node.get("/log")
    problem = {"code": "insufficient_resources", "detail": "too many jobs wait"}
    busy = httpx.MockTransport(lambda _: httpx.Response(429, json=problem, headers={"retry-after": "3"}))
    node._client = httpx.Client(base_url="http://127.0.0.1:1", transport=busy)
    with pytest.raises(lehr.Fault) as told:
        node.get("/clustering")
    assert (told.value.code, told.value.retry_after) == ("insufficient_resources", 3.0)


def test_a_job_is_waited_for_no_longer_than_asked_and_can_be_cancelled(node):
    X = np.random.default_rng(1).normal(size=(60_000, 8))
    node.upload(X, "long", replace=True)
    job = node.run("/clustering", "long", clusters=60, key="once")
    assert node.run("/clustering", "long", clusters=60, key="once").id == job.id
    with pytest.raises(TimeoutError, match="it goes on"):
        job.wait(timeout=0.05)
    seen = []
    waiting = threading.Thread(target=lambda: seen.append(pytest.raises(lehr.Fault, job.wait)))
    waiting.start()
    job.cancel()
    waiting.join(60)
    assert "cancelled" in str(seen[0].value)


def test_several_jobs_are_waited_for_at_once(url, wine):
    async def centres():
        async with lehr.AsyncNode(url) as node:
            await node.upload(wine, "wine", replace=True)
            jobs = [await node.run("/clustering", "wine", clusters=count) for count in (2, 3, 4)]
            await asyncio.gather(*(job.wait() for job in jobs))
            return [len((await job.table("centers"))["weight"]) for job in jobs]

    assert asyncio.run(centres()) == [2, 3, 4]


def test_asyncio_hears_of_changes_and_faults(url):
    async def told():
        async with lehr.AsyncNode(url) as node, lehr.AsyncNode(url) as other:
            events = node.watch("/datasets")
            kinds = [(await anext(events)).kind]
            await other.upload([[1.0]], "heard", replace=True)
            kinds.append((await anext(events)).kind)
            with pytest.raises(lehr.Fault, match="unknown_service"):
                await node.get("/nowhere")
            return kinds

    assert asyncio.run(told()) == ["seed", "change"]


def test_without_httpx_it_is_said_what_to_install(monkeypatch):
    import builtins

    real = builtins.__import__

    def without(name, *rest):
        if name == "httpx":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="pip install httpx"):
        lehr.Node("http://127.0.0.1:1")


def test_the_model_of_a_job_says_what_the_estimator_says(node, wine):
    node.upload(wine, "wine", replace=True)
    for path, told, estimator in [
        ("/clustering", {"clusters": 5}, lehr.DAClustering(5)),
        ("/clustering", {"clusters": 3, "method": "kmeans"}, lehr.KMeans(3)),
        ("/mixture", {"components": 2}, lehr.DAGaussianMixture(2)),
    ]:
        job = node.run(path, "wine", **told)
        job.wait(timeout=60)
        model = job.model()
        assert type(model) is type(estimator)
        np.testing.assert_array_equal(model.predict(wine[::3]), estimator.fit(wine).predict(wine[::3]))


def test_a_job_without_a_model_says_so(node):
    node.upload([[0.0], [1.0], [9.0]], "three", replace=True)
    job = node.run("/clustering", "three", clusters=2)
    job.wait()
    node.submit("/datasets", "remove", {"name": f"{job.id}/model"})
    with pytest.raises(lehr.Fault, match="there is no data set"):
        job.model()
    with pytest.raises(lehr.Fault, match="there is no job"):
        lehr.Job(node, "/clustering", "clustering-999").model()
