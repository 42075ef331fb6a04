// csr_spmm_launch.cuh: host side of the csr kernels, for one stored type.
#pragma once
#include <cuda_runtime.h>

#include <type_traits>

#include "kernels/csr/csr_spmm_merge.cuh"
#include "kernels/csr/csr_spmm_merge_join.cuh"
#include "kernels/csr/split/csr_spmm_split.cuh"
#include "kernels/csr/split/csr_spmm_split_blocks.cuh"
#include "kernels/csr/split/csr_spmm_split_choice.cuh"
#include "kernels/csr/split/csr_spmm_split_unstaged.cuh"
#include "kernels/csr/split/csr_spmm_split_words.cuh"
#include "kernels/guard/row_by_row.cuh"

namespace shunt
{
namespace csr
{

inline bool aligned(const void *pointer, size_t bytes)
{
  return reinterpret_cast<uintptr_t>(pointer) % bytes == 0;
}

template <class T> args<T> make_args(const shunt_spmm *p, const layout &how, void *workspace)
{
  char *w = static_cast<char *>(workspace);
  args<T> a = {};
  static_cast<csr_operands<T> &>(a) = make_csr_operands<T>(p);
  if (how.copies_b) a.b = w + how.b_at;
  a.b_row_stride = how.direct ? p->b.row_stride : how.b_stride;
  a.b_col_stride = how.direct ? p->b.col_stride : 1;
  a.tile = how.tile;
  a.pitch = how.pitch;
  if (!how.direct && !how.split) {
    a.cuts = reinterpret_cast<cut_row *>(w + how.cuts_at);
    a.heads = reinterpret_cast<T *>(w + how.heads_at);
    a.tails = reinterpret_cast<T *>(w + how.tails_at);
  }
  return a;
}

template <class S, class Out, class T>
shunt_status launch_guarded(const args<T> &a, const shunt_device *d, shunt_stream stream)
{
  int64_t strips = (a.n + 31) / 32, wanted = (a.rows * strips + 7) / 8;
  int64_t most = d->multiprocessors; // few blocks: mostly they have nothing to do
  if (!a.only_if) most *= 16;
  return launch_early(
      guard::spmm_row_by_row<S, Out, T>, dim3((unsigned)(wanted < most ? wanted : most)),
      dim3(guard::row_by_row_threads), d, stream, static_cast<const csr_operands<T> &>(a));
}

// The join starts while the tiles still run, where the device can do that.
template <class Out, class T>
shunt_status launch_join(const args<T> &a, int64_t tiles, const shunt_device *d,
                         shunt_stream stream)
{
  return launch_early(spmm_merge_join<Out, T>,
                      dim3((unsigned)((tiles + kJoinWarps - 1) / kJoinWarps)), dim3(kThreads), d,
                      stream, a, tiles);
}

template <class S, int V> constexpr bool has_ways = V * sizeof(S) == 16;
template <class S, class T, int V> constexpr bool has_lists = has_ways<S, V> && sizeof(T) <= 8;
template <class S, class T, int V>
constexpr bool has_unstaged = has_lists<S, T, V> && sizeof(S) > 1;

// Two words a lane are built for real numbers.
template <class S, class T, int V>
constexpr bool has_words = has_unstaged<S, T, V> &&std::is_floating_point<T>::value;

// The kernel for a shape; the ways of loads narrower than 16 bytes are not built, nor the plain one
// of sums in f32, which gains nothing.  alone: there are no long blocks.
template <class S, class Out, class T, int V>
auto split_kernel(const split_shape &shape, bool alone) -> void (*)(args<T>, split_args)
{
  if constexpr (sizeof(T) > 8) { // chunks of 8, and lists, do not fit in registers
    if (shape.whole && alone) return spmm_split<S, Out, T, V, 4, way::whole>;
    return spmm_split<S, Out, T, V, 4, way::any>;
  } else if constexpr (!has_ways<S, V>) {
    return spmm_split<S, Out, T, V, kChunk, way::any>;
  } else {
    if constexpr (has_unstaged<S, T, V>) {
      if (shape.row_warps)
        return shape.unstaged ? spmm_split_blocks<false, S, Out, T, V>
                              : spmm_split_blocks<true, S, Out, T, V>;
      if (shape.unstaged)
        return alone ? spmm_split_unstaged<false, S, Out, T, V>
                     : spmm_split_unstaged<true, S, Out, T, V>;
    }
    if constexpr (has_words<S, T, V>)
      if (shape.words == 2) return spmm_split_words<S, Out, T, V>;
    constexpr int kListChunk = sizeof(T) > 4 ? 4 : kChunk;
    if (shape.team_rows && alone) return spmm_split<S, Out, T, V, kListChunk, way::lists>;
    if (shape.team_rows) return spmm_split<S, Out, T, V, 4, way::mixed>;
    if (shape.whole && alone) return spmm_split<S, Out, T, V, kChunk, way::whole>;
    if constexpr (sizeof(S) == 4)
      if (shape.whole) return spmm_split<S, Out, T, V, kChunk, way::all_whole>;
    if (shape.chunk < kChunk) return spmm_split<S, Out, T, V, 4, way::any>;
    if constexpr (sizeof(T) > 4)
      if (alone && shape.threads <= kPlainThreads)
        return spmm_split<S, Out, T, V, kChunk, way::plain>;
    return spmm_split<S, Out, T, V, kChunk, way::any>;
  }
}

template <class S, class Out, class T, int V>
shunt_status launch_split(args<T> a, split_shape shape, const shunt_device *d, shunt_stream stream)
{
  if (!has_words<S, T, V> || shape.search || a.n % (2 * V << shape.lanes_log2)) shape.words = 1;
  if (shape.words == 2) shape.threads = kWordsThreads;
  const int64_t width = shape.words * V << shape.lanes_log2,
                long_width = V << shape.long_lanes_log2;
  const int64_t long_slices = (a.n + long_width - 1) / long_width;
  if (!has_lists<S, T, V>) shape.team_rows = 0;
  const int64_t rows_per_team = shape.team_rows ? shape.team_rows : 1;
  if (!has_unstaged<S, T, V>) shape.row_warps = 0;
  if (shape.row_warps) shape.threads = 32 * shape.row_warps, shape.search = false;
  const int64_t rows_per_block =
      shape.row_warps ? 1 : (shape.threads >> shape.team_log2) * rows_per_team;
  const int64_t windows =
      shape.search && a.nonzeros > shape.limit ? (a.nonzeros + shape.window - 1) / shape.window : 0;
  const int64_t row_blocks = (a.rows + rows_per_block - 1) / rows_per_block;
  const int64_t blocks = windows * long_slices + row_blocks * ((a.n + width - 1) / width);
  if (blocks > INT32_MAX || a.rows >= kMostNonzeros || a.nonzeros >= kMostNonzeros)
    return SHUNT_E_UNSUPPORTED;

  split_args s = {};
  s.lanes_log2 = shape.lanes_log2;
  s.team_log2 = shape.team_log2;
  s.long_lanes_log2 = shape.long_lanes_log2;
  s.limit = shape.limit;
  s.window = shape.window;
  s.long_blocks = (uint32_t)(windows * long_slices);
  s.long_slices = (uint32_t)long_slices;
  s.row_blocks = (uint32_t)row_blocks;
  s.team_rows = shape.team_rows;
  a.c_vector = a.c_col_stride == 1 && a.c_row_stride % V == 0 && aligned(a.c, V * sizeof(Out));
  const auto kernel = split_kernel<S, Out, T, V>(shape, windows == 0);
  return launch_early(kernel, dim3((unsigned)blocks), dim3(shape.threads), d, stream, a, s);
}

// A: the stored type of A's values, S of B's.
template <class A, class S, class Out, class T, int V>
shunt_status launch_merge(args<T> a, const layout &how, const shunt_device *d, shunt_stream stream)
{
  int lanes = kSegment / (V * (int)sizeof(S));
  int needed = (int)((a.n + V - 1) / V < 32 ? (a.n + V - 1) / V : 32);
  lanes = lanes < 32 ? lanes : 32;
  while (lanes / 2 >= needed) lanes /= 2;
  while (1 << a.lanes_log2 < lanes) a.lanes_log2++;
  int64_t passes = (a.n + lanes * V - 1) / (lanes * V);
  int64_t apart = (passes + how.passes_per_block - 1) / how.passes_per_block;
  if (apart > 65535) apart = 65535;
  a.passes = (int)passes;
  a.buffers = passes > apart ? 2 : 1;
  a.c_vector = a.c_col_stride == 1 && a.c_row_stride % V == 0 && aligned(a.c, V * sizeof(Out));

  int shared = place_shared(&a, V);
  dim3 grid((unsigned)how.tiles, (unsigned)apart);
  shunt_status status =
      launch_early_with(shared, spmm_merge<A, S, Out, T, V>, grid, dim3(kThreads), d, stream, a);
  // A single tile cuts nothing.
  if (status == SHUNT_OK && how.tiles > 1) status = launch_join<Out, T>(a, how.tiles, d, stream);
  return status;
}

template <class S, class Out, class T, int V>
shunt_status launch_tiled(args<T> a, const layout &how, const shunt_device *d, shunt_stream stream)
{
  if (!how.split) return launch_merge<S, S, Out, T, V>(a, how, d, stream);
  const split_matrix m = {a.rows, a.nonzeros, how.longest, how.layer, has_words<S, T, V>};
  return launch_split<S, Out, T, V>(a, choose_split(m, a.n, V, sizeof(S), d), d, stream);
}

// Whether B can be read V elements at a time.
template <class S, int V, class T> bool b_fits(const args<T> &a)
{
  return a.n % V == 0 && a.b_row_stride % V == 0 && aligned(a.b, V * sizeof(S));
}

// V: elements in 16 bytes of S (or less, where sums take more registers), the
// widest of the built V, HALF and 1 that fits is taken.
template <class S, class Out, class T, int V, int HALF>
shunt_status launch(const shunt_spmm *p, const shunt_device *d, const layout &how, void *workspace,
                    shunt_stream stream)
{
  args<T> a = make_args<T>(p, how, workspace);
  if (how.direct) return launch_guarded<S, Out, T>(a, d, stream);
  a.b_row_bytes = (uint32_t)(a.b_row_stride * sizeof(S));
  if (b_fits<S, V>(a)) return launch_tiled<S, Out, T, V>(a, how, d, stream);
  if (b_fits<S, HALF>(a)) return launch_tiled<S, Out, T, HALF>(a, how, d, stream);
  return launch_tiled<S, Out, T, 1>(a, how, d, stream);
}

} // namespace csr
} // namespace shunt
