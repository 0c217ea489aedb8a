"""Services of a node, asked from Python: :class:`Node`, and :class:`AsyncNode` for asyncio.

A node (``lehr serve``) keeps data sets and runs methods on them as jobs. What is asked is written once, as generators that give requests and take responses; the two classes only send
them. HTTP is httpx's: ``pip install 'lehr[services]'``.
"""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["AsyncJob", "AsyncNode", "Event", "Fault", "Job", "Node"]

#: What a request may carry; larger files go in pieces of half of it.
_BODY_BYTES = 16 << 20
#: Seconds that the node is asked to wait for the end of a job before it says how far that is.
_WAIT_SECONDS = 20.0
#: What the connection may take beyond the time that the node has.
_GRACE_SECONDS = 5.0
#: Seconds before a broken subscription is taken up again; doubled each time, up to the second.
_AGAIN_SECONDS = (0.1, 5.0)
_ENDED = ("done", "failed", "cancelled")


class Fault(Exception):
    """A node's answer that something cannot be done, or that it cannot be reached.

    Attributes
    ----------
    code : str
        What kind of fault: ``"unknown_service"``, ``"invalid_value"``, ``"unavailable"``, ….
    reason : str
        What happened, in a sentence.
    details : dict
        Everything that the answer says: a problem document (RFC 9457) with fields of ours.
    status : int or None
        The status of HTTP; ``None`` if there was no answer.
    retry_after : float or None
        Seconds after which the node wants to be asked again, if it says so.

    Examples
    --------
    >>> node = lehr.Node(url)
    >>> try:
    ...     node.get("/nowhere")
    ... except lehr.Fault as fault:
    ...     print(fault.code, fault.status)
    unknown_service 404
    """

    def __init__(
        self,
        code: str,
        reason: str,
        *,
        details: Mapping[str, Any] | None = None,
        status: int | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{reason} ({code})")
        self.code = code
        self.reason = reason
        self.details = dict(details or {})
        self.status = status
        self.retry_after = retry_after


@dataclass(frozen=True)
class Event:
    """A change of a service, as :meth:`Node.watch` tells it.

    Attributes
    ----------
    kind : str
        ``"seed"``: the whole state; ``"change"``: an operation that was done; ``"gap"``: some changes are missing, and a seed follows; ``"end"``: there are no more.
    data : Any
        What the node says of it. A seed has ``"state"`` and ``"version"``.

    Examples
    --------
    >>> event = next(lehr.Node(url).watch("/log"))
    >>> event.kind, sorted(event.data)
    ('seed', ['incarnation', 'state', 'version'])
    """

    kind: str
    data: Any


# --- What is asked, without anybody who sends it ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Request:
    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    content: bytes | None = None


@dataclass(frozen=True)
class _Response:
    status: int
    headers: Mapping[str, str]
    content: bytes


_T = TypeVar("_T")
#: Gives requests, takes the response of each, and returns what was asked for.
_Asking = Generator[_Request, _Response, _T]


def _path(path: str) -> str:
    if not isinstance(path, str) or not path.startswith("/") or any(sign in path for sign in "?#: "):
        raise ValueError(f"The path of a service begins with / and has no colon, such as '/clustering'. Got {path!r} instead.")
    return path


def _json_of(value: Any) -> bytes:
    def plain(thing: Any) -> Any:
        if isinstance(thing, np.generic):
            return thing.item()
        if isinstance(thing, np.ndarray):
            return thing.tolist()
        raise TypeError(f"A body is JSON, which has no {type(thing).__name__}.")

    return json.dumps(value, default=plain, allow_nan=False).encode()


def _answer(response: _Response) -> Any:
    """The value of an answer.

    Raises
    ------
    Fault
        If it is one.
    """
    if response.status < 400:
        return json.loads(response.content) if response.content else None
    try:
        details = json.loads(response.content)
        assert isinstance(details, dict)
    except (ValueError, AssertionError):
        text = response.content[:200].decode("utf-8", "replace")
        raise Fault("no_node", f"expected an answer of a node, found status {response.status}: {text}", status=response.status) from None
    after = response.headers.get("retry-after")
    raise Fault(
        str(details.get("code", "unknown")),
        str(details.get("detail", details.get("title", ""))),
        details=details,
        status=response.status,
        retry_after=float(after) if after is not None and after.replace(".", "", 1).isdigit() else None,
    )


def _operation(path: str, name: str, body: Any = None, key: str | None = None) -> _Asking[Any]:
    headers = {"content-type": "application/json"}
    if key is not None:
        headers["idempotency-key"] = key
    content = _json_of({} if body is None else body)
    return _answer((yield _Request("POST", f"{_path(path)}:{name}", headers=headers, content=content)))


def _table(path: str, operation: str, body: Mapping[str, Any]) -> _Asking[dict[str, NDArray[Any]]]:
    rows: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    while True:
        # The node gives as many rows as it sends at once.
        piece = yield from _operation(path, operation, {**body, "format": "json", "from": len(rows)})
        rows.extend(piece["json"])
        for row in piece["json"][:1]:
            columns.update(dict.fromkeys(row))
        if len(rows) >= piece["rows"] or not piece["json"]:
            break
    return {name: _column([row[name] for row in rows]) for name in columns}


def _column(values: list[Any]) -> NDArray[Any]:
    if any(isinstance(value, str) for value in values):
        return np.array(values, dtype=object)
    if all(isinstance(value, int) for value in values):
        return np.array(values, dtype=np.int64)
    # A gap comes as null.
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _file(source: Any) -> tuple[bytes, str | None]:
    """The bytes of what is uploaded, and the format that they are in, where that is known."""
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        with open(path, "rb") as file:
            return file.read(), _format(str(path))
    if isinstance(source, (bytes, bytearray, memoryview)):
        return bytes(source), None
    for method in ("write_csv", "to_csv"):
        if hasattr(source, method):
            text = source.write_csv() if method == "write_csv" else source.to_csv(index=False)
            return text.encode(), "csv"
    array = np.asarray(source)
    if array.dtype.kind not in "fiub":
        raise TypeError(f"Expected a path, bytes, a table or an array of numbers. Got {type(source).__name__} instead.")
    out = io.BytesIO()
    np.save(out, np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64))
    return out.getvalue(), "npy"


def _format(path: str) -> str | None:
    stem = path.lower().removesuffix(".gz")
    endings = {
        ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".npy": "npy", ".parquet": "parquet", ".arrow": "arrow",
        ".fasta": "fasta", ".fa": "fasta", ".fna": "fasta", ".faa": "fasta", ".fps": "fps",
    }  # fmt: skip
    return next((name for ending, name in endings.items() if stem.endswith(ending)), None)


def _upload(source: Any, name: str, file_format: str | None, replace: bool, options: Mapping[str, Any], path: str) -> _Asking[dict[str, Any]]:
    content, found = _file(source)
    file_format = file_format or found
    if file_format is None:
        raise ValueError("The format of the data is not known: format='csv', 'npy', 'parquet', 'arrow', 'fasta' or 'fps' says it.")
    begin: dict[str, Any] = {"name": name, "format": file_format, **options}
    if replace:
        begin["replace"] = True
    octets = {"content-type": "application/octet-stream"}
    if len(content) <= _BODY_BYTES // 2:
        params = {key: _written(value) for key, value in begin.items() if value is not None}
        answer = _answer((yield _Request("POST", f"{_path(path)}:upload", params=params, headers=octets, content=content)))
        assert isinstance(answer, dict)
        return answer
    begun = yield from _operation(path, "begin", {**begin, "bytes": len(content)})
    offset, most = int(begun["offset"]), min(int(begun["piece_bytes_max"]), _BODY_BYTES // 2)
    while offset < len(content):
        params = {"name": name, "offset": str(offset)}
        piece = content[offset : offset + most]
        offset = int(_answer((yield _Request("POST", f"{path}:append", params=params, headers=octets, content=piece)))["offset"])
    answer = yield from _operation(path, "finish", {"name": name})
    assert isinstance(answer, dict)
    return answer


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _run(path: str, data: Any, options: Mapping[str, Any], output: str | None, key: str | None) -> _Asking[str]:
    body: dict[str, Any] = {"input": data, "options": {name: value for name, value in options.items() if value is not None}}
    if output is not None:
        body["output"] = output
    if key is not None:
        body["key"] = key
    return str((yield from _operation(path, "run", body))["job"])


def _wait(path: str, job: str, seconds: float) -> _Asking[dict[str, Any]]:
    body = {"job": job, "timeout_ms": max(1, int(1000 * min(seconds, _WAIT_SECONDS)))}
    answer = yield from _operation(path, "wait", body)
    assert isinstance(answer, dict)
    return answer


def _ended(job: str, state: Mapping[str, Any]) -> dict[str, Any] | None:
    """What a job came to, if it has ended.

    Raises
    ------
    Fault
        If it failed or was cancelled.
    """
    if state["state"] == "done":
        return dict(state)
    if state["state"] in _ENDED:
        fault = state.get("fault") or {}
        reason = str(fault.get("reason") or f"{job} was {state['state']}")
        raise Fault(str(fault.get("code", state["state"])), reason, details=state)
    return None


def _too_late(job: str, timeout: float, state: Mapping[str, Any]) -> NoReturn:
    raise TimeoutError(f"{job} is {state['state']} after {timeout} seconds; it goes on.")


class _Lines:
    """Server-sent events out of the lines of a stream."""

    def __init__(self) -> None:
        self._kind, self._data = "message", ""

    def take(self, line: str) -> Event | None:
        """The event that a line ends, if it ends one."""
        if line == "":
            kind, data = self._kind, self._data
            self._kind, self._data = "message", ""
            return Event(kind, json.loads(data)) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._kind = value
        elif name == "data":
            self._data += value
        # A line that begins with a colon is a sign of life, and an id is of no use without a node that knows it.
        return None


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as cause:
        raise ImportError("lehr.Node asks over HTTP with httpx, which is not installed: pip install 'lehr[services]'.") from cause
    return httpx


def _settings(url: str, token: str | None, timeout: float, verify: Any, cert: Any) -> dict[str, Any]:
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise ValueError(f"The address of a node begins with http:// or https://. Got {url!r} instead.")
    if not timeout > 0:
        raise ValueError(f"The 'timeout' parameter must be seconds above 0. Got {timeout!r} instead.")
    headers = {"accept": "application/json", "lehr-timeout-ms": str(int(1000 * timeout))}
    if token is not None:
        headers["authorization"] = f"Bearer {token}"
    httpx = _httpx()
    if cert is not None:
        context = httpx.create_ssl_context(verify=verify)
        context.load_cert_chain(*((cert,) if isinstance(cert, str) else cert))
        verify = context
    # A node is asked itself: what a proxy of the environment is for is not on it.
    return {"base_url": url, "headers": headers, "timeout": timeout + _GRACE_SECONDS, "verify": verify, "trust_env": False}


def _unreachable(url: str, cause: Exception) -> Fault:
    what = type(cause).__name__
    return Fault("unavailable", f"{url} does not answer: {cause or what} ({what})")


# --- Who sends it -------------------------------------------------------------------------------------------------------------------------------


class Node:
    """A node of services, asked over HTTP.

    Parameters
    ----------
    url : str
        The address that ``lehr serve`` prints, such as ``"http://127.0.0.1:8420"``.
    token : str or None, default=None
        The token that the node's policy asks for.
    timeout : float, default=30.0
        Seconds that an answer may take; the node gives up after them too.
    verify : bool or str, default=True
        For https: the file with the authority that signed the node's certificate; ``True`` takes the usual ones.
    cert : str or tuple of str or None, default=None
        For a node that asks for a client's certificate: its file, or the files of certificate and key.

    Notes
    -----
    One connection is kept open for several requests. ``close()``, or a ``with`` statement, ends it. Safe to use from several threads.

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

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
    ) -> None:
        self.url = url
        self._client = _httpx().Client(**_settings(url, token, timeout, verify, cert))

    def __enter__(self) -> Node:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Node({self.url!r})"

    def close(self) -> None:
        """End the connection.

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
        """The services of the node.

        Returns
        -------
        services : list of dict
            Of each its ``"path"``, ``"contract"``, ``"version"`` and ``"phase"``.

        Examples
        --------
        >>> [service["path"] for service in lehr.Node(url).ls()][:2]
        ['/clustering', '/constructor']
        """
        return list(_answer(self._send(_Request("GET", "/")))["services"])

    def get(self, path: str) -> Any:
        """The state of a service.

        Parameters
        ----------
        path : str
            The service, such as ``"/clustering"``.

        Returns
        -------
        state : Any
            Its document.

        Examples
        --------
        >>> lehr.Node(url).get("/clustering")["datasets"]
        '/datasets'
        """
        return _answer(self._send(_Request("GET", _path(path))))

    def query(self, path: str, operation: str, body: Any = None) -> Any:
        """Ask for a part of a state, which changes nothing.

        Parameters
        ----------
        path : str
            The service.
        operation : str
            What its contract calls it.
        body : Any, default=None
            What it is told: anything that JSON has, and NumPy's numbers and arrays. ``None`` is nothing.

        Returns
        -------
        answer : Any
            What it says.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[1.0], [2.0]], "two", replace=True)
        >>> node.query("/datasets", "read", {"name": "two", "format": "csv"})["csv"].split()
        ['x0', '1', '2']
        """
        return self._ask(_operation(path, operation, body))

    def submit(self, path: str, operation: str, body: Any = None, *, key: str | None = None) -> Any:
        """Any operation of a service.

        Parameters
        ----------
        path : str
            The service.
        operation : str
            What its contract calls it.
        body : Any, default=None
            As for :meth:`query`.
        key : str or None, default=None
            The same order with the same key is done once, however often it is sent.

        Returns
        -------
        answer : Any
            What it says, or ``None``.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[1.0], [2.0]], "old", replace=True)
        >>> node.submit("/datasets", "rename", {"name": "old", "to": "new"})
        >>> node.submit("/datasets", "remove", {"name": "new"})
        """
        return self._ask(_operation(path, operation, body, key))

    def drop(self, path: str) -> None:
        """End a service.

        Parameters
        ----------
        path : str
            The service.

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
        _answer(self._send(_Request("DELETE", _path(path))))

    def upload(
        self, source: Any, name: str, *, format: str | None = None, replace: bool = False, path: str = "/datasets", **options: Any
    ) -> dict[str, Any]:
        """Bring data into the data sets of the node.

        Large files go in pieces, and an upload that broke off goes on where it did.

        Parameters
        ----------
        source : path, bytes, array-like or table
            A file (CSV, TSV, NPY, Parquet, Arrow, FASTA, FPS; also gzipped), its bytes, numbers of shape (n_samples, n_features), or a table of pandas or Polars.
        name : str
            What the data set is called there.
        format : str or None, default=None
            ``"csv"``, ``"npy"``, ``"parquet"``, ``"arrow"``, ``"fasta"`` or ``"fps"``; ``None``: what the name of the file, or the kind of object, says.
        replace : bool, default=False
            Whether a data set of that name may be there, and is replaced.
        path : str, default="/datasets"
            The service of data sets.
        **options : Any
            What else is said of the data: ``columns``, ``weights``, ``id``, ``delimiter``, ``header``, ``gaps``.

        Returns
        -------
        dataset : dict
            Its rows, columns, bytes and checksum.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> node.upload(b"x,y\\n1,2\\n3,4\\n", "points", format="csv", columns=["y"], replace=True)["rows"]
        2
        """
        return self._ask(_upload(source, name, format, replace, options, path))

    def table(self, name: str, *, path: str = "/datasets") -> dict[str, NDArray[Any]]:
        """A data set: what was uploaded, or a result of a job.

        Parameters
        ----------
        name : str
            The data set.
        path : str, default="/datasets"
            The service of data sets.

        Returns
        -------
        columns : dict of ndarray of shape (n_rows,)
            By name: float64, int64 for counts, or objects for text. ``pandas.DataFrame(columns)`` is a table of it.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[1.0, 2.0], [3.0, 4.0]], "four", replace=True)
        >>> node.table("four")["x1"]
        array([2., 4.])
        """
        return self._ask(_table(path, "read", {"name": name}))

    def run(self, path: str, data: str | Mapping[str, str], *, output: str | None = None, key: str | None = None, **options: Any) -> Job:
        """Order a job of a method.

        Parameters
        ----------
        path : str
            The method's service, such as ``"/clustering"``.
        data : str or dict of str
            The data set that it is to work on, or data sets by the names that the method has for them.
        output : str or None, default=None
            What its results are called: ``output/table``. ``None``: the job's id.
        key : str or None, default=None
            The same order with the same key is one job.
        **options : Any
            The method's: those of the command of the same name, with ``_`` for ``-``.

        Returns
        -------
        job : Job
            To be waited for.

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
        """The state of a service, and its changes as they come.

        A subscription that breaks is taken up again; its first event is then a seed, with the state as it is.

        Parameters
        ----------
        path : str
            The service.
        **wishes : Any
            ``operations`` and ``keys`` to be told of, ``count`` of changes, ``slow`` (``"coalesce"`` for the latest state only), ``capacity`` of the queue.

        Returns
        -------
        events : iterator of Event
            Without an end, unless the service ends or ``count`` is reached.

        Examples
        --------
        >>> for event in lehr.Node(url).watch("/log"):
        ...     print(event.kind)
        ...     break
        seed
        """
        pause = _AGAIN_SECONDS[0]
        params = {name: _written(value) for name, value in wishes.items()}
        while True:
            lines, heard = _Lines(), False
            try:
                with self._client.stream("GET", f"{_path(path)}:events", params=params, timeout=_patience(self._client)) as response:
                    if response.status_code >= 400:
                        _answer(_Response(response.status_code, response.headers, response.read()))
                    for line in response.iter_lines():
                        event = lines.take(line)
                        if event is None:
                            continue
                        heard, pause = True, _AGAIN_SECONDS[0]
                        if _is_over(event):
                            return
                        yield event
            except _httpx().TransportError as cause:
                if not heard and pause >= _AGAIN_SECONDS[1]:
                    raise _unreachable(self.url, cause) from cause
            time.sleep(pause)
            pause = min(2 * pause, _AGAIN_SECONDS[1])


def _patience(client: Any) -> Any:
    """A stream is silent for a while: a sign of life comes every 15 seconds."""
    return _httpx().Timeout(client.timeout.read, read=60.0)


def _is_over(event: Event) -> bool:
    """Whether a subscription has ended as it may.

    Raises
    ------
    Fault
        If it was ended otherwise: it was too slow, another of its name came, the service was lost.
    """
    if event.kind != "end":
        return False
    why = event.data["why"]
    name = why if isinstance(why, str) else next(iter(why))
    if name.lower() in ("completed", "expired", "stopped"):
        return True
    raise Fault("subscription_ended", str(event.data["text"]), details=event.data)


class Job:
    """A job of a method on a node, as :meth:`Node.run` gives it.

    Attributes
    ----------
    id : str
        What the node calls it.

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
        Where it is.
    path : str
        The method's service.
    id : str
        What the node calls it.
    """

    def __init__(self, node: Node, path: str, id: str) -> None:
        self._node, self._path, self.id = node, _path(path), id

    def __repr__(self) -> str:
        return f"Job({self._node!r}, {self._path!r}, {self.id!r})"

    def wait(self, timeout: float | None = None, *, progress: Callable[[dict[str, Any]], object] | None = None) -> dict[str, Any]:
        """Wait until it has ended.

        Parameters
        ----------
        timeout : float or None, default=None
            Seconds at most; ``None``: as long as it takes. The job goes on either way.
        progress : callable or None, default=None
            Called with the job as it is, every now and then while it runs.

        Returns
        -------
        job : dict
            What the node says of it: ``"outputs"``, ``"figures"``, ``"times"``, ….

        Raises
        ------
        Fault
            If it failed or was cancelled.
        TimeoutError
            If the time is up.

        Examples
        --------
        >>> node = lehr.Node(url)
        >>> _ = node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        >>> node.run("/clustering", "line", clusters=2).wait(timeout=60)["figures"]["clusters"]
        2.0
        """
        started = time.monotonic()
        step = 1.0 if progress is not None else _WAIT_SECONDS
        while True:
            left = step if timeout is None else min(step, timeout - (time.monotonic() - started))
            state = self._node._ask(_wait(self._path, self.id, max(left, 0.0)))
            ended = _ended(self.id, state)
            if ended is not None:
                return ended
            if progress is not None:
                progress(state)
            if timeout is not None and time.monotonic() - started >= timeout:
                _too_late(self.id, timeout, state)

    def table(self, name: str) -> dict[str, NDArray[Any]]:
        """One of its results.

        Parameters
        ----------
        name : str
            Which: ``"labels"``, ``"centers"``, ….

        Returns
        -------
        columns : dict of ndarray
            As :meth:`Node.table` gives them.

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

    def cancel(self) -> None:
        """End it without a result.

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


class AsyncNode:
    """The same for asyncio: each method of :class:`Node` that asks is awaited here.

    Parameters
    ----------
    url : str
        The address of the node.
    token : str or None, default=None
        The token that the node's policy asks for.
    timeout : float, default=30.0
        Seconds that an answer may take.
    verify : bool or str, default=True
        As for :class:`Node`.
    cert : str or tuple of str or None, default=None
        As for :class:`Node`.

    Examples
    --------
    >>> async def largest(url):
    ...     async with lehr.AsyncNode(url) as node:
    ...         await node.upload(lehr.datasets.load_iris().data, "flowers", replace=True)
    ...         jobs = [await node.run("/clustering", "flowers", clusters=k) for k in (2, 3)]
    ...         await asyncio.gather(*(job.wait() for job in jobs))
    ...         return [(await job.table("centers"))["weight"].max() for job in jobs]
    >>> import asyncio
    >>> asyncio.run(largest(url))
    [np.float64(97.0), np.float64(62.0)]
    """

    def __init__(
        self,
        url: str,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        verify: bool | str = True,
        cert: str | tuple[str, str] | None = None,
    ) -> None:
        self.url = url
        self._client = _httpx().AsyncClient(**_settings(url, token, timeout, verify, cert))

    async def __aenter__(self) -> AsyncNode:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncNode({self.url!r})"

    async def close(self) -> None:
        """End the connection.

        Returns
        -------
        None

        Examples
        --------
        >>> import asyncio
        >>> asyncio.run(lehr.AsyncNode(url).close())
        """
        await self._client.aclose()

    async def _ask(self, asking: _Asking[_T]) -> _T:
        try:
            request = next(asking)
            while True:
                request = asking.send(await self._send(request))
        except StopIteration as stop:
            result: _T = stop.value
            return result

    async def _send(self, request: _Request) -> _Response:
        try:
            response = await self._client.request(
                request.method, request.path, params=dict(request.params), headers=dict(request.headers), content=request.content
            )
        except _httpx().TransportError as cause:
            raise _unreachable(self.url, cause) from cause
        return _Response(response.status_code, response.headers, response.content)

    async def ls(self) -> list[dict[str, Any]]:
        """The services of the node, as :meth:`Node.ls` lists them.

        Returns
        -------
        services : list of dict
            Of each its ``"path"``, ``"contract"``, ``"version"`` and ``"phase"``.

        Examples
        --------
        >>> import asyncio
        >>> len(asyncio.run(lehr.AsyncNode(url).ls())) > 5
        True
        """
        return list(_answer(await self._send(_Request("GET", "/")))["services"])

    async def get(self, path: str) -> Any:
        """The state of a service, as :meth:`Node.get` gives it.

        Parameters
        ----------
        path : str
            The service.

        Returns
        -------
        state : Any
            Its document.

        Examples
        --------
        >>> import asyncio
        >>> asyncio.run(lehr.AsyncNode(url).get("/clustering"))["datasets"]
        '/datasets'
        """
        return _answer(await self._send(_Request("GET", _path(path))))

    async def query(self, path: str, operation: str, body: Any = None) -> Any:
        """Ask for a part of a state, as :meth:`Node.query` does.

        Parameters
        ----------
        path : str
            The service.
        operation : str
            What its contract calls it.
        body : Any, default=None
            What it is told.

        Returns
        -------
        answer : Any
            What it says.

        Examples
        --------
        >>> import asyncio
        >>> async def read():
        ...     async with lehr.AsyncNode(url) as node:
        ...         await node.upload([[1.0], [2.0]], "two", replace=True)
        ...         return await node.query("/datasets", "read", {"name": "two", "format": "csv"})
        >>> asyncio.run(read())["rows"]
        2
        """
        return await self._ask(_operation(path, operation, body))

    async def submit(self, path: str, operation: str, body: Any = None, *, key: str | None = None) -> Any:
        """Any operation of a service, as :meth:`Node.submit` sends it.

        Parameters
        ----------
        path : str
            The service.
        operation : str
            What its contract calls it.
        body : Any, default=None
            What it is told.
        key : str or None, default=None
            The same order with the same key is done once.

        Returns
        -------
        answer : Any
            What it says, or ``None``.

        Examples
        --------
        >>> import asyncio
        >>> async def remove():
        ...     async with lehr.AsyncNode(url) as node:
        ...         await node.upload([[1.0]], "one", replace=True)
        ...         return await node.submit("/datasets", "remove", {"name": "one"})
        >>> asyncio.run(remove())
        """
        return await self._ask(_operation(path, operation, body, key))

    async def drop(self, path: str) -> None:
        """End a service.

        Parameters
        ----------
        path : str
            The service.

        Returns
        -------
        None

        Examples
        --------
        >>> import asyncio
        >>> try:
        ...     asyncio.run(lehr.AsyncNode(url).drop("/nowhere"))
        ... except lehr.Fault as fault:
        ...     print(fault.code)
        unknown_service
        """
        _answer(await self._send(_Request("DELETE", _path(path))))

    async def upload(
        self, source: Any, name: str, *, format: str | None = None, replace: bool = False, path: str = "/datasets", **options: Any
    ) -> dict[str, Any]:
        """Bring data into the data sets of the node, as :meth:`Node.upload` does.

        Parameters
        ----------
        source : path, bytes, array-like or table
            The data.
        name : str
            What the data set is called there.
        format : str or None, default=None
            What they are, where neither name nor kind says it.
        replace : bool, default=False
            Whether a data set of that name may be there, and is replaced.
        path : str, default="/datasets"
            The service of data sets.
        **options : Any
            What else is said of the data.

        Returns
        -------
        dataset : dict
            Its rows, columns, bytes and checksum.

        Examples
        --------
        >>> import asyncio
        >>> asyncio.run(lehr.AsyncNode(url).upload([[1.0, 2.0]], "pair", replace=True))["rows"]
        1
        """
        return await self._ask(_upload(source, name, format, replace, options, path))

    async def table(self, name: str, *, path: str = "/datasets") -> dict[str, NDArray[Any]]:
        """A data set, as :meth:`Node.table` gives it.

        Parameters
        ----------
        name : str
            The data set.
        path : str, default="/datasets"
            The service of data sets.

        Returns
        -------
        columns : dict of ndarray
            By name.

        Examples
        --------
        >>> import asyncio
        >>> async def pair():
        ...     async with lehr.AsyncNode(url) as node:
        ...         await node.upload([[1.0, 2.0]], "pair", replace=True)
        ...         return await node.table("pair")
        >>> asyncio.run(pair())["x1"]
        array([2.])
        """
        return await self._ask(_table(path, "read", {"name": name}))

    async def run(
        self, path: str, data: str | Mapping[str, str], *, output: str | None = None, key: str | None = None, **options: Any
    ) -> AsyncJob:
        """Order a job of a method, as :meth:`Node.run` does.

        Parameters
        ----------
        path : str
            The method's service.
        data : str or dict of str
            What it is to work on.
        output : str or None, default=None
            What its results are called.
        key : str or None, default=None
            The same order with the same key is one job.
        **options : Any
            The method's.

        Returns
        -------
        job : AsyncJob
            To be waited for.

        Examples
        --------
        >>> import asyncio
        >>> async def state():
        ...     async with lehr.AsyncNode(url) as node:
        ...         await node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        ...         job = await node.run("/clustering", "line", clusters=2)
        ...         return (await job.wait())["state"]
        >>> asyncio.run(state())
        'done'
        """
        return AsyncJob(self, path, await self._ask(_run(path, data, options, output, key)))

    async def watch(self, path: str, **wishes: Any) -> AsyncIterator[Event]:
        """The state of a service, and its changes as they come, as :meth:`Node.watch` tells them.

        Parameters
        ----------
        path : str
            The service.
        **wishes : Any
            As for :meth:`Node.watch`.

        Returns
        -------
        events : asynchronous iterator of Event
            Without an end, unless the service ends or ``count`` is reached.

        Examples
        --------
        >>> import asyncio
        >>> async def first():
        ...     async with lehr.AsyncNode(url) as node:
        ...         async for event in node.watch("/log"):
        ...             return event.kind
        >>> asyncio.run(first())
        'seed'
        """
        pause = _AGAIN_SECONDS[0]
        params = {name: _written(value) for name, value in wishes.items()}
        while True:
            lines, heard = _Lines(), False
            try:
                async with self._client.stream("GET", f"{_path(path)}:events", params=params, timeout=_patience(self._client)) as response:
                    if response.status_code >= 400:
                        _answer(_Response(response.status_code, response.headers, await response.aread()))
                    async for line in response.aiter_lines():
                        event = lines.take(line)
                        if event is None:
                            continue
                        heard, pause = True, _AGAIN_SECONDS[0]
                        if _is_over(event):
                            return
                        yield event
            except _httpx().TransportError as cause:
                if not heard and pause >= _AGAIN_SECONDS[1]:
                    raise _unreachable(self.url, cause) from cause
            await asyncio.sleep(pause)
            pause = min(2 * pause, _AGAIN_SECONDS[1])


class AsyncJob:
    """A job of a method on a node, as :meth:`AsyncNode.run` gives it.

    Parameters
    ----------
    node : AsyncNode
        Where it is.
    path : str
        The method's service.
    id : str
        What the node calls it.

    Examples
    --------
    >>> import asyncio
    >>> async def labels():
    ...     async with lehr.AsyncNode(url) as node:
    ...         await node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
    ...         job = await node.run("/clustering", "line", clusters=2)
    ...         await lehr.AsyncJob(node, "/clustering", job.id).wait()
    ...         return (await job.table("labels"))["cluster"]
    >>> asyncio.run(labels())
    array([0, 0, 0, 1])
    """

    def __init__(self, node: AsyncNode, path: str, id: str) -> None:
        self._node, self._path, self.id = node, _path(path), id

    def __repr__(self) -> str:
        return f"AsyncJob({self._node!r}, {self._path!r}, {self.id!r})"

    async def wait(self) -> dict[str, Any]:
        """Wait until it has ended; ``asyncio.timeout`` bounds it, and the job goes on.

        Returns
        -------
        job : dict
            What the node says of it.

        Raises
        ------
        Fault
            If it failed or was cancelled.

        Examples
        --------
        See :class:`AsyncJob`.
        """
        while True:
            ended = _ended(self.id, await self._node._ask(_wait(self._path, self.id, _WAIT_SECONDS)))
            if ended is not None:
                return ended

    async def table(self, name: str) -> dict[str, NDArray[Any]]:
        """One of its results, as :meth:`Job.table` gives it.

        Parameters
        ----------
        name : str
            Which.

        Returns
        -------
        columns : dict of ndarray
            By name.

        Examples
        --------
        See :class:`AsyncJob`.
        """
        return await self._node._ask(_table(self._path, "result", {"job": self.id, "table": name}))

    async def cancel(self) -> None:
        """End it without a result.

        Returns
        -------
        None

        Examples
        --------
        >>> import asyncio
        >>> async def cancelled():
        ...     async with lehr.AsyncNode(url) as node:
        ...         await node.upload([[0.0], [1.0], [2.0], [9.0]], "line", replace=True)
        ...         await (await node.run("/clustering", "line", clusters=2)).cancel()
        >>> asyncio.run(cancelled())
        """
        await self._node._ask(_operation(self._path, "cancel", {"job": self.id}))
