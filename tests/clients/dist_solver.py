#!/usr/bin/env python3
"""dist_solver.py: block CG on a grid whose planes are parted among the ranks, by mpi4py and CuPy.

  mpirun -n N python3 dist_solver.py [OPTION]...      or python3 dist_solver.py, one rank
  torchrun --nproc-per-node N dist_solver.py ...      without mpi4py: by torch.distributed (gloo)

  --side N        a grid of N x N x N points, seven of which each row of A has (96)
  --columns K     right-hand sides that are solved for at once (32)
  --type f32|f64, --tolerance T, --seed K
  --halo WAY      how planes are exchanged: nccl, on the device; mpi, by an MPI that takes device
                  memory; host, through copies (default: nccl where each rank has a device)
  -o FILE         iterations and the norm of X;  --compare A B TOLERANCE: of two runs

Each rank has rows of A, and columns for its own planes and one on either side, which are exchanged
before each product.  The result is checked by the stencil itself, in float64, without a sparse
matrix.  Prints "value iterations=", "value us_an_iteration=" and "value product_share=".
"""
import argparse
import os
import sys
import time

import cupy
import cupyx.scipy.sparse as sparse
import numpy

from client_checks import finish
from client_checks import report as check

SHIFT = 0.05  # added to the diagonal: positive definite, some hundred iterations


class Alone:
    rank, size = 0, 1

    def add_up(self, x):
        return x

    def exchange(self, down, up):
        return numpy.zeros_like(down), numpy.zeros_like(up)

    def tell(self, what):
        return what


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
        arrays = cupy.get_array_module(down)
        below, above = arrays.zeros_like(down), arrays.zeros_like(up)
        if arrays is cupy:  # MPI does not wait for what a stream has to do yet
            cupy.cuda.get_current_stream().synchronize()
        self.comm.Sendrecv(up, behind, 0, below, before, 0)
        self.comm.Sendrecv(down, before, 1, above, behind, 1)
        return below, above

    def tell(self, what):
        """What rank 0 has."""
        return self.comm.bcast(what, 0)


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


class ByHost:
    """Planes go through the host."""
    name = "host"

    def __init__(self, comm):
        self.comm = comm

    def exchange(self, down, up):
        below, above = self.comm.exchange(*(numpy.ascontiguousarray(cupy.asnumpy(x))
                                            for x in (down, up)))
        return cupy.asarray(below), cupy.asarray(above)


class OnDevice:
    """By the communicator's own exchange, of device memory."""
    name = "mpi"

    def __init__(self, comm):
        self.comm = comm

    def exchange(self, down, up):
        return self.comm.exchange(cupy.ascontiguousarray(down), cupy.ascontiguousarray(up))


class ByNccl:
    """On the current stream; nobody waits on the host."""
    name = "nccl"

    def __init__(self, comm):
        from cupy.cuda import nccl
        self.nccl, self.rank, self.size = nccl, comm.rank, comm.size
        unique = comm.tell(nccl.get_unique_id() if comm.rank == 0 else None)
        self.link = nccl.NcclCommunicator(comm.size, unique, comm.rank)

    def exchange(self, down, up):
        down, up = cupy.ascontiguousarray(down), cupy.ascontiguousarray(up)
        below, above = cupy.zeros_like(down), cupy.zeros_like(up)
        kind = {"f": self.nccl.NCCL_FLOAT32, "d": self.nccl.NCCL_FLOAT64}[down.dtype.char]
        stream = cupy.cuda.get_current_stream().ptr
        self.nccl.groupStart()
        for other, give, take in ((self.rank - 1, down, below), (self.rank + 1, up, above)):
            if 0 <= other < self.size:
                self.link.send(give.data.ptr, give.size, kind, other, stream)
                self.link.recv(take.data.ptr, take.size, kind, other, stream)
        self.nccl.groupEnd()
        return below, above


def halo_of(comm, way):
    alone = cupy.cuda.runtime.getDeviceCount() < comm.size  # NCCL wants a device for each rank
    if way is None:
        way = "host" if comm.size == 1 or alone or not cupy.cuda.nccl.available else "nccl"
    if way == "mpi" and not isinstance(comm, ByMpi):
        sys.exit("dist_solver.py: --halo mpi needs mpi4py")
    return {"host": ByHost, "mpi": OnDevice, "nccl": ByNccl}[way](comm)


def ranks():
    try:
        from mpi4py import MPI
        if MPI.COMM_WORLD.size > 1:
            return ByMpi(MPI)
    except ImportError:
        pass
    return ByTorch() if int(os.environ.get("WORLD_SIZE", 1)) > 1 else Alone()


class Grid:
    """This rank's planes, and A's rows of them."""

    def __init__(self, options, comm, halo):
        self.comm, self.halo, self.side = comm, halo, options.side
        self.planes = options.side // comm.size
        self.plane = options.side * options.side
        self.rows = self.planes * self.plane
        self.first = comm.rank * self.planes
        self.dtype = {"f32": cupy.float32, "f64": cupy.float64}[options.type]
        self.spent = []
        here = cupy.arange(self.rows)
        x, y = here % options.side, here // options.side % options.side
        z = here // self.plane + self.first
        rows, columns, values = [here], [here + self.plane], [cupy.full(self.rows, 6 + SHIFT)]
        for keep, by in ((x > 0, -1), (x < options.side - 1, 1), (y > 0, -options.side),
                         (y < options.side - 1, options.side), (z > 0, -self.plane),
                         (z < options.side - 1, self.plane)):
            rows.append(here[keep])
            columns.append(here[keep] + self.plane + by)
            values.append(cupy.full(int(keep.sum()), -1.0))
        entries = (cupy.concatenate(values).astype(self.dtype),
                   (cupy.concatenate(rows), cupy.concatenate(columns)))
        self.a = sparse.coo_matrix(entries, (self.rows, self.rows + 2 * self.plane)).tocsr()

    def with_neighbours(self, x):
        below, above = self.halo.exchange(x[:self.plane], x[-self.plane:])
        out = cupy.empty((self.rows + 2 * self.plane, x.shape[1]), x.dtype, order="F")
        out[:self.plane], out[-self.plane:] = below, above
        out[self.plane:-self.plane] = x
        return out

    def multiply(self, x):
        wide = self.with_neighbours(x)
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        out = self.a @ wide
        end.record()
        self.spent.append((begin, end))
        return out

    def by_stencil(self, x):
        """A X, of float64 and without A."""
        n, k = self.side, x.shape[1]
        wide = self.with_neighbours(x.astype(cupy.float64)).reshape(self.planes + 2, n, n, k)
        out = (6 + SHIFT) * wide[1:-1] - wide[:-2] - wide[2:]
        out[:, 1:] -= wide[1:-1, :-1]
        out[:, :-1] -= wide[1:-1, 1:]
        out[:, :, 1:] -= wide[1:-1, :, :-1]
        out[:, :, :-1] -= wide[1:-1, :, 1:]
        return out.reshape(self.rows, k)

    def inner(self, x, y):
        """X' Y over all ranks, in float64."""
        return self.comm.add_up(cupy.asnumpy(x.astype(cupy.float64).T @ y.astype(cupy.float64)))


def right_sides(grid, options):
    """Of each plane by itself, so that they do not depend on the parts."""
    planes = []
    for z in range(grid.first, grid.first + grid.planes):
        r = numpy.random.default_rng(options.seed * 100003 + z)
        planes.append(r.standard_normal((grid.plane, options.columns)))
    return cupy.asfortranarray(cupy.asarray(numpy.concatenate(planes), dtype=grid.dtype))


def block_cg(grid, b, tolerance):
    """O'Leary, The block conjugate gradient algorithm and related methods, 1980."""
    x = cupy.zeros_like(b)
    r, p = b.copy(order="F"), b.copy(order="F")
    rr = grid.inner(r, r)
    start = numpy.sqrt(numpy.trace(rr))
    times = []
    for iteration in range(1, 1001):
        begin = time.perf_counter()
        q = grid.multiply(p)
        alpha = numpy.linalg.solve(grid.inner(p, q), rr)
        step = cupy.asarray(alpha, dtype=grid.dtype)
        x += p @ step
        r -= q @ step
        new = grid.inner(r, r)
        cupy.cuda.Device().synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
        if numpy.sqrt(numpy.trace(new)) <= tolerance * start:
            break
        p = cupy.asfortranarray(r + p @ cupy.asarray(numpy.linalg.solve(rr, new), dtype=grid.dtype))
        rr = new
    return x, iteration, times


def compare(a, b, tolerance):
    with open(a, encoding="utf-8") as f, open(b, encoding="utf-8") as g:
        (n, x), (m, y) = ([float(word) for word in h.read().split()] for h in (f, g))
    check(abs(n - m) <= 1, f"{n:.0f} and {m:.0f} iterations")
    check(abs(x - y) <= float(tolerance) * abs(y),
          f"norms of X: {x!r} and {y!r} ({tolerance} may be)")
    finish()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--side", type=int, default=96)
    p.add_argument("--columns", type=int, default=32)
    p.add_argument("--type", choices=["f32", "f64"], default="f64")
    p.add_argument("--tolerance", type=float)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("-o", dest="out")
    p.add_argument("--halo", choices=["nccl", "mpi", "host"])
    p.add_argument("--compare", nargs=3)
    options = p.parse_args()
    if options.compare:
        return compare(*options.compare)
    comm = ranks()
    if options.side % comm.size:
        sys.exit(f"dist_solver.py: {options.side} planes are not {comm.size} parts")
    cupy.cuda.Device(comm.rank % cupy.cuda.runtime.getDeviceCount()).use()
    grid = Grid(options, comm, halo_of(comm, options.halo))
    b = right_sides(grid, options)
    tolerance = options.tolerance or {"f32": 1e-4, "f64": 1e-9}[options.type]
    x, iterations, times = block_cg(grid, b, tolerance)
    product_us = sum(cupy.cuda.get_elapsed_time(*pair) * 1e3 for pair in grid.spent)
    left = b.astype(cupy.float64) - grid.by_stencil(x)
    error = numpy.sqrt(numpy.trace(grid.inner(left, left)) / numpy.trace(grid.inner(b, b)))
    norm = float(numpy.sqrt(numpy.trace(grid.inner(x, x))))
    if comm.rank == 0:
        half = sorted(times[len(times) // 2:])
        print(f"value iterations={iterations}\nvalue us_an_iteration={half[len(half) // 2]:.1f}\n"
              f"value product_share={product_us / sum(times):.3f}\nhalo by {grid.halo.name}",
              flush=True)
        check(error <= 10 * tolerance,
              f"{comm.size} ranks, {iterations} iterations: the residual is {error:.2g} of the "
              f"right side ({10 * tolerance:.2g} may be)")
        if options.out:
            with open(options.out, "w", encoding="utf-8") as f:
                f.write(f"{iterations} {norm!r}\n")
        finish()


main()
