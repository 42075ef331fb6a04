/* sparse24: matrices of which every aligned four columns of a row hold at most two entries, as
   pruned weights are, kept in the `sparse24` format (kernels/sparse24/sparse24_format.h) and
   multiplied by wgmma.sp.  SpMM, f16, bf16 and int8, compute capability 9.0.

   A packed copy as of packed_product.h, multiplied and proved in one launch; a matrix that was not
   2:4 after all is irregular.  A NaN that zeros which fill the copy up may have caused is seen by
   that launch, too.  Where every four columns hold two entries, their values are read where the
   caller has them, so that only the pattern is copied and proved.

   Whether a matrix is 2:4 the profile says; that is a hint, and the conversion checks.  */
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/packed_product.h"
#include "backend/routes/routes.h"
#include "conv/sparse24/sparse24_conv.h"
#include "kernels/common/alignment.h"
#include "kernels/common/dense_copy.h"
#include "kernels/guard/guard.h"
#include "kernels/sparse24/sparse24_kernels.h"

/* ---- the format ---------------------------------------------------------------- */

/* Behind the tiles: the fingerprint of A's pattern, where the product reads A's values in place. */
static struct shunt_fingerprint *of_pattern(const struct shunt_csr *a, void *copy)
{
  return (struct shunt_fingerprint *)((char *)copy + shunt_align_up(shunt_sparse24_bytes(a), 256));
}
static size_t copy_bytes(const struct shunt_csr *a)
{
  const size_t tiles = shunt_sparse24_bytes(a);
  return tiles ? shunt_align_up(tiles, 256) + 256 : 0;
}

static const struct shunt_packed_format format; /* below */

static shunt_status convert(const struct shunt_call *c, void *memory, uint32_t *irregular)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_device *d = &c->context->device;
  struct shunt_csr pattern = *a;
  struct shunt_sparse24 copy;
  if (!shunt_sparse24_lay_out(a, memory, &copy)) return SHUNT_E_UNSUPPORTED;
  shunt_status r = SHUNT_LAUNCH(shunt_csr_to_sparse24_cuda(a, &copy, irregular, d, c->stream));
  if (r != SHUNT_OK || !shunt_sparse24_in_place(a)) return r;
  pattern.values = NULL;
  void *scratch = (char *)c->workspace + shunt_packed_lay_out(&format, c->problem).scratch;
  return SHUNT_LAUNCH(
      shunt_fingerprint_csr_cuda(&pattern, of_pattern(a, memory), d, scratch, c->stream));
}

/* int8 is multiplied with B by columns only, each on 16 bytes: otherwise B is copied. */
static bool copies_b(const struct shunt_dense *b)
{
  return b->type == SHUNT_I8 &&
         (b->row_stride != 1 || b->col_stride % 16 != 0 || (uintptr_t)b->values % 16 != 0);
}

static struct shunt_dense by_columns(const struct shunt_dense *b, void *memory)
{
  return (struct shunt_dense){b->rows, b->cols, 1, (b->rows + 15) / 16 * 16, memory, b->type};
}

/* Room whenever B is int8: where it lies may change from call to call. */
static size_t own_bytes(const struct shunt_problem *p)
{
  const struct shunt_dense *b = &p->spmm.b;
  if (p->op != SHUNT_SPMM || b->type != SHUNT_I8) return 0;
  return (size_t)by_columns(b, NULL).col_stride * (size_t)b->cols;
}

static shunt_status proved(const struct shunt_packed_product *x, const struct shunt_spmm *s,
                           const struct shunt_guard *r)
{
  const struct shunt_device *d = &x->call->context->device;
  const struct shunt_machine *m = &x->call->context->machine;
  struct shunt_sparse24 copy;
  struct shunt_spmm product = *s;
  struct shunt_guard how = *r;
  const bool in_place = shunt_sparse24_in_place(&s->a);
  if (!shunt_sparse24_lay_out(&s->a, x->copy, &copy)) return SHUNT_E_UNSUPPORTED;
  if (copies_b(&s->b)) {
    product.b = by_columns(&s->b, x->own);
    shunt_status status =
        SHUNT_LAUNCH(shunt_dense_copy_cuda(&s->b, &product.b, d, x->call->stream));
    if (status != SHUNT_OK) return status;
  }
  /* r->of_values: the pattern stands, and there is nothing else to prove. */
  if (in_place && r->expected) how.expected = r->of_values ? NULL : of_pattern(&s->a, x->copy);
  const enum shunt_sparse24_shape shape = shunt_choose_sparse24_shape(&product, m);
  const struct shunt_sparse24_proof proof =
      shunt_choose_sparse24_proof(&product, shape, in_place, m);
  return shunt_sparse24_spmm_shaped_cuda(&product, &copy, shape, in_place, &proof, &how, d,
                                         x->call->stream);
}

static const struct shunt_packed_format format = {
    .own_bytes = own_bytes, .convert = convert, .proved = proved};

/* ---- the route ------------------------------------------------------------------ */

/* The copy engine wants B's rows (columns) on 16 bytes; addresses are looked at by the kernel's
   launcher.  */
static bool b_fits(const struct shunt_dense *b)
{
  if (b->type == SHUNT_I8) return true;
  const int64_t lead = b->col_stride == 1 ? b->row_stride : b->col_stride;
  return (b->col_stride == 1 || b->row_stride == 1) && lead % 8 == 0;
}

static bool types_fit(const struct shunt_spmm *s)
{
  const shunt_type t = s->a.value_type;
  if (s->b.type != t) return false;
  if (t == SHUNT_I8)
    return (s->c.type == SHUNT_F32 && s->compute == SHUNT_F32) ||
           (s->c.type == SHUNT_I32 && s->compute == SHUNT_I32);
  return (t == SHUNT_F16 || t == SHUNT_BF16) && (s->c.type == t || s->c.type == SHUNT_F32) &&
         s->compute == SHUNT_F32;
}

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  SHUNT_DECLINE_IF(p->op != SHUNT_SPMM, SHUNT_R_PATTERN);
  const struct shunt_spmm *s = &p->spmm;
  const double cells = (double)s->a.rows * (double)s->a.cols;
  SHUNT_DECLINE_IF(!types_fit(s), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(context->device.compute_capability != 90, SHUNT_R_WGMMA);
  SHUNT_DECLINE_IF(!shunt_sparse24_spmm_built(), SHUNT_R_WGMMA);
  SHUNT_DECLINE_IF(!b_fits(&s->b), SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF((double)s->a.nnz < cells / 16, SHUNT_R_SPARSE);
  SHUNT_DECLINE_IF((double)s->a.nnz > cells / 2 + 2 * (double)s->a.rows, SHUNT_R_PATTERN);
  SHUNT_DECLINE_IF(cells > (double)((int64_t)1 << 30), SHUNT_R_LARGE);
  /* Two of four columns, 2^14 each: beyond these, sums in int32 that become f32 may wrap. */
  SHUNT_DECLINE_IF(s->a.value_type == SHUNT_I8 && s->c.type == SHUNT_F32 &&
                       s->a.cols >= (int64_t)1 << 18,
                   SHUNT_R_LARGE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  return shunt_packed_lay_out(&format, p).total;
}

static bool is_two_of_four(const struct shunt_profile *f)
{
  return f->crowded_rows == 0 && f->unsorted_rows == 0;
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_machine *m = &c->context->machine;
  *us = shunt_cost_sparse24(s, shunt_choose_sparse24_shape(s, m), m);
  if (copies_b(&s->b)) *us += shunt_cost_copy(2 * (double)s->b.rows * (double)s->b.cols, m);
  if (!shunt_packed_overwrites(s)) *us += shunt_cost_combine(s, m);
  /* int32 that are added to have no room in the f32 matrix W. */
  SHUNT_DECLINE_IF(s->c.type == SHUNT_I32 && !shunt_packed_overwrites(s), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(!c->packed && !c->will_pack, SHUNT_R_UNCONVERTED);
  SHUNT_DECLINE_IF(c->no_copies, SHUNT_R_COPY);
  SHUNT_DECLINE_IF(c->workspace_bytes < workspace(c->problem, c->context), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  SHUNT_DECLINE_IF(!is_two_of_four(c->profile), SHUNT_R_PATTERN);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static shunt_status run(const struct shunt_call *c)
{
  return shunt_packed_run(&format, c);
}

/* None for a matrix that the profile knows not to be 2:4, even where routes are forced: every try
   would end in calls without any copy.  */
static size_t pack_bytes(const struct shunt_call *c)
{
  if (fits(c->problem, c->context).reason != SHUNT_FITS) return 0;
  if (c->profile && !is_two_of_four(c->profile)) return 0;
  return shunt_packed_copy_bytes(copy_bytes(&c->problem->spmm.a));
}

static shunt_status pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  return shunt_packed_fill(&format, c, into);
}

const struct shunt_route shunt_route_sparse24 = {.name = "sparse24",
                                                 .fits = fits,
                                                 .workspace = workspace,
                                                 .expect = expect,
                                                 .run = run,
                                                 .pack_bytes = pack_bytes,
                                                 .pack = pack};
