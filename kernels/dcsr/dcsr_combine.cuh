// dcsr_combine.cuh: C = alpha S P + beta C for sums of segments in f32 and C of 2 bytes, rounded
// once: the second phase of the stored strips of such types.
//
//   S        the list of row i's segments (kernels/dcsr/dcsr_sums.cuh); its ones are not read
//   P        [segments][panel], f32, zeros beyond C's last column
//   group    panel / 4 threads: 16 bytes of P each
//
//   a row's list goes to            group k of g takes segments k, k + g, ..; halves are then
//                                   added to halves.  The order is fixed by the sizes.
//     a team of 1, 2, 4 .. groups   as the mean list is long and rows are few
//     its warp                      more than kOfTeam segments a group of the team
//     its block                     more than kOfWarp segments a group of the warp
//
// Bytes: 4 (segments x (panel + 1) + rows) read, mostly from L2, and C.
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/dcsr/dcsr_spmm_panel.cuh"

namespace shunt
{
namespace dcsr
{
namespace
{

constexpr int kCombineThreads = 256;
constexpr int kOfTeam = 16, kOfWarp = 128;
constexpr int kAtOnce = 4; // segments that a group loads at once

using four_sums = vec<float, 4>;

template <class Out> struct combine_job {
  const int32_t *offsets, *segments;
  const four_sums *partial; // [segments][1 << group_log2]
  Out *c;
  int64_t rows, row_stride, col_stride;
  int columns;               // of C
  int group_log2, team_log2; // threads of a group, of a team
  bool wide;                 // C may be read and written 4 elements at a time
  scalar_arg<float> alpha, beta;
};

__device__ __forceinline__ void add_four(four_sums &sum, const four_sums &x)
{
#pragma unroll
  for (int e = 0; e < 4; e++) sum.at[e] += x.at[e];
}

struct some_segments {
  int at[kAtOnce]; // -1: none
};

template <class Out>
__device__ __forceinline__ some_segments load_segments(const combine_job<Out> &j, int q, int end,
                                                       int step)
{
  some_segments g;
#pragma unroll
  for (int u = 0; u < kAtOnce; u++) g.at[u] = q + u * step < end ? j.segments[q + u * step] : -1;
  return g;
}

// The sum of segments begin, begin + step, .. below end, by the thread of this column.
template <class Out>
__device__ __forceinline__ four_sums add_list(const combine_job<Out> &j, int begin, int end,
                                              int step, int column)
{
  four_sums sum = {};
  some_segments g = load_segments(j, begin, end, step);
  for (int q = begin; q < end; q += kAtOnce * step) {
    four_sums x[kAtOnce] = {};
#pragma unroll
    for (int u = 0; u < kAtOnce; u++)
      if (g.at[u] >= 0) x[u] = j.partial[(static_cast<int64_t>(g.at[u]) << j.group_log2) + column];
    g = load_segments(j, q + kAtOnce * step, end, step);
#pragma unroll
    for (int u = 0; u < kAtOnce; u++) add_four(sum, x[u]);
  }
  return sum;
}

// Over the groups of 1 << threads_log2 neighbouring threads of the warp, all of which come here.
template <class Out>
__device__ __forceinline__ void add_groups(const combine_job<Out> &j, int threads_log2,
                                           four_sums &sum)
{
  for (int apart = 1 << threads_log2 >> 1; apart >= 1 << j.group_log2; apart /= 2) {
    four_sums other;
#pragma unroll
    for (int e = 0; e < 4; e++) other.at[e] = __shfl_xor_sync(kAll, sum.at[e], apart);
    add_four(sum, other);
  }
}

template <class Out>
__device__ __forceinline__ void store(const combine_job<Out> &j, int64_t row, int column,
                                      const four_sums &sum)
{
  const float alpha = j.alpha.get(), beta = j.beta.get();
  const auto of = [&](float s, Out was) {
    const float x = scale(alpha, s);
    return narrow<Out>(beta != 0 ? multiply_add(beta, widen<float>(was), x) : x);
  };
  Out *c = j.c + row * j.row_stride + 4 * column * j.col_stride;
  const int there = j.columns - 4 * column;
  if (j.wide && there >= 4) {
    vec<Out, 4> *at = reinterpret_cast<vec<Out, 4> *>(c), out = {};
    if (beta != 0) out = *at;
#pragma unroll
    for (int e = 0; e < 4; e++) out.at[e] = of(sum.at[e], out.at[e]);
    *at = out;
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; e++)
    if (e < there) c[e * j.col_stride] = of(sum.at[e], beta != 0 ? c[e * j.col_stride] : Out(0.f));
}

// Rows of which each team has one or none, [begin, end), one after the other by the whole warp.
template <class Out>
__device__ __forceinline__ void combine_by_warp(const combine_job<Out> &j, int64_t row, int begin,
                                                int end, bool wanted)
{
  const int lane = threadIdx.x % 32, column = lane & ((1 << j.group_log2) - 1);
  const bool first_of_team = (lane & ((1 << j.team_log2) - 1)) == 0;
  for (unsigned left = __ballot_sync(kAll, wanted && first_of_team); left; left &= left - 1) {
    const int from = __ffs(left) - 1;
    const int first = __shfl_sync(kAll, begin, from), last = __shfl_sync(kAll, end, from);
    four_sums sum = add_list(j, first + (lane >> j.group_log2), last, 32 >> j.group_log2, column);
    add_groups(j, 5, sum);
    if (lane == column) // of the first team
      store(j, row + (from >> j.team_log2), column, sum);
  }
}

template <class Out>
__device__ __forceinline__ void combine_by_block(const combine_job<Out> &j, int64_t row,
                                                 four_sums *sums)
{
  const int groups = kCombineThreads >> j.group_log2;
  const int group = threadIdx.x >> j.group_log2;
  const int column = threadIdx.x & ((1 << j.group_log2) - 1);
  four_sums sum = add_list(j, j.offsets[row] + group, j.offsets[row + 1], groups, column);
  for (int half = groups / 2; half > 0; half /= 2) {
    sums[threadIdx.x] = sum;
    __syncthreads();
    if (group < half) add_four(sum, sums[threadIdx.x + (half << j.group_log2)]);
    __syncthreads();
  }
  if (group == 0) store(j, row, column, sum);
}

template <class Out>
__global__ void __launch_bounds__(kCombineThreads)
    dcsr_combine(const __grid_constant__ combine_job<Out> j)
{
  __shared__ four_sums sums[kCombineThreads];
  wait_for_previous();
  const int teams = kCombineThreads >> j.team_log2;
  const int in_team = threadIdx.x & ((1 << j.team_log2) - 1);
  const int column = in_team & ((1 << j.group_log2) - 1);
  const int team_groups = 1 << (j.team_log2 - j.group_log2), most = kOfWarp << (5 - j.group_log2);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * teams;
  const int64_t row = first + (threadIdx.x >> j.team_log2);
  int begin = 0, end = 0;
  if (row < j.rows) begin = j.offsets[row], end = j.offsets[row + 1];
  const int count = end - begin;
  const bool alone = count <= kOfTeam * team_groups && count <= most;

  four_sums sum =
      add_list(j, begin + (in_team >> j.group_log2), alone ? end : begin, team_groups, column);
  add_groups(j, j.team_log2, sum);
  if (row < j.rows && alone && in_team == column) store(j, row, column, sum);
  combine_by_warp(j, row, begin, end, !alone && count <= most);
  if (!__syncthreads_or(count > most)) return;
  for (int64_t r = first; r < first + teams && r < j.rows; r++)
    if (j.offsets[r + 1] - j.offsets[r] > most) combine_by_block(j, r, sums);
}

// Groups of a team: so many that the mean row's list is loaded at once, and that the device has
// threads enough.
inline int choose_team(int group_log2, const struct shunt_dcsr_sums *sums,
                       const struct shunt_device *device)
{
  constexpr int64_t kThreadsOfProcessor = 1024;
  const int64_t threads = device->multiprocessors * kThreadsOfProcessor;
  int log2 = group_log2;
  while (log2 < 5 && (sums->room > (sums->rows * kAtOnce << (log2 - group_log2)) ||
                      sums->rows << log2 < threads))
    log2++;
  return log2;
}

template <class Out>
shunt_status launch_combine(const struct shunt_spmm *p, const struct shunt_dcsr_sums *sums,
                            const void *partial, int width, int columns, int64_t first,
                            const struct shunt_device *device, shunt_stream stream)
{
  combine_job<Out> j = {};
  j.offsets = sums->offsets, j.segments = sums->segments;
  j.partial = static_cast<const four_sums *>(partial);
  j.c = static_cast<Out *>(p->c.values) + first * p->c.col_stride;
  j.rows = p->c.rows, j.row_stride = p->c.row_stride, j.col_stride = p->c.col_stride;
  j.columns = columns;
  while (4 << j.group_log2 < width) j.group_log2++;
  j.team_log2 = choose_team(j.group_log2, sums, device);
  j.wide = p->c.col_stride == 1 && p->c.row_stride % 4 == 0 &&
           reinterpret_cast<uintptr_t>(j.c) % (4 * sizeof(Out)) == 0;
  j.alpha = make_scalar_arg<float>(p->alpha);
  j.beta = make_scalar_arg<float>(p->beta);
  const int64_t teams = kCombineThreads >> j.team_log2;
  const unsigned blocks = static_cast<unsigned>((p->c.rows + teams - 1) / teams);
  return launch_early(dcsr_combine<Out>, dim3(blocks), dim3(kCombineThreads), device, stream, j);
}

// Columns [first, first + columns) of C, f16 or bf16; P's rows have `width`.
inline shunt_status combine(const struct shunt_spmm *p, const struct shunt_dcsr_sums *sums,
                            const void *partial, int width, int columns, int64_t first,
                            const struct shunt_device *device, shunt_stream stream)
{
  if (p->c.type == SHUNT_F16)
    return launch_combine<__half>(p, sums, partial, width, columns, first, device, stream);
  return launch_combine<__nv_bfloat16>(p, sums, partial, width, columns, first, device, stream);
}

} // namespace
} // namespace dcsr
} // namespace shunt
