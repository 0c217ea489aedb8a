"""Tests of the page about overheads: it has every figure, and judges the expectations of the specification. Run by `make edges`."""

import unittest

import overhead


def figure(experiment, case, engine, median, **more):
    values = {"min": median - 0.25, "median": median, "max": median + 0.25, "runs": 3, "unit": "1", "samples": [median]}
    return {"experiment": experiment, "case": case, "engine": engine} | values | more


def measured(rows, clusters, layout, median):
    return figure("overhead", f"N = {rows}, K = {clusters}", f"ranks {layout}", median, rows=rows, clusters=clusters, layout=layout)


def text(figures, about=None):
    return "\n".join(overhead.page(figures, about or {}))


class Page(unittest.TestCase):
    def test_the_census_pairs_and_sequences_have_tables_of_their_own(self):
        figures = [figure("overhead", f"{method}, N = 100, K = 3", "ranks 2x1x1", 0.125, method=method, layout="2x1x1") for method in ("census", "pairs", "sequences")]
        text = "\n".join(overhead.page([measured(1000, 10, "2x1x1", 0.5), *figures], {}))
        for title in ("### Of the census", "### Of pairwise clustering", "### Of gene sequences"):
            self.assertIn(title, text)
        self.assertEqual(text.count("| N = 100, K = 3 | **0.125**"), 3)

    def test_overheads_stand_by_grain_and_by_clusters(self):
        figures = [measured(rows, 10, layout, 400 / rows) for rows in (1000, 2000) for layout in ("2x1x1", "1x4x1")]
        figures += [measured(2000, clusters, "2x1x1", 0.05) for clusters in (20, 40)]
        page = text(figures)
        self.assertIn("| 1,000 | 500 / 250 | **0.400** (0.150 to 0.650) | **0.400** (0.150 to 0.650) |", page)
        self.assertIn("### Against the number of clusters, N = 2,000", page)
        self.assertIn("| 40 | **0.050**", page)
        self.assertIn("| 2x1x1 | threads | 2 of 4 | 0.050 (K = 20) | 95 % |", page)
        self.assertIn("| 1x4x1 | processes |", page)

    def test_a_law_that_the_specification_expects_is_judged(self):
        def fit(clusters, a, b, quality):
            case = f"a + b/n; K = {clusters}, 2x1x1"
            return [figure("fit", case, name, value) for name, value in (("a", a), ("b", b), ("R²", quality))]

        lines = "\n".join(overhead.expectations([*fit(10, 0.02, 400, 0.95), *fit(20, 0.03, 200, 0.99)]))
        self.assertIn("0.95, 0.99 (holds) | 0.020, 0.030 (holds) | 400, 200 (holds)", lines)
        lines = "\n".join(overhead.expectations([*fit(20, 0.2, 400, 0.5), *fit(10, 0.03, 200, 0.99)]))
        self.assertIn("0.50, 0.99 (missed) | 0.200, 0.030 (missed) | 200, 400 (missed)", lines)

    def test_what_a_law_leaves_out_is_said(self):
        case = "a₁p; K = 5, N = 1000, threads"
        figures = [
            measured(1000, 5, "2x1x1", 0.1),
            figure("fit", case, "a₁", 0.05, note="3 points"),
            figure("fit", case, "R²", 0.99),
            figure("residual", case, "N = 1000, 2x1x1", -0.3),
            figure("residual", case, "N = 1000, 4x1x1", 0.1),
            figure("left out", case, "N = 1000, 16x1x1", 1.7, note="f is not below 1"),
        ]
        page = text(figures)
        self.assertIn("-0.300 at N = 1000, 2x1x1", page)
        self.assertIn(f"| {case} | N = 1000, 16x1x1 | **1.70** (1.45 to 1.95) | f is not below 1 |", page)
        self.assertNotIn("No point was left out", page)
        self.assertIn("No point was left out", text(figures[:-1]))

    def test_pairs_stand_beside_points_and_not_among_them(self):
        def of_pairs(rows, layout, median):
            more = {"rows": rows, "clusters": 10, "layout": layout, "method": "pairs"}
            return figure("overhead", f"pairs, N = {rows}, K = 10", f"ranks {layout}", median, **more)

        points = [measured(rows, 10, "2x1x1", 0.05) for rows in (1000, 2000)]
        page = text([*points, of_pairs(1000, "2x1x1", 0.75), of_pairs(1000, "1x2x1", 1.5)])
        self.assertIn("| N = 1000, K = 10 | **0.750** (0.500 to 1.00) | **1.50** (1.25 to 1.75) |", page)
        self.assertIn("| 2x1x1 | threads | 2 of 2 | 0.050 (K = 10) | 95 % |", page)
        self.assertIn("| 1,000 | 500 | **0.050** (-0.200 to 0.300) |", page)
        self.assertNotIn("Of pairwise clustering", text(points))
        alone = text([of_pairs(1000, "2x1x1", 0.75)])
        self.assertIn("Of pairwise clustering", alone)
        self.assertNotIn("In short", alone)

    def test_every_experiment_of_the_measurement_has_its_table(self):
        stage = {"rows": 20, "clusters": 2, "layout": "2x1x1"}
        figures = [
            figure("map-reduce", "N = 10, K = 2", "map-reduce 2x1x1", 2.5, rows=10, clusters=2, layout="2x1x1"),
            figure("deviation over mean", "stages, n = 10, K = 2", "2x1x1", 0.01, note="2000 samples a round", **stage),
            figure("range over mean", "stages, n = 10, K = 2", "2x1x1", 0.02, **stage),
            figure("kernel", "stages, n = 10, K = 2", "2x1x1", 1.5, **stage),
            measured(10, 2, "2x1x1", 0.5),
            figure("ports less loop", "pairs, N = 10, K = 2", "ports 2x1x1", 0.35, layout="2x1x1"),
            figure("scaling", "scaling, alu 3", "loop 2x1x1", 4.5, unit="s", layout="2x1x1"),
            figure("efficiency of scaling", "scaling, alu 3", "loop 2x1x1", 0.65, layout="2x1x1"),
            figure("ports over loop", "scaling, alu 3", "ports 2x1x1", 1.25, layout="2x1x1"),
        ]
        page = text(figures)
        for shown in ("| n = 10, K = 2 | 2000 |", "**2.50** (2.25 to 2.75)", "**0.010**", "**0.020**", "**1.50**", "| n = 10, K = 2 |", "| N = 10, K = 2 | **0.350**", "| alu 3 | **4.50**", "| alu 3 | **0.650**", "| alu 3 | **1.25**"):
            self.assertIn(shown, page)

    def test_kinds_of_layouts(self):
        self.assertEqual([overhead.layout_kind(layout) for layout in ("8x1x1", "1x2x4", "2x2x1")], ["threads", "processes", "threads in processes"])
        self.assertEqual(overhead.ranks("2x3x4"), 24)


if __name__ == "__main__":
    unittest.main()
