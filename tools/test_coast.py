import unittest

import coast


class Coast(unittest.TestCase):
    def test_a_number_is_digits_of_five_bits_from_the_lowest(self):
        self.assertEqual([coast.digits(number) for number in [0, 31, 32, 1057]], ["=", "\\", "]>", "^^>"])
        self.assertEqual([coast.signed(step) for step in [0, -1, 1, -2, 2]], [0, 1, 2, 3, 4])

    def test_lines_follow_each_other_by_steps_and_points_that_are_one_are_not_told_twice(self):
        text, count = coast.packed([[(0.1, 0.1), (0.11, 0.1), (0.2, 0.0)], [(0.2, 0.0), (0.2, 0.01)], [(0, 0), (-0.05, 0)]])
        # 2 points: 2 and 2 steps, then 2 and -2; the second line is one point and goes; 2 points: -4 and 0, then -1 and 0.
        self.assertEqual((text, count), ("".join(chr(coast.FIRST + digit) for digit in [2, 4, 4, 4, 3, 2, 7, 0, 1, 0]), 4))

    def test_points_that_say_nothing_are_left_out(self):
        bend = [(0, 0), (1, 0.01), (2, 0), (3, 1), (4, 2)]
        self.assertEqual(coast.simplified(bend, 0.05), [(0, 0), (2, 0), (4, 2)])
        self.assertEqual(coast.simplified(bend, 0.001), [(0, 0), (1, 0.01), (2, 0), (4, 2)])
        # Near the pole a degree of longitude is short.
        self.assertEqual(coast.simplified([(0, 89.5), (1, 89.7), (0, 89.9)], 0.05), [(0, 89.5), (0, 89.9)])
        ring = [(0, 0), (1, 0), (1, 1), (0, 0)]
        self.assertEqual(coast.simplified(ring, 0.05), ring)

    def test_cuts_of_the_map_are_no_coast(self):
        antarctica = [(170, -80), (180, -84), (180, -90), (-180, -90), (-180, -84), (-170, -80)]
        self.assertEqual(coast.without_cut(antarctica), [[(170, -80), (180, -84)], [(-180, -84), (-170, -80)]])

    def test_lines_and_rings_of_all_kinds_of_geometry(self):
        ring = [[0, 0], [1, 0], [0, 0]]
        for kind, coordinates, count in [("LineString", ring, 1), ("MultiLineString", [ring, ring], 2), ("Polygon", [ring], 1), ("MultiPolygon", [[ring], [ring, ring]], 3)]:
            self.assertEqual(coast.lines_of({"type": kind, "coordinates": coordinates}), [ring] * count, kind)
        with self.assertRaises(ValueError):
            coast.lines_of({"type": "Point", "coordinates": [0, 0]})

    def test_cities_are_chosen_by_rank_people_and_what_they_are_capitals_of(self):
        def city(name, rank, people, kind="Populated place", of="CHE"):
            about = {"name": name, "scalerank": rank, "pop_max": people, "featurecla": kind, "adm0_a3": of}
            return {"properties": about, "geometry": {"coordinates": [0.0, 0.0]}}

        features = [
            city("Hamlet", 3, 900), city("Small capital", 3, 900, "Admin-0 capital"), city("Town", 4, 900_000), city("Kiev", 1, 2_000_000), city("State", 4, 9000, "Admin-1 capital", "USA"),
            city("Of a state", 4, 400_000, of="USA"), city("Small", 4, 9000, of="USA"), city("Far", 6, 9000, "Admin-1 capital", "USA"), city("Large", 0, 9_000_000),
        ]
        self.assertEqual({found["name"] for found in coast.chosen(features)}, {"Small capital", "Kyiv", "State", "Of a state", "Large"})

    def test_more_important_cities_are_in_earlier_groups_and_neighbours_follow_each_other(self):
        features = [
            {"properties": {"name": str(at), "scalerank": at % 2, "pop_max": 100_000, "featurecla": "", "adm0_a3": ""}, "geometry": {"coordinates": [(-1) ** (at // 2) * 90.0, 45.0]}}
            for at in range(2 * coast.GROUP)
        ]
        found = coast.chosen(features)
        self.assertEqual({city["rank"] for city in found[: coast.GROUP]}, {0})
        self.assertEqual([city["longitude"] for city in found[: coast.GROUP]], [-90.0] * (coast.GROUP // 2) + [90.0] * (coast.GROUP // 2))
        # Successive cells along the curve are neighbours.
        cells = sorted(((x, y) for x in range(8) for y in range(8)), key=lambda cell: coast.along({"longitude": cell[0] * 45 - 179, "latitude": cell[1] * 22.5 - 89}, 3))
        self.assertTrue(all(abs(a - c) + abs(b - d) == 1 for (a, b), (c, d) in zip(cells, cells[1:])))

    def test_cities_are_names_and_steps(self):
        cities = [{"name": "A", "longitude": 0.1, "latitude": -0.05}, {"name": "B", "longitude": 0.1, "latitude": 0.0}]
        self.assertEqual(coast.packed_cities(cities), ("A|B", "".join(chr(coast.FIRST + digit) for digit in [4, 1, 0, 2])))


if __name__ == "__main__":
    unittest.main()
