// dcsr_spmm_panel.cuh: what the B-stationary kernels share: panels of B's columns, a strip of B in
// shared memory, and a segment of A times it.
//
//   panel   up to 256 bytes of a row of B, V = 16 / sizeof(T) columns a lane, 1 << lanes_log2
//           lanes: a group.  B, P (the sums of segments) and C are taken panel by panel.
//   tile    the rows of B that belong to a strip, columns of the panel, zeros beyond B's last:
//
//             columns    |-- panel --|              tile[(k - first row) << lanes_log2 | lane]
//             row k      | V | V | V | ..           is V columns, 16 bytes
//
//   P       [segments][panel], the sums of a panel, in f32 where values have 2 bytes: the second
//           phase is C = alpha S P + beta C by the csr kernel (S: kernels/dcsr/dcsr_sums.cuh), or
//           by kernels/dcsr/dcsr_combine.cuh where C has 2 bytes
#pragma once
#include <cuda_runtime.h>
#include <stdint.h>

#include "kernels/common/number.cuh"
#include "kernels/csr/csr_kernels.h"
#include "kernels/dcsr/dcsr_kernels.h"
#include "kernels/ptx/cp_async_word.cuh"
#include "kernels/ptx/ldst.cuh"

namespace shunt
{
namespace dcsr
{

constexpr int kMostLanesLog2 = 4; // 256 bytes
constexpr unsigned kAll = ~0u;

// T: of B, and of A's values.
template <class T> constexpr int kColumns = 16 / static_cast<int>(sizeof(T)); // of a lane
template <class T> using lane_columns = vec<T, kColumns<T>>;
template <class T> struct summed_in {
  using type = float;
};
template <> struct summed_in<double> {
  using type = double;
};
template <class T> using sum_of = typename summed_in<T>::type;
template <class T> using lane_sums = vec<sum_of<T>, kColumns<T>>;

// The least g in [0, count] from which on reached(g) holds; all lanes of the warp together.
template <class F> __device__ __forceinline__ int64_t warp_search(int64_t count, F reached)
{
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t step = (high - low + 31) / 32, mine = low + (threadIdx.x % 32 + 1) * step - 1;
    const unsigned there = __ballot_sync(kAll, mine >= high || reached(mine));
    if (!there) return high;
    const int first = __ffs(there) - 1;
    const int64_t last = low + (first + 1) * step - 1;
    low += first * step;
    high = last < high ? last : high;
  }
  return low;
}

// Some columns of B, from `values`.
template <class T> struct b_panel {
  const T *values;
  int64_t rows, row_stride, col_stride;
  int columns, lanes_log2; // those that B has; of the group
  bool wide;               // rows may be read 16 bytes at a time

  __host__ __device__ int width() const { return kColumns<T> << lanes_log2; }
};

// Columns of C from `first` on: as many as a panel takes.  Its lanes are those of the widest, so
// that P's rows are the same in all panels.
template <class T> inline b_panel<T> panel_of(const struct shunt_spmm *p, int64_t first)
{
  b_panel<T> b = {};
  while (b.lanes_log2 < kMostLanesLog2 && b.width() < p->b.cols) b.lanes_log2++;
  const int64_t left = p->b.cols - first;
  b.values = static_cast<const T *>(p->b.values) + first * p->b.col_stride;
  b.rows = p->b.rows;
  b.row_stride = p->b.row_stride, b.col_stride = p->b.col_stride;
  b.columns = static_cast<int>(left < b.width() ? left : b.width());
  b.wide = (b.col_stride == 1 || p->b.cols == 1) &&
           reinterpret_cast<uintptr_t>(b.values) % 16 == 0 &&
           b.row_stride * static_cast<int64_t>(sizeof(T)) % 16 == 0;
  return b;
}

// The panel's columns, for sizes alone; and the bytes of a row of P.
inline int panel_width(const struct shunt_spmm *p)
{
  switch (shunt_type_size(p->b.type)) {
  case 2: return panel_of<__half>(p, 0).width();
  case 4: return panel_of<float>(p, 0).width();
  default: return panel_of<double>(p, 0).width();
  }
}
inline size_t partial_row_bytes(const struct shunt_spmm *p)
{
  return static_cast<size_t>(panel_width(p)) * shunt_type_size(p->compute);
}

// One element to shared memory, zero unless `there`; cp.async has no words of 2 bytes.
template <class T> __device__ __forceinline__ void fetch(T *to, const T *from, bool there)
{
  if constexpr (sizeof(T) >= 4)
    ptx::cp_async_word<sizeof(T)>(ptx::shared_address(to), from, there);
  else
    *to = there ? *from : T();
}

// `height` rows of B from `first` on, by `threads` threads: cp.async, not committed, and stores.
template <class T>
__device__ __forceinline__ void load_tile(const b_panel<T> &b, int64_t first, int height,
                                          lane_columns<T> *tile, int thread, int threads)
{
  const T *from = b.values + first * b.row_stride;
  if (b.rows - first < height) height = static_cast<int>(b.rows - first);
  if (b.wide) {
    for (int i = thread; i < height << b.lanes_log2; i += threads) {
      const int row = i >> b.lanes_log2, column = (i - (row << b.lanes_log2)) * kColumns<T>;
      const int there = min(kColumns<T>, b.columns - column) * static_cast<int>(sizeof(T));
      ptx::cp_async_16(ptx::shared_address(tile + i),
                       there > 0 ? from + row * b.row_stride + column : b.values,
                       there > 0 ? there : 0);
    }
    return;
  }
  // One element at a time, neighbouring threads along what lies together in memory.
  const bool by_row = b.col_stride == 1;
  const int width = b.width(), fast = by_row ? width : height;
  for (int i = thread; i < height * width; i += threads) {
    const int slow = i / fast, row = by_row ? slow : i - slow * fast;
    const int column = by_row ? i - slow * fast : slow;
    const bool there = column < b.columns;
    fetch(reinterpret_cast<T *>(tile) + row * width + column,
          there ? from + row * b.row_stride + column * b.col_stride : b.values, there);
  }
}

template <class T>
__device__ __forceinline__ void add_row(lane_sums<T> &sum, T value, const lane_columns<T> &b)
{
  const sum_of<T> v = widen<sum_of<T>>(value);
#pragma unroll
  for (int e = 0; e < kColumns<T>; e++)
    sum.at[e] = multiply_add(v, widen<sum_of<T>>(b.at[e]), sum.at[e]);
}

// The second phase: columns [first, first + P's) of C = alpha S P + beta C, of the type that is
// summed in.
inline shunt_status add_segments(const struct shunt_spmm *p, const struct shunt_dcsr_sums *sums,
                                 void *partial, int width, int columns, int64_t first,
                                 const struct shunt_device *device, shunt_stream stream)
{
  struct shunt_spmm q = *p;
  q.a = {sums->rows, sums->room,       sums->room, sums->offsets, sums->segments, sums->ones,
         SHUNT_I32,  sums->value_type, 0};
  q.b = {sums->room, columns, width, 1, partial, sums->value_type};
  q.c.cols = columns;
  q.c.values = static_cast<char *>(p->c.values) +
               first * p->c.col_stride * static_cast<int64_t>(shunt_type_size(p->c.type));
  return shunt_csr_spmm_split_cuda(&q, -1, device, nullptr, 0, stream);
}

// What all products take.
inline shunt_status check_shape(const struct shunt_spmm *p)
{
  if (p->a.rows < 0 || p->a.cols < 0 || p->a.nnz < 0 || p->b.cols < 0) return SHUNT_E_ARGUMENT;
  if (p->b.rows != p->a.cols || p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  if (p->b.col_stride != 1 && p->b.row_stride != 1) return SHUNT_E_ARGUMENT;
  return p->b.cols > INT32_MAX / 2 ? SHUNT_E_UNSUPPORTED : SHUNT_OK;
}

// Values of 2 bytes are summed in f32.
inline bool has_types(const struct shunt_spmm *p)
{
  const shunt_type t = p->a.value_type, c = p->c.type, sum = shunt_dcsr_sum_type(t);
  if (t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32 && t != SHUNT_F64) return false;
  return p->b.type == t && p->compute == sum && (c == t || c == sum);
}

} // namespace dcsr
} // namespace shunt
