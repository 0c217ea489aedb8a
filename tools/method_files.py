"""Counts the product files that contain a method's name: its own files, and those that it shares with all other methods.

Usage: method_files.py [METHOD]   (kmedoids by default). A file is the method's own if its path has the method's name. In a shared file, the tool
counts the lines that name the method, without comments. Tests, pages and the lab do not belong to the product.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = ("crates/*/src/*.rs", "python/lehr/*.py")


def code(text):
    """Yields the lines of a source file without comments, judged line by line."""
    quoted = False
    for line in text.splitlines():
        if line.count('"""') % 2 == 1:
            quoted = not quoted
            continue
        if not quoted and not re.match(r"\s*(//|#|\*)", line):
            yield line


def known_by(method, files):
    """Returns the method's own files, and the number of lines with its name for each shared file. Files are (path, text)."""
    named = re.compile(rf"\b{re.escape(method)}\b", re.IGNORECASE)
    own, shared = [], {}
    for path, text in files:
        if method in path.lower():
            own.append(path)
            continue
        lines = [line for line in code(text) if named.search(line)]
        if lines:
            shared[path] = len(lines)
    return own, shared


def main(arguments):
    method = (arguments[0] if arguments else "kmedoids").lower()
    listed = subprocess.run(["git", "ls-files", *PRODUCT], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    own, shared = known_by(method, [(path, (ROOT / path).read_text()) for path in listed])
    if not own:
        print(f"no product file is called {method}: name a method as its file in crates/methods is called")
        return 2
    print(f"{len(own)} files of its own:")
    print("\n".join(f"  {path}" for path in own))
    rust = sum(lines for path, lines in shared.items() if path.endswith(".rs"))
    print(f"{rust} lines in shared Rust files, {sum(shared.values()) - rust} in shared Python files:")
    print("\n".join(f"  {lines:3} {path}" for path, lines in sorted(shared.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
