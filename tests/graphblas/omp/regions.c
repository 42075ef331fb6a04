/* regions.c: parallel regions of a product that Shunt takes, by standing in for the function of
   libgomp that begins one: at each end all threads are waited for, one whose core serves another
   program too.

     regions [MOST]     of each product; default 1

   To be run under a preload: then one of the products at least begins a region.  Linked with
   -rdynamic.  */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <GraphBLAS.h>

#include "../../unit/check.h"
#include "../rng.h"

enum { NODES = 1 << 13, EDGES = 1 << 17, SOURCES = 64 };

static long of_shunt, of_others, all;

static void count(const void *caller)
{
  Dl_info at;
  const bool known = dladdr(caller, &at) && at.dli_fname;
  if (known && strstr(at.dli_fname, "libshunt"))
    of_shunt++;
  else
    of_others++;
}

void GOMP_parallel(void (*work)(void *), void *data, unsigned threads, unsigned flags)
{
  static void (*next)(void (*)(void *), void *, unsigned, unsigned);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "GOMP_parallel");
  count(__builtin_return_address(0));
  next(work, data, threads, flags);
}

void GOMP_parallel_loop_nonmonotonic_dynamic(void (*work)(void *), void *data, unsigned threads,
                                             long start, long end, long step, long chunk,
                                             unsigned flags)
{
  static void (*next)(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
  if (!next) *(void **)&next = dlsym(RTLD_NEXT, "GOMP_parallel_loop_nonmonotonic_dynamic");
  count(__builtin_return_address(0));
  next(work, data, threads, start, end, step, chunk, flags);
}

static void need(GrB_Info info)
{
  if (info == GrB_SUCCESS) return;
  printf("not ok - GraphBLAS answers %d\n", (int)info);
  exit(1);
}

/* Undirected; nodes of small numbers have more neighbours. */
static GrB_Matrix graph(void)
{
  GrB_Matrix s;
  uint64_t rng = 1;
  need(GrB_Matrix_new(&s, GrB_FP64, NODES, NODES));
  for (int e = 0; e < EDGES; e++) {
    const GrB_Index i = (GrB_Index)rng_below(&rng, 1 + rng_below(&rng, NODES)),
                    j = (GrB_Index)rng_below(&rng, NODES);
    if (i == j) continue;
    need(GrB_Matrix_setElement_FP64(s, 1 + e % 5, i, j));
    need(GrB_Matrix_setElement_FP64(s, 1 + e % 5, j, i));
  }
  need(GrB_Matrix_wait(s, GrB_MATERIALIZE));
  return s;
}

static GrB_Matrix sources(GrB_Type type)
{
  GrB_Matrix f;
  need(GrB_Matrix_new(&f, type, SOURCES, NODES));
  for (GrB_Index s = 0; s < SOURCES; s++)
    for (GrB_Index k = 0; k < 16; k++)
      need(GrB_Matrix_setElement_BOOL(f, true, s, s * 31 % NODES + k * 401 % 4096));
  need(GrB_Matrix_wait(f, GrB_MATERIALIZE));
  return f;
}

struct product {
  const char *name;
  GrB_Matrix m, a, b;
  GrB_Semiring by;
  GrB_Descriptor how;
};

static void run(const struct product *p, long most)
{
  GrB_Matrix c;
  GrB_Index rows, cols;
  need(GrB_Matrix_nrows(&rows, p->m));
  need(GrB_Matrix_ncols(&cols, p->m));
  need(GrB_Matrix_new(&c, GrB_FP64, rows, cols));
  of_shunt = of_others = 0;
  need(GrB_mxm(c, p->m, NULL, p->by, p->a, p->b, p->how));
  check(of_shunt <= most, "%s: %ld regions, %ld of GraphBLAS", p->name, of_shunt, of_others);
  all += of_shunt;
  need(GrB_Matrix_free(&c));
}

int main(int argc, char **argv)
{
  const long most = argc > 1 ? atol(argv[1]) : 1;
  need(GrB_init(GrB_NONBLOCKING));
  need(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, 4));
  GrB_Matrix s = graph(), f = sources(GrB_BOOL), x = sources(GrB_FP64), l, u;
  need(GrB_Matrix_new(&l, GrB_FP64, NODES, NODES));
  need(GrB_Matrix_new(&u, GrB_FP64, NODES, NODES));
  need(GrB_Matrix_select_INT64(l, NULL, NULL, GrB_TRIL, s, -1, NULL));
  need(GrB_Matrix_select_INT64(u, NULL, NULL, GrB_TRIU, s, 1, NULL));
  const struct product products[] = {
      {"C<S> = S S'", s, s, s, GxB_PLUS_PAIR_INT64, GrB_DESC_RST1},
      {"C<S> = S S', values", s, s, s, GrB_PLUS_TIMES_SEMIRING_FP64, GrB_DESC_RST1},
      {"C<S> = S U', a valued mask", s, s, u, GrB_PLUS_TIMES_SEMIRING_FP64, GrB_DESC_RT1},
      {"C<L> = L U'", l, l, u, GxB_PLUS_PAIR_INT64, GrB_DESC_RST1},
      {"C<L> = L L", l, l, l, GxB_PLUS_PAIR_INT64, GrB_DESC_RS},
      {"C<U> = U' U", u, u, u, GxB_PLUS_PAIR_INT64, GrB_DESC_RST0},
      {"F<!F> = F S", f, f, s, GxB_ANY_PAIR_BOOL, GrB_DESC_RSC},
      {"F<!F> = F S, sums", x, x, s, GxB_PLUS_FIRST_FP64, GrB_DESC_RSC},
  };
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) run(&products[i], most);
  check(all > 0, "%ld in all", all);
  need(GrB_Matrix_free(&s));
  need(GrB_Matrix_free(&l));
  need(GrB_Matrix_free(&u));
  need(GrB_Matrix_free(&f));
  need(GrB_Matrix_free(&x));
  need(GrB_finalize());
  return check_finish();
}
