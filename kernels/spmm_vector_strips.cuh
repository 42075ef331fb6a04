// spmm_vector_strips.cuh: C by tiles, B through shared memory, A packed in WINDOWED order.
//
// A block owns kRows rows x Tile columns of C.  The copy engine brings B strip by strip,
// 64 rows x Tile columns, into a ring, as one warp tells it to; the other 16, each with Groups
// groups of A, follow at their own pace and keep their sums in registers:
//
//             B  | Tile |             shared memory: ring of kRing strips
//     strip 0    |------|              .-------------------------------.
//           1    |------|   bulk copy  | p+2 | .. | p-7 | .. | p | p+1 |
//           ..   |------|  ----------> '-------------------------------'
//           p    |------|               coming     held (window)   coming
//           ..                                  \       |      /
//                                             ldmatrix.trans by slot: 16 rows of the
//     16 warps x Groups groups                window are the A operand of
//     8 rows each  (values: registers)  ----> mma.m16n8k16, values the B operand
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 16 slots] A^T[16 x 8]
//
// Barriers, one pair for each strip of the ring:
//   full    the copy engine has brought the strip
//   empty   all warps, of all blocks of the cluster, are done with it
// A warp is done with strip p - 7 when it has made its steps of strip p.  So warps may drift
// apart by as many strips as the ring has beyond the window.
//
// With a cluster of c blocks (neighbouring rows, same columns) each brings 64 / c rows of a
// strip for all.
//
// The ring stands in planes of 64 columns, rows of 128 bytes, swizzled by the copy engine:
// piece q (16 bytes) of row k at q ^ (k % 8).  Slots s and s + 8 of a step hold rows that are s
// modulo 8, so the eight rows that make one 8 x 8 matrix lie on eight different bank groups,
// and a lane's part of the address is a constant.
//
// Roofline, per block: shared memory moves 128 bytes a clock: strips x 64 x Tile x 2 bytes
// in, and slots x Tile x 2 out.  L2 moves rows / (kRows x cluster) x K x N x 2 bytes for B,
// and 336 bytes a step and column tile for A.
#pragma once
#include <cuda.h>

#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/stream_load.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/spmm_vector_common.cuh"
#include "kernels/vector_format.h"

namespace shunt
{
namespace vector
{

template <int Tile_, int Groups_, int Ring_> struct strips_shape {
  static constexpr int kTile = Tile_, kGroups = Groups_, kRing = Ring_;
  static constexpr int kWarps = 16, kThreads = (kWarps + 1) * 32; // that multiply; and one
  static constexpr int kRows = kWarps * kGroups * kGroup;
  static constexpr int kPlanes = kTile / 64;
  static constexpr int kStripBytes = SHUNT_VECTOR_STRIP * 128; // in one plane
  static constexpr int kPlaneBytes = kRing * kStripBytes;
  static constexpr int kFull = kPlanes * kPlaneBytes, kEmpty = kFull + 8 * kRing;
  static constexpr int kBytes = kEmpty + 8 * kRing;
  static_assert(kRing > SHUNT_VECTOR_STRIPS, "room for strips to come");
  static_assert(kWarps * image<kTile>::kFloats * 4 <= kFull, "images lie in the ring");
};
using strips_256x128 = strips_shape<128, 2, 14>;
using strips_256x64 = strips_shape<64, 2, 24>;
using strips_128x64 = strips_shape<64, 1, 24>;

// A strip's number, its place in the ring, and the parity of the ring's round.
template <class Shape> struct ring_place {
  int strip = 0, slot = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void advance()
  {
    strip++;
    if (++slot == Shape::kRing) slot = 0, parity ^= 1;
  }
};

// One thread of its own warp: starts the copies of all strips, each as soon as its place is
// empty.  (Beside multiplying, a warp would hold up all others by a microsecond a strip.)
template <class Shape>
__device__ __forceinline__ void bring_strips(const arguments &p, const CUtensorMap &map,
                                             uint32_t base)
{
  const int rows = SHUNT_VECTOR_STRIP / p.cluster, rank = ptx::cluster_rank();
  const int column = blockIdx.y * Shape::kTile;
  for (ring_place<Shape> at; at.strip < p.strips; at.advance()) {
    while (!ptx::mbarrier_try_wait(base + Shape::kEmpty + 8 * at.slot, at.parity ^ 1)) {
    }
    const uint32_t full = base + Shape::kFull + 8 * at.slot;
    const uint32_t to = base + at.slot * Shape::kStripBytes + rank * rows * 128;
    const int y = at.strip * SHUNT_VECTOR_STRIP + rank * rows;
    ptx::mbarrier_arrive_expect(full, Shape::kPlanes * Shape::kStripBytes);
    for (int h = 0; h < Shape::kPlanes; h++) {
      if (p.cluster == 1)
        ptx::tensor_load_2d(to + h * Shape::kPlaneBytes, &map, column + 64 * h, y, full);
      else
        ptx::tensor_load_2d_multicast(to + h * Shape::kPlaneBytes, &map, column + 64 * h, y, full,
                                      (1 << p.cluster) - 1);
    }
  }
}

// What is the same for all groups of a warp.
struct strip_lane {
  const uint32_t *columns; // of the lane's slot, in step 0
  const uint2 *values;     // the lane's, in step 0
  uint32_t ring;           // the ring, and the lane's piece of a row
  uint32_t zero;           // 0, but the compiler cannot know

  __device__ __forceinline__ strip_lane(const arguments &p, uint32_t base)
  {
    // Row lane % 8 of matrix lane / 8: slots 0 .. 7 or 8 .. 15, columns 0 .. 7 or 8 .. 15.
    const int lane = threadIdx.x % 32;
    columns = p.columns + lane % 8 + lane / 16 * 8;
    values = p.values + lane;
    ring = base + ((lane / 8 % 2 ^ lane % 8) << 4);
    zero = p.strips < 0;
    asm("" : "+l"(columns), "+l"(values), "+r"(ring), "+r"(zero)); // else computed in each step
  }
};

// A group of A on its way through the strips.
template <class Shape> struct strip_group {
  float d[Shape::kTile / 16][4];
  uint32_t step, begin; // the next step; the first
  uint32_t ends;        // lane i: where the steps of strip i of the 32 at hand end
  uint32_t next_column; // of A for the next step: the column of the lane's slot,
  uint2 next_values;    // and its fragment of values

  __device__ __forceinline__ void load_next(const strip_lane &l)
  {
    next_column = ptx::load_once(l.columns + uint64_t(step) * kStep);
    next_values = ptx::load_once(l.values + uint64_t(step) * 32);
  }
  __device__ __forceinline__ void start(const arguments &p, const strip_lane &l, int group)
  {
#pragma unroll
    for (int m = 0; m < Shape::kTile / 16; m++)
#pragma unroll
      for (int i = 0; i < 4; i++)
        d[m][i] = 0.0f;
    begin = step = group < p.groups ? p.begin[group] : 0;
    load_next(l); // there is one step more than the matrix has
  }
  __device__ __forceinline__ void load_ends(const arguments &p, int group, int strip)
  {
    const int mine = strip + threadIdx.x % 32;
    ends = begin;
    if (group < p.groups && mine < p.strips)
      ends += __ldg(p.strip_end + static_cast<int64_t>(group) * p.strips + mine);
  }

  // All steps that belong to a strip.  wrapped: bytes of a plane times how often the strip's
  // place has come round.
  template <class T>
  __device__ __forceinline__ void multiply(const strip_lane &l, int strip, uint32_t wrapped)
  {
    const uint32_t end = __shfl_sync(0xffffffffu, ends, strip & 31);
#pragma unroll 1
    while (step < end) {
      // The row's place; rows of the round before stand a plane's bytes further.
      uint32_t at = next_column * 128 - wrapped;
      at = l.ring + min(at, at + Shape::kPlaneBytes);
      // An operation, not a copy: the compiler would put a copy behind the products, where it
      // waits for the next values.
      const uint32_t values[2] = {ptx::exclusive_or(next_values.x, l.zero),
                                  ptx::exclusive_or(next_values.y, l.zero)};
      step++;
      load_next(l);
#pragma unroll
      for (int h = 0; h < Shape::kPlanes; h++) {
        uint32_t a[4][4];
#pragma unroll
        for (int m = 0; m < 4; m++)
          ptx::ldmatrix_x4_trans(a[m], (at ^ m << 5) + h * Shape::kPlaneBytes);
#pragma unroll
        for (int m = 0; m < 4; m++)
          mma_of<T>::run(d[4 * h + m], a[m], values);
      }
    }
  }
};

// The way of a warp that multiplies: strip by strip.
template <class T, class Shape>
__device__ __forceinline__ void follow_strips(const arguments &p, uint32_t base,
                                              strip_group<Shape> (&k)[Shape::kGroups])
{
  constexpr int kGroups = Shape::kGroups;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int group0 = (blockIdx.x * Shape::kWarps + warp) * kGroups;
  const strip_lane l(p, base);
#pragma unroll
  for (int i = 0; i < kGroups; i++)
    k[i].start(p, l, group0 + i);

  ring_place<Shape> at;
  int release = Shape::kRing - (SHUNT_VECTOR_STRIPS - 1); // the place of strip at.strip - 7
  uint32_t wrapped = 0;
#pragma unroll 1
  while (at.strip < p.strips) {
    if (at.strip % 32 == 0) {
#pragma unroll
      for (int i = 0; i < kGroups; i++)
        k[i].load_ends(p, group0 + i, at.strip);
    }
    while (!ptx::mbarrier_try_wait(base + Shape::kFull + 8 * at.slot, at.parity)) {
    }
#pragma unroll
    for (int i = 0; i < kGroups; i++)
      k[i].template multiply<T>(l, at.strip, wrapped);
    __syncwarp();
    // Tell that strip - 7 is not needed any more, if another will come to its place.
    const int released = at.strip - (SHUNT_VECTOR_STRIPS - 1);
    if (released >= 0 && released + Shape::kRing < p.strips && lane < p.cluster)
      ptx::mbarrier_arrive_at(base + Shape::kEmpty + 8 * release, lane);
    if (++release == Shape::kRing) release = 0;
    at.advance();
    if (at.slot == 0) wrapped += Shape::kPlaneBytes;
  }
}

// The sums to C, by way of images in the ring: all strips have come, all warps are done with them.
template <class T, class Out, class Shape>
__device__ __forceinline__ void store_groups(const arguments &p, unsigned char *shared,
                                             const strip_group<Shape> (&k)[Shape::kGroups])
{
  const int warp = threadIdx.x / 32;
  const int group0 = (blockIdx.x * Shape::kWarps + warp) * Shape::kGroups;
  float *mine = reinterpret_cast<float *>(shared) + warp * image<Shape::kTile>::kFloats;
#pragma unroll
  for (int i = 0; i < Shape::kGroups; i++) {
    if (group0 + i >= p.groups) break;
    write_image<Shape::kTile>(mine, k[i].d);
    __syncwarp();
    store_images<T, Out, Shape::kTile, 0>(p, mine, 1, 0, group0 + i, blockIdx.y * Shape::kTile);
    __syncwarp();
  }
}

template <class T, class Out, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_vector_strips(const __grid_constant__ arguments p, const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  uint32_t base = ptx::shared_address(shared);
  asm("" : "+r"(base)); // else it is computed at each use
  if (threadIdx.x == 0) {
    ptx::tensor_prefetch(&map);
    for (int i = 0; i < Shape::kRing; i++) {
      ptx::mbarrier_init(base + Shape::kFull + 8 * i, 1);
      ptx::mbarrier_init(base + Shape::kEmpty + 8 * i, Shape::kWarps * p.cluster);
    }
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
  ptx::cluster_barrier();
  strip_group<Shape> k[Shape::kGroups];
  const bool multiplies = threadIdx.x / 32 < Shape::kWarps;
  if (multiplies)
    follow_strips<T, Shape>(p, base, k);
  else if (threadIdx.x % 32 == 0)
    bring_strips<Shape>(p, map, base);
  __syncthreads();
  if (multiplies) store_groups<T, Out, Shape>(p, shared, k);
  // Nobody leaves while others still arrive at its barriers.
  ptx::cluster_barrier();
#endif
}

} // namespace vector
} // namespace shunt
