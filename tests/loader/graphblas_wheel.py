#!/usr/bin/env python3
"""graphblas_wheel.py: products through suitesparse-graphblas, a plain binding to GraphBLAS, each
checked against numpy.  Wheels hold the library under a hashed name and load it with local scope.
python-graphblas stops at version 9; this goes through 10.x as well.

Skips, with a message, where suitesparse-graphblas or numpy is missing."""
import sys

try:
    import numpy as np
    import suitesparse_graphblas
    from suitesparse_graphblas import ffi, lib
except (ImportError, AttributeError) as missing:
    print(f"skip - suitesparse-graphblas cannot be imported: {missing}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(0)

NODES, DEGREE, WIDTH, SOURCES = 700, 12, 24, 64
TYPES = {np.float64: ("FP64", "double"), np.int64: ("INT64", "int64_t"), np.bool_: ("BOOL", "bool")}
passed = failed = 0


def call(name, *arguments):
    info = getattr(lib, name)(*arguments)
    if info != lib.GrB_SUCCESS:
        raise RuntimeError(f"{name} returns {info}")


def array(x, name):
    return ffi.cast(f"{name}*", ffi.from_buffer(x))


def matrix(shape, number):
    out = ffi.new("GrB_Matrix*")
    call("GrB_Matrix_new", out, getattr(lib, f"GrB_{number}"), *shape)
    return out[0]


def from_numpy(x, there):
    """x where `there` says so."""
    number, name = TYPES[x.dtype.type]
    out = matrix(x.shape, number)
    rows, columns = (np.ascontiguousarray(i, np.uint64) for i in np.nonzero(there))
    values = np.ascontiguousarray(x[there])
    call(f"GrB_Matrix_build_{number}", out, array(rows, "GrB_Index"), array(columns, "GrB_Index"),
         array(values, name), len(values), getattr(lib, f"GrB_FIRST_{number}"))
    call("GrB_Matrix_wait", out, lib.GrB_MATERIALIZE)
    return out


def to_numpy(a, dtype, shape):
    number, name = TYPES[dtype]
    n = ffi.new("GrB_Index*")
    call("GrB_Matrix_nvals", n, a)
    rows, columns = np.empty(n[0], np.uint64), np.empty(n[0], np.uint64)
    values, x, there = np.empty(n[0], dtype), np.zeros(shape, dtype), np.zeros(shape, bool)
    call(f"GrB_Matrix_extractTuples_{number}", array(rows, "GrB_Index"),
         array(columns, "GrB_Index"), array(values, name), n, a)
    x[rows.astype(int), columns.astype(int)] = values
    there[rows.astype(int), columns.astype(int)] = True
    return x, there


def check(what, semiring, descriptor, mask, a, b, want):
    """C<mask> = a b is `want`: values, and where there are any."""
    global passed, failed
    values, places = want
    number = TYPES[values.dtype.type][0]
    c = matrix(values.shape, number)
    call("GrB_mxm", c, mask, ffi.NULL, getattr(lib, semiring), a, b, descriptor)
    x, there = to_numpy(c, values.dtype.type, values.shape)
    good = (there == places).all() and np.allclose(x[there], values[there], rtol=1e-13, atol=0)
    passed, failed = passed + good, failed + (not good)
    print(f"{'ok' if good else 'not ok'} - {what}")


def products(rng):
    half = rng.random((NODES, NODES)) < DEGREE / NODES / 2
    s_there = half | half.T
    s, count = np.where(s_there, rng.random((NODES, NODES)), 0), s_there.astype(np.int64)
    met = count @ count
    b = rng.random((NODES, WIDTH))
    f_there = rng.random((SOURCES, NODES)) < 0.1
    seen = rng.random((SOURCES, NODES)) < 0.4
    graph = from_numpy(s, s_there)
    f, mask = from_numpy(f_there, f_there), from_numpy(seen, seen)
    sums, pairs = "GrB_PLUS_TIMES_SEMIRING_FP64", "GxB_PLUS_PAIR_INT64"
    check("sparse x full", sums, ffi.NULL, ffi.NULL, graph, from_numpy(b, b >= 0), (s @ b, b >= 0))
    check("common neighbours, structural mask", pairs, lib.GrB_DESC_RST1, graph, graph, graph,
          (met, (met > 0) & s_there))
    check("sums under a mask with values", sums, lib.GrB_DESC_RT1, graph, graph, graph,
          (s @ s.T, (met > 0) & s_there))
    check("a step of 64 searches, complemented mask", "GxB_ANY_PAIR_BOOL", lib.GrB_DESC_RSC, mask,
          f, graph, (np.ones_like(seen), (f_there.astype(int) @ count > 0) & ~seen))
    check("sparse x sparse", sums, ffi.NULL, ffi.NULL, graph, graph, (s @ s, met > 0))


def main():
    suitesparse_graphblas.initialize()
    print(f"# GraphBLAS {suitesparse_graphblas.__version__}")
    products(np.random.default_rng(1))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
