"""Runs scikit-learn's own tests of KMeans, GaussianMixture and MDS, from the installed package, with Lehr's estimators instead.

Only tests that build the estimator count, except tests of private parts of other classes (``OTHERS``). At least 95 % of these tests pass. Each test that fails
is named with the reason (``EXCEPTIONS``). A named test that passes or does not exist makes this test fail too.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

pytestmark = [
    pytest.mark.thread_unsafe(reason="each runs a process for a minute"),
    pytest.mark.skipif(parse_version(sklearn.__version__) < parse_version("1.9"), reason="the exceptions are those of the tests of scikit-learn 1.9"),
]

_PRIVATE = "calls a private method of scikit-learn's class"

#: Tests that do not concern Lehr's estimator, with the reason. A name without parameters stands for all parameters.
OTHERS = {
    "KMeans": {
        "test_sample_weight_init": _PRIVATE,
        "test_sample_weight_zero": _PRIVATE,
    },
    "GaussianMixture": {
        "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": "counts calls of a private function of scikit-learn's",
        "test_gaussian_mixture_precisions_init": _PRIVATE,
    },
    "MDS": {
        "test_future_warning_init_and_metric": "expects warnings of parameters that scikit-learn's class will change",
        "test_normalized_stress_auto": "counts calls of a private function of scikit-learn's",
    },
}
#: Tests that fail, with the reason.
EXCEPTIONS = {
    "KMeans": {
        "test_kmeans_verbose": "progress is a line on standard error, not scikit-learn's words on standard output",
    },
    "GaussianMixture": {
        "test_gaussian_mixture_precisions_init_diag": "takes the precisions of scikit-learn's k-means for those of the default start, which is annealed",
    },
    "MDS": {
        "test_classical_mds_init_to_mds": "compares maps without regard to their orientation: axes are principal ones, of either sign",
        "test_returned_stress": "the map is exact, and numbers of the size of rounding are compared by their ratio",
    },
}
MODULES = {
    "KMeans": "sklearn.cluster.tests.test_k_means",
    "GaussianMixture": "sklearn.mixture.tests.test_gaussian_mixture",
    "MDS": "sklearn.manifold.tests.test_mds",
}
#: The minimum share of all tests that pass, and the minimum share for each estimator.
SHARE, SHARE_OF_EACH = 0.95, {"KMeans": 0.95, "GaussianMixture": 0.95, "MDS": 0.8}


def _outcomes(name, folder):
    """Returns the outcome of each test that built the estimator."""
    folder.mkdir()
    here = Path(__file__).parent
    environment = {
        **os.environ,
        "LEHR_IN_PLACE": name,
        "LEHR_OUTCOMES": str(folder / "outcomes.json"),
        "SKLEARN_RUN_FLOAT32_TESTS": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(here), os.environ.get("PYTHONPATH")])),
    }
    # Run in another folder, so that pytest does not read this folder's configuration.
    line = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "-p", "sklearn_suite_plugin", "-p", "no:cacheprovider", "--tb=line", "--pyargs"]
    ended = subprocess.run([*line, MODULES[name]], cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode in (0, 1), ended.stdout[-2000:] + ended.stderr[-2000:]
    return json.loads((folder / "outcomes.json").read_text(encoding="utf-8"))


def _named(test, tests):
    return test.partition("[")[0] in tests


def test_scikit_learns_own_tests_pass_but_for_those_that_are_named(tmp_path):
    counted = passed = 0
    with ThreadPoolExecutor(len(MODULES)) as pool:
        found = dict(zip(MODULES, pool.map(lambda name: _outcomes(name, tmp_path / name), MODULES), strict=True))
    for name, outcomes in found.items():
        others, exceptions = OTHERS[name], EXCEPTIONS[name]
        ran = {test: outcome for test, outcome in outcomes.items() if outcome[0] != "skipped"}
        failed = {test: outcome[1] for test, outcome in ran.items() if outcome[0] != "passed"}
        assert {test: why for test, why in failed.items() if not _named(test, others) and not _named(test, exceptions)} == {}
        # An exception that passes, or that does not exist, must be removed.
        assert {test for test in ran if _named(test, exceptions)} - failed.keys() == set()
        assert others.keys() | exceptions.keys() == {test.partition("[")[0] for test in failed}
        ours = [test for test in ran if not _named(test, others)]
        well = [test for test in ours if test not in failed]
        assert len(ours) >= {"KMeans": 150, "GaussianMixture": 44, "MDS": 17}[name]
        assert len(well) / len(ours) >= SHARE_OF_EACH[name], f"{name}: {len(well)} of {len(ours)}"
        counted, passed = counted + len(ours), passed + len(well)
    assert passed / counted >= SHARE, f"{passed} of {counted} tests pass"
