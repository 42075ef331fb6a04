// srbcrs_spmm.cuh: V rows of A times 8X columns of B by a warp, or by four warps of a block that
// share the group's strides.
//
// The sparse operand stands on the 8-side of mma.m16n8k32, B's columns on the 16-side:
//
//     D[16 columns of C x 8 rows]  =  B^T[16 columns x 32 slots]  A^T[32 slots x 8 rows] + D
//
// A's operand is the format as it lies: lane (g, t), g = l / 4, t = l % 4, has row g of slots
// 4t .. 4t + 3 and 4t + 16 .. 4t + 19, two words (four of 16 bits, three of 12, one of 4); lanes with
// g >= V have zeros.  B's is made of what srbcrs_gather.cuh gathers.  Of more than 8 bits, each
// operand is two parts
// (srbcrs_parts.cuh), each pair of which is an mma of its own.
//
// Which column of C is which row of D is free: D's row g is column gX + i of C, its row g + 8 column
// gX + i + X / 2, in mma number i of the stride's X / 2.  So lane (g, t) ends with X columns side by
// side of rows 2t and 2t + 1 of the group:
//
//     d[i][0], d[i][1]  column gX + i,          rows 2t, 2t + 1
//     d[i][2], d[i][3]  column gX + i + X / 2,  rows 2t, 2t + 1
//
// B's rows of the next stride are on their way while a stride is multiplied, and the lists of the
// one behind it.
//
// Bound: B, 32 rows of 8X columns a stride out of L2 and L1: vectors x n x bits / 8 bytes.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/common/number.cuh"
#include "kernels/srbcrs/srbcrs_format.h"
#include "kernels/srbcrs/srbcrs_gather.cuh"

namespace shunt
{
namespace srbcrs
{

constexpr int kStride = SHUNT_SRBCRS_STRIDE, kWarps = 4; // of a block that multiply

// A block has one set of kWarps warps that multiply, or several, each of which has units of its own.
template <int Sets> __device__ __forceinline__ int set_of_warp()
{
  return Sets == 1 ? 0 : threadIdx.x / (kWarps * 32);
}
// Of the warps that share a unit, where others of the block have no part in it.
constexpr int kUnitBarrier = 1;
template <int Sets> __device__ __forceinline__ void unit_barrier()
{
  __barrier_sync_count(kUnitBarrier + set_of_warp<Sets>(), kWarps * 32);
}

// From so many columns on sectors are stored whole: for fewer there are too few warps to hide what the
// exchange takes (tests/bench/srbcrs.md).
constexpr int kPairedColumns = 256;

// Store: what becomes of sums, by store.put(row, column, room, sums): X of a row from `column` on,
// of which `room` columns exist; kWords: a result has four bytes; kEarly: launched while the kernel
// before it runs, and B's integers are signed or not, as store.is_unsigned says.
template <class Store> struct arguments {
  struct shunt_srbcrs v;
  const uint8_t *b; // row-major; pointer and b_row_bytes multiples of 16, no ragged last piece
  int64_t b_row_bytes;
  int n;
  Store store;
  int64_t values_bytes; // from one problem's values of A to the next one's
  bool next_waits;      // as in shunt_spmm

  // Only what the softmax stands before comes in several.
  static __device__ __forceinline__ int64_t problem() { return Store::kEarly ? blockIdx.y : 0; }
  __device__ __forceinline__ bool b_is_unsigned() const
  {
    if constexpr (Store::kEarly) return store.is_unsigned;
    return false;
  }
};

// The stride's lists as a lane needs them: the rows of B in its eight slots, its words of A.
template <int BitsA> struct lane_lists {
  uint4 rows[2];
  uint32_t a[BitsA / 4];
};

// Part Part of the lane's words of A, of slots 4t .. and of slots 4t + 16 ..
template <int BitsA, int Part>
__device__ __forceinline__ void words_of_a(const lane_lists<BitsA> &l, uint32_t (&to)[2])
{
  constexpr int kNibbles = BitsA == 4 ? 0 : 2; // the word of them
  if constexpr (BitsA == 4 || (BitsA == 12 && Part == 1))
    to[0] = bytes_of_low_nibbles(l.a[kNibbles]), to[1] = bytes_of_high_nibbles(l.a[kNibbles]);
  else
    to[0] = l.a[2 * Part], to[1] = l.a[2 * Part + 1];
}

template <class Store, int BitsA, int BitsB, int X, bool SignedA> struct multiplier {
  static constexpr int kPartsA = parts_of<BitsA>, kPartsB = parts_of<BitsB>;
  static constexpr int kWeights = weights_of<BitsA, BitsB>;
  const arguments<Store> &p;
  int lane, column0; // this lane's first column
  bool inside;
  int d[kWeights][X / 2][4];

  __device__ __forceinline__ multiplier(const arguments<Store> &args, int first)
      : p(args), lane(threadIdx.x % 32), column0(first + threadIdx.x % 32 / 4 * X), d{}
  {
    inside = column0 < p.n;
  }

  // By a plain load where the kernel in front, which may still run when this one begins, can have
  // written A's values: the softmax.
  static __device__ __forceinline__ uint32_t word_of_a(const uint32_t *from)
  {
    if constexpr (Store::kEarly) return *from;
    return __ldg(from);
  }

  __device__ __forceinline__ lane_lists<BitsA> lists(int64_t stride) const
  {
    const int g = lane / 4, t = lane % 4;
    const uint4 *columns = reinterpret_cast<const uint4 *>(p.v.columns + stride * kStride);
    lane_lists<BitsA> l = {{__ldg(columns + t), __ldg(columns + t + 4)}, {}};
    if (g >= p.v.height) return l;
    // 32 slots of so many bits are as many words; those of whole bytes stand first.
    const uint32_t *a =
        reinterpret_cast<const uint32_t *>(p.v.values + p.problem() * p.values_bytes) +
        stride * p.v.height * BitsA;
    const uint32_t *const nibbles = a + (BitsA == 12 ? p.v.height * 8 : 0) + g * 4 + t;
    const uint32_t *const bytes = a + g * 8 + t, *const high = bytes + p.v.height * 8;
    if constexpr (BitsA >= 8) l.a[0] = word_of_a(bytes), l.a[1] = word_of_a(bytes + 4);
    if constexpr (BitsA == 16) l.a[2] = word_of_a(high), l.a[3] = word_of_a(high + 4);
    if constexpr (BitsA == 12) l.a[2] = word_of_a(nibbles);
    if constexpr (BitsA == 4) l.a[0] = word_of_a(nibbles);
    return l;
  }

  __device__ __forceinline__ lane_rows<X, BitsB> gather(const lane_lists<BitsA> &l) const
  {
    const uint32_t row[8] = {l.rows[0].x, l.rows[0].y, l.rows[0].z, l.rows[0].w,
                             l.rows[1].x, l.rows[1].y, l.rows[1].z, l.rows[1].w};
    lane_rows<X, BitsB> b = {};
    if (!inside) return b;
    const uint8_t *const from =
        p.b + p.problem() * p.v.cols * p.b_row_bytes + static_cast<int64_t>(column0) * BitsB / 8;
#pragma unroll
    for (int i = 0; i < 8; i++) load_words(from + row[i] * p.b_row_bytes, b.word[i]);
    return b;
  }

  template <int PartA, int PartB, bool SignedB>
  __device__ __forceinline__ void multiply_parts(const uint32_t (&column)[2][X],
                                                 const lane_lists<BitsA> &l)
  {
    uint32_t a[2];
    words_of_a<BitsA, PartA>(l, a);
#pragma unroll
    for (int i = 0; i < X / 2; i++) {
      const uint32_t columns[4] = {column[0][i], column[0][i + X / 2], column[1][i],
                                   column[1][i + X / 2]};
      mma_of_parts<PartB, kPartsB, PartA, kPartsA, SignedB, SignedA>(d[PartA + PartB][i], columns,
                                                                     a);
    }
  }

  template <int PartB, bool SignedB>
  __device__ __forceinline__ void multiply_columns(const uint32_t (&column)[2][X],
                                                   const lane_lists<BitsA> &l)
  {
    multiply_parts<0, PartB, SignedB>(column, l);
    if constexpr (kPartsA == 2) multiply_parts<1, PartB, SignedB>(column, l);
  }

  template <int PartB>
  __device__ __forceinline__ void multiply_part(const lane_rows<X, BitsB> &b,
                                                const lane_lists<BitsA> &l)
  {
    uint32_t column[2][X];
    columns_of<X, BitsB, PartB>(b, column, nibble_signs(p.b_is_unsigned()));
    // Nibbles have become signed bytes, and of two parts the low one is never signed.
    if (BitsB > 4 && PartB == kPartsB - 1 && p.b_is_unsigned())
      multiply_columns<PartB, false>(column, l);
    else
      multiply_columns<PartB, true>(column, l);
  }

  // Strides first, first + by, .. before end.  ready(), when the first lists are asked for: returns
  // once B may be read and C written.
  template <class Ready>
  __device__ __forceinline__ void walk(int64_t first, int64_t end, int by, const Ready &ready)
  {
    if (first >= end) return ready();
    lane_lists<BitsA> next = {};
    lane_lists<BitsA> now = lists(first);
    ready();
    lane_rows<X, BitsB> b = gather(now);
    if (first + by < end) next = lists(first + by);
    for (int64_t s = first; s < end; s += by) {
      const lane_lists<BitsA> a = now;
      lane_rows<X, BitsB> ahead = {};
      if (s + by < end) ahead = gather(next);
      now = next;
      if (s + 2 * by < end) next = lists(s + 2 * by);
      multiply_part<0>(b, a);
      if constexpr (kPartsB == 2) multiply_part<1>(b, a);
      b = ahead;
    }
  }

  __device__ __forceinline__ int sum_of(int column, int h) const
  {
    int parts[kWeights];
#pragma unroll
    for (int w = 0; w < kWeights; w++) parts[w] = d[w][column % (X / 2)][column / (X / 2) * 2 + h];
    return weighed<kWeights>(parts);
  }

  // The lane's columns of rows 2t and 2t + 1 of the group.  May: a warp has the group to itself.
  template <bool May> __device__ __forceinline__ void store(int64_t group) const
  {
    constexpr bool may = May && Store::kWords && X % 8 == 0;
    const bool pairs = may && p.n >= kPairedColumns;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int r = lane % 4 * 2 + h;
      const int64_t row = group * p.v.height + r;
      const bool has_row = r < p.v.height && row < p.v.rows;
      int sums[X];
#pragma unroll
      for (int i = 0; i < X; i++) sums[i] = sum_of(i, h);
      if constexpr (may)
        if (pairs) store_in_pairs(row, has_row, sums);
      if (!pairs && has_row && inside) p.store.put(row, column0, p.n - column0, sums);
    }
  }

  // A lane and its neighbour g ^ 1 store a sector of L2, 32 bytes, at a time: of each eight columns
  // that a lane has, four go to the other.
  //
  //     columns   0 .. 3   4 .. 7 |  8 .. 11  12 .. 15      X = 8
  //     summed    even     even   |  odd      odd           lane of the pair
  //     stored    even     odd    |  even     odd           first the left half, then the right one
  __device__ __forceinline__ void store_in_pairs(int64_t row, bool has_row,
                                                 const int (&sums)[X]) const
  {
    const int odd = lane / 4 % 2;
#pragma unroll
    for (int i = 0; i < X; i += 8) {
      int four[2][4]; // of the even lane's columns, of the odd one's
#pragma unroll
      for (int j = 0; j < 4; j++) {
        const int low = sums[i + j], high = sums[i + j + 4];
        const int other = __shfl_xor_sync(0xffffffffu, odd ? low : high, 4);
        four[0][j] = odd ? other : low, four[1][j] = odd ? high : other;
      }
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const int column = column0 + (k - odd) * X + i + 4 * odd;
        if (has_row && column < p.n) p.store.put(row, column, p.n - column, four[k]);
      }
    }
  }

  // The four warps' sums, added up in the first one.
  template <int Sets> __device__ __forceinline__ void add_up(int warp)
  {
    __shared__ int of_sets[Sets][kWarps - 1][X * 2][32];
    auto &sums = of_sets[set_of_warp<Sets>()];
#pragma unroll
    for (int w = 0; w < kWeights; w++) {
      if (w > 0) unit_barrier<Sets>(); // the last weight's sums are read
      if (warp > 0)
#pragma unroll
        for (int i = 0; i < X * 2; i++) sums[warp - 1][i][lane] = d[w][i / 4][i % 4];
      unit_barrier<Sets>();
      if (warp > 0) continue;
#pragma unroll
      for (int i = 0; i < X * 2; i++)
#pragma unroll
        for (int other = 0; other < kWarps - 1; other++)
          d[w][i / 4][i % 4] = add<int32_t>(d[w][i / 4][i % 4], sums[other][i][lane]);
    }
  }
};

// Unit u: group u / wide, columns 8X (u % wide) .. of C; Split warps a unit.  Piece i: the units of
// a set of warps.
template <class Store, int BitsA, int BitsB, int X, int Split, bool SignedA, int Sets, class Ready>
__device__ __forceinline__ void multiply_piece(const arguments<Store> &p, int64_t i,
                                               const Ready &ready)
{
  static_assert(Split == 1 || Split == kWarps, "a warp or all of them a unit");
  const int warp = threadIdx.x / 32 % kWarps, wide = (p.n + 8 * X - 1) / (8 * X);
  const int64_t unit = i * (kWarps / Split) + warp / Split;
  const int64_t group = unit / wide;
  if (Split == 1 && group >= p.v.groups) return;
  multiplier<Store, BitsA, BitsB, X, SignedA> m(p, static_cast<int>(unit % wide) * 8 * X);
  const int64_t begin = p.v.begin[group] / kStride;
  const int64_t end = (p.v.end[group] + kStride - 1) / kStride;
  m.walk(begin + warp % Split, end, Split, ready);
  if constexpr (Split > 1) {
    m.template add_up<Sets>(warp);
    if (warp > 0) return;
  }
  m.template store<Split == 1>(group);
}

// A piece a block; the grid's y is the problem.
template <class Store, int BitsA, int BitsB, int X, int Split, bool SignedA>
__global__ void __launch_bounds__(kWarps * 32)
    spmm_strides(const __grid_constant__ arguments<Store> p)
{
  wait_for_previous();
  if (p.next_waits) let_next_in();
  multiply_piece<Store, BitsA, BitsB, X, Split, SignedA, 1>(p, blockIdx.x, [] {});
}

} // namespace srbcrs
} // namespace shunt
