"""Packs the coast, lakes, borders of countries and of states behind the viewer's maps into `web/public/coast.json`.

Usage: coast.py FOLDER   the folder has the four files of FILES, as GeoJSON

Where the files are from, and their terms: `web/coast/SOURCE.md`. How they are packed is what `unpack` in `web/src/points/coast.ts` reads:

- Each kind of line is one text. Its numbers are for each line: how many points it has, then the steps east and north from point to point; the first
  point's steps are from the last one of the line before, or from 0, 0.
- A step is 1/GRID degree. A number is written as digits of five bits from the lowest, the last one without the sixth bit. Steps have their sign in the
  lowest bit. A digit is one character from `=` on: that needs no base64, and gzip finds that small numbers are frequent.
"""

import gzip
import json
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "web" / "public" / "coast.json"
#: The kinds of lines by the files that have them.
FILES = {
    "coast": ["ne_110m_coastline", "ne_110m_lakes"],
    "borders": ["ne_110m_admin_0_boundary_lines_land"],
    "states": ["ne_110m_admin_1_states_provinces_lines"],
}
#: Steps for a degree, and how far a point may lie from the line without it, in degrees of latitude.
GRID = 20
TOLERANCE = 0.05
#: The character of the digit 0.
FIRST = ord("=")


def lines_of(geometry):
    """All lines of a geometry: the rings of an area too."""
    kind, coordinates = geometry["type"], geometry["coordinates"]
    if kind == "LineString":
        return [coordinates]
    if kind in ("MultiLineString", "Polygon"):
        return coordinates
    if kind == "MultiPolygon":
        return [ring for area in coordinates for ring in area]
    raise ValueError(f"a {kind} is no line")


def without_cut(line):
    """The parts of a line that are no cut of the map: along the date line and around the south pole."""

    def is_cut(a, b):
        return (abs(a[0]) > 179.99 and abs(b[0]) > 179.99) or (a[1] < -89.99 or b[1] < -89.99)

    parts = [[line[0]]]
    for before, point in zip(line, line[1:]):
        if is_cut(before, point):
            parts.append([point])
        else:
            parts[-1].append(point)
    return [part for part in parts if len(part) > 1]


def simplified(line, tolerance):
    """Douglas and Peucker's points of a line; degrees of longitude count as long as they are there."""
    narrowing = math.cos(math.radians(sum(point[1] for point in line) / len(line)))
    flat = [(x * narrowing, y) for x, y, *_ in line]

    def apart(at, first, last):
        (x, y), (ax, ay), (bx, by) = flat[at], flat[first], flat[last]
        dx, dy = bx - ax, by - ay
        length = dx * dx + dy * dy
        along = min(1.0, max(0.0, ((x - ax) * dx + (y - ay) * dy) / length)) if length > 0 else 0.0
        return math.hypot(x - ax - along * dx, y - ay - along * dy)

    kept = {0, len(line) - 1}
    stretches = [(0, len(line) - 1)]
    while stretches:
        first, last = stretches.pop()
        if last - first < 2:
            continue
        far = max(range(first + 1, last), key=lambda at: apart(at, first, last))
        if apart(far, first, last) > tolerance:
            kept.add(far)
            stretches += [(first, far), (far, last)]
    return [line[at] for at in sorted(kept)]


def digits(number):
    text = ""
    while number >= 32:
        text += chr(FIRST + 32 + number % 32)
        number //= 32
    return text + chr(FIRST + number)


def signed(step):
    return 2 * step if step >= 0 else -2 * step - 1


def packed(lines):
    """The text of some lines, and how many points it has."""
    text, here, count = "", (0, 0), 0
    for line in lines:
        places = []
        for x, y, *_ in line:
            place = (round(x * GRID), round(y * GRID))
            if not places or places[-1] != place:
                places.append(place)
        if len(places) < 2:
            continue
        text += digits(len(places))
        for place in places:
            text += digits(signed(place[0] - here[0])) + digits(signed(place[1] - here[1]))
            here = place
        count += len(places)
    return text, count


def pack(folder):
    found = {"grid": GRID}
    for kind, names in FILES.items():
        features = [feature for name in names for feature in json.loads((folder / f"{name}.geojson").read_text("utf-8"))["features"]]
        whole = [part for feature in features for line in lines_of(feature["geometry"]) for part in without_cut(line)]
        found[kind], count = packed(simplified(line, TOLERANCE) for line in whole)
        print(f"{kind}: {count} of {sum(map(len, whole))} points, {len(gzip.compress(found[kind].encode(), 9, mtime=0))} bytes compressed")
    return found


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    OUT.write_text(json.dumps(pack(Path(arguments[0])), separators=(",", ":")) + "\n", "ascii")
    print(f"{OUT.relative_to(ROOT)}: {len(gzip.compress(OUT.read_bytes(), 9, mtime=0))} bytes compressed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
