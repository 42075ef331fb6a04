/* host_csr_sddmm.c: SDDMM on the host, one entry at a time.

     C.values[p] = round(alpha * sum over k of A(i, k) B(k, j) + beta * C.values[p])

   for every entry p = (i, j) of C; C.values[p] is not read when beta is 0.  A and B
   in any order, the index base and both index types, all floating types, complex ones and int8.

   Sums are kept in double whatever the type (in long double of complex ones), so this is also the
   reference that kernels are measured against.  Of int8 into int32 all wraps, as in the kernels.
   Entries are independent: with OpenMP, threads take rows, and the result does not depend on their
   number.  */
#include "kernels/common/host_element.h"
#include "kernels/csr/csr_kernels.h"

#ifdef _OPENMP
#define SHUNT_OMP(x) _Pragma(#x)
#else
#define SHUNT_OMP(x)
#endif

static double dot(const struct shunt_dense *a, int64_t i, const struct shunt_dense *b, int64_t j)
{
  double sum = 0;

  for (int64_t k = 0; k < a->cols; k++)
    sum += shunt_load(a->values, i * a->row_stride + k * a->col_stride, a->type) *
           shunt_load(b->values, k * b->row_stride + j * b->col_stride, b->type);
  return sum;
}

/* The same of complex elements. */
static shunt_pair dot_pair(const struct shunt_dense *a, int64_t i, const struct shunt_dense *b,
                           int64_t j)
{
  shunt_pair sum = {0, 0};

  for (int64_t k = 0; k < a->cols; k++)
    sum = shunt_pair_add(
        sum, shunt_pair_multiply(
                 shunt_load_pair(a->values, i * a->row_stride + k * a->col_stride, a->type),
                 shunt_load_pair(b->values, k * b->row_stride + j * b->col_stride, b->type)));
  return sum;
}

/* What products of type `a` into `c` are computed in; SHUNT_TYPE_COUNT: there is no such SDDMM. */
static shunt_type compute_of(shunt_type a, shunt_type c)
{
  switch (a) {
  case SHUNT_F16:
  case SHUNT_BF16: return c == a || c == SHUNT_F32 ? SHUNT_F32 : SHUNT_TYPE_COUNT;
  case SHUNT_F32:
  case SHUNT_F64:
  case SHUNT_C32:
  case SHUNT_C64: return c == a ? a : SHUNT_TYPE_COUNT;
  case SHUNT_I8: return c == SHUNT_I32 || c == SHUNT_F32 ? c : SHUNT_TYPE_COUNT;
  default: return SHUNT_TYPE_COUNT;
  }
}

static shunt_status check(const struct shunt_sddmm *p)
{
  shunt_type a = p->a.type, c = p->c.value_type;
  const shunt_type compute = compute_of(a, c);

  if (p->a.rows != p->c.rows || p->b.cols != p->c.cols || p->a.cols != p->b.rows)
    return SHUNT_E_ARGUMENT;
  if (compute == SHUNT_TYPE_COUNT || p->b.type != a) return SHUNT_E_UNSUPPORTED;
  if (p->compute != compute) return SHUNT_E_UNSUPPORTED;
  if (a == SHUNT_I8 && c == SHUNT_F32 && p->a.cols > SHUNT_CSR_SDDMM_EXACT)
    return SHUNT_E_UNSUPPORTED;
  if (p->c.index_type != SHUNT_I32 && p->c.index_type != SHUNT_I64) return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

static void one_entry_of_pairs(const struct shunt_sddmm *p, int64_t i, int64_t j, int64_t at)
{
  const shunt_pair sum = dot_pair(&p->a, i, &p->b, j);
  shunt_store_pair(p->c.values, at, p->c.value_type,
                   shunt_pair_finish(sum, shunt_scalar_pair(&p->alpha, p->compute),
                                     shunt_scalar_pair(&p->beta, p->compute), p->c.values, at,
                                     p->c.value_type));
}

static void one_row(const struct shunt_sddmm *p, int64_t i, double alpha, double beta)
{
  const struct shunt_csr *c = &p->c;
  int64_t begin = shunt_index_at(c->row_offsets, i, c->index_type) - c->base;
  int64_t end = shunt_index_at(c->row_offsets, i + 1, c->index_type) - c->base;

  for (int64_t at = begin; at < end; at++) {
    int64_t j = shunt_index_at(c->columns, at, c->index_type) - c->base;
    if (shunt_type_is_complex(p->compute)) {
      one_entry_of_pairs(p, i, j, at);
      continue;
    }
    const double sum = dot(&p->a, i, &p->b, j);
    const double old = beta != 0 ? shunt_load(c->values, at, c->value_type) : 0;
    double result = alpha * sum;
    if (beta != 0) result += beta * old;
    if (p->compute == SHUNT_I32) result = shunt_wrapped(alpha, sum, beta, old);
    shunt_store(c->values, at, c->value_type, result);
  }
}

shunt_status shunt_csr_sddmm_host(const struct shunt_sddmm *p)
{
  shunt_status s = check(p);

  if (s != SHUNT_OK || p->c.nnz == 0) return s;
  const int pairs = shunt_type_is_complex(p->compute);
  double alpha = pairs ? 0 : shunt_scalar_value(&p->alpha, p->compute);
  double beta = pairs ? 0 : shunt_scalar_value(&p->beta, p->compute);
  SHUNT_OMP(omp parallel for schedule(dynamic, 16))
  for (int64_t i = 0; i < p->c.rows; i++) one_row(p, i, alpha, beta);
  return SHUNT_OK;
}
