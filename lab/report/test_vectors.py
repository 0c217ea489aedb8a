"""Tests of the page of vectors: who is first, methods that never reach the target, goals that are met. Run by `make edges`."""

import tempfile
import unittest
from pathlib import Path

import vectors

HEAD = "case,engine,quantity,unit,count,min,median,max\n"
KERNELS = """"2-D f32 K=10, 1 thread",lehr,time per point and centre,ns,3,1,1,1
"2-D f32 K=10, 1 thread",c,time per point and centre,ns,3,0.5,0.5,0.5
"2-D f32 K=10, 1 thread",lehr/c,ratio,1,3,2,2,2
"8 bits f32 K=10",bits,time per point and centre,ns,3,1,1,1
"8 bits f32 K=10",numbers,time per point and centre,ns,3,4,4,4
"8 bits f32 K=10",bits/numbers,ratio,1,3,0.2,0.25,0.3
"""
RUNS = """a K=2,lehr,run,s,3,1,2,3
a K=2,lehr,excess over the best known,%,3,0,0,0
a K=2,lehr,expected time to within the tolerance,s,3,2,2,2
a K=2,peer,run,s,3,1,1,1
a K=2,peer,excess over the best known,%,3,4,5,6
a K=2,lehr,"expected time to the median of peer, or better",s,3,2,2,2
a K=2,peer,"expected time to the median of peer, or better",s,3,1.5,1.5,1.5
b K=2,lehr,run,s,3,4,4,4
b K=2,lehr,excess over the best known,%,3,0,0,0
b K=2,lehr,expected time to within the tolerance,s,3,4,4,4
b K=2,peer,run,s,3,1,1,1
b K=2,peer,excess over the best known,%,3,0,0,0
b K=2,peer,expected time to within the tolerance,s,3,1,1,1
"""
PEOPLE = """x K=10,"lehr, people as rows","sum of squares over that of weights, less 1",1,1,1e-12,1e-12,1e-12
x K=10,"lehr, people as rows",adjusted Rand index to that of weights,1,1,1,1,1
x K=10,"lehr, blocks with weights",run,s,1,0.5,0.5,0.5
x K=10,"lehr, people as rows",run,s,1,20,20,20
x K=10,"lehr, people as rows",time over that of weights,1,1,40,40,40
"""


class Page(unittest.TestCase):
    def setUp(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, rows in (("kernels", KERNELS), ("runs", RUNS), ("people", PEOPLE)):
                Path(folder, f"{name}.csv").write_text(HEAD + rows, encoding="utf-8")
            self.text = "\n".join(vectors.page(Path(folder)))

    def test_a_step_is_held_against_its_own_aim(self):
        self.assertIn("1 of 2 reach their aim.", self.text)
        self.assertIn("| 2-D f32 K=10, 1 thread | lehr | **1.000** | c | **0.500** | **2.000** | 1.5: missed |", self.text)
        self.assertIn("| **0.250** (0.200 to 0.300) | 0.33: reached |", self.text)

    def test_who_is_first_and_who_never_gets_there_is_said(self):
        self.assertIn("Annealing is first to within 0.1 % in 1 of 2. Others are in b K=2 (peer: in 0.25 of its time).", self.text)
        self.assertIn("| a K=2 | peer | **1.00** | **5.0000** (4.0000 to 6.0000) | never |", self.text)

    def test_the_time_to_a_peers_median_stands_beside_the_peers_own(self):
        self.assertIn("One of ours is ahead in 0 of 1.", self.text)
        self.assertIn("| a K=2 | peer | 1.50 | 2.00 |", self.text)

    def test_people_have_the_answer_of_weights(self):
        self.assertIn("| x K=10 | **0.500** | **20.00** | **40.0** | 1.000000 | 1.0e-12 |", self.text)


if __name__ == "__main__":
    unittest.main()
