"""
The cost of dividing a run
==========================

``lehr lab overhead`` clusters the same rows with one thread and with several, in one process and in several. It measures how much longer a divided run takes than its share. This record comes with a checkout of the source: the more rows a rank has, the less is lost.
"""

import lehr

lehr.plot.overhead("../../../lab/records/2026-11-22/overhead.json")
