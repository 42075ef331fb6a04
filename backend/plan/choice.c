/* choice.c: the plan of a product: which routes may run it, in which order. */
#include <math.h>

#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/product.h"
#include "backend/routes/cost/costs.h"
#include "kernels/csr/csr_kernels.h"

static bool allowed(int route)
{
  return (shunt_options()->routes >> route) & 1;
}

bool shunt_routes_forced(void)
{
  return shunt_options()->routes != ~(uint32_t)0;
}

bool shunt_product_is_brief(const struct shunt_problem *p)
{
  return p->op == SHUNT_SDDMM && shunt_csr_sddmm_direct(&p->sddmm) && !shunt_routes_forced();
}

bool shunt_route_may_take(int i, const struct shunt_problem *p)
{
  const struct shunt_route *r = shunt_route_at(i);
  if (p->op == SHUNT_SDDMM && !r->takes_sddmm) return false;
  return allowed(i) && r->takes_blocks == shunt_problem_in_blocks(p) &&
         (!shunt_problem_transposed(p) || r->takes_transposed) &&
         (!p->extended || r->takes_extended) && (!shunt_problem_is_long(p) || r->takes_long) &&
         (r->takes_brief || !shunt_product_is_brief(p));
}

/* ---- what a route is told of the call ------------------------------------------------- */

static bool packs(const struct shunt_call *c, const struct shunt_route *route)
{
  return route->pack && route->pack_bytes(c) > 0;
}

/* Where several routes would pack the matrix, none does before the profile has told which is the
   best.  */
static bool is_contested(const struct shunt_call *c)
{
  int n = 0;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    n += shunt_route_may_take(i, c->problem) &&
         r->fits(c->problem, c->context).reason == SHUNT_FITS && packs(c, r);
  }
  return n > 1;
}

struct shunt_cache_packed *shunt_product_copy(const struct shunt_product *x,
                                              const struct shunt_route *route,
                                              const struct shunt_packed_view **view)
{
  *view = &x->packed.view;
  if (x->packed.copy && x->packed.by == route) return x->packed.copy;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++) {
    *view = &x->view[i];
    if (x->lookup.packed[i].copy && x->lookup.packed[i].by == route)
      return x->lookup.packed[i].copy;
  }
  *view = NULL;
  return NULL;
}

/* Is a profile on its way, or about to be asked for? */
static bool awaits_profile(const struct shunt_product *x)
{
  const bool whole = x->batches == 1 || !x->problem.row_indices;
  return !x->call.profile && (x->lookup.entry || x->lookup.profile_wanted) && whole &&
         !x->call.capturing;
}

/* Should `route` pack the matrix now?  What costs most to answer is asked last. */
static bool will_pack(const struct shunt_product *x, const struct shunt_route *route,
                      const struct shunt_call *c)
{
  if (!x->lookup.pack_wise || c->packed || c->capturing) return false;
  if (!c->profile && (route->packs_by_profile || is_contested(&x->call))) return false;
  if (x->compare && awaits_profile(x)) return false; /* it may choose another way */
  return packs(c, route);
}

struct shunt_call shunt_call_for(const struct shunt_product *x, const struct shunt_route *route)
{
  struct shunt_call c = x->call;
  const struct shunt_lookup *l = &x->lookup;
  if (!route->pack || x->problem.op == SHUNT_SDDMM) return c; /* which keeps no copies */
  shunt_product_copy(x, route, &c.packed);
  c.no_copies = l->no_copies;
  if (route->study && l->has_study) c.studied = l->studied;
  if (route->study && l->study) c.study = x->study.payload;
  c.will_pack = will_pack(x, route, &c);
  return c;
}

/* ---- the plan --------------------------------------------------------------------------- */

/* The original's time; of batches, which it starts together, a share.  Of SDDMM, which may be
   short, the host's counts, unless the call is replayed without it.  */
static double original_us(const struct shunt_product *x)
{
  struct shunt_problem all = x->problem;
  struct shunt_csr *a = all.op == SHUNT_SPMM ? &all.spmm.a : &all.sddmm.c;
  a->nnz *= x->batches;
  const struct shunt_machine *m = &x->call.context->machine;
  double us = shunt_cost_original(&all, x->call.profile, m);
  if (all.op == SHUNT_SDDMM && !x->call.capturing) us = fmax(us, shunt_cost_original_host(&all, m));
  return us / x->batches;
}

static void insert(struct shunt_plan *plan, const struct shunt_candidate *x)
{
  int i = plan->count++;
  for (; i > 0 && plan->candidate[i - 1].us > x->us; i--)
    plan->candidate[i] = plan->candidate[i - 1];
  plan->candidate[i] = *x;
}

/* cuBLASLt's products of the problem's type. */
static enum shunt_lazy_part library_of(const struct shunt_problem *p)
{
  const bool spmm = p->op == SHUNT_SPMM;
  const struct shunt_scalar *beta = spmm ? &p->spmm.beta : &p->sddmm.beta;
  const shunt_type out = spmm ? p->spmm.c.type : p->sddmm.c.value_type;
  const bool added = beta->device || beta->host != 0; /* the product goes to a f32 matrix first */
  return shunt_lazy_gemm(spmm ? p->spmm.b.type : p->sddmm.b.type, out == SHUNT_F32 || added);
}
uint32_t shunt_library_bit(const struct shunt_problem *p)
{
  return shunt_lazy_bit(library_of(p));
}

/* Adds the call c by route r, or notes why that does not take the product. */
static void ask(struct shunt_product *x, const struct shunt_route *r, const struct shunt_call *c,
                bool compare)
{
  struct shunt_plan *plan = &x->plan;
  double us = 0;
  const uint32_t needs = (c->will_pack ? shunt_lazy_bit(SHUNT_LAZY_COPIES) : 0) |
                         (c->library ? shunt_library_bit(&x->problem) : 0);
  struct shunt_outcome v = r->expect(c, &us);
  const bool only_slow = v.reason == SHUNT_R_UNPROFILED || v.reason == SHUNT_R_PATTERN;
  if (only_slow && !compare) v = SHUNT_OUTCOME(SHUNT_FITS);
  if (v.reason != SHUNT_FITS && v.reason != SHUNT_R_ORDERED) {
    plan->why_none = v;
    return;
  }
  insert(plan, &(struct shunt_candidate){
                   r, v, shunt_cost_in_batches(us, x->batches, &c->context->machine), c->library,
                   c->will_pack, shunt_lazy_pending(&c->context->lazy, needs)});
}

/* Adds route r as it may take the product: with what is initialized, and where that is less than
   it could use, with what is not yet.  */
static void consider(struct shunt_product *x, const struct shunt_route *r, bool compare)
{
  struct shunt_context *context = x->call.context;
  const struct shunt_outcome v = r->fits(&x->problem, context);
  if (v.reason != SHUNT_FITS) {
    x->plan.why_none = v;
    return;
  }
  struct shunt_call c = shunt_call_for(x, r);
  const bool pending = shunt_lazy_pending(&context->lazy, shunt_library_bit(&x->problem));
  c.library = r->wants_gemm && !pending && context->gemm;
  ask(x, r, &c, compare);
  if (c.will_pack && shunt_lazy_pending(&context->lazy, shunt_lazy_bit(SHUNT_LAZY_COPIES))) {
    struct shunt_call in_place = c;
    in_place.will_pack = false;
    ask(x, r, &in_place, compare);
  }
  if (r->wants_gemm && pending) {
    c.library = true;
    ask(x, r, &c, compare);
  }
}

/* Does cuSPARSE document the same bits in each run for it?  (cusparseSpMM, its algorithms and
   notes; cusparseSDDMM.)  */
static bool original_is_deterministic(const struct shunt_problem *p)
{
  enum { COO_ALG2 = 2, CSR_ALG3 = 12, BSR_ALG1 = 14 };
  if (p->op == SHUNT_SDDMM) return true;
  return !shunt_problem_transposed(p) &&
         (p->algorithm == COO_ALG2 || p->algorithm == CSR_ALG3 || p->algorithm == BSR_ALG1);
}

/* The same bits were asked for, and the original would not give them. */
static bool must_not_vary(const struct shunt_problem *p)
{
  return p->deterministic && !original_is_deterministic(p);
}

/* A route has to be faster than this.  Before the profile has come, estimates of both sides are
   guesses, and the original's sums in 2-byte types may be less exact than ours: the best of the
   routes that need no profile runs, unless the original is expected to be far ahead.  A captured
   call is replayed as it is chosen: there the estimates count.  The time of an original that may
   give other bits in the next run is of no account to those who asked for the same.  */
static double most_us(const struct shunt_product *x)
{
  enum { FAR_AHEAD = 2 };
  if (must_not_vary(&x->problem)) return INFINITY;
  return x->plan.original_us *
         (awaits_profile(x) ? FAR_AHEAD : shunt_cost_original_margin(&x->problem));
}

/* ---- what is not initialized yet -------------------------------------------------------- */

/* What the product takes if no more than `set` is initialized. */
static double us_with(const struct shunt_product *x, uint32_t set)
{
  for (int i = 0; i < x->plan.count; i++) {
    const struct shunt_candidate *k = &x->plan.candidate[i];
    if (k->pending & ~set) continue;
    return k->us < most_us(x) ? k->us : x->plan.original_us;
  }
  return x->plan.original_us;
}

/* What is initialized for this product: of a deterministic problem what its best way needs, as its
   way must not depend on what other problems did; of others what pays.  */
static uint32_t to_initialize(struct shunt_product *x)
{
  const struct shunt_plan *plan = &x->plan;
  const uint32_t copies = shunt_lazy_bit(SHUNT_LAZY_COPIES),
                 library = shunt_library_bit(&x->problem);
  struct shunt_lazy_init *o = &x->call.context->lazy;
  const bool captured = x->call.capturing;
  if (x->problem.deterministic)
    return plan->candidate[0].us < most_us(x) ? plan->candidate[0].pending : 0;
  const double now = us_with(x, 0), packed = us_with(x, copies), all = us_with(x, ~(uint32_t)0);
  uint32_t set = 0;
  if (shunt_lazy_missed(o, SHUNT_LAZY_COPIES, now - packed, captured)) set |= copies;
  if (shunt_lazy_missed(o, library_of(&x->problem), packed - all, captured))
    set |= copies | library;
  return set;
}

/* Initializes what is to be, and drops the ways for which that is not enough. */
static void initialize(struct shunt_product *x, bool compare)
{
  struct shunt_plan *plan = &x->plan;
  struct shunt_context *context = x->call.context;
  uint32_t pending = 0;
  int kept = 0;
  for (int i = 0; i < plan->count; i++) pending |= plan->candidate[i].pending;
  if (!pending) return;
  shunt_context_initialize(context, compare ? to_initialize(x) : pending);
  for (int i = 0; i < plan->count; i++) {
    const struct shunt_candidate *k = &plan->candidate[i];
    if (shunt_lazy_pending(&context->lazy, k->pending) || (k->library && !context->gemm)) continue;
    plan->candidate[kept++] = *k;
  }
  plan->count = kept;
}

static void consider_all(struct shunt_product *x, int only, bool compare)
{
  for (int i = shunt_route_count() - 1; i >= 0; i--)
    if (shunt_route_may_take(i, &x->problem) && (only < 0 || i == only))
      consider(x, shunt_route_at(i), compare);
}

/* What other routes are measured by: estimated once, as of layers that takes the host a while. */
static double csr_us(const struct shunt_product *x)
{
  const struct shunt_problem *p = &x->problem;
  if (p->op != SHUNT_SPMM || shunt_problem_transposed(p) || shunt_problem_in_blocks(p)) return 0;
  return shunt_cost_csr(&p->spmm, x->call.profile, &x->call.context->machine);
}

void shunt_product_choose(struct shunt_product *x, int only)
{
  struct shunt_plan *plan = &x->plan;
  const bool compare = x->compare;
  x->call.csr_us = csr_us(x);
  plan->count = 0;
  plan->why_none = shunt_problem_transposed(&x->problem) ? SHUNT_OUTCOME(SHUNT_R_TRANSPOSED)
                                                         : SHUNT_OUTCOME(SHUNT_R_DISABLED);
  consider_all(x, only, compare);
  if (compare && plan->count == 0 && must_not_vary(&x->problem)) consider_all(x, only, false);
  plan->original_us = original_us(x);
  initialize(x, compare);
  if (plan->count > 0 && compare && plan->candidate[0].us >= most_us(x)) {
    plan->count = 0;
    plan->why_none = SHUNT_OUTCOME(SHUNT_R_SLOWER);
  }
}
