"""Tests the MPI runner of the lab with small programs in place of MPI's launchers: its requests, absent engines, and engines that are left out."""

import contextlib
import importlib.util
import io
import os
import signal
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parent.parent


def load(name):
    spec = importlib.util.spec_from_file_location(f"mpi_{name}", ROOT / "lab" / "runners" / "mpi" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


runner = load("runner")
install = load("install")


def engine(script, least=1):
    """Returns an engine whose program is a line of shell; `$1` is its number of ranks."""
    return engine_of("Shell MPI", lambda ranks: (["sh", "-c", script, "sh", ranks], {}), least)


def engine_of(name, start, least=1):
    return runner.Engine(name, start, runner.Kind(name, "folder", "program", least, start))


ECHO = 'while read -r line; do echo "{\\"ranks\\": $1, \\"asked\\": \\"$line\\"}"; done'


class Runner(unittest.TestCase):
    def setUp(self):
        self.engines = []

    def tearDown(self):
        runner.end([program for each in self.engines for program in each.programs.values()], 0)

    def with_engine(self, script, least=1):
        self.engines.append(engine(script, least))
        return self.engines

    def ask(self, request):
        """Returns the answer, and the lines on standard error."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            answer = runner.answer(self.engines, request.split())
        return answer, said.getvalue().splitlines()

    def test_a_pattern_goes_to_a_program_with_its_ranks(self):
        self.with_engine(ECHO)
        answer, _ = self.ask(f"0 pattern rendezvous shift 2 {runner.CORES} 20 500")
        self.assertEqual(answer, {"ranks": 2, "asked": "pattern shift 20 500"})
        self.assertEqual(self.ask("0 pattern rendezvous pipeline 1 1 0 5")[0]["ranks"], 1)
        self.assertEqual(self.ask("0 unit")[0]["asked"], "unit")

    def test_what_mpi_does_not_do_is_no_answer(self):
        self.with_engine(ECHO, least=2)
        for request in (
            f"0 pattern spawned shift 2 {runner.CORES} 0 5",
            f"0 pattern rendezvous shift 2 {runner.CORES + 1} 0 5",
            "0 pattern rendezvous pipeline 1 1 0 5",
            "0 requests 2 2 10",
            "0 pending 10",
            "7 unit",
        ):
            self.assertEqual(self.ask(request), (None, []), request)

    def test_few_programs_are_kept(self):
        (shell,) = self.with_engine(ECHO)
        for ranks in (2, 3, 4, 2, 5):
            self.ask(f"0 pattern rendezvous shift {ranks} {runner.CORES} 0 5")
        self.assertEqual(list(shell.programs), [4, 2, 5])

    def test_a_program_that_ends_or_speaks_nonsense_is_left_out_of_that_case_with_one_line(self):
        for script, why in (
            ("read -r line; echo 'mpi_patterns: a message of another stage' >&2; exit 1", "a message of another stage"),
            ("exit 0", "ended"),
            ("while read -r line; do echo hello; done", "answered"),
            ("while read -r line; do echo 3; done", "answered"),
        ):
            self.engines = []
            (shell,) = self.with_engine(script)
            answer, said = self.ask(f"0 pattern rendezvous shift 2 {runner.CORES} 0 5")
            self.assertIsNone(answer)
            self.assertEqual(len(said), 1, said)
            self.assertIn(why, said[0])
            self.assertEqual(shell.programs, {})
            self.assertEqual(self.ask(f"0 pattern rendezvous shift 2 {runner.CORES} 0 5"), (None, []), "it is not asked again")

    def test_a_program_that_gives_no_answer_is_stopped(self):
        (shell,) = self.with_engine("cat > /dev/null")
        with mock.patch.object(runner, "PATIENCE", 0):
            answer, said = self.ask(f"0 pattern rendezvous shift 2 {runner.CORES} 0 5")
        self.assertIsNone(answer)
        self.assertIn("no answer", said[0])
        self.assertEqual(shell.programs, {})

    def test_programs_that_do_not_heed_the_end_of_their_input_are_ended_with_their_ranks(self):
        (shell,) = self.with_engine("trap '' TERM; sleep 600 & read -r line; echo '{\"ranks\": 2}'; wait")
        self.ask("0 unit")
        (program,) = shell.programs.values()
        # The ranks have the output open too, so a reader sees its end only when the last rank has ended.
        with os.fdopen(os.dup(program.process.stdout.fileno()), "rb") as output, mock.patch.object(runner, "GRACE", 0.01):
            runner.end([program], 0)
            self.assertEqual(output.read(), b"")
        self.assertEqual(program.process.returncode, -signal.SIGKILL)
        shell.programs.clear()

    def test_a_launcher_that_is_not_there_is_left_out(self):
        self.engines = [engine_of("No MPI", lambda ranks: (["no-such-launcher"], {}))]
        answer, said = self.ask("0 unit")
        self.assertIsNone(answer)
        self.assertIn("no-such-launcher", said[0])

    def test_what_is_not_built_is_named_with_what_builds_it(self):
        with tempfile.TemporaryDirectory() as folder:
            engines, libraries, absent = runner.find(runner.THEIRS, Path(folder), lambda maps_file: "shared")
            self.assertEqual((engines, libraries, len(absent)), ([], {}, 3))
            self.assertTrue(all("make peers-mpi" in line for line in absent))
            home = Path(folder) / "mpich"
            home.mkdir()
            (home / ".installed").write_text("mpich==5.0.2", encoding="utf-8")
            (home / "mpi_patterns").write_text("", encoding="utf-8")
            engines, libraries, absent = runner.find(runner.THEIRS, Path(folder), lambda maps_file: "shared")
            self.assertEqual([each.name for each in engines], ["MPICH 5.0.2, processes"])
            self.assertEqual((libraries, len(absent)), ({"mpich": "5.0.2"}, 2))

    def test_ranks_beyond_the_cores_are_started_in_the_form_that_suits_them(self):
        few, many = runner.CORES, runner.CORES + 1
        home = Path("home")
        self.assertIn("core", runner.open_mpi(home, few, ["shared"])[0])
        self.assertIn(":OVERSUBSCRIBE", runner.open_mpi(home, many, ["shared"])[0])
        self.assertEqual(runner.mpich(home, many, ["shared"])[0][0], home / "bin" / "mpiexec.gforker")
        self.assertEqual(runner.threadcomm(home, few, ["shared"])[1], {})


class Install(unittest.TestCase):
    def test_a_wheel_that_cannot_be_had_is_one_line(self):
        said = io.StringIO()
        failing = mock.patch.object(install, "install", side_effect=RuntimeError("no matching distribution"))
        with failing, contextlib.redirect_stdout(said):
            install.main(["mpich==5.0.2", "folder"])
        self.assertEqual(said.getvalue(), "peers-mpi: skipped mpich==5.0.2: no matching distribution\n")

    def test_the_reason_is_the_last_line_of_what_failed(self):
        with self.assertRaisesRegex(RuntimeError, "^the reason$"):
            install.step(["sh", "-c", "echo much; echo the reason >&2; exit 1"])


if __name__ == "__main__":
    unittest.main()
