// test_graphblas_cuda.cu: the GPU engine of the GraphBLAS face against the twin on the host: every
// form of the operands, what is kept and what must not be, the limit on device memory,
// several GPUs, every failure, threads and forks.
//
// The program runs itself again with SHUNT_CACHE_MB and SHUNT_VERIFY set.
#include <cuda.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/graphblas/cuda_engine.h"
extern "C" {
#include "backend/plan/fault.h"
}
#include "tests/gpu/harness.cuh"

using namespace harness;

static const char *mode = "plain";

// ---- a product and everything it needs ------------------------------------------------------

struct Case {
  shunt_type type = SHUNT_F32;
  enum shunt_multiplier multiplier = SHUNT_TIMES;
  int64_t rows = 100, cols = 80, n = 24;
  double density = 0.05;
  bool by_column = false, hyper = false, s_iso = false, b_iso = false, accumulate = false;
  bool b_by_column = false, c_by_column = false, present = false, specials = false;
  int64_t empty_every = 0, long_row = 0, pad = 0;
  int index_bytes = 8, threads = 4;
};

struct Product {
  std::vector<int64_t> ids, offsets, indices;
  std::vector<uint32_t> ids32, offsets32, indices32;
  std::vector<char> values, b, c, old_c;
  std::vector<int8_t> present;
  struct shunt_host_spmm x = {};
  shunt_grb_identity sparse = {}, dense = {}, out = {};

  Product(const Case &k, uint64_t seed) { make(k, seed); }

  void set(std::vector<char> &to, int64_t i, double v) { store(to.data(), i, x.semiring.type, v); }

  double number(Random &r, bool specials)
  {
    if (specials && r.below(40) == 0) {
      const double s[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0};
      return s[r.below(5)];
    }
    return r.value();
  }

  void make_sparse(const Case &k, Random &r)
  {
    int64_t vectors = k.by_column ? k.cols : k.rows, length = k.by_column ? k.rows : k.cols;
    for (int64_t v = 0; v < vectors; v++) {
      int64_t begin = (int64_t)indices.size();
      for (int64_t i = 0; i < length; i++) {
        int64_t row = k.by_column ? i : v;
        if (k.empty_every && row % k.empty_every == 0) continue;
        double density = k.long_row && row == k.long_row ? 1 : k.density;
        if (r.uniform() < density) indices.push_back(i);
      }
      for (int64_t i = (int64_t)indices.size() - 1; i > begin; i--) // any order
        std::swap(indices[i], indices[begin + r.below(i - begin + 1)]);
      if (k.hyper && (int64_t)indices.size() == begin) continue;
      ids.push_back(v);
      offsets.push_back(begin);
    }
    if (indices.empty()) {
      indices.push_back(0);
      if (offsets.empty()) ids.push_back(0), offsets.push_back(0);
    }
    offsets.push_back((int64_t)indices.size());
    shunt_sparse &s = x.s;
    s.rows = k.rows;
    s.cols = k.cols;
    s.vectors = (int64_t)offsets.size() - 1;
    s.nnz = (int64_t)indices.size();
    s.by_column = k.by_column;
    s.iso = k.s_iso;
    values.resize((s.iso ? 1 : s.nnz) * shunt_type_size(k.type));
    for (int64_t i = 0; i < (s.iso ? 1 : s.nnz); i++)
      set(values, i, number(r, k.specials));
    ids32.assign(ids.begin(), ids.end());
    offsets32.assign(offsets.begin(), offsets.end());
    indices32.assign(indices.begin(), indices.end());
    bool small = k.index_bytes == 4;
    s.id_bytes = s.offset_bytes = s.index_bytes = k.index_bytes;
    s.ids = !k.hyper ? NULL : small ? (const void *)ids32.data() : ids.data();
    s.offsets = small ? (const void *)offsets32.data() : offsets.data();
    s.indices = small ? (const void *)indices32.data() : indices.data();
    s.values = values.data();
  }

  shunt_full full(int64_t rows, int64_t cols, bool by_column, int64_t pad)
  {
    shunt_full m = {};
    m.rows = rows;
    m.cols = cols;
    m.row_stride = by_column ? 1 : cols + pad;
    m.col_stride = by_column ? rows + pad : 1;
    return m;
  }

  static int64_t places(const shunt_full &m)
  {
    return (m.rows - 1) * m.row_stride + (m.cols - 1) * m.col_stride + 1;
  }

  void fill(std::vector<char> &to, int64_t count, Random &r, bool specials)
  {
    to.resize(count * shunt_type_size(x.semiring.type));
    for (int64_t i = 0; i < count; i++)
      set(to, i, number(r, specials));
  }

  void make(const Case &k, uint64_t seed)
  {
    Random r(seed);
    x.semiring = {SHUNT_PLUS, k.multiplier, k.type};
    x.accumulate = k.accumulate;
    x.threads = k.threads;
    make_sparse(k, r);
    x.b = full(k.cols, k.n, k.b_by_column, k.pad);
    x.c = full(k.rows, k.n, k.c_by_column, k.pad);
    x.b.iso = k.b_iso;
    fill(b, k.b_iso ? 1 : places(x.b), r, k.specials);
    fill(c, places(x.c), r, false);
    old_c = c;
    x.b.values = b.data();
    x.c.values = c.data();
    if (k.present && !k.accumulate) {
      present.assign(places(x.c), 5);
      x.c.present = present.data();
    }
  }

  // What the twin makes of the operands as they are, into c_, present_.
  void twin(std::vector<char> &c_, std::vector<int8_t> &present_) const
  {
    struct shunt_host_spmm t = x;
    c_ = old_c;
    present_ = present;
    t.c.values = c_.data();
    t.c.present = present.empty() ? NULL : present_.data();
    if (shunt_host_spmm_twin(&t) != SHUNT_OK) printf("not ok - twin\n"), exit(2);
  }

  // The largest error in units of what is allowed; 1e30 where NaN, presence or padding differ.
  double wrong() const
  {
    std::vector<char> want;
    std::vector<int8_t> want_present;
    twin(want, want_present);
    double worst = present == want_present ? 0 : 1e30;
    std::vector<double> scale = scales();
    for (int64_t i = 0; i < x.c.rows; i++)
      for (int64_t j = 0; j < x.c.cols; j++) {
        int64_t at = i * x.c.row_stride + j * x.c.col_stride;
        double w = load(want.data(), at, x.semiring.type), g = load(c.data(), at, x.semiring.type);
        if (std::isnan(w) != std::isnan(g) || std::isinf(w) != std::isinf(g)) return 1e30;
        if (std::isnan(w) || w == g) continue;
        double allowed =
            tolerance(x.semiring.type, x.semiring.type,
                      scale[i] + fabs(load(old_c.data(), at, x.semiring.type)), w, x.s.cols);
        worst = std::max(worst, fabs(w - g) / allowed);
      }
    for (int64_t i = 0; i < places(x.c); i++) { // between the lines
      int64_t length = x.c.col_stride == 1 ? x.c.cols : x.c.rows;
      int64_t stride = x.c.col_stride == 1 ? x.c.row_stride : x.c.col_stride;
      size_t size = shunt_type_size(x.semiring.type);
      if (i % stride >= length && memcmp(&c[i * size], &old_c[i * size], size)) return 1e30;
    }
    return worst;
  }

  // A bound on the sum of |s b| in each row: values of B are at most 1.
  std::vector<double> scales() const
  {
    std::vector<double> sum(x.s.rows, 0.0);
    for (int64_t v = 0; v < x.s.vectors; v++)
      for (int64_t p = offsets[v]; p < offsets[v + 1]; p++) {
        int64_t id = x.s.ids ? ids[v] : v;
        double a = fabs(load(values.data(), x.s.iso ? 0 : p, x.semiring.type));
        if (x.semiring.multiplier == SHUNT_SECOND || x.semiring.multiplier == SHUNT_PAIR) a = 1;
        sum[x.s.by_column ? indices[p] : id] += std::isfinite(a) ? a : 0;
      }
    return sum;
  }

  shunt_status run()
  {
    c = old_c;
    x.c.values = c.data();
    if (!present.empty()) present.assign(present.size(), 5);
    return shunt_grb_cuda_spmm(&x, &sparse, &dense, &out);
  }

  void name(uint64_t epoch)
  {
    sparse = {&offsets, epoch, false};
    dense = {&b, epoch, false};
    out = {&c, epoch, false};
  }
};

static shunt_grb_cuda_counts counts()
{
  shunt_grb_cuda_counts now;
  shunt_grb_cuda_read_counts(&now);
  return now;
}

// ---- every form -----------------------------------------------------------------------------

static Case random_case(Random &r)
{
  const enum shunt_multiplier m[] = {SHUNT_TIMES, SHUNT_TIMES, SHUNT_SECOND, SHUNT_FIRST,
                                     SHUNT_PAIR};
  Case k;
  k.type = r.below(2) ? SHUNT_F32 : SHUNT_F64;
  k.multiplier = m[r.below(5)];
  k.rows = 1 + r.below(r.below(4) ? 300 : 4000);
  k.cols = 1 + r.below(300);
  k.n = 1 + r.below(r.below(3) ? 70 : 300);
  k.density = r.below(4) ? 0.05 : 0.4;
  k.by_column = r.below(2);
  k.hyper = r.below(4) == 0;
  k.s_iso = r.below(4) == 0;
  k.b_iso = r.below(8) == 0;
  k.accumulate = r.below(3) == 0;
  k.b_by_column = r.below(3) == 0;
  k.c_by_column = r.below(3) == 0;
  k.present = r.below(2);
  k.specials = r.below(4) == 0;
  k.empty_every = r.below(3) ? 0 : 1 + r.below(7);
  if (k.empty_every == 1) k.empty_every = 2;
  k.pad = r.below(5) ? 0 : r.below(9);
  k.index_bytes = r.below(2) ? 4 : 8;
  k.threads = 1 + (int)r.below(r.below(2) ? 4 : 16);
  return k;
}

static bool fine(Product &p, const char *what)
{
  shunt_status s = p.run();
  double wrong = s == SHUNT_OK ? p.wrong() : -1;
  return check(s == SHUNT_OK && wrong <= 1, "%s: %s (status %d, error %.3g of what is allowed)",
               mode, what, s, wrong);
}

static void test_forms(int cases)
{
  Random r(42);
  int bad = 0, worst_case = -1;
  for (int i = 0; i < cases && bad < 5; i++) {
    Case k = random_case(r);
    Product p(k, 1000 + i);
    if (r.below(2)) p.name(1 + i);
    shunt_status s = p.run();
    double wrong = s == SHUNT_OK ? p.wrong() : 1e30;
    if (wrong <= 1) continue;
    bad++;
    worst_case = i;
    printf(
        "# case %d status %d wrong %.3g: type %d op %d %ld x %ld x %ld csc %d hyper %d iso %d %d "
        "acc %d bycol %d %d present %d specials %d pad %ld threads %d\n",
        i, s, wrong, k.type, k.multiplier, (long)k.rows, (long)k.cols, (long)k.n, k.by_column,
        k.hyper, k.s_iso, k.b_iso, k.accumulate, k.b_by_column, k.c_by_column, k.present,
        k.specials, (long)k.pad, k.threads);
  }
  check(bad == 0, "%s: %d random products agree with the twin (last bad one: %d)", mode, cases,
        worst_case);
}

static void test_long_row()
{
  Case k;
  k.rows = 60;
  k.cols = 20000;
  k.density = 0.002;
  k.long_row = 17;
  k.n = 40;
  Product p(k, 7);
  fine(p, "a row of 20,000 entries");
}

static void test_unsupported()
{
  Case k;
  Product p(k, 8);
  p.x.semiring.monoid = SHUNT_MIN;
  bool right = p.run() == SHUNT_E_UNSUPPORTED;
  p.x.semiring = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_I64};
  right = right && p.run() == SHUNT_E_UNSUPPORTED;
  p.x.semiring = {SHUNT_PLUS, SHUNT_ADD, SHUNT_F32};
  right = right && p.run() == SHUNT_E_UNSUPPORTED;
  p.x.semiring.multiplier = SHUNT_TIMES;
  std::vector<int8_t> some(p.x.b.rows * p.x.b.cols, 1);
  p.x.b.present = some.data();
  right = right && p.run() == SHUNT_E_UNSUPPORTED;
  check(right && p.c == p.old_c, "%s: what is not built is refused and C untouched", mode);
}

// ---- what is kept ---------------------------------------------------------------------------

static Case medium()
{
  Case k;
  k.rows = 3000;
  k.cols = 2500;
  k.n = 96;
  k.density = 0.01;
  return k;
}

// Runs once more and says how often S and B were uploaded.
static bool uploads(Product &p, const char *what, uint64_t sparse, uint64_t dense)
{
  shunt_grb_cuda_counts before = counts();
  shunt_status s = p.run();
  shunt_grb_cuda_counts after = counts();
  uint64_t ds = after.sparse_uploads - before.sparse_uploads;
  uint64_t db = after.dense_uploads - before.dense_uploads;
  double wrong = s == SHUNT_OK ? p.wrong() : -1;
  return check(s == SHUNT_OK && wrong >= 0 && wrong <= 1 && ds == sparse && db == dense,
               "%s: %s (status %d, error %.3g, S uploaded %d, B %d)", mode, what, s, wrong, (int)ds,
               (int)db);
}

static void test_kept_sparse(bool by_column)
{
  Case k = medium();
  k.by_column = by_column;
  Product p(k, 11);
  shunt_grb_cuda_forget();
  p.sparse = {&p, 5, false};
  uploads(p, "S is new", 1, 1);
  uploads(p, "S is kept", 0, 1);
  for (int64_t i = 0; i < p.x.s.nnz; i++)
    p.set(p.values, i, 0.25);
  p.sparse.epoch = 6;
  uploads(p, "values changed in place, new epoch", 1, 1);
  uploads(p, "kept again", 0, 1);
  p.set(p.values, p.x.s.nnz / 3, 0.75);
  p.sparse.epoch = 7;
  uploads(p, "one value changed, new epoch", 1, 1);
  std::vector<char> moved = p.values;
  p.x.s.values = moved.data();
  uploads(p, "same epoch, another array", 1, 1);
  for (int64_t i = 0; i < p.x.s.nnz; i++)
    store(moved.data(), i, k.type, -0.5), p.set(p.values, i, -0.5);
  uploads(p, "all values changed behind the epoch's back: samples", 1, 1);
  p.sparse.read_only = true;
  uploads(p, "read-only is never kept", 1, 1);
  uploads(p, "read-only is never kept, again", 1, 1);
  p.sparse = {&p, 0, false};
  uploads(p, "unknown epoch is never kept", 1, 1);
  uploads(p, "unknown epoch is never kept, again", 1, 1);
  p.sparse = {NULL, 9, false};
  uploads(p, "no handle is never kept", 1, 1);
  uploads(p, "no handle is never kept, again", 1, 1);
}

static void test_kept_ones()
{
  Case k = medium();
  Product p(k, 12);
  shunt_grb_cuda_forget();
  p.sparse = {&p, 5, false};
  uploads(p, "PLUS_TIMES", 1, 1);
  p.x.semiring.multiplier = SHUNT_SECOND;
  uploads(p, "PLUS_SECOND of the same S has values of its own", 1, 1);
  uploads(p, "and keeps them", 0, 1);
  p.x.semiring.multiplier = SHUNT_TIMES;
  uploads(p, "PLUS_TIMES again", 0, 1);
}

// C of one product is B of the next.
static void test_chain(bool c_by_column)
{
  Case k = medium();
  k.cols = k.rows;
  k.b_by_column = k.c_by_column = c_by_column;
  Product p(k, 13);
  shunt_grb_cuda_forget();
  p.name(3);
  uploads(p, "first of a chain", 1, 1);
  std::vector<char> first = p.c;
  Product q(k, 13);
  q.sparse = p.sparse;
  q.x.s = p.x.s;
  q.out = {&q.c, 1, false};
  auto next = [&](std::vector<char> &from, uint64_t epoch) {
    q.b = from;
    q.x.b.values = from.data();
    q.dense = {&p.c, epoch, false};
    q.out.epoch++;
  };
  next(p.c, 3);
  uploads(q, "C is B of the next: nothing is sent", 0, 0);
  uploads(q, "and once more", 0, 0);
  for (int64_t i = 0; i < Product::places(p.x.c); i++)
    p.set(p.c, i, 0.125);
  next(p.c, 4);
  uploads(q, "C was written since", 0, 1);
  next(first, 4);
  uploads(q, "another array", 0, 1);
}

static void test_kept_results_of_missing_rows()
{
  Case k = medium();
  k.cols = k.rows;
  k.empty_every = 10;
  k.present = true;
  Product p(k, 14);
  shunt_grb_cuda_forget();
  p.name(3);
  uploads(p, "rows without entries", 1, 1);
  uploads(p, "rows without entries, S kept", 0, 0);
  Product q(k, 15);
  q.x.s = p.x.s;
  q.sparse = p.sparse;
  q.values = p.values, q.offsets = p.offsets, q.indices = p.indices, q.ids = p.ids;
  q.b = p.c;
  q.x.b.values = p.c.data();
  q.dense = {&p.c, 3, false};
  uploads(q, "a C with missing elements is not kept", 0, 1);
}

// ---- limit, devices -------------------------------------------------------------------------

static void test_limit(int64_t limit)
{
  Case k = medium();
  k.rows = 12000;
  k.cols = 12000;
  k.density = 0.002;
  k.n = 3 * limit / (k.cols * 4) + 5;
  for (int form = 0; form < 4; form++) {
    k.b_by_column = form & 1;
    k.c_by_column = form & 2;
    k.accumulate = form == 3;
    Product p(k, 20 + form);
    shunt_grb_cuda_forget();
    p.name(10 + form);
    uploads(p, "B of three times the limit", 1, 1);
    uploads(p, "again: S stayed", 0, 1);
  }
  k.density = 0.02;
  k.rows = k.cols = 8000;
  k.n = 8;
  Product p(k, 30);
  p.name(20);
  shunt_status s = p.run();
  check(s == SHUNT_E_UNSUPPORTED && p.c == p.old_c, "%s: an S beyond the limit is refused (%d)",
        mode, s);
  check(!shunt_grb_cuda_wise(&p.x, &p.sparse, &p.dense, &p.out), "%s: and not wise", mode);
}

static void test_devices()
{
  int count = 0;
  cudaGetDeviceCount(&count);
  for (int n = 2; n <= count && n <= 4; n++) {
    shunt_grb_cuda_force_devices(n);
    mode = "several devices";
    test_forms(60);
    Case k = medium();
    k.cols = k.rows;
    Product p(k, 41);
    shunt_grb_cuda_forget();
    p.name(n + 100);
    uploads(p, "every device gets S and its share of B", n, n);
    uploads(p, "and keeps both", 0, 0);
  }
  if (count < 2) skip("one device");
  shunt_grb_cuda_force_devices(1);
  mode = "plain";
}

// ---- failures -------------------------------------------------------------------------------

static void test_faults(bool accumulate, int devices)
{
  Case k = medium();
  k.rows = 9000;
  k.cols = 300;
  k.density = 0.004;
  /* More pieces of C than a thread has slots, and no thread but one: some pieces are in their place
     before the last are enqueued, so that failures come between.  */
  k.n = 320;
  k.threads = devices;
  k.by_column = true;
  k.accumulate = accumulate;
  k.c_by_column = true;
  Product p(k, 50);
  int refused = 0, finished = 0, bad = 0, rounds = 0;
  shunt_grb_cuda_force_devices(devices);
  for (long n = 1; n < 5000; n += every(), rounds++) {
    shunt_grb_cuda_forget();
    p.name(1000 + n);
    uint64_t before = counts().finished_on_host;
    shunt_fault_arm(n);
    shunt_status s = p.run();
    long seen = shunt_faults_seen();
    shunt_fault_armed = 0;
    finished += counts().finished_on_host > before;
    if (s == SHUNT_OK)
      bad += !(p.wrong() <= 1);
    else
      bad += accumulate && p.c != p.old_c, refused++;
    p.name(100000 + n);
    bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
    bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
    if (seen < n) break;
  }
  check(bad == 0 && refused > 20 / every() && rounds < 4999 &&
            (!accumulate || finished > 2 / every()),
        "%s: %d faults, accumulate %d, %d devices: %d refused, %d finished on the host, %d bad",
        mode, rounds, accumulate, devices, refused, finished, bad);
  shunt_grb_cuda_force_devices(1);
}

// ---- placement, threads, forks ----------------------------------------------------------------

static void test_wise()
{
  Case k;
  Product small(k, 60);
  check(!shunt_grb_cuda_wise(&small.x, &small.sparse, &small.dense, &small.out),
        "%s: a small product stays on the host", mode);
  k = medium();
  k.rows = k.cols = 8000;
  k.density = 0.02;
  k.n = 128;
  k.threads = 1;
  Product large(k, 61);
  large.name(1);
  bool wise = false;
  for (int i = 0; i < 30 && !wise; i++)
    wise = shunt_grb_cuda_wise(&large.x, &large.sparse, &large.dense, &large.out);
  check(wise, "%s: a large one goes to the GPU", mode);
  large.x.semiring.multiplier = SHUNT_PAIR;
  check(!shunt_grb_cuda_wise(&large.x, &large.sparse, &large.dense, &large.out),
        "%s: PLUS_PAIR does not", mode);
}

struct Worker {
  int number, bad;
  const Product *shared;
};

static void *work(void *of)
{
  Worker *w = (Worker *)of;
  Case k = medium();
  for (int i = 0; i < 12; i++) {
    Product p(k, 70 + w->number);
    p.x.s = w->shared->x.s;
    p.values = w->shared->values, p.offsets = w->shared->offsets, p.indices = w->shared->indices;
    p.sparse = w->shared->sparse;
    p.dense = {&p.b, (uint64_t)(i + 1), false};
    p.out = {&p.c, (uint64_t)(i + 1), false};
    shunt_grb_cuda_wise(&p.x, &p.sparse, &p.dense, &p.out);
    w->bad += p.run() != SHUNT_OK || !(p.wrong() <= 1);
  }
  return NULL;
}

static void test_threads()
{
  Product shared(medium(), 69);
  shared.sparse = {&shared, 77, false};
  Worker w[4];
  pthread_t t[4];
  int bad = 0;
  for (int i = 0; i < 4; i++) {
    w[i] = {i, 0, &shared};
    pthread_create(&t[i], NULL, work, &w[i]);
  }
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], NULL), bad += w[i].bad;
  check(bad == 0, "%s: four threads share S", mode);
}

static void test_fork()
{
  Product p(medium(), 80);
  p.name(1);
  p.run();
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    bool wise = shunt_grb_cuda_wise(&p.x, &p.sparse, &p.dense, &p.out);
    _exit(!wise && p.run() == SHUNT_E_UNSUPPORTED ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  check(status == 0, "%s: a forked child leaves the GPU alone", mode);
  fine(p, "the parent goes on");
}

static void test_context()
{
  CUresult (*get)(CUcontext *) = NULL;
  cudaDriverEntryPointQueryResult found;
  CUcontext before = NULL, after = NULL;
  CUDA_OK(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", (void **)&get, 12000,
                                           cudaEnableDefault, &found));
  Product p(medium(), 81);
  get(&before);
  p.run();
  get(&after);
  check(before == after, "%s: the thread's context is as it was", mode);
}

// ---- the program --------------------------------------------------------------------------------

static int again(const char *variable, const char *value, const char *what)
{
  fflush(stdout);
  pid_t child = fork(); // before CUDA is started
  if (child == 0) {
    setenv(variable, value, 1);
    execl("/proc/self/exe", "test_graphblas_cuda", what, (char *)NULL);
    _exit(3);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return check(status == 0, "with %s=%s", variable, value);
}

int main(int argc, char **argv)
{
  mode = argc > 1 ? argv[1] : "plain";
  if (argc == 1) {
    again("SHUNT_CACHE_MB", "4", "limit");
    again("SHUNT_VERIFY", "1", "verify");
  }
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) {
    Product p(medium(), 1);
    check(p.run() == SHUNT_E_UNSUPPORTED && !shunt_grb_cuda_wise(&p.x, &p.sparse, &p.dense, &p.out),
          "without a device nothing is taken");
    return finish();
  }
  if (strcmp(mode, "plain")) shunt_grb_cuda_force_devices(1);
  if (!strcmp(mode, "limit")) {
    test_limit(4 << 20);
    test_forms(100);
    return finish();
  }
  if (!strcmp(mode, "verify")) {
    Product p(medium(), 90);
    p.sparse = {&p, 0, false};
    uploads(p, "new", 1, 1);
    uploads(p, "kept without an epoch", 0, 1);
    p.set(p.values, p.x.s.nnz / 3 + 1, 0.75);
    uploads(p, "one value changed, nobody said so", 1, 1);
    test_forms(60);
    return finish();
  }
  test_wise();
  shunt_grb_cuda_force_devices(1);
  test_forms(400);
  test_long_row();
  test_unsupported();
  test_kept_sparse(false);
  test_kept_sparse(true);
  test_kept_ones();
  test_chain(false);
  test_chain(true);
  test_kept_results_of_missing_rows();
  test_devices();
  test_faults(false, 1);
  test_faults(true, 1);
  test_faults(true, 2);
  test_threads();
  test_context();
  test_fork();
  return finish();
}
