/* short_program.c: an ordinary cuSPARSE program that ends after a few products.  It knows nothing
   of Shunt.

     short_program CALLS [-t f16|bf16|f32|f64] [-s SIZE] [-n COLUMNS] [-d DENSITY] [--sddmm]
                   [--graph REPLAYS] [--each]

   Makes a random SIZE x SIZE pattern, and multiplies it CALLS times as PyTorch does: descriptors and
   bufferSize anew for each product, all by default.  --graph: behind these products one more is
   captured, and replayed.  --each: waits for each product and prints what it took.

   A sample of the last result is checked against float64.  The last line but one is for programs:
     result ms=PRODUCTS program_ms=FROM_MAIN_TO_THE_END setup_ms=..
   ms begins behind the first handle's making, with the device warm, and ends when the last product
   has; the process' own beginning and end are for who starts it to time.  */
#include <time.h>

#include "tests/clients/common.h"

struct options {
  int calls, replays, sddmm, each;
  int64_t size, n;
  double density;
  cudaDataType type;
};

/* S: the sparse matrix; SpMM is Y = S X, SDDMM S = (Y X) at S's pattern, X of SIZE columns. */
struct program {
  struct options o;
  int64_t nnz;
  int32_t *offsets, *columns;
  void *s, *x, *y; /* host */
  int32_t *d_offsets, *d_columns;
  void *d_s, *d_x, *d_y, *workspace;
  size_t workspace_bytes;
  cusparseHandle_t handle;
  cudaStream_t stream;
};

static double now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void *take(size_t bytes)
{
  void *p = malloc(bytes ? bytes : 1);
  if (!p) exit(2);
  return p;
}

static void make_pattern(struct program *p)
{
  uint64_t seed = 3;
  const int64_t size = p->o.size;
  p->offsets = take(((size_t)size + 1) * 4);
  p->columns = take((size_t)((double)size * (double)size * (p->o.density * 1.2 + 0.01)) * 4);
  p->offsets[0] = 0;
  for (int64_t i = 0; i < size; i++) {
    for (int64_t j = 0; j < size; j++)
      if (random_uniform(&seed) < p->o.density) p->columns[p->nnz++] = (int32_t)j;
    p->offsets[i + 1] = (int32_t)p->nnz;
  }
}

static void *random_numbers(int64_t n, cudaDataType t, uint64_t seed)
{
  void *v = take((size_t)n * type_size(t));
  for (int64_t i = 0; i < n; i++) type_store(v, i, t, 2 * random_uniform(&seed) - 1);
  return v;
}

static void set_up(struct program *p)
{
  const size_t e = type_size(p->o.type), dense = (size_t)(p->o.size * p->o.n) * e;
  make_pattern(p);
  p->s = random_numbers(p->nnz, p->o.type, 1);
  p->x = random_numbers(p->o.size * p->o.n, p->o.type, 2);
  p->y = random_numbers(p->o.size * p->o.n, p->o.type, 3);
  CUDA_OK(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
  p->d_offsets = to_device(p->offsets, ((size_t)p->o.size + 1) * 4);
  p->d_columns = to_device(p->columns, (size_t)p->nnz * 4);
  p->d_s = to_device(p->s, (size_t)p->nnz * e);
  p->d_x = to_device(p->x, dense);
  p->d_y = to_device(p->y, dense);
  CUDA_OK(cudaDeviceSynchronize());
  SPARSE_OK(cusparseCreate(&p->handle));
  SPARSE_OK(cusparseSetStream(p->handle, p->stream));
}

static void need_workspace(struct program *p, size_t bytes)
{
  if (bytes <= p->workspace_bytes) return;
  CUDA_OK(cudaFree(p->workspace));
  CUDA_OK(cudaMalloc(&p->workspace, bytes));
  p->workspace_bytes = bytes;
}

/* X is of SIZE rows for SpMM, and of SIZE columns for SDDMM. */
static void multiply(struct program *p)
{
  const struct options *o = &p->o;
  const float one32 = 1, zero32 = 0;
  const double one64 = 1, zero64 = 0;
  const int wide = o->type == CUDA_R_64F;
  const void *one = wide ? (const void *)&one64 : &one32;
  const void *zero = wide ? (const void *)&zero64 : &zero32;
  const cudaDataType compute = wide ? CUDA_R_64F : CUDA_R_32F;
  const cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  const cusparseOrder_t rows = CUSPARSE_ORDER_ROW;
  cusparseSpMatDescr_t s;
  cusparseDnMatDescr_t x, y;
  size_t bytes;
  SPARSE_OK(cusparseCreateCsr(&s, o->size, o->size, p->nnz, p->d_offsets, p->d_columns, p->d_s,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              o->type));
  SPARSE_OK(cusparseCreateDnMat(&x, o->sddmm ? o->n : o->size, o->sddmm ? o->size : o->n,
                                o->sddmm ? o->size : o->n, p->d_x, o->type, rows));
  SPARSE_OK(cusparseCreateDnMat(&y, o->size, o->n, o->n, p->d_y, o->type, rows));
  if (o->sddmm) {
    const cusparseSDDMMAlg_t how = CUSPARSE_SDDMM_ALG_DEFAULT;
    SPARSE_OK(cusparseSDDMM_bufferSize(p->handle, plain, plain, one, y, x, zero, s, compute, how,
                                       &bytes));
    need_workspace(p, bytes);
    SPARSE_OK(
        cusparseSDDMM(p->handle, plain, plain, one, y, x, zero, s, compute, how, p->workspace));
  } else {
    const cusparseSpMMAlg_t how = CUSPARSE_SPMM_ALG_DEFAULT;
    SPARSE_OK(
        cusparseSpMM_bufferSize(p->handle, plain, plain, one, s, x, zero, y, compute, how, &bytes));
    need_workspace(p, bytes);
    SPARSE_OK(
        cusparseSpMM(p->handle, plain, plain, one, s, x, zero, y, compute, how, p->workspace));
  }
  SPARSE_OK(cusparseDestroySpMat(s));
  SPARSE_OK(cusparseDestroyDnMat(x));
  SPARSE_OK(cusparseDestroyDnMat(y));
}

static void replay(struct program *p)
{
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CUDA_OK(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeGlobal));
  multiply(p);
  CUDA_OK(cudaStreamEndCapture(p->stream, &graph));
  CUDA_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < p->o.replays; i++) CUDA_OK(cudaGraphLaunch(exec, p->stream));
  CUDA_OK(cudaStreamSynchronize(p->stream));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
}

static void run(struct program *p)
{
  for (int i = 0; i < p->o.calls; i++) {
    const double begin = now_ms();
    multiply(p);
    if (!p->o.each) continue;
    CUDA_OK(cudaStreamSynchronize(p->stream));
    printf("call %d us=%.1f\n", i + 1, (now_ms() - begin) * 1e3);
  }
  CUDA_OK(cudaStreamSynchronize(p->stream));
  if (p->o.replays > 0) replay(p);
}

/* ---- checking ------------------------------------------------------------------------- */

/* sum of a[i * step_a] b[i * step_b], in float64, of k terms or of the columns listed. */
static double dot(const struct program *p, int64_t i, int64_t j, double *scale)
{
  const cudaDataType t = p->o.type;
  const int64_t n = p->o.n, size = p->o.size;
  const int64_t begin = p->o.sddmm ? 0 : p->offsets[i], end = p->o.sddmm ? n : p->offsets[i + 1];
  double sum = 0;
  *scale = 0;
  for (int64_t q = begin; q < end; q++) {
    const double v = p->o.sddmm ? type_load(p->y, i * n + q, t) * type_load(p->x, q * size + j, t)
                                : type_load(p->s, q, t) * type_load(p->x, p->columns[q] * n + j, t);
    sum += v;
    *scale += fabs(v);
  }
  return sum;
}

static int64_t count_wrong(struct program *p)
{
  const cudaDataType t = p->o.type, compute = t == CUDA_R_64F ? t : CUDA_R_32F;
  const int64_t n = p->o.n, size = p->o.size, step = size / 16 + 1;
  const int64_t elements = p->o.sddmm ? p->nnz : size * n;
  void *got = take((size_t)elements * type_size(t));
  int64_t wrong = 0;
  CUDA_OK(cudaMemcpy(got, p->o.sddmm ? p->d_s : p->d_y, (size_t)elements * type_size(t),
                     cudaMemcpyDeviceToHost));
  for (int64_t i = 0; i < size; i += step) {
    const int64_t begin = p->o.sddmm ? p->offsets[i] : i * n;
    const int64_t end = p->o.sddmm ? p->offsets[i + 1] : (i + 1) * n;
    for (int64_t q = begin; q < end; q += 5) {
      double scale;
      const double sum = dot(p, i, p->o.sddmm ? p->columns[q] : q - begin, &scale);
      const double limit = type_tolerance(t, compute, scale, sum, (double)size);
      if (!(fabs(type_load(got, q, t) - sum) <= 8 * limit + type_rough(t) * scale)) wrong++;
    }
  }
  free(got);
  return wrong;
}

/* ---- the program ------------------------------------------------------------------------ */

static void usage(void)
{
  fprintf(stderr, "usage: short_program CALLS [-t f16|bf16|f32|f64] [-s SIZE] [-n COLUMNS] "
                  "[-d DENSITY] [--sddmm] [--graph REPLAYS] [--each]\n");
  exit(2);
}

static cudaDataType type_named(const char *name)
{
  static const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F};
  for (int k = 0; k < 4; k++)
    if (!strcmp(name, type_text(types[k]))) return types[k];
  usage();
  return CUDA_R_32F;
}

static void parse(int argc, char **argv, struct options *o)
{
  *o = (struct options){.size = 4096, .n = 256, .density = 0.1, .type = CUDA_R_16F};
  for (int i = 1; i < argc; i++) {
    const char *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(argv[i], "--sddmm"))
      o->sddmm = 1;
    else if (!strcmp(argv[i], "--each"))
      o->each = 1;
    else if (argv[i][0] != '-')
      o->calls = atoi(argv[i]);
    else if (!next)
      usage();
    else if (!strcmp(argv[i], "-t"))
      o->type = type_named(argv[++i]);
    else if (!strcmp(argv[i], "-s"))
      o->size = atoll(argv[++i]);
    else if (!strcmp(argv[i], "-n"))
      o->n = atoll(argv[++i]);
    else if (!strcmp(argv[i], "-d"))
      o->density = atof(argv[++i]);
    else if (!strcmp(argv[i], "--graph"))
      o->replays = atoi(argv[++i]);
    else
      usage();
  }
  if (o->calls < 1 || o->size < 1 || o->size > 1 << 15 || o->n < 1 || o->density <= 0) usage();
}

static void clean_up(struct program *p)
{
  SPARSE_OK(cusparseDestroy(p->handle));
  void *const device[] = {p->d_offsets, p->d_columns, p->d_s, p->d_x, p->d_y, p->workspace};
  for (int i = 0; i < 6; i++) CUDA_OK(cudaFree(device[i]));
  CUDA_OK(cudaStreamDestroy(p->stream));
  void *const host[] = {p->offsets, p->columns, p->s, p->x, p->y};
  for (int i = 0; i < 5; i++) free(host[i]);
}

int main(int argc, char **argv)
{
  const double start = now_ms();
  static struct program p;
  parse(argc, argv, &p.o);
  set_up(&p);
  const double begin = now_ms();
  run(&p);
  const double end = now_ms();
  const int64_t wrong = count_wrong(&p);
  check(wrong == 0, "%d products of %lld x %lld, %lld nonzeros, %s: %lld of the sample wrong",
        p.o.calls, (long long)p.o.size, (long long)p.o.size, (long long)p.nnz, type_text(p.o.type),
        (long long)wrong);
  clean_up(&p);
  printf("result ms=%.3f program_ms=%.3f setup_ms=%.3f\n", end - begin, now_ms() - start,
         begin - start);
  return finish();
}
