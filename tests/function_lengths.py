#!/usr/bin/env python3
"""function_lengths.py MOST FOLDER...: the functions below the folders, in C and CUDA, whose bodies
have more than MOST lines, a line each: lines, file:line.

Braces are followed outside comments, strings and directives: a body is what stands in braces behind
a parameter list, in no other body."""
import os
import re
import sys

OTHER_TEXT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n\\]|\\.)*", re.M | re.S)
HOLDS_FUNCTIONS = re.compile(r"(template\s*<.*>\s*)?(typedef\s+)?"
                             r"(extern\b[^()]*|(inline\s+)?namespace\b[^()]*|"
                             r"(struct|class|union|enum)\b[^()]*)?$", re.S)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def bodies(text):
    """(first line, lines) of each body."""
    text = DIRECTIVE.sub(blank, OTHER_TEXT.sub(blank, text))
    depth, last, begin = 0, 0, None  # begin: (depth, place) of the body at hand
    for mark in re.finditer(r"[{};]", text):
        place = mark.start()
        if mark.group() == "{":
            head = text[last:place].strip()
            if begin is None and ")" in head and not HOLDS_FUNCTIONS.match(head):
                begin = depth, place
            depth += 1
        elif mark.group() == "}":
            depth -= 1
            if begin is not None and depth == begin[0]:
                first = text.count("\n", 0, begin[1]) + 1
                yield first, text.count("\n", 0, place) + 2 - first
                begin = None
        if begin is None:
            last = place + 1


def main():
    most = int(sys.argv[1])
    for folder in sys.argv[2:]:
        for where, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".cu", ".cuh")):
                    path = os.path.join(where, name)
                    with open(path, errors="replace") as file:
                        for line, lines in bodies(file.read()):
                            if lines > most:
                                print("%d %s:%d" % (lines, path, line))


main()
