"""Functions that are served as operations, by `lehr.serve` and `python3 -m lehr serve`, and as steps of a workflow of the command."""

import contextlib
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import lehr

pytest.importorskip("httpx")
pytestmark = pytest.mark.thread_unsafe(reason="each test starts processes or nodes")

STEPS = '''
"""Steps of a workflow."""

from math import sqrt

import lehr
from beside import separators


def count(lines: list[str], ranks: int = 2) -> dict[str, int]:
    def words(line):
        return ((word, 1) for word in line.split(separators))

    def program(comm):
        return comm.map_reduce(lines[comm.rank :: comm.size], words, lambda word, ones: len(ones), everywhere=True)

    return lehr.ranks.run(program, ranks)[0]


async def most_frequent(counts: dict[str, int]) -> str:
    return max(counts, key=counts.get)


def root(number: float) -> float:
    if number < 0:
        raise lehr.Fault("invalid_value", f"{number} has no root")
    return sqrt(number)


def _helper():
    raise AssertionError


class WordCount(lehr.Service):
    state = {"words": 0}

    @lehr.handler("update")
    def add(self, text: str) -> int:
        self.state["words"] += len(text.split())
        return self.state["words"]
'''


@contextlib.contextmanager
def _served(tmp_path):
    """Serves the steps in a process of its own. Yields the address."""
    (tmp_path / "steps.py").write_text(STEPS)
    (tmp_path / "beside.py").write_text("separators = None\n")
    process = subprocess.Popen([sys.executable, "-m", "lehr", "serve", str(tmp_path / "steps.py"), "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline()
        yield re.fullmatch(r"lehr: serving /steps, /word_count at (http://127\.0\.0\.1:\d+)\. Ctrl-C ends\.\n", line).group(1)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def test_the_functions_and_services_of_a_file(tmp_path):
    with _served(tmp_path) as url, lehr.Node(url) as node:
        counts = node.query("/steps", "count", {"lines": ["to be or", "not to be"]})
        assert counts == {"to": 2, "be": 2, "or": 1, "not": 1}
        assert node.query("/steps", "most_frequent", {"counts": {"a": 1, "b": 2}}) == "b"
        assert node.submit("/word_count", "add", {"text": "one two"}) == 2
        with pytest.raises(lehr.Fault, match="-1.0 has no root") as fault:
            node.query("/steps", "root", {"number": -1.0})
        assert fault.value.code == "invalid_value"
        with pytest.raises(lehr.Fault, match="number: expected number"):
            node.query("/steps", "root", {"number": "nine"})
        for name in ("_helper", "sqrt"):
            with pytest.raises(lehr.Fault):
                node.query("/steps", name, {})


def test_functions_are_steps_of_a_workflow(command, tmp_path):
    (tmp_path / "words.toml").write_text(
        """
        name = "words"
        output = "the most frequent word: ${top}"
        parameters.python = { type = "string", about = "the node that counts" }
        [steps.count]
        node = "${parameters.python}"
        service = "/steps"
        operation = "count"
        with = { lines = ["to be or not to be", "to that"], ranks = 3 }
        [steps.top]
        node = "${parameters.python}"
        service = "/steps"
        operation = "most_frequent"
        with = { counts = "${count}" }
        """
    )

    def ran(*more):
        return subprocess.run([command, "run", str(tmp_path / "words.toml"), *more], capture_output=True, text=True, timeout=60, cwd=tmp_path)

    with _served(tmp_path) as url:
        ended = ran("--set", f"python={url}")
        assert ended.returncode == 0, ended.stderr
        assert "the most frequent word: to" in ended.stdout
        # The plan knows the functions' parameters before anything runs.
        wrong = (tmp_path / "words.toml").read_text().replace("ranks = 3", 'ranks = "three"')
        (tmp_path / "words.toml").write_text(wrong)
        ended = ran("--set", f"python={url}")
        assert ended.returncode != 0 and "ranks: expected a whole number" in ended.stderr


@pytest.fixture
def environment():
    """Returns the environment of a command whose `python3` is this Python."""
    return os.environ | {"PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}


WORDS = """
name = "words"
output = "the most frequent word: ${top}"

[services."/counting"]
contract = "lehr/python"
configuration = { file = "steps.py" }

[steps.count]
service = "/counting"
operation = "count"
with = { lines = ["to be or not to be", "to that"] }

[steps.top]
service = "/counting"
operation = "most_frequent"
with = { counts = "${count}" }
"""


def _write(tmp_path, words=WORDS, steps=STEPS):
    (tmp_path / "steps.py").write_text(steps)
    (tmp_path / "beside.py").write_text("separators = None\n")
    (tmp_path / "words.toml").write_text(words)


def _processes(tmp_path):
    found = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True).stdout
    return [line for line in found.splitlines() if str(tmp_path) in line and "lehr serve" in line]


def test_a_workflow_brings_its_python_along(command, tmp_path, environment):
    _write(tmp_path)
    ended = subprocess.run([command, "run", "words.toml"], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment)
    assert ended.returncode == 0, ended.stderr
    assert "the most frequent word: to" in ended.stdout
    assert _processes(tmp_path) == []


def test_the_example_of_the_guide(command, tmp_path, environment):
    page = (Path(__file__).parents[2] / "docs" / "guide" / "workflows.md").read_text()
    section = page.split("## Steps in Python\n")[1].split("\n## ")[0]
    program, workflow, session = re.findall(r"```(?:python|toml|console)\n(.*?)```", section, flags=re.DOTALL)
    (tmp_path / "words.py").write_text(program)
    (tmp_path / "words.toml").write_text(workflow)
    asked, answer = session.split("\n", 1)
    assert asked == "$ lehr run words.toml"
    ended = subprocess.run([command, "run", "words.toml"], capture_output=True, text=True, timeout=60, env=environment, cwd=tmp_path)
    assert (ended.returncode, ended.stdout) == (0, answer), ended.stderr


def test_a_run_that_fails_in_python_is_resumed(command, tmp_path, environment):
    def ran(*more):
        return subprocess.run([command, "run", str(tmp_path / "words.toml"), "--keep", str(tmp_path / "kept"), *more], capture_output=True, text=True, timeout=60, env=environment)

    _write(tmp_path, steps=STEPS.replace("return max(counts, key=counts.get)", 'print("never", flush=True); raise lehr.Fault("invalid_value", "no counts today")'))
    ended = ran()
    assert ended.returncode != 0 and "no counts today" in ended.stderr and "steps.py: never" in ended.stderr
    _write(tmp_path)
    ended = ran("--resume")
    assert ended.returncode == 0, ended.stderr
    assert "done before: count" in ended.stderr and "the most frequent word: to" in ended.stdout


def test_an_unchanged_step_is_not_run_again(command, tmp_path, environment):
    _write(tmp_path, "cache = true\n" + WORDS)

    def repeated():
        ended = subprocess.run([command, "run", "words.toml"], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment)
        assert ended.stdout == "the most frequent word: to\n", ended.stderr
        return [name for name in ("count", "top") if f"{name}: unchanged; its answer is from words-1" not in ended.stderr]

    assert repeated() == ["count", "top"]
    assert repeated() == []
    # Another source is another version, and gives another fingerprint to both of its functions.
    (tmp_path / "steps.py").write_text(STEPS + "\n# changed\n")
    assert repeated() == ["count", "top"]


def test_python_ends_with_a_run_that_is_killed(command, tmp_path, environment):
    _write(tmp_path, steps=STEPS.replace("return max(counts, key=counts.get)", "import asyncio; await asyncio.sleep(60)"))
    process = subprocess.Popen([command, "run", str(tmp_path / "words.toml"), "--keep", str(tmp_path / "kept")], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if line.startswith("top: begun"):
            break
    assert len(_processes(tmp_path)) == 1
    process.kill()
    process.wait()
    process.stderr.close()
    until = time.monotonic() + 20
    while _processes(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert _processes(tmp_path) == []


@pytest.mark.parametrize("steps", [STEPS, "import time\ntime.sleep(600)\n" + STEPS])
def test_python_ends_though_interrupts_are_ignored(command, tmp_path, environment, steps):
    """Checks a run in the background of a shell script, whose processes ignore Ctrl-C: when it is killed, and while the file is still being read."""
    _write(tmp_path, steps=steps.replace("return max(counts, key=counts.get)", "import asyncio; await asyncio.sleep(600)"))
    script = f"trap '' INT; exec {command} run {tmp_path}/words.toml --keep {tmp_path}/kept"
    process = subprocess.Popen(["sh", "-c", script], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    while not _processes(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(1)
    assert len(_processes(tmp_path)) == 1
    process.kill()
    process.wait()
    until = time.monotonic() + 20
    while _processes(tmp_path) and time.monotonic() < until:
        time.sleep(0.05)
    assert _processes(tmp_path) == []


def test_a_file_may_print_anything(command, tmp_path, environment):
    loud = 'import sys\nprint("see http://example.invalid/docs", flush=True)\nsys.stdout.buffer.write(b"l\\xe9hr\\n")\n'
    _write(tmp_path, steps=loud + STEPS)
    ended = subprocess.run([command, "run", "words.toml"], capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment)
    assert ended.returncode == 0 and "the most frequent word: to" in ended.stdout, ended.stderr
    assert "steps.py: see http://example.invalid/docs" in ended.stderr and "steps.py: l" in ended.stderr


@pytest.mark.parametrize(
    ("words", "steps", "expected"),
    [
        (WORDS.replace('{ file = "steps.py" }', "{ }"), STEPS, 'services."/counting".configuration: file: missing'),
        (WORDS.replace('{ file = "steps.py" }', '{ file = "steps.py", colour = 1 }'), STEPS, "colour: no such field; expected one of file, interpreter, service"),
        (WORDS.replace('{ file = "steps.py" }', "{ file = 3 }"), STEPS, "file: expected a text, found 3"),
        (WORDS.replace('"steps.py" }', '"steps.py", interpreter = "bin/python" }'), STEPS, "bin/python: cannot be started"),
        (WORDS.replace("steps.py", "none.py"), STEPS, "expected a Python file"),
        (WORDS, "x = 1 +\n", "SyntaxError"),
        (WORDS, "def state(): return 1\n", "must not be called 'state'"),
        (WORDS, "def many(*numbers): return 1\n", "parameters of many are the fields of a body"),
        (WORDS.replace("most_frequent", "rarest"), STEPS, "rarest"),
        (WORDS.replace('["to be or not to be", "to that"]', '"to be"'), STEPS, "expected a list"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(command, tmp_path, environment, words, steps, expected):
    _write(tmp_path, words, steps)
    ended = subprocess.run([command, "run", str(tmp_path / "words.toml")], capture_output=True, text=True, timeout=60, env=environment, cwd=tmp_path)
    assert ended.returncode != 0 and expected in ended.stderr, ended.stderr
    assert _processes(tmp_path) == []


def test_functions_of_a_program():
    def double(number: int) -> int:
        return 2 * number

    def whole(body: list[int], /) -> int:
        return sum(body)

    with lehr.serve([double, whole], path="/numbers", port=0) as server, lehr.Node(server.url) as node:
        assert node.query("/numbers", "double", {"number": 4}) == 8
        assert node.query("/numbers", "whole", [1, 2, 3]) == 6
    with lehr.serve({"/one": double, "/two": [double, whole]}, port=0) as server, lehr.Node(server.url) as node:
        assert [node.query(path, "double", {"number": 1}) for path in ("/one", "/two")] == [2, 2]


def test_what_is_no_function_is_refused(tmp_path):
    def numbers():
        yield 1

    def twice():
        return 1

    first = twice

    def twice():
        return 2

    for served, words in [
        (numbers, "Got the generator numbers"),
        ([first, twice], "Two functions are called 'twice'"),
        ([], "Expected a Service or functions"),
        ([1], "Expected a Service or functions"),
        (lambda *everything: 1, "parameters of"),
        ({"/a": 1}, "Expected a Service or functions at /a"),
    ]:
        with pytest.raises(TypeError, match=words):
            lehr.serve(served, port=0)
    (tmp_path / "empty.py").write_text("import math\n")
    for arguments, words in [([str(tmp_path / "empty.py")], "defines no function"), ([str(tmp_path / "none.py")], "expected a Python file"), ([], "the following arguments are required: file")]:
        ended = subprocess.run([sys.executable, "-m", "lehr", "serve", *arguments], capture_output=True, text=True, timeout=60)
        assert ended.returncode != 0 and words in ended.stderr and "Traceback" not in ended.stderr
