// csr_sddmm_rows.cuh: dot products of a batch of up to 32 entries by one warp, as the panel
// and vector kernels want them (the rows kernel: csr_sddmm_rows_teams.cuh).
//
// Eight lanes (a team) share an entry; the warp's four teams take entries 4 u + team,
// u = 0 .. 7.  A lane loads N elements (16 bytes) of b's column at a time, so a team
// reads one 128-byte line:
//
//   lane q of a team   0    1    2  ..  7  | 0    1 ..
//   k                  0..  N..  2N.. 7N.. | 8N.. 9N..      Chunks such steps = a slab
//                      '---- step 0 ------'  step 1
//
// When all entries belong to one row, the row's slab stands in registers for all
// eight u; else each entry loads its own.  Rounds go in bursts of as many as keep
// eight 16-byte loads of B in flight: a slab of 8 chunks has bursts of 1, one of 4 of 2.
// The eight sums of a lane then fold over
// the team (fold_team), which leaves lane q the total of u = q.
//
// The order of additions depends on K alone: an entry's bits do not depend on the
// batch that it falls into.
#pragma once
#include "kernels/csr/csr_sddmm_dot.cuh"

namespace shunt
{
namespace csr::sddmm
{

constexpr int TEAM = 8;            // lanes of a team
constexpr int TEAMS = WARP / TEAM; // of a warp
constexpr int ROUNDS = 8;          // entries of a team in a batch
constexpr int BATCH = TEAMS * ROUNDS;

// Chunks of a slab: what fills 32 registers with a row of A.
template <class T, int N> constexpr int wide_slab = N == 1 || sizeof(T) > 2 ? 8 : 4;

// N elements of a row; N is 1, or what makes 16 bytes.
template <class T, int N> __device__ __forceinline__ vec<T, N> load_vec(const T *p)
{
  vec<T, N> v;
  if constexpr (N * sizeof(T) == 16) {
    uint4 raw = __ldg(reinterpret_cast<const uint4 *>(p));
    memcpy(&v, &raw, sizeof v);
  } else {
    static_assert(N == 1, "whole loads or single elements");
    v.at[0] = load_constant(p);
  }
  return v;
}

// A warp's batch.  `a_row` and `b_column`, the operands of entry `lane`, need a valid
// value in every lane; `count` entries, 1 .. BATCH, are wanted.
template <class T, class I, int N, int Chunks> struct batch {
  using C = compute_t<T>;
  static constexpr int STEP = TEAM * N; // elements of k that a team loads at once
  static constexpr int SLAB = STEP * Chunks;
  static constexpr int BURST = Chunks < 8 ? 8 / Chunks : 1; // rounds

  const T *a, *b;
  int64_t lda, ldb;
  int64_t k;
  int team, q; // lane = team * TEAM + q

  __device__ __forceinline__ batch(const args<T, I> &p, int lane)
      : a(p.a), b(p.b), lda(p.lda), ldb(p.ldb), k(p.k), team(lane / TEAM), q(lane % TEAM)
  {
  }

  // Full: the whole slab exists; else only what lies before `whole`.
  template <bool Full>
  __device__ __forceinline__ vec<T, N> load_chunk(const T *row, int64_t k0, int64_t whole,
                                                  int c) const
  {
    const int64_t at = k0 + c * STEP + q * N;
    if (Full || at < whole) return load_vec<T, N>(row + at);
    return vec<T, N>{};
  }

  template <bool Full>
  __device__ __forceinline__ void load_slab(kept<T, N> (&to)[Chunks], const T *row, int64_t k0,
                                            int64_t whole) const
  {
#pragma unroll
    for (int c = 0; c < Chunks; c++) to[c] = kept<T, N>(load_chunk<Full>(row, k0, whole, c));
  }

  // sum += (slab of a) . (slab of the row at `row`)
  template <bool Full>
  __device__ __forceinline__ C dot_slab(const kept<T, N> (&x)[Chunks], const T *row, int64_t k0,
                                        int64_t whole, C sum) const
  {
    vec<T, N> v[Chunks];
#pragma unroll
    for (int c = 0; c < Chunks; c++) v[c] = load_chunk<Full>(row, k0, whole, c);
#pragma unroll
    for (int c = 0; c < Chunks; c++) sum = x[c].dot(v[c], sum);
    return sum;
  }

  // The last K % N elements, one a lane.
  __device__ __forceinline__ C dot_tail(const T *x, const T *y, int64_t whole, C sum) const
  {
    static_assert(N <= TEAM, "a lane for each");
    const int64_t at = whole + q;
    return at < k ? multiply_add(widen<C>(x[at]), widen<C>(y[at]), sum) : sum;
  }

  // Which entry of the batch this lane's result belongs to.
  __device__ __forceinline__ int mine() const
  {
    return q * TEAMS + team;
  }

  // Row of A and column of B of entry 4 u + team.
  __device__ __forceinline__ const T *row_of_a(int64_t a_row, int u) const
  {
    return a + __shfl_sync(ALL, a_row, u * TEAMS + team) * lda;
  }
  __device__ __forceinline__ const T *column_of_b(I b_column, int u) const
  {
    return b + (int64_t)__shfl_sync(ALL, b_column, u * TEAMS + team) * ldb;
  }

  template <bool OneRow, bool Full>
  __device__ __forceinline__ void add_slab(C (&sum)[ROUNDS], int64_t a_row, I b_column, int count,
                                           int64_t k0, int64_t whole) const
  {
    kept<T, N> x[Chunks];
    if (OneRow) load_slab<Full>(x, a + a_row * lda, k0, whole);
#pragma unroll
    for (int first = 0; first < ROUNDS; first += BURST)
      if (first * TEAMS < count) {
#pragma unroll
        for (int u = first; u < first + BURST; u++) {
          if (!OneRow) load_slab<Full>(x, row_of_a(a_row, u), k0, whole);
          sum[u] = dot_slab<Full>(x, column_of_b(b_column, u), k0, whole, sum[u]);
        }
      }
  }

  // OneRow: a_row is the same in all lanes.  Returns the dot product of entry mine().
  template <bool OneRow>
  __device__ __forceinline__ C run(int64_t a_row, I b_column, int count) const
  {
    C sum[ROUNDS] = {};
    const int64_t whole = k / N * N;
    int64_t k0 = 0;
    for (; k0 + SLAB <= whole; k0 += SLAB)
      add_slab<OneRow, true>(sum, a_row, b_column, count, k0, whole);
    if (k0 < whole) add_slab<OneRow, false>(sum, a_row, b_column, count, k0, whole);
    if (whole < k) {
#pragma unroll
      for (int u = 0; u < ROUNDS; u++)
        if (u * TEAMS < count)
          sum[u] = dot_tail(OneRow ? a + a_row * lda : row_of_a(a_row, u), column_of_b(b_column, u),
                            whole, sum[u]);
    }
    return fold_team(sum, q);
  }
};

// Entries begin <= position < end, of whatever rows; `window` holds `begin`.
template <class T, class I, int N, int Chunks>
__device__ __forceinline__ void rows_range(const args<T, I> &p, row_window<I> window, I begin,
                                           I end, int lane)
{
  const batch<T, I, N, Chunks> warp(p, lane);
  const scale<T> by(p.out);

  for (I position = begin; position < end;) {
    I limit = min(end, window.hold(p.c, position, lane));
    int count = (int)min(I(limit - position), I(BATCH));
    I nth = position + min(lane, count - 1);
    I column = __ldg(p.c.columns + nth) - p.c.base;
    int row = window.row_of(nth);
    int last = __shfl_sync(ALL, row, WARP - 1);
    compute_t<T> dot;
    if (__shfl_sync(ALL, row, 0) == last)
      dot = warp.template run<true>(window.first + last, column, count);
    else
      dot = warp.template run<false>(window.first + row, column, count);
    if (warp.mine() < count) store_value<T>(p.out, by, position + warp.mine(), dot);
    position += count;
    if (last >= WARP / 4) window.advance(p.c, last, lane);
  }
}

} // namespace csr::sddmm
} // namespace shunt
