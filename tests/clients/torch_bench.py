"""torch_bench.py OUT.json [--quick]: what a PyTorch program pays for A @ B, A in CSR, fp16.

Run it without and with Shunt preloaded; `tests/gpu/report.py --merge` puts the two
side by side.  Times in microseconds:

  graph_us   device time of one `A @ B` (a CUDA graph of 20 of them, replayed), after ten
             plain calls
  out_us     the same for torch.mm(A, B, out=C): no output to allocate or to clear
  eager_us   wall time of one plain `A @ B`, 50 in a row
  dense_us   device time of the dense A @ B (cuBLAS), by a graph; dense_eager_us likewise
"""
import json
import sys
import time

import torch

DEVICE = "cuda"
SIZE = 4096
COPY_BYTES_PER_US = 4.28e6  # an H200: bytes read plus written
BATCH = 20


def pattern(sparsity, group, seed):
    g = torch.Generator(device=DEVICE).manual_seed(seed)
    mask = torch.rand(SIZE // group, SIZE, device=DEVICE, generator=g) >= sparsity
    mask = mask.repeat_interleave(group, 0)
    values = torch.rand(SIZE, SIZE, device=DEVICE, generator=g) + 0.25
    return (values * mask).half()


def csr(dense, index):
    a = dense.to_sparse_csr()
    return torch.sparse_csr_tensor(a.crow_indices().to(index), a.col_indices().to(index),
                                   a.values(), size=a.shape)


def median(values):
    return sorted(values)[len(values) // 2]


def graph_time(step):
    """Median over 5 replays of a graph of BATCH steps; None where that is refused."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.stream(side):
            for _ in range(10):
                step()
                side.synchronize()
        torch.cuda.current_stream().wait_stream(side)
        with torch.cuda.graph(graph, stream=side):
            for _ in range(BATCH):
                step()
    except RuntimeError as why:
        print(f"# not measured: {str(why).splitlines()[0]}")
        return None
    times = []
    for _ in range(6):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / BATCH)
    return median(times[1:])


def eager_time(step, calls=50):
    for _ in range(10):
        step()
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            step()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) * 1e6 / calls)
    return median(times)


def worst_error(a, dense, b):
    """Largest error over one rounding of the exact result (64 rows)."""
    c = (a @ b)[:64].double()
    want = dense[:64].double() @ b.double()
    scale = dense[:64].double().abs() @ b.double().abs()
    return float(((c - want).abs() / (2.0**-11 * want.abs() + 2.0**-18 * scale)).max())


def one_case(index, group, sparsity, n, dense, a, b, dense_us, dense_eager_us):
    c = torch.empty(SIZE, n, device=DEVICE, dtype=torch.float16)
    nnz = a.values().numel()
    read = (SIZE + 1 + nnz) * (4 if index == torch.int32 else 8) + 2 * nnz
    return {
        "index": str(index).split(".")[1], "group": group, "sparsity": sparsity, "n": n,
        "nnz": nnz,
        "graph_us": graph_time(lambda: a @ b),
        "out_us": graph_time(lambda: torch.mm(a, b, out=c)),
        "eager_us": eager_time(lambda: a @ b, 20),
        "dense_us": dense_us, "dense_eager_us": dense_eager_us,
        "read_us": read / COPY_BYTES_PER_US,
        "worst_error": worst_error(a, dense, b),
    }


def products(quick):
    rows = []
    for group in (1, 8):
        for sparsity in (0.9,) if quick else (0.5, 0.7, 0.8, 0.9, 0.95):
            dense = pattern(sparsity, group, 1)
            for n in (256,) if quick else (64, 256, 1024):
                b = torch.rand(SIZE, n, device=DEVICE, dtype=torch.float32).half() - 0.5
                dense_us = graph_time(lambda: dense @ b)
                dense_eager_us = eager_time(lambda: dense @ b)
                for index in (torch.int32, torch.int64):
                    a = csr(dense, index)
                    row = one_case(index, group, sparsity, n, dense, a, b, dense_us,
                                   dense_eager_us)
                    rows.append(row)
                    print(" ".join(f"{k}={v:.4g}" if isinstance(v, float) else f"{k}={v}"
                                   for k, v in row.items()), flush=True)
    return rows


def mlp():
    """Two pruned layers, fp16, 4096 wide, 90 %, batch 1024: wall time of a forward pass."""
    w = [pattern(0.9, 1, 2), pattern(0.9, 1, 3)]
    sparse = [x.to_sparse_csr() for x in w]
    bias = torch.rand(SIZE, 1, device=DEVICE).half()
    x = torch.rand(SIZE, 1024, device=DEVICE).half() * 0.01

    def forward(layers):
        return layers[1] @ torch.relu(layers[0] @ x + bias)

    result = {"mlp_us": eager_time(lambda: forward(sparse), 30),
              "mlp_dense_us": eager_time(lambda: forward(w), 30)}
    print(result, flush=True)
    return result


def main():
    out = [a for a in sys.argv[1:] if not a.startswith("-")]
    if len(out) != 1:
        sys.exit("usage: torch_bench.py OUT.json [--quick]")
    result = {"device": torch.cuda.get_device_name(), "torch": torch.__version__,
              "products": products("--quick" in sys.argv)}
    result.update(mlp())
    with open(out[0], "w", encoding="utf-8") as f:
        json.dump(result, f, indent=1)
    print(f"wrote {out[0]}")


if __name__ == "__main__":
    main()
