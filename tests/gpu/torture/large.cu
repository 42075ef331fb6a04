// large.cu: matrices and results that 32-bit numbers do not count, changed in place.
//
//   large entries    more than 2^31 entries, 64-bit indices
//   large result     more than 2^31 elements of C, rows alike in eights
//   large rows       10^8 rows
//   large tall       2^23 x 128, half full as 2:4, more than 2^31 elements of C
//
// Everything is a function of its place, made on the device: entry j of row i stands in stratum j
// of the row's columns, at a place that depends on the group of rows; values are small multiples of
// 1/8.  8,192 rows of C, the last ones among them, are compared with float64.  Several calls, so
// that copies are kept where they are; then values change in place, then columns.  No call may take
// the host longer than 100 ms, whatever it starts.
//
// fp16, row-major, alpha 1, beta 0.  Up to 60 GB of the device's memory; skipped where it has less.
#include "tests/gpu/torture/torture_matrix.cuh"

using namespace blackbox;

enum { CALLS = 8, SAMPLES = 8192 };
static const double MOST_HOST_US = 1e5;

struct Large {
  const char *name;
  int64_t rows, cols, length, width;
  int group; // rows that share their columns
  bool wide; // 64-bit indices
};
static const Large cases[] = {{"entries", (int64_t)1 << 22, (int64_t)1 << 20, 525, 32, 1, true},
                              {"result", (int64_t)36 << 20, (int64_t)1 << 16, 8, 64, 8, false},
                              {"rows", 100000000, (int64_t)1 << 16, 3, 8, 1, false},
                              {"tall", (int64_t)1 << 23, 128, 64, 264, 1, false}};

struct Content { // what the operands hold
  Large of;
  uint64_t columns_seed, values_seed;

  __host__ __device__ static uint64_t mix(uint64_t x)
  {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  __device__ int64_t column(int64_t row, int64_t j) const
  {
    const uint64_t h = mix((uint64_t)(row / of.group) * 1048583 + (uint64_t)j + columns_seed);
    if (2 * of.length == of.cols) // two of each four
      return j / 2 * 4 + (j % 2 ? 2 + (int64_t)(h % 2) : (int64_t)(h % 2));
    const int64_t stratum = of.cols / of.length;
    return j * stratum + (int64_t)(h % (uint64_t)stratum);
  }
  __device__ float value(int64_t row, int64_t j) const
  {
    const uint64_t h = mix((uint64_t)row * 1048573 + (uint64_t)j + values_seed);
    return (float)((int64_t)(h % 16) - 8 + (h % 16 >= 8)) / 8; // never 0
  }
  __device__ float dense(int64_t row, int64_t j) const
  {
    return (float)((int64_t)(mix((uint64_t)(row * of.width + j) + 77) % 17) - 8) / 8;
  }
};

struct Arrays {
  void *offsets, *columns;
  __half *values, *b, *c;
};

template <class I> __global__ void fill_offsets(I *offsets, Large l)
{
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i <= l.rows;
       i += (int64_t)gridDim.x * blockDim.x)
    offsets[i] = (I)(i * l.length);
}

template <class I> __global__ void fill_entries(I *columns, __half *values, Content x)
{
  const int64_t n = x.of.rows * x.of.length;
  for (int64_t p = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; p < n;
       p += (int64_t)gridDim.x * blockDim.x) {
    const int64_t row = p / x.of.length, j = p % x.of.length;
    columns[p] = (I)x.column(row, j);
    values[p] = __float2half(x.value(row, j));
  }
}

__global__ void fill_dense(__half *b, Content x)
{
  const int64_t n = x.of.cols * x.of.width;
  for (int64_t p = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; p < n;
       p += (int64_t)gridDim.x * blockDim.x)
    b[p] = __float2half(x.dense(p / x.of.width, p % x.of.width));
}

// One block a sampled row: evenly spread, and the last 64.
__global__ void count_wrong_rows(const __half *c, Content x, unsigned *wrong)
{
  const int64_t s = blockIdx.x;
  const int64_t row = s >= SAMPLES - 64 ? x.of.rows - SAMPLES + s : s * (x.of.rows / SAMPLES);
  for (int64_t j = threadIdx.x; j < x.of.width; j += blockDim.x) {
    double want = 0, most = 0;
    for (int64_t k = 0; k < x.of.length; k++) {
      const double term = (double)x.value(row, k) * (double)x.dense(x.column(row, k), j);
      want += term;
      most += fabs(term);
    }
    const double got = (double)__half2float(c[row * x.of.width + j]);
    if (!(fabs(got - want) <= fabs(want) * 0x1p-10 + most * 1e-5)) atomicAdd(wrong, 1u);
  }
}

static void fill_matrix(const Arrays &a, const Content &x, cudaStream_t stream)
{
  if (x.of.wide)
    fill_entries<<<4096, 256, 0, stream>>>((int64_t *)a.columns, a.values, x);
  else
    fill_entries<<<4096, 256, 0, stream>>>((int32_t *)a.columns, a.values, x);
  CUDA_OK(cudaGetLastError());
}

static Arrays make_arrays(const Content &x, cudaStream_t stream)
{
  const Large &l = x.of;
  const size_t index = l.wide ? 8 : 4, entries = (size_t)(l.rows * l.length);
  Arrays a;
  a.offsets = device_bytes(((size_t)l.rows + 1) * index);
  a.columns = device_bytes(entries * index);
  a.values = (__half *)device_bytes(entries * 2);
  a.b = (__half *)device_bytes((size_t)(l.cols * l.width) * 2);
  a.c = (__half *)device_bytes((size_t)(l.rows * l.width) * 2);
  if (l.wide)
    fill_offsets<<<4096, 256, 0, stream>>>((int64_t *)a.offsets, l);
  else
    fill_offsets<<<4096, 256, 0, stream>>>((int32_t *)a.offsets, l);
  fill_dense<<<4096, 256, 0, stream>>>(a.b, x);
  fill_matrix(a, x, stream);
  return a;
}

// Descriptors and a buffer for the matrix; as programs with such matrices have, for all calls.
struct Call {
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t b, c;
  void *buffer;
};

static Call make_call(Lane &lane, const Arrays &x, const Large &l)
{
  const float one = 1, zero = 0;
  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseIndexType_t index = l.wide ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
  size_t bytes = 0;
  Call k;
  SPARSE_OK(cusparseCreateCsr(&k.a, l.rows, l.cols, l.rows * l.length, x.offsets, x.columns,
                              x.values, index, index, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_16F));
  SPARSE_OK(
      cusparseCreateDnMat(&k.b, l.cols, l.width, l.width, x.b, CUDA_R_16F, CUSPARSE_ORDER_ROW));
  SPARSE_OK(
      cusparseCreateDnMat(&k.c, l.rows, l.width, l.width, x.c, CUDA_R_16F, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseSpMM_bufferSize(lane.handle, plain, plain, &one, k.a, k.b, &zero, k.c,
                                    CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  k.buffer = device_bytes(bytes + 1);
  return k;
}

// Some calls; host time of the longest, and wrong elements among the samples of the last.
static void multiply_and_check(Lane &lane, const Call &k, const Arrays &a, const Content &x,
                               const char *when)
{
  const float one = 1, zero = 0;
  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  double longest = 0;
  unsigned wrong = 0;
  int failed = 0;
  const double us = device_us(lane, [&] {
    for (int i = 0; i < CALLS; i++) {
      const double begin = clock_us();
      failed += cusparseSpMM(lane.handle, plain, plain, &one, k.a, k.b, &zero, k.c, CUDA_R_32F,
                             CUSPARSE_SPMM_ALG_DEFAULT, k.buffer) != CUSPARSE_STATUS_SUCCESS;
      longest = std::max(longest, clock_us() - begin);
    }
  });
  CUDA_OK(cudaMemsetAsync(lane.outcome, 0, sizeof(unsigned), lane.stream));
  count_wrong_rows<<<SAMPLES, 64, 0, lane.stream>>>(a.c, x, (unsigned *)lane.outcome);
  CUDA_OK(cudaMemcpyAsync(&wrong, lane.outcome, sizeof wrong, cudaMemcpyDeviceToHost, lane.stream));
  CUDA_OK(cudaStreamSynchronize(lane.stream));
  printf("time us_a_call=%.0f longest_host_us=%.0f what=%s, %s\n", us / CALLS, longest, x.of.name,
         when);
  check(failed == 0 && wrong == 0, "%s, %s: %d calls failed, %u sampled elements wrong", x.of.name,
        when, failed, wrong);
  check(longest <= MOST_HOST_US, "%s, %s: the longest call took the host %.0f us", x.of.name, when,
        longest);
}

static void run_case(const Large &l)
{
  Content x = {l, 1, 2};
  Lane lane = make_lane();
  const Arrays a = make_arrays(x, lane.stream);
  const Call k = make_call(lane, a, l);
  CUDA_OK(cudaMemsetAsync(a.c, 0xff, (size_t)(l.rows * l.width) * 2, lane.stream));
  CUDA_OK(cudaStreamSynchronize(lane.stream));
  multiply_and_check(lane, k, a, x, "first");
  multiply_and_check(lane, k, a, x, "settled");
  x.values_seed = 3;
  fill_matrix(a, x, lane.stream);
  multiply_and_check(lane, k, a, x, "other values");
  x.columns_seed = 4;
  fill_matrix(a, x, lane.stream);
  multiply_and_check(lane, k, a, x, "other columns");
}

int main(int argc, char **argv)
{
  size_t available, total;
  CUDA_OK(cudaMemGetInfo(&available, &total));
  for (const Large &l : cases) {
    const size_t index = l.wide ? 8 : 4, entries = (size_t)(l.rows * l.length);
    const size_t bytes = entries * (index + 2) + (size_t)(l.rows * (l.width + 8)) * 2;
    if (argc > 1 && strcmp(argv[1], l.name) != 0) continue;
    if (available < bytes + bytes / 2)
      skip("%s: %zu MB of memory", l.name, bytes >> 20);
    else
      run_case(l);
  }
  return finish();
}
