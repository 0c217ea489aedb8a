"""Runs every fuzz target: its seeds, plain and mangled, with `cargo test`; then, where there is a C++ compiler, under libFuzzer with coverage as a guide.

Usage: run.py SECONDS [TARGET ...]    so many seconds for each target, all by default; 0 leaves libFuzzer out

Neither a nightly toolchain nor cargo-fuzz is needed: the stable compiler counts coverage with the same LLVM pass. Address checks are left out, which a nightly
one would add; the code under test has no `unsafe` of its own (`cargo +nightly fuzz run TARGET` works too). What is found is kept in
target/fuzz/artifacts, what is interesting in target/fuzz/corpus; a file of either is run again by naming it behind the target's program.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE.parent / "target" / "fuzz"
TARGETS = sorted(path.stem for path in (HERE / "fuzz_targets").glob("*.rs"))
COVERAGE = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
]


def cargo(*words, **changes):
    """Runs cargo on the crate of the targets; says whether it went well."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(BUILT), **changes}
    return subprocess.run(["cargo", *words, "--manifest-path", HERE / "Cargo.toml"], env=environment, check=False).returncode == 0


def host():
    """The platform that is compiled for: named, so that what runs while compiling counts nothing."""
    told = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout
    return next(line.split()[1] for line in told.splitlines() if line.startswith("host:"))


def fuzz(program, name, seconds):
    """Runs one target; says whether it held."""
    corpus, artifacts = BUILT / "corpus" / name, BUILT / "artifacts" / name
    for folder in (corpus, artifacts):
        folder.mkdir(parents=True, exist_ok=True)
    options = [f"-max_total_time={seconds}", f"-artifact_prefix={artifacts}/", "-max_len=65536", "-print_final_stats=1"]
    # Python ignores SIGPIPE, as Rust's own `main` does; libFuzzer's does not, and a closed connection would end it.
    ended = subprocess.run([program, corpus, HERE / "seeds" / name, *options], capture_output=True, text=True, check=False, restore_signals=False)
    lines = ended.stderr.splitlines()
    if ended.returncode != 0:
        print("\n".join(lines[-40:]), file=sys.stderr)
        print(f"fuzz: {name}: broken; the input is in {artifacts}", file=sys.stderr)
        return False
    told = [line.removeprefix("stat::") for line in lines if line.startswith("stat::number_of_executed") or line.startswith("stat::new_units")]
    print(f"fuzz: {name}: {seconds} s, " + ", ".join(" ".join(line.split()) for line in told))
    return True


def main(seconds, targets):
    if not cargo("test", "--release", "--no-default-features"):
        return 1
    print("fuzz: the seeds of all targets hold, plain and mangled")
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
    # All of them, whatever the first one finds.
    return 0 if all([fuzz(programs / name, name, seconds) for name in targets]) else 1


if __name__ == "__main__":
    if len(sys.argv) < 2 or not sys.argv[1].isdigit() or not set(sys.argv[2:]) <= set(TARGETS):
        sys.exit(f"{__doc__}\nTargets: {', '.join(TARGETS)}")
    sys.exit(main(int(sys.argv[1]), sys.argv[2:] or TARGETS))
