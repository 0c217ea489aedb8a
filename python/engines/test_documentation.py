"""The examples of docs/scale-out/dask-ray-spark.md that the site does not run, because it has neither Ray nor Spark."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Engine

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "scale-out" / "dask-ray-spark.md"


@pytest.mark.parametrize("name", ["ray", "spark"])
def test_the_example_runs(name: str, engine_named: Callable[[str], Engine], capsys: pytest.CaptureFixture[str]) -> None:
    engine_named(name)
    examples = [block for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL) if name in block]
    assert len(examples) == 1
    # Processes of the engines read relative paths from the folder in which they were started.
    example = examples[0].replace("datasets/", f"{ROOT}/datasets/")
    exec(compile(example, f"{PAGE.name}: {name}", "exec"), {"__name__": "__main__"})
    assert "cluster" in capsys.readouterr().out
