// csr_sddmm_direct.cu: SDDMM of small products whose B stands by rows, in one launch.
//
// B is not turned around: all of A B is computed, a tile a block, and what C has of a tile is
// stored.  So it does not matter what the pattern is like.
//
//             columns  | 32 Columns of a block |          a lane has Columns columns of Rows
//   rows   Rows  warp 0|  . x . . x . . . . . |           rows, in registers
//          Rows  warp 1|  . . . x . . . x . . |
//          ..          |                       |
//
//   1. SLAB rows of B at a time come into a ring in shared memory, of A's rows KEPT elements.  All
//      stages are asked for at the start: latency is what short products wait for.
//   2. What is first read of C's pattern is asked for before anything is multiplied.
//   3. A warp's sums go to shared memory.  It walks the entries of its rows, which stand beside each
//      other in C, and stores those whose columns are in the tile.
//
// The order of additions is that of k, whatever the place of an entry.
//
// Roofline: rows * columns * K multiply-adds; tests/bench/sddmm.md says where that is less than a
// second launch and the entries' gathers.
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/csr_kernels.h"
#include "kernels/csr/csr_sddmm_operands.cuh"
#include "kernels/ptx/ldst.cuh"

namespace shunt
{
namespace csr::sddmm
{
namespace
{

constexpr int SLAB = 16;    // rows of B in a stage of the ring
constexpr int KEPT = 64;    // elements of a row of A in shared memory
constexpr int CHUNK = 16;   // bytes that a thread asks for
constexpr int ROOM = 49152; // bytes of shared memory that a block has without asking

constexpr int least(int x, int y)
{
  return x < y ? x : y;
}

struct strides {
  int64_t a_row, a_col, b_row;
  int64_t columns;   // of C
  int across;        // tiles beside each other
  bool b_is_aligned; // every CHUNK of B's rows that begins at a multiple of one
};

// T: as stored.  A block has Warps warps, each of them Rows rows and all columns of the tile.
template <class T, int Warps, int Rows, int Columns> struct shape {
  using C = compute_t<T>;
  static constexpr int THREADS = Warps * WARP, ROWS = Warps * Rows, COLUMNS = WARP * Columns;
  static constexpr int A_BYTES = ROWS * KEPT * (int)sizeof(C),
                       SLAB_BYTES = SLAB * COLUMNS * (int)sizeof(T);
  static constexpr int STAGES = least((ROOM - A_BYTES) / SLAB_BYTES, 8);
  // Of a multiprocessor, so that its registers suffice.
  static constexpr int BLOCKS = (8 + 8 * (sizeof(C) < 8)) / Warps;
  // Elements of A that a thread brings.
  static constexpr int EACH = ROWS * KEPT / THREADS;
  // A lane's columns are Columns / RUN runs of neighbours, a WARP of runs apart.
  static constexpr int RUN = least(Columns, CHUNK / (int)sizeof(T));
  using b_run = vec<T, RUN>;
  using sum_run = vec<C, RUN>;

  struct room {
    alignas(CHUNK) C a[ROWS][KEPT];
    union {
      alignas(CHUNK) T b[STAGES][SLAB][COLUMNS];
      alignas(CHUNK) C sum[ROWS][COLUMNS];
    };
  };
  static_assert(sizeof(room) <= ROOM && STAGES >= 2, "fits a block");

  // The first of run n of a lane's columns.
  static __device__ __forceinline__ int column_of(int n, int lane)
  {
    return (n * WARP + lane) * RUN;
  }
};

// ---- operands -----------------------------------------------------------------------------------

// What a thread brings of A: element k0 + `k` of rows that are STEP apart.
template <class S, class T> struct bringer_a {
  static constexpr int STEP = S::THREADS / KEPT;
  static_assert(S::THREADS % KEPT == 0, "a thread stays at its place of a row");
  const T *from;
  int rows; // of A, from this thread's first one on

  template <class I>
  __device__ __forceinline__ bringer_a(const args<T, I> &p, const strides &s, int64_t row)
  {
    row += threadIdx.x / KEPT;
    from = p.a + row * s.a_row + threadIdx.x % KEPT * s.a_col;
    rows = (int)max(int64_t(0), min(p.c.rows - row, int64_t(S::ROWS)));
  }
  // Those from element k0 of K on; what is not there is 0.
  __device__ __forceinline__ void load(compute_t<T> (&to)[S::EACH], const strides &s, int k0,
                                       int inner) const
  {
    const bool there = k0 + (int)threadIdx.x % KEPT < inner;
    const T *at = from + k0 * s.a_col;
#pragma unroll
    for (int n = 0; n < S::EACH; n++, at += STEP * s.a_row)
      to[n] = there && n * STEP < rows ? widen<compute_t<T>>(load_constant(at)) : compute_t<T>(0);
  }
  __device__ __forceinline__ void keep(typename S::room &shared,
                                       const compute_t<T> (&x)[S::EACH]) const
  {
#pragma unroll
    for (int n = 0; n < S::EACH; n++)
      shared.a[threadIdx.x / KEPT + n * STEP][threadIdx.x % KEPT] = x[n];
  }
};

// What a thread brings of B: the same CHUNK of columns of rows that are STEP apart.
template <class S, class T> struct bringer_b {
  static constexpr int N = CHUNK / (int)sizeof(T), ACROSS = S::COLUMNS / N,
                       STEP = S::THREADS / ACROSS, EACH = SLAB / STEP;
  static_assert(S::THREADS % ACROSS == 0 && SLAB % STEP == 0, "a thread stays at its columns");
  const T *from;
  int count; // columns of the chunk that are B's

  template <class I>
  __device__ __forceinline__ bringer_b(const args<T, I> &p, const strides &s, int64_t column)
  {
    column += threadIdx.x % ACROSS * N;
    count = (int)max(int64_t(0), min(s.columns - column, int64_t(N)));
    from = count ? p.b + threadIdx.x / ACROSS * s.b_row + column : p.b;
  }
  // Asks for SLAB rows of B from k0 of `inner` on; what is not there is 0.
  __device__ __forceinline__ void fetch(T (&to)[SLAB][S::COLUMNS], const strides &s, int k0,
                                        int inner) const
  {
    const int row = threadIdx.x / ACROSS, in_tile = threadIdx.x % ACROSS * N;
    const T *at = from + k0 * s.b_row;
#pragma unroll
    for (int n = 0; n < EACH; n++, at += STEP * s.b_row) {
      const int here = k0 + row + n * STEP < inner ? count : 0;
      T *const place = &to[row + n * STEP][in_tile];
      if (s.b_is_aligned)
        ptx::cp_async_16(ptx::shared_address(place), here ? at : from, here * (int)sizeof(T));
      else
#pragma unroll
        for (int i = 0; i < N; i++)
          place[i] = i < here ? load_constant(at + i) : narrow<T>(compute_t<T>(0));
    }
  }
};

// ---- the product -------------------------------------------------------------------------------

// Adds what SLAB rows of B give; a: the warp's rows, from their first element for these on.
template <class S, class T, int Rows, int Columns>
__device__ __forceinline__ void add_slab(compute_t<T> (&sum)[Rows][Columns],
                                         const compute_t<T> (*a)[KEPT], int k0,
                                         const T (&b)[SLAB][S::COLUMNS], int lane)
{
  using C = compute_t<T>;
  constexpr int N = CHUNK / (int)sizeof(C);
#pragma unroll
  for (int u = 0; u < SLAB; u += N) {
    vec<C, N> x[Rows];
#pragma unroll
    for (int r = 0; r < Rows; r++) x[r] = *reinterpret_cast<const vec<C, N> *>(&a[r][k0 + u]);
#pragma unroll
    for (int i = 0; i < N; i++)
#pragma unroll
      for (int n = 0; n < Columns / S::RUN; n++) {
        const typename S::b_run y =
            *reinterpret_cast<const typename S::b_run *>(&b[u + i][S::column_of(n, lane)]);
#pragma unroll
        for (int c = 0; c < S::RUN; c++)
#pragma unroll
          for (int r = 0; r < Rows; r++)
            sum[r][n * S::RUN + c] =
                multiply_add(x[r].at[i], widen<C>(y.at[c]), sum[r][n * S::RUN + c]);
      }
  }
}

// Sums over all of K; the ring is full of what was asked for, and `next` of A's first elements.  All
// warps of a block come here together.
template <class S, class T, int Rows, int Columns>
__device__ __forceinline__ void
multiply_tile(compute_t<T> (&sum)[Rows][Columns], typename S::room &shared,
              compute_t<T> (&next)[S::EACH], const bringer_a<S, T> &a, const bringer_b<S, T> &b,
              const strides &s, int inner)
{
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP;
  int stage = 0;
#pragma unroll 1
  for (int k = 0; k < inner; k += SLAB) {
    if (k % KEPT == 0) {
      if (k) __syncthreads(); // nobody reads the old ones any more
      a.keep(shared, next);
      if (k + KEPT < inner) a.load(next, s, k + KEPT, inner);
    }
    ptx::cp_async_wait<S::STAGES - 1>();
    __syncthreads();
    add_slab<S, T>(sum, shared.a + warp * Rows, k % KEPT, shared.b[stage], lane);
    if (k + S::STAGES * SLAB < inner) {
      __syncthreads();
      b.fetch(shared.b[stage], s, k + S::STAGES * SLAB, inner);
    }
    ptx::cp_async_commit();
    stage = stage + 1 < S::STAGES ? stage + 1 : 0;
  }
}

template <class S, int Rows, int Columns>
__device__ __forceinline__ void show_sums(typename S::C (*to)[S::COLUMNS],
                                          const typename S::C (&sum)[Rows][Columns], int lane)
{
#pragma unroll
  for (int r = 0; r < Rows; r++)
#pragma unroll
    for (int n = 0; n < Columns / S::RUN; n++) {
      typename S::sum_run x;
#pragma unroll
      for (int c = 0; c < S::RUN; c++) x.at[c] = sum[r][n * S::RUN + c];
      *reinterpret_cast<typename S::sum_run *>(&to[r][S::column_of(n, lane)]) = x;
    }
}

// ---- C --------------------------------------------------------------------------------------

// A warp's walk over the entries of its rows, of which a lane has AT_ONCE columns on the way.
template <class I, int Rows> struct walk {
  static constexpr int AT_ONCE = 8;
  I at, end[Rows];
  I column[AT_ONCE];

  __device__ __forceinline__ void load(const pattern<I> &c)
  {
#pragma unroll
    for (int u = 0; u < AT_ONCE; u++)
      if (at + u * WARP < end[Rows - 1]) column[u] = __ldg(c.columns + at + u * WARP) - c.base;
  }
  __device__ __forceinline__ walk(const pattern<I> &c, int64_t row, int lane)
  {
#pragma unroll
    for (int r = 0; r < Rows; r++) end[r] = __ldg(c.offsets + min(row + r + 1, c.rows)) - c.base;
    at = __ldg(c.offsets + min(row, c.rows)) - c.base + lane;
    load(c);
  }
  // Stores those in the tile that begins at column `first`.
  template <class T, int Across>
  __device__ __forceinline__ void store(const compute_t<T> (*sum)[Across], const args<T, I> &p,
                                        int64_t first)
  {
    const scale<T> by(p.out);
    for (; at < end[Rows - 1]; at += AT_ONCE * WARP, load(p.c))
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) {
        const I position = at + u * WARP;
        const int64_t in_tile = (int64_t)column[u] - first;
        if (position >= end[Rows - 1] || in_tile < 0 || in_tile >= Across) continue;
        int r = 0;
#pragma unroll
        for (int i = 0; i < Rows - 1; i++) r += end[i] <= position;
        store_value<T>(p.out, by, position, sum[r][in_tile]);
      }
  }
};

template <class T, class I, int Warps, int Rows, int Columns>
__global__ void __launch_bounds__(Warps *WARP, (shape<T, Warps, Rows, Columns>::BLOCKS))
    direct_kernel(const __grid_constant__ args<T, I> p, const __grid_constant__ strides s)
{
  using S = shape<T, Warps, Rows, Columns>;
  using C = typename S::C;
  __shared__ typename S::room shared;
  const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
  const int64_t row = (int64_t)(blockIdx.x / s.across) * S::ROWS,
                column = (int64_t)(blockIdx.x % s.across) * S::COLUMNS;
  const int inner = (int)p.k;
  wait_for_previous();
  const bringer_b<S, T> b(p, s, column);
#pragma unroll 1
  for (int n = 0; n < S::STAGES; n++) {
    if (n * SLAB < inner) b.fetch(shared.b[n], s, n * SLAB, inner);
    ptx::cp_async_commit();
  }
  const bringer_a<S, T> a(p, s, row);
  C first[S::EACH];
  a.load(first, s, 0, inner);
  walk<I, Rows> entries(p.c, row + warp * Rows, lane);
  C sum[Rows][Columns] = {};
  multiply_tile<S, T>(sum, shared, first, a, b, s, inner);
  __syncthreads(); // the sums stand where the ring was
  show_sums<S>(shared.sum + warp * Rows, sum, lane);
  __syncwarp();
  entries.template store<T>(shared.sum + warp * Rows, p, column);
}

// May B be asked for by whole CHUNKs?
bool is_aligned(const struct shunt_dense &b)
{
  return (size_t)b.values % CHUNK == 0 &&
         b.row_stride * (int64_t)shunt_type_size(b.type) % CHUNK == 0;
}

template <class T, class I, int Warps, int Rows, int Columns>
shunt_status launch(const struct shunt_sddmm *p, const struct shunt_device *d, cudaStream_t stream)
{
  using S = shape<T, Warps, Rows, Columns>;
  const operands as_they_stand = {{p->a.values, p->a.row_stride}, {p->b.values, p->b.row_stride}};
  const int64_t across = (p->c.cols + S::COLUMNS - 1) / S::COLUMNS,
                down = (p->c.rows + S::ROWS - 1) / S::ROWS;
  if (p->a.cols > INT32_MAX - KEPT || (double)across * (double)down > INT32_MAX)
    return SHUNT_E_UNSUPPORTED;
  const strides s = {p->a.row_stride, p->a.col_stride, p->b.row_stride,
                     p->c.cols,       (int)across,     is_aligned(p->b)};
  return launch_early(direct_kernel<T, I, Warps, Rows, Columns>, dim3((unsigned)(across * down)),
                      dim3(S::THREADS), d, stream, make_args<T, I>(p, as_they_stand), s);
}

template <class T, class I>
shunt_status with_columns(const struct shunt_sddmm *p, const struct shunt_device *d,
                          cudaStream_t stream)
{
  return shunt_csr_sddmm_direct_columns(p, d->multiprocessors) == 128
             ? launch<T, I, 4, 4, 4>(p, d, stream)
             : launch<T, I, 4, 4, 2>(p, d, stream);
}

template <class T>
shunt_status with_index(const struct shunt_sddmm *p, const struct shunt_device *d,
                        cudaStream_t stream)
{
  return p->c.index_type == SHUNT_I32 ? with_columns<T, int32_t>(p, d, stream)
                                      : with_columns<T, int64_t>(p, d, stream);
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
