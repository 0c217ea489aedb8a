"""Plots of an ordinary table by cluster: their content, not their appearance."""

import datetime

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.cbook import boxplot_stats
from scipy.sparse import csr_array
from sklearn.exceptions import NotFittedError
from sklearn.metrics import silhouette_samples
from sklearn.metrics.pairwise import nan_euclidean_distances
from sklearn.pipeline import make_pipeline

import lehr

matplotlib.use("Agg")

pytestmark = pytest.mark.thread_unsafe(reason="pyplot draws for one thread")

PICTURES = [lehr.plot.profiles, lehr.plot.box_plots, lehr.plot.silhouettes, lehr.plot.parallel_coordinates]
NAMES = ["alcohol", "malic", "ash", "alkalinity"]


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def halves():
    """Returns clusters of four and two rows."""
    return lehr.KMeans(2, init=[[0.0], [10.0]]).fit([[0.0], [0.0], [0.0], [0.0], [10.0], [10.0]])


def _across(ax):
    return [text.get_text() for text in ax.get_xticklabels()]


def _down(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def _first(drawn):
    return np.ravel(drawn)[0]


def _bars(ax):
    """Returns the silhouettes of each cluster, read from its bars."""
    return [bars.get_data().values for bars in ax.patches]


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("form", ["array", "list", "single", "pandas", "polars", "sparse"])
def test_rows_of_every_form_are_drawn_the_same(picture, form, wine):
    X = wine[:, :4]
    given = {
        "array": lambda: X,
        "list": X.tolist,
        "single": lambda: X.astype(np.float32),
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(X, columns=NAMES),
        "polars": lambda: pytest.importorskip("polars").DataFrame(X, schema=NAMES),
        "sparse": lambda: csr_array(X),
    }[form]()
    model = lehr.KMeans(3).fit(X)
    ax, expected = _first(picture(model, given)), _first(picture(model, X))
    for found, drawn in zip(ax.patches, expected.patches, strict=True):
        np.testing.assert_allclose(found.get_path().vertices, drawn.get_path().vertices, atol=1e-5)
    for found, drawn in zip(ax.images, expected.images, strict=True):
        np.testing.assert_allclose(found.get_array(), drawn.get_array(), atol=1e-5)
    for found, drawn in zip(ax.lines, expected.lines, strict=True):
        np.testing.assert_allclose(found.get_ydata(), drawn.get_ydata(), atol=1e-5)
    if picture in (lehr.plot.profiles, lehr.plot.parallel_coordinates):
        assert _across(ax) == (NAMES if form in ("pandas", "polars") else ["x0", "x1", "x2", "x3"])


@pytest.mark.parametrize("picture", PICTURES)
def test_every_model_with_labels_is_drawn(picture, wine):
    X = wine[:, :4]
    for model, word in (
        (lehr.DAClustering(3), "cluster"), (lehr.KMeans(3), "cluster"), (lehr.MiniBatchKMeans(3), "cluster"), (lehr.KMedoids(3), "cluster"),
        (lehr.AgglomerativeClustering(3), "cluster"), (lehr.PairwiseClustering(3), "cluster"), (lehr.DAGaussianMixture(3), "component"),
    ):  # fmt: skip
        ax = _first(picture(model.fit(X), X))
        ax.figure.draw_without_rendering()
        words = [ax.get_ylabel(), ax.get_xlabel(), ax.get_title(), *_down(ax)]
        assert any(word in told for told in words), words


@pytest.mark.parametrize("picture", PICTURES)
def test_bits_are_drawn(picture):
    bits = np.random.default_rng(0).random((30, 16)) < np.repeat([[0.2], [0.8]], 15, axis=0)
    fingerprints = lehr.Fingerprints(np.packbits(bits, axis=1, bitorder="little"), n_bits=16)
    model = lehr.KMeans(2).fit(fingerprints)
    assert len(np.ravel(picture(model, fingerprints))) == (16 if picture is lehr.plot.box_plots else 1)


@pytest.mark.parametrize("picture", PICTURES)
def test_wrong_input_is_refused_with_what_was_found(picture, wine):
    with pytest.raises(NotFittedError):
        picture(lehr.KMeans(3), wine)
    model = lehr.KMeans(3).fit(wine)
    with pytest.raises(ValueError, match="expected the 178 rows that were fitted, found 177"):
        picture(model, wine[1:])
    with pytest.raises(ValueError, match="has labels_, found SMACOF without"):
        picture(lehr.SMACOF().fit([[0.0, 1.0], [1.0, 1.0], [10.0, 2.0]]), wine)
    with pytest.raises(ValueError, match="of a pipeline, pass the last step"):
        picture(make_pipeline(lehr.KMeans(3)).fit(wine), wine)


@pytest.mark.parametrize("picture", PICTURES)
def test_given_axes_are_used(picture, wine):
    X = wine[:, :2]
    model = lehr.KMeans(3).fit(X)
    # The axes may belong to a part of a figure.
    own = plt.figure().subfigures(1, 2)[0].subplots(1, 2)
    if picture is lehr.plot.box_plots:
        assert list(picture(model, X, axes=own)) == list(own)
    else:
        assert picture(model, X, ax=own[0]) is own[0]
    assert len(plt.get_fignums()) == 1


def test_a_profile_has_the_z_scores_of_means_and_leaves_gaps_out(halves):
    table = {"age": [1.0, np.nan, 1.0, 1.0, 4.0, 4.0], "same": [7.0] * 6, "gone": [1.0, 2.0, 3.0, 4.0, np.nan, np.nan]}
    ax = lehr.plot.profiles(halves, table)
    # The values 1, 1, 1, 4, 4 have the mean 2.2 and the deviation sqrt(2.16).
    age = (np.array([1.0, 4.0]) - 2.2) / np.sqrt(2.16)
    np.testing.assert_allclose(np.ma.filled(ax.images[0].get_array(), np.nan), np.column_stack([age, [0, 0], [0, np.nan]]), atol=1e-12)
    assert (_across(ax), _down(ax)) == (["age", "same", "gone"], ["cluster 0 (4)", "cluster 1 (2)"])
    assert [text.get_text() for text in ax.texts] == ["-0.8", "0.0", "0.0", "1.2", "0.0"]
    low, high = ax.images[0].get_clim()
    assert low == -high and high == pytest.approx(1.8 / np.sqrt(2.16))


def test_a_profile_has_the_share_of_each_frequent_text(halves):
    since = [datetime.date(2020, 1, day) for day in (1, 1, 1, 1, 9, 9)]
    ax = lehr.plot.profiles(halves, {"plan": ["basic", "basic", "basic", "gold", "gold", None], "country": ["US"] * 6, "since": since})
    assert _across(ax) == ["plan = basic", "plan = gold", "since"]
    # Three of five rows are basic: three of four in the first cluster, and none of one in the second.
    basic = (np.array([0.75, 0.0]) - 0.6) / np.sqrt(0.24)
    np.testing.assert_allclose(ax.images[0].get_array()[:, :2], np.column_stack([basic, -basic]))
    # A text in too few rows, or in all rows, does not become a column.
    many = {"id": [str(row) for row in range(150)], "country": ["US"] * 150}
    with pytest.raises(ValueError, match="found none in X"):
        lehr.plot.profiles(lehr.KMeans(3).fit(lehr.datasets.load_iris().data), many)


def test_rows_in_no_cluster_have_a_profile_boxes_and_lines_of_their_own_and_no_silhouette(wine):
    model = lehr.DAClustering(3, outlier_radius=3.0).fit(wine)
    outside = np.count_nonzero(model.labels_ < 0)
    assert outside > 0
    ax = lehr.plot.profiles(model, wine)
    assert _down(ax)[3] == f"no cluster ({outside})"
    np.testing.assert_allclose(ax.images[0].get_array()[3], wine[model.labels_ < 0].mean(axis=0))
    assert _across(lehr.plot.box_plots(model, wine)[0]) == ["0", "1", "2", "none"]
    ax = lehr.plot.parallel_coordinates(model, wine)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["cluster 0", "cluster 1", "cluster 2", "no cluster"]
    inside = model.labels_ >= 0
    found = np.concatenate(_bars(lehr.plot.silhouettes(model, wine)))
    np.testing.assert_allclose(np.sort(found), np.sort(silhouette_samples(wine[inside], model.labels_[inside])), atol=1e-9)


def test_values_are_written_where_there_is_room(wine):
    model = lehr.KMeans(3).fit(wine)
    assert len(lehr.plot.profiles(model, wine).texts) == 3 * 13
    small = plt.subplots(figsize=(2, 2), layout="constrained")[1]
    assert len(lehr.plot.profiles(model, wine, ax=small).texts) == 0


def test_of_many_columns_those_that_differ_most_are_shown():
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 100))
    X[30:, 20:60] += 100.0
    for form in (np.asarray, csr_array):
        rows = form(X)
        model = lehr.KMeans(2, random_state=0).fit(rows)
        for picture in (lehr.plot.profiles, lehr.plot.parallel_coordinates):
            ax = picture(model, rows)
            assert _across(ax) == [f"x{column}" for column in range(20, 60)] and ax.get_title() == "2 clusters, 40 of 100 columns"
        axes = lehr.plot.box_plots(model, rows)
        assert len(axes) == 24 and {ax.get_title() for ax in axes} <= {f"x{column}" for column in range(20, 60)}
        assert axes[0].figure.get_suptitle() == "24 of 100 columns"
        # The remaining columns can be requested.
        assert [ax.get_title() for ax in lehr.plot.box_plots(model, rows, columns=[3, "x99"])] == ["x3", "x99"]


def test_a_box_has_quartiles_whiskers_and_outliers(wine):
    # In most clusters, some columns of the wine have values beyond 1.5 interquartile ranges.
    model = lehr.KMeans(3).fit(wine)
    beyond = 0
    for column, ax in enumerate(lehr.plot.box_plots(model, wine)):
        for group, box in enumerate(ax.patches):
            expected = boxplot_stats(wine[model.labels_ == group, column])[0]
            heights = box.get_path().vertices[:, 1]
            np.testing.assert_allclose([heights.min(), heights.max()], [expected["q1"], expected["q3"]])
            low, high, outliers = _whiskers(ax, group)
            np.testing.assert_allclose([low, high], [expected["whislo"], expected["whishi"]])
            np.testing.assert_array_equal(outliers, np.sort(expected["fliers"]))
            beyond += len(expected["fliers"])
    assert beyond > 20


def _whiskers(ax, group):
    """Returns the ends of a box's whiskers and its outliers: the first two and the last of the six lines of each box."""
    low, high, *_, outliers = ax.lines[6 * group : 6 * group + 6]
    return low.get_ydata()[1], high.get_ydata()[1], outliers.get_ydata()


def test_outliers_of_a_box_are_thinned_and_the_farthest_stay():
    values = np.concatenate([np.zeros(5000), np.arange(1.0, 1001.0)])
    model = lehr.KMeans(1).fit(values[:, None])
    outliers = _whiskers(lehr.plot.box_plots(model, values[:, None])[0], 0)[2]
    assert (len(outliers), outliers.min(), outliers.max()) == (200, 1.0, 1000.0)


def test_boxes_of_columns_that_are_not_there_are_refused(halves):
    table = {"age": [1.0, 2.0, 3.0, 4.0, 5.0, np.nan], "plan": ["a", "b", "a", "b", "a", "b"], "since": np.arange("2020-01-01", "2020-01-07", dtype="M8[D]")}
    axes = lehr.plot.box_plots(halves, table)
    assert [ax.get_title() for ax in axes] == ["age", "since"]
    # Matplotlib counts dates in days.
    assert axes[1].lines[0].get_ydata()[0] == pytest.approx(18262.75)
    assert [ax.get_title() for ax in lehr.plot.box_plots(halves, table, columns="since")] == ["since"]
    for wrong in ("weight", 3, -1, True, 1.5):
        for columns in (wrong, ["age", wrong]):
            with pytest.raises(ValueError, match=rf"X has no column {wrong!r}. Choose from its 3: 'age', 'plan', 'since'"):
                lehr.plot.box_plots(halves, table, columns=columns)
    with pytest.raises(ValueError, match="column 'plan' has texts: expected numbers or dates. lehr.plot.profiles shows"):
        lehr.plot.box_plots(halves, table, columns=["plan"])
    with pytest.raises(ValueError, match="expected one column or more in columns, found none"):
        lehr.plot.box_plots(halves, table, columns=[])
    with pytest.raises(ValueError, match="expected axes for 2 columns, found 1"):
        lehr.plot.box_plots(halves, table, axes=plt.subplots()[1])
    with pytest.raises(TypeError, match="expected axes of matplotlib in axes, found str"):
        lehr.plot.box_plots(halves, table, axes=["here", "there"])
    for picture in (lehr.plot.box_plots, lehr.plot.parallel_coordinates):
        with pytest.raises(ValueError, match="found only texts in 'plan'. lehr.plot.profiles shows"):
            picture(halves, {"plan": table["plan"]})
    with pytest.raises(ValueError, match="expected the 6 rows that were fitted, found 2"):
        lehr.plot.box_plots(halves, {"age": table["age"], "size": [1.0, 2.0]})


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "cosine"])
def test_silhouettes_are_those_of_scikit_learn(metric, wine):
    model = lehr.KMedoids(3, metric=metric).fit(wine)
    expected = silhouette_samples(wine, model.labels_, metric=metric)
    ax = lehr.plot.silhouettes(model, wine)
    for label, bars in enumerate(_bars(ax)):
        np.testing.assert_allclose(bars, np.sort(expected[model.labels_ == label])[::-1], atol=1e-9)
    assert ax.get_title() == f"mean silhouette {expected.mean():.2f}" and ax.get_xlabel() == "silhouette"
    assert ax.lines[1].get_xdata()[0] == pytest.approx(expected.mean())
    distances = lehr.pairwise_distances(wine, metric=metric)
    given = lehr.KMedoids(3, metric="precomputed").fit(distances)
    np.testing.assert_allclose(np.concatenate(_bars(lehr.plot.silhouettes(given, distances))), np.concatenate(_bars(ax)), atol=1e-9)


def test_a_row_alone_in_its_cluster_has_the_silhouette_0():
    X = np.array([[0.0], [1.0], [50.0]])
    model = lehr.KMeans(2).fit(X)
    found = np.concatenate(_bars(lehr.plot.silhouettes(model, X)))
    # The distance is 1 within the cluster, and 50 and 49 from the row that is alone.
    np.testing.assert_allclose(found, [49 / 50, 48 / 49, 0.0])


def test_silhouettes_leave_out_rows_of_weight_0_and_use_the_columns_of_the_model(wine):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(wine[:, :4], columns=NAMES)
    model = lehr.KMeans(3).fit(frame)
    weight = np.where(np.arange(178) % 3 == 0, 0.0, 2.0)
    wider = frame.assign(grower=lehr.datasets.load_wine().target.astype(str))
    found = np.concatenate(_bars(lehr.plot.silhouettes(model, wider, sample_weight=weight)))
    expected = silhouette_samples(wine[weight > 0, :4], model.labels_[weight > 0])
    np.testing.assert_allclose(np.sort(found), np.sort(expected), atol=1e-9)
    with pytest.raises(ValueError, match="X does not have the columns of the model"):
        lehr.plot.silhouettes(model, wider[["ash", "grower"]])
    with pytest.raises(ValueError, match="expected the 4 columns that were fitted, found 3"):
        lehr.plot.silhouettes(lehr.KMeans(3).fit(wine[:, :4]), wine[:, :3])
    with pytest.raises(ValueError, match=r"sample_weight.shape == \(2,\)"):
        lehr.plot.silhouettes(model, frame, sample_weight=[1.0, 1.0])
    with pytest.raises(ValueError, match="expected rows in two clusters or more, found 1"):
        lehr.plot.silhouettes(lehr.KMeans(1).fit(frame), frame)


def test_silhouettes_of_a_mixture_compare_the_columns_that_two_rows_share(wine):
    X = wine[:, :4].copy()
    X[::10, 2] = np.nan
    model = lehr.DAGaussianMixture(2).fit(X)
    expected = silhouette_samples(nan_euclidean_distances(X), model.labels_, metric="precomputed")
    np.testing.assert_allclose(np.sort(np.concatenate(_bars(lehr.plot.silhouettes(model, X)))), np.sort(expected), atol=1e-9)


def test_of_many_rows_silhouettes_are_those_of_an_even_sample_of_each_cluster():
    X = np.random.default_rng(0).normal(size=(5000, 2)) + np.where(np.arange(5000) % 5 == 0, 8.0, 0.0)[:, None]
    model = lehr.KMeans(2, random_state=0).fit(X)
    ax = lehr.plot.silhouettes(model, X)
    assert ax.get_xlabel() == "silhouette (2,000 of 5,000 rows, at even intervals within clusters)"
    first, second = _bars(ax)
    assert len(first) + len(second) == 2000 and abs(len(second) - 0.4 * np.count_nonzero(model.labels_ == 1)) <= 1
    # The mean is close to the mean of all rows: 2,000 silhouettes with a deviation of 0.1 have a standard error of 0.002.
    assert np.mean(np.concatenate([first, second])) == pytest.approx(silhouette_samples(X, model.labels_).mean(), abs=0.01)
    few = lehr.plot.silhouettes(lehr.KMeans(2).fit(X[:2000]), X[:2000])
    assert few.get_xlabel() == "silhouette"


def test_lines_run_from_the_1st_to_the_99th_percentile_and_medians_are_thick(wine):
    X = wine[:, :4].copy()
    X[5, 1] = np.nan
    model = lehr.DAGaussianMixture(3).fit(X)
    ax = lehr.plot.parallel_coordinates(model, X)
    low, high = np.nanquantile(X, [0.01, 0.99], axis=0)
    expected = np.clip((X - low) / (high - low), 0, 1)
    (lines,) = ax.collections
    heights = np.array([segment[:, 1] for segment in lines.get_segments() if len(segment) == 4])
    np.testing.assert_allclose(heights, expected[~np.isnan(X).any(axis=1)])
    assert len(lines.get_colors()) == 178
    for group in range(3):
        middle = [np.nanmedian(X[model.labels_ == group, column]) for column in range(4)]
        np.testing.assert_allclose(ax.lines[group].get_ydata(), np.clip((np.array(middle) - low) / (high - low), 0, 1))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["component 0", "component 1", "component 2"]
    assert [text.get_text() for text in ax.texts[:2]] == [f"{low[0]:.4g}", f"{high[0]:.4g}"]


def test_of_many_rows_some_lines_of_each_cluster_are_drawn():
    X = np.random.default_rng(0).normal(size=(3000, 2))
    X[:5] += 50.0
    model = lehr.KMeans(2, random_state=0).fit(X)
    ax = lehr.plot.parallel_coordinates(model, X)
    assert ax.get_title() == "2 clusters, 2 columns, 1,000 of 3,000 rows"
    assert len(ax.collections[0].get_segments()) == 1000 and len(np.unique(ax.collections[0].get_colors(), axis=0)) == 2
    with pytest.raises(ValueError, match="found 'x0' alone: lehr.plot.box_plots shows one"):
        lehr.plot.parallel_coordinates(lehr.KMeans(2).fit(X[:, :1]), X[:, :1])


def test_many_clusters_have_no_legend(wine):
    model = lehr.KMeans(50).fit(wine)
    assert lehr.plot.parallel_coordinates(model, wine).get_legend() is None
    assert _down(lehr.plot.silhouettes(model, wine)) == [str(label) for label in range(0, 50, 2)]
    assert _across(lehr.plot.box_plots(model, wine)[0]) == [str(label) for label in range(0, 50, 3)]
    assert lehr.plot.profiles(model, wine).images[0].get_array().shape == (50, 13)
