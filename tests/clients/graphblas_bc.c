/* graphblas_bc.c: betweenness of an undirected graph's nodes from some sources at once (Brandes),
   in plain GraphBLAS, with the products of LAGraph's LAGr_Betweenness.

     forward    S[d] = pattern of F;  P += F;  F<!P,struct,replace> = F S      PLUS_FIRST of FP64
     backward   W<S[d]> = B ./ P;  W<S[d-1],struct,replace> = W S';  B += W .* P

   F, P, W and B have a row for each source; products are pushed while F or W is sparse, and pulled,
   as bitmaps, while it is not.

     graphblas_bc FILE.mtx[.gz] [SOURCES [STEPS]]  */
#include <math.h>

#include "graphblas_search.h"

enum { MOST_LEVELS = 4096 };

/* C<mask> = C * S, or C * S' by dot products. */
static void step(GrB_Matrix c, GrB_Matrix mask, GrB_Matrix s, bool pull, bool complement)
{
  const GrB_Descriptor push_by = complement ? GrB_DESC_RSC : GrB_DESC_RS;
  const GrB_Descriptor pull_by = complement ? GrB_DESC_RSCT1 : GrB_DESC_RST1;
  GRB_OK(GxB_Matrix_Option_set(c, GxB_SPARSITY_CONTROL, pull ? GxB_BITMAP : GxB_SPARSE));
  TIME_PRODUCT(GrB_mxm(c, mask, NULL, GxB_PLUS_FIRST_FP64, c, s, pull ? pull_by : push_by));
}

static GrB_Matrix pattern(GrB_Matrix f)
{
  GrB_Matrix s;
  GrB_Index m, n;
  GRB_OK(GrB_Matrix_nrows(&m, f));
  GRB_OK(GrB_Matrix_ncols(&n, f));
  GRB_OK(GrB_Matrix_new(&s, GrB_BOOL, m, n));
  GRB_OK(GrB_Matrix_assign_BOOL(s, f, NULL, true, GrB_ALL, m, GrB_ALL, n, GrB_DESC_S));
  return s;
}

/* Fills paths and levels[0 .. returned). */
static int forward(const struct graph *g, int sources, GrB_Matrix paths, GrB_Matrix *levels)
{
  const GrB_Index n = (GrB_Index)g->nodes, m = (GrB_Index)sources;
  GrB_Matrix f;
  GrB_Index count;
  int depth = 0;
  bool pull = false;
  GRB_OK(GrB_Matrix_new(&f, GrB_FP64, m, n));
  GRB_OK(GxB_Matrix_Option_set(paths, GxB_SPARSITY_CONTROL, GxB_BITMAP + GxB_FULL));
  for (int s = 0; s < sources; s++) {
    GRB_OK(GrB_Matrix_setElement_FP64(paths, 1, (GrB_Index)s, source(g, s, sources)));
    GRB_OK(GrB_Matrix_setElement_FP64(f, 1, (GrB_Index)s, source(g, s, sources)));
  }
  step(f, paths, g->s, false, true);
  GRB_OK(GrB_Matrix_nvals(&count, f));
  while (count > 0 && depth < MOST_LEVELS) {
    const double density = (double)count / ((double)m * (double)n);
    levels[depth++] = pattern(f);
    GRB_OK(GrB_Matrix_assign(paths, NULL, GrB_PLUS_FP64, f, GrB_ALL, m, GrB_ALL, n, NULL));
    pull = density > (pull ? 0.06 : 0.10);
    step(f, paths, g->s, pull, true);
    GRB_OK(GrB_Matrix_nvals(&count, f));
  }
  GRB_OK(GrB_Matrix_free(&f));
  return depth;
}

static void backward(const struct graph *g, GrB_Matrix paths, GrB_Matrix *levels, int depth,
                     GrB_Matrix update)
{
  GrB_Matrix w;
  GrB_Index m, n, here, next;
  GRB_OK(GrB_Matrix_nrows(&m, paths));
  GRB_OK(GrB_Matrix_ncols(&n, paths));
  GRB_OK(GrB_Matrix_assign_FP64(update, NULL, NULL, 1, GrB_ALL, m, GrB_ALL, n, NULL));
  GRB_OK(GrB_Matrix_new(&w, GrB_FP64, m, n));
  for (int d = depth - 1; d > 0; d--) {
    GRB_OK(GrB_Matrix_eWiseMult_BinaryOp(w, levels[d], NULL, GrB_DIV_FP64, update, paths,
                                         GrB_DESC_RS));
    GRB_OK(GrB_Matrix_nvals(&here, w));
    GRB_OK(GrB_Matrix_nvals(&next, levels[d - 1]));
    const double density = (double)here / ((double)m * (double)n);
    const double ratio = (double)here / (double)next;
    step(w, levels[d - 1], g->s, (density > 0.1 && ratio > 1) || (density > 0.01 && ratio > 10),
         false);
    GRB_OK(
        GrB_Matrix_eWiseMult_BinaryOp(update, NULL, GrB_PLUS_FP64, GrB_TIMES_FP64, w, paths, NULL));
  }
  GRB_OK(GrB_Matrix_free(&w));
}

/* The sum over all sources and nodes; each counts itself once. */
static uint64_t betweenness(const struct graph *g, int sources)
{
  const GrB_Index n = (GrB_Index)g->nodes, m = (GrB_Index)sources;
  GrB_Matrix paths, update, *levels = must(calloc(MOST_LEVELS, sizeof *levels));
  double sum = 0;
  GRB_OK(GrB_Matrix_new(&paths, GrB_FP64, m, n));
  GRB_OK(GrB_Matrix_new(&update, GrB_FP64, m, n));
  const int depth = forward(g, sources, paths, levels);
  backward(g, paths, levels, depth, update);
  GRB_OK(GrB_Matrix_reduce_FP64(&sum, NULL, GrB_PLUS_MONOID_FP64, update, NULL));
  for (int d = 0; d < depth; d++) GRB_OK(GrB_Matrix_free(&levels[d]));
  GRB_OK(GrB_Matrix_free(&paths));
  GRB_OK(GrB_Matrix_free(&update));
  free(levels);
  return (uint64_t)llround(sum);
}

/* Brandes' dependencies of one source, added up: the sum of path lengths less the nodes reached,
   for a node counts once for each node behind it on a path.  */
static uint64_t expected_sum(const struct graph *g, int sources)
{
  return (uint64_t)g->nodes * (uint64_t)sources + distances(g, sources, 1);
}

int main(int argc, char **argv)
{
  return search_main(
      argc, argv, &(struct search){"graphblas_bc", "betweenness", 32, betweenness, expected_sum});
}
