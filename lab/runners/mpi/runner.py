#!/usr/bin/env python3
"""MPI as a runner of the lab: a request a line, each answered with a line of JSON (the protocol stands in lab/runners/ports/src/lib.rs).

The number of ranks of an MPI program is fixed when it starts, so this starts one for each number that is asked for (lab/runners/c/mpi_patterns.c, compiled by
`make peers-mpi`) and keeps the last few. The programs sleep until their turn. A program that ends, prints something else or gives no answer is stopped. Its case
is absent, and a line on standard error reports this.

As `lehr_mpi` the programs are ours (lab/harness/src/bin/rank_side.rs), on the same libraries and started in the same way; as `mpj` they are in Java
(lab/runners/java). `make peers-ranks` puts the three beside each other. Standard library only.
"""

import itertools
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

HERE = Path(__file__).resolve().parent

# The seconds after which a case counts as stuck. MPICH with more ranks than cores needs milliseconds for a stage.
PATIENCE = 120

# The number of programs of one engine that keep running: the ranks of the case, and those of its computation alone.
KEPT = 3

# The seconds for each step of ending programs. The lab waits five seconds in all for a runner whose input it has closed.
GRACE = 1

# The size of the shared file, which is larger than the C program's `shared`.
SHARED_BYTES = 1 << 16

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def open_mpi(home, ranks, program):
    """Returns Open MPI's best form: bound to cores if there are enough, otherwise yielding when idle."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    enough = ["--bind-to", "core"]
    crowded = ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
    form = enough if ranks <= CORES else crowded
    return [home / "bin" / "mpiexec", *root, *form, "-n", str(ranks), *program], {}


def mpich(home, ranks, program):
    """Returns MPICH's best form. With more ranks than cores: the launcher that keeps all ranks in one session, and a yield after a few polls."""
    if ranks <= CORES:
        return [home / "bin" / "mpiexec", "-n", str(ranks), "-bind-to", "core", *program], {}
    return [home / "bin" / "mpiexec.gforker", "-n", str(ranks), *program], {"MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}


def threadcomm(_home, ranks, program):
    """Returns the form of MPICH with threads of one process as ranks; the program gets their number."""
    return [program[0], str(ranks)], {"MPIR_CVAR_POLLS_BEFORE_YIELD": "10"} if ranks > CORES else {}


def mpj_express(home, ranks, _program):
    """Returns MPJ Express with threads as ranks, without its script, so that requests reach the first rank."""
    parts = json.loads((home / "parts.json").read_text(encoding="utf-8"))
    starter = [parts["java"], "-cp", os.pathsep.join(parts["jars"] + parts["needed"]), "runtime.starter.MulticoreStarter"]
    classes = os.pathsep.join([str(home), *parts["needed"]])
    return [*starter, home, str(ranks), "smpdev", "useLocalLoader", classes, "MpjRanks"], {"MPJ_HOME": parts["home"]}


@dataclass
class Kind:
    """A way to run ranks on MPI."""

    title: str
    # The environment with the library.
    folder: str
    # The program, in the environment or from the folder of all environments.
    program: str
    # The minimum number of ranks.
    least: int
    # Returns the command, and variables of the environment.
    start: Callable
    # Whether the file that the ranks share must exist.
    maps_file: bool = True
    # The operations that this kind does not support.
    without: tuple = ()
    # Whether lines that are not answers may precede an answer.
    greets: bool = False
    # The library to open, in the environment. Our program finds MPICH's by itself; for Open MPI it needs the adapter.
    library: str = ""


# In MPICH 5.0 collectives with a root stall on a communicator of threads.
THEIRS = [
    Kind("Open MPI {}, processes", "openmpi", "mpi_patterns", 1, open_mpi),
    Kind("MPICH {}, processes", "mpich", "mpi_patterns", 1, mpich),
    Kind("MPICH {}, threads as ranks", "mpich", "mpi_patterns_threadcomm", 2, threadcomm, without=("broadcast", "reduce")),
]

OURS = [
    Kind("lehr on Open MPI {}, processes", "openmpi", "../lehr/lehr_rank_side", 2, open_mpi, maps_file=False, library="libmpi_abi.so.1"),
    Kind("lehr on MPICH {}, processes", "mpich", "../lehr/lehr_rank_side", 2, mpich, maps_file=False),
]

JAVA = [Kind("MPJ Express {}, threads as ranks", "mpj", "MpjRanks.class", 2, mpj_express, maps_file=False, greets=True)]

# The kinds by the name that this file has in its folder.
KINDS = {"mpi": THEIRS, "lehr_mpi": OURS, "mpj": JAVA}


class Failed(Exception):
    """A program that cannot answer any more."""


class Program:
    """A running MPI program with a number of ranks."""

    def __init__(self, command, environment, greets):
        self.greets = greets
        self.errors = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env={**os.environ, **environment},
            start_new_session=True,
            bufsize=0,
        )

    def ask(self, request, patience):
        """Returns the answer to a request, as an object with a number of that name."""
        try:
            self.process.stdin.write(request.encode() + b"\n")
        except OSError as error:
            raise Failed(f"ended{self.reason()}") from error
        while True:
            # A line is written at once, so it arrives completely or not at all.
            if not select.select([self.process.stdout], [], [], patience)[0]:
                raise Failed(f"gave no answer within {patience} s")
            line = self.process.stdout.readline()
            if not line:
                raise Failed(f"ended{self.reason()}")
            if not self.greets or line.startswith(b"{"):
                break
        try:
            answer = json.loads(line)
        except ValueError as error:
            raise Failed(f"answered {line[:80]!r}") from error
        if not isinstance(answer, dict):
            raise Failed(f"answered {line[:80]!r}")
        return answer

    def reason(self):
        """Returns the first line on standard error that looks like a sentence of ours, otherwise the first line."""
        self.errors.seek(0)
        lines = [line.strip() for line in self.errors.read().decode(errors="replace").splitlines() if any(map(str.isalpha, line))]
        ours = [line for line in lines if line.startswith(("mpi_patterns", "Error"))]
        return ": " + (ours or lines)[0][:200] if lines else ""

    def hang_up(self):
        """Closes its input, after which the programs of most launchers end."""
        try:
            self.process.stdin.close()
        except OSError:
            pass

    def signal(self, name):
        """Sends a signal to the program and all its ranks, which are in its session, or in another one that the launcher ends."""
        try:
            os.killpg(self.process.pid, name)
        except OSError:
            pass

    def ends_by(self, time):
        """Returns whether the program has ended by that time."""
        try:
            self.process.wait(max(time - monotonic(), 0))
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self):
        """Ends the program with all its ranks."""
        end([self], 0)


def end(programs, grace=GRACE):
    """Ends all at once. Programs that still run this many seconds after their input was closed get a signal, and then are killed.

    Open MPI's launcher does not pass on the end of its input, so its programs wait for the signal.
    """
    for program in programs:
        program.hang_up()
    time = monotonic() + grace
    left = [program for program in programs if not program.ends_by(time)]
    for name in (signal.SIGTERM, signal.SIGKILL):
        for program in left:
            program.signal(name)
        time = monotonic() + GRACE
        left = [program for program in left if not program.ends_by(time)]
    for program in programs:
        program.process.stdout.close()
        program.errors.close()


class Engine:
    """An MPI, with its running programs."""

    def __init__(self, name, start, kind):
        self.name = name
        self.start = start
        self.kind = kind
        self.programs = {}
        self.stuck = set()

    def program(self, ranks):
        """Returns the program with this many ranks; starts it if necessary, and ends the least recently used one."""
        program = self.programs.pop(ranks, None)
        if program is None:
            if len(self.programs) == KEPT:
                end([self.programs.pop(next(iter(self.programs)))])
            command, environment = self.start(ranks)
            program = Program(command, environment, self.kind.greets)
        self.programs[ranks] = program
        return program

    def ask(self, ranks, request, what):
        """Returns the answer, or None if there is none; then this request is not sent again."""
        if ranks < self.kind.least or (ranks, what) in self.stuck:
            return None
        try:
            return self.program(ranks).ask(request, PATIENCE)
        except (Failed, OSError) as failed:
            print(f"{self.name}: {what} with {ranks} ranks is left out: it {failed}", file=sys.stderr, flush=True)
            self.stuck.add((ranks, what))
            program = self.programs.pop(ranks, None)
            if program is not None:
                program.stop()
            return None


def starter(kind, home, place):
    """Returns a function that gives the command and the environment for a number of ranks."""

    def start(ranks):
        command, environment = kind.start(home, ranks, [home / kind.program, place(kind.maps_file)])
        if kind.library:
            environment = environment | {"LEHR_MPI_LIBRARY": str(home / kind.library)}
        return command, environment

    return start


def find(kinds, peers, place):
    """Returns the available engines, the versions of their libraries, and a line for each missing engine."""
    engines, libraries, absent = [], {}, []
    for kind in kinds:
        home = peers / kind.folder
        stamp = home / ".installed"
        version = stamp.read_text(encoding="utf-8").split("==")[-1] if stamp.is_file() else ""
        name = " ".join(kind.title.format(version).replace(" ,", ",").split())
        needed = [kind.program, kind.library] if kind.library else [kind.program]
        if not version or not all((home / file).is_file() for file in needed):
            absent.append(f"{name}: not built, `make peers-mpi` builds it, for the lab of the ranks `make peers-ranks`")
            continue
        libraries[kind.folder] = version
        engines.append(Engine(name, starter(kind, home, place), kind))
    return engines, libraries, absent


def answer(engines, words):
    """Returns the answer to a request other than `about`; None if no engine supports it."""
    number, kind, rest = int(words[0]), words[1], words[2:]
    if number >= len(engines):
        return None
    engine = engines[number]
    if kind == "unit":
        return engine.ask(max(engine.kind.least, 1), "unit", "a unit of computation")
    if kind == "ranks" and len(rest) == 6:
        operation, ranks, workers, doubles, units, stages = rest[0], *map(int, rest[1:])
        if workers != CORES or operation in engine.kind.without:
            return None
        return engine.ask(ranks, f"ranks {operation} {doubles} {units} {stages}", f"{operation} of {doubles} doubles")
    if kind != "pattern" or len(rest) != 6:
        return None
    form, pattern, ranks, workers, units, stages = *rest[:2], *map(int, rest[2:])
    # Each rank has its own process or thread and all use every core; but a single rank may have one core.
    if form != "rendezvous" or not (workers == CORES or workers == ranks == 1):
        return None
    return engine.ask(ranks, f"pattern {pattern} {units} {stages}", pattern)


def main():
    with tempfile.TemporaryDirectory() as folder:
        counter = itertools.count()

        def place(is_file):
            """Returns a path for one program: a file of zeros that its ranks map, or a path where no file exists yet."""
            path = Path(folder) / str(next(counter))
            if is_file:
                path.write_bytes(bytes(SHARED_BYTES))
            return path

        engines, libraries, absent = find(KINDS.get(Path(__file__).name, THEIRS), HERE.parent, place)
        try:
            for line in sys.stdin:
                words = line.split()
                if words == ["about"]:
                    said = {"libraries": libraries, "engines": [engine.name for engine in engines], "absent": absent}
                else:
                    said = answer(engines, words)
                print(json.dumps(said if said is not None else {"absent": True}), flush=True)
        finally:
            end([program for engine in engines for program in engine.programs.values()])


if __name__ == "__main__":
    main()
