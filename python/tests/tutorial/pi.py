"""All ranks compute pi together: each adds up its share of the area under a curve."""

import math

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()

count = np.array(1000 if rank == 0 else 0, dtype="i")
comm.Bcast([count, MPI.INT], root=0)
step = 1.0 / count
places = step * (np.arange(rank, count, size) + 0.5)
part = np.array(step * (4.0 / (1.0 + places**2)).sum())
pi = np.array(0.0)
comm.Reduce([part, MPI.DOUBLE], [pi, MPI.DOUBLE], op=MPI.SUM, root=0)
if rank == 0:
    assert abs(pi - math.pi) < 1e-6
