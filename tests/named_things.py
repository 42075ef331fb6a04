#!/usr/bin/env python3
"""named_things.py FILE...: functions and files that comments and pages name and that do not exist,
a line each: file:line name.

Functions are known by their prefix, shunt_ or grb_; a name that ends in _ stands for a family.
Files are known by their path from the top."""
import os
import re
import sys

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
NAME = re.compile(r"\b(?:shunt|grb)_[a-z0-9_]*[a-z0-9]\b(?!_)")
PATH = re.compile(r"\b(?:kernels|conv|backend|tests)/[\w/.-]+\.(?:cuh|cu|c|h|sh|py|md|mk|map)\b")
SOURCES = (".c", ".h", ".cu", ".cuh", ".cpp")
PAGES = (".md", ".1", ".7")


def main():
    said, known = [], set()
    for path in sys.argv[1:]:
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
    for path, first, text in said:
        for name in NAME.finditer(text):
            if name.group() not in known:
                print("%s:%d %s" % (path, first + text.count("\n", 0, name.start()), name.group()))
        for name in PATH.finditer(text):
            if not os.path.exists(name.group()):
                print("%s:%d %s" % (path, first + text.count("\n", 0, name.start()), name.group()))


main()
