"""Records of `lehr-harness`: NAME.csv with a figure a row (case, engine, quantity, unit, count, min, median, max), and NAME.machine.json beside it. Standard library only."""

import csv
import json

from comparison import ABSENT


def cases(path):
    """{case: {engine: {quantity: row}}}, in the order of the record; nothing if it is not there."""
    found = {}
    if path.is_file():
        with path.open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                row.update({name: float(row[name]) for name in ("min", "median", "max")})
                found.setdefault(row["case"], {}).setdefault(row["engine"], {})[row["quantity"]] = row
    return found


def spread(row, form="{:.4f}"):
    """The middle, and the least to the most where they differ as shown."""
    if row is None:
        return ABSENT
    least, middle, most = (form.format(row[name] + 0.0) for name in ("min", "median", "max"))
    return f"**{middle}**" if least == most else f"**{middle}** ({least} to {most})"


def machine(path):
    if path.is_file():
        about = json.loads(path.read_text(encoding="utf-8"))
        said = [f"{name.replace('_', ' ')} {about['machine'][name]}" for name in ("processor", "threads", "system", "rust", "commit") if name in about["machine"]]
        for text in about["versions"]:
            said += [f"{name} {version}" for name, version in json.loads(text).items() if f"{name} {version}" not in said]
        yield "; ".join(said) + "."
        yield ""
