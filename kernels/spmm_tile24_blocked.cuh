// spmm_tile24_blocked.cuh: C by blocks of 256 x 128 to 64 x 64, A in the `tile24` format, both
// operands through shared memory.
//
// Eight warps multiply, 64 x 64 of C each, and keep their sums in registers (multiply.cuh); four
// fetch (bring.cuh), into a ring of 8 to 24 stages, one strip of B (32 rows) and the block's tiles
// of it each:
//
//                      B  | kTile |          ring (shape.cuh)
//            strip 0      |-------|        .---------------------------.
//                  1      |-------|  TMA   | s-1 |  s  | s+1 | ..      |
//                  ..     |-------| -----> '---------------------------'
//     A  | tile | tile | ..  cp.async --->   ldmatrix: B, LDS: A       8 warps x 4 x 8 mma.sp
//
// In blocks smaller than 256 x 128 the warps form kGroups sets that take turns at the strips.
// With p.split blocks of a cluster do likewise.  The sums of all sets are added in a fixed
// order, by way of shared memory, when the strips are through, so the bits never vary.
//
// Barriers, one pair for each stage:
//   full    32 arrivals: the fetching warp's cp.async have come; 1 and the bytes: B has
//   empty   the warps of the set that takes the stage, of all blocks that share B, are done with it
//
// Roofline.  A mma.sp.m16n8k32 takes 2 cycles of a multiprocessor's tensor cores (948 TFLOP/s
// counted dense on an H200), a pair of mma.m16n8k16 for the same part of a dense tile 3.  Shared
// memory moves 128 bytes a cycle.  For each mma.sp of tiles that stand as they are: 512 / 4 bytes
// of B and 512 / 8 of A are read, 1.5 cycles; and what a stage brings is written, 608 a tile of A
// (with its order) over kTile / 8, 64 kTile of B over kRows / 16 x kTile / 8.  L2 gives 8.5 TB/s,
// 36 bytes a cycle and multiprocessor; with a cluster of c it gives B once for c blocks:
//
//                tensor   shared memory   L2, c = 1, 2    registers  ring       stages x bytes
//     256 x 128     2.0       2.05          1.9   1.5        168      208 KB      8 x 26 K
//     128 x 128     2.0       2.3           2.8   1.9        168      204 KB     12 x 17 K
//     128 x 64      2.0       2.6           3.9   2.9        168      208 KB     16 x 13 K
//     64 x 64       2.0       3.1           5.6   3.8        168      216 KB     24 x 9 K
//
// cycles for one mma.sp; one block (384 threads) on a multiprocessor; no spills.  A tile whose
// columns are in another order reads B alone, 512 bytes: 4.5 cycles and what is written.  So a
// 2:4-pruned matrix of 4096^2 takes at least 37 us for N = 1024, reordered tiles 80 us.
//
// Measured, 4096^2, 2:4-pruned: 52, 52, 68 and 178 us for N = 128, 256, 512 and 2048, an eighth to four
// tenths of that.  A strip takes a block 0.5 to 0.7 us, the smaller blocks as well: the fetching warps, each
// of which walks every strip, wait for the lists' next column in every step (list_cursor).
#pragma once
#include "kernels/ptx/cluster_load.cuh"
#include "kernels/spmm_tile24_blocked_bring.cuh"
#include "kernels/spmm_tile24_blocked_multiply.cuh"

namespace shunt
{
namespace tile24
{

// Where the sums of a cluster's blocks are.
struct image_place {
  const float *images; // of this block
  uint32_t base;       // their shared address, in each block
  int share, cluster, split;
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
  for (int i = 0; i < Count; i++)
    v[i] = 0.0f;
  for (int part = 0; part < at.split; part++)
#pragma unroll
    for (int g = 0; g < Shape::kGroups; g++)
      add_floats(at, from + g * Shape::kGroupWarps * Shape::kImageFloats,
                 at.split == 1 ? -1 : part * at.cluster + at.share, v);
}

// All threads of all blocks that share the part of C.
template <class T, class Out, class Shape>
__device__ __forceinline__ void store_images(const arguments &p, const float *shared, uint32_t base)
{
  constexpr int kWide = 16 / sizeof(Out), kRuns = Shape::kTile / kWide;
  const cluster_place place(p, ptx::cluster_rank());
  const image_place images = {shared, base, place.share, p.cluster, p.split};
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

// Barriers; all threads of the cluster.
template <class Shape>
__device__ __forceinline__ void start_barriers(const arguments &p, uint32_t base)
{
  if (threadIdx.x == 0) {
    for (int i = 0; i < Shape::kStages; i++) {
      ptx::mbarrier_init(base + Shape::kFull + 8 * i, 1 + 32);
      ptx::mbarrier_init(base + Shape::kEmpty + 8 * i, Shape::kGroupWarps * p.cluster);
    }
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
  ptx::cluster_barrier();
}

template <class T, class Out, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_tile24_blocked(const __grid_constant__ arguments p,
                        const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  const uint32_t base = ptx::shared_address(shared);
  float *images = reinterpret_cast<float *>(shared);
  const int warp = threadIdx.x / 32;
  if (warp >= Shape::kWarps) {
    if (threadIdx.x % 32 == 0) ptx::tensor_prefetch(&map);
    bringer<Shape> b(p, map, shared, base); // its first loads while the barriers are made
    start_barriers<Shape>(p, base);
    b.bring_all();
    __syncthreads();
  } else {
    multiplier<T, Shape> m(p, shared, base);
    start_barriers<Shape>(p, base);
    m.follow();
    __syncthreads(); // all that was fetched has come, and all warps are done with it
    m.write_image(images + warp * Shape::kImageFloats);
  }
  __syncthreads();
  if (p.split > 1) ptx::cluster_barrier();
  store_images<T, Out, Shape>(p, images, base);
  // Nobody leaves while others still arrive at its barriers or read its images.
  ptx::cluster_barrier();
#endif
}

} // namespace tile24
} // namespace shunt
