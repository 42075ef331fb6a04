// test_ablation.cu: the kernels that only the ablation bench runs (tests/bench/ablation) against
// the C twin, and the three of Shunt's that they are compared with.
//
// Every pattern meets every V and width; gaps between rows and scalars rotate with a fixed random
// sequence.  Rows of B that no vector names hold NaN throughout.
#include "tests/bench/ablation/ablation_case.cuh"

using namespace ablation;

enum Kind {
  VECTORS, // aligned sets of V rows with one list
  HOLES,   // the same, one entry in ten is missing
  EMPTY,   // two sets in three without entries
  DENSE,   // all columns
  KINDS
};
static const char *const kind_name[KINDS] = {"vectors", "holes", "empty", "dense"};

static Pattern make_pattern(Kind kind, int64_t rows, int64_t cols, int v, double density,
                            uint64_t seed)
{
  Random r(seed);
  const Pattern whole = random_pattern(rows, cols, kind == DENSE ? 1.1 : density, v, seed + 1);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t e = whole.offsets[(size_t)i]; e < whole.offsets[(size_t)i + 1]; e++)
      if (!(kind == HOLES && r.uniform() < 0.1) && !(kind == EMPTY && i / v % 3))
        p.columns.push_back(whole.columns[(size_t)e]);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

// Packed with room for the pattern; the kernels go by `v`.
struct PackedFor : Matrix {
  PackedFor(const Pattern &p, Kind kind, int v, uint64_t seed)
      : Matrix(p, kind == HOLES ? 1 : v, seed)
  {
    sequential.device.height = v;
  }
};

// Runs once; 0 when right.
static int64_t run_case(Case &q, Kernel k)
{
  const shunt_status status = q.run(k, 0);
  if (status != SHUNT_OK) {
    printf("# status %d\n", status);
    return 1;
  }
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<char> got(q.c.host.size()), want;
  CUDA_OK(cudaMemcpy(got.data(), q.c.device, got.size(), cudaMemcpyDeviceToHost));
  const bool known = q.twin(0, q.a.sequential.host.groups, want);
  const int64_t wrong = known ? wrong_elements(q, got, 0, want) : 1;
  q.c.upload();
  return wrong;
}

static void test_kernel(Kernel k, int v, Kind kind)
{
  static const int64_t sizes[][2] = {{1, 5}, {8, 64}, {13, 63}, {64, 307}, {43, 900}};
  static const int64_t some_n[] = {8, 64, 72, 136, 256, 264};
  Random r(20261121 + k);
  int64_t wrong = 0;
  for (auto &size : sizes) {
    const Pattern p = make_pattern(kind, size[0], size[1], v, size[1] < 100 ? 0.3 : 0.12, r.next());
    const PackedFor a(p, kind, v, r.next());
    for (int64_t n : some_n) {
      Options o;
      o.b_gap = r.below(2) * 8, o.c_gap = r.below(2) * 16;
      if (r.below(2)) o.alpha = 1.5, o.beta = r.below(3) ? -0.75 : 0;
      Case q(a, n, o, r.next());
      const int64_t w = a.good() ? run_case(q, k) : 1;
      if (w)
        printf("# %lld wrong: %lld x %lld, n %lld alpha %g beta %g\n", (long long)w,
               (long long)size[0], (long long)size[1], (long long)n, o.alpha, o.beta);
      wrong += w;
    }
  }
  check(wrong == 0, "%s, V = %d, %s, all sizes", kernel_name[k], v, kind_name[kind]);
}

// NaN and Inf in rows of B that some rows of a group name and others do not, and that the zeros
// behind the last vector meet.
static void test_nonfinite(Kernel k, int v)
{
  const Pattern p = make_pattern(HOLES, 24, 600, v, 0.1, 5);
  const PackedFor a(p, HOLES, v, 6);
  Options o;
  o.beta = v == 2 ? 0.5 : 0;
  Case q(a, 72, o, 7);
  for (int64_t row : {0, 3, 9, 17, 22}) {
    const int64_t from = p.offsets[(size_t)row], to = p.offsets[(size_t)row + 1];
    const int64_t first = p.columns[(size_t)from], last = p.columns[(size_t)to - 1];
    store(q.b.host.data(), first * 72 + 3 + row, SHUNT_F16, NAN);
    store(q.b.host.data(), last * 72 + 40 + row, SHUNT_F16, row % 2 ? INFINITY : -INFINITY);
  }
  q.b.upload();
  check(a.good() && run_case(q, k) == 0, "NaN and Inf, %s, V = %d", kernel_name[k], v);
}

static void test_repeats(Kernel k)
{
  const Pattern p = make_pattern(VECTORS, 264, 900, 4, 0.1, 9);
  const PackedFor a(p, VECTORS, 4, 10);
  Case q(a, 136, Options(), 11);
  std::vector<char> first, again(q.c.host.size());
  bool same = true;
  for (int i = 0; i < 5; i++) {
    same = q.run(k, 0) == SHUNT_OK && same;
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(again.data(), q.c.device, again.size(), cudaMemcpyDeviceToHost));
    if (i == 0) first = again;
    same = same && first == again;
  }
  check(same, "5 calls give the same bits, %s", kernel_name[k]);
}

static void test_declined(Kernel k)
{
  const Pattern p = make_pattern(VECTORS, 16, 64, 8, 0.2, 13);
  PackedFor a(p, VECTORS, 8, 14);
  Case q(a, 64, Options(), 15);
  const shunt_spmm good = q.device;
  const char *name = kernel_name[k];
  const auto status = [&] {
    const shunt_status s = q.run(k, 0);
    q.device = good;
    return s;
  };
  q.device.compute = SHUNT_F64;
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines compute f64", name);
  q.device.c.type = SHUNT_F32;
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines an f32 result", name);
  q.device.a.value_type = SHUNT_BF16;
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines bf16", name);
  std::swap(q.device.b.row_stride, q.device.b.col_stride);
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines a column-major B", name);
  q.device.b.values = (char *)q.device.b.values + 2;
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines a misaligned B", name);
  q.device.b.cols = q.device.c.cols = 60;
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines 60 columns", name);
  const uint32_t word = 1;
  q.device.only_if = &word;
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines only_if", name);
  q.device.c.rows = 15;
  check(status() == SHUNT_E_ARGUMENT, "%s: sizes must agree", name);
  a.sequential.device.height = 1;
  check(status() == SHUNT_E_UNSUPPORTED, "%s declines V = 1", name);
}

int main()
{
  for (Kernel k : {FPU, WMMA}) {
    for (int v : {8, 4, 2}) {
      for (int kind = 0; kind < KINDS; kind++) test_kernel(k, v, (Kind)kind);
      test_nonfinite(k, v);
    }
    test_repeats(k);
    test_declined(k);
  }
  for (Kernel k : {OCTET, DIRECT, STRIPS}) {
    if (k == STRIPS && this_device().compute_capability < 90) {
      skip("strips need compute capability 9.0");
      break;
    }
    for (int v : {8, 4, 2}) test_kernel(k, v, VECTORS);
  }
  return finish();
}
