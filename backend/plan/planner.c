#include "backend/plan/planner.h"

#include <math.h>
#include <string.h>

#include "backend/plan/batches.h"
#include "backend/plan/cache.h"
#include "backend/plan/cost.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/engine.h"
#include "backend/plan/options.h"
#include "backend/plan/tune.h"
#include "backend/routes/route.h"

enum { MOST_ROUTES = 16, RELIEVE_EVERY = 1024 };

/* Strided batches are run one by one, up to so many; each keeps the host busy for so long. */
enum { MOST_IN_TURN = 16, BATCH_HOST_US = 8 };

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

/* ---- what is planned ------------------------------------------------------------- */

/* p as routes see it: CSR unless it is in blocks, op_a 'T' where op(A) is the transpose of spmm.a;
   and batches that are one product are joined.  */
static struct shunt_verdict settle(const struct shunt_problem *p, struct shunt_problem *out)
{
  struct shunt_verdict v = shunt_problem_check(p);
  if (v.reason != SHUNT_FITS) return v;
  if (p->batches == 1 || !shunt_batches_join(p, out)) *out = *p;
  if (!shunt_problem_in_blocks(p)) out->format = SHUNT_CSR;
  if (p->op == SHUNT_SPMM) out->op_a = shunt_problem_transposed(p) ? 'T' : 'N';
  SHUNT_DECLINE_IF(out->batches > MOST_IN_TURN, SHUNT_R_BATCHED);
  return v;
}

/* May route i take p, as far as the options and the layout of A say? */
static bool may_take(int i, const struct shunt_problem *p)
{
  const struct shunt_route *r = shunt_route_at(i);
  return allowed(i) && r->takes_blocks == shunt_problem_in_blocks(p) &&
         (!shunt_problem_transposed(p) || r->takes_transposed);
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

size_t shunt_plan_workspace(const struct shunt_problem *asked, cudaStream_t stream,
                            const char *library_path)
{
  struct shunt_problem settled;
  const struct shunt_problem *p = &settled;
  if (settle(asked, &settled).reason != SHUNT_FITS || shunt_options()->routes == 0) return 0;
  struct shunt_engine *e = shunt_engine_find();
  bool free_to_make = !shunt_capture_of(stream).active;
  if (!e && free_to_make) e = shunt_engine_make();
  if (!e) return 0;
  size_t most = 0;
  bool any = false;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    if (!may_take(i, p) || r->fits(p, e).reason != SHUNT_FITS) continue;
    if (r->wants_gemm && free_to_make) shunt_engine_open_gemm(e, library_path);
    size_t bytes = r->workspace(p, e);
    if (bytes > most) most = bytes;
    any = true;
  }
  return any ? coo_bytes(asked) + most : 0;
}

/* ---- choosing ---------------------------------------------------------------------- */

struct candidate {
  const struct shunt_route *route;
  struct shunt_verdict how;
  double us;
};

struct choice {
  struct candidate candidate[MOST_ROUTES];
  int count;
  struct shunt_verdict why_none; /* the most general route's reason */
};

/* One product on its way: what is known of its matrix, and the routes that may run it. */
struct product {
  struct shunt_problem problem; /* CSR by now, one batch */
  struct shunt_call call;       /* of `problem` */
  int batches;                  /* that it is one of */
  struct shunt_sight sight;
  struct shunt_kept *held;      /* what the sight carried */
  struct shunt_kept_view view;  /* of sight.kept */
  struct shunt_kept_view study; /* of sight.study */
  double original_us;           /* what the original is expected to need */
  struct choice choice;
};

static void insert(struct choice *c, const struct candidate *x)
{
  int i = c->count++;
  for (; i > 0 && c->candidate[i - 1].us > x->us; i--) c->candidate[i] = c->candidate[i - 1];
  c->candidate[i] = *x;
}

static bool keeps(const struct shunt_call *c, const struct shunt_route *route)
{
  return route->keep && route->keep_bytes(c) > 0;
}

/* Only one conversion of a matrix is kept: where several routes would make one, none does before
   the profile has told which.  */
static bool is_contested(const struct shunt_call *c)
{
  int n = 0;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    n += may_take(i, c->problem) && r->fits(c->problem, c->engine).reason == SHUNT_FITS &&
         keeps(c, r);
  }
  return n > 1;
}

/* Is there room for a conversion by `route`, whose study may have shown that it is worth more than
   what another route keeps?  */
static bool may_keep(const struct shunt_sight *sight, const struct shunt_route *route)
{
  if (!sight->kept) return true;
  return route->study && sight->study && sight->kept_by != route;
}

/* Should `route` convert the matrix now?  What costs most to answer is asked last. */
static bool will_keep(const struct product *x, const struct shunt_route *route,
                      const struct shunt_call *c)
{
  if (!x->sight.keep_wise || c->kept || c->capturing || !may_keep(&x->sight, route)) return false;
  if (!c->profile && (route->keeps_by_profile || is_contested(&x->call))) return false;
  return keeps(c, route);
}

/* The call as `route` sees it: only its own kept matrix, or the prospect of one. */
static struct shunt_call as_seen_by(const struct product *x, const struct shunt_route *route)
{
  struct shunt_call c = x->call;
  const struct shunt_sight *sight = &x->sight;
  c.kept = sight->kept && sight->kept_by == route ? &x->view : NULL;
  c.no_copies = sight->no_copies;
  if (route->study && sight->has_study) c.studied = sight->studied;
  if (route->study && sight->study) c.study = x->study.payload;
  c.will_keep = will_keep(x, route, &c);
  return c;
}

/* The original's time; of batches, which it starts together, a share. */
static double original_us(const struct product *x)
{
  struct shunt_problem all = x->problem;
  struct shunt_csr *a = all.op == SHUNT_SPMM ? &all.spmm.a : &all.sddmm.c;
  a->nnz *= x->batches;
  return shunt_cost_original(&all, x->call.profile, &x->call.engine->device) / x->batches;
}

/* Every route that may run, fastest first; `only`: no other than this one, whatever it
   costs, unless it is negative.  */
static void choose(struct product *x, int only)
{
  const struct shunt_problem *p = &x->problem;
  struct choice *out = &x->choice;
  bool compare = !forced() && only < 0;
  out->count = 0;
  out->why_none = shunt_problem_transposed(p) ? SHUNT_VERDICT(SHUNT_R_TRANSPOSED)
                                              : SHUNT_VERDICT(SHUNT_R_DISABLED);
  for (int i = shunt_route_count() - 1; i >= 0; i--) {
    const struct shunt_route *r = shunt_route_at(i);
    struct shunt_call c = as_seen_by(x, r);
    double us = 0;
    if (!may_take(i, p) || (only >= 0 && i != only)) continue;
    struct shunt_verdict v = r->fits(p, c.engine);
    bool fits = v.reason == SHUNT_FITS;
    if (fits) v = r->expect(&c, &us);
    if (x->batches > 1 && us < BATCH_HOST_US) us = BATCH_HOST_US;
    bool only_slow = v.reason == SHUNT_R_UNPROFILED || v.reason == SHUNT_R_PATTERN;
    if (fits && only_slow && !compare) v = SHUNT_VERDICT(SHUNT_FITS);
    if (v.reason == SHUNT_FITS || v.reason == SHUNT_R_ORDERED)
      insert(out, &(struct candidate){ r, v, us });
    else
      out->why_none = v;
  }
  x->original_us = original_us(x);
  if (out->count > 0 && out->candidate[0].us >= x->original_us && compare) {
    out->count = 0;
    out->why_none = SHUNT_VERDICT(SHUNT_R_SLOWER);
  }
}

/* ---- running ------------------------------------------------------------------------- */

/* What another route kept gives way. */
static void drop_kept(struct product *x)
{
  if (x->sight.kept) shunt_kept_release(x->call.engine->cache, x->sight.kept, true);
  x->held = x->sight.kept = NULL;
}

/* Converts the matrix for `route` and hands the result over as kept; the call goes
   on without it if that fails.  */
static struct shunt_kept *keep(const struct shunt_call *call, struct product *x,
                               const struct shunt_route *route)
{
  struct shunt_cache *cache = call->engine->cache;
  struct shunt_kept *k;
  if (shunt_kept_make(cache, &x->sight, route, call->engine->pool,
                      route->keep_bytes(call), call->stream, &k) != SHUNT_OK)
    return NULL;
  x->view = shunt_kept_view_of(k);
  *x->view.pattern_epoch = x->problem.pattern_epoch;
  x->view.pattern_stands = false; /* this call proves it */
  shunt_status s = route->keep(call, &x->view);
  shunt_status built = shunt_kept_built(k, call->stream); /* marks the memory's use in any case */
  if (s == SHUNT_OK && built == SHUNT_OK) return k;
  shunt_kept_release(cache, k, true);
  return NULL;
}

static shunt_status run_candidate(struct product *x, const struct shunt_route *route)
{
  struct shunt_call c = as_seen_by(x, route);
  if (c.will_keep) {
    drop_kept(x);
    x->sight.kept = keep(&c, x, route);
    x->sight.kept_by = route;
    if (c.study) shunt_kept_used(x->sight.study, c.stream, false);
    if (x->sight.kept) c.kept = &x->view;
  }
  shunt_status s = route->run(&c);
  if (c.kept) shunt_kept_used(x->sight.kept, c.stream, c.capturing);
  return s;
}

static struct shunt_answer declined(struct shunt_verdict why)
{
  return (struct shunt_answer){ .why = why, .route = "original", .how = why };
}

/* The best of the chosen routes that does not fail. */
static struct shunt_answer run_chosen(struct product *x)
{
  struct shunt_answer answer = declined(x->choice.why_none);
  if (x->choice.count > 0 && make_offsets(&x->call) != SHUNT_OK)
    return declined(SHUNT_VERDICT(SHUNT_R_FAILED));
  for (int i = 0; i < x->choice.count; i++) {
    const struct candidate *best = &x->choice.candidate[i];
    shunt_status s = run_candidate(x, best->route);
    if (s == SHUNT_OK) {
      double saved = x->original_us - best->us;
      return (struct shunt_answer){ .why = SHUNT_VERDICT(SHUNT_FITS),
                                    .route = best->route->name,
                                    .saved_us = saved > 0 ? saved : 0,
                                    .how = best->how };
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
  return (struct shunt_key){ .row_offsets = p->row_indices ? NULL : a->row_offsets,
                             .columns = a->columns,
                             .values = p->op == SHUNT_SPMM ? a->values : NULL,
                             .row_indices = p->row_indices,
                             .rows = a->rows, .cols = a->cols, .nnz = a->nnz,
                             .index_type = a->index_type, .value_type = a->value_type,
                             .base = a->base };
}

/* A graph may be replayed after the epoch that it was captured in. */
static struct shunt_kept_view view_of(const struct product *x, bool capturing)
{
  const uint64_t epoch = x->problem.pattern_epoch;
  struct shunt_kept_view v = shunt_kept_view_of(x->held);
  v.pattern_stands = epoch != 0 && epoch == *v.pattern_epoch && !capturing;
  return v;
}

/* Looks batch i of p up in the cache and chooses its routes. */
static void look(struct product *x, const struct shunt_problem *p, int i,
                 const struct shunt_call *call, int only)
{
  x->problem = shunt_batch_at(p, i);
  x->batches = p->batches;
  x->call = *call;
  x->call.problem = &x->problem;
  struct shunt_key key = key_of(&x->problem);
  shunt_cache_see(call->engine->cache, &key, &x->sight);
  x->held = x->sight.kept;
  if (x->held) x->view = view_of(x, call->capturing);
  if (x->sight.study) x->study = shunt_kept_view_of(x->sight.study);
  x->call.profile = x->sight.has_profile ? &x->sight.profile : NULL;
  x->call.forced = forced();
  choose(x, only);
}

/* ---- studies ------------------------------------------------------------------------- */

/* What runs now, or the original: the first of the choice. */
static const struct shunt_route *chosen(const struct product *x)
{
  return x->choice.count > 0 ? x->choice.candidate[0].route : NULL;
}

/* Enqueues what `route` wants to find out about the matrix. */
static void study(struct product *x, const struct shunt_route *route)
{
  struct shunt_engine *e = x->call.engine;
  struct shunt_call c = as_seen_by(x, route);
  struct shunt_kept *k;
  c.best_us = x->choice.count > 0 ? x->choice.candidate[0].us : x->original_us;
  c.spent_us = fmax(c.best_us, x->original_us - c.best_us) * x->sight.sights;
  const size_t bytes = route->study_bytes(&c);
  if (bytes == 0 ||
      shunt_study_make(e->cache, &x->sight, e->pool, bytes, c.stream, &k) != SHUNT_OK)
    return;
  const struct shunt_kept_view into = shunt_kept_view_of(k);
  shunt_status s = route->study(&c, &into);
  shunt_status built = shunt_kept_built(k, c.stream); /* marks the memory's use in any case */
  shunt_kept_release(e->cache, k, s != SHUNT_OK || built != SHUNT_OK);
}

/* A study's payload is for the next conversion: it goes when that is made, or does not pay. */
static void leave_studies(struct product *x, bool may_study)
{
  bool drop = false;
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    if (!r->study || !may_take(i, &x->problem)) continue;
    const bool made = x->sight.kept && x->sight.kept_by == r;
    drop = drop || made || chosen(x) != r;
    if (may_study && x->sight.study_wise && !made &&
        r->fits(&x->problem, x->call.engine).reason == SHUNT_FITS)
      study(x, r);
  }
  if (x->sight.study)
    shunt_kept_release(x->call.engine->cache, x->sight.study, drop && !x->call.capturing);
}

/* Gives back what look and the run took hold of. */
static void leave(struct product *x)
{
  struct shunt_engine *e = x->call.engine;
  struct shunt_kept *held = x->held ? x->held : x->sight.kept; /* the latter made just now */
  /* Batches of COO make their offsets in one place: by now the last one's stand there. */
  bool whole = x->batches == 1 || !x->problem.row_indices;
  leave_studies(x, whole && !x->call.capturing);
  if (held) shunt_kept_release(e->cache, held, false);
  if (x->call.capturing) return;
  if (x->sight.profile_wanted && whole)
    shunt_cache_profile(e->cache, &x->sight, shunt_problem_sparse(&x->problem), &e->device,
                        x->call.stream);
  if (x->sight.sights % RELIEVE_EVERY == 0) shunt_cache_relieve(e->cache);
}

static struct shunt_answer run_one(const struct shunt_problem *p, const struct shunt_call *call,
                                   int only)
{
  struct product x;
  look(&x, p, 0, call, only);
  struct shunt_answer answer = run_chosen(&x);
  leave(&x);
  return answer;
}

/* Blocks are read in place: nothing is kept, profiled or looked up. */
static struct shunt_answer run_in_blocks(const struct shunt_problem *p,
                                         const struct shunt_call *call, int only)
{
  struct product x = { .problem = *p, .call = *call, .batches = 1 };
  x.call.problem = &x.problem;
  x.call.forced = forced();
  choose(&x, only);
  return run_chosen(&x);
}

/* Is C's old content of no account?  Then whatever was written can be written again. */
static bool overwrites(const struct shunt_problem *p)
{
  const struct shunt_scalar *beta = p->op == SHUNT_SPMM ? &p->spmm.beta : &p->sddmm.beta;
  return !beta->device && beta->host == 0;
}

/* Can one of the chosen routes run whatever another library says to the addresses of a
   later batch?  */
static bool sure(const struct choice *c)
{
  for (int i = 0; i < c->count; i++)
    if (!c->candidate[i].route->wants_gemm) return true;
  return false;
}

/* All batches or none: nothing is enqueued before each has a route; and where the original
   could not start over, one that is sure.  */
static struct shunt_answer run_in_turn(const struct shunt_problem *p, const struct shunt_call *call,
                                       int only)
{
  struct product x[MOST_IN_TURN];
  int matrices = shunt_batches_share_a(p) ? 1 : p->batches, looked = 0, i = 0;
  struct shunt_answer answer = { .why = SHUNT_VERDICT(SHUNT_FITS) };
  double saved = 0;
  while (looked < matrices && answer.why.reason == SHUNT_FITS) {
    look(&x[looked], p, looked, call, only);
    if (x[looked].choice.count == 0)
      answer = declined(x[looked].choice.why_none);
    else if (!overwrites(p) && !sure(&x[looked].choice))
      answer = declined(SHUNT_VERDICT(SHUNT_R_BATCHED));
    looked++;
  }
  for (; i < p->batches && answer.why.reason == SHUNT_FITS; i++) {
    struct product *mine = &x[matrices == 1 ? 0 : i];
    mine->problem = shunt_batch_at(p, i);
    answer = run_chosen(mine);
    saved += answer.saved_us;
  }
  if (answer.why.reason == SHUNT_FITS)
    answer.saved_us = saved;
  else if (i > 1 && !overwrites(p))
    answer.written = true; /* by the batches before the one that failed */
  while (looked > 0) leave(&x[--looked]);
  return answer;
}

struct shunt_answer shunt_plan_run_by(const struct shunt_problem *p, int only, void *workspace,
                                      size_t workspace_bytes, cudaStream_t stream)
{
  struct shunt_problem csr;
  struct shunt_verdict v = settle(p, &csr);
  if (v.reason != SHUNT_FITS) return declined(v);
  const struct shunt_scalar *alpha = p->op == SHUNT_SPMM ? &p->spmm.alpha : &p->sddmm.alpha;
  if (!alpha->device && !(alpha->host != 0 && isfinite(alpha->host)))
    return declined(SHUNT_VERDICT(SHUNT_R_ALPHA));
  if (shunt_options()->routes == 0) return declined(SHUNT_VERDICT(SHUNT_R_DISABLED));
  struct shunt_engine *e = shunt_engine_find();
  if (!e) return declined(SHUNT_VERDICT(SHUNT_R_DEVICE));
  struct shunt_capture capture = shunt_capture_of(stream);
  if (capture.broken) return declined(SHUNT_VERDICT(SHUNT_R_CAPTURE));

  size_t coo = coo_bytes(p);
  struct shunt_call call = { .engine = e, .stream = stream, .capturing = capture.active };
  if (workspace_bytes >= coo) {
    call.workspace = workspace ? (char *)workspace + coo : NULL;
    call.workspace_bytes = workspace ? workspace_bytes - coo : 0;
  }
  if (p->format == SHUNT_COO) {
    if (!call.workspace) return declined(SHUNT_VERDICT(SHUNT_R_WORKSPACE));
    csr.spmm.a.row_offsets = workspace;
    csr.strides.offsets = 0; /* each batch's are made in the same place */
  }
  if (shunt_problem_in_blocks(p)) return run_in_blocks(&csr, &call, only);
  return csr.batches == 1 ? run_one(&csr, &call, only) : run_in_turn(&csr, &call, only);
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
  if (!e || p->format == SHUNT_COO || shunt_problem_in_blocks(p) || p->batches != 1) return;
  if (shunt_problem_check(p).reason != SHUNT_FITS || shunt_capture_of(stream).active) return;
  struct shunt_key key = key_of(p);
  struct shunt_sight sight;
  shunt_cache_see(e->cache, &key, &sight);
  if (sight.kept) shunt_kept_release(e->cache, sight.kept, false);
  if (sight.study) shunt_kept_release(e->cache, sight.study, false);
  if (sight.profile_wanted)
    shunt_cache_profile(e->cache, &sight, shunt_problem_sparse(p), &e->device, stream);
}
