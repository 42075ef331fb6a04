/* tile: rows of A taken by sixteens, whose columns, those that any of the sixteen has, stand 32
   by 32 in merged tiles of the `tile` format (kernels/tile/tile_format.h): each row of B is
   gathered once for all sixteen and multiplied on the tensor cores.  SpMM, f16 and bf16.

   For matrices of finite elements, and for pruned layers with 90 % zeros or more.  The profile
   counts the tiles; from their number follow the time of the product and the size of the copy.

   A packed copy as of packed_product.h.  The kernel computes a sum that became NaN again from A's
   own entries, so that nothing has to be probed.  A matrix that has more tiles than there is memory
   for, or whose columns do not ascend, is irregular.  Kept note: tiles that there is room for.  */
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/routes/cost/costs.h"
#include "backend/routes/packed_product.h"
#include "backend/routes/routes.h"
#include "conv/tile/tile_conv.h"
#include "kernels/tile/tile_kernels.h"

/* ---- the format ------------------------------------------------------------------- */

/* Tiles of A, as far as the profile knows; 0: it says nothing. */
static double tiles_of(const struct shunt_profile *f)
{
  if (!f || f->merged_blocks == 0) return 0;
  const double blocks = (double)((f->rows + SHUNT_TILE_ROWS - 1) / SHUNT_TILE_ROWS);
  return (double)f->merged_tiles * blocks / (double)f->merged_blocks;
}

/* All tiles dense: 2:4 ones would save A's bytes, but not B's, which count; at most 8 %, for a
   conversion that takes several times as long (tests/bench/tile.md).  */
static struct shunt_tile_layout layout_with(uint32_t room)
{
  return (struct shunt_tile_layout){.how = SHUNT_TILE_MERGE | SHUNT_TILE_DENSE,
                                    .dense_room = 2 * (int64_t)room};
}

/* Memory for a few more than were counted: of some blocks only, and modulo 32768. */
static uint32_t room_for(const struct shunt_profile *f)
{
  const double most = (double)(INT32_MAX / 2);
  const double tiles = 1.06 * tiles_of(f) + 64;
  return (uint32_t)(tiles < most ? tiles : most);
}

/* B's copy, where its rows are not to be read in place. */
static size_t own_bytes(const struct shunt_problem *p)
{
  return shunt_tile_spmm_workspace(&p->spmm);
}

static shunt_status convert(const struct shunt_call *c, void *copy, uint32_t *irregular)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_tile_layout layout = layout_with(room_for(c->profile));
  struct shunt_tile v;
  if (!shunt_tile_lay_out(a, &layout, copy, &v)) return SHUNT_E_UNSUPPORTED;
  shunt_status r =
      SHUNT_LAUNCH(shunt_csr_to_tile_cuda(a, &layout, &v, &c->context->device, c->stream));
  return r == SHUNT_OK ? shunt_packed_set_irregular(c, &v.census->irregular, irregular) : r;
}

static shunt_status product(const struct shunt_packed_product *x)
{
  const struct shunt_call *c = x->call;
  const struct shunt_tile_layout layout = layout_with(*c->packed->note);
  struct shunt_tile v;
  if (!shunt_tile_lay_out(&x->spmm.a, &layout, x->copy, &v)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_LAUNCH(shunt_tile_spmm_cuda(&x->spmm, &v, &c->context->device, x->own,
                                           own_bytes(c->problem), c->stream));
}

static shunt_status proved(const struct shunt_packed_product *x, const struct shunt_spmm *s,
                           const struct shunt_guard *r)
{
  const struct shunt_call *c = x->call;
  const struct shunt_tile_layout layout = layout_with(*c->packed->note);
  struct shunt_tile v;
  if (!shunt_tile_spmm_proves(s, &c->context->device)) return SHUNT_E_UNSUPPORTED;
  if (!shunt_tile_lay_out(&s->a, &layout, x->copy, &v)) return SHUNT_E_UNSUPPORTED;
  return shunt_tile_spmm_proved_cuda(s, &v, r, &c->context->device, x->own, own_bytes(c->problem),
                                     c->stream);
}

static const struct shunt_packed_format format = {.own_bytes = own_bytes,
                                                  .convert = convert,
                                                  .product = product,
                                                  .lets_in = true,
                                                  .proved = proved};

/* ---- the route -------------------------------------------------------------------- */

/* Narrower products read less than half of each row of B that is sent for. */
enum { LEAST_COLUMNS = 32 };

static size_t workspace(const struct shunt_problem *p, const struct shunt_context *context)
{
  (void)context;
  return shunt_packed_lay_out(&format, p).total;
}

static struct shunt_outcome fits(const struct shunt_problem *p, const struct shunt_context *context)
{
  SHUNT_DECLINE_IF(p->op != SHUNT_SPMM, SHUNT_R_PATTERN);
  const struct shunt_spmm *s = &p->spmm;
  const shunt_type t = s->a.value_type;
  SHUNT_DECLINE_IF(t != SHUNT_F16 && t != SHUNT_BF16, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(s->b.type != t || (s->c.type != t && s->c.type != SHUNT_F32), SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(s->compute != SHUNT_F32, SHUNT_R_TYPES);
  SHUNT_DECLINE_IF(context->device.compute_capability < 80, SHUNT_R_DEVICE);
  SHUNT_DECLINE_IF(s->b.cols < LEAST_COLUMNS, SHUNT_R_SHAPE);
  SHUNT_DECLINE_IF(shunt_packed_is_large(workspace(p, context), context), SHUNT_R_LARGE);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static double expected_us(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_device *d = &c->context->device;
  const struct shunt_machine *m = &c->context->machine;
  const double longest = c->profile ? (double)c->profile->longest_row : 0;
  const double product = shunt_cost_tile_product(s, tiles_of(c->profile), longest, m);
  const enum shunt_proof_place proof = c->frozen                      ? SHUNT_PROOF_NONE
                                       : shunt_tile_spmm_proves(s, d) ? SHUNT_PROOF_INSIDE
                                                                      : SHUNT_PROOF_BEHIND;
  return shunt_packed_expected_us(c, shunt_cost_tile(s, product, proof, m), own_bytes(c->problem));
}

static bool gains(const struct shunt_call *c)
{
  const double made =
      shunt_cost_tile_packing(&c->problem->spmm.a, tiles_of(c->profile),
                              (double)c->profile->longest_row, &c->context->machine);
  return shunt_packed_gains(c, expected_us(c), made);
}

static struct shunt_outcome expect(const struct shunt_call *c, double *us)
{
  *us = expected_us(c);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  const struct shunt_outcome v = shunt_packed_usable(&format, c);
  if (v.reason != SHUNT_FITS) return v;
  SHUNT_DECLINE_IF(c->profile->unsorted_rows, SHUNT_R_PATTERN);
  return SHUNT_OUTCOME(SHUNT_FITS);
}

static shunt_status run(const struct shunt_call *c)
{
  return shunt_packed_run(&format, c);
}

static size_t pack_bytes(const struct shunt_call *c)
{
  const struct shunt_profile *f = c->profile;
  if (fits(c->problem, c->context).reason != SHUNT_FITS || c->no_copies) return 0;
  if (!f || f->merged_tiles == 0 || f->unsorted_rows > 0) return 0;
  if (!c->forced && !gains(c)) return 0;
  const struct shunt_tile_layout layout = layout_with(room_for(f));
  const size_t bytes = shunt_tile_bytes(&c->problem->spmm.a, &layout);
  return bytes ? shunt_packed_copy_bytes(bytes) : 0;
}

static shunt_status pack(const struct shunt_call *c, const struct shunt_packed_view *into)
{
  *into->note = room_for(c->profile);
  return shunt_packed_fill(&format, c, into);
}

const struct shunt_route shunt_route_tile = {.name = "tile",
                                             .fits = fits,
                                             .workspace = workspace,
                                             .expect = expect,
                                             .run = run,
                                             .pack_bytes = pack_bytes,
                                             .pack = pack,
                                             .packs_by_profile = true};
