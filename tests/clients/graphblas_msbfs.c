/* graphblas_msbfs.c: breadth-first search of an undirected graph from many nodes at once, in plain
   GraphBLAS.

     repeat  V<F> = level of F;  F<!V,struct,replace> = F S  until F is empty

   in ANY_PAIR of BOOL; F and V have a row for each source.

     graphblas_msbfs FILE.mtx[.gz] [SOURCES [STEPS]]  */
#include "graphblas_search.h"

/* The sum of all levels. */
static uint64_t search(const struct graph *g, int sources)
{
  GrB_Matrix f, v;
  const GrB_Index n = (GrB_Index)g->nodes, m = (GrB_Index)sources;
  GrB_Index count = m;
  int64_t sum = 0;
  GRB_OK(GrB_Matrix_new(&f, GrB_BOOL, m, n));
  GRB_OK(GrB_Matrix_new(&v, GrB_INT64, m, n));
  for (int s = 0; s < sources; s++)
    GRB_OK(GrB_Matrix_setElement_BOOL(f, true, (GrB_Index)s, source(g, s, sources)));
  for (int64_t level = 0; count > 0; level++) {
    GRB_OK(GrB_Matrix_assign_INT64(v, f, NULL, level, GrB_ALL, m, GrB_ALL, n, GrB_DESC_S));
    TIME_PRODUCT(GrB_mxm(f, v, NULL, GxB_ANY_PAIR_BOOL, f, g->s, GrB_DESC_RSC));
    GRB_OK(GrB_Matrix_nvals(&count, f));
  }
  GRB_OK(GrB_Matrix_reduce_INT64(&sum, NULL, GrB_PLUS_MONOID_INT64, v, NULL));
  GRB_OK(GrB_Matrix_free(&f));
  GRB_OK(GrB_Matrix_free(&v));
  return (uint64_t)sum;
}

static uint64_t expected_sum(const struct graph *g, int sources)
{
  return distances(g, sources, 0);
}

int main(int argc, char **argv)
{
  return search_main(
      argc, argv, &(struct search){"graphblas_msbfs", "breadth first", 64, search, expected_sum});
}
