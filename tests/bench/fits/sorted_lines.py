#!/usr/bin/env python3
"""sorted_lines.py ROOT: the lines of kernels/sorted/sorted_layers.c, fitted to every cut of layers.

Reads tests/bench/results/sorted/layer-shapes.txt.gz, narrow-layers.txt.gz for narrow C, and
layer-words.txt.gz for many short rows; prints the lines as they stand in the source, and what they
are worth for layers that were left out of the fit: an eighth of them at a time.  Exit status 1: the
source has others.
"""
import collections
import functools
import gzip
import math
import os
import re
import sys

from layer_lines import SIZE, fit_line, left_out, many_short_rows, mean

COUNTS = 14
NARROW_LOADS = 4
CLUSTER, MOST_HUGE = 4, 132 // 4
WIDE_ROWS = 5  # of counts: of 64 entries
TERMS = 5  # of a line

# Lines of (lanes, words, whether A is staged), and of the lanes of long rows.
WIDE = ([(lanes, 1, True) for lanes in range(2, 6)], range(3, 6))
MANY = (WIDE[0] + [(lanes, 2, True) for lanes in range(2, 6)], range(3, 6))
NARROW = ([(lanes, 1, False) for lanes in range(3)] + [(2, 1, True)], range(1, 4))
TABLES = ("wide_rows", "wide_longs", "narrow_rows", "narrow_staged", "narrow_longs", "many_rows",
          "two_words", "many_longs")

Cut = collections.namedtuple("Cut", "lanes words team share limit longs")  # share 0: A is staged


def least(i):
    """shunt_sorted_least()"""
    return 1 if i == 0 else 2 << i


def cut_of(word):
    """lA LB lC, WA tB LC lD, uA sB LC lD, or sA c8 LB lC"""
    found = re.match(r"[lWus](\d)([tsc]\d+|)L(\d+)l(\d)$", word)
    if not found or found.group(2) == "c4":
        return None
    lanes, limit, longs = (int(found.group(i)) for i in (1, 3, 4))
    kind, number = found.group(2)[:1], int(found.group(2)[1:] or 0)
    return Cut(lanes, 2 if kind == "t" else 1, number if kind == "t" else min(lanes + 1, 5),
               number if kind == "s" else 0, int(math.log2(limit)) - 1, longs)


class Layer:
    def __init__(self, line):
        words = line.split()
        self.name, self.type, self.n = words[0], words[1], int(words[2])
        self.rows, self.nonzeros = int(words[3]), int(words[4])
        self.counts = [int(x) for x in words[5].split(",")] + [0]
        self.size, self.us = SIZE[self.type], {}
        self.loads = self.n * self.size // 16
        self.narrow = self.loads <= NARROW_LOADS
        self.many = not self.narrow and many_short_rows(self.rows, self.nonzeros, self.loads)
        times = [w.split("=") for w in words[6:] if "=" in w]
        self.before = float(dict(times)["before"])
        for word, us in times:
            cut = cut_of(word)
            if cut and self.may_cut(cut):
                self.us[cut] = float(us)
        self.entries = [0.0] * (COUNTS + 1)
        for i in reversed(range(COUNTS)):
            rows = self.counts[i] - self.counts[i + 1]
            self.entries[i] = self.entries[i + 1] + 1.4 * least(i) * rows
        self.entries = [e * self.nonzeros / self.entries[0] for e in self.entries]
        self.huge = next((i for i in (10, 11) if self.counts[i] <= MOST_HUGE), COUNTS)

    def has_lines(self):
        """shunt_sorted_layer_has_lines()"""
        return self.counts[COUNTS - 1] == 0

    def may_cut(self, cut):
        """Whether choose_rows() and choose_longs() look at it."""
        if cut.words == 2:
            return self.many and self.has_groups(cut.longs, 3)
        if not self.narrow:
            return self.has_groups(cut.lanes, 2) and self.has_groups(cut.longs, 3)
        lanes = 2 if self.loads > 2 else int(self.loads > 1)
        if cut.longs - max(lanes, 1) not in (0, 1):
            return False
        if cut.share == 0:
            return lanes == cut.lanes == 2
        return lanes - 1 <= cut.lanes <= lanes and cut.share <= 32

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
        return min(self.nonzeros * self.n * self.size / 8.5e6 / 100, 1)

    def rows_of(self, length):
        return next((self.counts[i] for i in range(COUNTS) if least(i) >= length), 0)

    def staged(self, cut):
        """Warps, and entries of a group of the longest row."""
        team, last, longs = cut.team, self.last(cut.limit), self.counts[cut.limit]
        wide = max(self.counts[WIDE_ROWS], longs)
        warps = wide - longs + (self.rows - wide) / (32 >> team)
        return warps, 1.5 * least(last) / (1 << ((5 if last >= WIDE_ROWS else team) - cut.lanes))

    def unstaged(self, cut):
        """The same."""
        warps, at, most = 0, self.counts[cut.limit], 5 - cut.lanes
        for k in range(most, -1, -1):
            end = max(at, self.rows_of(cut.share << k - 1)) if k else self.rows
            warps += (end - at) / (32 >> cut.lanes + k)
            at = end
        longest = 1.5 * least(self.last(cut.limit))
        return warps, max(longest / (1 << most), min(longest, cut.share))

    def rows_terms(self, cut):
        """start, warp, entry, step, slow"""
        if self.counts[cut.limit] >= self.rows:
            return [1] + [0] * (TERMS - 1)
        warps, entries = self.unstaged(cut) if cut.share else self.staged(cut)
        slices = self.slices(cut.lanes + cut.words - 1)
        return [1, warps * slices * 1e-3, (self.nonzeros - self.entries[cut.limit]) * slices * 1e-6,
                entries * 1e-2, entries * 1e-2 * self.load()]

    def long_terms(self, limit, lanes):
        """start, block, entry, step, slow"""
        if self.counts[limit] == 0:
            return [0] * TERMS
        single, last, slices = self.last(self.huge), self.last(COUNTS), self.slices(lanes)
        steps = max(1.5 * least(single) / 8 if single >= limit else 0,
                    1.5 * least(last) / (8 * CLUSTER) if last >= self.huge else 0)
        step = steps / (1 << (5 - lanes)) * 1e-2
        alone = self.narrow and self.counts[limit] >= self.rows
        return [int(not alone), self.counts[limit] * slices * 1e-3,
                self.entries[limit] * slices * 1e-6, step, step * self.load()]

    @functools.cache
    def terms(self, cut):
        """Of all lines, one after another."""
        rows, longs = NARROW if self.narrow else MANY if self.many else WIDE
        found = [0.0] * TERMS * (len(rows) + len(longs))
        at = TERMS * rows.index((cut.lanes, cut.words, cut.share == 0))
        found[at:at + TERMS] = self.rows_terms(cut)
        at = TERMS * (len(rows) + cut.longs - longs[0])
        found[at:at + TERMS] = self.long_terms(cut.limit, cut.longs)
        return found


def read(root, names):
    """Of a product that stands in several files, all cuts."""
    layers = {}
    for name in names:
        path = os.path.join(root, "tests", "bench", "results", "sorted", name + ".txt.gz")
        with gzip.open(path, "rt") as file:
            for m in (Layer(line) for line in file if line[0] != "#"):
                layers.setdefault((m.name, m.type, m.n), m).us.update(m.us)
    return [m for m in layers.values() if m.has_lines()]


def samples(layer):
    """Cuts that take several times as long as the best tell nothing of the choice."""
    most = (2 if layer.narrow else 3 if layer.many else math.inf) * min(layer.us.values())
    return [(layer.terms(cut), us) for cut, us in layer.us.items() if us < most]


def fit(layers):
    return fit_line([s for m in layers for s in samples(m)])


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


def in_source(root):
    path = os.path.join(root, "kernels", "sorted", "sorted_layers.c")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    tables = (re.search(r"struct line %s.*?;" % name, text, re.S).group() for name in TABLES)
    return [[float(x) for x in row.split(",")]
            for table in tables for row in re.findall(r"\{([\d., e-]+)\}", table)]


def main(root):
    rows = []
    shapes = ("layer-shapes",)
    for kind, layers in (
            ("wide C", [m for m in read(root, shapes) if not m.narrow and not m.many]),
            ("narrow C", read(root, ("narrow-layers",))),
            ("many short rows", [m for m in read(root, shapes + ("layer-words",)) if m.many])):
        lines = fit(layers)
        some = [["%.3g" % x for x in lines[at:at + TERMS]] for at in range(0, len(lines), TERMS)]
        for row in some:
            print("    {%s}," % ", ".join(row))
        rows += some
        print("%s, %d layers, %d products; left out of the fit %.2f off, what is chosen %.3f of "
              "the best, %.2f x as fast as before, %.2f of the best at worst"
              % (kind, len({m.name for m in layers}), len(layers), *worth(layers)))
    same = in_source(root) == [[float(x) for x in row] for row in rows]
    print("ok - the source has these lines" if same else "not ok - the source has other lines")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
