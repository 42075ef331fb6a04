/* graphblas_gpu_bench.c: sparse x full products of a plain GraphBLAS program, on matrices of
   more than 20 million entries; to be run as it is, and again under Shunt.

     graphblas_gpu_bench -o plain.json [options] [FILE.mtx ...]
     LD_PRELOAD=.../libshunt-graphblas.so graphblas_gpu_bench -o shunt.json -b plain.json ..

     -o FILE   results, one JSON object a line      -b FILE   an earlier run to compare with
     -t N      threads (all)                        -k N      columns of B (128)
     -e N      entries wanted, in millions (20)     -r N      repetitions (7)
     -c LIST   cases: stream,new,chain,add,bus,beyond,large (stream,new,chain,add,bus)
     -l MB     `beyond`: B of three times so much; run it with SHUNT_CACHE_MB=MB
     -n        the FILEs alone, without the matrix that is made here

   Matrices: of finite elements, made here, and FILEs multiplied by a dense block (Kronecker)
   until they have the entries.  f32 and f64, B and C by row.

     stream    C = A B, B changed before each product (one element), C the same matrix
     new       the same into a new C
     chain     X2 = A X1, X1 = A X2, ..
     add       C += A B, B changed before each
     bus       as stream; a matrix with 7 entries a row, so that copies are all that counts
     beyond    as bus, with a B of three times the limit on device memory
     large     as stream, f32, an A of -e million entries, 100 a row: for few columns, several GPUs
               (CUDA_VISIBLE_DEVICES), and a SHUNT_CACHE_MB of less than 8 bytes an entry

   `bus_share` is the time that the bytes of B and C need at the measured rates of pinned
   memory, both directions at once, over the time taken.  Every result is checked in some
   rows, in double precision.  */
#include <GraphBLAS.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graphblas_gpu/bus.h"
#include "graphblas_gpu/large.h"
#include "graphblas_gpu/matrices.h"

#define TRY(call) NEED((call) == GrB_SUCCESS)

static struct {
  const char *out, *base, *cases;
  int threads, repetitions, no_grid;
  int64_t k, entries, limit_mb;
} option = {"graphblas_gpu.json", NULL, "stream,new,chain,add,bus", 0, 7, 0, 128, 20000000, 1024};

static FILE *out;

/* ---- GraphBLAS operands ------------------------------------------------------------------------
 */

static size_t size_of(GrB_Type type)
{
  return type == GrB_FP32 ? 4 : 8;
}

static void put(void *values, GrB_Type type, GrB_Index i, double x)
{
  if (type == GrB_FP32)
    ((float *)values)[i] = (float)x;
  else
    ((double *)values)[i] = x;
}

static double get(const void *values, GrB_Type type, GrB_Index i)
{
  return type == GrB_FP32 ? (double)((const float *)values)[i] : ((const double *)values)[i];
}

static GrB_Matrix sparse(const struct matrix *m, GrB_Type type)
{
  GrB_Matrix a;
  GrB_Index *offsets = allocate(m->rows + 1, sizeof *offsets);
  GrB_Index *columns = allocate(m->nnz, sizeof *columns);
  void *values = allocate(m->nnz, size_of(type));
  memcpy(offsets, m->offsets, (m->rows + 1) * sizeof *offsets);
  memcpy(columns, m->columns, m->nnz * sizeof *columns);
  for (GrB_Index p = 0; p < m->nnz; p++) put(values, type, p, m->values[p]);
  TRY(GrB_Matrix_new(&a, type, m->rows, m->rows));
  TRY(GxB_Matrix_pack_CSR(a, &offsets, &columns, &values, (m->rows + 1) * sizeof *offsets,
                          m->nnz * sizeof *columns, m->nnz * size_of(type), false, false, NULL));
  return a;
}

static GrB_Matrix full(GrB_Index rows, GrB_Index cols, GrB_Type type, uint64_t seed)
{
  GrB_Matrix b;
  size_t bytes = rows * cols * size_of(type);
  void *values = allocate(rows * cols, size_of(type));
  for (GrB_Index i = 0; i < rows * cols; i++) put(values, type, i, random_value(&seed));
  TRY(GrB_Matrix_new(&b, type, rows, cols));
  TRY(GxB_Matrix_pack_FullR(b, &values, bytes, false, NULL));
  return b;
}

/* The content of a full matrix by row, copied out. */
static void *content(GrB_Matrix m, GrB_Type type, GrB_Index rows, GrB_Index cols)
{
  GrB_Matrix copy;
  void *values = NULL;
  GrB_Index bytes;
  bool iso;
  TRY(GrB_Matrix_dup(&copy, m));
  TRY(GxB_Matrix_unpack_FullR(copy, &values, &bytes, &iso, NULL));
  NEED(!iso && bytes >= rows * cols * size_of(type));
  TRY(GrB_Matrix_free(&copy));
  return values;
}

/* The largest error in some rows of C = A B (+ old), over the sum of sizes. */
static double error_of(const struct matrix *m, GrB_Type type, GrB_Matrix b, GrB_Matrix c,
                       const void *old, GrB_Index cols)
{
  void *vb = content(b, type, m->rows, cols), *vc = content(c, type, m->rows, cols);
  double worst = 0;
  for (GrB_Index row = 0; row < m->rows; row += m->rows / 101 + 1)
    for (GrB_Index j = 0; j < cols; j++) {
      double sum = old ? get(old, type, row * cols + j) : 0, scale = fabs(sum) + 1e-300;
      for (GrB_Index p = m->offsets[row]; p < m->offsets[row + 1]; p++) {
        double a = type == GrB_FP32 ? (double)(float)m->values[p] : m->values[p];
        double term = a * get(vb, type, m->columns[p] * cols + j);
        sum += term;
        scale += fabs(term);
      }
      double error = fabs(sum - get(vc, type, row * cols + j)) / scale;
      if (!(error <= worst)) worst = error;
    }
  free(vb);
  free(vc);
  return worst;
}

/* ---- results ------------------------------------------------------------------------------------
 */

static double base_seconds(const char *key)
{
  char line[1024];
  double seconds = 0;
  FILE *f = option.base ? fopen(option.base, "r") : NULL;
  while (f && seconds == 0 && fgets(line, sizeof line, f)) {
    const char *at = strstr(line, "\"median_s\": ");
    if (strstr(line, key) && at) seconds = atof(at + strlen("\"median_s\": "));
  }
  if (f) fclose(f);
  return seconds;
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* `up`: the bytes of B count. */
static void report(const struct matrix *m, const char *what, GrB_Type type, GrB_Index cols,
                   double *seconds, int count, double error, int up)
{
  char key[256];
  qsort(seconds, (size_t)count, sizeof *seconds, ascending);
  double median = seconds[count / 2],
         bytes = (double)m->rows * (double)cols * (double)size_of(type);
  double limit = error >= 0 ? (type == GrB_FP32 ? 1e-5 : 1e-13) : 0;
  double bus = rate_both <= 0 ? 0 : up ? 2 * bytes / rate_both : bytes / rate_down;
  snprintf(key, sizeof key, "\"matrix\": \"%s\", \"case\": \"%s\", \"type\": \"%s\", \"k\": %d",
           m->name, what, type == GrB_FP32 ? "f32" : "f64", (int)cols);
  double base = base_seconds(key);
  fprintf(
      out,
      "{%s, \"rows\": %llu, \"nnz\": %llu, \"threads\": %d, \"preload\": %s, \"median_s\": %.6g, "
      "\"best_s\": %.6g, \"gflops\": %.5g, \"bus_share\": %.4g, \"error\": %.3g, \"right\": %s",
      key, (unsigned long long)m->rows, (unsigned long long)m->nnz, option.threads,
      getenv("LD_PRELOAD") ? "true" : "false", median, seconds[0],
      2e-9 * (double)m->nnz * (double)cols / median, bus / median, error,
      error <= limit ? "true" : "false");
  if (base > 0) fprintf(out, ", \"base_s\": %.6g, \"speedup\": %.4g", base, base / median);
  fprintf(out, "}\n");
  fflush(out);
  printf("%-28s %-7s %s k %-5d %9.3f ms  %8.1f GF/s  bus %5.1f %%  error %.1e%s", m->name, what,
         type == GrB_FP32 ? "f32" : "f64", (int)cols, 1e3 * median,
         2e-9 * (double)m->nnz * (double)cols / median, 100 * bus / median, error,
         error <= limit ? "" : " WRONG");
  if (base > 0) printf("  %.2f x", base / median);
  printf("\n");
  fflush(stdout);
}

/* ---- cases --------------------------------------------------------------------------------------
 */

static GrB_Semiring plus_times(GrB_Type type)
{
  return type == GrB_FP32 ? GrB_PLUS_TIMES_SEMIRING_FP32 : GrB_PLUS_TIMES_SEMIRING_FP64;
}

/* One element, so that nobody can take B for what it was. */
static void touch(GrB_Matrix b, int round)
{
  TRY(GrB_Matrix_setElement_FP64(b, 0.5 + 0.001 * round, 3, 1));
  TRY(GrB_Matrix_wait(b, GrB_MATERIALIZE));
}

/* Products that are not counted: caches fill, and a GPU that is worth it gets started. */
static int warm_ups(double seconds)
{
  return 3 + (int)fmin(40, getenv("LD_PRELOAD") ? 2 / seconds : 0);
}

static void run_stream(const struct matrix *m, GrB_Matrix a, const char *what, GrB_Type type,
                       GrB_Index cols, int new_c, int add)
{
  GrB_Matrix b = full(m->rows, cols, type, 7), c = NULL;
  double seconds[100], begin;
  void *old = NULL;
  if (!new_c) c = full(m->rows, cols, type, 8);
  GrB_BinaryOp plus = !add ? NULL : type == GrB_FP32 ? GrB_PLUS_FP32 : GrB_PLUS_FP64;
  int warm = 1, count = 0;
  for (int round = 0; count < option.repetitions; round++) {
    touch(b, round);
    if (new_c) {
      GrB_Matrix_free(&c);
      TRY(GrB_Matrix_new(&c, type, m->rows, cols));
    }
    if (add && count == option.repetitions - 1) old = content(c, type, m->rows, cols);
    begin = now();
    TRY(GrB_mxm(c, NULL, plus, plus_times(type), a, b, NULL));
    TRY(GrB_Matrix_wait(c, GrB_MATERIALIZE));
    seconds[count] = now() - begin;
    if (round == 0) warm = warm_ups(seconds[0]);
    if (round >= warm) count++;
  }
  report(m, what, type, cols, seconds, count, error_of(m, type, b, c, old, cols), 1);
  free(old);
  GrB_Matrix_free(&b);
  GrB_Matrix_free(&c);
}

static void run_chain(const struct matrix *m, GrB_Matrix a, GrB_Type type)
{
  const GrB_Index cols = (GrB_Index)option.k;
  GrB_Matrix x[2] = {full(m->rows, cols, type, 7), full(m->rows, cols, type, 8)};
  double seconds[100], begin;
  int warm = 1, count = 0, from = 0;
  for (int round = 0; count < option.repetitions; round++, from ^= 1) {
    begin = now();
    TRY(GrB_mxm(x[from ^ 1], NULL, NULL, plus_times(type), a, x[from], NULL));
    TRY(GrB_Matrix_wait(x[from ^ 1], GrB_MATERIALIZE));
    seconds[count] = now() - begin;
    if (round == 0) warm = warm_ups(seconds[0]);
    /* Chains shrink: begin again before the numbers leave the range. */
    if (round % 8 == 7) {
      GrB_Matrix_free(&x[from ^ 1]);
      x[from ^ 1] = full(m->rows, cols, type, 9);
      continue;
    }
    if (round >= warm && round % 8 > 0) count++;
  }
  report(m, "chain", type, cols, seconds, count,
         error_of(m, type, x[from ^ 1], x[from], NULL, cols), 0);
  GrB_Matrix_free(&x[0]);
  GrB_Matrix_free(&x[1]);
}

static int wanted(const char *what)
{
  const char *at = strstr(option.cases, what);
  size_t length = strlen(what);
  return at && (at[length] == ',' || at[length] == 0);
}

static void run_matrix(const struct matrix *m)
{
  const GrB_Type types[] = {GrB_FP32, GrB_FP64};
  for (int t = 0; t < 2; t++) {
    GrB_Matrix a = sparse(m, types[t]);
    if (wanted("stream")) run_stream(m, a, "stream", types[t], (GrB_Index)option.k, 0, 0);
    if (wanted("new")) run_stream(m, a, "new", types[t], (GrB_Index)option.k, 1, 0);
    if (wanted("chain")) run_chain(m, a, types[t]);
    if (wanted("add")) run_stream(m, a, "add", types[t], (GrB_Index)option.k, 0, 1);
    GrB_Matrix_free(&a);
  }
}

static void run_grid(void)
{
  int side = 1;
  while (162.0 * 6 * side * side * side < (double)option.entries * 1.1) side++;
  struct matrix m = grid_matrix(side, 6, 1, "27-point grid x 6");
  run_matrix(&m);
  free_matrix(&m);
}

static void run_bus(void)
{
  struct matrix m = grid_matrix(80, 1, 0, "7-point grid");
  GrB_Matrix a = sparse(&m, GrB_FP32);
  if (wanted("bus")) run_stream(&m, a, "bus", GrB_FP32, 8 * (GrB_Index)option.k, 0, 0);
  if (wanted("beyond"))
    run_stream(&m, a, "beyond", GrB_FP32,
               3 * (GrB_Index)option.limit_mb * (1 << 20) / (4 * m.rows) + 1, 0, 0);
  GrB_Matrix_free(&a);
  free_matrix(&m);
}

/* Long enough before the first that counts for a second GPU to be worth its start. */
static int is_warm(int round, double begin)
{
  return !getenv("LD_PRELOAD") ? round > 0 : round >= 10 && now() - begin > 2.5;
}

static void run_large(void)
{
  const GrB_Index cols = (GrB_Index)option.k, rows = (GrB_Index)option.entries / LARGE_ROW;
  const struct matrix m = {"spread", rows, rows * LARGE_ROW, NULL, NULL, NULL};
  double seconds[100], first = 0, error;
  int count = 0;
  NEED(rows >= LARGE_ROW);
  GrB_Matrix a = large_matrix(rows), b = full(rows, cols, GrB_FP32, 7);
  GrB_Matrix c = full(rows, cols, GrB_FP32, 8);
  const double all = now();
  for (int round = 0; count < option.repetitions; round++) {
    touch(b, round);
    const double begin = now();
    TRY(GrB_mxm(c, NULL, NULL, plus_times(GrB_FP32), a, b, NULL));
    TRY(GrB_Matrix_wait(c, GrB_MATERIALIZE));
    seconds[count] = now() - begin;
    if (round == 0) first = seconds[0];
    count += is_warm(round, all);
  }
  void *vb = content(b, GrB_FP32, rows, cols), *vc = content(c, GrB_FP32, rows, cols);
  error = large_error(rows, vb, vc, cols);
  printf("A of %.2f GB on a device, B of %.2f; the first product took %.1f ms\n",
         8e-9 * (double)m.nnz, 4e-9 * (double)(rows * cols), 1e3 * first);
  report(&m, "large", GrB_FP32, cols, seconds, count, error, 1);
  free(vb);
  free(vc);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&b);
  GrB_Matrix_free(&c);
}

static void read_arguments(int argc, char **argv)
{
  for (int c; (c = getopt(argc, argv, "o:b:t:k:e:r:c:l:n")) != -1;) switch (c) {
    case 'o': option.out = optarg; break;
    case 'b': option.base = optarg; break;
    case 't': option.threads = atoi(optarg); break;
    case 'k': option.k = atoll(optarg); break;
    case 'e': option.entries = atoll(optarg) * 1000000; break;
    case 'r': option.repetitions = atoi(optarg); break;
    case 'c': option.cases = optarg; break;
    case 'l': option.limit_mb = atoll(optarg); break;
    case 'n': option.no_grid = 1; break;
    default: fprintf(stderr, "graphblas_gpu_bench: see the top of its source\n"); exit(2);
    }
  NEED(option.k > 1 && option.repetitions > 0 && option.repetitions < 100 && option.limit_mb > 0);
}

int main(int argc, char **argv)
{
  read_arguments(argc, argv);
  NEED(out = fopen(option.out, "w"));
  TRY(GrB_init(GrB_NONBLOCKING));
  if (option.threads > 0) TRY(GxB_Global_Option_set(GxB_NTHREADS, option.threads));
  TRY(GxB_Global_Option_get(GxB_NTHREADS, &option.threads));
  measure_bus();
  fprintf(out, "{\"bus\": {\"up\": %.4g, \"down\": %.4g, \"both\": %.4g}, \"threads\": %d}\n",
          rate_up, rate_down, rate_both, option.threads);
  printf("pinned memory: %.1f GB/s up, %.1f down, %.1f both; %d threads\n", 1e-9 * rate_up,
         1e-9 * rate_down, 1e-9 * rate_both, option.threads);
  if (wanted("stream") || wanted("new") || wanted("chain") || wanted("add")) {
    if (!option.no_grid) run_grid();
    for (int i = optind; i < argc; i++) {
      struct matrix m = file_matrix(argv[i], option.entries);
      run_matrix(&m);
      free_matrix(&m);
    }
  }
  if (wanted("bus") || wanted("beyond")) run_bus();
  if (wanted("large")) run_large();
  TRY(GrB_finalize());
  return fclose(out) != 0;
}
