"""Makes a Python environment with an MPI of the standard ABI: its library and its mpiexec.

Usage: mpi_environment.py FOLDER REQUIREMENTS. If a package is not available, it says what to do. Then it checks that the launcher
can start a process, because a sandbox may forbid this, and a test that hangs or fails would show it less clearly.
"""

import subprocess
import sys
import venv
from pathlib import Path

OTHERWISE = (
    "An MPI that is already here serves as well, if its library is libmpi_abi.so.1 (MPICH 5 or newer): "
    "make LEHR_MPIEXEC=FILE ... with FILE its mpiexec."
)


def make(folder, requirements):
    """Creates the environment and installs the requirements; raises CalledProcessError if the packages are not available."""
    venv.create(folder, with_pip=True)
    pip = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "-r", str(requirements)]
    subprocess.run(pip, check=True)


def fault(folder):
    """Returns the fault of the launcher or its library in one sentence; None if both work."""
    library = folder / "lib" / "libmpi_abi.so.1"
    if not library.is_file():
        return f"{library} is missing: this version or platform of the package has no library with the standard ABI"
    started = subprocess.run(
        [str(folder / "bin" / "mpiexec"), "-n", "2", "echo", "started"], capture_output=True, text=True, check=False
    )
    if started.returncode != 0 or started.stdout.split() != ["started", "started"]:
        return f"{folder / 'bin' / 'mpiexec'} cannot start two processes here: {(started.stderr or started.stdout).strip()}"
    return None


def main(arguments):
    folder, requirements = map(Path, arguments)
    try:
        make(folder, requirements)
    except (subprocess.CalledProcessError, OSError) as error:
        wanted = ", ".join(line for line in requirements.read_text(encoding="utf-8").split("\n") if line and line[0] != "#")
        print(f"the tests under MPI need the Python package {wanted}, which could not be installed: {error}", file=sys.stderr)
        print(OTHERWISE, file=sys.stderr)
        return 1
    problem = fault(folder)
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
