/* attention_check.h: what the launchers of attention_kernels.h and their twins refuse. */
#ifndef SHUNT_ATTENTION_CHECK_H
#define SHUNT_ATTENTION_CHECK_H

#include "kernels/vector/attention/attention_kernels.h"

enum { SHUNT_ATTENTION_MOST_D = 1 << 20, SHUNT_ATTENTION_MOST_MATRICES = 65535 };

static inline shunt_status shunt_check_pattern(const struct shunt_vector *v)
{
  if (v->value_type != SHUNT_F16 && v->value_type != SHUNT_BF16) return SHUNT_E_UNSUPPORTED;
  if (v->row_of) return SHUNT_E_UNSUPPORTED; /* places are taken for rows */
  return v->rows < 1 || v->cols < 1 ? SHUNT_E_ARGUMENT : SHUNT_OK;
}

/* Number of problems; 0: not to be had. */
static inline int64_t shunt_check_count(int64_t batches, int64_t heads)
{
  if (batches < 1 || heads < 1 || batches > SHUNT_ATTENTION_MOST_MATRICES / heads) return 0;
  return batches * heads;
}

/* Rows of d elements may not overlap; strides of a single head or batch are not looked at. */
static inline int shunt_check_heads(const struct shunt_heads *m, int64_t d)
{
  return m->values && (uintptr_t)m->values % 2 == 0 && m->row_stride >= d;
}

static inline int shunt_check_packed(const void *values, int64_t stride)
{
  return values && (uintptr_t)values % 8 == 0 && stride % 4 == 0;
}

/* What all products with heads ask of their sizes. */
static inline shunt_status shunt_check_problem(const struct shunt_vector *v, int64_t d,
                                               int64_t batches, int64_t heads)
{
  shunt_status s = shunt_check_pattern(v);

  if (s != SHUNT_OK) return s;
  if (d < 1 || batches < 1 || heads < 1) return SHUNT_E_ARGUMENT;
  if (d > SHUNT_ATTENTION_MOST_D) return SHUNT_E_UNSUPPORTED;
  return shunt_check_count(batches, heads) == 0 ? SHUNT_E_UNSUPPORTED : SHUNT_OK;
}

static inline shunt_status shunt_check_sddmm(const struct shunt_vector_sddmm *p,
                                             const struct shunt_vector *v)
{
  shunt_status s = shunt_check_problem(v, p->d, p->batches, p->heads);

  if (s != SHUNT_OK) return s;
  if (!shunt_check_heads(&p->q, p->d) || !shunt_check_heads(&p->k, p->d)) return SHUNT_E_ARGUMENT;
  return shunt_check_packed(p->values, p->values_stride) ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

static inline shunt_status shunt_check_softmax(const struct shunt_vector_softmax *p,
                                               const struct shunt_vector *v)
{
  shunt_status s = shunt_check_pattern(v);

  if (s != SHUNT_OK) return s;
  if (p->matrices < 1) return SHUNT_E_ARGUMENT;
  if (p->matrices > SHUNT_ATTENTION_MOST_MATRICES) return SHUNT_E_UNSUPPORTED;
  if (p->in == p->out && p->in_stride != p->out_stride && p->matrices > 1) return SHUNT_E_ARGUMENT;
  if (!shunt_check_packed(p->in, p->in_stride)) return SHUNT_E_ARGUMENT;
  return shunt_check_packed(p->out, p->out_stride) ? SHUNT_OK : SHUNT_E_ARGUMENT;
}

static inline shunt_status shunt_check_attention(const struct shunt_vector_attention *p,
                                                 const struct shunt_vector *v)
{
  shunt_status s = shunt_check_problem(v, p->d, p->batches, p->heads);

  if (s != SHUNT_OK) return s;
  if (!shunt_check_heads(&p->q, p->d) || !shunt_check_heads(&p->k, p->d) ||
      !shunt_check_heads(&p->v, p->d) || !shunt_check_heads(&p->o, p->d))
    return SHUNT_E_ARGUMENT;
  return SHUNT_OK;
}

#endif
