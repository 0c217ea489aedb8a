"""Every public name is documented with parameters and an example that runs, and is used by a test. The stubs agree with the module."""

import ast
import doctest
import importlib
import inspect
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import matplotlib
import pytest

import lehr

MODULES = ["lehr", "lehr.agglomerative", "lehr.async_node", "lehr.cluster", "lehr.datasets", "lehr.density", "lehr.distances", "lehr.explanation", "lehr.kmeans", "lehr.kmedoids", "lehr.manifold", "lehr.mixture", "lehr.node", "lehr.plot", "lehr.preparation", "lehr.ranks", "lehr.report", "lehr.runtime", "lehr.services", "lehr.tables", "lehr.topographic"]
pytestmark = pytest.mark.thread_unsafe(reason="doctest takes the standard output")
#: Names that are documented elsewhere: by scikit-learn, or by their class.
WITHOUT_EXAMPLES = {"Closed", "Full", "Progress", "RankError", "Stopped", "__version__"}


def _public():
    for module in MODULES:
        names = importlib.import_module(module)
        for name in names.__all__:
            thing = getattr(names, name)
            if inspect.ismodule(thing):
                continue
            yield f"{module}.{name}", thing
            if inspect.isclass(thing) and thing.__module__.startswith("lehr."):
                # Methods that a class inherits from one of Lehr's classes count too.
                for method, function in inspect.getmembers(thing, inspect.isfunction):
                    if function.__module__.startswith("lehr.") and not method.startswith("_"):
                        yield f"{module}.{name}.{method}", function


@pytest.mark.parametrize(("name", "thing"), list(_public()), ids=lambda value: value if isinstance(value, str) else "")
def test_is_documented_with_parameters_and_an_example(name, thing):
    if name.rsplit(".", 1)[1] in WITHOUT_EXAMPLES:
        return
    text = inspect.getdoc(thing) or ""
    assert "Examples\n--------" in text, "has no example"
    if not inspect.isclass(thing):
        try:
            parameters = inspect.signature(thing).parameters
        except ValueError:
            return
        for parameter in parameters:
            if parameter != "self":
                assert any(f"\n{stars}{parameter}" in text for stars in ("", "*", "**")), f"says nothing of {parameter}"
        assert "Returns\n-------" in text or name.endswith(".save"), "does not say what it returns"


EXAMPLES = [
    "_centers", "_communicator", "_download", "_explained", "_grid", "_items", "_job", "_learnt", "_load", "_messages", "_model", "_requests", "_shown", "_window", "agglomerative", "cluster", "datasets", "distances", "explanation", "kmeans", "kmedoids", "manifold", "mixture",
    "plot", "preparation", "ranks", "report", "runtime", "services", "tables", "topographic",
]  # fmt: skip


@pytest.fixture(scope="module")
def ran():
    """Returns the outcome of each module's examples, and the code of all functions that they called, in any thread."""
    matplotlib.use("Agg")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    called, results = set(), {}

    def watch(frame, event, _):
        if event == "call":
            called.add(frame.f_code)

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        for module in EXAMPLES:
            results[module] = doctest.testmod(importlib.import_module(f"lehr.{module}"), optionflags=flags)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return results, called


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("module", EXAMPLES)
def test_examples_run(ran, module):
    if module == "services":
        pytest.importorskip("httpx")
    failed, tried = ran[0][module]
    assert tried > 0 and failed == 0


def _read_by_tests():
    """Returns the names and attributes in the other tests, and in the examples that test_node.py runs against a node."""
    texts = [file.read_text(encoding="utf-8") for file in Path(__file__).parent.glob("test_*.py") if file.name != Path(__file__).name]
    for module in ("_asking", "node", "async_node"):
        for test in doctest.DocTestFinder().find(importlib.import_module(f"lehr.{module}")):
            texts += [textwrap.dedent(example.source) for example in test.examples]
    for text in texts:
        # Examples may use await at the top level, unlike modules.
        for node in ast.walk(compile(text, "", "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)):
            if isinstance(node, (ast.Attribute, ast.Name)):
                yield node.attr if isinstance(node, ast.Attribute) else node.id


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_name_is_exercised(ran):
    """Checks that an example or a test uses each name. For a class, it is enough that one of its methods is used."""
    called, read = ran[1], set(_read_by_tests())

    def is_exercised(name, thing):
        members = vars(thing) if inspect.isclass(thing) else {}
        return (
            name.rsplit(".", 1)[1] in read
            or any(getattr(one, "__code__", None) in called for one in (thing, *members.values()))
            or any(member in read for member in members if not member.startswith("_"))
        )

    names = [(name, thing) for name, thing in _public() if callable(thing)]
    assert len(names) > 200 and [name for name, thing in names if not is_exercised(name, thing)] == []


def test_examples_of_the_native_classes_run():
    from lehr import _native

    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for thing in (_native.Sequences, _native.Fingerprints):
        for test in finder.find(thing, thing.__name__, module=_native, globs={}):
            runner.run(test)
    assert runner.tries > 0 and runner.failures == 0


def test_stubs_agree_with_the_module():
    pytest.importorskip("mypy")
    checked = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "lehr._native", "--ignore-missing-stub"], capture_output=True, text=True
    )
    assert checked.returncode == 0, checked.stdout


def test_the_version_is_one():
    from importlib.metadata import version

    assert lehr.__version__ == version("lehr")
