/* original_cost.c: what cuSPARSE is expected to take. */
#include "backend/routes/cost/cost_forms.h"

static int layer_type(shunt_type t)
{
  if (shunt_type_is_complex(t)) return t == SHUNT_C32 ? 3 : 4;
  return shunt_cost_block_type(t);
}

static const struct shunt_fit_costs *layer_fit(const struct shunt_problem *p,
                                               const struct shunt_original_costs *t)
{
  const int type = layer_type(p->spmm.a.value_type);
  if (p->algorithm == SHUNT_CSR_ALG1) return &t->layer_alg1[type];
  return p->algorithm == SHUNT_CSR_ALG3 ? &t->layer_alg3[type] : &t->layer[type];
}

static bool is_preprocessed(const struct shunt_problem *p)
{
  return p->algorithm == SHUNT_CSR_ALG1 || p->algorithm == SHUNT_CSR_ALG3;
}

/* Short rows of a layer take after preprocess what those of scattered matrices do. */
static bool is_layer(const struct shunt_problem *p)
{
  enum { LEAST_MEAN_ROW = 64 };
  const struct shunt_csr *a = &p->spmm.a;
  return !shunt_cost_scattered(a) && (!is_preprocessed(p) || a->nnz >= LEAST_MEAN_ROW * a->rows);
}

static double layer(const struct shunt_problem *p, const struct shunt_profile *f,
                    const struct shunt_original_costs *t, const struct shunt_machine *m)
{
  const struct shunt_csr *a = &p->spmm.a;
  return shunt_cost_fitted(layer_fit(p, t), &p->spmm, (double)a->nnz, shunt_cost_longest(a, f), m);
}

static double sddmm_layer_rate(const struct shunt_sddmm *p, const struct shunt_original_costs *t)
{
  if (p->a.type != SHUNT_F16) return t->sddmm_layer;
  return p->b.row_stride == 1 ? t->sddmm_layer_f16 : t->sddmm_layer_f16_by_rows;
}

/* cuSPARSE's kernel for B by rows takes far longer than the one for B by columns. */
static double f32_or_f64_layer(const struct shunt_sddmm *p, const struct shunt_layer_sddmm_costs *t)
{
  const double rows = (double)p->c.rows, nnz = (double)p->c.nnz;
  return t->start + 1e-6 * (double)p->a.cols * (t->row * rows + t->entry * nnz);
}

static double sddmm_layer(const struct shunt_sddmm *p, const struct shunt_original_costs *t)
{
  const int type = shunt_cost_block_type(p->a.type);
  if (type > 0)
    return f32_or_f64_layer(p, p->b.row_stride == 1 ? &t->layer_by_columns[type - 1]
                                                    : &t->layer_by_rows[type - 1]);
  return t->sddmm_layer_start + 2 * (double)p->c.nnz * (double)p->a.cols / sddmm_layer_rate(p, t);
}

/* Is a row much longer than most? */
static bool rows_differ(const struct shunt_csr *c, const struct shunt_profile *f)
{
  return f && (double)f->longest_row * (double)c->rows >= 16 * (double)c->nnz;
}

/* Scattered patterns: by rows, entries and what the longest row has beyond the mean. */
static double sddmm(const struct shunt_sddmm *p, const struct shunt_profile *f,
                    const struct shunt_original_costs *t)
{
  const double inner = (double)p->a.cols, nnz = (double)p->c.nnz;
  if (shunt_type_is_complex(p->a.type)) {
    const double *entry = p->b.row_stride != 1 || rows_differ(&p->c, f)
                              ? t->sddmm_complex
                              : t->sddmm_complex_by_columns;
    return t->sddmm_start + nnz * inner * entry[p->a.type == SHUNT_C64];
  }
  if (!shunt_cost_scattered(&p->c)) return sddmm_layer(p, t);
  if (p->b.row_stride == 1)
    return shunt_cost_scattered_sddmm(&t->by_columns[shunt_cost_block_type(p->a.type)], p, f);
  const double size = p->a.type == SHUNT_F64 ? t->sddmm_f64 : 1;
  return t->sddmm_start + size * inner *
                              ((t->sddmm_row * (double)p->c.rows + t->sddmm_entry * nnz) +
                               t->sddmm_longest * shunt_cost_excess(&p->c, f));
}

static double blocks(const struct shunt_problem *p, const struct shunt_original_costs *t)
{
  const int type = shunt_cost_block_type(p->spmm.a.value_type);
  return shunt_cost_blocks(p->format == SHUNT_BSR ? t->bsr[type] : t->ell[type], &p->spmm,
                           p->blocks.size);
}

static const struct shunt_fit_costs *fit_of(const struct shunt_problem *p,
                                            const struct shunt_original_costs *t)
{
  const struct shunt_dense *b = &p->spmm.b;
  const bool narrow = (double)b->cols * (double)shunt_type_size(b->type) <= 128;
  const bool half = shunt_cost_is_half(&p->spmm);
  if (p->algorithm == SHUNT_CSR_ALG1) return half ? &t->alg1_half : &t->alg1;
  if (p->algorithm == SHUNT_CSR_ALG3) return &t->alg3[shunt_cost_block_type(b->type)];
  if (half) return &t->half;
  return narrow ? &t->narrow : &t->wide;
}

/* Nobody has measured those of 2-byte types and of int8.  They are held for as fast as those with
   the same matrix by rows: a bound that Shunt has to beat.  */
static double transposed_by_rows(const struct shunt_problem *p, const struct shunt_machine *m)
{
  struct shunt_problem q = *p;
  q.op_a = 'N';
  q.spmm.a.rows = p->spmm.a.cols;
  q.spmm.a.cols = p->spmm.a.rows;
  return shunt_cost_original(&q, NULL, m);
}

/* C is cleared; then each entry of A adds a row of B, times its value, to a row of C.  So it is C
   that is gathered from, and may be beyond L2.  Long rows of A, or of columns as long, are waited
   for.  */
static double transposed(const struct shunt_problem *p, const struct shunt_profile *f,
                         const struct shunt_original_costs *t, const struct shunt_machine *m)
{
  const int type = layer_type(p->spmm.a.value_type);
  struct shunt_spmm s = p->spmm;
  if (type == 0) return transposed_by_rows(p, m);
  s.b = p->spmm.c;
  const bool alg1 = p->algorithm == SHUNT_CSR_ALG1;
  return shunt_cost_fitted(alg1 ? &t->transposed_alg1[type] : &t->transposed[type], &s,
                           (double)s.a.nnz, shunt_cost_excess(&s.a, f), m);
}

/* Where B or C lies by columns; NULL: where neither does, or one column is all. */
static const struct shunt_fit_costs *by_columns(const struct shunt_problem *p,
                                                const struct shunt_original_costs *t)
{
  const struct shunt_spmm *s = &p->spmm;
  const int type = shunt_cost_block_type(s->b.type);
  const bool b = s->b.col_stride != 1 && s->b.cols > 1, c = s->c.col_stride != 1 && s->b.cols > 1;
  if (!b && !c) return NULL;
  if (p->algorithm == SHUNT_CSR_ALG3)
    return b ? &t->alg3_b_by_columns[type] : &t->alg3_c_by_columns[type];
  return b && c ? &t->both_by_columns[type] : b ? &t->b_by_columns[type] : &t->c_by_columns[type];
}

/* SpMM of CSR as it is stored. */
static double spmm(const struct shunt_problem *p, const struct shunt_profile *f,
                   const struct shunt_original_costs *t, const struct shunt_machine *m)
{
  const struct shunt_csr *a = &p->spmm.a;
  const struct shunt_fit_costs *columns = by_columns(p, t);
  if (!columns && is_layer(p)) return layer(p, f, t, m);
  return (a->value_type == SHUNT_C64 ? t->c64 : 1) *
         shunt_cost_fitted(columns ? columns : fit_of(p, t), &p->spmm, (double)a->nnz,
                           shunt_cost_excess(a, f), m);
}

/* The default in int8 takes so long however few columns there are; 0: another type or algorithm. */
static double int8_at_least(const struct shunt_problem *p, const struct shunt_original_costs *t)
{
  const struct shunt_csr *a = &p->spmm.a;
  if (a->value_type != SHUNT_I8 || is_preprocessed(p)) return 0;
  return t->int8_start + 1e-6 * (t->int8_entry * (double)a->nnz + t->int8_row * (double)a->rows);
}

double shunt_cost_original(const struct shunt_problem *p, const struct shunt_profile *f,
                           const struct shunt_machine *m)
{
  const struct shunt_original_costs *t = shunt_costs_of_original(m->costs, p->cusparse);
  if (p->op == SHUNT_SDDMM) return sddmm(&p->sddmm, f, t);
  if (shunt_problem_in_blocks(p)) return blocks(p, t);
  if (p->op_a == 'T' || p->op_a == 'H') return transposed(p, f, t, m);
  return shunt_larger(spmm(p, f, t, m), int8_at_least(p, t));
}

double shunt_cost_original_host(const struct shunt_problem *p, const struct shunt_machine *m)
{
  return shunt_costs_of_original(m->costs, p->cusparse)->sddmm_host;
}

double shunt_cost_original_off(const struct shunt_problem *p, const struct shunt_machine *m)
{
  const struct shunt_original_costs *t = shunt_costs_of_original(m->costs, p->cusparse);
  const bool scattered = shunt_cost_scattered(shunt_problem_sparse(p));
  if (shunt_problem_in_blocks(p)) return 0;
  if (p->op == SHUNT_SDDMM) return scattered ? t->sddmm_off : 0;
  if (!scattered) return p->spmm.a.value_type == SHUNT_F16 || is_preprocessed(p) ? 0 : t->layer_off;
  return is_preprocessed(p) ? t->preprocessed_off : t->off;
}

double shunt_cost_original_margin(const struct shunt_problem *p)
{
  const double preprocessed = 1.06;
  return p->op == SHUNT_SPMM && is_preprocessed(p) ? preprocessed : 1;
}

/* Where the default was measured to be the faster one: wide products of matrices with huge rows, in
   f32 where all others are short, in f64 where they are not; in complex types with long rows, and
   very wide ones of short rows.  In 2-byte types it never was, nor in f32 and f64 where B or C lies
   by columns.  */
bool shunt_choose_original_over_csr(const struct shunt_problem *p, const struct shunt_profile *f)
{
  enum { LONGEST_BESIDE_SHORT = 8192 };
  const struct shunt_spmm *s = &p->spmm;
  if (!f || f->rows == 0 || is_preprocessed(p)) return false;
  const double row = (double)s->b.cols * (double)shunt_type_size(s->b.type);
  const double mean = (double)f->nnz / (double)f->rows, longest = (double)f->longest_row;
  if (shunt_type_is_complex(s->b.type))
    return row >= 1024 &&
           (longest > 64 * mean || (s->b.type == SHUNT_C64 && row >= 2048 && mean < 8));
  if (shunt_cost_is_half(s) || s->b.col_stride != 1 || s->c.col_stride != 1) return false;
  if (s->b.type == SHUNT_F64) return row >= 1024 && mean >= 24 && longest > 256 * mean;
  return row >= 512 && mean < 8 && longest > LONGEST_BESIDE_SHORT;
}

/* Of complex types cuSPARSE is as fast or faster where B stands by columns, unless rows differ much
   in length; and where columns are short and C is dense.  */
bool shunt_choose_original_over_csr_sddmm(const struct shunt_sddmm *p,
                                          const struct shunt_profile *f)
{
  if (!shunt_type_is_complex(p->a.type)) return false;
  if (!shunt_cost_scattered(&p->c) && shunt_cost_sddmm_row_bytes(p) <= 256) return true;
  return p->b.row_stride == 1 && !rows_differ(&p->c, f);
}
