// test_conv.cu: conversions and profile against their host twins, bit for bit; and that garbage
// never writes outside of what is ours.
#include "conv/coo/coo_conv.h"
#include "conv/dense/dense_conv.h"
#include "conv/profile/profile.h"
#include "tests/gpu/conv/conv_operands.cuh"

using namespace harness;

static shunt_device device;
static Words *words;

static Pattern unsorted(Pattern p, uint64_t seed)
{
  Random r(seed);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t k = p.offsets[i + 1] - 1; k > p.offsets[i]; k--)
      std::swap(p.columns[k], p.columns[p.offsets[i] + r.below(k - p.offsets[i] + 1)]);
  return p;
}

// Four columns become one: up to 256 entries of a row in one strip of the profile.
static Pattern repeated(Pattern p)
{
  for (auto &column : p.columns) column /= 4;
  return p;
}

// ---- csr -> dense ------------------------------------------------------------------

constexpr size_t band = 256; // guard bytes on both sides of dense

// Runs both twins; compares flags, guard bands and, if asked, dense.
static bool dense_agrees(Matrix &m, int64_t pad, size_t dense_skew, bool compare_dense)
{
  int64_t stride = m.pattern.cols + pad;
  size_t bytes = (size_t)(m.pattern.rows * stride) * m.vsize, first = band + dense_skew * m.vsize;
  Buffer b(first + bytes + band);
  uint32_t want = 0;
  std::fill(b.host.begin(), b.host.end(), (char)0xff);
  b.upload();
  shunt_dense d = {m.pattern.rows, m.pattern.cols, stride, 1, (char *)b.device + first, m.value};
  words->clear();
  if (shunt_csr_to_dense_cuda(&m.dev, &d, words->flag, &device, 0) != SHUNT_OK) return false;
  CUDA_OK(cudaDeviceSynchronize());
  d.values = b.host.data() + first;
  if (shunt_csr_to_dense_host(&m.host, &d, &want) != SHUNT_OK) return false;
  std::vector<char> expected = b.host;
  b.download();
  uint32_t got = words->get();
  if (got != want) {
    printf("# flags %u, want %u\n", got, want);
    return false;
  }
  for (size_t i = 0; i < b.host.size(); i++) {
    bool inside = i >= first && i < first + bytes;
    if ((!inside || compare_dense) && b.host[i] != expected[i]) {
      printf("# byte %zd of %zu (rows %lld cols %lld stride %lld)\n", (ssize_t)(i - first), bytes,
             (long long)m.pattern.rows, (long long)m.pattern.cols, (long long)stride);
      return false;
    }
  }
  return true;
}

static void test_dense()
{
  static const int64_t shape[][2] = {{1, 1},
                                     {7, 3},
                                     {33, 100},
                                     {64, 513},
                                     {sized(100, 20), 1025},
                                     {sized(37, 7), 4096},
                                     {sized(5, 2), 30001},
                                     {sized(3, 1), 70000}};
  static const shunt_type types[] = {SHUNT_I8, SHUNT_F16, SHUNT_F32, SHUNT_F64, SHUNT_C64};

  for (auto &s : shape) {
    bool good = true;
    int n = 0;
    for (shunt_type t : types)
      for (double density : {0.02, 0.5})
        for (int way = 0; way < 4; way++) {
          Pattern p = random_pattern(s[0], s[1], density, 1, 7 + way);
          if (way == 3) p = unsorted(p, 5);
          Matrix m(p, way % 2 ? SHUNT_I32 : SHUNT_I64, t, way / 2, way == 1 ? 1 : 0, way + 1);
          good &= dense_agrees(m, way == 0 ? 0 : way * 3, way == 2 ? 1 : 0, true);
          n++;
        }
    check(good, "csr -> dense %lld x %lld: %d cases as the twin", (long long)s[0], (long long)s[1],
          n);
  }
  Pattern empty;
  empty.rows = 9, empty.cols = 33;
  empty.offsets.assign(10, 0);
  Matrix m(empty, SHUNT_I32, SHUNT_F16, 1);
  check(dense_agrees(m, 2, 0, true), "csr -> dense without entries clears");
}

static void test_irregular()
{
  for (int64_t cols : {40, 700, 3000, sized(60000, 5000)}) {
    Pattern p = random_pattern(40, cols, 0.3, 1, 11);
    bool seen = true, inside = true, quiet = true;
    for (shunt_type index : {SHUNT_I32, SHUNT_I64})
      for (int base = 0; base < 2; base++) {
        Random r(3);
        Matrix m(p, index, SHUNT_F16, base);
        quiet &= dense_agrees(m, 0, 0, true) && words->get() == 0;
        // one repeated column, once beside its twin and once far from it
        for (int far = 0; far < 2; far++) {
          int64_t row = r.below(40), at = p.offsets[row], n = p.offsets[row + 1] - at;
          if (n < 2) continue;
          int64_t k = far ? n - 1 : 1;
          m.put(m.columns, (size_t)(at + k), p.columns[at] + base);
          m.upload();
          seen &= dense_agrees(m, 0, 0, false) && words->get() == SHUNT_IRREGULAR;
          m.put(m.columns, (size_t)(at + k), p.columns[at + k] + base);
        }
        // garbage columns, then garbage offsets
        static const int64_t bad[] = {-1, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1ll << 40};
        for (int64_t value : bad) {
          size_t at = (size_t)r.below(p.nnz());
          m.put(m.columns, at, value);
          m.upload();
          inside &= dense_agrees(m, 0, 0, false);
          m.put(m.columns, at, p.columns[at] + base);
          at = (size_t)r.below(41);
          m.put(m.offsets, at, value);
          m.upload();
          inside &= dense_agrees(m, 0, 0, false);
          m.put(m.offsets, at, p.offsets[at] + base);
        }
        m.put(m.columns, 5, cols + base);
        m.upload();
        seen &= dense_agrees(m, 0, 0, false) && words->get() == SHUNT_IRREGULAR;
      }
    check(quiet && seen, "csr -> dense, %lld columns: repeats and strays are seen",
          (long long)cols);
    check(inside, "csr -> dense, %lld columns: garbage writes nothing outside", (long long)cols);
  }
}

// ---- coo -> csr ----------------------------------------------------------------------

static bool coo_agrees(const std::vector<int64_t> &rows_of, int64_t rows, shunt_type index,
                       int base)
{
  size_t size = shunt_type_size(index), n = rows_of.size();
  Buffer in(n * size), out((size_t)(rows + 1) * size);
  uint32_t want = 0;
  for (size_t i = 0; i < n; i++) {
    int64_t v = rows_of[i] + base;
    int32_t w = (int32_t)v;
    memcpy(in.host.data() + i * size, index == SHUNT_I32 ? (void *)&w : (void *)&v, size);
  }
  in.upload();
  words->clear();
  shunt_status s = shunt_coo_to_csr_cuda(rows, (int64_t)n, in.device, index, base, out.device,
                                         words->flag, &device, 0);
  CUDA_OK(cudaDeviceSynchronize());
  out.download();
  std::vector<char> got = out.host;
  shunt_coo_to_csr_host(rows, (int64_t)n, in.host.data(), index, base, out.host.data(), &want);
  return s == SHUNT_OK && got == out.host && words->get() == want;
}

static void test_coo()
{
  bool good = true;
  for (int64_t rows : {0, 1, 100, 5000, sized(300000, 30000)})
    for (int64_t n : {0, 1, 1000, sized(200000, 9000)}) {
      if (rows == 0 && n) continue;
      Random r((uint64_t)(rows * 31 + n));
      std::vector<int64_t> v((size_t)n);
      for (auto &x : v) x = r.below(rows);
      if (n > 1) good &= coo_agrees(v, rows, SHUNT_I64, 0); // unsorted: reported
      std::sort(v.begin(), v.end());
      for (int base = 0; base < 2; base++)
        good &= coo_agrees(v, rows, SHUNT_I32, base) && coo_agrees(v, rows, SHUNT_I64, base);
      if (n > 1) {
        v[(size_t)n - 1] = rows; // out of range
        good &= coo_agrees(v, rows, SHUNT_I32, 1);
      }
    }
  check(good, "coo -> csr as the twin: sizes, bases, types, disorder");
}

// ---- profile ---------------------------------------------------------------------------

static bool profile_agrees(Matrix &m)
{
  static uint64_t serial = 100;
  static shunt_profile *out;
  shunt_profile want;
  if (!out) CUDA_OK(cudaMallocHost(&out, sizeof *out));
  memset(out, 0xff, sizeof *out);
  serial++;
  shunt_status s = shunt_profile_csr_cuda(&m.dev, serial, out, words->scratch, &device, 0);
  CUDA_OK(cudaDeviceSynchronize());
  shunt_profile_csr_host(&m.host, &want);
  want.serial = serial;
  if (s == SHUNT_OK && memcmp(&want, out, sizeof want) == 0) return true;
  const int64_t *a = (const int64_t *)out, *b = (const int64_t *)&want;
  for (size_t i = 0; i < sizeof want / 8; i++)
    if (a[i] != b[i]) printf("# word %zu: %lld, want %lld\n", i, (long long)a[i], (long long)b[i]);
  return false;
}

static void test_profile()
{
  struct {
    const char *name;
    Pattern p;
  } list[] = {
      {"random 1000 x 300, 5 %", random_pattern(1000, 300, 0.05, 1, 1)},
      {"groups of 8", random_pattern(803, 500, 0.1, 8, 2)},
      {"groups of 4", random_pattern(807, 500, 0.1, 4, 3)},
      {"groups of 2", random_pattern(801, 500, 0.01, 2, 4)},
      {"long rows, groups of 8", random_pattern(sized(104, 56), sized(5000, 1500), 0.4, 8, 5)},
      {"long rows, groups of 2", random_pattern(sized(101, 53), sized(5000, 1500), 0.4, 2, 6)},
      {"skewed", skewed_pattern(sized(20000, 2000), sized(60000, 6000), 10, 7)},
      {"very skewed", skewed_pattern(sized(3000, 300), sized(300000, 30000), 60, 8)},
      {"mostly empty", random_pattern(5003, 100, 0.002, 1, 9)},
      {"one row", random_pattern(1, 10000, 0.9, 1, 10)},
      {"seven rows", random_pattern(7, 64, 0.5, 7, 11)},
      {"unsorted", unsorted(random_pattern(300, 300, 0.1, 8, 12), 1)},
      {"unsorted, long rows", unsorted(random_pattern(50, 9000, 0.3, 8, 13), 2)},
      {"full", random_pattern(41, 150, 2, 1, 15)},
      {"full, long rows", random_pattern(9, 5001, 2, 1, 16)},
      {"repeated", repeated(random_pattern(40, 200, 2, 1, 17))},
      {"repeated, long rows", repeated(random_pattern(17, 4099, 0.9, 1, 18))},
  };
  for (auto &c : list) {
    bool good = true;
    for (int way = 0; way < 4; way++) {
      Matrix m(c.p, way % 2 ? SHUNT_I32 : SHUNT_I64, SHUNT_F16, way / 2, way == 3 ? 1 : 0);
      good &= profile_agrees(m);
      // a change somewhere: one list differs, or is out of order, at some place
      Random r((uint64_t)way);
      for (int k = 0; k < sized(6, 2) && c.p.nnz(); k++) {
        size_t at = (size_t)r.below(c.p.nnz());
        m.put(m.columns, at, r.below(c.p.cols) + m.base);
        m.upload();
        good &= profile_agrees(m);
      }
    }
    check(good, "profile as the twin: %s", c.name);
  }
  Pattern none;
  Matrix m(none, SHUNT_I32, SHUNT_F16, 0);
  check(profile_agrees(m), "profile of no rows");
  Matrix g(random_pattern(200, 200, 0.1, 4, 14), SHUNT_I64, SHUNT_F16, 1);
  bool good = true;
  for (int64_t bad : {(int64_t)-5, (int64_t)0, INT64_MAX, INT64_MIN, (int64_t)1 << 33})
    for (size_t at : {0u, 8u, 77u, 200u}) {
      g.put(g.offsets, at, bad);
      g.upload();
      good &= profile_agrees(g);
      g.put(g.offsets, at, g.pattern.offsets[at] + 1);
    }
  check(good, "profile does not follow garbage offsets");
}

// --giant: a row whose places do not fit 32 bits takes 4 GB and a second of one block.
static void test_giant()
{
  const int64_t nnz = (1ll << 30) + 77;
  const int32_t ends[2] = {0, (int32_t)nnz};
  Buffer offsets(sizeof ends);
  shunt_profile *out;
  void *columns;
  memcpy(offsets.host.data(), ends, sizeof ends);
  offsets.upload();
  CUDA_OK(cudaMallocHost(&out, sizeof *out));
  CUDA_OK(cudaMalloc(&columns, (size_t)nnz * 4));
  CUDA_OK(cudaMemset(columns, 0, (size_t)nnz * 4));
  shunt_csr a = {1, 100, nnz, offsets.device, columns, nullptr, SHUNT_I32, SHUNT_F32, 0};
  shunt_status s = shunt_profile_csr_cuda(&a, 1, out, words->scratch, &device, 0);
  CUDA_OK(cudaDeviceSynchronize());
  check(s == SHUNT_OK && out->longest_row == nnz && out->unsorted_rows == 1 &&
            out->crowded_rows == 1 && out->segments == 1 &&
            out->row_length_squares == (double)nnz * (double)nnz,
        "profile of a row of 2^30 + 77 entries");
  CUDA_OK(cudaFree(columns));
  CUDA_OK(cudaFreeHost(out));
}

static void test_refusals()
{
  Matrix m(random_pattern(4, 4, 0.5, 1, 1), SHUNT_I32, SHUNT_F16, 0);
  Buffer b(1024);
  shunt_dense d = {4, 4, 2, 1, b.device, SHUNT_F16}; // stride below cols
  check(shunt_csr_to_dense_cuda(&m.dev, &d, words->flag, &device, 0) == SHUNT_E_UNSUPPORTED,
        "csr -> dense declines a stride that is too small");
  d = shunt_dense{4, 4, 4, 1, b.device, SHUNT_F32};
  check(shunt_csr_to_dense_cuda(&m.dev, &d, words->flag, &device, 0) == SHUNT_E_UNSUPPORTED,
        "csr -> dense declines another type");
}

// ---- time ------------------------------------------------------------------------------------

static void time_profile(const char *name, Matrix &m)
{
  shunt_profile *out;
  CUDA_OK(cudaMallocHost(&out, sizeof *out));
  const double us = time_graph(
      [&](cudaStream_t s) { shunt_profile_csr_cuda(&m.dev, 1, out, words->scratch, &device, s); });
  const double bytes = (double)(m.pattern.nnz() + m.pattern.rows + 1) * (double)m.isize;
  printf("time %-17s %-22s %8.2f us %6.2f TBps\n", "profile", name, us, bytes / us * 1e-6);
  cudaFreeHost(out);
}

static void time_case(double density, shunt_type index)
{
  int64_t n = 4096;
  Matrix m(random_pattern(n, n, density, 1, 41), index, SHUNT_F16, 0);
  Buffer dense((size_t)(n * n) * 2);
  shunt_dense d = {n, n, n, 1, dense.device, SHUNT_F16};
  char name[64];
  snprintf(name, sizeof name, "4096x4096_%.2f_%s", 1 - density, index == SHUNT_I32 ? "i32" : "i64");
  double indices = (double)(m.pattern.nnz() + n + 1) * (double)m.isize;
  double bytes = indices + (double)m.pattern.nnz() * 2 + (double)(n * n) * 2;
  const double us = time_graph(
      [&](cudaStream_t s) { shunt_csr_to_dense_cuda(&m.dev, &d, words->flag, &device, s); });
  printf("time %-17s %-22s %8.2f us %6.2f TBps\n", "csr_to_dense", name, us, bytes / us * 1e-6);
  time_profile(name, m);
}

// Scattered rows, as graphs and meshes have them.
static void time_scattered(shunt_type index)
{
  const char *word = index == SHUNT_I32 ? "i32" : "i64";
  Matrix wide(random_pattern(4096, 4096, 0.5, 1, 43), index, SHUNT_F32, 0);
  time_profile("4096x4096_0.50_f32", wide);
  for (double mean : {3.0, 12.0, 50.0}) {
    Matrix m(skewed_pattern(200000, 200000, mean, 42), index, SHUNT_F32, 0);
    char name[64];
    snprintf(name, sizeof name, "200000_skewed_%.0f_%s", mean, word);
    time_profile(name, m);
  }
}

int main(int argc, char **argv)
{
  device = this_device();
  Words w;
  words = &w;
  test_dense();
  test_irregular();
  test_coo();
  test_profile();
  test_refusals();
  if (argc > 1 && strcmp(argv[1], "--giant") == 0) test_giant();
  if (argc > 1 && strcmp(argv[1], "--time") == 0)
    for (shunt_type index : {SHUNT_I32, SHUNT_I64})
      for (double density : {0.5, 0.1, 0.05}) time_case(density, index);
  if (argc > 1 && strcmp(argv[1], "--time") == 0)
    for (shunt_type index : {SHUNT_I32, SHUNT_I64}) time_scattered(index);
  return finish();
}
