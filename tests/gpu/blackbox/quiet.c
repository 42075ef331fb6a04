/* quiet.c: inside SpMM and SDDMM nothing waits, nothing is allocated, and all work
   goes to the caller's stream or to streams that follow it.

   Run with quiet_preload.so and Shunt preloaded.  Between marks around 100 warm
   calls, plain and captured, that object must count no loud call and none on the
   default stream.  Also prints what a call costs the host, for comparison with a
   run without Shunt ("time ..." lines; they decide nothing here).  */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#include "tests/clients/common.h"

struct quiet_counts {
  long loud, on_default, on_caller, on_other;
  char first[96];
};

static int (*quiet_open)(void);
static void (*quiet_begin)(void *);
static void (*quiet_end)(struct quiet_counts *);

enum { CALLS = 100 };

/* `group` rows in a row share their columns. */
struct kind {
  const char *name;
  int sddmm;
  cudaDataType type;
  int rows, cols, n, group;
  double density;
};

struct problem {
  struct kind is;
  int32_t *offsets, *columns;
  void *values, *b, *c, *workspace;
  int64_t nnz;
  size_t room;
  cusparseHandle_t handle;
  cusparseSpMatDescr_t sparse;
  cusparseDnMatDescr_t dense_b, dense_c;
};

static void *device_zeros(size_t bytes)
{
  void *p;
  CUDA_OK(cudaMalloc(&p, bytes + 256));
  CUDA_OK(cudaMemset(p, 0, bytes + 256));
  return p;
}

/* The pattern matters here, the numbers do not: all are 0. */
static void make_pattern(struct problem *p)
{
  int32_t *offsets = malloc(((size_t)p->is.rows + 1) * 4);
  int32_t *columns = malloc((size_t)p->is.rows * (size_t)p->is.cols * 4);
  if (!offsets || !columns) exit(2);
  p->nnz = 0;
  for (int i = 0; i < p->is.rows; i++) {
    uint64_t rng = 5 + (uint64_t)(i / p->is.group) * 1000003;
    offsets[i] = (int32_t)p->nnz;
    for (int j = 0; j < p->is.cols; j++)
      if (random_uniform(&rng) < p->is.density) columns[p->nnz++] = j;
  }
  offsets[p->is.rows] = (int32_t)p->nnz;
  p->offsets = device_zeros(((size_t)p->is.rows + 1) * 4);
  p->columns = device_zeros((size_t)p->nnz * 4);
  CUDA_OK(cudaMemcpy(p->offsets, offsets, ((size_t)p->is.rows + 1) * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(p->columns, columns, (size_t)p->nnz * 4, cudaMemcpyHostToDevice));
  /* Copies from pageable memory may return before they have arrived. */
  CUDA_OK(cudaDeviceSynchronize());
  free(offsets);
  free(columns);
}

static void describe(struct problem *p)
{
  int b_rows = p->is.sddmm ? p->is.n : p->is.cols, b_cols = p->is.sddmm ? p->is.cols : p->is.n;
  SPARSE_OK(cusparseCreateCsr(&p->sparse, p->is.rows, p->is.cols, p->nnz, p->offsets, p->columns,
                              p->values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, p->is.type));
  SPARSE_OK(cusparseCreateDnMat(&p->dense_b, b_rows, b_cols, b_cols, p->b, p->is.type,
                                CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&p->dense_c, p->is.rows, p->is.n, p->is.n, p->c, p->is.type,
                                CUSPARSE_ORDER_ROW));
}

static void forget(struct problem *p)
{
  SPARSE_OK(cusparseDestroySpMat(p->sparse));
  SPARSE_OK(cusparseDestroyDnMat(p->dense_b));
  SPARSE_OK(cusparseDestroyDnMat(p->dense_c));
}

/* Large enough for complex doubles too. */
static const double one[2] = {1, 0}, zero[2] = {0, 0};
static const float one32[2] = {1, 0}, zero32[2] = {0, 0};

static cudaDataType compute_of(const struct problem *p)
{
  return p->is.type == CUDA_R_64F || p->is.type == CUDA_C_32F ? p->is.type : CUDA_R_32F;
}

/* What is conjugated is left to the original. */
static cusparseOperation_t op_a(const struct problem *p)
{
  return p->is.type == CUDA_C_32F ? CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE
                                  : CUSPARSE_OPERATION_NON_TRANSPOSE;
}

static size_t ask_workspace(struct problem *p)
{
  size_t bytes = 0;
  int wide = p->is.type == CUDA_R_64F;
  const void *alpha = wide ? (const void *)one : one32, *beta = wide ? (const void *)zero : zero32;
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (p->is.sddmm)
    SPARSE_OK(cusparseSDDMM_bufferSize(p->handle, plain, plain, alpha, p->dense_c, p->dense_b, beta,
                                       p->sparse, compute_of(p), CUSPARSE_SDDMM_ALG_DEFAULT,
                                       &bytes));
  else
    SPARSE_OK(cusparseSpMM_bufferSize(p->handle, op_a(p), plain, alpha, p->sparse, p->dense_b, beta,
                                      p->dense_c, compute_of(p), CUSPARSE_SPMM_ALG_DEFAULT,
                                      &bytes));
  return bytes;
}

static void call(struct problem *p)
{
  int wide = p->is.type == CUDA_R_64F;
  const void *alpha = wide ? (const void *)one : one32, *beta = wide ? (const void *)zero : zero32;
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  if (p->is.sddmm)
    SPARSE_OK(cusparseSDDMM(p->handle, plain, plain, alpha, p->dense_c, p->dense_b, beta, p->sparse,
                            compute_of(p), CUSPARSE_SDDMM_ALG_DEFAULT, p->workspace));
  else
    SPARSE_OK(cusparseSpMM(p->handle, op_a(p), plain, alpha, p->sparse, p->dense_b, beta,
                           p->dense_c, compute_of(p), CUSPARSE_SPMM_ALG_DEFAULT, p->workspace));
}

static void set_up(struct problem *p, cudaStream_t s)
{
  size_t e = type_size(p->is.type), k = (size_t)(p->is.sddmm ? p->is.n : p->is.cols);
  make_pattern(p);
  p->values = device_zeros((size_t)p->nnz * e);
  p->b = device_zeros(k * (size_t)(p->is.sddmm ? p->is.cols : p->is.n) * e);
  p->c = device_zeros((size_t)p->is.rows * (size_t)p->is.n * e);
  SPARSE_OK(cusparseCreate(&p->handle));
  SPARSE_OK(cusparseSetStream(p->handle, s));
  describe(p);
  p->room = ask_workspace(p);
  p->workspace = device_zeros(p->room);
}

static void tear_down(struct problem *p)
{
  forget(p);
  SPARSE_OK(cusparseDestroy(p->handle));
  void *all[] = {p->offsets, p->columns, p->values, p->b, p->c, p->workspace};
  for (int i = 0; i < 6; i++) CUDA_OK(cudaFree(all[i]));
}

static double now_us(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Host time of one call while the device is far behind: the smallest of 20 means. */
static void time_host(struct problem *p, cudaStream_t s)
{
  double best = 1e30;
  for (int round = 0; round < 20; round++) {
    CUDA_OK(cudaStreamSynchronize(s));
    double begin = now_us();
    for (int i = 0; i < 20; i++) call(p);
    double us = (now_us() - begin) / 20;
    if (us < best) best = us;
  }
  CUDA_OK(cudaStreamSynchronize(s));
  printf("time host_us=%.2f %s\n", best, p->is.name);
}

static void expect_quiet(const struct problem *p, const char *how)
{
  struct quiet_counts n;
  quiet_end(&n);
  check(n.loud == 0 && n.on_default == 0 && n.on_caller + n.on_other > 0,
        "%s, %s: %ld loud calls, %ld on the default stream (%s), %ld on the caller's, %ld on "
        "another",
        p->is.name, how, n.loud, n.on_default, n.first[0] ? n.first : "none", n.on_caller,
        n.on_other);
}

static void test_plain(struct problem *p, cudaStream_t s)
{
  quiet_begin(s);
  for (int i = 0; i < CALLS; i++) call(p);
  expect_quiet(p, "100 calls");
  CUDA_OK(cudaStreamSynchronize(s));
  /* Descriptors come and go, as in PyTorch; the buffer keeps its size. */
  quiet_begin(s);
  for (int i = 0; i < 20; i++) {
    forget(p);
    describe(p);
    ask_workspace(p);
    call(p);
  }
  expect_quiet(p, "20 calls with fresh descriptors");
  CUDA_OK(cudaStreamSynchronize(s));
}

static void test_captured(struct problem *p, cudaStream_t s)
{
  cudaGraph_t graph;
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  quiet_begin(s);
  for (int i = 0; i < CALLS; i++) call(p);
  expect_quiet(p, "100 captured calls");
  CUDA_OK(cudaStreamEndCapture(s, &graph));
  CUDA_OK(cudaGraphDestroy(graph));
}

/* Counting works at all: a loud program is heard. */
static void test_counter(cudaStream_t s)
{
  struct quiet_counts n;
  void *p;
  quiet_begin(s);
  CUDA_OK(cudaMalloc(&p, 1 << 20));
  CUDA_OK(cudaMemsetAsync(p, 0, 1 << 20, 0));
  CUDA_OK(cudaStreamSynchronize(s));
  CUDA_OK(cudaFree(p));
  quiet_end(&n);
  check(n.loud >= 2 && n.on_default >= 1, "the counter hears %ld loud calls, %ld on the default",
        n.loud, n.on_default);
}

static int find_counter(void)
{
  *(void **)&quiet_open = dlsym(RTLD_DEFAULT, "quiet_open");
  *(void **)&quiet_begin = dlsym(RTLD_DEFAULT, "quiet_begin");
  *(void **)&quiet_end = dlsym(RTLD_DEFAULT, "quiet_end");
  return quiet_open && quiet_begin && quiet_end;
}

/* The last one is left to cuSPARSE, which may be loud. */
static const struct kind kinds[] = {
    {"spmm f16, half full", 0, CUDA_R_16F, 1024, 1024, 128, 1, 0.5},
    {"spmm f16, 8 x 1", 0, CUDA_R_16F, 1024, 1024, 256, 8, 0.1},
    {"spmm f16, random", 0, CUDA_R_16F, 2048, 2048, 64, 1, 0.01},
    {"spmm f32, random", 0, CUDA_R_32F, 1024, 1024, 64, 1, 0.1},
    {"spmm f64, random", 0, CUDA_R_64F, 1024, 1024, 64, 1, 0.1},
    {"sddmm f16, 8 x 1", 1, CUDA_R_16F, 1024, 1024, 256, 8, 0.1},
    {"sddmm f32, random", 1, CUDA_R_32F, 1024, 1024, 128, 1, 0.05},
    {"spmm c32, op(A) = H (declined)", 0, CUDA_C_32F, 256, 256, 32, 1, 0.05},
};
enum { COUNT = sizeof kinds / sizeof *kinds, DECLINED = COUNT - 1 };

static struct problem problems[COUNT];

/* Until profiles have arrived, plans are made and kernels are loaded. */
static void warm_up(struct problem *p, cudaStream_t s)
{
  for (int k = 0; k < 12; k++) {
    call(p);
    CUDA_OK(cudaStreamSynchronize(s));
  }
}

static void test_taken(cudaStream_t s)
{
  test_counter(s);
  for (int i = 0; i < DECLINED; i++) {
    call(&problems[i]); /* CUPTI may have made the driver load things again */
    CUDA_OK(cudaStreamSynchronize(s));
    test_plain(&problems[i], s);
    test_captured(&problems[i], s);
  }
}

int main(void)
{
  cudaStream_t s;
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int i = 0; i < COUNT; i++) {
    problems[i].is = kinds[i];
    set_up(&problems[i], s);
    warm_up(&problems[i], s);
    time_host(&problems[i], s);
  }
  int found = find_counter(), why = found ? quiet_open() : -1;
  if (why != 0)
    skip("no counter of driver calls (%d): quiet_preload.so or CUPTI is missing", why);
  else
    test_taken(s);
  for (int i = 0; i < COUNT; i++) tear_down(&problems[i]);
  CUDA_OK(cudaStreamDestroy(s));
  return finish();
}
