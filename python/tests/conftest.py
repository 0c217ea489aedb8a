"""The fixtures that the tests share."""

import os

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import lehr


@pytest.fixture(scope="session")
def wine():
    """Returns Wine, with each column standardised to mean 0 and standard deviation 1."""
    data = lehr.datasets.load_wine().data
    return (data - data.mean(axis=0)) / data.std(axis=0)


@pytest.fixture(scope="session")
def command():
    """Returns the path of the command, for comparisons. `make test-python` builds the command and sets the path."""
    path = os.environ.get("LEHR_COMMAND")
    if path is None:
        pytest.skip("LEHR_COMMAND does not name the command: run `make test-python`")
    return path


@pytest.fixture(scope="session")
def mpiexec():
    """Returns the path of the MPI launcher. `make test-python` installs a launcher and sets the path."""
    path = os.environ.get("LEHR_MPIEXEC")
    if path is None:
        pytest.skip("LEHR_MPIEXEC does not name a launcher: run `make test-python`")
    return path


@pytest.fixture(autouse=True)
def parameters_stay_as_they_are(request):
    """Checks that tests do not change an estimator of `parametrize`, which tests and threads share. So a test must fit a clone."""
    parameters = request.node.callspec.params.values() if hasattr(request.node, "callspec") else []
    shared = [value for value in parameters if isinstance(value, BaseEstimator)]
    before = [dict(vars(estimator)) for estimator in shared]
    yield
    for estimator, then in zip(shared, before, strict=True):
        changed = [name for name, value in vars(estimator).items() if name not in then or value is not then[name]]
        assert not changed, f"the test changed {changed} of an estimator of its parameters: let it fit a clone"


@pytest.fixture(scope="session")
def two_pairs():
    """Returns two pairs: the items of a pair are 1 apart, and the pairs are 9 apart."""
    return np.array([[0, 1, 9, 9], [1, 0, 9, 9], [9, 9, 0, 1], [9, 9, 1, 0]], dtype=float)
