/* vectors.c: which products of a sparse matrix with a full vector are taken when nothing is forced
   (MIN and MAX of floats, where A's rows are at hand and no mask leaves any out), and that their
   results are the original's to the bit.

   To be run without SHUNT_ROUTES, which would force the others to be taken too.  */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "original.h"
#include "rng.h"

enum { SIZE = 700, ENTRIES = 20000 };

struct product {
  const char *what;
  GrB_Type type;
  GrB_Semiring semiring;
  GrB_BinaryOp accum;
  GrB_Descriptor descriptor;
  bool by_column, vxm, masked, missing, dense;
  bool taken; /* without anybody's word */
};

/* Whole numbers; the last rows and columns have nothing, or one NaN or infinity. */
static GrB_Matrix make_matrix(GrB_Type type, bool by_column, bool dense)
{
  const GrB_Index end = SIZE - 5;
  GrB_Matrix a = NULL;
  uint64_t r = 1;
  GrB_Matrix_new(&a, type, SIZE, SIZE);
  GxB_Matrix_Option_set(a, GxB_FORMAT, by_column ? GxB_BY_COL : GxB_BY_ROW);
  for (int e = 0; e < ENTRIES; e++) {
    GrB_Index i = rng_next(&r) % end, j = rng_next(&r) % end;
    GrB_Matrix_setElement_INT32(a, (int)rng_below(&r, 1000) - 500, i, j);
  }
  if (type == GrB_FP32 || type == GrB_FP64) {
    GrB_Matrix_setElement_FP64(a, (double)NAN, end, end);
    GrB_Matrix_setElement_FP64(a, (double)INFINITY, end + 1, end + 1);
    GrB_Matrix_setElement_FP64(a, -(double)INFINITY, end + 2, end + 2);
  }
  if (dense) GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, GxB_BITMAP);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  return a;
}

static GrB_Vector make_vector(GrB_Type type, bool missing)
{
  GrB_Vector v = NULL;
  uint64_t r = 2;
  GrB_Vector_new(&v, type, SIZE);
  for (GrB_Index i = 0; i < SIZE; i++)
    if (!missing || i % 9) GrB_Vector_setElement_INT32(v, (int)rng_below(&r, 1000) + 1, i);
  GrB_Vector_wait(v, GrB_MATERIALIZE);
  return v;
}

static GrB_Info multiply(const struct products *by, const struct product *x, GrB_Matrix a,
                         GrB_Vector u, GrB_Vector w)
{
  GrB_Vector mask = x->masked ? u : NULL;
  return x->vxm ? by->vxm(w, mask, x->accum, x->semiring, u, a, x->descriptor)
                : by->mxv(w, mask, x->accum, x->semiring, a, u, x->descriptor);
}

/* The same entries and bits, by a type that holds those of all others. */
static bool same(GrB_Vector x, GrB_Vector y)
{
  static GrB_Index at[2][SIZE];
  static double value[2][SIZE];
  GrB_Index n[2] = {SIZE, SIZE};
  return !GrB_Vector_extractTuples_FP64(at[0], value[0], &n[0], x) &&
         !GrB_Vector_extractTuples_FP64(at[1], value[1], &n[1], y) && n[0] == n[1] && n[0] > 0 &&
         !memcmp(at[0], at[1], n[0] * sizeof at[0][0]) &&
         !memcmp(value[0], value[1], n[0] * sizeof value[0][0]);
}

static bool test(const struct products *subject, const struct products *original,
                 const struct product *x, bool preloaded)
{
  GrB_Matrix a = make_matrix(x->type, x->by_column, x->dense);
  GrB_Vector u = make_vector(x->type, x->missing), w[2] = {NULL, NULL};
  for (int i = 0; i < 2; i++)
    if (x->accum)
      w[i] = make_vector(x->type, false);
    else
      GrB_Vector_new(&w[i], x->type, SIZE);
  calls_reset();
  bool right = !multiply(subject, x, a, u, w[0]);
  const bool taken = calls_seen() == 0;
  right = right && !multiply(original, x, a, u, w[1]) && same(w[0], w[1]);
  right = right && taken == (preloaded && x->taken);
  printf("%s - %s: the original's result, %s\n", right ? "ok" : "not ok", x->what,
         taken ? "taken" : "by the original");
  GrB_Matrix_free(&a);
  GrB_Vector_free(&u);
  for (int i = 0; i < 2; i++) GrB_Vector_free(&w[i]);
  return right;
}

int main(void)
{
  struct products subject, original;
  if (GrB_init(GrB_NONBLOCKING) || !products_find(&subject, &original)) return 2;
  const bool preloaded = products_preloaded(&subject, &original);
  const struct product all[] = {
      {"MIN_PLUS, FP32", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, .taken = true},
      {"MIN_PLUS, FP64, added", GrB_FP64, GrB_MIN_PLUS_SEMIRING_FP64, GrB_MIN_FP64, .taken = true},
      {"MAX_SECOND, FP64", GrB_FP64, GrB_MAX_SECOND_SEMIRING_FP64, .taken = true},
      {"MAX_TIMES, FP32, subtracted", GrB_FP32, GrB_MAX_TIMES_SEMIRING_FP32, GrB_MINUS_FP32,
       .taken = true},
      {"MIN_PLUS, A' by column", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, NULL, GrB_DESC_T0,
       .by_column = true, .taken = true},
      {"MIN_FIRST of u and A by column", GrB_FP32, GrB_MIN_FIRST_SEMIRING_FP32, .by_column = true,
       .vxm = true, .taken = true},
      {"MIN_PLUS of u and A'", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, NULL, GrB_DESC_T1, .vxm = true,
       .taken = true},
      {"MIN_PLUS, A by column", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, .by_column = true},
      {"MIN_PLUS, A'", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, NULL, GrB_DESC_T0, .taken = false},
      {"MIN_PLUS of u and A", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, .vxm = true},
      {"MIN_PLUS, a mask", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, .masked = true, .missing = true},
      {"MIN_PLUS, u not full", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, .missing = true},
      {"MIN_PLUS, A a bitmap", GrB_FP32, GrB_MIN_PLUS_SEMIRING_FP32, .dense = true},
      {"MIN_PLUS, INT32", GrB_INT32, GrB_MIN_PLUS_SEMIRING_INT32, .taken = false},
      {"PLUS_TIMES, FP32", GrB_FP32, GrB_PLUS_TIMES_SEMIRING_FP32, .taken = false},
      {"PLUS_SECOND, FP64, added", GrB_FP64, GxB_PLUS_SECOND_FP64, GrB_PLUS_FP64, .taken = false},
  };
  const int count = (int)(sizeof all / sizeof *all);
  int failed = 0;
  calls_watch();
  for (int i = 0; i < count; i++) failed += !test(&subject, &original, &all[i], preloaded);
  GrB_finalize();
  printf("%d passed, %d failed, 0 skipped\n", count - failed, failed);
  return failed != 0;
}
