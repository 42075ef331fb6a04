// srbcrs_softmax.cu: softmax over the entries of a matrix in strides, as integers
// (srbcrs_quantise.h).
//
// A warp takes a row, the grid's y is the problem.  Four strides at once:
// eight lanes have a stride, each four of its slots: a
// load of four scores, one of four masks, and a store of four integers for each part.
//
//   lanes     0 .. 7       8 .. 15      16 .. 23     24 .. 31
//   step 0    | stride 0 | | stride 1 | | stride 2 | | stride 3 |     largest x of the row
//   step 1    | stride 4 | | stride 5 | | stride 6 | | stride 7 |     sum of exp(x - largest)
//   ..                                                                integers
//
// Rows of up to 32 strides are read once, into registers, all loads before the first use; longer
// ones once for each of the lines on the right, out of L1 or L2 but the first time.
//
// Bound: the scores, 4 or 2 bytes a slot, read, and an exponential for each.
#include "kernels/common/early_launch.cuh"
#include "kernels/common/number.cuh"
#include "kernels/srbcrs/attention/srbcrs_quantise.h"

namespace shunt
{
namespace srbcrs
{
namespace softmax
{

constexpr int kStride = SHUNT_SRBCRS_STRIDE, kWarps = 8; // of a block
constexpr int kQuad = 4, kAtOnce = 32 * kQuad / kStride; // slots of a lane, strides of a warp
constexpr int kLanes = kStride / kQuad;                  // of a stride
constexpr unsigned kAll = 0xffffffffu;
constexpr float kLog2E = 1.4426950408889634f;

struct arguments {
  struct shunt_srbcrs v;
  const void *scores;
  float scale, largest, room; // L, and 2^(31 - bits_b), of srbcrs_quantise.h
  float *row_scales;
  int64_t places; // from one problem's scores and integers to the next one's
};

__device__ __forceinline__ float exponential(float x)
{
  return exp2f(x * kLog2E);
}
__device__ __forceinline__ bool is_finite(float x)
{
  return fabsf(x) <= 3.402823466e38f;
}

// What a lane has of four slots: scores, exponentials.
struct quad {
  float at[kQuad];
};

// The lane's quad of a step is of stride first + 4 step; beyond `end` it has none.
template <class Score> struct row_of_strides {
  const arguments &p;
  int64_t row, first, end; // the row's strides, from the lane's first one
  int steps;               // of the warp
  int at, r;               // at: the lane's first slot in a stride; r: the row among its group's

  __device__ __forceinline__ int64_t stride(int step) const
  {
    return first + static_cast<int64_t>(step) * kAtOnce;
  }
  // Byte i is 1 where the row has an entry in slot i of the quad.
  __device__ __forceinline__ uint32_t entries(int step) const
  {
    const int64_t s = stride(step);
    if (s >= end) return 0;
    const uint32_t masks = __ldg(reinterpret_cast<const uint32_t *>(p.v.masks + s * kStride + at));
    return masks >> r & 0x01010101u;
  }
  // -Inf where there is no entry: it adds nothing.  Scores by a plain load: the kernel in front, which
  // may still run when this one begins, has written them.
  __device__ __forceinline__ quad x_of(int step) const
  {
    const uint32_t mine = entries(step);
    const int64_t place = (stride(step) * p.v.height + r) * kStride + at;
    const Score *const from = static_cast<const Score *>(p.scores) + blockIdx.y * p.places + place;
    vec<Score, kQuad> scores = {};
    if (stride(step) < end) scores = *reinterpret_cast<const vec<Score, kQuad> *>(from);
    quad x;
#pragma unroll
    for (int i = 0; i < kQuad; i++)
      x.at[i] = mine >> 8 * i & 1 ? p.scale * widen<float>(scores.at[i]) : -INFINITY;
    return x;
  }
  // Part 1: what lies above the low bytes.
  static __device__ __forceinline__ uint32_t bytes(const int (&q)[kQuad], int part)
  {
    uint32_t word = 0;
#pragma unroll
    for (int i = 0; i < kQuad; i++) word |= (q[i] >> 8 * part & 255u) << 8 * i;
    return word;
  }
  // All lanes of the warp together.
  __device__ __forceinline__ void put(int step, float factor, const quad &e) const
  {
    int q[kQuad];
#pragma unroll
    for (int i = 0; i < kQuad; i++) q[i] = __float2int_rn(factor * e.at[i]);
    const bool inside = stride(step) < end;
    const int64_t of_stride = p.v.height * kStride / 8 * p.v.bits;
    uint8_t *const low = p.v.values + blockIdx.y * (p.places / 8 * p.v.bits) +
                         stride(step) * of_stride + r * kStride + at;
    uint8_t *const high = low + p.v.height * kStride;
    if (inside) *reinterpret_cast<uint32_t *>(low) = bytes(q, 0);
    if (p.v.bits == 8) return;
    const uint32_t above = bytes(q, 1);
    if (p.v.bits == 16) {
      if (inside) *reinterpret_cast<uint32_t *>(high) = above;
      return;
    }
    // The nibbles of slots 16 apart are a byte.
    const uint32_t upper = __shfl_down_sync(kAll, above, kLanes / 2);
    if (inside && at < kStride / 2)
      *reinterpret_cast<uint32_t *>(high - r * kStride / 2) = above | upper << 4;
  }
  __device__ __forceinline__ void put_scale(float scale) const
  {
    if (threadIdx.x % 32 == 0 && row < p.v.rows) p.row_scales[blockIdx.y * p.v.rows + row] = scale;
  }
};

// A NaN is passed over: it comes out of the sum.
__device__ __forceinline__ float larger(float mine, const quad &x)
{
  return fmaxf(mine, fmaxf(fmaxf(x.at[0], x.at[1]), fmaxf(x.at[2], x.at[3])));
}
__device__ __forceinline__ float largest_of_row(float mine)
{
  for (int other = 16; other > 0; other /= 2)
    mine = fmaxf(mine, __shfl_xor_sync(kAll, mine, other));
  return mine;
}
__device__ __forceinline__ quad exponentials(const quad &x, float largest)
{
  quad e;
#pragma unroll
  for (int i = 0; i < kQuad; i++) e.at[i] = exponential(x.at[i] - largest);
  return e;
}
__device__ __forceinline__ float sum_of(const quad &e)
{
  return e.at[0] + e.at[1] + (e.at[2] + e.at[3]);
}
__device__ __forceinline__ float sum_of_row(float mine)
{
  for (int other = 16; other > 0; other /= 2) mine += __shfl_xor_sync(kAll, mine, other);
  return mine;
}

// What exp(x - largest) is multiplied by.
__device__ __forceinline__ float factor_of(const arguments &p, float sum)
{
  return fminf(p.largest, fmaxf(1.0f, floorf(__fdiv_rn(p.room, sum))));
}

// No entries, or not all of them numbers.
template <class Score> __device__ __forceinline__ void no_weights(const row_of_strides<Score> &k)
{
  uint32_t any = 0;
  for (int i = 0; i < k.steps; i++) {
    k.put(i, 0.0f, quad{});
    any |= k.entries(i);
  }
  k.put_scale(__any_sync(kAll, any != 0) ? NAN : 0.0f);
}

// Of Held steps at most.
template <int Held, class Score>
__device__ __forceinline__ void short_row(const row_of_strides<Score> &k)
{
  quad x[Held];
  float mine = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int i = 0; i < Held; i++) x[i] = k.x_of(i);
#pragma unroll
  for (int i = 0; i < Held; i++) mine = larger(mine, x[i]);
  const float largest = largest_of_row(mine);
  if (!is_finite(largest)) return no_weights(k);
#pragma unroll
  for (int i = 0; i < Held; i++) {
    x[i] = exponentials(x[i], largest);
    sum += sum_of(x[i]);
  }
  sum = sum_of_row(sum);
  if (sum != sum) return no_weights(k);
  const float factor = factor_of(k.p, sum);
#pragma unroll
  for (int i = 0; i < Held; i++)
    if (i < k.steps) k.put(i, factor, x[i]);
  k.put_scale(__fdiv_rn(1.0f, factor * sum));
}

template <class Score> __device__ __forceinline__ void long_row(const row_of_strides<Score> &k)
{
  float mine = -INFINITY, sum = 0.0f;
  for (int i = 0; i < k.steps; i++) mine = larger(mine, k.x_of(i));
  const float largest = largest_of_row(mine);
  if (!is_finite(largest)) return no_weights(k);
  for (int i = 0; i < k.steps; i++) sum += sum_of(exponentials(k.x_of(i), largest));
  sum = sum_of_row(sum);
  if (sum != sum) return no_weights(k);
  const float factor = factor_of(k.p, sum);
  for (int i = 0; i < k.steps; i++) k.put(i, factor, exponentials(k.x_of(i), largest));
  k.put_scale(__fdiv_rn(1.0f, factor * sum));
}

template <class Score>
__global__ void __launch_bounds__(kWarps * 32) softmax_strides(const __grid_constant__ arguments p)
{
  wait_for_previous();
  let_next_in();
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int64_t group = row / p.v.height;
  if (group >= p.v.groups) return;
  const int lane = threadIdx.x % 32;
  const int64_t first = p.v.begin[group] / kStride;
  const int64_t end = (p.v.end[group] + kStride - 1) / kStride;
  const int steps = static_cast<int>((end - first + kAtOnce - 1) / kAtOnce);
  const row_of_strides<Score> k = {p,
                                   row,
                                   first + lane / kLanes,
                                   end,
                                   steps,
                                   lane % kLanes * kQuad,
                                   static_cast<int>(row % p.v.height)};
  if (steps <= 2) return short_row<2>(k);
  if (steps <= 4) return short_row<4>(k);
  if (steps <= 8) return short_row<8>(k);
  long_row(k);
}

} // namespace softmax
} // namespace srbcrs
} // namespace shunt

extern "C" shunt_status shunt_srbcrs_softmax_cuda(const struct shunt_srbcrs_softmax *p,
                                                  const struct shunt_srbcrs *v,
                                                  const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt::srbcrs::softmax;
  const shunt_status s = shunt_srbcrs_softmax_check(p, v);
  if (s != SHUNT_OK) return s;
  const int64_t blocks = (v->groups * v->height + kWarps - 1) / kWarps;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  const float largest = shunt_srbcrs_largest(v);
  const float room = static_cast<float>(INT64_C(1) << (31 - p->bits_b));
  const arguments k = {*v, p->scores, p->scale, largest, room, p->row_scales, p->problems.places};
  const dim3 grid(static_cast<unsigned>(blocks),
                  static_cast<unsigned>(shunt_srbcrs_count(&p->problems)));
  if (p->score_type == SHUNT_F16)
    return shunt::launch_early(softmax_strides<__half>, grid, dim3(kWarps * 32), d, stream, k);
  return shunt::launch_early(softmax_strides<float>, grid, dim3(kWarps * 32), d, stream, k);
}
