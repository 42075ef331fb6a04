/* vector: aligned groups of 8, 4 or 2 rows with equal column lists, multiplied as
   column vectors on the tensor cores (f32 and f64: by FMA).

   Direct: straight from CSR (kernels/spmm_csr_vector.cu, kernels/sddmm_csr_vector.cu).  Groups are
   compared as they are read, and one that differs goes row by row in the same launch; so the
   profile is only what makes it worth trying.

   Packed, SpMM of f16 and bf16: a kept copy as of kept_copy.h in the `vector` format
   (kernels/vector_format.h), made where product and proof are expected to take less than the
   direct way, and used where they are.  The kernels compute a sum that became NaN again from A's
   own entries, so that no witness is needed; a matrix that does not fit its memory is irregular.

   How the copy is packed (struct shunt_vector_plan) follows from the profile, which may be
   another by the time of a later call: so it is noted beside the copy.  */
#include <math.h>

#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/routes/kept_copy.h"
#include "backend/routes/routes.h"
#include "conv/vector.h"
#include "kernels/spmm_vector.h"

/* ---- what the profile says ---------------------------------------------------- */

/* Groups that differ are computed by one warp each, row by row: a few are many. */
#define LEAST_EQUAL 0.95

static const int height_of[3] = {8, 4, 2};

/* Rows that one gathered row of B serves, on average over the groups; 1 where
   groups differ. */
static double rows_per_gather(const struct shunt_profile *f)
{
  double best = 1;
  for (int v = 0; v < 3; v++) {
    if (f->groups_nonempty[v] == 0) continue;
    double share = (double)f->groups_equal[v] / (double)f->groups_nonempty[v];
    double gathers = share / height_of[v] + (1 - share);
    if (share >= LEAST_EQUAL && 1 / gathers > best) best = 1 / gathers;
  }
  return best;
}

/* Less than that is `rows`' case: it has most of B in L1 where pairs of rows are alike.  SDDMM
   finds pairs last, after eights and fours: 600 us where `rows` takes 49 (tests/bench/NOTES.md). */
#define LEAST_REUSE 1.6
#define LEAST_REUSE_SDDMM 3.0

/* ---- the packed copy ------------------------------------------------------------ */

/* The tallest vectors that are all whole: a group of others would not have room.  */
static struct shunt_vector_plan plan_for(const struct shunt_call *c)
{
  const struct shunt_profile *f = c->profile;
  struct shunt_vector_plan plan = {.height = 1};
  for (int v = 2; f && v >= 0; v--)
    if (f->groups_nonempty[v] && f->groups_equal[v] == f->groups_nonempty[v])
      plan.height = height_of[v];
  plan.order = shunt_spmm_vector_order(&c->problem->spmm, plan.height, &c->engine->device);
  return plan;
}

static uint32_t noted(const struct shunt_vector_plan *plan)
{
  return (uint32_t)plan->height << 8 | (uint32_t)plan->order;
}

static struct shunt_vector_plan plan_noted(uint32_t note)
{
  return (struct shunt_vector_plan){.order = (enum shunt_vector_order)(note & 0xff),
                                    .height = (int)(note >> 8)};
}

/* B's copy, where its rows are not to be read in place. */
static size_t own_bytes(const struct shunt_problem *p)
{
  return shunt_spmm_vector_workspace(&p->spmm);
}

static shunt_status convert(const struct shunt_call *c, void *copy, uint32_t *irregular)
{
  const struct shunt_csr *a = &c->problem->spmm.a;
  const struct shunt_vector_plan plan = plan_for(c);
  struct shunt_vector v;
  if (!shunt_vector_lay_out(a, &plan, copy, &v)) return SHUNT_E_UNSUPPORTED;
  shunt_status r =
      SHUNT_LAUNCH(shunt_csr_to_vector_cuda(a, &plan, &v, &c->engine->device, c->stream));
  if (r == SHUNT_OK)
    r = SHUNT_CUDA(cudaMemcpyAsync(irregular, &v.counts->irregular, sizeof *irregular,
                                   cudaMemcpyDeviceToDevice, c->stream));
  return r;
}

static shunt_status product(const struct shunt_copy_product *x)
{
  const struct shunt_call *c = x->call;
  const struct shunt_vector_plan plan = plan_noted(*c->kept->note);
  struct shunt_vector v;
  if (!shunt_vector_lay_out(&x->spmm.a, &plan, x->copy, &v)) return SHUNT_E_UNSUPPORTED;
  return SHUNT_LAUNCH(shunt_spmm_vector_cuda(&x->spmm, &v, &c->engine->device, x->own,
                                             own_bytes(c->problem), c->stream));
}

static const struct shunt_copy_format packed = {
    .own_bytes = own_bytes, .convert = convert, .product = product, .lets_in = true};

/* May a packed copy of such a matrix be kept at all?  Not of a scattered one, whose large products
   would need a large buffer.  */
static bool can_pack(const struct shunt_call *c)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const shunt_type t = s->a.value_type;
  const double cells = (double)s->a.rows * (double)s->a.cols;
  return c->problem->op == SHUNT_SPMM && (t == SHUNT_F16 || t == SHUNT_BF16) && s->b.type == t &&
         (s->c.type == t || s->c.type == SHUNT_F32) && s->compute == SHUNT_F32 &&
         (double)s->a.nnz >= cells / 64 && cells <= (double)((int64_t)1 << 30) &&
         (double)shunt_copy_lay_out(&packed, c->problem).total <=
             (double)c->engine->memory_bytes / 16;
}

/* The direct way; reuse: as rows_per_gather has it. */
static double direct_us(const struct shunt_call *c, double reuse)
{
  const double longest = c->profile ? (double)c->profile->longest_row : 0;
  return shunt_cost_vector(&c->problem->spmm, reuse, longest, &c->engine->device);
}

/* Vectors of 8 rows, where the lists of a group's parts have nothing to do with each other. */
static double vectors_of(const struct shunt_csr *a, double reuse)
{
  const double density = (double)a->nnz / ((double)a->rows * (double)a->cols);
  return (double)a->rows / 8 * (double)a->cols * (1 - pow(1 - density, 8 / reuse));
}

/* Product from a packed copy and its proof. */
static double packed_us(const struct shunt_call *c, double reuse)
{
  const struct shunt_spmm *s = &c->problem->spmm;
  const struct shunt_device *d = &c->engine->device;
  const double longest = c->profile ? (double)c->profile->longest_row : 0;
  const double product = shunt_spmm_vector_us(s, vectors_of(&s->a, reuse), d);
  double us = shunt_cost_packed(s, product, reuse, longest, d);
  if (!shunt_copy_overwrites(s))
    us += shunt_cost_copy((double)s->c.rows * (double)s->c.cols * 16, d);
  return us;
}

/* What the conversion takes has to be gained within so many calls. */
enum { GAINED_WITHIN = 200 };

/* Microseconds: a warp takes a group of 8 rows in steps of 64 columns, 2.5 us each. */
static double pack_us(const struct shunt_csr *a, const struct shunt_device *d)
{
  const double warps = d->multiprocessors > 0 ? 16.0 * d->multiprocessors : 2112;
  return 10 + 2.5 * ceil((double)a->rows / 8 / warps) * ceil((double)a->cols / 64);
}

/* Is a packed copy faster than the direct way by at least so many microseconds? */
static bool packed_gains(const struct shunt_call *c, double least)
{
  if (!c->profile || c->profile->unsorted_rows > 0) return false;
  if (c->forced) return true;
  const double reuse = rows_per_gather(c->profile);
  return reuse >= LEAST_REUSE && packed_us(c, reuse) + least < direct_us(c, reuse);
}

/* Does this call have a packed copy, or shall it, that it is to use? */
static bool takes_packed(const struct shunt_call *c)
{
  return (c->kept || c->will_keep) && !c->no_copies && can_pack(c) &&
         c->workspace_bytes >= shunt_copy_lay_out(&packed, c->problem).total && packed_gains(c, 0);
}

static size_t keep_bytes(const struct shunt_call *c)
{
  if (!can_pack(c) || c->no_copies) return 0;
  const struct shunt_csr *a = &c->problem->spmm.a;
  if (c->profile && !packed_gains(c, pack_us(a, &c->engine->device) / GAINED_WITHIN)) return 0;
  const struct shunt_vector_plan plan = plan_for(c);
  const size_t bytes = shunt_vector_bytes(a, &plan);
  return bytes ? shunt_copy_keep_bytes(bytes) : 0;
}

static shunt_status keep(const struct shunt_call *c, const struct shunt_kept_view *into)
{
  const struct shunt_vector_plan plan = plan_for(c);
  *into->note = noted(&plan);
  return shunt_copy_keep(&packed, c, into);
}

/* ---- the route ------------------------------------------------------------------ */

static shunt_status run_direct(const struct shunt_call *c)
{
  const struct shunt_device *d = &c->engine->device;
  if (c->problem->op == SHUNT_SPMM)
    return SHUNT_LAUNCH(shunt_spmm_csr_vector_cuda(&c->problem->spmm, d, c->workspace,
                                                   c->workspace_bytes, c->stream));
  return SHUNT_LAUNCH(shunt_sddmm_csr_vector_cuda(&c->problem->sddmm, d, c->workspace,
                                                  c->workspace_bytes, c->stream));
}

static shunt_status run(const struct shunt_call *c)
{
  if (c->kept && takes_packed(c)) {
    /* Not for this B or C: nothing was enqueued. */
    const shunt_status r = shunt_copy_run(&packed, c);
    if (r != SHUNT_E_UNSUPPORTED && r != SHUNT_E_WORKSPACE) return r;
  }
  return run_direct(c);
}

static struct shunt_verdict fits(const struct shunt_problem *p, const struct shunt_engine *e)
{
  (void)e;
  shunt_type t = p->op == SHUNT_SPMM ? p->spmm.b.type : p->sddmm.b.type;
  const bool wide = t == SHUNT_F64 && p->op == SHUNT_SPMM;
  SHUNT_DECLINE_IF(t != SHUNT_F16 && t != SHUNT_BF16 && t != SHUNT_F32 && !wide, SHUNT_R_TYPES);
  return SHUNT_VERDICT(SHUNT_FITS);
}

static size_t direct_workspace(const struct shunt_problem *p, const struct shunt_engine *e)
{
  return p->op == SHUNT_SPMM ? shunt_spmm_csr_vector_workspace(&p->spmm, &e->device)
                             : shunt_sddmm_csr_vector_workspace(&p->sddmm, &e->device);
}

static size_t workspace(const struct shunt_problem *p, const struct shunt_engine *e)
{
  const struct shunt_call c = {.problem = p, .engine = (struct shunt_engine *)e};
  const size_t direct = direct_workspace(p, e);
  const size_t copy = can_pack(&c) ? shunt_copy_lay_out(&packed, p).total : 0;
  return copy > direct ? copy : direct;
}

static double expected_sddmm(const struct shunt_sddmm *p, double reuse,
                             const struct shunt_device *d)
{
  const double row = (double)p->a.cols * (double)shunt_type_size(p->b.type);
  return 5 + shunt_cost_gather((double)p->c.nnz / reuse * row, row, row * (double)p->b.cols, d) +
         shunt_cost_csr_bytes(&p->c) / 16e6; /* beside the gather, for the most part */
}

static double expected_spmm(const struct shunt_call *c, double reuse)
{
  return takes_packed(c) ? packed_us(c, reuse) : direct_us(c, reuse);
}

static struct shunt_verdict expect(const struct shunt_call *c, double *us)
{
  const struct shunt_problem *p = c->problem;
  const struct shunt_device *d = &c->engine->device;
  const double reuse = c->profile ? rows_per_gather(c->profile) : 8;
  *us = p->op == SHUNT_SPMM ? expected_spmm(c, reuse) : expected_sddmm(&p->sddmm, reuse, d);
  SHUNT_DECLINE_IF(c->workspace_bytes < direct_workspace(p, c->engine), SHUNT_R_WORKSPACE);
  SHUNT_DECLINE_IF(!c->profile, SHUNT_R_UNPROFILED);
  SHUNT_DECLINE_IF(reuse < (p->op == SHUNT_SPMM ? LEAST_REUSE : LEAST_REUSE_SDDMM),
                   SHUNT_R_PATTERN);
  return SHUNT_VERDICT(SHUNT_FITS);
}

const struct shunt_route shunt_route_vector = {.name = "vector",
                                               .fits = fits,
                                               .workspace = workspace,
                                               .expect = expect,
                                               .run = run,
                                               .keep_bytes = keep_bytes,
                                               .keep = keep,
                                               .keeps_by_profile = true};
