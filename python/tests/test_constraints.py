"""Parameters of estimators: scikit-learn checks them, in the ranges that the library declares. Also their names and types for tools."""

import inspect
import subprocess
import sys
import threading
import typing

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval, StrOptions, make_constraint
from sklearn.utils.estimator_checks import check_param_validation

import lehr
from lehr.distances import METRIC, Metric
from test_declared import ESTIMATORS, METHODS

ALL = [getattr(lehr, name) for name in lehr.__all__]
ALL = [thing for thing in ALL if inspect.isclass(thing) and issubclass(thing, BaseEstimator)]
#: Ranges that are wider than the declared ones, with the reason.
WIDER = {
    ("cluster", "tolerance", lehr.KMeans): "of k-means any tolerance of scikit-learn's, which its centres' moves are compared with",
    ("mixture", "tolerance", lehr.DAGaussianMixture): "starts as scikit-learn has them end by any tolerance",
    ("mixture", "max_iterations", lehr.DAGaussianMixture): "0 gives the start itself",
}


@pytest.mark.thread_unsafe(reason="it sets parameters of what all threads share")
@pytest.mark.parametrize("estimator", ALL, ids=lambda estimator: estimator.__name__)
def test_scikit_learns_check_of_parameters(estimator):
    check_param_validation(estimator.__name__, estimator())


def _range(constraint):
    """Returns a constraint in the words of the declaration; ``None`` if it is not a range."""
    if isinstance(constraint, Interval):
        if constraint.closed == "neither":
            return f"above {constraint.left:g}"
        if constraint.right == np.inf:
            return f"at least {constraint.left:g}"
        if constraint.right is None:
            return None if constraint.left == 0 else f"at least {constraint.left}"
        most = f"{constraint.right:.15g}" if constraint.right >= 1e6 else f"{constraint.right:g}"
        return f"{constraint.left:g} to {most}"
    return None


# A preparation of tables belongs to no declared method.
@pytest.mark.parametrize("estimator", [one for one in ALL if one is not lehr.TablePreparation], ids=lambda estimator: estimator.__name__)
def test_ranges_are_the_declared_ones(estimator):
    method = "cluster" if estimator in (lehr.DAClustering, lehr.KMeans) else next(name for name, of in ESTIMATORS.items() if of is estimator)
    compared = 0
    for option in METHODS[method]["options"]:
        name = option["python"] or option["name"]
        constraints = estimator._parameter_constraints.get(name)
        if constraints is None or option["kind"] not in ("count", "number") or name == "random_state":
            continue
        if (method, option["name"], estimator) in WIDER:
            continue
        ranges = [_range(constraint) for constraint in constraints if isinstance(constraint, Interval)]
        # 10000 and 1e+04 are the same number.
        said = [text and text.replace("1e+04", "10000") for text in ranges]
        assert said == [option["range"]], name
        compared += 1
    assert compared >= 2


@pytest.mark.parametrize("estimator", ALL, ids=lambda estimator: estimator.__name__)
def test_words_have_literal_types(estimator):
    hints = typing.get_type_hints(estimator.__init__)
    for name, constraints in estimator._parameter_constraints.items():
        for constraint in map(make_constraint, constraints):
            if not isinstance(constraint, StrOptions) or constraints is METRIC:
                continue
            literals = [one for one in (hints[name], *typing.get_args(hints[name])) if typing.get_origin(one) is typing.Literal]
            assert [set(typing.get_args(one)) for one in literals] == [constraint.options], name
    assert set(typing.get_args(Metric)) <= METRIC[0].options and len(typing.get_args(Metric)) > 20


def test_what_a_fit_gives_has_types(tmp_path):
    (tmp_path / "user.py").write_text(
        "import numpy as np\nfrom numpy.typing import NDArray\nimport lehr\n"
        "X = np.zeros((3, 2))\n"
        "a: NDArray[np.int32] = lehr.KMeans(2).fit(X).labels_\n"
        "b: NDArray[np.int32] = lehr.KMeans(2).fit_predict(X)\n"
        "c: NDArray[np.int32] = lehr.DAClustering(2).fit_predict(X)\n"
        "d: NDArray[np.int32] = lehr.KMedoids(2).fit(X).labels_\n"
        "e: NDArray[np.int32] = lehr.PairwiseClustering(2).fit_predict(X)\n"
        "f: NDArray[np.int32] = lehr.DAGaussianMixture(2).fit(X).labels_\n"
        "g: str = lehr.DAGaussianMixture(2).fit_predict(X)  # wrong\n"
        "h: str = lehr.KMeans(2).fit_predict(X)  # wrong\n"
        "i: str = lehr.KMeans(2).partial_fit(X).labels_  # wrong\n"
        "lehr.KMeans(2, init='forgy')  # an array is meant, for which a text passes\n"
        "lehr.KMeans(2, algorithm='full')  # wrong\n"
        "lehr.SMACOF(metric='nearness')  # wrong\n"
        "lehr.pairwise_distances(['A'], alignment='global')\n"
        "lehr.pairwise_distances(['A'], alignment='globally')  # wrong\n",
        encoding="utf-8",
    )
    line = [sys.executable, "-m", "mypy", "--no-incremental", "--ignore-missing-imports", "user.py"]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    text = (tmp_path / "user.py").read_text().splitlines()
    wrong = {number for number, row in enumerate(text, 1) if row.endswith("# wrong")}
    assert {int(row.split(":")[1]) for row in ended.stdout.splitlines() if ": error:" in row} == wrong, ended.stdout + ended.stderr


def test_kinds_for_tools_of_before_scikit_learn_1_6():
    kinds = {estimator.__name__: getattr(estimator, "_estimator_type", None) for estimator in ALL}
    assert kinds == {
        "AgglomerativeClustering": "clusterer", "DAClustering": "clusterer", "DAGaussianMixture": "DensityEstimator", "GTM": None, "HDBSCAN": "clusterer", "KMeans": "clusterer", "KMedoids": "clusterer",
        "MiniBatchKMeans": "clusterer", "PairwiseClustering": "clusterer", "SMACOF": None, "TablePreparation": None,
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        lehr.DAClustering(3), lehr.KMeans(3), lehr.KMedoids(3), lehr.MiniBatchKMeans(3), lehr.PairwiseClustering(3), lehr.SMACOF(), lehr.SMACOF(metric_mds=False, max_iter=5),
        lehr.GTM(n_nodes=6, n_basis=3), lehr.DAGaussianMixture(3), lehr.DAGaussianMixture(3, init_params="kmeans", reg_covar=1e-6),
        lehr.DAGaussianMixture(3, covariance_type="tied", warm_start=True),
    ],
    ids=repr,
)  # fmt: skip
def test_single_precision_in_is_single_precision_out(estimator, wine, tmp_path):
    single = wine[:, :5].astype(np.float32)
    asked = ("transform", "predict_proba", "score_samples", "responsibilities")
    figures = (
        "cluster_centers_", "embedding_", "means_", "weights_", "covariances_", "precisions_", "precisions_cholesky_", "probabilities_"
    )  # fmt: skip
    kept_double = {"GTM": {"weights_"}}.get(type(estimator).__name__, set())
    # Each test runs in several threads at once, so fit a clone.
    model = clone(estimator)
    for X in (single, single.astype(np.float64), single):
        model.fit(X)
        found = {name: getattr(model, name)(X).dtype for name in asked if hasattr(model, name)}
        found |= {name: getattr(model, name).dtype for name in figures if hasattr(model, name) and name not in kept_double}
        assert found and set(found.values()) == {X.dtype}, found
        if hasattr(model, "sample"):
            assert model.sample(2)[0].dtype == X.dtype
        if hasattr(model, "predict"):
            np.testing.assert_array_equal(model.predict(X), model.labels_)
        path = tmp_path / f"model {threading.get_ident()}"
        model.save(path)
        again = lehr.load(path)
        for name in asked:
            if hasattr(model, name):
                np.testing.assert_array_equal(getattr(again, name)(X), getattr(model, name)(X))

