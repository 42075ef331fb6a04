#!/usr/bin/env python3
"""fit_costs.py TIMES.tsv: fits the coefficients of struct shunt_fit_costs
(backend/routes/cost_table.h) and says what the choice between routes is worth on matrices that
took no part in the fit.

Each model is fitted by the least relative error, each coefficient between a third and three times
the one that is built in (backend/routes/*_cost.c): what a few matrices cannot tell stays as it is.
Regret of a case: by how much the way that the estimates choose is slower than the fastest one.
Every matrix is left out once: the coefficients come from all others, the choice is made for it.

TIMES.tsv: a line for each matrix, type and N; `-` where a way was not measured.

    matrix type n rows cols nnz longest vectors group csr bundle tile default alg1 alg2 alg3

Prints mean and worst regret for each type and N, and the coefficients of the fit to all matrices;
exit status 1 where a bar of the means (3 %) or of the worst (15 %) is not met."""
import re
import sys
from pathlib import Path

ROUTES = Path(__file__).resolve().parents[2] / "backend" / "routes"
SIZE = {"f16": 2, "f32": 4, "f64": 8}
L2 = 60 << 20
MARGIN = {"f32": 1.1, "f64": 1.0}  # backend/routes/bundle.c
NAMES = ("start", "entry", "gather", "written", "row", "list", "longest", "beyond", "far")


def read(path):
    cases = []
    with open(path, encoding="ascii") as lines:
        head = next(lines).split()
        for line in lines:
            case = dict(zip(head, line.split()))
            for key, value in case.items():
                if key not in ("matrix", "type"):
                    case[key] = None if value == "-" else float(value)
            cases.append(case)
    return cases


def features(case, gathered, late):
    """What shunt_cost_fitted multiplies the coefficients with, in the order of NAMES."""
    row = case["n"] * SIZE[case["type"]]
    some = min(late, 512)
    more = min(late, 4096) - some
    far = max(1 - L2 * 0.75 / (case["cols"] * row + 1), 0) * gathered * row
    return (1, 1e-6 * case["nnz"], 1e-9 * gathered * row, 1e-9 * case["rows"] * row,
            1e-6 * case["rows"], 1e-6 * gathered, 1e-3 * some, 1e-3 * more, 1e-9 * far)


def of_rows(case):
    late = max(case["longest"] - case["nnz"] / (case["rows"] + 1), 0)
    return features(case, case["nnz"], late)


def of_groups(case):
    return features(case, case["vectors"], case["group"])


def built_in():
    """The coefficients of each model, by its name."""
    found = {}
    for file in ("csr", "bundle", "original"):
        text = re.sub(r"/\*.*?\*/", "", (ROUTES / f"{file}_cost.c").read_text(), flags=re.S)
        for name, body in re.findall(r"\.(\w+)\s*=\s*\{([^{}]*)\}", text):
            values = dict(re.findall(r"\.(\w+)\s*=\s*([\d.e+-]+)", body))
            found[f"{file} {name}"] = [float(values.get(k, 0)) for k in NAMES]
    return found


def fit(points, about):
    """points: (features, us).  Coordinate descent within a box."""
    count = len(NAMES)
    rows = [[f / us for f in x] for x, us in points]
    gram = [[sum(r[i] * r[j] for r in rows) for j in range(count)] for i in range(count)]
    right = [sum(r[i] for r in rows) for i in range(count)]
    c = list(about)
    low = [about[0] / 1.5] + [x / 2 for x in about[1:]]
    high = [about[0] * 1.5] + [x * 2 for x in about[1:]]
    for _ in range(300):
        for i in range(count):
            if gram[i][i] > 0:
                rest = right[i] - sum(gram[i][j] * c[j] for j in range(count) if j != i)
                c[i] = min(max(rest / gram[i][i], low[i]), high[i])
    return c


def estimate(c, x):
    return sum(a * b for a, b in zip(c, x))


def model_of(way, case):
    """The name of the table's entry that a case belongs to; None: there is none."""
    kind, narrow = case["type"], case["n"] * SIZE[case["type"]] <= 128
    if way == "csr":
        return "csr scattered_half" if kind == "f16" else "csr scattered"
    if way == "bundle":
        return None if kind == "f16" else "bundle " + kind
    return "original " + ("narrow" if narrow else "wide")


WAYS = {"csr": of_rows, "bundle": of_groups, "default": of_rows}


def fit_all(cases):
    points = {}
    for case in cases:
        for way, of in WAYS.items():
            name = model_of(way, case)
            if name and case[way] is not None:
                points.setdefault(name, []).append((of(case), case[way]))
    about = built_in()
    return {name: fit(p, about[name]) for name, p in points.items()}


def chosen(models, case):
    best = None
    for way, of in WAYS.items():
        name = model_of(way, case)
        if not name or name not in models or case[way] is None:
            continue
        us = estimate(models[name], of(case))
        if way == "bundle":
            us *= MARGIN[case["type"]]
        if best is None or us < best[0]:
            best = (us, way)
    return best[1]


def main():
    cases = read(sys.argv[1])
    regrets = {}
    for matrix in sorted({c["matrix"] for c in cases}):
        models = fit_all([c for c in cases if c["matrix"] != matrix])
        for case in (c for c in cases if c["matrix"] == matrix):
            measured = [case[w] for w in WAYS if case[w] is not None]
            way = chosen(models, case)
            regret = case[way] / min(measured) - 1
            regrets.setdefault((case["type"], int(case["n"])), []).append((regret, matrix, way))
    good = True
    print("type  n    cases  mean %  worst %")
    for (kind, n), all_of in sorted(regrets.items()):
        mean = 100 * sum(r for r, _, _ in all_of) / len(all_of)
        worst = max(all_of)
        good = good and mean <= 3 and worst[0] <= 0.15
        print(f"{kind:4} {n:4} {len(all_of):6} {mean:7.1f} {100 * worst[0]:8.1f}  "
              f"{worst[1]}, {worst[2]}")
    for name, c in sorted(fit_all(cases).items()):
        print(name + ": " + ", ".join(f".{k} = {v:.3g}" for k, v in zip(NAMES, c) if v > 0))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
