"""Counts repetitions in the front ends: pairs of passages of the crates `cli`, `jobs` and `python` that are equal after renaming.

Usage: duplicates.py [REVISION ...]   (the files as they stand by default; a revision is any that git knows). The tool prints the count for each revision, and the
longest passages for the last one.

The count: a window is LINES lines of code of one file that follow each other, without tests, comments, blank lines, imports, attributes, lines of brackets or of
one name alone, and lines such as `self.seed = seed`, which scikit-learn demands of every estimator. Two windows are a pair if one-to-one renaming of identifiers,
numbers and texts makes them the same. Windows that overlap are no pair. Both languages count; keywords are not renamed.
"""

import re
import sys

from product_lines import code, crate, files

# The three front ends, and the crates that came out of them.
CRATES = ("cli", "jobs", "python", "demos", "methods", "report")
LINES = 10
SHOWN = 20

_TOKEN = re.compile(r'"""|[bcrf]*"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\\s])\'|[A-Za-z_]\w*!?|\d[\w.]*|\S')
_SILENT = re.compile(r"""\s*(?:(?:pub(?:\(\w+\))? )?(?:use|mod|import|from) |#!?\[|@|"?\w+"?,?$|self\.(\w+) = \1$)""")
_KEYWORDS = frozenset(
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super "
    "trait true type unsafe use where while and assert class def del elif except finally from global import is lambda None nonlocal not or pass raise True False try "
    "with yield".split()
)


def is_said(line):
    """Returns whether a line counts: it is not an import, an attribute, only brackets, or an item of a list of names."""
    return bool(re.search(r"\w", line)) and not _SILENT.match(line)


def shape(lines):
    """Returns the shape of some lines, which is equal for lines that differ only in names: their tokens, with each name replaced by the place of its first use."""
    seen, out = {}, []
    for line in lines:
        for token in line:
            is_name = (token[0].isalnum() or token[0] in "_\"'" or token[-1] == '"') and token not in _KEYWORDS
            out.append(seen.setdefault(token, len(seen)) if is_name else token)
        out.append("\n")
    return tuple(out)


def windows(found, lines=LINES):
    """Returns the windows of these files by shape, as (file, index of the first line among the lines that count), and the numbers of those lines by file."""
    by_shape, numbers = {}, {}
    for path, text in found:
        counted = [(n, _TOKEN.findall(line)) for n, line in without_imports(code(path, text)) if is_said(line)]
        numbers[path] = [n for n, _ in counted]
        tokens = [line for _, line in counted]
        for at in range(len(tokens) - lines + 1):
            by_shape.setdefault(shape(tokens[at:at + lines]), []).append((path, at))
    return by_shape, numbers


def without_imports(lines):
    """Yields the lines without the inner lines of imports over several lines."""
    inside = None
    for n, line in lines:
        if inside is None:
            begun = re.match(r"\s*(?:pub(?:\(\w+\))? )?(?:use|from|import)\b.*([{(])[^})]*$", line)
            inside = {"{": "}", "(": ")"}[begun.group(1)] if begun else None
            if inside is None:
                yield n, line
        elif line.strip().rstrip(";") == inside:
            inside = None


def pairs(by_shape, lines=LINES):
    """Yields the pairs of equal windows that do not overlap."""
    for places in by_shape.values():
        for second, (path, at) in enumerate(places):
            for other, there in places[:second]:
                if other != path or abs(at - there) >= lines:
                    yield (other, there), (path, at)


def passages(found, lines=LINES):
    """Joins pairs to the longest possible passages: (lines, first place, second place), the longest first."""
    left = {(one, two) for one, two in found}
    joined = []
    for one, two in sorted(left):
        if ((one[0], one[1] - 1), (two[0], two[1] - 1)) in left:
            continue
        long = 1
        while ((one[0], one[1] + long), (two[0], two[1] + long)) in left:
            long += 1
        joined.append((long + lines - 1, one, two))
    return sorted(joined, key=lambda passage: (-passage[0], passage[1:]))


def main(arguments):
    for revision in arguments or [None]:
        found = [(path, text) for path, text in files(revision) if crate(path) in CRATES]
        by_shape, numbers = windows(found)
        counted = list(pairs(by_shape))
        print(f"{revision or 'now'}: {len(counted):,} pairs of windows of {LINES} lines in {len(by_shape):,} shapes")
    for long, *places in passages(counted)[:SHOWN]:
        print(f"  {long:4} lines  " + "  ".join(f"{path}:{numbers[path][at]}" for path, at in places))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
