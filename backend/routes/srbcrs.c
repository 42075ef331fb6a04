/* srbcrs: aligned groups of 8, 4 or 2 rows of int8 with equal column lists, in the `srbcrs` format
   (kernels/srbcrs/srbcrs_format.h): each row of B is gathered once for all rows of a group and
   multiplied on the tensor cores.  SpMM, int8 into int32 or f32.

   A packed copy as of packed_product.h.  Sums are int32: there is no NaN to look for.  A group
   whose rows do not share their columns has no room and makes the matrix irregular, so a copy is
   made only where the profile says that all groups do.  Kept note: rows of a group.  */
#include "kernels/srbcrs/srbcrs_kernels.h"

#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/packed_product.h"
#include "backend/routes/routes.h"
#include "conv/srbcrs/srbcrs_conv.h"

/* ---- the format ------------------------------------------------------------------- */

/* The tallest groups that are all whole; 0: none are, or nothing is known. */
static int whole_height(const struct shunt_profile *f)
{
  static const int height_of[3] = {8, 4, 2};
  if (!f || f->unsorted_rows > 0) return 0;
  for (int v = 0; v < 3; v++)
    if (f->groups_nonempty[v] > 0 && f->groups_equal[v] == f->groups_nonempty[v])
      return height_of[v];
  return 0;
}

static struct shunt_srbcrs_layout layout_of(int height)
{
  return (struct shunt_srbcrs_layout){.height = height, .share = height, .bits = 8, .spread = 1};
}

/* B's copy, where its rows are not to be read in place. */
static size_t own_bytes(const struct shunt_problem *p)
{
  return shunt_srbcrs_spmm_workspace(&p->spmm);
}

static shunt_status convert(const struct shunt_call *c, void *copy, uint32_t *irregular)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_srbcrs_layout layout = layout_of(whole_height(c->profile));
  struct shunt_srbcrs v;
  if (!shunt_srbcrs_lay_out(a, &layout, copy, &v)) return SHUNT_E_UNSUPPORTED;
  shunt_status r =
      SHUNT_LAUNCH(shunt_csr_to_srbcrs_cuda(a, &layout, &v, &c->context->device, c->stream));
  return r == SHUNT_OK ? shunt_packed_set_irregular(c, &v.counts->irregular, irregular) : r;
}

static shunt_status product(const struct shunt_packed_product *x)
{
  const struct shunt_call *c = x->call;
  const struct shunt_srbcrs_layout layout = layout_of((int)*c->packed->note);
  struct shunt_srbcrs v;
  if (!shunt_srbcrs_lay_out(&x->spmm.a, &layout, x->copy, &v)) return SHUNT_E_UNSUPPORTED;
  const struct shunt_srbcrs_shape shape =
      shunt_choose_srbcrs_spmm_shape(&x->spmm, layout.height, &c->context->machine);
  return SHUNT_LAUNCH(shunt_srbcrs_spmm_shaped_cuda(&x->spmm, &v, &shape, &c->context->device,
                                                    x->own, own_bytes(c->problem), c->stream));
}

static shunt_status proved(const struct shunt_packed_product *x, const struct shunt_spmm *s,
                           const struct shunt_guard *r)
{
  const struct shunt_call *c = x->call;
  const struct shunt_srbcrs_layout layout = layout_of((int)*c->packed->note);
  struct shunt_srbcrs_shape shape;
  struct shunt_srbcrs v;
  if (!shunt_choose_srbcrs_proved(s, layout.height, &c->context->machine, &shape))
    return SHUNT_E_UNSUPPORTED;
  if (!shunt_srbcrs_lay_out(&s->a, &layout, x->copy, &v)) return SHUNT_E_UNSUPPORTED;
  return shunt_srbcrs_spmm_proved_shaped_cuda(s, &v, &shape, r, &c->context->device, x->own,
                                              own_bytes(c->problem), c->stream);
}

static const struct shunt_packed_format format = {.own_bytes = own_bytes,
                                                  .convert = convert,
                                                  .product = product,
                                                  .lets_in = true,
                                                  .proved = proved};

/* ---- the route -------------------------------------------------------------------- */

/* Sums of f32 that `csr`, which takes the calls before there is a copy, might round on the way: the
   bits would change from one call to another.  */
static bool may_round(const struct shunt_call *c)
{
  return c->problem->spmm.compute == SHUNT_F32 && c->profile &&
         c->profile->longest_row > SHUNT_SRBCRS_AS_CSR;
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  return shunt_packed_lay_out(&format, p).total;
}

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  SHUNT_DECLINE_IF(p->op != SHUNT_SPMM, SHUNT_R_PATTERN);
  const struct shunt_spmm *s = &p->spmm;
  SHUNT_DECLINE_IF(s->a.value_type != SHUNT_I8 || s->b.type != SHUNT_I8, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(s->c.type != s->compute, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(s->compute != SHUNT_I32 && s->compute != SHUNT_F32, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(context->device.compute_capability < 80, SHUNT_R_DEVICE);
  /* Sums in int32 that become f32 must not wrap. */
  SHUNT_DECLINE_IF(s->compute == SHUNT_F32 && s->a.cols > SHUNT_SRBCRS_EXACT, SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(shunt_packed_is_large(workspace(p, context), context), SHUNT_R_LARGE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static double expected_us(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_machine *m = &c->context->machine;
  const int whole = whole_height(c->profile), height = whole ? whole : 1;
  const double longest = c->profile ? (double)c->profile->longest_row : 0;
  struct shunt_srbcrs_shape shape;
  const enum shunt_proof_place proof = c->frozen ? SHUNT_PROOF_NONE
                                       : shunt_choose_srbcrs_proved(s, height, m, &shape)
                                           ? SHUNT_PROOF_INSIDE
                                           : SHUNT_PROOF_BEHIND;
  return shunt_packed_expected_us(c, shunt_cost_srbcrs(s, height, longest, proof, m),
                                  own_bytes(c->problem));
}

static bool gains(const struct shunt_call *c)
{
  const double made =
      shunt_cost_srbcrs_packing(&c->problem->spmm.a, whole_height(c->profile),
                                (double)c->profile->longest_row, &c->context->machine);
  return shunt_packed_gains(c, expected_us(c), made);
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  *us = expected_us(c);
  /* int32 that are added to have no room in the f32 matrix W. */
  SHUNT_DECLINE_IF(s->c.type == SHUNT_I32 && !shunt_packed_overwrites(s), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  SHUNT_DECLINE_IF(may_round(c), SHUNT_R_LARGE);
  SHUNT_DECLINE_IF(whole_height(c->profile) == 0, SHUNT_R_PATTERN);
  return shunt_packed_usable(&format, c);
}

static shunt_status run(const struct shunt_call *c)
{
  return shunt_packed_run(&format, c);
}

static size_t pack_bytes(const struct shunt_call *c)
{
  const int height = whole_height(c->profile);
  if (fits(c->problem, c->context).reason != SHUNT_FITS || c->no_copies || height == 0) return 0;
  if (may_round(c) || (!c->forced && !gains(c))) return 0;
  const struct shunt_srbcrs_layout layout = layout_of(height);
  const size_t bytes = shunt_srbcrs_bytes(&c->problem->spmm.a, &layout);
  return bytes ? shunt_packed_copy_bytes(bytes) : 0;
}

static shunt_status pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  *into->note = (uint32_t)whole_height(c->profile);
  return shunt_packed_fill(&format, c, into);
}

const struct shunt_route shunt_route_srbcrs = {.name = "srbcrs",
                                               .fits = fits,
                                               .workspace = workspace,
                                               .expect = expect,
                                               .run = run,
                                               .pack_bytes = pack_bytes,
                                               .pack = pack,
                                               .packs_by_profile = true};
