"""solver_arrays.py: where the arrays of solvers_client.py live: on the GPU by CuPy, whose sparse
products are all cusparseSpMM, or on the host by NumPy, the twin that needs no GPU.
"""
import numpy

from solver_matrices import random_block


class Cupy:
    """Arrays on the GPU; every product of a block is one cusparseSpMM."""
    name = "cupy"

    def __init__(self):
        import cupy
        import cupy.cublas
        import cupyx.cusparse
        import cupyx.scipy.sparse
        self.xp, self.spmm, self.gemm = cupy, cupyx.cusparse.spmm, cupy.cublas.gemm
        self.csr_matrix = cupyx.scipy.sparse.csr_matrix
        self.residual = cupy.ElementwiseKernel(
            "T ax, T x, T value", "T r", "r = ax - value * x", "client_residual")
        self.chebyshev = cupy.ElementwiseKernel(
            "T r, T az, T z, T c1, T c2", "T old", "old = z + c2 * (z - old) + c1 * (r - az)",
            "client_chebyshev")
        self.sum_squares = cupy.ReductionKernel(
            "T x", "T y", "x * x", "a + b", "y = a", "0", "client_sum_squares")
        self.sum_changes = cupy.ReductionKernel(
            "T x, T y", "T z", "abs(x - y)", "a + b", "z = a", "0", "client_sum_changes")
        self.device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        self.products = 0

    def csr(self, values, columns, offsets, n):
        a = self.csr_matrix((values, columns.astype("int32"), offsets.astype("int32")),
                            shape=(n, n))
        a.sum_duplicates()  # nothing to sum: finds it canonical, which spmm asks for
        return a

    def product(self, a, x, out):
        """out = A x for each row x of a block."""
        self.products += 1
        self.spmm(a, x.T, c=out.T)

    def combine(self, coefficients, x, out, beta=0.0):
        """out = coefficients x + beta out; the coefficients are the host's."""
        self.gemm("N", "N", self.xp.asarray(coefficients, dtype=x.dtype), x, out=out, beta=beta)

    def dots(self, x, y):
        """The matrix of all x_i y_j, on the host."""
        return self.dots_later(x, y)()

    def dots_later(self, x, y):
        """The same, of a function to call: what is started before that does not delay it."""
        return self.later(self.gemm("N", "T", x, y))

    def later(self, small):
        """What this array of the device, column-major as gemm's, holds now."""
        cuda = self.xp.cuda
        memory = cuda.alloc_pinned_memory(small.nbytes)
        here = numpy.frombuffer(memory, small.dtype, small.size).reshape(small.shape[::-1])
        small.T.get(out=here, blocking=False)
        came = cuda.Event(disable_timing=True)
        came.record()

        def wait():
            came.synchronize()
            return here.T.copy()

        return wait

    def random(self, k, n, seed):
        return random_block(self.xp, k, n, seed)

    def host(self, x):
        return x.get()

    def wait(self):
        self.xp.cuda.Device().synchronize()


class OwnCsr:
    """As much of a CSR matrix as the solvers need, where SciPy is missing."""

    def __init__(self, values, columns, offsets, n):
        self.values, self.columns, self.shape = values, columns, (n, n)
        self.full = numpy.flatnonzero(numpy.diff(offsets))
        self.begins = offsets[:-1][self.full]

    def __matmul__(self, x):
        out = numpy.zeros((self.shape[0],) + x.shape[1:], x.dtype)
        values = self.values.reshape((-1,) + (1,) * (x.ndim - 1))
        if self.full.size:
            out[self.full] = numpy.add.reduceat(values * x[self.columns], self.begins, axis=0)
        return out

    def toarray(self):
        return self @ numpy.eye(self.shape[0], dtype=self.values.dtype)


class Numpy:
    """The same on the host: the twin that the tests run."""
    name = device = "numpy"

    def __init__(self):
        self.xp, self.products = numpy, 0
        try:
            import scipy.sparse
            self.csr_matrix = scipy.sparse.csr_matrix
        except ImportError:
            self.csr_matrix, self.name = None, "numpy without scipy"

    def csr(self, values, columns, offsets, n):
        if self.csr_matrix is None:
            return OwnCsr(values, columns, offsets, n)
        return self.csr_matrix((values, columns, offsets), shape=(n, n))

    def product(self, a, x, out):
        self.products += 1
        out[...] = (a @ x.T).T

    def combine(self, coefficients, x, out, beta=0.0):
        out[...] = coefficients.astype(x.dtype) @ x + (beta * out if beta else 0)

    def gemm(self, _, __, x, y):
        return x @ y.T

    def dots(self, x, y):
        return self.dots_later(x, y)()

    def dots_later(self, x, y):
        dots = self.gemm("N", "T", x, y)
        return lambda: dots

    def random(self, k, n, seed):
        return random_block(numpy, k, n, seed)

    def residual(self, ax, x, value, r):
        r[...] = ax - value * x

    def chebyshev(self, r, az, z, c1, c2, old):
        old[...] = z + c2 * (z - old) + c1 * (r - az)

    def sum_squares(self, x, axis):
        return (x * x).sum(axis=axis)

    def sum_changes(self, x, y, axis):
        return abs(x - y).sum(axis=axis)

    def host(self, x):
        return x

    def wait(self):
        pass
