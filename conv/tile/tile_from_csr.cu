// tile_from_csr.cu: CSR to the `tile` format, in four launches:
//
//   count   a warp per block row: how many tiles of each kind  -> begin[b + 1]
//   scan    one block: begin = where each block row begins, cut off at the room there is
//   pack    a warp per block row: the tiles
//   chunk   a thread per block row and chunk: where its tiles are (tile_chunk.h)
//
// A warp walks its block row tile by tile (tile_walk.cuh), and every lane picks the 8 values
// of its fragment out of the tile's image.
//
// Bound by the latency of a load and some hundred shuffles for each tile that is not zero,
// twice.  With an order to be found, up to 32 x 32 steps of two dozen instructions more: of the
// order of 0.1 ms for a tile that finds none, one after the other in a block row.  A
// conversion is made once for a packed copy.  Not measured yet.
#include <cuda_runtime.h>

#include "conv/tile/tile_chunk.h"
#include "conv/tile/tile_conv.h"
#include "conv/tile/tile_walk.cuh"

namespace shunt
{
namespace tile
{
namespace
{

constexpr int kWarps = 4, kScanThreads = 1024, kChunkThreads = 128;

// ---- count -------------------------------------------------------------------------------

__device__ __forceinline__ void add(uint64_t *to, uint64_t x)
{
  if (x) atomicAdd(reinterpret_cast<unsigned long long *>(to), static_cast<unsigned long long>(x));
}

template <class I>
__global__ void __launch_bounds__(kWarps * 32) count_kernel(const __grid_constant__ pack_job j)
{
  __shared__ uint16_t image[kWarps][kRows][kCols];
  const int warp = threadIdx.x / 32;
  const int64_t block = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  if (block >= j.v.blocks) return;
  struct shunt_tile_census c = {};
  walker<I> w(j, block, image[warp]);
  while (w.next_tile()) {
    int place;
    const kind k = find_kind(w.bits, j.how, place);
    const int halves = halves_of(w.bits), entries = __reduce_add_sync(kAll, __popc(w.bits));
    if (k == DENSE) {
      c.dense++;
      c.halves += (halves & 1) + (halves >> 1);
      c.dense_entries += entries;
    } else {
      c.sparse++;
      c.reordered += k == REORDERED_24;
      c.sparse_entries += entries;
    }
  }
  const bool bad = __any_sync(kAll, w.irregular);
  if (threadIdx.x % 32 != 0) return;
  if (j.v.sparse.begin) {
    j.v.sparse.begin[block + 1] = static_cast<uint32_t>(c.sparse);
    j.v.dense.begin[block + 1] = static_cast<uint32_t>(c.halves);
  }
  add(&j.v.census->sparse, c.sparse);
  add(&j.v.census->reordered, c.reordered);
  add(&j.v.census->dense, c.dense);
  add(&j.v.census->halves, c.halves);
  add(&j.v.census->sparse_entries, c.sparse_entries);
  add(&j.v.census->dense_entries, c.dense_entries);
  if (bad) atomicOr(&j.v.census->irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
}

// ---- scan ----------------------------------------------------------------------------------

// Sum of x over the threads up to this one; total: over all.  Called by all of a block.
__device__ __forceinline__ uint64_t sum_up_to(uint32_t x, uint64_t &total)
{
  __shared__ uint64_t of_warp[kScanThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint64_t sum = x, before = 0;
  for (int step = 1; step < 32; step *= 2) {
    const uint64_t left = __shfl_up_sync(kAll, sum, step);
    if (lane >= step) sum += left;
  }
  __syncthreads(); // of_warp of the call before has been read
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  total = 0;
  for (int i = 0; i < kScanThreads / 32; i++) {
    if (i < warp) before += of_warp[i];
    total += of_warp[i];
  }
  return before + sum;
}

__global__ void __launch_bounds__(kScanThreads) scan_kernel(const __grid_constant__ pack_job j)
{
  for (int l = 0; l < 2; l++) {
    const struct shunt_tile_list &list = l ? j.v.dense : j.v.sparse;
    const uint64_t room = list.room;
    uint64_t before = 0, total;
    for (int64_t first = 0; first < j.v.blocks; first += kScanThreads) {
      const int64_t b = first + threadIdx.x;
      const uint64_t end = before + sum_up_to(b < j.v.blocks ? list.begin[b + 1] : 0, total);
      if (b < j.v.blocks) list.begin[b + 1] = static_cast<uint32_t>(end < room ? end : room);
      before += total;
    }
    if (threadIdx.x != 0) continue;
    list.begin[0] = 0;
    if (before > room) atomicOr(&j.v.census->irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
  }
}

// ---- pack ----------------------------------------------------------------------------------

// Lane's fragment: 8 values and the bits that say which are entries.
struct fragment {
  uint32_t a[4];
  uint32_t present;

  __device__ __forceinline__ fragment() : a{0, 0, 0, 0}, present(0) {}
  // Value i is column c of a row with these bits and values.
  __device__ __forceinline__ void put(int i, uint32_t bits, const uint16_t *row, int c)
  {
    if (!(bits >> c & 1)) return;
    a[i / 2] |= static_cast<uint32_t>(row[c]) << (i % 2 * 16);
    present |= 1u << i;
  }
  __device__ __forceinline__ void store(const struct shunt_tile_list &list, int64_t tile) const
  {
    const int lane = threadIdx.x % 32;
    reinterpret_cast<uint4 *>(list.values)[tile * 32 + lane] = make_uint4(a[0], a[1], a[2], a[3]);
    list.present[tile * 32 + lane] = static_cast<uint8_t>(present);
  }
};

// order: shared, 32 bytes, written here.
template <class I>
__device__ __forceinline__ void pack_24(const walker<I> &w, int64_t tile, int place, uint8_t *order)
{
  const struct shunt_tile &v = w.j.v;
  const int lane = threadIdx.x % 32;
  uint32_t words[2] = {0, 0}; // lane's part of metadata of quads 0 .. 3, 4 .. 7
  fragment f;
  order[place] = static_cast<uint8_t>(lane);
  __syncwarp();
#pragma unroll
  for (int i = 0; i < SHUNT_TILE_PER_LANE; i += 2) {
    const int row = shunt_tile_row(lane, i), quad = shunt_tile_quad(lane, i);
    const uint32_t bits = __shfl_sync(kAll, w.bits, row);
    const uint8_t *c = order + 4 * quad;
    const uint32_t pair = shunt_tile_pair((bits >> c[0] & 1) | (bits >> c[1] & 1) << 1 |
                                          (bits >> c[2] & 1) << 2 | (bits >> c[3] & 1) << 3);
    f.put(i, bits, w.image[row], c[pair & 3]);
    f.put(i + 1, bits, w.image[row], c[pair >> 2]);
    words[i / 4] |= pair << (row / 8 * 16 + quad % 4 * 4);
  }
#pragma unroll
  for (int h = 0; h < 2; h++) {
    words[h] |= __shfl_xor_sync(kAll, words[h], 1);
    words[h] |= __shfl_xor_sync(kAll, words[h], 2);
  }
  f.store(v.sparse, tile);
  if (lane % 4 < 2) v.metadata[tile * SHUNT_TILE_WORDS + lane / 4 * 2 + lane % 4] = words[lane % 4];
  if (v.order) v.order[tile * kCols + lane] = order[lane];
  if (v.sparse.gather)
    v.sparse.gather[tile * kCols + lane] = __shfl_sync(kAll, w.merged, order[lane]);
  else if (lane == 0)
    v.sparse.column[tile] = w.tile;
}

template <class I>
__device__ __forceinline__ void pack_half(const walker<I> &w, int64_t tile, int half)
{
  const int lane = threadIdx.x % 32;
  fragment f;
#pragma unroll
  for (int i = 0; i < SHUNT_TILE_PER_LANE; i++) {
    const int row = shunt_tile_row(lane, i);
    const uint32_t bits = __shfl_sync(kAll, w.bits, row);
    f.put(i, bits, w.image[row], shunt_tile_column(lane, i) + half * SHUNT_TILE_HALF);
  }
  f.store(w.j.v.dense, tile);
  const struct shunt_tile_list &list = w.j.v.dense;
  if (list.gather) {
    if (lane / SHUNT_TILE_HALF == half)
      list.gather[tile * SHUNT_TILE_HALF + lane % SHUNT_TILE_HALF] = w.merged;
  } else if (lane == 0) {
    list.column[tile] = w.tile * 2 + half;
  }
}

template <class I>
__global__ void __launch_bounds__(kWarps * 32) pack_kernel(const __grid_constant__ pack_job j)
{
  __shared__ uint16_t image[kWarps][kRows][kCols];
  __shared__ uint8_t order[kWarps][kCols];
  const int warp = threadIdx.x / 32;
  const int64_t block = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  if (block >= j.v.blocks) return;
  int64_t sparse = j.v.sparse.begin[block], dense = j.v.dense.begin[block];
  const int64_t sparse_end = j.v.sparse.begin[block + 1], dense_end = j.v.dense.begin[block + 1];
  walker<I> w(j, block, image[warp]);
  while (w.next_tile()) {
    int place;
    if (find_kind(w.bits, j.how, place) != DENSE) {
      if (sparse < sparse_end) pack_24(w, sparse, place, order[warp]);
      sparse++;
      continue;
    }
    const int halves = halves_of(w.bits);
    for (int h = 0; h < 2; h++) {
      if (!(halves >> h & 1)) continue;
      if (dense < dense_end) pack_half(w, dense, h);
      dense++;
    }
  }
}

// ---- chunks --------------------------------------------------------------------------------

__global__ void __launch_bounds__(kChunkThreads) chunk_kernel(const __grid_constant__ pack_job j)
{
  const int64_t all = j.v.blocks * shunt_tile_chunks(j.v.cols);
  const int64_t step = static_cast<int64_t>(gridDim.x) * kChunkThreads;
  int64_t i = static_cast<int64_t>(blockIdx.x) * kChunkThreads + threadIdx.x;
  for (; i < all; i += step)
    j.v.chunk[i] = shunt_tile_find_chunk(&j.v, i % j.v.blocks, i / j.v.blocks);
}

// ---- launches ------------------------------------------------------------------------------

pack_job make_job(const struct shunt_csr *a, int how)
{
  pack_job j = {};
  j.offsets = a->row_offsets, j.columns = a->columns;
  j.values = static_cast<const uint16_t *>(a->values);
  j.rows = a->rows, j.cols = a->cols, j.nnz = a->nnz;
  j.base = a->base;
  j.how = how;
  return j;
}

cudaError_t launch(const void *kernel, unsigned blocks, unsigned threads, pack_job *j,
                   shunt_stream stream)
{
  void *parameters[] = {j};
  return cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), parameters, 0, stream);
}

unsigned grid(const pack_job &j)
{
  return static_cast<unsigned>((j.v.blocks + kWarps - 1) / kWarps);
}

unsigned chunk_grid(const pack_job &j)
{
  const int64_t blocks =
      (j.v.blocks * shunt_tile_chunks(j.v.cols) + kChunkThreads - 1) / kChunkThreads;
  return static_cast<unsigned>(blocks < 65536 ? blocks : 65536);
}

// Counts, into a census that is zeroed first.
template <class I> cudaError_t count(pack_job *j, shunt_stream stream)
{
  const cudaError_t e = cudaMemsetAsync(j->v.census, 0, sizeof *j->v.census, stream);
  if (e != cudaSuccess) return e;
  return launch(reinterpret_cast<const void *>(&count_kernel<I>), grid(*j), kWarps * 32, j, stream);
}

template <class I> cudaError_t count_and_pack(pack_job *j, shunt_stream stream)
{
  cudaError_t e = count<I>(j, stream);
  if (e == cudaSuccess)
    e = launch(reinterpret_cast<const void *>(&scan_kernel), 1, kScanThreads, j, stream);
  if (e == cudaSuccess)
    e = launch(reinterpret_cast<const void *>(&pack_kernel<I>), grid(*j), kWarps * 32, j, stream);
  if (e == cudaSuccess && j->v.chunk)
    e = launch(reinterpret_cast<const void *>(&chunk_kernel), chunk_grid(*j), kChunkThreads, j,
               stream);
  return e;
}

} // namespace
} // namespace tile
} // namespace shunt

using namespace shunt::tile;

extern "C" shunt_status shunt_csr_tile_census_cuda(const struct shunt_csr *a, int how,
                                                   struct shunt_tile_census *out,
                                                   const struct shunt_device *d,
                                                   shunt_stream stream)
{
  const struct shunt_tile_layout no_room = {how, 0, 0};
  (void)d;
  if (shunt_tile_bytes(a, &no_room) == 0) return SHUNT_E_UNSUPPORTED;
  pack_job j = make_job(a, how);
  j.v.census = out;
  j.v.blocks = (a->rows + kRows - 1) / kRows;
  const cudaError_t e =
      a->index_type == SHUNT_I32 ? count<int32_t>(&j, stream) : count<int64_t>(&j, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" shunt_status shunt_csr_to_tile_cuda(const struct shunt_csr *a,
                                               const struct shunt_tile_layout *layout,
                                               const struct shunt_tile *v,
                                               const struct shunt_device *d, shunt_stream stream)
{
  (void)d;
  if (shunt_tile_bytes(a, layout) == 0) return SHUNT_E_UNSUPPORTED;
  if (v->rows != a->rows || v->cols != a->cols || v->nnz != a->nnz) return SHUNT_E_ARGUMENT;
  pack_job j = make_job(a, layout->how);
  j.v = *v;
  const cudaError_t e = a->index_type == SHUNT_I32 ? count_and_pack<int32_t>(&j, stream)
                                                   : count_and_pack<int64_t>(&j, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
