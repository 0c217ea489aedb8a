"""Ranks divide into groups, and exchange values with their neighbours on a grid."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()

group = comm.Split(color=rank % 2, key=rank)
assert group.allgather(rank) == list(range(rank % 2, size, 2))

grid = comm.Create_cart(MPI.Compute_dims(size, 2), periods=[True, False])
row, column = grid.Get_coords(grid.rank)
above, below = grid.Shift(0, 1)
left, right = grid.Shift(1, 1)
assert grid.sendrecv(grid.rank, dest=below, source=above) == above
heard = grid.neighbor_allgather(grid.rank)
assert heard == [None if other == MPI.PROC_NULL else other for other in (above, below, left, right)]
