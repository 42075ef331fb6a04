"""torch_client.py [--strict]: sparse products of PyTorch, each compared with float64.

An ordinary PyTorch program: nothing here knows of Shunt.
"""
import torch

from client_checks import attempt, finish, limits, report

DEVICE = "cuda"
TYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


def kind_of(dtype):
    return str(dtype).split(".")[1]


def random_dense(rows, cols, sparsity, group, dtype, seed):
    """A dense matrix with zeros; `group` rows share their pattern."""
    g = torch.Generator(device=DEVICE).manual_seed(seed)
    mask = torch.rand((rows + group - 1) // group, cols, device=DEVICE, generator=g) >= sparsity
    mask = mask.repeat_interleave(group, 0)[:rows]
    values = torch.rand(rows, cols, device=DEVICE, generator=g, dtype=torch.float32) * 2 - 1
    # No stored value may round to zero: the pattern must be the mask's.
    values = torch.where(values.abs() < 1e-3, torch.full_like(values, 0.5), values)
    return (values * mask).to(dtype)


def to_csr(dense, index):
    a = dense.to_sparse_csr()
    return torch.sparse_csr_tensor(a.crow_indices().to(index), a.col_indices().to(index),
                                   a.values(), size=a.shape)


def widest(x):
    return x.to(torch.complex128 if x.is_complex() else torch.float64)


def compare(name, got, a, b, old=None):
    """got = a @ b (+ old), all dense; the reference is float64."""
    a64, b64 = widest(a), widest(b)
    want, scale = a64 @ b64, a64.abs() @ b64.abs()
    if old is not None:
        want, scale = want + widest(old), scale + widest(old).abs()
    terms = int((a != 0).sum(1).max()) + 1
    error = (widest(got) - want).abs()
    allowed = limits(kind_of(got.dtype), want, scale, terms)
    bad = int((~(error <= allowed)).sum())
    worst = float((error / allowed).nan_to_num(nan=float("inf")).max())
    report(bad == 0 and got.shape == want.shape,
           f"{name}: {bad} of {got.numel()} wrong, largest error {worst:.2f} of the allowed")


def products():
    for dtype in TYPES:
        for sparsity, group in ((0.9, 1), (0.9, 8), (0.5, 1)):
            dense = random_dense(1000, 904, sparsity, group, dtype, 1)
            b = random_dense(904, 136, 0, 1, dtype, 2)
            name = f"{kind_of(dtype)}, sparsity {sparsity}, group {group}"
            for index in (torch.int32, torch.int64):
                attempt(f"CSR {kind_of(index)}, {name}",
                        lambda: compressed(name, dense, b, index), RuntimeError)
            attempt(f"COO {name}", lambda: coordinates(name, dense, b), RuntimeError)


def compressed(name, dense, b, index):
    a = to_csr(dense, index)
    for _ in range(4):  # later calls may be served by a kept plan
        c = a @ b
    compare(f"CSR {kind_of(index)}, {name}", c, dense, b)


def coordinates(name, dense, b):
    """The COO product, which PyTorch has for some types only."""
    a = dense.to_sparse_coo().coalesce()
    for _ in range(3):
        c = a @ b
    compare(f"COO {name}", c, dense, b)


def layouts():
    for dtype in (torch.float16, torch.float32):
        dense = random_dense(520, 264, 0.8, 8, dtype, 3)
        a = to_csr(dense, torch.int32)
        b = random_dense(96, 264, 0, 1, dtype, 4).t()  # column-major
        compare(f"column-major B, {kind_of(dtype)}", a @ b, dense, b)
        wide = random_dense(264, 200, 0, 1, dtype, 5)
        compare(f"a slice of B, {kind_of(dtype)}", a @ wide[:, 8:104], dense, wide[:, 8:104])
        old = random_dense(520, 96, 0, 1, dtype, 6)
        c = torch.addmm(old, a, wide[:, :96])
        compare(f"addmm, {kind_of(dtype)}", c, dense, wide[:, :96], old)
        one = wide[:, :1].contiguous()
        compare(f"one column, {kind_of(dtype)}", a @ one, dense, one)


def complex_numbers():
    for part, dtype in ((torch.float32, torch.complex64), (torch.float64, torch.complex128)):
        def random_complex(*form, part=part):
            return torch.complex(random_dense(*form, part, 31), random_dense(*form, part, 32))

        def one(dtype=dtype, random_complex=random_complex):
            dense, b = random_complex(700, 520, 0.9, 1), random_complex(520, 72, 0, 1)
            a = to_csr(dense, torch.int32)
            for _ in range(3):
                c = a @ b
            compare(f"CSR, {kind_of(dtype)}", c, dense, b)
            old = random_complex(700, 72, 0, 1)
            c = torch.addmm(old, a, b, alpha=1, beta=0.5 - 2j)
            compare(f"addmm, {kind_of(dtype)}, complex beta", c, dense, b, (0.5 - 2j) * old)
            column = random_complex(72, 520, 0, 1).t()
            compare(f"CSR, {kind_of(dtype)}, column-major B", a @ column, dense, column)
            c = torch.sparse.sampled_addmm(a, old, b.t().contiguous(), beta=0, alpha=1j)
            want = (1j * (widest(old) @ widest(b).t()))[dense != 0]
            scale = (widest(old).abs() @ widest(b).abs().t())[dense != 0]
            error = (widest(c.values()) - want).abs()
            bad = int((~(error <= limits(kind_of(dtype), want, scale, 73))).sum())
            report(bad == 0, f"sampled_addmm {kind_of(dtype)}, alpha i: {bad} wrong")
        attempt(f"complex, {kind_of(dtype)}", one, RuntimeError)


def changes_in_place():
    """The values and the pattern change under the same tensors between products."""
    dtype = torch.float16
    b = random_dense(904, 128, 0, 1, dtype, 7)
    a = to_csr(random_dense(1000, 904, 0.5, 1, dtype, 8), torch.int64)
    for step in range(12):
        for _ in range(3):
            c = a @ b
        compare(f"changed in place, step {step}", c, a.to_dense(), b)
        if step % 3 == 0:
            a.values().mul_(-0.5)
        elif step % 3 == 1:
            a.values()[step * 17] = 3.0
        else:
            columns = a.col_indices()
            begin, end = int(a.crow_indices()[10]), int(a.crow_indices()[11])
            columns[begin:end] = torch.randperm(904, device=DEVICE)[:end - begin].sort()[0]


def recycled_addresses():
    """The allocator hands one matrix's addresses to the next."""
    wrong = 0
    for step in range(40):
        dense = random_dense(512, 512, 0.5 if step % 2 else 0.9, 8 if step % 4 else 1,
                             torch.float16, 100 + step)
        b = random_dense(512, 64, 0, 1, torch.float16, 200 + step)
        a = to_csr(dense, torch.int32)
        for _ in range(1 + step % 4):
            c = a @ b
        want, scale = dense.double() @ b.double(), dense.double().abs() @ b.double().abs()
        wrong += int((~((c.double() - want).abs() <= limits("float16", want, scale, 512))).sum())
        del a, c
    report(wrong == 0, f"40 matrices through the caching allocator: {wrong} wrong")


def graphs():
    dtype = torch.float16
    dense = random_dense(768, 768, 0.6, 1, dtype, 9)
    a = to_csr(dense, torch.int32)
    b = random_dense(768, 128, 0, 1, dtype, 10)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(4):
            c = a @ b
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        c = a @ b
    for step in range(3):
        graph.replay()
        compare(f"CUDA graph, replay {step}", c, a.to_dense(), b)
        a.values().mul_(-0.5)
        b.add_(0.125)


def sampled():
    for dtype in TYPES:
        for order in ("row", "column"):
            def one(dtype=dtype, order=order):
                mask = random_dense(520, 392, 0.9, 8, dtype, 11)
                x = random_dense(520, 72, 0, 1, dtype, 12)
                y = random_dense(72, 392, 0, 1, dtype, 13)
                if order == "column":
                    y = y.t().contiguous().t()
                s = to_csr(mask, torch.int32)
                for alpha, beta in ((1.0, 0.0), (0.5, 1.0)):
                    for _ in range(2):
                        c = torch.sparse.sampled_addmm(s, x, y, alpha=alpha, beta=beta)
                    rows = torch.repeat_interleave(
                        torch.arange(520, device=DEVICE), s.crow_indices().long().diff())
                    columns = s.col_indices().long()
                    old = s.values().double() * beta
                    want = alpha * (x.double() @ y.double())[rows, columns] + old
                    scale = (alpha * (x.double().abs() @ y.double().abs())[rows, columns]
                             + old.abs())
                    error = (c.values().double() - want).abs()
                    bad = int((~(error <= limits(kind_of(dtype), want, scale, 73))).sum())
                    report(bad == 0, f"sampled_addmm {kind_of(dtype)}, {order}, alpha {alpha}, "
                                     f"beta {beta}: {bad} wrong")
            attempt(f"sampled_addmm {kind_of(dtype)}", one, RuntimeError)


def backward():
    for layout in ("CSR", "COO"):
        for dtype in (torch.float32, torch.float64):
            def one(layout=layout, dtype=dtype):
                dense = random_dense(300, 260, 0.9, 1, dtype, 14)
                a = to_csr(dense, torch.int64) if layout == "CSR" else dense.to_sparse_coo()
                b = random_dense(260, 64, 0, 1, dtype, 15).requires_grad_()
                g = random_dense(300, 64, 0, 1, dtype, 16)
                c = torch.sparse.mm(a, b)
                c.backward(g)
                compare(f"forward, {layout}, {kind_of(dtype)}", c.detach(), dense, b.detach())
                compare(f"backward to B, {layout}, {kind_of(dtype)}", b.grad, dense.t(), g)
            attempt(f"backward, {layout}", one, RuntimeError)


def pruned_mlp():
    """y = W2 relu(W1 x + b1): two sparse layers, half precision."""
    dtype = torch.float16
    w1 = random_dense(2048, 1024, 0.9, 1, dtype, 17) * 0.25
    w2 = random_dense(1024, 2048, 0.9, 8, dtype, 18) * 0.25
    x = random_dense(1024, 256, 0, 1, dtype, 19)
    bias = random_dense(2048, 1, 0, 1, dtype, 20)
    s1, s2 = to_csr(w1, torch.int64), to_csr(w2, torch.int64)
    for _ in range(4):
        hidden = torch.relu(s1 @ x + bias)
        y = s2 @ hidden
    compare("pruned MLP, second layer on the first one's output", y, w2, hidden)
    first = w1.double() @ x.double() + bias.double()
    error = float((hidden.double() - torch.relu(first)).abs().max())
    report(error <= 2.0**-8 * float(first.abs().max()),
           f"pruned MLP, first layer: error {error:.2g}")


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    for part in (products, layouts, complex_numbers, changes_in_place, recycled_addresses, graphs,
                 sampled, backward, pruned_mlp):
        attempt(part.__name__, part)
    torch.cuda.synchronize()
    finish()


if __name__ == "__main__":
    main()
