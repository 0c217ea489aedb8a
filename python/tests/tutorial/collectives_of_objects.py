"""All ranks broadcast, scatter, gather and combine Python objects."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
size, rank = comm.Get_size(), comm.Get_rank()

data = {"key1": [7, 2.72, 2 + 3j], "key2": ("abc", "xyz")} if rank == 0 else None
data = comm.bcast(data, root=0)
assert data["key1"][2] == 2 + 3j

squares = comm.scatter([(number + 1) ** 2 for number in range(size)] if rank == 0 else None, root=0)
assert squares == (rank + 1) ** 2

gathered = comm.gather((rank + 1) ** 2, root=0)
assert gathered == ([(number + 1) ** 2 for number in range(size)] if rank == 0 else None)

assert comm.allgather(rank) == list(range(size))
assert comm.alltoall([(rank, to) for to in range(size)]) == [(source, rank) for source in range(size)]
assert comm.allreduce(rank + 1) == size * (size + 1) // 2
assert comm.allreduce((rank % 2, rank), op=MPI.MAXLOC) == ((1, 1) if size > 1 else (0, 0))
assert comm.reduce([rank], op=MPI.SUM) == (list(range(size)) if rank == 0 else None)
assert comm.scan(rank) == rank * (rank + 1) // 2
assert comm.exscan(rank) == (rank * (rank - 1) // 2 if rank else None)
