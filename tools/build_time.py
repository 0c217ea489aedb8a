"""Builds the command from nothing, in a target folder of its own, and says what that costs.

Usage: build_time.py [PACKAGE]   (lehr by default). Prints processor time (user and system, of all compilers), wall time, and the crates by the seconds that their
compilers ran. Those seconds are wall time of each compiler: they add up to more than the wall time, as several run at once.
"""

import json
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


def units(page):
    """The compilers' runs in a page of `cargo --timings`: (seconds, crate), the longest first."""
    found = re.search(r"const UNIT_DATA = (\[.*?\]);\n", page, re.DOTALL)
    if found is None:
        raise ValueError("the page of cargo --timings has no UNIT_DATA")
    seconds = {}
    for unit in json.loads(found.group(1)):
        name = unit["name"] + (" (build script)" if unit["target"].strip().startswith("build-script") else "")
        seconds[name] = seconds.get(name, 0.0) + unit["duration"]
    return sorted(((took, name) for name, took in seconds.items()), reverse=True)


def table(runs, processor, wall):
    """The lines that are printed."""
    lines = [f"{processor / 60:.1f} minutes of processor time, {wall / 60:.1f} of wall time"]
    lines += [f"  {took:7.1f} s  {name}" for took, name in runs[:SHOWN]]
    rest = runs[SHOWN:]
    if rest:
        lines.append(f"  {sum(took for took, _ in rest):7.1f} s  {len(rest)} more crates")
    return lines


def main(arguments):
    package = arguments[0] if arguments else "lehr"
    shutil.rmtree(FOLDER, ignore_errors=True)
    environment = {**os.environ, "CARGO_TARGET_DIR": str(FOLDER)}
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    built = subprocess.run(["cargo", "build", "--release", "--timings", "-p", package], cwd=ROOT, env=environment)
    wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if built.returncode != 0:
        return built.returncode
    processor = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    page = (FOLDER / "cargo-timings" / "cargo-timing.html").read_text()
    print("\n".join(table(units(page), processor, wall)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
