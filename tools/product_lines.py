"""Counts the product's lines of code by crate, without tests, comments and blank lines.

Usage: product_lines.py [REVISION ...]   (the files as they stand by default; a revision is any that git knows). One column for each revision. The product is
what users install: the crates and the Python package, without the lab, the viewer, tests and tools.
"""

import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path, PurePath

from rust_source import code_only, test_files, without_comments, without_tests

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = re.compile(r"crates/([^/]+)/src/.*\.rs|python/lehr/.*\.pyi?")


def files(revision=None):
    """Returns the product's files as (path, text), ordered by path. Without a revision these are the files that git tracks, in their present state."""
    listing = ["ls-tree", "-r", "--name-only", revision] if revision else ["ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(["git", *listing], cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    paths = sorted(path for path in listed if PRODUCT.fullmatch(path))
    if not revision:
        return without_test_files([(path, (ROOT / path).read_text(encoding="utf-8")) for path in paths if (ROOT / path).exists()])
    asked = "".join(f"{revision}:{path}\n" for path in paths).encode()
    told = subprocess.run(["git", "cat-file", "--batch"], cwd=ROOT, check=True, input=asked, capture_output=True).stdout
    found, at = [], 0
    for path in paths:
        end = told.index(b"\n", at)
        size = int(told[at:end].split()[2])
        found.append((path, told[end + 1:end + 1 + size].decode("utf-8")))
        at = end + 1 + size + 1
    return without_test_files(found)


def without_test_files(found):
    """Returns `found` without modules that are compiled only for tests."""
    tests = set()
    for path, text in found:
        if path.endswith(".rs") and "cfg(" in text:
            at = PurePath(path)
            folder = at.parent if at.name in ("lib.rs", "main.rs", "mod.rs") else at.with_suffix("")
            tests.update(str(folder / f"{name}.rs") for name in test_files(code_only(text)))
    return [(path, text) for path, text in found if path not in tests]


def crate(path):
    """Returns the crate of a product file; `python` for the Python package too."""
    found = PRODUCT.fullmatch(path)
    return found.group(1) or "python"


def code(path, text):
    """Returns the lines of code of a file as (number, line), without comments, inline tests and blank lines."""
    if path.endswith(".rs"):
        lines = without_tests(code_only(text), of=without_comments(text)).split("\n")
        return [(n, line) for n, line in enumerate(lines, 1) if line.strip()]
    return _python(text)


def _python(text):
    lines, of_code = text.split("\n"), set()
    begins = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER):
            continue
        if token.type == tokenize.NEWLINE:
            begins = True
            continue
        # A string that is a statement is a docstring.
        if not (begins and token.type == tokenize.STRING):
            of_code.update(range(token.start[0], token.end[0] + 1))
        begins = False
    return [(n, lines[n - 1]) for n in sorted(of_code)]


def by_crate(found):
    """Returns the lines of code by crate."""
    counted = {}
    for path, text in found:
        counted[crate(path)] = counted.get(crate(path), 0) + len(code(path, text))
    return counted


def table(columns):
    """Returns the lines to print, for columns of (title, lines by crate)."""
    crates = sorted({name for _, counted in columns for name in counted})
    rows = [("lines of code", *(title for title, _ in columns))]
    rows += [(name, *(f"{counted.get(name, 0):,}" for _, counted in columns)) for name in crates]
    rows.append(("all", *(f"{sum(counted.values()):,}" for _, counted in columns)))
    return [f"{row[0]:<14}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows]


def main(arguments):
    columns = [(revision[:10], by_crate(files(revision))) for revision in arguments] or [("now", by_crate(files()))]
    print("\n".join(table(columns)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
