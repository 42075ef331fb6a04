"""torch_layers.py [--steps N]: a training loop whose products keep the GPU busy, timed whole.

A graph convolution of 65,536 nodes with some 32 neighbours each, f32, 256 features, and a pruned
layer of 8,192 x 8,192, 80 % zeros, fp16, 512 samples; forwards and backwards by A and by its
transpose, and sampled_addmm for the gradient of the graph's weights.  It knows nothing of Shunt.
The last lines are for programs:

  value loop_us=WALL_TIME_OF_THE_LOOP
  value loop_calls=CALLS_OF_CUSPARSE_IN_IT
"""
import sys
import time

import torch

from client_checks import skip

WARM = 10


def sparse(rows, columns, shape, dtype):
    """CSR with 32-bit indices and random values, from sorted places."""
    offsets = torch.zeros(shape[0] + 1, dtype=torch.int32, device="cuda")
    offsets[1:] = torch.bincount(rows, minlength=shape[0]).cumsum(0)
    values = (torch.rand(rows.numel(), device="cuda") * 0.1 - 0.05).to(dtype)
    return torch.sparse_csr_tensor(offsets, columns.int(), values, size=shape)


def both_ways(rows, columns, shape, dtype):
    order = (columns * shape[0] + rows).argsort()
    turned = sparse(columns[order], rows[order], shape[::-1], dtype)
    return sparse(rows, columns, shape, dtype), turned


def graph(nodes, neighbours):
    place = torch.randint(nodes * nodes, (nodes * neighbours,), device="cuda").unique()
    return both_ways(place // nodes, place % nodes, (nodes, nodes), torch.float32)


def layer(size, density):
    where = (torch.rand(size, size, device="cuda") < density).nonzero()
    return both_ways(where[:, 0], where[:, 1], (size, size), torch.float16)


def main(steps):
    if not torch.cuda.is_available():
        return skip("no GPU")
    torch.manual_seed(1)
    a, a_turned = graph(65536, 32)
    w, w_turned = layer(8192, 0.2)
    x = torch.rand(65536, 256, device="cuda")
    y = torch.rand(8192, 512, device="cuda").half()
    for step in range(WARM + steps):
        if step == WARM:
            torch.cuda.synchronize()
            start = time.perf_counter()
        hidden = torch.relu(a @ x)
        x = 0.9 * x + 0.1 * (a_turned @ hidden).tanh()
        out = torch.relu(w @ y)
        y = (0.9 * y + 0.1 * (w_turned @ out).tanh()).half()
        if step % 4 == 0:
            torch.sparse.sampled_addmm(a, hidden, x.t(), beta=0.0)
    torch.cuda.synchronize()
    print(f"value loop_us={1e6 * (time.perf_counter() - start):.0f}")
    print(f"value loop_calls={4 * steps + len(range(WARM + (-WARM) % 4, WARM + steps, 4))}")
    return 0


if __name__ == "__main__":
    words = sys.argv[1:]
    raise SystemExit(main(int(words[words.index("--steps") + 1]) if "--steps" in words else 400))
