"""Services written in Python: a JSON state, and handlers for the requests of clients.

A :class:`Service` is JSON-serialisable state plus methods that you mark as handlers with :func:`handler`. :func:`serve` serves it over HTTP, like services
written in Rust, to :class:`lehr.Node`, ``curl`` and other nodes. Each change gives the state a new version and is sent to all subscribers. A subscriber that is too
slow gets the latest state instead. ``/openapi.json`` describes the operations.

======================  ==========================================================  ==============================
verb                    effect                                                      handlers that may run meanwhile
======================  ==========================================================  ==============================
query                   returns a part of the state                                 query and submit
submit                  performs an action without changing the state               query and submit
insert, delete          adds or removes a part of the state                         none
update, upsert          changes a part of the state, or adds it                     none
replace                 replaces the whole state; ``PUT`` calls the handler         none
                        with the name ``replace``
======================  ==========================================================  ==============================

The node answers ``get`` and ``subscribe`` itself, without a handler and without the Python interpreter.

Plain functions can be served too: each becomes an operation. ``python3 -m lehr serve FILE`` serves all functions and services of a file, for example as steps of a
workflow.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hashlib
import inspect
import ipaddress
import json
import logging
import math
import os
import re
import threading
import time
import types
import typing
import weakref
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from lehr import _checks, _native
from lehr._asking import Fault
from lehr._names import listed

__all__ = ["Server", "Service", "handler", "serve"]
__dir__ = listed(__all__)

_F = TypeVar("_F", bound=Callable[..., Any])
#: What may stand at a path: a service, a function, or several functions.
_Served = typing.Union["Service", Callable[..., Any], "list[Callable[..., Any]]"]

_CHANGING = ("insert", "update", "upsert", "replace", "delete")
_LOOKING = ("query", "submit")
_GROUPS = ("exclusive", "concurrent", "independent")
#: The codes of errors that a handler may raise.
_CODES = (
    "action_not_supported", "message_not_supported", "contract_mismatch", "duplicate_entry", "unknown_entry", "invalid_value", "precondition_failed",
    "too_large", "insufficient_resources", "operation_cancelled", "operation_failed", "unauthenticated", "permission_denied", "queuing_limit_exceeded",
    "response_timeout", "would_deadlock", "unknown_service", "stale_reference", "service_stopping", "unavailable", "start_failed",
)  # fmt: skip
#: When the event loop closes, its remaining coroutines have this many seconds to end, before they are abandoned.
_GRACE_SECONDS = 1.0
#: A thread that waits for the end of a node checks the node after this many seconds.
_LOOK_SECONDS = 0.2

#: Names that the operations of a service cannot have.
_RESERVED = {"state", "contract", "version"}

#: The attribute of a method that stores its mark as a handler.
_MARK = "__lehr_handler__"

_LOG = logging.getLogger("lehr.services")


@dataclass(frozen=True)
class _Mark:
    verb: str
    group: str
    name: str | None


def handler(
    verb: Literal["query", "submit", "insert", "update", "upsert", "replace", "delete"],
    *,
    group: Literal["exclusive", "concurrent", "independent"] | None = None,
    name: str | None = None,
) -> Callable[[_F], _F]:
    """Mark a method as the handler of an operation.

    The parameters of the method are the fields of the request's body, and annotations give their types. Types are ``int``, ``float``, ``str``, ``bool``,
    ``list``, ``dict`` and ``Literal``, also with ``None``. Lists and dictionaries may also have types for their entries, for example ``list[int]``. A parameter
    with another annotation, or without an annotation, accepts any JSON value. A field with a default may be missing; unknown fields are ignored. A method with
    a single positional-only parameter (before ``/``) receives the whole body.

    The node calls plain functions on its threads, and coroutines on its event loop.

    Parameters
    ----------
    verb : {'query', 'submit', 'insert', 'update', 'upsert', 'replace', 'delete'}
        The effect of the operation on the state.
    group : {'exclusive', 'concurrent', 'independent'}, default=None
        Determines which handlers may run at the same time. ``'exclusive'``: only independent handlers. ``'concurrent'``: all except exclusive handlers.
        ``'independent'``: all handlers; an independent handler must not read the state. ``None`` means ``'concurrent'`` for query and submit, otherwise
        ``'exclusive'``, the only group for verbs that change the state.
    name : str, default=None
        The name of the operation for clients. ``None`` means the name of the method.

    Returns
    -------
    decorator : callable
        A decorator that returns the method unchanged.

    Examples
    --------
    >>> import asyncio, lehr
    >>> class Sums(lehr.Service):
    ...     state = {"sum": 0}
    ...     @lehr.handler("update")
    ...     def add(self, number: int) -> int:
    ...         self.state["sum"] += number
    ...         return self.state["sum"]
    ...     @lehr.handler("submit", group="independent")
    ...     async def rest(self, seconds: float = 1.0) -> None:
    ...         await asyncio.sleep(seconds)
    >>> with lehr.serve(Sums(), port=0) as server, lehr.Node(server.url) as node:
    ...     print(node.submit("/sums", "rest", {"seconds": 0.01}), node.submit("/sums", "add", {"number": 4}))
    None 4
    """
    _checks.choice("verb", verb, _LOOKING + _CHANGING)
    if group is None:
        group = "exclusive" if verb in _CHANGING else "concurrent"
    _checks.choice("group", group, ("exclusive",) if verb in _CHANGING else _GROUPS)

    def mark(function: _F) -> _F:
        setattr(function, _MARK, _Mark(verb, group, name))
        return function

    return mark


class Service:
    """The base class of services: a state with handlers.

    The state consists of JSON values: dictionaries with string keys, lists, strings, numbers (also of NumPy), ``True``, ``False`` and ``None``. Store anything
    else that handlers need in other attributes. To change the state, a handler changes ``self.state`` in place or assigns a new one. When the handler returns,
    the version increases, clients see the new state, and subscribers receive the operation. If the handler raises an exception, Lehr restores the old state.
    Therefore don't keep references to parts of the state between calls. Handlers for query and submit must not change the state; Lehr does not check this.
    Later handlers would see such changes at once, but clients only after the next change by another handler.

    To report an error to the client, raise :class:`lehr.Fault` with one of the node's error codes. For any other exception, the client only learns that the
    operation failed inside the service. The logger ``lehr.services`` receives the traceback.

    Attributes
    ----------
    state : Any, default=None
        The state that clients see. Each service gets its own copy of this value when it is served.
    contract : str, default=''
        The public name of the contract, such as ``"example.org/counter"``. ``''``: the names of the module and class.
    version : tuple of int, default=(1, 0)
        The version of the contract. Increase the second number for additions, and the first number for changes that break old clients.

    Examples
    --------
    >>> import lehr
    >>> class Register(lehr.Service):
    ...     contract = "example.org/register"
    ...     state = {}
    ...     @lehr.handler("insert")
    ...     def enter(self, name: str, age: int) -> None:
    ...         if name in self.state:
    ...             raise lehr.Fault("duplicate_entry", f"{name} is registered")
    ...         self.state[name] = age
    ...     @lehr.handler("query")
    ...     def older(self, than: int = 0) -> list[str]:
    ...         return sorted(name for name, age in self.state.items() if age > than)
    >>> with lehr.serve(Register(), port=0) as server, lehr.Node(server.url) as node:
    ...     node.submit("/register", "enter", {"name": "Ada", "age": 36})
    ...     try:
    ...         node.submit("/register", "enter", {"name": "Ada", "age": 17})
    ...     except lehr.Fault as fault:
    ...         print(fault.code)
    ...     node.query("/register", "older", {"than": 18}), node.get("/register")
    duplicate_entry
    (['Ada'], {'Ada': 36})
    """

    state: Any = None
    contract: str = ""
    version: tuple[int, int] = (1, 0)


class Server:
    """A running node, as :func:`serve` returns it. Use it in a ``with`` statement, or close it.

    Parameters
    ----------
    services : dict of Service
        The services by path.
    address : str
        The address to listen on, such as ``"127.0.0.1:0"``.
    insecure : bool
        Whether the address may be reachable from other machines.
    threads : int
        The number of worker threads.
    queue : int
        The maximum number of waiting requests for each operation.
    keep : str or None
        The folder for saved states.

    Attributes
    ----------
    url : str
        The URL of the node, for :class:`lehr.Node`.
    services : dict of Service
        The services by path.

    Examples
    --------
    >>> import lehr
    >>> class Note(lehr.Service):
    ...     state = "hello"
    >>> with lehr.serve(Note(), port=0) as server:
    ...     print(server.url.startswith("http://127.0.0.1:"), list(server.services))
    True ['/note']
    """

    def __init__(self, services: Mapping[str, Service], address: str, *, insecure: bool, threads: int, queue: int, keep: str | None) -> None:
        self.services = dict(services)
        programs = {path: _Program(path, service) for path, service in self.services.items()}
        self._loop = _Loop()
        self._native = _native.ServiceNode(threads)
        # The finalizer also runs when the interpreter exits, because threads must not outlive the interpreter.
        self._finalizer = weakref.finalize(self, _end, self._native, self._loop, 0.5)
        try:
            for path, program in programs.items():
                program.loop = self._loop
                # Paths contain no plus sign, so each path has its own file.
                file = None if keep is None else os.path.join(keep, path.strip("/").replace("/", "+") + ".json")
                self._native.start((path, queue, file), json.dumps(program.outline()), program.service.state, program)
            self.url = f"http://{self._native.listen(address, insecure)}"
        except BaseException:
            self._finalizer()
            raise

    def __repr__(self) -> str:
        return f"Server({self.url!r}, {list(self.services)})"

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the node is closed, or clients have stopped all its services.

        Parameters
        ----------
        timeout : float or None, default=None
            The longest time to wait, in seconds. ``None`` means no limit. Ctrl-C raises ``KeyboardInterrupt``, and a ``with`` statement then closes the node.

        Returns
        -------
        ended : bool
            Whether the node has ended.

        Examples
        --------
        >>> import lehr
        >>> class Note(lehr.Service):
        ...     state = "hello"
        >>> with lehr.serve(Note(), port=0) as server, lehr.Node(server.url) as node:
        ...     still = server.wait(0.01)
        ...     node.drop("/note")
        ...     print(still, server.wait())
        False True
        """
        until = math.inf if timeout is None else time.monotonic() + timeout
        while self._finalizer.alive:
            try:
                standing = self._native.paths()
            except RuntimeError:
                return True
            if not any(path in standing for path in self.services):
                return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(left, _LOOK_SECONDS))
        return True

    def close(self, timeout: float = 5.0) -> None:
        """Stop the services in reverse order, and then the node. Waiting requests are refused; running handlers have time to finish.

        Parameters
        ----------
        timeout : float, default=5.0
            Running handlers have this many seconds to finish. After this time, Lehr cancels coroutines. Plain functions cannot be cancelled: Lehr abandons them
            with a warning.

        Returns
        -------
        None

        Examples
        --------
        >>> import lehr
        >>> class Note(lehr.Service):
        ...     state = "hello"
        >>> server = lehr.serve(Note(), port=0)
        >>> server.close()
        """
        seconds = _checks.real("timeout", timeout)
        if seconds is None or seconds < 0:
            raise _checks.wrong("timeout", "seconds of 0 or more", timeout)
        if self._finalizer.detach() is not None:
            _end(self._native, self._loop, seconds)


def serve(
    service: _Served | Mapping[str, _Served],
    *,
    path: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8420,
    threads: int = 2,
    queue: int = 1024,
    keep: str | os.PathLike[str] | None = None,
    insecure: bool = False,
) -> Server:
    """Start a node that serves services over HTTP until it is closed.

    Parameters
    ----------
    service : Service, function, list of functions, or dict
        One service, or several services by path. Each service must be a separate object. Functions form a service without a state: each is an operation of its name
        (verb ``submit``), and its parameters are the fields of the body. A function may run on several threads at once.
    path : str, default=None
        The path of a single service. With ``None``, it is derived from the name of its class, such as ``/word_count`` for ``WordCount``. For functions, it is the
        name of the first function.
    host : str, default='127.0.0.1'
        The IP address to listen on, or ``'localhost'``.
    port : int, default=8420
        The port; 0: any free port.
    threads : int, default=2
        The number of worker threads that pass requests to handlers. Blocking handlers do not occupy these threads.
    queue : int, default=1024
        The maximum number of waiting requests for each operation; further requests are refused.
    keep : path-like, default=None
        A folder in which each service saves its state before it answers a change. When the service is served again, it loads the saved state. Lehr creates the
        folder if necessary. With ``None``, states are not saved.
    insecure : bool, default=False
        Whether to allow an address that other machines can reach. There is no access control: anyone who can reach the node may call every operation.

    Returns
    -------
    server : Server
        The running node. Use it in a ``with`` statement, or close it.

    Raises
    ------
    ValueError
        If other machines can reach the address and ``insecure`` is false. Also if two paths have the same object, because they would share its state.
    TypeError
        If the parameters of a handler cannot be fields of a body, or a state is not JSON-serialisable.
    OSError
        If the address is not available, or the folder cannot be created.
    Fault
        If a service cannot start, for example because its saved state is damaged.

    Examples
    --------
    >>> import lehr
    >>> class Counter(lehr.Service):
    ...     state = {"value": 0}
    ...     @lehr.handler("update")
    ...     def add(self, amount: int = 1) -> int:
    ...         self.state["value"] += amount
    ...         return self.state["value"]
    >>> with lehr.serve(Counter(), port=0) as server, lehr.Node(server.url) as node:
    ...     print(node.submit("/counter", "add", {"amount": 4}), node.submit("/counter", "add"), node.get("/counter"))
    4 5 {'value': 5}
    >>> def mean(numbers: list[float]) -> float:
    ...     return sum(numbers) / len(numbers)
    >>> with lehr.serve(mean, port=0) as server, lehr.Node(server.url) as node:
    ...     print(node.query("/mean", "mean", {"numbers": [1, 2, 6]}))
    3.0
    """
    if isinstance(service, Service):
        services = {_path_of(type(service)) if path is None else path: service}
    elif functions := _functions(service):
        services = {f"/{functions[0].__name__}" if path is None else path: _service_of(functions, path)}
    elif isinstance(service, Mapping) and service and path is None:
        services = {where: _service_of(functions, where) if (functions := _functions(one)) else typing.cast(Service, one) for where, one in service.items()}
    else:
        raise TypeError(
            f"Expected a Service or functions, or a dict of them by path. With a dict, leave 'path' out. Got {service!r} with path={path!r} instead."
        )
    for where, one in services.items():
        if not isinstance(one, Service):
            raise TypeError(f"Expected a Service or functions at {where}. Got {one!r} instead.")
    if len({id(one) for one in services.values()}) < len(services):
        raise ValueError("Each path has a service of its own: two of them have one object, and would share its state.")
    number = _checks.integer("port", port)
    if number is None or number > 65535:
        raise _checks.wrong("port", "an int from 0 to 65535", port)
    workers, waiting = _checks.integer("threads", threads), _checks.integer("queue", queue)
    if not workers or not waiting:
        raise _checks.wrong(*(("threads", "at least 1", threads) if not workers else ("queue", "at least 1", queue)))
    try:
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        raise _checks.wrong("host", "an address such as '127.0.0.1'", host) from None
    if not address.is_loopback and not insecure:
        raise ValueError(f"{host} can be reached by others, and there is no policy that says who may do what: insecure=True lets everybody do everything.")
    listening = f"[{address}]:{number}" if address.version == 6 else f"{address}:{number}"
    folder = None if keep is None else os.fspath(keep)
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
    return Server(services, listening, insecure=insecure, threads=workers, queue=waiting, keep=folder)


def _functions(served: Any) -> list[types.FunctionType]:
    """Returns the functions that form a service; none if something else is served."""
    several = list(served) if isinstance(served, list | tuple) else [served]
    return several if all(inspect.isfunction(one) for one in several) else []


def _service_of(functions: list[types.FunctionType], path: str | None) -> Service:
    """Returns a service without a state, whose operations are the functions."""
    names = [function.__name__ for function in functions]
    for name in names:
        if name in _RESERVED:
            raise TypeError(f"A function that is served must not be called {name!r}, which is an attribute of a service. Choose another name.")
        if names.count(name) > 1:
            raise TypeError(f"Two functions are called {name!r}, and each is an operation of its name.")

    def method(function: types.FunctionType) -> Any:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"An operation is a function or a coroutine. Got the generator {function.__name__} instead.")

        @functools.wraps(function)
        def call(self: Service, *positional: Any, **named: Any) -> Any:
            return function(*positional, **named)

        own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
        signature = inspect.signature(function)
        # The signature has `self`, as that of a method.
        call.__signature__ = signature.replace(parameters=[own, *signature.parameters.values()])  # type: ignore[attr-defined]
        return handler("submit", group="concurrent")(call)

    name = re.sub(r"\W+", "_", path or names[0]).strip("_") or "functions"
    body = {"__module__": functions[0].__module__, "contract": f"{functions[0].__module__}.{name}", **{each.__name__: method(each) for each in functions}}
    return typing.cast(Service, type(name, (Service,), body)())


def _path_of(kind: type[Service]) -> str:
    return "/" + re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", kind.__name__).lower().strip("_")


def _end(native: _native.ServiceNode, loop: _Loop, seconds: float) -> None:
    try:
        cut_off = native.close(seconds)
    finally:
        # The loop must also be closed after Ctrl-C.
        loop.close()
    if cut_off is None:
        _LOG.warning("handlers that run were left behind: they are no coroutines, and had %s seconds to end", seconds)
    elif cut_off:
        _LOG.warning("cut off after %s seconds: %s", seconds, ", ".join(cut_off))


class _Loop:
    """An event loop on its own thread, which starts with the first coroutine."""

    def __init__(self) -> None:
        #: The cancelled tasks. Cancelling them again would interrupt their clean-up. Changed only on the loop's thread.
        self.cancelled: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_closed = False
        #: Changed only on the loop's thread.
        self._is_stopping = False

    def get(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the node is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._run, args=(self._loop,), name="lehr-services-loop", daemon=True)
                self._thread.start()
            return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            _turn(loop, lambda: self._is_stopping)
            left = asyncio.all_tasks(loop)
            for task in left - set(self.cancelled):
                task.cancel()
            if left:
                _complete(loop, asyncio.wait(left, timeout=_GRACE_SECONDS))
            _complete(loop, loop.shutdown_asyncgens())
        finally:
            # A closed loop rejects new tasks. On a loop that is only stopped, new tasks would wait for ever.
            loop.close()

    def _stop(self, loop: asyncio.AbstractEventLoop) -> None:
        self._is_stopping = True
        loop.stop()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            loop, thread = self._loop, self._thread
        if loop is not None and thread is not None and thread.is_alive():
            loop.call_soon_threadsafe(self._stop, loop)
            # A handler on the loop cannot wait for the loop's own thread.
            if thread is not threading.current_thread():
                thread.join(2 * _GRACE_SECONDS)


def _turn(loop: asyncio.AbstractEventLoop, is_over: Callable[[], bool]) -> None:
    """Runs the loop until ``is_over`` returns true. Continues after ``KeyboardInterrupt`` and ``SystemExit`` of a task, because all handlers share the loop."""
    while not is_over():
        try:
            loop.run_forever()
        except (KeyboardInterrupt, SystemExit) as raised:
            _LOG.error("a task on the event loop of the services raised %r, which ends nothing but itself", raised, exc_info=True)


def _complete(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any]) -> None:
    task = loop.create_task(coroutine)
    task.add_done_callback(lambda _: loop.stop())
    _turn(loop, task.done)


class _Running:
    """A handler's coroutine that runs on the event loop."""

    def __init__(self, owner: _Loop, coroutine: Coroutine[Any, Any, Any], ending: _native.Ending) -> None:
        self._owner, self._loop = owner, owner.get()
        self._task: asyncio.Task[Any] | None = None
        self._loop.call_soon_threadsafe(self._begin, coroutine, ending)

    def _begin(self, coroutine: Coroutine[Any, Any, Any], ending: _native.Ending) -> None:
        def end(task: asyncio.Task[Any]) -> None:
            if task.cancelled():
                ending.raised(asyncio.CancelledError())
            elif (raised := task.exception()) is not None:
                ending.raised(raised)
            else:
                ending.returned(task.result())

        self._task = self._loop.create_task(coroutine)
        self._task.add_done_callback(end)

    def cancel(self) -> None:
        # The loop has scheduled _begin before, so _cancel runs after _begin.
        self._loop.call_soon_threadsafe(self._cancel)

    def _cancel(self) -> None:
        if self._task is not None and self._task.cancel():
            self._owner.cancelled.add(self._task)


class _Program:
    """A service and its handlers by operation. The Rust extension calls the methods of this class."""

    loop: _Loop

    def __init__(self, path: str, service: Service) -> None:
        self.path, self.service = path, service
        self._handlers: dict[str, _Handler] = {}
        kind = type(service)
        for attribute in dir(kind):
            function = inspect.getattr_static(kind, attribute)
            mark = getattr(function, _MARK, None)
            if isinstance(mark, _Mark):
                name = mark.name or attribute
                if name in self._handlers:
                    raise TypeError(f"{kind.__name__} has two handlers for {name!r}.")
                self._handlers[name] = _Handler(name, mark, function, attribute)

    def outline(self) -> dict[str, Any]:
        kind = type(self.service)
        contract = self.service.contract or f"{kind.__module__}.{kind.__qualname__}"
        version = self.service.version
        if not (isinstance(version, tuple) and len(version) == 2 and all(isinstance(number, int) and 0 <= number < 65536 for number in version)):
            raise TypeError(f"The version of {kind.__name__} must be two int such as (1, 0). Got {version!r} instead.")
        state = _schema(_hints(kind).get("state", Any))
        return {
            "name": contract,
            "version": {"major": version[0], "minor": version[1]},
            # The hash of the contract covers this comment, so workflows tell the answers of changed code apart.
            "state": {"title": kind.__name__, "$comment": f"source {self._source()}", **state},
            "operations": {name: handler.outline() for name, handler in self._handlers.items()},
        }

    def _source(self) -> str:
        """Returns a hash of the files that define the handlers. Modules that these files import don't count."""
        digest = hashlib.sha256()
        functions = (inspect.unwrap(handler.function) for handler in self._handlers.values())
        for file in sorted({function.__code__.co_filename for function in functions}):
            # Code without a file, such as that of a notebook, has no hash.
            with contextlib.suppress(OSError):
                digest.update(Path(file).read_bytes())
        return digest.hexdigest()[:32]

    def show(self, state: Any) -> None:
        self.service.state = state

    def state(self) -> Any:
        return self.service.state

    def handle(self, name: str, body: Any) -> tuple[Any, Coroutine[Any, Any, Any] | None]:
        """Calls a handler. Returns the answer and ``None``, or ``None`` and a coroutine that returns the answer."""
        handler = self._handlers[name]
        positional, named = handler.arguments(body)
        answer = getattr(self.service, handler.attribute)(*positional, **named)
        if inspect.isawaitable(answer):
            return None, _awaited(answer)
        return answer, None

    def start(self, coroutine: Coroutine[Any, Any, Any], ending: _native.Ending) -> _Running:
        try:
            return _Running(self.loop, coroutine, ending)
        except RuntimeError:
            coroutine.close()
            raise

    def told(self, name: str, raised: BaseException) -> tuple[str, str, float | None] | None:
        """Returns the code, reason and retry time for the client. ``None`` means that the client should only learn that the operation failed."""
        if isinstance(raised, Fault):
            if raised.code in _CODES:
                return raised.code, raised.reason, raised.retry_after
            _LOG.error("%s of %s raised a Fault with the code %r; expected one of %s", name, self.path, raised.code, ", ".join(_CODES))
            return None
        if isinstance(raised, asyncio.CancelledError):
            return "operation_cancelled", "the operation was cancelled", None
        _LOG.error("%s of %s failed", name, self.path, exc_info=(type(raised), raised, raised.__traceback__))
        return None


def _hints(thing: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(thing)
    except NameError:
        # An annotation uses a name that is imported only for type checkers.
        return {}


async def _awaited(answer: Awaitable[Any]) -> Any:
    try:
        return await answer
    except (KeyboardInterrupt, SystemExit) as raised:
        # asyncio passes these two exceptions out of the event loop, and would not report the end of the task.
        raise RuntimeError(f"the handler raised {raised!r}") from raised


class _Handler:
    """A handler, with the mapping from the fields of a body to its arguments."""

    def __init__(self, name: str, mark: _Mark, function: Any, attribute: str) -> None:
        if not inspect.isfunction(function) or inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"A handler is a method or a coroutine. Got {attribute} instead.")
        self.name, self.mark, self.attribute, self.function = name, mark, attribute, function
        parameters = list(inspect.signature(function).parameters.values())[1:]
        hints = _hints(function)
        kinds = [parameter.kind for parameter in parameters]
        self._whole = kinds == [inspect.Parameter.POSITIONAL_ONLY]
        if not self._whole and not all(kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY) for kind in kinds):
            raise TypeError(f"The parameters of {attribute} are the fields of a body: with names, or a single one before /.")
        self._fields = {parameter.name: _schema(hints.get(parameter.name, Any)) for parameter in parameters}
        self._required = [parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty]
        self._reply = _schema(hints.get("return", Any))

    def outline(self) -> dict[str, Any]:
        if self._whole:
            body = next(iter(self._fields.values()))
        else:
            body = {"type": "object", "properties": self._fields, "required": self._required}
        return {"verb": self.mark.verb, "group": self.mark.group, "body": {"title": self.name, **body}, "reply": self._reply}

    def arguments(self, body: Any) -> tuple[list[Any], dict[str, Any]]:
        if self._whole:
            ((name, schema),) = self._fields.items()
            wrong = _misfit(body, schema, "the body")
            if wrong is not None:
                raise _unexpected(wrong)
            return [body], {}
        if body is None:
            body = {}
        if not isinstance(body, dict):
            raise _unexpected(f"expected an object, found {_shown(body)}")
        for name in self._required:
            if name not in body:
                raise _unexpected(f"{name}: required, and not sent")
        named = {name: body[name] for name in self._fields if name in body}
        for name, value in named.items():
            wrong = _misfit(value, self._fields[name], name)
            if wrong is not None:
                raise _unexpected(wrong)
        return [], named


def _unexpected(what: str) -> Fault:
    return Fault("message_not_supported", f"not what is expected here: {what}")


_TYPES: dict[Any, str] = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", tuple: "array", dict: "object", type(None): "null"}


def _schema(hint: Any) -> dict[str, Any]:
    """Returns the JSON schema of an annotation. For types without a JSON equivalent, the schema accepts every value."""
    if hint is None:
        return {"type": "null"}
    if isinstance(hint, type) and hint in _TYPES:
        return {"type": _TYPES[hint]}
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(one) for one in inner]}
    # Literals may also be members of enumerations or bytes, which JSON does not have.
    if origin is Literal and all(type(one) in (str, int, bool, type(None)) for one in inner):
        return {"enum": list(inner)}
    if origin is list and len(inner) == 1:
        return {"type": "array", "items": _schema(inner[0])}
    if origin is dict and inner[0] is str:
        return {"type": "object", "additionalProperties": _schema(inner[1])}
    if origin is not None and origin in _TYPES:
        return {"type": _TYPES[origin]}
    return {}


def _misfit(value: Any, schema: Mapping[str, Any], where: str) -> str | None:
    """Returns the error message if a value does not match the schema; otherwise ``None``."""
    if "anyOf" in schema:
        if all(_misfit(value, one, where) for one in schema["anyOf"]):
            return f"{where}: expected {_expected(schema)}, found {_shown(value)}"
        return None
    if "enum" in schema:
        # The types must match as well: in Python, 1 equals True.
        fits = any(type(one) is type(value) and one == value for one in schema["enum"])
        return None if fits else f"{where}: expected {_expected(schema)}, found {_shown(value)}"
    expected = schema.get("type")
    if expected is None:
        return None
    found = _TYPES[type(value)]
    if found != expected and not (expected == "number" and found == "integer"):
        return f"{where}: expected {_expected(schema)}, found {_shown(value)}"
    if expected == "array" and "items" in schema:
        misfits = (_misfit(one, schema["items"], f"{where}[{place}]") for place, one in enumerate(value))
        return next((misfit for misfit in misfits if misfit), None)
    if expected == "object" and "additionalProperties" in schema:
        misfits = (_misfit(one, schema["additionalProperties"], f"{where}.{name}") for name, one in value.items())
        return next((misfit for misfit in misfits if misfit), None)
    return None


def _expected(schema: Mapping[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_expected(one) for one in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(map(json.dumps, schema["enum"]))
    return str(schema.get("type", "anything"))


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else _TYPES[type(value)]
