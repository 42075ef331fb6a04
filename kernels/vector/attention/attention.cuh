// attention.cuh: O = softmax(scale Q K^T on a pattern) V without storing the scores.
//
// A warp takes a group of 8 rows, or a slice of the group's steps, of one (batch, head), and
// goes through its steps as flash attention goes through blocks of keys:
//
//    step: 16 slots                 K rows gathered             V rows gathered
//                                         |                           |
//    Q rows (registers) ---------> S^T[16 slots x 8 rows]             |
//                                         |  scale, mask,             |
//                                         |  largest so far           v
//                                   P^T[16 x 8], 16 bits --> O^T[D x 8 rows] += V^T[D x 16] P^T
//
// Lane l, g = l / 4, t = l % 4.  S^T and O^T are m16n8k16 results, so the lane's rows are 2t and
// 2t + 1 in both; its running state (largest score, sum of weights) is of these rows, and nothing
// has to move between lanes to scale O.  The largest score is a reduction over g; the sum is kept
// by lane and reduced at the end.  P^T becomes the B operand by movmatrix
// (attention_common.cuh).
//
// Elements in words of 16 bytes (D = 16, 32: fewer), as the order of c in a dot product and of
// O's columns in the 16-side are free:
//
//    K, Q   lane holds c = 8t .. 8t + 7 of each 32 (D = 16: 4t .. 4t + 3): two mma (one)
//    V      lane holds columns 8g .. 8g + 7 of each 64 (D = 32: 4g .., D = 16: 2g ..) of slots 2t,
//           2t + 1, 2t + 8, 2t + 9: as in kernels/vector/vector_packed_spmm_direct.cuh
//
// A row whose largest score is -Inf, because none of its slots was seen or all scores are -Inf,
// keeps its sums relative to 0: they stay 0.  At the end a row without positions gives 0, and one
// of -Inf alone 0 / 0.
//
// The slices of a group leave O and their states in shared memory; all its warps together join
// them in order, so the bits do not vary, and store rows of O by 16 bytes.
//
// Weights of places that are no positions are 0 and meet all of V's rows of a step, and a partial
// sum relative to a small score may overflow.  So where a row's sum of weights is finite and a
// result is not, the thread that stores the result computes it again from the row's positions
// alone.
//
// Roofline: bytes gathered from L2, 2 x 16 x steps x D x 2 for each problem, at 8.5 TB/s on an
// H200; no sharing of K and V among groups but by L1 (a block's groups are neighbours: a band's
// keys).  8192 x 8192, a tenth of all 8 x 1 vectors, D = 64, 32 problems: 6.9 GB, 0.81 ms.
#pragma once
#include "kernels/vector/attention/attention_store.cuh"

namespace shunt
{
namespace vector
{

template <class T, class Shape>
__global__ void __launch_bounds__(kAttentionWarps * 32)
    attention_vector(const __grid_constant__ attention_arguments a)
{
  __shared__ slice_image<Shape> images[kAttentionWarps];
  const int warp = threadIdx.x / 32;
  const int slices = 1 << a.log2_slices, slice = warp & (slices - 1);
  const int group = blockIdx.x * (kAttentionWarps >> a.log2_slices) + (warp >> a.log2_slices);
  const int z = blockIdx.y;
  const attention_heads h = {a.q.of(z, a.heads), a.k.of(z, a.heads), a.v.of(z, a.heads),
                             a.o.of(z, a.heads)};
  const bool exists = group < a.p.groups;
  if (exists) {
    const uint32_t begin = a.p.begin[group], count = a.p.count[group];
    uint32_t step = begin + static_cast<uint32_t>(uint64_t(count) * slice >> a.log2_slices);
    const uint32_t end =
        begin + static_cast<uint32_t>(uint64_t(count) * (slice + 1) >> a.log2_slices);
    attention_slice<T, Shape> way(a, h, group);
    attention_step next = load_attention_step(a.p, step); // there is one step more than needed
#pragma unroll 1
    for (; step < end; step++) {
      const attention_step now = next;
      next = load_attention_step(a.p, step + 1);
      way.take(now);
    }
    way.leave(images[warp]);
  }
  if (a.log2_slices == 0)
    __syncwarp();
  else
    __syncthreads();
  if (exists) store_group<T, Shape>(a, h, images + (warp - slice), slices, slice, group);
}

// The launch for one stored type; instantiated in one file per type.
template <class T, int D>
inline cudaError_t launch_attention(const attention_arguments &a, int64_t problems,
                                    cudaStream_t stream)
{
  return launch_warps<kAttentionWarps>(
      reinterpret_cast<const void *>(&attention_vector<T, head_shape<D>>), a,
      static_cast<int64_t>(a.p.groups) << a.log2_slices, problems, stream);
}

template <class T>
inline cudaError_t launch_attention_d(const attention_arguments &a, int64_t d, int64_t problems,
                                      cudaStream_t stream)
{
  switch (d) {
  case 16: return launch_attention<T, 16>(a, problems, stream);
  case 32: return launch_attention<T, 32>(a, problems, stream);
  case 64: return launch_attention<T, 64>(a, problems, stream);
  default: return launch_attention<T, 128>(a, problems, stream);
  }
}

cudaError_t launch_attention_f16(const attention_arguments &a, int64_t d, int64_t problems,
                                 cudaStream_t stream);
cudaError_t launch_attention_bf16(const attention_arguments &a, int64_t d, int64_t problems,
                                  cudaStream_t stream);

} // namespace vector
} // namespace shunt
