// vector_measure.cu: how many 8 x 1 vectors a matrix has, its rows in some order.
//
// A warp takes a group of 8 rows.  Of the 8192 columns around the least that any row has
// next, each that occurs becomes a bit in shared memory; the bits are the vectors.
//
//     row 8g     |  .. 3 . 9 | 8195 ..                  chunk 0: bits 3, 4, 9: three vectors
//         8g+1   |  .. . 4 9 |       20000 ..           then chunks 1 and 2; chunks without
//         ..     |           |                          entries are passed over
#include <cuda_runtime.h>

#include "conv/vector/vector_conv.h"

namespace shunt
{
namespace
{

constexpr int kRows = SHUNT_VECTOR_ROWS, kWarps = 8, kChunk = 8192, kWords = kChunk / 32;
constexpr unsigned kAll = 0xffffffffu, kNone = 0xffffffffu;

struct measure_job {
  const void *offsets, *columns;
  const uint32_t *row_of;
  int64_t rows, cols, nnz, groups;
  int base;
  shunt_vector_measure *out;
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

// The rows of a group on their way to their ends.
template <class I> struct group_walk {
  const measure_job &j;
  int64_t at, end; // lane r: what is left of row r (0 .. 7); other lanes: nothing
  uint32_t *bits;  // [kWords]
  bool irregular;  // lane's own

  __device__ __forceinline__ group_walk(const measure_job &job, int64_t group, uint32_t *bits_at)
      : j(job), at(0), end(0), bits(bits_at), irregular(false)
  {
    const int lane = threadIdx.x % 32;
    const I *offsets = static_cast<const I *>(j.offsets);
    const int64_t place = group * kRows + lane;
    if (lane >= kRows || place >= j.rows) return;
    const int64_t row = j.row_of ? j.row_of[place] : place;
    irregular = row >= j.rows;
    if (irregular) return;
    at = from_base(offsets[row], j.base), end = from_base(offsets[row + 1], j.base);
    if (at < 0 || end < at || end > j.nnz) at = end = 0, irregular = true;
  }

  // The least column that a row has next; kNone: all rows are at their ends.
  __device__ __forceinline__ uint32_t next_column()
  {
    uint32_t column = kNone;
    if (at < end) {
      const int64_t c = from_base(static_cast<const I *>(j.columns)[at], j.base);
      if (c < 0 || c >= j.cols)
        irregular = true;
      else
        column = static_cast<uint32_t>(c);
    }
    return __reduce_min_sync(kAll, column);
  }

  // Sets the bits of row r's columns in the chunk from `low` on.
  __device__ __forceinline__ void take_row(int r, int64_t low)
  {
    const int lane = threadIdx.x % 32;
    const int64_t row_end = __shfl_sync(kAll, end, r);
    int64_t p = __shfl_sync(kAll, at, r), last = low - 1;
    for (int taken = 32; taken == 32; p += taken) {
      const bool there = p + lane < row_end;
      const int64_t c =
          there ? from_base(static_cast<const I *>(j.columns)[p + lane], j.base) : low + kChunk;
      const unsigned others = __ballot_sync(kAll, c < low || c >= low + kChunk);
      const int64_t left = __shfl_up_sync(kAll, c, 1), before = lane == 0 ? last : left;
      taken = others ? __ffs(others) - 1 : 32;
      last = __shfl_sync(kAll, c, 31);
      if (lane >= taken) continue;
      if (c <= before || c >= j.cols) irregular = true;
      atomicOr(bits + (c - low) / 32, 1u << (c - low) % 32);
    }
    if (lane == r) at = p;
  }

  __device__ __forceinline__ uint32_t count_chunk(int64_t low)
  {
    const int lane = threadIdx.x % 32;
    uint32_t count = 0;
#pragma unroll
    for (int i = 0; i < kWords; i += 32) bits[i + lane] = 0;
    __syncwarp();
    for (int r = 0; r < kRows; r++) take_row(r, low);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < kWords; i += 32) count += __popc(bits[i + lane]);
    __syncwarp();
    return __reduce_add_sync(kAll, count);
  }

  __device__ __forceinline__ uint64_t count_vectors()
  {
    uint64_t vectors = 0;
    int64_t before = -1; // the chunk before
    for (;;) {
      const uint32_t column = next_column();
      if (column == kNone || __any_sync(kAll, irregular)) return vectors;
      const int64_t chunk = column / kChunk;
      irregular = chunk <= before;
      before = chunk;
      vectors += count_chunk(chunk * kChunk);
    }
  }
};

template <class I>
__global__ void __launch_bounds__(kWarps * 32) measure_kernel(const __grid_constant__ measure_job j)
{
  __shared__ uint32_t bits[kWarps][kWords];
  const int warp = threadIdx.x / 32;
  const int64_t group = static_cast<int64_t>(blockIdx.x) * kWarps + warp;
  if (group >= j.groups) return;
  group_walk<I> walk(j, group, bits[warp]);
  int64_t entries = walk.end - walk.at;
#pragma unroll
  for (int step = 16; step > 0; step /= 2) entries += __shfl_xor_sync(kAll, entries, step);
  const uint64_t vectors = walk.count_vectors();
  const bool bad = __any_sync(kAll, walk.irregular);
  if (threadIdx.x % 32 != 0) return;

  using word = unsigned long long;
  const bool last = group + 1 == j.groups; // has room for every column
  atomicAdd(reinterpret_cast<word *>(&j.out->vectors), static_cast<word>(vectors));
  atomicAdd(reinterpret_cast<word *>(&j.out->steps),
            static_cast<word>((vectors + SHUNT_VECTOR_STEP - 1) / SHUNT_VECTOR_STEP));
  for (int h = 0; h < 3; h++)
    if (!last && vectors * (8u >> h) > static_cast<uint64_t>(entries))
      atomicAdd(reinterpret_cast<word *>(&j.out->crowded[h]), static_cast<word>(1));
  if (bad) atomicOr(&j.out->irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_csr_vector_measure_cuda(const struct shunt_csr *a,
                                                      const uint32_t *row_of,
                                                      struct shunt_vector_measure *out,
                                                      const struct shunt_device *d,
                                                      shunt_stream stream)
{
  const int64_t groups = (a->rows + kRows - 1) / kRows;
  measure_job j = {a->row_offsets, a->columns, row_of,  a->rows, a->cols,
                   a->nnz,         groups,     a->base, out};
  (void)d;
  if (a->index_type != SHUNT_I32 && a->index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  if (a->rows > INT32_MAX - 64 || a->cols > INT32_MAX - kChunk) return SHUNT_E_UNSUPPORTED;
  if (cudaMemsetAsync(out, 0, sizeof *out, stream) != cudaSuccess) return SHUNT_E_CUDA;
  if (groups == 0) return SHUNT_OK;
  void *parameters[] = {&j};
  const void *kernel = a->index_type == SHUNT_I32
                           ? reinterpret_cast<const void *>(&measure_kernel<int32_t>)
                           : reinterpret_cast<const void *>(&measure_kernel<int64_t>);
  const cudaError_t e =
      cudaLaunchKernel(kernel, dim3(static_cast<unsigned>((groups + kWarps - 1) / kWarps)),
                       dim3(kWarps * 32), parameters, 0, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
