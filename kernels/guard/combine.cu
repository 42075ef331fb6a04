// combine.cu: C = alpha W + beta C where *only_unless == 0, nothing otherwise.
//
//   W   m x n, f32, row-major         C   m x n, f16, bf16 or f32, either order
//
// For products with a packed copy where C's old content counts: they went to W.  W is read in tiles
// of 32 x 32 along its rows; a column-major C is read and written along its columns, the tile
// turning around in shared memory between.  C is rounded once and, where beta is 0, not read.
//
// Roofline: 4 bytes of W, C read and C written, at copy bandwidth.
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
constexpr int WIDTH = 4; // elements a thread moves at once where C is row-major

struct combine_args {
  const float *w;
  int64_t w_stride;
  void *c;
  int64_t c_stride; // from row to row (row-major C), from column to column else
  int64_t rows, cols;
  int64_t tiles_across, tiles;
  scalar_arg<float> alpha, beta;
  const uint32_t *only_unless;
};

__device__ __forceinline__ bool forbidden(const combine_args &a)
{
  return a.only_unless && *a.only_unless != 0;
}

template <class S>
__device__ __forceinline__ void combine_one(S *c, float w, float alpha, float beta)
{
  float result = scale(alpha, w);
  if (beta != 0.0f) result = fmaf(beta, widen<float>(*c), result);
  *c = narrow<S>(result);
}

// Row-major C: V elements a thread; blockDim = (threads along a row, rows).
template <class S, int V> __global__ void __launch_bounds__(256) combine_rows_kernel(combine_args a)
{
  if (forbidden(a)) return;
  const float alpha = a.alpha.get(), beta = a.beta.get();
  const int64_t step = (int64_t)gridDim.x * blockDim.y;

  for (int64_t i = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; i < a.rows; i += step) {
    const float *w = a.w + i * a.w_stride;
    S *c = static_cast<S *>(a.c) + i * a.c_stride;
    for (int64_t j = (int64_t)threadIdx.x * V; j < a.cols; j += (int64_t)blockDim.x * V) {
      if (V > 1 && j + V <= a.cols) {
        vec<float, V> x = *reinterpret_cast<const vec<float, V> *>(w + j);
        vec<S, V> y{};
        if (beta != 0.0f) y = *reinterpret_cast<vec<S, V> *>(c + j);
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
template <class S>
__global__ void __launch_bounds__(SIDE *DOWN) combine_columns_kernel(combine_args a)
{
  __shared__ float tile[SIDE][SIDE + 1];
  if (forbidden(a)) return;
  const float alpha = a.alpha.get(), beta = a.beta.get();
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

template <class S>
cudaError_t launch_combine(combine_args a, bool row_major, const struct shunt_device *d,
                           cudaStream_t stream)
{
  const int64_t most = (int64_t)(d->multiprocessors > 0 ? d->multiprocessors : 1) * 64;
  if (!row_major) {
    unsigned grid = (unsigned)(a.tiles < most ? a.tiles : most);
    combine_columns_kernel<S><<<grid, dim3(SIDE, DOWN), 0, stream>>>(a);
    return cudaGetLastError();
  }
  size_t w_bits = (size_t)a.w | (size_t)a.w_stride * sizeof(float);
  size_t c_bits = (size_t)a.c | (size_t)a.c_stride * sizeof(S);
  bool vector = w_bits % (WIDTH * sizeof(float)) == 0 && c_bits % (WIDTH * sizeof(S)) == 0;
  unsigned across = 32;
  while (across < 256 && (int64_t)across * WIDTH < a.cols) across *= 2;
  dim3 block(across, 256 / across);
  int64_t blocks = (a.rows + block.y - 1) / block.y;
  unsigned grid = (unsigned)(blocks < most ? blocks : most);
  if (vector)
    combine_rows_kernel<S, WIDTH><<<grid, block, 0, stream>>>(a);
  else
    combine_rows_kernel<S, 1><<<grid, block, 0, stream>>>(a);
  return cudaGetLastError();
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
  if (w->type != SHUNT_F32 || p->compute != SHUNT_F32) return SHUNT_E_UNSUPPORTED;
  if (w->col_stride != 1 && w->cols > 1) return SHUNT_E_UNSUPPORTED;
  const bool row_major = c->col_stride == 1 || c->cols == 1;
  if (!row_major && c->row_stride != 1 && c->rows != 1) return SHUNT_E_ARGUMENT;
  if (c->rows <= 0 || c->cols <= 0) return SHUNT_OK;

  combine_args a;
  a.w = (const float *)w->values;
  a.w_stride = w->row_stride;
  a.c = c->values;
  a.c_stride = row_major ? c->row_stride : c->col_stride;
  a.rows = c->rows;
  a.cols = c->cols;
  a.tiles_across = (c->cols + SIDE - 1) / SIDE;
  a.tiles = a.tiles_across * ((c->rows + SIDE - 1) / SIDE);
  a.alpha = shunt::make_scalar_arg<float>(p->alpha);
  a.beta = shunt::make_scalar_arg<float>(p->beta);
  a.only_unless = only_unless;

  cudaError_t e;
  switch (c->type) {
  case SHUNT_F16: e = launch_combine<__half>(a, row_major, d, stream); break;
  case SHUNT_BF16: e = launch_combine<__nv_bfloat16>(a, row_major, d, stream); break;
  case SHUNT_F32: e = launch_combine<float>(a, row_major, d, stream); break;
  default: return SHUNT_E_UNSUPPORTED;
  }
  return e == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}
