// vector_csr_spmm_mma.cuh: one column list of up to 8 rows of A times Tile columns
// of B, f16 or bf16, on the tensor cores, by one warp.
//
// mma.m16n8k16 with the operands swapped, so that 8 rows of A waste nothing:
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 16 entries] A^T[16 x 8]
//
// Roofline: every step of 16 entries fetches 16 x Tile x 2 bytes of B from L2 and does
// Tile / 16 mma with them, so L2 binds: bytes gathered / 8.5 TB/s on an H200 (430 MB,
// 50 us at 4096 x 4096 x 1024, 90 %), plus A's values and one index list of eight per
// tile of columns (4 MB).  Shared memory moves each byte in once and out once: by
// count, half of what it can.  Why not load B straight into registers in the mma's
// layout: there each 8 lanes of a 16-byte load touch four rows, 32 bytes of each,
// which would be four passes of L1 instead of one.  That is an inference, not a
// measurement: the kernel that did so stayed below 6.9 TB/s at every sparsity and size.
//
// What a warp keeps in shared memory (Steps = Stages - 1, chunk = Steps x 16 entries):
//
//   ring     Stages x 16 rows of B x Tile columns; a step is gathered by cp.async
//            Steps steps before it is multiplied.  Piece q (16 bytes) of entry e stands
//            at q ^ key(e), key(e) = e & 1 | (e >> 2 & 3) << 1: the 8 entries that one
//            ldmatrix matrix takes (below) have 8 keys, so 8 different bank groups.
//   columns  2 chunks of column indices, read a chunk before they are gathered
//   values   2 chunks of 8 rows of A, as they lie in CSR.  A row may start at an odd
//            16-bit element: it is copied as aligned words, so its entry i stands in
//            half-word i + odd:
//               word       0      1      2     ...
//               even     0  1   2  3   4  5
//               odd      .  0   1  2   3  4        (.: the row before, not used)
//
// Fragments (g = lane / 4, t = lane % 4; layout of registers: ptx/mma.cuh).  The mma's
// k slots 2t, 2t+1, 2t+8, 2t+9 are given to entries 4t .. 4t+3, so that a lane's four
// values of row g are neighbours:
//   A^T  b[0] = entries 4t, 4t+1 of row g     b[1] = entries 4t+2, 4t+3 of row g
//   B^T  ldmatrix.trans from the ring: matrix 0, 1: entries {0,1,4,5,8,9,12,13}, columns
//        c .. c+7 and c+8 .. c+15; matrix 2, 3: entries {2,3,6,7,10,11,14,15}, the same
//   D    d[0], d[1] = column g, rows 2t, 2t+1; d[2], d[3] = column g + 8
// Values of rows that are not in the list are rubbish: they reach only their own
// rows of D, which nobody stores.
#pragma once
#include "kernels/common/mma_of.cuh"
#include "kernels/vector/vector_csr_spmm.cuh"

namespace shunt
{
namespace vector::csr
{

// Tile, Stages: 128, 3 and 64, 5 both let four blocks of four warps share an SM of
// sm_90, with 8 KB under way for each warp.
template <class T, int Tile, int Stages> struct mma_lists {
  using value = T;
  using sum = float;
  static constexpr int kTile = Tile, kWarps = 4, kBlocks = 4;
  static constexpr int kSteps = Stages - 1;     // steps gathered ahead; steps a chunk
  static constexpr int kChunk = 16 * kSteps;    // entries a chunk
  static constexpr int kWords = kChunk / 2;     // words of values a row and chunk
  static constexpr int kWordPitch = kWords + 8; // 8 or 24 modulo 32: rows on other banks
  static constexpr int kRowBytes = Tile * 2;    // of a row in the ring
  static constexpr int kLanes = Tile / 8;       // lanes that gather one row of B
  static constexpr int kEach = kLanes / 2;      // entries that a lane gathers in a step

  struct storage {
    uint4 ring[Stages][16][kLanes];
    uint32_t columns[2][kChunk];
    uint32_t values[2][kGroup][kWordPitch];
  };
  static constexpr int kBytes = sizeof(storage);
  static_assert(kBytes % 256 == 0, "the ring's swizzle wants rows aligned");
  static_assert(kBytes >= image<Tile>::kBytes, "the image of the products lies in the ring");
  static_assert(kWordPitch % 16 == 8 && (kSteps & (kSteps - 1)) == 0, "");

  // Copies chunk c of the column indices.
  static __device__ __forceinline__ void stage_columns(const arguments &p, const column_list &l,
                                                       storage &s, int c)
  {
    const int lane = threadIdx.x % 32;
    const int left = l.length - c * kChunk;
    uint32_t to = ptx::shared_address(&s.columns[c & 1][lane]);
    const char *from = l.columns + static_cast<int64_t>(c * kChunk + lane) * p.index_bytes;
#pragma unroll
    for (int e = 0; e < kChunk; e += 32)
      if (lane + e < left) ptx::cp_async_4(to + 4 * e, from + e * p.index_bytes);
  }

  // Copies chunk c of the values; what lies beyond the list becomes zero.  A warp-wide
  // copy takes kRowsAtOnce rows of kWords words; the word behind them, which odd rows
  // need, follows for all rows at once.
  static __device__ __forceinline__ void stage_values(const column_list &l, storage &s, int c)
  {
    constexpr int kRowsAtOnce = 32 / kWords;
    const int lane = threadIdx.x % 32, left = l.length - c * kChunk;
    if (left <= 0) return;
    const char *chunk = l.values + 2 * static_cast<int64_t>(c * kChunk);
    if (left >= kChunk + 2 && l.rows == kGroup) {
#pragma unroll
      for (int r = 0; r < kGroup; r += kRowsAtOnce)
        stage_word<true>(l, s, c, chunk, r + lane / kWords, lane % kWords);
      if (lane < kGroup) stage_word<true>(l, s, c, chunk, lane, kWords);
      return;
    }
#pragma unroll 1
    for (int i = lane; i < l.rows * (kWords + 1); i += 32)
      stage_word<false>(l, s, c, chunk, i / (kWords + 1), i % (kWords + 1));
  }
  // Word `word` of row `row` of the list; Whole: all of it and the next lie in the list.
  template <bool Whole>
  static __device__ __forceinline__ void stage_word(const column_list &l, storage &s, int c,
                                                    const char *chunk, int row, int word)
  {
    const uint64_t at = reinterpret_cast<uint64_t>(chunk) + 2 * static_cast<int64_t>(row * l.pitch);
    const uint32_t to = ptx::shared_address(&s.values[c & 1][l.first + row][word]);
    const char *row_words = reinterpret_cast<const char *>(at & ~UINT64_C(3));
    if (Whole) {
      ptx::cp_async_4(to, row_words + 4 * word);
      return;
    }
    const int left = l.length - c * kChunk, odd = static_cast<int>(at >> 1) & 1;
    const int bytes = max(0, min(4, 2 * (min(left, kChunk + 2) + odd) - 4 * word));
    ptx::cp_async_4(to, bytes > 0 ? row_words + 4 * word : row_words, bytes);
  }

  // Copies the 16 rows of B of a step into a slot of the ring.
  static __device__ __forceinline__ void gather(const arguments &p, const column_list &l,
                                                const storage &s, uint32_t ring, const char *b,
                                                bool inside, int step, int slot)
  {
    const int part = threadIdx.x % 32 / kLanes;
    const int left = l.length - 16 * step - kEach * part;
    if (l.length <= 16 * step) return;
    const uint32_t *column = &s.columns[step / kSteps & 1][step % kSteps * 16 + kEach * part];
    const uint32_t to = ring + slot * 16 * kRowBytes;
    if (!inside) return;
    uint32_t index[kEach];
#pragma unroll
    for (int i = 0; i < kEach; i += 4) {
      const uint4 four = *reinterpret_cast<const uint4 *>(column + i);
      index[i] = four.x, index[i + 1] = four.y, index[i + 2] = four.z, index[i + 3] = four.w;
    }
    if (l.length >= 16 * step + 16) {
#pragma unroll
      for (int i = 0; i < kEach; i++)
        ptx::cp_async_16(ring_place(to, i), b + static_cast<uint64_t>(index[i]) * p.b_row_bytes);
    } else {
#pragma unroll
      for (int i = 0; i < kEach; i++)
        ptx::cp_async_16(ring_place(to, i),
                         i < left ? b + static_cast<uint64_t>(index[i]) * p.b_row_bytes : p.b,
                         i < left ? 16 : 0);
    }
  }
  // Entry i of a lane's share, from the place of its entry 0.
  static __device__ __forceinline__ uint32_t ring_place(uint32_t to, int i)
  {
    return (to ^ ((i & 1) | (i >> 2) << 1) << 4) + i * kRowBytes;
  }

  // Where a lane works.
  struct lane_place {
    // What it gathers: piece `piece` of entries kEach * part ..
    const char *b;      // of row 0 of B
    bool inside;        // these columns are
    uint32_t gather_to; // in slot 0 of the ring
    // What it hands to ldmatrix: row i of matrix j.
    uint32_t ldmatrix_from; // in slot 0
    // Values of row g start at a half-word: which one is the same in every chunk.
    int g, t;
    uint32_t halves;

    __device__ __forceinline__ lane_place(const arguments &p, const column_list &l, int column0,
                                          const storage &s)
    {
      const int lane = threadIdx.x % 32, part = lane / kLanes, piece = lane % kLanes;
      const int column = column0 + 8 * piece;
      inside = column < p.n;
      b = based_b(p) + static_cast<int64_t>(column) * 2;
      asm("" : "+l"(b)); // else the compiler adds its terms again for every row gathered
      const uint32_t base = ptx::shared_address(s.ring);
      const uint32_t key = part * (kEach / 2);
      gather_to = base + part * kEach * kRowBytes + ((piece ^ key) << 4);

      const int i = lane % 8, j = lane / 8;
      const int entry = (i >> 1) * 4 + (i & 1) + (j >> 1) * 2;
      ldmatrix_from = base + entry * kRowBytes + (((j & 1) ^ i) << 4);

      g = lane / 4, t = lane % 4;
      const uint64_t row_g =
          reinterpret_cast<uint64_t>(l.values) + 2 * (static_cast<int64_t>(g - l.first) * l.pitch);
      halves = row_g & 2 ? 0x5432 : 0x3210;
    }
  };

  // Stages the first chunk and asks for the first kSteps steps, a group of copies for each.
  static __device__ __forceinline__ void fill(const arguments &p, const column_list &l, storage &s,
                                              const lane_place &at)
  {
    stage_columns(p, l, s, 0);
    stage_columns(p, l, s, 1);
    stage_values(l, s, 0);
    ptx::cp_async_commit();
    ptx::cp_async_wait<0>();
    __syncwarp();
    for (int step = 0; step < kSteps; step++) {
      gather(p, l, s, at.gather_to, at.b, at.inside, step, step);
      ptx::cp_async_commit();
    }
  }

  // One group of copies a step, so this waits for step's rows of B and for what was staged kSteps
  // steps ago; and all lanes are done with the step before.
  static __device__ __forceinline__ void wait()
  {
    ptx::cp_async_wait<kSteps - 1>();
    __syncwarp();
  }

  // Asks for what is kSteps steps ahead: its rows of B, and a chunk of A where one begins.
  static __device__ __forceinline__ void fetch(const arguments &p, const column_list &l, storage &s,
                                               const lane_place &at, int step, int slot)
  {
    if (step % kSteps == 0) {
      stage_values(l, s, step / kSteps + 1);
      stage_columns(p, l, s, step / kSteps + 2);
    }
    gather(p, l, s, at.gather_to, at.b, at.inside, step + kSteps, slot);
    ptx::cp_async_commit();
  }

  static __device__ __forceinline__ void multiply_step(const storage &s, const lane_place &at,
                                                       int step, int slot, float (&d)[Tile / 16][4])
  {
    const uint32_t *w = &s.values[step / kSteps & 1][at.g][step % kSteps * 8 + 2 * at.t];
    const uint2 low = *reinterpret_cast<const uint2 *>(w);
    const uint32_t high = w[2];
    const uint32_t values[2] = {ptx::permute_bytes(low.x, low.y, at.halves),
                                ptx::permute_bytes(low.y, high, at.halves)};
    const uint32_t rows = at.ldmatrix_from + slot * 16 * kRowBytes;
#pragma unroll
    for (int m = 0; m < Tile / 16; m++) {
      uint32_t a[4];
      ptx::ldmatrix_x4_trans(a, rows ^ m << 5);
      mma_of<T>::run(d[m], a, values);
    }
  }

  // In place of the ring, which nobody reads any more.
  static __device__ __forceinline__ void store(unsigned char *bytes, const lane_place &at,
                                               const float (&d)[Tile / 16][4])
  {
    float *to = reinterpret_cast<float *>(bytes) + 2 * at.t * image<Tile>::kPitch + at.g;
#pragma unroll
    for (int m = 0; m < Tile / 16; m++) {
      to[16 * m] = d[m][0];
      to[16 * m + image<Tile>::kPitch] = d[m][1];
      to[16 * m + 8] = d[m][2];
      to[16 * m + 8 + image<Tile>::kPitch] = d[m][3];
    }
  }

  // The products of `l` with columns column0 .. of B, left as an image in `bytes`.
  static __device__ __forceinline__ void multiply(const arguments &p, const column_list &l,
                                                  int column0, unsigned char *bytes)
  {
    storage &s = *reinterpret_cast<storage *>(bytes);
    const int steps = (l.length + 15) / 16;
    const lane_place at(p, l, column0, s);
    float d[Tile / 16][4] = {};
    int to_slot = kSteps, from_slot = 0;

    fill(p, l, s, at);
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
      wait();
      fetch(p, l, s, at, step, to_slot);
      multiply_step(s, at, step, from_slot, d);
      to_slot = to_slot == Stages - 1 ? 0 : to_slot + 1;
      from_slot = from_slot == Stages - 1 ? 0 : from_slot + 1;
    }
    ptx::cp_async_wait<0>();
    __syncwarp();
    store(bytes, at, d);
  }
};

template <class T>
inline cudaError_t launch_mma(const arguments &p, int tile, shunt_type out, int compute_capability,
                              cudaStream_t stream)
{
  using wide = mma_lists<T, 128, 3>;
  using narrow = mma_lists<T, 64, 5>;
  if (tile == 128)
    return out == SHUNT_F32 ? launch<wide, float>(p, compute_capability, stream)
                            : launch<wide, T>(p, compute_capability, stream);
  return out == SHUNT_F32 ? launch<narrow, float>(p, compute_capability, stream)
                          : launch<narrow, T>(p, compute_capability, stream);
}

} // namespace vector::csr
} // namespace shunt
