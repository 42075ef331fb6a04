/* graphblas_pagerank.c: personalised PageRank from WIDTH nodes at once, in plain GraphBLAS.

     R <- (1 - d) E + d A' (R / outdegree)

   one column of R and E for each starting node; A: an unweighted graph, its entries never read
   (PLUS_SECOND).  Two ways, a row each: `new` makes T = A' W and adds E to it; `accum` adds the
   product into a full matrix that holds (1 - d) E, as LAGraph's PageRank does.

     graphblas_pagerank FILE.mtx[.gz] [WIDTH [STEPS]]  */
#include "graphblas_common.h"

static const float damping = 0.85f;

struct ranks {
  GrB_Matrix a, scale, r, w, t, e;
  GrB_Index nodes, width;
};

/* d / outdegree of a node, in every column; 0 for nodes without successors. */
static float *make_scale(const struct shunt_matrix *m, int64_t width)
{
  float *x = must(malloc((size_t)(m->rows * width) * sizeof *x));
  for (int64_t i = 0; i < m->rows; i++) {
    int64_t degree = m->row_offsets[i + 1] - m->row_offsets[i];
    for (int64_t k = 0; k < width; k++) x[i * width + k] = degree ? damping / (float)degree : 0;
  }
  return x;
}

/* (1 - d) at the starting node of each column. */
static float *make_start(int64_t nodes, int64_t width)
{
  float *x = must(calloc((size_t)(nodes * width), sizeof *x));
  for (int64_t k = 0; k < width; k++) x[(k * 7919 % nodes) * width + k] = 1 - damping;
  return x;
}

static void step_new(const struct ranks *g)
{
  GRB_OK(GrB_Matrix_eWiseMult_BinaryOp(g->w, NULL, NULL, GrB_TIMES_FP32, g->r, g->scale, NULL));
  TIME_PRODUCT(GrB_mxm(g->t, NULL, NULL, GxB_PLUS_SECOND_FP32, g->a, g->w, GrB_DESC_T0));
  GRB_OK(GrB_Matrix_eWiseAdd_BinaryOp(g->r, NULL, NULL, GrB_PLUS_FP32, g->e, g->t, NULL));
}

static void step_accum(const struct ranks *g)
{
  GRB_OK(GrB_Matrix_eWiseMult_BinaryOp(g->w, NULL, NULL, GrB_TIMES_FP32, g->r, g->scale, NULL));
  GRB_OK(GrB_Matrix_apply(g->r, NULL, NULL, GrB_IDENTITY_FP32, g->e, NULL));
  TIME_PRODUCT(GrB_mxm(g->r, NULL, GrB_PLUS_FP32, GxB_PLUS_SECOND_FP32, g->a, g->w, GrB_DESC_T0));
}

/* The largest difference to the same steps in double. */
static double check(const struct shunt_matrix *m, const float *scale, const float *start,
                    int64_t width, int steps, const float *ranks)
{
  size_t count = (size_t)(m->rows * width);
  double *r = must(malloc(count * sizeof *r)), *next = must(malloc(count * sizeof *next));
  double worst = 0;
  for (size_t i = 0; i < count; i++) r[i] = start[i];
  for (int s = 0; s < steps; s++) {
    for (size_t i = 0; i < count; i++) next[i] = start[i];
    for (int64_t i = 0; i < m->rows; i++)
      for (int64_t p = m->row_offsets[i]; p < m->row_offsets[i + 1]; p++)
        for (int64_t k = 0; k < width; k++)
          next[m->columns[p] * width + k] += r[i * width + k] * scale[i * width + k];
    memcpy(r, next, count * sizeof *r);
  }
  for (size_t i = 0; i < count; i++) worst = fmax(worst, fabs(r[i] - ranks[i]));
  free(r);
  free(next);
  return worst;
}

static int run(const char *name, void (*step)(const struct ranks *), const char *path,
               const struct shunt_matrix *m, int64_t width, int steps)
{
  float *scale = make_scale(m, width), *start = make_start(m->rows, width);
  struct ranks g = {.nodes = (GrB_Index)m->rows, .width = (GrB_Index)width};
  g.a = grb_sparse(m, NULL);
  g.scale = grb_full(scale, m->rows, width, 0);
  g.e = grb_full(start, m->rows, width, 0);
  g.r = grb_full(start, m->rows, width, 0);
  GRB_OK(GrB_Matrix_new(&g.w, GrB_FP32, g.nodes, g.width));
  GRB_OK(GrB_Matrix_new(&g.t, GrB_FP32, g.nodes, g.width));
  struct step_time best = {0, 0, 0};
  for (int s = 0; s < steps; s++) {
    double begin = seconds_now();
    product_seconds = 0;
    step(&g);
    keep_best(&best, seconds_now() - begin, product_seconds);
  }
  float *ranks = grb_values(g.r, m->rows, width);
  int bad =
      print_row(name, path, m, width, best, check(m, scale, start, width, steps, ranks), 1e-6);
  GrB_Matrix *all[] = {&g.a, &g.scale, &g.e, &g.r, &g.w, &g.t};
  for (int i = 0; i < 6; i++) GRB_OK(GrB_Matrix_free(all[i]));
  free(ranks);
  free(scale);
  free(start);
  return bad;
}

int main(int argc, char **argv)
{
  if (argc < 2) return fprintf(stderr, "usage: graphblas_pagerank FILE [WIDTH [STEPS]]\n"), 2;
  int64_t width = argc > 2 ? atol(argv[2]) : 32;
  int steps = argc > 3 ? atoi(argv[3]) : 20;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct shunt_matrix m = read_or_leave(argv[1]);
  int bad = run("pagerank, new", step_new, argv[1], &m, width, steps);
  bad |= run("pagerank, accum", step_accum, argv[1], &m, width, steps);
  shunt_matrix_free(&m);
  GRB_OK(GrB_finalize());
  return bad;
}
