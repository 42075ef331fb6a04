// test_vector_packed_spmm.cu: shunt_vector_packed_spmm_shaped_cuda against float64, in every shape.
//
// Every pattern meets every width and shape; types, layouts, scalars rotate with a fixed
// random sequence.  Rows of B that no vector names hold NaN and Inf throughout.
//   --time        also times the shapes that the project has targets for
//   --only-time   times without testing
//   --brief       (with either) 16 of these cases only, every shape
//   --sixteens    (with either) 16 x 1 vectors only
#include "tests/gpu/common/machine.cuh"
#include "tests/gpu/vector/vector_spmm_problem.cuh"

static shunt_status call(Problem &q, const shunt_vector_shape &s, cudaStream_t stream)
{
  return shunt_vector_packed_spmm_shaped_cuda(&q.spmm, &q.v, &s, &q.device, q.workspace.device,
                                              q.workspace.host.size() - 64, stream);
}

static int64_t run_problem(Problem &q, const shunt_vector_shape &s)
{
  return run_once(q, [&] { return call(q, s, 0); });
}

static const shunt_vector_shape shapes[] = {
    {0, 64, 0},  {0, 64, 1},     {0, 64, 2},     {0, 64, 3},   {0, 128, 0},
    {0, 128, 1}, {0, 128, 0, 1}, {0, 128, 2, 1}, {256, 64, 0}, {256, 128, 0},
};

// ---- tests -----------------------------------------------------------------------------

static Options random_options(Random &r, Kind kind)
{
  Options o;
  o.type = r.below(2) ? SHUNT_F16 : SHUNT_BF16;
  o.out = r.below(2) ? o.type : SHUNT_F32;
  o.b_layout = (int)r.below(5);
  o.c_layout = (int)r.below(5);
  o.height = height_of(kind);
  if (r.below(2)) o.alpha = 1.5, o.beta = r.below(3) ? -0.75 : 0;
  o.device_scalars = r.below(2);
  return o;
}

static void test_shape(const shunt_vector_shape &s, uint64_t seed)
{
  static const int64_t some_n[] = {1, 8, 63, 64, 65, 136, 200, 257};
  static const int64_t sizes[][2] = {{1, 5}, {8, 64}, {9, 63}, {64, 307}, {300, 700}, {40, 2100}};
  static Sample sample(23);
  Random r(seed);
  char name[40];
  name_shape(s, name);
  for (int kind = 0; kind < KINDS; kind++) {
    int64_t wrong = 0;
    for (auto &size : sizes) {
      const Pattern p =
          make_pattern((Kind)kind, size[0], size[1], size[1] < 100 ? 0.3 : 0.12, r.next());
      for (int64_t n : some_n) {
        if (left_out() || sample.leaves_out()) continue;
        Options o = random_options(r, (Kind)kind);
        if (s.rows == 0 && r.below(2)) o.order = SHUNT_VECTOR_SEQUENTIAL;
        if (r.below(3) == 0) o.listed = true, o.height = 1;
        Problem q(p, n, o, r.next());
        const int64_t w = run_problem(q, s);
        if (w)
          printf("# %lld wrong: %lld x %lld, n %lld types %d %d order %d layouts %d %d alpha %g "
                 "beta %g device %d listed %d\n",
                 (long long)w, (long long)size[0], (long long)size[1], (long long)n, o.type, o.out,
                 o.order, o.b_layout, o.c_layout, o.alpha, o.beta, o.device_scalars, o.listed);
        wrong += w;
      }
    }
    check(wrong == 0, "%s, %s, all sizes", name, kind_name[kind]);
  }
}

// NaN and Inf in rows of B that some rows of a group name and others do not; stored zeros
// that meet them; unused slots.
static void test_nonfinite(const shunt_vector_shape &s, shunt_type type, Kind kind,
                           bool listed = false)
{
  const Pattern p = make_pattern(kind, 24, 900, 0.1, 5);
  char name[40];
  name_shape(s, name);
  Options o;
  o.type = o.out = type;
  o.height = listed ? 1 : height_of(kind);
  o.listed = listed;
  o.beta = kind == TWOS ? 0.5 : 0;
  Problem q(p, 72, o, 6);
  for (int64_t row : {0, 3, 9, 17, 22}) {
    const int64_t from = p.offsets[(size_t)row], to = p.offsets[(size_t)row + 1];
    const int64_t first = p.columns[(size_t)from], last = p.columns[(size_t)to - 1];
    store(q.b.host.data(), q.bl.at(first, 3 + row), type, NAN);
    store(q.b.host.data(), q.bl.at(last, 40 + row), type, row % 2 ? INFINITY : -INFINITY);
    if (row % 2) store(q.values.host.data(), from, type, 0);
  }
  q.values.upload();
  q.b.upload();
  q.pack();
  check(run_problem(q, s) == 0, "NaN and Inf, %s, %s, type %d%s", name, kind_name[kind], type,
        listed ? ", rows in another order" : "");
}

static void test_repeats(const shunt_vector_shape &s)
{
  const Pattern p = make_pattern(FOURS, sized(520, 264), sized(2100, 1700), 0.1, 9);
  char name[40];
  name_shape(s, name);
  Options o;
  o.height = 4;
  Problem q(p, sized(200, 72), o, 10);
  constexpr int calls = sized(20, 2);
  const bool same = repeats(q, calls, [&] { return call(q, s, 0) == SHUNT_OK; });
  check(same, "%d calls give the same bits, %s", calls, name);
}

// The twin, the chosen shape, and another packed order agree with float64 as well.
static void test_twin_and_choice()
{
  const Pattern p = make_pattern(FOURS, 72, 600, 0.1, 21);
  Options o;
  o.out = SHUNT_F32;
  o.height = 4;
  for (shunt_vector_order order : {SHUNT_VECTOR_SEQUENTIAL, SHUNT_VECTOR_WINDOWED}) {
    o.order = order;
    Problem q(p, 64, o, 22);
    check(run_problem(q, shunt_choose_vector_shape_of(&q.spmm, &q.v, machine_of(q.device))) == 0,
          "the chosen shape is right, order %d", order);
    check(twin_is_right(q), "the twin is right, order %d", order);
  }
}

// The order and the shape that sizes alone decide, where the two ways are far apart.
static void test_choice()
{
  shunt_device d = {};
  d.multiprocessors = 132, d.compute_capability = 90, d.shared_per_block = 232448;
  shunt_spmm p = {};
  p.a.rows = p.a.cols = p.b.rows = p.c.rows = 4096;
  p.b.cols = p.c.cols = 1024;
  shunt_vector v = {};
  v.rows = v.cols = 4096, v.height = 8, v.order = SHUNT_VECTOR_WINDOWED;
  const auto order = [&](double density) {
    p.a.nnz = (int64_t)(4096 * 4096 * density);
    return shunt_choose_vector_order(&p, 8, machine_of(d));
  };
  check(order(0.02) == SHUNT_VECTOR_SEQUENTIAL, "few vectors are gathered directly");
  check(order(0.2) == SHUNT_VECTOR_WINDOWED, "many share strips");
  check(shunt_choose_vector_shape_of(&p, &v, machine_of(d)).rows == 256,
        "and a matrix packed so goes there");
  v.order = SHUNT_VECTOR_SEQUENTIAL;
  check(shunt_choose_vector_shape_of(&p, &v, machine_of(d)).rows == 0, "one that is not does not");
  v.height = 16;
  shunt_vector_shape s = shunt_choose_vector_shape_of(&p, &v, machine_of(d));
  check(s.rows == 0 && s.pairs && s.log2_slices == 0, "16 x 1 vectors are gathered in pairs");
  check(shunt_choose_vector_order(&p, 16, machine_of(d)) == SHUNT_VECTOR_SEQUENTIAL,
        "and packed for that");
  p.b.cols = p.c.cols = 256;
  s = shunt_choose_vector_shape_of(&p, &v, machine_of(d));
  check(s.pairs && s.log2_slices == 1, "two warps a pair where they are few");
  p.b.cols = p.c.cols = 64;
  check(!shunt_choose_vector_shape_of(&p, &v, machine_of(d)).pairs,
        "one by one where they are fewer");
  p.b.cols = p.c.cols = 1024;
  v.height = 8;
  d.compute_capability = 80;
  check(order(0.2) == SHUNT_VECTOR_SEQUENTIAL, "before 9.0 there are no strips");
  p.b.cols = 8;
  check(shunt_choose_vector_shape_of(&p, &v, machine_of(d)).log2_slices == 2,
        "few columns: a group is shared");
}

static void test_declined()
{
  const Pattern p = make_pattern(EIGHTS, 16, 64, 0.2, 13);
  Options o;
  o.b_layout = 3;
  o.order = SHUNT_VECTOR_SEQUENTIAL;
  Problem q(p, 64, o, 14);
  const shunt_vector_shape direct = {0, 64, 0}, strips = {256, 64, 0};
  const size_t bytes = shunt_vector_packed_spmm_workspace(&q.spmm);
  const auto with = [&](void *workspace, size_t size) {
    return shunt_vector_packed_spmm_shaped_cuda(&q.spmm, &q.v, &direct, &q.device, workspace, size,
                                                0);
  };
  check(with(nullptr, 0) == SHUNT_E_WORKSPACE, "no workspace for a column-major B is declined");
  check(with(q.workspace.device, bytes - 1) == SHUNT_E_WORKSPACE, "a small one too");
  check(call(q, strips, 0) == SHUNT_E_UNSUPPORTED, "strips want the windowed order");
  uint32_t word = 0;
  q.spmm.only_if = &word;
  check(call(q, direct, 0) == SHUNT_E_UNSUPPORTED, "only_if is declined");
  q.spmm.only_if = nullptr;
  q.v.order = SHUNT_VECTOR_WINDOWED;
  q.device.compute_capability = 80;
  check(call(q, strips, 0) == SHUNT_E_UNSUPPORTED, "strips are declined before 9.0");
  q.device.shared_per_block = 49152;
  check(call(q, direct, 0) == SHUNT_E_UNSUPPORTED, "so is a ring that has no room");
  q.spmm.compute = SHUNT_F64;
  check(call(q, direct, 0) == SHUNT_E_UNSUPPORTED, "compute f64 is declined");
}

// ---- timing -----------------------------------------------------------------------------

// cuBLAS, fp16, graph replays, us (limits.md and the README); 0: not measured.
static double cublas_us(int64_t size, int64_t n)
{
  if (size == 4096) return n == 64 ? 10.4 : n == 256 ? 16.3 : n == 1024 ? 41.0 : 0;
  if (size == 8192) return n == 256 ? 52.2 : n == 1024 ? 181.5 : 0;
  return 0;
}

// What binds a shape on an H200: 8.5 TB/s from L2, 128 bytes a clock of 132 shared memories
// at 1.755 GHz.
static double bound_us(const Problem &q, const shunt_vector_shape &s)
{
  const double m = (double)q.pattern.rows, k = (double)q.pattern.cols, n = (double)q.cl.cols;
  const double slots = 16.0 * (double)q.counts.steps, tiles = ceil(n / s.tile);
  const double a = (double)q.counts.steps * 320 * tiles;
  if (s.rows == 0) return ((double)q.counts.vectors * n * 2 + a) / 8.5e6;
  const double blocks = ceil(m / s.rows), rounds = ceil(blocks * tiles / 132);
  const double l2 = (blocks * k * n * 2 + a) / 8.5e6;
  const double shared = (k + slots / blocks * 1.1) * s.tile * 2 / 128 / 1755 * rounds;
  return std::max(l2, shared);
}

static void time_shape(Problem &q, const shunt_vector_shape &s, const char *v, double sparsity,
                       bool chosen)
{
  char name[40];
  name_shape(s, name);
  const double us = time_graph([&](cudaStream_t stream) {
    if (call(q, s, stream) != SHUNT_OK) exit(3);
  });
  const double dense = cublas_us(q.pattern.rows, q.cl.cols), bound = bound_us(q, s);
  printf("time %5lld %5lld %4lld V=%s %.2f %-17s %7.1f us  x cuBLAS %5.2f  bound %6.1f  %.2f%s\n",
         (long long)q.pattern.rows, (long long)q.pattern.cols, (long long)q.cl.cols, v, sparsity,
         name, us, dense / us, bound, bound / us, chosen ? "  chosen" : "");
  fflush(stdout);
}

static void time_case(const Pattern &p, Kind kind, double sparsity, int64_t n, bool all)
{
  static const char *const v[] = {"8", "16", "", "4", "2"};
  Options o;
  o.height = height_of(kind);
  o.order = SHUNT_VECTOR_SEQUENTIAL;
  {
    Problem q(p, n, o, 18);
    const shunt_vector_shape chosen =
        shunt_choose_vector_shape_of(&q.spmm, &q.v, machine_of(q.device));
    time_shape(q, chosen, v[kind], sparsity, false);
    for (const shunt_vector_shape &s : shapes)
      if (all && s.rows == 0 && memcmp(&s, &chosen, sizeof s))
        time_shape(q, s, v[kind], sparsity, false);
  }
  o.order = SHUNT_VECTOR_WINDOWED;
  Problem q(p, n, o, 18);
  const shunt_vector_shape chosen =
      shunt_choose_vector_shape_of(&q.spmm, &q.v, machine_of(q.device));
  time_shape(q, chosen, v[kind], sparsity, true);
  for (const shunt_vector_shape &s : shapes)
    if (s.rows != 0 && memcmp(&s, &chosen, sizeof s)) time_shape(q, s, v[kind], sparsity, false);
}

static void time_targets(bool brief, bool sixteens)
{
  static const int64_t sizes[][2] = {{4096, 4096}, {8192, 8192}, {2048, 1024}};
  for (auto &size : sizes)
    for (Kind kind : {SIXTEENS, EIGHTS, FOURS, TWOS})
      for (double s : {0.8, 0.9, 0.95, 0.98}) {
        if ((brief && size[0] == 2048) || (sixteens && kind != SIXTEENS)) continue;
        const Pattern p = make_pattern(kind, size[0], size[1], 1 - s, 17);
        for (int64_t n : {64, 128, 256, 512, 1024, 2048})
          if (!brief || n == 256 || n == 1024)
            time_case(p, kind, s, n,
                      kind == SIXTEENS || (brief && kind == EIGHTS && size[0] == 4096));
      }
}

int main(int argc, char **argv)
{
  bool timed = false, tested = true, brief = false, sixteens = false;
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--time")) timed = true;
    if (!strcmp(argv[i], "--only-time")) timed = true, tested = false;
    if (!strcmp(argv[i], "--brief")) brief = true;
    if (!strcmp(argv[i], "--sixteens")) sixteens = true;
  }
  if (tested) {
    Sample nonfinite(2);
    for (const shunt_vector_shape &s : shapes) {
      if (s.rows && this_device().compute_capability < 90) {
        skip("strips need compute capability 9.0");
        break;
      }
      test_shape(s, 20261121);
      for (Kind kind : {EIGHTS, SIXTEENS, FOURS, TWOS, HOLES})
        if (!nonfinite.leaves_out()) test_nonfinite(s, SHUNT_F16, kind);
      test_nonfinite(s, SHUNT_BF16, TWOS);
      test_nonfinite(s, SHUNT_F16, FOURS, true);
      test_repeats(s);
    }
    test_twin_and_choice();
    test_choice();
    test_declined();
  }
  if (timed) time_targets(brief, sixteens);
  return tested ? finish() : 0;
}
