#include "backend/graphblas/gpu/pipeline/enqueue.h"

#include "backend/graphblas/gpu/launch.h"
#include "backend/graphblas/gpu/pipeline/tasks.h"
#include "backend/graphblas/gpu/pipeline/units.h"
#include "backend/graphblas/gpu/proof.h"
#include "backend/plan/cuda_call.h"

bool grb_gpu_failed(const struct grb_gpu_run *r)
{
  return atomic_load(&r->status) != SHUNT_OK;
}

void grb_gpu_fail(struct grb_gpu_run *r, shunt_status status)
{
  int none = SHUNT_OK;
  atomic_compare_exchange_strong(&r->status, &none, (int)status);
}

/* ---- what is ready --------------------------------------------------------------------------- */

/* The last unit whose product reads what the task's place in the ring of B held before; negative:
   none.  */
static int last_reader(const struct grb_gpu_run *r, const struct grb_gpu_task *t)
{
  if (t->what != GRB_GPU_DENSE_UP || !r->cut.b_ring) return -1;
  return (grb_gpu_strip_of(r, t->unit) - r->cut.b_ring_strips + 1) * r->cut.blocks - 1;
}

bool grb_gpu_task_ready(const struct grb_gpu_run *r, const struct grb_gpu_task *t)
{
  return atomic_load(&r->launched) > (t->what == GRB_GPU_DENSE_DOWN ? t->unit : last_reader(r, t));
}

/* ---- products: `driver` is held -------------------------------------------------------------- */

static bool may_launch(const struct grb_gpu_run *r)
{
  const int unit = atomic_load(&r->launched), ring = r->cut.c_ring_blocks;
  return unit < r->units && r->s_left == 0 && r->b_ready >= grb_gpu_units_needed(r, unit) &&
         (!r->cut.c_ring || unit < ring || r->c_left[unit - ring] == 0);
}

shunt_status grb_gpu_advance(struct grb_gpu_run *r)
{
  shunt_status status = SHUNT_OK;
  while (r->b_ready < r->units && r->b_left[r->b_ready] == 0) r->b_ready++;
  while (status == SHUNT_OK && may_launch(r)) {
    status = grb_gpu_launch(r, atomic_load(&r->launched));
    if (status == SHUNT_OK) atomic_fetch_add(&r->launched, 1);
  }
  return status;
}

/* ---- up -------------------------------------------------------------------------------------- */

static size_t task_element(const struct grb_gpu_run *r, const struct grb_gpu_task *t)
{
  return t->what == GRB_GPU_OFFSETS || t->what == GRB_GPU_COLUMNS ? sizeof(int32_t)
                                                                  : grb_gpu_element(r);
}

static char *destination(const struct grb_gpu_run *r, const struct grb_gpu_task *t)
{
  char *base = t->what == GRB_GPU_OFFSETS   ? (char *)r->s.offsets
               : t->what == GRB_GPU_COLUMNS ? (char *)r->s.columns
               : t->what == GRB_GPU_VALUES  ? (char *)r->s.values
                                            : grb_gpu_b_as_sent(r, grb_gpu_strip_of(r, t->unit));
  return base + t->first * (int64_t)task_element(r, t);
}

/* Where a piece is, or comes, in host memory. */
static char *host_side(const struct grb_gpu_run *r, const struct grb_gpu_slot *slot)
{
  const struct grb_gpu_task *t = slot->task;
  char *pinned = grb_gpu_task_pinned(r, t);
  return pinned ? pinned + t->first * (int64_t)grb_gpu_element(r) : slot->memory;
}

/* `driver` is held. */
static shunt_status enqueue_up(struct grb_gpu_run *r, struct grb_gpu_slot *slot)
{
  const struct grb_gpu_task *t = slot->task;
  cudaStream_t up = r->device->up;
  const bool of_b = t->what == GRB_GPU_DENSE_UP;
  const int reader = last_reader(r, t);
  int64_t *left = of_b ? &r->b_left[t->unit] : &r->s_left;
  size_t bytes = (size_t)t->count * task_element(r, t);
  shunt_status s = SHUNT_OK;
  if (reader >= 0 && *left == grb_gpu_unit_pieces(r, true, t->unit))
    s = SHUNT_CUDA(cudaStreamWaitEvent(up, grb_gpu_computed(r, reader), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(
        cudaMemcpyAsync(destination(r, t), host_side(r, slot), bytes, cudaMemcpyHostToDevice, up));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, up));
  if (s != SHUNT_OK) return s;
  atomic_fetch_add(&r->bytes_up, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(of_b ? grb_gpu_sent(r, t->unit) : grb_gpu_s_sent(r), up));
  if (s == SHUNT_OK) s = grb_gpu_advance(r);
  if (s == SHUNT_OK && of_b && r->b_pinned && r->b_ready == r->units) s = grb_gpu_proof_fetch_b(r);
  return s;
}

/* ---- down ------------------------------------------------------------------------------------ */

/* `driver` is held. */
static shunt_status enqueue_down(struct grb_gpu_run *r, struct grb_gpu_slot *slot)
{
  const struct grb_gpu_task *t = slot->task;
  cudaStream_t down = r->device->down;
  int64_t *left = &r->c_left[t->unit];
  int64_t place = t->first - grb_gpu_unit_first(r, false, t->unit);
  size_t bytes = (size_t)t->count * grb_gpu_element(r);
  shunt_status s = SHUNT_OK;
  if (*left == grb_gpu_unit_pieces(r, false, t->unit))
    s = SHUNT_CUDA(cudaStreamWaitEvent(down, grb_gpu_computed(r, t->unit), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync(
        host_side(r, slot), grb_gpu_c_as_fetched(r, t->unit) + place * (int64_t)grb_gpu_element(r),
        bytes, cudaMemcpyDeviceToHost, down));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, down));
  if (s != SHUNT_OK) return s;
  atomic_fetch_add(&r->bytes_down, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(grb_gpu_fetched(r, t->unit), down));
  return s == SHUNT_OK ? grb_gpu_advance(r) : s;
}

/* ---- posting --------------------------------------------------------------------------------- */

/* The slot that was posted first of those that are left; NULL: none is. */
static struct grb_gpu_slot *next_posted(struct grb_gpu_run *r)
{
  pthread_mutex_lock(&r->lock);
  struct grb_gpu_slot *slot = r->posted;
  if (slot && !(r->posted = slot->next)) r->posted_last = NULL;
  pthread_mutex_unlock(&r->lock);
  return slot;
}

static bool any_posted(struct grb_gpu_run *r)
{
  pthread_mutex_lock(&r->lock);
  bool any = r->posted != NULL;
  pthread_mutex_unlock(&r->lock);
  return any;
}

/* Unless another thread is at it, which then sees this thread's slots, too: it looks once more
   after it has let go of `driver`.  */
static void drive(struct grb_gpu_run *r)
{
  while (any_posted(r) && pthread_mutex_trylock(&r->driver) == 0) {
    struct grb_gpu_slot *slot;
    while ((slot = next_posted(r))) {
      shunt_status s = SHUNT_OK;
      if (!grb_gpu_failed(r))
        s = slot->task->what == GRB_GPU_DENSE_DOWN ? enqueue_down(r, slot) : enqueue_up(r, slot);
      if (s != SHUNT_OK) grb_gpu_fail(r, s);
      atomic_store(&slot->state, grb_gpu_failed(r) ? SLOT_OWN : SLOT_ENQUEUED);
    }
    pthread_mutex_unlock(&r->driver);
  }
}

void grb_gpu_post(struct grb_gpu_run *r, struct grb_gpu_slot *slot)
{
  slot->next = NULL;
  atomic_store(&slot->state, SLOT_POSTED);
  pthread_mutex_lock(&r->lock);
  if (r->posted_last)
    r->posted_last->next = slot;
  else
    r->posted = slot;
  r->posted_last = slot;
  pthread_mutex_unlock(&r->lock);
  drive(r);
}
