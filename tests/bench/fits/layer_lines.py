#!/usr/bin/env python3
"""layer_lines.py ROOT: the lines of kernels/csr/csr_layers.h, fitted to every cut of layers.

Reads tests/bench/results/csr/layer-cuts.txt.gz, and layer-words.txt.gz for many short rows; prints
the lines as they stand in the header, and what they are worth for layers that were left out of the
fit: an eighth of them at a time.  Exit status 1: the header has others.

A line is fitted by the least squares of relative errors; while a coefficient is below 0, that of
the term which is least is left out.
"""
import collections
import gzip
import math
import os
import re
import sys

SIZE = {"f16": 2, "f32": 4, "f64": 8}
AT_ONCE = 132 * 32  # warps that an H200 runs
KINDS = ("of a warp, staged", "of a warp, not staged", "blocks, staged", "blocks, not staged",
         "two words")
MANY = {0: 2, 1: 1, 4: 2}  # kinds of many short rows, and their least lanes


def many_short_rows(rows, nonzeros, loads):
    """shunt_layer_has_many_short_rows()"""
    return rows * loads >= 64 * 2640 and nonzeros < 48 * rows


class Cut:
    """How a row is cut: threads of it, lanes of a group, their words, whether A is staged."""

    def __init__(self, word):
        kind, number, how, lanes = re.match(r"([BT])(\d)([suw])l(\d)", word).groups()
        self.threads = 32 * int(number) if kind == "B" else 1 << int(number)
        self.unstaged, self.words, self.lanes = how == "u", 1 + (how == "w"), int(lanes)
        self.kind = 4 if self.words == 2 else 2 * (kind == "B") + self.unstaged


class Layer:
    def __init__(self, line):
        words = line.split()
        self.name, self.type, self.n = words[0], words[1], int(words[2])
        self.rows, self.nonzeros, self.longest = (int(x) for x in words[3:6])
        self.size = SIZE[self.type]
        loads = self.n * self.size // 16
        self.many = loads > 1 and many_short_rows(self.rows, self.nonzeros, loads)
        times = [w.split("=") for w in words[6:] if w[0] in "BT"]
        self.before = next((float(w[4:]) for w in words[6:] if w.startswith("csr=")), None)
        self.has_blocks = any(word[0] == "B" for word, _ in times)
        self.us = {cut: float(us) for cut, us in ((Cut(w), us) for w, us in times)
                   if self.may_cut(cut)}

    def may_cut(self, cut):
        """shunt_csr_layer_has_groups() and shunt_csr_layer_has_threads()"""
        width, mean = 16 // self.size << cut.lanes, self.nonzeros / self.rows
        if cut.words == 2:
            return True
        if width >= 2 * self.n and cut.lanes > (0 if cut.unstaged else 1):
            return False
        if width * (4 if cut.unstaged else 16) < self.n or (cut.unstaged and cut.lanes > 3):
            return False
        if cut.threads < 32:
            return mean <= 64
        return cut.threads == 32 or (cut.lanes < 5 and
                                     4 * mean >= cut.threads * (1 if cut.unstaged else 2))

    def terms(self, cut):
        """start, gather, warp, entry, step, round, uneven"""
        width = 16 * cut.words // self.size << cut.lanes
        slices, groups = -(-self.n // width), cut.threads >> cut.lanes
        warps, mean = self.rows * slices * cut.threads / 32, self.nonzeros / self.rows
        gathered = self.nonzeros * self.n * self.size * 1e-6 / 8
        return [1, gathered, warps * 1e-3, self.nonzeros * slices * 1e-6,
                self.longest / groups * 1e-2, max(0, warps / AT_ONCE - 1) * mean / groups * 1e-2,
                gathered * min(self.longest / mean - 1, 1)]



def read_file(root, name):
    with gzip.open(os.path.join(root, "tests", "bench", "results", "csr", name), "rt") as file:
        return [Layer(line) for line in file if line[0] != "#"]


def read(root):
    # Of rows that blocks may share, only where both were timed.
    return [m for m in read_file(root, "layer-cuts.txt.gz")
            if m.us and (m.has_blocks or m.nonzeros < 16 * m.rows)]


def read_many(root):
    layers = [m for m in read_file(root, "layer-words.txt.gz") if m.many]
    for m in layers:
        m.us = {cut: us for cut, us in m.us.items()
                if cut.kind in MANY and cut.lanes >= MANY[cut.kind]}
    return layers


def solve(gram, right):
    """Gauss, with the greatest element of a column."""
    n, least = len(right), 1e-9
    a = [row[:] + [b] for row, b in zip(gram, right)]
    for i in range(n):
        a[i][i] += least  # bytes and entries are proportional where slices are whole
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[p] = a[p], a[i]
        for r in range(n):
            if r != i:
                f = a[r][i] / a[i][i]
                a[r] = [x - f * y for x, y in zip(a[r], a[i])]
    return [a[i][n] / a[i][i] for i in range(n)]


def fit_line(samples):
    """samples: (terms, us)"""
    count = len(samples[0][0])
    gram, right = [[0.0] * count for _ in range(count)], [0.0] * count
    for terms, us in samples:
        some = [(i, t / us) for i, t in enumerate(terms) if t]
        for i, x in some:
            right[i] += x
            for j, y in some:
                gram[i][j] += x * y
    size = [sum(terms[i] for terms, _ in samples) for i in range(count)]
    kept = list(range(count))
    while True:
        x = solve([[gram[i][j] for j in kept] for i in kept], [right[i] for i in kept])
        if min(x) >= 0:
            break
        kept.remove(min(zip((v * size[i] for v, i in zip(x, kept)), kept))[1])
    found = [0.0] * count
    for i, value in zip(kept, x):
        found[i] = value
    return found


def fit(layers, most=math.inf):
    """To cuts that take less than so many times the best: others tell nothing of the choice."""
    samples = collections.defaultdict(list)
    for m in layers:
        for cut, us in m.us.items():
            if us < most * min(m.us.values()):
                samples[cut.kind, cut.lanes].append((m.terms(cut), us))
    return {line: fit_line(some) for line, some in samples.items()}


def estimate(lines, layer, cut):
    return sum(c * t for c, t in zip(lines[cut.kind, cut.lanes], layer.terms(cut)))


def left_out(layers, fit_to, estimate_by):
    """(layer, the cut that is chosen for it, what that is expected to take), by fits to others: an
    eighth of the layers is left out at a time."""
    names = sorted({m.name for m in layers})
    for eighth in range(8):
        out = set(names[eighth::8])
        lines = fit_to([m for m in layers if m.name not in out])
        for m in (m for m in layers if m.name in out):
            cut = min(m.us, key=lambda c, m=m: estimate_by(lines, m, c))
            yield m, cut, estimate_by(lines, m, cut)


def mean(logs):
    return math.exp(sum(logs) / len(logs))


def fit_many(layers):
    return fit(layers, most=2)


def worth(layers, fit_to):
    """For layers left out: by which factor estimates are off, what is chosen over the best, and
    what was chosen before over what is."""
    off, over, gain = [], [], []
    for m, cut, expected in left_out(layers, fit_to, estimate):
        off.append(abs(math.log(expected / m.us[cut])))
        over.append(math.log(m.us[cut] / min(m.us.values())))
        gain += [math.log(m.before / m.us[cut])] if m.before else []
    return mean(off), mean(over), math.exp(max(over)), mean(gain)


def in_header(root):
    with open(os.path.join(root, "kernels", "csr", "csr_layers.h"), encoding="utf-8") as file:
        text = file.read()
    table = text[text.index(" lines[]["):text.index("const int one")]
    rows = ([float(x) for x in row.split(",")] for row in re.findall(r"\{([\d., e-]+)\}", table))
    return [row for row in rows if row[0]]


def main(root):
    rows = []
    for name, layers, fit_to in (("layers", read(root), fit),
                                 ("layers of many short rows", read_many(root), fit_many)):
        lines = fit_to(layers)
        for kind, text in enumerate(KINDS):
            some = [["%.3g" % x for x in lines[line]] for line in sorted(lines) if line[0] == kind]
            print("%s:%s" % (text, "".join("\n  {%s}" % ", ".join(row) for row in some) or " none"))
            rows += some
        print("%d %s, %d products; left out of the fit %.2f off, what is chosen %.3f of the best, "
              "%.2f at worst, %.2f x as fast as before"
              % (len({m.name for m in layers}), name, len(layers), *worth(layers, fit_to)))
    same = in_header(root) == [[float(x) for x in row] for row in rows]
    print("ok - the header has these lines" if same else "not ok - the header has other lines")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
