/* choice.c: the plan of a product: which routes may run it, in which order. */
#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/product.h"
#include "backend/routes/costs.h"

static bool allowed(int route)
{
  return (shunt_options()->routes >> route) & 1;
}

bool shunt_routes_forced(void)
{
  return shunt_options()->routes != ~(uint32_t)0;
}

bool shunt_route_may_take(int i, const struct shunt_problem *p)
{
  const struct shunt_route *r = shunt_route_at(i);
  return allowed(i) && r->takes_blocks == shunt_problem_in_blocks(p) &&
         (!shunt_problem_transposed(p) || r->takes_transposed) &&
         (!p->extended || r->takes_extended);
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

/* Should `route` pack the matrix now?  What costs most to answer is asked last. */
static bool will_pack(const struct shunt_product *x, const struct shunt_route *route,
                      const struct shunt_call *c)
{
  if (!x->lookup.pack_wise || c->packed || c->capturing) return false;
  if (!c->profile && (route->packs_by_profile || is_contested(&x->call))) return false;
  return packs(c, route);
}

struct shunt_call shunt_call_for(const struct shunt_product *x, const struct shunt_route *route)
{
  struct shunt_call c = x->call;
  const struct shunt_lookup *l = &x->lookup;
  if (!route->pack) return c;
  shunt_product_copy(x, route, &c.packed);
  c.no_copies = l->no_copies;
  if (route->study && l->has_study) c.studied = l->studied;
  if (route->study && l->study) c.study = x->study.payload;
  c.will_pack = will_pack(x, route, &c);
  return c;
}

/* ---- the plan --------------------------------------------------------------------------- */

/* The original's time; of batches, which it starts together, a share. */
static double original_us(const struct shunt_product *x)
{
  struct shunt_problem all = x->problem;
  struct shunt_csr *a = all.op == SHUNT_SPMM ? &all.spmm.a : &all.sddmm.c;
  a->nnz *= x->batches;
  return shunt_cost_original(&all, x->call.profile, &x->call.context->device) / x->batches;
}

static void insert(struct shunt_plan *plan, const struct shunt_candidate *x)
{
  int i = plan->count++;
  for (; i > 0 && plan->candidate[i - 1].us > x->us; i--)
    plan->candidate[i] = plan->candidate[i - 1];
  plan->candidate[i] = *x;
}

/* Adds route r, or notes why it does not take the product. */
static void consider(struct shunt_product *x, const struct shunt_route *r, bool compare)
{
  struct shunt_plan *plan = &x->plan;
  double us = 0;
  struct shunt_verdict v = r->fits(&x->problem, x->call.context);
  if (v.reason == SHUNT_FITS) {
    const struct shunt_call c = shunt_call_for(x, r);
    v = r->expect(&c, &us);
    const bool only_slow = v.reason == SHUNT_R_UNPROFILED || v.reason == SHUNT_R_PATTERN;
    if (only_slow && !compare) v = SHUNT_VERDICT(SHUNT_FITS);
  }
  us = shunt_cost_in_batches(us, x->batches);
  if (v.reason == SHUNT_FITS || v.reason == SHUNT_R_ORDERED)
    insert(plan, &(struct shunt_candidate){r, v, us});
  else
    plan->why_none = v;
}

/* Is a profile on its way, or about to be asked for? */
static bool awaits_profile(const struct shunt_product *x)
{
  const bool whole = x->batches == 1 || !x->problem.row_indices;
  return !x->call.profile && (x->lookup.entry || x->lookup.profile_wanted) && whole &&
         !x->call.capturing;
}

/* A route has to be faster than this.  Before the profile has come, estimates of both sides are
   guesses, and the original's sums in 2-byte types may be less exact than ours: the best of the
   routes that need no profile runs, unless the original is expected to be far ahead.  A captured
   call is replayed as it is chosen: there the estimates count.  */
static double most_us(const struct shunt_product *x)
{
  enum { FAR_AHEAD = 2 };
  return x->plan.original_us * (awaits_profile(x) ? FAR_AHEAD : 1);
}

void shunt_product_choose(struct shunt_product *x, int only)
{
  struct shunt_plan *plan = &x->plan;
  /* No original stands behind an extended product. */
  const bool compare = !shunt_routes_forced() && only < 0 && !x->problem.extended;
  plan->count = 0;
  plan->why_none = shunt_problem_transposed(&x->problem) ? SHUNT_VERDICT(SHUNT_R_TRANSPOSED)
                                                         : SHUNT_VERDICT(SHUNT_R_DISABLED);
  for (int i = shunt_route_count() - 1; i >= 0; i--)
    if (shunt_route_may_take(i, &x->problem) && (only < 0 || i == only))
      consider(x, shunt_route_at(i), compare);
  plan->original_us = original_us(x);
  if (plan->count > 0 && compare && plan->candidate[0].us >= most_us(x)) {
    plan->count = 0;
    plan->why_none = SHUNT_VERDICT(SHUNT_R_SLOWER);
  }
}
