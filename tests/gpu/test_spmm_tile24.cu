// test_spmm_tile24.cu: shunt_spmm_tile24_cuda against its host twin.
//
// With whole numbers every sum is exact, so the two agree bit by bit, in whatever order a
// tensor core adds; with fractions within the error that float sums may have.  Patterns, types,
// layouts and scalars rotate with a fixed random sequence.  C's surroundings must not change.
//   --time   also times squares of 4096 by 256 columns
#include "kernels/tile24_kernels.h"
#include "tests/gpu/tile24_patterns.cuh"

using namespace harness;

// Where the elements of a dense matrix are.
struct Layout {
  int64_t rows, cols, row_stride, col_stride, offset;
  int64_t size() const { return offset + (rows - 1) * row_stride + (cols - 1) * col_stride + 1; }
  int64_t at(int64_t i, int64_t j) const { return offset + i * row_stride + j * col_stride; }
  shunt_dense view(void *memory, shunt_type t) const
  {
    return {rows, cols, row_stride, col_stride, (char *)memory + offset * shunt_type_size(t), t};
  }
};
// 0: row-major packed, 1: row-major and aligned with a gap, 2: row-major, odd leading
// dimension, 3: column-major with a gap, 4: aligned rows at a misaligned address.
static Layout layout(int kind, int64_t rows, int64_t cols)
{
  const int64_t aligned = (cols + 7) / 8 * 8;
  switch (kind) {
  case 0:
    return {rows, cols, cols, 1, 0};
  case 1:
    return {rows, cols, aligned + 8, 1, 0};
  case 2:
    return {rows, cols, (cols + 3) | 1, 1, 0};
  case 3:
    return {rows, cols, 1, rows + 1, 0};
  default:
    return {rows, cols, aligned, 1, 1};
  }
}

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16;
  int b_layout = 0, c_layout = 0, reorder = 1;
  double alpha = 1, beta = 0;
  bool device_scalars = false, whole = true, poison = false;
};

// One product on both sides.
struct Problem {
  Options o;
  Tile24 a;
  Layout bl, cl;
  Buffer b, c, scalars, workspace;
  std::vector<char> before;
  shunt_device device;
  shunt_spmm on_device, on_host;

  Problem(const Pattern &p, int64_t n, const Options &options, uint64_t seed)
      : o(options), a(p, {o.reorder, -1, -1}, o.type, SHUNT_I32, 0, o.whole, seed),
        bl(layout(o.b_layout, p.cols, n)), cl(layout(o.c_layout, p.rows, n)),
        b((size_t)bl.size() * 2), c((size_t)cl.size() * shunt_type_size(o.out)), scalars(8),
        workspace((size_t)(p.cols * (n + 8)) * 2 + 64), device(this_device())
  {
    Random r(seed + 1);
    memset(b.host.data(), 0xff, b.host.size());
    memset(c.host.data(), 0xff, c.host.size());
    for (int64_t k = 0; k < p.cols; k++)
      for (int64_t j = 0; j < n; j++)
        store(b.host.data(), bl.at(k, j), o.type, element_of_b(r));
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t j = 0; j < n; j++)
        store(c.host.data(), cl.at(i, j), o.out, o.beta == 0 ? (double)NAN : (double)r.below(5));
    ((float *)scalars.host.data())[0] = (float)o.alpha;
    ((float *)scalars.host.data())[1] = (float)o.beta;
    for (Buffer *x : {&b, &c, &scalars})
      x->upload();
    before = c.host;
    if (!a.pack() || a.census().irregular) exit(3);
    on_host = make(a.host, b.host.data(), before.data(), scalars.host.data());
    on_device = make(a.device, b.device, c.device, scalars.device);
  }
  double element_of_b(Random &r) const
  {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    if (o.poison && r.below(40) == 0) return bad[r.below(3)];
    return o.whole ? (double)(r.below(9) - 4) : r.value();
  }
  shunt_spmm make(const shunt_csr &csr, void *b_at, void *c_at, const void *scalars_at) const
  {
    const float *s = (const float *)scalars_at;
    shunt_spmm p = {};
    p.a = csr;
    p.b = bl.view(b_at, o.type);
    p.c = cl.view(c_at, o.out);
    p.alpha = {o.device_scalars ? s : nullptr, o.alpha};
    p.beta = {o.device_scalars ? s + 1 : nullptr, o.beta};
    p.compute = SHUNT_F32;
    return p;
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    return shunt_spmm_tile24_cuda(&on_device, &a.on_device, &device, workspace.device,
                                  workspace.host.size(), stream);
  }
  bool same_value(double got, double want) const
  {
    if (isnan(want)) return isnan(got);
    if (o.whole || isinf(want)) return got == want;
    const double terms = (double)bl.rows; // of values up to 1
    return fabs(got - want) <=
           tolerance(o.out, SHUNT_F32, fabs(o.alpha) * terms + fabs(o.beta) * 5, want, bl.rows) * 2;
  }
  // Runs both; the whole of C's memory is compared.
  bool agree()
  {
    bool good = run() == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    c.download();
    good = good && shunt_spmm_tile24_host(&on_host, &a.on_host) == SHUNT_OK;
    for (int64_t i = 0; i < cl.size(); i++)
      good = good && same_value(load(c.host.data(), i, o.out), load(before.data(), i, o.out));
    return good;
  }
};

static Options random_options(Random &r)
{
  static const double scalar[] = {1, 0, -2, 0.5};
  Options o;
  o.type = r.below(2) ? SHUNT_F16 : SHUNT_BF16;
  o.out = r.below(2) ? o.type : SHUNT_F32;
  o.b_layout = (int)r.below(5), o.c_layout = (int)r.below(5);
  o.reorder = (int)r.below(2);
  o.alpha = scalar[r.below(4)], o.beta = scalar[r.below(4)];
  o.device_scalars = r.below(2);
  return o;
}

static void test_patterns(bool whole, bool poison, const char *what)
{
  Random r(20261122);
  for (int kind = 0; kind < TILE_KINDS; kind++) {
    bool good = true;
    for (int64_t rows : {1, 16, 150})
      for (int64_t cols : {1, 40, 300})
        for (int64_t n : {1, 8, 70, 200}) {
          const Pattern p = tile_pattern((TileKind)kind, rows, cols, 0.1, r.next());
          Options o = random_options(r);
          o.whole = whole, o.poison = poison;
          if (poison) o.alpha = 1;
          Problem q(p, n, o, r.next());
          // What a device has decides whether a block takes 64 or 128 columns.
          if (r.below(2)) q.device.multiprocessors = 1;
          const bool agree = q.agree();
          if (!agree)
            printf("# %lld x %lld x %lld, types %d %d, layouts %d %d, reorder %d, %g, %g\n",
                   (long long)rows, (long long)cols, (long long)n, o.type, o.out, o.b_layout,
                   o.c_layout, o.reorder, o.alpha, o.beta);
          good = good && agree;
        }
    check(good, "agrees with the twin, %s, %s", tile_kind_name[kind], what);
  }
}

// More than one part of 8192 strips; block rows that differ in what they have.
static void test_wide()
{
  Pattern p;
  Random r(9);
  p.rows = 40, p.cols = 8192 * 32 + 100;
  for (int64_t i = 0; i < p.rows; i++) {
    for (int64_t j = r.below(9000); j < p.cols; j += 1 + r.below(9000))
      p.columns.push_back(j);
    if (p.columns.empty() || p.columns.back() != p.cols - 1) p.columns.push_back(p.cols - 1);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  Problem q(p, 8, Options(), 10);
  check(q.agree(), "a matrix of more strips than are marked at once");
}

static void test_declined()
{
  const Pattern p = tile_pattern(ANYWHERE, 40, 60, 0.1, 31);
  Options o;
  o.b_layout = 3;
  Problem q(p, 20, o, 32);
  const shunt_spmm good = q.on_device;
  const uint32_t word = 1;
  q.on_device.only_if = &word;
  check(q.run() == SHUNT_E_UNSUPPORTED, "only_if is declined");
  q.on_device = good, q.on_device.compute = SHUNT_F64;
  check(q.run() == SHUNT_E_UNSUPPORTED, "so is another compute type");
  q.on_device = good, q.on_device.b.type = SHUNT_BF16;
  check(q.run() == SHUNT_E_UNSUPPORTED, "so is another type of B");
  q.on_device = good, q.on_device.c.type = SHUNT_F64;
  check(q.run() == SHUNT_E_UNSUPPORTED, "so is another type of C");
  q.on_device = good, q.on_device.a.value_type = SHUNT_F32;
  check(q.run() == SHUNT_E_UNSUPPORTED, "so is f32");
  q.on_device = good, q.device.compute_capability = 75;
  check(q.run() == SHUNT_E_UNSUPPORTED, "so is a device without sparse tensor cores");
  q.device = this_device();
  q.on_device = good, q.on_device.b.rows++;
  check(q.run() == SHUNT_E_ARGUMENT, "B of another size is an error");
  q.on_device = good, q.a.on_device.rows++;
  check(q.run() == SHUNT_E_ARGUMENT, "so is A packed from another size");
  q.a.on_device.rows--;
  check(shunt_spmm_tile24_cuda(&good, &q.a.on_device, &q.device, nullptr, 0, 0) ==
            SHUNT_E_WORKSPACE,
        "a column-major B needs a workspace");
  check(shunt_spmm_tile24_cuda(&good, &q.a.on_device, &q.device, q.workspace.device,
                               shunt_spmm_tile24_workspace(&good) - 1, 0) == SHUNT_E_WORKSPACE,
        "all of it");
  q.on_device = good;
  check(q.agree(), "and computes with it");
}

static void time_product(double sparsity, int reorder)
{
  const Pattern p = tile_pattern(ANYWHERE, 4096, 4096, 1 - sparsity, 7);
  Options o;
  o.reorder = reorder;
  Problem q(p, 256, o, 8);
  const double us = time_graph([&](cudaStream_t s) {
    if (q.run(s) != SHUNT_OK) exit(3);
  });
  printf("time spmm_tile24 4096 x 4096 x 256 %.2f reorder %d %.1f us\n", sparsity, reorder, us);
}

int main(int argc, char **argv)
{
  test_patterns(true, false, "whole numbers");
  test_patterns(true, true, "NaN and Inf in B");
  test_patterns(false, false, "fractions");
  test_wide();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time"))
    for (double s : {0.7, 0.8, 0.9, 0.95, 0.98})
      for (int reorder = 0; reorder < 2; reorder++)
        time_product(s, reorder);
  return finish();
}
