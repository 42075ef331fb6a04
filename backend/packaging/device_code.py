#!/usr/bin/env python3
"""device_code.py BUILD: what device code takes in a build tree, as tables for README.md.

Reads the sections .nv_fatbin of the objects in kernels/ and conv/.  Such a section is a row of fat
binaries, each a header and entries, one for each architecture and kind:

    header   magic 0xBA55ED50 (4 bytes) | version (2) | its own length (2) | that of the entries (8)
    entry    kind (2): 1 PTX, 2 machine code | version (2) | its header's length (4)
             | length of what follows (8) | 12 bytes | architecture (4), at byte 28 | ...
"""
import collections
import os
import struct
import subprocess
import sys
import zlib

MAGIC = 0xBA55ED50
FORMATS = ("csr", "vector", "sparse24", "tile", "dense", "bsr", "srbcrs", "bundle", "sorted",
           "dcsr")
LIBRARIES = ("core", "formats")


def members(archive):
    return set(subprocess.check_output(["ar", "t", archive], text=True).split())


def section(path):
    listing = subprocess.check_output(["readelf", "-SW", path], text=True)
    for line in listing.splitlines():
        if " .nv_fatbin " in line:
            words = line[line.index(".nv_fatbin"):].split()
            start, length = int(words[3], 16), int(words[4], 16)
            with open(path, "rb") as file:
                file.seek(start)
                return file.read(length)
    return b""


def entries(data):
    at = 0
    while at + 16 <= len(data):
        magic, _, header, length = struct.unpack_from("<IHHQ", data, at)
        if magic != MAGIC:
            at += 8
            continue
        entry, at = at + header, at + header + length
        while entry < at:
            kind, _, own, rest = struct.unpack_from("<HHIQ", data, entry)
            arch = struct.unpack_from("<I", data, entry + 28)[0]
            yield "ptx" if kind == 1 else str(arch), data[entry:entry + own + rest]
            entry += own + rest


def collect(build):
    archives = {name: members(f"{build}/.libs/libshunt-{name}.a") for name in LIBRARIES}
    sums = collections.defaultdict(collections.Counter)
    for top in ("kernels", "conv"):
        for folder, _, names in os.walk(f"{build}/{top}"):
            word = os.path.relpath(folder, f"{build}/{top}").split(os.sep)[0]
            part = word if word in FORMATS else "guard, profile, coo, common"
            for name in names if folder.endswith(".libs") else ():
                library = next((x for x in LIBRARIES if name in archives[x]), None)
                if not name.endswith(".o") or not library:
                    continue
                for kind, data in entries(section(os.path.join(folder, name))):
                    for row in (part, "all"):
                        sums[row, library][kind] += len(data)
                        sums[row, library]["zip " + kind] += len(zlib.compress(data, 9))
    return sums


def main():
    sums = collect(sys.argv[1])
    kinds = sorted({kind for row in sums.values() for kind in row if not kind.startswith("zip")})
    parts = sorted({row for row, _ in sums if row != "all"},
                   key=lambda row: -sum(sums[row, "core"][k] for k in kinds)) + ["all"]
    for library in LIBRARIES:
        print(f"\n| libshunt-{library} | " + " | ".join(f"{k} | zip" for k in kinds) + " |")
        print("| --- |" + " --- |" * (2 * len(kinds)))
        for part in parts:
            row = sums[part, library]
            if row:
                print(f"| {part} | " + " | ".join(
                    f"{row[k] / 1e6:.2f} | {row['zip ' + k] / 1e6:.2f}" for k in kinds) + " |")


if __name__ == "__main__":
    main()
