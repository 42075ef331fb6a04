// test_csr_spmm_mixed.cu: shunt_csr_spmm_merge_cuda with A in another type than B, and its twins,
// against float64.
#include "tests/gpu/csr/csr_spmm_operands.cuh"

#include "kernels/csr/csr_kernels.h"

using namespace harness;

namespace
{

struct Mix {
  shunt_type a, b, out;
  const char *name;
};

const Mix kMixes[] = {
    {SHUNT_F32, SHUNT_F16, SHUNT_F16, "f32 f16 -> f16"},
    {SHUNT_F32, SHUNT_F16, SHUNT_F32, "f32 f16 -> f32"},
    {SHUNT_F32, SHUNT_BF16, SHUNT_BF16, "f32 bf16 -> bf16"},
    {SHUNT_F32, SHUNT_BF16, SHUNT_F32, "f32 bf16 -> f32"},
    {SHUNT_F16, SHUNT_F32, SHUNT_F32, "f16 f32 -> f32"},
    {SHUNT_BF16, SHUNT_F32, SHUNT_F32, "bf16 f32 -> f32"},
};

// One product in the host's memory; C in row order.
struct Product {
  std::vector<int32_t> offsets, columns;
  std::vector<char> values, b, c;
  shunt_spmm p = {};
};

std::vector<char> random_values(int64_t n, shunt_type t, Random &r)
{
  std::vector<char> out((size_t)(n + 1) * shunt_type_size(t));
  for (int64_t i = 0; i < n; i++) store(out.data(), i, t, r.value());
  return out;
}

void make_product(Product &x, const Pattern &p, const Mix &m, int64_t n, bool by_column,
                  uint64_t seed)
{
  Random r(seed);
  x.offsets.assign(p.offsets.begin(), p.offsets.end());
  x.columns.assign(p.columns.begin(), p.columns.end());
  x.columns.push_back(0); // so that the array is never empty
  x.values = random_values(p.nnz(), m.a, r);
  x.b = random_values(p.cols * n, m.b, r);
  x.c = random_values(p.rows * n, m.out, r);
  x.p.a = {p.rows,    p.cols, p.nnz(), x.offsets.data(), x.columns.data(), x.values.data(),
           SHUNT_I32, m.a,    0};
  x.p.b = {p.cols, n, by_column ? 1 : n, by_column ? p.cols : 1, x.b.data(), m.b};
  x.p.c = {p.rows, n, n, 1, x.c.data(), m.out};
  x.p.alpha = {nullptr, 1.25};
  x.p.beta = {nullptr, -0.5};
  x.p.compute = SHUNT_F32;
}

// Elements of `c` that are not the product to within rounding; x.c: C's old content.
int64_t count_wrong(const Product &x, const std::vector<char> &c)
{
  const shunt_spmm &p = x.p;
  int64_t wrong = 0;
  for (int64_t i = 0; i < p.c.rows; i++)
    for (int64_t j = 0; j < p.c.cols; j++) {
      double sum = 0, scale = 0;
      for (int64_t q = x.offsets[i]; q < x.offsets[i + 1]; q++) {
        const int64_t at = x.columns[q] * p.b.row_stride + j * p.b.col_stride;
        const double v = load(x.values.data(), q, p.a.value_type) * load(x.b.data(), at, p.b.type);
        sum += v;
        scale += fabs(v);
      }
      const double old = -0.5 * load(x.c.data(), i * p.c.cols + j, p.c.type);
      const double want = 1.25 * sum + old, got = load(c.data(), i * p.c.cols + j, p.c.type);
      const double most = tolerance(p.c.type, SHUNT_F32, 1.25 * scale + fabs(old), want,
                                    x.offsets[i + 1] - x.offsets[i]);
      wrong += !(fabs(got - want) <= most);
    }
  return wrong;
}

std::vector<char> by_twin(Product x, shunt_status (*twin)(const shunt_spmm *), shunt_status *s)
{
  std::vector<char> c = x.c;
  x.p.c.values = c.data();
  *s = twin(&x.p);
  return c;
}

template <class T> void upload(Buffer &to, const std::vector<T> &from)
{
  CUDA_OK(cudaMemcpy(to.device, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
}

std::vector<char> by_device(const Product &x, shunt_status *s)
{
  static Buffer offsets(64 << 10), columns(128 << 10), values(128 << 10), b(4 << 20), c(4 << 20),
      workspace(64 << 20);
  const shunt_device d = this_device();
  shunt_spmm p = x.p;
  upload(offsets, x.offsets);
  upload(columns, x.columns);
  upload(values, x.values);
  upload(b, x.b);
  upload(c, x.c);
  p.a.row_offsets = offsets.device;
  p.a.columns = columns.device;
  p.a.values = values.device;
  p.b.values = b.device;
  p.c.values = c.device;
  const size_t bytes = shunt_csr_spmm_workspace(&p, &d);
  *s = shunt_csr_spmm_merge_cuda(&p, &d, workspace.device, bytes, nullptr);
  std::vector<char> out(x.c.size());
  CUDA_OK(cudaMemcpy(out.data(), c.device, out.size(), cudaMemcpyDeviceToHost));
  return out;
}

void test_mix(const Mix &m, const Named &pattern)
{
  int64_t wrong = 0, host_wrong = 0, refused = 0;
  for (int64_t n : {1, 8, 33, 64, 72})
    for (bool by_column : {false, true}) {
      Product x;
      shunt_status s, one, many;
      make_product(x, pattern.p, m, n, by_column, 7 + (uint64_t)n);
      wrong += count_wrong(x, by_device(x, &s));
      host_wrong += count_wrong(x, by_twin(x, shunt_csr_spmm_host, &one));
      host_wrong += count_wrong(x, by_twin(x, shunt_csr_spmm_parallel_host, &many));
      refused += s != SHUNT_OK || one != SHUNT_OK || many != SHUNT_OK;
    }
  check(wrong == 0 && host_wrong == 0 && refused == 0,
        "%s, %s: %lld wrong elements, %lld of the twins, %lld refused", m.name, pattern.name,
        (long long)wrong, (long long)host_wrong, (long long)refused);
}

// What is not built must be refused, whatever the workspace.
void test_refused(const Pattern &p)
{
  const Mix others[] = {{SHUNT_F16, SHUNT_BF16, SHUNT_F32, ""},
                        {SHUNT_F16, SHUNT_F32, SHUNT_F16, ""},
                        {SHUNT_F64, SHUNT_F32, SHUNT_F32, ""}};
  for (const Mix &m : others) {
    Product x;
    shunt_status s, one;
    make_product(x, p, m, 8, false, 3);
    by_device(x, &s);
    by_twin(x, shunt_csr_spmm_host, &one);
    check(s == SHUNT_E_UNSUPPORTED && one == SHUNT_E_UNSUPPORTED, "types that are not built");
  }
  Product x;
  make_product(x, p, kMixes[0], 8, false, 3);
  const shunt_device d = this_device();
  check(shunt_csr_spmm_split_cuda(&x.p, -1, &d, nullptr, 0, nullptr) == SHUNT_E_UNSUPPORTED,
        "by rows");
}

} // namespace

int main()
{
  const std::vector<Named> all = patterns();
  const size_t step = (size_t)sized(1, 5);
  for (const Mix &m : kMixes)
    for (size_t i = 0; i < all.size(); i += step) test_mix(m, all[i]);
  test_refused(all[0].p);
  return finish();
}
