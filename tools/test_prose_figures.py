import subprocess
import tempfile
import unittest
from pathlib import Path

import prose_figures


class Figures(unittest.TestCase):
    def test_words_are_counted_in_a_thousand(self):
        total, found = prose_figures.figures([(".md", "You see it because you look here now. " + "One two three four. " * 4)])
        self.assertEqual((total, [round(figure, 1) for figure in found]), (24, [41.7, 83.3, 0.0, 4.8, 0.0]))
        self.assertIsNone(prose_figures.figures([(".md", "# Title")]))

    def test_of_restructured_text_headings_directives_and_code_are_left_out(self):
        text = "Title\n=====\n\nYou see it here::\n\n    you = what\n\n.. note:: you\n   what\n\nSee `the page <you.html>`_ of :class:`You`.\n"
        blocks = [block for _, block in prose_figures.restructured(text)]
        self.assertEqual(blocks, ["You see it here:", "See the page of `You`."])

    def test_more_connectives_are_better_and_fewer_long_sentences(self):
        self.assertTrue(prose_figures.is_outside("you", 1.0, [1.1, 9.0]))
        self.assertFalse(prose_figures.is_outside("you", 9.5, [1.1, 9.0]))
        self.assertTrue(prose_figures.is_outside("what", 0.6, [0.1, 0.5]))
        self.assertFalse(prose_figures.is_outside("what", 0.0, [0.1, 0.5]))

    def test_a_repository_is_read_at_its_head(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in [("README.md", "You read this."), ("docs/a.md", "Naïve text."), ("src/a.rs", "//! Code.")]:
                Path(folder, name).parent.mkdir(exist_ok=True)
                Path(folder, name).write_text(text, encoding="utf-8")
            git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
            for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "one"]):
                subprocess.run([*git, *words], cwd=folder, check=True)
            Path(folder, "README.md").write_text("Changed.", encoding="utf-8")
            self.assertEqual(prose_figures.texts_of(folder, r".*\.md$"), [(".md", "You read this."), (".md", "Naïve text.")])


if __name__ == "__main__":
    unittest.main()
