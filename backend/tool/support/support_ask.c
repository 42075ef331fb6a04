/* support_ask.c: what the planner says to a call, on a GPU that need not be here. */
#include "backend/tool/support/support_ask.h"

#include "backend/plan/context.h"
#include "backend/plan/planner.h"
#include "backend/plan/product.h"
#include "backend/tool/inspect/inspect.h"

struct support_question support_ordinary(enum shunt_op op)
{
  return (struct support_question){.op = op,
                                   .format = CUSPARSE_FORMAT_CSR,
                                   .in = CUDA_R_32F,
                                   .out = CUDA_R_32F,
                                   .compute = CUDA_R_32F,
                                   .op_a = CUSPARSE_OPERATION_NON_TRANSPOSE,
                                   .op_b = CUSPARSE_OPERATION_NON_TRANSPOSE,
                                   .order = {CUSPARSE_ORDER_ROW, CUSPARSE_ORDER_ROW},
                                   .index = {CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I},
                                   .rows = 4096,
                                   .cols = 4096,
                                   .n = 128,
                                   .nnz = 4096 * 1024,
                                   .block = 8,
                                   .block_order = CUSPARSE_ORDER_ROW,
                                   .batches = 1};
}

/* Why no route takes p: the planner's own reason. */
static struct shunt_outcome reason_of(const struct shunt_problem *p, struct shunt_context *context)
{
  struct shunt_product x = {.problem = *p, .batches = 1};
  x.call = (struct shunt_call){.problem = &x.problem, .context = context};
  shunt_product_choose(&x, -1);
  return x.plan.why_none;
}

struct support_answer support_ask(const struct support_question *q, int gpu)
{
  const struct inspect_gpu *g = &inspect_gpus[gpu];
  struct shunt_context context = {.machine = {g->device, &shunt_costs_h200},
                                  .memory_bytes = g->memory_bytes};
  struct shunt_problem read, p;
  struct support_answer answer = {.why = support_read(q, &read)};
  if (answer.why.reason == SHUNT_FITS) answer.why = shunt_plan_settle(&read, &p);
  if (answer.why.reason != SHUNT_FITS) return answer;
  for (int i = 0; i < shunt_route_count(); i++)
    if (shunt_route_may_take(i, &p) && shunt_route_at(i)->fits(&p, &context).reason == SHUNT_FITS)
      answer.routes |= UINT32_C(1) << i;
  if (answer.routes == 0) answer.why = reason_of(&p, &context);
  return answer;
}
