"""Tests of check.py."""

import unittest

import check


class Changed(unittest.TestCase):
    def test_files_belong_to_the_package_of_their_crate(self):
        paths = ["crates/cli/src/main.rs", "crates/cli/Cargo.toml", "lab/harness/src/lib.rs", "README.md", "lab/METHOD.md"]
        self.assertEqual(check.changed(paths), ["lehr", "lehr-lab"])

    def test_a_crate_that_is_gone_is_not_checked(self):
        self.assertEqual(check.changed(["crates/gone/src/lib.rs"]), [])


if __name__ == "__main__":
    unittest.main()
