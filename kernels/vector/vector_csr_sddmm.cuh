// vector_csr_sddmm.cuh: one warp multiplies 8 rows of A by up to 32 columns of B.
//
// The 8 rows (a group, aligned) share a list of columns; a tile is 32 neighbouring
// positions of that list: 256 entries of C that need 32 columns of B.
//
//              list position   p   p+1  ..  p+31
//   row 0  of the group        x    x   ..   x       values[start of row 0 + p ..]
//    :                         :    :        :
//   row 7                      x    x   ..   x       values[start of row 7 + p ..]
//
// A product class leaves, for the lane's list position `mine`, the eight dot products
// of the group's rows.  Both keep float sums and read whole 16-byte pieces along the
// inner dimension; the ragged end is read element by element, so nothing of the
// padding is multiplied.
//
//   mma_product  f16, bf16: mma.m16n8k16 with the operands swapped: the 16-side is
//                16 gathered columns of B, the 8-side the rows of A.
//   fma_product  f32: a column of B is loaded once and multiplied with the 8 rows.
#pragma once
#include "kernels/csr/csr_sddmm_rows.cuh"
#include "kernels/ptx/mma.cuh"

namespace shunt
{
namespace vector::sddmm
{

using namespace shunt::csr::sddmm;
using shunt::csr::sddmm::scale;

constexpr int GROUP = 8;        // rows of a group
constexpr int TILE = WARP;      // list positions of a tile
constexpr int STAGE_PITCH = 36; // floats a row: fragments of four rows miss each other's banks

// Shared memory of one warp; only mma_product uses it.
struct stage {
  float at[GROUP][STAGE_PITCH];
};

template <class T>
__device__ __forceinline__ void mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]);
template <>
__device__ __forceinline__ void mma<__half>(float (&d)[4], const uint32_t (&a)[4],
                                            const uint32_t (&b)[2])
{
  ptx::mma_m16n8k16_f16(d, a, b);
}
template <>
__device__ __forceinline__ void mma<__nv_bfloat16>(float (&d)[4], const uint32_t (&a)[4],
                                                   const uint32_t (&b)[2])
{
  ptx::mma_m16n8k16_bf16(d, a, b);
}

// The order of k inside a product is free as long as both operands agree.  Lane
// l = 4 g + t holds 16 bytes, k = 32 s + 8 t .. + 7, of its row: two k-steps of 16 at
// once, without any exchange between lanes.
//
//   16 bytes of lane t     | w0 | w1 | w2 | w3 |      two elements each
//   step 1 multiplies        w0   w1                  as (2t, 2t+1), (2t+8, 2t+9)
//   step 2 multiplies                  w2   w3
template <class T, class I> struct mma_product {
  static constexpr int PIECE = 8; // elements of 16 bytes
  static constexpr int STEP = 4 * PIECE;

  const args<T, I> &p;
  stage &shared;
  int lane, g, t;

  __device__ __forceinline__ mma_product(const args<T, I> &problem, stage &room, int lane_)
      : p(problem), shared(room), lane(lane_), g(lane_ / 4), t(lane_ % 4)
  {
  }

  static __device__ __forceinline__ uint4 piece(const T *from)
  {
    return __ldg(reinterpret_cast<const uint4 *>(from));
  }

  // The piece at `from`, of which only `valid` elements (maybe none) exist.
  static __device__ __forceinline__ uint4 ragged_piece(const T *from, int64_t valid)
  {
    if (valid >= PIECE) return piece(from);
    vec<unsigned short, PIECE> v;
#pragma unroll
    for (int e = 0; e < PIECE; e++)
      v.at[e] = e < valid ? __ldg(reinterpret_cast<const unsigned short *>(from) + e) : 0;
    uint4 raw;
    memcpy(&raw, &v, sizeof raw);
    return raw;
  }

  template <int Halves>
  static __device__ __forceinline__ void multiply_step(float (&d)[Halves][4], const uint4 &a,
                                                       const uint4 (&b)[Halves][2])
  {
#pragma unroll
    for (int h = 0; h < Halves; h++) {
      mma<T>(d[h], {b[h][0].x, b[h][1].x, b[h][0].y, b[h][1].y}, {a.x, a.y});
      mma<T>(d[h], {b[h][0].z, b[h][1].z, b[h][0].w, b[h][1].w}, {a.z, a.w});
    }
  }

  // 16 * Halves list positions into shared.at.
  template <int Halves> __device__ __forceinline__ void multiply(int64_t first_row, I column) const
  {
    const T *row = p.a + (first_row + g) * p.lda + t * PIECE;
    const T *gathered[Halves][2];
#pragma unroll
    for (int h = 0; h < Halves; h++)
#pragma unroll
      for (int i = 0; i < 2; i++) {
        I j = __shfl_sync(ALL, column, h * 16 + i * 8 + g);
        gathered[h][i] = p.b + (int64_t)j * p.ldb + t * PIECE;
      }

    float d[Halves][4] = {};
    const int64_t whole = p.k / STEP * STEP;
#pragma unroll 2
    for (int64_t k = 0; k < whole; k += STEP) {
      uint4 a = piece(row + k), b[Halves][2];
#pragma unroll
      for (int h = 0; h < Halves; h++) {
        b[h][0] = piece(gathered[h][0] + k);
        b[h][1] = piece(gathered[h][1] + k);
      }
      multiply_step<Halves>(d, a, b);
    }
    if (whole < p.k) {
      const int64_t valid = p.k - whole - t * PIECE;
      uint4 a = ragged_piece(row + whole, valid), b[Halves][2];
#pragma unroll
      for (int h = 0; h < Halves; h++) {
        b[h][0] = ragged_piece(gathered[h][0] + whole, valid);
        b[h][1] = ragged_piece(gathered[h][1] + whole, valid);
      }
      multiply_step<Halves>(d, a, b);
    }

#pragma unroll
    for (int h = 0; h < Halves; h++)
#pragma unroll
      for (int e = 0; e < 4; e++) shared.at[2 * t + e % 2][h * 16 + e / 2 * 8 + g] = d[h][e];
  }

  // The list position, counted from the tile's first, that this lane ends up with.
  __device__ __forceinline__ int mine() const
  {
    return lane;
  }

  // `column` of list position `lane`, valid in every lane; `count` are wanted.
  __device__ __forceinline__ void run(int64_t first_row, I column, int count,
                                      float (&dot)[GROUP]) const
  {
    if (count > TILE / 2)
      multiply<2>(first_row, column);
    else
      multiply<1>(first_row, column);
    __syncwarp();
#pragma unroll
    for (int r = 0; r < GROUP; r++) dot[r] = shared.at[r][lane];
    __syncwarp();
  }
};

// Lanes, teams and rounds as in `batch` (kernels/csr/csr_sddmm_rows.cuh), a slab being one step
// here: team x round = list position, 8 x 8 sums a lane.
template <class T, class I> struct fma_product {
  static constexpr int N = 16 / (int)sizeof(T);
  static constexpr int STEP = TEAM * N;
  using C = compute_t<T>;

  const args<T, I> &p;
  batch<T, I, N, 1> warp;

  __device__ __forceinline__ fma_product(const args<T, I> &problem, stage &, int lane)
      : p(problem), warp(problem, lane)
  {
  }

  static __device__ __forceinline__ vec<T, N> piece(const T *from, bool exists)
  {
    vec<T, N> v{};
    if (exists) v = load_vec<T, N>(from);
    return v;
  }

  __device__ __forceinline__ int mine() const { return warp.mine(); }

  // The first `Used` rounds, without branches between them: loads run ahead.
  template <int Used>
  __device__ __forceinline__ void multiply(int64_t first_row, I column,
                                           C (&sum)[GROUP][ROUNDS]) const
  {
    const T *rows = p.a + first_row * p.lda;
    const int64_t whole = p.k / N * N;

    for (int64_t k0 = 0; k0 < whole; k0 += STEP) {
      const int64_t k = k0 + warp.q * N;
      vec<T, N> x[GROUP];
#pragma unroll
      for (int r = 0; r < GROUP; r++) x[r] = piece(rows + r * p.lda + k, k < whole);
#pragma unroll
      for (int u = 0; u < Used; u++) {
        vec<T, N> y = piece(warp.column_of_b(column, u) + k, k < whole);
#pragma unroll
        for (int r = 0; r < GROUP; r++)
#pragma unroll
          for (int e = 0; e < N; e++)
            sum[r][u] = multiply_add(widen<C>(x[r].at[e]), widen<C>(y.at[e]), sum[r][u]);
      }
    }
    if (whole < p.k) {
#pragma unroll
      for (int u = 0; u < Used; u++) {
        const T *y = warp.column_of_b(column, u);
#pragma unroll
        for (int r = 0; r < GROUP; r++)
          sum[r][u] = warp.dot_tail(rows + r * p.lda, y, whole, sum[r][u]);
      }
    }
  }

  __device__ __forceinline__ void run(int64_t first_row, I column, int count, C (&dot)[GROUP]) const
  {
    C sum[GROUP][ROUNDS] = {};
    if (count > TILE / 2)
      multiply<ROUNDS>(first_row, column, sum);
    else
      multiply<ROUNDS / 2>(first_row, column, sum);
#pragma unroll
    for (int r = 0; r < GROUP; r++) dot[r] = fold_team(sum[r], warp.q);
  }
};

template <class T, class I> struct product_of {
  using type = mma_product<T, I>;
};
template <class I> struct product_of<float, I> {
  using type = fma_product<float, I>;
};

// Eight rows from `first`: lane r <= 8 holds where row first + r begins.
template <class I> struct group_rows {
  int64_t first;
  I start;
  bool even; // the eight rows exist and have one length, `length`
  I length;

  __device__ __forceinline__ void load(const pattern<I> &c, int64_t group, int lane)
  {
    first = group * GROUP;
    int64_t i = first + (lane < GROUP ? lane : GROUP);
    start = __ldg(c.offsets + (i < c.rows ? i : c.rows)) - c.base;
    I mine = __shfl_down_sync(ALL, start, 1) - start;
    length = __shfl_sync(ALL, mine, 0);
    even = __all_sync(ALL, lane >= GROUP || mine == length) && length > 0;
  }
  __device__ __forceinline__ I begin() const { return __shfl_sync(ALL, start, 0); }
  __device__ __forceinline__ I end() const { return __shfl_sync(ALL, start, GROUP); }
  __device__ __forceinline__ I start_of(int r) const { return __shfl_sync(ALL, start, r); }
};

// The eight column lists of an even group at list positions `at` .. at + 31; beyond
// the lists' end the last column stands again.
template <class T, class I> struct tile_lists {
  I at;
  int count; // list positions that exist
  I column[GROUP];

  __device__ __forceinline__ void load(const pattern<I> &c, const group_rows<I> &rows, I from,
                                       int lane)
  {
    at = from;
    count = (int)min(I(TILE), I(rows.length - at));
#pragma unroll
    for (int r = 0; r < GROUP; r++)
      column[r] = __ldg(c.columns + rows.start_of(r) + at + min(lane, count - 1));
  }
  __device__ __forceinline__ bool agree() const
  {
    bool same = true;
#pragma unroll
    for (int r = 1; r < GROUP; r++) same &= column[r] == column[0];
    return __all_sync(ALL, same);
  }
};

// The two ways that do not multiply eight rows at once.  Kept out of line: they need
// more registers than the fast way, and are not to push it out of the instruction cache.
template <class T, class I>
__device__ __noinline__ void one_row_of_tile(const args<T, I> &p, int64_t row, I begin, int count)
{
  constexpr int N = 16 / (int)sizeof(T);
  const int lane = threadIdx.x % WARP;
  const batch<T, I, N, wide_slab<T, N>> warp(p, lane);
  const I column = __ldg(p.c.columns + begin + min(lane, count - 1)) - p.c.base;
  const compute_t<T> dot = warp.template run<true>(row, column, count);
  if (warp.mine() < count) store_value<T>(p.out, scale<T>(p.out), begin + warp.mine(), dot);
}

template <class T, class I>
__device__ __noinline__ void uneven_group(const args<T, I> &p, int64_t first_row, I begin, I end)
{
  constexpr int N = 16 / (int)sizeof(T);
  const int lane = threadIdx.x % WARP;
  row_window<I> window;
  window.first = first_row;
  window.load(p.c, lane);
  rows_range<T, I, N, wide_slab<T, N>>(p, window, begin, end, lane);
}

// A tile whose eight lists agree.
template <class T, class I>
__device__ __forceinline__ void vector_tile(const args<T, I> &p, const scale<T> &by,
                                            const group_rows<I> &rows,
                                            const tile_lists<T, I> &lists, stage &room, int lane)
{
  const typename product_of<T, I>::type warp(p, room, lane);
  compute_t<T> dot[GROUP];
  warp.run(rows.first, lists.column[0] - p.c.base, lists.count, dot);
#pragma unroll
  for (int r = 0; r < GROUP; r++) {
    I position = rows.start_of(r) + lists.at + warp.mine();
    if (warp.mine() < lists.count) store_value<T>(p.out, by, position, dot[r]);
  }
}

} // namespace vector::sddmm
} // namespace shunt
