"""host_layer.py: the encoder layer in plain Python, its attention by libshunt's host engine: small
sizes, no torch, no GPU.  All but the attention is in float64: errors are the attention's."""
import ctypes as c
import math
import random
import struct

import libshunt


def matmul(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def add(a, b):
    return [[x + y for x, y in zip(p, q)] for p, q in zip(a, b)]


def norm(a):
    out = []
    for row in a:
        mean = sum(row) / len(row)
        deviation = math.sqrt(sum((x - mean)**2 for x in row) / len(row) + 1e-5)
        out.append([(x - mean) / deviation for x in row])
    return out


def gelu(a):
    return [[x * (1 + math.erf(x / math.sqrt(2))) / 2 for x in row] for row in a]


def make_pattern(sequence, sparsity, group):
    """Columns of each set of `group` rows: half a band about the diagonal, half random."""
    density, sets = 1 - sparsity, []
    for first in range(0, sequence, group):
        middle = first + group // 2
        sets.append([j for j in range(sequence) if abs(j - middle) < density * sequence / 4 or
                     random.random() < density / 2])
    return sets


def csr_of(sets, sequence, group):
    rows = [sets[i // group] for i in range(sequence)]
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    columns = [j for row in rows for j in row]
    arrays = ((c.c_int32 * len(offsets))(*offsets), (c.c_int32 * len(columns))(*columns))
    return libshunt.Csr(sequence, sequence, len(columns), c.addressof(arrays[0]),
                        c.addressof(arrays[1]), None, libshunt.I32, libshunt.F16, 0), arrays


def exact_attention(qkv, sets, group, heads, size):
    width, out = heads * size, []
    for i, row in enumerate(qkv):
        columns, made = sets[i // group], []
        for h in range(heads):
            q = row[h * size:(h + 1) * size]
            key, value = width + h * size, 2 * width + h * size
            scores = [sum(x * y for x, y in zip(q, qkv[j][key:key + size])) / math.sqrt(size)
                      for j in columns]
            most = max(scores)
            weights = [math.exp(s - most) for s in scores]
            total = sum(weights)
            made += [sum(w * qkv[j][value + d] for w, j in zip(weights, columns)) / total
                     for d in range(size)]
        out.append(made)
    return out


def aligned(bytes_wanted):
    memory = c.create_string_buffer(bytes_wanted + 256)
    return (c.addressof(memory) + 255) // 256 * 256, memory


def library_attention(lib, scheme, qkv, pattern, heads, size):
    """Q, K and V stand beside each other in a row of qkv: their strides say so."""
    rows, width = len(qkv), heads * size
    is_half = scheme not in libshunt.INTEGERS or scheme in libshunt.OF_HALF
    kind, letter, bytes_of = (libshunt.F16, "e", 2) if is_half else (libshunt.F32, "f", 4)
    operands = struct.pack(f"{rows * 3 * width}{letter}", *(x for row in qkv for x in row))
    at, memory = aligned(len(operands))
    to, out = aligned(rows * width * bytes_of)
    c.memmove(at, operands, len(operands))
    tensors = [libshunt.Tensor(at + n * width * bytes_of, kind, 1, heads, rows, size, 3 * width,
                               size, 0) for n in range(3)]
    tensors.append(libshunt.Tensor(to, kind, 1, heads, rows, size, width, size, 0))
    attention = libshunt.Attention(lib, scheme, pattern, libshunt.ON_HOST, tensors, size**-0.5)
    workspace, room = aligned(attention.workspace)
    attention.run(workspace)
    attention.free()
    flat = struct.unpack(f"{rows * width}{letter}", c.string_at(to, rows * width * bytes_of))
    del memory, out, room
    return ([flat[i * width:(i + 1) * width] for i in range(rows)],
            attention.bytes + attention.workspace)


def error_of(got, want):
    off = sum((x - y)**2 for p, q in zip(got, want) for x, y in zip(p, q))
    return math.sqrt(off / sum(y * y for q in want for y in q))


def run_case(lib, case, schemes):
    """Yields scheme, bytes, errors of the attention and of the layer; relative, over all of it."""
    sequence, heads, size, group = case.sequence, case.heads, case.size, case.group
    random.seed(sequence)
    width = heads * size

    def matrix(rows, cols, spread):
        return [[random.gauss(0, spread) for _ in range(cols)] for _ in range(rows)]

    x = matrix(sequence, width, 1)
    into, back = matrix(width, 3 * width, width**-0.5), matrix(width, width, width**-0.5)
    up, down = matrix(width, 4 * width, width**-0.5), matrix(4 * width, width, (4 * width)**-0.5)
    sets = make_pattern(sequence, case.sparsity, group)
    pattern, arrays = csr_of(sets, sequence, group)
    qkv = matmul(norm(x), into)

    def rest(attended):
        y = add(x, matmul(attended, back))
        return add(y, matmul(gelu(matmul(norm(y), up)), down))

    exact = exact_attention(qkv, sets, group, heads, size)
    want = rest(exact)
    for scheme in schemes:
        made, memory = library_attention(lib, scheme, qkv, pattern, heads, size)
        yield scheme, memory, error_of(made, exact), error_of(rest(made), want)
    del arrays
