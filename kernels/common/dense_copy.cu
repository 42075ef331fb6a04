// dense_copy.cu: to = from, element by element, between two layouts of one
// matrix.  Elements are moved as bits: only their size counts.
//
// Layouts agree (both row-major or both column-major): runs of contiguous
// elements are copied with the widest loads that pointers and strides allow.
//
//     from  |---- length ----|pad|---- length ----|pad|...     from_step apart
//     to    |---- length ----|---- length ----|...             to_step apart
//
// Layouts differ: tiles of TILE x TILE elements turn around in shared memory, so
// that reads and writes both run along memory.
//
//     from, contiguous in c          shared               to, contiguous in r
//     r  +-----------+               +-----------+pad     c  +-----------+
//     |  | -> -> ->  |  rows in      | | | |     |        |  | -> -> ->  |
//     v  | -> -> ->  |  --------->   | v v v     | ---->  v  | -> -> ->  |
//        +-----------+               +-----------+ columns   +-----------+
//
// Roofline: bytes read plus written at copy bandwidth.
#include <cuda_runtime.h>

#include "kernels/common/dense_copy.h"
#include "kernels/common/early_launch.cuh"
#include "kernels/common/number.cuh"

namespace shunt
{
namespace
{

constexpr int THREADS = 256;

// One straight copy: `runs` runs of `length` elements, the last one shorter.
struct run_list {
  int64_t runs, length, last_length;
  int64_t from_step, to_step;
};

template <class T, int V>
__global__ void __launch_bounds__(THREADS)
    copy_runs_kernel(const T *__restrict__ from, T *__restrict__ to, run_list list)
{
  wait_for_previous();
  int64_t first = (int64_t)blockIdx.x * blockDim.y + threadIdx.y;
  int64_t stride = (int64_t)gridDim.x * blockDim.y;

  for (int64_t run = first; run < list.runs; run += stride) {
    const T *source = from + run * list.from_step;
    T *target = to + run * list.to_step;
    int64_t length = run == list.runs - 1 ? list.last_length : list.length;
    int64_t whole = length / V * V;
    for (int64_t i = (int64_t)threadIdx.x * V; i < whole; i += (int64_t)blockDim.x * V)
      *reinterpret_cast<vec<T, V> *>(target + i) = *reinterpret_cast<const vec<T, V> *>(source + i);
    for (int64_t i = whole + threadIdx.x; i < length; i += blockDim.x) target[i] = source[i];
  }
}

// from[r * from_step + c] -> to[c * to_step + r] for r < rows, c < cols.
struct turn {
  int64_t rows, cols;
  int64_t from_step, to_step;
  int64_t tiles_across; // along c
  int64_t tiles;
};

template <class T> struct tile_of {
  static constexpr int SIDE = sizeof(T) >= 8 ? 32 : 64;
  // An odd number of 4-byte banks a row: columns are read without conflicts.
  static constexpr int PITCH = SIDE + (sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1);
};

// V neighbouring elements starting at p, of which only `valid` exist.
template <class T, int V> __device__ __forceinline__ vec<T, V> load_some(const T *p, int valid)
{
  vec<T, V> v;
  if (valid >= V) {
    v = *reinterpret_cast<const vec<T, V> *>(p);
  } else {
#pragma unroll
    for (int i = 0; i < V; i++) v.at[i] = i < valid ? p[i] : T(0);
  }
  return v;
}

template <class T, int V>
__device__ __forceinline__ void store_some(T *p, const vec<T, V> &v, int valid)
{
  if (valid >= V) {
    *reinterpret_cast<vec<T, V> *>(p) = v;
  } else {
#pragma unroll
    for (int i = 0; i < V; i++)
      if (i < valid) p[i] = v.at[i];
  }
}

// From: elements of a load; To: of a store.  All loads of a thread's share of a tile are on
// their way before the first is waited for.
template <class T, int From, int To>
__global__ void __launch_bounds__(THREADS, 6)
    transpose_kernel(const T *__restrict__ from, T *__restrict__ to, turn t)
{
  constexpr int SIDE = tile_of<T>::SIDE, PITCH = tile_of<T>::PITCH;
  constexpr int LOADS = SIDE * SIDE / (THREADS * From), STORES = SIDE * SIDE / (THREADS * To);
  // A thread's first element, and how many lines on the next ones are.
  constexpr int BY = THREADS * From / SIDE, TO_BY = THREADS * To / SIDE;
  const int r = threadIdx.x * From / SIDE, c = threadIdx.x * From % SIDE;
  const int to_c = threadIdx.x * To / SIDE, to_r = threadIdx.x * To % SIDE;
  __shared__ T tile[SIDE * PITCH];

  wait_for_previous();
  for (int64_t n = blockIdx.x; n < t.tiles; n += gridDim.x) {
    const int64_t r0 = n / t.tiles_across * SIDE, c0 = n % t.tiles_across * SIDE;
    const int rows = t.rows - r0 < SIDE ? (int)(t.rows - r0) : SIDE;
    const int cols = t.cols - c0 < SIDE ? (int)(t.cols - c0) : SIDE;
    const T *p = from + (r0 + r) * t.from_step + c0 + c;
    vec<T, From> v[LOADS];
#pragma unroll
    for (int i = 0; i < LOADS; i++, p += BY * t.from_step)
      if (r + i * BY < rows && c < cols) v[i] = load_some<T, From>(p, cols - c);
#pragma unroll
    for (int i = 0; i < LOADS; i++)
      if (r + i * BY < rows && c < cols)
#pragma unroll
        for (int e = 0; e < From; e++) tile[(r + i * BY) * PITCH + c + e] = v[i].at[e];
    __syncthreads();
    T *q = to + (c0 + to_c) * t.to_step + r0 + to_r;
#pragma unroll
    for (int i = 0; i < STORES; i++, q += TO_BY * t.to_step) {
      if (to_c + i * TO_BY >= cols || to_r >= rows) continue;
      vec<T, To> w;
#pragma unroll
      for (int e = 0; e < To; e++) w.at[e] = tile[(to_r + e) * PITCH + to_c + i * TO_BY];
      store_some<T, To>(q, w, rows - to_r);
    }
    __syncthreads();
  }
}

// Can a side be moved `bytes` at a time?  Steps count elements.
inline bool moves_by(size_t bytes, size_t size, const void *values, int64_t step)
{
  return ((size_t)values | (size_t)step * size) % bytes == 0;
}

// Can both?
inline bool moves_by(size_t bytes, size_t size, const void *from, int64_t from_step, const void *to,
                     int64_t to_step)
{
  return moves_by(bytes, size, from, from_step) && moves_by(bytes, size, to, to_step);
}

inline unsigned capped_grid(int64_t blocks, const struct shunt_device *d)
{
  int64_t cap = (int64_t)d->multiprocessors * 64;
  if (cap < 1) cap = 1;
  return (unsigned)(blocks < cap ? blocks : cap);
}

template <class T, int V>
shunt_status launch_runs(const void *from, void *to, const run_list &list,
                         const struct shunt_device *d, cudaStream_t stream)
{
  unsigned across = 1;
  while (across < THREADS && (int64_t)across * V < list.length) across *= 2;
  dim3 block(across, THREADS / across);
  unsigned grid = capped_grid((list.runs + block.y - 1) / block.y, d);
  return launch_early(copy_runs_kernel<T, V>, dim3(grid), block, d, stream, (const T *)from,
                      (T *)to, list);
}

template <class T, int From, int To>
shunt_status launch_turn(const void *from, void *to, turn t, const struct shunt_device *d,
                         cudaStream_t stream)
{
  constexpr int SIDE = tile_of<T>::SIDE;
  t.tiles_across = (t.cols + SIDE - 1) / SIDE;
  t.tiles = t.tiles_across * ((t.rows + SIDE - 1) / SIDE);
  return launch_early(transpose_kernel<T, From, To>, dim3(capped_grid(t.tiles, d)), dim3(THREADS),
                      d, stream, (const T *)from, (T *)to, t);
}

template <class T>
shunt_status copy_runs(const void *from, void *to, const run_list &list,
                       const struct shunt_device *d, cudaStream_t stream)
{
  constexpr int S = (int)sizeof(T);
  if (moves_by(16, S, from, list.from_step, to, list.to_step))
    return launch_runs<T, 16 / S>(from, to, list, d, stream);
  if constexpr (S < 4)
    if (moves_by(4, S, from, list.from_step, to, list.to_step))
      return launch_runs<T, 4 / S>(from, to, list, d, stream);
  return launch_runs<T, 1>(from, to, list, d, stream);
}

template <class T>
shunt_status transpose(const void *from, void *to, const turn &t, const struct shunt_device *d,
                       cudaStream_t stream)
{
  constexpr int S = (int)sizeof(T);
  if (moves_by(16, S, from, t.from_step, to, t.to_step))
    return launch_turn<T, 16 / S, 16 / S>(from, to, t, d, stream);
  if constexpr (S < 4)
    if (moves_by(4, S, from, t.from_step, to, t.to_step))
      return launch_turn<T, 4 / S, 4 / S>(from, to, t, d, stream);
  // Copies that kernels make for themselves begin where it suits, what they copy need not.
  if (moves_by(16, S, to, t.to_step)) return launch_turn<T, 1, 16 / S>(from, to, t, d, stream);
  return launch_turn<T, 1, 1>(from, to, t, d, stream);
}

// A side of length 1 has no stride: either reading of the layout is right.
inline bool along_rows(const struct shunt_dense *m)
{
  return m->col_stride == 1 || m->cols == 1;
}
inline bool along_columns(const struct shunt_dense *m)
{
  return m->row_stride == 1 || m->rows == 1;
}

// `count` runs of `length`; packed on both sides they become equal pieces of one.
run_list make_runs(int64_t count, int64_t length, int64_t from_step, int64_t to_step)
{
  constexpr int64_t PIECE = 16384;
  bool packed = count == 1 || (from_step == length && to_step == length);
  if (!packed) return run_list{count, length, length, from_step, to_step};
  int64_t total = count * length;
  int64_t runs = (total + PIECE - 1) / PIECE;
  return run_list{runs, PIECE, total - (runs - 1) * PIECE, PIECE, PIECE};
}

template <class T>
shunt_status copy(const struct shunt_dense *from, const struct shunt_dense *to,
                  const struct shunt_device *d, cudaStream_t stream)
{
  int64_t rows = from->rows, cols = from->cols;
  if (along_rows(from) && along_rows(to))
    return copy_runs<T>(from->values, to->values,
                        make_runs(rows, cols, from->row_stride, to->row_stride), d, stream);
  if (along_columns(from) && along_columns(to))
    return copy_runs<T>(from->values, to->values,
                        make_runs(cols, rows, from->col_stride, to->col_stride), d, stream);
  if (along_rows(from))
    return transpose<T>(from->values, to->values,
                        turn{rows, cols, from->row_stride, to->col_stride, 0, 0}, d, stream);
  return transpose<T>(from->values, to->values,
                      turn{cols, rows, from->col_stride, to->row_stride, 0, 0}, d, stream);
}

} // namespace
} // namespace shunt

extern "C" shunt_status shunt_dense_copy_cuda(const struct shunt_dense *from,
                                              const struct shunt_dense *to,
                                              const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt;
  if (from->type != to->type || from->rows != to->rows || from->cols != to->cols)
    return SHUNT_E_ARGUMENT;
  if (!(along_rows(from) || along_columns(from)) || !(along_rows(to) || along_columns(to)))
    return SHUNT_E_ARGUMENT;
  if (from->rows <= 0 || from->cols <= 0) return SHUNT_OK;

  switch (shunt_type_size(from->type)) {
  case 1: return copy<uint8_t>(from, to, d, stream);
  case 2: return copy<uint16_t>(from, to, d, stream);
  case 4: return copy<uint32_t>(from, to, d, stream);
  case 8: return copy<uint64_t>(from, to, d, stream);
  case 16: return copy<complex<double>>(from, to, d, stream);
  default: return SHUNT_E_CUDA;
  }
}
