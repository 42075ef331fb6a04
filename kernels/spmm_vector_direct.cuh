// spmm_vector_direct.cuh: one group of A times Tile columns of B by one warp (or one slice of
// the group's steps), rows of B gathered from global memory.
//
// Each warp has a ring of Stages steps in shared memory.  The 16 rows of B of a step come by
// cp.async, a row by Tile / 8 neighbouring lanes, Stages - 1 steps before they are multiplied, and
// ldmatrix.trans makes of them the operand that mma.m16n8k16 wants, 8 rows of A wasting nothing:
//
//     D[16 columns of B x 8 rows of A] += B^T[16 columns x 16 slots] A^T[16 x 8]
//
//     slot   |  Tile columns: pieces of 16 bytes        |
//       0    | 0   1   2   3   4   5   6   7 | 8 ..     |   piece q of slot s stands at
//       1    | 1   0   3   2   5   4   7   6 | 9 ..     |   q ^ (s % 8): the eight that
//       ..   |                                          |   ldmatrix reads at once lie on
//       15   | 7   6   5   4   3   2   1   0 | 15 ..    |   different banks
//
// (Loads to registers in the operand's own order, without shared memory, touch four lines with
// each eight lanes: 1.1 to 1.4 times the time.)
//
// A's values come the same way, its columns as much earlier again: nothing waits for a load.
//
// Roofline: bytes gathered from L2, vectors x Tile x 2, at 8.5 TB/s on an H200 (more is reached
// where neighbours gather the same rows at a time); no sharing of B among groups.  For small
// work: high sparsity, few columns.
#pragma once
#include "kernels/early_launch.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/spmm_vector_common.cuh"

namespace shunt
{
namespace vector
{

constexpr int kDirectWarps = 8;

template <int Tile_, int Stages_> struct direct_shape {
  static constexpr int kTile = Tile_, kStages = Stages_;
  static constexpr int kRowBytes = kTile * 2, kStepBytes = kStep * kRowBytes;
  static constexpr int kLanes = kTile / 8;          // that bring a row together
  static constexpr int kEach = kStep * kLanes / 32; // rows that a lane takes part in
  static constexpr int kAhead = kStages - 1;        // steps that come while one is multiplied
  static constexpr int kValuesBytes = SHUNT_VECTOR_STEP_VALUES * 2, kColumnsBytes = kStep * 4;
  static constexpr int kValues = kStages * kStepBytes; // behind the rows
  static constexpr int kColumns = kValues + kStages * kValuesBytes;
  static constexpr int kWarpBytes = (kColumns + kStages * kColumnsBytes + 255) / 256 * 256;
  static constexpr int kBytes = kDirectWarps * kWarpBytes;
  static_assert(image<kTile>::kFloats * 4 <= kWarpBytes, "the image lies in the ring");
};
using direct_64 = direct_shape<64, 5>;
using direct_128 = direct_shape<128, 3>;

// A lane's part in bringing steps.  Of rows: slots kEach * (lane / kLanes) .., piece
// lane % kLanes of each.  Of A: lanes 0 .. 15 bring the step's values, 16 .. 19 the columns
// of the step kAhead later, which is brought when this one is multiplied.
template <class Shape> struct direct_gather {
  static constexpr int kEach = Shape::kEach, kAhead = Shape::kAhead, kStages = Shape::kStages;
  const unsigned char *memory; // of the warp
  const char *b;               // the lane's piece of row 0
  const uint4 *a;              // the lane's 16 bytes of A for step 0
  uint32_t row_bytes, rows_to, a_to;
  int part;

  __device__ __forceinline__ direct_gather(const arguments &p, const unsigned char *memory_,
                                           int column0)
  {
    const int lane = threadIdx.x % 32, piece = lane % Shape::kLanes, column = column0 + 8 * piece;
    const uint32_t ring = ptx::shared_address(memory_);
    memory = memory_;
    part = lane / Shape::kLanes;
    // Lanes beyond the last column bring the first; what it makes is not stored.
    b = p.b + (column < p.n ? column : 0) * 2;
    asm("" : "+l"(b)); // else its terms are added again for each row
    row_bytes = p.b_row_bytes;
    rows_to = ring + part * kEach * Shape::kRowBytes + ((piece ^ part * kEach % 8) << 4);
    a = lane < 16 ? reinterpret_cast<const uint4 *>(p.values) + lane
                  : reinterpret_cast<const uint4 *>(p.columns) + lane - 16;
    a_to = ring + (lane < 16 ? Shape::kValues + lane * 16 : Shape::kColumns + (lane - 16) * 16);
  }
  // The rows of one step, with the lane's slots in `columns`, and the values, to their stage;
  // columns of step min(step + kAhead, end).
  __device__ __forceinline__ void bring(uint32_t step, uint32_t end, int stage,
                                        const uint4 (&columns)[kEach / 4]) const
  {
    const int lane = threadIdx.x % 32, before = stage == 0 ? kStages - 1 : stage - 1;
    if (lane < 16)
      ptx::cp_async_16(a_to + stage * Shape::kValuesBytes, a + uint64_t(step) * 16);
    else if (lane < 20)
      ptx::cp_async_16(a_to + before * Shape::kColumnsBytes,
                       a + uint64_t(min(step + kAhead, end)) * 4);
    const uint32_t at = rows_to + stage * Shape::kStepBytes;
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      const uint4 four = columns[i / 4];
      const uint32_t row = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
      ptx::cp_async_16((at ^ i << 4) + i * Shape::kRowBytes, b + uint64_t(row) * row_bytes);
    }
  }
  // Step `step`, whose columns have come.
  __device__ __forceinline__ void bring_next(uint32_t step, uint32_t end, int stage) const
  {
    const uint4 *from =
        reinterpret_cast<const uint4 *>(memory + Shape::kColumns) + stage * 4 + part * (kEach / 4);
    uint4 columns[kEach / 4];
#pragma unroll
    for (int i = 0; i < kEach / 4; i++)
      columns[i] = from[i];
    bring(step, end, stage, columns);
  }
  // The first kAhead steps, columns from global memory.
  __device__ __forceinline__ void bring_first(const arguments &p, uint32_t step, uint32_t end) const
  {
    const uint4 *from = reinterpret_cast<const uint4 *>(p.columns) + part * (kEach / 4);
    uint4 columns[kAhead][kEach / 4];
#pragma unroll
    for (int s = 0; s < kAhead; s++)
#pragma unroll
      for (int i = 0; i < kEach / 4; i++) // there is one step more than the matrix has
        columns[s][i] = __ldg(from + uint64_t(min(step + s, end)) * 4 + i);
#pragma unroll
    for (int s = 0; s < kAhead; s++) {
      if (step + s < end) bring(step + s, end, s, columns[s]);
      ptx::cp_async_commit();
    }
  }
};

// The products of steps `step` .. `end` - 1.
template <class T, class Shape>
__device__ __forceinline__ void multiply_direct(const arguments &p, unsigned char *memory,
                                                int column0, uint32_t step, uint32_t end,
                                                float (&d)[Shape::kTile / 16][4])
{
  constexpr int kAhead = Shape::kAhead;
  const int lane = threadIdx.x % 32;
  const direct_gather<Shape> gather(p, memory, column0);
  // Row lane % 8 of matrix lane / 8: slots 0 .. 7 or 8 .. 15, columns 0 .. 7 or 8 .. 15.
  const uint32_t from = ptx::shared_address(memory) +
                        (lane % 8 + lane / 16 * 8) * Shape::kRowBytes +
                        ((lane / 8 % 2 ^ lane % 8) << 4);
  const uint2 *values_from = reinterpret_cast<const uint2 *>(memory + Shape::kValues) + lane;
  int to_stage = kAhead, from_stage = 0;

  gather.bring_first(p, step, end);
#pragma unroll 1
  for (; step < end; step++) {
    // One commit a step, so this waits for the step's rows; and all lanes are done with the
    // step before, whose place is taken.
    ptx::cp_async_wait<kAhead - 1>();
    __syncwarp();
    if (step + kAhead < end) gather.bring_next(step + kAhead, end, to_stage);
    ptx::cp_async_commit();
    const uint2 fragment = values_from[from_stage * 32];
    const uint32_t values[2] = {fragment.x, fragment.y};
    const uint32_t at = from + from_stage * Shape::kStepBytes;
#pragma unroll
    for (int m = 0; m < Shape::kTile / 16; m++) {
      uint32_t a[4];
      ptx::ldmatrix_x4_trans(a, at ^ m << 5);
      mma_of<T>::run(d[m], a, values);
    }
    to_stage = to_stage == kAhead ? 0 : to_stage + 1;
    from_stage = from_stage == kAhead ? 0 : from_stage + 1;
  }
  ptx::cp_async_wait<0>();
  __syncwarp();
}

// The warps of a group wait for each other.  Barrier numbers are constants: with a computed
// one ptxas would reserve all 16 for each block.
__device__ __forceinline__ void slices_barrier(const arguments &p)
{
  if (p.log2_slices == 0) {
    __syncwarp();
    return;
  }
  const int group = threadIdx.x >> (5 + p.log2_slices), threads = 32 << p.log2_slices;
#pragma unroll
  for (int i = 0; i < kDirectWarps / 2; i++)
    if (group == i) __barrier_sync_count(1 + i, threads);
}

template <class T, class Out, class Shape>
__global__ void __launch_bounds__(kDirectWarps * 32, 2)
    spmm_vector_direct(const __grid_constant__ arguments p)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int kTile = Shape::kTile;
  const int warp = threadIdx.x / 32, slices = 1 << p.log2_slices, slice = warp & (slices - 1);
  const int group = blockIdx.x * (kDirectWarps >> p.log2_slices) + (warp >> p.log2_slices);
  let_next_in();
  if (group >= p.groups) return;

  const uint32_t begin = p.begin[group], count = p.count[group];
  const uint32_t from = begin + static_cast<uint32_t>(uint64_t(count) * slice >> p.log2_slices);
  const uint32_t to = begin + static_cast<uint32_t>(uint64_t(count) * (slice + 1) >> p.log2_slices);
  unsigned char *mine = shared + warp * Shape::kWarpBytes;
  float d[kTile / 16][4] = {};
  multiply_direct<T, Shape>(p, mine, blockIdx.y * kTile, from, to, d);

  write_image<kTile>(reinterpret_cast<float *>(mine), d);
  slices_barrier(p);
  const float *images = reinterpret_cast<float *>(mine - slice * Shape::kWarpBytes);
  store_images<T, Out, kTile, Shape::kWarpBytes / 4>(p, images, slices, slice, group,
                                                     blockIdx.y * kTile);
}

} // namespace vector
} // namespace shunt
