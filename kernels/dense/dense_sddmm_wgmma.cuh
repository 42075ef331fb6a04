// dense_sddmm_wgmma.cuh: SDDMM by the dense product: tiles of A B are multiplied by wgmma, put into
// shared memory and sampled there at the pattern of C, while the next tile is multiplied.
//
//   C.values[p] = alpha * dot(A(i, :), B(:, j)),   entry p = (i, j)
//
// A block has neighbouring tiles of 128 rows x 256 columns, row of tiles by row of tiles, and walks
// K in steps of 64:
//
//   warp  0         tells the copy engine what to bring     A, B -> ring in shared memory
//   warps 1 .. 7    sample (dense_sddmm_wgmma_sample.cuh)   tile, C's columns -> C.values
//   warps 8 .. 15   two warpgroups, 64 rows each, multiply  ring -> wgmma -> registers -> tile
//
//   ring, one of kStages:  | A: 128 rows x 64 of K | B: 64 columns x 64 of K | next 64 columns | ..
//                            16 KB                   8 KB each; rows of 128 bytes, swizzled
//   tile:  row 0 | 256 results |pad|  row 1 | ..    the pad keeps rows out of each other's banks
//
// Results stand in the tile as they are stored, alpha and rounding included: so beta is 0.  A tile
// of f32 takes the room of the third stage.  Tiles of 128 columns of f32 were slower than the
// product in memory.
//
// Two products of 128 columns, not one of 256, since seven warps sample: the compiler gives 512
// threads 128 registers each, and a product of 256 columns names more
// (kernels/sparse24/sparse24_spmm_wgmma.cuh).  Three warps beside products of 256 columns take 37
// us where seven took 22.9.
//
// Bound: the products; 14.4 us for 4096 x 4096 x 256 where nothing is sampled, 21.0 with a tenth of
// the entries (f16).  Sampling is waited for up to K = 256: a tile takes seven warps 3800 cycles
// beside the products of K = 64, and more beside longer ones.  Figures: tests/bench/sddmm.md.
//
// full, empty: barriers of a stage; the copy engine has brought it, all warps are done with it.
// ready, sampled: of a quarter of a tile, 32 rows; its results are there, all samplers are done
// with it.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/dense/dense_sddmm_wgmma_sample.cuh"
#include "kernels/dense/dense_spmm_wgmma_frame.cuh"
#include "kernels/ptx/elect.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/ptx/mbarrier.cuh"
#include "kernels/ptx/registers.cuh"
#include "kernels/ptx/tma.cuh"

namespace shunt
{
namespace dense::sampled
{

using dense::kBoxBytes;
using dense::ring_place;
using dense::wait_for;

constexpr int kProducts = 2, kOfProduct = kColumns / kProducts; // columns
constexpr int kBoxes = kColumns / 64;                           // of B
constexpr int kStageBytes = (2 + kBoxes) * kBoxBytes, kPiecesBytes = sizeof(pieces<int64_t>);

// Of 128 each.
constexpr int kMultiplyingRegisters = 168, kSamplingRegisters = 88;

// Behind the tile and the pieces.
template <class Out> struct block_state {
  static constexpr int kStages = sizeof(Out) == 2 ? 3 : 2; // of ring_place
  uint64_t full[kStages], empty[kStages];
  uint64_t ready[kQuarters], sampled[kQuarters];
};

// Shared memory: where the tile begins, the pieces, the state; all of it.
template <class Out> struct room_of {
  static constexpr int kTile = block_state<Out>::kStages * kStageBytes;
  static constexpr int kPieces = kTile + tile_of<Out>::kBytes;
  static constexpr int kState = kPieces + kPiecesBytes;
  static constexpr int kBytes = kState + static_cast<int>(sizeof(block_state<Out>));
};

// ---- fetching --------------------------------------------------------------------------------

template <int BMajor, class Arguments, class State>
__device__ __forceinline__ void fetch(const Arguments &p, const CUtensorMap &map_a,
                                      const CUtensorMap &map_b, uint32_t ring, const State &b)
{
  ring_place<State> place;
  for (tile_walk at(p.tiles, p.across); at.here(); at.advance()) {
    for (int k = 0; k < p.steps * kDepth; k += kDepth, place.advance()) {
      wait_for(b.empty[place.slot], place.parity ^ 1);
      if (ptx::elect_one()) {
        const uint32_t to = ring + place.slot * kStageBytes;
        const uint32_t full = ptx::shared_address(&b.full[place.slot]);
        ptx::mbarrier_arrive_expect(full, kStageBytes);
        ptx::tensor_load_2d(to, &map_a, k, at.down * kRows, full);
#pragma unroll
        for (int i = 0; i < kBoxes; i++) {
          const int n = at.column * kColumns + i * 64;
          ptx::tensor_load_2d(to + (2 + i) * kBoxBytes, &map_b, BMajor ? n : k, BMajor ? k : n,
                              full);
        }
      }
    }
  }
}

// ---- multiplying -----------------------------------------------------------------------------

// Tells that this warp is done with what a barrier stands for.
__device__ __forceinline__ void tell(const uint64_t &barrier)
{
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(ptx::shared_address(&barrier));
}

// d = the group's 64 rows of a tile.  One step's products are under way while the next one's begin.
template <class T, int BMajor, class State, int Products, int Sums>
__device__ __forceinline__ void multiply(int steps, int group, uint32_t ring, const State &b,
                                         ring_place<State> &place, float (&d)[Products][Sums])
{
  const uint64_t of_a = ptx::wgmma_operand(ring + group * kBoxBytes, 0, 1024);
  const uint64_t of_b = ptx::wgmma_operand(ring + 2 * kBoxBytes, kBoxBytes, 1024);
  int last = 0;
  for (int step = 0; step < steps; step++) {
    const uint32_t stage = place.slot * (kStageBytes >> 4);
    wait_for(b.full[place.slot], place.parity);
#pragma unroll
    for (int i = 0; i < Products; i++)
      dense::multiply_64<T, BMajor>(
          d[i], of_a + stage, of_b + stage + i * (kBoxes / Products * kBoxBytes >> 4), step > 0);
    ptx::wgmma_wait<Products>();
    if (step > 0) tell(b.empty[last]);
    last = place.slot;
    place.advance();
  }
  ptx::wgmma_wait<0>();
  tell(b.empty[last]);
}

// The warp's sums to its 16 rows of the tile, from `row` on.
template <class Out, int Sums>
__device__ __forceinline__ void put(const float (&d)[Sums], float alpha, Out *tile, int row,
                                    int column)
{
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int j = 0; j < Sums / 4; j++)
#pragma unroll
    for (int h = 0; h < 2; h++) {
      const float *sum = &d[4 * j + 2 * h];
      const vec<Out, 2> two = {{narrow<Out>(alpha * sum[0]), narrow<Out>(alpha * sum[1])}};
      const int place = tile_of<Out>::place(row + lane / 4 + h * 8, column + lane % 4 * 2 + 8 * j);
      *reinterpret_cast<vec<Out, 2> *>(tile + place) = two;
    }
}

template <class T, int BMajor, class Arguments, class Out>
__device__ __forceinline__ void be_multiplying(const Arguments &p, int group, uint32_t ring,
                                               Out *tile, block_state<Out> &b)
{
  const float alpha = p.alpha.get();
  const int row = group * 64 + threadIdx.x / 32 % 4 * 16, quarter = row / (kRows / kQuarters);
  ring_place<block_state<Out>> place;
  uint32_t parity = 1;
  for (tile_walk at(p.tiles, p.across); at.here(); at.advance(), parity ^= 1) {
    float d[kProducts][kOfProduct / 2];
    multiply<T, BMajor>(p.steps, group, ring, b, place, d);
    wait_for(b.sampled[quarter], parity);
#pragma unroll
    for (int i = 0; i < kProducts; i++) put<Out>(d[i], alpha, tile, row, i * kOfProduct);
    __syncwarp();
    tell(b.ready[quarter]);
  }
}

// ---- the kernel --------------------------------------------------------------------------------

template <class State>
__device__ __forceinline__ void prepare(const CUtensorMap &map_a, const CUtensorMap &map_b,
                                        State &b)
{
  if (threadIdx.x == 0) {
    ptx::tensor_prefetch(&map_a);
    ptx::tensor_prefetch(&map_b);
    dense::prepare_ring<State>(b, kMultiplyingWarps);
    for (int i = 0; i < kQuarters; i++) {
      ptx::mbarrier_init(ptx::shared_address(&b.ready[i]), kMultiplyingWarps / kQuarters);
      ptx::mbarrier_init(ptx::shared_address(&b.sampled[i]), kSamplers);
    }
    ptx::mbarrier_init_fence();
  }
  __syncthreads();
}

template <class T, class Out, class I, int BMajor>
__global__ void __launch_bounds__(kThreads, 1)
    sddmm_dense(const __grid_constant__ arguments<T, Out, I> p,
                const __grid_constant__ CUtensorMap map_a,
                const __grid_constant__ CUtensorMap map_b)
{
  extern __shared__ __align__(1024) unsigned char shared[];
  using room = room_of<Out>;
  Out *tile = reinterpret_cast<Out *>(shared + room::kTile);
  pieces<I> &of = *reinterpret_cast<pieces<I> *>(shared + room::kPieces);
  block_state<Out> &b = *reinterpret_cast<block_state<Out> *>(shared + room::kState);
  prepare(map_a, map_b, b);
  wait_for_previous();
  // The same for all lanes, as the compiler knows: else products wait for their descriptors.
  const int warp = __shfl_sync(0xffffffffu, threadIdx.x / 32, 0);
  if (warp > kSamplers) {
    ptx::take_registers<kMultiplyingRegisters>();
    be_multiplying<T, BMajor>(p, warp / 4 - (1 + kSamplers) / 4, ptx::shared_address(shared), tile,
                              b);
  } else {
    ptx::give_registers<kSamplingRegisters>();
    if (warp == 0)
      fetch<BMajor>(p, map_a, map_b, ptx::shared_address(shared), b);
    else
      sample<T, Out, I>(p, warp - 1, tile, of, b);
  }
}

} // namespace dense::sampled
} // namespace shunt
