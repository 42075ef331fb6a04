// spmm_csr_vector_fma.cuh: one column list of up to 8 rows of A times 64 columns of
// B, f32 or f64, by one warp: exact FMA, no TF32.
//
//   image[r][c] = sum over entries e of  values[r][e] * B[columns[e]][c]
//
// Roofline: 8 FMA for each element of B that is loaded, so one L2 byte feeds 2 FMA (f64: 1):
// at 128 FMA a clock and SM the arithmetic takes 14 us at 4096 x 4096 x 256, 90 %, and
// the gather 215 MB / 8.5 TB/s = 25 us.  The 16 warps of a block are 16 groups
// over the same columns of B, moving down their lists at about the same pace, and rows
// of B are loaded through L1: where lists are sorted and not too sparse, what one
// warp missed the next may hit.
//
// Who holds what, f32: 16 lanes take one row of B (a piece of 16 bytes each), the two
// halves of the warp take 8 entries each of every 16, and their sums are added at
// the end, lower half first:
//
//     entries 16 q + 0 .. 7     lanes  0 .. 15:  columns 0-3 | 4-7 | ... | 60-63
//     entries 16 q + 8 .. 15    lanes 16 .. 31:  columns 0-3 | 4-7 | ... | 60-63
//
// f64: all 32 lanes take one row of B, 8 entries at a time.
//
// In shared memory: two chunks of 32 entries, column indices and 8 rows of values;
// one is copied by cp.async while the other is used.  Values are read as broadcasts.
#pragma once
#include "kernels/ptx/cp_async_word.cuh"
#include "kernels/spmm_csr_vector.cuh"

namespace shunt {
namespace spmm_vector {

// Column indices and values of two chunks of a list.
template <class T> struct fma_chunks {
  static constexpr int kEntries = 32;  // staged at once, one a lane
  static constexpr int kSize = sizeof(T);
  uint32_t columns[2][kEntries];
  T values[2][kGroup][kEntries];

  // Copies chunk c; values beyond the list are zeros.
  __device__ __forceinline__ void stage(const matrix &p, const column_list &l, int c)
  {
    const int lane = threadIdx.x % 32, left = l.length - c * kEntries;
    if (left <= 0) return;
    const int64_t at = lane < left ? static_cast<int64_t>(c) * kEntries + lane : 0;
    const char *from = l.values + kSize * at;
    const uint32_t to = ptx::shared_address(&values[c & 1][l.first][lane]);
    if (lane < left)
      ptx::cp_async_4(ptx::shared_address(&columns[c & 1][lane]), l.columns + at * p.index_bytes);
    if (left >= kEntries && l.rows == kGroup) {
#pragma unroll
      for (int r = 0; r < kGroup; r++)
        ptx::cp_async_word<kSize>(to + r * kEntries * kSize,
                                  from + kSize * static_cast<int64_t>(r * l.pitch), 1);
      return;
    }
#pragma unroll 1
    for (int r = 0; r < l.rows; r++)
      ptx::cp_async_word<kSize>(to + r * kEntries * kSize,
                                from + kSize * static_cast<int64_t>(r * l.pitch), lane < left);
  }
};

template <class T> struct fma_engine {
  using value = T;
  using sum = T;
  static constexpr int kTile = 64, kWarps = 16, kBlocks = 1;
  static constexpr int kWide = 16 / sizeof(T);  // columns of a lane
  static constexpr int kLanes = kTile / kWide;  // for a row of B
  static constexpr int kParts = 32 / kLanes;    // of a warp, each with entries of its own
  static constexpr int kEach = 8;               // entries of a batch that a lane takes
  static constexpr int kBatch = kEach * kParts;

  using storage = fma_chunks<T>;
  using piece = vec<T, kWide>;
  static constexpr int kChunk = storage::kEntries;
  static constexpr int kBytes = sizeof(storage);
  static_assert(kBytes % 16 == 0 && kBytes >= image<kTile, T>::kBytes, "");

  static __device__ __forceinline__ piece load_piece(const char *b)
  {
    const uint4 bits = __ldg(reinterpret_cast<const uint4 *>(b));
    return *reinterpret_cast<const piece *>(&bits);
  }

  // Loads this lane's pieces of the 8 rows of B that `columns` names; `left` of them
  // exist, and none for a lane outside of B.
  static __device__ __forceinline__ void gather(const arguments_of<T> &p, piece (&x)[kEach],
                                                const uint32_t *columns, const char *b, int left,
                                                bool inside)
  {
    const uint4 low = *reinterpret_cast<const uint4 *>(columns);
    const uint4 high = *reinterpret_cast<const uint4 *>(columns + 4);
    const uint32_t index[kEach] = { low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w };
    if (__all_sync(0xffffffffu, inside && left >= kEach)) {
#pragma unroll
      for (int e = 0; e < kEach; e++)
        x[e] = load_piece(b + static_cast<uint64_t>(index[e]) * p.b_row_bytes);
      return;
    }
#pragma unroll
    for (int e = 0; e < kEach; e++) {
      x[e] = {};
      if (inside && e < left)
        x[e] = load_piece(b + static_cast<uint64_t>(index[e]) * p.b_row_bytes);
    }
  }

  // Adds this lane's 8 entries of a batch to its sums.
  static __device__ __forceinline__ void accumulate(T (&sum)[kGroup][kWide],
                                                    const piece (&x)[kEach],
                                                    const T (*values)[kChunk])
  {
#pragma unroll
    for (int e = 0; e < kEach; e += kWide)
#pragma unroll
      for (int r = 0; r < kGroup; r++) {
        const piece v = *reinterpret_cast<const piece *>(&values[r][e]);
#pragma unroll
        for (int i = 0; i < kWide; i++)
#pragma unroll
          for (int k = 0; k < kWide; k++)
            sum[r][k] = multiply_add(v.at[i], x[e + i].at[k], sum[r][k]);
      }
  }

  static __device__ __forceinline__ void multiply(const arguments_of<T> &p, const column_list &l,
                                                  int column0, unsigned char *bytes)
  {
    storage &s = *reinterpret_cast<storage *>(bytes);
    const int lane = threadIdx.x % 32, part = lane / kLanes;
    const int column = column0 + lane % kLanes * kWide;
    const bool inside = column < p.n;
    const char *b = based_b(p) + static_cast<int64_t>(column) * static_cast<int>(sizeof(T));
    asm("" : "+l"(b));  // else the compiler adds its terms again for every row loaded
    T sum[kGroup][kWide] = {};

    s.stage(p, l, 0);
    ptx::cp_async_commit();
#pragma unroll 1
    for (int c = 0; c * kChunk < l.length; c++) {
      ptx::cp_async_wait<0>();
      __syncwarp();
      s.stage(p, l, c + 1);
      ptx::cp_async_commit();
      const int left = l.length - c * kChunk;
#pragma unroll 1
      for (int batch = 0; batch < min(left, kChunk); batch += kBatch) {
        const int e0 = batch + kEach * part;
        piece x[kEach];
        gather(p, x, &s.columns[c & 1][e0], b, left - e0, inside);
        accumulate(sum, x, reinterpret_cast<const T(*)[kChunk]>(&s.values[c & 1][0][e0]));
      }
    }
    ptx::cp_async_wait<0>();
    __syncwarp();

    // All parts of the warp now get the whole sums; each writes its share of the rows.
#pragma unroll
    for (int other = kLanes; other < 32; other *= 2)
#pragma unroll
      for (int r = 0; r < kGroup; r++)
#pragma unroll
        for (int k = 0; k < kWide; k++) sum[r][k] += __shfl_xor_sync(0xffffffffu, sum[r][k], other);
    T *to = reinterpret_cast<T *>(bytes) + lane % kLanes * kWide;
#pragma unroll
    for (int r = 0; r < kGroup; r++)
      if (r * kParts / kGroup == part) {
        piece out;
#pragma unroll
        for (int k = 0; k < kWide; k++) out.at[k] = sum[r][k];
        *reinterpret_cast<piece *>(to + r * image<kTile, T>::kPitch) = out;
      }
  }
};

}  // namespace spmm_vector
}  // namespace shunt
