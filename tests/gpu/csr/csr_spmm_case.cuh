// csr_spmm_case.cuh: one call of shunt_csr_spmm_merge_cuda: its options, its arrays on the
// device, and the verdict on C.
#pragma once
#include "kernels/csr/csr_kernels.h"
#include "tests/gpu/csr/csr_spmm_operands.cuh"

namespace harness
{

struct Options {
  int64_t n = 1;
  bool b_by_column = false, c_by_column = false;
  shunt_type index = SHUNT_I32;
  int base = 0;
  int64_t b_gap = 0, c_gap = 0;     // leading dimension beyond the row
  int64_t b_shift = 0, c_shift = 0; // elements that the pointer is off 256-byte alignment
  double alpha = 1, beta = 0;
  bool scalars_on_device = false;
  int multiprocessors = 132;
  int64_t l2_bytes = 50 << 20;
  int only_if = -1; // -1: NULL
};

// Device memory that all cases share.
struct Arena {
  Buffer offsets{64 << 10}, columns{128 << 10}, values{256 << 10};
  Buffer b{16 << 20}, c{16 << 20}, workspace{64 << 20}, scalars{256};
};

struct Dense { // a layout inside an Arena buffer
  int64_t row_stride, col_stride, elements;
};
inline Dense layout(int64_t rows, int64_t cols, bool by_column, int64_t gap)
{
  if (by_column) return {1, rows + gap, cols * (rows + gap)};
  return {cols + gap, 1, rows * (cols + gap)};
}

inline void put(Buffer &to, size_t bytes, const std::vector<char> &from)
{
  CUDA_OK(cudaMemcpy(to.device, from.data(), bytes, cudaMemcpyHostToDevice));
}

inline std::vector<char> index_array(const std::vector<int64_t> &x, shunt_type t, int base)
{
  std::vector<char> out(x.size() * 8 + 8);
  for (size_t i = 0; i < x.size(); i++)
    if (t == SHUNT_I64)
      ((int64_t *)out.data())[i] = x[i] + base;
    else
      ((int32_t *)out.data())[i] = (int32_t)(x[i] + base);
  return out;
}

struct Case {
  shunt_spmm p;
  shunt_device d;
  std::vector<char> c_before;
  size_t c_bytes, workspace_bytes;
};

// Uploads a case; C is all ones bits (NaN) where beta is 0, and in its gaps always.
inline Case make_case(Arena &m, const Pattern &p, const Reference &r, const Types &t,
                      const Options &o)
{
  Case k = {};
  std::vector<char> bytes = index_array(p.offsets, o.index, o.base);
  put(m.offsets, (p.rows + 1) * shunt_type_size(o.index), bytes);
  bytes = index_array(p.columns, o.index, o.base);
  put(m.columns, p.nnz() * shunt_type_size(o.index), bytes);
  bytes.assign(p.nnz() * 8 + 8, 0);
  for (int64_t i = 0; i < p.nnz(); i++) store(bytes.data(), i, t.in, r.a[i]);
  put(m.values, p.nnz() * shunt_type_size(t.in), bytes);

  Dense b = layout(p.cols, o.n, o.b_by_column, o.b_gap);
  size_t size = shunt_type_size(t.in);
  bytes.assign((b.elements + o.b_shift) * size, (char)0xff);
  for (int64_t i = 0; i < p.cols; i++)
    for (int64_t j = 0; j < o.n; j++)
      store(bytes.data(), o.b_shift + i * b.row_stride + j * b.col_stride, t.in,
            r.b[i * kWidest + j]);
  put(m.b, bytes.size(), bytes);

  Dense c = layout(p.rows, o.n, o.c_by_column, o.c_gap);
  size = shunt_type_size(t.out);
  k.c_before.assign((c.elements + o.c_shift) * size, (char)0xff);
  if (o.beta != 0)
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t j = 0; j < o.n; j++)
        store(k.c_before.data(), o.c_shift + i * c.row_stride + j * c.col_stride, t.out,
              r.c[i * kWidest + j]);
  k.c_bytes = k.c_before.size();
  put(m.c, k.c_bytes, k.c_before);

  char scalars[256] = {};
  store(scalars, 0, t.compute, o.alpha);
  store(scalars + 64, 0, t.compute, o.beta);
  ((uint32_t *)scalars)[32] = o.only_if > 0 ? 0x40000000 : 0;
  CUDA_OK(cudaMemcpy(m.scalars.device, scalars, 256, cudaMemcpyHostToDevice));

  char *s = (char *)m.scalars.device;
  k.p.a = {p.rows,  p.cols, p.nnz(), m.offsets.device, m.columns.device, m.values.device,
           o.index, t.in,   o.base};
  k.p.b = {p.cols,
           o.n,
           b.row_stride,
           b.col_stride,
           (char *)m.b.device + o.b_shift * shunt_type_size(t.in),
           t.in};
  k.p.c = {p.rows, o.n, c.row_stride, c.col_stride, (char *)m.c.device + o.c_shift * size, t.out};
  k.p.alpha = {o.scalars_on_device ? s : nullptr, o.scalars_on_device ? 77 : o.alpha};
  k.p.beta = {o.scalars_on_device ? s + 64 : nullptr, o.scalars_on_device ? 77 : o.beta};
  k.p.compute = t.compute;
  k.p.only_if = o.only_if < 0 ? nullptr : (const uint32_t *)(s + 128);
  static const shunt_device device = this_device();
  k.d = device;
  k.d.multiprocessors = o.multiprocessors;
  k.d.l2_bytes = o.l2_bytes;
  k.workspace_bytes = shunt_csr_spmm_workspace(&k.p, &k.d);
  return k;
}

// By the kernel that is told the longest row (-1: unknown) and cuts by rows, or by the other one.
inline shunt_status launch(const Arena &m, const Case &k, bool split, int64_t longest = -1)
{
  void *w = m.workspace.device;
  if (split) return shunt_csr_spmm_split_cuda(&k.p, longest, &k.d, w, k.workspace_bytes, nullptr);
  return shunt_csr_spmm_merge_cuda(&k.p, &k.d, w, k.workspace_bytes, nullptr);
}

inline std::vector<char> download(const Buffer &from, size_t bytes)
{
  std::vector<char> to(bytes);
  CUDA_OK(cudaMemcpy(to.data(), from.device, bytes, cudaMemcpyDeviceToHost));
  return to;
}

// C as the case left it: NULL when right, else what is wrong.
inline const char *verdict(const Arena &m, const Case &k, const Pattern &p, const Reference &r,
                           const Types &t, const Options &o)
{
  static char text[300];
  std::vector<char> after = download(m.c, k.c_bytes);
  std::vector<char> expected_gaps = k.c_before;
  const size_t size = shunt_type_size(t.out);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < o.n; j++) {
      const int64_t at = o.c_shift + i * k.p.c.row_stride + j * k.p.c.col_stride,
                    q = i * kWidest + j;
      const double got = load(after.data(), at, t.out);
      const double old = o.beta != 0 ? o.beta * r.c[q] : 0;
      const double want = o.alpha * r.sum[q] + old;
      const double scale = fabs(o.alpha) * r.scale[q] + fabs(old);
      const double most = tolerance(t.out, t.compute, scale, want, p.offsets[i + 1] - p.offsets[i]);
      memcpy(&expected_gaps[at * size], &after[at * size], size);
      if (!(fabs(got - want) <= most)) {
        snprintf(text, sizeof text, "C(%lld,%lld) = %.9g, not %.9g (allowed %.3g)", (long long)i,
                 (long long)j, got, want, most);
        return text;
      }
    }
  if (memcmp(expected_gaps.data(), after.data(), after.size())) return "a gap of C was written";
  return nullptr;
}

inline const char *describe(const Options &o)
{
  static char text[300];
  snprintf(
      text, sizeof text,
      "n %lld, B %s+%lld@%lld, C %s+%lld@%lld, i%d base %d, alpha %g beta %g%s, %d SM, l2 %lld",
      (long long)o.n, o.b_by_column ? "col" : "row", (long long)o.b_gap, (long long)o.b_shift,
      o.c_by_column ? "col" : "row", (long long)o.c_gap, (long long)o.c_shift,
      o.index == SHUNT_I64 ? 64 : 32, o.base, o.alpha, o.beta,
      o.scalars_on_device ? " (device)" : "", o.multiprocessors, (long long)o.l2_bytes);
  return text;
}

inline Options vary(const Types &t, int64_t n, int form, Random &r)
{
  static const int64_t gaps[] = {0, 0, 1, 8, 16};
  Options o;
  o.n = n;
  o.b_by_column = form & 1;
  o.c_by_column = form >> 1 & 1;
  o.index = form & 4 ? SHUNT_I64 : SHUNT_I32;
  o.base = form >> 3 & 1;
  o.b_gap = gaps[r.below(5)];
  o.c_gap = gaps[r.below(5)];
  o.b_shift = r.below(4) == 0;
  o.c_shift = r.below(4) == 0;
  if (r.below(2)) {
    o.alpha = t.compute == SHUNT_I32 ? 3 : 1.25;
    o.beta = t.compute == SHUNT_I32 ? -2 : -0.5;
  }
  o.scalars_on_device = r.below(2);
  o.multiprocessors = r.below(2) ? 132 : 1;
  o.l2_bytes = r.below(3) ? 50 << 20 : 1 << 16;
  return o;
}

} // namespace harness
