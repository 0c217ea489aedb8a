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


if __name__ == "__main__":
    unittest.main()
