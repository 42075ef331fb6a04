#!/usr/bin/env python3
"""Makes mutators.h: the functions of GraphBLAS that may change a matrix or vector.

usage: list_mutators.py SOURCE... >mutators.h

A SOURCE is a GraphBLAS.h (Debian: libgraphblas-dev), or, for versions without a package,
the _graphblas.abi3.so of a wheel of suitesparse-graphblas (unpacked, so that its
suitesparse_graphblas.libs lies beside it; needs cffi).  The list is the union: a name that
a version lacks is never called there.  It was made with

  pip download --no-deps suitesparse-graphblas==10.5.1.1     # unpacked
  list_mutators.py /usr/include/GraphBLAS.h suitesparse_graphblas/_graphblas.abi3.so

Taken is every function whose first argument is a matrix, a vector, a pointer to one, or
whose arguments hold a container, but those that only read, and GrB_mxm, mxv and vxm, which
are interposed for themselves.  What has several outputs raises all epochs.
"""
import importlib.util
import re
import sys

READERS = re.compile(r"_(Option_get|get|fprint|isStoredElement|wait)(_[A-Za-z0-9]+)?$")
OWN = {"GrB_mxm", "GrB_mxv", "GrB_vxm"}
OBJECT = re.compile(r"(?:struct )?(?:GrB_|GB_)(?:Matrix|Vector)(?:_opaque \*)?\s*(\**)")
CONTAINER = re.compile(r"GxB_Container")
SEVERAL = re.compile(r"_(sort|extractTuples_Vector)$")


def from_header(path):
    text = open(path, encoding="utf-8", errors="replace").read()
    version = re.findall(r"#define GxB_IMPLEMENTATION_(?:MAJOR|MINOR|SUB)\s+(\d+)", text)
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    functions = re.findall(r"\bGrB_Info\s+(G[rx]B_\w+)\s*\(([^;]*?)\)\s*;", text)
    found = {name: [" ".join(a.split()) for a in split(args)] for name, args in functions}
    return "GraphBLAS " + ".".join(version[:3]), found


def split(arguments):
    depth, parts = 0, [""]
    for c in arguments:
        depth += {"(": 1, ")": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def from_wheel(path):
    spec = importlib.util.spec_from_file_location("suitesparse_graphblas._graphblas", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found = {}
    for name in dir(module.lib):
        if not re.match(r"G[rx]B_", name):
            continue
        try:
            kind = module.ffi.typeof(getattr(module.lib, name))
        except (TypeError, module.ffi.error):
            continue
        if kind.kind == "function":
            found[name] = [re.sub(r"\* \*", "**", a.cname) for a in kind.args]
    lib = module.lib
    version = [getattr(lib, "GxB_IMPLEMENTATION_" + part) for part in ("MAJOR", "MINOR", "SUB")]
    return "GraphBLAS %d.%d.%d" % tuple(version), found


def what(name, arguments):
    """HANDLE, POINTER or ALL; None for a function that changes nothing."""
    if name in OWN or READERS.search(name) or not arguments:
        return None
    if any(CONTAINER.search(a) for a in arguments):
        return None if name.startswith("GxB_Container_new") else "ALL"
    first = arguments[0]
    match = OBJECT.match(first.replace("struct GB_Matrix_opaque *", "GrB_Matrix ", 1)
                         .replace("struct GB_Vector_opaque *", "GrB_Vector ", 1))
    if first.startswith("const ") or not match:
        return None
    if SEVERAL.search(name):
        return "ALL"
    return "POINTER" if match.group(1) else "HANDLE"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    versions, taken = [], {}
    for path in sys.argv[1:]:
        version, functions = from_wheel(path) if path.endswith(".so") else from_header(path)
        chosen = {n: w for n, a in functions.items() if (w := what(n, a))}
        for name, kind in chosen.items():
            if taken.setdefault(name, kind) != kind:
                taken[name] = "ALL"
        versions.append("%s (%d functions)" % (version, len(chosen)))
    print("/* Made by list_mutators.py from %s: do not edit.\n" % ", ".join(versions))
    print("   X(number, function, what its first argument is)  */")
    print("#ifndef SHUNT_GRAPHBLAS_EPOCH_MUTATORS_H\n#define SHUNT_GRAPHBLAS_MUTATOR_LIST_H\n")
    print("#define GRB_MUTATOR_COUNT %d" % len(taken))
    print("#define GRB_MUTATORS(X) \\")
    rows = ["  X(%d, %s, %s)" % (i, n, taken[n]) for i, n in enumerate(sorted(taken))]
    print(" \\\n".join(rows))
    print("\n#endif")


main()
