#!/usr/bin/env python3
"""readme_table.py [--check] README RESULTS: writes the README's tables from the committed
results, between its "table:" and "end" marks; --check only says whether they are equal."""
import json
import math
import re
import sys


def pytorch(folder):
    data = json.load(open(folder + "/pytorch.json"))
    rows = ["| pattern, sparsity, N | cuSPARSE, us | with Shunt, us | speed-up | cuBLAS on the dense matrix, us |",
            "| --- | --- | --- | --- | --- |"]
    for p in data["products"]:
        if p["index"] != "int64" or p["sparsity"] not in (0.5, 0.9, 0.95):
            continue
        kind = "8x1" if p["group"] == 8 else "random"
        rows.append("| %s, %.2f, %d | %.0f | %.1f | %.1f | %.1f |" % (
            kind, p["sparsity"], p["n"], p["original_us"], p["shunt_us"], p["speedup"], p["dense_us"]))
    rows.append("")
    rows.append("A 2-layer pruned MLP in PyTorch (fp16, 4096 wide, 90 %%, batch 1024), wall time: %.0f us -> %.0f us, "
                "%.1f x (dense: %.0f us)." % (data["mlp_original_us"], data["mlp_shunt_us"], data["mlp_speedup"],
                                              data["mlp_dense_us"]))
    return rows


def mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def rows_table(folder):
    times = {}
    for case in json.load(open(folder + "/rows.json"))["cases"]:
        us = {w["way"]: w["us"] for w in case["ways"] if w.get("us")}
        kind = case["problem"].split(":")[2].split(".")[0]
        best = min(v for k, v in us.items() if k.startswith("cusparse"))
        ours = min(v for k, v in us.items() if k in ("csr", "bundle"))
        default = us["cusparse-default"]
        times[case["matrix"], case["width"], kind] = (us.get("routed", default), default, best, ours)
    out = ["| type, N | matrices, left to cuSPARSE | over cuSPARSE's default, as routed: mean (least) "
           "| the better kernel over its best, with preprocess: mean (least) |",
           "| --- | --- | --- | --- |"]
    for kind in ("f32", "f64"):
        for n in (8, 16, 32, 64, 128):
            t = [v for (_, m, k), v in times.items() if m == n and k == kind]
            d, b = [v[1] / v[0] for v in t], [v[2] / v[3] for v in t]
            left = sum(v[0] == v[1] for v in t)
            out.append("| %s, %d | %d, %d | %.2f (%.2f) | %.2f (%.2f) |" % (
                kind, n, len(t), left, mean(d), min(d), mean(b), min(b)))
    return out


def sddmm(folder):
    out = ["| pattern, inner size, orders of A and B | cuSPARSE, us | with Shunt, us | by | speed-up |",
           "| --- | --- | --- | --- | --- |"]
    for case in json.load(open(folder + "/sddmm.json"))["cases"]:
        us = {w["way"]: w["us"] for w in case["ways"] if w.get("us")}
        route = [w["note"] for w in case["ways"] if w["way"] == "routed"][0]
        out.append("| %s, %d, %s | %.1f | %.1f | %s | %.1f |" % (
            case["matrix"].replace("random:4096x4096:0.1:8", "8x1, 90 %").replace("random:4096x4096:0.1", "random, 90 %"),
            case["width"], case["problem"].split(":")[6], us["cusparse-default"], us["routed"], route,
            us["cusparse-default"] / us["routed"]))
    return out


def solvers(folder):
    data = json.load(open(folder + "/solvers.json"))
    out = ["| solver | block, type | iterations | cuSPARSE, ms | with Shunt, ms | speed-up |",
           "| --- | --- | --- | --- | --- | --- |"]
    for a, b in zip(data["plain"], data["shunt"]):
        out.append("| %s | %d, %s | %d, %d | %.1f | %.1f | %.2f |" % (
            a["name"], a["block"], a["dtype"].replace("float", "f"), a["iterations"], b["iterations"],
            1e3 * a["seconds"], 1e3 * b["seconds"], a["seconds"] / b["seconds"]))
    for loop in data["petsc"]["loops"]:
        a, b = loop["original_us"] / 1e3, loop["shunt_us"] / 1e3
        out.append("| petsc_loop, one step | %d, %s | | %.2f | %.2f | %.2f |" % (
            loop["n"], loop["type"], a, b, a / b))
    return out


def graphblas_host(folder):
    lines = open(folder + "/graphblas-host.txt").read().splitlines()
    mean = [line[2:] for line in lines if line.startswith("# fp") or line.startswith("# geometric")]
    return ["* " + line for line in mean]


def graphblas(folder):
    data = json.load(open(folder + "/graphblas-gpu.json"))
    key = lambda r: (r["matrix"], r["case"], r["type"])
    plain = {key(r): r["median_s"] * 1e3 for r in data["plain"] if "case" in r}
    out = ["| product | matrix, type | GraphBLAS, ms | with Shunt, ms | speed-up | of the bus |",
           "| --- | --- | --- | --- | --- | --- |"]
    for what, rows in (("", data["shunt"]), ("", data["beyond"]), (", host engine alone", data["host_engine"])):
        for r in rows:
            if "case" not in r:
                continue
            ms, theirs = r["median_s"] * 1e3, plain.get(key(r))
            out.append("| %s%s | %s, %s | %s | %.1f | %s | %.0f %% |" % (
                r["case"], what, r["matrix"], r["type"], "%.1f" % theirs if theirs else "-", ms,
                "%.1f" % (theirs / ms) if theirs else "-", 100 * r["bus_share"]))
    return out


def main():
    check = sys.argv[1:2] == ["--check"]
    readme, folder = sys.argv[-2:]
    text = open(readme).read()
    new = text
    for name, table in (("pytorch", pytorch(folder)), ("rows", rows_table(folder)),
                        ("sddmm", sddmm(folder)), ("solvers", solvers(folder)), ("graphblas", graphblas(folder)),
                        ("graphblas host", graphblas_host(folder))):
        new = re.sub(r"(<!-- table: %s -->\n).*?(<!-- end -->)" % name,
                     lambda m: m.group(1) + "\n".join(table) + "\n" + m.group(2), new, flags=re.S)
    if check:
        good = new == text
        print(("ok" if good else "not ok") + " - the README's tables equal tests/bench/results")
        print("%d passed, %d failed" % (good, not good))
        return not good
    open(readme, "w").write(new)
    return 0


sys.exit(main())
