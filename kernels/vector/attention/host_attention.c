/* host_attention.c: attention on a pattern in the `vector` format, on the host: the slow twin
   of kernels/vector/attention/attention.cuh.

     O[i, c] = round(sum over j of w[j] V[j, c] / sum over j of w[j])
     w[j] = exp(x[j] - m),   x[j] = scale * sum over c of Q[i, c] K[j, c],   m = the largest x

   over the positions j of row i, all in double.  A row without positions gives zeros.  Nothing is
   allocated: the scores are computed once for m and once for each 64 columns of O.  */
#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/vector/attention/attention_check.h"
#include "kernels/vector/attention/host_attention_row.h"

#ifdef _OPENMP
#define SHUNT_OMP(x) _Pragma(#x)
#else
#define SHUNT_OMP(x)
#endif

enum { SHARED = 64 }; /* columns of O that share the scores */

/* One row of one problem. */
struct row {
  const struct shunt_vector_attention *p;
  const struct shunt_vector *pattern;
  int64_t q_at, k_at, v_at, o_at; /* where the row, or the matrix, begins */
  int64_t first, end;             /* slots of its group: 16 x step + slot */
  int r;
};

static int in_pattern(const struct row *k, int64_t at)
{
  return k->pattern->masks[at] >> k->r & 1;
}

static double score(const struct row *k, int64_t at)
{
  const struct shunt_vector_attention *p = k->p;
  int64_t k_at = k->k_at + (int64_t)k->pattern->columns[at] * p->k.row_stride;
  shunt_type t = k->pattern->value_type;
  double sum = 0;

  for (int64_t c = 0; c < p->d; c++)
    sum += shunt_load(p->q.values, k->q_at + c, t) * shunt_load(p->k.values, k_at + c, t);
  return p->scale * sum;
}

/* Columns c0 .. c0 + count - 1 of the row. */
static void some_columns(const struct row *k, double most, int64_t c0, int count)
{
  const struct shunt_vector_attention *p = k->p;
  shunt_type t = k->pattern->value_type;
  double sum[SHARED] = {0}, weights = 0;
  int any = 0;

  for (int64_t at = k->first; at < k->end; at++) {
    if (!in_pattern(k, at)) continue;
    int64_t v_at = k->v_at + (int64_t)k->pattern->columns[at] * p->v.row_stride + c0;
    double w = exp(score(k, at) - most);
    any = 1;
    weights += w;
    for (int c = 0; c < count; c++) sum[c] += w * shunt_load(p->v.values, v_at + c, t);
  }
  for (int c = 0; c < count; c++)
    shunt_store(p->o.values, k->o_at + c0 + c, t, any ? sum[c] / weights : 0);
}

static void one_row(const struct row *k)
{
  double most = -INFINITY;

  for (int64_t at = k->first; at < k->end; at++)
    if (in_pattern(k, at)) most = fmax(most, score(k, at));
  for (int64_t c = 0; c < k->p->d; c += SHARED)
    some_columns(k, most, c, (int)(k->p->d - c < SHARED ? k->p->d - c : SHARED));
}

static int64_t matrix_at(const struct shunt_heads *m, int64_t batch, int64_t head)
{
  return batch * m->batch_stride + head * m->head_stride;
}

void shunt_vector_attention_row(const struct shunt_vector_attention *p,
                                const struct shunt_vector *v, int64_t z, int64_t row)
{
  int64_t batch = z / p->heads, head = z % p->heads, group = row / SHUNT_VECTOR_ROWS;
  struct row k = {.p = p, .pattern = v, .r = (int)(row % SHUNT_VECTOR_ROWS)};

  k.first = (int64_t)v->begin[group] * SHUNT_VECTOR_STEP;
  k.end = k.first + (int64_t)v->count[group] * SHUNT_VECTOR_STEP;
  k.q_at = matrix_at(&p->q, batch, head) + row * p->q.row_stride;
  k.k_at = matrix_at(&p->k, batch, head);
  k.v_at = matrix_at(&p->v, batch, head);
  k.o_at = matrix_at(&p->o, batch, head) + row * p->o.row_stride;
  one_row(&k);
}

shunt_status shunt_vector_attention_host(const struct shunt_vector_attention *p,
                                         const struct shunt_vector *v)
{
  shunt_status status = shunt_check_attention(p, v);

  if (status != SHUNT_OK) return status;
  SHUNT_OMP(omp parallel for schedule(dynamic, 16))
  for (int64_t i = 0; i < p->batches * p->heads * v->rows; i++)
    shunt_vector_attention_row(p, v, i / v->rows, i % v->rows);
  return SHUNT_OK;
}
