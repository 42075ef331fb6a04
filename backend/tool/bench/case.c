/* case.c: problems of a case, and its list of ways. */
#include <stdlib.h>
#include <string.h>

#include "backend/tool/bench/bench.h"

const char *const bench_type_words[] = {"f16",     "bf16",  "f32", "f64", "i8", "f16f32",
                                        "bf16f32", "i8f32", "c32", "c64", NULL};
static const struct {
  shunt_type in, out, compute;
} type_table[] = {
    {SHUNT_F16, SHUNT_F16, SHUNT_F32},  {SHUNT_BF16, SHUNT_BF16, SHUNT_F32},
    {SHUNT_F32, SHUNT_F32, SHUNT_F32},  {SHUNT_F64, SHUNT_F64, SHUNT_F64},
    {SHUNT_I8, SHUNT_I32, SHUNT_I32},   {SHUNT_F16, SHUNT_F32, SHUNT_F32},
    {SHUNT_BF16, SHUNT_F32, SHUNT_F32}, {SHUNT_I8, SHUNT_F32, SHUNT_F32},
    {SHUNT_C32, SHUNT_C32, SHUNT_C32},  {SHUNT_C64, SHUNT_C64, SHUNT_C64},
};

static struct shunt_dense make_dense(int64_t rows, int64_t cols, char order, shunt_type type)
{
  return (struct shunt_dense){rows, cols, order == 'r' ? cols : 1, order == 'r' ? 1 : rows,
                              NULL, type};
}

struct shunt_problem bench_problem(const struct shunt_matrix *m, int64_t width, int types,
                                   const char *layout, const struct bench_options *o)
{
  shunt_type in = type_table[types].in, out = type_table[types].out;
  shunt_type compute = type_table[types].compute;
  struct shunt_csr sparse = {
      .rows = m->rows, .cols = m->cols, .nnz = m->nnz, .index_type = o->index_type};
  struct shunt_problem p = {
      .op = o->op, .format = SHUNT_CSR, .op_a = 'N', .op_b = 'N', .batches = 1};
  const bool turned = o->op_a != 'N';
  if (o->op == SHUNT_SPMM) {
    p.spmm = (struct shunt_spmm){.a = sparse,
                                 .b = make_dense(turned ? m->rows : m->cols, width, layout[0], in),
                                 .c = make_dense(turned ? m->cols : m->rows, width, layout[1], out),
                                 .alpha = {.host = 1},
                                 .beta = {.host = 0},
                                 .compute = compute,
                                 .next_waits = true}; /* the same again, or a proof */
    p.spmm.a.value_type = in;
    p.op_a = o->op_a;
  } else {
    p.sddmm = (struct shunt_sddmm){.a = make_dense(m->rows, width, layout[0], in),
                                   .b = make_dense(width, m->cols, layout[1], in),
                                   .c = sparse,
                                   .alpha = {.host = 1},
                                   .beta = {.host = 0},
                                   .compute = compute};
    p.sddmm.c.value_type = out;
  }
  return p;
}

/* A scalar that stood on the device: its value is not in the log; 1 and 0 are usual. */
static void settle_scalar(struct shunt_scalar *s, double usual, bool *on_device)
{
  if (!s->device) return;
  *s = (struct shunt_scalar){.host = usual};
  *on_device = true;
}

/* One row of column-major elements one apart is one row-major row: said so that
   col_stride == 1 means row-major everywhere.  */
static void settle_layout(struct shunt_dense *d)
{
  if (d->col_stride == 1 && d->rows == 1 && d->row_stride < d->cols) d->row_stride = d->cols;
}

/* What op(A) is of spmm.a, which stands by rows. */
static char operation_by_rows(const struct shunt_problem *p)
{
  if (!shunt_problem_transposed(p)) return 'N';
  return p->op_a == 'H' ? 'H' : 'T';
}

void bench_finish_case(struct bench_case *c, const struct shunt_matrix *m, int v)
{
  struct shunt_problem *p = &c->problem;
  struct shunt_csr *a = p->op == SHUNT_SPMM ? &p->spmm.a : &p->sddmm.c;
  c->pattern = m;
  c->v = v;
  /* A coo problem differs in its row indices only; a csc one is that of the transpose in csr. */
  if (p->op == SHUNT_SPMM) p->op_a = operation_by_rows(p);
  if (p->format != SHUNT_BSR) p->format = SHUNT_CSR;
  a->nnz = m->nnz;
  settle_layout(p->op == SHUNT_SPMM ? &p->spmm.b : &p->sddmm.a);
  settle_layout(p->op == SHUNT_SPMM ? &p->spmm.c : &p->sddmm.b);
  shunt_problem_print(p, c->word);
  c->blocks = p->blocks; /* the same entries stand in CSR */
  p->format = SHUNT_CSR;
  p->blocks = (struct shunt_block_shape){0};
  if (p->op == SHUNT_SPMM) {
    settle_scalar(&p->spmm.alpha, 1, &c->device_scalars);
    settle_scalar(&p->spmm.beta, 0, &c->device_scalars);
  } else {
    settle_scalar(&p->sddmm.alpha, 1, &c->device_scalars);
    settle_scalar(&p->sddmm.beta, 0, &c->device_scalars);
  }
}

bool bench_sane(const struct bench_case *c)
{
  const struct shunt_problem *p = &c->problem;
  const struct shunt_dense *d[2];
  bool good;
  if (p->op == SHUNT_SPMM) {
    d[0] = &p->spmm.b;
    d[1] = &p->spmm.c;
    good = p->spmm.alpha.host == p->spmm.alpha.host;
  } else {
    d[0] = &p->sddmm.a;
    d[1] = &p->sddmm.b;
    good = p->sddmm.alpha.host == p->sddmm.alpha.host;
  }
  for (int i = 0; i < 2; i++) {
    int64_t across = d[i]->col_stride == 1 ? d[i]->cols : d[i]->rows;
    int64_t along = d[i]->col_stride == 1 ? d[i]->rows : d[i]->cols;
    int64_t ld = d[i]->col_stride == 1 ? d[i]->row_stride : d[i]->col_stride;
    good = good && across > 0 && along > 0 && ld >= across && (double)ld * (double)along < 1e12;
  }
  if (!good) tool_say("'%s': a size is zero or a leading dimension is too small", c->word);
  return good;
}

struct bench_way *bench_add_way(struct bench_case *c, const char *name, bool ours)
{
  if (c->ways == BENCH_WAYS) return NULL;
  struct bench_way *w = &c->way[c->ways++];
  *w = (struct bench_way){.name = name, .ours = ours, .us = -1, .timing = ""};
  return w;
}

const struct bench_way *bench_find_way(const struct bench_case *c, const char *name)
{
  for (int i = 0; i < c->ways; i++)
    if (c->way[i].ran && c->way[i].us >= 0 && strcmp(c->way[i].name, name) == 0) return &c->way[i];
  return NULL;
}

const struct bench_way *bench_best(const struct bench_case *c, bool ours)
{
  const struct bench_way *best = NULL;
  for (int i = 0; i < c->ways; i++) {
    const struct bench_way *w = &c->way[i];
    bool counts = ours ? w->ours && w->right && strcmp(w->name, "routed") != 0
                       : strncmp(w->name, "cusparse", 8) == 0;
    if (w->ran && w->us >= 0 && counts && (!best || w->us < best->us)) best = w;
  }
  return best;
}

static int compare_doubles(const void *x, const void *y)
{
  double a = *(const double *)x, b = *(const double *)y;
  return (a > b) - (a < b);
}

double bench_median(double *x, int count)
{
  qsort(x, (size_t)count, sizeof *x, compare_doubles);
  return x[count / 2];
}

double bench_flops(const struct bench_case *c)
{
  const struct shunt_problem *p = &c->problem;
  int64_t width = p->op == SHUNT_SPMM ? p->spmm.c.cols : p->sddmm.a.cols;
  return 2.0 * (double)shunt_problem_sparse(p)->nnz * (double)width;
}
