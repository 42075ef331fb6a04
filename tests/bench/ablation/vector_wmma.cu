// vector_wmma.cu: the classic warp tiling that SC'21 starts from (section 4): A is the left
// operand of the matrix instruction, as WMMA's users write it, and every fragment comes through
// shared memory.
//
//     A, 16 x 16                 B, 16 rows gathered x 64        D, 16 x 64, f32
//     +----------------+         +-----------------------+       +-----------------------+
//     | V rows of A    |         | row of vector 0       |       | V rows of C           |
//     +----------------+    x    |  ..                   |   =   +-----------------------+
//     | 16 - V rows of |         |  ..                   |       | 16 - V rows that      |
//     | zeros          |         | row of vector 15      |       | nobody wants          |
//     +----------------+         +-----------------------+       +-----------------------+
//
// A warp owns V rows x 64 columns.  Of each mma.m16n8k16, V / 16 is of use: 1/2, 1/4, 1/8 for V =
// 8, 4, 2; the octet mapping (kernels/vector/vector_packed_spmm_direct.cuh) has V on the 8-side and
// uses all. B's rows go to shared memory by cp.async, two tiles in turns, and are read by ldmatrix.
//
// Roofline: shared memory, vectors x 64 columns x 2 bytes in and out again for each 64 columns,
// at 128 bytes a clock and multiprocessor (29.6 TB/s on an H200): 4 x vectors x n bytes, against
// the 2 x vectors x n that are gathered from L2 at 8.5 TB/s.  So it should be L2 again, if enough
// warps fit beside their 8 KB of shared memory each.
#include "kernels/ptx/ldst.cuh"
#include "tests/bench/ablation/ablation_launch.cuh"
#include "tests/bench/ablation/vector_list.cuh"

namespace shunt
{
namespace vector
{

constexpr int kWmmaWarps = 4, kWmmaTile = 64, kWmmaPlaces = vector_list<8, 32>::kPlaces;
// Halves from one row to the next in shared memory: eight rows start in different banks.
constexpr int kPitchA = 16 + 8, kPitchB = kWmmaTile + 8, kPitchC = kWmmaTile + 4;

// What a warp keeps in shared memory.
struct wmma_memory {
  uint16_t b[2][16][kPitchB];                // at the end: the image of C in f32
  uint16_t a[kWmmaPlaces / 16][16][kPitchA]; // tiles of the ring of places
  uint32_t columns[kWmmaPlaces];
};

template <int V> struct put_wmma {
  wmma_memory &m;
  __device__ __forceinline__ void operator()(int place, uint32_t column, const __half (&x)[V])
  {
    m.columns[place] = column;
#pragma unroll
    for (int r = 0; r < V; r++) m.a[place / 16][r][place % 16] = __half_as_ushort(x[r]);
  }
  __device__ __forceinline__ void nothing(int place, int like)
  {
    m.columns[place] = m.columns[like];
#pragma unroll
    for (int r = 0; r < V; r++) m.a[place / 16][r][place % 16] = 0;
  }
};

// Rows of B of the tile of places that begins at `head`, columns column0 .. + 63, on their way
// into b.  Columns beyond the last are the first: what comes of them is not stored.
__device__ __forceinline__ void fetch_tile(wmma_memory &m, int stage, int head, const arguments &p,
                                           int column0)
{
#pragma unroll
  for (int i = threadIdx.x % 32; i < 16 * kWmmaTile / 8; i += 32) {
    const int row = i / (kWmmaTile / 8), column = i % (kWmmaTile / 8) * 8;
    const char *from = p.b + static_cast<uint64_t>(m.columns[head + row]) * p.b_row_bytes +
                       (column0 + column < p.n ? column0 + column : 0) * 2;
    ptx::cp_async_16(ptx::shared_address(&m.b[stage][row][column]), from);
  }
}

__device__ __forceinline__ void multiply_fragments(float (&d)[kWmmaTile / 8][4],
                                                   const uint16_t (&a)[16][kPitchA],
                                                   const uint16_t (&b)[16][kPitchB])
{
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  const auto pair = [&](int row, int slot) {
    return *reinterpret_cast<const uint32_t *>(&a[row][slot]);
  };
  const uint32_t fragment[4] = {pair(g, 2 * t), pair(g + 8, 2 * t), pair(g, 2 * t + 8),
                                pair(g + 8, 2 * t + 8)};
  // Matrices 0 and 1 of ldmatrix: rows 0 .. 7 and 8 .. 15 of columns 16 j .. + 7; 2 and 3: the
  // same rows of the eight columns beside them.
  const int row = lane % 16, column = lane / 16 * 8;
#pragma unroll
  for (int j = 0; j < kWmmaTile / 16; j++) {
    uint32_t x[4];
    ptx::ldmatrix_x4_trans(x, ptx::shared_address(&b[row][16 * j + column]));
    const uint32_t low[2] = {x[0], x[1]}, high[2] = {x[2], x[3]};
    mma_of<__half>::run(d[2 * j], fragment, low);
    mma_of<__half>::run(d[2 * j + 1], fragment, high);
  }
}

// The V rows that are wanted of D, through shared memory, to C.
template <int V>
__device__ __forceinline__ void store_tile(wmma_memory &m, const float (&d)[kWmmaTile / 8][4],
                                           const arguments &p, const unit_rows<V> &unit,
                                           int column0)
{
  float *image = reinterpret_cast<float *>(m.b);
  static_assert(V * kPitchC * sizeof(float) <= sizeof m.b, "the image fits where B was");
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int j = 0; j < kWmmaTile / 8; j++)
    if (g < V)
      *reinterpret_cast<float2 *>(image + g * kPitchC + 8 * j + 2 * t) =
          make_float2(d[j][0], d[j][1]);
  __syncwarp();
  const float alpha = p.alpha.get(), beta = p.beta.get();
  for (int i = lane; i < V * kWmmaTile / 8; i += 32) {
    const int row = i / (kWmmaTile / 8), column = i % (kWmmaTile / 8) * 8;
    if (unit.group * kGroup + unit.row + row >= p.rows || column0 + column >= p.n) continue;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; k++) v[k] = image[row * kPitchC + column + k];
    store_run<__half, __half, false>(p, alpha, beta, unit.group, unit.row + row, column0 + column,
                                     v);
  }
}

template <int V>
__global__ void __launch_bounds__(kWmmaWarps * 32)
    spmm_vector_wmma(const __grid_constant__ arguments p)
{
  __shared__ __align__(16) wmma_memory memory[kWmmaWarps];
  wmma_memory &m = memory[threadIdx.x / 32];
  const unit_rows<V> unit(p, blockIdx.x * kWmmaWarps + threadIdx.x / 32);
  const int column0 = blockIdx.y * kWmmaTile;
  if (!unit.exists) return;

  uint4 *padding = reinterpret_cast<uint4 *>(m.a);
  for (int i = threadIdx.x % 32; i < static_cast<int>(sizeof m.a / 16); i += 32)
    padding[i] = make_uint4(0, 0, 0, 0);
  __syncwarp();

  put_wmma<V> put{m};
  vector_list<V, 32> list;
  list.start(p, true, unit.group, unit.row);
  float d[kWmmaTile / 8][4] = {};
  // Puts the next tile in place and sends for its rows of B; its place, or -1 at the end.
  const auto begin_tile = [&](int stage) {
    int head = -1;
    const bool more = list.next_tile(put);
    __syncwarp();
    if (more) {
      head = list.head;
      fetch_tile(m, stage, head, p, column0);
      list.drop_tile();
    }
    ptx::cp_async_commit();
    return head;
  };
  int stage = 0, head = begin_tile(0);
  while (head >= 0) {
    const int next = begin_tile(stage ^ 1);
    ptx::cp_async_wait<1>();
    __syncwarp();
    multiply_fragments(d, m.a[head / 16], m.b[stage]);
    __syncwarp();
    stage ^= 1, head = next;
  }
  ptx::cp_async_wait<0>();
  store_tile<V>(m, d, p, unit, column0);
}

template <int V> static cudaError_t launch_wmma(const arguments &p, cudaStream_t stream)
{
  const dim3 grid((units_of(p, V) + kWmmaWarps - 1) / kWmmaWarps,
                  (p.n + kWmmaTile - 1) / kWmmaTile);
  void *parameters[] = {const_cast<arguments *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(&spmm_vector_wmma<V>), grid,
                          dim3(kWmmaWarps * 32), parameters, 0, stream);
}

struct wmma_launcher {
  template <int V> static cudaError_t launch(const arguments &p, cudaStream_t stream)
  {
    return launch_wmma<V>(p, stream);
  }
};

} // namespace vector
} // namespace shunt

using namespace shunt::vector;

extern "C" shunt_status shunt_ablation_wmma_cuda(const struct shunt_spmm *p,
                                                 const struct shunt_vector *v, shunt_stream stream)
{
  return ablation_launch<wmma_launcher>(p, v, stream);
}
