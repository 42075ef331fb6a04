#!/usr/bin/env python3
"""dist_solver.py: block solvers on a grid whose planes are parted among ranks, by mpi4py and CuPy.

  mpirun -n N python3 dist_solver.py [OPTION]...      or python3 dist_solver.py, one rank
  torchrun --nproc-per-node N dist_solver.py ...      without mpi4py: by torch.distributed (gloo)

  --matrix laplace|elastic   7 points, or elements of three unknowns a node (parted/grids.py)
  --solver block-cg|lobpcg   of block_solvers.py
  --side N        a grid of N x N x N points (96)
  --columns K     right-hand sides that are solved for at once, or vectors of a block (32)
  --tolerance T, --seed K
  --halo WAY      how planes are exchanged: nccl, on the device, as sums then are; mpi, by an MPI
                  that takes device memory; host, through copies (default: nccl where each rank
                  has a device)
  --numpy         on the host, which tests the mathematics
  --parts         also prints what an iteration's parts take of the device, host waits included
  -o FILE         iterations and the norm of X;  --compare A B TOLERANCE: of two runs

Each rank has rows of A, and columns for its own planes and one on either side, which are exchanged
before each product.  The result is checked without a sparse matrix.  Prints "value iterations=",
"value us_an_iteration=" and "value product_share=".
"""
import argparse
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy  # noqa: E402

import solver_arrays  # noqa: E402
from block_solvers import block_cg, lobpcg  # noqa: E402
from client_checks import finish  # noqa: E402
from client_checks import report as check  # noqa: E402
from parted.grids import Elastic, Laplace, local_matrix  # noqa: E402
from solver_matrices import hashed  # noqa: E402

TOLERANCE = {"block-cg": 1e-9, "lobpcg": 1e-6}
LIMIT = 1000


class Alone:
    rank, size = 0, 1

    def add_up(self, x):
        return x

    def exchange(self, down, up):
        return numpy.zeros_like(down), numpy.zeros_like(up)

    def tell(self, what):
        return what

    def end(self):
        pass


class ByMpi:
    def __init__(self, mpi):
        self.mpi, self.comm = mpi, mpi.COMM_WORLD
        self.rank, self.size = self.comm.rank, self.comm.size

    def add_up(self, x):
        out = numpy.empty_like(x)
        self.comm.Allreduce(x, out)
        return out

    def exchange(self, down, up):
        """Gives `down` to the rank before, `up` to the one behind; what those gave."""
        null = self.mpi.PROC_NULL
        before = self.rank - 1 if self.rank > 0 else null
        behind = self.rank + 1 if self.rank + 1 < self.size else null
        below, above = numpy.zeros_like(down), numpy.zeros_like(up)
        if not isinstance(down, numpy.ndarray):  # MPI does not wait for what a stream has to do yet
            import cupy
            cupy.cuda.get_current_stream().synchronize()
        self.comm.Sendrecv(up, behind, 0, below, before, 0)
        self.comm.Sendrecv(down, before, 1, above, behind, 1)
        return below, above

    def tell(self, what):
        """What rank 0 has."""
        return self.comm.bcast(what, 0)

    def end(self):
        pass


class ByTorch:
    def __init__(self):
        import torch
        import torch.distributed as dist
        dist.init_process_group("gloo")
        self.torch, self.dist = torch, dist
        self.rank, self.size = dist.get_rank(), dist.get_world_size()

    def add_up(self, x):
        y = self.torch.from_numpy(x.copy())
        self.dist.all_reduce(y)
        return y.numpy()

    def exchange(self, down, up):
        below, above = numpy.zeros_like(down), numpy.zeros_like(up)
        work = []
        for other, give, take in ((self.rank - 1, down, below), (self.rank + 1, up, above)):
            if 0 <= other < self.size:
                work.append(self.dist.isend(self.torch.from_numpy(give), other))
                work.append(self.dist.irecv(self.torch.from_numpy(take), other))
        for w in work:
            w.wait()
        return below, above

    def tell(self, what):
        box = [what]
        self.dist.broadcast_object_list(box, 0)
        return box[0]

    def end(self):
        self.dist.barrier()
        self.dist.destroy_process_group()


class ByHost:
    """Planes go through the host, as sums do."""
    name = "host"

    def __init__(self, b, comm):
        self.b, self.comm = b, comm

    def exchange(self, down, up):
        below, above = self.comm.exchange(self.b.host(down), self.b.host(up))
        return self.b.xp.asarray(below), self.b.xp.asarray(above)

    def sum_later(self, small):
        return lambda: self.comm.add_up(numpy.ascontiguousarray(self.b.host(small)))


class OnDevice(ByHost):
    """By the communicator's own exchange, of device memory."""
    name = "mpi"

    def exchange(self, down, up):
        return self.comm.exchange(down, up)


class ByNccl:
    """On the current stream; nobody waits on the host."""
    name = "nccl"

    def __init__(self, b, comm):
        from cupy.cuda import nccl
        self.b, self.nccl, self.rank, self.size = b, nccl, comm.rank, comm.size
        unique = comm.tell(nccl.get_unique_id() if comm.rank == 0 else None)
        self.link = nccl.NcclCommunicator(comm.size, unique, comm.rank)

    def exchange(self, down, up):
        xp, kind = self.b.xp, self.nccl.NCCL_FLOAT64
        below, above = xp.zeros_like(down), xp.zeros_like(up)
        stream = xp.cuda.get_current_stream().ptr
        self.nccl.groupStart()
        for other, give, take in ((self.rank - 1, down, below), (self.rank + 1, up, above)):
            if 0 <= other < self.size:
                self.link.send(give.data.ptr, give.size, kind, other, stream)
                self.link.recv(take.data.ptr, take.size, kind, other, stream)
        self.nccl.groupEnd()
        return below, above

    def sum_later(self, small):
        at, stream = small.data.ptr, self.b.xp.cuda.get_current_stream().ptr
        self.link.allReduce(at, at, small.size, self.nccl.NCCL_FLOAT64, self.nccl.NCCL_SUM, stream)
        return self.b.later(small)


def halo_of(b, comm, way):
    if b.xp is numpy:
        return ByHost(b, comm)
    from cupy.cuda import nccl  # which is no attribute before it is asked for so
    alone = b.xp.cuda.runtime.getDeviceCount() < comm.size  # NCCL wants a device for each rank
    if way is None:
        way = "host" if comm.size == 1 or alone or not nccl.available else "nccl"
    if way == "mpi" and not isinstance(comm, ByMpi):
        sys.exit("dist_solver.py: --halo mpi needs mpi4py")
    return {"host": ByHost, "mpi": OnDevice, "nccl": ByNccl}[way](b, comm)


def ranks():
    try:
        from mpi4py import MPI
        if MPI.COMM_WORLD.size > 1:
            return ByMpi(MPI)
    except ImportError:
        pass
    return ByTorch() if int(os.environ.get("WORLD_SIZE", 1)) > 1 else Alone()


class Clock:
    """Device time of the parts of a solver, by events; of the host's clock by NumPy."""

    def __init__(self, b, parts):
        self.b, self.parts, self.spent = b, parts, {}

    def now(self):
        if self.b.xp is numpy:
            return time.perf_counter()
        event = self.b.xp.cuda.Event()
        event.record()
        return event

    def __call__(self, name, function, *args, **words):
        if name != "product" and not self.parts:
            return function(*args, **words)
        begin = self.now()
        out = function(*args, **words)
        self.spent.setdefault(name, []).append((begin, self.now()))
        return out

    def us(self, name):
        if self.b.xp is numpy:
            return sum(end - begin for begin, end in self.spent[name]) * 1e6
        between = self.b.xp.cuda.get_elapsed_time
        return sum(between(*pair) for pair in self.spent[name]) * 1e3


def parted(base):
    """Arrays as the solvers want them (solver_arrays.py), of which this rank has the columns of its
    planes.  Those of the planes on either side are zero but while a product is made."""

    class Parted(base):
        def part(self, comm, grid, options):
            self.comm, self.grid = comm, grid
            self.plane = grid.side**2 * grid.unknowns
            self.halo, self.clock = halo_of(self, comm, options.halo), Clock(self, options.parts)
            if comm.size > 1:
                self.own_squares, self.sum_squares = self.sum_squares, self.all_squares

        def fill(self, x):
            p = self.plane
            contiguous = self.xp.ascontiguousarray
            below, above = self.halo.exchange(contiguous(x[:, p:2 * p]),
                                              contiguous(x[:, -2 * p:-p]))
            x[:, :p], x[:, -p:] = below, above

        def empty(self, x):
            x[:, :self.plane] = 0
            x[:, -self.plane:] = 0

        def product(self, a, x, out):
            if self.comm.size > 1:
                self.clock("exchange", self.fill, x)
            self.clock("product", super().product, a, x, out)
            if self.comm.size > 1:
                self.clock("exchange", self.empty, x)

        def combine(self, *args, **words):
            self.clock("combine", super().combine, *args, **words)

        def dots_later(self, x, y):
            if self.comm.size == 1:
                return self.clock("dots", super().dots_later, x, y)
            return self.clock("dots", lambda: self.halo.sum_later(self.gemm("N", "T", x, y)))

        def all_squares(self, x, axis):
            return self.halo.sum_later(self.own_squares(x, axis=axis))()

        def host(self, x):
            return x if isinstance(x, numpy.ndarray) else x.get()

        def random(self, k, n, seed):
            """The same numbers for the same places, whatever the parts are."""
            whole, own = self.grid.side * self.plane, n - 2 * self.plane
            at = self.xp.arange(own) + self.grid.first * self.plane + (seed << 40)
            x = self.xp.zeros((k, n))
            for i in range(k):
                x[i, self.plane:-self.plane] = hashed(self.xp, at + i * whole) - 0.5
            return x

    return Parted()


def applied(b, x):
    """A X without a matrix."""
    grid, x = b.grid, x.copy()
    b.fill(x)
    shape = (len(x), grid.planes + 2, grid.side, grid.side, grid.unknowns)
    y = b.xp.zeros(shape)
    grid.apply(x.reshape(shape), y)
    b.empty(x)
    y = y.reshape(x.shape)
    b.empty(y)
    return y + grid.shift * x


def residual(b, result):
    """The largest of the columns, of its right side or vector; and a number that sums X up."""
    x = result["x"]
    if "values" in result:
        values = result["values"]
        left = b.sum_squares(applied(b, x) - b.xp.asarray(values)[:, None] * x, axis=1)
        share = numpy.sqrt(b.host(left) / b.host(b.sum_squares(x, axis=1)))
        return share[:result["wanted"]].max(), float(values[:result["wanted"]].sum())
    left = b.host(b.sum_squares(result["rhs"] - applied(b, x), axis=1))
    share = numpy.sqrt(left / b.host(b.sum_squares(result["rhs"], axis=1)))
    return share.max(), float(numpy.sqrt(b.host(b.sum_squares(x, axis=1)).sum()))


def compare(a, b, tolerance):
    with open(a, encoding="utf-8") as f, open(b, encoding="utf-8") as g:
        (n, x), (m, y) = ([float(word) for word in h.read().split()] for h in (f, g))
    check(abs(n - m) <= 1, f"{n:.0f} and {m:.0f} iterations")
    check(abs(x - y) <= float(tolerance) * abs(y),
          f"norms of X: {x!r} and {y!r} ({tolerance} may be)")
    finish()


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--matrix", choices=["laplace", "elastic"], default="laplace")
    p.add_argument("--solver", choices=list(TOLERANCE), default="block-cg")
    p.add_argument("--side", type=int, default=96)
    p.add_argument("--columns", type=int, default=32)
    p.add_argument("--tolerance", type=float)
    p.add_argument("--seed", type=int, default=2)
    p.add_argument("--numpy", action="store_true")
    p.add_argument("--parts", action="store_true")
    p.add_argument("-o", dest="out")
    p.add_argument("--halo", choices=["nccl", "mpi", "host"])
    p.add_argument("--compare", nargs=3)
    return p.parse_args()


def solved(b, a, options, tolerance):
    """The result, and the time of an iteration after a few that warm up."""
    solver = {"block-cg": block_cg, "lobpcg": lobpcg}[options.solver]
    solver(b, a, options.columns, tolerance, 5)
    b.wait()
    b.comm.add_up(numpy.zeros(1))
    b.clock.spent = {}
    begin = time.perf_counter()
    result = solver(b, a, options.columns, tolerance, LIMIT)
    b.wait()
    return result, (time.perf_counter() - begin) * 1e6 / result["iterations"]


def main():
    options = arguments()
    if options.compare:
        return compare(*options.compare)
    comm = ranks()
    if options.side % comm.size:
        sys.exit(f"dist_solver.py: {options.side} planes are not {comm.size} parts")
    if not options.numpy:
        import cupy
        cupy.cuda.Device(comm.rank % cupy.cuda.runtime.getDeviceCount()).use()
    b = parted(solver_arrays.Numpy if options.numpy else solver_arrays.Cupy)
    planes = options.side // comm.size
    grid = {"laplace": Laplace, "elastic": Elastic}[options.matrix](b.xp, options.side,
                                                                    comm.rank * planes, planes)
    b.part(comm, grid, options)
    tolerance = options.tolerance or TOLERANCE[options.solver]
    result, us = solved(b, local_matrix(b, grid), options, tolerance)
    error, answer = residual(b, result)
    comm.end()
    if comm.rank == 0:
        iterations = result["iterations"]
        print(f"value iterations={iterations}\nvalue us_an_iteration={us:.1f}\n"
              f"value product_share={b.clock.us('product') / (us * iterations):.3f}\n"
              f"halo by {b.halo.name}", flush=True)
        for name in b.clock.spent if options.parts else ():
            print(f"value {name}_us={b.clock.us(name) / iterations:.1f}")
        check(error <= 2 * tolerance,
              f"{comm.size} ranks, {iterations} iterations: the residual is {error:.2g} "
              f"({2 * tolerance:.2g} may be)")
        if options.out:
            with open(options.out, "w", encoding="utf-8") as f:
                f.write(f"{iterations} {answer!r}\n")
        finish()


main()
