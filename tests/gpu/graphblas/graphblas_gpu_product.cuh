// graphblas_gpu_product.cuh: products for the tests of GraphBLAS' GPU engine: operands of
// every form, compared with the twin on the host, and how often they were uploaded.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include "backend/graphblas/gpu/gpu_engine.h"
#include "backend/plan/fault.h"
#include "tests/gpu/graphblas/sparse_arrays.cuh"

namespace harness
{

inline const char *mode = "plain"; // of this run: every line says it

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
  SparseArrays arrays;
  std::vector<char> values, b, c, old_c;
  std::vector<int8_t> present;
  struct shunt_host_spmm x = {};
  grb_spmm_sources from = {};

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
    std::vector<int64_t> &indices = arrays.indices;
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
      arrays.end_vector(v, begin, k.hyper);
    }
    arrays.end();
    shunt_sparse &s = x.s;
    s.rows = k.rows;
    s.cols = k.cols;
    s.by_column = k.by_column;
    s.iso = k.s_iso;
    arrays.point(s, k.hyper, k.index_bytes);
    values.resize((s.iso ? 1 : s.nnz) * shunt_type_size(k.type));
    for (int64_t i = 0; i < (s.iso ? 1 : s.nnz); i++) set(values, i, number(r, k.specials));
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
    for (int64_t i = 0; i < count; i++) set(to, i, number(r, specials));
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
      for (int64_t p = arrays.offsets[v]; p < arrays.offsets[v + 1]; p++) {
        int64_t id = x.s.ids ? arrays.ids[v] : v;
        double a = fabs(load(values.data(), x.s.iso ? 0 : p, x.semiring.type));
        if (x.semiring.multiplier == SHUNT_SECOND || x.semiring.multiplier == SHUNT_PAIR) a = 1;
        sum[x.s.by_column ? arrays.indices[p] : id] += std::isfinite(a) ? a : 0;
      }
    return sum;
  }

  shunt_status run()
  {
    c = old_c;
    x.c.values = c.data();
    if (!present.empty()) present.assign(present.size(), 5);
    return grb_gpu_spmm(&x, &from);
  }

  void name(uint64_t epoch)
  {
    from.s = {&arrays, epoch, false};
    from.b = {&b, epoch, false};
    from.c = {&c, epoch, false};
  }
};

inline grb_gpu_counts counts()
{
  grb_gpu_counts now;
  grb_gpu_read_counts(&now);
  return now;
}

inline Case medium()
{
  Case k;
  k.rows = sized(3000, 1500);
  k.cols = sized(2500, 1250);
  k.n = 96;
  k.density = 0.01;
  return k;
}

inline bool fine(Product &p, const char *what)
{
  shunt_status s = p.run();
  double wrong = s == SHUNT_OK ? p.wrong() : -1;
  return check(s == SHUNT_OK && wrong <= 1, "%s: %s (status %d, error %.3g of what is allowed)",
               mode, what, s, wrong);
}

// Runs once more and says how often S and B were uploaded.
inline bool uploads(Product &p, const char *what, uint64_t sparse, uint64_t dense)
{
  grb_gpu_counts before = counts();
  shunt_status s = p.run();
  grb_gpu_counts after = counts();
  uint64_t ds = after.sparse_uploads - before.sparse_uploads;
  uint64_t db = after.dense_uploads - before.dense_uploads;
  double wrong = s == SHUNT_OK ? p.wrong() : -1;
  return check(s == SHUNT_OK && wrong >= 0 && wrong <= 1 && ds == sparse && db == dense,
               "%s: %s (status %d, error %.3g, S uploaded %d, B %d)", mode, what, s, wrong, (int)ds,
               (int)db);
}

// CUDA's devices; 0 where there are none, or no driver.
inline int device_count()
{
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

inline Case random_case(Random &r)
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

// Every form.
inline void test_forms(int cases)
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

// What came of products of which one call of the library's own failed.
struct Faults {
  int refused = 0, finished = 0, bad = 0; // finished: on the host
};

// The product once more, call n of the library's own failing; how many it made.
inline long fail_at(Product &p, long n, bool accumulate, Faults &f)
{
  const uint64_t before = counts().finished_on_host;
  shunt_fault_arm(n);
  const shunt_status s = p.run();
  const long seen = shunt_faults_seen();
  shunt_fault_armed = 0;
  f.finished += counts().finished_on_host > before;
  if (s == SHUNT_OK)
    f.bad += !(p.wrong() <= 1);
  else
    f.bad += accumulate && p.c != p.old_c, f.refused++;
  return seen;
}

// The program itself, once more, with SHUNT's variable set.
inline int again(const char *variable, const char *value, const char *what)
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

} // namespace harness
