// srbcrs_attention.cuh: attention of integers, a group of V rows by a warp (srbcrs_attention.h).
//
// Three walks over the strides of the group, of which the first gathers rows of K and the last rows
// of V; scores of f16 stay in shared memory, 512 bytes a stride, between them:
//
//     1   S^T[32 slots x 8 rows] = K[32 slots x d] Q^T[d x 8 rows]       greatest score of a row
//     2   e = exp(S - greatest)                                           sum of a row
//     3   q = factor e, as bytes;   O^T[d x 8 rows] += V^T[d x 32 slots] q^T[32 slots x 8 rows]
//
// Lane l, g = l / 4, t = l % 4.  Products of the first walk are those of srbcrs_sddmm.cuh: a lane
// ends with slots 4g .. 4g + 3 of rows 2t and 2t + 1, eight scores, 16 bytes.  It alone reads them
// again, so that no lane waits for another but where a row's greatest score and its sum are put
// together, from the lanes of one t.
//
// The last walk wants row g of the group in lane (g, t).  Bytes of q, two slots of a row in 16
// bits, are two 8 x 8 matrices whose transposes movmatrix has (kernels/ptx/movmatrix.cuh):
//
//                  rows 0 .. 7                          quads 0 .. 7
//     quad 0    | l0 l1 l2 l3 |         quad: four   row 0 | l0 l1 l2 l3 |
//     ..        | ..          |   -->   slots of     ..    | ..          |
//     quad 7    | l28 .. l31  |         a stride     row 7 | l28 .. l31  |
//
//     first matrix: slots 0, 1 of each quad      second: slots 2, 3
//
// so that lane (g, t) gets slots 8t, 8t + 1, 8t + 4, 8t + 5 and 8t + 2, 8t + 3, 8t + 6, 8t + 7 of
// row g.  That is an order of the reduction that the mma may have, if V's rows are gathered in it.
// Weights of more than 8 bits are two bytes, both unsigned, as a weight is never negative.
//
// The sum of a row is that of srbcrs_softmax.cu bit by bit: partial sums of every fourth stride, of
// quads of slots; added up over strides first, then quads, in the same tree.
//
// Integers of less than 2^22 and floats: x + 1.5 x 2^23 has x in its low bits, rounded to the
// nearest, ties to even.  The accumulators of S begin with that number's bits, so that a
// subtraction makes a float of the sum; and q is the low bits of a sum.
//
// Bound: rows of K and V, gathered once for each vector out of L2: vectors x 2d bytes.  8192 rows,
// a twentieth of all 8 x 1 vectors, d = 64: 54 MB a problem, 9 us at 6 TB/s.
#pragma once
#include "kernels/ptx/exp2.cuh"
#include "kernels/ptx/movmatrix.cuh"
#include "kernels/srbcrs/attention/srbcrs_attention.h"
#include "kernels/srbcrs/srbcrs_integer_spmm.cuh"
#include "kernels/srbcrs/srbcrs_sddmm.cuh"

namespace shunt
{
namespace srbcrs
{
namespace attention
{

constexpr int kAttentionWarps = SHUNT_SRBCRS_ATTENTION_WARPS, kRows = 2; // rows: of a lane
constexpr unsigned kAll = 0xffffffffu;
constexpr float kShift = 12582912.0f; // 1.5 x 2^23
constexpr int kShiftBits = 0x4b400000;
constexpr float kLog2E = 1.4426950408889634f;

// Blocks of a multiprocessor that its registers are shared out to.
template <int Pieces, int Parts> constexpr int resident = Pieces + Parts < 4 ? 2 : 1;

struct arguments {
  struct shunt_srbcrs m;
  const uint8_t *q, *k, *v;
  uint32_t q_row_bytes, k_row_bytes, v_row_bytes; // products of 32 bits: a fourth of those of 64
  const float *q_scales, *k_scales;
  float scale, largest, room; // L, and R, of srbcrs_quantise.h
  int d, longest;
  scaled_store store; // of O, by v_scale
};

// Eight scores of a lane: slots 4g .. 4g + 3 of row 2t, then of row 2t + 1.
struct scores {
  __half2 of[kRows][2];
};

// K's rows in the slots of a lane: Pieces of 16 bytes, their scales, and the masks.
template <int Pieces> struct lane_keys {
  uint4 piece[4][Pieces];
  float scales[4];
  uint32_t masks;
};

// Row `row` of a matrix.
__device__ __forceinline__ const uint8_t *row_of(const uint8_t *first, uint32_t row, uint32_t bytes)
{
  return first + static_cast<uint64_t>(row) * bytes;
}

template <int Pieces> struct scorer {
  const arguments &p;
  const uint8_t
      *k[Pieces]; // row 0's; where a row has no such piece the first one: Q has zeros there
  const float *k_scales;
  int g, t;
  uint4 q[Pieces];     // of row g, zeros beyond d
  float of_row[kRows]; // scale x q_scales
  float most[kRows];   // greatest score, before it is rounded
  uint32_t seen;       // bit 8i + r: row 2t + r has an entry in a slot 4g + i

  __device__ __forceinline__ scorer(const arguments &a, int64_t group)
      : p(a), k_scales(a.k_scales + blockIdx.y * a.m.cols), g(threadIdx.x % 32 / 4),
        t(threadIdx.x % 4), most{-INFINITY, -INFINITY}, seen(0)
  {
    const int64_t first = group * a.m.height, of_all = blockIdx.y * a.m.rows + first;
    const bool exists = g < a.m.height && first + g < a.m.rows;
    const uint8_t *const row = a.q + (of_all + g) * a.q_row_bytes;
#pragma unroll
    for (int c = 0; c < Pieces; c++) {
      const int at = 64 * c + 16 * t;
      const int64_t bits = (a.d - at) * 8;
      k[c] = a.k + blockIdx.y * a.m.cols * a.k_row_bytes + (bits > 0 ? at : 0);
      q[c] = uint4{};
      if (exists && bits > 0) q[c] = *reinterpret_cast<const uint4 *>(row + at);
      q[c] = {sddmm::first_bits(q[c].x, bits), sddmm::first_bits(q[c].y, bits - 32),
              sddmm::first_bits(q[c].z, bits - 64), sddmm::first_bits(q[c].w, bits - 96)};
    }
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const int i = 2 * t + r;
      of_row[r] = i < a.m.height && first + i < a.m.rows ? a.scale * a.q_scales[of_all + i] : 0.0f;
    }
  }

  __device__ __forceinline__ sddmm::lane_lists lists(int64_t stride) const
  {
    const int64_t at = stride * kStride + 4 * g;
    return {__ldg(reinterpret_cast<const uint4 *>(p.m.columns + at)),
            __ldg(reinterpret_cast<const uint32_t *>(p.m.masks + at))};
  }

  __device__ __forceinline__ lane_keys<Pieces> gather(const sddmm::lane_lists &l) const
  {
    const uint32_t columns[4] = {l.columns.x, l.columns.y, l.columns.z, l.columns.w};
    lane_keys<Pieces> keys;
    keys.masks = l.masks;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
      for (int c = 0; c < Pieces; c++)
        keys.piece[i][c] =
            *reinterpret_cast<const uint4 *>(row_of(k[c], columns[i], p.k_row_bytes));
      keys.scales[i] = k_scales[columns[i]];
    }
    return keys;
  }

  template <int Step>
  __device__ __forceinline__ void multiply(int (&sums)[2][4], const lane_keys<Pieces> &keys,
                                           int c) const
  {
    uint32_t rows[2];
    sddmm::words_of<8, Step, 0>(q[c], rows);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint32_t even[2], odd[2];
      sddmm::words_of<8, Step, 0>(keys.piece[2 * h][c], even);
      sddmm::words_of<8, Step, 0>(keys.piece[2 * h + 1][c], odd);
      ptx::mma_m16n8k32<true, true>(sums[h], {even[0], odd[0], even[1], odd[1]}, rows);
    }
  }

  __device__ __forceinline__ scores score(const lane_keys<Pieces> &keys)
  {
    int sums[2][4];
#pragma unroll
    for (int i = 0; i < 8; i++) sums[i / 4][i % 4] = kShiftBits;
#pragma unroll
    for (int c = 0; c < Pieces; c++) multiply<0>(sums, keys, c), multiply<1>(sums, keys, c);
    const uint32_t masks = keys.masks >> 2 * t;
    scores to;
    seen |= masks;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      float x[4];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const float sum = __int_as_float(sums[i / 2][i % 2 * 2 + r]) - kShift;
        x[i] = masks >> (8 * i + r) & 1 ? sum * (of_row[r] * keys.scales[i]) : -INFINITY;
        most[r] = fmaxf(most[r], x[i]); // a NaN is passed over: it comes out of the sum
      }
      to.of[r][0] = __floats2half2_rn(x[0], x[1]), to.of[r][1] = __floats2half2_rn(x[2], x[3]);
    }
    return to;
  }
};

// The softmax of a lane's two rows.
struct weigher {
  float greatest[kRows], factor[kRows], row_scale[kRows]; // greatest: 0 where it is not finite
  bool finite[kRows];

  // exp(S - greatest): of slots 4g .. 4g + 3 of row r.
  __device__ __forceinline__ void exponentials(float (&e)[4], const scores &s, int r) const
  {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const __half2 pair = s.of[r][i / 2];
      const float x = i % 2 ? __high2float(pair) : __low2float(pair);
      e[i] = ptx::exp2_or_zero(__fmul_rn(x - greatest[r], kLog2E));
    }
  }

  template <int Pieces> __device__ __forceinline__ void set_greatest(const scorer<Pieces> &of)
  {
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      float most = of.most[r];
      for (int other = 4; other <= 16; other *= 2)
        most = fmaxf(most, __shfl_xor_sync(kAll, most, other));
      most = widen<float>(narrow<__half>(most));
      finite[r] = fabsf(most) <= 3.402823466e38f;
      greatest[r] = finite[r] ? most : 0.0f;
    }
  }

  // sums[r][j]: of strides j, j + 4, .. of the group.
  __device__ __forceinline__ void set_factors(const arguments &p, const float (&sums)[kRows][4],
                                              uint32_t seen)
  {
    for (int other = 4; other <= 16; other *= 2) seen |= __shfl_xor_sync(kAll, seen, other);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      float sum = sums[r][0] + sums[r][2] + (sums[r][1] + sums[r][3]);
      for (int other = 16; other >= 4; other /= 2) sum += __shfl_xor_sync(kAll, sum, other);
      const bool good = finite[r] && sum == sum;
      const float nothing = seen >> r & 0x01010101u ? NAN : 0.0f;
      const float most = fmaxf(1.0f, floorf(__fdiv_rn(p.room, sum)));
      factor[r] = good ? fminf(p.largest, most) : 0.0f;
      row_scale[r] = good ? __fdiv_rn(1.0f, factor[r] * sum) : nothing;
    }
  }

  // The weights as the mma's second operand.  Those of a row without entries are 0; in a row whose
  // scale is NaN they do not matter.
  template <int Parts>
  __device__ __forceinline__ void weights(uint32_t (&to)[Parts][2], const scores &s) const
  {
    uint32_t pairs[kRows][2]; // low bytes of two slots, then their high bytes
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      float e[4];
      uint32_t q[4];
      exponentials(e, s, r);
#pragma unroll
      for (int i = 0; i < 4; i++)
        q[i] = __float_as_uint(__fadd_rn(__fmul_rn(factor[r], e[i]), kShift));
      pairs[r][0] = ptx::permute_bytes(q[0], q[1], 0x5140);
      pairs[r][1] = ptx::permute_bytes(q[2], q[3], 0x5140);
    }
#pragma unroll
    for (int part = 0; part < Parts; part++)
#pragma unroll
      for (int w = 0; w < 2; w++)
        to[part][w] = ptx::movmatrix_trans(
            ptx::permute_bytes(pairs[0][w], pairs[1][w], part == 0 ? 0x5410 : 0x7632));
  }
};

// The last walk: X columns of V by a lane, 8X by the warp.
template <int X, int Parts> struct mixer {
  const arguments &p;
  const uint8_t *v; // where the lane's columns do not exist, the first ones
  int g, t, column0;
  bool inside;
  int d[Parts][X / 2][4];

  __device__ __forceinline__ mixer(const arguments &a)
      : p(a), v(a.v + blockIdx.y * a.m.cols * a.v_row_bytes), g(threadIdx.x % 32 / 4),
        t(threadIdx.x % 4), column0(g * X), d{}
  {
    inside = column0 < a.d;
    v += inside ? column0 : 0;
  }

  struct lane_list {
    uint4 columns[2]; // of slots 8t .. 8t + 7
  };
  __device__ __forceinline__ lane_list list(int64_t stride) const
  {
    const uint4 *const from =
        reinterpret_cast<const uint4 *>(p.m.columns + stride * kStride) + 2 * t;
    return {{__ldg(from), __ldg(from + 1)}};
  }

  // In the order of the weights.
  __device__ __forceinline__ lane_rows<X, 8> gather(const lane_list &l) const
  {
    const uint4 &low = l.columns[0], &high = l.columns[1];
    const uint32_t rows[8] = {low.x, low.y, high.x, high.y, low.z, low.w, high.z, high.w};
    lane_rows<X, 8> b;
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const uint8_t *const from = row_of(v, rows[i], p.v_row_bytes);
      if constexpr (X == 16) {
        const uint4 x = *reinterpret_cast<const uint4 *>(from);
        b.word[i][0] = x.x, b.word[i][1] = x.y, b.word[i][2] = x.z, b.word[i][3] = x.w;
      } else {
        const uint2 x = *reinterpret_cast<const uint2 *>(from);
        b.word[i][0] = x.x, b.word[i][1] = x.y;
      }
    }
    return b;
  }

  __device__ __forceinline__ void multiply(const lane_rows<X, 8> &b, const uint32_t (&w)[Parts][2])
  {
    uint32_t column[2][X];
    columns_of<X, 8, 0>(b, column);
#pragma unroll
    for (int part = 0; part < Parts; part++)
#pragma unroll
      for (int i = 0; i < X / 2; i++)
        ptx::mma_m16n8k32<true, false>(
            d[part][i], {column[0][i], column[0][i + X / 2], column[1][i], column[1][i + X / 2]},
            w[part]);
  }

  __device__ __forceinline__ void store(const weigher &w, int64_t group) const
  {
    if (!inside) return;
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      const int i = 2 * t + r;
      const int64_t row = group * p.m.height + i;
      if (i >= p.m.height || row >= p.m.rows) continue;
      int sums[X];
#pragma unroll
      for (int x = 0; x < X; x++) {
        int parts[Parts];
#pragma unroll
        for (int part = 0; part < Parts; part++)
          parts[part] = d[part][x % (X / 2)][x / (X / 2) * 2 + r];
        sums[x] = weighed<Parts>(parts);
      }
      const float by = factor_of(p.store.scaling, blockIdx.y, 0) * w.row_scale[r];
      with_float_type(p.store.scaling.type, [&](auto out) {
        p.store.template put_as<decltype(out)>(by, row, column0, p.d - column0, sums);
      });
    }
  }
};

// A warp's place in shared memory, the lane's 16 bytes of each stride.
__device__ __forceinline__ scores *scores_of_lane(int longest)
{
  extern __shared__ __align__(16) unsigned char shared[];
  return reinterpret_cast<scores *>(shared) + threadIdx.x / 32 * longest * 32 + threadIdx.x % 32;
}

// Strides first .. first + count - 1.
template <int Pieces>
__device__ __forceinline__ void score_strides(scorer<Pieces> &of, scores *to, int64_t first,
                                              int count)
{
  if (count == 0) return;
  sddmm::lane_lists next = of.lists(first);
  lane_keys<Pieces> now = of.gather(next);
  if (count > 1) next = of.lists(first + 1);
#pragma unroll 1
  for (int s = 1; s < count; s++, to += 32) {
    const lane_keys<Pieces> ahead = of.gather(next);
    if (s + 1 < count) next = of.lists(first + s + 1);
    *to = of.score(now);
    now = ahead;
  }
  *to = of.score(now);
}

__device__ __forceinline__ void sum_strides(const weigher &by, const scores *of, int count,
                                            float (&sums)[kRows][4])
{
#pragma unroll 1
  for (int s = 0; s < count; s += 4)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      if (s + j >= count) break;
      const scores x = of[(s + j) * 32];
#pragma unroll
      for (int r = 0; r < kRows; r++) {
        float e[4];
        by.exponentials(e, x, r);
        sums[r][j] += e[0] + e[1] + (e[2] + e[3]);
      }
    }
}

// A stride's rows of V, by the weights that its scores become.
template <int X, int Parts>
__device__ __forceinline__ void mix_stride(mixer<X, Parts> &to, const lane_rows<X, 8> &rows,
                                           const weigher &by, const scores &of)
{
  uint32_t weights[Parts][2];
  by.weights(weights, of);
  to.multiply(rows, weights);
}

template <int Pieces, int Parts>
__global__ void __launch_bounds__(kAttentionWarps * 32, resident<Pieces, Parts>)
    attention_strides(const __grid_constant__ arguments p)
{
  constexpr int X = 8 * Pieces;
  wait_for_previous();
  if (p.store.scaling.type != SHUNT_F32) let_next_in(); // shunt_type_is_read_early()
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kAttentionWarps + threadIdx.x / 32;
  if (group >= p.m.groups) return;
  const int64_t first = __ldg(p.m.begin + group) / kStride;
  const int64_t end = (__ldg(p.m.end + group) + kStride - 1) / kStride;
  const int count = static_cast<int>(end - first);
  scores *mine = scores_of_lane(p.longest);
  scorer<Pieces> of(p, group);
  mixer<X, Parts> to(p);
  weigher by;
  score_strides(of, mine, first, count);
  by.set_greatest(of);
  typename mixer<X, Parts>::lane_list next;
  lane_rows<X, 8> now;
  if (count > 0) now = to.gather(to.list(first)); // on its way while the sums are made
  if (count > 1) next = to.list(first + 1);
  float sums[kRows][4] = {};
  sum_strides(by, mine, count, sums);
  by.set_factors(p, sums, of.seen);
#pragma unroll 1
  for (int s = 1; s < count; s++, mine += 32) {
    const lane_rows<X, 8> ahead = to.gather(next);
    if (s + 1 < count) next = to.list(first + s + 1);
    mix_stride(to, now, by, *mine);
    now = ahead;
  }
  if (count > 0) mix_stride(to, now, by, *mine);
  to.store(by, group);
}

} // namespace attention
} // namespace srbcrs
} // namespace shunt
