/* graphblas_msbfs.c: breadth-first search of an undirected graph from many nodes at once, in plain
   GraphBLAS.

     repeat  V<F> = level of F;  F<!V,struct,replace> = F S  until F is empty

   in ANY_PAIR of BOOL; F and V have a row for each source.

     graphblas_msbfs FILE.mtx[.gz] [SOURCES [STEPS]]  */
#include "graphblas_graph.h"

static GrB_Index source(const struct graph *g, int s, int sources)
{
  return (GrB_Index)(g->nodes * s / sources);
}

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

/* One source after the other, with a queue. */
static uint64_t expected_sum(const struct graph *g, int sources)
{
  int64_t *level = must(malloc((size_t)g->nodes * sizeof *level + 1));
  GrB_Index *queue = must(malloc((size_t)g->nodes * sizeof *queue + 1));
  uint64_t sum = 0;
  for (int s = 0; s < sources; s++) {
    int64_t head = 0, tail = 1;
    for (int64_t i = 0; i < g->nodes; i++) level[i] = -1;
    queue[0] = source(g, s, sources);
    level[queue[0]] = 0;
    for (; head < tail; head++) {
      const GrB_Index i = queue[head];
      sum += (uint64_t)level[i];
      for (int64_t e = g->begin[i]; e < g->begin[i + 1]; e++) {
        if (level[g->j[e]] >= 0) continue;
        level[g->j[e]] = level[i] + 1;
        queue[tail++] = g->j[e];
      }
    }
  }
  free(level);
  free(queue);
  return sum;
}

int main(int argc, char **argv)
{
  if (argc < 2) return fprintf(stderr, "usage: graphblas_msbfs FILE [SOURCES [STEPS]]\n"), 2;
  const int sources = argc > 2 ? atoi(argv[2]) : 64;
  const int steps = argc > 3 ? atoi(argv[3]) : 5;
  if (sources < 1) return fprintf(stderr, "graphblas_msbfs: SOURCES is 1 or more\n"), 2;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct graph g = graph_read(argv[1]);
  if (g.nodes < 1) return fprintf(stderr, "graphblas_msbfs: a graph without nodes\n"), 2;
  struct step_time best = {0, 0};
  uint64_t sum = 0;
  for (int s = 0; s < steps; s++) {
    const double begin = seconds_now();
    product_seconds = 0;
    sum = search(&g, sources);
    keep_best(&best, seconds_now() - begin, product_seconds);
  }
  const int bad = graph_row("breadth first", argv[1], &g, best, sum, expected_sum(&g, sources));
  graph_free(&g);
  GRB_OK(GrB_finalize());
  return bad;
}
