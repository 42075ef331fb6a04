"""block_solvers.py: LOBPCG, block CG and PageRank for blocks of vectors.

A block of k vectors of length n is a C-ordered (k, n) array, so that its transpose is the
column-major n x k matrix which cuSPARSE takes, and groups of blocks lie one after another:

      W   x x x x x x   k rows      [W X] and [X P] are blocks, too: one call of cuBLAS
      X   x x x x x x   k rows      serves a whole group
      P   x x x x x x   k rows

The small dense matrices (3k x 3k) are NumPy's, on the host.  `b` is where arrays live
(solver_arrays.py), `a` a square CSR matrix of b.csr.
"""
import numpy

from solver_matrices import SHIFT


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
    s[w] = b.random(k, n, 1)
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
    rhs = b.random(k, n, 2)
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
        b.combine(numpy.concatenate((-y, m), axis=1), tv, new_tv[v])
        tv, new_tv = new_tv, tv
        coming = b.dots_later(tv[v], tv[v])
        b.combine((y @ z).T, s, x, beta=1.0)  # meanwhile the host has its small matrices
        g = coming()
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
