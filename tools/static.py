"""Builds the command as one statically linked file with musl, for machines without this C library.

Usage: static.py [x86_64|aarch64]       the processor; this machine's by default

Checks that the built file names no dynamic loader and no library. Then runs it in a root directory with only the program and a table. There it
clusters the census, and every table and model must have the bytes that the ordinary command (target/release/lehr) writes. Prints sizes and times of both.

It needs rustup for musl's standard library, which it downloads the first time, and musl-gcc (Debian's musl-tools) for C. For the other processor it needs a
C compiler for that processor and qemu (Debian's gcc-aarch64-linux-gnu, qemu-user), and links with Rust's own linker. Exit code 1 if anything differs.
"""

import argparse
import os
import platform
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CENSUS = ROOT / "datasets" / "census" / "blocks_nv_ut_wv_2020.csv.gz"
RUN = ["cluster", CENSUS.name, "--columns", "lon,lat", "--weights", "pop", "--lonlat", "-k", "20", "--quiet", "--out", "out"]
# These files contain the time of their run.
TIMED = {"summary.json", "report.html"}
STARTS = 20
#: The kinds of program headers that no static program has: a table of libraries (PT_DYNAMIC) and the loader (PT_INTERP).
DYNAMIC = {2: "a table of libraries", 3: "a dynamic loader"}


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, **options)


def needs(program):
    """What a 64-bit ELF program asks of the machine it is started on, beside the kernel; nothing if it is static.

    A program that may be loaded anywhere has a table of what to adjust, which names no library and no loader.
    """
    if program[:5] != b"\x7fELF\x02":
        raise ValueError("expected a 64-bit ELF program")
    (table,), (size, count) = struct.unpack_from("<Q", program, 32), struct.unpack_from("<HH", program, 54)
    found = []
    for header in range(table, table + size * count, size):
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", program, header)
        is_library = any(tag == 1 for tag, _ in struct.iter_unpack("<QQ", program[offset:offset + length])) if kind == 2 else kind in DYNAMIC
        if is_library:
            found.append(DYNAMIC[kind])
    return found


def environment(processor):
    """Returns the variables for cargo and the C compilers."""
    target = f"{processor}-unknown-linux-musl"
    own = processor == platform.machine()
    compiler = "musl-gcc" if own else f"{processor}-linux-gnu-gcc"
    if shutil.which(compiler) is None:
        raise SystemExit(f"static: {compiler} is needed: apt-get install {'musl-tools' if own else f'gcc-{processor}-linux-gnu'}")
    added = {f"CC_{target.replace('-', '_')}": compiler}
    if not own:
        added[f"CARGO_TARGET_{target.upper().replace('-', '_')}_LINKER"] = "rust-lld"
    return {**os.environ, **added}


def in_empty_root(binary, folder, emulator):
    """Returns the seconds of a run in a root with only the program and a table; the results are in `folder`/out."""
    shutil.copy(binary, folder / "lehr")
    shutil.copy(CENSUS, folder)
    words = ["/lehr", *RUN]
    if emulator:
        # The emulator is linked statically, or brings its libraries; otherwise the root would have no libraries for it.
        shutil.copy(emulator, folder / "qemu")
        words = ["/qemu", *words]
    began = time.monotonic()
    run("unshare", "--map-root-user", f"--root={folder}", "--wd=/", *words)
    return time.monotonic() - began


def start(words):
    """Returns the shortest time of a start, in seconds."""
    seconds = []
    for _ in range(STARTS):
        began = time.monotonic()
        run(*words, "--version", stdout=subprocess.DEVNULL)
        seconds.append(time.monotonic() - began)
    return min(seconds)


def differences(first, second):
    """Returns the names of result files whose bytes differ between two folders, or that only one has."""
    names = {path.name for folder in (first, second) for path in folder.iterdir()} - TIMED
    return sorted(name for name in names if not all((folder / name).is_file() for folder in (first, second))
                  or (first / name).read_bytes() != (second / name).read_bytes())


def main(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("processor", nargs="?", choices=("x86_64", "aarch64"), default=platform.machine())
    processor = parser.parse_args(words).processor
    target = f"{processor}-unknown-linux-musl"
    if shutil.which("rustup"):
        run("rustup", "--quiet", "target", "add", target)
    folder = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
    run("cargo", "build", "--quiet", "--release", "-p", "lehr", cwd=ROOT)
    run("cargo", "build", "--quiet", "--release", "-p", "lehr", "--target", target, cwd=ROOT, env=environment(processor))
    ordinary, static = folder / "release" / "lehr", folder / target / "release" / "lehr"
    return compare(ordinary, static, "" if processor == platform.machine() else f"qemu-{processor}-static")


def compare(ordinary, static, emulator=""):
    """Examines both programs and runs them; returns the exit code."""
    asked = needs(static.read_bytes())
    if asked:
        print(f"static: {static} needs {' and '.join(asked)}")
        return 1
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        own, root = Path(one), Path(other)
        began = time.monotonic()
        shutil.copy(CENSUS, own)
        run(ordinary.resolve(), *RUN, cwd=own)
        seconds = time.monotonic() - began
        of_static = in_empty_root(static, root, emulator and shutil.which(emulator))
        changed = differences(own / "out", root / "out")
        same = sorted(path.name for path in (own / "out").iterdir() if path.name not in TIMED)
    started = [start([*prefix, program]) for prefix, program in (([], ordinary), ([emulator] if emulator else [], static))]
    for name, program, census, begun in (("ordinary", ordinary, seconds, started[0]), ("static", static, of_static, started[1])):
        print(f"static: {name:<8} {program.stat().st_size:>12,} bytes, starts in {1000 * begun:.1f} ms, the census in {census:.1f} s")
    if changed:
        print(f"static: not the bytes of the ordinary command: {', '.join(changed)}")
        return 1
    print(f"static: in an empty root, the same bytes: {', '.join(same)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
