// tile_mixed_spmm_blocked.cuh: C by blocks of 128 x 128 to 64 x 64, A in the `tile` format, both
// operands through shared memory.
//
// Four warps multiply, 64 x 64 of C each, and keep their sums in registers (.._multiply.cuh).  Four
// others fetch (.._fetch.cuh) into a ring of 6 to 12 stages, one chunk each: two strips of B (64
// rows) and the block's tiles there:
//
//                      B  | kTile |          ring (.._shape.cuh)
//             chunk 0     |-------|        .---------------------------.
//                   1     |-------|        | s-1 |  s  | s+1 | ..      |
//                   ..    |-------| -----> '---------------------------'
//     A  | tile | tile | ..  copy engine     ldmatrix: B, LDS: A       4 warps x 2 x 4 x 8 mma.sp
//
// Chunks go round in order, those without a tile as empty stages; the format's table says where a
// block row's tiles of a chunk are, so that no list is walked.  In blocks smaller than 128 x 128
// the warps form kGroups sets that take turns at the chunks.  p.split blocks, a cluster, do
// likewise.  The sums of all sets are added in a fixed order, by way of shared memory, when the
// chunks are through, so the bits never vary.
//
// Barriers, one pair for each stage:
//   full    1 arrival, of the warp that fetches, and the bytes: A and B have come
//   empty   the warps of the set that takes the stage are done with it
//
// Registers.  A warp's sums take 128.  With eight warps that multiply and 168 registers a thread
// each ldmatrix came after the last mma.sp of the fragment before, in the same four registers; two
// warps for each scheduler did not hide that.  With one warp for each scheduler and 255 registers
// the compiler puts the ldmatrix a whole strip ahead.
//
// Measured on an H200 with eight warps: a chunk of 256 x 128 took 1.1 us, 128 x 128 0.6 us, 128 x
// 64 0.4 us, 64 x 64 0.3 us, nearly all of it to multiply (without fetching 94 %, without
// multiplying 48 %): 16 cycles of a scheduler for each mma.sp.  Neighbouring blocks that brought B
// for each other, by multicast, were never faster.
//
// Bound, in cycles of a multiprocessor for one mma.sp.  Tensor cores: 2, as mma.sp is issued each 8
// cycles.  Shared memory, 128 bytes a cycle: 512 / 4 bytes of B and 576 / 8 of A are read, 1.6
// cycles; what a stage brings is written, 576 a tile of A over kTile / 8, 64 kTile of B over
// kRows / 16 x kTile / 8.  L2: 46 bytes a cycle and multiprocessor came where nothing was
// multiplied:
//
//                tensor   shared memory   L2     ring       stages x bytes
//     128 x 128     2.0       2.3         2.2    204 KB      6 x 34 K
//     128 x 64      2.0       2.6         3.0    208 KB      8 x 26 K
//     64 x 64       2.0       3.1         4.4    204 KB     12 x 17 K
//
// One block (256 threads) on a multiprocessor.  Of a stage's bytes half of the values' stay free
// where all tiles are 2:4.  A tile whose columns are in another order reads B alone, 512 bytes: 4.6
// cycles and what is written.
#pragma once
#include "kernels/ptx/cluster_load.cuh"
#include "kernels/tile/tile_mixed_spmm_blocked_fetch.cuh"
#include "kernels/tile/tile_mixed_spmm_blocked_multiply.cuh"

namespace shunt
{
namespace tile
{

// Where the sums of the blocks that share a part of C are.
struct image_place {
  const float *images; // of this block
  uint32_t base;       // their shared address, in each block
  int split;
};

// v += Count floats at `from`, of this block (rank < 0) or of another of the cluster.
template <int Count>
__device__ __forceinline__ void add_floats(const image_place &at, int from, int rank,
                                           float (&v)[Count])
{
  if constexpr (Count == 1) {
    v[0] += rank < 0 ? at.images[from] : ptx::cluster_load(at.base + from * 4, rank);
  } else {
    float4 x[Count / 4];
#pragma unroll
    for (int i = 0; i < Count / 4; i++)
      x[i] = rank < 0 ? *reinterpret_cast<const float4 *>(at.images + from + i * 4)
                      : ptx::cluster_load_4(at.base + (from + i * 4) * 4, rank);
#pragma unroll
    for (int i = 0; i < Count / 4; i++)
      v[4 * i] += x[i].x, v[4 * i + 1] += x[i].y, v[4 * i + 2] += x[i].z, v[4 * i + 3] += x[i].w;
  }
}

// Count sums of a row of the block's part of C: the images of all groups of all blocks, in order.
template <class Shape, int Count>
__device__ __forceinline__ void add_images(const image_place &at, int row, int column,
                                           float (&v)[Count])
{
  const int warp = row / 64 * Shape::kColumnWarps + column / 64;
  const int from = warp * Shape::kImageFloats + row % 64 * Shape::kPitch + column % 64;
#pragma unroll
  for (int i = 0; i < Count; i++) v[i] = 0.0f;
  for (int part = 0; part < at.split; part++)
#pragma unroll
    for (int g = 0; g < Shape::kGroups; g++)
      add_floats(at, from + g * Shape::kGroupWarps * Shape::kImageFloats, at.split == 1 ? -1 : part,
                 v);
}

// All threads of all blocks that share the part of C.
template <class T, class Out, class Shape>
__device__ __forceinline__ void store_images(const arguments &p, const float *shared, uint32_t base)
{
  constexpr int kWide = 16 / sizeof(Out), kRuns = Shape::kTile / kWide;
  const block_place place(p);
  const image_place images = {shared, base, p.split};
  const float alpha = p.alpha.get(), beta = p.beta.get();
  const int row0 = place.row_block * Shape::kRows, column0 = blockIdx.y * Shape::kTile;
  const int rows = min(Shape::kRows, p.rows - row0);
  const int first = place.part * Shape::kThreads + threadIdx.x, step = p.split * Shape::kThreads;
  if (p.c_wide) {
    for (int i = first; i < rows * kRuns; i += step) {
      const int row = i / kRuns, column = i % kRuns * kWide;
      float v[kWide];
      if (column0 + column >= p.n) continue;
      add_images<Shape>(images, row, column, v);
      store_run<T, Out>(p, true, alpha, beta, row0 + row, column0 + column, v);
    }
    return;
  }
  // Neighbouring lanes on neighbouring elements, whichever way C runs.
  for (int i = first; i < rows * Shape::kTile; i += step) {
    const int row = p.c_row_stride == 1 ? i % rows : i / Shape::kTile;
    const int column = p.c_row_stride == 1 ? i / rows : i % Shape::kTile;
    float v[1];
    if (column0 + column >= p.n) continue;
    add_images<Shape>(images, row, column, v);
    store_run<T, Out>(p, false, alpha, beta, row0 + row, column0 + column, v);
  }
}

// Barriers; all threads of the block.
template <class Shape> __device__ __forceinline__ void start_barriers(uint32_t base)
{
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::kStages; i++) {
      ptx::mbarrier_init(base + Shape::kFull + 8 * i, 1);
      ptx::mbarrier_init(base + Shape::kEmpty + 8 * i, Shape::kGroupWarps);
    }
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
}

template <class T, class Out, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_blocked(const __grid_constant__ arguments p, const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  const uint32_t base = ptx::shared_address(shared);
  float *images = reinterpret_cast<float *>(shared);
  const int warp = threadIdx.x / 32;
  if (warp >= Shape::kWarps) {
    if (threadIdx.x % 32 == 0) ptx::tensor_prefetch(&map);
    fetcher<Shape> b(p, map, shared, base); // its first loads while the barriers are made
    start_barriers<Shape>(base);
    b.fetch_all();
    __syncthreads();
  } else {
    multiplier<T, Shape> m(shared, base);
    start_barriers<Shape>(base);
    m.follow(block_place(p));
    __syncthreads(); // all that was fetched has come, and all warps are done with it
    m.write_image(images + warp * Shape::kImageFloats);
  }
  __syncthreads();
  if (p.split > 1) ptx::cluster_barrier();
  store_images<T, Out, Shape>(p, images, base);
  if (p.split > 1) ptx::cluster_barrier(); // nobody leaves while others read its images
#endif
}

} // namespace tile
} // namespace shunt
