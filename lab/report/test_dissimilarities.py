"""Tests of the page of dissimilarities: the lowest costs, the time of an iteration, the goals that are reached. Run by `make edges`."""

import tempfile
import unittest
from pathlib import Path

import dissimilarities

HEAD = "case,engine,quantity,unit,count,min,median,max\n"
DISTANCES = """tanimoto,lehr,rate on one core,pairs/s,7,1e8,1.2e8,1.3e8
tanimoto,rdkit,rate on one core,pairs/s,7,1e7,1.2e7,1.3e7
tanimoto,lehr/rdkit,ratio of times,1,7,0.1,0.1,0.2
"""
PAIRWISE = "".join(
    f"set,{engine},{quantity},{unit},3,{value},{value},{value}\n"
    for engine, values in (("lehr", (4, 100, 0.9, 0.5)), ("average linkage (scipy)", (4, 102, 0.1, 0.25)), ("HDBSCAN (scikit-learn)", (9, 80, 0.4, 0.1)))
    for quantity, unit, value in zip(("clusters", "H", "adjusted Rand", "run"), ("1", "1", "1", "s"), values)
)
MAPS = "".join(
    f'set,"{engine}",{quantity},{unit},3,{value},{value},{value}\n'
    for engine, values in (("lehr", (0.5, 100, 9, 1)), ("scikit-learn, one start", (0.6, 200, 180, 40)), ("scikit-learn, best of 4", (0.55, 200, 200, 160)))
    for quantity, unit, value in zip(("stress", "iterations", "iteration", "run"), ("1", "1", "ms", "s"), values)
)


class Page(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("distances", DISTANCES), ("pairwise", PAIRWISE), ("maps", MAPS)):
                Path(folder, f"{name}.csv").write_text(HEAD + text, encoding="utf-8")
            self.text = "\n".join(dissimilarities.page(Path(folder)))

    def line(self, start):
        return next(line for line in self.text.split("\n") if line.startswith(start))

    def test_an_aim_that_is_missed_is_said(self):
        self.assertTrue(self.line("| tanimoto").endswith("| 2.0e+08: missed |"), self.line("| tanimoto"))

    def test_who_is_told_the_number_is_compared_by_cost(self):
        self.assertIn("| 100.0000 | least |", self.line("| set | lehr | 4"))
        self.assertIn("| 102.0000 | 2.00 % |", self.line("| set | average linkage"))
        self.assertIn("| 80.0000 | · |", self.line("| set | HDBSCAN"))

    def test_an_iteration_is_without_the_start_and_of_one_start_only(self):
        self.assertTrue(self.line("| set | scikit-learn, one start").endswith("| 180.0 | 20.00 |"), self.line("| set | scikit-learn, one start"))
        self.assertTrue(self.line("| set | scikit-learn, best of 4").endswith("| · | · |"))


if __name__ == "__main__":
    unittest.main()
