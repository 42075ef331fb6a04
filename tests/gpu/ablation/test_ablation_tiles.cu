// test_ablation_tiles.cu: the thesis' kernels on 2:4 tiles (tests/bench/ablation/tile_steps.h)
// against the host twin of `tile`, whole numbers bit by bit.
//   --time        also times them and Shunt's, on XdYs matrices: X % of all 16 x 32 tiles
//                 dense, Y % 2:4; throughput: 2 entries n / time
//   --only-time   times without testing
#include "backend/routes/cost/tile_mixed_cost.h"
#include "kernels/tile/tile_mixed_kernels.h"
#include "tests/bench/ablation/tile_steps.h"
#include "tests/gpu/tile/tile_patterns.cuh"

using namespace harness;

static const char *const kStepName[SHUNT_STEPS] = {"T", "BT", "CBT", "OBT", "ST", "OBTS", "SEP"};

static bool is_dense_step(int step)
{
  return step <= SHUNT_STEP_OBT;
}

// A product with A packed in one way; B and C row-major.
struct Product {
  Tiles a;
  int64_t n;
  Buffer b, c;
  shunt_spmm p = {};
  shunt_device device;

  Product(const Pattern &pattern, int how, int64_t n_, bool poison, double beta, bool timed,
          uint64_t seed)
      : a(pattern, {how, how & SHUNT_TILE_DENSE ? 0 : -1, -1}, SHUNT_F16, SHUNT_I32, 0, true, seed),
        n(n_), b((size_t)(pattern.cols * n) * 2), c((size_t)(pattern.rows * n) * 2),
        device(this_device())
  {
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    Random r(seed + 1);
    for (int64_t i = 0; i < pattern.cols * n; i++)
      store(b.host.data(), i, SHUNT_F16,
            poison && r.below(40) == 0 ? bad[r.below(3)] : (double)(r.below(9) - 4));
    for (int64_t i = 0; i < pattern.rows * n; i++)
      store(c.host.data(), i, SHUNT_F16, beta == 0 ? (double)NAN : (double)r.below(5));
    b.upload();
    c.upload();
    if (!(timed ? a.pack_on_device() : a.pack()) || a.census().irregular) exit(3);
    p.a = a.device;
    p.b = {pattern.cols, n, n, 1, b.device, SHUNT_F16};
    p.c = {pattern.rows, n, n, 1, c.device, SHUNT_F16};
    p.alpha = {nullptr, 2}, p.beta = {nullptr, beta};
    p.compute = SHUNT_F32;
  }
  // Shunt's own kernel for such tiles.
  shunt_status run(cudaStream_t stream) const
  {
    if (a.on_device.sparse.gather && a.on_device.sparse.room == 0)
      return shunt_tile_spmm_cuda(&p, &a.on_device, &device, nullptr, 0, stream);
    const shunt_tile_shape s = shunt_choose_tile_shape(&p, &a.on_device, &device);
    return shunt_tile_mixed_spmm_shaped_cuda(&p, &a.on_device, &s, &device, nullptr, 0, stream);
  }
  bool agrees(int step)
  {
    shunt_spmm twin = p;
    twin.b.values = b.host.data();
    Buffer want(c.host.size());
    want.host = c.host;
    twin.c.values = want.host.data();
    c.upload();
    bool good =
        shunt_ablation_tile_cuda(&p, &a.on_device, (enum shunt_tile_step)step, 0) == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    Buffer got(c.host.size());
    CUDA_OK(cudaMemcpy(got.host.data(), c.device, c.host.size(), cudaMemcpyDeviceToHost));
    good = good && shunt_tile_spmm_host(&twin, &a.on_host) == SHUNT_OK;
    for (int64_t i = 0; i < p.c.rows * n; i++) {
      const double x = load(got.host.data(), i, SHUNT_F16),
                   y = load(want.host.data(), i, SHUNT_F16);
      good = good && (isnan(y) ? isnan(x) : x == y);
    }
    return good;
  }
};

static void test_step(int step)
{
  Random r(20261122 + (uint64_t)step);
  for (int kind = 0; kind < TILE_KINDS; kind++) {
    bool good = true;
    for (int64_t rows : {1, 16, 150})
      for (int64_t cols : {1, 40, 300})
        for (int64_t n : {8, 72}) {
          const Pattern p = tile_pattern((TileKind)kind, rows, cols, 0.1, r.next());
          const int how = is_dense_step(step) ? SHUNT_TILE_DENSE : (int)r.below(2);
          Product q(p, how, n, r.below(2), r.below(2) ? 0.5 : 0, false, r.next());
          good = q.agrees(step) && good;
        }
    check(good, "%s agrees with the twin, %s", kStepName[step], tile_kind_name[kind]);
  }
}

static void test_declined()
{
  const Pattern p = tile_pattern(TILES, 40, 60, 0.1, 5);
  Product q(p, SHUNT_TILE_MERGE, 16, false, 0, false, 6);
  check(shunt_ablation_tile_cuda(&q.p, &q.a.on_device, SHUNT_STEP_T, 0) == SHUNT_E_UNSUPPORTED,
        "merged columns are declined");
}

// ---- timing ------------------------------------------------------------------------------

// Each tile is dense, 2:4 or nothing with these shares.
static Pattern xdys(int64_t size, double dense, double two, uint64_t seed)
{
  static const int pairs[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  Random r(seed);
  Pattern p;
  p.rows = p.cols = size;
  std::vector<double> draw((size_t)(size / 32));
  for (int64_t i = 0; i < size; i++) {
    if (i % 16 == 0)
      for (double &x : draw) x = r.uniform();
    for (int64_t j = 0; j < size; j += 4) {
      const double x = draw[(size_t)(j / 32)];
      const int *pair = pairs[r.below(6)];
      for (int q = 0; q < 4; q++)
        if (x < dense || (x < dense + two && (q == pair[0] || q == pair[1])))
          p.columns.push_back(j + q);
    }
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

static void print_time(const char *name, const char *way, const Product &q, double us)
{
  const double flops = 2.0 * (double)q.a.host.nnz * (double)q.n;
  printf("time %s %lld %s: %.1f us, %.0f GFLOP/s\n", name, (long long)q.n, way, us,
         flops / us * 1e-3);
  fflush(stdout);
}

static void time_steps(const char *name, const Pattern &p, int how, int64_t n)
{
  Product q(p, how, n, false, 0, true, 8);
  for (int step = 0; step < SHUNT_STEPS; step++) {
    if ((how == SHUNT_TILE_DENSE) != is_dense_step(step) || how & SHUNT_TILE_MERGE) continue;
    print_time(name, kStepName[step], q, time_graph([&](cudaStream_t s) {
                 if (shunt_ablation_tile_cuda(&q.p, &q.a.on_device, (enum shunt_tile_step)step,
                                              s) != SHUNT_OK)
                   exit(3);
               }));
  }
  static const char *const ours[] = {"tile-aligned-24", nullptr, "tile-24", nullptr,
                                     "tile-aligned",    nullptr, "tile"};
  print_time(name, ours[how], q, time_graph([&](cudaStream_t s) {
               if (q.run(s) != SHUNT_OK) exit(3);
             }));
}

static void time_all()
{
  static const struct {
    const char *name;
    int64_t size;
    double dense, two;
  } cases[] = {{"0d10s-2048", 2048, 0, 0.1}, {"0d10s-4096", 4096, 0, 0.1},
               {"0d20s-4096", 4096, 0, 0.2}, {"5d5s-4096", 4096, 0.05, 0.05},
               {"10d0s-4096", 4096, 0.1, 0}, {"0d100s-4096", 4096, 0, 1}};
  for (auto &c : cases) {
    const Pattern p = xdys(c.size, c.dense, c.two, 6);
    for (int64_t n : {8, 32, 128, 256})
      for (int how :
           {(int)SHUNT_TILE_DENSE, 0, (int)SHUNT_TILE_MERGE, SHUNT_TILE_MERGE | SHUNT_TILE_DENSE})
        time_steps(c.name, p, how, n);
  }
}

int main(int argc, char **argv)
{
  if (argc < 2 || strcmp(argv[1], "--only-time")) {
    for (int step = 0; step < SHUNT_STEPS; step++) test_step(step);
    test_declined();
  }
  if (argc > 1 && strstr(argv[1], "time")) time_all();
  return finish();
}
