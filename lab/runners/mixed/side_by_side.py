"""Ordinary tables of mixed types: Lehr beside scikit-learn with skrub, Orange, FactoMineR, clustMixType, kmodes, Gower with PAM, and DuckDB.

Usage: side_by_side.py --lehr target/release/lehr --record lab/records/local/mixed.json [--parts reading,job,quality] [--only WORD]
R is asked for its part if Rscript can be found. The record grows part by part, and set by set; sets that it holds already are not done again.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import customers
import job
import quality
import reading
import sets

PEERS = ["scikit-learn", "skrub", "pandas", "Orange3", "kmodes", "gower", "kmedoids", "prince", "duckdb"]
PEERS_OF_R = ["FactoMineR", "clustMixType"]


def versions(lehr, rscript):
    found = {"Python": platform.python_version()} | {name: version(name) for name in PEERS}
    found["Lehr"] = subprocess.run([lehr, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    if rscript:
        asked = "; ".join(f'if (requireNamespace("{name}", quietly = TRUE)) cat("{name}", as.character(packageVersion("{name}")), "\\n")' for name in PEERS_OF_R)
        done = subprocess.run([rscript, "-e", f'cat("R", paste(R.version$major, R.version$minor, sep = "."), "\\n"); {asked}'], capture_output=True, text=True, check=True)
        found |= dict(line.split() for line in done.stdout.splitlines())
    return found


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        processor = next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), platform.machine())
    return {"processor": processor, "threads": len(os.sched_getaffinity(0)), "system": platform.system()}


def read(lehr, rscript):
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        people, _ = customers.customers()
        for name, is_german in (("German", True), ("English", False)):
            file = Path(folder, f"{name}.csv")
            file.write_text(customers.csv(customers.cells(people, is_german), is_german), encoding="utf-8")
            found[name] = {reader: reading.right(words) for reader, words in reading.readings(lehr, rscript, file, is_german).items()}
    return found


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--lehr", required=True)
    arguments.add_argument("--record", required=True, type=Path)
    arguments.add_argument("--parts", default="reading,job,quality")
    arguments.add_argument("--only", default="")
    given = arguments.parse_args()
    parts, rscript = given.parts.split(","), shutil.which("Rscript")
    record = json.loads(given.record.read_text(encoding="utf-8")) if given.record.exists() else {}
    record |= {"versions": versions(given.lehr, rscript), "machine": machine()}

    def keep():
        given.record.parent.mkdir(parents=True, exist_ok=True)
        given.record.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")

    def say(text):
        print(text, flush=True)

    if "reading" in parts:
        record["reading"] = {"columns": list(reading.TRUTH), "right": read(given.lehr, rscript)}
        keep()
    if "job" in parts:
        record["job"] = job.compare(given.lehr, rscript, say)
        keep()
    if "quality" in parts:
        done = record.setdefault("quality", {})
        for name, one in sets.panel():
            if given.only in name and name not in done:
                say(name)
                done[name] = quality.compare(quality.Lehr(given.lehr), rscript, one, say)
                keep()


if __name__ == "__main__":
    main()
