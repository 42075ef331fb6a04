// sddmm_dense_wgmma_sample.cuh: the warps of sddmm_dense_wgmma.cuh that sample tiles of A B at C's
// pattern.
//
// A warp has every kSamplers-th row of each quarter of a tile, and keeps for each where it stands
// in C's row:
//
//   columns of row i   | before the block's tiles | tile t | tile t + 1 | .. | behind them |
//                                                 ^ position                 ^ end
//
// position and end are searched for once, where the block's tiles begin in a row of tiles and where
// they end; in between, a tile's piece goes on until a column lies beyond the tile, and the last
// tile's until the end.  The search probes places that depend on the row's begin and end alone, and
// goes on before the first one that holds no smaller column; so a larger column is never found
// before a smaller one whatever the row holds, and the pieces of all blocks adjoin: each entry is
// in one of them, rows sorted or not.  Where the row is not, some pieces hold entries of other
// tiles; those are multiplied here, one by one.
#pragma once
#include "kernels/number.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/sddmm_csr_common.cuh"
#include "kernels/spmm_dense_wgmma_frame.cuh"

namespace shunt
{
namespace sddmm_dense
{

constexpr int kRows = 128, kColumns = 256, kDepth = 64; // of a tile
constexpr int kPitch = kColumns + 8;                    // from row to row in shared memory
constexpr int kMultiplyingWarps = 8, kSamplers = 3;
constexpr int kThreads = 32 * (1 + kSamplers + kMultiplyingWarps);
constexpr int kQuarters = 4, kQuarterRows = kRows / kQuarters;
constexpr int kRowsEach = (kQuarterRows + kSamplers - 1) / kSamplers; // of a quarter, a warp's
constexpr int kChunks = 2; // of 32 entries of a row, at a time
constexpr uint32_t kAll = 0xffffffffu;

template <class T> struct operand {
  const T *values;
  int64_t row_stride, col_stride;
};

template <class T, class I> struct arguments {
  int steps;         // of K
  int tiles, across; // of C; in a row of tiles
  int64_t k;
  operand<T> a, b;
  sddmm::pattern<I> c;
  T *values; // of C
  scalar_arg<float> alpha;
};

// The block's tiles, one after the other: an equal share of all.
struct tile_walk {
  int tile, end, across; // number, in all; behind the last; tiles in a row of tiles
  int down, column;      // where the tile is
  __device__ __forceinline__ tile_walk(int tiles, int all_across) : across(all_across)
  {
    tile = (int)((int64_t)tiles * blockIdx.x / gridDim.x);
    end = (int)((int64_t)tiles * (blockIdx.x + 1) / gridDim.x);
    down = tile / across;
    column = tile % across;
  }
  __device__ __forceinline__ bool here() const { return tile < end; }
  __device__ __forceinline__ void advance()
  {
    tile++;
    if (++column == across) column = 0, down++;
  }
  // Tiles of this row of tiles that are still the block's, with this one.
  __device__ __forceinline__ int left() const { return min(end - tile, across - column); }
};

// Where columns at or behind `wanted` begin in a row's [begin, end).
template <class I> struct search {
  I begin, end, wanted;
  // Probes three places.  Without branches: those of several searches are under way together.
  __device__ __forceinline__ void step(const I *columns, I most)
  {
    const I quarter = (end - begin) / 4;
    const I first = begin + quarter, second = first + quarter, third = second + quarter;
    const bool goes_on = begin < end;
    const bool at_first = __ldg(columns + min(first, most)) >= wanted;
    const bool at_second = __ldg(columns + min(second, most)) >= wanted;
    const bool at_third = __ldg(columns + min(third, most)) >= wanted;
    const I from = at_first ? begin : at_second ? first + 1 : at_third ? second + 1 : third + 1;
    const I to = at_first ? first : at_second ? second : at_third ? third : end;
    begin = goes_on ? from : begin;
    end = goes_on ? to : end;
  }
};

// Where a lane stands in a row of C, and where that row's pieces end.  Lane l has row l % 16 of the
// warp's of quarter l / 16, or of quarter 2 + l / 16.
template <class I> struct piece {
  I position, end;
};

// In the first tile of the block's in a row of tiles.
template <class I>
__device__ __forceinline__ void find_pieces(const sddmm::pattern<I> &c, const tile_walk &at,
                                            int sampler, piece<I> (&of)[2])
{
  const int lane = threadIdx.x % 32, behind = at.column + at.left();
  search<I> from[2], to[2];
#pragma unroll
  for (int h = 0; h < 2; h++) {
    const int in_quarter = sampler + lane % 16 * kSamplers;
    const int64_t row = (int64_t)at.down * kRows + (2 * h + lane / 16) * kQuarterRows + in_quarter;
    const bool exists = in_quarter < kQuarterRows && row < c.rows;
    const I begin = exists ? __ldg(c.offsets + row) - c.base : 0;
    const I end = exists ? __ldg(c.offsets + row + 1) - c.base : 0;
    from[h] = {begin, at.column > 0 ? end : begin, I(at.column * kColumns) + c.base};
    to[h] = {behind < at.across ? begin : end, end, I(behind * kColumns) + c.base};
  }
  const I most = c.nnz - 1;
  while (__any_sync(kAll, from[0].begin < from[0].end || from[1].begin < from[1].end ||
                              to[0].begin < to[0].end || to[1].begin < to[1].end)) {
#pragma unroll
    for (int h = 0; h < 2; h++) {
      from[h].step(c.columns, most);
      to[h].step(c.columns, most);
    }
  }
#pragma unroll
  for (int h = 0; h < 2; h++)
    of[h] = {from[h].begin, to[h].begin};
}

// A column, of which 32 bits are enough: matrices have fewer.
template <class I> __device__ __forceinline__ int load_column(const I *at)
{
  return __ldg(reinterpret_cast<const int *>(at));
}

// Entries of a piece that are not the tile's: of [from, from + count) of `row` those not of the
// columns [first, first + kColumns), with the index base.
template <class T, class I>
__device__ __forceinline__ void multiply_strays(const arguments<T, I> &p, int64_t row, I from,
                                                int count, int first)
{
  const int lane = threadIdx.x % 32;
#pragma unroll 1
  for (int i = 0; i < count; i++) {
    const int away = load_column(p.c.columns + from + i) - first;
    if (away >= 0 && away < kColumns) continue;
    const int64_t column = __ldg(p.c.columns + from + i) - p.c.base;
    float sum = 0;
#pragma unroll 1
    for (int64_t k = lane; k < p.k; k += 32)
      sum = fmaf(widen<float>(p.a.values[row * p.a.row_stride + k * p.a.col_stride]),
                 widen<float>(p.b.values[k * p.b.row_stride + column * p.b.col_stride]), sum);
#pragma unroll
    for (int half = 16; half; half /= 2)
      sum += __shfl_xor_sync(kAll, sum, half);
    if (lane == 0) p.values[from + i] = narrow<T>(p.alpha.get() * sum);
  }
}

// The next columns of the warp's rows of a quarter, kChunks of 32 each; a lane has one of each
// chunk.  Rows have `left` more from its place on.
template <class I> struct chunks {
  I place[kRowsEach];
  int left[kRowsEach], column[kRowsEach][kChunks];

  __device__ __forceinline__ void load(const sddmm::pattern<I> &c, const piece<I> &own, int lane0)
  {
    const int lane = threadIdx.x % 32;
    const int more = static_cast<int>(min(I(own.end - own.position), I(32 * kChunks)));
#pragma unroll
    for (int i = 0; i < kRowsEach; i++) {
      place[i] = __shfl_sync(kAll, own.position, lane0 + i) + lane;
      left[i] = __shfl_sync(kAll, more, lane0 + i) - lane;
    }
#pragma unroll
    for (int i = 0; i < kRowsEach; i++)
#pragma unroll
      for (int j = 0; j < kChunks; j++)
        column[i][j] = load_column(c.columns + (left[i] > 32 * j ? I(place[i] + 32 * j) : I(0)));
  }
};

// What a warp is told of a quarter of a tile.
template <class T> struct quarter_place {
  int64_t row; // the warp's first
  const T *tile;
  int first; // column, with the index base
  bool last; // tile of the block's in this row of tiles
  int lane0; // of its rows
};

// The tile's piece of one row, whatever it holds.
template <class T, class I>
__device__ __forceinline__ void sample_row(const arguments<T, I> &p, const quarter_place<T> &at,
                                           int i, piece<I> &own)
{
  const int lane = threadIdx.x % 32;
  const I end = __shfl_sync(kAll, own.end, at.lane0 + i);
  I from = __shfl_sync(kAll, own.position, at.lane0 + i);
  int count = 32;
  for (; count == 32; from += count) {
    const I place = from + lane;
    const int away = load_column(p.c.columns + (place < end ? place : I(0))) - at.first;
    const bool here = away >= 0 && away < kColumns;
    const uint32_t beyond = __ballot_sync(kAll, place >= end || (!at.last && away >= kColumns));
    count = beyond ? __ffs(beyond) - 1 : 32;
    if (here && lane < count) p.values[place] = at.tile[i * kSamplers * kPitch + away];
    if (__any_sync(kAll, !here && lane < count))
      multiply_strays(p, at.row + i * kSamplers, from, count, at.first);
  }
  if (lane == at.lane0 + i) own.position = from;
}

// Stores what one chunk of each row names, the places of `mine`.
template <class T, class I>
__device__ __forceinline__ void store_chunk(const arguments<T, I> &p, const quarter_place<T> &at,
                                            const chunks<I> &columns, int j,
                                            const bool (&mine)[kRowsEach])
{
  T result[kRowsEach];
#pragma unroll
  for (int i = 0; i < kRowsEach; i++) {
    const int away = columns.column[i][j] - at.first;
    result[i] = at.tile[mine[i] ? i * kSamplers * kPitch + away : 0];
  }
#pragma unroll
  for (int i = 0; i < kRowsEach; i++)
    if (mine[i]) p.values[columns.place[i] + 32 * j] = result[i];
}

// Looks at one chunk of each row: which of its entries are the tile's, of all lanes in `own_row`
// for the lane's own row; whether one is neither that nor a later tile's.
template <class T, class I>
__device__ __forceinline__ bool look_at_chunk(const quarter_place<T> &at, const chunks<I> &columns,
                                              int j, bool (&mine)[kRowsEach], uint32_t &own_row)
{
  const int lane = threadIdx.x % 32;
  bool odd = false;
  uint32_t all[kRowsEach];
#pragma unroll
  for (int i = 0; i < kRowsEach; i++) {
    const int away = columns.column[i][j] - at.first;
    const bool exists = columns.left[i] > 32 * j;
    const bool here = away >= 0 && away < kColumns;
    mine[i] = exists && here;
    odd |= exists && !here && (away < 0 || at.last);
    all[i] = __ballot_sync(kAll, mine[i]);
  }
#pragma unroll
  for (int i = 0; i < kRowsEach; i++)
    if (lane == at.lane0 + i) own_row = all[i];
  return odd;
}

// Samples what `columns` name; whether a row may go on.  Each step is done for all rows before the
// next one: a row's steps wait for each other.
template <class T, class I>
__device__ __forceinline__ bool sample_chunks(const arguments<T, I> &p, const quarter_place<T> &at,
                                              const chunks<I> &columns, piece<I> &own)
{
  constexpr uint32_t full = 0xffffffffu;
  bool mine[2][kRowsEach];
  uint32_t first = 0, second = 0;
  bool odd = look_at_chunk<T, I>(at, columns, 0, mine[0], first);
  const bool both = __any_sync(kAll, first == full);
  if (both) odd |= look_at_chunk<T, I>(at, columns, 1, mine[1], second);
  // The tile's entries are the next ones, and no others.
  odd |= (first & (first + 1)) != 0 || (second & (second + 1)) != 0 || (second && first != full);
  if (__any_sync(kAll, odd)) {
#pragma unroll 1
    for (int i = 0; i < kRowsEach; i++)
      sample_row<T, I>(p, at, i, own);
    return false;
  }
  store_chunk<T, I>(p, at, columns, 0, mine[0]);
  if (!both) {
    own.position += __popc(first);
    return false;
  }
  store_chunk<T, I>(p, at, columns, 1, mine[1]);
  own.position += __popc(first) + __popc(second);
  return __any_sync(kAll, second == full);
}

template <class T, class I, class Board>
__device__ __forceinline__ void sample(const arguments<T, I> &p, int sampler, const T *tile,
                                       Board &b)
{
  piece<I> own[2]; // of this pair of quarters, of the other
  chunks<I> next;
  uint32_t parity = 0;
  bool begins = true; // the block's tiles of a row of tiles
  for (tile_walk at(p.tiles, p.across); at.here(); at.advance(), parity ^= 1) {
    const bool last = at.left() == 1;
    if (begins || at.column == 0) {
      find_pieces<I>(p.c, at, sampler, own);
      next.load(p.c, own[0], 0);
    }
    begins = false;
#pragma unroll 1
    for (int quarter = 0; quarter < kQuarters; quarter++) {
      const int row = quarter * kQuarterRows + sampler;
      const quarter_place<T> place = {(int64_t)at.down * kRows + row, tile + row * kPitch,
                                      at.column * kColumns + static_cast<int>(p.c.base), last,
                                      quarter % 2 * 16};
      chunks<I> columns = next;
      const bool other = quarter % 2;
      const piece<I> after = {other ? own[1].position : own[0].position,
                              other ? own[1].end : own[0].end};
      if (quarter < kQuarters - 1 || !last) next.load(p.c, after, 16 - place.lane0);
      dense_wgmma::wait_for(b.ready[quarter], parity);
      while (sample_chunks<T, I>(p, place, columns, own[0]))
        columns.load(p.c, own[0], place.lane0);
      __syncwarp();
      if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&b.sampled[quarter]));
      if (quarter % 2 == 0) continue;
      const piece<I> done = own[0];
      own[0] = own[1];
      own[1] = done;
    }
  }
}

} // namespace sddmm_dense
} // namespace shunt
