"""Checks that the targets of the project's pages exist: relative links, and paths of the repository in backquotes.

Usage: links.py [FOLDER]   One line a fault: `page, line N: …`. Links to other sites are not followed (gates need no network).
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# A path of the repository in a page: `crates/ranks/src/engine.rs`, optionally followed by ::item or :line.
PATH = re.compile(r"`((?:crates|docs|lab|tools|datasets|\.ci)/[\w./-]*\w)(?:::?[\w:]+)?`")


def pages(folder):
    """Returns every Markdown page that git tracks or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=folder, capture_output=True, text=True, check=True,
    ).stdout.split("\n")
    return [folder / name for name in listed if name and (folder / name).is_file()]


def faults(folder, page):
    """Returns (line number, message) for each dead link or path of `page`."""
    found = []
    fenced = False
    for number, line in enumerate(page.read_text(encoding="utf-8").split("\n"), start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target) or target.startswith("#"):
                continue
            if not (page.parent / target.split("#")[0]).exists():
                found.append((number, f"the link {target} leads nowhere"))
        if "planned" in line or "not yet" in line:
            continue
        for path in PATH.findall(line):
            # A part in capitals is a placeholder for a name that the reader chooses.
            if not (folder / path).exists() and not re.search(r"\b[A-Z]{4,}\b", path):
                found.append((number, f"the path {path} does not exist (write \"planned\" on the line if it is to come)"))
    return found


def main(arguments):
    folder = Path(arguments[0]).resolve() if arguments else ROOT
    total = 0
    for page in pages(folder):
        for number, message in faults(folder, page):
            print(f"{page.relative_to(folder)}, line {number}: {message}")
            total += 1
    print(f"links: {total} faults" if total else "links: pages point at what exists")
    return 1 if total else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
