#!/usr/bin/env python3
"""dist_gcn.py: a full-graph GCN of two layers, its rows parted among the ranks of torchrun.

  torchrun --nproc-per-node N dist_gcn.py [OPTION]...      or python3 dist_gcn.py, one rank

  --parts 1d      each rank has rows of A and of H; H is gathered for each product, and its gradient
                  summed and scattered
  --parts 1.5d    rows times --copies (2) column parts: rank (i, j) multiplies A[i, part j] by
                  H[part j], and the sums of a row are added up
  --pieces K      1d by nccl: in K column parts of A, each multiplied when its rows of H are there,
                  while the next ones arrive on NCCL's own stream
  --type f32|bf16, --nodes N, --degree D, --features F, --steps S, --seed K
  --backend nccl|gloo   gloo: through the host, so that ranks may share a GPU
  --graphs        by nccl: after three steps a step is captured, with its collectives, and replayed
  --exact         float64 by one rank beside it: losses must agree (small graphs only)
  -o FILE         losses, one a line;  --compare A B TOLERANCE: of two runs

The graph is a function of the seed alone, not of the parts: rows are made in 64 pieces.  Prints
"value us_a_step=", and "value product_share=", the part of a step's device time that products take.
"""
import argparse
import os
import sys
import time

import torch
import torch.distributed as dist

from client_checks import finish
from client_checks import report as check

PIECES = 64
TYPES = {"f32": torch.float32, "bf16": torch.bfloat16}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--parts", choices=["1d", "1.5d"], default="1d")
    p.add_argument("--copies", type=int, default=2)
    p.add_argument("--type", choices=list(TYPES), default="f32")
    p.add_argument("--nodes", type=int, default=1_000_000)
    p.add_argument("--degree", type=int, default=17)
    p.add_argument("--features", type=int, default=128)
    p.add_argument("--classes", type=int, default=16)
    p.add_argument("--steps", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--backend", default="nccl")
    p.add_argument("--pieces", type=int, default=1)
    p.add_argument("--graphs", action="store_true")
    p.add_argument("--exact", action="store_true")
    p.add_argument("-o", dest="out")
    p.add_argument("--compare", nargs=3)
    options = p.parse_args()
    if (options.pieces > 1 or options.graphs) and options.backend != "nccl":
        sys.exit("dist_gcn.py: --pieces and --graphs need --backend nccl")
    if options.pieces > 1 and options.parts != "1d":
        sys.exit("dist_gcn.py: --pieces needs --parts 1d")
    return options


class Ranks:
    """Rows of processes: rank = i * copies + j has row part i and column part j."""

    def __init__(self, options):
        self.size, self.rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
        self.copies = options.copies if options.parts == "1.5d" else 1
        if self.size % self.copies:
            sys.exit(f"dist_gcn.py: {self.size} ranks are not rows of {self.copies}")
        self.rows = self.size // self.copies
        self.i, self.j = divmod(self.rank, self.copies)
        self.host = options.backend == "gloo"
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)) % torch.cuda.device_count())
        self.row_group = self.column_groups = None
        if self.size == 1:
            return
        dist.init_process_group(options.backend)
        groups = [dist.new_group([i * self.copies + j for j in range(self.copies)])
                  for i in range(self.rows)]
        self.row_group = groups[self.i]
        self.column_groups = [dist.new_group([i * self.copies + j for i in range(self.rows)])
                              for j in range(self.copies)]

    def add_up(self, x, group=None, among=None):
        """Sums in float32 at least, of all ranks or of a group."""
        if (among or self.size) == 1:
            return x
        y = x.float() if x.dtype == torch.bfloat16 else x
        y = y.cpu() if self.host else y.contiguous()
        dist.all_reduce(y, group=group)
        return y.to(x.device, x.dtype)

    def gather(self, rows):
        """The same rows of every rank, in the order of ranks, and what to wait for."""
        whole = rows.new_empty(self.size * rows.shape[0], rows.shape[1])
        return whole, dist.all_gather_into_tensor(whole, rows.contiguous(), async_op=True)

    def scatter(self, parts):
        """The inverse: sums over ranks, in float32 at least, of which this one has its rows."""
        parts = parts.float() if parts.dtype == torch.bfloat16 else parts
        mine = parts.new_empty(parts.shape[0] // self.size, parts.shape[1])
        return mine, dist.reduce_scatter_tensor(mine, parts, async_op=True), parts

    def fetch(self, x, k):
        """Row part k of what is parted by rows, from the rank of this column part."""
        if self.rows == 1:
            return x
        y = x if self.i == k else torch.empty_like(x)
        y = y.cpu() if self.host else y.contiguous()
        dist.broadcast(y, k * self.copies + self.j, group=self.column_groups[self.j])
        return y.to(x.device)


class Graph:
    """A's part of this rank and its transpose, in CSR."""

    def __init__(self, options, ranks):
        self.ranks, self.nodes = ranks, options.nodes
        self.per_row = options.nodes // ranks.rows
        parts = [k for k in range(ranks.rows) if k * ranks.copies // ranks.rows == ranks.j]
        # With fewer row parts than column parts, these cut a row part's columns.
        if ranks.rows < ranks.copies:
            self.fetched = list(range(ranks.rows))
            wide = options.nodes // ranks.copies
            self.first, self.last = ranks.j * wide, (ranks.j + 1) * wide
        else:
            self.fetched = parts
            self.first, self.last = parts[0] * self.per_row, (parts[-1] + 1) * self.per_row
        row, column = edges(options, ranks.i * self.per_row, (ranks.i + 1) * self.per_row)
        mine = (column >= self.first) & (column < self.last)
        row, column = row[mine] - ranks.i * self.per_row, column[mine] - self.first
        self.pieces = []
        if ranks.size > 1 and ranks.copies == 1 and not ranks.host:
            self.cut(row, column, options)
            return
        shape = (self.per_row, self.last - self.first)
        self.pieces = [self.both(row, column, shape, options)]

    @staticmethod
    def both(row, column, shape, options):
        value, dtype = 1 / options.degree, TYPES[options.type]
        return csr(row, column, shape, value, dtype), csr(column, row, shape[::-1], value, dtype)

    def cut(self, row, column, options):
        """Piece q has the columns of the q-th part of each rank's rows, in the order in which these
        are gathered."""
        wide = self.per_row // options.pieces
        owner, local = column // self.per_row, column % self.per_row
        for q in range(options.pieces):
            of = local // wide == q
            self.pieces.append(self.both(row[of], owner[of] * wide + local[of] % wide,
                                         (self.per_row, self.ranks.size * wide), options))

    def to_float64(self):
        self.pieces = [(a.double(), at.double()) for a, at in self.pieces]

    def mine(self, fetched):
        """Of the row parts that were fetched, in order, what A's part multiplies."""
        whole = torch.cat(fetched) if len(fetched) > 1 else fetched[0]
        first = self.first - self.fetched[0] * self.per_row
        return whole[first:first + self.last - self.first]

    def spread(self, grown):
        """The inverse, in zeros of all rows."""
        whole = torch.zeros(self.nodes, grown.shape[1], device="cuda", dtype=grown.dtype)
        whole[self.first:self.last] = grown
        return whole


def edges(options, begin, end):
    piece = options.nodes // PIECES
    rows, columns = [], []
    for k in range(begin // piece, (end - 1) // piece + 1):
        g = torch.Generator(device="cuda").manual_seed(options.seed * 1000 + k)
        rows.append(torch.arange(k * piece, (k + 1) * piece,
                                 device="cuda").repeat_interleave(options.degree))
        columns.append(torch.randint(options.nodes, (piece * options.degree,), generator=g,
                                     device="cuda"))
    rows, columns = torch.cat(rows), torch.cat(columns)
    keep = (rows >= begin) & (rows < end)
    return rows[keep], columns[keep]


def csr(row, column, shape, value, dtype):
    """Repeated edges stay, in order."""
    order = torch.argsort(row * shape[1] + column)
    row, column = row[order], column[order]
    offsets = torch.zeros(shape[0] + 1, dtype=torch.int64, device="cuda")
    offsets[1:] = torch.bincount(row, minlength=shape[0]).cumsum(0)
    values = torch.full((len(column),), value, dtype=dtype, device="cuda")
    return torch.sparse_csr_tensor(offsets.int(), column.int(), values, shape)


class Clock:
    """Device time of the products of a step; captured ones are not timed."""
    pairs = []

    @staticmethod
    def product(a, b, onto=None):
        """A B, or that added to `onto`."""
        if torch.cuda.is_current_stream_capturing():
            return a @ b if onto is None else torch.addmm(onto, a, b, out=onto)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        c = a @ b if onto is None else torch.addmm(onto, a, b, out=onto)
        end.record()
        Clock.pairs.append((begin, end))
        return c

    @staticmethod
    def spent_us():
        us = sum(begin.elapsed_time(end) * 1e3 for begin, end in Clock.pairs)
        Clock.pairs = []
        return us


class Neighbours(torch.autograd.Function):
    """A H of this rank's rows, H being parted by rows: through the host, or in 1.5D."""

    @staticmethod
    def forward(ctx, h, graph):
        ctx.graph, ranks = graph, graph.ranks
        fetched = [ranks.fetch(h, k) for k in graph.fetched]
        return ranks.add_up(Clock.product(graph.pieces[0][0], graph.mine(fetched)),
                            ranks.row_group, ranks.copies)

    @staticmethod
    def backward(ctx, grad):
        graph, ranks = ctx.graph, ctx.graph.ranks
        # Ranks of a row have the same gradient; each has other columns of A, that is rows of H.
        product = Clock.product(graph.pieces[0][1], grad.contiguous())
        if ranks.size == 1:
            return product, None
        whole = ranks.add_up(graph.spread(product))
        return whole[ranks.i * graph.per_row:(ranks.i + 1) * graph.per_row], None


class NeighboursInPieces(torch.autograd.Function):
    """The same in 1D by NCCL: all gathers are on their way before the first product, and each sum
    of a gradient while the next product runs."""

    @staticmethod
    def forward(ctx, h, graph):
        ctx.graph = graph
        wide = graph.per_row // len(graph.pieces)
        coming = [graph.ranks.gather(h[q * wide:(q + 1) * wide])
                  for q in range(len(graph.pieces))]
        out = None
        for (a, _), (whole, work) in zip(graph.pieces, coming):
            work.wait()  # of the stream, not of the host
            out = Clock.product(a, whole, out)
        return out

    @staticmethod
    def backward(ctx, grad):
        graph, grad = ctx.graph, grad.contiguous()
        going = [graph.ranks.scatter(Clock.product(at, grad)) for _, at in graph.pieces]
        for _, work, _ in going:
            work.wait()
        return torch.cat([mine for mine, _, _ in going]).to(grad.dtype), None


def dense_rows(seed, options, width, ranks):
    """Rows of this rank of a random matrix of all nodes' rows."""
    piece = options.nodes // PIECES
    per_row = options.nodes // ranks.rows
    begin, end = ranks.i * per_row, (ranks.i + 1) * per_row
    out = []
    for k in range(begin // piece, (end - 1) // piece + 1):
        g = torch.Generator(device="cuda").manual_seed(seed * 7919 + k)
        out.append(torch.randn(piece, width, generator=g, device="cuda"))
    return torch.cat(out)[begin % piece:begin % piece + per_row]


class Model:
    """Two layers; a step leaves the loss of before it."""

    def __init__(self, options, ranks, dtype):
        self.options, self.ranks, self.dtype = options, ranks, dtype
        self.graph = Graph(options, ranks)
        self.x = dense_rows(3, options, options.features, ranks).to(dtype)
        self.want = dense_rows(5, options, options.classes, ranks).to(dtype)
        in_pieces = ranks.size > 1 and ranks.copies == 1 and not ranks.host
        self.neighbours = NeighboursInPieces if in_pieces else Neighbours
        g = torch.Generator(device="cuda").manual_seed(11)
        shapes = [(options.features, n) for n in (options.features, options.classes)]
        weights = [torch.randn(*shape, generator=g, device="cuda").mul(0.1) for shape in shapes]
        if dtype == torch.float64:
            self.graph.to_float64()
            weights = [w.double() for w in weights]
        self.weights = [w.requires_grad_() for w in weights]

    def step(self):
        ranks, options, weights = self.ranks, self.options, self.weights
        apply = self.neighbours.apply
        h = torch.relu(apply(self.x @ weights[0].to(self.dtype), self.graph))
        out = apply(h @ weights[1].to(self.dtype), self.graph)
        wide = torch.float64 if self.dtype == torch.float64 else torch.float32
        loss = (out.to(wide) - self.want.to(wide)).square().sum()
        loss = loss / (options.nodes * options.classes)
        loss.backward()
        with torch.no_grad():
            for w in weights:
                # Copies of a row have the same rows of H, so each counts its part of the sum.
                w -= 10 * ranks.add_up(w.grad) / ranks.copies
                w.grad = None
        return ranks.add_up(loss.detach()) / ranks.copies


WARM = 3  # steps before one is captured


def captured(model):
    """A step as a graph."""
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        loss = model.step()

    def replay():
        graph.replay()
        return loss

    return replay


def train(options, ranks, dtype):
    model = Model(options, ranks, dtype)
    step, losses, times, products = model.step, [], [], []
    for number in range(options.steps):
        if options.graphs and number == WARM:
            step = captured(model)
        torch.cuda.synchronize()
        begin = time.perf_counter()
        loss = step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6)
        losses.append(float(loss))
        products.append(Clock.spent_us())
    half = len(times) // 2
    us = sorted(times[half:])[len(times[half:]) // 2]
    share = sum(products[half:]) / max(sum(times[half:]), 1e-9)
    return losses, us, share


def compare(a, b, tolerance):
    with open(a, encoding="utf-8") as f, open(b, encoding="utf-8") as g:
        x, y = [[float(line) for line in h] for h in (f, g)]
    worst = max((abs(p - q) / max(abs(q), 1e-30) for p, q in zip(x, y)), default=1)
    check(len(x) == len(y) > 0 and worst <= float(tolerance),
          f"{len(x)} and {len(y)} losses differ by {worst:.2g} at most ({tolerance} may be)")
    finish()


def main():
    options = arguments()
    if options.compare:
        return compare(*options.compare)
    ranks = Ranks(options)
    options.nodes -= options.nodes % (PIECES * ranks.size * options.pieces)
    losses, us, share = train(options, ranks, TYPES[options.type])
    if ranks.rank == 0:
        print(f"value us_a_step={us:.1f}", flush=True)
        if not options.graphs:
            print(f"value product_share={share:.3f}", flush=True)
        check(losses[-1] < losses[0], f"losses fall, from {losses[0]:.6g} to {losses[-1]:.6g}")
        if options.out:
            with open(options.out, "w", encoding="utf-8") as f:
                f.writelines(f"{x!r}\n" for x in losses)
    if options.exact:
        exact, _, _ = train(options, ranks, torch.float64)
        worst = max(abs(a - b) / abs(b) for a, b in zip(losses, exact))
        most = {"f32": 1e-5, "bf16": 2e-2}[options.type]
        if ranks.rank == 0:
            check(worst <= most, f"losses are within {worst:.2g} of float64's ({most} may be)")
    if ranks.size > 1:
        dist.destroy_process_group()
    if ranks.rank == 0:
        finish()


main()
