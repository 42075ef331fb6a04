// bsr_spmm_mma.cuh: f16 and bf16: one row of square blocks of A times Tile columns of B by one
// warp (or one slice of the row's blocks), both read in place.
//
//              k of the row's list       The blocks of a row stand side by side in a list, and each
//              0       b      2b         16 of its k make a step: half a block of 32, or 2 of 8.
//     b rows | block | block | ...       Slot s of step t: column k % b of block k / b, k = 16t +
//     s.
//
// Each warp has a ring of Stages steps in shared memory.  The 16 rows of B of a step come by
// cp.async and go through ldmatrix.trans as in kernels/vector/vector_packed_spmm_direct.cuh, where
// the ring is drawn; the 8 (or b) rows of A are the narrow side of mma.m16n8k16, so that blocks of
// 8 waste nothing and blocks of 16 and 32 use each gathered row of B for 2 and 4 products:
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 16 slots] A^T[16 x 8]
//
// A comes as each lane will want it, by cp.async of 4 bytes: row g of each group, slots 2t, 2t + 1
// and 2t + 8, 2t + 9 (g = lane / 4, t = lane % 4).  Warps of a block take neighbouring tiles of one
// row, and find A in L1.
//
// Slots without a block, behind the list or padding of Blocked-ELL, are zeros on both sides.
//
// Roofline: bytes gathered from L2, k of all lists x n x 2, at 8.5 TB/s on an H200.
#pragma once
#include "kernels/bsr/bsr_spmm_operands.cuh"
#include "kernels/common/allow_shared.h"
#include "kernels/ptx/ldst.cuh"
#include "kernels/vector/vector_packed_spmm_common.cuh"

namespace shunt
{
namespace bsr
{

constexpr int kStep = 16, kGroup = 8;

template <int Size_, int Tile_> struct shape {
  static constexpr int kSize = Size_, kTile = Tile_;
  static constexpr int kGroups = kSize < kGroup ? 1 : kSize / kGroup;
  static constexpr int kStages = kTile == 128 ? 3 : kGroups == 4 ? 4 : 5;
  static constexpr int kAhead = kStages - 1;
  static constexpr int kRowBytes = kTile * 2, kStepBytes = kStep * kRowBytes;
  static constexpr int kLanes = kTile / 8;          // that bring a row together
  static constexpr int kEach = kStep * kLanes / 32; // rows that a lane takes part in
  static constexpr int kABytes = kGroups * 2 * 32 * 4;
  static constexpr int kA = kStages * kStepBytes; // behind the rows
  static constexpr int kImage = kGroups * vector::image<kTile>::kFloats;
  static constexpr int kRing = kA + kStages * kABytes;
  static constexpr int kWarpBytes = ((kRing > kImage * 4 ? kRing : kImage * 4) + 255) / 256 * 256;
  static constexpr int kBytes = kWarps * kWarpBytes;
};

// The columns of the blocks of a list, 32 at a time, one a lane, the next 32 on their way.
struct list_of_columns {
  int now, next; // -1: no block

  __device__ __forceinline__ list_of_columns(const operands &p, const list &l)
      : now(-1), next(l.column(p, threadIdx.x % 32))
  {
  }
  // For block i on, the first that is not in `now`.
  __device__ __forceinline__ void advance(const operands &p, const list &l, int i)
  {
    now = next;
    next = l.column(p, i + 32 + threadIdx.x % 32);
  }
  __device__ __forceinline__ int of(int i) const { return __shfl_sync(0xffffffffu, now, i % 32); }
};

template <class Shape> struct gather {
  static constexpr int kSize = Shape::kSize;
  const operands &p;
  const list &blocks;
  list_of_columns columns;
  const char *b; // the lane's piece of row 0
  uint32_t ring, rows_to;
  int slot; // the lane's first

  __device__ __forceinline__ gather(const operands &p_, const list &blocks_, uint32_t ring_,
                                    int column0)
      : p(p_), blocks(blocks_), columns(p_, blocks_), ring(ring_)
  {
    const int lane = threadIdx.x % 32, piece = lane % Shape::kLanes, column = column0 + 8 * piece;
    slot = lane / Shape::kLanes * Shape::kEach;
    // Lanes beyond the last column bring the first; what it makes is not stored.
    b = p.b + (column < p.n ? column : 0) * 2;
    rows_to = ring + slot * Shape::kRowBytes + ((piece ^ slot % 8) << 4);
  }

  // Elements (i, j), (i, j + 1) of block `block` of the list.
  __device__ __forceinline__ const char *element(int block, int i, int j) const
  {
    return p.values + (blocks.origin + block * p.block_pitch + i * p.row_pitch + j) * 2;
  }
  __device__ __forceinline__ void fetch_a(int step, int stage) const
  {
    const int lane = threadIdx.x % 32, g = lane / 4, two = lane % 4 * 2;
    const uint32_t to = ring + Shape::kA + stage * Shape::kABytes + lane * 4;
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const int k = step * kStep + 8 * h + two;
      const bool there = columns.of(k / kSize) >= 0;
#pragma unroll
      for (int y = 0; y < Shape::kGroups; y++) {
        const int i = kGroup * y + g;
        const bool wanted = there && i < kSize;
        ptx::cp_async_4(to + (2 * y + h) * 128,
                        wanted ? element(k / kSize, i, k % kSize) : p.values, wanted ? 4 : 0);
      }
    }
  }
  // Step `step` to its stage; called for all steps in order.
  __device__ __forceinline__ void fetch(int step, int stage)
  {
    constexpr int kRun = kSize < Shape::kEach ? kSize : Shape::kEach; // slots of one block
    const int k0 = step * kStep;
    if (k0 % (32 * kSize) == 0) columns.advance(p, blocks, k0 / kSize);
    fetch_a(step, stage);
    const uint32_t at = rows_to + stage * Shape::kStepBytes;
    int column = -1;
#pragma unroll
    for (int i = 0; i < Shape::kEach; i++) {
      const int k = k0 + slot + i;
      if (i % kRun == 0) column = columns.of(k / kSize);
      const int64_t row = column < 0 ? 0 : int64_t(column) * kSize + k % kSize;
      ptx::cp_async_16((at ^ i << 4) + i * Shape::kRowBytes, b + row * p.b_row_bytes,
                       column < 0 ? 0 : 16);
    }
  }
};

// The products of a list's blocks, to d[group of 8 rows][16 columns].
template <class T, class Shape>
__device__ __forceinline__ void multiply(const operands &p, const list &blocks,
                                         unsigned char *memory, int column0,
                                         float (&d)[Shape::kGroups][Shape::kTile / 16][4])
{
  constexpr int kAhead = Shape::kAhead, kGroups = Shape::kGroups;
  const int lane = threadIdx.x % 32;
  const int steps = (blocks.count * Shape::kSize + kStep - 1) / kStep;
  const uint32_t ring = ptx::shared_address(memory);
  gather<Shape> coming(p, blocks, ring, column0);
  // Row lane % 8 of matrix lane / 8: slots 0 .. 7 or 8 .. 15, columns 0 .. 7 or 8 .. 15.
  const uint32_t from =
      ring + (lane % 8 + lane / 16 * 8) * Shape::kRowBytes + ((lane / 8 % 2 ^ lane % 8) << 4);
  const uint32_t *a_from = reinterpret_cast<const uint32_t *>(memory + Shape::kA) + lane;
  int to_stage = kAhead, from_stage = 0;

#pragma unroll
  for (int s = 0; s < kAhead; s++) {
    if (s < steps) coming.fetch(s, s);
    ptx::cp_async_commit();
  }
#pragma unroll 1
  for (int step = 0; step < steps; step++) {
    // One commit a step, so this waits for the step's rows; and all lanes are done with the
    // step before, whose place is taken.
    ptx::cp_async_wait<kAhead - 1>();
    __syncwarp();
    if (step + kAhead < steps) coming.fetch(step + kAhead, to_stage);
    ptx::cp_async_commit();
    uint32_t a[kGroups][2];
#pragma unroll
    for (int y = 0; y < kGroups; y++)
#pragma unroll
      for (int h = 0; h < 2; h++)
        a[y][h] = a_from[from_stage * (Shape::kABytes / 4) + (2 * y + h) * 32];
    const uint32_t at = from + from_stage * Shape::kStepBytes;
#pragma unroll
    for (int m = 0; m < Shape::kTile / 16; m++) {
      uint32_t bt[4];
      ptx::ldmatrix_x4_trans(bt, at ^ m << 5);
#pragma unroll
      for (int y = 0; y < kGroups; y++) mma_of<T>::run(d[y][m], bt, a[y]);
    }
    to_stage = to_stage == kAhead ? 0 : to_stage + 1;
    from_stage = from_stage == kAhead ? 0 : from_stage + 1;
  }
  ptx::cp_async_wait<0>();
  __syncwarp();
}

template <class T, class Shape>
__global__ void __launch_bounds__(kWarps * 32, 2)
    bsr_spmm_mma(const __grid_constant__ arguments<float> p)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int kSize = Shape::kSize, kTile = Shape::kTile, kApart = Shape::kWarpBytes / 4;
  constexpr int kPitch = vector::image<kTile>::kPitch;
  const place at(p, kTile, 1);
  unsigned char *memory = shared + threadIdx.x / 32 * Shape::kWarpBytes;
  float *image = reinterpret_cast<float *>(memory);

  if (at.inside) {
    const list blocks(p, at.row, at.slice, kSize);
    float d[Shape::kGroups][kTile / 16][4] = {};
    multiply<T, Shape>(p, blocks, memory, at.column0, d);
#pragma unroll
    for (int y = 0; y < Shape::kGroups; y++)
      vector::write_image<kTile>(image + y * vector::image<kTile>::kFloats, d[y]);
  }
  images_written(p);
  if (!at.inside) return;
  const float *images = image - at.slice * kApart;
  const int64_t row0 = int64_t(at.row) * kSize;
  if (p.c_f32)
    store<kSize, kTile, kPitch, kApart, float>(p, images, at.slice, row0, at.column0);
  else
    store<kSize, kTile, kPitch, kApart, T>(p, images, at.slice, row0, at.column0);
}

template <class T, class Shape>
inline cudaError_t launch_shape(const arguments<float> &p, cudaStream_t stream)
{
  constexpr auto kernel = &bsr_spmm_mma<T, Shape>;
  const cudaError_t e = allow_shared<kernel>(Shape::kBytes);
  if (e != cudaSuccess) return e;
  void *parameters[] = {const_cast<arguments<float> *>(&p)};
  return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid_of(p, Shape::kTile, 1),
                          dim3(kWarps * 32), parameters, Shape::kBytes, stream);
}

template <class T>
inline cudaError_t launch(const arguments<float> &p, int size, int tile, cudaStream_t s)
{
  const bool wide = tile == 128;
  switch (size) {
  case 2: return wide ? launch_shape<T, shape<2, 128>>(p, s) : launch_shape<T, shape<2, 64>>(p, s);
  case 4: return wide ? launch_shape<T, shape<4, 128>>(p, s) : launch_shape<T, shape<4, 64>>(p, s);
  case 8: return wide ? launch_shape<T, shape<8, 128>>(p, s) : launch_shape<T, shape<8, 64>>(p, s);
  case 16:
    return wide ? launch_shape<T, shape<16, 128>>(p, s) : launch_shape<T, shape<16, 64>>(p, s);
  default: return launch_shape<T, shape<32, 64>>(p, s);
  }
}

} // namespace bsr
} // namespace shunt
