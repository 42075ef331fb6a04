// attention_softmax.cu: softmax over the rows of a matrix in the `vector` format.
//
//     P[i, j] = exp(x[i, j] - m[i]) / sum over row i of exp(x[i, j] - m[i]),   x = scale S
//
// A warp takes a group of 8 rows.  Lane l, g = l / 4, t = l % 4, reads of each step what the format
// has for it: row g of slots 2t, 2t + 1, 2t + 8, 2t + 9.
//
//   step   | l0 l1 .. l31 | 8 bytes each     first reading: the lane's largest x and the sum of
//   step   | l0 l1 .. l31 |                  exp(x - largest), which is scaled when the largest
//   ..     | ..           |                  grows; then those of a row's four lanes are joined
//          |              |                  second reading: writes
//
// Places that are no positions of the pattern count as -Inf and are written as 0.  A sum is
// kept relative to 0 instead of its largest x while that is -Inf, so that -Inf - -Inf comes up
// nowhere; the sum is then 0, and 0 / 0 is the NaN that the definition has for a row of -Inf alone.
// +Inf and NaN make the sum NaN by themselves.
//
// Roofline: 272 bytes a step read twice, 256 written once, for each problem; the second reading
// comes from L1 or L2 where a group's steps fit (100 steps: 27 KB).
#include "kernels/vector/attention/attention_common.cuh"

namespace shunt
{
namespace vector
{

constexpr int kSoftmaxWarps = 4;
constexpr float kLog2E = 1.4426950408889634f;

struct softmax_arguments {
  pattern p;
  const uint16_t *in;
  uint16_t *out;
  int64_t in_stride, out_stride; // elements
  float scale;
};

// e^x
__device__ __forceinline__ float exponential(float x)
{
  return exp2f(x * kLog2E);
}

// The largest x so far and the sum of exp(x - base()).
struct running_sum {
  float most = -INFINITY, sum = 0.0f;

  __device__ __forceinline__ float base() const { return most == -INFINITY ? 0.0f : most; }
  __device__ __forceinline__ void join(float other_most, float other_sum)
  {
    const float before = most;
    most = fmaxf(most, other_most);
    // A sum of nothing, or of -Inf alone, is 0 and scaled by exp(-Inf).
    sum = sum * exponential(before - base()) + other_sum * exponential(other_most - base());
  }
};

// x of the lane's four places of a step; -Inf where there is none.  Returns which are there.
template <class T>
__device__ __forceinline__ uint32_t load_scores(float (&x)[4], const softmax_arguments &a,
                                                const uint16_t *values, uint32_t step)
{
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const uint16_t *masks = reinterpret_cast<const uint16_t *>(a.p.masks) + uint64_t(step) * 8 + t;
  // The masks of two slots, low byte first; those of slots 2t + 8, 2t + 9 stand 8 bytes on.
  const uint32_t low = __ldg(masks) >> g, high = __ldg(masks + 4) >> g;
  const uint32_t there = (low & 1) | (low >> 7 & 2) | (high & 1) << 2 | (high >> 5 & 8);
  const uint2 raw = reinterpret_cast<const uint2 *>(values)[uint64_t(step) * 32 + lane];
  vec<T, 4> v;
  memcpy(&v, &raw, sizeof v);
#pragma unroll
  for (int i = 0; i < 4; i++) x[i] = there >> i & 1 ? a.scale * widen<float>(v.at[i]) : -INFINITY;
  return there;
}

template <class T>
__device__ __forceinline__ running_sum sum_row(const softmax_arguments &a, const uint16_t *values,
                                               uint32_t begin, uint32_t end)
{
  running_sum r;
  for (uint32_t step = begin; step < end; step++) {
    float x[4];
    load_scores<T>(x, a, values, step);
    const float most = fmaxf(fmaxf(x[0], x[1]), fmaxf(x[2], x[3]));
    const float base = most == -INFINITY ? 0.0f : most;
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) sum += exponential(x[i] - base);
    r.join(most, sum);
  }
#pragma unroll
  for (int other = 1; other <= 2; other *= 2) // the four lanes of the row
    r.join(__shfl_xor_sync(kAllLanes, r.most, other), __shfl_xor_sync(kAllLanes, r.sum, other));
  return r;
}

template <class T>
__global__ void __launch_bounds__(kSoftmaxWarps * 32)
    softmax_vector(const __grid_constant__ softmax_arguments a)
{
  const int group = blockIdx.x * kSoftmaxWarps + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (group >= a.p.groups) return;
  const uint16_t *in = a.in + blockIdx.y * a.in_stride;
  uint2 *out = reinterpret_cast<uint2 *>(a.out + blockIdx.y * a.out_stride);
  const uint32_t begin = a.p.begin[group], end = begin + a.p.count[group];
  const running_sum r = sum_row<T>(a, in, begin, end);
  const float base = r.base();

  for (uint32_t step = begin; step < end; step++) {
    float x[4];
    const uint32_t there = load_scores<T>(x, a, in, step);
#pragma unroll
    for (int i = 0; i < 4; i++) x[i] = there >> i & 1 ? exponential(x[i] - base) / r.sum : 0.0f;
    out[uint64_t(step) * 32 + lane] =
        make_uint2(pack_words<T>(x[0], x[1]), pack_words<T>(x[2], x[3]));
  }
}

template <class T>
static cudaError_t launch_softmax(const softmax_arguments &a, int64_t problems, cudaStream_t stream)
{
  return launch_warps<kSoftmaxWarps>(reinterpret_cast<const void *>(&softmax_vector<T>), a,
                                     a.p.groups, problems, stream);
}

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" shunt_status shunt_vector_softmax_cuda(const struct shunt_vector_softmax *p,
                                                  const struct shunt_vector *v,
                                                  const struct shunt_device *d, shunt_stream stream)
{
  const shunt_status s = shunt_check_softmax(p, v);
  if (s != SHUNT_OK) return s;
  if (d->compute_capability < 80) return SHUNT_E_UNSUPPORTED;
  const softmax_arguments a = {pattern_of(v), p->in, p->out, p->in_stride, p->out_stride, p->scale};
  const cudaError_t e = v->value_type == SHUNT_F16
                            ? launch_softmax<__half>(a, p->matrices, stream)
                            : launch_softmax<__nv_bfloat16>(a, p->matrices, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
