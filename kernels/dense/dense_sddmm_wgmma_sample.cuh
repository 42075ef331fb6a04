// dense_sddmm_wgmma_sample.cuh: the warps of dense_sddmm_wgmma.cuh that sample tiles of A B at C's
// pattern.
//
// A warp has every kSamplers-th group of kAtOnce rows of a tile, and keeps in shared memory where
// it stands in each row of C:
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
//
// Lost: four rows at once, eight lanes each (23.6 us for 22.9 at 4096 x 4096, K = 256, 90 % zeros);
// columns brought a tile ahead, which takes the loop over a warp's groups unrolled (26.6).  As
// good: eleven warps, two rows at once (21.2 where four rows by seven take 21.0); one row: 25.4.
#pragma once
#include "kernels/common/number.cuh"
#include "kernels/csr/csr_sddmm_common.cuh"
#include "kernels/dense/dense_spmm_wgmma_frame.cuh"
#include "kernels/ptx/mbarrier.cuh"

namespace shunt
{
namespace dense::sampled
{

constexpr int kRows = 128, kColumns = 256, kDepth = 64; // of a tile
constexpr int kMultiplyingWarps = 8, kSamplers = 7;
constexpr int kThreads = 32 * (1 + kSamplers + kMultiplyingWarps);
constexpr int kQuarters = 4;
constexpr int kAtOnce = 4, kGroups = kRows / kAtOnce; // rows that a warp samples at a time
constexpr int kChunks = 2;                            // of 32 entries of a row, at a time
constexpr uint32_t kAll = 0xffffffffu;

// A tile in shared memory, of results of type Out.  Of 2 bytes rows are padded, of 4 there is no room
// for that: columns are turned by the row instead, in eights, which keeps eight rows that are
// written at once out of each other's banks as well.
template <class Out> struct tile_of {
  static constexpr bool kPadded = sizeof(Out) == 2;
  static constexpr int kPitch = kPadded ? kColumns + 8 : kColumns;
  static constexpr int kBytes = kRows * kPitch * (int)sizeof(Out);
  static __device__ __forceinline__ int place(int row, int column)
  {
    return row * kPitch + (kPadded ? column : column ^ row % 8 * 8);
  }
};

template <class T> struct operand {
  const T *values;
  int64_t row_stride, col_stride;
};

template <class T, class Out, class I> struct arguments {
  int steps;         // of K
  int tiles, across; // of C; in a row of tiles
  int64_t k, few;    // few: entries of a C whose rows have some 20 in a tile
  operand<T> a, b;
  csr::sddmm::pattern<I> c;
  Out *values; // of C
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
  // Without branches: those of several searches are under way together.
  __device__ __forceinline__ void step(const I *columns, I most)
  {
    const I middle = begin + (end - begin) / 2;
    const bool goes_on = begin < end;
    const bool at = __ldg(columns + min(middle, most)) >= wanted;
    begin = goes_on && !at ? middle + 1 : begin;
    end = goes_on && at ? middle : end;
  }
};

// Where rows of C stand, and where their pieces end.
template <class I> struct pieces {
  vec<I, kAtOnce> position[kGroups], end[kGroups];
};

// In the first tile of the block's in a row of tiles: of the warp's rows.
template <class I>
__device__ __forceinline__ void find_pieces(const csr::sddmm::pattern<I> &c, const tile_walk &at,
                                            int sampler, pieces<I> &of)
{
  static_assert((kGroups + kSamplers - 1) / kSamplers * kAtOnce <= 32, "a lane for each row");
  const int lane = threadIdx.x % 32, behind = at.column + at.left();
  const int group = sampler + lane / kAtOnce * kSamplers, i = lane % kAtOnce;
  const int64_t row = (int64_t)at.down * kRows + group * kAtOnce + i;
  const bool exists = group < kGroups && row < c.rows;
  const I first = exists ? __ldg(c.offsets + row) - c.base : 0;
  const I end = exists ? __ldg(c.offsets + row + 1) - c.base : 0;
  search<I> from = {first, at.column > 0 ? end : first, I(at.column * kColumns) + c.base};
  search<I> to = {behind < at.across ? first : end, end, I(behind * kColumns) + c.base};
  while (__any_sync(kAll, from.begin < from.end || to.begin < to.end)) {
    from.step(c.columns, c.nnz - 1);
    to.step(c.columns, c.nnz - 1);
  }
  if (group < kGroups) {
    of.position[group].at[i] = from.begin;
    of.end[group].at[i] = to.begin;
  }
  __syncwarp();
}

// A column, of which 32 bits are enough: matrices have fewer.
template <class I> __device__ __forceinline__ int load_column(const I *at)
{
  return __ldg(reinterpret_cast<const int *>(at));
}

// Entries of a piece that are not the tile's: of [from, from + count) of `row` those not of the
// columns [first, first + kColumns), with the index base.
template <class T, class Out, class I>
__device__ __forceinline__ void multiply_strays(const arguments<T, Out, I> &p, int64_t row, I from,
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
    for (int half = 16; half; half /= 2) sum += __shfl_xor_sync(kAll, sum, half);
    if (lane == 0) p.values[from + i] = narrow<Out>(p.alpha.get() * sum);
  }
}

constexpr int kAbsent = INT32_MAX; // behind all columns

// The next columns of a group of rows, kChunks of 32 each or one; a lane has one of each chunk.
template <class I> struct chunks {
  int column[kAtOnce][kChunks];

  __device__ __forceinline__ void load(const csr::sddmm::pattern<I> &c, const pieces<I> &of,
                                       int group, bool one)
  {
    const int lane = threadIdx.x % 32;
    const vec<I, kAtOnce> position = of.position[group], end = of.end[group];
#pragma unroll
    for (int i = 0; i < kAtOnce; i++) {
      const I place = position.at[i] + lane;
      column[i][0] = column[i][1] = kAbsent;
      if (place < end.at[i]) column[i][0] = load_column(c.columns + place);
    }
    if (one) return;
#pragma unroll
    for (int i = 0; i < kAtOnce; i++) {
      const I place = position.at[i] + lane + 32;
      if (place < end.at[i]) column[i][1] = load_column(c.columns + place);
    }
  }
};

// What a warp is told of a group of rows of a tile.
template <class Out> struct group_place {
  int64_t row; // the first
  const Out *tile;
  int group, first; // column, with the index base
  bool last;        // tile of the block's in this row of tiles

  // The tile's result of row i of the group.
  __device__ __forceinline__ Out result(int i, int away) const
  {
    return tile[tile_of<Out>::place(group * kAtOnce + i, away)];
  }
};

// The tile's piece of row i of the group, whatever it holds.
template <class T, class Out, class I>
__device__ __forceinline__ void sample_row(const arguments<T, Out, I> &p,
                                           const group_place<Out> &at, int i, pieces<I> &of)
{
  const int lane = threadIdx.x % 32;
  const I end = of.end[at.group].at[i];
  I from = of.position[at.group].at[i];
  int count = 32;
  for (; count == 32; from += count) {
    const I place = from + lane;
    const int away = load_column(p.c.columns + (place < end ? place : I(0))) - at.first;
    const bool here = away >= 0 && away < kColumns;
    const uint32_t beyond = __ballot_sync(kAll, place >= end || (!at.last && away >= kColumns));
    count = beyond ? __ffs(beyond) - 1 : 32;
    if (here && lane < count) p.values[place] = at.result(i, away);
    if (__any_sync(kAll, !here && lane < count))
      multiply_strays(p, at.row + i, from, count, at.first);
  }
  __syncwarp();
  if (lane == 0) of.position[at.group].at[i] = from;
}

// Looks at one chunk of each row: which of its entries are the tile's; whether they are the next
// ones and no others.
template <class Out, class I>
__device__ __forceinline__ bool look(const group_place<Out> &at, const chunks<I> &next, int chunk,
                                     uint32_t (&mine)[kAtOnce])
{
  int least = 0;
  bool holes = false;
#pragma unroll
  for (int i = 0; i < kAtOnce; i++) {
    const int away = next.column[i][chunk] - at.first;
    least = min(least, away);
    mine[i] = __ballot_sync(kAll, static_cast<uint32_t>(away) < kColumns);
    holes |= (mine[i] & (mine[i] + 1)) != 0;
  }
  return holes || __any_sync(kAll, least < 0);
}

// Stores the tile's.
template <class T, class Out, class I>
__device__ __forceinline__ void store(const arguments<T, Out, I> &p, const group_place<Out> &at,
                                      const chunks<I> &next, int chunk,
                                      const vec<I, kAtOnce> &position)
{
  const int lane = threadIdx.x % 32;
  Out result[kAtOnce];
#pragma unroll
  for (int i = 0; i < kAtOnce; i++) {
    const int away = next.column[i][chunk] - at.first;
    if (static_cast<uint32_t>(away) < kColumns) result[i] = at.result(i, away);
  }
#pragma unroll
  for (int i = 0; i < kAtOnce; i++)
    if (static_cast<uint32_t>(next.column[i][chunk] - at.first) < kColumns)
      p.values[position.at[i] + lane + 32 * chunk] = result[i];
}

// Samples what is there of a group of rows' pieces; one: the first chunks only.  Each step is done
// for all rows before the next one: a row's steps wait for each other.  Whether a piece may go on.
template <class T, class Out, class I>
__device__ __forceinline__ bool sample_chunks(const arguments<T, Out, I> &p,
                                              const group_place<Out> &at, const chunks<I> &next,
                                              bool one, pieces<I> &of)
{
  const vec<I, kAtOnce> position = of.position[at.group];
  uint32_t first[kAtOnce], second[kAtOnce] = {};
  bool odd = look(at, next, 0, first), full = false;
#pragma unroll
  for (int i = 0; i < kAtOnce; i++) full |= first[i] == kAll;
  bool more = full;
  if (full && !one) {
    odd |= look(at, next, 1, second);
    more = false;
#pragma unroll
    for (int i = 0; i < kAtOnce; i++) {
      odd |= second[i] && first[i] != kAll;
      more |= second[i] == kAll;
    }
  }
  vec<I, kAtOnce> behind;
#pragma unroll
  for (int i = 0; i < kAtOnce; i++)
    behind.at[i] = position.at[i] + __popc(first[i]) + __popc(second[i]);
  if (at.last && !more) { // all that is left is the tile's
    const vec<I, kAtOnce> end = of.end[at.group];
#pragma unroll
    for (int i = 0; i < kAtOnce; i++) odd |= behind.at[i] != end.at[i];
  }
  if (odd) {
#pragma unroll 1
    for (int i = 0; i < kAtOnce; i++) sample_row(p, at, i, of);
    return false;
  }
  store(p, at, next, 0, position);
  if (full && !one) store(p, at, next, 1, position);
  if (threadIdx.x % 32 == 0) of.position[at.group] = behind;
  __syncwarp();
  return more;
}

// Samples a group of rows, whose next columns are there.  Those that follow them are not brought
// into the same registers: the compiler would wait for loads where the first are looked at, and so
// for the next group's, which are under way then: 22.9 us at 4096 x 4096, K = 256, 90 % zeros,
// where this takes 21.0.
template <class T, class Out, class I>
__device__ __forceinline__ void sample_group(const arguments<T, Out, I> &p,
                                             const group_place<Out> &at, const chunks<I> &next,
                                             bool one, pieces<I> &of)
{
  bool more = sample_chunks(p, at, next, one, of);
#pragma unroll 1
  while (more) {
    chunks<I> behind;
    behind.load(p.c, of, at.group, false);
    more = sample_chunks(p, at, behind, false, of);
  }
}

template <class T, class Out, class I, class State>
__device__ __forceinline__ void sample(const arguments<T, Out, I> &p, int sampler, const Out *tile,
                                       pieces<I> &of, State &b)
{
  constexpr int of_quarter = kGroups / kQuarters;
  static_assert(of_quarter >= kSamplers, "each warp tells of each quarter");
  chunks<I> next;
  // Of pieces that seldom have more than 32 entries, but 32 are brought at once.
  const bool one = p.c.nnz <= p.few;
  uint32_t parity = 0;
  bool begins = true; // the block's tiles of a row of tiles
  for (tile_walk at(p.tiles, p.across); at.here(); at.advance(), parity ^= 1) {
    const bool last = at.left() == 1;
    if (begins || at.column == 0) {
      find_pieces(p.c, at, sampler, of);
      next.load(p.c, of, sampler, one);
    }
    begins = false;
#pragma unroll 1
    for (int group = sampler; group < kGroups; group += kSamplers) {
      const int row = group * kAtOnce, quarter = group / of_quarter, after = group + kSamplers;
      const group_place<Out> place = {(int64_t)at.down * kRows + row, tile, group,
                                      at.column * kColumns + static_cast<int>(p.c.base), last};
      const chunks<I> columns = next;
      if (after < kGroups || !last) next.load(p.c, of, after < kGroups ? after : sampler, one);
      dense::wait_for(b.ready[quarter], parity);
      sample_group(p, place, columns, one, of);
      __syncwarp();
      if (after / of_quarter != quarter && threadIdx.x % 32 == 0)
        ptx::mbarrier_arrive(ptx::shared_address(&b.sampled[quarter]));
    }
  }
}

} // namespace dense::sampled
} // namespace shunt
