#!/usr/bin/env python3
"""coverage.py BUILD...: which share of host code has run in these builds.

A build is a folder of objects compiled with --coverage whose programs have run (tests/sanitized.sh
leaves one).  A source is compiled into several programs: a line counts as run if it ran in one of
them.  Host code is what lies in backend, conv and kernels and is C; of a source that no program
here was built from gcov knows no lines, and the share says nothing: the last line tells how many.
"""
import json
import os
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
ROOMS = ("backend/", "conv/", "kernels/")


def host_source(path):
    """The path below the top, or None."""
    path = os.path.relpath(os.path.realpath(path), TOP)
    return path if path.startswith(ROOMS) and path.endswith((".c", ".h")) else None


def notes(build):
    for folder, _, names in os.walk(build):
        for name in names:
            if name.endswith(".gcno"):
                yield os.path.join(os.path.abspath(folder), name)


def read(build, lines):
    files = list(notes(build))
    for first in range(0, len(files), 40):
        out = subprocess.run(["gcov", "--json-format", "--stdout", *files[first:first + 40]],
                             cwd=build, capture_output=True, text=True, check=False).stdout
        for text in out.splitlines():
            if not text.startswith("{"):
                continue
            data = json.loads(text)
            for source in data["files"]:
                path = host_source(os.path.join(data["current_working_directory"], source["file"]))
                if path:
                    seen = lines.setdefault(path, {})
                    for line in source["lines"]:
                        number = line["line_number"]
                        seen[number] = seen.get(number, False) or line["count"] > 0


def main():
    lines = {}
    for build in sys.argv[1:]:
        read(build, lines)
    total = sum(len(seen) for seen in lines.values())
    if total == 0:
        print("no lines were counted")
        sys.exit(1)
    sources = {os.path.relpath(os.path.join(folder, name), TOP)
               for room in ROOMS for folder, _, names in os.walk(os.path.join(TOP, room))
               for name in names if name.endswith(".c")}
    built = sum(path.endswith(".c") for path in lines)
    for path in sorted(lines, key=lambda p: -sum(not ran for ran in lines[p].values())):
        missed = sum(not ran for ran in lines[path].values())
        if missed:
            print(f"#   {missed} of {len(lines[path])} lines did not run: {path}")
    ran = sum(sum(seen.values()) for seen in lines.values())
    print(f"# {100 * ran / total:.1f} % of {total} lines of host code, in {built} of "
          f"{len(sources)} files; of the others nothing is counted")


if __name__ == "__main__":
    main()
