// csr_sddmm_panel.cu: the rows kernel (csr_sddmm_rows.cu) for patterns so dense that
// gathering a column of B from L2 for every entry would be the limit.
//
//   C.values[p] = alpha * dot(A(i, :), B(:, j)) + beta * C.values[p],   p = (i, j)
//
// C is cut into panels of columns and slices of rows; a block of 16 warps, alone on
// its multiprocessor, takes one panel of one slice.  The panel's columns of B fit in
// L1, so each is fetched from L2 once a block and then read by every row that wants it.
//
//            panel 0    panel 1    panel 2
//          +----------+----------+----------+
//  slice 0 | x  x   x |   x x  x |  x  x  x |   rows of a slice hold nnz / slices
//          | x    x   |     x x  |   x      |   entries, whatever their number
//          +----------+----------+----------+
//  slice 1 |   x   x  |  x   x   |     x  x |   a row's entries of one panel: an item,
//          |  x  x    | x   x x  | x        |   one warp at a time
//          +----------+----------+----------+
//
// A long inner dimension is cut into slabs of SLAB bytes, so that panels stay wide: the
// block walks its items once a slab, and sums wait in the workspace between.
//
// Where a row enters a panel is found by a search in its columns.  For a key that grows
// the search never moves left, sorted columns or not: so the pieces of a row always
// tile it, each entry is computed exactly once, and only locality depends on order.
//
// Roofline: every entry reads K * size bytes from L1: nnz * K * size / 29 TB/s.
#include "kernels/csr/csr_sddmm_operands.cuh"
#include "kernels/csr/csr_sddmm_rows.cuh"
#include "kernels/ptx/touch.cuh"

namespace shunt
{
namespace csr::sddmm
{
namespace
{

constexpr int WARPS = 16;
constexpr int THREADS = WARPS * WARP;
constexpr int ROWS_EACH = 2;               // rows a thread searches at once
constexpr int CHUNK = THREADS * ROWS_EACH; // rows whose items stand in shared memory

constexpr int64_t SLAB = 1024; // bytes of an operand's row: 8 chunks of a team's 16 a lane

// How C is cut.
struct cutting {
  int panels, slices;
  int64_t width; // columns of a panel
  int64_t slab;  // elements of the inner dimension
};

// The first position in [low, high) whose column is not less than `key`, if columns
// ascend; three probes a step.
template <class I> struct column_search {
  I low, high;

  __device__ __forceinline__ bool open() const { return low < high; }
  __device__ __forceinline__ void step(const I *columns, int64_t key)
  {
    if (!open()) return;
    const I length = high - low;
    const I m1 = low + length / 4, m2 = low + length / 2, m3 = low + length / 4 * 3;
    const I c1 = __ldg(columns + m1), c2 = __ldg(columns + m2), c3 = __ldg(columns + m3);
    if (c1 >= key) {
      high = m1;
    } else if (c2 >= key) {
      low = m1 + 1;
      high = m2;
    } else if (c3 >= key) {
      low = m2 + 1;
      high = m3;
    } else {
      low = m3 + 1;
    }
  }
};

// Positions of the chunk's rows in this panel: row i has begin[i] .. end[i] - 1.
template <class I> struct items {
  I begin[CHUNK], end[CHUNK];
};

template <class I>
__device__ __forceinline__ void find_items(const pattern<I> &c, const cutting &how, int panel,
                                           int64_t first, int64_t last, items<I> &found)
{
  column_search<I> from[ROWS_EACH], to[ROWS_EACH];
  const int64_t from_key = panel * how.width + c.base, to_key = from_key + how.width;
#pragma unroll
  for (int n = 0; n < ROWS_EACH; n++) {
    const int64_t row = first + n * THREADS + threadIdx.x;
    I begin = 0, end = 0;
    if (row < last) {
      begin = __ldg(c.offsets + row) - c.base;
      end = __ldg(c.offsets + row + 1) - c.base;
    }
    from[n] = {begin, panel == 0 ? begin : end};
    to[n] = {panel == how.panels - 1 ? end : begin, end};
  }
  for (bool open = true; open;) {
    open = false;
#pragma unroll
    for (int n = 0; n < ROWS_EACH; n++) {
      from[n].step(c.columns, from_key);
      to[n].step(c.columns, to_key);
      open = open || from[n].open() || to[n].open();
    }
  }
#pragma unroll
  for (int n = 0; n < ROWS_EACH; n++) {
    found.begin[n * THREADS + threadIdx.x] = from[n].low;
    found.end[n * THREADS + threadIdx.x] = to[n].low;
  }
}

// A warp's place in the items of a chunk: rows w, w + 16, ..., 32 entries at a time.
template <class I> struct item_cursor {
  int row;
  I position, end;

  __device__ __forceinline__ void settle(const items<I> &all, int rows)
  {
    while (position >= end && (row += WARPS) < rows) {
      position = all.begin[row];
      end = all.end[row];
    }
  }
  __device__ __forceinline__ int count() const { return (int)min(I(BATCH), I(end - position)); }
  __device__ __forceinline__ I column(const I *columns, int lane) const
  {
    return __ldg(columns + position + min(lane, count() - 1));
  }
};

// Brings a row into L1: a word of each 128-byte line, 32 lines at most.  The word must
// be handed to ptx::keep() later, so that no register waits for it before.
__device__ __forceinline__ uint32_t touch(const void *row, int64_t bytes, int lane)
{
  if (lane * 128 + 4 > bytes) return 0;
  return ptx::load_word(static_cast<const char *>(row) + lane * 128);
}

// Rows first .. last - 1 of a slice: about nnz / slices entries.
template <class I>
__device__ __forceinline__ void find_slice(const pattern<I> &c, const cutting &how, int slice,
                                           int64_t &first, int64_t &last, int lane)
{
  const int64_t share = (c.nnz + how.slices - 1) / how.slices;
  const int64_t begin = slice * share, end = begin + share;
  first = 0;
  last = c.rows;
  if (begin >= c.nnz)
    first = last;
  else if (slice > 0)
    first = find_row(c.offsets, 0, c.rows, 1, I(begin + c.base), guess_row(c, begin), lane);
  if (end < c.nnz)
    last = find_row(c.offsets, first, c.rows, 1, I(end + c.base), guess_row(c, end), lane);
}

// One slab of a chunk's items.  `sums` holds what earlier slabs found; an entry is
// always served by the same thread.
template <class T, class I, class Batch>
__device__ __forceinline__ void
walk_items(const args<T, I> &p, const Batch &warp, const scale<T> &by, const items<I> &all,
           int64_t first, int rows, compute_t<T> *sums, bool opens, bool closes, int lane)
{
  const int64_t bytes = warp.k * (int64_t)sizeof(T);
  item_cursor<I> now = {(int)(threadIdx.x / WARP) - WARPS, 0, 0};
  now.settle(all, rows);
  I column = now.row < rows ? now.column(p.c.columns, lane) : I(0);

  while (now.row < rows) {
    item_cursor<I> next = {now.row, I(now.position + now.count()), now.end};
    next.settle(all, rows);
    I coming = 0;
    unsigned word = 0;
    if (next.row < rows) {
      coming = next.column(p.c.columns, lane);
      word = touch(warp.a + (first + next.row) * p.lda, bytes, lane);
    }
    compute_t<T> dot = warp.template run<true>(first + now.row, I(column - p.c.base), now.count());
    if (warp.mine() < now.count()) {
      const int64_t position = now.position + warp.mine();
      if (!opens) dot = add(dot, sums[position]);
      if (closes)
        store_value<T>(p.out, by, position, dot);
      else
        sums[position] = dot;
    }
    ptx::keep(word);
    now = next;
    column = coming;
  }
}

template <class T, class I>
__global__ void __launch_bounds__(THREADS, 1)
    panel_kernel(const __grid_constant__ args<T, I> p, cutting how, compute_t<T> *sums)
{
  constexpr int N = 16 / (int)sizeof(T);
  __shared__ items<I> all;
  const int lane = threadIdx.x % WARP;
  const int panel = blockIdx.x % how.panels, slice = blockIdx.x / how.panels;
  const scale<T> by(p.out);
  int64_t first, last;

  find_slice(p.c, how, slice, first, last, lane);
  for (; first < last; first += CHUNK) {
    const int rows = (int)min(int64_t(CHUNK), last - first);
    find_items(p.c, how, panel, first, last, all);
    __syncthreads();
    for (int64_t k = 0; k < p.k; k += how.slab) {
      batch<T, I, N, wide_slab<T, N>> warp(p, lane);
      warp.a += k;
      warp.b += k;
      warp.k = min(how.slab, p.k - k);
      walk_items(p, warp, by, all, first, rows, sums, k == 0, k + how.slab >= p.k, lane);
      __syncthreads(); // the panel's next slab evicts this one
    }
  }
}

template <class T, class I>
shunt_status launch(const struct shunt_sddmm *p, const operands &o, const cutting &how, void *room,
                    cudaStream_t stream)
{
  panel_kernel<T, I><<<(unsigned)(how.panels * how.slices), THREADS, 0, stream>>>(
      make_args<T, I>(p, o), how, (compute_t<T> *)room);
  return cudaGetLastError() == cudaSuccess ? SHUNT_OK : SHUNT_E_CUDA;
}

template <class T>
shunt_status with_index(const struct shunt_sddmm *p, const operands &o, const cutting &how,
                        void *room, cudaStream_t stream)
{
  return p->c.index_type == SHUNT_I32 ? launch<T, int32_t>(p, o, how, room, stream)
                                      : launch<T, int64_t>(p, o, how, room, stream);
}

// Panels and slices that fill the device once, the panel within 3/5 of L1 (the rest is
// for A and the indices).  False where panels do not pay: sparser matrices than one in SPARSE
// have their entries near the diagonal or in few columns as a rule, so that most blocks would
// find no work (opt1, one in 124: 1106 us at K = 32, where neighbouring rows find their
// columns in L1 anyway).  Nor where a column is shorter than a slab, which a warp's registers
// hold, since its lanes then wait for nothing (2.6 times the time of rows at K = 64); nor in types
// of fewer than 4 bytes, for which rows take less but of 4096 x 4096 and more.
bool cut(const struct shunt_sddmm *p, const struct shunt_device *d, cutting *how)
{
  constexpr int64_t ITEM = 8 << 10; // bytes of B for an item: less, and searching costs more
#ifdef SHUNT_EMULATED
  constexpr int64_t GATHER = 64 << 10; // the emulator's patterns are small
#else
  constexpr int64_t GATHER = 512 << 20; // bytes: what takes as long as the searches
#endif
  constexpr int64_t SPARSE = 40; // places for each entry
  const int64_t size = (int64_t)shunt_type_size(p->a.type), inner = p->a.cols * size;
  const int64_t rows = p->c.rows, cols = p->c.cols, blocks = d->multiprocessors;
  if (size < 4 || inner < SLAB || p->c.nnz < GATHER / inner) return false;
  const int64_t widest = (int64_t)d->shared_per_block * 3 / 5 / SLAB;
  const int64_t entries = ITEM / SLAB; // of an item
  if (widest < 1 || cols <= widest || p->c.nnz < rows * entries) return false;
  if ((double)p->c.nnz * SPARSE < (double)rows * (double)cols) return false;

  const int64_t fewest = (cols + widest - 1) / widest;
  const int64_t most = p->c.nnz / rows / entries;
  int64_t best = 0;
  for (int64_t panels = fewest; panels <= most && panels <= fewest * 3 / 2; panels++) {
    int64_t slices = blocks / panels;
    if (slices * panels > best) {
      best = slices * panels;
      how->panels = (int)panels;
      how->slices = (int)slices;
    }
  }
  if (best == 0 || rows < (int64_t)how->slices * 4 * WARPS) return false;
  how->width = (cols + how->panels - 1) / how->panels;
  how->slab = SLAB / size;
  return true;
}

} // namespace

size_t panel_bytes(const struct shunt_sddmm *p, const struct shunt_device *d)
{
  cutting how;
  if (!cut(p, d, &how) || p->a.cols <= how.slab) return 0;
  return (size_t)p->c.nnz * shunt_type_size(p->compute);
}

bool panel_pays(const struct shunt_sddmm *p, const operands &o, const struct shunt_device *d)
{
  cutting how;
  return o.aligned && cut(p, d, &how);
}

shunt_status panel_with(const struct shunt_sddmm *p, const operands &o,
                        const struct shunt_device *d, void *room, shunt_stream stream)
{
  cutting how;
  if (!cut(p, d, &how)) return SHUNT_E_UNSUPPORTED;
  switch (p->a.type) {
  case SHUNT_F32: return with_index<float>(p, o, how, room, stream);
  case SHUNT_F64: return with_index<double>(p, o, how, room, stream);
  case SHUNT_C32: return with_index<complex<float>>(p, o, how, room, stream);
  case SHUNT_C64: return with_index<complex<double>>(p, o, how, room, stream);
  default: return SHUNT_E_UNSUPPORTED;
  }
}

} // namespace csr::sddmm
} // namespace shunt
