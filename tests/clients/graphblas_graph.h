/* graphblas_graph.h: what the demonstrators on graphs share: the undirected graph of a matrix file
   as a GraphBLAS matrix and as plain arrays, and the row that each prints.

     | program | matrix | nodes | entries | ms | of it products | answer | check |  */
#ifndef GRAPHBLAS_GRAPH_H
#define GRAPHBLAS_GRAPH_H

#include "graphblas_common.h"

struct graph {
  GrB_Matrix s; /* symmetric, no loops, every entry true */
  int64_t nodes, entries;
  GrB_Index *i, *j; /* by row, ascending */
  int64_t *begin;   /* [nodes + 1] */
};

static inline struct graph graph_read(const char *path)
{
  struct shunt_matrix m = read_or_leave(path);
  struct graph g = {.nodes = m.rows > m.cols ? m.rows : m.cols};
  const GrB_Index n = (GrB_Index)g.nodes;
  GrB_Index *i = must(malloc((2 * (size_t)m.nnz + 1) * sizeof *i));
  GrB_Index *j = must(malloc((2 * (size_t)m.nnz + 1) * sizeof *j)), count = 0;
  GrB_Scalar yes;
  for (int64_t r = 0; r < m.rows; r++)
    for (int64_t p = m.row_offsets[r]; p < m.row_offsets[r + 1]; p++) {
      if (m.columns[p] == r) continue;
      i[count] = (GrB_Index)r, j[count++] = (GrB_Index)m.columns[p];
      i[count] = (GrB_Index)m.columns[p], j[count++] = (GrB_Index)r;
    }
  GRB_OK(GrB_Matrix_new(&g.s, GrB_BOOL, n, n));
  GRB_OK(GrB_Scalar_new(&yes, GrB_BOOL));
  GRB_OK(GrB_Scalar_setElement_BOOL(yes, true));
  GRB_OK(GxB_Matrix_build_Scalar(g.s, i, j, yes, count));
  GRB_OK(GrB_Scalar_free(&yes));
  GRB_OK(GrB_Matrix_nvals(&count, g.s));
  bool *x = must(malloc(count + 1));
  GRB_OK(GrB_Matrix_extractTuples_BOOL(i, j, x, &count, g.s));
  free(x);
  g.entries = (int64_t)count;
  g.i = i, g.j = j;
  g.begin = must(calloc((size_t)g.nodes + 1, sizeof *g.begin));
  for (GrB_Index e = 0; e < count; e++) g.begin[i[e] + 1]++;
  for (int64_t v = 0; v < g.nodes; v++) g.begin[v + 1] += g.begin[v];
  shunt_matrix_free(&m);
  return g;
}

static inline void graph_free(struct graph *g)
{
  GRB_OK(GrB_Matrix_free(&g->s));
  free(g->i);
  free(g->j);
  free(g->begin);
}

/* 0 if the answer is the expected one. */
static inline int graph_row(const char *program, const char *path, const struct graph *g,
                            struct step_time t, uint64_t answer, uint64_t expected)
{
  printf("| %s | %s | %ld | %ld | %.2f | %.2f | %lu | %s |\n", program, file_name(path),
         (long)g->nodes, (long)g->entries, 1e3 * t.whole, 1e3 * t.products, (unsigned long)answer,
         answer == expected ? "ok" : "wrong");
  print_loop(&t);
  if (answer != expected) printf("not ok - expected %lu\n", (unsigned long)expected);
  return answer != expected;
}

#endif
