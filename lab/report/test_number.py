"""Tests of the page on numbers of clusters: which answers are right, and the cells of a side that was not run. Run by `make edges`."""

import unittest

import number


def entry(kind, groups, **found):
    return {"kind": kind, "groups": groups, "rows": 100, "columns": 2, "found": {side: {"clusters": clusters} for side, clusters in found.items()}}


RECORD = {
    "seed": 1,
    "scikit-learn": "1.9",
    "python": "3.11",
    "sets": {"a": entry("compact", 3, ours=3, gap=4), "b": entry("compact", 40, ours=42, gap=43), "c": entry("none", 1, ours=1, gap=1)},
}


class Page(unittest.TestCase):
    def test_above_twenty_a_twentieth_more_or_fewer_is_right(self):
        self.assertTrue(number.is_right(20, 20) and not number.is_right(21, 20))
        self.assertTrue(number.is_right(38, 40) and number.is_right(42, 40) and not number.is_right(43, 40))

    def test_what_is_right_is_counted_and_bold_and_a_side_that_was_not_run_has_no_figure(self):
        lines = list(number.page(RECORD))
        self.assertIn("| Compact groups | 2 of 2 | · | 0 of 2 | · | · | · |", lines)
        self.assertIn("| a | 100 | 2 | 3 | **3** | · | 4 | · | · | · |", lines)
        self.assertIn("| c | 100 | 2 | 1 | **1** | · | **1** | · | · | · |", lines)


if __name__ == "__main__":
    unittest.main()
