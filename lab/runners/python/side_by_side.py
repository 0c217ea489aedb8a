"""lehr beside scikit-learn, faiss, kmedoids, hdbscan and ugtm on the same rows: objective, agreement with known classes, time and peak memory.

    python side_by_side.py [--data FOLDER] [--sets wine,digits] [--families centres,maps] [--threads 1] [--rounds 3] [--record FILE]

Each run is a separate process, so that its peak memory is measured separately and no run warms up another. It imports, reads the rows, fits a few drawn ones, notes its memory, and fits; only the last fit is timed. Contenders take turns, and the
order turns by one with each round; one that takes longer than 20 s is run once. One formula for each family of methods judges all results; figures that programs report do not count. A run that fails, or whose objective is not a finite number, is reported
and left out.

A family's table ends with who came first, by the middle of its times, to the best objective of all: to within 0.1 % of it, and of a likelihood to within 0.01 nats a row. That, and not the time alone, is what is compared. Who made more
clusters than were asked for is not. Where a contender draws, it does from one seed.

Five sets come with the package; --data or LEHR_DATA names the folder of the benchmarks.
"""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
import warnings
from importlib.metadata import version
from pathlib import Path

#: The numbers of clusters or components: as many as there are classes, and for the census the number of its demo.
BUILT_IN = {"iris": 3, "wine": 3, "breast_cancer": 2, "digits": 10, "census_blocks": 20}
#: `benchmarks/NAME.csv.gz` of the data folder, with classes in the last column.
BENCHMARKS = {"fcps_hepta": 7, "sipu_unbalance": 8, "sipu_s2": 15, "sipu_a3": 50, "sipu_birch1": 100, "uci_statlog": 7, "g2mg_64_30": 2}
CLUSTERS = BUILT_IN | BENCHMARKS
#: The maximum number of rows of the larger sets whose pairs are all compared, and to which mixtures, trees and densities are fitted.
MOST_PAIRED = 2000
MOST_MIXED = 10000
#: The families whose methods take no number of clusters.
WITHOUT_NUMBER = ("density",)
#: The difference from the best that counts as reaching it: a share of it, and nats for each row of likelihoods.
NEAR = 1e-3
NEAR_IN_NATS = 0.01
#: If a run takes longer than this many seconds, its contender is run only once.
LONG = 20.0
PACKAGES = ("faiss-cpu", "hdbscan", "kmedoids", "lehr", "numpy", "scikit-learn", "scipy", "ugtm")


def rows_of(name, folder):
    """Returns the rows, with varying columns standardised to mean 0 and standard deviation 1, and the classes if they are known."""
    import numpy as np

    if name in BENCHMARKS:
        table = np.loadtxt(Path(folder) / "benchmarks" / f"{name}.csv.gz", delimiter=",", skiprows=1)
        data, classes = table[:, :-1], table[:, -1]
    else:
        import lehr

        found = getattr(lehr.datasets, f"load_{name}")()
        data, classes = np.asarray(found.data, dtype=np.float64), getattr(found, "target", None)
    spread = data.std(axis=0)
    data = (data[:, spread > 0] - data.mean(axis=0)[spread > 0]) / spread[spread > 0]
    return np.ascontiguousarray(data), classes


# Each contender takes rows, the requested number of classes and threads, and returns the input of its family's judge.


def da(X, k, threads):
    import lehr

    return lehr.DAClustering(k, n_jobs=threads).fit(X).labels_


def pairwise(X, k, threads):
    import lehr

    return lehr.PairwiseClustering(k, metric="sqeuclidean", n_jobs=threads).fit(X).labels_


def lehr_kmeans(starts):
    def fit(X, k, threads):
        import lehr

        return lehr.KMeans(k, n_init=starts, n_jobs=threads).fit(X).labels_

    return fit


def sklearn_kmeans(starts):
    def fit(X, k, threads):
        from sklearn.cluster import KMeans

        return KMeans(k, n_init=starts, random_state=0).fit(X).labels_

    return fit


def faiss_kmeans(starts):
    def fit(X, k, threads):
        import faiss
        import numpy as np

        faiss.omp_set_num_threads(threads)
        rows = X.astype(np.float32)
        # All rows are used, as by the other contenders; by default, faiss takes a sample.
        kmeans = faiss.Kmeans(X.shape[1], k, niter=100, nredo=starts, seed=1, max_points_per_centroid=len(X))
        kmeans.train(rows)
        return kmeans.index.search(rows, 1)[1].ravel()

    return fit


def fasterpam(X, k, threads):
    import kmedoids
    from sklearn.metrics import pairwise_distances

    return kmedoids.fasterpam(pairwise_distances(X), k, random_state=0, n_cpu=threads).labels


def smallest(X, k):
    """Returns the least number of rows of a cluster for HDBSCAN, which takes no number of clusters: a fifth of the mean size of a class."""
    return max(5, len(X) // (5 * k))


def lehr_hdbscan(X, k, threads):
    import lehr

    return lehr.HDBSCAN(smallest(X, k), n_jobs=threads).fit(X).labels_


def hdbscan_labels(X, k, threads):
    import hdbscan

    return hdbscan.HDBSCAN(min_cluster_size=smallest(X, k), core_dist_n_jobs=threads).fit_predict(X)


def sklearn_hdbscan(X, k, threads):
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(smallest(X, k), n_jobs=threads, copy=True).fit_predict(X)


def lehr_tree(X, k, threads):
    import lehr

    return lehr.AgglomerativeClustering(k, linkage="ward", n_jobs=threads).fit(X).labels_


def scipy_tree(X, k, threads):
    from scipy.cluster.hierarchy import fcluster, linkage

    return fcluster(linkage(X, "ward"), k, "maxclust") - 1


def sklearn_tree(X, k, threads):
    from sklearn.cluster import AgglomerativeClustering

    return AgglomerativeClustering(k, linkage="ward").fit(X).labels_


def da_mixture(X, k, threads):
    import lehr

    model = lehr.DAGaussianMixture(k, covariance_type="diag", n_jobs=threads).fit(X)
    return model.weights_, model.means_, model.covariances_


def sklearn_mixture_by_default(X, k, threads):
    from sklearn.mixture import GaussianMixture

    model = GaussianMixture(k, covariance_type="diag", random_state=0).fit(X)
    return model.weights_, model.means_, model.covariances_


def sklearn_mixture(starts):
    def fit(X, k, threads):
        from sklearn.mixture import GaussianMixture

        model = GaussianMixture(k, covariance_type="diag", n_init=starts, max_iter=2000, tol=1e-8, random_state=0).fit(X)
        return model.weights_, model.means_, model.covariances_

    return fit


def smacof(annealed):
    def fit(X, k, threads):
        import lehr

        return lehr.SMACOF(annealed=annealed, n_jobs=threads).fit(X).embedding_

    return fit


def sklearn_mds(starts):
    def fit(X, k, threads):
        from scipy.spatial.distance import pdist, squareform
        from sklearn.manifold import smacof

        return smacof(squareform(pdist(X)), n_components=2, n_init=starts, n_jobs=1, max_iter=1000, eps=1e-6, random_state=0)[0]

    return fit


def gtm(X, k, threads):
    import lehr

    model = lehr.GTM(n_nodes=10, n_basis=4, n_jobs=threads).fit(X)
    return model.means_, model.noise_variance_, model.transform(X)


def ugtm_map(X, k, threads):
    import ugtm

    model = ugtm.runGTM(X, k=10, m=4, s=1.0, regul=0.1, niter=1000)
    return model.matY.T, float(model.betaInv), model.matMeans


# Each judge takes rows, classes and a contender's result, and returns the objective (lower is better), and labels or None.


def judge_partition(X, found):
    """Returns the sum of squares of a partition: from the mean of its cluster for a row in a cluster, from the nearest mean for any other row. So leaving rows out gives no advantage."""
    import numpy as np

    labels = np.asarray(found)
    clusters, own = np.unique(labels[labels >= 0], return_inverse=True)
    means = np.array([X[labels == k].mean(axis=0) for k in clusters])
    if len(means) == 0:
        means = X.mean(axis=0, keepdims=True)
    within = np.square(X[labels >= 0] - means[own]).sum() if len(clusters) else 0.0
    left = X[labels < 0]
    squares = ((left**2).sum(axis=1)[:, None] - 2 * left @ means.T + (means**2).sum(axis=1)).clip(0)
    return float(within + (squares.min(axis=1).sum() if len(left) else 0.0)), labels


def judge_density(X, found):
    """Returns minus the validity of density-based clusters (DBCV, by the package hdbscan): how sparse the space between clusters is, beside the sparsest place within each."""
    import numpy as np
    from hdbscan.validity import validity_index

    labels = np.asarray(found)
    return -float(validity_index(X, labels)), labels


def judge_mixture(X, found):
    """Returns minus the log-likelihood of a row; labels are the most probable components."""
    import numpy as np
    from scipy.special import logsumexp

    weights, means, variances = found
    squares = ((X[:, None, :] - means) ** 2 / variances).sum(axis=2)
    joint = np.log(weights) - 0.5 * (squares + np.log(2 * np.pi * variances).sum(axis=1))
    return -float(logsumexp(joint, axis=1).mean()), joint.argmax(axis=1)


def judge_map(X, found):
    """Returns the stress: the sum of squared errors divided by that of squared distances."""
    import numpy as np
    from scipy.spatial.distance import pdist

    distances = pdist(X)
    return float(np.square(pdist(found) - distances).sum() / np.square(distances).sum()), None


def judge_topography(X, found):
    """Returns minus the log-likelihood of a row under nodes of equal weight and one width."""
    import numpy as np
    from scipy.special import logsumexp

    nodes, variance, _ = found
    squares = (X**2).sum(axis=1)[:, None] - 2 * X @ nodes.T + (nodes**2).sum(axis=1)
    normalised = X.shape[1] / 2 * np.log(2 * np.pi * variance) + np.log(len(nodes))
    return -float((logsumexp(-squares / (2 * variance), axis=1) - normalised).mean()), None


FAMILIES = {
    "centres": (
        "sum of squares",
        judge_partition,
        {
            "lehr DAClustering": da,
            "lehr KMeans, 1 start": lehr_kmeans(1),
            "lehr KMeans, 10": lehr_kmeans(10),
            "lehr KMeans, 100": lehr_kmeans(100),
            "lehr PairwiseClustering": pairwise,
            "scikit-learn KMeans, 1": sklearn_kmeans(1),
            "scikit-learn KMeans, 10": sklearn_kmeans(10),
            "scikit-learn KMeans, 100": sklearn_kmeans(100),
            "faiss, 1": faiss_kmeans(1),
            "faiss, 10": faiss_kmeans(10),
            "kmedoids fasterpam": fasterpam,
        },
    ),
    "trees": (
        "sum of squares of a cut of the tree, Ward's linkage",
        judge_partition,
        {"lehr AgglomerativeClustering": lehr_tree, "scipy linkage": scipy_tree, "scikit-learn AgglomerativeClustering": sklearn_tree},
    ),
    "density": (
        "-validity (DBCV)",
        judge_density,
        {"lehr HDBSCAN": lehr_hdbscan, "hdbscan": hdbscan_labels, "scikit-learn HDBSCAN": sklearn_hdbscan},
    ),
    "mixtures": (
        "-log-likelihood a row, diagonal",
        judge_mixture,
        {
            "lehr DAGaussianMixture": da_mixture,
            "scikit-learn GaussianMixture": sklearn_mixture_by_default,
            "scikit-learn GaussianMixture, 1 to the end": sklearn_mixture(1),
            "scikit-learn GaussianMixture, 10 to the end": sklearn_mixture(10),
            "scikit-learn GaussianMixture, 100 to the end": sklearn_mixture(100),
        },
    ),
    "maps": (
        "stress",
        judge_map,
        {
            "lehr SMACOF": smacof(False),
            "lehr SMACOF, annealed": smacof(True),
            "scikit-learn smacof, 1": sklearn_mds(1),
            "scikit-learn smacof, 4": sklearn_mds(4),
        },
    ),
    "topographic maps": (
        "-log-likelihood a row, 10 x 10 nodes, 4 x 4 functions",
        judge_topography,
        {"lehr GTM": gtm, "ugtm": ugtm_map},
    ),
}
#: The contenders that compare all pairs.
PAIRED = {"lehr PairwiseClustering", "kmedoids fasterpam", *FAMILIES["maps"][2]}


def run_one(request):
    """Runs in a separate process: fits, judges, and prints the result as JSON."""
    import numpy as np
    from threadpoolctl import threadpool_limits

    warnings.simplefilter("ignore")
    X, classes = rows_of(request["set"], request["data"])
    _, judge, contenders = FAMILIES[request["family"]]
    fit = contenders[request["contender"]]
    with threadpool_limits(limits=request["threads"]):
        # This fit warms up imports and first calls, with drawn rows, because some columns might not vary among a few real rows.
        fit(np.random.default_rng(0).normal(size=(64, X.shape[1])), 2, request["threads"])
        before = resident_from_here()
        start = time.perf_counter()
        found = fit(X, CLUSTERS[request["set"]], request["threads"])
        seconds = time.perf_counter() - start
        peak = resident("VmHWM")
    objective, labels = judge(X, found)
    if not math.isfinite(objective):
        sys.exit(f"an objective of {objective}")
    agreement = None
    if labels is not None and classes is not None:
        from sklearn.metrics import adjusted_rand_score

        agreement = float(adjusted_rand_score(classes, labels))
    clusters = None if labels is None or request["family"] in WITHOUT_NUMBER else len(set(labels[labels >= 0].tolist()))
    added = None if before is None or peak is None else max(0, peak - before)
    print(json.dumps({"seconds": seconds, "objective": objective, "agreement": agreement, "clusters": clusters, "added_kib": added}))


def resident(name):
    """Returns a line of this process's memory in KiB, on systems that report it (Linux): VmRSS is the present, VmHWM the peak since its last reset."""
    return next((int(line.split()[1]) for line in lines_of("/proc/self/status") if line.startswith(name + ":")), None)


def resident_from_here():
    """Returns the present resident memory, and resets the peak. The peak of getrusage would include the parent's and that of reading the rows."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return resident("VmRSS")


def contenders_of(family, rows, columns):
    """Returns the contenders for which a set of this many rows and columns is suitable."""
    if family in ("maps", "topographic maps") and columns < 3:
        # These sets have too few columns for a map.
        return []
    if family in ("mixtures", "trees", "density") and rows > MOST_MIXED:
        return []
    return [contender for contender in FAMILIES[family][2] if contender not in PAIRED or rows <= MOST_PAIRED]


def run(request):
    """Makes one run in a separate process; returns a string with the reason if it failed."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(request["threads"])}
    command = [sys.executable, os.path.abspath(__file__), "--one", json.dumps(request)]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment)
    if ended.returncode == 0:
        return json.loads(ended.stdout.strip().splitlines()[-1])
    lines = ended.stderr.strip().splitlines()
    return lines[-1] if lines else f"exit code {ended.returncode}"


def measured(request, contenders, rounds):
    """Returns {contender: the results and costs of its runs, or the reason for its failure}, in turns."""
    runs = {contender: [] for contender in contenders}
    failed = {}
    for turn in range(rounds):
        for place in range(len(contenders)):
            contender = contenders[(place + turn) % len(contenders)]
            if contender in failed or (runs[contender] and runs[contender][0]["seconds"] > LONG):
                continue
            found = run({**request, "contender": contender})
            if isinstance(found, str):
                failed[contender] = {"failed": found}
            else:
                runs[contender].append(found)
    return {contender: failed.get(contender) or summary(runs[contender]) for contender in contenders}


def summary(runs):
    """Summarises several runs with the same random numbers: the result of the first, all times, the maximum memory."""
    return {
        "objective": runs[0]["objective"],
        "agreement": runs[0]["agreement"],
        "clusters": runs[0]["clusters"],
        "seconds": [one["seconds"] for one in runs],
        "added_kib": max((one["added_kib"] for one in runs if one["added_kib"] is not None), default=None),
    }


def comparable(results, clusters):
    """Returns the contenders that ended, with at most the requested number of clusters."""
    return {
        contender: result
        for contender, result in results.items()
        if "failed" not in result and (result["clusters"] is None or result["clusters"] <= clusters)
    }


def reach(family, best):
    """Returns the highest objective that counts as the best."""
    return best + (NEAR_IN_NATS if family in ("mixtures", "topographic maps") else NEAR * abs(best))


def first_near(family, good):
    """Returns the contender that was first to reach the best objective."""
    most = reach(family, min(result["objective"] for result in good.values()))
    near = [contender for contender, result in good.items() if result["objective"] <= most]
    return min(near, key=lambda contender: statistics.median(good[contender]["seconds"]))


def shown(family, name, shape, results, clusters):
    """Returns a table, and the contender that was first to reach the best objective."""
    print(f"\n{family}, {name}: {shape[0]} rows of {shape[1]} columns; {FAMILIES[family][0]}")
    good = comparable(results, clusters)
    best = min(result["objective"] for result in good.values())
    print(f"  {'':44}{'objective':>14}{'over best':>11}{'Rand':>8}{'seconds':>10}{'MiB':>8}")
    for contender, result in results.items():
        if "failed" in result:
            print(f"  {contender:44}failed: {result['failed']}")
            continue
        over = (result["objective"] - best) / abs(best) if best else 0.0
        rand = "" if result["agreement"] is None else f"{result['agreement']:.3f}"
        seconds = statistics.median(result["seconds"])
        memory = "" if result["added_kib"] is None else f"{result['added_kib'] / 1024:.1f}"
        more = "" if contender in good else f"  {result['clusters']} clusters"
        print(f"  {contender:44}{result['objective']:14.6g}{over:11.3%}{rand:>8}{seconds:10.4f}{memory:>8}{more}")
    first = first_near(family, good)
    print(f"  first to the best: {first}, {statistics.median(good[first]['seconds']):.4f} s", flush=True)


def machine():
    """Returns a description of the machine for the record."""
    processor = next((line.split(":")[1].strip() for line in lines_of("/proc/cpuinfo") if line.startswith("model name")), platform.processor())
    commit = git("rev-parse", "--short", "HEAD") or "unknown"
    changed = "+" if git("status", "--porcelain") else ""
    system = f"{platform.system().lower()} {platform.machine()}"
    return {"processor": processor, "threads": os.cpu_count(), "system": system, "commit": commit + changed}


def git(*words):
    try:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=Path(__file__).parent).stdout.strip()
    except OSError:
        return ""


def lines_of(path):
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def write(path, value):
    """Writes the file as a whole, or not at all."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(value, indent=1) + "\n")
    beside.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("LEHR_DATA"), help="folder with benchmarks/ (default: LEHR_DATA; without, the sets of the package)")
    parser.add_argument("--sets", help="of " + ", ".join(CLUSTERS) + " (default: all that are there)")
    parser.add_argument("--families", default=",".join(FAMILIES), help="of " + ", ".join(FAMILIES))
    parser.add_argument("--threads", type=int, default=1, help="of each contender (default: 1)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each contender, in turns (default: 3)")
    parser.add_argument("--record", type=Path, help="keep all figures in this file, as JSON, and the machine beside it; goes on with the record that is there")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        return run_one(json.loads(arguments.one))
    sets = arguments.sets.split(",") if arguments.sets else list(CLUSTERS if arguments.data else BUILT_IN)
    families = arguments.families.split(",")
    unknown = [name for name in sets if name not in CLUSTERS] + [name for name in families if name not in FAMILIES]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}: expected sets of {', '.join(CLUSTERS)} and families of {', '.join(FAMILIES)}")
    for name in sets:
        if name in BENCHMARKS and not (arguments.data and (Path(arguments.data) / "benchmarks" / f"{name}.csv.gz").is_file()):
            parser.error(f"{name} is not in {arguments.data or 'the package'}: expected --data FOLDER with benchmarks/{name}.csv.gz")
    if arguments.rounds < 1 or arguments.threads < 1:
        parser.error("at least one round and one thread")
    versions = {package: version(package) for package in PACKAGES}
    print(f"Python {platform.python_version()}; " + ", ".join(f"{package} {number}" for package, number in versions.items()))
    print(f"{arguments.threads} threads; the middle of {arguments.rounds} runs in turns, a process each")
    record, sessions = [], []
    if arguments.record:
        if arguments.record.is_file():
            record = json.loads(arguments.record.read_text())
            sessions = json.loads(arguments.record.with_suffix(".machine.json").read_text())["sessions"]
            print(f"{arguments.record} has {len(record)} tables; they are not taken again")
        command = f"side_by_side.py --threads {arguments.threads} --rounds {arguments.rounds}"
        load = "%.2f %.2f %.2f" % os.getloadavg()
        about = {"command": command, "load": load, "machine": machine(), "libraries": {"python": platform.python_version(), **versions}}
        write(arguments.record.with_suffix(".machine.json"), {"sessions": [*sessions, about]})
    taken = {(entry["set"], entry["family"]) for entry in record}
    for name in sets:
        shape = rows_of(name, arguments.data)[0].shape
        for family in families:
            contenders = contenders_of(family, *shape)
            if not contenders or (name, family) in taken:
                continue
            request = {"set": name, "family": family, "threads": arguments.threads, "data": arguments.data}
            results = measured(request, contenders, arguments.rounds)
            if not comparable(results, CLUSTERS[name]):
                told = next((result["failed"] for result in results.values() if "failed" in result), "more clusters than were asked for")
                print(f"\n{family}, {name}: nothing to compare, the first with {told}", flush=True)
                continue
            shown(family, name, shape, results, CLUSTERS[name])
            about = {"rows": shape[0], "columns": shape[1], "clusters": CLUSTERS[name], "threads": arguments.threads}
            record.append({"set": name, "family": family, "objective": FAMILIES[family][0], **about, "runs": results})
            if arguments.record:
                write(arguments.record, record)


if __name__ == "__main__":
    main()
