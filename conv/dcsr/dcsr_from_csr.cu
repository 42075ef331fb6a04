// dcsr_from_csr.cu: CSR, CSC and COO to dcsr, on the device; writes what host_dcsr_from_csr.c
// writes.
//
//   place in the source     0 1 2 3 4 5
//   key = strip | row       . . . . . .      one 64-bit number; row in the lower row_bits
//        | stable radix sort; by the strip's bits alone for CSR, whose rows ascend; none for
//        v whole CSR
//   sorted keys             3 3 7 7 7 9      entry p of the result stood at place[p]
//   heads                   1 0 1 0 0 1      a key unlike the one before opens a segment
//   running sum             1 1 2 2 2 3      entry p is in segment sum[p] - 1
//
// From these every array follows without another pass: a head writes its segment's row and offset,
// each entry its column and value, and strip s begins at the segment of the first key >= s | 0,
// found by binary search.  The row of a CSR entry and the column of a CSC entry are found by binary
// search in the offsets: no thread waits for a long row.
//
// Bad indices are replaced by 0 and told by counts->fault, the first in the order of
// shunt_dcsr_check_host; bad offsets only misguide the search, whose result is cut to the lines
// there are.  So everything stays inside its arrays whatever the input is.
#include <cuda_runtime.h>

#include "conv/common/sort.h"
#include "conv/dcsr/dcsr_conv.h"
#include "kernels/common/alignment.h"

namespace shunt
{
namespace
{

constexpr int kThreads = 256;
constexpr int kBlocksPerProcessor = 8;

struct convert_job {
  struct shunt_dcsr_source a;
  struct shunt_dcsr d;
  int64_t lines;                   // rows of CSR, columns of CSC
  int row_bits, first_bit, bits;   // of a key; those sorted by are first_bit .. bits - 1
  bool sorted;                     // is a sort needed?
  struct shunt_pairs pairs, spare; // places are of the result's index type, as are the sums
  void *sums;
  void *temporary;
  size_t scratch_bytes;
};

// Unsigned, so that garbage wraps (to an index that the checks refuse).
template <class I> __device__ __forceinline__ int64_t from_base(I index, int base)
{
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(index)) -
                              static_cast<uint64_t>(base));
}

__device__ __forceinline__ int64_t first_thread()
{
  return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

__device__ __forceinline__ int64_t all_threads()
{
  return static_cast<int64_t>(gridDim.x) * kThreads;
}

__device__ __forceinline__ void tell(const shunt_dcsr &d, enum shunt_dcsr_rule rule, int64_t at)
{
  const uint64_t place = static_cast<uint64_t>(rule) << 56 | static_cast<uint64_t>(at);

  atomicMax(reinterpret_cast<unsigned long long *>(&d.counts->fault),
            static_cast<unsigned long long>(~place));
  atomicOr(&d.counts->irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
}

// The line whose entries include p.
template <class I> __device__ __forceinline__ int64_t line_of(const convert_job &j, int64_t p)
{
  const I *offsets = static_cast<const I *>(j.a.offsets);
  int64_t low = 0, high = j.lines - 1; // the last line whose offset is <= p

  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (from_base(offsets[middle], j.a.base) <= p)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

// Element p of an index array of the source, or 0 where it is not in [0, size).
template <class I>
__device__ __forceinline__ int64_t checked(const convert_job &j, const void *array, int64_t p,
                                           int64_t size, enum shunt_dcsr_rule rule)
{
  const int64_t i = from_base(static_cast<const I *>(array)[p], j.a.base);

  if (i >= 0 && i < size) return i;
  tell(j.d, rule, p);
  return 0;
}

template <class I> __device__ __forceinline__ int64_t row_of(const convert_job &j, int64_t p)
{
  return j.a.from == SHUNT_DCSR_FROM_CSR
             ? line_of<I>(j, p)
             : checked<I>(j, j.a.row_indices, p, j.a.rows, SHUNT_DCSR_ROW);
}

template <class I> __device__ __forceinline__ int64_t column_of(const convert_job &j, int64_t p)
{
  return j.a.from == SHUNT_DCSR_FROM_CSC
             ? line_of<I>(j, p)
             : checked<I>(j, j.a.columns, p, j.a.cols, SHUNT_DCSR_COLUMN);
}

// ---- the steps ------------------------------------------------------------------------------

template <class I>
__global__ void __launch_bounds__(kThreads) check_kernel(const __grid_constant__ convert_job j)
{
  const I *offsets = static_cast<const I *>(j.a.offsets);

  for (int64_t i = first_thread(); i <= j.lines; i += all_threads()) {
    if (i == 0 && offsets[0] != j.a.base) tell(j.d, SHUNT_DCSR_FIRST, 0);
    if (i > 0 && offsets[i] < offsets[i - 1]) tell(j.d, SHUNT_DCSR_DESCENDING, i);
    if (i == j.lines && from_base(offsets[i], j.a.base) != j.a.nnz) tell(j.d, SHUNT_DCSR_LAST, i);
  }
}

template <class I, class J>
__global__ void __launch_bounds__(kThreads) keys_kernel(const __grid_constant__ convert_job j)
{
  for (int64_t p = first_thread(); p < j.a.nnz; p += all_threads()) {
    const int64_t row = row_of<I>(j, p), column = column_of<I>(j, p);
    const uint64_t strip = j.d.width > 0 ? static_cast<uint64_t>(column / j.d.width) : 0;
    j.pairs.keys[p] = strip << j.row_bits | static_cast<uint64_t>(row);
    static_cast<J *>(j.pairs.places)[p] = static_cast<J>(p);
  }
}

template <class J>
__global__ void __launch_bounds__(kThreads) heads_kernel(const __grid_constant__ convert_job j)
{
  for (int64_t p = first_thread(); p < j.a.nnz; p += all_threads())
    static_cast<J *>(j.sums)[p] = p == 0 || j.pairs.keys[p] != j.pairs.keys[p - 1];
}

__device__ __forceinline__ void move_value(void *to, int64_t i, const void *from, int64_t k,
                                           shunt_type type)
{
  switch (type) {
  case SHUNT_I8: static_cast<uint8_t *>(to)[i] = static_cast<const uint8_t *>(from)[k]; return;
  case SHUNT_F16:
  case SHUNT_BF16: static_cast<uint16_t *>(to)[i] = static_cast<const uint16_t *>(from)[k]; return;
  case SHUNT_F32:
  case SHUNT_I32: static_cast<uint32_t *>(to)[i] = static_cast<const uint32_t *>(from)[k]; return;
  default: static_cast<uint64_t *>(to)[i] = static_cast<const uint64_t *>(from)[k];
  }
}

template <class I, class J>
__global__ void __launch_bounds__(kThreads) entries_kernel(const __grid_constant__ convert_job j)
{
  const J *sums = static_cast<const J *>(j.sums), *places = static_cast<const J *>(j.pairs.places);
  const uint64_t row_mask = (uint64_t(1) << j.row_bits) - 1;

  for (int64_t p = first_thread(); p < j.a.nnz; p += all_threads()) {
    const int64_t from = places[p], g = static_cast<int64_t>(sums[p]) - 1;
    const bool head = p == 0 || sums[p] != sums[p - 1];
    if (head && g < j.d.room) {
      static_cast<J *>(j.d.row_ids)[g] = static_cast<J>(j.pairs.keys[p] & row_mask);
      static_cast<J *>(j.d.offsets)[g] = static_cast<J>(p);
    }
    static_cast<J *>(j.d.columns)[p] = static_cast<J>(column_of<I>(j, from));
    move_value(j.d.values, p, j.a.values, from, j.d.value_type);
  }
}

// The segment at which strip s begins, were there room for all.
template <class J> __device__ __forceinline__ int64_t strip_begin(const convert_job &j, int64_t s)
{
  const J *sums = static_cast<const J *>(j.sums);
  int64_t low = 0, high = j.a.nnz;

  if (j.a.nnz == 0) return 0;
  if (s == j.d.strips) return sums[j.a.nnz - 1];
  const uint64_t wanted = static_cast<uint64_t>(s) << j.row_bits;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (j.pairs.keys[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  return low < j.a.nnz ? static_cast<int64_t>(sums[low]) - 1 : sums[j.a.nnz - 1];
}

template <class J>
__global__ void __launch_bounds__(kThreads) strips_kernel(const __grid_constant__ convert_job j)
{
  for (int64_t s = first_thread(); s <= j.d.strips; s += all_threads()) {
    const int64_t wanted = strip_begin<J>(j, s), g = wanted < j.d.room ? wanted : j.d.room;
    static_cast<J *>(j.d.strip_begin)[s] = static_cast<J>(g);
    if (s < j.d.strips) continue;
    static_cast<J *>(j.d.offsets)[g] = static_cast<J>(j.a.nnz);
    j.d.counts->segments = static_cast<uint64_t>(g);
    if (wanted > g) atomicOr(&j.d.counts->irregular, static_cast<uint32_t>(SHUNT_IRREGULAR));
  }
}

// ---- host side ---------------------------------------------------------------------------------

// Bits that hold the numbers below n, at most 63.
int bits_for(int64_t n)
{
  int bits = 0;

  while (bits < 63 && (int64_t(1) << bits) < n) bits++;
  return bits;
}

// Where in the scratch what stands; false: cannot be made.
bool lay_out(const shunt_dcsr_source *a, const shunt_dcsr_layout *layout, char *scratch,
             convert_job *j)
{
  const size_t n = static_cast<size_t>(a->nnz), index = shunt_type_size(layout->index_type);
  size_t at = 0;

  if (shunt_dcsr_bytes(a, layout, 0) == 0) return false;
  j->a = *a;
  j->lines = a->from == SHUNT_DCSR_FROM_CSR ? a->rows : a->cols;
  j->row_bits = bits_for(a->rows);
  j->bits = j->row_bits + bits_for(shunt_dcsr_strips(a->cols, shunt_dcsr_width(a->cols, layout)));
  if (j->bits > 64) return false;
  j->first_bit = a->from == SHUNT_DCSR_FROM_CSR ? j->row_bits : 0; // CSR's rows ascend
  j->sorted = j->bits > j->first_bit && a->nnz > 0;
  for (shunt_pairs *x : {&j->pairs, &j->spare}) {
    const size_t m = x == &j->pairs || j->sorted ? n : 0;
    x->keys = static_cast<uint64_t *>(shunt_place_in(scratch, &at, m * sizeof(uint64_t)));
    x->places = shunt_place_in(scratch, &at, m * index);
  }
  j->sums = shunt_place_in(scratch, &at, n * index);
  j->temporary = shunt_place_in(scratch, &at, shunt_sort_bytes(a->nnz, layout->index_type));
  j->scratch_bytes = at > 0 ? at : 256;
  return true;
}

// A grid-stride kernel over n items with one parameter, the job.
shunt_status launch(const void *kernel, int64_t n, void **parameters, const shunt_device *d,
                    cudaStream_t stream)
{
  const int64_t most = static_cast<int64_t>(d->multiprocessors) * kBlocksPerProcessor;
  const int64_t wanted = n / kThreads + 1;
  const cudaError_t e =
      cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(wanted < most ? wanted : most)),
                       dim3(kThreads), parameters, 0, stream);

  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class I, class J>
shunt_status convert(convert_job *j, const shunt_device *device, cudaStream_t stream)
{
  const int64_t n = j->a.nnz;
  void *job[] = {j};
  shunt_status status = SHUNT_OK;
  const auto run = [&](auto *kernel, int64_t items) {
    if (status == SHUNT_OK)
      status = launch(reinterpret_cast<const void *>(kernel), items, job, device, stream);
  };

  if (cudaMemsetAsync(j->d.counts, 0, sizeof *j->d.counts, stream) != cudaSuccess)
    return SHUNT_E_CUDA;
  if (j->a.from != SHUNT_DCSR_FROM_COO) run(check_kernel<I>, j->lines + 1);
  if (n > 0) run(keys_kernel<I, J>, n);
  if (status == SHUNT_OK && j->sorted)
    status = shunt_sort_pairs(j->temporary, &j->pairs, &j->spare, n, j->d.index_type, j->first_bit,
                              j->bits, stream);
  if (n > 0) run(heads_kernel<J>, n);
  if (status == SHUNT_OK && n > 0)
    status = shunt_running_sum(j->temporary, j->sums, n, j->d.index_type, stream);
  if (n > 0) run(entries_kernel<I, J>, n);
  run(strips_kernel<J>, j->d.strips + 1);
  return status;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" size_t shunt_dcsr_scratch_bytes_cuda(const struct shunt_dcsr_source *a,
                                                const struct shunt_dcsr_layout *layout)
{
  convert_job j = {};

  return lay_out(a, layout, nullptr, &j) ? j.scratch_bytes : 0;
}

extern "C" shunt_status shunt_source_to_dcsr_cuda(const struct shunt_dcsr_source *a,
                                                  const struct shunt_dcsr_layout *layout,
                                                  void *scratch, size_t scratch_bytes,
                                                  const struct shunt_dcsr *out,
                                                  const struct shunt_device *d, shunt_stream stream)
{
  convert_job j = {};

  if (a->rows < 0 || a->cols < 0 || a->nnz < 0) return SHUNT_E_ARGUMENT;
  if (!lay_out(a, layout, static_cast<char *>(scratch), &j)) return SHUNT_E_UNSUPPORTED;
  if (scratch_bytes < j.scratch_bytes || reinterpret_cast<uintptr_t>(scratch) % 256)
    return SHUNT_E_WORKSPACE;
  j.d = *out;
  if (a->index_type == SHUNT_I32)
    return out->index_type == SHUNT_I32 ? convert<int32_t, int32_t>(&j, d, stream)
                                        : convert<int32_t, int64_t>(&j, d, stream);
  return out->index_type == SHUNT_I32 ? convert<int64_t, int32_t>(&j, d, stream)
                                      : convert<int64_t, int64_t>(&j, d, stream);
}
