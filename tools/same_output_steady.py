"""Removes from an output the parts that differ between two runs of one program: times, versions, and other parts that depend on the moment.

Keeps the names beside the times, so a new, missing or renamed phase is a difference. Keeps the spelling of numbers and
the order of keys, since nothing is parsed and written again. Each rule has its reason.
"""

import json
import re

DECODER = json.JSONDecoder()
# A time as the command prints it: "0.062 s", "2 min 05 s", "1 h 20 min".
DURATION = r"(?:\d+ h \d\d min|\d+ min \d\d s|\d[\d.]* s)"
# A number that is a value of JSON.
NUMBER = re.compile(r"(?<![^:\[,\s])-?\d[\w.+-]*(?=[,\s\]}]|$)")

# The kinds of JSON documents: a text that only this kind has, and the keys whose values depend on the moment.
DOCUMENTS = (
    # summary.json, and the output of --json: the time of each phase, and the version of the program.
    (re.compile(r'"program": ?"lehr"'), ("seconds", "version")),
    # model.json: the version of the program.
    (re.compile(r'"kind": ?"lehr model"'), ("version",)),
    # A run of a workflow, as `lehr run --json` prints it, and the documents in its folder. Times by the clock, a key and a token drawn
    # for each run, and the last report of progress that a job happened to give.
    (
        re.compile(r'"definition": ?"|\{"lehr_state"'),
        ("elapsed_ms", "started_ms", "ended_ms", "queued_unix_ms", "started_unix_ms", "ended_unix_ms", "key", "token", "progress"),
    ),
)
# A run that resumed a checkpoint reports only the phases after it, so its phases depend on where it was stopped.
RESUMED = re.compile(r'"resumed": ?true')
RESUMED_PAGE = re.compile(r"<dt>Resumed</dt>")
PHASES_OF_PAGE = (re.compile(r'<div class="phasebar".*?</ul>|<table class="timers">.*?</table>', re.DOTALL), "")
# The first line of a service's document has a checksum over the second, which includes times.
STATE_CHECKSUM = (re.compile(r'(?<=^\{"lehr_state")([^\n]*"checksum":)"\w+"'), r"\1")
# Ranks run side by side, so the order of events and the number of waits of a rank differ. The names of events are compared.
TRACE = re.compile(r'\{"displayTimeUnit"')
TRACE_TIMES = re.compile(r'"(?:ts|dur)":[\d.]+')

PAGE = (
    # The version, in the head and in the foot.
    (re.compile(r'(<meta name="generator" content="lehr )[^"]*'), r"\1"),
    (re.compile(r"(<footer>(?:Made by )?lehr )\d+\.\d+\.\w+"), r"\1"),
    # The tile with the time of the run.
    (re.compile(rf'(<dt>Time</dt><dd class="big">){DURATION}'), r"\1"),
    # The bar of phases, and their times below it.
    (re.compile(r'(<span style="--mix:\d+%;flex:)[\d.]+'), r"\1"),
    (re.compile(rf"(<li><i style=\"--mix:\d+%\"></i>[^<]* <b>){DURATION}"), r"\1"),
    # The table of ranks: the times of each timer, and the slowest rank.
    (re.compile(rf"(<td>{DURATION}</td>){{3}}<td>rank \d+</td>"), ""),
    # The table of stages: the time of each, and its share.
    (re.compile(rf"<td>{DURATION}</td><td>[\d.]+ %</td>(?=</tr>)"), ""),
)

TEXT = (
    # The duration at the end of a run.
    (re.compile(rf"(?<= after ){DURATION}(?=[,\n])"), ""),
    # The time of each stage of a demonstration.
    (re.compile(rf"^(?:[a-z ]+ {DURATION}(?:, |$))+$", re.MULTILINE), lambda found: re.sub(DURATION, "", found.group())),
    # The ports of two nodes, which the system chooses.
    (re.compile(r"(?<= at http://127\.0\.0\.1:)\d+(?=[,\n])"), ""),
    # The answer to --version.
    (re.compile(r"^lehr \d+\.\d+\.\S+$", re.MULTILINE), "lehr"),
    # Progress depends on the clock: how far a run, a sample or a stream is, and what a workflow does.
    (re.compile(r"^ {0,2}\d{1,3} %, .*\n", re.MULTILINE), ""),
    (re.compile(r"^(?:sample: |streaming, ).*\n", re.MULTILINE), ""),
    (re.compile(r"^\S+: (?:begun|job \S+|done after .*|\d+ %, .*)\n", re.MULTILINE), ""),
)


def steady(name, content):
    """Returns the steady part of a file, or of printed output. `name` is the file's name; the name of printed output has no ending."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    if name.endswith(".html"):
        rules = (PHASES_OF_PAGE, *PAGE) if RESUMED_PAGE.search(text) else PAGE
        return substituted(text, rules).encode("utf-8")
    if text.startswith("{"):
        return steady_document(text).encode("utf-8")
    # Tables have no times, so they are compared unchanged.
    return content if "." in name else substituted(text, TEXT).encode("utf-8")


def steady_document(text):
    """Returns a JSON document without its volatile values."""
    if TRACE.match(text):
        events = {TRACE_TIMES.sub("", line).rstrip(",") for line in text.splitlines()}
        return "".join(f"{event}\n" for event in sorted(events))
    for mark, keys in DOCUMENTS:
        if mark.search(text):
            return blanked(substituted(text, (STATE_CHECKSUM,)), keys, is_resumed=bool(RESUMED.search(text)))
    return text


def substituted(text, rules):
    """Returns a text after each rule, a pattern and its replacement, was applied."""
    for pattern, replacement in rules:
        text = pattern.sub(replacement, text)
    return text


def blanked(text, keys, is_resumed):
    """Returns JSON without the values of these keys, at any depth. Of `seconds`, only the numbers are removed, unless the run was resumed."""
    pieces, place = [], 0
    # A quote within a text of JSON follows a backslash.
    for found in re.finditer(r'(?<!\\)"(\w+)"\s*:\s*', text):
        if found.group(1) not in keys or found.start() < place:
            continue
        _, end = DECODER.raw_decode(text, found.end())
        pieces.append(text[place : found.end()])
        if found.group(1) == "seconds" and not is_resumed:
            pieces.append(NUMBER.sub("", text[found.end() : end]))
        place = end
    return "".join([*pieces, text[place:]])
