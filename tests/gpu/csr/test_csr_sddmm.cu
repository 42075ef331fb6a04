// test_csr_sddmm.cu: the SDDMM kernels of the csr and vector routes against float64.
//
// Every problem poisons what must not be read: padding, rows of A and columns of B
// without entries, and C.values where beta is 0, all hold NaN.
//
//   test_csr_sddmm          the checks
//   test_csr_sddmm --time   and then timings (time_sddmm.cuh)
#include "kernels/csr/csr_sddmm_operands.cuh"
#include "tests/gpu/csr/sddmm_problem.cuh"
#include "tests/gpu/csr/time_sddmm.cuh"

using namespace harness;

static void test_kernel(const Kernel &kernel, const shunt_device &d)
{
  static const int64_t inner[] = {0, 1, 7, 8, 16, 17, 64, 100, 256, 272};
  int turn = 0;
  Sample sample(11);
  for (const Named &n : patterns())
    for (int types = 0; types < 6; types++) {
      bool none_built = kernel.launch == VECTOR.launch && IN[types] == SHUNT_F64;
      bool good = true;
      char what[160] = "";
      for (int64_t k : inner)
        for (int layout = 0; layout < 4 && good; layout++, turn++) {
          if (sample.leaves_out() || left_out()) continue;
          Problem problem(setup_for(types, k, turn), n.pattern, (uint64_t)turn);
          shunt_status status = problem.run(kernel, d);
          int64_t wrong = status == SHUNT_OK ? problem.wrong() : -1;
          good = none_built ? status == SHUNT_E_UNSUPPORTED : status == SHUNT_OK && wrong < 0;
          if (!good)
            snprintf(what, sizeof what,
                     ": K %d a %d b %d pad %d shift %d i%d base %d: status %d, "
                     "entry %d",
                     (int)k, problem.s.a_rows, problem.s.b_rows, (int)problem.s.pad,
                     (int)problem.s.shift, problem.s.index == SHUNT_I64 ? 64 : 32, problem.s.base,
                     status, (int)wrong);
        }
      check(good, "%s, %s, %s -> %s%s", kernel.name, n.name, type_name(IN[types]),
            type_name(OUT[types]), what);
    }
}

// A device full of warps.  At density 0.3 and 2 KB a column, `csr` cuts into panels.
static void test_large(const Kernel &kernel, shunt_device d)
{
  d.multiprocessors = sized(d.multiprocessors, 4);
  const int64_t rows = sized(1003, 203), cols = sized(900, 300);
  static const int group[] = {1, 8, 8, 1};
  static const double density[] = {0.02, 0.05, 0.3, 0.3};
  for (int n = 0; n < 4; n++) {
    Pattern p = random_pattern(rows, cols, density[n], group[n], (uint64_t)n + 20);
    Random r(1);
    for (int64_t i = 0; n == 3 && i < p.rows; i += 3) // every third row unsorted
      for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1]; at++)
        std::swap(p.columns[(size_t)at],
                  p.columns[(size_t)(at + r.below(p.offsets[(size_t)i + 1] - at))]);
    for (int types = 0; types < 6; types += 2) {
      shunt_type in = IN[types == 4 && n == 3 ? 5 : types];
      if ((kernel.launch == VECTOR.launch && in == SHUNT_F64) || left_out()) continue;
      Setup s = setup_for(types, n == 1 ? 72 : 2048 / (int64_t)shunt_type_size(in) + n, 4 * n + 1);
      s.in = in;
      s.out = in == SHUNT_F64 ? SHUNT_F64 : s.out;
      s.shift = 0;
      Problem problem(s, p, 5);
      shunt_status status = problem.run(kernel, d);
      int64_t wrong = status == SHUNT_OK ? problem.wrong() : 0;
      check(status == SHUNT_OK && wrong < 0, "%s, %d x %d, groups of %d, density %g, %s",
            kernel.name, (int)rows, (int)cols, group[n], density[n], type_name(in));
    }
  }
}

static void test_repeats(const Kernel &kernel, const shunt_device &d)
{
  constexpr int runs = sized(20, 3);
  Pattern p = mixed_groups(sized(600, 100), 0.4, 9);
  for (int types = 0; types < 6; types += 2) {
    if (kernel.launch == VECTOR.launch && IN[types] == SHUNT_F64) continue;
    Setup s = setup_for(types, 200, 1);
    s.beta = 0;
    s.shift = 0;
    Problem problem(s, p, 3);
    std::vector<char> before = problem.c.values.host, first;
    bool same = true;
    for (int i = 0; i < runs && same; i++) {
      same = problem.run(kernel, d) == SHUNT_OK;
      problem.c.values.download();
      if (i == 0) first = problem.c.values.host;
      same = same && first == problem.c.values.host;
      problem.c.values.host = before;
    }
    check(same, "%s, %s: %d runs, the same bits", kernel.name, type_name(IN[types]), runs);
  }
}

// All rows of A alike and all columns of B: then all entries have the same bits, in whatever
// row, batch or team they stand, or the order of additions depends on more than K.
static void test_order(const Kernel &kernel, const shunt_device &d)
{
  for (int types = 0; types < 6; types++) {
    bool same = true;
    for (const Named &n : patterns())
      for (int64_t k : {33, 100, 272}) {
        if (left_out()) continue;
        Setup s = setup_for(types, k, 1);
        s.alpha = 1;
        s.beta = 0;
        Problem problem(s, n.pattern, 7);
        Random r((uint64_t)k);
        for (int64_t at = 0; at < k; at++) {
          const double x = r.value(), y = r.value();
          for (int64_t i = 0; i < n.pattern.rows; i++) problem.a.set(i, at, x);
          for (int64_t j = 0; j < n.pattern.cols; j++) problem.b.set(at, j, y);
        }
        problem.a.bytes.upload();
        problem.b.bytes.upload();
        same = same && problem.run(kernel, d) == SHUNT_OK;
        problem.c.values.download();
        const std::vector<char> &out = problem.c.values.host;
        const size_t size = shunt_type_size(s.out), nnz = (size_t)n.pattern.nnz();
        same = same && (nnz == 0 || problem.wrong() < 0);
        for (size_t at = 1; at < nnz && same; at++) same = !memcmp(&out[0], &out[at * size], size);
      }
    check(same, "%s, %s -> %s: an entry's bits do not depend on its place", kernel.name,
          type_name(IN[types]), type_name(OUT[types]));
  }
}

// Square, this many rows: opt1's, one place in `places` stored, B by columns of k elements.
static bool takes_panels(int64_t k, int64_t places, shunt_type type = SHUNT_F32)
{
  constexpr int64_t ROWS = 15449;
  shunt_device d = {};
  d.multiprocessors = 132;
  d.shared_per_block = 227 << 10;
  shunt_sddmm task = {};
  task.a = shunt_dense{ROWS, k, k, 1, nullptr, type};
  task.b = shunt_dense{k, ROWS, 1, k, nullptr, type};
  task.c =
      shunt_csr{ROWS, ROWS, ROWS * (ROWS / places), nullptr, nullptr, nullptr, SHUNT_I32, type, 0};
  shunt::csr::sddmm::operands ready = {};
  ready.aligned = true;
  return shunt::csr::sddmm::panel_pays(&task, ready, &d);
}

// Sizes alone decide about panels.
static void test_panel_choice()
{
  check(takes_panels(256, 10) && !takes_panels(256, 124) && !takes_panels(32, 124),
        "csr: panels for one place in 10, none for one in 124");
  check(!takes_panels(32, 10) && !takes_panels(128, 10),
        "csr: no panels where a column is shorter than a warp's slab");
  check(takes_panels(512, 10, SHUNT_F64) && !takes_panels(512, 10, SHUNT_F16) &&
            !takes_panels(1024, 10, SHUNT_I8),
        "csr: nor in types of fewer than 4 bytes");
}

// 32-bit places of columns end at 64 GB of B.
static void test_too_large(const shunt_device &d)
{
  Buffer room(64);
  shunt_sddmm task = {};
  task.a = shunt_dense{1, 16, 16, 1, room.device, SHUNT_F32};
  task.b = shunt_dense{16, INT32_MAX, 1, 16, room.device, SHUNT_F32};
  task.c =
      shunt_csr{1, INT32_MAX, 1, room.device, room.device, room.device, SHUNT_I32, SHUNT_F32, 0};
  task.compute = SHUNT_F32;
  check(shunt_csr_sddmm_cuda(&task, {}, &d, nullptr, 0, 0) == SHUNT_E_UNSUPPORTED,
        "csr: 128 GB of B with 32-bit indices are refused");
}

static void test_refusals(const Kernel &kernel, const shunt_device &d)
{
  Pattern p = random_pattern(20, 20, 0.3, 1, 1);
  Problem problem(setup_for(4, 16, 3), p, 3); // both row-major: B must be copied
  if (&kernel != &CSR && &kernel != &DIRECT)
    check(kernel.workspace(&problem.task, &d) > 0 &&
              kernel.launch(&problem.task, &d, nullptr, 0, 0) == SHUNT_E_WORKSPACE,
          "%s: a missing workspace is refused", kernel.name);
  problem.task.a.cols = 15;
  check(kernel.launch(&problem.task, &d, nullptr, 0, 0) == SHUNT_E_ARGUMENT,
        "%s: shapes that differ are refused", kernel.name);
  problem.task.a.cols = 16;
  problem.task.compute = SHUNT_F64;
  check(kernel.launch(&problem.task, &d, nullptr, 0, 0) == SHUNT_E_UNSUPPORTED,
        "%s: an unknown compute type is refused", kernel.name);
}

int main(int argc, char **argv)
{
  shunt_device d = this_device();
  for (const Kernel *kernel : {&CSR, &DIRECT, &COPIED, &CROWDED, &ALIKE, &VECTOR}) {
    test_kernel(*kernel, d);
    test_large(*kernel, d);
    test_repeats(*kernel, d);
    if (kernel != &VECTOR) test_order(*kernel, d);
    test_refusals(*kernel, d);
  }
  shunt_device few = d;
  few.multiprocessors = 1; // so the wide tiles are taken
  test_kernel(DIRECT, few);
  test_panel_choice();
  test_too_large(d);
  if (argc > 1 && !strcmp(argv[1], "--time")) time_sddmm(d);
  return finish();
}
