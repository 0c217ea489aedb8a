"""Asks a node whatever its OpenAPI description allows, and much that it does not, with all checks of schemathesis.

A failure is an answer that is the server's fault, one that the description does not have, a valid request that is refused, or an invalid one that is
taken. `schemathesis.toml` has the exceptions, with their reasons.

Usage: run.py LEHR ENVIRONMENT [MORE...]    MORE goes to schemathesis, such as --seed 7 or --max-examples 500

ENVIRONMENT is a folder for a Python environment with schemathesis as pinned beside this file; it is made if it is not there. Where it cannot be
made the run is skipped, with a message and exit code 0.
"""

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent


def environment(folder: Path) -> Path | None:
    """The schemathesis of the environment; None where there is none to be had."""
    program = folder / "bin" / "schemathesis"
    stamp = folder / ".installed"
    wanted = (HERE / "requirements.txt").read_text()
    if not (stamp.exists() and stamp.read_text() == wanted):
        try:
            venv.create(folder, with_pip=True)
            subprocess.run(
                [folder / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "requirements.txt"],
                check=True,
            )
        except (OSError, subprocess.CalledProcessError) as cause:
            print(f"schemathesis: skipped, it cannot be installed: {cause}", file=sys.stderr)
            return None
        stamp.write_text(wanted)
    return program


def main(lehr: str, folder: str, *more: str) -> int:
    # It runs in a folder of its own, for what it leaves behind.
    program = environment(Path(folder).resolve())
    if program is None:
        return 0
    with tempfile.TemporaryDirectory() as kept:
        options = ["--listen", "127.0.0.1:0", "--start", "lehr/records=/notes", "--keep", kept, "--log", "error"]
        node = subprocess.Popen([lehr, "serve", *options], stdout=subprocess.PIPE, text=True)
        try:
            url = node.stdout.readline().strip()
            command = [program, "--config-file", HERE / "schemathesis.toml", "run", f"{url}/openapi.json"]
            command += ["--checks", "all", "--continue-on-failure"]
            # A limit of a millisecond that the client has set itself would be answered 504, and rightly.
            command += ["--header", "lehr-timeout-ms: 60000"]
            # A stream of events has no end to wait for.
            command += ["--exclude-path-regex", ":events$", "--phases", "examples,coverage,fuzzing", "--max-examples", "100"]
            hooks = {**os.environ, "SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(HERE)}
            ended = subprocess.run([*command, "--generation-deterministic", *more], cwd=kept, env=hooks, check=False)
            if node.poll() is not None:
                print("schemathesis: the node has ended", file=sys.stderr)
                return 1
            return ended.returncode
        finally:
            node.kill()
            node.wait()


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
