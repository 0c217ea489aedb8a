"""Tests of the page on tables of mixed types, of the count of lines, and of the invented customers. Run by `make edges`."""

import hashlib
import json
import re
import sys
import unittest

import mixed

RUNNERS = mixed.HERE.parent / "runners/mixed"
# Behind the pages, some of whose names are used there too.
sys.path.append(str(RUNNERS))

import customers  # noqa: E402
import lines  # noqa: E402


def side(*agreement, clusters=3):
    return {"agreement": list(agreement), "clusters": [clusters] * len(agreement)}


TRIAL = {"is_refused": False, "is_named": False, "agreement": 0.95, "agreement_of_next": 0.4}


class Page(unittest.TestCase):
    def test_the_best_and_what_is_level_with_it_are_bold_and_counted(self):
        entry = {"kind": "groups", "given": {"Lehr": side(0.8, 0.9), "Gower + PAM": side(0.84), "skrub + k-means": side(0.8)}}
        self.assertEqual(mixed.cell(entry, "given", "Lehr"), "**0.85**")
        self.assertEqual(mixed.cell(entry, "given", "Gower + PAM"), "**0.84**")
        self.assertEqual(mixed.cell(entry, "given", "skrub + k-means"), "0.80")
        self.assertEqual(mixed.tally([entry, entry], "given", "Lehr"), "2 of 2")
        self.assertEqual(mixed.tally([entry, entry], "given", "skrub + k-means"), "0 of 2")

    def test_a_side_that_was_not_run_has_no_figure_and_a_found_number_is_shown(self):
        entry = {"kind": "groups", "found": {"Lehr": side(1.0), "Lehr, all columns": {"agreement": [0.1, 0.3], "clusters": [30, 36]}}}
        self.assertEqual(mixed.cell(entry, "found", "Lehr"), "**1.00** (3)")
        self.assertEqual(mixed.cell(entry, "found", "Lehr, all columns"), "0.20 (30 to 36)")
        self.assertEqual(mixed.cell(entry, "found", "FAMD + HCPC (FactoMineR)"), mixed.ABSENT)

    def test_the_sets_where_a_contender_is_behind_are_listed_the_worst_first(self):
        sets = {
            "a": {"given": {"Lehr": side(0.5), "skrub + k-means": side(0.6)}},
            "b": {"given": {"Lehr": side(0.1), "skrub + k-means": side(0.6)}},
            "c": {"given": {"Lehr": side(0.59), "skrub + k-means": side(0.6)}},
        }
        self.assertEqual(mixed.behind(sets, "given", "Lehr"), ["b (0.10, best 0.60)", "a (0.50, best 0.60)"])

    def test_what_a_program_did_with_another_file_is_said(self):
        self.assertEqual(mixed.outcome("new column", TRIAL | {"is_named": True}), "reported")
        self.assertEqual(mixed.outcome("missing column", TRIAL | {"is_refused": True, "is_named": True}), "refused, the column named")
        self.assertEqual(mixed.outcome("missing column", TRIAL), "no fault reported: next 0.400")
        self.assertEqual(mixed.outcome("first file from England", TRIAL), "no fault reported: groups 0.950, next 0.400")

    def test_each_point_has_a_cell_for_each_tool_and_evidence_for_what_is_not_done(self):
        points = json.loads(mixed.POINTS.read_text(encoding="utf-8"))
        for entry in points["points"]:
            self.assertEqual(len(entry["cells"]), len(points["tools"]), entry["point"])
            for verdict, evidence in entry["cells"]:
                self.assertTrue(verdict in mixed.WORDS and (verdict == "yes" or evidence), entry["point"])


class Programs(unittest.TestCase):
    def test_descriptions_comments_and_blank_lines_are_no_lines_of_code(self):
        text = '"""What it is.\n\nMore.\n"""\n\nimport sys\n\n# Why.\nprint(sys.path)  # a path\n'
        self.assertEqual(lines.of(text), 2)
        self.assertEqual(lines.of('"""One line."""\nx = 1\n'), 1)
        self.assertEqual(lines.of("#!/bin/sh\nlehr cluster a.csv\n"), 1)

    def test_each_program_of_the_page_is_there_and_has_code(self):
        for program in mixed.PROGRAMS.values():
            self.assertGreater(lines.of((RUNNERS / program).read_text(encoding="utf-8")), 1, program)


class Customers(unittest.TestCase):
    def test_numbers_have_the_marks_of_their_country(self):
        self.assertEqual(customers.written(123456789, 2, ",", "."), "1.234.567,89")
        self.assertEqual(customers.written(250, 1, ".", ","), "2.5")
        self.assertEqual(customers.written(4200, 0, ",", "."), "42")

    def test_they_are_the_ones_of_the_test_of_the_command(self):
        people, planted = customers.customers()
        self.assertEqual((len(people), len(planted)), (5120, 12))
        german = customers.csv(customers.cells(people, is_german=True), is_german=True)
        self.assertEqual(german.splitlines()[1], "K10000;CH;19.03.2018;552,15 €;10;50,43;11,6%;2,08;36;call back;nein")
        self.assertEqual(hashlib.sha256(german.encode()).hexdigest(), "f197a427b1c8ea83138b8ae17662d26cf7d594cb4bc1a9f4133eae34935af856")

    def test_next_month_lacks_a_column_and_has_another(self):
        text, groups = customers.next_month(50)
        names, *rows = [re.split(";", line) for line in text.splitlines()]
        self.assertEqual((len(rows), len(groups)), (50, 50))
        self.assertEqual(set(customers.NAMES) ^ set(names), {"Notiz", "Kanal"})
        self.assertTrue(all(len(row) == len(names) for row in rows))


if __name__ == "__main__":
    unittest.main()
