// sparse24_columns.cuh: a block's part of the proof that a matrix of full quads has the pattern
// that its copy was made from: columns are compared with the copy's positions (sparse24_format.h),
// one by one, and rows begin where those of such a matrix do.
//
//   entry e of the array   row e / (cols / 2), the quad that begins at column 2 e % cols / 4 * 4
//   its column             that + position                       position: 0 .. 3
//
// The array is cut into tiles and pieces as for a hash (kernels/guard/fingerprint.h).  Of a piece
// with columns c_i, of quads that begin at b_i, and positions p_i:
//
//   c_i ^ b_i  has none but its low two bits, for all i, and then
//   sum of 4^i (c_i - b_i)  is  sum of 4^i p_i  only if each is.  Four pieces' sums fill a word
//
// Seven to twelve additions and logical operations for 16 bytes; a hash takes twice as many, of
// them four multiplications into 64 bits, and is right with odds only.  Loads roll as in
// kernels/guard/fingerprint_rolling.cuh.
#pragma once
#include <limits.h>

#include "kernels/guard/fingerprint_rolling.cuh"
#include "kernels/sparse24/sparse24_kernels.h"

namespace shunt
{
namespace sparse24
{

// For what shunt_sparse24_compared says yes to.
struct column_job {
  const unsigned char *columns; // NULL: a hash is to tell
  const void *offsets, *positions;
  uint32_t cols, rows, pieces;
  int tiles; // whole ones
  bool wide; // int64
};

inline column_job make_column_job(const struct shunt_csr &a, const struct shunt_sparse24 &v)
{
  const int64_t pieces = shunt_sparse24_pieces(&a);
  return {static_cast<const unsigned char *>(a.columns),
          a.row_offsets,
          v.positions,
          static_cast<uint32_t>(a.cols),
          static_cast<uint32_t>(a.rows),
          static_cast<uint32_t>(pieces),
          static_cast<int>(shunt_sparse24_column_tiles(&a)),
          a.index_type == SHUNT_I64};
}

// A warp that compares, of the tiles from `begin` to `end`.
struct column_worker : guard::hash_worker {
  int begin = 0, end = INT_MAX;
  __device__ __forceinline__ int first_tile() const { return begin + hash_worker::first_tile(); }
  __device__ __forceinline__ bool is_first() const { return begin == 0 && share == 0 && warp == 0; }
};

// Asks L2 for the worker's first tile, as prefetch_share().
__device__ __forceinline__ void prefetch_columns(const column_job &job, const column_worker &w)
{
  const int t = w.first_tile();
  if (t < min(job.tiles, w.end))
    ptx::prefetch_l2(job.columns + (int64_t)t * SHUNT_FP_TILE +
                     threadIdx.x % 32 * (SHUNT_FP_TILE / 32));
}

// What a lane has seen of a tile: bits that differ from the quad's first column, and their sums.
struct column_check {
  uint32_t outside = 0, high = 0, sum[2] = {0, 0};
  __device__ __forceinline__ bool differs(uint2 positions) const
  {
    return (outside & ~3u) | high | (sum[0] ^ positions.x) | (sum[1] ^ positions.y);
  }
};

// Piece j, whose first quad begins at b.
template <bool Wide>
__device__ __forceinline__ void compare_piece(column_check &c, int j, uint4 v, uint32_t b)
{
  if constexpr (Wide) {
    c.outside |= (v.x ^ b) | (v.z ^ b);
    c.high |= v.y | v.w;
    c.sum[j / 4] += (v.x + 4 * v.z - 5 * b) << (8 * (j % 4));
  } else {
    const uint32_t next = b + 4;
    c.outside |= (v.x ^ b) | (v.y ^ b) | (v.z ^ next) | (v.w ^ next);
    c.sum[j / 4] += (v.x + 4 * v.y + 16 * v.z + 64 * v.w - 85 * b - 320) << (8 * (j % 4));
  }
}

// AtOnce tiles of a lane, `apart` from each other, and those that follow on their way.
template <bool Wide, int AtOnce> struct column_reader {
  static constexpr uint32_t kStep = 32 * (Wide ? 4 : 8); // columns from a lane's piece to its next
  const column_job &job;
  const uint64_t policy = ptx::evict_first_policy();
  const int end, apart;
  const uint32_t jump; // columns from behind a tile to the next
  uint4 piece[AtOnce][SHUNT_FP_PIECES];
  uint2 positions[AtOnce];
  uint32_t first[AtOnce]; // where a piece's first quad begins

  __device__ __forceinline__ column_reader(const column_job &j, const column_worker &w)
      : job(j), end(min(j.tiles, w.end)), apart(w.shares * w.warps),
        jump((AtOnce * apart - 1) * (SHUNT_FP_PIECES * kStep) % j.cols)
  {
#pragma unroll
    for (int i = 0; i < AtOnce; i++) {
      const int t = w.first_tile() + i * apart;
      first[i] = (t * (SHUNT_FP_PIECES * kStep) + lane() * (kStep / 32)) % job.cols;
      load_positions(i, t);
#pragma unroll
      for (int p = 0; p < SHUNT_FP_PIECES; p++) load(i, p, t);
    }
  }
  static __device__ __forceinline__ uint32_t lane()
  {
    return threadIdx.x % 32;
  }
  __device__ __forceinline__ void load(int i, int p, int t)
  {
    ptx::read_once_16_if(t < end, piece[i][p],
                         job.columns + (int64_t)t * SHUNT_FP_TILE + p * SHUNT_FP_ROW +
                             lane() * SHUNT_FP_PIECE,
                         policy);
  }
  __device__ __forceinline__ void load_positions(int i, int t)
  {
    if (t < end)
      positions[i] = __ldg(static_cast<const uint2 *>(job.positions) + (int64_t)t * 32 + lane());
  }
  __device__ __forceinline__ void go_on(int i, uint32_t columns)
  {
    first[i] = min(first[i] + columns, first[i] + columns - job.cols); // the one that did not wrap
  }
  // Tiles t, t + apart, ..
  __device__ __forceinline__ bool differ(int t)
  {
    column_check check[AtOnce];
    bool found = false;
#pragma unroll
    for (int p = 0; p < SHUNT_FP_PIECES; p++)
#pragma unroll
      for (int i = 0; i < AtOnce; i++) {
        compare_piece<Wide>(check[i], p, piece[i][p], first[i]);
        go_on(i, kStep);
        load(i, p, t + (AtOnce + i) * apart);
      }
#pragma unroll
    for (int i = 0; i < AtOnce; i++) {
      found |= t + i * apart < end && check[i].differs(positions[i]);
      load_positions(i, t + (AtOnce + i) * apart);
      go_on(i, jump);
    }
    return found;
  }
};

template <bool Wide, int AtOnce>
__device__ __forceinline__ bool tiles_differ(const column_job &job, const column_worker &w)
{
  column_reader<Wide, AtOnce> reader(job, w);
  bool found = false;
  for (int t = w.first_tile(); t < reader.end; t += AtOnce * reader.apart)
    found |= reader.differ(t);
  return found;
}

// Of the tile that the array's end cuts.
template <bool Wide> __device__ __forceinline__ bool rest_differs(const column_job &job)
{
  bool found = false;
  for (uint32_t i = job.tiles * 256u + threadIdx.x % 32; i < job.pieces; i += 32) {
    column_check check;
    const uint4 v = __ldg(reinterpret_cast<const uint4 *>(job.columns) + i);
    compare_piece<Wide>(check, 0, v, i * (Wide ? 4 : 8) % job.cols);
    const unsigned char *at = static_cast<const unsigned char *>(job.positions);
    found |= check.differs(make_uint2(at[shunt_sparse24_position(i)], 0));
  }
  return found;
}

// The worker's rows.
__device__ __forceinline__ bool rows_differ(const column_job &job, const guard::hash_worker &w)
{
  bool found = false;
  for (uint32_t i = w.first_tile() * 32u + threadIdx.x % 32; i <= job.rows;
       i += w.shares * w.warps * 32u) {
    const int64_t offset = job.wide ? __ldg(static_cast<const int64_t *>(job.offsets) + i)
                                    : __ldg(static_cast<const int32_t *>(job.offsets) + i);
    found |= offset != static_cast<int64_t>(i) * (job.cols / 2);
  }
  return found;
}

// As a part of a fingerprint: the sum of all is the expected one if nothing differs.
template <int AtOnce>
__device__ __forceinline__ struct shunt_fingerprint
compare_share(const column_job &job, const struct shunt_fingerprint *expected,
              const column_worker &w)
{
  bool found = job.wide ? tiles_differ<true, AtOnce>(job, w) : tiles_differ<false, AtOnce>(job, w);
  struct shunt_fingerprint part = {0, 0};
  if (w.is_first()) {
    found |= job.wide ? rest_differs<true>(job) : rest_differs<false>(job);
    if (threadIdx.x % 32 == 0) part = *expected;
  }
  part.lo += found;
  return part;
}

} // namespace sparse24
} // namespace shunt
