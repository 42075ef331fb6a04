"""attention_bench.py: shunt_attention beside what PyTorch offers, in one run.

8 batches of 4 heads of 64, f16, on a mask of 8 x 1 vectors: half of its density is a band along the
diagonal, half is random; sequences of 4096 and 8192, densities of 0.1 and 0.05.  Peers: the trio
through cuBLAS (Q K^T, mask, softmax, times V, all dense, f16), and scaled_dot_product_attention on
all pairs (flash).  Device time by graphs of 5 calls, in milliseconds; memory beyond Q, K and V, in
MB.

  attention_bench.py LIBSHUNT_SO
"""
import ctypes as c
import sys

import torch

DEVICE = "cuda"
BATCHES, HEADS, SIZE, GROUP = 8, 4, 64, 8
F16, I32, ON_DEVICE = 0, 5, 1


class Csr(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("nnz", c.c_int64),
                ("row_offsets", c.c_void_p), ("columns", c.c_void_p), ("values", c.c_void_p),
                ("index_type", c.c_int), ("value_type", c.c_int), ("base", c.c_int)]


class Tensor(c.Structure):
    _fields_ = [("values", c.c_void_p), ("type", c.c_int), ("batches", c.c_int64),
                ("heads", c.c_int64), ("rows", c.c_int64), ("cols", c.c_int64),
                ("row_stride", c.c_int64), ("head_stride", c.c_int64), ("batch_stride", c.c_int64)]


class Info(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("nnz", c.c_int64), ("type", c.c_int),
                ("where", c.c_int), ("height", c.c_int), ("windowed", c.c_int),
                ("vectors", c.c_int64), ("fill", c.c_double), ("bytes", c.c_size_t),
                ("value_bytes", c.c_size_t)]


def bind(path):
    lib = c.CDLL(path)
    lib.shunt_pack.argtypes = [c.POINTER(Csr), c.c_int, c.c_void_p, c.c_void_p,
                               c.POINTER(c.c_void_p)]
    lib.shunt_packed_free.argtypes = [c.c_void_p]
    lib.shunt_packed_describe.argtypes = [c.c_void_p, c.POINTER(Info)]
    tensors = [c.POINTER(Tensor)] * 4
    lib.shunt_attention_workspace.argtypes = [c.c_void_p] + tensors
    lib.shunt_attention_workspace.restype = c.c_size_t
    lib.shunt_attention.argtypes = [c.c_void_p, c.c_float] + tensors + [c.c_void_p, c.c_size_t,
                                                                       c.c_void_p]
    return lib


def make_mask(sequence, density):
    """One row of booleans for each group of 8."""
    groups = sequence // GROUP
    g = torch.Generator(device=DEVICE).manual_seed(sequence)
    mask = torch.rand(groups, sequence, device=DEVICE, generator=g) < density / 2
    middle = torch.arange(groups, device=DEVICE)[:, None] * GROUP + GROUP // 2
    away = (torch.arange(sequence, device=DEVICE)[None, :] - middle).abs()
    return mask | (away < density * sequence / 4)


def pack(lib, mask):
    rows = mask.repeat_interleave(GROUP, 0)
    offsets = torch.zeros(rows.shape[0] + 1, dtype=torch.int32, device=DEVICE)
    offsets[1:] = rows.sum(1).cumsum(0)
    columns = rows.nonzero()[:, 1].int()
    a = Csr(rows.shape[0], rows.shape[1], columns.numel(), offsets.data_ptr(), columns.data_ptr(),
            None, I32, F16, 0)
    packed = c.c_void_p()
    status = lib.shunt_pack(a, ON_DEVICE, None, None, packed)
    if status:
        raise RuntimeError(f"shunt_pack: {status}")
    return packed


def tensor_of(t):
    batches, heads, rows, cols = t.shape
    return Tensor(t.data_ptr(), F16, batches, heads, rows, cols, t.stride(2), t.stride(1),
                  t.stride(0))


def graph_ms(call, calls=5, replays=7):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        call()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(calls):
            call()
    times = []
    for _ in range(replays + 1):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / calls)
    return sorted(times[1:])[replays // 2]


def trio(q, k, v, hidden):
    s = torch.matmul(q, k.transpose(-1, -2))
    if hidden is not None:
        s.masked_fill_(hidden, float("-inf"))
    return torch.matmul(torch.softmax(s, -1), v)


def peak_mb(call):
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 1e6


def run_case(lib, sequence, density):
    q, k, v = (torch.randn(BATCHES, HEADS, sequence, SIZE, device=DEVICE).half() for _ in range(3))
    o = torch.zeros_like(q)
    scale = SIZE**-0.5
    mask = make_mask(sequence, density)
    packed = pack(lib, mask)
    tensors = [tensor_of(t) for t in (q, k, v, o)]
    assert lib.shunt_attention_workspace(packed, *tensors) == 0

    def ours():
        status = lib.shunt_attention(packed, scale, *tensors, None, 0,
                                     torch.cuda.current_stream().cuda_stream)
        if status:
            raise RuntimeError(f"shunt_attention: {status}")

    ours()
    hidden = ~mask.repeat_interleave(GROUP, 0)
    want = trio(q[:1, :1].double() * scale, k[:1, :1].double(), v[:1, :1].double(), hidden)
    error = float((o[:1, :1].double() - want).abs().max())
    scaled = q * scale
    info = Info()
    lib.shunt_packed_describe(packed, info)
    mine = graph_ms(ours)
    flash = graph_ms(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v))
    dense = graph_ms(lambda: trio(scaled, k, v, None), calls=1, replays=3)
    masked = graph_ms(lambda: trio(scaled, k, v, hidden), calls=1, replays=3)
    memory = info.bytes / 1e6 + o.numel() * 2 / 1e6
    theirs = peak_mb(lambda: trio(scaled, k, v, hidden))
    print(f"{sequence}\t{float(mask.float().mean()):.3f}\t{mine:.3f}\t{masked:.3f}\t{dense:.3f}\t"
          f"{flash:.3f}\t{masked / mine:.2f}\t{dense / mine:.2f}\t{flash / mine:.2f}\t"
          f"{memory:.0f}\t{theirs:.0f}\t{error:.2g}", flush=True)
    lib.shunt_packed_free(packed)
    return error < 2.0**-9


def main():
    lib = bind(sys.argv[1])
    print("# sequence\tdensity\tShunt\ttrio, masked\ttrio\tflash\tover masked\tover trio\t"
          "over flash\tMB\ttrio's MB\terror")
    good = [run_case(lib, n, d) for n in (4096, 8192) for d in (0.1, 0.05)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
