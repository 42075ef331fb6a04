/* guard.c: fingerprint, repair and combination.  In the trace: f, g and +.  */
#include <math.h>
#include <string.h>

#include "kernels/common/host_half.h"
#include "kernels/csr/csr_kernels.h"
#include "kernels/guard/fingerprint.h"
#include "kernels/guard/guard.h"
#include "tests/unit/way/launchers/launchers.h"

struct fingerprint {
  struct shunt_csr a;
  struct shunt_fingerprint *out;
};
static void fingerprint(const void *arguments)
{
  const struct fingerprint *f = arguments;
  *f->out = shunt_fingerprint_csr_host(&f->a);
}
shunt_status shunt_fingerprint_csr_cuda(const struct shunt_csr *a, struct shunt_fingerprint *out,
                                        const struct shunt_device *d, void *scratch, shunt_stream s)
{
  (void)d;
  memset(scratch, 0xee, SHUNT_FINGERPRINT_SCRATCH); /* it may be written */
  return KERNEL('f', s, fingerprint, *a, out);
}

static double element(const struct shunt_dense *m, int64_t i, int64_t j)
{
  const int64_t at = i * m->row_stride + j * m->col_stride;
  switch (m->type) {
  case SHUNT_F16: return shunt_half_to_float(((const uint16_t *)m->values)[at]);
  case SHUNT_BF16: return shunt_bfloat_to_float(((const uint16_t *)m->values)[at]);
  case SHUNT_F32: return ((const float *)m->values)[at];
  default: return 0; /* integers */
  }
}
static bool first_row_is_finite(const struct shunt_dense *m)
{
  if (m->values && m->rows > 0)
    for (int64_t j = 0; j < m->cols; j++)
      if (!isfinite(element(m, 0, j))) return false;
  return true;
}

struct repair {
  struct shunt_spmm p;
  struct shunt_guard r;
  struct shunt_dense product;
  const struct shunt_fingerprint *actual;
  bool transposed;
};
static bool has_changed(const struct repair *x)
{
  struct shunt_fingerprint now;
  if (!x->r.expected) return false;
  if (x->actual) {
    now = *x->actual;
  } else {
    const struct shunt_csr values = shunt_fp_values_of(&x->p.a);
    now = shunt_fingerprint_csr_host(x->r.of_values ? &values : &x->p.a);
  }
  return now.lo != x->r.expected->lo || now.hi != x->r.expected->hi;
}
static void repair(const void *arguments)
{
  const struct repair *x = arguments;
  const bool irregular = x->p.only_if && *x->p.only_if, changed = has_changed(x);
  const bool finite = first_row_is_finite(&x->product);
  const bool needed = irregular || changed || !finite;
  struct shunt_spmm p = x->p;
  if (x->r.repaired) *x->r.repaired = needed;
  if (changed && x->r.changed) *x->r.changed = SHUNT_GUARD_CHANGED;
  if (!changed && !finite && x->r.nonfinite) *x->r.nonfinite = 1;
  device.changes += changed;
  device.repairs += needed;
  p.only_if = NULL;
  if (needed && x->transposed)
    shunt_csr_spmm_transposed_host(&p);
  else if (needed)
    shunt_csr_spmm_host(&p);
}
shunt_status launch_repair(const struct shunt_spmm *p, const struct shunt_guard *r,
                           const struct shunt_fingerprint *actual, bool transposed, shunt_stream s)
{
  const struct shunt_dense none = {0};
  return KERNEL('g', s, repair, *p, *r, r->product ? *r->product : none, actual, transposed);
}
shunt_status shunt_guard_repair_cuda(const struct shunt_spmm *p, const struct shunt_guard *r,
                                     const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  if (!r->sets || !r->key) return SHUNT_E_ARGUMENT;
  return launch_repair(p, r, NULL, false, s);
}
shunt_status shunt_guard_repair_transposed_cuda(const struct shunt_spmm *p,
                                                const struct shunt_guard *r,
                                                const struct shunt_fingerprint *actual,
                                                const struct shunt_device *d, shunt_stream s)
{
  (void)d;
  return launch_repair(p, r, actual, true, s);
}

struct combine {
  struct shunt_dense w;
  struct shunt_spmm p;
  const uint32_t *only_unless;
};
static double scalar(const struct shunt_scalar *s)
{
  return s->device ? *(const float *)s->device : s->host;
}
static void combine(const void *arguments)
{
  const struct combine *x = arguments;
  const struct shunt_dense *c = &x->p.c;
  const float alpha = (float)scalar(&x->p.alpha), beta = (float)scalar(&x->p.beta);
  if (x->only_unless && *x->only_unless) return;
  for (int64_t i = 0; i < c->rows; i++)
    for (int64_t j = 0; j < c->cols; j++) {
      const int64_t at = i * c->row_stride + j * c->col_stride;
      float sum = alpha * (float)element(&x->w, i, j);
      if (beta != 0) sum += beta * (float)element(c, i, j);
      if (c->type == SHUNT_F32)
        ((float *)c->values)[at] = sum;
      else
        ((uint16_t *)c->values)[at] =
            c->type == SHUNT_F16 ? shunt_float_to_half(sum) : shunt_float_to_bfloat(sum);
    }
}
shunt_status shunt_guard_combine_cuda(const struct shunt_dense *w, const struct shunt_spmm *p,
                                      const uint32_t *only_unless, const struct shunt_device *d,
                                      shunt_stream s)
{
  (void)d;
  return KERNEL('+', s, combine, *w, *p, only_unless);
}
