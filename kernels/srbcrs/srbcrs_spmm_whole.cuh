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
// Nothing is ever replaced, so a stride may reach as far as it likes.
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

struct whole_shape {
  static constexpr int kTile = SHUNT_SRBCRS_WHOLE_COLUMNS;
  static constexpr int kWarps = SHUNT_SRBCRS_STRIP_GROUPS, kThreads = kWarps * 32;
  static constexpr int kStrip = SHUNT_SRBCRS_STRIP, kStripBytes = kStrip * kTile;
  static constexpr int kDepth = 2; // strides that a warp has asked for
};

// The strides of a group, of which the next kDepth are on their way.
struct whole_list {
  uint32_t stride = 0, end = 0;
  stride_operands of[whole_shape::kDepth] = {};

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
    for (int d = 0; d < whole_shape::kDepth; d++) load(p, d, stride + d);
  }
};

// B's tile of a block, and how much of it is known to be there.
struct whole_tile {
  uint32_t base, full; // the rows; the barriers of the strips
  int strips, there;

  __device__ __forceinline__ whole_tile(int64_t rows, const unsigned char *shared)
      : base(ptx::shared_address(shared)),
        strips(static_cast<int>((rows + whole_shape::kStrip - 1) / whole_shape::kStrip)), there(0)
  {
    full = base + strips * whole_shape::kStripBytes;
  }
  // One thread.
  __device__ __forceinline__ void fetch(const CUtensorMap &map, int column) const
  {
    ptx::tensor_prefetch(&map);
    for (int i = 0; i < strips; i++) ptx::mbarrier_init(full + 8 * i, 1);
    ptx::mbarrier_init_fence();
    for (int i = 0; i < strips; i++) {
      ptx::mbarrier_arrive_expect(full + 8 * i, whole_shape::kStripBytes);
      ptx::tensor_load_2d(base + i * whole_shape::kStripBytes, &map, column,
                          i * whole_shape::kStrip, full + 8 * i);
    }
  }
  __device__ __forceinline__ void wait_for(int count)
  {
    for (; there < count; there++) ptx::mbarrier_wait(full + 8 * there, 0);
  }
  __device__ __forceinline__ void wait_for_rows(uint32_t column)
  {
    if (there == strips) return;
    wait_for(static_cast<int>(__reduce_max_sync(0xffffffffu, column) / whole_shape::kStrip) + 1);
  }
  __device__ __forceinline__ void multiply(const stride_operands &o,
                                           group_sums<whole_shape> &sums) const
  {
    const uint32_t at = base + o.column * whole_shape::kTile + (o.column / 4 % 2 << 4);
    uint32_t r[2][4];
#pragma unroll
    for (int m = 0; m < 2; m++) ptx::ldmatrix_x4_trans(r[m], at ^ m << 4);
#pragma unroll
    for (int m = 0; m < 2; m++) sums.multiply_16(m, r[m], o.a);
  }
};

template <class Store>
__global__ void __launch_bounds__(whole_shape::kThreads, 1)
    spmm_whole(const __grid_constant__ arguments<Store> p, const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  const int64_t group = static_cast<int64_t>(blockIdx.x) * whole_shape::kWarps + threadIdx.x / 32;
  const int column = blockIdx.y * whole_shape::kTile;
  whole_tile b(p.v.cols, shared);
  whole_list list;
  group_sums<whole_shape> sums = {};
  wait_for_previous();
  if (p.next_waits) let_next_in();
  if (threadIdx.x == 0) b.fetch(map, column);
  list.start(p, group);
  __syncthreads();
#pragma unroll 1
  for (; list.stride < list.end; list.stride += whole_shape::kDepth)
#pragma unroll
    for (int d = 0; d < whole_shape::kDepth; d++) {
      if (list.stride + d >= list.end) break;
      const stride_operands now = list.of[d];
      list.load(p, d, list.stride + d + whole_shape::kDepth);
      b.wait_for_rows(now.column);
      b.multiply(now, sums);
    }
  b.wait_for(b.strips); // a block does not leave before what it asked for has come
  if (group < p.v.groups) sums.store(p, group, column);
#endif
}

} // namespace srbcrs
} // namespace shunt
