#include "backend/routes/rows_of_c.h"

#include "backend/routes/cost/costs.h"
#include "kernels/common/alignment.h"
#include "kernels/common/dense_copy.h"
#include "kernels/guard/guard.h"

/* Can C = alpha W + beta C be had, W of the compute type? */
static bool can_combine(const struct shunt_spmm *p)
{
  return p->compute == SHUNT_F32 || p->compute == SHUNT_F64;
}

/* W of a type, at `values`. */
static struct shunt_dense by_rows(const struct shunt_spmm *p, shunt_type type, void *values)
{
  const size_t size = shunt_type_size(type);
  const size_t row = shunt_align_up((size_t)p->c.cols * size, 16);
  return (struct shunt_dense){p->c.rows, p->c.cols, (int64_t)(row / size), 1, values, type};
}

static size_t bytes_of(const struct shunt_dense *w)
{
  return shunt_align_up((size_t)w->rows * (size_t)w->row_stride * shunt_type_size(w->type), 256);
}

size_t shunt_rows_of_c_bytes(const struct shunt_spmm *p, enum shunt_rows_taken taken)
{
  const double most = 1 << 30;
  if (p->only_if || !shunt_choose_rows_of_c(p, taken)) return 0;
  const bool wider = can_combine(p) && shunt_type_size(p->compute) > shunt_type_size(p->c.type);
  const struct shunt_dense w = by_rows(p, wider ? p->compute : p->c.type, NULL);
  if ((double)w.rows * (double)w.row_stride * (double)shunt_type_size(w.type) > most) return 0;
  return bytes_of(&w);
}

struct shunt_rows_of_c shunt_rows_of_c_begin(const struct shunt_spmm *p,
                                             enum shunt_rows_taken taken, size_t own,
                                             void *workspace, size_t workspace_bytes)
{
  struct shunt_rows_of_c r = {*p, false, workspace, workspace_bytes};
  const size_t bytes = shunt_rows_of_c_bytes(p, taken);
  const bool scaled = shunt_scalar_is_zero(&p->beta);
  if (bytes == 0 || workspace_bytes < bytes + own || (!scaled && !can_combine(p))) return r;
  r.product.c = by_rows(p, scaled ? p->c.type : p->compute, workspace);
  if (!scaled) r.product.alpha = (struct shunt_scalar){.host = 1};
  r.product.beta = (struct shunt_scalar){.host = 0};
  r.copies = true;
  r.workspace = (char *)workspace + bytes;
  r.workspace_bytes = workspace_bytes - bytes;
  return r;
}

shunt_status shunt_rows_of_c_end(const struct shunt_spmm *p, const struct shunt_rows_of_c *r,
                                 shunt_status made, const struct shunt_device *d,
                                 shunt_stream stream)
{
  const struct shunt_dense *w = &r->product.c;
  if (!r->copies) return made;
  if (made != SHUNT_OK) return made == SHUNT_E_WRITTEN ? SHUNT_E_CUDA : made; /* W was written */
  return shunt_scalar_is_zero(&p->beta) ? shunt_dense_copy_cuda(w, &p->c, d, stream)
                                        : shunt_guard_combine_cuda(w, p, NULL, d, stream);
}
