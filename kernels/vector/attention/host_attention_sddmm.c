/* host_attention_sddmm.c: S = alpha Q K^T at the positions of a pattern in the `vector` format, on
   the host: the slow twin of kernels/vector/attention/attention_sddmm.cu.

     S[i, j] = round(alpha * sum over c of Q[i, c] K[j, c])

   Sums are kept in double.  Places of a step that are no positions of the pattern become 0.
   Groups of rows are independent: with OpenMP, threads take groups, and the result does not
   depend on their number.  */
#include "kernels/common/host_element.h"
#include "kernels/vector/attention/attention_check.h"

#ifdef _OPENMP
#define SHUNT_OMP(x) _Pragma(#x)
#else
#define SHUNT_OMP(x)
#endif

static double dot(const struct shunt_vector_sddmm *p, int64_t q_at, int64_t k_at, shunt_type t)
{
  double sum = 0;

  for (int64_t c = 0; c < p->d; c++)
    sum += shunt_load(p->q.values, q_at + c, t) * shunt_load(p->k.values, k_at + c, t);
  return sum;
}

static void one_group(const struct shunt_vector_sddmm *p, const struct shunt_vector *v,
                      int64_t batch, int64_t head, int64_t group)
{
  int64_t q0 = batch * p->q.batch_stride + head * p->q.head_stride;
  int64_t k0 = batch * p->k.batch_stride + head * p->k.head_stride;
  uint16_t *values = p->values + (batch * p->heads + head) * p->values_stride;

  for (int64_t s = v->begin[group]; s < (int64_t)v->begin[group] + v->count[group]; s++)
    for (int slot = 0; slot < SHUNT_VECTOR_STEP; slot++)
      for (int r = 0; r < SHUNT_VECTOR_ROWS; r++) {
        int64_t at = s * SHUNT_VECTOR_STEP + slot;
        int64_t place = s * SHUNT_VECTOR_STEP_VALUES + shunt_vector_place(r, slot);
        double x = 0;
        if (p->alpha != 0 && v->masks[at] >> r & 1)
          x = p->alpha * dot(p, q0 + (group * SHUNT_VECTOR_ROWS + r) * p->q.row_stride,
                             k0 + (int64_t)v->columns[at] * p->k.row_stride, v->value_type);
        shunt_store(values, place, v->value_type, x);
      }
}

shunt_status shunt_vector_sddmm_host(const struct shunt_vector_sddmm *p,
                                     const struct shunt_vector *v)
{
  shunt_status status = shunt_check_sddmm(p, v);

  if (status != SHUNT_OK) return status;
  SHUNT_OMP(omp parallel for schedule(dynamic, 4))
  for (int64_t i = 0; i < p->batches * p->heads * v->groups; i++) {
    int64_t z = i / v->groups;
    one_group(p, v, z / p->heads, z % p->heads, i % v->groups);
  }
  return SHUNT_OK;
}
