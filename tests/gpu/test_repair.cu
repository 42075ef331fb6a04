// test_repair.cu: shunt_spmm_csr_repair_cuda leaves C alone when nothing speaks against
// the dense copy of A, and computes all of C again for each reason that may; whatever else
// runs on the device, and whichever blocks wait for one another.
//
//   test_repair            the checks
//   test_repair --time     and what a proof costs that finds nothing
//
// C's padding holds NaN bits throughout: it must neither raise an alarm nor change.
#include <memory>

#include "tests/gpu/harness.cuh"

using namespace harness;

namespace {

shunt_device device;

enum { FLAG = 1, CHANGED = 2, NONFINITE = 4 };  // reasons to repair

// Device words of one output: only_if, verdict, and a canary.
enum { ONLY_IF, VERDICT, CANARY, WORDS };

// A table of sets, zeroed once, with a canary behind.  All outputs that name no table of
// their own share one, under one key, launch after launch with grids of all sizes.
struct Table {
  int count;
  char *sets;
  explicit Table(int count) : count(count)
  {
    CUDA_OK(cudaMalloc(&sets, bytes() + 64));
    CUDA_OK(cudaMemset(sets, 0, bytes()));
    CUDA_OK(cudaMemset(sets + bytes(), 0x33, 64));
    CUDA_OK(cudaDeviceSynchronize());
  }
  ~Table() { cudaFree(sets); }
  Table(const Table &) = delete;
  Table &operator=(const Table &) = delete;
  size_t bytes() const { return (size_t)count * SHUNT_REPAIR_SET_BYTES; }
  std::vector<char> content() const
  {
    std::vector<char> all(bytes() + 64);
    CUDA_OK(cudaMemcpy(all.data(), sets, all.size(), cudaMemcpyDeviceToHost));
    return all;
  }
  bool canary_lives() const
  {
    std::vector<char> all = content();
    for (size_t i = bytes(); i < all.size(); i++)
      if (all[i] != 0x33) return false;
    return true;
  }
};
Table *common;

struct How {
  int reasons = 0;
  bool asks_flag = true, asks_print = true, tells = true;  // what struct shunt_repair names
  double special = NAN;  // and where in the product's first row it stands, if NONFINITE
  int64_t at = 0;
  bool separate = false;  // the product is a matrix W, not C
  bool column_order = false;
  shunt_type out = SHUNT_F32;
  double alpha = 1, beta = 0;
  int expected = 0;  // which wrong fingerprint, if CHANGED
  Table *table = common;
  uintptr_t key = 0x1000;
  bool no_room = false;  // the table is full: repaired, and a change told, whatever the reasons
  int64_t wait_cycles = SHUNT_REPAIR_WAIT_CYCLES;
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
  Buffer offsets, columns, values, b, scratch, expected;
  std::vector<double> a_values, b_values, sum, scale;
  shunt_csr a;

  Lab(const Pattern &p, int64_t n, shunt_type type, shunt_type index, int base,
      bool sums = true)
      : p(p), n(n), type(type), index(index), base(base),
        offsets(p.offsets.size() * shunt_type_size(index)),
        columns(p.columns.size() * shunt_type_size(index)),
        values(p.columns.size() * shunt_type_size(type)),
        b((size_t)(p.cols * n) * shunt_type_size(type)), scratch(SHUNT_FINGERPRINT_SCRATCH),
        expected(4 * sizeof(shunt_fingerprint))
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
    b.upload();
    take_fingerprints();
    if (sums) refresh();
  }

  // [0] A's, [1] with another lo, [2] with another hi, [3] of A with one value changed.
  void take_fingerprints()
  {
    shunt_fingerprint *f = (shunt_fingerprint *)expected.host.data();
    shunt_fingerprint *at = (shunt_fingerprint *)expected.device;
    size_t size = shunt_type_size(type);
    if (p.nnz()) values.host[values.host.size() - size] ^= 1;
    values.upload();
    shunt_status s = shunt_fingerprint_csr_cuda(&a, at + 3, &device, scratch.device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    if (p.nnz()) values.host[values.host.size() - size] ^= 1;
    values.upload();
    if (s == SHUNT_OK) s = shunt_fingerprint_csr_cuda(&a, at, &device, scratch.device, 0);
    CUDA_OK(cudaDeviceSynchronize());
    expected.download();
    f[1] = f[2] = f[0];
    f[1].lo ^= 1;
    f[2].hi ^= (uint64_t)1 << 51;  // the highest bit that is compared
    if (!p.nnz()) f[3] = f[1];
    expected.upload();
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
  Buffer c, w, words;
  uint32_t *pinned;  // [0] changed, [1] nonfinite
  std::vector<char> before;

  Output(Lab &lab, const How &how)
      : lab(lab), how(how), row_stride(how.column_order ? 1 : lab.n + 5),
        col_stride(how.column_order ? lab.p.rows + 3 : 1),
        stored(how.column_order ? lab.n * col_stride : lab.p.rows * row_stride),
        c((size_t)stored * shunt_type_size(how.out)),
        w(how.separate ? (size_t)(lab.p.rows * (lab.n + 2)) * 4 : 4), words(WORDS * 4)
  {
    CUDA_OK(cudaMallocHost(&pinned, 2 * sizeof *pinned));
    fill();
    set_words();
  }
  ~Output() { cudaFreeHost(pinned); }

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
    uint32_t *word = (uint32_t *)words.device;
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
    if (how.asks_print) r.expected = expected + (how.reasons & CHANGED ? 1 + how.expected % 3 : 0);
    r.sets = how.table->sets;
    r.set_count = how.table->count;
    r.key = (const void *)how.key;
    r.wait_cycles = how.wait_cycles;
    r.verdict = how.tells ? word + VERDICT : nullptr;
    r.changed = how.tells ? pinned : nullptr;
    r.nonfinite = how.tells ? pinned + 1 : nullptr;
    return shunt_spmm_csr_repair_cuda(&p, &r, &device, stream);
  }

  bool repaired() const { return how.reasons != 0 || how.no_room; }

  // What every word must say.
  bool words_right()
  {
    words.download();
    const uint32_t *word = (const uint32_t *)words.host.data();
    uint32_t verdict = !how.tells ? 0xdeadbeefu : repaired();
    uint32_t changed = how.tells && (how.reasons & CHANGED || how.no_room);
    uint32_t nonfinite =
        how.tells && !how.no_room && (how.reasons & (CHANGED | NONFINITE)) == NONFINITE;
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
    if (!repaired()) return c.host == before;
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
    uint32_t *word = (uint32_t *)words.host.data();
    for (int i = 0; i < WORDS; i++) word[i] = 0xdeadbeefu;
    word[ONLY_IF] = how.reasons & FLAG ? 8 : 0;
    words.upload();
    pinned[0] = pinned[1] = 0;
  }

  // Everything as before the launch.
  void reset()
  {
    c.host = before;
    c.upload();
    set_words();
    CUDA_OK(cudaDeviceSynchronize());  // other streams do not wait for these copies
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
    how.asks_print = k & 2;
    how.tells = k & 4;
    how.wait_cycles = k == 6 ? 0 : SHUNT_REPAIR_WAIT_CYCLES;
    good &= runs(lab, how);
  }
  return good;
}

bool repairs_flag_and_change(Lab &lab, How how)
{
  bool good = true;
  how.reasons = FLAG;
  good &= runs(lab, how);
  how.asks_print = how.tells = false;
  good &= runs(lab, how);
  how.asks_print = how.tells = true;
  for (int k = 0; k < 6; k++) {
    how.reasons = CHANGED;
    how.expected = k;
    how.asks_flag = k < 3;
    how.wait_cycles = k % 2 ? 0 : SHUNT_REPAIR_WAIT_CYCLES;  // 0: the last block repairs alone
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
      how.asks_print = at != lab.n / 2;
      good &= runs(lab, how);
    }
  how.asks_print = true;
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
    for (int k = 0; k < 50 / every(); k++) {
      o.how.wait_cycles = k % 3 ? SHUNT_REPAIR_WAIT_CYCLES : k / 3 * 100;
      o.reset();
      good &= o.launch() == SHUNT_OK;
      CUDA_OK(cudaDeviceSynchronize());
      good &= o.words_right() && (k ? true : o.content_right());
      o.c.download();
      if (k == 0) first = o.c.host;
      same &= o.c.host == first;
    }
  }
  check(good && same,
        "%s, %s: 50 repairs for each reason, however long blocks wait: the same bits each time",
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

// ---- the table ---------------------------------------------------------------------------

// No room for another key: repaired, and told as a change; the keys that have a set keep it.
void test_full_table()
{
  Lab lab(random_pattern(300, 200, 0.2, 1, 6), 70, SHUNT_F16, SHUNT_I32, 0);
  bool kept = true, turned_away = true;
  for (int count : { 1, 4 }) {
    Table table(count);
    How how;
    how.out = SHUNT_F16;
    how.table = &table;
    for (int round = 0; round < 3; round++) {
      for (int k = 1; k <= count; k++)
        for (int reasons : { 0, (int)CHANGED, (int)NONFINITE }) {
          how.key = (uintptr_t)k * 0x2700;
          how.reasons = reasons;
          kept &= runs(lab, how);
        }
      std::vector<char> full = table.content();
      how.no_room = true;
      for (int reasons : { 0, (int)FLAG, (int)NONFINITE }) {
        how.key = 0x990000;
        how.reasons = reasons;
        turned_away &= runs(lab, how);
      }
      turned_away &= table.content() == full;
      how.no_room = false;
    }
    kept &= table.canary_lives();
  }
  check(kept, "as many keys as sets: each has its own");
  check(turned_away, "one key more: a repair, a change told, the table untouched");
}

// ---- at the same time ----------------------------------------------------------------------

// Keeps `blocks` blocks of 512 threads busy for `cycles` each.
__global__ void __launch_bounds__(512) busy_kernel(int64_t cycles)
{
  const int64_t start = clock64();
  while (clock64() - start < cycles) {
  }
}

struct Streams {
  std::vector<cudaStream_t> at;
  explicit Streams(int count) : at((size_t)count)
  {
    for (cudaStream_t &s : at) CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  }
  ~Streams()
  {
    for (cudaStream_t s : at) cudaStreamDestroy(s);
  }
};

// Several streams prove the same A through one table, each under its key, each with its own
// reason or none; others keep the device full.  One false alarm in any launch without a reason
// would leave C changed; that no launch was lost shows in the generations.
void test_together(bool crowded, int64_t wait_cycles)
{
  const int streams = 6, rounds = (crowded ? 40 : 100) / every();
  Lab lab(random_pattern(2000, 1500, 0.2, 1, 8), 200, SHUNT_F16, SHUNT_I64, 1);
  Table table(64);
  Streams run(streams), others(2);
  std::vector<std::unique_ptr<Output>> outputs;
  for (int k = 0; k < streams; k++) {
    How how;
    how.out = SHUNT_F16;
    how.table = &table;
    how.key = 0x100000 + (uintptr_t)k * 256;
    how.reasons = k == 1 ? CHANGED : k == 3 ? NONFINITE : k == 4 ? FLAG : 0;
    how.expected = 2;
    how.separate = k == 3;  // there the reason lasts: W is not overwritten
    how.wait_cycles = wait_cycles;
    outputs.emplace_back(new Output(lab, how));
  }
  CUDA_OK(cudaDeviceSynchronize());
  bool good = true;
  for (int round = 0; round < rounds; round++) {
    if (crowded)
      for (size_t k = 0; k < others.at.size(); k++)
        busy_kernel<<<device.multiprocessors * 5 + (round + (int)k) % 7, 512, 0, others.at[k]>>>(
            60000 + 7000 * (round % 5));
    for (int k = 0; k < streams; k++)
      good &= outputs[(size_t)k]->launch(run.at[(size_t)k]) == SHUNT_OK;
  }
  CUDA_OK(cudaDeviceSynchronize());
  for (const auto &o : outputs) good &= o->words_right() && o->content_right();
  // Every launch has passed its set on: 6 keys, `rounds` generations each.
  std::vector<char> sets = table.content();
  int keys = 0;
  for (int i = 0; i < table.count; i++) {
    uint64_t word[2];
    memcpy(word, &sets[(size_t)i * SHUNT_REPAIR_SET_BYTES], sizeof word);
    keys += word[0] != 0;
    good &= word[1] == (word[0] ? (uint64_t)rounds : 0);
  }
  check(good && keys == streams && table.canary_lives(),
        "%d streams share a plan%s, blocks wait %lld cycles", streams,
        crowded ? " while other kernels fill the device" : "", (long long)wait_cycles);
}

// Captured launches: A changes in place and back between replays; two graphs at once.
void test_replays()
{
  Lab lab(random_pattern(500, 600, 0.3, 1, 11), 90, SHUNT_F16, SHUNT_I32, 0);
  Table table(8);
  Streams run(2);
  std::vector<std::unique_ptr<Output>> outputs;
  cudaGraphExec_t graph[2];
  for (int k = 0; k < 2; k++) {
    How how;
    how.out = SHUNT_F16;
    how.table = &table;
    how.key = 0x5000 + (uintptr_t)k * 0x1000;
    outputs.emplace_back(new Output(lab, how));
    cudaGraph_t g;
    CUDA_OK(cudaStreamBeginCapture(run.at[(size_t)k], cudaStreamCaptureModeThreadLocal));
    for (int twice = 0; twice < 2; twice++) outputs.back()->launch(run.at[(size_t)k]);
    CUDA_OK(cudaStreamEndCapture(run.at[(size_t)k], &g));
    CUDA_OK(cudaGraphInstantiate(&graph[k], g, 0));
    CUDA_OK(cudaGraphDestroy(g));
  }
  bool good = true;
  uint16_t *last = (uint16_t *)lab.values.host.data() + lab.p.nnz() - 1;
  for (int round = 0; round < 60 / every(); round++) {
    const bool changes = round % 3 == 1;
    if (changes) *last ^= 1;
    lab.refresh();
    for (int k = 0; k < 2; k++) {
      outputs[(size_t)k]->how.reasons = changes ? CHANGED : 0;
      outputs[(size_t)k]->reset();
    }
    for (int again = 0; again < 3; again++)
      for (int k = 0; k < 2; k++) CUDA_OK(cudaGraphLaunch(graph[k], run.at[(size_t)k]));
    CUDA_OK(cudaDeviceSynchronize());
    for (const auto &o : outputs) good &= o->words_right() && o->content_right();
    if (changes) *last ^= 1;
  }
  for (cudaGraphExec_t g : graph) cudaGraphExecDestroy(g);
  check(good, "replayed graphs see A change in place, and change back");
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
  shunt_repair right = {}, r;
  right.product = &p.c;
  right.sets = common->sets;
  right.set_count = common->count;
  right.key = common;
  bool refused = true;
  auto refuses = [&] { return shunt_spmm_csr_repair_cuda(&p, &r, &device, 0) == SHUNT_E_ARGUMENT; };
  (r = right).product = nullptr, refused &= refuses();
  (r = right).sets = nullptr, refused &= refuses();
  (r = right).sets = common->sets + 32, refused &= refuses();
  (r = right).set_count = 0, refused &= refuses();
  (r = right).set_count = 24, refused &= refuses();
  (r = right).key = nullptr, refused &= refuses();
  check(refused, "a repair wants a product to look at, and a table of sets and a key");
}

// ---- time --------------------------------------------------------------------------------

// Microseconds of a proof that finds nothing: `copies` of A's arrays in turn, so that 1
// reads what L2 still holds, and many read device memory.
double time_rest(Lab &lab, Output &o, int copies)
{
  const shunt_csr original = lab.a;
  const Buffer *from[3] = { &lab.offsets, &lab.columns, &lab.values };
  std::vector<std::unique_ptr<Buffer>> memory;
  std::vector<shunt_csr> a(1, original);
  for (int k = 1; k < copies; k++) {
    void *at[3];
    for (int i = 0; i < 3; i++) {
      memory.emplace_back(new Buffer());
      cudaFree(memory.back()->device);
      CUDA_OK(cudaMalloc(&memory.back()->device, from[i]->host.size() + 512));
      at[i] = memory.back()->device;
      CUDA_OK(cudaMemcpy(at[i], from[i]->device, from[i]->host.size(), cudaMemcpyDeviceToDevice));
    }
    shunt_csr copy = original;
    copy.row_offsets = at[0];
    copy.columns = at[1];
    copy.values = at[2];
    a.push_back(copy);
  }
  o.reset();
  size_t turn = 0;
  double us = time_graph([&](cudaStream_t s) {
    lab.a = a[turn++ % a.size()];
    o.launch(s);
  });
  lab.a = original;
  if (!o.words_right()) check(false, "a proof that was timed found something");
  return us;
}

void time_proof(double density, shunt_type index)
{
  Lab lab(random_pattern(4096, 4096, density, 1, 4), 256, SHUNT_F16, index, 0, false);
  How how;
  how.out = SHUNT_F16;
  Output o(lab, how);
  double bytes = (double)(lab.offsets.host.size() + lab.columns.host.size() +
                          lab.values.host.size());
  int copies = (int)(3e8 / bytes) + 1;
  printf("time repair_rests 4096x4096_%.2f_%s %6.1f MB  same A %7.2f us  fresh A %7.2f us  at 4.28 "
         "TB/s %6.2f us\n",
         1 - density, index == SHUNT_I32 ? "i32" : "i64", bytes / 1e6, time_rest(lab, o, 1),
         time_rest(lab, o, copies), bytes / 4.28e6);
}

// Without arrays to read, as after a direct product: what the launch itself costs.
void time_direct()
{
  Lab lab(random_pattern(4096, 4096, 0.01, 1, 4), 256, SHUNT_F16, SHUNT_I32, 0, false);
  How how;
  how.out = SHUNT_F16;
  how.asks_print = false;
  Output o(lab, how);
  printf("time repair_rests 4096x4096 direct %7.2f us\n", time_rest(lab, o, 1));
}

void time_needed(int64_t wait_cycles, const char *who)
{
  Lab lab(random_pattern(4096, 4096, 0.1, 1, 4), 256, SHUNT_F16, SHUNT_I32, 0, false);
  How how;
  how.out = SHUNT_F16;
  how.reasons = CHANGED;
  how.wait_cycles = wait_cycles;
  Output o(lab, how);
  CUDA_OK(cudaDeviceSynchronize());
  double us = time_graph([&](cudaStream_t s) { o.launch(s); }, 2);
  printf("time repair_runs 4096x4096_0.90_i32_N256 %s %10.1f us\n", who, us);
}

}  // namespace

int main(int argc, char **argv)
{
  device = this_device();
  common = new Table(2);
  int turn = 0;
  for (shunt_type type : { SHUNT_F16, SHUNT_BF16, SHUNT_F32 })
    for (int64_t n : { 1, 33, 300 }) {
      if (left_out()) continue;
      test_shape(type, 7, 20, 0.4, n, turn++);
      test_shape(type, 1000, 400, 0.05, n, turn++);
    }
  for (shunt_type type : { SHUNT_F16, SHUNT_BF16, SHUNT_F32 }) {
    test_repeats(type, false);
    test_repeats(type, true);
    test_claim(type);
  }
  test_edges();
  test_full_table();
  test_replays();
  for (bool crowded : { false, true })
    for (int64_t wait : { (int64_t)0, (int64_t)3000, (int64_t)SHUNT_REPAIR_WAIT_CYCLES }) {
      if (every() > 1 && (crowded || wait > 0)) continue; // nothing is on time under a sanitizer
      test_together(crowded, wait);
    }
  check(common->canary_lives(), "nothing was written behind the table");
  if (argc > 1 && strcmp(argv[1], "--time") == 0) {
    for (shunt_type index : { SHUNT_I32, SHUNT_I64 })
      for (double density : { 0.5, 0.3, 0.1, 0.05 }) time_proof(density, index);
    time_direct();
    time_needed(SHUNT_REPAIR_WAIT_CYCLES, "all blocks");
    time_needed(0, "last block");
  }
  delete common;
  return finish();
}
