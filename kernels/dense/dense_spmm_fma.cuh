// dense_spmm_fma.cuh: C = alpha op(D) B in f32 by FMA, D a dense copy of A.
//
// cuBLASLt's answers in f32 leave most multiprocessors idle where C is small.  Here K is cut into
// `parts` as well, so that there are as many blocks as it takes; each leaves its sums in the
// workspace, laid out as C is, and a second kernel adds the parts in their order:
//
//   C      | tile | tile | ..        block (tile, part): K from part / parts of it to the next
//          | tile | ..
//
//   workspace, where parts > 1       | sums of part 0: lines of C's memory | part 1 | ..
//     a line                         | elements .. | up to 3 unused |
//
// A block of 128 threads multiplies a tile of 64 rows and 16, 32 or 64 columns of C; a thread has
// OwnRows rows and four columns of it (dense_spmm_fma_operand.cuh), a warp 8 x 4 threads.  Operands
// come by cp.async in stages of 32 of K, and from there to registers, `count` of K at a time while
// those before are multiplied:
//
//   stage t     | K 0, 1  | K 2, 3     | K 4, 5 | .. | K 30, 31 |   t + stages - 1 is under way
//                           multiplied   read
//
// Each element is a chain of fused multiply-adds over its part of K, and the parts are added in
// order: the same bits each time.
//
// Both kernels let the next one in at once: the proof that stands behind them (kernels/guard/repair.cuh)
// brings A to L2 meanwhile.  What was before the products has ended by then, as each block waits for
// it first; so a kernel of the program's, too, finds all but C itself.
#pragma once
#include <cuda_runtime.h>

#include "kernels/common/early_launch.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/dense/dense_spmm_fma_operand.cuh"

namespace shunt
{
namespace dense
{
namespace fma
{

// Lines of memory: C's, or those of a part's sums.
struct destination {
  float *values;
  int64_t pitch; // floats
  int lines, across;
  bool by_rows; // lines are C's rows
};

struct arguments {
  source d, b;
  destination out;
  int64_t part_pitch; // floats from one part's sums to the next's
  int parts, tiles_across;
  scalar_arg<float> alpha; // 1 where there are parts
};

// The tile that a block multiplies, D and B each along or across K.
template <int Columns, int OwnRows, int Stages, bool DAlongK, bool BAlongK> struct tile {
  static constexpr int rows = 64, columns = Columns, own_rows = OwnRows, own_columns = 4;
  static constexpr int depth = 32, stages = Stages;
  static constexpr int threads_down = rows / own_rows, threads_across = columns / own_columns;
  static constexpr int threads = threads_down * threads_across;
  static constexpr int count = own_rows == 8 ? 2 : 4; // of K that a thread reads at a time
  using left = operand<rows, threads_down, own_rows, DAlongK, depth>;
  using right = operand<columns, threads_across, own_columns, BAlongK, depth>;
  static constexpr int stage = left::floats + right::floats; // floats
  static constexpr int shared_bytes = 4 * stage * stages;
  static_assert(rows * (columns + 4) <= stage * stages && columns * (rows + 4) <= stage * stages,
                "the tile of C has room where the stages were");
  static_assert(threads_across % 4 == 0 && threads_down % 8 == 0, "warps of 8 x 4 threads");
};

// A thread's place among the tile's.
template <class T> struct place {
  int down, across;
  __device__ __forceinline__ place()
  {
    constexpr int warps_across = T::threads_across / 4;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    down = warp / warps_across * 8 + lane / 4;
    across = warp % warps_across * 4 + lane % 4;
  }
};

template <class T>
__device__ __forceinline__ void fetch(uint32_t shared, const arguments &p, int row, int column,
                                      int step, int first, int end)
{
  if (step < end) {
    const uint32_t to = shared + 4 * ((step - first) % T::stages * T::stage);
    T::left::template fetch<T::threads>(to, p.d, row, step * T::depth);
    T::right::template fetch<T::threads>(to + 4 * T::left::floats, p.b, column, step * T::depth);
  }
  ptx::cp_async_commit();
}

template <class T> struct fragments {
  float d[T::count][T::own_rows], b[T::count][T::own_columns];
  __device__ __forceinline__ void read(const float *stage, const place<T> &at, int k)
  {
    T::left::template read<T::count>(stage, at.down, k, d);
    T::right::template read<T::count>(stage + T::left::floats, at.across, k, b);
  }
  __device__ __forceinline__ void multiply(float (&sum)[T::own_rows][T::own_columns]) const
  {
#pragma unroll
    for (int q = 0; q < T::count; q++)
#pragma unroll
      for (int i = 0; i < T::own_rows; i++)
#pragma unroll
        for (int j = 0; j < T::own_columns; j++) sum[i][j] = fmaf(d[q][i], b[q][j], sum[i][j]);
  }
};

// The sums of the tile at (row, column) over steps first .. end - 1 of K.
template <class T>
__device__ __forceinline__ void accumulate(float *shared, const arguments &p, int row, int column,
                                           int first, int end, const place<T> &at,
                                           float (&sum)[T::own_rows][T::own_columns])
{
  const uint32_t address = ptx::shared_address(shared);
#pragma unroll
  for (int i = 0; i < T::stages - 1; i++) fetch<T>(address, p, row, column, first + i, first, end);
  ptx::cp_async_wait<T::stages - 2>();
  __syncthreads();
  fragments<T> f[2];
  f[0].read(shared, at, 0);
  for (int step = first; step < end; step++) {
    const float *stage = shared + (step - first) % T::stages * T::stage;
    fetch<T>(address, p, row, column, step + T::stages - 1, first, end);
    constexpr int turns = T::depth / T::count;
#pragma unroll
    for (int turn = 0; turn < turns; turn++) {
      if (turn == turns - 1) { // the next stage is there, and the one before is free
        ptx::cp_async_wait<T::stages - 2>();
        __syncthreads();
        stage = shared + (step + 1 - first) % T::stages * T::stage;
      }
      f[(turn + 1) % 2].read(stage, at, (turn + 1) * T::count % T::depth);
      f[turn % 2].multiply(sum);
    }
  }
  ptx::cp_async_wait<0>();
  __syncthreads();
}

// The first `here` of four neighbours.
__device__ __forceinline__ void store_four(float *to, int here, float4 v)
{
  if (here >= 4 && reinterpret_cast<uintptr_t>(to) % 16 == 0) {
    *reinterpret_cast<float4 *>(to) = v;
    return;
  }
  const float x[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int i = 0; i < 4; i++)
    if (i < here) to[i] = x[i];
}

__device__ __forceinline__ float4 times(float a, float4 v)
{
  return make_float4(a * v.x, a * v.y, a * v.z, a * v.w);
}

// By way of shared memory, where the tile stands as it does in C.
template <class T>
__device__ __forceinline__ void store_tile(float *shared, const destination &c, int row, int column,
                                           float alpha, const place<T> &at,
                                           const float (&sum)[T::own_rows][T::own_columns])
{
  const int lines = c.by_rows ? T::rows : T::columns, across = c.by_rows ? T::columns : T::rows;
  const int line = c.by_rows ? row : column, first = c.by_rows ? column : row, pitch = across + 4;
#pragma unroll
  for (int i = 0; i < T::own_rows; i++)
#pragma unroll
    for (int j = 0; j < T::own_columns; j++) {
      const int y = T::left::line(at.down, i), x = T::right::line(at.across, j);
      shared[c.by_rows ? y * pitch + x : x * pitch + y] = sum[i][j];
    }
  __syncthreads();
  for (int q = threadIdx.x; q < lines * across / 4; q += T::threads) {
    const int y = q / (across / 4), x = q % (across / 4) * 4;
    if (line + y >= c.lines || first + x >= c.across) continue;
    const float4 v = *reinterpret_cast<const float4 *>(shared + y * pitch + x);
    store_four(c.values + (line + y) * c.pitch + first + x, c.across - (first + x),
               times(alpha, v));
  }
}

template <class T>
__global__ void __launch_bounds__(T::threads) spmm_dense_fma(const __grid_constant__ arguments p)
{
  extern __shared__ __align__(16) float shared_floats[];
  wait_for_previous();
  let_next_in();
  const int part = blockIdx.x % p.parts, number = blockIdx.x / p.parts;
  const int row = number / p.tiles_across * T::rows, column = number % p.tiles_across * T::columns;
  const int64_t steps = (p.d.depth + T::depth - 1) / T::depth;
  const place<T> at;
  float sum[T::own_rows][T::own_columns] = {};
  accumulate<T>(shared_floats, p, row, column, (int)(steps * part / p.parts),
                (int)(steps * (part + 1) / p.parts), at, sum);
  destination out = p.out;
  out.values += part * p.part_pitch;
  store_tile<T>(shared_floats, out, row, column, p.alpha.get(), at, sum);
}

constexpr int kJoining = 256; // threads

// C = alpha times the sum of the parts, which lie at `sums` as spmm_dense_fma() leaves them.
static __global__ void __launch_bounds__(kJoining)
    join_parts(const destination c, const float *__restrict__ sums, int64_t pitch,
               int64_t part_pitch, int parts, const scalar_arg<float> alpha)
{
  let_next_in();
  wait_for_previous();
  const int64_t q = ((int64_t)blockIdx.x * kJoining + threadIdx.x) * 4;
  if (q >= c.lines * pitch) return;
  const int line = (int)(q / pitch), first = (int)(q % pitch);
  float4 sum = {};
#pragma unroll 8
  for (int part = 0; part < parts; part++) {
    const float4 v = *reinterpret_cast<const float4 *>(sums + part * part_pitch + q);
    sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
  }
  store_four(c.values + line * c.pitch + first, c.across - first, times(alpha.get(), sum));
}

} // namespace fma
} // namespace dense
} // namespace shunt
