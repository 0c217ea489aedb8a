import struct
import tempfile
import unittest
from pathlib import Path

import static


def program(*headers):
    """Returns a 64-bit ELF file with program headers: (kind, entries of its table)."""
    body, table = b"", b""
    start = 64 + 56 * len(headers)
    for kind, entries in headers:
        content = b"".join(struct.pack("<QQ", *entry) for entry in entries)
        table += struct.pack("<IIQQQQQQ", kind, 4, start + len(body), 0, 0, len(content), len(content), 8)
        body += content
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, len(headers), 0, 0, 0)
    return head + table + body


class Needs(unittest.TestCase):
    def test_a_loader_or_a_library_is_a_need(self):
        self.assertEqual(static.needs(program((1, []))), [])
        self.assertEqual(static.needs(program((1, []), (3, []))), ["a dynamic loader"])
        self.assertEqual(static.needs(program((2, [(1, 20), (0, 0)]))), ["a table of libraries"])
        # The program is adjusted where it is loaded, but needs no library.
        self.assertEqual(static.needs(program((2, [(7, 64), (0, 0)]))), [])

    def test_another_file_is_no_program(self):
        with self.assertRaises(ValueError):
            static.needs(b"#!/bin/sh\n")


class Differences(unittest.TestCase):
    def test_files_are_compared_by_their_bytes(self):
        with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
            first, second = Path(one), Path(other)
            for folder, labels in ((first, "0\n"), (second, "1\n")):
                (folder / "labels.csv").write_text(labels)
                (folder / "centers.csv").write_text("x\n")
                (folder / "summary.json").write_text(str(folder))
            (second / "model.json").write_text("{}")
            self.assertEqual(static.differences(first, second), ["labels.csv", "model.json"])


if __name__ == "__main__":
    unittest.main()
