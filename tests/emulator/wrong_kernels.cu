// wrong_kernels.cu: kernels that are wrong on purpose; the emulator has to find each.
//
//   wrong_kernels NAME   runs one: run.sh looks at how that ends
#include "kernels/ptx/gpu_scope.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/mma.cuh"
#include "tests/gpu/common/harness.cuh"

using namespace harness;
using namespace shunt;

// 64 threads hand each other a number; without the barrier that shows with most seeds.
template <bool Barrier> __global__ void rotate(int *out)
{
  __shared__ int at[64];
  at[threadIdx.x] = (int)threadIdx.x;
  if (Barrier) __syncthreads();
  out[threadIdx.x] = at[(threadIdx.x + 1) % 64];
}
__global__ void barrier_for_half()
{
  if (threadIdx.x < 32)
    __barrier_sync_count(1, 64);
  else
    __syncthreads();
}
__global__ void lane_missing()
{
  if (threadIdx.x == 5) __syncthreads();
  __syncwarp();
}
__global__ void lanes_differ()
{
  if (threadIdx.x < 16)
    __syncwarp();
  else
    __ballot_sync(~0u, 1);
}
__global__ void never_arrives()
{
  __shared__ __align__(8) uint64_t b;
  const uint32_t at = ptx::shared_address(&b);
  if (threadIdx.x == 0) ptx::mbarrier_init(at, 33);
  __syncthreads();
  ptx::mbarrier_arrive_at(at, 0);
  while (!ptx::mbarrier_try_wait(at, 0)) {
  }
}
__global__ void behind_global(int *p)
{
  p[threadIdx.x] = 1;
}
__global__ void behind_shared(int *out)
{
  __shared__ int at[32];
  at[threadIdx.x] = 1;
  out[threadIdx.x] = at[threadIdx.x + (threadIdx.x == 31)];
}
__global__ void behind_dynamic()
{
  extern __shared__ char bytes[];
  bytes[threadIdx.x] = 1;
}
__global__ void misaligned(float *p)
{
  *reinterpret_cast<float4 *>(p + 1 + threadIdx.x * 4) = make_float4(1, 2, 3, 4);
}
__global__ void no_wait(const int *from, int *out)
{
  __shared__ __align__(16) int to[4 * 32];
  ptx::cp_async_16(ptx::shared_address(to + 4 * threadIdx.x), from + 4 * threadIdx.x);
  ptx::cp_async_commit();
  out[threadIdx.x] = to[4 * threadIdx.x];
}
__global__ void misaligned_copy(const int *from)
{
  __shared__ __align__(16) int to[8];
  ptx::cp_async_16(ptx::shared_address(to + 1), from);
}
__global__ void __launch_bounds__(32) bounded() {}
__global__ void half_a_warp()
{
  uint32_t a[4] = {}, b[2] = {};
  float d[4] = {};
  if (threadIdx.x < 16) return;
  ptx::mma_m16n8k16_f16(d, a, b);
}
__global__ void endless(volatile int *p)
{
  while (*p == 0) {
  }
}

int main(int, char **argv)
{
  int *memory;
  CUDA_OK(cudaMalloc(&memory, 64 * sizeof(int)));
  memset(memory, 0, 64 * sizeof(int));
  const auto is = [&](const char *other) { return !strcmp(argv[1], other); };
  if (is("rotate") || is("rotate right")) {
    is("rotate") ? emulator::launcher(rotate<false>, 1, 64)(memory)
                 : emulator::launcher(rotate<true>, 1, 64)(memory);
    for (int i = 0; i < 64; i++)
      if (memory[i] != (i + 1) % 64) return printf("wrong result\n"), 1;
  } else if (is("barrier")) {
    barrier_for_half<<<1, 64>>>();
  } else if (is("lane missing")) {
    lane_missing<<<1, 64>>>();
  } else if (is("lanes differ")) {
    lanes_differ<<<1, 32>>>();
  } else if (is("never arrives")) {
    never_arrives<<<1, 32>>>();
  } else if (is("global")) {
    behind_global<<<1, 65>>>(memory);
  } else if (is("shared")) {
    behind_shared<<<1, 32>>>(memory);
  } else if (is("dynamic")) {
    behind_dynamic<<<1, 40, 39>>>();
  } else if (is("misaligned")) {
    misaligned<<<1, 2>>>((float *)memory);
  } else if (is("no wait")) {
    memory[32] = 0;
    static int from[128];
    no_wait<<<1, 32>>>((int *)(((uintptr_t)from + 15) & ~(uintptr_t)15), memory);
    for (int i = 0; i < 32; i++)
      if (memory[i] != 0) return printf("wrong result\n"), 1;
  } else if (is("misaligned copy")) {
    misaligned_copy<<<1, 1>>>(memory);
  } else if (is("bounds")) {
    bounded<<<1, 64>>>();
  } else if (is("half a warp")) {
    half_a_warp<<<1, 32>>>();
  } else if (is("endless")) {
    endless<<<1, 1>>>(memory);
  } else {
    return printf("no such kernel\n"), 2;
  }
  cudaFree(memory);
  return 0;
}
