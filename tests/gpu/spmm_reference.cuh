// spmm_reference.cuh: C = alpha A B + beta C in float64, of operands that stand on the host as a
// kernel was given them.
#pragma once
#include "tests/gpu/dense_layouts.cuh"

namespace harness {

// Compares C with float64; the bytes around its elements must not have changed.
// `before` is C before the call.  Returns the number of wrong elements.
//
// Problem has the pattern of A, `values`, `b` and `c` (Buffer), `bl` and `cl` (DenseLayout) and, in
// `o`, the types of operands and C, alpha and beta.
// product_error: what a product may be off, of its size, beside the rounding of sums.
template <class Problem>
int64_t wrong_elements(const Problem &q, const std::vector<char> &before, double product_error = 0)
{
  const Pattern &p = q.pattern;
  const int64_t n = q.cl.cols;
  const size_t width = shunt_type_size(q.o.out);
  const shunt_type compute = q.o.out == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
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

}  // namespace harness
