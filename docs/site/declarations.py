"""Reference entries made from what the command and its node say of themselves, so that nothing is missing and nothing is said twice.

- `{command-reference}`, with the names of commands: usage, arguments, options and examples, from `--help`.
- `{service-reference}`: each operation of each service, from `/openapi.json` of a node that runs every method.
- `{fault-codes}`: the codes of errors that a node answers with, from the same.
"""

import json
import os
import re
import subprocess
import tempfile
import urllib.request
from functools import lru_cache

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective


@lru_cache
def _help(command, name):
    environment = os.environ | {"COLUMNS": "110", "NO_COLOR": "1"}
    return subprocess.run([command, *name.split(), "--help"], env=environment, capture_output=True, text=True, check=True).stdout


def parts(text):
    """What `--help` prints, as (about, usage, [(heading, [(term, lines)])], [closing lines])."""
    before, _, after = text.partition("\nUsage:")
    usage, _, after = after.partition("\n\n")
    sections, closing = [], []
    for line in after.split("\n"):
        if re.match(r"\S.*:$", line) and not line.startswith("Exit codes"):
            sections.append((line[:-1], []))
        elif sections and re.match(r" {2,6}\S", line) and sections[-1][0] not in ("Example", "Examples"):
            term, *same_line = re.split(r" {2,}", line.strip(), maxsplit=1)
            sections[-1][1].append((term, list(same_line)))
        elif sections and (line.startswith(" ") or not line.strip()):
            if sections[-1][0] in ("Example", "Examples"):
                sections[-1][1].append((line, []))
            elif sections[-1][1]:
                sections[-1][1][-1][1].append(line.strip())
        else:
            closing.append(line)
    return before.strip(), usage.strip(), sections, closing


def _escaped(text):
    """Text as Markdown that shows it as it is, with options as code."""
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", _plain(text))


def _plain(text):
    return re.sub(r"([\\`*_|<>\[\]{}$])", r"\\\1", text)


class _Made(SphinxDirective):
    """A directive whose lines are Markdown that is parsed in its place."""

    has_content = True

    def run(self):
        lines = StringList(list(self.markdown()), source=self.get_source_info()[0])
        box = nodes.container(classes=["declared"])
        self.state.nested_parse(lines, self.content_offset, box, match_titles=1)
        return box.children


class CommandReference(_Made):
    def markdown(self):
        for name in " ".join(self.content).split(","):
            yield from self.command(name.strip())

    def command(self, name):
        about, usage, sections, closing = parts(_help(self.config.lehr_command, name))
        anchor = f"lehr-{name.replace(' ', '-')}"
        yield from ["", f"({anchor})=", f"## `lehr {name}`", ""]
        yield from [_escaped(line) for line in about.split("\n")]
        yield from ["", "```text", *[line.strip() for line in usage.split("\n")], "```", ""]
        for heading, entries in sections:
            if heading in ("Example", "Examples"):
                yield from ["**Examples**", "", "```console", *_examples(entries), "```", ""]
            elif heading == "Commands":
                continue
            else:
                yield from [f"**{heading}**", ""]
                for term, lines in entries:
                    yield from _entry(term, lines)
        for paragraph in "\n".join(closing).strip().split("\n\n"):
            yield from ["", _escaped(" ".join(paragraph.split("\n")))]
        yield ""


def _examples(entries):
    for line, _ in entries:
        if not line.strip():
            continue
        yield line[6:] and f"# {line.strip()}" if line.startswith("      ") else f"$ {line.strip()}"


def _entry(term, lines):
    yield f"`{term}`"
    first = True
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines).strip()):
        text = [line for line in paragraph.split("\n") if line]
        if text and text[0].startswith("Possible values"):
            values = " ".join(text[1:])
            rest = [value.partition(":") for value in re.split(r"(?:^| )- (?=[\w-]+(?::|$| - ))", values) if value]
            shown = "; ".join(f"`{value}`: {_escaped(meaning.strip())}" if meaning.strip() else f"`{value}`" for value, _, meaning in rest)
            text = ["Values: " + shown]
        else:
            text = [_escaped(" ".join(text))]
        yield (":   " if first else "    ") + (text[0] or "(no text)")
        yield ""
        first = False


@lru_cache
def _openapi(command):
    methods = ["distances", "embedding", "gtm", "kmedoids", "minibatch", "mixture", "pairwise"]
    arguments = [word for name in methods for word in ("--start", f"lehr.{name}=/{name}")]
    with tempfile.TemporaryDirectory() as folder:
        serving = subprocess.Popen(
            [command, "serve", "--listen", "127.0.0.1:0", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        try:
            url = serving.stdout.readline().strip()
            if not url:
                raise ExtensionError(f"lehr serve did not start: {serving.stderr.read()}")
            with urllib.request.urlopen(url + "/openapi.json") as answer:
                return json.load(answer)
        finally:
            serving.terminate()
            serving.wait()


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
                for verb, entry in verbs.items():
                    if not isinstance(entry, dict):
                        continue
                    yield f"`{verb.upper()} {service}{':' + operation if operation else ''}`"
                    body = _schema(entry.get("requestBody", {}).get("content", {}), schemas)
                    about = body.get("description", "").split("\n\n")[0].split()
                    kind = re.fullmatch(r"\w+ \((\w+)\)", _first(entry))
                    yield f":   *{kind[1]}*. {_unlinked(about) or 'No fields.'}" if kind else f":   {_escaped(_first(entry))}"
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
    return _escaped(re.sub(r"\[`?([^\]`]+)`?\](\([^)]*\))?", r"\1", " ".join(words)))


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
            yield from [f"`{code}`", f":   {_escaped(meaning)}", ""]


def setup(app):
    app.add_directive("command-reference", CommandReference)
    app.add_directive("service-reference", ServiceReference)
    app.add_directive("fault-codes", FaultCodes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
