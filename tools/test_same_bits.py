"""Tests of same_bits.py."""

import stat
import tempfile
import unittest
from pathlib import Path

import same_bits


class SameBits(unittest.TestCase):
    def test_names_the_files_that_differ(self):
        first = {"labels.csv": b"1", "centers.csv": b"2"}
        self.assertEqual(same_bits.differing(first, dict(first)), [])
        self.assertEqual(same_bits.differing(first, {"labels.csv": b"1", "centers.csv": b"3"}), ["centers.csv"])

    def test_a_binary_that_differs_in_one_byte_fails(self):
        with tempfile.TemporaryDirectory() as scratch:
            binaries = []
            for side, text in enumerate(("same", "same", "other")):
                binary = Path(scratch) / f"binary-{side}"
                # The last argument is the folder.
                binary.write_text(
                    '#!/bin/sh\nfor folder in "$@"; do :; done\nmkdir -p "$folder"\n'
                    f'echo same >"$folder/labels.csv"\necho {text} >"$folder/centers.csv"\necho same >"$folder/components.csv"\n'
                    'for name in places.csv nodes.csv model.json; do echo same >"$folder/$name"; done\n'
                )
                binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
                binaries.append(binary)
            self.assertEqual(same_bits.main(binaries[:2]), 0)
            self.assertEqual(same_bits.main(binaries[1:]), 1)

    def test_the_data_of_every_case_are_in_the_project(self):
        for arguments in same_bits.CASES.values():
            if arguments[0] != "demo":
                self.assertTrue((same_bits.ROOT / arguments[1]).is_file(), arguments[1])


if __name__ == "__main__":
    unittest.main()
