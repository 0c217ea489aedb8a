"""Runs the quick form of the gates: formatting, edges, and clippy and unit tests of the changed crates.

Usage: check.py [REVISION]   Crates count as changed if a file of theirs differs from REVISION (HEAD by default) or is not tracked yet. Ends with the first failure's exit code.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def lines(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def folder_of(path):
    """Returns the folder of a file's crate; None for files outside crates."""
    parts = Path(path).parts
    if len(parts) > 2 and (parts[0] == "crates" or parts[:2] == ("lab", "harness")):
        return "/".join(parts[:2])
    return None


def package_of(folder):
    """Returns the name of the package in a folder."""
    for line in (ROOT / folder / "Cargo.toml").read_text().splitlines():
        if line.startswith("name = "):
            return line.split('"')[1]
    raise ValueError(f"{folder}/Cargo.toml names no package")


def changed(paths):
    """Returns the packages to which these files belong."""
    folders = sorted({folder for folder in map(folder_of, paths) if folder and (ROOT / folder / "Cargo.toml").is_file()})
    return [package_of(folder) for folder in folders]


def main(arguments):
    revision = arguments[0] if arguments else "HEAD"
    paths = lines("git", "diff", "--name-only", revision) + lines("git", "ls-files", "--others", "--exclude-standard")
    packages = [word for package in changed(paths) for word in ("-p", package)]
    commands = [["make", "--no-print-directory", "fmt-check"], ["make", "--no-print-directory", "edges"]]
    if packages:
        commands.append(["cargo", "clippy", *packages, "--all-targets", "--", "-D", "warnings"])
        commands.append(["cargo", "test", "--quiet", *packages, "--lib", "--bins"])
    for command in commands:
        print("---", " ".join(command), flush=True)
        code = subprocess.run(command, cwd=ROOT).returncode
        if code != 0:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
