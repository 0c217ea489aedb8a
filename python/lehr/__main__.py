"""``python3 -m lehr serve FILE``: serves the functions and services of a Python file over HTTP."""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import os
import re
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import lehr
from lehr.services import Service, _path_of


def _module(file: Path) -> ModuleType:
    """Runs a file as a module, which may import the files beside it."""
    # A name of its own, so that a file called json.py does not replace the module of Python.
    name = "served_" + re.sub(r"\W", "_", file.stem)
    found = importlib.util.spec_from_file_location(name, file)
    if found is None or found.loader is None or not file.is_file():
        raise SystemExit(f"lehr serve: {file}: expected a Python file, such as steps.py")
    module = importlib.util.module_from_spec(found)
    sys.path.insert(0, str(file.parent.resolve()))
    # Pickles of the file's classes name the module.
    sys.modules[name] = module
    found.loader.exec_module(module)
    return module


def _served(module: ModuleType, path: str) -> dict[str, Any]:
    """Returns what a module defines by path: its functions together, and each service. Names that begin with ``_`` and imported names are left out."""
    own = [thing for name, thing in vars(module).items() if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__]
    services: dict[str, Any] = {_path_of(kind): kind() for kind in own if inspect.isclass(kind) and issubclass(kind, Service)}
    # An alias is the same function once more.
    functions = list({id(thing): thing for thing in own if inspect.isfunction(thing)}.values())
    if functions:
        if path in services:
            raise SystemExit(f"lehr serve: the functions and a service both stand at {path}: rename the class or the file")
        services[path] = functions
    if not services:
        raise SystemExit(f"lehr serve: {module.__file__} defines no function and no lehr.Service. Names that begin with _ are not served.")
    return services


#: The seconds in which the node may end after the input has ended, before the process ends in any case.
_GRACE_SECONDS = 3.0


def _end_with_input(over: threading.Event) -> None:
    sys.stdin.buffer.read()
    over.set()
    time.sleep(_GRACE_SECONDS)
    # The file is still being read, or a function does not end.
    os._exit(0)


def main(arguments: Sequence[str] | None = None) -> None:
    """Reads the command line and serves until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python3 -m lehr", description="Serves Python code over HTTP, for example as steps of a workflow.")
    commands = parser.add_subparsers(dest="command", required=True)
    serve = commands.add_parser("serve", help="serve the functions and services of a file", description="Serves each public function of a file as an operation of /FILE, and each lehr.Service at its own path.")
    serve.add_argument("file", type=Path, help="a Python file")
    serve.add_argument("--port", type=int, default=8420, help="the port; 0 is any free port (default: 8420)")
    serve.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: 127.0.0.1, which other machines cannot reach)")
    serve.add_argument("--threads", type=int, default=2, help="the number of worker threads (default: 2)")
    serve.add_argument("--insecure", action="store_true", help="allow an address that other machines can reach, without access control")
    # For a program that starts this one: if it ends, however it ends, its pipe to the standard input ends too.
    serve.add_argument("--until-input-ends", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    over = threading.Event()
    if given.until_input_ends:
        # Before the file is read, because reading may take long.
        threading.Thread(target=_end_with_input, args=[over], daemon=True).start()
    services = _served(_module(given.file), "/" + re.sub(r"\W", "_", given.file.stem).lower())
    try:
        started = lehr.serve(services, host=given.host, port=given.port, threads=given.threads, insecure=given.insecure)
    except (TypeError, ValueError, OSError, lehr.Fault) as error:
        raise SystemExit(f"lehr serve: {given.file}: {error}") from None
    with started as server:
        print(f"lehr: serving {', '.join(sorted(services))} at {server.url}. Ctrl-C ends.", flush=True)
        try:
            while not over.is_set() and not server.wait(0.1):
                pass
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
