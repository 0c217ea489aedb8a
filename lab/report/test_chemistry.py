"""Tests of the page of compounds: bits beside numbers, each run with the figures of its side and threads, the active compounds, and a separate table of synthetic compounds. Run by `make edges`."""

import unittest

import chemistry

STEP, RUNS, MANY = "100 compounds, K = 5, step, f64", "100 compounds, K = 5, runs", "1000 synthetic compounds, K = 10"


def figure(experiment, case, engine, median, workers=None, runs=3):
    value = {"experiment": experiment, "case": case, "engine": engine, "min": median / 2, "median": median, "max": 2 * median, "runs": runs, "unit": "s", "unit_ns": 1000.0}
    return value if workers is None else {**value, "workers": workers}


FIGURES = [
    figure("step", STEP, "lehr bits", 2.0, 1),
    figure("step", STEP, "lehr numbers", 4.0, 1),
    figure("bits over numbers", STEP, "lehr bits", 0.5, 1),
    figure("run", RUNS, "lehr bits", 3.0, 2),
    figure("run", RUNS, "lehr numbers", 9.0, 2),
    figure("run", RUNS, "lehr bits", 5.0, 1),
    figure("memory", RUNS, "lehr bits", 70.0, 1),
    figure("overhead", RUNS, "lehr bits", 0.2, 2),
    figure("bits over numbers", RUNS, "lehr bits", 0.25, 2),
    figure("agreement", RUNS, "lehr bits", 1.0, runs=1),
    figure("sum of squares", RUNS, "lehr numbers", 1234.5, runs=1),
    figure("purity of the active", RUNS, "lehr bits", 0.125, runs=1),
    figure("run", MANY, "lehr bits", 8.0, 2, runs=1),
    figure("whole command", MANY, "lehr bits", 9.0, 2, runs=1),
    figure("agreement", MANY, "lehr bits", 1.0, runs=1),
    figure("extrapolated run", "5000 synthetic compounds, K = 10", "lehr bits", 40.0, runs=1),
]


class Page(unittest.TestCase):
    def setUp(self):
        self.text = "\n".join(chemistry.page(FIGURES, {}))

    def lines(self, start):
        return [line for line in self.text.split("\n") if line.startswith(start)]

    def test_cases_stand_by_rows_and_clusters_whenever_they_were_taken(self):
        cases = ["100 compounds, K = 50, runs", "100 compounds, K = 5, runs", "20 compounds, K = 100, runs"]
        page = "\n".join(chemistry.page([figure("run", case, "lehr bits", 1.0, 1) for case in cases], {}))
        self.assertEqual([line.split(" | ")[0][2:] for line in page.split("\n") if " compounds, K" in line], [case.removesuffix(", runs") for case in reversed(cases)])

    def test_a_step_has_both_sides_and_their_ratio(self):
        self.assertEqual(self.lines("| 100 compounds, K = 5, f64"), ["| 100 compounds, K = 5, f64 | **2.00** (1.00 to 4.00) | **4.00** (2.00 to 8.00) | **0.500** (0.250 to 1.00) |"])

    def test_a_run_has_what_is_of_its_side_and_threads(self):
        many, one = self.lines("| 100 compounds, K = 5 | bits")
        (numbers,) = self.lines("| 100 compounds, K = 5 | numbers")
        self.assertIn("| **0.250** (0.125 to 0.500) | **0.200** (0.100 to 0.400) | · |", many)
        self.assertTrue(numbers.endswith("| · | · | · | · | · |"))
        self.assertTrue(one.endswith("| · | · | · | · | 70.00 |"))

    def test_what_is_found_is_of_both_sides_and_shares_are_percents(self):
        self.assertEqual(self.lines("| 100 compounds, K = 5 | ·"), ["| 100 compounds, K = 5 | · | 1234.5 | 1.00 | 12.5 % | · | · |"])

    def test_synthetic_compounds_stand_apart(self):
        self.assertEqual(self.lines("| 1000 synthetic"), ["| 1000 synthetic compounds, K = 10 | **8.00** | **9.00** | · | · | · | 1.00 |"])

    def test_what_was_not_taken_is_said_to_be_extrapolated(self):
        self.assertEqual(self.lines("| 5000 synthetic"), ["| 5000 synthetic compounds, K = 10 | run, s | 40.00 |"])


if __name__ == "__main__":
    unittest.main()
