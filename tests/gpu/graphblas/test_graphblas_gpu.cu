// test_graphblas_gpu.cu: GraphBLAS' GPU engine against the twin on the host:
// every form of the operands, the limit on device memory, several GPUs that share columns, and which
// products it takes.
//
// The program runs itself again with SHUNT_CACHE_MB and SHUNT_VERIFY set.
#include "tests/gpu/graphblas/graphblas_gpu_product.cuh"
#include "tests/gpu/graphblas/small_budget.cuh"

using namespace harness;

// ---- single products ------------------------------------------------------------------------

static void test_long_row()
{
  Case k;
  k.rows = 60;
  k.cols = 20000;
  k.density = 0.002;
  k.long_row = 17;
  k.n = 40;
  Product p(k, 7);
  fine(p, "a row of 20,000 entries");
}

static void test_unsupported()
{
  Case k;
  Product p(k, 8);
  p.x.semiring.monoid = SHUNT_MIN;
  bool right = p.run() == SHUNT_E_UNSUPPORTED;
  p.x.semiring = {SHUNT_PLUS, SHUNT_TIMES, SHUNT_I64};
  right = right && p.run() == SHUNT_E_UNSUPPORTED;
  p.x.semiring = {SHUNT_PLUS, SHUNT_ADD, SHUNT_F32};
  right = right && p.run() == SHUNT_E_UNSUPPORTED;
  p.x.semiring.multiplier = SHUNT_TIMES;
  std::vector<int8_t> some(p.x.b.rows * p.x.b.cols, 1);
  p.x.b.present = some.data();
  right = right && p.run() == SHUNT_E_UNSUPPORTED;
  check(right && p.c == p.old_c, "%s: what is not built is refused and C untouched", mode);
}

// ---- limit, devices -------------------------------------------------------------------------

static void test_limit(int64_t limit)
{
  Case k = medium();
  k.rows = k.cols = sized(12000, 2000);
  k.density = sized(0.002, 0.008);
  k.n = 3 * limit / (k.cols * 4) + 5;
  for (int form = 0; form < 4; form++) {
    k.b_by_column = form & 1;
    k.c_by_column = form & 2;
    k.accumulate = form == 3;
    Product p(k, 20 + form);
    grb_gpu_forget();
    p.name(10 + form);
    uploads(p, "B of three times the limit", 1, 1);
    uploads(p, "again: S stayed", 0, 1);
  }
}

static void test_devices()
{
  const int count = device_count();
  for (int n = 2; n <= count && n <= 4; n++) {
    grb_gpu_force_devices(n);
    grb_gpu_force_way(GRB_GPU_BY_COLUMNS);
    mode = "several devices";
    test_forms(sized(60, 20));
    Case k = medium();
    k.cols = k.rows;
    Product p(k, 41);
    grb_gpu_forget();
    p.name(n + 100);
    uploads(p, "every device gets S and its share of B", n, n);
    uploads(p, "and keeps both", 0, 0);
  }
  if (count < 2) skip("one device");
  grb_gpu_force_devices(1);
  grb_gpu_force_way(GRB_GPU_ANY_WAY);
  mode = "plain";
}

// ---- placement --------------------------------------------------------------------------------

static void test_wise()
{
  Case k;
  Product small(k, 60);
  check(!grb_gpu_wise(&small.x, &small.from), "%s: a small product stays on the host", mode);
  k = medium();
  k.rows = k.cols = 8000;
  k.density = 0.02;
  k.n = 128;
  k.threads = 1;
  Product large(k, 61);
  large.name(1);
  bool wise = false;
  for (int i = 0; i < 30 && !wise; i++) wise = grb_gpu_wise(&large.x, &large.from);
  check(wise, "%s: a large one goes to the GPU", mode);
  large.x.semiring.multiplier = SHUNT_PAIR;
  check(!grb_gpu_wise(&large.x, &large.from), "%s: PLUS_PAIR does not", mode);
}

// ---- the program --------------------------------------------------------------------------------

int main(int argc, char **argv)
{
  mode = argc > 1 ? argv[1] : "plain";
  if (argc == 1) {
    {
      const SmallBudget alone;
      again("SHUNT_CACHE_MB", emulated ? "1" : "4", "limit");
    }
    again("SHUNT_VERIFY", "1", "verify");
  }
  if (device_count() == 0) {
    Product p(medium(), 1);
    check(p.run() == SHUNT_E_UNSUPPORTED && !grb_gpu_wise(&p.x, &p.from),
          "without a device nothing is taken");
    return finish();
  }
  if (strcmp(mode, "plain")) grb_gpu_force_devices(1);
  if (!strcmp(mode, "limit")) {
    test_limit(sized(4, 1) << 20);
    test_forms(sized(100, 30));
    return finish();
  }
  if (!strcmp(mode, "verify")) {
    Product p(medium(), 90);
    p.from.s = {&p, 0, false};
    uploads(p, "new", 1, 1);
    uploads(p, "kept without an epoch", 0, 1);
    p.set(p.values, p.x.s.nnz / 3 + 1, 0.75);
    uploads(p, "one value changed, nobody said so", 1, 1);
    test_forms(sized(60, 20));
    return finish();
  }
  test_wise();
  grb_gpu_force_devices(1);
  test_forms(sized(400, 120));
  test_long_row();
  test_unsupported();
  test_devices();
  return finish();
}
