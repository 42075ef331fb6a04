/* petsc_loop.c: a smoother's loop of cuSPARSE alone, laid out as PETSc's.  It knows nothing of
   Shunt.

     petsc_loop FILE|mesh:SIDExUNKNOWNS [-n COLUMNS] [-t f32|f64] [-i ITERATIONS]
                [--alg 0|1|2|3] [--preprocess]

   The second-order Jacobi iteration on the homogeneous problem: with A = |W| scaled to row
   sums of 1 (W random on the pattern of the file, or of a 27-point mesh),

     X[k+1] = 0.75 A X[k] + 0.25 X[k-1]

   X[k+1] takes X[k-1]'s place, so that a step is one cusparseSpMM with beta != 0 and nothing
   else, and the values stay within the first ones' for ever.  As in PETSc, CSR is of 32-bit
   indices, the dense matrices are column-major, descriptors and workspace are made once, and
   the scalars are the host's.  --preprocess: cusparseSpMM_preprocess once before the loop;
   --alg: CUSPARSE_SPMM_ALG_DEFAULT (0) or CSR_ALG1 to 3.

   After the loop one more step, from new random X (the smoothed ones are too even to tell one
   column of A from another), is checked against float64 on a sample of rows.  The last line but
   one is for programs:
     result us=PER_STEP first_us=FIRST ms=PER_STEP checksum=.. change=.. rows=.. nnz=.. n=.. ..
   change: the root mean square of X[k] - X[k-1] at the end of the loop, which the smoother drives
   to zero; checksum: that of X[k].  */
#include "common.h"
#include "matrix_file.h"

enum { WARM = 10 };

static const double ALPHA = 0.75, BETA = 0.25;

struct options {
  const char *file;
  int64_t n;
  cudaDataType type;
  int iterations, algorithm, preprocess;
};

/* What the loop needs, made once.  x[0] holds X[k], x[1] holds X[k-1] and then X[k+1]. */
struct loop {
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  cusparseDnMatDescr_t x[2];
  int32_t *d_offsets, *d_columns;
  void *d_values, *d_x[2], *workspace;
  cusparseSpMMAlg_t algorithm;
  cudaDataType type;
};

static void usage(void)
{
  fprintf(stderr, "usage: petsc_loop FILE|mesh:SIDExUNKNOWNS [-n COLUMNS] [-t f32|f64] "
                  "[-i ITERATIONS] [--alg 0|1|2|3] [--preprocess]\n");
  exit(2);
}

static void parse(int argc, char **argv, struct options *o)
{
  *o = (struct options){NULL, 8, CUDA_R_64F, 500, 0, 0};
  for (int i = 1; i < argc; i++) {
    const char *next = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(argv[i], "--preprocess"))
      o->preprocess = 1;
    else if (!strcmp(argv[i], "-n") && next)
      o->n = atoll(argv[++i]);
    else if (!strcmp(argv[i], "-i") && next)
      o->iterations = atoi(argv[++i]);
    else if (!strcmp(argv[i], "--alg") && next)
      o->algorithm = atoi(argv[++i]);
    else if (!strcmp(argv[i], "-t") && next && (!strcmp(next, "f32") || !strcmp(next, "f64")))
      o->type = strcmp(argv[++i], "f32") ? CUDA_R_64F : CUDA_R_32F;
    else if (argv[i][0] != '-' && !o->file)
      o->file = argv[i];
    else
      usage();
  }
  if (!o->file || o->n < 1 || o->iterations < 1 || o->algorithm < 0 || o->algorithm > 3) usage();
}

static void get_pattern(const char *name, struct matrix *a)
{
  int side, unknowns, end = 0;
  if (strncmp(name, "mesh:", 5)) {
    read_matrix(name, a);
    if (a->rows != a->cols) fail(name, "not square");
  } else if (sscanf(name + 5, "%dx%d%n", &side, &unknowns, &end) == 2 && !name[5 + end])
    make_mesh(side, unknowns, a);
  else
    usage();
}

/* |W| with row sums of 1. */
static void *row_scaled_values(const struct matrix *a, cudaDataType t)
{
  uint64_t seed = 1;
  void *values = allocate((size_t)a->nnz * type_size(t));
  for (int64_t i = 0; i < a->rows; i++) {
    uint64_t again = seed;
    double sum = 0;
    for (int64_t p = a->offsets[i]; p < a->offsets[i + 1]; p++) sum += 0.5 + random_uniform(&seed);
    for (int64_t p = a->offsets[i]; p < a->offsets[i + 1]; p++)
      type_store(values, p, t, (0.5 + random_uniform(&again)) / sum);
  }
  return values;
}

static void *random_block(int64_t count, cudaDataType t, uint64_t seed)
{
  void *p = allocate((size_t)count * type_size(t));
  for (int64_t i = 0; i < count; i++) type_store(p, i, t, 2 * random_uniform(&seed) - 1);
  return p;
}

/* X[k-1] = ALPHA A X[k] + BETA X[k-1]; `what` is the SpMM, or its preparation. */
static cusparseStatus_t with_scalars(struct loop *l,
                                     cusparseStatus_t (*what)(struct loop *, const void *,
                                                              const void *, cudaDataType))
{
  float alpha = (float)ALPHA, beta = (float)BETA;
  if (l->type == CUDA_R_64F) return what(l, &ALPHA, &BETA, CUDA_R_64F);
  return what(l, &alpha, &beta, CUDA_R_32F);
}

static cusparseStatus_t make_workspace(struct loop *l, const void *alpha, const void *beta,
                                       cudaDataType compute)
{
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  size_t bytes = 0;
  cusparseStatus_t s = cusparseSpMM_bufferSize(l->handle, plain, plain, alpha, l->a, l->x[0], beta,
                                               l->x[1], compute, l->algorithm, &bytes);
  if (s == CUSPARSE_STATUS_SUCCESS) CUDA_OK(cudaMalloc(&l->workspace, bytes ? bytes : 1));
  return s;
}

static cusparseStatus_t preprocess(struct loop *l, const void *alpha, const void *beta,
                                   cudaDataType compute)
{
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  return cusparseSpMM_preprocess(l->handle, plain, plain, alpha, l->a, l->x[0], beta, l->x[1],
                                 compute, l->algorithm, l->workspace);
}

static cusparseStatus_t multiply(struct loop *l, const void *alpha, const void *beta,
                                 cudaDataType compute)
{
  cusparseOperation_t plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
  return cusparseSpMM(l->handle, plain, plain, alpha, l->a, l->x[0], beta, l->x[1], compute,
                      l->algorithm, l->workspace);
}

/* One step; afterwards x[0] is the newest again. */
static void step(struct loop *l)
{
  SPARSE_OK(with_scalars(l, multiply));
  cusparseDnMatDescr_t x = l->x[0];
  void *d_x = l->d_x[0];
  l->x[0] = l->x[1];
  l->d_x[0] = l->d_x[1];
  l->x[1] = x;
  l->d_x[1] = d_x;
}

static void open_loop(struct loop *l, const struct matrix *a, const void *values,
                      const struct options *o)
{
  static const cusparseSpMMAlg_t algorithms[] = {CUSPARSE_SPMM_ALG_DEFAULT, CUSPARSE_SPMM_CSR_ALG1,
                                                 CUSPARSE_SPMM_CSR_ALG2, CUSPARSE_SPMM_CSR_ALG3};
  int32_t *offsets = allocate(((size_t)a->rows + 1) * 4);
  for (int64_t i = 0; i <= a->rows; i++) offsets[i] = (int32_t)a->offsets[i];
  l->type = o->type;
  l->algorithm = algorithms[o->algorithm];
  l->d_offsets = to_device(offsets, ((size_t)a->rows + 1) * 4);
  l->d_columns = to_device(a->columns, (size_t)a->nnz * 4);
  l->d_values = to_device(values, (size_t)a->nnz * type_size(o->type));
  SPARSE_OK(cusparseCreate(&l->handle));
  SPARSE_OK(cusparseCreateCsr(&l->a, a->rows, a->cols, a->nnz, l->d_offsets, l->d_columns,
                              l->d_values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, o->type));
  for (int i = 0; i < 2; i++) {
    void *x = random_block(a->rows * o->n, o->type, 2 + (uint64_t)i);
    l->d_x[i] = to_device(x, (size_t)(a->rows * o->n) * type_size(o->type));
    SPARSE_OK(cusparseCreateDnMat(&l->x[i], a->rows, o->n, a->rows, l->d_x[i], o->type,
                                  CUSPARSE_ORDER_COL));
    free(x);
  }
  SPARSE_OK(with_scalars(l, make_workspace));
  free(offsets);
}

static void close_loop(struct loop *l)
{
  SPARSE_OK(cusparseDestroySpMat(l->a));
  for (int i = 0; i < 2; i++) {
    SPARSE_OK(cusparseDestroyDnMat(l->x[i]));
    CUDA_OK(cudaFree(l->d_x[i]));
  }
  SPARSE_OK(cusparseDestroy(l->handle));
  CUDA_OK(cudaFree(l->d_offsets));
  CUDA_OK(cudaFree(l->d_columns));
  CUDA_OK(cudaFree(l->d_values));
  CUDA_OK(cudaFree(l->workspace));
}

struct times {
  double first_us, us;
};

/* The first step, some to settle, and the time of all others together. */
static struct times measure(struct loop *l, const struct options *o)
{
  struct times t;
  cudaEvent_t event[4];
  float first, ms;
  for (int i = 0; i < 4; i++) CUDA_OK(cudaEventCreate(&event[i]));
  CUDA_OK(cudaEventRecord(event[0], 0));
  if (o->preprocess) SPARSE_OK(with_scalars(l, preprocess));
  step(l);
  CUDA_OK(cudaEventRecord(event[1], 0));
  for (int i = 0; i < WARM; i++) {
    step(l);
    CUDA_OK(cudaDeviceSynchronize());
  }
  CUDA_OK(cudaEventRecord(event[2], 0));
  for (int i = 0; i < o->iterations; i++) step(l);
  CUDA_OK(cudaEventRecord(event[3], 0));
  CUDA_OK(cudaEventSynchronize(event[3]));
  CUDA_OK(cudaEventElapsedTime(&first, event[0], event[1]));
  CUDA_OK(cudaEventElapsedTime(&ms, event[2], event[3]));
  t.first_us = first * 1000;
  t.us = ms * 1000 / o->iterations;
  for (int i = 0; i < 4; i++) CUDA_OK(cudaEventDestroy(event[i]));
  return t;
}

/* Host copies: X[k], X[k-1], and X[k+1]. */
struct copies {
  void *now, *before, *after;
  size_t bytes;
};

static void copy_blocks(const struct loop *l, struct copies *c)
{
  CUDA_OK(cudaMemcpy(c->now, l->d_x[0], c->bytes, cudaMemcpyDeviceToHost));
  CUDA_OK(cudaMemcpy(c->before, l->d_x[1], c->bytes, cudaMemcpyDeviceToHost));
}

/* Random blocks in place of both, and one step. */
static void step_from_random(struct loop *l, int64_t count, struct copies *c)
{
  for (int i = 0; i < 2; i++) {
    void *x = random_block(count, l->type, 12 + (uint64_t)i);
    CUDA_OK(cudaMemcpy(l->d_x[i], x, c->bytes, cudaMemcpyHostToDevice));
    free(x);
  }
  copy_blocks(l, c);
  step(l);
  CUDA_OK(cudaMemcpy(c->after, l->d_x[0], c->bytes, cudaMemcpyDeviceToHost));
}

/* Some rows of a step, all columns, in float64. */
static int64_t count_wrong(const struct matrix *a, const void *values, const struct options *o,
                           const struct copies *c, double *worst)
{
  int64_t wrong = 0, stride = a->rows / 64 + 1;
  *worst = 0;
  for (int64_t i = 0; i < a->rows; i += stride)
    for (int64_t j = 0; j < o->n; j++) {
      double old = BETA * type_load(c->before, j * a->rows + i, o->type);
      double sum = old, scale = fabs(old);
      for (int64_t p = a->offsets[i]; p < a->offsets[i + 1]; p++) {
        double v = ALPHA * type_load(values, p, o->type) *
                   type_load(c->now, j * a->rows + a->columns[p], o->type);
        sum += v;
        scale += fabs(v);
      }
      double terms = (double)(a->offsets[i + 1] - a->offsets[i] + 1);
      double limit = type_tolerance(o->type, o->type, scale, sum, terms);
      double error = fabs(type_load(c->after, j * a->rows + i, o->type) - sum);
      if (!(error <= 8 * limit)) wrong++;
      if (limit > 0 && error / limit > *worst) *worst = error / limit;
    }
  return wrong;
}

static void check_step(struct loop *l, const struct matrix *a, const void *values,
                       const struct options *o, struct copies *c)
{
  double worst;
  step_from_random(l, a->rows * o->n, c);
  int64_t wrong = count_wrong(a, values, o, c, &worst);
  check(wrong == 0,
        "A %lld x %lld, %lld nonzeros, %lld columns, %s, algorithm %d%s: %lld of the sampled "
        "results wrong, largest error %.2f of one rounding",
        (long long)a->rows, (long long)a->cols, (long long)a->nnz, (long long)o->n,
        type_text(o->type), o->algorithm, o->preprocess ? ", preprocess" : "", (long long)wrong,
        worst);
}

static double root_mean_square(const void *x, const void *minus, int64_t count, cudaDataType t)
{
  double sum = 0;
  for (int64_t i = 0; i < count; i++) {
    double v = type_load(x, i, t) - (minus ? type_load(minus, i, t) : 0);
    sum += v * v;
  }
  return count ? sqrt(sum / (double)count) : 0;
}

int main(int argc, char **argv)
{
  struct options o;
  struct matrix a;
  struct loop l = {0};
  struct copies c;
  client_name = "petsc_loop";
  parse(argc, argv, &o);
  get_pattern(o.file, &a);
  void *values = row_scaled_values(&a, o.type);
  int64_t count = a.rows * o.n;
  c.bytes = (size_t)count * type_size(o.type);
  c.now = allocate(c.bytes);
  c.before = allocate(c.bytes);
  c.after = allocate(c.bytes);
  open_loop(&l, &a, values, &o);
  struct times t = measure(&l, &o);
  copy_blocks(&l, &c);
  double checksum = root_mean_square(c.now, NULL, count, o.type);
  double change = root_mean_square(c.now, c.before, count, o.type);
  check(isfinite(checksum) && checksum <= 1 && change <= checksum,
        "the smoother has smoothed: root mean square %.9e, of the last change %.3e", checksum,
        change);
  check_step(&l, &a, values, &o, &c);
  printf("result us=%.3f first_us=%.3f ms=%.6f checksum=%.9e change=%.3e rows=%lld nnz=%lld "
         "n=%lld type=%s alg=%d preprocess=%d iterations=%d\n",
         t.us, t.first_us, t.us / 1000, checksum, change, (long long)a.rows, (long long)a.nnz,
         (long long)o.n, type_text(o.type), o.algorithm, o.preprocess, o.iterations);
  close_loop(&l);
  free(c.now);
  free(c.before);
  free(c.after);
  free(values);
  free(a.offsets);
  free(a.columns);
  return finish();
}
