// wgmma_store.cuh: sums of wgmma straight from registers to C; for all kernels whose warpgroups own
// 64 rows of C (kernels/dense/dense_spmm_wide_wgmma.cuh, kernels/sparse24/sparse24_spmm_wgmma.cuh).
//
// A thread's sums lie as wgmma leaves them (ptx/wgmma.cuh): of two rows, pairs of columns, 8 apart.
// Where C is row-major in 16 bits, the four lanes of a row exchange pairs, so that each stores 16
// bytes:
//
//   before   lane q:  columns 2q, 2q + 1 of groups 0 .. 3 of 8
//   after    lane q:  all of group q
#pragma once
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"

namespace shunt
{
namespace wgmma
{

// Where the sums go.  C: the compute type.
template <class C> struct destination {
  void *c;
  int64_t rows, cols, row_stride, col_stride;
  scalar_arg<C> alpha;
  bool wide_sums; // C is f32
  bool aligned;   // row-major, rows and their begin on multiples of 16 bytes
};

// 4 x 4 words, transposed among the four lanes of a row: lane q has word q of each lane.
__device__ __forceinline__ void transpose_quad(uint32_t (&w)[4])
{
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2)
#pragma unroll
    for (int g = 0; g < 4; g++) {
      if (g & bit) continue;
      const bool upper = threadIdx.x & bit;
      const uint32_t other = __shfl_xor_sync(0xffffffffu, upper ? w[g] : w[g | bit], bit);
      w[g] = upper ? other : w[g];
      w[g | bit] = upper ? w[g | bit] : other;
    }
}

// v: the thread's pairs of four groups of 8 columns of a row, already those of C; c: the row's
// first of these 32 columns.
template <class Out>
__device__ __forceinline__ void store_whole(Out *c, const vec<Out, 2> (&v)[4], bool there)
{
  const int q = threadIdx.x % 4;
  if constexpr (sizeof(Out) == 2) {
    uint32_t w[4];
#pragma unroll
    for (int g = 0; g < 4; g++) w[g] = *reinterpret_cast<const uint32_t *>(&v[g]);
    transpose_quad(w);
    if (there) *reinterpret_cast<uint4 *>(c + 8 * q) = make_uint4(w[0], w[1], w[2], w[3]);
  } else if (there) {
#pragma unroll
    for (int g = 0; g < 4; g++) *reinterpret_cast<vec<Out, 2> *>(c + 8 * g + 2 * q) = v[g];
  }
}

template <class Out, class C>
__device__ __forceinline__ void store_parts(const destination<C> &to, int64_t row, int64_t column,
                                            const vec<Out, 2> (&v)[4])
{
  if (row >= to.rows) return;
  Out *c = static_cast<Out *>(to.c) + row * to.row_stride;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    const int64_t j = column + i / 2 * 8 + threadIdx.x % 4 * 2 + i % 2;
    if (j < to.cols) c[j * to.col_stride] = v[i / 2].at[i % 2];
  }
}

// C = alpha d for the group's 64 rows from `row` on, and Columns columns, as far as C goes.
template <class Out, int Columns, class C, class Sum>
__device__ __forceinline__ void store_as(const destination<C> &to, const Sum (&d)[Columns / 2],
                                         int64_t row, int64_t column)
{
  const C alpha = to.alpha.get();
  row += threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
  for (int u = 0; u < Columns / 32; u++, column += 32)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      vec<Out, 2> v[4];
#pragma unroll
      for (int i = 0; i < 8; i++)
        v[i / 2].at[i % 2] =
            narrow<Out>(scale(alpha, static_cast<C>(d[16 * u + i / 2 * 4 + 2 * half + i % 2])));
      const int64_t r = row + 8 * half;
      if (to.aligned && column + 32 <= to.cols)
        store_whole(static_cast<Out *>(to.c) + r * to.row_stride + column, v, r < to.rows);
      else
        store_parts(to, r, column, v);
    }
}
// The same, C being f32 where it is wide, else of type Narrow; sums of whole numbers have one type.
template <class Narrow, int Columns, class C, class Sum>
__device__ __forceinline__ void store_rows(const destination<C> &to, const Sum (&d)[Columns / 2],
                                           int64_t row, int64_t column)
{
  if (!std::is_same<Sum, int32_t>::value && to.wide_sums)
    store_as<float, Columns>(to, d, row, column);
  else
    store_as<Narrow, Columns>(to, d, row, column);
}

} // namespace wgmma
} // namespace shunt
