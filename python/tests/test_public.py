"""Public data sets, from a local server that has files in their formats."""

import gzip
import hashlib
import http.server
import io
import threading
import zipfile

import numpy as np
import pytest

from lehr import _public, datasets

pytestmark = pytest.mark.thread_unsafe(reason="the tests put other addresses and sizes in the place of those that are known")

PAGE = b"<!DOCTYPE html><html><body>Sign in to this network</body></html>"


class _Files(http.server.BaseHTTPRequestHandler):
    """Answers requests with the server's `files`, by the last part of the URL."""

    def do_GET(self):
        content = self.server.files.get(self.path.rsplit("/", 1)[-1])
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def source(monkeypatch, tmp_path):
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("LEHR_CACHE", str(tmp_path / "cache"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Files)
    server.files, server.url = {}, f"http://127.0.0.1:{server.server_port}/"
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    yield server
    server.shutdown()
    server.server_close()
    serving.join()


@pytest.fixture
def offer(source, monkeypatch):
    """Returns a function that makes the server offer a file, and registers its URL, checksum and number of rows."""

    def offer(constant, content, *rows):
        known = getattr(_public, constant)
        source.files[known.file] = content
        parts = tuple((name, count) for (name, _), count in zip(known.parts, rows, strict=True))
        here = known._replace(url=source.url + known.file, sha256=hashlib.sha256(content).hexdigest(), parts=parts)
        monkeypatch.setattr(_public, constant, here)

    return offer


def _packed(**parts):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in parts.items():
            file.writestr(name.replace("__", "-").replace("_dot_", "."), text)
    return packed.getvalue()


def test_points_of_the_benchmark_come_with_the_number_of_their_clusters(source):
    points = np.random.default_rng(1).integers(0, 1_000_000, size=(5000, 2))
    source.files["s1.txt"] = "".join(f"    {x}    {y}\r\n" for x, y in points).encode()
    found = datasets.fetch_sipu("s1", url=source.url + "s1.txt")
    assert np.array_equal(found.data, points) and found.target is None
    assert (found.n_clusters, found.feature_names) == (15, ["x1", "x2"])
    # A file that is in the folder is not requested again.
    source.files.clear()
    data, target = datasets.fetch_sipu("s1", url=source.url + "s1.txt", return_X_y=True)
    assert np.array_equal(data, points) and target is None


def test_labels_of_the_shapes_count_from_0(source):
    source.files["flame.txt"] = "".join(f"{x / 8}\t{x / 4}\t{1 + x % 2}\n" for x in range(240)).encode()
    found = datasets.fetch_sipu("flame", url=source.url + "flame.txt")
    assert found.data[3].tolist() == [0.375, 0.75] and found.target.tolist() == [0, 1] * 120
    assert found.data.flags.c_contiguous and found.target.dtype == np.int64


def test_addresses_are_those_of_the_publisher(monkeypatch, tmp_path):
    asked = []

    def refuse(url, **_):
        asked.append(url)
        raise OSError("no network")

    monkeypatch.setattr(datasets, "fetch", refuse)
    monkeypatch.setattr(_public, "fetch", refuse)
    for call in (
        *(lambda name=name: datasets.fetch_sipu(name) for name in _public.SIPU),
        lambda: datasets.fetch_block_groups("18"),
        datasets.fetch_block_groups,
        datasets.fetch_letters,
        datasets.fetch_pen_digits,
        datasets.fetch_covertype,
    ):
        with pytest.raises(OSError, match="no network"):
            call()
    assert len(set(asked)) == len(asked) == len(_public.SIPU) + 5
    assert all(url.startswith("https://") and " " not in url for url in asked)
    assert {"https://cs.uef.fi/sipu/datasets/dim032.txt", "https://cs.uef.fi/sipu/datasets/D31.txt"} < set(asked)
    assert any(url.endswith("/blkgrp/CenPop2020_Mean_BG18.txt") for url in asked)


def test_letters_are_numbers_from_the_alphabet(offer):
    lines = [f"{letter},2,8,3,5,1,8,13,0,6,6,10,8,0,8,0,{number}" for number, letter in enumerate("TIDNZA")]
    offer("LETTERS", _packed(Index="Index of letter-recognition", letter__recognition_dot_data="\n".join(lines) + "\n"), 6)
    found = datasets.fetch_letters()
    assert found.target.tolist() == [19, 8, 3, 13, 25, 0]
    assert found.data.shape == (6, 16) and found.data[:, -1].tolist() == [0, 1, 2, 3, 4, 5]
    assert found.feature_names[0] == "x_box" and len(found.feature_names) == 16


def test_digits_of_known_writers_come_first(offer):
    line = " 47,100, 27, 81, 57, 37, 26,  0,  0, 23, 56, 53,100, 90, 40, 98, "
    offer("PEN_DIGITS", _packed(pendigits_dot_tra=f"{line}8\n{line}2\n", pendigits_dot_tes=f"{line}7\n"), 2, 1)
    data, target = datasets.fetch_pen_digits(return_X_y=True)
    assert target.tolist() == [8, 2, 7] and data[2, :3].tolist() == [47, 100, 27] and data.shape == (3, 16)


def test_forests_have_areas_and_soils(offer, source):
    line = ",".join(map(str, [2596, 51, 3, 258, 0, 510, 221, 232, 148, 6279, *[1, 0, 0, 0], *[0] * 28, 1, *[0] * 11]))
    offer("COVERTYPE", gzip.compress(f"{line},5\n{line},7\n".encode()), 2)
    found = datasets.fetch_covertype()
    assert found.data.shape == (2, 54) and found.target.tolist() == [4, 6]
    row = dict(zip(found.feature_names, found.data[0], strict=True))
    assert (row["elevation"], row["wilderness_area_1"], row["soil_type_29"], sum(found.data[0, 10:])) == (2596, 1, 1, 2)
    # The checksum is checked for other URLs too.
    source.files["other.gz"] = gzip.compress(b"1,2\n")
    with pytest.raises(OSError, match="expected the SHA-256"):
        datasets.fetch_covertype(url=source.url + "other.gz")


HEADER = "\ufeffSTATEFP,COUNTYFP,TRACTCE,BLKGRPCE,POPULATION,LATITUDE,LONGITUDE\r\n"


def test_block_groups_have_people_as_weights(source):
    text = HEADER + "18,001,030100,1,1204,+40.871234,-084.912345\r\n18,001,030100,2,0,+40.860000,-084.900000\r\n"
    source.files["groups.txt"] = text.encode()
    for state in (None, "18"):
        found = datasets.fetch_block_groups(state, url=source.url + "groups.txt")
        assert found.data.tolist() == [[-84.912345, 40.871234], [-84.9, 40.86]] and found.weight.tolist() == [1204, 0]
        assert found.geoid.tolist() == ["180010301001", "180010301002"] and found.feature_names == ["lon", "lat"]
    with pytest.raises(OSError, match="begin with 06 in line 2, found '180010301001'"):
        datasets.fetch_block_groups("06", url=source.url + "groups.txt")
    for wrong in ("Indiana", "7", 18):
        with pytest.raises(ValueError, match="must be two digits, such as '18', or None"):
            datasets.fetch_block_groups(wrong)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (HEADER + "18,001,030100,1,1204\n", "three numbers behind the code in line 2, found '18,001"),
        (HEADER + "18,001,030100,1,many,1,1\n", "three numbers behind the code"),
        (HEADER + "18,001,0301,1,1,1,1\n", "a code of 12 digits in line 2, found '180010301"),
        (HEADER + "18,001,03010x,1,1,1,1\n", "a code of 12 digits in line 2, found '18001"),
        (HEADER + "18,001,030100,1,nan,40,-84\n", "inhabitants, a latitude and a longitude in line 2"),
        (HEADER + "18,001,030100,1,12,-184,40\n", "inhabitants, a latitude and a longitude in line 2"),
        (HEADER + "18,001,030100,1,12,40,-8", "expected a whole last line, found '18,001"),
        (HEADER, "expected block groups, found none"),
        (PAGE.decode(), "expected the columns STATEFP.* found '<!DOCTYPE html"),
    ],
)
def test_what_is_no_table_of_block_groups_is_told(source, content, found):
    source.files["groups.txt"] = content.encode()
    with pytest.raises(OSError, match=f"is not what is known of this set: .*{found}"):
        datasets.fetch_block_groups(url=source.url + "groups.txt")


@pytest.mark.parametrize("content", [PAGE, b"", b"1 2\n" * 4999, b"1 2 3\n" * 5000, b"1 2\n" * 4999 + b"1\n", b"\xff\xfe\x00"])
@pytest.mark.filterwarnings("ignore:loadtxt")
def test_a_page_in_the_place_of_points_is_an_error_that_names_the_file(source, content):
    source.files["s2.txt"] = content
    with pytest.raises(OSError, match=r"s2\.txt is not what is known of this set: expected 5000 rows of 2 columns, found .*Delete it, or put the right file there\."):
        datasets.fetch_sipu("s2", url=source.url + "s2.txt")


@pytest.mark.parametrize("content", [PAGE, gzip.compress(b"1,2\n" * 100_000, mtime=0)[:100]])
def test_what_is_packed_otherwise_or_half_is_an_error(offer, content):
    for constant, rows, call in (("LETTERS", (6,), datasets.fetch_letters), ("COVERTYPE", (2,), datasets.fetch_covertype)):
        offer(constant, content, *rows)
        with pytest.raises(OSError, match="is not what is known of this set"):
            call()
    offer("LETTERS", _packed(other="1,2"), 6)
    with pytest.raises(OSError, match="There is no item named 'letter-recognition.data'"):
        datasets.fetch_letters()


def test_a_name_that_is_none_and_a_source_that_is_away(source, tmp_path):
    with pytest.raises(ValueError, match="The 'name' parameter must be one of 's1', 's2'"):
        datasets.fetch_sipu("S9")
    with pytest.raises(OSError, match=rf"404 Not Found. Without a network, put the file at {tmp_path}/s3.txt"):
        datasets.fetch_sipu("s3", url=source.url + "s3.txt", folder=tmp_path)
    (tmp_path / "s3.txt").write_text("1 2\n" * 5000)
    assert datasets.fetch_sipu("s3", folder=tmp_path).data.shape == (5000, 2)


def test_labels_that_are_no_whole_numbers_are_told():
    assert _public.from_zero(np.array([1.0, 3.0])).tolist() == [0, 2]
    with pytest.raises(OSError, match=r"are whole numbers, found 1\.5"):
        _public.counted(np.array([1.0, 1.5]))
