"""Reference entries made from what the command and its node say of themselves, so that nothing is missing and nothing is said twice.

- `{command-reference}`, with the names of commands: usage, arguments, options and examples, from `--help all`.
- `{service-reference}`: each operation of each service, from `/openapi.json` of a node that runs every method.
- `{fault-codes}`: the codes of errors that a node answers with, from the same.
- `{measure-reference}`: the measures of `/metrics`, from the same node.
- `{result-files}`: each file of a folder of results, from the sources.
- `{result-tables}`, with the names of methods: each table and column that they write, from the sources.
- `{message-reference}`, with the names of crates: the messages of their errors with cause and cure, from the sources.
"""

import json
import os
import re
import subprocess
import tempfile
import urllib.request
from contextlib import contextmanager
from functools import lru_cache

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

import help_text
import results
from help_text import entry, escaped, examples, parts


@lru_cache
def _help(command, name):
    environment = os.environ | {"COLUMNS": "110", "NO_COLOR": "1"}
    return subprocess.run([command, *name.split(), "--help", "all"], env=environment, capture_output=True, text=True, check=True).stdout


class _Made(SphinxDirective):
    """A directive whose lines are Markdown that is parsed in its place."""

    has_content = True

    def run(self):
        for file in (self.config.lehr_command, __file__, help_text.__file__):
            self.env.note_dependency(file)
        lines = StringList(list(self.markdown()), source=self.get_source_info()[0])
        box = nodes.container(classes=["declared"])
        self.state.nested_parse(lines, self.content_offset, box, match_titles=1)
        return box.children


#: Commands without an entry: a program of its own, and clap's.
_WITHOUT_ENTRY = {"help", "lab"}


class CommandReference(_Made):
    def markdown(self):
        names = [name.strip() for name in " ".join(self.content).split(",")]
        _, _, sections, _ = parts(_help(self.config.lehr_command, ""))
        for term, _ in dict(sections)["Commands"]:
            if term not in _WITHOUT_ENTRY and term not in names:
                logging.getLogger(__name__).warning("the command lehr %s has no entry", term, location=(self.env.docname, self.lineno))
        for name in names:
            yield from self.command(name)

    def command(self, name):
        about, usage, sections, closing = parts(_help(self.config.lehr_command, name))
        anchor = f"lehr-{name.replace(' ', '-')}"
        yield from ["", f"({anchor})=", f"## `lehr {name}`", ""]
        yield from [escaped(line) for line in about.split("\n")]
        yield from ["", "```text", *[line.strip() for line in usage.split("\n")], "```", ""]
        for heading, entries in sections:
            if heading == "Examples":
                yield from ["**Examples**", "", "```console", *examples(entries), "```", ""]
            elif heading == "Commands":
                continue
            else:
                yield from [f"**{heading}**", ""]
                for term, lines in entries:
                    yield from entry(term, lines)
        for paragraph in "\n".join(closing).strip().split("\n\n"):
            yield from ["", escaped(" ".join(paragraph.split("\n")))]
        yield ""


@contextmanager
def _node(command, starts=()):
    """The address of a node that runs meanwhile."""
    arguments = [word for start in starts for word in ("--start", start)]
    with tempfile.TemporaryDirectory() as folder:
        serving = subprocess.Popen(
            [command, "serve", "--listen", "127.0.0.1:0", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        try:
            url = serving.stdout.readline().strip()
            if not url:
                raise ExtensionError(f"lehr serve did not start: {serving.stderr.read()}")
            yield url
        finally:
            serving.terminate()
            serving.wait()


def _got(url):
    with urllib.request.urlopen(url) as answer:
        return json.load(answer)


@lru_cache
def _of_node(command):
    """The description and the measures of a node with every service that it can make."""
    with _node(command) as url:
        contracts = _got(url + "/constructor")["contracts"]
        running = _got(url + "/openapi.json")["paths"]
    names = {contract: re.split(r"[./]", contract)[-1] for contract in contracts}
    with _node(command, [f"{contract}=/{name}" for contract, name in names.items() if f"/{name}" not in running]) as url:
        with urllib.request.urlopen(url + "/metrics") as answer:
            return _got(url + "/openapi.json"), answer.read().decode()


def _openapi(command):
    return _of_node(command)[0]


class ServiceReference(_Made):
    def markdown(self):
        document = _openapi(self.config.lehr_command)
        schemas = document["components"]["schemas"]
        services = {}
        for path, verbs in document["paths"].items():
            service, _, operation = path.partition(":")
            services.setdefault(service, []).append((operation, verbs))
        for service, operations in services.items():
            yield from ["", f"## `{service}`", ""]
            for operation, verbs in operations:
                for verb, described in verbs.items():
                    if not isinstance(described, dict):
                        continue
                    yield f"`{verb.upper()} {service}{':' + operation if operation else ''}`"
                    body = _schema(described.get("requestBody", {}).get("content", {}), schemas)
                    about = body.get("description", "").split("\n\n")[0].split()
                    kind = re.fullmatch(r"\w+ \((\w+)\)", _first(described))
                    yield f":   *{kind[1]}*. {_unlinked(about) or 'No fields.'}" if kind else f":   {escaped(_first(described))}"
                    yield ""
                    for field, what in body.get("properties", {}).items():
                        if what.get("deprecated"):
                            continue
                        needed = " (needed)" if field in body.get("required", []) else ""
                        yield f"    - `{field}`{needed}: {_described(what)}"
                        nested = _resolved(what, schemas).get("properties", {}) if field == "options" else {}
                        for name, option in nested.items():
                            if not option.get("deprecated"):
                                yield f"      - `{name}`: {_described(option)}"
                    yield ""


def _first(entry):
    text = entry.get("description") or entry.get("summary", "")
    return " ".join(text.split("\n\n")[0].split())


def _schema(content, schemas):
    return _resolved(content.get("application/json", {}).get("schema", {}), schemas)


def _resolved(schema, schemas):
    name = schema.get("$ref", "").rpartition("/")[2]
    return schemas.get(name, schema)


def _unlinked(words):
    """The words of a documentation comment without links to items of Rust."""
    return escaped(re.sub(r"\[`?([^\]`]+)`?\](\([^)]*\))?", r"\1", " ".join(words)))


def _described(schema):
    text = _unlinked(schema.get("description", "").split())
    kind = schema.get("type")
    kind = kind if isinstance(kind, str) else next((name for name in kind or [] if name != "null"), None)
    known = [f"*{kind}*" if kind else ""]
    if schema.get("default") not in (None, [], {}) and "Default" not in text:
        known.append(f"default `{json.dumps(schema['default'])}`")
    if "x-default" in schema:
        known.append(f"default: {schema['x-default']}")
    known = ", ".join(part for part in known if part)
    return f"{text.rstrip('.')}. {known}".strip(". ") if known else text or "see the schema in `/openapi.json`"


class FaultCodes(_Made):
    def markdown(self):
        schemas = _openapi(self.config.lehr_command)["components"]["schemas"]
        text = next(schema["description"] for name, schema in schemas.items() if name.endswith(".Code"))
        for code, meaning in re.findall(r"- `(\w+)`: (.*)", text):
            yield from [f"`{code}`", f":   {escaped(meaning)}", ""]


class MeasureReference(_Made):
    def markdown(self):
        text = _of_node(self.config.lehr_command)[1]
        kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)", text, re.MULTILINE))
        yield from ["| measure | kind | has |", "| --- | --- | --- |"]
        for name, about in re.findall(r"^# HELP (\w+) (.*)", text, re.MULTILINE):
            yield f"| `{name}` | {kinds.get(name, '')} | {escaped(about)} |"


class _FromSources(_Made):
    def noted(self, path):
        """The text of a source file, which the page depends on."""
        self.env.note_dependency(str(results.ROOT / path))
        return (results.ROOT / path).read_text(encoding="utf-8")

    def warned(self, words):
        logging.getLogger(__name__).warning("%s", words, location=(self.env.docname, self.lineno))


class ResultFiles(_FromSources):
    def markdown(self):
        for name, about in results.files(self.noted(results.FOLDER)):
            yield from [f"`{name}`", f":   {about}", ""]


class ResultTables(_FromSources):
    def markdown(self):
        sources = results.method_sources()
        for source in sources:
            self.noted(f"{results.METHODS}/{source}.rs")
        for words in results.missing(sources):
            self.warned(f"docs/site/columns.py: {words}")
        files, tables = {method: files for method, (files, _) in results.methods(sources).items()}, results.tables(sources)
        chosen = [name.strip() for name in " ".join(self.content).split(",")]
        for method in sorted({name.partition("/")[0] for name in tables} - set(chosen)):
            self.warned(f"the tables of {method} have no entry")
        for method in chosen:
            yield from ["", f"### Tables of `lehr {method}`", ""]
            for name, columns in tables.items():
                if name.partition("/")[0] != method:
                    continue
                table = name.partition("/")[2]
                if method == "predict":
                    where = "Standard output"
                else:
                    where = f"`{table}.csv`" if f"{table}.csv" in files.get(method, []) else f"`{table}`, of a service only"
                yield from [f"{where}:", "", "| column | has |", "| --- | --- |"]
                yield from [f"| `{column}` | {results.meaning(name, column)} |" for column in columns]
                yield ""


class MessageReference(_FromSources):
    def markdown(self):
        hints = results.hints(self.noted("crates/cli/src/exit.rs"))
        for crate in (name.strip() for name in " ".join(self.content).split(",")):
            for variant, message, comment in results.messages(self.noted(f"crates/{crate}/src/error.rs")):
                text = message and results.shown(message)
                # A run that its user has stopped says one word.
                if not text or " " not in text:
                    continue
                yield from [f"`{text}`", f":   {_unlinked(comment.split())}"]
                for hint in hints.get((crate, variant), []):
                    yield from ["", f"    *Hint:* {escaped(hint)}."]
                yield ""


def setup(app):
    app.add_directive("command-reference", CommandReference)
    app.add_directive("service-reference", ServiceReference)
    app.add_directive("fault-codes", FaultCodes)
    app.add_directive("measure-reference", MeasureReference)
    app.add_directive("result-files", ResultFiles)
    app.add_directive("result-tables", ResultTables)
    app.add_directive("message-reference", MessageReference)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
