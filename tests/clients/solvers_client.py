"""solvers_client.py [MATRIX...] [--mesh SIDExUNKNOWNS...] [-o FILE] [--compare FILE...]

Block solvers of CuPy whose sparse products are all cusparseSpMM: what a whole program
gains, and that it takes the same iterations to the same residuals.

  lobpcg        the smallest eigenvalues of A, f64, block 8, 16, 32: W = R
  lobpcg-cheb   the same with a polynomial preconditioner: W = p(A) R
  block-cg      A X = B with 16 right-hand sides, f64
  pagerank      64 personalised PageRanks of the graph, f32

Run it without Shunt (-o plain.json), then with it (--compare plain.json); or compare two
files later (--compare plain.json shunt.json, no matrix).  --numpy takes NumPy and SciPy
instead of CuPy (without SciPy, a product of its own), which tests the mathematics where
there is no GPU.  Seconds are wall time from an idle to an idle device, median of 3 runs
after one that warms up.

The system matrix of every pattern, P = pattern + its transpose + the diagonal, is a shifted
and normalised Laplacian with weights w_ij = w_ji in [0.5, 1.5) hashed from i and j:

  A_ij = -w_ij / sqrt(d_i d_j),   A_ii = 1 + 2^-10,   d_i = sum of row i's weights

so it is symmetric, its eigenvalues lie in [2^-10, 2 + 2^-10], and Jacobi's preconditioner
is the identity.  A rectangular pattern is a corner of a square one.

A block of k vectors of length n is a C-ordered (k, n) array, so that its transpose is the
column-major n x k matrix which cuSPARSE takes, and groups of blocks lie one after another:

      W   x x x x x x   k rows      [W X] and [X P] are blocks, too: one call of cuBLAS
      X   x x x x x x   k rows      serves a whole group
      P   x x x x x x   k rows

The small dense matrices (3k x 3k) are NumPy's, on the host.
"""
import argparse
import gzip
import json
import math
import os
import sys
import time

# The small matrices are too small for threads, which only make the times unsteady.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy  # noqa: E402

from client_checks import attempt, finish, report, skip  # noqa: E402

SHIFT = 2.0**-10
DAMPING = 0.85
TOLERANCE = {"lobpcg": 1e-6, "lobpcg-cheb": 1e-6, "block-cg": 1e-9, "pagerank": 1e-5}
# Of two runs: the residuals, and the answers (eigenvalues, norms), may differ by these shares.
# A residual of f32 is itself only known to a few roundings of the iterate, whose sum is 1.
RESIDUAL_SHARE = {"float64": 0.01, "float32": 0.05}
ANSWER_SHARE = {"float64": 1e-9, "float32": 1e-5}


# ---- where arrays live -----------------------------------------------------------------
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
        return self.gemm("N", "T", x, y).get()

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

    def dots(self, x, y):
        return x @ y.T

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


# ---- matrices --------------------------------------------------------------------------
def read_market(f):
    """Rows and columns of a Matrix Market file, symmetric ones mirrored, and the size."""
    head = f.readline().lower().split()
    if head[:3] != ["%%matrixmarket", "matrix", "coordinate"] or len(head) != 5:
        raise ValueError("not a coordinate Matrix Market file")
    line = f.readline()
    while line.startswith("%") or line.isspace():
        line = f.readline()
    size = [int(word) for word in line.split()]
    if len(size) != 3 or min(size) < 0:
        raise ValueError("bad size line")
    pairs = numpy.loadtxt(f, dtype=numpy.int64, usecols=(0, 1), ndmin=2) - 1 if size[2] else \
        numpy.empty((0, 2), numpy.int64)
    if len(pairs) != size[2]:
        raise ValueError(f"{len(pairs)} entries where {size[2]} are announced")
    rows, cols = pairs.T
    if head[4] != "general":
        rows, cols = numpy.concatenate((rows, cols)), numpy.concatenate((cols, rows))
        size[0] = size[1] = max(size[:2])
    return rows, cols, size[0], size[1]


def read_smtx(f):
    """Rows and columns of a .smtx file (rows, cols, nnz / offsets / columns), and the size."""
    size = [int(word) for word in f.readline().replace(",", " ").split()]
    offsets = numpy.array(f.readline().split(), dtype=numpy.int64)
    cols = numpy.array(f.readline().split(), dtype=numpy.int64)
    if len(size) != 3 or len(offsets) != size[0] + 1 or len(cols) != size[2]:
        raise ValueError("bad sizes")
    counts = numpy.diff(offsets)
    if offsets[0] != 0 or offsets[-1] != size[2] or (counts < 0).any():
        raise ValueError("bad row offsets")
    return numpy.repeat(numpy.arange(size[0]), counts), cols, size[0], size[1]


def read_pattern(xp, path):
    """(n, keys): the entries of a file as sorted row * n + column."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="ascii") as f:
        rows, cols, m, n = (read_smtx if ".smtx" in path else read_market)(f)
    if rows.size and (min(rows.min(), cols.min()) < 0 or rows.max() >= m or cols.max() >= n):
        raise ValueError("an index is out of range")
    n = max(m, n, 1)
    return n, xp.unique(xp.asarray(rows) * n + xp.asarray(cols))


def mesh_pattern(xp, text):
    """The same for SIDExUNKNOWNS: side^3 nodes, each joined to its 27 neighbours (itself
    included) by a dense block of unknowns x unknowns, as finite elements assemble it."""
    words = text.split("x")
    if len(words) != 2 or not all(word.isdecimal() and int(word) > 0 for word in words):
        raise ValueError("a mesh is SIDExUNKNOWNS, both at least 1")
    side, unknowns = map(int, words)
    n = side**3 * unknowns
    axis, step = xp.arange(side, dtype=xp.int64), xp.arange(-1, 2, dtype=xp.int64)
    moved = axis[:, None] + step  # [place, step]
    inside = (moved >= 0) & (moved < side)
    near = ((moved * side)[:, None, None, :, None, None]
            + moved[None, :, None, None, :, None]) * side + moved[None, None, :, None, None, :]
    kept = (inside[:, None, None, :, None, None] & inside[None, :, None, None, :, None]
            & inside[None, None, :, None, None, :])
    unknown = xp.arange(unknowns, dtype=xp.int64)
    rows = (xp.arange(side**3, dtype=xp.int64)[:, None] * unknowns + unknown)[:, :, None, None]
    cols = (near.reshape(-1, 27)[:, :, None] * unknowns + unknown)[:, None]
    kept = xp.broadcast_to(kept.reshape(-1, 1, 27, 1), (side**3, unknowns, 27, unknowns))
    return n, (rows * n + cols)[kept]


def hashed(xp, keys):
    """Numbers in [0, 1) by splitmix64's last steps: the same on every device.  They are
    multiples of 2^-20, so that their sums are exact in any order."""
    z = keys.astype(xp.uint64) + xp.uint64(0x9e3779b97f4a7c15)
    z = (z ^ (z >> xp.uint64(30))) * xp.uint64(0xbf58476d1ce4e5b9)
    z = (z ^ (z >> xp.uint64(27))) * xp.uint64(0x94d049bb133111eb)
    return (z >> xp.uint64(44)).astype(xp.float64) * 2.0**-20


def row_offsets(xp, rows, n):
    offsets = xp.zeros(n + 1, xp.int64)
    offsets[1:] = xp.cumsum(xp.bincount(rows, minlength=n))
    if int(offsets[-1]) >= 2**31:
        raise ValueError("more than 2^31 - 1 entries")
    return offsets


def system_matrix(b, n, keys):
    """The Laplacian that the head of this file describes."""
    xp = b.xp
    rows, cols = keys // n, keys % n
    keys = xp.unique(xp.concatenate((keys, cols * n + rows, xp.arange(n) * (n + 1))))
    rows, cols = keys // n, keys % n
    weights = hashed(xp, xp.minimum(rows, cols) * n + xp.maximum(rows, cols)) + 0.5
    weights[rows == cols] = 0
    degree = xp.bincount(rows, weights=weights, minlength=n)
    scale = 1 / xp.sqrt(xp.where(degree > 0, degree, 1))
    values = -weights * scale[rows] * scale[cols]
    values[rows == cols] = 1 + SHIFT
    return b.csr(values, cols, row_offsets(xp, rows, n), n)


def link_matrix(b, n, keys):
    """damping / outdegree(i) at (j, i) for each link i -> j but the loops."""
    xp = b.xp
    rows, cols = keys // n, keys % n
    links = rows != cols
    rows, cols = rows[links], cols[links]
    share = DAMPING / xp.maximum(xp.bincount(rows, minlength=n), 1)
    keys = xp.sort(cols * n + rows)
    rows, cols = keys // n, keys % n
    return b.csr(share[cols].astype(xp.float32), cols, row_offsets(xp, rows, n), n)


def random_block(b, k, n, seed):
    xp = b.xp
    keys = xp.arange(k * n, dtype=xp.int64) + (seed << 40)
    return (hashed(xp, keys) - 0.5).reshape(k, n)


# ---- solvers ---------------------------------------------------------------------------
def inverse_factor(g):
    """L^-1 of G = L L'; raises LinAlgError where G is not definite, or hardly."""
    scale = 1 / numpy.sqrt(numpy.diag(g))
    if not numpy.isfinite(scale).all():
        raise numpy.linalg.LinAlgError("a zero or negative square")
    factor = numpy.linalg.cholesky(g * scale * scale[:, None])
    if numpy.diag(factor).min() < 1e-6:
        raise numpy.linalg.LinAlgError("hardly definite")
    return numpy.linalg.inv(factor) * scale


def rayleigh_ritz(g, h, basis, k):
    """The k least values of h c = value g c with c zero outside `basis`, and their c' by row,
    with c' g c = 1."""
    whole, part = len(g), numpy.ix_(basis, basis)
    g, h = (g[part] + g[part].T) / 2, (h[part] + h[part].T) / 2
    inverse = inverse_factor(g)
    values, vectors = numpy.linalg.eigh(inverse @ h @ inverse.T)
    c = numpy.zeros((k, whole))
    c[:, basis] = vectors[:, :k].T @ inverse
    return values[:k], c


def changes(c, g, x, moving):
    """Coefficients of P: the moving rows of c without their part in the old block `x`, made
    orthonormal, and orthogonal to c (g: the products of the basis)."""
    p = c[moving]
    p[:, x] = 0
    p -= (p @ g @ c.T) @ c
    return inverse_factor(p @ g @ p.T) @ p


class Chebyshev:
    """z = p(A) r, p the Chebyshev approximation of 1 / x on [high / degree^2, high], the
    part of the spectrum that a polynomial of this degree reaches.  degree - 1 products."""

    def __init__(self, b, a, k, degree):
        self.b, self.a, self.degree = b, a, degree
        self.az, self.other = (b.xp.empty((k, a.shape[0])) for _ in range(2))

    def __call__(self, r, z):
        high = 2 + SHIFT
        low = high / self.degree**2
        middle, half = (high + low) / 2, (high - low) / 2
        rho = half / middle
        now, old = (z, self.other) if self.degree % 2 else (self.other, z)
        self.b.xp.multiply(r, 1 / middle, out=now)
        old.fill(0)
        for _ in range(self.degree - 1):
            self.b.product(self.a, now, self.az)
            after = 1 / (2 * middle / half - rho)
            self.b.chebyshev(r, self.az, now, 2 * after / half, after * rho, old)
            now, old, rho = old, now, after


def lobpcg(b, a, k, tolerance, limit, degree=1):
    """The smallest eigenvalues of A; the last quarter of the block only guards the others.

    Each step minimises over the span of [W X P]: the new residuals, the block, and its last
    change.  Rows of W whose vector has converged are left out, and P is kept orthogonal to X:
    else the basis loses its rank in the end, and two runs that round differently part."""
    xp, n = b.xp, a.shape[0]
    wanted, all_x = k - k // 4, numpy.ones(k, bool)
    w, x = slice(0, k), slice(k, 2 * k)
    s, ax, new_s, new_ax = (xp.zeros((3 * k, n)) for _ in range(4))  # [W X P], A [W X P]
    r = xp.empty((k, n))
    precondition = Chebyshev(b, a, k, degree) if degree > 1 else None
    s[w] = random_block(b, k, n, 1)
    b.product(a, s[w], ax[w])
    values, c = rayleigh_ritz(b.dots(s[w], s[w]), b.dots(s[w], ax[w]), numpy.arange(k), k)
    b.combine(c, s[w], s[x])
    b.combine(c, ax[w], ax[x])
    has_p = ~all_x
    for step in range(limit + 1):
        b.residual(ax[x], s[x], xp.asarray(values)[:, None], r)
        norms = numpy.sqrt(b.host(b.sum_squares(r, axis=1)))
        if norms[:wanted].max() <= tolerance or step == limit:
            break
        if precondition:
            precondition(r, s[w])
        else:
            s[w] = r
        b.product(a, s[w], ax[w])
        g, h = b.dots(s, s), b.dots(s, ax)
        moving = norms > tolerance
        basis = numpy.flatnonzero(numpy.concatenate((moving, all_x, has_p)))
        values, c = rayleigh_ritz(g, h, basis, k)
        both, has_p = numpy.zeros((2 * k, 3 * k)), moving
        both[:k], both[k:][moving] = c, changes(c, g, x, moving)
        b.combine(both, s, new_s[k:])
        b.combine(both, ax, new_ax[k:])
        s, ax, new_s, new_ax = new_s, new_ax, s, ax
    return {"iterations": step, "x": s[x], "values": values, "wanted": wanted}


def block_cg(b, a, k, tolerance, limit):
    """A X = B by the block CG that keeps the residual as W Z, W orthonormal (Dubrulle's
    BCGrQ), so that its small matrices stay regular.  W itself is not stored: W = M' V.

      T = A S,  Y = (S' T)^-1,  X += S Y Z,  V = W - T Y = W+ N,  Z = N Z,  S = W+ + S N'
    """
    xp, n = b.xp, a.shape[0]
    rhs = random_block(b, k, n, 2)
    t, v = slice(0, k), slice(k, 2 * k)
    tv, new_tv = xp.empty((2 * k, n)), xp.empty((2 * k, n))
    x, s, new_s = xp.zeros((k, n)), xp.empty((k, n)), xp.empty((k, n))
    tv[v] = rhs
    g = b.dots(rhs, rhs)
    size = numpy.sqrt(numpy.diag(g))
    m = inverse_factor(g)  # W' = m V'
    z = m @ g  # = L' of G = L L', without another factorisation
    b.combine(m, tv[v], s)
    for step in range(1, limit + 1):
        b.product(a, s, tv[t])
        y = numpy.linalg.inv(b.dots(s, tv[t]))
        y = (y + y.T) / 2
        b.combine((y @ z).T, s, x, beta=1.0)
        b.combine(numpy.concatenate((-y, m), axis=1), tv, new_tv[v])
        tv, new_tv = new_tv, tv
        g = b.dots(tv[v], tv[v])
        if (numpy.sqrt(abs(numpy.diag(z.T @ g @ z))) <= tolerance * size).all():
            break  # of V Z, the residual; V may have lost its rank by now
        m = inverse_factor(g)
        factor = m @ g
        z = factor @ z
        b.combine(factor, s, new_s)
        b.combine(m, tv[v], new_s, beta=1.0)
        s, new_s = new_s, s
    return {"iterations": step, "x": x, "rhs": rhs}


def pagerank(b, a, k, tolerance, limit):
    """x = M x + (what M lost of its sum) at the one node to which walk j returns: the damping
    is in M, and nodes without links lose everything."""
    xp, n = b.xp, a.shape[0]
    walks = xp.arange(k)
    home = (walks * 2654435761) % n
    x, y = xp.zeros((k, n), xp.float32), xp.empty((k, n), xp.float32)
    x[walks, home] = 1
    for step in range(1, limit + 1):
        b.product(a, x, y)
        y[walks, home] += 1 - y.sum(axis=1)
        x, y = y, x
        if float(b.sum_changes(x, y, axis=1).max()) <= tolerance:
            break
    return {"iterations": step, "x": x, "home": home}


# ---- what a solver has reached, without cusparseSpMM -----------------------------------
def applied(b, a, x):
    """A x row by row: products with one vector, which are cusparseSpMV."""
    return b.xp.stack([a @ row for row in x])


def outcome(b, a, result):
    """(residual, answer) of what a solver returned."""
    x = result["x"]
    ax = applied(b, a, x)
    if "values" in result:
        kept, values = result["wanted"], result["values"]
        r = ax - b.xp.asarray(values)[:, None] * x
        share = b.host(b.sum_squares(r, axis=1) / b.sum_squares(x, axis=1))[:kept]
        return math.sqrt(share.max()), [float(value) for value in values[:kept]]
    if "rhs" in result:
        share = b.sum_squares(result["rhs"] - ax, axis=1) / b.sum_squares(result["rhs"], axis=1)
        return math.sqrt(float(share.max())), [math.sqrt(float(b.sum_squares(x, axis=1).max()))]
    ax[b.xp.arange(len(x)), result["home"]] += 1 - ax.sum(axis=1)
    return (float(b.sum_changes(ax, x, axis=1).max()),
            [math.sqrt(float(b.sum_squares(x, axis=1).max()))])


def dense_error(b, a, result):
    """The largest difference to what dense algebra finds, relative to the largest value."""
    dense = b.host(a.toarray()).astype(float)
    if "values" in result:
        got = result["values"][:result["wanted"]]
        want = numpy.linalg.eigvalsh(dense)[:result["wanted"]]
    elif "rhs" in result:
        got, want = b.host(result["x"]).T, numpy.linalg.solve(dense, b.host(result["rhs"]).T)
    else:
        home, got = b.host(result["home"]), b.host(result["x"]).T
        want = numpy.empty(got.shape)
        for j, node in enumerate(home):
            walk = dense.copy()
            walk[node] += 1 - dense.sum(axis=0)
            want[:, j] = numpy.linalg.solve(numpy.eye(len(walk)) - walk + 1 / len(walk),
                                            numpy.full(len(walk), 1 / len(walk)))
    return float(abs(got - want).max() / abs(want).max())


# ---- timing and comparing --------------------------------------------------------------
def timed(b, solve):
    b.wait()
    begin = time.perf_counter()
    result = solve()
    b.wait()
    return time.perf_counter() - begin, result


def product_seconds(b, a, k, dtype, calls=20):
    x, y = b.xp.ones((k, a.shape[0]), dtype), b.xp.zeros((k, a.shape[0]), dtype)
    return timed(b, lambda: [b.product(a, x, y) for _ in range(calls)])[0] / calls


def run_solver(b, name, matrix, a, k, o):
    solvers = {"lobpcg": lobpcg, "block-cg": block_cg, "pagerank": pagerank,
               "lobpcg-cheb": lambda *args: lobpcg(*args, degree=o.degree)}
    first, _ = timed(b, lambda: solvers[name](b, a, k, TOLERANCE[name], o.limit))
    b.products, times = 0, []
    for _ in range(o.repeats):
        seconds, result = timed(b, lambda: solvers[name](b, a, k, TOLERANCE[name], o.limit))
        times.append(seconds)
    products, residual_answer = b.products // o.repeats, outcome(b, a, result)
    dtype = str(result["x"].dtype)
    row = {"name": name, "matrix": matrix, "n": a.shape[0], "block": k, "dtype": dtype,
           "degree": o.degree if name == "lobpcg-cheb" else 1,
           "iterations": result["iterations"], "products": products,
           "seconds": sorted(times)[len(times) // 2], "first_seconds": first, "times": times,
           "product_seconds": product_seconds(b, a, k, dtype),
           "residual": residual_answer[0], "answer": residual_answer[1]}
    share = 100 * products * row["product_seconds"] / row["seconds"]
    report(row["residual"] <= 2 * TOLERANCE[name],
           f"{name} {matrix} block {k}: {row['iterations']} iterations, {row['seconds']:.4f} s, "
           f"residual {row['residual']:.3e}, {products} products of "
           f"{1e6 * row['product_seconds']:.0f} us ({share:.0f} %), first run {first:.2f} s")
    if o.dense:
        error = dense_error(b, a, result)
        report(error <= 10 * TOLERANCE[name], f"{name} {matrix} block {k}: {error:.2e} from what "
               "dense algebra finds")
    return row


def run_matrix(b, matrix, n, keys, o, rows):
    system = [(name, k) for name in ("lobpcg", "lobpcg-cheb") for k in o.blocks]
    system = [job for job in system + [("block-cg", 16)] if job[0] in o.solvers]
    if system:
        a = system_matrix(b, n, keys)
        for name, k in system:
            if n < 5 * k:
                skip(f"{name} {matrix} block {k}: {n} rows are fewer than five blocks")
                continue
            attempt(f"{name} {matrix} block {k}",
                    lambda: rows.append(run_solver(b, name, matrix, a, k, o)))
        del a
    if "pagerank" in o.solvers:
        a = link_matrix(b, n, keys)
        attempt(f"pagerank {matrix}",
                lambda: rows.append(run_solver(b, "pagerank", matrix, a, 64, o)))


def key_of(row):
    return tuple(row[part] for part in ("name", "matrix", "n", "block", "dtype", "degree"))


def close(a, b, share):
    return len(a) == len(b) and all(abs(x - y) <= share * max(abs(x), abs(y))
                                    for x, y in zip(a, b))


def compare(plain, other, shares):
    """The same problems, iterations, residuals and answers; and what became faster."""
    before, gains = {key_of(row): row for row in plain["results"]}, {}
    after = {key_of(row) for row in other["results"]}
    report(after == set(before) and after,
           f"{len(after)} results, of which {len(after - set(before))} only here and "
           f"{len(set(before) - after)} only there")
    for row in other["results"]:
        old = before.get(key_of(row))
        if old is None:
            continue
        same = (row["iterations"] == old["iterations"]
                and close([row["residual"]], [old["residual"]], shares[row["dtype"]])
                and close(row["answer"], old["answer"], ANSWER_SHARE[row["dtype"]]))
        gain, product = (old[part] / row[part] for part in ("seconds", "product_seconds"))
        gains.setdefault(row["name"], []).append(gain)
        report(same, f"compare {row['name']} {row['matrix']} block {row['block']}: "
               f"{old['iterations']} and {row['iterations']} iterations, residuals "
               f"{old['residual']:.6e} and {row['residual']:.6e}, {old['seconds']:.4f} s and "
               f"{row['seconds']:.4f} s: {gain:.2f} x as fast (a product {product:.2f} x)")
    for name, values in gains.items():
        mean = math.exp(sum(map(math.log, values)) / len(values))
        print(f"speed-up {name}: geometric mean {mean:.2f} of {len(values)}, "
              f"least {min(values):.2f}", flush=True)


def options():
    p = argparse.ArgumentParser(usage=__doc__.splitlines()[0])
    p.add_argument("files", nargs="*", metavar="MATRIX", help=".mtx or .smtx, also .gz")
    p.add_argument("--mesh", action="append", default=[], help="a 27-point mesh, as 64x3")
    p.add_argument("--solvers", default=",".join(TOLERANCE), help="some of " + " ".join(TOLERANCE))
    p.add_argument("--blocks", default="8,16,32", help="of lobpcg")
    p.add_argument("--degree", type=int, default=8, help="products a step of lobpcg-cheb")
    p.add_argument("--repeats", type=int, default=3)
    p.add_argument("--limit", type=int, default=2000, help="iterations at most")
    p.add_argument("--numpy", action="store_true", help="on the host")
    p.add_argument("--dense", action="store_true", help="check by dense algebra, too (small n)")
    p.add_argument("--compare", nargs="+", metavar="FILE", default=[])
    p.add_argument("--tolerance", type=float, help="share by which residuals may differ")
    p.add_argument("-o", dest="output", metavar="FILE")
    o = p.parse_args()
    o.solvers = o.solvers.split(",")
    o.blocks = [int(word) for word in o.blocks.split(",")]
    if set(o.solvers) - set(TOLERANCE):
        p.error(f"solvers are {', '.join(TOLERANCE)}")
    if min(o.blocks + [o.repeats, o.limit]) < 1 or o.degree < 2:
        p.error("blocks, repeats and limit are at least 1, the degree at least 2")
    if bool(o.files or o.mesh) != (len(o.compare) < 2) or len(o.compare) > 2:
        p.error("a matrix, or two files to compare")
    return o


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def run(o):
    b = Numpy() if o.numpy else Cupy()
    rows = []
    sources = [(path, read_pattern) for path in o.files] + [(m, mesh_pattern) for m in o.mesh]
    for text, pattern in sources:
        try:
            n, keys = pattern(b.xp, text)
        except (OSError, ValueError) as why:
            sys.exit(f"solvers_client: {text}: {why}")
        name = f"mesh:{text}" if pattern is mesh_pattern else os.path.basename(text)
        run_matrix(b, name, n, keys, o, rows)
    return {"backend": b.name, "device": b.device, "results": rows}


def main():
    o = options()
    if o.files or o.mesh:
        data = run(o)
        if o.output:
            with open(o.output, "w", encoding="utf-8") as f:
                json.dump(data, f, indent=1)
    else:
        data = load(o.compare.pop())
    if o.compare:
        compare(load(o.compare[0]), data,
                dict.fromkeys(RESIDUAL_SHARE, o.tolerance) if o.tolerance else RESIDUAL_SHARE)
    finish()


if __name__ == "__main__":
    main()
