#include "backend/graphblas/gpu/gpu_semiring.h"

#include "backend/graphblas/gpu/rows.h"

bool grb_gpu_built(const struct shunt_host_spmm *p)
{
  const struct shunt_semiring *r = &p->semiring;
  return r->monoid == SHUNT_PLUS && (r->type == SHUNT_F32 || r->type == SHUNT_F64) &&
         (r->multiplier == SHUNT_TIMES || r->multiplier == SHUNT_FIRST ||
          r->multiplier == SHUNT_SECOND || r->multiplier == SHUNT_PAIR) &&
         !p->b.present && !p->c.iso && p->s.nnz > 0 && p->s.rows > 0 && p->c.cols > 0 &&
         p->s.rows < GRB_GPU_MOST_INDEX && p->s.cols < GRB_GPU_MOST_INDEX &&
         p->c.cols < GRB_GPU_MOST_INDEX;
}

bool grb_gpu_ones(const struct shunt_host_spmm *p)
{
  return p->semiring.multiplier == SHUNT_SECOND || p->semiring.multiplier == SHUNT_PAIR;
}

bool grb_gpu_constant_b(const struct shunt_host_spmm *p)
{
  return p->b.iso || p->semiring.multiplier == SHUNT_FIRST || p->semiring.multiplier == SHUNT_PAIR;
}

double grb_gpu_constant_of_b(const struct shunt_host_spmm *p)
{
  enum shunt_multiplier m = p->semiring.multiplier;
  if (m == SHUNT_FIRST || m == SHUNT_PAIR) return 1;
  return p->semiring.type == SHUNT_F32 ? (double)*(const float *)p->b.values
                                       : *(const double *)p->b.values;
}
