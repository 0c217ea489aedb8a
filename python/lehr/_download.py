"""Downloads files from their URLs into a cache folder, each only once, and checks their checksums."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

from lehr import _checks
from lehr._native import __version__

if sys.platform != "win32":
    import fcntl

__all__ = ["fetch"]

#: The number of bytes that are read at a time.
_PIECE_BYTES = 1 << 20
#: The delays before further tries of a broken transfer, in seconds.
_AGAIN_SECONDS = (0.5, 2.0, 5.0)
#: The HTTP statuses after which another try may succeed.
_LATER = (429, 500, 502, 503, 504)

_Tell = Callable[[int, "int | None"], None]


class _Broken(Exception):
    """The error for a broken transfer, which may succeed the next time."""


def fetch(
    url: str,
    *,
    sha256: str | None = None,
    name: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    timeout: float = 30.0,
    verbose: bool | int = False,
) -> Path:
    """Download a file from its public source once, and keep it.

    Lehr downloads to a temporary name and renames the complete file. So a file under its final name is complete, even after a crash. With a checksum, an
    interrupted transfer resumes where it stopped, in this call or the next. Without a checksum, it begins again. If several processes request the same file,
    one process downloads it and the other processes wait (except on Windows).

    Parameters
    ----------
    url : str
        The URL of the file: ``https:``, ``http:`` or ``file:``.
    sha256 : str, default=None
        The SHA-256 checksum of the file in hexadecimal digits. If the checksum of the download differs, Lehr raises an error and deletes the download. A file
        in the folder with another checksum is downloaded again. With ``None``, Lehr does not check the file.
    name : str, default=None
        The file's name in the folder. ``None`` means the last part of the URL.
    folder : path-like, default=None
        The folder for the file. ``None`` means a folder for this URL below ``$LEHR_CACHE``. If this variable is not set, the folder is below ``lehr`` in the
        system's cache folder (``~/.cache`` on Linux).
    timeout : float, default=30.0
        The transfer counts as broken if no data arrives for this many seconds.
    verbose : bool, default=False
        Whether to show progress on standard error.

    Returns
    -------
    path : pathlib.Path
        The path of the file.

    Raises
    ------
    OSError
        If the file cannot be downloaded, or if its checksum differs. The message also says what to do without a network.
    ValueError
        If the URL or the checksum is invalid.

    Examples
    --------
    >>> import hashlib, pathlib, tempfile, lehr
    >>> source = pathlib.Path(tempfile.mkdtemp()) / "points.csv"
    >>> size = source.write_bytes(b"x,y\\n1,2\\n")
    >>> path = lehr.datasets.fetch(source.as_uri(), sha256=hashlib.sha256(b"x,y\\n1,2\\n").hexdigest(), folder=source.parent / "kept")
    >>> path.name, path.read_text().split()
    ('points.csv', ['x,y', '1,2'])
    """
    parts = urllib.parse.urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("https", "http", "file"):
        raise ValueError(f"Expected an address with https:, http: or file:. Got {url!r} instead.")
    if sha256 is not None and not (isinstance(sha256, str) and re.fullmatch(r"[0-9a-fA-F]{64}", sha256)):
        raise _checks.wrong("sha256", "64 hexadecimal digits or None", sha256)
    seconds = _checks.real("timeout", timeout)
    if seconds is None or seconds <= 0:
        raise _checks.wrong("timeout", "seconds above 0", timeout)
    if name is None:
        name = urllib.parse.unquote(parts.path).rsplit("/", 1)[-1]
    if not isinstance(name, str) or name in ("", ".", "..") or re.search(r'[/\\:*?"<>|\x00-\x1f]', name):
        raise ValueError(f"The file has no name from its address, or one that is none of a file: name='...' says one. Got {name!r}.")
    where = Path(folder) if folder is not None else _cache() / hashlib.sha256(url.encode()).hexdigest()[:16]
    where.mkdir(parents=True, exist_ok=True)
    target, expected = where / name, None if sha256 is None else sha256.lower()
    if _is_there(target, expected):
        return target
    with _alone(where / f"{name}.part") as file:
        # Another process may have downloaded the file in the meantime.
        if _is_there(target, expected):
            with contextlib.suppress(OSError):
                os.unlink(file.name)
        else:
            _bring(url, file, target, expected, seconds, _line(name) if verbose else _silent)
    return target


def _cache() -> Path:
    told = os.environ.get("LEHR_CACHE")
    if told:
        return Path(told)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "lehr" / "Cache"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "lehr"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lehr"


def _is_there(target: Path, expected: str | None) -> bool:
    if not target.is_file():
        return False
    if expected is None:
        return True
    with open(target, "rb") as file:
        return _digest(file) == expected


def _digest(file: IO[bytes]) -> str:
    file.seek(0)
    digest = hashlib.sha256()
    while piece := file.read(_PIECE_BYTES):
        digest.update(piece)
    return digest.hexdigest()


@contextlib.contextmanager
def _alone(part: Path) -> Iterator[IO[bytes]]:
    """Opens the unfinished file, and locks it against other processes of this machine, except on Windows."""
    while True:
        file = open(part, "a+b")
        if sys.platform == "win32":
            break
        fcntl.flock(file, fcntl.LOCK_EX)
        # The process that held the lock before may have renamed or deleted the file.
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(part)):
                break
        file.close()
    try:
        yield file
    finally:
        file.close()


def _bring(url: str, file: IO[bytes], target: Path, expected: str | None, timeout: float, tell: _Tell) -> None:
    # Without a checksum, a partial file cannot be resumed, because it may belong to another version of the file.
    is_kept = expected is not None
    try:
        pauses = iter(_AGAIN_SECONDS)
        while True:
            start = file.seek(0, os.SEEK_END)
            if expected is None and start > 0:
                file.truncate(0)
                start = 0
            try:
                _transfer(url, file, start, timeout, tell)
            except _Broken as broken:
                pause = next(pauses, None)
                if pause is None:
                    raise OSError(f"{url} broke off {len(_AGAIN_SECONDS) + 1} times: {broken}.{_instead(target, expected)}") from broken
                time.sleep(pause)
                continue
            except urllib.error.HTTPError as refused:
                raise OSError(f"{url}: the server answers {refused.code} {refused.reason}.{_instead(target, expected)}") from refused
            except urllib.error.URLError as away:
                raise ConnectionError(f"{url} cannot be reached: {away.reason}.{_instead(target, expected)}") from away
            found = _digest(file) if expected is not None else None
            if found == expected:
                break
            file.truncate(0)
            if start == 0:
                is_kept = False
                raise OSError(f"{url}: expected the SHA-256 {expected}, found {found}. It is another file than the one that was meant, and nothing of it is kept.")
            # The bytes from an earlier try may belong to another file, so try once more from the beginning.
        os.fsync(file.fileno())
        if sys.platform == "win32":
            file.close()
        os.replace(file.name, target)
    except BaseException:
        if not is_kept or file.closed or file.seek(0, os.SEEK_END) == 0:
            with contextlib.suppress(OSError):
                os.unlink(file.name)
        raise


def _instead(target: Path, expected: str | None) -> str:
    told = f" Without a network, put the file at {target}"
    return f"{told}; its SHA-256 is {expected}." if expected is not None else f"{told}."


def _transfer(url: str, file: IO[bytes], start: int, timeout: float, tell: _Tell) -> None:
    """Downloads the missing bytes, or the whole file if the server cannot resume the transfer.

    Raises
    ------
    _Broken
        If another try may succeed.
    """
    headers = {"User-Agent": f"lehr/{__version__}", "Accept-Encoding": "identity"}
    if start > 0:
        headers["Range"] = f"bytes={start}-"
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout) as answer:
            goes_on = getattr(answer, "status", None) == 206 and (answer.headers.get("Content-Range") or "").startswith(f"bytes {start}-")
            if start > 0 and not goes_on:
                file.truncate(0)
                start = 0
            length = answer.headers.get("Content-Length")
            whole = start + int(length) if length is not None and length.isdecimal() else None
            there = start
            tell(there, whole)
            while piece := answer.read(_PIECE_BYTES):
                file.write(piece)
                there += len(piece)
                tell(there, whole)
            file.flush()
            if whole is not None and there < whole:
                raise _Broken(f"{there} of {whole} bytes have come")
    except urllib.error.HTTPError as refused:
        if refused.code == 416 and start > 0:
            # The partial file is at least as long as the file on the server, so it cannot be resumed.
            file.truncate(0)
            raise _Broken("what was there is longer than the file") from refused
        if refused.code in _LATER:
            raise _Broken(f"the server answers {refused.code} {refused.reason}") from refused
        raise
    except urllib.error.URLError:
        raise
    except (ConnectionError, TimeoutError, http.client.HTTPException) as cause:
        file.flush()
        raise _Broken(str(cause) or type(cause).__name__) from cause


def _silent(there: int, whole: int | None) -> None:
    pass


def _line(name: str) -> _Tell:
    """Returns a function that shows the progress: on a terminal in one line, elsewhere with a line for each tenth of the file."""
    told = -1

    def tell(there: int, whole: int | None) -> None:
        nonlocal told
        text = f"{name}: {there / 1e6:.1f} MB" if whole is None else f"{name}: {there / 1e6:.1f} of {whole / 1e6:.1f} MB"
        # If the length is unknown, print a line for each ten megabytes.
        step = there // 10_000_000 if whole is None else 10 * there // max(whole, 1)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{text}\x1b[K" + ("\n" if there == whole else ""))
        elif step > told:
            sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        told = max(step, told)

    return tell
