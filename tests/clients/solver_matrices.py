"""solver_matrices.py: the matrices of solvers_client.py, from files and of meshes.

The system matrix of every pattern, P = pattern + its transpose + the diagonal, is a shifted
and normalised Laplacian with weights w_ij = w_ji in [0.5, 1.5) hashed from i and j:

  A_ij = -w_ij / sqrt(d_i d_j),   A_ii = 1 + 2^-10,   d_i = sum of row i's weights

so it is symmetric, its eigenvalues lie in [2^-10, 2 + 2^-10], and Jacobi's preconditioner
is the identity.  A rectangular pattern is a corner of a square one.
"""
import gzip

import numpy

SHIFT = 2.0**-10
DAMPING = 0.85


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


def random_block(xp, k, n, seed):
    keys = xp.arange(k * n, dtype=xp.int64) + (seed << 40)
    return (hashed(xp, keys) - 0.5).reshape(k, n)
