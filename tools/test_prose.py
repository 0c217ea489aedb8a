import subprocess
import tempfile
import unittest
from pathlib import Path

import prose


def found(text, name="README.md", longest=prose.LONGEST):
    return [(line, kind) for line, kind, _, _ in prose.findings(name, text, longest)]


class Forms(unittest.TestCase):
    def test_a_word_of_the_list_is_found_on_its_line_with_a_suggestion(self):
        text = "# Title\n\nA first line.\nIt is dearer than k-means.\n\nIt searched in vain."
        self.assertEqual([(line, instead) for line, _, _, instead in prose.findings("README.md", text)],
                         [(3, "slower, or more expensive"), (6, "without success, unsuccessful")])

    def test_code_headings_comments_and_link_targets_are_left_out(self):
        text = "## Mended\n\n`mend` and [a page](mended.md).\n\n```\nmended in vain\n```\n\n<!-- mended -->"
        self.assertEqual(found(text), [])

    def test_the_text_of_a_link_is_prose(self):
        self.assertEqual(found("See [what was mended](x.md)."), [(1, "form")])

    def test_a_sentence_that_begins_with_what_is_found_and_a_question_is_not(self):
        self.assertEqual(found("What lies far out is left out."), [(1, "form")])
        self.assertEqual(found("What is an outlier? A row far out."), [])
        self.assertEqual(found("What to do: look."), [])

    def test_cells_of_tables_and_list_items_are_blocks_of_their_own(self):
        self.assertEqual(found("| a | b |\n| --- | --- |\n| mended | fine |\n\n- fine\n- in vain"), [(3, "form"), (6, "form")])

    def test_rust_is_read_in_its_documentation_comments_alone(self):
        text = "//! Mended modules.\n\n// mended in vain\nlet mended = 1;\n/// ```\n/// mended();\n/// ```\n/// It is dearer."
        self.assertEqual(found(text, "crates/x/src/lib.rs"), [(1, "form"), (8, "form")])

    def test_terms_and_tables_of_docstrings_are_blocks_of_their_own(self):
        text = 'def f():\n    """Does it.\n\n    Returns\n    -------\n    bic_, aic_ : float\n        In vain.\n    mended\n        Fine.\n\n    name    dearer\n    other   fine\n    """\n'
        self.assertEqual(found(text, "python/lehr/x.py"), [(7, "form"), (11, "form")])

    def test_parameters_of_numpydoc_in_rust_are_headings(self):
        text = "/// Reads texts.\n///\n/// ids : sequence of str\n///     " + "Word " * 20 + "end.\n/// texts : str\n///     " + "Word " * 20 + "end."
        self.assertEqual(found(text, "crates/python/src/items.rs"), [])

    def test_python_is_read_in_its_docstrings_without_examples(self):
        text = 'mended = 1\n\n\ndef f():\n    """Does it.\n\n    It is dearer.\n\n    >>> mended\n    """\n    # mended\n'
        self.assertEqual(found(text, "python/lehr/x.py"), [(7, "form")])


class Length(unittest.TestCase):
    def test_a_sentence_of_25_words_passes_and_one_of_26_does_not(self):
        self.assertEqual(found("Word " * 24 + "end. Short one."), [])
        self.assertEqual(found("Short one. " + "Word " * 25 + "end."), [(1, "long")])

    def test_code_is_one_word_and_lines_of_a_paragraph_are_read_together(self):
        self.assertEqual(found("word " * 13 + "\n" + "word " * 12 + "`a b c d e f g`."), [(1, "long")])
        self.assertEqual(found("word " * 24 + "`a b c d e f g`."), [])


class Gate(unittest.TestCase):
    def test_more_than_recorded_is_a_fault_and_fewer_may_be_recorded(self):
        counts = {"guide": {"form": 3, "long": 1}, "front": {"form": 0, "long": 0}}
        faults, lower = prose.judged(counts, {"guide": {"form": 2, "long": 5}})
        self.assertEqual(len(faults), 1)
        self.assertIn("guide: 3 words and forms that do not pass, 2 are recorded", faults[0])
        self.assertEqual(lower, ["guide"])

    def test_recorded_numbers_never_rise_and_leave_little_room(self):
        self.assertEqual([prose.lowest(0, None), prose.lowest(100, None), prose.lowest(100, 150), prose.lowest(100, 101), prose.lowest(0, 5)], [0, 103, 103, 101, 0])

    def test_files_are_in_the_groups_of_their_readers(self):
        self.assertEqual([prose.group_of(name) for name in ["README.md", "docs/howto/x.md", "docs/guide/x.md", "CHANGELOG.md", "crates/a/src/b.rs", "docs/lab/x.md", "docs/catalogue.md"]],
                         ["front", "front", "guide", "changelog", "rust", None, None])


class Sample(unittest.TestCase):
    def test_a_seed_draws_the_same_sentences_again_each_with_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
            Path(folder, "README.md").write_text("One is here. Two is there.\n\nThree is nowhere. No.\n", encoding="utf-8")
            drawn = prose.sampled(Path(folder), 2, 7)
            self.assertEqual(drawn, prose.sampled(Path(folder), 2, 7))
            self.assertEqual(sorted(prose.sampled(Path(folder), 9, 1)),
                             ["README.md, line 1: One is here.", "README.md, line 1: Two is there.", "README.md, line 3: Three is nowhere."])


if __name__ == "__main__":
    unittest.main()
