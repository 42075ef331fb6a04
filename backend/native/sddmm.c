/* sddmm.c: shunt_sddmm, all (batch, head) problems at once. */
#include "backend/native/native.h"

shunt_status shunt_sddmm(const struct shunt_packed *p, float alpha, const struct shunt_tensor *q,
                         const struct shunt_tensor *k, const struct shunt_values *values,
                         shunt_stream stream)
{
  struct shunt_value_array out;
  struct shunt_vector_sddmm problem;
  shunt_status s;

  if (!p || shunt_tensor_problems(q) == 0) return SHUNT_E_ARGUMENT;
  if (!shunt_tensor_fits(q, q, p->v.rows, q->cols, 0)) return SHUNT_E_ARGUMENT;
  if (!shunt_tensor_fits(k, q, p->v.cols, q->cols, 0)) return SHUNT_E_ARGUMENT;
  if (q->type != p->v.value_type || k->type != p->v.value_type) return SHUNT_E_UNSUPPORTED;
  if (!shunt_value_array(p, values, shunt_tensor_problems(q), &out)) return SHUNT_E_ARGUMENT;
  problem = (struct shunt_vector_sddmm){.batches = q->batches,
                                        .heads = q->heads,
                                        .d = q->cols,
                                        .alpha = alpha,
                                        .q = shunt_tensor_heads(q),
                                        .k = shunt_tensor_heads(k),
                                        .values = out.values,
                                        .values_stride = out.stride};
  s = p->at.engine->enter(&p->at);
  return s == SHUNT_OK ? p->at.engine->sddmm(p, &problem, stream) : s;
}
