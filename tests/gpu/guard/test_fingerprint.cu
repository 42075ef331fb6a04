// test_fingerprint.cu: the fingerprint of a CSR matrix against its host twin, bit for bit; what it
// must see (every change), and what it must not (alignment, the number of blocks).
#include "tests/gpu/conv/conv_operands.cuh"

using namespace harness;

static shunt_device device;
static Words *words;

static bool same(shunt_fingerprint a, shunt_fingerprint b)
{
  return a.lo == b.lo && a.hi == b.hi;
}

// As launched for a device with so many multiprocessors; false: it wrote where it must not.
static bool take_print(const shunt_csr *a, const shunt_device *d, shunt_fingerprint *out)
{
  const shunt_fingerprint poison = {0x7777777777777777u, 0x7777777777777777u};
  shunt_fingerprint *behind =
      (shunt_fingerprint *)((char *)words->scratch + SHUNT_FINGERPRINT_SCRATCH);
  shunt_fingerprint got[2] = {poison, poison}, after;
  CUDA_OK(cudaMemset(words->print, 0x77, sizeof got));
  CUDA_OK(cudaMemset(words->scratch, 0x77, SHUNT_FINGERPRINT_SCRATCH + sizeof after));
  shunt_status s = shunt_fingerprint_csr_cuda(a, words->print, d, words->scratch, 0);
  CUDA_OK(cudaMemcpy(got, words->print, sizeof got, cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(&after, behind, sizeof after, cudaMemcpyDeviceToHost));
  *out = got[0];
  return s == SHUNT_OK && same(got[1], poison) && same(after, poison);
}

static bool print_agrees(Matrix &m, const shunt_device *d, shunt_fingerprint *got_out = nullptr)
{
  shunt_fingerprint got;
  bool good = take_print(&m.dev, d, &got);
  if (got_out) *got_out = got;
  return good && same(got, shunt_fingerprint_csr_host(&m.host));
}

static void test_fingerprint()
{
  bool good = true, still = true, any_grid = true;
  shunt_device small = device, large = device;
  small.multiprocessors = 1;
  large.multiprocessors = 5000; // more blocks than there is scratch for
  for (int64_t rows : {0, 1, 5, 200, 1023, 20000})
    for (shunt_type t : {SHUNT_I8, SHUNT_F16, SHUNT_F32, SHUNT_F64})
      for (size_t skew = 0; skew < 8; skew = skew * 2 + 1) {
        if (beyond(rows, 1023)) continue;
        Pattern p = random_pattern(rows, 90, 0.1, 1, (uint64_t)rows + 1);
        shunt_fingerprint first, second;
        Matrix m(p, skew % 2 ? SHUNT_I32 : SHUNT_I64, t, skew == 3, skew);
        Matrix n(p, skew % 2 ? SHUNT_I32 : SHUNT_I64, t, skew == 3, 0);
        good &= print_agrees(m, &device, &first) && print_agrees(n, &device, &second);
        still &= same(first, second);
        any_grid &= print_agrees(m, &small) && print_agrees(m, &large);
        m.host.values = m.dev.values = nullptr; // the pattern only
        good &= print_agrees(m, &device);
      }
  // Many rounds: 54 MB on a GPU.
  Matrix m(random_pattern(sized(3000, 300), sized(3000, 900), 0.5, 1, 7), SHUNT_I64, SHUNT_F32, 0);
  small.multiprocessors = sized(small.multiprocessors, 2);
  large.multiprocessors = sized(large.multiprocessors, 300);
  good &= print_agrees(m, &device);
  any_grid &= print_agrees(m, &small) && print_agrees(m, &large);
  check(good, "the fingerprint is the twin's, bit for bit");
  check(still, "and does not depend on alignment");
  check(any_grid, "nor on the number of blocks");
}

// A's fingerprint is no longer `kept`.
static bool differs(const Matrix &m, shunt_fingerprint kept)
{
  shunt_fingerprint now;
  return take_print(&m.dev, &device, &now) && !same(now, kept);
}

// One bit of one array is turned, looked at, and turned back.
static bool bit_is_seen(Matrix &m, Buffer &b, size_t bit, shunt_fingerprint kept)
{
  char *at = b.host.data() + bit / 8, *there = (char *)b.device + bit / 8;
  *at ^= (char)(1 << bit % 8);
  CUDA_OK(cudaMemcpy(there, at, 1, cudaMemcpyHostToDevice));
  bool seen = differs(m, kept);
  *at ^= (char)(1 << bit % 8);
  CUDA_OK(cudaMemcpy(there, at, 1, cudaMemcpyHostToDevice));
  return seen;
}

// Two runs of `bytes` bytes of one array change places.
static bool swap_is_seen(Matrix &m, Buffer &b, size_t bytes, Random &r, shunt_fingerprint kept)
{
  int64_t runs = (int64_t)(b.host.size() / bytes);
  if (runs < 2) return true;
  char *x = b.host.data() + (size_t)r.below(runs) * bytes;
  char *y = b.host.data() + (size_t)r.below(runs) * bytes;
  if (memcmp(x, y, bytes) == 0) return true;
  std::swap_ranges(x, x + bytes, y);
  b.upload();
  bool seen = differs(m, kept);
  std::swap_ranges(x, x + bytes, y);
  b.upload();
  return seen;
}

// All bits of all arrays of a small matrix, one at a time.
static void test_every_bit()
{
  Matrix m(random_pattern(9, 30, 0.3, 1, 22), SHUNT_I32, SHUNT_F16, 0);
  shunt_fingerprint kept = shunt_fingerprint_csr_host(&m.host);
  bool quiet = !differs(m, kept), seen = true;
  size_t bits = 0;
  for (Buffer *b : {&m.offsets, &m.columns, &m.values})
    for (size_t bit = 0; bit < b->host.size() * 8; bit += sized(1, 7), bits++)
      seen &= bit_is_seen(m, *b, bit, kept);
  quiet &= print_agrees(m, &device);
  check(quiet && seen, "the fingerprint sees each of %zu bits change", bits);
}

static void test_changes(int64_t rows, int64_t cols, double density)
{
  Pattern p = random_pattern(rows, cols, density, 1, 21);
  Matrix m(p, SHUNT_I64, SHUNT_F16, 0);
  shunt_fingerprint kept = shunt_fingerprint_csr_host(&m.host);
  Random r(5);
  bool quiet = print_agrees(m, &device), seen = true, moved = true;

  Buffer *array[3] = {&m.offsets, &m.columns, &m.values};
  for (int k = 0; k < sized(60, 12); k++) {
    size_t bits = array[k % 3]->host.size() * 8;
    seen &= bit_is_seen(m, *array[k % 3],
                        k < 3   ? 0
                        : k < 6 ? bits - 1
                                : (size_t)r.below((int64_t)bits),
                        kept);
  }
  m.dev.cols++;
  seen &= differs(m, kept);
  m.dev.cols--;
  m.dev.base = 1;
  seen &= differs(m, kept);
  m.dev.base = 0;
  // The same content in other places: elements, a lane's pieces, warps' tiles.
  for (Buffer *b : array)
    for (size_t bytes : {b == &m.values ? 2u : 8u, 16u, 512u, 4096u})
      for (int k = 0; k < sized(10, 2); k++) moved &= swap_is_seen(m, *b, bytes, r, kept);
  std::rotate(m.values.host.begin(), m.values.host.begin() + 2, m.values.host.end());
  m.values.upload();
  moved &= differs(m, kept);
  std::rotate(m.values.host.begin(), m.values.host.end() - 2, m.values.host.end());
  m.values.upload();
  quiet &= !differs(m, kept);
  check(quiet && seen, "the fingerprint sees every change, %lld x %lld", (long long)rows,
        (long long)cols);
  check(quiet && moved, "and every permutation of the same content");
}

static void test_refusals()
{
  Matrix m(random_pattern(4, 4, 0.5, 1, 1), SHUNT_I32, SHUNT_F16, 0);
  check(shunt_fingerprint_csr_cuda(&m.dev, words->print, &device, nullptr, 0) == SHUNT_E_ARGUMENT,
        "the fingerprint wants room for its parts");
}

static void time_case(const char *name, int64_t n, double density, shunt_type index)
{
  Matrix m(random_pattern(n, n, density, 1, 41), index, SHUNT_F16, 0);
  double bytes = (double)(m.pattern.nnz() + n + 1) * (double)m.isize + (double)m.pattern.nnz() * 2;
  double us = time_graph([&](cudaStream_t s) {
    shunt_fingerprint_csr_cuda(&m.dev, words->print, &device, words->scratch, s);
  });
  printf("time %-17s %-22s %8.2f us %6.2f TBps\n", "fingerprint", name, us, bytes / us * 1e-6);
}

static void time_all()
{
  char name[64];
  for (shunt_type index : {SHUNT_I32, SHUNT_I64})
    for (double density : {0.5, 0.1, 0.05}) {
      snprintf(name, sizeof name, "4096x4096_%.2f_%s", 1 - density,
               index == SHUNT_I32 ? "i32" : "i64");
      time_case(name, 4096, density, index);
    }
  time_case("64x64_0.70_i32", 64, 0.3, SHUNT_I32);
}

int main(int argc, char **argv)
{
  device = this_device();
  Words w;
  words = &w;
  test_fingerprint();
  test_every_bit();
  test_changes(30, 100, 0.2);
  test_changes(sized(900, 90), sized(2000, 500), 0.3);
  test_refusals();
  if (argc > 1 && strcmp(argv[1], "--time") == 0) time_all();
  return finish();
}
