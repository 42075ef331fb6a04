/* capture.c: cusparseSpMM inside a CUDA graph, replayed while values and B change.

   The program captures one product, replays it, overwrites A's values and B in place,
   replays again, and compares every result with float64.  It also captures before
   the first plain call, so that nothing about the matrix is known yet.  */
#include "common.h"

enum { ROWS = 768, COLS = 640, N = 96 };

struct problem {
  cudaDataType type;
  double density;
  int group; /* rows that share their columns */
  int64_t nnz;
  int32_t *offsets, *columns;
  void *values, *b, *c; /* host */
  int32_t *d_offsets, *d_columns;
  void *d_values, *d_b, *d_c, *workspace;
};

static void *take(size_t bytes)
{
  void *p = malloc(bytes);
  if (!p) exit(2);
  return p;
}

static void make_pattern(struct problem *p)
{
  uint64_t seed = 7;
  p->offsets = take((ROWS + 1) * 4);
  p->columns = take((size_t)ROWS * COLS * 4);
  p->nnz = 0;
  for (int i = 0; i < ROWS; i++) {
    p->offsets[i] = (int32_t)p->nnz;
    if (i % p->group) { /* the row before, again */
      int32_t begin = p->offsets[i - 1], n = (int32_t)p->nnz - begin;
      memcpy(p->columns + p->nnz, p->columns + begin, (size_t)n * 4);
      p->nnz += n;
      continue;
    }
    for (int j = 0; j < COLS; j++)
      if (random_uniform(&seed) < p->density) p->columns[p->nnz++] = j;
  }
  p->offsets[ROWS] = (int32_t)p->nnz;
}

static void new_numbers(struct problem *p, uint64_t seed)
{
  for (int64_t i = 0; i < p->nnz; i++)
    type_store(p->values, i, p->type, 2 * random_uniform(&seed) - 1);
  for (int64_t i = 0; i < COLS * N; i++)
    type_store(p->b, i, p->type, 2 * random_uniform(&seed) - 1);
}

static void upload_numbers(struct problem *p, cudaStream_t s)
{
  size_t e = type_size(p->type);
  CUDA_OK(cudaMemcpyAsync(p->d_values, p->values, (size_t)p->nnz * e, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaMemcpyAsync(p->d_b, p->b, COLS * N * e, cudaMemcpyHostToDevice, s));
  CUDA_OK(cudaMemsetAsync(p->d_c, 0xff, ROWS * N * e, s));
  CUDA_OK(cudaStreamSynchronize(s));
}

static int64_t count_wrong(struct problem *p, cudaStream_t s)
{
  size_t e = type_size(p->type);
  double rough = type_rough(p->type);
  int64_t wrong = 0;
  CUDA_OK(cudaMemcpyAsync(p->c, p->d_c, ROWS * N * e, cudaMemcpyDeviceToHost, s));
  CUDA_OK(cudaStreamSynchronize(s));
  for (int i = 0; i < ROWS; i += 3)
    for (int j = 0; j < N; j += 5) {
      double sum = 0, scale = 0;
      for (int32_t q = p->offsets[i]; q < p->offsets[i + 1]; q++) {
        double v =
            type_load(p->values, q, p->type) * type_load(p->b, p->columns[q] * N + j, p->type);
        sum += v;
        scale += fabs(v);
      }
      double error = fabs(type_load(p->c, i * N + j, p->type) - sum);
      double limit = type_tolerance(p->type, CUDA_R_32F, scale, sum, COLS);
      if (!(error <= 2 * limit + rough * scale)) wrong++;
    }
  return wrong;
}

struct call {
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t b, c;
};

static void prepare_call(struct problem *p, struct call *k)
{
  float one = 1, zero = 0;
  size_t bytes;
  SPARSE_OK(cusparseCreateCsr(&k->a, ROWS, COLS, p->nnz, p->d_offsets, p->d_columns, p->d_values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              p->type));
  SPARSE_OK(cusparseCreateDnMat(&k->b, COLS, N, N, p->d_b, p->type, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseCreateDnMat(&k->c, ROWS, N, N, p->d_c, p->type, CUSPARSE_ORDER_ROW));
  SPARSE_OK(cusparseSpMM_bufferSize(k->handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                    CUSPARSE_OPERATION_NON_TRANSPOSE, &one, k->a, k->b, &zero, k->c,
                                    CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  CUDA_OK(cudaMalloc(&p->workspace, bytes ? bytes : 1));
}

static void make_call(struct problem *p, struct call *k)
{
  float one = 1, zero = 0;
  SPARSE_OK(cusparseSpMM(k->handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                         CUSPARSE_OPERATION_NON_TRANSPOSE, &one, k->a, k->b, &zero, k->c,
                         CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, p->workspace));
}

static cudaGraphExec_t capture(struct problem *p, struct call *k, cudaStream_t s)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  make_call(p, k);
  CUDA_OK(cudaStreamEndCapture(s, &graph));
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaGraphDestroy(graph));
  return exec;
}

static void test(cudaDataType type, double density, int group)
{
  struct problem p = {.type = type, .density = density, .group = group};
  struct call k;
  cudaStream_t s;
  size_t e = type_size(type);
  int64_t wrong = 0;
  make_pattern(&p);
  p.values = take((size_t)p.nnz * e);
  p.b = take(COLS * N * e);
  p.c = take(ROWS * N * e);
  CUDA_OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA_OK(cudaMalloc((void **)&p.d_offsets, (ROWS + 1) * 4));
  CUDA_OK(cudaMalloc((void **)&p.d_columns, (size_t)p.nnz * 4));
  CUDA_OK(cudaMalloc(&p.d_values, (size_t)p.nnz * e));
  CUDA_OK(cudaMalloc(&p.d_b, COLS * N * e));
  CUDA_OK(cudaMalloc(&p.d_c, ROWS * N * e));
  CUDA_OK(cudaMemcpy(p.d_offsets, p.offsets, (ROWS + 1) * 4, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpy(p.d_columns, p.columns, (size_t)p.nnz * 4, cudaMemcpyHostToDevice));
  /* A copy from pageable memory may return before it has arrived; our streams wait for none. */
  CUDA_OK(cudaDeviceSynchronize());
  SPARSE_OK(cusparseCreate(&k.handle));
  SPARSE_OK(cusparseSetStream(k.handle, s));
  prepare_call(&p, &k);
  new_numbers(&p, 100);
  upload_numbers(&p, s);
  cudaGraphExec_t cold = capture(&p, &k, s), warm;
  for (int i = 0; i < 4; i++) make_call(&p, &k);
  CUDA_OK(cudaStreamSynchronize(s));
  warm = capture(&p, &k, s);
  for (int i = 0; i < 6; i++) {
    new_numbers(&p, 200 + (uint64_t)(i / 2)); /* every content is seen by both graphs */
    upload_numbers(&p, s);
    CUDA_OK(cudaGraphLaunch(i & 1 ? warm : cold, s));
    wrong += count_wrong(&p, s);
  }
  check(wrong == 0, "graphs captured cold and warm, %s, density %g, group %d: %lld wrong",
        type_text(type), density, group, (long long)wrong);
  CUDA_OK(cudaGraphExecDestroy(cold));
  CUDA_OK(cudaGraphExecDestroy(warm));
  SPARSE_OK(cusparseDestroySpMat(k.a));
  SPARSE_OK(cusparseDestroyDnMat(k.b));
  SPARSE_OK(cusparseDestroyDnMat(k.c));
  SPARSE_OK(cusparseDestroy(k.handle));
  CUDA_OK(cudaStreamDestroy(s));
  void *device[] = {p.d_offsets, p.d_columns, p.d_values, p.d_b, p.d_c, p.workspace};
  for (int i = 0; i < 6; i++) CUDA_OK(cudaFree(device[i]));
  free(p.offsets);
  free(p.columns);
  free(p.values);
  free(p.b);
  free(p.c);
}

int main(void)
{
  static const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F};
  for (int t = 0; t < 3; t++) {
    test(types[t], 0.1, 1);
    test(types[t], 0.1, 8);
    test(types[t], 0.6, 1);
  }
  return finish();
}
