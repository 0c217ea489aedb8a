"""Tests of the page of large sizes: one line for each stage, passes as a rate of reading, exponents beside those that theory expects. Run by `make edges`."""

import unittest

import scale


def figure(experiment, case, engine, median, runs=3):
    return {"experiment": experiment, "case": case, "engine": engine, "min": median / 2, "median": median, "max": 2 * median, "runs": runs, "unit": "s", "unit_ns": 1000.0}


FIGURES = [
    figure("time", "1000 items, u16", "lehr distances", 0.1),
    figure("time", "1000 items, u16", "lehr embed", 2.0),
    figure("memory", "1000 items, u16", "lehr embed", 20.0),
    figure("passes", "1000 items, u16", "lehr embed", 100.0),
    figure("time of a pass", "1000 items, u16", "lehr embed", 0.5),
    figure("time", "35339 items, u16", "lehr embed", 90.0, runs=1),
    figure("exponent", "time against items", "lehr embed", 2.1),
    figure("unit", "960 steps of the generator", "lehr", 1000.0),
]


class Page(unittest.TestCase):
    def setUp(self):
        self.text = "\n".join(scale.page(FIGURES, {}))

    def line(self, start):
        return next(line for line in self.text.split("\n") if line.startswith(start))

    def test_a_stage_has_its_time_memory_passes_and_rate(self):
        # A million numbers of two bytes in half a millisecond.
        self.assertEqual(self.line("| 1000 items, u16 | lehr embed"), "| 1000 items, u16 | lehr embed | **2.00** (1.00 to 4.00) | 20.00 | 2 | 100.0 | 0.500 | 4.0 |")
        self.assertTrue(self.line("| 1000 items, u16 | lehr distances").endswith("| · | 2 | · | · | · |"))

    def test_what_was_taken_once_has_no_spread(self):
        self.assertIn("| **90.00** |", self.line("| 35339 items"))

    def test_the_matrix_of_items_among_others_is_that_of_the_others(self):
        self.assertAlmostEqual(scale.matrix_mebibytes("100000 items among 1000, u16"), 2e6 / 2**20)
        self.assertAlmostEqual(scale.matrix_mebibytes("1000 items, f32, 5 iterations"), 4e6 / 2**20)

    def test_an_exponent_stands_beside_what_is_expected(self):
        self.assertIn("**2.10** (1.05 to 4.20) | 2, and more", self.line("| lehr embed | time"))


if __name__ == "__main__":
    unittest.main()
