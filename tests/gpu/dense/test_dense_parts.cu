// test_dense_parts.cu: what the dense route runs around cuBLAS's products, against float64:
// sampling a product at C's entries, combining it with C, copying a matrix into another layout.
//
// Padding, and C where beta is 0, hold NaN throughout.
#include "kernels/common/dense_copy.h"
#include "kernels/dense/dense_kernels.h"
#include "kernels/guard/guard.h"
#include "tests/gpu/csr/sddmm_operands.cuh"
#include "tests/gpu/csr/sddmm_patterns.cuh"

using namespace harness;

// ---- sample ----------------------------------------------------------------------------
static bool sample_right(const Pattern &p, int types, bool f32_product, int turn,
                         const shunt_device &d)
{
  Setup s = setup_for(types, 0, turn);
  s.out = s.in; // values of the product's type, or narrower
  Random r((uint64_t)turn + 1);
  Matrix product(p.rows, p.cols, true, turn % 4, turn % 3 == 2, f32_product ? SHUNT_F32 : s.in);
  Sparse c(p, s.index, s.base, s.out, s.beta, r);
  Scalar alpha(s.alpha, s.device_scalars, compute_of(s.in));
  Scalar beta(s.beta, s.device_scalars, compute_of(s.in));
  bool prescaled = turn & 1;

  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1]; at++)
      product.set(i, p.columns[(size_t)at], r.value() * 8);
  product.bytes.upload();
  shunt_sddmm task = {};
  task.a = shunt_dense{p.rows, 0, 1, 1, nullptr, s.in};
  task.b = shunt_dense{0, p.cols, 1, 1, nullptr, s.in};
  task.c = c.device;
  task.alpha = alpha.value;
  task.beta = beta.value;
  task.compute = compute_of(s.in);
  if (shunt_dense_sddmm_sample_cuda(&task, &product.device, prescaled, &d, 0) != SHUNT_OK)
    return false;
  CUDA_OK(cudaDeviceSynchronize());
  c.values.download();
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1]; at++) {
      double x = product.get(i, p.columns[(size_t)at]) * (prescaled ? 1 : s.alpha);
      double y = s.beta == 0 ? 0 : s.beta * c.old[(size_t)at];
      double got = load(c.values.host.data(), at, s.out);
      if (!(fabs(got - x - y) <= tolerance(s.out, compute_of(s.in), fabs(x) + fabs(y), x + y, 2)))
        return false;
    }
  return true;
}

static void test_sample(const shunt_device &d)
{
  int turn = 0;
  for (const Named &n : patterns())
    for (int types = 0; types < 6; types++) {
      bool good = true;
      for (int i = 0; i < 4; i++)
        good =
            good && sample_right(n.pattern, types, types % 2 && IN[types] != SHUNT_F64, turn++, d);
      check(good, "sample, %s, %s of %s", n.name, type_name(IN[types]),
            types % 2 && IN[types] != SHUNT_F64 ? "f32" : "its own type");
    }
}

// ---- combine, dense copy ------------------------------------------------------------------
static bool combine_right(int64_t m, int64_t n, shunt_type t, int turn, const shunt_device &d)
{
  const shunt_type sum = t == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
  Random r((uint64_t)turn);
  double b = turn & 1 ? 0 : -0.5, a = 1.5;
  bool flag_set = turn % 5 == 4, flag = turn % 5 != 0, device_scalars = turn & 4;
  Matrix w(m, n, true, turn % 3 * 4 % 7, 0, sum);
  Matrix c(m, n, turn & 2, turn % 3 * 2, turn % 7 == 3, t);
  Scalar alpha(a, device_scalars, sum), beta(b, device_scalars, sum);
  Buffer word(4);

  store(word.host.data(), 0, SHUNT_I32, flag_set);
  word.upload();
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      w.set(i, j, r.value());
      c.set(i, j, b == 0 ? NAN : r.value());
    }
  w.bytes.upload();
  c.bytes.upload();
  std::vector<char> old = c.bytes.host;
  shunt_spmm task = {};
  task.c = c.device;
  task.alpha = alpha.value;
  task.beta = beta.value;
  task.compute = sum;
  if (shunt_guard_combine_cuda(&w.device, &task, flag ? (const uint32_t *)word.device : nullptr, &d,
                               0) != SHUNT_OK)
    return false;
  CUDA_OK(cudaDeviceSynchronize());
  c.bytes.download();
  if (flag && flag_set) return old == c.bytes.host;
  const char *before = old.data() + ((char *)c.host.values - c.bytes.host.data());
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double x = a * w.get(i, j), y = b == 0 ? 0 : b * load(before, c.at(i, j), t);
      if (!(fabs(c.get(i, j) - x - y) <= tolerance(t, sum, fabs(x) + fabs(y), x + y, 2)))
        return false;
      store(c.host.values, c.at(i, j), t, load(before, c.at(i, j), t));
    }
  return memcmp(old.data(), c.bytes.host.data(), old.size()) == 0 || b == 0; // padding untouched
}

static void test_combine(const shunt_device &d)
{
  static const shunt_type types[] = {SHUNT_F16, SHUNT_BF16, SHUNT_F32, SHUNT_F64};
  static const int64_t sizes[][2] = {{1, 1}, {5, 300}, {33, 70}, {130, 64}};
  for (shunt_type t : types)
    for (auto &size : sizes) {
      bool good = true;
      for (int turn = 0; turn < 20 && good; turn += sized(1, 3))
        good = combine_right(size[0], size[1], t, turn, d);
      check(good, "combine, %s, %d x %d", type_name(t), (int)size[0], (int)size[1]);
    }
}

static bool copy_right(int64_t m, int64_t n, shunt_type t, int turn, const shunt_device &d)
{
  Random r((uint64_t)turn + 1);
  Matrix from(m, n, turn & 1, turn % 3 * 4, turn % 5 == 4, t);
  Matrix to(m, n, turn & 2, turn % 4, turn % 7 == 6, t);
  for (char &x : from.bytes.host) x = (char)r.next();
  from.bytes.upload();
  to.bytes.upload();
  if (shunt_dense_copy_cuda(&from.device, &to.device, &d, 0) != SHUNT_OK) return false;
  CUDA_OK(cudaDeviceSynchronize());
  size_t size = shunt_type_size(t);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      memcpy((char *)to.host.values + to.at(i, j) * size,
             (char *)from.host.values + from.at(i, j) * size, size);
  std::vector<char> want = to.bytes.host; // padding: still all ones
  to.bytes.download();
  return want == to.bytes.host;
}

static void test_copy(const shunt_device &d)
{
  static const shunt_type types[] = {SHUNT_I8, SHUNT_F16, SHUNT_F32, SHUNT_F64};
  static const int64_t sizes[][2] = {{1, 1},   {1, 777},  {777, 1},  {63, 131},
                                     {64, 64}, {65, 131}, {300, 40}, {1000, sized(1025, 37)}};
  for (shunt_type t : types)
    for (auto &size : sizes) {
      bool good = true;
      for (int turn = 0; turn < 24 && good;
           turn += size[0] > 500 && size[1] > 500 ? 5 : sized(1, 5))
        good = copy_right(size[0], size[1], t, turn, d);
      check(good, "dense copy, %s, %d x %d", type_name(t), (int)size[0], (int)size[1]);
    }
}

int main()
{
  shunt_device d = this_device();
  test_sample(d);
  test_combine(d);
  test_copy(d);
  return finish();
}
