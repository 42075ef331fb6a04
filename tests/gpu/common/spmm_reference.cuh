// spmm_reference.cuh: C = alpha A B + beta C in float64, of operands that stand on the host as a
// kernel was given them; and what these are filled with.
#pragma once
#include "tests/gpu/common/dense_layouts.cuh"

namespace harness
{

// Below, Problem has the pattern of A, `values`, `b` and `c` (Buffer), `bl` and `cl` (DenseLayout)
// and, in `o`, the types of operands and C, alpha and beta.

inline bool is_integer(shunt_type t)
{
  return t == SHUNT_I8 || t == SHUNT_I32;
}
// Any of the type; of int32 some that do not wrap.
inline double drawn(Random &r, shunt_type t)
{
  return is_integer(t) ? (double)(r.below(256) - 128) : r.value();
}
// What must not be read.
inline double unwanted(shunt_type t, double x)
{
  return is_integer(t) ? 77 : x;
}

// Random B and C on the host; NaN and Inf in rows of B that no entry of A asks for, NaN in C if it
// is not to be read, and around both.
template <class Problem> void fill_dense(Problem &q, Random &r)
{
  const Pattern &p = q.pattern;
  std::vector<char> used((size_t)p.cols);
  for (int64_t column : p.columns) used[(size_t)column] = 1;
  memset(q.b.host.data(), 0xff, q.b.host.size());
  memset(q.c.host.data(), 0xff, q.c.host.size());
  for (int64_t k = 0; k < p.cols; k++)
    for (int64_t j = 0; j < q.bl.cols; j++) {
      const double unused = unwanted(q.o.type, k % 2 ? (double)NAN : (double)INFINITY);
      store(q.b.host.data(), q.bl.at(k, j), q.o.type,
            used[(size_t)k] ? drawn(r, q.o.type) : unused);
    }
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < q.cl.cols; j++)
      store(q.c.host.data(), q.cl.at(i, j), q.o.out,
            q.o.beta == 0 ? unwanted(q.o.out, (double)NAN) : drawn(r, q.o.out));
}

// Whether that many calls leave the same bits in C; `call` tells whether it was right.
template <class Problem, class F> bool repeats(Problem &q, int calls, F call)
{
  std::vector<char> first;
  bool same = true;
  for (int i = 0; i < calls; i++) {
    same = call() && same;
    CUDA_OK(cudaDeviceSynchronize());
    q.c.download();
    if (i == 0) first = q.c.host;
    same = same && first == q.c.host;
  }
  return same;
}

// Compares C with float64; the bytes around its elements must not have changed.
// `before` is C before the call.  Returns the number of wrong elements.
// product_error: what a product may be off, of its size, beside the rounding of sums.
template <class Problem>
int64_t wrong_elements(const Problem &q, const std::vector<char> &before, double product_error = 0)
{
  const Pattern &p = q.pattern;
  const int64_t n = q.cl.cols;
  const size_t width = shunt_type_size(q.o.out);
  const shunt_type compute = q.o.out == SHUNT_F64 || q.o.out == SHUNT_I32 ? q.o.out : SHUNT_F32;
  std::vector<double> sum((size_t)n), scale((size_t)n), b((size_t)(p.cols * n));
  std::vector<char> element(q.c.host.size() / width);
  int64_t wrong = 0;
  for (int64_t k = 0; k < p.cols; k++)
    for (int64_t j = 0; j < n; j++)
      b[(size_t)(k * n + j)] = load(q.b.host.data(), q.bl.at(k, j), q.o.type);
  for (int64_t i = 0; i < p.rows; i++) {
    std::fill(sum.begin(), sum.end(), 0.0);
    std::fill(scale.begin(), scale.end(), 0.0);
    for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++) {
      const double x = load(q.values.host.data(), e, q.o.type);
      const double *row = &b[(size_t)(p.columns[(size_t)e] * n)];
      for (int64_t j = 0; j < n; j++) {
        sum[(size_t)j] += x * row[j];
        scale[(size_t)j] += fabs(x * row[j]);
      }
    }
    const int64_t terms = p.offsets[(size_t)i + 1] - p.offsets[(size_t)i] + 2;
    for (int64_t j = 0; j < n; j++) {
      const int64_t at = q.cl.at(i, j);
      const double old = q.o.beta == 0 ? 0 : q.o.beta * load(before.data(), at, q.o.out);
      const double want = q.o.alpha * sum[(size_t)j] + old;
      const double size = fabs(q.o.alpha) * scale[(size_t)j] + fabs(old);
      const double got = load(q.c.host.data(), at, q.o.out);
      element[(size_t)at] = 1;
      const double allowed = tolerance(q.o.out, compute, size, want, terms) + product_error * size;
      if (!same_value(got, want, allowed) && wrong++ < 2)
        printf("# (%lld, %lld): got %g, want %g\n", (long long)i, (long long)j, got, want);
    }
  }
  for (size_t i = 0; i < element.size(); i++)
    if (!element[i] && memcmp(&q.c.host[i * width], &before[i * width], width)) wrong++;
  return wrong;
}

} // namespace harness
