"""Tests of the page of regions: a table for each view, those with most people first. Run by `make edges`."""

import json
import tempfile
import unittest
from pathlib import Path

import demography


def cluster(number, people, middle=None, subgroup=None):
    return {"cluster": number, "regions": 10 * number, "people": people, "subgroup": subgroup, "middle": middle, "means": {"income": 12345.6, "share": 0.25}, "deviations": [-0.5, 1.26]}


def summary(views, subgroup=None, agreement=()):
    return {
        "input": {"attributes": ["share", "income"], "regions": 30, "people": 4000.0, "subgroup": subgroup},
        "parameters": {"clusters": 2},
        "views": views,
        "agreement": list(agreement),
        "execution": {"threads": 2},
        "seconds": {"stages": [{"stage": view["view"], "seconds": 0.5} for view in views]},
    }


def shown(summary):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "counties.json").write_text(json.dumps(summary), encoding="utf-8")
        return "\n".join(demography.page(Path(folder)))


class Page(unittest.TestCase):
    def test_clusters_stand_by_falling_people_with_means_and_deviations(self):
        text = shown(summary([{"view": "attributes", "weights": "people", "clusters": [cluster(1, 100.0), cluster(2, 3900.0)]}]))
        self.assertIn("30 regions with 4,000 people; 2 clusters. Clustering on 2 threads: attributes 0.50 s.", text)
        self.assertIn("| 2 | 20 | 3,900 | 0.25 (-0.5) | 12,346 (+1.3) |\n| 1 | 10 | 100 |", text)
        self.assertNotIn("Adjusted Rand", text)

    def test_a_subgroup_has_a_column_and_weighs_positions(self):
        group = {"name": "students", "people": 50.0}
        views = [{"view": "position", "weights": "subgroup", "clusters": [cluster(1, 4000.0, [-86.5, 39.25], 50.0)]}]
        text = shown(summary(views, group, [{"views": ["position", "both"], "adjusted_rand": 0.123}]))
        self.assertIn("### By position\n\nRegions count by students.", text)
        self.assertIn("| 1 | 10 | 4,000 | 50 | 39.25, -86.50 |", text)
        self.assertIn("position and both 0.12.", text)


if __name__ == "__main__":
    unittest.main()
