// spmm_csr_vector_fma.cuh: one column list of up to 8 rows of A times 64 columns of
// B, f32, by one warp: exact FMA, no TF32.
//
//   image[r][c] = sum over entries e of  values[r][e] * B[columns[e]][c]
//
// Roofline: 8 FMA for each element of B that is loaded, so one L2 byte feeds 2 FMA:
// at 128 FMA a clock and SM the arithmetic takes 14 us at 4096 x 4096 x 256, 90 %, and
// the gather 215 MB / 8.5 TB/s = 25 us.  The 16 warps of a block are 16 groups
// over the same columns of B, moving down their lists at about the same pace, and rows
// of B are loaded through L1: where lists are sorted and not too sparse, what one
// warp missed the next may hit.
//
// Who holds what: 16 lanes take one row of B (4 columns, 16 bytes each), the two
// halves of the warp take 8 entries each of every 16, and their sums are added at
// the end, lower half first:
//
//     entries 16 q + 0 .. 7     lanes  0 .. 15:  columns 0-3 | 4-7 | ... | 60-63
//     entries 16 q + 8 .. 15    lanes 16 .. 31:  columns 0-3 | 4-7 | ... | 60-63
//
// In shared memory: two chunks of 32 entries, column indices and 8 rows of values;
// one is copied by cp.async while the other is used.  Values are read as broadcasts.
#pragma once
#include "kernels/spmm_csr_vector.cuh"

namespace shunt {
namespace spmm_vector {

struct fma_engine {
  using value = float;
  static constexpr int kTile = 64, kWarps = 16, kBlocks = 1;
  static constexpr int kChunk = 32;  // entries staged at once, one a lane
  static constexpr int kEach = 8;    // entries of a batch of 16 that a lane takes

  struct storage {
    uint32_t columns[2][kChunk];
    float values[2][kGroup][kChunk];
  };
  static constexpr int kBytes = sizeof(storage);
  static_assert(kBytes % 16 == 0 && kBytes >= image<kTile>::kBytes, "");

  // Copies chunk c; values beyond the list are zeros.
  static __device__ __forceinline__ void stage(const arguments &p, const column_list &l,
                                               storage &s, int c)
  {
    const int lane = threadIdx.x % 32, left = l.length - c * kChunk;
    if (left <= 0) return;
    const int64_t at = lane < left ? static_cast<int64_t>(c) * kChunk + lane : 0;
    const char *values = l.values + 4 * at;
    const uint32_t to = ptx::shared_address(&s.values[c & 1][l.first][lane]);
    if (lane < left)
      ptx::cp_async_4(ptx::shared_address(&s.columns[c & 1][lane]), l.columns + at * p.index_bytes);
    if (left >= kChunk && l.rows == kGroup) {
#pragma unroll
      for (int r = 0; r < kGroup; r++)
        ptx::cp_async_4(to + r * kChunk * 4, values + 4 * static_cast<int64_t>(r * l.pitch));
      return;
    }
#pragma unroll 1
    for (int r = 0; r < l.rows; r++)
      ptx::cp_async_4(to + r * kChunk * 4, values + 4 * static_cast<int64_t>(r * l.pitch),
                      lane < left ? 4 : 0);
  }

  // Loads this lane's pieces of the 8 rows of B that `columns` names; `left` of them
  // exist, and none for a lane outside of B.
  static __device__ __forceinline__ void gather(const arguments &p, float4 (&x)[kEach],
                                                const uint32_t *columns, const char *b, int left,
                                                bool inside)
  {
    const uint4 low = *reinterpret_cast<const uint4 *>(columns);
    const uint4 high = *reinterpret_cast<const uint4 *>(columns + 4);
    const uint32_t index[kEach] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w };
    if (__all_sync(0xffffffffu, inside && left >= kEach)) {
#pragma unroll
      for (int e = 0; e < kEach; e++)
        x[e] = __ldg(reinterpret_cast<const float4 *>(
            b + static_cast<uint64_t>(index[e]) * p.b_row_bytes));
      return;
    }
#pragma unroll
    for (int e = 0; e < kEach; e++) {
      x[e] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
      if (inside && e < left)
        x[e] = __ldg(reinterpret_cast<const float4 *>(
            b + static_cast<uint64_t>(index[e]) * p.b_row_bytes));
    }
  }

  // Adds this lane's 8 entries of a batch to its sums.
  static __device__ __forceinline__ void accumulate(float (&sum)[kGroup][4],
                                                    const float4 (&x)[kEach],
                                                    const float (*values)[kChunk])
  {
#pragma unroll
    for (int e = 0; e < kEach; e += 4)
#pragma unroll
      for (int r = 0; r < kGroup; r++) {
        const float4 v = *reinterpret_cast<const float4 *>(&values[r][e]);
        const float value[4] = { v.x, v.y, v.z, v.w };
#pragma unroll
        for (int i = 0; i < 4; i++) {
          sum[r][0] = fmaf(value[i], x[e + i].x, sum[r][0]);
          sum[r][1] = fmaf(value[i], x[e + i].y, sum[r][1]);
          sum[r][2] = fmaf(value[i], x[e + i].z, sum[r][2]);
          sum[r][3] = fmaf(value[i], x[e + i].w, sum[r][3]);
        }
      }
  }

  static __device__ __forceinline__ void multiply(const arguments &p, const column_list &l,
                                                  int column0, unsigned char *bytes)
  {
    storage &s = *reinterpret_cast<storage *>(bytes);
    const int lane = threadIdx.x % 32, half = lane / 16;
    const int column = column0 + lane % 16 * 4;
    const bool inside = column < p.n;
    const char *b = based_b(p) + static_cast<int64_t>(column) * 4;
    asm("" : "+l"(b));  // else the compiler adds its terms again for every row loaded
    float sum[kGroup][4] = {};

    stage(p, l, s, 0);
    ptx::cp_async_commit();
#pragma unroll 1
    for (int c = 0; c * kChunk < l.length; c++) {
      ptx::cp_async_wait<0>();
      __syncwarp();
      stage(p, l, s, c + 1);
      ptx::cp_async_commit();
      const int left = l.length - c * kChunk;
#pragma unroll 1
      for (int batch = 0; batch < min(left, kChunk); batch += 16) {
        const int e0 = batch + kEach * half;
        float4 x[kEach];
        gather(p, x, &s.columns[c & 1][e0], b, left - e0, inside);
        accumulate(sum, x, reinterpret_cast<const float(*)[kChunk]>(&s.values[c & 1][0][e0]));
      }
    }
    ptx::cp_async_wait<0>();
    __syncwarp();

    // Both halves of the warp now get the whole sums; each writes half of the rows.
#pragma unroll
    for (int r = 0; r < kGroup; r++)
#pragma unroll
      for (int k = 0; k < 4; k++) sum[r][k] += __shfl_xor_sync(0xffffffffu, sum[r][k], 16);
    float *to = reinterpret_cast<float *>(bytes) + lane % 16 * 4;
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      if (r / 4 == half)
        *reinterpret_cast<float4 *>(to + r * image<kTile>::kPitch) =
            make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
  }
};

}  // namespace spmm_vector
}  // namespace shunt
