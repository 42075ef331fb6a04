// test_attention_parts.cu: shunt_vector_sddmm_cuda and shunt_vector_softmax_cuda against their
// twins: ragged sizes, empty rows, batches, both types and orders, NaN and Inf.
#include "tests/gpu/vector/attention_operands.cuh"

using namespace harness;

static const Layout one = {0, 1, 1};

// ---- SDDMM -----------------------------------------------------------------------------

struct Sddmm {
  PackedPattern p;
  Tensor q, k;
  Buffer values;
  shunt_vector_sddmm problem;
  shunt_device device = this_device();

  Sddmm(const Pattern &pattern, shunt_type t, shunt_vector_order order, Layout l, int64_t d,
        Random &r)
      : p(pattern, t, order), q(t, l, pattern.rows, d), k(t, l, pattern.cols, d),
        values((size_t)(l.batches * l.heads * p.value_count) * 2)
  {
    q.fill(r, 1);
    k.fill(r, 1);
    for (int64_t j = 0; j < pattern.cols; j++) // what nobody names must not show
      if (!p.named(j)) k.fill_row(j, j % 2 ? (double)NAN : (double)INFINITY);
    problem = {l.batches, l.heads, d, 1.5f, {}, {}, nullptr, p.value_count};
  }
  // Wrong elements of one run; -1: a status.
  int64_t run()
  {
    memset(values.host.data(), 0xff, values.host.size());
    for (Buffer *x : {&q.at, &k.at, &values}) x->upload();
    std::vector<char> want = values.host;
    shunt_vector_sddmm on_host = problem, on_device = problem;
    on_host.q = q.in(false), on_host.k = k.in(false), on_host.values = (uint16_t *)want.data();
    on_device.q = q.in(true), on_device.k = k.in(true);
    on_device.values = (uint16_t *)values.device;
    if (shunt_vector_sddmm_host(&on_host, &p.host) != SHUNT_OK) return -1;
    if (shunt_vector_sddmm_cuda(&on_device, &p.device, &device, 0) != SHUNT_OK) return -1;
    CUDA_OK(cudaDeviceSynchronize());
    values.download();
    // Zeros between positions are compared, too: they are wanted to be exactly 0.
    return different(values.host, want, p.type, 2.1, 1e-3);
  }
};

static void test_sddmm(Kind kind, shunt_type t)
{
  static const int64_t sizes[][2] = {{1, 5}, {8, 64}, {29, 150}};
  static const int64_t ds[] = {1, 8, 31, 32, 72};
  Random r(5 + kind);
  int64_t wrong = 0;
  for (auto &size : sizes)
    for (int64_t d : ds) {
      const Pattern p = make_pattern(kind, size[0], size[1], 0.2, r.next());
      const Layout l = {(int)r.below(3), 1 + r.below(2), 1 + r.below(3)};
      Sddmm q(p, t, (shunt_vector_order)r.below(2), l, d, r);
      if (r.below(4) == 0) q.problem.alpha = 0;
      const int64_t w = q.run();
      if (w)
        printf("# %lld wrong: %lld x %lld, d %lld, layout %d\n", (long long)w, (long long)size[0],
               (long long)size[1], (long long)d, l.kind);
      wrong += w != 0;
    }
  check(wrong == 0, "sddmm, %s, type %d, all sizes", kind_name[kind], t);
}

static void test_sddmm_long()
{
  Random r(77);
  for (int kind : {0, 2}) {
    Sddmm q(make_pattern(HOLES, 16, 40, 0.5, 3), SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL,
            Layout{kind, 1, 1}, 1000, r);
    q.problem.alpha = 0.125f;
    check(q.run() == 0, "sddmm with d = 1000, layout %d", kind);
  }
}

// NaN and Inf in a row of Q and in a row of K that some rows of the group name.
static void test_sddmm_nonfinite(shunt_type t)
{
  Random r(8);
  const Pattern p = make_pattern(HOLES, 24, 60, 0.4, 4);
  Sddmm q(p, t, SHUNT_VECTOR_WINDOWED, one, 40, r);
  q.q.set(0, 3, 39, NAN);
  q.q.set(0, 12, 0, INFINITY);
  q.k.set(0, p.columns[2], 17, -INFINITY);
  q.k.set(0, p.columns[5], 39, NAN);
  check(q.run() == 0, "sddmm with NaN and Inf, type %d", t);
  q.problem.alpha = 0;
  check(q.run() == 0, "which alpha = 0 hides, type %d", t);
}

// ---- softmax ----------------------------------------------------------------------------

struct Softmax {
  PackedPattern p;
  int64_t matrices;
  Buffer in, out;
  shunt_device device = this_device();

  Softmax(const Pattern &pattern, shunt_type t, shunt_vector_order order, int64_t matrices_,
          Random &r, double size)
      : p(pattern, t, order), matrices(matrices_), in((size_t)(matrices * p.value_count) * 2),
        out((size_t)(matrices * p.value_count) * 2)
  {
    for (int64_t i = 0; i < matrices * p.value_count; i++) // places without a position, too
      store(in.host.data(), i, t, r.below(20) ? size * r.value() : 0);
  }
  // Puts x at the n-th position of row i, n from 0.
  void put(int64_t i, int n, double x)
  {
    const shunt_vector &v = p.host;
    for (int64_t at = v.begin[i / 8] * 16; at < (v.begin[i / 8] + v.count[i / 8]) * 16; at++)
      if (v.masks[at] >> i % 8 & 1 && n-- == 0)
        store(in.host.data(), at / 16 * 128 + shunt_vector_place((int)(i % 8), (int)(at % 16)),
              p.type, x);
  }
  int64_t run(float scale, bool in_place)
  {
    memset(out.host.data(), 0xff, out.host.size());
    in.upload();
    out.upload();
    std::vector<char> want = in_place ? in.host : out.host;
    shunt_vector_softmax s = {
        matrices,      scale,        (const uint16_t *)in.host.data(), (uint16_t *)want.data(),
        p.value_count, p.value_count};
    if (shunt_vector_softmax_host(&s, &p.host) != SHUNT_OK) return -1;
    s.in = (const uint16_t *)in.device;
    s.out = (uint16_t *)(in_place ? in.device : out.device);
    if (shunt_vector_softmax_cuda(&s, &p.device, &device, 0) != SHUNT_OK) return -1;
    CUDA_OK(cudaDeviceSynchronize());
    std::vector<char> got(want.size());
    CUDA_OK(cudaMemcpy(got.data(), s.out, got.size(), cudaMemcpyDeviceToHost));
    return different(got, want, p.type, 2.1, 0x1p-12);
  }
};

static void test_softmax(Kind kind, shunt_type t)
{
  static const int64_t sizes[][2] = {{1, 5}, {8, 64}, {45, 300}};
  Random r(15 + kind);
  int64_t wrong = 0;
  for (auto &size : sizes)
    for (int i = 0; i < 2; i++) {
      const Pattern p = make_pattern(kind, size[0], size[1], 0.2, r.next());
      Softmax q(p, t, (shunt_vector_order)r.below(2), 1 + r.below(3), r, i ? 200 : 3);
      wrong += q.run(i ? 1.0f : -0.7f, i == 1) != 0;
    }
  check(wrong == 0, "softmax, %s, type %d, all sizes", kind_name[kind], t);
}

static void test_softmax_nonfinite(shunt_type t)
{
  Random r(18);
  const Pattern p = make_pattern(HOLES, 24, 120, 0.4, 4);
  Softmax q(p, t, SHUNT_VECTOR_SEQUENTIAL, 1, r, 2);
  const auto length = [&](int64_t i) { return (int)(p.offsets[i + 1] - p.offsets[i]); };
  q.put(1, 0, NAN);
  q.put(2, length(2) - 1, NAN);
  q.put(4, 3, INFINITY);
  q.put(5, 0, -INFINITY);
  for (int n = 0; n < length(6); n++) q.put(6, n, -INFINITY);
  for (int n = 0; n < length(7) - 1; n++) q.put(7, n, -INFINITY);
  for (int n = 0; n < length(9); n++) q.put(9, n, n < 20 ? -INFINITY : -300);
  for (int n = 0; n < length(10); n++) q.put(10, n, NAN);
  check(q.run(1, false) == 0, "softmax with NaN, Inf and -Inf, type %d", t);
}

// A pattern without entries: nothing is written and nothing goes wrong.
static void test_no_entries()
{
  Random r(2);
  const Pattern p = make_pattern(EIGHTS, 20, 30, 0, 2);
  Sddmm s(p, SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL, {0, 1, 2}, 40, r);
  Softmax f(p, SHUNT_F16, SHUNT_VECTOR_WINDOWED, 2, r, 1);
  check(s.run() == 0 && f.run(1, false) == 0, "a pattern without entries");
}

// ---- what is refused ------------------------------------------------------------------------

static void test_refused()
{
  Random r(1);
  Sddmm s(make_pattern(ALL, 8, 16, 1, 1), SHUNT_F16, SHUNT_VECTOR_SEQUENTIAL, one, 16, r);
  s.problem.q = s.q.in(true), s.problem.k = s.k.in(true);
  s.problem.values = (uint16_t *)s.values.device;
  const auto sddmm = [&](const shunt_vector_sddmm &p) {
    return shunt_vector_sddmm_cuda(&p, &s.p.device, &s.device, 0);
  };
  shunt_vector_sddmm p = s.problem;
  p.d = 0;
  check(sddmm(p) == SHUNT_E_ARGUMENT, "d = 0 is refused");
  p = s.problem, p.batches = 65536;
  check(sddmm(p) == SHUNT_E_UNSUPPORTED, "65536 problems are declined");
  s.device.compute_capability = 75;
  check(sddmm(s.problem) == SHUNT_E_UNSUPPORTED, "a device before 8.0 is declined");
  const uint16_t *values = s.problem.values;
  shunt_vector_softmax f = {1, 1, values, s.problem.values, 0, 0};
  check(shunt_vector_softmax_cuda(&f, &s.p.device, &s.device, 0) == SHUNT_E_UNSUPPORTED,
        "by softmax, too");
  s.device = this_device();
  f.in = nullptr;
  check(shunt_vector_softmax_cuda(&f, &s.p.device, &s.device, 0) == SHUNT_E_ARGUMENT,
        "softmax of nothing is refused");
}

int main()
{
  for (shunt_type t : {SHUNT_F16, SHUNT_BF16}) {
    for (int kind = 0; kind < KINDS; kind++) {
      test_sddmm((Kind)kind, t);
      test_softmax((Kind)kind, t);
    }
    test_sddmm_nonfinite(t);
    test_softmax_nonfinite(t);
  }
  test_sddmm_long();
  test_no_entries();
  test_refused();
  return finish();
}
