import unittest
from pathlib import Path

import help_text
import outside
import results

HELP = """Cluster rows

Reads a table.

Examples:
  lehr cluster blocks.csv --clusters 20
      twenty centres

Usage: lehr cluster [OPTIONS] <INPUT>

Arguments:
  <INPUT>
          The table

The clustering:
  -k, --clusters <K>
          Stop at this many clusters, at least 1

      --scale <SCALE>
          Scale the columns first [default: none]

          Possible values:
          - none: As they are
          - std:  By mean and standard deviation

Exit codes: 0 done.
"""


class HelpText(unittest.TestCase):
    def test_help_is_taken_apart_by_its_headings(self):
        about, usage, sections, closing = help_text.parts(HELP)
        self.assertEqual((about, usage), ("Cluster rows\n\nReads a table.", "lehr cluster [OPTIONS] <INPUT>"))
        self.assertEqual([heading for heading, _ in sections], ["Examples", "Arguments", "The clustering"])
        self.assertEqual([term for term, _ in sections[2][1]], ["-k, --clusters <K>", "--scale <SCALE>"])
        self.assertEqual([line for line in closing if line], ["Exit codes: 0 done."])

    def test_short_help_has_term_and_meaning_in_one_line(self):
        _, _, sections, _ = help_text.parts("A program\n\nUsage: lehr <COMMAND>\n\nCommands:\n  cluster  Cluster rows\n  gtm      Draw a map\n")
        self.assertEqual(sections, [("Commands", [("cluster", ["Cluster rows"]), ("gtm", ["Draw a map", ""])])])

    def test_prose_of_a_section_is_a_paragraph(self):
        _, _, sections, _ = help_text.parts("A node\n\nUsage: lehr serve\n\nSignals:\n  SIGTERM ends the node. SIGHUP reads the\n  policy.\n")
        self.assertEqual(sections, [("Signals", [("", ["SIGTERM ends the node. SIGHUP reads the", "policy.", ""])])])

    def test_an_entry_keeps_its_values(self):
        _, _, sections, _ = help_text.parts(HELP)
        self.assertEqual([line for line in help_text.entry(*sections[2][1][1]) if line],
                         ["`--scale <SCALE>`", ":   Scale the columns first \\[default: none\\]", "    Values: `none`: As they are; `std`: By mean and standard deviation"])

    def test_examples_are_what_is_typed_with_comments(self):
        _, _, sections, _ = help_text.parts(HELP)
        self.assertEqual(list(help_text.examples(sections[0][1])), ["$ lehr cluster blocks.csv --clusters 20", "# twenty centres"])

    def test_text_is_shown_as_it_is_and_options_are_code(self):
        self.assertEqual(help_text.escaped("a_b *c* <D> with --missing"), "a\\_b \\*c\\* \\<D\\> with `--missing`")


class Outside(unittest.TestCase):
    FOLDER = Path(outside.ROOT) / "docs/guide"

    def link(self, text):
        return outside._with_links(text, self.FOLDER)

    def test_pages_that_stand_elsewhere_are_pages_of_the_site(self):
        self.assertEqual(self.link("[a](../../ARCHITECTURE.md#x)"), "[a](/architecture.md#x)")

    def test_files_outside_are_downloads_and_folders_are_named(self):
        self.assertEqual(self.link("[a](../../Makefile)"), "{download}`a </../Makefile>`")
        self.assertEqual(self.link("[a](../../tools)"), "a (`tools`)")
        self.assertEqual(self.link("[guides](../guide)"), "guides (`docs/guide`)")

    def test_links_within_and_to_other_sites_stay_and_code_is_left_alone(self):
        self.assertEqual(self.link("[a](https://x.org) [b](#c)"), "[a](https://x.org) [b](#c)")
        self.assertEqual(self.link("[a](maps.md)"), "[a](/guide/maps.md)")
        self.assertEqual(self.link("[a\n  b](maps.md)"), "[a\n  b](/guide/maps.md)")
        self.assertEqual(self.link("[a]\n\n(maps.md)"), "[a]\n\n(maps.md)")
        self.assertEqual(self.link("```\n[a](../../Makefile)\n```"), "```\n[a](../../Makefile)\n```")


TABLE = """
/// `id` and more: a line a row.
fn labels(ids: &[String]) -> Table<'_> {
    // .numbers("left_out", x)
    Table::new("labels").ids(Some(ids), 2).counts("cluster", vec![0, 1]).numbers(
        "probability",
        vec![1.0, 1.0],
    )
}

fn other() {
    done.numbers("no_column", 1)
}

#[cfg(test)]
mod tests { fn table() { Table::new("of_a_test").ids(None, 1) } }
"""
ERRORS = """
pub enum Error {
    /// More clusters than rows were asked for: ask
    /// for fewer.
    #[error(
        "{clusters} clusters were asked for, but there are only {points:>3} rows"
    )]
    TooMany {
        /// Not this.
        clusters: usize,
    },
    /// Passed on.
    #[error(transparent)]
    Data(#[from] Other),
}
"""
EXIT = """
impl From<lehr_mining::Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Stopped => Failure::new(Kind::Stopped, message),
            Error::TooMany { .. } | Error::TooFew { .. } => Failure::new(Kind::BadData, message)
                .with_hint("--clusters asks for fewer"),
        }
    }
}
"""


class Results(unittest.TestCase):
    def test_columns_are_those_of_the_declaration_in_its_order(self):
        self.assertEqual(results.tables({"kmedoids": TABLE}), {"kmedoids/labels": ["id", "cluster", "probability"]})

    def test_files_have_the_comments_of_their_constants(self):
        text = '/// A row per\n/// input row.\npub const LABELS: &str = "labels.csv";\n/// More.\nconst X: &str = "x";\n'
        self.assertEqual(results.files(text), [("labels.csv", "A row per input row.")])

    def test_messages_have_their_values_as_words_and_their_comments(self):
        found = results.messages(ERRORS)
        self.assertEqual([(variant, comment) for variant, _, comment in found],
                         [("TooMany", "More clusters than rows were asked for: ask for fewer."), ("Data", "Passed on.")])
        self.assertEqual(results.shown(found[0][1]), "<clusters> clusters were asked for, but there are only <points> rows")
        self.assertIsNone(found[1][1])
        self.assertIsNone(results.shown("{path}: {}"))

    def test_hints_of_the_command_belong_to_their_variants(self):
        hint = ["--clusters asks for fewer"]
        self.assertEqual(results.hints(EXIT), {("mining", "TooMany"): hint, ("mining", "TooFew"): hint})

    def test_every_address_of_a_node_itself_is_in_the_reference(self):
        paths = results.node_paths((results.ROOT / "crates/node/src/route.rs").read_text(encoding="utf-8"))
        self.assertIn("/metrics", paths)
        page = (results.ROOT / "docs/reference/http.md").read_text(encoding="utf-8")
        self.assertEqual([path for path in paths if f"`GET {path}" not in page], [])

    def test_every_variable_of_the_environment_is_in_the_reference(self):
        page = (results.ROOT / "docs/reference/command.md").read_text(encoding="utf-8")
        self.assertEqual([name for name in results.variables() if f"`{name}`" not in page], [])

    def test_every_column_of_every_method_has_a_meaning_and_no_meaning_is_left_over(self):
        self.assertEqual(results.missing(results.method_sources()), [])

    def test_a_column_without_a_meaning_is_found(self):
        self.assertIn("kmedoids/labels: probability has no meaning", results.missing({"kmedoids": TABLE}))


if __name__ == "__main__":
    unittest.main()
