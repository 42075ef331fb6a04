#!/usr/bin/env python3
"""Matrix Market or .smtx (gzip or not) to .csrbin: the pattern alone.

    mtx_to_csrbin.py OUTPUT_DIR FILE...

.csrbin, little endian:
    int64 rows, cols, nnz; int64 offsets[rows + 1]; int32 columns[nnz]
Base 0; columns of a row ascend; entries stored more than once are kept once;
symmetric (skew, hermitian) files are mirrored.  Only the standard library is used.
"""
import array
import gzip
import os
import sys


def open_text(path):
    return gzip.open(path, "rt") if path.endswith(".gz") else open(path)


def read_mtx(lines):
    """-> rows, cols, list of row * cols + col"""
    header = next(lines).split()
    if len(header) < 5 or header[0].lower() != "%%matrixmarket" or header[2].lower() != "coordinate":
        raise ValueError("not a Matrix Market coordinate file")
    mirrored = header[4].lower() != "general"
    for line in lines:
        if line.strip() and not line.startswith("%"):
            break
    rows, cols, stored = map(int, line.split()[:3])
    keys = []
    for line in lines:
        words = line.split(None, 2)
        if not words:
            continue
        i, j = int(words[0]) - 1, int(words[1]) - 1
        if not (0 <= i < rows and 0 <= j < cols):
            raise ValueError("entry out of range: " + line.strip())
        keys.append(i * cols + j)
        if mirrored and i != j:
            keys.append(j * cols + i)
        stored -= 1
    if stored:
        raise ValueError("%d entries missing" % stored)
    return rows, cols, keys


def read_smtx(lines):
    rows, cols, nnz = (int(x) for x in next(lines).replace(",", " ").split())
    offsets = [int(x) for x in next(lines).split()]
    columns = [int(x) for x in next(lines, "").split()]
    if len(offsets) != rows + 1 or len(columns) != nnz:
        raise ValueError("lengths do not match the first line")
    keys = [i * cols + j for i in range(rows) for j in columns[offsets[i]:offsets[i + 1]]]
    return rows, cols, keys


def write(path, rows, cols, keys):
    keys = sorted(set(keys))
    offsets = array.array("q", bytes(8 * (rows + 1)))
    for key in keys:
        offsets[key // cols + 1] += 1
    for i in range(rows):
        offsets[i + 1] += offsets[i]
    head = array.array("q", [rows, cols, len(keys)])
    columns = array.array("i", [key % cols for key in keys])
    if sys.byteorder != "little":
        for a in (head, offsets, columns):
            a.byteswap()
    with open(path, "wb") as f:
        for a in (head, offsets, columns):
            a.tofile(f)
    return len(keys)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    for path in arguments[1:]:
        name = os.path.basename(path)
        name = name[:-3] if name.endswith(".gz") else name
        stem, kind = os.path.splitext(name)
        try:
            with open_text(path) as f:
                rows, cols, keys = (read_smtx if kind == ".smtx" else read_mtx)(iter(f))
            out = os.path.join(arguments[0], stem + ".csrbin")
            nnz = write(out, rows, cols, keys)
        except (OSError, ValueError, StopIteration) as e:
            sys.exit("%s: %s" % (path, e))
        print("%s: %d x %d, %d entries" % (out, rows, cols, nnz), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
