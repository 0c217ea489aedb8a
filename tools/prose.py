"""Looks for words and forms that make a reader read twice, and for long sentences.

Usage: prose.py                     the gate: per group of files, no more findings than `tools/prose.json` records
       prose.py --list GROUP|FILE…  every finding: file, line, what stands there, what to write
       prose.py --write             records lower numbers (never higher ones; to record a higher one, edit the file and say why)
       prose.py --sample COUNT SEED sentences drawn at random, to be read by somebody else: which could be better?

Looked at: paragraphs, list items and table cells of Markdown, documentation comments of Rust, docstrings of Python. Code is left out.
"""

import ast
import json
import math
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = "tools/prose.json"
#: The maximum number of words in a sentence; entries of the changelog have a lower limit.
LONGEST = 25
LONGEST_OF_GROUP = {"changelog": 20}
#: The recorded number is this factor times the number found: several people write at once, and a merge adds their findings. Groups without findings stay at 0.
HEADROOM = 1.03
#: The groups; a file belongs to the first whose pattern matches.
GROUPS = [
    ("front", r"(README|CONTRIBUTING)\.md$|python/README\.md$|docs/(index|choose|faq|performance|internals)\.md$|docs/(start|concepts|howto|scale-out|reference)/"),
    ("guide", r"docs/guide/|docs/glossary\.md$"),
    ("changelog", r"CHANGELOG\.md$"),
    ("design", r"docs/design/|ARCHITECTURE\.md$|docs/papers\.md$"),
    ("lab", r"docs/lab/|lab/.*\.md$"),
    ("pages", r".*\.md$"),
    ("python", r"python/lehr/.*\.py$"),
    ("rust", r"crates/[\w-]+/src/.*\.rs$"),
]
#: Generated files, or lists of names.
LEFT_OUT = re.compile(r"docs/catalogue\.md$|docs/lab/\w+\.md$|LICENCE\.md$|lab/records/|crates/.*/tests/")

#: Forms that are findings, as a pattern over the text without code, and what to write instead.
FORMS = [
    (r"\bdearer\b|\bdearest\b", "slower, or more expensive"),
    (r"\bin vain\b", "without success, unsuccessful"),
    (r"\bmend(s|ed|ing)?\b", "fix"),
    (r"\bbetters\b|\bbettered\b", "improves"),
    (r"\bone's own\b|\bone's\b", "your own, your"),
    (r"\b(is|are|was|were|be) told\b|\ball told\b", "name the actor: Lehr reports, prints, warns"),
    (r"\btells? of\b", "reports"),
    (r"\b(gone|went|goes|go|going) on (with|from|to the same)\b", "resume, continue"),
    (r"\bby heart\b", "the model overfits"),
    (r"\bvouch(es)?\b", "was not written by Lehr"),
    (r"\bin (scikit-learn|numpy|python)'s habits\b", "compatible with …"),
    (r"\blikelier\b|\blikeliest\b", "more likely, most likely"),
    (r"\bmemberships are hardened\b|\bhardening (stage|step)\b", "hard assignment"),
    (r"\bstarts to choose\b", "no starting points to choose"),
    (r"\ba wish (for|to)\b", "and you want …"),
    (r"\bwhoever\b|\bwhosoever\b", "anyone who, the client that"),
    (r"\bno (bit|bits) of it\b", "never the result"),
    (r"\b(what|who) asks\b", "the client"),
    (r"\banew\b", "again"),
    (r"\bsponge\b", "outlier radius"),
    (r"\brank-blind\b", "doesn't know about ranks"),
    (r"\bsecond noun\b", "a second subject"),
    (r"\bwhich room\b|\brooms\b", "crate"),
    (r"\bbehind (their|its|a) doors?\b", "on the allow-list"),
    (r"\b(is|are) to be (had|turned)\b", "is available, can be turned"),
    (r"\bbe had\b", "be obtained"),
    (r"\b(that|which) stands? (there|here|beside)\b", "which is there"),
    (r"\band (vice versa|so forth)\b", "say it"),
    (r"\bthereof\b|\bwherein\b|\bwhereof\b|\bhereby\b|\bthereby\b", "say it in today's words"),
    (r"(?:^|[.;|] )What(?! (?:to|if|about)\b)[^.?|:]*(?:\.|\||$)", "name the thing: start with the noun, not with \"What\""),
]
_FORMS = [(re.compile(pattern, re.IGNORECASE if "What" not in pattern else 0), instead) for pattern, instead in FORMS]
_FENCE = re.compile(r"\s*(?:>\s*)?(```|~~~|:::)")


def group_of(name):
    """Returns the group of a file of the project, or None."""
    if LEFT_OUT.search(name):
        return None
    return next((group for group, pattern in GROUPS if re.match(pattern, name)), None)


def plain(text):
    """Returns Markdown as words: code is one word, and a link is its text."""
    text = re.sub(r"<!--.*?-->", " ", text)
    text = re.sub(r"`+[^`]+`+", "CODE", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", " ", text)
    text = re.sub(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", text)
    text = re.sub(r"https?://\S+", "LINK", text)
    # Not the text of a link, which links may be nested in.
    return re.sub(r"[*_]{1,2}(?=\w)|(?<=[\w.!?])[*_]{1,2}", "", text)


def blocks(lines):
    """Yields (line number, text) of each paragraph, list item and table cell of Markdown lines, given as (number, line)."""
    fenced, number, held = None, None, []

    def end():
        nonlocal held
        if held:
            yield number, " ".join(held)
        held = []

    for place, line in lines:
        if found := _FENCE.match(line):
            yield from end()
            fenced = None if fenced == found[1] else fenced or found[1]
            continue
        if fenced == "```" or fenced == "~~~":
            continue
        text = line.strip()
        if not text or text.startswith("#") or re.match(r"[-|: ]+$", text) or line.startswith("    ") and not held:
            yield from end()
        elif text.startswith("|"):
            yield from end()
            for cell in re.split(r"(?<!\\)\|", text.strip("|")):
                if cell.strip():
                    yield place, cell.strip()
        else:
            if re.match(r"([-*+]|\d+\.|>|:) ", text):
                yield from end()
            if not held:
                number = place
            held.append(re.sub(r"^([-*+]|\d+\.|>|:)\s+", "", text))
    yield from end()


def markdown(text):
    return blocks(enumerate(text.split("\n"), start=1))


def rust(text):
    """Yields the documentation comments of a Rust file."""
    lines = []
    for number, line in enumerate(text.split("\n"), start=1):
        found = re.match(r"\s*(?:///|//!)(?: (.*)|$)", line)
        words = (found[1] or "") if found else ""
        # Docstrings of the Python package that are written in Rust have parameters in numpydoc's form.
        lines.append((number, "" if re.match(r"\w+ : ", words) else words))
    return blocks(lines)


def _indent(line):
    return len(line) - len(line.lstrip())


def python(text):
    """Yields the docstrings of a Python file, without their examples and numpydoc's terms; cells of tables are separate blocks."""
    lines = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                examples = False
                said = first.value.value.split("\n")
                for offset, (line, next_line) in enumerate(zip(said, [*said[1:], ""])):
                    examples = (examples or line.strip().startswith(">>>")) and bool(line.strip())
                    # Terms of numpydoc, with or without a type, are indented less than their description.
                    is_term = offset > 0 and next_line.strip() and _indent(next_line) > _indent(line)
                    if examples or is_term or re.match(r"\s*([-=]{3,}|[\w*, ]+ : )", line):
                        lines.append((first.lineno + offset, ""))
                        continue
                    cells = re.split(r"(?<=\S) {2,}(?=\S)", re.sub(r":\w+:(?=`)", "", line.strip()).replace("``", "`"))
                    for cell in cells:
                        lines += [(first.lineno + offset, cell)] if len(cells) == 1 else [(first.lineno + offset, cell), (first.lineno + offset, "")]
                lines.append((first.end_lineno, ""))
    return blocks(lines)


READERS = {".md": markdown, ".rs": rust, ".py": python}


def sentences(text):
    return [part for part in re.split(r"(?<=[.!?])[\"')]*\s+(?=[A-Z\"'(`])", plain(text)) if part.strip()]


def words(sentence):
    return re.findall(r"[\w'’-]*[A-Za-z][\w'’-]*|\d[\d.,]*", sentence)


def findings(name, text, longest=LONGEST):
    """Yields (line number, kind, text, what to write instead); kind is "form" or "long"."""
    for number, block in READERS[Path(name).suffix](text):
        shown = plain(block)
        for pattern, instead in _FORMS:
            for found in pattern.finditer(shown):
                yield number, "form", found[0].strip(" .;|")[:70], instead
        for sentence in sentences(block):
            if (count := len(words(sentence))) > longest:
                yield number, "long", f"{count} words: {sentence[:60]}…", f"one idea a sentence, at most {longest} words"


def files(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.rs", "*.py"], cwd=root, capture_output=True, text=True, check=True,
    ).stdout.split("\n")
    return [(name, group) for name in listed if (group := group_of(name)) and (root / name).is_file()]


def counted(root):
    """Returns how many findings of each kind every group has."""
    counts = {group: {"form": 0, "long": 0} for group, _ in GROUPS}
    for name, group in files(root):
        for _, kind, _, _ in findings(name, (root / name).read_text(encoding="utf-8"), LONGEST_OF_GROUP.get(group, LONGEST)):
            counts[group][kind] += 1
    return counts


def lowest(count, recorded):
    """Returns the number to record for this many findings; it never exceeds `recorded`."""
    allowed = math.ceil(count * HEADROOM)
    return allowed if recorded is None else min(allowed, recorded)


def judged(counts, record):
    """Returns (faults, groups that may be recorded lower)."""
    faults, lower = [], []
    names = {"form": "words and forms that do not pass", "long": "long sentences"}
    for group, found in counts.items():
        for kind, count in found.items():
            allowed = record.get(group, {}).get(kind, 0)
            if count > allowed:
                faults.append(f"prose: {group}: {count:,} {names[kind]}, {allowed:,} are recorded: see `python3 tools/prose.py --list {group}`")
            elif lowest(count, allowed) < allowed:
                lower.append(group)
    return faults, sorted(set(lower))


def listed(root, chosen):
    total = 0
    for name, group in files(root):
        if group in chosen or name in chosen:
            for number, kind, found, instead in findings(name, (root / name).read_text(encoding="utf-8"), LONGEST_OF_GROUP.get(group, LONGEST)):
                print(f"{name}, line {number}: {kind}: \"{found}\": {instead}")
                total += 1
    print(f"prose: {total:,} findings")


def sampled(root, count, seed):
    """Draws this many sentences, each with the same probability, from all texts: lines with file, line and sentence."""
    found = [
        f"{name}, line {number}: {sentence}"
        for name, _ in files(root)
        for number, block in READERS[Path(name).suffix]((root / name).read_text(encoding="utf-8"))
        for sentence in sentences(block)
        if len(words(sentence)) > 2
    ]
    return random.Random(seed).sample(found, min(count, len(found)))


def main(arguments):
    if arguments[:1] == ["--list"]:
        listed(ROOT, arguments[1:] or [group for group, _ in GROUPS])
        return 0
    if arguments[:1] == ["--sample"]:
        count, seed = map(int, arguments[1:])
        print("\n".join(sampled(ROOT, count, seed)))
        return 0
    counts = counted(ROOT)
    path = ROOT / RECORD
    record = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    if arguments[:1] == ["--write"]:
        lowered = {group: {kind: lowest(count, record.get(group, {}).get(kind)) for kind, count in found.items()} for group, found in counts.items()}
        path.write_text(json.dumps(lowered, indent=1) + "\n", encoding="utf-8")
        record = lowered
    faults, lower = judged(counts, record)
    print("\n".join(faults) if faults else "prose: no more words, forms and long sentences than recorded")
    if lower:
        print(f"prose: fewer than recorded in {', '.join(lower)}: `python3 tools/prose.py --write` keeps it so")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
