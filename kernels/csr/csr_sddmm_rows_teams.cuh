// csr_sddmm_rows_teams.cuh: dot products of 32 neighbouring entries, of whatever rows, by
// one warp.
//
// A team of `Team` lanes takes as many neighbouring entries, one after the other.  A lane
// loads N elements (16 bytes) of b's column at a time; Chunks such steps make a slab:
//
//   lane q of a team of 8    0    1    2  ..  7  | 0    1 ..
//   k                        0..  N..  2N.. 7N.. | 8N.. 9N..
//                            '---- chunk 0 -----'  chunk 1
//
//   entries of the warp      0 .. 7 | 8 .. 15 | 16 .. 23 | 24 .. 31    row | | |
//   rows                     3 3 3 3 3 3 3 3 3 3 3 3 4 4 4 4 4 4 4 4 4 ...
//                                                    '-- a's row is loaded again here
//
// While rows are long, a's slab stands in registers and is loaded again only in the rounds
// in which a team goes on to another row (steady), so an entry costs one 16-byte load a lane
// and chunk; while they are short every entry loads its own (scattered).  Both keep
// IN_FLIGHT loads on the way.  The sums of a lane's entries then fold over the team (fold_team),
// which leaves lane q the total of the team's entry q, that is, lane l entry l.
//
// The order of additions depends on K, the type and the alignment alone: an entry's bits do
// not depend on the row's length nor on the entries beside it.
//
// Roofline: K * size bytes from L1 for each entry, at 128 bytes a clock and multiprocessor;
// where neighbouring rows share no columns, from L2: nnz * K * size / 8.5 TB/s.
#pragma once
#include "kernels/csr/csr_sddmm_dot.cuh"

namespace shunt
{
namespace csr::sddmm
{

// Where a row of a or a column of b begins, counted in loads (N elements, or one), so that one
// register holds it with 32-bit indices.
template <class I> struct place_of {
  using type = uint32_t;
};
template <> struct place_of<int64_t> {
  using type = uint64_t;
};

// From row to row of a, from column to column of b; and K.
template <class I> struct steps {
  typename place_of<I>::type a, b;
  int k;
};

// A warp's batch of 32 entries; N is 1, or what makes 16 bytes.
template <class T, class I, int N, int Team, int Chunks> struct team_batch {
  using C = compute_t<T>;
  using place = typename place_of<I>::type;
  static constexpr int IN_FLIGHT = 8;   // loads
  static constexpr int STEP = Team * N; // elements of k in a chunk
  static constexpr int SLAB = STEP * Chunks;
  static constexpr int ROUNDS = Team; // entries of a team
  static constexpr int STEADY = IN_FLIGHT / Chunks < ROUNDS ? IN_FLIGHT / Chunks : ROUNDS;
  static constexpr int SCATTERED = STEADY / 2; // rounds of a burst: each loads a's row too
  static constexpr unsigned FIRSTS = Team == 8 ? 0x01010101u : 0x11111111u; // lanes q = 0
  static_assert(Team == 4 || Team == 8, "what FIRSTS knows");
  static_assert(SCATTERED >= 1, "at most half as many chunks as loads in flight");

  struct slab {
    vec<T, N> at[Chunks];
  };

  const args<T, I> &p;
  const steps<I> &step;
  int q; // lane of the team

  __device__ __forceinline__ team_batch(const args<T, I> &p, const steps<I> &step, int lane)
      : p(p), step(step), q(lane % Team)
  {
  }

  static __device__ __forceinline__ const T *line_at(const T *first, place line)
  {
    return reinterpret_cast<const T *>(reinterpret_cast<const char *>(first) +
                                       (uint64_t)line * (uint64_t)(N * sizeof(T)));
  }

  // This lane's part of a slab of `line`.  `first`: of the slab in the first line.  Full: the
  // slab exists; else its first `left` elements do.
  template <bool Full>
  __device__ __forceinline__ void load(slab &to, const T *first, place line, int left) const
  {
    const T *from = line_at(first, line);
#pragma unroll
    for (int c = 0; c < Chunks; c++) {
      to.at[c] = vec<T, N>{};
      if (!Full && c * STEP + q * N >= left) continue;
      if constexpr (N * sizeof(T) == 16) {
        const uint4 raw = __ldg(reinterpret_cast<const uint4 *>(from + c * STEP));
        memcpy(&to.at[c], &raw, sizeof raw);
      } else {
        static_assert(N == 1, "whole loads or single elements");
        to.at[c].at[0] = load_constant(from + c * STEP);
      }
    }
  }

  __device__ __forceinline__ static C add(const slab &x, const slab &y, C sum)
  {
#pragma unroll
    for (int c = 0; c < Chunks; c++) sum = kept<T, N>(x.at[c]).dot(y.at[c], sum);
    return sum;
  }

  // `line` of the team's entry u.
  static __device__ __forceinline__ place of_entry(place line, int u)
  {
    return __shfl_sync(ALL, line, u, Team);
  }

  // Bit l of `moves`: entry l begins another row than its team's entry before.
  template <bool Full>
  __device__ __forceinline__ void add_steady(C (&sum)[ROUNDS], const T *a, const T *b, place a_line,
                                             const place (&b_line)[ROUNDS], unsigned moves,
                                             int left) const
  {
    slab x;
    load<Full>(x, a, of_entry(a_line, 0), left);
#pragma unroll
    for (int first = 0; first < ROUNDS; first += STEADY) {
      slab y[STEADY];
#pragma unroll
      for (int u = 0; u < STEADY; u++) load<Full>(y[u], b, b_line[first + u], left);
#pragma unroll
      for (int u = 0; u < STEADY; u++) {
        if (first + u > 0 && (moves & FIRSTS << (first + u))) // the whole warp's: uniform
          load<Full>(x, a, of_entry(a_line, first + u), left);
        sum[first + u] = add(x, y[u], sum[first + u]);
      }
    }
  }

  template <bool Full>
  __device__ __forceinline__ void add_scattered(C (&sum)[ROUNDS], const T *a, const T *b,
                                                place a_line, const place (&b_line)[ROUNDS],
                                                int left) const
  {
#pragma unroll
    for (int first = 0; first < ROUNDS; first += SCATTERED) {
      slab x[SCATTERED], y[SCATTERED];
#pragma unroll
      for (int u = 0; u < SCATTERED; u++) {
        load<Full>(x[u], a, of_entry(a_line, first + u), left);
        load<Full>(y[u], b, b_line[first + u], left);
      }
#pragma unroll
      for (int u = 0; u < SCATTERED; u++) sum[first + u] = add(x[u], y[u], sum[first + u]);
    }
  }

  // The last K % N elements: one a lane and turn.
  __device__ __forceinline__ void add_tail(C (&sum)[ROUNDS], const T *a, const T *b, place a_line,
                                           const place (&b_line)[ROUNDS], int left) const
  {
#pragma unroll
    for (int u = 0; u < ROUNDS; u++) {
      const T *x = line_at(a, of_entry(a_line, u)), *y = line_at(b, b_line[u]);
#pragma unroll 1
      for (int at = q; at < left; at += Team)
        sum[u] = multiply_add(widen<C>(x[at]), widen<C>(y[at]), sum[u]);
    }
  }

  // Rounds in which a team goes on to another row: bit u, whichever team it is.
  static __device__ __forceinline__ unsigned rounds_of(unsigned moves)
  {
#pragma unroll
    for (int lanes = WARP / 2; lanes >= Team; lanes /= 2) moves |= moves >> lanes;
    return moves & ((1u << ROUNDS) - 1);
  }

  // Row (counted from row `first`, fewer than 32 on) and column of entry `lane`, valid in
  // every lane.  Returns the dot product of entry `lane`.
  __device__ __forceinline__ C run(int64_t first, int row, I column) const
  {
    constexpr int OFTEN = ROUNDS / 4; // in more rounds than these rows end: scattered
    const T *a = p.a + first * p.lda, *b = p.b;
    const place a_line = place(row) * step.a, line = place(column) * step.b;
    place b_line[ROUNDS];
#pragma unroll
    for (int u = 0; u < ROUNDS; u++) b_line[u] = of_entry(line, u);
    const int before = __shfl_up_sync(ALL, row, 1);
    const unsigned moves = __ballot_sync(ALL, q > 0 && row != before);
    const bool steady = __popc(rounds_of(moves)) <= OFTEN;

    C sum[ROUNDS] = {};
    const T *x = a + q * N, *y = b + q * N;
    int left = step.k / N * N;
    if (steady) {
      for (; left >= SLAB; left -= SLAB, x += SLAB, y += SLAB)
        add_steady<true>(sum, x, y, a_line, b_line, moves, left);
      if (left > 0) add_steady<false>(sum, x, y, a_line, b_line, moves, left);
    } else {
      for (; left >= SLAB; left -= SLAB, x += SLAB, y += SLAB)
        add_scattered<true>(sum, x, y, a_line, b_line, left);
      if (left > 0) add_scattered<false>(sum, x, y, a_line, b_line, left);
    }
    const int whole = step.k / N * N;
    if (whole < step.k) add_tail(sum, a + whole, b + whole, a_line, b_line, step.k - whole);
    return fold_team(sum, q);
  }

  // Adds a slab of columns to the sums of R rows from `a` on, all of which want them.
  template <bool Full, int R>
  __device__ __forceinline__ void add_shared(C (&sum)[R][ROUNDS], const T *a, const T *b,
                                             const place (&b_line)[ROUNDS], int left) const
  {
    constexpr int AT_ONCE = STEADY / 2;
    slab x[R];
#pragma unroll
    for (int r = 0; r < R; r++) load<Full>(x[r], a, place(r) * step.a, left);
#pragma unroll
    for (int first = 0; first < ROUNDS; first += AT_ONCE) {
      slab y[AT_ONCE];
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++) load<Full>(y[u], b, b_line[first + u], left);
#pragma unroll
      for (int u = 0; u < AT_ONCE; u++)
#pragma unroll
        for (int r = 0; r < R; r++) sum[r][first + u] = add(x[r], y[u], sum[r][first + u]);
    }
  }

  // The entries of R rows from `first` on in the same columns: each column is loaded once.  The
  // sums are those of run(), bit for bit.
  template <int R> __device__ __forceinline__ void run_shared(int64_t first, I column, C (&dot)[R])
  {
    const T *a = p.a + first * p.lda, *b = p.b;
    const place line = place(column) * step.b;
    place b_line[ROUNDS];
#pragma unroll
    for (int u = 0; u < ROUNDS; u++) b_line[u] = of_entry(line, u);

    C sum[R][ROUNDS] = {};
    const T *x = a + q * N, *y = b + q * N;
    int left = step.k / N * N;
    for (; left >= SLAB; left -= SLAB, x += SLAB, y += SLAB)
      add_shared<true>(sum, x, y, b_line, left);
    if (left > 0) add_shared<false>(sum, x, y, b_line, left);
    const int whole = step.k / N * N;
#pragma unroll
    for (int r = 0; r < R; r++) {
      if (whole < step.k)
        add_tail(sum[r], a + whole, b + whole, place(r) * step.a, b_line, step.k - whole);
      dot[r] = fold_team(sum[r], q);
    }
  }
};

// Entries begin <= position < end, at least one.
template <class T, class I, int N, int Team, int Chunks>
__device__ __forceinline__ void teams_range(const args<T, I> &p, const steps<I> &step, I begin,
                                            I end, int lane)
{
  row_window<I> window;
  window.seek(p.c, 0, guess_row(p.c, begin), begin, lane);
  I column = __ldg(p.c.columns + min(I(begin + lane), I(end - 1)));
  const scale<T> by(p.out);
  const team_batch<T, I, N, Team, Chunks> warp(p, step, lane);

  for (I position = begin; position < end;) {
    const I limit = min(end, window.hold(p.c, position, lane));
    const int count = (int)min(I(limit - position), I(WARP));
    const I next = position + count;
    const I coming = __ldg(p.c.columns + min(I(next + lane), I(end - 1)));
    const int64_t first = window.first;
    const int row = window.row_of(position + min(lane, count - 1));
    const int last = __shfl_sync(ALL, row, WARP - 1);
    if (last >= WARP / 4) window.advance(p.c, last, lane);
    const compute_t<T> dot = warp.run(first, row, column - p.c.base);
    if (lane < count) store_value<T>(p.out, by, position + lane, dot);
    position = next;
    column = coming;
  }
}

} // namespace csr::sddmm
} // namespace shunt
