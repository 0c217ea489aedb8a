"""Tests each rule of papers.py, once kept and once broken."""

import tempfile
import unittest
from pathlib import Path

import papers


class Papers(unittest.TestCase):
    def everything(self):
        return [(paper, f"{kind} {label}") for paper, kinds in papers.PLACES.items() for kind, labels in kinds.items() for label in labels]

    def test_a_complete_list_has_no_faults(self):
        self.assertEqual(papers.place_faults(self.everything()), [])

    def test_missing_doubled_and_invented_places_are_named(self):
        places = self.everything()
        places.remove(("003", "Eq. 4"))
        places += [("001", "Fig. 99"), ("004", "Fig. 1")]
        faults = "\n".join(papers.place_faults(places))
        self.assertIn("003 has no row for Eq. 4", faults)
        self.assertIn("001 numbers no Fig. 99", faults)
        self.assertIn("004, Fig. 1: more than one row", faults)

    def test_rows_are_read_with_their_paper(self):
        page = "## 000 · A\n| place | b |\n| --- | --- |\n| Sec. I | x | y | z | |\n## 001 · B\n| Fig. 2 | a | b | c | d |\n"
        self.assertEqual([(paper, cells[0]) for paper, _, cells in papers.rows(page)], [("000", "Sec. I"), ("001", "Fig. 2")])
        self.assertEqual(len(next(papers.rows(page))[2]), 5)

    def test_files_and_tests_that_rows_name_must_exist(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "lab").mkdir()
            (folder / "lab/a.rs").write_text("fn it_holds() {}")
            row = lambda cell: ["Sec. 1", "text", cell, "", ""]
            self.assertEqual(papers.name_faults(folder, 1, row("`lab/a.rs::it_holds`")), [])
            self.assertEqual(len(papers.name_faults(folder, 1, row("`lab/a.rs::it_fails`"))), 1)
            self.assertEqual(len(papers.name_faults(folder, 1, row("`lab/b.rs`"))), 1)
            self.assertEqual(len(papers.name_faults(folder, 1, row(""))), 1)
            self.assertEqual(len(papers.name_faults(folder, 1, row("not yet (a part)"))), 1)
            figure = lambda test: ["Fig. 1", "text", "`lab/a.rs`", test, ""]
            self.assertEqual(len(papers.name_faults(folder, 1, figure(""))), 1)
            self.assertEqual(papers.name_faults(folder, 1, figure("`lab/a.rs::it_holds`")), [])


if __name__ == "__main__":
    unittest.main()
