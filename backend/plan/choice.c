/* choice.c: which routes may run a product, in which order. */
#include "backend/plan/context.h"
#include "backend/plan/cost.h"
#include "backend/plan/options.h"
#include "backend/plan/product.h"

/* Each of the batches that are run in turn keeps the host busy for so long. */
enum { BATCH_HOST_US = 8 };

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
         (!shunt_problem_transposed(p) || r->takes_transposed);
}

static void insert(struct shunt_choice *c, const struct shunt_candidate *x)
{
  int i = c->count++;
  for (; i > 0 && c->candidate[i - 1].us > x->us; i--) c->candidate[i] = c->candidate[i - 1];
  c->candidate[i] = *x;
}

static bool keeps(const struct shunt_call *c, const struct shunt_route *route)
{
  return route->keep && route->keep_bytes(c) > 0;
}

/* Where several routes would convert the matrix, none does before the profile has told which is the
   best.  */
static bool is_contested(const struct shunt_call *c)
{
  int n = 0;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    n += shunt_route_may_take(i, c->problem) &&
         r->fits(c->problem, c->context).reason == SHUNT_FITS && keeps(c, r);
  }
  return n > 1;
}

struct shunt_cache_packed *shunt_product_plan(const struct shunt_product *x,
                                              const struct shunt_route *route,
                                              const struct shunt_packed_view **view)
{
  *view = &x->made.view;
  if (x->made.kept && x->made.by == route) return x->made.kept;
  for (int i = 0; i < SHUNT_MOST_PACKED; i++) {
    *view = &x->view[i];
    if (x->sight.plan[i].kept && x->sight.plan[i].by == route) return x->sight.plan[i].kept;
  }
  *view = NULL;
  return NULL;
}

/* Should `route` convert the matrix now?  What costs most to answer is asked last. */
static bool will_keep(const struct shunt_product *x, const struct shunt_route *route,
                      const struct shunt_call *c)
{
  if (!x->sight.keep_wise || c->kept || c->capturing) return false;
  if (!c->profile && (route->keeps_by_profile || is_contested(&x->call))) return false;
  return keeps(c, route);
}

struct shunt_call shunt_call_as_seen_by(const struct shunt_product *x,
                                        const struct shunt_route *route)
{
  struct shunt_call c = x->call;
  const struct shunt_lookup *sight = &x->sight;
  shunt_product_plan(x, route, &c.kept);
  c.no_copies = sight->no_copies;
  if (route->study && sight->has_study) c.studied = sight->studied;
  if (route->study && sight->study) c.study = x->study.payload;
  c.will_keep = will_keep(x, route, &c);
  return c;
}

/* The original's time; of batches, which it starts together, a share. */
static double original_us(const struct shunt_product *x)
{
  struct shunt_problem all = x->problem;
  struct shunt_csr *a = all.op == SHUNT_SPMM ? &all.spmm.a : &all.sddmm.c;
  a->nnz *= x->batches;
  return shunt_cost_original(&all, x->call.profile, &x->call.context->device) / x->batches;
}

void shunt_product_choose(struct shunt_product *x, int only)
{
  const struct shunt_problem *p = &x->problem;
  struct shunt_choice *out = &x->choice;
  bool compare = !shunt_routes_forced() && only < 0;
  out->count = 0;
  out->why_none = shunt_problem_transposed(p) ? SHUNT_VERDICT(SHUNT_R_TRANSPOSED)
                                              : SHUNT_VERDICT(SHUNT_R_DISABLED);
  for (int i = shunt_route_count() - 1; i >= 0; i--) {
    const struct shunt_route *r = shunt_route_at(i);
    struct shunt_call c = shunt_call_as_seen_by(x, r);
    double us = 0;
    if (!shunt_route_may_take(i, p) || (only >= 0 && i != only)) continue;
    struct shunt_verdict v = r->fits(p, c.context);
    bool fits = v.reason == SHUNT_FITS;
    if (fits) v = r->expect(&c, &us);
    if (x->batches > 1 && us < BATCH_HOST_US) us = BATCH_HOST_US;
    bool only_slow = v.reason == SHUNT_R_UNPROFILED || v.reason == SHUNT_R_PATTERN;
    if (fits && only_slow && !compare) v = SHUNT_VERDICT(SHUNT_FITS);
    if (v.reason == SHUNT_FITS || v.reason == SHUNT_R_ORDERED)
      insert(out, &(struct shunt_candidate){r, v, us});
    else
      out->why_none = v;
  }
  x->original_us = original_us(x);
  if (out->count > 0 && out->candidate[0].us >= x->original_us && compare) {
    out->count = 0;
    out->why_none = SHUNT_VERDICT(SHUNT_R_SLOWER);
  }
}
