#include "backend/plan/planner.h"

#include <math.h>
#include <string.h>

#include "backend/plan/cache.h"
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/plan/options.h"
#include "backend/plan/tune.h"
#include "backend/routes/route.h"

enum { MOST_ROUTES = 16, RELIEVE_EVERY = 1024 };

static size_t round_up(size_t n)
{
  return (n + 255) & ~(size_t)255;
}

static bool allowed(int route)
{
  return (shunt_options()->routes >> route) & 1;
}

/* A list in SHUNT_ROUTES is an order, not a permission: the routes named run
   wherever they are right, without a comparison of costs.  */
static bool forced(void)
{
  return shunt_options()->routes != ~(uint32_t)0;
}

/* ---- COO: the offsets are made in the workspace, the rest is shared -------------- */

static size_t coo_bytes(const struct shunt_problem *p)
{
  if (p->format != SHUNT_COO) return 0;
  return round_up((size_t)(p->spmm.a.rows + 1) * shunt_type_size(p->spmm.a.index_type));
}

/* cuSPARSE asks for COO sorted by row, and so do we; rows out of order would be the
   caller's breach, hence nobody reads the flag.  */
static shunt_status make_offsets(const struct shunt_call *call)
{
  const struct shunt_csr *a = &call->problem->spmm.a;
  if (!call->problem->row_indices) return SHUNT_OK;
  return SHUNT_LAUNCH(shunt_coo_to_csr_cuda(a->rows, a->nnz, call->problem->row_indices,
                                            a->index_type, a->base, (void *)a->row_offsets, NULL,
                                            &call->engine->device, call->stream));
}

/* ---- workspace --------------------------------------------------------------------- */

size_t shunt_plan_workspace(const struct shunt_problem *p, cudaStream_t stream,
                            const char *library_path)
{
  if (shunt_problem_check(p).reason != SHUNT_FITS || shunt_options()->routes == 0) return 0;
  struct shunt_engine *e = shunt_engine_find();
  bool free_to_make = !shunt_capture_of(stream).active;
  if (!e && free_to_make) e = shunt_engine_make();
  if (!e) return 0;
  size_t most = 0;
  bool any = false;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    if (!allowed(i) || r->fits(p, e).reason != SHUNT_FITS) continue;
    if (r->wants_gemm && free_to_make) shunt_engine_open_gemm(e, library_path);
    size_t bytes = r->workspace(p, e);
    if (bytes > most) most = bytes;
    any = true;
  }
  return any ? coo_bytes(p) + most : 0;
}

/* ---- choosing ---------------------------------------------------------------------- */

struct candidate {
  const struct shunt_route *route;
  double us;
};

struct choice {
  struct candidate candidate[MOST_ROUTES];
  int count;
  struct shunt_verdict why_none; /* the most general route's reason */
};

static void insert(struct choice *c, const struct shunt_route *route, double us)
{
  int i = c->count++;
  for (; i > 0 && c->candidate[i - 1].us > us; i--) c->candidate[i] = c->candidate[i - 1];
  c->candidate[i] = (struct candidate){ route, us };
}

/* The call as `route` sees it: only its own kept matrix, or the prospect of one. */
static struct shunt_call as_seen_by(const struct shunt_call *call, const struct shunt_sight *sight,
                                    const struct shunt_kept_view *view,
                                    const struct shunt_route *route)
{
  struct shunt_call c = *call;
  bool keeps = route->keep && route->keep_bytes(call->problem, call->engine) > 0;
  c.kept = sight->kept && sight->kept_by == route ? view : NULL;
  c.will_keep = keeps && !c.kept && !sight->kept && sight->keep_wise && !call->capturing;
  c.no_copies = sight->no_copies;
  return c;
}

/* Every route that may run, fastest first; `only`: no other than this one, whatever it
   costs, unless it is negative.  */
static void choose(const struct shunt_call *call, const struct shunt_sight *sight,
                   const struct shunt_kept_view *view, int only, struct choice *out)
{
  bool compare = !forced() && only < 0;
  out->count = 0;
  out->why_none = SHUNT_VERDICT(SHUNT_R_DISABLED);
  for (int i = shunt_route_count() - 1; i >= 0; i--) {
    const struct shunt_route *r = shunt_route_at(i);
    struct shunt_call c = as_seen_by(call, sight, view, r);
    double us = 0;
    if (!allowed(i) || (only >= 0 && i != only)) continue;
    struct shunt_verdict v = r->fits(call->problem, call->engine);
    bool fits = v.reason == SHUNT_FITS;
    if (fits) v = r->expect(&c, &us);
    bool only_slow = v.reason == SHUNT_R_UNPROFILED || v.reason == SHUNT_R_PATTERN;
    if (v.reason == SHUNT_FITS || (fits && only_slow && !compare))
      insert(out, r, us);
    else
      out->why_none = v;
  }
  double original = shunt_cost_original(call->problem, &call->engine->device);
  if (out->count > 0 && out->candidate[0].us >= original && compare) {
    out->count = 0;
    out->why_none = SHUNT_VERDICT(SHUNT_R_SLOWER);
  }
}

/* ---- running ------------------------------------------------------------------------- */

/* Converts the matrix for `route` and hands the result over as kept; the call goes
   on without it if that fails.  */
static struct shunt_kept *keep(const struct shunt_call *call, const struct shunt_sight *sight,
                               const struct shunt_route *route, struct shunt_kept_view *view)
{
  struct shunt_cache *cache = call->engine->cache;
  struct shunt_kept *k;
  if (shunt_kept_make(cache, sight, route, call->engine->pool,
                      route->keep_bytes(call->problem, call->engine), call->stream,
                      &k) != SHUNT_OK)
    return NULL;
  *view = shunt_kept_view_of(k);
  shunt_status s = route->keep(call, view);
  shunt_status built = shunt_kept_built(k, call->stream); /* marks the memory's use in any case */
  if (s == SHUNT_OK && built == SHUNT_OK) return k;
  shunt_kept_release(cache, k, true);
  return NULL;
}

static shunt_status run_candidate(const struct shunt_call *call, struct shunt_sight *sight,
                                  struct shunt_kept_view *view, const struct shunt_route *route)
{
  struct shunt_call c = as_seen_by(call, sight, view, route);
  if (c.will_keep) {
    sight->kept = keep(&c, sight, route, view);
    sight->kept_by = route;
    if (sight->kept) c.kept = view;
  }
  shunt_status s = route->run(&c);
  if (c.kept) shunt_kept_used(sight->kept, call->stream, call->capturing);
  return s;
}

static struct shunt_answer declined(struct shunt_verdict why)
{
  return (struct shunt_answer){ why, "original", 0, false };
}

static struct shunt_answer run_best(const struct shunt_call *call, struct shunt_sight *sight,
                                    int only)
{
  struct shunt_kept_view view = { 0 };
  struct choice choice;
  if (sight->kept) view = shunt_kept_view_of(sight->kept);
  choose(call, sight, &view, only, &choice);
  struct shunt_answer answer = declined(choice.why_none);
  if (choice.count > 0 && make_offsets(call) != SHUNT_OK)
    return declined(SHUNT_VERDICT(SHUNT_R_FAILED));
  for (int i = 0; i < choice.count; i++) {
    const struct candidate *best = &choice.candidate[i];
    shunt_status s = run_candidate(call, sight, &view, best->route);
    if (s == SHUNT_OK) {
      double saved = shunt_cost_original(call->problem, &call->engine->device) - best->us;
      return (struct shunt_answer){ SHUNT_VERDICT(SHUNT_FITS), best->route->name,
                                    saved > 0 ? saved : 0, false };
    }
    answer = declined(SHUNT_VERDICT(SHUNT_R_FAILED));
    answer.written = s == SHUNT_E_WRITTEN;
    if (answer.written) break;
  }
  return answer;
}

static struct shunt_key key_of(const struct shunt_problem *p)
{
  const struct shunt_csr *a = shunt_problem_sparse(p);
  /* SDDMM writes the values: they say nothing about which matrix it is. */
  return (struct shunt_key){ .row_offsets = p->format == SHUNT_COO ? NULL : a->row_offsets,
                             .columns = a->columns,
                             .values = p->op == SHUNT_SPMM ? a->values : NULL,
                             .row_indices = p->row_indices,
                             .rows = a->rows, .cols = a->cols, .nnz = a->nnz,
                             .index_type = a->index_type, .value_type = a->value_type,
                             .base = a->base };
}

static struct shunt_answer run_known(struct shunt_call *call, const struct shunt_key *key, int only)
{
  struct shunt_sight sight;
  shunt_cache_see(call->engine->cache, key, &sight);
  struct shunt_kept *held = sight.kept;
  call->profile = sight.has_profile ? &sight.profile : NULL;
  struct shunt_answer answer = run_best(call, &sight, only);
  if (!held) held = sight.kept; /* made just now */
  if (held) shunt_kept_release(call->engine->cache, held, false);
  if (!call->capturing) {
    if (sight.profile_wanted)
      shunt_cache_profile(call->engine->cache, &sight, shunt_problem_sparse(call->problem),
                          &call->engine->device, call->stream);
    if (sight.sights % RELIEVE_EVERY == 0) shunt_cache_relieve(call->engine->cache);
  }
  return answer;
}

struct shunt_answer shunt_plan_run_by(const struct shunt_problem *p, int only, void *workspace,
                                      size_t workspace_bytes, cudaStream_t stream)
{
  struct shunt_verdict v = shunt_problem_check(p);
  if (v.reason != SHUNT_FITS) return declined(v);
  const struct shunt_scalar *alpha = p->op == SHUNT_SPMM ? &p->spmm.alpha : &p->sddmm.alpha;
  if (!alpha->device && !(alpha->host != 0 && isfinite(alpha->host)))
    return declined(SHUNT_VERDICT(SHUNT_R_ALPHA));
  if (shunt_options()->routes == 0) return declined(SHUNT_VERDICT(SHUNT_R_DISABLED));
  struct shunt_engine *e = shunt_engine_find();
  if (!e) return declined(SHUNT_VERDICT(SHUNT_R_DEVICE));
  struct shunt_capture capture = shunt_capture_of(stream);
  if (capture.broken) return declined(SHUNT_VERDICT(SHUNT_R_CAPTURE));

  struct shunt_problem csr = *p;
  size_t coo = coo_bytes(p);
  struct shunt_key key = key_of(p);
  struct shunt_call call = { .problem = &csr, .engine = e, .stream = stream,
                             .capturing = capture.active };
  if (workspace_bytes >= coo) {
    call.workspace = workspace ? (char *)workspace + coo : NULL;
    call.workspace_bytes = workspace ? workspace_bytes - coo : 0;
  }
  if (p->format == SHUNT_COO) {
    if (!call.workspace) return declined(SHUNT_VERDICT(SHUNT_R_WORKSPACE));
    csr.spmm.a.row_offsets = workspace;
    csr.format = SHUNT_CSR;
  }
  return run_known(&call, &key, only);
}

struct shunt_answer shunt_plan_run(const struct shunt_problem *p, void *workspace,
                                   size_t workspace_bytes, cudaStream_t stream)
{
  int measured = shunt_tune_find(p);
  if (measured == SHUNT_TUNE_ORIGINAL) return declined(SHUNT_VERDICT(SHUNT_R_SLOWER));
  return shunt_plan_run_by(p, measured, workspace, workspace_bytes, stream);
}

void shunt_plan_prepare(const struct shunt_problem *p, cudaStream_t stream)
{
  struct shunt_engine *e = shunt_engine_find();
  if (!e || p->format != SHUNT_CSR || shunt_problem_check(p).reason != SHUNT_FITS) return;
  if (shunt_capture_of(stream).active) return;
  struct shunt_key key = key_of(p);
  struct shunt_sight sight;
  shunt_cache_see(e->cache, &key, &sight);
  if (sight.kept) shunt_kept_release(e->cache, sight.kept, false);
  if (sight.profile_wanted)
    shunt_cache_profile(e->cache, &sight, shunt_problem_sparse(p), &e->device, stream);
}
