"""torch_frozen.py [LAYER.smtx.gz...]: pruned layers in PyTorch against the same layers dense, fp16.

Run it under Shunt, without and with SHUNT_ASSUME=frozen.  It prints, in microseconds of device
time:

  vectors   A @ B, A of 4096 x 4096 in 8 x 1 vectors, and cuBLAS on the dense matrix
  layer     the same for each file that is named
  pass      all linear layers of a language model of 32 blocks in turn (7 a block, 4096 to 11008
            wide), 64 tokens: CSR at 70 %, and at 95 % in 8 x 1 vectors

A product includes what PyTorch does before it calls cuSPARSE: it clears the output, which takes the
device 2 us and more, and so does torch.mm(A, B, out=C), out_us; ratios are of that.

A kernel that only waits keeps the device busy until the host has enqueued the calls to be timed, so
that the time between two events is the device's alone.  Plain calls are timed: a captured call is
always proved.
"""
import gzip
import sys

import numpy
import torch

from torch_bench import csr, pattern

DEVICE = "cuda"
TOKENS = 64
BLOCKS = 32
SHAPES = [(4096, 4096)] * 4 + [(11008, 4096)] * 2 + [(4096, 11008)]
CYCLES_OF_A_CALL = 100_000  # what the host may take for it


def device_time(step, calls, repeats=7):
    """Median device time of calls steps in a row, for one call."""
    times = []
    for _ in range(repeats):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(CYCLES_OF_A_CALL * calls)
        begin.record()
        step()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / calls)
    return sorted(times)[repeats // 2]


def product_time(a, b, out=None, calls=32):
    def step():
        for _ in range(calls):
            torch.mm(a, b, out=out)

    for _ in range(3):
        step()
        torch.cuda.synchronize()
    return device_time(step, calls)


def compare(name, dense, n):
    b = torch.rand(dense.shape[1], n, device=DEVICE).half() - 0.5
    a, c = csr(dense, torch.int32), dense @ b
    us, out_us = product_time(a, b), product_time(a, b, c)
    cublas = product_time(dense, b, c)
    print(f"{name} N={n} us={us:.2f} out_us={out_us:.2f} cublas={cublas:.2f} "
          f"ratio={cublas / out_us:.3f}", flush=True)


def read_layer(path):
    with gzip.open(path, "rt") as f:
        rows, cols, _ = (int(x) for x in f.readline().split(","))
        offsets = numpy.array(f.readline().split(), dtype=numpy.int64)
        columns = numpy.array(f.readline().split(), dtype=numpy.int64)
    dense = numpy.zeros((rows, cols), dtype=numpy.float16)
    row = numpy.repeat(numpy.arange(rows), numpy.diff(offsets))
    dense[row, columns] = numpy.random.default_rng(1).random(len(columns)) + 0.25
    return torch.from_numpy(dense).to(DEVICE)


def pruned(rows, cols, sparsity, group, seed):
    g = torch.Generator(device=DEVICE).manual_seed(seed)
    mask = torch.rand(rows // group, cols, device=DEVICE, generator=g) >= sparsity
    return (mask.repeat_interleave(group, 0) * 0.25).half()


def pass_time(layers, inputs, outputs=None):
    def step():
        for a in layers:
            torch.mm(a, inputs[a.shape[1]], out=outputs and outputs[a.shape[0]])

    for _ in range(14):
        step()
        torch.cuda.synchronize()
    return device_time(step, len(layers)) * len(layers)


def model_pass(sparsity, group):
    shapes = SHAPES * BLOCKS
    inputs = {k: torch.rand(k, TOKENS, device=DEVICE).half() - 0.5 for _, k in SHAPES}
    sparse, dense = [], []
    for i, (m, k) in enumerate(shapes):
        layer = pruned(m, k, sparsity, group, i)
        dense.append(layer)
        sparse.append(csr(layer, torch.int32))
    outputs = {m: torch.empty(m, TOKENS, device=DEVICE, dtype=torch.half) for m, _ in SHAPES}
    us = [pass_time(sparse, inputs), pass_time(sparse, inputs, outputs),
          pass_time(dense, inputs, outputs)]
    print(f"pass sparsity={sparsity} group={group} layers={len(shapes)} us={us[0]:.0f} "
          f"out_us={us[1]:.0f} dense={us[2]:.0f} over_dense={us[1] / us[2]:.3f}", flush=True)


def main():
    for sparsity in (0.5, 0.8, 0.9, 0.95, 0.98):
        for n in (256, 1024):
            compare(f"vectors sparsity={sparsity}", pattern(sparsity, 8, 1), n)
    for path in sys.argv[1:]:
        for n in (64, 256):
            compare(f"layer {path.split('/')[-1]}", read_layer(path), n)
    model_pass(0.7, 1)
    torch.cuda.empty_cache()
    model_pass(0.95, 8)
    return 0


if __name__ == "__main__":
    sys.exit(main())
