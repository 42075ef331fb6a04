// test_csr_spmm_transposed.cu: C = alpha A^T B + beta C against float64 and the host twin; and
// the repair that runs it only for a reason.
//
//   test_csr_spmm_transposed            the checks
//   test_csr_spmm_transposed --time     and what a product, and a repair not needed, cost
#include "kernels/csr/csr_kernels.h"
#include "kernels/guard/guard.h"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

namespace
{

shunt_device device;

struct Case {
  const char *name;
  Pattern p;
  int64_t n;
  shunt_type type = SHUNT_F32, out = SHUNT_F32, index = SHUNT_I32;
  int base = 0;
  bool b_by_column = false, c_by_column = false;
  double alpha = 1, beta = 0;
  bool device_scalars = false;
};

// Arrays of one case.  C's padding, and C itself where beta is 0, hold NaN bits.
//
//   row-major   stride = columns + 3     column-major   stride = rows + 5
struct Lab {
  const Case &k;
  int64_t rows, cols, b_ld, c_ld;
  Buffer offsets, columns, values, b, c, scalars;
  std::vector<char> before;

  explicit Lab(const Case &k)
      : k(k), rows(k.p.rows), cols(k.p.cols), b_ld(k.b_by_column ? rows + 5 : k.n + 3),
        c_ld(k.c_by_column ? cols + 5 : k.n + 3),
        offsets(k.p.offsets.size() * shunt_type_size(k.index)),
        columns(k.p.columns.size() * shunt_type_size(k.index)),
        values(k.p.columns.size() * shunt_type_size(k.type)),
        b((size_t)(b_ld * (k.b_by_column ? k.n : rows)) * shunt_type_size(k.type)),
        c((size_t)(c_ld * (k.c_by_column ? k.n : cols)) * shunt_type_size(k.out)), scalars(8)
  {
    Random r(9);
    for (size_t i = 0; i < k.p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, k.index, (double)(k.p.offsets[i] + k.base));
    for (size_t i = 0; i < k.p.columns.size(); i++)
      store(columns.host.data(), (int64_t)i, k.index, (double)(k.p.columns[i] + k.base));
    for (int64_t i = 0; i < k.p.nnz(); i++) store(values.host.data(), i, k.type, r.value());
    std::fill(b.host.begin(), b.host.end(), (char)0xff);
    for (int64_t l = 0; l < rows; l++)
      for (int64_t j = 0; j < k.n; j++) store(b.host.data(), b_at(l, j), k.type, r.value());
    std::fill(c.host.begin(), c.host.end(), (char)0xff);
    for (int64_t i = 0; i < cols && k.beta != 0; i++)
      for (int64_t j = 0; j < k.n; j++) store(c.host.data(), c_at(i, j), k.out, r.value());
    store(scalars.host.data(), 0, SHUNT_F32, k.alpha);
    store(scalars.host.data(), 1, SHUNT_F32, k.beta);
    before = c.host;
    for (Buffer *x : {&offsets, &columns, &values, &b, &c, &scalars}) x->upload();
    CUDA_OK(cudaDeviceSynchronize());
  }

  int64_t b_at(int64_t l, int64_t j) const { return k.b_by_column ? j * b_ld + l : l * b_ld + j; }
  int64_t c_at(int64_t i, int64_t j) const { return k.c_by_column ? j * c_ld + i : i * c_ld + j; }

  shunt_spmm problem(bool on_device)
  {
    auto at = [&](Buffer &x) { return on_device ? x.device : (void *)x.host.data(); };
    shunt_spmm p = {};
    p.a = shunt_csr{rows,       cols,    k.p.nnz(), at(offsets), at(columns),
                    at(values), k.index, k.type,    k.base};
    p.b = shunt_dense{rows, k.n, k.b_by_column ? 1 : b_ld, k.b_by_column ? b_ld : 1, at(b), k.type};
    p.c = shunt_dense{cols, k.n, k.c_by_column ? 1 : c_ld, k.c_by_column ? c_ld : 1, at(c), k.out};
    p.alpha.host = k.alpha;
    p.beta.host = k.beta;
    if (k.device_scalars) {
      p.alpha.device = at(scalars);
      p.beta.device = (char *)at(scalars) + 4;
    }
    p.compute = SHUNT_F32;
    return p;
  }

  void restore()
  {
    c.host = before;
    c.upload();
    CUDA_OK(cudaDeviceSynchronize());
  }

  // What `c.host` holds is right; everything outside of C is as it was.
  bool right()
  {
    std::vector<double> sum((size_t)(cols * k.n)), scale(sum.size());
    std::vector<int64_t> terms((size_t)cols);
    for (int64_t l = 0; l < rows; l++)
      for (int64_t q = k.p.offsets[(size_t)l]; q < k.p.offsets[(size_t)l + 1]; q++) {
        int64_t i = k.p.columns[(size_t)q];
        terms[(size_t)i]++;
        for (int64_t j = 0; j < k.n; j++) {
          double v = load(values.host.data(), q, k.type) * load(b.host.data(), b_at(l, j), k.type);
          sum[(size_t)(i * k.n + j)] += v;
          scale[(size_t)(i * k.n + j)] += fabs(v);
        }
      }
    std::vector<char> rest = c.host;
    size_t size = shunt_type_size(k.out);
    for (int64_t i = 0; i < cols; i++)
      for (int64_t j = 0; j < k.n; j++) {
        size_t at = (size_t)c_at(i, j), e = (size_t)(i * k.n + j);
        double old = k.beta == 0 ? 0 : k.beta * load(before.data(), (int64_t)at, k.out);
        double want = k.alpha * sum[e] + old, got = load(c.host.data(), (int64_t)at, k.out);
        double limit = tolerance(k.out, SHUNT_F32, fabs(k.alpha) * scale[e] + fabs(old), want,
                                 terms[(size_t)i] + 1);
        if (!(fabs(got - want) <= limit)) {
          printf("# (%lld, %lld) is %.9g, want %.9g +- %.2g\n", (long long)i, (long long)j, got,
                 want, limit);
          return false;
        }
        memcpy(&rest[at * size], &before[at * size], size);
      }
    return rest == before;
  }
};

void test_case(const Case &k)
{
  Lab lab(k);
  shunt_spmm p = lab.problem(true), on_host = lab.problem(false);
  shunt_status s = shunt_csr_spmm_transposed_cuda(&p, &device, 0);
  cudaError_t e = cudaDeviceSynchronize();
  lab.c.download();
  bool good = s == SHUNT_OK && e == cudaSuccess && lab.right();
  std::vector<char> first = lab.c.host;
  lab.restore();
  s = shunt_csr_spmm_transposed_cuda(&p, &device, 0);
  e = cudaDeviceSynchronize();
  lab.c.download();
  check(good && s == SHUNT_OK && e == cudaSuccess && first == lab.c.host,
        "%s: right, and the same bits again", k.name);
  lab.c.host = lab.before;
  s = shunt_csr_spmm_transposed_host(&on_host);
  check(s == SHUNT_OK && lab.right(), "%s: the twin is right", k.name);
}

Pattern tall()
{
  return random_pattern(5000, 7, 0.02, 1, 3);
}
Pattern wide()
{
  return random_pattern(9, 3000, 0.5, 1, 4);
}

// Columns out of order, every third one twice.
Pattern irregular()
{
  Pattern p = random_pattern(90, 70, 0.4, 1, 5);
  for (int64_t i = 0; i < p.rows; i++) {
    auto first = p.columns.begin() + p.offsets[(size_t)i];
    auto last = p.columns.begin() + p.offsets[(size_t)i + 1];
    std::reverse(first, last);
    for (auto c = first; c + 1 < last; c += 3) c[1] = c[0];
  }
  return p;
}

void test_shapes()
{
  std::vector<Case> cases;
  auto add = [&](const char *name, Pattern p, int64_t n) {
    Case k;
    k.name = name;
    k.p = p;
    k.n = n;
    cases.push_back(k);
    return &cases.back();
  };
  add("1 x 1", random_pattern(1, 1, 1.1, 1, 1), 1);
  add("no entries", random_pattern(50, 40, 0, 1, 1), 20);
  add("64 x 32 by 64", random_pattern(64, 32, 0.5, 1, 2), 64);
  add("131 x 257 by 193", random_pattern(131, 257, 0.3, 1, 2), 193);
  add("tall", tall(), 40);
  add("wide", wide(), 33);
  add("irregular", irregular(), 65);
  add("skewed", skewed_pattern(400, 300, 9, 6), 31);
  for (Case &k : cases) test_case(k);
}

void test_types()
{
  static const struct {
    shunt_type type, out;
    const char *name;
  } types[] = {{SHUNT_F16, SHUNT_F16, "f16"},
               {SHUNT_F16, SHUNT_F32, "f16 > f32"},
               {SHUNT_BF16, SHUNT_BF16, "bf16"},
               {SHUNT_BF16, SHUNT_F32, "bf16 > f32"},
               {SHUNT_F32, SHUNT_F32, "f32"}};
  for (auto &t : types)
    for (int i = 0; i < 8; i++) {
      Case k;
      char name[80];
      snprintf(name, sizeof name, "%s, i%d base %d, %c%c, alpha %g beta %g%s", t.name,
               i & 1 ? 64 : 32, (i >> 1) & 1, i & 2 ? 'c' : 'r', i & 4 ? 'c' : 'r',
               i & 1 ? -1.5 : 1.0, i & 4 ? 0.5 : 0.0, i & 2 ? " (device)" : "");
      k.name = name;
      k.p = random_pattern(120, 75, 0.3, 1, 7);
      k.n = 70;
      k.type = t.type;
      k.out = t.out;
      k.index = i & 1 ? SHUNT_I64 : SHUNT_I32;
      k.base = (i >> 1) & 1;
      k.b_by_column = (i & 2) != 0;
      k.c_by_column = (i & 4) != 0;
      k.alpha = i & 1 ? -1.5 : 1;
      k.beta = i & 4 ? 0.5 : 0;
      k.device_scalars = (i & 2) != 0;
      test_case(k);
    }
}

// ---- the repair --------------------------------------------------------------------

enum { FLAG = 1, CHANGED = 2, NONFINITE = 4 };
enum { ONLY_IF, VERDICT, CANARY, WORDS };

void test_repair(int reasons, bool asks, bool separate, bool c_by_column)
{
  Case k;
  k.name = "repair";
  k.p = random_pattern(100, 90, 0.2, 1, 8);
  k.n = 50;
  k.type = SHUNT_F16;
  k.out = SHUNT_F16;
  k.beta = separate ? 0.5 : 0;
  k.c_by_column = c_by_column;
  Lab lab(k);
  Buffer words(WORDS * 4), prints(3 * sizeof(shunt_fingerprint)),
      scratch(SHUNT_FINGERPRINT_SCRATCH);
  Buffer w((size_t)(lab.cols * k.n) * 4);
  uint32_t *pinned;
  CUDA_OK(cudaHostAlloc((void **)&pinned, 8, cudaHostAllocPortable));
  pinned[0] = pinned[1] = 0;

  shunt_spmm p = lab.problem(true);
  shunt_fingerprint *print = (shunt_fingerprint *)prints.device;
  shunt_status s = shunt_fingerprint_csr_cuda(&p.a, print, &device, scratch.device, 0);
  CUDA_OK(cudaDeviceSynchronize());
  prints.download();
  shunt_fingerprint *f = (shunt_fingerprint *)prints.host.data();
  f[1] = f[2] = f[0];
  f[1].hi ^= 1;
  prints.upload();

  // The product is finite but for one element of its first row; below stands what nobody
  // may mind.
  shunt_dense product = p.c;
  if (separate) {
    product = shunt_dense{lab.cols, k.n, k.n, 1, w.device, SHUNT_F32};
    std::fill(w.host.begin(), w.host.end(), (char)0xff);
    for (int64_t j = 0; j < k.n; j++) store(w.host.data(), j, SHUNT_F32, 1);
    if (reasons & NONFINITE) store(w.host.data(), k.n - 1, SHUNT_F32, INFINITY);
    w.upload();
  } else {
    for (int64_t j = 0; j < k.n; j++) store(lab.c.host.data(), lab.c_at(0, j), SHUNT_F16, 1);
    if (reasons & NONFINITE) store(lab.c.host.data(), lab.c_at(0, k.n - 1), SHUNT_F16, NAN);
    lab.c.upload();
    lab.before = lab.c.host;
  }
  uint32_t *word = (uint32_t *)words.host.data();
  word[ONLY_IF] = reasons & FLAG ? SHUNT_IRREGULAR : 0;
  word[VERDICT] = word[CANARY] = 0xdeadbeef;
  words.upload();
  CUDA_OK(cudaDeviceSynchronize());

  p.only_if = (uint32_t *)words.device + ONLY_IF;
  shunt_guard r = {};
  r.product = &product;
  r.expected = asks ? print + (reasons & CHANGED ? 1 : 2) : nullptr;
  r.repaired = (uint32_t *)words.device + VERDICT;
  r.changed = pinned;
  r.nonfinite = pinned + 1;
  if (s == SHUNT_OK)
    s = shunt_guard_repair_transposed_cuda(&p, &r, asks ? print : nullptr, &device, 0);
  cudaError_t e = cudaDeviceSynchronize();
  words.download();
  lab.c.download();
  bool needed = (reasons & (FLAG | NONFINITE)) || (asks && (reasons & CHANGED));
  bool changed = asks && (reasons & CHANGED);
  check(s == SHUNT_OK && e == cudaSuccess && word[VERDICT] == (uint32_t)needed &&
            word[CANARY] == 0xdeadbeef && pinned[0] == (uint32_t)changed &&
            pinned[1] == (uint32_t)((reasons & NONFINITE) && !changed) &&
            (needed ? lab.right() : lab.c.host == lab.before),
        "reasons %d%s, product %s, C by %s: %s", reasons, asks ? "" : ", no fingerprint",
        separate ? "apart" : "is C", c_by_column ? "column" : "row",
        needed ? "repaired" : "left alone");
  CUDA_OK(cudaFreeHost(pinned));
}

// A condition of the caller's own, and what is refused.
void test_contract()
{
  Case k;
  k.name = "contract";
  k.p = random_pattern(30, 40, 0.3, 1, 8);
  k.n = 9;
  Lab lab(k);
  Buffer word(4);
  word.host.assign(4, 0);
  word.upload();
  CUDA_OK(cudaDeviceSynchronize());
  shunt_spmm p = lab.problem(true), q = p;
  p.only_if = (uint32_t *)word.device;
  shunt_status s = shunt_csr_spmm_transposed_cuda(&p, &device, 0);
  CUDA_OK(cudaDeviceSynchronize());
  lab.c.download();
  check(s == SHUNT_OK && lab.c.host == lab.before, "only_if 0: C is left alone");
  word.host[0] = 1;
  word.upload();
  CUDA_OK(cudaDeviceSynchronize());
  s = shunt_csr_spmm_transposed_cuda(&p, &device, 0);
  CUDA_OK(cudaDeviceSynchronize());
  lab.c.download();
  check(s == SHUNT_OK && lab.right(), "only_if 1: C is computed");
  q.compute = SHUNT_F64;
  check(shunt_csr_spmm_transposed_cuda(&q, &device, 0) == SHUNT_E_UNSUPPORTED, "compute f64");
  q = p;
  q.b.rows++;
  check(shunt_csr_spmm_transposed_cuda(&q, &device, 0) == SHUNT_E_ARGUMENT, "inner sizes differ");
  shunt_guard r = {};
  r.product = &p.c;
  check(shunt_guard_repair_transposed_cuda(&p, &r, nullptr, &device, 0) == SHUNT_E_ARGUMENT,
        "no verdict word");
}

void print_times()
{
  for (int64_t n : {64, 1024})
    for (double density : {0.1, 0.5}) {
      Case k;
      k.name = "time";
      k.p = random_pattern(4096, 4096, density, 1, 2);
      k.n = n;
      k.type = k.out = SHUNT_F16;
      Lab lab(k);
      shunt_spmm p = lab.problem(true);
      double us =
          time_graph([&](cudaStream_t s) { shunt_csr_spmm_transposed_cuda(&p, &device, s); }, 2);
      Buffer word(4);
      CUDA_OK(cudaMemset(word.device, 0, 4));
      p.only_if = (uint32_t *)word.device;
      double idle =
          time_graph([&](cudaStream_t s) { shunt_csr_spmm_transposed_cuda(&p, &device, s); });
      printf("time us=%.1f idle_us=%.2f f16 4096 x 4096 transposed, density %g, n %lld\n", us, idle,
             density, (long long)n);
    }
}

} // namespace

int main(int argc, char **argv)
{
  device = this_device();
  test_shapes();
  test_types();
  for (int reasons = 0; reasons < 8; reasons++)
    for (int how = 0; how < 8; how++) test_repair(reasons, how & 1, how & 2, how & 4);
  test_contract();
  if (argc > 1 && !strcmp(argv[1], "--time")) print_times();
  return finish();
}
