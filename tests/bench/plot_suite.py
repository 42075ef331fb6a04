#!/usr/bin/env python3
"""plot_suite.py [--over WAY] [--bars] FILE.json OUT.svg: draws what `shunt bench --suite` measured.

Without --bars: box plots of the speed-up over WAY (cublas) by sparsity, a panel for each height of
vector and each width, as in Figures 17 and 19 of "Efficient Tensor Core-Based GPU Kernels for
Structured Sparsity under Reduced Precision" (SC'21): Shunt's best way beside cuSPARSE's best.
A box goes from the first to the third quartile, with the median, and whiskers to the extremes.
With --bars: GFLOP/s of every way, a group of bars for each matrix and width (the 2:4 thesis)."""
import json
import math
import sys

LEVELS = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
COLOURS = ("#2b6cb0", "#c05621", "#2f855a", "#6b46c1", "#b83280", "#4a5568", "#b7791f", "#285e61",
           "#9b2c2c", "#44337a", "#1a202c", "#718096")


def times(case):
    return {w["way"]: w["us"] for w in case["ways"] if w.get("us") and w.get("right", True)}


def best(us, case, ours):
    names = [w["way"] for w in case["ways"]
             if w["ours"] == ours and (ours or w["way"].startswith("cusparse"))]
    return min((us[n] for n in names if n in us), default=None)


def level(case):
    sparsity = 1 - case["nonzeros"] / case["rows"] / case["columns"]
    return min(LEVELS, key=lambda x: abs(x - sparsity))


def height_of(case):
    """Of the vectors: the option's, or a random pattern's own."""
    parts = case["matrix"].split(":")
    return int(parts[3]) if parts[0] == "random" and len(parts) == 4 else case["v"]


# ---- SVG -------------------------------------------------------------------------------
class Drawing:
    def __init__(self, width, height):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
                      f'height="{height:.0f}" font-family="sans-serif" font-size="11">',
                      f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>']

    def line(self, x1, y1, x2, y2, colour="#333", width=1.0):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"/>')

    def box(self, x, y, width, height, colour, opacity=1.0):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" '
                          f'height="{max(height, 0.5):.1f}" fill="{colour}" '
                          f'fill-opacity="{opacity}"/>')

    def text(self, x, y, words, anchor="middle", turn=0):
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{turned}>'
                          f"{words}</text>")

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write("\n".join(self.parts + ["</svg>"]) + "\n")


# ---- boxes -----------------------------------------------------------------------------
def quantile(sorted_values, q):
    at = q * (len(sorted_values) - 1)
    low = int(at)
    high = min(low + 1, len(sorted_values) - 1)
    return sorted_values[low] + (at - low) * (sorted_values[high] - sorted_values[low])


def collect(cases, over):
    """{(height, width): {level: (ratios of Shunt, ratios of cuSPARSE)}}"""
    panels = {}
    for case in cases:
        us = times(case)
        if over not in us:
            continue
        panel = panels.setdefault((height_of(case), case["width"]), {})
        pair = panel.setdefault(level(case), ([], []))
        for i, ours in enumerate((True, False)):
            t = best(us, case, ours)
            if t:
                pair[i].append(us[over] / t)
    return panels


def draw_box(d, x, values, y_of, colour):
    values = sorted(values)
    low, q1, median, q3, high = (quantile(values, q) for q in (0, 0.25, 0.5, 0.75, 1))
    d.line(x, y_of(low), x, y_of(high), colour)
    d.box(x - 7, y_of(q3), 14, y_of(q1) - y_of(q3), colour, 0.5)
    d.line(x - 7, y_of(median), x + 7, y_of(median), colour, 2)


def draw_panel(d, left, top, size, panel, title, bottom, above):
    width, height = size

    def y_of(value):
        return top + height * (above - math.log2(value)) / (above - bottom)

    d.text(left + width / 2, top - 6, title)
    for power in range(bottom, above + 1):
        y = y_of(2.0 ** power)
        d.line(left, y, left + width, y, "#000" if power == 0 else "#ddd")
        d.text(left - 4, y + 4, str(2 ** power) if power >= 0 else f"1/{2 ** -power}", "end")
    for i, at in enumerate(LEVELS):
        x = left + width * (i + 0.5) / len(LEVELS)
        d.text(x, top + height + 14, f"{at:g}")
        for j, values in enumerate(panel.get(at, ())):
            if values:
                draw_box(d, x + (j - 0.5) * 17, values, y_of, COLOURS[j])


def boxes(data, over, out):
    panels = collect(data["cases"], over)
    if not panels:
        print(f"plot_suite: no case was timed with '{over}'", file=sys.stderr)
        return 1
    ratios = [r for p in panels.values() for pair in p.values() for v in pair for r in v]
    bottom = math.floor(math.log2(min(ratios + [1])))
    above = math.ceil(math.log2(max(ratios + [1])))
    above += above == bottom
    heights, widths = sorted({k[0] for k in panels}), sorted({k[1] for k in panels})
    d = Drawing(60 + 290 * len(widths), 70 + 220 * len(heights))
    d.text(20, 20, f"speed-up over {over} by sparsity; {data['machine']['name']}", "start")
    d.text(20, 36, "left boxes: Shunt's best way; right: cuSPARSE's best algorithm", "start")
    for (height, width), panel in panels.items():
        draw_panel(d, 50 + 290 * widths.index(width), 70 + 220 * heights.index(height), (240, 160),
                   panel, f"V = {height}, width {width}", bottom, above)
    d.write(out)
    return 0


# ---- bars ------------------------------------------------------------------------------
def bars(data, out):
    cases = data["cases"]
    ways = []
    for case in cases:
        ways += [w["way"] for w in case["ways"] if w.get("gflops") and w["way"] not in ways]
    if not ways:
        print("plot_suite: no case was timed", file=sys.stderr)
        return 1
    most = max(w["gflops"] for c in cases for w in c["ways"] if w.get("gflops"))
    group, height, left, top = 8 * len(ways) + 14, 240, 70, 40 + 16 * len(ways)
    d = Drawing(left + group * len(cases) + 20, top + height + 170)
    d.text(20, 20, f"GFLOP/s; {data['machine']['name']}", "start")
    for i, way in enumerate(ways):
        d.box(left, 30 + 16 * i, 10, 10, COLOURS[i % len(COLOURS)])
        d.text(left + 16, 39 + 16 * i, way, "start")
    for tenth in range(0, 11, 2):
        y = top + height * (1 - tenth / 10)
        d.line(left, y, left + group * len(cases), y, "#ddd")
        d.text(left - 4, y + 4, f"{most * tenth / 10:.4g}", "end")
    for i, case in enumerate(cases):
        x = left + group * i + 7
        for w in case["ways"]:
            if w.get("gflops"):
                j = ways.index(w["way"])
                tall = height * w["gflops"] / most
                d.box(x + 8 * j, top + height - tall, 7, tall, COLOURS[j % len(COLOURS)])
        d.text(x + group / 2 - 10, top + height + 10, f"{case['matrix']}, {case['width']}", "end",
               -60)
    d.write(out)
    return 0


def main(words):
    over, as_bars = "cublas", False
    while words and words[0].startswith("--"):
        if words[0] == "--bars":
            as_bars, words = True, words[1:]
        elif words[0] == "--over" and len(words) > 1:
            over, words = words[1], words[2:]
        else:
            break
    if len(words) != 2 or words[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    with open(words[0], encoding="utf-8") as f:
        data = json.load(f)
    return bars(data, words[1]) if as_bars else boxes(data, over, words[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
