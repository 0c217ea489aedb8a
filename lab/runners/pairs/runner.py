"""Dissimilarities of all pairs by parasail, RDKit, SciPy and scikit-learn on one thread, one request a line (lab/METHOD.md has the protocol).

{"sequences": path, "fingerprints": path, "letters": path, "rows": path}    -> {"versions": {...}}
{"align": "local" | "global", "counts": whether matches are wanted}         -> {"seconds": s, "total": the sum of scores and matches}
{"measure": "tanimoto" | "hamming" | "euclidean"}                           -> {"seconds": s, "total": the sum of dissimilarities}

Sequences, fingerprints (in hexadecimal) and aligned letters stand one a line; rows are a table. Parasail is called as its users call it, pair by pair, with a
profile for each first sequence where that is faster; of its kernels these were the fastest on sequences of 300 letters.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy
import parasail
import rdkit
import scipy
import sklearn
from rdkit import DataStructs
from scipy.spatial.distance import pdist
from sklearn.metrics.pairwise import nan_euclidean_distances
from table import read, serve
from threadpoolctl import threadpool_limits

# With counts, kernels that take a profile are slower on sequences of 300 letters, and some of 1.3.4 crash.
KERNELS = {
    ("local", False): (parasail.sw_scan_profile_16, parasail.profile_create_16),
    ("local", True): (parasail.sw_stats_scan_16, None),
    ("global", False): (parasail.nw_striped_profile_16, parasail.profile_create_16),
    ("global", True): (parasail.nw_stats_scan_16, None),
}

data = {}


def load(request):
    data["sequences"] = Path(request["sequences"]).read_text().split()
    data["fingerprints"] = [DataStructs.CreateFromFPSText(line) for line in Path(request["fingerprints"]).read_text().split()]
    letters = Path(request["letters"]).read_text().split()
    data["letters"] = numpy.array([list(line.encode()) for line in letters], dtype=numpy.uint8)
    data["rows"], _ = read(request["rows"])
    versions = {"parasail": parasail.__version__, "rdkit": rdkit.__version__, "scipy": scipy.__version__, "scikit-learn": sklearn.__version__}
    return {"versions": versions}


def aligned(mode, counts):
    align, prepare = KERNELS[mode, counts]
    genes = data["sequences"]
    total = 0
    start = time.perf_counter()
    for i, first in enumerate(genes):
        profile = prepare(first, parasail.dnafull) if prepare else None
        for second in genes[i + 1 :]:
            found = align(profile, second, 16, 4) if profile else align(first, second, 16, 4, parasail.dnafull)
            total += found.score + (found.matches if counts else 0)
    return {"seconds": time.perf_counter() - start, "total": total}


def measured(measure):
    start = time.perf_counter()
    if measure == "tanimoto":
        prints = data["fingerprints"]
        similar = [DataStructs.BulkTanimotoSimilarity(first, prints[i + 1 :]) for i, first in enumerate(prints)]
        seconds = time.perf_counter() - start
        total = sum(len(row) - sum(row) for row in similar)
    elif measure == "hamming":
        values = pdist(data["letters"], "hamming")
        seconds = time.perf_counter() - start
        total = float(values.sum())
    else:
        values = nan_euclidean_distances(data["rows"])
        seconds = time.perf_counter() - start
        total = float(values.sum()) / 2
    return {"seconds": seconds, "total": total}


def answer(request):
    if "sequences" in request:
        return load(request)
    with threadpool_limits(limits=1):
        return aligned(request["align"], request["counts"]) if "align" in request else measured(request["measure"])


serve(answer)
