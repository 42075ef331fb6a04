// vector_csr_spmm_fma.cuh: one column list of up to 8 rows of A times 64 or 128 columns of
// B, f32 or f64, by one warp: exact FMA, no TF32.
//
//   image[r][c] = sum over entries e of  values[r][e] * B[columns[e]][c]
//
// Roofline: 8 FMA for each element of B that is loaded, so one L2 byte feeds 2 FMA (f64: 1):
// at 128 FMA a clock and SM the arithmetic takes 13 us at 4096 x 4096 x 256, 90 %, and
// the gather 215 MB / 8.5 TB/s = 25 us.  The 16 warps of a block are 16 groups
// over the same columns of B, moving down their lists at about the same pace, and rows
// of B are loaded through L1: where lists are sorted and not too sparse, what one
// warp missed the next may hit (at 70 % two in three).
//
// What else counts is what each FMA brings along: in f32 by 128 columns, 16 entries are 512 FMA, 16
// loads of B, 16 of values and 8 addresses.  By 64 columns the values are loaded twice as often,
// and L1 has as many wavefronts of those as of B (ncu: 55 % of what it can, 0.9 of 6 clocks
// between two instructions waiting for dispatch).
//
// Who holds what, f32: 16 lanes take one row of B (one piece of 16 bytes each, or two, 64 columns
// apart), the two halves of the warp take half of the entries of a batch, and their sums are
// added at the end, lower half first:
//
//     entries  0 .. 7  (0 .. 3)    lanes  0 .. 15:  columns 0-3 | 4-7 | ... | 60-63  (64-67 ...)
//     entries  8 .. 15 (4 .. 7)    lanes 16 .. 31:  columns 0-3 | 4-7 | ... | 60-63  (64-67 ...)
//
// f64: all 32 lanes take one row of B, 64 columns, 8 entries at a time (128 columns are slower).
//
// A list of 4 rows or fewer is summed as four rows, the lower or the upper half of its group.
//
// In shared memory: two chunks of 32 entries, column indices and 8 rows of values;
// one is copied by cp.async while the other is used.  Values are read as broadcasts.
#pragma once
#include "kernels/ptx/cp_async_word.cuh"
#include "kernels/vector/vector_csr_spmm.cuh"

namespace shunt
{
namespace vector::csr
{

// Column indices and values of two chunks of a list.
template <class T> struct fma_chunks {
  static constexpr int kEntries = 32; // staged at once, one a lane
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

// Pieces: of 16 bytes, that a lane takes of a row of B.
template <class T, int Pieces> struct fma_lists {
  using value = T;
  using sum = T;
  static constexpr int kWarps = 16, kBlocks = 1;
  static constexpr int kWide = 16 / sizeof(T);   // columns of a piece
  static constexpr int kLanes = 64 / kWide;      // for a row of B
  static constexpr int kParts = 32 / kLanes;     // of a warp, each with entries of its own
  static constexpr int kStride = kLanes * kWide; // columns from a lane's piece to its next
  static constexpr int kTile = kStride * Pieces;
  static constexpr int kEach = 8 / Pieces; // entries of a batch that a lane takes
  static constexpr int kBatch = kEach * kParts;

  using storage = fma_chunks<T>;
  using piece = vec<T, kWide>;
  static constexpr int kChunk = storage::kEntries;
  static constexpr int kBytes = sizeof(storage) > image<kTile, T>::kBytes
                                    ? static_cast<int>(sizeof(storage))
                                    : image<kTile, T>::kBytes;
  static_assert(kBytes % 16 == 0 && kChunk % kBatch == 0 && kEach % kWide == 0, "");

  static __device__ __forceinline__ piece load_piece(const char *b)
  {
    const uint4 bits = __ldg(reinterpret_cast<const uint4 *>(b));
    return *reinterpret_cast<const piece *>(&bits);
  }

  // Loads this lane's pieces of the rows of B that `columns` names; `whole`: all of them exist,
  // else `left` of the rows and `inside` of the pieces do.
  static __device__ __forceinline__ void gather(const arguments_of<T> &p, piece (&x)[kEach][Pieces],
                                                const uint32_t *columns, const char *b, bool whole,
                                                int left, int inside)
  {
    if (whole) {
#pragma unroll
      for (int e = 0; e < kEach; e++) {
        const char *row = b + static_cast<uint64_t>(columns[e]) * p.b_row_bytes;
#pragma unroll
        for (int i = 0; i < Pieces; i++) x[e][i] = load_piece(row + i * kLanes * 16);
      }
      return;
    }
#pragma unroll
    for (int e = 0; e < kEach; e++) {
      const char *row = b + static_cast<uint64_t>(columns[e]) * p.b_row_bytes;
#pragma unroll
      for (int i = 0; i < Pieces; i++) {
        x[e][i] = {};
        if (i < inside && e < left) x[e][i] = load_piece(row + i * kLanes * 16);
      }
    }
  }

  // Adds this lane's entries of a batch to its sums.
  template <int Rows>
  static __device__ __forceinline__ void accumulate(T (&sum)[Rows][Pieces][kWide],
                                                    const piece (&x)[kEach][Pieces],
                                                    const T (*values)[kChunk])
  {
#pragma unroll
    for (int e = 0; e < kEach; e += kWide)
#pragma unroll
      for (int r = 0; r < Rows; r++) {
        const piece v = *reinterpret_cast<const piece *>(&values[r][e]);
#pragma unroll
        for (int i = 0; i < kWide; i++)
#pragma unroll
          for (int q = 0; q < Pieces; q++)
#pragma unroll
            for (int k = 0; k < kWide; k++)
              sum[r][q][k] = multiply_add(v.at[i], x[e + i][q].at[k], sum[r][q][k]);
      }
  }

  // Writes the sums to `rows`, an image.  All parts of the warp get the whole sums; each writes
  // its share of the rows.
  template <int Rows>
  static __device__ __forceinline__ void write(T (&sum)[Rows][Pieces][kWide], T *rows)
  {
    const int lane = threadIdx.x % 32, part = lane / kLanes;
    T *to = rows + lane % kLanes * kWide;
#pragma unroll
    for (int r = 0; r < Rows; r++)
#pragma unroll
      for (int q = 0; q < Pieces; q++) {
        piece out;
#pragma unroll
        for (int k = 0; k < kWide; k++) {
          out.at[k] = sum[r][q][k];
#pragma unroll
          for (int other = kLanes; other < 32; other *= 2)
            out.at[k] += __shfl_xor_sync(0xffffffffu, out.at[k], other);
        }
        if (r * kParts / Rows == part)
          *reinterpret_cast<piece *>(to + r * image<kTile, T>::kPitch + q * kStride) = out;
      }
  }

  template <int Rows>
  static __device__ __forceinline__ void
  multiply_rows(const arguments_of<T> &p, const column_list &l, int column0, unsigned char *bytes)
  {
    storage &s = *reinterpret_cast<storage *>(bytes);
    const int lane = threadIdx.x % 32, part = lane / kLanes, first = l.first / Rows * Rows;
    const int column = column0 + lane % kLanes * kWide;
    const int inside = min(Pieces, max(0, (p.n - column + kStride - 1) / kStride));
    const bool whole = column0 + kTile <= p.n;
    const char *b = based_b(p) + static_cast<int64_t>(column) * static_cast<int>(sizeof(T));
    asm("" : "+l"(b)); // else the compiler adds its terms again for every row loaded
    T sum[Rows][Pieces][kWide] = {};

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
        piece x[kEach][Pieces];
        gather(p, x, &s.columns[c & 1][e0], b, whole && left - batch >= kBatch, left - e0, inside);
        accumulate<Rows>(sum, x, reinterpret_cast<const T(*)[kChunk]>(&s.values[c & 1][first][e0]));
      }
    }
    ptx::cp_async_wait<0>();
    __syncwarp();
    write<Rows>(sum, reinterpret_cast<T *>(bytes) + first * image<kTile, T>::kPitch);
  }

  static __device__ __forceinline__ void multiply(const arguments_of<T> &p, const column_list &l,
                                                  int column0, unsigned char *bytes)
  {
    if (l.rows <= kGroup / 2)
      multiply_rows<kGroup / 2>(p, l, column0, bytes);
    else
      multiply_rows<kGroup>(p, l, column0, bytes);
  }
};

} // namespace vector::csr
} // namespace shunt
