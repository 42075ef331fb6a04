// srbcrs_from_csr.cu: CSR to the `srbcrs` format on the device; the twin is
// host_srbcrs_from_csr.c.
//
// One warp a group.  Each step takes what the group's rows have in a window of 32 columns, which
// begins at the leftmost column that is left, so that empty stretches cost nothing.  Of a row
// that is at most its next 32 entries:
//
//   window    columns low .. low + 31         low = least of the rows' next columns
//   row r     its next 32 entries, one a lane; those before low + 32 are a run at its front
//                | scattered by column
//                v
//   shared    mask[32], value[V][32]          lane l: the vector in column low + l, if it has one
//                | numbered by a ballot
//                v
//   slots     behind those of the windows before
//
// Bound by the latency of a load and a ballot for each window and row.  A conversion is made once
// for a copy that is kept.
#include <cuda_runtime.h>

#include "conv/srbcrs/srbcrs_conv.h"
#include "conv/srbcrs/srbcrs_spread.cuh"

namespace shunt
{
namespace
{

constexpr int kTallest = SHUNT_SRBCRS_TALLEST;
constexpr int kWarps = 4; // of a block

struct pack_job {
  const void *offsets, *columns, *values;
  int64_t rows, cols, nnz, strides;
  int base, share, spread;
  struct shunt_srbcrs v;
};

struct window {
  uint32_t mask[kStride];
  int16_t value[kTallest][kStride];
  vector_pool pool;
};

__device__ __forceinline__ int16_t value_of(const pack_job &j, int64_t entry)
{
  return j.v.bits > 8 ? static_cast<const int16_t *>(j.values)[entry]
                      : static_cast<const int8_t *>(j.values)[entry];
}

// Slots 16 apart, of two lanes, share a byte: so each changes the word that has its nibble.
__device__ __forceinline__ void put_nibble(uint8_t *row, int at, int x)
{
  uint32_t *word = reinterpret_cast<uint32_t *>(row) + at % 16 / 4;
  const int shift = at % 4 * 8 + at / 16 * 4;
  atomicAnd(word, ~(15u << shift));
  atomicOr(word, (static_cast<uint32_t>(x) & 15u) << shift);
}

__device__ __forceinline__ void put_value(const struct shunt_srbcrs &v, int r, int64_t slot, int x)
{
  const int at = static_cast<int>(slot % kStride);
  uint8_t *rows = v.values + slot / kStride * v.height * kStride * v.bits / 8;
  if (v.bits == 4) return put_nibble(rows + r * kStride / 2, at, x);
  rows[r * kStride + at] = static_cast<uint8_t>(x);
  if (v.bits == 12) put_nibble(rows + v.height * kStride + r * kStride / 2, at, x >> 8);
  if (v.bits == 16) rows[(v.height + r) * kStride + at] = static_cast<uint8_t>(x >> 8);
}

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

template <class I>
__device__ __forceinline__ int64_t first_stride_of(const pack_job &j, int64_t group)
{
  if (group == j.v.groups) return j.strides;
  const int64_t before = from_base(static_cast<const I *>(j.offsets)[group * j.v.height], j.base);
  return shunt_srbcrs_first_stride(before < 0       ? 0
                                   : before > j.nnz ? j.nnz
                                                    : before,
                                   group, j.share);
}

// One group on its way into strides; all lanes hold the same but where said.
template <class I> struct packer {
  const pack_job &j;
  window &w;
  int64_t at, end; // lane r: what is left of row r
  int64_t first, room, vectors, last, beyond;
  bool irregular; // lane's own

  __device__ __forceinline__ packer(const pack_job &job, window &shared, int64_t group)
      : j(job), w(shared), at(0), end(0), vectors(0), last(0), beyond(0), irregular(false)
  {
    const int lane = threadIdx.x % 32;
    const I *offsets = static_cast<const I *>(j.offsets);
    const int64_t row = group * j.v.height + lane;
    if (lane < j.v.height && row < j.rows) {
      at = from_base(offsets[row], j.base), end = from_base(offsets[row + 1], j.base);
      if (at < 0 || end < at || end > j.nnz) at = end = 0, irregular = true;
    }
    first = first_stride_of<I>(j, group) * kStride;
    room = first_stride_of<I>(j, group + 1) * kStride - first;
    if (room < 0) room = 0, irregular = true;
  }

  __device__ __forceinline__ void put(int64_t slot, int64_t column, uint32_t mask)
  {
    const int lane = threadIdx.x % 32;
    j.v.columns[slot] = static_cast<uint32_t>(column);
    j.v.masks[slot] = static_cast<uint8_t>(mask);
    for (int r = 0; r < j.v.height; r++)
      put_value(j.v, r, slot, mask >> r & 1 ? w.value[r][lane] : 0);
  }

  // Entries of row r in the window from low on; c, x: this lane's of its next 32.
  __device__ __forceinline__ void take_row(int r, int64_t low, int64_t c, int16_t x)
  {
    const int lane = threadIdx.x % 32;
    const int64_t left = __shfl_sync(kAll, end - at, r);
    const int64_t before = __shfl_up_sync(kAll, c, 1);
    const unsigned outside = ~__ballot_sync(kAll, lane < left && c < low + kStride);
    const int many = outside ? __ffs(outside) - 1 : 32;
    if (lane < many) {
      if (c < low || c >= j.cols || (lane > 0 && c <= before) || !shunt_srbcrs_holds(&j.v, x))
        irregular = true;
      else {
        w.mask[c - low] |= 1u << r;
        w.value[r][c - low] = x;
      }
    }
    if (lane == r) at += many;
    __syncwarp();
  }

  // The next window; false: all rows are done, or the rest cannot be packed.
  __device__ __forceinline__ bool step()
  {
    const int lane = threadIdx.x % 32;
    const I *columns = static_cast<const I *>(j.columns);
    int64_t c[kTallest], low = INT64_MAX;
    int16_t x[kTallest];
#pragma unroll
    for (int r = 0; r < kTallest; r++) {
      const int64_t from = __shfl_sync(kAll, at, r) + lane, to = __shfl_sync(kAll, end, r);
      c[r] = INT64_MAX, x[r] = 0;
      if (from < to) c[r] = from_base(columns[from], j.base), x[r] = value_of(j, from);
      const int64_t head = __shfl_sync(kAll, c[r], 0);
      low = head < low ? head : low;
    }
    if (low == INT64_MAX) return false;
    if (low < beyond || low >= j.cols) irregular = true; // not ascending, or out of range
    if (__any_sync(kAll, irregular)) return false;
    w.mask[lane] = 0;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < kTallest; r++) take_row(r, low, c[r], x[r]);
    beyond = low + kStride;
    const uint32_t mask = w.mask[lane];
    const unsigned found = __ballot_sync(kAll, mask != 0);
    const int64_t number = vectors + __popc(found & ((1u << lane) - 1));
    const bool fits = number < room;
    if (mask && !fits) irregular = true;
    if (mask && fits) put(first + number, low + lane, mask);
    const unsigned kept = __ballot_sync(kAll, mask && fits);
    if (kept) last = low + 31 - __clz(static_cast<int>(kept));
    vectors += __popc(kept);
    __syncwarp(); // the window is read
    return !__any_sync(kAll, irregular);
  }

  __device__ __forceinline__ void pack(int64_t group)
  {
    const int lane = threadIdx.x % 32;
    while (step()) {
    }
    const int64_t strides = (vectors + kStride - 1) / kStride;
    if (vectors + lane < strides * kStride) put(first + vectors + lane, last, 0);
    const bool bad = __any_sync(kAll, irregular);
    if (j.spread && !bad) spread(j.v, w.pool, first, vectors);
    if (lane != 0) return;
    j.v.begin[group] = static_cast<uint32_t>(first);
    j.v.end[group] = static_cast<uint32_t>(first + vectors);
    atomicAdd(reinterpret_cast<unsigned long long *>(&j.v.counts->vectors),
              static_cast<unsigned long long>(vectors));
    atomicAdd(reinterpret_cast<unsigned long long *>(&j.v.counts->strides),
              static_cast<unsigned long long>(strides));
    atomicMax(&j.v.counts->longest, static_cast<uint32_t>(strides));
    if (bad) atomicOr(&j.v.counts->irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
  }
};

template <class I>
__global__ void __launch_bounds__(kWarps * 32) pack_kernel(const __grid_constant__ pack_job j)
{
  __shared__ window windows[kWarps];
  const int warp = threadIdx.x / 32;
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  if (group >= j.v.groups) return;
  packer<I> k(j, windows[warp], group);
  k.pack(group);
}

template <class I> cudaError_t pack(const pack_job &j, cudaStream_t stream)
{
  const unsigned blocks = static_cast<unsigned>((j.v.groups + kWarps - 1) / kWarps);
  pack_kernel<I><<<blocks, kWarps * 32, 0, stream>>>(j);
  return cudaGetLastError();
}

} // namespace
} // namespace shunt

extern "C" shunt_status shunt_csr_to_srbcrs_cuda(const struct shunt_csr *a,
                                                 const struct shunt_srbcrs_layout *layout,
                                                 const struct shunt_srbcrs *v,
                                                 const struct shunt_device *d, shunt_stream stream)
{
  shunt::pack_job j = {};
  (void)d;
  j.strides = shunt_srbcrs_strides(a, layout);
  if (j.strides == 0) return SHUNT_E_UNSUPPORTED;
  if (v->rows != a->rows || v->cols != a->cols || v->nnz != a->nnz || v->height != layout->height ||
      v->bits != layout->bits)
    return SHUNT_E_ARGUMENT;
  j.offsets = a->row_offsets, j.columns = a->columns;
  j.values = a->values;
  j.rows = a->rows, j.cols = a->cols, j.nnz = a->nnz;
  j.base = a->base, j.share = layout->share, j.spread = layout->spread;
  j.v = *v;
  if (cudaMemsetAsync(v->counts, 0, sizeof *v->counts, stream) != cudaSuccess) return SHUNT_E_CUDA;
  const cudaError_t e = a->index_type == SHUNT_I32 ? shunt::pack<int32_t>(j, stream)
                                                   : shunt::pack<int64_t>(j, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
