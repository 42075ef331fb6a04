/* host_bsr_spmm.c: C = alpha A B + beta C for A in square blocks, on the host: element by element,
   in the order of storage.

     C[i, j] = round(alpha * sum over blocks q of row i / s, over e < s:
                             block q[i % s, e] * B[columns[q] * s + e, j]  + beta * C[i, j])

   Of int8 the sum is exact; into int32 all wraps.  */
#include "kernels/bsr/bsr_kernels.h"
#include "kernels/common/host_element.h"

struct list {
  int64_t begin, end;
};

static struct list blocks_of(const struct shunt_spmm *p, const struct shunt_block_shape *s,
                             int64_t row)
{
  if (s->wide) return (struct list){row * s->wide, (row + 1) * s->wide};
  return (struct list){shunt_index_at(p->a.row_offsets, row, p->a.index_type) - p->a.base,
                       shunt_index_at(p->a.row_offsets, row + 1, p->a.index_type) - p->a.base};
}

/* Where element (i, e) of block q stands, i a row of the matrix. */
static int64_t place(const struct shunt_block_shape *s, int64_t i, int64_t q, int64_t e)
{
  const int64_t size = s->size, in = i % size;
  if (s->wide) return i * s->wide * size + q % s->wide * size + e;
  return q * size * size + in * size + e;
}

static double sum_of(const struct shunt_spmm *p, const struct shunt_block_shape *s, int64_t i,
                     int64_t j)
{
  const struct list l = blocks_of(p, s, i / s->size);
  const int rounds = p->compute == SHUNT_F32 && p->a.value_type != SHUNT_I8;
  double sum = 0;
  for (int64_t q = l.begin; q < l.end; q++) {
    const int64_t column = shunt_index_at(p->a.columns, q, p->a.index_type);
    if (column < 0) continue;
    for (int64_t e = 0; e < s->size; e++) {
      const int64_t row = (column - p->a.base) * s->size + e;
      const double product =
          shunt_load(p->a.values, place(s, i, q, e), p->a.value_type) *
          shunt_load(p->b.values, row * p->b.row_stride + j * p->b.col_stride, p->b.type);
      sum = rounds ? (double)(float)(sum + product) : sum + product;
    }
  }
  return sum;
}

shunt_status shunt_bsr_spmm_host(const struct shunt_spmm *p, const struct shunt_block_shape *s)
{
  const double alpha = shunt_scalar_value(&p->alpha, p->compute);
  const double beta = shunt_scalar_value(&p->beta, p->compute);

  if ((p->compute != SHUNT_F32 && p->compute != SHUNT_F64 && p->compute != SHUNT_I32) || p->only_if)
    return SHUNT_E_UNSUPPORTED;
  if (s->size < 1 || p->a.rows % s->size || p->a.cols % s->size || p->b.rows != p->a.cols ||
      p->c.rows != p->a.rows || p->c.cols != p->b.cols)
    return SHUNT_E_ARGUMENT;
  for (int64_t i = 0; i < p->c.rows; i++)
    for (int64_t j = 0; j < p->c.cols; j++) {
      const int64_t at = i * p->c.row_stride + j * p->c.col_stride;
      const double sum = sum_of(p, s, i, j);
      const double old = beta != 0 ? shunt_load(p->c.values, at, p->c.type) : 0;
      double x = alpha * sum;
      if (beta != 0) x += beta * old;
      if (p->compute == SHUNT_I32) x = shunt_wrapped(alpha, sum, beta, old);
      shunt_store(p->c.values, at, p->c.type, x);
    }
  return SHUNT_OK;
}
