/* host_srbcrs_softmax.c: softmax over the entries of a matrix in strides, as integers, on the host:
   the twin of srbcrs_softmax.cu, in double. */
#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/srbcrs/attention/srbcrs_quantise.h"

struct row {
  const struct shunt_srbcrs *v;
  const struct shunt_srbcrs_softmax *p;
  int64_t first, end; /* slots, padding included */
  int r;
};

static int is_entry(const struct row *k, int64_t s)
{
  return k->v->masks[s] >> k->r & 1;
}

static double x_of(const struct row *k, int64_t s)
{
  const int64_t at = shunt_srbcrs_place(k->v->height, k->r, s);
  return (double)(k->p->scale * (float)shunt_load(k->p->scores, at, k->p->score_type));
}

static void put(const struct row *k, int64_t s, int q)
{
  const int64_t stride = s / SHUNT_SRBCRS_STRIDE, at = s % SHUNT_SRBCRS_STRIDE;
  uint8_t *rows = k->v->values + stride * k->v->height * SHUNT_SRBCRS_STRIDE * k->v->bits / 8;
  rows[k->r * SHUNT_SRBCRS_STRIDE + at] = (uint8_t)q;
  if (k->v->bits == 16)
    rows[(k->v->height + k->r) * SHUNT_SRBCRS_STRIDE + at] = (uint8_t)((unsigned)q >> 8);
  if (k->v->bits != 12) return;
  uint8_t *byte = rows + k->v->height * SHUNT_SRBCRS_STRIDE + k->r * 16 + at % 16;
  const int shift = (int)(at / 16) * 4;
  *byte = (uint8_t)((*byte & ~(15u << shift)) | (unsigned)q >> 8 << shift);
}

/* What exp(x - most) is multiplied by where they add up to `sum`. */
static double factor_of(const struct row *k, double sum)
{
  const double largest = (double)shunt_srbcrs_largest(k->v), room = ldexp(1, 31 - k->p->bits_b);
  return fmin(largest, fmax(1, floor(room / sum)));
}

/* Returns the scale of its weights. */
static float one_row(const struct row *k)
{
  double most = -INFINITY, sum = 0, factor = 0;
  int good = 1, any = 0;
  for (int64_t s = k->first; s < k->end; s++)
    if (is_entry(k, s)) any = 1, most = fmax(most, x_of(k, s)), good &= !isnan(x_of(k, s));
  good &= isfinite(most);
  for (int64_t s = k->first; good && s < k->end; s++)
    if (is_entry(k, s)) sum += exp(x_of(k, s) - most);
  if (good) factor = factor_of(k, sum);
  for (int64_t s = k->first; s < k->end; s++)
    put(k, s, good && is_entry(k, s) ? (int)rint(factor * exp(x_of(k, s) - most)) : 0);
  if (!any) return 0;
  return good ? (float)(1 / (factor * sum)) : NAN;
}

static void one_problem(const struct shunt_srbcrs_softmax *p, const struct shunt_srbcrs *v,
                        int64_t z)
{
  const int64_t stride = SHUNT_SRBCRS_STRIDE;
  const size_t size = shunt_type_size(p->score_type);
  struct shunt_srbcrs_softmax one = *p;
  struct shunt_srbcrs to = *v;
  one.scores = (const char *)p->scores + (size_t)(z * p->problems.places) * size;
  one.row_scales += z * v->rows;
  to.values += z * (p->problems.places / 8 * v->bits);
  for (int64_t g = 0; g < v->groups; g++)
    for (int r = 0; r < v->height; r++) {
      const struct row k = {&to, &one, v->begin[g], (v->end[g] + stride - 1) / stride * stride, r};
      const float scale = one_row(&k);
      if (g * v->height + r < v->rows) one.row_scales[g * v->height + r] = scale;
    }
}

shunt_status shunt_srbcrs_softmax_host(const struct shunt_srbcrs_softmax *p,
                                       const struct shunt_srbcrs *v)
{
  const shunt_status status = shunt_srbcrs_softmax_check(p, v);
  if (status != SHUNT_OK) return status;
  for (int64_t z = 0; z < shunt_srbcrs_count(&p->problems); z++) one_problem(p, v, z);
  return SHUNT_OK;
}
