// test_dense_spmm_fma.cu: the f32 product with a dense copy by FMA is alpha D B in every shape and
// order of D, B and C; a NaN or Inf goes where it belongs; the same bits each time; what it does not
// take it refuses, and leaves C alone.
//
//   --time        and what every shape and parting of K takes
//   --only-time   times without testing
#include <memory>

#include "kernels/dense/dense_kernels.h"
#include "tests/gpu/common/harness.cuh"

namespace
{

using namespace harness;

shunt_device device;

struct Case {
  int64_t m, k, n;
  shunt_dense_shape shape = {64, 64, 1};
  bool d_columns = false, b_columns = false, c_columns = false; // column-major
  int64_t behind = 0; // floats from a line of C to the next, beyond its own
  double alpha = 1;
  bool alpha_on_device = false;
};

// Lines of memory on 16 bytes, 4 floats longer than they need be.
int64_t pitch_of(int64_t n)
{
  return (n + 3) / 4 * 4 + 4;
}

// D, B and C, with NaN bits in all that is not theirs.
struct Problem {
  Case c;
  int64_t ldd, ldb, ldc;
  Buffer d, b, out, workspace, alpha;

  explicit Problem(const Case &c)
      : c(c), ldd(pitch_of(c.d_columns ? c.m : c.k)), ldb(pitch_of(c.b_columns ? c.k : c.n)),
        ldc((c.c_columns ? c.m : c.n) + c.behind), d((size_t)((c.d_columns ? c.k : c.m) * ldd) * 4),
        b((size_t)((c.b_columns ? c.n : c.k) * ldb) * 4),
        out((size_t)((c.c_columns ? c.n : c.m) * ldc) * 4), workspace(workspace_bytes(c)), alpha(4)
  {
    Random r((uint64_t)(c.m + 3 * c.n + 7 * c.k));
    std::fill(d.host.begin(), d.host.end(), (char)0xff);
    std::fill(b.host.begin(), b.host.end(), (char)0xff);
    for (int64_t i = 0; i < c.m; i++)
      for (int64_t k = 0; k < c.k; k++)
        store(d.host.data(), d_at(i, k), SHUNT_F32, r.uniform() < 0.5 ? 0 : r.value());
    for (int64_t k = 0; k < c.k; k++)
      for (int64_t j = 0; j < c.n; j++) store(b.host.data(), b_at(k, j), SHUNT_F32, r.value());
    store(alpha.host.data(), 0, SHUNT_F32, c.alpha);
    for (Buffer *x : {&d, &b, &alpha}) x->upload();
  }

  static size_t workspace_bytes(const Case &c)
  {
    const shunt_dense out = {c.m, c.n, 0, c.c_columns ? 0 : 1, nullptr, SHUNT_F32};
    return shunt_dense_spmm_fma_workspace(&out, c.shape.split);
  }
  int64_t d_at(int64_t i, int64_t k) const { return c.d_columns ? k * ldd + i : i * ldd + k; }
  int64_t b_at(int64_t k, int64_t j) const { return c.b_columns ? j * ldb + k : k * ldb + j; }
  int64_t c_at(int64_t i, int64_t j) const { return c.c_columns ? j * ldc + i : i * ldc + j; }
  shunt_dense left() const
  {
    return {c.m, c.k, c.d_columns ? 1 : ldd, c.d_columns ? ldd : 1, d.device, SHUNT_F32};
  }
  shunt_dense right() const
  {
    return {c.k, c.n, c.b_columns ? 1 : ldb, c.b_columns ? ldb : 1, b.device, SHUNT_F32};
  }
  shunt_dense result() const
  {
    return {c.m, c.n, c.c_columns ? 1 : ldc, c.c_columns ? ldc : 1, out.device, SHUNT_F32};
  }

  shunt_status launch(cudaStream_t stream = 0)
  {
    const shunt_dense l = left(), r = right(), to = result();
    shunt_scalar a = {};
    a.host = c.alpha;
    a.device = c.alpha_on_device ? alpha.device : nullptr;
    return shunt_dense_spmm_fma_cuda(&l, &r, &to, &a, &c.shape, workspace.device, &device, stream);
  }

  bool content_right()
  {
    out.download();
    std::vector<char> inside(out.host.size() / 4);
    for (int64_t i = 0; i < c.m; i++)
      for (int64_t j = 0; j < c.n; j++) {
        double sum = 0, scale = 0;
        for (int64_t k = 0; k < c.k; k++) {
          const double x = load(d.host.data(), d_at(i, k), SHUNT_F32) *
                           load(b.host.data(), b_at(k, j), SHUNT_F32);
          sum += x, scale += fabs(x);
        }
        inside[(size_t)c_at(i, j)] = 1;
        const double want = c.alpha * sum, got = load(out.host.data(), c_at(i, j), SHUNT_F32);
        const double room =
            tolerance(SHUNT_F32, SHUNT_F32, fabs(c.alpha) * scale, want, c.k + c.shape.split);
        if (same_value(got, want, room)) continue;
        printf("# (%lld, %lld) is %g, the sum is %g\n", (long long)i, (long long)j, got, want);
        return false;
      }
    for (size_t at = 0; at < out.host.size(); at++)
      if (!inside[at / 4] && out.host[at] != (char)0xff) return false;
    return true;
  }

  bool runs()
  {
    std::fill(out.host.begin(), out.host.end(), (char)0xff);
    out.upload();
    const shunt_status status = launch();
    CUDA_OK(cudaDeviceSynchronize());
    if (status == SHUNT_OK && content_right()) return true;
    printf("# status %d, %lld x %lld x %lld, tiles of %d columns, split %d, %s %s %s\n",
           (int)status, (long long)c.m, (long long)c.k, (long long)c.n, c.shape.columns,
           c.shape.split, c.d_columns ? "D^T" : "D", c.b_columns ? "B by columns" : "B by rows",
           c.c_columns ? "C by columns" : "C by rows");
    return false;
  }
};

// ---- every shape, order and parting ---------------------------------------------------------------

void test_shape(int columns, int split)
{
  const int64_t sizes[][3] = {{1, 5, 1}, {64, 64, 64}, {65, 70, 37}, {130, sized(517, 99), 90}};
  static Sample sample(3);
  bool good = true;
  int turn = columns / 16 + split;
  for (const auto &size : sizes)
    for (int form = 0; form < 8; form++, turn++) {
      if (sample.leaves_out()) continue;
      Case c = {size[0], size[1], size[2], {64, columns, split}};
      c.d_columns = form & 1;
      c.b_columns = form & 2;
      c.c_columns = form & 4;
      c.behind = turn % 3;
      c.alpha = turn % 2 ? 1 : -0.5;
      c.alpha_on_device = turn % 4 < 2;
      Problem x(c);
      good &= x.runs();
    }
  check(good, "tiles of %d columns, K in %d parts: alpha D B", columns, split);
}

// A NaN or Inf of B reaches each row of its column, also by zeros of D, and no other column.
void test_nonfinite()
{
  bool good = true;
  for (int columns : {64, 32, 16})
    for (double odd : {(double)NAN, (double)INFINITY}) {
      Case c = {70, 100, 40, {64, columns, 3}};
      c.b_columns = columns == 32;
      Problem x(c);
      store(x.b.host.data(), x.b_at(99, 7), SHUNT_F32, odd);
      x.b.upload();
      good &= x.runs();
    }
  check(good, "a NaN or Inf of B reaches its column of C");
}

void test_repeats()
{
  Case c = {200, sized(1000, 200), 100, {64, 32, 6}};
  Problem x(c);
  bool good = x.runs();
  const std::vector<char> first = x.out.host;
  for (int i = 0; i < sized(20, 2); i++) {
    good &= x.launch() == SHUNT_OK;
    CUDA_OK(cudaDeviceSynchronize());
    x.out.download();
    good &= x.out.host == first;
  }
  check(good, "the same bits each time");
}

// What is not taken: others compute it, so that nothing may have been enqueued.
void test_refusals()
{
  const auto refused = [](shunt_dense l, shunt_dense r, shunt_dense to, shunt_dense_shape s,
                          const Problem &x) {
    shunt_scalar one = {};
    one.host = 1;
    return shunt_dense_spmm_fma_cuda(&l, &r, &to, &one, &s, x.workspace.device, &device, 0) ==
           SHUNT_E_UNSUPPORTED;
  };
  Problem x({70, 40, 30, {64, 32, 2}});
  std::fill(x.out.host.begin(), x.out.host.end(), (char)0xff);
  x.out.upload();
  const shunt_dense_shape s = x.c.shape;
  shunt_dense odd = x.right();
  odd.values = (char *)odd.values + 4;
  check(refused(x.left(), odd, x.result(), s, x), "refused: B not on 16 bytes");
  odd = x.right(), odd.row_stride--;
  check(refused(x.left(), odd, x.result(), s, x), "refused: B's rows not on 16 bytes");
  odd = x.left(), odd.values = (char *)odd.values + 8;
  check(refused(odd, x.right(), x.result(), s, x), "refused: D not on 16 bytes");
  odd = x.right(), odd.type = SHUNT_F16;
  check(refused(x.left(), odd, x.result(), s, x), "refused: another type");
  odd = x.result(), odd.col_stride = 2;
  check(refused(x.left(), x.right(), odd, s, x), "refused: C with gaps");
  check(refused(x.left(), x.right(), x.result(), {128, 64, 1}, x) &&
            refused(x.left(), x.right(), x.result(), {64, 48, 1}, x) &&
            refused(x.left(), x.right(), x.result(), {64, 64, 0}, x),
        "refused: other shapes");
  shunt_device old = device;
  old.compute_capability = 75;
  const shunt_dense r = x.right(), to = x.result();
  check(shunt_dense_spmm_fma_takes(&r, &to, &device) && !shunt_dense_spmm_fma_takes(&r, &to, &old),
        "taken from compute capability 8.0 on");
  CUDA_OK(cudaDeviceSynchronize());
  x.out.download();
  check(std::all_of(x.out.host.begin(), x.out.host.end(), [](char b) { return b == (char)0xff; }),
        "C is left alone");
}

// ---- times ----------------------------------------------------------------------------------------

void print_times()
{
  const int64_t sizes[][3] = {{512, 4608, 16},  {512, 4608, 64},  {512, 4608, 256},
                              {2048, 512, 128}, {1536, 6144, 64}, {4096, 4096, 128}};
  for (const auto &size : sizes)
    for (int form = 0; form < 4; form++)
      for (int columns : {64, 32, 16})
        for (int split : {1, 2, 4, 8, 16}) {
          Case c = {size[0], size[1], size[2], {64, columns, split}};
          c.d_columns = form & 2;
          c.b_columns = c.c_columns = form & 1;
          Problem x(c);
          const double us = time_graph([&](cudaStream_t s) { x.launch(s); });
          printf("time fma us=%.2f %lld x %lld x %lld %s, B and C by %s, %d columns, %d parts\n",
                 us, (long long)c.m, (long long)c.k, (long long)c.n, c.d_columns ? "D^T" : "D",
                 c.b_columns ? "columns" : "rows", columns, split);
        }
}

} // namespace

int main(int argc, char **argv)
{
  const bool tests = argc < 2 || strcmp(argv[1], "--only-time");
  device = this_device();
  for (int columns : {64, 32, 16})
    for (int split : {1, 2, 3, 16})
      if (tests) test_shape(columns, split);
  if (tests) {
    test_nonfinite();
    test_repeats();
    test_refusals();
  }
  if (argc > 1) print_times();
  return finish();
}
