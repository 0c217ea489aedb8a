"""Tests of the page of the ports: who is faster, which reason is given, and that no cell is silently missing. Run by `make edges`."""

import json
import unittest

import comparison
import paper_tables
import parts
import ports


def figure(engine, median, experiment="rendezvous", case="shift, P = 2, 0 units", workers=2, **more):
    values = {"min": median / 2, "median": median, "max": 2 * median, "runs": 5, "unit_ns": 1000.0, "unit": "us a stage", "stages": 1000}
    return {"experiment": experiment, "case": case, "engine": engine, "workers": workers} | values | more


HOLDER = {"form": "rendezvous", "pattern": "shift", "ranks": 2, "units": 0, "cores": 2, "near": 0.2, "far": 0.4, "who": "somebody"}
REASONS = [
    {"cells": "^rendezvous shift.*one core", "shown": "measured", "reason": "first"},
    {"cells": "^rendezvous shift", "shown": "supposed", "reason": "second"},
]


class Cells(unittest.TestCase):
    def test_ours_is_compared_with_the_best_of_as_many_cores(self):
        figures = [figure("lehr ports", 0.3), figure("lehr closures", 0.5), figure("slow", 0.9), figure("fast", 0.6), figure("one", 0.1, workers=1), figure("floor: C", 0.1)]
        [cell] = comparison.cells(figures, [HOLDER], ("rendezvous",))
        self.assertEqual((cell.ours["engine"], cell.peer["engine"], cell.one_core), ("lehr ports", "fast", False))
        self.assertAlmostEqual(cell.to_peer, 0.5)
        self.assertAlmostEqual(cell.to_floor, 3.0)

    def test_the_holder_is_compared_in_the_place_of_most_samples(self):
        placed = figure("lehr ports", 0.3, near={"median": 0.1, "runs": 1}, far={"median": 0.5, "runs": 4})
        [cell] = comparison.cells([placed], [HOLDER], ("rendezvous",))
        self.assertAlmostEqual(cell.to_holder, 1.25)
        [cell] = comparison.cells([figure("lehr ports", 0.3)], [HOLDER], ("rendezvous",))
        self.assertIsNone(cell.to_holder, "without a place, two figures of a holder cannot be told apart")

    def test_an_overhead_below_zero_has_no_ratio_and_no_verdict(self):
        [cell] = comparison.cells([figure("lehr ports", -0.3), figure("fast", 0.6)], [], ("rendezvous",))
        self.assertIsNone(cell.to_peer)
        self.assertIsNone(comparison.verdict(cell.to_peer))

    def test_level_is_within_five_per_cent(self):
        self.assertEqual([comparison.verdict(value) for value in (0.94, 0.96, 1.05, 1.06)], ["ahead", "level", "level", "behind"])

    def test_the_first_reason_that_fits_is_given_and_a_supposed_one_says_so(self):
        self.assertEqual(comparison.reason_for("rendezvous shift, P = 2, one core", REASONS), "first")
        self.assertEqual(comparison.reason_for("rendezvous shift, P = 2, all cores", REASONS), "second (supposed)")
        self.assertEqual(comparison.reason_for("spawned shift", REASONS), "no reason known yet")


class Page(unittest.TestCase):
    def setUp(self):
        self.papers = json.loads((parts.DEFINITIONS / "runtime" / "papers.json").read_text(encoding="utf-8"))

    def page(self, figures, about=None):
        return "\n".join(ports.page(figures, [HOLDER], REASONS, self.papers, about or {}))

    def test_a_divided_computation_has_the_overhead_of_a_stage_beside_the_papers(self):
        def divided(engine, seconds, count):
            return figure(engine, seconds, experiment="stages", case=f"pipeline, P = 2, {count} stages", unit="s", stages=count)

        figures = [figure("lehr ports", 0.3), divided("lehr ports", 10.0, 1) | {"max": 10.1}, divided("lehr ports", 10.5, 1_000_000) | {"min": 10.4}, divided("lehr ports", 10.1, 100), divided("fast", 10.2, 1_000_000)]
        text = self.page(figures)
        self.assertIn("### Pipeline, 2 cores", text)
        self.assertRegex(text, r"\| 1,000,000 \| \*\*10\.50\*\* .*\| 0\.500 \| .*10\.20")
        self.assertRegex(text, r"\| 100 \| \*\*10\.10\*\* .*\| · \| · \|")
        self.assertRegex(text, r"\| pipeline \| 4 \| 1,000,000 \| 4\.63 \| 9\.25 \| 0\.500 \|")
        self.assertRegex(text, r"\| exchange \| 4 \| 1,000,000 \| 20\.90 \| 40\.40 \| · \|")

    def test_a_lost_cell_stands_in_the_summary_with_its_reason(self):
        text = self.page([figure("lehr ports", 0.6), figure("fast", 0.3)])
        self.assertIn("Behind in 1 of 1 cells", text)
        self.assertIn("| rendezvous shift, P = 2, 0 units, all cores | · | 2.00 | 2.00 | second (supposed) |", text)
        self.assertIn("| rendezvous, all cores | 1 | 0 / 0 / 0 | 0 / 0 / 1 | · |", text)

    def test_copies_are_a_pivot_with_shares_of_memcpy(self):
        case = "inside, 1000 doubles, 0 units"
        rate = {"experiment": "posting rate", "case": case, "unit": "GB/s"}
        figures = [figure("lehr ports", 60.0, workers=1, **rate), figure(ports.COPY, 80.0, workers=1, **rate), figure(ports.HAND_OVER, 64.0, workers=1, **rate), figure("lehr ports", 100.0, **rate)]
        text = self.page(figures)
        self.assertIn("| inside | 1,000 | **60.00** | 80.00 | 75 % | 64.00 | 94 % | **100.0** | · | · | · | · |", text)
        self.assertIn("| copied arrays reach 90 % of memcpy | missed | 0 of 1 cells; least 75 % |", text)
        self.assertIn("| the same of memcpy and a hand-over | holds | 1 of 1 cells; least 94 % |", text)

    def test_every_figure_of_an_unknown_case_is_shown(self):
        text = self.page([figure("lehr ports", 0.6), figure("lehr ranks", 0.25, experiment="barrier", case="2 ranks")])
        self.assertIn("| barrier: 2 ranks | lehr ranks | 2 | us a stage | **0.250** (0.125 to 0.500) |", text)

    def test_the_machine_and_what_else_ran_on_it_are_said(self):
        machine = {"processor": "P", "threads": 2, "system": "linux x86_64", "c_compiler": "gcc", "rust": "rustc", "commit": "abc"}
        activity = {"others": [1.0, 12.0, 95.0], "stolen": [0.0, 2.0, 3.0]}
        session = {"command": "lehr lab ports --quick", "machine": machine, "libraries": {"kanal": "0.1"}, "activity": activity}
        text = self.page([figure("lehr ports", 0.6)], {"sessions": [session], "note": "By hand."})
        self.assertIn("`lehr lab ports --quick`: processor P;", text)
        self.assertIn("other programs used 12 % of the machine (from 1 to 95 by case), its host took 2 %", text)
        self.assertIn("By hand.", text)

    def test_aims_are_answered_from_the_record(self):
        figures = [
            figure("lehr once, shared ports", 120.0, experiment="pending", case="memory", unit="bytes a receive"),
            figure("lehr dispatcher", 1.5, experiment="idle", case="receives waiting", unit="% of a core"),
            figure("lehr Port::on", 0.0, experiment="allocations", case="post to handler", unit="allocations a message"),
        ]
        text = self.page(figures)
        self.assertIn("| a pending receive takes at most 128 bytes | holds |", text)
        self.assertIn("| idle workers use less than 1 % of a core | missed | at most 1.50 % |", text)
        self.assertIn("| a message from post to handler allocates nothing | holds |", text)
        self.assertIn("| every ring of exchanges ends | · | · |", text)


class Papers(unittest.TestCase):
    def setUp(self):
        self.papers = json.loads((parts.DEFINITIONS / "runtime" / "papers.json").read_text(encoding="utf-8"))

    def test_every_machine_of_every_table_has_a_figure_for_every_number_of_ranks(self):
        one = self.papers["001"]
        for name in ("seconds", "overheads"):
            for choices in one[name].values():
                self.assertEqual(list(choices), ["match", "default"])
                for machines in choices.values():
                    self.assertEqual([len(machine) for machine in machines], 3 * [len(one["ranks"])])
        for machines in self.papers["002"]["overheads"].values():
            self.assertEqual([len(machine) for machine in machines], 3 * [len(self.papers["002"]["ranks"])])

    def test_table_2_of_paper_001_is_its_table_1_less_the_computation(self):
        # 500,000 stages of 28 (AMD), 30 (Intel) and 34 to 35 (Intel, 8 cores) microseconds; four ranks at once on four cores. The papers rounded both tables.
        for pattern, choices in self.papers["001"]["seconds"].items():
            for choice, machines in choices.items():
                for machine, (seconds, computation) in enumerate(zip(machines, (28.0, 29.7, 34.0))):
                    if seconds[3] is not None:
                        overhead = self.papers["001"]["overheads"][pattern][choice][machine][3]
                        self.assertAlmostEqual(seconds[3] * 2 - computation, overhead, delta=1.0, msg=f"{pattern}, {choice}, machine {machine}")

    def test_ours_stands_in_the_papers_cell_with_its_mark(self):
        spawned = {"experiment": "spawned", "case": "shift, P = 2, 20 units"}
        figures = [figure(paper_tables.SPAWNED, 0.5, **spawned), figure("lehr closures", 0.1, **spawned), figure("lehr ports", 0.25, workers=2)]
        text = "\n".join(paper_tables.paper_001(figures, self.papers["001"], 2))
        self.assertIn("3.3 / 3.4 / 4.3 → **0.500**", text)
        # 500,000 stages of 20 units of a microsecond, and half a microsecond more.
        self.assertIn("15.63 / 16.6 / 19.1 → **10.25**", text)
        text = "\n".join(paper_tables.paper_002(figures, self.papers["002"]))
        self.assertIn("6.8 / 12.56 / 4.46 → **0.250°**", text)
        self.assertIn("7.44 / 17.64 / 4.94 → ·", text)


class Definitions(unittest.TestCase):
    def test_reasons_are_patterns_with_a_text_and_say_how_they_are_known(self):
        entries = json.loads((parts.DEFINITIONS / "runtime" / "reasons.json").read_text(encoding="utf-8"))["reasons"]
        for entry in entries:
            self.assertIn(entry["shown"], ("measured", "supposed"))
            self.assertTrue(comparison.re.compile(entry["cells"]) and entry["reason"])


if __name__ == "__main__":
    unittest.main()
