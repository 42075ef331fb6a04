#!/usr/bin/env python3
"""sorted_lines.py ROOT: the lines of kernels/sorted/sorted_layers.h, fitted to every cut of layers.

Reads tests/bench/results/sorted/layer-shapes.txt.gz; prints the lines as they stand in the header,
and what they are worth for layers that were left out of the fit: an eighth of them at a time.  Exit
status 1: the header has others.
"""
import gzip
import math
import os
import re
import sys

from layer_lines import SIZE, fit_line, left_out, mean

LANES, LONG_LANES = range(2, 6), range(3, 6)
COUNTS = 14
WIDE = 5  # of counts: rows of 64 entries
CLUSTER, MOST_HUGE = 4, 132 // 4
TERMS = 5  # of a line


def least(i):
    """shunt_sorted_least()"""
    return 1 if i == 0 else 2 << i


class Layer:
    def __init__(self, line):
        words = line.split()
        self.name, self.type, self.n = words[0], words[1], int(words[2])
        self.rows, self.nonzeros = int(words[3]), int(words[4])
        self.counts = [int(x) for x in words[5].split(",")] + [0]
        self.size, self.us, self.before = SIZE[self.type], {}, 0.0
        for word, us in (w.split("=") for w in words[6:]):
            if word == "before":
                self.before = float(us)
            elif word != "csr":
                lanes, limit, longs = (int(x) for x in re.match(r"l(\d)L(\d+)l(\d)", word).groups())
                if self.has_groups(lanes, LANES[0]) and self.has_groups(longs, LONG_LANES[0]):
                    self.us[lanes, int(math.log2(limit)) - 1, longs] = float(us)
        self.entries = [0.0] * (COUNTS + 1)
        for i in reversed(range(COUNTS)):
            rows = self.counts[i] - self.counts[i + 1]
            self.entries[i] = self.entries[i + 1] + 1.4 * least(i) * rows
        self.entries = [e * self.nonzeros / self.entries[0] for e in self.entries]
        self.huge = next((i for i in (10, 11) if self.counts[i] <= MOST_HUGE), COUNTS)

    def has_lines(self):
        """shunt_sorted_layer_has_lines()"""
        return (self.n * self.size > 64 and self.nonzeros >= 16 * self.rows
                and self.counts[COUNTS - 1] == 0)

    def has_groups(self, lanes, fewest):
        return lanes == fewest or 16 // self.size << lanes < 2 * self.n

    def slices(self, lanes):
        return -(-self.n // (16 // self.size << lanes))

    def last(self, below):
        i = below - 1
        while i > 0 and self.counts[i] <= self.counts[below]:
            i -= 1
        return i

    def load(self):
        """shunt_sorted_layer_load()"""
        return min(self.nonzeros * self.n * self.size / 8.5e6 / 100, 1)

    def rows_terms(self, limit, lanes):
        """start, warp, entry, step, slow"""
        team, last, slices = min(lanes + 1, 5), self.last(limit), self.slices(lanes)
        wide = self.counts[WIDE]
        warps = wide - self.counts[limit] + (self.rows - wide) / (32 >> team)
        groups = 1 << ((5 if last >= WIDE else team) - lanes)
        step = 1.5 * least(last) / groups * 1e-2
        return [1, warps * slices * 1e-3, (self.nonzeros - self.entries[limit]) * slices * 1e-6,
                step, step * self.load()]

    def long_terms(self, limit, lanes):
        """start, block, entry, step, slow"""
        if self.counts[limit] == 0:
            return [0] * TERMS
        alone, last, slices = self.last(self.huge), self.last(COUNTS), self.slices(lanes)
        steps = max(1.5 * least(alone) / 8 if alone >= limit else 0,
                    1.5 * least(last) / (8 * CLUSTER) if last >= self.huge else 0)
        step = steps / (1 << (5 - lanes)) * 1e-2
        return [1, self.counts[limit] * slices * 1e-3, self.entries[limit] * slices * 1e-6,
                step, step * self.load()]

    def terms(self, cut):
        """Of all lines, one after another."""
        lanes, limit, longs = cut
        found = [0.0] * TERMS * (len(LANES) + len(LONG_LANES))
        at = TERMS * (lanes - LANES[0])
        found[at:at + TERMS] = self.rows_terms(limit, lanes)
        at = TERMS * (len(LANES) + longs - LONG_LANES[0])
        found[at:at + TERMS] = self.long_terms(limit, longs)
        return found


def read(root):
    path = os.path.join(root, "tests", "bench", "results", "sorted", "layer-shapes.txt.gz")
    with gzip.open(path, "rt") as file:
        layers = [Layer(line) for line in file if line[0] != "#"]
    return [m for m in layers if m.has_lines()]


def fit(layers):
    return fit_line([(m.terms(cut), us) for m in layers for cut, us in m.us.items()])


def estimate(lines, layer, cut):
    return sum(c * t for c, t in zip(lines, layer.terms(cut)))


def worth(layers):
    """For layers left out: by which factor estimates are off, what is chosen over the best, and
    what was chosen before over what is."""
    off, over, gain = [], [], []
    for m, cut, expected in left_out(layers, fit, estimate):
        off.append(abs(math.log(expected / m.us[cut])))
        over.append(math.log(m.us[cut] / min(m.us.values())))
        gain.append(math.log(m.before / m.us[cut]))
    return mean(off), mean(over), mean(gain), math.exp(max(over))


def in_header(root):
    path = os.path.join(root, "kernels", "sorted", "sorted_layers.h")
    with open(path, encoding="utf-8") as file:
        rows = re.findall(r"^ +\{([\d.e-]+(?:, [\d.e-]+){4})\},$", file.read(), re.M)
    return [[float(x) for x in row.split(",")] for row in rows]


def main(root):
    layers = read(root)
    lines = fit(layers)
    rows = [["%.3g" % x for x in lines[at:at + TERMS]] for at in range(0, len(lines), TERMS)]
    for row in rows:
        print("  {%s}" % ", ".join(row))
    print("%d layers, %d products; left out of the fit %.2f off, what is chosen %.3f of the best, "
          "%.2f x as fast as before, %.2f of the best at worst"
          % (len({m.name for m in layers}), len(layers), *worth(layers)))
    same = in_header(root) == [[float(x) for x in row] for row in rows]
    print("ok - the header has these lines" if same else "not ok - the header has other lines")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
