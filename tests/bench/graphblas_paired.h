/* graphblas_paired.h: one product by GraphBLAS itself and by the GrB_mxm that the program is
   bound to (Shunt's, under the preload), in turns in one process; medians of both.

   On a machine that does other work besides, the time of the clock says little: paired_clock is
   then CLOCK_PROCESS_CPUTIME_ID, with one thread.  */
#ifndef GRAPHBLAS_PAIRED_H
#define GRAPHBLAS_PAIRED_H

#include <dlfcn.h>
#include <getopt.h>
#include <omp.h>
#include <stdbool.h>

#include "tests/clients/graphblas_common.h"

typedef GrB_Info (*mxm_function)(GrB_Matrix, const GrB_Matrix, const GrB_BinaryOp,
                                 const GrB_Semiring, const GrB_Matrix, const GrB_Matrix,
                                 const GrB_Descriptor);

/* Of the library that has the other functions which the program is bound to, whatever its name;
   NULL: that is not known.  */
static inline mxm_function original_mxm(void)
{
  Dl_info where;
  GrB_Info (*const other)(GrB_Index *, const GrB_Matrix) = GrB_Matrix_nrows;
  if (!dladdr((void *)(uintptr_t)other, &where)) return NULL;
  void *library = dlopen(where.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  return library ? (mxm_function)(uintptr_t)dlsym(library, "GrB_mxm") : NULL;
}

/* C<mask> = accum (C, A * B); c: C before the product, copied for each. */
struct paired_product {
  GrB_Matrix c, mask;
  GrB_BinaryOp accum;
  GrB_Semiring semiring;
  GrB_Matrix a, b;
  GrB_Descriptor descriptor;
};

static clockid_t paired_clock = CLOCK_MONOTONIC;

static inline double paired_seconds(void)
{
  struct timespec t;
  clock_gettime(paired_clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct paired_time {
  double original, shunt; /* median, ms */
  double least_original, least_shunt;
};

static inline double paired_once(mxm_function mxm, const struct paired_product *p)
{
  GrB_Matrix c;
  GRB_OK(GrB_Matrix_dup(&c, p->c));
  const double start = paired_seconds();
  GRB_OK(mxm(c, p->mask, p->accum, p->semiring, p->a, p->b, p->descriptor));
  const double ms = (paired_seconds() - start) * 1e3;
  GrB_Matrix_free(&c);
  return ms;
}

static inline int paired_ascending(const void *x, const void *y)
{
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* original: NULL to time GrB_mxm alone.  repeats: 1 .. 99 */
static inline struct paired_time paired_run(mxm_function original, const struct paired_product *p,
                                            int repeats)
{
  double theirs[99], ours[99];
  paired_once(GrB_mxm, p); /* pages, caches, threads */
  for (int i = 0; i < repeats; i++) {
    theirs[i] = original ? paired_once(original, p) : 0;
    ours[i] = paired_once(GrB_mxm, p);
  }
  qsort(theirs, (size_t)repeats, sizeof *theirs, paired_ascending);
  qsort(ours, (size_t)repeats, sizeof *ours, paired_ascending);
  return (struct paired_time){theirs[repeats / 2], ours[repeats / 2], theirs[0], ours[0]};
}

/* What the programs' options say: -t THREADS, -u (processor time, of one thread), -r REPEATS,
   -q (the original once), -o FILE for JSON, -p TEXT of the names of products.  False: they are
   wrong, or there is no original.  GraphBLAS is begun.  */
struct paired_options {
  mxm_function original;
  int threads, repeats;
  bool once;
  FILE *json;       /* NULL: none */
  const char *only; /* NULL: all products */
};

static inline bool paired_begin(int argc, char **argv, struct paired_options *o)
{
  int option;
  while ((option = getopt(argc, argv, "t:uqr:o:p:")) != -1) {
    if (option == 't') o->threads = atoi(optarg);
    if (option == 'u') paired_clock = CLOCK_PROCESS_CPUTIME_ID, o->threads = 1;
    if (option == 'q') o->once = true;
    if (option == 'r') o->repeats = atoi(optarg);
    if (option == 'o') o->json = fopen(optarg, "w");
    if (option == 'p') o->only = optarg;
    if (option == '?') return false;
  }
  if (o->repeats < 1 || o->repeats > 99) return false;
  omp_set_num_threads(o->threads); /* which GraphBLAS of any version takes for its own number */
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  o->original = original_mxm();
  if (o->original == GrB_mxm) printf("# without the preload: the original beside itself\n");
  return o->original != NULL;
}

#endif
