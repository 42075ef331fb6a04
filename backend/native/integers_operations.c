/* integers_operations.c: quantisation, and one product, sampled product or softmax of integers. */
#include "backend/native/integers.h"

struct shunt_quantise shunt_quantise_of(const struct shunt_tensor *from,
                                        const struct shunt_integers *to, float *scales, int per_row)
{
  const struct shunt_heads h = shunt_tensor_heads(from);
  return (struct shunt_quantise){.from = shunt_tensor_matrix(from, 0),
                                 .problems = shunt_tensor_problems(from),
                                 .heads = from->heads,
                                 .head_stride = h.head_stride,
                                 .batch_stride = h.batch_stride,
                                 .to = *to,
                                 .scales = scales,
                                 .per_row = per_row};
}

shunt_status shunt_quantise(const struct shunt_tensor *from, enum shunt_place where, int per_row,
                            const struct shunt_integers *to, float *scales, shunt_stream stream)
{
  struct shunt_native_place at = {0};
  if (!to || !scales || shunt_tensor_problems(from) == 0 || from->rows < 1) return SHUNT_E_ARGUMENT;
  if (!shunt_tensor_fits(from, from, from->rows, from->cols, 0)) return SHUNT_E_ARGUMENT;
  if (!shunt_integers_fit(to, from->rows, from->cols) || to->is_unsigned) return SHUNT_E_ARGUMENT;
  if ((uintptr_t)scales % sizeof *scales || (where != SHUNT_HOST && where != SHUNT_DEVICE))
    return SHUNT_E_ARGUMENT;
  at.engine = shunt_native_engine_of(where);
  if (!at.engine) return SHUNT_E_UNSUPPORTED;
  const struct shunt_quantise q = shunt_quantise_of(from, to, scales, per_row);
  const shunt_status s = at.engine->look(&at);
  return s == SHUNT_OK ? at.engine->integers->quantise(&at, &q, 1, stream) : s;
}

struct shunt_srbcrs shunt_integers_view(const struct shunt_packed_integers *p, void *values)
{
  struct shunt_srbcrs v = p->v;
  if (values) v.values = values;
  return v;
}

static int scaling_fits(const struct shunt_scaling *s)
{
  return s && (uintptr_t)s->tensor_scale % 4 == 0 && (uintptr_t)s->row_scales % 4 == 0 &&
         (uintptr_t)s->col_scales % 4 == 0;
}

shunt_status shunt_integer_spmm(const struct shunt_packed_integers *p, const void *values,
                                const struct shunt_integers *b, const struct shunt_scaling *scaling,
                                void *c, int64_t c_row_stride, shunt_stream stream)
{
  if (!p || !b || !scaling_fits(scaling) || (uintptr_t)values % 256) return SHUNT_E_ARGUMENT;
  const struct shunt_srbcrs v = shunt_integers_view(p, (void *)(uintptr_t)values);
  const struct shunt_srbcrs_integer_spmm q = {
      .b = *b, .scaling = *scaling, .c = c, .c_row_stride = c_row_stride};
  const shunt_status s = p->at.engine->enter(&p->at);
  return s == SHUNT_OK ? p->at.engine->integers->spmm(p, &q, &v, stream) : s;
}

shunt_status shunt_integer_sddmm(const struct shunt_packed_integers *p,
                                 const struct shunt_integers *a, const struct shunt_integers *b,
                                 const struct shunt_scaling *scaling, void *results,
                                 shunt_stream stream)
{
  if (!p || !a || !b || !scaling_fits(scaling) || !results || (uintptr_t)results % 16)
    return SHUNT_E_ARGUMENT;
  const struct shunt_srbcrs_sddmm q = {.a = *a, .b = *b, .scaling = *scaling, .values = results};
  const shunt_status s = p->at.engine->enter(&p->at);
  return s == SHUNT_OK ? p->at.engine->integers->sddmm(p, &q, stream) : s;
}

shunt_status shunt_integer_softmax(const struct shunt_packed_integers *p, float scale,
                                   const float *scores, int bits_b, void *values, float *row_scales,
                                   shunt_stream stream)
{
  if (!p || !scores || (uintptr_t)scores % 16 || (uintptr_t)values % 256) return SHUNT_E_ARGUMENT;
  const struct shunt_srbcrs v = shunt_integers_view(p, values);
  const struct shunt_srbcrs_softmax q = {.scores = scores,
                                         .score_type = SHUNT_F32,
                                         .scale = scale,
                                         .bits_b = bits_b,
                                         .row_scales = row_scales};
  const shunt_status s = p->at.engine->enter(&p->at);
  return s == SHUNT_OK ? p->at.engine->integers->softmax(p, &q, &v, stream) : s;
}
