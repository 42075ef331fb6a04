// sorted_from_csr.cu: the order of rows by length: a stable counting sort.
//
// A warp has a run of neighbouring rows, 32 at a time.
//
//   count     kind of each row; places[kind][run] = rows of that kind in the run
//   add up    places[kind][run] = those in the runs before; all[kind] = in all runs
//   place     order[rows of later kinds + places[kind][run] + those before in the run] = row
//
//   kinds     | 95 ... rows ... | 94 | .. | 1 | 0 |       order, by kinds
//   a kind    | run 0 | run 1 | .. | run r |              of a kind, by runs
#include "conv/sorted/sorted_conv.h"

namespace shunt
{
namespace
{

constexpr int kinds = SHUNT_SORTED_KINDS;
constexpr int warps = 8; // of a block
constexpr unsigned whole_warp = 0xffffffffu;
static_assert(kinds == 96, "three a lane");

struct sort_job {
  const void *offsets;
  bool wide; // 64-bit offsets
  shunt_sorted to;
};

__device__ __forceinline__ int64_t offset_of(const sort_job &j, int64_t i)
{
  return j.wide ? static_cast<const int64_t *>(j.offsets)[i]
                : static_cast<const int32_t *>(j.offsets)[i];
}

// The run that the warp has, or behind the last one.
__device__ __forceinline__ int64_t run_of_warp()
{
  return (int64_t)blockIdx.x * warps + threadIdx.x / 32;
}

__global__ void __launch_bounds__(warps * 32) count_kinds(const __grid_constant__ sort_job j)
{
  __shared__ uint32_t counts[warps][kinds];
  uint32_t *count = counts[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const int64_t run = run_of_warp(), first = run * j.to.run;
  if (run >= j.to.runs) return;
  for (int k = lane; k < kinds; k += 32) count[k] = 0;
  __syncwarp();
  for (int64_t at = first; at < first + j.to.run && at < j.to.rows; at += 32) {
    const int64_t row = at + lane;
    int kind = -1;
    if (row < j.to.rows) {
      kind = shunt_sorted_kind(
          (int64_t)((uint64_t)offset_of(j, row + 1) - (uint64_t)offset_of(j, row)));
      j.to.kind[row] = (uint8_t)kind;
    }
    const unsigned same = __match_any_sync(whole_warp, kind);
    if (kind >= 0 && lane == __ffs(same) - 1) count[kind] += __popc(same);
    __syncwarp();
  }
  for (int k = lane; k < kinds; k += 32) j.to.places[k * j.to.runs + run] = count[k];
}

// A block has a kind, and its first warp does the work.
__global__ void __launch_bounds__(32) add_up(const __grid_constant__ sort_job j)
{
  const int lane = threadIdx.x, kind = blockIdx.x;
  uint32_t *places = j.to.places + kind * j.to.runs, before = 0;
  for (int64_t at = 0; at < j.to.runs; at += 32) {
    const uint32_t own = at + lane < j.to.runs ? places[at + lane] : 0;
    uint32_t sum = own;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const uint32_t x = __shfl_up_sync(whole_warp, sum, d);
      if (lane >= d) sum += x;
    }
    if (at + lane < j.to.runs) places[at + lane] = before + sum - own;
    before += __shfl_sync(whole_warp, sum, 31);
  }
  if (lane == 0) j.to.all[kind] = before;
}

// first[k]: rows of later kinds than k.  One warp.
__device__ __forceinline__ void find_first(const sort_job &j, uint32_t *first)
{
  const int lane = threadIdx.x % 32,
            last = kinds - 1 - 3 * lane; // the lane's: last, and two before
  const uint32_t x = j.to.all[last], y = j.to.all[last - 1], z = j.to.all[last - 2];
  uint32_t sum = x + y + z;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const uint32_t before = __shfl_up_sync(whole_warp, sum, d);
    if (lane >= d) sum += before;
  }
  sum -= x + y + z;
  first[last] = sum;
  first[last - 1] = sum + x;
  first[last - 2] = sum + x + y;
}

__global__ void __launch_bounds__(warps * 32) place_rows(const __grid_constant__ sort_job j)
{
  __shared__ uint32_t firsts[warps][kinds];
  uint32_t *first = firsts[threadIdx.x / 32];
  const int lane = threadIdx.x % 32;
  const int64_t run = run_of_warp(), begin = run * j.to.run;
  if (run >= j.to.runs) return;
  find_first(j, first);
  __syncwarp();
  if (run == 0 && lane < SHUNT_SORTED_COUNTS)
    j.to.counts->at_least[lane] = first[shunt_sorted_kind(shunt_sorted_least(lane)) - 1];
  __syncwarp();
  for (int k = lane; k < kinds; k += 32) first[k] += j.to.places[k * j.to.runs + run];
  __syncwarp();
  for (int64_t at = begin; at < begin + j.to.run && at < j.to.rows; at += 32) {
    const int64_t row = at + lane;
    const int kind = row < j.to.rows ? j.to.kind[row] : -1;
    const unsigned same = __match_any_sync(whole_warp, kind);
    const uint32_t place = kind >= 0 ? first[kind] + __popc(same & ((1u << lane) - 1)) : 0;
    __syncwarp();
    if (kind >= 0) j.to.order[place] = (uint32_t)row;
    if (kind >= 0 && lane == __ffs(same) - 1) first[kind] += __popc(same);
    __syncwarp();
  }
}

shunt_status enqueue(void (*kernel)(sort_job), dim3 grid, int threads, sort_job j,
                     cudaStream_t stream)
{
  void *job[] = {&j};
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, dim3(threads), job, 0,
                          stream) == cudaSuccess
             ? SHUNT_OK
             : SHUNT_E_CUDA;
}

} // namespace
} // namespace shunt

using namespace shunt;

extern "C" shunt_status shunt_csr_to_sorted_cuda(const struct shunt_csr *a,
                                                 const struct shunt_sorted *out,
                                                 const struct shunt_device *, shunt_stream stream)
{
  if (shunt_sorted_bytes(a) == 0) return SHUNT_E_UNSUPPORTED;
  if (out->rows != a->rows || out->run < 32 || out->runs * out->run < a->rows)
    return SHUNT_E_ARGUMENT;
  const sort_job j = {a->row_offsets, a->index_type == SHUNT_I64, *out};
  const dim3 blocks((unsigned)((out->runs + warps - 1) / warps));
  shunt_status s = enqueue(count_kinds, blocks, warps * 32, j, stream);
  if (s == SHUNT_OK) s = enqueue(add_up, dim3(kinds), 32, j, stream);
  if (s == SHUNT_OK) s = enqueue(place_rows, blocks, warps * 32, j, stream);
  return s;
}
