// test_sddmm.cu: the SDDMM kernels and their helpers (rows, vector, sample, combine,
// dense copy) against float64.
//
// Every problem poisons what must not be read: padding, rows of A and columns of B
// without entries, and C.values where beta is 0, all hold NaN.
//
//   test_sddmm          the checks
//   test_sddmm --time   and then timings: "time NAME type K sparsity us"
#include "kernels/sddmm_csr_operands.cuh"
#include "tests/gpu/harness.cuh"

using namespace harness;

static const char *type_name(shunt_type t)
{
  static const char *name[] = { "f16", "bf16", "f32", "f64", "i8", "i32", "i64", "u64" };
  return name[t];
}

// ---- patterns --------------------------------------------------------------------
static void add_row(Pattern &p, const std::vector<int64_t> &list)
{
  p.columns.insert(p.columns.end(), list.begin(), list.end());
  p.offsets.push_back(p.nnz());
  p.rows++;
}

static std::vector<int64_t> random_list(Random &r, int64_t cols, double density)
{
  std::vector<int64_t> list;
  for (int64_t j = 0; j < cols; j++)
    if (r.uniform() < density) list.push_back(j);
  return list;
}

// Groups of 8: equal; equal but for one column; one row shorter; empty; unlike.
static Pattern mixed_groups(int64_t cols, double density, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  for (int group = 0; group < 15; group++) {
    std::vector<int64_t> list = random_list(r, cols, density);
    list.push_back(cols - 1);
    for (int row = 0; row < (group == 14 ? 5 : 8); row++) {
      std::vector<int64_t> own = list;
      if (group % 5 == 1 && row == 6) own[own.size() / 2] = 0;
      if (group % 5 == 2 && row == 3) own.pop_back();
      if (group % 5 == 3) own.clear();
      if (group % 5 == 4) own = random_list(r, cols, density);
      add_row(p, own);
    }
  }
  return p;
}

static Pattern mostly_empty(int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  for (int i = 0; i < 700; i++)
    add_row(p, i % 97 == 13 || i == 699 ? random_list(r, cols, 0.05) : std::vector<int64_t>());
  return p;
}

static Pattern long_row(int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  for (int i = 0; i < 60; i++)
    add_row(p, random_list(r, cols, i == 21 ? 0.95 : 1.5 / (double)cols));
  return p;
}

// Unsorted lists with repeats; the first half in groups of 8.
static Pattern unsorted(int64_t cols, uint64_t seed)
{
  Random r(seed);
  Pattern p;
  p.cols = cols;
  std::vector<int64_t> list;
  for (int i = 0; i < 64; i++) {
    if (i % 8 == 0 || i >= 32) {
      list.clear();
      for (int n = 0; n < 45; n++)
        list.push_back(r.below(cols));
    }
    add_row(p, list);
  }
  return p;
}

struct Named {
  const char *name;
  Pattern pattern;
};

static std::vector<Named> patterns()
{
  std::vector<Named> all;
  all.push_back({ "random", random_pattern(83, 150, 0.1, 1, 1) });
  all.push_back({ "groups of 8, ragged end", random_pattern(83, 150, 0.3, 8, 2) });
  all.push_back({ "mixed groups", mixed_groups(170, 0.3, 3) });
  all.push_back({ "mostly empty", mostly_empty(90, 4) });
  all.push_back({ "long row", long_row(3000, 5) });
  all.push_back({ "unsorted, repeated", unsorted(120, 6) });
  all.push_back({ "dense groups", random_pattern(24, 700, 0.6, 8, 7) });
  all.push_back({ "dense rows", random_pattern(37, 500, 0.5, 1, 8) });
  all.push_back({ "short rows", random_pattern(400, 50, 0.03, 1, 9) });
  all.push_back({ "one entry", random_pattern(1, 1, 2, 1, 10) });
  all.push_back({ "no entry", random_pattern(9, 9, -1, 1, 11) });
  return all;
}

// ---- operands ----------------------------------------------------------------------
// A dense matrix in both memories, `shift` elements off a 256-byte boundary; what is
// not set is NaN (all ones).
struct Matrix {
  shunt_dense host, device;
  Buffer bytes;
  static int64_t size_of(int64_t rows, int64_t cols, bool row_major, int64_t pad)
  {
    return row_major ? rows * (cols + pad) : cols * (rows + pad);
  }
  Matrix(int64_t rows, int64_t cols, bool row_major, int64_t pad, int64_t shift, shunt_type t)
      : bytes((size_t)(size_of(rows, cols, row_major, pad) + shift) * shunt_type_size(t))
  {
    std::fill(bytes.host.begin(), bytes.host.end(), (char)0xff);
    int64_t ld = (row_major ? cols : rows) + pad;
    host = shunt_dense{ rows, cols, row_major ? ld : 1, row_major ? 1 : ld,
                        bytes.host.data() + shift * shunt_type_size(t), t };
    device = host;
    device.values = (char *)bytes.device + shift * shunt_type_size(t);
  }
  int64_t at(int64_t i, int64_t j) const { return i * host.row_stride + j * host.col_stride; }
  void set(int64_t i, int64_t j, double v) { store(host.values, at(i, j), host.type, v); }
  double get(int64_t i, int64_t j) const { return load(host.values, at(i, j), host.type); }
};

// A pattern's arrays in both memories.
struct Sparse {
  Buffer offsets, columns, values;
  std::vector<double> old; // C.values before
  shunt_csr device;
  static size_t width(shunt_type index) { return shunt_type_size(index); }
  Sparse(const Pattern &p, shunt_type index, int base, shunt_type t, double beta, Random &r)
      : offsets((size_t)(p.rows + 1) * width(index)), columns((size_t)p.nnz() * width(index)),
        values((size_t)p.nnz() * shunt_type_size(t)), old((size_t)p.nnz())
  {
    for (int64_t i = 0; i <= p.rows; i++)
      store(offsets.host.data(), i, index, (double)(p.offsets[(size_t)i] + base));
    for (int64_t i = 0; i < p.nnz(); i++) {
      store(columns.host.data(), i, index, (double)(p.columns[(size_t)i] + base));
      store(values.host.data(), i, t, beta == 0 ? NAN : r.value());
      old[(size_t)i] = load(values.host.data(), i, t);
    }
    offsets.upload();
    columns.upload();
    values.upload();
    device = shunt_csr{ p.rows, p.cols, p.nnz(), offsets.device, columns.device, values.device,
                        index, t, base };
  }
};

// alpha or beta, sometimes in device memory.
struct Scalar {
  Buffer memory;
  shunt_scalar value;
  Scalar(double v, bool on_device, shunt_type compute) : memory(8)
  {
    store(memory.host.data(), 0, compute, v);
    memory.upload();
    value = shunt_scalar{ on_device ? memory.device : nullptr, on_device ? 0 : v };
  }
};

// ---- SDDMM ---------------------------------------------------------------------------
struct Setup {
  shunt_type in, out;
  int64_t k;
  bool a_rows, b_rows;    // row-major?
  int64_t pad, shift;     // elements between rows, elements off alignment
  shunt_type index;
  int base;
  double alpha, beta;
  bool device_scalars;
};

static shunt_type compute_of(shunt_type t) { return t == SHUNT_F64 ? SHUNT_F64 : SHUNT_F32; }

typedef size_t (*workspace_fn)(const shunt_sddmm *, const shunt_device *);
typedef shunt_status (*launch_fn)(const shunt_sddmm *, const shunt_device *, void *, size_t,
                                  shunt_stream);
struct Kernel {
  const char *name;
  workspace_fn workspace;
  launch_fn launch;
};
static const Kernel ROWS = { "rows", shunt_sddmm_csr_rows_workspace, shunt_sddmm_csr_rows_cuda };
static const Kernel VECTOR = { "vector", shunt_sddmm_csr_vector_workspace,
                               shunt_sddmm_csr_vector_cuda };

// One problem, ready to run by any kernel and to be judged.
struct Problem {
  Setup s;
  const Pattern &p;
  Random random;
  Matrix a, b;
  Sparse c;
  Scalar alpha, beta;
  shunt_sddmm task;

  Problem(const Setup &setup, const Pattern &pattern, uint64_t seed)
      : s(setup), p(pattern), random(seed), a(p.rows, s.k, s.a_rows, s.pad, s.shift, s.in),
        b(s.k, p.cols, s.b_rows, s.pad, s.shift, s.in),
        c(p, s.index, s.base, s.out, s.beta, random),
        alpha(s.alpha, s.device_scalars, compute_of(s.in)),
        beta(s.beta, s.device_scalars, compute_of(s.in))
  {
    std::vector<char> used((size_t)p.cols);
    for (int64_t j : p.columns)
      used[(size_t)j] = 1;
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t k = 0; k < s.k && p.offsets[(size_t)i] < p.offsets[(size_t)i + 1]; k++)
        a.set(i, k, random.value());
    for (int64_t j = 0; j < p.cols; j++)
      for (int64_t k = 0; k < s.k && used[(size_t)j]; k++)
        b.set(k, j, random.value());
    a.bytes.upload();
    b.bytes.upload();
    task = shunt_sddmm{ a.device, b.device, c.device, alpha.value, beta.value, compute_of(s.in) };
  }

  shunt_status run(const Kernel &kernel, const shunt_device &d, cudaStream_t stream = 0)
  {
    size_t bytes = kernel.workspace(&task, &d);
    Buffer room(bytes);
    c.values.upload();
    shunt_status status =
        kernel.launch(&task, &d, bytes ? room.device : nullptr, bytes, (shunt_stream)stream);
    CUDA_OK(cudaDeviceSynchronize());
    return status;
  }

  // Index of the first wrong entry, -1 when all are right.
  int64_t wrong()
  {
    std::vector<double> x((size_t)(p.rows * s.k)), y((size_t)(p.cols * s.k));
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t k = 0; k < s.k; k++)
        x[(size_t)(i * s.k + k)] = a.get(i, k);
    for (int64_t j = 0; j < p.cols; j++)
      for (int64_t k = 0; k < s.k; k++)
        y[(size_t)(j * s.k + k)] = b.get(k, j);
    std::vector<char> before = c.values.host;
    c.values.download();
    int64_t bad = -1;
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1] && bad < 0; at++) {
        int64_t j = p.columns[(size_t)at];
        double dot = 0, size = 0;
        for (int64_t k = 0; k < s.k; k++) {
          double term = x[(size_t)(i * s.k + k)] * y[(size_t)(j * s.k + k)];
          dot += term;
          size += fabs(term);
        }
        double want = s.alpha * dot, scale = fabs(s.alpha) * size;
        if (s.beta != 0) {
          want += s.beta * c.old[(size_t)at];
          scale += fabs(s.beta * c.old[(size_t)at]);
        }
        double got = load(c.values.host.data(), at, s.out);
        if (!(fabs(got - want) <= tolerance(s.out, compute_of(s.in), scale, want, s.k + 1)))
          bad = at;
      }
    c.values.host = before;
    return bad;
  }
};

static const shunt_type IN[] = { SHUNT_F16, SHUNT_F16, SHUNT_BF16, SHUNT_BF16, SHUNT_F32,
                                 SHUNT_F64 };
static const shunt_type OUT[] = { SHUNT_F16, SHUNT_F32, SHUNT_BF16, SHUNT_F32, SHUNT_F32,
                                  SHUNT_F64 };

// Two bits of `turn` are the layouts; everything else is drawn from it.
static Setup setup_for(int types, int64_t k, int turn)
{
  static const double alphas[] = { 1, 0.75, -2 }, betas[] = { 0, 0.5, 0, -1 };
  static const int64_t pads[] = { 0, 8, 16, 3 };
  Random r((uint64_t)turn * 8 + (uint64_t)types);
  Setup s;
  s.in = IN[types];
  s.out = OUT[types];
  s.k = k;
  s.a_rows = turn & 1;
  s.b_rows = turn & 2;
  s.pad = pads[r.below(4)];
  s.shift = r.below(7) == 0;
  s.index = r.below(2) ? SHUNT_I64 : SHUNT_I32;
  s.base = (int)r.below(2);
  s.alpha = alphas[r.below(3)];
  s.beta = betas[r.below(4)];
  s.device_scalars = r.below(2);
  return s;
}

static void test_kernel(const Kernel &kernel, const shunt_device &d)
{
  static const int64_t inner[] = { 0, 1, 7, 8, 16, 17, 64, 100, 256, 272 };
  int turn = 0;
  for (const Named &n : patterns())
    for (int types = 0; types < 6; types++) {
      bool none_built = kernel.launch == VECTOR.launch && IN[types] == SHUNT_F64;
      bool good = true;
      char what[160] = "";
      for (int64_t k : inner)
        for (int layout = 0; layout < 4 && good; layout++, turn++) {
          Problem problem(setup_for(types, k, turn), n.pattern, (uint64_t)turn);
          shunt_status status = problem.run(kernel, d);
          int64_t wrong = status == SHUNT_OK ? problem.wrong() : -1;
          good = none_built ? status == SHUNT_E_UNSUPPORTED : status == SHUNT_OK && wrong < 0;
          if (!good)
            snprintf(what, sizeof what, ": K %d a %d b %d pad %d shift %d i%d base %d: status %d, "
                     "entry %d", (int)k, problem.s.a_rows, problem.s.b_rows, (int)problem.s.pad,
                     (int)problem.s.shift, problem.s.index == SHUNT_I64 ? 64 : 32, problem.s.base,
                     status, (int)wrong);
        }
      check(good, "%s, %s, %s -> %s%s", kernel.name, n.name, type_name(IN[types]),
            type_name(OUT[types]), what);
    }
}

// A device full of warps.  At density 0.3 and 1 KB a column, `rows` cuts into panels.
static void test_large(const Kernel &kernel, const shunt_device &d)
{
  static const int group[] = { 1, 8, 8, 1 };
  static const double density[] = { 0.02, 0.05, 0.3, 0.3 };
  for (int n = 0; n < 4; n++) {
    Pattern p = random_pattern(1003, 900, density[n], group[n], (uint64_t)n + 20);
    Random r(1);
    for (int64_t i = 0; n == 3 && i < p.rows; i += 3) // every third row unsorted
      for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1]; at++)
        std::swap(p.columns[(size_t)at],
                  p.columns[(size_t)(at + r.below(p.offsets[(size_t)i + 1] - at))]);
    for (int types = 0; types < 6; types += 2) {
      shunt_type in = IN[types == 4 && n == 3 ? 5 : types];
      if (kernel.launch == VECTOR.launch && in == SHUNT_F64) continue;
      Setup s = setup_for(types, n == 1 ? 72 : 1024 / (int64_t)shunt_type_size(in) + n, 4 * n + 1);
      s.in = in;
      s.out = in == SHUNT_F64 ? SHUNT_F64 : s.out;
      s.shift = 0;
      Problem problem(s, p, 5);
      shunt_status status = problem.run(kernel, d);
      int64_t wrong = status == SHUNT_OK ? problem.wrong() : 0;
      check(status == SHUNT_OK && wrong < 0, "%s, 1003 x 900, groups of %d, density %g, %s",
            kernel.name, group[n], density[n], type_name(in));
    }
  }
}

static void test_repeats(const Kernel &kernel, const shunt_device &d)
{
  Pattern p = mixed_groups(600, 0.4, 9);
  for (int types = 0; types < 6; types += 2) {
    if (kernel.launch == VECTOR.launch && IN[types] == SHUNT_F64) continue;
    Setup s = setup_for(types, 200, 1);
    s.beta = 0;
    s.shift = 0;
    Problem problem(s, p, 3);
    std::vector<char> before = problem.c.values.host, first;
    bool same = true;
    for (int i = 0; i < 20 && same; i++) {
      same = problem.run(kernel, d) == SHUNT_OK;
      problem.c.values.download();
      if (i == 0) first = problem.c.values.host;
      same = same && first == problem.c.values.host;
      problem.c.values.host = before;
    }
    check(same, "%s, %s: 20 runs, the same bits", kernel.name, type_name(IN[types]));
  }
}

// All rows of A alike and all columns of B: then all entries have the same bits, in whatever
// row, batch or team they stand, or the order of additions depends on more than K.
static void test_order(const Kernel &kernel, const shunt_device &d)
{
  for (int types = 0; types < 6; types++) {
    bool same = true;
    for (const Named &n : patterns())
      for (int64_t k : { 33, 100, 272 }) {
        Setup s = setup_for(types, k, 1);
        s.alpha = 1;
        s.beta = 0;
        Problem problem(s, n.pattern, 7);
        Random r((uint64_t)k);
        for (int64_t at = 0; at < k; at++) {
          const double x = r.value(), y = r.value();
          for (int64_t i = 0; i < n.pattern.rows; i++)
            problem.a.set(i, at, x);
          for (int64_t j = 0; j < n.pattern.cols; j++)
            problem.b.set(at, j, y);
        }
        problem.a.bytes.upload();
        problem.b.bytes.upload();
        same = same && problem.run(kernel, d) == SHUNT_OK;
        problem.c.values.download();
        const std::vector<char> &out = problem.c.values.host;
        const size_t size = shunt_type_size(s.out), nnz = (size_t)n.pattern.nnz();
        same = same && (nnz == 0 || problem.wrong() < 0);
        for (size_t at = 1; at < nnz && same; at++)
          same = !memcmp(&out[0], &out[at * size], size);
      }
    check(same, "%s, %s -> %s: an entry's bits do not depend on its place", kernel.name,
          type_name(IN[types]), type_name(OUT[types]));
  }
}

// Sizes alone decide about panels: patterns of opt1's size are too sparse for them, and of the
// same size with one place in 10 not.
static void test_panel_choice()
{
  shunt_device d = {};
  d.multiprocessors = 132;
  d.shared_per_block = 227 << 10;
  shunt_sddmm task = {};
  task.a = shunt_dense{ 15449, 32, 32, 1, nullptr, SHUNT_F32 };
  task.b = shunt_dense{ 32, 15449, 1, 32, nullptr, SHUNT_F32 };
  task.c = shunt_csr{ 15449, 15449, 15449 * 125, nullptr, nullptr, nullptr,
                      SHUNT_I32, SHUNT_F32, 0 };
  shunt::sddmm::operands ready = {};
  ready.aligned = true;
  const bool sparse = shunt::sddmm::panel_pays(&task, ready, &d);
  task.c.nnz = 15449 * 1545;
  check(shunt::sddmm::panel_pays(&task, ready, &d) && !sparse,
        "rows: panels for one place in 10, none for one in 124");
}

// 32-bit places of columns end at 64 GB of B.
static void test_too_large(const shunt_device &d)
{
  Buffer room(64);
  shunt_sddmm task = {};
  task.a = shunt_dense{ 1, 16, 16, 1, room.device, SHUNT_F32 };
  task.b = shunt_dense{ 16, INT32_MAX, 1, 16, room.device, SHUNT_F32 };
  task.c = shunt_csr{ 1, INT32_MAX, 1, room.device, room.device, room.device,
                      SHUNT_I32, SHUNT_F32, 0 };
  task.compute = SHUNT_F32;
  check(shunt_sddmm_csr_rows_cuda(&task, &d, nullptr, 0, 0) == SHUNT_E_UNSUPPORTED,
        "rows: 128 GB of B with 32-bit indices are refused");
}

static void test_refusals(const Kernel &kernel, const shunt_device &d)
{
  Pattern p = random_pattern(20, 20, 0.3, 1, 1);
  Problem problem(setup_for(4, 16, 3), p, 3); // both row-major: B must be copied
  check(kernel.workspace(&problem.task, &d) > 0 &&
            kernel.launch(&problem.task, &d, nullptr, 0, 0) == SHUNT_E_WORKSPACE,
        "%s: a missing workspace is refused", kernel.name);
  problem.task.a.cols = 15;
  check(kernel.launch(&problem.task, &d, nullptr, 0, 0) == SHUNT_E_ARGUMENT,
        "%s: shapes that differ are refused", kernel.name);
  problem.task.a.cols = 16;
  problem.task.compute = SHUNT_F64;
  check(kernel.launch(&problem.task, &d, nullptr, 0, 0) == SHUNT_E_UNSUPPORTED,
        "%s: an unknown compute type is refused", kernel.name);
}

// ---- sample ----------------------------------------------------------------------------
static bool sample_right(const Pattern &p, int types, bool f32_product, int turn,
                         const shunt_device &d)
{
  Setup s = setup_for(types, 0, turn);
  s.out = s.in; // values of the product's type, or narrower
  Random r((uint64_t)turn + 1);
  Matrix product(p.rows, p.cols, true, turn % 4, turn % 3 == 2, f32_product ? SHUNT_F32 : s.in);
  Sparse c(p, s.index, s.base, s.out, s.beta, r);
  Scalar alpha(s.alpha, s.device_scalars, compute_of(s.in));
  Scalar beta(s.beta, s.device_scalars, compute_of(s.in));
  bool prescaled = turn & 1;

  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1]; at++)
      product.set(i, p.columns[(size_t)at], r.value() * 8);
  product.bytes.upload();
  shunt_sddmm task = {};
  task.a = shunt_dense{ p.rows, 0, 1, 1, nullptr, s.in };
  task.b = shunt_dense{ 0, p.cols, 1, 1, nullptr, s.in };
  task.c = c.device;
  task.alpha = alpha.value;
  task.beta = beta.value;
  task.compute = compute_of(s.in);
  if (shunt_sddmm_csr_sample_cuda(&task, &product.device, prescaled, &d, 0) != SHUNT_OK)
    return false;
  CUDA_OK(cudaDeviceSynchronize());
  c.values.download();
  for (int64_t i = 0; i < p.rows; i++)
    for (int64_t at = p.offsets[(size_t)i]; at < p.offsets[(size_t)i + 1]; at++) {
      double x = product.get(i, p.columns[(size_t)at]) * (prescaled ? 1 : s.alpha);
      double y = s.beta == 0 ? 0 : s.beta * c.old[(size_t)at];
      double got = load(c.values.host.data(), at, s.out);
      if (!(fabs(got - x - y) <=
            tolerance(s.out, compute_of(s.in), fabs(x) + fabs(y), x + y, 2)))
        return false;
    }
  return true;
}

static void test_sample(const shunt_device &d)
{
  int turn = 0;
  for (const Named &n : patterns())
    for (int types = 0; types < 6; types++) {
      bool good = true;
      for (int i = 0; i < 4; i++)
        good = good && sample_right(n.pattern, types, types % 2 && IN[types] != SHUNT_F64, turn++,
                                    d);
      check(good, "sample, %s, %s of %s", n.name, type_name(IN[types]),
            types % 2 && IN[types] != SHUNT_F64 ? "f32" : "its own type");
    }
}

// ---- combine, dense copy ------------------------------------------------------------------
static bool combine_right(int64_t m, int64_t n, shunt_type t, int turn, const shunt_device &d)
{
  Random r((uint64_t)turn);
  double b = turn & 1 ? 0 : -0.5, a = 1.5;
  bool flag_set = turn % 5 == 4, flag = turn % 5 != 0, device_scalars = turn & 4;
  Matrix w(m, n, true, turn % 3 * 4 % 7, 0, SHUNT_F32);
  Matrix c(m, n, turn & 2, turn % 3 * 2, turn % 7 == 3, t);
  Scalar alpha(a, device_scalars, SHUNT_F32), beta(b, device_scalars, SHUNT_F32);
  Buffer word(4);

  store(word.host.data(), 0, SHUNT_I32, flag_set);
  word.upload();
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      w.set(i, j, r.value());
      c.set(i, j, b == 0 ? NAN : r.value());
    }
  w.bytes.upload();
  c.bytes.upload();
  std::vector<char> old = c.bytes.host;
  shunt_spmm task = {};
  task.c = c.device;
  task.alpha = alpha.value;
  task.beta = beta.value;
  task.compute = SHUNT_F32;
  if (shunt_dense_combine_cuda(&w.device, &task, flag ? (const uint32_t *)word.device : nullptr,
                               &d, 0) != SHUNT_OK)
    return false;
  CUDA_OK(cudaDeviceSynchronize());
  c.bytes.download();
  if (flag && flag_set) return old == c.bytes.host;
  const char *before = old.data() + ((char *)c.host.values - c.bytes.host.data());
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++) {
      double x = a * w.get(i, j), y = b == 0 ? 0 : b * load(before, c.at(i, j), t);
      if (!(fabs(c.get(i, j) - x - y) <= tolerance(t, SHUNT_F32, fabs(x) + fabs(y), x + y, 2)))
        return false;
      store(c.host.values, c.at(i, j), t, load(before, c.at(i, j), t));
    }
  return memcmp(old.data(), c.bytes.host.data(), old.size()) == 0 || b == 0; // padding untouched
}

static void test_combine(const shunt_device &d)
{
  static const shunt_type types[] = { SHUNT_F16, SHUNT_BF16, SHUNT_F32 };
  static const int64_t sizes[][2] = { { 1, 1 }, { 5, 300 }, { 33, 70 }, { 130, 64 } };
  for (shunt_type t : types)
    for (auto &size : sizes) {
      bool good = true;
      for (int turn = 0; turn < 20 && good; turn++)
        good = combine_right(size[0], size[1], t, turn, d);
      check(good, "combine, %s, %d x %d", type_name(t), (int)size[0], (int)size[1]);
    }
}

static bool copy_right(int64_t m, int64_t n, shunt_type t, int turn, const shunt_device &d)
{
  Random r((uint64_t)turn + 1);
  Matrix from(m, n, turn & 1, turn % 3 * 4, turn % 5 == 4, t);
  Matrix to(m, n, turn & 2, turn % 4, turn % 7 == 6, t);
  for (char &x : from.bytes.host)
    x = (char)r.next();
  from.bytes.upload();
  to.bytes.upload();
  if (shunt_dense_copy_cuda(&from.device, &to.device, &d, 0) != SHUNT_OK) return false;
  CUDA_OK(cudaDeviceSynchronize());
  size_t size = shunt_type_size(t);
  for (int64_t i = 0; i < m; i++)
    for (int64_t j = 0; j < n; j++)
      memcpy((char *)to.host.values + to.at(i, j) * size,
             (char *)from.host.values + from.at(i, j) * size, size);
  std::vector<char> want = to.bytes.host; // padding: still all ones
  to.bytes.download();
  return want == to.bytes.host;
}

static void test_copy(const shunt_device &d)
{
  static const shunt_type types[] = { SHUNT_I8, SHUNT_F16, SHUNT_F32, SHUNT_F64 };
  static const int64_t sizes[][2] = { { 1, 1 }, { 1, 777 }, { 777, 1 }, { 63, 131 }, { 64, 64 },
                                      { 65, 131 }, { 300, 40 }, { 1000, 1025 } };
  for (shunt_type t : types)
    for (auto &size : sizes) {
      bool good = true;
      for (int turn = 0; turn < 24 && good; turn += size[0] > 500 && size[1] > 500 ? 5 : 1)
        good = copy_right(size[0], size[1], t, turn, d);
      check(good, "dense copy, %s, %d x %d", type_name(t), (int)size[0], (int)size[1]);
    }
}

// ---- timing ---------------------------------------------------------------------------------
static void time_kernels(const shunt_device &d, shunt_type t, int64_t k, double sparsity,
                         int group)
{
  const int64_t n = 4096;
  Pattern p = random_pattern(n, n, 1 - sparsity, group, 42);
  Setup s = { t, t, k, true, false, 0, 0, SHUNT_I32, 0, 1, 0, false };
  Random r(1);
  Matrix a(n, k, true, 0, 0, t), b(k, n, false, 0, 0, t), product(n, n, true, 0, 0, t);
  Sparse c(p, s.index, s.base, s.out, s.beta, r);
  CUDA_OK(cudaMemset(a.device.values, 0x3c, a.bytes.host.size()));
  CUDA_OK(cudaMemset(b.device.values, 0x3c, b.bytes.host.size()));
  CUDA_OK(cudaMemset(product.device.values, 0x3c, product.bytes.host.size()));
  shunt_sddmm task = { a.device, b.device, c.device, { nullptr, 1 }, { nullptr, 0 },
                       compute_of(t) };
  const char *shape = group == 8 ? "8x1" : "1x1";
  for (const Kernel *kernel : { &ROWS, &VECTOR }) {
    size_t bytes = kernel->workspace(&task, &d);
    Buffer room(bytes);
    printf("time %s-%s %s %d %g %.2f\n", kernel->name, shape, type_name(t), (int)k, sparsity,
           time_graph([&](cudaStream_t stream) {
             kernel->launch(&task, &d, room.device, bytes, (shunt_stream)stream);
           }));
  }
  printf("time sample-%s %s %d %g %.2f\n", shape, type_name(t), (int)k, sparsity,
         time_graph([&](cudaStream_t stream) {
           shunt_sddmm_csr_sample_cuda(&task, &product.device, 1, &d, (shunt_stream)stream);
         }));
  fflush(stdout);
}

static void time_copy(const shunt_device &d, shunt_type t)
{
  Matrix from(1024, 4096, true, 0, 0, t), to(1024, 4096, false, 0, 0, t);
  printf("time transpose %s 1024 0 %.2f\n", type_name(t), time_graph([&](cudaStream_t stream) {
           shunt_dense_copy_cuda(&from.device, &to.device, &d, (shunt_stream)stream);
         }));
}

int main(int argc, char **argv)
{
  shunt_device d = this_device();
  for (const Kernel *kernel : { &ROWS, &VECTOR }) {
    test_kernel(*kernel, d);
    test_large(*kernel, d);
    test_repeats(*kernel, d);
    if (kernel == &ROWS) test_order(*kernel, d);
    test_refusals(*kernel, d);
  }
  test_panel_choice();
  test_too_large(d);
  test_sample(d);
  test_combine(d);
  test_copy(d);
  if (argc > 1 && !strcmp(argv[1], "--time")) {
    for (int64_t k : { 256, 1024 })
      for (shunt_type t : { SHUNT_F16, SHUNT_F32 })
        for (int group : { 8, 1 })
          for (double sparsity : { 0.9, 0.98 })
            time_kernels(d, t, k, sparsity, group);
    time_copy(d, SHUNT_F16);
    time_copy(d, SHUNT_F32);
  }
  return finish();
}
