"""Clustering by deterministic annealing, scaling and dissimilarities, with scikit-learn-compatible estimators.

==========================  ==============================================================
:class:`DAClustering`       clusters of points; finds their number if none is given
:class:`DAGaussianMixture`  mixtures of Gaussians; finds the number of components if none is given
:class:`PairwiseClustering` clusters of items that know each other by their dissimilarities
:class:`KMeans`             the baseline: centres drawn, and moved until they stand still
:class:`MiniBatchKMeans`    clusters of a stream, in one pass
:class:`KMedoids`           clusters about items of their own
:class:`SMACOF`             items placed in few dimensions
:class:`GTM`                rows on a map through their space, cells missing or not
:func:`read_table`          tables as people have them, from files
:func:`describe_columns`    the role and range of each column of a table
:class:`TablePreparation`   from a table to the numbers that estimators take
:func:`pairwise_distances`  dissimilarities of sequences, fingerprints and rows
:func:`stability`           how often clusters are found again in resampled rows
:func:`load`                models from files, an estimator's or the command's
:class:`Node`               services of a node, asked over HTTP; :class:`AsyncNode` for asyncio
:mod:`lehr.ranks`           one program on many ranks: message passing on arrays
:class:`Service`            services of your own, with :func:`handler` and :func:`serve`
:mod:`lehr.runtime`         ports awaited in asyncio, and a state with handlers around it
:mod:`lehr.explanation`     the results of ``explain`` and ``outliers`` of clusterings
:mod:`lehr.datasets`        small real data sets, and larger ones by their addresses
:mod:`lehr.plot`            pictures
:mod:`lehr.report`          the command's interactive page in a notebook
==========================  ==============================================================

Results are the same, to the last bit, on any number of threads, and of processes under ``mpiexec``.
"""

from lehr import _job, datasets, explanation, plot, ranks, report, runtime, services
from lehr._asking import Event, Fault
from lehr._job import process
from lehr._load import load
from lehr._names import listed
from lehr._native import Progress, Stopped, __version__
from lehr._stability import Stability, stability
from lehr.async_node import AsyncJob, AsyncNode
from lehr.cluster import DAClustering, KMeans, PairwiseClustering
from lehr.distances import (
    Fingerprints,
    Sequences,
    fingerprints_from_rdkit,
    pairwise_distances,
    read_fasta,
    read_fps,
)
from lehr.kmedoids import KMedoids
from lehr.manifold import GTM, SMACOF, align
from lehr.minibatch import MiniBatchKMeans
from lehr.mixture import DAGaussianMixture
from lehr.node import Job, Node
from lehr.preparation import TablePreparation
from lehr.services import Service, handler, serve
from lehr.tables import ColumnAccount, ColumnAccounts, describe_columns, read_table

__all__ = [
    "AsyncJob",
    "AsyncNode",
    "ColumnAccount",
    "ColumnAccounts",
    "DAClustering",
    "DAGaussianMixture",
    "Event",
    "Fault",
    "Fingerprints",
    "GTM",
    "Job",
    "KMeans",
    "KMedoids",
    "MiniBatchKMeans",
    "Node",
    "PairwiseClustering",
    "Progress",
    "SMACOF",
    "Sequences",
    "Service",
    "Stability",
    "Stopped",
    "TablePreparation",
    "__version__",
    "align",
    "datasets",
    "describe_columns",
    "explanation",
    "fingerprints_from_rdkit",
    "handler",
    "load",
    "pairwise_distances",
    "plot",
    "process",
    "ranks",
    "read_fasta",
    "read_fps",
    "read_table",
    "report",
    "runtime",
    "serve",
    "services",
    "stability",
]

__dir__ = listed(__all__)

_job.install()
