"""Call the services of a node from Python with :class:`Node`. For asyncio, see :mod:`lehr.async_node`.

A node (``lehr serve``) stores data sets and runs methods on them as jobs. This module needs httpx: ``pip install './python[services]'`` in a checkout.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from numpy.typing import NDArray

from lehr._asking import (
    Event,
    _Asking,
    _Client,
    _Request,
    _Response,
    _T,
    _Watching,
    _answer,
    _drop,
    _httpx,
    _is_over,
    _model,
    _operation,
    _path,
    _run,
    _services,
    _state,
    _table,
    _unreachable,
    _upload,
    _wait,
)
from lehr._names import listed

__all__ = ["Job", "Node"]
__dir__ = listed(__all__)


class Node(_Client):
    """An HTTP client for the services of a node.

    Parameters
    ----------
    url : str
        The URL that ``lehr serve`` prints, such as ``"http://127.0.0.1:8420"``.
    token : str or None, default=None
        The bearer token, if the node's policy requires one.
    timeout : float, default=30.0
        The longest time to wait for an answer, in seconds. The node also stops working on the request after this time.
    verify : bool or str, default=True
        For https: a file with the certificate of the authority that signed the node's certificate. ``True``: the usual authorities.
    cert : str or tuple of str or None, default=None
        A client certificate, if the node requires one: its file, or the files of certificate and key.

    Notes
    -----
    One connection stays open for several requests. To close it, call ``close()`` or use a ``with`` statement. A node can be used from several threads.

    Examples
    --------
    >>> with lehr.Node(url) as node:
    ...     iris = node.upload(lehr.datasets.load_iris().data, "flowers", replace=True)
    ...     job = node.run("/clustering", "flowers", clusters=3)
    ...     done = job.wait()
    ...     weights = job.table("centers")["weight"]
    >>> weights.tolist()
    [62.0, 50.0, 38.0]
    """

    _kind = "Client"

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection.

        Returns
        -------
        None

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> node.close()
        """
        self._client.close()

    def _ask(self, asking: _Asking[_T]) -> _T:
        try:
            request = next(asking)
            while True:
                request = asking.send(self._send(request))
        except StopIteration as stop:
            result: _T = stop.value
            return result

    def _send(self, request: _Request) -> _Response:
        try:
            response = self._client.request(
                request.method, request.path, params=dict(request.params), headers=dict(request.headers), content=request.content
            )
        except _httpx().TransportError as cause:
            raise _unreachable(self.url, cause) from cause
        return _Response(response.status_code, response.headers, response.content)

    def ls(self) -> list[dict[str, Any]]:
        """List the services of the node.

        Returns
        -------
        services : list of dict
            A dictionary for each service: ``"path"``, ``"contract"``, ``"version"`` and ``"phase"``.

        Examples
        --------
        >>> [service["path"] for service in lehr.Node(url).ls()][:2]
        ['/clustering', '/constructor']
        """
        return self._ask(_services())

    def get(self, path: str) -> Any:
        """Read the state of a service.

        Parameters
        ----------
        path : str
            The path of the service, such as ``"/clustering"``.

        Returns
        -------
        state : Any
            The state of the service.

        Examples
        --------
        >>> lehr.Node(url).get("/clustering")["datasets"]
        '/datasets'
        """
        return self._ask(_state(path))

    def query(self, path: str, operation: str, body: Any = None) -> Any:
        """Send a query to a service. A query does not change the service.

        Parameters
        ----------
        path : str
            The path of the service.
        operation : str
            The name of the operation in the contract.
        body : Any, default=None
            The fields of the request: any JSON value; NumPy numbers and arrays are converted. ``None`` means no fields.

        Returns
        -------
        answer : Any
            The answer of the service.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[1.0], [2.0]], "two", replace=True)
        >>> node.query("/datasets", "read", {"name": "two", "format": "csv"})["csv"].split()
        ['x0', '1', '2']
        """
        return self._ask(_operation(path, operation, body))

    def submit(self, path: str, operation: str, body: Any = None, *, key: str | None = None) -> Any:
        """Call any operation of a service.

        Parameters
        ----------
        path : str
            The path of the service.
        operation : str
            The name of the operation in the contract.
        body : Any, default=None
            The same as for :meth:`query`.
        key : str or None, default=None
            An idempotency key: the node executes a request with the same key only once, even if you send it again.

        Returns
        -------
        answer : Any
            The answer of the service, or ``None``.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[1.0], [2.0]], "old", replace=True)
        >>> node.submit("/datasets", "rename", {"name": "old", "to": "new"})
        >>> node.submit("/datasets", "remove", {"name": "new"})
        """
        return self._ask(_operation(path, operation, body, key))

    def drop(self, path: str) -> None:
        """Stop a service and remove it from the node.

        Parameters
        ----------
        path : str
            The path of the service.

        Returns
        -------
        None

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> try:
        ...     node.drop("/nowhere")
        ... except lehr.Fault as fault:
        ...     print(fault.code)
        unknown_service
        """
        self._ask(_drop(path))

    def upload(
        self, source: Any, name: str, *, format: str | None = None, replace: bool = False, path: str = "/datasets", **options: Any
    ) -> dict[str, Any]:
        """Upload data to the data sets of the node.

        Lehr sends large files in pieces. If an upload is interrupted, the same call resumes it where it stopped.

        Parameters
        ----------
        source : path, bytes, array-like or table
            A file or its bytes, numbers of shape (n_samples, n_features), or a table of pandas or Polars. Files may be CSV, TSV, NPY, Parquet, Arrow, FASTA or
            FPS, also gzip-compressed.
        name : str
            The name of the data set on the node.
        format : str or None, default=None
            ``"csv"``, ``"npy"``, ``"parquet"``, ``"arrow"``, ``"fasta"``, ``"fps"``, ``"smiles"`` or ``"sdf"``. With ``None``, Lehr infers it from the file's name or the type of
            ``source``.
        replace : bool, default=False
            Whether to replace a data set with the same name.
        path : str, default="/datasets"
            The path of the service that keeps data sets.
        **options : Any
            Further options for reading the data: ``columns``, ``weights``, ``id``, ``delimiter``, ``header``, ``gaps``, and ``fingerprint`` for molecules.

        Returns
        -------
        dataset : dict
            The rows, columns, bytes and checksum of the data set.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> node.upload(b"x,y\\n1,2\\n3,4\\n", "points", format="csv", columns=["y"], replace=True)["rows"]
        2
        """
        return self._ask(_upload(source, name, format, replace, options, path))

    def table(self, name: str, *, path: str = "/datasets") -> dict[str, NDArray[Any]]:
        """Download a data set: an upload, or a result of a job.

        Parameters
        ----------
        name : str
            The name of the data set.
        path : str, default="/datasets"
            The path of the service that keeps data sets.

        Returns
        -------
        columns : dict of ndarray of shape (n_rows,)
            The columns by name: float64, int64 for counts, or objects for texts. ``pandas.DataFrame(columns)`` converts them to a table.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[1.0, 2.0], [3.0, 4.0]], "four", replace=True)
        >>> node.table("four")["x1"]
        array([2., 4.])
        """
        return self._ask(_table(path, "read", {"name": name}))

    def run(self, path: str, data: str | Mapping[str, str], *, output: str | None = None, key: str | None = None, **options: Any) -> Job:
        """Start a job of a method.

        Parameters
        ----------
        path : str
            The path of the method's service, such as ``"/clustering"``.
        data : str or dict of str
            The name of the data set to work on, or several names by the input that the method declares.
        output : str or None, default=None
            The prefix for the names of the results, ``output/table``. ``None`` means the job's id.
        key : str or None, default=None
            An idempotency key: requests with the same key start only one job.
        **options : Any
            The options of the method, as for the command of the same name, with ``_`` for ``-``.

        Returns
        -------
        job : Job
            The job.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        >>> job = node.run("/clustering", "line", clusters=2)
        >>> job.wait()["state"]
        'done'
        >>> job.table("labels")["cluster"]
        array([0, 0, 0, 1])
        """
        return Job(self, path, self._ask(_run(path, data, options, output, key)))

    def watch(self, path: str, **wishes: Any) -> Iterator[Event]:
        """Yield the state of a service, and then its changes as they happen.

        If the connection breaks, Lehr subscribes again. The first event is then a seed with the current state.

        Parameters
        ----------
        path : str
            The service.
        **wishes : Any
            ``operations`` and ``keys``: the changes to listen for. ``count``: the number of changes after which the events end. ``slow``: the policy for a slow
            reader (``"coalesce"`` keeps only the latest state). ``capacity``: the length of the queue.

        Returns
        -------
        events : iterator of Event
            The events. The iterator ends only when the service ends or ``count`` is reached.

        Examples
        --------
        >>> for event in lehr.Node(url).watch("/log"):
        ...     print(event.kind)
        ...     break
        seed
        """
        watching = _Watching(self, path, wishes)
        while True:
            try:
                with self._client.stream(**watching.begin()) as response:
                    if response.status_code >= 400:
                        _answer(_Response(response.status_code, response.headers, response.read()))
                    for line in response.iter_lines():
                        event = watching.take(line)
                        if event is None:
                            continue
                        if _is_over(event):
                            return
                        yield event
            except _httpx().TransportError as cause:
                watching.broke(cause)
            time.sleep(watching.pause())


class Job:
    """A job of a method on a node, as :meth:`Node.run` returns it.

    Attributes
    ----------
    id : str
        The id of the job on the node.

    Examples
    --------
    >>> node = lehr.Node(url)
    >>> _ = node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
    >>> job = node.run("/clustering", "line", clusters=2)
    >>> again = lehr.Job(node, "/clustering", job.id)
    >>> again.wait()["outputs"]["labels"] == f"{job.id}/labels"
    True

    Parameters
    ----------
    node : Node
        The node that runs the job.
    path : str
        The method's service.
    id : str
        The id of the job on the node.
    """

    def __init__(self, node: Node, path: str, id: str) -> None:
        self._node, self._path, self.id = node, _path(path), id

    def __repr__(self) -> str:
        return f"Job({self._node!r}, {self._path!r}, {self.id!r})"

    def wait(self, timeout: float | None = None, *, progress: Callable[[dict[str, Any]], object] | None = None) -> dict[str, Any]:
        """Wait until the job has ended.

        Parameters
        ----------
        timeout : float or None, default=None
            The longest time to wait, in seconds. ``None`` means no limit. The job continues after the time has passed.
        progress : callable or None, default=None
            A function that is called about once a second with the job's state while the job runs.

        Returns
        -------
        job : dict
            The job's state, as the node reports it: ``"outputs"``, ``"figures"``, ``"times"`` and more.

        Raises
        ------
        Fault
            If the job failed or was cancelled.
        TimeoutError
            If the job has not ended within ``timeout`` seconds.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        >>> node.run("/clustering", "line", clusters=2).wait(timeout=60)["figures"]["clusters"]
        2.0
        """
        return self._node._ask(_wait(self._path, self.id, timeout, progress))

    def table(self, name: str) -> dict[str, NDArray[Any]]:
        """Download one of the job's results.

        Parameters
        ----------
        name : str
            The name of the result, such as ``"labels"`` or ``"centers"``.

        Returns
        -------
        columns : dict of ndarray
            The columns by name, as :meth:`Node.table` returns them.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        >>> job = node.run("/clustering", "line", clusters=2)
        >>> _ = job.wait()
        >>> job.table("centers")["x0"]
        array([1., 9.])
        """
        return self._node._ask(_table(self._path, "result", {"job": self.id, "table": name}))

    def model(self) -> Any:
        """Download the job's model, as an estimator for new rows.

        Returns
        -------
        estimator
            A fitted estimator, as :func:`lehr.load` returns it for the same ``model.json``. The estimator's ``export`` writes a file that ``lehr predict``
            reads.

        Raises
        ------
        Fault
            If the job is not done, or the method does not produce a model.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        >>> job = node.run("/clustering", "line", clusters=2)
        >>> _ = job.wait()
        >>> job.model().predict([[8.0], [1.5]]).tolist()
        [1, 0]
        """
        return self._node._ask(_model(self._path, self.id))

    def cancel(self) -> None:
        """Cancel the job. A cancelled job has no results.

        Returns
        -------
        None

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        >>> job = node.run("/clustering", "line", clusters=2)
        >>> job.cancel()
        """
        self._node._ask(_operation(self._path, "cancel", {"job": self.id}))
