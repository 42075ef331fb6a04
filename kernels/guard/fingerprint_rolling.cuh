// fingerprint_rolling.cuh: a block's part of a CSR matrix's fingerprint (fingerprint_parts.cuh) by
// few warps, beside others that keep the multiprocessor busy.
//
// A warp has AtOnce tiles in hand.  A lane asks for a piece of the tiles that follow as soon as
// that of these is absorbed, into the same registers, so that as many tiles are always under way:
//
//   absorb piece 0 of each, load the next ones' piece 0, absorb 1, load 1, .. 7, close, again
//
// One tile for each of seven warps, or two for each of three, which would else wait for their own
// arithmetic.  No shared memory is taken, which the product needs.  Rings in shared memory that the
// copy engine fills, and prefetches to L2, are slower: what they ask for early is served before
// what the product waits for (tests/bench/guard.md).
//
// If an array begins 8 bytes off 16 (the columns that PyTorch makes, if the number of entries is
// odd), all are read by 8 bytes: two loads a piece.  Tiles cut by an array's end, or not on 8
// bytes, are read one after the other, at the end.
#pragma once
#include "kernels/guard/fingerprint_bulk.cuh"

namespace shunt
{
namespace guard
{

// The tiles to be read so: whole ones of arrays whose address is a multiple of `width`.
struct rolling_ranges : hash_ranges {
  __device__ __forceinline__ rolling_ranges(const hash_job &job, int width)
  {
    int begin = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
      const hash_array &a = job.array[i];
      const int whole = a.align >= width ? (int)(a.bytes / SHUNT_FP_TILE) : 0;
      of[i] = {
          a.at - (int64_t)begin * SHUNT_FP_TILE, begin, begin, begin + whole, begin + a.tiles, 0};
      begin += a.tiles;
    }
  }
};

// A lane's pieces of tile t of all, if it is one to be read so.
template <int Width> struct rolling_tile {
  const unsigned char *from;
  bool there;
  __device__ __forceinline__ rolling_tile() {}
  __device__ __forceinline__ rolling_tile(const hash_ranges &all, int t)
  {
    const hash_range a = all.range(all.id_of(t));
    from = a.origin + (int64_t)t * SHUNT_FP_TILE + threadIdx.x % 32 * SHUNT_FP_PIECE;
    there = t < a.whole;
  }
  __device__ __forceinline__ void load(uint4 &piece, int j, uint64_t policy) const
  {
    if constexpr (Width == 16)
      ptx::read_once_16_if(there, piece, from + j * SHUNT_FP_ROW, policy);
    else if (there)
      piece = load_piece<Width>(from + j * SHUNT_FP_ROW, policy, true);
  }
};

// What tile t contributes if it was read so, given its chunk; without a branch, so that several
// mix.
__device__ __forceinline__ void close_rolling(const struct shunt_fp_chunk &c,
                                              const hash_ranges &all, int t,
                                              struct shunt_fingerprint &sum)
{
  const int id = all.id_of(t);
  const hash_range a = all.range(id);
  const uint64_t counts = t < a.whole ? ~(uint64_t)0 : 0;
  const struct shunt_fingerprint f =
      shunt_fp_close(c, id, (uint64_t)(t - a.begin) * SHUNT_FP_LANES + threadIdx.x % 32);
  sum.lo += f.lo & counts;
  sum.hi += f.hi & counts;
}

// hash_share() in that way, by loads of Width bytes.
template <int AtOnce, int Width>
__device__ __forceinline__ struct shunt_fingerprint hash_by_width(const hash_job &job,
                                                                  const hash_worker &w)
{
  const rolling_ranges all(job, Width);
  const uint64_t policy = ptx::evict_first_policy();
  const int tiles = job.tiles, apart = w.shares * w.warps;
  struct shunt_fingerprint sum = {0, 0};
  uint4 piece[AtOnce][SHUNT_FP_PIECES] = {};
  int t = w.first_tile();
#pragma unroll
  for (int i = 0; i < AtOnce; i++) {
    const rolling_tile<Width> first(all, t + i * apart);
#pragma unroll
    for (int j = 0; j < SHUNT_FP_PIECES; j++) first.load(piece[i][j], j, policy);
  }
  for (; t < tiles; t += AtOnce * apart) {
    struct shunt_fp_chunk chunk[AtOnce] = {};
    rolling_tile<Width> next[AtOnce];
#pragma unroll
    for (int i = 0; i < AtOnce; i++) next[i] = rolling_tile<Width>(all, t + (AtOnce + i) * apart);
#pragma unroll
    for (int j = 0; j < SHUNT_FP_PIECES; j++)
#pragma unroll
      for (int i = 0; i < AtOnce; i++) {
        absorb_piece(chunk[i], j, piece[i][j]);
        next[i].load(piece[i][j], j, policy);
      }
#pragma unroll
    for (int i = 0; i < AtOnce; i++) close_rolling(chunk[i], all, t + i * apart, sum);
  }
  add_others(job, all, w, policy, sum);
  if (w.share == 0 && w.warp == 0 && threadIdx.x % 32 == 0) shunt_fp_add(&sum, job.seed);
  return sum;
}

// hash_share() in that way.
template <int AtOnce>
__device__ __forceinline__ struct shunt_fingerprint hash_share_rolling(const hash_job &job,
                                                                       const hash_worker &w)
{
  const bool off = job.array[0].align == 8 || job.array[1].align == 8 || job.array[2].align == 8;
  return off ? hash_by_width<AtOnce, 8>(job, w) : hash_by_width<AtOnce, 16>(job, w);
}

} // namespace guard
} // namespace shunt
