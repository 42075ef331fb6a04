// tile_walk.cuh: a block row of a CSR matrix, tile by tile, by one warp: what
// host_tile_from_csr.c does with 16 cursors.
//
// Lane r keeps row r's cursor.  A row's next 32 entries, which hold all that it has in the
// tile, are read coalesced, one row after the other, all 16 loads in flight:
//
// With merged columns: column by column, the leftmost that a row has its next entry in, of which
// all such rows take theirs.
//
//   bits     lane r: bit c of row r is an entry           (16 rows)
//   image    shared memory, 16 x 32 values where bits say so
#pragma once
#include <cuda_runtime.h>

#include "conv/tile/tile_order.cuh"

namespace shunt
{
namespace tile
{

constexpr int kRows = SHUNT_TILE_ROWS, kCols = SHUNT_TILE_COLS;

struct pack_job {
  const void *offsets, *columns;
  const uint16_t *values;
  int64_t rows, cols, nnz;
  int base, how;
  struct shunt_tile v; // begin == NULL: only the census is wanted
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

// ---- the walk over a block row -------------------------------------------------------

template <class I> struct walker {
  const pack_job &j;
  int64_t at, end, last; // lane r: what is left of row r, and the column before
  uint32_t tile;         // its first column / 32
  uint32_t bits;         // lane r: of row r; zero in lanes 16 ..
  uint32_t merged;       // lane p: column p of a merged tile
  uint16_t (*image)[kCols];
  bool irregular; // lane's own

  __device__ __forceinline__ walker(const pack_job &job, int64_t block, uint16_t (*image_at)[kCols])
      : j(job), at(0), end(0), last(-1), tile(0), bits(0), merged(0), image(image_at),
        irregular(false)
  {
    const int lane = threadIdx.x % 32;
    const I *offsets = static_cast<const I *>(j.offsets);
    const int64_t row = block * kRows + lane;
    if (lane >= kRows || row >= j.rows) return;
    at = from_base(offsets[row], j.base);
    end = from_base(offsets[row + 1], j.base);
    if (at < 0 || end < at || end > j.nnz) at = end = 0, irregular = true;
  }

  // The leftmost tile that a row has its next entry in; a row whose next entry breaks the
  // rules ends here.
  __device__ __forceinline__ bool find_tile()
  {
    unsigned mine = ~0u;
    if (at < end) {
      const int64_t c = from_base(static_cast<const I *>(j.columns)[at], j.base);
      if (c > last && c < j.cols)
        mine = static_cast<unsigned>(c / kCols);
      else
        at = end, irregular = true;
    }
    tile = __reduce_min_sync(kAll, mine);
    return tile != ~0u;
  }

  // Takes what row r has in the tile; (c, x): its next entries, one a lane.
  __device__ __forceinline__ void take_row(int r, int64_t c, uint16_t x)
  {
    const int lane = threadIdx.x % 32;
    const int64_t low = static_cast<int64_t>(tile) * kCols;
    const int64_t left = __shfl_sync(kAll, end - at, r);
    const int64_t neighbour = __shfl_up_sync(kAll, c, 1);
    const int64_t before = lane == 0 ? -1 : neighbour; // find_tile has looked at the first
    const bool taken = lane < left && c > before && c < low + kCols && c < j.cols;
    const unsigned stop = __ballot_sync(kAll, !taken);
    const int many = stop ? __ffs(stop) - 1 : 32;
    const int64_t new_last = __shfl_sync(kAll, c, many ? many - 1 : 0);
    const int place = static_cast<int>(c - low);
    if (lane < many) image[r][place] = x;
    const uint32_t found = __reduce_or_sync(kAll, lane < many ? 1u << place : 0u);
    if (lane != r) return;
    bits = found;
    at += many;
    if (many) last = new_last;
  }

  // The column of the lane's row's next entry; where that breaks the rules the row ends.
  __device__ __forceinline__ unsigned next_column()
  {
    if (at >= end) return ~0u;
    const int64_t c = from_base(static_cast<const I *>(j.columns)[at], j.base);
    if (c > last && c < j.cols) return static_cast<unsigned>(c);
    at = end, irregular = true;
    return ~0u;
  }

  __device__ __forceinline__ bool next_merged_tile()
  {
    const int lane = threadIdx.x % 32;
    int p = 0;
    bits = 0;
    __syncwarp(); // the tile before has been read
    unsigned mine = next_column();
    for (; p < kCols; p++) {
      const unsigned least = __reduce_min_sync(kAll, mine);
      if (least == ~0u) break;
      if (lane == p) merged = least;
      if (mine != least) continue;
      bits |= 1u << p;
      image[lane][p] = j.values[at++];
      last = least;
      mine = next_column();
    }
    const uint32_t first = __shfl_sync(kAll, merged, 0);
    if (lane >= p) merged = first;
    __syncwarp();
    return p > 0;
  }

  // Goes to the next tile that has entries; false when there is none.
  __device__ __forceinline__ bool next_tile()
  {
    if (j.how & SHUNT_TILE_MERGE) return next_merged_tile();
    const int lane = threadIdx.x % 32;
    const I *columns = static_cast<const I *>(j.columns);
    I c[kRows];
    uint16_t x[kRows];
    __syncwarp(); // the tile before has been read
    if (!find_tile()) return false;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const int64_t p = __shfl_sync(kAll, at, r) + lane, row_end = __shfl_sync(kAll, end, r);
      c[r] = 0, x[r] = 0;
      if (p < row_end) c[r] = columns[p], x[r] = j.values[p];
    }
#pragma unroll
    for (int r = 0; r < kRows; r++) take_row(r, from_base(c[r], j.base), x[r]);
    __syncwarp();
    return true;
  }
};

// ---- what a tile is --------------------------------------------------------------------

enum kind { PLAIN_24, REORDERED_24, DENSE };

// place: of lane's column in the packed tile if it is 2:4, else undefined.
__device__ __forceinline__ kind find_kind(uint32_t bits, int how, int &place)
{
  place = threadIdx.x % 32;
  if (how & SHUNT_TILE_DENSE) return DENSE;
  if (__all_sync(kAll, shunt_tile_is_24(bits))) return PLAIN_24;
  return how & SHUNT_TILE_REORDER && find_order(bits, place) ? REORDERED_24 : DENSE;
}

// Bit h: half h has entries.
__device__ __forceinline__ int halves_of(uint32_t bits)
{
  const uint32_t any = __reduce_or_sync(kAll, bits);
  return ((any & 0xffff) != 0) + 2 * (any >> 16 != 0);
}

} // namespace tile
} // namespace shunt
