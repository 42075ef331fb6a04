/* graphblas_msbfs.c: breadth-first search of an undirected graph from many nodes at once, in plain
   GraphBLAS.

     repeat  V<F> = level of F;  F<!V,struct,replace> = F S  until F is empty

   in ANY_PAIR of BOOL; F and V have a row for each source.  With parents, as in LAGraph's
   LAGr_MultiSourceBFS, in ANY_SECONDI of INT32, where P is a bitmap:

     P(s, source of s) = that source
     repeat  F<!P,struct,replace> = F S;  P<F> = F  until F is empty

     graphblas_msbfs FILE.mtx[.gz] [SOURCES [STEPS [parents]]]  */
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

/* ---- trees ----------------------------------------------------------------------------------- */

static bool is_edge(const struct graph *g, GrB_Index from, GrB_Index to)
{
  for (int64_t e = g->begin[from]; e < g->begin[from + 1]; e++)
    if (g->j[e] == to) return true;
  return false;
}

/* Is each parent a neighbour, met one level before? */
static bool are_parents(const struct graph *g, GrB_Matrix p, GrB_Matrix levels)
{
  GrB_Index count, n;
  bool good = true;
  GRB_OK(GrB_Matrix_nvals(&count, p));
  GrB_Index *i = must(malloc(count * sizeof *i + 1)), *j = must(malloc(count * sizeof *j + 1));
  int32_t *parent = must(malloc(count * sizeof *parent + 1));
  n = count;
  GRB_OK(GrB_Matrix_extractTuples_INT32(i, j, parent, &n, p));
  for (GrB_Index e = 0; e < n && good; e++) {
    int64_t own = -1, before = -1;
    const GrB_Index from = (GrB_Index)parent[e];
    GRB_OK(GrB_Matrix_extractElement_INT64(&own, levels, i[e], j[e]));
    GRB_OK(GrB_Matrix_extractElement_INT64(&before, levels, i[e], from));
    good = own == 0 ? from == j[e] : before == own - 1 && is_edge(g, from, j[e]);
  }
  free(i);
  free(j);
  free(parent);
  return good;
}

/* V<F> = level, where levels are asked for. */
static void note_level(GrB_Matrix v, GrB_Matrix f, int64_t level)
{
  GrB_Index m, n;
  if (!v) return;
  GRB_OK(GrB_Matrix_nrows(&m, f));
  GRB_OK(GrB_Matrix_ncols(&n, f));
  GRB_OK(GrB_Matrix_assign_INT64(v, f, NULL, level, GrB_ALL, m, GrB_ALL, n, GrB_DESC_S));
}

/* The sum of all levels.  v: NULL, or what becomes of each level. */
static uint64_t search_into(const struct graph *g, int sources, GrB_Matrix p, GrB_Matrix v)
{
  GrB_Matrix f;
  const GrB_Index n = (GrB_Index)g->nodes, m = (GrB_Index)sources;
  GrB_Index count = m;
  uint64_t sum = 0;
  GRB_OK(GrB_Matrix_new(&f, GrB_INT32, m, n));
  GRB_OK(GxB_Matrix_Option_set(p, GxB_SPARSITY_CONTROL, GxB_BITMAP + GxB_FULL));
  for (GrB_Index s = 0; s < m; s++) {
    const GrB_Index from = source(g, (int)s, sources);
    GRB_OK(GrB_Matrix_setElement_INT32(p, (int32_t)from, s, from));
    GRB_OK(GrB_Matrix_setElement_INT32(f, 0, s, from));
  }
  note_level(v, f, 0);
  for (uint64_t level = 1; count > 0; level++) {
    TIME_PRODUCT(GrB_mxm(f, p, NULL, GxB_ANY_SECONDI_INT32, f, g->s, GrB_DESC_RSC));
    GRB_OK(GrB_Matrix_nvals(&count, f));
    sum += level * count;
    note_level(v, f, (int64_t)level);
    GRB_OK(GrB_Matrix_assign(p, f, NULL, f, GrB_ALL, m, GrB_ALL, n, GrB_DESC_S));
  }
  GRB_OK(GrB_Matrix_free(&f));
  return sum;
}

static uint64_t search_trees(const struct graph *g, int sources)
{
  GrB_Matrix p;
  GRB_OK(GrB_Matrix_new(&p, GrB_INT32, (GrB_Index)sources, (GrB_Index)g->nodes));
  const uint64_t sum = search_into(g, sources, p, NULL);
  GRB_OK(GrB_Matrix_free(&p));
  return sum;
}

/* Once more, with levels; a wrong parent makes it 0. */
static uint64_t sum_of_trees(const struct graph *g, int sources)
{
  GrB_Matrix p, v;
  GRB_OK(GrB_Matrix_new(&p, GrB_INT32, (GrB_Index)sources, (GrB_Index)g->nodes));
  GRB_OK(GrB_Matrix_new(&v, GrB_INT64, (GrB_Index)sources, (GrB_Index)g->nodes));
  search_into(g, sources, p, v);
  const bool good = are_parents(g, p, v);
  GRB_OK(GrB_Matrix_free(&p));
  GRB_OK(GrB_Matrix_free(&v));
  return good ? distances(g, sources, 0) : 0;
}

int main(int argc, char **argv)
{
  const bool trees = argc > 4 && !strcmp(argv[4], "parents");
  const struct search levels = {"graphblas_msbfs", "breadth first", 64, search, expected_sum},
                      parents = {"graphblas_msbfs", "search trees", 64, search_trees, sum_of_trees};
  return search_main(argc, argv, trees ? &parents : &levels);
}
