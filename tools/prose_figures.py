"""Compares figures of our prose with those of four projects that people find easy to read, and names the figures outside their range.

Usage: prose_figures.py                             figures of our groups of files
       prose_figures.py NAME=REPOSITORY... [--write]  ours beside theirs

NAME is one of PEERS below, REPOSITORY a clone of it, bare or with its files; the tool reads HEAD. `--write` writes docs/lab/prose.md.
The exit code is 1 if one of our figures is outside their range. The tool is not a gate, since gates have no clones.
"""

import re
import subprocess
import sys
from pathlib import Path

import prose

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/lab/prose.md"

#: The kinds of text, with our groups (tools/prose.py) and patterns of the peers' files.
OURS = {"pages for users": ["front", "guide"], "changelog": ["changelog"], "documentation in code": ["python", "rust"]}
PEERS = {
    "ripgrep": {
        "pages for users": r"(README|GUIDE|FAQ|CONTRIBUTING)\.md$|crates/\w+/README\.md$",
        "changelog": r"CHANGELOG\.md$",
        "documentation in code": r"crates/\w+/src/.*\.rs$",
    },
    "Tokio": {
        "pages for users": r"(README|CONTRIBUTING)\.md$|examples/README\.md$|docs/contributing/.*\.md$",
        "changelog": r"tokio(-\w+)?/CHANGELOG\.md$",
        "documentation in code": r"tokio(-\w+)?/src/.*\.rs$",
    },
    "HDBSCAN": {
        "pages for users": r"README\.rst$|docs/.*\.rst$",
        "documentation in code": r"hdbscan/(?!tests/).*\.py$",
    },
    "uv": {
        "pages for users": r"(README|CONTRIBUTING)\.md$|docs/(?!reference/internals/).*\.md$",
        "changelog": r"CHANGELOG\.md$",
        "documentation in code": r"crates/[\w-]+/src/.*\.rs$",
    },
}
#: The figures: heading and format. The first three are per 1,000 words.
FIGURES = {"connectives": "{:.1f}", "you": "{:.1f}", "what": "{:.1f}", "words a sentence": "{:.1f}", f"over {prose.LONGEST} words": "{:.1%}"}
#: For these figures, more is better; for all others, less.
MORE = {"connectives", "you"}
COUNTED = {
    "connectives": r"\b(because|for example|such as|for instance|so that|however|therefore|if you)\b",
    "you": r"\b(you|your|yours)\b",
    "what": r"\bwhat\b",
}


def restructured(text):
    """Yields the paragraphs, list items and definitions of reStructuredText, without directives and literal blocks."""
    lines, literal, indent = [], None, 0
    for number, line in enumerate(text.split("\n"), start=1):
        indent = len(line) - len(line.lstrip())
        if literal is not None and (not line.strip() or indent > literal):
            lines.append((number, ""))
            continue
        literal = None
        if re.match(r"\s*\.\. ", line):
            literal, line = indent, ""
        elif line.rstrip().endswith("::"):
            literal, line = indent, line.rstrip()[:-1]
        if re.fullmatch(r"\s*([=\-~^*#\"+])\1{2,}\s*", line):
            # The line above is a heading.
            lines[-1:] = [(number, "")]
            line = ""
        line = re.sub(r":\w+:(?=`)", "", line.strip()).replace("``", "`")
        lines.append((number, re.sub(r"`([^`<]+) <[^`>]+>`_+", r"\1", line)))
    return prose.blocks(lines)


READERS = prose.READERS | {".rst": restructured}


def figures(texts):
    """Returns (words, figures in the order of FIGURES) of texts given as (suffix, text); None if there are no texts."""
    found = []
    for suffix, text in texts:
        try:
            found += [sentence for _, block in READERS[suffix](text) for sentence in prose.sentences(block) if len(prose.words(sentence)) > 2]
        except SyntaxError:
            continue  # Python of another version.
    total = sum(len(prose.words(sentence)) for sentence in found)
    if not total:
        return None
    rates = [1000 * sum(len(re.findall(pattern, sentence, re.IGNORECASE)) for sentence in found) / total for pattern in COUNTED.values()]
    return total, [*rates, total / len(found), sum(len(prose.words(sentence)) > prose.LONGEST for sentence in found) / len(found)]


def git(repository, *arguments, **more):
    return subprocess.run(["git", "-C", str(repository), *arguments], capture_output=True, check=True, **more).stdout


def texts_of(repository, pattern):
    """Returns the files of HEAD whose paths match, as (suffix, text)."""
    listed = git(repository, "ls-tree", "-r", "--name-only", "-z", "HEAD").decode().split("\0")
    names = [name for name in listed if re.match(pattern, name) and Path(name).suffix in READERS]
    contents = git(repository, "cat-file", "--batch", input="".join(f"HEAD:{name}\n" for name in names).encode())
    texts = []
    for name in names:
        header, _, contents = contents.partition(b"\n")
        if header.endswith(b" missing"):
            continue
        size = int(header.split()[2])
        texts.append((Path(name).suffix, contents[:size].decode("utf-8", errors="replace")))
        contents = contents[size + 1:]
    return texts


def is_outside(heading, ours, theirs):
    """Returns whether our figure is worse than all of theirs."""
    return ours < min(theirs) if heading in MORE else ours > max(theirs)


def page(measured, commits):
    """Returns the page; `measured` maps kinds to names to (words, figures), with Lehr first."""
    lines = [
        "# Prose beside that of four projects",
        "",
        "Generated by `tools/prose_figures.py --write`; do not edit. [Prose, measured](../design/prose.md) says what is counted and why.",
        "",
        "- **connectives**, **you**, **what**: per 1,000 words. Code, headings and examples don't count.",
        "- **connectives** are *because*, *for example*, *for instance*, *such as*, *so that*, *however*, *therefore* and *if you*.",
        "- A figure of ours is inside if at least one of the four has a worse one.",
        "",
        "Read: " + ", ".join(f"{name} `{commit}`" for name, commit in commits.items()) + ".",
        "",
    ]
    outside = []
    for kind, rows in measured.items():
        lines += [f"## {kind.capitalize()}", "", *table(rows)]
        (_, ours), *theirs = rows.values()
        outside += [
            f"{heading} of {kind}" for heading, value, *others in zip(FIGURES, ours, *(values for _, values in theirs)) if is_outside(heading, value, others)
        ]
        lines.append("")
    lines.append("Outside theirs: " + (", ".join(outside) if outside else "none") + ".")
    return "\n".join(lines) + "\n", outside


def texts_here(groups):
    """Returns our files of these groups, as (suffix, text)."""
    return [(Path(name).suffix, (ROOT / name).read_text(encoding="utf-8")) for name, group in prose.files(ROOT) if group in groups]


def table(rows):
    """Yields the rows of Markdown for names and (words, figures)."""
    yield from ["| | words | " + " | ".join(FIGURES) + " |", "| --- |" + " ---: |" * (len(FIGURES) + 1)]
    for name, (total, values) in rows.items():
        yield f"| {name} | {total:,} | " + " | ".join(form.format(value) for form, value in zip(FIGURES.values(), values)) + " |"


def main(arguments):
    if not arguments:
        groups = {group: figures(texts_here([group])) for group, _ in prose.GROUPS}
        print("\n".join(table({group: found for group, found in groups.items() if found})))
        return 0
    repositories = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    if set(repositories) != set(PEERS):
        print(f"prose_figures: expected NAME=REPOSITORY for each of {', '.join(PEERS)}", file=sys.stderr)
        return 2
    commits = {name: git(repositories[name], "rev-parse", "--short=9", "HEAD").decode().strip() for name in PEERS}
    measured = {}
    for kind in OURS:
        rows = {"Lehr": figures(texts_here(OURS[kind]))}
        rows |= {name: figures(texts_of(repositories[name], kinds[kind])) for name, kinds in PEERS.items() if kind in kinds}
        measured[kind] = {name: found for name, found in rows.items() if found}
    text, outside = page(measured, commits)
    if "--write" in arguments:
        (ROOT / PAGE).write_text(text, encoding="utf-8")
    print(text, end="")
    return 1 if outside else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
