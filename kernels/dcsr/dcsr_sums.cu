// dcsr_sums.cu: S in CSR from the row of each segment (kernels/dcsr/dcsr_kernels.h), on the device.
//
//   count    left[i] = how many segments row i has              integer atomics
//   chunks   totals[k] = those of 2048 rows
//   scan     offsets[i] = those of all rows before               a block adds the totals before it
//   scatter  loose[offsets[i] + --left[i]] = g                   in any order within a row
//   order    segments[offsets[i] + how many of the row are below g] = g
//
// A row's list has at most one segment of each strip, so for most rows `order` is a handful of
// loads that its neighbours make too; a row of L segments takes L^2 / 32 loads of a warp.
//
// Scratch:  | left [rows] | totals [rows / 2048] | loose [room] |
#include <cuda_runtime.h>

#include "kernels/dcsr/dcsr_sums.cuh"

namespace shunt
{
namespace dcsr
{
namespace
{

constexpr int kThreads = 256;
constexpr int kRowsOfThread = 8;
constexpr int kChunk = kThreads * kRowsOfThread;
constexpr int64_t kBlocksPerProcessor = 8;

struct sums_job {
  segment_rows of;
  struct shunt_dcsr_sums out;
  int32_t *left, *totals, *loose;
};

__device__ __forceinline__ int64_t segments_of(const sums_job &j)
{
  if (j.of.irregular && *j.of.irregular) return 0;
  const int64_t count = j.of.count ? static_cast<int64_t>(*j.of.count) : j.out.room;
  return count < j.out.room ? count : j.out.room;
}

// -1: not a segment
__device__ __forceinline__ int row_of(const sums_job &j, int64_t g)
{
  const int64_t row = j.of.wide ? static_cast<const int64_t *>(j.of.row_of)[g]
                                : static_cast<const int32_t *>(j.of.row_of)[g];
  return row >= 0 && row < j.out.rows ? static_cast<int>(row) : -1;
}

__device__ __forceinline__ int64_t first_thread()
{
  return static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
}

__device__ __forceinline__ int64_t all_threads()
{
  return static_cast<int64_t>(gridDim.x) * kThreads;
}

__global__ void __launch_bounds__(kThreads) count_kernel(const __grid_constant__ sums_job j)
{
  const int64_t segments = segments_of(j);
  for (int64_t g = first_thread(); g < segments; g += all_threads()) {
    const int row = row_of(j, g);
    if (row >= 0) atomicAdd(&j.left[row], 1);
  }
}

// The sum over the block, in all threads; `parts` is its own again afterwards.
__device__ __forceinline__ int add_block(int x, int *parts)
{
  x = __reduce_add_sync(~0u, x);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  int sum = 0;
  for (int w = 0; w < kThreads / 32; w++) sum += parts[w];
  __syncthreads();
  return sum;
}

__global__ void __launch_bounds__(kThreads) chunks_kernel(const __grid_constant__ sums_job j)
{
  __shared__ int parts[kThreads / 32];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kChunk;
  int sum = 0;
  for (int k = 0; k < kRowsOfThread; k++) {
    const int64_t row = first + k * kThreads + threadIdx.x;
    if (row < j.out.rows) sum += j.left[row];
  }
  sum = add_block(sum, parts);
  if (threadIdx.x == 0) j.totals[blockIdx.x] = sum;
}

// The sum over the threads before this one.
__device__ __forceinline__ int before_in_block(int x, int *parts)
{
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int sum = x;
  for (int apart = 1; apart < 32; apart *= 2) {
    const int other = __shfl_up_sync(~0u, sum, apart);
    if (lane >= apart) sum += other;
  }
  if (lane == 31) parts[warp] = sum;
  __syncthreads();
  for (int w = 0; w < warp; w++) sum += parts[w];
  return sum - x;
}

__global__ void __launch_bounds__(kThreads) scan_kernel(const __grid_constant__ sums_job j)
{
  __shared__ int parts[kThreads / 32];
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kChunk + threadIdx.x * kRowsOfThread;
  int before = 0, count[kRowsOfThread], mine = 0;

  for (int64_t k = threadIdx.x; k < blockIdx.x; k += kThreads) before += j.totals[k];
  before = add_block(before, parts);
  for (int k = 0; k < kRowsOfThread; k++) {
    count[k] = first + k < j.out.rows ? j.left[first + k] : 0;
    mine += count[k];
  }
  before += before_in_block(mine, parts);
  for (int k = 0; k < kRowsOfThread; k++) {
    if (first + k <= j.out.rows) j.out.offsets[first + k] = before;
    before += count[k];
  }
}

__global__ void __launch_bounds__(kThreads) scatter_kernel(const __grid_constant__ sums_job j)
{
  const int64_t segments = segments_of(j);
  for (int64_t g = first_thread(); g < segments; g += all_threads()) {
    const int row = row_of(j, g);
    if (row >= 0)
      j.loose[j.out.offsets[row] + atomicSub(&j.left[row], 1) - 1] = static_cast<int32_t>(g);
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) order_kernel(const __grid_constant__ sums_job j)
{
  const int64_t used = j.out.offsets[j.out.rows];
  for (int64_t p = first_thread(); p < used; p += all_threads()) {
    const int g = j.loose[p], row = row_of(j, g);
    const int begin = j.out.offsets[row], end = j.out.offsets[row + 1];
    int below = 0;
    for (int q = begin; q < end; q++) below += __ldg(j.loose + q) < g;
    j.out.segments[begin + below] = g;
    static_cast<T *>(j.out.ones)[p] = T(1);
  }
}

unsigned grid(int64_t work, const struct shunt_device *d)
{
  const int64_t blocks = (work + kThreads - 1) / kThreads,
                most = d->multiprocessors * kBlocksPerProcessor;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

} // namespace

shunt_status make_sums(const segment_rows &of, const struct shunt_dcsr_sums *out, void *scratch,
                       const struct shunt_device *device, shunt_stream stream)
{
  char *at = static_cast<char *>(scratch);
  const size_t rows = static_cast<size_t>(out->rows);
  const unsigned chunks = static_cast<unsigned>(out->rows / kChunk + 1); // offsets[rows] too
  const unsigned blocks = grid(out->room, device);
  sums_job j = {of, *out, nullptr, nullptr, nullptr};
  j.left = reinterpret_cast<int32_t *>(at);
  j.totals = reinterpret_cast<int32_t *>(at += shunt_align_up(rows * 4, 256));
  j.loose = reinterpret_cast<int32_t *>(at + shunt_align_up(chunks * size_t{4}, 256));

  if (rows && cudaMemsetAsync(j.left, 0, rows * 4, stream) != cudaSuccess) return SHUNT_E_CUDA;
  count_kernel<<<blocks, kThreads, 0, stream>>>(j);
  chunks_kernel<<<chunks, kThreads, 0, stream>>>(j);
  scan_kernel<<<chunks, kThreads, 0, stream>>>(j);
  scatter_kernel<<<blocks, kThreads, 0, stream>>>(j);
  if (out->value_type == SHUNT_F32)
    order_kernel<float><<<blocks, kThreads, 0, stream>>>(j);
  else
    order_kernel<double><<<blocks, kThreads, 0, stream>>>(j);
  return cudaPeekAtLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

} // namespace dcsr
} // namespace shunt

using namespace shunt::dcsr;

extern "C" size_t shunt_dcsr_sums_scratch_bytes(int64_t rows, int64_t room)
{
  if (rows < 0 || room < 0) return 0;
  return shunt_align_up(static_cast<size_t>(rows) * 4, 256) +
         shunt_align_up((rows / kChunk + 1) * size_t{4}, 256) +
         shunt_align_up(static_cast<size_t>(room) * 4, 256);
}

extern "C" shunt_status shunt_dcsr_sums_cuda(const struct shunt_dcsr *d,
                                             const struct shunt_dcsr_sums *out, void *scratch,
                                             size_t scratch_bytes,
                                             const struct shunt_device *device, shunt_stream stream)
{
  if (out->rows != d->rows || out->room < d->room ||
      out->value_type != shunt_dcsr_sum_type(d->value_type))
    return SHUNT_E_ARGUMENT;
  if (!shunt_dcsr_sums_bytes(out->rows, out->room, out->value_type)) return SHUNT_E_UNSUPPORTED;
  if (!scratch || scratch_bytes < shunt_dcsr_sums_scratch_bytes(out->rows, out->room) ||
      reinterpret_cast<uintptr_t>(scratch) % 256)
    return SHUNT_E_WORKSPACE;
  const segment_rows of = {d->row_ids, d->index_type == SHUNT_I64, &d->counts->segments,
                           &d->counts->irregular};
  return make_sums(of, out, scratch, device, stream);
}
