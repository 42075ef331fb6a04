// probe.cuh: does the first row of a dense product hold a NaN or an Inf?
//
//   C = D B,  D a sparse matrix written out with its zeros
//
// One NaN or Inf B(k, n) makes the whole column n of C NaN or Inf: where D(i, k) is 0, the product
// 0 x B(k, n) is NaN (of complex elements in both parts).  So one row of C tells whether B is
// finite, and B need not be read.  C's first row may also hold an Inf of its own, by overflow say.
// Then the alarm is false, and the repair computes the same values again.
#pragma once
#include "kernels/common/number.cuh"

namespace shunt
{
namespace guard
{

struct probe_args {
  const void *row; // NULL: no probe
  int64_t n, stride;
  shunt_type type;
};

inline probe_args make_probe(const struct shunt_dense *product)
{
  probe_args p = {};
  if (!product) return p;
  p.row = product->values;
  p.n = product->cols;
  p.stride = product->col_stride;
  p.type = product->type;
  return p;
}

__device__ __forceinline__ bool all_set(uint32_t word, uint32_t bits)
{
  return (word & bits) == bits;
}
// All bits of the exponent set?  Of complex elements, in either part.
__device__ __forceinline__ bool nonfinite(const void *row, int64_t i, shunt_type type)
{
  const uint16_t *half = static_cast<const uint16_t *>(row);
  const uint32_t *word = static_cast<const uint32_t *>(row);
  constexpr uint32_t single = 0x7f800000, twice = 0x7ff00000; // in the upper word
  switch (type) {
  case SHUNT_F16: return all_set(half[i], 0x7c00);
  case SHUNT_BF16: return all_set(half[i], 0x7f80);
  case SHUNT_F64: return all_set(word[2 * i + 1], twice);
  case SHUNT_C32: return all_set(word[2 * i], single) || all_set(word[2 * i + 1], single);
  case SHUNT_C64: return all_set(word[4 * i + 1], twice) || all_set(word[4 * i + 3], twice);
  default: return all_set(word[i], single);
  }
}

// The same answer in all threads of the block.
__device__ __forceinline__ bool probe_fails(const probe_args &p)
{
  if (!p.row) return false;
  const int64_t threads = blockDim.x * blockDim.y;
  bool bad = false;
  for (int64_t i = threadIdx.y * blockDim.x + threadIdx.x; i < p.n; i += threads)
    bad |= nonfinite(p.row, i * p.stride, p.type);
  return __syncthreads_or(bad);
}

} // namespace guard
} // namespace shunt
