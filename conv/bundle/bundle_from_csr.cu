// bundle_from_csr.cu: CSR to merged column lists of groups of 8 rows; writes what
// host_bundle_from_csr.c writes.
//
// Eight lanes merge one group, each with its own row:
//
//   warp     | group 4w      | group 4w + 1  | group 4w + 2  | group 4w + 3  |
//   lane       row 0 .. row 7  row 0 .. row 7  ..
//   each step  next = least of the eight columns       3 shuffles
//              mask = the rows that stand there        1 ballot; they move on
//
// A row's next entry but one is under way while a step is made.  Lists are written eight
// vectors at a time.  Where a list begins follows from the group's first entry alone, so one pass
// does; a second kernel, of one block, looks for long groups, where there is one.
#include <cuda_runtime.h>

#include "conv/bundle/bundle_conv.h"

namespace shunt
{
namespace
{

constexpr int kRows = SHUNT_BUNDLE_ROWS, kThreads = 128, kListThreads = 1024;
constexpr unsigned kAll = 0xffffffffu;

struct merge_job {
  const void *offsets, *columns;
  int64_t rows, nnz;
  int cols, base;
  struct shunt_bundle g;
};

// Unsigned, so that garbage wraps (to a place that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

// One row on its way through its entries; a lane's own.
template <class I> struct cursor {
  int at, end;
  bool sound;
  I entry, ahead; // entries at, at + 1

  __device__ __forceinline__ cursor(const merge_job &j, int64_t row)
      : at(0), end(0), sound(true), entry(0), ahead(0)
  {
    if (row >= j.rows) return;
    const I *offsets = static_cast<const I *>(j.offsets);
    const int64_t first = from_base(offsets[row], j.base);
    const int64_t last = from_base(offsets[row + 1], j.base);
    sound = first >= 0 && last >= first && last <= j.nnz;
    if (!sound) return;
    at = static_cast<int>(first), end = static_cast<int>(last);
    entry = read(j, at), ahead = read(j, at + 1);
  }
  __device__ __forceinline__ I read(const merge_job &j, int p) const
  {
    return p < end ? __ldg(static_cast<const I *>(j.columns) + p) : I(0);
  }
  // The column it stands at; -1: not one of the matrix; cols: at its end.
  __device__ __forceinline__ int column(const merge_job &j) const
  {
    if (at == end) return j.cols;
    const int64_t c = from_base(entry, j.base);
    return c >= 0 && c < j.cols ? static_cast<int>(c) : -1;
  }
  __device__ __forceinline__ void move_on(const merge_job &j)
  {
    at++;
    entry = ahead;
    ahead = read(j, at + 1);
  }
};

// Bit r: what lane r of this lane's eight says.
__device__ __forceinline__ unsigned eight(bool says)
{
  return __ballot_sync(kAll, says) >> (threadIdx.x & 24) & 0xff;
}

// Up to eight vectors on their way to memory, one a lane.
struct list_end {
  uint32_t column;
  uint32_t mask;

  __device__ __forceinline__ void add(const shunt_bundle &g, uint32_t begin, uint32_t count,
                                      uint32_t next, uint32_t next_mask)
  {
    const unsigned lane = threadIdx.x % kRows;
    if (lane == count % kRows) column = next, mask = next_mask;
    if (count % kRows == kRows - 1) write(g, begin + count - (kRows - 1), kRows);
  }
  __device__ __forceinline__ void write(const shunt_bundle &g, uint32_t at, unsigned many) const
  {
    const unsigned lane = threadIdx.x % kRows;
    if (lane >= many) return;
    g.columns[at + lane] = column;
    g.masks[at + lane] = static_cast<uint8_t>(mask);
  }
};

// By the first lane of a group.
__device__ __forceinline__ void add_group(const shunt_bundle &g, int64_t group, uint32_t begin,
                                          uint32_t count, bool irregular)
{
  g.begin[group] = begin;
  g.count[group] = irregular ? 0 : count;
  if (irregular) {
    atomicAdd(&g.counts->irregular, 1u);
    return;
  }
  atomicAdd(reinterpret_cast<unsigned long long *>(&g.counts->vectors),
            static_cast<unsigned long long>(count));
  atomicMax(&g.counts->longest, count);
}

template <class I>
__global__ void __launch_bounds__(kThreads) merge_kernel(const __grid_constant__ merge_job j)
{
  const int64_t thread = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t group = thread / kRows;
  cursor<I> row(j, thread);
  bool irregular = eight(!row.sound) != 0, going = !irregular;
  const int first = __shfl_sync(kAll, row.at, 0, kRows);
  const uint32_t begin = irregular ? 0 : static_cast<uint32_t>(first);
  uint32_t count = 0;
  int before = -1;
  list_end list = {};

  while (__any_sync(kAll, going)) {
    const int column = going ? row.column(j) : j.cols;
    int next = column;
#pragma unroll
    for (int apart = 1; apart < kRows; apart *= 2)
      next = min(next, __shfl_xor_sync(kAll, next, apart));
    // A row that falls back, or repeats a column, is behind what was taken before.
    const bool back = next <= before, here = column == next && next < j.cols && !back;
    const unsigned mask = eight(here);
    irregular |= going && back;
    going = going && mask != 0;
    if (going) list.add(j.g, begin, count++, static_cast<uint32_t>(next), mask);
    if (going && here) row.move_on(j);
    before = next;
  }
  if (group >= j.g.groups) return;
  list.write(j.g, begin + count / kRows * kRows, count % kRows);
  if (threadIdx.x % kRows == 0) add_group(j.g, group, begin, count, irregular);
}

// The numbers of all groups with long lists, ascending; one block.
__global__ void __launch_bounds__(kListThreads) list_kernel(const __grid_constant__ shunt_bundle g)
{
  __shared__ int found[kListThreads / 32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int64_t room = g.nnz / SHUNT_BUNDLE_LONG;
  int64_t written = 0;

  if (g.counts->longest <= SHUNT_BUNDLE_LONG) return;
  for (int64_t first = 0; first < g.groups; first += kListThreads) {
    const int64_t group = first + threadIdx.x;
    const bool is_long = group < g.groups && g.count[group] > SHUNT_BUNDLE_LONG;
    const unsigned warp_found = __ballot_sync(kAll, is_long);
    if (lane == 0) found[warp] = __popc(warp_found);
    __syncthreads();
    int64_t at = written + __popc(warp_found & ((1u << lane) - 1));
    for (int w = 0; w < kListThreads / 32; w++) {
      if (w < warp) at += found[w];
      written += found[w];
    }
    // Offsets that run back and forth can make more long groups than there is room for.
    if (is_long && at < room) g.long_list[at] = static_cast<uint32_t>(group);
    __syncthreads();
  }
  if (threadIdx.x == 0) g.counts->long_groups = static_cast<uint32_t>(written);
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_csr_to_bundle_cuda(const struct shunt_csr *a,
                                                 const struct shunt_bundle *out,
                                                 const struct shunt_device *d, shunt_stream stream)
{
  (void)d;
  if (shunt_bundle_bytes(a) == 0) return SHUNT_E_UNSUPPORTED;
  if (out->rows != a->rows || out->cols != a->cols || out->nnz < a->nnz) return SHUNT_E_ARGUMENT;
  merge_job j = {};
  j.offsets = a->row_offsets, j.columns = a->columns;
  j.rows = a->rows, j.nnz = a->nnz;
  j.cols = static_cast<int>(a->cols), j.base = a->base;
  j.g = *out;
  if (cudaMemsetAsync(out->counts, 0, sizeof *out->counts, stream) != cudaSuccess)
    return SHUNT_E_CUDA;

  void *job[] = {&j}, *groups[] = {&j.g};
  const dim3 grid(static_cast<unsigned>((out->groups * kRows + kThreads - 1) / kThreads));
  const void *merge = a->index_type == SHUNT_I32
                          ? reinterpret_cast<const void *>(&merge_kernel<int32_t>)
                          : reinterpret_cast<const void *>(&merge_kernel<int64_t>);
  if (cudaLaunchKernel(merge, grid, dim3(kThreads), job, 0, stream) != cudaSuccess)
    return SHUNT_E_CUDA;
  if (cudaLaunchKernel(reinterpret_cast<const void *>(&list_kernel), dim3(1), dim3(kListThreads),
                       groups, 0, stream) != cudaSuccess)
    return SHUNT_E_CUDA;
  return SHUNT_OK;
}
