// test_csr_spmm.cu: shunt_csr_spmm_merge_cuda against a float64 reference.
//
//   test_csr_spmm                       the checks
//   test_csr_spmm --time FILE.csrbin..  and times, with cuSPARSE's (time_csr_spmm.cuh)
//   test_csr_spmm --tune FILE.csrbin..  and times of other ways to cut the work
//
// Every combination of types, layouts, index forms, widths and patterns runs; what
// else may vary (leading dimensions, alignment, scalars, the size of the device that
// the work is cut for) takes turns from case to case.
#include "tests/gpu/csr/csr_spmm_case.cuh"
#include "tests/gpu/csr/time_csr_spmm.cuh"

using namespace harness;

namespace
{

// Runs one case by one of the two kernels; prints what is wrong.
bool run_once(Arena &m, const Pattern &p, const Reference &r, const Types &t, const Options &o,
              bool split)
{
  Case k = make_case(m, p, r, t, o);
  if (k.workspace_bytes + 256 > (64u << 20)) {
    printf("# workspace of %zu bytes\n", k.workspace_bytes);
    return false;
  }
  char *end = (char *)m.workspace.device + k.workspace_bytes;
  CUDA_OK(cudaMemset(m.workspace.device, 0xff, k.workspace_bytes + 256));
  shunt_status status = launch(m, k, split, o.n % 2 ? -1 : 1);
  cudaError_t e = cudaDeviceSynchronize();
  const char *wrong = nullptr;
  if (status != SHUNT_OK || e != cudaSuccess) wrong = "failed";
  if (!wrong) {
    uint64_t guard[32];
    CUDA_OK(cudaMemcpy(guard, end, sizeof guard, cudaMemcpyDeviceToHost));
    for (uint64_t g : guard)
      if (g != ~0ull) wrong = "wrote behind the workspace";
  }
  if (!wrong) wrong = verdict(m, k, p, r, t, o);
  if (wrong)
    printf("# %s: %s: %s (status %d, %s)\n", t.name, describe(o), wrong, status,
           cudaGetErrorString(e));
  return !wrong;
}

// Both kernels, where both take it.
bool run_case(Arena &m, const Pattern &p, const Reference &r, const Types &t, const Options &o)
{
  bool also_split = o.only_if < 0;
  return run_once(m, p, r, t, o, false) && (!also_split || run_once(m, p, r, t, o, true));
}

void test_combinations(Arena &m, const std::vector<Named> &all)
{
  static const int64_t widths[] = {1, 3, 4, 8, 32, 33, 64, 128, 200, 257};
  Random r(42);
  Sample matrices(2), sample(47);
  for (const Types &t : kTypes)
    for (const Named &pattern : all) {
      if (matrices.leaves_out()) continue;
      Reference ref = make_reference(pattern.p, t, 77);
      int cases = 0, wrong = 0;
      for (int64_t n : widths)
        // All 16 forms for f32; every other one, in turns, for the rest.
        for (int form = 0; form < 16; form++) {
          if (left_out()) continue;
          if (t.in != SHUNT_F32 && (form + form / 4 + n) % 2) continue;
          if (sample.leaves_out()) continue;
          if (wrong < 3) wrong += !run_case(m, pattern.p, ref, t, vary(t, n, form, r));
          cases++;
        }
      check(!wrong, "%s, %s: %d cases", t.name, pattern.name, cases);
    }
}

void test_only_if(Arena &m, const std::vector<Named> &all)
{
  Random r(43);
  Sample sample(5);
  for (const Types &t : kTypes) {
    int wrong = 0;
    for (size_t i = 0; i < all.size(); i += sized(1, 2)) {
      Reference ref = make_reference(all[i].p, t, 78);
      for (int form = 0; form < 16; form += 3) {
        if (sample.leaves_out()) continue;
        Options o = vary(t, form % 2 ? 33 : 64, form, r);
        o.only_if = 1;
        Case k = make_case(m, all[i].p, ref, t, o);
        wrong += k.workspace_bytes != 0;
        wrong += shunt_csr_spmm_merge_cuda(&k.p, &k.d, nullptr, 0, nullptr) != SHUNT_OK;
        wrong += verdict(m, k, all[i].p, ref, t, o) != nullptr;
        o.only_if = 0;
        k = make_case(m, all[i].p, ref, t, o);
        wrong += shunt_csr_spmm_merge_cuda(&k.p, &k.d, nullptr, 0, nullptr) != SHUNT_OK;
        wrong += download(m.c, k.c_bytes) != k.c_before;
      }
    }
    check(!wrong, "%s: only_if 0 and not 0, without workspace", t.name);
  }
}

// More tiles than the device holds at once, long rows among them.
void test_large()
{
  const int64_t n = 64;
  Pattern p = skewed_pattern(sized(200000, 4000), sized(60000, 700), 6, 11);
  Random r(12);
  std::vector<float> a(p.nnz()), b(p.cols * n), c(p.rows * n);
  std::vector<int32_t> offsets(p.offsets.begin(), p.offsets.end());
  std::vector<int32_t> columns(p.columns.begin(), p.columns.end());
  for (float &x : a) x = (float)r.value();
  for (float &x : b) x = (float)r.value();
  Buffer da(a.size() * 4), db(b.size() * 4), dc(c.size() * 4), dp(offsets.size() * 4),
      dj(columns.size() * 4);
  CUDA_OK(cudaMemcpy(da.device, a.data(), a.size() * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(db.device, b.data(), b.size() * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(dp.device, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(dj.device, columns.data(), columns.size() * 4, cudaMemcpyHostToDevice));
  shunt_spmm q = {};
  q.a = {p.rows, p.cols, p.nnz(), dp.device, dj.device, da.device, SHUNT_I32, SHUNT_F32, 0};
  q.b = {p.cols, n, n, 1, db.device, SHUNT_F32};
  q.c = {p.rows, n, n, 1, dc.device, SHUNT_F32};
  q.alpha.host = 1;
  q.compute = SHUNT_F32;
  shunt_device d = this_device();
  d.multiprocessors = sized(d.multiprocessors, 1);
  Buffer w(shunt_csr_spmm_workspace(&q, &d));
  for (bool split : {false, true}) {
    shunt_status s = split ? shunt_csr_spmm_split_cuda(&q, 3, &d, nullptr, 0, nullptr)
                           : shunt_csr_spmm_merge_cuda(&q, &d, w.device, w.host.size(), nullptr);
    CUDA_OK(cudaMemcpy(c.data(), dc.device, c.size() * 4, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemset(dc.device, 0xff, c.size() * 4));
    int64_t wrong = s != SHUNT_OK;
    for (int64_t i = 0; i < p.rows; i++) {
      double sum[64] = {}, scale[64] = {};
      for (int64_t k = p.offsets[i]; k < p.offsets[i + 1]; k++)
        for (int64_t j = 0; j < n; j++) {
          double x = (double)a[k] * b[p.columns[k] * n + j];
          sum[j] += x;
          scale[j] += fabs(x);
        }
      for (int64_t j = 0; j < n; j++)
        wrong += !(fabs(c[i * n + j] - sum[j]) <= tolerance(SHUNT_F32, SHUNT_F32, scale[j], sum[j],
                                                            p.offsets[i + 1] - p.offsets[i]));
    }
    check(!wrong, "%lld rows, %lld entries, more blocks than fit at once%s", (long long)p.rows,
          (long long)p.nnz(), split ? ", by rows" : "");
  }
}

} // namespace

int main(int argc, char **argv)
{
  const bool tune = argc > 1 && !strcmp(argv[1], "--tune");
  const bool timed = tune || (argc > 1 && !strcmp(argv[1], "--time"));
  {
    Arena m;
    std::vector<Named> all = patterns();
    test_combinations(m, all);
    test_only_if(m, all);
  }
  test_large();
  if (timed && !time_csr_spmm(argc - 2, argv + 2, tune)) check_failed++;
  return finish();
}
