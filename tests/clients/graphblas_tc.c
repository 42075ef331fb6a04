/* graphblas_tc.c: the triangles of an undirected graph, in plain GraphBLAS.

     C<L> = L U',   triangles = sum of C        L, U: the entries below and above the diagonal
     C<L> = L L,    the same

   in PLUS_PAIR of INT64, which counts the common neighbours of both ends of each edge.

     graphblas_tc FILE.mtx[.gz] [STEPS]  */
#include "graphblas_graph.h"

struct halves {
  GrB_Matrix l, u;
};

static struct halves make_halves(const struct graph *g)
{
  struct halves h;
  const GrB_Index n = (GrB_Index)g->nodes;
  GRB_OK(GrB_Matrix_new(&h.l, GrB_BOOL, n, n));
  GRB_OK(GrB_Matrix_new(&h.u, GrB_BOOL, n, n));
  GRB_OK(GrB_Matrix_select_INT64(h.l, NULL, NULL, GrB_TRIL, g->s, -1, NULL));
  GRB_OK(GrB_Matrix_select_INT64(h.u, NULL, NULL, GrB_TRIU, g->s, 1, NULL));
  return h;
}

static uint64_t count(const struct halves *h, bool dot, GrB_Index n)
{
  GrB_Matrix c;
  int64_t triangles = 0;
  GRB_OK(GrB_Matrix_new(&c, GrB_INT64, n, n));
  if (dot)
    TIME_PRODUCT(GrB_mxm(c, h->l, NULL, GxB_PLUS_PAIR_INT64, h->l, h->u, GrB_DESC_ST1));
  else
    TIME_PRODUCT(GrB_mxm(c, h->l, NULL, GxB_PLUS_PAIR_INT64, h->l, h->l, GrB_DESC_S));
  GRB_OK(GrB_Matrix_reduce_INT64(&triangles, NULL, GrB_PLUS_MONOID_INT64, c, NULL));
  GRB_OK(GrB_Matrix_free(&c));
  return (uint64_t)triangles;
}

/* By merging the neighbours of both ends of each edge; every triangle is met six times. */
static uint64_t expected_count(const struct graph *g)
{
  uint64_t met = 0;
  for (int64_t e = 0; e < g->entries; e++) {
    int64_t p = g->begin[g->i[e]], q = g->begin[g->j[e]];
    while (p < g->begin[g->i[e] + 1] && q < g->begin[g->j[e] + 1]) {
      met += g->j[p] == g->j[q];
      const bool first = g->j[p] <= g->j[q], second = g->j[q] <= g->j[p];
      p += first;
      q += second;
    }
  }
  return met / 6;
}

static int run(const char *name, bool dot, const char *path, const struct graph *g, int steps)
{
  struct halves h = make_halves(g);
  struct step_time best = {0, 0, 0};
  uint64_t triangles = 0;
  for (int s = 0; s < steps; s++) {
    const double begin = seconds_now();
    product_seconds = 0;
    triangles = count(&h, dot, (GrB_Index)g->nodes);
    keep_best(&best, seconds_now() - begin, product_seconds);
  }
  GRB_OK(GrB_Matrix_free(&h.l));
  GRB_OK(GrB_Matrix_free(&h.u));
  return graph_row(name, path, g, best, triangles, expected_count(g));
}

int main(int argc, char **argv)
{
  if (argc < 2) return fprintf(stderr, "usage: graphblas_tc FILE [STEPS]\n"), 2;
  const int steps = argc > 2 ? atoi(argv[2]) : 5;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct graph g = graph_read(argv[1]);
  int bad = run("triangles, L U'", true, argv[1], &g, steps);
  bad |= run("triangles, L L", false, argv[1], &g, steps);
  graph_free(&g);
  GRB_OK(GrB_finalize());
  return bad;
}
