// test_repair.cu: shunt_spmm_csr_repair_cuda leaves C alone when nothing speaks against
// the dense copy of A, and computes all of C again for each reason that may.
//
//   test_repair            the checks
//   test_repair --time     and what a repair costs that is not needed
//
// C's padding holds NaN bits throughout: it must neither raise an alarm nor change.
#include "tests/gpu/harness.cuh"

using namespace harness;

namespace {

shunt_device device;
uint32_t *pinned;  // [0] changed, [1] nonfinite

enum { FLAG = 1, CHANGED = 2, NONFINITE = 4 };  // reasons to repair

// Device words of one launch: only_if, blocks_done, verdict, and a canary.
enum { ONLY_IF, BLOCKS_DONE, VERDICT, CANARY, WORDS };

struct How {
  int reasons = 0;
  bool asks_flag = true, asks_parts = true, tells = true;  // what struct shunt_repair names
  double special = NAN;  // and where in the product's first row it stands, if NONFINITE
  int64_t at = 0;
  bool separate = false;  // the product is a matrix W, not C
  bool column_order = false;
  shunt_type out = SHUNT_F32;
  double alpha = 1, beta = 0;
  int expected = 0;  // which wrong fingerprint, if CHANGED
};

double largest(shunt_type t)
{
  return t == SHUNT_F16 ? 65504 : t == SHUNT_BF16 ? 0x1.fep127 : 0x1.fffffep127;
}

// A in CSR, B, and the product's sums in float64.
struct Lab {
  Pattern p;
  int64_t n;
  shunt_type type, index;
  int base;
  Buffer offsets, columns, values, b, parts, expected, words;
  std::vector<double> a_values, b_values, sum, scale;
  shunt_csr a;

  Lab(const Pattern &p, int64_t n, shunt_type type, shunt_type index, int base)
      : p(p), n(n), type(type), index(index), base(base),
        offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)),
        values(p.columns.size() * shunt_type_size(type)),
        b((size_t)(p.cols * n) * shunt_type_size(type)), parts(SHUNT_FINGERPRINT_SCRATCH),
        expected(4 * sizeof(shunt_fingerprint)), words(WORDS * 4)
  {
    Random r(77);
    for (size_t i = 0; i < p.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, index, (double)(p.offsets[i] + base));
    for (size_t i = 0; i < p.columns.size(); i++)
      store(columns.host.data(), (int64_t)i, index, (double)(p.columns[i] + base));
    for (int64_t i = 0; i < p.nnz(); i++) store(values.host.data(), i, type, r.value());
    for (int64_t i = 0; i < p.cols * n; i++) store(b.host.data(), i, type, r.value());
    offsets.upload();
    columns.upload();
    a = shunt_csr{ p.rows,         p.cols, p.nnz(), offsets.device, columns.device,
                   values.device, index,  type,    base };
    take_fingerprints();
    refresh();
  }

  // [0] A's, [1] with another lo, [2] with another hi, [3] of A with one value changed.
  void take_fingerprints()
  {
    shunt_fingerprint *f = (shunt_fingerprint *)expected.host.data();
    shunt_fingerprint *at = (shunt_fingerprint *)expected.device;
    size_t size = shunt_type_size(type);
    if (p.nnz()) values.host[values.host.size() - size] ^= 1;
    values.upload();
    shunt_status s = shunt_fingerprint_csr_cuda(&a, at + 3, &device, parts.device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    if (p.nnz()) values.host[values.host.size() - size] ^= 1;
    values.upload();
    if (s == SHUNT_OK) s = shunt_fingerprint_csr_cuda(&a, at, &device, parts.device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    expected.download();
    f[1] = f[2] = f[0];
    f[1].lo ^= 1;
    f[2].hi ^= (uint64_t)1 << 63;
    if (!p.nnz()) f[3] = f[1];
    expected.upload();
    if (s == SHUNT_OK)
      s = shunt_fingerprint_parts_cuda(&a, (shunt_fingerprint *)parts.device, nullptr, &device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    if (s != SHUNT_OK) check(false, "a fingerprint: status %d", (int)s);
  }

  // Device copies of A's values and B, and the sums.
  void refresh()
  {
    values.upload();
    b.upload();
    a_values.resize((size_t)p.nnz());
    b_values.resize((size_t)(p.cols * n));
    for (size_t i = 0; i < a_values.size(); i++)
      a_values[i] = load(values.host.data(), (int64_t)i, type);
    for (size_t i = 0; i < b_values.size(); i++)
      b_values[i] = load(b.host.data(), (int64_t)i, type);
    sum.assign((size_t)(p.rows * n), 0);
    scale.assign((size_t)(p.rows * n), 0);
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t q = p.offsets[i]; q < p.offsets[i + 1]; q++)
        for (int64_t j = 0; j < n; j++) {
          double v = a_values[(size_t)q] * b_values[(size_t)(p.columns[(size_t)q] * n + j)];
          sum[(size_t)(i * n + j)] += v;
          scale[(size_t)(i * n + j)] += fabs(v);
        }
  }
};

// The output of one launch, and the product when that is another matrix.
//
//   row-major     stride = n + 5         column-major   stride = rows + 3
struct Output {
  Lab &lab;
  How how;
  int64_t row_stride, col_stride, stored;
  Buffer c, w;
  std::vector<char> before;

  Output(Lab &lab, const How &how)
      : lab(lab), how(how), row_stride(how.column_order ? 1 : lab.n + 5),
        col_stride(how.column_order ? lab.p.rows + 3 : 1),
        stored(how.column_order ? lab.n * col_stride : lab.p.rows * row_stride),
        c((size_t)stored * shunt_type_size(how.out)),
        w(how.separate ? (size_t)(lab.p.rows * (lab.n + 2)) * 4 : 4)
  {
    fill();
  }

  int64_t place(int64_t i, int64_t j) const { return i * row_stride + j * col_stride; }

  // Numbers everywhere, the largest one in the first row of the product; its other rows
  // hold NaN, which nobody may mind, unless they count as C's old content.
  void fill()
  {
    Random r(5);
    std::fill(c.host.begin(), c.host.end(), (char)0xff);
    std::fill(w.host.begin(), w.host.end(), (char)0xff);
    for (int64_t i = 0; i < lab.p.rows; i++)
      for (int64_t j = 0; j < lab.n; j++)
        if (i == 0 || how.beta != 0 || (i + j) % 7)
          store(c.host.data(), place(i, j), how.out, r.value());
    if (how.separate)
      for (int64_t j = 0; j < lab.n; j++) store(w.host.data(), j, SHUNT_F32, r.value());
    void *first = how.separate ? w.host.data() : c.host.data();
    shunt_type t = how.separate ? SHUNT_F32 : how.out;
    int64_t step = how.separate ? 1 : col_stride;
    if (how.beta == 0 || how.separate) store(first, 0, t, largest(t));
    if (how.reasons & NONFINITE) store(first, how.at * step, t, how.special);
    c.upload();
    w.upload();
    before = c.host;
  }

  shunt_status launch(cudaStream_t stream = 0)
  {
    uint32_t *word = (uint32_t *)lab.words.device;
    const shunt_fingerprint *expected = (const shunt_fingerprint *)lab.expected.device;
    shunt_spmm p = {};
    p.a = lab.a;
    p.b = shunt_dense{ lab.p.cols, lab.n, lab.n, 1, lab.b.device, lab.type };
    p.c = shunt_dense{ lab.p.rows, lab.n, row_stride, col_stride, c.device, how.out };
    p.alpha.host = how.alpha;
    p.beta.host = how.beta;
    p.compute = SHUNT_F32;
    p.only_if = how.asks_flag ? word + ONLY_IF : nullptr;
    shunt_dense product = p.c;
    if (how.separate)
      product = shunt_dense{ lab.p.rows, lab.n, lab.n + 2, 1, w.device, SHUNT_F32 };
    shunt_repair r = {};
    r.product = &product;
    if (how.asks_parts) {
      r.parts = (const shunt_fingerprint *)lab.parts.device;
      r.expected = expected + (how.reasons & CHANGED ? 1 + how.expected % 3 : 0);
      r.part_count = shunt_fingerprint_parts(&lab.a, &device);
    }
    r.blocks_done = word + BLOCKS_DONE;
    r.verdict = how.tells ? word + VERDICT : nullptr;
    r.changed = how.tells ? pinned : nullptr;
    r.nonfinite = how.tells ? pinned + 1 : nullptr;
    return shunt_spmm_csr_repair_cuda(&p, &r, &device, stream);
  }

  // What every word must say.
  bool words_right()
  {
    lab.words.download();
    const uint32_t *word = (const uint32_t *)lab.words.host.data();
    uint32_t verdict = !how.tells ? 0xdeadbeefu : how.reasons != 0;
    uint32_t changed = how.tells && (how.reasons & CHANGED);
    uint32_t nonfinite = how.tells && (how.reasons & (CHANGED | NONFINITE)) == NONFINITE;
    if (word[VERDICT] == verdict && word[CANARY] == 0xdeadbeefu && pinned[0] == changed &&
        pinned[1] == nonfinite && word[ONLY_IF] == (how.reasons & FLAG ? 8u : 0u))
      return true;
    printf("# verdict %u, changed %u, nonfinite %u\n", word[VERDICT], pinned[0], pinned[1]);
    return false;
  }

  bool element_right(int64_t i, int64_t j)
  {
    size_t at = (size_t)(i * lab.n + j);
    double old = how.beta == 0 ? 0 : how.beta * load(before.data(), place(i, j), how.out);
    double want = how.alpha * lab.sum[at] + old, got = load(c.host.data(), place(i, j), how.out);
    int64_t terms = lab.p.offsets[i + 1] - lab.p.offsets[i] + 1;
    if (isnan(want) || isinf(want)) return isnan(want) ? isnan(got) : got == want;
    return fabs(got - want) <= tolerance(how.out, SHUNT_F32,
                                         fabs(how.alpha) * lab.scale[at] + fabs(old), want, terms);
  }

  // C is untouched, or right with its padding untouched.
  bool content_right()
  {
    c.download();
    if (how.reasons == 0) return c.host == before;
    size_t size = shunt_type_size(how.out);
    std::vector<char> inside((size_t)stored);
    for (int64_t i = 0; i < lab.p.rows; i++)
      for (int64_t j = 0; j < lab.n; j++) {
        inside[(size_t)place(i, j)] = 1;
        if (element_right(i, j)) continue;
        printf("# (%lld, %lld) is %g, the sum is %g\n", (long long)i, (long long)j,
               load(c.host.data(), place(i, j), how.out), lab.sum[(size_t)(i * lab.n + j)]);
        return false;
      }
    for (size_t at = 0; at < (size_t)stored; at++)
      if (!inside[at] && memcmp(&c.host[at * size], &before[at * size], size) != 0) return false;
    return true;
  }

  void set_words()
  {
    uint32_t *word = (uint32_t *)lab.words.host.data();
    for (int i = 0; i < WORDS; i++) word[i] = 0xdeadbeefu;
    lab.words.upload();
    word[ONLY_IF] = how.reasons & FLAG ? 8 : 0;
    word[BLOCKS_DONE] = 0;
    lab.words.upload();
    pinned[0] = pinned[1] = 0;
  }

  bool run()
  {
    set_words();
    shunt_status s = launch();
    CUDA_OK(cudaDeviceSynchronize());
    bool good = s == SHUNT_OK && words_right() && content_right();
    if (!good)
      printf("# status %d: %lld x %lld x %lld, C type %d, %s, %s, reasons %d, %g at %lld, alpha %g "
             "beta %g\n",
             (int)s, (long long)lab.p.rows, (long long)lab.p.cols, (long long)lab.n, (int)how.out,
             how.column_order ? "column-major" : "row-major", how.separate ? "W" : "C",
             how.reasons, how.special, (long long)how.at, how.alpha, how.beta);
    return good;
  }
};

bool runs(Lab &lab, const How &how)
{
  Output o(lab, how);
  return o.run();
}

const char *name_of(shunt_type t)
{
  return t == SHUNT_F16 ? "f16" : t == SHUNT_BF16 ? "bf16" : "f32";
}

// ---- every reason alone ------------------------------------------------------------------

// Nothing speaks against the copy, with and without each of the words.
bool rests(Lab &lab, How how)
{
  bool good = true;
  for (int k = 0; k < 8; k++) {
    how.asks_flag = k & 1;
    how.asks_parts = k & 2;
    how.tells = k & 4;
    good &= runs(lab, how);
  }
  return good;
}

bool repairs_flag_and_change(Lab &lab, How how)
{
  bool good = true;
  how.reasons = FLAG;
  good &= runs(lab, how);
  how.asks_parts = how.tells = false;
  good &= runs(lab, how);
  how.asks_parts = how.tells = true;
  for (int k = 0; k < 6; k++) {
    how.reasons = CHANGED;
    how.expected = k;
    how.asks_flag = k < 3;
    good &= runs(lab, how);
  }
  return good;
}

bool repairs_nonfinite(Lab &lab, How how)
{
  bool good = true;
  for (double special : { (double)NAN, (double)INFINITY, -(double)INFINITY })
    for (int64_t at : { (int64_t)0, lab.n / 2, lab.n - 1 }) {
      how.special = special;
      how.at = at;
      how.reasons = NONFINITE;
      how.asks_parts = at != lab.n / 2;
      good &= runs(lab, how);
    }
  how.asks_parts = true;
  for (int also : { (int)FLAG, (int)CHANGED, FLAG | CHANGED }) {
    how.reasons = NONFINITE | also;
    good &= runs(lab, how);
  }
  return good;
}

void test_shape(shunt_type type, int64_t rows, int64_t cols, double density, int64_t n, int turn)
{
  Lab lab(random_pattern(rows, cols, density, 1, (uint64_t)(rows + n)), n, type,
          turn % 2 ? SHUNT_I64 : SHUNT_I32, turn / 2 % 2);
  bool rest = true, told = true, alarm = true;
  for (int k = 0; k < 8; k++) {
    How how;
    how.column_order = k & 1;
    how.separate = k & 2;
    how.out = k & 4 ? SHUNT_F32 : type;
    if (type == SHUNT_F32 && k & 4) break;
    int ways = how.separate ? 3 : 2;
    bool large = rows * n > 100000;  // the host would take long
    if (large && how.column_order != how.separate) continue;
    for (int scaled = 0; scaled < ways; scaled++) {
      if (large && scaled != (k + 2) % ways) continue;
      how.alpha = scaled ? -1.5 : 1;
      how.beta = scaled == 2 ? 0.5 : 0;  // only where the product is not C
      rest &= rests(lab, how);
      told &= repairs_flag_and_change(lab, how);
      alarm &= repairs_nonfinite(lab, how);
    }
  }
  char shape[64];
  snprintf(shape, sizeof shape, "%s, %lld x %lld, N = %lld", name_of(type), (long long)rows,
           (long long)cols, (long long)n);
  check(rest, "%s: nothing to repair, nothing changes", shape);
  check(told, "%s: a word, or a change of A, is enough", shape);
  check(alarm, "%s: NaN or Inf in the product's first row is enough", shape);
}

// ---- the same fifty times ----------------------------------------------------------------

void test_repeats(shunt_type type, bool separate)
{
  Lab lab(random_pattern(1000, 400, 0.1, 1, 3), 300, type, SHUNT_I32, 0);
  How how;
  how.out = type;
  how.separate = separate;
  how.beta = separate ? -0.75 : 0;
  bool good = true, same = true;
  for (int reasons : { (int)FLAG, (int)CHANGED, (int)NONFINITE }) {
    how.reasons = reasons;
    how.at = 299;
    Output o(lab, how);
    std::vector<char> first;
    for (int k = 0; k < 50; k++) {
      o.c.host = o.before;
      o.c.upload();
      o.set_words();
      good &= o.launch() == SHUNT_OK;
      CUDA_OK(cudaDeviceSynchronize());
      good &= o.words_right() && (k ? true : o.content_right());
      o.c.download();
      if (k == 0) first = o.c.host;
      same &= o.c.host == first;
    }
  }
  check(good && same, "%s, %s: 50 repairs for each reason, the same bits each time",
        name_of(type), separate ? "W" : "C");
}

// ---- what probe.cuh claims ---------------------------------------------------------------

// The dense product of A, written out with its zeros, and B: every zero multiplies.
void multiply_dense(const Lab &lab, Output &o)
{
  std::vector<double> d((size_t)(lab.p.rows * lab.p.cols));
  for (int64_t i = 0; i < lab.p.rows; i++)
    for (int64_t q = lab.p.offsets[i]; q < lab.p.offsets[i + 1]; q++)
      d[(size_t)(i * lab.p.cols + lab.p.columns[(size_t)q])] = lab.a_values[(size_t)q];
  for (int64_t i = 0; i < lab.p.rows; i++)
    for (int64_t j = 0; j < lab.n; j++) {
      double sum = 0;
      for (int64_t k = 0; k < lab.p.cols; k++)
        sum += d[(size_t)(i * lab.p.cols + k)] * lab.b_values[(size_t)(k * lab.n + j)];
      store(o.c.host.data(), o.place(i, j), o.how.out, sum);
    }
}

// One NaN or Inf anywhere in B: the dense product's first row tells, and the repair gives
// what the sparse product is, finite wherever no entry of A meets it.
void test_claim(shunt_type type)
{
  Lab lab(random_pattern(40, 60, 0.15, 1, 9), 33, type, SHUNT_I32, 0);
  const double odd[] = { NAN, INFINITY, -INFINITY };
  std::vector<char> finite_b = lab.b.host;
  std::vector<char> in_row((size_t)lab.p.cols);
  for (int64_t q = 0; q < lab.p.offsets[1]; q++) in_row[(size_t)lab.p.columns[(size_t)q]] = 1;
  Random r(41);
  How how;
  how.out = type;
  bool seen = true, right = true;
  int met = 0, missed = 0;
  for (int64_t k = 0; k < 2 * lab.p.cols; k++) {
    int64_t at = k % lab.p.cols, j = r.below(lab.n);
    lab.b.host = finite_b;
    store(lab.b.host.data(), at * lab.n + j, type, odd[k % 3]);
    lab.refresh();
    how.reasons = 0;  // fill() adds nothing of its own
    how.column_order = k & 1;
    Output o(lab, how);
    multiply_dense(lab, o);
    o.c.upload();
    o.before = o.c.host;
    double first = load(o.c.host.data(), o.place(0, j), type);
    seen &= isnan(first) || isinf(first);
    o.how.reasons = NONFINITE;  // what the launch must find
    right &= o.run();
    in_row[(size_t)at] ? met++ : missed++;
  }
  check(seen && met > 0 && missed > 0,
        "%s: one bad element of B shows in the dense product's first row (%d x an entry, %d x a "
        "zero)", name_of(type), met, missed);
  check(right, "%s: and the repair gives the sparse product", name_of(type));
}

// ---- edges -------------------------------------------------------------------------------

void test_edges()
{
  How how;
  how.out = SHUNT_F16;
  bool good = true;
  for (int reasons : { 0, (int)FLAG, (int)CHANGED, (int)NONFINITE }) {
    how.reasons = reasons;
    Lab one(random_pattern(1, 50, 0.5, 1, 2), 40, SHUNT_F16, SHUNT_I32, 1);
    Lab empty(random_pattern(20, 30, 0, 1, 2), 40, SHUNT_F16, SHUNT_I64, 0);
    good &= runs(one, how) && runs(empty, how);
  }
  check(good, "one row; no entries");

  Lab lab(random_pattern(10, 10, 0.5, 1, 2), 8, SHUNT_F16, SHUNT_I32, 0);
  Output o(lab, how);
  shunt_spmm p = {};
  p.a = lab.a;
  p.b = shunt_dense{ 10, 8, 8, 1, lab.b.device, SHUNT_F16 };
  p.c = shunt_dense{ 10, 8, 8, 1, o.c.device, SHUNT_F16 };
  p.alpha.host = 1;
  p.compute = SHUNT_F32;
  shunt_repair r = {};
  r.product = &p.c;
  check(shunt_spmm_csr_repair_cuda(&p, &r, &device, 0) == SHUNT_E_ARGUMENT,
        "a repair wants to count its blocks");
  r.blocks_done = (uint32_t *)lab.words.device + BLOCKS_DONE;
  r.product = nullptr;
  check(shunt_spmm_csr_repair_cuda(&p, &r, &device, 0) == SHUNT_E_ARGUMENT,
        "and a product to look at");
}

// ---- time --------------------------------------------------------------------------------

void time_rest(int64_t n)
{
  Lab lab(random_pattern(4096, 4096, 0.01, 1, 4), n, SHUNT_F16, SHUNT_I32, 0);
  How how;
  how.out = SHUNT_F16;
  Output o(lab, how);
  o.set_words();
  CUDA_OK(cudaDeviceSynchronize());  // other streams do not wait for these copies
  double us = time_graph([&](cudaStream_t s) { o.launch(s); });
  printf("time repair_not_needed 4096x4096_0.99_i32_N%lld %8.2f us\n", (long long)n, us);
}

}  // namespace

int main(int argc, char **argv)
{
  device = this_device();
  CUDA_OK(cudaMallocHost(&pinned, 256));
  int turn = 0;
  for (shunt_type type : { SHUNT_F16, SHUNT_BF16, SHUNT_F32 })
    for (int64_t n : { 1, 33, 300 }) {
      test_shape(type, 7, 20, 0.4, n, turn++);
      test_shape(type, 1000, 400, 0.05, n, turn++);
    }
  for (shunt_type type : { SHUNT_F16, SHUNT_BF16, SHUNT_F32 }) {
    test_repeats(type, false);
    test_repeats(type, true);
    test_claim(type);
  }
  test_edges();
  if (argc > 1 && strcmp(argv[1], "--time") == 0)
    for (int64_t n : { 64, 256, 1024 }) time_rest(n);
  return finish();
}
