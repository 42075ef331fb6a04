// vector_csr_spmm.cuh: what vector_csr_spmm_*.cuh share: the kernel
// itself, the row-by-row path for groups that differ, and the store of C.
//
//   C[m x n] = alpha A[m x k] B[k x n] + beta C,   A in CSR, read in place
//
// The rows of A in aligned groups of 8; level[g] (from classify_groups, same
// stream) says how much of group g shares its column lists:
//
//     level 8        level 4          level 2          level 1
//     row 0..7       rows 0..3        rows 0,1         each row its own
//     one list       rows 4..7        2,3  4,5  6,7
//                    a list each      a list each
//
// A warp takes one group (or one slice of its list) and Tile columns of B and C:
//
//               columns of C
//              | Tile | Tile | Tile |            block x: kWarps / slices groups
//     group 0  |  w   |      |      |            block y: a tile of columns
//     group 1  |  w   |      |      |            warp:    group x slice
//
// An engine multiplies one list of up to 8 rows and leaves the products, f32, as an
// image in the warp's shared memory; slices of one list are added in order (so the
// bits never vary) as the image is stored.  Rows of the image that are not in the
// list hold rubbish and are not stored.
//
// Nothing of B is touched but the rows that the list names, and an entry that only
// pads a list counts as 0 times 0: a NaN in another row of B cannot leak.
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/common/allow_shared.h"
#include "kernels/common/early_launch.cuh"
#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/common/store_run.cuh"
#include "kernels/ptx/ldst.cuh"
#include "kernels/vector/vector_kernels.h"

namespace shunt
{
namespace vector::csr
{

constexpr int kGroup = 8; // rows that one mma.m16n8k16 takes as its 8-wide side

struct matrix { // A
  const char *row_offsets, *columns, *values;
  int index_bytes; // 4, or 8 (of which the low half is read: all fit)
  int base;
  int rows, groups; // groups = ceil(rows / 8)
};

// Sum: what is summed and scaled in, float or double.
template <class Sum> struct arguments_of : matrix {
  int n;
  const char *b; // row-major, rows and row_bytes aligned to 16, n padded to 16 bytes
  uint32_t b_row_bytes;
  void *c;
  int64_t c_row_stride, c_col_stride;
  bool c_wide; // row-major and aligned: stored by 16 bytes
  scalar_arg<Sum> alpha, beta;
  const uint8_t *levels;
  int log2_slices; // slices = parts that the list of a group is split into
  bool next_waits; // as in shunt_spmm
};
using arguments = arguments_of<float>;

// What products of a stored type are summed in.
template <class T> struct sum_of {
  using type = float;
};
template <> struct sum_of<double> {
  using type = double;
};

// The columns that the rows `first` .. `first + rows - 1` of a group share, and
// where their values are.
struct column_list {
  const char *columns; // of the first entry, in A's index array
  const char *values;  // of the first entry of the first row
  int length;          // entries; may be <= 0
  int pitch;           // from one row's entry to the next row's, in values
  int first, rows;
};

__device__ __forceinline__ uint32_t load_index(const char *indices, int64_t i, int bytes)
{
  return __ldg(reinterpret_cast<const uint32_t *>(indices + i * bytes));
}
__device__ __forceinline__ int row_start(const matrix &p, int row)
{
  return static_cast<int>(load_index(p.row_offsets, row, p.index_bytes)) - p.base;
}
// Column indices, base included, address B through this pointer.
template <class Sum> __device__ __forceinline__ const char *based_b(const arguments_of<Sum> &p)
{
  return p.b - static_cast<int64_t>(p.base) * p.b_row_bytes;
}

// ---- C ------------------------------------------------------------------------

// C(row, column + i) = alpha v[i] + beta C(row, column + i), i < Count, i < n - column.
template <class Out, int Count, class Sum>
__device__ __forceinline__ void store_run(const arguments_of<Sum> &p, Sum alpha, Sum beta, int row,
                                          int column, const Sum (&v)[Count])
{
  Out *c = static_cast<Out *>(p.c) + row * p.c_row_stride + column * p.c_col_stride;
  shunt::store_run<16 / sizeof(Out)>(c, p.c_col_stride, p.n - column, p.c_wide, alpha, beta, v);
}

// Image of 8 x Tile products; the pitch keeps rows on different banks.
template <int Tile, class Sum = float> struct image {
  static constexpr int kPitch = Tile + 16 / static_cast<int>(sizeof(Sum));
  static constexpr int kBytes = kGroup * kPitch * static_cast<int>(sizeof(Sum));
};

// Sums the images of all slices of a group, in order, and stores rows `first` ..
// `first + rows - 1` of the group.  Called by all its warps.
template <class Engine, class Out, class Sum>
__device__ __forceinline__ void store_images(const arguments_of<Sum> &p,
                                             const unsigned char *images, int slice, int group,
                                             int first, int rows, int column0)
{
  constexpr int kTile = Engine::kTile, kPitch = image<kTile, Sum>::kPitch;
  constexpr int kWide = 16 / sizeof(Out), kRuns = kTile / kWide, kPiece = 16 / sizeof(Sum);
  const int slices = 1 << p.log2_slices;
  const int start = slice * 32 + threadIdx.x % 32, stride = slices * 32;
  const Sum alpha = p.alpha.get(), beta = p.beta.get();
  const int row0 = group * kGroup;

  if (p.c_wide) {
    for (int i = start; i < rows * kRuns; i += stride) {
      const int row = first + i / kRuns, column = i % kRuns * kWide;
      Sum v[kWide] = {};
      for (int s = 0; s < slices; s++) {
        const Sum *from =
            reinterpret_cast<const Sum *>(images + s * Engine::kBytes) + row * kPitch + column;
#pragma unroll
        for (int j = 0; j < kWide; j += kPiece) {
          const vec<Sum, kPiece> x = *reinterpret_cast<const vec<Sum, kPiece> *>(from + j);
#pragma unroll
          for (int i = 0; i < kPiece; i++) v[j + i] += x.at[i];
        }
      }
      if (column0 + column < p.n) store_run<Out>(p, alpha, beta, row0 + row, column0 + column, v);
    }
    return;
  }
  // Neighbouring lanes on neighbouring elements, whichever way C runs.
  for (int i = start; i < rows * kTile; i += stride) {
    const int row = first + (p.c_row_stride == 1 ? i % rows : i / kTile);
    const int column = p.c_row_stride == 1 ? i / rows : i % kTile;
    Sum v[1] = {};
    for (int s = 0; s < slices; s++)
      v[0] += reinterpret_cast<const Sum *>(images + s * Engine::kBytes)[row * kPitch + column];
    if (column0 + column < p.n) store_run<Out>(p, alpha, beta, row0 + row, column0 + column, v);
  }
}

// The warps of one group wait for each other.  Barrier numbers are constants: with a
// computed one ptxas would reserve all 16 for each block.
template <class Engine, class Sum>
__device__ __forceinline__ void group_barrier(const arguments_of<Sum> &p)
{
  if (p.log2_slices == 0) {
    __syncwarp();
    return;
  }
  const int group = threadIdx.x >> (5 + p.log2_slices), threads = 32 << p.log2_slices;
#pragma unroll
  for (int i = 0; i < Engine::kWarps / 2; i++)
    if (group == i) __barrier_sync_count(1 + i, threads);
}

// ---- a group whose rows have different columns ----------------------------------

// One row by one warp.  A row of B's tile is kLanes 16-byte pieces; the lanes beyond
// them take the next entries, and their sums are added at the end:
//
//     lane       0 .. kLanes-1 | kLanes .. 2 kLanes-1 | ...
//     entry           e        |         e + 1        | ...
template <class T, class Out, int Tile, class Sum>
__device__ __forceinline__ void multiply_row(const arguments_of<Sum> &p, int row, int column0)
{
  constexpr int kWide = 16 / sizeof(T), kLanes = Tile / kWide, kParts = 32 / kLanes, kUnroll = 4;
  constexpr unsigned kAll = 0xffffffffu;
  const int lane = threadIdx.x % 32, part = lane / kLanes;
  const int column = column0 + lane % kLanes * kWide;
  const bool inside = column < p.n;
  const char *b = based_b(p) + static_cast<int64_t>(column) * sizeof(T);
  const int start = row_start(p, row), length = row_start(p, row + 1) - start;
  Sum sum[kWide] = {};

  for (int e0 = 0; e0 < length; e0 += 32) {
    const int count = min(32, length - e0);
    uint32_t my_index = 0;
    Sum my_value = 0;
    if (lane < count) {
      const int64_t at = static_cast<int64_t>(start) + e0 + lane;
      my_index = load_index(p.columns, at, p.index_bytes);
      my_value = widen<Sum>(__ldg(reinterpret_cast<const T *>(p.values) + at));
    }
    for (int e = 0; e < count; e += kParts * kUnroll) {
      vec<T, kWide> x[kUnroll];
      Sum value[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; u++) {
        const int from = (e + u * kParts + part) & 31;
        const uint32_t index = __shfl_sync(kAll, my_index, from);
        value[u] = __shfl_sync(kAll, my_value, from);
        uint4 bits = make_uint4(0, 0, 0, 0);
        if (inside && e + u * kParts + part < count)
          bits = __ldg(
              reinterpret_cast<const uint4 *>(b + static_cast<uint64_t>(index) * p.b_row_bytes));
        else
          value[u] = 0;
        x[u] = *reinterpret_cast<vec<T, kWide> *>(&bits);
      }
#pragma unroll
      for (int u = 0; u < kUnroll; u++)
#pragma unroll
        for (int j = 0; j < kWide; j++)
          sum[j] = multiply_add(value[u], widen<Sum>(x[u].at[j]), sum[j]);
    }
  }
#pragma unroll
  for (int other = kLanes; other < 32; other *= 2)
#pragma unroll
    for (int j = 0; j < kWide; j++) sum[j] += __shfl_xor_sync(kAll, sum[j], other);
  if (part == 0 && inside) store_run<Out>(p, p.alpha.get(), p.beta.get(), row, column, sum);
}

// ---- the kernel -----------------------------------------------------------------
//
// Groups whose rows have equal lengths are multiplied at once as if level 8 held, and
// levels[] is read only before the products are stored: so on sm_90 and newer the
// kernel starts while classify_groups is still comparing (programmatic dependent
// launch) and the two overlap.  A group that turns out to differ is multiplied
// again, as its level says; C was not touched.

// The part of the list of rows `first` .. that falls to a slice: whole steps of 16.
template <class T, class Sum>
__device__ __forceinline__ column_list slice_list(const arguments_of<Sum> &p, int start, int length,
                                                  int first, int rows, int slice)
{
  const int64_t steps = (static_cast<int64_t>(length) + 15) / 16;
  const int begin = static_cast<int>(steps * slice >> p.log2_slices) * 16;
  const int end = static_cast<int>(
      min(static_cast<int64_t>(length), (steps * (slice + 1) >> p.log2_slices) * 16));
  const int64_t at = static_cast<int64_t>(start) + begin;
  column_list l;
  l.columns = p.columns + at * p.index_bytes;
  l.values = p.values + at * static_cast<int64_t>(sizeof(T));
  l.length = end - begin;
  l.pitch = length;
  l.first = first;
  l.rows = rows;
  return l;
}

// Waits for classify_groups (where this kernel was allowed to start before its end).
template <class Sum>
__device__ __forceinline__ int wait_for_level(const arguments_of<Sum> &p, int group)
{
  wait_for_previous();
  return __ldcg(reinterpret_cast<const unsigned char *>(p.levels) + group);
}

template <class Engine, class Out>
__global__ void __launch_bounds__(Engine::kWarps * 32, Engine::kBlocks)
    spmm_vector_kernel(const arguments_of<typename Engine::sum> p)
{
  using T = typename Engine::value;
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr unsigned kAll = 0xffffffffu;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, slices = 1 << p.log2_slices;
  const int slice = warp & (slices - 1);
  const int group = blockIdx.x * (Engine::kWarps >> p.log2_slices) + (warp >> p.log2_slices);
  if (group >= p.groups) return;

  const int column0 = blockIdx.y * Engine::kTile, row0 = group * kGroup;
  const int present = min(kGroup, p.rows - row0);
  unsigned char *images = shared + (warp - slice) * Engine::kBytes;

  const int my_start = row_start(p, row0 + min(lane, present));
  const int my_length = __shfl_down_sync(kAll, my_start, 1) - my_start; // of row `lane`
  const int first_length = __shfl_sync(kAll, my_length, 0);
  const bool same_lengths = __all_sync(kAll, lane >= present || my_length == first_length);
  int level = same_lengths ? kGroup : wait_for_level(p, group);
  bool sure = !same_lengths;

  for (int first = 0; level > 1 && first < present;) {
    const int rows = min(level, present - first);
    const int start = __shfl_sync(kAll, my_start, first);
    const int length = __shfl_sync(kAll, my_length, first);
    Engine::multiply(p, slice_list<T>(p, start, length, first, rows, slice), column0,
                     images + slice * Engine::kBytes);
    if (!sure) {
      sure = true;
      level = wait_for_level(p, group);
      __syncwarp();
      if (level != kGroup) continue;
    }
    group_barrier<Engine>(p);
    store_images<Engine, Out>(p, images, slice, group, first, rows, column0);
    group_barrier<Engine>(p);
    first += level;
  }
  if (level == 1)
    for (int r = slice; r < present; r += slices)
      multiply_row<T, Out, Engine::kTile>(p, row0 + r, column0);
}

template <class Engine, class Out>
inline cudaError_t launch(const arguments_of<typename Engine::sum> &p, int compute_capability,
                          cudaStream_t stream)
{
  constexpr auto kernel = &spmm_vector_kernel<Engine, Out>;
  const int groups_a_block = Engine::kWarps >> p.log2_slices;
  constexpr int shared = Engine::kWarps * Engine::kBytes;

  if (shared > 48 * 1024) {
    const cudaError_t e = allow_shared<kernel>(shared);
    if (e != cudaSuccess) return e;
  }
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3((p.groups + groups_a_block - 1) / groups_a_block,
                        (p.n + Engine::kTile - 1) / Engine::kTile);
  config.blockDim = dim3(Engine::kWarps * 32);
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = can_launch_early(compute_capability) ? 1 : 0;
  void *parameters[] = {const_cast<arguments_of<typename Engine::sum> *>(&p)};
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel), parameters);
}

// One file per stored type; `tile` is 64 or 128, `out` the type of C.
cudaError_t launch_f16(const arguments &p, int tile, shunt_type out, int compute_capability,
                       cudaStream_t stream);
cudaError_t launch_bf16(const arguments &p, int tile, shunt_type out, int compute_capability,
                        cudaStream_t stream);
// Small products (vector_csr_spmm_single_launch.cuh).
cudaError_t launch_once_f16(const arguments &p, const shunt_vector_single_launch &how,
                            shunt_type out, int compute_capability, cudaStream_t stream);
cudaError_t launch_once_bf16(const arguments &p, const shunt_vector_single_launch &how,
                             shunt_type out, int compute_capability, cudaStream_t stream);
cudaError_t launch_f32(const arguments_of<float> &p, int tile, int compute_capability,
                       cudaStream_t stream);
cudaError_t launch_f64(const arguments_of<double> &p, int compute_capability, cudaStream_t stream);

} // namespace vector::csr
} // namespace shunt
