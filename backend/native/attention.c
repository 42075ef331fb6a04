/* attention.c: shunt_attention: by the fused kernel where the engine has one, else

     workspace  | scores of problem 0 | problem 1 | ..        | of the products |
                '- SDDMM writes, softmax in place, SpMM reads -'                     */
#include <math.h>

#include "backend/native/native.h"

/* Operands that have been looked at. */
struct operands {
  const struct shunt_tensor *q, *k, *v, *o;
};

static shunt_status check(const struct shunt_packed *p, const struct operands *x)
{
  if (!p || shunt_tensor_problems(x->q) == 0) return SHUNT_E_ARGUMENT;
  if (!shunt_tensor_fits(x->q, x->q, p->v.rows, x->q->cols, 0) ||
      !shunt_tensor_fits(x->k, x->q, p->v.cols, x->q->cols, 0) ||
      !shunt_tensor_fits(x->v, x->q, p->v.cols, x->q->cols, 0) ||
      !shunt_tensor_fits(x->o, x->q, p->v.rows, x->q->cols, 1))
    return SHUNT_E_ARGUMENT;
  if (x->q->type != p->v.value_type || x->k->type != p->v.value_type ||
      x->v->type != p->v.value_type || x->o->type != p->v.value_type)
    return SHUNT_E_UNSUPPORTED;
  return SHUNT_OK;
}

static struct shunt_vector_attention problem_of(const struct operands *x, float scale)
{
  return (struct shunt_vector_attention){.batches = x->q->batches,
                                         .heads = x->q->heads,
                                         .d = x->q->cols,
                                         .scale = scale,
                                         .q = shunt_tensor_heads(x->q),
                                         .k = shunt_tensor_heads(x->k),
                                         .v = shunt_tensor_heads(x->v),
                                         .o = shunt_tensor_heads(x->o)};
}

/* Bytes for the scores of all problems. */
static size_t score_bytes(const struct shunt_packed *p, const struct operands *x)
{
  return ((size_t)shunt_tensor_problems(x->q) * p->value_bytes + 255) & ~(size_t)255;
}

static size_t workspace_of(const struct shunt_packed *p, const struct operands *x)
{
  struct shunt_vector_attention problem = problem_of(x, 0);

  if (p->at.engine->fuses(&problem)) return 0;
  return score_bytes(p, x) + shunt_native_spmm_workspace(p, x->v, x->o);
}

size_t shunt_attention_workspace(const struct shunt_packed *p, const struct shunt_tensor *q,
                                 const struct shunt_tensor *k, const struct shunt_tensor *v,
                                 const struct shunt_tensor *o)
{
  struct operands x = {q, k, v, o};

  return check(p, &x) == SHUNT_OK ? workspace_of(p, &x) : 0;
}

static shunt_status three_kernels(const struct shunt_packed *p, float scale,
                                  const struct operands *x, char *workspace, size_t workspace_bytes,
                                  shunt_stream stream)
{
  size_t scores = score_bytes(p, x);
  struct shunt_value_array values = {(uint16_t *)(void *)workspace,
                                     (int64_t)(p->value_bytes / sizeof(uint16_t))};
  struct shunt_vector_attention all = problem_of(x, scale);
  /* Scaled before they are rounded, or f16 scores of wide heads would overflow that the fused
     kernel does not.  A scale that would lose them goes to softmax.  */
  const int early = isfinite(scale) && scale != 0;
  struct shunt_vector_sddmm sddmm = {.batches = all.batches,
                                     .heads = all.heads,
                                     .d = all.d,
                                     .alpha = early ? scale : 1,
                                     .q = all.q,
                                     .k = all.k,
                                     .values = values.values,
                                     .values_stride = values.stride};
  struct shunt_vector_softmax softmax = {.matrices = all.batches * all.heads,
                                         .scale = early ? 1 : scale,
                                         .in = values.values,
                                         .out = values.values,
                                         .in_stride = values.stride,
                                         .out_stride = values.stride};
  struct shunt_native_spmm spmm = {.values = values, .b = x->v, .c = x->o, .alpha = 1};
  shunt_status s = p->at.engine->sddmm(p, &sddmm, stream);

  if (s == SHUNT_OK) s = p->at.engine->softmax(p, &softmax, stream);
  if (s == SHUNT_OK)
    s = shunt_native_spmm(p, &spmm, workspace + scores, workspace_bytes - scores, stream);
  return s;
}

shunt_status shunt_attention(const struct shunt_packed *p, float scale,
                             const struct shunt_tensor *q, const struct shunt_tensor *k,
                             const struct shunt_tensor *v, const struct shunt_tensor *o,
                             void *workspace, size_t workspace_bytes, shunt_stream stream)
{
  struct operands x = {q, k, v, o};
  struct shunt_vector_attention problem;
  shunt_status s = check(p, &x);
  size_t wanted;

  if (s != SHUNT_OK) return s;
  wanted = workspace_of(p, &x);
  if (wanted && (!workspace || (uintptr_t)workspace % 256 || workspace_bytes < wanted))
    return SHUNT_E_WORKSPACE;
  s = p->at.engine->enter(&p->at);
  if (s != SHUNT_OK) return s;
  problem = problem_of(&x, scale);
  if (!wanted) return p->at.engine->attention(p, &problem, stream);
  return three_kernels(p, scale, &x, workspace, workspace_bytes, stream);
}
