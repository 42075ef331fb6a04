// csr_spmm_split_walk.cuh: a piece of one row of A times B, by a team of lanes.
//
//   team     1 << team_log2 neighbouring lanes of a warp, at work on one row
//   group    1 << lanes_log2 of them: a team is 1 or more groups
//   word     V columns of C; a lane has 1 of a group's, or 2 (csr_spmm_split_words.cuh)
//
//   row   |c c c c c c c c|c c c c c c c c|c c c c c c c c|c c c c . . .|  nonzeros
//          '-- chunk 0 --' '-- chunk 1 --' '-- chunk 2 --' '-- chunk 3 -'
//             group 0         group 1         group 0         group 1       (team of 2)
//
// A batch of kLoads nonzeros a lane goes to shared memory, coalesced, while the batch
// before is multiplied; its columns and values come back 16 bytes at a time.  CHUNK rows
// of B are then in flight per lane.
//
// Shared memory of a warp (elements); the gap of 4 keeps the teams' reads of the same
// step in different banks:
//
//   column [ team 0: kLoads << team_log2 | 4 | team 1: kLoads << team_log2 | 4 | .. ]
//   value  [ the same                                                              ]
#pragma once
#include "kernels/csr/csr_spmm_merge.cuh"
#include "kernels/csr/split/csr_spmm_split_shape.cuh"

namespace shunt
{
namespace csr
{

constexpr int kLoads = 4; // nonzeros of a batch per lane
constexpr int kTeamGap = 4;
constexpr int kBatch = 32 * kLoads + (32 >> kLeastTeamLog2) * kTeamGap;

template <class T> struct batch {
  uint32_t column[kBatch];
  T value[kBatch];
};

// The low word of element i of an index array, base not removed: all of it, since the
// launcher takes no matrix of 2^30 nonzeros or 2^31 rows or 2^32 columns.  No branch on
// the width of indices, and one multiply-add for the address.
__device__ __forceinline__ int load_word(const void *array, int i, int wide)
{
  return __ldg(reinterpret_cast<const int *>(static_cast<const char *>(array) +
                                             static_cast<int64_t>(i) * (4 << wide)));
}

// The same, base removed.
__device__ __forceinline__ int load_low(const void *array, int i, int wide, int base)
{
  return load_word(array, i, wide) - base;
}

// Where in a warp's batch those of the lane's team stand.
__device__ __forceinline__ int team_first(int team_log2)
{
  return (threadIdx.x % 32 >> team_log2) * ((kLoads << team_log2) + kTeamGap);
}

// kLoads nonzeros a lane, on their way from A to a batch; columns with their base.
template <class S> struct fetched {
  uint32_t column[kLoads];
  S value[kLoads];

  template <class T>
  __device__ __forceinline__ void load(const args<T> &a, int at, int end, int in_team,
                                       int team_log2)
  {
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      const int p = at + (k << team_log2) + in_team;
      column[k] = 0;
      value[k] = S();
      if (p < end) {
        column[k] = (uint32_t)load_word(a.columns, p, a.wide);
        value[k] = load_constant(static_cast<const S *>(a.values) + p);
      }
    }
  }
  template <class T>
  __device__ __forceinline__ void stage(int first, int in_team, int team_log2, batch<T> &mine) const
  {
#pragma unroll
    for (int k = 0; k < kLoads; k++) {
      mine.column[first + (k << team_log2) + in_team] = column[k];
      mine.value[first + (k << team_log2) + in_team] = widen<T>(value[k]);
    }
  }
};

// x = the rows of B of the nonzeros staged at [from, from + CHUNK); WHOLE: all lie before `stop`.
// step: bytes from a lane's word of a row of B to its next.
template <bool WHOLE, class S, class T, int V, int CHUNK, int WORDS>
__device__ __forceinline__ void load_chunk(const args<T> &a, const char *b, int step,
                                           const batch<T> &mine, int from, int stop,
                                           b_word<S, V> (*x)[WORDS])
{
#pragma unroll
  for (int half = 0; half < CHUNK; half += 4) {
    uint32_t column[4];
    wide<uint32_t, 4>::load(column, mine.column + from + half);
    // What is not stored is not multiplied: B may hold a NaN there.
#pragma unroll
    for (int u = 0; u < 4; u++) {
#pragma unroll
      for (int w = 0; w < WORDS && !WHOLE; w++) x[half + u][w].clear();
      if (!WHOLE && from + half + u >= stop) continue;
      const char *row = b + (uint64_t)column[u] * a.b_row_bytes;
#pragma unroll
      for (int w = 0; w < WORDS; w++) x[half + u][w].load(row + w * step);
    }
  }
}

// sum[e] += over the nonzeros staged at [from, from + CHUNK) and before `stop`.
template <bool WHOLE, class S, class T, int V, int CHUNK, int WORDS>
__device__ __forceinline__ void multiply_chunk(const args<T> &a, const char *b, int step,
                                               const batch<T> &mine, int from, int stop, T *sum)
{
  b_word<S, V> x[CHUNK][WORDS];
  T value[CHUNK];
  load_chunk<WHOLE, S, T, V, CHUNK, WORDS>(a, b, step, mine, from, stop, x);
  wide<T, CHUNK>::load(value, mine.value + from); // 0 beyond the row's end
#pragma unroll
  for (int u = 0; u < CHUNK; u++)
#pragma unroll
    for (int w = 0; w < WORDS; w++) x[u][w].multiply_into(sum + w * V, value[u]);
}

// sum[e] += over the nonzeros [begin, end) of one row: the lane's group's share of them.
// All lanes of a warp come here together; ranges are the same within a team.  AHEAD: the
// next batch is fetched before this one is multiplied, for rows of many batches.  WHOLE: chunks
// that all of the warp's groups have in full are taken without a look at each nonzero.
template <bool AHEAD, bool WHOLE, class S, class T, int V, int CHUNK, int WORDS = 1>
__device__ __forceinline__ void walk(const args<T> &a, const char *b, int begin, int end,
                                     int team_log2, int lanes_log2, batch<T> &mine, T *sum,
                                     int step = 0)
{
  const int in_team = threadIdx.x & ((1 << team_log2) - 1), first = team_first(team_log2);
  const int from = first + (in_team >> lanes_log2) * CHUNK;
  const int stride = CHUNK << (team_log2 - lanes_log2);
  fetched<S> next;

  if (AHEAD) next.load(a, begin, end, in_team, team_log2);
  while (__any_sync(~0u, begin < end)) {
    if (!AHEAD) next.load(a, begin, end, in_team, team_log2);
    const int stop = first + min(kLoads << team_log2, end - begin);
    next.stage(first, in_team, team_log2, mine);
    __syncwarp();
    begin = min(end, begin + (kLoads << team_log2));
    if (AHEAD) next.load(a, begin, end, in_team, team_log2);
    int at = from;
    if (WHOLE) {
      const int chunks = (stop - first) / CHUNK >> (team_log2 - lanes_log2); // of each group
      for (int full = __reduce_min_sync(~0u, max(chunks, 0)); full > 0; full--, at += stride)
        multiply_chunk<true, S, T, V, CHUNK, WORDS>(a, b, step, mine, at, stop, sum);
    }
    for (; at < stop; at += stride)
      multiply_chunk<false, S, T, V, CHUNK, WORDS>(a, b, step, mine, at, stop, sum);
    __syncwarp(); // the batch has been read
  }
}

// sum = the sum over the team's groups, the same bits in all of them.
template <class T, int V>
__device__ __forceinline__ void add_groups(int team_log2, int lanes_log2, T *sum)
{
  for (int apart = 1 << lanes_log2; apart < 1 << team_log2; apart *= 2)
#pragma unroll
    for (int e = 0; e < V; e++) sum[e] = add(sum[e], shuffle_xor(sum[e], apart));
}

template <class T, int V> __device__ __forceinline__ void set_zero(T *sum)
{
#pragma unroll
  for (int e = 0; e < V; e++) sum[e] = T(0);
}

// The columns of C that a lane looks after.
template <class S, int V> struct lane_columns {
  static constexpr int kWords = 1;
  int col;
  bool active;
  const char *b; // column col of row 0 of B

  // Lanes beyond the last column repeat their group's first: no branches, no stores.
  template <class T>
  __device__ __forceinline__ lane_columns(const args<T> &a, uint32_t slice, int lanes_log2)
  {
    const int first = (int)slice * (V << lanes_log2);
    col = first + (threadIdx.x & ((1 << lanes_log2) - 1)) * V;
    active = col < a.n;
    // Columns come with their base: row 0 of B stands `base` rows behind this.
    b = static_cast<const char *>(a.b) + (active ? col : first) * (int64_t)sizeof(S) -
        static_cast<int64_t>(a.base) * a.b_row_bytes;
  }
  __device__ __forceinline__ int step() const { return 0; }

  template <class Out, class T>
  __device__ __forceinline__ void store(const args<T> &a, int row, const T *sum,
                                        const T *scalars) const
  {
    if (active) store_row<Out, T, V>(a, row, col, sum, scalars);
  }
};

// Which slice of C a row block has, and which block of the slice it is.  Most often there is but
// one slice, and a division costs as much as a row of a few nonzeros.
__device__ __forceinline__ void place_of(const split_args &s, uint32_t *slice, uint32_t *block)
{
  const uint32_t at = blockIdx.x - s.long_blocks;
  *slice = at < s.row_blocks ? 0 : at / s.row_blocks;
  *block = at - *slice * s.row_blocks;
}

} // namespace csr
} // namespace shunt
