#!/usr/bin/env python3
"""fit_costs.py [--table] TIMES.tsv: fits the lines of struct shunt_fit_costs (backend/costs) and
says what the choice between `csr`, `bundle` and cuSPARSE is worth on matrices that took no part in
the fit.

A line is fitted by the least relative error, no coefficient below 0, and `start` not below three
quarters of the least time that it is fitted to; the numbers that are built in play no part.  Which
terms a line has (TERMS) was found with all matrices at hand.  Each matrix is left out once: the
coefficients come from all others, and for it the choice is made as the router makes it
(LEAST_MEAN_ROW to over_csr below repeat backend/routes), against cuSPARSE's default, CSR_ALG1 and
CSR_ALG3, the last two preprocessed.  Matrices with more than one entry in 64 have models of layers,
which other files were fitted to: they are as built in.  Regret of a case: by how much the chosen
way is slower than the fastest that could have been chosen.

TIMES.tsv: a line for each matrix, type and N; `-` where a way was not measured.

    matrix type n rows cols nnz longest vectors group csr bundle default alg1 alg2 alg3

Prints for each algorithm, type and N the mean and the worst regret, how many times as fast as
cuSPARSE the choice is (geometric mean and least), and how many cases it loses to the default by
more than 2 %; what the choice gains over the best algorithm of each case; then the same by the
built-in tables.  With --table, the lines that all matrices
give, each with how far a case is off (geometric standard deviation).  Exit status 1 where a bar is
missed: 3 % in the mean, 15 % at worst, 0.98 of the default."""
import math
import sys
from pathlib import Path

TABLES = Path(__file__).resolve().parents[2] / "backend" / "costs" / "tables"
SIZE = {"f16": 2, "f32": 4, "f64": 8}
L2 = 60 << 20
NAMES = ("start", "entry", "gather", "written", "row", "list", "longest", "beyond", "huge", "far")
TERMS = {  # what a line has; others are none of its form's, or no matrix tells them
    "csr": "start entry gather written longest beyond",
    "bundle": "start entry gather written row list longest beyond",
    "default": "start entry gather written row longest beyond far",
    "alg1": "start gather written row longest beyond huge",
    "alg3": "start entry gather written row longest beyond huge far",
}
FLOOR = 0.75  # of the least time that a line is fitted to
ALGORITHMS = ("default", "alg1", "alg3")


def read_tables():
    lines = {}
    for name in ("h200.costs", "h200-cusparse-12.6.costs"):
        for line in (TABLES / name).read_text(encoding="ascii").splitlines():
            words = line.split("#")[0].split()
            if words and words[0] != "cusparse":
                found = lines.setdefault(words[0], {})
                found.update(zip(words[1::2], map(float, words[2::2])))
    return lines


TABLE = read_tables()


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


# ---- what backend/routes says of a case ---------------------------------------------------------

MARGIN = {"f32": 1.1, "f64": 1.0}  # bundle.c
LEAST_MEAN_ROW, LONGEST_ROW = 8, 3072  # bundle.c
LONGEST_BESIDE_SHORT = 8192  # original_cost.c


def is_layer(case):  # cost_forms.h
    return case["nnz"] >= case["rows"] * case["cols"] / 64


def is_candidate(case):  # bundle.c
    return (case["type"] != "f16" and not is_layer(case) and case["longest"] <= LONGEST_ROW
            and case["nnz"] >= LEAST_MEAN_ROW * case["rows"])


def over_csr(case, algorithm):  # shunt_choose_original_over_csr
    if algorithm != "default" or case["type"] == "f16":
        return False
    row, mean = case["n"] * SIZE[case["type"]], case["nnz"] / case["rows"]
    if case["type"] == "f64":
        return row >= 1024 and mean >= 24 and case["longest"] > 256 * mean
    return row >= 512 and mean < 8 and case["longest"] > LONGEST_BESIDE_SHORT


def line_of(way, case):
    """The line of the tables that a case belongs to."""
    half, narrow = case["type"] == "f16", case["n"] * SIZE[case["type"]] <= 128
    if way == "csr":
        return ("csr.layer" if is_layer(case) else "csr.scattered") + ("_half" if half else "")
    if way == "bundle":
        return "bundle." + case["type"]
    if is_layer(case):
        return "original.layer" + ("" if way == "default" else "_" + way)
    if way == "alg1":
        return "original.alg1" + ("_half" if half else "")
    if way == "alg3":
        return "original.alg3_" + ("half" if half else case["type"])
    return "original." + ("narrow" if narrow else "wide")


# ---- estimates ----------------------------------------------------------------------------------

def features(case, gathered, late):
    """What shunt_cost_fitted multiplies the coefficients with, in the order of NAMES."""
    row = case["n"] * SIZE[case["type"]]
    some = min(late, 512)
    more = min(late, 4096) - some
    far = max(1 - L2 * 0.75 / (case["cols"] * row + 1), 0) * gathered * row
    return (1, 1e-6 * case["nnz"], 1e-9 * gathered * row, 1e-9 * case["rows"] * row,
            1e-6 * case["rows"], 1e-6 * gathered, 1e-3 * some, 1e-3 * more,
            1e-3 * (late - some - more), 1e-9 * far)


def features_of(way, case):
    late = max(case["longest"] - case["nnz"] / (case["rows"] + 1), 0)
    all_of = (features(case, case["vectors"], case["group"]) if way == "bundle"
              else features(case, case["nnz"], late))
    return [f if n in TERMS[way].split() else 0 for n, f in zip(NAMES, all_of)]


def built_in(line):
    return [TABLE.get(line, {}).get(name, 0) for name in NAMES]


def estimate(models, way, case):
    line = line_of(way, case)
    if line.startswith("original.layer"):
        kind = "half" if case["type"] == "f16" else case["type"]
        return TABLE["original"]["layer_start"] + 2 * case["nnz"] * case["n"] / TABLE[line][kind]
    model = models.get(line) or built_in(line)
    return sum(a * b for a, b in zip(model, features_of(way, case)))


# ---- fits ---------------------------------------------------------------------------------------

def equations(case, way):
    """The case's share of the normal equations of its line."""
    us = case[way]
    row = [f / us for f in features_of(way, case)]
    return [[a * b for b in row] for a in row] + [row]


def add(total, part, sign=1):
    for t, p in zip(total, part):
        for i, value in enumerate(p):
            t[i] += sign * value


def solve(eq, start):
    """Coordinate descent; `start` is not below what is given, and nothing below 0."""
    count, gram, right = len(NAMES), eq[:-1], eq[-1]
    c = [start] + [0.0] * (count - 1)
    for _ in range(1000):
        moved = 0
        for i in range(count):
            if gram[i][i] > 0:
                rest = right[i] - sum(gram[i][j] * c[j] for j in range(count) if j != i)
                fresh = max(rest / gram[i][i], start if i == 0 else 0)
                moved = max(moved, abs(fresh - c[i]) / (abs(fresh) + 1e-9))
                c[i] = fresh
        if moved < 1e-6:
            break
    return c


def zeros():
    return [[0.0] * len(NAMES) for _ in range(len(NAMES) + 1)]


def gather(cases):
    """{line: {matrix: [equations, least time]}} of all that a line is fitted to."""
    found = {}
    for case in cases:
        for way in ("csr", "bundle") + ALGORITHMS:
            if case[way] is None or is_layer(case) or (way == "bundle" and not is_candidate(case)):
                continue
            of = found.setdefault(line_of(way, case), {})
            part = of.setdefault(case["matrix"], [zeros(), math.inf])
            add(part[0], equations(case, way))
            part[1] = min(part[1], case[way])
    return found


def fits(found):
    """({line: model of all matrices}, {matrix: {line: model of all others}})"""
    whole, without = {}, {}
    for line, parts in found.items():
        total = zeros()
        for part, _ in parts.values():
            add(total, part)
        whole[line] = solve(total, FLOOR * min(least for _, least in parts.values()))
        for matrix, (part, _) in parts.items():
            add(total, part, -1)
            least = min(least for other, (_, least) in parts.items() if other != matrix)
            without.setdefault(matrix, {})[line] = solve(total, FLOOR * least)
            add(total, part)
    return whole, without


# ---- choices ------------------------------------------------------------------------------------

def ways_of(case, algorithm):
    ways = [algorithm, "csr"] + (["bundle"] if is_candidate(case) else [])
    return [w for w in ways if case[w] is not None]


def chosen(models, case, algorithm):
    best = None
    for way in ways_of(case, algorithm):
        if way == "csr" and over_csr(case, algorithm):
            continue
        us = estimate(models, way, case) * (MARGIN[case["type"]] if way == "bundle" else 1)
        if best is None or us < best[0]:
            best = (us, way)
    return best[1]


def judge(cases, models_of):
    """{(algorithm, type, n): [(regret, matrix, way, times as fast as cuSPARSE)]}"""
    rows = {}
    for algorithm in ALGORITHMS:
        for case in cases:
            if case[algorithm] is None:
                continue
            way = chosen(models_of(case["matrix"]), case, algorithm)
            least = min(case[w] for w in ways_of(case, algorithm))
            rows.setdefault((algorithm, case["type"], int(case["n"])), []).append(
                (case[way] / least - 1, case["matrix"], way, case[algorithm] / case[way]))
    return rows


def show(title, rows):
    """True: all bars are met."""
    good = True
    print(title)
    print("algorithm type  n    cases  mean %  worst %  gain  least  lost  the worst")
    for (algorithm, kind, n), of in rows.items():
        mean, worst = 100 * sum(r[0] for r in of) / len(of), max(of)
        gain = math.exp(sum(math.log(r[3]) for r in of) / len(of))
        lost = sum(r[3] < 0.98 for r in of)
        good = good and mean <= 3 and worst[0] <= 0.15 and not (algorithm == "default" and lost)
        print(f"{algorithm:9} {kind:4} {n:4} {len(of):6} {mean:7.1f} {100 * worst[0]:8.1f} "
              f"{gain:5.2f} {min(r[3] for r in of):6.2f} {lost:5}  "
              + (f"{worst[1]}, {worst[2]}" if worst[0] > 0 else "-"))
    for algorithm in ALGORITHMS:
        of = [r for key, row in rows.items() if key[0] == algorithm for r in row]
        mean, worst = 100 * sum(r[0] for r in of) / len(of), max(of)
        print(f"{algorithm}: {len(of)} cases, mean regret {mean:.2f} %, "
              f"worst {100 * worst[0]:.1f} %, "
              f"beyond 15 %: {sum(r[0] > 0.15 for r in of)}, below 0.98 of it: "
              f"{sum(r[3] < 0.98 for r in of)}")
    return good


def show_best(cases, models_of):
    """The choice where a program asks for the algorithm that is the best for its case."""
    for kind in SIZE:
        gains = []
        for case in (c for c in cases if c["type"] == kind):
            best = min(ALGORITHMS, key=lambda a, c=case: c[a])
            gains.append(case[best] / case[chosen(models_of(case["matrix"]), case, best)])
        mean = math.exp(sum(math.log(g) for g in gains) / len(gains))
        print(f"over its best, {kind}: {mean:.2f}, least {min(gains):.2f}, below 1 in "
              f"{sum(g < 1 for g in gains)} of {len(gains)}, below 0.9 in "
              f"{sum(g < 0.9 for g in gains)}")


def show_lines(cases, whole):
    off = {}
    for case in cases:
        for way in ("csr", "bundle") + ALGORITHMS:
            line = line_of(way, case)
            if (case[way] is None or line not in whole
                    or (way == "bundle" and not is_candidate(case))):
                continue
            off.setdefault(line, []).append(math.log(estimate(whole, way, case) / case[way]))
    for line, model in sorted(whole.items()):
        deviation = math.exp(math.sqrt(sum(x * x for x in off[line]) / len(off[line])))
        print(f"# {len(off[line])} cases, {deviation:.2f} off.\n{line:22}"
              + "".join(f"  {n} {v:.3g}" for n, v in zip(NAMES, model) if v > 0))


def main():
    cases = read(sys.argv[-1])
    whole, without = fits(gather(cases))
    if "--table" in sys.argv:
        show_lines(cases, whole)
        return 0
    others = lambda m: without.get(m, whole)
    good = show("each matrix left out of the fits:", judge(cases, others))
    show_best(cases, others)
    print()
    return 0 if show("the built-in tables:", judge(cases, lambda m: {})) and good else 1


if __name__ == "__main__":
    sys.exit(main())
