"""Tests of windows.py."""

import unittest
from unittest import mock

import arm
import same_output
import windows


class Windows(unittest.TestCase):
    def test_only_separators_of_printed_paths_become_those_of_this_system(self):
        contents = {"stdout 1": b"report: out\\report.html\n", "stderr 1": b"a\\b: line 1 \\ 2", "out/labels.csv": b"a\\b"}
        outcome = windows.as_here(same_output.Outcome((0,), contents, 1.0))
        self.assertEqual(outcome.contents, {"stdout 1": b"report: out/report.html\n", "stderr 1": b"a/b: line 1 \\ 2", "out/labels.csv": b"a\\b"})
        self.assertEqual((outcome.codes, outcome.seconds), ((0,), 1.0))

    def test_the_runs_that_windows_refuses_are_in_the_table(self):
        self.assertLessEqual(set(windows.REFUSED), set(arm.RUNS))

    def test_each_missing_tool_is_named_with_its_package(self):
        with mock.patch("shutil.which", return_value=None):
            told = windows.missing([])
        self.assertEqual(len(told), 2)
        self.assertIn("apt-get install gcc-mingw-w64-x86-64", told[0])
        self.assertIn("apt-get install wine64", told[1])


if __name__ == "__main__":
    unittest.main()
