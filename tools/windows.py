"""Does Lehr run under Windows, with the same bytes as here?

Builds the command for 64-bit Windows, and checks that it and its tests compile for macOS too. Runs a part of the table of
same_output.py under Wine: every method with its own options. Compares every byte of the output with the output of this
machine's build, except times, versions, and the separators in paths that the command prints.

Usage:
  windows.py                        all of it
  windows.py --only TEXT            only the runs with TEXT in their names, and nothing for macOS

It needs a C compiler for Windows and Wine (on Debian: apt-get install gcc-mingw-w64-x86-64 wine64), and rustup for the
standard libraries, which it downloads the first time. All that it builds stays under target/. Exit code 1 if anything
differs or fails.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import arm
import same_output

ROOT = same_output.ROOT
TARGET = "x86_64-pc-windows-gnu"
MACOS = "aarch64-apple-darwin"
COMPILER = "x86_64-w64-mingw32-gcc"
# Where Debian puts the program that runs 64-bit Windows programs.
WINES = ("wine64", "/usr/lib/wine/wine64", "wine")
# Windows has no files without a name, so the command refuses --spill there.
REFUSED = ("annealing: spilled rows", "k-means: few sweeps, spilled rows")
# Rust's standard library takes its first random numbers from a library that older versions of Wine lack.
RANDOM_NAME = "bcryptprimitives.dll"
RANDOM_CODE = """#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return RtlGenRandom(data, (ULONG)size); }
"""
# Stands for a C compiler and an archiver: the file that each should write is empty. Nothing that is only checked is linked.
NO_COMPILER = """#!/bin/sh
for word in "$@"; do
    [ "$before" = -o ] && : > "$word"
    case "$word" in *.a) : > "$word";; esac
    before=$word
done
exit 0
"""
# A separator inside a path.
SEPARATOR = re.compile(rb"(?<=[\w.])\\(?=[\w.])")


def wine():
    """Returns the path of Wine, or None."""
    return next((found for name in WINES if (found := shutil.which(name))), None)


def missing(targets):
    """Returns one sentence for each missing tool."""
    told = []
    if shutil.which(COMPILER) is None:
        told.append(f"{COMPILER} is needed: apt-get install gcc-mingw-w64-x86-64, or what it is called on this system")
    if wine() is None:
        told.append("Wine is needed: apt-get install wine64, or what it is called on this system")
    return told + arm.missing_libraries(targets)


def check_macos(report, scratch):
    """Compiles the workspace with its tests for macOS, without linking. The few lines of C in it are not compiled, for lack of Apple's headers."""
    stub = Path(scratch) / "no-compiler"
    stub.write_text(NO_COMPILER, encoding="utf-8")
    stub.chmod(0o755)
    name = MACOS.replace("-", "_")
    variables = {**os.environ, f"CC_{name}": str(stub), f"AR_{name}": str(stub), "PYO3_CROSS_PYTHON_VERSION": "3.10"}
    began = time.monotonic()
    words = ["cargo", "check", "--quiet", "--release", "--target", MACOS, "--workspace", "--lib", "--bins", "--tests"]
    done = subprocess.run(words, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    is_well = done.returncode == 0
    report.tell("workspace and tests for macOS", "compile" if is_well else "FAILED", f"{time.monotonic() - began:.0f} s", is_well, [] if is_well else done.stdout.splitlines()[-40:])


def emulated(binary, scratch):
    """Writes a script that runs a Windows program on this machine, and returns its path."""
    code = Path(scratch) / "random.c"
    code.write_text(RANDOM_CODE, encoding="utf-8")
    subprocess.run([COMPILER, "-shared", "-o", binary.parent / RANDOM_NAME, code, "-ladvapi32"], check=True)
    script = Path(scratch) / "lehr-windows"
    prefix = arm.folder() / "wine"
    script.write_text(f'#!/bin/sh\nexport WINEPREFIX={prefix} WINEDEBUG=-all\nexec {wine()} {binary} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    # The first start creates the folder of Wine's settings, which takes some seconds.
    subprocess.run([script, "--version"], check=True, capture_output=True)
    return script


def as_here(outcome):
    """Returns an outcome with the separators of this system in printed paths."""
    contents = {
        name: SEPARATOR.sub(b"/", content) if name.startswith(("stdout", "stderr")) else content
        for name, content in outcome.contents.items()
    }
    return replace(outcome, contents=contents)


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", default="", metavar="TEXT", help="only the runs whose names contain this, and nothing for macOS")
    part = parser.parse_args(words).only
    began = time.monotonic()
    told = missing([TARGET] if part else [TARGET, MACOS])
    if told:
        raise SystemExit("\n".join(f"windows: {line}" for line in told))
    report = arm.Report()
    table = same_output.read_table(same_output.TABLE.read_text(encoding="utf-8"))
    runs = [run for run in arm.chosen(table, part) if run.name not in REFUSED]
    with tempfile.TemporaryDirectory() as scratch:
        arm.build(TARGET, os.environ, report)
        if not part:
            check_macos(report, scratch)
        binary = emulated(arm.folder() / TARGET / "release" / "lehr.exe", scratch)
        arm.against(same_output.Session(scratch), arm.folder() / "release" / "lehr", binary, runs, report, as_here)
    print(f"windows: {'all is well' if report.is_well else 'FAILED'} after {time.monotonic() - began:.0f} s")
    return 0 if report.is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
