/* graphblas_ktruss.c: the k-truss of an undirected graph, the largest part in which every edge is
   in at least k - 2 triangles, in plain GraphBLAS.

     repeat C<S> = S S' in PLUS_PAIR of UINT32;  S = the entries of C that are k - 2 or more
     until S keeps all of its entries

     graphblas_ktruss FILE.mtx[.gz] [K [STEPS]]  */
#include "graphblas_graph.h"

static uint64_t truss(const struct graph *g, uint32_t k)
{
  GrB_Matrix c, s;
  const GrB_Index n = (GrB_Index)g->nodes;
  GrB_Index before, after = (GrB_Index)g->entries;
  GRB_OK(GrB_Matrix_new(&c, GrB_UINT32, n, n));
  GRB_OK(GrB_Matrix_dup(&s, g->s));
  do {
    before = after;
    TIME_PRODUCT(GrB_mxm(c, s, NULL, GxB_PLUS_PAIR_UINT32, s, s, GrB_DESC_RST1));
    GRB_OK(GrB_Matrix_free(&s));
    GRB_OK(GrB_Matrix_new(&s, GrB_UINT32, n, n));
    GRB_OK(GrB_Matrix_select_UINT32(s, NULL, NULL, GrB_VALUEGE_UINT32, c, k - 2, NULL));
    GRB_OK(GrB_Matrix_nvals(&after, s));
  } while (after != before);
  GRB_OK(GrB_Matrix_free(&c));
  GRB_OK(GrB_Matrix_free(&s));
  return after;
}

/* Triangles that the entry is in, among the entries that are left. */
static uint32_t support(const struct graph *g, const bool *left, int64_t e)
{
  int64_t p = g->begin[g->i[e]], q = g->begin[g->j[e]];
  uint32_t met = 0;
  while (p < g->begin[g->i[e] + 1] && q < g->begin[g->j[e] + 1]) {
    met += g->j[p] == g->j[q] && left[p] && left[q];
    const bool first = g->j[p] <= g->j[q], second = g->j[q] <= g->j[p];
    p += first;
    q += second;
  }
  return met;
}

static uint64_t expected_truss(const struct graph *g, uint32_t k)
{
  const size_t n = (size_t)g->entries;
  bool *left = must(malloc(n + 1)), *next = must(malloc(n + 1));
  uint64_t before = 0, after = n;
  memset(left, 1, n);
  while (after != before) {
    before = after;
    after = 0;
    for (size_t e = 0; e < n; e++) {
      next[e] = left[e] && support(g, left, (int64_t)e) >= k - 2;
      after += next[e];
    }
    memcpy(left, next, n);
  }
  free(left);
  free(next);
  return after;
}

int main(int argc, char **argv)
{
  if (argc < 2) return fprintf(stderr, "usage: graphblas_ktruss FILE [K [STEPS]]\n"), 2;
  const uint32_t k = argc > 2 ? (uint32_t)atoi(argv[2]) : 4;
  const int steps = argc > 3 ? atoi(argv[3]) : 5;
  if (k < 3) return fprintf(stderr, "graphblas_ktruss: K is 3 or more\n"), 2;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct graph g = graph_read(argv[1]);
  struct step_time best = {0, 0, 0};
  uint64_t edges = 0;
  for (int s = 0; s < steps; s++) {
    const double begin = seconds_now();
    product_seconds = 0;
    edges = truss(&g, k);
    keep_best(&best, seconds_now() - begin, product_seconds);
  }
  const int bad = graph_row("k-truss", argv[1], &g, best, edges, expected_truss(&g, k));
  graph_free(&g);
  GRB_OK(GrB_finalize());
  return bad;
}
