"""Tests of the page of calls: ratios, what was lost and why, what has no peer. Run by `make edges`."""

import unittest

import calls


def run(*seconds):
    return {"seconds": list(seconds), "processor": [2 * value for value in seconds]}


ENTRIES = [
    {
        "estimator": "KMeans",
        "rows": 1000,
        "columns": 2,
        "calls": {
            "fit": {"lehr": run(0.2, 0.1, 0.3), "scikit-learn": run(0.4, 0.4, 0.4)},
            "predict": {"lehr": run(0.03, 0.03, 0.09), "scikit-learn": run(0.01, 0.01, 0.01)},
        },
    },
    {"estimator": "GTM", "rows": 1000, "columns": 2, "calls": {"transform": {"lehr": run(0.5)}}},
    {"estimator": "SMACOF", "rows": 1000, "columns": 2, "failed": "not done after 600 s"},
]
REASONS = [{"cells": "KMeans.*predict", "shown": "measured", "reason": "rows are checked twice"}]


class Page(unittest.TestCase):
    def setUp(self):
        self.page = "\n".join(calls.page(ENTRIES, {}, REASONS))

    def test_ratios_are_of_the_middles_and_what_is_slower_has_its_reason(self):
        self.assertIn("| fit | **200.0** (100.0 to 300.0) | 400.0 | **400.0** (400.0 to 400.0) | 800.0 | 0.500 |", self.page)
        self.assertIn("Slower in 1 of 2 calls:", self.page)
        self.assertIn("| KMeans, 1000 x 2: predict | 3.00 | rows are checked twice |", self.page)

    def test_what_has_no_peer_and_what_failed_is_told(self):
        self.assertIn("| transform | **500.0** | 1000 | · | · | · |", self.page)
        self.assertIn("No figures: not done after 600 s.", self.page)


if __name__ == "__main__":
    unittest.main()
