#include "backend/plan/batches.h"

bool shunt_batches_share_a(const struct shunt_problem *p)
{
  return p->op == SHUNT_SPMM && p->strides.offsets == 0 && p->strides.entries == 0;
}

/* Do d's columns go on in the next batch? */
static bool adjoins(const struct shunt_dense *d, int64_t stride, int batches)
{
  if (stride != d->cols * d->col_stride) return false;
  return d->col_stride != 1 || d->row_stride >= d->cols * batches;
}

bool shunt_batches_join(const struct shunt_problem *p, struct shunt_problem *one)
{
  const struct shunt_dense *b = &p->spmm.b, *c = &p->spmm.c;
  if (!shunt_batches_share_a(p) || b->cols > (INT32_MAX - 1024) / p->batches) return false;
  if (!adjoins(b, p->strides.dense[0], p->batches) || !adjoins(c, p->strides.dense[1], p->batches))
    return false;
  *one = *p;
  one->batches = 1;
  one->strides = (struct shunt_batch_strides){0};
  one->spmm.b.cols *= p->batches;
  one->spmm.c.cols *= p->batches;
  return true;
}

static void *moved(const void *array, int64_t elements, shunt_type type)
{
  return array ? (char *)array + elements * (int64_t)shunt_type_size(type) : NULL;
}

void shunt_batch_move(const struct shunt_problem *p, int i, struct shunt_problem *one)
{
  const bool spmm = p->op == SHUNT_SPMM;
  const struct shunt_csr *from = shunt_problem_sparse(p);
  struct shunt_csr *a = spmm ? &one->spmm.a : &one->sddmm.c;
  const struct shunt_dense *dense[2] = {spmm ? &p->spmm.b : &p->sddmm.a,
                                        spmm ? &p->spmm.c : &p->sddmm.b};
  struct shunt_dense *to[2] = {spmm ? &one->spmm.b : &one->sddmm.a,
                               spmm ? &one->spmm.c : &one->sddmm.b};
  const int64_t entries = i * p->strides.entries;
  a->row_offsets = moved(from->row_offsets, i * p->strides.offsets, a->index_type);
  a->columns = moved(from->columns, entries, a->index_type);
  a->values = moved(from->values, entries, a->value_type);
  one->row_indices = moved(p->row_indices, entries, a->index_type);
  for (int k = 0; k < 2; k++)
    to[k]->values = moved(dense[k]->values, i * p->strides.dense[k], to[k]->type);
}

void shunt_batch_at(const struct shunt_problem *p, int i, struct shunt_problem *one)
{
  *one = *p;
  if (p->batches == 1) return;
  one->batches = 1;
  one->strides = (struct shunt_batch_strides){0};
  shunt_batch_move(p, i, one);
}
