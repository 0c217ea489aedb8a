"""Builds the command from scratch in a separate target folder, and prints the processor time and the wall time.

Usage: build_time.py [PACKAGE]   (lehr by default). Prints processor time (user and system, of all compilers), wall time, and the crates by the processor time of
their compilers. Processor time does not depend on other programs; wall time does.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "target" / "build-time"
SHOWN = 25
# The script that cargo runs in place of the compiler. It runs the compiler, and writes its cost to a file. `times` prints two lines; the second is for the shell's children.
WRAPPER = """#!/bin/sh
"$@"
status=$?
case " $* " in
*" --crate-name build_script_"*) name="$CARGO_PKG_NAME (build script)" ;;
*" --crate-name ___ "* | *" -vV "*) exit $status ;;
*) name=$CARGO_PKG_NAME ;;
esac
{ echo "$name"; times; } > "$COMPILERS/$$"
exit $status
"""
SPENT = re.compile(r"(\d+)m([\d.]+)s")


def compilers(texts):
    """Returns the costs of the compilers as the wrapper recorded them: (seconds, crate), the slowest first."""
    seconds = {}
    for text in texts:
        lines = text.splitlines()
        found = SPENT.findall(lines[-1]) if len(lines) == 3 else []
        if len(found) != 2:
            raise ValueError(f"no time of a compiler: {text!r}")
        seconds[lines[0]] = seconds.get(lines[0], 0.0) + sum(60 * int(minutes) + float(rest) for minutes, rest in found)
    return sorted(((took, name) for name, took in seconds.items()), reverse=True)


def table(runs, processor, wall):
    """Returns the lines to print."""
    lines = [f"{processor / 60:.1f} minutes of processor time, {wall / 60:.1f} of wall time"]
    lines += [f"  {took:7.1f} s  {name}" for took, name in runs[:SHOWN]]
    rest = runs[SHOWN:]
    if rest:
        lines.append(f"  {sum(took for took, _ in rest):7.1f} s  {len(rest)} more crates")
    lines.append(f"  {processor - sum(took for took, _ in runs):7.1f} s  cargo, build scripts and what they compile")
    return lines


def main(arguments):
    package = arguments[0] if arguments else "lehr"
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    wrapper, spent = FOLDER / "compiler", FOLDER / "compilers"
    wrapper.write_text(WRAPPER)
    wrapper.chmod(0o755)
    spent.mkdir()
    environment = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER), "RUSTC_WRAPPER": str(wrapper), "COMPILERS": str(spent)}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    built = subprocess.run(["cargo", "build", "--release", "-p", package], cwd=ROOT, env=environment)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if built.returncode != 0:
        return built.returncode
    processor = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    print("\n".join(table(compilers(file.read_text() for file in spent.iterdir()), processor, wall)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
