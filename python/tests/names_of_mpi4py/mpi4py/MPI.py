"""The part of ``mpi4py.MPI`` that ``lehr.ranks`` offers, by mpi4py's names. ``on_ranks.py`` sets the communicator of each rank before a program runs."""

import threading
import time

import numpy as np

import lehr

ANY_SOURCE, ANY_TAG, PROC_NULL, UNDEFINED, ROOT = -1, -1, -2, -32766, -3
IN_PLACE = object()
THREAD_MULTIPLE = 3
LOCK_EXCLUSIVE, LOCK_SHARED = 1, 2
#: Each thread is a rank.
_HERE = threading.local()


class _Op:
    def __init__(self, name, function=None, is_commutative=True):
        self.op, self.function, self.is_commutative = name, function, is_commutative

    def __call__(self, left, right):
        return self.function(left, right)


def _better(is_better):
    def combined(left, right):
        (value, place), (other, elsewhere) = left, right
        if value == other:
            return value, min(place, elsewhere)
        return (value, place) if is_better(value, other) else (other, elsewhere)

    return combined


SUM, PROD = _Op("sum", lambda x, y: x + y), _Op("prod", lambda x, y: x * y)
MAX, MIN = _Op("max", lambda x, y: y if y > x else x), _Op("min", lambda x, y: y if y < x else x)
BAND, BOR, BXOR = _Op("and", lambda x, y: x & y), _Op("or", lambda x, y: x | y), _Op("xor", lambda x, y: x ^ y)
LAND = _Op(None, lambda x, y: bool(x) & bool(y))
LOR = _Op(None, lambda x, y: bool(x) | bool(y))
LXOR = _Op(None, lambda x, y: bool(x) ^ bool(y))
MAXLOC, MINLOC = _Op(None, _better(lambda x, y: x > y)), _Op(None, _better(lambda x, y: x < y))
REPLACE, NO_OP = _Op(None, lambda x, y: y), _Op(None, lambda x, y: x)


class Op:
    @staticmethod
    def Create(function, commute=False):
        return _Op(None, function, commute)


def _operation(op):
    return op.op if op.op is not None else op.function


class Datatype:
    def __init__(self, name):
        self.dtype = np.dtype(name)

    @property
    def size(self):
        return self.dtype.itemsize

    def Get_size(self):
        return self.size


BYTE, CHAR, INT, LONG, INT64_T, FLOAT, DOUBLE = map(Datatype, ("u1", "S1", "i4", "i8", "i8", "f4", "f8"))
BOOL = C_BOOL = Datatype("?")
COMPLEX, DOUBLE_COMPLEX = C_FLOAT_COMPLEX, C_DOUBLE_COMPLEX = Datatype("c8"), Datatype("c16")
LONG_DOUBLE, C_LONG_DOUBLE_COMPLEX = Datatype("longdouble"), Datatype("clongdouble")
SIGNED_CHAR, SHORT, LONG_LONG = map(Datatype, ("i1", "i2", "i8"))
UNSIGNED_CHAR, UNSIGNED_SHORT, UNSIGNED_INT, UNSIGNED_LONG, UNSIGNED_LONG_LONG = map(Datatype, ("u1", "u2", "u4", "u8", "u8"))
DATATYPE_NULL, OP_NULL, SUCCESS, THREAD_SINGLE, BSEND_OVERHEAD, BOTTOM = None, None, 0, 0, 0, None


class Status:
    def __init__(self):
        self.source, self.tag, self.bytes, self.error = ANY_SOURCE, ANY_TAG, 0, 0

    def Get_source(self):
        return self.source

    def Get_tag(self):
        return self.tag

    def Get_error(self):
        return self.error

    def Get_count(self, datatype=BYTE):
        return self.bytes // datatype.size

    def Get_elements(self, datatype):
        return self.Get_count(datatype)

    def _set(self, source, tag, size=0):
        self.source, self.tag, self.bytes = source, tag, size


def _noted(status, source, tag, value=None):
    if status is not None:
        status._set(source, tag, getattr(value, "nbytes", 0))



def _read(spec):
    """Returns a flat view of the array in a buffer specification, and the counts and displacements. The specification is an array, or a list of an array, counts, and a type."""
    parts = list(spec) if isinstance(spec, list | tuple) else [spec]
    datatype = parts.pop() if len(parts) > 1 and isinstance(parts[-1], str | Datatype) else None
    memory = np.empty(0) if parts[0] is None else np.asarray(parts[0])
    view = memory.reshape(-1)
    assert view.size == 0 or np.shares_memory(view, memory), "a buffer is contiguous"
    if isinstance(datatype, Datatype) and view.dtype != datatype.dtype and view.dtype.itemsize == 1:
        view = view.view(datatype.dtype)
    rest = parts[1:]
    if len(rest) == 1 and isinstance(rest[0], list | tuple) and len(rest[0]) == 2:
        counts, displacements = rest[0]
        # Two numbers in a list are the counts of two ranks; a tuple has counts and displacements.
        if isinstance(rest[0], tuple) or not (isinstance(counts, int) and isinstance(displacements, int)):
            rest = [counts, displacements]
    return view, rest[0] if rest else None, rest[1] if len(rest) > 1 else None


def _flat(spec):
    """Returns a flat view of the values that a buffer specification means."""
    view, count, start = _read(spec)
    start = int(start or 0)
    return view[start:] if count is None else view[start : start + int(count)]


def _blocks(spec, size):
    """Returns a flat view for each rank of a buffer: equal parts, or by counts and displacements."""
    view, counts, displacements = _read(spec)
    if counts is None:
        counts = len(view) // size
    if np.ndim(counts) == 0:
        counts = [int(counts)] * size
    if displacements is None:
        displacements = np.concatenate([[0], np.cumsum(counts)[:-1]])
    elif np.ndim(displacements) == 0:
        displacements = [int(displacements) * number for number in range(size)]
    return [view[int(start) : int(start) + int(count)] for start, count in zip(displacements, counts)]


def _is_in_place(spec):
    return spec is IN_PLACE or spec is None


def _fill(target, value):
    value = np.asarray(value).reshape(-1)
    target[: len(value)] = value


class Request:
    def __init__(self, native=None, buffer=None):
        self._native, self._buffer, self._active = native, buffer, True

    def __eq__(self, other):
        return self is other or (isinstance(other, Request) and not self and not other)

    __hash__ = None

    def __bool__(self):
        return self._active

    def _value(self, status):
        native, self._active = self._native, False
        if native is None:
            _noted(status, PROC_NULL, ANY_TAG)
            return None
        value = native.wait()
        if native.source is not None:
            _noted(status, native.source, native.tag, value)
        if self._buffer is not None:
            _fill(self._buffer, value)
        return value

    def wait(self, status=None):
        return self._value(status) if self._active else None

    def test(self, status=None):
        if not self._active or self._native is None or self._native.done():
            return True, self.wait(status)
        return False, None

    def Wait(self, status=None):
        self.wait(status)
        return True

    def Test(self, status=None):
        return self.test(status)[0]

    def Free(self):
        self._active = False

    def Cancel(self):
        self._native = None

    @staticmethod
    def _with(requests, statuses, call):
        found = [Status() for _ in requests]
        result = call(found)
        if statuses is not None:
            statuses[:] = found
        return result

    @classmethod
    def waitall(cls, requests, statuses=None):
        return cls._with(requests, statuses, lambda found: [request.wait(status) for request, status in zip(requests, found)])

    Waitall = waitall

    @classmethod
    def testall(cls, requests, statuses=None):
        if all(not request._active or request._native is None or request._native.done() for request in requests):
            return True, cls.waitall(requests, statuses)
        return False, None

    @classmethod
    def Testall(cls, requests, statuses=None):
        return cls.testall(requests, statuses)[0]

    @classmethod
    def waitany(cls, requests, status=None):
        active = [at for at, request in enumerate(requests) if request._active]
        if not active:
            return UNDEFINED, None
        ready = [at for at in active if requests[at]._native is None]
        at = ready[0] if ready else active[lehr.ranks.wait_any([requests[at]._native for at in active])]
        return at, requests[at].wait(status)

    @classmethod
    def Waitany(cls, requests, status=None):
        return cls.waitany(requests, status)[0]

    @classmethod
    def testany(cls, requests, status=None):
        active = [at for at, request in enumerate(requests) if request._active]
        if not active:
            return UNDEFINED, True, None
        for at in active:
            is_done, value = requests[at].test(status)
            if is_done:
                return at, True, value
        return UNDEFINED, False, None

    @classmethod
    def Testany(cls, requests, status=None):
        return cls.testany(requests, status)[:2]

    @classmethod
    def _some(cls, requests, statuses, first):
        active = [at for at, request in enumerate(requests) if request._active]
        if not active:
            return None, None
        done = list(first(active))
        done += [at for at in active if at not in done and (requests[at]._native is None or requests[at]._native.done())]
        return done, cls._with(done, statuses, lambda found: [requests[at].wait(status) for at, status in zip(done, found)])

    @classmethod
    def Waitsome(cls, requests, statuses=None):
        return cls.waitsome(requests, statuses)[0]

    @classmethod
    def Testsome(cls, requests, statuses=None):
        return cls.testsome(requests, statuses)[0]

    @classmethod
    def waitsome(cls, requests, statuses=None):
        def first(active):
            ready = [at for at in active if requests[at]._native is None]
            return ready[:1] or [active[lehr.ranks.wait_any([requests[at]._native for at in active])]]

        return cls._some(requests, statuses, first)

    @classmethod
    def testsome(cls, requests, statuses=None):
        return cls._some(requests, statuses, lambda active: [])


class Prequest(Request):
    """A persistent message. It is a request while a message is under way."""

    def __init__(self, start):
        super().__init__()
        self._start, self._active = start, False

    def __bool__(self):
        return self._start is not None

    def Start(self):
        request = self._start()
        self._native, self._buffer, self._active = request._native, request._buffer, True

    @staticmethod
    def Startall(requests):
        for request in requests:
            request.Start()

    def Free(self):
        self._start, self._active = None, False


class Exception(Exception):
    def Get_error_class(self):
        return ERR_ROOT

    Get_error_code = Get_error_class


class Comm:
    """A communicator, by mpi4py's names. Calls in capitals take buffers, the others any objects."""

    def __init__(self, native):
        self.native = native

    rank = property(lambda self: self.native.rank)
    size = property(lambda self: self.native.size)

    def Get_rank(self):
        return self.native.rank

    def Get_size(self):
        return self.native.size

    def Free(self):
        pass

    def Barrier(self):
        self.native.barrier()

    barrier = Barrier

    def Split(self, color=0, key=0):
        part = self.native.split(None if color == UNDEFINED else color, key)
        return COMM_NULL if part is None else Intracomm(part)

    def Dup(self):
        return type(self)(self.native.duplicate())

    Clone = Dup

    # Messages of objects.
    def send(self, obj, dest, tag=0):
        if dest != PROC_NULL:
            self.native.send(obj, dest, tag)

    bsend = rsend = send

    def ssend(self, obj, dest, tag=0):
        if dest != PROC_NULL:
            self.native.send(obj, dest, tag, synchronous=True)

    def recv(self, buf=None, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        if source == PROC_NULL:
            _noted(status, PROC_NULL, ANY_TAG)
            return None
        value, source, tag = self.native.receive_any(None if source == ANY_SOURCE else source, None if tag == ANY_TAG else tag)
        _noted(status, source, tag, value)
        return value

    def isend(self, obj, dest, tag=0):
        return Request(None if dest == PROC_NULL else self.native.start_send(obj, dest, tag))

    ibsend = irsend = isend

    def issend(self, obj, dest, tag=0):
        return Request(None if dest == PROC_NULL else self.native.start_send(obj, dest, tag, synchronous=True))

    def irecv(self, buf=None, source=ANY_SOURCE, tag=ANY_TAG):
        return self._started(source, tag)

    def _started(self, source, tag, buffer=None):
        if source == PROC_NULL:
            return Request()
        return Request(self.native.start_receive(None if source == ANY_SOURCE else source, None if tag == ANY_TAG else tag), buffer)

    def sendrecv(self, sendobj, dest, sendtag=0, recvbuf=None, source=ANY_SOURCE, recvtag=ANY_TAG, status=None):
        self.send(sendobj, dest, sendtag)
        return self.recv(recvbuf, source, recvtag, status)

    def probe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None, wait=True):
        if source == PROC_NULL:
            _noted(status, PROC_NULL, ANY_TAG)
            return True
        found = self.native.probe(None if source == ANY_SOURCE else source, None if tag == ANY_TAG else tag, wait=wait)
        if found is not None and status is not None:
            status._set(*found)
        return found is not None

    def iprobe(self, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        return self.probe(source, tag, status, wait=False)

    Probe, Iprobe = probe, iprobe

    # Messages of buffers.
    def Send(self, buf, dest, tag=0):
        self.send(_flat(buf), dest, tag)

    Bsend = Rsend = Send

    def Ssend(self, buf, dest, tag=0):
        self.ssend(_flat(buf), dest, tag)

    def Recv(self, buf, source=ANY_SOURCE, tag=ANY_TAG, status=None):
        value = self.recv(None, source, tag, status)
        if value is not None:
            _fill(_flat(buf), value)

    def Isend(self, buf, dest, tag=0):
        return self.isend(_flat(buf), dest, tag)

    Ibsend = Irsend = Isend

    def Issend(self, buf, dest, tag=0):
        return self.issend(_flat(buf), dest, tag)

    def Irecv(self, buf, source=ANY_SOURCE, tag=ANY_TAG):
        return self._started(source, tag, _flat(buf))

    def Sendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=ANY_SOURCE, recvtag=ANY_TAG, status=None):
        self.Send(sendbuf, dest, sendtag)
        self.Recv(recvbuf, source, recvtag, status)

    def Sendrecv_replace(self, buf, dest, sendtag=0, source=ANY_SOURCE, recvtag=ANY_TAG, status=None):
        self.Sendrecv(buf, dest, sendtag, buf, source, recvtag, status)

    def Send_init(self, buf, dest, tag=0):
        if dest == PROC_NULL:
            return Prequest(Request)
        persistent = self.native.persistent_send(_flat(buf), dest, tag)
        return Prequest(lambda: Request(persistent.start()))

    Bsend_init = Rsend_init = Send_init

    def Ssend_init(self, buf, dest, tag=0):
        return Prequest(lambda: self.Issend(buf, dest, tag))

    def Isendrecv(self, sendbuf, dest, sendtag=0, recvbuf=None, source=ANY_SOURCE, recvtag=ANY_TAG):
        self.Send(sendbuf, dest, sendtag)
        return self.Irecv(recvbuf, source, recvtag)

    def Isendrecv_replace(self, buf, dest, sendtag=0, source=ANY_SOURCE, recvtag=ANY_TAG):
        return self.Isendrecv(buf, dest, sendtag, buf, source, recvtag)

    def Recv_init(self, buf, source=ANY_SOURCE, tag=ANY_TAG):
        # A message may be shorter than the buffer, so this is not `persistent_receive`, whose messages have the shape of the array.
        return Prequest(lambda: self.Irecv(buf, source, tag))

    # Collectives on objects.
    def bcast(self, obj=None, root=0):
        return self.native.broadcast(obj, root)

    def scatter(self, sendobj=None, root=0):
        return self.native.scatter(None if sendobj is None else list(sendobj), root)

    def gather(self, sendobj, root=0):
        return self.native.gather(sendobj, root)

    def allgather(self, sendobj):
        return self.native.all_gather(sendobj)

    def alltoall(self, sendobj):
        return self.native.all_to_all(list(sendobj))

    def reduce(self, sendobj, op=SUM, root=0):
        if not 0 <= root < self.size:
            raise Exception(f"rank {root} of {self.size}")
        return self.native.reduce(sendobj, root, op.function)

    def allreduce(self, sendobj, op=SUM):
        return self.native.all_reduce(sendobj, op.function)

    def scan(self, sendobj, op=SUM):
        return self.native.scan(sendobj, op.function)

    def exscan(self, sendobj, op=SUM):
        return self.native.scan(sendobj, op.function, exclusive=True)

    # Collectives on buffers.
    def Bcast(self, buf, root=0):
        view = _flat(buf)
        self.native.broadcast(view, root, out=view)

    def Scatter(self, sendbuf, recvbuf, root=0):
        part = self.native.scatter(_blocks(sendbuf, self.size) if self.rank == root else None, root)
        if recvbuf is not IN_PLACE and not (recvbuf is None and self.rank == root):
            _fill(_flat(recvbuf), part)

    Scatterv = Scatter

    def Gather(self, sendbuf, recvbuf, root=0):
        in_place = sendbuf is IN_PLACE or (sendbuf is None and self.rank == root)
        own = _blocks(recvbuf, self.size)[self.rank].copy() if in_place else _flat(sendbuf)
        parts = self.native.gather(own, root)
        if parts is not None:
            for place, part in zip(_blocks(recvbuf, self.size), parts):
                _fill(place, part)

    Gatherv = Gather

    def Allgather(self, sendbuf, recvbuf):
        places = _blocks(recvbuf, self.size)
        own = places[self.rank].copy() if _is_in_place(sendbuf) else _flat(sendbuf)
        for place, part in zip(places, self.native.all_gather(own)):
            _fill(place, part)

    Allgatherv = Allgather

    def Alltoall(self, sendbuf, recvbuf):
        places = _blocks(recvbuf, self.size)
        parts = [place.copy() for place in places] if _is_in_place(sendbuf) else _blocks(sendbuf, self.size)
        for place, part in zip(places, self.native.all_to_all(parts)):
            _fill(place, part)

    Alltoallv = Alltoall

    def Allreduce(self, sendbuf, recvbuf, op=SUM):
        out = _flat(recvbuf)
        own = out.copy() if _is_in_place(sendbuf) else _flat(sendbuf)
        _fill(out, self.native.all_reduce(own, _operation(op)))

    def Reduce(self, sendbuf, recvbuf, op=SUM, root=0):
        own = _flat(recvbuf).copy() if _is_in_place(sendbuf) else _flat(sendbuf)
        result = self.native.reduce(own, root, _operation(op))
        if result is not None:
            _fill(_flat(recvbuf), result)

    def Scan(self, sendbuf, recvbuf, op=SUM, exclusive=False):
        out = _flat(recvbuf)
        own = out.copy() if _is_in_place(sendbuf) else _flat(sendbuf)
        result = self.native.scan(own, _operation(op), exclusive=exclusive)
        if result is not None:
            _fill(out, result)

    def Exscan(self, sendbuf, recvbuf, op=SUM):
        self.Scan(sendbuf, recvbuf, op, exclusive=True)

    def Reduce_scatter_block(self, sendbuf, recvbuf, op=SUM):
        own = _flat(recvbuf).copy() if _is_in_place(sendbuf) else _flat(sendbuf)
        _fill(_flat(recvbuf), self.native.reduce_scatter(own, _operation(op)))

    def Reduce_scatter(self, sendbuf, recvbuf, recvcounts=None, op=SUM):
        own = _flat(recvbuf).copy() if _is_in_place(sendbuf) else _flat(sendbuf)
        length = len(own) // self.size if _is_in_place(sendbuf) else len(_flat(recvbuf))
        counts = recvcounts if recvcounts is not None else self.native.all_gather(length)
        ends = np.cumsum(counts)
        parts = [own[end - count : end] for end, count in zip(ends, counts)]
        _fill(_flat(recvbuf), self.native.reduce_scatter(parts, _operation(op)))

    def Create_cart(self, dims, periods=None, reorder=False):
        grid = lehr.ranks.Grid(dims, False if periods is None else list(periods))
        if grid.size > self.size:
            raise ValueError(f"a grid of {grid.size} of {self.size} ranks")
        part = self.native.split(0 if self.rank < grid.size else None)
        return COMM_NULL if part is None else Cartcomm(part, grid)


class Intracomm(Comm):
    pass


class Cartcomm(Intracomm):
    """A communicator on a grid."""

    def __init__(self, native, grid):
        super().__init__(native)
        self.grid = grid

    dims = property(lambda self: list(self.grid.shape))
    dim = ndim = property(lambda self: len(self.grid.shape))
    periods = property(lambda self: [int(ring) for ring in self.grid.periodic])
    coords = property(lambda self: list(self.grid.coordinates(self.rank)))
    topo = property(lambda self: (self.dims, self.periods, self.coords))

    def Dup(self):
        return Cartcomm(self.native.duplicate(), self.grid)

    def Get_topology(self):
        return CART

    def Get_dim(self):
        return self.ndim

    def Get_topo(self):
        return self.topo

    def Get_coords(self, rank):
        return list(self.grid.coordinates(rank))

    def Get_cart_rank(self, coords):
        return self.grid.rank(coords)

    def Shift(self, direction, disp):
        ends = [self.grid.neighbour(self.rank, direction, step) for step in (-disp, disp)]
        return tuple(PROC_NULL if end is None else end for end in ends)

    def neighbor_alltoall(self, sendobj):
        return self.native.exchange(list(sendobj), self.grid)

    def neighbor_allgather(self, sendobj):
        return self.native.exchange([sendobj] * 2 * self.ndim, self.grid)


class Win:
    """A window on arrays, between threads of one process."""

    def __init__(self, window, comm, array):
        self._window, self._comm, self._array = window, comm, array
        self._locks = {}

    @classmethod
    def Create(cls, memory, disp_unit=1, info=None, comm=None):
        array = np.empty(0) if memory is None else np.asarray(memory).reshape(-1)
        return cls(comm.native.window(array), comm, array)

    def Fence(self, assertion=0):
        self._window.fence()

    def Lock(self, rank, lock_type=LOCK_EXCLUSIVE, assertion=0):
        self._locks[rank] = self._window.lock(rank)
        self._locks[rank].__enter__()

    def Unlock(self, rank):
        self._locks.pop(rank).__exit__(None, None, None)

    @staticmethod
    def _index(target, length):
        start = int(target[0] if isinstance(target, list | tuple) else target or 0)
        return slice(start, start + length)

    def Get(self, origin, target_rank, target=None):
        out = _flat(origin)
        _fill(out, self._window.get(target_rank, self._index(target, len(out))))

    def Put(self, origin, target_rank, target=None):
        values = _flat(origin)
        self._window.put(values, target_rank, self._index(target, len(values)))

    def Accumulate(self, origin, target_rank, target=None, op=SUM):
        values = _flat(origin)
        self._window.accumulate(values, target_rank, _operation(op), self._index(target, len(values)))

    def Fetch_and_op(self, origin, result, target_rank, target_disp=0, op=SUM):
        values = _flat(origin)
        _fill(_flat(result), self._window.accumulate(values, target_rank, _operation(op), self._index(target_disp, len(values))))

    def Free(self):
        self._window.fence()


ERR_ROOT, CART, GRAPH, DIST_GRAPH = 7, 1, 2, 3
COMM_NULL, REQUEST_NULL = None, Request()
REQUEST_NULL._active = False
Wtime = time.perf_counter


def Compute_dims(nnodes, dims):
    free = [at for at, extent in enumerate(dims) if extent == 0] if not isinstance(dims, int) else list(range(dims))
    extents = [0] * dims if isinstance(dims, int) else list(dims)
    rest = nnodes
    for extent in extents:
        rest //= extent or 1
    for at, extent in zip(free, lehr.ranks.Grid.balanced(rest, len(free)).shape if free else ()):
        extents[at] = extent
    return extents


def Query_thread():
    return THREAD_MULTIPLE


def Get_version():
    return 5, 0


def Get_abi_version():
    return 1, 0


def get_vendor():
    return "Lehr", (0, 1, 0)


def Alloc_mem(size, info=None):
    return bytearray(size)


def Free_mem(memory):
    pass


def Attach_buffer(memory):
    pass


def Detach_buffer():
    pass


def Is_initialized():
    return True


def Is_finalized():
    return False


def Get_processor_name():
    return "localhost"


def enter(comm):
    """Makes a communicator the world of this thread."""
    _HERE.world = Intracomm(comm)
    _HERE.alone = Intracomm(comm.split(comm.rank))


def __getattr__(name):
    if name == "COMM_WORLD":
        return _HERE.world
    if name == "COMM_SELF":
        return _HERE.alone
    raise AttributeError(name)
