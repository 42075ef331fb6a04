/* graphblas_host_bench.c: GrB_mxm under Shunt's preload against the original, call by call
   in one process, on the host.

     LD_PRELOAD=.../libshunt-graphblas.so graphblas_host_bench [-t THREADS] [-n ROWS] [-k COLUMNS]
         [-e ENTRIES_A_ROW] [-r REPEATS] [-v] [FILE.mtx.gz ...]

   Without files: a random ROWS x ROWS matrix, every orientation of C, A and B, A and A', C = A B
   into a new C and C += A B into a full C, fp32 and fp64; then the masked full x full' product
   in every orientation, Shunt's alone (the original takes up to a minute there).  With files:
   C = A B by row, for each; with -v instead GrB_mxv, w = A u by MIN_PLUS.  Milliseconds are the
   least of the repeats, the two in turns.  The original is that of libgraphblas.so.  */
#define _GNU_SOURCE
#include <GraphBLAS.h>
#include <dlfcn.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/clients/graphblas_common.h"

typedef GrB_Info (*mxm_function)(GrB_Matrix, const GrB_Matrix, const GrB_BinaryOp,
                                 const GrB_Semiring, const GrB_Matrix, const GrB_Matrix,
                                 const GrB_Descriptor);

static int64_t rows = 20000, columns = 64, entries = 20;
static int repeats = 9;
static mxm_function original;
typedef GrB_Info (*mxv_function)(GrB_Vector, const GrB_Vector, const GrB_BinaryOp,
                                 const GrB_Semiring, const GrB_Matrix, const GrB_Vector,
                                 const GrB_Descriptor);
static mxv_function original_vector;

static bool find_original(void)
{
  static const char *const names[] = {"libgraphblas.so.7", "libgraphblas.so.10"};
  for (int i = 0; i < 2; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (!library) continue;
    original = (mxm_function)(uintptr_t)dlsym(library, "GrB_mxm");
    original_vector = (mxv_function)(uintptr_t)dlsym(library, "GrB_mxv");
    return original && original_vector;
  }
  return false;
}

static uint64_t random_state = 1;
static uint64_t random_bits(void)
{
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return random_state >> 33;
}

static GrB_Matrix random_sparse(GrB_Type type, int by_column)
{
  GrB_Matrix a;
  GRB_OK(GrB_Matrix_new(&a, type, (GrB_Index)rows, (GrB_Index)rows));
  GRB_OK(GxB_Matrix_Option_set(a, GxB_FORMAT, by_column ? GxB_BY_COL : GxB_BY_ROW));
  for (int64_t i = 0; i < rows; i++)
    for (int64_t e = 0; e < entries; e++)
      GRB_OK(GrB_Matrix_setElement_FP64(a, (double)(random_bits() % 1000) / 1000 + 0.1,
                                        (GrB_Index)i, random_bits() % (GrB_Index)rows));
  GRB_OK(GrB_Matrix_wait(a, GrB_MATERIALIZE));
  return a;
}

static GrB_Matrix full(GrB_Type type, int64_t m, int64_t n, int by_column)
{
  GrB_Matrix b;
  GRB_OK(GrB_Matrix_new(&b, type, (GrB_Index)m, (GrB_Index)n));
  GRB_OK(GxB_Matrix_Option_set(b, GxB_FORMAT, by_column ? GxB_BY_COL : GxB_BY_ROW));
  GRB_OK(GrB_Matrix_assign_FP64(b, NULL, NULL, 0.5, GrB_ALL, (GrB_Index)m, GrB_ALL, (GrB_Index)n,
                                NULL));
  GRB_OK(GrB_Matrix_setElement_FP64(b, 0.25, 0, 0)); /* not iso */
  GRB_OK(GrB_Matrix_wait(b, GrB_MATERIALIZE));
  return b;
}

/* The least time of one product, ms; C is made anew before each unless it accumulates. */
static double one(mxm_function mxm, GrB_Type type, int c_by_column, GrB_BinaryOp accum,
                  GrB_Semiring s, GrB_Matrix a, GrB_Matrix b, GrB_Descriptor d, double least)
{
  GrB_Index m, n;
  GrB_Matrix c;
  GRB_OK(GrB_Matrix_nrows(&m, a));
  GRB_OK(GrB_Matrix_ncols(&n, b));
  if (accum)
    c = full(type, (int64_t)m, (int64_t)n, c_by_column);
  else {
    GRB_OK(GrB_Matrix_new(&c, type, m, n));
    GRB_OK(GxB_Matrix_Option_set(c, GxB_FORMAT, c_by_column ? GxB_BY_COL : GxB_BY_ROW));
  }
  double start = seconds_now();
  GRB_OK(mxm(c, NULL, accum, s, a, b, d));
  double ms = (seconds_now() - start) * 1e3;
  GrB_Matrix_free(&c);
  return ms < least ? ms : least;
}

static double compare(const char *what, GrB_Type type, int c_by_column, GrB_BinaryOp accum,
                      GrB_Semiring s, GrB_Matrix a, GrB_Matrix b, GrB_Descriptor d)
{
  double theirs = 1e30, ours = 1e30;
  for (int i = 0; i < repeats; i++) {
    theirs = one(original, type, c_by_column, accum, s, a, b, d, theirs);
    ours = one(GrB_mxm, type, c_by_column, accum, s, a, b, d, ours);
  }
  printf("%-28s %9.3f %9.3f %7.2f\n", what, theirs, ours, theirs / ours);
  fflush(stdout);
  return theirs / ours;
}

static void orientations(GrB_Type type, const char *name, GrB_Semiring s, GrB_BinaryOp plus)
{
  double product = 1, least = 1e30, least_added = 1e30;
  int count = 0;
  for (int bits = 0; bits < 32; bits++) {
    int c = bits & 1, a_column = bits >> 1 & 1, b_column = bits >> 2 & 1, t = bits >> 3 & 1;
    int add = bits >> 4;
    char what[64];
    GrB_Matrix a = random_sparse(type, a_column), b = full(type, rows, columns, b_column);
    snprintf(what, sizeof what, "%s C%s %s A%s%s B%s", name, c ? "c" : "r", add ? "+=" : "=",
             a_column ? "c" : "r", t ? "'" : "", b_column ? "c" : "r");
    double x = compare(what, type, c, add ? plus : NULL, s, a, b, t ? GrB_DESC_T0 : NULL);
    product += log(x), count++;
    if (x < least) least = x;
    if (add && x < least_added) least_added = x;
    GrB_Matrix_free(&a);
    GrB_Matrix_free(&b);
  }
  printf("# %s: geometric mean %.2f of %d, least %.2f, least of += %.2f\n", name,
         exp((product - 1) / count), count, least, least_added);
}

static void sampled(void)
{
  GrB_Matrix mask = random_sparse(GrB_FP32, 0);
  for (int bits = 0; bits < 8; bits++) {
    GrB_Matrix u = full(GrB_FP32, rows, columns, bits & 1);
    GrB_Matrix v = full(GrB_FP32, rows, columns, bits >> 1 & 1), c;
    double least = 1e30;
    for (int i = 0; i < repeats; i++) {
      GRB_OK(GrB_Matrix_new(&c, GrB_FP32, (GrB_Index)rows, (GrB_Index)rows));
      GRB_OK(GxB_Matrix_Option_set(c, GxB_FORMAT, bits >> 2 ? GxB_BY_COL : GxB_BY_ROW));
      double start = seconds_now();
      GRB_OK(GrB_mxm(c, mask, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, u, v, GrB_DESC_ST1));
      double ms = (seconds_now() - start) * 1e3;
      if (ms < least) least = ms;
      GrB_Matrix_free(&c);
    }
    printf("sampled fp32 C%s U%s V%s %21.3f ms\n", bits >> 2 ? "c" : "r", bits & 1 ? "c" : "r",
           bits >> 1 & 1 ? "c" : "r", least);
    GrB_Matrix_free(&u);
    GrB_Matrix_free(&v);
  }
  GrB_Matrix_free(&mask);
}

static double file(const char *path)
{
  struct shunt_matrix m = read_or_leave(path);
  GrB_Matrix a = grb_sparse(&m, m.values), b = full(GrB_FP32, m.cols, columns, 0);
  double x = compare(file_name(path), GrB_FP32, 0, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, b, NULL);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&b);
  return x;
}

static double one_vector(mxv_function mxv, GrB_Matrix a, GrB_Vector u, GrB_Index rows, double least)
{
  GrB_Vector w;
  GRB_OK(GrB_Vector_new(&w, GrB_FP32, rows));
  double start = seconds_now();
  GRB_OK(mxv(w, NULL, NULL, GrB_MIN_PLUS_SEMIRING_FP32, a, u, NULL));
  double ms = (seconds_now() - start) * 1e3;
  GrB_Vector_free(&w);
  return ms < least ? ms : least;
}

static double file_vector(const char *path)
{
  struct shunt_matrix m = read_or_leave(path);
  GrB_Matrix a = grb_sparse(&m, m.values);
  GrB_Vector u;
  double theirs = 1e30, ours = 1e30;
  GRB_OK(GrB_Vector_new(&u, GrB_FP32, (GrB_Index)m.cols));
  for (int64_t j = 0; j < m.cols; j++)
    GRB_OK(GrB_Vector_setElement_FP32(u, (float)(random_bits() % 1000), (GrB_Index)j));
  GRB_OK(GrB_Vector_wait(u, GrB_MATERIALIZE));
  for (int i = 0; i < repeats; i++) {
    theirs = one_vector(original_vector, a, u, (GrB_Index)m.rows, theirs);
    ours = one_vector(GrB_mxv, a, u, (GrB_Index)m.rows, ours);
  }
  printf("%-28s %9.3f %9.3f %7.2f\n", file_name(path), theirs, ours, theirs / ours);
  GrB_Matrix_free(&a);
  GrB_Vector_free(&u);
  return theirs / ours;
}

int main(int argc, char **argv)
{
  int option, threads = 2;
  bool vector = false;
  double sum = 0;
  while ((option = getopt(argc, argv, "t:n:k:e:r:v")) != -1) {
    int64_t number = atoll(optarg ? optarg : "0");
    if (option == 't') threads = (int)number;
    if (option == 'n') rows = number;
    if (option == 'k') columns = number;
    if (option == 'e') entries = number;
    if (option == 'r') repeats = (int)number;
    if (option == 'v') vector = true;
    if (option == '?') return 2;
  }
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  GRB_OK(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
  if (!find_original()) return 1;
  if (original == GrB_mxm) printf("# without the preload: the original beside itself\n");
  printf("# %d threads; ms of the original, of GrB_mxm as it is bound, times as fast\n", threads);
  for (int i = optind; i < argc; i++) sum += log(vector ? file_vector(argv[i]) : file(argv[i]));
  if (optind < argc) {
    printf("# geometric mean %.2f of %d, k = %lld\n", exp(sum / (argc - optind)), argc - optind,
           vector ? 1 : (long long)columns);
  } else {
    orientations(GrB_FP32, "fp32", GrB_PLUS_TIMES_SEMIRING_FP32, GrB_PLUS_FP32);
    orientations(GrB_FP64, "fp64", GrB_PLUS_TIMES_SEMIRING_FP64, GrB_PLUS_FP64);
    sampled();
  }
  GRB_OK(GrB_finalize());
  return 0;
}
