"""gpu_measures.py: what the benchmarks of attention on a GPU share: the mask, and device time and
memory of a call, by PyTorch."""
import torch

import libshunt

DEVICE = "cuda"


def make_mask(sequence, density, group):
    """One row of booleans for each group of rows: half of the density is a band along the
    diagonal, half is random."""
    groups = sequence // group
    g = torch.Generator(device=DEVICE).manual_seed(sequence)
    mask = torch.rand(groups, sequence, device=DEVICE, generator=g) < density / 2
    middle = torch.arange(groups, device=DEVICE)[:, None] * group + group // 2
    away = (torch.arange(sequence, device=DEVICE)[None, :] - middle).abs()
    return mask | (away < density * sequence / 4)


def csr_of(mask, group):
    """The mask's pattern, and the arrays that it stands in."""
    rows = mask.repeat_interleave(group, 0)
    offsets = torch.zeros(rows.shape[0] + 1, dtype=torch.int32, device=DEVICE)
    offsets[1:] = rows.sum(1).cumsum(0)
    columns = rows.nonzero()[:, 1].int()
    return libshunt.Csr(rows.shape[0], rows.shape[1], columns.numel(), offsets.data_ptr(),
                        columns.data_ptr(), None, libshunt.I32, libshunt.F16, 0), (offsets, columns)


def graph_ms(call, calls, replays=7):
    """Milliseconds of a call: the median of graphs of so many."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
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


def peak_mb(call):
    """Device memory that a call takes beside what is there."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    call()
    torch.cuda.synchronize()
    return (torch.cuda.max_memory_allocated() - before) / 1e6
