"""Tests of the page of tables in partitions: times, the excess over the best side, and fits that failed. Run by `make edges`."""

import unittest

import partitions

ENTRIES = [
    {
        "engine": "dask",
        "partitions": 2,
        "rows": 1000,
        "columns": 8,
        "sides": {
            "lehr.DAClustering": {"seconds": [2.0, 1.0, 4.0], "squares": [100.0, 100.0, 100.0]},
            "dask_ml.KMeans": {"seconds": [3.0, 3.0, 3.0], "squares": [110.0, 125.0, 110.0]},
        },
        "memory": {"before": 200.0, "driver": 250.4, "worker": 300.6},
    },
    {"engine": "spark", "partitions": 2, "rows": 1000, "columns": 8, "failed": "not done after 900 s"},
]


class Page(unittest.TestCase):
    def setUp(self):
        self.page = "\n".join(partitions.page(ENTRIES, {}))

    def test_each_side_has_its_times_its_excess_and_the_memory_of_the_line(self):
        self.assertIn("| 2 | 2000 x 8 | lehr.DAClustering | **2.00** (1.00 to 4.00) | 0.000 | 250, 301 |", self.page)
        self.assertIn("|  |  | dask_ml.KMeans | **3.00** (3.00 to 3.00) | 25.000 | 250, 301 |", self.page)

    def test_what_failed_is_told(self):
        self.assertIn("not done after 900 s", self.page.split("## Spark")[1])


if __name__ == "__main__":
    unittest.main()
