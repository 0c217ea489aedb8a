"""Tests of duplicates.py."""

import unittest

import duplicates

ONE = """use std::fs;
/// Adds what is heavy.
fn sum(rows: &[f64], least: f64) -> f64 {
    let mut all = 0.0;
    for row in rows {
        if *row > least {
            all += row;
        }
    }
    all
}
"""


class Duplicates(unittest.TestCase):
    def pairs(self, *texts, lines=4):
        by_shape, _ = duplicates.windows([(f"crates/jobs/src/{n}.rs", text) for n, text in enumerate(texts)], lines)
        return list(duplicates.pairs(by_shape, lines))

    def test_a_passage_with_other_names_is_the_same(self):
        other = ONE.replace("rows", "points").replace("sum", "mass").replace("least", "floor").replace("0.0", "1.5")
        self.assertEqual(self.pairs(ONE, other), [(("crates/jobs/src/0.rs", at), ("crates/jobs/src/1.rs", at)) for at in range(2)])

    def test_names_that_are_not_renamed_one_to_one_make_another_passage(self):
        self.assertEqual(self.pairs(ONE, ONE.replace("all += row", "all += all")), [(("crates/jobs/src/0.rs", 0), ("crates/jobs/src/1.rs", 0))])

    def test_another_keyword_makes_another_passage(self):
        self.assertEqual(self.pairs(ONE, ONE.replace("let mut all", "let all").replace("for", "while")), [])

    def test_a_passage_that_overlaps_itself_is_no_pair(self):
        self.assertEqual(self.pairs("    a += 1;\n" * 7), [])
        self.assertEqual(len(self.pairs("    a += 1;\n" * 8)), 1)

    def test_imports_lists_of_names_and_what_scikit_learn_demands_say_nothing(self):
        silent = ["use a::{b, c};", "pub(crate) use a;", "import json", "}", "    Name,", '    "name",', "@property", "self.seed = seed"]
        self.assertEqual([line for line in silent if duplicates.is_said(line)], [])
        self.assertTrue(duplicates.is_said("self.seed = other"))

    def test_the_inner_lines_of_an_import_are_left_out(self):
        lines = list(enumerate(["use a::{", "    b::c,", "};", "let d = 1;"]))
        self.assertEqual(list(duplicates.without_imports(lines)), [(3, "let d = 1;")])

    def test_windows_that_follow_each_other_are_one_passage(self):
        found = [(("a", at), ("b", at + 5)) for at in (1, 2, 3, 9)]
        self.assertEqual(duplicates.passages(found, 4), [(6, ("a", 1), ("b", 6)), (4, ("a", 9), ("b", 14))])


if __name__ == "__main__":
    unittest.main()
