#include "backend/plan/product.h"

#include <math.h>

#include "backend/log/log_upkeep.h"
#include "backend/options/options.h"
#include "backend/plan/batches.h"
#include "backend/plan/context.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/frozen.h"
#include "backend/routes/cost/costs.h"
#include "conv/coo/coo_conv.h"

struct shunt_answer shunt_declined(struct shunt_outcome why)
{
  return (struct shunt_answer){.why = why, .route = "original", .how = why};
}

/* ---- planning --------------------------------------------------------------------------- */

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

/* A graph may be replayed after the epoch that it was captured in, and after any change. */
static struct shunt_packed_view view_of(const struct shunt_product *x,
                                        struct shunt_cache_packed *copy)
{
  const uint64_t epoch = x->problem.pattern_epoch;
  struct shunt_packed_view v = shunt_cache_packed_view(copy);
  v.pattern_stands =
      x->problem.op == SHUNT_SPMM && epoch != 0 && epoch == *v.pattern_epoch && !x->call.capturing;
  v.trusted = !x->call.capturing && shunt_cache_packed_trusted(copy);
  return v;
}

/* Copies whose measures have not come yet, of routes that wait for them. */
static void leave_unmeasured(struct shunt_product *x)
{
  for (int k = 0; k < SHUNT_MOST_PACKED; k++) {
    struct shunt_cache_packed *copy = x->lookup.packed[k].copy;
    const struct shunt_route *by = x->lookup.packed[k].by;
    if (!copy || !by->awaits_measures || shunt_cache_packed_view(copy).known) continue;
    shunt_cache_packed_release(x->call.context->cache, copy, false);
    x->lookup.packed[k].copy = NULL;
    x->lookup.awaits_copy = true;
    x->lookup.pack_wise = x->lookup.study_wise = false;
  }
}

/* Fills x->lookup, and the views of what it carries. */
static void look_up(struct shunt_product *x)
{
  const struct shunt_key key = shunt_key_of(&x->problem);
  struct shunt_cache *cache = x->call.context->cache;
  struct shunt_lookup *l = &x->lookup;
  if (x->problem.deterministic)
    shunt_cache_look_up_settled(cache, &key, x->problem.pattern_epoch, l);
  else
    shunt_cache_look_up(cache, &key, l);
  const bool first = l->first_copy;
  if (l->awaits_copy && !x->call.capturing) shunt_cache_look_up_behind(cache, x->call.stream, l);
  if (x->compare) leave_unmeasured(x);
  l->first_copy = first && l->awaits_copy;
  for (int k = 0; k < SHUNT_MOST_PACKED; k++)
    if (l->packed[k].copy) x->view[k] = view_of(x, l->packed[k].copy);
  if (l->study) x->study = shunt_cache_packed_view(l->study);
}

/* Microseconds that the plan's candidate i saves against the next best way. */
static double saving_of(const struct shunt_plan *plan, int i)
{
  double next = plan->original_us;
  if (i + 1 < plan->count && plan->candidate[i + 1].us < next) next = plan->candidate[i + 1].us;
  return fmax(next - plan->candidate[i].us, 0);
}

/* Is the plan's first way from a copy that is to be made, and that is to be measured first? */
static bool makes_unmeasured(const struct shunt_product *x)
{
  const struct shunt_candidate *best = &x->plan.candidate[0];
  return x->compare && x->plan.count > 0 && best->packs && best->route->awaits_measures;
}

/* Chooses; where the matrix keeps its first way for now, as if there were no profile. */
static void choose(struct shunt_product *x, int only)
{
  const bool knows_now = x->call.profile && x->lookup.known_now;
  const bool waits = x->compare && !x->call.capturing && x->lookup.first_copy;
  if (waits) x->call.profile = NULL;
  shunt_product_choose(x, only);
  if (!makes_unmeasured(x)) return;
  x->next = x->plan.candidate[0].route;
  x->next_saves_us = saving_of(&x->plan, 0);
  x->lookup.pack_wise = false;
  if (knows_now) x->call.profile = NULL;
  shunt_product_choose(x, only);
}

void shunt_product_plan(struct shunt_product *x, const struct shunt_problem *p, int i,
                        const struct shunt_call *call, int only)
{
  shunt_batch_at(p, i, &x->problem);
  x->batches = p->batches;
  x->call = *call;
  x->call.problem = &x->problem;
  x->call.forced = shunt_routes_forced();
  /* No original stands behind an extended product. */
  x->compare = !x->call.forced && only < 0 && !p->extended;
  x->next = NULL;
  x->packed.copy = NULL;
  x->forgets = shunt_problem_in_blocks(p) || shunt_product_is_brief(p);
  if (x->forgets)
    x->lookup = (struct shunt_lookup){0};
  else {
    look_up(x);
    x->call.profile = x->lookup.has_profile ? &x->lookup.profile : NULL;
    x->call.frozen = !p->deterministic && !call->capturing && shunt_frozen_assumed();
  }
  choose(x, only);
}

/* ---- running ------------------------------------------------------------------------------ */

/* cuSPARSE asks for COO sorted by row, and so do we.  The flag that tells of other rows is not
   read, as the caller has promised that there are none.  */
static shunt_status make_offsets(const struct shunt_call *call)
{
  const struct shunt_csr *a = &call->problem->spmm.a;
  if (!call->problem->row_indices) return SHUNT_OK;
  return SHUNT_LAUNCH(shunt_coo_to_csr_cuda(a->rows, a->nnz, call->problem->row_indices,
                                            a->index_type, a->base, (void *)a->row_offsets, NULL,
                                            &call->context->device, call->stream));
}

static void release_packed(struct shunt_product *x, bool discard)
{
  if (x->packed.copy) shunt_cache_packed_release(x->call.context->cache, x->packed.copy, discard);
  x->packed.copy = NULL;
}

/* A route has filled the copy, and answered `filled`; false: it is to be dropped. */
static bool fill(struct shunt_cache *cache, struct shunt_cache_packed *k, shunt_status filled,
                 cudaStream_t stream)
{
  if (filled == SHUNT_OK) return shunt_cache_packed_built(cache, k, stream) == SHUNT_OK;
  shunt_cache_packed_touched(cache, k, false, stream);
  return false;
}

/* Packs the matrix for `route`; the call goes on without if that fails. */
static void pack(struct shunt_product *x, const struct shunt_call *c,
                 const struct shunt_route *route, double saves_us)
{
  struct shunt_cache *cache = c->context->cache;
  struct shunt_packed_request request = {
      .by = route, .payload_bytes = route->pack_bytes(c), .saves_us = saves_us};
  request.makes_us = shunt_cost_copy(shunt_cost_csr_bytes(shunt_problem_sparse(c->problem)) +
                                         (double)request.payload_bytes,
                                     &c->context->machine);
  release_packed(x, false); /* by a route that failed to run */
  if (shunt_cache_packed_make(cache, &x->lookup, &request, c->stream, &x->packed.copy) !=
      SHUNT_OK) {
    x->packed.copy = NULL;
    return;
  }
  x->packed.by = route;
  x->packed.view = shunt_cache_packed_view(x->packed.copy);
  *x->packed.view.pattern_epoch = x->problem.pattern_epoch;
  x->packed.view.pattern_stands = x->packed.view.trusted = false; /* this call proves it */
  if (!fill(cache, x->packed.copy, route->pack(c, &x->packed.view), c->stream))
    release_packed(x, true);
  else
    shunt_log_conversion(request.makes_us, request.payload_bytes);
}

/* A proof reads the matrix once more. */
static void tell_of_proof(const struct shunt_call *c)
{
  if (shunt_options()->report[0])
    shunt_log_proof(shunt_cost_copy(shunt_cost_csr_bytes(shunt_problem_sparse(c->problem)),
                                    &c->context->machine));
}

/* Tells the cache how a run of `route` that ended with `s` used the copy.  Only a product from it,
   which proved it or was spared the proof, counts.  */
static void tell_of_use(const struct shunt_call *c, const struct shunt_route *route,
                        struct shunt_cache_packed *copy, shunt_status s, double saves_us)
{
  struct shunt_cache *cache = c->context->cache;
  const struct shunt_packed_use use = {saves_us, c->capturing, c->packed->trusted};
  if (*c->copy_use == SHUNT_COPY_USED && s == SHUNT_OK) {
    shunt_cache_packed_used(cache, copy, &use, c->stream);
    if (!use.unproved && !use.capturing && !route->keeps_hint) tell_of_proof(c);
  } else if (*c->copy_use != SHUNT_COPY_UNUSED)
    shunt_cache_packed_touched(cache, copy, c->capturing, c->stream);
}

/* The call as the plan's candidate i is to run it, packed for it where it packs; *copy: what it
   multiplies by, or NULL. */
static struct shunt_call call_of(struct shunt_product *x, int i, struct shunt_cache_packed **copy)
{
  const struct shunt_candidate *k = &x->plan.candidate[i];
  struct shunt_call c = shunt_call_for(x, k->route);
  c.library = k->library;
  c.will_pack = c.will_pack && k->packs;
  if (c.will_pack) {
    pack(x, &c, k->route, saving_of(&x->plan, i));
    if (c.study)
      shunt_cache_packed_used(c.context->cache, x->lookup.study, &(struct shunt_packed_use){0},
                              c.stream);
  }
  *copy = shunt_product_copy(x, k->route, &c.packed);
  return c;
}

/* Where the original refuses there is nothing to save. */
static struct shunt_answer taken(const struct shunt_product *x, const struct shunt_candidate *by)
{
  const struct shunt_machine *machine = &x->call.context->machine;
  struct shunt_answer answer = {.why = SHUNT_OUTCOME(SHUNT_FITS),
                                .route = by->route->name,
                                .us = by->us,
                                .saved_us = fmax(x->plan.original_us - by->us, 0),
                                .off = shunt_cost_original_off(&x->problem, machine),
                                .how = by->how};
  if (x->problem.extended) {
    answer.saved_us = 0;
    answer.how = SHUNT_OUTCOME(SHUNT_R_EXTENDED);
  }
  return answer;
}

struct shunt_answer shunt_product_run(struct shunt_product *x)
{
  const struct shunt_plan *plan = &x->plan;
  struct shunt_answer answer = shunt_declined(plan->why_none);
  answer.us = plan->original_us;
  if (plan->count > 0 && make_offsets(&x->call) != SHUNT_OK)
    return shunt_declined(SHUNT_OUTCOME(SHUNT_R_FAILED));
  for (int i = 0; i < plan->count && !answer.written; i++) {
    const struct shunt_candidate *best = &plan->candidate[i];
    enum shunt_copy_use use = SHUNT_COPY_UNUSED;
    struct shunt_cache_packed *copy;
    struct shunt_call c = call_of(x, i, &copy);
    c.copy_use = &use;
    const shunt_status s = best->route->run(&c);
    if (copy) tell_of_use(&c, best->route, copy, s, saving_of(plan, i));
    if (s == SHUNT_OK) return taken(x, best);
    answer = shunt_declined(SHUNT_OUTCOME(SHUNT_R_FAILED));
    answer.us = plan->original_us;
    answer.written = s == SHUNT_E_WRITTEN;
  }
  return answer;
}

/* ---- leaving -------------------------------------------------------------------------------- */

/* What runs now, or the original: the first of the plan. */
static const struct shunt_route *chosen(const struct shunt_product *x)
{
  return x->plan.count > 0 ? x->plan.candidate[0].route : NULL;
}

/* A study comes when it pays for itself; the first needs the pool, too. */
static bool may_allocate(const struct shunt_call *c)
{
  const uint32_t copies = shunt_lazy_bit(SHUNT_LAZY_COPIES);
  const struct shunt_lazy_init *o = &c->context->lazy;
  if (!shunt_lazy_pending(o, copies)) return true;
  if (c->spent_us < shunt_lazy_us(o, SHUNT_LAZY_COPIES)) return false;
  shunt_context_initialize(c->context, copies);
  return true;
}

/* Enqueues what `route` wants to find out about the matrix. */
static void study(struct shunt_product *x, const struct shunt_route *route)
{
  struct shunt_cache *cache = x->call.context->cache;
  struct shunt_call c = shunt_call_for(x, route);
  struct shunt_cache_packed *k;
  c.best_us = x->plan.count > 0 ? x->plan.candidate[0].us : x->plan.original_us;
  c.spent_us = fmax(c.best_us, x->plan.original_us - c.best_us) * x->lookup.calls;
  const struct shunt_packed_request request = {.study_for = route,
                                               .payload_bytes = route->study_bytes(&c)};
  if (request.payload_bytes == 0 || !may_allocate(&c) ||
      shunt_cache_packed_make(cache, &x->lookup, &request, c.stream, &k) != SHUNT_OK)
    return;
  const struct shunt_packed_view into = shunt_cache_packed_view(k);
  const bool made = fill(cache, k, route->study(&c, &into), c.stream);
  shunt_cache_packed_release(cache, k, !made);
}

/* A study's payload is for the next packing: it goes when that is done, or does not pay. */
static void leave_studies(struct shunt_product *x, bool may_study)
{
  bool drop = false;
  const struct shunt_packed_view *view;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    if (!r->study || !shunt_route_may_take(i, &x->problem)) continue;
    const bool packed = shunt_product_copy(x, r, &view);
    drop = drop || packed || chosen(x) != r;
    if (may_study && x->lookup.study_wise && !packed &&
        r->fits(&x->problem, x->call.context).reason == SHUNT_FITS)
      study(x, r);
  }
  if (x->lookup.study)
    shunt_cache_packed_release(x->call.context->cache, x->lookup.study, drop && !x->call.capturing);
}

/* Packs the matrix for later calls, behind a product that went another way. */
static void pack_for_next(struct shunt_product *x)
{
  x->call.profile = &x->lookup.profile;
  x->lookup.pack_wise = true;
  const struct shunt_call c = shunt_call_for(x, x->next);
  if (c.will_pack) pack(x, &c, x->next, x->next_saves_us);
}

/* Is the matrix there for what is found out and made of it behind the product?  Offsets of COO are
   made for that where no route has.  Batches make them in one place: by now the last one's stand
   there.  */
static bool is_whole(const struct shunt_product *x)
{
  if (!x->problem.row_indices) return true;
  if (x->batches != 1) return false;
  const bool wanted = !x->call.capturing && (x->next || x->lookup.profile_wanted);
  return x->plan.count > 0 || !wanted || make_offsets(&x->call) == SHUNT_OK;
}

void shunt_product_leave(struct shunt_product *x)
{
  struct shunt_context *context = x->call.context;
  if (x->forgets) return;
  const bool whole = is_whole(x);
  leave_studies(x, whole && !x->call.capturing);
  if (x->next && whole) pack_for_next(x);
  shunt_lookup_release(context->cache, &x->lookup);
  release_packed(x, false);
  if (x->call.capturing) return;
  if (x->lookup.profile_wanted && whole)
    shunt_cache_profile(context->cache, &x->lookup, shunt_problem_sparse(&x->problem),
                        &context->device, x->call.stream);
  if (shunt_cache_wants_relief(context->cache)) shunt_cache_relieve(context->cache);
}
