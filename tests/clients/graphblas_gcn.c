/* graphblas_gcn.c: two layers of graph convolution in plain GraphBLAS.

     H = relu(A' (X W1)),  Y = A' (H W2),   A' = D^-1/2 (A + I) D^-1/2

   A: a graph; X: 500 features, 10 % of them set (as in pubmed: sparse); W1, W2 full.  The
   products are sparse x full (X W1 and both with A') and full x full (H W2, left alone).

     graphblas_gcn FILE.mtx[.gz] [WIDTH [STEPS]]  */
#include "graphblas_common.h"

enum { FEATURES = 500, CLASSES = 16 };

struct network {
  struct shunt_matrix graph; /* normalised, as CSR */
  struct shunt_matrix x;
  float *w1, *w2;
  int64_t width;
};

/* A + I with its values 1 / sqrt(degree of row * degree of column). */
static struct shunt_matrix normalise(const struct shunt_matrix *a)
{
  struct shunt_matrix out = {.rows = a->rows, .cols = a->rows};
  out.row_offsets = must(calloc((size_t)a->rows + 1, sizeof *out.row_offsets));
  out.columns = must(malloc((size_t)(a->nnz + a->rows) * sizeof *out.columns));
  out.values = must(malloc((size_t)(a->nnz + a->rows) * sizeof *out.values));
  for (int64_t i = 0; i < a->rows; i++) {
    int64_t p = a->row_offsets[i], end = a->row_offsets[i + 1];
    for (; p < end && a->columns[p] < i; p++) out.columns[out.nnz++] = a->columns[p];
    out.columns[out.nnz++] = i;
    for (p += p < end && a->columns[p] == i; p < end; p++) out.columns[out.nnz++] = a->columns[p];
    out.row_offsets[i + 1] = out.nnz;
  }
  for (int64_t i = 0; i < out.rows; i++)
    for (int64_t p = out.row_offsets[i]; p < out.row_offsets[i + 1]; p++) {
      int64_t j = out.columns[p];
      double here = (double)(out.row_offsets[i + 1] - out.row_offsets[i]);
      double there = (double)(out.row_offsets[j + 1] - out.row_offsets[j]);
      out.values[p] = 1 / sqrt(here * there);
    }
  return out;
}

/* Every tenth feature of a node, at places that differ from node to node. */
static struct shunt_matrix make_features(int64_t nodes)
{
  struct shunt_matrix x = {.rows = nodes, .cols = FEATURES, .nnz = nodes * (FEATURES / 10)};
  x.row_offsets = must(malloc((size_t)(nodes + 1) * sizeof *x.row_offsets));
  x.columns = must(malloc((size_t)x.nnz * sizeof *x.columns));
  x.values = must(malloc((size_t)x.nnz * sizeof *x.values));
  shunt_fill_values(x.values, x.nnz, 3);
  for (int64_t i = 0; i <= nodes; i++) x.row_offsets[i] = i * (FEATURES / 10);
  for (int64_t p = 0; p < x.nnz; p++)
    x.columns[p] = p % (FEATURES / 10) * 10 + (p * 2654435761 >> 7) % 10;
  return x;
}

/* ---- GraphBLAS --------------------------------------------------------------------------- */

struct layers {
  GrB_Matrix a, x, w1, w2;
  GrB_Index nodes, width;
};

static GrB_Matrix forward(const struct layers *l)
{
  GrB_Semiring plus_times = GrB_PLUS_TIMES_SEMIRING_FP32;
  GrB_Matrix xw, h, hw, y;
  GRB_OK(GrB_Matrix_new(&xw, GrB_FP32, l->nodes, l->width));
  GRB_OK(GrB_Matrix_new(&h, GrB_FP32, l->nodes, l->width));
  GRB_OK(GrB_Matrix_new(&hw, GrB_FP32, l->nodes, CLASSES));
  GRB_OK(GrB_Matrix_new(&y, GrB_FP32, l->nodes, CLASSES));
  TIME_PRODUCT(GrB_mxm(xw, NULL, NULL, plus_times, l->x, l->w1, NULL));
  TIME_PRODUCT(GrB_mxm(h, NULL, NULL, plus_times, l->a, xw, NULL));
  GRB_OK(GrB_Matrix_apply_BinaryOp2nd_FP32(h, NULL, NULL, GrB_MAX_FP32, h, 0.0f, NULL));
  GRB_OK(GrB_mxm(hw, NULL, NULL, plus_times, h, l->w2, NULL));
  TIME_PRODUCT(GrB_mxm(y, NULL, NULL, plus_times, l->a, hw, NULL));
  GRB_OK(GrB_Matrix_free(&xw));
  GRB_OK(GrB_Matrix_free(&h));
  GRB_OK(GrB_Matrix_free(&hw));
  return y;
}

/* ---- the check ---------------------------------------------------------------------------- */

/* out (rows x width) = S B */
static void multiply(const struct shunt_matrix *s, const double *b, int64_t width, double *out)
{
  memset(out, 0, (size_t)(s->rows * width) * sizeof *out);
  for (int64_t i = 0; i < s->rows; i++)
    for (int64_t p = s->row_offsets[i]; p < s->row_offsets[i + 1]; p++)
      for (int64_t k = 0; k < width; k++)
        out[i * width + k] += s->values[p] * b[s->columns[p] * width + k];
}

/* The largest difference, in units of the largest result. */
static double check(const struct network *n, const float *y)
{
  int64_t nodes = n->graph.rows, w = n->width;
  double *wide = must(malloc((size_t)(nodes * w) * sizeof *wide));
  double *h = must(malloc((size_t)(nodes * w) * sizeof *h));
  double *narrow = must(calloc((size_t)(nodes * CLASSES), sizeof *narrow));
  double *exact = must(malloc((size_t)(nodes * CLASSES) * sizeof *exact));
  double *w1 = must(malloc((size_t)(FEATURES * w) * sizeof *w1));
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < FEATURES * w; i++) w1[i] = n->w1[i];
  multiply(&n->x, w1, w, wide);
  multiply(&n->graph, wide, w, h);
  for (int64_t i = 0; i < nodes; i++)
    for (int64_t k = 0; k < w; k++)
      for (int64_t c = 0; c < CLASSES; c++)
        narrow[i * CLASSES + c] += fmax(h[i * w + k], 0) * n->w2[k * CLASSES + c];
  multiply(&n->graph, narrow, CLASSES, exact);
  for (int64_t i = 0; i < nodes * CLASSES; i++) {
    worst = fmax(worst, fabs(exact[i] - y[i]));
    largest = fmax(largest, fabs(exact[i]));
  }
  free(wide);
  free(h);
  free(narrow);
  free(exact);
  free(w1);
  return worst / largest;
}

int main(int argc, char **argv)
{
  if (argc < 2) return fprintf(stderr, "usage: graphblas_gcn FILE [WIDTH [STEPS]]\n"), 2;
  struct network n = {.width = argc > 2 ? atol(argv[2]) : 64};
  int steps = argc > 3 ? atoi(argv[3]) : 10;
  GRB_OK(GrB_init(GrB_NONBLOCKING));
  struct shunt_matrix file = read_or_leave(argv[1]);
  n.graph = normalise(&file);
  n.x = make_features(file.rows);
  n.w1 = random_values(FEATURES * n.width, 1);
  n.w2 = random_values(n.width * CLASSES, 2);
  struct layers l = {.nodes = (GrB_Index)file.rows, .width = (GrB_Index)n.width};
  l.a = grb_sparse(&n.graph, n.graph.values);
  l.x = grb_sparse(&n.x, n.x.values);
  l.w1 = grb_full(n.w1, FEATURES, n.width, 0);
  l.w2 = grb_full(n.w2, n.width, CLASSES, 0);
  struct step_time best = {0, 0, 0};
  float *y = NULL;
  for (int s = 0; s < steps; s++) {
    double start = seconds_now();
    product_seconds = 0;
    GrB_Matrix out = forward(&l);
    keep_best(&best, seconds_now() - start, product_seconds);
    if (s == steps - 1) y = grb_values(out, file.rows, CLASSES);
    GRB_OK(GrB_Matrix_free(&out));
  }
  int bad = print_row("gcn", argv[1], &n.graph, n.width, best, check(&n, y), 1e-5);
  free(y);
  free(n.w1);
  free(n.w2);
  shunt_matrix_free(&n.graph);
  shunt_matrix_free(&n.x);
  shunt_matrix_free(&file);
  GrB_Matrix *all[] = {&l.a, &l.x, &l.w1, &l.w2};
  for (int i = 0; i < 4; i++) GRB_OK(GrB_Matrix_free(all[i]));
  GRB_OK(GrB_finalize());
  return bad;
}
