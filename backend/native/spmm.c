/* spmm.c: shunt_spmm, one product for each (batch, head). */
#include "backend/native/native.h"

/* The product of problem z. */
static struct shunt_spmm product(const struct shunt_packed *p, const struct shunt_tensor *b,
                                 const struct shunt_tensor *c, int64_t z)
{
  return (struct shunt_spmm){.a = {.rows = p->v.rows,
                                   .cols = p->v.cols,
                                   .nnz = p->v.nnz,
                                   .index_type = SHUNT_I32,
                                   .value_type = p->v.value_type},
                             .b = shunt_tensor_matrix(b, z),
                             .c = shunt_tensor_matrix(c, z),
                             .compute = SHUNT_F32};
}

size_t shunt_native_spmm_workspace(const struct shunt_packed *p, const struct shunt_tensor *b,
                                   const struct shunt_tensor *c)
{
  struct shunt_spmm q = product(p, b, c, 0);
  struct shunt_heads heads = shunt_tensor_heads(b);

  /* The launcher looks at strides only: a pointer that is not aligned is said as such a stride. */
  if (!shunt_heads_aligned(&heads)) q.b.row_stride = b->cols | 1;
  return p->at.engine->spmm_workspace(&q);
}

shunt_status shunt_native_spmm(const struct shunt_packed *p, const struct shunt_native_spmm *q,
                               void *workspace, size_t workspace_bytes, shunt_stream stream)
{
  for (int64_t z = 0; z < q->b->batches * q->b->heads; z++) {
    struct shunt_spmm one = product(p, q->b, q->c, z);
    struct shunt_vector v = p->v;
    shunt_status s;
    one.alpha.host = (double)q->alpha;
    one.beta.host = (double)q->beta;
    v.values = q->values.values + z * q->values.stride;
    s = p->at.engine->spmm(p, &one, &v, workspace, workspace_bytes, stream);
    if (s != SHUNT_OK) return z ? SHUNT_E_WRITTEN : s;
  }
  return SHUNT_OK;
}

static shunt_status check(const struct shunt_packed *p, const struct shunt_tensor *b,
                          const struct shunt_tensor *c)
{
  if (!p || shunt_tensor_problems(b) == 0) return SHUNT_E_ARGUMENT;
  if (!shunt_tensor_fits(b, b, p->v.cols, b->cols, 0)) return SHUNT_E_ARGUMENT;
  if (!shunt_tensor_fits(c, b, p->v.rows, b->cols, 1)) return SHUNT_E_ARGUMENT;
  if (b->type != p->v.value_type) return SHUNT_E_UNSUPPORTED;
  return c->type == b->type || c->type == SHUNT_F32 ? SHUNT_OK : SHUNT_E_UNSUPPORTED;
}

size_t shunt_spmm_workspace(const struct shunt_packed *p, const struct shunt_tensor *b,
                            const struct shunt_tensor *c)
{
  return check(p, b, c) == SHUNT_OK ? shunt_native_spmm_workspace(p, b, c) : 0;
}

shunt_status shunt_spmm(const struct shunt_packed *p, const struct shunt_values *values,
                        float alpha, const struct shunt_tensor *b, float beta,
                        const struct shunt_tensor *c, void *workspace, size_t workspace_bytes,
                        shunt_stream stream)
{
  struct shunt_native_spmm q = {.b = b, .c = c, .alpha = alpha, .beta = beta};
  shunt_status s = check(p, b, c);
  size_t wanted;

  if (s != SHUNT_OK) return s;
  if (!shunt_value_array(p, values, shunt_tensor_problems(b), &q.values)) return SHUNT_E_ARGUMENT;
  wanted = shunt_native_spmm_workspace(p, b, c);
  if (wanted && (!workspace || (uintptr_t)workspace % 256 || workspace_bytes < wanted))
    return SHUNT_E_WORKSPACE;
  s = p->at.engine->enter(&p->at);
  return s == SHUNT_OK ? shunt_native_spmm(p, &q, workspace, workspace_bytes, stream) : s;
}
