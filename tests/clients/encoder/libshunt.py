"""libshunt.py: sparse attention of libshunt.so (backend/shunt.h) by ctypes, in each of its schemes.

  fp16          shunt_attention: one launch where the operands allow it
  fp16 trio     shunt_sddmm, shunt_softmax and shunt_spmm, scores and weights in fp16
  16b-8b ..     shunt_integer_attention: bits of the weights, then of Q, K and V
  8b-f16        the same with Q and K of 8 bits, weights and V of fp16
  8b-e4m3       with V of e4m3
"""
import ctypes as c

F16, F32, I32, I16, U8 = 0, 2, 5, 8, 11
ON_HOST, ON_DEVICE = 0, 1
REAL_V, E4M3_V = 16, -8
# Bits of the weights, of Q and K, of V.
INTEGERS = {"16b-8b": (16, 8, 8), "12b-8b": (12, 8, 8), "8b-8b": (8, 8, 8), "8b-4b": (8, 4, 4),
            "8b-f16": (8, 8, REAL_V), "8b-e4m3": (8, 8, E4M3_V)}
OF_HALF = ["8b-f16"]  # those whose operands have to be fp16
SCHEMES = ["fp16", "fp16 trio"] + list(INTEGERS)


class Csr(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("nnz", c.c_int64),
                ("row_offsets", c.c_void_p), ("columns", c.c_void_p), ("values", c.c_void_p),
                ("index_type", c.c_int), ("value_type", c.c_int), ("base", c.c_int)]


class Tensor(c.Structure):
    _fields_ = [("values", c.c_void_p), ("type", c.c_int), ("batches", c.c_int64),
                ("heads", c.c_int64), ("rows", c.c_int64), ("cols", c.c_int64),
                ("row_stride", c.c_int64), ("head_stride", c.c_int64), ("batch_stride", c.c_int64)]


class Values(c.Structure):
    _fields_ = [("values", c.c_void_p), ("stride", c.c_size_t)]


class Info(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("nnz", c.c_int64), ("type", c.c_int),
                ("where", c.c_int), ("height", c.c_int), ("windowed", c.c_int),
                ("vectors", c.c_int64), ("fill", c.c_double), ("bytes", c.c_size_t),
                ("value_bytes", c.c_size_t)]


class IntegersInfo(c.Structure):
    _fields_ = [("rows", c.c_int64), ("cols", c.c_int64), ("nnz", c.c_int64), ("bits", c.c_int),
                ("height", c.c_int), ("where", c.c_int), ("vectors", c.c_int64),
                ("places", c.c_size_t), ("bytes", c.c_size_t)]


def bind(path):
    lib = c.CDLL(path)
    pointer, size, real, number = c.c_void_p, c.c_size_t, c.c_float, c.c_int
    tensor, values, out = c.POINTER(Tensor), c.POINTER(Values), c.POINTER(c.c_void_p)
    room = [pointer, size, pointer]  # workspace, its bytes, stream
    lib.shunt_pack.argtypes = [c.POINTER(Csr), number, pointer, pointer, out]
    lib.shunt_pack_integers.argtypes = [c.POINTER(Csr), number, number, number, pointer, out]
    lib.shunt_sddmm.argtypes = [pointer, real, tensor, tensor, values, pointer]
    lib.shunt_softmax.argtypes = [pointer, c.c_int64, real, values, values, pointer]
    lib.shunt_spmm.argtypes = [pointer, values, real, tensor, real, tensor] + room
    lib.shunt_attention.argtypes = [pointer, real] + [tensor] * 4 + room
    lib.shunt_integer_attention.argtypes = [pointer, number, number, real] + [tensor] * 4 + room
    for name, arguments in (("spmm", [pointer] + [tensor] * 2),
                            ("attention", [pointer] + [tensor] * 4),
                            ("integer_attention", [pointer, number, number] + [tensor] * 4)):
        function = getattr(lib, f"shunt_{name}_workspace")
        function.argtypes, function.restype = arguments, size
    for name, info in (("packed", Info), ("packed_integers", IntegersInfo)):
        getattr(lib, f"shunt_{name}_free").argtypes = [pointer]
        getattr(lib, f"shunt_{name}_describe").argtypes = [pointer, c.POINTER(info)]
    return lib


def expect(status, call):
    if status:
        raise RuntimeError(f"{call}: status {status}")


class Attention:
    """One scheme over one pattern, for operands q, k, v and o of one shape, in `where`."""

    def __init__(self, lib, scheme, pattern, where, tensors, scale):
        self.lib, self.tensors, self.scale = lib, tensors, scale
        self.bits = INTEGERS.get(scheme)
        self.is_trio = scheme == "fp16 trio"
        self.packed = c.c_void_p()
        info = IntegersInfo() if self.bits else Info()
        if self.bits:
            pattern.value_type = I16 if self.bits[0] > 8 else U8
            expect(lib.shunt_pack_integers(pattern, where, self.bits[0], 0, None, self.packed),
                   "shunt_pack_integers")
            lib.shunt_packed_integers_describe(self.packed, info)
            self.workspace = lib.shunt_integer_attention_workspace(self.packed, *self.bits[1:],
                                                                   *tensors)
        else:
            pattern.value_type = F16
            expect(lib.shunt_pack(pattern, where, None, None, self.packed), "shunt_pack")
            lib.shunt_packed_describe(self.packed, info)
            self.workspace = lib.shunt_attention_workspace(self.packed, *tensors)
        self.bytes = info.bytes
        if self.is_trio:
            self.problems = tensors[0].batches * tensors[0].heads
            self.stride = info.value_bytes
            self.scores = (self.problems * self.stride + 255) // 256 * 256
            self.workspace = self.scores + lib.shunt_spmm_workspace(self.packed, tensors[2],
                                                                    tensors[3])

    def run(self, workspace, stream=None):
        """workspace: the address of that many bytes, a multiple of 256."""
        if self.is_trio:
            return self.run_trio(workspace, stream)
        room = (workspace, self.workspace, stream)
        if self.bits:
            return expect(self.lib.shunt_integer_attention(self.packed, *self.bits[1:], self.scale,
                                                           *self.tensors, *room),
                          "shunt_integer_attention")
        return expect(self.lib.shunt_attention(self.packed, self.scale, *self.tensors, *room),
                      "shunt_attention")

    def run_trio(self, workspace, stream):
        q, k, v, o = self.tensors
        scores = Values(workspace, self.stride)
        expect(self.lib.shunt_sddmm(self.packed, self.scale, q, k, scores, stream), "shunt_sddmm")
        expect(self.lib.shunt_softmax(self.packed, self.problems, 1, scores, scores, stream),
               "shunt_softmax")
        expect(self.lib.shunt_spmm(self.packed, scores, 1, v, 0, o, workspace + self.scores,
                                   self.workspace - self.scores, stream), "shunt_spmm")

    def free(self):
        name = "shunt_packed_integers_free" if self.bits else "shunt_packed_free"
        getattr(self.lib, name)(self.packed)
