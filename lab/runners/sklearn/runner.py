"""scikit-learn's k-means, one request a line (lab/METHOD.md has the protocol).

{"table": path}                                            -> {"versions": {...}}
{"clusters": K, "seed": s, "restarts": r, "threads": t}    -> {"seconds": of fit alone, "rounds": iterations, "centers": [[...]]}
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy
import sklearn
from sklearn.cluster import KMeans
from table import read, serve
from threadpoolctl import threadpool_limits

data = {}


def answer(request):
    if "table" in request:
        data["values"], data["weights"] = read(request["table"])
        return {"versions": {"scikit-learn": sklearn.__version__, "numpy": numpy.__version__}}
    model = KMeans(
        n_clusters=request["clusters"], n_init=request["restarts"], random_state=request["seed"], algorithm="lloyd", max_iter=300
    )
    with threadpool_limits(limits=request["threads"]):
        start = time.perf_counter()
        model.fit(data["values"], sample_weight=data["weights"])
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "rounds": int(model.n_iter_), "centers": model.cluster_centers_.tolist()}


serve(answer)
