"""Tests that the command and the Python package turn on the same features of the libraries that both use (crates/features)."""

import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def features(package):
    """Returns the features of each library and version in a build of `package`."""
    command = ["cargo", "tree", "--offline", "-p", package, "-e", "normal,build", "--prefix", "none", "--no-dedupe", "-f", "{p}|{f}"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if told.returncode != 0:
        # Before the first build, the crates must be downloaded, so the second try may use the network.
        told = subprocess.run([word for word in command if word != "--offline"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = {}
    for line in told.stdout.splitlines():
        library, bar, names = line.partition("|")
        if bar:
            found.setdefault(" ".join(library.split()[:2]), set()).update(name for name in names.split(",") if name)
    return found


class Features(unittest.TestCase):
    def test_a_library_is_compiled_once_for_the_command_and_the_python_package(self):
        command, package = features("lehr"), features("lehr-python")
        shared = command.keys() & package.keys()
        self.assertGreater(len(shared), 100)
        unlike = {library: sorted(command[library] ^ package[library]) for library in shared if command[library] != package[library]}
        self.assertEqual(unlike, {}, "add the features that are missing on one side to crates/features, or to syn in crates/macros")


if __name__ == "__main__":
    unittest.main()
