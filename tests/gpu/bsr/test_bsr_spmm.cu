// test_bsr_spmm.cu: shunt_bsr_spmm_cuda on BSR and Blocked-ELL, against its twin and float64.
//
// Every size of block meets both formats and every cut; types, layouts, scalars, indices rotate
// with a fixed random sequence.  Rows of B that no block names hold NaN and Inf throughout, values
// of Blocked-ELL's padding hold NaN.
//   --time [TYPES]       also times 4096 x 4096 with each cut; of hsdi: f16, f32, f64, i8
//   --only-time [TYPES]  times without testing
#include "kernels/bsr/bsr_kernels.h"
#include "tests/gpu/common/spmm_reference.cuh"

using namespace harness;

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16, index = SHUNT_I32;
  int64_t size = 8;
  bool ell = false, device_scalars = false;
  int base = 0, b_layout = 0, c_layout = 0;
  double alpha = 1, beta = 0, density = 0.3;
};

// A as blocks, and as the entries that these are.
struct Blocks {
  int64_t down, across, stored = 0;
  shunt_block_shape shape;
  Buffer offsets, columns, values;
  Pattern pattern;
  std::vector<double> entries;

  static int64_t wide_of(const Options &o, int64_t across)
  {
    return std::max<int64_t>(1, (int64_t)((double)across * o.density * 1.2));
  }
  Blocks(const Options &o, int64_t down_, int64_t across_, uint64_t seed)
      : down(down_), across(across_), shape{o.ell ? wide_of(o, across) : 0, o.size},
        offsets((down + 1) * 8), columns(room(o) * 8 + 8),
        values(room(o) * o.size * o.size * (int64_t)shunt_type_size(o.type) + 16)
  {
    Random r(seed);
    std::vector<std::vector<int64_t>> rows((size_t)(down * o.size)), at((size_t)(down * o.size));
    store(offsets.host.data(), 0, o.index, o.base);
    for (int64_t i = 0; i < down; i++) {
      int64_t used = 0;
      for (int64_t j = 0; j < across; j++) {
        if (r.uniform() >= o.density || (i % 7 == 3 && !o.ell)) continue;
        if (o.ell && used + 1 >= shape.wide) break;
        if (o.ell && r.below(6) == 0) put_column(o, used++, i, -1); // padding among blocks
        add(o, i, j, used++, rows, at);
      }
      while (o.ell && used < shape.wide) put_column(o, used++, i, -1);
      store(offsets.host.data(), i + 1, o.index, (double)(stored + o.base));
    }
    fill(o, r, at);
    pattern.rows = down * o.size, pattern.cols = across * o.size;
    for (size_t i = 0; i < rows.size(); i++) {
      pattern.columns.insert(pattern.columns.end(), rows[i].begin(), rows[i].end());
      pattern.offsets.push_back(pattern.nnz());
      for (int64_t place : at[i]) entries.push_back(load(values.host.data(), place, o.type));
    }
    for (Buffer *x : {&offsets, &columns, &values}) x->upload();
  }
  int64_t room(const Options &o) const { return down * (o.ell ? wide_of(o, across) : across); }
  void put_column(const Options &o, int64_t used, int64_t i, int64_t column)
  {
    const int64_t q = o.ell ? i * shape.wide + used : stored;
    store(columns.host.data(), q, o.index, (double)(column < 0 ? -1 : column + o.base));
    stored++;
  }
  void add(const Options &o, int64_t i, int64_t j, int64_t used,
           std::vector<std::vector<int64_t>> &rows, std::vector<std::vector<int64_t>> &at)
  {
    for (int64_t x = 0; x < o.size; x++)
      for (int64_t y = 0; y < o.size; y++) {
        const int64_t row = i * o.size + x;
        rows[(size_t)row].push_back(j * o.size + y);
        at[(size_t)row].push_back(o.ell ? row * shape.wide * o.size + used * o.size + y
                                        : (stored * o.size + x) * o.size + y);
      }
    put_column(o, used, i, j);
  }
  // Values of blocks; one in 9 is zero.  NaN elsewhere.
  void fill(const Options &o, Random &r, const std::vector<std::vector<int64_t>> &at)
  {
    memset(values.host.data(), 0xff, values.host.size());
    for (const auto &row : at)
      for (int64_t place : row)
        store(values.host.data(), place, o.type, r.below(9) ? drawn(r, o.type) : 0.0);
  }
  int64_t nnz(const Options &o) const
  {
    return o.ell ? down * shape.wide * o.size * o.size : stored * o.size * o.size;
  }
};

struct Problem {
  const Options o;
  Blocks blocks;
  const Pattern &pattern;
  DenseLayout bl, cl;
  Buffer values, b, c, scalars, workspace; // values: of the entries
  shunt_device device;
  shunt_spmm spmm[2]; // on the host, on the device

  Problem(const Options &options, int64_t down, int64_t across, int64_t n, uint64_t seed)
      : o(options), blocks(o, down, across, seed), pattern(blocks.pattern),
        bl(dense_layout(o.b_layout, pattern.cols, n, wide())),
        cl(dense_layout(o.c_layout, pattern.rows, n, wide())),
        values((size_t)pattern.nnz() * shunt_type_size(o.type)),
        b((size_t)bl.size() * shunt_type_size(o.type)),
        c((size_t)cl.size() * shunt_type_size(o.out)), scalars(16),
        workspace((size_t)(pattern.cols * (n + 16)) * shunt_type_size(o.type) + 64),
        device(this_device())
  {
    Random r(seed + 1);
    for (int64_t e = 0; e < pattern.nnz(); e++)
      store(values.host.data(), e, o.type, blocks.entries[(size_t)e]);
    fill_dense(*this, r);
    store(scalars.host.data(), 0, compute(), o.alpha);
    store(scalars.host.data(), 1, compute(), o.beta);
    for (Buffer *x : {&b, &c, &scalars}) x->upload();
    for (int d = 0; d < 2; d++) spmm[d] = view(d);
  }
  int64_t wide() const { return 16 / (int64_t)shunt_type_size(o.type); }
  shunt_type compute() const
  {
    return o.type == SHUNT_F64 || o.type == SHUNT_I8 ? o.out : SHUNT_F32;
  }
  shunt_spmm view(int d)
  {
    const auto of = [&](Buffer &x) { return d ? x.device : (void *)x.host.data(); };
    const char *s = (const char *)of(scalars);
    shunt_spmm p = {};
    p.a = {pattern.rows,
           pattern.cols,
           blocks.nnz(o),
           o.ell ? nullptr : of(blocks.offsets),
           of(blocks.columns),
           of(blocks.values),
           o.index,
           o.type,
           o.base};
    p.b = bl.view(of(b), o.type);
    p.c = cl.view(of(c), o.out);
    p.alpha = {o.device_scalars ? s : nullptr, o.alpha};
    p.beta = {o.device_scalars ? s + shunt_type_size(compute()) : nullptr, o.beta};
    p.compute = compute();
    return p;
  }
  // By the cut of the launcher's choice where tile is 0.
  shunt_status run(int tile, int log2_slices, cudaStream_t stream = 0)
  {
    return tile ? shunt_bsr_spmm_shaped_cuda(&spmm[1], &blocks.shape, tile, log2_slices, &device,
                                             workspace.device, workspace.host.size(), stream)
                : shunt_bsr_spmm_cuda(&spmm[1], &blocks.shape, &device, workspace.device,
                                      workspace.host.size(), stream);
  }
};

static const struct {
  shunt_type in, out;
} types[] = {{SHUNT_F16, SHUNT_F16},  {SHUNT_F16, SHUNT_F32}, {SHUNT_BF16, SHUNT_BF16},
             {SHUNT_BF16, SHUNT_F32}, {SHUNT_F32, SHUNT_F32}, {SHUNT_F64, SHUNT_F64},
             {SHUNT_I8, SHUNT_I32},   {SHUNT_I8, SHUNT_F32}};
enum { TYPES = sizeof types / sizeof types[0] };

static Options draw(Random &r, int64_t size, bool ell, int64_t t)
{
  static const double alphas[] = {1, -1.5, 0.25}, betas[] = {0, 0, 1, -0.5};
  Options o;
  o.type = types[t].in, o.out = types[t].out;
  o.index = r.below(2) ? SHUNT_I64 : SHUNT_I32;
  o.size = size, o.ell = ell;
  o.base = (int)r.below(2), o.device_scalars = r.below(2);
  o.b_layout = (int)r.below(DENSE_LAYOUTS), o.c_layout = (int)r.below(DENSE_LAYOUTS);
  o.alpha = alphas[r.below(3)], o.beta = betas[r.below(4)];
  if (o.out == SHUNT_I32) o.alpha = o.alpha == 1 ? 1 : -3, o.beta = o.beta == -0.5 ? -2 : o.beta;
  o.density = (double)(1 + r.below(9)) / 10;
  return o;
}

static bool product_right(Problem &q, int tile, int log2_slices)
{
  const std::vector<char> before = q.c.host;
  q.c.upload();
  if (q.run(tile, log2_slices) != SHUNT_OK) return false;
  CUDA_OK(cudaDeviceSynchronize());
  q.c.download();
  const bool good = wrong_elements(q, before) == 0;
  q.c.host = before;
  return good;
}

static bool twin_right(Problem &q)
{
  const std::vector<char> before = q.c.host;
  bool good = shunt_bsr_spmm_host(&q.spmm[0], &q.blocks.shape) == SHUNT_OK;
  good = good && wrong_elements(q, before) == 0;
  q.c.host = before;
  return good;
}

static void test_products(int64_t size, bool ell)
{
  Random r((uint64_t)size * 2 + ell);
  static Sample cuts(3);
  bool good = true, twin = true;
  int64_t type = 0; // each comes at each size
  for (int64_t n : {1, 8, 40, 64, 100, 130, 264})
    for (int64_t down : {1, 3, 11}) {
      if (left_out()) continue;
      Problem q(draw(r, size, ell, type++ % TYPES), down, 1 + r.below(600 / size), n, r.next());
      twin = twin_right(q) && twin;
      good = product_right(q, 0, 0) && good;
      for (int tile : {16, 32, 64, 128})
        for (int slices = 0; slices <= 3; slices++)
          if (!cuts.leaves_out() && q.run(tile, slices) == SHUNT_OK)
            good = product_right(q, tile, slices) && good;
    }
  check(twin, "the twin, %s, blocks of %lld", ell ? "Blocked-ELL" : "BSR", (long long)size);
  check(good, "every cut, %s, blocks of %lld", ell ? "Blocked-ELL" : "BSR", (long long)size);
}

// NaN and Inf of A and B go where the mathematics sends them, zeros of blocks included.
static void test_nonfinite()
{
  bool good = true;
  for (bool ell : {false, true})
    for (int64_t size : {4, 8, 16, 32}) {
      Options o;
      o.size = size, o.ell = ell;
      Problem q(o, 5, 200 / size, 72, 5);
      for (int64_t e = 0; e < (int64_t)q.b.host.size() / 2; e += 97)
        store(q.b.host.data(), e, o.type, e % 2 ? (double)INFINITY : (double)NAN);
      q.b.upload();
      good = product_right(q, 0, 0) && good;
    }
  check(good, "NaN and Inf of B meet stored zeros, and no padding");
}

// Sums of int8 beyond int32: they wrap, into f32 they do not.
static void test_long_integers()
{
  for (bool ell : {false, true})
    for (shunt_type out : {SHUNT_I32, SHUNT_F32}) {
      Options o;
      o.type = SHUNT_I8, o.out = out, o.size = 16, o.ell = ell, o.density = 1;
      Problem q(o, 1, 8200, 3, 5);
      memset(q.b.host.data(), -128, q.b.host.size());
      memset(q.blocks.values.host.data(), -128, q.blocks.values.host.size());
      q.b.upload();
      q.blocks.values.upload();
      bool good = q.run(0, 0) == SHUNT_OK;
      CUDA_OK(cudaDeviceSynchronize());
      good = good && shunt_bsr_spmm_host(&q.spmm[0], &q.blocks.shape) == SHUNT_OK;
      const std::vector<char> want = q.c.host;
      q.c.download();
      for (int64_t i = 0; i < q.cl.rows; i++)
        for (int64_t j = 0; j < q.cl.cols; j++) {
          const double x = load(want.data(), q.cl.at(i, j), out),
                       y = load(q.c.host.data(), q.cl.at(i, j), out);
          good = good && fabs(x - y) <= (out == SHUNT_I32 ? 0 : 0x1p-22 * fabs(x));
        }
      check(good, "sums beyond int32, %s into %s", ell ? "Blocked-ELL" : "BSR",
            out == SHUNT_I32 ? "i32" : "f32");
    }
}

static void test_declined()
{
  Options o;
  Problem q(o, 4, 5, 16, 3);
  shunt_block_shape three = {0, 3};
  check(shunt_bsr_spmm_check(&q.spmm[1], &three) == SHUNT_E_UNSUPPORTED,
        "blocks of 3 are declined");
  q.spmm[1].b.row_stride = 17;
  check(shunt_bsr_spmm_cuda(&q.spmm[1], &q.blocks.shape, &q.device, nullptr, 0, 0) ==
            SHUNT_E_WORKSPACE,
        "so is a B that has to be copied without a workspace");
  q.spmm[1].b.row_stride = 16;
  q.spmm[1].a.values = (char *)q.spmm[1].a.values + 2;
  check(shunt_bsr_spmm_cuda(&q.spmm[1], &q.blocks.shape, &q.device, nullptr, 0, 0) ==
            SHUNT_E_UNSUPPORTED,
        "and values at an odd place");
}

static void time_product(const Options &o, int64_t n)
{
  Problem q(o, 4096 / o.size, 4096 / o.size, n, 7);
  printf("time %s %d-byte b%lld %.2f n%lld:", o.ell ? "ell" : "bsr", (int)shunt_type_size(o.type),
         (long long)o.size, o.density, (long long)n);
  for (int tile : {0, 16, 32, 64, 128})
    for (int slices = 0; slices <= (tile ? 3 : 0); slices++) {
      if (q.run(tile, slices) != SHUNT_OK) continue;
      const double us = time_graph([&](cudaStream_t s) { q.run(tile, slices, s); }, 5);
      if (tile)
        printf(" %d/%d %.1f", tile, 1 << slices, us);
      else
        printf(" %.1f by itself", us);
    }
  printf("\n");
  fflush(stdout);
}

static void time_products(shunt_type type)
{
  Options o;
  o.type = type;
  o.out = type == SHUNT_I8 ? SHUNT_I32 : type;
  for (int i = 0; i < 2; i++)
    for (int64_t size : {4, 8, 16, 32}) {
      o.ell = i, o.size = size, o.density = 0.1;
      time_product(o, 256);
      if (!o.ell) continue;
      time_product(o, 64);
      time_product(o, 1024);
    }
}

int main(int argc, char **argv)
{
  const bool only = argc > 1 && !strcmp(argv[1], "--only-time");
  const char *types_timed = argc > 2 ? argv[2] : "hsdi"; // f16, f32, f64, i8
  if (!only) {
    for (int64_t size : {2, 4, 8, 16, 32})
      for (bool ell : {false, true}) test_products(size, ell);
    test_nonfinite();
    test_long_integers();
    test_declined();
  }
  if (only || (argc > 1 && !strcmp(argv[1], "--time")))
    for (const char *t = types_timed; *t; t++)
      time_products(*t == 'h'   ? SHUNT_F16
                    : *t == 's' ? SHUNT_F32
                    : *t == 'd' ? SHUNT_F64
                                : SHUNT_I8);
  return finish();
}
