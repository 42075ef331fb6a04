/* streams.c: four threads, each with its own stream, handle and matrices, multiply
   at the same time; two of them share one sparse matrix.  Every product of a thread
   is compared bit for bit with its first, and that one with float64.  */
#include <pthread.h>

#include "common.h"

enum { THREADS = 4, ROWS = 1024, COLS = 896, N = 128, CALLS = 200 };

struct shared_matrix {
  int64_t nnz;
  int32_t *offsets, *columns, *d_offsets, *d_columns;
  void *values;
  void *d_values;
};

struct lane {
  pthread_t thread;
  int number;
  cudaDataType type;
  struct shared_matrix *a;
  int64_t wrong, changed;
  int failed;
};

static struct shared_matrix matrices[3];

static void make_matrix(struct shared_matrix *m, double density, int group, cudaDataType type)
{
  uint64_t seed = 11;
  m->offsets = malloc((ROWS + 1) * 4);
  m->columns = malloc((size_t)ROWS * COLS * 4);
  if (!m->offsets || !m->columns) exit(2);
  m->nnz = 0;
  for (int i = 0; i < ROWS; i++) {
    uint64_t row = seed + (uint64_t)(i / group) * 977;
    m->offsets[i] = (int32_t)m->nnz;
    for (int j = 0; j < COLS; j++)
      if (random_uniform(&row) < density) m->columns[m->nnz++] = j;
  }
  m->offsets[ROWS] = (int32_t)m->nnz;
  size_t e = type_size(type);
  m->values = malloc((size_t)m->nnz * e);
  if (!m->values) exit(2);
  for (int64_t p = 0; p < m->nnz; p++)
    type_store(m->values, p, type, 2 * random_uniform(&seed) - 1);
  CUDA_OK(cudaMalloc((void **)&m->d_offsets, (ROWS + 1) * 4));
  CUDA_OK(cudaMalloc((void **)&m->d_columns, (size_t)m->nnz * 4));
  CUDA_OK(cudaMalloc(&m->d_values, (size_t)m->nnz * e));
  CUDA_OK(cudaMemcpy(m->d_offsets, m->offsets, (ROWS + 1) * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(m->d_columns, m->columns, (size_t)m->nnz * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(m->d_values, m->values, (size_t)m->nnz * e, cudaMemcpyHostToDevice));
  /* A copy from pageable memory may return before it has arrived; our streams wait for none. */
  CUDA_OK(cudaDeviceSynchronize());
}

static int64_t count_wrong(const struct lane *l, const void *b, const void *c)
{
  int64_t wrong = 0;
  double rough = type_rough(l->type);
  for (int i = 0; i < ROWS; i += 7)
    for (int j = 0; j < N; j += 3) {
      double sum = 0, scale = 0;
      for (int32_t q = l->a->offsets[i]; q < l->a->offsets[i + 1]; q++) {
        double v =
            type_load(l->a->values, q, l->type) * type_load(b, l->a->columns[q] * N + j, l->type);
        sum += v;
        scale += fabs(v);
      }
      double limit = type_tolerance(l->type, CUDA_R_32F, scale, sum, COLS);
      if (!(fabs(type_load(c, i * N + j, l->type) - sum) <= 2 * limit + rough * scale)) wrong++;
    }
  return wrong;
}

/* Descriptors come and go with every call, as in PyTorch. */
static int multiply(struct lane *l, cusparseHandle_t h, void *b, void *c, void **workspace,
                    size_t *room)
{
  float one = 1, zero = 0;
  cusparseSpMatDescr_t ma;
  cusparseDnMatDescr_t mb, mc;
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  size_t bytes = 0;
  int bad = 0;
  bad |= cusparseCreateCsr(&ma, ROWS, COLS, l->a->nnz, l->a->d_offsets, l->a->d_columns,
                           l->a->d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, l->type);
  bad |= cusparseCreateDnMat(&mb, COLS, N, N, b, l->type, CUSPARSE_ORDER_ROW);
  bad |= cusparseCreateDnMat(&mc, ROWS, N, N, c, l->type, CUSPARSE_ORDER_ROW);
  if (bad) return bad;
  /* The deterministic algorithm, so that repeats may be compared bit for bit. */
  bad |= cusparseSpMM_bufferSize(h, plain, plain, &one, ma, mb, &zero, mc, CUDA_R_32F,
                                 CUSPARSE_SPMM_CSR_ALG3, &bytes);
  if (bytes > *room) {
    bad |= (int)cudaFree(*workspace);
    bad |= (int)cudaMalloc(workspace, bytes);
    *room = bytes;
  }
  bad |= cusparseSpMM(h, plain, plain, &one, ma, mb, &zero, mc, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG3,
                      *workspace);
  bad |= cusparseDestroySpMat(ma) | cusparseDestroyDnMat(mb) | cusparseDestroyDnMat(mc);
  return bad;
}

static void *run(void *argument)
{
  struct lane *l = argument;
  cudaStream_t s;
  cusparseHandle_t h;
  size_t e = type_size(l->type), bytes = ROWS * N * e, room = 0;
  void *b, *c, *workspace = NULL, *host_b = malloc(COLS * N * e);
  char *first = malloc(bytes), *again = malloc(bytes);
  uint64_t seed = 1000 + (uint64_t)l->number;
  if (!host_b || !first || !again) exit(2);
  for (int64_t i = 0; i < COLS * N; i++)
    type_store(host_b, i, l->type, 2 * random_uniform(&seed) - 1);
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_OK(cudaMalloc(&b, COLS * N * e));
  CUDA_OK(cudaMalloc(&c, bytes));
  CUDA_OK(cudaMemcpyAsync(b, host_b, COLS * N * e, cudaMemcpyHostToDevice, s));
  SPARSE_OK(cusparseCreate(&h));
  SPARSE_OK(cusparseSetStream(h, s));
  for (int i = 0; i < CALLS && !l->failed; i++) {
    l->failed = multiply(l, h, b, c, &workspace, &room);
    /* Kept plans take over during the first calls, each once the device is done with what the one
       before enqueued; bits are compared after that.  */
    if (i < 20) CUDA_OK(cudaStreamSynchronize(s));
    if (i == 0 || (i > 20 && i % 20 == 1)) {
      CUDA_OK(cudaMemcpyAsync(again, c, bytes, cudaMemcpyDeviceToHost, s));
      CUDA_OK(cudaStreamSynchronize(s));
      if (i == 0 || i == 21) memcpy(first, again, bytes);
      l->changed += memcmp(first, again, bytes) != 0;
      l->wrong += i % 40 == 1 || i == 0 ? count_wrong(l, host_b, again) : 0;
    }
  }
  CUDA_OK(cudaStreamSynchronize(s));
  SPARSE_OK(cusparseDestroy(h));
  CUDA_OK(cudaFree(b));
  CUDA_OK(cudaFree(c));
  CUDA_OK(cudaFree(workspace));
  CUDA_OK(cudaStreamDestroy(s));
  free(host_b);
  free(first);
  free(again);
  return NULL;
}

int main(void)
{
  static struct lane lanes[THREADS];
  make_matrix(&matrices[0], 0.1, 8, CUDA_R_16F);
  make_matrix(&matrices[1], 0.5, 1, CUDA_R_16F);
  make_matrix(&matrices[2], 0.1, 1, CUDA_R_32F);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < THREADS; i++) {
    lanes[i].number = i;
    lanes[i].a = &matrices[i < 3 ? i : 1];
    lanes[i].type = i == 2 ? CUDA_R_32F : CUDA_R_16F;
    if (pthread_create(&lanes[i].thread, NULL, run, &lanes[i])) exit(2);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(lanes[i].thread, NULL);
  for (int i = 0; i < THREADS; i++) {
    check(!lanes[i].failed && lanes[i].wrong == 0, "thread %d, %s: %lld wrong, status %d", i,
          type_text(lanes[i].type), (long long)lanes[i].wrong, lanes[i].failed);
    check(lanes[i].changed == 0, "thread %d: the same bits on every call (%lld differ)", i,
          (long long)lanes[i].changed);
  }
  return finish();
}
