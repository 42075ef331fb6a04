/* graphblas_gpu_pins.c: is an array that Shunt pins let go of before GraphBLAS may free it?

     SHUNT_ROUTES=cuda LD_PRELOAD=.../libshunt-graphblas.so graphblas_gpu_pins

   On a machine with a GPU.  Asks the driver whether the arrays of B and C are registered: after
   products that pin them, and after each kind of function that may take an array away.  Products
   are checked in some places, in double precision.  */
#include <GraphBLAS.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/check.h"
#include "graphblas_gpu/matrices.h"

#define TRY(call) NEED((call) == GrB_SUCCESS)

static struct matrix grid;
static GrB_Matrix a;
static const GrB_Index cols = 128;
static void *context;
static int (*flags_of)(unsigned *, void *), (*push)(void *), (*pop)(void **);

/* The driver answers a thread that has a context; Shunt leaves it none. */
static int registered(void *p)
{
  unsigned flags;
  void *before;
  NEED(push(context) == 0);
  const int yes = flags_of(&flags, p) == 0;
  pop(&before);
  return yes;
}

static GrB_Matrix full(float **values)
{
  GrB_Matrix m;
  uint64_t seed = 7;
  float *v = allocate(grid.rows * cols, sizeof *v);
  *values = v;
  for (GrB_Index i = 0; i < grid.rows * cols; i++) v[i] = (float)random_value(&seed);
  void *given = v;
  TRY(GrB_Matrix_new(&m, GrB_FP32, grid.rows, cols));
  TRY(GxB_Matrix_pack_FullR(m, &given, grid.rows * cols * sizeof *v, false, NULL));
  return m;
}

static void read_grid(void)
{
  GrB_Index *offsets = allocate(grid.rows + 1, sizeof *offsets);
  GrB_Index *columns = allocate(grid.nnz, sizeof *columns);
  float *values = allocate(grid.nnz, sizeof *values);
  memcpy(offsets, grid.offsets, (grid.rows + 1) * sizeof *offsets);
  memcpy(columns, grid.columns, grid.nnz * sizeof *columns);
  for (GrB_Index p = 0; p < grid.nnz; p++) values[p] = (float)grid.values[p];
  TRY(GrB_Matrix_new(&a, GrB_FP32, grid.rows, grid.rows));
  TRY(GxB_Matrix_pack_CSR(a, &offsets, &columns, (void **)&values,
                          (grid.rows + 1) * sizeof *offsets, grid.nnz * sizeof *columns,
                          grid.nnz * sizeof *values, false, false, NULL));
}

/* The largest error in some rows; b and c are the arrays of B and C. */
static double error_of(const float *b, const float *c)
{
  double worst = 0;
  for (GrB_Index i = 0; i < grid.rows; i += 997)
    for (GrB_Index j = 0; j < cols; j += 17) {
      double sum = 0;
      for (GrB_Index p = grid.offsets[i]; p < grid.offsets[i + 1]; p++)
        sum += (double)(float)grid.values[p] * b[grid.columns[p] * cols + j];
      worst = fmax(worst, fabs(sum - c[i * cols + j]));
    }
  return worst;
}

struct pair {
  GrB_Matrix b, c;
  float *vb, *vc;
};

/* Products until both arrays are pinned, B changed before each. */
static struct pair pinned(const char *what)
{
  struct pair p;
  char text[200];
  p.b = full(&p.vb);
  p.c = full(&p.vc);
  double worst = 0;
  int rounds = 0;
  for (; rounds < 200 && (rounds < 10 || !registered(p.vb) || !registered(p.vc)); rounds++) {
    TRY(GrB_Matrix_setElement_FP32(p.b, 0.5f + 0.001f * (float)rounds, (GrB_Index)rounds * 3, 1));
    TRY(GrB_mxm(p.c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, p.b, NULL));
    worst = fmax(worst, error_of(p.vb, p.vc));
  }
  snprintf(text, sizeof text, "%s: both are pinned, after %d products, the worst error is %.1e",
           what, rounds, worst);
  check(worst < 1e-5 && registered(p.vb) && registered(p.vc), text);
  return p;
}

static void end(struct pair p)
{
  GrB_Matrix_free(&p.b);
  GrB_Matrix_free(&p.c);
  check(!registered(p.vb) && !registered(p.vc), "freed");
}

static void test_ways(void)
{
  struct pair p = pinned("free");
  end(p);
  p = pinned("unpack");
  void *out = NULL;
  GrB_Index bytes;
  bool iso;
  TRY(GxB_Matrix_unpack_FullR(p.b, &out, &bytes, &iso, NULL));
  check(out == p.vb && !registered(p.vb) && registered(p.vc), "unpacked, and C alone is pinned");
  free(out);
  end(p);
  p = pinned("apply");
  TRY(GrB_Matrix_apply(p.c, NULL, NULL, GrB_AINV_FP32, p.b, NULL));
  check(!registered(p.vc) && registered(p.vb), "C is another function's result");
  end(p);
  p = pinned("product by the original");
  TRY(GrB_mxm(p.c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, p.b, GrB_DESC_T1) != GrB_SUCCESS
          ? GrB_SUCCESS
          : GrB_PANIC);
  check(!registered(p.vc), "C was given to the original's product");
  end(p);
  p = pinned("resize");
  TRY(GrB_Matrix_resize(p.b, grid.rows / 2, cols));
  check(!registered(p.vb), "resized");
  end(p);
  p = pinned("fork");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, NULL, 0);
  check(!registered(p.vb) && !registered(p.vc), "forked");
  end(p);
}

static int open_driver(void)
{
  int (*init)(unsigned), (*retain)(void **, int);
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return 0;
  *(void **)&init = dlsym(driver, "cuInit");
  *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
  *(void **)&flags_of = dlsym(driver, "cuMemHostGetFlags");
  *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
  *(void **)&pop = dlsym(driver, "cuCtxPopCurrent_v2");
  return init && retain && flags_of && push && pop && init(0) == 0 && retain(&context, 0) == 0;
}

/* A function that was reached by a handle of the library's, so that Shunt did not see it. */
static void test_unseen(void)
{
  void *library = dlopen("libgraphblas.so.7", RTLD_NOW | RTLD_NOLOAD);
  GrB_Info (*unseen_free)(GrB_Matrix *) = NULL;
  char text[200];
  if (library) *(void **)&unseen_free = dlsym(library, "GrB_Matrix_free");
  if (!unseen_free) return;
  struct pair p = pinned("unseen");
  float *vb = p.vb, *vc = p.vc;
  GrB_Matrix b = p.b, c = p.c;
  TRY(unseen_free(&p.c));
  TRY(unseen_free(&p.b));
  double worst = 0;
  p.b = full(&p.vb);
  p.c = full(&p.vc);
  for (GrB_Index i = 0; i < grid.rows * cols; i++) p.vb[i] = 1 - p.vb[i];
  for (int round = 0; round < 3; round++) {
    TRY(GrB_mxm(p.c, NULL, NULL, GrB_PLUS_TIMES_SEMIRING_FP32, a, p.b, NULL));
    worst = fmax(worst, error_of(p.vb, p.vc));
    TRY(GrB_Matrix_setElement_FP32(p.b, 0.25f * (float)round, 5, 1));
  }
  snprintf(
      text, sizeof text,
      "freed unseen, and new ones (the same arrays: %d, %d, the same handles: %d, %d): the worst "
      "error is %.1e",
      p.vb == vb || p.vb == vc, p.vc == vb || p.vc == vc, p.b == b || p.b == c,
      p.c == b || p.c == c, worst);
  check(worst < 1e-5, text);
  end(p);
}

int main(void)
{
  if (!open_driver()) {
    check_skip("no driver");
    return check_finish();
  }
  TRY(GrB_init(GrB_NONBLOCKING));
  grid = grid_matrix(20, 6, 1, "grid");
  read_grid();
  test_ways();
  test_unseen();
  GrB_Matrix_free(&a);
  TRY(GrB_finalize());
  return check_finish();
}
