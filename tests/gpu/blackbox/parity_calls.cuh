// parity_calls.cuh: a case of parity.cu as cuSPARSE calls, its result read back, and the same
// product in float64 on the host.
#pragma once
#include "tests/gpu/blackbox/parity_arrays.cuh"

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
      c.null_array & FIRST ? nullptr : w.d_first.at, w.first.type, (cusparseOrder_t)c.order_first));
  statuses.push_back(cusparseCreateDnMat(&d.second, w.second_rows + c.grow_second_rows,
                                         w.second_cols + c.grow_second_cols, w.second_ld,
                                         c.null_array & SECOND ? nullptr : w.d_second.at,
                                         w.second.type, (cusparseOrder_t)c.order_second));
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
  void *last; // buffer, or where its size goes
};

static Arguments arguments(Work &w, Descriptors &d, void *last, Stage stage)
{
  const Case &c = w.c;
  const char *scalars = c.device_scalars ? w.d_scalars.at : w.scalars;
  Arguments a = {d.handle, d.sparse, d.first, d.second, scalars, scalars + 32, last};
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
        a.handle, op_a, op_b, a.alpha, a.first, a.second, a.beta, a.sparse, c.compute, alg, a.last);
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
  r.limit[(size_t)at] =
      type_tolerance(w.initial.type, c.compute, fabs(alpha) * scale + fabs(old), want, terms + 1);
}

static std::vector<double> all_of(const Numbers &x)
{
  std::vector<double> v((size_t)x.size());
  for (int64_t i = 0; i < x.size(); i++) v[(size_t)i] = x.get(i);
  return v;
}

// float64 references; none for complex types.  Padding of Blocked-ELL is no block.
static void make_reference(Work &w, Result &r)
{
  const Case &c = w.c;
  bool plain = w.values.parts() == 1 && w.first.parts() == 1 && w.second.parts() == 1;
  if (!plain || c.op_a > 2 || c.op_b > 2) return;
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
      if (e.col < 0) continue;
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
