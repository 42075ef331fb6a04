// test_csr_spmm_complex.cu: the csr kernels of complex types against their twin in long double.
//
// Both kernels and the guarded one, both types, all patterns of csr_spmm_operands.cuh; layouts,
// index forms, gaps, alignment and scalars take turns.
#include "kernels/common/host_element.h"
#include "tests/gpu/csr/csr_spmm_case.cuh"

using namespace harness;

namespace
{

const Types kComplex[] = {{SHUNT_C32, SHUNT_C32, SHUNT_C32, "c32"},
                          {SHUNT_C64, SHUNT_C64, SHUNT_C64, "c64"}};

shunt_pair random_pair(Random &r)
{
  const double re = r.value();
  return {(long double)re, (long double)r.value()};
}

// The call's operands on the host; the Case has the same on the device.
struct Complex {
  std::vector<char> offsets, columns, a, b, c, scalars;
  Case k;
};

const shunt_pair kAlpha = {1.25L, -0.75L}, kBeta = {-0.5L, 2};

// What is not stored in A meets NaN in B; C is NaN where beta is 0, and its gaps always.
void fill(Complex &x, const Pattern &p, const Types &t, const Options &o, Random &r)
{
  const size_t size = shunt_type_size(t.in);
  const Dense b = layout(p.cols, o.n, o.b_by_column, o.b_gap),
              c = layout(p.rows, o.n, o.c_by_column, o.c_gap);
  std::vector<char> used(p.cols);
  for (int64_t column : p.columns) used[column] = 1;
  x.offsets = index_array(p.offsets, o.index, o.base);
  x.columns = index_array(p.columns, o.index, o.base);
  x.a.assign(p.nnz() * size + 16, 0);
  x.b.assign((b.elements + o.b_shift) * size, (char)0xff);
  x.c.assign((c.elements + o.c_shift) * size, (char)0xff);
  x.scalars.assign(256, 0);
  for (int64_t i = 0; i < p.nnz(); i++) shunt_store_pair(x.a.data(), i, t.in, random_pair(r));
  for (int64_t i = 0; i < p.cols; i++)
    for (int64_t j = 0; used[i] && j < o.n; j++)
      shunt_store_pair(x.b.data(), o.b_shift + i * b.row_stride + j * b.col_stride, t.in,
                       random_pair(r));
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; o.beta != 0 && j < o.n; j++)
      shunt_store_pair(x.c.data(), o.c_shift + i * c.row_stride + j * c.col_stride, t.in,
                       random_pair(r));
  if (o.alpha != 0) shunt_store_pair(x.scalars.data(), 0, t.in, kAlpha);
  if (o.beta != 0) shunt_store_pair(x.scalars.data(), 4, t.in, kBeta);
  ((uint32_t *)x.scalars.data())[32] = o.only_if > 0;
}

shunt_scalar scalar_of(const shunt_pair &value, bool used, const char *device)
{
  if (device) return {device, 77, 78};
  return {nullptr, used ? (double)value.re : 0, used ? (double)value.im : 0};
}

// The same problem with arrays on the device, or on the host.
shunt_spmm problem(const Complex &x, const Arena *m, const Pattern &p, const Types &t,
                   const Options &o)
{
  const Dense b = layout(p.cols, o.n, o.b_by_column, o.b_gap),
              c = layout(p.rows, o.n, o.c_by_column, o.c_gap);
  const size_t size = shunt_type_size(t.in);
  auto at = [&](const Buffer Arena::*buffer, const std::vector<char> &host, int64_t shift) {
    return (m ? (char *)(m->*buffer).device : (char *)host.data()) + shift * size;
  };
  const char *scalars = at(&Arena::scalars, x.scalars, 0);
  shunt_spmm q = {};
  q.a = {p.rows,
         p.cols,
         p.nnz(),
         at(&Arena::offsets, x.offsets, 0),
         at(&Arena::columns, x.columns, 0),
         at(&Arena::values, x.a, 0),
         o.index,
         t.in,
         o.base};
  q.b = {p.cols, o.n, b.row_stride, b.col_stride, at(&Arena::b, x.b, o.b_shift), t.in};
  q.c = {p.rows, o.n, c.row_stride, c.col_stride, at(&Arena::c, x.c, o.c_shift), t.in};
  q.alpha = scalar_of(kAlpha, o.alpha != 0, o.scalars_on_device ? scalars : nullptr);
  q.beta = scalar_of(kBeta, o.beta != 0, o.scalars_on_device ? scalars + 4 * size : nullptr);
  q.compute = t.compute;
  q.only_if = o.only_if < 0 ? nullptr : (const uint32_t *)(scalars + 128);
  return q;
}

void upload(Arena &m, const Complex &x)
{
  put(m.offsets, x.offsets.size(), x.offsets);
  put(m.columns, x.columns.size(), x.columns);
  put(m.values, x.a.size(), x.a);
  put(m.b, x.b.size(), x.b);
  put(m.c, x.c.size(), x.c);
  put(m.scalars, 256, x.scalars);
}

// Elements of C that are off by more than rounding; `x.c` becomes what it should be.
int64_t wrong_elements(Complex &x, const std::vector<char> &got, const Pattern &p, const Types &t,
                       const Options &o)
{
  const shunt_spmm q = problem(x, nullptr, p, t, o);
  if (shunt_csr_spmm_complex_host(&q) != SHUNT_OK) return -1;
  const double eps = t.in == SHUNT_C64 ? 0x1p-53 : 0x1p-24;
  std::vector<char> gaps = got;
  int64_t wrong = 0;
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < o.n; j++) {
      const int64_t at = o.c_shift + i * q.c.row_stride + j * q.c.col_stride;
      const shunt_pair want = shunt_load_pair(x.c.data(), at, t.in),
                       is = shunt_load_pair(got.data(), at, t.in);
      // All values have absolute value below 1.5, alpha and beta below 2.1.
      const double terms = (double)(p.offsets[i + 1] - p.offsets[i]) + 4;
      const double most = eps * (terms + 4) * 2 * terms;
      const bool untouched = isnan(want.re) && isnan(is.re);
      wrong += !untouched && !(fabsl(is.re - want.re) <= most && fabsl(is.im - want.im) <= most);
      shunt_store_pair(gaps.data(), at, t.in, want);
    }
  return wrong + (memcmp(gaps.data(), x.c.data(), gaps.size()) != 0);
}

// 0: merge, 1: split, 2: guarded, to be done, 3: not to be done.
bool right(Arena &m, const Pattern &p, const Types &t, Options o, int kernel, Random &r)
{
  Complex x;
  if (kernel >= 2) o.only_if = kernel == 2;
  fill(x, p, t, o, r);
  upload(m, x);
  const shunt_spmm q = problem(x, &m, p, t, o);
  shunt_device d = this_device();
  d.multiprocessors = o.multiprocessors;
  d.l2_bytes = o.l2_bytes;
  const size_t bytes = shunt_csr_spmm_workspace(&q, &d);
  CUDA_OK(cudaMemset(m.workspace.device, 0xff, bytes + 256));
  const shunt_status s =
      kernel == 1
          ? shunt_csr_spmm_split_cuda(&q, o.n % 2 ? -1 : 1, &d, m.workspace.device, bytes, nullptr)
          : shunt_csr_spmm_merge_cuda(&q, &d, m.workspace.device, bytes, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  const int64_t wrong = wrong_elements(x, download(m.c, x.c.size()), p, t, o);
  if (s != SHUNT_OK || wrong)
    printf("# kernel %d: %s: status %d, %lld wrong\n", kernel, describe(o), s, (long long)wrong);
  return s == SHUNT_OK && !wrong;
}

void test_combinations(Arena &m, const std::vector<Named> &all)
{
  static const int64_t widths[] = {1, 3, 4, 8, 33, 64, 128};
  Random r(42);
  Sample matrices(2), sample(23);
  for (const Types &t : kComplex)
    for (const Named &pattern : all) {
      if (matrices.leaves_out()) continue;
      int cases = 0, wrong = 0;
      for (int64_t n : widths)
        for (int form = 0; form < 16; form++) {
          if (left_out() || (form + form / 4 + n) % 2 || sample.leaves_out()) continue;
          Options o = vary(t, n, form, r);
          if (form == 9) o.alpha = 0;
          for (int kernel = 0; kernel < 4; kernel++, cases++)
            if (wrong < 3) wrong += !right(m, pattern.p, t, o, kernel, r);
        }
      check(!wrong, "%s, %s: %d cases", t.name, pattern.name, cases);
    }
}

} // namespace

int main()
{
  Arena m;
  test_combinations(m, patterns());
  return finish();
}
