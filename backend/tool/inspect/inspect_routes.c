/* inspect_routes.c: which route would take a product with this matrix, and in what time: the
   planner's own choice (backend/plan/choice.c) on a GPU that need not be here.

   Nothing is launched: the routes are asked what they expect, with a context that has a device's
   figures and no device.  Where they only ask whether there is something (a workspace, cuBLAS, an
   order of the rows), they get an address that is never followed.  */
#include <inttypes.h>
#include <string.h>

#include "backend/options/options.h"
#include "backend/plan/context.h"
#include "backend/plan/memory/device_memory.h"
#include "backend/plan/product.h"
#include "backend/plan/tune/tune_machine.h"
#include "backend/routes/cost/costs.h"
#include "backend/tool/inspect/inspect.h"

/* One GPU of each compute capability that Shunt has code for.  Routes that were not timed on it are
   marked: their times are another GPU's, carried over (backend/costs).  */
const struct inspect_gpu inspect_gpus[INSPECT_GPUS] = {
    {"h200", "H200", "NVIDIA H200", {132, 90, 227 << 10, 60 << 20}, (int64_t)141 << 30},
    {"h100", "H100", "NVIDIA H100 80GB HBM3", {132, 90, 227 << 10, 50 << 20}, (int64_t)80 << 30},
    {"a100", "A100", NULL, {108, 80, 163 << 10, 40 << 20}, (int64_t)80 << 30},
    {"a40", "A40", NULL, {84, 86, 99 << 10, 6 << 20}, (int64_t)48 << 30},
    {"l40s", "L40S", NULL, {142, 89, 99 << 10, 96 << 20}, (int64_t)48 << 30},
    {"b200", "B200", NULL, {148, 100, 227 << 10, 126 << 20}, (int64_t)180 << 30},
    {"rtx5090", "RTX5090", NULL, {170, 120, 99 << 10, 96 << 20}, (int64_t)32 << 30}};
const char *const inspect_gpu_words[INSPECT_GPUS + 1] = {"h200", "h100", "a100",    "a40",
                                                         "l40s", "b200", "rtx5090", NULL};

static _Alignas(256) char something[256];
static char costs[INSPECT_GPUS][SHUNT_COSTS_TEXT];

static bool make_problem(const struct inspect_question *q, struct shunt_problem *p)
{
  const struct shunt_csr *a = q->a;
  const bool wide = a->rows > INT32_MAX || a->cols > INT32_MAX || a->nnz > INT32_MAX;
  const bool half = strcmp(q->type, "f16") == 0 || strcmp(q->type, "bf16") == 0;
  const char *out = strcmp(q->type, "i8") == 0 ? "i32" : q->type; /* of C */
  const char *compute = half ? "f32" : out;
  char text[SHUNT_PROBLEM_TEXT];
  snprintf(text, sizeof text,
           "spmm:csr:%s.%s.%s.%s:%sb0:m%" PRId64 "n%" PRId64 "k%" PRId64 "z%" PRId64
           ":NN:rr:ld%" PRId64 ".%" PRId64 ":a1b0:alg0",
           q->type, q->type, out, compute, wide ? "i64" : "i32", a->rows, q->n, a->cols, a->nnz,
           q->n, q->n);
  return shunt_problem_parse(text, p) == SHUNT_OK;
}

/* Times of cuBLAS were fitted for these (dense_cost.c). */
static bool gemm_is_known(shunt_type t)
{
  return t == SHUNT_F16 || t == SHUNT_BF16 || t == SHUNT_F32 || t == SHUNT_F64;
}

/* The matrix is known, and would be packed now; with q->order, its rows in that order. */
static void know_matrix(const struct inspect_question *q, const struct shunt_profile *f,
                        struct shunt_lookup *l, struct shunt_packed_view *study)
{
  l->calls = 2;
  l->pack_wise = true;
  l->has_profile = true;
  l->profile = *f;
  if (!q->order) return;
  l->has_study = true;
  memcpy(l->studied, q->order, sizeof *q->order);
  l->study = (struct shunt_cache_packed *)(void *)something;
  study->payload = something;
}

/* The calibrated table, or the user's, where the GPU is the one at hand.  True: one of those. */
static bool know_costs(const struct inspect_gpu *gpu, struct shunt_cost_table *t)
{
  char name[64], signature[SHUNT_SIGNATURE];
  const bool here = gpu->driver_name && shunt_device_name(0, name, sizeof name) &&
                    strcmp(name, gpu->driver_name) == 0 && shunt_machine_signature(0, signature);
  const struct shunt_costs_here known = {.gpu = gpu->driver_name ? gpu->driver_name : gpu->name,
                                         .multiprocessors = gpu->device.multiprocessors,
                                         .signature = here ? signature : NULL,
                                         .named = here ? shunt_options()->costs : NULL};
  struct shunt_cost_table built_in;
  shunt_costs_choose(known.gpu, known.multiprocessors, &built_in);
  shunt_costs_find(&known, t);
  return strcmp(t->from, built_in.from) != 0;
}

bool inspect_estimate(const struct inspect_question *q, struct inspect_estimate *out)
{
  const struct inspect_gpu *gpu = &inspect_gpus[q->gpu];
  struct shunt_context context = {.device = gpu->device, .memory_bytes = gpu->memory_bytes};
  struct shunt_product x = {.batches = 1};
  const bool users = know_costs(gpu, &context.costs);
  context.machine.costs = &context.costs;
  shunt_costs_describe(&context.costs, costs[q->gpu]);
  context.gemm = (struct shunt_cublaslt *)(void *)something;
  atomic_store(&context.lazy.ready, ~0u); /* as of a program that has run for a while */
  if (!make_problem(q, &x.problem)) return false;
  const struct shunt_spmm *s = &x.problem.spmm;
  const struct shunt_profile *f = shunt_type_size(s->a.value_type) == 2 ? q->half : q->profile;
  know_matrix(q, f, &x.lookup, &x.study);
  x.call = (struct shunt_call){.problem = &x.problem,
                               .context = &context,
                               .profile = f,
                               .workspace = something,
                               .workspace_bytes = (size_t)1 << 40};
  shunt_product_choose(&x, -1);
  const bool taken = x.plan.count > 0;
  const char *route = taken ? x.plan.candidate[0].route->name : "original";
  const double cells = (double)s->a.rows * (double)s->a.cols;
  *out = (struct inspect_estimate){
      .gpu = gpu->name,
      .type = q->type,
      .costs = costs[q->gpu],
      .cusparse = context.costs.cusparse[0],
      .n = q->n,
      .route = route,
      .why = taken ? "" : shunt_reason_sentence(x.plan.why_none.reason),
      .us = taken ? x.plan.candidate[0].us : x.plan.original_us,
      .original_us = x.plan.original_us,
      .scaled = !users && !shunt_costs_are_measured(gpu->driver_name, route),
      .gemm_us = cells > 4e9 || !gemm_is_known(s->b.type)
                     ? 0
                     : shunt_cost_gemm((double)s->c.rows, (double)s->c.cols, (double)s->b.rows,
                                       s->b.type, SHUNT_MATH_EXACT, &context.machine)};
  return true;
}
