// stale_matrices.cuh: how stale.cu makes its matrices, and all that it changes about them
// between two calls.
#pragma once
#include <algorithm>

#include "tests/gpu/blackbox/stale_results.cuh"

// ---- matrices --------------------------------------------------------------------
static void destroy_descriptors(Slot &m)
{
  if (m.sparse) SPARSE_OK(cusparseDestroySpMat(m.sparse));
  if (m.b) SPARSE_OK(cusparseDestroyDnMat(m.b));
  if (m.c) SPARSE_OK(cusparseDestroyDnMat(m.c));
  m.sparse = nullptr;
  m.b = m.c = nullptr;
  m.promised = false;
}

// The promise of a preprocess ends; cuSPARSE keeps state of it with the descriptors.
static void give_up_promise(Slot &m)
{
  if (m.promised) destroy_descriptors(m);
}

static void describe_dense(cusparseDnMatDescr_t *d, const Dense &x, bool flip)
{
  int64_t rows = flip ? x.cols : x.rows, cols = flip ? x.rows : x.cols;
  bool column_order = (x.column_order != 0) != flip;
  SPARSE_OK(cusparseCreateDnMat(d, rows, cols, x.ld, x.values, x.type,
                                column_order ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW));
}

static void create_descriptors(Slot &m)
{
  const Csr &a = m.p.a;
  const Form &f = m.form;
  cusparseIndexType_t it = a.wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = a.base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  if (f.as_csc)
    SPARSE_OK(cusparseCreateCsc(&m.sparse, a.cols, a.rows, a.nnz, a.offsets, a.columns, a.values,
                                it, it, base, a.type));
  else
    SPARSE_OK(cusparseCreateCsr(&m.sparse, a.rows, a.cols, a.nnz, a.offsets, a.columns, a.values,
                                it, it, base, a.type));
  describe_dense(&m.b, m.p.b, m.flip_b);
  describe_dense(&m.c, m.p.c, m.flip_c);
  if (f.batches == 1) return;
  SPARSE_OK(cusparseCsrSetStridedBatch(m.sparse, f.batches, 0, f.entries));
  SPARSE_OK(cusparseDnMatSetStridedBatch(m.b, f.batches, f.b_stride));
  SPARSE_OK(cusparseDnMatSetStridedBatch(m.c, f.batches, f.c_stride));
}

static void set_pointers(Slot &m)
{
  const Csr &a = m.p.a;
  SPARSE_OK((m.form.as_csc ? cusparseCscSetPointers : cusparseCsrSetPointers)(m.sparse, a.offsets,
                                                                              a.columns, a.values));
  SPARSE_OK(cusparseDnMatSetValues(m.b, m.p.b.values));
  SPARSE_OK(cusparseDnMatSetValues(m.c, m.p.c.values));
}

static void forget_graphs(Slot &m)
{
  for (Graph &g : m.graphs) {
    CUDA_OK(cudaGraphExecDestroy(g.exec));
    m.graph_workspaces.push_back(g.workspace);
  }
  m.graphs.clear();
}

static void upload_offsets(Slot &m, cudaStream_t s)
{
  std::vector<int32_t> narrow;
  const void *from = m.offsets.data();
  size_t n = m.offsets.size();
  std::vector<int64_t> wide(m.offsets);
  for (int64_t &o : wide) o += m.p.a.base;
  from = wide.data();
  if (!m.p.a.wide) {
    narrow.assign(wide.begin(), wide.end());
    from = narrow.data();
  }
  // Pageable and under 64 KiB: staged before the call returns, ordered by the stream.
  CUDA_OK(
      cudaMemcpyAsync(m.p.a.offsets, from, n * (m.p.a.wide ? 8 : 4), cudaMemcpyHostToDevice, s));
}

// Row lengths for the sizes in m.p.a: from nearly empty to nearly dense.  Rows with exactly half of
// their columns have one entry in every two (pick_column), so the matrix is 2:4 until a row's end
// moves.
static void draw_lengths(Slot &m)
{
  static const double densities[] = {0.004, 0.03, 0.1, 0.1, 0.2, 0.4, 0.5, 0.7, 0.95};
  double density = densities[below(9)];
  bool skewed = chance(0.15), holes = chance(0.3);
  Csr &a = m.p.a;
  bool pruned = mostly_pruned && a.cols % 4 == 0 && chance(0.8);
  m.offsets.assign(1, 0);
  std::vector<int64_t> of_set;
  for (int64_t i = 0; i < a.rows; i++) {
    const size_t set = (size_t)set_of_row(i, m.group, a.rows);
    if (set == of_set.size()) {
      int64_t length =
          (int64_t)(density * (double)a.cols * (0.6 + 0.8 * random_uniform(&rng)) + 0.5);
      if (skewed && chance(0.02)) length = a.cols;
      if (pruned) length = a.cols / 2;
      if (holes && chance(0.2)) length = 0;
      of_set.push_back(std::min(length, a.cols));
    }
    m.offsets.push_back(m.offsets.back() + of_set[set]);
  }
  a.nnz = m.offsets.back();
}

static void fill_pattern(Slot &m, cudaStream_t s)
{
  m.seed = salt();
  m.kind = chance(0.05) ? PATTERN_REVERSED : chance(0.05) ? PATTERN_REPEATED : PATTERN_PLAIN;
  for (int i = 0; i < m.form.batches; i++)
    fill_columns(batch_of(m.p, m.form, i).a, m.group, m.seed + (m.form.entries ? i : 0), m.kind, s);
}

static void fill_values(Slot &m, cudaStream_t s)
{
  fill(m.p.a.values, stored_values(m.p, m.form), m.p.a.type, salt(),
       chance(0.2) ? FILL_SOME_ZERO : FILL_RANDOM, s);
}

static void fill_dense(Slot &m, cudaStream_t s)
{
  fill(m.p.b.values, stored_b(m.p, m.form), m.p.b.type, salt(), FILL_RANDOM, s);
  if (m.p.sddmm) fill(m.p.c.values, stored_c(m.p, m.form), m.p.c.type, salt(), FILL_RANDOM, s);
  m.nonfinite = m.p.b.type != CUDA_R_8I && chance(0.06);
  if (!m.nonfinite) return;
  static const double odd[] = {NAN, INFINITY, -INFINITY};
  int64_t at = m.p.b.at(below(m.p.b.rows), below(m.p.b.cols));
  put_kernel<<<1, 1, 0, s>>>(m.p.b.values, at, m.p.b.type, odd[below(3)], 0);
  CUDA_OK(cudaGetLastError());
}

static void use_block(Slot &m, int block)
{
  if (m.block >= 0) blocks[m.block].used = false;
  m.block = block;
  Block &k = blocks[block];
  k.used = true;
  m.p.a.offsets = k.offsets;
  m.p.a.columns = k.columns;
  m.p.a.values = k.values;
  m.p.b.values = k.b;
  m.p.c.values = k.c;
  m.p.before = k.before;
  m.p.scalars = k.scalars;
}

static int64_t draw_side(double large)
{
  if (chance(large)) return USUAL_SIDE - (chance(0.5) ? 0 : below(9));
  int64_t u = below(10);
  if (u == 0) return 1 + below(9);
  if (u < 4) return 8 * (1 + below(16));
  if (u < 8) return 8 * (8 + below(56));
  return 1 + below(600);
}

// Another problem altogether, in the same block.
static void draw_problem(Slot &m)
{
  static const int64_t widths[] = {1, 3, 8, 16, 32, 64, 64, 100, 128, 128, 256};
  Problem &p = m.p;
  double large = chance(mostly_pruned ? 0.3 : 0.08) ? 1 : 0; // pruned small ones go to rows
  p.sddmm = !only_spmm && !mostly_pruned && !mostly_single && !shuffled && !mostly_wide &&
            !mostly_integers && !mostly_turned && chance(0.25);
  p.a.rows = draw_side(large);
  p.a.cols = draw_side(large);
  int64_t n = chance(0.8) ? widths[below(11)] : 1 + below(USUAL_N);
  int t = (int)(mostly_single ? 12 + below(6) : below(shuffled ? 14 : 20));
  if (mostly_turned && chance(0.8)) t = 13 + (int)below(7);
  if (mostly_wide && chance(0.7)) {
    p.a.rows = MAX_SIDE - (chance(0.5) ? 0 : below(9));
    p.a.cols = MAX_SIDE / 2 + below(100);
    n = MAX_N - (chance(0.5) ? 0 : below(9));
    t = (int)below(13);
  }
  p.a.type = t < 9 ? CUDA_R_16F : t < 13 ? CUDA_R_16BF : t < 18 ? CUDA_R_32F : CUDA_R_64F;
  p.compute = p.a.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  const bool bytes = (mostly_pruned && chance(0.25)) || (mostly_integers && chance(0.75));
  if (bytes) p.a.type = CUDA_R_8I, p.compute = chance(0.5) ? CUDA_R_32I : CUDA_R_32F;
  const bool complex = mostly_complex && chance(0.85);
  if (complex) p.a.type = p.compute = chance(0.5) ? CUDA_C_32F : CUDA_C_64F;
  bool half = type_size(p.a.type) == 2;
  p.a.wide = chance(0.3);
  p.a.base = chance(0.2);
  p.b.type = p.a.type;
  p.c.type = bytes ? p.compute : !p.sddmm && half && chance(0.2) ? CUDA_R_32F : p.a.type;
  m.form = Form();
  m.form.transposed = !p.sddmm && !bytes && chance(mostly_turned ? 0.85 : 0.15);
  m.form.as_csc = !p.sddmm && !bytes && chance(0.15);
  m.form.conjugated = complex && m.form.transposed && !m.form.as_csc && chance(0.5);
  p.b.rows = p.sddmm ? n : m.form.transposed ? p.a.rows : p.a.cols;
  p.b.cols = p.sddmm ? p.a.cols : n;
  p.c.rows = m.form.transposed ? p.a.cols : p.a.rows;
  p.c.cols = n;
  p.b.column_order = chance(0.35);
  p.c.column_order = p.sddmm ? chance(0.3) : p.b.column_order;
  // The original writes whole 16-byte pieces of the columns of such a C, padding included.
  if (m.form.transposed && half && p.c.rows % 8) p.b.column_order = p.c.column_order = false;
  int64_t extra = chance(0.7) ? 0 : chance(0.5) ? (int64_t)PAD : 1 + below(PAD);
  p.b.ld = (p.b.column_order ? p.b.rows : p.b.cols) + extra;
  p.c.ld = (p.c.column_order ? p.c.rows : p.c.cols) + extra;
  if ((m.form.transposed || m.form.as_csc) && original_stumbles(p)) {
    p.b.ld = (p.b.ld + 7) / 8 * 8;
    p.c.ld = (p.c.ld + 7) / 8 * 8;
  }
  m.flip_b = chance(p.sddmm ? 0.3 : 0.1);
  m.flip_c = p.sddmm && chance(0.2);
  m.group = shuffled && chance(0.8) ? -8 : chance(0.5) ? 8 : chance(0.2) ? 4 : 1;
  if (mostly_integers) m.group = 2 << below(3);
  draw_lengths(m);
  draw_batches(m);
}

static void fill_all(Slot &m, cudaStream_t s)
{
  upload_offsets(m, s);
  fill_pattern(m, s);
  fill_values(m, s);
  fill_dense(m, s);
}

static int free_block()
{
  int start = (int)below(BLOCKS);
  for (int i = 0; i < BLOCKS; i++)
    if (!blocks[(start + i) % BLOCKS].used) return (start + i) % BLOCKS;
  return -1;
}

// The allocator hands one matrix's addresses to another: values become columns.
static void reallocate(Block &k)
{
  std::unique_lock<std::shared_mutex> alone(device_at_rest);
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaFree(k.columns));
  CUDA_OK(cudaFree(k.values));
  CUDA_OK(cudaMalloc(&k.values, (MAX_NNZ + PAD) * 8));
  CUDA_OK(cudaMalloc(&k.columns, (MAX_NNZ + PAD) * 8));
}

// ---- changes -----------------------------------------------------------------------
// Values only: legal at any time, between replays and after a preprocess too.
static const char *change_values(Slot &m, cudaStream_t s)
{
  double value;
  switch (below(4)) {
  case 0: return "nothing";
  case 1:
    if (m.p.a.nnz == 0) return "nothing";
    value = 8 * random_uniform(&rng) - 4;
    put_kernel<<<1, 1, 0, s>>>(m.p.a.values, below(stored_values(m.p, m.form)), m.p.a.type, value,
                               value / 2);
    CUDA_OK(cudaGetLastError());
    return "one value";
  default: fill_values(m, s); return "values";
  }
}

// The pattern in place, the same number of entries.
static const char *change_pattern(Slot &m, cudaStream_t s)
{
  const Csr a = batch_of(m.p, m.form, (int)below(m.form.batches)).a;
  int64_t row = below(a.rows), length = m.offsets[row + 1] - m.offsets[row];
  switch (below(3)) {
  case 0:
    if (length == 0) return "nothing";
    move_entry_kernel<<<1, 1, 0, s>>>(a, row, below(length), salt());
    CUDA_OK(cudaGetLastError());
    return "one column";
  case 1:
    if (row + 1 == a.rows || m.offsets[row + 2] == m.offsets[row + 1] || length == a.cols)
      return "nothing";
    m.offsets[row + 1]++;
    upload_offsets(m, s);
    return "a row end";
  default: fill_pattern(m, s); return "pattern";
  }
}

// Anything.  Descriptors that no longer describe the matrix are destroyed.
static const char *change(Slot &m, cudaStream_t s)
{
  if (m.promised && chance(0.4)) return change_values(m, s);
  if (shuffled && chance(0.6)) return "nothing";
  int64_t u = below(100);
  if (u < 40) return change_values(m, s);
  if (u < 62) {
    give_up_promise(m);
    return change_pattern(m, s);
  }
  forget_graphs(m);
  if (u < 74) {
    destroy_descriptors(m);
    draw_lengths(m);
    draw_batches(m);
    fill_all(m, s);
    return "row lengths";
  }
  if (u < 88) {
    destroy_descriptors(m);
    draw_problem(m);
    fill_all(m, s);
    return "another matrix";
  }
  if (u < 98) {
    int block = free_block();
    CUDA_OK(cudaEventRecord(blocks[m.block].done, s));
    CUDA_OK(cudaStreamWaitEvent(s, blocks[block].done, 0));
    give_up_promise(m);
    use_block(m, block);
    fill_all(m, s);
    if (!m.sparse) return "addresses";
    set_pointers(m);
    return "addresses, old descriptors";
  }
  destroy_descriptors(m);
  reallocate(blocks[m.block]);
  use_block(m, m.block);
  draw_problem(m);
  fill_all(m, s);
  return "cudaFree and cudaMalloc";
}
