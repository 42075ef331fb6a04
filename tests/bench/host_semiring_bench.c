/* host_semiring_bench.c: the host engine of the GraphBLAS face against SuiteSparse:GraphBLAS, in
   the same run, on a random matrix.

     host_semiring_bench [n [k [entries per row [repeats [threads]]]]]    20000 64 20 15 2

   SpMM: S is n x n, B and C n x k, every orientation of the three, S as stored or transposed,
   C = S B into a new C and C += S B into a full C.  SDDMM: C<M> = U V' with M's pattern.
   Milliseconds are the least of the repeats; each repeat runs both, one after the other.
   GraphBLAS' SDDMM takes a minute in most orientations, so its time stands only where U and V
   are held the way it likes.  Build: cc -O2 -fopenmp -I. ... -lgraphblas -lm  */
#include <GraphBLAS.h>
#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/shunt_host_kernels.h"

#define TRY(call)                                                                                  \
  do {                                                                                             \
    if ((call) != GrB_SUCCESS) {                                                                   \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #call);                                   \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static int64_t n = 20000, k = 64, per_row = 20;
static int repeats = 15, threads = 2;

static void *allocate(size_t bytes)
{
  void *p = malloc(bytes);
  if (!p) exit(1);
  return p;
}

static uint64_t state = 88172645463325252u;
static uint64_t random_bits(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* ---- operands, in both orientations ------------------------------------------------------- */
struct data {
  shunt_type type;
  GrB_Type grb;
  int64_t nnz;
  int64_t *offsets[2], *indices[2]; /* [0] by row, [1] by column */
  void *values[2];
  void *b[2];
  GrB_Matrix grb_s[2], grb_b[2];
};

static void put(shunt_type t, void *array, int64_t i, double x)
{
  if (t == SHUNT_F32)
    ((float *)array)[i] = (float)x;
  else
    ((double *)array)[i] = x;
}

static double get(shunt_type t, const void *array, int64_t i)
{
  return t == SHUNT_F32 ? (double)((const float *)array)[i] : ((const double *)array)[i];
}

static int ascending(const void *x, const void *y)
{
  const int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
  return (a > b) - (a < b);
}

static void random_rows(struct data *d)
{
  int64_t *offsets = allocate((size_t)(n + 1) * sizeof *offsets);
  int64_t *indices = allocate((size_t)(n * per_row) * sizeof *indices);
  d->nnz = 0;
  for (int64_t i = 0; i < n; i++) {
    offsets[i] = d->nnz;
    int64_t *row = indices + d->nnz, kept = 0;
    for (int64_t e = 0; e < per_row; e++)
      row[e] = (int64_t)(random_bits() % (uint64_t)n);
    qsort(row, (size_t)per_row, sizeof *row, ascending);
    for (int64_t e = 0; e < per_row; e++)
      if (kept == 0 || row[kept - 1] != row[e]) row[kept++] = row[e];
    d->nnz += kept;
  }
  offsets[n] = d->nnz;
  d->offsets[0] = offsets;
  d->indices[0] = indices;
  d->values[0] = allocate((size_t)d->nnz * 8);
  for (int64_t q = 0; q < d->nnz; q++)
    put(d->type, d->values[0], q, (double)(random_bits() >> 11) * 0x1p-53);
}

static void by_column(struct data *d)
{
  int64_t *offsets = calloc((size_t)n + 2, sizeof *offsets);
  d->indices[1] = allocate((size_t)d->nnz * sizeof(int64_t));
  d->values[1] = allocate((size_t)d->nnz * 8);
  for (int64_t q = 0; q < d->nnz; q++)
    offsets[d->indices[0][q] + 2]++;
  for (int64_t j = 0; j <= n; j++)
    offsets[j + 1] += offsets[j];
  for (int64_t i = 0; i < n; i++)
    for (int64_t q = d->offsets[0][i]; q < d->offsets[0][i + 1]; q++) {
      const int64_t to = offsets[d->indices[0][q] + 1]++;
      d->indices[1][to] = i;
      put(d->type, d->values[1], to, get(d->type, d->values[0], q));
    }
  d->offsets[1] = offsets;
}

static GrB_Matrix full_matrix(GrB_Type type, shunt_type t, const void *values, int64_t rows,
                              int64_t cols, bool column)
{
  GrB_Matrix m;
  const size_t bytes = (size_t)(rows * cols) * shunt_type_size(t);
  void *copy = memcpy(allocate(bytes), values, bytes);
  TRY(GrB_Matrix_new(&m, type, (GrB_Index)rows, (GrB_Index)cols));
  if (column)
    TRY(GxB_Matrix_pack_FullC(m, &copy, bytes, false, NULL));
  else
    TRY(GxB_Matrix_pack_FullR(m, &copy, bytes, false, NULL));
  return m;
}

static GrB_Matrix sparse_matrix(const struct data *d, int column)
{
  GrB_Matrix m;
  const size_t p = (size_t)(n + 1) * 8, i = (size_t)d->nnz * 8,
               x = (size_t)d->nnz * shunt_type_size(d->type);
  GrB_Index *offsets = memcpy(allocate(p), d->offsets[column], p);
  GrB_Index *indices = memcpy(allocate(i), d->indices[column], i);
  void *values = memcpy(allocate(x), d->values[column], x);
  TRY(GrB_Matrix_new(&m, d->grb, (GrB_Index)n, (GrB_Index)n));
  if (column)
    TRY(GxB_Matrix_pack_CSC(m, &offsets, &indices, &values, p, i, x, false, false, NULL));
  else
    TRY(GxB_Matrix_pack_CSR(m, &offsets, &indices, &values, p, i, x, false, false, NULL));
  return m;
}

static struct data make_data(shunt_type t)
{
  struct data d = {.type = t, .grb = t == SHUNT_F32 ? GrB_FP32 : GrB_FP64};
  random_rows(&d);
  by_column(&d);
  d.b[0] = allocate((size_t)(n * k) * 8);
  d.b[1] = allocate((size_t)(n * k) * 8);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < k; j++) {
      const double x = (double)(random_bits() >> 11) * 0x1p-53;
      put(t, d.b[0], i * k + j, x);
      put(t, d.b[1], j * n + i, x);
    }
  for (int o = 0; o < 2; o++) {
    d.grb_s[o] = sparse_matrix(&d, o);
    d.grb_b[o] = full_matrix(d.grb, t, d.b[o], n, k, o);
  }
  return d;
}

static struct shunt_sparse sparse_view(const struct data *d, int column, bool transposed)
{
  return (struct shunt_sparse){
      .rows = n,
      .cols = n,
      .vectors = n,
      .nnz = d->nnz,
      .by_column = (column != 0) != transposed,
      .offsets = d->offsets[column],
      .indices = d->indices[column],
      .values = d->values[column],
      .offset_bytes = 8,
      .index_bytes = 8,
  };
}

static struct shunt_full full_view(void *values, int64_t rows, int64_t cols, int column)
{
  return (struct shunt_full){.rows = rows,
                             .cols = cols,
                             .row_stride = column ? 1 : cols,
                             .col_stride = column ? rows : 1,
                             .values = values};
}

/* ---- SpMM ------------------------------------------------------------------------------- */
struct layout {
  int c, s, b;
  bool transposed, accumulate;
};

static GrB_Matrix new_result(const struct data *d, int column, int64_t cols)
{
  GrB_Matrix c;
  TRY(GrB_Matrix_new(&c, d->grb, (GrB_Index)n, (GrB_Index)cols));
  TRY(GxB_Matrix_Option_set(c, GxB_FORMAT, column ? GxB_BY_COL : GxB_BY_ROW));
  return c;
}

static double time_theirs(const struct data *d, struct layout l, GrB_Matrix full)
{
  const GrB_Semiring by =
      d->type == SHUNT_F32 ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
  const GrB_BinaryOp plus = d->type == SHUNT_F32 ? GrB_PLUS_FP32 : GrB_PLUS_FP64;
  GrB_Matrix c = full;
  const double begin = omp_get_wtime();
  if (!l.accumulate) c = new_result(d, l.c, k);
  TRY(GrB_mxm(c, NULL, l.accumulate ? plus : NULL, by, d->grb_s[l.s], d->grb_b[l.b],
              l.transposed ? GrB_DESC_T0 : NULL));
  TRY(GrB_wait(c, GrB_MATERIALIZE));
  const double end = omp_get_wtime();
  if (!l.accumulate) GrB_free(&c);
  return end - begin;
}

static double time_ours(const struct data *d, struct layout l, void *full)
{
  struct shunt_host_spmm p = {.semiring = {SHUNT_PLUS, SHUNT_TIMES, d->type},
                              .s = sparse_view(d, l.s, l.transposed),
                              .b = full_view(d->b[l.b], n, k, l.b),
                              .accumulate = l.accumulate,
                              .threads = threads};
  const double begin = omp_get_wtime();
  void *c = l.accumulate ? full : allocate((size_t)(n * k) * shunt_type_size(d->type));
  p.c = full_view(c, n, k, l.c);
  if (shunt_host_spmm(&p) != SHUNT_OK) exit(1);
  const double end = omp_get_wtime();
  if (!l.accumulate) free(c);
  return end - begin;
}

static void bench_spmm(const struct data *d, double *logs, double *least)
{
  const double work = 2e-9 * (double)d->nnz * (double)k;
  for (int i = 0; i < 32; i++) {
    const struct layout l = {i & 1, i >> 1 & 1, i >> 2 & 1, i >> 3 & 1, i >> 4 & 1};
    GrB_Matrix c = full_matrix(d->grb, d->type, d->b[l.c], n, k, l.c);
    void *full = calloc((size_t)(n * k), 8);
    double theirs = INFINITY, ours = INFINITY;
    TRY(GrB_wait(c, GrB_MATERIALIZE));
    for (int r = 0; r < repeats; r++) {
      theirs = fmin(theirs, time_theirs(d, l, c));
      for (int again = 0; again < 3; again++)
        ours = fmin(ours, time_ours(d, l, full));
    }
    printf("%s C by %s %s S by %s%s, B by %s: GraphBLAS %7.2f ms %5.1f GFLOP/s, Shunt %6.2f ms "
           "%5.1f GFLOP/s, %5.2f x\n",
           d->type == SHUNT_F32 ? "f32" : "f64", l.c ? "col" : "row", l.accumulate ? "+=" : " =",
           l.s ? "col" : "row", l.transposed ? "'" : " ", l.b ? "col" : "row", theirs * 1e3,
           work / theirs, ours * 1e3, work / ours, theirs / ours);
    fflush(stdout);
    logs[l.accumulate] += log(theirs / ours) / 16;
    *least = fmin(*least, theirs / ours);
    GrB_free(&c);
    free(full);
  }
}

/* ---- SDDMM -------------------------------------------------------------------------------- */
static double time_their_sddmm(const struct data *d, GrB_Matrix u, GrB_Matrix v)
{
  const GrB_Semiring by =
      d->type == SHUNT_F32 ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
  const double begin = omp_get_wtime();
  GrB_Matrix c = new_result(d, 0, n);
  TRY(GrB_mxm(c, d->grb_s[0], NULL, by, u, v, GrB_DESC_ST1));
  TRY(GrB_wait(c, GrB_MATERIALIZE));
  const double end = omp_get_wtime();
  GrB_free(&c);
  return end - begin;
}

static void bench_sddmm(const struct data *d)
{
  const double work = 2e-9 * (double)d->nnz * (double)k;
  void *out = allocate((size_t)d->nnz * 8);
  for (int i = 0; i < 8; i++) {
    const int by_col = i & 1, u = i >> 1 & 1, v = i >> 2 & 1;
    struct shunt_host_sddmm p = {.semiring = {SHUNT_PLUS, SHUNT_TIMES, d->type},
                                 .pattern = sparse_view(d, by_col, false),
                                 .u = full_view(d->b[u], n, k, u),
                                 .v = full_view(d->b[!v], k, n, v),
                                 .out = out,
                                 .threads = threads};
    double ours = INFINITY, theirs = INFINITY;
    for (int r = 0; r < 3 * repeats; r++) {
      const double begin = omp_get_wtime();
      if (shunt_host_sddmm(&p) != SHUNT_OK) exit(1);
      ours = fmin(ours, omp_get_wtime() - begin);
      if (by_col == 0 && u == 0 && v == 1)
        theirs = fmin(theirs, time_their_sddmm(d, d->grb_b[0], d->grb_b[0]));
    }
    printf("%s SDDMM pattern by %s, U by %s, V by %s: Shunt %6.2f ms %5.1f GFLOP/s",
           d->type == SHUNT_F32 ? "f32" : "f64", by_col ? "col" : "row", u ? "col" : "row",
           v ? "col" : "row", ours * 1e3, work / ours);
    if (!isinf(theirs)) printf(", GraphBLAS %6.2f ms", theirs * 1e3);
    printf("\n");
  }
  free(out);
}

int main(int argc, char **argv)
{
  if (argc > 1) n = atoll(argv[1]);
  if (argc > 2) k = atoll(argv[2]);
  if (argc > 3) per_row = atoll(argv[3]);
  if (argc > 4) repeats = atoi(argv[4]);
  if (argc > 5) threads = atoi(argv[5]);
  TRY(GrB_init(GrB_NONBLOCKING));
  TRY(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
  for (int t = 0; t < 2; t++) {
    struct data d = make_data(t ? SHUNT_F64 : SHUNT_F32);
    double logs[2] = {0}, least = INFINITY;
    bench_spmm(&d, logs, &least);
    printf("%s geometric mean: = %.2f x, += %.2f x, all %.2f x; least %.2f x\n", t ? "f64" : "f32",
           exp(logs[0]), exp(logs[1]), exp((logs[0] + logs[1]) / 2), least);
    bench_sddmm(&d);
  }
  return 0;
}
