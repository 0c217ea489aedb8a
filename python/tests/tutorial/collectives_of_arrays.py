"""All ranks broadcast, scatter, gather and combine NumPy arrays, of equal and of unequal lengths."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()

data = np.arange(100, dtype="i") if rank == 0 else np.empty(100, dtype="i")
comm.Bcast(data, root=0)
assert (data == np.arange(100)).all()

rows = np.repeat(np.arange(size, dtype="i"), 100).reshape(size, 100) if rank == 0 else None
row = np.empty(100, dtype="i")
comm.Scatter(rows, row, root=0)
assert (row == rank).all()

whole = np.empty((size, 100), dtype="i") if rank == 0 else None
comm.Gather(row, whole, root=0)
if rank == 0:
    assert (whole == np.arange(size)[:, None]).all()

counts = [number + 1 for number in range(size)]
flat = np.empty(sum(counts)) if rank == 0 else None
comm.Gatherv(np.full(rank + 1, float(rank)), [flat, counts] if rank == 0 else None, root=0)
if rank == 0:
    assert (flat == np.repeat(np.arange(size), counts)).all()

total = np.empty(3)
comm.Allreduce(np.full(3, rank + 1.0), total, op=MPI.SUM)
assert (total == size * (size + 1) / 2).all()
before = np.full(1, -1)
comm.Exscan(np.full(1, rank + 1), before)
assert before[0] == (rank * (rank + 1) // 2 if rank else -1)


def product(comm, block, part):
    """Multiplies a matrix, of which each rank has some rows, by a vector, of which each rank has a part."""
    vector = np.zeros(block.shape[1])
    comm.Allgather([part, MPI.DOUBLE], [vector, MPI.DOUBLE])
    return block @ vector


matrix = np.arange(float((2 * size) ** 2)).reshape(2 * size, 2 * size)
vector = np.arange(2.0 * size)
mine = slice(2 * rank, 2 * rank + 2)
assert np.allclose(product(comm, matrix[mine], vector[mine]), (matrix @ vector)[mine])
