#!/usr/bin/env python3
"""named_things.py FILE...: functions, kernels and files that comments and pages name and that do
not exist, a line each: file:line name.

Functions are known by their prefix, shunt_ or grb_, kernels by theirs, spmm_ and the like, or by
their end, _kernel; a name that ends in _ stands for a family.  Files are known by their path from
the top or, in comments, by their name alone; a * in either stands for anything."""
import fnmatch
import glob
import os
import re
import sys

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
NAME = re.compile(r"\b(?:(?:shunt|grb|spmm|sddmm|softmax|attention)_[a-z0-9_]*[a-z0-9]"
                  r"|[a-z][a-z0-9_]*_kernel)\b(?!_|\.(?:cuh?|c|h)\b)")
PATH = re.compile(r"\b(?:kernels|conv|backend|tests)/(?:[\w/.*-]+\.(?:cuh|cu|c|h|sh|py|md|mk|map)\b"
                  r"|[\w/-]+\*)")
FILE = re.compile(r"(?<![\w/.<*-])[a-z][\w*]*_[\w*]*\.(?:cuh|cu|cpp|c|h)\b")
SOURCES = (".c", ".h", ".cu", ".cuh", ".cpp")
PAGES = (".md", ".1", ".7")
OTHERS = {"csrmm_v3_kernel"}  # cuSPARSE's


def read(paths):
    """[(path, first line, text)] of what is said; the words of all code."""
    said, known = [], set()
    for path in paths:
        if path.endswith((".json", ".gz", ".tsv", ".svg")) or not os.path.isfile(path):
            continue
        with open(path, errors="replace") as file:
            text = file.read()
        if path.endswith(SOURCES):
            for comment in COMMENT.finditer(text):
                said.append((path, text.count("\n", 0, comment.start()) + 1, comment.group()))
            text = COMMENT.sub(" ", text)
        elif path.endswith(PAGES):
            said.append((path, 1, text))
            continue
        known.update(re.findall(r"\w+", text))
    return said, known


def main():
    said, known = read(sys.argv[1:])
    files = {os.path.basename(path) for path in sys.argv[1:]}
    known |= OTHERS | {name.split(".")[0] for name in files}
    for path, first, text in said:
        missing = [m for m in NAME.finditer(text) if m.group() not in known]
        missing += [m for m in PATH.finditer(text) if not glob.glob(m.group())]
        if path.endswith(SOURCES):
            missing += [m for m in FILE.finditer(text) if not fnmatch.filter(files, m.group())]
        for m in missing:
            print("%s:%d %s" % (path, first + text.count("\n", 0, m.start()), m.group()))


main()
