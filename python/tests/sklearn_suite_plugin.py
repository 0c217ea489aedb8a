"""A plugin of pytest that puts Lehr's estimators in the place of scikit-learn's, and writes what came of each test that built one.

``test_sklearn_suite.py`` loads it into a process of its own, by ``pytest -p sklearn_suite_plugin --pyargs sklearn.cluster.tests.test_k_means``.
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

#: Tests that built an estimator of Lehr's.
_BUILT = set()
_OUTCOMES = {}
_CURRENT = [None]


def _noted(cls):
    """A class whose instances note the test that they are built in."""

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
    """Before the tests import what they test. One class at a time: mixtures are compared with scikit-learn's own k-means."""
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
