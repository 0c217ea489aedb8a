"""Two ranks exchange Python objects, with calls that wait and with requests."""

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()
data = {"a": 7, "b": 3.14}

if rank == 0:
    comm.send(data, dest=1, tag=11)
    request = comm.isend(data, dest=1, tag=12)
    request.wait()
elif rank == 1:
    assert comm.recv(source=0, tag=11) == data
    assert comm.irecv(source=0, tag=12).wait() == data
