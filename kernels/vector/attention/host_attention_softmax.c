/* host_attention_softmax.c: softmax over the rows of a matrix in the `vector` format, on the host:
   the slow twin of kernels/vector/attention/attention_softmax.cu.

     P[i, j] = round(exp(x[i, j] - m) / sum over the row of exp(x[i, j] - m)),   x = scale S

   in double; m is the row's largest x that is a number.  Places that are no positions of the
   pattern do not count and become 0.  */
#include <math.h>

#include "kernels/common/host_element.h"
#include "kernels/vector/attention/attention_check.h"

#ifdef _OPENMP
#define SHUNT_OMP(x) _Pragma(#x)
#else
#define SHUNT_OMP(x)
#endif

/* One row of a packed matrix. */
struct row {
  const struct shunt_vector *v;
  int64_t first, end; /* slots of its group: 16 x step + slot */
  int r;
};

static int in_pattern(const struct row *k, int64_t at)
{
  return k->v->masks[at] >> k->r & 1;
}

static int64_t place_of(const struct row *k, int64_t at)
{
  return at / SHUNT_VECTOR_STEP * SHUNT_VECTOR_STEP_VALUES +
         shunt_vector_place(k->r, (int)(at % SHUNT_VECTOR_STEP));
}

static void one_row(const struct row *k, float scale, const uint16_t *in, uint16_t *out)
{
  shunt_type t = k->v->value_type;
  double most = -INFINITY, sum = 0;

  for (int64_t at = k->first; at < k->end; at++)
    if (in_pattern(k, at)) most = fmax(most, scale * shunt_load(in, place_of(k, at), t));
  for (int64_t at = k->first; at < k->end; at++)
    if (in_pattern(k, at)) sum += exp(scale * shunt_load(in, place_of(k, at), t) - most);
  for (int64_t at = k->first; at < k->end; at++) {
    int64_t place = place_of(k, at);
    double x = in_pattern(k, at) ? exp(scale * shunt_load(in, place, t) - most) / sum : 0;
    shunt_store(out, place, t, x);
  }
}

shunt_status shunt_vector_softmax_host(const struct shunt_vector_softmax *p,
                                       const struct shunt_vector *v)
{
  shunt_status status = shunt_check_softmax(p, v);

  if (status != SHUNT_OK) return status;
  SHUNT_OMP(omp parallel for schedule(dynamic, 16))
  for (int64_t i = 0; i < p->matrices * v->groups; i++) {
    int64_t z = i / v->groups, group = i % v->groups;
    struct row k = {v, (int64_t)v->begin[group] * SHUNT_VECTOR_STEP, 0, 0};
    k.end = k.first + (int64_t)v->count[group] * SHUNT_VECTOR_STEP;
    for (k.r = 0; k.r < SHUNT_VECTOR_ROWS; k.r++)
      one_row(&k, p->scale, p->in + z * p->in_stride, p->out + z * p->out_stride);
  }
  return SHUNT_OK;
}
