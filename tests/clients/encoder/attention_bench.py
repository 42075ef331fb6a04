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

import libshunt
from gpu_measures import DEVICE, csr_of, graph_ms, make_mask, peak_mb

BATCHES, HEADS, SIZE, GROUP = 8, 4, 64, 8


def tensor_of(t):
    batches, heads, rows, cols = t.shape
    return libshunt.Tensor(t.data_ptr(), libshunt.F16, batches, heads, rows, cols, t.stride(2),
                           t.stride(1), t.stride(0))


def trio(q, k, v, hidden):
    s = torch.matmul(q, k.transpose(-1, -2))
    if hidden is not None:
        s.masked_fill_(hidden, float("-inf"))
    return torch.matmul(torch.softmax(s, -1), v)


def run_case(lib, sequence, density):
    q, k, v = (torch.randn(BATCHES, HEADS, sequence, SIZE, device=DEVICE).half() for _ in range(3))
    o = torch.zeros_like(q)
    scale = SIZE**-0.5
    mask = make_mask(sequence, density, GROUP)
    pattern, arrays = csr_of(mask, GROUP)
    packed = c.c_void_p()
    libshunt.expect(lib.shunt_pack(pattern, libshunt.ON_DEVICE, None, None, packed), "shunt_pack")
    del arrays
    tensors = [tensor_of(t) for t in (q, k, v, o)]
    assert lib.shunt_attention_workspace(packed, *tensors) == 0

    def ours():
        libshunt.expect(lib.shunt_attention(packed, scale, *tensors, None, 0,
                                            torch.cuda.current_stream().cuda_stream),
                        "shunt_attention")

    ours()
    hidden = ~mask.repeat_interleave(GROUP, 0)
    want = trio(q[:1, :1].double() * scale, k[:1, :1].double(), v[:1, :1].double(), hidden)
    error = float((o[:1, :1].double() - want).abs().max())
    scaled = q * scale
    info = libshunt.Info()
    lib.shunt_packed_describe(packed, info)
    mine = graph_ms(ours, 5)
    flash = graph_ms(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v), 5)
    dense = graph_ms(lambda: trio(scaled, k, v, None), 1, replays=3)
    masked = graph_ms(lambda: trio(scaled, k, v, hidden), 1, replays=3)
    memory = info.bytes / 1e6 + o.numel() * 2 / 1e6
    theirs = peak_mb(lambda: trio(scaled, k, v, hidden))
    print(f"{sequence}\t{float(mask.float().mean()):.3f}\t{mine:.3f}\t{masked:.3f}\t{dense:.3f}\t"
          f"{flash:.3f}\t{masked / mine:.2f}\t{dense / mine:.2f}\t{flash / mine:.2f}\t"
          f"{memory:.0f}\t{theirs:.0f}\t{error:.2g}", flush=True)
    lib.shunt_packed_free(packed)
    return error < 2.0**-9


def main():
    lib = libshunt.bind(sys.argv[1])
    print("# sequence\tdensity\tShunt\ttrio, masked\ttrio\tflash\tover masked\tover trio\t"
          "over flash\tMB\ttrio's MB\terror")
    good = [run_case(lib, n, d) for n in (4096, 8192) for d in (0.1, 0.05)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
