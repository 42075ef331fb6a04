/* graphblas_cost.c: what a product that is passed through costs more.

     graphblas_cost [most]     nanoseconds per kind of call; fails above `most`

   The same small calls are made through the program's own reference (preloaded) and through the
   library's handle, in short turns, and the fastest turns are compared: on a busy machine some are
   left alone.  */
#include <GraphBLAS.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef GrB_Info product(GrB_Matrix, GrB_Matrix, GrB_BinaryOp, GrB_Semiring, GrB_Matrix, GrB_Matrix,
                         GrB_Descriptor);
typedef GrB_Info vector_product(GrB_Vector, GrB_Vector, GrB_BinaryOp, GrB_Semiring, GrB_Matrix,
                                GrB_Vector, GrB_Descriptor);

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static GrB_Matrix matrix(int control, GrB_Index rows, GrB_Index cols)
{
  GrB_Matrix a;
  GrB_Matrix_new(&a, GrB_FP32, rows, cols);
  GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, control);
  for (GrB_Index i = 0; i < rows; i++)
    for (GrB_Index j = 0; j < cols; j++)
      if (control == GxB_FULL || i == j) GrB_Matrix_setElement_FP32(a, (float)(i + j + 1), i, j);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  return a;
}

static GrB_Matrix c, a, b;
static GrB_Vector w, u;
static GrB_Semiring semiring;
static GrB_Descriptor desc;

enum { CALLS = 100, TURNS = 3000 };

static double time_matrix(product *f)
{
  double t = now();
  for (int i = 0; i < CALLS; i++)
    f(c, NULL, NULL, semiring, a, b, desc);
  return (now() - t) / CALLS;
}

static double time_vector(vector_product *f)
{
  double t = now();
  for (int i = 0; i < CALLS; i++)
    f(w, NULL, NULL, semiring, a, u, desc);
  return (now() - t) / CALLS;
}

static double difference(double (*timed)(void *), void *ours, void *theirs)
{
  double least = 1e30, least_original = 1e30;
  for (int i = 0; i < TURNS; i++) {
    double t = timed(ours), o = timed(theirs);
    if (t < least) least = t;
    if (o < least_original) least_original = o;
  }
  return least - least_original;
}

static double matrices(void *f)
{
  return time_matrix((product *)f);
}

static double vectors(void *f)
{
  return time_vector((vector_product *)f);
}

static int failed;
static void report(const char *what, double ns, double most)
{
  int bad = ns > most;
  printf("%s - %s: %.0f ns more\n", bad ? "not ok" : "ok", what, ns);
  failed += bad;
}

int main(int argc, char **argv)
{
  double most = argc > 1 ? atof(argv[1]) : 1e9;
  GrB_init(GrB_NONBLOCKING);
  void *library = dlopen("libgraphblas.so.7", RTLD_NOW | RTLD_NOLOAD);
  if (!library) library = dlopen("libgraphblas.so.10", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return 2;
  void *mxm = dlsym(library, "GrB_mxm"), *mxv = dlsym(library, "GrB_mxv");
  GrB_Matrix sparse = matrix(GxB_SPARSE, 4, 4), full = matrix(GxB_FULL, 4, 4);
  GrB_Matrix_new(&c, GrB_FP32, 4, 4);
  GrB_Vector_new(&w, GrB_FP32, 4);
  GrB_Vector_new(&u, GrB_FP32, 4);
  for (GrB_Index i = 0; i < 4; i++)
    GrB_Vector_setElement_FP32(u, (float)i, i);
  GrB_Vector_wait(u, GrB_MATERIALIZE);

  a = sparse, b = sparse, semiring = GrB_PLUS_TIMES_SEMIRING_FP32;
  report("sparse x sparse", difference(matrices, (void *)GrB_mxm, mxm), most);
  a = full, b = full;
  report("full x full", difference(matrices, (void *)GrB_mxm, mxm), most);
  a = sparse, semiring = GxB_LOR_LAND_BOOL;
  report("unknown semiring", difference(matrices, (void *)GrB_mxm, mxm), most);
  semiring = GrB_PLUS_TIMES_SEMIRING_FP32;
  report("sparse x full, small", difference(matrices, (void *)GrB_mxm, mxm), most);
  desc = GrB_DESC_T0;
  report("the same, transposed", difference(matrices, (void *)GrB_mxm, mxm), most);
  desc = NULL;
  report("sparse x full vector, small", difference(vectors, (void *)GrB_mxv, mxv), most);
  return failed != 0;
}
