/* cost.c: what a product that is passed through costs more than the original.

     cost [LIMIT_NS]

   The subject's GrB_mxm and the original's, called in turn on the same 4 x 4 matrices, which are
   left to the original for one reason or another: the difference of the two least times, over
   many rounds; a busy machine makes single times longer, hardly ever the least ones.  The best
   of several attempts counts.  To be run without SHUNT_ROUTES, which would force the small
   products to be taken.  */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "original.h"

enum { ROUNDS = 4000, CALLS = 20, ATTEMPTS = 10 };

static double nanoseconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

struct passed {
  const char *why;
  int form_a, form_b;
  GrB_Semiring semiring;
};

static GrB_Matrix make(int form)
{
  GrB_Matrix a = NULL;
  GrB_Matrix_new(&a, GrB_FP64, 4, 4);
  GxB_Matrix_Option_set(a, GxB_SPARSITY_CONTROL, form);
  for (GrB_Index i = 0; i < 16; i++)
    if (form == GxB_FULL || i % 5 == 0) GrB_Matrix_setElement_FP64(a, (double)i + 1, i / 4, i % 4);
  GrB_Matrix_wait(a, GrB_MATERIALIZE);
  return a;
}

static double time_of(const struct products *p, const struct passed *x, GrB_Matrix c, GrB_Matrix a,
                      GrB_Matrix b)
{
  double start = nanoseconds();
  for (int i = 0; i < CALLS; i++)
    p->mxm(c, NULL, NULL, x->semiring, a, b, NULL);
  return (nanoseconds() - start) / CALLS;
}

/* The least difference, and the original's time with it. */
static double compare(const struct passed *x, double limit, double *original_least)
{
  struct products subject, original;
  double least = 1e9;
  if (!products_find(&subject, &original)) return least;
  GrB_Matrix a = make(x->form_a), b = make(x->form_b), c = make(GxB_SPARSE);
  for (int attempt = 0; attempt < ATTEMPTS && least >= limit; attempt++) {
    double ours = 1e9, theirs = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
      double t = time_of(&original, x, c, a, b), u = time_of(&subject, x, c, a, b);
      theirs = t < theirs ? t : theirs;
      ours = u < ours ? u : ours;
    }
    if (ours - theirs >= least) continue;
    least = ours - theirs;
    *original_least = theirs;
  }
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&b);
  GrB_Matrix_free(&c);
  return least;
}

int main(int argc, char **argv)
{
  double limit = argc > 1 ? atof(argv[1]) : 200;
  int failed = 0;
  if (GrB_init(GrB_NONBLOCKING)) return 2;
  const struct passed cases[] = {
      {"sparse x sparse", GxB_SPARSE, GxB_SPARSE, GrB_PLUS_TIMES_SEMIRING_FP64},
      {"full x full", GxB_FULL, GxB_FULL, GrB_PLUS_TIMES_SEMIRING_FP64},
      {"another semiring", GxB_SPARSE, GxB_FULL, GxB_TIMES_PLUS_FP64},
      {"another type", GxB_SPARSE, GxB_FULL, GrB_PLUS_TIMES_SEMIRING_FP32},
      {"too small", GxB_SPARSE, GxB_FULL, GrB_PLUS_TIMES_SEMIRING_FP64},
  };
  for (int i = 0; i < 5; i++) {
    double original = 0, more = compare(&cases[i], limit, &original);
    failed += more >= limit;
    printf(
        "%s - a product passed through (%s) costs %.0f ns more, limit %.0f (the original %.0f)\n",
        more < limit ? "ok" : "not ok", cases[i].why, more, limit, original);
  }
  GrB_finalize();
  printf("%d passed, %d failed, 0 skipped\n", 5 - failed, failed);
  return failed != 0;
}
