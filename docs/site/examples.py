"""Directives for examples that run while the site is built, with their output below them.

    ```{run-python}                     ```{run-shell}
    :alt: what the figure shows         :lines: 12
    code                                :report: lehr-out
    ```                                 $ lehr cluster datasets/iris/iris.csv
                                        ```

Examples of one page follow each other: they share their names and a folder of their own, which has a copy of `datasets/`. An example that fails
ends the build, unless it says that it does (`:raises: ValueError`, `:exit: 3`). Figures that are open at its end are put below.
`:save: NAME` writes a program into the folder in place of running it.
`:hide-code:` shows the result alone, `:lines:` that many of its first lines, `:last:` of its last.
"""

import atexit
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent.parent
MADE = "site/made"

#: By page: its folder, the names that its Python has made, the pictures that it has.
_pages = {}


class _Page:
    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="lehr-docs-"))
        atexit.register(shutil.rmtree, self.folder, ignore_errors=True)
        shutil.copytree(ROOT / "datasets", self.folder / "datasets")
        self.names = {"__name__": "__main__"}
        self.pictures = 0


def _forget(app, name, source):
    _pages.pop(name, None)


class _Example(SphinxDirective):
    has_content = True
    option_spec = {"lines": directives.positive_int, "last": directives.positive_int, "hide-code": directives.flag, "hide-output": directives.flag, "alt": directives.unchanged}

    @property
    def page(self):
        return _pages.setdefault(self.env.docname, _Page())

    def run(self):
        text = "\n".join(self.content)
        self.env.note_dependency(__file__)
        shown = [] if "hide-code" in self.options else [self._block(text, self.language, "example")]
        output, others = self.result(text)
        lines = output.rstrip().splitlines()
        if (most := self.options.get("lines")) and len(lines) > most:
            lines = lines[:most] + ["…"]
        if (most := self.options.get("last")) and len(lines) > most:
            lines = ["…"] + lines[-most:]
        if lines and "hide-output" not in self.options:
            shown.append(self._block("\n".join(lines), "text", "example-output"))
        return shown + others

    def _block(self, text, language, name):
        block = nodes.literal_block(text, text, language=language, classes=[name])
        self.set_source_info(block)
        return block

    def failed(self, message):
        logging.getLogger(__name__).warning("the example %s", message, location=(self.env.docname, self.lineno))


class RunPython(_Example):
    language = "python"
    option_spec = _Example.option_spec | {"raises": directives.unchanged, "save": directives.unchanged, "width": directives.unchanged}

    def result(self, text):
        if name := self.options.get("save"):
            (self.page.folder / name).write_text(text + "\n", encoding="utf-8")
            return "", []
        printed = io.StringIO()
        plt.close("all")
        back = os.getcwd()
        os.chdir(self.page.folder)
        error = None
        try:
            with contextlib.redirect_stdout(printed), warnings.catch_warnings(), plt.rc_context({"savefig.dpi": 150}):
                warnings.showwarning = lambda message, kind, *_: print(f"{kind.__name__}: {textwrap.fill(str(message), 110)}")
                exec(compile(text, f"{self.env.docname}.md", "exec"), self.page.names)
        except Exception as found:
            error = found
        finally:
            os.chdir(back)
        expected = self.options.get("raises")
        if error is not None and type(error).__name__ != expected:
            self.failed(f"raised {type(error).__name__}: {error}\n{text}")
        if error is None and expected:
            self.failed(f"did not raise {expected}")
        if error is not None:
            print(f"{type(error).__name__}: {textwrap.fill(str(error), 110)}", file=printed)
        return printed.getvalue(), [self._picture(plt.figure(number)) for number in plt.get_fignums()]

    def _picture(self, figure):
        if not self.options.get("alt"):
            self.failed("draws a figure: say what it shows with :alt:")
        self.page.pictures += 1
        name = f"{MADE}/{self.env.docname.replace('/', '-')}-{self.page.pictures}.png"
        path = Path(self.env.srcdir) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, bbox_inches="tight")
        plt.close(figure)
        image = nodes.image(uri="/" + name, alt=self.options["alt"], classes=["example-picture"])
        # As Sphinx's own images are: from the folder of the sources.
        image["uri"] = name if "/" not in self.env.docname else "/".join([".."] * self.env.docname.count("/")) + "/" + name
        image["width"] = self.options.get("width", "100%")
        return image


class RunShell(_Example):
    """Lines after `$ ` are run by bash, one after the other; those that end with a backslash go on."""

    language = "console"
    option_spec = _Example.option_spec | {"exit": directives.nonnegative_int, "report": directives.unchanged, "title": directives.unchanged}

    def result(self, text):
        command = Path(self.config.lehr_command)
        if not command.is_file():
            raise ExtensionError(f"the command to run is not there: {command}. Build it (cargo build --release -p lehr) or set LEHR_COMMAND")
        script = "\n".join(line.removeprefix("$ ").removeprefix("> ") for line in text.splitlines())
        environment = os.environ | {"PATH": f"{command.parent.resolve()}:{Path(sys.executable).parent}:{os.environ['PATH']}", "COLUMNS": "110", "NO_COLOR": "1"}
        ended = subprocess.run(
            ["bash", "-o", "pipefail", "-c", script], cwd=self.page.folder, env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300,
        )
        if ended.returncode != self.options.get("exit", 0):
            self.failed(f"ended with exit code {ended.returncode}:\n{text}\n{ended.stdout}")
        # A terminal overwrites its lines of progress.
        output = re.sub(r"^ *\d+ %, .*\n", "", ended.stdout, flags=re.MULTILINE)
        return output, [self._report(self.options["report"])] if "report" in self.options else []

    def _report(self, folder):
        name = f"{self.env.docname.replace('/', '-')}-{folder.replace('/', '-')}.html"
        kept = Path(self.env.srcdir) / MADE / "reports" / name
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self.page.folder / folder / "report.html", kept)
        up = "../" * (self.env.docname.count("/"))
        return nodes.raw("", (
            f'<iframe class="report" src="{up}reports/{name}" title="{self.options.get("title", "the report")}" loading="lazy"></iframe>'
            f'<p class="report-link"><a href="{up}reports/{name}">Open the report on a page of its own</a></p>'
        ), format="html")


def _copy_reports(app, error):
    made = Path(app.srcdir) / MADE / "reports"
    if error is None and made.is_dir():
        shutil.copytree(made, Path(app.outdir) / "reports", dirs_exist_ok=True)


def setup(app):
    app.add_directive("run-python", RunPython)
    app.add_directive("run-shell", RunShell)
    app.connect("source-read", _forget)
    app.connect("build-finished", _copy_reports)
    # Examples start threads, and a process that has some is not to be forked.
    return {"parallel_read_safe": False, "parallel_write_safe": True}
