"""A plugin of pytest that replaces scikit-learn's estimators by Lehr's, and writes the outcome of each test that built one.

``test_sklearn_suite.py`` loads it in a separate process by ``pytest -p sklearn_suite_plugin --pyargs sklearn.cluster.tests.test_k_means``.
"""

import functools
import json
import os

import pytest
import sklearn.cluster
import sklearn.manifold
import sklearn.manifold._mds
import sklearn.mixture

import lehr

#: The tests that have built an estimator of Lehr.
_BUILT = set()
_OUTCOMES = {}
_CURRENT = [None]


def _noted(cls):
    """Returns a class whose instances record the test in which they are built."""

    class Noted(cls):
        @functools.wraps(cls.__init__)
        def __init__(self, *args, **kwargs):
            _BUILT.add(_CURRENT[0])
            super().__init__(*args, **kwargs)

    return Noted


class KMeans(_noted(lehr.KMeans)):
    pass


class GaussianMixture(_noted(lehr.DAGaussianMixture)):
    pass


class MDS(_noted(lehr.SMACOF)):
    pass


def pytest_configure(config):
    """Replaces one class before the tests import it. The other classes stay, because tests compare mixtures with scikit-learn's own k-means."""
    in_place = os.environ["LEHR_IN_PLACE"]
    if in_place == "KMeans":
        sklearn.cluster.KMeans = KMeans
    elif in_place == "GaussianMixture":
        sklearn.mixture.GaussianMixture = GaussianMixture
    else:
        sklearn.manifold.MDS = sklearn.manifold._mds.MDS = MDS


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    _CURRENT[0] = item.nodeid.rpartition("::")[2]
    return (yield)


def pytest_runtest_logreport(report):
    name = report.nodeid.rpartition("::")[2]
    if report.when == "call" or report.outcome != "passed":
        error = "" if report.longrepr is None else str(report.longrepr).splitlines()[-1]
        _OUTCOMES[name] = (report.outcome, error)


def pytest_sessionfinish(session):
    built = {name: outcome for name, outcome in _OUTCOMES.items() if name in _BUILT}
    with open(os.environ["LEHR_OUTCOMES"], "w", encoding="utf-8") as file:
        json.dump(built, file)
