"""ugtm's topographic maps, one request a line (lab/METHOD.md has the protocol).

{"table": path}                                    -> {"versions": {...}}
{"nodes": n, "basis": m, "threads": t}             -> {"seconds": of fit alone, "images": [[...]], "noise": variance}

The settings are its defaults except for nodes and functions along a side: width 0.3, regularisation 0.1, 200 sweeps from the principal plane. Images are n x n rows of the data's columns.
"""

import sys
import time
from importlib.metadata import version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import ugtm
from table import read, serve
from threadpoolctl import threadpool_limits

data = {}


def answer(request):
    if "table" in request:
        data["values"], _ = read(request["table"])
        return {"versions": {package: version(package) for package in ("ugtm", "numpy", "scikit-learn")}}
    with threadpool_limits(limits=request["threads"]):
        start = time.perf_counter()
        # No value is missing, and the columns are not changed.
        model = ugtm.runGTM(data["values"], k=request["nodes"], m=request["basis"], missing=False)
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "images": model.matY.T.tolist(), "noise": float(model.betaInv)}


serve(answer)
