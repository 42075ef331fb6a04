#include "backend/plan/cost.h"

#include <stdbool.h>

static double scale(const struct shunt_device *d)
{
  return d->multiprocessors > 0 ? 132.0 / d->multiprocessors : 1;
}

static double larger(double a, double b)
{
  return a > b ? a : b;
}

double shunt_cost_copy(double bytes, const struct shunt_device *d)
{
  return SHUNT_COST_LAUNCH_US + bytes / 3.6e6 * scale(d);
}

double shunt_cost_gather(double bytes, double row_bytes, double table_bytes,
                         const struct shunt_device *d)
{
  double rate = table_bytes > (double)d->l2_bytes ? 3.6e6 : 8.0e6;
  if (row_bytes < 128) rate *= 0.3 + 0.7 * row_bytes / 128;
  return SHUNT_COST_LAUNCH_US + bytes / rate * scale(d);
}

/* FLOP per microsecond that large dense products reach. */
static double gemm_rate(shunt_type type, enum shunt_math math)
{
  switch (type) {
  case SHUNT_F64:
    return 50e6;
  case SHUNT_F32:
    return math == SHUNT_MATH_TF32 ? 400e6 : 51e6;
  default:
    return 850e6;
  }
}

double shunt_cost_gemm(double m, double n, double k, shunt_type type, enum shunt_math math,
                       const struct shunt_device *d)
{
  double size = (double)shunt_type_size(type);
  double arithmetic = 2 * m * n * k / gemm_rate(type, math);
  double traffic = (m * k + k * n + m * n) * size / 7.2e6; /* much of it from L2 */
  return 6 + larger(arithmetic, traffic) * scale(d);
}

double shunt_cost_csr_bytes(const struct shunt_csr *a)
{
  double index = (double)shunt_type_size(a->index_type);
  return (double)a->nnz * (index + (double)shunt_type_size(a->value_type)) +
         (double)(a->rows + 1) * index;
}

/* ---- SpMM in f32 and f64 on scattered matrices ------------------------------------------- */

/* Microseconds on an H200 by least squares of the relative error, over the 26 matrices of
   ../shared/data/mtx in f32 and f64 at 32 and 128 columns (tests/bench/results/rows.json; 1.14
   to 1.46 is what a case is off by, geometric standard deviation).  L1 serves much of what they
   gather, as neighbouring rows share columns.  */
struct fit {
  double start;
  double entry;   /* per million entries */
  double gather;  /* per GB of B that is gathered, */
  double written; /* and of C */
  double row;     /* per million rows */
};
static const struct fit original_fit = {7.2, 31.9, 50.6, 522, 140};
static const struct fit preprocessed_fit = {3.4, 0, 93.7, 1211, 0};
static const struct fit rows_fit = {3.9, 1.1, 51.1, 849, 0};
static const struct fit groups_fit = {5.7, 3.5, 60, 849, 0};

/* `gathered`: rows of B. */
static double fitted(const struct fit *f, const struct shunt_spmm *p, double gathered,
                     const struct shunt_device *d)
{
  double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  return f->start + scale(d) * (1e-6 * f->entry * (double)p->a.nnz +
                                1e-9 * (f->gather * gathered * row + f->written * written) +
                                1e-6 * f->row * (double)p->a.rows);
}

/* Pruned layers are not: their rows share nothing, and all of B passes through L2. */
static bool scattered(const struct shunt_csr *a)
{
  bool wide = a->value_type == SHUNT_F32 || a->value_type == SHUNT_F64;
  return wide && (double)a->nnz < (double)a->rows * (double)a->cols / 64;
}

double shunt_cost_rows(const struct shunt_spmm *p, const struct shunt_device *d)
{
  double row = (double)p->b.cols * (double)shunt_type_size(p->b.type);
  double table = row * (double)p->b.rows, entries = (double)p->a.nnz;
  double written = (double)p->c.rows * (double)p->c.cols * (double)shunt_type_size(p->c.type);
  double copied = p->b.col_stride != 1 ? 2 * table : 0; /* B into rows first */
  if (scattered(&p->a))
    return fitted(&rows_fit, p, entries, d) + (copied > 0 ? shunt_cost_copy(copied, d) : 0);
  return shunt_cost_gather(entries * row, row, table, d) +
         shunt_cost_copy(copied + written + shunt_cost_csr_bytes(&p->a), d);
}

double shunt_cost_groups(const struct shunt_spmm *p, double vectors, const struct shunt_device *d)
{
  double copied = 2 * (double)p->b.rows * (double)p->b.cols * (double)shunt_type_size(p->b.type);
  return fitted(&groups_fit, p, vectors, d) +
         (p->b.col_stride != 1 ? shunt_cost_copy(copied, d) : 0);
}

/* ---- the original ------------------------------------------------------------------------ */

/* The rest is fitted to ../shared/limits.md and tests/bench/results: a start-up and a rate in
   FLOP per microsecond.  CSR_ALG1 and ALG3 are taken at their speed after
   preprocess, because whoever asks for them may have done that.  */
double shunt_cost_original(const struct shunt_problem *p, const struct shunt_device *d)
{
  const struct shunt_csr *sparse = shunt_problem_sparse(p);
  enum { CSR_ALG1 = 4, CSR_ALG3 = 12 };
  if (p->op == SHUNT_SDDMM) {
    double flop = 2.0 * (double)sparse->nnz * (double)p->sddmm.a.cols;
    return 8 + flop / (p->sddmm.a.type == SHUNT_F16 ? 12.4e6 : 9.5e6) * scale(d);
  }
  bool preprocessed = p->algorithm == CSR_ALG1 || p->algorithm == CSR_ALG3;
  if (scattered(sparse))
    return fitted(preprocessed ? &preprocessed_fit : &original_fit, &p->spmm, (double)sparse->nnz,
                  d);
  double flop = 2.0 * (double)sparse->nnz * (double)p->spmm.c.cols;
  double rate = preprocessed ? 9.0e6 : 4.8e6;
  if (sparse->value_type == SHUNT_F64) rate *= 0.6;
  return 10 + flop / rate * scale(d);
}
