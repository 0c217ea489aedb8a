"""Checks the viewer: types, unit tests, sizes, that the committed files are built from their sources, and tests in Chromium.

Usage: web.py check LEHR   all of it; the tests in Chromium run on nodes of the command LEHR
       web.py build        builds web/dist again
       web.py pictures LEHR   draws the pictures of the guide and the README again
       web.py times LEHR RECORD   measures a page with a million points, and writes a record: times, memory, the node's processor time; some twenty minutes

Without Node.js, its packages or Chromium, a part cannot run. Then the gate prints NOT RUN with the reason, and passes, so that a
developer without Node.js can run the other gates. If LEHR_WEB_REQUIRED is set, it fails instead.
"""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
NODE_LEAST = 20
CHROMIUM = ["chromium", "chromium-browser", "google-chrome"]

# Compressed sizes in bytes: of the files that the first view loads, and of all code files together.
SHELL = ["index.html", "app.js", "preact.js", "style.css"]
SHELL_MAX = 40_000
ALL_MAX = 150_000
# Data do not count as code: the lines and cities of maps are in a separate file, which the page loads when it first shows a map.
DATA = ["coast.json"]
DATA_MAX = 20_000
# The files that every report contains.
REPORT = ["report.js", "report.css"]
REPORT_MAX = 60_000


def node_trouble():
    """Returns why the viewer cannot be built here, or None."""
    for name in ["node", "npm"]:
        if shutil.which(name) is None:
            return f"{name} is not installed (Node.js {NODE_LEAST} or newer)"
    said = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout
    found = re.match(r"v(\d+)", said)
    if not found or int(found.group(1)) < NODE_LEAST:
        return f"Node.js {NODE_LEAST} or newer is needed, here is {said.strip() or 'one that does not run'}"
    return None


def chromium_trouble():
    """Returns why no page can be opened here, or None."""
    named = os.environ.get("LEHR_CHROMIUM")
    if named:
        return None if shutil.which(named) else f"LEHR_CHROMIUM names {named}, which is no program"
    if any(shutil.which(name) for name in CHROMIUM):
        return None
    return "Chromium is not installed (apt install chromium), and LEHR_CHROMIUM names none"


def not_run(part, why):
    """Reports that a part cannot run; returns the exit code for this."""
    is_relied_on = os.environ.get("LEHR_WEB_REQUIRED", "").lower() not in ("", "0", "false")
    print(f"web: NOT RUN: {part}: {why}", flush=True)
    return 1 if is_relied_on else 0


def sizes(folder):
    """Returns the compressed size of each file."""
    return {
        path.name: len(gzip.compress(path.read_bytes(), 9, mtime=0))
        for path in sorted(folder.iterdir())
    }


def over_budget(found):
    """Returns one sentence for each exceeded budget, and one for each missing file of the shell."""
    faults = [f"{name} is missing from web/dist" for name in SHELL + REPORT + DATA if name not in found]
    shell, report, data, every = (sum(found.get(name, 0) for name in names) for names in (SHELL, REPORT, DATA, found))
    whole = every - data
    if report > REPORT_MAX:
        faults.append(f"a report ({', '.join(REPORT)}) has {report} bytes compressed, the limit is {REPORT_MAX}")
    if shell > SHELL_MAX:
        faults.append(f"the shell ({', '.join(SHELL)}) has {shell} bytes compressed, the limit is {SHELL_MAX}")
    if whole > ALL_MAX:
        faults.append(f"all code has {whole} bytes compressed, the limit is {ALL_MAX}")
    if data > DATA_MAX:
        faults.append(f"data ({', '.join(DATA)}) have {data} bytes compressed, the limit is {DATA_MAX}")
    return faults


def differences(built, committed):
    """Returns the names of files that differ, or that only one of two folders has."""
    names = {path.name for folder in (built, committed) if folder.is_dir() for path in folder.iterdir()}

    def content(folder, name):
        return (folder / name).read_bytes() if (folder / name).is_file() else None

    return sorted(name for name in names if content(built, name) != content(committed, name))


def run(*command, **environment):
    print(f"web: {' '.join(command)}", flush=True)
    return subprocess.run(command, cwd=WEB, env={**os.environ, **environment}).returncode


def install():
    """Installs the packages of the lock file, unless they are installed."""
    stamp = WEB / "node_modules" / ".installed"
    lock = (WEB / "package-lock.json").read_bytes()
    if stamp.is_file() and stamp.read_bytes() == lock:
        return 0
    code = run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
    if code == 0:
        stamp.write_bytes(lock)
    return code


def check_sources():
    for script in ["types", "unit"]:
        code = run("npm", "run", "--silent", script)
        if code:
            return code
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder, "dist")
        for config, keeps in [("vite.config.ts", "--emptyOutDir"), ("vite.report.config.ts", "--emptyOutDir=false")]:
            code = run("npx", "vite", "build", "--config", config, "--outDir", str(built), keeps, "--logLevel", "warn")
            if code:
                return code
        changed = differences(built, WEB / "dist")
    if changed:
        print(f"web: {', '.join(changed)} in web/dist are not what the sources make: run make web, and commit the files")
        return 1
    print("web: web/dist is what the sources make")
    return 0


def check_sizes():
    found = sizes(WEB / "dist")
    faults = over_budget(found)
    for fault in faults:
        print(f"web: {fault}")
    listed = ", ".join(f"{name} {size}" for name, size in found.items())
    data = sum(found.get(name, 0) for name in DATA)
    print(f"web: compressed bytes: {listed}; code {sum(found.values()) - data} of {ALL_MAX}, data {data} of {DATA_MAX}", flush=True)
    return 1 if faults else 0


def check(command):
    code = check_sizes()
    if code:
        return code
    trouble = node_trouble()
    if trouble:
        return not_run("types, unit tests, build, tests in Chromium", trouble)
    if install():
        return not_run("types, unit tests, build, tests in Chromium", "npm cannot install what package-lock.json names")
    code = check_sources()
    if code:
        return code
    trouble = chromium_trouble()
    if trouble:
        return not_run("tests in Chromium", trouble)
    return run("npm", "run", "--silent", "browser", LEHR_COMMAND=str(Path(command).resolve()))


def build():
    trouble = node_trouble()
    if trouble:
        print(f"web: {trouble}", file=sys.stderr)
        return 4
    code = install() or run("npm", "run", "--silent", "build")
    return code or check_sizes()


def pictures(command):
    trouble = node_trouble() or chromium_trouble()
    if trouble:
        print(f"web: {trouble}", file=sys.stderr)
        return 4
    return install() or run("npm", "run", "--silent", "pictures", LEHR_COMMAND=str(Path(command).resolve()))


def times(command, record):
    trouble = node_trouble() or chromium_trouble()
    if trouble:
        print(f"web: {trouble}", file=sys.stderr)
        return 4
    return install() or run("npm", "run", "--silent", "times", LEHR_COMMAND=str(Path(command).resolve()), LEHR_RECORD=str(Path(record).resolve()))


def main(arguments):
    match arguments:
        case ["check", command]:
            return check(command)
        case ["build"]:
            return build()
        case ["pictures", command]:
            return pictures(command)
        case ["times", command, record]:
            return times(command, record)
        case _:
            print(__doc__, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
