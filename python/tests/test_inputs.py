"""Invalid inputs raise errors in scikit-learn's words that say what to do. Valid inputs work in any memory order, without a copy."""

import datetime
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import lehr

ROWS = [[0.0], [1.0], [5.0]]


@pytest.mark.parametrize(
    ("X", "kind", "words"),
    [
        ([0.0, 1.0], ValueError, "Expected 2D array, got 1D array instead"),
        ([[0.0], [np.nan]], ValueError, "contains NaN"),
        ([[0.0], [np.inf]], ValueError, "infinity"),
        ([["a"], ["b"]], ValueError, "could not convert string to float"),
        (np.empty((0, 2)), ValueError, "0 sample"),
        (csr_array(np.eye(3)), TypeError, "Sparse data was passed.*, but dense data is required"),
        (np.array([[1j], [2j]]), ValueError, "Complex data not supported"),
    ],
)
@pytest.mark.parametrize(
    "estimator",
    [lehr.AgglomerativeClustering(1), lehr.DAClustering(1), lehr.DAGaussianMixture(1), lehr.GTM(1), lehr.KMeans(1), lehr.KMedoids(1), lehr.PairwiseClustering(1), lehr.SMACOF(1)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_data_that_cannot_be(estimator, X, kind, words):
    if isinstance(estimator, (lehr.DAGaussianMixture, lehr.GTM)) and "NaN" in words:
        pytest.skip("mixtures and maps take rows with missing cells")
    if isinstance(estimator, (lehr.AgglomerativeClustering, lehr.DAClustering, lehr.KMeans, lehr.KMedoids, lehr.PairwiseClustering, lehr.SMACOF)) and "parse" in words:
        pytest.skip("they take sparse rows: test_sparse.py, test_manifold.py")
    with pytest.raises(kind, match=words):
        clone(estimator).fit(X)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["1", "2", "six", "4"], "X has text in column 'c': expected numbers, found 'six' in row 2.\nlehr.TablePreparation"),
        ([1.0, None, 3.0, None], "Input X contains NaN. The first missing value is in column 'c', row 1.\nDAClustering"),
        ([1.0, 2.0, 3.0, np.inf], "The first one is in column 'c', row 3: inf."),
    ],
    ids=["text", "gap", "infinity"],
)
def test_an_error_names_the_cell_of_a_frame(library, column, words):
    frame = pytest.importorskip(library).DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "c": column})
    with pytest.raises(ValueError) as refused:
        lehr.DAClustering(2).fit(frame)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.to_datetime(["2024-03-01"] * 4), "X has dates or durations in column 'c': expected numbers, found 2024-03-01T00:00:00"),
        ([pd.NaT, pd.Timestamp("2024-03-01", tz="UTC")] * 2, "in column 'c': expected numbers, found 2024-03-01 00:00:00+00:00 in row 1"),
        ([datetime.date(2024, 3, day) for day in range(1, 5)], "in column 'c': expected numbers, found 2024-03-01 in row 0.\nlehr.TablePreparation"),
        (pd.period_range("2024-03", periods=4, freq="M"), "in column 'c': expected numbers, found 2024-03 in row 0"),
        ([1, 2.0, [3], 4], "Column 'c' has a value of type list: expected numbers, found [3] in row 2.\nGive each number a column of its own"),
        ([1, None, 2, {"x": 1}], "Column 'c' has a value of type dict: expected numbers, found {'x': 1} in row 3"),
        ([1, 2, 3, object], "Column 'c' has a value of type type: expected numbers, found <class 'object'> in row 3.\nConvert the column to numbers"),
        ([1j, 2, 3, 4], "Complex data not supported\nExpected real numbers in column 'c', found 1j in row 0"),
        (["1", "2,5", "3", "4"], "found '2,5' in row 1.\nlehr.TablePreparation().fit_transform(X) makes numbers of an ordinary table. "
         "Or leave such columns out. To read '2,5' as a number, use lehr.read_table"),
    ],
    ids=["dates", "instants", "days", "months", "list", "dict", "object", "complex", "comma"],
)
def test_an_error_names_the_cell_that_is_not_a_number(column, words):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "c": column})
    with pytest.raises((TypeError, ValueError)) as refused:
        lehr.DAClustering(2).fit(frame)
    assert words in str(refused.value)


def test_the_cure_for_dates_works():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "d": pd.to_datetime(["2024-03-01", "2024-03-02", "2024-03-05", "2024-03-09"])})
    rows = lehr.TablePreparation(columns=list(frame.columns), scale="none").fit_transform(frame)
    assert np.diff(rows[:, 1]).tolist() == [1.0, 3.0, 4.0]


def test_a_frame_without_columns_is_named():
    with pytest.raises(ValueError, match="the data frame has no columns"):
        lehr.KMeans(1).fit(pd.DataFrame())


def test_an_error_names_the_row_of_a_weight():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="sample_weight contains NaN. The first one is in row 2"):
        lehr.KMeans(1).fit(frame, sample_weight=[1.0, 0.0, np.nan])
    with pytest.raises(ValueError, match="weights are 0 or more, found -4 in row 1"):
        lehr.KMeans(1).fit(frame, sample_weight=[1.0, -4.0, 1.0])


def test_an_error_names_the_row_as_the_frame_does_and_the_other_columns():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "2"], "c": [3.0, 4.0], "d": ["5", "y"]}, index=["first", "second"])
    with pytest.raises(ValueError, match=r"column 'b': expected numbers, found 'x' in row 0 \(index 'first'\)\. So have the columns 'd'\."):
        lehr.KMeans(1).fit(frame)
    with pytest.raises(ValueError, match="X has several columns with one name: 'a'. Rename them"):
        lehr.DAClustering(1).fit(pd.concat([frame[["a"]], frame[["a"]]], axis=1))
    with pytest.raises(ValueError, match="The first missing value is in column 1, row 2"):
        lehr.DAClustering(1).fit(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]]))


@pytest.mark.thread_unsafe(reason="all threads share the filters of warnings")
@pytest.mark.parametrize("X", [np.array([[1j], [2j]]), csr_array(np.array([[1j], [2j]]))], ids=["dense", "sparse"])
@pytest.mark.parametrize("estimator", [lehr.DAClustering(1), lehr.DAGaussianMixture(1), lehr.GTM(1), lehr.KMeans(1), lehr.SMACOF(1)], ids=lambda estimator: type(estimator).__name__)
def test_complex_numbers_are_refused_whatever_filters_of_warnings_other_threads_set(estimator, X, monkeypatch):
    monkeypatch.setattr(warnings, "simplefilter", lambda *_, **__: None)
    with pytest.raises(ValueError, match="Complex data not supported"):
        clone(estimator).fit(X)


@pytest.mark.parametrize(
    ("fitted", "asked"),
    [
        (lehr.DAClustering(1), "predict"),
        (lehr.DAClustering(1), "transform"),
        (lehr.DAGaussianMixture(1), "score_samples"),
        (lehr.GTM(1, n_nodes=5, n_basis=2), "transform"),
        (lehr.KMeans(1), "predict"),
        (lehr.KMedoids(1), "predict"),
        (lehr.AgglomerativeClustering(1), "predict"),
        (lehr.PairwiseClustering(1), "predict"),
        (lehr.SMACOF(1), "score"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_rows_of_another_width_than_those_fitted(fitted, asked):
    fitted = clone(fitted).fit([[0.0, 1.0], [1.0, 3.0], [5.0, 2.0]])
    with pytest.raises(ValueError, match="X has 3 features, but .* is expecting 2 features as input"):
        getattr(fitted, asked)([[0.0, 1.0, 2.0]])
    with pytest.raises(ValueError, match="infinity"):
        getattr(fitted, asked)([[0.0, np.inf]])


def test_too_many_clusters_or_components_are_told_with_both_numbers():
    for estimator in (lehr.AgglomerativeClustering(4), lehr.DAClustering(4), lehr.KMeans(4), lehr.PairwiseClustering(4)):
        with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
            estimator.fit(ROWS)
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_components=4"):
        lehr.DAGaussianMixture(4).fit(ROWS)


def test_negative_dissimilarities_to_fitted_items():
    matrix = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
    for estimator, asked in ((lehr.PairwiseClustering(2, metric="precomputed"), "predict"), (lehr.SMACOF(1, metric="precomputed"), "transform")):
        with pytest.raises(ValueError, match=f"Negative values in data passed to .*{asked}"):
            getattr(estimator.fit(matrix), asked)([[-1.0, 1.0, 1.0]])


def test_a_matrix_of_dissimilarities_that_is_read_as_rows_is_told():
    matrix = np.array([[0.0, 1.0, 4.0], [1.0, 0.0, 4.0], [4.0, 4.0, 0.0]])
    for estimator in (lehr.PairwiseClustering(2), lehr.SMACOF(1)):
        with pytest.warns(UserWarning, match="say metric='precomputed'"):
            estimator.fit(matrix)
        with warnings.catch_warnings():
            warnings.simplefilter("error", UserWarning)
            estimator.fit([[0.0, 1.0], [1.0, 0.0], [4.0, 4.0]])
            estimator.set_params(metric="precomputed").fit(matrix)


def test_a_second_set_in_the_place_of_the_metric():
    assert lehr.pairwise_distances(np.zeros((2, 2)), np.ones((3, 2)), "manhattan").tolist() == [[2.0] * 3] * 2
    with pytest.raises(TypeError, match="'metric' parameter must be a str or None. Got ndarray instead"):
        lehr.pairwise_distances(np.zeros((2, 2)), None, np.zeros((3, 2)))


def test_what_a_mixture_cannot_take_comes_with_what_it_can():
    with pytest.raises(ValueError, match="covariance_type='full' takes at most 512 columns, X has 513: take covariance_type='diag'"):
        lehr.DAGaussianMixture(1).fit(np.random.default_rng(0).normal(size=(4, 513)))
    constant = [[0.0, 5.0], [1.0, 5.0], [9.0, 5.0]]
    with pytest.raises(ValueError, match="expected columns that vary: leave them out .*covariance_type='spherical'"):
        lehr.DAGaussianMixture(1).fit(constant)
    assert len(lehr.DAGaussianMixture(1, covariance_type="spherical").fit(constant).means_) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"init": np.zeros((3, 3))}, r"init must be of shape \(n_samples, n_components\) = \(3, 2\). Got \(3, 3\)"),
        ({"fixed": [0]}, r"fixed needs positions: fit\(X, init=positions, fixed=items\)"),
        ({"pair_weight": np.ones((3, 3))}, "pair_weight goes with weighting='equal' only. Got weighting='sammon' too"),
    ],
)
def test_what_a_map_cannot_be_given(given, words):
    weighting = "sammon" if "pair_weight" in given else "equal"
    with pytest.raises(ValueError, match=words):
        lehr.SMACOF(weighting=weighting).fit(ROWS, **given)


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"n_clusters": -1}, ValueError, "'n_clusters' parameter of DAClustering must be an int in the range \\[1, inf\\) or None"),
        ({"n_clusters": 0}, ValueError, "'n_clusters' parameter of DAClustering must be an int in the range"),
        ({"n_clusters": 4}, ValueError, "n_samples=3 should be >= n_clusters=4"),
        ({"n_clusters": 2.5}, TypeError, "'n_clusters' parameter of DAClustering must be an int"),
        ({"n_clusters": True}, TypeError, "'n_clusters' parameter of DAClustering must be an int"),
        ({"cooling": 1.5}, ValueError, "'cooling' parameter of DAClustering must be a float in the range \\[0.5, 0.999\\]. Got 1.5 instead"),
        ({"tol": float("nan")}, ValueError, "'tol' parameter of DAClustering must be a float in the range"),
        ({"precision": "half"}, ValueError, "'precision' parameter of DAClustering must be a str among {'double', 'single'}"),
        ({"stop_temperature": -1.0}, ValueError, "'stop_temperature' parameter of DAClustering must be a float in the range \\(0.0, inf\\) or None"),
        ({"n_jobs": 0}, ValueError, "'n_jobs' parameter"),
        ({"callback": 3}, TypeError, "'callback' parameter of DAClustering must be a callable or None"),
    ],
)
def test_parameters_that_cannot_be(parameters, kind, words):
    with pytest.raises(kind, match=words):
        lehr.DAClustering(**parameters).fit(ROWS)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.0, 1.0], [2.0, 0.0]], "row 1, column 0: expected 1, as on the other side of the diagonal, found 2"),
        ([[0.0, -1.0], [-1.0, 0.0]], "0 or more"),
        ([[1.0, 1.0], [1.0, 0.0]], "0 on the diagonal"),
        ([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0]], r"requires shape \(n_samples, n_samples\)"),
    ],
)
def test_dissimilarities_that_cannot_be(matrix, words):
    for estimator in (lehr.PairwiseClustering(1, metric="precomputed"), lehr.SMACOF(1, metric="precomputed")):
        with pytest.raises(ValueError, match=words):
            estimator.fit(matrix)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1.0, -1.0, 1.0], "Negative values"),
        ([1.0, np.nan, 1.0], "contains NaN"),
        ([0.0, 0.0, 0.0], "at least one non-zero"),
        ([1.0, 1.0], r"expected \(3,\)"),
        ([[1.0], [1.0], [1.0]], "1D array or scalar"),
    ],
)
def test_weights_that_cannot_be(weight, words):
    with pytest.raises(ValueError, match=words):
        lehr.DAClustering(1).fit(ROWS, sample_weight=weight)


@pytest.mark.thread_unsafe(reason="it traces all memory of the process")
@pytest.mark.parametrize("estimator", [lehr.DAClustering(1), lehr.KMeans(1), lehr.MiniBatchKMeans(1), lehr.SMACOF()], ids=lambda estimator: type(estimator).__name__)
def test_what_a_mask_hides_is_a_missing_value_28(estimator):
    rows = np.ma.array([[0.0], [1.0], [99.0]], mask=[[False], [False], [True]])
    with pytest.raises(ValueError, match="contains NaN"):
        clone(estimator).fit(rows)
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        lehr.KMeans(1).fit(ROWS, sample_weight=rows.ravel())
    with pytest.raises(ValueError, match="contains NaN"):
        lehr.KMeans(1).fit(np.ma.array([[0], [1]], mask=[[False], [True]]))


def test_a_mixture_leaves_out_what_a_mask_hides_28(wine):
    hidden = np.zeros(wine.shape, dtype=bool)
    hidden[::7, 1] = True
    by_mask = lehr.DAGaussianMixture(2).fit(np.ma.array(wine, mask=hidden))
    assert np.array_equal(by_mask.means_, lehr.DAGaussianMixture(2).fit(np.where(hidden, np.nan, wine)).means_)
    assert not np.array_equal(by_mask.means_, lehr.DAGaussianMixture(2).fit(wine).means_)


@pytest.mark.parametrize(
    "rows",
    [np.arange(6).astype("M8[D]")[:, None], np.arange(6).astype("m8[s]")[:, None], csr_array(np.eye(3)).toarray().astype("M8[us]")],
    ids=["dates", "durations", "instants"],
)
def test_dates_have_no_unit_and_are_refused_as_in_files_28(rows):
    for estimator in (lehr.KMeans(1), lehr.DAGaussianMixture(1), lehr.SMACOF()):
        with pytest.raises(ValueError, match="X has dates or durations .*: expected numbers"):
            estimator.fit(rows)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_column_of_dates_is_named_28(library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"a": [1.0, 2.0, 3.0], "day": np.arange(3).astype("M8[us]")})
    with pytest.raises(ValueError, match="in column 'day': expected numbers"):
        lehr.DAClustering(1).fit(frame)


def test_records_of_several_fields_are_refused_with_what_to_do_28():
    with pytest.raises(ValueError, match="with the fields a, b: .*structured_to_unstructured"):
        lehr.KMeans(1).fit(np.array([(1.0, 2), (3.0, 4)], dtype=[("a", "f8"), ("b", "i4")]))


@pytest.mark.parametrize(
    ("estimator", "asked"),
    [
        (lehr.DAClustering(1), "predict_proba"),
        (lehr.DAClustering(1), "score"),
        (lehr.DAGaussianMixture(1), "score_samples"),
        (lehr.DAGaussianMixture(1), "predict"),
        (lehr.GTM(1, n_nodes=5, n_basis=2), "transform"),
        (lehr.KMeans(1), "transform"),
        (lehr.KMedoids(1), "predict"),
        (lehr.MiniBatchKMeans(1), "transform"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_rows_whose_squares_no_number_holds_are_refused_with_their_place_28(estimator, asked):
    fitted = clone(estimator).fit([[0.0], [1.0], [5.0], [6.0]])
    with pytest.raises(ValueError, match=r"row 1 \(counted from 0\): expected numbers below 1e\+140"):
        getattr(fitted, asked)([[1.0], [-1e200]])
    # Values just below the limit are accepted.
    assert np.all(np.isfinite(getattr(fitted, asked)([[1.0], [1e139]])))


def test_a_row_whose_squares_no_number_holds_is_named_whatever_the_order_in_memory():
    model = lehr.DAGaussianMixture(1).fit(np.random.default_rng(0).normal(size=(20, 2)))
    rows = np.array([[0.0, -3e200], [2e200, 0.0]])
    for X in (rows, np.asfortranarray(rows)):
        with pytest.raises(ValueError, match=r"row 0 \(counted from 0\).*found -3e\+200"):
            model.predict(X)



def test_the_nearest_centre_is_found_however_far_a_row_is_28():
    assert lehr.KMeans(2).fit([[-1e100], [1e100]]).predict([[-1e101], [1e101]]).tolist() in ([0, 1], [1, 0])


@pytest.mark.parametrize(
    "estimator",
    [lehr.DAClustering(1), lehr.DAGaussianMixture(1), lehr.KMeans(1), lehr.KMedoids(1, metric="precomputed"), lehr.AgglomerativeClustering(1, metric="precomputed"), lehr.PairwiseClustering(1, metric="precomputed"), lehr.SMACOF(metric="precomputed")],
    ids=lambda estimator: type(estimator).__name__,
)
def test_weights_whose_sum_no_number_holds_are_refused_28(estimator):
    with pytest.raises(ValueError, match="sample weights with a finite sum"):
        clone(estimator).fit([[0.0, 1.0], [1.0, 0.0]], sample_weight=[1e308, 1e308])


@pytest.mark.thread_unsafe(reason="memory is traced for all threads at once")
def test_float32_is_read_without_a_copy_on_the_side_of_python():
    X = np.random.default_rng(0).normal(size=(50_000, 16)).astype(np.float32)
    model = lehr.DAClustering(2, patience=0, n_jobs=2)
    tracemalloc.start()
    try:
        model.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < X.nbytes / 2, f"{peak} bytes beside an array of {X.nbytes}"


def test_order_and_precision_of_the_array_do_not_change_a_bit(wine):
    single = wine.astype(np.float32)
    expected = lehr.DAClustering(3).fit(single.astype(np.float64))
    for X in (single, np.asfortranarray(single), np.repeat(single, 2, axis=0)[::2]):
        model = lehr.DAClustering(3).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.cluster_centers_, expected.cluster_centers_.astype(np.float32))


@pytest.mark.parametrize("estimator", [lehr.DAClustering(3), lehr.KMeans(3)], ids=repr)
def test_single_precision_comes_back_in_single_precision(estimator, wine):
    single = wine.astype(np.float32)
    model = clone(estimator).fit(single)
    assert model.cluster_centers_.dtype == model.transform(single).dtype == np.float32
    np.testing.assert_array_equal(model.predict(single), model.labels_)
    model = clone(estimator).fit(wine)
    assert model.cluster_centers_.dtype == model.transform(wine).dtype == np.float64


def test_rows_with_gaps_are_refused_with_the_methods_of_lehr_that_take_them():
    for estimator in (lehr.DAClustering(2), lehr.KMeans(2)):
        with pytest.raises(ValueError, match="Input X contains NaN") as caught:
            estimator.fit([[0.0, 1.0], [np.nan, 2.0], [4.0, 5.0]])
        assert "lehr.DAGaussianMixture" in str(caught.value) and "lehr.GTM" in str(caught.value)
        assert "HistGradientBoosting" not in str(caught.value)


def test_the_array_is_not_changed_and_may_be_read_only(wine):
    X = wine.copy()
    X.setflags(write=False)
    lehr.DAClustering(3).fit(X)
    np.testing.assert_array_equal(X, wine)


def test_sequences_and_bits_are_to_be_compared_first():
    genes = lehr.Sequences(["ACGTACGT", "ACGTACGA", "ACGTTTGA", "CCGTTTGA"])
    for estimator in (lehr.SMACOF(), lehr.PairwiseClustering(2), lehr.KMedoids(2), lehr.AgglomerativeClustering(2), lehr.DAClustering(2)):
        with pytest.raises(TypeError, match="Got Sequences: compute their dissimilarities first, lehr.pairwise_distances"):
            estimator.fit(genes)
    D = lehr.pairwise_distances(genes, alignment="global")
    fitted = lehr.SMACOF(1, metric="precomputed", n_neighbors=3).fit(D)
    with pytest.raises(TypeError, match=r"Got Sequences.*lehr\.pairwise_distances\(new, fitted\)\."):
        fitted.transform(genes)
    # The message recommends this call.
    assert fitted.transform(lehr.pairwise_distances(lehr.Sequences(["ACGTACGT"]), genes, alignment="global")).shape == (1, 1)


def test_arrays_of_another_device_are_refused_with_what_to_do():
    class Tensor:
        device, dtype, shape = "cuda:0", np.dtype(float), (3, 1)

    for estimator in (lehr.KMeans(1), lehr.SMACOF(), lehr.DAGaussianMixture(1)):
        with pytest.raises(TypeError, match="on the device 'cuda:0'. Lehr computes on the processor: move it there first"):
            estimator.fit(Tensor())


def test_arrays_of_other_libraries_are_read_on_the_processor():
    class Tensor:
        """Imitates a PyTorch tensor, without NumPy's own attributes."""

        device = "cpu"

        def __init__(self, array):
            self._array, self.dtype, self.shape, self.ndim = array, array.dtype, array.shape, array.ndim

        def __array_namespace__(self, api_version=None):
            raise AssertionError("an array of another library went on to scikit-learn")

        def __dlpack__(self, **more):
            return self._array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

        def __array__(self, dtype=None, copy=None):
            raise AssertionError("dlpack comes first")

    X = np.random.default_rng(0).normal(size=(30, 3))
    weight = 1.0 + np.arange(30.0)
    for estimator in (lehr.KMeans(2), lehr.DAGaussianMixture(2), lehr.SMACOF(), lehr.KMedoids(2), lehr.AgglomerativeClustering(2)):
        expected = vars(estimator.fit(X, sample_weight=weight)).copy()
        found = vars(estimator.fit(Tensor(X), sample_weight=Tensor(weight)))
        name = "labels_" if "labels_" in found else "embedding_"
        assert type(found[name]) is np.ndarray
        np.testing.assert_array_equal(found[name], expected[name])


def test_columns_whose_spreads_differ_are_told_as_by_the_command():
    draw = np.random.default_rng(0)
    X = np.column_stack([draw.normal(45, 12, 400), draw.normal(40_000, 15_000, 400)])
    frame = pd.DataFrame(X, columns=["x0", "x1"])
    estimators = (
        lehr.DAClustering(2), lehr.KMeans(2), lehr.KMedoids(2), lehr.DAGaussianMixture(2), lehr.GTM(), lehr.SMACOF(), lehr.HDBSCAN(),
        lehr.PairwiseClustering(2), lehr.AgglomerativeClustering(2),
    )  # fmt: skip
    for fit in (*(estimator.fit for estimator in estimators), lehr.pairwise_distances):
        for rows in (X, frame):
            with pytest.warns(UserWarning, match=r"The spread of column 'x1' .* is 1.\d+e\+03 times that of 'x0' .*StandardScaler") as caught:
                fit(rows)
            assert {warning.filename for warning in caught if "spread" in str(warning.message)} == {__file__}
            assert sum("spread" in str(warning.message) for warning in caught) == 1
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="The spread")
            fit(X / [1.0, 10_000.0])
    for fit in (lehr.DAGaussianMixture(2).fit, lehr.GTM().fit, lehr.pairwise_distances):
        gaps = np.where(draw.random(X.shape) < 0.1, np.nan, X)
        gaps[:5] = [1.0, 2.0]
        with pytest.warns(UserWarning, match="The spread of column 'x1'"):
            fit(gaps)
    with warnings.catch_warnings():
        # These scale the columns themselves, or compare something else.
        warnings.filterwarnings("error", message="The spread")
        lehr.pairwise_distances(X, standardize=True)
        lehr.pairwise_distances(frame, metric="gower")
        lehr.SMACOF(metric="seuclidean").fit(X)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_numbers_with_more_digits_than_a_floating_point_number_are_reported(dtype):
    rows = np.array([[1, 2**53 + 1], [3, 5], [4, 2**53 + 2]], dtype=dtype)
    with pytest.warns(UserWarning, match="^X has whole numbers that are rounded to 53 bits, such as 9007199254740993"):
        lehr.KMeans(1, n_init=1).fit(rows)
    frame = pd.DataFrame({"size": rows[:, 0], "order": rows[:, 1]})
    with pytest.warns(UserWarning, match="^the column 'order' of X has whole numbers .* such as 9007199254740993"):
        lehr.DAClustering(1).fit(frame)
    # Even numbers up to 2^54 are exact.
    exact = np.array([[1, 2**53 + 2], [3, -(2**53) if dtype is np.int64 else 0]], dtype=dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=".*53 bits")
        lehr.KMeans(1, n_init=1).fit(exact)


def test_results_that_single_precision_cannot_hold_are_doubles():
    X = np.random.default_rng(0).normal(size=(100, 3))
    for scale in (1e25, 1e-25):
        single = lehr.DAGaussianMixture(1).fit((scale * X).astype(np.float32))
        double = lehr.DAGaussianMixture(1).fit((scale * X).astype(np.float32).astype(float))
        assert single.means_.dtype == np.float32 and single.covariances_.dtype == np.float64
        np.testing.assert_allclose(single.covariances_, double.covariances_, rtol=1e-5)
        np.testing.assert_allclose(single.precisions_, double.precisions_, rtol=1e-4)
    far = np.array([[2e38, 0], [-2e38, 0]] * 20, dtype=np.float32)
    for model in (lehr.KMeans(2, random_state=0), lehr.DAClustering(2)):
        distances = model.fit(far).transform(far)
        assert distances.dtype == np.float64
        np.testing.assert_allclose(np.sort(distances[0]), [0, 4e38], rtol=1e-6)
        assert model.transform(far[:1] / 1e30).dtype == np.float32
