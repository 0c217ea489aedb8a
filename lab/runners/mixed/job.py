"""The job: from a messy file of customers to explained groups, outliers, and labels for next month's file. Each program is run, timed, and judged by what it wrote."""

import csv
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from sklearn.metrics import adjusted_rand_score

import customers
import lines

HERE = Path(__file__).resolve().parent
ROUNDS = 5
PROGRAMS = {"Lehr": "job_lehr.sh", "scikit-learn + skrub": "job_skrub.py", "Orange": "job_orange.py", "FactoMineR": "job_factominer.R", "DuckDB (reads only)": "job_duckdb.py"}
# The number of a program's outliers that are judged; twelve outliers were planted.
FIRST = 15


def command_of(program, lehr, rscript):
    """Returns the command that starts a program; None if something that it needs is missing."""
    path = HERE / program
    starters = {".sh": "sh", ".py": sys.executable, ".R": rscript}
    starter = starters[path.suffix]
    return [starter, str(path)] if starter else None


def column(path, name):
    if not path.is_file():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return [row[name] for row in csv.DictReader(file)]


class Bench:
    """The files of the job in a folder, and the known facts about them."""

    def __init__(self, folder, lehr, rscript):
        self.folder, self.lehr, self.rscript = Path(folder), lehr, rscript
        self.people, self.planted = customers.customers()
        following, self.groups = customers.next_month()
        names, *rows = csv.reader(following.splitlines(), delimiter=";")
        lacks = names.index("Umsatz")
        english = list(customers.cells(customers.customers(7, 1000, 0, 0)[0], is_german=False, first=90_000))
        texts = {
            "kunden.csv": customers.csv(customers.cells(self.people, is_german=True), is_german=True),
            "customers.csv": customers.csv(customers.cells(self.people, is_german=False), is_german=False),
            "next.csv": following,
            "next_without_sales.csv": customers.csv([[*row[:lacks], *row[lacks + 1 :]] for row in [names, *rows]], is_german=True),
            "next_english.csv": customers.csv(english, is_german=False),
            "next_marks.csv": customers.csv(english, is_german=True),
        }
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, program, file="kunden.csv", following="next.csv"):
        """Returns (seconds, output, exit code, folder); for a failed run, the output is only its standard error."""
        out = Path(tempfile.mkdtemp(dir=self.folder))
        command = [*command_of(program, self.lehr, self.rscript), self.folder / file, self.folder / following, out / "out"]
        paths = f"{Path(self.lehr).resolve().parent}{os.pathsep}{os.environ['PATH']}"
        began = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": paths})
        return time.perf_counter() - began, done.stderr if done.returncode else done.stdout + done.stderr, done.returncode, out / "out"

    def agreement(self, labels):
        """Returns the agreement with the planted groups, without the customers that were made extreme; None if a row has no label."""
        if len(labels) != len(self.people):
            return None
        pairs = [(customer.group, label) for row, (customer, label) in enumerate(zip(self.people, labels)) if row not in self.planted]
        return round(adjusted_rand_score(*zip(*pairs)), 4)

    def agreement_of_next(self, labels):
        return round(adjusted_rand_score(self.groups, labels), 4) if len(labels) == len(self.groups) else None

    def judged(self, out):
        labels = column(out / "labels.csv", "cluster")
        planted = {f"K{customers.FIRST + row}" for row in self.planted}
        listed = column(out / "outliers.csv", "id")
        return {
            "clusters": len(set(labels) - {"-1"}),
            "agreement": self.agreement(labels),
            "outliers": len(listed),
            "planted_among_first": len(planted & set(listed[:FIRST])),
            "agreement_of_next": self.agreement_of_next(column(out / "next.csv", "cluster")),
        }

    def trial(self, program, word, file="kunden.csv", following="next.csv"):
        """Returns the outcome for a changed file: refused, reported (the output has the word), or neither."""
        _, said, code, out = self.run(program, file, following)
        labels = column(out / "labels.csv", "cluster")
        return {
            "is_refused": code != 0,
            "is_named": word in said,
            "agreement": self.agreement(labels),
            "agreement_of_next": self.agreement_of_next(column(out / "next.csv", "cluster")) if code == 0 else None,
        }


def compare(lehr, rscript, say):
    """Measures the time and the results of each program for the job, in turns; the first round warms up."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(folder, lehr, rscript)
        programs = {name: program for name, program in PROGRAMS.items() if command_of(program, lehr, rscript)}
        seconds = {name: [] for name in programs}
        results = {}
        for turn in range(ROUNDS + 1):
            for name, program in programs.items():
                took, said, code, out = bench.run(program)
                if code:
                    raise RuntimeError(f"{program}: {said}")
                if turn == 0:
                    results[name] = bench.judged(out)
                else:
                    seconds[name].append(round(took, 3))
                say(f"{name}: {took:.1f} s")
        for name, program in programs.items():
            results[name] |= {"lines": lines.of((HERE / program).read_text(encoding="utf-8")), "seconds": seconds[name]}
            if "reads only" in name:
                continue
            results[name]["trials"] = {
                "new column": bench.trial(program, "Kanal"),
                "missing column": bench.trial(program, "Umsatz", following="next_without_sales.csv"),
                "other marks": bench.trial(program, "Umsatz", following="next_marks.csv"),
                "first file from England": bench.trial(program, "Umsatz", file="customers.csv", following="next_english.csv"),
            }
            say(f"{name}: {results[name]}")
        return results
