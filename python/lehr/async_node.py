"""Services of a node, called from asyncio: :class:`AsyncNode`, with the methods of :class:`lehr.node.Node`."""

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
    """The asyncio version of :class:`Node`: await each method that calls the node.

    Parameters
    ----------
    url : str
        The address of the node.
    token : str or None, default=None
        The token that the node's policy asks for.
    timeout : float, default=30.0
        The longest wait for an answer, in seconds.
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
        """The services of the node, as :meth:`Node.ls` lists them.

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
        """The state of a service, as :meth:`Node.get` gives it.

        Parameters
        ----------
        path : str
            The path of the service.

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
            The node executes an order with the same key only once.

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
        """End a service.

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
            The format of the data, if neither name nor type shows it.
        replace : bool, default=False
            Whether to replace a data set of that name.
        path : str, default="/datasets"
            The service of data sets.
        **options : Any
            Further facts about the data.

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
            Columns by name.

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
            The data set to work on.
        output : str or None, default=None
            The name of its results.
        key : str or None, default=None
            The same order with the same key is one job.
        **options : Any
            The method's options.

        Returns
        -------
        job : AsyncJob
            The job, to wait for.

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
        """The state of a service, and its changes as they come, as :meth:`Node.watch` yields them.

        Parameters
        ----------
        path : str
            The service.
        **wishes : Any
            The same as for :meth:`Node.watch`.

        Returns
        -------
        events : asynchronous iterator of Event
            Events without an end, unless the service ends or ``count`` is reached.

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
        The node that runs it.
    path : str
        The method's service.
    id : str
        Its name on the node.

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
        """Wait until the job has ended; ``asyncio.timeout`` limits the wait, and the job continues.

        Returns
        -------
        job : dict
            The node's answer about it.

        Raises
        ------
        Fault
            If it failed or was cancelled.

        Examples
        --------
        See :class:`AsyncJob`.
        """
        return await self._node._ask(_wait(self._path, self.id))

    async def table(self, name: str) -> dict[str, NDArray[Any]]:
        """One of its results, as :meth:`Job.table` gives it.

        Parameters
        ----------
        name : str
            The name of the result.

        Returns
        -------
        columns : dict of ndarray
            Columns by name.

        Examples
        --------
        See :class:`AsyncJob`.
        """
        return await self._node._ask(_table(self._path, "result", {"job": self.id, "table": name}))

    async def model(self) -> Any:
        """Its model, as :meth:`Job.model` gives it.

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
        """Cancel the job; it has no result.

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
