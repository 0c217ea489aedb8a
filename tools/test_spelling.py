import contextlib
import io
import os
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import spelling


class Spelling(unittest.TestCase):
    def test_american_words_of_prose_are_found_and_those_of_code_are_not(self):
        spellings = spelling.americanisms("colour->color\ncentre->center\nprogramme->program\n")
        text = "The Color of `color`, a program and \"The center\".\n\n```python\ncenter = 1\n```\n"
        self.assertEqual(list(spelling.american("docs/x.md", text, spellings)), ['docs/x.md, line 1: "Color": colour'])

    def test_what_codespell_prints_becomes_a_line_each_and_a_failure_of_its_own_is_none(self):
        with tempfile.TemporaryDirectory() as folder:
            tool = Path(folder, "codespell")
            tool.write_text("#!/bin/sh\nprintf 'a.md:3: teh ==> the\\n'\nexit 65\n", encoding="utf-8")
            tool.chmod(0o755)
            self.assertEqual(spelling.misspelled(folder, ["a.md"], tool), ['a.md, line 3: "teh": the'])
            tool.write_text("#!/bin/sh\necho 'no such dictionary' >&2\nexit 64\n", encoding="utf-8")
            with self.assertRaisesRegex(OSError, "no such dictionary"):
                spelling.misspelled(folder, ["a.md"], tool)

    def test_without_codespell_it_says_so_and_fails_only_on_ci(self):
        broken = subprocess.CalledProcessError(1, "pip", stderr="connecting\nno network\n")
        for ci, code in [("", 0), ("false", 0), ("true", 1)]:
            with mock.patch.dict(os.environ, {"CI": ci}), mock.patch.object(spelling, "installed", side_effect=broken):
                with contextlib.redirect_stdout(io.StringIO()) as shown:
                    self.assertEqual(spelling.main(), code, ci)
                self.assertIn("spelling: NOT RUN: codespell could not be installed into target/spelling: no network", shown.getvalue())


if __name__ == "__main__":
    unittest.main()
