// test_vector_packed_tf32.cu: shunt_vector_packed_spmm_tf32_cuda against float64, in one product
// and three.
//
// Every pattern meets every width and tile; layouts and scalars rotate with a fixed random
// sequence. Rows of B that no vector names hold NaN and Inf throughout.
//   --time        also times it and the direct way in f32
//   --only-time   times without testing
#include "tests/gpu/common/machine.cuh"
#include "tests/gpu/vector/vector_spmm_problem.cuh"

struct Way {
  int products, tile;
};
static const Way ways[] = {{1, 64}, {1, 32}, {3, 64}, {3, 32}};

// Both operands 1.44 / 2^11 off at most (kernels/vector/vector_packed_spmm_strips_tf32.cuh); of
// three products what is left out, and what is cut off.
static double product_error(const Way &w)
{
  return w.products == 1 ? 0x1.8p-10 : 0x1p-20;
}

static shunt_status call(Problem &q, const Way &w, cudaStream_t stream)
{
  return shunt_vector_packed_spmm_tf32_cuda(&q.spmm, &q.v, w.products, w.tile, &q.device,
                                            q.workspace.device, q.workspace.host.size() - 64,
                                            stream);
}

static int64_t run_problem(Problem &q, const Way &w, double error)
{
  return run_once(
      q, [&] { return call(q, w, 0); }, error);
}

static Options options()
{
  Options o;
  o.type = o.out = SHUNT_F32;
  return o;
}

// ---- tests -----------------------------------------------------------------------------

static Options random_options(Random &r, Kind kind)
{
  Options o = options();
  o.b_layout = (int)r.below(5);
  o.c_layout = (int)r.below(5);
  o.height = height_of(kind);
  if (r.below(2)) o.alpha = 1.5, o.beta = r.below(3) ? -0.75 : 0;
  o.device_scalars = r.below(2);
  if (r.below(3) == 0) o.listed = true, o.height = 1;
  return o;
}

static void test_way(const Way &w, uint64_t seed)
{
  static const int64_t some_n[] = {1, 4, 8, 31, 32, 36, 64, 65, 130};
  static const int64_t sizes[][2] = {{1, 5}, {8, 64}, {9, 63}, {64, 307}, {300, 700}, {40, 2100}};
  static Sample sample(23);
  Random r(seed);
  for (int kind = 0; kind < KINDS; kind++) {
    int64_t wrong = 0;
    for (auto &size : sizes) {
      const Pattern p =
          make_pattern((Kind)kind, size[0], size[1], size[1] < 100 ? 0.3 : 0.12, r.next());
      for (int64_t n : some_n) {
        if (left_out() || sample.leaves_out()) continue;
        const Options o = random_options(r, (Kind)kind);
        Problem q(p, n, o, r.next());
        const int64_t bad = run_problem(q, w, product_error(w));
        if (bad)
          printf("# %lld wrong: %lld x %lld, n %lld layouts %d %d alpha %g beta %g listed %d\n",
                 (long long)bad, (long long)size[0], (long long)size[1], (long long)n, o.b_layout,
                 o.c_layout, o.alpha, o.beta, o.listed);
        wrong += bad;
      }
    }
    check(wrong == 0, "%d x TF32, tile %d, %s, all sizes", w.products, w.tile, kind_name[kind]);
  }
}

static void set_bits(Buffer &b, int64_t i, uint32_t bits)
{
  memcpy(b.host.data() + 4 * i, &bits, 4);
}

// NaN and Inf in rows of B that some rows of a group name and others do not, NaN that TF32 would
// take for Inf, stored zeros that meet them, and the largest number.
static void test_nonfinite(const Way &w, Kind kind)
{
  const Pattern p = make_pattern(kind, 24, 900, 0.1, 5);
  Options o = options();
  o.height = height_of(kind);
  o.beta = kind == TWOS ? 0.5 : 0;
  Problem q(p, 72, o, 6);
  for (int64_t row : {0, 3, 9, 17, 22}) {
    const int64_t from = p.offsets[(size_t)row], to = p.offsets[(size_t)row + 1];
    const int64_t first = p.columns[(size_t)from], last = p.columns[(size_t)to - 1];
    store(q.b.host.data(), q.bl.at(first, 3 + row), SHUNT_F32, NAN);
    set_bits(q.b, q.bl.at(last, 30 + row), 0x7f800001);
    store(q.b.host.data(), q.bl.at(last, 40 + row), SHUNT_F32, row % 2 ? INFINITY : -INFINITY);
    if (row % 2) store(q.values.host.data(), from, SHUNT_F32, 0);
  }
  set_bits(q.values, p.offsets[2], 0xff800010);
  q.values.upload();
  q.b.upload();
  q.pack();
  check(run_problem(q, w, product_error(w)) == 0, "NaN and Inf, %d x TF32, tile %d, %s", w.products,
        w.tile, kind_name[kind]);
}

// What TF32 holds stays as it is: small whole numbers, whose sums f32 holds.
static void test_whole(const Way &w)
{
  const Pattern p = make_pattern(FOURS, 80, 700, 0.2, 7);
  Options o = options();
  o.height = 4;
  Problem q(p, 70, o, 8);
  Random r(9);
  for (int64_t e = 0; e < p.nnz(); e++)
    store(q.values.host.data(), e, SHUNT_F32, (double)(r.below(1023) - 511));
  for (int64_t k = 0; k < p.cols; k++)
    for (int64_t j = 0; j < 70; j++)
      store(q.b.host.data(), q.bl.at(k, j), SHUNT_F32, (double)(r.below(63) - 31));
  q.values.upload();
  q.b.upload();
  q.pack();
  const std::vector<char> before = q.c.host;
  bool good = call(q, w, 0) == SHUNT_OK;
  CUDA_OK(cudaDeviceSynchronize());
  q.c.download();
  int64_t wrong = 0;
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < 70; j++) {
      double sum = 0;
      for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++)
        sum += load(q.values.host.data(), e, SHUNT_F32) *
               load(q.b.host.data(), q.bl.at(p.columns[(size_t)e], j), SHUNT_F32);
      wrong += load(q.c.host.data(), q.cl.at(i, j), SHUNT_F32) != sum;
    }
  check(good && wrong == 0, "whole numbers are exact, %d x TF32, tile %d", w.products, w.tile);
}

static void test_repeats(const Way &w)
{
  const Pattern p = make_pattern(FOURS, sized(520, 264), sized(2100, 1700), 0.1, 9);
  Options o = options();
  o.height = 4;
  Problem q(p, sized(200, 72), o, 10);
  constexpr int calls = sized(20, 2);
  const bool same = repeats(q, calls, [&] { return call(q, w, 0) == SHUNT_OK; });
  check(same, "%d calls give the same bits, %d x TF32, tile %d", calls, w.products, w.tile);
}

// The tile that is chosen, and the twin, which is in f32.
static void test_twin_and_choice()
{
  const Pattern p = make_pattern(FOURS, 72, 600, 0.1, 21);
  Options o = options();
  o.height = 4;
  Problem q(p, 64, o, 22);
  for (int products : {1, 3}) {
    const double vectors = shunt_cost_vectors_of(&q.spmm.a, q.v.height);
    const Way chosen = {
        products, shunt_choose_vector_tf32_tile(&q.spmm, vectors, products, machine_of(q.device))};
    check(run_problem(q, chosen, product_error(chosen)) == 0, "the chosen tile is right, %d x TF32",
          products);
  }
  check(twin_is_right(q), "the twin is right");
}

static void test_costs()
{
  shunt_device d = {};
  d.multiprocessors = 132, d.compute_capability = 90, d.shared_per_block = 232448;
  shunt_spmm p = {};
  p.a.rows = p.a.cols = 4096;
  p.b.cols = 1024;
  const auto us = [&](double density, int products) {
    return shunt_cost_vector_tf32_product(&p, 512 * 4096 * density, products, machine_of(d));
  };
  check(us(0.3, 1) < us(0.3, 3) && us(0.1, 1) < us(0.1, 3), "three products cost more than one");
  check(us(0.1, 1) < us(0.3, 1), "few vectors cost less than many");
}

static void test_declined()
{
  const Pattern p = make_pattern(EIGHTS, 16, 64, 0.2, 13);
  const Way w = {1, 64};
  Options o = options();
  o.b_layout = 3;
  Problem q(p, 64, o, 14);
  const size_t bytes = shunt_vector_packed_spmm_workspace(&q.spmm);
  const auto with = [&](int products, int tile, void *workspace, size_t size) {
    return shunt_vector_packed_spmm_tf32_cuda(&q.spmm, &q.v, products, tile, &q.device, workspace,
                                              size, 0);
  };
  void *room = q.workspace.device;
  check(shunt_vector_packed_spmm_tf32_takes(&q.spmm, &q.device), "f32 is taken");
  check(with(1, 64, nullptr, 0) == SHUNT_E_WORKSPACE, "not without the workspace it asks for");
  check(with(3, 64, room, bytes - 1) == SHUNT_E_WORKSPACE, "nor with a small one");
  check(with(2, 64, room, bytes) == SHUNT_E_ARGUMENT, "two products are declined");
  for (int tile : {0, 128})
    check(with(1, tile, room, bytes) == SHUNT_E_ARGUMENT, "so is a tile of %d columns", tile);
  const shunt_vector_shape direct = {0, 64, 0}, strips = {256, 64, 0};
  for (const shunt_vector_shape &s : {direct, strips})
    check(shunt_vector_packed_spmm_shaped_cuda(&q.spmm, &q.v, &s, &q.device, room, bytes, 0) ==
              SHUNT_E_UNSUPPORTED,
          "f32 is not multiplied as 16-bit values, %d rows", s.rows);
  q.v.order = SHUNT_VECTOR_SEQUENTIAL;
  check(call(q, w, 0) == SHUNT_E_UNSUPPORTED, "the sequential order is declined");
  q.v.order = SHUNT_VECTOR_WINDOWED;
  q.spmm.b.type = SHUNT_F64;
  check(call(q, w, 0) == SHUNT_E_UNSUPPORTED, "so is B in f64");
  q.spmm.b.type = SHUNT_F32;
  q.device.compute_capability = 80;
  check(call(q, w, 0) == SHUNT_E_UNSUPPORTED, "and all before 9.0");
  q.device.compute_capability = 90;
  q.device.shared_per_block = 101376;
  check(!shunt_vector_packed_spmm_tf32_takes(&q.spmm, &q.device), "and where the ring has no room");
}

// ---- timing -----------------------------------------------------------------------------

static void time_case(Kind kind, int64_t size, int64_t n, double density)
{
  const Pattern p = make_pattern(kind, size, size, density, 17);
  Options o = options();
  o.height = height_of(kind);
  Problem q(p, n, o, 18);
  Buffer room(shunt_vector_csr_spmm_workspace(&q.spmm, &q.device) + 256);
  const double direct = time_graph([&](cudaStream_t s) {
    if (shunt_vector_csr_spmm_cuda(&q.spmm, &q.device, room.device, room.host.size(), s)) exit(3);
  });
  printf("time %5lld %5lld %.2f %-7s direct, f32 %7.1f us\n", (long long)size, (long long)n,
         1 - density, kind_name[kind], direct);
  for (const Way &w : ways) {
    const double us = time_graph([&](cudaStream_t s) {
      if (call(q, w, s) != SHUNT_OK) exit(3);
    });
    // Shared memory, 128 bytes a clock of 132 at 1.755 GHz: in, and out.
    const double tiles = ceil((double)n / w.tile), blocks = ceil((double)size / 256);
    const double bytes =
        (blocks * (double)size + 16.0 * (double)q.counts.steps) * tiles * w.tile * 4;
    const double bound = bytes / 128 / 132 / 1755;
    printf("time %5lld %5lld %.2f %-7s %d x TF32, tile %2d %7.1f us  %.2f of direct  bound %6.1f\n",
           (long long)size, (long long)n, 1 - density, kind_name[kind], w.products, w.tile, us,
           us / direct, bound);
    fflush(stdout);
  }
}

int main(int argc, char **argv)
{
  bool timed = false, tested = true;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--time")) timed = true;
    if (!strcmp(argv[i], "--only-time")) timed = true, tested = false;
  }
  if (tested && this_device().compute_capability < 90) {
    skip("strips need compute capability 9.0");
    return finish();
  }
  if (tested) {
    Sample nonfinite(2);
    for (const Way &w : ways) {
      test_way(w, 20261123);
      for (Kind kind : {EIGHTS, SIXTEENS, FOURS, TWOS, HOLES})
        if (!nonfinite.leaves_out()) test_nonfinite(w, kind);
      test_whole(w);
      test_repeats(w);
    }
    test_twin_and_choice();
    test_costs();
    test_declined();
  }
  if (timed)
    for (Kind kind : {EIGHTS, FOURS})
      for (double density : {0.3, 0.1}) {
        time_case(kind, 4096, 1024, density);
        time_case(kind, 8192, 256, density);
        time_case(kind, 4096, 256, density);
      }
  return tested ? finish() : 0;
}
