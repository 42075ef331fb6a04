"""torch_train.py MODEL [--steps N] [--graphs|--compile] [--full] [-o FILE]: trains a sparse model.
torch_train.py --compare PLAIN SHUNT TOLERANCE: whether two files of losses are close, step by step.
torch_train.py --same FILE FILE...: whether all files hold the same bits.

MODEL, all on one GPU, by plain gradient descent with momentum, seeded:

  mlp         40 layers of 512 x 512, 80 % pruned, fp16 products; batches of 64 come from a
              DataLoader with two forked workers
  gcn         two graph convolutions of 4,096 nodes, f32, cross entropy
  attention   sampled_addmm at a mask of 1,024 x 1,024 with 64 entries a row, softmax, product with
              V, f32; batches from a DataLoader with two forked workers

With --full the program asks, a third of the way, for more memory than there is, catches that, and
goes on; for a device that no other program needs.  With --graphs one step is captured into a CUDA
graph, and the others are its replays.  With --compile the loss goes through torch.compile; what it
does not take of sparse products runs as it is.

The losses are written to FILE as hexadecimal floats, one a line.  "value us_a_step=" is wall
time, without the first tenth.  All sparse values are written in place before every use, as after an
optimiser's step.
"""
import sys
import time

import torch
import torch.utils.data

from client_checks import finish, report, skip

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SCALE = 1024.0  # of gradients in half precision


def generator(seed, device="cpu"):
    return torch.Generator(device=device).manual_seed(seed)


# ---- sparse operands that can be trained -----------------------------------------------------
class Pattern:
    """A fixed pattern, and its transpose; both are CSR matrices whose values are set before use."""

    def __init__(self, mask, dtype):
        where = mask.nonzero()
        self.rows, self.columns = where[:, 0].contiguous(), where[:, 1].contiguous()
        # The stable order of the transposed entries: by column, then by row.
        self.order = (self.columns * mask.shape[0] + self.rows).argsort()
        self.count, self.dtype = self.rows.numel(), dtype
        self.a = self.csr(self.rows, self.columns, mask.shape)
        self.t = self.csr(self.columns[self.order], self.rows[self.order], mask.t().shape)

    def csr(self, rows, columns, shape):
        offsets = torch.zeros(shape[0] + 1, dtype=torch.int32, device=DEVICE)
        offsets[1:] = torch.bincount(rows, minlength=shape[0]).cumsum(0)
        values = torch.zeros(self.count, dtype=self.dtype, device=DEVICE)
        return torch.sparse_csr_tensor(offsets, columns.int(), values, size=tuple(shape))

    def times(self, values, x):
        self.a.values().copy_(values)
        return self.a @ x

    def transposed_times(self, values, x):
        self.t.values().copy_(values[self.order])
        return self.t @ x

    def sample(self, x, y):
        """(x y) where the pattern has entries."""
        if self.dtype == torch.float32:
            return torch.sparse.sampled_addmm(self.a, x, y, beta=0.0).values()
        return (x.float() @ y.float())[self.rows, self.columns]


class SparseTimes(torch.autograd.Function):
    """values (at a pattern) times x."""

    @staticmethod
    def forward(ctx, values, x, pattern):
        ctx.pattern = pattern
        x = x.to(pattern.dtype)
        ctx.save_for_backward(values, x)
        return pattern.times(values, x).float()

    @staticmethod
    def backward(ctx, g):
        values, x = ctx.saved_tensors
        scale = 1.0 if x.dtype == torch.float32 else SCALE
        g = (g * scale).to(x.dtype).contiguous()
        dvalues = ctx.pattern.sample(g, x.t()) / scale if ctx.needs_input_grad[0] else None
        dx = ctx.pattern.transposed_times(values, g).float() / scale
        return dvalues, dx, None


class Sampled(torch.autograd.Function):
    """The values of x y^T at a pattern."""

    @staticmethod
    def forward(ctx, x, y, pattern):
        ctx.pattern = pattern
        ctx.save_for_backward(x, y)
        return pattern.sample(x, y.t())

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return ctx.pattern.times(g, y), ctx.pattern.transposed_times(g, x), None


# ---- models: parameters, the i-th batch (on the CPU), and the loss ------------------------------
def parameter(*shape, seed, scale):
    values = torch.randn(*shape, generator=generator(seed)) * scale
    return values.to(DEVICE).requires_grad_()


class Mlp:
    LAYERS, WIDTH, BATCH = 40, 512, 64
    rate = 0.02

    def __init__(self):
        self.patterns, self.values, self.biases = [], [], []
        for i in range(self.LAYERS):
            mask = torch.rand(self.WIDTH, self.WIDTH, generator=generator(i)) < 0.2
            self.patterns.append(Pattern(mask.to(DEVICE), torch.float16))
            self.values.append(parameter(self.patterns[-1].count, seed=100 + i, scale=0.1))
            self.biases.append(parameter(self.WIDTH, 1, seed=200 + i, scale=0.1))
        self.teacher = parameter(self.WIDTH, self.WIDTH, seed=7,
                                 scale=self.WIDTH**-0.5).detach()
        self.parameters = self.values + self.biases

    @staticmethod
    def batch(i):
        g = generator(1000 + i)
        shape = (Mlp.WIDTH, Mlp.BATCH)
        return torch.randn(*shape, generator=g), torch.randn(*shape, generator=g) * 0.1

    def loss(self, x, noise):
        h = x
        for pattern, values, bias in zip(self.patterns, self.values, self.biases):
            h = h + 0.2 * torch.tanh(SparseTimes.apply(values, h, pattern) + bias)
        return (h - self.teacher @ x - noise).square().sum(0).mean() / 16


class Gcn:
    NODES, FEATURES, HIDDEN, CLASSES = 4096, 128, 64, 16
    rate = 0.5

    def __init__(self):
        g = generator(3)
        ends = torch.randint(self.NODES, (2, 8 * self.NODES), generator=g).to(DEVICE)
        mask = torch.zeros(self.NODES, self.NODES, dtype=torch.bool, device=DEVICE)
        mask[ends[0], ends[1]] = mask[ends[1], ends[0]] = True
        mask.fill_diagonal_(True)
        self.adjacency = Pattern(mask, torch.float32)
        degrees = mask.sum(1).float().rsqrt()
        self.norm = degrees[self.adjacency.rows] * degrees[self.adjacency.columns]
        self.x = torch.randn(self.NODES, self.FEATURES, generator=g).to(DEVICE)
        self.labels = torch.randint(self.CLASSES, (self.NODES,), generator=g).to(DEVICE)
        self.labels[: self.NODES // 2] = self.x[: self.NODES // 2, : self.CLASSES].argmax(1)
        self.parameters = [parameter(self.FEATURES, self.HIDDEN, seed=4, scale=0.1),
                           parameter(self.HIDDEN, self.CLASSES, seed=5, scale=0.1)]

    @staticmethod
    def batch(i):
        del i
        return ()

    def loss(self):
        first, second = self.parameters
        h = torch.relu(SparseTimes.apply(self.norm, self.x @ first, self.adjacency))
        out = SparseTimes.apply(self.norm, h @ second, self.adjacency)
        return torch.nn.functional.cross_entropy(out, self.labels)


class Attention:
    TOKENS, SIZE, LENGTH = 1024, 64, 64
    rate = 0.02

    def __init__(self):
        scores = torch.rand(self.TOKENS, self.TOKENS, generator=generator(11)).to(DEVICE)
        mask = torch.zeros_like(scores, dtype=torch.bool)
        mask.scatter_(1, scores.topk(self.LENGTH, 1).indices, True)
        self.pattern = Pattern(mask, torch.float32)
        self.parameters = [parameter(self.SIZE, self.SIZE, seed=20 + i, scale=self.SIZE**-0.5)
                           for i in range(4)]
        self.teacher = parameter(self.SIZE, self.SIZE, seed=30, scale=2 * self.SIZE**-0.5).detach()
        self.uniform = torch.full((self.pattern.count,), 1 / self.LENGTH, device=DEVICE)

    @staticmethod
    def batch(i):
        g = generator(5000 + i)
        shape = (Attention.TOKENS, Attention.SIZE)
        return torch.randn(*shape, generator=g), torch.randn(*shape, generator=g) * 0.3

    def loss(self, x, noise):
        q, k, v = (x @ w for w in self.parameters[:3])
        scores = Sampled.apply(q, k, self.pattern) * self.SIZE**-0.5
        weights = scores.view(self.TOKENS, self.LENGTH).softmax(1).view(-1)
        out = x + SparseTimes.apply(weights, v, self.pattern) @ self.parameters[3]
        want = x + self.pattern.times(self.uniform, x @ self.teacher)
        return (out - want - noise).square().sum(1).mean() / 16


MODELS = {"mlp": Mlp, "gcn": Gcn, "attention": Attention}


class Batches(torch.utils.data.Dataset):
    """Made by the workers, which were forked after CUDA had begun, and touch no device."""

    def __init__(self, batch, steps):
        self.batch, self.steps = batch, steps

    def __len__(self):
        return self.steps

    def __getitem__(self, i):
        return self.batch(i)


WAYS = {"": "", "graphs": " in a graph", "compile": " compiled"}


# ---- training ---------------------------------------------------------------------------------
class Trainer:
    def __init__(self, name, steps, compiled):
        self.model, self.steps = MODELS[name](), steps
        self.loss_of = torch.compile(self.model.loss) if compiled else self.model.loss
        self.moments = [torch.zeros_like(p) for p in self.model.parameters]
        for p in self.model.parameters:
            p.grad = torch.zeros_like(p)
        self.inputs = [x.to(DEVICE) for x in self.model.batch(0)]
        self.losses = torch.zeros(steps, device=DEVICE)
        self.loss = torch.zeros((), device=DEVICE)
        self.graph = None

    def step(self):
        loss = self.loss_of(*self.inputs)
        loss.backward()
        with torch.no_grad():
            for p, m in zip(self.model.parameters, self.moments):
                m.mul_(0.9).add_(p.grad)
                p.sub_(m, alpha=self.model.rate)
                p.grad.zero_()
            self.loss.copy_(loss)

    def capture(self):
        """After steps on the stream that it is captured on, which count as any others."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(4):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.step()

    def batches(self):
        if not self.inputs:
            return ([] for _ in range(self.steps))
        return torch.utils.data.DataLoader(Batches(self.model.batch, self.steps),
                                           batch_size=None, num_workers=2,
                                           multiprocessing_context="fork")

    def run(self, full):
        begin = time.perf_counter()
        for i, batch in enumerate(self.batches()):
            if i == self.steps // 10:
                synchronize()
                begin = time.perf_counter()
            for to, x in zip(self.inputs, batch):
                to.copy_(x)
            if self.graph:
                self.graph.replay()
            else:
                self.step()
            self.losses[i].copy_(self.loss)
            if full and i == self.steps // 3:
                run_out_of_memory()
        synchronize()
        return (time.perf_counter() - begin) * 1e6 / (self.steps - self.steps // 10)


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def run_out_of_memory():
    """More is asked for than there is, at once and in pieces; then all is given back."""
    if DEVICE != "cuda":
        return
    pieces, caught = [], 0
    megabytes = torch.cuda.mem_get_info()[1] >> 20
    for size in (megabytes, 2048, 256):
        try:
            while True:
                pieces.append(torch.empty(size << 20, dtype=torch.uint8, device=DEVICE))
        except torch.cuda.OutOfMemoryError:
            caught += 1
    report(caught == 3, f"ran out of memory {caught} times, with {len(pieces)} tensors")
    del pieces
    torch.cuda.empty_cache()


def train(name, steps, way, full, out):
    torch.manual_seed(0)
    torch.backends.cuda.matmul.allow_tf32 = False
    if way == "compile":
        import torch._dynamo as dynamo

        dynamo.config.suppress_errors = True
    trainer = Trainer(name, steps, way == "compile")
    if way == "graphs":
        try:
            trainer.capture()
        except RuntimeError as why:
            skip(f"{name} in a graph: {str(why).splitlines()[0][:120]}")
            write([], out)
            return
    us = trainer.run(full)
    losses = trainer.losses.double().tolist()
    write(losses, out)
    first, last = sum(losses[:10]) / 10, sum(losses[-10:]) / 10
    print(f"value us_a_step={us:.1f}")
    report(all(x == x for x in losses) and last < first,
           f"{name}: {steps} steps{WAYS[way]}, loss {first:.4f} to "
           f"{last:.4f}, {us:.0f} us a step")


# ---- files of losses --------------------------------------------------------------------------
def write(losses, out):
    if out:
        with open(out, "w", encoding="utf-8") as f:
            f.writelines(x.hex() + "\n" for x in losses)


def read(path):
    with open(path, encoding="utf-8") as f:
        return [float.fromhex(line) for line in f]


def compare(plain, shunt, tolerance):
    """Relative to the loss without Shunt, step by step."""
    a, b = read(plain), read(shunt)
    if not a and not b:
        skip("neither run has losses")
        return
    worst = max((abs(x - y) / abs(x) for x, y in zip(a, b)), default=float("inf"))
    print(f"value worst_difference={worst:.3e}")
    report(len(a) == len(b) and worst <= tolerance,
           f"{len(b)} losses with Shunt, {len(a)} without, differ by {worst:.2e} at most "
           f"({tolerance:g} may be)")


def same(paths):
    texts = [open(p, encoding="utf-8").read() for p in paths]
    differ = sum(text != texts[0] for text in texts)
    lines = len(texts[0].splitlines())
    report(differ == 0 and lines > 0,
           f"{len(texts)} runs of {lines} losses: {differ} with other bits than the first")


def main(words):
    if words[:1] == ["--compare"] and len(words) == 4:
        compare(words[1], words[2], float(words[3]))
    elif words[:1] == ["--same"] and len(words) >= 3:
        same(words[1:])
    elif words and words[0] in MODELS:
        steps = int(words[words.index("--steps") + 1]) if "--steps" in words else 1000
        out = words[words.index("-o") + 1] if "-o" in words else None
        way = next((way for way in WAYS if "--" + way in words), "")
        train(words[0], steps, way, "--full" in words, out)
    else:
        sys.exit(__doc__)
    finish()


if __name__ == "__main__":
    main(sys.argv[1:])
