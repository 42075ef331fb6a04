/* graphblas_search.h: what the demonstrators share that search a graph from several nodes at once:
   which nodes those are, the answer by one search after the other, and main.  */
#ifndef GRAPHBLAS_SEARCH_H
#define GRAPHBLAS_SEARCH_H

#include "graphblas_graph.h"

static inline GrB_Index source(const struct graph *g, int s, int sources)
{
  return (GrB_Index)(g->nodes * s / sources);
}

/* Over all sources and the nodes that each reaches: the distance less `less`, where that is more
   than 0, added up.  One source after the other, with a queue. */
static inline uint64_t distances(const struct graph *g, int sources, int64_t less)
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
      if (level[i] > less) sum += (uint64_t)(level[i] - less);
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

struct search {
  const char *program, *row; /* its name, and what its row of the table is called */
  int sources;               /* where none are given */
  uint64_t (*answer)(const struct graph *g, int sources);
  uint64_t (*expected)(const struct graph *g, int sources);
};

static inline int search_main(int argc, char **argv, const struct search *x)
{
  if (argc < 2) return fprintf(stderr, "usage: %s FILE [SOURCES [STEPS]]\n", x->program), 2;
  const int sources = argc > 2 ? atoi(argv[2]) : x->sources;
  const int steps = argc > 3 ? atoi(argv[3]) : 5;
  if (sources < 1) return fprintf(stderr, "%s: SOURCES is 1 or more\n", x->program), 2;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct graph g = graph_read(argv[1]);
  if (g.nodes < 1) return fprintf(stderr, "%s: a graph without nodes\n", x->program), 2;
  struct step_time best = {0, 0, 0};
  uint64_t sum = 0;
  for (int s = 0; s < steps; s++) {
    const double begin = seconds_now();
    product_seconds = 0;
    sum = x->answer(&g, sources);
    keep_best(&best, seconds_now() - begin, product_seconds);
  }
  const int bad = graph_row(x->row, argv[1], &g, best, sum, x->expected(&g, sources));
  graph_free(&g);
  GRB_OK(GrB_finalize());
  return bad;
}

#endif
