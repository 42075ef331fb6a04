// csr_sddmm_direct.cu: SDDMM of small products whose B stands by rows, in one launch.
//
// B is not turned around: all of A B is computed, a tile a block, and what C has of a tile is
// stored.  So it does not matter what the pattern is like.
//
//             columns  | 32 Columns of a block |          a lane has columns lane + 32 c
//   rows   Rows  warp 0|  . x . . x . . . . . |           of Rows rows, in registers
//          Rows  warp 1|  . . . x . . . x . . |
//          ..          |                       |
//
//   1. A's rows pass through shared memory, KEPT elements at a time; B's are read from where they
//      stand, ahead_of rows at a time, one such part ahead.
//   2. A warp's sums go to shared memory.  It walks the entries of its rows, which stand beside each
//      other in C, and stores those whose columns are in the tile.
//
// The order of additions is that of k, whatever the place of an entry.
//
// Roofline: rows * columns * K multiply-adds; tests/bench/sddmm.md says where that is less than a
// second launch and the entries' gathers.
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/csr_sddmm_operands.cuh"

namespace shunt
{
namespace csr::sddmm
{
namespace
{

constexpr int WARPS = 4;
constexpr int THREADS = WARPS * WARP;
constexpr int KEPT = 64; // elements of a row of A in shared memory

// Rows of B that a lane of so many columns has on the way: their latency is what short products wait
// for.
template <int Columns> constexpr int ahead_of = Columns == 2 ? 16 : 8;

struct strides {
  int64_t a_row, a_col, b_row;
  int64_t columns; // of C
  int across;      // tiles beside each other
};

template <class C, int Rows, int Columns> struct room {
  C a[WARPS * Rows][KEPT];
  C sum[WARPS * Rows][WARP * Columns];
};

// KEPT elements of the block's rows of A from k0 on; what is not there is 0.
template <class T, class I, int Rows>
__device__ __forceinline__ void fill(compute_t<T> (&to)[WARPS * Rows][KEPT], const args<T, I> &p,
                                     const strides &s, int64_t first, int64_t k0)
{
  for (int at = threadIdx.x; at < WARPS * Rows * KEPT; at += THREADS) {
    const int64_t row = first + at / KEPT, k = k0 + at % KEPT;
    const bool there = row < p.c.rows && k < p.k;
    to[at / KEPT][at % KEPT] =
        there ? widen<compute_t<T>>(load_constant(p.a + row * s.a_row + k * s.a_col))
              : compute_t<T>(0);
  }
}

// A lane's columns of B.
template <class T, int Columns> struct lane_columns {
  const T *at[Columns];

  // Those beyond the last are read as the last; nobody asks for their sums.
  __device__ __forceinline__ lane_columns(const T *b, int64_t first, int64_t columns, int lane)
  {
#pragma unroll
    for (int c = 0; c < Columns; c++) at[c] = b + min(first + lane + c * WARP, columns - 1);
  }
  // Of row k; beyond the last row 0.
  __device__ __forceinline__ void load(T (&to)[Columns], int64_t k, int64_t rows,
                                       int64_t stride) const
  {
#pragma unroll
    for (int c = 0; c < Columns; c++)
      to[c] = k < rows ? load_constant(at[c] + k * stride) : narrow<T>(compute_t<T>(0));
  }
};

template <class T, int Rows, int Columns>
__device__ __forceinline__ void add_row(compute_t<T> (&sum)[Rows][Columns],
                                        const compute_t<T> (*a)[KEPT], int k, const T (&b)[Columns])
{
#pragma unroll
  for (int c = 0; c < Columns; c++) {
    const compute_t<T> y = widen<compute_t<T>>(b[c]);
#pragma unroll
    for (int r = 0; r < Rows; r++) sum[r][c] = multiply_add(a[r][k], y, sum[r][c]);
  }
}

// Sums over all of K.  All warps of a block come here together.
template <class T, class I, int Rows, int Columns>
__device__ __forceinline__ void
multiply_tile(compute_t<T> (&sum)[Rows][Columns], room<compute_t<T>, Rows, Columns> &shared,
              const args<T, I> &p, const strides &s, int64_t row, int64_t column)
{
  constexpr int AHEAD = ahead_of<Columns>;
  static_assert(KEPT % AHEAD == 0, "steps end where what is kept of A does");
  const lane_columns<T, Columns> b(p.b, column, s.columns, threadIdx.x % WARP);
  const compute_t<T>(*const a)[KEPT] = shared.a + threadIdx.x / WARP * Rows;
  T next[AHEAD][Columns];
#pragma unroll
  for (int u = 0; u < AHEAD; u++) b.load(next[u], u, p.k, s.b_row);
  for (int64_t k = 0; k < p.k; k += AHEAD) {
    if (k % KEPT == 0) {
      __syncthreads();
      fill<T, I, Rows>(shared.a, p, s, row, k);
      __syncthreads();
    }
    T now[AHEAD][Columns];
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
#pragma unroll
      for (int c = 0; c < Columns; c++) now[u][c] = next[u][c];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) b.load(next[u], k + AHEAD + u, p.k, s.b_row);
#pragma unroll
    for (int u = 0; u < AHEAD; u++) add_row<T>(sum, a, (int)(k % KEPT) + u, now[u]);
  }
}

// Stores what C has of a warp's rows in the tile.  `sum`: those rows.
template <class T, class I, int Rows, int Columns>
__device__ __forceinline__ void store_entries(const compute_t<T> (*sum)[WARP * Columns],
                                              const args<T, I> &p, int64_t row, int64_t column,
                                              int lane)
{
  constexpr int AT_ONCE = 8; // columns that are read by a lane
  const scale<T> by(p.out);
  I end[Rows];
#pragma unroll
  for (int r = 0; r < Rows; r++)
    end[r] = __ldg(p.c.offsets + min(row + r + 1, p.c.rows)) - p.c.base;
  const I begin = __ldg(p.c.offsets + min(row, p.c.rows)) - p.c.base;
  for (I at = begin + lane; at < end[Rows - 1]; at += AT_ONCE * WARP) {
    I j[AT_ONCE];
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      j[u] = __ldg(p.c.columns + min(I(at + u * WARP), I(end[Rows - 1] - 1))) - p.c.base;
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++) {
      const I position = at + u * WARP;
      const int64_t in_tile = (int64_t)j[u] - column;
      if (position >= end[Rows - 1] || in_tile < 0 || in_tile >= WARP * Columns) continue;
      int r = 0;
#pragma unroll
      for (int i = 0; i < Rows - 1; i++) r += end[i] <= position;
      store_value<T>(p.out, by, position, sum[r][in_tile]);
    }
  }
}

template <class T, class I, int Rows, int Columns>
__global__ void __launch_bounds__(THREADS)
    direct_kernel(const __grid_constant__ args<T, I> p, const __grid_constant__ strides s)
{
  using C = compute_t<T>;
  __shared__ room<C, Rows, Columns> shared;
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int64_t row = (int64_t)(blockIdx.x / s.across) * WARPS * Rows,
                column = (int64_t)(blockIdx.x % s.across) * WARP * Columns;
  wait_for_previous();
  C sum[Rows][Columns] = {};
  multiply_tile<T, I, Rows, Columns>(sum, shared, p, s, row, column);
#pragma unroll
  for (int r = 0; r < Rows; r++)
#pragma unroll
    for (int c = 0; c < Columns; c++) shared.sum[warp * Rows + r][lane + c * WARP] = sum[r][c];
  __syncwarp();
  store_entries<T, I, Rows, Columns>(shared.sum + warp * Rows, p, row + warp * Rows, column, lane);
}

template <class T, class I, int Rows, int Columns>
shunt_status launch(const struct shunt_sddmm *p, const struct shunt_device *d, cudaStream_t stream)
{
  const operands as_they_stand = {{p->a.values, p->a.row_stride}, {p->b.values, p->b.row_stride}};
  const int64_t across = (p->c.cols + WARP * Columns - 1) / (WARP * Columns),
                down = (p->c.rows + WARPS * Rows - 1) / (WARPS * Rows);
  if ((double)across * (double)down > INT32_MAX) return SHUNT_E_UNSUPPORTED;
  const strides s = {p->a.row_stride, p->a.col_stride, p->b.row_stride, p->c.cols, (int)across};
  return launch_early(direct_kernel<T, I, Rows, Columns>, dim3((unsigned)(across * down)),
                      dim3(THREADS), d, stream, make_args<T, I>(p, as_they_stand), s);
}

// Tiles of 16 x 64 where those of 32 x 128 would leave multiprocessors without one.
template <class T, class I>
shunt_status with_shape(const struct shunt_sddmm *p, const struct shunt_device *d,
                        cudaStream_t stream)
{
  const int64_t large = ((p->c.rows + 31) / 32) * ((p->c.cols + 127) / 128);
  return large >= 2 * d->multiprocessors ? launch<T, I, 8, 4>(p, d, stream)
                                         : launch<T, I, 4, 2>(p, d, stream);
}

template <class T>
shunt_status with_index(const struct shunt_sddmm *p, const struct shunt_device *d,
                        cudaStream_t stream)
{
  return p->c.index_type == SHUNT_I32 ? with_shape<T, int32_t>(p, d, stream)
                                      : with_shape<T, int64_t>(p, d, stream);
}

} // namespace

shunt_status direct(const struct shunt_sddmm *p, const struct shunt_device *d, shunt_stream stream)
{
  switch (p->a.type) {
  case SHUNT_F16: return with_index<__half>(p, d, stream);
  case SHUNT_BF16: return with_index<__nv_bfloat16>(p, d, stream);
  case SHUNT_F32: return with_index<float>(p, d, stream);
  case SHUNT_F64: return with_index<double>(p, d, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

} // namespace csr::sddmm
} // namespace shunt
