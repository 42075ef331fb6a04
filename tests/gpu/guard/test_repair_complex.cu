// test_repair_complex.cu: shunt_guard_repair_cuda of complex types, against the twin of csr: C is
// left alone when nothing speaks against the dense copy of A, and computed anew for each reason.
#include "kernels/common/host_element.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/guard/guard.h"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

namespace
{

shunt_device device;

enum Why { NOTHING, A_WORD, A_CHANGE, REAL_NAN, IMAGINARY_INF, REASONS };

// A, B and C on the host, and their copies.
struct Lab {
  Pattern p;
  int64_t n;
  shunt_type type, index;
  bool by_columns;
  Buffer offsets, columns, values, b, c, prints, scratch, sets, words;

  size_t size() const { return shunt_type_size(type); }
  Lab(const Pattern &p_, int64_t n_, shunt_type type_, shunt_type index_, bool by_columns_)
      : p(p_), n(n_), type(type_), index(index_), by_columns(by_columns_),
        offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)), values(p.columns.size() * size()),
        b((size_t)(p.cols * n) * size()), c((size_t)(p.rows * n) * size()),
        prints(2 * sizeof(shunt_fingerprint)), scratch(SHUNT_FINGERPRINT_SCRATCH),
        sets(8 * SHUNT_GUARD_SET_BYTES), words(8)
  {
    Random r((uint64_t)(p.rows * 7 + n));
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)p.offsets[i]);
    for (size_t i = 0; i < p.columns.size(); i++)
      store(columns.host.data(), (int64_t)i, index, (double)p.columns[i]);
    for (Buffer *x : {&values, &b, &c})
      for (int64_t i = 0; i < (int64_t)(x->host.size() / size()); i++) put(*x, i, r);
    for (Buffer *x : {&offsets, &columns, &values, &b, &c, &sets, &words}) x->upload();
  }
  void put(Buffer &to, int64_t i, Random &r)
  {
    const double re = r.value();
    shunt_store_pair(to.host.data(), i, type, {(long double)re, (long double)r.value()});
  }
  shunt_csr a(bool on_device)
  {
    const auto of = [&](Buffer &x) { return on_device ? x.device : (void *)x.host.data(); };
    return {p.rows, p.cols, p.nnz(), of(offsets), of(columns), of(values), index, type, 0};
  }
  shunt_spmm spmm(bool on_device)
  {
    shunt_spmm s = {};
    s.a = a(on_device);
    s.b = {p.cols, n, n, 1, on_device ? b.device : (void *)b.host.data(), type};
    s.c = {p.rows,
           n,
           by_columns ? 1 : n,
           by_columns ? p.rows : 1,
           on_device ? c.device : (void *)c.host.data(),
           type};
    s.alpha = {nullptr, 0.75, -2};
    s.compute = type;
    return s;
  }
  // What the product in front of the repair is said to have left: numbers, or one that is none.
  void spoil(Why why)
  {
    const shunt_type part = type == SHUNT_C32 ? SHUNT_F32 : SHUNT_F64;
    const int64_t at = (n / 2) * (by_columns ? p.rows : 1);
    if (why == REAL_NAN) store(c.host.data(), 2 * at, part, NAN);
    if (why == IMAGINARY_INF) store(c.host.data(), 2 * at + 1, part, -INFINITY);
    c.upload();
  }
};

bool fingerprinted(Lab &lab, Why why)
{
  const shunt_csr a = lab.a(true);
  const auto take = [&](int at) {
    return shunt_fingerprint_csr_cuda(&a, (shunt_fingerprint *)lab.prints.device + at, &device,
                                      lab.scratch.device, 0) == SHUNT_OK;
  };
  bool good = take(0);
  CUDA_OK(cudaDeviceSynchronize());
  if (why == A_CHANGE) lab.values.host[lab.values.host.size() - 1] ^= 1; // the last part's sign
  lab.values.upload();
  return good;
}

// Beyond the rounding of sums.
bool differs(Lab &lab, const std::vector<char> &want)
{
  const long double eps = lab.type == SHUNT_C64 ? 0x1p-53L : 0x1p-24L;
  const long double most = eps * 20 * (long double)(lab.p.cols + 4);
  for (int64_t i = 0; i < lab.p.rows * lab.n; i++) {
    const shunt_pair x = shunt_load_pair(want.data(), i, lab.type),
                     y = shunt_load_pair(lab.c.host.data(), i, lab.type);
    if (!(fabsl(x.re - y.re) <= most && fabsl(x.im - y.im) <= most)) return true;
  }
  return false;
}

bool right(Lab &lab, Why why)
{
  lab.spoil(why);
  if (!fingerprinted(lab, why)) return false;
  const uint32_t flag[2] = {why == A_WORD, 7};
  memcpy(lab.words.host.data(), flag, sizeof flag);
  lab.words.upload();
  CUDA_OK(cudaMemset(lab.sets.device, 0, lab.sets.host.size()));
  shunt_spmm s = lab.spmm(true), twin = lab.spmm(false);
  uint32_t *word = (uint32_t *)lab.words.device;
  s.only_if = word;
  shunt_guard r = {};
  r.product = &s.c;
  r.expected = (const shunt_fingerprint *)lab.prints.device;
  r.sets = lab.sets.device;
  r.set_count = 8;
  r.key = lab.c.device;
  r.wait_cycles = SHUNT_GUARD_WAIT_CYCLES;
  r.repaired = word + 1;
  std::vector<char> want = lab.c.host;
  twin.c.values = want.data();
  if (why != NOTHING && shunt_csr_spmm_complex_host(&twin) != SHUNT_OK) return false;
  if (shunt_guard_repair_cuda(&s, &r, &device, 0) != SHUNT_OK) return false;
  CUDA_OK(cudaDeviceSynchronize());
  lab.c.download();
  lab.words.download();
  const uint32_t repaired = ((const uint32_t *)lab.words.host.data())[1];
  if (why == NOTHING) return repaired == 0 && lab.c.host == want;
  return repaired == 1 && !differs(lab, want);
}

void test_type(shunt_type type)
{
  static const char *const what[] = {"nothing to repair, nothing changes", "a word",
                                     "a change of A", "a NaN in a real part",
                                     "an Inf in an imaginary part"};
  for (int why = 0; why < REASONS; why++) {
    bool good = true;
    int turn = why;
    for (int64_t n : {1, 33, 70})
      for (int64_t rows : {1, 90}) {
        turn++;
        Lab lab(random_pattern(rows, 60, 0.3, 1, (uint64_t)turn), n, type,
                turn % 2 ? SHUNT_I64 : SHUNT_I32, turn / 2 % 2);
        if (lab.p.nnz() > 0) good = right(lab, (Why)why) && good;
      }
    check(good, "%s: %s", type == SHUNT_C32 ? "c32" : "c64", what[why]);
  }
}

} // namespace

int main()
{
  device = this_device();
  test_type(SHUNT_C32);
  test_type(SHUNT_C64);
  return finish();
}
