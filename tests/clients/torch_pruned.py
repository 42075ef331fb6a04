"""torch_pruned.py: what a PyTorch program pays for A @ B, A in CSR, fp16, pruned to 2:4.

Run it under Shunt; beside it stand the same product of the dense matrix (cuBLAS) and, where this
PyTorch has it, by cuSPARSELt (SparseSemiStructuredTensor), all in one run.  Device time, by graphs
of 20 products, in microseconds.  The ratio in brackets is cuBLAS' time over this one.
"""
import sys

import torch

from torch_bench import csr, eager_time, graph_time

DEVICE = "cuda"


def pruned(size, seed):
    """Two of every four neighbours in a row, at random."""
    g = torch.Generator(device=DEVICE).manual_seed(seed)
    rank = torch.rand(size, size // 4, 4, device=DEVICE, generator=g).argsort(2)
    values = torch.rand(size, size // 4, 4, device=DEVICE, generator=g) + 0.25
    return (values * (rank < 2)).reshape(size, size).half()


def semi_structured_time(dense, b):
    """The better of what PyTorch chooses for B as it lies and held by columns; None: refused."""
    try:
        packed = torch.sparse.to_sparse_semi_structured(dense)
        times = [graph_time(lambda: torch.mm(packed, x)) for x in (b, b.t().contiguous().t())]
    except (RuntimeError, NotImplementedError) as why:
        print(f"# cuSPARSELt: {str(why).splitlines()[0]}")
        return None
    return min((t for t in times if t), default=None)


def worst_error(a, dense, b):
    """Largest error over one rounding of the exact result (64 rows)."""
    c = (a @ b)[:64].double()
    want = dense[:64].double() @ b.double()
    return float(((c - want).abs() / (2.0**-11 * want.abs() + 2.0**-10)).max())


def main():
    for size in (4096, 8192):
        dense = pruned(size, size)
        for n in (512, 1024, 2048):
            b = torch.rand(size, n, device=DEVICE).half() - 0.5
            cublas = graph_time(lambda: dense @ b)
            semi = semi_structured_time(dense, b)
            line = f"{size}^2 x {n}: cuBLAS {cublas:.1f}"
            if semi:
                line += f", cuSPARSELt {semi:.1f} ({cublas / semi:.2f})"
            for index in (torch.int32, torch.int64):
                a = csr(dense, index)
                us = graph_time(lambda: a @ b)
                line += f", {str(index).split('.')[1]} {us:.1f} ({cublas / us:.2f})"
                if index == torch.int32:
                    line += f", eager {eager_time(lambda: a @ b, 20):.1f}"
                line += f", error {worst_error(a, dense, b):.2f}"
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
