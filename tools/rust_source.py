"""Blanks comments and literals in Rust source, so that a search finds only code.

Line numbers and columns do not change, because every blanked character becomes a space. This is not a parser; it knows comments (nested), strings
(escaped, raw, byte, C), and the difference between a character literal and a lifetime.
"""

import re

_RAW = re.compile(r'(?:br|cr|r)(#*)"')
_CHAR = re.compile(r"b?'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^\\'\n])'")


def code_only(text):
    """Returns `text` with every comment, string and character literal replaced by spaces (line ends kept)."""
    return _blanked(text, ("",))


def without_comments(text):
    """Returns `text` with every comment replaced by spaces (line ends kept)."""
    return _blanked(text, ("//", "/*"))


def _blanked(text, starts):
    """Returns `text` with the comments and literals that begin with one of `starts` replaced by spaces."""
    out = []
    at = 0
    while at < len(text):
        end = _literal_end(text, at)
        if end is None:
            out.append(text[at])
            at += 1
        else:
            found = text[at:end]
            out.append(_spaces(found) if found.startswith(starts) else found)
            at = end
    return "".join(out)


def _spaces(text):
    return "".join(c if c == "\n" else " " for c in text)


def _literal_end(text, at):
    """Returns the end of the comment or literal that starts at `at`, or None if none starts there."""
    if text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        return _block_comment_end(text, at)
    word_before = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
    if not word_before:
        raw = _RAW.match(text, at)
        if raw:
            close = '"' + raw.group(1)
            end = text.find(close, raw.end())
            return len(text) if end < 0 else end + len(close)
        character = _CHAR.match(text, at)
        if character:
            return character.end()
    if text[at] == '"':
        return _string_end(text, at + 1)
    return None


def _block_comment_end(text, at):
    depth = 0
    while at < len(text):
        if text.startswith("/*", at):
            depth += 1
            at += 2
        elif text.startswith("*/", at):
            depth -= 1
            at += 2
            if depth == 0:
                return at
        else:
            at += 1
    return at


def _string_end(text, at):
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


_TEST_MODULE = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{")


def without_tests(code, of=None):
    """Returns `code` (from `code_only`) with inline test modules blanked, line numbers kept; or `of`, the text from which `code` was made, blanked in the same way."""
    out, at = [], 0
    of = code if of is None else of
    while found := _TEST_MODULE.search(code, at):
        depth, end = 1, found.end()
        while end < len(code) and depth:
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        out += [of[at:found.start()], _spaces(of[found.start():end])]
        at = end
    return "".join(out) + of[at:]


_TEST_FILE = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")


def test_files(code):
    """Returns the names of the modules in `code` (from `code_only`) that are compiled only for tests and have their own files."""
    return _TEST_FILE.findall(code)
