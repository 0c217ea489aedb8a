"""Tests of circles.py."""

import unittest

import circles


class Circles(unittest.TestCase):
    def test_a_tree_of_use_names_its_leaves(self):
        self.assertEqual(circles.leaves("crate::{a::{self, b}, c as d}"), ["crate::a::self", "crate::a::b", "crate::c"])

    def test_a_path_is_the_longest_module_that_it_begins_with(self):
        modules = {"plan", "plan::method", "exit"}
        self.assertEqual(circles.resolved("crate::plan::method::Plan", "exit", modules), "plan::method")
        self.assertEqual(circles.resolved("super::method::Plan", "plan::place", modules), "plan::method")
        self.assertEqual(circles.resolved("super::super::exit::Kind", "plan::method", modules), "exit")
        self.assertIsNone(circles.resolved("crate::Run", "exit", modules))

    def test_modules_that_reach_each_other_are_a_circle(self):
        sources = {
            "a": "use crate::b::B;\nfn f() { crate::d::g() }",
            "b": "use super::{c::C, d};",
            "c": "use crate::a::{self, A};",
            "d": "// crate::a\nfn g() {}",
        }
        self.assertEqual(circles.circles(circles.depends(sources)), [("a", "b", "c")])

    def test_what_only_tests_use_is_no_dependency(self):
        sources = {"a": "use crate::b::B;", "b": "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n"}
        self.assertEqual(circles.circles(circles.depends(sources)), [])


if __name__ == "__main__":
    unittest.main()
