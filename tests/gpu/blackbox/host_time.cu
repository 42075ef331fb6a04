// host_time.cu: what a call costs the host, next to a bare launch; a case for each route.
//
//   host_time [WORD]...   cases whose name has one of the words; all without
//
// "time host_us=... name" each: the least of 40 means over 16 calls that are enqueued behind one
// another.  Run as it is and with Shunt preloaded (tests/gpu/check_gpu.sh, phase host).  Cases are
// named after what Shunt does with them; SHUNT_REPORT tells whether it did.  Times decide nothing
// here.
#include <time.h>

#include <vector>

#include "tests/clients/common.h"

namespace
{

enum class pattern { random, vectors, blocks, two_of_four };

struct host_case {
  const char *name;
  bool sddmm;
  cudaDataType type;
  pattern how;
  int rows, cols, n;
  double density;
};

const host_case cases[] = {
    {"dense 64", false, CUDA_R_16F, pattern::random, 4096, 4096, 64, 0.2},
    {"dense 256", false, CUDA_R_16F, pattern::random, 4096, 4096, 256, 0.2},
    {"dense 1024", false, CUDA_R_16F, pattern::random, 4096, 4096, 1024, 0.2},
    {"vector f16", false, CUDA_R_16F, pattern::vectors, 4096, 4096, 256, 0.05},
    {"vector f32", false, CUDA_R_32F, pattern::vectors, 4096, 4096, 256, 0.05},
    {"sparse24", false, CUDA_R_16F, pattern::two_of_four, 4096, 4096, 2048, 0.4},
    {"tile", false, CUDA_R_16F, pattern::blocks, 24000, 24000, 128, 0},
    {"bundle", false, CUDA_R_64F, pattern::blocks, 24000, 24000, 256, 0},
    {"csr f16", false, CUDA_R_16F, pattern::random, 2048, 2048, 64, 0.01},
    {"csr f32", false, CUDA_R_32F, pattern::random, 1024, 1024, 64, 0.1},
    {"csr f64", false, CUDA_R_64F, pattern::random, 1024, 1024, 64, 0.1},
    {"sddmm vector", true, CUDA_R_16F, pattern::vectors, 1024, 1024, 256, 0.1},
    {"sddmm dense", true, CUDA_R_16F, pattern::random, 4096, 4096, 256, 0.1},
    {"sddmm csr", true, CUDA_R_32F, pattern::random, 1024, 1024, 128, 0.05},
    {"declined", false, CUDA_C_32F, pattern::random, 256, 256, 32, 0.05},
};

// Columns of row i, ascending.
void row_columns(const host_case &c, int i, std::vector<int> *out)
{
  out->clear();
  const int group = c.how == pattern::vectors ? i / 8 : i;
  uint64_t rng = 5 + static_cast<uint64_t>(group) * 1000003;
  if (c.how ==
      pattern::blocks) { // 3 unknowns on each node of a 20 x 20 grid of layers, 27 neighbours
    const int side = 20, node = i / 3, nodes = c.rows / 3;
    for (int z = -1; z <= 1; z++)
      for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++) {
          const int to = node + (z * side + y) * side + x;
          for (int u = 0; to >= 0 && to < nodes && u < 3; u++) out->push_back(to * 3 + u);
        }
    return;
  }
  for (int j = 0, of_four = 0; j < c.cols; j++) {
    if (j % 4 == 0) of_four = 0;
    if (random_uniform(&rng) >= c.density) continue;
    if (c.how == pattern::two_of_four && of_four == 2) continue;
    of_four++;
    out->push_back(j);
  }
}

struct product {
  host_case what;
  int64_t nnz;
  void *offsets, *columns, *values, *b, *c, *workspace;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t sparse;
  cusparseDnMatDescr_t dense_b, dense_c;
};

void *device_zeros(size_t bytes)
{
  void *p;
  CUDA_OK(cudaMalloc(&p, bytes + 256));
  CUDA_OK(cudaMemset(p, 0, bytes + 256));
  return p;
}

void *on_device(const std::vector<int> &from)
{
  void *p = device_zeros(from.size() * sizeof(int));
  CUDA_OK(cudaMemcpy(p, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice));
  CUDA_OK(cudaDeviceSynchronize()); // a copy from pageable memory may return before it has arrived
  return p;
}

void make_pattern(product *p)
{
  std::vector<int> offsets{0}, columns, row;
  for (int i = 0; i < p->what.rows; i++) {
    row_columns(p->what, i, &row);
    columns.insert(columns.end(), row.begin(), row.end());
    offsets.push_back(static_cast<int>(columns.size()));
  }
  p->nnz = static_cast<int64_t>(columns.size());
  p->offsets = on_device(offsets);
  p->columns = on_device(columns);
}

// Large enough for complex doubles too.
const double one64[2] = {1, 0}, zero64[2] = {0, 0};
const float one32[2] = {1, 0}, zero32[2] = {0, 0};

struct scalars {
  const void *alpha, *beta;
  cudaDataType compute;
};

scalars scalars_of(const host_case &c)
{
  if (c.type == CUDA_R_64F) return {one64, zero64, c.type};
  return {one32, zero32, c.type == CUDA_C_32F ? c.type : CUDA_R_32F};
}

constexpr cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

// What is conjugated is left to the original.
cusparseOperation_t op_a(const host_case &c)
{
  return c.type == CUDA_C_32F ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE : plain;
}

size_t ask_workspace(const product *p)
{
  const scalars s = scalars_of(p->what);
  size_t bytes = 0;
  if (p->what.sddmm)
    SPARSE_OK(cusparseSDDMM_bufferSize(p->handle, plain, plain, s.alpha, p->dense_c, p->dense_b,
                                       s.beta, p->sparse, s.compute, CUSPARSE_SDDMM_ALG_DEFAULT,
                                       &bytes));
  else
    SPARSE_OK(cusparseSpMM_bufferSize(p->handle, op_a(p->what), plain, s.alpha, p->sparse,
                                      p->dense_b, s.beta, p->dense_c, s.compute,
                                      CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  return bytes;
}

void call(const product *p)
{
  const scalars s = scalars_of(p->what);
  if (p->what.sddmm)
    SPARSE_OK(cusparseSDDMM(p->handle, plain, plain, s.alpha, p->dense_c, p->dense_b, s.beta,
                            p->sparse, s.compute, CUSPARSE_SDDMM_ALG_DEFAULT, p->workspace));
  else
    SPARSE_OK(cusparseSpMM(p->handle, op_a(p->what), plain, s.alpha, p->sparse, p->dense_b, s.beta,
                           p->dense_c, s.compute, CUSPARSE_SPMM_ALG_DEFAULT, p->workspace));
}

void set_up(product *p, const host_case &c, cudaStream_t stream)
{
  p->what = c;
  make_pattern(p);
  const size_t e = type_size(c.type);
  const int b_rows = c.sddmm ? c.n : c.cols, b_cols = c.sddmm ? c.cols : c.n;
  p->values = device_zeros(static_cast<size_t>(p->nnz) * e);
  p->b = device_zeros(static_cast<size_t>(b_rows) * b_cols * e);
  p->c = device_zeros(static_cast<size_t>(c.rows) * c.n * e);
  SPARSE_OK(cusparseCreate(&p->handle));
  SPARSE_OK(cusparseSetStream(p->handle, stream));
  SPARSE_OK(cusparseCreateCsr(&p->sparse, c.rows, c.cols, p->nnz, p->offsets, p->columns, p->values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              c.type));
  SPARSE_OK(
      cusparseCreateDnMat(&p->dense_b, b_rows, b_cols, b_cols, p->b, c.type, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&p->dense_c, c.rows, c.n, c.n, p->c, c.type, CUSPARSE_ORDER_ROW));
  p->workspace = device_zeros(ask_workspace(p));
}

void tear_down(product *p)
{
  SPARSE_OK(cusparseDestroySpMat(p->sparse));
  SPARSE_OK(cusparseDestroyDnMat(p->dense_b));
  SPARSE_OK(cusparseDestroyDnMat(p->dense_c));
  SPARSE_OK(cusparseDestroy(p->handle));
  for (void *m : {p->offsets, p->columns, p->values, p->b, p->c, p->workspace})
    CUDA_OK(cudaFree(m));
}

double now_us()
{
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_nsec) * 1e-3;
}

template <class Call> void time_host(const char *name, cudaStream_t stream, const Call &once)
{
  double best = 1e30;
  for (int round = 0; round < 40; round++) {
    CUDA_OK(cudaStreamSynchronize(stream));
    const double begin = now_us();
    for (int i = 0; i < 16; i++) once();
    const double us = (now_us() - begin) / 16;
    if (us < best) best = us;
  }
  CUDA_OK(cudaStreamSynchronize(stream));
  printf("time host_us=%.2f %s\n", best, name);
  fflush(stdout);
}

// As much as the larger kernels are told.
struct much {
  uint64_t words[80];
};
__global__ void bare(much) {}

void time_bare(cudaStream_t stream)
{
  much m = {};
  time_host("bare launch", stream, [&] { bare<<<132, 128, 0, stream>>>(m); });
  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(132);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = &early;
  config.numAttrs = 1;
  time_host("bare launch, early", stream, [&] { CUDA_OK(cudaLaunchKernelEx(&config, bare, m)); });
}

bool wanted(const char *name, int words, char **word)
{
  for (int i = 1; i < words; i++)
    if (strstr(name, word[i])) return true;
  return words < 2;
}

} // namespace

int main(int argc, char **argv)
{
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  time_bare(stream);
  for (const host_case &c : cases) {
    if (!wanted(c.name, argc, argv)) continue;
    product p;
    set_up(&p, c, stream);
    for (int i = 0; i < 12; i++) { // profiles arrive, plans are made, kernels load
      call(&p);
      CUDA_OK(cudaStreamSynchronize(stream));
    }
    time_host(c.name, stream, [&] { call(&p); });
    tear_down(&p);
  }
  CUDA_OK(cudaStreamDestroy(stream));
  check(1, "every case ran");
  return finish();
}
