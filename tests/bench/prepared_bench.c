/* prepared_bench.c: what cusparseSpMM_preprocess changes for the calls behind it, f16, in column
   vectors of 8 x 1, as any program calls it: run it as it is, and preloaded.

   One line a case: rows, columns, share of zeros, width of B, and the microseconds of a call, the
   median of 9 rounds of 200 plain ones, without preprocess before them and with.  Without, fresh
   descriptors are made for each round.  What is computed is tests/gpu/blackbox/stale's to
   compare.  */
#include "tests/clients/common.h"

enum { CALLS = 200, ROUNDS = 9, VECTOR = 8 };

static uint64_t rng = 1;
static cusparseHandle_t handle;
static cudaStream_t stream;

struct matrix {
  int64_t rows, cols, nnz;
  void *offsets, *columns, *values;
};

/* The same 64 Ki numbers again and again. */
static void *numbers(int64_t count)
{
  const size_t bytes = (size_t)count * 2;
  const int64_t some = 65536;
  char *host = malloc(bytes);
  for (int64_t i = 0; i < count && i < some; i++)
    type_store(host, i, CUDA_R_16F, 2 * random_uniform(&rng) - 1);
  for (size_t at = (size_t)some * 2; at < bytes; at += (size_t)some * 2)
    memcpy(host + at, host, bytes - at < (size_t)some * 2 ? bytes - at : (size_t)some * 2);
  void *device = to_device(host, bytes);
  free(host);
  return device;
}

static struct matrix make_matrix(int64_t rows, int64_t cols, double zeros)
{
  struct matrix m = {rows, cols, 0, NULL, NULL, NULL};
  int32_t *offsets = malloc((size_t)(rows + 1) * 4);
  int32_t *columns = malloc((size_t)(rows * cols) * 4);
  offsets[0] = 0;
  for (int64_t i = 0; i < rows; i++) {
    if (i % VECTOR != 0) {
      const int32_t length = offsets[i] - offsets[i - 1];
      memcpy(columns + m.nnz, columns + m.nnz - length, (size_t)length * 4);
      m.nnz += length;
    } else {
      for (int64_t j = 0; j < cols; j++)
        if (random_uniform(&rng) >= zeros) columns[m.nnz++] = (int32_t)j;
    }
    offsets[i + 1] = (int32_t)m.nnz;
  }
  m.offsets = to_device(offsets, (size_t)(rows + 1) * 4);
  m.columns = to_device(columns, (size_t)m.nnz * 4);
  m.values = numbers(m.nnz);
  free(offsets);
  free(columns);
  return m;
}

/* A product as cuSPARSE describes it. */
struct product {
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t b, c;
  void *buffer;
  size_t bytes;
};

static const float one = 1, none = 0;
static const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;

static void describe(const struct matrix *m, int64_t n, void *b, void *c, struct product *p)
{
  SPARSE_OK(cusparseCreateCsr(&p->a, m->rows, m->cols, m->nnz, m->offsets, m->columns, m->values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              CUDA_R_16F));
  SPARSE_OK(cusparseCreateDnMat(&p->b, m->cols, n, n, b, CUDA_R_16F, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&p->c, m->rows, n, n, c, CUDA_R_16F, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseSpMM_bufferSize(handle, op, op, &one, p->a, p->b, &none, p->c, CUDA_R_32F,
                                    CUSPARSE_SPMM_ALG_DEFAULT, &p->bytes));
}

static void forget(struct product *p)
{
  SPARSE_OK(cusparseDestroySpMat(p->a));
  SPARSE_OK(cusparseDestroyDnMat(p->b));
  SPARSE_OK(cusparseDestroyDnMat(p->c));
}

static float time_calls(const struct product *p, cudaEvent_t begin, cudaEvent_t end)
{
  float ms;
  CUDA_OK(cudaEventRecord(begin, stream));
  for (int i = 0; i < CALLS; i++)
    SPARSE_OK(cusparseSpMM(handle, op, op, &one, p->a, p->b, &none, p->c, CUDA_R_32F,
                           CUSPARSE_SPMM_ALG_DEFAULT, p->buffer));
  CUDA_OK(cudaEventRecord(end, stream));
  CUDA_OK(cudaEventSynchronize(end));
  CUDA_OK(cudaEventElapsedTime(&ms, begin, end));
  return 1000 * ms / CALLS;
}

static int by_size(const void *a, const void *b)
{
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

/* The first round, in which a matrix becomes known, does not count. */
static double time_product(const struct matrix *m, int64_t n, int prepared)
{
  void *b = numbers(m->cols * n), *c = numbers(m->rows * n);
  cudaEvent_t begin, end;
  float us[ROUNDS + 1];
  struct product p;
  CUDA_OK(cudaEventCreate(&begin));
  CUDA_OK(cudaEventCreate(&end));
  describe(m, n, b, c, &p);
  CUDA_OK(cudaMalloc(&p.buffer, p.bytes + 16));
  if (prepared)
    SPARSE_OK(cusparseSpMM_preprocess(handle, op, op, &one, p.a, p.b, &none, p.c, CUDA_R_32F,
                                      CUSPARSE_SPMM_ALG_DEFAULT, p.buffer));
  for (int i = 0; i <= ROUNDS; i++) {
    us[i] = time_calls(&p, begin, end);
    if (prepared) continue;
    forget(&p);
    describe(m, n, b, c, &p);
  }
  forget(&p);
  CUDA_OK(cudaEventDestroy(begin));
  CUDA_OK(cudaEventDestroy(end));
  CUDA_OK(cudaFree(p.buffer));
  CUDA_OK(cudaFree(b));
  CUDA_OK(cudaFree(c));
  qsort(us + 1, ROUNDS, sizeof us[0], by_size);
  return us[1 + ROUNDS / 2];
}

static void time_case(int64_t rows, int64_t cols, double zeros, int64_t n)
{
  double us[2];
  for (int prepared = 0; prepared < 2; prepared++) {
    /* Of its own, so that nothing is known of it. */
    struct matrix m = make_matrix(rows, cols, zeros);
    us[prepared] = time_product(&m, n, prepared);
    CUDA_OK(cudaFree(m.offsets));
    CUDA_OK(cudaFree(m.columns));
    CUDA_OK(cudaFree(m.values));
  }
  printf("%d\t%d\t%.2f\t%d\t%.1f\t%.1f\n", (int)rows, (int)cols, zeros, (int)n, us[0], us[1]);
  fflush(stdout);
}

int main(void)
{
  static const double zeros[] = {0.5, 0.8, 0.9, 0.95, 0.98};
  static const int64_t widths[] = {256, 1024};
  (void)check_passed, (void)check_skipped;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  SPARSE_OK(cusparseCreate(&handle));
  SPARSE_OK(cusparseSetStream(handle, stream));
  for (int64_t side = 4096; side <= 8192; side *= 2)
    for (int z = side == 4096 ? 0 : 1; z < 5; z++)
      for (int w = 0; w < 2; w++) time_case(side, side, zeros[z], widths[w]);
  SPARSE_OK(cusparseDestroy(handle));
  return 0;
}
