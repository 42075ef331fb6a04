// stale.cu: no result is ever computed from what a matrix used to hold.
//
//   stale [STEPS [SEED]] [--strict] [--verbose]
//
// A program that behaves as badly as cuSPARSE allows.  Six matrices live in nine
// blocks of device memory; every step picks one, changes something about it (one
// value, all values, one column index, the whole pattern, its row lengths, sizes,
// types, its addresses, or nothing) and multiplies a few times, through old or
// fresh descriptors, on one of four streams (one is the legacy stream), plainly,
// after a preprocess, or captured into a graph that is replayed now and again many
// steps later.  Every result is compared with float64 on the device, in stream
// order; the host waits only now and then, so that what Shunt learns late, it
// learns late here too.
//
// Without --strict an error as large as cuSPARSE's own rounding of partial sums
// passes; with it, only one rounding of a float32 sum does.  --strict is for runs in
// which Shunt is forced to take all that it can (SHUNT_ROUTES=rows,vector,dense); what
// it leaves to the original even then is known here and judged without: alpha 0 on the
// host, matrices without entries; and, since it may be either's, what is transposed or comes
// in batches.
//
// Some matrices are described as CSC, or multiplied transposed, or both: p.a is always
// what is stored, by rows, and `transposed` says that the product is with its transpose.
// Some products come in strided batches, which share one array of row offsets.
//
// What cuSPARSE asks of its callers is kept.  After a preprocess a descriptor stands for
// that pattern, those addresses and that buffer; where the program gives this promise up,
// it makes new descriptors.  Sizes are asked and preprocesses made with an alpha that is
// not 0: for alpha 0 less is needed, and less prepared, than for later calls.
#include <time.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tests/gpu/blackbox.cuh"

using namespace blackbox;

enum {
  MAX_SIDE = 1024,
  MAX_N = 256,
  PAD = 8,
  BLOCKS = 9,
  SLOTS = 6,
  STREAMS = 4,
  LEGACY = 3,  // this one is the legacy default stream
  GRAPHS = 3,  // live graphs a slot
  CANARY = 256,
  OUTCOMES = 1 << 14
};
static const int64_t MAX_NNZ = (int64_t)MAX_SIDE * MAX_SIDE;
static const size_t DENSE_BYTES = (size_t)(MAX_SIDE + PAD) * (MAX_N + PAD) * 8;
static const size_t WORKSPACE = 48u << 20;

static uint64_t rng;
static bool strict, verbose;

static int64_t below(int64_t n) { return random_below(&rng, n); }
static bool chance(double p) { return random_uniform(&rng) < p; }
static uint64_t salt() { return random_next(&rng); }

struct Block {  // device memory that one matrix at a time lives in
  void *offsets, *columns, *values, *b, *c, *before, *scalars;
  cudaEvent_t done;  // after the last work that touched it
  bool used;
};

// How p.a is described, and how many batches there are: elements from one to the next.
struct Form {
  bool as_csc = false, transposed = false;
  int batches = 1;
  int64_t entries = 0, b_stride = 0, c_stride = 0;
  bool op_a() const { return as_csc != transposed; }
};

struct Graph {
  cudaGraphExec_t exec;
  Problem p;
  Form form;
  char *workspace;
  size_t workspace_bytes;
  std::string text;
};

struct Slot {
  Problem p;
  Form form;
  int block = -1;
  int group, kind;               // how columns_kernel makes the pattern
  uint64_t seed;
  bool nonfinite;                // b holds a NaN or Inf
  bool flip_b, flip_c;           // descriptor says "transposed"
  std::vector<int64_t> offsets;  // base 0
  cusparseSpMatDescr_t sparse = nullptr;
  cusparseDnMatDescr_t b = nullptr, c = nullptr;
  char *workspace, *other_workspace;
  bool promised = false;  // preprocess ran: the pattern stays, and so do the descriptors
  int algorithm, lane;  // lane: of the preprocess
  size_t promised_bytes;
  std::vector<Graph> graphs;
  std::vector<char *> graph_workspaces;  // free ones
};

static Block blocks[BLOCKS];
static Slot slots[SLOTS];
static cudaStream_t streams[STREAMS];
static cusparseHandle_t handles[STREAMS];
static double *sums[STREAMS];  // device: room for the references of transposed products

// ---- what was found ------------------------------------------------------------
static Outcome *outcomes;  // device, OUTCOMES of them
static std::vector<std::string> texts, groups;
static int64_t calls, step;
static std::vector<bool> by_original;  // the result is surely not Shunt's
struct Tally {
  int64_t calls, strict, loose, outside;
};
static std::map<std::string, Tally> tallies;
static int64_t refused, shown, broken_calls;
static bool finished;

static void drain()
{
  CUDA_OK(cudaDeviceSynchronize());
  size_t n = texts.size();
  if (n == 0) return;
  std::vector<Outcome> o(n);
  CUDA_OK(cudaMemcpy(o.data(), outcomes, n * sizeof(Outcome), cudaMemcpyDeviceToHost));
  for (size_t k = 0; k < n; k++) {
    Tally &t = tallies[groups[k]];
    bool imprecise = o[k].strict && !by_original[k];
    t.calls++;
    t.strict += imprecise;
    t.loose += o[k].loose != 0;
    t.outside += o[k].outside != 0;
    if (((strict && imprecise) || o[k].loose || o[k].outside) && shown++ < 24)
      printf("# %s: %u elements wrong (%u far), %u bytes outside; first (%lld, %lld) is %.9g, "
             "want %.9g +- %.2g\n",
             texts[k].c_str(), o[k].strict, o[k].loose, o[k].outside, (long long)o[k].i,
             (long long)o[k].j, o[k].got, o[k].want, o[k].limit);
  }
  CUDA_OK(cudaMemset(outcomes, 0, n * sizeof(Outcome)));
  CUDA_OK(cudaDeviceSynchronize());
  texts.clear();
  groups.clear();
  by_original.clear();
}

static Outcome *next_outcome(const Problem &p, const Form &f, const std::string &group,
                             const std::string &text)
{
  if (texts.size() == OUTCOMES) drain();
  texts.push_back(text);
  groups.push_back(group);
  by_original.push_back((!p.device_scalars && p.alpha == 0) || p.a.nnz == 0 || f.transposed ||
                        f.batches > 1);
  calls++;
  return outcomes + (texts.size() - 1);
}

// cuSPARSE's CSR_ALG3 (its default for 16-bit types) stops with a misaligned address on
// rows that do not start on 16 bytes; so nothing that is left to it may ask for that.
static bool original_stumbles(const Problem &p)
{
  return !p.sddmm && type_size(p.a.type) == 2 && (p.b.ld % 8 || p.c.ld % 8);
}

// ---- batches ---------------------------------------------------------------------
static void *moved(const void *array, int64_t elements, size_t size)
{
  return (char *)array + elements * (int64_t)size;
}

static Problem batch_of(const Problem &p, const Form &f, int i)
{
  Problem q = p;
  q.a.columns = moved(p.a.columns, i * f.entries, p.a.wide ? 8 : 4);
  q.a.values = moved(p.a.values, i * f.entries, type_size(p.a.type));
  q.b.values = moved(p.b.values, i * f.b_stride, type_size(p.b.type));
  q.c.values = moved(p.c.values, i * f.c_stride, type_size(p.c.type));
  q.before = p.sddmm ? moved(p.before, i * f.entries, type_size(p.a.type))
                     : moved(p.before, i * f.c_stride, type_size(p.c.type));
  return q;
}

static int64_t stored_b(const Problem &p, const Form &f)
{
  return p.b.stored() + (f.batches - 1) * f.b_stride;
}

static int64_t stored_c(const Problem &p, const Form &f)
{
  return p.c.stored() + (f.batches - 1) * f.c_stride;
}

static int64_t stored_values(const Problem &p, const Form &f)
{
  return p.a.nnz + (f.batches - 1) * f.entries;
}

// For the sizes and row lengths in m.p.
static void draw_batches(Slot &m)
{
  const Problem &p = m.p;
  Form f = m.form;
  m.form.batches = 1;
  m.form.entries = m.form.b_stride = m.form.c_stride = 0;
  if (f.as_csc || f.transposed || original_stumbles(p) || !chance(0.15)) return;
  f.batches = chance(0.1) ? 17 : 2 + (int)below(3);
  f.entries = !p.sddmm && chance(0.4) ? 0 : p.a.nnz;
  int64_t gap = chance(0.3) ? (int64_t)PAD : 0;
  f.b_stride = p.b.stored() + gap;
  f.c_stride = p.c.stored() + gap;
  if (stored_values(p, f) <= MAX_NNZ &&
      (size_t)stored_b(p, f) * type_size(p.b.type) <= DENSE_BYTES &&
      (size_t)stored_c(p, f) * type_size(p.c.type) <= DENSE_BYTES)
    m.form = f;
}

// ---- references of transposed products -----------------------------------------------
// One block a row of p.a: adds to sum and scale [c.rows][c.cols] and terms [c.rows].
__global__ void add_transposed_kernel(Problem p, double *sum, double *scale, double *terms)
{
  int64_t l = blockIdx.x, n = p.c.cols;
  int64_t q = index_at(p.a.offsets, l, p.a.wide) - p.a.base;
  int64_t end = index_at(p.a.offsets, l + 1, p.a.wide) - p.a.base;
  for (; q < end; q++) {
    int64_t i = index_at(p.a.columns, q, p.a.wide) - p.a.base;
    double a = get(p.a.values, q, p.a.type);
    if (threadIdx.x == 0) atomicAdd(&terms[i], 1.0);
    for (int64_t j = threadIdx.x; j < n; j += blockDim.x) {
      double v = a * get(p.b.values, p.b.at(l, j), p.b.type);
      atomicAdd(&sum[i * n + j], v);
      atomicAdd(&scale[i * n + j], fabs(v));
    }
  }
}

// One thread per stored element of c, padding included (which must not change).
__global__ void check_transposed_kernel(Problem p, int size, const double *sum, const double *scale,
                                        const double *terms, Outcome *o)
{
  int64_t stored = p.c.ld * (p.c.column_order ? p.c.cols : p.c.rows);
  double alpha, beta;
  read_scalars(p, &alpha, &beta);
  for (int64_t t = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; t < stored;
       t += (int64_t)gridDim.x * blockDim.x) {
    int64_t major = t / p.c.ld, minor = t % p.c.ld;
    int64_t i = p.c.column_order ? minor : major, j = p.c.column_order ? major : minor;
    if (i >= p.c.rows || j >= p.c.cols) {
      if (!same_bytes(p.c.values, p.before, t, size)) atomicAdd(&o->outside, 1u);
      continue;
    }
    int64_t e = i * p.c.cols + j;
    double old = beta == 0 ? 0 : beta * get(p.before, t, p.c.type);
    double want = alpha * sum[e] + old, strict, loose;
    limits(p.c.type, p.compute, fabs(alpha) * scale[e] + fabs(old), want, terms[i] + 1, &strict,
           &loose);
    judge(o, i, j, get(p.c.values, t, p.c.type), want, strict, loose);
  }
}

static void check_transposed(const Problem &p, Outcome *o, cudaStream_t s)
{
  int lane = 0;
  while (streams[lane] != s) lane++;
  int64_t elements = p.c.rows * p.c.cols;
  double *sum = sums[lane], *scale = sum + elements, *terms = scale + elements;
  CUDA_OK(cudaMemsetAsync(sum, 0, (size_t)(2 * elements + p.c.rows) * sizeof(double), s));
  add_transposed_kernel<<<(unsigned)p.a.rows, 128, 0, s>>>(p, sum, scale, terms);
  CUDA_OK(cudaGetLastError());
  check_transposed_kernel<<<blocks_for(p.c.stored()), 256, 0, s>>>(p, (int)type_size(p.c.type), sum,
                                                                   scale, terms, o);
  CUDA_OK(cudaGetLastError());
}

static void check_all(const Problem &p, const Form &f, Outcome *o, cudaStream_t s)
{
  if (f.transposed) return check_transposed(p, o, s);
  for (int i = 0; i < f.batches; i++) check_result(batch_of(p, f, i), o, s);
}

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
  SPARSE_OK((m.form.as_csc ? cusparseCscSetPointers : cusparseCsrSetPointers)(
      m.sparse, a.offsets, a.columns, a.values));
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
  CUDA_OK(cudaMemcpyAsync(m.p.a.offsets, from, n * (m.p.a.wide ? 8 : 4), cudaMemcpyHostToDevice,
                          s));
}

// Row lengths for the sizes in m.p.a: from nearly empty to nearly dense.
static void draw_lengths(Slot &m)
{
  static const double densities[] = { 0.004, 0.03, 0.1, 0.1, 0.2, 0.4, 0.5, 0.7, 0.95 };
  double density = densities[below(9)];
  bool skewed = chance(0.15), holes = chance(0.3);
  Csr &a = m.p.a;
  m.offsets.assign(1, 0);
  int64_t length = 0;
  for (int64_t i = 0; i < a.rows; i++) {
    if (i % m.group == 0) {
      length = (int64_t)(density * (double)a.cols * (0.6 + 0.8 * random_uniform(&rng)) + 0.5);
      if (skewed && chance(0.02)) length = a.cols;
      if (holes && chance(0.2)) length = 0;
      length = std::min(length, a.cols);
    }
    m.offsets.push_back(m.offsets.back() + length);
  }
  a.nnz = m.offsets.back();
}

static void fill_pattern(Slot &m, cudaStream_t s)
{
  m.seed = salt();
  m.kind = chance(0.05) ? PATTERN_REVERSED : chance(0.05) ? PATTERN_REPEATED : PATTERN_PLAIN;
  for (int i = 0; i < m.form.batches; i++)
    fill_columns(batch_of(m.p, m.form, i).a, m.group, m.seed + (m.form.entries ? i : 0), m.kind,
                 s);
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
  m.nonfinite = chance(0.06);
  if (!m.nonfinite) return;
  static const double odd[] = { NAN, INFINITY, -INFINITY };
  int64_t at = m.p.b.at(below(m.p.b.rows), below(m.p.b.cols));
  put_kernel<<<1, 1, 0, s>>>(m.p.b.values, at, m.p.b.type, odd[below(3)]);
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
  if (chance(large)) return MAX_SIDE - (chance(0.5) ? 0 : below(9));
  int64_t u = below(10);
  if (u == 0) return 1 + below(9);
  if (u < 4) return 8 * (1 + below(16));
  if (u < 8) return 8 * (8 + below(56));
  return 1 + below(600);
}

// Another problem altogether, in the same block.
static void draw_problem(Slot &m)
{
  static const int64_t widths[] = { 1, 3, 8, 16, 32, 64, 64, 100, 128, 128, 256 };
  Problem &p = m.p;
  double large = chance(0.08) ? 1 : 0;
  p.sddmm = chance(0.25);
  p.a.rows = draw_side(large);
  p.a.cols = draw_side(large);
  int64_t n = chance(0.8) ? widths[below(11)] : 1 + below(MAX_N);
  int t = (int)below(20);
  p.a.type = t < 9 ? CUDA_R_16F : t < 13 ? CUDA_R_16BF : t < 18 ? CUDA_R_32F : CUDA_R_64F;
  p.compute = p.a.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  bool half = type_size(p.a.type) == 2;
  p.a.wide = chance(0.3);
  p.a.base = chance(0.2);
  p.b.type = p.a.type;
  p.c.type = !p.sddmm && half && chance(0.2) ? CUDA_R_32F : p.a.type;
  m.form = Form();
  m.form.transposed = !p.sddmm && chance(0.15);
  m.form.as_csc = !p.sddmm && chance(0.15);
  p.b.rows = p.sddmm ? n : m.form.transposed ? p.a.rows : p.a.cols;
  p.b.cols = p.sddmm ? p.a.cols : n;
  p.c.rows = m.form.transposed ? p.a.cols : p.a.rows;
  p.c.cols = n;
  p.b.column_order = chance(0.35);
  p.c.column_order = p.sddmm ? chance(0.3) : p.b.column_order;
  int64_t extra = chance(0.7) ? 0 : chance(0.5) ? (int64_t)PAD : 1 + below(PAD);
  p.b.ld = (p.b.column_order ? p.b.rows : p.b.cols) + extra;
  p.c.ld = (p.c.column_order ? p.c.rows : p.c.cols) + extra;
  if ((m.form.transposed || m.form.as_csc) && original_stumbles(p)) {
    p.b.ld = (p.b.ld + 7) / 8 * 8;
    p.c.ld = (p.c.ld + 7) / 8 * 8;
  }
  m.flip_b = chance(p.sddmm ? 0.3 : 0.1);
  m.flip_c = p.sddmm && chance(0.2);
  m.group = chance(0.5) ? 8 : chance(0.2) ? 4 : 1;
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
  switch (below(4)) {
  case 0: return "nothing";
  case 1:
    if (m.p.a.nnz == 0) return "nothing";
    put_kernel<<<1, 1, 0, s>>>(m.p.a.values, below(stored_values(m.p, m.form)), m.p.a.type,
                               8 * random_uniform(&rng) - 4);
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

// ---- calls ---------------------------------------------------------------------------
struct Scalars {  // host copies in both types, and where a call finds its own
  float f[2];
  double d[2];
  const void *alpha, *beta;
  const void *ask;  // alpha of bufferSize and preprocess
};

// Draws alpha and beta.  Between replays only the device's copies may change.  For SDDMM
// with alpha 0 on the host, the original leaves some of repeated entries as they were.
static void draw_scalars(Problem &p, bool nonfinite, cudaStream_t s)
{
  static const double alphas[] = { 1, 1, 1, 1, -0.5, 2.25, 0 }, betas[] = { 0, 0, 0, 1, -0.75 };
  bool zero = !nonfinite && (p.device_scalars || (!p.sddmm && !original_stumbles(p)));
  p.alpha = alphas[below(zero ? 7 : 6)];
  p.beta = betas[below(5)];
  put_kernel<<<1, 1, 0, s>>>(p.scalars, 0, p.compute, p.alpha);
  put_kernel<<<1, 1, 0, s>>>(p.scalars, 1, p.compute, p.beta);
  CUDA_OK(cudaGetLastError());
}

static void point_scalars(const Problem &p, Scalars *v)
{
  static const double one_double = 1;
  static const float one_float = 1;
  bool d = p.compute == CUDA_R_64F;
  v->f[0] = (float)p.alpha;
  v->f[1] = (float)p.beta;
  v->d[0] = p.alpha;
  v->d[1] = p.beta;
  if (p.device_scalars) {
    v->alpha = p.scalars;
    v->beta = (const char *)p.scalars + (d ? 8 : 4);
  } else {
    v->alpha = d ? (const void *)&v->d[0] : (const void *)&v->f[0];
    v->beta = d ? (const void *)&v->d[1] : (const void *)&v->f[1];
  }
  v->ask = v->alpha;
  if (!p.device_scalars && p.alpha == 0)
    v->ask = d ? (const void *)&one_double : (const void *)&one_float;
}

// Old content of the output: poison where beta is 0, numbers where it counts.
static void prepare_output(const Problem &p, const Form &f, cudaStream_t s)
{
  int64_t elements = p.sddmm ? stored_values(p, f) : stored_c(p, f);
  cudaDataType type = p.sddmm ? p.a.type : p.c.type;
  size_t bytes = (size_t)elements * type_size(type);
  if (bytes == 0) return;
  void *out = output(p);
  if (p.beta == 0)
    CUDA_OK(cudaMemsetAsync(out, 0xff, bytes, s));
  else
    fill(out, elements, type, salt(), FILL_RANDOM, s);
  CUDA_OK(cudaMemcpyAsync((void *)p.before, out, bytes, cudaMemcpyDeviceToDevice, s));
}

static cusparseOperation_t operation(bool flip)
{
  return flip ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
}

static cusparseStatus_t buffer_size(Slot &m, cusparseHandle_t h, const Scalars &v, size_t *bytes)
{
  if (m.p.sddmm)
    return cusparseSDDMM_bufferSize(h, operation(m.flip_c), operation(m.flip_b), v.ask, m.c,
                                    m.b, v.beta, m.sparse, m.p.compute,
                                    CUSPARSE_SDDMM_ALG_DEFAULT, bytes);
  return cusparseSpMM_bufferSize(h, operation(m.form.op_a()), operation(m.flip_b), v.ask, m.sparse,
                                 m.b, v.beta, m.c, m.p.compute, (cusparseSpMMAlg_t)m.algorithm, bytes);
}

static cusparseStatus_t preprocess(Slot &m, cusparseHandle_t h, const Scalars &v, void *buffer)
{
  if (m.p.sddmm)
    return cusparseSDDMM_preprocess(h, operation(m.flip_c), operation(m.flip_b), v.ask, m.c,
                                    m.b, v.beta, m.sparse, m.p.compute,
                                    CUSPARSE_SDDMM_ALG_DEFAULT, buffer);
  return cusparseSpMM_preprocess(h, operation(m.form.op_a()), operation(m.flip_b), v.ask, m.sparse,
                                 m.b, v.beta, m.c, m.p.compute, (cusparseSpMMAlg_t)m.algorithm,
                                 buffer);
}

static cusparseStatus_t multiply(Slot &m, cusparseHandle_t h, const Scalars &v, void *buffer)
{
  if (m.p.sddmm)
    return cusparseSDDMM(h, operation(m.flip_c), operation(m.flip_b), v.alpha, m.c, m.b, v.beta,
                         m.sparse, m.p.compute, CUSPARSE_SDDMM_ALG_DEFAULT, buffer);
  return cusparseSpMM(h, operation(m.form.op_a()), operation(m.flip_b), v.alpha, m.sparse, m.b, v.beta,
                      m.c, m.p.compute, (cusparseSpMMAlg_t)m.algorithm, buffer);
}

static std::string group_text(const Problem &p, const Form &f, const char *mode)
{
  const char *form = f.batches > 1  ? "batches, "
                     : f.transposed ? "transposed, "
                     : f.as_csc     ? "csc, "
                                    : "";
  return std::string(p.sddmm ? "sddmm " : "spmm ") + type_text(p.a.type) + ", " + form + mode;
}

static std::string call_text(const Slot &m, const char *mode, const char *changed, int repeat)
{
  char text[400];
  const Problem &p = m.p;
  const Form &f = m.form;
  snprintf(text, sizeof text,
           "step %lld call %d (%s; changed: %s) %s %s>%s i%d b%d %lldx%lldx%lld nnz %lld group %d "
           "kind %d %c%c ld %lld/%lld flip %d%d alg %d alpha %g beta %g%s%s block %d%s%s batches %d "
           "entries %lld",
           (long long)step, repeat, mode, changed, p.sddmm ? "sddmm" : "spmm",
           type_text(p.a.type), type_text(p.c.type), p.a.wide ? 64 : 32, p.a.base,
           (long long)p.a.rows, (long long)p.a.cols,
           (long long)(p.sddmm ? p.b.rows : p.b.cols), (long long)p.a.nnz, m.group, m.kind,
           p.b.column_order ? 'c' : 'r', p.c.column_order ? 'c' : 'r', (long long)p.b.ld,
           (long long)p.c.ld, m.flip_b, m.flip_c, m.algorithm, p.alpha, p.beta,
           p.device_scalars ? " (device)" : "", m.nonfinite ? " nonfinite" : "", m.block,
           f.as_csc ? " csc" : "", f.transposed ? " transposed" : "", f.batches,
           (long long)f.entries);
  return text;
}

static void check_call(const Problem &p, const Form &f, const char *workspace, size_t bytes,
                       const char *mode, const std::string &text, cudaStream_t s)
{
  if (verbose) printf("# %s\n", text.c_str());
  Outcome *o = next_outcome(p, f, group_text(p, f, mode), text);
  check_all(p, f, o, s);
  check_bytes_kernel<<<1, CANARY, 0, s>>>((const unsigned char *)workspace + bytes, CANARY, 0xa5,
                                          o);
  CUDA_OK(cudaGetLastError());
}

// Another tensor of the program uses the workspace between calls.
static void scribble(char *workspace, size_t bytes, cudaStream_t s)
{
  if (bytes) CUDA_OK(cudaMemsetAsync(workspace, 0xff, bytes, s));
  CUDA_OK(cudaMemsetAsync(workspace + bytes, 0xa5, CANARY, s));
}

// The first few in full, the others counted.
static void broken(const char *format, const char *what, const std::string &text)
{
  if (broken_calls++ < 16) check(0, format, what, text.c_str());
}

// The answer is allowed to be "not supported" (bf16 SDDMM, some layouts).
static bool accepted(cusparseStatus_t status, const char *what, const std::string &text)
{
  if (status == CUSPARSE_STATUS_SUCCESS) return true;
  if (status == CUSPARSE_STATUS_NOT_SUPPORTED)
    refused++;
  else
    broken("%s returned another status: %s", what, "status " + std::to_string(status) + " " + text);
  return false;
}

static void run_plain(Slot &m, int lane, const char *changed, bool with_preprocess)
{
  cudaStream_t s = streams[lane];
  Scalars v;
  int repeats = 1 + (int)below(6);
  const char *mode = with_preprocess ? "preprocess" : m.promised ? "promised" : "plain";
  char *buffer = m.promised ? m.workspace : m.other_workspace;
  for (int r = 0; r < repeats; r++) {
    if (r && chance(0.25)) changed = change_values(m, s);
    if (r && chance(0.2)) fill_dense(m, s);
    draw_scalars(m.p, m.nonfinite, s);
    prepare_output(m.p, m.form, s);
    point_scalars(m.p, &v);
    std::string text = call_text(m, mode, changed, r);
    size_t bytes = m.promised_bytes;
    if (!m.promised) {
      if (!accepted(buffer_size(m, handles[lane], v, &bytes), "bufferSize", text)) return;
      if (bytes + CANARY > WORKSPACE) {
        refused++;
        return;
      }
      if (with_preprocess) buffer = m.workspace;
      scribble(buffer, bytes, s);
      if (with_preprocess) {
        if (!accepted(preprocess(m, handles[lane], v, buffer), "preprocess", text)) return;
        m.promised = true;
        m.lane = lane;
        m.promised_bytes = bytes;
      }
    }
    if (!accepted(multiply(m, handles[lane], v, buffer), "multiply", text)) return;
    check_call(m.p, m.form, buffer, bytes, mode, text, s);
    if (chance(0.05)) CUDA_OK(cudaStreamSynchronize(s));
  }
}

static void replay(Slot &m, Graph &g, cudaStream_t s, bool first)
{
  int replays = 1 + (int)below(4);
  const char *changed = "before";
  for (int r = 0; r < replays; r++) {
    if (r || !first) {
      changed = chance(0.7) ? change_values(m, s) : change_pattern(m, s);
      if (chance(0.2)) fill_dense(m, s);
    }
    g.p.scalars = m.p.scalars;
    if (g.p.device_scalars) draw_scalars(g.p, m.nonfinite, s);
    if (!g.p.device_scalars && g.p.alpha == 0 && m.nonfinite) return;
    prepare_output(g.p, g.form, s);
    scribble(g.workspace, g.workspace_bytes, s);
    CUDA_OK(cudaGraphLaunch(g.exec, s));
    check_call(g.p, g.form, g.workspace, g.workspace_bytes, "graph",
               g.text + ", replay " + std::to_string(r) + " after step " + std::to_string(step) +
                   " changed " + changed,
               s);
  }
}

static void run_graph(Slot &m, int lane, const char *changed)
{
  cudaStream_t s = streams[lane];
  Scalars v;
  size_t bytes = 0;
  draw_scalars(m.p, m.nonfinite, s);
  point_scalars(m.p, &v);
  std::string text = call_text(m, "graph", changed, 0);
  if (!accepted(buffer_size(m, handles[lane], v, &bytes), "bufferSize", text)) return;
  if (bytes + CANARY > WORKSPACE) {
    refused++;
    return;
  }
  if (m.graphs.size() == GRAPHS) {
    CUDA_OK(cudaGraphExecDestroy(m.graphs[0].exec));
    m.graph_workspaces.push_back(m.graphs[0].workspace);
    m.graphs.erase(m.graphs.begin());
  }
  char *workspace = m.graph_workspaces.back();
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamBeginCapture(s, chance(0.7) ? cudaStreamCaptureModeGlobal
                                                : cudaStreamCaptureModeThreadLocal));
  cusparseStatus_t status = multiply(m, handles[lane], v, workspace);
  cudaError_t ended = cudaStreamEndCapture(s, &graph);
  if (!accepted(status, "captured multiply", text) || ended != cudaSuccess) {
    if (ended != cudaSuccess) broken("capture ended with %s: %s", cudaGetErrorString(ended), text);
    if (graph) cudaGraphDestroy(graph);
    cudaGetLastError();
    return;
  }
  m.graph_workspaces.pop_back();
  Graph g = { nullptr, m.p, m.form, workspace, bytes, text };
  CUDA_OK(cudaGraphInstantiate(&g.exec, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  m.graphs.push_back(g);
  replay(m, m.graphs.back(), s, true);
}

static void take_step()
{
  static const int algorithms[] = { CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_ALG_DEFAULT,
                                    CUSPARSE_SPMM_CSR_ALG1, CUSPARSE_SPMM_CSR_ALG2,
                                    CUSPARSE_SPMM_CSR_ALG3 };
  Slot &m = slots[below(SLOTS)];
  int lane = m.promised ? m.lane : (int)below(STREAMS);
  cudaStream_t s = streams[lane];
  CUDA_OK(cudaStreamWaitEvent(s, blocks[m.block].done, 0));
  const char *changed = change(m, s);
  if (!m.promised) {
    m.p.device_scalars = chance(0.25);
    m.algorithm = algorithms[below(5)];
    // The original refuses this pair as an invalid value, not as unsupported.
    if (m.form.as_csc && m.algorithm == CUSPARSE_SPMM_CSR_ALG3)
      m.algorithm = CUSPARSE_SPMM_ALG_DEFAULT;
    if (m.sparse && chance(0.5)) destroy_descriptors(m);
    if (!m.sparse) create_descriptors(m);
  }
  SPARSE_OK(cusparseSetPointerMode(handles[lane], m.p.device_scalars
                                                      ? CUSPARSE_POINTER_MODE_DEVICE
                                                      : CUSPARSE_POINTER_MODE_HOST));
  int64_t u = below(100);
  if (!m.graphs.empty() && u < 12) {
    give_up_promise(m);  // replays may change the pattern
    replay(m, m.graphs[below((int64_t)m.graphs.size())], s, false);
  } else if (u < 34 && !m.promised && lane != LEGACY)
    run_graph(m, lane, changed);
  else
    run_plain(m, lane, changed, !m.promised && u < 46);
  CUDA_OK(cudaEventRecord(blocks[m.block].done, s));
}

// When CUDA gives up: what was asked for last.
static void report_end()
{
  if (finished) return;
  for (size_t k = texts.size() < 6 ? 0 : texts.size() - 6; k < texts.size(); k++)
    printf("# before the end: %s\n", texts[k].c_str());
}

static void set_up()
{
  CUDA_OK(cudaMalloc(&outcomes, OUTCOMES * sizeof(Outcome)));
  CUDA_OK(cudaMemset(outcomes, 0, OUTCOMES * sizeof(Outcome)));
  for (Block &k : blocks) {
    CUDA_OK(cudaMalloc(&k.offsets, (MAX_SIDE + PAD) * 8));
    CUDA_OK(cudaMalloc(&k.columns, (MAX_NNZ + PAD) * 8));
    CUDA_OK(cudaMalloc(&k.values, (MAX_NNZ + PAD) * 8));
    CUDA_OK(cudaMalloc(&k.b, DENSE_BYTES));
    CUDA_OK(cudaMalloc(&k.c, DENSE_BYTES));
    CUDA_OK(cudaMalloc((void **)&k.before, std::max(DENSE_BYTES, (size_t)(MAX_NNZ + PAD) * 8)));
    CUDA_OK(cudaMalloc(&k.scalars, 64));
    CUDA_OK(cudaEventCreateWithFlags(&k.done, cudaEventDisableTiming));
  }
  for (int i = 0; i < STREAMS; i++) {
    if (i != LEGACY) CUDA_OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
    SPARSE_OK(cusparseCreate(&handles[i]));
    SPARSE_OK(cusparseSetStream(handles[i], streams[i]));
    CUDA_OK(cudaMalloc((void **)&sums[i], (2 * MAX_SIDE * MAX_N + MAX_SIDE) * sizeof(double)));
  }
  for (Slot &m : slots) {
    CUDA_OK(cudaMalloc((void **)&m.workspace, WORKSPACE));
    CUDA_OK(cudaMalloc((void **)&m.other_workspace, WORKSPACE));
    for (int i = 0; i < GRAPHS; i++) {
      char *w;
      CUDA_OK(cudaMalloc((void **)&w, WORKSPACE));
      m.graph_workspaces.push_back(w);
    }
    use_block(m, free_block());
    draw_problem(m);
    fill_all(m, streams[0]);
  }
  CUDA_OK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
  int64_t steps = 10000, number = 0;
  rng = 1;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--strict"))
      strict = true;
    else if (!strcmp(argv[i], "--verbose"))
      verbose = true;
    else if (number++ == 0)
      steps = atoll(argv[i]);
    else
      rng = (uint64_t)atoll(argv[i]);
  }
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  atexit(report_end);
  set_up();
  for (step = 0; step < steps; step++) {
    take_step();
    if (step % 128 == 127) drain();
  }
  drain();
  clock_gettime(CLOCK_MONOTONIC, &end);
  int64_t total = 0;
  for (auto &entry : tallies) {
    const Tally &t = entry.second;
    total += t.calls;
    check(t.loose == 0 && t.outside == 0 && (!strict || t.strict == 0),
          "%s: %lld results, %lld beyond one rounding, %lld wrong, %lld wrote outside",
          entry.first.c_str(), (long long)t.calls, (long long)t.strict, (long long)t.loose,
          (long long)t.outside);
  }
  check(total == calls && total >= steps / 2, "%lld results checked in %lld steps, %.1f s",
        (long long)total, (long long)steps,
        (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec));
  check(broken_calls == 0, "%lld calls failed", (long long)broken_calls);
  if (refused) printf("# %lld calls refused by status NOT_SUPPORTED\n", (long long)refused);
  for (Slot &m : slots) {
    forget_graphs(m);
    destroy_descriptors(m);
  }
  for (int i = 0; i < STREAMS; i++) SPARSE_OK(cusparseDestroy(handles[i]));
  CUDA_OK(cudaDeviceSynchronize());
  finished = true;
  return finish();
}
