"""Tests of same_output.py, same_output_steady.py and same_output_data.py."""

import contextlib
import io
import json
import shlex
import stat
import tempfile
import unittest
from functools import partial
from pathlib import Path
from unittest import mock

import same_output
import same_output_data
from same_output import Command, Run
from same_output_steady import steady

LABELS = "row,cluster,probability\n0,1,0.5\n1,0,1\n"
SUMMARY = """{
  "program": "lehr",
  "version": "0.1.0",
  "result": {
    "objective": 1.25,
    "iterations": 380
  },
  "seconds": {
    "total": 0.25,
    "phases": [
      {
        "phase": "reading",
        "seconds": 1e-3
      }
    ]
  }
}
"""
PAGE = """<meta name="generator" content="lehr 0.1.0">
<div><dt>Time</dt><dd class="big">4.53 s</dd><dd class="sub">2,879 iterations</dd></div>
<span style="--mix:100%;flex:0.0601"></span><li><i style="--mix:100%"></i>reading <b>0.272 s</b></li>
<tr><td>annealing</td><td>2.38 s</td><td>2.40 s</td><td>2 min 01 s</td><td>rank 0</td></tr>
<tr><td class="words">comparing</td><td>0.577 s</td><td>75.1 %</td></tr>
<tr><td>0</td><td>25,544</td><td>28.1 %</td></tr>
<footer>Made by lehr 0.1.0. This page is complete in itself and loads nothing.</footer>
"""


class Steady(unittest.TestCase):
    def same(self, name, before, after):
        return steady(name, before.encode()) == steady(name, after.encode())

    def test_of_a_summary_only_seconds_and_version_may_change(self):
        self.assertTrue(self.same("summary.json", SUMMARY, SUMMARY.replace("0.25", "17").replace("1e-3", "2.5").replace("0.1.0", "0.2.0")))
        changes = ("1.25", "1.26"), ("1.25", "1.250"), ("380", "381"), ("reading", "writing"), ('"total"', '"sum"'), ("  ", " ")
        for before, after in changes:
            self.assertFalse(self.same("summary.json", SUMMARY, SUMMARY.replace(before, after)), after)

    def test_of_a_run_that_was_resumed_phases_may_change_too(self):
        resumed = SUMMARY.replace('"result"', '"resumed": true,\n  "result"')
        self.assertTrue(self.same("summary.json", resumed, resumed.replace("reading", "writing")))
        self.assertFalse(self.same("summary.json", resumed, resumed.replace("1.25", "1.26")))
        phases = '<div class="phasebar"></div><ul class="phases"><li>reading</li></ul><table class="timers">a</table>'
        page = f"<dt>Resumed</dt>{phases}<p>1</p>"
        self.assertTrue(self.same("report.html", page, page.replace("reading", "writing").replace(">a<", ">b<")))
        self.assertFalse(self.same("report.html", page, page.replace("1", "2")))

    def test_a_summary_is_known_wherever_its_mark_stands_and_on_standard_output_too(self):
        one = '{"a": 1, "program": "lehr", "seconds": {"total": 1.5}}'
        self.assertTrue(self.same("stdout 1", one, one.replace("1.5", "2")))
        self.assertFalse(self.same("stdout 1", one, one.replace('"a": 1', '"a": 2')))
        # Another program's document has no known volatile keys.
        other = one.replace("lehr", "other")
        self.assertFalse(self.same("summary.json", other, other.replace("1.5", "2")))

    def test_keys_within_texts_are_no_keys(self):
        one = '{"program": "lehr", "about": "\\"seconds\\": 1", "seconds": 2}'
        self.assertTrue(self.same("summary.json", one, one.replace("2", "3")))
        self.assertFalse(self.same("summary.json", one, one.replace("1", "3")))

    def test_of_a_model_only_the_version_may_change(self):
        one = '{"kind":"lehr model","format":1,"version":"0.1.0","model":{"seconds":5,"centers":[1.5]}}\n'
        self.assertTrue(self.same("model.json", one, one.replace("0.1.0", "1.0.0")))
        for before, after in (("1.5", "1.6"), ("5,", "6,"), ("\n", "")):
            self.assertFalse(self.same("model.json", one, one.replace(before, after)), after)

    def test_of_the_document_of_a_service_times_and_drawn_keys_may_change(self):
        job = '{"key":"1f-1/a","progress":{"fraction":0.5},"times":{"started_unix_ms":7},"figures":{"cost":2}}'
        one = f'{{"lehr_state":1,"checksum":"ab"}}\n{job}'
        other = one.replace("ab", "cd").replace("1f", "2e").replace("0.5", "1").replace("7", "88")
        self.assertTrue(self.same("document.json", one, other))
        self.assertFalse(self.same("document.json", one, one.replace('"cost":2', '"cost":3')))

    def test_of_a_page_times_and_versions_may_change(self):
        later = PAGE.replace("0.1.0", "0.2.0").replace("4.53 s", "1 min 04 s").replace("0.0601", "0.5").replace("0.272 s", "2.0 s")
        later = later.replace("2.38 s", "1 h 02 min").replace("rank 0", "rank 1").replace("0.577 s", "12 s").replace("75.1 %", "3.0 %")
        self.assertTrue(self.same("report.html", PAGE, later))
        changes = ("2,879", "2,880"), ("25,544", "25,545"), ("28.1 %", "28.2 %"), ("annealing", "cooling"), ("reading", "writing")
        for before, after in changes:
            self.assertFalse(self.same("report.html", PAGE, PAGE.replace(before, after)), after)

    def test_of_what_is_printed_times_progress_and_ports_may_change(self):
        one = "note: at http://127.0.0.1:80\nread: begun\nread: done after 0.1 s\n  2 %, annealing\nlabels.csv in out after 2.30 s\n"
        other = "note: at http://127.0.0.1:99\n 65 %, hardening\nread: begun\nlabels.csv in out after 1 min 02 s\n"
        self.assertTrue(self.same("stderr 1", one, other))
        self.assertTrue(self.same("stdout 1", "reading 0.1 s, writing the tables 2 s\n", "reading 4 s, writing the tables 0.002 s\n"))
        for before, after in (("note", "warning"), ("labels", "places"), ("in out", "in other")):
            self.assertFalse(self.same("stderr 1", one, one.replace(before, after)), after)
        self.assertFalse(self.same("stdout 1", "150 rows in 3 clusters\n", "150 rows in 4 clusters\n"))

    def test_tables_and_arrays_are_compared_as_they_are(self):
        for content in (b"name\nin out after 2.30 s\n", b"\x93NUMPY\x01\x00\xff", b""):
            self.assertEqual(steady("labels.csv", content), content)

    def test_of_a_trace_the_names_of_events_count(self):
        one = '{"displayTimeUnit":"ns","traceEvents":[\n{"name":"wait","ts":1.5,"dur":2},\n{"name":"compute","ts":3,"dur":1}\n]}\n'
        other = '{"displayTimeUnit":"ns","traceEvents":[\n{"name":"compute","ts":4,"dur":1},\n{"name":"wait","ts":2,"dur":9}\n]}\n'
        self.assertTrue(self.same("trace.json", one, other))
        self.assertFalse(self.same("trace.json", one, one.replace("wait", "rest")))


class SameOutput(unittest.TestCase):
    """Tests same_output.py with scripts in place of the command, which write the expected files for any arguments."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        with mock.patch.object(same_output_data, "write", Path.mkdir):
            self.session = same_output.Session(self.folder)
        self.runs = [Run("one", (Command("cluster"),))]

    def binary(self, name, labels=LABELS, summary=SUMMARY, more=""):
        binary = self.folder / name
        lines = [f"printf %s {shlex.quote(text)} >{file}" for file, text in (("labels.csv", labels), ("summary.json", summary))]
        binary.write_text("\n".join(["#!/bin/sh", *lines, more, ""]))
        binary.chmod(binary.stat().st_mode | stat.S_IXUSR)
        return binary

    def told(self, function, *words):
        """Returns the result of a function, and its printed lines."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            answer = function(self.session, *words, self.runs)
        return answer, printed.getvalue()

    def compared(self, first, second):
        """Returns what both ways of comparison report about two binaries: whether they are the same, and the printed lines."""
        record, _ = self.told(same_output.record, first)
        record = json.loads(json.dumps(record))
        is_same, printed = self.told(partial(same_output.compare, before=record), second)
        again, shown = self.told(same_output.against, first, second)
        self.assertEqual(is_same, again)
        return is_same, printed, shown

    def test_the_same_bytes_are_the_same_and_other_seconds_too(self):
        first = self.binary("first")
        self.assertTrue(self.compared(first, first)[0])
        self.assertTrue(self.compared(first, self.binary("second", summary=SUMMARY.replace("0.25", "9.75")))[0])

    def test_another_number_in_a_table_is_found_and_shown(self):
        is_same, printed, shown = self.compared(self.binary("first"), self.binary("second", labels=LABELS.replace("0.5", "0.6")))
        self.assertFalse(is_same)
        self.assertIn("labels.csv: other bytes", printed)
        self.assertIn("-0,1,0.5\n", shown)
        self.assertIn("+0,1,0.6\n", shown)
        self.assertNotIn("summary.json", printed + shown)

    def test_another_number_in_a_summary_is_found(self):
        is_same, printed, shown = self.compared(self.binary("first"), self.binary("second", summary=SUMMARY.replace("1.25", "1.26")))
        self.assertFalse(is_same)
        self.assertIn("summary.json: other bytes", printed)
        self.assertIn('"objective": 1.26', shown)

    def test_files_that_come_or_go_are_found(self):
        is_same, printed, _ = self.compared(self.binary("first", more="touch gone"), self.binary("second", more="touch new"))
        self.assertFalse(is_same)
        self.assertIn("gone: only before\n", printed)
        self.assertIn("new: only now\n", printed)

    def test_another_report_and_another_exit_code_are_found(self):
        self.runs = [Run("one", (Command("cluster", exit=3),))]
        first = self.binary("first", more="echo error: no >&2; exit 3")
        is_same, printed, _ = self.compared(first, self.binary("second", more="echo error: yes >&2; exit 3"))
        self.assertFalse(is_same)
        self.assertIn("+error: yes", printed)
        is_same, printed, _ = self.compared(first, self.binary("third", more="echo error: no >&2; exit 4"))
        self.assertFalse(is_same)
        self.assertIn("command 1: exit code 4, was 3", printed)

    def test_a_run_that_ends_otherwise_than_the_table_says_is_not_recorded(self):
        record, printed = self.told(same_output.record, self.binary("first", more="echo error: no such option >&2; exit 2"))
        self.assertIsNone(record)
        self.assertIn("exit code 2, and the table says 0: lehr cluster\n", printed)
        self.assertIn("error: no such option", printed)

    def test_a_run_is_stopped_when_a_file_is_there(self):
        self.runs = [Run("one", (Command("cluster", exit=130, stop_at="checkpoint"),))]
        stopped = self.binary("first", more="trap 'echo stopped >&2; exit 130' INT; touch checkpoint; while :; do sleep 0.01; done")
        record, printed = self.told(same_output.record, stopped)
        self.assertIsNotNone(record, printed)
        self.assertEqual(record["runs"]["one"]["contents"]["stderr 1"]["text"], "stopped\n")

    def test_a_record_of_other_commands_is_refused(self):
        record, _ = self.told(same_output.record, self.binary("first"))
        for run, reason in ((Run("one", (Command("mixture"),)), "other commands"), (Run("two", (Command("gtm"),)), "not in the record")):
            self.runs = [run]
            is_same, printed = self.told(partial(same_output.compare, before=record), self.folder / "first")
            self.assertFalse(is_same)
            self.assertIn(reason, printed)

    def test_differences_of_bytes_say_where_they_begin(self):
        self.assertEqual(same_output.parted(b"\xff\x00\x01", b"\xff\x00\x02"), ["    from byte 2 on"])
        self.assertEqual(same_output.parted(b"\xff\x00", b"\xff\x00\x02"), ["    from byte 2 on"])


class Table(unittest.TestCase):
    def setUp(self):
        self.runs = same_output.read_table(same_output.TABLE.read_text(encoding="utf-8"))

    def test_every_run_has_a_name_of_its_own(self):
        names = [run.name for run in self.runs]
        self.assertEqual(len(names), len(set(names)))

    def test_every_method_is_run_and_every_engine(self):
        lines = [command.line for run in self.runs for command in run.commands if command.exit == 0]
        for word in ("cluster", "mixture", "gtm", "minibatch", "predict", "distances", "pairwise", "embed", "place", "demo", "run"):
            self.assertTrue(any(line.startswith(f"{word} ") and "--help" not in line for line in lines), word)
        for words in ("--method kmeans", "--engine loop", "--engine ports", "--engine map-reduce", "--ranks 3", "--layout", "--spill"):
            self.assertTrue(any(words in line for line in lines), words)

    def test_the_inputs_of_every_run_are_in_the_project_or_are_made(self):
        with tempfile.TemporaryDirectory() as scratch:
            made = Path(scratch) / "made"
            same_output_data.write(made)
            given = {**same_output.GIVEN, "made": made}
            for command in (command for run in self.runs for command in run.commands):
                for word in [*shlex.split(command.line), command.stdin]:
                    folder, _, name = word.partition("/")
                    # One command must find no file.
                    if folder in given and name != "nothing.csv":
                        self.assertTrue((given[folder] / name).is_file(), word)

    def test_only_what_is_named_is_run(self):
        self.assertEqual({run.name for run in same_output.chosen(self.runs, "demo: two")}, {"demo: two nodes"})
        with self.assertRaises(SystemExit):
            same_output.chosen(self.runs, "no such run")


if __name__ == "__main__":
    unittest.main()
