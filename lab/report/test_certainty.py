"""Tests of the page on certainty: how bins of several sets are joined. Run by `make edges`."""

import unittest

import certainty


def entry(kind, *bins):
    return {"kind": kind, "rows": 100, "columns": 2, "groups": 2, "found": {"ours": list(bins), "mixture": [[0.0, 0.0, 0.0], [1.0, 0.9, 0.5]]}}


RECORD = {
    "seed": 1,
    "bounds": [0.0, 0.5, 1.0],
    "scikit-learn": "1.9",
    "python": "3.11",
    "sets": {"a": entry("drawn", [0.2, 0.4, 0.5], [0.8, 0.9, 0.9]), "b": entry("drawn", [0.0, 0.0, 0.0], [1.0, 0.7, 0.6])},
}


class Page(unittest.TestCase):
    def test_every_set_counts_the_same_whatever_its_rows(self):
        sets = list(RECORD["sets"].values())
        share, told, right = certainty.joined(sets, "ours", 1)
        self.assertAlmostEqual(share, 0.9)
        self.assertAlmostEqual(told, (0.8 * 0.9 + 0.7) / 1.8)
        self.assertAlmostEqual(right, (0.8 * 0.9 + 0.6) / 1.8)
        self.assertAlmostEqual(certainty.error(sets, "ours", 2), 0.1 * 0.1 + 0.9 * (told - right))
        self.assertAlmostEqual(certainty.error(sets, "mixture", 2), 0.4)

    def test_a_range_without_rows_has_no_figures(self):
        lines = list(certainty.page(RECORD))
        self.assertIn("| 0 to 0.5 | 10.0 % | 0.40 | 0.50 | · | · | · |", lines)


if __name__ == "__main__":
    unittest.main()
