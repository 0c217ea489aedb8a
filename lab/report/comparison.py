"""Compares cells of a record of `lehr lab`: Lehr beside the holder, the best peer and the floor, who is faster, and the reason if Lehr is slower.

A cell is a case on one core or on all of them. A ratio is our median divided by theirs: below 1, Lehr is faster. Standard library only.
"""

import re
from dataclasses import dataclass

# Ratios in this range count as level, because two measurements of the same side differ by as much.
LEVEL = (0.95, 1.05)

ABSENT = "·"


def digits(value):
    size = abs(value)
    return f"{value:.0f}" if size >= 1000 else f"{value:.1f}" if size >= 100 else f"{value:.2f}" if size >= 1 else f"{value:.3f}"


def spread(figure):
    """Formats the median, and the minimum to the maximum."""
    return f"**{digits(figure['median'])}** ({digits(figure['min'])} to {digits(figure['max'])})"


def is_ours(figure):
    return figure["engine"].startswith("lehr")


def is_floor(figure):
    return figure["engine"].startswith("floor")


def has_one_core(figure):
    return figure.get("workers") == 1


def ratio(ours, theirs):
    """Returns our figure divided by theirs; None if an overhead is not above zero, since a ratio has no meaning then."""
    if ours is None or theirs is None or ours <= 0 or theirs <= 0:
        return None
    return ours / theirs


def ratio_of(ours, other):
    """Returns the ratio of the medians of two figures; None if an overhead cannot be distinguished from zero, because it is a small difference of two long times."""
    if other is None or ours["min"] <= 0 or other["min"] <= 0:
        return None
    return ratio(ours["median"], other["median"])


def shown(value, form="{:.2f}"):
    return ABSENT if value is None else form.format(value)


def best(figures):
    return min(figures, key=lambda figure: figure["median"], default=None)


def verdict(value):
    """Returns ahead, level or behind; None if nothing can be compared."""
    if value is None:
        return None
    return "ahead" if value < LEVEL[0] else "level" if value <= LEVEL[1] else "behind"


@dataclass
class Cell:
    """A case on one core or on all cores, with the best figure of each side."""

    experiment: str
    case: str
    one_core: bool
    ours: dict
    peer: dict | None
    floor: dict | None
    holder: dict | None

    @property
    def name(self):
        return f"{self.experiment} {self.case}, {'one core' if self.one_core else 'all cores'}"

    @property
    def units(self):
        found = re.search(r", (\d+) units", self.case)
        return int(found.group(1)) if found else 0

    @property
    def to_peer(self):
        return self.ratio_to(self.peer)

    @property
    def least_to_peer(self):
        """Returns the ratio of the minima of both sides, which depends less on how busy the machine was."""
        return ratio(self.ours["min"], self.peer and self.peer["min"])

    @property
    def to_floor(self):
        return self.ratio_to(self.floor)

    def ratio_to(self, other):
        return ratio_of(self.ours, other)

    @property
    def to_holder(self):
        """Returns the ratio to the holder at the place of most samples: near with near, far with far; for any place if the holder's two figures are equal."""
        if self.holder is None:
            return None
        placed = [(self.ours.get(place) or {}) | {"place": place} for place in ("near", "far")]
        placed = [one for one in placed if "median" in one]
        if placed:
            most = max(placed, key=lambda one: one["runs"])
            return ratio(most["median"], self.holder[most["place"]])
        return ratio(self.ours["median"], self.holder["near"]) if self.holder["near"] == self.holder["far"] else None

    @property
    def worst(self):
        """Returns the ratio in which the cell is slowest; None if it is slower than nobody."""
        behind = [value for value in (self.to_holder, self.to_peer) if verdict(value) == "behind"]
        return max(behind, default=None)


def place_of_pattern(holder):
    """Returns the cell of a holder of the ports' patterns: experiment, case and whether it has one core."""
    return holder["form"], f"{holder['pattern']}, P = {holder['ranks']}, {holder['units']} units", holder["cores"] == 1


def cells(figures, holders, experiments, is_side=is_ours, place=place_of_pattern):
    """Returns a cell for each case and number of cores of our side, in the order of the record; `place` returns the cell of a holder."""
    found = []
    placed = {place(holder): holder for holder in reversed(holders)}
    names = dict.fromkeys((figure["experiment"], figure["case"]) for figure in figures if figure["experiment"] in experiments)
    for experiment, case in names:
        here = [figure for figure in figures if (figure["experiment"], figure["case"]) == (experiment, case)]
        for one_core in (True, False):
            side = [figure for figure in here if has_one_core(figure) == one_core]
            ours = best([figure for figure in side if is_side(figure)])
            if ours is None:
                continue
            peer = best([figure for figure in side if not is_ours(figure) and not is_floor(figure)])
            floor = best([figure for figure in side if is_floor(figure)])
            found.append(Cell(experiment, case, one_core, ours, peer, floor, placed.get((experiment, case, one_core))))
    return found


def reason_for(name, reasons):
    """Returns the first reason whose pattern matches the cell's name, marked if it is supposed and not measured."""
    for entry in reasons:
        if re.search(entry["cells"], name):
            return entry["reason"] + ("" if entry["shown"] == "measured" else " (supposed)")
    return "no reason known yet"


def table(heads, lines):
    """Yields the lines of a Markdown table; nothing if it has no line."""
    lines = list(lines)
    if not lines:
        return
    yield "| " + " | ".join(heads) + " |"
    yield "|" + " --- |" * len(heads)
    for line in lines:
        yield "| " + " | ".join(line) + " |"
    yield ""
