#!/usr/bin/env python3
"""call_way.py MOST README: the functions that are on the stack when a product is launched, from the
exported function to the launcher, found in the sources.

Of each route the longest way to each launcher of its products is counted.  A way of more than MOST
functions is printed; so is a line of README's block, "function  file  reason", that is not on the
way of the route whose launcher ends it."""
import glob
import re
import sys

FOLDERS = ("cusparse", "plan", "routes", "cublas")
ENTRIES = ("cusparseSpMM", "cusparseSDDMM")
LAUNCHER = r"shunt_%s_\w*(?:spmm|sddmm)\w*_cuda|shunt_cublaslt_multiply"
FIELDS = ("run", "product", "proved")  # of struct shunt_route and shunt_packed_format
INLINE = {"shunt_plan_run": "shunt_plan_run_by"}  # planner.h


def functions(path):
    """{name: body} of a file in the brace style of the tree."""
    found, header, name = {}, [], None
    for line in re.sub(r"/\*.*?\*/", "", open(path).read(), flags=re.S).split("\n"):
        if name:
            found[name] += line + "\n"
            name = None if line == "}" else name
        elif line == "{" and header:
            name = re.search(r"(\w+)\(", " ".join(header).replace("SHUNT_EXPORT", "")).group(1)
            found[name] = ""
        header = header + [line] if line and line[-1] not in ";}" else []
    return found


FILES = {path: functions(path)
         for folder in FOLDERS for path in sorted(glob.glob("backend/%s/*.c" % folder))}
WHERE = {name: path for path, found in FILES.items() for name in found}


def callees(path, body, route):
    """[(file, function)] that a body calls, pointers of the route and of its format included."""
    own = [p for p in FILES if re.fullmatch(r"backend/routes/%s(_packed)?\.c" % route, p)]
    called = []
    for name in re.findall(r"(?:route->|f->)?\b\w+(?=\()", body):
        field = name.partition("->")[2]
        if field:
            called += [(p, field) for p in own if field in FILES[p] and field in FIELDS]
        elif name in FILES[path]:
            called.append((path, name))
        elif name.startswith("shunt_"):
            name = INLINE.get(name, name)
            called.append((WHERE.get(name, ""), name))
    return called


def ways(path, name, route, way):
    """Every way from a function to a launcher of the route."""
    way = way + [(path, name)]
    if re.fullmatch(LAUNCHER % route, name):
        yield way
    elif path and way.count((path, name)) == 1:
        for at, callee in sorted(set(callees(path, FILES[path][name], route))):
            yield from ways(at, callee, route, way)


def told(readme):
    """[(function, file)] of README's block."""
    lines = re.findall(r"^(\w+) +((?:backend|kernels)/[\w./]+)  ", open(readme).read(), re.M)
    return [(name, path) for name, path in lines]


def main():
    most, block = int(sys.argv[1]), told(sys.argv[2])
    seen = False
    for route in re.findall(r"&shunt_route_(\w+),", open("backend/routes/table.c").read()):
        longest = {}
        for entry in ENTRIES:
            for way in ways(WHERE[entry], entry, route, []):
                if len(way) > len(longest.get((entry, way[-1]), [])):
                    longest[entry, way[-1]] = way
        if not longest:
            print("%s: no way leads to its launchers" % route)
        for way in longest.values():
            names = [name for _, name in way]
            if len(way) > most:
                print("%s: %d functions: %s" % (route, len(way), " ".join(names)))
            elif "-v" in sys.argv:
                print("%s: %d: %s" % (route, len(way), " ".join(names)))
            seen = seen or [(n, p) for p, n in way[:-1]] == block[:-1] and names[-1] == block[-1][0]
    if not seen:
        print("%s: no way is %s" % (sys.argv[2], " ".join(name for name, _ in block)))


main()
