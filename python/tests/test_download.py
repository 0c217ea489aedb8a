"""Downloads from a local server that breaks connections, changes files and refuses requests."""

import hashlib
import http.server
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from lehr import _download
from lehr.datasets import fetch

CONTENT = bytes(range(256)) * 4000
DIGEST = hashlib.sha256(CONTENT).hexdigest()

pytestmark = pytest.mark.thread_unsafe(reason="a server that follows a script answers one test")


class _Source(http.server.BaseHTTPRequestHandler):
    """Answers requests as the words of the server's `script` say, one word for each. After the last word, sends whole files."""

    def do_GET(self):
        server = self.server
        with server.lock:
            server.asked.append(self.headers.get("Range"))
            word = server.script.pop(0) if server.script else "whole"
        if word.isdecimal():
            self.send_error(int(word))
            return
        content, start, status = server.content, 0, 200
        asked = self.headers.get("Range")
        if asked is not None and word != "no ranges":
            start, status = int(asked.removeprefix("bytes=").removesuffix("-")), 206
            if start >= len(content):
                self.send_error(416)
                return
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) - start))
        if status == 206:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        end = start + (len(content) - start) // 2 if word == "half" else len(content)
        self.wfile.write(content[start:end])
        # If the promised bytes do not arrive, the connection counts as broken.
        self.close_connection = True

    def log_message(self, *_):
        pass


@pytest.fixture
def source(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setattr(_download, "_AGAIN_SECONDS", (0.01, 0.01, 0.01))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Source)
    server.lock, server.asked, server.script, server.content = threading.Lock(), [], [], CONTENT
    server.url = f"http://127.0.0.1:{server.server_port}/data/points%20x.csv"
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield server
    server.shutdown()
    server.server_close()
    serving.join()


def _names(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_brought_once(source, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LEHR_CACHE", str(tmp_path))
    path = fetch(source.url, sha256=DIGEST.upper(), verbose=True)
    assert path.read_bytes() == CONTENT and path.name == "points x.csv" and tmp_path in path.parents
    assert "points x.csv: 1.0 of 1.0 MB" in capsys.readouterr().err
    assert fetch(source.url, sha256=DIGEST) == path and fetch(source.url) == path
    assert len(source.asked) == 1 and _names(tmp_path) == ["points x.csv"]
    # A file at another URL is another file, even if it has the same name.
    assert fetch(source.url.replace("/data/", "/other/")) != path


def test_a_transfer_that_breaks_goes_on_where_it_did(source, tmp_path, capsys):
    source.script = ["half", "503", "half"]
    assert fetch(source.url, sha256=DIGEST, folder=tmp_path).read_bytes() == CONTENT
    half, quarter = len(CONTENT) // 2, len(CONTENT) // 4
    assert source.asked == [None, f"bytes={half}-", f"bytes={half}-", f"bytes={half + quarter}-"]
    assert capsys.readouterr().err == ""


def test_a_call_goes_on_with_what_an_earlier_one_left(source, tmp_path):
    source.script = ["half"] + ["500"] * 3
    with pytest.raises(OSError, match=rf"broke off 4 times: the server answers 500 .*put the file at {tmp_path}.*its SHA-256 is {DIGEST}"):
        fetch(source.url, sha256=DIGEST, folder=tmp_path)
    assert _names(tmp_path) == ["points x.csv.part"]
    assert fetch(source.url, sha256=DIGEST, folder=tmp_path).read_bytes() == CONTENT
    assert source.asked[-1] == f"bytes={len(CONTENT) // 2}-" and _names(tmp_path) == ["points x.csv"]


def test_a_server_without_ranges_begins_again(source, tmp_path):
    source.script = ["half", "no ranges"]
    assert fetch(source.url, sha256=DIGEST, folder=tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("left", [b"of another file", CONTENT + b"and more"])
def test_what_was_left_of_another_file_is_thrown_away(source, tmp_path, left):
    (tmp_path / "points x.csv.part").write_bytes(left)
    assert fetch(source.url, sha256=DIGEST, folder=tmp_path).read_bytes() == CONTENT
    assert source.asked == [f"bytes={len(left)}-", None]


def test_without_a_checksum_a_transfer_begins_again_and_leaves_nothing(source, tmp_path):
    source.script = ["half"]
    assert fetch(source.url, folder=tmp_path).read_bytes() == CONTENT
    assert source.asked == [None, None]
    source.script = ["half"] * 4
    with pytest.raises(OSError, match="of 1024000 bytes have come"):
        fetch(source.url, folder=tmp_path, name="again")
    assert _names(tmp_path) == ["points x.csv"]


def test_a_wrong_checksum_is_an_error_and_keeps_nothing(source, tmp_path):
    other = hashlib.sha256(b"another").hexdigest()
    with pytest.raises(OSError, match=f"expected the SHA-256 {other}, found {DIGEST}"):
        fetch(source.url, sha256=other, folder=tmp_path)
    assert _names(tmp_path) == []
    # A file that was damaged in the folder is downloaded again.
    path = fetch(source.url, sha256=DIGEST, folder=tmp_path)
    path.write_bytes(b"damaged")
    assert fetch(source.url, sha256=DIGEST, folder=tmp_path).read_bytes() == CONTENT


def test_what_is_not_there_says_what_can_be_done(source, tmp_path):
    source.script = ["404"]
    with pytest.raises(OSError, match=rf"the server answers 404 Not Found. Without a network, put the file at {tmp_path}/points x.csv\.$"):
        fetch(source.url, folder=tmp_path)
    with pytest.raises(ConnectionError, match="http://127.0.0.1:1/a cannot be reached: .* put the file at"):
        fetch("http://127.0.0.1:1/a", sha256=DIGEST, folder=tmp_path)
    assert _names(tmp_path) == []


def test_many_who_want_one_file_wait_for_the_one_that_brings_it(source, tmp_path):
    with ThreadPoolExecutor(8) as pool:
        paths = list(pool.map(lambda _: fetch(source.url, sha256=DIGEST, folder=tmp_path), range(8)))
    assert {path.read_bytes() for path in paths} == {CONTENT}
    assert len(source.asked) == 1 and _names(tmp_path) == ["points x.csv"]


def test_an_interrupted_transfer_keeps_what_it_has(source, tmp_path, monkeypatch):
    def interrupt(there, whole):
        if there:
            raise KeyboardInterrupt

    monkeypatch.setattr(_download, "_PIECE_BYTES", 1000)
    monkeypatch.setattr(_download, "_silent", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(source.url, sha256=DIGEST, folder=tmp_path)
    assert (tmp_path / "points x.csv.part").read_bytes() == CONTENT[:1000]


def test_what_cannot_be_meant_is_refused(tmp_path):
    for wrong in ("points.csv", "ftp://example.org/points.csv", 7):
        with pytest.raises(ValueError, match="Expected an address with https:"):
            fetch(wrong, folder=tmp_path)
    with pytest.raises(ValueError, match="must be 64 hexadecimal digits"):
        fetch("http://example.org/a", sha256="12", folder=tmp_path)
    with pytest.raises(ValueError, match="must be seconds above 0"):
        fetch("http://example.org/a", timeout=0, folder=tmp_path)
    for name in (None, "..", "a/b"):
        with pytest.raises(ValueError, match=r"name='...' says one"):
            fetch("http://example.org/", name=name, folder=tmp_path)
