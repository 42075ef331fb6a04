// vector_packed_spmm_strips_tf32.cuh: the strips of vector_packed_spmm_strips.cuh for f32, by TF32.
//
// mma.m16n8k8 leaves open which columns of B are its rows and which slots its k.  So that a lane
// loads what it needs as pairs, without a transpose (g = lane / 4, t = lane % 4; of 16 columns from
// 16q on, and of slots 0 .. 7 or 8 .. 15):
//
//     k = t       slot 2t            row g       column 16q + 2g
//     k = t + 4   slot 2t + 1        row g + 8   column 16q + 2g + 1
//
//     32 columns of B, 16 slots:  8 loads of 8 bytes (slots 2t, 2t + 1, 8 + 2t, 8 + 2t + 1, both q)
//                                 and 4 products; the values of A, packed so, are one load of 16
//
// The 16 lanes that load together read pieces 2j and 2j + 1 of rows that are 2t, or 2t + 1, modulo
// 8: the copy engine's swizzle has them on eight different bank groups.  (By 16 bytes, four columns
// of a row, what is loaded is moved between registers before it is an operand: 1.04 times the
// time.)
//
// Products == 1: both operands rounded to TF32 by a multiplication.  mma cuts the lower 13 bits
// off, which leaves half a unit too little on the mean; x (1 + 0.72 / 2^11) is half a unit more, on
// the mean over all mantissas, and a number that is a TF32 already stays one and itself.  A NaN
// stays a NaN.  (cvt.rna: 1.2 times the time for 0.93 of the error.)
//
// Products == 3: x = high + low, high the upper bits of x as they are, low exact but for its own
// lower 13 bits:
//
//     x y  ~  low(x) high(y) + high(x) low(y) + high(x) high(y)
//
// mma cuts sums off as well, which counts after some hundred of them: each 16 slots are summed from
// 0, and added to the sums in f32.  An Inf makes low a NaN, and so the sum: then it is computed
// again, by FMA (vector_packed_spmm_common.cuh).
//
// Roofline: as of 16-bit types, 4 bytes an element.  Products == 1 has shared memory busy for 0.87
// of the time at 70 % zeros; Products == 3 waits for the tensor cores, at 0.67 of mma.sync's rate.
#pragma once
#include "kernels/ptx/mma_tf32.cuh"
#include "kernels/ptx/stream_load_16.cuh"
#include "kernels/vector/vector_packed_spmm_strips.cuh"

namespace shunt
{
namespace vector
{

// What is the same for all groups of a warp.
struct strip_lane_tf32 {
  const uint2 *columns; // of slots 2t and 2t + 1, in step 0
  const uint4 *values;  // the lane's, in step 0
  uint32_t place;       // of its pair in a row that is 2t modulo 8
  uint32_t zero;        // 0, but the compiler cannot know

  __device__ __forceinline__ strip_lane_tf32(const arguments &p, uint32_t)
  {
    const int lane = threadIdx.x % 32;
    columns = reinterpret_cast<const uint2 *>(p.columns) + lane % 4;
    values = reinterpret_cast<const uint4 *>(p.values) + lane;
    place = (lane / 8 ^ lane % 4 * 2) << 4 | lane / 4 % 2 << 3;
    zero = p.strips < 0;
    asm("" : "+l"(columns), "+l"(values), "+r"(place), "+r"(zero)); // else computed in each step
  }
};

// An operand as it is multiplied.
template <int Products, int Count> struct tf32_operand {
  uint32_t high[Count], low[Count];

  __device__ __forceinline__ void set(int i, uint32_t bits)
  {
    const float x = __uint_as_float(bits);
    if (Products == 1) {
      high[i] = __float_as_uint(__fmul_rn(x, 1.0f + 0x1.7p-12f));
      return;
    }
    high[i] = bits; // mma cuts off what low has
    low[i] = __float_as_uint(__fsub_rn(x, __uint_as_float(bits & 0xffffe000u)));
  }
};

// Two tiles of 16 columns.
template <int Products>
__device__ __forceinline__ void multiply_tf32(float (&d)[2][4],
                                              const tf32_operand<Products, 4> (&a)[2],
                                              const tf32_operand<Products, 2> &b)
{
  if (Products == 3) {
#pragma unroll
    for (int q = 0; q < 2; q++) ptx::mma_m16n8k8_tf32(d[q], a[q].low, b.high);
#pragma unroll
    for (int q = 0; q < 2; q++) ptx::mma_m16n8k8_tf32(d[q], a[q].high, b.low);
  }
#pragma unroll
  for (int q = 0; q < 2; q++) ptx::mma_m16n8k8_tf32(d[q], a[q].high, b.high);
}

// A group of A on its way through the strips.
template <int Products, class Shape> struct strip_group_tf32 {
  using lane = strip_lane_tf32;
  float d[Shape::kPlanes][2][4];
  uint32_t step, begin;  // the next step; the first
  uint32_t ends;         // lane i: where the steps of strip i of the 32 at hand end
  uint2 next_columns[2]; // of A for the next step: of slots 2t, 2t + 1 and 8 more,
  uint4 next_values;     // and the lane's fragment of values

  __device__ __forceinline__ void load_next(const lane &l, bool wanted)
  {
    const uint2 *columns = l.columns + uint64_t(step) * (kStep / 2);
    ptx::load_once_if(wanted, next_columns[0], columns);
    ptx::load_once_if(wanted, next_columns[1], columns + 4);
    ptx::load_once_if(wanted, next_values, l.values + uint64_t(step) * 32);
  }
  __device__ __forceinline__ void start(const arguments &p, const lane &l, int group)
  {
#pragma unroll
    for (int i = 0; i < Shape::kPlanes * 8; i++) d[i / 8][i / 4 % 2][i % 4] = 0.0f;
    begin = step = group < p.groups ? p.begin[group] : 0;
    next_columns[0] = next_columns[1] = make_uint2(0, 0), next_values = make_uint4(0, 0, 0, 0);
    load_next(l, true); // there is one step more than the matrix has
  }
  __device__ __forceinline__ void load_ends(const arguments &p, int group, int strip)
  {
    ends = strip_end_of_lane(p, group, strip, begin);
  }
  // D of an instruction: columns 2g of rows 2t and 2t + 1, then 2g + 1 of both.
  __device__ __forceinline__ void write(float *image_at) const
  {
    constexpr int kPitch = image<Shape::kTile>::kPitch;
    const int lane = threadIdx.x % 32;
    float *to = image_at + lane % 4 * 2 * kPitch + lane / 4 * 2;
#pragma unroll
    for (int q = 0; q < Shape::kPlanes * 2; q++)
#pragma unroll
      for (int r = 0; r < 2; r++)
        *reinterpret_cast<float2 *>(to + 16 * q + r * kPitch) =
            make_float2(d[q / 2][q % 2][r], d[q / 2][q % 2][2 + r]);
  }

  // The products of one step with 32 columns, whose pairs stand `plane` bytes behind `at`.
  __device__ __forceinline__ void multiply_plane(float (&sum)[2][4], const unsigned char *plane,
                                                 const uint32_t (&at)[4],
                                                 const tf32_operand<Products, 2> (&b)[2])
  {
#pragma unroll
    for (int k = 0; k < 2; k++) {
      tf32_operand<Products, 4> a[2];
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const uint2 x = *reinterpret_cast<const uint2 *>(plane + (at[2 * k + i % 2] ^ i / 2 << 6));
        a[i / 2].set(i % 2 * 2, x.x), a[i / 2].set(i % 2 * 2 + 1, x.y);
      }
      multiply_tf32<Products>(sum, a, b[k]);
    }
  }
  // What a lane multiplies in a step: pairs of the ring, two a slot of A, and its values.
  struct operands {
    uint32_t at[4], values[4];
  };
  // Of the step whose part of A has come.
  __device__ __forceinline__ operands take(const lane &l, uint32_t wrapped) const
  {
    operands o;
#pragma unroll
    for (int s = 0; s < 4; s++) {
      const uint2 &columns = next_columns[s / 2];
      const uint32_t row = (s % 2 ? columns.y : columns.x) * 128 - wrapped;
      const uint32_t pair = row + (l.place ^ s % 2 << 4);
      o.at[s] = ptx::exclusive_or(min(pair, pair + Shape::kPlaneBytes), l.zero);
    }
    const uint4 v = next_values;
    o.values[0] = ptx::exclusive_or(v.x, l.zero), o.values[1] = ptx::exclusive_or(v.y, l.zero);
    o.values[2] = ptx::exclusive_or(v.z, l.zero), o.values[3] = ptx::exclusive_or(v.w, l.zero);
    return o;
  }
  __device__ __forceinline__ void multiply(const operands &o)
  {
    extern __shared__ __align__(1024) unsigned char shared[];
    tf32_operand<Products, 2> b[2];
#pragma unroll
    for (int i = 0; i < 4; i++) b[i / 2].set(i % 2, o.values[i]);
#pragma unroll
    for (int h = 0; h < Shape::kPlanes; h++) {
      const unsigned char *plane = shared + h * Shape::kPlaneBytes;
      if (Products == 1) {
        multiply_plane(d[h], plane, o.at, b);
        continue;
      }
      float sum[2][4] = {};
      multiply_plane(sum, plane, o.at, b);
#pragma unroll
      for (int i = 0; i < 8; i++) d[h][i / 4][i % 4] += sum[i / 4][i % 4];
    }
  }
};

} // namespace vector
} // namespace shunt
