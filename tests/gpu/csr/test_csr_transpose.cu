// test_csr_transpose.cu: the transpose of a CSR matrix against its twin, byte by byte, and what a
// call multiplies by where the pattern still stands, where it does not, and where nobody asks.
//
//   test_csr_transpose            the checks
//   test_csr_transpose --time     and what transposing and refreshing take
#include "conv/csr/csr_conv.h"
#include "kernels/guard/guard.h"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

namespace
{

shunt_device device;

// A of one pattern on both sides; values are bytes of any kind.
struct Matrix {
  Buffer offsets, columns, values;
  shunt_csr a;

  Matrix(const Pattern &p, shunt_type index, shunt_type value, int base, uint64_t seed = 3)
      : offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)),
        values(p.columns.size() * shunt_type_size(value)),
        a{p.rows, p.cols, p.nnz(), offsets.device, columns.device, values.device,
          index,  value,  base}
  {
    Random r(seed);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (size_t i = 0; i < p.columns.size(); i++)
      store(columns.host.data(), (int64_t)i, index, (double)(p.columns[i] + base));
    for (char &c : values.host) c = (char)r.below(256);
    for (Buffer *x : {&offsets, &columns, &values}) x->upload();
  }
  shunt_csr on_host()
  {
    shunt_csr h = a;
    h.row_offsets = offsets.host.data(), h.columns = columns.host.data();
    h.values = values.host.data();
    return h;
  }
};

// A^T in both memories, filled with 0xff.
struct Transposed {
  Buffer memory;
  std::vector<char> twin;
  shunt_transposed on_device, on_host;

  Transposed(const shunt_csr &a, bool kept)
      : memory(shunt_transposed_bytes(&a, kept)), twin(memory.host.size() + 256, (char)0xff)
  {
    const uintptr_t at = ((uintptr_t)twin.data() + 255) & ~(uintptr_t)255;
    shunt_transposed_lay_out(&a, kept, memory.device, &on_device);
    shunt_transposed_lay_out(&a, kept, (void *)at, &on_host);
  }
  // All but what the blocks share their work by; `pattern`: or the values alone.
  bool same(const shunt_csr &a, bool pattern)
  {
    CUDA_OK(cudaDeviceSynchronize());
    memory.download();
    auto equal = [&](const void *at, const void *want, size_t bytes) {
      return !at || !memcmp(memory.host.data() + ((const char *)at - (const char *)memory.device),
                            want, bytes);
    };
    const size_t n = (size_t)a.nnz;
    return (!pattern || (equal(on_device.offsets, on_host.offsets, (size_t)(a.cols + 1) * 4) &&
                         equal(on_device.columns, on_host.columns, n * 4))) &&
           equal(on_device.places, on_host.places, n * 4) &&
           equal(on_device.values, on_host.values, n * shunt_type_size(a.value_type));
  }
  uint32_t longest()
  {
    memory.download();
    return ((shunt_transpose_words *)memory.host.data())->longest;
  }
};

bool transposes(Matrix &m, bool kept, bool conjugate)
{
  Transposed t(m.a, kept);
  const shunt_csr h = m.on_host();
  return shunt_csr_transpose_cuda(&m.a, conjugate, &t.on_device, &device, 0) == SHUNT_OK &&
         shunt_csr_transpose_host(&h, conjugate, &t.on_host) == SHUNT_OK && t.same(m.a, true) &&
         t.longest() == t.on_host.words->longest;
}

struct Named {
  const char *name;
  Pattern p;
};

// Columns as long as each way of ordering has them, and at its ends.
Pattern long_columns()
{
  const int64_t lengths[] = {1,   31,   32,   33,   64,   65,   127,  128,  129,  255, 256,
                             257, 1000, 1024, 1025, 2049, 8191, 8192, 8193, 9000, 0};
  Pattern p;
  p.rows = 9001;
  p.cols = sizeof lengths / sizeof *lengths;
  for (int64_t i = 0; i < p.rows; i++) {
    for (int64_t c = p.cols - 1; c >= 0; c--) // not in order
      if (p.rows - i <= lengths[c]) p.columns.push_back(c);
    p.offsets.push_back(p.nnz());
  }
  return p;
}

std::vector<Named> patterns()
{
  std::vector<Named> all;
  all.push_back({"1 x 1", random_pattern(1, 1, 1.1, 1, 1)});
  all.push_back({"no entries", random_pattern(50, 40, 0, 1, 1)});
  all.push_back({"tall", random_pattern(3000, 7, 0.02, 1, 3)});
  all.push_back({"wide", random_pattern(9, 5000, 0.3, 1, 4)});
  all.push_back({"columns of 30 to 70", random_pattern(500, 700, 0.1, 1, 8)});
  all.push_back({"skewed", skewed_pattern(400, 300, 9, 6)});
  Pattern twice = random_pattern(90, 70, 0.4, 1, 5);
  for (size_t i = 0; i + 1 < twice.columns.size(); i += 3) twice.columns[i + 1] = twice.columns[i];
  all.push_back({"columns out of order, and twice", twice});
  return all;
}

void test_transposing()
{
  static const shunt_type types[] = {SHUNT_I8,  SHUNT_F16, SHUNT_F32,
                                     SHUNT_F64, SHUNT_C32, SHUNT_C64};
  for (const Named &n : patterns())
    for (int base = 0; base < 2; base++)
      for (shunt_type index : {SHUNT_I32, SHUNT_I64}) {
        bool good = true;
        for (shunt_type t : types) {
          Matrix m(n.p, index, t, base);
          good = good && transposes(m, true, false) && transposes(m, false, false) &&
                 transposes(m, false, true);
        }
        check(good, "%s, i%d base %d: the twin's bytes, all sizes of values", n.name,
              index == SHUNT_I32 ? 32 : 64, base);
      }
  Matrix m(long_columns(), SHUNT_I32, SHUNT_F32, 1);
  check(transposes(m, true, false), "long columns, kept");
  check(transposes(m, false, false), "long columns, with values");
#ifndef SHUNT_EMULATED // whose sorts are shorter, so that those above are several
  Matrix large(random_pattern(11000, 20, 0.9, 1, 9), SHUNT_I32, SHUNT_F32, 1);
  check(transposes(large, true, false), "longer ones of a larger matrix, kept");
  check(transposes(large, false, false), "with values");
#endif
}

// Offsets and columns that are none.
void test_garbage()
{
  const Pattern p = random_pattern(60, 50, 0.2, 1, 7);
  for (int what = 0; what < 3; what++) {
    Matrix m(p, SHUNT_I32, SHUNT_F32, 0);
    int32_t *offsets = (int32_t *)m.offsets.host.data(),
            *columns = (int32_t *)m.columns.host.data();
    if (what == 0) columns[5] = -1, columns[9] = 50, columns[20] = INT32_MIN;
    if (what == 1) offsets[0] = -7, offsets[60] = INT32_MAX;
    if (what == 2)
      for (int i = 1; i < 60; i++) offsets[i] = INT32_MIN + i;
    m.offsets.upload(), m.columns.upload();
    Transposed t(m.a, true);
    const shunt_csr h = m.on_host();
    check(shunt_csr_transpose_cuda(&m.a, false, &t.on_device, &device, 0) == SHUNT_OK &&
              shunt_csr_transpose_host(&h, false, &t.on_host) == SHUNT_OK && t.same(m.a, true),
          "garbage %d: what the twin makes of it", what);
  }
}

enum how { STANDS, CHANGED, UNASKED };

bool refreshes(const Pattern &p, shunt_type index, shunt_type value, enum how how)
{
  Matrix m(p, index, value, 1);
  Transposed kept(m.a, true), out(m.a, false);
  Buffer kept_print(sizeof(shunt_fingerprint)), scratch(SHUNT_FINGERPRINT_SCRATCH);
  shunt_fingerprint *print = (shunt_fingerprint *)kept_print.device;
  shunt_csr h = m.on_host(), pattern = m.a;
  uint32_t *changed;
  CUDA_OK(cudaHostAlloc((void **)&changed, 4, cudaHostAllocPortable));
  *changed = 0;
  pattern.values = NULL;
  bool good = shunt_csr_transpose_cuda(&m.a, false, &kept.on_device, &device, 0) == SHUNT_OK &&
              shunt_csr_transpose_host(&h, false, &kept.on_host) == SHUNT_OK &&
              shunt_fingerprint_csr_cuda(&pattern, print, &device, scratch.device, 0) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());

  // The values are others by now; and so may be the pattern.
  for (char &c : m.values.host) c = (char)(c * 7 + 1);
  m.values.upload();
  if (how == CHANGED)
    for (int64_t i = 0; i < p.nnz(); i += 3)
      store(m.columns.host.data(), i, index, (double)(i % p.cols + 1));
  m.columns.upload();
  const shunt_transpose_proof proof = {scratch.device, print, changed};
  const shunt_transpose_proof *asked = how == UNASKED ? NULL : &proof;
  good = good && shunt_transposed_refresh_cuda(&m.a, true, &kept.on_device, asked, &out.on_device,
                                               &device, 0) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  good = good && shunt_csr_transpose_host(&h, true, &out.on_host) == SHUNT_OK &&
         out.same(m.a, how != UNASKED) && *changed == (how == CHANGED);
  CUDA_OK(cudaFreeHost(changed));
  return good;
}

void test_refreshing()
{
  static const char *const names[] = {"stands", "has changed", "is not asked after"};
  const Pattern p = skewed_pattern(300, 200, 8, 6), wide = random_pattern(9, 9000, 0.3, 1, 4);
  for (enum how how : {STANDS, CHANGED, UNASKED}) {
    bool good = true;
    for (shunt_type index : {SHUNT_I32, SHUNT_I64})
      for (shunt_type t : {SHUNT_I8, SHUNT_F16, SHUNT_F32, SHUNT_F64, SHUNT_C32, SHUNT_C64})
        good = refreshes(p, index, t, how) && good;
    check(good, "the pattern %s: values and pattern are A's", names[how]);
    check(refreshes(wide, SHUNT_I32, SHUNT_F32, how), "so they are of many columns");
  }
}

void test_refused()
{
  Matrix m(random_pattern(5, 6, 0.5, 1, 2), SHUNT_I32, SHUNT_F32, 0);
  Transposed kept(m.a, true), out(m.a, false);
  shunt_csr a = m.a;
  check(shunt_transposed_refresh_cuda(&a, false, &out.on_device, NULL, &out.on_device, &device,
                                      0) == SHUNT_E_ARGUMENT,
        "refreshed from what has no places");
  a.index_type = SHUNT_I16;
  check(shunt_transposed_bytes(&a, true) == 0 &&
            shunt_csr_transpose_cuda(&a, false, &kept.on_device, &device, 0) == SHUNT_E_UNSUPPORTED,
        "indices of 16 bits");
}

// Rows of `each` entries anywhere, and one in each of the first `full` columns for every fifth row.
Pattern scattered_rows(int64_t rows, int64_t cols, int each, int full)
{
  Random r(5);
  Pattern p;
  p.rows = rows, p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    for (int k = 0; k < full && i % 5 == 0; k++) p.columns.push_back(k);
    for (int k = 0; k < each; k++) p.columns.push_back(r.below(cols));
    p.offsets.push_back(p.nnz());
  }
  return p;
}

void print_times()
{
  static const struct {
    int64_t rows, cols;
    int each, full;
  } sizes[] = {{10000, 10000, 10, 0},  {100000, 100000, 10, 0}, {1000000, 1000000, 10, 0},
               {45000, 45000, 45, 0},  {20000, 20000, 40, 0},   {30000, 5000, 10, 0},
               {5000, 30000, 60, 0},   {15000, 15000, 125, 0},  {4096, 4096, 410, 0},
               {50000, 50000, 14, 10}, {2000, 2000, 40, 0}};
  for (const auto &size : sizes) {
    const Pattern p = scattered_rows(size.rows, size.cols, size.each, size.full);
    Matrix m(p, SHUNT_I32, SHUNT_F32, 0);
    Transposed kept(m.a, true), out(m.a, false);
    Buffer prints(2 * sizeof(shunt_fingerprint)), scratch(SHUNT_FINGERPRINT_SCRATCH);
    shunt_fingerprint *print = (shunt_fingerprint *)prints.device;
    shunt_csr pattern = m.a;
    pattern.values = NULL;
    const shunt_transpose_proof proof = {scratch.device, print, NULL},
                                other = {scratch.device, print + 1, NULL};
    const double whole = time_graph(
        [&](cudaStream_t s) { shunt_csr_transpose_cuda(&m.a, false, &kept.on_device, &device, s); },
        3);
    shunt_fingerprint_csr_cuda(&pattern, print, &device, scratch.device, 0);
    CUDA_OK(cudaMemset(print + 1, 0, sizeof *print));
    CUDA_OK(cudaDeviceSynchronize());
    auto refresh = [&](const shunt_transpose_proof *asked) {
      return time_graph([&](cudaStream_t s) {
        shunt_transposed_refresh_cuda(&m.a, false, &kept.on_device, asked, &out.on_device, &device,
                                      s);
      });
    };
    const double proved = refresh(&proof), repaired = refresh(&other), gathered = refresh(NULL);
    printf(
        "time transpose us=%.1f proved=%.2f repaired=%.1f gathered=%.2f f32 %lld x %lld rows of %d"
        ", full columns %d\n",
        whole, proved, repaired, gathered, (long long)p.rows, (long long)p.cols, size.each,
        size.full);
  }
}

} // namespace

int main(int argc, char **argv)
{
  device = this_device();
  test_transposing();
  test_garbage();
  test_refreshing();
  test_refused();
  if (argc > 1 && !strcmp(argv[1], "--time")) print_times();
  return finish();
}
