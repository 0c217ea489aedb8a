"""Tests of the page on the dashboard: medians beside budgets. Run by `make edges`."""

import unittest

import dashboard

RECORD = {
    "rows": 1000000,
    "clusters": 20,
    "runs": 3,
    "load": "0.1 0.2 0.3",
    "machine": {"processor": "P", "threads": 2, "system": "linux x64", "chromium": "1", "commit": "abc"},
    "figures": {
        "page": {"memory": [50.0]},
        "plane": {"first of data": [0.9, 0.4, 0.3], "whole of data": [1.0, 2.0, 3.0], "frames": [20.0, 12.0, 14.0], "picture": [0.05, 0.06, 0.2]},
        "space": {"first of data": [0.6, 0.7, 0.8], "whole of data": [2.0, 2.0, 2.0], "frames": [30.0, 30.0, 30.0], "picture": [0.05, 0.05, 0.05]},
        "idle": {"alone": [0.1, 0.1], "watched": [0.4, 1.05]},
        "job": {"alone": [1.0], "watched": [2.5, 2.4]},
    },
}


class Page(unittest.TestCase):
    def lines(self, start):
        return [line for line in dashboard.page(RECORD) if line.startswith(start)]

    def test_medians_are_judged_and_a_budget_that_one_case_keeps_is_met_in_part(self):
        self.assertEqual(self.lines("| First picture, of"), ["| First picture, of a sample, after the first byte of the points (s) | at most 0.500 s | **0.400** (0.300 to 0.900) | **0.700** (0.600 to 0.800) | in part |"])
        self.assertTrue(self.lines("| Picture of all points with")[0].endswith("| no |"))
        self.assertTrue(self.lines("| Time to draw")[0].endswith("| yes |"))

    def test_of_frames_more_is_better(self):
        self.assertIn("| at least 13 1/s | **14.00** (12.00 to 20.00) | **30.00** (30.00 to 30.00) | yes |", self.lines("| Pictures a second")[0])

    def test_what_was_not_measured_has_no_figures(self):
        self.assertEqual(self.lines("| Memory of the tab"), ["| Memory of the tab (MB) | at most 120 MB | · | · | · |"])

    def test_a_page_costs_a_node_what_it_takes_more_than_without(self):
        self.assertTrue(self.lines("| An idle node")[0].endswith("| yes |"))
        self.assertTrue(self.lines("| A node with a running job")[0].endswith("| no |"))


if __name__ == "__main__":
    unittest.main()
