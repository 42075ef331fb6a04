#!/usr/bin/env python3
"""Programs that end after a few products, without Shunt and with it, in turns.

  short_programs.py --preload LIBSHUNT_CUSPARSE [--program SHORT_PROGRAM] [--torch] [--rounds N]
                    [--calls 1,3,10,100,1000] [--types f16,f32] [-o FILE]
  short_programs.py --multiply TYPE CALLS,..   what --torch runs: PyTorch's A @ B

Of SHORT_PROGRAM (tests/gpu/blackbox/short_program.c) whole processes are timed, from start to end; of
PyTorch, whose import takes seconds, the products alone, up to the calls that are named.  Least of N
rounds (5; of PyTorch 3).  A line for each type and number of calls:

  PROGRAM TYPE CALLS WITHOUT_MS WITH_MS TIMES [PRODUCTS_WITHOUT_MS PRODUCTS_WITH_MS]

It fails where the time with Shunt is more than 1.15 times that without, and 10 ms: a quarter of what
opening cuBLAS for nothing takes.
"""
import argparse
import importlib.util
import os
import subprocess
import sys
import time

MOST_TIMES, MOST_MS = 1.15, 10.0


def run(command, preload):
    """Milliseconds, and what it said."""
    environment = dict(os.environ)
    if preload:
        environment["LD_PRELOAD"] = preload
    begin = time.perf_counter()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    ms = 1e3 * (time.perf_counter() - begin)
    if done.returncode != 0:
        sys.exit(f"not ok - {' '.join(command)}: {done.stdout[-400:]}{done.stderr[-400:]}")
    return ms, done.stdout


def products_ms(text):
    for line in text.splitlines():
        if line.startswith("result ms="):
            return float(line.split()[1].split("=")[1])
    sys.exit(f"not ok - no result in: {text[-400:]}")


def time_program(program, kind, calls, preload, rounds):
    """Least milliseconds of the process and of its products: without, with."""
    least = [[float("inf")] * 2, [float("inf")] * 2]
    for i in range(2 * rounds):
        with_shunt = i % 2
        ms, text = run([program, str(calls), "-t", kind], preload if with_shunt else None)
        least[with_shunt][0] = min(least[with_shunt][0], ms)
        least[with_shunt][1] = min(least[with_shunt][1], products_ms(text))
    return least


def time_torch(kind, calls, preload, rounds):
    """Least milliseconds up to each number of calls: {calls: [without, with]}."""
    least = {n: [float("inf")] * 2 for n in calls}
    words = [sys.executable, __file__, "--multiply", kind, ",".join(map(str, calls))]
    for i in range(2 * rounds):
        _, text = run(words, preload if i % 2 else None)
        for line in text.splitlines():
            if line.startswith("calls "):
                n, ms = int(line.split()[1]), float(line.split()[2])
                least[n][i % 2] = min(least[n][i % 2], ms)
    return least


def multiply(kind, marks):
    """A @ B as often as the last mark says; what it took up to each."""
    import torch
    dtype = {"f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}[kind]
    torch.manual_seed(1)
    dense = torch.rand(4096, 4096, device="cuda")
    a = torch.where(dense < 0.1, dense, torch.zeros_like(dense)).to(dtype).to_sparse_csr()
    b = torch.rand(4096, 256, device="cuda", dtype=dtype)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for i in range(1, max(marks) + 1):
        c = a @ b
        if i in marks:
            torch.cuda.synchronize()
            print(f"calls {i} {1e3 * (time.perf_counter() - begin):.3f}", flush=True)
    return c


class Table:
    def __init__(self):
        self.lines, self.passed, self.failed = [], 0, 0

    def add(self, name, kind, calls, without, with_shunt, more=""):
        good = with_shunt <= MOST_TIMES * without + MOST_MS
        self.passed += good
        self.failed += not good
        self.lines.append(f"{name} {kind} {calls} {without:.2f} {with_shunt:.2f} "
                          f"{with_shunt / without:.3f}{more}")
        print(f"{'ok' if good else 'not ok'} - {name}, {kind}, {calls} calls: {with_shunt:.2f} ms "
              f"with Shunt, {without:.2f} without: {with_shunt / without:.3f} times{more}",
              flush=True)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write("# short_programs.py: program type calls without_ms with_ms times, and of the"
                    " products alone without_ms with_ms\n" + "\n".join(self.lines) + "\n")


def arguments():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("--preload")
    p.add_argument("--program")
    p.add_argument("--torch", action="store_true")
    p.add_argument("--rounds", type=int)
    p.add_argument("--calls", default="1,3,10,100,1000")
    p.add_argument("--types", default="f16,f32")
    p.add_argument("--multiply", nargs=2)
    p.add_argument("-o", dest="out")
    return p.parse_args()


def main():
    o = arguments()
    if o.multiply:
        multiply(o.multiply[0], [int(n) for n in o.multiply[1].split(",")])
        return 0
    if not o.preload:
        sys.exit(__doc__)
    if o.torch and not importlib.util.find_spec("torch"):
        print("skip - PyTorch is not installed\n0 passed, 0 failed, 1 skipped")
        return 0
    calls, table = [int(n) for n in o.calls.split(",")], Table()
    for kind in o.types.split(","):
        for n in calls if o.program else []:
            plain, shunt = time_program(o.program, kind, n, o.preload, o.rounds or 5)
            table.add("C", kind, n, plain[0], shunt[0], f" {plain[1]:.2f} {shunt[1]:.2f}")
        least = time_torch(kind, calls, o.preload, o.rounds or 3) if o.torch else {}
        for n, (plain, shunt) in least.items():
            table.add("PyTorch", kind, n, plain, shunt)
    if o.out:
        table.write(o.out)
    print(f"{table.passed} passed, {table.failed} failed, 0 skipped")
    return 1 if table.failed else 0


if __name__ == "__main__":
    sys.exit(main())
