// spmm_vector_direct.cuh: one group of A times Tile columns of B by one warp (or one slice of
// the group's steps), rows of B gathered from global memory straight into registers.
//
// mma.m16n8k16 with the operands swapped, so that 8 rows of A waste nothing:
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 16 slots] A^T[16 x 8]
//
// Lane l, g = l / 4, t = l % 4, loads columns 8g .. 8g + 7 of B's rows of slots 2t, 2t + 1,
// 2t + 8, 2t + 9: 16 bytes each, all that the fragments of four mma want of it.  For number i
// of the four, rows g and g + 8 of B^T are columns 8g + 2i and 8g + 2i + 1, and pairs of
// slots are put together by byte permutes:
//
//     a[0] = (2t, 2t+1) of column 8g+2i         a[2] = (2t+8, 2t+9) of the same
//     a[1] = (2t, 2t+1) of column 8g+2i+1       a[3] = (2t+8, 2t+9) of the same
//     d[0], d[1] = column 8g+2i, rows 2t, 2t+1 of A;  d[2], d[3] = column 8g+2i+1
//
// so a lane ends with columns 8g .. 8g + 7 of two rows of C.
//
// Roofline: bytes gathered from L2, vectors x Tile x 2, at 8.5 TB/s on an H200; no sharing of
// B among groups.  For small work: high sparsity, few columns.
#pragma once
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/stream_load.cuh"
#include "kernels/spmm_vector_common.cuh"

namespace shunt
{
namespace vector
{

constexpr int kDirectWarps = 8;

// What a lane needs of A for one step.
struct direct_step {
  uint2 low, high; // columns of slots 2t, 2t + 1 and 2t + 8, 2t + 9
  uint2 values;
};

__device__ __forceinline__ direct_step load_direct_step(const arguments &p, uint32_t step)
{
  const int lane = threadIdx.x % 32, t = lane % 4;
  const uint2 *columns = reinterpret_cast<const uint2 *>(p.columns) + uint64_t(step) * 8 + t;
  direct_step s;
  s.low = ptx::load_once(columns);
  s.high = ptx::load_once(columns + 4);
  s.values = ptx::load_once(p.values + uint64_t(step) * 32 + lane);
  return s;
}

// The four mma of 64 columns; x[j] are the lane's 16 bytes of its j-th slot.
template <class T>
__device__ __forceinline__ void multiply_64(float (*d)[4], const uint4 (&x)[4], uint2 values)
{
  const uint32_t b[2] = {values.x, values.y};
  const uint32_t word[4][4] = {{x[0].x, x[0].y, x[0].z, x[0].w},
                               {x[1].x, x[1].y, x[1].z, x[1].w},
                               {x[2].x, x[2].y, x[2].z, x[2].w},
                               {x[3].x, x[3].y, x[3].z, x[3].w}};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const uint32_t a[4] = {ptx::permute_bytes(word[0][i], word[1][i], 0x5410),
                           ptx::permute_bytes(word[0][i], word[1][i], 0x7632),
                           ptx::permute_bytes(word[2][i], word[3][i], 0x5410),
                           ptx::permute_bytes(word[2][i], word[3][i], 0x7632)};
    mma_of<T>::run(d[i], a, b);
  }
}

template <int Tile>
__device__ __forceinline__ void write_direct_image(float *to, const float (&d)[Tile / 16][4])
{
  constexpr int kPitch = image<Tile>::kPitch;
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int m = 0; m < Tile / 16; m += 2)
#pragma unroll
    for (int r = 0; r < 2; r++)
      *reinterpret_cast<float4 *>(to + (2 * t + r) * kPitch + m / 4 * 64 + 8 * g + m % 4 * 2) =
          make_float4(d[m][r], d[m][r + 2], d[m + 1][r], d[m + 1][r + 2]);
}

// The warps of a group wait for each other.  Barrier numbers are constants: with a computed
// one ptxas would reserve all 16 for each block.
__device__ __forceinline__ void slices_barrier(const arguments &p)
{
  if (p.log2_slices == 0) {
    __syncwarp();
    return;
  }
  const int group = threadIdx.x >> (5 + p.log2_slices), threads = 32 << p.log2_slices;
#pragma unroll
  for (int i = 0; i < kDirectWarps / 2; i++)
    if (group == i) __barrier_sync_count(1 + i, threads);
}

template <class T, class Out, int Tile>
__global__ void __launch_bounds__(kDirectWarps * 32, 2)
    spmm_vector_direct(const __grid_constant__ arguments p)
{
  __shared__ __align__(16) float images[kDirectWarps][image<Tile>::kFloats];
  constexpr int kHalves = Tile / 64;
  const int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4;
  const int slices = 1 << p.log2_slices, slice = warp & (slices - 1);
  const int group = blockIdx.x * (kDirectWarps >> p.log2_slices) + (warp >> p.log2_slices);
  if (group >= p.groups) return;

  const int column0 = blockIdx.y * Tile, column = column0 + 8 * g;
  // Lanes beyond the last column gather the first; what they compute is not stored.
  const char *b = p.b + (column < p.n ? column : 0) * 2;
  const int second = column + 64 < p.n ? 128 : 0;
  const uint32_t begin = p.begin[group], count = p.count[group];
  uint32_t step = begin + static_cast<uint32_t>(uint64_t(count) * slice >> p.log2_slices);
  const uint32_t end =
      begin + static_cast<uint32_t>(uint64_t(count) * (slice + 1) >> p.log2_slices);

  float d[Tile / 16][4] = {};
  direct_step next = load_direct_step(p, step); // there is one step more than the matrix has
  for (; step < end; step++) {
    const direct_step now = next;
    next = load_direct_step(p, step + 1);
    const uint32_t columns[4] = {now.low.x, now.low.y, now.high.x, now.high.y};
    uint4 x[kHalves][4];
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const char *row = b + static_cast<uint64_t>(columns[j]) * p.b_row_bytes;
      x[0][j] = __ldg(reinterpret_cast<const uint4 *>(row));
      if (kHalves == 2) x[kHalves - 1][j] = __ldg(reinterpret_cast<const uint4 *>(row + second));
    }
#pragma unroll
    for (int h = 0; h < kHalves; h++)
      multiply_64<T>(d + 4 * h, x[h], now.values);
  }

  write_direct_image<Tile>(images[warp], d);
  slices_barrier(p);
  store_images<T, Out, Tile>(p, images[warp - slice], slices, slice, group, column0);
}

} // namespace vector
} // namespace shunt
