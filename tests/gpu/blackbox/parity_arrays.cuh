// parity_arrays.cuh: the operands of a case of parity.cu, made on the host from its description
// and copied to the device between guarded margins.
#pragma once
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "tests/gpu/blackbox/parity_cases.h"

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
  std::vector<double> got, want, limit; // limit < 0: must be unchanged; want empty: unknown
};

struct Work { // everything one case holds
  Case c;
  uint64_t rng;
  int64_t sparse_rows, sparse_cols, nnz; // nnz: stored values per batch
  int64_t first_rows, first_cols, second_rows, second_cols;
  int64_t first_ld, second_ld;
  int64_t first_stride, second_stride; // from batch to batch
  std::vector<Entry> entries;          // one batch, in storage order
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
    if (c.format == ELL) // every block row has the same number of blocks
      while ((int64_t)list.size() < (inner + 2) / 3) list.push_back(-1);
    for (int64_t i : list) {
      w.columns.push_back(i);
      for (int64_t r = 0; r < unit; r++)
        for (int64_t q = 0; q < unit; q++) {
          int64_t row = by_column ? i : o * unit + r, col = by_column ? o : i * unit + q;
          w.entries.push_back({row, i < 0 ? -1 : col, 0});
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
  memset(x.bytes.data(), x.type == CUDA_R_8I || x.type == CUDA_R_32I ? 0x55 : 0xff, x.bytes.size());
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
  if (c.compute == CUDA_C_32F || c.compute == CUDA_C_64F) {
    type_store(w.scalars, 1, c.compute, c.alpha_imaginary);
    type_store(w.scalars + 32, 1, c.compute, c.beta_imaginary);
  }
  w.d_scalars.put(std::vector<char>(w.scalars, w.scalars + sizeof w.scalars), 0);
}
