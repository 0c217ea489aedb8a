"""Tables and items on a web server are read as files. The server sends only whole files; `make s3` has one that sends parts."""

import functools
import http.server
import threading
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
