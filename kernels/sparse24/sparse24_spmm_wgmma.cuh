// sparse24_spmm_wgmma.cuh: C = alpha A B with A in the `sparse24` format, by wgmma.sp, and in the
// same launch the proof that the copy still stands for A.
//
// Or A's values are read in place, from the caller's array, where its rows are those of the packed
// values; then only A's pattern is proved.
//
// A block has tiles of C of 128 rows x kColumns columns, and walks K in chunks of 64:
//
//   warps 0 .. 7    two warpgroups, 64 rows each, multiply   ring -> wgmma.sp -> registers -> C
//   warp  8         tells the copy engine what to bring      A's tiles, B -> ring in shared memory
//   warps 9 ..      take the block's share of A's fingerprint  A's arrays -> registers
//   meanwhile       when all is multiplied and hashed, and the last tile still being stored, one
//                   thread arrives with the block's part of the fingerprint, and whether a sum
//                   became NaN; whoever sees the sum complete knows whether C stands or is computed
//                   row by row (kernels/guard/agreement.cuh), once all blocks have stored
//
//   ring, one of kStages:  | B: 64 columns x 64 of K | B: next 64 | .. | A: 64 rows | 64 rows |
//                            8 KB each, rows of 128 bytes, swizzled       4608 bytes each
//   (int8: 128 of K, B by columns only; 5120 bytes)
//   values in place: A has a ring for itself, since rows of 128 bytes are two chunks
//                          | values: 128 rows | metadata: 64 rows | 64 rows | of the second chunk |
//
// Three warps that hash are all that registers leave beside products of 256 columns: the compiler
// gives 384 threads 168 each, more threads fewer than such a product names (setmaxnreg does not
// change that).  Beside products of 128 columns there are seven, also where a tile takes two of
// them, which read A twice.
//
// full, empty: barriers of a stage; the copy engine has brought it, all warps are done with it.
// B row-major is the MN-major operand, column-major the K-major one (ptx/wgmma.cuh).
//
// Tiles of C are dealt out to as many blocks as there are multiprocessors, in panels of kPanel
// columns so that blocks at work at one time share rows and columns that lie in L2:
//
//   panel 0:  | 0 1 2 .. 7 |   panel 1:  | .. |
//             | 8 9 ..     |
//
// Zeros that fill A up turn a NaN or Inf of B into NaN where A has no entry: so a NaN among the
// sums is an alarm.  Where the product goes to W, a repair writes C all the same.
//
// Where every quad is full, A's columns are compared with the copy's (sparse24_columns.cuh), which
// is less work than a hash; and blocks that have fewer tiles of C than others then take more of
// them, by all their warps before they multiply.
//
// Bound, 128 columns: a multiprocessor takes 64 bytes a cycle from L2.  4096 x 4096 x 512 has
// 128 tiles, each of 1.64 MB, and 0.38 MB of A's arrays a block: 31,600 cycles, 17.8 us at 1.77
// GHz; measured 19 until the last product.  256 columns: a product of 64 x 256 x 32 reads B's 16 KB
// and A's 2 KB from shared memory, 144 cycles at 128 bytes a cycle (128 for its multiplications
// alone, twice those of wgmma): 41 us at 4096x4096x2048 and 1.75 GHz.  Measured: 144 cycles alone,
// 60 us as a kernel: the copy engine writes a chunk in 328 cycles more, 904 in all, and 884 are
// measured.  Two products of 128 columns: 640 + 328, measured 1000.  A from registers takes 128
// alone, but brought there past shared memory 10 to 15 % longer in all.  Clusters that share B are
// no faster.  Values in place take as long as the copy's, and hashing a third less.  Figures:
// tests/bench/sparse24.md.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/common/wgmma_store.cuh"
#include "kernels/guard/agreement.cuh"
#include "kernels/guard/fingerprint_rolling.cuh"
#include "kernels/ptx/bulk_copy.cuh"
#include "kernels/ptx/elect.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/registers.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/ptx/wgmma_sparse.cuh"
#include "kernels/sparse24/sparse24_columns.cuh"
#include "kernels/sparse24/sparse24_kernels.h"
#include "kernels/sparse24/sparse24_spmm_product.cuh"

namespace shunt
{
namespace sparse24
{

constexpr int kRows = 128, kBoxBytes = 64 * 128, kPanel = 2048;
constexpr int kGroups = 2, kMultiplyingWarps = 4 * kGroups;                // of warps that multiply
constexpr int kMultiplyingRegisters = 176, kHelpingRegisters = 80;         // of 128 each
constexpr int kMostHashWarps = 7, kSpeaker = 32 * (kMultiplyingWarps + 1); // speaks for its block

// Behind the ring.
struct block_state {
  alignas(16) ptx::word_pair at_home; // arrives while the block multiplies
  struct shunt_fingerprint part[kMostHashWarps + kMultiplyingWarps];
  uint64_t found; // barrier: warps have written what follows, and `part`
  bool nan;
  guard::repair_order order;
  arrival_place place;
};

constexpr uint32_t kValueBytes = SHUNT_SPARSE24_VALUE_BYTES;
constexpr uint32_t kMetadataBytes = SHUNT_SPARSE24_WORDS * 4;

// Helpers: warps that do not multiply.  HashedAtOnce: tiles of A's arrays, by each warp.  Size:
// of a value.  LeftSlots: 0, A is the copy's; else its values are read in place, and A has a ring
// of so many slots for itself.
template <int Columns, int Stages, int Helpers, int HashedAtOnce, int Size, int LeftSlots = 0>
struct shape {
  static constexpr bool kInPlace = LeftSlots > 0;
  static constexpr int kSize = Size, kDepth = 128 / Size; // of a chunk
  static constexpr int kWords = 2 / Size;                 // of a lane's metadata
  // Of A, for each group.
  static constexpr uint32_t kTileBytes = kValueBytes + kWords * kMetadataBytes;
  static constexpr int kHelpers = Helpers, kThreads = 32 * (kHelpers + kMultiplyingWarps);
  static constexpr int kHashWarps = kHelpers - 1, kHashedAtOnce = HashedAtOnce;
  static constexpr int kColumns = Columns, kStages = Stages, kBoxes = Columns / 64;
  static constexpr uint32_t kLeft = kBoxes * kBoxBytes; // where A begins in a stage
  static constexpr uint32_t kStageBytes = kLeft + (kInPlace ? 0 : kGroups * kTileBytes);
  static constexpr int kLeftSlots = LeftSlots;
  static constexpr uint32_t kLeftBytes = kGroups * 2 * kTileBytes; // two chunks
  static constexpr uint32_t kStagesEnd = Stages * kStageBytes;
  static constexpr uint32_t kSlotsEnd = kStagesEnd + LeftSlots * kLeftBytes; // barriers begin
  static constexpr uint32_t kRingBytes = kSlotsEnd + (Stages + LeftSlots) * 16;
  static constexpr uint32_t kBytes = kRingBytes + sizeof(block_state);
  static constexpr bool kMoves = Columns == 256 && Helpers == 8; // registers
  static constexpr int kOfProduct = kMoves ? 128 : Columns;      // columns
  // Of a chunk on an H200.
  static constexpr double kMicroseconds = Columns == 128 ? 0.276 : kMoves ? 0.565 : 0.521;
  static_assert(kStageBytes % 1024 == 0 && kLeftBytes % 1024 == 0, "B is swizzled, and A in place");
  static_assert(kHashWarps <= kMostHashWarps, "each has a place for its part");
  static_assert(!kInPlace || Size == 2, "int8 is not built");
};
template <int Size> using shape_128 = shape<128, 6, 8, 1, Size>;
template <int Size> using shape_256 = shape<256, 5, 4, 2, Size>;
template <int Size> using shape_2x128 = shape<256, 5, 8, 1, Size>;
using in_place_128 = shape<128, 8, 8, 1, 2, 4>;
using in_place_256 = shape<256, 5, 4, 3, 2, 3>;
using in_place_2x128 = shape<256, 5, 8, 1, 2, 3>;

// What the kernel is told beside B's map.  C: what is computed with.
struct walk {
  const char *a; // tiles
  int chunks, tiles, tiles_down, tiles_across;
  int last_box; // of B: its first column
  int spared;   // tiles of A's columns that blocks with fewer tiles of C compare
  column_job columns;
};
// What the copy engine brings in boxes: B, and A's values where they are read in place.
struct tensor_maps {
  CUtensorMap b, values;
};
template <class C> struct arguments : walk {
  wgmma::destination<C> c; // of the product
  bool repairs_wide;       // what a repair writes is f32
};

// ---- the ring and the tiles ------------------------------------------------------------------

// A place in a ring of shared memory, and the parity of its round; its barriers lie elsewhere.
template <int Slots, uint32_t SlotBytes> struct ring_place {
  uint32_t ring, barriers; // addresses
  int slot = 0;
  uint32_t parity = 0;
  __device__ __forceinline__ ring_place(uint32_t ring_, uint32_t barriers_)
      : ring(ring_), barriers(barriers_)
  {
  }
  __device__ __forceinline__ uint32_t stage() const { return ring + slot * SlotBytes; }
  __device__ __forceinline__ uint32_t full(int of) const { return barriers + of * 16; }
  __device__ __forceinline__ uint32_t empty(int of) const { return full(of) + 8; }
  __device__ __forceinline__ void advance()
  {
    if (++slot == Slots) slot = 0, parity ^= 1;
  }
};

// B's ring, which has A's copy in it; and A's, where its values are read in place.
template <class Shape> struct ring_places {
  const unsigned char *shared;
  ring_place<Shape::kStages, Shape::kStageBytes> chunk;
  ring_place<Shape::kLeftSlots, Shape::kLeftBytes> left;
  __device__ __forceinline__ explicit ring_places(const unsigned char *at)
      : shared(at), chunk(ptx::shared_address(at), ptx::shared_address(at) + Shape::kSlotsEnd),
        left(ptx::shared_address(at) + Shape::kStagesEnd,
             ptx::shared_address(at) + Shape::kSlotsEnd + Shape::kStages * 16)
  {
  }
  // Where a group's values of the chunk are, of which `second` tells whether it is a pair's second.
  __device__ __forceinline__ uint32_t values(int group, int second) const
  {
    return Shape::kInPlace ? left.stage() + group * 2 * kValueBytes + second * 64
                           : chunk.stage() + Shape::kLeft + group * Shape::kTileBytes;
  }
  // And this lane's metadata, by one load.
  __device__ __forceinline__ void words(int group, int second, uint32_t (&to)[Shape::kWords]) const
  {
    const uint32_t at = Shape::kInPlace ? Shape::kStagesEnd + left.slot * Shape::kLeftBytes +
                                              kGroups * 2 * kValueBytes +
                                              (second * kGroups + group) * kMetadataBytes
                                        : chunk.slot * Shape::kStageBytes + Shape::kLeft +
                                              group * Shape::kTileBytes + kValueBytes;
    const auto there = *reinterpret_cast<const vec<uint32_t, Shape::kWords> *>(
        shared + at + threadIdx.x % 128 * 4 * Shape::kWords);
#pragma unroll
    for (int w = 0; w < Shape::kWords; w++) to[w] = there.at[w];
  }
};

__device__ __forceinline__ void wait_for(uint32_t barrier, uint32_t parity)
{
  while (!ptx::mbarrier_try_wait(barrier, parity)) {
  }
}

// Where tile t of C is, counted in tiles.
template <class Shape> struct tile_place {
  int row, column;
  __device__ __forceinline__ tile_place(const walk &p, int t)
  {
    constexpr int wide = kPanel / Shape::kColumns;
    const int panel = t / (wide * p.tiles_down), in_panel = t % (wide * p.tiles_down);
    const int here = min(wide, p.tiles_across - panel * wide);
    row = in_panel / here;
    column = panel * wide + in_panel % here;
  }
};

// ---- bringing --------------------------------------------------------------------------------

// From where the next chunk of a tile comes.
template <class Shape> struct chunk_source {
  const char *a[kGroups];
  int n[Shape::kBoxes], k; // of B
  int row;                 // of A
  // What lies beyond B's columns would be filled with zeros, which takes the copy engine longer
  // than columns that are there, and are not stored.
  __device__ __forceinline__ chunk_source(const walk &p, const tile_place<Shape> &at)
      : k(0), row(at.row * kRows)
  {
#pragma unroll
    for (int i = 0; i < Shape::kBoxes; i++)
      n[i] = min(at.column * Shape::kColumns + i * 64, p.last_box);
#pragma unroll
    for (int i = 0; i < kGroups; i++)
      a[i] = p.a + static_cast<int64_t>(at.row * kGroups + i) * p.chunks * Shape::kTileBytes;
  }
  __device__ __forceinline__ void advance()
  {
#pragma unroll
    for (int i = 0; i < kGroups; i++) a[i] += Shape::kTileBytes;
    k += Shape::kDepth;
  }
};

template <int BMajor, class Shape>
__device__ __forceinline__ void bring_chunk(const chunk_source<Shape> &from,
                                            const tensor_maps &maps, uint32_t to, uint32_t full)
{
  ptx::mbarrier_arrive_expect(full, Shape::kStageBytes);
#pragma unroll
  for (int i = 0; i < Shape::kBoxes; i++) {
    const int n = from.n[i];
    ptx::tensor_load_2d(to + i * kBoxBytes, &maps.b, BMajor ? n : from.k, BMajor ? from.k : n,
                        full);
  }
#pragma unroll
  for (int i = 0; i < (Shape::kInPlace ? 0 : kGroups); i++)
    ptx::bulk_load(to + Shape::kLeft + i * Shape::kTileBytes, from.a[i], Shape::kTileBytes, full);
}

// Of A in place, two chunks, or a row's last one:
//
//   | values: 128 rows of 128 bytes, swizzled | metadata: 64 rows, 64 rows | of the next chunk |
template <class Shape>
__device__ __forceinline__ void bring_left(const chunk_source<Shape> &from, int chunks,
                                           const tensor_maps &maps, uint32_t to, uint32_t full)
{
  const uint32_t metadata = to + kGroups * 2 * kValueBytes;
  ptx::mbarrier_arrive_expect(full, kGroups * (2 * kValueBytes + chunks * kMetadataBytes));
  ptx::tensor_load_2d(to, &maps.values, from.k / 2, from.row, full);
#pragma unroll
  for (int i = 0; i < 2 * kGroups; i++)
    if (i / kGroups < chunks)
      ptx::bulk_load(metadata + i * kMetadataBytes,
                     from.a[i % kGroups] + i / kGroups * Shape::kTileBytes + kValueBytes,
                     kMetadataBytes, full);
}

// By a warp.  What a chunk costs it bounds the kernel: so places are found once a tile, and a lane
// is elected only to ask.
template <int BMajor, class Shape>
__device__ __forceinline__ void bring(const walk &p, const tensor_maps &maps, ring_places<Shape> at)
{
  const int chunks = p.chunks, tiles = p.tiles;
  for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
    chunk_source<Shape> from(p, tile_place<Shape>(p, t));
    for (int chunk = 0; chunk < chunks; chunk++, at.chunk.advance()) {
      wait_for(at.chunk.empty(at.chunk.slot), at.chunk.parity ^ 1);
      if (ptx::elect_one())
        bring_chunk<BMajor>(from, maps, at.chunk.stage(), at.chunk.full(at.chunk.slot));
      // Behind B, whose next slot is free earlier: before it, 10 % longer in all.
      if (Shape::kInPlace && chunk % 2 == 0) {
        wait_for(at.left.empty(at.left.slot), at.left.parity ^ 1);
        if (ptx::elect_one())
          bring_left(from, min(2, chunks - chunk), maps, at.left.stage(),
                     at.left.full(at.left.slot));
        at.left.advance();
      }
      from.advance();
    }
  }
}

// ---- multiplying -----------------------------------------------------------------------------

// The first or second half of a chunk's columns of A.
template <class Shape> __device__ __forceinline__ uint64_t left_operand(uint32_t values, int half)
{
  if (Shape::kInPlace) return ptx::wgmma_operand(values + half * 32, 0, 1024);
  return ptx::wgmma_operand_plain(values + half * (kValueBytes / 2), 1024, 128);
}

// d (+)= the group's 64 rows of one chunk of A times B's columns of the tile.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply_chunk(uint32_t stage, uint32_t left,
                                               const uint32_t (&metadata)[Shape::kWords], bool keep,
                                               typename T::sum (&d)[Shape::kColumns / 2])
{
  using product = product_of<typename T::stored>;
  // From one product to the next, half a chunk of B, by rows or by columns.
  constexpr uint32_t eight = 1024, further_b = BMajor ? 4 * eight : 64;
  constexpr int sums = Shape::kOfProduct / 2, products = Shape::kColumns / Shape::kOfProduct;
  ptx::wgmma_fence();
#pragma unroll
  for (int i = 0; i < products; i++)
    product::template run<BMajor, 0>(
        reinterpret_cast<typename T::sum(&)[sums]>(d[i * sums]), left_operand<Shape>(left, 0),
        ptx::wgmma_operand(stage + i * (Shape::kOfProduct / 64) * kBoxBytes, kBoxBytes, eight),
        metadata[0], keep);
#pragma unroll
  for (int i = 0; i < products; i++)
    product::template run<BMajor, 1>(
        reinterpret_cast<typename T::sum(&)[sums]>(d[i * sums]), left_operand<Shape>(left, 1),
        ptx::wgmma_operand(stage + i * (Shape::kOfProduct / 64) * kBoxBytes + further_b, kBoxBytes,
                           eight),
        metadata[Shape::kWords - 1], true);
  ptx::wgmma_commit();
}

template <int Words> __device__ __forceinline__ void keep_words(const uint32_t (&metadata)[Words])
{
#pragma unroll
  for (uint32_t word : metadata) ptx::wgmma_keep(word);
}

__device__ __forceinline__ void give_back(uint32_t empty)
{
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(empty);
}

// d = the group's rows of a tile.  One chunk's products are under way while the next one's begin,
// so the metadata of two is held.  int8 waits for a chunk's products before the next: with two
// words of each the compiler makes every product wait otherwise.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply(const walk &p, int group, ring_places<Shape> &at,
                                         typename T::sum (&d)[Shape::kColumns / 2])
{
  constexpr int ahead = Shape::kWords == 1; // chunks
  const int chunks = p.chunks;
  uint32_t metadata[2][Shape::kWords] = {};
  int last = 0, last_left = 0;
  for (int pair = 0; pair < chunks; pair += 2) {
    if (Shape::kInPlace) wait_for(at.left.full(at.left.slot), at.left.parity);
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const int chunk = pair + i;
      if (chunk >= chunks) break;
      wait_for(at.chunk.full(at.chunk.slot), at.chunk.parity);
      at.words(group, i, metadata[i]);
      multiply_chunk<T, BMajor, Shape>(at.chunk.stage(), at.values(group, i), metadata[i],
                                       chunk > 0, d);
      ptx::wgmma_wait<ahead>();
      keep_words(metadata[ahead ? 1 - i : i]);
      if (chunk >= ahead) give_back(at.chunk.empty(ahead ? last : at.chunk.slot));
      if (Shape::kInPlace && i == 0 && pair > 0) give_back(at.left.empty(last_left));
      last = at.chunk.slot;
      at.chunk.advance();
    }
    if (Shape::kInPlace) last_left = at.left.slot, at.left.advance();
  }
  if (!ahead) return;
  ptx::wgmma_wait<0>();
  keep_words(metadata[0]);
  keep_words(metadata[1]);
  give_back(at.chunk.empty(last));
  if (Shape::kInPlace) give_back(at.left.empty(last_left));
}

// By all lanes of a warp that multiplies: its last products are done.
__device__ __forceinline__ void tell_multiplied(block_state &b, bool nan)
{
  if (nan) b.nan = true;
  __syncwarp();
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&b.found));
}

template <class T, int BMajor, class Shape>
__device__ __forceinline__ void multiply_and_store(const arguments<typename T::compute> &p,
                                                   int group, ring_places<Shape> at, block_state &b)
{
  using sum = typename T::sum;
  sum d[Shape::kColumns / 2];
  bool nan = false;
  for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
    const tile_place<Shape> tile(p, t);
    multiply<T, BMajor, Shape>(p, group, at, d);
    if (!Shape::kInPlace) // else nothing was filled up
#pragma unroll
      for (sum x : d) nan |= x != x;
    if (t + gridDim.x >= p.tiles) tell_multiplied(b, nan);
    wgmma::store_rows<typename T::out, Shape::kColumns>(p.c, d, tile.row * kRows + group * 64,
                                                        tile.column * Shape::kColumns);
  }
  if (blockIdx.x >= p.tiles) tell_multiplied(b, false);
}

// ---- proving ---------------------------------------------------------------------------------

// Does the block have fewer tiles of C than others?
__device__ __forceinline__ bool has_time(const walk &p)
{
  const int others = p.tiles % (int)gridDim.x;
  return others > 0 && (int)blockIdx.x >= others;
}

// Warp number `warp` of the block's, of which those that multiply come last and hash only where
// there is time before: then the first tiles of A's columns are dealt to such blocks.
template <class Shape> __device__ __forceinline__ column_worker find_worker(const walk &p, int warp)
{
  const int block = blockIdx.x, blocks = gridDim.x, busy = p.tiles % blocks;
  if (p.spared == 0) return {{block, blocks, warp, Shape::kHashWarps}};
  if (!has_time(p)) return {{block, busy, warp, Shape::kHashWarps}, p.spared, INT_MAX};
  return {{block - busy, blocks - busy, warp, Shape::kHashWarps + kMultiplyingWarps}, 0, p.spared};
}

template <class Shape>
__device__ __forceinline__ void prefetch(const walk &p, const guard::repair_args &r,
                                         const column_worker &worker)
{
  if (Shape::kInPlace && p.columns.columns)
    prefetch_columns(p.columns, worker);
  else
    prefetch_share(r.arrays, worker);
}

// What a worker's tiles of A's arrays contribute.
template <class Shape, int AtOnce>
__device__ __forceinline__ struct shunt_fingerprint
prove_share(const walk &p, const guard::repair_args &r, const column_worker &worker)
{
  if constexpr (Shape::kInPlace)
    if (p.columns.columns) return compare_share<AtOnce>(p.columns, r.expected, worker);
  return hash_share_rolling<AtOnce>(r.arrays, worker);
}

// By a warp that multiplies, before, where there is time.
template <class Shape>
__device__ __forceinline__ void prove_before(const walk &p, const guard::repair_args &r, int warp,
                                             block_state &b)
{
  if constexpr (Shape::kInPlace) {
    if (p.spared == 0 || !has_time(p)) return;
    struct shunt_fingerprint part =
        compare_share<2>(p.columns, r.expected, find_worker<Shape>(p, Shape::kHashWarps + warp));
    warp_sum(part, 32);
    if (threadIdx.x % 32 == 0) b.part[Shape::kHashWarps + warp] = part;
  }
}

// By all lanes of a warp that hashes.
__device__ __forceinline__ void tell_hashed(block_state &b, int warp, struct shunt_fingerprint part)
{
  warp_sum(part, 32);
  if (threadIdx.x % 32 != 0) return;
  b.part[warp] = part;
  ptx::mbarrier_arrive(ptx::shared_address(&b.found));
}

// By one thread, when all warps have told what they found.
__device__ __forceinline__ void agree_for_block(const guard::repair_args &r, block_state &b,
                                                int parts, bool flagged)
{
  struct shunt_fingerprint part = {0, 0};
  wait_for(ptx::shared_address(&b.found), 0);
  for (int i = 0; i < parts; i++) shunt_fp_add(&part, b.part[i]);
  ptx::cp_async_wait<0>();
  b.order = guard::agree(r, guard::reports(), b.at_home, part, b.nan, flagged, &b.place);
}

// Nothing could be agreed on: the tiles that this block has stored, which no other writes.
template <class S, class Out, class Shape, class C>
__device__ __noinline__ void repair_own(const walk &p, const csr_operands<C> &a)
{
  constexpr int strips = Shape::kColumns / 32;
  const C alpha = a.alpha.get(), beta = a.beta.get();
  for (int t = blockIdx.x; t < p.tiles; t += gridDim.x) {
    const tile_place<Shape> tile(p, t);
    for (int w = threadIdx.x / 32; w < kRows * strips; w += kMultiplyingWarps) {
      const int64_t row = (int64_t)tile.row * kRows + w / strips;
      const int64_t strip = (int64_t)tile.column * strips + w % strips;
      if (row < a.rows && strip * 32 < a.n)
        guard::multiply_strip<S, Out>(a, row, strip, alpha, beta);
    }
  }
}

template <class S, class Out, class Shape, class C>
__device__ __forceinline__ void repair(const walk &p, const csr_operands<C> &a,
                                       const guard::repair_args &r, uint32_t *next)
{
  if (next)
    guard::repair<S, Out>(a, r, next, 0, 0);
  else
    repair_own<S, Out, Shape>(p, a);
}

// ---- the kinds of warps
// --------------------------------------------------------------------------

// warp: of the block, in a way that the compiler knows to be the same for all lanes.  Else it keeps
// the ring's place in vector registers, and each product waits for its operands' descriptors: a
// quarter longer in all.
template <class T, int BMajor, class Shape>
__device__ __forceinline__ void be_multiplying(const arguments<typename T::compute> &p,
                                               const csr_operands<typename T::compute> &a,
                                               const guard::repair_args &r, int warp,
                                               const ring_places<Shape> &ring, block_state &b)
{
  using stored = typename T::stored;
  prove_before<Shape>(p, r, warp, b);
  multiply_and_store<T, BMajor, Shape>(p, warp / 4, ring, b);
  if (!guard::is_to_repair(b, threadIdx.x == kSpeaker)) return;
  if (!T::whole_numbers && p.repairs_wide)
    repair<stored, float, Shape>(p, a, r, b.order.next);
  else
    repair<stored, typename T::out, Shape>(p, a, r, b.order.next);
}

template <int BMajor, class Shape>
__device__ __forceinline__ void be_bringing(const walk &p, const tensor_maps &maps,
                                            const ring_places<Shape> &ring, const block_state &b)
{
  bring<BMajor, Shape>(p, maps, ring);
  guard::is_to_repair(b, threadIdx.x == kSpeaker);
}

template <class Shape, class C>
__device__ __forceinline__ void be_hashing(const walk &p, const csr_operands<C> &a,
                                           const guard::repair_args &r, const column_worker &worker,
                                           block_state &b)
{
  const bool speaks = threadIdx.x == kSpeaker;
  bool flagged = false;
  if (speaks) {
    guard::ask_for_home(r, &b.at_home);
    flagged = guard::reports() && guard::is_flagged(a);
  }
  struct shunt_fingerprint part = prove_share<Shape, Shape::kHashedAtOnce>(p, r, worker);
  if constexpr (Shape::kInPlace)
    if (p.columns.columns)
      part.lo +=
          rows_differ(p.columns, {(int)blockIdx.x, (int)gridDim.x, worker.warp, Shape::kHashWarps});
  tell_hashed(b, worker.warp, part);
  if (speaks) agree_for_block(r, b, worker.warps, flagged);
  guard::is_to_repair(b, threadIdx.x == kSpeaker);
}

template <class Shape>
__device__ __forceinline__ void prepare(const tensor_maps &maps, const ring_places<Shape> &ring,
                                        block_state &b)
{
  if (threadIdx.x == 0) {
    ptx::tensor_prefetch(&maps.b);
    if (Shape::kInPlace) ptx::tensor_prefetch(&maps.values);
    for (int i = 0; i < Shape::kStages; i++) {
      ptx::mbarrier_init(ring.chunk.full(i), 1);
      ptx::mbarrier_init(ring.chunk.empty(i), kMultiplyingWarps);
    }
    for (int i = 0; i < Shape::kLeftSlots; i++) {
      ptx::mbarrier_init(ring.left.full(i), 1);
      ptx::mbarrier_init(ring.left.empty(i), kMultiplyingWarps);
    }
    ptx::mbarrier_init(ptx::shared_address(&b.found), kMultiplyingWarps + Shape::kHashWarps);
    ptx::mbarrier_init_fence();
    b.nan = false;
  }
  __syncthreads();
}

template <class T, int BMajor, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_sparse24(const __grid_constant__ arguments<typename T::compute> p,
                  const __grid_constant__ tensor_maps maps,
                  const __grid_constant__ csr_operands<typename T::compute> a,
                  const __grid_constant__ guard::repair_args r)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  const ring_places<Shape> ring(shared);
  block_state &b = *reinterpret_cast<block_state *>(shared + Shape::kRingBytes);
  prepare(maps, ring, b);
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (warp < kMultiplyingWarps) {
    if (Shape::kMoves) ptx::take_registers<kMultiplyingRegisters>();
    wait_for_previous();
    be_multiplying<T, BMajor, Shape>(p, a, r, warp, ring, b);
  } else {
    if (Shape::kMoves) ptx::give_registers<kHelpingRegisters>();
    const int hashing = warp - kMultiplyingWarps - 1;
    const column_worker worker = find_worker<Shape>(p, hashing);
    if (hashing >= 0) prefetch<Shape>(p, r, worker);
    wait_for_previous();
    if (hashing < 0)
      be_bringing<BMajor, Shape>(p, maps, ring, b);
    else
      be_hashing<Shape>(p, a, r, worker, b);
  }
}

} // namespace sparse24
} // namespace shunt
