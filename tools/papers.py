"""Checks that docs/papers.md has a row for every numbered place of the five papers, with a file, and a test for each table and figure. Every file and test in a row
must exist.

Usage: papers.py. Prints one line for each fault; exit code 1 if there is any.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def romans(count):
    return ["I", "II", "III", "IV", "V", "VI", "VII", "VIII"][:count]


def numbers(count):
    return [str(number) for number in range(1, count + 1)]


# The numbers of sections, tables, figures, equations and code samples in the papers, collected by reading them.
PLACES = {
    "000": {"Sec.": romans(8), "Table": romans(3), "Fig.": numbers(8), "Eq.": numbers(2), "Code": numbers(1)},
    "001": {"Sec.": numbers(5), "Table": numbers(4), "Fig.": numbers(15)},
    "002": {"Sec.": [*numbers(5), "5.1", "5.2", "6"], "Table": numbers(2), "Fig.": numbers(5), "Eq.": ["(unnumbered)"]},
    "003": {
        "Sec.": [*numbers(3), "3.1", "3.2", "3.3", "4", "4.1", "4.2", "4.3", "5", "5.1", "5.2", "6"],
        "Fig.": numbers(20),
        "Eq.": numbers(7),
    },
    "004": {"Sec.": numbers(8), "Table": numbers(2), "Fig.": numbers(5), "Eq.": numbers(3)},
}

NAMED = re.compile(r"`([\w./-]+\.(?:rs|py|md|toml|json|c|h)|(?:crates|lab|docs|datasets|tools)/[\w./-]+)(?:::([\w:]+))?`")


def rows(page):
    """Yields (paper, line number, cells) for each table row of the page."""
    paper = None
    for number, line in enumerate(page.split("\n"), start=1):
        heading = re.match(r"## (\d{3}) ", line)
        if heading:
            paper = heading.group(1)
        if paper and line.startswith("| ") and not line.startswith(("| place", "| ---")):
            yield paper, number, [cell.strip() for cell in line.strip().strip("|").split("|")]


def place_faults(found):
    """Returns places without a row, and rows for places that the papers do not number. `found` is a list of (paper, place)."""
    wanted = [(paper, f"{kind} {label}") for paper, kinds in PLACES.items() for kind, labels in kinds.items() for label in labels]
    faults = [f"docs/papers.md: paper {paper} has no row for {place}" for paper, place in wanted if (paper, place) not in found]
    faults += [f"docs/papers.md: paper {paper} numbers no {place}" for paper, place in found if (paper, place) not in wanted]
    faults += [f"docs/papers.md: paper {paper}, {place}: more than one row" for paper, place in sorted({p for p in found if found.count(p) > 1})]
    return faults


def name_faults(root, number, cells):
    """Returns the missing files and tests of one row; also rows that name no file, and tables and figures without a test."""
    faults = []
    if len(cells) != 5:
        return [f"docs/papers.md, line {number}: expected 5 cells, found {len(cells)}"]
    if "@" in "".join(cells):
        faults.append(f"docs/papers.md, line {number}: a placeholder was left")
    if not cells[2]:
        faults.append(f"docs/papers.md, line {number}: names no file")
    if re.search("not (yet|taken)", cells[2]):
        faults.append(f"docs/papers.md, line {number}: {cells[0]} has no code")
    if cells[0].startswith(("Table", "Fig.")) and not cells[3]:
        faults.append(f"docs/papers.md, line {number}: {cells[0]} has no test")
    for path, item in NAMED.findall(" ".join(cells[2:])):
        file = root / path
        if not file.exists():
            faults.append(f"docs/papers.md, line {number}: {path} does not exist")
        elif item and file.is_file():
            name = item.split("::")[-1]
            if not re.search(rf"\b{re.escape(name)}\b", file.read_text(encoding="utf-8")):
                faults.append(f"docs/papers.md, line {number}: {path} has no {name}")
    return faults


def main():
    found, faults = [], []
    for paper, number, cells in rows((ROOT / "docs/papers.md").read_text(encoding="utf-8")):
        found.append((paper, cells[0]))
        faults += name_faults(ROOT, number, cells)
    faults += place_faults(found)
    for fault in faults:
        print(fault)
    if not faults:
        print(f"papers: {len(found)} places with code, each table and figure with a test")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
