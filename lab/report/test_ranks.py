"""Tests of the page of the ranks: Lehr on threads against every MPI, Lehr on MPI against C on the same MPI, the papers' table. Run by `make edges`."""

import json
import unittest

import parts
import ranks

EXCHANGE = "exchange, P = 2, 8 B, 0 units"


def figure(engine, median, experiment="patterns", case=EXCHANGE, workers=2, **more):
    values = {"min": median / 2, "median": median, "max": 2 * median, "runs": 5, "unit_ns": 1000.0, "unit": "us a stage", "stages": 1000}
    return {"experiment": experiment, "case": case, "engine": engine, "workers": workers} | values | more


def definition(name):
    return json.loads((parts.DEFINITIONS / "ranks" / name).read_text(encoding="utf-8"))


FIGURES = [
    figure("lehr threads", 0.3),
    figure("lehr threads", 0.05, workers=1),
    figure("lehr ports", 0.9),
    figure("lehr on MPICH 5, processes", 2.2),
    figure("MPICH 5, processes", 2.1),
    figure("Open MPI 5, processes", 0.6),
    figure("floor: C, cache lines", 0.1),
]


class Comparison(unittest.TestCase):
    def test_threads_are_compared_with_the_best_mpi_and_neither_with_ours_on_mpi_nor_with_the_floor(self):
        [cell] = ranks.cells_of(FIGURES, definition("ranks.json")["holders"], ranks.THREADS)
        self.assertEqual((cell.ours["median"], cell.peer["engine"]), (0.3, "Open MPI 5, processes"))
        self.assertAlmostEqual(cell.to_peer, 0.5)
        self.assertAlmostEqual(cell.to_floor, 3.0)
        self.assertEqual((cell.holder["near"], cell.holder["far"]), (0.46, 0.94))

    def test_one_worker_is_a_form_of_its_own(self):
        [cell] = ranks.cells_of(FIGURES, [], ranks.THREADS, one_core=True)
        self.assertEqual((cell.ours["median"], cell.peer), (0.05, None))

    def test_ours_on_mpi_is_compared_with_c_on_the_same_library(self):
        [(ours, theirs)] = ranks.on_mpi(FIGURES)
        self.assertEqual((ours["median"], theirs["median"]), (2.2, 2.1))

    def test_every_holder_stands_in_a_cell_of_its_own(self):
        holders = definition("ranks.json")["holders"]
        self.assertEqual(len(set(map(ranks.place, holders))), len(holders))
        self.assertIn(("patterns", EXCHANGE, False), map(ranks.place, holders))
        self.assertIn(("collectives", "all-reduce, P = 2, 8 KiB, 0 units", False), map(ranks.place, holders))
        self.assertIn(("collectives", "barrier, P = 8, 0 units", False), map(ranks.place, holders))
        self.assertIn(("arrays", "shift, P = 2, 100000 doubles", False), map(ranks.place, holders))


class Page(unittest.TestCase):
    def page(self, figures, reasons=(), about=None):
        return "\n".join(ranks.page(figures, definition("ranks.json")["holders"], reasons, definition("papers.json"), about or {}))

    def test_the_summary_counts_cells_against_the_best_and_against_each(self):
        text = self.page(FIGURES)
        self.assertIn("| patterns | 1 | 1 / 0 / 0 | 0 / 0 / 0 | 0 of 1 |", text)
        self.assertIn("| MPICH 5, processes | 1 | 1 / 0 / 0 |", text)
        self.assertIn("Behind in no cell.", text)
        self.assertIn("| on MPICH 5, processes | 1 | 1 of 1 | 0 / 1 / 0 |", text)

    def test_a_lost_cell_has_its_reason(self):
        reasons = [{"cells": "^patterns exchange", "shown": "supposed", "reason": "two locks"}]
        text = self.page([figure("lehr threads", 0.9), figure("Open MPI 5, processes", 0.6)], reasons)
        self.assertIn(f"| patterns {EXCHANGE}, all cores | · | 1.50 | 1.50 | two locks (supposed) |", text)

    def test_rates_are_a_pivot_of_all_cores(self):
        rate = {"experiment": "arrays rate", "case": "exchange, P = 2, 1000 doubles", "unit": "GB/s"}
        text = self.page([*FIGURES, figure("lehr threads", 30.0, **rate), figure("lehr threads", 99.0, workers=1, **rate), figure("MPICH 5, processes", 3.0, **rate)])
        self.assertIn("| cell | threads | MPICH 5, processes |", text)
        self.assertIn("| exchange, P = 2, 1000 doubles | 30.00 | 3.00 |", text)

    def test_the_papers_table_has_ours_with_computation_in_the_cell_of_as_many_ranks(self):
        case = {"case": "exchange, P = 8, 8 B, 20 units"}
        text = self.page([*FIGURES, figure("lehr threads", 2.5, **case), figure("Open MPI 5, processes", 20.0, **case), figure("lehr on MPICH 5, processes", 40.0, **case)])
        self.assertIn("| Intel8c, Redhat | Nemesis | 8 processes | 4.21 | **2.50** | 40.00 (MPICH 5, processes) | 20.00 (Open MPI 5, processes) |", text)
        self.assertIn("| AMD4, XP | CCR | 4 threads | 16.3 | · | · | · |", text)

    def test_who_is_absent_is_said_with_the_reason(self):
        text = self.page([*FIGURES, figure("mpj", 0.0, experiment="absent", case="there is no Java compiler", runs=0)])
        self.assertIn("| mpj | there is no Java compiler |", text)


class Papers(unittest.TestCase):
    def test_the_table_has_the_seventeen_lines_of_the_papers(self):
        rows = definition("papers.json")["rows"]
        self.assertEqual(len(rows), 17)
        self.assertEqual({row["ranks"] for row in rows}, {4, 8})
        self.assertEqual([row["latency"] for row in rows if row["runtime"] == "CCR"], [20.2, 16.3, 25.8])
        self.assertEqual(sorted(row["runtime"] for row in rows), sorted(["MPJE"] * 6 + ["mpiJava"] * 3 + ["MPICH2"] * 3 + ["MPICH2, fast option", "Nemesis"] + ["CCR"] * 3))

    def test_reasons_are_patterns_with_a_text_and_say_how_they_are_known(self):
        for entry in definition("reasons.json")["reasons"]:
            self.assertIn(entry["shown"], ("measured", "supposed"))
            self.assertTrue(ranks.re.compile(entry["cells"]) and entry["reason"])


if __name__ == "__main__":
    unittest.main()
