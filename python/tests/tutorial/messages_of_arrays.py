"""Two ranks exchange NumPy arrays, with the type given and without, and by requests that are started and waited for."""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.Get_rank()

if rank == 0:
    comm.Send([np.arange(1000, dtype="i"), MPI.INT], dest=1, tag=77)
    comm.Send(np.arange(100, dtype=np.float64), dest=1, tag=13)
    requests = [comm.Isend(np.full(3, number, dtype="i"), dest=1, tag=number) for number in range(4)]
    MPI.Request.Waitall(requests)
elif rank == 1:
    whole = np.empty(1000, dtype="i")
    comm.Recv([whole, MPI.INT], source=0, tag=77)
    assert (whole == np.arange(1000)).all()
    reals = np.empty(100, dtype=np.float64)
    status = MPI.Status()
    comm.Recv(reals, source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
    assert (reals == np.arange(100)).all() and (status.Get_source(), status.Get_tag()) == (0, 13)
    parts = [np.empty(3, dtype="i") for _ in range(4)]
    # The receives are waited for in another order than the messages come.
    requests = [comm.Irecv(parts[number], source=0, tag=number) for number in reversed(range(4))]
    MPI.Request.Waitall(requests)
    assert [part.tolist() for part in parts] == [[number] * 3 for number in range(4)]
