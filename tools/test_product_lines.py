"""Tests of product_lines.py."""

import unittest

import product_lines

RUST = '''//! A page.

/* two
   lines */
fn told() -> &'static str {
    r#"// no comment
{ a text"# // a comment
}

#[cfg(test)]
mod tests {
    fn shown() {}
}

const LAST: u8 = 1;
'''
PYTHON = '''"""A page."""

# A comment
def told():
    """A docstring
    of two lines."""
    return """a text
of two lines"""
'''


class Lines(unittest.TestCase):
    def numbers(self, path, text):
        return [n for n, _ in product_lines.code(path, text)]

    def test_rust_without_comments_and_tests(self):
        self.assertEqual(self.numbers("a.rs", RUST), [5, 6, 7, 8, 15])

    def test_python_without_comments_and_docstrings(self):
        self.assertEqual(self.numbers("a.py", PYTHON), [4, 7, 8])

    def test_files_for_tests_alone_are_no_product(self):
        files = [("crates/a/src/lib.rs", "#[cfg(test)]\nmod oracle;\nmod kernel;"), ("crates/a/src/oracle.rs", ""), ("crates/a/src/kernel.rs", "#[cfg(test)]\npub(crate) mod known;")]
        files.append(("crates/a/src/kernel/known.rs", ""))
        kept = [path for path, _ in product_lines.without_test_files(files)]
        self.assertEqual(kept, ["crates/a/src/lib.rs", "crates/a/src/kernel.rs"])

    def test_the_package_and_its_native_half_are_one_crate(self):
        files = [("crates/python/src/lib.rs", "fn a() {}\n"), ("python/lehr/node.py", "a = 1\nb = 2\n"), ("crates/cli/src/main.rs", "fn a() {}\n")]
        counted = product_lines.by_crate(files)
        self.assertEqual(counted, {"python": 3, "cli": 1})
        self.assertEqual(product_lines.table([("now", counted)])[-1].split(), ["all", "4"])


if __name__ == "__main__":
    unittest.main()
