// blackbox_calls.cuh: one cuSPARSE problem with everything that it needs, for the
// programs that call it again and again (determinism, faults).
#pragma once
#include <algorithm>
#include <vector>

#include "tests/gpu/blackbox/blackbox.cuh"

namespace blackbox
{

struct Shape {
  bool sddmm;
  cudaDataType type;
  int64_t rows, cols, n;
  double density;
  int group; // rows that share their columns
  bool column_order;
};

struct Operands {
  Problem p;
  cusparseSpMatDescr_t sparse;
  cusparseDnMatDescr_t b, c;
  void *workspace, *before;
  size_t workspace_bytes;
  float scalars[2];
  double wide_scalars[2];
};

inline void *device_bytes(size_t n)
{
  void *p;
  CUDA_OK(cudaMalloc(&p, n ? n : 1));
  return p;
}

inline Dense make_dense(int64_t rows, int64_t cols, bool column_order, cudaDataType t)
{
  int64_t ld = column_order ? rows : cols;
  return Dense{device_bytes((size_t)(rows * cols) * type_size(t)), rows, cols, ld, column_order, t};
}

inline void describe(cusparseDnMatDescr_t *d, const Dense &x)
{
  SPARSE_OK(cusparseCreateDnMat(d, x.rows, x.cols, x.ld, x.values, x.type,
                                x.column_order ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW));
}

inline void set_scalars(Operands &o, double alpha, double beta)
{
  o.p.alpha = alpha;
  o.p.beta = beta;
  o.scalars[0] = (float)alpha;
  o.scalars[1] = (float)beta;
  o.wide_scalars[0] = alpha;
  o.wide_scalars[1] = beta;
}

// 32-bit indices, base 0; row lengths vary by a fifth around density.
inline void make_operands(Operands &o, const Shape &s, uint64_t seed, cudaStream_t stream)
{
  std::vector<int32_t> offsets(1, 0);
  int64_t length = 0;
  uint64_t rng = seed;
  for (int64_t i = 0; i < s.rows; i++) {
    if (i % s.group == 0)
      length = std::min<int64_t>(
          s.cols, (int64_t)(s.density * (double)s.cols * (0.8 + 0.4 * random_uniform(&rng))));
    offsets.push_back(offsets.back() + (int32_t)length);
  }
  o = Operands();
  o.p.sddmm = s.sddmm;
  o.p.compute = s.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  Csr &a = o.p.a;
  a = Csr{device_bytes(offsets.size() * 4),
          nullptr,
          nullptr,
          s.rows,
          s.cols,
          offsets.back(),
          0,
          0,
          s.type};
  a.columns = device_bytes((size_t)a.nnz * 4);
  a.values = device_bytes((size_t)a.nnz * type_size(s.type));
  CUDA_OK(cudaMemcpy(a.offsets, offsets.data(), offsets.size() * 4, cudaMemcpyHostToDevice));
  // A copy from pageable memory may return before it has arrived, and `stream` waits for none.
  CUDA_OK(cudaDeviceSynchronize());
  o.p.b = make_dense(s.sddmm ? s.n : s.cols, s.sddmm ? s.cols : s.n, s.column_order, s.type);
  o.p.c = make_dense(s.rows, s.n, s.column_order, s.type);
  o.before = device_bytes(output_bytes(o.p));
  o.p.before = o.before;
  fill_columns(a, s.group, seed, PATTERN_PLAIN, stream);
  fill(a.values, a.nnz, s.type, seed + 1, FILL_RANDOM, stream);
  fill(o.p.b.values, o.p.b.stored(), s.type, seed + 2, FILL_RANDOM, stream);
  fill(o.p.c.values, o.p.c.stored(), s.type, seed + 3, FILL_RANDOM, stream);
  SPARSE_OK(cusparseCreateCsr(&o.sparse, a.rows, a.cols, a.nnz, a.offsets, a.columns, a.values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              s.type));
  describe(&o.b, o.p.b);
  describe(&o.c, o.p.c);
  set_scalars(o, 1, 0);
  CUDA_OK(cudaStreamSynchronize(stream));
}

// The dense operand `x` anew, of type t.
inline void change_type(Dense &x, cusparseDnMatDescr_t *d, cudaDataType t, uint64_t seed,
                        cudaStream_t stream)
{
  SPARSE_OK(cusparseDestroyDnMat(*d));
  CUDA_OK(cudaFree(x.values));
  x = make_dense(x.rows, x.cols, x.column_order, t);
  fill(x.values, x.stored(), t, seed, FILL_RANDOM, stream);
  describe(d, x);
}
// The same of B and C.
inline void change_types(Operands &o, cudaDataType b, cudaDataType c, uint64_t *seed,
                         cudaStream_t stream)
{
  change_type(o.p.b, &o.b, b, (*seed)++, stream);
  change_type(o.p.c, &o.c, c, (*seed)++, stream);
  CUDA_OK(cudaFree(o.before));
  o.before = device_bytes(output_bytes(o.p));
  o.p.before = o.before;
}

inline void destroy_operands(Operands &o)
{
  SPARSE_OK(cusparseDestroySpMat(o.sparse));
  SPARSE_OK(cusparseDestroyDnMat(o.b));
  SPARSE_OK(cusparseDestroyDnMat(o.c));
  void *all[] = {o.p.a.offsets, o.p.a.columns, o.p.a.values, o.p.b.values,
                 o.p.c.values,  o.before,      o.workspace};
  for (void *p : all) CUDA_OK(cudaFree(p));
}

inline cusparseStatus_t ask_workspace(Operands &o, cusparseHandle_t h)
{
  bool wide = o.p.compute == CUDA_R_64F;
  const void *alpha = wide ? (void *)&o.wide_scalars[0] : (void *)&o.scalars[0];
  const void *beta = wide ? (void *)&o.wide_scalars[1] : (void *)&o.scalars[1];
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  cusparseStatus_t s =
      o.p.sddmm
          ? cusparseSDDMM_bufferSize(h, plain, plain, alpha, o.c, o.b, beta, o.sparse, o.p.compute,
                                     CUSPARSE_SDDMM_ALG_DEFAULT, &o.workspace_bytes)
          : cusparseSpMM_bufferSize(h, plain, plain, alpha, o.sparse, o.b, beta, o.c, o.p.compute,
                                    CUSPARSE_SPMM_ALG_DEFAULT, &o.workspace_bytes);
  if (s == CUSPARSE_STATUS_SUCCESS && !o.workspace) o.workspace = device_bytes(o.workspace_bytes);
  return s;
}

inline cusparseStatus_t multiply(Operands &o, cusparseHandle_t h)
{
  bool wide = o.p.compute == CUDA_R_64F;
  const void *alpha = wide ? (void *)&o.wide_scalars[0] : (void *)&o.scalars[0];
  const void *beta = wide ? (void *)&o.wide_scalars[1] : (void *)&o.scalars[1];
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (o.p.sddmm)
    return cusparseSDDMM(h, plain, plain, alpha, o.c, o.b, beta, o.sparse, o.p.compute,
                         CUSPARSE_SDDMM_ALG_DEFAULT, o.workspace);
  return cusparseSpMM(h, plain, plain, alpha, o.sparse, o.b, beta, o.c, o.p.compute,
                      CUSPARSE_SPMM_ALG_DEFAULT, o.workspace);
}

// Poison where beta is 0, numbers where the old content counts.
inline void prepare_output(Operands &o, uint64_t seed, cudaStream_t stream)
{
  size_t bytes = output_bytes(o.p);
  if (o.p.beta == 0)
    CUDA_OK(cudaMemsetAsync(output(o.p), 0xff, bytes, stream));
  else
    fill(output(o.p), (int64_t)(bytes / type_size(o.p.c.type)), o.p.c.type, seed, FILL_RANDOM,
         stream);
  CUDA_OK(cudaMemcpyAsync(o.before, output(o.p), bytes, cudaMemcpyDeviceToDevice, stream));
}

// What a check of the output finds; waits for the stream.  device: memory for it.
inline Outcome outcome_of(Operands &o, Outcome *device, cudaStream_t stream)
{
  Outcome out;
  CUDA_OK(cudaMemsetAsync(device, 0, sizeof out, stream));
  check_result(o.p, device, stream);
  CUDA_OK(cudaMemcpyAsync(&out, device, sizeof out, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  return out;
}

} // namespace blackbox
