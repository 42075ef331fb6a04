// bsr_to_csr.cu: BSR and Blocked-ELL to CSR, on the device.  A warp writes a row.
//
// BSR: where a row's entries begin follows from its block row's offset alone.  Lanes take
// neighbouring entries.
//
// Blocked-ELL: rows have as many entries as their block row has blocks, counted by one kernel and
// summed up (conv/dcsr/dcsr_sort.h).  Lanes take neighbouring blocks, ranked by a ballot, each all of
// its block's entries of the row.
#include <cuda_runtime.h>

#include "conv/bsr/bsr_conv.h"
#include "conv/dcsr/dcsr_sort.h"

namespace shunt
{
namespace
{

constexpr int kWarps = 8;
constexpr unsigned kAll = 0xffffffffu;

// The CSR's arrays.
struct target {
  void *offsets, *columns, *values;
  int value_size;
};

target target_of(const shunt_csr *to)
{
  return {const_cast<void *>(to->row_offsets), const_cast<void *>(to->columns), to->values,
          static_cast<int>(shunt_type_size(to->value_type))};
}

__device__ __forceinline__ void move(const target &to, int64_t i, const void *from, int64_t j)
{
  switch (to.value_size) {
  case 1: static_cast<uint8_t *>(to.values)[i] = static_cast<const uint8_t *>(from)[j]; return;
  case 2: static_cast<uint16_t *>(to.values)[i] = static_cast<const uint16_t *>(from)[j]; return;
  case 4: static_cast<uint32_t *>(to.values)[i] = static_cast<const uint32_t *>(from)[j]; return;
  default: static_cast<uint64_t *>(to.values)[i] = static_cast<const uint64_t *>(from)[j];
  }
}

__device__ __forceinline__ int64_t row_of_warp()
{
  return static_cast<int64_t>(blockIdx.x) * kWarps + threadIdx.x / 32;
}

// Garbage wraps: a column of blocks times the block is only written, never followed.
template <class I>
__device__ __forceinline__ I entry_column(I block_column, int base, int64_t b, int64_t j)
{
  const uint64_t column =
      static_cast<uint64_t>(static_cast<int64_t>(block_column)) - static_cast<uint64_t>(base);
  return static_cast<I>(column * static_cast<uint64_t>(b) + static_cast<uint64_t>(j + base));
}

// ---- BSR -----------------------------------------------------------------------------------

template <class I> __device__ __forceinline__ int64_t first_block(const shunt_bsr &a, int64_t row)
{
  const int64_t first = static_cast<int64_t>(static_cast<const I *>(a.row_offsets)[row]);
  return first < a.base ? 0 : min(first - a.base, a.blocks);
}

template <class I>
__global__ void __launch_bounds__(kWarps * 32)
    bsr_kernel(const __grid_constant__ shunt_bsr a, const __grid_constant__ target to)
{
  const int lane = threadIdx.x % 32;
  const int64_t row = row_of_warp(), b = a.block, i = row % b;
  I *offsets = static_cast<I *>(to.offsets), *columns = static_cast<I *>(to.columns);
  if (row == a.rows && lane == 0) offsets[row] = static_cast<I>(a.blocks * b * b + a.base);
  if (row >= a.rows) return;
  const int64_t first = first_block<I>(a, row / b), end = first_block<I>(a, row / b + 1);
  const int64_t count = max(end - first, int64_t(0)), at = first * b * b + i * count * b;
  if (lane == 0) offsets[row] = static_cast<I>(at + a.base);
  for (int64_t q = lane; q < count * b; q += 32) {
    const int64_t block = first + q / b, j = q % b;
    columns[at + q] = entry_column(static_cast<const I *>(a.columns)[block], a.base, b, j);
    move(to, at + q, a.values, block * b * b + (a.column_major ? j * b + i : i * b + j));
  }
}

// ---- Blocked-ELL ------------------------------------------------------------------------------

// offsets[row + 1] = the row's entries, offsets[0] = base.
template <class I>
__global__ void __launch_bounds__(kWarps * 32)
    count_kernel(const __grid_constant__ shunt_blocked_ell a, const __grid_constant__ target to)
{
  const int lane = threadIdx.x % 32;
  const int64_t row = row_of_warp(), wide = a.width / a.block;
  I *offsets = static_cast<I *>(to.offsets);
  if (row == a.rows && lane == 0) offsets[0] = static_cast<I>(a.base);
  if (row >= a.rows) return;
  const I *columns = static_cast<const I *>(a.columns) + row / a.block * wide;
  int64_t count = 0;
  for (int64_t q = 0; q < wide; q += 32)
    count += __popc(__ballot_sync(kAll, q + lane < wide && columns[q + lane] >= 0));
  if (lane == 0) offsets[row + 1] = static_cast<I>(count * a.block);
}

template <class I>
__global__ void __launch_bounds__(kWarps * 32)
    fill_kernel(const __grid_constant__ shunt_blocked_ell a, const __grid_constant__ target to)
{
  const int lane = threadIdx.x % 32;
  const int64_t row = row_of_warp(), b = a.block, wide = a.width / b;
  if (row >= a.rows) return;
  const I *from = static_cast<const I *>(a.columns) + row / b * wide;
  int64_t at = static_cast<const I *>(to.offsets)[row] - a.base;
  for (int64_t q = 0; q < wide; q += 32) {
    const I block = q + lane < wide ? from[q + lane] : I(-1);
    const unsigned found = __ballot_sync(kAll, block >= 0);
    const int64_t mine = at + __popc(found & ((1u << lane) - 1)) * b;
    for (int64_t j = 0; block >= 0 && j < b; j++) {
      static_cast<I *>(to.columns)[mine + j] = entry_column(block, a.base, b, j);
      move(to, mine + j, a.values, row * a.width + (q + lane) * b + j);
    }
    at += __popc(found) * b;
  }
}

// A warp for each of rows + 1.
template <class A>
bool launch(void (*kernel)(A, target), const A &a, const shunt_csr *to, cudaStream_t stream)
{
  A source = a;
  target t = target_of(to);
  void *parameters[] = {&source, &t};
  const int64_t blocks = a.rows / kWarps + 1;
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel),
                          dim3(static_cast<unsigned>(blocks)), dim3(kWarps * 32), parameters, 0,
                          stream) == cudaSuccess;
}

shunt_status check(const shunt_csr &is, const shunt_csr *to)
{
  if (is.rows < 0) return SHUNT_E_UNSUPPORTED;
  const bool same = to->rows == is.rows && to->cols == is.cols && to->nnz == is.nnz &&
                    to->index_type == is.index_type && to->value_type == is.value_type &&
                    to->base == is.base;
  return same ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_bsr_to_csr_cuda(const struct shunt_bsr *a, const struct shunt_csr *to,
                                              const struct shunt_device *d, shunt_stream stream)
{
  (void)d;
  const shunt_status s = check(shunt_bsr_sizes(a), to);
  if (s != SHUNT_OK) return s;
  const bool good = launch(a->index_type == SHUNT_I32 ? bsr_kernel<int32_t> : bsr_kernel<int64_t>,
                           *a, to, stream);
  return good ? SHUNT_OK : SHUNT_E_CUDA;
}

extern "C" size_t shunt_blocked_ell_scratch_bytes(const struct shunt_blocked_ell *a)
{
  return shunt_blocked_ell_sizes(a).rows < 0 ? 0 : shunt_sort_bytes(a->rows + 1, a->index_type);
}

extern "C" shunt_status shunt_blocked_ell_to_csr_cuda(const struct shunt_blocked_ell *a,
                                                      const struct shunt_csr *to, void *scratch,
                                                      size_t scratch_bytes,
                                                      const struct shunt_device *d,
                                                      shunt_stream stream)
{
  (void)d;
  const shunt_status s = check(shunt_blocked_ell_sizes(a), to);
  if (s != SHUNT_OK) return s;
  if (!scratch || scratch_bytes < shunt_blocked_ell_scratch_bytes(a) ||
      reinterpret_cast<uintptr_t>(scratch) % 256)
    return SHUNT_E_WORKSPACE;
  const bool narrow = a->index_type == SHUNT_I32;
  const bool good =
      launch(narrow ? count_kernel<int32_t> : count_kernel<int64_t>, *a, to, stream) &&
      shunt_running_sum(scratch, const_cast<void *>(to->row_offsets), a->rows + 1, a->index_type,
                        stream) == SHUNT_OK &&
      launch(narrow ? fill_kernel<int32_t> : fill_kernel<int64_t>, *a, to, stream);
  return good ? SHUNT_OK : SHUNT_E_CUDA;
}
