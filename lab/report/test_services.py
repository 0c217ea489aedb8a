"""Tests of the page of the services: Lehr against the fastest peer with as many workers, the goals, the histogram, the papers' figures. Run by `make edges`."""

import json
import unittest

import parts
import services

WARM = "two-way in turn, group 200, warm"
POST = "POST operation, 64 connections, closed loop"


def figure(engine, median, experiment="messages", case=WARM, workers=2, **more):
    values = {"min": median / 2, "median": median, "max": 2 * median, "runs": 5, "unit_ns": 1000.0, "unit": "us a message", "stages": 100}
    return {"experiment": experiment, "case": case, "engine": engine, "workers": workers} | values | more


def definition(name):
    return json.loads((parts.DEFINITIONS / "services" / name).read_text(encoding="utf-8"))


FIGURES = [
    figure("lehr services", 0.2),
    figure("tokio mpsc unbounded + oneshot", 0.25),
    figure("kameo on tokio", 1.0),
    figure("lehr services", 0.3, workers=1),
    figure("tokio mpsc unbounded + oneshot", 0.2, workers=1),
    figure("lehr serve", 22.0, "http", POST),
    figure("axum", 20.0, "http", POST),
    figure("lehr serve", 40.0, "listeners", "POST operation, 1 connection, heard by nobody"),
    figure("lehr serve", 60.0, "listeners", "POST operation, 1 connection, heard by 8 subscribers"),
    figure("lehr services", 0.4, "histogram", "two-way in turn, group 200", values=[0.2, 0.4, 1.0]),
    figure("kameo on tokio", 0.6, "histogram", "two-way in turn, group 200", values=[0.6, 0.6, 0.6]),
]


class Page(unittest.TestCase):
    def page(self, figures):
        return "\n".join(services.page(figures, definition("services.json"), [], definition("papers.json"), {}))

    def line(self, text, start):
        return next(line for line in text.split("\n") if line.startswith(start))

    def test_ours_is_compared_with_the_fastest_on_as_many_workers(self):
        two, one = sorted((cell for cell in services.cells(FIGURES, [], ("messages",))), key=lambda cell: cell.one_core)
        self.assertEqual(two.peer["engine"], "tokio mpsc unbounded + oneshot")
        self.assertAlmostEqual(two.to_peer, 0.8)
        self.assertAlmostEqual(one.to_peer, 1.5)

    def test_an_aim_is_met_at_the_fastest_peer_and_at_four_fifths_of_the_bare_handler(self):
        text = self.page(FIGURES)
        self.assertEqual(self.line(text, "| messages two-way in turn, warm"), "| messages two-way in turn, warm | 2 | 1 / 0 / 1 | 1 of 2 |")
        self.assertEqual(self.line(text, "| requests over HTTP"), "| requests over HTTP | 1 | 0 / 0 / 1 | 1 of 1 |")
        self.assertIn("which is 80% of its requests a second", text)
        self.assertIn("Behind in 2 of 3 cells", text)

    def test_jobs_stand_beside_one_that_is_alone(self):
        case = "60000 rows into 12 clusters"
        beside = [("alone", 1000.0), ("another on its own core", 1010.0), ("another on the same core", 2000.0)]
        jobs = [figure(f"lehr serve, {who}", median, "clusterings", case, workers=1, unit="ms a job") for who, median in beside]
        text = self.page([*FIGURES, *jobs])
        self.assertIn("`lehr lab services --only 'clusterings'`", text)
        self.assertTrue(self.line(text, "| another on its own core |").endswith("| 1.01 |"))
        self.assertTrue(self.line(text, "| another on the same core |").endswith("| 2.00 |"))
        self.assertNotIn("clusterings", self.page(FIGURES))

    def test_a_histogram_counts_every_group_once(self):
        edges, counts = services.bins([[0.2, 0.4, 1.0], [0.6, 0.6, 0.6]])
        self.assertEqual((len(edges), [sum(own) for own in counts]), (services.BINS + 1, [3, 3]))
        self.assertEqual((counts[0][0], counts[0][-1]), (1, 1))
        self.assertEqual(services.bins([[1.0, 1.0]])[1], [[2] + [0] * (services.BINS - 1)])

    def test_the_papers_lines_stand_beside_ours(self):
        text = self.page(FIGURES)
        self.assertIn("| 001 fig. 13 (a): DSS, services of one process, groups of 50 to 1,000 two-way messages | HP Opteron, 4 cores | 20,000 to 25,000 | 40 to 50 | two-way in turn, group 200, warm | 5,000,000 | 0.200 |", text)
        self.assertIn("| 3,000 | 333 | POST operation, 64 connections, closed loop | 45,455 | 22.00 |", text)

    def test_listeners_are_compared_with_nobody(self):
        self.assertTrue(self.line(self.page(FIGURES), "| POST operation, 1 connection, heard by 8").endswith("| 1.50 |"))

    def test_every_case_of_the_papers_is_one_of_the_definition(self):
        full = definition("services.json")["full"]
        for row in definition("papers.json")["rows"]:
            beside = row["beside"]
            known = beside == "histogram" or any(f"group {group}, warm" in beside for group in full["groups"]) or any(f"{count} connections" in beside for count in full["closed"]["connections"])
            self.assertTrue(known, beside)


if __name__ == "__main__":
    unittest.main()
