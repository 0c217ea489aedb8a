"""Runs a whole job on a node by clients that others' generators make from its OpenAPI description: Python, TypeScript and Java.

Usage: run.py LEHR FOLDER [LANGUAGE...]

openapi-python-client, openapi-typescript with openapi-fetch, and OpenAPI Generator's Java client, pinned in the folders beside this file, are installed
into FOLDER from the registries of their languages. Each job uploads a CSV, runs a clustering, waits, reads data set, labels and a fault, and asks the
model. No generator may warn of the description or leave an operation out. A language that lacks its tools is NOT RUN; LEHR_CLIENTS_REQUIRED makes that fail.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
MIDDLES = [(0, 0), (10, 0), (0, 10)]

# What OpenAPI Generator says of itself, whatever it is given; and of any choice that has a text among its forms, of which it makes a class that works.
NOT_OF_THE_DESCRIPTION = ("OpenAPI 3.1 support is still in beta", "Failed to get the schema name: null")


class NotRun(Exception):
    """A language whose tools are not there."""


def run(command, **options):
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert ended.returncode == 0, f"{command[0]} ended with {ended.returncode}\n{ended.stdout[-6000:]}\n{ended.stderr[-6000:]}"
    return ended.stdout + ended.stderr


def install(command, **options):
    """Runs an installer; its failure is that of the network, or of a registry."""
    ended = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if ended.returncode != 0:
        raise NotRun(f"{Path(command[0]).name} installs nothing here: {(ended.stderr or ended.stdout).strip().splitlines()[-1:]}")


def needs(*programs):
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        raise NotRun(f"not installed: {', '.join(missing)}")


def letters(name):
    """A name without signs and case, which each language has its own of."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def all_there(operations, found):
    """Each operation has something of its name."""
    found = {letters(name) for name in found}
    lost = [operation for operation in operations if letters(operation) not in found]
    assert not lost, f"left out: {', '.join(lost)}"


def python(folder, url, table, operations):
    environment = folder / "environment"
    if not (environment / ".installed").exists():
        venv.create(environment, with_pip=True)
        install([environment / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-r", HERE / "python" / "requirements.txt"])
        (environment / ".installed").touch()
    client = folder / "lehr_client"
    program = environment / "bin" / "openapi-python-client"
    told = run([program, "generate", "--path", folder.parent / "openapi.json", "--meta", "none", "--overwrite", "--output-path", client,
                "--config", HERE / "python" / "generator.yml", "--fail-on-warning"])  # fmt: skip
    assert "WARNING" not in told.upper(), told
    all_there(operations, [module.stem for module in client.glob("api/*/*.py")])
    shutil.copy(HERE / "python" / "job.py", folder)
    return run([environment / "bin" / "python", folder / "job.py", url, table])


def typescript(folder, url, table, operations):
    needs("node", "npm", "npx")
    for name in ("package.json", "package-lock.json", "tsconfig.json", "job.ts"):
        shutil.copy(HERE / "typescript" / name, folder)
    if not (folder / "node_modules" / "openapi-fetch").exists():
        install(["npm", "ci", "--silent", "--no-audit", "--no-fund"], cwd=folder)
    told = run(["npx", "openapi-typescript", str(folder.parent / "openapi.json"), "-o", "schema.d.ts", "--default-non-nullable=false"], cwd=folder)
    assert "warn" not in told.lower(), told
    schema = (folder / "schema.d.ts").read_text()
    all_there(operations, re.findall(r'^    "?([\w.]+)"?: \{', schema[schema.index("export interface operations") :], re.MULTILINE))
    run(["npx", "tsc", "--project", "."], cwd=folder)
    return run(["node", "job.js", url, table], cwd=folder)


def java(folder, url, table, operations):
    needs("java", "mvn")
    shutil.copytree(HERE / "java", folder, dirs_exist_ok=True)
    shutil.copy(folder.parent / "openapi.json", folder)
    shutil.rmtree(folder / "target", ignore_errors=True)
    maven = ["mvn", "--batch-mode", "--no-transfer-progress"]
    install([*maven, "dependency:resolve-plugins", "dependency:resolve"], cwd=folder)
    told = run([*maven, "compile"], cwd=folder)
    warnings = [line for line in told.splitlines() if "WARN" in line and not any(known in line for known in NOT_OF_THE_DESCRIPTION)]
    assert not warnings, "\n".join(warnings)
    methods = [re.findall(r"^  public \w.*? (\w+)\(", file.read_text(), re.MULTILINE) for file in folder.glob("target/generated-sources/**/api/*.java")]
    all_there(operations, [name for names in methods for name in names])
    return run([*maven, "--quiet", "exec:java", f"-Dexec.args={url} {table}"], cwd=folder)


LANGUAGES = {"python": python, "typescript": typescript, "java": java}


def main(lehr, folder, *languages):
    folder = Path(folder).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    rows = [(row, *MIDDLES[row % 3]) for row in range(60)]
    table = folder / "sites.csv"
    table.write_text("site,x,y\n" + "".join(f"s{row},{x + row % 7 / 10},{y + row % 5 / 10}\n" for row, x, y in rows))
    failed = False
    with tempfile.TemporaryDirectory() as kept:
        options = ["--listen", "127.0.0.1:0", "--start", "lehr/records=/notes", "--start", "lehr.mixture=/mixture", "--keep", kept]
        node = subprocess.Popen([lehr, "serve", *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = node.stdout.readline().strip()
            with urllib.request.urlopen(f"{url}/openapi.json") as answer:
                description = json.load(answer)
            (folder / "openapi.json").write_text(json.dumps(description, indent=1))
            operations = [page["operationId"] for path in description["paths"].values() for page in path.values()]
            for language in languages or LANGUAGES:
                own = folder / language
                own.mkdir(exist_ok=True)
                try:
                    told = re.sub(r"\x1b\[[0-9;]*m", "", LANGUAGES[language](own, url, table, operations)).strip()
                    print(f"clients: {language}: {len(operations)} operations; {told}", flush=True)
                except NotRun as cause:
                    failed |= "LEHR_CLIENTS_REQUIRED" in os.environ
                    print(f"clients: {language}: NOT RUN, {cause}", file=sys.stderr, flush=True)
                except AssertionError as cause:
                    failed = True
                    print(f"clients: {language}: FAILED: {cause}", file=sys.stderr, flush=True)
        finally:
            node.terminate()
            node.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 3 or not set(sys.argv[3:]) <= set(LANGUAGES):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
