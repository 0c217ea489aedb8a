"""What readers take the columns of the invented customers for, told nothing and told what can be told: names of the columns that are right."""

import json
import subprocess
import tempfile
import warnings
from pathlib import Path

import duckdb
import pandas as pd
from Orange.data import Table
from skrub import Cleaner

from customers import MEASURES

# There are six measures and a date; all other columns are text for any reader.
TRUTH = {**dict.fromkeys(MEASURES, "number"), "Beitritt": "date"}
GAPS = ["", "N/A", "-"]

KINDS = {
    "number": ("float", "int", "double", "bigint", "numeric", "continuous", "measure"),
    "date": ("date", "time"),
}


def kind(word):
    """Returns number, date or text, from a reader's own name of a type."""
    return next((found for found, words in KINDS.items() if word.lower().startswith(words)), "text")


def of_lehr(command, file):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([command, "cluster", file, "--auto", "--quiet", "--out", f"{folder}/out"], capture_output=True, check=True)
        summary = json.loads(Path(folder, "out/summary.json").read_text(encoding="utf-8"))
    return {column["name"]: column["role"] for column in summary["columns"]}


def of_frame(frame):
    return {name: str(dtype) for name, dtype in frame.dtypes.items()}


def of_duckdb(file, told=""):
    return dict(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE SELECT * FROM read_csv('{file}', sample_size = -1{told}))").fetchall())


def of_orange(file):
    domain = Table.from_file(str(file)).domain
    return {variable.name: type(variable).__name__.removesuffix("Variable") for variable in domain.variables + domain.metas}


def of_r(rscript, call):
    script = f"table <- {call}; for (name in names(table)) cat(name, class(table[[name]])[1], '\\n')"
    done = subprocess.run([rscript, "-e", script], capture_output=True, text=True, check=True)
    return dict(line.split() for line in done.stdout.splitlines() if line.strip())


def readings(lehr, rscript, file, is_german):
    """Returns reader -> {column: its name of the type}."""
    warnings.simplefilter("ignore")
    between, decimal, thousands = (";", ",", ".") if is_german else (",", ".", ",")
    told = pd.read_csv(file, sep=between, decimal=decimal, thousands=thousands, na_values=GAPS, parse_dates=["Beitritt"], dayfirst=True)
    listed = ", ".join(f"'{gap}'" for gap in GAPS)
    found = {
        "Lehr": of_lehr(lehr, file),
        "pandas, told separator, marks, gaps and the date": of_frame(told),
        "pandas and skrub's Cleaner, told the same": of_frame(Cleaner(parse_numbers=True, null_strings=GAPS).fit_transform(told)),
        "Orange": of_orange(file),
        "DuckDB": of_duckdb(file),
        "DuckDB, told marks and gaps": of_duckdb(file, f", nullstr = [{listed}], decimal_separator = '{decimal}', thousands = '{thousands}'"),
    }
    if rscript:
        gaps = ", ".join(f'"{gap}"' for gap in GAPS)
        found["R's read.csv, told separator, marks and gaps"] = of_r(rscript, f'read.csv("{file}", sep = "{between}", dec = "{decimal}", na.strings = c({gaps}))')
    return found


def right(words):
    """Returns the columns of TRUTH whose type was recognised."""
    return [name for name, truth in TRUTH.items() if kind(words.get(name, "")) == truth]
