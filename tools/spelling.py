"""Is every word spelled as a dictionary of known misspellings would have it, and is prose British? Looks with codespell.

Usage: spelling.py    one line a fault, with the file, the line and the right spelling; exit code 1 if there is any

- Known misspellings: in every text and source file, so in help, error messages and comments too.
- American spellings: in prose only. Identifiers and options are spelled as the field spells them (`color`, `centers.csv`).

codespell is installed into target/spelling at the first run. Where it can't be installed, the check says NOT RUN and passes; where `CI` is set, it fails.
"""

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import prose

ROOT = Path(__file__).resolve().parent.parent
ENVIRONMENT = ROOT / "target/spelling"
REQUIREMENTS = ROOT / "tools/requirements.txt"
PATTERNS = ["*.md", "*.rst", "*.rs", "*.py", "*.toml", "*.html", "*.css", "*.ts", "*.tsx", "*.c", "*.h", "*.go", "*.java", "*.yml", "Makefile"]
#: Generated files, and descriptions of tables whose columns other people named.
LEFT_OUT = re.compile(r"web/dist/|lab/tables/|docs/lab/tables\.md$")
#: Names that the dictionary takes for misspellings of other words.
NAMES = ["shepard", "sammon", "bae"]
#: Words of other languages, abbreviations and names in code.
IN_CODE = [
    "januar", "februar", "juni", "juli", "oktober", "dezember", "somme", "zar", "nax", "atmost", "afterall", "pixelx", "coo", "fro", "nam", "ot", "ser", "fo", "ane", "te", "nd",
]
#: Mistakes that a user might type, in tests and examples; and MPI's own `Improbe`.
ON_PURPOSE = ["teh", "colums", "concurency", "clutsers", "levle", "nmae", "improbe"]
#: Words that are right in British prose too.
BRITISH_TOO = {"program", "programs", "routing", "biased", "writable", "licensed", "license"}


def not_run(why):
    """Reports that spelling isn't checked, and why; returns the exit code for this."""
    print(f"spelling: NOT RUN: {why}", flush=True)
    return 1 if os.environ.get("CI", "").lower() not in ("", "0", "false") else 0


def installed(folder, requirements):
    """Installs codespell into a folder unless it is already there; raises OSError or CalledProcessError if it isn't available."""
    stamp = folder / ".installed"
    wanted = requirements.read_text(encoding="utf-8")
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True)
        pip = [str(folder / "bin/pip"), "install", "--quiet", "--disable-pip-version-check", "--retries", "1", "-r", str(requirements)]
        subprocess.run(pip, check=True, capture_output=True, text=True)
        stamp.write_text(wanted, encoding="utf-8")


def files(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PATTERNS], cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split("\n")
    return [name for name in listed if name and not LEFT_OUT.match(name) and (root / name).is_file()]


def misspelled(root, names, codespell):
    """Returns one line for each known misspelling in the files."""
    ignored = ",".join([*NAMES, *IN_CODE, *ON_PURPOSE])
    found = subprocess.run([codespell, "--ignore-words-list", ignored, *names], cwd=root, capture_output=True, text=True, check=False)
    if found.returncode not in (0, 65):
        raise OSError(found.stderr.strip() or f"codespell ended with {found.returncode}")
    lines = (re.fullmatch(r"(.*?):(\d+): (.*?) ==> (.*)", line) for line in found.stdout.split("\n"))
    return [f"{line[1]}, line {line[2]}: \"{line[3]}\": {line[4]}" for line in lines if line]


def americanisms(dictionary):
    """Returns American spellings with their British ones, from lines such as `colour->color`."""
    pairs = (line.strip().split("->") for line in dictionary.split("\n") if "->" in line)
    return {american.split(",")[0].strip(): british for british, american in pairs if american.split(",")[0].strip() not in BRITISH_TOO}


def american(name, text, spellings):
    """Yields one line for each American spelling in the prose of a file."""
    for number, block in prose.READERS[Path(name).suffix](text):
        # Titles of works stay unchanged.
        for word in re.findall(r"[A-Za-z]+", re.sub(r'"[^"]*"', " ", prose.plain(block))):
            if word.lower() in spellings:
                yield f"{name}, line {number}: \"{word}\": {spellings[word.lower()]}"


def main():
    try:
        installed(ENVIRONMENT, REQUIREMENTS)
        faults = misspelled(ROOT, files(ROOT), ENVIRONMENT / "bin/codespell")
        [dictionary] = ENVIRONMENT.glob("lib/python*/site-packages/codespell_lib/data/dictionary_en-GB_to_en-US.txt")
    except (OSError, subprocess.CalledProcessError, ValueError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().split("\n")[-1]
        return not_run(f"codespell could not be installed into {ENVIRONMENT.relative_to(ROOT)}: {said}")
    spellings = americanisms(dictionary.read_text(encoding="utf-8"))
    for name in (name for name, _ in prose.files(ROOT) if not LEFT_OUT.match(name)):
        faults += american(name, (ROOT / name).read_text(encoding="utf-8"), spellings)
    print("\n".join(f"spelling: {fault}" for fault in faults) if faults else "spelling: no known misspelling")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
