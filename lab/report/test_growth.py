"""Tests of the page of growth: a table for each method, exponents beside those that theory expects. Run by `make edges`."""

import unittest

import growth


def figure(experiment, case, engine, median):
    return {"experiment": experiment, "case": case, "engine": engine, "min": median / 2, "median": median, "max": 2 * median, "runs": 3, "unit": "s", "unit_ns": 1000.0}


FIGURES = [
    figure("time", "clusters, N = 10000, D = 2, K = 10", "lehr cluster", 0.5),
    figure("passes", "clusters, N = 10000, D = 2, K = 10", "lehr cluster", 400.0),
    figure("time of a pass", "clusters, N = 10000, D = 2, K = 10", "lehr cluster", 0.25),
    figure("time", "k-means, N = 10000, D = 2, K = 10", "lehr cluster --method kmeans", 0.1),
    figure("exponent", "time of a pass against rows", "lehr cluster", 0.9),
    figure("exponent", "passes against rows", "lehr cluster", 0.1),
    figure("exponent", "time of a pass against columns", "lehr mixture", 1.5),
    figure("time", "mixture, N = 20000, D = 8, K = 10", "lehr mixture", 3.0),
    figure("time", "k-means, N = 10000, D = 2, K = 10", "lehr cluster --method kmeans", 0.03),
    figure("time of a pass", "k-means, N = 10000, D = 2, K = 10", "lehr cluster --method kmeans", 2.0),
    figure("exponent", "time of a pass against rows", "lehr cluster --method kmeans", 0.9),
    figure("unit", "960 steps of the generator", "lehr", 1000.0),
]


class Page(unittest.TestCase):
    def setUp(self):
        self.text = "\n".join(growth.page(FIGURES, {}))

    def line(self, start):
        return next(line for line in self.text.split("\n") if line.startswith(start))

    def test_a_case_has_its_time_passes_and_memory(self):
        self.assertEqual(self.line("| N = 10000, D = 2, K = 10 |"), "| N = 10000, D = 2, K = 10 | **0.500** (0.250 to 1.00) | 400.0 | 0.250 | · |")

    def test_methods_have_tables_of_their_own_and_one_without_figures_none(self):
        self.assertLess(self.text.index("## Annealed clusters"), self.text.index("## K-means"))
        self.assertNotIn("## Topographic maps", self.text)

    def test_k_means_has_no_time_of_a_pass(self):
        part = self.text[self.text.index("## K-means") : self.text.index("## Mixtures")]
        self.assertIn("| N = 10000, D = 2, K = 10 | **0.030** (0.015 to 0.060) | · | · | · |", part)
        self.assertNotIn("time of a pass", part)

    def test_exponents_stand_with_their_method_beside_what_is_expected(self):
        self.assertTrue(self.line("| time of a pass | rows").endswith("| 1 |"))
        self.assertTrue(self.line("| passes | rows").endswith("| · |"))
        self.assertIn("between 1 and 2", self.line("| time of a pass | columns"))
        self.assertGreater(self.text.index("between 1 and 2"), self.text.index("## Mixtures"))


if __name__ == "__main__":
    unittest.main()
