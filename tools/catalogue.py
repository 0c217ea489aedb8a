"""Checks that every behaviour of the runtime's catalogue has a test. A comment directly above each such test has the behaviour's number.

`// Catalogue: 38` or `// Catalogue: 38, 41` above `#[test]`, or above the fence of a documentation example that must not compile. docs/catalogue.md lists the tests of
each number; its `missing` block has the numbers without a test.

Usage: catalogue.py           check the page against the sources; one line a fault, exit code 1 if there is any
       catalogue.py --write   write the page again
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = "docs/catalogue.md"

# The folders with tests that carry numbers of this catalogue.
FOLDERS = ("crates/runtime", "crates/ranks", "crates/services", "crates/node")

# The promise of each number in a few words; the specification has the full sentence with given, when and then.
BEHAVIOURS = {
    1: "a port without a receiver keeps what is posted, in order",
    2: "a persistent receiver gets what waited; what it refuses stays in order",
    3: "of two receivers the first registered gets all; a fair port shares",
    4: "a refused item stays, and is not shown to the same receiver again",
    5: "one poster, one worker: handlers see the order of the posts",
    6: "eight posters: every item once, each poster's items ascending",
    7: "a full port rejects, drops the oldest, drops the newest, or waits",
    8: "a post that waits, dropped: nothing is posted, the item is dropped once",
    9: "a closed port gives out what it has, then says closed",
    10: "a port gives memory back after a burst",
    11: "one queue of a port set keeps the order across variants",
    12: "a steal between readiness and take leaves the waiter waiting",
    13: "a reply dropped unanswered is an answer",
    14: "a receive built and not awaited warns, and consumes nothing",
    15: "completion is signalled once, and says panicked or discarded",
    16: "waiting for many: none at once, n after the slowest",
    17: "of two ready joins one takes; no item is ever invisible",
    18: "registering branches while the ports are posted to: no deadlock",
    19: "a predicate that panics: the item stays, the error names the port",
    20: "a handler's limit is kept",
    21: "a receive dropped while it waits takes nothing",
    22: "a join leaves its items visible until it has all",
    23: "competing joins lose nothing and starve nobody beyond the bound",
    24: "a take of one fires once, with the first item",
    25: "a take of two fires once and leaves the rest",
    26: "a one-time join in an interleave fires once",
    27: "the same port twice in a join is an error that names it",
    28: "a join's handler sees the order of declaration",
    29: "counts per port in a join",
    30: "a gather is complete when it starts, and takes no item more",
    31: "a gather of nothing completes at once",
    32: "an exchange pairs by source and keeps the next stage's message",
    33: "a choice runs one branch; the others' items stay",
    34: "a biased choice prefers the first, a fair one lets all win",
    35: "a choice that times out leaves a half join's item in its place",
    36: "a choice leaves no registration behind",
    37: "a persistent branch in a choice does not compile",
    38: "an exclusive handler waits for the running and goes before the later",
    39: "exclusive branches run in order of arrival",
    40: "a concurrent item under exclusive load runs within the bound",
    41: "exclusivity is held across awaits",
    42: "a panic in an exclusive handler lets the next one run",
    43: "an exclusive handler that asks its own interleave is told so",
    44: "the limit of concurrent handlers is kept",
    45: "a teardown sends pending items back and runs alone",
    46: "of two teardown items one runs",
    47: "a post after the teardown is refused, and told",
    48: "combining at run time loses nothing and keeps exclusion",
    49: "spent one-time branches cost nothing",
    50: "load shedding answers what it removes",
    51: "a suspended handler holds no thread; a million fit",
    52: "a cancelled handler gives up what it holds",
    53: "a handler that fails is an error to who awaits it",
    54: "a nested failure shows both places",
    55: "a full queue drops the oldest or the newest, and says which",
    56: "a spawn that waits for a place is woken, and can be cancelled",
    57: "waiting for a place in one's own full queue freezes nothing",
    58: "a rate admits its burst, then its rate",
    59: "a suspended queue runs nothing, then all in order",
    60: "a closed queue runs or reports every task and takes no more",
    61: "a discarded task gives up the admission it holds",
    62: "a queue of one is served beside a queue of a million",
    63: "shares are kept, and strict ranks starve nobody beyond the bound",
    64: "the watchdog reports stuck workers",
    65: "the number of threads: default, refusals, all there at once",
    66: "timers fire in order and never early",
    67: "a timeout that loses leaves nothing behind",
    68: "a virtual clock with a scale takes no real time",
    69: "an error goes to the innermost sink, then outwards",
    70: "a sink that always fails makes no loop",
    71: "a join's error goes to each context once",
    72: "a recycled token carries no context along",
    73: "a resumed handler keeps its own context",
    74: "a deadline cancels the callee and tells the caller once",
    75: "a drain ends within its limit and counts each group",
    76: "after an abort no code runs and all destructors have run",
    77: "completion of a teardown means that its handler has returned",
    78: "rings of 2 to 64 ranks see every stage whole",
    79: "a panic in a parallel loop: the rest is cancelled or finished, as set",
    80: "all-reduce gives all ranks the same, on any number of threads",
    81: "what a service was sent or has given out is not changed by others",
    82: "another build's client is understood, or told the difference",
    83: "an old reference finds the next life, or is stale; a path is taken once",
    84: "insert, update, upsert and delete say what must be there",
    85: "a get beside a replace sees one whole state",
    86: "lookup and get need no handler",
    87: "an unknown verb or body is refused at once, and not queued",
    88: "one client's requests are admitted in its order, across verbs",
    89: "after a drop nothing is left of a service",
    90: "a deadline gives one fault, and the handler is cancelled",
    91: "sent again only with a key, and then done once",
    92: "the receiver of a handler is its group",
    93: "beyond the bound of a queue senders are told",
    94: "a handler that panics is a fault at once",
    95: "a fault keeps its chain over nodes, and its status is in the table",
    96: "a start that fails leaves nothing, and tells who waits",
    97: "a service that crashes again and again is left down",
    98: "a drop waits for what runs and refuses what waits",
    99: "each policy of partners binds what it says",
    100: "a missing partner fails the start after its patience; an optional one does not",
    101: "a circle of partners is refused, with the circle",
    102: "a partner that comes back is found again",
    103: "one state in each form, with a tag that writers ask for",
    104: "an unknown path is answered with what there is to see",
    105: "snapshot and changes have nothing between them",
    106: "filters by operation and key; bad patterns are refused",
    107: "a subscription ends after its count or time, and says so",
    108: "a subscriber that stops reading holds nobody up",
    109: "after a partition a subscriber gets a gap and the state anew",
    110: "who has gone is forgotten; a name is one subscriber",
    111: "the directory tells of comings and goings in order",
    112: "an unknown kind, a denied caller and a failing start are three faults",
    113: "two manifests with one record merge, or fail naming both",
    114: "a manifest that fails half-way says what started, or takes it back",
    115: "killed while it saves, a service finds the old state or the new",
    116: "a missing, corrupt or newer state file is each told apart",
    117: "over connections that break: in order, at most once, fates known",
    118: "a slow service holds up neither its neighbours nor memory",
    119: "malformed and oversized input is refused; the node goes on",
    120: "a question over two nodes is one trace",
    121: "a listener for others needs a policy or an explicit word",
    122: "deny beats allow; each verb is a right of its own",
    123: "a certificate without a grant opens nothing",
    124: "a wedged interleave is shown with its handler and its queue",
    125: "log filters change without a restart",
    126: "a shutdown ends by its limit and names who did not",
}

NUMBERED = re.compile(
    r"^[ \t]*// Catalogue: (?P<numbers>\d+(?:, \d+)*)[ \t]*\n"
    r"(?:(?:[ \t]*#\[(?!test\])[^\n]*\n)*[ \t]*#\[test\][ \t]*\n(?:[ \t]*#\[[^\n]*\n)*[ \t]*(?:async )?fn (?P<name>\w+)"
    r"|[ \t]*///[ \t]*```compile_fail)",
    re.MULTILINE,
)

MISSING = re.compile(r"^```missing\n(.*?)^```", re.MULTILINE | re.DOTALL)


def numbered_tests(path, text):
    """Returns (number, where) for each numbered test in one file; `where` is `file::test`, or the file for a documentation example."""
    found = []
    for match in NUMBERED.finditer(text):
        where = f"{path}::{match['name']}" if match["name"] else path
        found += [(int(number), where) for number in match["numbers"].split(", ")]
    return found


def by_number(sources):
    """Maps each number to the sorted places of its tests. `sources` maps path to text."""
    shown = {}
    for path, text in sorted(sources.items()):
        for number, where in numbered_tests(path, text):
            places = shown.setdefault(number, [])
            if where not in places:
                places.append(where)
    return shown


def missing_of(page):
    """Returns the numbers of the page's `missing` block; None if there is no block."""
    found = MISSING.search(page)
    return [int(number) for number in found.group(1).split()] if found else None


def table(shown):
    """Returns the page's table, a line for each number."""
    lines = ["| no. | behaviour | shown by |", "| ---: | --- | --- |"]
    for number, behaviour in BEHAVIOURS.items():
        places = ", ".join(f"`{where}`" for where in shown.get(number, []))
        lines.append(f"| {number} | {behaviour} | {places} |")
    return "\n".join(lines)


def page_of(shown):
    """Returns the whole page."""
    missing = [number for number in BEHAVIOURS if number not in shown]
    return (
        "# The catalogue of behaviours, and the tests that show them\n\n"
        "What runtime and services promise, numbered as in its specification. A test carries the numbers that it shows in a comment above it; this page is\n"
        "written from those comments by `tools/catalogue.py --write`, and `make edges` compares the two.\n\n"
        "Numbers that nothing shows yet:\n\n"
        f"```missing\n{' '.join(map(str, missing))}\n```\n\n" + table(shown) + "\n"
    )


def faults(page, shown):
    """Returns the faults of the page and of the tests."""
    found = []
    listed = missing_of(page)
    if listed is None:
        return [f"{PAGE}: lacks its block of missing numbers"]
    for number in BEHAVIOURS:
        if number not in shown and number not in listed:
            found.append(f"{PAGE}: nothing shows {number} ({BEHAVIOURS[number]})")
        if number in shown and number in listed:
            found.append(f"{PAGE}: {number} is listed as missing, and shown by {shown[number][0]}")
    for number in sorted(set(shown) - set(BEHAVIOURS)):
        found.append(f"{shown[number][0].split('::')[0]}: the catalogue has no number {number}")
    for number in sorted(set(listed) - set(BEHAVIOURS)):
        found.append(f"{PAGE}: lists {number} as missing, which the catalogue does not have")
    if not found and table(shown) not in page:
        found.append(f"{PAGE}: is not what the sources say; write it anew with tools/catalogue.py --write")
    return found


def sources():
    """Maps path to text, for every Rust file that may have numbered tests."""
    files = (file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.rs")))
    return {file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8") for file in files}


def main(arguments):
    shown = by_number(sources())
    if arguments == ["--write"]:
        (ROOT / PAGE).write_text(page_of(shown), encoding="utf-8")
        return 0
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    found = faults(page, shown)
    for fault in found:
        print(fault)
    if not found:
        missing = missing_of(page)
        rest = f", missing {', '.join(map(str, missing))}" if missing else ""
        print(f"catalogue: {len(BEHAVIOURS) - len(missing)} of {len(BEHAVIOURS)} behaviours have tests{rest}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
