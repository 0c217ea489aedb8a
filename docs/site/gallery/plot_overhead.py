"""
What dividing a run costs
=========================

``lehr lab overhead`` clusters the same rows with one thread and with several, in one process and in several, and writes down by how much the divided runs are longer than their share. This is a record that comes
with a checkout of the source: the more points a rank has, the less is lost.
"""

import lehr

lehr.plot.overhead("../../../lab/records/2026-11-22/overhead.json")
