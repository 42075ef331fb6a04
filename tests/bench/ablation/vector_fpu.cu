// vector_fpu.cu: the 1-D subwarp tiling of SC'21, section 4: no tensor cores.
//
//     a warp             V rows of A      8 Lanes columns of B
//     +---------------+
//     | subwarp 0     |  rows of unit u   lane l: columns 8 l .. 8 l + 7, by one 16-byte load for
//     | subwarp 1     |         unit u+1          each vector, into V x 8 sums in f32 registers
//     |  ..           |
//     +---------------+
//
// Sixteen vectors at a time (vector_list.cuh): values in f32 and columns in shared memory, read
// by all lanes of the subwarp at once; B straight into registers, widened there, V x 8 FMA a
// vector and lane.  Lanes is 8, 16 or 32: the widest tile that n fills, since the subwarps of a
// warp wait for the longest of their lists.
//
// Roofline: FMA, vectors x V x n at 128 a clock and multiprocessor (29.6 T/s on an H200), where
// the octet mapping is bound by the gather of B, vectors x n x 2 bytes at 8.5 TB/s: for V = 8 the
// FMA take 1.15 times as long, and a conversion for each element of B comes on top.
#include "tests/bench/ablation/ablation_launch.cuh"
#include "tests/bench/ablation/vector_list.cuh"

namespace shunt
{
namespace vector
{

constexpr int kFpuWarps = 4;

// What a subwarp keeps in shared memory: the ring of places of its list.
template <int V, int Places> struct fpu_ring {
  float values[Places][V];
  uint32_t columns[Places];

  __device__ __forceinline__ void operator()(int place, uint32_t column, const __half (&x)[V])
  {
    columns[place] = column;
#pragma unroll
    for (int r = 0; r < V; r++) values[place][r] = __half2float(x[r]);
  }
  __device__ __forceinline__ void nothing(int place, int like)
  {
    columns[place] = columns[like];
#pragma unroll
    for (int r = 0; r < V; r++) values[place][r] = 0.0f;
  }
};
// sum[r][i] += a[r] b[i], b the eight halves of x.
template <int V>
__device__ __forceinline__ void multiply_add_8(float (&sum)[V][8], const float *a, const uint4 &x)
{
  const uint32_t word[4] = {x.x, x.y, x.z, x.w};
  float b[8];
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const float2 pair = __half22float2(*reinterpret_cast<const __half2 *>(&word[i]));
    b[2 * i] = pair.x, b[2 * i + 1] = pair.y;
  }
#pragma unroll
  for (int r = 0; r < V; r++)
#pragma unroll
    for (int i = 0; i < 8; i++) sum[r][i] = fmaf(a[r], b[i], sum[r][i]);
}

// One tile of the list, kAhead rows of B under way at once.
template <int V, class Ring>
__device__ __forceinline__ void multiply_tile(float (&sum)[V][8], const Ring &ring, int head,
                                              const char *b, uint32_t row_bytes)
{
  constexpr int kAhead = V == 8 ? 4 : 8;
#pragma unroll 1
  for (int i = 0; i < 16; i += kAhead) {
    uint4 x[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; j++)
      x[j] = __ldg(reinterpret_cast<const uint4 *>(
          b + static_cast<uint64_t>(ring.columns[head + i + j]) * row_bytes));
#pragma unroll
    for (int j = 0; j < kAhead; j++) multiply_add_8<V>(sum, ring.values[head + i + j], x[j]);
  }
}

template <int V, int Lanes>
__global__ void __launch_bounds__(kFpuWarps * 32)
    spmm_vector_fpu(const __grid_constant__ arguments p)
{
  using list_of = vector_list<V, Lanes>;
  using ring_of = fpu_ring<V, list_of::kPlaces>;
  __shared__ __align__(16) ring_of rings[kFpuWarps * 32 / Lanes];
  ring_of &ring = rings[threadIdx.x / Lanes];
  const unit_rows<V> unit(p, (blockIdx.x * kFpuWarps * 32 + threadIdx.x) / Lanes);
  const int column = blockIdx.y * Lanes * 8 + threadIdx.x % Lanes * 8;
  // Lanes beyond the last column gather the first; what they compute is not stored.
  const char *b = p.b + (column < p.n ? column : 0) * 2;

  list_of list;
  list.start(p, unit.exists, unit.group, unit.row);
  float sum[V][8] = {};
  for (;;) {
    const bool more = list.next_tile(ring);
    if (!__any_sync(~0u, more)) break;
    __syncwarp();
    if (more) {
      multiply_tile<V>(sum, ring, list.head, b, p.b_row_bytes);
      list.drop_tile();
    }
    __syncwarp();
  }

  if (!unit.exists || column >= p.n) return;
  const float alpha = p.alpha.get(), beta = p.beta.get();
#pragma unroll
  for (int r = 0; r < V; r++)
    if (unit.group * kGroup + unit.row + r < p.rows)
      store_run<__half, __half, false>(p, alpha, beta, unit.group, unit.row + r, column, sum[r]);
}

template <int V, int Lanes> static cudaError_t launch_fpu(const arguments &p, cudaStream_t stream)
{
  const int units = units_of(p, V), units_a_block = kFpuWarps * 32 / Lanes;
  const dim3 grid((units + units_a_block - 1) / units_a_block, (p.n + Lanes * 8 - 1) / (Lanes * 8));
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(&spmm_vector_fpu<V, Lanes>), grid,
                          dim3(kFpuWarps * 32), parameters, 0, stream);
}

template <int V> static cudaError_t launch_fpu(const arguments &p, cudaStream_t stream)
{
  if (p.n >= 256) return launch_fpu<V, 32>(p, stream);
  if (p.n >= 128) return launch_fpu<V, 16>(p, stream);
  return launch_fpu<V, 8>(p, stream);
}

struct fpu_launcher {
  template <int V> static cudaError_t launch(const arguments &p, cudaStream_t stream)
  {
    return launch_fpu<V>(p, stream);
  }
};

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" shunt_status shunt_ablation_fpu_cuda(const struct shunt_spmm *p,
                                                const struct shunt_vector *v, shunt_stream stream)
{
  return ablation_launch<fpu_launcher>(p, v, stream);
}
