#!/usr/bin/env python3
"""results_table.py [--check] SOURCES: the tables of README.md and of the pages of tests/bench.

Writes each table anew from tests/bench/results, between the lines `<!-- table: NAME -->` and
`<!-- end -->`.  With --check it writes nothing and says whether each document is what it would
write.  Every figure of a table comes from a committed result; means are geometric."""
import collections
import glob
import gzip
import json
import math
import os
import re
import sys

RESULTS = "tests/bench/results"
folder = None


# ---- reading ------------------------------------------------------------------------------
def load(name):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(os.path.join(folder, name), "rt") as file:
        return json.load(file)


def lines(name):
    opened = gzip.open if name.endswith(".gz") else open
    with opened(os.path.join(folder, name), "rt") as file:
        return file.read().splitlines()


class Case:
    """One case of `shunt bench`: microseconds by way, and the route that was taken."""

    def __init__(self, case):
        self.us = {w["way"]: w["us"] for w in case["ways"] if w.get("us")}
        self.route = {w["way"]: w.get("note") for w in case["ways"]}.get("routed")
        self.default = self.us.get("cusparse-default")
        self.best = min((v for k, v in self.us.items() if k.startswith("cusparse")), default=None)
        self.routed = self.us.get("routed", self.default)
        self.matrix, self.width = case["matrix"], case["width"]
        self.height = case.get("v", 1)
        self.type = case["problem"].split(":")[2].split(".")[0] if "problem" in case else None
        self.orders = case["problem"].split(":")[6] if "problem" in case else None


def cases(name):
    return [Case(case) for case in load(name)["cases"]]


def block_lines():
    for line in lines("bsr.tsv"):
        if not line.startswith("#"):
            form, kind, size, share, n, theirs, ours = line.split("\t")
            yield form, kind, int(size), float(theirs) / float(ours)


def graphblas_host_means():
    """(what, times as fast, least or None) of each closing line."""
    for line in lines("graphblas-host.txt"):
        found = re.match(r"# (?:(\w+): )?geometric mean ([\d.]+) of (\d+)(?:, least ([\d.]+))?(.*)",
                         line)
        if found:
            yield found.groups()


# ---- arithmetic ---------------------------------------------------------------------------
def mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def with_least(values):
    return "%.2f (%.2f)" % (mean(values), min(values))


def span(values):
    """Mean, least and greatest, in three digits or fewer."""
    def short(x):
        return "%.0f" % x if x >= 100 else "%.1f" % x if x >= 10 else "%.2f" % x
    return "%s (%s to %s)" % (short(mean(values)), short(min(values)), short(max(values)))


def table(head, rows):
    return ["| %s |" % " | ".join(head), "|" + " --- |" * len(head)] + [
        "| %s |" % " | ".join(row) for row in rows]


# ---- the tables of RESULTS.md ----------------------------------------------------------------
def pytorch():
    return table(
        ("pattern, zeros, N", "cuSPARSE, us", "with Shunt, us", "times as fast",
         "cuBLAS on the dense matrix, us"),
        [("%s, %.0f %%, %d" % ("8x1" if p["group"] == 8 else "random", 100 * p["sparsity"], p["n"]),
          "%.0f" % p["original_us"], "%.1f" % p["shunt_us"], "%.1f" % p["speedup"],
          "%.1f" % p["dense_us"])
         for p in load("pytorch.json")["products"]
         if p["index"] == "int64" and p["sparsity"] in (0.5, 0.9, 0.95)])


def network():
    data = load("pytorch.json")
    return ["Before: %.0f us. With Shunt: %.0f us, %.1f times as fast. On dense weights: %.0f us."
            % (data["mlp_original_us"], data["mlp_shunt_us"], data["mlp_speedup"],
               data["mlp_dense_us"])]


def csr():
    rows, all_cases = [], cases("rows.json")
    for kind in ("f32", "f64"):
        for n in (8, 16, 32, 64, 128):
            some = [c for c in all_cases if c.type == kind and c.width == n]
            kernels = [min(c.us.get(way, math.inf) for way in ("csr", "bundle", "sorted"))
                       for c in some]
            rows.append(("%s, %d" % (kind, n), "%d" % len(some),
                         "%d" % sum(c.routed == c.default for c in some),
                         with_least([c.default / c.routed for c in some]),
                         with_least([c.best / us for c, us in zip(some, kernels)])))
    return table(("type, N", "matrices", "left to cuSPARSE", "over its default, as routed",
                  "the best kernel over its best algorithm, after preprocess"), rows)


# What `shunt calibrate -v` says of a GPU and a cuSPARSE by the built-in table: {(asked for, type):
# [(cases, times as fast, least)...]}, a line for each width, "best" once for all.
def calibrated(gpu, version):
    found, inside, built_in = collections.defaultdict(list), False, False
    for line in lines("csr/regret-%s.txt" % gpu):
        if line.startswith("NVIDIA"):
            inside, built_in = "cuSPARSE %s:" % version in line, False
        built_in = built_in or line.startswith("by the built-in table")
        best = re.match(r" *over its best, (\w+): ([\d.]+), least ([\d.]+),.* of (\d+),", line)
        words = line.split()
        if not inside or not built_in:
            continue
        if best:
            found["best", best[1]].append((int(best[4]), float(best[2]), float(best[3])))
        elif words and words[0] == "default" and words[1] in ("f16", "f32", "f64"):
            found["default", words[1]].append((int(words[3]), float(words[6]), float(words[7])))
    return found


def over(some):
    """The mean of means, and the least."""
    cases = sum(n for n, _, _ in some)
    return (math.exp(sum(n * math.log(x) for n, x, _ in some) / cases),
            min(least for _, _, least in some))


def versions():
    columns = [(gpu, version) for gpu in ("h200", "h100") for version in ("12.6", "12.7", "12.9")]
    found = [calibrated(*column) for column in columns]
    name = {"default": "its default", "best": "its best, after preprocess"}
    return table(["compared with", "type"] + ["%s, %s" % (g.upper(), v) for g, v in columns],
                 [[name[what], kind] + ["%.2f (%.2f)" % over(f[what, kind]) if f[what, kind]
                                        else "" for f in found]
                  for what in name for kind in ("f16", "f32", "f64")])


def routed_cases(name, algorithms):
    """Each line of a table that has `routed`: a dictionary, and how many times as fast that is as
    cuSPARSE's default, and as the best of these algorithms of it."""
    rows = [line.split() for line in lines(name) if not line.startswith("#")]
    for row in rows[1:]:
        case = dict(zip(rows[0], row))
        if case["routed"] != "-":
            times = [float(case[k]) for k in algorithms if case.get(k, "-") != "-"]
            routed = float(case["routed"])
            yield case, float(case["default"]) / routed, min(times) / routed


def as_routed(name):
    """{type: [(over cuSPARSE's default, over its best)...]}"""
    found = collections.defaultdict(list)
    for case, default, best in routed_cases(name, ("default", "alg1", "alg3")):
        found[case["type"]].append((default, best))
    return found


def beside():
    rows = []
    for what, name in (("53 layers of the DLMC", "csr/dlmc-12.9.txt.gz"),
                       ("33 others", "csr/unseen.txt.gz")):
        for kind, some in sorted(as_routed(name).items()):
            rows.append(("%s, %s" % (what, kind), "%d" % len(some),
                         with_least([x for x, _ in some]), with_least([x for _, x in some]),
                         "%d" % sum(x < 1 for _, x in some)))
    return table(("matrices, type", "products", "over its default", "over its best",
                  "below its best"), rows)


def by_columns():
    """{(version, layout, type): [(over the default, over the best)...]} as routed."""
    found = collections.defaultdict(list)
    for case, default, best in routed_cases("columns/times.txt.gz", ("default", "alg3")):
        found[case["cusparse"], case["layout"], case["type"]].append((default, best))
    return found


def columns():
    found = by_columns()
    layouts = {"rr": "by rows", "cr": "B by columns", "rc": "C by columns", "cc": "both by columns"}
    return table(
        ["layout, type"] + ["over %s of %s" % (what, version) for version in ("12.6", "12.9")
                            for what in ("the default", "the best")],
        [["%s, %s" % (name, kind)] + [
            with_least([x[i] for x in found[version, layout, kind]])
            if found[version, layout, kind] else "" for version in ("12.6", "12.9") for i in (0, 1)]
         for layout, name in layouts.items() for kind in ("f16", "f32", "f64")])


def layers(name):
    rows, all_cases = [], cases(name)
    for height in sorted({c.height for c in all_cases}, reverse=True):
        for n in sorted({c.width for c in all_cases}):
            some = [c for c in all_cases if c.height == height and c.width == n]
            rows.append(("%d x 1, %d" % (height, n), "%d" % len(some),
                         with_least([c.default / c.routed for c in some]),
                         with_least([c.best / c.routed for c in some]),
                         with_least([c.us["cublas"] / c.routed for c in some])))
    return table(("vectors, N", "layers", "over cuSPARSE's default", "over its best algorithm",
                  "over cuBLAS on the dense matrix"), rows)


# The layers' three widths together, and PyTorch's products, on an H100.
def layers_by_version():
    columns = ("12.6", "12.9")
    found = [cases("versions/layers-h100-%s.json.gz" % v) for v in columns]
    torch = [[p["speedup"] for p in load("versions/pytorch-h100-%s.json" % v)["products"]]
             for v in columns]
    rows = [["PyTorch `A @ B`, 50 to 95 % zeros"] + [cell for some in torch
                                                     for cell in (with_least(some), "")] + [""]]
    for height in (8, 4, 2):
        some = [[c for c in version if c.height == height] for version in found]
        rows.append(["layers, %d x 1" % height] + [
            with_least(over) for version in some
            for over in ([c.default / c.routed for c in version],
                         [c.best / c.routed for c in version])] + [
            with_least([c.us["cublas"] / c.routed for c in some[-1]])])
    return table(["what"] + ["over %s's %s" % (v, what) for v in columns
                             for what in ("default", "best algorithm")] +
                 ["over cuBLAS on the dense matrix"], rows)


def vector():
    """Over cuBLAS, by height and share of vectors; as routed, and the packed kernel alone."""
    rows, all_cases = [], cases("vector/layers.json")
    for height in ("8", "4", "2"):
        for share in ("0.2", "0.1", "0.05", "0.02"):
            some = [c for c in all_cases if c.matrix.split(":")[2:] == [share, height]]
            rows.append(("%s x 1, %.0f %%" % (height, 100 - 100 * float(share)),
                         with_least([c.us["cublas"] / c.routed for c in some]),
                         with_least([c.us["cublas"] / c.us["vector-packed"] for c in some])))
    return table(("vectors, zeros", "over cuBLAS, as routed", "the packed kernel alone"), rows)


def vector_tf32():
    found = [line.split() for line in lines("vector/tf32.txt")]
    return table(
        ("matrix, N, zeros, V", "exact, from CSR, us", "SHUNT_MATH=tf32, us",
         "SHUNT_MATH=tf32x3, us"),
        [("%s x %s, %s, %.0f %%, %s" % (w[1], w[1], w[2], 100 * float(w[3]), w[0]), w[4],
          min(w[5:7], key=float), min(w[7:9], key=float))
         for w in found if len(w) == 10 and re.fullmatch(r"[248]", w[0])])


def row_order():
    found = [line.split() for line in lines("vector/ordered.txt")
             if re.match(r"shuffled:\S+ +\d+ ", line)]
    return table(("pattern, N", "with Shunt, us", "without another order, us",
                  "cuBLAS on the dense matrix, us"),
                 [("%s, %s" % (w[0], w[1]), w[6], w[7], w[5]) for w in found])


def prepared():
    found = [line.split("\t") for line in lines("prepared.txt") if not line.startswith("#")]
    return table(("matrix, zeros, N", "without preprocess, us", "after preprocess, us"),
                 [("%s x %s, %.0f %%, %s" % (w[0], w[1], 100 * float(w[2]), w[3]), w[4], w[5])
                  for w in found])


def pruned():
    """(size, N, us: int32 indices, int64, cuBLAS, cuSPARSELt) of 2:4 weights in PyTorch."""
    for line in lines("sparse24/in-place.txt"):
        found = re.match(r"(\d+)\^2 x (\d+): cuBLAS ([\d.]+), cuSPARSELt ([\d.]+) .*"
                         r"int32 ([\d.]+).*int64 ([\d.]+)", line)
        if found:
            size, n, cublas, cusparselt, int32, int64 = found.groups()
            yield size, n, int32, int64, cublas, cusparselt


def sparse24():
    return table(("matrix, N", "with Shunt, int32 indices, us", "int64, us",
                  "cuBLAS on the dense matrix, us", "cuSPARSELt, us"),
                 [("%s x %s, %s" % (x[0], x[0], x[1]),) + x[2:] for x in pruned()])


def sparse24_claim():
    """A row a matrix: with Shunt (cuBLAS, cuSPARSELt)."""
    found = list(pruned())
    widths = sorted({x[1] for x in found}, key=int)
    return table(["int32 indices, us"] + ["N = " + n for n in widths], [
        ["%s x %s" % (size, size)] + ["%s (%s, %s)" % (x[2], x[4], x[5])
                                      for n in widths for x in found if x[:2] == (size, n)]
        for size in sorted({x[0] for x in found}, key=int)])


def sparse24_int8():
    rows = []
    for line in lines("sparse24/int8.txt"):
        if line.startswith("B by rows"):
            break
        w = line.split()
        if re.match(r"\d+x\d+ ", line) and len(w) >= 7:
            rows.append(("%s, %s" % (w[0].replace("x", " x "), w[1]), w[2], w[4],
                         "not measured" if w[5] == "-" else w[5]))
    return table(("matrix, N", "with Shunt, us", "cuBLAS on the dense matrix, us",
                  "cuSPARSE, us"), rows)


def srbcrs():
    return table(("stored", "N", "srbcrs", "routed", "csr", "cuSPARSE's default", "its best"), [
        ["%g %%" % (100 * float(c.matrix.split(":")[2])), str(c.width)] + [
            "%.1f" % x for x in (c.us["srbcrs"], c.routed, c.us["csr"], c.default, c.best)]
        for c in cases("srbcrs/routed.json")])


def integer_peers():
    """srbcrs beside what else multiplies the pattern; f16 cases bring cuBLAS and `vector`."""
    if not os.path.exists(os.path.join(folder, "srbcrs/peers.json")):
        return ["Not measured yet."]
    found = {}
    for c in cases("srbcrs/peers.json"):
        found.setdefault((c.matrix, c.width), {})[c.type] = c
    rows = []
    for (matrix, n), of in found.items():
        us, half = of["i8"].us, of["f16"].us
        vector = min((v for k, v in half.items() if k.startswith("vector")), default=None)
        size, stored = matrix.split(":")[1:3]
        times = (us.get("srbcrs"), us.get("routed"), us.get("cublaslt-i8"),
                 us.get("cublaslt-fp8"), half.get("cublas"), vector, of["i8"].default,
                 of["i8"].best, us.get("blocked-ell"))
        rows.append([size.split("x")[0], "%g %%" % (100 * float(stored)), str(n)] +
                    ["%.1f" % x if x else "refused" for x in times] +
                    ["%.2f" % (times[2] / times[0]) if times[0] and times[2] else ""])
    return table(("rows", "stored", "N", "srbcrs", "routed", "cuBLASLt int8", "cuBLASLt e4m3",
                  "cuBLAS fp16", "vector, fp16", "cuSPARSE's default", "its best",
                  "Blocked-ELL", "cuBLASLt int8 / srbcrs"), rows)


def integer_times(what):
    """{(V, sparsity, N or K, bits): least us of all shapes}; bits "f16": the kernel of `vector`."""
    least = {}
    for line in lines("integers.txt"):
        found = re.match(r"time %s 4096 x 4096 V (\d) sparsity ([\d.]+) [NK] (\d+) "
                         r"(?:bits ([\d x]+?)|(f16)) (?:columns|phases|vector)\b.*?([\d.]+) us"
                         % what, line)
        if not found:
            continue
        key = int(found[1]), float(found[2]), int(found[3]), found[4] or found[5]
        least[key] = min(float(found[6]), least.get(key, math.inf))
    return least


def integer_table(what, letter, kinds):
    us = integer_times(what)
    rows = sorted({k[:3] for k in us}, key=lambda k: (-k[0],) + k[1:])
    return table(("V, zeros, %s" % letter,) + kinds, [
        ("%d, %g %%, %d" % (row[0], 100 * row[1], row[2]),) +
        tuple("%.1f" % us[row + (kind,)] if row + (kind,) in us else "" for kind in kinds)
        for row in rows])


def integer_attention():
    found = {}
    for line in lines("integers.txt"):
        head = re.match(r"time attention (\d+) heads (\d+) sparsity ([\d.]+) (.*)", line)
        if head:
            row = found.setdefault((int(head[1]), int(head[2]), round(float(head[3]), 2)), {})
            row.update(re.findall(r"(trio|fused|8b-8b|16b-8b):? ([\d.]+) us", head[4]))
    kinds = ("trio", "fused", "8b-8b", "16b-8b")
    return table(("sequence, heads, zeros", "fp16, three calls", "fp16, fused", "8b-8b", "16b-8b"),
                 [("%d, %d, %g %%" % (k[0], k[1], 100 * k[2]),) +
                  tuple(row.get(kind, "") for kind in kinds) for k, row in sorted(found.items())])


def bsr():
    found, rows = list(block_lines()), []
    for form, name, kinds in (("bsr", "BSR", ("f16", "f32", "f64", "i8")),
                              ("ell", "Blocked-ELL", ("f16", "f32", "f64"))):
        for kind in kinds:
            rows.append([name + ", " + kind] + [
                with_least([x for f, k, s, x in found if (f, k, s) == (form, kind, size)])
                for size in (4, 8, 16, 32)])
    return table(("format, type", "blocks of 4", "of 8", "of 16", "of 32"), rows)


def tile():
    rows, all_cases = [], cases("tile/formats.json")
    for n in sorted({c.width for c in all_cases}):
        some = [c for c in all_cases if c.width == n]
        rows.append(("%d" % n, "%d" % len(some), "%d" % sum(c.route == "tile" for c in some),
                     with_least([c.default / c.routed for c in some]),
                     with_least([c.best / c.routed for c in some])))
    return table(("N", "matrices", "taken by tile", "over cuSPARSE's default",
                  "over its best algorithm, after preprocess"), rows)


def sddmm():
    def pattern(name):
        return name.replace("random:4096x4096:0.1:8", "8x1, 90 %").replace(
            "random:4096x4096:0.1", "random, 90 %")
    return table(("pattern, inner size, orders of A and B", "cuSPARSE, us", "with Shunt, us",
                  "route", "times as fast"),
                 [("%s, %d, %s" % (pattern(c.matrix), c.width, c.orders), "%.1f" % c.default,
                   "%.1f" % c.routed, c.route, "%.1f" % (c.default / c.routed))
                  for c in cases("sddmm.json")])


def sddmm_scattered():
    rows, all_cases = [], cases("sddmm-mtx.json")
    for n in sorted({c.width for c in all_cases}):
        some = [c.default / c.routed for c in all_cases if c.width == n]
        rows.append(("%d" % n, "%d" % len(some), with_least(some)))
    return table(("inner size", "matrices", "times as fast as cuSPARSE"), rows)


def solvers():
    data, rows = load("solvers.json"), []
    for a, b in zip(data["plain"], data["shunt"]):
        rows.append((a["name"], "%d, %s" % (a["block"], a["dtype"].replace("float", "f")),
                     "%d, %d" % (a["iterations"], b["iterations"]), "%.1f" % (1e3 * a["seconds"]),
                     "%.1f" % (1e3 * b["seconds"]), "%.2f" % (a["seconds"] / b["seconds"])))
    for loop in data["petsc"]["loops"]:
        a, b = loop["original_us"] / 1e3, loop["shunt_us"] / 1e3
        rows.append(("petsc_loop, one step", "%d, %s" % (loop["n"], loop["type"]), "", "%.2f" % a,
                     "%.2f" % b, "%.2f" % (a / b)))
    return table(("solver", "columns, type", "iterations: cuSPARSE, Shunt", "cuSPARSE, ms",
                  "with Shunt, ms", "times as fast"), rows)


def ranks():
    """Products a second and memory of one process and of eight, by name of the run."""
    named = {"plain": "without Shunt", "default": "Shunt", "mb-256": "Shunt, 256 MB",
             "mb-64": "Shunt, 64 MB", "mb-0": "Shunt, no copies", "plain-ahead-8": "without, 512",
             "default-ahead-8": "Shunt, 512"}
    runs = {}
    for line in lines("scale/ranks.txt"):
        name, *words = line.split()
        if name in named:
            values = dict(word.split("=") for word in words)
            runs.setdefault(name, {})[values.get("processes", "rate")] = values
    rows = []
    for name, label in named.items():
        one, all_ = (float(runs[name][n]["products_a_second"]) for n in "18")
        rows.append((label, "%d" % one, "%d" % all_, "%.2f" % (all_ / one),
                     runs[name]["1"]["used_mb"], runs[name]["8"]["used_mb"]))
    return table(("", "products a second: one process", "eight", "eight of one", "MB, one process",
                  "eight"), rows)


def dist2():
    """A function that gives ms of a run in one step or iteration, in brackets what part products
    take, and how many times as fast it is as another; nothing of runs that there are not."""
    values = dict(line.split("=") for line in lines("scale/dist2.txt") if line[0] != "#")
    values = {tuple(key.split(" / ")): float(value) for key, value in values.items()}

    def us(run):
        return values.get((run, "us_a_step"), values.get((run, "us_an_iteration")))

    def step(run, plain=None):
        if us(run) is None:
            return ""
        share = values.get((run, "product_share"))
        text = "%.2f" % (us(run) / 1e3) + (" (%.2f)" % share if share else "")
        return text + (", %.2f x" % (us(plain) / us(run)) if plain and us(plain) else "")

    return values, us, step


def both(step, name):
    return step("original-" + name), step(name, "original-" + name)


def two_gpus():
    _, us, step = dist2()
    modes = (("1 rank", "1"), ("2 ranks", "2"), ("2 ranks, overlapped", "2-copies1"),
             ("2 ranks, in 2 pieces", "2-copies2"))
    rows = []
    for kind in ("f32", "bf16"):
        for words, how in modes:
            cells = []
            for graph in ("", "-graphs"):
                name = "dist2-gcn-%s-%s" % (kind, how + graph)
                one = us("dist2-gcn-%s-1%s" % (kind, graph))
                cells += [*both(step, name), "" if how == "1" else "%.2f" % (one / us(name) / 2)]
            rows.append((kind + ", " + words, *cells))
    return table(("", "plain", "Shunt", "efficiency", "as a graph: plain", "Shunt", "efficiency"),
                 rows)


def two_gpus_solvers():
    values, _, step = dist2()
    rows = []
    for words, name in (("block CG, elastic, 16", "elastic16"),
                        ("block CG, elastic, 32", "elastic32"),
                        ("block CG, 7 points, 32", "laplace32"),
                        ("LOBPCG, elastic, 16", "elastic16-lobpcg"),
                        ("LOBPCG, 7 points, 16", "laplace16-lobpcg")):
        runs = [who + "dist2-" + name + ranks for ranks in ("-1", "") for who in ("original-", "")]
        counts = [values.get((run, "iterations")) for run in runs]
        counts = sorted({"%d" % count for count in counts if count})
        if counts:
            rows.append((words, ", ".join(counts), *both(step, "dist2-%s-1" % name),
                         *both(step, "dist2-" + name)))
    return table(("solver, matrix, columns", "iterations", "1 rank, plain", "Shunt",
                  "2 ranks, plain", "Shunt"), rows)


def host():
    """Calls are named by their routes; the file may have the routes' earlier names."""
    today = {"rows": "csr", "groups": "bundle", "tile24": "sparse24", "merged": "tile"}
    rows = []
    for line in lines("host.txt"):
        if not line.startswith("#"):
            ours, theirs, call = line.split(" ", 2)
            name = " ".join(today.get(word, word) for word in call.split())
            rows.append((name, theirs, ours))
    return table(("call", "without Shunt, us", "with Shunt, us"), rows)


def short_programs():
    """C: its products, and the process; PyTorch: its products."""
    rows = []
    for line in lines("first-call.txt"):
        if line[:2] in ("C ", "Py"):
            program, kind, calls, plain, shunt, _, *products = line.split()
            a, b = products or (plain, shunt)
            rows.append(("%s, %s" % (program, kind), calls, "%.1f" % float(a), "%.1f" % float(b),
                         "%.2f" % (float(b) / float(a)),
                         "%.0f, %.0f" % (float(plain), float(shunt)) if products else ""))
    return table(("program", "calls", "products without Shunt, ms", "with, ms", "times as long",
                  "the process, ms"), rows)


def attention():
    found = [line.split("\t") for line in lines("attention.txt") if not line.startswith("#")]
    return table(("sequence, share of pairs", "shunt_attention, ms", "its memory, MB",
                  "cuBLAS and dense softmax, ms", "their memory, MB",
                  "flash attention on all pairs, ms"),
                 [("%s, %s" % (w[0], w[1]), w[2], w[9], w[4], w[10], w[5]) for w in found])


def graphblas():
    data = load("graphblas-gpu.json")
    def key(r):
        return r["matrix"], r["case"], r["type"]
    plain = {key(r): r["median_s"] * 1e3 for r in data["plain"] if "case" in r}
    rows = []
    for what, some in (("", data["shunt"]), ("", data["beyond"]),
                       (", host engine alone", data["host_engine"])):
        for r in some:
            if "case" not in r:
                continue
            ms, theirs = r["median_s"] * 1e3, plain.get(key(r))
            rows.append((r["case"] + what, "%s, %s" % (r["matrix"], r["type"]),
                         "%.1f" % theirs if theirs else "-", "%.1f" % ms,
                         "%.1f" % (theirs / ms) if theirs else "-",
                         "%.0f %%" % (100 * r["bus_share"])))
    return table(("product", "matrix, type", "GraphBLAS, ms", "with Shunt, ms", "times as fast",
                  "of the bus"), rows)


def graphblas_host():
    rows = []
    for kind, x, count, least, rest in graphblas_host_means():
        what = ("32 orientations, %s, 64 columns" % kind if kind else
                "26 matrices" + rest.replace("k = 1 (", "one column (").replace("k = ", "") +
                ("" if "(" in rest else " columns"))
        rows.append((what, x, least or "-"))
    return table(("products", "times as fast", "least"), rows)


def graph_gains():
    """Times as fast, by product, of each graph."""
    gains = {}
    for r in load("graphs/products.json")["graphs"]["products"]:
        gains.setdefault(r["product"], []).append(r["graphblas_ms"] / r["shunt_ms"])
    return gains


def graph_gpu_gains():
    """Times as fast, of each graph and product on a GPU."""
    return [float(line.split()[-1]) for line in lines("graphs/gpu.txt") if not line.startswith("#")]


def graph_program_gains():
    """Times as fast, of programs on two threads, from 32 nodes and more."""
    rows = [line.split() for line in lines("graphs/mesh.txt")]
    return [float(r[8]) for r in rows
            if r[0] == "2" and r[1] in ("bc", "msbfs") and int(r[3]) >= 32]


def graphs():
    return table(("product", "graphs", "times as fast: mean (least to greatest)"),
                 [("`%s`, %s" % tuple(product.split(", ")), str(len(x)), span(x))
                  for product, x in graph_gains().items()])


# ---- the table of README.md -------------------------------------------------------------------
def gains():
    torch, solver, grb = load("pytorch.json"), load("solvers.json"), load("graphblas-gpu.json")
    mtx, dlmc = cases("rows.json"), cases("dlmc.json")
    mlp = torch["mlp_speedup"]
    plain = {(r["matrix"], r["case"], r["type"]): r["median_s"] for r in grb["plain"]
             if "case" in r}
    gpu = [plain[r["matrix"], r["case"], r["type"]] / r["median_s"] for r in grb["shunt"]
           if "case" in r]
    host_rows = [(kind, float(x), least) for kind, x, _, least, _ in graphblas_host_means()]
    bench, gpu_check = "shunt bench ", "sh tests/gpu/check_gpu.sh BUILD OUT "
    blocks = [x for form, kind, _, x in block_lines() if (form, kind) == ("bsr", "f16")]
    rows = [
        ("PyTorch `A @ B`, fp16, 50 to 95 % zeros, 60 cases", "cuSPARSE's default",
         span([p["speedup"] for p in torch["products"]]), gpu_check + "bench"),
        ("the same on an H100", "cuSPARSE 12.9's default",
         span([p["speedup"] for p in load("versions/pytorch-h100-12.9.json")["products"]]),
         gpu_check + "bench"),
        ("PyTorch, a pruned network of two layers, whole step", "cuSPARSE's default",
         "%.1f" % mlp, gpu_check + "bench"),
        ("26 matrices of solvers and graphs, fp32 and fp64, 8 to 128 columns", "cuSPARSE's default",
         span([c.default / c.routed for c in mtx]), bench + "--suite mtx"),
        ("133 scattered matrices and layers, fp32 and fp64, 8 to 1024 columns",
         "cuSPARSE 12.9's default", "%.2f (least %.2f)" % over(
             [x for kind in ("f32", "f64") for x in calibrated("h200", "12.9")["default", kind]]),
         "shunt calibrate -v"),
        ("53 pruned layers as they are, fp16, fp32 and fp64, 8 to 256 columns",
         "cuSPARSE 12.9's best, after preprocess",
         span([x for some in as_routed("csr/dlmc-12.9.txt.gz").values() for _, x in some]),
         bench + "-t f16,f32,f64 -n 8,32,64,128,256 FILE..."),
        ("28 matrices, B and C by columns, fp32 and fp64", "cuSPARSE 12.9's default",
         span([x for kind in ("f32", "f64") for x, _ in by_columns()["12.9", "cc", kind]]),
         bench + "-t f32,f64 -n 8,32,128 --layout cc FILE..."),
        ("53 pruned layers in 2, 4 and 8 x 1 vectors, fp16", "cuSPARSE's default",
         span([c.default / c.routed for c in dlmc]), bench + "--suite dlmc"),
        ("the same layers", "cuBLAS on the dense matrix",
         span([c.us["cublas"] / c.routed for c in dlmc]), bench + "--suite dlmc"),
        ("6 matrices of finite elements, fp16", "cuSPARSE's best, after preprocess",
         span([c.best / c.routed for c in cases("tile/formats.json")]),
         bench + "-t f16 -n 32,64,128,256 FILE..."),
        ("int8 in 8 x 1 vectors, 4096 x 4096, 80 to 98 % zeros, on an H100",
         "cuSPARSE's best, after preprocess",
         span([c.best / c.routed for c in cases("srbcrs/routed.json")]),
         bench + "-t i8 -n 64,256,1024 random:4096x4096:{0.2,0.1,0.05,0.02}:8"),
        ("A transposed, 30 sparse matrices, fp32, fp64 and complex, on an H100",
         "cuSPARSE's best, after preprocess",
         span([c.best / c.routed for c in cases("csr/transposed-mtx.json.gz") if c.routed]),
         bench + "--op-a T -t f32,f64,c32,c64 -n 32,128 FILE..."),
        ("BSR, fp16", "cuSPARSE", span(blocks), "tests/bench/bsr_bench h"),
        ("`cusparseSDDMM`, fp16, 4096 x 4096, 90 % zeros", "cuSPARSE",
         span([c.default / c.routed for c in cases("sddmm.json")]),
         bench + "--op sddmm -t f16 -n 256,512,1024 --layout rr,rc random:4096x4096:0.1{,:8}"),
        ("CuPy, four block solvers, whole programs", "cuSPARSE's default",
         span([a["seconds"] / b["seconds"] for a, b in zip(solver["plain"], solver["shunt"])]),
         'SOLVERS="--mesh 40x3" ' + gpu_check + "solvers"),
        ("C, a smoother's loop, fp32 and fp64", "cuSPARSE's default",
         span([p["original_us"] / p["shunt_us"] for p in solver["petsc"]["loops"]]),
         gpu_check + "solvers"),
        ("GraphBLAS, 2 CPU cores, fp32, 32 orientations", "GraphBLAS 7.4.0",
         "%.2f (least %s)" % [(x, least) for kind, x, least in host_rows if kind == "fp32"][0],
         "tests/bench/graphblas_host_bench"),
        ("GraphBLAS, graphs, `C<S> = S S'` as in k-truss, 2 CPU cores, 12 graphs",
         "GraphBLAS 7.4.0", span(graph_gains()["C<S> = S S', plus.pair uint32"]),
         "tests/bench/graphblas_graphs GRAPH..."),
        ("GraphBLAS, betweenness from 32 and 128 nodes and search from 64, whole programs, "
         "3 graphs, 2 CPU cores", "GraphBLAS 7.4.0", span(graph_program_gains()),
         "tests/clients/graphblas_bc FILE 32"),
        ("GraphBLAS, k-truss and triangles of R-MAT graphs, 8 and 31 million entries, on an H100",
         "GraphBLAS on 16 threads", span(graph_gpu_gains()),
         'tests/bench/graphblas_graphs -q -t 16 -p "\', plus.pair" rmat18 rmat20'),
        ("GraphBLAS on the GPU, large matrices, fp32 and fp64", "GraphBLAS on 16 cores",
         span(gpu), "tests/bench/graphblas_gpu_bench"),
    ]
    return table(("what", "compared with", "times as fast: mean (least to greatest)", "command"),
                 [(w, a, x, "`%s`" % c) for w, a, x, c in rows])


TABLES = {
    "gains": gains, "pytorch": pytorch, "network": network, "csr": csr, "versions": versions,
    "beside": beside,
    "columns": columns,
    "layers by version": layers_by_version, "layers": lambda: layers("dlmc.json"),
    "layers sddmm": lambda: layers("dlmc-sddmm.json"),
    "vector": vector, "vector tf32": vector_tf32, "row order": row_order, "prepared": prepared,
    "sparse24": sparse24, "sparse24 claim": sparse24_claim, "sparse24 int8": sparse24_int8,
    "srbcrs": srbcrs, "integers peers": integer_peers, "integers attention": integer_attention,
    "integers spmm": lambda: integer_table("spmm", "N", (
        "16 x 16", "16 x 8", "16 x 4", "8 x 8", "8 x 4", "4 x 4")),
    "integers sddmm": lambda: integer_table("sddmm", "K", ("f16", "16", "8", "4")),
    "bsr": bsr, "tile": tile,
    "sddmm": sddmm, "sddmm scattered": sddmm_scattered, "solvers": solvers, "host": host,
    "ranks": ranks, "two gpus": two_gpus,
    "two gpus solvers": two_gpus_solvers,
    "short programs": short_programs, "attention": attention, "graphblas": graphblas,
    "graphblas host": graphblas_host, "graphs": graphs,
}


# ---- the documents ----------------------------------------------------------------------------
def documents(sources):
    """README.md and each page that has a table."""
    def has_table(path):
        with open(os.path.join(sources, path)) as file:
            return "<!-- table:" in file.read()
    pages = glob.glob(os.path.join(sources, "tests/bench/*.md"))
    return ["README.md"] + sorted(filter(has_table, (os.path.relpath(p, sources) for p in pages)))


def written(text):
    """The document with its tables written anew, and the names of these."""
    names = []

    def one(found):
        names.append(found.group(1))
        if found.group(1) not in TABLES:
            sys.exit("no table is called '%s'; there are: %s" % (
                found.group(1), ", ".join(sorted(TABLES))))
        return "<!-- table: %s -->\n%s\n<!-- end -->" % (
            found.group(1), "\n".join(TABLES[found.group(1)]()))
    return re.sub(r"<!-- table: ([\w ]+) -->\n.*?<!-- end -->", one, text, flags=re.S), names


def main():
    global folder
    check = sys.argv[1:2] == ["--check"]
    if len(sys.argv) != 2 + check:
        print(__doc__, file=sys.stderr)
        return 2
    sources = sys.argv[-1]
    folder = os.path.join(sources, RESULTS)
    failed, seen = 0, set()
    checked = documents(sources)
    for document in checked:
        path = os.path.join(sources, document)
        with open(path) as file:
            text = file.read()
        new, names = written(text)
        seen.update(names)
        if check:
            good = new == text and bool(names)
            failed += not good
            print("%s - the tables of %s equal %s"
                  % ("ok" if good else "not ok", document, RESULTS))
        elif new != text:
            with open(path, "w") as file:
                file.write(new)
    if check:
        missing = sorted(set(TABLES) - seen)
        failed += bool(missing)
        print("%s - every table stands in a document%s" % (
            "not ok" if missing else "ok", ": not " + ", ".join(missing) if missing else ""))
        print("%d passed, %d failed" % (len(checked) + 1 - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
