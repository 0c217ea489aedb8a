"""What a run writes and says, as the Rust sources declare it: files, tables with their columns, and messages of errors. Nothing is compiled for it.

- `files`: the constants of `crates/cli/src/folder.rs`, with their comments.
- `methods`: the files and tables that each method declares in `crates/methods/src`.
- `tables`: the columns of each table there, in order.
- `node_paths`: the addresses of a node itself.
- `variables`: the variables of the environment.
- `messages`: the variants of an `enum Error` with their texts, and with their comments, which say the cause and the cure.
"""

import re
from pathlib import Path

from columns import COLUMNS, NAMED_BY_DATA

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = "crates/cli/src/folder.rs"
METHODS = "crates/methods/src"
#: The method of a source file that isn't named after it; centres are a table of two.
METHODS_OF = {"cluster/found": ["cluster"], "course": ["cluster", "pairwise"], "cluster/standing": ["cluster"], "clusters": ["cluster", "minibatch"]}
_COLUMN = re.compile(r'\.(ids|numbers|borrowed|weights|labels|counts|texts)\(\s*(?:"(\w+)"|[^,()]+)?')


def _code(text):
    """Rust without tests and comments."""
    return "\n".join(line for line in text.split("#[cfg(test)]")[0].split("\n") if not re.match(r"\s*//", line))


def files(text):
    """(name, what it is) of each file of results, from `folder.rs`."""
    found = re.findall(r'((?:^/// .*\n)+)^pub const \w+: &str = "([^"]+)";', text, re.MULTILINE)
    return [(name, " ".join(line[4:] for line in comment.strip().split("\n"))) for comment, name in found]


def methods(sources):
    """By method: (files, tables) that it declares. `sources` maps names of files, without `.rs`, to text."""
    declared = {}
    for source, text in sources.items():
        found = [re.search(rf"^ +{key}: &\[(.*?)\]", text, re.MULTILINE | re.DOTALL) for key in ("files", "outputs")]
        if all(found):
            declared[source] = tuple(re.findall(r'"([^"]+)"', list_[1]) for list_ in found)
    return declared


def columns_in(sources):
    """By `method/table`: the names of columns that stand in the sources, in order."""
    declared = {}
    for source, text in sources.items():
        code = _code(text)
        starts = [found.start() for found in re.finditer(r'Table::new\("', code)]
        for start, end in zip(starts, [*starts[1:], len(code)]):
            # Up to the end of the function, which is less deep than its body.
            ends = [place for place in (code.find("\n    }\n", start), code.find("\n}\n", start)) if place >= 0]
            body = code[start : min([end, *ends])]
            table = re.match(r'Table::new\("(\w+)"', body)[1]
            for method in METHODS_OF.get(source, [source]):
                columns = declared.setdefault(f"{method}/{table}", [])
                for kind, name in _COLUMN.findall(body):
                    column = "id" if kind == "ids" else name
                    if column and column not in columns:
                        columns.append(column)
    return declared


def tables(sources):
    """By `method/table`: the names of its columns, in order, with those that depend on the data."""
    return {table: NAMED_BY_DATA.get(table, columns) for table, columns in columns_in(sources).items()}


def meaning(table, column):
    """What a column has; None if nobody has said it."""
    return COLUMNS.get(table, {}).get(column) or COLUMNS["*"].get(column)


def messages(text):
    """(variant, text of the message or None, comment) of each variant of the `enum Error` in a source file."""
    body = re.search(r"^pub enum Error \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL)
    found = []
    comment, attribute = [], ""
    for line in body[1].split("\n"):
        words = line.strip()
        if line.startswith("    ///"):
            comment.append(words[3:].strip())
        elif line.startswith("    #[error") or attribute and not attribute.endswith("]"):
            attribute += words
        elif variant := re.match(r"    ([A-Z]\w+)", line):
            told = re.match(r'#\[error\(\s*"((?:[^"\\]|\\.)*)"', attribute)
            found.append((variant[1], told[1].replace('\\"', '"') if told else None, " ".join(comment)))
            comment, attribute = [], ""
    return found


def hints(text):
    """By (crate, variant): the hint that the command adds to a message, from `exit.rs`."""
    found = {}
    # An error of a parameter is of many parameters, and has a hint for one of them.
    for crate, body in re.findall(r"impl From<lehr_(\w+)::Error> for Failure \{\n(.*?)^\}", text, re.MULTILINE | re.DOTALL):
        for variants, hint in re.findall(r'((?:(?:lehr_\w+::)?Error::\w+ \{ [^}]*\}\s*\|?\s*)+)=> (?:(?!Error::).)*?\.with_hint\(\s*"([^"]+)"', body, re.DOTALL):
            for variant in set(re.findall(r"Error::(\w+)", variants)) - {"Parameter"}:
                found.setdefault((crate, variant), []).append(hint)
    return found


def shown(message):
    """A message with its values as words in angle brackets; None if it consists of nothing else."""
    text = re.sub(r"\{(\.?\w*)(?::[^}]*)?\}", lambda value: f"<{value[1].lstrip('.').replace('_', ' ') or '…'}>", message)
    return text if re.search(r"[a-z]{3}", re.sub(r"<[^>]*>", "", text)) else None


def node_paths(text):
    """The addresses of a node that belong to no service, from `route.rs`."""
    constants = dict(re.findall(r'^pub\(crate\) const (\w+): &str = "([^"]+)";', text, re.MULTILINE))
    alternatives = re.search(r'"/" \|[^=]*', _code(text))[0].split("=>")[0]
    named = re.findall(r'"([^"]+)"|\b([A-Z_]+)\b', alternatives)
    return [path or constants[constant] for path, constant in named]


#: Set by Lehr itself, for processes that it starts.
INTERNAL = {"LEHR_MPI_KEPT", "LEHR_MPI_PIPE"}


def variables(root=ROOT):
    """The variables of the environment that the command and the package read, from their sources."""
    sources = [*(root / "crates").glob("*/src/**/*.rs"), *(root / "python/lehr").glob("*.py")]
    found = {name for path in sources for name in re.findall(r'"(LEHR_[A-Z_]+|OMP_NUM_THREADS)"', _code(path.read_text(encoding="utf-8")))}
    return sorted(found - INTERNAL)


def method_sources(root=ROOT):
    folder = root / METHODS
    return {path.relative_to(folder).with_suffix("").as_posix(): path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.rs"))}


def missing(sources):
    """A line for each declared column without a meaning or left out of `NAMED_BY_DATA`, and for each meaning without a column."""
    declared = tables(sources)
    left_out = [
        f"{table}: {column} is not in NAMED_BY_DATA"
        for table, columns in columns_in(sources).items()
        for column in columns
        if column not in declared[table]
    ]
    names = {column for columns in declared.values() for column in columns}
    without = [f"{table}: {column} has no meaning" for table, columns in declared.items() for column in columns if not meaning(table, column)]
    stale = [
        f"{table}: {column} is no column"
        for table, columns in COLUMNS.items()
        for column in columns
        if column not in (names if table == "*" else declared.get(table, []))
    ]
    return left_out + without + stale
