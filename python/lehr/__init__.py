"""Clustering by deterministic annealing, multidimensional scaling and dissimilarities, with scikit-learn-compatible estimators.

================================  ==============================================================
:class:`DAClustering`             clusters of points; finds the number of clusters if you give none
:class:`DAGaussianMixture`        Gaussian mixtures; finds the number of components if you give none
:class:`PairwiseClustering`       clusters of items that are given by their dissimilarities
:class:`AgglomerativeClustering`  trees of items, cut into clusters
:class:`HDBSCAN`                  dense groups of any shape, and noise between them
:class:`KMeans`                   k-means, as a baseline
:class:`MiniBatchKMeans`          clusters of streaming data, in one pass
:class:`KMedoids`                 clusters whose centres are items
:class:`SMACOF`                   multidimensional scaling: items in two or three dimensions
:class:`GTM`                      generative topographic mapping: rows on a two-dimensional map, with or without missing values
:func:`read_table`                reads tables of numbers, texts and dates from files
:func:`describe_columns`          the role and range of each column of a table
:class:`TablePreparation`         turns a table into the numbers that estimators take
:func:`pairwise_distances`        dissimilarities of sequences, fingerprints and rows
:func:`stability`                 how often resampled rows give the same clusters again
:func:`load`                      loads models that an estimator or the command saved
:class:`Node`                     an HTTP client for the services of a node; :class:`AsyncNode` for asyncio
:mod:`lehr.ranks`                 message passing between processes, on NumPy arrays
:class:`Service`                  services of your own, with :func:`handler` and :func:`serve`
:mod:`lehr.runtime`               coordination in asyncio: ports, and a state with handlers
:mod:`lehr.explanation`           the results of ``explain`` and ``outliers`` of clusterings
:mod:`lehr.datasets`              small real data sets, and downloads of larger ones
:mod:`lehr.plot`                  plots
:mod:`lehr.report`                the command's interactive report in a notebook
================================  ==============================================================

Results are bit-identical for any number of threads, and for any number of processes under ``mpiexec``.
"""

from lehr import _job, datasets, explanation, plot, ranks, report, runtime, services
from lehr._asking import Event, Fault
from lehr._job import process
from lehr._load import load
from lehr._names import listed
from lehr._native import Progress, Stopped, __version__
from lehr._stability import Stability, stability
from lehr.agglomerative import AgglomerativeClustering
from lehr.async_node import AsyncJob, AsyncNode
from lehr.cluster import DAClustering, KMeans, PairwiseClustering
from lehr.density import HDBSCAN
from lehr.distances import (
    Fingerprints,
    Sequences,
    fingerprints_from_rdkit,
    pairwise_distances,
    read_fasta,
    read_fps,
    read_molecules,
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
    "AgglomerativeClustering",
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
    "HDBSCAN",
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
    "read_molecules",
    "read_table",
    "report",
    "runtime",
    "serve",
    "services",
    "stability",
]

__dir__ = listed(__all__)

_job.install()
