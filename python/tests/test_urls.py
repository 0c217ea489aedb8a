"""Tables and items on a web server are read as files. The server sends only whole files; `make s3` has one that sends parts."""

import functools
import http.server
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pandas as pd
import pytest

import lehr

DATASETS = Path(__file__).parents[2] / "datasets"


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server without a log."""

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def web_server():
    """The address of a web server with the folder of data sets."""
    handler = functools.partial(Quiet, directory=str(DATASETS))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_url_is_read_as_a_file(web_server):
    for name in ("iris/iris.csv", "digits/digits.csv.gz"):
        pd.testing.assert_frame_equal(lehr.read_table(f"{web_server}/{name}"), lehr.read_table(DATASETS / name))
    genes = lehr.read_fasta(f"{web_server}/alu/alu_human.fasta.gz")
    assert genes.ids == lehr.read_fasta(DATASETS / "alu/alu_human.fasta.gz").ids


def test_what_is_not_there_is_told(web_server):
    with pytest.raises(OSError, match=r"none\.csv: there is no such object"):
        lehr.read_table(f"{web_server}/none.csv")
    with pytest.raises(OSError, match="expected a URL that begins with s3://, https:// or http://"):
        lehr.read_table("gs://bucket/iris.csv")


def rows_of(url):
    return len(lehr.read_table(url))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")
@pytest.mark.thread_unsafe(reason="forks")
def test_a_forked_process_reads_urls_too(web_server):
    url = f"{web_server}/iris/iris.csv"
    assert rows_of(url) == 150
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(rows_of, (url,)).get(timeout=60) == 150


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
@pytest.mark.thread_unsafe(reason="sends a signal")
def test_ctrl_c_ends_the_wait_for_a_silent_server():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        # A process that a shell has begun in the background ignores SIGINT.
        program = f"""if True:
            import signal, lehr
            signal.signal(signal.SIGINT, signal.default_int_handler)
            print("reading", flush=True)
            lehr.read_table("http://127.0.0.1:{silent.getsockname()[1]}/x.csv")
        """
        child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            assert child.stdout.readline() == "reading\n"
            time.sleep(0.5)
            child.send_signal(signal.SIGINT)
            _, errors = child.communicate(timeout=10)
            assert errors.splitlines()[-1] == "KeyboardInterrupt"
        finally:
            child.kill()


def test_a_path_that_has_lost_a_slash_is_told():
    with pytest.raises(ValueError, match=r"give the URL as a string"):
        lehr.read_table(Path("s3://bucket/iris.csv"))
