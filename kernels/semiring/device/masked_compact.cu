// masked_compact.cu: those of M's entries that have any terms, by a scan over tiles of 1024
// entries (kernels/semiring/device/masked_dot_cuda.h).
//
//   words   [32 a tile]     bit e % 32 of word e / 32: entry e stays
//   before  [tiles + 1]     how many stay in the tiles before; first how many in each
#include <cuda_runtime.h>

#include "kernels/semiring/device/masked_dot_cuda.h"
#include "kernels/semiring/device/masked_warp.cuh"

namespace shunt
{
namespace masked
{

constexpr int kTile = 1024, kWords = kTile / 32;

struct compact_args {
  const int *m_offsets, *m_columns;
  const uint32_t *counts;
  const void *values;
  int rows, entries, tiles;
  uint32_t *words;
  int *before;
  int *offsets, *columns;
  void *to_values;
};

// A block for each tile.
__global__ void __launch_bounds__(256) mark_entries(compact_args x)
{
  __shared__ int stay[1];
  if (threadIdx.x == 0) stay[0] = 0;
  __syncthreads();
  for (int at = threadIdx.x; at < kTile; at += 256) {
    const int e = blockIdx.x * kTile + at;
    const unsigned word = __ballot_sync(0xffffffffu, e < x.entries && x.counts[e] > 0);
    if (threadIdx.x % 32 != 0) continue;
    x.words[e / 32] = word;
    atomicAdd(&stay[0], __popc(word));
  }
  __syncthreads();
  if (threadIdx.x == 0) x.before[blockIdx.x] = stay[0];
}

// One block: `before` from the number in each tile to that in all before.
__global__ void __launch_bounds__(1024) add_tiles(compact_args x)
{
  __shared__ int warps[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int carry = 0;
  for (int first = 0; first < x.tiles; first += 1024) {
    const int t = first + threadIdx.x, mine = t < x.tiles ? x.before[t] : 0;
    const int sum = sum_up_to(mine);
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    if (warp == 0) warps[lane] = sum_up_to(warps[lane]);
    __syncthreads();
    if (t < x.tiles) x.before[t] = carry + (warp > 0 ? warps[warp - 1] : 0) + sum - mine;
    carry += warps[31];
    __syncthreads();
  }
  if (threadIdx.x == 0) x.before[x.tiles] = carry;
}

// A block for each tile; V: what a value is copied as.
template <class V> __global__ void __launch_bounds__(256) move_entries(compact_args x)
{
  __shared__ int ahead[kWords]; // of the tile's words, those before
  const int tile = blockIdx.x, lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    const int n = __popc(x.words[tile * kWords + lane]);
    ahead[lane] = sum_up_to(n) - n + x.before[tile];
  }
  __syncthreads();
  for (int at = threadIdx.x; at < kTile; at += 256) {
    const unsigned word = x.words[tile * kWords + at / 32];
    const int e = tile * kTile + at;
    if (!(word >> lane & 1)) continue;
    const int to = ahead[at / 32] + __popc(word & ((1u << lane) - 1));
    x.columns[to] = x.m_columns[e];
    if (x.to_values) static_cast<V *>(x.to_values)[to] = static_cast<const V *>(x.values)[e];
  }
}

// A thread for each row, and one for the end.
__global__ void __launch_bounds__(256) move_offsets(compact_args x)
{
  const int row = blockIdx.x * 256 + threadIdx.x;
  if (row > x.rows) return;
  const int e = x.m_offsets[row], tile = e / kTile, end = e / 32;
  int to = x.before[tile];
  if (tile < x.tiles) {
    for (int w = tile * kWords; w < end; w++) to += __popc(x.words[w]);
    if (e % 32) to += __popc(x.words[end] & ((1u << e % 32) - 1));
  }
  x.offsets[row] = to;
}

static compact_args make_args(const shunt_masked_compact *p, void *workspace)
{
  compact_args x = {};
  x.m_offsets = p->m.offsets, x.m_columns = p->m.columns;
  x.counts = p->counts, x.values = p->values;
  x.rows = (int)p->m.rows, x.entries = (int)p->m.nnz;
  x.tiles = (x.entries + kTile - 1) / kTile;
  x.words = static_cast<uint32_t *>(workspace);
  x.before = reinterpret_cast<int *>(x.words + (size_t)x.tiles * kWords);
  x.offsets = p->to_offsets, x.columns = p->to_columns;
  x.to_values = p->values ? p->to_values : NULL;
  return x;
}

static shunt_status launch(const compact_args &x, size_t size, cudaStream_t stream)
{
  const unsigned tiles = (unsigned)x.tiles;
  if (tiles > 0) mark_entries<<<tiles, 256, 0, stream>>>(x);
  add_tiles<<<1, 1024, 0, stream>>>(x);
  if (tiles > 0 && size == 8)
    move_entries<uint64_t><<<tiles, 256, 0, stream>>>(x);
  else if (tiles > 0)
    move_entries<uint32_t><<<tiles, 256, 0, stream>>>(x);
  move_offsets<<<(unsigned)(x.rows / 256 + 1), 256, 0, stream>>>(x);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

} // namespace masked
} // namespace shunt

extern "C" size_t shunt_masked_compact_workspace(const shunt_masked_compact *p)
{
  const size_t tiles = (size_t)((p->m.nnz + shunt::masked::kTile - 1) / shunt::masked::kTile);
  return (tiles * (shunt::masked::kWords + 1) + 1) * sizeof(uint32_t);
}

extern "C" shunt_status shunt_masked_compact_cuda(const shunt_masked_compact *p, void *workspace,
                                                  size_t bytes, shunt_stream stream)
{
  if (p->values && p->size != 4 && p->size != 8) return SHUNT_E_UNSUPPORTED;
  if (p->m.nnz >= int64_t(1) << 30 || p->m.rows >= int64_t(1) << 30) return SHUNT_E_UNSUPPORTED;
  if (!workspace || bytes < shunt_masked_compact_workspace(p)) return SHUNT_E_WORKSPACE;
  return shunt::masked::launch(shunt::masked::make_args(p, workspace), p->size, stream);
}
