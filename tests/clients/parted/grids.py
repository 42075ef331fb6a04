"""grids.py: matrices of a grid of side^3 nodes, of which a rank has some planes.

Nodes are numbered plane by plane, and a node's unknowns stand together.  A rank's matrix is square:
it has rows and columns for its own planes and for one on either side, whose rows are empty; so
its dense blocks have room for the neighbours' planes, and all of them are of one shape.

  Laplace     7 entries a row, one unknown a node
  Elastic     8-node elements of isotropic material (E between 0.5 and 1.5 by element, nu = 0.3):
              27 neighbours, 3 unknowns, 81 entries a row

A multiple of the unit matrix is added (the mass of a time step): both are positive definite.
`apply` is A X without a matrix, from the stencil or by elements.
"""
import itertools

import numpy

from solver_matrices import hashed

CORNERS = list(itertools.product((0, 1), repeat=3))
STEPS = list(itertools.product((-1, 0, 1), repeat=3))


def stiffness(nu=0.3):
    """Of a cube of side 1 and E = 1: 8 x 8 blocks of 3 x 3, by 2 x 2 x 2 Gauss points."""
    lame, shear = nu / ((1 + nu) * (1 - 2 * nu)), 0.5 / (1 + nu)
    out = numpy.zeros((8, 8, 3, 3))
    points = [0.5 - 0.5 / numpy.sqrt(3), 0.5 + 0.5 / numpy.sqrt(3)]
    for point in itertools.product(points, repeat=3):
        slopes = numpy.empty((8, 3))
        for a, corner in enumerate(CORNERS):
            along = [p if c else 1 - p for p, c in zip(point, corner)]
            for i in range(3):
                rest = numpy.prod([along[j] for j in range(3) if j != i])
                slopes[a, i] = rest if corner[i] else -rest
        both = numpy.einsum("ai,bj->abij", slopes, slopes)
        along = numpy.einsum("abii->ab", both)[:, :, None, None] * numpy.eye(3)
        out += (lame * both + shear * (both.transpose(0, 1, 3, 2) + along)) / 8
    return out


class Laplace:
    unknowns, shift = 1, 0.05
    offsets = [step for step in STEPS if sum(map(abs, step)) <= 1]

    def __init__(self, xp, side, first, planes):
        self.xp, self.side, self.first, self.planes = xp, side, first, planes

    def blocks(self):
        """Values at [plane, y, x, offset, unknown, unknown]."""
        out = self.xp.full((self.planes, self.side, self.side, len(self.offsets), 1, 1), -1.0)
        out[:, :, :, self.offsets.index((0, 0, 0))] = 6
        return out

    def apply(self, x, y):
        """Y += A X but for the shift; planes and their neighbours, [k, plane, y, x, unknown]."""
        own = y[:, 1:-1]
        own += 6 * x[:, 1:-1] - x[:, :-2] - x[:, 2:]
        own[:, :, 1:] -= x[:, 1:-1, :-1]
        own[:, :, :-1] -= x[:, 1:-1, 1:]
        own[:, :, :, 1:] -= x[:, 1:-1, :, :-1]
        own[:, :, :, :-1] -= x[:, 1:-1, :, 1:]


class Elastic:
    unknowns, shift, offsets = 3, 0.02, STEPS

    def __init__(self, xp, side, first, planes):
        self.xp, self.side, self.first, self.planes = xp, side, first, planes
        z = xp.arange(first - 1, first + planes)[:, None, None]
        y, x = xp.arange(-1, side)[:, None], xp.arange(-1, side)
        inside = ((z >= 0) & (z < side - 1) & (y >= 0) & (y < side - 1) & (x >= 0) & (x < side - 1))
        # Element [z, y, x] is before node [z, y, x] of this rank's planes; none is outside.
        self.modulus = (hashed(xp, ((z + 1) * side + y + 1) * side + x + 1) + 0.5) * inside
        self.element = stiffness()

    def blocks(self):
        n, m = self.side, self.planes
        out = self.xp.zeros((m, n, n, 27, 3, 3))
        for (a, at), (b, to) in itertools.product(enumerate(CORNERS), repeat=2):
            offset = STEPS.index(tuple(j - i for i, j in zip(at, to)))
            z, y, x = (1 - i for i in at)
            moduli = self.modulus[z:z + m, y:y + n, x:x + n, None, None]
            out[:, :, :, offset] += moduli * self.xp.asarray(self.element[a, b])
        return out

    def apply(self, x, y):
        n, m, moduli = self.side, self.planes, self.modulus[:, 1:-1, 1:-1, None]

        def nodes(of, corner):
            i, j, k = corner
            return of[:, i:i + m + 1, j:j + n - 1, k:k + n - 1]

        for (a, at), (b, to) in itertools.product(enumerate(CORNERS), repeat=2):
            # Column by column: a product of so many rows of three is slow.
            there, columns = nodes(x, to), self.xp.asarray(self.element[a, b].T)
            nodes(y, at)[...] += moduli * sum(there[..., i, None] * columns[i] for i in range(3))


def local_matrix(b, grid):
    """The CSR matrix that the head of this file describes."""
    xp, n, m, u = grid.xp, grid.side, grid.planes, grid.unknowns
    dz, dy, dx = xp.asarray(numpy.array(grid.offsets).T)
    z, at = xp.arange(m)[:, None, None, None], xp.arange(n)
    y, x = at[:, None, None] + dy, at[:, None] + dx
    z = z + dz
    kept = ((z + grid.first >= 0) & (z + grid.first < n) & (y >= 0) & (y < n) & (x >= 0) & (x < n))
    near = ((z + 1) * n + y) * n + x  # [plane, y, x, offset], in the order of columns
    values = grid.blocks()
    values[:, :, :, grid.offsets.index((0, 0, 0))] += grid.shift * xp.eye(u)
    shape = (m * n * n, u, len(grid.offsets), u)
    values = values.reshape(-1, len(grid.offsets), u, u).transpose(0, 2, 1, 3)
    columns = near.reshape(-1, 1, len(grid.offsets), 1) * u + xp.arange(u)
    kept = xp.ascontiguousarray(
        xp.broadcast_to(kept.reshape(-1, 1, len(grid.offsets), 1), shape))
    halo = xp.zeros(n * n * u, "int64")
    per_row = xp.concatenate((halo, kept.sum(axis=(2, 3)).ravel(), halo))
    offsets = xp.concatenate((xp.zeros(1, "int64"), xp.cumsum(per_row)))
    return b.csr(values[kept], xp.broadcast_to(columns, shape)[kept], offsets,
                 (m + 2) * n * n * u)
