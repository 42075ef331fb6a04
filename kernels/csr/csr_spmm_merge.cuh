// csr_spmm_merge.cuh: the kernel that multiplies tiles (the cutting is drawn
// in csr_spmm.cuh, shared memory in csr_spmm_merge_cut.cuh).
//
//   grid.x = tiles, grid.y = passes of a tile that run beside each other
#pragma once
#include "kernels/common/early_launch.cuh"
#include "kernels/csr/csr_spmm_merge_cut.cuh"

namespace shunt
{
namespace csr
{

// V elements in registers, moved in pieces of at most 16 bytes.
template <class T, int V> struct wide {
  static constexpr int kPiece = V * sizeof(T) <= 16 ? V : 16 / (int)sizeof(T);
  using piece = vec<T, kPiece>;

  static __device__ __forceinline__ void load(T *to, const T *from)
  {
#pragma unroll
    for (int i = 0; i < V; i += kPiece) {
      piece x = *reinterpret_cast<const piece *>(from + i);
#pragma unroll
      for (int e = 0; e < kPiece; e++) to[i + e] = x.at[e];
    }
  }
  static __device__ __forceinline__ void store(T *to, const T *from)
  {
#pragma unroll
    for (int i = 0; i < V; i += kPiece) {
      piece x;
#pragma unroll
      for (int e = 0; e < kPiece; e++) x.at[e] = from[i + e];
      *reinterpret_cast<piece *>(to + i) = x;
    }
  }
};

// An unsigned word of BYTES, so that V elements travel as one load or store.
template <int BYTES> struct word;
template <> struct word<1> {
  using type = unsigned char;
};
template <> struct word<2> {
  using type = unsigned short;
};
template <> struct word<4> {
  using type = unsigned int;
};
template <> struct word<8> {
  using type = uint2;
};
template <> struct word<16> {
  using type = uint4;
};

// V elements of a row of B: read-only for the kernel's life.
template <class S, int V> struct b_word {
  using type = typename word<V * sizeof(S)>::type;
  type bits;

  __device__ __forceinline__ void clear() { bits = type(); }
  __device__ __forceinline__ void load(const char *at)
  {
    bits = __ldg(reinterpret_cast<const type *>(at));
  }
  // sum[e] += a * this[e]
  template <class T> __device__ __forceinline__ void multiply_into(T *sum, T a) const
  {
    vec<S, V> x;
    static_assert(sizeof x == sizeof bits, "one word holds V elements");
    memcpy(&x, &bits, sizeof x);
#pragma unroll
    for (int e = 0; e < V; e++) sum[e] = multiply_add(a, widen<T>(x.at[e]), sum[e]);
  }
};

// V columns of one row of C; scalars: alpha, beta.  Written evict-first: C is not read
// again here, and where it is large it would push B out of L2.
template <class Out, class T, int V>
__device__ __forceinline__ void store_row(const args<T> &a, int64_t row, int64_t col, const T *sum,
                                          const T *scalars)
{
  const T alpha = scalars[0], beta = scalars[1];
  constexpr int kPiece = V * sizeof(Out) <= 16 ? V : 16 / (int)sizeof(Out);
  using bits = typename word<kPiece * sizeof(Out)>::type;

  if (!a.c_vector) {
#pragma unroll 1
    for (int e = 0; e < V; e++) {
      T value = sum[0];
#pragma unroll
      for (int k = 1; k < V; k++) value = e == k ? sum[k] : value;
      store_element<Out>(a, row, col + e, value, alpha, beta);
    }
    return;
  }
  Out *c = static_cast<Out *>(a.c) + row * a.c_row_stride + col;
#pragma unroll
  for (int i = 0; i < V; i += kPiece) {
    vec<Out, kPiece> x;
    if (beta != T(0)) x = *reinterpret_cast<const vec<Out, kPiece> *>(c + i);
    bits out;
#pragma unroll
    for (int e = 0; e < kPiece; e++) x.at[e] = finish<Out>(sum[i + e], alpha, beta, x.at[e]);
    memcpy(&out, &x, sizeof out);
    __stcs(reinterpret_cast<bits *>(c + i), out);
  }
}

// Tells the join kernel which row this tile begins and does not end.
template <class T>
__device__ __forceinline__ void note_cut(const args<T> &a, const corner &from, const corner &to)
{
  cut_row cut = {-1, 0};
  if (to.cut && to.row_begin >= from.position) {
    int64_t last_item = to.row + to.row_end - 1; // of the row's last nonzero
    cut.row = (int32_t)to.row;
    cut.more = (int32_t)(last_item / a.tile - blockIdx.x);
  }
  a.cuts[blockIdx.x] = cut;
}

// What the thread's group has of the tile: one run of its nonzeros.
struct group_run {
  int groups, group, lane; // of the block; of the group
  int begin;               // the run's first nonzero
  int staged;              // where that stands in `columns` and `values`
  bool fresh;              // whether it is its row's first, too

  template <class T>
  __device__ __forceinline__ group_run(const args<T> &a, const corner &from, const runs &r,
                                       const unsigned *flags)
      : groups(kThreads >> a.lanes_log2), group(threadIdx.x >> a.lanes_log2),
        lane(threadIdx.x & ((1 << a.lanes_log2) - 1)), begin(group * r.length),
        staged(group * (r.length + kRunGap)),
        fresh(begin == 0 ? !from.cut
                         : begin < r.count && last_end_before(flags, begin) == begin - 1)
  {
  }
};

// The columns of C that a lane looks after in a pass.
template <class S, int V> struct pass_columns {
  int col;
  bool active;
  const char *b; // column col of row 0 of B

  // Lanes beyond the last column repeat their group's first: no branches, no stores.
  template <class T> __device__ __forceinline__ pass_columns(const args<T> &a, int pass, int lane)
  {
    const int first = pass * (V << a.lanes_log2);
    col = first + lane * V;
    active = col < a.n;
    b = static_cast<const char *>(a.b) + (int64_t)(active ? col : first) * (int64_t)sizeof(S);
  }
};

// A thread's sums on its way along the run.
template <class T, int V> struct run_sums {
  T sum[V];      // of the row it is in
  T *open;       // shared, V of each thread: what its run leaves open at its end; until then its
                 // first piece, if that is of a row begun in an earlier run
  int first_row; // which that is
  bool fresh;    // the row began in this run

  __device__ __forceinline__ void clear()
  {
#pragma unroll
    for (int e = 0; e < V; e++) sum[e] = T(0);
  }
};

// Copies the block's part of A to shared memory.  All threads; a barrier must follow.
template <class S, class T>
__device__ __forceinline__ void stage_tile(const args<T> &a, const corner &from, const corner &to,
                                           const runs &r, const staged<T> &s)
{
  stage_nonzeros<S>(a, from.position, r, s);
  stage_rows(a, from, to, r.count, s);
  if (threadIdx.x == 0) {
    if (blockIdx.y == 0) note_cut(a, from, to);
    s.scalars[0] = a.alpha.get();
    s.scalars[1] = a.beta.get();
  }
}

// x = the rows of B of a chunk, of which `left` nonzeros are of the tile.
template <class S, class T, int V>
__device__ __forceinline__ void fetch(const args<T> &a, const char *b, const uint32_t *columns,
                                      int left, b_word<S, V> *x)
{
  uint32_t column[kChunk];
  wide<uint32_t, kChunk>::load(column, columns);
  if (__all_sync(~0u, left >= kChunk)) {
#pragma unroll
    for (int u = 0; u < kChunk; u++) x[u].load(b + (uint64_t)column[u] * a.b_row_bytes);
  } else {
    // What is not stored is not multiplied: B may hold a NaN there.
#pragma unroll
    for (int u = 0; u < kChunk; u++) {
      x[u].clear();
      if (u < left) x[u].load(b + (uint64_t)column[u] * a.b_row_bytes);
    }
  }
}

// The row that ends here, `row` of the tile's: to C if it began in this run, else its piece stays
// in shared memory.
template <class S, class Out, class T, int V>
__device__ __forceinline__ void end_row(const args<T> &a, const staged<T> &s, int row_base, int row,
                                        const pass_columns<S, V> &c, run_sums<T, V> &at)
{
  if (at.fresh) {
    if (c.active) store_row<Out, T, V>(a, row_base + row, c.col, at.sum, s.scalars);
  } else {
    at.first_row = row;
    wide<T, V>::store(at.open + threadIdx.x * V, at.sum);
  }
  at.fresh = true;
  at.clear();
}

// Walks the run: the rows that begin and end in it are stored.
template <class S, class Out, class T, int V>
__device__ __forceinline__ void multiply_run(const args<T> &a, const runs &r, const group_run &run,
                                             const staged<T> &s, int row_base,
                                             const pass_columns<S, V> &c, run_sums<T, V> &at)
{
  for (int step = 0; step < r.length; step += kChunk) {
    const int local = run.begin + step, left = r.count - local;
    const int from = left > 0 ? run.staged + step : 0;
    b_word<S, V> x[kChunk];
    fetch(a, c.b, s.columns + from, left, x);
    const unsigned ends =
        left > 0 ? reinterpret_cast<const unsigned char *>(s.flags)[local >> 3] : 0;
    T value[kChunk];
    wide<T, kChunk>::load(value, s.values + from);
    if (!__any_sync(~0u, ends)) {
#pragma unroll
      for (int u = 0; u < kChunk; u++) x[u].multiply_into(at.sum, value[u]);
      continue;
    }
#pragma unroll
    for (int u = 0; u < kChunk; u++) {
      x[u].multiply_into(at.sum, value[u]);
      if (ends >> u & 1) end_row<S, Out, T, V>(a, s, row_base, s.row_of[local + u], c, at);
    }
  }
}

// Rows cut by runs: the group where a row ends adds what the runs before left open.  Job 0: a row
// that ended in this run; job 1, the last group's: the row that the tile leaves open.  All threads
// of the block; a barrier is passed.
template <class S, class Out, class T, int V>
__device__ __forceinline__ void close_rows(const args<T> &a, const corner &from, const corner &to,
                                           const runs &r, const group_run &run, const staged<T> &s,
                                           int row_base, const pass_columns<S, V> &c,
                                           const run_sums<T, V> &at)
{
  T first[V];
  wide<T, V>::load(first, at.open + threadIdx.x * V);
  wide<T, V>::store(at.open + threadIdx.x * V, at.sum);
  __syncthreads();
  const bool ends_row = at.fresh && !run.fresh;
  const bool ends_tile = run.group == run.groups - 1 && to.cut;
  for (int job = 0; job < 2; job++) {
    if (!(job == 0 ? ends_row : ends_tile) || !c.active) continue;
    const int last = last_end_before(s.flags, job == 0 ? run.begin : r.count);
    const int end = job == 0 ? run.group : (r.count + r.length - 1) / r.length;
    T total[V];
#pragma unroll
    for (int e = 0; e < V; e++) total[e] = T(0);
#pragma unroll 4
    for (int g = last < 0 ? 0 : r.run_of(last); g < end; g++) {
      T piece[V];
      wide<T, V>::load(piece, at.open + ((g << a.lanes_log2) + run.lane) * V);
#pragma unroll
      for (int e = 0; e < V; e++) total[e] = add(total[e], piece[e]);
    }
    if (job == 0) {
#pragma unroll
      for (int e = 0; e < V; e++) total[e] = add(total[e], first[e]);
    }
    const int64_t slot = blockIdx.x * a.pitch + c.col;
    if (last < 0 && from.cut)
      wide<T, V>::store(a.heads + slot, total);
    else if (job == 1)
      wide<T, V>::store(a.tails + slot, total);
    else
      store_row<Out, T, V>(a, row_base + at.first_row, c.col, total, s.scalars);
  }
}

template <class S, class Out, class T, int V>
__device__ __forceinline__ void
store_empty_rows(const args<T> &a, const runs &r, const group_run &run, const staged<T> &s,
                 int row_base, int count, const pass_columns<S, V> &c)
{
  const T nothing[V] = {};
  for (int i = run.group; i < count && c.active; i += run.groups)
    store_row<Out, T, V>(a, row_base + s.row_of[r.count + i], c.col, nothing, s.scalars);
}

// A: the stored type of A's values, S of B's.
template <class A, class S, class Out, class T, int V>
__global__ void __launch_bounds__(kThreads, sizeof(T) > 8 ? kBlocksOfLarge : kBlocksPerSm)
    spmm_merge(const __grid_constant__ args<T> a)
{
  wait_for_previous();
  if (gridDim.x > 1) let_next_in(); // the join, which waits for all of this grid anyway
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  const staged<T> s(shared_bytes, a);
  const int64_t d0 = (int64_t)blockIdx.x * a.tile;
  const int64_t d1 = min(d0 + a.tile, a.rows + a.nonzeros);

  for (int i = threadIdx.x; i < kCounts + (a.tile + 31) / 32; i += kThreads) s.counts[i] = 0;
  __syncthreads();
  int64_t row0, row1;
  find_rows(a, d0, d1, s.counts, &row0, &row1);
  const corner from = make_corner(a, row0, d0), to = make_corner(a, row1, d1);
  const runs r((int)(to.position - from.position), kThreads >> a.lanes_log2);
  stage_tile<A>(a, from, to, r, s);
  __syncthreads();

  const int row_base = (int)from.row, empty_rows = s.counts[kEmptyCount];
  const group_run run(a, from, r, s.flags);
  int buffer = 0;
  for (int pass = blockIdx.y; pass < a.passes; pass += gridDim.y) {
    const pass_columns<S, V> c(a, pass, run.lane);
    run_sums<T, V> at;
    at.open = s.open + buffer * kThreads * V;
    at.first_row = 0;
    at.fresh = run.fresh;
    at.clear();
    multiply_run<S, Out, T, V>(a, r, run, s, row_base, c, at);
    close_rows<S, Out, T, V>(a, from, to, r, run, s, row_base, c, at);
    store_empty_rows<S, Out, T, V>(a, r, run, s, row_base, empty_rows, c);
    // The other buffer is free: all threads have passed the barrier after its readers.
    buffer = a.buffers - 1 - buffer;
  }
}

} // namespace csr
} // namespace shunt
