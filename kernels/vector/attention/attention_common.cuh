// attention_common.cuh: what SDDMM, softmax and attention over the `vector` format share:
// the pattern and the matrices of a launch as kernels see them, and the way from the product of
// gathered rows to the format's order.
//
// Scores are computed with the gathered rows on the 16-side of mma.m16n8k16:
//
//     D[16 slots x 8 rows] += K[16 slots x 16] Q^T[16 x 8 rows]
//
// so that lane l, g = l / 4, t = l % 4, holds slots g and g + 8 of rows 2t and 2t + 1:
//
//     d[0] = slot g, row 2t     d[1] = slot g, row 2t + 1     d[2], d[3] = slot g + 8
//
// while the format, and the mma that multiplies with the packed values, want row g of slots
// 2t, 2t + 1, 2t + 8, 2t + 9.  Rounded to 16 bits, (d[0], d[1]) of all lanes is an 8 x 8 matrix of
// slots by rows, and what is wanted is its transpose: one movmatrix for each half.
//
//            rows 0 .. 7                     slots 0 .. 7
//     slot 0 | l0 l1 l2 l3 |   movmatrix   row 0 | l0 l1 l2 l3 |
//     ..     | ..          |   --------->  ..    | ..          |
//     slot 7 | l28 .. l31  |               row 7 | l28 .. l31  |
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/ptx/movmatrix.cuh"
#include "kernels/vector/attention/attention_check.h"
#include "kernels/vector/vector_packed_spmm_common.cuh"

namespace shunt
{
namespace vector
{

constexpr unsigned kAllLanes = 0xffffffffu;

// The pattern of a launch.
struct pattern {
  const uint32_t *begin, *count, *columns;
  const uint8_t *masks;
  int rows, groups;
};

inline pattern pattern_of(const struct shunt_vector *v)
{
  return {v->begin,
          v->count,
          v->columns,
          v->masks,
          static_cast<int>(v->rows),
          static_cast<int>(v->groups)};
}

// One matrix for each (batch, head); strides in bytes.
struct matrices {
  char *at;
  int64_t row, head, batch;

  __device__ __forceinline__ char *of(int z, int heads) const
  {
    return at + (z / heads) * batch + (z % heads) * head;
  }
};

inline matrices matrices_of(const struct shunt_heads &m, int64_t batches, int64_t heads)
{
  return {static_cast<char *>(m.values), m.row_stride * 2, heads > 1 ? m.head_stride * 2 : 0,
          batches > 1 ? m.batch_stride * 2 : 0};
}

// All rows start at multiples of 16 bytes.
inline bool aligned(const matrices &m)
{
  return reinterpret_cast<uintptr_t>(m.at) % 16 == 0 && m.row % 16 == 0 && m.head % 16 == 0 &&
         m.batch % 16 == 0;
}

// A launch of `warps` warps for each of `problems` matrices, Block to a block.
template <int Block, class Arguments>
cudaError_t launch_warps(const void *kernel, const Arguments &a, int64_t warps, int64_t problems,
                         cudaStream_t stream)
{
  const dim3 grid(static_cast<unsigned>((warps + Block - 1) / Block),
                  static_cast<unsigned>(problems));
  void *parameters[] = {const_cast<Arguments *>(&a)};
  return cudaLaunchKernel(kernel, grid, dim3(Block * 32), parameters, 0, stream);
}

// Words of two elements at p, aligned to them all.
template <int Words>
__device__ __forceinline__ void load_words(uint32_t (&to)[Words], const void *p)
{
  static_assert(Words == 1 || Words == 2 || Words == 4, "one load");
  if (Words == 4) {
    const uint4 v = __ldg(static_cast<const uint4 *>(p));
    to[0] = v.x, to[1 % Words] = v.y, to[2 % Words] = v.z, to[3 % Words] = v.w;
  } else if (Words == 2) {
    const uint2 v = __ldg(static_cast<const uint2 *>(p));
    to[0] = v.x, to[1 % Words] = v.y;
  } else {
    to[0] = __ldg(static_cast<const uint32_t *>(p));
  }
}

// Two elements in a word, the first in the low half.
template <class T> __device__ __forceinline__ uint32_t pack_words(float first, float second)
{
  vec<T, 2> v;
  v.at[0] = narrow<T>(first);
  v.at[1] = narrow<T>(second);
  uint32_t word;
  memcpy(&word, &v, sizeof word);
  return word;
}

// The lane's part of a step in the format's order, of the scores above.
template <class T> __device__ __forceinline__ uint2 to_format(const float (&d)[4])
{
  return make_uint2(ptx::movmatrix_trans(pack_words<T>(d[0], d[1])),
                    ptx::movmatrix_trans(pack_words<T>(d[2], d[3])));
}

// The masks of the lane's slots g and g + 8 of a step, bit r: row r.
__device__ __forceinline__ void load_masks(uint32_t (&masks)[2], const pattern &p, uint32_t step)
{
  const uint8_t *at = p.masks + uint64_t(step) * kStep + threadIdx.x % 32 / 4;
  masks[0] = __ldg(at);
  masks[1] = __ldg(at + 8);
}

} // namespace vector
} // namespace shunt
