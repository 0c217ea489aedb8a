"""Records of `lehr-lab bench` and `lehr-lab quality`: NAME.csv with a figure a row (case, engine, quantity, unit, count, min, median, max), and NAME.machine.json beside it. Standard library only."""

import csv
import json
import sys
from pathlib import Path

from comparison import ABSENT, digits

DEFINITIONS = Path(__file__).resolve().parent.parent / "definitions" / "mining"


def definition(name):
    """Returns a definition of the mining measurements, with its goals."""
    return json.loads((DEFINITIONS / f"{name}.json").read_text(encoding="utf-8"))


def cases(path):
    """Returns {case: {engine: {quantity: row}}}, in the order of the record; an empty dictionary if there is no record."""
    found = {}
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                row.update({name: float(row[name]) for name in ("min", "median", "max")})
                found.setdefault(row["case"], {}).setdefault(row["engine"], {})[row["quantity"]] = row
    return found


def spread(row, form="{:.4f}"):
    """Formats the median, and the minimum to the maximum if they look different; without a format, with three digits."""
    if row is None:
        return ABSENT
    least, middle, most = (form.format(row[name] + 0.0) if form else digits(row[name]) for name in ("min", "median", "max"))
    return f"**{middle}**" if least == most else f"**{middle}** ({least} to {most})"


def machine(path):
    if path.is_file():
        about = json.loads(path.read_text(encoding="utf-8"))
        said = [f"{name.replace('_', ' ')} {about['machine'][name]}" for name in ("processor", "threads", "system", "rust", "commit") if name in about["machine"]]
        for text in about["versions"]:
            said += [f"{name} {version}" for name, version in json.loads(text).items() if f"{name} {version}" not in said]
        yield "; ".join(said) + "."
        yield ""


def tables(folder, parts):
    """Yields, for each (name, part) with a record, the part's text for its cases, and the machine."""
    for name, part in parts:
        found = cases(folder / f"{name}.csv")
        if found:
            yield from part(found)
            yield from machine(folder / f"{name}.machine.json")


def write(usage, page, what):
    """Prints the page of the folder in the command line; ends with a message if the folder has no record."""
    if len(sys.argv) != 2:
        sys.exit(usage.strip().splitlines()[-1])
    text = "\n".join(page(Path(sys.argv[1]))).rstrip()
    if "## " not in text:
        sys.exit(f"{sys.argv[1]}: no record of {what}")
    print(text)
