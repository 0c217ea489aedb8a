"""Pages and links that lead out of `docs/`.

- Pages that stand elsewhere, because people look for them there, are pages of the site too (`ELSEWHERE`): the page here has one link, which is
  replaced by what it leads to.
- Links to files of the project outside `docs/` become downloads, links to folders their names.
"""

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
#: The text of a link may go over the end of a line, and not over an empty one.
LINK = re.compile(r"(!?)\[((?:[^\]\n]|\n(?!\s*\n))*)\]\(([^)\s]+)\)")
FENCE = re.compile(r"(^[ \t]*```.*?^[ \t]*```[^\n]*$)", re.DOTALL | re.MULTILINE)
#: By page of the site: the file that it shows.
ELSEWHERE = {
    "architecture": "ARCHITECTURE.md",
    "changelog": "CHANGELOG.md",
    "contributing": "CONTRIBUTING.md",
    "datasets": "datasets/README.md",
}
_PAGES = {file: page for page, file in ELSEWHERE.items()} | {"README.md": "index", "python/README.md": "start/python"}


def _read(app, page, source):
    folder = ROOT / "docs" / os.path.dirname(page)
    if page in ELSEWHERE:
        file = ROOT / ELSEWHERE[page]
        app.env.note_dependency(str(file))
        source[0] = file.read_text(encoding="utf-8")
        folder = file.parent
    suffix = Path(app.env.doc2path(page)).suffix
    if suffix == ".md":
        source[0] = _with_links(source[0], folder)


def _with_links(text, folder):
    """The text with each link as the site has it, but for blocks of code."""
    parts = FENCE.split(text)
    parts[::2] = [LINK.sub(lambda found: _link(found, folder), part) for part in parts[::2]]
    return "".join(parts)


def _link(found, folder):
    picture, text, target = found.groups()
    if re.match(r"[a-z]+:", target) or target.startswith("#"):
        return found[0]
    path, _, anchor = target.partition("#")
    absolute = (folder / path).resolve()
    anchor = f"#{anchor}" if anchor else ""
    if not absolute.is_relative_to(ROOT):
        return found[0]
    name = absolute.relative_to(ROOT).as_posix()
    if name in _PAGES:
        return f"{picture}[{text}](/{_PAGES[name]}.md{anchor})"
    if name.startswith("docs/") and not absolute.is_dir():
        return f"{picture}[{text}](/{name.removeprefix('docs/')}{anchor})"
    if absolute.is_file():
        return f"{{download}}`{text.replace('`', '')} </../{name}>`"
    return text if "`" in text else f"{text} (`{name}`)"


def setup(app):
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
