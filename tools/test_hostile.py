"""Tests the checks by which hostile.py decides whether a promise was kept."""

import json
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import hostile


class Answers:
    """A node that answers from a table."""

    def __init__(self, notes, datasets=None, ready=None, uploads=None, jobs=None):
        self.kept, self.datasets, self.uploads, self.jobs = notes, datasets or {}, uploads or {}, jobs or {}
        self.ready = ready or {"is_ready": True, "degraded": 0}

    def notes(self):
        return self.kept

    def ask(self, method, path, body=None):
        if path == "/ready":
            return 200, json.dumps(self.ready).encode()
        if path == "/clustering":
            return 200, json.dumps({"jobs": self.jobs}).encode()
        return 200, json.dumps({"datasets": self.datasets, "uploads": self.uploads}).encode()


class Promises(unittest.TestCase):
    def setUp(self):
        self.acknowledged = hostile.Acknowledged()
        self.acknowledged.notes["a"] = 1

    def test_what_was_acknowledged_has_to_be_there(self):
        self.acknowledged.check(Answers({"a": 1, "b": 2}), "nothing")
        for lost in ({}, {"a": 2}):
            with self.assertRaises(hostile.Broken):
                self.acknowledged.check(Answers(lost), "loss")

    def test_a_loss_that_is_reported_is_none(self):
        self.acknowledged.check(Answers({}, ready={"is_ready": True, "degraded": 1}), "loss")

    def test_a_lost_data_set_is_found(self):
        self.acknowledged.datasets["sites"] = "sum"
        with self.assertRaises(hostile.Broken):
            self.acknowledged.check(Answers({"a": 1}), "loss")

    def test_a_lost_upload_or_job_is_found(self):
        self.acknowledged.uploads["half"], self.acknowledged.jobs[:] = 4, ["clustering-1"]
        uploads, jobs = {"half": {"offset": 4}}, {"clustering-1": {"state": "done"}}
        self.acknowledged.check(Answers({"a": 1}, uploads=uploads, jobs=jobs), "nothing")
        short, failed = {"half": {"offset": 3}}, {"clustering-1": {"state": "failed"}}
        for kept in ({"uploads": uploads}, {"jobs": jobs}, {"uploads": short, "jobs": jobs}, {"uploads": uploads, "jobs": failed}):
            with self.assertRaises(hostile.Broken):
                self.acknowledged.check(Answers({"a": 1}, **kept), "loss")

    def test_frames_are_those_of_rfc_9113(self):
        self.assertEqual(hostile.frame(hostile.PING, 0, 0, b"12345678").hex(), "000008060000000000" + b"12345678".hex())
        self.assertEqual(hostile.settings(window=0).hex(), "000006040000000000" + "000400000000")

    def test_wrong_usage_is_refused(self):
        self.assertEqual(hostile.main(["--only", "nothing", sys.executable]), 2)


if __name__ == "__main__":
    unittest.main()
