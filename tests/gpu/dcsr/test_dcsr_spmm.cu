// test_dcsr_spmm.cu: products with dcsr matrices on the device: C-stationary on whole ones,
// B-stationary on strips, and S between its two phases; against float64 sums and the twins.
//   --time   also times them
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/dcsr/dcsr_operands.cuh"

// One product by one of the two kernels.
struct Product {
  Problem q;
  Dcsr d;
  Buffer workspace;
  int64_t longest_row = -1; // a hint

  Product(const Pattern &p, int64_t n, const Options &o, int64_t width, uint64_t seed)
      : q(p, n, o, seed),
        d(source_of(q), width, seed % 2 ? SHUNT_I64 : SHUNT_I32, width ? seed % 3 : 0),
        workspace(width ? shunt_dcsr_spmm_strips_workspace(&q.spmm, &d.on_device)
                        : shunt_dcsr_spmm_rows_workspace(&q.spmm, &d.on_device, &q.device))
  {
    if (width && d.make_sums(q.device) != SHUNT_OK) exit(3);
    CUDA_OK(cudaDeviceSynchronize());
  }
  shunt_status run(bool rows, cudaStream_t stream = 0)
  {
    if (rows)
      return shunt_dcsr_spmm_rows_cuda(&q.spmm, &d.on_device, longest_row, &q.device,
                                       workspace.device, workspace.host.size(), stream);
    return shunt_dcsr_spmm_strips_cuda(&q.spmm, &d.on_device, &d.sums, &q.device, workspace.device,
                                       workspace.host.size(), stream);
  }
  bool computes(bool rows)
  {
    q.reset_c();
    if (run(rows) != SHUNT_OK) return false;
    q.fetch();
    return q.right();
  }
};

static void test_sums()
{
  Random r(7);
  for (int kind = 0; kind < KINDS_OF_DCSR; kind++) {
    bool good = true;
    for (int64_t rows : {1, 70, 5000})
      for (int64_t width : {0, 1, 64}) {
        Options o;
        o.type = kTypes[r.below(2)];
        const double density = rows > 1000 ? 0.01 : 0.1;
        Problem q(dcsr_pattern((DcsrKind)kind, rows, 130, density, r.next()), 1, o, 1);
        Dcsr d(source_of(q), width, r.below(2) ? SHUNT_I64 : SHUNT_I32);
        good = d.make_sums(q.device) == SHUNT_OK && cudaDeviceSynchronize() == cudaSuccess &&
               d.sums_are_right() && good;
      }
    check(good, "%s: S is the twin's", dcsr_kind_name[kind]);
  }
}

// All kinds, widths of C, layouts, types, scalars; and strips of several widths.
static void test_products(bool rows_kernel)
{
  static const int64_t some_n[] = {1, 2, 5, 8, 31, 32, 64, 65, 130, 261};
  static const int64_t some_width[] = {64, 1, 17, 256};
  Random r(rows_kernel ? 11 : 12);
  Sample sample(3);
  for (int kind = 0; kind < KINDS_OF_DCSR; kind++) {
    bool good = true;
    int cases = 0;
    for (int64_t rows : {1, 63, 400})
      for (int64_t cols : {1, 64, 333})
        for (int64_t n : some_n) {
          if (left_out() || sample.leaves_out()) continue;
          const Pattern p = dcsr_pattern((DcsrKind)kind, rows, cols, 0.15, r.next());
          const Options o = some_options_of_four(r);
          Product x(p, n, o, rows_kernel ? 0 : some_width[r.below(4)], r.next());
          const bool right = x.computes(rows_kernel);
          if (!right) print_case(x.q, n);
          good = good && right;
          cases++;
        }
    check(good, "%s, %s: %d products", rows_kernel ? "C-stationary" : "B-stationary",
          dcsr_kind_name[kind], cases);
  }
}

// Sizes without entries, rows, columns.
static void test_nothing(bool rows_kernel)
{
  bool good = true;
  for (int64_t rows : {1, 130})
    for (double beta : {0.0, 2.0}) {
      Options o;
      o.beta = beta;
      Product x(random_pattern(rows, 90, 0, 1, 1), 33, o, rows_kernel ? 0 : 64, 6);
      good = x.computes(rows_kernel) && good;
    }
  check(good, "%s: without entries C is beta C", rows_kernel ? "C-stationary" : "B-stationary");
}

// Rows of thousands of entries and of hundreds of segments, columns past one panel.
static void test_long(bool rows_kernel)
{
  bool good = true;
  for (shunt_type type : kFourTypes) {
    Options o;
    o.type = type;
    Product x(make_pattern(LONG, 40, 6000, 0.01, 3), 90, o, rows_kernel ? 0 : 64, 4);
    good = x.computes(rows_kernel) && good;
  }
  check(good, "%s: rows of 6000 entries", rows_kernel ? "C-stationary" : "B-stationary");
}

// Rows so long that they are cut by entries, whatever the hint says; with and without empty rows.
static void test_huge()
{
  bool good = true;
  for (int empty : {0, 1})
    for (int64_t hint : {(int64_t)-1, (int64_t)3, (int64_t)17000}) {
      Options o;
      o.beta = 2;
      Pattern p = make_pattern(DENSE, 2, 17000, 1, 3);
      if (empty) p.rows++, p.offsets.push_back(p.nnz());
      Product x(p, 3, o, 0, 4);
      x.longest_row = hint;
      good = x.computes(true) && good;
    }
  check(good, "C-stationary: rows of 17000 entries, and hints that are wrong");
}

// Among rows of a few segments some of hundreds and thousands, which a warp or a block adds up.
static void test_lists()
{
  bool good = true;
  for (shunt_type type : {SHUNT_F16, SHUNT_BF16})
    for (int64_t cols : {150, 700, 2000})
      for (int64_t n : {7, 70}) {
        Options o;
        o.type = type;
        o.beta = n == 7 ? 2 : 0;
        Product x(make_pattern(LONG, 1500, cols, 0.001, 3), n, o, 1, 4);
        good = x.computes(false) && good;
        x.q.device.multiprocessors = 1; // fewer threads a row
        good = x.computes(false) && good;
      }
  check(good, "B-stationary: a few rows of thousands of segments");
}

static void test_determinism(bool rows_kernel)
{
  Product x(dcsr_pattern(WITH_LONG, 300, 900, 0.05, 5), 40, Options(), rows_kernel ? 0 : 64, 8);
  bool same = x.computes(rows_kernel);
  const std::vector<char> first = x.q.c.host;
  for (int i = 0; i < 20; i++) {
    if (!rows_kernel && x.d.make_sums(x.q.device) != SHUNT_OK) exit(3);
    x.q.reset_c();
    same = x.run(rows_kernel) == SHUNT_OK && same;
    x.q.fetch();
    same = same && x.q.c.host == first;
  }
  check(same, "%s: 20 calls give the same bits, S made anew each time",
        rows_kernel ? "C-stationary" : "B-stationary");
}

// A NaN in B reaches the rows that name it and no others; what the pattern does not name is poison
// in all tests.
static void test_nonfinite(bool rows_kernel)
{
  bool good = true;
  for (double with : {(double)NAN, (double)INFINITY}) {
    Product x(dcsr_pattern(BY_CHANCE, 100, 200, 0.05, 6), 20, Options(), rows_kernel ? 0 : 64, 9);
    x.q.poison(x.q.pattern.columns[5], 3, with);
    good = x.computes(rows_kernel) && good;
  }
  check(good, "%s: NaN and Inf go where they belong",
        rows_kernel ? "C-stationary" : "B-stationary");
}

static void test_capture(bool rows_kernel)
{
  Product x(dcsr_pattern(BY_ELEMENTS, 200, 300, 0.1, 7), 70, Options(), rows_kernel ? 0 : 64, 10);
  Captured calls([&](cudaStream_t s) { return x.run(rows_kernel, s) == SHUNT_OK; });
  bool good = calls.good;
  for (int i = 0; i < 2; i++) {
    x.q.reset_c();
    calls.replay();
    x.q.fetch();
    good = good && x.q.right();
  }
  check(good, "%s: captured, and right on each replay",
        rows_kernel ? "C-stationary" : "B-stationary");
}

static void test_declined()
{
  Product x(dcsr_pattern(BY_CHANCE, 100, 200, 0.05, 6), 20, Options(), 64, 2);
  Dcsr whole(source_of(x.q), 0, SHUNT_I32), wide(source_of(x.q), 257, SHUNT_I32);
  const shunt_device d = x.q.device;
  const shunt_spmm good = x.q.spmm;
  void *const memory = x.workspace.device;
  const size_t bytes = x.workspace.host.size();
  check(shunt_dcsr_spmm_rows_cuda(&good, &x.d.on_device, -1, &d, memory, bytes, 0) ==
            SHUNT_E_UNSUPPORTED,
        "C-stationary on strips is declined");
  check(shunt_dcsr_spmm_strips_workspace(&good, &wide.on_device) == 0 ||
            wide.on_device.width <= SHUNT_DCSR_MOST_WIDTH,
        "strips too wide for shared memory are declined");
  shunt_spmm p = good;
  p.compute = SHUNT_F64;
  check(shunt_dcsr_spmm_rows_cuda(&p, &whole.on_device, -1, &d, memory, bytes, 0) ==
                SHUNT_E_UNSUPPORTED &&
            shunt_dcsr_spmm_strips_cuda(&p, &x.d.on_device, &x.d.sums, &d, x.workspace.device,
                                        x.workspace.host.size(), 0) == SHUNT_E_UNSUPPORTED,
        "another compute type is declined");
  p = good;
  p.a.value_type = p.b.type = p.c.type = SHUNT_I8;
  p.compute = SHUNT_I32;
  check(shunt_dcsr_spmm_strips_cuda(&p, &x.d.on_device, &x.d.sums, &d, memory, bytes, 0) ==
            SHUNT_E_UNSUPPORTED,
        "B-stationary declines int8");
  p = good;
  p.c.rows++;
  check(shunt_dcsr_spmm_rows_cuda(&p, &whole.on_device, -1, &d, memory, bytes, 0) ==
            SHUNT_E_ARGUMENT,
        "shapes that do not match are refused");
  check(shunt_dcsr_spmm_strips_cuda(&good, &x.d.on_device, &x.d.sums, &d, x.workspace.device,
                                    x.workspace.host.size() - 1, 0) == SHUNT_E_WORKSPACE,
        "a short workspace is refused");
  check(shunt_dcsr_sums_cuda(&x.d.on_device, &x.d.sums, x.d.scratch.device, 0, &d, 0) ==
            SHUNT_E_WORKSPACE,
        "short scratch is refused");
}

// What the conversion called irregular is not followed: columns may be anything.
static void test_irregular()
{
  Options o;
  o.beta = 2;
  Product x(dcsr_pattern(BY_CHANCE, 100, 200, 0.05, 6), 20, o, 64, 2);
  Buffer &m = x.d.memory;
  ((shunt_dcsr_counts *)m.host.data())->irregular = SHUNT_IRREGULAR;
  memset(m.host.data() + ((char *)x.d.on_device.columns - (char *)m.device), 0x77, 64);
  m.upload();
  x.q.pattern = random_pattern(100, 200, 0, 1, 1);
  check(x.d.make_sums(x.q.device) == SHUNT_OK && x.computes(false),
        "an irregular matrix is not followed");
}

static void time_products()
{
  const Pattern elements = make_pattern(ELEMENTS, 20000, 20000, 0.002, 1);
  for (shunt_type type : kTypes)
    for (int64_t n : {8, 32, 128}) {
      Options o;
      o.type = type;
      Product strips(elements, n, o, 64, 2), whole(elements, n, o, 0, 2);
      const double b = time_graph([&](cudaStream_t s) { strips.run(false, s); });
      const double c = time_graph([&](cudaStream_t s) { whole.run(true, s); });
      printf("time dcsr %s n %lld: B-stationary %.2f us, C-stationary %.2f us\n",
             type == SHUNT_F32 ? "f32" : "f64", (long long)n, b, c);
    }
}

int main(int argc, char **argv)
{
  test_sums();
  for (bool rows_kernel : {false, true}) {
    test_products(rows_kernel);
    test_nothing(rows_kernel);
    test_long(rows_kernel);
    test_determinism(rows_kernel);
    test_nonfinite(rows_kernel);
    test_capture(rows_kernel);
  }
  test_huge();
  test_lists();
  test_declined();
  test_irregular();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_products();
  return finish();
}
