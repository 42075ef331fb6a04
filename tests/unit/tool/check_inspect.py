#!/usr/bin/env python3
"""check_inspect.py FILE.mtx FILE.json FILE.svg FILE.png: are the kinds that `shunt inspect` counts
and draws those of the matrix?  That is a pattern of at most 128 x 128, so a cell is one place."""
import json
import re
import struct
import sys
import xml.etree.ElementTree as tree
import zlib

KEYS = ("vector_8", "vector_4", "vector_2", "shared", "alone", "tile_24", "tile_other")
lines = [line for line in open(sys.argv[1]) if not line.startswith("%")]
rows, cols, count = map(int, lines[0].split())
places = {tuple(int(x) - 1 for x in line.split()[:2]) for line in lines[1:]}
assert len(places) == count


def whole(row, col, high):
    first = row // high * high
    return all((r, col) in places for r in range(first, first + high))


def vector_kind(row, col):
    for kind, high in enumerate((8, 4, 2)):
        if whole(row, col, high):
            return kind
    first = row // 8 * 8
    return 3 if sum((r, col) in places for r in range(first, first + 8)) > 1 else 4


def tile_kind(row, col):
    top, left = row // 16 * 16, col // 32 * 32
    crowded = any(sum((r, c) in places for c in range(quad, quad + 4)) > 2
                  for r in range(top, top + 16) for quad in range(left, left + 32, 4))
    return 6 if crowded else 5


expected = {}
for place in places:
    for kind in (vector_kind(*place), tile_kind(*place)):
        expected.setdefault(kind, set()).add(place)
answer = json.loads(open(sys.argv[2]).readline())
for kind, key in enumerate(KEYS):
    want = len(expected.get(kind, ()))
    assert answer["entries"][key] == want, (key, answer["entries"][key], want)
tiles = {}
for r, c in places:
    tiles.setdefault((r // 16, c // 32), set()).add(tile_kind(r, c))
shares = answer["tiles_16x32"]
all_tiles = ((rows + 15) // 16) * ((cols + 31) // 32)
of_24 = sum(kinds == {5} for kinds in tiles.values()) / len(tiles)
assert abs(shares["zero"] - (1 - len(tiles) / all_tiles)) < 1e-12, shares
assert abs(shares["two_of_four"] - of_24) < 1e-12, shares
assert abs(shares["dense"] - (1 - of_24)) < 1e-12, shares
strips = {c // 64 for _, c in places}
assert answer["strips"] == (cols + 63) // 64
assert answer["empty_strips"] == answer["strips"] - len(strips)

# The picture: cells by class and place, from the panels' frames.
space = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[3]).getroot()
assert root.find(space + "title").text, "a title"
assert "prefers-color-scheme:dark" in root.find(space + "style").text
panels = [[float(r.get(x)) for x in ("x", "y", "width", "height")]
          for r in root.iter(space + "rect") if r.get("class") == "panel"]
assert len(panels) == 2
drawn = {}
for path in root.iter(space + "path"):
    kind = int(path.get("class").split()[0][1:])
    x0, y0, width, height = panels[0] if kind < 5 else panels[1]
    wide, high = (width - 1) / cols, (height - 1) / rows
    for x, y, run in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)", path.get("d")):
        row = round((float(y) - y0 - 0.5) / high)
        first = round((float(x) - x0 - 0.5) / wide)
        for col in range(first, first + round(float(run) / wide)):
            assert (row, col) not in drawn.setdefault(kind, set()), "drawn once"
            drawn[kind].add((row, col))
assert drawn == expected, {k: (len(drawn.get(k, ())), len(expected.get(k, ()))) for k in range(7)}
text = " ".join(t.text for t in root.iter(space + "text"))
for words in ("8 x 1 vectors", "2:4 tiles", "alone", "strips of 64"):
    assert words in text, words


# The same as PNG: two pixels for each of the SVG's, on light ground.
def read_png(path):
    """Width, and rows of red, green and blue bytes."""
    content = open(path, "rb").read()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    chunks, at = [], 8
    while at < len(content):
        length, name = struct.unpack(">I4s", content[at:at + 8])
        data, (check,) = content[at + 8:at + 8 + length], struct.unpack(
            ">I", content[at + 8 + length:at + 12 + length])
        assert zlib.crc32(name + data) == check, name
        chunks.append((name, data))
        at += 12 + length
    assert [name for name, _ in chunks] == [b"IHDR", b"IDAT", b"IEND"], chunks
    width, high, *form = struct.unpack(">IIBBBBB", chunks[0][1])
    assert form == [8, 2, 0, 0, 0], form
    pixels = zlib.decompress(chunks[1][1])
    lines_of = [pixels[y * (3 * width + 1):(y + 1) * (3 * width + 1)] for y in range(high)]
    assert len(pixels) == high * (3 * width + 1) and all(line[0] == 0 for line in lines_of)
    return width, [line[1:] for line in lines_of]


def colour(text):
    return [int(text[k:k + 2], 16) for k in (1, 3, 5)]


style = root.find(space + "style").text.split("@media")[0]
fills = {int(k): colour(c) for k, c in re.findall(r"\.k(\d)\{fill:(#\w+)\}", style)}
depths = {d: float(o) for d, o in re.findall(r"\.d(\d)\{fill-opacity:([\d.]+)\}", style)}
ground = colour(re.search(r"\.panel\{fill:(#\w+)", style).group(1))
shade = {int(p.get("class")[1]): depths[p.get("class")[4]] for p in root.iter(space + "path")}
width, image = read_png(sys.argv[4])
assert width == 2 * float(root.get("width")) and len(image) == 2 * float(root.get("height"))
for panel, kinds in ((0, range(5)), (1, (5, 6))):
    x0, y0, wide, high = panels[panel]
    for row in range(rows):
        for col in range(cols):
            x = round(2 * (x0 + 0.5 + (col + 0.5) * (wide - 1) / cols))
            y = round(2 * (y0 + 0.5 + (row + 0.5) * (high - 1) / rows))
            found = list(image[y][3 * x:3 * x + 3])
            want = ground
            for kind in kinds:
                if (row, col) in expected.get(kind, ()):
                    o = shade[kind]  # a cell is one place: full, so each kind has one depth
                    want = [o * ink + (1 - o) * paper for ink, paper in zip(fills[kind], ground)]
            assert all(abs(a - b) <= 1 for a, b in zip(found, want)), (row, col, found, want)
