// test_vector_csr_spmm.cu: shunt_vector_csr_spmm_cuda against float64.
//
// Every pattern meets every M and N; types, layouts, index types, bases, scalars and
// the number of multiprocessors that the launcher is told (which decides tile width
// and slices) rotate with a fixed random sequence, so all pairs of them occur.
//   --time   also times the shapes that the project has targets for
//   --only-time   times without testing
#include "kernels/vector/vector_kernels.h"
#include "tests/gpu/common/spmm_reference.cuh"

using namespace harness;

typedef std::vector<int64_t> Row;

enum Kind {
  EIGHTS, // groups of 8 rows with one list
  FOURS,
  TWOS,
  UNSTRUCTURED,
  ONE_COLUMN, // groups of 8, of which two in three differ in one column of one row
  ONE_LENGTH, // groups of 8, of which half have one row an entry longer
  DUPLICATES, // groups of 8, lists unsorted and with repeats
  EMPTY,      // groups of 8, most of them without entries; some rows empty in others
  LONG,       // groups of 8, lists of hundreds of entries, of odd and even length
  LONG_MIXED, // the same, of which half differ near the end of the list
  KINDS
};
static const char *const kind_name[KINDS] = {
    "eights",     "fours", "twos", "unstructured", "one column differs", "one length differs",
    "duplicates", "empty", "long", "long mixed"};

static Row random_row(Random &r, int64_t cols, double density)
{
  Row row;
  for (int64_t j = 0; j < cols; j++)
    if (r.uniform() < density) row.push_back(j);
  return row;
}

static Pattern make_pattern(Kind kind, int64_t rows, int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.rows = rows;
  p.cols = cols;
  const int share = kind == FOURS ? 4 : kind == TWOS ? 2 : kind == UNSTRUCTURED ? 1 : 8;
  const bool is_long = kind == LONG || kind == LONG_MIXED;
  Row shared;
  int odd_row = -1;
  for (int64_t i = 0; i < rows; i++) {
    const int64_t group = i / 8;
    if (i % share == 0) {
      shared = random_row(r, cols, is_long ? 0.3 + 0.4 * r.uniform() : 0.12);
      if (kind == DUPLICATES)
        for (size_t k = 0; k < shared.size(); k++)
          shared[k] = r.uniform() < 0.2 ? shared[0] : shared[r.below((int64_t)shared.size())];
      if (kind == EMPTY && group % 3 != 0) shared.clear();
      odd_row = (int)r.below(8);
    }
    Row row = shared;
    const bool chosen = i % 8 == odd_row && !row.empty();
    if (kind == ONE_COLUMN && chosen && group % 3 != 0) {
      const size_t at = group % 4 == 0 ? 0 : group % 4 == 1 ? row.size() - 1 : row.size() / 2;
      row[at] = (row[at] + 1) % cols;
    }
    if (kind == ONE_LENGTH && chosen && group % 2) row.push_back(r.below(cols));
    if (kind == EMPTY && chosen && group % 2) row.clear();
    if (kind == LONG_MIXED && chosen && group % 2) row[row.size() - 1] = r.below(cols);
    p.columns.insert(p.columns.end(), row.begin(), row.end());
    p.offsets.push_back((int64_t)p.columns.size());
  }
  return p;
}

struct Options {
  shunt_type type = SHUNT_F16, out = SHUNT_F16, index = SHUNT_I32;
  int base = 0, b_layout = 0, c_layout = 0, multiprocessors = 132;
  double alpha = 1, beta = 0;
  bool device_scalars = false;
};

// All operands of one product, on both sides.
struct Problem {
  const Pattern &pattern;
  Options o;
  DenseLayout bl, cl;
  Buffer offsets, columns, values, b, c, scalars, workspace;
  shunt_device device;
  shunt_spmm spmm;

  Problem(const Pattern &pattern_, int64_t n, const Options &options, uint64_t seed)
      : pattern(pattern_), o(options), bl(dense_layout(o.b_layout, pattern.cols, n)),
        cl(dense_layout(o.c_layout, pattern.rows, n)),
        offsets((pattern.rows + 1) * shunt_type_size(o.index)),
        columns(pattern.nnz() * shunt_type_size(o.index)),
        values(pattern.nnz() * shunt_type_size(o.type)), b(bl.size() * shunt_type_size(o.type)),
        c(cl.size() * shunt_type_size(o.out)), scalars(2 * sizeof(double)), device(this_device())
  {
    Random r(seed);
    for (size_t i = 0; i < pattern.offsets.size(); i++)
      store(offsets.host.data(), (int64_t)i, o.index, (double)(pattern.offsets[i] + o.base));
    for (int64_t e = 0; e < pattern.nnz(); e++) {
      store(columns.host.data(), e, o.index, (double)(pattern.columns[(size_t)e] + o.base));
      store(values.host.data(), e, o.type, r.value());
    }
    fill_dense(*this, r);
    const shunt_type sum = o.type == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32;
    store(scalars.host.data(), 0, sum, o.alpha);
    store(scalars.host.data(), 1, sum, o.beta);
    for (Buffer *x : {&offsets, &columns, &values, &b, &c, &scalars}) x->upload();

    device.multiprocessors = o.multiprocessors;
    spmm.a = {pattern.rows,  pattern.cols, pattern.nnz(), offsets.device, columns.device,
              values.device, o.index,      o.type,        o.base};
    spmm.b = bl.view(b.device, o.type);
    spmm.c = cl.view(c.device, o.out);
    const char *s = (const char *)scalars.device;
    spmm.alpha = {o.device_scalars ? s : nullptr, o.alpha};
    spmm.beta = {o.device_scalars ? s + shunt_type_size(sum) : nullptr, o.beta};
    spmm.compute = sum;
    spmm.only_if = nullptr;
  }
};

static shunt_status call(Problem &q, void *workspace, size_t bytes, cudaStream_t stream)
{
  return shunt_vector_csr_spmm_cuda(&q.spmm, &q.device, workspace, bytes, stream);
}

// Runs once; 0 when right.
static int64_t run_problem(Problem &q)
{
  const std::vector<char> before = q.c.host;
  size_t bytes = shunt_vector_csr_spmm_workspace(&q.spmm, &q.device);
  if (q.o.b_layout == 4) bytes += (size_t)(q.bl.rows * q.bl.row_stride) * 8;
  Buffer workspace(bytes + 64);
  memset(workspace.host.data(), 0xff, workspace.host.size());
  workspace.upload();
  shunt_status s = call(q, workspace.device, bytes, 0);
  if (s != SHUNT_OK) {
    printf("# status %d\n", s);
    return 1;
  }
  CUDA_OK(cudaDeviceSynchronize());
  q.c.download();
  workspace.download();
  for (int i = 0; i < 64; i++)
    if (workspace.host[bytes + i] != (char)0xff) {
      printf("# wrote behind the workspace\n");
      return 1;
    }
  return wrong_elements(q, before);
}

static Options random_options(Random &r)
{
  static const shunt_type types[6][2] = {{SHUNT_F16, SHUNT_F16},   {SHUNT_F16, SHUNT_F32},
                                         {SHUNT_BF16, SHUNT_BF16}, {SHUNT_BF16, SHUNT_F32},
                                         {SHUNT_F32, SHUNT_F32},   {SHUNT_F64, SHUNT_F64}};
  Options o;
  const int t = (int)r.below(6);
  o.type = types[t][0];
  o.out = types[t][1];
  o.index = r.below(2) ? SHUNT_I64 : SHUNT_I32;
  o.base = (int)r.below(2);
  o.b_layout = (int)r.below(5);
  o.c_layout = (int)r.below(5);
  o.multiprocessors = r.below(2) ? 132 : 1;
  if (r.below(2)) o.alpha = 1.5, o.beta = r.below(3) ? -0.75 : 0;
  o.device_scalars = r.below(2);
  return o;
}

static void test_everything()
{
  static const int64_t some_n[] = {1, 7, 8, 63, 64, 65, 128, 200, 256, 257, sized(1024, 400)};
  static const int64_t some_m[] = {1, 7, 8, 9, 64, 1000};
  Random r(20261121);
  Sample sample(19);
  for (int kind = 0; kind < KINDS; kind++)
    for (int64_t m : some_m) {
      if (beyond(m, 64) || (m == 1000 && (kind == LONG || kind == LONG_MIXED))) continue;
      const int64_t k = kind == LONG || kind == LONG_MIXED ? 1301 : m == 7 ? 1 : 307;
      const Pattern p = make_pattern((Kind)kind, m, k, r.next());
      int64_t wrong = 0;
      for (int64_t n : some_n)
        for (int turn = 0; turn < (m <= 64 ? 5 : 2); turn++) {
          if (sample.leaves_out()) continue;
          const Options o = random_options(r);
          Problem q(p, n, o, r.next());
          const int64_t w = run_problem(q);
          if (w)
            printf("# %lld wrong: n %lld types %d %d index %d base %d layouts %d %d sms %d "
                   "alpha %g beta %g device %d\n",
                   (long long)w, (long long)n, o.type, o.out, o.index, o.base, o.b_layout,
                   o.c_layout, o.multiprocessors, o.alpha, o.beta, o.device_scalars);
          wrong += w;
        }
      check(wrong == 0, "%s, %lld x %lld, all widths", kind_name[kind], (long long)m, (long long)k);
    }
}

// NaN and Inf in rows of B that some rows of a group name and others do not; stored
// zeros that meet them; padded lists that must not turn Inf into NaN.
static void test_nonfinite(shunt_type type, Kind kind)
{
  const Pattern p = make_pattern(kind, 24, 100, 5);
  Options o;
  o.type = o.out = type;
  Problem q(p, 72, o, 6);
  for (int64_t row : {0, 3, 9, 17, 22}) {
    const int64_t from = p.offsets[(size_t)row], to = p.offsets[(size_t)row + 1];
    if (from == to) continue;
    const int64_t first = p.columns[(size_t)from], last = p.columns[(size_t)to - 1];
    store(q.b.host.data(), q.bl.at(first, 3 + row), type, NAN);
    store(q.b.host.data(), q.bl.at(last, 40 + row), type, row % 2 ? INFINITY : -INFINITY);
    if (row % 2) store(q.values.host.data(), from, type, 0);
  }
  q.values.upload();
  q.b.upload();
  check(run_problem(q) == 0, "NaN and Inf, %s, type %d", kind_name[kind], type);
}

static void test_repeats(shunt_type type)
{
  const Pattern p = make_pattern(LONG_MIXED, 203, 1301, 9);
  Options o;
  o.type = o.out = type;
  Problem q(p, 64, o, 10);
  Buffer workspace(shunt_vector_csr_spmm_workspace(&q.spmm, &q.device));
  constexpr int calls = sized(20, 3);
  const bool same = repeats(
      q, calls, [&] { return call(q, workspace.device, workspace.host.size(), 0) == SHUNT_OK; });
  check(same, "%d calls give the same bits, type %d", calls, type);
}

// The pattern changes in place between two calls with the same workspace.
static void test_changed_pattern()
{
  const Pattern equal = make_pattern(EIGHTS, 64, 307, 11);
  Pattern changed = equal;
  for (int64_t i = 0; i < 64; i += 3) {
    int64_t &last = changed.columns[(size_t)changed.offsets[(size_t)i + 1] - 1];
    last = (last + 7) % 307;
  }
  Options o;
  Problem before(equal, 128, o, 12), after(changed, 128, o, 12);
  bool good = run_problem(before) == 0;
  CUDA_OK(cudaMemcpy(before.columns.device, after.columns.device, after.columns.host.size(),
                     cudaMemcpyDeviceToDevice));
  after.spmm.a.columns = before.columns.device;
  check(good && run_problem(after) == 0, "a pattern changed in place is seen");
}

static void test_declined()
{
  const Pattern p = make_pattern(EIGHTS, 16, 64, 13);
  Options o;
  Problem q(p, 64, o, 14);
  Buffer workspace(shunt_vector_csr_spmm_workspace(&q.spmm, &q.device));
  const size_t bytes = workspace.host.size();
  check(call(q, nullptr, 0, 0) == SHUNT_E_WORKSPACE, "no workspace is declined");
  check(call(q, workspace.device, bytes - 1, 0) == SHUNT_E_WORKSPACE, "a small one too");
  uint32_t word = 0;
  q.spmm.only_if = &word;
  check(call(q, workspace.device, bytes, 0) == SHUNT_E_UNSUPPORTED, "only_if is declined");
  q.spmm.only_if = nullptr;
  q.spmm.compute = SHUNT_F64;
  check(call(q, workspace.device, bytes, 0) == SHUNT_E_UNSUPPORTED, "compute f64 is declined");
}

// `multiprocessors`: 0, or what the launcher is told, to see its other tile widths.
static void time_case(const Pattern &p, double sparsity, shunt_type type, shunt_type index,
                      int64_t n, int multiprocessors)
{
  Options o;
  o.type = o.out = type;
  o.index = index;
  Problem q(p, n, o, 18);
  q.device = this_device();
  if (multiprocessors) q.device.multiprocessors = multiprocessors;
  Buffer workspace(shunt_vector_csr_spmm_workspace(&q.spmm, &q.device));
  const double us = time_graph([&](cudaStream_t s) {
    if (call(q, workspace.device, workspace.host.size(), s) != SHUNT_OK) exit(3);
  });
  const double gathered = (double)p.nnz() / 8 * (double)n * (double)shunt_type_size(type);
  char name[32] = "vector";
  if (multiprocessors) snprintf(name, sizeof name, "vector/%dsm", multiprocessors);
  printf("time %s %s %s %lld %lld %.2f %.1f %.0f\n", name, type == SHUNT_F16 ? "f16" : "f32",
         index == SHUNT_I32 ? "i32" : "i64", (long long)p.rows, (long long)n, sparsity, us,
         gathered / us * 1e-3);
  fflush(stdout);
}

static void time_targets()
{
  printf("# time vector type index M=K N sparsity us GBps_gather\n");
  for (double s : {0.9, 0.95, 0.8, 0.98}) {
    const Pattern p = random_pattern(4096, 4096, 1 - s, 8, 17);
    const Pattern large = random_pattern(8192, 8192, 1 - s, 8, 17);
    for (shunt_type index : {SHUNT_I32, SHUNT_I64}) {
      for (int64_t n : {64, 256, 1024}) time_case(p, s, SHUNT_F16, index, n, 0);
      time_case(large, s, SHUNT_F16, index, 256, 0);
    }
    for (int64_t n : {256, 1024}) time_case(p, s, SHUNT_F32, SHUNT_I32, n, 0);
    if (s > 0.92) continue;
    // Tiles of 128 at N = 256, one slice at N = 64, tiles of 64 at N = 1024 and at 8192.
    time_case(p, s, SHUNT_F16, SHUNT_I32, 256, 16);
    time_case(p, s, SHUNT_F16, SHUNT_I32, 64, 32);
    time_case(p, s, SHUNT_F16, SHUNT_I32, 1024, 512);
    time_case(large, s, SHUNT_F16, SHUNT_I32, 256, 264);
  }
}

int main(int argc, char **argv)
{
  if (argc > 1 && !strcmp(argv[1], "--only-time")) {
    time_targets();
    return 0;
  }
  test_everything();
  for (shunt_type t : {SHUNT_F16, SHUNT_BF16, SHUNT_F32, SHUNT_F64}) {
    for (Kind kind : {EIGHTS, FOURS, TWOS, UNSTRUCTURED, ONE_COLUMN}) test_nonfinite(t, kind);
    test_repeats(t);
  }
  test_changed_pattern();
  test_declined();
  if (argc > 1 && !strcmp(argv[1], "--time")) time_targets();
  return finish();
}
