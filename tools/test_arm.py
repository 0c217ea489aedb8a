"""Tests of arm.py."""

import contextlib
import io
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import arm
import same_output
from same_output import Command, Run

TABLE = [Run(name, (Command("--version"),)) for name in reversed(arm.RUNS)]


class Runs(unittest.TestCase):
    def test_every_run_is_in_the_table_once(self):
        table = same_output.read_table(same_output.TABLE.read_text(encoding="utf-8"))
        self.assertEqual([run.name for run in arm.chosen(table)], list(arm.RUNS))
        self.assertEqual(len(set(arm.RUNS)), len(arm.RUNS))

    def test_a_run_that_the_table_lost_is_named(self):
        with self.assertRaisesRegex(SystemExit, "no run 'annealing: iris"):
            arm.chosen([run for run in TABLE if not run.name.startswith("annealing: iris")])

    def test_a_part_of_a_name_chooses(self):
        self.assertEqual([run.name for run in arm.chosen(TABLE, "gtm: rows")], ["gtm: rows with gaps"])

    def test_the_number_of_threads_is_not_the_machines(self):
        lines = "cluster a.csv", "cluster a.csv --threads 3", "predict model.json a.csv"
        run = arm.on_two_threads(Run("a run", tuple(map(Command, lines))))
        self.assertEqual([command.line for command in run.commands], [lines[0] + " --threads 2", *lines[1:]])


class Comparison(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.session = same_output.Session(self.folder)

    def program(self, name, words):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def against(self, first, second):
        """Returns (whether all succeeded, the printed lines)."""
        report, told = arm.Report(), io.StringIO()
        with contextlib.redirect_stdout(told):
            runs = [Run("a run", (Command("cluster"),))]
            arm.against(self.session, self.program("a", first), self.program("b", second), runs, report)
        return report.is_well, told.getvalue()

    def test_the_same_bytes_are_counted_and_others_shown(self):
        self.assertEqual(self.against("echo 1.5", "echo 1.5"), (True, mock.ANY))
        is_well, told = self.against("echo 1.5 > centers.csv", "echo 1.25 > centers.csv")
        self.assertFalse(is_well)
        self.assertIn("centers.csv: other bytes", told)
        self.assertFalse(self.against("true", "exit 3")[0])

    def test_the_emulator_runs_the_binary_with_all_arguments(self):
        emulator = self.program("emulator", 'echo "$@"')
        with mock.patch.object(arm.shutil, "which", return_value=str(emulator)):
            program = arm.emulated(Path("/binary"), self.folder / "wrapped")
        said = subprocess.run([program, "cluster", "a b.csv"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(said, f"-L {arm.LIBRARIES} -0 lehr /binary cluster a b.csv\n")


if __name__ == "__main__":
    unittest.main()
