"""Shows whether a build of the command writes the same bytes as an earlier build.

Runs the table same_output.json: every method of `lehr`, each run in its own folder, on the project's data. Compares exit codes,
printed output, and every file. Leaves out times and versions, as same_output_steady.py says. Compare a record only on the machine
that made it, since the bits depend on the processor.

Usage:
  same_output.py record BINARY FILE        makes all runs, and writes their results to FILE
  same_output.py compare BINARY FILE       makes all runs, and prints every difference from FILE
  same_output.py against BINARY BINARY     makes all runs with an earlier and a later binary, and shows where their outputs differ
  --only TEXT                              makes only the runs with TEXT in their names

Exit code 1 if anything differs, or if a command ends otherwise than the table says. No network.
"""

import argparse
import difflib
import hashlib
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import same_output_data
from same_output_steady import steady

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_suffix(".json")
# The links that a run finds in its folder.
GIVEN = {
    "datasets": ROOT / "datasets",
    "workflows": ROOT / "crates" / "demos" / "workflows",
    "parquet": ROOT / "crates" / "data" / "tests" / "data" / "parquet",
}
# The time limit of a command; no command of the table takes nearly as long.
SECONDS_MAX = 300
# A difference is shown by at most this many lines, each cut at this many characters.
LINES_MAX = 12
CHARACTERS_MAX = 160


@dataclass(frozen=True)
class Command:
    """One command of a run.

    `exit` is the code that it must end with, `stdin` a file for its standard input. It gets Ctrl-C as soon as the file `stop_at` exists.
    """

    line: str
    exit: int = 0
    stdin: str = ""
    stop_at: str = ""


@dataclass(frozen=True)
class Run:
    """Commands that run one after the other in one folder."""

    name: str
    commands: tuple


@dataclass(frozen=True)
class Outcome:
    """The result of a run: exit codes, and the steady content of the output and of every file, by name."""

    codes: tuple
    contents: dict
    seconds: float


def read_table(text):
    """Returns the runs of a table. A command is its line, or an object with the fields of `Command`."""
    runs = []
    for entry in json.loads(text):
        commands = (Command(line=one) if isinstance(one, str) else Command(**one) for one in entry["commands"])
        runs.append(Run(entry["name"], tuple(commands)))
    return runs


def chosen(runs, part):
    """Returns the runs whose names contain `part`."""
    found = [run for run in runs if part in run.name]
    if not found:
        raise SystemExit(f"same output: no run's name contains {part!r}")
    return found


def stopped_at(process, path):
    """Sends Ctrl-C to a process once a file exists; lets the process end by itself if the file never appears."""
    deadline = time.monotonic() + SECONDS_MAX
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists():
            process.send_signal(signal.SIGINT)
            return
        time.sleep(0.005)


def carry_out(binary, command, folder):
    """Returns (exit code, standard output, standard error) of one command, run in `folder`."""
    # Messages contain the name by which the command was called, so it is always called lehr. Its environment is not the caller's.
    with open(folder / command.stdin if command.stdin else os.devnull, "rb") as given, subprocess.Popen(
        ["lehr", *shlex.split(command.line)],
        executable=binary,
        cwd=folder,
        env={"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "TMPDIR": str(folder.parent)},
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A shell starts background programs so that they ignore Ctrl-C.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            if command.stop_at:
                stopped_at(process, folder / command.stop_at)
            printed = process.communicate(timeout=SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SystemExit(f"same output: lehr {command.line}: no end after {SECONDS_MAX} s") from None
    return (process.returncode, *printed)


def outcome(binary, run, folder):
    """Runs the commands of `run` in a new folder, and collects their results."""
    folder.mkdir()
    given = {**GIVEN, "made": folder.parent / "made"}
    for name, target in given.items():
        (folder / name).symlink_to(target)
    codes, contents = [], {}
    began = time.monotonic()
    for place, command in enumerate(run.commands, start=1):
        code, printed, told = carry_out(binary, command, folder)
        codes.append(code)
        for name, content in (("stdout", printed), ("stderr", told)):
            # The folder has another name each time.
            contents[f"{name} {place}"] = steady(name, content.replace(str(folder).encode(), b"FOLDER"))
    seconds = time.monotonic() - began
    # Links are not followed, so the given folders are not searched.
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).parts[0] not in given:
            content = path.read_bytes().replace(str(folder).encode(), b"FOLDER")
            contents[path.relative_to(folder).as_posix()] = steady(path.name, content)
    return Outcome(tuple(codes), contents, seconds)


def unexpected(run, codes):
    """Returns a line for each exit code that differs from the table."""
    return [
        f"exit code {code}, and the table says {command.exit}: lehr {command.line}"
        for command, code in zip(run.commands, codes)
        if code != command.exit
    ]


def described(outcome):
    """Returns an outcome as a record has it: with checksums in place of contents, except for standard error."""
    contents = {}
    for name, content in outcome.contents.items():
        contents[name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        if name.startswith("stderr") and content:
            contents[name]["text"] = content.decode("utf-8", errors="replace")
    return {"exit": list(outcome.codes), "seconds": round(outcome.seconds, 2), "contents": contents}


def differences(first, second, shown):
    """Returns lines that describe how an outcome differs from an earlier one. `shown` gives more lines for a content that both have."""
    lines = []
    for place, (before, after) in enumerate(zip(first["exit"], second["exit"]), start=1):
        if before != after:
            lines.append(f"command {place}: exit code {after}, was {before}")
    if len(first["exit"]) != len(second["exit"]):
        lines.append(f"{len(second['exit'])} commands, were {len(first['exit'])}")
    for name in sorted(first["contents"].keys() | second["contents"].keys()):
        before, after = first["contents"].get(name), second["contents"].get(name)
        if before is None or after is None:
            lines.append(f"{name}: {'only before' if after is None else 'only now'}")
        elif before["sha256"] != after["sha256"]:
            lines.append(f"{name}: other bytes ({after['bytes']:,}, were {before['bytes']:,})")
            lines += shown(name)
    return lines


def told_before(first, second, name):
    """Returns the earlier and the present standard error, if the record has both."""
    texts = [side["contents"][name].get("text", "") for side in (first, second)]
    return parted(*(text.encode("utf-8") for text in texts)) if name.startswith("stderr") else []


def parted_by_name(before, after, name):
    """Returns lines that show where the contents of one name differ."""
    return parted(before[name], after[name])


def parted(before, after):
    """Returns lines that show where two contents differ: the first differing lines of texts, the first differing byte of other contents."""
    try:
        texts = [content.decode("utf-8").splitlines(keepends=True) for content in (before, after)]
    except UnicodeDecodeError:
        return [f"    from byte {first_difference(before, after):,} on"]
    line = first_difference(*texts)
    # Only the text after the first difference is compared: a comparison of long texts takes minutes.
    ends = [text[max(line - 1, 0) : line + LINES_MAX] for text in texts]
    # A long line is shown from shortly before its first difference.
    column = first_difference(*("".join(text[line : line + 1]) for text in texts))
    start = max(column - CHARACTERS_MAX // 2, 0)
    changes = [change for change in list(difflib.unified_diff(*ends, n=1))[2:] if change[0] != "@"][:LINES_MAX]
    shown = [change[0] + change[1:].rstrip("\n")[start : start + CHARACTERS_MAX] for change in changes]
    return [f"    from line {line + 1:,}, character {column + 1:,} on", *(f"    {change}" for change in shown)]


def first_difference(before, after):
    """Returns the first index at which two sequences differ; the length of the shorter one if the other begins with it."""
    pairs = enumerate(zip(before, after))
    return next((place for place, (one, other) in pairs if one != other), min(len(before), len(after)))


def machine():
    """Returns the name of the processor, if the system reports it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.processor() or platform.machine()}, {os.cpu_count()} processors"


class Session:
    """A temporary folder for runs, with the generated inputs."""

    def __init__(self, scratch):
        self.scratch = Path(scratch)
        self.count = 0
        same_output_data.write(self.scratch / "made")

    def outcome(self, binary, run):
        """Runs `run` in a new folder, which is removed afterwards."""
        self.count += 1
        folder = self.scratch / str(self.count)
        try:
            return outcome(binary, run, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def tell(run, verdict, lines, seconds):
    """Prints a line for a run, and its faults below."""
    print(f"same output: {run.name}: {verdict} ({seconds:.1f} s)", flush=True)
    for line in lines:
        print(f"  {line}", flush=True)


def record(session, binary, runs):
    """Returns the results of all runs of a binary as a record; None if one of them ends otherwise than the table says."""
    told, is_sound = {}, True
    for run in runs:
        found = session.outcome(binary, run)
        lines = unexpected(run, found.codes)
        if lines:
            said = [content.decode("utf-8", errors="replace") for name, content in found.contents.items() if name.startswith("stderr")]
            lines += "".join(said).splitlines()
        tell(run, "not as the table says" if lines else "recorded", lines, found.seconds)
        is_sound &= not lines
        told[run.name] = {"commands": [command.line for command in run.commands], **described(found)}
    checksum = hashlib.sha256(binary.read_bytes()).hexdigest()
    return {"binary": {"path": str(binary), "sha256": checksum}, "machine": machine(), "runs": told} if is_sound else None


def compare(session, binary, runs, before):
    """Returns whether all runs of a binary give the results of a record."""
    if before["machine"] != machine():
        print(f"same output: the record was made on {before['machine']}, this is {machine()}: bits may differ for that alone")
    is_same = True
    for run in runs:
        found = session.outcome(binary, run)
        known, now = before["runs"].get(run.name), described(found)
        if known is None:
            lines = ["not in the record"]
        elif known["commands"] != [command.line for command in run.commands]:
            lines = ["the record is of other commands"]
        else:
            lines = unexpected(run, found.codes) + differences(known, now, partial(told_before, known, now))
        tell(run, "differs" if lines else "the same", lines, found.seconds)
        is_same &= not lines
    return is_same


def against(session, first, second, runs):
    """Returns whether all runs of two binaries give the same results."""
    is_same = True
    for run in runs:
        before, after = session.outcome(first, run), session.outcome(second, run)
        shown = partial(parted_by_name, before.contents, after.contents)
        lines = unexpected(run, after.codes) + differences(described(before), described(after), shown)
        tell(run, "differs" if lines else "the same", lines, before.seconds + after.seconds)
        is_same &= not lines
    return is_same


def arguments(words):
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    for mode, second, what in (
        ("record", "file", "run all, and write what came out to a file"),
        ("compare", "file", "run all, and tell every difference from such a file"),
        ("against", "other", "run all with two binaries, and show where their outputs part"),
    ):
        one = modes.add_parser(mode, help=what)
        one.add_argument("binary", type=lambda text: Path(text).resolve(strict=True))
        one.add_argument(second, type=lambda text: Path(text).resolve())
        one.add_argument("--only", default="", metavar="TEXT", help="only the runs whose names contain this")
    return parser.parse_args(words)


def main(words):
    wanted = arguments(words)
    runs = chosen(read_table(TABLE.read_text(encoding="utf-8")), wanted.only)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        session = Session(scratch)
        if wanted.mode == "record":
            made = record(session, wanted.binary, runs)
            if made:
                wanted.file.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
            is_well = made is not None
        elif wanted.mode == "compare":
            is_well = compare(session, wanted.binary, runs, json.loads(wanted.file.read_text(encoding="utf-8")))
        else:
            is_well = against(session, wanted.binary, wanted.other, runs)
    print(f"same output: {len(runs)} runs in {time.monotonic() - began:.0f} s: {'all is well' if is_well else 'FAILED'}")
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
