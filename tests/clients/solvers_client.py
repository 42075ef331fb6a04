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

The matrices: solver_matrices.py.  The solvers: block_solvers.py.
"""
import argparse
import json
import math
import os
import sys
import time

# The small matrices are too small for threads, which only make the times unsteady.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
import numpy  # noqa: E402

from block_solvers import block_cg, lobpcg, pagerank  # noqa: E402
from client_checks import attempt, finish, report, skip  # noqa: E402
from solver_arrays import Cupy, Numpy  # noqa: E402
from solver_matrices import link_matrix, mesh_pattern, read_pattern, system_matrix  # noqa: E402

TOLERANCE = {"lobpcg": 1e-6, "lobpcg-cheb": 1e-6, "block-cg": 1e-9, "pagerank": 1e-5}
# Of two runs: the residuals, and the answers (eigenvalues, norms), may differ by these shares.
# A residual of f32 is itself only known to a few roundings of the iterate, whose sum is 1.
RESIDUAL_SHARE = {"float64": 0.01, "float32": 0.05}
ANSWER_SHARE = {"float64": 1e-9, "float32": 1e-5}


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
