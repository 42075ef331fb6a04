// srbcrs_sddmm.cuh: V rows of A times the 32 rows of B that a stride names, by a warp.
//
// The gathered rows of B stand on the 16-side of mma.m16n8k32, A's rows on the 8-side:
//
//     D[16 slots x 8 rows]  =  B[16 slots x 32 of k]  A^T[32 of k x 8 rows] + D      twice a stride
//
// Both operands want runs along k, as they lie.  Lane (g, t), g = l / 4, t = l % 4, reads 16 bytes,
// those at 16t of each 64, of row g of A and of B's rows in its four slots 4g .. 4g + 3.  Which k
// stands where within a step is free, as long as both operands agree, so that a piece is used as
// it comes, word by word:
//
//     bits    a piece has    which is
//      16      8 integers    a step of two parts (srbcrs_parts.cuh): bytes of words 0, 1 and of 2, 3
//       8     16 integers    two steps: words 0 and 1, words 2 and 3
//       4     32 integers    four steps: the low and the high nibbles of a word
//
// Mma number h of a step has slot 4g + 2h as its row g and slot 4g + 2h + 1 as its row g + 8, so
// that a lane ends with four slots side by side of rows 2t and 2t + 1 of the group, stored at once:
//
//     d[h][0], d[h][1]  slot 4g + 2h,      rows 2t, 2t + 1
//     d[h][2], d[h][3]  slot 4g + 2h + 1,  rows 2t, 2t + 1
//
// Bound: rows of B, gathered once for each vector out of L2: vectors x k x bits / 8 bytes.
#pragma once
#include "kernels/srbcrs/srbcrs_parts.cuh"
#include "kernels/srbcrs/srbcrs_scaling.cuh"

namespace shunt
{
namespace srbcrs
{
namespace sddmm
{

constexpr int kStride = SHUNT_SRBCRS_STRIDE;
constexpr int kChunk = 64; // bytes of a row that a step of the walk along k takes

struct arguments {
  struct shunt_srbcrs v;
  struct shunt_integers a, b;
  struct shunt_scaling scaling;
  void *values;
  int phases;
  int64_t places; // from one problem's values to the next one's
};

template <int Bits> constexpr int steps_of = Bits == 16 ? 1 : Bits == 8 ? 2 : 4;

// The two words of step Step of a piece, part Part; of nibbles with these signs.
template <int Bits, int Step, int Part>
__device__ __forceinline__ void words_of(const uint4 &piece, uint32_t (&to)[2],
                                         uint32_t signs = kNibbleSigns)
{
  const uint32_t w[4] = {piece.x, piece.y, piece.z, piece.w};
  if constexpr (Bits == 16) {
    to[0] = bytes_of_16<Part>(w[0], w[1]), to[1] = bytes_of_16<Part>(w[2], w[3]);
  } else if constexpr (Bits == 8) {
    to[0] = w[2 * Step], to[1] = w[2 * Step + 1];
  } else {
    to[0] = bytes_of_low_nibbles(w[Step], signs);
    to[1] = bytes_of_high_nibbles(w[Step], signs);
  }
}

__device__ __forceinline__ uint32_t first_bits(uint32_t word, int64_t bits)
{
  return bits >= 32 ? word : bits <= 0 ? 0 : word & ((1u << bits) - 1);
}

// A stride's lists as a lane needs them: the rows of B in its four slots, and their masks.
struct lane_lists {
  uint4 columns;
  uint32_t masks;
};

// d += b a for bytes of B and A, of which each is signed or not.
template <int PartB, int PartA, int Parts>
__device__ __forceinline__ void mma_of_signs(int (&d)[4], const uint32_t (&b)[4],
                                             const uint32_t (&a)[2], bool signed_b, bool signed_a)
{
  if (signed_b && signed_a)
    mma_of_parts<PartB, Parts, PartA, Parts, true, true>(d, b, a);
  else if (signed_b)
    mma_of_parts<PartB, Parts, PartA, Parts, true, false>(d, b, a);
  else if (signed_a)
    mma_of_parts<PartB, Parts, PartA, Parts, false, true>(d, b, a);
  else
    mma_of_parts<PartB, Parts, PartA, Parts, false, false>(d, b, a);
}

// Signed: both A and B are; else each may be or not, which takes branches.  Nibbles take none.
template <int Bits, bool Signed> struct multiplier {
  static constexpr int kParts = parts_of<Bits>, kWeights = weights_of<Bits, Bits>;
  const arguments &p;
  int g, t;
  int64_t first_row;
  const uint8_t *row; // of A, this lane's first piece; NULL: the lane has none
  int d[2][4][kWeights];

  __device__ __forceinline__ multiplier(const arguments &args, int64_t group)
      : p(args), g(threadIdx.x % 32 / 4), t(threadIdx.x % 4), first_row(group * args.v.height)
  {
    const bool exists = g < p.v.height && first_row + g < p.v.rows;
    const int64_t of_all = blockIdx.y * p.v.rows + first_row + g;
    row = exists ? static_cast<const uint8_t *>(p.a.values) + of_all * p.a.row_bytes + 16 * t
                 : nullptr;
  }

  __device__ __forceinline__ lane_lists lists(int64_t stride) const
  {
    const int64_t at = stride * kStride + 4 * g;
    return {__ldg(reinterpret_cast<const uint4 *>(p.v.columns + at)),
            __ldg(reinterpret_cast<const uint32_t *>(p.v.masks + at))};
  }

  template <int Step, int PartA, int PartB>
  __device__ __forceinline__ void multiply_parts(const uint4 &a, const uint4 (&b)[4])
  {
    constexpr int kWeight = PartA + PartB;
    const uint32_t signs = nibble_signs(!Signed && p.b.is_unsigned);
    uint32_t rows[2];
    words_of<Bits, Step, PartA>(a, rows, nibble_signs(!Signed && p.a.is_unsigned));
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint32_t even[2], odd[2];
      words_of<Bits, Step, PartB>(b[2 * h], even, signs);
      words_of<Bits, Step, PartB>(b[2 * h + 1], odd, signs);
      int sums[4];
#pragma unroll
      for (int i = 0; i < 4; i++) sums[i] = d[h][i][kWeight];
      constexpr bool kKnown = Signed || Bits == 4;
      mma_of_signs<PartB, PartA, kParts>(sums, {even[0], odd[0], even[1], odd[1]}, rows,
                                         kKnown || !p.b.is_unsigned, kKnown || !p.a.is_unsigned);
#pragma unroll
      for (int i = 0; i < 4; i++) d[h][i][kWeight] = sums[i];
    }
  }

  template <int Step>
  __device__ __forceinline__ void multiply_step(const uint4 &a, const uint4 (&b)[4])
  {
    multiply_parts<Step, 0, 0>(a, b);
    if constexpr (kParts == 2) {
      multiply_parts<Step, 0, 1>(a, b);
      multiply_parts<Step, 1, 0>(a, b);
      multiply_parts<Step, 1, 1>(a, b);
    }
  }

  __device__ __forceinline__ void multiply(const uint4 &a, const uint4 (&b)[4])
  {
    multiply_step<0>(a, b);
    if constexpr (steps_of < Bits >> 1) multiply_step<1>(a, b);
    if constexpr (steps_of < Bits >> 2) multiply_step<2>(a, b), multiply_step<3>(a, b);
  }

  static __device__ __forceinline__ uint4 piece(const uint8_t *from)
  {
    return __ldg(reinterpret_cast<const uint4 *>(from));
  }

  // The ragged end of k: what lies beyond it is nothing in A, whatever it is in B.
  __device__ __forceinline__ void multiply_rest(const uint8_t *const (&from)[4], int64_t whole)
  {
    const int64_t bits = p.a.cols * Bits - (whole + 16 * t) * 8;
    uint4 a = {}, b[4] = {};
    if (bits > 0) {
#pragma unroll
      for (int i = 0; i < 4; i++) b[i] = piece(from[i] + whole);
      if (row) a = piece(row + whole);
      a = {first_bits(a.x, bits), first_bits(a.y, bits - 32), first_bits(a.z, bits - 64),
           first_bits(a.w, bits - 96)};
    }
    multiply(a, b);
  }

  __device__ __forceinline__ void run(const lane_lists &l)
  {
    const uint8_t *const b =
        static_cast<const uint8_t *>(p.b.values) + blockIdx.y * p.v.cols * p.b.row_bytes + 16 * t;
    const uint8_t *const from[4] = {
        b + l.columns.x * p.b.row_bytes, b + l.columns.y * p.b.row_bytes,
        b + l.columns.z * p.b.row_bytes, b + l.columns.w * p.b.row_bytes};
    const int64_t whole = p.a.cols * Bits / (8 * kChunk) * kChunk;
#pragma unroll
    for (int i = 0; i < 8 * kWeights; i++) d[i / 4 / kWeights][i / kWeights % 4][i % kWeights] = 0;
#pragma unroll 2
    for (int64_t k = 0; k < whole; k += kChunk) {
      const uint4 rows[4] = {piece(from[0] + k), piece(from[1] + k), piece(from[2] + k),
                             piece(from[3] + k)};
      uint4 a = {};
      if (row) a = piece(row + k);
      multiply(a, rows);
    }
    if (whole * 8 < p.a.cols * Bits) multiply_rest(from, whole);
  }

  // Four slots of rows 2t and 2t + 1.
  template <class Out> __device__ __forceinline__ void store_as(const lane_lists &l, int64_t stride)
  {
    const uint32_t columns[4] = {l.columns.x, l.columns.y, l.columns.z, l.columns.w};
    float of_column[4] = {};
    if (p.scaling.type != SHUNT_I32)
#pragma unroll
      for (int i = 0; i < 4; i++)
        of_column[i] = scale_of_column(p.scaling, blockIdx.y * p.v.cols + columns[i]);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int r = 2 * t + h;
      if (r >= p.v.height) continue;
      const int64_t at = blockIdx.y * p.places + (stride * p.v.height + r) * kStride + 4 * g;
      const int64_t row_of_all = blockIdx.y * p.v.rows + first_row + r;
      const float of_row =
          first_row + r < p.v.rows ? factor_of(p.scaling, blockIdx.y, row_of_all) : 0;
      vec<Out, 4> out;
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int sum = weighed<kWeights>(d[i / 2][i % 2 * 2 + h]);
        out.at[i] = l.masks >> (8 * i + r) & 1 ? scaled<Out>(sum, of_row * of_column[i])
                                               : scaled<Out>(0, 0.0f);
      }
      *reinterpret_cast<vec<Out, 4> *>(static_cast<Out *>(p.values) + at) = out;
    }
  }

  __device__ __forceinline__ void store(const lane_lists &l, int64_t stride)
  {
    with_result_type(p.scaling.type, [&](auto out) { store_as<decltype(out)>(l, stride); });
  }
};

} // namespace sddmm
} // namespace srbcrs
} // namespace shunt
