"""Runs make targets one after the other and ends with a summary that a person can read at a glance.

Usage: gates.py TARGET...   The first gate that fails ends the run with its exit code; the summary names the later gates as not run. A gate
that prints nothing for LEHR_GATE_SILENCE seconds (900 by default) hangs: the tool ends it as failed, and its last lines show its position.
One that compiles has four times as long: cargo names a package when it begins with it, and the tests of the last ones take minutes, on a
busy machine many.
"""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
COMPILERS = {"rustc", "clippy-driver"}
# The factor by which the time limit is longer during compilation.
PATIENCE = 4
UNITTEST = re.compile(r"^Ran (\d+) tests? in ")
VITEST = re.compile(r"^\s*Tests\s+(?:(\d+) failed \| )?(\d+) passed\b")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# The line in which a gate reports a missing tool: the gate passes, but has shown less.
NOT_RUN = re.compile(r"^[\w-]+: NOT RUN: (.+)")
PYTEST = re.compile(r"^(?:\d+ failed, )?(\d+) passed\b.* in [\d.]+s")


def count_tests(line):
    """Returns (passed, failed, ignored) of one line of output; zeros for a line without these numbers."""
    found = RESULT.match(line)
    if found:
        return tuple(map(int, found.groups()))
    found = VITEST.match(COLOUR.sub("", line))
    if found:
        return (int(found.group(2)), int(found.group(1) or 0), 0)
    found = UNITTEST.match(line) or PYTEST.match(line.strip("= "))
    return (int(found.group(1)), 0, 0) if found else (0, 0, 0)


class Watch:
    """Ends a process and its descendants after it has printed nothing for `silence` seconds."""

    def __init__(self, process, silence):
        self.process, self.silence = process, silence
        self.has_ended_it = False
        self.last_heard = time.monotonic()
        self.is_over = threading.Event()
        threading.Thread(target=self.look, daemon=True).start()

    def heard(self):
        self.last_heard = time.monotonic()

    def stop(self):
        self.is_over.set()

    def look(self):
        while True:
            silent = time.monotonic() - self.last_heard
            if silent >= PATIENCE * self.silence or (silent >= self.silence and not is_compiling(self.process.pid)):
                break
            # During compilation, the process is checked again and again.
            if self.is_over.wait(max(self.silence - silent, self.silence / 10)):
                return
        self.has_ended_it = True
        end_group(self.process)


def is_compiling(session):
    """Returns whether a Rust compiler runs in a session; False if there is no /proc."""
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, rest = status.read_text(errors="replace").partition("(")[2].rsplit(")", 1)
        except (OSError, ValueError):
            continue  # It has ended meanwhile.
        # The fields after the name are state, parent, group, session.
        if name in COMPILERS and int(rest.split()[3]) == session:
            return True
    return False


def end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # It has ended meanwhile.


def run_gate(target, silence=None):
    """Runs `make target`, shows its output as it comes, and returns (exit code, seconds, counts, parts that were not run)."""
    silence = silence or float(os.environ.get("LEHR_GATE_SILENCE", "900"))
    command = [os.environ.get("MAKE", "make"), "--no-print-directory", target]
    return run_command(command, target, silence)


def run_command(command, name, silence):
    started = time.monotonic()
    counts = [0, 0, 0]
    not_run = []
    # The gate has its own process group, so that its descendants end with it.
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    ) as process:
        watch = Watch(process, silence)
        try:
            for line in process.stdout:
                watch.heard()
                sys.stdout.write(line)
                sys.stdout.flush()
                counts = [total + one for total, one in zip(counts, count_tests(line))]
                not_run += NOT_RUN.findall(line)
        except BaseException:
            end_group(process)
            raise
        finally:
            watch.stop()
    if watch.has_ended_it:
        print(f"{name}: no output for {silence:g} s, so it hangs: ended; the lines above say where it stood", flush=True)
    return process.returncode, time.monotonic() - started, tuple(counts), not_run


def summary(targets, results):
    """Returns the closing lines: one for each gate, then the verdict. `results` may be shorter than `targets`."""
    lines = []
    for position, target in enumerate(targets):
        if position >= len(results):
            lines.append(f"  {target:<12} not run")
            continue
        code, seconds, (passed, failed, ignored), not_run = results[position]
        verdict = "ok" if code == 0 else "FAILED"
        tests = f"{passed} tests" if passed or failed else ""
        tests += f", {failed} failed" if failed else ""
        tests += f", {ignored} ignored" if ignored else ""
        lines.append(f"  {target:<12} {verdict:<7} {seconds:7.1f} s  {tests}".rstrip())
        lines += [f"  {'':<12} NOT RUN {what}" for what in not_run]
    total = sum(seconds for _, seconds, _, _ in results)
    broken = [target for target, (code, *_) in zip(targets, results) if code != 0]
    if broken:
        lines.append(f"make test FAILED at {broken[0]} after {total:.0f} s; alone: make {broken[0]}")
    else:
        tests = sum(counts[0] for _, _, counts, _ in results)
        parts = sum(len(not_run) for *_, not_run in results)
        note = f", {parts} of their parts NOT RUN (see above)" if parts else ""
        lines.append(f"make test: all {len(targets)} gates passed{note}, {tests} tests, {total:.0f} s")
    return lines


def main(targets):
    results = []
    for target in targets:
        print(f"--- {target}", flush=True)
        results.append(run_gate(target))
        if results[-1][0] != 0:
            break
    print("\n".join(["", *summary(targets, results)]), flush=True)
    return results[-1][0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
