// test_attention.cu: shunt_vector_attention_cuda against its twin: every head size and number of
// slices, ragged rows, empty rows, batches, both types and orders, NaN, Inf, overflow.
#include "tests/gpu/vector/attention_operands.cuh"

using namespace harness;

struct Attention {
  PackedPattern p;
  Tensor q, k, v, o;
  shunt_vector_attention problem;
  shunt_device device = this_device();

  Attention(const Pattern &pattern, shunt_type t, shunt_vector_order order, Layout l, int64_t d,
            Random &r, float scale)
      : p(pattern, t, order), q(t, l, pattern.rows, d), k(t, l, pattern.cols, d),
        v(t, l, pattern.cols, d), o(t, l, pattern.rows, d)
  {
    for (Tensor *x : {&q, &k, &v}) x->fill(r, 1);
    for (int64_t j = 0; j < pattern.cols; j++) { // what nobody names must not show
      if (p.named(j)) continue;
      k.fill_row(j, j % 2 ? (double)NAN : (double)INFINITY);
      v.fill_row(j, j % 2 ? (double)INFINITY : (double)NAN);
    }
    problem = {l.batches, l.heads, d, scale, {}, {}, {}, {}};
  }
  shunt_vector_attention in(bool on_device)
  {
    shunt_vector_attention a = problem;
    a.q = q.in(on_device), a.k = k.in(on_device), a.v = v.in(on_device), a.o = o.in(on_device);
    return a;
  }
  // slices < 0: as chosen.
  shunt_status call(int log2_slices)
  {
    const shunt_vector_attention a = in(true);
    if (log2_slices < 0) return shunt_vector_attention_cuda(&a, &p.device, &device, 0);
    return shunt_vector_attention_sliced_cuda(&a, &p.device, log2_slices, &device, 0);
  }
  std::vector<char> twin()
  {
    const std::vector<char> before = o.at.host;
    const shunt_vector_attention a = in(false);
    if (shunt_vector_attention_host(&a, &p.host) != SHUNT_OK) exit(3);
    std::vector<char> want = o.at.host;
    o.at.host = before;
    return want;
  }
  // Wrong elements of a run, whose result stays in o; -1: a status.  V is of size 1.
  int64_t run(int log2_slices, const std::vector<char> &want)
  {
    memset(o.at.host.data(), 0xff, o.at.host.size());
    for (Tensor *x : {&q, &k, &v, &o}) x->at.upload();
    if (call(log2_slices) != SHUNT_OK) return -1;
    CUDA_OK(cudaDeviceSynchronize());
    o.at.download();
    // Both are rounded, and the device's weights are: each to half a unit.
    return different(o.at.host, want, p.type, 2.1, 1.1);
  }
};

static void test_sizes(Kind kind, shunt_type t)
{
  static const int64_t sizes[][2] = {{1, 5}, {8, 64}, {21, 150}};
  Random r(5 + kind);
  int64_t wrong = 0;
  for (auto &size : sizes)
    for (int64_t d : {16, 32, 64, 128}) {
      const Pattern p = make_pattern(kind, size[0], size[1], 0.3, r.next());
      const Layout l = {(int)r.below(2), 1 + r.below(2), 1 + r.below(3)};
      Attention a(p, t, (shunt_vector_order)r.below(2), l, d, r, r.below(2) ? 0.3f : -4.0f);
      const int slices = (int)r.below(5) - 1;
      const int64_t w = a.run(slices, a.twin());
      if (w)
        printf("# %lld wrong: %lld x %lld, d %lld, slices %d\n", (long long)w, (long long)size[0],
               (long long)size[1], (long long)d, slices);
      wrong += w != 0;
    }
  check(wrong == 0, "attention, %s, type %d, all sizes", kind_name[kind], t);
}

// A row's weights spread over slices that see none of it; the same bits in each call.
static void test_slices(shunt_type t)
{
  Random r(6);
  Attention a(make_pattern(HOLES, 40, 400, 0.5, 6), t, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 2}, 64, r,
              2.0f);
  const std::vector<char> want = a.twin();
  for (int slices = 0; slices < 4; slices++) {
    bool good = a.run(slices, want) == 0;
    const std::vector<char> first = a.o.at.host;
    for (int i = 0; i < 3; i++) good = a.run(slices, want) == 0 && a.o.at.host == first && good;
    check(good, "%d slices, right and the same bits each time, type %d", 1 << slices, t);
  }
}

// Rows whose first steps hold no position of theirs: the running state starts late.
static void test_late_rows()
{
  Random r(7);
  Pattern p;
  p.rows = 8, p.cols = 300;
  for (int64_t i = 0; i < 8; i++) {
    for (int64_t j = i * 37; j < 300; j++)
      if (i != 5) p.columns.push_back(j);
    p.offsets.push_back((int64_t)p.columns.size());
  }
  Attention a(p, SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 1}, 32, r, 20);
  const std::vector<char> want = a.twin();
  for (int slices = 0; slices < 4; slices++)
    check(a.run(slices, want) == 0, "rows that start late, and one empty, %d slices", 1 << slices);
}

// A pattern without entries gives zeros, whatever Q, K and V are.
static void test_no_entries()
{
  Random r(8);
  Attention a(make_pattern(EIGHTS, 20, 30, 0, 8), SHUNT_F16, SHUNT_VECTOR_WINDOWED, {1, 2, 2}, 32,
              r, 1);
  const std::vector<char> want = a.twin();
  check(a.p.pattern.nnz() == 0 && load(want.data(), a.o.place(3, 19, 31), SHUNT_F16) == 0 &&
            a.run(-1, want) == 0 && a.run(3, want) == 0,
        "a pattern without entries");
}

// Large scores of either sign: weights underflow, the largest moves on.
static void test_large_scores(shunt_type t)
{
  Random r(9);
  Attention a(make_pattern(EIGHTS, 16, 200, 0.5, 9), t, SHUNT_VECTOR_WINDOWED, {1, 1, 2}, 64, r, 1);
  for (int64_t i = 0; i < 16; i++)
    for (int64_t c = 0; c < 64; c++)
      a.q.set(0, i, c, i % 2 ? 16 : -16); // scores of some hundreds, the same in a row but for K
  check(a.run(0, a.twin()) == 0 && a.run(3, a.twin()) == 0, "large scores, type %d", t);
}

static void test_nonfinite(shunt_type t)
{
  Random r(10);
  const Pattern p = make_pattern(HOLES, 24, 130, 0.4, 10);
  Attention a(p, t, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 1}, 64, r, 0.3f);
  a.q.set(0, 3, 7, NAN);            // the row is NaN
  for (int64_t e = 0; e < 4; e++) { // rows that have column e of the first list
    a.v.set(0, p.columns[e], 10 + e, e % 2 ? (double)NAN : (double)INFINITY);
    a.v.set(0, p.columns[p.offsets[16] + e], 63 - e, e % 2 ? -(double)INFINITY : (double)NAN);
  }
  for (int slices : {0, 2})
    check(a.run(slices, a.twin()) == 0, "NaN and Inf in Q and V, %d slices, type %d", 1 << slices,
          t);

  Attention b(p, t, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 1}, 32, r, 0.3f);
  for (int64_t j = 0; j < p.cols; j++) // column 0 of K: positive where somebody names it
    if (b.p.named(j)) b.k.set(0, j, 0, 0.5);
  b.q.set(0, 2, 0, -INFINITY);                        // scores of -Inf alone: NaN
  b.q.set(0, 9, 0, INFINITY);                         // +Inf: NaN
  b.k.set(0, p.columns[p.offsets[16]], 0, -INFINITY); // one -Inf in a row: weight 0, or +Inf
  b.k.set(0, p.columns[p.offsets[17] - 1], 5, NAN);
  for (int slices : {0, 2})
    check(b.run(slices, b.twin()) == 0, "NaN and Inf in Q and K, %d slices, type %d", 1 << slices,
          t);
}

// Values near the end of bf16's range with growing scores: partial sums overflow, results do
// not.
static void test_overflow()
{
  Random r(11);
  Attention a(make_pattern(ALL, 8, 200, 1, 11), SHUNT_BF16, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 1}, 16,
              r, 0.01f);
  for (int64_t j = 0; j < 200; j++) {
    for (int64_t c = 0; c < 16; c++) a.k.set(0, j, c, 0.005 * (double)j), a.v.set(0, j, c, 3e38);
  }
  const std::vector<char> want = a.twin();
  memset(a.o.at.host.data(), 0xff, a.o.at.host.size());
  const bool ran = a.run(0, want) >= 0;
  check(ran && different(a.o.at.host, want, SHUNT_BF16, 2.1, 0) == 0,
        "sums that overflow before they are divided");
}

static void test_refused()
{
  Random r(1);
  const Pattern p = make_pattern(ALL, 8, 16, 1, 1);
  Attention a(p, SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 1}, 24, r, 1);
  check(a.call(-1) == SHUNT_E_UNSUPPORTED, "d = 24 is declined");
  Attention b(p, SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL, {2, 1, 1}, 32, r, 1);
  check(b.call(-1) == SHUNT_E_UNSUPPORTED, "rows that are not aligned are declined");
  Attention c(p, SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 1}, 32, r, 1);
  check(c.call(4) == SHUNT_E_ARGUMENT, "16 slices are refused");
  c.problem.heads = 0;
  check(c.call(-1) == SHUNT_E_ARGUMENT, "no heads are refused");
  c.problem.heads = 1;
  c.device.compute_capability = 75;
  check(c.call(-1) == SHUNT_E_UNSUPPORTED, "a device before 8.0 is declined");
}

int main()
{
  for (shunt_type t : {SHUNT_F16, SHUNT_BF16}) {
    for (int kind = 0; kind < KINDS; kind++) test_sizes((Kind)kind, t);
    test_slices(t);
    test_large_scores(t);
    test_nonfinite(t);
  }
  test_late_rows();
  test_no_entries();
  test_overflow();
  test_refused();
  return finish();
}
