// srbcrs_softmax.cu: softmax over the entries of a matrix in strides, as integers
// (srbcrs_quantise.h).
//
// A warp takes a row: lane l has slot l of each of its group's strides, 128 bytes side by side.  Rows
// of up to 32 strides are read once, into registers:
//
//   stride   | l0 l1 .. l31 |     largest x of the lane, of the row
//   stride   | l0 l1 .. l31 |     sum of exp(x - largest), of the lane, of the row
//   ..       | ..           |     integers
//
// Longer ones are read once for each of these lines, out of L1 or L2 but the first time.
//
// Bound: the scores, 4 bytes a slot, read, and an exponential for each.
#include "kernels/common/early_launch.cuh"
#include "kernels/srbcrs/srbcrs_quantise.h"

namespace shunt
{
namespace srbcrs
{
namespace softmax
{

constexpr int kStride = SHUNT_SRBCRS_STRIDE, kWarps = 8; // of a block
constexpr unsigned kAll = 0xffffffffu;
constexpr float kLog2E = 1.4426950408889634f;

struct arguments {
  struct shunt_srbcrs v;
  const float *scores;
  float scale, largest, room; // L, and 2^(31 - bits_b), of srbcrs_quantise.h
  float *row_scales;
};

__device__ __forceinline__ float exponential(float x)
{
  return exp2f(x * kLog2E);
}
__device__ __forceinline__ bool is_finite(float x)
{
  return fabsf(x) <= 3.402823466e38f;
}

struct row_of_strides {
  const arguments &p;
  int64_t row, first, end; // strides first .. end - 1
  int lane, r;             // r: the row among its group's

  // -Inf where there is no entry: it adds nothing.  Scores by a plain load: the kernel in front, which
  // may still run when this one begins, has written them.
  __device__ __forceinline__ float x_of(int64_t s) const
  {
    if (!is_entry(s)) return -INFINITY;
    return p.scale * p.scores[(s * p.v.height + r) * kStride + lane];
  }
  __device__ __forceinline__ void put(int64_t s, float weight) const
  {
    const int q = static_cast<int>(rintf(weight));
    uint8_t *rows = p.v.values + s * p.v.height * kStride * p.v.bits / 8;
    rows[r * kStride + lane] = static_cast<uint8_t>(q);
    if (p.v.bits == 16) rows[(p.v.height + r) * kStride + lane] = static_cast<uint8_t>(q >> 8);
    if (p.v.bits != 12) return;
    // Two lanes' nibbles are a byte.
    const int upper = __shfl_down_sync(kAll, q, 16);
    uint8_t *nibbles = rows + p.v.height * kStride + r * kStride / 2;
    if (lane < 16) nibbles[lane] = static_cast<uint8_t>(q >> 8 | upper >> 8 << 4);
  }
  __device__ __forceinline__ bool is_entry(int64_t s) const
  {
    return __ldg(p.v.masks + s * kStride + lane) >> r & 1;
  }
  __device__ __forceinline__ void put_scale(float scale) const
  {
    if (lane == 0 && row < p.v.rows) p.row_scales[row] = scale;
  }
};

// NaN if any is: fmaxf passes over it.
__device__ __forceinline__ float larger(float a, float b)
{
  return a != a || b != b ? NAN : fmaxf(a, b);
}
__device__ __forceinline__ float largest_of_row(float mine)
{
  for (int other = 16; other > 0; other /= 2)
    mine = larger(mine, __shfl_xor_sync(kAll, mine, other));
  return mine;
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
__device__ __forceinline__ void no_weights(const row_of_strides &k)
{
  bool any = false;
  for (int64_t s = k.first; s < k.end; s++) {
    k.put(s, 0.0f);
    any |= k.is_entry(s);
  }
  k.put_scale(__any_sync(kAll, any) ? NAN : 0.0f);
}

// Of Held strides at most.
template <int Held> __device__ __forceinline__ void short_row(const row_of_strides &k)
{
  float x[Held], mine = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int i = 0; i < Held; i++) {
    x[i] = k.first + i < k.end ? k.x_of(k.first + i) : -INFINITY;
    mine = larger(mine, x[i]);
  }
  const float largest = largest_of_row(mine);
  if (!is_finite(largest)) return no_weights(k);
#pragma unroll
  for (int i = 0; i < Held; i++) sum += x[i] = exponential(x[i] - largest);
  sum = sum_of_row(sum);
  const float factor = factor_of(k.p, sum);
#pragma unroll
  for (int i = 0; i < Held; i++)
    if (k.first + i < k.end) k.put(k.first + i, factor * x[i]);
  k.put_scale(__fdiv_rn(1.0f, factor * sum));
}

__device__ __forceinline__ void long_row(const row_of_strides &k)
{
  float mine = -INFINITY, sum = 0.0f;
  for (int64_t s = k.first; s < k.end; s++) mine = larger(mine, k.x_of(s));
  const float largest = largest_of_row(mine);
  if (!is_finite(largest)) return no_weights(k);
  for (int64_t s = k.first; s < k.end; s++) sum += exponential(k.x_of(s) - largest);
  sum = sum_of_row(sum);
  const float factor = factor_of(k.p, sum);
  for (int64_t s = k.first; s < k.end; s++) k.put(s, factor * exponential(k.x_of(s) - largest));
  k.put_scale(__fdiv_rn(1.0f, factor * sum));
}

__global__ void __launch_bounds__(kWarps * 32) softmax_strides(const __grid_constant__ arguments p)
{
  wait_for_previous();
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int64_t group = row / p.v.height;
  if (group >= p.v.groups) return;
  const row_of_strides k = {p,
                            row,
                            p.v.begin[group] / kStride,
                            (p.v.end[group] + kStride - 1) / kStride,
                            static_cast<int>(threadIdx.x % 32),
                            static_cast<int>(row % p.v.height)};
  const int64_t strides = k.end - k.first;
  if (strides <= 8) return short_row<8>(k);
  if (strides <= 16) return short_row<16>(k);
  if (strides <= 32) return short_row<32>(k);
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
  const arguments k = {*v, p->scores, p->scale, largest, room, p->row_scales};
  return shunt::launch_early(softmax_strides, dim3(static_cast<unsigned>(blocks)),
                             dim3(kWarps * 32), d, stream, k);
}
