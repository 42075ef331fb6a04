#include "backend/plan/cost.h"

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

double shunt_cost_gemm(double m, double n, double k, shunt_type type, const struct shunt_device *d)
{
  /* FLOP per microsecond that large products reach. */
  double rate = type == SHUNT_F64 ? 50e6 : type == SHUNT_F32 ? 51e6 : 850e6;
  double size = (double)shunt_type_size(type);
  double arithmetic = 2 * m * n * k / rate;
  double traffic = (m * k + k * n + m * n) * size / 7.2e6; /* much of it from L2 */
  return 6 + larger(arithmetic, traffic) * scale(d);
}

double shunt_cost_csr_bytes(const struct shunt_csr *a)
{
  double index = (double)shunt_type_size(a->index_type);
  return (double)a->nnz * (index + (double)shunt_type_size(a->value_type)) +
         (double)(a->rows + 1) * index;
}

/* Fitted to ../shared/limits.md and tests/bench/results: a start-up and a rate in
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
  double flop = 2.0 * (double)sparse->nnz * (double)p->spmm.c.cols;
  double rate = p->algorithm == CSR_ALG1 || p->algorithm == CSR_ALG3 ? 9.0e6 : 4.8e6;
  if (sparse->value_type == SHUNT_F64) rate *= 0.6;
  return 10 + flop / rate * scale(d);
}
