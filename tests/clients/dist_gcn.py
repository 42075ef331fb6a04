#!/usr/bin/env python3
"""dist_gcn.py: a full-graph GCN of two layers, its rows parted among the ranks of torchrun.

  torchrun --nproc-per-node N dist_gcn.py [OPTION]...      or python3 dist_gcn.py, one rank

  --parts 1d      each rank has rows of A and of H; H is gathered for each product, and its gradient
                  summed; by nccl a rank has rows of A', too, for which gradients are gathered
  --parts 1.5d    rows times --copies (2) column parts: rank (i, j) multiplies A[i, part j] by
                  H[part j], and the sums of a row are added up
  --pieces K      1d by nccl: a rank multiplies its own rows of H while the others' arrive in K
                  pieces, each of which is multiplied when it is there
  --by sends|copies   pieces come by NCCL, or by the copy engines from the other ranks' memory
  --chunks K      by copies: a rank's rows are on their way in K chunks, as they are computed
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
from parted.exchange import exchange, others

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
    p.add_argument("--pieces", type=int, default=0)
    p.add_argument("--by", choices=["sends", "copies"], default="sends")
    p.add_argument("--chunks", type=int, default=1)
    p.add_argument("--graphs", action="store_true")
    p.add_argument("--exact", action="store_true")
    p.add_argument("-o", dest="out")
    p.add_argument("--compare", nargs=3)
    options = p.parse_args()
    if (options.pieces or options.graphs) and options.backend != "nccl":
        sys.exit("dist_gcn.py: --pieces and --graphs need --backend nccl")
    if options.pieces and options.parts != "1d":
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
        self.in_parts = self.size > 1 and self.copies == 1 and not self.host
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

    def add_up_all(self, those):
        """The same of several, in one call."""
        if self.size == 1:
            return those
        flat = self.add_up(torch.cat([x.reshape(-1) for x in those]))
        return [x.view_as(y) for x, y in zip(flat.split([y.numel() for y in those]), those)]

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
        mine = (ranks.i * self.per_row, (ranks.i + 1) * self.per_row)
        row, column = edges(options, *mine)
        if ranks.in_parts:
            self.parts = [self.cut(row, column, options)]
            row, column = edges(options, *mine, by_column=True)
            self.parts.append(self.cut(column, row, options))
            return
        kept = (column >= self.first) & (column < self.last)
        row, column = row[kept] - mine[0], column[kept] - self.first
        shape = (self.per_row, self.last - self.first)
        self.parts = [[csr(row, column, shape, options)], [csr(column, row, shape[::-1], options)]]

    def cut(self, row, column, options):
        """All columns; or those of this rank's rows of H, and those of each piece that comes."""
        ranks, rows = self.ranks, self.per_row
        row = row - ranks.i * rows
        if not options.pieces:
            return [csr(row, column, (rows, options.nodes), options)]
        owner, local, wide = column // rows, column % rows, rows // options.pieces
        own = owner == ranks.rank
        parts = [csr(row[own], local[own], (rows, rows), options)]
        place = torch.zeros(ranks.size, dtype=torch.int64, device="cuda")
        place[others(ranks.rank, ranks.size)] = torch.arange(ranks.size - 1, device="cuda")
        for q in range(options.pieces):
            of = ~own & (local // wide == q)
            parts.append(csr(row[of], place[owner[of]] * wide + local[of] % wide,
                             (rows, (ranks.size - 1) * wide), options))
        return parts

    def ways(self, options, width, dtype):
        """Where a layer's rows are exchanged, forward and backward."""
        like = {"dtype": dtype, "device": torch.empty(0, device="cuda").device}
        return [exchange(options.by, self.ranks.rank, self.ranks.size, self.per_row, width,
                         options.pieces, options.chunks, like) for _ in range(2)]

    def to_float64(self):
        self.parts = [[a.double() for a in parts] for parts in self.parts]

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


def edges(options, begin, end, by_column=False):
    """Those whose rows, or columns, are in [begin, end)."""
    piece = options.nodes // PIECES
    first, last = (0, PIECES - 1) if by_column else (begin // piece, (end - 1) // piece)
    rows, columns = [], []
    for k in range(first, last + 1):
        g = torch.Generator(device="cuda").manual_seed(options.seed * 1000 + k)
        rows.append(torch.arange(k * piece, (k + 1) * piece,
                                 device="cuda").repeat_interleave(options.degree))
        columns.append(torch.randint(options.nodes, (piece * options.degree,), generator=g,
                                     device="cuda"))
    rows, columns = torch.cat(rows), torch.cat(columns)
    at = columns if by_column else rows
    keep = (at >= begin) & (at < end)
    return rows[keep], columns[keep]


def csr(row, column, shape, options):
    """Repeated edges stay, in order."""
    order = torch.argsort(row * shape[1] + column)
    row, column = row[order], column[order]
    offsets = torch.zeros(shape[0] + 1, dtype=torch.int64, device="cuda")
    offsets[1:] = torch.bincount(row, minlength=shape[0]).cumsum(0)
    values = torch.full((len(column),), 1 / options.degree, dtype=TYPES[options.type],
                        device="cuda")
    return torch.sparse_csr_tensor(offsets.int(), column.int(), values, shape)


class Clock:
    """Device time of the products of a step; captured ones are not timed."""
    pairs = []

    @staticmethod
    def product(a, b, onto=None):
        """A B, or that added to `onto`.  A @ B would fill C with zeros first."""
        beta = 0 if onto is None else 1
        if onto is None:
            onto = torch.empty(a.shape[0], b.shape[1], dtype=b.dtype, device=b.device)
        if torch.cuda.is_current_stream_capturing():
            return torch.addmm(onto, a, b, beta=beta, out=onto)
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.addmm(onto, a, b, beta=beta, out=onto)
        end.record()
        Clock.pairs.append((begin, end))
        return onto

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
        return ranks.add_up(Clock.product(graph.parts[0][0], graph.mine(fetched)),
                            ranks.row_group, ranks.copies)

    @staticmethod
    def backward(ctx, grad):
        graph, ranks = ctx.graph, ctx.graph.ranks
        # Ranks of a row have the same gradient; each has other columns of A, that is rows of H.
        product = Clock.product(graph.parts[1][0], grad.contiguous())
        if ranks.size == 1:
            return product, None
        whole = ranks.add_up(graph.spread(product))
        return whole[ranks.i * graph.per_row:(ranks.i + 1) * graph.per_row], None


def gathered(parts, way):
    """A's parts times rows of all ranks; this one's lie in way.give and are on their way."""
    out, coming = None, parts
    if way.own_first:
        out, coming = Clock.product(parts[0], way.give), parts[1:]
    for q, a in enumerate(coming):
        out = Clock.product(a, way.arrived(q), out)
    return out


class Layer(torch.autograd.Function):
    """A (X W) of this rank's rows, in 1D by NCCL: both products gather rows."""

    @staticmethod
    def forward(ctx, x, w, graph, ways):
        ctx.save_for_backward(x, w)
        ctx.back = graph.parts[1], ways[1]
        for c, rows in enumerate(ways[0].chunks):
            torch.mm(x[rows], w, out=ways[0].give[rows])
            ways[0].start(c)
        return gathered(graph.parts[0], ways[0])

    @staticmethod
    def backward(ctx, grad):
        (x, w), (parts, way) = ctx.saved_tensors, ctx.back
        if grad.data_ptr() != way.give.data_ptr():
            way.give.copy_(grad)
            for c in range(len(way.chunks)):
                way.start(c)
        grad = gathered(parts, way)
        return grad @ w.t() if ctx.needs_input_grad[0] else None, x.t() @ grad, None, None


class Relu(torch.autograd.Function):
    """max(x, 0), whose gradient is sent on the way of the layer before."""

    @staticmethod
    def forward(ctx, x, way):
        y, ctx.way = torch.relu(x), way
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        (y,), way = ctx.saved_tensors, ctx.way
        for c, rows in enumerate(way.chunks):
            torch.ops.aten.threshold_backward.grad_input(grad[rows], y[rows], 0,
                                                         grad_input=way.give[rows])
            way.start(c)
        return way.give, None


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
        self.ways = ranks.in_parts and [self.graph.ways(options, width, dtype)
                                        for width in (options.features, options.classes)]
        g = torch.Generator(device="cuda").manual_seed(11)
        shapes = [(options.features, n) for n in (options.features, options.classes)]
        weights = [torch.randn(*shape, generator=g, device="cuda").mul(0.1) for shape in shapes]
        if dtype == torch.float64:
            self.graph.to_float64()
            weights = [w.double() for w in weights]
        self.weights = [w.requires_grad_() for w in weights]

    def forward(self):
        first, second = (w.to(self.dtype) for w in self.weights)
        if self.ways:
            h = Relu.apply(Layer.apply(self.x, first, self.graph, self.ways[0]), self.ways[0][1])
            return Layer.apply(h, second, self.graph, self.ways[1])
        h = torch.relu(Neighbours.apply(self.x @ first, self.graph))
        return Neighbours.apply(h @ second, self.graph)

    def step(self):
        ranks, options, out = self.ranks, self.options, self.forward()
        wide = torch.float64 if self.dtype == torch.float64 else torch.float32
        loss = (out.to(wide) - self.want.to(wide)).square().sum()
        loss = loss / (options.nodes * options.classes)
        loss.backward()
        with torch.no_grad():
            *grads, loss = ranks.add_up_all([w.grad for w in self.weights] + [loss.detach()])
            for w, grad in zip(self.weights, grads):
                # Copies of a row have the same rows of H, so each counts its part of the sum.
                w -= 10 * grad / ranks.copies
                w.grad = None
        return loss / ranks.copies


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
    parts = max(options.pieces, 1) * options.chunks
    options.nodes -= options.nodes % (PIECES * ranks.size * parts)
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
