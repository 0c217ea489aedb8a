"""The native half of lehr. Private: names and arguments change with the package."""

from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict, final, overload

import numpy as np
from numpy.typing import NDArray

from lehr._progress import Run

__version__: str

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
#: The covariance type, weights, means, and covariances as numbers.
_FittedMixture = tuple[str, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
_Points = NDArray[np.float64] | NDArray[np.float32]
#: Points, matrices and arrays of SciPy's in the compressed row format, fingerprints.
_Rows = Any
_Path = str | PathLike[str]
_Callback = Callable[[Progress], object]
_Value = tuple[NDArray[np.uint8] | bytes, bytes]
_Received = tuple[NDArray[np.uint8], bytes]

class Stopped(RuntimeError): ...
class RankError(RuntimeError): ...
class Closed(RuntimeError): ...
class Full(RuntimeError): ...

@final
class Progress:
    @property
    def stage(self) -> str: ...
    @property
    def fraction(self) -> float: ...
    @property
    def temperature(self) -> float | None: ...
    @property
    def n_clusters(self) -> int | None: ...
    @property
    def objective(self) -> float | None: ...
    @property
    def n_iter(self) -> int: ...

@final
class Sequences:
    def __new__(
        cls, texts: Sequence[str], ids: Sequence[str] | None = None, alphabet: str | None = None
    ) -> Sequences: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def alphabet(self) -> str: ...
    @property
    def is_aligned(self) -> bool: ...
    def distinct(self) -> tuple[Sequences, _Floats, _Ints]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> str: ...
    @overload
    def __getitem__(self, key: slice | Sequence[bool] | Sequence[int] | NDArray[Any], /) -> Sequences: ...
    def __getnewargs__(self) -> tuple[list[str], list[str], str]: ...

@final
class Fingerprints:
    def __new__(cls, packed: NDArray[np.uint8], n_bits: int, ids: Sequence[str] | None = None) -> Fingerprints: ...
    @property
    def ids(self) -> list[str]: ...
    @property
    def n_bits(self) -> int: ...
    def packed(self) -> NDArray[np.uint8]: ...
    def __getitem__(self, key: slice | Sequence[bool] | Sequence[int] | NDArray[Any], /) -> Fingerprints: ...
    def __len__(self) -> int: ...
    def __getnewargs__(self) -> tuple[NDArray[np.uint8], int, list[str]]: ...

@final
class DataFrame:
    def __new__(cls, columns: Sequence[tuple[str, str, NDArray[Any], list[str], str | None]]) -> DataFrame: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def dialect(self) -> dict[str, Any] | None: ...
    def columns(self) -> list[dict[str, Any]]: ...
    def describe(self) -> _Described: ...
    def prepare(self, asked: str) -> _Decided: ...
    def apply(self, preparation: str, is_other: bool) -> _Prepared: ...
    def __len__(self) -> int: ...

class _Described(TypedDict):
    text: str
    columns: list[dict[str, Any]]

class _Decided(_Described):
    preparation: str

class _Prepared(TypedDict):
    features: _Floats
    filled: int
    notes: list[str]

class _Outliers(TypedDict):
    row: _Ints
    cluster: _Ints
    distance: _Floats
    score: _Floats
    columns: list[list[tuple[int, float]]]
    radius: float

_Columns = dict[str, NDArray[Any]]

class _Run(TypedDict):
    warnings: list[str]
    checkpoint_failure: str | None
    is_lead: bool
    n_iter: int

class _Annealed(_Run):
    history: _Columns
    labels: NDArray[np.int32]
    probabilities: _Floats
    clusters: _Columns
    free_energy: float
    temperature: float
    critical_temperature: float
    splits: _Columns

class _Vector(_Annealed):
    borders: str
    candidates: _Columns | None
    reason: str | None
    cluster_centers: _Floats
    inertia: float

class _Labels(TypedDict):
    labels: NDArray[np.int32]

class _Nearest(_Labels):
    distances: _Floats

class _Pairwise(_Annealed):
    plateaus: _Columns | None
    representatives: _Ints
    cost: float
    is_damped: bool
    missing_pairs: int

class _Declared(TypedDict):
    tables: dict[str, dict[str, Any]]
    figures: dict[str, float]
    warnings: list[str]
    checkpoint_failure: str | None
    is_lead: bool

class _Mixture(_Run):
    weights: _Floats
    means: _Floats
    numbers: _Floats
    covariances: _Floats
    labels: NDArray[np.int32]
    probabilities: _Floats
    log_likelihood: float
    bic: float
    aic: float
    icl: float
    candidates: _Columns
    groups: int | None
    ascent: _Floats
    is_converged: bool

class _MiniBatch(TypedDict):
    cluster_centers: _Floats
    clusters: _Columns
    n_batches: int
    warnings: list[str]
    checkpoint_failure: str | None
    is_lead: bool

class _KMeans(_Run):
    cluster_centers: _Floats
    labels: NDArray[np.int32]
    clusters: _Columns
    borders: str
    inertia: float
    inertias: _Floats

class _Places(TypedDict):
    positions: _Floats
    modes: NDArray[np.int32]
    probabilities: _Floats
    entropies: _Floats
    log_densities: _Floats

class _Topography(_Run, _Places):
    n_nodes: int
    n_basis: int
    width: float
    weights: _Floats
    origin: _Floats
    noise_variance: float
    nodes: _Floats
    log_likelihood: float
    order: float
    is_annealed: bool
    candidates: _Columns
    history: _Columns
    ascent: _Floats
    critical_temperature: float
    is_converged: bool

class _Images(TypedDict):
    data: _Floats
    magnifications: _Floats

class _Components(TypedDict):
    labels: NDArray[np.int32]
    log_densities: _Floats

class _Posterior(_Components, total=False):
    #: Only on request.
    memberships: _Floats

class _Drawn(TypedDict):
    data: _Floats
    labels: NDArray[np.int32]

class _Shepard(TypedDict):
    counts: _Ints
    largest_dissimilarity: float
    largest_distance: float
    correlation: float

class _Map(_Run):
    history: _Columns
    embedding: _Floats
    stress: float
    stress_1: float
    raw_stress: float
    item_stress: _Floats
    is_converged: bool
    stresses: _Floats
    missing_pairs: int
    shepard: _Shepard

class _Placed(TypedDict):
    positions: _Floats
    errors: _Floats

class _Aligned(TypedDict):
    positions: _Floats
    rotation: _Floats
    scale: float
    error: float

class _DataSet(TypedDict):
    data: _Floats
    feature_names: list[str]
    target: NDArray[np.int32] | None
    weight: _Floats | None

def fit_vector(x: _Rows, sample_weight: _Floats | None, run: Run) -> _Vector: ...
def summarize(x: _Rows, sample_weight: _Floats | None, cells: int) -> dict[str, Any]: ...
@overload
def nearest(
    x: _Rows, centers: _Floats, *, threads: int | None = None, with_distances: Literal[True] = True
) -> _Nearest: ...
@overload
def nearest(x: _Rows, centers: _Floats, *, threads: int | None = None, with_distances: Literal[False]) -> _Labels: ...
def memberships(x: _Rows, fields: str, has_gaps: bool) -> _Floats: ...
def read_table(source: _Path | bytes, name: str, form: str) -> DataFrame: ...
def back(preparation: str, x: _Floats) -> _Floats: ...
def isolated_rows(x: _Floats) -> _Ints: ...
def explain_clusters(
    table: DataFrame,
    labels: NDArray[np.int32],
    distances: _Floats,
    clusters: int,
    logs: dict[str, float],
    is_described: bool,
) -> dict[str, Any]: ...
def outliers(
    x: _Rows, sample_weight: _Floats | None, labels: NDArray[np.int32], centers: _Floats
) -> _Outliers: ...
def learnt(kind: str, fields: str) -> dict[str, Any]: ...
def on_sphere(x: _Floats) -> _Floats: ...
def fit_pairwise(dissimilarities: _Points, sample_weight: _Floats | None, run: Run) -> _Pairwise: ...
def declared() -> str: ...
def declared_of_distances() -> str: ...
def run_matrix(method: str, dissimilarities: _Points, sample_weight: _Floats | None, run: Run) -> _Declared: ...
def fit_mixture(x: _Points, sample_weight: _Floats | None, run: Run) -> _Mixture: ...
def fit_minibatch(
    pull: Callable[[int], tuple[_Points, _Floats | None] | None], run: Run
) -> _MiniBatch: ...
def fit_kmeans(x: _Rows, sample_weight: _Floats | None, run: Run) -> _KMeans: ...
def fit_gtm(x: _Points, sample_weight: _Floats | None, run: Run) -> _Topography: ...
def project(x: _Points, map: dict[str, Any], *, threads: int | None = None) -> _Places: ...
def images(places: _Floats, map: dict[str, Any]) -> _Images: ...
def posterior(x: _Points, mixture: _FittedMixture, *, threads: int | None = None, with_memberships: bool = True) -> _Posterior: ...
def sample(rows: int, seed: int, mixture: _FittedMixture) -> _Drawn: ...
def embed(
    dissimilarities: _Points,
    sample_weight: _Floats | None,
    run: Run,
    *,
    pair_weight: _Points | None = None,
    init: _Floats | None = None,
    fixed: Sequence[int] = ...,
) -> _Map: ...
def interpolate(
    embedding: _Floats,
    dissimilarities: _Floats,
    *,
    neighbors: int,
    max_iter: int = 50,
    threads: int | None = None,
) -> _Placed: ...
def align(
    embedding: _Floats, onto: _Floats, *, sample_weight: _Floats | None = None, scale: bool = False
) -> _Aligned: ...
def distances_between(
    items: Sequences | Fingerprints | NDArray[Any],
    others: Sequences | Fingerprints | NDArray[Any],
    options: str,
    *,
    threads: int | None = None,
) -> NDArray[Any]: ...
def distances_of(
    items: Sequences | Fingerprints | DataFrame | _Points,
    options: str,
    *,
    condensed: bool = False,
    threads: int | None = None,
    callback: _Callback | None = None,
) -> _Points: ...
def read_fasta(path: _Path, *, alphabet: str | None = None, aligned: bool = False) -> Sequences: ...
def read_fps(path: _Path) -> Fingerprints: ...
def read_smiles(path: _Path) -> Fingerprints: ...
def load_points(name: str) -> _DataSet: ...
def load_alu() -> Sequences: ...
@final
class Communicator:
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    def close(self) -> None: ...
    def agree(self, own: str) -> None: ...
    def barrier(self) -> None: ...
    def all_reduce(self, call: str, array: NDArray[Any], op: str) -> None: ...
    def reduce(self, call: str, array: NDArray[Any], op: str, root: int) -> None: ...
    def scan(self, call: str, array: NDArray[Any], op: str, exclusive: bool) -> None: ...
    def reduce_scatter(self, call: str, array: NDArray[Any], op: str, part: NDArray[Any]) -> None: ...
    def send(self, value: _Value, to: int, tag: int, synchronous: bool) -> None: ...
    def receive(self, source: int | None, tag: int | None) -> tuple[_Received, int, int]: ...
    def receive_into(
        self, source: int | None, tag: int | None, out: NDArray[np.uint8], trailer: bytes
    ) -> tuple[int, int, tuple[int, bytes] | None]: ...
    def start_receive(self, source: int | None, tag: int | None) -> Request: ...
    def start_send(self, value: _Value, to: int, tag: int) -> Request: ...
    def probe(self, source: int | None, tag: int | None, wait: bool) -> tuple[int, int, int] | None: ...
    def broadcast(
        self, value: _Value | None, root: int, out: tuple[NDArray[np.uint8], bytes] | None
    ) -> _Received | None: ...
    def gather(self, value: _Value, root: int | None) -> list[_Received] | None: ...
    def scatter(self, values: list[_Value] | None, root: int) -> _Received | None: ...
    def all_to_all(self, values: list[_Value]) -> list[_Received]: ...
    def shift(self, value: _Value, displacement: int) -> _Received: ...
    def exchange(self, dimensions: list[tuple[int, bool]], values: list[_Value]) -> list[_Received | None]: ...
    def split(self, color: int | None, key: int) -> Communicator | None: ...

@final
class Request:
    def close(self) -> None: ...
    def wait(self) -> tuple[_Received, int, int] | None: ...
    def test(self) -> tuple[bool, tuple[_Received, int, int] | None]: ...

def wait_any(requests: list[Request]) -> int: ...
@final
class Ranks:
    def stop(self) -> None: ...
    def end(self, failure: str | None, is_first: bool) -> str | None: ...

@final
class Wait:
    def poll(self, wake: Callable[[], object]) -> tuple[Any] | None: ...
    def cancel(self) -> None: ...

@final
class Port:
    def __new__(cls, name: str, capacity: int | None, overflow: str) -> Port: ...
    @property
    def waiting(self) -> int: ...
    @property
    def is_closed(self) -> bool: ...
    def __len__(self) -> int: ...
    def post(self, item: Any) -> None: ...
    def try_receive(self) -> tuple[Any] | None: ...
    def drain(self) -> list[Any]: ...
    def close(self) -> None: ...
    def receive(self) -> Wait: ...
    def take(self, count: int) -> Wait: ...
    def post_wait(self, item: Any) -> Wait: ...

@final
class Dispatcher:
    def __new__(cls, threads: int) -> Dispatcher: ...
    def close(self) -> None: ...

@final
class Ended:
    def tell(self) -> None: ...

@final
class Interleave:
    def __new__(
        cls,
        dispatcher: Dispatcher,
        name: str | None,
        state: Any,
        branches: Sequence[tuple[str, Sequence[Port], bool, Callable[..., Any]]],
        start: Callable[..., object],
    ) -> Interleave: ...
    def ended(self) -> Wait: ...
    def stop(self) -> Wait: ...

@final
class Ending:
    def returned(self, answer: Any) -> None: ...
    def raised(self, error: BaseException) -> None: ...

@final
class ServiceNode:
    def __new__(cls, threads: int) -> ServiceNode: ...
    def start(self, placement: tuple[str, int, _Path | None], outline: str, state: Any, program: Any) -> None: ...
    def listen(self, address: str, is_insecure: bool) -> str: ...
    def paths(self) -> list[str]: ...
    def close(self, seconds: float) -> list[str] | None: ...

def join_ports(ports: Sequence[Port]) -> Wait: ...
def choose(waits: Sequence[Wait]) -> Wait: ...
def begin_ranks(ranks: int | None = None) -> tuple[list[Communicator], Ranks]: ...
def report_page(headline: str, lead: str, main: str, figures: str) -> str: ...
def write_model(path: _Path, content: str) -> None: ...
def write_bytes(path: _Path, content: bytes) -> None: ...
def read_model(path: _Path) -> str: ...
def process() -> tuple[int, int]: ...
def is_joined() -> bool: ...
def finish() -> None: ...
def abort(code: int) -> None: ...
