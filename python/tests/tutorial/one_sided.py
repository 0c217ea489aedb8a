"""Ranks on threads of one process read and write the arrays of other ranks."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()

memory = np.full(10, rank, dtype="i")
window = MPI.Win.Create(memory, comm=comm)
copy = np.empty(10, dtype="i")
window.Fence()
window.Get(copy, target_rank=(rank + 1) % size)
window.Fence()
assert (copy == (rank + 1) % size).all()

window.Lock(rank=0)
window.Put(np.full(2, 7, dtype="i"), target_rank=0, target=0)
window.Unlock(rank=0)
window.Fence()
counter = MPI.Win.Create(np.zeros(1, dtype="i") if rank == 0 else np.zeros(0, dtype="i"), comm=comm)
ticket = np.empty(1, dtype="i")
counter.Fetch_and_op(np.ones(1, dtype="i"), ticket, target_rank=0)
assert sorted(comm.allgather(int(ticket[0]))) == list(range(size))
if rank == 0:
    assert memory.tolist() == [7, 7] + [0] * 8
