#include "backend/plan/planner.h"

#include <math.h>

#include "backend/options/options.h"
#include "backend/plan/batches.h"
#include "backend/plan/context.h"
#include "backend/plan/product.h"
#include "backend/plan/tune/tune.h"
#include "kernels/common/alignment.h"

/* Strided batches are run one by one, up to so many. */
enum { MOST_IN_TURN = 16 };

/* Asked for where an extended problem needs no workspace: that there is one tells the later calls
   that bufferSize was asked, and that the original has refused.  */
enum { EXTENDED_ROOM = 512 };

/* ---- what is planned ------------------------------------------------------------- */

/* As routes see it: 'H' is left only where values have an imaginary part. */
static char operation_of(const struct shunt_problem *p)
{
  if (!shunt_problem_transposed(p)) return 'N';
  return p->op_a == 'H' && shunt_type_is_complex(p->spmm.a.value_type) ? 'H' : 'T';
}

struct shunt_outcome shunt_plan_settle(const struct shunt_problem *p, struct shunt_problem *out)
{
  struct shunt_outcome v = shunt_problem_check(p);
  if (v.reason != SHUNT_FITS) return v;
  if (p->batches == 1 || !shunt_batches_join(p, out)) *out = *p;
  if (!shunt_problem_in_blocks(p)) out->format = SHUNT_CSR;
  if (p->op == SHUNT_SPMM) out->op_a = operation_of(p);
  SHUNT_DECLINE_IF(out->batches > MOST_IN_TURN, SHUNT_R_BATCHED);
  return v;
}

/* ---- COO: the offsets are made in the workspace, the rest is shared -------------- */

static size_t coo_bytes(const struct shunt_problem *p)
{
  if (p->format != SHUNT_COO) return 0;
  return shunt_align_up((size_t)(p->spmm.a.rows + 1) * shunt_type_size(p->spmm.a.index_type), 256);
}

/* ---- workspace --------------------------------------------------------------------- */

/* Which way a deterministic problem goes must not depend on what else the device holds. */
static bool may_ask(struct shunt_context *context, const struct shunt_problem *asked, size_t bytes,
                    bool may_read)
{
  return asked->deterministic || !may_read ||
         shunt_workspace_limit_allows(&context->workspace_limit, coo_bytes(asked) + bytes);
}

size_t shunt_plan_ask(const struct shunt_problem *asked, cudaStream_t stream,
                      const char *library_path, bool *whole)
{
  struct shunt_problem settled;
  const struct shunt_problem *p = &settled;
  *whole = true;
  if (shunt_plan_settle(asked, &settled).reason != SHUNT_FITS || shunt_options()->routes == 0)
    return 0;
  struct shunt_context *context = shunt_context_find();
  bool free_to_make = !shunt_capture_of(stream).active;
  if (!context && free_to_make) context = shunt_context_make();
  *whole = context != NULL;
  if (!context) return 0;
  size_t most = 0;
  bool any = false;
  if (free_to_make) shunt_cache_reserve(context->cache);
  for (int i = 0; i < shunt_route_count(); i++) {
    const struct shunt_route *r = shunt_route_at(i);
    if (!shunt_route_may_take(i, p) || r->fits(p, context).reason != SHUNT_FITS) continue;
    if (r->wants_gemm) shunt_context_know_library(context, library_path);
    if (r->wants_gemm && free_to_make && shunt_routes_forced())
      shunt_context_initialize(context, shunt_library_bit(p));
    size_t bytes = r->workspace(p, context);
    any = true;
    if (bytes <= most) continue;
    if (!may_ask(context, asked, bytes, free_to_make)) {
      *whole = false;
      bytes = r->least_workspace ? r->least_workspace(p, context) : bytes;
      if (bytes <= most || !may_ask(context, asked, bytes, free_to_make)) continue;
    }
    most = bytes;
  }
  if (p->extended && most < EXTENDED_ROOM) most = EXTENDED_ROOM;
  return any ? coo_bytes(asked) + most : 0;
}

/* ---- running ----------------------------------------------------------------------- */

/* Is C's old content of no account?  Then whatever was written can be written again. */
static bool overwrites(const struct shunt_problem *p)
{
  const struct shunt_scalar *beta = p->op == SHUNT_SPMM ? &p->spmm.beta : &p->sddmm.beta;
  return shunt_scalar_is_zero(beta);
}

/* Can one of the chosen routes run whatever another library says to the addresses of a
   later batch?  */
static bool sure(const struct shunt_plan *plan)
{
  for (int i = 0; i < plan->count; i++)
    if (!plan->candidate[i].route->wants_gemm) return true;
  return false;
}

/* Plans each batch that has a matrix of its own: x[0 .. *planned).  All batches or none: nothing is
   enqueued before each has a route; and where the original could not start over, one that is
   sure.  */
static struct shunt_outcome plan_batches(const struct shunt_problem *p,
                                         const struct shunt_call *call, int only, int matrices,
                                         struct shunt_product *x, int *planned)
{
  SHUNT_DECLINE_IF(p->row_indices && !call->workspace, SHUNT_R_WORKSPACE);
  for (int i = 0; i < matrices; i++) {
    const struct shunt_plan *plan = &x[i].plan;
    shunt_product_plan(&x[i], p, i, call, only);
    *planned = i + 1;
    if (p->batches == 1) continue; /* shunt_product_run says what there is to say */
    SHUNT_DECLINE_IF(!overwrites(p) && plan->count > 0 && !sure(plan), SHUNT_R_BATCHED);
    if (plan->count == 0) return plan->why_none;
  }
  return SHUNT_OUTCOME(SHUNT_FITS);
}

/* What is asked whatever the routes say; fills *settled, which is p as they see it, and *call. */
static struct shunt_outcome begin_call(const struct shunt_problem *p, void *workspace,
                                       size_t workspace_bytes, cudaStream_t stream,
                                       struct shunt_problem *settled, struct shunt_call *call)
{
  const struct shunt_outcome v = shunt_plan_settle(p, settled);
  if (v.reason != SHUNT_FITS) return v;
  const struct shunt_scalar *alpha = p->op == SHUNT_SPMM ? &p->spmm.alpha : &p->sddmm.alpha;
  const bool known =
      !shunt_scalar_is_zero(alpha) && isfinite(alpha->host) && isfinite(alpha->imaginary);
  SHUNT_DECLINE_IF(!p->extended && !known, SHUNT_R_ALPHA);
  SHUNT_DECLINE_IF(shunt_options()->routes == 0, SHUNT_R_DISABLED);
  SHUNT_DECLINE_IF(p->extended && !workspace, SHUNT_R_WORKSPACE);
  struct shunt_context *context = shunt_context_find();
  SHUNT_DECLINE_IF(!context, SHUNT_R_DEVICE);
  const struct shunt_capture capture = shunt_capture_of(stream);
  SHUNT_DECLINE_IF(capture.broken, SHUNT_R_CAPTURE);

  const size_t coo = coo_bytes(p);
  *call = (struct shunt_call){.context = context, .stream = stream, .capturing = capture.active};
  if (workspace && workspace_bytes >= coo) {
    call->workspace = (char *)workspace + coo;
    call->workspace_bytes = workspace_bytes - coo;
  }
  if (p->format == SHUNT_COO) {
    settled->spmm.a.row_offsets = workspace;
    settled->strides.offsets = 0; /* each batch's are made in the same place */
  }
  return v;
}

/* One product is one batch. */
struct shunt_answer shunt_plan_run_by(const struct shunt_problem *p, int only, void *workspace,
                                      size_t workspace_bytes, cudaStream_t stream)
{
  struct shunt_problem settled;
  struct shunt_call call;
  if (only == SHUNT_BEST_ROUTE && !p->deterministic) only = shunt_tune_find(p);
  if (only == SHUNT_TUNE_ORIGINAL) return shunt_declined(SHUNT_OUTCOME(SHUNT_R_SLOWER));
  const struct shunt_outcome v = begin_call(p, workspace, workspace_bytes, stream, &settled, &call);
  if (v.reason != SHUNT_FITS) return shunt_declined(v);
  const bool one_matrix = settled.batches == 1 || shunt_batches_share_a(&settled);
  const int matrices = one_matrix ? 1 : settled.batches;
  struct shunt_product x[matrices]; /* MOST_IN_TURN at the most, and rarely more than one */
  int planned = 0, done = 0;
  double us = 0, saved_us = 0;
  const struct shunt_outcome whole = plan_batches(&settled, &call, only, matrices, x, &planned);
  struct shunt_answer answer = shunt_declined(whole);
  for (; done < settled.batches && answer.why.reason == SHUNT_FITS; done++) {
    struct shunt_product *mine = &x[one_matrix ? 0 : done];
    if (settled.batches > 1) shunt_batch_move(&settled, done, &mine->problem);
    answer = shunt_product_run(mine);
    us += answer.us;
    saved_us += answer.saved_us;
  }
  if (answer.why.reason == SHUNT_FITS) {
    answer.us = us;
    answer.saved_us = saved_us;
  } else if (done > 1 && !overwrites(p))
    answer.written = true; /* by the batches before the one that failed */
  while (planned > 0) shunt_product_leave(&x[--planned]);
  if (answer.why.reason != SHUNT_FITS) shunt_lazy_original_ran(&call.context->lazy);
  return answer;
}

void shunt_plan_prepare(const struct shunt_problem *p, cudaStream_t stream)
{
  struct shunt_context *context = shunt_context_find();
  if (!context || p->format == SHUNT_COO || shunt_problem_in_blocks(p) || p->batches != 1) return;
  if (shunt_product_is_brief(p)) return;
  if (shunt_problem_check(p).reason != SHUNT_FITS || shunt_capture_of(stream).active) return;
  const struct shunt_key key = shunt_key_of(p);
  const struct shunt_csr *a = shunt_problem_sparse(p);
  shunt_context_initialize(context, shunt_lazy_bit(SHUNT_LAZY_COPIES)); /* many calls are to come */
  struct shunt_lookup l;
  shunt_cache_look_up(context->cache, &key, &l);
  shunt_lookup_release(context->cache, &l);
  if (l.study) shunt_cache_packed_release(context->cache, l.study, false);
  if (p->deterministic)
    shunt_cache_settle(context->cache, &l, p->pattern_epoch, a, &context->device, stream);
  else if (l.profile_wanted)
    shunt_cache_profile(context->cache, &l, a, &context->device, stream);
}
