// attention_store.cuh: the end of a group of rows: its slices joined, results that need it
// computed again, O stored.
#pragma once
#include "kernels/vector/attention/attention_slice.cuh"

namespace shunt
{
namespace vector
{

// A row's state over all slices, and what each slice's sums are to be multiplied by.
struct joined_row {
  float base = 0.0f, sum = 0.0f;
  float by[kAttentionWarps];
  bool seen = false;

  template <class Shape>
  __device__ __forceinline__ joined_row(const slice_image<Shape> *images, int slices, int row)
  {
    float most = -INFINITY;
    for (int i = 0; i < slices; i++) {
      most = fmaxf(most, images[i].most[row]);
      seen = seen || (images[i].seen >> row & 1);
    }
    base = base_of(most);
    for (int i = 0; i < slices; i++) {
      by[i] = weight(images[i].most[row] - base);
      sum += images[i].sum[row] * by[i];
    }
  }
};

// exp(score - base) of row `row` at the slot that K's row `column` stands in.
template <class T, class Shape>
__device__ __forceinline__ float exact_weight(const attention_arguments &a,
                                              const attention_heads &h, const T *q, uint32_t column,
                                              float base)
{
  const T *k = reinterpret_cast<const T *>(h.k + column * a.k.row);
  float s = 0.0f;
  for (int c = 0; c < Shape::D; c++) s = fmaf(widen<float>(q[c]), widen<float>(k[c]), s);
  return weight(a.scale * s - base);
}

// Element (row, column) of O over the row's positions alone.  The scores are summed in another
// order than mma's, so the weights are divided by their own sum, not by the one that mma's gave;
// and before they are multiplied, for sums that overflow otherwise.
template <class T, class Shape>
__device__ __noinline__ float exact_result(const attention_arguments &a, const attention_heads &h,
                                           int group, int row, int column, float base)
{
  const int64_t begin = int64_t(a.p.begin[group]) * kStep;
  const int64_t end = begin + int64_t(a.p.count[group]) * kStep;
  const T *q = reinterpret_cast<const T *>(h.q + (int64_t(group) * kGroup + row) * a.q.row);
  float result = 0.0f, sum = 0.0f;
  for (int64_t i = begin; i < end; i++)
    if (a.p.masks[i] >> row & 1) sum += exact_weight<T, Shape>(a, h, q, a.p.columns[i], base);
  for (int64_t i = begin; i < end; i++) {
    if (!(a.p.masks[i] >> row & 1)) continue;
    const T *v = reinterpret_cast<const T *>(h.v + a.p.columns[i] * a.v.row);
    const float w = exact_weight<T, Shape>(a, h, q, a.p.columns[i], base);
    result = fmaf(w / sum, widen<float>(v[column]), result);
  }
  return result;
}

// Joins the slices of a group and stores its rows; called by all warps of the group, of which
// this is number `slice`.
template <class T, class Shape>
__device__ __forceinline__ void store_group(const attention_arguments &a, const attention_heads &h,
                                            const slice_image<Shape> *images, int slices, int slice,
                                            int group)
{
  constexpr int kRun = 8; // columns, 16 bytes
  const int rows = min(kGroup, a.p.rows - group * kGroup);
  for (int i = slice * 32 + threadIdx.x % 32; i < rows * (Shape::D / kRun); i += slices * 32) {
    const int row = i / (Shape::D / kRun), column = i % (Shape::D / kRun) * kRun;
    const joined_row joined(images, slices, row);
    vec<T, kRun> out;
#pragma unroll
    for (int c = 0; c < kRun; c++) {
      float x = 0.0f;
      for (int s = 0; s < slices; s++) x += images[s].o[row][column + c] * joined.by[s];
      x /= joined.sum;
      if (!joined.seen)
        x = 0.0f;
      else if (!isfinite(x) && isfinite(joined.sum) && joined.sum != 0.0f)
        x = exact_result<T, Shape>(a, h, group, row, column + c, joined.base);
      out.at[c] = narrow<T>(x);
    }
    char *to = h.o + (int64_t(group) * kGroup + row) * a.o.row + column * 2;
    *reinterpret_cast<vec<T, kRun> *>(to) = out;
  }
}

} // namespace vector
} // namespace shunt
