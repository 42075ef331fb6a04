/* host_srbcrs_sddmm.c: SDDMM over strides on the host, the twin of srbcrs_sddmm.cuh: each slot of
   each stride that a group has, padding included. */
#include "kernels/srbcrs/host_srbcrs_integers.h"

static uint32_t dot(const struct shunt_srbcrs_sddmm *p, int64_t i, int64_t j)
{
  uint32_t sum = 0;
  for (int64_t k = 0; k < p->a.cols; k++)
    sum += (uint32_t)(shunt_integer_at(&p->a, i, k) * shunt_integer_at(&p->b, j, k));
  return sum;
}

static void slot(const struct shunt_srbcrs_sddmm *p, const struct shunt_srbcrs *v, int64_t g,
                 int64_t s)
{
  const struct shunt_scaling nothing = {.type = p->scaling.type};
  const int64_t j = v->columns[s];
  for (int r = 0; r < v->height; r++) {
    const int64_t i = g * v->height + r, at = shunt_srbcrs_place(v->height, r, s);
    if (v->masks[s] >> r & 1)
      shunt_put_scaled(&p->scaling, p->values, at, dot(p, i, j), i, j);
    else
      shunt_put_scaled(&nothing, p->values, at, 0, i, j);
  }
}

static void one_problem(const struct shunt_srbcrs_sddmm *p, const struct shunt_srbcrs *v, int64_t z)
{
  const int64_t stride = SHUNT_SRBCRS_STRIDE;
  const size_t size = shunt_type_size(p->scaling.type);
  struct shunt_srbcrs_sddmm one = *p;
  one.a = shunt_integers_of(&p->a, z);
  one.b = shunt_integers_of(&p->b, z);
  one.scaling = shunt_scaling_of(&p->scaling, z, v->rows, v->cols);
  one.values = (char *)p->values + (size_t)(z * p->problems.places) * size;
  for (int64_t g = 0; g < v->groups; g++)
    for (int64_t s = v->begin[g]; s < (v->end[g] + stride - 1) / stride * stride; s++)
      slot(&one, v, g, s);
}

shunt_status shunt_srbcrs_sddmm_host(const struct shunt_srbcrs_sddmm *p,
                                     const struct shunt_srbcrs *v)
{
  const shunt_type t = p->scaling.type;
  if (p->a.bits != p->b.bits) return SHUNT_E_UNSUPPORTED;
  if (!shunt_is_scaled_type(t)) return SHUNT_E_UNSUPPORTED;
  if (!shunt_integers_fit(&p->a, v->rows, p->a.cols) ||
      !shunt_integers_fit(&p->b, v->cols, p->a.cols) || !p->values)
    return SHUNT_E_ARGUMENT;
  if (!shunt_srbcrs_problems_fit(&p->problems, v->height)) return SHUNT_E_ARGUMENT;
  for (int64_t z = 0; z < shunt_srbcrs_count(&p->problems); z++) one_problem(p, v, z);
  return SHUNT_OK;
}
