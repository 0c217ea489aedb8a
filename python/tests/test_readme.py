"""Runs the programs of the front pages, of guides, and of the pages on ranks and the runtime, as a reader would."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thread_unsafe(reason="each program is a process of its own")

ROOT = Path(__file__).parent.parent.parent
GUIDES = ["mixtures", "gtm", "streams", "tables-in-python"]
#: Pages whose programs print the text below them. In this text, `…` stands for output that the page leaves out.
SHOWN = ["README.md", "python/README.md", *(f"docs/guide/{name}.md" for name in GUIDES)]
PAGES = [ROOT / "python/README.md", ROOT / "docs/scale-out/python-runtime.md", ROOT / "docs/scale-out/mpi-python.md"]
PROGRAMS = [program for page in PAGES for program in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)]


def _run(program, folder):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    (folder / "datasets").symlink_to(ROOT / "datasets")
    ended = subprocess.run([sys.executable, "-c", program], cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _program(word):
    found = [program for program in PROGRAMS if word in program]
    assert len(found) == 1, f"{len(found)} programs with {word!r}"
    return found[0]


@pytest.mark.parametrize("page", SHOWN)
def test_programs_print_what_their_page_shows(page, tmp_path):
    found = re.findall(r"```python\n((?:(?!```).)*)```\n\n```text\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert found
    for number, (program, shown) in enumerate(found):
        folder = tmp_path / str(number)
        folder.mkdir()
        printed = _run(program, folder)
        assert re.fullmatch(re.escape(shown).replace("…", ".*"), printed, flags=re.DOTALL), printed


def test_ten_lines_give_a_picture(tmp_path):
    program = _program("wine.png")
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    _run(program, tmp_path)
    assert (tmp_path / "wine.png").read_bytes().startswith(b"\x89PNG")


def test_a_program_on_ranks_prints_the_mean(tmp_path):
    mean = [float(number) for number in _run(_program("lehr.ranks.run"), tmp_path).strip(" []\n").split()]
    assert len(mean) == 3 and all(abs(number) < 0.2 for number in mean)


def test_a_packer_packs(tmp_path):
    assert _run(_program("lehr.runtime import"), tmp_path) == "for Ada a loom\n"


def test_a_counter_serves(tmp_path):
    pytest.importorskip("httpx")
    program = _program("lehr.serve(").replace("port=8421", "port=0").replace("    server.wait()\n", "")
    assert _run(program, tmp_path) == "4 {'value': 4}\n"


def test_a_node_is_asked(command, tmp_path):
    pytest.importorskip("httpx")
    with subprocess.Popen([command, "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True) as serving:
        url = serving.stdout.readline().strip()
        # The program would watch for ever, so it is changed to end after the first event.
        program = _program("http://127.0.0.1:8420").replace("http://127.0.0.1:8420", url)
        program = program.replace("        print(event.kind, event.data)", "        print(event.kind, event.data)\n        break")
        assert "seed" in _run(program, tmp_path)
        serving.terminate()
