// sddmm_operands.cuh: the operands of an SDDMM in every type and layout, drawn from a number.
//
// What must not be read holds NaN: padding, and C.values where beta is 0.
#pragma once
#include "tests/gpu/common/harness.cuh"

namespace harness
{

inline const char *type_name(shunt_type t)
{
  static const char *name[] = {"f16", "bf16", "f32", "f64", "i8", "i32", "i64", "u64"};
  return name[t];
}

// A dense matrix in both memories, `shift` elements off a 256-byte boundary; what is
// not set is NaN (all ones).
struct Matrix {
  shunt_dense host, device;
  Buffer bytes;
  static int64_t size_of(int64_t rows, int64_t cols, bool row_major, int64_t pad)
  {
    return row_major ? rows * (cols + pad) : cols * (rows + pad);
  }
  Matrix(int64_t rows, int64_t cols, bool row_major, int64_t pad, int64_t shift, shunt_type t)
      : bytes((size_t)(size_of(rows, cols, row_major, pad) + shift) * shunt_type_size(t))
  {
    std::fill(bytes.host.begin(), bytes.host.end(), (char)0xff);
    int64_t ld = (row_major ? cols : rows) + pad;
    host = shunt_dense{rows,
                       cols,
                       row_major ? ld : 1,
                       row_major ? 1 : ld,
                       bytes.host.data() + shift * shunt_type_size(t),
                       t};
    device = host;
    device.values = (char *)bytes.device + shift * shunt_type_size(t);
  }
  int64_t at(int64_t i, int64_t j) const { return i * host.row_stride + j * host.col_stride; }
  void set(int64_t i, int64_t j, double v) { store(host.values, at(i, j), host.type, v); }
  double get(int64_t i, int64_t j) const { return load(host.values, at(i, j), host.type); }
};

// A pattern's arrays in both memories.
struct Sparse {
  Buffer offsets, columns, values;
  std::vector<double> old; // C.values before
  shunt_csr device;
  static size_t width(shunt_type index) { return shunt_type_size(index); }
  Sparse(const Pattern &p, shunt_type index, int base, shunt_type t, double beta, Random &r)
      : offsets((size_t)(p.rows + 1) * width(index)), columns((size_t)p.nnz() * width(index)),
        values((size_t)p.nnz() * shunt_type_size(t)), old((size_t)p.nnz())
  {
    for (int64_t i = 0; i <= p.rows; i++)
      store(offsets.host.data(), i, index, (double)(p.offsets[(size_t)i] + base));
    for (int64_t i = 0; i < p.nnz(); i++) {
      store(columns.host.data(), i, index, (double)(p.columns[(size_t)i] + base));
      store(values.host.data(), i, t, beta == 0 ? NAN : r.value());
      old[(size_t)i] = load(values.host.data(), i, t);
    }
    offsets.upload();
    columns.upload();
    values.upload();
    device = shunt_csr{p.rows, p.cols, p.nnz(), offsets.device, columns.device, values.device,
                       index,  t,      base};
  }
};

// alpha or beta, sometimes in device memory.
struct Scalar {
  Buffer memory;
  shunt_scalar value;
  Scalar(double v, bool on_device, shunt_type compute) : memory(8)
  {
    store(memory.host.data(), 0, compute, v);
    memory.upload();
    value = shunt_scalar{on_device ? memory.device : nullptr, on_device ? 0 : v};
  }
};

struct Setup {
  shunt_type in, out;
  int64_t k;
  bool a_rows, b_rows; // row-major?
  int64_t pad, shift;  // elements between rows, elements off alignment
  shunt_type index;
  int base;
  double alpha, beta;
  bool device_scalars;
};

inline shunt_type compute_of(shunt_type t)
{
  return t == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
}

inline const shunt_type IN[] = {SHUNT_F16, SHUNT_F16, SHUNT_BF16, SHUNT_BF16, SHUNT_F32, SHUNT_F64};
inline const shunt_type OUT[] = {SHUNT_F16, SHUNT_F32, SHUNT_BF16, SHUNT_F32, SHUNT_F32, SHUNT_F64};

// Two bits of `turn` are the layouts; everything else is drawn from it.
inline Setup setup_for(int types, int64_t k, int turn)
{
  static const double alphas[] = {1, 0.75, -2}, betas[] = {0, 0.5, 0, -1};
  static const int64_t pads[] = {0, 8, 16, 3};
  Random r((uint64_t)turn * 8 + (uint64_t)types);
  Setup s;
  s.in = IN[types];
  s.out = OUT[types];
  s.k = k;
  s.a_rows = turn & 1;
  s.b_rows = turn & 2;
  s.pad = pads[r.below(4)];
  s.shift = r.below(7) == 0;
  s.index = r.below(2) ? SHUNT_I64 : SHUNT_I32;
  s.base = (int)r.below(2);
  s.alpha = alphas[r.below(3)];
  s.beta = betas[r.below(4)];
  s.device_scalars = r.below(2);
  return s;
}

} // namespace harness
