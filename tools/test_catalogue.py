"""Tests each rule of catalogue.py, once kept and once broken."""

import unittest

import catalogue

ALL = "\n".join(f"// Catalogue: {number}\n#[test]\nfn shows_{number}() {{}}\n" for number in catalogue.BEHAVIOURS)


class Catalogue(unittest.TestCase):
    def test_numbers_are_read_from_the_comment_above_a_test_and_nowhere_else(self):
        text = (
            "// Catalogue: 38, 41\n#[test]\nfn one() {}\n"
            "// Catalogue: 5\n#[cfg(not(loom))]\n#[test]\n#[should_panic]\nfn two() {}\n"
            "    // Catalogue: 7\n    #[test]\n    fn inner() {}\n"
            "// Catalogue: 9 items\n#[test]\nfn no_number() {}\n"
            "// Catalogue: 11\nfn no_test() {}\n"
            "// Catalogue: 12\n\n#[test]\nfn not_directly_above() {}\n"
        )
        self.assertEqual(
            catalogue.numbered_tests("a.rs", text), [(38, "a.rs::one"), (41, "a.rs::one"), (5, "a.rs::two"), (7, "a.rs::inner")]
        )

    def test_an_example_that_must_not_compile_counts(self):
        text = "/// Text.\n// Catalogue: 37\n/// ```compile_fail\n/// wrong();\n/// ```\nfn right() {}\n// Catalogue: 14\n/// ```\n/// right();\n/// ```\n"
        self.assertEqual(catalogue.numbered_tests("a.rs", text), [(37, "a.rs")])

    def test_a_page_written_from_the_sources_has_no_faults(self):
        shown = catalogue.by_number({"a.rs": ALL})
        self.assertEqual(catalogue.faults(catalogue.page_of(shown), shown), [])
        self.assertEqual(catalogue.missing_of(catalogue.page_of(shown)), [])

    def test_a_number_without_a_test_is_a_fault_unless_it_is_listed_as_missing(self):
        without = catalogue.by_number({"a.rs": ALL.replace("// Catalogue: 40\n", "// none\n")})
        full = catalogue.page_of(catalogue.by_number({"a.rs": ALL}))
        self.assertIn("nothing shows 40", catalogue.faults(full, without)[0])
        page = catalogue.page_of(without)
        self.assertEqual((catalogue.missing_of(page), catalogue.faults(page, without)), ([40], []))

    def test_a_number_listed_as_missing_that_has_a_test_is_a_fault(self):
        shown = catalogue.by_number({"a.rs": ALL})
        page = catalogue.page_of(shown).replace("```missing\n\n", "```missing\n3\n")
        self.assertIn("3 is listed as missing, and shown by a.rs::shows_3", catalogue.faults(page, shown)[0])

    def test_unknown_numbers_and_stale_pages_are_faults(self):
        page = catalogue.page_of(catalogue.by_number({"a.rs": ALL}))
        unknown = catalogue.by_number({"a.rs": ALL + "// Catalogue: 999\n#[test]\nfn more() {}\n"})
        self.assertIn("a.rs: the catalogue has no number 999", catalogue.faults(page, unknown))
        renamed = catalogue.by_number({"a.rs": ALL.replace("shows_3()", "shows_it()")})
        self.assertIn("write it anew", catalogue.faults(page, renamed)[0])
        self.assertEqual(len(catalogue.faults("# Nothing\n", renamed)), 1)


if __name__ == "__main__":
    unittest.main()
