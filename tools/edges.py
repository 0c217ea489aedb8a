"""Checks the dependencies of the workspace against the lists in ARCHITECTURE.md.

- `edges` block: which crate may depend on which (from `cargo metadata`, every kind of dependency).
- `doors` block: the files that may contain `unsafe`, atomics, clocks, threads, the environment and printing.
- `forbids-unsafe` block: crates whose root carries `#![forbid(unsafe_code)]`.
- No tracked file names a path of the machine it was written on; ARCHITECTURE.md links every page of docs/design.

Usage: edges.py. One line a fault, naming file and line; exit code 1 if there is any. No network.
"""

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

from rust_source import code_only, without_tests

ROOT = Path(__file__).resolve().parent.parent

# The pattern in code for each entry of the `doors` block.
DOORS = {
    "unsafe": re.compile(r"\bunsafe\b"),
    "std-sync": re.compile(r"\bstd::sync::(?:atomic\b|Mutex\b|RwLock\b|Condvar\b|\{[^}]*\b(?:atomic|Mutex|RwLock|Condvar)\b)"),
    "orderings": re.compile(r"\bOrdering::(?:Relaxed|Acquire|Release|AcqRel|SeqCst)\b"),
    "clock": re.compile(r"\b(?:Instant|SystemTime)::now\b"),
    # This is the path of the standard library's module; threads of `lehr-sync` are allowed everywhere.
    "threads": re.compile(r"\bstd::thread\b(?!::(?:available_parallelism|panicking|Result)\b)"),
    "environment": re.compile(r"\benv::(?:vars?|var_os)\b"),
    "printing": re.compile(r"\b(?:e?print(?:ln)?|dbg)!|\bio::std(?:out|err)\b|\bstd(?:out|err)\(\)"),
}

# An absolute path into a home folder or a checkout. No word, dot or slash precedes it, so links to sites do not match.
MACHINE_PATH = re.compile(r"(?<![\w.\-/~])(?:/(?:home|Users|root|work|mnt|media)/[\w.]|[A-Z]:\\Users\\)")


def block(page, name):
    """Returns the lines of the fenced block ```name in `page`, without comments and empty lines; None if there is no such block."""
    found = re.search(rf"^```{re.escape(name)}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    if not found:
        return None
    lines = (line.split("#")[0].strip() for line in found.group(1).split("\n"))
    return [line for line in lines if line]


def parse_edges(lines):
    """Parses lines `a -> b c` as {a: {b, c}}; `a -> .` allows no dependency."""
    allowed = {}
    for line in lines:
        name, arrow, targets = line.partition("->")
        if not arrow:
            raise ValueError(f"edges: expected `crate -> crate …`, found `{line}`")
        allowed[name.strip()] = {target for target in targets.split() if target != "."}
    return allowed


def parse_doors(lines):
    """Parses lines `door: pattern pattern` as {door: [patterns]}."""
    doors = {}
    for line in lines:
        name, colon, patterns = line.partition(":")
        if not colon or name.strip() not in DOORS:
            raise ValueError(f"doors: expected `DOOR: file …` with DOOR one of {', '.join(DOORS)}, found `{line}`")
        doors.setdefault(name.strip(), []).extend(patterns.split())
    return doors


def room(directory):
    """Returns the name of a crate in the lists: its folder below the root, without `crates/`."""
    return directory.removeprefix("crates/")


def edge_faults(metadata, allowed):
    """Returns the faults in the dependencies between the workspace's own crates."""
    root = Path(metadata["workspace_root"])
    folders = {
        package["name"]: room(Path(package["manifest_path"]).parent.relative_to(root).as_posix())
        for package in metadata["packages"]
    }
    faults = []
    for package in metadata["packages"]:
        here = folders[package["name"]]
        manifest = Path(package["manifest_path"])
        where = manifest.relative_to(root).as_posix()
        if here not in allowed:
            faults.append(f"{where}: `{here}` has no line in the edges block of ARCHITECTURE.md")
            continue
        for dependency in package["dependencies"]:
            there = folders.get(dependency["name"])
            if there is not None and there != here and there not in allowed[here]:
                line = line_of(manifest, dependency["name"])
                faults.append(f"{where}, line {line}: `{here}` may not depend on `{there}` (edges block of ARCHITECTURE.md)")
    return faults


def line_of(manifest, name):
    """Returns the number of the line of `manifest` that starts with `name`, or 1."""
    for number, line in enumerate(manifest.read_text(encoding="utf-8").split("\n"), start=1):
        if re.match(rf"{re.escape(name)}\b", line.strip()):
            return number
    return 1


def door_faults(path, text, doors):
    """Returns the faults of one source file: code that only other files may have. `path` is relative to the root."""
    code = without_tests(code_only(text))
    faults = []
    for name, pattern in DOORS.items():
        if any(fnmatch(path, allowed) for allowed in doors.get(name, [])):
            continue
        for found in pattern.finditer(code):
            line = code.count("\n", 0, found.start()) + 1
            what = found.group(0).split("{")[0].strip()
            faults.append(f"{path}, line {line}: `{what}` stands outside its door `{name}` (doors block of ARCHITECTURE.md)")
    return faults


def stale_doors(doors, sources):
    """Returns the patterns of the `doors` block that match no code, so that the list stays true. `sources` maps path to text."""
    codes = {path: without_tests(code_only(text)) for path, text in sources.items()}
    faults = []
    for name, patterns in doors.items():
        for pattern in patterns:
            found = [path for path in codes if fnmatch(path, pattern)]
            if not any(DOORS[name].search(codes[path]) for path in found):
                reason = "where there is none" if found else "which matches no source file"
                faults.append(f"ARCHITECTURE.md: door `{name}` lists {pattern}, {reason}")
    return faults


def forbid_faults(root, crates):
    """Returns the crates that must forbid unsafe code and do not."""
    faults = []
    for name in crates:
        folder = root / "crates" / name if (root / "crates" / name).is_dir() else root / name
        roots = [folder / "src" / file for file in ("lib.rs", "main.rs") if (folder / "src" / file).is_file()]
        if not roots:
            faults.append(f"ARCHITECTURE.md: forbids-unsafe lists {name}, which has no src/lib.rs or src/main.rs")
        for file in roots:
            if not re.search(r"#!\[forbid\([^)]*\bunsafe_code\b", code_only(file.read_text(encoding="utf-8"))):
                faults.append(f"{file.relative_to(root).as_posix()}, line 1: lacks #![forbid(unsafe_code)]")
    return faults


def machine_path_faults(path, text):
    """Returns the lines of a file that name a path of some machine."""
    return [
        f"{path}, line {number}: names a path of a machine: {found.group(0)}…"
        for number, line in enumerate(text.split("\n"), start=1)
        for found in [MACHINE_PATH.search(line)]
        if found
    ]


def unlinked_pages(architecture, pages):
    """Returns the design pages (relative to the root) that ARCHITECTURE.md does not link."""
    return [f"{page}: not linked from ARCHITECTURE.md" for page in pages if f"({page})" not in architecture]


def known_files(root):
    """Returns every file that git tracks or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, capture_output=True, text=True, check=True,
    ).stdout
    return [name for name in listed.split("\0") if name and (root / name).is_file()]


def read_text(path):
    """Returns a file's text, or None if it is not UTF-8 text."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def check(root):
    """Returns every fault of the checkout at `root`."""
    architecture = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    blocks = {name: block(architecture, name) for name in ("edges", "doors", "forbids-unsafe")}
    absent = [f"ARCHITECTURE.md: has no ```{name} block" for name, lines in blocks.items() if lines is None]
    if absent:
        return absent
    metadata = json.loads(
        subprocess.run(
            ["cargo", "metadata", "--format-version", "1", "--no-deps"], cwd=root, capture_output=True, text=True, check=True
        ).stdout
    )
    faults = edge_faults(metadata, parse_edges(blocks["edges"]))
    doors = parse_doors(blocks["doors"])
    files = known_files(root)
    sources = {
        name: (root / name).read_text(encoding="utf-8")
        for name in files
        if re.match(r"(?:crates/[^/]+|lab/harness)/src/.*\.rs$", name)
    }
    for name, text in sources.items():
        faults += door_faults(name, text, doors)
    faults += stale_doors(doors, sources)
    faults += forbid_faults(root, [name for line in blocks["forbids-unsafe"] for name in line.split()])
    for name in files:
        text = read_text(root / name)
        if text is not None:
            faults += machine_path_faults(name, text)
    faults += unlinked_pages(architecture, [name for name in files if re.match(r"docs/design/.*\.md$", name)])
    return faults


def main():
    faults = check(ROOT)
    for fault in faults:
        print(fault)
    print(f"edges: {len(faults)} faults" if faults else "edges: every crate uses only its declared dependencies and modules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
