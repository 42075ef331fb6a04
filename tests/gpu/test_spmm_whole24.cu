// test_spmm_whole24.cu: shunt_csr_to_whole24_cuda writes the bytes that its host twin writes, and
// shunt_spmm_whole24_cuda computes what its twin computes, in both shapes.
//
// With whole numbers every sum is exact, so the two agree bit by bit; with fractions within the
// error that float sums may have.  C's surroundings must not change.
//   --time   also times 4096 and 8192 square
#include "conv/whole24.h"
#include "kernels/whole24_kernels.h"
#include "tests/gpu/harness.cuh"

using namespace harness;

// At most two entries in each four columns.
static Pattern pattern_24(int64_t rows, int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows, p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t quad = 0; quad < cols; quad += 4) {
      const int64_t a = r.below(4), b = (a + 1 + r.below(3)) % 4;
      for (int64_t j : {std::min(a, b), std::max(a, b)})
        if (quad + j < cols && r.uniform() < density) p.columns.push_back(quad + j);
    }
    p.offsets.push_back(p.nnz());
  }
  return p;
}

// A pattern as CSR with values, and packed, in both memories.
struct Packed {
  Buffer offsets, columns, values, tiles, word;
  shunt_csr host, device;
  shunt_whole24 on_host, on_device;

  Packed(const Pattern &p, shunt_type type, shunt_type index, int base, bool whole, uint64_t seed)
      : offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)), values(p.columns.size() * 2), word(8)
  {
    Random r(seed);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), i, index, (double)(p.offsets[i] + base));
    for (size_t i = 0; i < p.columns.size(); i++) {
      store(columns.host.data(), i, index, (double)(p.columns[i] + base));
      store(values.host.data(), i, type, whole ? (double)(r.below(9) - 4) : r.value());
    }
    memset(word.host.data(), 0, 8);
    for (Buffer *b : {&offsets, &columns, &values, &word})
      b->upload();
    host = {p.rows, p.cols, p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
            index,  type,   base};
    device = host;
    device.row_offsets = offsets.device, device.columns = columns.device;
    device.values = values.device;
    const size_t bytes = shunt_whole24_bytes(&host);
    CUDA_OK(cudaFree(tiles.device));
    CUDA_OK(cudaMalloc(&tiles.device, bytes + 512));
    CUDA_OK(cudaMemset(tiles.device, 0xff, bytes + 512));
    tiles.host.assign(bytes + 512, (char)0xff);
    shunt_whole24_lay_out(&host, tiles.host.data(), &on_host);
    shunt_whole24_lay_out(&host, tiles.device, &on_device);
  }
  bool pack_on_device()
  {
    const shunt_device d = this_device();
    return shunt_csr_to_whole24_cuda(&device, &on_device, (uint32_t *)word.device, &d, 0) ==
           SHUNT_OK;
  }
  // On both sides; `irregular` of both in `word`.
  bool pack()
  {
    uint32_t *words = (uint32_t *)word.host.data();
    if (!pack_on_device()) return false;
    CUDA_OK(cudaDeviceSynchronize());
    word.download();
    words[1] = 0;
    return shunt_csr_to_whole24_host(&host, &on_host, &words[1]) == SHUNT_OK &&
           words[0] == words[1];
  }
  bool irregular() const { return *(const uint32_t *)word.host.data() == SHUNT_IRREGULAR; }
  bool same() // and nothing behind the tiles was written
  {
    std::vector<char> there(tiles.host.size());
    CUDA_OK(cudaMemcpy(there.data(), tiles.device, there.size(), cudaMemcpyDeviceToHost));
    return there == tiles.host;
  }
};

// ---- the conversion --------------------------------------------------------------------------

static void test_conversion()
{
  Random r(2411);
  for (double density : {0.0, 0.1, 0.7, 1.0}) {
    bool good = true;
    for (int64_t rows : {1, 64, 129, 200})
      for (int64_t cols : {1, 63, 130, 700}) {
        Packed k(pattern_24(rows, cols, density, r.next()), r.below(2) ? SHUNT_F16 : SHUNT_BF16,
                 r.below(2) ? SHUNT_I64 : SHUNT_I32, (int)r.below(2), false, r.next());
        good = k.pack() && !k.irregular() && k.same() && good;
      }
    check(good, "device and host write the same bytes, density %g", density);
  }
}

static void test_irregular()
{
  const Pattern p = pattern_24(40, 700, 0.9, 3);
  const int64_t row1 = p.offsets[1];
  struct {
    const char *what;
    int64_t at, value;
    bool offset;
  } cases[] = {{"a repeated column", 5, p.columns[4], false},
               {"a column out of order", 5, 690, false},
               {"a column out of order at a row's end", row1 - 1, 3, false},
               {"a column beyond the last", row1 - 1, 700, false},
               {"a column before the first", 0, -1, false},
               {"offsets that descend", 3, p.offsets[4] + 1, true},
               {"an offset out of range", 3, 1 << 30, true},
               {"an offset below the base", 3, -1, true}};
  for (auto &c : cases) {
    Pattern broken = p;
    (c.offset ? broken.offsets : broken.columns)[(size_t)c.at] = c.value;
    Packed k(broken, SHUNT_F16, SHUNT_I32, 1, false, 4);
    check(k.pack() && k.irregular(), "%s is irregular", c.what);
  }
  Pattern crowded = random_pattern(5, 64, 0.0, 1, 1);
  crowded.columns = {8, 9, 11};
  crowded.offsets = {0, 0, 3, 3, 3, 3};
  Packed k(crowded, SHUNT_F16, SHUNT_I64, 0, false, 5);
  check(k.pack() && k.irregular(), "three entries in four columns are irregular");
}

// ---- the product -----------------------------------------------------------------------------

// 0: row-major packed, 1: row-major with a gap, 2: row-major, odd leading dimension,
// 3: column-major with a gap.
static shunt_dense layout(int kind, int64_t rows, int64_t cols, void *values, shunt_type t)
{
  const int64_t wide = (cols + 7) / 8 * 8, tall = (rows + 7) / 8 * 8;
  const int64_t lead = kind == 0 ? wide : kind == 1 ? wide + 8 : kind == 2 ? cols | 1 : tall + 8;
  return {rows, cols, kind == 3 ? 1 : lead, kind == 3 ? lead : 1, values, t};
}
static int64_t size_of(const shunt_dense &m)
{
  return (m.rows - 1) * m.row_stride + (m.cols - 1) * m.col_stride + 1;
}

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16;
  int b_layout = 0, c_layout = 0, columns = 256;
  double alpha = 1;
  bool device_scalars = false, whole = true;
  double bad = 0; // a NaN or Inf, at bad_at of B
  int64_t bad_at = 0;
};

struct Product {
  Options o;
  Packed a;
  Buffer b, c, scalars, witness;
  shunt_device device = this_device();
  shunt_spmm on_device = {}, on_host;

  Product(const Pattern &p, int64_t n, const Options &o_, uint64_t seed)
      : o(o_), a(p, o.type, SHUNT_I32, 0, o.whole, seed),
        b((size_t)size_of(layout(o.b_layout, p.cols, n, nullptr, o.type)) * 2),
        c((size_t)size_of(layout(o.c_layout, p.rows, n, nullptr, o.out)) * shunt_type_size(o.out)),
        scalars(8), witness(SHUNT_WHOLE24_WITNESSES * 4)
  {
    Random r(seed + 1);
    for (int64_t i = 0; i < (int64_t)b.host.size() / 2; i++)
      store(b.host.data(), i, o.type, o.whole ? (double)(r.below(9) - 4) : r.value());
    if (o.bad != 0) store(b.host.data(), o.bad_at, o.type, o.bad);
    memset(c.host.data(), 0xff, c.host.size());
    *(float *)scalars.host.data() = (float)o.alpha;
    for (Buffer *x : {&b, &c, &scalars})
      x->upload();
    on_host = on_device;
    fill(on_device, a.device, b.device, c.device, scalars.device, n);
    fill(on_host, a.host, b.host.data(), c.host.data(), scalars.host.data(), n);
  }
  void fill(shunt_spmm &p, const shunt_csr &csr, void *b_at, void *c_at, const void *scalar,
            int64_t n)
  {
    p.a = csr;
    p.b = layout(o.b_layout, csr.cols, n, b_at, o.type);
    p.c = layout(o.c_layout, csr.rows, n, c_at, o.out);
    p.alpha = {o.device_scalars ? scalar : nullptr, o.alpha};
    p.compute = SHUNT_F32;
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    return shunt_spmm_whole24_shaped_cuda(&on_device, &a.on_device, o.columns,
                                          (float *)witness.device, &device, stream);
  }
  // Does a witness tell of a NaN?  All are numbers or NaN, none is left as it was.
  bool nan_told()
  {
    witness.download();
    bool told = false;
    for (int i = 0; i < SHUNT_WHOLE24_WITNESSES; i++) {
      const float w = ((const float *)witness.host.data())[i];
      told |= isnan(w);
      if (!isnan(w) && w != 0) exit(3);
    }
    return told;
  }
  bool same_value(double got, double want) const
  {
    if (isnan(want)) return isnan(got);
    if (o.whole || isinf(want)) return got == want;
    const double terms = (double)on_host.b.rows;
    return fabs(got - want) <=
           2 * tolerance(o.out, SHUNT_F32, fabs(o.alpha) * terms, want, on_host.b.rows);
  }
  // The whole of C's memory is compared.
  bool agree()
  {
    std::vector<char> got(c.host.size());
    if (!a.pack() || a.irregular() || run() != SHUNT_OK) return false;
    CUDA_OK(cudaMemcpy(got.data(), c.device, got.size(), cudaMemcpyDeviceToHost));
    bool good = shunt_spmm_whole24_host(&on_host, &a.on_host) == SHUNT_OK;
    for (int64_t i = 0; i < size_of(on_host.c); i++)
      good = good && same_value(load(got.data(), i, o.out), load(c.host.data(), i, o.out));
    return good;
  }
};

static Options random_options(Random &r, int columns)
{
  static const double scalar[] = {1, 0, -2, 0.5};
  static const int b_layouts[] = {0, 1, 3};
  Options o;
  o.type = r.below(2) ? SHUNT_F16 : SHUNT_BF16;
  o.out = r.below(2) ? o.type : SHUNT_F32;
  o.b_layout = b_layouts[r.below(3)], o.c_layout = (int)r.below(4);
  o.alpha = scalar[r.below(4)];
  o.device_scalars = r.below(2);
  o.columns = columns;
  return o;
}

// Sizes within a tile, at its edges, and with chunks that go round the ring.
static void test_products(int columns, bool whole)
{
  static const int64_t sizes[][3] = {{1, 1, 1},     {64, 64, 8},    {130, 70, 128}, {128, 130, 257},
                                     {70, 1100, 9}, {257, 20, 300}, {40, 640, 129}};
  Random r(whole ? 91 : 92);
  for (auto &s : sizes) {
    bool good = true;
    for (int repeat = 0; repeat < 4; repeat++) {
      Options o = random_options(r, columns);
      o.whole = whole;
      Product q(pattern_24(s[0], s[1], r.below(3) ? 1 : 0.3, r.next()), s[2], o, r.next());
      if (r.below(2)) q.device.multiprocessors = 1;
      const bool agree = q.agree() && !q.nan_told();
      if (!agree)
        printf("# types %d %d, layouts %d %d, alpha %g\n", o.type, o.out, o.b_layout, o.c_layout,
               o.alpha);
      good = good && agree;
    }
    check(good, "tiles of %d columns, %s: %d x %d by %d columns", columns,
          whole ? "whole numbers" : "fractions", (int)s[0], (int)s[1], (int)s[2]);
  }
}

// A has rows without padding, so that B's row 5 counts where A has column 5 only.
static void test_nonfinite(int columns)
{
  for (double bad : {(double)NAN, (double)INFINITY}) {
    Options o;
    o.columns = columns, o.out = SHUNT_F32, o.bad = bad, o.bad_at = 5 * 8 + 3;
    Product full(pattern_24(150, 64, 1, 7), 8, o, 8);
    const bool same = full.a.pack() && full.run() == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    std::vector<char> got(full.c.host.size());
    CUDA_OK(cudaMemcpy(got.data(), full.c.device, got.size(), cudaMemcpyDeviceToHost));
    bool right = shunt_spmm_csr_host(&full.on_host) == SHUNT_OK, any = false;
    for (int64_t i = 0; i < size_of(full.on_host.c); i++) {
      const float want = ((const float *)full.c.host.data())[i], is = ((float *)got.data())[i];
      any |= isnan(want);
      right = right && (isnan(want) ? isnan(is) : want == is);
    }
    check(same && right && full.nan_told() == any, "%g of B meets entries of A only", bad);
    Product padded(pattern_24(150, 64, 0.1, 9), 8, o, 10);
    check(padded.a.pack() && padded.run() == SHUNT_OK && padded.nan_told(),
          "%g of B meets a zero that fills up, and a witness tells", bad);
  }
}

static void test_declined()
{
  const Pattern p = pattern_24(70, 64, 1, 5);
  Options o;
  auto status = [&](void (*change)(Product &)) {
    Product q(p, 16, o, 6);
    change(q);
    return q.a.pack() ? q.run() : SHUNT_E_CUDA;
  };
  check(status([](Product &) {}) == SHUNT_OK, "is taken");
  check(status([](Product &q) { q.on_device.beta.host = 1; }) == SHUNT_E_UNSUPPORTED, "beta");
  check(status([](Product &q) { q.device.compute_capability = 80; }) == SHUNT_E_UNSUPPORTED,
        "another device");
  check(status([](Product &q) { q.device.shared_per_block = 100000; }) == SHUNT_E_UNSUPPORTED,
        "little shared memory");
  check(status([](Product &q) { q.on_device.b.row_stride = 17; }) == SHUNT_E_UNSUPPORTED,
        "rows of B not on 16 bytes");
  check(status([](Product &q) { q.o.columns = 64; }) == SHUNT_E_UNSUPPORTED, "tiles of 64 columns");
  check(status([](Product &q) { q.on_device.c.type = SHUNT_F64; }) == SHUNT_E_UNSUPPORTED, "f64");
  check(status([](Product &q) { q.on_device.c.rows = 69; }) == SHUNT_E_ARGUMENT, "another size");
}

static void time_product(int64_t m, int64_t n, int b_layout)
{
  Options o;
  o.whole = false, o.b_layout = b_layout;
  Product q(pattern_24(m, m, 1, 7), n, o, 8);
  if (!q.a.pack_on_device()) exit(3);
  const double pack = time_graph([&](cudaStream_t s) {
    shunt_csr_to_whole24_cuda(&q.a.device, &q.a.on_device, (uint32_t *)q.a.word.device, &q.device,
                              s);
  });
  for (int columns : {128, 256}) {
    q.o.columns = columns;
    const double us = time_graph([&](cudaStream_t s) {
      if (q.run(s) != SHUNT_OK) exit(3);
    });
    printf("time whole24 %d^2 x %d, B %s, tiles of %d%s: %.2f us, %.0f TFLOP/s of dense; packing "
           "%.1f\n",
           (int)m, (int)n, b_layout == 3 ? "by columns" : "by rows", columns,
           columns == shunt_spmm_whole24_columns(&q.on_device, &q.device) ? " (chosen)" : "", us,
           2e-6 * (double)m * (double)m * (double)n / us, pack);
  }
}

int main(int argc, char **argv)
{
  test_conversion();
  test_irregular();
  if (this_device().compute_capability != 90) {
    skip("wgmma.sp needs compute capability 9.0");
    return finish();
  }
  for (int columns : {128, 256}) {
    test_products(columns, true);
    test_products(columns, false);
    test_nonfinite(columns);
  }
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time"))
    for (int64_t m : {4096, 8192})
      for (int64_t n : {512, 2048})
        for (int layout : {0, 3})
          time_product(m, n, layout);
  return finish();
}
