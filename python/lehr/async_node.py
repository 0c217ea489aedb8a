"""An asyncio client for the services of a node: :class:`AsyncNode`, with the methods of :class:`lehr.node.Node`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
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

__all__ = ["AsyncJob", "AsyncNode"]
__dir__ = listed(__all__)


class AsyncNode(_Client):
    """The asyncio version of :class:`Node`. Await each method that calls the node.

    Parameters
    ----------
    url : str
        The address of the node.
    token : str or None, default=None
        The bearer token, if the node's policy requires one.
    timeout : float, default=30.0
        The longest time to wait for an answer, in seconds.
    verify : bool or str, default=True
        The same as for :class:`Node`.
    cert : str or tuple of str or None, default=None
        The same as for :class:`Node`.

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

    _kind = "AsyncClient"

    async def __aenter__(self) -> AsyncNode:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection.

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
        """List the services of the node, as :meth:`Node.ls` does.

        Returns
        -------
        services : list of dict
            A dictionary for each service: ``"path"``, ``"contract"``, ``"version"`` and ``"phase"``.

        Examples
        --------
        >>> import asyncio
        >>> len(asyncio.run(lehr.AsyncNode(url).ls())) > 5
        True
        """
        return await self._ask(_services())

    async def get(self, path: str) -> Any:
        """Read the state of a service, as :meth:`Node.get` does.

        Parameters
        ----------
        path : str
            The path of the service.

        Returns
        -------
        state : Any
            The state of the service.

        Examples
        --------
        >>> import asyncio
        >>> asyncio.run(lehr.AsyncNode(url).get("/clustering"))["datasets"]
        '/datasets'
        """
        return await self._ask(_state(path))

    async def query(self, path: str, operation: str, body: Any = None) -> Any:
        """Send a query to a service, as :meth:`Node.query` does.

        Parameters
        ----------
        path : str
            The path of the service.
        operation : str
            The name of the operation in the contract.
        body : Any, default=None
            The fields of the request.

        Returns
        -------
        answer : Any
            The answer of the service.

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
        """Call any operation of a service, as :meth:`Node.submit` does.

        Parameters
        ----------
        path : str
            The path of the service.
        operation : str
            The name of the operation in the contract.
        body : Any, default=None
            The fields of the request.
        key : str or None, default=None
            An idempotency key: the node executes a request with the same key only once.

        Returns
        -------
        answer : Any
            The answer of the service, or ``None``.

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
        """Stop a service and remove it from the node, as :meth:`Node.drop` does.

        Parameters
        ----------
        path : str
            The path of the service.

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
        await self._ask(_drop(path))

    async def upload(
        self, source: Any, name: str, *, format: str | None = None, replace: bool = False, path: str = "/datasets", **options: Any
    ) -> dict[str, Any]:
        """Upload data to the data sets of the node, as :meth:`Node.upload` does.

        Parameters
        ----------
        source : path, bytes, array-like or table
            The data.
        name : str
            The name of the data set on the node.
        format : str or None, default=None
            The format of the data. With ``None``, Lehr infers it from the file's name or the type of ``source``.
        replace : bool, default=False
            Whether to replace a data set with the same name.
        path : str, default="/datasets"
            The path of the service that keeps data sets.
        **options : Any
            Further options for reading the data, as for :meth:`Node.upload`.

        Returns
        -------
        dataset : dict
            The rows, columns, bytes and checksum of the data set.

        Examples
        --------
        >>> import asyncio
        >>> asyncio.run(lehr.AsyncNode(url).upload([[1.0, 2.0]], "pair", replace=True))["rows"]
        1
        """
        return await self._ask(_upload(source, name, format, replace, options, path))

    async def table(self, name: str, *, path: str = "/datasets") -> dict[str, NDArray[Any]]:
        """Download a data set, as :meth:`Node.table` does.

        Parameters
        ----------
        name : str
            The name of the data set.
        path : str, default="/datasets"
            The path of the service that keeps data sets.

        Returns
        -------
        columns : dict of ndarray
            The columns by name.

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
        """Start a job of a method, as :meth:`Node.run` does.

        Parameters
        ----------
        path : str
            The method's service.
        data : str or dict of str
            The name of the data set to work on, or several names, as for :meth:`Node.run`.
        output : str or None, default=None
            The prefix for the names of the results, as for :meth:`Node.run`.
        key : str or None, default=None
            An idempotency key: requests with the same key start only one job.
        **options : Any
            The method's options.

        Returns
        -------
        job : AsyncJob
            The job.

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
        """Yield the state of a service, and then its changes as they happen, as :meth:`Node.watch` does.

        Parameters
        ----------
        path : str
            The service.
        **wishes : Any
            The same as for :meth:`Node.watch`.

        Returns
        -------
        events : asynchronous iterator of Event
            The events. The iterator ends only when the service ends or ``count`` is reached.

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
        watching = _Watching(self, path, wishes)
        while True:
            try:
                async with self._client.stream(**watching.begin()) as response:
                    if response.status_code >= 400:
                        _answer(_Response(response.status_code, response.headers, await response.aread()))
                    async for line in response.aiter_lines():
                        event = watching.take(line)
                        if event is None:
                            continue
                        if _is_over(event):
                            return
                        yield event
            except _httpx().TransportError as cause:
                watching.broke(cause)
            await asyncio.sleep(watching.pause())


class AsyncJob:
    """A job of a method on a node, as :meth:`AsyncNode.run` returns it.

    Parameters
    ----------
    node : AsyncNode
        The node that runs the job.
    path : str
        The method's service.
    id : str
        The id of the job on the node.

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
        """Wait until the job has ended. ``asyncio.timeout`` limits the wait; the job then continues.

        Returns
        -------
        job : dict
            The job's state, as the node reports it.

        Raises
        ------
        Fault
            If the job failed or was cancelled.

        Examples
        --------
        See :class:`AsyncJob`.
        """
        return await self._node._ask(_wait(self._path, self.id))

    async def table(self, name: str) -> dict[str, NDArray[Any]]:
        """Download one of the job's results, as :meth:`Job.table` does.

        Parameters
        ----------
        name : str
            The name of the result.

        Returns
        -------
        columns : dict of ndarray
            The columns by name.

        Examples
        --------
        See :class:`AsyncJob`.
        """
        return await self._node._ask(_table(self._path, "result", {"job": self.id, "table": name}))

    async def model(self) -> Any:
        """Download the job's model, as :meth:`Job.model` does.

        Returns
        -------
        estimator
            A fitted estimator.

        Examples
        --------
        See :class:`AsyncJob`.
        """
        return await self._node._ask(_model(self._path, self.id))

    async def cancel(self) -> None:
        """Cancel the job. A cancelled job has no results.

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
