"""Services written in Python, called over HTTP by `lehr.Node`, by httpx, and by a node of the command."""

import asyncio
import doctest
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Literal

import numpy as np
import pytest

import lehr
from lehr import services as module

httpx = pytest.importorskip("httpx")

# Each test serves its own node. A test below calls one node from many threads at once.
pytestmark = pytest.mark.thread_unsafe(reason="nodes have the names and threads of their test, and caplog hears all of them; the tests themselves ask from several threads")


class Register(lehr.Service):
    """A service that stores people by name, with an operation for each verb."""

    contract = "example.org/register"
    version = (1, 2)

    def __init__(self):
        self.state = {"people": {}}

    @lehr.handler("query")
    def older(self, than: int = 0) -> list[str]:
        return sorted(name for name, age in self.state["people"].items() if age > than)

    @lehr.handler("insert")
    def enter(self, name: str, age: int | None = None) -> None:
        if name in self.state["people"]:
            raise lehr.Fault("duplicate_entry", f"{name} is registered")
        self.state["people"][name] = age

    @lehr.handler("update")
    async def birthday(self, name: str) -> int:
        if name not in self.state["people"]:
            raise lehr.Fault("unknown_entry", f"nobody is called {name}")
        self.state["people"][name] += 1
        await asyncio.sleep(0)
        return self.state["people"][name]

    @lehr.handler("upsert", name="put")
    def set_age(self, name: str, age: int):
        self.state["people"][name] = age

    @lehr.handler("delete")
    def leave(self, name: str) -> None:
        del self.state["people"][name]

    @lehr.handler("replace")
    def replace(self, people, /):
        self.state = {"people": dict(people)}

    @lehr.handler("submit", group="independent")
    async def echo(self, text: str, way: Literal["up", "down"] = "down") -> str:
        return text.upper() if way == "up" else text.lower()


@pytest.fixture
def register():
    with lehr.serve(Register(), port=0) as server:
        yield server


@pytest.fixture
def node(register):
    with lehr.Node(register.url) as node:
        yield node


def _asked(server, method, path, **what):
    return httpx.request(method, server.url + path, trust_env=False, **what)


def test_examples_run():
    failed, tried = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert failed == 0 and tried > 15


def test_each_verb_does_what_it_says(register, node):
    assert node.submit("/register", "enter", {"name": "Ada", "age": 36}) is None
    node.submit("/register", "put", {"name": "Bob", "age": 17})
    assert node.submit("/register", "birthday", {"name": "Bob"}) == 18
    assert node.query("/register", "older", {"than": 18}) == ["Ada"]
    # In a URL, a text that looks like a number becomes a number if the operation expects one; other texts stay texts.
    assert _asked(register, "GET", "/register:older?than=17").json() == ["Ada", "Bob"]
    node.submit("/register", "leave", {"name": "Bob"})
    assert node.get("/register") == {"people": {"Ada": 36}}
    put = _asked(register, "PUT", "/register", json={"Carl": 5})
    assert put.status_code == 200 and node.get("/register") == {"people": {"Carl": 5}}
    assert node.submit("/register", "echo", {"text": "7", "way": "up"}) == "7"
    # The owner of the object sees the same state.
    assert register.services["/register"].state == {"people": {"Carl": 5}}


def test_the_state_has_versions_and_a_request_may_ask_for_one(register, node):
    node.submit("/register", "put", {"name": "Ada", "age": 1})
    first = _asked(register, "GET", "/register")
    assert first.headers["etag"].endswith('-1"')
    assert _asked(register, "GET", "/register", headers={"if-none-match": first.headers["etag"]}).status_code == 304
    node.submit("/register", "put", {"name": "Ada", "age": 2})
    late = _asked(register, "POST", "/register:put", json={"name": "Ada", "age": 3}, headers={"if-match": first.headers["etag"]})
    assert late.status_code == 412 and node.get("/register")["people"]["Ada"] == 2
    for _ in range(2):
        assert node.submit("/register", "birthday", {"name": "Ada"}, key="once") == 3


def test_subscribers_hear_of_each_change_and_of_nothing_else(register, node):
    with lehr.Node(register.url) as listening:
        events = listening.watch("/register")
        seed = next(events)
        assert (seed.kind, seed.data["state"], seed.data["version"]) == ("seed", {"people": {}}, 0)
        node.submit("/register", "enter", {"name": "Ada", "age": 36})
        node.query("/register", "older")
        with pytest.raises(lehr.Fault):
            node.submit("/register", "enter", {"name": "Ada"})
        node.submit("/register", "leave", {"name": "Ada"})
        heard = [next(events).data for _ in range(2)]
        assert [(change["operation"], change["verb"], change["version"]) for change in heard] == [("enter", "insert", 1), ("leave", "delete", 2)]
        assert heard[0]["body"] == {"name": "Ada", "age": 36}


def test_other_programs_find_it_as_any_service(register, node):
    found = {service["path"]: service for service in node.ls()}
    assert found["/register"]["contract"] == "example.org/register" and found["/register"]["phase"] == "ready"
    assert "/register" in node.get("/directory")["services"]
    assert [service["path"] for service in node.query("/inspector", "look")["services"]].count("/register") == 1
    description = _asked(register, "GET", "/openapi.json").json()
    page = description["paths"]

    def whole(schema):
        """Resolves the reference of a schema."""
        return description["components"]["schemas"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema

    body = whole(page["/register:enter"]["post"]["requestBody"]["content"]["application/json"]["schema"])
    assert body["required"] == ["name"] and body["properties"]["age"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert whole(page["/register:older"]["post"]["responses"]["200"]["content"]["application/json"]["schema"])["items"] == {"type": "string"}
    assert "put" in page["/register"]


def test_a_node_of_the_command_follows_it(register, command):
    serving = subprocess.Popen([command, "serve", "--listen", "127.0.0.1:0", "--join", register.url], stdout=subprocess.PIPE, text=True)
    with serving, lehr.Node(serving.stdout.readline().strip()) as other:
        until = time.monotonic() + 30
        while not (found := other.query("/nodes", "find", {"contract": "example.org/register"})):
            assert time.monotonic() < until, "not found"
            time.sleep(0.05)
        assert found == [register.url + "/register"]
        serving.terminate()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, "name: required, and not sent"),
        ({"name": 7}, "name: expected string, found 7"),
        ({"name": "Ada", "age": 1.5}, "age: expected integer or null, found 1.5"),
        ({"name": "Ada", "age": True}, "age: expected integer or null, found true"),
        ([1, 2], "expected an object, found a list"),
    ],
)
def test_a_body_that_is_not_what_is_expected_says_why(node, body, expected):
    with pytest.raises(lehr.Fault, match=expected) as told:
        node.submit("/register", "enter", body)
    assert (told.value.code, told.value.status) == ("message_not_supported", 400)
    assert node.get("/register") == {"people": {}}


def test_faults_have_the_code_that_was_raised(node):
    node.submit("/register", "enter", {"name": "Ada", "unknown": "is passed over"})
    with pytest.raises(lehr.Fault, match="Ada is registered") as told:
        node.submit("/register", "enter", {"name": "Ada"})
    assert (told.value.code, told.value.status) == ("duplicate_entry", 409)
    with pytest.raises(lehr.Fault, match="nobody is called Bob") as told:
        node.submit("/register", "birthday", {"name": "Bob"})
    assert (told.value.code, told.value.status) == ("unknown_entry", 404)
    with pytest.raises(lehr.Fault, match='expected "up" or "down", found "left"'):
        node.submit("/register", "echo", {"text": "", "way": "left"})
    with pytest.raises(lehr.Fault, match="has no operation") as told:
        node.submit("/register", "fly")
    assert told.value.code == "action_not_supported"


class Fragile(lehr.Service):
    """A service whose handlers change the state and then fail, or are cancelled."""

    def __init__(self):
        self.state = {"done": []}
        self.begun, self.go_on, self.left = threading.Event(), threading.Event(), []

    @lehr.handler("update")
    def spoil(self, how: str):
        self.state["done"].append(how)
        if how == "raise":
            raise ZeroDivisionError("a secret")
        if how == "code":
            raise lehr.Fault("nonsense", "a code that nobody knows")
        if how == "reply":
            return {1, 2}
        if how == "deep":
            self.state["done"].append(self.state["done"])
        if how == "key":
            self.state[7] = "a key that is no text"
        if how == "nan":
            self.state["done"].append(float("nan"))
        return None

    @lehr.handler("update")
    async def dawdle(self, seconds: float = 60.0):
        self.state["done"].append("dawdling")
        self.begun.set()
        try:
            await asyncio.sleep(seconds)
        finally:
            # The clean-up of a cancelled handler precedes the next handler.
            await asyncio.sleep(0.05)
            self.left.append(list(self.state["done"]))

    @lehr.handler("submit")
    def block(self):
        self.begun.set()
        self.go_on.wait(60)

    @lehr.handler("query")
    def look(self):
        return [self.state["done"], self.left]

    @lehr.handler("query")
    def disturb(self):
        self.state["done"].append("disturbed")
        raise ZeroDivisionError

    @lehr.handler("query")
    async def disturb_later(self):
        self.state = {"done": ["disturbed"]}
        await asyncio.sleep(0)
        raise ZeroDivisionError

    @lehr.handler("submit")
    def disturb_reply(self):
        self.state["done"].clear()
        return {1, 2}


@pytest.mark.parametrize("how", ["raise", "code", "reply", "deep", "key", "nan"])
def test_a_handler_that_fails_has_changed_nothing(how, caplog):
    with lehr.serve(Fragile(), port=0) as server, lehr.Node(server.url) as node, caplog.at_level(logging.ERROR, "lehr.services"):
        node.submit("/fragile", "spoil", {"how": "well"})
        with pytest.raises(lehr.Fault, match="failed inside the service") as told:
            node.submit("/fragile", "spoil", {"how": how})
        assert told.value.code == "operation_failed" and "secret" not in str(told.value.details)
        assert node.query("/fragile", "look")[0] == ["well"] and node.get("/fragile") == {"done": ["well"]}
        node.submit("/fragile", "spoil", {"how": "again"})
        assert node.get("/fragile") == {"done": ["well", "again"]}
    assert [record.name for record in caplog.records] == ["lehr.services"]
    assert "spoil of /fragile" in caplog.text and ("a secret" in caplog.text) == (how == "raise")


@pytest.mark.parametrize("name", ["disturb", "disturb_later", "disturb_reply"])
def test_a_handler_that_looks_and_fails_has_changed_nothing(name):
    with lehr.serve(Fragile(), port=0) as server, lehr.Node(server.url) as node:
        node.submit("/fragile", "spoil", {"how": "well"})
        with pytest.raises(lehr.Fault, match="failed inside the service"):
            node.submit("/fragile", name)
        node.submit("/fragile", "spoil", {"how": "again"})
        assert node.get("/fragile") == {"done": ["well", "again"]}
        with pytest.raises(lehr.Fault, match="failed inside the service"):
            node.submit("/fragile", name)
        assert node.query("/fragile", "look")[0] == ["well", "again"]


def test_a_coroutine_that_runs_out_of_time_is_cancelled_and_has_changed_nothing():
    with lehr.serve(Fragile(), port=0) as server, lehr.Node(server.url) as node, lehr.Node(server.url, timeout=0.3) as hasty:
        with pytest.raises(lehr.Fault) as told:
            hasty.submit("/fragile", "dawdle")
        assert told.value.code == "response_timeout"
        # The next handler waited for the cancelled one: its clean-up is done, and its change is undone.
        assert node.query("/fragile", "look") == [[], [["dawdling"]]]
        assert node.submit("/fragile", "dawdle", {"seconds": 0.0}) is None
        assert node.get("/fragile") == {"done": ["dawdling"]}


def test_a_node_that_closes_cancels_coroutines_and_answers_their_clients():
    service = Fragile()
    with ThreadPoolExecutor(1) as pool:
        server = lehr.serve(service, port=0)
        node = lehr.Node(server.url)
        asked = pool.submit(node.submit, "/fragile", "dawdle")
        assert service.begun.wait(30)
        began = time.monotonic()
        server.close(timeout=0.2)
        assert time.monotonic() - began < 10
        with pytest.raises(lehr.Fault):
            asked.result(30)
    assert service.left == [["dawdling"]]
    with pytest.raises(lehr.Fault) as told:
        node.get("/fragile")
    assert told.value.code == "unavailable"
    assert server.wait() and server.close() is None


def test_a_function_that_does_not_end_is_left_behind_with_a_warning(caplog):
    service = Fragile()
    with ThreadPoolExecutor(1) as pool, caplog.at_level(logging.WARNING, "lehr.services"):
        server = lehr.serve(service, port=0)
        asked = pool.submit(lehr.Node(server.url).submit, "/fragile", "block")
        assert service.begun.wait(30)
        began = time.monotonic()
        server.close(timeout=0.1)
        assert time.monotonic() - began < 20
        # The client does not wait for ever. It gets the final answer, or learns that the node has ended.
        service.go_on.set()
        told = asked.exception(60)
        assert told is None or isinstance(told, lehr.Fault)
    assert "left behind" in caplog.text or "cut off" in caplog.text


class Leaving(lehr.Service):
    """A service whose coroutines raise exceptions that end a program, or stop the event loop that all handlers share."""

    def __init__(self):
        self.tasks, self.cleaned = [], []

    @lehr.handler("submit")
    async def leave(self, how: str):
        if how == "exit":
            sys.exit("a secret")
        raise KeyboardInterrupt

    @lehr.handler("submit")
    async def hand_over(self, how: str) -> str:
        async def leave():
            if how == "stop":
                asyncio.get_running_loop().stop()
            else:
                await self.leave(how)

        self.tasks.append(asyncio.ensure_future(leave()))
        await asyncio.sleep(0.01)
        return "still here"

    @lehr.handler("submit")
    async def await_another(self, how: str):
        await asyncio.ensure_future(self.leave(how))

    @lehr.handler("submit")
    async def keep(self, how: str) -> None:
        async def kept():
            try:
                await asyncio.sleep(600)
            finally:
                await asyncio.sleep(0.01)
                self.cleaned.append(how)
                await self.leave(how)

        self.tasks.append(asyncio.ensure_future(kept()))
        await asyncio.sleep(0)


def _loops():
    return [thread for thread in threading.enumerate() if thread.name == "lehr-services-loop"]


@pytest.mark.parametrize("name", ["leave", "await_another"])
@pytest.mark.parametrize(("how", "raised"), [("exit", "SystemExit"), ("interrupt", "KeyboardInterrupt")])
def test_a_coroutine_that_would_end_the_program_fails_alone(name, how, raised, caplog):
    with lehr.serve(Leaving(), port=0) as server, lehr.Node(server.url, timeout=20) as node, caplog.at_level(logging.ERROR, "lehr.services"):
        for _ in range(2):
            with pytest.raises(lehr.Fault) as told:
                node.submit("/leaving", name, {"how": how})
            assert told.value.code == "operation_failed" and "secret" not in str(told.value.details)
        assert node.submit("/leaving", "hand_over", {"how": "stop"}) == "still here"
    assert f"the handler raised {raised}" in caplog.text and f"{name} of /leaving failed" in caplog.text
    assert _loops() == []


@pytest.mark.parametrize(("how", "raised"), [("exit", SystemExit), ("interrupt", KeyboardInterrupt), ("stop", None)])
def test_a_task_of_a_handler_that_would_end_the_event_loop_ends_alone(how, raised, caplog):
    service = Leaving()
    with lehr.serve(service, port=0) as server, lehr.Node(server.url, timeout=20) as node, caplog.at_level(logging.ERROR, "lehr.services"):
        assert [node.submit("/leaving", "hand_over", {"how": how}) for _ in range(3)] == ["still here"] * 3
    told = [record.getMessage() for record in caplog.records if record.name == "lehr.services"]
    assert len(told) == (3 if raised else 0) and all(f"raised {raised.__name__}" in text for text in told)
    assert [task.exception() and type(task.exception()) for task in service.tasks] == [raised] * 3 and _loops() == []


def test_tasks_clean_up_when_the_node_closes_whatever_others_raise_then():
    service = Leaving()
    with lehr.serve(service, port=0) as server, lehr.Node(server.url, timeout=20) as node:
        for how in ("exit", "interrupt", "exit"):
            node.submit("/leaving", "keep", {"how": how})
    assert sorted(service.cleaned) == ["exit", "exit", "interrupt"] and _loops() == []
    assert [type(task.exception()) for task in service.tasks] == [SystemExit, KeyboardInterrupt, SystemExit]


@pytest.fixture
def heeds_interrupts():
    """Makes Ctrl-C raise KeyboardInterrupt, even if a shell has started the tests in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_a_signal_while_a_node_closes_still_cancels_its_coroutines():
    service = Fragile()
    with ThreadPoolExecutor(2) as pool:
        server = lehr.serve(service, port=0)
        asked = pool.submit(lehr.Node(server.url).submit, "/fragile", "dawdle")
        assert service.begun.wait(30)

        def interrupt():
            # The node is closed while it is starting.
            assert server.wait(30)
            time.sleep(0.3)
            signal.raise_signal(signal.SIGINT)

        pool.submit(interrupt)
        with pytest.raises(KeyboardInterrupt):
            server.close(timeout=50)
        assert _loops() == [] and service.left == [["dawdling"]]
        with pytest.raises(lehr.Fault):
            asked.result(30)


class Tally(lehr.Service):
    """A service that counts slowly, so that overlapping handlers would lose a count."""

    state = {"plain": 0, "coroutine": 0}

    def __init__(self):
        self.inside, self.most = 0, 0
        self.lock = threading.Lock()
        self.pair = threading.Barrier(2)

    @lehr.handler("update")
    def plain(self):
        value = self.state["plain"]
        time.sleep(0.0005)
        self.state["plain"] = value + 1
        return value

    @lehr.handler("update")
    async def coroutine(self):
        value = self.state["coroutine"]
        await asyncio.sleep(0.0005)
        self.state["coroutine"] = value + 1
        return value

    @lehr.handler("query")
    def together(self):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.002)
        with self.lock:
            self.inside -= 1
        return sum(self.state.values())

    @lehr.handler("query")
    def meet(self):
        # The wait ends only if another handler runs at the same time.
        self.pair.wait(30)

    @lehr.handler("query", group="exclusive")
    def alone(self):
        return self.inside


def test_many_callers_lose_no_change_and_look_together():
    with lehr.serve(Tally(), port=0) as server:
        def call(number):
            with lehr.Node(server.url) as node:
                seen = [node.submit("/tally", ("plain", "coroutine")[number % 2]) for _ in range(20)]
                assert node.query("/tally", "together") >= 20
                # A handler that runs alone sees no other handler.
                assert node.query("/tally", "alone") == 0
                return seen

        with ThreadPoolExecutor(12) as pool:
            seen = list(pool.map(call, range(12)))
        with lehr.Node(server.url) as node:
            assert node.get("/tally") == {"plain": 120, "coroutine": 120}
            assert _asked(server, "GET", "/tally").headers["etag"].endswith('-240"')
        for first in (0, 1):
            assert sorted(value for values in seen[first::2] for value in values) == list(range(120))


def test_handlers_that_look_run_beside_each_other_and_block_no_worker():
    with lehr.serve(Tally(), port=0, threads=1) as server, ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(lehr.Node(server.url).query, "/tally", "meet") for _ in range(2)]
        assert [answer.result(60) for answer in asked] == [None, None]


def test_handlers_without_a_state_and_readers_do_not_wait_for_a_change():
    class Slow(lehr.Service):
        state = 0

        def __init__(self):
            self.begun, self.go_on = threading.Event(), threading.Event()

        @lehr.handler("update")
        def change(self):
            self.begun.set()
            assert self.go_on.wait(30)
            self.state += 1

        @lehr.handler("submit", group="independent")
        def ping(self):
            return "here"

        @lehr.handler("query")
        def value(self):
            return self.state

    service = Slow()
    with lehr.serve(service, port=0) as server, ThreadPoolExecutor(2) as pool:
        changed = pool.submit(lehr.Node(server.url).submit, "/slow", "change")
        assert service.begun.wait(30)
        read = pool.submit(lehr.Node(server.url).query, "/slow", "value")
        assert lehr.Node(server.url).submit("/slow", "ping") == "here"
        assert not changed.done() and not read.done()
        service.go_on.set()
        assert changed.result(30) is None and read.result(30) == 1


def test_asyncio_asks_a_hundred_at_once(register):
    async def told():
        async with lehr.AsyncNode(register.url) as node:
            await asyncio.gather(*(node.submit("/register", "put", {"name": str(number), "age": number}) for number in range(100)))
            return await node.query("/register", "older", {"than": 49})

    assert len(asyncio.run(told())) == 50


def test_documents_are_kept_and_a_change_that_cannot_be_kept_is_not_made(tmp_path):
    folder = tmp_path / "kept"
    with lehr.serve(Register(), port=0, keep=folder) as server, lehr.Node(server.url) as node:
        node.submit("/register", "put", {"name": "Ada", "age": 36})
        folder.rename(tmp_path / "away")
        with pytest.raises(lehr.Fault) as told:
            node.submit("/register", "put", {"name": "Bob", "age": 17})
        assert told.value.code == "insufficient_resources"
        assert node.query("/register", "older") == ["Ada"]
        (tmp_path / "away").rename(folder)
        node.submit("/register", "put", {"name": "Carl", "age": 5})
    with lehr.serve(Register(), port=0, keep=folder) as server, lehr.Node(server.url) as node:
        assert node.query("/register", "older") == ["Ada", "Carl"]
    (folder / "register.json").write_text("{")
    with lehr.serve(Register(), port=0, keep=folder) as server, lehr.Node(server.url) as node:
        assert node.query("/register", "older") == ["Ada", "Carl"]  # from the copy beside it
    for name in ("register.json", "register.json.copy"):
        (folder / name).write_text("{")
    for _ in range(2):
        with pytest.raises(lehr.Fault, match="is damaged too"):
            lehr.serve(Register(), port=0, keep=folder)


def test_numbers_of_numpy_are_numbers_and_each_service_has_a_state_of_its_own():
    class Means(lehr.Service):
        state = {"mean": np.zeros(2), "rows": np.int64(0), "pair": (1, "two")}

        @lehr.handler("update")
        def add(self, row: list[float]):
            rows = self.state["rows"] + 1
            mean = np.asarray(self.state["mean"])
            self.state.update(rows=np.int32(rows), mean=mean + (np.asarray(row) - mean) / rows)
            return np.float32(0.5), {"large": 2**63, "flag": np.bool_(True)}

    with lehr.serve({"/a": Means(), "/b": Means()}, port=0) as server, lehr.Node(server.url) as node:
        assert node.submit("/a", "add", {"row": [1, 3.5]}) == [0.5, {"large": 2**63, "flag": True}]
        assert node.get("/a") == {"mean": [1.0, 3.5], "rows": 1, "pair": [1, "two"]}
        assert node.get("/b")["rows"] == 0 and isinstance(Means.state["mean"], np.ndarray)
        with pytest.raises(lehr.Fault, match=r'row\[1\]: expected number, found "x"'):
            node.submit("/b", "add", {"row": [1, "x"]})


def test_what_cannot_be_served_is_refused():
    class Empty(lehr.Service):
        pass

    with pytest.raises(ValueError, match="The 'verb' parameter must be one of"):
        lehr.handler("get")
    with pytest.raises(ValueError, match="The 'group' parameter must be one of 'exclusive'"):
        lehr.handler("update", group="concurrent")

    class Twice(lehr.Service):
        @lehr.handler("query", name="one")
        def two(self):
            pass

        @lehr.handler("query")
        def one(self):
            pass

    class Many(lehr.Service):
        @lehr.handler("query")
        def many(self, *numbers):
            pass

    class Stream(lehr.Service):
        @lehr.handler("query")
        def stream(self):
            yield 1

    class Named(lehr.Service):
        @lehr.handler("query", name="Not This")
        def it(self):
            pass

    class Unwritable(lehr.Service):
        state = {"things": {1, 2}}

    class Old(lehr.Service):
        version = 1

    for wrong, error, match in [
        (Twice(), TypeError, "two handlers for 'one'"),
        (Many(), TypeError, "fields of a body"),
        (Stream(), TypeError, "a method or a coroutine"),
        (Named(), lehr.Fault, "lower case letters"),
        (Unwritable(), TypeError, "JSON has no set"),
        (Old(), TypeError, "two int such as"),
        (object(), TypeError, "Expected a Service"),
        ({}, TypeError, "Expected a Service"),
        ({"/a": 1}, TypeError, "Expected a Service or functions at /a"),
        (dict.fromkeys(["/a", "/b"], Empty()), ValueError, "two of them have one object"),
        ({"no path": Empty()}, lehr.Fault, "each after a '/'"),
        ({"/directory": Empty()}, lehr.Fault, "a service exists at /directory"),
    ]:
        with pytest.raises(error, match=match):
            lehr.serve(wrong, port=0)
    for settings, match in [
        ({"host": "0.0.0.0"}, "can be reached by others"),
        ({"host": "example.org"}, "The 'host' parameter must be an address"),
        ({"port": 70000}, "The 'port' parameter must be an int from 0 to 65535"),
        ({"threads": 0}, "The 'threads' parameter must be at least 1"),
        ({"queue": 0}, "The 'queue' parameter must be at least 1"),
    ]:
        with pytest.raises(ValueError, match=match):
            lehr.serve(Empty(), **{"port": 0, **settings})
    with lehr.serve(Empty(), port=0) as server:
        taken = int(server.url.rsplit(":", 1)[1])
        with pytest.raises(OSError, match="cannot listen"):
            lehr.serve(Empty(), port=taken)
        with pytest.raises(ValueError, match="seconds of 0 or more"):
            server.close(timeout=-1)


_PROGRAM = """
import sys, lehr
class Note(lehr.Service):
    state = "hello"
    @lehr.handler("query")
    async def ask(self):
        return self.state
server = lehr.serve(Note(), port=0)
with lehr.Node(server.url) as node:
    assert node.query("/note", "ask") == "hello"
print(server.url, flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
def test_a_signal_ends_a_node_that_waits():
    # If a shell starts the tests in the background, the tests and their children ignore Ctrl-C.
    heeding = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program = heeding + _PROGRAM + "with server:\n    server.wait()\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as serving:
        url = serving.stdout.readline().strip()
        assert lehr.Node(url).get("/note") == "hello"
        serving.send_signal(signal.SIGINT)
        try:
            told = serving.communicate(timeout=30)[1]
        finally:
            serving.kill()
    assert "KeyboardInterrupt" in told
    with pytest.raises(lehr.Fault, match="does not answer"):
        lehr.Node(url, timeout=2).get("/note")


def test_a_program_that_forgets_its_node_ends_all_the_same():
    ended = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0 and ended.stderr == "", ended.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fork is POSIX's")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_no_node_and_leaves_the_other_alone(register, node):
    child = os.fork()
    if child == 0:
        # In the fork, there is nothing to end and nothing to wait for.
        register.close()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert node.get("/register") == {"people": {}}


def test_the_text_of_a_document_is_json():
    class Text(lehr.Service):
        state = {"ü": [None, True, -1, 2.5, "\u2028\n"], "empty": {}}

    with lehr.serve(Text(), port=0) as server:
        answer = _asked(server, "GET", "/text")
        assert json.loads(answer.text) == Text.state
