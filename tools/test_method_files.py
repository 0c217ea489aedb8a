import unittest

from method_files import known_by


class KnownBy(unittest.TestCase):
    def test_own_files_are_told_from_shared_ones(self):
        files = [
            ("crates/methods/src/kmedoids.rs", "pub struct KMedoids;"),
            ("crates/methods/src/lib.rs", "//! kmedoids\npub mod kmedoids;\n    &kmedoids::KMedoids,\npub mod gtm;"),
            ("crates/mining/src/kmeans.rs", "fn kmeans() {}"),
            ("python/lehr/__init__.py", '"""Knows KMedoids:\nKMedoids\n"""\nfrom lehr.kmedoids import KMedoids\n'),
        ]
        own, shared = known_by("kmedoids", files)
        self.assertEqual(own, ["crates/methods/src/kmedoids.rs"])
        self.assertEqual(shared, {"crates/methods/src/lib.rs": 2, "python/lehr/__init__.py": 1})


if __name__ == "__main__":
    unittest.main()
