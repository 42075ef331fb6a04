// fingerprint_parts.cuh: a block's part of a CSR matrix's fingerprint, for the kernels that
// take one (the mathematics is in kernels/guard/fingerprint.h).
//
// The arrays are cut into tiles of 4096 bytes, numbered through:
//
//   tile   0 ........ t0 ............ t1 ........ t2
//          | offsets  |   columns     |  values   |
//
// and dealt to the warps of the `shares` blocks that take part, first one warp of each block,
// then the next one of each, so that every multiprocessor gets the same however few there are:
//
//   tile      0 .. shares-1   shares .. 2 shares-1   ..   warps x shares ..
//   warp      0               1                           0 again
//   block     0 .. last       0 .. last                   0 .. last
//
// A part is the sum over a block's tiles; the fingerprint is the sum of the parts.
//
// Cost a 16-byte piece: one load, 12 instructions to absorb it, 5 for its share of closing
// the chunk: below the memory time of every device this is built for.  A warp has its
// whole tile in flight, so four blocks keep 128 KB a multiprocessor in flight: four times what
// the device's bandwidth times its latency asks for, and small matrices (17 MB on an H200) are read
// in one go.  What is read is not needed again before the next call: it passes by L1 and is the
// first that L2 gives up, before the operands of the product.  Blocks are small: beside a product a
// quarter of a multiprocessor's registers may be free, but never half of them.
#pragma once
#include "kernels/common/device.h"
#include "kernels/guard/fingerprint.h"
#include "kernels/ptx/gpu_scope.cuh"
#include "kernels/ptx/stream_load.cuh"

namespace shunt
{
namespace guard
{

constexpr int hash_threads = 256; // of a block
constexpr int hash_warps = hash_threads / 32;
constexpr int hash_blocks_per_multiprocessor = 4;

// One array of A.  `align` is the largest power of two, up to 16, that divides its
// address: how wide its loads may be.
struct hash_array {
  const unsigned char *at;
  int64_t bytes;
  int tiles;
  int align;
};

struct hash_job {
  hash_array array[3];
  int tiles; // of all three together
  struct shunt_fingerprint seed;
};

// ---- loads -------------------------------------------------------------------

// W bytes at p, which is a multiple of W.
template <int W> __device__ __forceinline__ uint2 load_narrow(const unsigned char *p)
{
  if constexpr (W == 8) return __ldg(reinterpret_cast<const uint2 *>(p));
  if constexpr (W == 4) return make_uint2(__ldg(reinterpret_cast<const unsigned *>(p)), 0);
  if constexpr (W == 2) return make_uint2(__ldg(reinterpret_cast<const unsigned short *>(p)), 0);
  if constexpr (W == 1) return make_uint2(__ldg(p), 0);
}

// 16 bytes at p, which is a multiple of W only; zeros unless wanted.
template <int W>
__device__ __forceinline__ uint4 load_piece(const unsigned char *p, uint64_t policy, bool wanted)
{
  if constexpr (W == 16) {
    return ptx::read_once_16(p, policy, wanted);
  } else if constexpr (W == 8) {
    uint2 a = make_uint2(0, 0), b = a;
    if (wanted) a = load_narrow<8>(p), b = load_narrow<8>(p + 8);
    return make_uint4(a.x, a.y, b.x, b.y);
  } else {
    uint32_t w[4] = {0, 0, 0, 0};
    if (wanted)
#pragma unroll
      for (int i = 0; i < 16; i += W) w[i / 4] |= load_narrow<W>(p + i).x << (8 * (i % 4));
    return make_uint4(w[0], w[1], w[2], w[3]);
  }
}

// The first n (1..15) of 16 bytes, zeros behind.
__device__ inline uint4 load_ragged(const unsigned char *p, int n)
{
  uint64_t low = 0, high = 0;
#pragma unroll 1
  for (int i = 0; i < n; i++) {
    uint64_t byte = __ldg(p + i);
    if (i < 8)
      low |= byte << (8 * i);
    else
      high |= byte << (8 * (i - 8));
  }
  return make_uint4((uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high, (uint32_t)(high >> 32));
}

// ---- tiles -------------------------------------------------------------------

// A lane's eight pieces, `left` (0..4096) bytes of the array from p on.
template <int W>
__device__ __forceinline__ void fetch(uint4 (&piece)[SHUNT_FP_PIECES], const unsigned char *p,
                                      int left, uint64_t policy)
{
#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++)
    piece[j] =
        load_piece<W>(p + j * SHUNT_FP_ROW, policy, left >= j * SHUNT_FP_ROW + SHUNT_FP_PIECE);
}

__device__ __forceinline__ void absorb_piece(struct shunt_fp_chunk &c, int j, uint4 piece)
{
  shunt_fp_absorb(&c, 2 * j, piece.x, piece.y);
  shunt_fp_absorb(&c, 2 * j + 1, piece.z, piece.w);
}
__device__ __forceinline__ struct shunt_fp_chunk absorb(const uint4 (&piece)[SHUNT_FP_PIECES])
{
  struct shunt_fp_chunk c = {0, 0};
#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++) absorb_piece(c, j, piece[j]);
  return c;
}

// What a lane's pieces of a tile contribute.
__device__ __forceinline__ struct shunt_fingerprint
close_tile(const uint4 (&piece)[SHUNT_FP_PIECES], unsigned id, int tile, int lane)
{
  return shunt_fp_close(absorb(piece), id, (uint64_t)tile * SHUNT_FP_LANES + lane);
}

// A lane's chunk of a whole tile that is not its array's first, where p is a multiple of 8 and not
// of 16: the 16 bytes around each piece's first half, and the second half from the next lane, whose
// are 16 further on.  (The columns that PyTorch makes, if the number of entries is odd.)  A
// function of its own, for its registers' sake.
static __device__ __noinline__ struct shunt_fp_chunk absorb_halves(const unsigned char *p,
                                                                   uint64_t policy)
{
  const int next = (threadIdx.x + 1) % 32;
  const bool first = threadIdx.x % 32 == 0;
  uint4 piece[SHUNT_FP_PIECES];
#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++)
    piece[j] = ptx::read_once_16(p - 8 + j * SHUNT_FP_ROW, policy, true);
  uint2 end = make_uint2(0, 0); // the last half of the tile
  if (first) end = load_narrow<8>(p + SHUNT_FP_TILE - 8);
#pragma unroll
  for (int j = 0; j < SHUNT_FP_PIECES; j++) {
    const bool last = j + 1 == SHUNT_FP_PIECES;
    const unsigned x = last ? end.x : piece[last ? j : j + 1].x;
    const unsigned y = last ? end.y : piece[last ? j : j + 1].y;
    const unsigned low = __shfl_sync(0xffffffffu, first ? x : piece[j].x, next);
    const unsigned high = __shfl_sync(0xffffffffu, first ? y : piece[j].y, next);
    piece[j] = make_uint4(piece[j].z, piece[j].w, low, high);
  }
  return absorb(piece);
}

// Of any tile, `left` bytes of the array from p on, as for fetch().
__device__ __forceinline__ struct shunt_fp_chunk
absorb_any(const hash_array &a, const unsigned char *p, int left, uint64_t policy)
{
  uint4 piece[SHUNT_FP_PIECES];
  switch (a.align) {
  case 16: fetch<16>(piece, p, left, policy); break;
  case 8: fetch<8>(piece, p, left, policy); break;
  case 4: fetch<4>(piece, p, left, policy); break;
  case 2: fetch<2>(piece, p, left, policy); break;
  default: fetch<1>(piece, p, left, policy); break;
  }
  // At most one piece of the whole array is cut by its end.
  const int cut = left % SHUNT_FP_ROW;
  if (cut > 0 && cut < SHUNT_FP_PIECE) {
    const int which = left / SHUNT_FP_ROW;
    const uint4 v = load_ragged(p + which * SHUNT_FP_ROW, cut);
#pragma unroll
    for (int j = 0; j < SHUNT_FP_PIECES; j++)
      if (j == which) piece[j] = v;
  }
  return absorb(piece);
}

__device__ __forceinline__ void hash_tile(const hash_array &a, unsigned id, int tile, int lane,
                                          uint64_t policy, struct shunt_fingerprint &sum)
{
  const int64_t begin = (int64_t)tile * SHUNT_FP_TILE, first = begin + lane * SHUNT_FP_PIECE;
  const int64_t rest = a.bytes - first;
  const int left = rest <= 0 ? 0 : rest < SHUNT_FP_TILE ? (int)rest : SHUNT_FP_TILE;
  const bool halves = a.align == 8 && tile > 0 && a.bytes - begin >= SHUNT_FP_TILE;
  const struct shunt_fp_chunk c =
      halves ? absorb_halves(a.at + first, policy) : absorb_any(a, a.at + first, left, policy);
  shunt_fp_add(&sum, shunt_fp_close(c, id, (uint64_t)tile * SHUNT_FP_LANES + lane));
}

// ---- shares ------------------------------------------------------------------

// A tile's place: its array, and its number there.
struct hash_tile_place {
  int id, tile;
};
__device__ __forceinline__ hash_tile_place place_tile(const hash_job &job, int t)
{
  const int t0 = job.array[0].tiles, t1 = t0 + job.array[1].tiles;
  if (t < t0) return {SHUNT_FP_OFFSETS, t};
  if (t < t1) return {SHUNT_FP_COLUMNS, t - t0};
  return {SHUNT_FP_VALUES, t - t1};
}

// A warp among those that hash: of a block with share `share` of `shares`, number `warp` of
// `warps`.
struct hash_worker {
  int share, shares, warp, warps;
  __device__ __forceinline__ int first_tile() const { return warp * shares + share; }
};

// Asks L2 for the first tile of the warp.  May come before wait_for_previous(): if an earlier
// kernel still writes there, L2 holds what it writes.
__device__ __forceinline__ void prefetch_share(const hash_job &job, const hash_worker &w)
{
  const int t = w.first_tile();
  if (t >= job.tiles) return;
  const hash_tile_place at = place_tile(job, t);
  const int64_t byte = (int64_t)at.tile * SHUNT_FP_TILE + threadIdx.x % 32 * (SHUNT_FP_TILE / 32);
  if (byte < job.array[at.id].bytes) ptx::prefetch_l2(job.array[at.id].at + byte);
}

// What this thread finds in its warp's tiles.
__device__ __forceinline__ struct shunt_fingerprint hash_share(const hash_job &job,
                                                               const hash_worker &w)
{
  const uint64_t policy = ptx::evict_first_policy();
  const int lane = threadIdx.x % 32;
  struct shunt_fingerprint sum = {0, 0};
  for (int t = w.first_tile(); t < job.tiles; t += w.shares * w.warps) {
    const hash_tile_place at = place_tile(job, t);
    hash_tile(job.array[at.id], at.id, at.tile, lane, policy, sum);
  }
  if (w.share == 0 && w.warp == 0 && lane == 0) shunt_fp_add(&sum, job.seed);
  return sum;
}

// Chunks of hash_warps tiles that blocks of hash_threads take one after another, where they do not
// all begin at once: early ones take more.
struct hash_queue {
  uint32_t *taken, chunks;
  uint32_t mine[2]; // this block's chunk and its next; the caller puts the first one there
};
__device__ __forceinline__ uint32_t hash_chunks(const hash_job &job)
{
  return ((uint32_t)job.tiles + hash_warps - 1) / hash_warps;
}

// What this thread finds in the chunks that its block takes from a queue (in shared memory); by all
// threads of the block.  The next chunk is taken while one is hashed, unless few are left: then
// no block holds two.
__device__ __forceinline__ struct shunt_fingerprint hash_queued(const hash_job &job,
                                                                volatile hash_queue *queue)
{
  constexpr uint32_t few = 32;
  const uint64_t policy = ptx::evict_first_policy();
  struct shunt_fingerprint sum = {0, 0};
  for (uint32_t turn = 0;; turn ^= 1) {
    const uint32_t chunk = queue->mine[turn];
    if (chunk >= queue->chunks) break;
    const bool ahead = chunk + few < queue->chunks;
    uint32_t coming = 0;
    if (threadIdx.x == 0 && ahead) coming = ptx::add_relaxed(queue->taken, 1);
    const int t = (int)chunk * hash_warps + threadIdx.x / 32;
    if (t < job.tiles) {
      const hash_tile_place at = place_tile(job, t);
      hash_tile(job.array[at.id], at.id, at.tile, threadIdx.x % 32, policy, sum);
    }
    if (threadIdx.x == 0) {
      if (!ahead) coming = ptx::add_relaxed(queue->taken, 1);
      queue->mine[turn ^ 1] = coming;
    }
    __syncthreads();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) shunt_fp_add(&sum, job.seed);
  return sum;
}

// The workers of a block of which all warps hash.
__device__ __forceinline__ hash_worker worker_of(int share, int shares)
{
  return {share, shares, (int)(threadIdx.x / 32), hash_warps};
}

__device__ __forceinline__ void warp_sum(struct shunt_fingerprint &f, int lanes)
{
  for (int step = lanes / 2; step > 0; step /= 2) {
    f.lo += __shfl_down_sync(0xffffffffu, f.lo, step);
    f.hi += __shfl_down_sync(0xffffffffu, f.hi, step);
  }
}

// The sum of all threads' fingerprints of a block of hash_threads, in thread 0.
__device__ __forceinline__ struct shunt_fingerprint block_sum(struct shunt_fingerprint f)
{
  __shared__ struct shunt_fingerprint of_warp[hash_warps];
  warp_sum(f, 32);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = f;
  __syncthreads();
  if (threadIdx.x < 32) {
    f = of_warp[threadIdx.x % hash_warps];
    warp_sum(f, hash_warps);
  }
  return f;
}

// ---- host --------------------------------------------------------------------

inline int hash_alignment(const void *p)
{
  int a = 1;
  while (a < 16 && reinterpret_cast<uintptr_t>(p) % (2 * a) == 0) a *= 2;
  return a;
}

// a's arrays as a job; SHUNT_OK, or what is wrong with a.
inline shunt_status make_hash_job(const struct shunt_csr *a, hash_job *job)
{
  const void *at[3] = {a->row_offsets, a->columns, a->values};
  int64_t bytes[3], tiles = 0;

  *job = hash_job{};
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (a->rows < 0 || a->nnz < 0) return SHUNT_E_ARGUMENT;
  shunt_fp_sizes(a, bytes);
  for (int i = 0; i < 3; i++) tiles += shunt_fp_tiles(bytes[i]);
  if (tiles >= (int64_t)1 << 30) return SHUNT_E_UNSUPPORTED; // 4 TB
  job->tiles = (int)tiles;
  for (int i = 0; i < 3; i++)
    job->array[i] = {static_cast<const unsigned char *>(at[i]), bytes[i],
                     (int)shunt_fp_tiles(bytes[i]), hash_alignment(at[i])};
  job->seed = shunt_fp_seed(a);
  return SHUNT_OK;
}

// Blocks that are worth their while for `tiles`, at most what fits the device at once.  Few
// tiles a block: so all multiprocessors have the same to do.
inline int hash_blocks(int64_t tiles, const struct shunt_device *d, int most)
{
  const int64_t wanted = (tiles + 3) / 4;
  const int64_t room = (int64_t)d->multiprocessors * hash_blocks_per_multiprocessor;
  const int64_t blocks = wanted < room ? wanted : room;
  return (int)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

} // namespace guard
} // namespace shunt
