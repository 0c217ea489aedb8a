"""The help of a command as Markdown: what `lehr COMMAND --help all` prints, taken apart and written as entries of a reference."""

import re


def parts(text):
    """What `--help all` prints, as (about, usage, [(heading, [(term, lines)])], [closing lines]). Prose of a section has no term."""
    before, _, after = text.partition("\nUsage:")
    before, _, shown = before.partition("\nExamples:\n")
    usage, _, after = after.partition("\n\n")
    sections = [("Examples", [(line, []) for line in shown.rstrip().split("\n")])] if shown else []
    closing = []
    for line in after.split("\n"):
        if re.match(r"\S.*:$", line) and not line.startswith("Exit codes"):
            sections.append((line[:-1], []))
        elif sections and re.match(r" {2,6}\S", line):
            term, *same_line = re.split(r" {2,}", line.strip(), maxsplit=1)
            if same_line or term[0] in "-<[":
                sections[-1][1].append((term, same_line))
            elif sections[-1][1] and not sections[-1][1][-1][0]:
                sections[-1][1][-1][1].append(term)
            else:
                sections[-1][1].append(("", [term]))
        elif sections and (line.startswith(" ") or not line.strip()):
            if sections[-1][1]:
                sections[-1][1][-1][1].append(line.strip())
        else:
            closing.append(line)
    return before.strip(), usage.strip(), sections, closing


def escaped(text):
    """Text as Markdown that shows it as it is, with options as code."""
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", _plain(text))


def _plain(text):
    return re.sub(r"([\\`*_|<>\[\]{}$])", r"\\\1", text)


def examples(entries):
    """The lines of a section of examples: what is typed, and what it is for as a comment."""
    for line, _ in entries:
        if not line.strip():
            continue
        yield f"# {line.strip()}" if line.startswith("      ") else f"$ {line.strip()}"


def entry(term, lines):
    """An argument or option with its help, as an entry of a definition list; prose as a paragraph."""
    if not term:
        yield from [escaped(" ".join(lines)), ""]
        return
    yield f"`{term}`"
    first = True
    for paragraph in re.split(r"\n\s*\n", "\n".join(lines).strip()):
        text = [line for line in paragraph.split("\n") if line]
        if text and text[0].startswith("Possible values"):
            values = " ".join(text[1:])
            rest = [value.partition(":") for value in re.split(r"(?:^| )- (?=[\w-]+(?::|$| - ))", values) if value]
            shown = "; ".join(f"`{value}`: {escaped(meaning.strip())}" if meaning.strip() else f"`{value}`" for value, _, meaning in rest)
            text = ["Values: " + shown]
        else:
            text = [escaped(" ".join(text))]
        yield (":   " if first else "    ") + text[0]
        yield ""
        first = False
