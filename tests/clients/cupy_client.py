"""cupy_client.py [--strict]: sparse products of CuPy, each compared with float64.

CuPy hands cuSPARSE column-major operands; a row-major B travels as its transpose.
"""
import cupy
import cupyx.cusparse
import cupyx.scipy.sparse
import numpy

from client_checks import attempt, finish, limits, report

TYPES = (numpy.float32, numpy.float64, numpy.complex64, numpy.complex128)


def random_dense(rows, cols, sparsity, group, dtype, seed):
    r = numpy.random.default_rng(seed)
    mask = r.random(((rows + group - 1) // group, cols)) >= sparsity
    mask = numpy.repeat(mask, group, 0)[:rows]
    signs = (-1, 1, 1j, 0.6 - 0.8j) if numpy.dtype(dtype).kind == "c" else (-1, 1)
    return cupy.asarray(((r.random((rows, cols)) + 0.1) * r.choice(signs, (rows, cols)) * mask)
                        .astype(dtype))


def widest(x):
    return x.astype(complex if x.dtype.kind == "c" else float)


def compare(name, got, a, b, old=None):
    want, scale = widest(a) @ widest(b), abs(widest(a)) @ abs(widest(b))
    if old is not None:
        want, scale = want + old, scale + abs(old)
    terms = int((a != 0).sum(1).max()) + 1
    allowed = limits(got.dtype.name, want, scale, terms)
    bad = int((~(abs(widest(got) - want) <= allowed)).sum())
    report(bad == 0 and got.shape == want.shape, f"{name}: {bad} of {got.size} wrong")


def matmul():
    for dtype in TYPES:
        for sparsity, group in ((0.9, 1), (0.9, 8), (0.5, 1)):
            dense = random_dense(700, 513, sparsity, group, dtype, 1)
            a = cupyx.scipy.sparse.csr_matrix(dense)
            for order in "CF":
                b = cupy.array(random_dense(513, 96, 0, 1, dtype, 2), order=order)
                for _ in range(3):
                    c = a @ b
                compare(f"csr @ dense, {numpy.dtype(dtype).name}, order {order}, sparsity "
                        f"{sparsity}, group {group}", c, dense, b)


def spmm():
    for dtype in TYPES:
        dense = random_dense(700, 513, 0.9, 8, dtype, 3)
        a = cupyx.scipy.sparse.csr_matrix(dense)
        a.sum_duplicates()  # spmm asks for the canonical format
        b = random_dense(513, 64, 0, 1, dtype, 4)
        f = cupy.asfortranarray(b)
        name = numpy.dtype(dtype).name
        for _ in range(3):
            c = cupyx.cusparse.spmm(a, f)
        compare(f"spmm, column-major, {name}", c, dense, b)
        c = cupyx.cusparse.spmm(a, cupy.ascontiguousarray(b).T, transb=True)
        compare(f"spmm, row-major as a transpose, {name}", c, dense, b)
        old = cupy.asfortranarray(random_dense(700, 64, 0, 1, dtype, 5))
        want_old = -0.5 * widest(old)
        c = cupyx.cusparse.spmm(a, f, c=old, alpha=1, beta=-0.5)
        compare(f"spmm, beta -0.5, {name}", c, dense, b, want_old)
        g = cupy.asfortranarray(random_dense(700, 48, 0, 1, dtype, 6))
        c = cupyx.cusparse.spmm(a, g, transa=True)
        compare(f"spmm, op(A) = A', {name}", c, dense.T, g)


def in_place():
    dense = random_dense(600, 600, 0.8, 1, numpy.float32, 7)
    a = cupyx.scipy.sparse.csr_matrix(dense)
    b = random_dense(600, 64, 0, 1, numpy.float32, 8)
    for step in range(6):
        for _ in range(3):
            c = a @ b
        compare(f"changed in place, step {step}", c, a.toarray(), b)
        a.data *= numpy.float32(-0.5)
        a.data[step * 11] = 3


def main():
    for part in (matmul, spmm, in_place):
        attempt(part.__name__, part)
    cupy.cuda.Device().synchronize()
    finish()


if __name__ == "__main__":
    main()
