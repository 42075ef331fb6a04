// sddmm_problem.cuh: an SDDMM, run by any kernel and compared with float64.
//
// What must not be read is NaN: padding, rows of A and columns of B without entries, and C.values
// where beta is 0.
#pragma once
#include "tests/gpu/csr/sddmm_kernels.cuh"
#include "tests/gpu/csr/sddmm_operands.cuh"
#include "tests/gpu/csr/sddmm_patterns.cuh"

namespace harness
{

// One problem, ready to run by any kernel.
struct Problem {
  Setup s;
  const Pattern &p;
  Random random;
  Matrix a, b;
  Sparse c;
  Scalar alpha, beta;
  shunt_sddmm task;

  Problem(const Setup &setup, const Pattern &pattern, uint64_t seed)
      : s(setup), p(pattern), random(seed), a(p.rows, s.k, s.a_rows, s.pad, s.shift, s.in),
        b(s.k, p.cols, s.b_rows, s.pad, s.shift, s.in),
        c(p, s.index, s.base, s.out, s.beta, random),
        alpha(s.alpha, s.device_scalars, compute_of(s.in)),
        beta(s.beta, s.device_scalars, compute_of(s.in))
  {
    std::vector<char> used((size_t)p.cols);
    for (int64_t j : p.columns) used[(size_t)j] = 1;
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t k = 0; k < s.k && p.offsets[(size_t)i] < p.offsets[(size_t)i + 1]; k++)
        a.set(i, k, random.value());
    for (int64_t j = 0; j < p.cols; j++)
      for (int64_t k = 0; k < s.k && used[(size_t)j]; k++) b.set(k, j, random.value());
    a.bytes.upload();
    b.bytes.upload();
    task = shunt_sddmm{a.device, b.device, c.device, alpha.value, beta.value, compute_of(s.in)};
  }

  shunt_status run(const Kernel &kernel, const shunt_device &d, cudaStream_t stream = 0)
  {
    size_t bytes = kernel.workspace(&task, &d);
    Buffer room(bytes);
    c.values.upload();
    shunt_status status =
        kernel.launch(&task, &d, bytes ? room.device : nullptr, bytes, (shunt_stream)stream);
    CUDA_OK(cudaDeviceSynchronize());
    return status;
  }

  // Index of the first wrong entry, -1 when all are right.
  int64_t wrong()
  {
    std::vector<double> x((size_t)(p.rows * s.k)), y((size_t)(p.cols * s.k));
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t k = 0; k < s.k; k++) x[(size_t)(i * s.k + k)] = a.get(i, k);
    for (int64_t j = 0; j < p.cols; j++)
      for (int64_t k = 0; k < s.k; k++) y[(size_t)(j * s.k + k)] = b.get(k, j);
    std::vector<char> before = c.values.host;
    c.values.download();
    int64_t bad = -1;
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1] && bad < 0; at++) {
        int64_t j = p.columns[(size_t)at];
        double dot = 0, size = 0;
        for (int64_t k = 0; k < s.k; k++) {
          double term = x[(size_t)(i * s.k + k)] * y[(size_t)(j * s.k + k)];
          dot += term;
          size += fabs(term);
        }
        double want = s.alpha * dot, scale = fabs(s.alpha) * size;
        if (s.beta != 0) {
          want += s.beta * c.old[(size_t)at];
          scale += fabs(s.beta * c.old[(size_t)at]);
        }
        double got = load(c.values.host.data(), at, s.out);
        if (!(fabs(got - want) <= tolerance(s.out, compute_of(s.in), scale, want, s.k + 1)))
          bad = at;
      }
    c.values.host = before;
    return bad;
  }
};

} // namespace harness
