// srbcrs_attention_real.cuh: attention with scores of integers and V of f16, bf16 or e4m3, a group of V
// rows by a warp (srbcrs_attention.h).
//
// The first walk is that of srbcrs_attention.cuh.  One more, for each 64 columns of V, makes the
// weights, their sums, and the products; so nothing but the greatest score has to be known before:
//
//     1   S^T[32 slots x 8 rows] = K[32 slots x d] Q^T[d x 8 rows]       greatest score of a row
//     2   w = exp(S - greatest)                                           sum of a row
//         O^T[64 x 8 rows] += V^T[64 x 32 slots] w^T[32 slots x 8 rows]
//
// Lane l, g = l / 4, t = l % 4, has scores of slots 4g .. 4g + 3 of rows 2t and 2t + 1.  Both rows'
// weights of slot 4g + s are a register, of an 8 x 8 matrix (quads x rows) that movmatrix
// transposes:
//
//     matrix s:  quad q, row r  -->  lane (g, t) has slots 8t + s and 8t + 4 + s of row g
//
// so that matrices 0 and 1 are the second operand of one mma of 16 slots, 2 and 3 of another.  A
// lane gathers columns 8g .. 8g + 7 of V's rows in slots 8t .. 8t + 7; two byte permutes put two
// rows' elements of a column side by side.  Tile m of four has columns 8g + 2m and 8g + 2m + 1.
//
// A weight of 0 meets V's rows in slots that other rows of the group have, which may hold Inf or
// NaN; and sums of bf16 may overflow.  So a result that is no finite number is computed again, from
// the row's entries alone, by the lane that has it.
//
// Of e4m3 numbers become f16 on the way, 2^-8 of them, and weights are f16.
//
// Kept: scores stay in shared memory, as in srbcrs_attention.cuh.  Where a group has too many they
// are computed again in the second walk.
//
// Bound: rows of K and V out of L2, vectors x 3d bytes: 82 MB a problem, 14 us at 6 TB/s, for 8192
// rows, a twentieth of all 8 x 1 vectors, d = 64.
#pragma once
#include "kernels/ptx/mma.cuh"
#include "kernels/srbcrs/attention/srbcrs_attention_launch.cuh"
#include "kernels/srbcrs/attention/srbcrs_e4m3.cuh"

namespace shunt
{
namespace srbcrs
{
namespace attention
{

// V's type, what it is multiplied as, and eight of a row.
template <class T> struct v_type {
  static constexpr bool kIsE4m3 = false;
  using product = T;
  using piece = uint4;
};
struct e4m3 {
  uint8_t bits;
};
template <> struct v_type<e4m3> {
  static constexpr bool kIsE4m3 = true;
  using product = __half;
  using piece = uint2;
};

// Two numbers of V's type side by side, and the product of them.
__device__ __forceinline__ uint32_t pair_of(float low, float high, __half)
{
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const uint32_t *>(&pair);
}
__device__ __forceinline__ uint32_t pair_of(float low, float high, __nv_bfloat16)
{
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t *>(&pair);
}
__device__ __forceinline__ void multiply_real(float (&d)[4], const uint32_t (&a)[4],
                                              const uint32_t (&b)[2], __half)
{
  ptx::mma_m16n8k16_f16(d, a, b);
}
__device__ __forceinline__ void multiply_real(float (&d)[4], const uint32_t (&a)[4],
                                              const uint32_t (&b)[2], __nv_bfloat16)
{
  ptx::mma_m16n8k16_bf16(d, a, b);
}

// V of the block's problem.
template <class T> __device__ __forceinline__ const T *v_of(const real_arguments &p)
{
  if constexpr (v_type<T>::kIsE4m3)
    return reinterpret_cast<const T *>(p.a.v + blockIdx.y * p.a.m.cols * p.a.v_row_bytes);
  const T *const v = static_cast<const T *>(p.v.values);
  const scaled_store &o = p.a.store;
  if (o.count == 1) return v;
  const int64_t z = o.first + blockIdx.y;
  return v + z / o.heads * p.v.batch_stride + z % o.heads * p.v.head_stride;
}

template <class T> __device__ __forceinline__ int64_t row_stride_of(const real_arguments &p)
{
  return v_type<T>::kIsE4m3 ? p.a.v_row_bytes : p.v.row_stride;
}
// What sums over V are multiplied by.
template <class T> __device__ __forceinline__ float factor_of_v(const real_arguments &p)
{
  if constexpr (v_type<T>::kIsE4m3) return factor_of(p.a.store.scaling, blockIdx.y, 0) * kOfHalves;
  return 1.0f;
}

// Columns 2m and 2m + 1 of two rows: each a pair.
__device__ __forceinline__ void columns_of_pair(const uint4 &low, const uint4 &high, int m,
                                                uint32_t &even, uint32_t &odd)
{
  const uint32_t l = m == 0 ? low.x : m == 1 ? low.y : m == 2 ? low.z : low.w;
  const uint32_t h = m == 0 ? high.x : m == 1 ? high.y : m == 2 ? high.z : high.w;
  even = ptx::permute_bytes(l, h, 0x5410);
  odd = ptx::permute_bytes(l, h, 0x7632);
}
__device__ __forceinline__ void columns_of_pair(const uint2 &low, const uint2 &high, int m,
                                                uint32_t &even, uint32_t &odd)
{
  const uint32_t l = m < 2 ? low.x : low.y, h = m < 2 ? high.x : high.y;
  even = m % 2 ? halves_of_e4m3<2>(l, h) : halves_of_e4m3<0>(l, h);
  odd = m % 2 ? halves_of_e4m3<3>(l, h) : halves_of_e4m3<1>(l, h);
}

// Row r of the group: what its weights are made with.
struct real_row {
  int r;
  float greatest, by; // by: 1 / (sum of the weights)
};

// One element of O, from the row's entries alone.
template <class T>
__device__ __noinline__ float exact_element(const real_arguments &p, int64_t group, real_row of,
                                            int column)
{
  const arguments &a = p.a;
  const int64_t row = blockIdx.y * a.m.rows + group * a.m.height + of.r;
  const int8_t *const q = reinterpret_cast<const int8_t *>(a.q) + row * a.q_row_bytes;
  const float of_row = a.scale * a.q_scales[row];
  float sum = 0;
  for (uint32_t s = a.m.begin[group]; s < a.m.end[group]; s++) {
    if (!(a.m.masks[s] >> of.r & 1)) continue;
    const int64_t j = a.m.columns[s], key = blockIdx.y * a.m.cols + j;
    const int8_t *const k = reinterpret_cast<const int8_t *>(a.k) + key * a.k_row_bytes;
    int dot = 0;
    for (int c = 0; c < a.d; c++) dot += q[c] * k[c];
    const float x = static_cast<float>(dot) * (of_row * a.k_scales[key]);
    const float score = widen<float>(narrow<__half>(x));
    const float e = ptx::exp2_or_zero(__fmul_rn(score - of.greatest, kLog2E));
    const float weight = widen<float>(narrow<T>(e)) * of.by;
    sum += weight * widen<float>(v_of<T>(p)[j * p.v.row_stride + column]);
  }
  return sum;
}

// The second walk: 64 columns of V by the warp, 8 by a lane.
template <class T> struct real_mixer {
  using product = typename v_type<T>::product;
  using piece = typename v_type<T>::piece;
  const real_arguments &p;
  const T *v; // where the lane's columns do not exist, the first ones
  int g, t, column0;
  bool inside;
  float d[4][4];
  float sums[kRows]; // of the lane's weights

  __device__ __forceinline__ real_mixer(const real_arguments &a, int first)
      : p(a), v(v_of<T>(a)), g(threadIdx.x % 32 / 4), t(threadIdx.x % 4),
        column0(first + 8 * g), d{}, sums{}
  {
    inside = column0 < p.a.d;
    v += inside ? column0 : 0;
  }

  struct lane_list {
    uint4 columns[2]; // of slots 8t .. 8t + 7
  };
  __device__ __forceinline__ lane_list list(int64_t stride) const
  {
    const uint4 *const from =
        reinterpret_cast<const uint4 *>(p.a.m.columns + stride * kStride) + 2 * t;
    return {{__ldg(from), __ldg(from + 1)}};
  }

  struct rows {
    piece of[4][2]; // of slots 8t + s and 8t + 4 + s
  };
  __device__ __forceinline__ rows gather(const lane_list &l) const
  {
    const uint32_t slots[4][2] = {{l.columns[0].x, l.columns[1].x},
                                  {l.columns[0].y, l.columns[1].y},
                                  {l.columns[0].z, l.columns[1].z},
                                  {l.columns[0].w, l.columns[1].w}};
    rows b;
#pragma unroll
    for (int s = 0; s < 4; s++)
#pragma unroll
      for (int i = 0; i < 2; i++)
        b.of[s][i] = *reinterpret_cast<const piece *>(v + slots[s][i] * row_stride_of<T>(p));
    return b;
  }

  // The weights of a stride: matrix s.
  __device__ __forceinline__ void weights(uint32_t (&to)[4], const scores &x, const weigher &by)
  {
    float e[kRows][4];
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      by.exponentials(e[r], x, r);
      sums[r] += e[r][0] + e[r][1] + (e[r][2] + e[r][3]);
    }
#pragma unroll
    for (int s = 0; s < 4; s++) to[s] = ptx::movmatrix_trans(pair_of(e[0][s], e[1][s], product()));
  }

  __device__ __forceinline__ void multiply(const rows &b, const uint32_t (&w)[4])
  {
#pragma unroll
    for (int h = 0; h < 4; h += 2)
#pragma unroll
      for (int m = 0; m < 4; m++) {
        uint32_t a[4];
#pragma unroll
        for (int s = 0; s < 2; s++)
          columns_of_pair(b.of[h + s][0], b.of[h + s][1], m, a[2 * s], a[2 * s + 1]);
        multiply_real(d[m], a, {w[h], w[h + 1]}, product());
      }
  }

  __device__ __forceinline__ void store(const weigher &w, uint32_t seen, int64_t group)
  {
    for (int other = 4; other <= 16; other *= 2) seen |= __shfl_xor_sync(kAll, seen, other);
#pragma unroll
    for (int r = 0; r < kRows; r++) {
      float sum = sums[r];
      for (int other = 4; other <= 16; other *= 2) sum += __shfl_xor_sync(kAll, sum, other);
      const bool any = seen >> r & 0x01010101u, good = any && w.finite[r] && sum == sum;
      const real_row of = {2 * t + r, w.greatest[r], __fdiv_rn(factor_of_v<T>(p), sum)};
      const int64_t row = group * p.a.m.height + of.r;
      if (!inside || of.r >= p.a.m.height || row >= p.a.m.rows) continue;
      float x[8];
#pragma unroll
      for (int i = 0; i < 8; i++) {
        x[i] = good ? d[i / 2][i % 2 * 2 + r] * of.by : any ? NAN : 0.0f;
        if constexpr (!v_type<T>::kIsE4m3) // which has neither Inf nor NaN
          if (good && !(fabsf(x[i]) <= 3.402823466e38f))
            x[i] = exact_element<T>(p, group, of, column0 + i);
      }
      with_float_type(p.a.store.scaling.type, [&](auto out) {
        p.a.store.template put_as<decltype(out)>(1.0f, row, column0, p.a.d - column0, x);
      });
    }
  }
};

// Both walks of 64 columns; `mine`: the lane's scores, if they are kept.
template <class T, int Pieces, bool Kept>
__device__ __forceinline__ void mix_strides(const real_arguments &p, scorer<Pieces> &of,
                                            const weigher &by, const scores *mine, int64_t first,
                                            int count, int column, int64_t group)
{
  real_mixer<T> to(p, column);
  typename real_mixer<T>::lane_list next = {};
  typename real_mixer<T>::rows now = {};
  if (count > 0) now = to.gather(to.list(first));
  if (count > 1) next = to.list(first + 1);
#pragma unroll 1
  for (int s = 0; s < count; s++) {
    typename real_mixer<T>::rows ahead = now;
    if (s + 1 < count) ahead = to.gather(next);
    if (s + 2 < count) next = to.list(first + s + 2);
    uint32_t weights[4];
    to.weights(weights, Kept ? mine[s * 32] : of.score(of.gather(of.lists(first + s))), by);
    to.multiply(now, weights);
    now = ahead;
  }
  to.store(by, of.seen, group);
}

// The greatest scores, where none are kept.
template <int Pieces>
__device__ __forceinline__ void look_at_strides(scorer<Pieces> &of, int64_t first, int count)
{
#pragma unroll 1
  for (int s = 0; s < count; s++) of.score(of.gather(of.lists(first + s)));
}

template <class T, int Pieces, bool Kept>
__global__ void __launch_bounds__(kAttentionWarps * 32, 2)
    attention_strides_real(const __grid_constant__ real_arguments p)
{
  wait_for_previous();
  const arguments &a = p.a;
  if (a.store.scaling.type != SHUNT_F32) let_next_in(); // shunt_type_is_read_early()
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kAttentionWarps + threadIdx.x / 32;
  if (group >= a.m.groups) return;
  const int64_t first = __ldg(a.m.begin + group) / kStride;
  const int64_t end = (__ldg(a.m.end + group) + kStride - 1) / kStride;
  const int count = static_cast<int>(end - first);
  scores *const mine = Kept ? scores_of_lane(a.longest) : nullptr;
  scorer<Pieces> of(a, group);
  weigher by;
  if constexpr (Kept)
    score_strides(of, mine, first, count);
  else
    look_at_strides(of, first, count);
  by.set_greatest(of);
#pragma unroll 1
  for (int column = 0; column < a.d; column += 64)
    mix_strides<T, Pieces, Kept>(p, of, by, mine, first, count, column, group);
}

} // namespace attention
} // namespace srbcrs
} // namespace shunt
