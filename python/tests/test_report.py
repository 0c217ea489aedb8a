"""The command's report in a notebook cell."""

import html
import re
import subprocess

import numpy as np
import pytest

import lehr


def test_the_page_of_the_command_is_in_a_frame_of_its_own(command, wine, tmp_path):
    np.savetxt(tmp_path / "wine.csv", wine, delimiter=",")
    folder = tmp_path / "results"
    subprocess.run([command, "cluster", "wine.csv", "--clusters", "3", "--out", "results"], cwd=tmp_path, check=True, capture_output=True)
    for shown in (lehr.report.show(folder), lehr.report.show(folder / "report.html", height=300)):
        text = shown._repr_html_()
        assert text.startswith("<iframe ") and text.count("<") == 2 and text.endswith("></iframe>")
        source = re.search(r'srcdoc="([^"]*)"', text)[1]
        assert html.unescape(source) == (folder / "report.html").read_text(encoding="utf-8")
        # The scripts of the report run, but have no access to anything outside.
        assert 'sandbox="allow-scripts allow-downloads"' in text and f'height="{shown.height}"' in text
    assert shown.height == 300 and "report.html" in repr(shown)


def test_what_is_no_page_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="The command writes one beside its results"):
        lehr.report.show(tmp_path)
    (tmp_path / "report.html").write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="is no page in HTML"):
        lehr.report.show(tmp_path)
    (tmp_path / "report.html").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ValueError, match="is no text"):
        lehr.report.show(tmp_path)
    with pytest.raises(ValueError, match="The 'height' parameter must be pixels above 0"):
        lehr.report.show(tmp_path, height=0)
