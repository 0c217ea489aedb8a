"""Tests of build_time.py."""

import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import build_time


class Compilers(unittest.TestCase):
    def test_compilers_of_one_crate_add_up_and_the_dearest_comes_first(self):
        texts = [
            "lehr\n0m0.001000s 0m0.000000s\n1m2.500000s 0m0.500000s\n",
            "ring (build script)\n0m0.000000s 0m0.000000s\n0m7.000000s 0m0.000000s\n",
            "lehr\n0m0.000000s 0m0.000000s\n0m4.000000s 0m0.000000s\n",
        ]
        self.assertEqual(build_time.compilers(texts), [(67.0, "lehr"), (7.0, "ring (build script)")])

    def test_a_file_without_a_time_is_told(self):
        with self.assertRaises(ValueError):
            build_time.compilers(["lehr\n"])

    def test_the_wrapper_runs_the_compiler_and_says_what_it_cost(self):
        with tempfile.TemporaryDirectory() as folder:
            wrapper = Path(folder) / "compiler"
            wrapper.write_text(build_time.WRAPPER)
            spent = Path(folder) / "spent"
            spent.mkdir()
            environment = {**os.environ, "CARGO_PKG_NAME": "ring", "COMPILERS": str(spent)}
            for crate, ends in [("ring", 0), ("build_script_build", 3), ("___", 0)]:
                command = ["sh", wrapper, "sh", "-c", f"exit {ends}", "rustc", "--crate-name", crate, "--edition=2024"]
                self.assertEqual(subprocess.run(command, env=environment).returncode, ends)
            names = [name for _, name in build_time.compilers(file.read_text() for file in spent.iterdir())]
            self.assertEqual(sorted(names), ["ring", "ring (build script)"])

    def test_the_table_shows_the_totals_first(self):
        lines = build_time.table([(60.0, "a")] * 30, 1890.0, 1200.0)
        self.assertEqual(lines[0], "31.5 minutes of processor time, 20.0 of wall time")
        self.assertEqual(lines[-2], "    300.0 s  5 more crates")
        self.assertEqual((len(lines), lines[-1]), (28, "     90.0 s  cargo, build scripts and what they compile"))


if __name__ == "__main__":
    unittest.main()
