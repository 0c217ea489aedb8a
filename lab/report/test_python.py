"""Tests of the page of the Python package: the objectives that are reached, who was first, failed runs. Run by `make edges`."""

import unittest

import python


def result(objective, seconds, agreement=None, clusters=3):
    return {"objective": objective, "agreement": agreement, "clusters": clusters, "seconds": seconds, "added_kib": 2048}


ENTRIES = [
    {
        "set": "a",
        "family": "centres",
        "objective": "sum of squares",
        "rows": 100,
        "columns": 2,
        "clusters": 3,
        "runs": {
            "lehr DAClustering": result(10.0, [0.3, 0.2, 0.4], 0.5),
            "scikit-learn KMeans, 1": result(12.0, [0.01]),
            "scikit-learn KMeans, 100": result(10.005, [0.6]),
            "faiss, 1": {"failed": "ValueError: one | two"},
            "hdbscan": result(1.0, [0.001], clusters=9),
        },
    },
    {
        "set": "b",
        "family": "centres",
        "objective": "sum of squares",
        "rows": 100,
        "columns": 2,
        "clusters": 3,
        "runs": {"lehr DAClustering": result(11.0, [0.1]), "lehr KMeans, 10": result(10.0, [0.3]), "scikit-learn KMeans, 1": result(12.0, [0.01])},
    },
    {
        "set": "a",
        "family": "mixtures",
        "objective": "-log-likelihood a row",
        "rows": 100,
        "columns": 2,
        "clusters": 3,
        "runs": {"lehr DAGaussianMixture": result(-2.0, [0.3]), "scikit-learn GaussianMixture, 1": result(-2.005, [0.1])},
    },
]


class Page(unittest.TestCase):
    def setUp(self):
        self.text = "\n".join(python.page(ENTRIES, {"note": "a note"}))

    def line(self, start):
        return next(line for line in self.text.split("\n") if line.startswith(start))

    def test_what_one_default_call_reached_and_who_was_first_are_counted(self):
        self.assertEqual(self.line("| Clusters by centres"), "| Clusters by centres, `DAClustering` | 1 of 2 | 2 of 2 | 1 of 2 |")
        self.assertEqual(self.line("| Mixtures"), "| Mixtures, `DAGaussianMixture` | 1 of 1 | 0 of 1 | 0 of 1 |")

    def test_the_first_is_named_with_its_ratio_or_that_nobody_else_gets_there(self):
        self.assertIn("First to the best: lehr DAClustering; scikit-learn KMeans, 100 takes 2.00 times as long.", self.line("**a**"))
        self.assertIn("First to the best: lehr KMeans, 10; no peer gets there.", self.line("**b**"))

    def test_a_contender_has_its_objective_excess_agreement_and_spread_of_times(self):
        self.assertEqual(self.line("| lehr DAClustering"), "| lehr DAClustering | 10 | 0.000 | 0.500 | **300.0** (200.0 to 400.0) | 2.00 |")
        self.assertEqual(self.line("| scikit-learn KMeans, 1 "), "| scikit-learn KMeans, 1 | 12 | 20.000 | · | **10.00** | 2.00 |")

    def test_a_failure_is_told_and_breaks_no_table(self):
        self.assertIn("| failed: ValueError: one / two | · |", self.line("| faiss, 1"))

    def test_a_likelihood_is_above_by_nats(self):
        self.assertIn("| -2 | 0.005 |", self.line("| lehr DAGaussianMixture"))

    def test_more_clusters_than_were_asked_for_are_told_and_are_no_best(self):
        self.assertIn("| -90.000 (9 clusters) |", self.line("| hdbscan"))


if __name__ == "__main__":
    unittest.main()
