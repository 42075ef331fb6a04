#include "backend/plan/product.h"

#include <math.h>

#include "backend/plan/batches.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "conv/coo/coo_conv.h"

enum { RELIEVE_EVERY = 1024 };

/* ---- running ------------------------------------------------------------------------- */

static void release_made(struct shunt_product *x, bool discard)
{
  if (x->made.kept) shunt_cache_packed_release(x->call.context->cache, x->made.kept, discard);
  x->made.kept = NULL;
}

/* Converts the matrix for `route`; the call goes on without it if that fails. */
static void keep(const struct shunt_call *call, struct shunt_product *x,
                 const struct shunt_route *route)
{
  release_made(x, false); /* by a route that failed to run */
  x->made.by = route;
  if (shunt_cache_packed_make(call->context->cache, &x->sight, route, call->context->pool,
                              route->keep_bytes(call), call->stream, &x->made.kept) != SHUNT_OK)
    return;
  x->made.view = shunt_cache_packed_view(x->made.kept);
  *x->made.view.pattern_epoch = x->problem.pattern_epoch;
  x->made.view.pattern_stands = false; /* this call proves it */
  shunt_status s = route->keep(call, &x->made.view);
  shunt_status built =
      shunt_cache_packed_built(x->made.kept, call->stream); /* marks the memory's use in any case */
  if (s != SHUNT_OK || built != SHUNT_OK) release_made(x, true);
}

static shunt_status run_candidate(struct shunt_product *x, const struct shunt_route *route)
{
  struct shunt_call c = shunt_call_as_seen_by(x, route);
  if (c.will_keep) {
    keep(&c, x, route);
    if (c.study) shunt_cache_packed_used(x->sight.study, c.stream, false);
  }
  struct shunt_cache_packed *plan = shunt_product_plan(x, route, &c.kept);
  shunt_status s = route->run(&c);
  if (plan) shunt_cache_packed_used(plan, c.stream, c.capturing);
  return s;
}

/* cuSPARSE asks for COO sorted by row, and so do we; rows out of order would be the
   caller's breach, hence nobody reads the flag.  */
static shunt_status make_offsets(const struct shunt_call *call)
{
  const struct shunt_csr *a = &call->problem->spmm.a;
  if (!call->problem->row_indices) return SHUNT_OK;
  return SHUNT_LAUNCH(shunt_coo_to_csr_cuda(a->rows, a->nnz, call->problem->row_indices,
                                            a->index_type, a->base, (void *)a->row_offsets, NULL,
                                            &call->context->device, call->stream));
}

struct shunt_answer shunt_declined(struct shunt_verdict why)
{
  return (struct shunt_answer){.why = why, .route = "original", .how = why};
}

struct shunt_answer shunt_product_run(struct shunt_product *x)
{
  struct shunt_answer answer = shunt_declined(x->choice.why_none);
  if (x->choice.count > 0 && make_offsets(&x->call) != SHUNT_OK)
    return shunt_declined(SHUNT_VERDICT(SHUNT_R_FAILED));
  for (int i = 0; i < x->choice.count; i++) {
    const struct shunt_candidate *best = &x->choice.candidate[i];
    shunt_status s = run_candidate(x, best->route);
    if (s == SHUNT_OK) {
      double saved = x->original_us - best->us;
      return (struct shunt_answer){.why = SHUNT_VERDICT(SHUNT_FITS),
                                   .route = best->route->name,
                                   .saved_us = saved > 0 ? saved : 0,
                                   .how = best->how};
    }
    answer = shunt_declined(SHUNT_VERDICT(SHUNT_R_FAILED));
    answer.written = s == SHUNT_E_WRITTEN;
    if (answer.written) break;
  }
  return answer;
}

struct shunt_key shunt_key_of(const struct shunt_problem *p)
{
  const struct shunt_csr *a = shunt_problem_sparse(p);
  /* SDDMM writes the values: they say nothing about which matrix it is. */
  return (struct shunt_key){.row_offsets = p->row_indices ? NULL : a->row_offsets,
                            .columns = a->columns,
                            .values = p->op == SHUNT_SPMM ? a->values : NULL,
                            .row_indices = p->row_indices,
                            .rows = a->rows,
                            .cols = a->cols,
                            .nnz = a->nnz,
                            .index_type = a->index_type,
                            .value_type = a->value_type,
                            .base = a->base};
}

/* A graph may be replayed after the epoch that it was captured in. */
static struct shunt_packed_view view_of(const struct shunt_product *x,
                                        struct shunt_cache_packed *plan, bool capturing)
{
  const uint64_t epoch = x->problem.pattern_epoch;
  struct shunt_packed_view v = shunt_cache_packed_view(plan);
  v.pattern_stands = epoch != 0 && epoch == *v.pattern_epoch && !capturing;
  return v;
}

void shunt_product_look(struct shunt_product *x, const struct shunt_problem *p, int i,
                        const struct shunt_call *call, int only)
{
  x->problem = shunt_batch_at(p, i);
  x->batches = p->batches;
  x->call = *call;
  x->call.problem = &x->problem;
  struct shunt_key key = shunt_key_of(&x->problem);
  shunt_cache_look_up(call->context->cache, &key, &x->sight);
  x->made.kept = NULL;
  for (int k = 0; k < SHUNT_MOST_PACKED; k++)
    if (x->sight.plan[k].kept) x->view[k] = view_of(x, x->sight.plan[k].kept, call->capturing);
  if (x->sight.study) x->study = shunt_cache_packed_view(x->sight.study);
  x->call.profile = x->sight.has_profile ? &x->sight.profile : NULL;
  x->call.forced = shunt_routes_forced();
  shunt_product_choose(x, only);
}

/* ---- studies ------------------------------------------------------------------------- */

/* What runs now, or the original: the first of the choice. */
static const struct shunt_route *chosen(const struct shunt_product *x)
{
  return x->choice.count > 0 ? x->choice.candidate[0].route : NULL;
}

/* Enqueues what `route` wants to find out about the matrix. */
static void study(struct shunt_product *x, const struct shunt_route *route)
{
  struct shunt_context *e = x->call.context;
  struct shunt_call c = shunt_call_as_seen_by(x, route);
  struct shunt_cache_packed *k;
  c.best_us = x->choice.count > 0 ? x->choice.candidate[0].us : x->original_us;
  c.spent_us = fmax(c.best_us, x->original_us - c.best_us) * x->sight.sights;
  const size_t bytes = route->study_bytes(&c);
  if (bytes == 0 ||
      shunt_cache_study_make(e->cache, &x->sight, e->pool, bytes, c.stream, &k) != SHUNT_OK)
    return;
  const struct shunt_packed_view into = shunt_cache_packed_view(k);
  shunt_status s = route->study(&c, &into);
  shunt_status built =
      shunt_cache_packed_built(k, c.stream); /* marks the memory's use in any case */
  shunt_cache_packed_release(e->cache, k, s != SHUNT_OK || built != SHUNT_OK);
}

/* A study's payload is for the next conversion: it goes when that is made, or does not pay. */
static void leave_studies(struct shunt_product *x, bool may_study)
{
  bool drop = false;
  const struct shunt_packed_view *view;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    if (!r->study || !shunt_route_may_take(i, &x->problem)) continue;
    const bool made = shunt_product_plan(x, r, &view);
    drop = drop || made || chosen(x) != r;
    if (may_study && x->sight.study_wise && !made &&
        r->fits(&x->problem, x->call.context).reason == SHUNT_FITS)
      study(x, r);
  }
  if (x->sight.study)
    shunt_cache_packed_release(x->call.context->cache, x->sight.study, drop && !x->call.capturing);
}

void shunt_product_leave(struct shunt_product *x)
{
  struct shunt_context *e = x->call.context;
  /* Batches of COO make their offsets in one place: by now the last one's stand there. */
  bool whole = x->batches == 1 || !x->problem.row_indices;
  leave_studies(x, whole && !x->call.capturing);
  shunt_lookup_release(e->cache, &x->sight);
  release_made(x, false);
  if (x->call.capturing) return;
  if (x->sight.profile_wanted && whole)
    shunt_cache_profile(e->cache, &x->sight, shunt_problem_sparse(&x->problem), &e->device,
                        x->call.stream);
  if (x->sight.sights % RELIEVE_EVERY == 0) shunt_cache_relieve(e->cache);
}
