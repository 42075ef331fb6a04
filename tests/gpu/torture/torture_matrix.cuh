// torture_matrix.cuh: matrices and products of the programs that run for long: CSR with rows of one
// length, and descriptors that come and go with every call, as PyTorch's do; what the process and
// the device hold of memory, and clocks.
#pragma once
#include <time.h>
#include <unistd.h>

#include "tests/gpu/blackbox/blackbox_calls.cuh"

namespace blackbox
{

struct MatrixShape {
  int64_t rows, cols, length; // entries a row; half of the columns: 2:4
  int group;                  // rows that share their columns
  cudaDataType type;
};

// `a` points into these.
struct Matrix {
  Csr a;
  void *columns, *values;
};

__global__ void even_offsets_kernel(int32_t *offsets, int64_t rows, int64_t length)
{
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i <= rows;
       i += (int64_t)gridDim.x * blockDim.x)
    offsets[i] = (int32_t)(i * length);
}

inline void fill_matrix(const Csr &a, int group, uint64_t seed, cudaStream_t stream)
{
  fill_columns(a, group, seed, PATTERN_PLAIN, stream);
  fill(a.values, a.nnz, a.type, seed + 1, FILL_RANDOM, stream);
}

// Columns and values begin so many bytes behind the start of an allocation.
inline Matrix make_matrix(const MatrixShape &s, uint64_t seed, cudaStream_t stream,
                          int columns_shift = 0, int values_shift = 0)
{
  const int64_t nnz = s.rows * s.length;
  Matrix m;
  m.columns = device_bytes((size_t)nnz * 4 + (size_t)columns_shift);
  m.values = device_bytes((size_t)nnz * type_size(s.type) + (size_t)values_shift);
  m.a = Csr{device_bytes(((size_t)s.rows + 1) * 4),
            (char *)m.columns + columns_shift,
            (char *)m.values + values_shift,
            s.rows,
            s.cols,
            nnz,
            0,
            0,
            s.type};
  even_offsets_kernel<<<blocks_for(s.rows + 1), 256, 0, stream>>>((int32_t *)m.a.offsets, s.rows,
                                                                  s.length);
  CUDA_OK(cudaGetLastError());
  fill_matrix(m.a, s.group, seed, stream);
  return m;
}

inline void destroy_matrix(Matrix &m)
{
  CUDA_OK(cudaFree(m.a.offsets));
  CUDA_OK(cudaFree(m.columns));
  CUDA_OK(cudaFree(m.values));
}

// c = a b, row-major.
inline Problem product_of(const Csr &a, const Dense &b, const Dense &c)
{
  Problem p = Problem();
  p.a = a;
  p.b = b;
  p.c = c;
  p.compute = a.type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  p.alpha = 1;
  return p;
}

// What a program has for its calls on one stream.
struct Lane {
  cusparseHandle_t handle;
  cudaStream_t stream;
  void *workspace;
  size_t room;
  Outcome *outcome;
};

inline Lane make_lane()
{
  Lane l = Lane();
  CUDA_OK(cudaStreamCreateWithFlags(&l.stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&l.handle));
  SPARSE_OK(cusparseSetStream(l.handle, l.stream));
  l.outcome = (Outcome *)device_bytes(sizeof(Outcome));
  return l;
}

inline void destroy_lane(Lane &l)
{
  SPARSE_OK(cusparseDestroy(l.handle));
  CUDA_OK(cudaStreamDestroy(l.stream));
  CUDA_OK(cudaFree(l.workspace));
  CUDA_OK(cudaFree(l.outcome));
}

// Grows when it must, which waits for the device.
inline void grow_workspace(Lane &l, size_t bytes)
{
  if (bytes <= l.room) return;
  CUDA_OK(cudaFree(l.workspace));
  l.workspace = device_bytes(bytes);
  l.room = bytes;
}

// The whole of a call: descriptors, bufferSize, product.  Of f32 and 16-bit types.
inline cusparseStatus_t multiply(Lane &l, const Problem &p)
{
  const float alpha = (float)p.alpha, beta = (float)p.beta;
  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t b, c;
  size_t bytes = 0;
  SPARSE_OK(cusparseCreateCsr(&a, p.a.rows, p.a.cols, p.a.nnz, p.a.offsets, p.a.columns, p.a.values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              p.a.type));
  describe(&b, p.b);
  describe(&c, p.c);
  cusparseStatus_t s = cusparseSpMM_bufferSize(l.handle, plain, plain, &alpha, a, b, &beta, c,
                                               p.compute, CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
  if (s == CUSPARSE_STATUS_SUCCESS) {
    grow_workspace(l, bytes);
    s = cusparseSpMM(l.handle, plain, plain, &alpha, a, b, &beta, c, p.compute,
                     CUSPARSE_SPMM_ALG_DEFAULT, l.workspace);
  }
  SPARSE_OK(cusparseDestroySpMat(a));
  SPARSE_OK(cusparseDestroyDnMat(b));
  SPARSE_OK(cusparseDestroyDnMat(c));
  return s;
}

// A call that must not fail; the first few that do are told, all are counted.
inline void call(Lane &l, const Problem &p)
{
  static int told;
  const cusparseStatus_t s = multiply(l, p);
  if (s == CUSPARSE_STATUS_SUCCESS) return;
  if (told++ < 8)
    check(0, "a call failed: status %d", (int)s);
  else
    check_failed++;
}

// Elements of p's result that are wrong; waits.
inline unsigned count_wrong(Lane &l, const Problem &p)
{
  Outcome found;
  CUDA_OK(cudaMemsetAsync(l.outcome, 0, sizeof found, l.stream));
  check_result(p, l.outcome, l.stream);
  CUDA_OK(cudaMemcpyAsync(&found, l.outcome, sizeof found, cudaMemcpyDeviceToHost, l.stream));
  CUDA_OK(cudaStreamSynchronize(l.stream));
  return found.loose;
}

// Elements that are wrong of all matrices' products, each into a C of NaN; C of f16 or bf16.
inline int64_t wrong_elements(Lane &l, const std::vector<Matrix> &matrices, const Dense &b,
                              const Dense &c)
{
  int64_t wrong = 0;
  for (const Matrix &m : matrices) {
    const Problem p = product_of(m.a, b, c);
    CUDA_OK(cudaMemsetAsync(c.values, 0xff, (size_t)c.stored() * 2, l.stream));
    call(l, p);
    wrong += count_wrong(l, p);
  }
  return wrong;
}

// ---- clocks and memory ---------------------------------------------------------------------
inline double clock_us()
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

// Device time of what `work` enqueues on l.stream, in us.
template <typename Work> double device_us(const Lane &l, Work work)
{
  cudaEvent_t begin, end;
  float ms = 0;
  CUDA_OK(cudaEventCreate(&begin));
  CUDA_OK(cudaEventCreate(&end));
  CUDA_OK(cudaEventRecord(begin, l.stream));
  work();
  CUDA_OK(cudaEventRecord(end, l.stream));
  CUDA_OK(cudaEventSynchronize(end));
  CUDA_OK(cudaEventElapsedTime(&ms, begin, end));
  CUDA_OK(cudaEventDestroy(begin));
  CUDA_OK(cudaEventDestroy(end));
  return ms * 1e3;
}

// Bytes of memory that the process has in use, on the host and on the device.
inline int64_t host_bytes()
{
  long long pages = 0, resident = 0;
  FILE *f = fopen("/proc/self/statm", "r");
  if (!f || fscanf(f, "%lld %lld", &pages, &resident) != 2) resident = 0;
  if (f) fclose(f);
  return resident * sysconf(_SC_PAGESIZE);
}

inline int64_t device_bytes_used()
{
  size_t available, total;
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaMemGetInfo(&available, &total));
  return (int64_t)(total - available);
}

inline double megabytes(int64_t bytes)
{
  return (double)bytes / (1 << 20);
}

} // namespace blackbox
