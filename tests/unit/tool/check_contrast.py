#!/usr/bin/env python3
"""check_contrast.py PAGE.html: can the page's colours be told apart in light, dark and print?

No two series are nearer than NEAREST in red, green and blue.  By WCAG 2, text has a contrast of
4.5 or more with what it stands on, lines and areas that mean something of 3 or more.
All colours are named in :root, so that none is of one setting alone."""
import itertools
import math
import re
import sys

TEXT = {"ink", "soft", "good"}
GRAPHICS = {"edge", "taken", "left", "other"} | {"r%d" % i for i in range(8)}
DECORATION = {"line"}  # between rows and around cards, which are apart without them
GROUNDS = ("ground", "card")
NEAREST = 60


def parts_of(colour):
    digits = colour if len(colour) == 6 else "".join(2 * c for c in colour)
    return [int(digits[i:i + 2], 16) for i in (0, 2, 4)]


def luminance(colour):
    parts = [c / 255 for c in parts_of(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


assert abs(contrast("000", "fff") - 21) < 0.01 and contrast("777777", "ffffff") < 4.5
page = open(sys.argv[1], encoding="utf-8").read()
style = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
roots = re.findall(r":root\{([^}]*)\}", style)
assert len(roots) == 3, len(roots)
rest = re.sub(r":root\{[^}]*\}", "", style)
assert not re.search(r"#[0-9a-fA-F]{3,6}\b", rest), "a colour of its own"
wrong = []
for mode, root in zip(("light", "dark", "print"), roots):
    colour = dict(re.findall(r"--(\w+):#([0-9a-f]{3,6})", root))
    assert set(colour) == TEXT | GRAPHICS | DECORATION | set(GROUNDS), set(colour)
    for name in TEXT | GRAPHICS:
        for ground in GROUNDS:
            found, least = contrast(colour[name], colour[ground]), 4.5 if name in TEXT else 3
            if found < least:
                wrong.append("%s: %s on %s: %.2f" % (mode, name, ground, found))
    series = sorted(name for name in colour if re.match(r"r\d|other", name))
    for a, b in itertools.combinations(series, 2):
        if math.dist(parts_of(colour[a]), parts_of(colour[b])) < NEAREST:
            wrong.append("%s: %s and %s look alike" % (mode, a, b))
used = set(re.findall(r"var\(--(\w+)\)", style))
assert used == TEXT | GRAPHICS | DECORATION | set(GROUNDS), used
print("\n".join(wrong) or "each colour has its contrast")
sys.exit(bool(wrong))
