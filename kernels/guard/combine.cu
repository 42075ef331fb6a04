// combine.cu: C = alpha W + beta C where *only_unless == 0, nothing otherwise.
//
//   W   m x n, f32, row-major         C   m x n, f16, bf16 or f32, either order
//              f64                               f64
//
// For products with a packed copy where C's old content counts: they went to W.  W is read in tiles
// of 32 x 32 along its rows; a column-major C is read and written along its columns, the tile
// turning around in shared memory between.  C is rounded once and, where beta is 0, not read.
//
// Roofline: W and C read and C written, at copy bandwidth.
#include <cuda_runtime.h>

#include "kernels/common/number.cuh"
#include "kernels/common/scalar.cuh"
#include "kernels/guard/guard.h"

namespace shunt
{
namespace guard
{
namespace
{

constexpr int SIDE = 32; // of a tile
constexpr int DOWN = 8;  // threads along a tile's rows: each serves SIDE / DOWN rows
constexpr int WIDTH = 4; // elements a thread moves at once where C is row-major, of f64 2

// T: W's type, in which is computed.
template <class T> struct combine_args {
  const T *w;
  int64_t w_stride;
  void *c;
  int64_t c_stride; // from row to row (row-major C), from column to column else
  int64_t rows, cols;
  int64_t tiles_across, tiles;
  scalar_arg<T> alpha, beta;
  const uint32_t *only_unless;
};

template <class T> __device__ __forceinline__ bool forbidden(const combine_args<T> &a)
{
  return a.only_unless && *a.only_unless != 0;
}

template <class S, class T> __device__ __forceinline__ void combine_one(S *c, T w, T alpha, T beta)
{
  T result = scale(alpha, w);
  if (beta != T(0)) result = multiply_add(beta, widen<T>(*c), result);
  *c = narrow<S>(result);
}

// Row-major C: V elements a thread; blockDim = (threads along a row, rows).
template <class S, class T, int V>
__global__ void __launch_bounds__(256) combine_rows_kernel(combine_args<T> a)
{
  if (forbidden(a)) return;
  const T alpha = a.alpha.get(), beta = a.beta.get();
  const int64_t step = (int64_t)gridDim.x * blockDim.y;

  for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < a.rows; i += step) {
    const T *w = a.w + i * a.w_stride;
    S *c = static_cast<S *>(a.c) + i * a.c_stride;
    for (int64_t j = (int64_t)threadIdx.x * V; j < a.cols; j += (int64_t)blockDim.x * V) {
      if (V > 1 && j + V <= a.cols) {
        vec<T, V> x = *reinterpret_cast<const vec<T, V> *>(w + j);
        vec<S, V> y{};
        if (beta != T(0)) y = *reinterpret_cast<vec<S, V> *>(c + j);
#pragma unroll
        for (int e = 0; e < V; e++) combine_one(&y.at[e], x.at[e], alpha, beta);
        *reinterpret_cast<vec<S, V> *>(c + j) = y;
      } else {
        for (int64_t e = j; e < j + V && e < a.cols; e++) combine_one(c + e, w[e], alpha, beta);
      }
    }
  }
}

// Column-major C.
template <class S, class T>
__global__ void __launch_bounds__(SIDE *DOWN) combine_columns_kernel(combine_args<T> a)
{
  __shared__ T tile[SIDE][SIDE + 1];
  if (forbidden(a)) return;
  const T alpha = a.alpha.get(), beta = a.beta.get();
  const int x = threadIdx.x, y = threadIdx.y;

  for (int64_t n = blockIdx.x; n < a.tiles; n += gridDim.x) {
    int64_t i0 = n / a.tiles_across * SIDE, j0 = n % a.tiles_across * SIDE;
    for (int s = y; s < SIDE; s += DOWN)
      if (i0 + s < a.rows && j0 + x < a.cols) tile[s][x] = a.w[(i0 + s) * a.w_stride + j0 + x];
    __syncthreads();
    for (int s = y; s < SIDE; s += DOWN)
      if (i0 + x < a.rows && j0 + s < a.cols)
        combine_one(static_cast<S *>(a.c) + (j0 + s) * a.c_stride + i0 + x, tile[x][s], alpha,
                    beta);
    __syncthreads();
  }
}

template <class S, class T>
cudaError_t launch_tiles(const combine_args<T> &a, bool row_major, const struct shunt_device *d,
                         cudaStream_t stream)
{
  constexpr int V = sizeof(T) == 8 ? WIDTH / 2 : WIDTH;
  const int64_t most = (int64_t)(d->multiprocessors > 0 ? d->multiprocessors : 1) * 64;
  if (!row_major) {
    unsigned grid = (unsigned)(a.tiles < most ? a.tiles : most);
    combine_columns_kernel<S, T><<<grid, dim3(SIDE, DOWN), 0, stream>>>(a);
    return cudaGetLastError();
  }
  size_t w_bits = (size_t)a.w | (size_t)a.w_stride * sizeof(T);
  size_t c_bits = (size_t)a.c | (size_t)a.c_stride * sizeof(S);
  bool vector = w_bits % (V * sizeof(T)) == 0 && c_bits % (V * sizeof(S)) == 0;
  unsigned across = 32;
  while (across < 256 && (int64_t)across * V < a.cols) across *= 2;
  dim3 block(across, 256 / across);
  int64_t blocks = (a.rows + block.y - 1) / block.y;
  unsigned grid = (unsigned)(blocks < most ? blocks : most);
  if (vector)
    combine_rows_kernel<S, T, V><<<grid, block, 0, stream>>>(a);
  else
    combine_rows_kernel<S, T, 1><<<grid, block, 0, stream>>>(a);
  return cudaGetLastError();
}

template <class T>
combine_args<T> make_args(const struct shunt_dense *w, const struct shunt_spmm *p, bool row_major,
                          const uint32_t *only_unless)
{
  const struct shunt_dense *c = &p->c;
  combine_args<T> a;
  a.w = static_cast<const T *>(w->values);
  a.w_stride = w->row_stride;
  a.c = c->values;
  a.c_stride = row_major ? c->row_stride : c->col_stride;
  a.rows = c->rows;
  a.cols = c->cols;
  a.tiles_across = (c->cols + SIDE - 1) / SIDE;
  a.tiles = a.tiles_across * ((c->rows + SIDE - 1) / SIDE);
  a.alpha = make_scalar_arg<T>(p->alpha);
  a.beta = make_scalar_arg<T>(p->beta);
  a.only_unless = only_unless;
  return a;
}

// Are W, C and what is computed in of types that go together?
bool is_built(const struct shunt_dense *w, const struct shunt_spmm *p)
{
  const shunt_type c = p->c.type;
  if (w->type != p->compute) return false;
  if (w->type == SHUNT_F64) return c == SHUNT_F64;
  return w->type == SHUNT_F32 && (c == SHUNT_F16 || c == SHUNT_BF16 || c == SHUNT_F32);
}

cudaError_t launch(const struct shunt_dense *w, const struct shunt_spmm *p, bool row_major,
                   const uint32_t *only_unless, const struct shunt_device *d, cudaStream_t stream)
{
  if (w->type == SHUNT_F64)
    return launch_tiles<double>(make_args<double>(w, p, row_major, only_unless), row_major, d,
                                stream);
  const combine_args<float> a = make_args<float>(w, p, row_major, only_unless);
  if (p->c.type == SHUNT_F16) return launch_tiles<__half>(a, row_major, d, stream);
  if (p->c.type == SHUNT_BF16) return launch_tiles<__nv_bfloat16>(a, row_major, d, stream);
  return launch_tiles<float>(a, row_major, d, stream);
}

} // namespace
} // namespace guard
} // namespace shunt

extern "C" shunt_status shunt_guard_combine_cuda(const struct shunt_dense *w,
                                                 const struct shunt_spmm *p,
                                                 const uint32_t *only_unless,
                                                 const struct shunt_device *d, shunt_stream stream)
{
  using namespace shunt::guard;
  const struct shunt_dense *c = &p->c;
  if (w->rows != c->rows || w->cols != c->cols) return SHUNT_E_ARGUMENT;
  if (!is_built(w, p)) return SHUNT_E_UNSUPPORTED;
  if (w->col_stride != 1 && w->cols > 1) return SHUNT_E_UNSUPPORTED;
  const bool row_major = c->col_stride == 1 || c->cols == 1;
  if (!row_major && c->row_stride != 1 && c->rows != 1) return SHUNT_E_ARGUMENT;
  if (c->rows <= 0 || c->cols <= 0) return SHUNT_OK;
  const cudaError_t e = launch(w, p, row_major, only_unless, d, stream);
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
