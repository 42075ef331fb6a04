// coo_to_csr.cu: row offsets of a COO matrix whose row indices are ascending.
//
//   row_indices   0 0 0 2 2 5          row_offsets[r] = base + first place whose row
//   place         0 1 2 3 4 5   6      is r or more:   0 3 3 5 5 5 6   (rows = 6)
//
// One thread an offset, by binary search: neighbouring threads walk the same path
// through the caches, and runs of empty rows cost nothing extra.  The other blocks of
// the launch read the indices once, coalesced, and report what is out of order or out
// of range.  Offsets lie in [base, nnz + base] whatever the indices are.
#include <cuda_runtime.h>

#include "conv/coo/coo_conv.h"

namespace shunt
{
namespace
{

constexpr int block_threads = 256;
constexpr int batch = 8; // loads a thread has in flight while checking

struct coo_job {
  const void *indices;
  void *offsets;
  int64_t rows, nnz;
  int base;
  int64_t search_blocks; // the first blocks; the others check
  uint32_t *irregular;
};

template <class I>
__device__ __forceinline__ void search(const I *indices, I *offsets, const coo_job &g, int64_t row)
{
  int64_t low = 0, high = g.nnz, wanted = row + g.base;

  if (row > g.rows) return;
  if (row == g.rows) low = high;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if ((int64_t)indices[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  offsets[row] = (I)(low + g.base);
}

template <class I>
__device__ __forceinline__ bool disorder(const I *indices, const coo_job &g, int64_t first,
                                         int64_t step)
{
  bool bad = false;

  for (int64_t p0 = first; p0 < g.nnz; p0 += step * batch) {
    I row[batch], before[batch];
#pragma unroll
    for (int k = 0; k < batch; k++) {
      int64_t p = p0 + k * step;
      row[k] = p < g.nnz ? indices[p] : I(g.base);
      before[k] = p < g.nnz && p > 0 ? indices[p - 1] : row[k];
    }
#pragma unroll
    for (int k = 0; k < batch; k++) {
      bool there = p0 + k * step < g.nnz;
      bool inside = (uint64_t)(int64_t)row[k] - (uint64_t)g.base < (uint64_t)g.rows;
      bad |= there && (!inside || row[k] < before[k]);
    }
  }
  return bad;
}

template <class I>
__global__ void __launch_bounds__(block_threads)
    coo_to_csr_kernel(const __grid_constant__ coo_job g)
{
  const I *indices = static_cast<const I *>(g.indices);

  if (blockIdx.x < g.search_blocks) {
    int64_t step = g.search_blocks * block_threads;
    for (int64_t r = (int64_t)blockIdx.x * block_threads + threadIdx.x; r <= g.rows; r += step)
      search(indices, static_cast<I *>(g.offsets), g, r);
    return;
  }
  int64_t block = blockIdx.x - g.search_blocks;
  int64_t step = (gridDim.x - g.search_blocks) * (int64_t)block_threads;
  bool bad = disorder(indices, g, block * block_threads + threadIdx.x, step);
  if (__syncthreads_or(bad) && threadIdx.x == 0) atomicOr(g.irregular, (uint32_t)SHUNT_IRREGULAR);
}

int64_t at_most(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_coo_to_csr_cuda(int64_t rows, int64_t nnz, const void *row_indices,
                                              shunt_type index_type, int base, void *row_offsets,
                                              uint32_t *irregular, const struct shunt_device *d,
                                              shunt_stream stream)
{
  int64_t most = (int64_t)d->multiprocessors * 8;
  coo_job g = {row_indices, row_offsets, rows, nnz, base, 0, irregular};
  int64_t check_blocks = 0, chunk = block_threads * batch;
  void *arguments[] = {&g};

  if (index_type != SHUNT_I32 && index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  g.search_blocks = at_most(rows / block_threads + 1, most);
  if (irregular) check_blocks = at_most((nnz + chunk - 1) / chunk, most);
  const void *kernel = index_type == SHUNT_I32
                           ? reinterpret_cast<const void *>(coo_to_csr_kernel<int32_t>)
                           : reinterpret_cast<const void *>(coo_to_csr_kernel<int64_t>);
  cudaError_t e = cudaLaunchKernel(kernel, dim3((unsigned)(g.search_blocks + check_blocks)),
                                   dim3(block_threads), arguments, 0, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
