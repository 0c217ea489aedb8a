"""Reports which tools of a target are missing, before a build fails for a less obvious reason.

Usage: need.py NAME...   with names from NEEDS below. Exit code 1 and one line for each missing tool.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# name: (a command that shows that the tool exists, instructions for installing it)
NEEDS = {
    "cargo": (["cargo", "--version"], "install Rust from https://rustup.rs"),
    "rustfmt": (["cargo", "fmt", "--version"], "rustup component add rustfmt"),
    "clippy": (["cargo", "clippy", "--version"], "rustup component add clippy"),
    "cc": (["cc", "--version"], "install a C compiler (gcc or clang) that answers to cc"),
}


def parse_version(text):
    """Returns the first dotted number in `text` as a tuple: 'cargo 1.95.0 (…)' gives (1, 95, 0)."""
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", text)
    return tuple(int(part or 0) for part in found.groups()) if found else None


def required_rust(manifest):
    """Returns the workspace's `rust-version` as a tuple."""
    found = re.search(r'^rust-version\s*=\s*"([^"]+)"', manifest, re.MULTILINE)
    return parse_version(found.group(1)) if found else None


def probe(command):
    """Returns the output of `command`, or None if it is missing or fails."""
    if shutil.which(command[0]) is None:
        return None
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    return result.stdout if result.returncode == 0 else None


def missing(names):
    """Returns one sentence for each of `names` that this machine lacks."""
    problems = []
    for name in names:
        command, remedy = NEEDS[name]
        answer = probe(command)
        if answer is None:
            problems.append(f"{name} is needed and `{' '.join(command)}` does not work here: {remedy}")
        elif name == "cargo":
            wanted = required_rust((ROOT / "Cargo.toml").read_text(encoding="utf-8"))
            found = parse_version(answer)
            if wanted and found and found < wanted:
                text = ".".join(map(str, wanted))
                problems.append(f"Rust {text} or newer is needed, here is {answer.strip()}: rustup update")
    return problems


def main(arguments):
    problems = missing(arguments)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
