"""Runs every fuzz target: with `cargo test` on its seeds, plain and mangled, and then under libFuzzer, guided by coverage. libFuzzer needs a C++ compiler.

Usage: run.py SECONDS [TARGET ...]           SECONDS for each target, by default all targets; 0 leaves libFuzzer out
       run.py --until SECONDS [TARGET ...]   until each target has had SECONDS of processor time, including earlier runs

Both add a record to record.json: processor time, inputs, and the commit. Ctrl-C ends a run after its inputs are kept.

Neither a nightly toolchain nor cargo-fuzz is needed: the stable compiler counts coverage with the same LLVM pass. Only a nightly compiler adds address checks,
which the code under test hardly needs, because it has no `unsafe` of its own (`cargo +nightly fuzz run TARGET` works too). Inputs that break a target are kept
in target/fuzz/artifacts; to run one again, pass the file to the target's program. Inputs that reach new code are added to target/fuzz/corpus, which begins as
corpus/TARGET.tar.xz. `run.py --keep` writes a minimal set of them that reaches the same code back to this archive.
"""

import datetime
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "target" / "fuzz"
RECORD = HERE / "record.json"
TARGETS = sorted(path.stem for path in (HERE / "fuzz_targets").glob("*.rs"))
# A run of one target is cut into slices of this many seconds, so that a stop loses little and all targets make progress.
SLICE = 300
# An input that takes this many seconds breaks its target. A run beside builds gets a small part of a core, so an input may take a hundred times as long.
SLOWEST = 600
COVERAGE = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
]


def cargo(*words, **changes):
    """Runs cargo on the crate of the targets; returns whether it succeeded."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILT), **changes}
    return subprocess.run(["cargo", *words, "--manifest-path", HERE / "Cargo.toml"], env=environment, check=False).returncode == 0


def host():
    """Returns the platform to compile for. Cargo then leaves the coverage flags out of build scripts and macros, which run while compiling."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return next(line.split()[1] for line in told.splitlines() if line.startswith("host:"))


def commit():
    """Returns the commit that is fuzzed."""
    return subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()


class Record:
    """The runs so far: for each target and commit, the processor time in seconds and the number of inputs."""

    def __init__(self, path):
        self.path = path
        self.runs = json.loads(path.read_text()) if path.exists() else {}
        self.lock = threading.Lock()

    def seconds(self, target):
        """Returns the processor time of a target, in seconds."""
        return sum(run["seconds"] for run in self.runs.get(target, []))

    def add(self, target, seconds, inputs):
        """Adds a slice, and writes the file again."""
        with self.lock:
            runs = self.runs.setdefault(target, [])
            today = {"commit": commit(), "date": datetime.date.today().isoformat()}
            if not runs or any(runs[-1][name] != value for name, value in today.items()):
                runs.append({**today, "seconds": 0, "inputs": 0})
            runs[-1]["seconds"] = round(runs[-1]["seconds"] + seconds, 1)
            runs[-1]["inputs"] += inputs
            beside = self.path.with_suffix(".new")
            beside.write_text(json.dumps(dict(sorted(self.runs.items())), indent=1) + "\n")
            beside.replace(self.path)


def corpus_of(name):
    """Returns the folder of a target's inputs; a new folder begins with the kept inputs."""
    folder, kept = BUILT / "corpus" / name, HERE / "corpus" / f"{name}.tar.xz"
    if not folder.exists():
        folder.mkdir(parents=True)
        if kept.exists():
            with tarfile.open(kept) as archive:
                archive.extractall(folder, filter="data")
    return folder


def fuzz(program, name, seconds):
    """Runs one target for a slice; returns the processor time in seconds and the number of inputs, or `None` if an input broke the target."""
    artifacts = BUILT / "artifacts" / name
    artifacts.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={artifacts}/", "-max_len=65536", "-print_final_stats=1", f"-timeout={SLOWEST}"]
    # Keep Python's setting, which ignores SIGPIPE as Rust's own `main` does. libFuzzer's `main` does not, so a closed connection would end it.
    with tempfile.TemporaryFile("w+", errors="replace") as told:
        process = subprocess.Popen([program, corpus_of(name), HERE / "seeds" / name, *options], stderr=told, stdout=told, restore_signals=False)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        told.seek(0)
        text = told.read()
    if process.returncode != 0:
        print("\n".join(text.splitlines()[-40:]), file=sys.stderr)
        print(f"fuzz: {name}: broken; the input is in {artifacts}", file=sys.stderr)
        return None
    inputs = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    return usage.ru_utime + usage.ru_stime, int(inputs[1]) if inputs else 0


def slice_of(programs, name, seconds, record):
    """Runs one target for a slice and records it; returns whether no input broke the target."""
    spent = fuzz(programs / name, name, seconds)
    if spent is None:
        return False
    record.add(name, *spent)
    print(f"fuzz: {name}: {spent[0]:.0f} s, {spent[1]:,} inputs; {record.seconds(name):.0f} s in all", flush=True)
    return True


def run_for(programs, targets, seconds, record):
    """Runs each target for a number of seconds; returns whether no input broke a target."""
    held = True
    for name in targets:
        for length in [SLICE] * (seconds // SLICE) + [seconds % SLICE] * (seconds % SLICE > 0):
            if not slice_of(programs, name, length, record):
                held = False
                break
    return held


def run_until(programs, targets, seconds, record):
    """Runs, on every core, the target with the least processor time, until each has had enough; returns whether no input broke a target."""
    waiting, broken = set(targets), set()
    choosing = threading.Lock()

    def work():
        while True:
            with choosing:
                least = min((name for name in waiting if record.seconds(name) < seconds), key=record.seconds, default=None)
                if least is None:
                    return
                waiting.remove(least)
            if slice_of(programs, least, SLICE, record):
                with choosing:
                    waiting.add(least)
            else:
                broken.add(least)

    cores = len(os.sched_getaffinity(0))
    with ThreadPoolExecutor(cores) as workers:
        for ended in [workers.submit(work) for _ in range(cores)]:
            ended.result()
    return not broken


def keep(programs):
    """Writes a minimal set of inputs that reaches the same code as all inputs into the archives."""
    (HERE / "corpus").mkdir(exist_ok=True)
    for name in TARGETS:
        with tempfile.TemporaryDirectory() as fewest:
            words = [programs / name, "-merge=1", "-max_len=65536", fewest, corpus_of(name), HERE / "seeds" / name]
            subprocess.run(words, capture_output=True, check=True, restore_signals=False)
            files = sorted(Path(fewest).iterdir())
            with tarfile.open(HERE / "corpus" / f"{name}.tar.xz", "w:xz", preset=9) as archive:
                for file in files:
                    entry = tarfile.TarInfo(file.name)
                    entry.size = file.stat().st_size
                    with file.open("rb") as content:
                        archive.addfile(entry, content)
        print(f"fuzz: {name}: {len(files):,} inputs kept")
    return True


def main(words):
    until, keeping = words[:1] == ["--until"], words == ["--keep"]
    words = words[1:] if until or keeping else words
    if not keeping and (not words or not words[0].isdigit()) or not set(words[1:]) <= set(TARGETS):
        sys.exit(f"{__doc__}\nTargets: {', '.join(TARGETS)}")
    seconds, targets = (0, TARGETS) if keeping else (int(words[0]), words[1:] or TARGETS)
    if not keeping:
        if not cargo("test", "--release", "--no-default-features"):
            return 1
        print("fuzz: the seeds of all targets hold, plain and mangled", flush=True)
        if seconds == 0:
            return 0
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        print("fuzz: libFuzzer skipped, there is no C++ compiler")
        return 0
    platform = host()
    if not cargo("build", "--release", "--bins", "--target", platform, RUSTFLAGS=" ".join(COVERAGE)):
        print("fuzz: the targets cannot be built for libFuzzer with this compiler", file=sys.stderr)
        return 1
    programs = BUILT / platform / "release"
    if keeping:
        return 0 if keep(programs) else 1
    run = run_until if until else run_for
    began = time.monotonic()
    held = run(programs, targets, seconds, Record(RECORD))
    print(f"fuzz: {time.monotonic() - began:.0f} s; {'nothing was found' if held else 'something was found: see above'}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
