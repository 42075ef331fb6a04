// parity.cu: odd calls are answered as the original answers them.
//
//   parity record FILE      without Shunt: writes every case's statuses and results
//   parity compare FILE     with Shunt preloaded: makes the same calls and compares
//   parity list             prints the names of the cases
//
// A case passes when every call returns the original's status; every result is
// within one rounding of float64, or no further from it than the original's; NaN
// and Inf stand where the original's do (one for the other when alpha itself is not
// finite); and nothing outside the result changed.
// Cases run in a child process which starts anew behind a crash; a case that
// crashes the original (or leaves its context broken) is skipped.
//
// One extension is allowed: SDDMM of bf16, which the original does not support,
// may succeed if its result is right.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/gpu/parity_cases.h"

using namespace parity;

// ---- arrays of a case ------------------------------------------------------------
struct DeviceArray {
  char *base = nullptr, *at = nullptr;
  size_t bytes = 0;
  DeviceArray() = default;
  DeviceArray(const DeviceArray &) = delete;
  DeviceArray &operator=(const DeviceArray &) = delete;
  ~DeviceArray() { cudaFree(base); }
  void put(const std::vector<char> &host, size_t offset)
  {
    bytes = host.size();
    CUDA_OK(cudaMalloc((void **)&base, bytes + 512));
    CUDA_OK(cudaMemset(base, 0xff, bytes + 512));
    at = base + offset;
    CUDA_OK(cudaMemcpy(at, host.data(), bytes, cudaMemcpyHostToDevice));
  }
};

struct Entry {
  int64_t row, col;
  double v;
};

// Numbers of a dense operand or of values, as stored (complex: two a element).
struct Numbers {
  cudaDataType type;
  std::vector<char> bytes;
  int parts() const { return type == CUDA_C_32F || type == CUDA_C_64F ? 2 : 1; }
  void resize(int64_t n) { bytes.assign((size_t)n * type_size(type), 0); }
  int64_t size() const { return (int64_t)(bytes.size() / type_size(type)); }
  double get(int64_t i) const { return type_load(bytes.data(), i, type); }
  void set(int64_t i, double v) { type_store(bytes.data(), i, type, v); }
};

struct Result {
  std::vector<int> statuses;
  std::vector<double> got, want, limit;  // limit < 0: must be unchanged; want empty: unknown
};

struct Work {  // everything one case holds
  Case c;
  uint64_t rng;
  int64_t sparse_rows, sparse_cols, nnz;  // nnz: stored values per batch
  int64_t first_rows, first_cols, second_rows, second_cols;
  int64_t first_ld, second_ld;
  int64_t first_stride, second_stride;  // from batch to batch
  std::vector<Entry> entries;  // one batch, in storage order
  std::vector<int64_t> offsets, columns;
  Numbers values, first, second, initial;
  DeviceArray d_offsets, d_columns, d_values, d_first, d_second, d_scalars;
  char scalars[64];
};

static double number(Work &w, cudaDataType t)
{
  if (t == CUDA_R_8I) return (double)(random_below(&w.rng, 9) - 4);
  if (t == CUDA_R_32I) return (double)(random_below(&w.rng, 99) - 49);
  return (2 * random_uniform(&w.rng) - 1) * w.c.magnitude;
}

static int64_t stored(int64_t rows, int64_t cols, int64_t ld, int order)
{
  return std::max<int64_t>(0, ld) * (order == CUSPARSE_ORDER_COL ? cols : rows);
}

static int64_t place(int64_t i, int64_t j, int64_t ld, int order)
{
  return order == CUSPARSE_ORDER_COL ? j * ld + i : i * ld + j;
}

static bool transposed(int op)
{
  return op == 1 || op == 2;
}

// The sparse pattern: (row, column) pairs in the order of the storage.
static void make_entries(Work &w)
{
  const Case &c = w.c;
  int64_t unit = c.format == BSR || c.format == ELL ? c.block : 1;
  int64_t rows = w.sparse_rows / unit, cols = w.sparse_cols / unit;
  bool by_column = c.format == CSC;
  int64_t outer = by_column ? cols : rows, inner = by_column ? rows : cols;
  std::vector<int64_t> list;
  w.offsets.assign(1, 0);
  for (int64_t o = 0; o < outer; o++) {
    if (o % c.group == 0) {
      list.clear();
      for (int64_t i = 0; i < inner; i++)
        if (c.format == ELL ? i % 3 == o % 3 && (int64_t)list.size() < (inner + 2) / 3
                            : random_uniform(&w.rng) < c.density)
          list.push_back(i);
      if (c.unsorted)
        for (size_t i = list.size(); i > 1; i--)
          std::swap(list[i - 1], list[(size_t)random_below(&w.rng, (int64_t)i)]);
      if (c.repeated)
        for (size_t i = 1; i < list.size(); i += 3) list[i] = list[i - 1];
    }
    if (c.format == ELL)  // every block row has the same number of blocks
      while ((int64_t)list.size() < (inner + 2) / 3) list.push_back(-1);
    for (int64_t i : list) {
      w.columns.push_back(i);
      for (int64_t r = 0; r < unit; r++)
        for (int64_t q = 0; q < unit; q++) {
          int64_t row = by_column ? i : o * unit + r, col = by_column ? o : i * unit + q;
          w.entries.push_back({ row, i < 0 ? -1 : col, 0 });
        }
    }
    w.offsets.push_back((int64_t)w.columns.size());
  }
  w.nnz = (int64_t)w.entries.size();
}

// One special number where it meets others; in C only at the end.
static void make_special(Work &w)
{
  const Case &c = w.c;
  int64_t middle = w.nnz / 2;
  if (c.sddmm) {
    int64_t at = place(w.first_rows / 2, w.first_cols / 2, w.first_ld, c.order_first);
    int64_t other = place(w.second_rows / 3, w.second_cols / 2, w.second_ld, c.order_second);
    if (c.special & (NAN_SPARSE | NAN_DENSE)) w.first.set(at, NAN);
    if (c.special & (INF_SPARSE | INF_DENSE)) w.second.set(other, INFINITY);
    if (c.special & ZERO_TIMES_INF) {
      w.first.set(place(w.first_rows / 2, 0, w.first_ld, c.order_first), 0);
      w.second.set(place(0, w.second_cols / 2, w.second_ld, c.order_second), INFINITY);
    }
    if (w.nnz == 0) return;
    if (c.special & NAN_OLD) w.initial.set(middle, NAN);
    if (c.special & INF_OLD) w.initial.set(middle, INFINITY);
    return;
  }
  if (w.first.size() == 0 || w.second.size() == 0) return;
  if (c.special & NAN_DENSE)
    w.first.set(place(w.first_rows / 2, w.first_cols / 2, w.first_ld, c.order_first), NAN);
  if (c.special & INF_DENSE)
    w.first.set(place(w.first_rows / 3, w.first_cols / 2, w.first_ld, c.order_first), -INFINITY);
  int64_t at = place(w.second_rows / 2, w.second_cols / 2, w.second_ld, c.order_second);
  if (c.special & NAN_OLD) w.initial.set(at, NAN);
  if (c.special & INF_OLD) w.initial.set(at, INFINITY);
  if (w.nnz == 0) return;
  if (c.special & NAN_SPARSE) w.values.set(middle, NAN);
  if (c.special & INF_SPARSE) w.values.set(middle, INFINITY);
  if (c.special & ZERO_TIMES_INF) {
    w.values.set(middle, 0);
    w.first.set(place(w.entries[(size_t)middle].col, 1, w.first_ld, c.order_first), INFINITY);
  }
}

static void fill(Work &w, Numbers &x, cudaDataType t, int64_t n)
{
  x.type = t;
  x.resize(n);
  for (int64_t i = 0; i < n * x.parts(); i++) x.set(i, number(w, t));
}

static void poison(Numbers &x)
{
  if (x.bytes.empty()) return;
  memset(x.bytes.data(), x.type == CUDA_R_8I || x.type == CUDA_R_32I ? 0x55 : 0xff,
         x.bytes.size());
}

static std::vector<char> indices(const std::vector<int64_t> &v, bool wide, int base)
{
  std::vector<char> out(v.size() * (wide ? 8 : 4));
  for (size_t i = 0; i < v.size(); i++) {
    int64_t x = v[i] < 0 ? v[i] : v[i] + base;
    if (wide)
      ((int64_t *)out.data())[i] = x;
    else
      ((int32_t *)out.data())[i] = (int32_t)x;
  }
  return out;
}

static void make_operands(Work &w)
{
  const Case &c = w.c;
  bool ta = transposed(c.op_a), tb = transposed(c.op_b);
  int batches = c.batches, sparse_batches = c.broadcast ? 1 : c.batches;
  if (c.sddmm) {
    w.sparse_rows = c.m;
    w.sparse_cols = c.n;
    w.first_rows = ta ? c.k : c.m;
    w.first_cols = ta ? c.m : c.k;
    w.second_rows = tb ? c.n : c.k;
    w.second_cols = tb ? c.k : c.n;
  } else {
    w.sparse_rows = ta ? c.k : c.m;
    w.sparse_cols = ta ? c.m : c.k;
    w.first_rows = tb ? c.n : c.k;
    w.first_cols = tb ? c.k : c.n;
    w.second_rows = c.m;
    w.second_cols = c.n;
  }
  w.first_ld = (c.order_first == CUSPARSE_ORDER_COL ? w.first_rows : w.first_cols) + c.extra_first;
  w.second_ld =
      (c.order_second == CUSPARSE_ORDER_COL ? w.second_rows : w.second_cols) + c.extra_second;
  make_entries(w);
  // Room for the rows and columns that mismatched descriptors claim.
  int64_t slack = 4 + std::max(w.first_ld, w.second_ld) * 2;
  int64_t first = stored(w.first_rows, w.first_cols, w.first_ld, c.order_first);
  int64_t second = stored(w.second_rows, w.second_cols, w.second_ld, c.order_second);
  w.first_stride = c.shared_first ? 0 : c.side_by_side ? w.first_cols : first + c.gap;
  w.second_stride = c.side_by_side ? w.second_cols : second + c.gap;
  fill(w, w.values, c.sddmm ? c.type_c : c.type_a, w.nnz * sparse_batches);
  fill(w, w.first, c.sddmm ? c.type_a : c.type_b, (first + c.gap) * batches + slack);
  fill(w, w.second, c.sddmm ? c.type_b : c.type_c, (second + c.gap) * batches + slack);
  Numbers &out = c.sddmm ? w.values : w.second;
  w.initial = out;
  if (c.beta == 0) poison(w.initial);
  make_special(w);
  out = w.initial;
}

static size_t off(const Case &c, Array a, size_t element)
{
  return c.misaligned & a ? element : 0;
}

static std::vector<int64_t> repeated(const std::vector<int64_t> &one, int times)
{
  std::vector<int64_t> all;
  for (int i = 0; i < times; i++) all.insert(all.end(), one.begin(), one.end());
  return all;
}

static void upload(Work &w)
{
  const Case &c = w.c;
  int sparse_batches = c.broadcast ? 1 : c.batches;
  std::vector<int64_t> row_list;
  if (c.format == COO)
    for (const Entry &e : w.entries) row_list.push_back(e.row);
  bool wide_offsets = c.wide || c.mixed_index;
  // The batch stride of columns and values (and rows of COO) is one number, so all repeat.
  std::vector<int64_t> outer = c.format == COO ? repeated(row_list, sparse_batches)
                                               : repeated(w.offsets, c.own_offsets ? c.batches : 1);
  w.d_offsets.put(indices(outer, c.format == COO ? c.wide : wide_offsets, c.base),
                  off(c, OFFSETS, wide_offsets ? 8 : 4));
  w.d_columns.put(indices(repeated(w.columns, sparse_batches), c.wide, c.base),
                  off(c, COLUMNS, c.wide ? 8 : 4));
  w.d_values.put(w.values.bytes, off(c, VALUES, type_size(w.values.type)));
  w.d_first.put(w.first.bytes, off(c, FIRST, type_size(w.first.type)));
  w.d_second.put(w.second.bytes, off(c, SECOND, type_size(w.second.type)));
  memset(w.scalars, 0, sizeof w.scalars);
  type_store(w.scalars, 0, c.compute, c.alpha);
  type_store(w.scalars + 32, 0, c.compute, c.beta);
  w.d_scalars.put(std::vector<char>(w.scalars, w.scalars + sizeof w.scalars), 0);
}

// ---- descriptors and calls ---------------------------------------------------------
struct Descriptors {
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t sparse = nullptr;
  cusparseDnMatDescr_t first = nullptr, second = nullptr;
  ~Descriptors()
  {
    if (sparse) cusparseDestroySpMat(sparse);
    if (first) cusparseDestroyDnMat(first);
    if (second) cusparseDestroyDnMat(second);
    if (handle) cusparseDestroy(handle);
  }
};

static cusparseStatus_t create_sparse(Work &w, cusparseSpMatDescr_t *d)
{
  const Case &c = w.c;
  cusparseIndexType_t it = c.wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  cusparseIndexType_t offset_type = c.wide || c.mixed_index ? CUSPARSE_INDEX_64I : it;
  cusparseIndexBase_t base = c.base ? CUSPARSE_INDEX_BASE_ONE : CUSPARSE_INDEX_BASE_ZERO;
  void *offsets = c.null_array & OFFSETS ? nullptr : w.d_offsets.at;
  void *columns = c.null_array & COLUMNS ? nullptr : w.d_columns.at;
  void *values = c.null_array & VALUES ? nullptr : w.d_values.at;
  cudaDataType t = w.values.type;
  switch (c.format) {
  case COO:
    return cusparseCreateCoo(d, w.sparse_rows, w.sparse_cols, w.nnz, offsets, columns, values, it,
                             base, t);
  case CSC:
    return cusparseCreateCsc(d, w.sparse_rows, w.sparse_cols, w.nnz, offsets, columns, values,
                             offset_type, it, base, t);
  case BSR:
    return cusparseCreateBsr(d, w.sparse_rows / c.block, w.sparse_cols / c.block,
                             (int64_t)w.columns.size(), c.block, c.block, offsets, columns, values,
                             offset_type, it, base, t, CUSPARSE_ORDER_ROW);
  case ELL:
    return cusparseCreateBlockedEll(d, w.sparse_rows, w.sparse_cols, c.block,
                                    (w.sparse_cols / c.block + 2) / 3 * c.block, columns, values,
                                    it, base, t);
  default:
    return cusparseCreateCsr(d, w.sparse_rows, w.sparse_cols, w.nnz, offsets, columns, values,
                             offset_type, it, base, t);
  }
}

static cusparseStatus_t set_batches(Work &w, Descriptors &d)
{
  const Case &c = w.c;
  int second = c.batches_second ? c.batches_second : c.batches;
  int64_t entries = c.broadcast ? 0 : w.nnz;
  int64_t offsets = c.own_offsets ? (int64_t)w.offsets.size() : 0;
  cusparseStatus_t s = c.format == COO
                           ? cusparseCooSetStridedBatch(d.sparse, c.batches, entries)
                           : cusparseCsrSetStridedBatch(d.sparse, c.batches, offsets, entries);
  if (s == CUSPARSE_STATUS_SUCCESS)
    s = cusparseDnMatSetStridedBatch(d.first, c.batches, w.first_stride);
  if (s == CUSPARSE_STATUS_SUCCESS)
    s = cusparseDnMatSetStridedBatch(d.second, second, w.second_stride);
  return s;
}

static bool create_all(Work &w, Descriptors &d, std::vector<int> &statuses)
{
  const Case &c = w.c;
  statuses.push_back(cusparseCreate(&d.handle));
  statuses.push_back(create_sparse(w, &d.sparse));
  statuses.push_back(cusparseCreateDnMat(
      &d.first, w.first_rows + c.grow_first_rows, w.first_cols + c.grow_first_cols, w.first_ld,
      c.null_array & FIRST ? nullptr : w.d_first.at, w.first.type,
      (cusparseOrder_t)c.order_first));
  statuses.push_back(cusparseCreateDnMat(
      &d.second, w.second_rows + c.grow_second_rows, w.second_cols + c.grow_second_cols,
      w.second_ld, c.null_array & SECOND ? nullptr : w.d_second.at, w.second.type,
      (cusparseOrder_t)c.order_second));
  for (int s : statuses)
    if (s != CUSPARSE_STATUS_SUCCESS) return false;
  if (c.batches > 1) {
    statuses.push_back(set_batches(w, d));
    if (statuses.back() != CUSPARSE_STATUS_SUCCESS) return false;
  }
  if (c.device_scalars)
    statuses.push_back(cusparseSetPointerMode(d.handle, CUSPARSE_POINTER_MODE_DEVICE));
  return true;
}

struct Arguments {
  cusparseHandle_t handle;
  cusparseSpMatDescr_t sparse;
  cusparseDnMatDescr_t first, second;
  const void *alpha, *beta;
  void *last;  // buffer, or where its size goes
};

static Arguments arguments(Work &w, Descriptors &d, void *last, Stage stage)
{
  const Case &c = w.c;
  const char *scalars = c.device_scalars ? w.d_scalars.at : w.scalars;
  Arguments a = { d.handle, d.sparse, d.first, d.second, scalars, scalars + 32, last };
  int null = c.null_stage & stage ? c.null_argument : 0;
  if (null == 1) a.handle = nullptr;
  if (null == 4) a.alpha = nullptr;
  if (null == 7) a.beta = nullptr;
  if (null == 11) a.last = nullptr;
  if (c.sddmm) {
    if (null == 5) a.first = nullptr;
    if (null == 6) a.second = nullptr;
    if (null == 8) a.sparse = nullptr;
  } else {
    if (null == 5) a.sparse = nullptr;
    if (null == 6) a.first = nullptr;
    if (null == 8) a.second = nullptr;
  }
  return a;
}

static cusparseStatus_t call(const Case &c, const Arguments &a, Stage stage)
{
  cusparseOperation_t op_a = (cusparseOperation_t)c.op_a, op_b = (cusparseOperation_t)c.op_b;
  if (c.sddmm) {
    cusparseSDDMMAlg_t alg = (cusparseSDDMMAlg_t)c.algorithm;
    if (stage == BUFFER_SIZE)
      return cusparseSDDMM_bufferSize(a.handle, op_a, op_b, a.alpha, a.first, a.second, a.beta,
                                      a.sparse, c.compute, alg, (size_t *)a.last);
    return (stage == PREPROCESS ? cusparseSDDMM_preprocess : cusparseSDDMM)(
        a.handle, op_a, op_b, a.alpha, a.first, a.second, a.beta, a.sparse, c.compute, alg,
        a.last);
  }
  cusparseSpMMAlg_t alg = (cusparseSpMMAlg_t)c.algorithm;
  if (stage == BUFFER_SIZE)
    return cusparseSpMM_bufferSize(a.handle, op_a, op_b, a.alpha, a.sparse, a.first, a.beta,
                                   a.second, c.compute, alg, (size_t *)a.last);
  return (stage == PREPROCESS ? cusparseSpMM_preprocess : cusparseSpMM)(
      a.handle, op_a, op_b, a.alpha, a.sparse, a.first, a.beta, a.second, c.compute, alg, a.last);
}

static void make_calls(Work &w, Result &r)
{
  const Case &c = w.c;
  Descriptors d;
  if (!create_all(w, d, r.statuses)) return;
  size_t bytes = 0;
  r.statuses.push_back(call(c, arguments(w, d, &bytes, BUFFER_SIZE), BUFFER_SIZE));
  if (r.statuses.back() != CUSPARSE_STATUS_SUCCESS) return;
  DeviceArray workspace;
  workspace.put(std::vector<char>(bytes + 256, (char)0xff), 0);
  void *buffer = c.null_buffer ? nullptr : workspace.at;
  if (c.preprocess) {
    r.statuses.push_back(call(c, arguments(w, d, buffer, PREPROCESS), PREPROCESS));
    if (c.null_stage == PREPROCESS) return;
  }
  DeviceArray &out = c.sddmm ? w.d_values : w.d_second;
  for (int i = 0; i < c.repeats; i++) {
    if (i) CUDA_OK(cudaMemcpy(out.at, w.initial.bytes.data(), out.bytes, cudaMemcpyHostToDevice));
    r.statuses.push_back(call(c, arguments(w, d, buffer, COMPUTE), COMPUTE));
    r.statuses.push_back(1000 + (int)cudaDeviceSynchronize());
    if (r.statuses.back() != 1000) return;
  }
}

// ---- results and references ----------------------------------------------------------
static void read_result(Work &w, Result &r)
{
  Numbers out = w.initial;
  DeviceArray &d = w.c.sddmm ? w.d_values : w.d_second;
  CUDA_OK(cudaMemcpy(out.bytes.data(), d.at, out.bytes.size(), cudaMemcpyDeviceToHost));
  int64_t n = out.size() * out.parts();
  r.got.resize((size_t)n);
  for (int64_t i = 0; i < n; i++) r.got[(size_t)i] = out.get(i);
}

static void set_want(Work &w, Result &r, int64_t at, double sum, double scale, double terms)
{
  const Case &c = w.c;
  double alpha = type_load(w.scalars, 0, c.compute), beta = type_load(w.scalars + 32, 0, c.compute);
  double old = beta == 0 ? 0 : beta * w.initial.get(at);
  double want = alpha * sum + old;
  r.want[(size_t)at] = want;
  r.limit[(size_t)at] = type_tolerance(w.initial.type, c.compute,
                                       fabs(alpha) * scale + fabs(old), want, terms + 1);
}

static std::vector<double> all_of(const Numbers &x)
{
  std::vector<double> v((size_t)x.size());
  for (int64_t i = 0; i < x.size(); i++) v[(size_t)i] = x.get(i);
  return v;
}

// float64 references; none for complex types and Blocked-ELL.
static void make_reference(Work &w, Result &r)
{
  const Case &c = w.c;
  bool plain = w.values.parts() == 1 && w.first.parts() == 1 && w.second.parts() == 1;
  if (!plain || c.format == ELL || c.op_a > 2 || c.op_b > 2) return;
  r.want.resize(r.got.size());
  r.limit.assign(r.got.size(), -1);
  for (size_t i = 0; i < r.want.size(); i++) r.want[i] = w.initial.get((int64_t)i);
  bool ta = transposed(c.op_a), tb = transposed(c.op_b);
  std::vector<double> sparse = all_of(w.values), a = all_of(w.first), b = all_of(w.second);
  int64_t first = w.first_stride, second = w.second_stride;
  for (int batch = 0; batch < c.batches; batch++) {
    int64_t values_at = c.broadcast ? 0 : batch * w.nnz;
    if (c.sddmm) {
      for (int64_t p = 0; p < w.nnz; p++) {
        const Entry &e = w.entries[(size_t)p];
        double sum = 0, scale = 0;
        for (int64_t l = 0; l < c.k; l++) {
          int64_t ia = place(ta ? l : e.row, ta ? e.row : l, w.first_ld, c.order_first);
          int64_t ib = place(tb ? e.col : l, tb ? l : e.col, w.second_ld, c.order_second);
          double v = a[(size_t)(first * batch + ia)] * b[(size_t)(second * batch + ib)];
          sum += v;
          scale += fabs(v);
        }
        set_want(w, r, values_at + p, sum, scale, (double)c.k);
      }
      continue;
    }
    std::vector<double> sum((size_t)(c.m * c.n)), scale((size_t)(c.m * c.n));
    std::vector<double> terms((size_t)c.m);
    for (int64_t p = 0; p < w.nnz; p++) {
      const Entry &e = w.entries[(size_t)p];
      int64_t i = ta ? e.col : e.row, l = ta ? e.row : e.col;
      double value = sparse[(size_t)(values_at + p)];
      terms[(size_t)i]++;
      for (int64_t j = 0; j < c.n; j++) {
        int64_t ib = place(tb ? j : l, tb ? l : j, w.first_ld, c.order_first);
        double v = value * a[(size_t)(first * batch + ib)];
        sum[(size_t)(i * c.n + j)] += v;
        scale[(size_t)(i * c.n + j)] += fabs(v);
      }
    }
    for (int64_t i = 0; i < c.m; i++)
      for (int64_t j = 0; j < c.n; j++)
        set_want(w, r, second * batch + place(i, j, w.second_ld, c.order_second),
                 sum[(size_t)(i * c.n + j)], scale[(size_t)(i * c.n + j)], terms[(size_t)i]);
  }
}

static bool broken(const Result &r)
{
  return !r.statuses.empty() && r.statuses.back() > 1000;
}

static Result run_case(const Case &c, bool reference)
{
  Work w;
  Result r;
  w.c = c;
  w.rng = 12345;
  make_operands(w);
  upload(w);
  make_calls(w, r);
  if (broken(r)) return r;
  read_result(w, r);
  if (reference) make_reference(w, r);
  return r;
}

// ---- the record ------------------------------------------------------------------------
struct Answer {
  bool crashed = false;
  std::vector<int> statuses;
  std::vector<double> got;
};

static void write_answer(FILE *f, const std::string &name, const Answer &a)
{
  int64_t head[4] = { (int64_t)name.size(), a.crashed, (int64_t)a.statuses.size(),
                      (int64_t)a.got.size() };
  fwrite(head, sizeof head, 1, f);
  fwrite(name.data(), 1, name.size(), f);
  fwrite(a.statuses.data(), sizeof(int), a.statuses.size(), f);
  fwrite(a.got.data(), sizeof(double), a.got.size(), f);
  fflush(f);
}

static std::map<std::string, Answer> read_record(const char *path)
{
  std::map<std::string, Answer> all;
  FILE *f = fopen(path, "rb");
  int64_t head[4];
  while (f && fread(head, sizeof head, 1, f) == 1) {
    std::string name((size_t)head[0], ' ');
    Answer a;
    a.crashed = head[1] != 0;
    a.statuses.resize((size_t)head[2]);
    a.got.resize((size_t)head[3]);
    size_t read = fread(&name[0], 1, name.size(), f);
    read += fread(a.statuses.data(), sizeof(int), a.statuses.size(), f);
    read += fread(a.got.data(), sizeof(double), a.got.size(), f);
    if (read != name.size() + a.statuses.size() + a.got.size()) break;
    all[name] = a;
  }
  if (f) fclose(f);
  return all;
}

static std::string joined(const std::vector<int> &v)
{
  std::string s;
  for (int x : v) s += (s.empty() ? "" : " ") + std::to_string(x);
  return s;
}

static bool succeeded(const std::vector<int> &statuses)
{
  return !statuses.empty() && statuses.back() == 1000 && statuses[statuses.size() - 2] == 0;
}

static bool same(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

// Largest finite error of `got`, where a reference and a limit exist.
static double worst_error(const std::vector<double> &got, const Result &r)
{
  double worst = 0;
  for (size_t i = 0; i < r.want.size(); i++)
    if (r.limit[i] >= 0 && isfinite(r.want[i]) && isfinite(got[i]))
      worst = std::max(worst, fabs(got[i] - r.want[i]));
  return worst;
}

// The exact result, rounded once: right even where the original overflowed on the way.
static bool correctly_rounded(const Result &r, size_t i, cudaDataType t)
{
  char one[16];
  if (r.want.empty() || r.limit[i] < 0 || !isfinite(r.want[i])) return false;
  type_store(one, 0, t, r.want[i]);
  return r.got[i] == type_load(one, 0, t);
}

// The first thing that is wrong with r beside the original's answer, or "".
static std::string compare_numbers(const Case &c, const Result &r, const Answer &original)
{
  if (r.got.size() != original.got.size()) return "another number of results";
  double theirs = r.want.empty() ? 0 : worst_error(original.got, r), largest = 0;
  for (double v : original.got)
    if (isfinite(v)) largest = std::max(largest, fabs(v));
  cudaDataType out = c.type_c;
  double rough = largest * (type_size(out) == 2 ? 0x1p-6 : out == CUDA_R_64F ? 1e-12 : 1e-5);
  for (size_t i = 0; i < r.got.size(); i++) {
    double g = r.got[i], o = original.got[i];
    if (same(g, o) || correctly_rounded(r, i, c.type_c)) continue;
    // Large batched SDDMM: the original reads C where beta is 0, and its NaN survives.
    if (isnan(o) && !r.want.empty() && isfinite(r.want[i]) && fabs(g - r.want[i]) <= r.limit[i])
      continue;
    // Whether alpha multiplies terms or their sum decides between Inf and NaN here.
    if (!isfinite(c.alpha) && !isfinite(g) && !isfinite(o)) continue;
    if (isnan(g) != isnan(o) || isinf(g) != isinf(o) || (isinf(g) && g != o))
      return text("element %zu is %.9g, the original's %.9g", i, g, o);
    if (r.want.empty()) {
      if (fabs(g - o) > rough) return text("element %zu is %.9g, the original's %.9g", i, g, o);
      continue;
    }
    if (r.limit[i] < 0) return text("element %zu lies outside and changed: %.9g, %.9g", i, g, o);
    double error = fabs(g - r.want[i]);
    // A declined call is the original's own; transposed COO adds in an order that varies.
    if (!(error <= r.limit[i]) && !(error <= 2 * theirs))
      return text("element %zu is %.9g, want %.9g +- %.2g (the original's %.9g, worst %.2g)", i, g,
                  r.want[i], r.limit[i], o, theirs);
  }
  return "";
}

// bf16 SDDMM: right where the original has nothing to say.
static bool right_extension(const Case &c, const Result &r, const Answer &original)
{
  if (!c.sddmm || c.type_a != CUDA_R_16BF || succeeded(original.statuses)) return false;
  if (original.statuses.empty() || original.statuses.back() != CUSPARSE_STATUS_NOT_SUPPORTED)
    return false;
  if (!succeeded(r.statuses) || r.want.empty()) return false;
  for (size_t i = 0; i < r.got.size(); i++)
    if (r.limit[i] < 0 ? !same(r.got[i], r.want[i]) : !(fabs(r.got[i] - r.want[i]) <= r.limit[i]))
      return false;
  return true;
}

static void compare_case(const Case &c, const std::map<std::string, Answer> &record, bool *died)
{
  auto found = record.find(c.name);
  if (found == record.end()) {
    check(0, "%s: not in the record", c.name.c_str());
    return;
  }
  const Answer &original = found->second;
  if (original.crashed) {
    skip("%s: crashes the original", c.name.c_str());
    return;
  }
  Result r = run_case(c, true);
  *died = broken(r);
  if (right_extension(c, r, original)) {
    check(1, "%s (the original: not supported)", c.name.c_str());
    return;
  }
  if (r.statuses != original.statuses) {
    check(0, "%s: statuses %s, the original's %s", c.name.c_str(), joined(r.statuses).c_str(),
          joined(original.statuses).c_str());
    return;
  }
  std::string wrong = compare_numbers(c, r, original);
  check(wrong.empty(), "%s%s%s", c.name.c_str(), wrong.empty() ? "" : ": ", wrong.c_str());
}

// ---- processes ---------------------------------------------------------------------------
struct Shared {
  volatile int current;
  int passed, failed, skipped;
};

// Runs cases from `first` on; leaves behind a case that broke the context.
static void run_from(size_t first, const std::vector<Case> &cases, const char *path, bool record,
                     Shared *shared)
{
  std::map<std::string, Answer> answers;
  if (!record) answers = read_record(path);
  for (size_t i = first; i < cases.size(); i++) {
    shared->current = (int)i;
    alarm(30);
    bool died = false;
    client_passed = client_failed = client_skipped = 0;
    if (record) {
      Result r = run_case(cases[i], false);
      died = broken(r);
      FILE *f = fopen(path, "ab");
      if (!f) _exit(4);
      write_answer(f, cases[i].name, { died, r.statuses, r.got });
      fclose(f);
    } else
      compare_case(cases[i], answers, &died);
    shared->passed += client_passed;
    shared->failed += client_failed;
    shared->skipped += client_skipped;
    if (died) {
      shared->current = (int)i + 1;
      fflush(stdout);
      _exit(3);
    }
  }
  fflush(stdout);
  exit(0);
}

// What the parent makes of a child that ended early: the next case to run.
static size_t after_crash(const std::vector<Case> &cases, const char *path, bool record,
                          Shared *shared, int status)
{
  if (WIFEXITED(status) && WEXITSTATUS(status) == 3) return (size_t)shared->current;
  const std::string &name = cases[(size_t)shared->current].name;
  if (record) {
    FILE *f = fopen(path, "ab");
    if (f) {
      write_answer(f, name, { true, {}, {} });
      fclose(f);
    }
  } else {
    printf("not ok - %s: the process ended (status %#x); the original's did not\n", name.c_str(),
           (unsigned)status);
    fflush(stdout);
    shared->failed++;
  }
  return (size_t)shared->current + 1;
}

static int unique_names(const std::vector<Case> &cases)
{
  std::set<std::string> names;
  for (const Case &c : cases)
    if (!names.insert(c.name).second) {
      printf("not ok - two cases are named %s\n", c.name.c_str());
      return 0;
    }
  return 1;
}

int main(int argc, char **argv)
{
  std::vector<Case> cases = all_cases();
  if (argc == 2 && !strcmp(argv[1], "list")) {
    for (const Case &c : cases) puts(c.name.c_str());
    printf("%zu cases\n", cases.size());
    return !unique_names(cases);
  }
  bool record = argc == 3 && !strcmp(argv[1], "record");
  if (!record && !(argc == 3 && !strcmp(argv[1], "compare"))) {
    fprintf(stderr, "usage: parity record FILE | compare FILE | list\n");
    return 2;
  }
  if (!unique_names(cases)) return 2;
  if (record) unlink(argv[2]);
  Shared *shared = (Shared *)mmap(nullptr, sizeof *shared, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 2;
  size_t next = 0;
  while (next < cases.size()) {
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) run_from(next, cases, argv[2], record, shared);
    int status;
    if (waitpid(child, &status, 0) != child) return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    next = after_crash(cases, argv[2], record, shared, status);
  }
  if (record) {
    size_t crashed = 0;
    std::map<std::string, Answer> all = read_record(argv[2]);
    for (auto &entry : all) crashed += entry.second.crashed;
    check(all.size() == cases.size() && crashed * 4 < all.size(),
          "recorded %zu cases, %zu crash the original", all.size(), crashed);
    return finish();
  }
  client_passed = shared->passed;
  client_failed = shared->failed;
  client_skipped = shared->skipped;
  check(client_passed + client_failed >= 300, "%d calls compared", client_passed + client_failed);
  return finish();
}
