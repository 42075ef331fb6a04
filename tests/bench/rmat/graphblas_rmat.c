/* graphblas_rmat.c: products of graph programs on large R-MAT graphs (rmat.h) by the GrB_mxm that
   the program is bound to, Shunt's under its preload; GraphBLAS itself, which takes minutes, is not
   asked.

     LD_PRELOAD=.../libshunt-graphblas.so SHUNT_CACHE_MB=... graphblas_rmat [-t THREADS]
         [-r REPEATS] [-d] SCALE ...

     S     C<S> = S S', PLUS_PAIR of UINT32: a symmetric graph, as in k-truss
     D     C<D> = D D': its arcs to the node of more neighbours, as triangles are counted

   A row for each: entries, s of the first product, s of later ones (median), the sum of C.  It
   checks entries of C at sampled places against a merge on the host, and the sum of S' against six
   times that of D's, the triangles.  -d: D alone, which takes half the memory.  At 2^25 nodes, 10^9
   entries of S, the host needs 9 GB for S, 4 for its copy here, 13 for C and 4 to make it.  */
#include <GraphBLAS.h>
#include <getopt.h>
#include <omp.h>
#include <stdio.h>

#include "tests/bench/rmat/rmat.h"

static int repeats = 3, wrong;
static bool arcs_alone;

#define OK(call)                                                                                   \
  do {                                                                                             \
    const GrB_Info info_ = (call);                                                                 \
    if (info_ != GrB_SUCCESS) {                                                                    \
      printf("%s:%d %s: %d\n", __FILE__, __LINE__, #call, (int)info_);                             \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

/* All ones; g keeps its arrays. */
static GrB_Matrix matrix(const struct rmat *g)
{
  GrB_Matrix a;
  const GrB_Index n = (GrB_Index)g->nodes;
  GrB_Index *offsets = rmat_memory(g->nodes + 1, sizeof *offsets);
  GrB_Index *columns = rmat_memory(g->entries, sizeof *columns);
  void *one = rmat_memory(1, sizeof(uint32_t));
  *(uint32_t *)one = 1;
#pragma omp parallel for
  for (int64_t i = 0; i <= g->nodes; i++) offsets[i] = (GrB_Index)g->offsets[i];
#pragma omp parallel for
  for (int64_t e = 0; e < g->entries; e++) columns[e] = (GrB_Index)g->columns[e];
  OK(GxB_Matrix_import_CSR(&a, GrB_UINT32, n, n, &offsets, &columns, &one,
                           (n + 1) * sizeof *offsets, (GrB_Index)g->entries * sizeof *columns,
                           sizeof(uint32_t), true, false, NULL));
  return a;
}

static void sample(const struct rmat *g, GrB_Matrix c)
{
  enum { LOOKED_AT = 4096 };
  int64_t i = 0, bad = 0;
  for (int64_t n = 0; n < LOOKED_AT; n++) {
    uint32_t there = 0;
    const int64_t e = (int64_t)((double)g->entries / LOOKED_AT * (double)n);
    while (g->offsets[i + 1] <= e) i++;
    const int64_t want = rmat_shared(g, i, g->columns[e]);
    const GrB_Info info =
        GrB_Matrix_extractElement_UINT32(&there, c, (GrB_Index)i, (GrB_Index)g->columns[e]);
    bad += info != (want ? GrB_SUCCESS : GrB_NO_VALUE) || there != want;
  }
  if (bad) printf("# %ld of %d entries are WRONG\n", (long)bad, LOOKED_AT);
  wrong += bad > 0;
}

static int ascending(const void *x, const void *y)
{
  const double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

/* The sum of C. */
static int64_t product(const char *what, const struct rmat *g)
{
  GrB_Matrix a = matrix(g), c;
  double took[100];
  int64_t sum = 0;
  for (int i = 0; i <= repeats; i++) {
    OK(GrB_Matrix_new(&c, GrB_UINT32, (GrB_Index)g->nodes, (GrB_Index)g->nodes));
    const double start = omp_get_wtime();
    OK(GrB_mxm(c, a, NULL, GxB_PLUS_PAIR_UINT32, a, a, GrB_DESC_RST1));
    took[i] = omp_get_wtime() - start;
    if (i < repeats) GrB_Matrix_free(&c);
  }
  OK(GrB_Matrix_reduce_INT64(&sum, NULL, GrB_PLUS_MONOID_INT64, c, NULL));
  sample(g, c);
  qsort(took + 1, (size_t)repeats, sizeof *took, ascending);
  printf("%-24s %12ld %10.3f %10.3f %16ld\n", what, (long)g->entries, took[0],
         took[1 + repeats / 2], (long)sum);
  fflush(stdout);
  GrB_Matrix_free(&a);
  GrB_Matrix_free(&c);
  return sum;
}

static void graph(int scale)
{
  char what[64];
  const double start = omp_get_wtime();
  struct rmat g = rmat_make(scale), d = rmat_arcs(&g);
  printf("# rmat%d was made in %.1f s\n", scale, omp_get_wtime() - start);
  snprintf(what, sizeof what, "rmat%d C<D> = D D'", scale);
  const int64_t triangles = product(what, &d);
  rmat_free(&d);
  snprintf(what, sizeof what, "rmat%d C<S> = S S'", scale);
  const int64_t all = arcs_alone ? 6 * triangles : product(what, &g);
  if (all != 6 * triangles) printf("# sums are WRONG\n"), wrong++;
  rmat_free(&g);
}

int main(int argc, char **argv)
{
  int option, threads = 16;
  while ((option = getopt(argc, argv, "t:r:d")) != -1) {
    if (option == 't') threads = atoi(optarg);
    if (option == 'r') repeats = atoi(optarg);
    if (option == 'd') arcs_alone = true;
    if (option == '?') return 2;
  }
  if (repeats < 1 || repeats > 99) return 2;
  OK(GrB_init(GrB_NONBLOCKING));
  OK(GxB_Global_Option_set(GxB_GLOBAL_NTHREADS, threads));
  omp_set_num_threads(threads);
  printf("# %d threads; entries, s of the first product and of later ones, sum\n", threads);
  for (int i = optind; i < argc; i++) graph(atoi(argv[i]));
  OK(GrB_finalize());
  return wrong != 0;
}
