"""Declared methods and their estimators have the same parameters, with the same defaults."""

import inspect
import json

import numpy as np
import pytest

import lehr
from lehr import _native
from lehr._progress import Run

ESTIMATORS = {
    "embed": lehr.SMACOF,
    "gtm": lehr.GTM,
    "hdbscan": lehr.HDBSCAN,
    "hierarchy": lehr.AgglomerativeClustering,
    "kmedoids": lehr.KMedoids,
    "minibatch": lehr.MiniBatchKMeans,
    "mixture": lehr.DAGaussianMixture,
    "pairwise": lehr.PairwiseClustering,
}
#: The estimators of a method with several estimators, and the options that each leaves out.
SEVERAL = {
    "cluster": {
        lehr.DAClustering: {"method", "cost", "prior", "n_init", "max_iterations", "algorithm"},
        lehr.KMeans: {"method", "stop_temperature", "stop_length", "max_clusters", "outlier_radius", "cost", "prior", "cooling", "tolerance", "overshoot", "patience", "exact"},
    },
}
#: Options whose default is written differently in Python, with the reason.
OTHER_DEFAULTS = {
    (method, "seed"): "random_state=None stands for the seed 0, as in every estimator" for method in ("embed", "minibatch", "mixture", "pairwise")
} | {
    ("minibatch", "clusters"): "8, as in scikit-learn; the command asks for a number",
    ("minibatch", "precision"): "double and single, as in every estimator",
}
#: Parameters of every estimator in addition to options: how a run is watched, and the kind of its data.
OF_ESTIMATORS = {"callback", "checkpoint", "metric", "metric_params", "n_jobs", "verbose"}
#: Parameters of a single estimator: the warm start, new items and scikit-learn's names of SMACOF; the initialisations of mixtures.
OF_ONE = {
    "embed": {"eps", "metric_mds", "n_neighbors", "normalized_stress", "warm_start"},
    "mixture": {"init_params", "means_init", "n_init", "precisions_init", "reg_covar", "warm_start", "weights_init"},
}

METHODS = {method["name"]: method for method in json.loads(_native.declared())}


def _in_python(option):
    return option["python"] or option["name"]


def _differing(options, estimator):
    """Returns the options that are not parameters of the estimator, or that have another default in the estimator."""
    parameters = inspect.signature(estimator).parameters
    lost = {option["name"] for option in options if _in_python(option) not in parameters}
    there = [option for option in options if option["name"] not in lost]
    return lost | {option["name"] for option in there if parameters[_in_python(option)].default != option["default"]}


#: Options of distances that are not parameters, with the reason.
OF_ITEMS = {
    "alphabet": "Sequences have it",
    "columns": "arrays are of the columns that are compared",
    "id": "items have ids",
    "collapse": "Sequences.distinct does it, and numpy.unique of rows",
    "fingerprint": "Fingerprints are made when molecules are read",
    "sample": "items[::n] and items[indices] draw some of the items",
}
#: Parameters of distances in addition to its options.
OF_DISTANCES = {"items", "Y", "condensed", "n_jobs", "verbose", "callback", "gap"}


def test_options_of_distances_are_parameters_with_the_same_defaults():
    options = json.loads(_native.declared_of_distances())
    # The default is a type of NumPy, because an array in memory is not stored.
    assert inspect.signature(lehr.pairwise_distances).parameters["dtype"].default is np.float64
    assert _differing(options, lehr.pairwise_distances) == {*OF_ITEMS, "element"}
    parameters = set(inspect.signature(lehr.pairwise_distances).parameters) - OF_DISTANCES
    assert parameters == {_in_python(option) for option in options} - set(OF_ITEMS)


def test_every_declared_method_has_an_estimator():
    assert METHODS.keys() == ESTIMATORS.keys() | SEVERAL.keys()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_options_are_parameters_with_the_same_defaults(name):
    excepted = {option for method, option in OTHER_DEFAULTS if method == name}
    # An exception that is no longer needed fails too.
    assert _differing(METHODS[name]["options"], ESTIMATORS[name]) == excepted
    assert excepted <= {option["name"] for option in METHODS[name]["options"] if _in_python(option) in ESTIMATORS[name]().get_params()}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_parameters_are_options(name):
    options = {_in_python(option) for option in METHODS[name]["options"]}
    assert set(inspect.signature(ESTIMATORS[name]).parameters) - OF_ESTIMATORS - OF_ONE.get(name, set()) == options


@pytest.mark.parametrize(("name", "estimator"), [(name, estimator) for name, estimators in SEVERAL.items() for estimator in estimators])
def test_options_of_a_method_with_several_estimators_are_parameters_of_theirs(name, estimator):
    declared = {option["name"]: option for option in METHODS[name]["options"]}
    left_out = SEVERAL[name][estimator]
    assert left_out <= declared.keys()
    parameters = inspect.signature(estimator).parameters
    lost = {option for option, one in declared.items() if _in_python(one) not in parameters}
    # The Python class of k-means has its own tolerance.
    assert lost | ({"tolerance"} & left_out) == left_out
    for option in declared.keys() - left_out - {"seed", "precision"}:
        default = declared[option]["default"]
        # Where the declaration leaves a default open, it depends on the method, and an estimator has one method.
        assert default is None or parameters[_in_python(declared[option])].default == default, option


def test_a_default_that_is_changed_on_one_side_is_found():
    class Other(lehr.KMedoids):
        def __init__(self, n_clusters=9, *, max_iterations=100):
            pass

    assert _differing(METHODS["kmedoids"]["options"], Other) == {"clusters", "max_iterations"}


def test_the_declaration_says_what_each_option_is():
    clusters, passes = METHODS["kmedoids"]["options"]
    assert METHODS["kmedoids"]["line"] == "Cluster items around medoids, by their dissimilarities"
    assert clusters == {
        "name": "clusters", "python": "n_clusters", "help": "Find this many clusters", "default": 8, "kind": "count", "range": "at least 1",
    }  # fmt: skip
    assert (passes["name"], passes["python"], passes["default"], passes["range"]) == ("max_iterations", "max_iter", 100, None)
    kinds = {option["kind"] for method in METHODS.values() for option in method["options"]}
    assert kinds == {"choice", "count", "flag", "number"}


def test_a_matrix_comes_back_as_tables_and_figures():
    matrix = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]])
    found = _native.run_matrix("kmedoids", matrix, np.array([1.0, 2.0, 1.0]), Run('{"clusters": 2}', None, None, None))
    labels, clusters = found["tables"]["labels"], found["tables"]["clusters"]
    assert labels["id"] == ["0", "1", "2"] and labels["cluster"].tolist() == [0, 0, 1] and labels["distance"].tolist() == [1.0, 0.0, 0.0]
    assert clusters["medoid"] == ["1", "2"] and clusters["weight"].tolist() == [3.0, 1.0]
    assert labels["cluster"].dtype == np.int64 and clusters["weight"].dtype == np.float64
    assert found["figures"]["cost"] == 1.0 and found["warnings"] == []
    assert found["is_lead"] and found["checkpoint_failure"] is None


@pytest.mark.parametrize(
    ("method", "options", "words"),
    [
        ("k-medoids", "{}", "there is no method \"k-medoids\" of dissimilarities"),
        ("gtm", "{}", "there is no method \"gtm\" of dissimilarities"),
        ("kmedoids", "[]", "options: "),
        ("kmedoids", '{"k": 2}', "k: there is no such option; there are clusters, max_iterations"),
        ("kmedoids", '{"clusters": "2"}', "clusters: expected at least 1, found 2"),
        ("kmedoids", '{"clusters": 0}', "The 'n_clusters' parameter must be at least 1. Got 0 instead"),
        ("kmedoids", '{"max_iterations": -1}', "max_iterations: expected a whole number, found -1"),
    ],
)
def test_what_is_not_declared_is_refused(method, options, words):
    with pytest.raises(ValueError, match=words):
        _native.run_matrix(method, np.zeros((2, 2)), None, Run(options, None, None, None))
