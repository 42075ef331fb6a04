// vector_packed_spmm_direct.cuh: one group of A times Tile columns of B by one warp (or one slice
// of the group's steps), rows of B gathered from global memory.
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
// Pairs: a warp takes two neighbouring groups, and as long as their columns are the same, step by
// step, what it gathers is multiplied with both:
//
//     group 2q      c0 c1 c2 c3 | c4 c5 ..        steps 0 .. of both from the same rows of B;
//     group 2q + 1  c0 c1 c2 c3 | e4 e5 ..        from the first that differs on one by one
//
// What is alike is found as columns come: any matrix is right, 16 x 1 vectors are fast.
//
// Roofline: bytes gathered from L2, vectors x Tile x 2, at 8.5 TB/s on an H200 (more is reached
// where neighbours gather the same rows at a time); no sharing of B among groups.  For small
// work: high sparsity, few columns.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/vector/vector_format.h"
#include "kernels/vector/vector_packed_spmm_common.cuh"

namespace shunt
{
namespace vector
{

constexpr int kDirectWarps = 8;

template <int Tile_, int Stages_, int Groups_ = 1> struct direct_shape {
  static constexpr int kTile = Tile_, kStages = Stages_, kGroups = Groups_;
  static constexpr int kRowBytes = kTile * 2, kStepBytes = kStep * kRowBytes;
  static constexpr int kLanes = kTile / 8;          // that bring a row together
  static constexpr int kEach = kStep * kLanes / 32; // rows that a lane takes part in
  static constexpr int kAhead = kStages - 1;        // steps that come while one is multiplied
  static constexpr int kValuesBytes = kGroups * SHUNT_VECTOR_STEP_VALUES * 2;
  static constexpr int kColumnsBytes = kGroups * kStep * 4;
  static constexpr int kValues = kStages * kStepBytes; // behind the rows
  static constexpr int kColumns = kValues + kStages * kValuesBytes;
  static constexpr int kWarpBytes = (kColumns + kStages * kColumnsBytes + 255) / 256 * 256;
  static constexpr int kBytes = kDirectWarps * kWarpBytes;
  static_assert(image<kTile>::kFloats * 4 <= kWarpBytes, "the image lies in the ring");
};
using direct_64 = direct_shape<64, 5>;
using direct_128 = direct_shape<128, 3>;
using pairs_128 = direct_shape<128, 3, 2>;

// A lane's part in bringing steps.  Of rows: slots kEach * (lane / kLanes) .., piece
// lane % kLanes of each.  Of A: lanes 0 .. 15 bring the step's values, 16 .. 19 the columns
// of the step kAhead later, which is brought when this one is multiplied.  Groups == 2: lanes
// 16 .. 31 bring the second group's values, lanes 0 .. 7 both's columns; its steps are `other` from
// the first's.
template <class Shape, int Groups> struct direct_gather {
  static constexpr int kEach = Shape::kEach, kAhead = Shape::kAhead, kStages = Shape::kStages;
  using columns_of_lane = uint4[kEach / 4];
  const unsigned char *memory; // of the warp
  const char *b;               // the lane's piece of row 0
  const uint4 *a;              // the lane's 16 bytes of A for step 0
  const uint4 *second;         // Groups == 2: the same of columns
  uint32_t row_bytes, rows_to, a_to, other;
  int part, bytes; // bytes: of a row's piece that B has

  __device__ __forceinline__ direct_gather(const arguments &p, const unsigned char *memory_,
                                           int column0, uint32_t other_ = 0)
  {
    const int lane = threadIdx.x % 32, piece = lane % Shape::kLanes, column = column0 + 8 * piece;
    const uint32_t ring = ptx::shared_address(memory_);
    memory = memory_;
    part = lane / Shape::kLanes;
    // Lanes beyond the last column bring zeros.  If they brought the first piece once more, products
    // of half a tile took three times as long as whole ones.
    bytes = column < p.n ? 16 : 0;
    b = p.b + (column < p.n ? column : 0) * 2;
    asm("" : "+l"(b)); // else its terms are added again for each row
    row_bytes = p.b_row_bytes;
    rows_to = ring + part * kEach * Shape::kRowBytes + ((piece ^ part * kEach % 8) << 4);
    a = lane < 16 ? reinterpret_cast<const uint4 *>(p.values) + lane
                  : reinterpret_cast<const uint4 *>(p.columns) + lane - 16;
    a_to = ring + (lane < 16 ? Shape::kValues + lane * 16 : Shape::kColumns + (lane - 16) * 16);
    other = other_;
    if (Groups == 1) return;
    a = reinterpret_cast<const uint4 *>(p.values) + lane % 16 +
        (lane < 16 ? 0 : uint64_t(other) * 16);
    a_to = ring + Shape::kValues + lane * 16;
    second = reinterpret_cast<const uint4 *>(p.columns) + lane % 4 +
             (lane < 4 ? 0 : uint64_t(other) * 4);
  }
  // A's part of a step, and the columns of min(step + kAhead, end).
  __device__ __forceinline__ void fetch_a(uint32_t step, uint32_t end, int stage) const
  {
    const int lane = threadIdx.x % 32, before = stage == 0 ? kStages - 1 : stage - 1;
    const uint64_t later = min(step + kAhead, end);
    if (Groups == 2 || lane < 16)
      ptx::cp_async_16(a_to + stage * Shape::kValuesBytes, a + uint64_t(step) * 16);
    if (Groups == 2 && lane < 8)
      ptx::cp_async_16(ptx::shared_address(memory) + Shape::kColumns +
                           before * Shape::kColumnsBytes + lane * 16,
                       second + later * 4);
    if (Groups == 1 && lane >= 16 && lane < 20)
      ptx::cp_async_16(a_to + before * Shape::kColumnsBytes, a + later * 4);
  }
  // B's rows of one step, with the lane's slots in `columns`, to their stage.
  __device__ __forceinline__ void fetch_rows(int stage, const columns_of_lane &columns) const
  {
    const uint32_t at = rows_to + stage * Shape::kStepBytes;
#pragma unroll
    for (int i = 0; i < kEach; i++) {
      const uint4 four = columns[i / 4];
      const uint32_t row = i % 4 == 0 ? four.x : i % 4 == 1 ? four.y : i % 4 == 2 ? four.z : four.w;
      ptx::cp_async_16((at ^ i << 4) + i * Shape::kRowBytes, b + uint64_t(row) * row_bytes, bytes);
    }
  }
  // Has the second group, where there is one, the same columns?  `later`: of it, as `columns`.
  __device__ __forceinline__ bool alike(const columns_of_lane &columns, const uint4 *later) const
  {
    if (Groups == 1) return true;
    bool same = true;
#pragma unroll
    for (int i = 0; i < kEach / 4; i++) {
      const uint4 x = columns[i], y = later[i];
      same = same && x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w;
    }
    return __all_sync(0xffffffffu, same);
  }
  // Step `step`, whose columns have come; false, and nothing is brought, where they are not alike.
  __device__ __forceinline__ bool fetch_next(uint32_t step, uint32_t end, int stage) const
  {
    const uint4 *from = reinterpret_cast<const uint4 *>(memory + Shape::kColumns) +
                        stage * (Shape::kColumnsBytes / 16) + part * (kEach / 4);
    columns_of_lane columns;
#pragma unroll
    for (int i = 0; i < kEach / 4; i++) columns[i] = from[i];
    if (!alike(columns, from + 4)) return false;
    fetch_a(step, end, stage);
    fetch_rows(stage, columns);
    return true;
  }
  // The first kAhead steps, columns from global memory; ends before the first that is not alike.
  // A's before the kernel in front has ended, B's behind it.
  __device__ __forceinline__ void fetch_first(const arguments &p, uint32_t step,
                                              uint32_t &end) const
  {
    const uint4 *from = reinterpret_cast<const uint4 *>(p.columns) + part * (kEach / 4);
    columns_of_lane columns[kAhead], later[kAhead];
#pragma unroll
    for (int s = 0; s < kAhead; s++)
#pragma unroll
      for (int i = 0; i < kEach / 4; i++) { // there is one step more than the matrix has
        const uint64_t at = uint64_t(min(step + s, end)) * 4 + i;
        columns[s][i] = __ldg(from + at);
        if (Groups == 2) later[s][i] = __ldg(from + at + uint64_t(other) * 4);
      }
#pragma unroll
    for (int s = 0; s < kAhead; s++) {
      if (step + s < end && !alike(columns[s], later[s])) end = step + s;
      if (step + s < end) fetch_a(step + s, end, s);
    }
    wait_for_previous();
#pragma unroll
    for (int s = 0; s < kAhead; s++) {
      if (step + s < end) fetch_rows(s, columns[s]);
      ptx::cp_async_commit();
    }
  }
};

// The products of steps `step` .. `end` - 1 of Groups groups, to as many d, as far as their columns
// are alike; where that ends.  other: from the first group's steps to the second's.
template <class T, class Shape, int Groups>
__device__ __forceinline__ uint32_t multiply_direct(const arguments &p, unsigned char *memory,
                                                    int column0, uint32_t step, uint32_t end,
                                                    uint32_t other,
                                                    float (*d)[Shape::kTile / 16][4])
{
  constexpr int kAhead = Shape::kAhead;
  const int lane = threadIdx.x % 32;
  const direct_gather<Shape, Groups> gather(p, memory, column0, other);
  // Row lane % 8 of matrix lane / 8: slots 0 .. 7 or 8 .. 15, columns 0 .. 7 or 8 .. 15.
  const uint32_t from = ptx::shared_address(memory) +
                        (lane % 8 + lane / 16 * 8) * Shape::kRowBytes +
                        ((lane / 8 % 2 ^ lane % 8) << 4);
  const uint2 *values_from = reinterpret_cast<const uint2 *>(memory + Shape::kValues) + lane;
  int to_stage = kAhead, from_stage = 0;

  gather.fetch_first(p, step, end);
#pragma unroll 1
  for (; step < end; step++) {
    // One commit a step, so this waits for the step's rows; and all lanes are done with the
    // step before, whose place is taken.
    ptx::cp_async_wait<kAhead - 1>();
    __syncwarp();
    if (step + kAhead < end && !gather.fetch_next(step + kAhead, end, to_stage))
      end = step + kAhead;
    ptx::cp_async_commit();
    uint32_t values[Groups][2];
#pragma unroll
    for (int g = 0; g < Groups; g++) {
      const uint2 fragment = values_from[from_stage * (Shape::kGroups * 32) + g * 32];
      values[g][0] = fragment.x, values[g][1] = fragment.y;
    }
    const uint32_t at = from + from_stage * Shape::kStepBytes;
#pragma unroll
    for (int m = 0; m < Shape::kTile / 16; m++) {
      uint32_t a[4];
      ptx::ldmatrix_x4_trans(a, at ^ m << 5);
#pragma unroll
      for (int g = 0; g < Groups; g++) mma_of<T>::run(d[g][m], a, values[g]);
    }
    to_stage = to_stage == kAhead ? 0 : to_stage + 1;
    from_stage = from_stage == kAhead ? 0 : from_stage + 1;
  }
  ptx::cp_async_wait<0>();
  __syncwarp();
  return end;
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

// A slice of the steps of a group; one that does not exist has none.
struct steps_of_slice {
  uint32_t from, to;

  __device__ __forceinline__ steps_of_slice(const arguments &p, int group, int slice)
      : from(0), to(0)
  {
    if (group >= p.groups) return;
    const uint32_t begin = p.begin[group], count = p.count[group];
    from = begin + static_cast<uint32_t>(uint64_t(count) * slice >> p.log2_slices);
    to = begin + static_cast<uint32_t>(uint64_t(count) * (slice + 1) >> p.log2_slices);
  }
};

// The groups of block `block` of a column of them, and C's columns from column0 on; by kDirectWarps
// warps.
template <class T, class Out, class Shape>
__device__ __forceinline__ void multiply_groups_of(const arguments &p, unsigned char *shared,
                                                   int block, int column0)
{
  constexpr int kTile = Shape::kTile;
  const int warp = threadIdx.x / 32, slices = 1 << p.log2_slices, slice = warp & (slices - 1);
  const int group = block * (kDirectWarps >> p.log2_slices) + (warp >> p.log2_slices);
  if (group >= p.groups) return;

  const steps_of_slice steps(p, group, slice);
  unsigned char *mine = shared + warp * Shape::kWarpBytes;
  float d[1][kTile / 16][4] = {};
  multiply_direct<T, Shape, 1>(p, mine, column0, steps.from, steps.to, 0, d);

  write_image<kTile>(reinterpret_cast<float *>(mine), d[0]);
  slices_barrier(p);
  const float *images = reinterpret_cast<float *>(mine - slice * Shape::kWarpBytes);
  store_images<T, Out, kTile, Shape::kWarpBytes / 4>(p, images, slices, slice, group, column0);
}

template <class T, class Out, class Shape>
__global__ void __launch_bounds__(kDirectWarps * 32, 2)
    spmm_direct(const __grid_constant__ arguments p)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  if (p.next_waits) let_next_in();
  multiply_groups_of<T, Out, Shape>(p, shared, blockIdx.x, blockIdx.y * Shape::kTile);
}

// The same with two groups a warp; group: the first.
template <class T, class Out, class Shape>
__global__ void __launch_bounds__(kDirectWarps * 32, 2)
    spmm_vector_pairs(const __grid_constant__ arguments p)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int kTile = Shape::kTile;
  const int warp = threadIdx.x / 32, slices = 1 << p.log2_slices, slice = warp & (slices - 1);
  const int group = 2 * (blockIdx.x * (kDirectWarps >> p.log2_slices) + (warp >> p.log2_slices));
  const int column0 = blockIdx.y * kTile;
  if (p.next_waits) let_next_in();
  if (group >= p.groups) return;

  steps_of_slice first(p, group, slice), second(p, group + 1, slice);
  unsigned char *mine = shared + warp * Shape::kWarpBytes;
  float d[2][kTile / 16][4] = {};
  if (first.from < first.to && first.to - first.from == second.to - second.from) {
    const uint32_t reached = multiply_direct<T, Shape, 2>(p, mine, column0, first.from, first.to,
                                                          second.from - first.from, d);
    second.from += reached - first.from;
    first.from = reached;
  }
  if (first.from < first.to)
    multiply_direct<T, Shape, 1>(p, mine, column0, first.from, first.to, 0, d);
  if (second.from < second.to)
    multiply_direct<T, Shape, 1>(p, mine, column0, second.from, second.to, 0, d + 1);

  const float *images = reinterpret_cast<float *>(mine - slice * Shape::kWarpBytes);
#pragma unroll
  for (int g = 0; g < 2; g++) {
    if (group + g >= p.groups) break;
    if (g > 0) slices_barrier(p);
    write_image<kTile>(reinterpret_cast<float *>(mine), d[g]);
    slices_barrier(p);
    store_images<T, Out, kTile, Shape::kWarpBytes / 4>(p, images, slices, slice, group + g,
                                                       column0);
  }
}

} // namespace vector
} // namespace shunt
