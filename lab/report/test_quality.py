"""Tests of the page of quality: a row for each set, the best known figures that are reached or improved. Run by `make edges`."""

import tempfile
import unittest
from pathlib import Path

import quality

HEAD = "case,engine,quantity,unit,count,min,median,max\n"
SUMS = """set a K=3,lehr,excess over the best known,%,10,-0.02,0.0,0.05
set a K=3,lehr,adjusted Rand index,1,10,0.5,0.75,1
set a K=3,lehr,run,s,10,0.1,0.2,0.4
set b K=2,lehr,excess over the best known,%,10,0,0.1,0.4
set c K=2,lehr,adjusted Rand index,1,10,0.25,0.25,0.25
"""
MIXTURES = """"set a K=3 full",lehr,log-likelihood a row,nats,3,-2,-2,-2
"set a K=3 full",lehr,above the best known,%,3,0.5,0.5,0.5
"set a K=3 full","scikit-learn, 50 starts",log-likelihood a row,nats,1,-2.01,-2.01,-2.01
"set a K=3 full","scikit-learn, 50 starts",above the best known,%,1,0,0,0
"set a K=3 full","scikit-learn, 50 starts",run,s,1,1.5,1.5,1.5
"""


class Page(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "quality.csv").write_text(HEAD + SUMS, encoding="utf-8")
            Path(folder, "mixtures.csv").write_text(HEAD + MIXTURES, encoding="utf-8")
            Path(folder, "mixtures.machine.json").write_text('{"machine": {"processor": "p"}, "versions": ["{\\"numpy\\": \\"2\\"}"]}', encoding="utf-8")
            self.text = "\n".join(quality.page(Path(folder)))

    def line(self, start):
        return next(line for line in self.text.split("\n") if line.startswith(start))

    def test_a_set_has_its_excess_and_its_agreement_or_one_of_them(self):
        self.assertEqual(self.line("| set a"), "| set a K=3 | **0.0000** (-0.0200 to 0.0500) | **0.750** (0.500 to 1.000) | **0.200** (0.100 to 0.400) |")
        self.assertEqual(self.line("| set c"), "| set c K=2 | · | **0.250** | · |")

    def test_what_was_reached_missed_and_beaten_is_said(self):
        self.assertIn("In 1 of 2 rows with a best known sum of squares every seed is within 0.1 % of it; the worst seed of all is 0.400 % above.", self.text)
        self.assertIn("Lower than the best known: set a K=3 by 0.02 %.", self.text)

    def test_each_side_of_a_mixture_has_a_row_and_what_is_not_recorded_has_no_table(self):
        self.assertIn("| set a K=3 full | scikit-learn, 50 starts | **-2.010000** | **0.0000** | · | **1.500** |", self.text)
        self.assertIn("processor p; numpy 2.", self.text)
        self.assertNotIn("topographic maps\n", self.text)


if __name__ == "__main__":
    unittest.main()
