// srbcrs_spmm_strips.cuh: C by tiles, B through shared memory, for many row groups of A at a time.
//
// A block owns 16 Groups groups of V rows x Tile columns of C.  The copy engine brings B strip by
// strip, 256 rows x Tile bytes, into a ring; 16 warps, each with Groups groups of A, follow at their
// own pace and keep their sums in registers (as kernels/vector/vector_packed_spmm_strips.cuh does):
//
//             B  | Tile |             shared memory: ring of kRing strips
//     strip 0    |------|              .-------------------------------.
//           1    |------|     copy     | p+1 | p+2 | p-4 | .. | p | .. |
//           ..   |------|  ----------> '-------------------------------'
//           p    |------|              coming     held (kWindow)
//
// A stride is multiplied when the strip with its last row is there.  As columns ascend from stride
// to stride, the rows of one are mostly held; a stride whose rows are further apart than the window
// reads them from global memory.  So any matrix can be multiplied so; which should, backend decides.
//
// ldmatrix gathers: a lane gives the address of one row, and has after it, transposed, two slots of
// two columns in a register.  One byte permute for each operand of the mma remains:
//
//     matrix 2h + b, row 2t + e  =  row of B in slot 16h + 4t + 2b + e, 16 columns from 16m on
//
//     lane (g, t)   | slot 4t     | slot 4t + 1 |  | slot 4t + 2 | slot 4t + 3 |
//                   | 2g   2g + 1 | 2g   2g + 1 |  | 2g   2g + 1 | 2g   2g + 1 |   columns
//                        even bytes -> column 16m + 2g     of four slots, row g of D
//                        odd bytes  -> column 16m + 2g + 1 of four slots, row g + 8
//
// The ring's rows are swizzled by the copy engine, so that eight rows that differ modulo 8 lie on
// eight different bank groups.  Two that do not take a cycle more, each time.
//
// Barriers, one pair for each strip of the ring:
//   full    the copy engine has brought the strip
//   empty   all warps are done with it
// A warp is done with strip p - kWindow + 1 when it has multiplied what strip p completes.  The
// warps take turns at telling the copy engine.
//
// Bound, per block: shared memory moves 128 bytes a clock: all of B's Tile columns in, and slots x
// Tile out, twice that where rows collide.  L2 moves groups / (16 Groups) x K x N bytes of B.
#pragma once
#include <cuda.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/common/ring_strip.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/stream_load.cuh"
#include "kernels/ptx/tma.cuh"
#include "kernels/srbcrs/srbcrs_spmm_combined.cuh"

namespace shunt
{
namespace srbcrs
{

// Strip: rows of B.  Lists: that a warp walks; several of a group take its strides in turn.
template <int Tile_, int Groups_, int Lists_, int Strip_, int Ring_, int Window_, int Lag_>
struct strips_shape {
  static constexpr int kTile = Tile_, kGroups = Groups_, kLists = Lists_, kStrip = Strip_;
  static constexpr int kRing = Ring_, kWindow = Window_;
  static constexpr int kWarps = 16, kThreads = kWarps * 32, kPhases = kLists / kGroups;
  // Strips to come.  The warp that brings the next waits for those that are kLag strips behind.
  static constexpr int kLag = Lag_, kAhead = kRing - kWindow + 1 - kLag;
  static constexpr int kStripBytes = kStrip * kTile, kRingBytes = kRing * kStripBytes;
  static constexpr int kFull = kRingBytes, kEmpty = kFull + 8 * kRing;
  static constexpr int kBytes = kEmpty + 8 * kRing;
  static_assert(kAhead > 0, "room for strips to come");
  static_assert(kTile == 128 || kTile == 64, "rows that the copy engine swizzles");
  static_assert(kStrip <= 256, "a box of the copy engine");
};
using strips_128 = strips_shape<128, 2, 2, SHUNT_SRBCRS_STRIP, 7, 5, 1>;
using strips_64 = strips_shape<64, 2, 2, SHUNT_SRBCRS_STRIP, 14, 8, 2>;

// The block's part of C: groups from `group` on, columns from `column` on.
struct strips_place {
  int64_t group;
  int column;
};

// One thread: starts the copy of the strip at `at`, if there is one, when its place is empty.
template <class Shape>
__device__ __forceinline__ void fetch_strip(int strips, const CUtensorMap &map, uint32_t base,
                                            int column, const ring_strip<Shape> &at)
{
  if (at.strip >= strips) return;
  ptx::mbarrier_wait(base + Shape::kEmpty + 8 * at.slot, at.parity ^ 1);
  const uint32_t full = base + Shape::kFull + 8 * at.slot;
  ptx::mbarrier_arrive_expect(full, Shape::kStripBytes);
  ptx::tensor_load_2d(base + at.slot * Shape::kStripBytes, &map, column, at.strip * Shape::kStrip,
                      full);
}

// Slot of the lane's row.
__device__ __forceinline__ int slot_of_lane()
{
  const int l = threadIdx.x % 32;
  return l / 16 * 16 + l % 8 / 2 * 4 + l / 8 % 2 * 2 + l % 2;
}

// Of a stride, if it is wanted: the column of the lane's row, its words of A.
template <class Store>
__device__ __forceinline__ void load_stride(const arguments<Store> &p, uint32_t stride, bool wanted,
                                            uint32_t &column, uint32_t (&a)[2])
{
  const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
  const uint32_t *columns = p.v.columns + uint64_t(stride) * kStride + slot_of_lane();
  const uint32_t *words =
      reinterpret_cast<const uint32_t *>(p.v.values) + (uint64_t(stride) * p.v.height + g) * 8 + t;
  ptx::load_once_if(wanted, column, columns);
  ptx::load_once_if(wanted && g < p.v.height, a[0], words);
  ptx::load_once_if(wanted && g < p.v.height, a[1], words + 4);
}

// The list of a group, or every other stride of it: where it stands, and what has been loaded.
template <class Shape> struct stride_list {
  uint32_t stride, end;  // the next stride, behind the last
  uint32_t column, a[2]; // of the next stride: of the lane's row, its words of A
  int first, last;       // the strips of its rows

  template <class Store>
  __device__ __forceinline__ void load(const arguments<Store> &p, bool wanted)
  {
    load_stride(p, stride, wanted, column, a);
  }
  // Which strips the stride that has been loaded needs.
  __device__ __forceinline__ void look()
  {
    first = last = INT32_MAX;
    if (stride >= end) return;
    first = static_cast<int>(__reduce_min_sync(0xffffffffu, column) / Shape::kStrip);
    last = static_cast<int>(__reduce_max_sync(0xffffffffu, column) / Shape::kStrip);
  }
  template <class Store>
  __device__ __forceinline__ void start(const arguments<Store> &p, int64_t group, int phase)
  {
    stride = end = 0, column = 0, a[0] = a[1] = 0;
    if (group < p.v.groups) {
      stride = p.v.begin[group] / kStride + phase;
      end = (p.v.end[group] + kStride - 1) / kStride;
    }
    load(p, stride < end);
    look();
  }
};

// What a lane multiplies in a stride.  Made by operations, not copies: the compiler would put those
// behind the products, where they wait for what is loaded next.
struct stride_operands {
  uint32_t column, a[2];
};

// What ldmatrix would give of two columns, those at b; column: of the row that the lane names.  Not
// in line: it would take registers from those who need it not.
[[maybe_unused]] static __device__ __noinline__ uint4 gather_apart(const uint8_t *b,
                                                                   int64_t row_bytes,
                                                                   uint32_t column, bool inside)
{
  uint32_t r[4];
#pragma unroll
  for (int j = 0; j < 4; j++) {
    uint32_t two[2];
#pragma unroll
    for (int e = 0; e < 2; e++) {
      const uint32_t row = __shfl_sync(0xffffffffu, column, 8 * j + threadIdx.x % 4 * 2 + e);
      two[e] = inside ? *reinterpret_cast<const uint16_t *>(b + row * row_bytes) : 0;
    }
    r[j] = two[0] | two[1] << 16;
  }
  return make_uint4(r[0], r[1], r[2], r[3]);
}

// The sums of a group: of row 2t + h and column 16m + 2g + e in d[m][2e + h].
template <class Shape> struct group_sums {
  int d[Shape::kTile / 16][4];

  __device__ __forceinline__ void multiply_16(int m, const uint32_t (&r)[4], const uint32_t (&a)[2])
  {
    const uint32_t columns[4] = {bytes_of_16<0>(r[0], r[1]), bytes_of_16<1>(r[0], r[1]),
                                 bytes_of_16<0>(r[2], r[3]), bytes_of_16<1>(r[2], r[3])};
    ptx::mma_m16n8k32<true, true>(d[m], columns, a);
  }
  // ring: where it begins; wrapped: its bytes times how often the strip's place has come round.
  __device__ __forceinline__ void multiply(const stride_operands &o, uint32_t ring,
                                           uint32_t wrapped)
  {
    constexpr int kPieces = Shape::kTile / 16;
    const uint32_t row = o.column * Shape::kTile - wrapped;
    const uint32_t swizzle = Shape::kTile == 128 ? o.column % 8 : o.column / 2 % 4;
    const uint32_t at = ring + min(row, row + Shape::kRingBytes) + (swizzle << 4);
    uint32_t r[kPieces][4];
#pragma unroll
    for (int m = 0; m < kPieces; m++) ptx::ldmatrix_x4_trans(r[m], at ^ m << 4);
#pragma unroll
    for (int m = 0; m < kPieces; m++) multiply_16(m, r[m], o.a);
  }
  // The rows from global memory.
  template <class Store>
  __device__ __forceinline__ void multiply_apart(const arguments<Store> &p, int column0,
                                                 const stride_operands &o)
  {
#pragma unroll
    for (int m = 0; m < Shape::kTile / 16; m++) {
      const int column = column0 + 16 * m + threadIdx.x % 32 / 4 * 2;
      const uint4 x = gather_apart(p.b + column, p.b_row_bytes, o.column, column < p.n);
      const uint32_t r[4] = {x.x, x.y, x.z, x.w};
      multiply_16(m, r, o.a);
    }
  }
  // Lanes g and g ^ 1 change pairs of columns, so that each has four of one m.
  template <class Store>
  __device__ __forceinline__ void store(const arguments<Store> &p, int64_t group, int column0) const
  {
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, odd = g % 2;
#pragma unroll
    for (int m = 0; m < Shape::kTile / 16; m += 2)
#pragma unroll
      for (int h = 0; h < 2; h++) {
        int mine[2], other[2];
#pragma unroll
        for (int e = 0; e < 2; e++) {
          mine[e] = odd ? d[m + 1][2 * e + h] : d[m][2 * e + h];
          other[e] = __shfl_xor_sync(0xffffffffu, odd ? d[m][2 * e + h] : d[m + 1][2 * e + h], 4);
        }
        const int sums[4] = {odd ? other[0] : mine[0], odd ? other[1] : mine[1],
                             odd ? mine[0] : other[0], odd ? mine[1] : other[1]};
        const int column = column0 + 16 * (m + odd) + g / 2 * 4;
        const int64_t row = group * p.v.height + 2 * t + h;
        if (2 * t + h < p.v.height && row < p.v.rows && column < p.n)
          p.store.put(row, column, p.n - column, sums);
      }
  }
};

// What a warp has: its lists, and the sums of its groups.
template <class Shape> struct strip_warp {
  stride_list<Shape> list[Shape::kLists];
  group_sums<Shape> sums[Shape::kGroups];
  uint32_t ring, zero; // zero: 0, but the compiler cannot know
  int column;          // the block's first

  // All strides that are complete with `strip`.  The lists take turns, and what is next is loaded
  // for all before any multiplies.
  template <class Store>
  __device__ __forceinline__ void multiply(const arguments<Store> &p, int strip, uint32_t wrapped)
  {
    constexpr int kLists = Shape::kLists;
#pragma unroll 1
    for (;;) {
      bool due[kLists], any = false;
      stride_operands o[kLists];
#pragma unroll
      for (int i = 0; i < kLists; i++) due[i] = list[i].last <= strip, any |= due[i];
      if (!any) return;
#pragma unroll
      for (int i = 0; i < kLists; i++)
        o[i] = {ptx::exclusive_or(list[i].column, zero),
                {ptx::exclusive_or(list[i].a[0], zero), ptx::exclusive_or(list[i].a[1], zero)}};
      bool held[kLists];
#pragma unroll
      for (int i = 0; i < kLists; i++) {
        held[i] = list[i].first > strip - Shape::kWindow;
        if (!due[i]) continue;
        list[i].stride += Shape::kPhases;
        list[i].load(p, list[i].stride < list[i].end);
      }
#pragma unroll
      for (int i = 0; i < kLists; i++) {
        if (due[i] && held[i]) sums[i / Shape::kPhases].multiply(o[i], ring, wrapped);
        if (due[i] && !held[i]) sums[i / Shape::kPhases].multiply_apart(p, column, o[i]);
      }
#pragma unroll
      for (int i = 0; i < kLists; i++)
        if (due[i]) list[i].look();
    }
  }
};

// The way of a warp: strip by strip.
template <class Store, class Shape>
__device__ __forceinline__ void follow_strips(const arguments<Store> &p, const CUtensorMap &map,
                                              int strips, uint32_t base, strip_warp<Shape> &w)
{
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  ring_strip<Shape> at;
  int release = Shape::kRing - (Shape::kWindow - 1); // the place of strip at.strip - kWindow + 1
  uint32_t wrapped = 0;
#pragma unroll 1
  while (at.strip < strips) {
    ptx::mbarrier_wait(base + Shape::kFull + 8 * at.slot, at.parity);
    w.multiply(p, at.strip, wrapped);
    __syncwarp();
    // The oldest strip of the window is not needed any more.
    if (at.strip >= Shape::kWindow - 1 && lane == 0)
      ptx::mbarrier_arrive(base + Shape::kEmpty + 8 * release);
    if (warp == at.strip % Shape::kWarps && lane == 0)
      fetch_strip<Shape>(strips, map, base, w.column, at.ahead());
    if (++release == Shape::kRing) release = 0;
    at.advance();
    if (at.slot == 0) wrapped += Shape::kRingBytes;
  }
}

// C where the block has its part, by the first kWarps warps, for which ready() waits as long as
// anybody may still write B or read C; then the ring is opened and all threads have met at meet().
template <class Store, class Shape, class Ready, class Meet>
__device__ __forceinline__ void multiply_strips(const arguments<Store> &p, const CUtensorMap &map,
                                                const strips_place &at, unsigned char *shared,
                                                const Ready &ready, const Meet &meet)
{
  const int strips = static_cast<int>((p.v.cols + Shape::kStrip - 1) / Shape::kStrip);
  const int64_t group0 = at.group + threadIdx.x / 32 * Shape::kGroups;
  strip_warp<Shape> w = {};
  w.ring = ptx::shared_address(shared), w.zero = strips < 0, w.column = at.column;
  asm("" : "+r"(w.ring), "+r"(w.zero)); // else computed at each use
  ready();
  if (threadIdx.x == 0)
    open_ring<Shape>(&map, w.ring, [&](const ring_strip<Shape> &first) {
      fetch_strip<Shape>(strips, map, w.ring, at.column, first);
    });
#pragma unroll
  for (int i = 0; i < Shape::kLists; i++)
    w.list[i].start(p, group0 + i / Shape::kPhases, i % Shape::kPhases);
  meet();
  follow_strips<Store, Shape>(p, map, strips, w.ring, w);
#pragma unroll
  for (int i = 0; i < Shape::kGroups; i++)
    if (group0 + i < p.v.groups) w.sums[i].store(p, group0 + i, at.column);
}

template <class Store, class Shape>
__global__ void __launch_bounds__(Shape::kThreads, 1)
    spmm_strips(const __grid_constant__ arguments<Store> p, const __grid_constant__ CUtensorMap map)
{
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) unsigned char shared[];
  const strips_place at = {static_cast<int64_t>(blockIdx.x) * Shape::kWarps * Shape::kGroups,
                           static_cast<int>(blockIdx.y) * Shape::kTile};
  multiply_strips<Store, Shape>(
      p, map, at, shared,
      [&] {
        wait_for_previous();
        if (p.next_waits) let_next_in();
      },
      [] { __syncthreads(); });
#endif
}

} // namespace srbcrs
} // namespace shunt
