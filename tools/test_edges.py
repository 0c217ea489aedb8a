"""Tests each rule of edges.py, once kept and once broken."""

import tempfile
import unittest
from pathlib import Path

import edges
import gates
import links
import need
from rust_source import code_only, without_tests


class Source(unittest.TestCase):
    def test_comments_and_literals_are_blanked_in_place(self):
        text = 'let a = "unsafe"; // unsafe\nlet b = r#"x " unsafe"#; /* un /* safe */ unsafe */ let c = \'"\';\n'
        code = code_only(text)
        self.assertNotIn("unsafe", code)
        self.assertEqual(len(code), len(text))
        self.assertIn("let c =", code)

    def test_lifetimes_are_not_literals(self):
        self.assertIn("unsafe", code_only("fn f<'a>(x: &'a str) { unsafe { g(x) } } let q = 'a';"))

    def test_inline_test_modules_are_left_out_and_what_follows_is_not(self):
        code = without_tests("fn a() {}\n#[cfg(test)]\nmod tests {\n fn x() { unsafe {} }\n}\nunsafe fn b() {}\n")
        self.assertEqual(code.count("unsafe"), 1)
        self.assertEqual(code.count("\n"), 6)


class Doors(unittest.TestCase):
    DOORS = {"unsafe": ["crates/a/src/fast.rs"], "printing": ["crates/cli/src/output.rs"]}

    def test_a_line_behind_its_door_is_no_fault(self):
        self.assertEqual(edges.door_faults("crates/a/src/fast.rs", "unsafe { x() }", self.DOORS), [])

    def test_a_line_outside_its_door_is_named_with_file_and_line(self):
        faults = edges.door_faults("crates/a/src/slow.rs", "fn f() {\n    unsafe { x() }\n}\n", self.DOORS)
        self.assertEqual(len(faults), 1)
        self.assertIn("crates/a/src/slow.rs, line 2: `unsafe`", faults[0])

    def test_every_door_sees_what_it_guards(self):
        samples = {
            "unsafe": "unsafe fn f() {}",
            "std-sync": "use std::sync::{Arc, Mutex};",
            "orderings": "x.load(Ordering::Acquire)",
            "clock": "let t = Instant::now();",
            "threads": "std::thread::spawn(f);",
            "environment": "std::env::var(\"X\")",
            "printing": "println!(\"x\")",
        }
        self.assertEqual(set(samples), set(edges.DOORS))
        for door, sample in samples.items():
            faults = edges.door_faults("crates/a/src/x.rs", sample, {})
            self.assertTrue(any(f"`{door}`" in fault for fault in faults), door)

    def test_innocent_lines_pass(self):
        text = "use std::sync::Arc;\n#![forbid(unsafe_code)]\na.cmp(b) == Ordering::Less;\nfn print(x: u8) {}\n"
        text += "sync::thread::spawn(f);\nstd::thread::available_parallelism();\n"
        self.assertEqual(edges.door_faults("crates/a/src/x.rs", text, {}), [])

    def test_a_door_behind_which_nothing_stands_is_stale(self):
        sources = {"crates/a/src/lib.rs": "unsafe { x() }", "crates/b/src/lib.rs": "// unsafe"}
        self.assertEqual(edges.stale_doors({"unsafe": ["crates/a/src/*.rs"]}, sources), [])
        self.assertIn("matches no source file", edges.stale_doors({"unsafe": ["crates/gone/src/*.rs"]}, sources)[0])
        self.assertIn("where there is none", edges.stale_doors({"unsafe": ["crates/b/src/lib.rs"]}, sources)[0])

    def test_an_unknown_door_is_refused(self):
        with self.assertRaises(ValueError):
            edges.parse_doors(["window: crates/a/src/lib.rs"])


class Edges(unittest.TestCase):
    def metadata(self, folder, dependency):
        for name in ("a", "b"):
            (folder / "crates" / name).mkdir(parents=True, exist_ok=True)
        (folder / "crates/a/Cargo.toml").write_text(f'[dependencies]\n{dependency} = "1"\n')
        (folder / "crates/b/Cargo.toml").write_text("")
        package = lambda name, wants: {
            "name": f"lehr-{name}",
            "manifest_path": str(folder / "crates" / name / "Cargo.toml"),
            "dependencies": [{"name": want} for want in wants],
        }
        return {"workspace_root": str(folder), "packages": [package("a", [dependency]), package("b", [])]}

    def test_allowed_and_foreign_dependencies_pass_and_others_do_not(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            ours = self.metadata(folder, "lehr-b")
            self.assertEqual(edges.edge_faults(ours, {"a": {"b"}, "b": set()}), [])
            faults = edges.edge_faults(ours, {"a": set(), "b": set()})
            self.assertEqual(faults, ["crates/a/Cargo.toml, line 2: `a` may not depend on `b` (edges block of ARCHITECTURE.md)"])
            self.assertEqual(edges.edge_faults(self.metadata(folder, "serde"), {"a": set(), "b": set()}), [])

    def test_a_crate_without_a_line_is_a_fault(self):
        with tempfile.TemporaryDirectory() as name:
            faults = edges.edge_faults(self.metadata(Path(name), "serde"), {"a": set()})
            self.assertEqual(len(faults), 1)
            self.assertIn("`b` has no line", faults[0])

    def test_blocks_are_read_with_comments_dropped(self):
        page = "text\n```edges\na -> b c  # why\n\nb -> .\n```\n"
        self.assertEqual(edges.parse_edges(edges.block(page, "edges")), {"a": {"b", "c"}, "b": set()})
        self.assertIsNone(edges.block(page, "doors"))


class Pages(unittest.TestCase):
    def test_machine_paths_are_found_and_addresses_are_not(self):
        bad = "see /" + "home/somebody/x"
        self.assertEqual(len(edges.machine_path_faults("a.md", f"fine\n{bad}\n")), 1)
        self.assertIn("line 2", edges.machine_path_faults("a.md", f"fine\n{bad}\n")[0])
        self.assertEqual(edges.machine_path_faults("a.md", "https://example.org/" + "home/page and a/" + "root/b"), [])

    def test_every_design_page_must_be_linked(self):
        self.assertEqual(edges.unlinked_pages("[x](docs/design/x.md)", ["docs/design/x.md"]), [])
        self.assertEqual(len(edges.unlinked_pages("", ["docs/design/x.md"])), 1)

    def test_crates_must_say_that_they_forbid_unsafe(self):
        with tempfile.TemporaryDirectory() as name:
            source = Path(name) / "crates/a/src"
            source.mkdir(parents=True)
            (source / "lib.rs").write_text("//! #![forbid(unsafe_code)] in a comment does not count\n")
            self.assertEqual(len(edges.forbid_faults(Path(name), ["a"])), 1)
            (source / "lib.rs").write_text("#![forbid(unsafe_code)]\n")
            self.assertEqual(edges.forbid_faults(Path(name), ["a"]), [])

    def test_dead_links_and_paths_are_named_with_their_line(self):
        with tempfile.TemporaryDirectory() as name:
            page = Path(name) / "page.md"
            page.write_text("[a](page.md) [b](https://example.org)\n[c](gone.md)\n`crates/no/such.rs`\n`crates/no/x.rs` planned\n")
            self.assertEqual([line for line, _ in links.faults(Path(name), page)], [2, 3])


class Gates(unittest.TestCase):
    def test_test_counts_are_read_from_output(self):
        self.assertEqual(gates.count_tests("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured"), (12, 0, 1))
        self.assertEqual(gates.count_tests("Ran 7 tests in 0.1s"), (7, 0, 0))
        self.assertEqual(gates.count_tests("running 3 tests"), (0, 0, 0))

    def test_the_summary_names_the_failed_gate_and_those_not_run(self):
        text = "\n".join(gates.summary(["a", "b", "c"], [(0, 1.0, (3, 0, 0), []), (2, 1.0, (1, 1, 0), [])]))
        self.assertIn("FAILED at b", text)
        self.assertIn("c            not run", text)
        good = gates.summary(["a"], [(0, 1.0, (3, 0, 0), [])])
        self.assertIn("all 1 gates passed, 3 tests", good[-1])


class Need(unittest.TestCase):
    def test_versions_are_compared_as_numbers(self):
        self.assertEqual(need.parse_version("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), (1, 95, 0))
        self.assertEqual(need.required_rust('rust-version = "1.89"'), (1, 89, 0))
        self.assertLess(need.parse_version("1.9.0"), need.parse_version("1.10.0"))


if __name__ == "__main__":
    unittest.main()
