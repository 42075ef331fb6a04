// test_csr_sddmm_complex.cu: the csr route's SDDMM of complex types against its twin, which sums
// in long double.
//
// What must not be read holds NaN: padding, and C.values where beta is 0.
#include "kernels/common/host_element.h"
#include "tests/gpu/csr/sddmm_twin.cuh"

using namespace harness;

namespace
{

void set_pair(void *to, int64_t i, shunt_type t, Random &r)
{
  const double re = r.value();
  shunt_store_pair(to, i, t, {(long double)re, (long double)r.value()});
}

void fill(Matrix &m, Random &r)
{
  for (int64_t i = 0; i < m.host.rows; i++)
    for (int64_t j = 0; j < m.host.cols; j++) set_pair(m.host.values, m.at(i, j), m.host.type, r);
  m.bytes.upload();
}

// C's old values: numbers where they count, else NaN.
void fill_old(Sparse &c, const Setup &s, int64_t nnz, Random &r)
{
  std::fill(c.values.host.begin(), c.values.host.end(), (char)0xff);
  for (int64_t i = 0; s.beta != 0 && i < nnz; i++) set_pair(c.values.host.data(), i, s.out, r);
  c.values.upload();
}

bool right(const Pattern &p, const Setup &s, uint64_t seed, const shunt_device &d)
{
  Random r(seed);
  Matrix a(p.rows, s.k, s.a_rows, s.pad, s.shift, s.in),
      b(s.k, p.cols, s.b_rows, s.pad, s.shift, s.in);
  Sparse c(p, s.index, s.base, s.out, 0, r);
  fill_old(c, s, p.nnz(), r);
  fill(a, r);
  fill(b, r);
  Buffer scalars(64);
  const shunt_pair alpha = {(long double)s.alpha, -0.5L}, beta = {(long double)s.beta, 1};
  shunt_store_pair(scalars.host.data(), 0, s.in, alpha);
  shunt_store_pair(scalars.host.data(), 2, s.in, beta);
  scalars.upload();
  shunt_sddmm q = {a.device, b.device, c.device, {nullptr, s.alpha, -0.5}, {}, s.in};
  if (s.beta != 0) q.beta = {nullptr, s.beta, 1};
  const shunt_sddmm on_host = q;
  if (s.device_scalars) {
    q.alpha = {scalars.device, 77, 77};
    if (s.beta != 0) q.beta = {(char *)scalars.device + 2 * shunt_type_size(s.in), 77, 77};
  }
  std::vector<char> want;
  if (!run_with_twin(a, b, c, q, on_host, seed % 2, d, &want)) return false;
  const double eps = s.in == SHUNT_C64 ? 0x1p-53 : 0x1p-24, terms = (double)s.k + 4;
  for (int64_t i = 0; i < p.nnz(); i++) {
    const shunt_pair x = shunt_load_pair(want.data(), i, s.in),
                     y = shunt_load_pair(c.values.host.data(), i, s.in);
    // Parts of values are below 1; alpha's and beta's absolute values below 2.1.
    const double most = eps * terms * 4.2 * terms;
    if (!(fabsl(x.re - y.re) <= most && fabsl(x.im - y.im) <= most)) return false;
  }
  return true;
}

Setup setup(shunt_type t, int64_t k, int turn)
{
  Setup s = setup_for(5, k, turn);
  s.in = s.out = t;
  return s;
}

void test_type(shunt_type t, const shunt_device &d)
{
  const char *name = t == SHUNT_C32 ? "c32" : "c64";
  test_patterns(name, {0, 1, 2, 7, 16, 17, 64, 100}, [&](const Pattern &p, int64_t k, int turn) {
    return right(p, setup(t, k, turn), (uint64_t)turn, d);
  });
  test_panels(name, {2048, 3000}, d, [&](const Pattern &p, int64_t bytes, const shunt_device &few) {
    Setup s = setup(t, bytes / (int64_t)shunt_type_size(t), 1);
    s.shift = 0;
    return right(p, s, 5, few);
  });
}

} // namespace

int main()
{
  const shunt_device d = this_device();
  for (shunt_type t : {SHUNT_C32, SHUNT_C64}) test_type(t, d);
  return finish();
}
