// vector_packed_spmm_strips.cuh: C by tiles, B through shared memory, A packed in WINDOWED order.
//
// A block owns kRows rows x Tile columns of C.  The copy engine brings B strip by strip,
// 128 rows x Tile columns, into a ring; 16 warps, each with Groups groups of A, follow at their own
// pace and keep their sums in registers:
//
//             B  | Tile |             shared memory: ring of kRing strips
//     strip 0    |------|              .-------------------------------.
//           1    |------|   bulk copy  | p+1 | p+2 | p-3 | .. | p | .. |
//           ..   |------|  ----------> '-------------------------------'
//           p    |------|              coming     held (window)
//           ..                                  \       |      /
//                                             ldmatrix.trans by slot: 16 rows of the
//     16 warps x Groups groups                window are the A operand of
//     8 rows each  (values: registers)  ----> mma.m16n8k16, values the B operand
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 16 slots] A^T[16 x 8]
//
// Barriers, one pair for each strip of the ring:
//   full    the copy engine has brought the strip
//   empty   all warps are done with it
// A warp is done with strip p - 3 when it has made its steps of strip p.  So warps may drift
// apart by as many strips as the ring has beyond the window.  They take turns at telling the
// copy engine.  (A warp of its own for that is a 17th, with which a thread has 96 registers instead
// of 128: the eight ldmatrix of a step then go one after another through the same four.)
//
// The ring stands in planes of 64 columns (of f32: 32), rows of 128 bytes, swizzled by the copy
// engine: piece q (16 bytes) of row k at q ^ (k % 8).  Slots s and s + 8 of a step hold rows that
// are s modulo 8, so the eight rows that make one 8 x 8 matrix lie on eight different bank groups,
// and a lane's part of the address is a constant.
//
// Roofline, per block: shared memory moves 128 bytes a clock: strips x 128 x Tile x 2 bytes
// in, and slots x Tile x 2 out.  L2 moves rows / kRows x K x N x 2 bytes for B, and 336 bytes a
// step and column tile for A.
#pragma once
#include <cuda.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/common/ring_strip.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/stream_load.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/vector/vector_format.h"
#include "kernels/vector/vector_packed_spmm_common.cuh"

namespace shunt
{
namespace vector
{

// Size: bytes of an element of B.
template <int Tile_, int Groups_, int Ring_, int Size = 2> struct strips_shape {
  static constexpr int kTile = Tile_, kGroups = Groups_, kRing = Ring_;
  static constexpr int kWarps = 16, kThreads = kWarps * 32;
  static constexpr int kRows = kWarps * kGroups * kGroup;
  // Strips to come.  The warp that brings the next waits for those that are kLag strips behind.
  static constexpr int kLag = 2, kAhead = kRing - SHUNT_VECTOR_STRIPS + 1 - kLag;
  static constexpr int kPlaneColumns = 128 / Size, kPlanes = kTile / kPlaneColumns;
  static constexpr int kStripBytes = SHUNT_VECTOR_STRIP * 128; // in one plane
  static constexpr int kPlaneBytes = kRing * kStripBytes;
  static constexpr int kFull = kPlanes * kPlaneBytes, kEmpty = kFull + 8 * kRing;
  static constexpr int kBytes = kEmpty + 8 * kRing;
  static_assert(kAhead > 0, "room for strips to come");
  static_assert(kWarps * image<kTile>::kFloats * 4 <= kFull, "images lie in the ring");
};
using strips_256x128 = strips_shape<128, 2, 7>;
using strips_256x64 = strips_shape<64, 2, 14>;

// One thread: starts the copy of the strip at `at`, if there is one, when its place is empty.
template <class Shape>
__device__ __forceinline__ void fetch_strip(const arguments &p, const CUtensorMap &map,
                                            uint32_t base, const ring_strip<Shape> &at)
{
  if (at.strip >= p.strips) return;
  ptx::mbarrier_wait(base + Shape::kEmpty + 8 * at.slot, at.parity ^ 1);
  const uint32_t full = base + Shape::kFull + 8 * at.slot;
  ptx::mbarrier_arrive_expect(full, Shape::kPlanes * Shape::kStripBytes);
#pragma unroll
  for (int h = 0; h < Shape::kPlanes; h++)
    ptx::tensor_load_2d(base + h * Shape::kPlaneBytes + at.slot * Shape::kStripBytes, &map,
                        blockIdx.y * Shape::kTile + Shape::kPlaneColumns * h,
                        at.strip * SHUNT_VECTOR_STRIP, full);
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

// Where the steps of a group, which begin at `begin`, end of strip `strip` + lane.
__device__ __forceinline__ uint32_t strip_end_of_lane(const arguments &p, int group, int strip,
                                                      uint32_t begin)
{
  const int mine = strip + threadIdx.x % 32;
  if (group >= p.groups || mine >= p.strips) return begin;
  return begin + __ldg(p.strip_end + static_cast<int64_t>(group) * p.strips + mine);
}

// A group of A on its way through the strips.
template <class T, class Shape> struct strip_group {
  using lane = strip_lane;
  float d[Shape::kTile / 16][4];
  uint32_t step, begin; // the next step; the first
  uint32_t ends;        // lane i: where the steps of strip i of the 32 at hand end
  uint32_t next_column; // of A for the next step: the column of the lane's slot,
  uint2 next_values;    // and its fragment of values

  __device__ __forceinline__ void load_next(const strip_lane &l, bool wanted)
  {
    ptx::load_once_if(wanted, next_column, l.columns + uint64_t(step) * kStep);
    ptx::load_once_if(wanted, next_values, l.values + uint64_t(step) * 32);
  }
  __device__ __forceinline__ void start(const arguments &p, const strip_lane &l, int group)
  {
#pragma unroll
    for (int m = 0; m < Shape::kTile / 16; m++)
#pragma unroll
      for (int i = 0; i < 4; i++) d[m][i] = 0.0f;
    begin = step = group < p.groups ? p.begin[group] : 0;
    next_column = 0, next_values = make_uint2(0, 0);
    load_next(l, true); // there is one step more than the matrix has
  }
  __device__ __forceinline__ void load_ends(const arguments &p, int group, int strip)
  {
    ends = strip_end_of_lane(p, group, strip, begin);
  }

  __device__ __forceinline__ void write(float *image_at) const
  {
    write_image<Shape::kTile>(image_at, d);
  }

  // What a lane multiplies in a step: rows of the ring from `at`, and its values.
  struct operands {
    uint32_t at, values[2];
  };
  // Of the step whose part of A has come.
  __device__ __forceinline__ operands take(const strip_lane &l, uint32_t wrapped) const
  {
    // The row's place; rows of the round before stand a plane's bytes further.
    const uint32_t row = next_column * 128 - wrapped;
    // An operation, not a copy: the compiler would put a copy behind the products, where it
    // waits for the next values.
    return {ptx::exclusive_or(l.ring + min(row, row + Shape::kPlaneBytes), l.zero),
            {ptx::exclusive_or(next_values.x, l.zero), ptx::exclusive_or(next_values.y, l.zero)}};
  }
  __device__ __forceinline__ void multiply(const operands &o)
  {
#pragma unroll
    for (int h = 0; h < Shape::kPlanes; h++) {
      uint32_t a[4][4];
#pragma unroll
      for (int m = 0; m < 4; m++)
        ptx::ldmatrix_x4_trans(a[m], (o.at ^ m << 5) + h * Shape::kPlaneBytes);
#pragma unroll
      for (int m = 0; m < 4; m++) mma_of<T>::run(d[4 * h + m], a[m], o.values);
      __syncwarp(); // else ptxas lets the last ldmatrix share a scoreboard with the loads of A
    }
  }
};

// All steps of all groups up to `end`; wrapped: bytes of a plane times how often the strip's
// place has come round.  The groups take turns, and what is next of A is loaded for all of them
// before any multiplies: they wait for loads together, one step of each later.
template <class Group, int kGroups>
__device__ __forceinline__ void multiply_groups(Group (&k)[kGroups], const typename Group::lane &l,
                                                uint32_t wrapped, const uint32_t (&end)[kGroups])
{
#pragma unroll 1
  for (;;) {
    bool due[kGroups], any = false;
#pragma unroll
    for (int i = 0; i < kGroups; i++) due[i] = k[i].step < end[i], any |= due[i];
    if (!any) return;
    typename Group::operands taken[kGroups];
#pragma unroll
    for (int i = 0; i < kGroups; i++) taken[i] = k[i].take(l, wrapped);
#pragma unroll
    for (int i = 0; i < kGroups; i++) {
      k[i].step += due[i];
      k[i].load_next(l, due[i]);
    }
#pragma unroll
    for (int i = 0; i < kGroups; i++)
      if (due[i]) k[i].multiply(taken[i]);
  }
}

// The way of a warp that multiplies: strip by strip.
template <class Group, class Shape>
__device__ __forceinline__ void follow_strips(const arguments &p, const CUtensorMap &map,
                                              uint32_t base, Group (&k)[Shape::kGroups])
{
  constexpr int kGroups = Shape::kGroups;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int group0 = (blockIdx.x * Shape::kWarps + warp) * kGroups;
  const typename Group::lane l(p, base);
#pragma unroll
  for (int i = 0; i < kGroups; i++) k[i].start(p, l, group0 + i);

  ring_strip<Shape> at;
  int release = Shape::kRing - (SHUNT_VECTOR_STRIPS - 1); // the place of strip at.strip - 3
  uint32_t wrapped = 0;
#pragma unroll 1
  while (at.strip < p.strips) {
    if (at.strip % 32 == 0) {
#pragma unroll
      for (int i = 0; i < kGroups; i++) k[i].load_ends(p, group0 + i, at.strip);
    }
    uint32_t end[kGroups];
#pragma unroll
    for (int i = 0; i < kGroups; i++) end[i] = __shfl_sync(0xffffffffu, k[i].ends, at.strip % 32);
    ptx::mbarrier_wait(base + Shape::kFull + 8 * at.slot, at.parity);
    multiply_groups(k, l, wrapped, end);
    __syncwarp();
    // The oldest strip of the window is not needed any more.
    if (at.strip >= SHUNT_VECTOR_STRIPS - 1 && lane == 0)
      ptx::mbarrier_arrive(base + Shape::kEmpty + 8 * release);
    if (warp == at.strip % Shape::kWarps && lane == 0) fetch_strip<Shape>(p, map, base, at.ahead());
    if (++release == Shape::kRing) release = 0;
    at.advance();
    if (at.slot == 0) wrapped += Shape::kPlaneBytes;
  }
}

// The sums to C, by way of images in the ring: all strips have come, all warps are done with them.
template <class T, class Out, class Group, class Shape>
__device__ __forceinline__ void store_groups(const arguments &p, unsigned char *shared,
                                             const Group (&k)[Shape::kGroups])
{
  const int warp = threadIdx.x / 32;
  const int group0 = (blockIdx.x * Shape::kWarps + warp) * Shape::kGroups;
  float *mine = reinterpret_cast<float *>(shared) + warp * image<Shape::kTile>::kFloats;
#pragma unroll
  for (int i = 0; i < Shape::kGroups; i++) {
    if (group0 + i >= p.groups) break;
    k[i].write(mine);
    __syncwarp();
    store_images<T, Out, Shape::kTile, 0>(p, mine, 1, 0, group0 + i, blockIdx.y * Shape::kTile);
    __syncwarp();
  }
}

template <class T, class Out, class Group, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_strips(const __grid_constant__ arguments p, const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  if (p.next_waits) let_next_in();
  uint32_t base = ptx::shared_address(shared);
  asm("" : "+r"(base)); // else it is computed at each use
  if (threadIdx.x == 0)
    open_ring<Shape>(&map, base,
                     [&](const ring_strip<Shape> &at) { fetch_strip<Shape>(p, map, base, at); });
  __syncthreads();
  Group k[Shape::kGroups];
  follow_strips<Group, Shape>(p, map, base, k);
  __syncthreads();
  store_groups<T, Out, Group, Shape>(p, shared, k);
#endif
}

} // namespace vector
} // namespace shunt
