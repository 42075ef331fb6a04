// test_density.cu: where a pattern's entries lie, against the host twin, number for number; rows out
// of order and garbage, which are counted without being followed.
#include "conv/profile/density.h"
#include "tests/gpu/conv/conv_operands.cuh"

using namespace harness;

static shunt_device device;
static void *scratch;

// What the device counts; NULL: it did not report.
static const shunt_density *counted(const Matrix &m)
{
  static uint64_t serial = 100;
  static shunt_density *out;
  if (!out) CUDA_OK(cudaMallocHost(&out, sizeof *out));
  memset(out, 0xff, sizeof *out);
  serial++;
  const shunt_status s = shunt_density_csr_cuda(&m.dev, serial, out, scratch, &device, 0);
  CUDA_OK(cudaDeviceSynchronize());
  return s == SHUNT_OK && out->serial == serial ? out : nullptr;
}

static bool density_agrees(const Matrix &m)
{
  const shunt_density *got = counted(m);
  shunt_density want;
  shunt_density_csr_host(&m.host, &want);
  if (!got) return false;
  want.serial = got->serial;
  if (memcmp(&want, got, sizeof want) == 0) return true;
  const int64_t *a = (const int64_t *)got, *b = (const int64_t *)&want;
  for (size_t i = 0; i < sizeof want / 8; i++)
    if (a[i] != b[i]) printf("# word %zu: %lld, want %lld\n", i, (long long)a[i], (long long)b[i]);
  return false;
}

static uint64_t of_kind(const shunt_density &d, int kind)
{
  uint64_t n = 0;
  for (auto &line : d.entries)
    for (auto &cell : line) n += cell[kind];
  return n;
}

static uint64_t of_all(const shunt_density &d)
{
  uint64_t n = 0;
  for (int k = 0; k < SHUNT_DENSITY_KINDS; k++) n += of_kind(d, k);
  return n;
}

static void test_twin()
{
  struct {
    const char *name;
    Pattern p;
  } list[] = {
      {"random 1000 x 300, 5 %", random_pattern(1000, 300, 0.05, 1, 1)},
      {"groups of 8", random_pattern(803, 500, 0.1, 8, 2)},
      {"groups of 4", random_pattern(807, 500, 0.1, 4, 3)},
      {"groups of 2", random_pattern(801, 500, 0.01, 2, 4)},
      {"rows longer than are looked at", random_pattern(20, sized(5000, 1500), 0.6, 4, 5)},
      {"more groups than are looked at", random_pattern(sized(70001, 65601), 40, 0.03, 1, 6)},
      {"skewed", skewed_pattern(sized(20000, 2000), sized(60000, 6000), 10, 7)},
      {"mostly empty", random_pattern(5003, 100, 0.002, 1, 9)},
      {"one row", random_pattern(1, 10000, 0.9, 1, 10)},
      {"seven rows", random_pattern(7, 64, 0.5, 7, 11)},
      {"one column", random_pattern(100, 1, 0.5, 1, 12)},
      {"full", random_pattern(41, 150, 2, 1, 15)},
      {"dense tiles", random_pattern(203, 90, 0.6, 1, 16)},
  };
  for (auto &c : list) {
    bool good = true;
    for (int way = 0; way < 4; way++)
      good &= density_agrees(
          Matrix(c.p, way % 2 ? SHUNT_I32 : SHUNT_I64, SHUNT_F16, way / 2, way == 3 ? 1 : 0));
    check(good, "density as the twin: %s", c.name);
  }
  check(density_agrees(Matrix(Pattern(), SHUNT_I32, SHUNT_F16, 0)), "density of no rows");
}

// What is known without a twin.
static void test_counts()
{
  const Pattern eights = random_pattern(800, 500, 0.1, 8, 21);
  const Pattern rows = random_pattern(16, sized(9000, 3000), 0.7, 1, 22);
  const Matrix a(eights, SHUNT_I32, SHUNT_F16, 0), b(rows, SHUNT_I32, SHUNT_F16, 0);
  const shunt_density *d = counted(a);
  check(d && of_kind(*d, SHUNT_DENSITY_8) == (uint64_t)eights.nnz() && of_all(*d) == of_kind(*d, 0),
        "groups of 8 are all 8 x 1 vectors");
  const Pattern full = random_pattern(80, 64, 2, 1, 23);
  const Matrix c(full, SHUNT_I32, SHUNT_F16, 0);
  d = counted(c);
  check(d && of_kind(*d, SHUNT_DENSITY_TILE) == (uint64_t)full.nnz(), "all of it dense tiles");
  d = counted(b);
  check(d && of_all(*d) == (uint64_t)rows.nnz(), "entries that stand for others add up to all");
}

static void test_disorder()
{
  Pattern p = random_pattern(300, 300, 0.1, 8, 12);
  for (int64_t i = 0; i < p.rows; i++)
    std::reverse(p.columns.begin() + p.offsets[i], p.columns.begin() + p.offsets[i + 1]);
  const Matrix m(p, SHUNT_I64, SHUNT_F16, 1);
  const shunt_density *got = counted(m);
  shunt_density want;
  shunt_density_csr_host(&m.host, &want);
  bool good = got;
  for (int y = 0; got && y < SHUNT_DENSITY_CELLS; y++)
    for (int x = 0; x < SHUNT_DENSITY_CELLS; x++) {
      uint64_t sum = 0;
      for (int k = 0; k < SHUNT_DENSITY_KINDS; k++)
        sum += got->entries[y][x][k] - want.entries[y][x][k];
      good &= sum == 0;
    }
  check(good, "rows out of order are counted in the same cells");
}

static void test_garbage()
{
  static const int64_t bad[] = {-5, 0, INT64_MAX, INT64_MIN, (int64_t)1 << 33};
  Matrix m(random_pattern(200, 200, 0.1, 1, 14), SHUNT_I64, SHUNT_F16, 1);
  bool good = true;
  for (int64_t value : bad) {
    for (size_t at : {0u, 8u, 77u, 200u}) {
      m.put(m.offsets, at, value);
      m.upload();
      good &= density_agrees(m);
      m.put(m.offsets, at, m.pattern.offsets[at] + 1);
    }
    m.put(m.columns, 5, value);
    m.upload();
    good &= counted(m) != nullptr;
    m.put(m.columns, 5, m.pattern.columns[5] + 1);
  }
  check(good, "density does not follow garbage");
  m.dev.index_type = SHUNT_F32;
  check(shunt_density_csr_cuda(&m.dev, 1, nullptr, scratch, &device, 0) == SHUNT_E_UNSUPPORTED,
        "density declines indices that are none");
}

static void time_density(const char *name, const Pattern &p)
{
  const Matrix m(p, SHUNT_I32, SHUNT_F16, 0);
  shunt_density *out;
  CUDA_OK(cudaMallocHost(&out, sizeof *out));
  const double us = time_graph(
      [&](cudaStream_t s) { shunt_density_csr_cuda(&m.dev, 1, out, scratch, &device, s); });
  printf("time %-17s %-22s %8.2f us\n", "density", name, us);
  CUDA_OK(cudaFreeHost(out));
}

int main(int argc, char **argv)
{
  device = this_device();
  CUDA_OK(cudaMalloc(&scratch, SHUNT_DENSITY_SCRATCH));
  test_twin();
  test_counts();
  test_disorder();
  test_garbage();
  if (argc > 1 && !strcmp(argv[1], "--time")) {
    time_density("4096 x 4096, 50 %", random_pattern(4096, 4096, 0.5, 1, 1));
    time_density("4096 x 4096, 10 %, 8", random_pattern(4096, 4096, 0.1, 8, 2));
    time_density("10^6 rows of 10", skewed_pattern(1000000, 1000000, 10, 3));
  }
  return finish();
}
