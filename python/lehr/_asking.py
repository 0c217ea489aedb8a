"""The requests to a node and its answers, independent of the HTTP client.

Generators yield requests and receive the responses. :mod:`lehr.node` and :mod:`lehr.async_node` send the requests and wait for the responses.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Event", "Fault"]

#: The maximum number of bytes in the body of a request. Larger files are sent in pieces of half this size.
_BODY_BYTES = 16 << 20
#: The maximum number of seconds that a request waits for the end of a job, before the node answers with the job's progress.
_WAIT_SECONDS = 20.0
#: The client waits this many seconds longer than the deadline that it sends to the node.
_GRACE_SECONDS = 5.0
#: The shortest and the longest pause before a broken subscription is resumed, in seconds. The pause doubles with each try.
_AGAIN_SECONDS = (0.1, 5.0)
_ENDED = ("failed", "cancelled")


class Fault(Exception):
    """An error of a node: it refused a request, failed, or could not be reached, or a job on it failed.

    Attributes
    ----------
    code : str
        The kind of error, such as ``"unknown_service"``, ``"invalid_value"`` or ``"unavailable"``.
    reason : str
        The error in a sentence.
    details : dict
        The complete answer: a problem document (RFC 9457) with additional fields of Lehr. For a failed job, the state of the job. Empty if there was no answer
        in JSON.
    status : int or None
        The HTTP status of the refusal; ``None`` for other errors, such as a failed job or a node that cannot be reached.
    retry_after : float or None
        The seconds after which the node suggests another try; ``None`` if it suggests none.

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
    """An event of a subscription to a service, as :meth:`Node.watch` yields it.

    Attributes
    ----------
    kind : str
        ``"seed"``: the whole state. ``"change"``: an operation that changed the state. ``"gap"``: some changes are missing, and a seed follows. ``"end"``: no
        more events follow.
    data : Any
        The content of the event. A ``seed`` event has ``"state"`` and ``"version"``.

    Examples
    --------
    >>> event = next(lehr.Node(url).watch("/log"))
    >>> event.kind, sorted(event.data)
    ('seed', ['incarnation', 'state', 'version'])
    """

    kind: str
    data: Any


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
#: A generator that yields requests, receives the response to each, and returns the result.
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
    """Returns the JSON value of an answer.

    Raises
    ------
    Fault
        If the answer reports an error.
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


def _services() -> _Asking[list[dict[str, Any]]]:
    return list(_answer((yield _Request("GET", "/")))["services"])


def _state(path: str) -> _Asking[Any]:
    return _answer((yield _Request("GET", _path(path))))


def _drop(path: str) -> _Asking[None]:
    _answer((yield _Request("DELETE", _path(path))))


def _operation(path: str, name: str, body: Any = None, key: str | None = None) -> _Asking[Any]:
    headers = {"content-type": "application/json"}
    if key is not None:
        headers["idempotency-key"] = key
    content = _json_of({} if body is None else body)
    return _answer((yield _Request("POST", f"{_path(path)}:{name}", headers=headers, content=content)))


def _model(path: str, job: str) -> _Asking[Any]:
    content = yield from _operation(path, "model", {"job": job})
    # Importing the estimators takes time, and most requests do not need them.
    from lehr._load import learnt

    return learnt(json.dumps(content).encode())


def _table(path: str, operation: str, body: Mapping[str, Any]) -> _Asking[dict[str, NDArray[Any]]]:
    rows: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    while True:
        # The node limits the number of rows in an answer.
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
    # A missing value arrives as null.
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _file(source: Any) -> tuple[bytes, str | None]:
    """Returns the bytes to upload, and their format if it is known."""
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
        ".fasta": "fasta", ".fa": "fasta", ".fna": "fasta", ".faa": "fasta", ".fps": "fps", ".smi": "smiles", ".sdf": "sdf",
    }  # fmt: skip
    return next((name for ending, name in endings.items() if stem.endswith(ending)), None)


def _upload(source: Any, name: str, file_format: str | None, replace: bool, options: Mapping[str, Any], path: str) -> _Asking[dict[str, Any]]:
    content, found = _file(source)
    file_format = file_format or found
    if file_format is None:
        raise ValueError("The format of the data is not known: format='csv', 'npy', 'parquet', 'arrow', 'fasta', 'fps', 'smiles' or 'sdf' says it.")
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


def _wait(
    path: str, job: str, timeout: float | None = None, progress: Callable[[dict[str, Any]], object] | None = None
) -> _Asking[dict[str, Any]]:
    """Waits until a job is done, and returns the state of the job.

    Raises
    ------
    Fault
        If the job failed or was cancelled.
    TimeoutError
        If the job has not ended within ``timeout`` seconds.
    """
    started = time.monotonic()
    step = min(1.0, _WAIT_SECONDS) if progress is not None else _WAIT_SECONDS
    while True:
        seconds = step if timeout is None else min(step, timeout - (time.monotonic() - started))
        state = yield from _operation(path, "wait", {"job": job, "timeout_ms": max(1, int(1000 * seconds))})
        if state["state"] == "done":
            return dict(state)
        if state["state"] in _ENDED:
            fault = state.get("fault") or {}
            reason = str(fault.get("reason") or f"{job} was {state['state']}")
            raise Fault(str(fault.get("code", state["state"])), reason, details=state)
        if progress is not None:
            progress(state)
        if timeout is not None and time.monotonic() - started >= timeout:
            raise TimeoutError(f"{job} is {state['state']} after {timeout} seconds; it goes on.")


class _Lines:
    """Parses the lines of a stream into server-sent events."""

    def __init__(self) -> None:
        self._kind, self._data = "message", ""

    def take(self, line: str) -> Event | None:
        """Returns the event that a line completes; ``None`` if it completes none."""
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
        # A line that begins with a colon only keeps the connection alive. The field `id` of an event is not used.
        return None


def _httpx() -> Any:
    try:
        import httpx
    except ImportError as cause:
        raise ImportError("lehr.Node asks over HTTP with httpx, which is not installed: pip install httpx.") from cause
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
    # Requests go directly to the node: proxies in environment variables are ignored.
    return {"base_url": url, "headers": headers, "timeout": timeout + _GRACE_SECONDS, "verify": verify, "trust_env": False}


class _Client:
    """The common part of :class:`Node` and :class:`AsyncNode`: the address of the node and a client of httpx."""

    #: The name of the client's class in httpx.
    _kind: ClassVar[str]

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
        self._client: Any = getattr(_httpx(), self._kind)(**_settings(url, token, timeout, verify, cert))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


def _unreachable(url: str, cause: Exception) -> Fault:
    what = type(cause).__name__
    return Fault("unavailable", f"{url} does not answer: {cause or what} ({what})")


def _is_over(event: Event) -> bool:
    """Returns whether the event is the regular end of a subscription.

    Raises
    ------
    Fault
        If the subscription ended for another reason: the client read too slowly, another client took over its name, or the service was lost.
    """
    if event.kind != "end":
        return False
    why = event.data["why"]
    name = why if isinstance(why, str) else next(iter(why))
    if name.lower() in ("completed", "expired", "stopped"):
        return True
    raise Fault("subscription_ended", str(event.data["text"]), details=event.data)


class _Watching:
    """A subscription that resumes after its connection breaks."""

    def __init__(self, node: _Client, path: str, wishes: Mapping[str, Any]) -> None:
        self._url, self._pause = node.url, _AGAIN_SECONDS[0]
        self._lines, self._heard = _Lines(), False
        # A node sends a comment at least every 15 seconds to keep a stream alive.
        patience = _httpx().Timeout(node._client.timeout.read, read=60.0)
        params = {name: _written(value) for name, value in wishes.items()}
        self._request = {"method": "GET", "url": f"{_path(path)}:events", "params": params, "timeout": patience}

    def begin(self) -> dict[str, Any]:
        """Prepares to read a new stream, and returns the request for the stream."""
        self._lines, self._heard = _Lines(), False
        return self._request

    def take(self, line: str) -> Event | None:
        """Returns the event that a line completes; ``None`` if it completes none."""
        event = self._lines.take(line)
        if event is not None:
            self._heard, self._pause = True, _AGAIN_SECONDS[0]
        return event

    def broke(self, cause: Exception) -> None:
        """Records that the connection broke.

        Raises
        ------
        Fault
            If no event arrived over the connection, and the pause has already reached its maximum.
        """
        if not self._heard and self._pause >= _AGAIN_SECONDS[1]:
            raise _unreachable(self._url, cause) from cause

    def pause(self) -> float:
        """Returns the seconds to wait before the next try."""
        pause = self._pause
        self._pause = min(2 * pause, _AGAIN_SECONDS[1])
        return pause
