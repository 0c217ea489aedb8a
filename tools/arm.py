"""Does Lehr run on 64-bit ARM processors, with the same bits as on x86-64?

Runs unit tests of the crates that compute, and a part of the table of same_output.py: every method with its own options.
Compares every byte of the output of these runs with the output of the x86-64 build, except times and versions.

Usage:
  arm.py                        on x86-64: builds for both, and runs the ARM programs under qemu
  arm.py record BINARY FILE     on any machine: writes the results of the runs of a built `lehr` to FILE
  arm.py compare BINARY FILE    on another machine: makes the runs with another `lehr`, and prints every difference from FILE
  --only TEXT                   runs no tests, and only the runs with TEXT in their names

Without a mode it needs qemu-aarch64 and a C compiler for aarch64 (on Debian: apt-get install qemu-user gcc-aarch64-linux-gnu), and rustup for
the standard library, which it downloads the first time. All that it builds stays under target/. Exit code 1 if anything differs or fails.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import same_output

ROOT = same_output.ROOT
TARGET = "aarch64-unknown-linux-gnu"
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
# The folder of Debian's cross compiler with the C library and the loader of ARM programs.
LIBRARIES = os.environ.get("LEHR_ARM_ROOT", "/usr/aarch64-linux-gnu")
# These crates compute, or order memory accesses, which other processors order less strictly.
TESTED = ("lehr-numerics", "lehr-distances", "lehr-mining", "lehr-runtime", "lehr-ranks")
# Tests that take more than five minutes under emulation; arm.yml runs them on real machines.
SLOW = {"lehr-ranks": ("every_fabric_does_what_the_oracle_says",)}
# The names of runs in same_output.json: each method, both precisions, all ways to store rows, all engines, the demonstrations.
RUNS = (
    "annealing: iris, number suggested, with progress",
    "annealing: wine, robust, ports, three threads",
    "annealing: breast cancer, map-reduce, three ranks",
    "annealing: digits, f32, layout",
    "annealing: outliers, f64 and f32",
    "annealing: spilled rows",
    "annealing: sparse rows",
    "annealing: fingerprints",
    "annealing: fingerprints by likelihood",
    "k-means: digits, f32, both sweeps",
    "k-means: few sweeps, spilled rows",
    "mixture: wine, tied, map-reduce",
    "mixture: breast cancer, diagonal, ports",
    "mixture: rows with gaps",
    "gtm: digits, few nodes, layout",
    "gtm: rows with gaps",
    "minibatch: standard input, half-life, f32",
    "distances: sequences, other alignments and corrections",
    "distances: aligned sequences",
    "distances: proteins",
    "distances: patients with gaps, number suggested",
    "distances: rows, other metrics and forms",
    "distances: fingerprints and places of others",
    "pairwise and embed: half a matrix with missing pairs",
    "embed: random starts, tolerance",
    "predict: k-means on the sphere",
    "predict: mixtures and maps, rows with gaps",
    "demo: census",
    "demo: genes",
    "demo: patients",
    "demo: chemistry",
    "demo: demography",
)
WIDTH = max(map(len, RUNS)) + 2


def chosen(table, part=""):
    """Returns the runs of RUNS, in that order, whose names contain `part`."""
    by_name = {run.name: run for run in table}
    lost = [name for name in RUNS if name not in by_name]
    if lost:
        raise SystemExit(f"arm: same_output.json has no run {lost[0]!r}")
    return [on_two_threads(run) for run in same_output.chosen([by_name[name] for name in RUNS], part)]


def on_two_threads(run):
    """Returns the run with a fixed number of threads, since a summary has this number, and machines have different numbers of cores."""
    def line(text):
        return text if text.startswith("predict ") or " --threads " in text else f"{text} --threads 2"

    return replace(run, commands=tuple(replace(command, line=line(command.line)) for command in run.commands))


def missing():
    """Returns one sentence for each missing tool."""
    told = [f"{tool} is needed: apt-get install {package}, or what it is called on this system" for tool, package in (
        (EMULATOR, "qemu-user"), (COMPILER, "gcc-aarch64-linux-gnu"),
    ) if shutil.which(tool) is None]
    if not told and not Path(LIBRARIES, "lib").is_dir():
        told = [f"{LIBRARIES} has no C library for aarch64: LEHR_ARM_ROOT=FOLDER names the folder that has lib/ld-linux-aarch64.so.1"]
    return told + [f"{one}, or Debian's libstd-rust-dev:arm64 of the same version" for one in missing_libraries([TARGET])]


def missing_libraries(targets):
    """Downloads Rust's standard library for targets that lack it; returns one sentence for each that is still missing."""
    told = []
    for target in targets:
        found = subprocess.run(["rustc", "--print", "target-libdir", "--target", target], capture_output=True, text=True, check=False)
        if Path(found.stdout.strip() or "absent").is_dir():
            continue
        added = subprocess.run(["rustup", "target", "add", target], check=False) if shutil.which("rustup") else None
        if added is None or added.returncode != 0:
            told.append(f"Rust's standard library for {target} is needed: rustup target add {target}")
    return told


def environment():
    """Returns the variables by which cargo links for ARM and runs the programs."""
    name = TARGET.upper().replace("-", "_")
    return {
        **os.environ,
        f"CARGO_TARGET_{name}_LINKER": COMPILER,
        f"CARGO_TARGET_{name}_RUNNER": f"{EMULATOR} -L {LIBRARIES}",
        f"CC_{TARGET.replace('-', '_')}": COMPILER,
    }


def folder():
    """Returns cargo's target folder."""
    return ROOT / os.environ.get("CARGO_TARGET_DIR", "target")


def emulated(binary, path):
    """Writes a script to `path` that runs a binary for ARM on this machine."""
    path.write_text(f'#!/bin/sh\nexec {shutil.which(EMULATOR)} -L {LIBRARIES} -0 lehr {binary} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return path


class Report:
    """Prints a line for each test or run as it ends, and records whether all succeeded."""

    def __init__(self):
        self.is_well = True

    def tell(self, name, verdict, seconds, is_well, lines=()):
        print(f"{name:<{WIDTH}} {seconds:>18} {verdict}", flush=True)
        for line in lines:
            print(f"    {line}", flush=True)
        self.is_well &= is_well


def build(target, variables, report):
    """Builds the command for this machine and for another target."""
    for words in ([], ["--target", target]):
        began = time.monotonic()
        subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "lehr", *words], cwd=ROOT, env=variables, check=True)
        report.tell(f"build of lehr for {words[-1] if words else 'this machine'}", "built", f"{time.monotonic() - began:.0f} s", True)


def tests(report):
    """Runs the unit tests of each crate for ARM."""
    for crate in TESTED:
        began = time.monotonic()
        command = ["cargo", "test", "--quiet", "--target", TARGET, "-p", crate, "--lib", "--tests", "--"]
        command += [word for name in SLOW.get(crate, ()) for word in ("--skip", name)]
        done = subprocess.run(command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        counted = [line for line in done.stdout.splitlines() if line.startswith("test result:")]
        passed = sum(int(line.split()[3]) for line in counted)
        # A program that ran no test has shown nothing.
        is_well = done.returncode == 0 and passed > 0
        seconds = f"{time.monotonic() - began:.0f} s"
        report.tell(f"tests of {crate}", f"{passed} passed" if is_well else "FAILED", seconds, is_well, [] if is_well else done.stdout.splitlines()[-40:])


def against(session, first, second, runs, report, alike=lambda outcome: outcome):
    """Runs everything with two binaries and compares every byte. `alike` removes from the second outcome what may differ."""
    for run in runs:
        before, after = session.outcome(first, run), alike(session.outcome(second, run))
        shown = partial(same_output.parted_by_name, before.contents, after.contents)
        lines = same_output.unexpected(run, after.codes)
        lines += same_output.differences(same_output.described(before), same_output.described(after), shown)
        size = sum(map(len, after.contents.values()))
        verdict = "differs" if lines else f"the same {size:,} bytes in {len(after.contents)} outputs"
        report.tell(run.name, verdict, f"{before.seconds:.1f} s, {after.seconds:.1f} s", not lines, lines)


def under_emulation(part):
    """Builds for both processors, runs the tests and compares the output; returns whether all succeeded."""
    told = missing()
    if told:
        raise SystemExit("\n".join(f"arm: {line}" for line in told))
    report = Report()
    build(TARGET, environment(), report)
    if not part:
        tests(report)
    runs = chosen(same_output.read_table(same_output.TABLE.read_text(encoding="utf-8")), part)
    with tempfile.TemporaryDirectory() as scratch:
        session = same_output.Session(scratch)
        binary = emulated(folder() / TARGET / "release" / "lehr", Path(scratch) / "lehr-arm")
        against(session, folder() / "release" / "lehr", binary, runs, report)
    return report.is_well


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("mode", nargs="?", choices=("record", "compare"))
    parser.add_argument("binary", nargs="?", type=lambda text: Path(text).resolve(strict=True))
    parser.add_argument("file", nargs="?", type=lambda text: Path(text).resolve())
    parser.add_argument("--only", default="", metavar="TEXT", help="only the runs whose names contain this, and no tests")
    wanted = parser.parse_args(words)
    if wanted.mode and not wanted.file:
        parser.error(f"{wanted.mode} needs BINARY and FILE")
    return wanted


def main(words):
    wanted = arguments(words)
    began = time.monotonic()
    if not wanted.mode:
        is_well = under_emulation(wanted.only)
    else:
        runs = chosen(same_output.read_table(same_output.TABLE.read_text(encoding="utf-8")), wanted.only)
        with tempfile.TemporaryDirectory() as scratch:
            session = same_output.Session(scratch)
            if wanted.mode == "record":
                made = same_output.record(session, wanted.binary, runs)
                if made:
                    wanted.file.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
                is_well = made is not None
            else:
                is_well = same_output.compare(session, wanted.binary, runs, json.loads(wanted.file.read_text(encoding="utf-8")))
    print(f"arm: {'all is well' if is_well else 'FAILED'} after {time.monotonic() - began:.0f} s")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
