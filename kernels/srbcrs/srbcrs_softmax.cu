// srbcrs_softmax.cu: softmax over the entries of a matrix in strides, as integers
// (srbcrs_quantise.h).
//
// A warp takes a row: lane l has slot l of each of its group's strides, 128 bytes side by side.
//
//   stride   | l0 l1 .. l31 |     first reading: the lane's largest x and the sum of
//   stride   | l0 l1 .. l31 |     exp(x - largest), scaled anew when the largest grows;
//   ..       | ..           |     then those of all lanes are joined; second reading: writes
//
// Bound: the scores, 4 bytes a slot, read twice, the second time out of L1 or L2.
#include <cuda_runtime.h>

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
  float scale;
};

__device__ __forceinline__ float exponential(float x)
{
  return exp2f(x * kLog2E);
}

// The largest x so far and the sum of exp(x - base()); while the largest is -Inf the sum is 0.
struct running_sum {
  float most = -INFINITY, sum = 0.0f;

  __device__ __forceinline__ float base() const { return most == -INFINITY ? 0.0f : most; }
  __device__ __forceinline__ void join(float other_most, float other_sum)
  {
    const float before = most;
    most = fmaxf(most, other_most);
    sum = sum * exponential(before - base()) + other_sum * exponential(other_most - base());
  }
};

struct row_of_strides {
  const arguments &p;
  int64_t first, end; // strides
  int lane, r;

  __device__ __forceinline__ bool is_entry(int64_t s) const
  {
    return __ldg(p.v.masks + s * kStride + lane) >> r & 1;
  }
  __device__ __forceinline__ float x_of(int64_t s) const
  {
    return p.scale * __ldg(p.scores + (s * p.v.height + r) * kStride + lane);
  }
  __device__ __forceinline__ running_sum sum() const
  {
    running_sum all;
    for (int64_t s = first; s < end; s++)
      if (is_entry(s)) {
        const float x = x_of(s);
        all.join(x, exponential(x - (x == -INFINITY ? 0.0f : x)));
      }
    for (int other = 16; other > 0; other /= 2)
      all.join(__shfl_xor_sync(kAll, all.most, other), __shfl_xor_sync(kAll, all.sum, other));
    return all;
  }
  __device__ __forceinline__ void put(int64_t s, int q) const
  {
    uint8_t *rows = p.v.values + s * p.v.height * kStride * p.v.bits / 8;
    rows[r * kStride + lane] = static_cast<uint8_t>(q);
    if (p.v.bits == 16) rows[(p.v.height + r) * kStride + lane] = static_cast<uint8_t>(q >> 8);
  }
};

__global__ void __launch_bounds__(kWarps * 32) softmax_strides(const __grid_constant__ arguments p)
{
  const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
  const int64_t group = row / p.v.height;
  if (group >= p.v.groups) return;
  const row_of_strides k = {p, p.v.begin[group] / kStride, (p.v.end[group] + kStride - 1) / kStride,
                            static_cast<int>(threadIdx.x % 32), static_cast<int>(row % p.v.height)};
  const float most = p.v.bits == 16 ? 32767.0f : 127.0f;
  const running_sum all = k.sum();
  const bool good = all.sum > 0 && all.sum <= 3.402823466e38f && all.most < INFINITY;
  for (int64_t s = k.first; s < k.end; s++) {
    int q = 0;
    if (good && k.is_entry(s))
      q = static_cast<int>(rintf(most * (exponential(k.x_of(s) - all.base()) / all.sum)));
    k.put(s, q);
  }
}

} // namespace softmax
} // namespace srbcrs
} // namespace shunt

extern "C" shunt_status shunt_srbcrs_softmax_cuda(const struct shunt_srbcrs_softmax *p,
                                                  const struct shunt_srbcrs *v,
                                                  const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt::srbcrs::softmax;
  (void)d;
  if (v->bits != 16 && v->bits != 8) return SHUNT_E_UNSUPPORTED;
  if (!p->scores || (uintptr_t)p->scores % 4) return SHUNT_E_ARGUMENT;
  const int64_t blocks = (v->groups * v->height + kWarps - 1) / kWarps;
  if (blocks > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  const arguments k = {*v, p->scores, p->scale};
  softmax_strides<<<static_cast<unsigned>(blocks), kWarps * 32, 0, stream>>>(k);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
