import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import web


def quietly(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as shown:
        return function(*arguments), shown.getvalue()


class Web(unittest.TestCase):
    def test_what_cannot_run_is_told_and_fails_only_where_somebody_relies_on_it(self):
        for ci, code in [("", 0), ("false", 0), ("true", 1), ("1", 1)]:
            with mock.patch.dict(os.environ, {"LEHR_WEB_REQUIRED": ci}):
                self.assertEqual(quietly(web.not_run, "all", "no node"), (code, "web: NOT RUN: all: no node\n"), ci)

    def test_without_node_and_chromium_it_says_which_is_missing(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.dict(os.environ, {"PATH": folder}):
            os.environ.pop("LEHR_CHROMIUM", None)
            self.assertIn("node is not installed", web.node_trouble())
            self.assertIn("Chromium is not installed", web.chromium_trouble())
            old = Path(folder, "node")
            old.write_text("#!/bin/sh\necho v18.1.0\n", encoding="utf-8")
            old.chmod(0o755)
            Path(folder, "npm").symlink_to(old)
            with mock.patch.dict(os.environ, {"PATH": f"{folder}:/bin:/usr/bin"}):
                self.assertIn("here is v18.1.0", web.node_trouble())
            Path(folder, "chromium").symlink_to(old)
            self.assertIsNone(web.chromium_trouble())
            with mock.patch.dict(os.environ, {"LEHR_CHROMIUM": "/nowhere/chrome"}):
                self.assertIn("which is no program", web.chromium_trouble())

    def test_bytes_over_a_budget_are_told(self):
        shell = {name: web.SHELL_MAX // len(web.SHELL) for name in web.SHELL} | {name: web.REPORT_MAX // 2 for name in web.REPORT} | {name: web.DATA_MAX for name in web.DATA}
        self.assertEqual(web.over_budget(shell), [])
        self.assertIn("the shell", web.over_budget({**shell, "app.js": web.SHELL_MAX})[0])
        self.assertIn("a report", web.over_budget({**shell, "report.js": web.REPORT_MAX})[0])
        self.assertIn("all code", web.over_budget({**shell, "explore.js": web.ALL_MAX})[0])
        # Data have their own budget, and do not count as code.
        rest = web.ALL_MAX - sum(shell.values()) + web.DATA_MAX
        self.assertEqual(web.over_budget({**shell, "explore.js": rest}), [])
        self.assertIn("data (coast.json)", web.over_budget({**shell, "coast.json": web.DATA_MAX + 1})[0])
        self.assertIn("app.js is missing", web.over_budget({"index.html": 1, "style.css": 1, "report.js": 1, "report.css": 1, "coast.json": 1})[0])

    def test_files_that_differ_or_are_on_one_side_only_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            one, other = Path(folder, "one"), Path(folder, "other")
            one.mkdir()
            other.mkdir()
            for place, name, text in [(one, "a", "1"), (other, "a", "1"), (one, "b", "1"), (other, "b", "2"), (other, "c", "")]:
                (place / name).write_text(text, encoding="utf-8")
            self.assertEqual(web.differences(one, other), ["b", "c"])
            self.assertEqual(web.differences(one, Path(folder, "nowhere")), ["a", "b"])


if __name__ == "__main__":
    unittest.main()
