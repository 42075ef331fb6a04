"""jax_client.py [--strict]: BCSR products of JAX under jit, each compared with float64.

JAX lowers them to cuSPARSE only when asked to, and binds cuSPARSE by dlsym on a handle.
"""
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("JAX_BCOO_CUSPARSE_LOWERING", "true")

import jax  # noqa: E402  (the environment is read on import)
import numpy  # noqa: E402
from jax.experimental import sparse  # noqa: E402

from client_checks import attempt, finish, limits, report  # noqa: E402

jax.config.update("jax_enable_x64", True)


def random_dense(rows, cols, sparsity, group, dtype, seed):
    r = numpy.random.default_rng(seed)
    mask = r.random(((rows + group - 1) // group, cols)) >= sparsity
    mask = numpy.repeat(mask, group, 0)[:rows]
    return ((r.random((rows, cols)) + 0.1) * r.choice((-1, 1), (rows, cols)) * mask).astype(dtype)


def compare(name, got, a, b):
    got = numpy.asarray(got)
    want, scale = a.astype(float) @ b.astype(float), abs(a.astype(float)) @ abs(b.astype(float))
    terms = int((a != 0).sum(1).max()) + 1
    allowed = limits(got.dtype.name, want, scale, terms)
    bad = int((~(abs(got.astype(float) - want) <= allowed)).sum())
    report(bad == 0 and got.shape == want.shape, f"{name}: {bad} of {got.size} wrong")


def products():
    multiply = jax.jit(lambda a, b: a @ b)
    for dtype in (numpy.float32, numpy.float64):
        for sparsity, group in ((0.9, 1), (0.9, 8), (0.5, 1)):
            dense = random_dense(512, 400, sparsity, group, dtype, 1)
            b = random_dense(400, 64, 0, 1, dtype, 2)
            a = sparse.BCSR.fromdense(dense)
            for _ in range(3):
                c = multiply(a, b)
            compare(f"BCSR @ dense, {numpy.dtype(dtype).name}, sparsity {sparsity}, group {group}",
                    c, dense, b)
            coo = sparse.BCOO.fromdense(dense)
            compare(f"BCOO @ dense, {numpy.dtype(dtype).name}, sparsity {sparsity}, group {group}",
                    multiply(coo, b), dense, b)


def main():
    try:
        jax.config.update("jax_bcoo_cusparse_lowering", True)
    except AttributeError as why:
        report(False, f"the cuSPARSE lowering cannot be asked for: {why}")
    attempt("products", products)
    finish()


if __name__ == "__main__":
    main()
