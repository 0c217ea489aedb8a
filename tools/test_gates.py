import contextlib
import io
import shutil
import tempfile
import time
import unittest
from pathlib import Path

import gates


def run(script, silence):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        outcome = gates.run_command(["sh", "-c", script], "gate", silence)
    return outcome, shown.getvalue()


class Gates(unittest.TestCase):
    def test_what_it_printed_is_shown_and_counted(self):
        script = "echo 'test result: ok. 7 passed; 0 failed; 2 ignored; 0 measured'; echo 'Ran 3 tests in 0.1s'; exit 4"
        (code, _, counts, _), shown = run(script, 60)
        self.assertEqual((code, counts), (4, (10, 0, 2)))
        self.assertIn("Ran 3 tests", shown)

    def test_tests_of_pytest_count_too(self):
        lines = ["334 passed, 1248 skipped in 12.31s", "== 2 failed, 8 passed in 1.00s ==", "7 passed the door"]
        self.assertEqual([gates.count_tests(line)[0] for line in lines], [334, 8, 0])

    def test_tests_of_vitest_count_in_colour_too(self):
        lines = ["      Tests  35 passed (35)", "\x1b[2m      Tests \x1b[22m \x1b[31m2 failed\x1b[39m | \x1b[32m8 passed\x1b[39m (10)"]
        self.assertEqual([gates.count_tests(line) for line in lines], [(35, 0, 0), (8, 2, 0)])

    def test_what_was_not_run_stands_in_the_summary(self):
        outcome, _ = run("echo 'web: NOT RUN: tests in Chromium: it is not installed'", 60)
        self.assertEqual((outcome[0], outcome[3]), (0, ["tests in Chromium: it is not installed"]))
        lines = gates.summary(["web"], [outcome])
        self.assertIn("NOT RUN tests in Chromium: it is not installed", lines[1])
        self.assertIn("1 of their parts NOT RUN", lines[-1])

    def test_one_that_goes_on_printing_is_not_ended(self):
        (code, seconds, _, _), _ = run("for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done", 1.2)
        self.assertEqual(code, 0)
        self.assertGreater(seconds, 1.2)

    def test_one_that_hangs_is_ended_with_what_it_started(self):
        started = time.monotonic()
        # The child would keep the pipe open for a minute.
        (code, *_), shown = run("echo begun; sleep 60 & wait", 0.5)
        self.assertNotEqual(code, 0)
        self.assertLess(time.monotonic() - started, 30)
        self.assertIn("gate: no output for 0.5 s, so it hangs", shown)

    @unittest.skipUnless(Path("/proc/self/stat").exists(), "nobody tells what processes there are")
    def test_one_that_compiles_has_four_times_as_long(self):
        with tempfile.TemporaryDirectory() as folder:
            # The name of a process is that of its program file.
            compiler = Path(folder, "rustc")
            compiler.symlink_to(shutil.which("sleep"))
            (code, *_), _ = run(f"{compiler} 2", 1)
            self.assertEqual(code, 0)
            (code, seconds, *_), shown = run(f"{compiler} 60", 1)
        self.assertNotEqual(code, 0)
        self.assertGreater(seconds, 3.9)
        self.assertIn("so it hangs", shown)


if __name__ == "__main__":
    unittest.main()
