/* tile24: matrices of which every aligned four columns of a row hold at most two entries, as
   pruned weights are, kept in the `whole24` format (kernels/whole24_format.h) and multiplied by
   wgmma.sp.  SpMM, f16 and bf16, compute capability 9.0.

     stream  C = alpha A B from the copy, and witnesses -- repair

   The repair is the dense route's (dense.c): a kernel that takes A's fingerprint and computes C
   row by row if A changed, if the copy could not be made (A was not 2:4 after all), or if a witness
   says that a sum became NaN, which zeros that fill the copy up may have caused.  With beta != 0
   the product goes to a f32 matrix W first, and C = alpha W + beta C unless the repair ran.

   Whether a matrix is 2:4 the profile says; that is a hint, and the conversion checks.

   Workspace, in this order, each part 256-byte aligned:
     fingerprint's scratch | words (256) | witnesses | W
   Kept:
     tiles | table of the repair's words  */
#include "backend/plan/cache.h"
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/routes/routes.h"
#include "conv/whole24.h"
#include "kernels/whole24_kernels.h"

/* Calls of one plan whose workspaces differ and that its table has room for (dense.c). */
enum { KEPT_SETS = 512 };

struct parts {
  size_t scratch, verdict, witness, product, total;
};

static size_t round_up(size_t n)
{
  return (n + 255) & ~(size_t)255;
}

static bool overwrites(const struct shunt_spmm *s)
{
  return !s->beta.device && s->beta.host == 0;
}

static struct parts lay_out(const struct shunt_spmm *s)
{
  struct parts l = {.scratch = 0, .verdict = round_up(SHUNT_FINGERPRINT_SCRATCH)};
  l.witness = l.verdict + 256;
  l.product = l.witness + round_up(SHUNT_WHOLE24_WITNESSES * sizeof(float));
  l.total = l.product + round_up((size_t)s->c.rows * (size_t)s->c.cols * 4);
  return l;
}

static size_t tile_bytes(const struct shunt_csr *a)
{
  return round_up(shunt_whole24_bytes(a));
}

/* The copy engine wants B's rows (columns) on 16 bytes; addresses are looked at by the kernel's
   launcher.  */
static bool b_fits(const struct shunt_dense *b)
{
  const int64_t lead = b->col_stride == 1 ? b->row_stride : b->col_stride;
  return (b->col_stride == 1 || b->row_stride == 1) && lead % 8 == 0;
}

static struct shunt_verdict fits(const struct shunt_problem *p, const struct shunt_engine *e)
{
  SHUNT_DECLINE_IF(p->op != SHUNT_SPMM, SHUNT_R_PATTERN);
  const struct shunt_spmm *s = &p->spmm;
  const shunt_type t = s->a.value_type;
  const double cells = (double)s->a.rows * (double)s->a.cols;
  SHUNT_DECLINE_IF(t != SHUNT_F16 && t != SHUNT_BF16, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(s->b.type != t || (s->c.type != t && s->c.type != SHUNT_F32), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(s->compute != SHUNT_F32, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(e->device.compute_capability != 90, SHUNT_R_DEVICE);
  SHUNT_DECLINE_IF(shunt_spmm_whole24_columns(s, &e->device) == 0, SHUNT_R_DEVICE);
  SHUNT_DECLINE_IF(!b_fits(&s->b), SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF((double)s->a.nnz < cells / 16, SHUNT_R_SPARSE);
  SHUNT_DECLINE_IF((double)s->a.nnz > cells / 2 + 2 * (double)s->a.rows, SHUNT_R_PATTERN);
  SHUNT_DECLINE_IF(cells > (double)((int64_t)1 << 30), SHUNT_R_LARGE);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_engine *e)
{
  (void)e;
  return lay_out(&p->spmm).total;
}

static struct shunt_verdict expect(const struct shunt_call *c, double *us)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_device *d = &c->engine->device;
  *us = shunt_cost_whole24(s, shunt_spmm_whole24_columns(s, d), d) +
        shunt_cost_copy(shunt_cost_csr_bytes(&s->a), d) + 1;
  if (!overwrites(s)) *us += shunt_cost_copy((double)s->c.rows * (double)s->c.cols * 16, d);
  SHUNT_DECLINE_IF(!c->kept && !c->will_keep, SHUNT_R_UNCONVERTED);
  SHUNT_DECLINE_IF(c->no_copies, SHUNT_R_COPY);
  SHUNT_DECLINE_IF(c->workspace_bytes < lay_out(s).total, SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  SHUNT_DECLINE_IF(c->profile->crowded_rows || c->profile->unsorted_rows, SHUNT_R_PATTERN);
  return SHUNT_VERDICT(SHUNT_FITS);
}

/* ---- running ------------------------------------------------------------------ */

static void *at(const struct shunt_call *c, size_t offset)
{
  return (char *)c->workspace + offset;
}

/* The proof comes last: a product keeps all multiprocessors busy, so beside it there is
   no room.  */
static shunt_status repair(const struct shunt_call *c, const struct parts *l)
{
  struct shunt_spmm s = c->problem->spmm;
  struct shunt_dense witness = {1, SHUNT_WHOLE24_WITNESSES, SHUNT_WHOLE24_WITNESSES,
                                1, at(c, l->witness),       SHUNT_F32};
  struct shunt_repair r = {.product = &witness,
                           .expected = c->kept->fingerprint,
                           .sets = (char *)c->kept->payload + tile_bytes(&s.a),
                           .set_count = KEPT_SETS,
                           .key = c->workspace,
                           .wait_cycles = SHUNT_REPAIR_WAIT_CYCLES,
                           .verdict = at(c, l->verdict),
                           .changed = c->kept->changed,
                           .nonfinite = c->kept->nonfinite};
  s.only_if = c->kept->irregular;
  return SHUNT_LAUNCH(shunt_spmm_csr_repair_cuda(&s, &r, &c->engine->device, c->stream));
}

static shunt_status combine(const struct shunt_call *c, const struct shunt_dense *w,
                            const struct parts *l)
{
  return SHUNT_LAUNCH(shunt_dense_combine_cuda(w, &c->problem->spmm, at(c, l->verdict),
                                               &c->engine->device, c->stream));
}

/* C itself, or W = A B in its place. */
static shunt_status product(const struct shunt_call *c, const struct parts *l,
                            const struct shunt_dense *w)
{
  static const struct shunt_scalar one = {NULL, 1}, zero = {NULL, 0};
  struct shunt_spmm s = c->problem->spmm;
  struct shunt_whole24 copy;
  if (!shunt_whole24_lay_out(&s.a, c->kept->payload, &copy)) return SHUNT_E_UNSUPPORTED;
  if (!overwrites(&s)) s.c = *w, s.alpha = one, s.beta = zero;
  return SHUNT_LAUNCH(
      shunt_spmm_whole24_cuda(&s, &copy, at(c, l->witness), &c->engine->device, c->stream));
}

static shunt_status run(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct parts l = lay_out(s);
  const struct shunt_dense w = {s->c.rows, s->c.cols, s->c.cols, 1, at(c, l.product), SHUNT_F32};
  if (!c->kept) return SHUNT_E_UNSUPPORTED; /* there was no memory for it */
  shunt_status r = product(c, &l, &w);
  if (r != SHUNT_OK) return r; /* C is untouched */

  /* A launch that fails is tried again, because beyond the first of these two the
     original could no longer start over from C's old content.  */
  r = repair(c, &l);
  if (r != SHUNT_OK) r = repair(c, &l);
  if (r != SHUNT_OK || overwrites(s)) return r;
  r = combine(c, &w, &l);
  if (r != SHUNT_OK) r = combine(c, &w, &l);
  return r == SHUNT_OK ? r : SHUNT_E_WRITTEN;
}

/* ---- keeping -------------------------------------------------------------------- */

static size_t keep_bytes(const struct shunt_problem *p, const struct shunt_engine *e)
{
  if (fits(p, e).reason != SHUNT_FITS) return 0;
  return tile_bytes(&p->spmm.a) + KEPT_SETS * SHUNT_REPAIR_SET_BYTES;
}

static shunt_status keep(const struct shunt_call *c, const struct shunt_kept_view *into)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_device *d = &c->engine->device;
  struct shunt_whole24 copy;
  if (!shunt_whole24_lay_out(a, into->payload, &copy)) return SHUNT_E_UNSUPPORTED;
  shunt_status r =
      SHUNT_CUDA(cudaMemsetAsync(into->irregular, 0, sizeof *into->irregular, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_CUDA(cudaMemsetAsync((char *)into->payload + tile_bytes(a), 0,
                                   (size_t)KEPT_SETS * SHUNT_REPAIR_SET_BYTES, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_csr_to_whole24_cuda(a, &copy, into->irregular, d, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_LAUNCH(shunt_fingerprint_csr_cuda(
        a, into->fingerprint, d, at(c, lay_out(&c->problem->spmm).scratch), c->stream));
  return r;
}

const struct shunt_route shunt_route_tile24 = {.name = "tile24",
                                               .fits = fits,
                                               .workspace = workspace,
                                               .expect = expect,
                                               .run = run,
                                               .keep_bytes = keep_bytes,
                                               .keep = keep};
