"""Fitted estimators in a notebook cell: the report has the rows, the labels and the columns, and names never become markup."""

import base64
import html
import json
import os
import re
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

import lehr

HOSTILE = "</script><img src=x onerror=alert(1)>&\"'"


@pytest.fixture(scope="module")
def rows():
    """Returns four groups of 30 rows in three columns."""
    return np.random.default_rng(0).normal(size=(120, 3)) + np.repeat([[0, 0, 0], [9, 0, 0], [0, 9, 0], [5, 5, 9]], 30, axis=0)


def figures(report):
    """Returns the data in a report, by figure."""
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', report.page, re.DOTALL)
    assert len(found) == 1
    return json.loads(found[0])["figures"]


def unpacked(text, kind):
    return np.frombuffer(base64.b64decode(text), dtype=kind)


def without_scripts(report):
    return re.sub(r"<(script|style)[^>]*>.*?</\1>", "", report.page, flags=re.DOTALL)


def test_the_page_has_the_values_the_labels_and_the_course(rows):
    model = lehr.DAClustering(4).fit(rows)
    report = model.show(rows, height=300)
    drawn = figures(report)
    scene = drawn["picture"]
    assert scene["rows"] == 120 and [column["name"] for column in scene["columns"]] == ["x0", "x1", "x2"]
    for place, column in enumerate(scene["columns"]):
        np.testing.assert_array_equal(unpacked(column["values"], "<f4"), rows[:, place].astype("f4"))
    np.testing.assert_array_equal(unpacked(scene["groupings"][0]["of"], "<u2"), model.labels_)
    assert len(scene["groupings"][0]["about"]) == 4
    assert len(scene["layouts"][0]["axes"]) == 2
    assert len(drawn["course"]["steps"]) == len(model.history_) and drawn["course"]["splits"][0][0] == model.splits_["temperature"][0]
    assert repr(report) == "Report('120 rows in 4 clusters')" and report.path is None
    # The report loads nothing, and only one script may run.
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', report.page)[1]
    assert html.unescape(policy).startswith("default-src 'none'; script-src 'sha256-")
    assert not re.search(r"(src|href)=", without_scripts(report))
    text = report._repr_html_()
    assert text.startswith("<iframe ") and text.count("<") == 2 and 'sandbox="allow-scripts allow-downloads"' in text and 'height="300"' in text


def test_no_name_becomes_markup(rows):
    table = pd.DataFrame(rows, columns=["a", HOSTILE, "c"])
    shown = table.assign(kind=[HOSTILE, "plain"] * 60)
    # One row is far out, so that its name appears in a table of the report.
    table.iloc[7] = shown.iloc[7, :3] = [400.0, -300.0, 2.0]
    model = lehr.KMeans(1).fit(table)
    report = model.show(table, table=shown, names=[f"{HOSTILE}{row}" for row in range(120)])
    # Only the report's own script elements end.
    assert report.page.count("</script>") == 2 and "<img" not in report.page
    assert html.escape(f"{HOSTILE}7") in report.page and html.escape(HOSTILE) in report.page
    scene = figures(report)["picture"]
    assert scene["ids"][3] == f"{HOSTILE}3" and scene["columns"][1]["name"] == HOSTILE and scene["columns"][3]["texts"][:2] == [HOSTILE, "plain"]


def test_columns_beside_those_of_the_model_may_have_gaps(rows):
    model = lehr.DAClustering(4).fit(rows)
    half = np.where(np.arange(120) % 2 == 0, np.nan, 1.5)
    table = {"half": half, "day": pd.date_range("2024-01-31", periods=120), "kind": [None, "x"] * 60}
    columns = {column["name"]: column for column in figures(model.show(rows, table=table))["picture"]["columns"]}
    np.testing.assert_array_equal(unpacked(columns["half"]["values"], "<f4"), half.astype("f4"))
    assert columns["day"]["texts"][:2] == ["2024-01-31", "2024-02-01"] and columns["kind"]["texts"][:2] == ["", "x"]


def test_other_rows_get_their_own_clusters(rows):
    model = lehr.KMeans(4, random_state=0).fit(rows)
    scene = figures(model.show(rows[:20]))["picture"]
    np.testing.assert_array_equal(unpacked(scene["groupings"][0]["of"], "<u2"), model.predict(rows[:20]))
    given = np.array([-1, 3] * 10)
    scene = figures(model.show(rows[:20], labels=given))["picture"]
    assert unpacked(scene["groupings"][0]["of"], "<u2").tolist() == [65_535, 3] * 10


@pytest.mark.filterwarnings("ignore:the map annealed")
@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (lehr.KMeans(4, random_state=0), {"picture", "course"}),
        (lehr.MiniBatchKMeans(4, random_state=0), {"picture"}),
        (lehr.KMedoids(4), {"picture"}),
        (lehr.AgglomerativeClustering(), {"picture", "dendrogram", "course"}),
        (lehr.AgglomerativeClustering(4), {"picture", "dendrogram"}),
        (lehr.PairwiseClustering(4), {"picture", "course"}),
        (lehr.DAGaussianMixture(max_components=5), {"picture", "course"}),
        (lehr.GTM(n_nodes=6), {"picture", "course", "planes"}),
        (lehr.GTM(1), {"picture", "course"}),
        (lehr.SMACOF(3), {"picture", "course", "density"}),
        (lehr.HDBSCAN(10), {"picture"}),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_each_estimator_shows_what_it_found(model, expected, rows):
    fitted = type(model)(**model.get_params()).fit(rows)
    report = fitted.show(rows)
    assert set(figures(report)) == expected
    assert figures(report)["picture"]["rows"] == 120
    assert type(model).__name__ in without_scripts(report)
    # The report works without rows too.
    assert "<h2" in fitted.show().page


@pytest.fixture(scope="module")
def chromium():
    """Returns the path of Chromium. Without it the test is skipped, or fails if browser tests are required."""
    found = os.environ.get("LEHR_CHROMIUM") or next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)
    if found is None:
        (pytest.fail if os.environ.get("LEHR_WEB_REQUIRED") else pytest.skip)("Chromium is not installed (apt install chromium), and LEHR_CHROMIUM names none")
    return found


def in_browser(chromium, page):
    """Returns the page's elements after its script has run, and what Chromium said: errors, and violations of the page's policy."""
    words = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--virtual-time-budget=30000", "--run-all-compositor-stages-before-draw", "--dump-dom", page.as_uri()]
    run = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True)
    elements = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", run.stdout, flags=re.DOTALL)
    return elements, [line for line in run.stderr.splitlines() if "CONSOLE" in line]


@pytest.mark.thread_unsafe(reason="a browser for each thread would take more memory than a test machine has")
@pytest.mark.filterwarnings("ignore:the map annealed", "ignore:Lehr kept the map")
@pytest.mark.parametrize(
    ("model", "headings"),
    [
        (lehr.DAClustering(4), ["Clusters", "How sure", "Box plots"]),
        (lehr.DAGaussianMixture(4), ["Components", "How sure", "Box plots"]),
        (lehr.GTM(n_nodes=6), ["How the map unfolded", "The columns across the map"]),
        (lehr.PairwiseClustering(4), ["Clusters", "Box plots"]),
        (lehr.HDBSCAN(10), ["Clusters", "How sure", "Box plots"]),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_a_browser_draws_the_page_from_disk_31(chromium, model, headings, rows, tmp_path):
    fitted = clone(model).fit(rows)
    fitted.show(rows).save(tmp_path / "page.html")
    elements, said = in_browser(chromium, tmp_path / "page.html")
    assert said == []
    assert len(re.findall(r"<canvas [^>]*width=\"[1-9]", elements)) == 1 and elements.count("<svg") > 5
    found = [re.sub(r"<[^>]*>", "", heading) for heading in re.findall(r"<h[23][^>]*>(.*?)</h[23]>", elements, re.DOTALL)]
    assert [heading for heading in headings if not any(other.startswith(heading) for other in found)] == []
    if "Box plots" in headings:
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", elements))
        sizes = np.bincount(fitted.labels_)
        assert [f"{headings[0][:-1]} {number} {size} {size / 1.2:.0f} %" in text for number, size in enumerate(sizes)] == [True] * 4


@pytest.mark.thread_unsafe(reason="a browser for each thread would take more memory than a test machine has")
def test_a_browser_draws_the_cell_of_a_notebook_31(chromium, rows, tmp_path):
    cell = lehr.DAClustering(4).fit(rows).show(rows)._repr_html_()
    # The frame has another origin, so only Chromium's log tells what goes wrong in it.
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{cell}")
    elements, said = in_browser(chromium, tmp_path / "notebook.html")
    assert said == [] and elements.count("<iframe") == 1
    # A script that the policy does not allow is reported, so silence above means that nothing was refused.
    (tmp_path / "wrong.html").write_text(f"<!doctype html><title>notebook</title>{cell.replace('sha256-', 'sha256-A', 1)}")
    _, said = in_browser(chromium, tmp_path / "wrong.html")
    assert any("Content Security Policy" in line for line in said)


@pytest.mark.parametrize("model", [lehr.DAClustering(4), lehr.DAGaussianMixture(4), lehr.PairwiseClustering(4), lehr.HDBSCAN(10)], ids=lambda model: type(model).__name__)
def test_rows_have_the_probabilities_of_their_clusters_31(model, rows):
    rows = rows + np.random.default_rng(5).normal(size=rows.shape)
    fitted = clone(model).fit(rows)
    grouping = figures(fitted.show(rows))["picture"]["groupings"][0]
    probabilities = unpacked(grouping["probability"], "<u2") / 65_534
    np.testing.assert_allclose(probabilities, fitted.probabilities_, atol=1e-4)
    for cluster, mean in enumerate(grouping["means"]):
        assert mean == pytest.approx(fitted.probabilities_[fitted.labels_ == cluster].mean())
    if hasattr(fitted, "predict_proba"):
        # Other rows have those of their own clusters.
        others = figures(fitted.show(rows[::3] + 0.25))["picture"]["groupings"][0]
        expected = fitted.predict_proba(rows[::3] + 0.25).max(axis=1)
        np.testing.assert_allclose(unpacked(others["probability"], "<u2") / 65_534, expected, atol=1e-4)
    # Labels of someone else have no probabilities of the model.
    given = figures(fitted.show(rows, labels=np.arange(120) % 2))["picture"]["groupings"][0]
    assert "probability" not in given


@pytest.mark.parametrize("model", [lehr.DAClustering(4), lehr.KMeans(4, random_state=0)], ids=lambda model: type(model).__name__)
def test_clusters_are_merged_in_the_order_of_the_command_31(model, rows):
    fitted = clone(model).fit(rows)
    report = fitted.show(rows)
    grouping = figures(report)["picture"]["groupings"][0]
    # Each cluster but one is absorbed, as three, two and one are left.
    assert sorted(join[1] for join in grouping["joins"] if join) == [1, 2, 3] and grouping["joins"].count(None) == 1
    centers, weights = fitted.cluster_centers_, fitted.clusters_["weight"]
    pairs = [(a, b) for a in range(4) for b in range(a)]
    rise = [weights[a] * weights[b] / (weights[a] + weights[b]) * ((centers[a] - centers[b]) ** 2).sum() for a, b in pairs]
    high, low = pairs[int(np.argmin(rise))]
    assert grouping["joins"][high] == [low, 3] and grouping["partners"][high] == str(low)
    assert "merges first with" in without_scripts(report)


def test_noise_is_in_no_cluster_of_a_report():
    blobs = np.random.default_rng(2).normal(size=(80, 2)) + np.repeat([[0, 0], [20, 20]], 40, axis=0)
    rows = np.vstack([blobs, [[10.0, 10.0], [-30.0, 5.0]]])
    fitted = lehr.HDBSCAN(10).fit(rows)
    report = fitted.show(rows)
    noise = int((fitted.labels_ == -1).sum())
    assert noise >= 2 and repr(report) == f"Report('82 rows in 2 clusters; {noise} of noise')"
    scene = figures(report)["picture"]
    np.testing.assert_array_equal(unpacked(scene["groupings"][0]["of"], "<u2"), fitted.labels_.astype("<u2"))
    assert scene["columns"][-1]["name"] == "outlier score"
    np.testing.assert_allclose(unpacked(scene["columns"][-1]["values"], "<f4"), fitted.outlier_scores_, rtol=1e-6)
    matrix = pairwise_distances(rows)
    heat = figures(lehr.HDBSCAN(10, metric="precomputed").fit(matrix).show(matrix))["heat"]
    assert sum(block["items"] for block in heat["blocks"]) == 82 - noise == len(heat["ids"])
    with pytest.raises(ValueError, match="has labels of its 82 fitted rows only: pass these rows, or pass labels. Got 5 rows"):
        fitted.show(rows[:5])


def test_a_mixture_has_its_ellipses_in_the_plane_that_is_drawn():
    X = np.random.default_rng(1).normal(size=(60, 2)) * [1.0, 3.0]
    model = lehr.DAGaussianMixture(1).fit(X)
    layout = figures(model.show(X))["picture"]["layouts"][0]
    (outline,) = layout["outlines"]
    np.testing.assert_allclose(outline["mean"], model.means_[0])
    np.testing.assert_allclose(outline["covariance"], model.covariances_[0][[0, 0, 1], [0, 1, 1]])


@pytest.mark.parametrize("kind", [lehr.AgglomerativeClustering, lehr.PairwiseClustering, lehr.KMedoids])
def test_dissimilarities_are_drawn_in_the_order_of_their_clusters(kind, two_pairs):
    places = [0, 2, 1, 3]
    matrix = two_pairs[np.ix_(places, places)]
    model = kind(2, metric="precomputed").fit(matrix)
    heat = figures(model.show(matrix, names=["a", "b", "c", "d"]))["heat"]
    assert heat["cells"] == 4 and heat["largest"] == 9.0 and heat["beyond"] is None
    levels = unpacked(heat["levels"], "u1").reshape(4, 4)
    near = round(254 / 9)
    assert levels.tolist() == [[0, near, 254, 254], [near, 0, 254, 254], [254, 254, 0, near], [254, 254, near, 0]]
    assert {frozenset(heat["ids"][:2]), frozenset(heat["ids"][2:])} == {frozenset("ac"), frozenset("bd")}
    assert unpacked(heat["between"], "<f4").tolist() == [1.0, 9.0, 9.0, 1.0] and heat["tree"] == [[0, 1, 9.0]]
    # The estimator does not keep its matrix, so the report says how to pass it.
    assert "pass them: show(X)" in kind(2, metric="precomputed").fit(matrix).show().page


def test_a_tree_has_its_items_and_its_cut():
    X = [[0.0], [10.0], [1.0], [30.0], [12.0]]
    model = lehr.AgglomerativeClustering(3).fit(X)
    tree = figures(model.show(X, names="abcde"))["dendrogram"]
    assert [(leaf["name"], leaf["items"], leaf["cluster"]) for leaf in tree["leaves"]] == [("a", 1, 0), ("c", 1, 0), ("b", 1, 1), ("e", 1, 1), ("d", 1, 2)]
    assert tree["joins"] == [[0, 1, 1.0, 0], [2, 3, 2.0, 1], [5, 6, 10.5, None], [7, 4, 24.25, None]] and tree["cut"] == 6.25
    # The names of other rows are not those of the items in the tree.
    assert [leaf["name"] for leaf in figures(model.show(X[:2], names="xy"))["dendrogram"]["leaves"]] == ["0", "2", "1", "4", "3"]
    large = lehr.AgglomerativeClustering(2).fit(np.arange(200.0)[:, None] ** 1.1)
    tree = figures(large.show())["dendrogram"]
    assert (len(tree["leaves"]), len(tree["joins"]), sum(leaf["items"] for leaf in tree["leaves"])) == (80, 79, 200)
    assert "The page draws only the top of the tree." in large.show().page


def test_the_items_of_a_tree_keep_their_clusters_where_others_are_predicted():
    # By single linkage, a chain of items is one cluster, also where the mean dissimilarity to a small cluster is smaller.
    X = np.concatenate([np.arange(0.0, 20.0), [21.5, 21.6]])[:, None]
    model = lehr.AgglomerativeClustering(2, linkage="single").fit(X)
    assert (model.predict(X) != model.labels_).any()
    for shown in (model.show(X), model.show(pd.DataFrame(X)), model.show()):
        np.testing.assert_array_equal(unpacked(figures(shown)["picture"]["groupings"][0]["of"], "<u2"), model.labels_)
    np.testing.assert_array_equal(unpacked(figures(model.show(X + 0.1))["picture"]["groupings"][0]["of"], "<u2"), model.predict(X + 0.1))


def test_an_item_far_from_all_others_leaves_the_others_their_shades(rows):
    matrix = pairwise_distances(np.vstack([rows, [[9000.0, 0.0, 0.0]]]))
    matrix = (matrix + matrix.T) / 2
    heat = figures(lehr.KMedoids(5, metric="precomputed").fit(matrix).show(matrix))["heat"]
    assert heat["largest"] < 30.0 and heat["beyond"] == pytest.approx(matrix.max())
    assert (unpacked(heat["levels"], "u1") == 254).mean() < 0.05


def test_sparse_rows_and_fingerprints_are_drawn_on_their_principal_axes():
    bits = (np.random.default_rng(2).random((40, 64)) < np.repeat([0.1, 0.6], 20)[:, None]).astype(np.uint8)
    for X in (csr_array(bits.astype(float)), lehr.Fingerprints(np.packbits(bits, axis=1, bitorder="little"), 64)):
        scene = figures(lehr.KMeans(2, random_state=0).fit(X).show(X))["picture"]
        assert scene["columns"] == [] and len(scene["layouts"]) == 1


def test_more_rows_than_a_page_draws_are_thinned_and_numbered():
    X = np.random.default_rng(3).normal(size=(250_000, 2))
    report = lehr.KMeans(2, n_init=1, random_state=0).fit(X).show(X)
    scene = figures(report)["picture"]
    numbers = unpacked(scene["numbers"], "<u4").astype(int)
    assert scene["rows"] == len(numbers) == 100_000 and (np.diff(numbers) > 0).all() and numbers[-1] < 250_000
    # If rows repeat a pattern, such as hours, the drawn rows contain all of the pattern.
    assert np.bincount(numbers % 24).min() > 3000
    assert "100,000 of 250,000 rows" in report.page


def test_what_does_not_belong_together_is_refused(rows):
    with pytest.raises(NotFittedError):
        lehr.KMeans(2).show(rows)
    model = lehr.KMeans(4, random_state=0).fit(rows)
    with pytest.raises(ValueError, match="expected names of 120 rows, found 2"):
        model.show(rows, names=["a", "b"])
    with pytest.raises(ValueError, match="expected table of 120 rows, found 1"):
        model.show(rows, table={"a": [1.0]})
    with pytest.raises(ValueError, match="expected labels of 120 rows, found 3"):
        model.show(rows, labels=[0, 1, 2])
    with pytest.raises(ValueError, match="a whole number for each row"):
        model.show(rows, labels=np.zeros(120))
    with pytest.raises(ValueError, match="pixels above 0"):
        model.show(rows, height=0)


def test_a_report_is_saved_whole(rows, tmp_path):
    report = lehr.KMeans(4, random_state=0).fit(rows).show(rows)
    report.save(tmp_path / "a.html")
    assert (tmp_path / "a.html").read_text(encoding="utf-8") == report.page
    assert lehr.report.show(tmp_path / "a.html").page == report.page
