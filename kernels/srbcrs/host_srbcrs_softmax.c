/* host_srbcrs_softmax.c: softmax over the entries of a matrix in strides, as integers, on the host:
   the twin of srbcrs_softmax.cu, in double. */
#include <math.h>

#include "kernels/srbcrs/srbcrs_quantise.h"

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
  return (double)(k->p->scale * k->p->scores[shunt_srbcrs_place(k->v->height, k->r, s)]);
}

static void put(const struct row *k, int64_t s, int q)
{
  const int64_t stride = s / SHUNT_SRBCRS_STRIDE, at = s % SHUNT_SRBCRS_STRIDE;
  uint8_t *rows = k->v->values + stride * k->v->height * SHUNT_SRBCRS_STRIDE * k->v->bits / 8;
  rows[k->r * SHUNT_SRBCRS_STRIDE + at] = (uint8_t)q;
  if (k->v->bits == 16)
    rows[(k->v->height + k->r) * SHUNT_SRBCRS_STRIDE + at] = (uint8_t)((unsigned)q >> 8);
}

static void one_row(const struct row *k)
{
  const double largest = k->v->bits == 16 ? 32767 : 127;
  double most = -INFINITY, sum = 0;
  int good = 1;
  for (int64_t s = k->first; s < k->end; s++)
    if (is_entry(k, s)) most = fmax(most, x_of(k, s)), good &= !isnan(x_of(k, s));
  good &= isfinite(most);
  for (int64_t s = k->first; good && s < k->end; s++)
    if (is_entry(k, s)) sum += exp(x_of(k, s) - most);
  for (int64_t s = k->first; s < k->end; s++)
    put(k, s, good && is_entry(k, s) ? (int)rint(largest * exp(x_of(k, s) - most) / sum) : 0);
}

shunt_status shunt_srbcrs_softmax_host(const struct shunt_srbcrs_softmax *p,
                                       const struct shunt_srbcrs *v)
{
  const int64_t stride = SHUNT_SRBCRS_STRIDE;
  if (v->bits != 16 && v->bits != 8) return SHUNT_E_UNSUPPORTED;
  if (!p->scores) return SHUNT_E_ARGUMENT;
  for (int64_t g = 0; g < v->groups; g++)
    for (int r = 0; r < v->height; r++) {
      const struct row k = {v, p, v->begin[g], (v->end[g] + stride - 1) / stride * stride, r};
      one_row(&k);
    }
  return SHUNT_OK;
}
