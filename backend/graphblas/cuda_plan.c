#include "backend/graphblas/cuda_plan.h"

#include "backend/graphblas/cuda_strip.h"

/* Narrower strips start and end the pipeline sooner; below 128 bytes a row of B costs the
   kernel as much as one of 128 (shared/limits.md), beyond 512 nothing is gained.  */
enum { NARROWEST_BYTES = 128, WIDEST_BYTES = 512, STRIPS_WANTED = 4, GRANULE_BYTES = 16 };

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
  return x < low ? low : x > high ? high : x;
}

/* Strips of about `most` columns, all alike but for the last, whole 16-byte pieces. */
static int64_t even_width(int64_t columns, int64_t most, int64_t granule)
{
  if (most >= columns) return columns;
  if (most < granule) most = granule;
  int64_t strips = (columns + most - 1) / most;
  int64_t width = (columns + strips - 1) / strips;
  width = (width + granule - 1) / granule * granule;
  return width <= most ? width : most / granule * granule;
}

static int64_t favourite_width(int64_t columns, int64_t size)
{
  int64_t bytes = clamp(columns * size / STRIPS_WANTED, NARROWEST_BYTES, WIDEST_BYTES);
  return even_width(columns, bytes / size, GRANULE_BYTES / size);
}

/* Lays the transient block out. */
static void lay_out(struct grb_cuda_plan *plan, const struct shunt_host_spmm *p,
                    const struct grb_cuda_wish *wish)
{
  const int64_t size = (int64_t)shunt_type_size(p->semiring.type);
  int64_t at = 0;
  plan->strips = (int)((plan->last - plan->first + plan->width - 1) / plan->width);
  plan->b_strip = grb_cuda_round(p->s.cols * plan->width * size);
  plan->c_strip = grb_cuda_round(p->s.rows * plan->width * size);
  bool b_streams = plan->b == GRB_CUDA_B_HOST;
  plan->b_ring = b_streams && (plan->b_turned || !plan->keep_b);
  plan->c_ring = plan->c_turned || !plan->keep_c;
  plan->b_ring_at = at;
  if (plan->b_ring) at += GRB_CUDA_RING_B * plan->b_strip;
  plan->c_ring_at = at;
  if (plan->c_ring) at += GRB_CUDA_RING_C * plan->c_strip;
  plan->b_scratch_at = at;
  if (plan->b == GRB_CUDA_B_CONSTANT || (b_streams && plan->b_turned && !plan->keep_b))
    at += plan->b_strip;
  plan->c_scratch_at = at;
  if (plan->c_turned && !plan->keep_c) at += plan->c_strip;
  plan->workspace_at = at;
  plan->block_bytes = at + grb_cuda_round((int64_t)wish->workspace(p, plan->width, wish->context));
}

static int64_t all_bytes(const struct grb_cuda_plan *plan)
{
  return plan->block_bytes + (plan->keep_b ? plan->strips * plan->b_strip : 0) +
         (plan->keep_c ? plan->strips * plan->c_strip : 0);
}

bool grb_cuda_plan_make(struct grb_cuda_plan *plan, const struct shunt_host_spmm *p,
                        const struct grb_cuda_wish *wish)
{
  const int64_t size = (int64_t)shunt_type_size(p->semiring.type);
  const int64_t granule = GRANULE_BYTES / size, columns = wish->last - wish->first;
  const bool can_keep_b = wish->may_keep_b && wish->b == GRB_CUDA_B_HOST;
  *plan = (struct grb_cuda_plan){.first = wish->first,
                                 .last = wish->last,
                                 .b = wish->b,
                                 .b_turned = grb_cuda_by_column(&p->b),
                                 .c_turned = grb_cuda_by_column(&p->c)};
  plan->width = wish->b == GRB_CUDA_B_KEPT ? wish->kept_width : favourite_width(columns, size);
  /* C before B: a chain of products needs its results again, and has read B for the last time. */
  for (int what = 3; what >= 0; what--) {
    plan->keep_c = what & 2;
    plan->keep_b = what & 1;
    if ((plan->keep_c && !wish->may_keep_c) || (plan->keep_b && !can_keep_b)) continue;
    lay_out(plan, p, wish);
    if (all_bytes(plan) <= wish->available) return true;
  }
  if (wish->b == GRB_CUDA_B_KEPT) return false;
  while (plan->width > granule) {
    plan->width =
        even_width(columns, plan->width / 2 > granule ? plan->width / 2 : granule, granule);
    lay_out(plan, p, wish);
    if (all_bytes(plan) <= wish->available) return true;
  }
  return false;
}
