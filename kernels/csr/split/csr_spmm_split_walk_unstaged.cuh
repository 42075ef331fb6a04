// csr_spmm_split_walk_unstaged.cuh: a piece of one row of A times B, for narrow C: each group reads its
// nonzeros from A itself, and none go through shared memory.
//
//   row    |x x x x|x x x x|x x x x|x x x x|x x x x|x x x x|x x x .|      groups 0 1 2 3 0 1 2 ..
//           `------- CHUNK of each --------'`--- the next --- ..          (team of 4)
//
// All lanes of a group read the same column and value, and neighbouring groups neighbouring ones, at
// whose columns rows of B are often neighbours, too.  With one or two lanes a group that is no more
// loads than staging takes, and few registers, so that many warps are there to wait for B.
//
// The groups' sums are added in halves: at each step a lane gives the half of its columns that is
// its partner's, and keeps the other, until it has one column:
//
//   columns of a group's lane   | 0 1 2 3 |      group 0 and 1 ->  | 0 1 | . . |  | . . | 2 3 |
//                                                groups 2 apart ->   |0|             |2| ..
#pragma once
#include "kernels/csr/split/csr_spmm_split_walk.cuh"

namespace shunt
{
namespace csr
{

constexpr int kUnstagedChunk = 4;  // rows of B in flight per lane
constexpr int kUnstagedBlocks = 5; // resident blocks that registers are limited for

// sum[e] += over the nonzeros p, p + step .. before `end`, CHUNK of them at most; WHOLE: all are.
template <bool WHOLE, class S, class T, int V>
__device__ __forceinline__ void multiply_unstaged_chunk(const args<T> &a, const char *b,
                                                        uint32_t b_row_bytes, int p, int end,
                                                        int step, T *sum)
{
  constexpr int CHUNK = kUnstagedChunk;
  uint32_t column[CHUNK];
  S value[CHUNK];
  b_word<S, V> x[CHUNK];
#pragma unroll
  for (int u = 0; u < CHUNK; u++) {
    const int q = p + u * step;
    column[u] = 0;
    value[u] = S();
    if (WHOLE || q < end) {
      column[u] = (uint32_t)load_word(a.columns, q, a.wide);
      value[u] = load_constant(static_cast<const S *>(a.values) + q);
    }
  }
  // What is not stored is not multiplied: B may hold a NaN there.
#pragma unroll
  for (int u = 0; u < CHUNK; u++) {
    if (!WHOLE) x[u].clear();
    if (WHOLE || p + u * step < end) x[u].load(b + (uint64_t)column[u] * b_row_bytes);
  }
#pragma unroll
  for (int u = 0; u < CHUNK; u++) x[u].multiply_into(sum, widen<T>(value[u]));
}

// sum[e] += over the nonzeros p, p + step .. before `end`.  WHOLE: whole chunks are taken without a
// look at each nonzero, which is worth it where the teams of a warp end together.
template <bool WHOLE, class S, class T, int V>
__device__ __forceinline__ void walk_unstaged(const args<T> &a, const char *b, int p, int end,
                                              int step, T *sum)
{
  constexpr int CHUNK = kUnstagedChunk;
  uint32_t b_row_bytes = a.b_row_bytes;
  asm("" : "+l"(b), "+r"(b_row_bytes)); // else b's terms are added again for each row
  if (WHOLE)
    for (; p + (CHUNK - 1) * step < end; p += CHUNK * step)
      multiply_unstaged_chunk<true, S, T, V>(a, b, b_row_bytes, p, end, step, sum);
  for (; p < end; p += CHUNK * step)
    multiply_unstaged_chunk<false, S, T, V>(a, b, b_row_bytes, p, end, step, sum);
}

// Adds the sums of groups `apart` lanes apart, twice that .. up to `team` lanes, and stores the W
// columns from `col` on of a row of C.  All lanes of the warp; stores: the lane's group has a row
// and these columns.  The bits are those of add_groups().
template <class Out, class T, int W>
__device__ __forceinline__ void add_and_store(const args<T> &a, int row, int col, int apart,
                                              int team, bool stores, T *sum, const T *scalars)
{
  if constexpr (W == 1) {
    for (; apart < team; apart *= 2) {
      sum[0] = add(sum[0], shuffle_xor(sum[0], apart));
      stores = stores && !(threadIdx.x & apart);
    }
    if (stores) store_row<Out, T, 1>(a, row, col, sum, scalars);
  } else if (apart < team) {
    const bool upper = threadIdx.x & apart;
#pragma unroll
    for (int e = 0; e < W / 2; e++) {
      const T kept = upper ? sum[e + W / 2] : sum[e], given = upper ? sum[e] : sum[e + W / 2];
      sum[e] = add(kept, shuffle_xor(given, apart));
    }
    add_and_store<Out, T, W / 2>(a, row, upper ? col + W / 2 : col, 2 * apart, team, stores, sum,
                                 scalars);
  } else if (stores) {
    store_row<Out, T, W>(a, row, col, sum, scalars);
  }
}

// A row of the lane's team; row: -1 if it has none.
template <bool WHOLE, class S, class Out, class T, int V>
__device__ __forceinline__ void multiply_unstaged(const args<T> &a, const lane_columns<S, V> &c,
                                                  int row, int begin, int end, int team_log2,
                                                  int lanes_log2)
{
  const int in_team = threadIdx.x & ((1 << team_log2) - 1);
  const T scalars[2] = {a.alpha.get(), a.beta.get()};
  T sum[V];
  set_zero<T, V>(sum);
  walk_unstaged<WHOLE, S, T, V>(a, c.b, begin + (in_team >> lanes_log2), end,
                                1 << (team_log2 - lanes_log2), sum);
  __syncwarp();
  add_and_store<Out, T, V>(a, row, c.col, 1 << lanes_log2, 1 << team_log2, row >= 0 && c.active,
                           sum, scalars);
}

} // namespace csr
} // namespace shunt
