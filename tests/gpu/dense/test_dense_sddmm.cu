// test_dense_sddmm.cu: SDDMM by the dense product that is sampled on the chip, against float64: all
// types, orders and sizes; several tiles a block, rows of tiles cut anywhere; rows not sorted.
//
//   test_dense_sddmm          the checks
//   test_dense_sddmm --time   and then timings by graph replays: "time dense-8x1 f16 rc 256 0.9 us"
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/csr/sddmm_problem.cuh"

using namespace harness;

static bool on_16_bytes(const shunt_dense &m)
{
  const shunt_dense t =
      m.col_stride == 1 ? m : shunt_dense{m.cols, m.rows, m.col_stride, 1, m.values, m.type};
  return t.col_stride == 1 && (size_t)t.values % 16 == 0 && t.row_stride * 2 % 16 == 0;
}

// Whether the kernel is to take it.
static bool taken(const Problem &x)
{
  return x.s.k > 0 && !x.task.beta.device && x.task.beta.host == 0 && x.task.a.col_stride == 1 &&
         on_16_bytes(x.task.a) && on_16_bytes(x.task.b);
}

// Right, or refused with good reason.
static bool right(Problem &x, const shunt_device &d, int *count)
{
  const shunt_status status = x.run(DENSE, d);
  if (x.p.nnz() == 0) return status == SHUNT_OK || !taken(x);
  if (!taken(x)) return status == SHUNT_E_UNSUPPORTED;
  ++*count;
  const int64_t wrong = status == SHUNT_OK ? x.wrong() : 0;
  if (wrong >= 0)
    printf("# K %d a %d b %d pad %d shift %d i%d base %d beta %g on device %d, multiprocessors %d: "
           "status %d, entry %d\n",
           (int)x.s.k, x.s.a_rows, x.s.b_rows, (int)x.s.pad, (int)x.s.shift,
           x.s.index == SHUNT_I64 ? 64 : 32, x.s.base, x.s.beta, x.s.device_scalars,
           d.multiprocessors, status, (int)wrong);
  return wrong < 0;
}

static void test_patterns(const shunt_device &all)
{
  static const int64_t inner[] = {0, 1, 7, 64, 100, 272};
  int turn = 0, cases = 0, all_right = 0;
  Sample sample(3);
  for (const Named &n : patterns())
    for (int types = 0; types < 4; types++) {
      bool good = true;
      int count = 0;
      for (int64_t k : inner)
        for (int layout = 0; layout < 4 && good; layout++, turn++) {
          if (beyond(k, 100) || sample.leaves_out()) continue;
          Setup s = setup_for(types, k, turn);
          if (turn % 4) { // as a rule the kernel's, where B is column-major
            s.a_rows = true;
            s.pad = (8 - k % 8) % 8;
          }
          if (turn % 8) s.beta = 0;
          Problem x(s, n.pattern, (uint64_t)turn);
          if (turn % 8) x.task.beta = {nullptr, 0};
          shunt_device d = all;
          if (turn % 2) d.multiprocessors = 1 + turn % 3;
          good = right(x, d, &count);
          cases++;
        }
      check(good, "%s, %s -> %s: %d right, others refused", n.name, type_name(IN[types]),
            type_name(OUT[types]), count);
      all_right += count;
    }
  check(6 * all_right > cases, "of %d cases %d are not refused", cases, all_right);
}

// Every third row not sorted, if so wanted.
static Pattern large_pattern(double density, int group, bool sorted)
{
  Pattern p =
      random_pattern(sized(1003, 303), sized(900, 500), density, group, 20 + (uint64_t)group);
  Random r(1);
  for (int64_t i = 0; !sorted && i < p.rows; i += 3)
    for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1]; at++)
      std::swap(p.columns[(size_t)at],
                p.columns[(size_t)(at + r.below(p.offsets[(size_t)i + 1] - at))]);
  return p;
}

// Tiles: 8 x 4 or 8 x 8, dealt out to any number of blocks.
static void test_large(const shunt_device &all)
{
  static const double density[] = {0.02, 0.1, 0.3, 0.7};
  int turn = 0;
  Sample sample(7);
  for (int n = 0; n < 4; n++)
    for (int sorted = 0; sorted < 2; sorted++) {
      const Pattern p = large_pattern(density[n], n % 2 ? 8 : 1, sorted);
      bool good = true;
      int count = 0;
      for (int blocks : {1, 3, 7, 132})
        for (int types = 0; types < 4; types++, turn++) {
          if (sample.leaves_out()) continue;
          Setup s = setup_for(types, 72, turn);
          s.a_rows = true;
          s.b_rows = (turn / 2) & 1;
          s.k = s.b_rows ? 76 : 72; // both rows of 80, and B's of 904
          s.pad = s.b_rows ? 4 : 8;
          s.shift = 0;
          s.beta = 0;
          Problem x(s, p, 5);
          x.task.beta = {nullptr, 0};
          shunt_device d = all;
          d.multiprocessors = blocks;
          good &= right(x, d, &count);
        }
      check(good, "%d x %d, density %g, %s: %d right", (int)p.rows, (int)p.cols, density[n],
            sorted ? "sorted" : "some rows not sorted", count);
    }
}

// The same bits however often, by however many blocks.
static void test_repeats(const shunt_device &all)
{
  const Pattern p = random_pattern(300, 600, 0.4, 1, 9);
  for (int types = 0; types < 4; types++) {
    Setup s = setup_for(types, 200, 1);
    s.a_rows = s.b_rows = true;
    s.beta = 0;
    s.shift = 0;
    s.pad = 0;
    Problem x(s, p, 3);
    x.task.beta = {nullptr, 0};
    const std::vector<char> before = x.c.values.host;
    std::vector<char> first;
    bool same = true;
    for (int i = 0; i < 12 && same; i += sized(1, 4)) {
      shunt_device d = all;
      d.multiprocessors = 1 + i;
      same = x.run(DENSE, d) == SHUNT_OK;
      x.c.values.download();
      if (first.empty()) first = x.c.values.host;
      same = same && first == x.c.values.host;
      x.c.values.host = before;
    }
    check(same, "%s -> %s: %d runs by 1 to 12 blocks, the same bits", type_name(IN[types]),
          type_name(OUT[types]), sized(12, 3));
  }
}

// Replays read A anew, and write no more than C.
static void test_capture(const shunt_device &d)
{
  const Pattern p = random_pattern(300, 600, 0.2, 1, 10);
  Setup s = setup_for(0, 136, 1);
  s.a_rows = s.b_rows = true;
  s.alpha = 1;
  s.beta = 0;
  s.shift = s.pad = 0;
  Problem x(s, p, 4);
  x.task.beta = {nullptr, 0};
  Captured calls([&](cudaStream_t stream) {
    return shunt_dense_sddmm_cuda(&x.task, &d, (shunt_stream)stream) == SHUNT_OK &&
           shunt_dense_sddmm_cuda(&x.task, &d, (shunt_stream)stream) == SHUNT_OK;
  });
  bool good = calls.good;
  for (int i = 0; i < 3 && good; i++) {
    for (int64_t k = 0; k < s.k; k++) x.a.set(7, k, x.random.value());
    x.a.bytes.upload();
    x.c.values.upload();
    CUDA_OK(cudaDeviceSynchronize());
    calls.replay();
    good = x.wrong() < 0;
  }
  check(good, "captured: replays read their operands anew");
}

static void test_refusals(const shunt_device &d)
{
  const Pattern p = random_pattern(20, 24, 0.3, 1, 1);
  Setup s = setup_for(0, 16, 3);
  s.pad = s.shift = 0;
  s.a_rows = s.b_rows = true;
  s.beta = 0;
  Problem x(s, p, 3);
  x.task.beta = {nullptr, 0};
  check(shunt_dense_sddmm_takes(&x.task, &d), "what it takes it says");
  x.task.beta.host = 1;
  check(shunt_dense_sddmm_cuda(&x.task, &d, 0) == SHUNT_E_UNSUPPORTED, "beta is refused");
  x.task.beta.host = 0;
  x.task.c.value_type = SHUNT_BF16;
  check(shunt_dense_sddmm_cuda(&x.task, &d, 0) == SHUNT_E_UNSUPPORTED,
        "another type of C is refused");
  x.task.c.value_type = SHUNT_F16;
  x.task.a.cols = 15;
  check(shunt_dense_sddmm_cuda(&x.task, &d, 0) == SHUNT_E_ARGUMENT,
        "shapes that differ are refused");
  x.task.a.cols = 16;
  x.task.compute = SHUNT_F64;
  check(shunt_dense_sddmm_cuda(&x.task, &d, 0) == SHUNT_E_UNSUPPORTED,
        "an unknown compute type is refused");
  x.task.compute = SHUNT_F32;
  shunt_device other = d;
  other.compute_capability = 100;
  check(shunt_dense_sddmm_cuda(&x.task, &other, 0) == SHUNT_E_UNSUPPORTED,
        "another device is refused");
}

// ---- times --------------------------------------------------------------------------------------

static void fill(Matrix &m, uint64_t seed)
{
  Random r(seed);
  uint16_t *to = (uint16_t *)m.bytes.host.data();
  for (size_t i = 0; i < m.bytes.host.size() / 2; i++) { // +-[0.5, 1)
    const uint64_t x = r.next();
    to[i] = (uint16_t)((x & 0x83ff) | 0x3800);
  }
  m.bytes.upload();
}

static void time_case(const shunt_device &d, int64_t n, int64_t k, double sparsity, int group,
                      bool b_rows, shunt_type out = SHUNT_F16)
{
  const Pattern p = random_pattern(n, n, 1 - sparsity, group, 42);
  Random r(1);
  Matrix a(n, k, true, 0, 0, SHUNT_F16), b(k, n, b_rows, 0, 0, SHUNT_F16);
  fill(a, 2);
  fill(b, 3);
  Sparse c(p, SHUNT_I32, 0, out, 0, r);
  const shunt_sddmm task = {a.device, b.device, c.device, {nullptr, 1}, {nullptr, 0}, SHUNT_F32};
  for (const Kernel *kernel : {&DENSE, &VECTOR}) {
    if (kernel == &VECTOR && group == 1) continue;
    const size_t bytes = kernel->workspace(&task, &d);
    Buffer room(bytes);
    printf("time %s-%dx1 f16 -> %s %d r%c %d %g %.2f\n", kernel->name, group, type_name(out),
           (int)n, b_rows ? 'r' : 'c', (int)k, sparsity, time_graph([&](cudaStream_t stream) {
             kernel->launch(&task, &d, room.device, bytes, (shunt_stream)stream);
           }));
    fflush(stdout);
  }
}

static void time_all(const shunt_device &d)
{
  for (int64_t k : {256, 512, 1024})
    for (double sparsity : {0.7, 0.8, 0.9, 0.95})
      for (int group : {1, 8}) time_case(d, 4096, k, sparsity, group, group == 8);
  for (int64_t k : {64, 256, 1024})
    for (double sparsity : {0.8, 0.9, 0.95}) time_case(d, 4096, k, sparsity, 1, false, SHUNT_F32);
  for (int group : {1, 8}) {
    time_case(d, 4096, 1024, 0.9, group, group == 1);
    time_case(d, 2048, 1024, 0.9, group, false);
  }
}

int main(int argc, char **argv)
{
  const shunt_device d = this_device();
  if (argc < 3) {
    test_patterns(d);
    test_large(d);
    test_repeats(d);
    test_capture(d);
    test_refusals(d);
  }
  if (argc > 1 && !strcmp(argv[1], "--time")) time_all(d);
  return finish();
}
