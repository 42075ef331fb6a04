"""torch_memory.py [LAYERS]: a PyTorch program that needs all of the device's memory.

LAYERS (56) pruned layers, fp16, 4096 x 4096 in CSR, 70 % zero, by 64 tokens.  Run it without and
with Shunt; `report.py --compare` puts the values side by side:

  largest_mb   the largest tensor that there is room for, by bisection, after passes over the layers
  total_mb     tensors of 1 GB, then smaller ones, until nothing is left, with a layer's product
               after each

What PyTorch says of memory that is not there is caught, and the program goes on.  No product may
fail, and all are compared with those from before.
"""
import sys

import torch

from client_checks import finish, report
from torch_bench import csr

DEVICE = "cuda"
SIZE, TOKENS = 4096, 64
MB = 1 << 20
RESERVE = 256  # MB


def make_layers(count):
    layers = []
    for i in range(count):
        g = torch.Generator(device=DEVICE).manual_seed(i)
        values = torch.rand(SIZE, SIZE, device=DEVICE, generator=g) + 0.25
        mask = torch.rand(SIZE, SIZE, device=DEVICE, generator=g) >= 0.7
        layers.append(csr((values * mask).half(), torch.int32))
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    return layers


class Program:
    """The layers, their input, and what their products were at first."""

    def __init__(self, count):
        self.layers = make_layers(count)
        self.x = torch.rand(SIZE, TOKENS, device=DEVICE).half() - 0.5
        self.out = torch.empty(SIZE, TOKENS, device=DEVICE, dtype=torch.float16)
        self.want = [(a @ self.x).float() for a in self.layers]
        self.scale = max(float(w.abs().max()) for w in self.want)
        self.at = self.calls = self.wrong = self.failed = 0

    def step(self):
        """The next layer's product."""
        self.at = (self.at + 1) % len(self.layers)
        self.calls += 1
        try:
            torch.mm(self.layers[self.at], self.x, out=self.out)
            worst = torch.dist(self.out.float(), self.want[self.at], float("inf"))
            self.wrong += not float(worst) <= self.scale / 256
        except RuntimeError as why:
            print(f"# {str(why).splitlines()[0]}")
            self.failed += 1

    def passes(self, count):
        for _ in range(count * len(self.layers)):
            self.step()

    def expect(self, when):
        report(self.wrong == 0 and self.failed == 0,
               f"{when}: {self.calls} products, {self.failed} failed, {self.wrong} wrong")
        self.calls = self.wrong = self.failed = 0


def try_tensor(megabytes):
    """A tensor of that size, or None where there is no room."""
    try:
        return torch.empty(megabytes * MB, dtype=torch.uint8, device=DEVICE)
    except torch.cuda.OutOfMemoryError:
        return None


def largest(program):
    low, high = 0, torch.cuda.get_device_properties(0).total_memory // MB + 1
    while high - low > 2:
        middle = (low + high) // 2
        tensor = try_tensor(middle)
        if tensor is None:
            high = middle
        else:
            low = middle
        del tensor
        torch.cuda.empty_cache()
        program.step()
    return low


def fill_up(program):
    """Tensors until nothing is left.  What products and their comparison need is set aside."""
    tensors, size, total = [], 1024, 0
    reserve = try_tensor(RESERVE)
    while size >= 2 and reserve is not None:
        tensor = try_tensor(size)
        if tensor is None:
            size //= 2
            continue
        tensors.append(tensor)
        total += size
        if size >= 64:
            del reserve
            program.step()
            torch.cuda.empty_cache()
            reserve = try_tensor(RESERVE)
    report(reserve is not None, f"{RESERVE} MB that a product has used are there again")
    del reserve
    program.passes(2)
    return total


def freed():
    """Whether the memory of layers that are gone is the device's again."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    before = torch.cuda.mem_get_info()[0]
    layers = make_layers(8)
    x = torch.rand(SIZE, TOKENS, device=DEVICE).half()
    for _ in range(8):
        for a in layers:
            a @ x
        torch.cuda.synchronize()
    del layers, x, a
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    left = (before - torch.cuda.mem_get_info()[0]) / MB
    report(left <= 64, f"8 layers are gone, the cache is emptied: {left:.0f} MB are still in use")


def main():
    words = [w for w in sys.argv[1:] if not w.startswith("-")]
    program = Program(int(words[0]) if words else 56)
    program.passes(6)
    torch.cuda.synchronize()
    program.expect("before")
    most = largest(program)
    program.expect("beside the largest tensor")
    total = fill_up(program)
    program.expect("while the device is full")
    torch.cuda.empty_cache()
    program.passes(6)
    program.expect("after it")
    freed()
    print(f"value largest_mb={most}\nvalue total_mb={total}")
    finish()


if __name__ == "__main__":
    main()
