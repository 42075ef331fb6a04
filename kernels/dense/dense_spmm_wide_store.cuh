// dense_spmm_wide_store.cuh: sums to C by the copy engine, for dense_spmm_wide_wgmma.cuh.
//
// A warp's sums, 16 rows as wgmma leaves them (ptx/wgmma.cuh), go to shared memory as elements of
// C,
//
//   | 16 rows x 64 columns | next 64 columns | ..       2 KB each: rows of 128 bytes, swizzled
//
// so that the pairs of a warp's rows fall on different banks, and from there, box by box, to C. The
// engine writes whole lines, and cuts off what lies outside of C.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/ptx/elect.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/tma_store.cuh"

namespace shunt
{
namespace dense::wide
{

constexpr int kStoreRows = 16, kStoreColumns = 64; // of a box
constexpr int kStoreBytes = kStoreRows * 128;

// What a warp needs of shared memory, aligned to 1024 bytes.
template <int Columns> constexpr int store_bytes = Columns / kStoreColumns *kStoreBytes;

// By all lanes of a warp; row, column: of its first sum.  Returns when C is written.
template <class Out, int Columns>
__device__ __forceinline__ void store_boxes(const CUtensorMap &map, const float (&d)[Columns / 2],
                                            float alpha, unsigned char *room, int row, int column)
{
  const int r = threadIdx.x % 32 / 4, q = threadIdx.x % 4;
#pragma unroll
  for (int i = 0; i < Columns / 8; i++)
#pragma unroll
    for (int half = 0; half < 2; half++) {
      unsigned char *to =
          room + i / 8 * kStoreBytes + (r + 8 * half) * 128 + ((i % 8) ^ r) * 16 + q * 4;
      const float *pair = &d[4 * i + 2 * half];
      *reinterpret_cast<vec<Out, 2> *>(to) = {
          {narrow<Out>(scale(alpha, pair[0])), narrow<Out>(scale(alpha, pair[1]))}};
    }
  ptx::tensor_store_fence();
  __syncwarp();
  if (ptx::elect_one()) {
#pragma unroll
    for (int i = 0; i < Columns / kStoreColumns; i++)
      ptx::tensor_store_2d(&map, column + i * kStoreColumns, row,
                           ptx::shared_address(room) + i * kStoreBytes);
    ptx::tensor_store_commit();
    ptx::tensor_store_wait();
  }
  __syncwarp();
}

} // namespace dense::wide
} // namespace shunt
