// fingerprint.cu: 128 bits that stand for the content of a CSR matrix.
//
// One pass over row offsets, columns and values at copy bandwidth (kernels/guard/fingerprint.h has
// the mathematics, kernels/guard/fingerprint_parts.cuh the work of a block).  Every block writes
// its part, one block of a second launch adds them: for when a copy is made.  The proof that a copy
// still stands takes the same parts in one launch with the repair (kernels/guard/repair.cuh).
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/guard/fingerprint_parts.cuh"
#include "kernels/guard/guard.h"

namespace shunt
{
namespace guard
{
namespace
{

constexpr int most_parts = SHUNT_FINGERPRINT_SCRATCH / sizeof(struct shunt_fingerprint);

__global__ void __launch_bounds__(hash_threads, hash_blocks_per_multiprocessor)
    parts_kernel(const __grid_constant__ hash_job job, struct shunt_fingerprint *parts)
{
  let_next_in();
  wait_for_previous();
  const struct shunt_fingerprint part =
      block_sum(hash_share(job, worker_of(blockIdx.x, gridDim.x)));
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
}

__global__ void __launch_bounds__(hash_threads)
    sum_kernel(const struct shunt_fingerprint *parts, int count, struct shunt_fingerprint *out)
{
  struct shunt_fingerprint f = {0, 0};
  wait_for_previous();
  for (int i = threadIdx.x; i < count; i += hash_threads) shunt_fp_add(&f, parts[i]);
  f = block_sum(f);
  if (threadIdx.x == 0) *out = f;
}

} // namespace
} // namespace guard
} // namespace shunt

extern "C" shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a,
                                                   struct shunt_fingerprint *out,
                                                   const struct shunt_device *d, void *scratch,
                                                   shunt_stream stream)
{
  using namespace shunt::guard;
  struct shunt_fingerprint *parts = static_cast<struct shunt_fingerprint *>(scratch);
  hash_job job;
  if (!out || !scratch) return SHUNT_E_ARGUMENT;
  shunt_status s = make_hash_job(a, &job);
  if (s != SHUNT_OK) return s;
  const int count = hash_blocks(job.tiles, d, most_parts);
  s = shunt::launch_early(parts_kernel, dim3(count), dim3(hash_threads), d, stream, job, parts);
  if (s != SHUNT_OK) return s;
  return shunt::launch_early(sum_kernel, dim3(1), dim3(hash_threads), d, stream,
                             static_cast<const struct shunt_fingerprint *>(parts), count, out);
}
