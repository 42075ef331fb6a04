// test_csr_sddmm_complex.cu: the csr route's SDDMM of complex types against its twin, which sums
// in long double.
//
// What must not be read holds NaN: padding, and C.values where beta is 0.  Small patterns go to
// rows, the last one, dense and with long columns, is cut into panels.
#include "kernels/common/host_element.h"
#include "tests/gpu/csr/sddmm_operands.cuh"
#include "tests/gpu/csr/sddmm_patterns.cuh"

#include "kernels/csr/csr_kernels.h"

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

// C of the pattern in both memories.
struct Values {
  Buffer offsets, columns, values;
  shunt_csr host, device;
  Values(const Pattern &p, const Setup &s, Random &r)
      : offsets((size_t)(p.rows + 1) * shunt_type_size(s.index)),
        columns((size_t)p.nnz() * shunt_type_size(s.index)),
        values((size_t)p.nnz() * shunt_type_size(s.out))
  {
    for (int64_t i = 0; i <= p.rows; i++)
      store(offsets.host.data(), i, s.index, (double)(p.offsets[(size_t)i] + s.base));
    for (int64_t i = 0; i < p.nnz(); i++)
      store(columns.host.data(), i, s.index, (double)(p.columns[(size_t)i] + s.base));
    std::fill(values.host.begin(), values.host.end(), (char)0xff);
    for (int64_t i = 0; s.beta != 0 && i < p.nnz(); i++) set_pair(values.host.data(), i, s.out, r);
    offsets.upload();
    columns.upload();
    values.upload();
    host = {p.rows,  p.cols, p.nnz(), offsets.host.data(), columns.host.data(), values.host.data(),
            s.index, s.out,  s.base};
    device = host;
    device.row_offsets = offsets.device;
    device.columns = columns.device;
    device.values = values.device;
  }
};

bool right(const Pattern &p, const Setup &s, uint64_t seed, const shunt_device &d)
{
  Random r(seed);
  Matrix a(p.rows, s.k, s.a_rows, s.pad, s.shift, s.in),
      b(s.k, p.cols, s.b_rows, s.pad, s.shift, s.in);
  Values c(p, s, r);
  fill(a, r);
  fill(b, r);
  Buffer scalars(64);
  const shunt_pair alpha = {(long double)s.alpha, -0.5L}, beta = {(long double)s.beta, 1};
  shunt_store_pair(scalars.host.data(), 0, s.in, alpha);
  shunt_store_pair(scalars.host.data(), 2, s.in, beta);
  scalars.upload();
  shunt_sddmm q = {a.device, b.device, c.device, {nullptr, s.alpha, -0.5}, {}, s.in};
  if (s.beta != 0) q.beta = {nullptr, s.beta, 1};
  const shunt_sddmm twin = {a.host, b.host, c.host, q.alpha, q.beta, s.in};
  if (s.device_scalars) {
    q.alpha = {scalars.device, 77, 77};
    if (s.beta != 0) q.beta = {(char *)scalars.device + 2 * shunt_type_size(s.in), 77, 77};
  }
  const size_t bytes = shunt_csr_sddmm_workspace(&q, &d);
  Buffer room(bytes);
  const shunt_status status =
      shunt_csr_sddmm_cuda(&q, seed % 2, &d, bytes ? room.device : nullptr, bytes, nullptr);
  CUDA_OK(cudaDeviceSynchronize());
  if (status != SHUNT_OK || shunt_csr_sddmm_host(&twin) != SHUNT_OK) return false;
  std::vector<char> want = c.values.host;
  c.values.download();
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

void test_type(shunt_type t, const shunt_device &d)
{
  static const int64_t inner[] = {0, 1, 2, 7, 16, 17, 64, 100};
  int turn = 0;
  Sample sample(7);
  for (const Named &n : patterns()) {
    int wrong = 0, cases = 0;
    for (int64_t k : inner)
      for (int layout = 0; layout < 4; layout++, turn++) {
        if (left_out() || sample.leaves_out()) continue;
        Setup s = setup_for(5, k, turn);
        s.in = s.out = t;
        wrong += !right(n.pattern, s, (uint64_t)turn, d);
        cases++;
      }
    check(!wrong, "%s, %s: %d cases", t == SHUNT_C32 ? "c32" : "c64", n.name, cases);
  }
}

void test_panels(shunt_type t, shunt_device d)
{
  d.multiprocessors = sized(d.multiprocessors, 4);
  const Pattern p = random_pattern(sized(1003, 203), sized(900, 300), 0.3, 1, 21);
  for (int64_t bytes : {1024, 3000}) { // one slab of a column, and several
    Setup s = setup_for(5, bytes / (int64_t)shunt_type_size(t), 1);
    s.in = s.out = t;
    s.shift = 0;
    check(right(p, s, 5, d), "%s, panels, columns of %d bytes", t == SHUNT_C32 ? "c32" : "c64",
          (int)bytes);
  }
}

} // namespace

int main()
{
  const shunt_device d = this_device();
  for (shunt_type t : {SHUNT_C32, SHUNT_C64}) {
    test_type(t, d);
    test_panels(t, d);
  }
  return finish();
}
