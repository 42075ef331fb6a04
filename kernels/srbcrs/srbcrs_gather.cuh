// srbcrs_gather.cuh: rows of B as operands of the mma.
//
// B stands by rows, and the operand wants four slots, that is rows of B, of one column in a word:
// so it is transposed on the way, in registers alone.  Lane (g, t) gathers, of the eight rows in
// its slots, columns gX .. gX + X - 1 (4, 8 or 16 bytes), so that eight lanes read what is side by
// side in a row, and no shared memory is needed whose banks could clash:
//
//     row of slot 4t      | a0 a1 a2 a3 |  byte       a0 b0 c0 d0   column gX:     k = 4t .. 4t + 3
//     row of slot 4t + 1  | b0 b1 b2 b3 |  permutes   a1 b1 c1 d1   column gX + 1
//     row of slot 4t + 2  | c0 c1 c2 c3 |  -------->  a2 b2 c2 d2        ..
//     row of slot 4t + 3  | d0 d1 d2 d3 |  8 of them  a3 b3 c3 d3
//
// Of 16 bits, the low and the high bytes of four columns are such words; of 4 bits, the low nibbles
// of a word, which are its even columns, and the high ones.
#pragma once
#include "kernels/srbcrs/srbcrs_parts.cuh"

namespace shunt
{
namespace srbcrs
{

// Words of a row that X columns of so many bits are.
template <int X, int Bits> constexpr int words_of = X *Bits / 32;

// X columns of each of eight rows.
template <int X, int Bits> struct lane_rows {
  uint32_t word[8][words_of<X, Bits>];
};

template <int Words>
__device__ __forceinline__ void load_words(const uint8_t *from, uint32_t (&to)[Words])
{
  if constexpr (Words == 4) {
    const uint4 x = __ldg(reinterpret_cast<const uint4 *>(from));
    to[0] = x.x, to[1] = x.y, to[2] = x.z, to[3] = x.w;
  } else if constexpr (Words == 2) {
    const uint2 x = __ldg(reinterpret_cast<const uint2 *>(from));
    to[0] = x.x, to[1] = x.y;
  } else {
    to[0] = __ldg(reinterpret_cast<const uint32_t *>(from));
  }
}

// A word of four rows -> four words of a column each.
__device__ __forceinline__ void transpose(const uint32_t (&r)[4], uint32_t (&column)[4])
{
  const uint32_t low01 = ptx::permute_bytes(r[0], r[1], 0x5140);
  const uint32_t low23 = ptx::permute_bytes(r[2], r[3], 0x5140);
  const uint32_t high01 = ptx::permute_bytes(r[0], r[1], 0x7362);
  const uint32_t high23 = ptx::permute_bytes(r[2], r[3], 0x7362);
  column[0] = ptx::permute_bytes(low01, low23, 0x5410);
  column[1] = ptx::permute_bytes(low01, low23, 0x7632);
  column[2] = ptx::permute_bytes(high01, high23, 0x5410);
  column[3] = ptx::permute_bytes(high01, high23, 0x7632);
}

// Bytes of part Part of four columns of a row: set `q` of X / 4.
template <int Bits, int Part, int Words>
__device__ __forceinline__ uint32_t four_columns(const uint32_t (&row)[Words], int q,
                                                 uint32_t signs)
{
  if constexpr (Bits == 16) return bytes_of_16<Part>(row[2 * q], row[2 * q + 1]);
  if constexpr (Bits == 8) return row[q];
  if constexpr (Bits == 4)
    return q % 2 ? bytes_of_high_nibbles(row[q / 2], signs)
                 : bytes_of_low_nibbles(row[q / 2], signs);
}

// Column i of set q among the X.
template <int Bits> __device__ __forceinline__ constexpr int column_of(int q, int i)
{
  return Bits == 4 ? q / 2 * 8 + 2 * i + q % 2 : 4 * q + i;
}

// Part Part of the X columns, each in the words of slots 4t .. 4t + 3 and 4t + 16 .. 4t + 19; of
// nibbles with these signs.
template <int X, int Bits, int Part>
__device__ __forceinline__ void columns_of(const lane_rows<X, Bits> &b, uint32_t (&to)[2][X],
                                           uint32_t signs = kNibbleSigns)
{
#pragma unroll
  for (int h = 0; h < 2; h++)
#pragma unroll
    for (int q = 0; q < X / 4; q++) {
      uint32_t rows[4], four[4];
#pragma unroll
      for (int i = 0; i < 4; i++) rows[i] = four_columns<Bits, Part>(b.word[4 * h + i], q, signs);
      transpose(rows, four);
#pragma unroll
      for (int i = 0; i < 4; i++) to[h][column_of<Bits>(q, i)] = four[i];
    }
}

} // namespace srbcrs
} // namespace shunt
