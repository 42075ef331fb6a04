// fingerprint_bulk.cuh: a block's part of a CSR matrix's fingerprint (fingerprint_parts.cuh) by few
// warps, beside others that keep the multiprocessor busy.
//
// The registers of a few warps hold too few loads at a time, so the copy engine brings tiles to
// shared memory, into a ring of a few slots that each warp has for itself:
//
//   one lane   asks for a tile in each free slot               A -> slot, barrier
//   all lanes  wait for two tiles, read their pieces, hash     slot -> registers
//
// Two at once, because the steps of one chunk's hash wait for each other.  The copy engine wants
// multiples of 16: of an array on 8 bytes (the columns that PyTorch makes, if the number of entries
// is odd) it brings the 8 bytes before each tile and behind it as well:
//
//   slot   | 8 | tile: 4096 bytes | 8 |
//
// Tiles that it cannot bring (cut by an array's end, the first of such an array, or on fewer than
// 8) are read by the lanes, at the beginning.
#pragma once
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/ptx/bulk_copy.cuh"
#include "kernels/ptx/elect.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"

namespace shunt
{
namespace guard
{

constexpr int kHashSlots = 4; // of a warp, where there is room

// A tile, and what comes with it.
struct hash_slot {
  uint4 piece[SHUNT_FP_PIECES][SHUNT_FP_LANES];
  uint4 rest;
};

// A warp's ring, behind each other in shared memory, aligned to 16 bytes.  Slots: even.
template <int Slots> struct hash_ring_of {
  hash_slot slot[Slots];
  uint64_t full[Slots];
};
using hash_ring = hash_ring_of<kHashSlots>;

// By one thread, before the ring's use and a barrier of the block.
template <int Slots>
__device__ __forceinline__ void prepare_hash_ring(const hash_ring_of<Slots> &ring)
{
  for (int i = 0; i < Slots; i++) ptx::mbarrier_init(ptx::shared_address(&ring.full[i]), 1);
}

// The tiles of one array among all tiles: those from `first` on and before `whole` the copy engine
// can bring.
struct hash_range {
  const unsigned char *origin; // where tile 0 of all would be, or the 8 bytes before it
  int begin, first, whole, end;
  int shift; // bytes before a tile in its slot: 0, 8
  __device__ __forceinline__ bool brings(int t) const { return t >= first && t < whole; }
};
struct hash_ranges {
  hash_range of[3];
  __device__ __forceinline__ hash_ranges() {}
  __device__ __forceinline__ explicit hash_ranges(const hash_job &job)
  {
    int begin = 0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
      const hash_array &a = job.array[i];
      const int shift = a.align == 8 ? 8 : 0;
      const int whole =
          a.align >= 8 && a.bytes > shift ? (int)((a.bytes - shift) / SHUNT_FP_TILE) : 0;
      const int first = shift && whole > 0 ? 1 : 0;
      of[i] = {a.at - (int64_t)begin * SHUNT_FP_TILE - shift,
               begin,
               begin + first,
               begin + whole,
               begin + a.tiles,
               shift};
      begin += a.tiles;
    }
  }
  __device__ __forceinline__ int id_of(int t) const
  {
    return t < of[0].end ? 0 : t < of[1].end ? 1 : 2;
  }
  __device__ __forceinline__ hash_range range(int id) const
  {
    return id == 0 ? of[0] : id == 1 ? of[1] : of[2];
  }
  __device__ __forceinline__ int shift_of(int t) const
  {
    return range(id_of(t)).shift;
  }
};

// By all lanes: tile t of all to a slot.
__device__ __forceinline__ void fetch_tile(const hash_ranges &all, int t, uint32_t slot,
                                           uint32_t full, uint64_t policy)
{
  const hash_range a = all.range(all.id_of(t));
  const uint32_t bytes = a.brings(t) ? SHUNT_FP_TILE + 2 * a.shift : 0;
  if (!ptx::elect_one()) return;
  ptx::mbarrier_arrive_expect(full, bytes);
  if (bytes) ptx::bulk_load_once(slot, a.origin + (int64_t)t * SHUNT_FP_TILE, bytes, full, policy);
}

// 16 bytes at p, which is a multiple of 8.
__device__ __forceinline__ uint4 two_halves(const uint4 *p)
{
  const uint2 *half = reinterpret_cast<const uint2 *>(p) + 1;
  const uint2 low = half[0], high = half[1];
  return make_uint4(low.x, low.y, high.x, high.y);
}

__device__ __forceinline__ void take_tile(uint4 (&piece)[SHUNT_FP_PIECES], const hash_slot &slot,
                                          const uint64_t &full, uint32_t parity, int shift)
{
  ptx::mbarrier_wait(ptx::shared_address(&full), parity);
  if (shift == 0) {
#pragma unroll
    for (int j = 0; j < SHUNT_FP_PIECES; j++) piece[j] = slot.piece[j][threadIdx.x % 32];
  } else {
#pragma unroll
    for (int j = 0; j < SHUNT_FP_PIECES; j++)
      piece[j] = two_halves(&slot.piece[j][threadIdx.x % 32]);
  }
}

// What tile t contributes, if it was brought; without a branch, so that two of them mix.
__device__ __forceinline__ void add_tile(const uint4 (&piece)[SHUNT_FP_PIECES],
                                         const hash_ranges &all, int t,
                                         struct shunt_fingerprint &sum)
{
  const int id = all.id_of(t);
  const hash_range a = all.range(id);
  const uint64_t counts = a.brings(t) ? ~(uint64_t)0 : 0;
  const struct shunt_fingerprint f = close_tile(piece, id, t - a.begin, threadIdx.x % 32);
  sum.lo += f.lo & counts;
  sum.hi += f.hi & counts;
}

// The worker's first tile that is not before `from`.
__device__ __forceinline__ int next_tile(const hash_worker &w, int from)
{
  const int apart = w.shares * w.warps, behind = from - w.first_tile();
  return w.first_tile() + (behind > 0 ? (behind + apart - 1) / apart * apart : 0);
}

// The tiles of the worker that were not brought.
__device__ __forceinline__ void add_others(const hash_job &job, const hash_ranges &all,
                                           const hash_worker &w, uint64_t policy,
                                           struct shunt_fingerprint &sum)
{
  const int apart = w.shares * w.warps;
#pragma unroll 1
  for (int id = 0; id < 3; id++) {
    const hash_range a = all.range(id);
    int t = next_tile(w, a.begin);
    while (t < a.end) {
      if (a.brings(t)) {
        t = next_tile(w, a.whole);
        continue;
      }
      hash_tile(job.array[id], id, t - a.begin, threadIdx.x % 32, policy, sum);
      t += apart;
    }
  }
}

// hash_share() through the warp's ring.
template <int Slots>
__device__ __forceinline__ struct shunt_fingerprint
hash_share_bulk(const hash_job &job, const hash_worker &w, const hash_ring_of<Slots> &ring)
{
  const hash_ranges all(job);
  const uint64_t policy = ptx::evict_first_policy();
  const int tiles = job.tiles, apart = w.shares * w.warps;
  const uint32_t first_slot = ptx::shared_address(&ring.slot[0]),
                 first_full = ptx::shared_address(&ring.full[0]);
  struct shunt_fingerprint sum = {0, 0};
  int t = w.first_tile();
  for (int i = 0; i < Slots; i++)
    if (t + i * apart < tiles)
      fetch_tile(all, t + i * apart, first_slot + i * (uint32_t)sizeof(hash_slot),
                 first_full + 8 * i, policy);
  add_others(job, all, w, policy, sum);
  int slot = 0;
  uint32_t parity = 0;
  uint4 one[SHUNT_FP_PIECES], two[SHUNT_FP_PIECES];
  for (; t + apart < tiles; t += 2 * apart) {
    take_tile(one, ring.slot[slot], ring.full[slot], parity, all.shift_of(t));
    take_tile(two, ring.slot[slot + 1], ring.full[slot + 1], parity, all.shift_of(t + apart));
    __syncwarp();
    for (int i = 0; i < 2; i++)
      if (t + (Slots + i) * apart < tiles)
        fetch_tile(all, t + (Slots + i) * apart,
                   first_slot + (slot + i) * (uint32_t)sizeof(hash_slot),
                   first_full + 8 * (slot + i), policy);
    __syncwarp();
    add_tile(one, all, t, sum);
    add_tile(two, all, t + apart, sum);
    slot += 2;
    if (slot == Slots) slot = 0, parity ^= 1;
  }
  if (t < tiles) {
    take_tile(one, ring.slot[slot], ring.full[slot], parity, all.shift_of(t));
    add_tile(one, all, t, sum);
  }
  if (w.share == 0 && w.warp == 0 && threadIdx.x % 32 == 0) shunt_fp_add(&sum, job.seed);
  return sum;
}

} // namespace guard
} // namespace shunt
