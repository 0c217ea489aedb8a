"""Tests of build_time.py."""

import unittest

import build_time


class Units(unittest.TestCase):
    PAGE = """<script>
const UNIT_DATA = [
  {"name": "lehr", "target": "", "duration": 2.5},
  {"name": "ring", "target": " build-script (run)", "duration": 7.0},
  {"name": "ring", "target": "", "duration": 1.0},
  {"name": "lehr", "target": " lehr \\"bin\\"", "duration": 4.0}
];
</script>"""

    def test_runs_of_one_crate_add_up_and_the_longest_comes_first(self):
        self.assertEqual(build_time.units(self.PAGE), [(7.0, "ring (build script)"), (6.5, "lehr"), (1.0, "ring")])

    def test_a_page_of_another_cargo_is_told(self):
        with self.assertRaises(ValueError):
            build_time.units("<html></html>")

    def test_the_table_shows_the_totals_first(self):
        lines = build_time.table([(60.0, "a")] * 30, 90.0, 120.0)
        self.assertEqual(lines[0], "1.5 minutes of processor time, 2.0 of wall time")
        self.assertEqual((len(lines), lines[-1]), (27, "    300.0 s  5 more crates"))


if __name__ == "__main__":
    unittest.main()
