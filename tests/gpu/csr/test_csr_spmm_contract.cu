// test_csr_spmm_contract.cu: what a call of shunt_csr_spmm_merge_cuda promises besides its
// product: NaN goes where it must, the same bits each time, captured calls read anew, bad calls
// are refused.
#include "tests/gpu/common/captured.cuh"
#include "tests/gpu/csr/csr_spmm_case.cuh"

using namespace harness;

namespace
{

void test_nan_spreads(Arena &m, const Pattern &p, bool split)
{
  const Types &t = kTypes[4];
  Reference ref = make_reference(p, t, 79);
  Options o;
  o.n = 32;
  const int64_t poisoned = p.columns[p.nnz() / 2];
  ref.b[poisoned * kWidest + 5] = NAN;
  for (int64_t q = 0; q < p.nnz(); q++)
    if (p.columns[q] == poisoned && q % 2) ref.a[q] = 0; // 0 x NaN is NaN
  Case k = make_case(m, p, ref, t, o);
  launch(m, k, split);
  std::vector<char> c = download(m.c, k.c_bytes);
  int wrong = 0, met = 0;
  for (int64_t i = 0; i < p.rows; i++) {
    bool meets = false;
    for (int64_t q = p.offsets[i]; q < p.offsets[i + 1]; q++) meets |= p.columns[q] == poisoned;
    met += meets;
    for (int64_t j = 0; j < o.n; j++)
      wrong += (bool)isnan(load(c.data(), i * o.n + j, t.out)) != (meets && j == 5);
  }
  check(!wrong && met, "a NaN of B reaches the %d rows that store its column, and no other", met);
}

void test_repeats(Arena &m, const Named &pattern, bool split)
{
  constexpr int repeats = sized(20, 3);
  for (int which : {0, 4, 5}) {
    const Types &t = kTypes[which];
    Reference ref = make_reference(pattern.p, t, 80);
    Options o;
    o.n = 64;
    o.alpha = 0.7;
    std::vector<char> first;
    int differ = 0;
    for (int i = 0; i < repeats; i++) {
      Case k = make_case(m, pattern.p, ref, t, o);
      CUDA_OK(cudaMemset(m.workspace.device, i % 2 ? 0xff : 0, k.workspace_bytes));
      launch(m, k, split);
      std::vector<char> c = download(m.c, k.c_bytes);
      if (i == 0) first = c;
      differ += c != first;
    }
    check(!differ, "%s, %s%s: %d repeats give the same bits", t.name, pattern.name,
          split ? ", by rows" : "", repeats);
  }
}

void test_capture(Arena &m, const Pattern &p)
{
  const Types &t = kTypes[4];
  Options o;
  o.n = 128;
  o.scalars_on_device = true;
  o.b_by_column = true;
  Reference ref = make_reference(p, t, 81);
  Case k = make_case(m, p, ref, t, o);
  Captured calls([&](cudaStream_t s) {
    return shunt_csr_spmm_merge_cuda(&k.p, &k.d, m.workspace.device, k.workspace_bytes, s) ==
           SHUNT_OK;
  });
  int wrong = !calls.good;
  for (int replay = 0; replay < 3; replay++) {
    o.alpha = 1 + replay;
    o.beta = replay == 1 ? 0.5 : 0; // beta turns 0 between replays, and back
    ref = make_reference(p, t, 82 + replay);
    k = make_case(m, p, ref, t, o);
    calls.replay();
    const char *what = verdict(m, k, p, ref, t, o);
    if (what) printf("# replay %d: %s\n", replay, what);
    wrong += what != nullptr;
  }
  check(!wrong, "captured: replays read values and scalars anew");
}

void test_refusals(Arena &m, const Pattern &p)
{
  const Types &t = kTypes[4];
  Options o;
  o.n = 32;
  Reference ref = make_reference(p, t, 90);
  Case k = make_case(m, p, ref, t, o);
  char *w = (char *)m.workspace.device;
  const size_t bytes = k.workspace_bytes;
  auto call = [&](void *at, size_t size) {
    return shunt_csr_spmm_merge_cuda(&k.p, &k.d, at, size, nullptr);
  };
  check(bytes > 0 && call(w, bytes - 1) == SHUNT_E_WORKSPACE &&
            call(nullptr, bytes) == SHUNT_E_WORKSPACE && call(w + 16, bytes) == SHUNT_E_WORKSPACE,
        "a workspace too small, missing or misaligned is refused");
  k.p.c.type = SHUNT_F64;
  check(call(w, bytes) == SHUNT_E_UNSUPPORTED, "types that are not built are refused");
  k.p.c.type = SHUNT_F32;
  k.p.c.cols++;
  check(call(w, bytes) == SHUNT_E_ARGUMENT, "sizes that do not match are refused");
  k.p.c.cols = k.p.b.cols = 0;
  check(call(nullptr, 0) == SHUNT_OK, "no columns: nothing to do");
  check(download(m.c, k.c_bytes) == k.c_before, "refusals leave C alone");
}

} // namespace

int main()
{
  Arena m;
  const std::vector<Named> all = patterns();
  for (bool split : {false, true}) {
    test_nan_spreads(m, all[0].p, split);
    test_repeats(m, all[2], split);
    test_repeats(m, all[4], split);
  }
  test_capture(m, all[4].p);
  test_refusals(m, all[0].p);
  return finish();
}
