// srbcrs_spmm_whole.cuh: C by tiles of 32 columns, with all rows of B's tile in shared memory.
//
// Where B has few columns, strips for many columns leave multiprocessors idle, and gathers read
// each row of B once for each vector.  Here a block has 32 groups of A and 32 columns of B, whole:
//
//             B  |32 columns|         shared memory, 32 bytes a row: up to 7168 rows
//     strip 0    |----------|  copy   .-----------------------------------.
//           1    |----------|  -----> |  0  |  1  |  2  |      ..         |   each with a barrier,
//           ..   |----------|         '-----------------------------------'   for its bytes alone
//
//     32 warps, a group each:  stride -- are its strips there? -- ldmatrix, 2 mma -- next stride
//
// Nothing is ever replaced, so a stride may reach as far as it likes.  Or 16 warps with two groups
// each, whose strides take turns: so four others have room (srbcrs_spmm_strips_proved.cuh).
//
// How ldmatrix gathers: srbcrs_spmm_strips.cuh.  The copy engine swizzles rows of 32 bytes so that
// eight rows that differ modulo 8 lie on eight different bank groups, too.
//
// Bound: out of L2 come K x N bytes of B for each 32 groups, and A's lists for each 32 columns,
// 4 + V bytes a vector; shared memory moves 1 KiB a stride, 8 clocks.
#pragma once
#include "kernels/srbcrs/srbcrs_spmm_strips.cuh"

namespace shunt
{
namespace srbcrs
{

// Groups: of a warp.
template <int Groups> struct whole_shape {
  static constexpr int kTile = SHUNT_SRBCRS_WHOLE_COLUMNS, kGroups = Groups;
  static constexpr int kWarps = SHUNT_SRBCRS_STRIP_GROUPS / Groups, kThreads = kWarps * 32;
  static constexpr int kStrip = SHUNT_SRBCRS_STRIP, kStripBytes = kStrip * kTile;
  static constexpr int kDepth = 2; // strides of a group that a warp has asked for
};
using whole_of_one = whole_shape<1>;
using whole_of_two = whole_shape<2>;

// Of shared memory, for so many rows of B.
inline int whole_bytes(int64_t rows)
{
  return static_cast<int>(shunt_div_up(rows, whole_of_one::kStrip)) *
         (whole_of_one::kStripBytes + 8);
}

// The strides of a group, of which the next kDepth are on their way.
struct whole_list {
  static constexpr int kDepth = whole_of_one::kDepth;
  uint32_t stride = 0, end = 0;
  stride_operands of[kDepth] = {};

  template <class Store>
  __device__ __forceinline__ void load(const arguments<Store> &p, int d, uint32_t at)
  {
    load_stride(p, at, at < end, of[d].column, of[d].a);
  }
  template <class Store>
  __device__ __forceinline__ void start(const arguments<Store> &p, int64_t group)
  {
    if (group >= p.v.groups) return;
    stride = p.v.begin[group] / kStride;
    end = (p.v.end[group] + kStride - 1) / kStride;
#pragma unroll
    for (int d = 0; d < kDepth; d++) load(p, d, stride + d);
  }
};

// B's tile of a block, and how much of it is known to be there.
struct whole_tile {
  using shape = whole_of_one;
  uint32_t base, full; // the rows; the barriers of the strips
  int strips, there;

  __device__ __forceinline__ whole_tile(int64_t rows, const unsigned char *shared)
      : base(ptx::shared_address(shared)),
        strips(static_cast<int>((rows + shape::kStrip - 1) / shape::kStrip)), there(0)
  {
    full = base + strips * shape::kStripBytes;
  }
  // One thread.
  __device__ __forceinline__ void fetch(const CUtensorMap &map, int column) const
  {
    ptx::tensor_prefetch(&map);
    for (int i = 0; i < strips; i++) ptx::mbarrier_init(full + 8 * i, 1);
    ptx::mbarrier_init_fence();
    for (int i = 0; i < strips; i++) {
      ptx::mbarrier_arrive_expect(full + 8 * i, shape::kStripBytes);
      ptx::tensor_load_2d(base + i * shape::kStripBytes, &map, column, i * shape::kStrip,
                          full + 8 * i);
    }
  }
  __device__ __forceinline__ void wait_for(int count)
  {
    for (; there < count; there++) ptx::mbarrier_wait(full + 8 * there, 0);
  }
  __device__ __forceinline__ void wait_for_rows(uint32_t column)
  {
    if (there == strips) return;
    wait_for(static_cast<int>(__reduce_max_sync(0xffffffffu, column) / shape::kStrip) + 1);
  }
  template <class Shape>
  __device__ __forceinline__ void multiply(const stride_operands &o, group_sums<Shape> &sums) const
  {
    const uint32_t at = base + o.column * shape::kTile + (o.column / 4 % 2 << 4);
    uint32_t r[2][4];
#pragma unroll
    for (int m = 0; m < 2; m++) ptx::ldmatrix_x4_trans(r[m], at ^ m << 4);
#pragma unroll
    for (int m = 0; m < 2; m++) sums.multiply_16(m, r[m], o.a);
  }
};

// C where the block has its part, groups from `group0` on and columns from `column` on, by the first
// kWarps warps, for which ready() waits as long as anybody may still write B or read C; then all of
// them have met at meet().
template <class Store, class Shape, class Ready, class Meet>
__device__ __forceinline__ void multiply_whole(const arguments<Store> &p, const CUtensorMap &map,
                                               const strips_place &at, const unsigned char *shared,
                                               const Ready &ready, const Meet &meet)
{
  constexpr int kGroups = Shape::kGroups, kDepth = Shape::kDepth;
  const int64_t group = at.group + threadIdx.x / 32 * kGroups;
  whole_tile b(p.v.cols, shared);
  whole_list list[kGroups];
  group_sums<Shape> sums[kGroups] = {};
  ready();
  if (threadIdx.x == 0) b.fetch(map, at.column);
#pragma unroll
  for (int i = 0; i < kGroups; i++) list[i].start(p, group + i);
  meet();
  uint32_t most = list[0].end - list[0].stride; // strides of the longest
#pragma unroll
  for (int i = 1; i < kGroups; i++) most = max(most, list[i].end - list[i].stride);
#pragma unroll 1
  for (uint32_t s = 0; s < most; s += kDepth)
#pragma unroll
    for (int d = 0; d < kDepth; d++)
#pragma unroll
      for (int i = 0; i < kGroups; i++) {
        const uint32_t stride = list[i].stride + s + d;
        if (stride >= list[i].end) continue;
        const stride_operands now = list[i].of[d];
        list[i].load(p, d, stride + kDepth);
        b.wait_for_rows(now.column);
        b.multiply(now, sums[i]);
      }
  b.wait_for(b.strips); // a block does not leave before what it asked for has come
#pragma unroll
  for (int i = 0; i < kGroups; i++)
    if (group + i < p.v.groups) sums[i].store(p, group + i, at.column);
}

template <class Store, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_whole(const __grid_constant__ arguments<Store> p, const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  const strips_place at = {static_cast<int64_t>(blockIdx.x) * Shape::kWarps * Shape::kGroups,
                           static_cast<int>(blockIdx.y) * Shape::kTile};
  multiply_whole<Store, Shape>(
      p, map, at, shared,
      [] {
        wait_for_previous();
        let_next_in();
      },
      [] { __syncthreads(); });
#endif
}

} // namespace srbcrs
} // namespace shunt
