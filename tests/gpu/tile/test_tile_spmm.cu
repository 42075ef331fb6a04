// test_tile_spmm.cu: SpMM over tiles against its host twin: shunt_tile_spmm_cuda, which takes
// merged tiles that are all dense, and shunt_tile_mixed_spmm_shaped_cuda, which takes any, in every
// shape.
//
// With whole numbers every sum is exact, so the two agree bit by bit, in whatever order a
// tensor core adds; with fractions within the error that float sums may have.  Patterns, types,
// layouts and scalars rotate with a fixed random sequence.  C's surroundings must not change.
//   --time        also times squares of 4096 and 8192, every shape that makes sense
//   --only-time   times without testing
#include "backend/routes/cost/tile_mixed_cost.h"
#include "kernels/tile/tile_mixed_kernels.h"
#include "tests/gpu/common/dense_layouts.cuh"
#include "tests/gpu/tile/tile_patterns.cuh"

using namespace harness;

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16;
  int b_layout = 0, c_layout = 0, reorder = 1;
  double alpha = 1, beta = 0;
  bool device_scalars = false, whole = true, poison = false;
  bool timed = false; // device only
};

// {}: the launcher's choice.
static const shunt_tile_shape kShapes[] = {
    {0, 64, 1},   {0, 128, 1},  {128, 128, 1}, {128, 128, 2}, {128, 128, 4},
    {128, 64, 1}, {128, 64, 2}, {128, 64, 4},  {64, 64, 1},   {64, 64, 2},
    {64, 64, 4},  {16, 64, 1},  {16, 64, 2},   {16, 64, 4},   {16, 64, 8}};
static void name_shape(const shunt_tile_shape &s, char (&name)[40])
{
  if (s.rows == 16)
    snprintf(name, sizeof name, "gathered, split by %d", s.split);
  else if (s.rows)
    snprintf(name, sizeof name, "blocked %d x %d, split by %d", s.rows, s.tile, s.split);
  else
    snprintf(name, sizeof name, "direct, %d columns", s.tile);
}

// One product on both sides.
struct Problem {
  Options o;
  Tiles a;
  DenseLayout bl, cl;
  Buffer b, c, scalars, workspace;
  std::vector<char> before;
  shunt_device device;
  shunt_tile_shape shape = {};
  shunt_spmm on_device, on_host;

  Problem(const Pattern &p, int64_t n, const Options &options, uint64_t seed)
      : o(options), a(p, {o.reorder, o.reorder & SHUNT_TILE_DENSE ? 0 : -1, -1}, o.type, SHUNT_I32,
                      0, o.whole, seed),
        bl(dense_layout(o.b_layout, p.cols, n)), cl(dense_layout(o.c_layout, p.rows, n)),
        b((size_t)bl.size() * 2), c((size_t)cl.size() * shunt_type_size(o.out)), scalars(8),
        workspace((size_t)(p.cols * (n + 8)) * 2 + 64), device(this_device())
  {
    Random r(seed + 1);
    memset(b.host.data(), 0xff, b.host.size());
    memset(c.host.data(), 0xff, c.host.size());
    for (int64_t k = 0; k < p.cols; k++)
      for (int64_t j = 0; j < n; j++) store(b.host.data(), bl.at(k, j), o.type, element_of_b(r));
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t j = 0; j < n; j++)
        store(c.host.data(), cl.at(i, j), o.out, o.beta == 0 ? (double)NAN : (double)r.below(5));
    ((float *)scalars.host.data())[0] = (float)o.alpha;
    ((float *)scalars.host.data())[1] = (float)o.beta;
    for (Buffer *x : {&b, &c, &scalars}) x->upload();
    before = c.host;
    if (!(o.timed ? a.pack_on_device() : a.pack()) || a.census().irregular) exit(3);
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
  bool all_merged_and_dense() const
  {
    return a.on_device.sparse.gather && a.on_device.sparse.room == 0;
  }
  shunt_status run_in(void *space, size_t bytes, cudaStream_t stream = 0)
  {
    if (!shape.tile && all_merged_and_dense())
      return shunt_tile_spmm_cuda(&on_device, &a.on_device, &device, space, bytes, stream);
    const shunt_tile_shape s =
        shape.tile ? shape : shunt_choose_tile_shape(&on_device, &a.on_device, &device);
    return shunt_tile_mixed_spmm_shaped_cuda(&on_device, &a.on_device, &s, &device, space, bytes,
                                             stream);
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    return run_in(workspace.device, workspace.host.size(), stream);
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
    good = good && shunt_tile_spmm_host(&on_host, &a.on_host) == SHUNT_OK;
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
  o.reorder = (int)r.below(8);
  o.alpha = scalar[r.below(4)], o.beta = scalar[r.below(4)];
  o.device_scalars = r.below(2);
  return o;
}

// One product of a random kind with the twin's; says what it was if they differ.
static bool agrees(const Pattern &p, int64_t n, Options o, const shunt_tile_shape &shape, Random &r)
{
  if (shape.tile)
    o.reorder = shape.rows == 16 ? o.reorder | SHUNT_TILE_MERGE : o.reorder & ~SHUNT_TILE_MERGE;
  Problem q(p, n, o, r.next());
  q.shape = shape;
  // What a device has decides the launcher's choice of a shape.
  if (r.below(2)) q.device.multiprocessors = 1;
  const bool agree = q.agree();
  if (!agree)
    printf("# %lld x %lld x %lld, types %d %d, layouts %d %d, reorder %d, %g, %g\n",
           (long long)p.rows, (long long)p.cols, (long long)n, o.type, o.out, o.b_layout,
           o.c_layout, o.reorder, o.alpha, o.beta);
  return agree;
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
          good = agrees(p, n, o, {}, r) && good;
        }
    check(good, "agrees with the twin, %s, %s", tile_kind_name[kind], what);
  }
}

// Sizes at which rows end within a block, chunks go round the ring, columns end within a
// warp's; tiles that all block rows have, and that few have.
static void test_shape(const shunt_tile_shape &shape, uint64_t seed)
{
  static const int64_t sizes[][3] = {{1, 33, 8},     {70, 700, 64},  {300, 90, 136},
                                     {530, 250, 70}, {200, 1100, 9}, {130, 300, 260}};
  static Sample sample(5);
  Random r(seed);
  char name[40];
  name_shape(shape, name);
  for (int kind = 0; kind <= TILE_KINDS; kind++) {
    bool good = true;
    for (auto &size : sizes) {
      if (sample.leaves_out()) continue;
      static const double densities[] = {0.1, 0.004, 0.5};
      const double density = densities[r.below(3)];
      const Pattern p = kind == TILE_KINDS
                            ? pruned_pattern(size[0], size[1], r.next())
                            : tile_pattern((TileKind)kind, size[0], size[1], density, r.next());
      Options o = random_options(r);
      o.whole = r.below(4), o.poison = r.below(2);
      good = agrees(p, size[2], o, shape, r) && good;
    }
    check(good, "%s agrees with the twin, %s", name,
          kind < TILE_KINDS ? tile_kind_name[kind] : "pruned");
  }
}

static void test_repeats(const shunt_tile_shape &shape)
{
  constexpr int calls = sized(20, 2);
  const Pattern p = tile_pattern(TILES, 300, 900, 0.1, 77);
  Options o;
  o.whole = false, o.out = SHUNT_F32;
  if (shape.rows == 16) o.reorder |= SHUNT_TILE_MERGE;
  Problem q(p, 136, o, 78);
  q.shape = shape;
  bool same = q.run() == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  q.c.download();
  const std::vector<char> first = q.c.host;
  for (int i = 0; i < calls; i++) {
    same = same && q.run() == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    q.c.download();
    same = same && q.c.host == first;
  }
  char name[40];
  name_shape(shape, name);
  check(same, "%s: %d calls give the same bits", name, calls);
}

// More than one part of 8192 strips; block rows that differ in what they have.
static void test_wide(const shunt_tile_shape &shape)
{
  Options o;
  if (shape.rows == 16) o.reorder |= SHUNT_TILE_MERGE;
  Pattern p;
  Random r(9);
  p.rows = 40, p.cols = 8192 * 32 + 100;
  for (int64_t i = 0; i < p.rows; i++) {
    for (int64_t j = r.below(9000); j < p.cols; j += 1 + r.below(9000)) p.columns.push_back(j);
    if (p.columns.empty() || p.columns.back() != p.cols - 1) p.columns.push_back(p.cols - 1);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  Problem q(p, 8, o, 10);
  q.shape = shape;
  check(q.agree(), "a matrix of more strips than the direct kernel marks at once, %d rows a block",
        shape.rows);
}

// So few tiles that the packed matrix has no table of chunks.
static void test_few_tiles()
{
  Pattern p;
  p.rows = 16 * 80, p.cols = 64 * 80;
  for (int64_t i = 0; i < p.rows; i++) {
    if (i % 20 == 3) p.columns.push_back(i * 4 % p.cols);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  Problem q(p, 24, Options(), 35);
  q.shape = {128, 64, 1};
  check(!q.a.on_device.chunk && q.run() == SHUNT_E_UNSUPPORTED, "no blocks where tiles are few");
  q.shape = {};
  check(q.agree(), "where the launcher takes the direct kernel");
}

static void test_declined(int reorder)
{
  const Pattern p = tile_pattern(ANYWHERE, 40, 60, 0.1, 31);
  Options o;
  o.b_layout = 3, o.reorder = reorder;
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
  q.on_device = good;
  check(q.run_in(nullptr, 0) == SHUNT_E_WORKSPACE, "a column-major B needs a workspace");
  check(q.run_in(q.workspace.device, shunt_tile_spmm_workspace(&good) - 1) == SHUNT_E_WORKSPACE,
        "all of it");
  check(q.agree(), "and computes with it");
}

// Aligned tiles, and merged ones that may be 2:4, have launchers of their own.
static void test_others_declined()
{
  const Pattern p = tile_pattern(ANYWHERE, 40, 60, 0.1, 37);
  for (int how : {0, (int)SHUNT_TILE_DENSE, (int)SHUNT_TILE_MERGE}) {
    Options o;
    o.reorder = how;
    Problem q(p, 24, o, 38);
    check(shunt_tile_spmm_cuda(&q.on_device, &q.a.on_device, &q.device, q.workspace.device,
                               q.workspace.host.size(), 0) == SHUNT_E_UNSUPPORTED,
          "only tiles that are all merged and dense, not %d", how);
  }
}

// Shapes that do not fit are declined, not launched.
static void test_shapes_declined()
{
  const Pattern p = tile_pattern(ANYWHERE, 40, 60, 0.1, 33);
  Problem q(p, 24, Options(), 34);
  static const shunt_tile_shape bad[] = {{0, 32, 1},  {256, 128, 1}, {64, 128, 1}, {32, 64, 1},
                                         {64, 64, 0}, {64, 64, 3},   {64, 64, 8}};
  for (const shunt_tile_shape &s : bad) {
    q.shape = s;
    check(q.run() == SHUNT_E_UNSUPPORTED, "no shape %d x %d, split by %d", s.rows, s.tile, s.split);
  }
  q.shape = {16, 64, 1};
  check(q.run() == SHUNT_E_UNSUPPORTED, "nothing gathers but merged columns");
  Options merged;
  merged.reorder |= SHUNT_TILE_MERGE;
  Problem m(p, 24, merged, 36);
  for (const shunt_tile_shape &s :
       {shunt_tile_shape{0, 64, 1}, {64, 64, 1}, {16, 128, 1}, {16, 64, 3}}) {
    m.shape = s;
    check(m.run() == SHUNT_E_UNSUPPORTED, "for which there is no shape %d x %d, split by %d",
          s.rows, s.tile, s.split);
  }
  q.shape = {128, 64, 1};
  q.device.compute_capability = 80;
  check(q.run() == SHUNT_E_UNSUPPORTED, "no blocks before compute capability 9.0");
  q.shape = {};
  check(q.agree(), "where the launcher takes the direct kernel");
  q.device = this_device();
  q.device.shared_per_block = 100 << 10;
  q.shape = {128, 64, 1};
  check(q.run() == SHUNT_E_UNSUPPORTED, "nor with little shared memory");
  q.shape = {};
  check(q.agree(), "where it does so too");
}

// Among blocks that cover an H200, the ones that were fastest on 2:4-pruned matrices.
static void test_chosen()
{
  static const struct {
    int64_t size, n;
    shunt_tile_shape want;
  } cases[] = {{4096, 128, {128, 64, 2}},   {4096, 256, {128, 128, 2}}, {4096, 512, {128, 128, 1}},
               {4096, 2048, {128, 128, 1}}, {8192, 128, {128, 128, 2}}, {8192, 256, {128, 128, 1}},
               {8192, 2048, {128, 128, 1}}};
  struct shunt_tile_chunk table;
  shunt_device d = this_device();
  d.compute_capability = 90, d.multiprocessors = 132, d.shared_per_block = 227 << 10;
  for (auto &c : cases) {
    shunt_spmm p = {};
    shunt_tile v = {};
    p.a.rows = p.a.cols = p.b.rows = p.c.rows = c.size, p.b.cols = p.c.cols = c.n;
    v.rows = v.cols = c.size, v.blocks = c.size / 16, v.chunk = &table;
    v.sparse.room = v.blocks * (c.size / 32);
    const shunt_tile_shape s = shunt_choose_tile_shape(&p, &v, &d);
    check(!memcmp(&s, &c.want, sizeof s), "%lld x %lld takes blocks of %d x %d, split by %d",
          (long long)c.size, (long long)c.n, s.rows, s.tile, s.split);
  }
}

// ---- timing --------------------------------------------------------------------------

static void time_shapes(Problem &q, const char *name, int64_t n)
{
  const int64_t size = q.bl.rows;
  q.on_device.b.cols = q.on_device.c.cols = n;
  q.on_device.b.row_stride = q.on_device.c.row_stride = n;
  const shunt_tile_shape chosen = shunt_choose_tile_shape(&q.on_device, &q.a.on_device, &q.device);
  for (const shunt_tile_shape &s : kShapes) {
    if ((s.rows == 16) != ((q.o.reorder & SHUNT_TILE_MERGE) != 0)) continue;
    const bool is_chosen = !memcmp(&s, &chosen, sizeof s);
    const int64_t blocks = s.rows ? size / s.rows * (n / s.tile) * s.split : 0;
    if (!is_chosen && (s.tile > n || blocks > 2048)) continue;
    q.shape = s;
    const double us = time_graph([&](cudaStream_t stream) {
      if (q.run(stream) != SHUNT_OK) exit(3);
    });
    const double rate = 2.0 * (double)size * (double)size * (double)n / us * 1e-6;
    char shape[40];
    name_shape(s, shape);
    printf("time spmm_tile %s %lld %lld %s: %.1f us, %.0f TFLOP/s counted dense%s\n", name,
           (long long)size, (long long)n, shape, us, rate, is_chosen ? " (chosen)" : "");
    fflush(stdout);
  }
}

static void time_pattern(const Pattern &p, const char *name, int reorder)
{
  Options o;
  o.reorder = reorder, o.timed = true;
  Problem q(p, 2048, o, 8);
  const shunt_tile_census &c = q.a.census();
  printf("# %s %lld: %lld tiles 2:4, %lld of them reordered, %lld dense\n", name, (long long)p.rows,
         (long long)c.sparse, (long long)c.reordered, (long long)c.dense);
  for (int64_t n : {128, 256, 512, 2048}) time_shapes(q, name, n);
}

static void time_all()
{
  for (int64_t size : {4096, 8192}) {
    time_pattern(pruned_pattern(size, size, 6), "pruned", 0);
    time_pattern(pruned_pattern(size, size, 6), "pruned-with-orders", 1);
    time_pattern(tile_pattern(ANYWHERE, size, size, 0.1, 7), "density-0.1", 1);
    time_pattern(tile_pattern(ANYWHERE, size, size, 0.5, 7), "dense-tiles", 0);
  }
}

int main(int argc, char **argv)
{
  const bool timed = argc > 1 && strstr(argv[1], "time"),
             tests = argc < 2 || strcmp(argv[1], "--only-time");
  uint64_t seed = 100;
  if (tests) {
    test_patterns(true, false, "whole numbers");
    test_patterns(true, true, "NaN and Inf in B");
    test_patterns(false, false, "fractions");
    for (const shunt_tile_shape &s : kShapes) test_shape(s, seed++);
    Sample repeated(4);
    for (const shunt_tile_shape &s : kShapes)
      if (!repeated.leaves_out()) test_repeats(s);
    test_wide({0, 64, 1});
    test_wide({64, 64, 1});
    test_wide({16, 64, 2});
    test_few_tiles();
    test_chosen();
    test_declined(SHUNT_TILE_REORDER);
    test_declined(SHUNT_TILE_MERGE | SHUNT_TILE_DENSE);
    test_others_declined();
    test_shapes_declined();
  }
  if (timed) time_all();
  return finish();
}
