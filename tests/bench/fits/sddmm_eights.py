#!/usr/bin/env python3
"""sddmm_eights.py ROOT: what SDDMM of rows in groups of 8 takes, by `vector` and on the chip.

Reads tests/bench/results/vector/sddmm.txt.gz; fits the lines vector.sddmm of
backend/costs/tables/h200.costs and the coefficient dense.sddmm sample_crowded, and prints how far
they are off, the lines also for patterns that were left out of the fit.

    vector    start + tiles (tile + step K): least squares of relative errors
    chip      estimates at K up to 256, by sample_crowded alone; beyond, cuBLAS may be chosen
"""
import gzip
import math
import os
import sys

AT_ONCE, ANCHOR, MOST = 132, 256, 31


class Case:
    def __init__(self, words):
        self.name, self.type, self.layout = words[:3]
        self.inner, self.rows, self.cols, self.nnz, self.runs = (int(w) for w in words[3:8])
        self.csr, self.vector, self.dense = (float(w) if w != "-" else None for w in words[8:11])


def tiles(case):
    """shunt_vector_sddmm_share_of() and shunt_vector_sddmm_tiles()"""
    resident = AT_ONCE * (16 if case.type == "f16" else 12)
    mean = case.nnz // ((case.rows + 7) // 8) + 1
    runs = [-(-mean // phases) for phases in range(1, 65) if mean >= ANCHOR * phases]
    runs += [ANCHOR * n for n in range(1, 9) if mean < ANCHOR]

    def rounds(run):
        return -(--(-case.nnz // run) // resident)
    best = min((r for r in runs if r <= MOST * ANCHOR), key=lambda r: rounds(r) * (2 * ANCHOR + r))
    return rounds(best) * best / ANCHOR


def solve(rows):
    """The least squares of rows . x = 1."""
    n = len(rows[0])
    m = [[sum(r[i] * r[j] for r in rows) for j in range(n)] + [sum(r[i] for r in rows)]
         for i in range(n)]
    for i in range(n):
        for j in range(n):
            if j != i:
                by = m[j][i] / m[i][i]
                m[j] = [a - by * b for a, b in zip(m[j], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def off(ratios):
    return math.exp(sum(abs(math.log(r)) for r in ratios) / len(ratios))


def terms(case):
    """tile is 0 in f32, where the fit has it below."""
    n = tiles(case)
    return [1, n * case.inner] if case.type == "f32" else [1, n, n * case.inner]


def fit(cases):
    return solve([[t / c.vector for t in terms(c)] for c in cases])


def ratios(cases, line):
    return [sum(a * b for a, b in zip(terms(c), line)) / c.vector for c in cases]


def vector_lines(cases):
    for kind in "f16", "f32":
        mine = [c for c in cases if c.type == kind and c.layout == "rc" and c.vector]
        line, left_out = fit(mine), []
        for name in sorted({c.name for c in mine}):
            others = fit([c for c in mine if c.name != name])
            left_out += ratios([c for c in mine if c.name == name], others)
        print(f"vector {kind}: {' '.join(f'{x:.3g}' for x in line)}; {len(mine)} cases, "
              f"{off(ratios(mine, line)):.2f} off, left out {off(left_out):.2f}")


def on_the_chip(case, crowded):
    """shunt_cost_dense_sddmm()"""
    mean = case.nnz / (case.rows * case.cols + 1)
    density = mean + crowded * max(case.nnz / (64 * case.runs) - mean, 0)
    rounds = -(--(-case.rows // 128) * -(-case.cols // 256) // AT_ONCE)
    product = max(0.6 * -(-case.inner // 64) - 0.4, 0.2)
    sampling = 1.8 + density * (11.3 + 10.6 * density)
    return 3.08 + rounds * (max(product, sampling) + 0.57 * min(product, sampling))


def crowded(cases):
    mine = [c for c in cases if c.type == "f16" and c.dense and c.inner <= 256]
    by = {k: off([on_the_chip(c, k / 100) / c.dense for c in mine]) for k in range(0, 61)}
    best = min(by, key=by.get)
    print(f"chip: sample_crowded {best / 100}, {by[best]:.2f} off, 0.34 {by[34]:.2f}, without "
          f"{by[0]:.2f}, {len(mine)} cases")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    path = os.path.join(sys.argv[1], "tests/bench/results/vector/sddmm.txt.gz")
    with gzip.open(path, "rt") as lines:
        cases = [Case(line.split()) for line in lines if line[0] != "#" and line[:6] != "matrix"]
    vector_lines(cases)
    crowded(cases)


if __name__ == "__main__":
    main()
