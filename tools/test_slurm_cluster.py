"""Tests of slurm_cluster.py, as far as they need no Slurm."""

import shutil
import unittest
from unittest import mock

import slurm_cluster


class SlurmCluster(unittest.TestCase):
    def test_each_node_has_its_own_address_and_port(self):
        text = slurm_cluster.configuration("/folder", "here", 2)
        for line in [
            "SlurmctldHost=here(10.213.77.254)",
            "NodeName=node1 NodeHostname=node1 NodeAddr=10.213.77.1 Port=36818 CPUs=2 RealMemory=4000 State=UNKNOWN",
            "NodeName=node2 NodeHostname=node2 NodeAddr=10.213.77.2 Port=36819 CPUs=2 RealMemory=4000 State=UNKNOWN",
            "PartitionName=main Nodes=node[1-2] Default=YES MaxTime=60 State=UP",
        ]:
            self.assertIn(line, text.split("\n"))

    def test_a_missing_program_is_named_with_its_package(self):
        def found(program, **_):
            return None if program == "slurmd" else f"/bin/{program}"

        with mock.patch.object(shutil, "which", found):
            reason = slurm_cluster.missing()
        self.assertEqual(reason, "slurmd cannot be found (Debian: apt-get install slurmctld slurmd slurm-client iproute2)")

    def test_only_root_can_start_it(self):
        with mock.patch.object(shutil, "which", lambda program, **_: program), mock.patch("os.geteuid", lambda: 1000):
            self.assertEqual(slurm_cluster.missing(), "only root can make network namespaces")


if __name__ == "__main__":
    unittest.main()
