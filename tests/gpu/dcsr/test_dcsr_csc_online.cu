// test_dcsr_csc_online.cu: the product that makes its strips from CSC as it goes: the stream of
// segments is that of the hardware model (conv/dcsr/dcsr_hardware_model.h), and C is a float64 sum.
#include "conv/dcsr/dcsr_hardware_model.h"
#include "kernels/dcsr/dcsr_csc_online.cuh"
#include "tests/gpu/dcsr/dcsr_operands.cuh"

using namespace shunt::dcsr;

// ---- CSC --------------------------------------------------------------------------------------

// A Problem's matrix by columns, on both sides, as the CSR of its transpose.
struct Columns {
  Buffer offsets, rows, values;
  shunt_csr host, device;

  static size_t index_bytes(const Problem &q, size_t count)
  {
    return (count ? count : 1) * shunt_type_size(q.o.index);
  }
  explicit Columns(const Problem &q)
      : offsets(index_bytes(q, (size_t)q.pattern.cols + 1)),
        rows(index_bytes(q, (size_t)q.pattern.nnz())),
        values(((size_t)q.pattern.nnz() + 1) * q.size)
  {
    const Pattern &p = q.pattern;
    std::vector<int64_t> next((size_t)p.cols + 1);
    for (int64_t j : p.columns) next[(size_t)j + 1]++;
    for (size_t j = 0; j < (size_t)p.cols; j++) next[j + 1] += next[j];
    for (size_t j = 0; j <= (size_t)p.cols; j++)
      store(offsets.host.data(), (int64_t)j, q.o.index, (double)(next[j] + q.o.base));
    for (int64_t i = 0; i < p.rows; i++)
      for (int64_t e = p.offsets[(size_t)i]; e < p.offsets[(size_t)i + 1]; e++) {
        const int64_t at = next[(size_t)p.columns[(size_t)e]]++;
        store(rows.host.data(), at, q.o.index, (double)(i + q.o.base));
        store(values.host.data(), at, q.o.type, load(q.values.host.data(), e, q.o.type));
      }
    for (Buffer *x : {&offsets, &rows, &values}) x->upload();
    host = {p.cols,    p.rows,   p.nnz(), offsets.host.data(), rows.host.data(), values.host.data(),
            q.o.index, q.o.type, q.o.base};
    device = host;
    device.row_offsets = offsets.device, device.columns = rows.device,
    device.values = values.device;
  }
  shunt_dcsr_source source() const
  {
    return {SHUNT_DCSR_FROM_CSC, host.cols,       host.rows, host.nnz,
            host.row_offsets,    host.columns,    nullptr,   host.values,
            host.index_type,     host.value_type, host.base};
  }
};

// ---- the stream ----

// Segments as consumers see them, each at its number: the row, and how many entries; entries follow
// each other from the part's first on.
template <class T> struct stream_sink {
  int32_t *row_of, *length, *column; // [entries]: of segments, of segments, of entries
  T *value;
  int *taken; // [blocks x pairs] entries of the part so far

  __device__ void take(const batch<T> &from, const lane_columns<T> *, int) const
  {
    const int thread = threadIdx.x % 32, pair = threadIdx.x / 32 - kPairs;
    if (from.segments == 0) return;
    int *mine = taken + blockIdx.x * kPairs + pair;
    // A part's entries begin where its segments are numbered from.
    if (thread == 0 && *mine < 0) *mine = from.first;
    __syncwarp();
    const int at = *mine;
    if (thread < from.segments) {
      row_of[from.first + thread] = (int32_t)from.row[thread];
      length[from.first + thread] = from.begin[thread + 1] - from.begin[thread];
    }
    for (int q = thread; q < from.begin[from.segments]; q += 32)
      column[at + q] = from.column[q], value[at + q] = from.value[q];
    __syncwarp();
    if (thread == 0) *mine = at + from.begin[from.segments];
  }
};

struct Segment {
  int64_t strip, row;
  std::vector<std::pair<int64_t, double>> entries;
  bool operator==(const Segment &o) const
  {
    return strip == o.strip && row == o.row && entries == o.entries;
  }
};

// What the hardware model makes of it.
static std::vector<Segment> model_stream(const Columns &c)
{
  const shunt_dcsr_source a = c.source();
  const shunt_dcsr_layout layout = {kStrip, SHUNT_I32};
  Dcsr made(a, kStrip, SHUNT_I32);
  std::vector<char> lanes(shunt_dcsr_unit_scratch_bytes(&a, &layout) + 8);
  shunt_dcsr_unit_counts counts;
  shunt_dcsr d = made.on_host; // the model writes over what the conversion made
  if (shunt_dcsr_unit_run_host(&a, &layout, lanes.data(), &d, &counts, nullptr) != SHUNT_OK)
    exit(3);
  std::vector<Segment> out;
  for (int64_t s = 0; s < d.strips; s++)
    for (int g = ((int *)d.strip_begin)[s]; g < ((int *)d.strip_begin)[s + 1]; g++) {
      Segment x = {s, ((int *)d.row_ids)[g], {}};
      for (int q = ((int *)d.offsets)[g]; q < ((int *)d.offsets)[g + 1]; q++)
        x.entries.push_back({((int *)d.columns)[q], load(d.values, q, d.value_type)});
      out.push_back(x);
    }
  return out;
}

// What the kernel's producers make of it; where a batch ended within a row its two segments are
// one.
template <class T, class I>
static std::vector<Segment> device_stream(const Columns &c, int64_t chunk)
{
  const size_t n = (size_t)c.host.nnz;
  const csc_view<T> a = {c.device.row_offsets, c.device.columns, (const T *)c.device.values,
                         c.host.cols,          c.host.rows,      chunk,
                         c.host.base};
  const size_t blocks = (size_t)online_blocks(a, c.host.nnz);
  Buffer rows(n * 4), length(n * 4), column(n * 4), value(n * sizeof(T)),
      taken(blocks * kPairs * 4);
  for (Buffer *x : {&rows, &taken})
    std::fill(x->host.begin(), x->host.end(), (char)0xff), x->upload();
  b_panel<T> b = {};
  b.values = (const T *)c.device.values, b.rows = 0; // nothing is brought of B
  const stream_sink<T> sink = {(int32_t *)rows.device, (int32_t *)length.device,
                               (int32_t *)column.device, (T *)value.device, (int *)taken.device};
  const int bytes = online_bytes<T, I>(b);
  auto kernel = &spmm_csc_online<T, I, stream_sink<T>>;
  CUDA_OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  kernel<<<(unsigned)blocks, kOnlineThreads, bytes>>>(a, b, sink);
  CUDA_OK(cudaDeviceSynchronize());
  for (Buffer *x : {&rows, &length, &column, &value}) x->download();

  std::vector<Segment> out;
  size_t entry = 0;
  int64_t strip = 0;
  for (size_t g = 0; g < n; g++) {
    const int row = ((int *)rows.host.data())[g];
    if (row < 0) continue;
    // Segments are numbered as entries are: by strips.
    while ((int64_t)g >= load(c.host.row_offsets, std::min((strip + 1) * kStrip, c.host.rows),
                              c.host.index_type) -
                             c.host.base)
      strip++;
    Segment x = {strip, row, {}};
    for (int k = 0; k < ((int *)length.host.data())[g] && entry < n; k++, entry++)
      x.entries.push_back(
          {strip * kStrip + ((int *)column.host.data())[entry], ((T *)value.host.data())[entry]});
    if (!out.empty() && out.back().strip == x.strip && out.back().row == row)
      out.back().entries.insert(out.back().entries.end(), x.entries.begin(), x.entries.end());
    else
      out.push_back(x);
  }
  return out;
}

static std::vector<Segment> device_stream(const Columns &c, int64_t chunk)
{
  const bool wide = c.host.index_type == SHUNT_I64;
  if (c.host.value_type == SHUNT_F64)
    return wide ? device_stream<double, int64_t>(c, chunk)
                : device_stream<double, int32_t>(c, chunk);
  return wide ? device_stream<float, int64_t>(c, chunk) : device_stream<float, int32_t>(c, chunk);
}

static void test_stream()
{
  Random r(3);
  for (int kind = 0; kind < KINDS_OF_DCSR; kind++) {
    bool good = true;
    size_t segments = 0;
    for (int64_t rows : {1, 90, 700})
      for (int64_t cols : {1, 64, 150})
        for (int64_t chunk : {1000000, 100}) {
          if (left_out()) continue;
          const Pattern p = dcsr_pattern((DcsrKind)kind, rows, cols, 0.1, r.next());
          if (p.nnz() == 0) continue;
          Problem q(p, 1, some_options(r), r.next());
          Columns c(q);
          const std::vector<Segment> wanted = model_stream(c);
          good = device_stream(c, chunk) == wanted && good;
          segments += wanted.size();
        }
    check(good, "%s: the stream is the model's, %zu segments", dcsr_kind_name[kind], segments);
  }
}

// ---- the product ----

struct Online {
  Problem q;
  Columns columns;
  Buffer workspace;

  Online(const Pattern &p, int64_t n, const Options &o, uint64_t seed)
      : q(p, n, o, seed), columns(q), workspace(shunt_dcsr_csc_online_workspace(&q.spmm))
  {
  }
  shunt_status run(cudaStream_t stream = 0)
  {
    return shunt_dcsr_csc_online_cuda(&q.spmm, &columns.device, &q.device, workspace.device,
                                      workspace.host.size(), stream);
  }
  bool computes()
  {
    q.reset_c();
    if (run() != SHUNT_OK) return false;
    q.fetch();
    return q.right();
  }
};

static void test_products()
{
  static const int64_t some_n[] = {1, 2, 5, 8, 31, 32, 65, 130, 261};
  Random r(13);
  Sample sample(4);
  for (int kind = 0; kind < KINDS_OF_DCSR; kind++) {
    bool good = true;
    int cases = 0;
    for (int64_t rows : {1, 63, 400})
      for (int64_t cols : {1, 64, 333})
        for (int64_t n : some_n) {
          if (left_out() || sample.leaves_out()) continue;
          Online x(dcsr_pattern((DcsrKind)kind, rows, cols, 0.15, r.next()), n, some_options(r),
                   r.next());
          const bool right = x.computes();
          if (!right) print_case(x.q, n);
          good = good && right;
          cases++;
        }
    check(good, "%s: %d products", dcsr_kind_name[kind], cases);
  }
}

static void test_nothing()
{
  Options o;
  o.beta = 2;
  Online x(random_pattern(70, 90, 0, 1, 1), 33, o, 6);
  check(x.computes(), "without entries C is beta C");
}

static void test_determinism()
{
  Online x(dcsr_pattern(WITH_LONG, 300, 900, 0.05, 5), 40, Options(), 8);
  bool same = x.computes();
  const std::vector<char> first = x.q.c.host;
  for (int i = 0; i < 20; i++) {
    x.q.reset_c();
    same = x.run() == SHUNT_OK && same;
    x.q.fetch();
    same = same && x.q.c.host == first;
  }
  check(same, "20 calls give the same bits");
}

// Rows that are not the matrix's, and rows that descend: C is anything, nothing else is touched.
static void test_bad_rows()
{
  Random r(4);
  Online x(dcsr_pattern(BY_CHANCE, 300, 200, 0.1, 6), 20, Options(), 2);
  for (int i = 0; i < 40; i++)
    store(x.columns.rows.host.data(), r.below(x.q.pattern.nnz()), x.q.o.index,
          i % 2 ? (double)(r.below(4000000) - 2000000) : (double)r.below(300));
  x.columns.rows.upload();
  check(x.run() == SHUNT_OK && cudaDeviceSynchronize() == cudaSuccess,
        "rows out of range and out of order stay inside the memory");
}

static void test_declined()
{
  Online x(dcsr_pattern(BY_CHANCE, 100, 200, 0.05, 6), 20, Options(), 2);
  const shunt_device d = x.q.device;
  shunt_spmm p = x.q.spmm;
  p.compute = SHUNT_F64;
  check(shunt_dcsr_csc_online_workspace(&p) == 0 &&
            shunt_dcsr_csc_online_cuda(&p, &x.columns.device, &d, x.workspace.device,
                                       x.workspace.host.size(), 0) == SHUNT_E_UNSUPPORTED,
        "another compute type is declined");
  shunt_csr other = x.columns.device;
  other.rows++;
  check(shunt_dcsr_csc_online_cuda(&x.q.spmm, &other, &d, x.workspace.device,
                                   x.workspace.host.size(), 0) == SHUNT_E_ARGUMENT,
        "a transpose of other sizes is refused");
  check(shunt_dcsr_csc_online_cuda(&x.q.spmm, &x.columns.device, &d, x.workspace.device,
                                   x.workspace.host.size() - 1, 0) == SHUNT_E_WORKSPACE,
        "a short workspace is refused");
}

int main()
{
  test_stream();
  test_products();
  test_nothing();
  test_determinism();
  test_bad_rows();
  test_declined();
  return finish();
}
