// test_masked_dot.cu: the masked dot product of sparse rows on the device, and T's pattern, against
// their twins: lengths of rows on both sides of each limit, all types, one matrix and two.
#include "kernels/semiring/device/masked_dot_cuda.h"
#include "tests/gpu/common/harness.cuh"

using namespace harness;

// By row, on both sides.
struct Rows {
  std::vector<int32_t> offsets{0}, columns;
  std::vector<char> values;
  Buffer device_offsets, device_columns, device_values;
  shunt_device_rows host = {}, device = {};

  // lengths(row): entries of a row, at most.
  template <class F>
  Rows(int64_t rows, int64_t cols, shunt_type type, bool iso, uint64_t seed, F lengths)
      : device_offsets((rows + 1) * 4), device_columns(0), device_values(0)
  {
    Random r(seed);
    for (int64_t i = 0; i < rows; i++) {
      std::vector<int32_t> row;
      const int64_t length = lengths(i, r);
      for (int64_t k = 0; k < length; k++) row.push_back((int32_t)r.below(cols));
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
      columns.insert(columns.end(), row.begin(), row.end());
      offsets.push_back((int32_t)columns.size());
    }
    const int64_t count = iso ? 1 : (int64_t)columns.size();
    values.resize((size_t)count * shunt_type_size(type) + 8);
    const bool whole = type != SHUNT_F32 && type != SHUNT_F64;
    for (int64_t p = 0; p < count; p++)
      store(values.data(), p, type, whole ? (double)(r.below(2000) - 1000) : r.value());
    host = {rows,          cols, (int64_t)columns.size(), offsets.data(), columns.data(),
            values.data(), iso};
    device = host;
    device.offsets =
        static_cast<int32_t *>(copy(device_offsets, offsets.data(), offsets.size() * 4));
    device.columns =
        static_cast<int32_t *>(copy(device_columns, columns.data(), columns.size() * 4));
    device.values = copy(device_values, values.data(), (size_t)count * shunt_type_size(type));
  }

  // After offsets and columns have changed.
  void point()
  {
    host.nnz = device.nnz = (int64_t)columns.size();
    host.columns = columns.data(), host.offsets = offsets.data();
    device.columns = (int32_t *)copy(device_columns, columns.data(), columns.size() * 4);
    device.offsets = (int32_t *)copy(device_offsets, offsets.data(), offsets.size() * 4);
  }

  static void *copy(Buffer &to, const void *from, size_t bytes)
  {
    CUDA_OK(cudaFree(to.device));
    CUDA_OK(cudaMalloc(&to.device, bytes + Buffer::behind));
    if (bytes > 0) CUDA_OK(cudaMemcpy(to.device, from, bytes, cudaMemcpyHostToDevice));
    return to.device;
  }
};

struct Result {
  std::vector<char> counts, values, offsets, columns, out;
};

struct Dot {
  const Rows &m, &a, &b;
  shunt_semiring semiring;
  bool values, one_matrix;
  size_t size() const { return values ? shunt_type_size(semiring.type) : 4; }
  int64_t nnz() const { return m.host.nnz; }

  Result twin() const
  {
    Result r;
    r.counts.resize(nnz() * 4), r.values.resize(nnz() * 8), r.columns.resize(nnz() * 4);
    r.offsets.resize((m.host.rows + 1) * 4), r.out.resize(nnz() * 8);
    uint32_t *counts = (uint32_t *)r.counts.data();
    const shunt_masked_device p = {
        semiring, m.host, a.host, b.host, one_matrix, counts, values ? r.values.data() : NULL};
    const shunt_masked_compact c = {m.host,
                                    counts,
                                    values ? r.values.data() : r.counts.data(),
                                    size(),
                                    (int32_t *)r.offsets.data(),
                                    (int32_t *)r.columns.data(),
                                    r.out.data()};
    if (shunt_masked_dot_host(&p) != SHUNT_OK || shunt_masked_compact_host(&c) != SHUNT_OK)
      check(false, "the twin");
    return r;
  }

  Result device() const
  {
    Buffer counts(nnz() * 4), sums(nnz() * 8), offsets((m.host.rows + 1) * 4);
    Buffer columns(nnz() * 4), out(nnz() * 8);
    const shunt_masked_device p = {semiring,
                                   m.device,
                                   a.device,
                                   b.device,
                                   one_matrix,
                                   (uint32_t *)counts.device,
                                   values ? sums.device : NULL};
    const shunt_masked_compact c = {
        m.device,  (uint32_t *)counts.device, values ? sums.device : counts.device,
        size(),    (int32_t *)offsets.device, (int32_t *)columns.device,
        out.device};
    const size_t bytes = shunt_masked_dot_workspace(&p), more = shunt_masked_compact_workspace(&c);
    Buffer workspace(bytes), more_workspace(more);
    const shunt_device d = this_device();
    shunt_status s = shunt_masked_dot_cuda(&p, &d, workspace.device, bytes, NULL);
    if (s == SHUNT_OK) s = shunt_masked_compact_cuda(&c, more_workspace.device, more, NULL);
    if (s != SHUNT_OK) check(false, "launched: %d", s);
    CUDA_OK(cudaDeviceSynchronize());
    for (Buffer *x : {&counts, &sums, &offsets, &columns, &out}) x->download();
    return {counts.host, sums.host, offsets.host, columns.host, out.host};
  }

  bool same(const Result &want, const Result &got) const
  {
    const int32_t n = ((const int32_t *)want.offsets.data())[m.host.rows];
    if (want.counts != got.counts || want.offsets != got.offsets ||
        memcmp(want.columns.data(), got.columns.data(), (size_t)n * 4) != 0)
      return false;
    const bool real = values && (semiring.type == SHUNT_F32 || semiring.type == SHUNT_F64);
    if (!real) return memcmp(want.out.data(), got.out.data(), (size_t)n * size()) == 0;
    for (int32_t e = 0; e < n; e++) {
      const double w = load(want.out.data(), e, semiring.type);
      const double g = load(got.out.data(), e, semiring.type);
      const double terms = (double)a.host.cols;
      if (!same_value(g, w, tolerance(semiring.type, semiring.type, terms, w, a.host.cols)))
        return false;
    }
    return true;
  }
};

static void compare(const Dot &p, const char *what)
{
  const Result want = p.twin(), got = p.device(), again = p.device();
  const int32_t n = ((const int32_t *)got.offsets.data())[p.m.host.rows];
  check(p.same(want, got), "%s: %ld entries of M, %d of T", what, (long)p.nnz(), n);
  check(got.counts == again.counts && got.columns.size() == again.columns.size() &&
            memcmp(got.out.data(), again.out.data(), (size_t)n * p.size()) == 0,
        "%s: the same bits again", what);
}

// ---- two matrices -----------------------------------------------------------------------------

static void test_types()
{
  const shunt_type types[] = {SHUNT_F32, SHUNT_F64, SHUNT_I32, SHUNT_I64, SHUNT_U64};
  const shunt_multiplier by[] = {SHUNT_TIMES, SHUNT_FIRST, SHUNT_SECOND};
  char text[80];
  for (int t = 0; t < 5; t++)
    for (int m = 0; m < 3; m++) {
      const bool a_iso = t == 1 && m == 0, b_iso = t == 2 && m == 0;
      const auto few = [](int64_t i, Random &r) { return i % 5 == 3 ? 0 : r.below(40); };
      Rows M(150, 130, types[t], false, 10 + t, few), A(150, 300, types[t], a_iso, 20 + m, few);
      Rows B(130, 300, types[t], b_iso, 30 + m, few);
      snprintf(text, sizeof text, "type %d, multiplier %d", types[t], by[m]);
      compare(Dot{M, A, B, {SHUNT_PLUS, by[m], types[t], false}, true, false}, text);
    }
}

// Rows of A of `a` entries against rows of B of `b`, and some of each other length.
static void test_lengths(int64_t a, int64_t b, int64_t cols, bool values)
{
  char text[80];
  const auto of_a = [&](int64_t i, Random &r) { return i < 3 ? a : r.below(30); };
  const auto of_b = [&](int64_t i, Random &r) { return i % 4 == 1 ? b : r.below(200); };
  const auto of_m = [&](int64_t i, Random &r) { return i < 3 ? 150 + 40 * i : r.below(60); };
  Rows M(40, 150, SHUNT_F64, false, 41, of_m), A(40, cols, SHUNT_F64, false, 42, of_a);
  Rows B(150, cols, SHUNT_F64, false, 43, of_b);
  snprintf(text, sizeof text, "rows of %ld and %ld%s", (long)a, (long)b, values ? ", summed" : "");
  const shunt_multiplier by = values ? SHUNT_TIMES : SHUNT_PAIR;
  compare(Dot{M, A, B, {SHUNT_PLUS, by, SHUNT_F64, false}, values, false}, text);
}

// Row 0 of A against 1300 rows of B, and row 0 of B against 699 of A: more than one part each.
static void test_many()
{
  const auto of_a = [](int64_t i, Random &r) { return i == 0 ? 250 : r.below(40); };
  const auto of_b = [](int64_t i, Random &r) { return i == 0 ? 600 : r.below(60); };
  Rows M(700, 1300, SHUNT_F64, true, 44, [](int64_t, Random &) { return (int64_t)0; });
  M.columns.clear();
  for (int32_t i = 0; i < 700; i++) {
    for (int32_t j = 0; j < (i == 0 ? 1300 : 1); j++) M.columns.push_back(j);
    M.offsets[i + 1] = (int32_t)M.columns.size();
  }
  M.point();
  Rows A(700, 3000, SHUNT_F64, true, 45, of_a), B(1300, 3000, SHUNT_F64, true, 46, of_b);
  compare(Dot{M, A, B, {SHUNT_PLUS, SHUNT_PAIR, SHUNT_F64, false}, false, false}, "many pairs");
}

// Columns below 2^17 that have one bucket of 2^bits as their home, as masked_dot_tags.cuh has it.
static std::vector<int32_t> of_one_home(int bits, unsigned home)
{
  const unsigned factor = (unsigned)(0x9E3779B97F4A7C15ull >> 47) | 1u;
  std::vector<int32_t> columns;
  for (unsigned c = 0; c < 1u << 17; c++)
    if ((c * factor & 0x1ffffu) >> (17 - bits) == home) columns.push_back((int32_t)c);
  return columns;
}

// Rows of A of 160 entries, `each` of which have the same bucket as their home; half of B's columns
// are theirs.
static void test_homes(int each, const char *what)
{
  const auto few = [](int64_t, Random &r) { return r.below(40); };
  Rows M(20, 60, SHUNT_F64, true, 47, few), B(60, 1 << 17, SHUNT_F64, true, 48, few);
  Rows A(20, 1 << 17, SHUNT_F64, true, 49, [](int64_t, Random &) { return (int64_t)0; });
  std::vector<int32_t> row;
  for (unsigned home = 510; row.size() < 160; home = (home + 7) % 512) {
    const std::vector<int32_t> same = of_one_home(9, home);
    for (int k = 0; k < each && row.size() < 160; k++) row.push_back(same[k]);
  }
  std::sort(row.begin(), row.end());
  A.columns.clear();
  for (int i = 0; i < 20; i++) {
    A.columns.insert(A.columns.end(), row.begin(), row.end());
    A.offsets[i + 1] = (int32_t)A.columns.size();
  }
  A.point();
  for (int j = 0; j < 60; j++) { // B's columns must ascend: the even ones become the next of A's
    const int32_t begin = B.offsets[j], end = B.offsets[j + 1];
    for (int32_t p = begin; p < end; p += 2)
      B.columns[p] =
          *std::min(std::lower_bound(row.begin(), row.end(), B.columns[p]), row.end() - 1);
    std::sort(B.columns.begin() + begin, B.columns.begin() + end);
    for (int32_t p = begin + 1; p < end; p++) // each once
      if (B.columns[p] <= B.columns[p - 1]) B.columns[p] = B.columns[p - 1] + 1;
  }
  B.point();
  compare(Dot{M, A, B, {SHUNT_PLUS, SHUNT_PAIR, SHUNT_F64, false}, false, false}, what);
}

// ---- one matrix -------------------------------------------------------------------------------

static void test_one(bool values, int64_t hub, const char *what)
{
  const int64_t n = 180;
  const auto lengths = [&](int64_t i, Random &r) {
    return i % 17 == 2 ? hub : i % 3 == 0 ? 20 : r.below(90);
  };
  const auto full = [&](int64_t i, Random &r) { return i % 7 == 0 ? 4 * n : r.below(2 * n); };
  Rows M(n, n, SHUNT_I64, false, 51, full), A(n, 9000, SHUNT_I64, false, 52, lengths);
  const shunt_multiplier by = values ? SHUNT_TIMES : SHUNT_PAIR;
  compare(Dot{M, A, A, {SHUNT_PLUS, by, SHUNT_I64, false}, values, true}, what);
}

// ---- the pattern ------------------------------------------------------------------------------

// M's entries end just before a tile of 1024, with it, and behind it.
static void test_tiles()
{
  char text[80];
  for (const int64_t nnz : {1, 1023, 1024, 1025, 2048, 3100}) {
    int64_t left = nnz;
    Rows M(40, 4000, SHUNT_F64, true, 61, [&](int64_t, Random &) { return (int64_t)0; });
    M.columns.clear();
    for (int64_t i = 0; i < 40; i++) {
      const int64_t length = i == 39 ? left : i % 3 ? std::min<int64_t>(left, 100) : 0;
      for (int64_t k = 0; k < length; k++) M.columns.push_back((int32_t)k);
      left -= length;
      M.offsets[i + 1] = (int32_t)M.columns.size();
    }
    M.point();
    const auto few = [](int64_t, Random &r) { return r.below(4); };
    Rows A(40, 30, SHUNT_F64, true, 62, few), B(4000, 30, SHUNT_F64, true, 63, few);
    snprintf(text, sizeof text, "M of %ld entries", (long)nnz);
    compare(Dot{M, A, B, {SHUNT_PLUS, SHUNT_PAIR, SHUNT_F64, false}, false, false}, text);
  }
}

static void test_refused()
{
  const auto few = [](int64_t, Random &r) { return r.below(4); };
  Rows A(10, 10, SHUNT_F32, false, 71, few);
  Buffer counts(400), sums(800), workspace(4096);
  const shunt_device d = this_device();
  shunt_masked_device p = {{SHUNT_MIN, SHUNT_TIMES, SHUNT_F32, false},
                           A.device,
                           A.device,
                           A.device,
                           false,
                           (uint32_t *)counts.device,
                           sums.device};
  check(shunt_masked_dot_cuda(&p, &d, workspace.device, 4096, NULL) == SHUNT_E_UNSUPPORTED,
        "sums of another monoid");
  p.semiring.monoid = SHUNT_PLUS;
  check(shunt_masked_dot_cuda(&p, &d, workspace.device, 8, NULL) == SHUNT_E_WORKSPACE,
        "too little workspace");
  p.b.cols = 11;
  check(shunt_masked_dot_cuda(&p, &d, workspace.device, 4096, NULL) == SHUNT_E_ARGUMENT,
        "shapes that do not fit");
}

int main()
{
  test_types();
  for (const bool values : {false, true}) {
    test_lengths(128, 128, 700, values);
    test_lengths(129, 2000, 5000, values); // a block's
    test_lengths(3, 2500, 9000, values);   // sought by halving
    test_lengths(2600, 90, 6000, values);  // two tables
    test_lengths(6000, 6000, 9000, values);
    test_one(values, 150, values ? "one matrix, summed" : "one matrix");
    test_one(values, 4500, values ? "one matrix with hubs, summed" : "one matrix with hubs");
  }
  test_lengths(9000, 300, 40000, false); // two sets of tags
  test_lengths(400, 9000, 40000, false); // and the longer rows of B in them
  test_many();
  test_homes(10, "columns that meet in a bucket");
  test_homes(160, "more than a bucket and the next ones take");
  test_tiles();
  test_refused();
  return finish();
}
