/* host_vector_packed_spmm.c: C = alpha A B + beta C for A in the `vector` format, on the host: the
   slow twin of kernels/vector/vector_packed_spmm*.cu.

     C[r, j] = round(alpha * sum over the slots of i's group whose mask has bit i % 8:
                     value * B[column, j]  + beta * C[r, j]),   C is not read when beta is 0

   for each place i, which holds row r = row_of[i], or i.

   Only A's own entries count, in the order of storage.  Sums are kept in float and rounded
   once.  */
#include "kernels/common/host_element.h"
#include "kernels/vector/vector_kernels.h"

static float sum_of(const struct shunt_spmm *p, const struct shunt_vector *v, int64_t i, int64_t j)
{
  int64_t group = i / SHUNT_VECTOR_ROWS, first = v->begin[group];
  int row = (int)(i % SHUNT_VECTOR_ROWS);
  float sum = 0;

  for (int64_t s = first; s < first + v->count[group]; s++)
    for (int slot = 0; slot < SHUNT_VECTOR_STEP; slot++) {
      int64_t at = s * SHUNT_VECTOR_STEP + slot;
      if (!(v->masks[at] >> row & 1)) continue;
      int64_t b_at = (int64_t)v->columns[at] * p->b.row_stride + j * p->b.col_stride;
      int64_t a_at = s * SHUNT_VECTOR_STEP_VALUES + shunt_vector_place(row, slot);
      sum += (float)shunt_load(v->values, a_at, v->value_type) *
             (float)shunt_load(p->b.values, b_at, p->b.type);
    }
  return sum;
}

shunt_status shunt_vector_packed_spmm_host(const struct shunt_spmm *p, const struct shunt_vector *v)
{
  float alpha, beta;

  if (p->compute != SHUNT_F32 || p->only_if || p->b.type != v->value_type ||
      (p->c.type != v->value_type && p->c.type != SHUNT_F32))
    return SHUNT_E_UNSUPPORTED;
  if (p->b.rows != v->cols || p->c.rows != v->rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  alpha = (float)shunt_scalar_value(&p->alpha, SHUNT_F32);
  beta = (float)shunt_scalar_value(&p->beta, SHUNT_F32);
  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) {
      int64_t row = v->row_of ? (int64_t)v->row_of[i] : i;
      int64_t at = row * p->c.row_stride + j * p->c.col_stride;
      float x = alpha == 0 ? 0 : alpha * sum_of(p, v, i, j);
      if (beta != 0) x += beta * (float)shunt_load(p->c.values, at, p->c.type);
      shunt_store(p->c.values, at, p->c.type, x);
    }
  return SHUNT_OK;
}
