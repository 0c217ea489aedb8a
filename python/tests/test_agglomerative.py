"""Agglomerative clustering: compared with SciPy and scikit-learn. Also silhouettes, weights, matrices and rows, Newick's format, checkpoints and errors."""

import re
import threading
import warnings

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.cluster.hierarchy
import sklearn.cluster
from scipy.spatial.distance import pdist, squareform
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import silhouette_samples, silhouette_score

import lehr
from lehr import _native

matplotlib.use("Agg")

LINKAGES = ["average", "complete", "single", "weighted", "ward"]


@pytest.fixture(scope="module")
def rows():
    """Returns rows around four positions, without equal distances."""
    draw = np.random.default_rng(0)
    return 7.0 * np.eye(4, 3)[draw.integers(4, size=90)] + draw.normal(size=(90, 3))


@pytest.fixture
def closed():
    yield
    plt.close("all")


def _first_seen(labels):
    """Returns labels that are numbered in the order in which they appear, so that equal partitions have equal labels."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].tolist()


def _compared(rows, labels):
    """Returns the mean silhouette without the comparisons with clusters of one item or less than 1 % of the items, whose silhouettes are 0."""
    sizes = np.bincount(labels)
    inside = sizes[labels] >= max(2, 0.01 * len(labels))
    samples = np.zeros(len(labels))
    if len(np.unique(labels[inside])) > 1:
        samples[inside] = silhouette_samples(rows[inside], labels[inside])
    return samples.mean()


def _parsed(text):
    """Reads a tree in Newick's format. Returns the distance between each pair of names along the tree."""
    tokens = re.findall(r"'(?:[^']|'')*'|[^(),:;]+|[(),:;]", text)
    assert tokens.pop() == ";"
    between = {}
    # For each open parenthesis, the parts so far: each has the depth of its names below it.
    open_parts, part = [], None
    for place, token in enumerate(tokens):
        if token == "(":
            open_parts.append([])
        elif token in ",)":
            open_parts[-1].append(part)
            if token == ")":
                parts = open_parts.pop()
                for one in range(len(parts)):
                    for other in parts[:one]:
                        between |= {frozenset((a, b)): depth_a + depth_b for a, depth_a in parts[one].items() for b, depth_b in other.items()}
                part = {name: depth for some in parts for name, depth in some.items()}
        elif token != ":" and tokens[place - 1] == ":":
            part = {name: depth + float(token) for name, depth in part.items()}
        elif token != ":":
            part = {token[1:-1].replace("''", "'") if token.startswith("'") else token: 0.0}
    assert not open_parts
    return between


@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_tree_is_that_of_scipy(linkage, rows):
    model = lehr.AgglomerativeClustering(4, linkage=linkage).fit(rows)
    expected = scipy.cluster.hierarchy.linkage(pdist(rows), linkage)
    np.testing.assert_allclose(model.distances_, expected[:, 2], rtol=1e-13)
    np.testing.assert_array_equal(np.sort(model.children_, axis=1), np.sort(expected[:, :2], axis=1))
    assert scipy.cluster.hierarchy.is_valid_linkage(model.linkage_matrix_)
    np.testing.assert_array_equal(model.linkage_matrix_, np.column_stack([model.children_, model.distances_, expected[:, 3]]))
    np.testing.assert_array_equal(model.order_, scipy.cluster.hierarchy.leaves_list(model.linkage_matrix_))
    assert (model.children_.dtype, model.labels_.dtype, model.order_.dtype, model.n_leaves_) == (np.int64, np.int32, np.int64, 90)
    for clusters in (1, 2, 5, 20, 90):
        model = lehr.AgglomerativeClustering(clusters, linkage=linkage).fit(rows)
        assert model.n_clusters_ == clusters and model.candidates_ is None
        assert _first_seen(model.labels_) == _first_seen(scipy.cluster.hierarchy.fcluster(expected, clusters, "maxclust"))
        assert (np.diff(np.bincount(model.labels_)) <= 0).all()


@pytest.mark.parametrize("linkage", ["average", "complete", "single", "ward"])
def test_the_clusters_are_those_of_scikit_learn(linkage, rows):
    for how in ({"n_clusters": 3}, {"n_clusters": 7}, {"n_clusters": None, "distance_threshold": 2.5}, {"n_clusters": None, "distance_threshold": 0.0}):
        model = lehr.AgglomerativeClustering(linkage=linkage, **how).fit(rows)
        expected = sklearn.cluster.AgglomerativeClustering(linkage=linkage, compute_distances=True, **how).fit(rows)
        assert model.n_clusters_ == expected.n_clusters_ and model.n_leaves_ == expected.n_leaves_
        assert _first_seen(model.labels_) == _first_seen(expected.labels_)
        # scikit-learn does not sort the joins of every linkage by height.
        np.testing.assert_allclose(model.distances_, np.sort(expected.distances_), rtol=1e-12)
        assert lehr.AgglomerativeClustering(linkage=linkage, **how).fit_predict(rows).tolist() == model.labels_.tolist()


def test_a_join_at_the_threshold_is_below_the_cut():
    X = [[0.0], [1.0], [5.0], [7.0]]
    found = [lehr.AgglomerativeClustering(distance_threshold=height, linkage="single").fit(X).n_clusters_ for height in (0.5, 1.0, 2.0, 3.9, 4.0)]
    assert found == [4, 3, 2, 2, 1]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_silhouettes_are_those_of_scikit_learn(linkage, rows):
    for clusters in (2, 4, 30):
        model = lehr.AgglomerativeClustering(clusters, linkage=linkage).fit(rows)
        expected = silhouette_samples(rows, model.labels_)
        np.testing.assert_allclose(model.silhouette_samples_, expected, atol=1e-12)
        assert model.silhouette_score_ == pytest.approx(silhouette_score(rows, model.labels_), abs=1e-12)
        np.testing.assert_allclose(model.clusters_["silhouette"], [expected[model.labels_ == label].mean() for label in range(clusters)], atol=1e-12)
    # scikit-learn gives no silhouettes for a single cluster.
    assert lehr.AgglomerativeClustering(1).fit(rows).silhouette_score_ == 0.0


def test_the_largest_mean_silhouette_chooses_the_number_of_clusters(rows):
    model = lehr.AgglomerativeClustering().fit(rows)
    assert model.candidates_.dtype.names == ("n_clusters", "silhouette") and model.candidates_["n_clusters"].tolist() == list(range(2, 21))
    expected = [_compared(rows, lehr.AgglomerativeClustering(clusters).fit(rows).labels_) for clusters in range(2, 21)]
    np.testing.assert_allclose(model.candidates_["silhouette"], expected, atol=1e-12)
    # With many clusters, some have one item.
    assert expected[-1] != pytest.approx(silhouette_score(rows, lehr.AgglomerativeClustering(20).fit(rows).labels_))
    assert model.n_clusters_ == 2 + np.argmax(expected) == 4
    assert model.silhouette_score_ == pytest.approx(max(expected))
    with pytest.warns(ConvergenceWarning, match="raise max_clusters"):
        few = lehr.AgglomerativeClustering(max_clusters=3).fit(rows)
    assert few.candidates_["n_clusters"].tolist() == [2, 3] and few.n_clusters_ == 3


def test_items_without_groups_are_told():
    # The fit is complete, and users turn warnings of the other class into errors.
    with pytest.warns(UserWarning, match="hardly form groups") as caught:
        lehr.AgglomerativeClustering(linkage="ward").fit(np.random.default_rng(1).normal(size=(60, 6)))
    assert [one.category for one in caught] == [UserWarning] and caught[0].filename == __file__
    with pytest.warns(UserWarning, match="the items form one group") as caught:
        model = lehr.AgglomerativeClustering().fit(np.ones((4, 1)))
    assert [one.category for one in caught] == [UserWarning] and model.labels_.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("linkage", ["average", "complete", "single", "ward"])
def test_a_weight_of_three_is_the_item_three_times(linkage, rows):
    weight = np.where(np.arange(90) % 3 == 0, 3.0, 1.0)
    order = np.repeat(np.arange(90), weight.astype(int))
    weighed = lehr.AgglomerativeClustering(4, linkage=linkage).fit(rows, sample_weight=weight)
    repeated = lehr.AgglomerativeClustering(4, linkage=linkage).fit(rows[order])
    np.testing.assert_allclose(weighed.distances_, repeated.distances_[-89:], rtol=1e-12)
    assert not repeated.distances_[:-89].any()
    np.testing.assert_array_equal(weighed.labels_[order], repeated.labels_)
    np.testing.assert_allclose(weighed.clusters_["weight"], repeated.clusters_["n_samples"])
    np.testing.assert_allclose(weighed.clusters_["mean_within"], repeated.clusters_["mean_within"], rtol=1e-12)
    np.testing.assert_array_equal(weighed.predict(rows), repeated.predict(rows))
    mean = np.average(weighed.silhouette_samples_, weights=weight)
    assert weighed.silhouette_score_ == pytest.approx(mean)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "manhattan", "cosine", "correlation", "chebyshev"])
def test_a_matrix_gives_what_its_rows_give(metric, wine):
    of_rows = lehr.AgglomerativeClustering(3, metric=metric).fit(wine)
    matrix = lehr.pairwise_distances(wine, metric) if metric != "chebyshev" else squareform(pdist(wine, metric))
    of_matrix = lehr.AgglomerativeClustering(3, metric="precomputed").fit(matrix)
    for name in ("labels_", "medoid_indices_", "linkage_matrix_", "silhouette_samples_", "order_"):
        np.testing.assert_array_equal(getattr(of_rows, name), getattr(of_matrix, name))
    np.testing.assert_array_equal(of_rows.predict(wine), of_matrix.predict(matrix))


def test_a_cluster_has_the_figures_of_its_members(wine):
    model = lehr.AgglomerativeClustering(4, linkage="ward").fit(wine)
    matrix, joined = squareform(pdist(wine)), squareform(scipy.cluster.hierarchy.cophenet(model.linkage_matrix_))
    for label, cluster in enumerate(model.clusters_):
        members = np.flatnonzero(model.labels_ == label)
        within = matrix[np.ix_(members, members)]
        assert cluster["medoid"] == model.medoid_indices_[label] == members[within.sum(axis=1).argmin()]
        assert cluster["n_samples"] == cluster["weight"] == len(members) and cluster["mean_within"] == pytest.approx(within.mean())
        assert cluster["height"] == joined[np.ix_(members, members)].max()


def test_new_items_get_the_cluster_in_which_their_field_is_smallest(wine):
    old, new = wine[::2], wine[1::2]
    model = lehr.AgglomerativeClustering(3, linkage="ward").fit(old)
    apart = lehr.pairwise_distances(np.vstack([new, old]))[: len(new), len(new) :]
    members = np.eye(3)[model.labels_]
    fields = apart @ members / members.sum(axis=0) - model.clusters_["mean_within"] / 2
    np.testing.assert_array_equal(model.predict(new), fields.argmin(axis=1))
    assert model.predict(new).dtype == np.int32


def test_single_precision(wine):
    single = wine.astype(np.float32)
    model = lehr.AgglomerativeClustering(3).fit(single)
    assert model.silhouette_samples_.dtype == np.float32 and model.linkage_matrix_.dtype == np.float64
    np.testing.assert_allclose(model.distances_, lehr.AgglomerativeClustering(3).fit(wine).distances_, rtol=1e-5)


def test_the_result_does_not_depend_on_threads(wine):
    one, three = (lehr.AgglomerativeClustering(n_jobs=jobs).fit(wine) for jobs in (1, 3))
    for name in ("labels_", "linkage_matrix_", "silhouette_samples_", "candidates_", "clusters_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))


def test_one_item_and_two():
    one = lehr.AgglomerativeClustering().fit([[1.0, 2.0]])
    assert (one.labels_.tolist(), one.linkage_matrix_.shape, one.children_.shape, one.order_.tolist()) == ([0], (0, 4), (0, 2), [0])
    assert len(one.candidates_) == 0 and one.to_newick(["only"]) == "only;"
    two = lehr.AgglomerativeClustering().fit([[0.0], [3.0]])
    assert two.linkage_matrix_.tolist() == [[0.0, 1.0, 3.0, 2.0]] and two.to_newick() == "(0:1.5,1:1.5);"


@pytest.mark.parametrize("linkage", LINKAGES)
def test_newicks_format_has_the_distances_along_the_tree(linkage, rows):
    model = lehr.AgglomerativeClustering(4, linkage=linkage).fit(rows)
    expected = squareform(scipy.cluster.hierarchy.cophenet(model.linkage_matrix_))
    names = [f"{'it''s'[:item % 5]}no. {item}_(x,y):'z';" for item in range(90)]
    for given, told in ((names, names), (None, [str(item) for item in range(90)]), (np.arange(90) + 0.5, [f"{item}.5" for item in range(90)])):
        between = _parsed(model.to_newick(given))
        assert len(between) == 90 * 89 // 2
        for (one, other), height in np.ndenumerate(expected):
            if one != other:
                assert between[frozenset((told[one], told[other]))] == pytest.approx(height, rel=1e-9)


def test_names_of_items_come_from_the_columns_of_a_matrix(two_pairs):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(two_pairs, columns=["a", "b", "c d", "e"])
    model = lehr.AgglomerativeClustering(2, metric="precomputed").fit(frame)
    assert model.to_newick() == "((a:0.5,b:0.5):4,('c d':0.5,e:0.5):4);"
    assert model.feature_names_in_.tolist() == ["a", "b", "c d", "e"]
    # The columns of rows do not name the items.
    of_rows = lehr.AgglomerativeClustering(2).fit(pandas.DataFrame({"x": [0.0, 4.0], "y": [0.0, 3.0]}))
    assert of_rows.to_newick() == "(0:2.5,1:2.5);"


def test_trees_that_cannot_be_written(two_pairs):
    model = lehr.AgglomerativeClustering(2, metric="precomputed")
    with pytest.raises(NotFittedError):
        model.to_newick()
    model.fit(two_pairs)
    for names in (["a", "b", "c"], list("abcde"), []):
        with pytest.raises(ValueError, match=f"expected 4 names, one for each item, found {len(names)}"):
            model.to_newick(names)
        with pytest.raises(ValueError, match=f"expected 4 names, one for each item, found {len(names)}"):
            _native.newick(model.children_, model.distances_, names)
    for children, words in (
        ([[0, 1], [2, 3], [4, 4]], "join 2: expected a node without a parent, found 4"),
        ([[0, 1], [2, 6], [4, 3]], "join 1: expected a node without a parent, found 6"),
        ([[0, -1], [2, 3], [4, 5]], "join 0: expected a node without a parent, found -1"),
        ([[0], [2], [4]], "expected two nodes and a distance for each join"),
    ):
        with pytest.raises(ValueError, match=words):
            _native.newick(np.array(children), model.distances_, list("abcd"))
    with pytest.raises(ValueError, match="expected two nodes and a distance for each join"):
        _native.newick(model.children_, model.distances_[1:], list("abcd"))


@pytest.mark.thread_unsafe(reason="pyplot draws for one thread")
@pytest.mark.usefixtures("closed")
def test_a_deep_tree_is_written_and_drawn():
    # By single linkage, each item is joined to all items before it.
    at = np.cumsum(1.0 + np.arange(2000) * 1e-6)[:, None]
    model = lehr.AgglomerativeClustering(2, linkage="single").fit(at)
    text = model.to_newick()
    assert text.startswith("(" * 1999) and text.count(",") == 1999
    assert len(model.plot(max_leaves=1500).get_yticklabels()) == 1500


def test_a_stopped_run_goes_on_to_the_same_bits_and_refuses_other_parameters(wine, tmp_path):
    path, seen = tmp_path / f"run {threading.get_ident()}", []

    def callback(progress):
        seen.append(progress)
        return False

    with pytest.raises(lehr.Stopped):
        lehr.AgglomerativeClustering(callback=callback, checkpoint=path).fit(wine)
    assert len(seen) == 1 and 0 < seen[0].fraction < 1 and path.exists()
    with pytest.raises(ValueError, match="written with other parameters"):
        lehr.AgglomerativeClustering(linkage="ward", checkpoint=path).fit(wine)
    with pytest.raises(ValueError, match="Fit the data that the checkpoint was written for"):
        lehr.AgglomerativeClustering(checkpoint=path).fit(wine[1:])
    with pytest.raises(ValueError, match="Delete the file to start again"):
        lehr.KMedoids(3, checkpoint=path).fit(wine)
    steps = []
    whole, rest = lehr.AgglomerativeClustering().fit(wine), lehr.AgglomerativeClustering(checkpoint=path, callback=steps.append).fit(wine)
    for name in ("labels_", "linkage_matrix_", "silhouette_samples_", "candidates_"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(rest, name))
    assert steps[0].stage == "silhouettes" and steps[-1].n_clusters == whole.n_clusters_ and not path.exists()


@pytest.mark.parametrize(
    ("parameters", "kind", "words"),
    [
        ({"n_clusters": 0}, ValueError, "The 'n_clusters' parameter of AgglomerativeClustering must be an int in the range .* Got 0 instead"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters"),
        ({"n_clusters": 4}, ValueError, "n_samples=3 should be >= n_clusters=4"),
        ({"n_clusters": 2, "distance_threshold": 1.5}, ValueError, "At most one of n_clusters and distance_threshold .* Got n_clusters=2 and distance_threshold=1.5"),
        ({"distance_threshold": -1.0}, ValueError, r"The 'distance_threshold' parameter of AgglomerativeClustering must be a float in the range \[0.0, inf\)"),
        ({"distance_threshold": np.inf}, ValueError, "distance_threshold"),
        ({"max_clusters": 0}, ValueError, "The 'max_clusters' parameter of AgglomerativeClustering must be an int in the range"),
        ({"linkage": "centroid"}, ValueError, "The 'linkage' parameter .* must be a str among {'average', 'complete', 'single', 'weighted', 'ward'}. Got 'centroid' instead"),
        ({"metric": "nearness"}, ValueError, "The 'metric' parameter of AgglomerativeClustering must be a str among {'precomputed', 'euclidean'"),
        ({"n_jobs": 0}, ValueError, "n_jobs"),
        ({"callback": 3}, TypeError, "callback"),
        ({"metric": "correlation"}, ValueError, r"one value alone in row 0 \(counted from 0\)"),
    ],
)
def test_parameters_that_cannot_be(parameters, kind, words):
    with pytest.raises(kind, match=words):
        lehr.AgglomerativeClustering(**parameters).fit([[0.0, 0.0], [1.0, 1.0], [4.0, 3.0]])


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        ([[0.0, 1.0], [2.0, 0.0]], "expected 1"),
        ([[0.0, -1.0], [-1.0, 0.0]], r"Negative values in data passed to AgglomerativeClustering.fit: .* Got -1.0 at \[0, 1\]"),
        ([[1.0, 1.0], [1.0, 0.0]], "expected 0 on the diagonal"),
        ([[0.0, np.nan], [np.nan, 0.0]], "AgglomerativeClustering does not accept missing dissimilarities. lehr.PairwiseClustering and"),
        ([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0]], r"requires shape \(n_samples, n_samples\)"),
    ],
)
def test_dissimilarities_that_cannot_be(matrix, words):
    with pytest.raises(ValueError, match=words):
        lehr.AgglomerativeClustering(1, metric="precomputed").fit(matrix)


def test_weights_and_other_items_that_cannot_be(two_pairs):
    for weight, words in (([1.0, -1.0, 1.0, 1.0], "Negative values"), ([0.0] * 4, "at least one non-zero"), ([1.0] * 3, "sample_weight.shape")):
        with pytest.raises(ValueError, match=words):
            lehr.AgglomerativeClustering(2, metric="precomputed").fit(two_pairs, sample_weight=weight)
    with pytest.raises(ValueError, match="AgglomerativeClustering requires sample weights above 0, found 0 in row 2"):
        lehr.AgglomerativeClustering(2, metric="precomputed").fit(two_pairs, sample_weight=[1.0, 1.0, 0.0, 0.0])
    model = lehr.AgglomerativeClustering(2, metric="precomputed").fit(two_pairs)
    with pytest.raises(ValueError, match="Negative values in data passed to AgglomerativeClustering.predict"):
        model.predict([[-1.0, 1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="does not accept missing dissimilarities"):
        model.predict([[np.nan, 1.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="X has 2 features, but AgglomerativeClustering is expecting 4"):
        model.predict([[1.0, 1.0]])
    with pytest.warns(UserWarning, match="say metric='precomputed'"):
        lehr.AgglomerativeClustering(2).fit(two_pairs)


@pytest.mark.parametrize("model", [lehr.AgglomerativeClustering(linkage="ward"), lehr.AgglomerativeClustering(distance_threshold=5.0), lehr.AgglomerativeClustering(3)], ids=repr)
def test_it_goes_through_a_file(model, wine, tmp_path):
    model = clone(model).fit(wine, sample_weight=1.0 + np.arange(178) % 3)
    path = tmp_path / f"model {threading.get_ident()}"
    model.save(path)
    copy = lehr.load(path)
    assert isinstance(copy, lehr.AgglomerativeClustering) and copy.get_params() == model.get_params()
    for name in ("labels_", "children_", "distances_", "linkage_matrix_", "order_", "silhouette_samples_", "medoid_indices_", "clusters_"):
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
    assert copy.silhouette_score_ == model.silhouette_score_ and copy.to_newick() == model.to_newick()
    np.testing.assert_array_equal(copy.predict(wine), model.predict(wine))


def test_what_is_exported_is_loaded_as_a_pairwise_clustering(two_pairs, tmp_path):
    path = tmp_path / f"{threading.get_ident()}.json"
    model = lehr.AgglomerativeClustering(2, metric="precomputed").fit(two_pairs)
    model.export(path)
    copy = lehr.load(path)
    assert type(copy) is lehr.PairwiseClustering
    np.testing.assert_array_equal(copy.predict(two_pairs), model.predict(two_pairs))


@pytest.mark.thread_unsafe(reason="pyplot draws for one thread")
@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("clusters", [1, 3, 90])
def test_a_dendrogram_has_a_line_for_each_join(clusters, rows):
    model = lehr.AgglomerativeClustering(clusters, linkage="ward").fit(rows)
    ax = model.plot(max_leaves=100)
    ax.figure.draw_without_rendering()
    (drawn,) = ax.collections
    segments = np.array(drawn.get_segments())
    assert segments.shape == (89, 4, 2)
    np.testing.assert_array_equal(segments[:, 1, 0], model.distances_)
    # Each line ends where the two nodes that it joins have their lines, or at an item.
    place = {int(item): (0.0, row) for row, item in enumerate(model.order_)}
    for number, (left, right) in enumerate(model.children_.tolist()):
        assert tuple(segments[number][0]) == place[left] and tuple(segments[number][3]) == place[right]
        place[90 + number] = (model.distances_[number], segments[number][1:3, 1].mean())
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(item) for item in model.order_]
    # Joins within clusters have the colours of these, and the joins above the cut are black.
    colours = drawn.get_colors()
    black = (colours[:, :3] == 0).all(axis=1)
    assert black.sum() == clusters - 1 and not black[: 90 - clusters].any()
    of_labels = [matplotlib.colors.to_rgba(label.get_color()) for label in ax.get_yticklabels()]
    assert of_labels == [matplotlib.colors.to_rgba(lehr.plot.class_colours()[model.labels_[item] % 20]) for item in model.order_]
    if clusters == 3:
        assert {tuple(colour) for colour in colours[~black]} == set(of_labels)
    cut = [line.get_xdata()[0] for line in ax.lines]
    assert len(cut) == (clusters > 1)
    assert all((model.distances_ > height).sum() == clusters - 1 for height in cut)
    assert ax.xaxis.get_inverted() and ax.yaxis.get_inverted()
    assert ax.get_title() == f"{clusters} cluster{'s' if clusters > 1 else ''}, mean silhouette {model.silhouette_score_:.2f}"


@pytest.mark.thread_unsafe(reason="pyplot draws for one thread")
@pytest.mark.usefixtures("closed")
def test_of_a_large_tree_the_top_is_drawn(rows):
    model = lehr.AgglomerativeClustering(4).fit(rows)
    _, own = plt.subplots()
    names = [f"n{item}" for item in range(90)]
    ax = lehr.plot.dendrogram(model, names=names, max_leaves=12, ax=own)
    assert ax is own and len(ax.collections[0].get_segments()) == 11
    told = [label.get_text() for label in ax.get_yticklabels()]
    counts = [1 + int(text.split(" and ")[1].split()[0]) if " and " in text else 1 for text in told]
    assert len(told) == 12 and sum(counts) == 90
    first = np.cumsum([0, *counts[:-1]])
    assert [text.split(" and ")[0] for text in told] == [names[item] for item in model.order_[first]]
    assert [label.get_text() for label in model.plot(max_leaves=1).get_yticklabels()] == ["0 and 89 more"]
    one = lehr.AgglomerativeClustering().fit([[1.0]]).plot()
    assert [label.get_text() for label in one.get_yticklabels()] == ["0"]
    with pytest.raises(ValueError, match="expected 90 names, one for each item, found 2"):
        model.plot(names=["a", "b"])
    for most, kind in ((0, ValueError), (-1, ValueError), (2.5, TypeError)):
        with pytest.raises(kind, match="The 'max_leaves' parameter must be an int of 1 or more"):
            model.plot(max_leaves=most)
    with pytest.raises(NotFittedError):
        lehr.AgglomerativeClustering().plot()


def test_equal_items_are_joined_at_height_0_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = lehr.AgglomerativeClustering(2).fit([[1.0], [5.0], [1.0], [5.0]])
    assert model.labels_.tolist() == [0, 1, 0, 1] and model.distances_.tolist() == [0.0, 0.0, 4.0]
