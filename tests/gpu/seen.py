#!/usr/bin/env python3
"""seen.py ROOT BUILD: which sources each test of tests/gpu sees, a line "TEST SOURCE" each.

A test is linked with archives of all kernels, conversions and routes, but has only those objects
that it needs: the linker's map (BUILD/tests/gpu/*/TEST.linked) names them, and the compilers'
dependency files name what they were made from.  `report.py --join` reads it: a change in a source
that a test does not see leaves its results as they are.
"""
import glob
import os
import re
import sys

MEMBER = re.compile(r"^[^/\s]\S*\.a\((?:lt\d+-)?([^()]+\.o)\)")  # of an archive of the build
LOADED = re.compile(r"^LOAD (\S+\.o)$")


def dependency_files(build):
    """{NAME.o: [files that say what objects of that name were made from]}."""
    found = {}
    for pattern, end in (("**/*.cu.d", ".cu.d"), ("**/.deps/*.Plo", ".Plo"), ("**/*.o.d", ".o.d")):
        for path in glob.glob(os.path.join(build, pattern), recursive=True):
            name = os.path.basename(path)[:-len(end)] + ".o"
            found.setdefault(name, []).append(path)
    return found


def sources_in(path, root, build):
    """What a dependency file names below ROOT."""
    with open(path, encoding="utf-8") as f:
        words = f.read().replace("\\\n", " ").split()
    for word in words:
        full = os.path.realpath(os.path.join(build, word.rstrip(":")))
        if full.startswith(root + os.sep) and os.path.isfile(full):
            yield os.path.relpath(full, root)


def objects_in(path):
    """Objects that were linked: of archives, and by themselves."""
    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            found = MEMBER.match(line) or LOADED.match(line)
            if found:
                yield found.group(1)


def seen_by(test, root, build, files):
    seen = set(sources_in(test + ".d", root, build))
    for name in objects_in(test + ".linked"):
        base = os.path.basename(name)
        if os.path.isabs(name) and not name.startswith(build):
            continue  # the compiler's, and what it made of the test itself
        if base not in files:
            raise LookupError(f"{test}: nothing says what {name} was made from")
        for path in files[base]:
            seen.update(sources_in(path, root, build))
    return seen


def main(root, build):
    root, build = os.path.realpath(root), os.path.realpath(build)
    files = dependency_files(build)
    maps = sorted(glob.glob(os.path.join(build, "tests", "gpu", "*", "test_*.linked")))
    for path in maps:
        test = path[:-len(".linked")]
        for source in sorted(seen_by(test, root, build, files)):
            print(os.path.basename(test), source)
    return 0 if maps else "seen.py: no test has a map"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]) if len(sys.argv) == 3 else __doc__)
