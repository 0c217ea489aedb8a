"""Public names: each is documented with parameters and an example, its example runs, and the stubs agree with the module."""

import doctest
import importlib
import inspect
import subprocess
import sys

import matplotlib
import pytest

import lehr

MODULES = ["lehr", "lehr.async_node", "lehr.cluster", "lehr.datasets", "lehr.distances", "lehr.kmeans", "lehr.manifold", "lehr.mixture", "lehr.node", "lehr.plot", "lehr.ranks", "lehr.report", "lehr.runtime", "lehr.services", "lehr.topographic"]
pytestmark = pytest.mark.thread_unsafe(reason="doctest takes the standard output")
#: Named in an interface that is documented elsewhere: scikit-learn's, or their class.
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
                for method, function in vars(thing).items():
                    if inspect.isfunction(function) and not method.startswith("_"):
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


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("module", ["_centers", "_download", "_job", "_learnt", "_load", "_model", "cluster", "datasets", "distances", "kmeans", "manifold", "mixture", "plot", "ranks", "report", "runtime", "topographic"])
def test_examples_run(module):
    matplotlib.use("Agg")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testmod(importlib.import_module(f"lehr.{module}"), optionflags=flags)
    assert tried > 0 and failed == 0


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
