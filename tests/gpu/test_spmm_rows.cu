// test_spmm_rows.cu: shunt_spmm_csr_rows_cuda against a float64 reference.
//
//   test_spmm_rows                       the checks
//   test_spmm_rows --time FILE.csrbin..  and times beside cuSPARSE (time_spmm_rows.cuh)
//   test_spmm_rows --tune FILE.csrbin..  and times of other ways to cut the work
//
// Every combination of types, layouts, index forms, widths and patterns runs; what
// else may vary (leading dimensions, alignment, scalars, the size of the device that
// the work is cut for) takes turns from case to case.
#include "kernels/spmm_csr_rows_launch.cuh"
#include "tests/gpu/harness.cuh"
#include "tests/gpu/time_spmm_rows.cuh"

using namespace harness;

namespace {

constexpr int64_t kWidest = 257;

struct Types {
  shunt_type in, out, compute;
  const char *name;
};
const Types kTypes[] = {
  { SHUNT_F16, SHUNT_F16, SHUNT_F32, "f16->f16" },
  { SHUNT_F16, SHUNT_F32, SHUNT_F32, "f16->f32" },
  { SHUNT_BF16, SHUNT_BF16, SHUNT_F32, "bf16->bf16" },
  { SHUNT_BF16, SHUNT_F32, SHUNT_F32, "bf16->f32" },
  { SHUNT_F32, SHUNT_F32, SHUNT_F32, "f32->f32" },
  { SHUNT_F64, SHUNT_F64, SHUNT_F64, "f64->f64" },
  { SHUNT_I8, SHUNT_I32, SHUNT_I32, "i8->i32" },
  { SHUNT_I8, SHUNT_F32, SHUNT_F32, "i8->f32" },
};

// ---- patterns -----------------------------------------------------------------
// Column 0 is never used (add_column_0 makes room for it): B holds NaN there.
struct Named {
  const char *name;
  Pattern p;
};

Pattern add_column_0(Pattern p)
{
  p.cols++;
  for (int64_t &c : p.columns) c++;
  return p;
}

Pattern from_lengths(const std::vector<int64_t> &lengths, int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = (int64_t)lengths.size();
  p.cols = cols;
  for (int64_t length : lengths) {
    for (int64_t k = 0; k < length; k++) p.columns.push_back(r.below(cols));  // unsorted, repeated
    p.offsets.push_back(p.nnz());
  }
  return p;
}

std::vector<Named> patterns()
{
  std::vector<Named> all;
  all.push_back({ "random", random_pattern(150, 200, 0.06, 1, 1) });
  all.push_back({ "bundles", random_pattern(160, 120, 0.2, 4, 2) });
  all.push_back({ "skewed", skewed_pattern(300, 400, 8, 3) });
  std::vector<int64_t> lengths(200, 0);
  for (int64_t i = 3; i < 200; i += 7) lengths[i] = i % 5 * 9;
  all.push_back({ "empty rows", from_lengths(lengths, 90, 4) });
  lengths.assign(120, 2);
  lengths[60] = 6000;
  all.push_back({ "one huge row", from_lengths(lengths, 500, 5) });
  all.push_back({ "single row", from_lengths({ 1500 }, 300, 6) });
  lengths.assign(1300, 0);
  lengths[700] = 5;
  lengths[1299] = 1;
  all.push_back({ "many empty rows", from_lengths(lengths, 10, 7) });
  lengths.assign(100, 23);
  all.push_back({ "duplicates, unsorted", from_lengths(lengths, 9, 8) });
  lengths.clear();
  for (int i = 0; i < 400; i++) lengths.push_back(i % 9 == 0 ? 256 : i % 2);  // ends on tile edges
  all.push_back({ "edges", from_lengths(lengths, 64, 9) });
  lengths.clear();
  for (int64_t edge : { 128, 256, 512, 1024 })  // where the split kernel's limits are
    for (int64_t length : { edge - 1, (int64_t)3, edge, (int64_t)0, edge + 1 })
      lengths.push_back(length);
  all.push_back({ "limits", from_lengths(lengths, 70, 12) });
  lengths.assign(45, 2);
  lengths[0] = 1100;
  lengths[44] = 2300;
  all.push_back({ "first and last row long", from_lengths(lengths, 800, 13) });
  all.push_back({ "all rows long", from_lengths(std::vector<int64_t>(11, 1100), 50, 14) });
  lengths.clear();
  for (int64_t i = 0; i < 242; i++)
    lengths.push_back(i % 16 == 2 ? 200 : i % 4 == 1 ? 30 + i % 60 : i % 5);
  all.push_back({ "uneven neighbours", from_lengths(lengths, 90, 15) });
  lengths.assign(1500, 1);
  for (int64_t i = 20; i < 1500; i += 24) lengths[i] = 190 + i % 3;
  all.push_back({ "more long rows than a list holds", from_lengths(lengths, 40, 16) });
  all.push_back({ "no entries", from_lengths(std::vector<int64_t>(40, 0), 5, 10) });
  for (Named &n : all) n.p = add_column_0(n.p);
  return all;
}

// ---- one pattern with values, and what the product must be ---------------------
// Columns of B do not depend on n: the reference for kWidest serves all widths.
struct Reference {
  std::vector<double> a, b, c;    // values as stored; c: old content
  std::vector<double> sum, scale; // of products, of their absolute values
};

double stored(shunt_type t, double v)
{
  char one[8];
  store(one, 0, t, t == SHUNT_I8 ? floor(v * 100) : t == SHUNT_I32 ? floor(v * 1000) : v);
  return load(one, 0, t);
}

Reference make_reference(const Pattern &p, const Types &t, uint64_t seed)
{
  Random r(seed);
  Reference ref;
  std::vector<char> used(p.cols, 0);
  for (int64_t c : p.columns) used[c] = 1;
  for (int64_t i = 0; i < p.nnz(); i++) ref.a.push_back(stored(t.in, r.value()));
  for (int64_t k = 0; k < p.cols; k++)
    for (int64_t j = 0; j < kWidest; j++)
      ref.b.push_back(used[k] || t.in == SHUNT_I8 ? stored(t.in, r.value())
                                                  : j % 3 ? (double)NAN : (double)INFINITY);
  for (int64_t i = 0; i < p.rows * kWidest; i++) ref.c.push_back(stored(t.out, r.value()));
  ref.sum.assign(p.rows * kWidest, 0);
  ref.scale.assign(p.rows * kWidest, 0);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t q = p.offsets[i]; q < p.offsets[i + 1]; q++)
      for (int64_t j = 0; j < kWidest; j++) {
        double x = ref.a[q] * ref.b[p.columns[q] * kWidest + j];
        ref.sum[i * kWidest + j] += x;
        ref.scale[i * kWidest + j] += fabs(x);
      }
  return ref;
}

// ---- one case -------------------------------------------------------------------
struct Options {
  int64_t n = 1;
  bool b_by_column = false, c_by_column = false;
  shunt_type index = SHUNT_I32;
  int base = 0;
  int64_t b_gap = 0, c_gap = 0;     // leading dimension beyond the row
  int64_t b_shift = 0, c_shift = 0; // elements that the pointer is off 256-byte alignment
  double alpha = 1, beta = 0;
  bool scalars_on_device = false;
  int multiprocessors = 132;
  int64_t l2_bytes = 50 << 20;
  int only_if = -1;  // -1: NULL
};

// Device memory that all cases share.
struct Arena {
  Buffer offsets{ 64 << 10 }, columns{ 128 << 10 }, values{ 128 << 10 };
  Buffer b{ 16 << 20 }, c{ 16 << 20 }, workspace{ 64 << 20 }, scalars{ 256 };
};

struct Dense {  // a layout inside an Arena buffer
  int64_t row_stride, col_stride, elements;
};
Dense layout(int64_t rows, int64_t cols, bool by_column, int64_t gap)
{
  if (by_column) return { 1, rows + gap, cols * (rows + gap) };
  return { cols + gap, 1, rows * (cols + gap) };
}

void put(Buffer &to, size_t bytes, const std::vector<char> &from)
{
  CUDA_OK(cudaMemcpy(to.device, from.data(), bytes, cudaMemcpyHostToDevice));
}

std::vector<char> index_array(const std::vector<int64_t> &x, shunt_type t, int base)
{
  std::vector<char> out(x.size() * 8 + 8);
  for (size_t i = 0; i < x.size(); i++)
    if (t == SHUNT_I64) ((int64_t *)out.data())[i] = x[i] + base;
    else ((int32_t *)out.data())[i] = (int32_t)(x[i] + base);
  return out;
}

struct Case {
  shunt_spmm p;
  shunt_device d;
  std::vector<char> c_before;
  size_t c_bytes, workspace_bytes;
};

// Uploads a case; C is all ones bits (NaN) where beta is 0, and in its gaps always.
Case make_case(Arena &m, const Pattern &p, const Reference &r, const Types &t, const Options &o)
{
  Case k = {};
  std::vector<char> bytes = index_array(p.offsets, o.index, o.base);
  put(m.offsets, (p.rows + 1) * shunt_type_size(o.index), bytes);
  bytes = index_array(p.columns, o.index, o.base);
  put(m.columns, p.nnz() * shunt_type_size(o.index), bytes);
  bytes.assign(p.nnz() * 8 + 8, 0);
  for (int64_t i = 0; i < p.nnz(); i++) store(bytes.data(), i, t.in, r.a[i]);
  put(m.values, p.nnz() * shunt_type_size(t.in), bytes);

  Dense b = layout(p.cols, o.n, o.b_by_column, o.b_gap);
  size_t size = shunt_type_size(t.in);
  bytes.assign((b.elements + o.b_shift) * size, (char)0xff);
  for (int64_t i = 0; i < p.cols; i++)
    for (int64_t j = 0; j < o.n; j++)
      store(bytes.data(), o.b_shift + i * b.row_stride + j * b.col_stride, t.in,
            r.b[i * kWidest + j]);
  put(m.b, bytes.size(), bytes);

  Dense c = layout(p.rows, o.n, o.c_by_column, o.c_gap);
  size = shunt_type_size(t.out);
  k.c_before.assign((c.elements + o.c_shift) * size, (char)0xff);
  if (o.beta != 0)
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t j = 0; j < o.n; j++)
        store(k.c_before.data(), o.c_shift + i * c.row_stride + j * c.col_stride, t.out,
              r.c[i * kWidest + j]);
  k.c_bytes = k.c_before.size();
  put(m.c, k.c_bytes, k.c_before);

  char scalars[256] = {};
  store(scalars, 0, t.compute, o.alpha);
  store(scalars + 64, 0, t.compute, o.beta);
  ((uint32_t *)scalars)[32] = o.only_if > 0 ? 0x40000000 : 0;
  CUDA_OK(cudaMemcpy(m.scalars.device, scalars, 256, cudaMemcpyHostToDevice));

  char *s = (char *)m.scalars.device;
  k.p.a = { p.rows, p.cols, p.nnz(), m.offsets.device, m.columns.device, m.values.device,
            o.index, t.in, o.base };
  k.p.b = { p.cols, o.n, b.row_stride, b.col_stride,
            (char *)m.b.device + o.b_shift * shunt_type_size(t.in), t.in };
  k.p.c = { p.rows, o.n, c.row_stride, c.col_stride, (char *)m.c.device + o.c_shift * size, t.out };
  k.p.alpha = { o.scalars_on_device ? s : nullptr, o.scalars_on_device ? 77 : o.alpha };
  k.p.beta = { o.scalars_on_device ? s + 64 : nullptr, o.scalars_on_device ? 77 : o.beta };
  k.p.compute = t.compute;
  k.p.only_if = o.only_if < 0 ? nullptr : (const uint32_t *)(s + 128);
  static const shunt_device device = this_device();
  k.d = device;
  k.d.multiprocessors = o.multiprocessors;
  k.d.l2_bytes = o.l2_bytes;
  k.workspace_bytes = shunt_spmm_csr_rows_workspace(&k.p, &k.d);
  return k;
}

std::vector<char> download(const Buffer &from, size_t bytes)
{
  std::vector<char> to(bytes);
  CUDA_OK(cudaMemcpy(to.data(), from.device, bytes, cudaMemcpyDeviceToHost));
  return to;
}

// C as the case left it: NULL when right, else what is wrong.
const char *verdict(const Arena &m, const Case &k, const Pattern &p, const Reference &r,
                    const Types &t, const Options &o)
{
  static char text[300];
  std::vector<char> after = download(m.c, k.c_bytes);
  std::vector<char> expected_gaps = k.c_before;
  const size_t size = shunt_type_size(t.out);
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t j = 0; j < o.n; j++) {
      const int64_t at = o.c_shift + i * k.p.c.row_stride + j * k.p.c.col_stride, q = i * kWidest + j;
      const double got = load(after.data(), at, t.out);
      const double old = o.beta != 0 ? o.beta * r.c[q] : 0;
      const double want = o.alpha * r.sum[q] + old;
      const double scale = fabs(o.alpha) * r.scale[q] + fabs(old);
      const double most = tolerance(t.out, t.compute, scale, want, p.offsets[i + 1] - p.offsets[i]);
      memcpy(&expected_gaps[at * size], &after[at * size], size);
      if (!(fabs(got - want) <= most)) {
        snprintf(text, sizeof text, "C(%lld,%lld) = %.9g, not %.9g (allowed %.3g)", (long long)i,
                 (long long)j, got, want, most);
        return text;
      }
    }
  if (memcmp(expected_gaps.data(), after.data(), after.size())) return "a gap of C was written";
  return nullptr;
}

const char *describe(const Options &o)
{
  static char text[300];
  snprintf(text, sizeof text,
           "n %lld, B %s+%lld@%lld, C %s+%lld@%lld, i%d base %d, alpha %g beta %g%s, %d SM, l2 %lld",
           (long long)o.n, o.b_by_column ? "col" : "row", (long long)o.b_gap, (long long)o.b_shift,
           o.c_by_column ? "col" : "row", (long long)o.c_gap, (long long)o.c_shift,
           o.index == SHUNT_I64 ? 64 : 32, o.base, o.alpha, o.beta,
           o.scalars_on_device ? " (device)" : "", o.multiprocessors, (long long)o.l2_bytes);
  return text;
}

// Runs and judges one case, by one of the two kernels; prints what is wrong.
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
  shunt_status status =
      split ? shunt_spmm_csr_rows_split_cuda(&k.p, o.n % 2 ? -1 : 1, &k.d, m.workspace.device,
                                             k.workspace_bytes, nullptr)
            : shunt_spmm_csr_rows_cuda(&k.p, &k.d, m.workspace.device, k.workspace_bytes, nullptr);
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

// ---- all combinations -------------------------------------------------------------
Options vary(const Types &t, int64_t n, int form, Random &r)
{
  static const int64_t gaps[] = { 0, 0, 1, 8, 16 };
  Options o;
  o.n = n;
  o.b_by_column = form & 1;
  o.c_by_column = form >> 1 & 1;
  o.index = form & 4 ? SHUNT_I64 : SHUNT_I32;
  o.base = form >> 3 & 1;
  o.b_gap = gaps[r.below(5)];
  o.c_gap = gaps[r.below(5)];
  o.b_shift = r.below(4) == 0;
  o.c_shift = r.below(4) == 0;
  if (r.below(2)) {
    o.alpha = t.compute == SHUNT_I32 ? 3 : 1.25;
    o.beta = t.compute == SHUNT_I32 ? -2 : -0.5;
  }
  o.scalars_on_device = r.below(2);
  o.multiprocessors = r.below(2) ? 132 : 1;
  o.l2_bytes = r.below(3) ? 50 << 20 : 1 << 16;
  return o;
}

void test_combinations(Arena &m, const std::vector<Named> &all)
{
  static const int64_t widths[] = { 1, 3, 8, 32, 33, 64, 128, 200, 257 };
  Random r(42);
  for (const Types &t : kTypes)
    for (const Named &pattern : all) {
      Reference ref = make_reference(pattern.p, t, 77);
      int cases = 0, wrong = 0;
      for (int64_t n : widths)
        // All 16 forms for f32; every other one, in turns, for the rest.
        for (int form = 0; form < 16; form++) {
          if (left_out()) continue;
          if (t.in != SHUNT_F32 && (form + form / 4 + n) % 2) continue;
          if (wrong < 3) wrong += !run_case(m, pattern.p, ref, t, vary(t, n, form, r));
          cases++;
        }
      check(!wrong, "%s, %s: %d cases", t.name, pattern.name, cases);
    }
}

// ---- every way that the split kernel can be told to cut ------------------------------
template <class T, int V>
shunt_status run_split(const Case &k, const shunt::spmm_rows::split_shape &s)
{
  using namespace shunt::spmm_rows;
  plan how = {};
  how.split = true;
  how.b_stride = k.p.b.row_stride;
  args<T> a = make_args<T>(&k.p, how, nullptr);
  a.b_row_bytes = (uint32_t)(a.b_row_stride * sizeof(T));
  return launch_split<T, T, T, V>(a, s, nullptr);
}

void test_split_shapes(Arena &m, const std::vector<Named> &all)
{
  static const int limits[] = { 0, 1, 7, 64, 500, 1 << 20 };
  static const int windows[] = { 1, 16, 300, 2048, 1 << 20 };
  static const int64_t widths[] = { 4, 20, 32, 100, 128 };
  Random r(44);
  for (int which : { 4, 5 }) {
    const Types &t = kTypes[which];
    for (const Named &pattern : all) {
      Reference ref = make_reference(pattern.p, t, 83);
      int wrong = 0, cases = 0;
      for (int lanes = 2; lanes <= 5; lanes++)
        for (int team = lanes; team <= 5; team++)
          for (int turn = 0; turn < 6; turn++, cases++) {
            if (left_out()) continue;
            Options o = vary(t, widths[r.below(5)], (int)r.below(16) & 14, r);
            o.b_gap = o.b_shift = 0;
            shunt::spmm_rows::split_shape s = {};
            s.threads = 64 << turn % 3;
            s.chunk = turn % 2 ? 4 : 8;
            s.lanes_log2 = lanes;
            s.team_log2 = team;
            s.long_lanes_log2 = 2 + (int)r.below(2);
            s.limit = limits[r.below(6)];
            s.window = windows[r.below(5)];
            s.search = true;
            Case k = make_case(m, pattern.p, ref, t, o);
            shunt_status status =
                which == 4 ? run_split<float, 4>(k, s) : run_split<double, 2>(k, s);
            cudaError_t e = cudaDeviceSynchronize();
            const char *what = status != SHUNT_OK || e != cudaSuccess
                                   ? "failed"
                                   : verdict(m, k, pattern.p, ref, t, o);
            if (!what) continue;
            if (wrong++ < 3)
              printf("# %s: %d threads, chunk %d, lanes %d, team %d, long %d, limit %d, window %d: "
                     "%s: %s\n", t.name, s.threads, s.chunk, 1 << lanes, 1 << team,
                     1 << s.long_lanes_log2, s.limit, s.window, describe(o), what);
          }
      check(!wrong, "%s, %s: %d ways to cut by rows", t.name, pattern.name, cases);
    }
  }
}

// ---- the rest -----------------------------------------------------------------------
void test_only_if(Arena &m, const std::vector<Named> &all)
{
  Random r(43);
  for (const Types &t : kTypes) {
    int wrong = 0;
    for (size_t i = 0; i < all.size(); i++) {
      Reference ref = make_reference(all[i].p, t, 78);
      for (int form = 0; form < 16; form += 3) {
        Options o = vary(t, form % 2 ? 33 : 64, form, r);
        o.only_if = 1;
        Case k = make_case(m, all[i].p, ref, t, o);
        wrong += k.workspace_bytes != 0;
        wrong += shunt_spmm_csr_rows_cuda(&k.p, &k.d, nullptr, 0, nullptr) != SHUNT_OK;
        wrong += verdict(m, k, all[i].p, ref, t, o) != nullptr;
        o.only_if = 0;
        k = make_case(m, all[i].p, ref, t, o);
        wrong += shunt_spmm_csr_rows_cuda(&k.p, &k.d, nullptr, 0, nullptr) != SHUNT_OK;
        wrong += download(m.c, k.c_bytes) != k.c_before;
      }
    }
    check(!wrong, "%s: only_if 0 and not 0, without workspace", t.name);
  }
}

void test_nan_spreads(Arena &m, const Pattern &p, bool split)
{
  const Types &t = kTypes[4];
  Reference ref = make_reference(p, t, 79);
  Options o;
  o.n = 32;
  const int64_t poisoned = p.columns[p.nnz() / 2];
  ref.b[poisoned * kWidest + 5] = NAN;
  for (int64_t q = 0; q < p.nnz(); q++)
    if (p.columns[q] == poisoned && q % 2) ref.a[q] = 0;  // 0 x NaN is NaN
  Case k = make_case(m, p, ref, t, o);
  if (split)
    shunt_spmm_csr_rows_split_cuda(&k.p, -1, &k.d, m.workspace.device,
                                             k.workspace_bytes, nullptr);
  else
    shunt_spmm_csr_rows_cuda(&k.p, &k.d, m.workspace.device, k.workspace_bytes, nullptr);
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
  for (int which : { 0, 4, 5 }) {
    const Types &t = kTypes[which];
    Reference ref = make_reference(pattern.p, t, 80);
    Options o;
    o.n = 64;
    o.alpha = 0.7;
    std::vector<char> first;
    int differ = 0;
    for (int i = 0; i < 20; i++) {
      Case k = make_case(m, pattern.p, ref, t, o);
      CUDA_OK(cudaMemset(m.workspace.device, i % 2 ? 0xff : 0, k.workspace_bytes));
      if (split)
        shunt_spmm_csr_rows_split_cuda(&k.p, -1, &k.d, m.workspace.device,
                                             k.workspace_bytes, nullptr);
      else
        shunt_spmm_csr_rows_cuda(&k.p, &k.d, m.workspace.device, k.workspace_bytes, nullptr);
      std::vector<char> c = download(m.c, k.c_bytes);
      if (i == 0) first = c;
      differ += c != first;
    }
    check(!differ, "%s, %s%s: 20 repeats give the same bits", t.name, pattern.name,
          split ? ", by rows" : "");
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
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t x;
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  shunt_status status =
      shunt_spmm_csr_rows_cuda(&k.p, &k.d, m.workspace.device, k.workspace_bytes, s);
  CUDA_OK(cudaStreamEndCapture(s, &g));
  CUDA_OK(cudaGraphInstantiate(&x, g, 0));
  int wrong = status != SHUNT_OK;
  for (int replay = 0; replay < 3; replay++) {
    o.alpha = 1 + replay;
    o.beta = replay == 1 ? 0.5 : 0;  // beta turns 0 between replays, and back
    ref = make_reference(p, t, 82 + replay);
    k = make_case(m, p, ref, t, o);
    CUDA_OK(cudaGraphLaunch(x, s));
    CUDA_OK(cudaStreamSynchronize(s));
    const char *what = verdict(m, k, p, ref, t, o);
    if (what) printf("# replay %d: %s\n", replay, what);
    wrong += what != nullptr;
  }
  check(!wrong, "captured: replays read values and scalars anew");
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(g);
  cudaStreamDestroy(s);
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
    return shunt_spmm_csr_rows_cuda(&k.p, &k.d, at, size, nullptr);
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

// More tiles than the device holds at once, long rows among them.
void test_large()
{
  const int64_t n = 64;
  Pattern p = skewed_pattern(200000, 60000, 6, 11);
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
  q.a = { p.rows, p.cols, p.nnz(), dp.device, dj.device, da.device, SHUNT_I32, SHUNT_F32, 0 };
  q.b = { p.cols, n, n, 1, db.device, SHUNT_F32 };
  q.c = { p.rows, n, n, 1, dc.device, SHUNT_F32 };
  q.alpha.host = 1;
  q.compute = SHUNT_F32;
  shunt_device d = this_device();
  Buffer w(shunt_spmm_csr_rows_workspace(&q, &d));
  for (bool split : { false, true }) {
    shunt_status s = split ? shunt_spmm_csr_rows_split_cuda(&q, 3, &d, nullptr, 0, nullptr)
                           : shunt_spmm_csr_rows_cuda(&q, &d, w.device, w.host.size(), nullptr);
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
    check(!wrong, "200000 rows, %lld entries, more blocks than fit at once%s",
          (long long)p.nnz(), split ? ", by rows" : "");
  }
}

}  // namespace

int main(int argc, char **argv)
{
  const bool tune = argc > 1 && !strcmp(argv[1], "--tune");
  const bool timed = tune || (argc > 1 && !strcmp(argv[1], "--time"));
  {
    Arena m;
    std::vector<Named> all = patterns();
    test_combinations(m, all);
    test_split_shapes(m, all);
    test_only_if(m, all);
    test_nan_spreads(m, all[0].p, false);
    test_nan_spreads(m, all[0].p, true);
    for (bool split : { false, true }) {
      test_repeats(m, all[2], split);
      test_repeats(m, all[4], split);
    }
    test_capture(m, all[4].p);
    test_refusals(m, all[0].p);
  }
  test_large();
  if (timed && !time_spmm_rows(argc - 2, argv + 2, tune)) failed++;
  return finish();
}
