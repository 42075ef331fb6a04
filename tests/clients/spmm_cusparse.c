/* spmm_cusparse.c: an ordinary cuSPARSE program.  It knows nothing of Shunt.

     spmm_cusparse FILE [-n COLUMNS] [-t f16|bf16|f32|f64] [-r REPEATS] [--col-major]

   Reads a sparse matrix A, multiplies it by a random dense B with cusparseSpMM
   as PyTorch does (fresh descriptors and the default algorithm each time), checks
   a sample of the result against float64 and prints the time of a call.

   FILE is as in matrix_file.h.

   The last line but one is for programs:
     result us=MEDIAN first_us=FIRST total_ms=TOTAL rows=.. cols=.. nnz=.. n=.. type=..  */
#include "common.h"
#include "matrix_file.h"

struct options {
  const char *file;
  int64_t n;
  cudaDataType type;
  int repeats, col_major;
};

/* ---- multiplying ---------------------------------------------------------- */
struct device {
  int32_t *offsets, *columns;
  void *values, *b, *c, *workspace;
  size_t workspace_bytes;
};

static void *random_numbers(int64_t n, cudaDataType t, uint64_t seed)
{
  void *p = allocate((size_t)n * type_size(t));
  for (int64_t i = 0; i < n; i++) type_store(p, i, t, 2 * random_uniform(&seed) - 1);
  return p;
}

/* C = A B, the way a framework does it. */
static void multiply(cusparseHandle_t handle, const struct matrix *a, const struct options *o,
                     struct device *d)
{
  float one = 1, zero = 0;
  double one64 = 1, zero64 = 0;
  int wide = o->type == CUDA_R_64F;
  const void *alpha = wide ? (const void *)&one64 : &one;
  const void *beta = wide ? (const void *)&zero64 : &zero;
  cudaDataType compute = wide ? CUDA_R_64F : CUDA_R_32F;
  cusparseOrder_t order = o->col_major ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW;
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  cusparseSpMatDescr_t ma;
  cusparseDnMatDescr_t mb, mc;
  size_t bytes;
  SPARSE_OK(cusparseCreateCsr(&ma, a->rows, a->cols, a->nnz, d->offsets, d->columns, d->values,
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                              o->type));
  SPARSE_OK(
      cusparseCreateDnMat(&mb, a->cols, o->n, o->col_major ? a->cols : o->n, d->b, o->type, order));
  SPARSE_OK(
      cusparseCreateDnMat(&mc, a->rows, o->n, o->col_major ? a->rows : o->n, d->c, o->type, order));
  SPARSE_OK(cusparseSpMM_bufferSize(handle, plain, plain, alpha, ma, mb, beta, mc, compute,
                                    CUSPARSE_SPMM_ALG_DEFAULT, &bytes));
  if (bytes > d->workspace_bytes) {
    CUDA_OK(cudaFree(d->workspace));
    CUDA_OK(cudaMalloc(&d->workspace, bytes));
    d->workspace_bytes = bytes;
  }
  SPARSE_OK(cusparseSpMM(handle, plain, plain, alpha, ma, mb, beta, mc, compute,
                         CUSPARSE_SPMM_ALG_DEFAULT, d->workspace));
  SPARSE_OK(cusparseDestroySpMat(ma));
  SPARSE_OK(cusparseDestroyDnMat(mb));
  SPARSE_OK(cusparseDestroyDnMat(mc));
}

static int ascending(const void *a, const void *b)
{
  float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

struct times {
  double first_us, median_us, total_ms;
};

static struct times measure(cusparseHandle_t handle, const struct matrix *a,
                            const struct options *o, struct device *d)
{
  enum { WARM = 8 };
  int n = o->repeats + WARM;
  struct times t = {0, 0, 0};
  cudaEvent_t *event = allocate(((size_t)n + 1) * sizeof *event);
  float *us = allocate((size_t)n * sizeof *us), ms;
  for (int i = 0; i <= n; i++) CUDA_OK(cudaEventCreate(&event[i]));
  CUDA_OK(cudaEventRecord(event[0], 0));
  for (int i = 0; i < n; i++) {
    multiply(handle, a, o, d);
    CUDA_OK(cudaEventRecord(event[i + 1], 0));
    if (i < WARM) CUDA_OK(cudaEventSynchronize(event[i + 1]));
  }
  CUDA_OK(cudaEventSynchronize(event[n]));
  for (int i = 0; i < n; i++) {
    CUDA_OK(cudaEventElapsedTime(&ms, event[i], event[i + 1]));
    us[i] = ms * 1000;
  }
  CUDA_OK(cudaEventElapsedTime(&ms, event[0], event[n]));
  t.first_us = us[0];
  t.total_ms = ms;
  qsort(us + WARM, (size_t)o->repeats, sizeof *us, ascending);
  t.median_us = us[WARM + o->repeats / 2];
  for (int i = 0; i <= n; i++) CUDA_OK(cudaEventDestroy(event[i]));
  free(event);
  free(us);
  return t;
}

/* Some rows, all their columns, in float64. */
static int64_t count_wrong(const struct matrix *a, const struct options *o, const void *values,
                           const void *b, const void *c, double *worst)
{
  int64_t wrong = 0, step = a->rows / 64 + 1;
  cudaDataType compute = o->type == CUDA_R_64F ? CUDA_R_64F : CUDA_R_32F;
  double rough = type_rough(o->type);
  *worst = 0;
  for (int64_t i = 0; i < a->rows; i += step)
    for (int64_t j = 0; j < o->n; j++) {
      double sum = 0, scale = 0;
      for (int64_t p = a->offsets[i]; p < a->offsets[i + 1]; p++) {
        int64_t l = a->columns[p];
        double v = type_load(values, p, o->type) *
                   type_load(b, o->col_major ? j * a->cols + l : l * o->n + j, o->type);
        sum += v;
        scale += fabs(v);
      }
      double got = type_load(c, o->col_major ? j * a->rows + i : i * o->n + j, o->type);
      double terms = (double)(a->offsets[i + 1] - a->offsets[i]);
      double limit = type_tolerance(o->type, compute, scale, sum, terms);
      double error = fabs(got - sum);
      if (!(error <= 8 * limit + rough * scale)) wrong++;
      if (limit > 0 && error / limit > *worst) *worst = error / limit;
    }
  return wrong;
}

static void usage(void)
{
  fprintf(stderr, "usage: spmm_cusparse FILE [-n COLUMNS] [-t f16|bf16|f32|f64] [-r REPEATS] "
                  "[--col-major]\n");
  exit(2);
}

static void parse(int argc, char **argv, struct options *o)
{
  static const cudaDataType types[] = {CUDA_R_16F, CUDA_R_16BF, CUDA_R_32F, CUDA_R_64F};
  *o = (struct options){NULL, 128, CUDA_R_16F, 100, 0};
  for (int i = 1; i < argc; i++) {
    const char *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(argv[i], "--col-major"))
      o->col_major = 1;
    else if (!strcmp(argv[i], "-n") && next)
      o->n = atoll(argv[++i]);
    else if (!strcmp(argv[i], "-r") && next)
      o->repeats = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-t") && next) {
      int k = 0;
      while (k < 4 && strcmp(next, type_text(types[k]))) k++;
      if (k == 4) usage();
      o->type = types[k];
      i++;
    } else if (argv[i][0] != '-' && !o->file)
      o->file = argv[i];
    else
      usage();
  }
  if (!o->file || o->n < 1 || o->repeats < 1) usage();
}

int main(int argc, char **argv)
{
  struct options o;
  struct matrix a;
  struct device d = {0};
  client_name = "spmm_cusparse";
  parse(argc, argv, &o);
  read_matrix(o.file, &a);
  size_t c_bytes = (size_t)(a.rows * o.n) * type_size(o.type);
  void *values = random_numbers(a.nnz, o.type, 1), *b = random_numbers(a.cols * o.n, o.type, 2);
  void *c = allocate(c_bytes);
  int32_t *offsets = allocate(((size_t)a.rows + 1) * 4);
  for (int64_t i = 0; i <= a.rows; i++) offsets[i] = (int32_t)a.offsets[i];
  d.offsets = to_device(offsets, ((size_t)a.rows + 1) * 4);
  d.columns = to_device(a.columns, (size_t)a.nnz * 4);
  d.values = to_device(values, (size_t)a.nnz * type_size(o.type));
  d.b = to_device(b, (size_t)(a.cols * o.n) * type_size(o.type));
  CUDA_OK(cudaMalloc(&d.c, c_bytes ? c_bytes : 1));
  CUDA_OK(cudaMemset(d.c, 0xff, c_bytes));

  cusparseHandle_t handle;
  SPARSE_OK(cusparseCreate(&handle));
  struct times t = measure(handle, &a, &o, &d);
  CUDA_OK(cudaMemcpy(c, d.c, c_bytes, cudaMemcpyDeviceToHost));
  SPARSE_OK(cusparseDestroy(handle));

  double worst;
  int64_t wrong = count_wrong(&a, &o, values, b, c, &worst);
  check(wrong == 0,
        "A %lld x %lld, %lld nonzeros, times B with %lld columns, %s, %s: %lld of the sampled "
        "results wrong, largest error %.2f of one rounding",
        (long long)a.rows, (long long)a.cols, (long long)a.nnz, (long long)o.n, type_text(o.type),
        o.col_major ? "column-major" : "row-major", (long long)wrong, worst);
  printf("result us=%.3f first_us=%.3f total_ms=%.3f rows=%lld cols=%lld nnz=%lld n=%lld type=%s\n",
         t.median_us, t.first_us, t.total_ms, (long long)a.rows, (long long)a.cols,
         (long long)a.nnz, (long long)o.n, type_text(o.type));
  CUDA_OK(cudaFree(d.offsets));
  CUDA_OK(cudaFree(d.columns));
  CUDA_OK(cudaFree(d.values));
  CUDA_OK(cudaFree(d.b));
  CUDA_OK(cudaFree(d.c));
  CUDA_OK(cudaFree(d.workspace));
  free(values);
  free(b);
  free(c);
  free(offsets);
  free(a.offsets);
  free(a.columns);
  return finish();
}
