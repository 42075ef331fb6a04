// attention_slice.cuh: the way of one warp through the steps of a group, or a slice of them;
// attention.cuh says what is held where.
#pragma once
#include "kernels/ptx/ldst.cuh"
#include "kernels/vector/attention/attention_common.cuh"

namespace shunt
{
namespace vector
{

constexpr int kAttentionWarps = 8;
constexpr float kAttentionLog2E = 1.4426950408889634f;

struct attention_arguments {
  pattern p;
  matrices q, k, v, o;
  int heads, log2_slices;
  float scale;
};

// How D is spread over lanes, words and mma.
template <int D_> struct head_shape {
  static constexpr int D = D_;
  static constexpr int kKeyWords = D >= 32 ? 4 : 2, kKeyPieces = D / (8 * kKeyWords);
  static constexpr int kValueWords = D >= 64 ? 4 : D / 16, kValuePieces = D / (16 * kValueWords);
  static constexpr int kProducts = D / 16; // accumulators of O^T
  static constexpr int kPitch = D + 4;     // of the image of O, rows on different banks
  static_assert(D == 16 || D == 32 || D == 64 || D == 128, "a head that fits in registers");
};

// What a warp leaves for the others of its group.
template <class Shape> struct alignas(16) slice_image {
  float o[kGroup][Shape::kPitch];
  float most[kGroup], sum[kGroup];
  uint32_t seen; // bit r: row r has a position
};

// e^x
__device__ __forceinline__ float weight(float x)
{
  return exp2f(x * kAttentionLog2E);
}
// What sums are relative to.
__device__ __forceinline__ float base_of(float most)
{
  return most == -INFINITY ? 0.0f : most;
}

// One (batch, head).
struct attention_heads {
  const char *q, *k, *v;
  char *o;
};

// What a lane needs of the pattern for one step.
struct attention_step {
  uint32_t keys[2];  // columns of slots g and g + 8
  uint32_t masks[2]; // of the same
  uint2 low, high;   // columns of slots 2t, 2t + 1 and 2t + 8, 2t + 9
};

__device__ __forceinline__ attention_step load_attention_step(const pattern &p, uint32_t step)
{
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const uint32_t *columns = p.columns + uint64_t(step) * kStep;
  const uint2 *pairs = reinterpret_cast<const uint2 *>(columns) + t;
  attention_step s;
  s.keys[0] = __ldg(columns + g);
  s.keys[1] = __ldg(columns + g + 8);
  load_masks(s.masks, p, step);
  s.low = __ldg(pairs);
  s.high = __ldg(pairs + 4);
  return s;
}

// The way of one warp.
template <class T, class Shape> struct attention_slice {
  const attention_arguments &a;
  const attention_heads &h;
  uint32_t q[Shape::kKeyPieces][Shape::kKeyWords]; // of row g
  float o[Shape::kProducts][4] = {};
  float most[2] = {-INFINITY, -INFINITY}, sum[2] = {0.0f, 0.0f}; // of rows 2t, 2t + 1
  uint32_t seen = 0;

  __device__ __forceinline__ attention_slice(const attention_arguments &arguments,
                                             const attention_heads &heads, int group)
      : a(arguments), h(heads)
  {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const int row = min(group * kGroup + g, a.p.rows - 1); // a row too many has no positions
    const char *from = h.q + row * a.q.row + t * Shape::kKeyWords * 4;
#pragma unroll
    for (int i = 0; i < Shape::kKeyPieces; i++)
      load_words<Shape::kKeyWords>(q[i], from + i * Shape::kKeyWords * 16);
  }

  // s = K Q^T of a step.
  __device__ __forceinline__ void score(float (&s)[4], const attention_step &step) const
  {
    constexpr int kWords = Shape::kKeyWords;
    const int t = threadIdx.x % 4;
    uint32_t k[2][Shape::kKeyPieces][kWords];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const char *row = h.k + step.keys[i] * a.k.row + t * kWords * 4;
#pragma unroll
      for (int j = 0; j < Shape::kKeyPieces; j++)
        load_words<kWords>(k[i][j], row + j * kWords * 16);
    }
#pragma unroll
    for (int j = 0; j < Shape::kKeyPieces; j++)
#pragma unroll
      for (int w = 0; w < kWords; w += 2)
        mma_of<T>::run(s, {k[0][j][w], k[1][j][w], k[0][j][w + 1], k[1][j][w + 1]},
                       {q[j][w], q[j][w + 1]});
  }

  // Scores to weights; O and the sums are scaled to the new largest score.
  __device__ __forceinline__ void weigh(float (&s)[4], const uint32_t (&masks)[2])
  {
    const int t = threadIdx.x % 4;
    seen |= masks[0] | masks[1];
#pragma unroll
    for (int i = 0; i < 4; i++)
      s[i] = masks[i / 2] >> (2 * t + i % 2) & 1 ? a.scale * s[i] : -INFINITY;
    float by[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float now = fmaxf(most[r], fmaxf(s[r], s[r + 2]));
#pragma unroll
      for (int other = 4; other <= 16; other *= 2)
        now = fmaxf(now, __shfl_xor_sync(kAllLanes, now, other));
      const float base = base_of(now);
      by[r] = weight(most[r] - base); // 0 at first, when there is nothing to scale
      s[r] = weight(s[r] - base);
      s[r + 2] = weight(s[r + 2] - base);
      sum[r] = sum[r] * by[r] + s[r] + s[r + 2];
      most[r] = now;
    }
#pragma unroll
    for (int m = 0; m < Shape::kProducts; m++)
#pragma unroll
      for (int i = 0; i < 4; i++) o[m][i] *= by[i % 2];
  }

  // The lane's words of V for a step: slots 2t, 2t + 1, 2t + 8, 2t + 9.
  struct values {
    uint32_t at[4][Shape::kValuePieces][Shape::kValueWords];
  };
  __device__ __forceinline__ void load_values(values &v, const attention_step &step) const
  {
    constexpr int kWords = Shape::kValueWords;
    const uint32_t slots[4] = {step.low.x, step.low.y, step.high.x, step.high.y};
    const int g = threadIdx.x % 32 / 4;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const char *row = h.v + slots[i] * a.v.row + g * kWords * 4;
#pragma unroll
      for (int j = 0; j < Shape::kValuePieces; j++)
        load_words<kWords>(v.at[i][j], row + j * kWords * 32);
    }
  }

  // O^T += V^T P^T.
  __device__ __forceinline__ void multiply(const values &v, const float (&s)[4])
  {
    const uint2 p = to_format<T>(s);
#pragma unroll
    for (int j = 0; j < Shape::kValuePieces; j++)
#pragma unroll
      for (int w = 0; w < Shape::kValueWords; w++)
        mma_of<T>::run(o[j * Shape::kValueWords + w],
                       {ptx::permute_bytes(v.at[0][j][w], v.at[1][j][w], 0x5410),
                        ptx::permute_bytes(v.at[0][j][w], v.at[1][j][w], 0x7632),
                        ptx::permute_bytes(v.at[2][j][w], v.at[3][j][w], 0x5410),
                        ptx::permute_bytes(v.at[2][j][w], v.at[3][j][w], 0x7632)},
                       {p.x, p.y});
  }

  __device__ __forceinline__ void take(const attention_step &step)
  {
    values v;
    float s[4] = {};
    load_values(v, step); // on its way while scores are computed
    score(s, step);
    weigh(s, step.masks);
    multiply(v, s);
  }

  // o[m]: columns 2w and 2w + 1 of the lane's piece; rows 2t and 2t + 1.
  __device__ __forceinline__ void leave(slice_image<Shape> &to)
  {
    constexpr int kWords = Shape::kValueWords;
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int r = 0; r < 2; r++) {
#pragma unroll
      for (int m = 0; m < Shape::kProducts; m++) {
        const int column = (m / kWords * 8 + g) * 2 * kWords + m % kWords * 2;
        *reinterpret_cast<float2 *>(&to.o[2 * t + r][column]) = make_float2(o[m][r], o[m][r + 2]);
      }
#pragma unroll
      for (int other = 4; other <= 16; other *= 2)
        sum[r] += __shfl_xor_sync(kAllLanes, sum[r], other);
      if (g == 0) to.most[2 * t + r] = most[r], to.sum[2 * t + r] = sum[r];
    }
#pragma unroll
    for (int other = 4; other <= 16; other *= 2) seen |= __shfl_xor_sync(kAllLanes, seen, other);
    if (threadIdx.x % 32 == 0) to.seen = seen;
  }
};

} // namespace vector
} // namespace shunt
