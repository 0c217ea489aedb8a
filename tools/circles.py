"""Checks that the modules of a crate have no circular dependencies, for the crates in the block `no-circles` of ARCHITECTURE.md.

A module is a file. It depends on the modules that its code names by `crate::…` or `super::…`, in `use` or in a path; tests are left out. The root of a
crate does not count as a module, since it names all of them.

Usage: circles.py. One line a circle, naming its modules; exit code 1 if there is any. No network.
"""

import re
import sys
from pathlib import Path

from edges import block
from rust_source import code_only, without_tests

ROOT = Path(__file__).resolve().parent.parent

_USE = re.compile(r"\buse\s+((?:crate|super)\b[^;]*);")
_PATH = re.compile(r"\b(?:crate|super)(?:::\w+)+")


def leaves(tree):
    """Returns the paths in a tree of `use`: `a::{b, c::d as e}` has `a::b` and `a::c::d`."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        return [re.sub(r"\s+as\s+\w+$", "", tree)]
    depth, start, parts = 0, 0, []
    inner = rest.rsplit("}", 1)[0]
    for at, letter in enumerate(inner):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(inner[start:at])
            start = at + 1
    parts.append(inner[start:])
    return [head.strip() + leaf for part in parts if part.strip() for leaf in leaves(part)]


def resolved(path, here, modules):
    """Returns the module to which a path in the module `here` refers, or None."""
    words = re.sub(r"\s+", "", path).split("::")
    at = here.split("::")
    if words[0] == "crate":
        at, words = [], words[1:]
    while words and words[0] == "super":
        at, words = at[:-1], words[1:]
    words = at + words
    return next(("::".join(words[:n]) for n in range(len(words), 0, -1) if "::".join(words[:n]) in modules), None)


def depends(sources):
    """Returns the dependencies of each module. `sources` has the text of each module by its path, such as `plan::method`."""
    found = {}
    for here, text in sources.items():
        code = without_tests(code_only(text))
        paths = [leaf for use in _USE.finditer(code) for leaf in leaves(use.group(1))] + _PATH.findall(code)
        found[here] = {there for path in paths if (there := resolved(path, here, sources)) not in (None, here)}
    return found


def circles(edges):
    """Returns the sets of modules that all depend on each other, each sorted."""
    def reached(start):
        seen, left = set(), [start]
        while left:
            for there in edges[left.pop()] - seen:
                seen.add(there)
                left.append(there)
        return seen

    reach = {module: reached(module) for module in edges}
    sets = {tuple(sorted(there for there in reach[here] if here in reach[there])) for here in edges if here in reach[here]}
    return sorted(sets)


def sources_of(folder):
    """Returns the modules in a crate's `src`."""
    files = {file.relative_to(folder).with_suffix(""): file for file in folder.rglob("*.rs")}
    named = {"::".join(path.parts): file for path, file in files.items() if path.as_posix() not in ("main", "lib")}
    return {name: file.read_text(encoding="utf-8") for name, file in named.items()}


def main():
    listed = block((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), "no-circles")
    if not listed:
        print("ARCHITECTURE.md: expected a block `no-circles` with names of crates, found none")
        return 1
    faults = []
    for crate in " ".join(listed).split():
        sources = sources_of(ROOT / "crates" / crate / "src")
        if not sources:
            faults.append(f"ARCHITECTURE.md: no-circles lists {crate}, which has no modules")
        faults += [f"crates/{crate}: these depend on each other in a circle: {', '.join(circle)}" for circle in circles(depends(sources))]
    print("\n".join(faults) or "circles: modules depend on each other in one direction")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
