"""Packs the lines and cities of the viewer's maps into `web/public/coast.json`: coasts, lakes, borders of countries and states.

Usage: coast.py FOLDER   the folder has the four files of FILES, and that of CITIES, as GeoJSON

Where the files are from, and their terms: `web/coast/SOURCE.md`. How they are packed is what `unpack` in `web/src/points/coast.ts` reads:

- Each kind of line is one text. Its numbers are for each line: how many points it has, then the steps east and north from point to point; the first
  point's steps are from the last one of the line before, or from 0, 0.
- A step is 1/GRID degree. A number is written as digits of five bits from the lowest, the last one without the sixth bit. Steps have their sign in the
  lowest bit. A digit is one character from `=` on: that needs no base64, and gzip finds that small numbers are frequent.
- Cities are two texts: their names, with `|` between them, and the steps from city to city. The most important come first, in groups of GROUP; in a group
  they follow each other along a curve through the map, so that steps are short.
"""

import gzip
import json
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "web" / "public" / "coast.json"
#: The kinds of lines, by the files that have them.
FILES = {
    "coast": ["ne_110m_coastline", "ne_110m_lakes"],
    "borders": ["ne_110m_admin_0_boundary_lines_land"],
    "states": ["ne_110m_admin_1_states_provinces_lines"],
}
CITIES = "ne_50m_populated_places_simple"
#: Of cities up to this rank of Natural Earth, which counts from 0, those are taken that have this many people or are capitals of countries.
RANK_MAX, PEOPLE_LEAST = 3, 60_000
#: Of the next rank, the cities of the USA are taken that are capitals of states, whose borders are drawn, or have this many people.
PEOPLE_OF_USA = 300_000
#: Corrections: names that have changed since, a misspelt name, and a name that is not in English.
RENAMED = {"Kiev": "Kyiv", "Rangoon": "Yangon", "Chittagong": "Chattogram", "Bangalore": "Bengaluru", "Shenyeng": "Shenyang", "København": "Copenhagen"}
#: The number of cities in a group of equal importance. Of two cities near each other, the page draws the one of the earlier group.
GROUP = 100
#: The number of steps in a degree, and the largest distance of a point from the simplified line, in degrees of latitude.
GRID = 20
TOLERANCE = 0.05
#: The character for the digit 0.
FIRST = ord("=")


def lines_of(geometry):
    """Returns all lines of a geometry, including the rings of an area."""
    kind, coordinates = geometry["type"], geometry["coordinates"]
    if kind == "LineString":
        return [coordinates]
    if kind in ("MultiLineString", "Polygon"):
        return coordinates
    if kind == "MultiPolygon":
        return [ring for area in coordinates for ring in area]
    raise ValueError(f"a {kind} is no line")


def without_cut(line):
    """Returns the parts of a line that are not cuts of the map along the date line or around the south pole."""

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
    """Simplifies a line by Douglas and Peucker's algorithm; a degree of longitude counts with its length at that latitude."""
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
    """Returns the text of some lines, and their number of points."""
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


def along(city, levels=6):
    """Returns the position of a city along Hilbert's curve through a map of four to the power of `levels` cells."""
    x, y = (min((1 << levels) - 1, int((value + half) / (2 * half) * (1 << levels))) for value, half in [(city["longitude"], 180), (city["latitude"], 90)])
    place = 0
    for level in reversed(range(levels)):
        side = 1 << level
        right, upper = bool(x & side), bool(y & side)
        place += side * side * ((3 * right) ^ upper)
        if not upper:
            if right:
                x, y = side - 1 - x % side, side - 1 - y % side
            x, y = y % side, x % side
        else:
            x, y = x % side, y % side
    return place


def chosen(features):
    """Returns the cities that are drawn, in order."""
    found = []
    for feature in features:
        about = feature["properties"]
        longitude, latitude = feature["geometry"]["coordinates"][:2]
        rank, people = about["scalerank"], about["pop_max"]
        is_capital = about["featurecla"] == "Admin-0 capital"
        is_of_usa = about["adm0_a3"] == "USA" and (about["featurecla"] == "Admin-1 capital" or people >= PEOPLE_OF_USA)
        if (rank <= RANK_MAX and (people >= PEOPLE_LEAST or is_capital)) or (rank <= RANK_MAX + 1 and is_of_usa):
            name = RENAMED.get(about["name"], about["name"])
            found.append({"name": name, "rank": rank, "people": people, "longitude": longitude, "latitude": latitude})
    found.sort(key=lambda city: (city["rank"], -city["people"], city["name"]))
    groups = [found[at : at + GROUP] for at in range(0, len(found), GROUP)]
    return [city for group in groups for city in sorted(group, key=along)]


def packed_cities(cities):
    """Returns the names of cities, and the steps from each to the next."""
    steps, here = "", (0, 0)
    for city in cities:
        place = (round(city["longitude"] * GRID), round(city["latitude"] * GRID))
        steps += digits(signed(place[0] - here[0])) + digits(signed(place[1] - here[1]))
        here = place
    return "|".join(city["name"] for city in cities), steps


def features_of(folder, name):
    return json.loads((folder / f"{name}.geojson").read_text("utf-8"))["features"]


def pack(folder):
    found = {"grid": GRID}
    for kind, names in FILES.items():
        features = [feature for name in names for feature in features_of(folder, name)]
        whole = [part for feature in features for line in lines_of(feature["geometry"]) for part in without_cut(line)]
        found[kind], count = packed(simplified(line, TOLERANCE) for line in whole)
        print(f"{kind}: {count} of {sum(map(len, whole))} points, {len(gzip.compress(found[kind].encode(), 9, mtime=0))} bytes compressed")
    cities = chosen(features_of(folder, CITIES))
    found["cities"], found["places"] = packed_cities(cities)
    print(f"cities: {len(cities)}, {len(gzip.compress((found['cities'] + found['places']).encode(), 9, mtime=0))} bytes compressed")
    return found


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    OUT.write_text(json.dumps(pack(Path(arguments[0])), separators=(",", ":"), ensure_ascii=False) + "\n", "utf-8")
    print(f"{OUT.relative_to(ROOT)}: {len(gzip.compress(OUT.read_bytes(), 9, mtime=0))} bytes compressed")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
