#include "backend/graphblas/cuda_pipeline.h"

#include <sched.h>
#include <string.h>

#include "backend/graphblas/cuda_launch.h"
#include "backend/graphblas/cuda_tasks.h"
#include "backend/graphblas/cuda_units.h"
#include "backend/plan/cuda_call.h"

enum slot_state {
  SLOT_OWN,     /* its thread's: free, filled, or to be emptied */
  SLOT_POSTED,  /* waits to be enqueued; after a failure it becomes its thread's again */
  SLOT_ENQUEUED /* `done` says when the copy is over */
};

struct grb_cuda_slot {
  char *memory;
  cudaEvent_t done;
  const struct grb_cuda_task *task; /* what it is busy with; NULL: free */
  atomic_int state;
  struct grb_cuda_slot *next; /* posted after it */
};

/* ---- what all threads see -------------------------------------------------------------------- */

static bool failed(const struct grb_cuda_run *r)
{
  return atomic_load(&r->status) != SHUNT_OK;
}

static void wake(struct grb_cuda_run *r)
{
  pthread_mutex_lock(&r->lock);
  pthread_cond_broadcast(&r->launch);
  pthread_mutex_unlock(&r->lock);
}

static void fail(struct grb_cuda_run *r, shunt_status status)
{
  int none = SHUNT_OK;
  atomic_compare_exchange_strong(&r->status, &none, (int)status);
  wake(r);
}

static void post(struct grb_cuda_run *r, struct grb_cuda_slot *slot)
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
}

/* The slot that was posted first of those that are left; NULL: none is. */
static struct grb_cuda_slot *next_posted(struct grb_cuda_run *r)
{
  pthread_mutex_lock(&r->lock);
  struct grb_cuda_slot *slot = r->posted;
  if (slot && !(r->posted = slot->next)) r->posted_last = NULL;
  pthread_mutex_unlock(&r->lock);
  return slot;
}

static bool any_posted(struct grb_cuda_run *r)
{
  pthread_mutex_lock(&r->lock);
  bool any = r->posted != NULL;
  pthread_mutex_unlock(&r->lock);
  return any;
}

/* ---- products: `driver` is held -------------------------------------------------------------- */

static bool may_launch(const struct grb_cuda_run *r)
{
  const int unit = atomic_load(&r->launched), ring = r->plan.c_ring_blocks;
  return unit < r->units && r->s_left == 0 && r->b_ready >= grb_cuda_units_needed(r, unit) &&
         (!r->plan.c_ring || unit < ring || r->c_left[unit - ring] == 0);
}

static shunt_status advance(struct grb_cuda_run *r)
{
  shunt_status status = SHUNT_OK;
  const int before = atomic_load(&r->launched);
  while (r->b_ready < r->units && r->b_left[r->b_ready] == 0)
    r->b_ready++;
  while (status == SHUNT_OK && may_launch(r)) {
    status = grb_cuda_launch(r, atomic_load(&r->launched));
    if (status == SHUNT_OK) atomic_fetch_add(&r->launched, 1);
  }
  if (atomic_load(&r->launched) > before) wake(r);
  return status;
}

static bool launched(const struct grb_cuda_run *r, int unit)
{
  return atomic_load(&r->launched) > unit;
}

/* ---- up -------------------------------------------------------------------------------------- */

static size_t task_element(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  return t->what == GRB_CUDA_OFFSETS || t->what == GRB_CUDA_COLUMNS ? sizeof(int32_t)
                                                                    : grb_cuda_element(r);
}

static void read_piece(const struct grb_cuda_run *r, const struct grb_cuda_task *t, void *to)
{
  switch (t->what) {
  case GRB_CUDA_OFFSETS:
    memcpy(to, r->rows->offsets + t->first, (size_t)t->count * sizeof(int32_t));
    break;
  case GRB_CUDA_COLUMNS:
    grb_cuda_rows_columns(r->rows, t->first, t->count, to);
    break;
  case GRB_CUDA_VALUES:
    grb_cuda_rows_values(r->rows, t->first, t->count, to);
    break;
  default: {
    struct grb_cuda_strip strip = grb_cuda_host_strip(r, &r->p->b, grb_cuda_strip_of(r, t->unit));
    grb_cuda_strip_read(&strip, t->first, t->count, to);
  }
  }
}

static char *destination(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  char *base = t->what == GRB_CUDA_OFFSETS   ? (char *)r->s.offsets
               : t->what == GRB_CUDA_COLUMNS ? (char *)r->s.columns
               : t->what == GRB_CUDA_VALUES  ? (char *)r->s.values
                                             : grb_cuda_b_as_sent(r, grb_cuda_strip_of(r, t->unit));
  return base + t->first * (int64_t)task_element(r, t);
}

/* The last unit whose product reads what the task's place in the ring of B held before; negative:
   none.  */
static int last_reader(const struct grb_cuda_run *r, const struct grb_cuda_task *t)
{
  if (t->what != GRB_CUDA_DENSE_UP || !r->plan.b_ring) return -1;
  return (grb_cuda_strip_of(r, t->unit) - r->plan.b_ring_strips + 1) * r->plan.blocks - 1;
}

/* `driver` is held. */
static shunt_status enqueue_up(struct grb_cuda_run *r, struct grb_cuda_slot *slot)
{
  const struct grb_cuda_task *t = slot->task;
  cudaStream_t up = r->device->up;
  const bool of_b = t->what == GRB_CUDA_DENSE_UP;
  const int reader = last_reader(r, t);
  int64_t *left = of_b ? &r->b_left[t->unit] : &r->s_left;
  size_t bytes = (size_t)t->count * task_element(r, t);
  shunt_status s = SHUNT_OK;
  if (reader >= 0 && *left == grb_cuda_unit_pieces(r, true, t->unit))
    s = SHUNT_CUDA(cudaStreamWaitEvent(up, grb_cuda_computed(r, reader), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(
        cudaMemcpyAsync(destination(r, t), slot->memory, bytes, cudaMemcpyHostToDevice, up));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, up));
  if (s != SHUNT_OK) return s;
  atomic_fetch_add(&r->bytes_up, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(of_b ? grb_cuda_sent(r, t->unit) : grb_cuda_s_sent(r), up));
  return s == SHUNT_OK ? advance(r) : s;
}

/* ---- down ------------------------------------------------------------------------------------ */

/* `driver` is held. */
static shunt_status enqueue_down(struct grb_cuda_run *r, struct grb_cuda_slot *slot)
{
  const struct grb_cuda_task *t = slot->task;
  cudaStream_t down = r->device->down;
  int64_t *left = &r->c_left[t->unit];
  int64_t place = t->first - grb_cuda_unit_first(r, false, t->unit);
  size_t bytes = (size_t)t->count * grb_cuda_element(r);
  shunt_status s = SHUNT_OK;
  if (*left == grb_cuda_unit_pieces(r, false, t->unit))
    s = SHUNT_CUDA(cudaStreamWaitEvent(down, grb_cuda_computed(r, t->unit), 0));
  if (s == SHUNT_OK)
    s = SHUNT_CUDA(cudaMemcpyAsync(
        slot->memory, grb_cuda_c_as_fetched(r, t->unit) + place * (int64_t)grb_cuda_element(r),
        bytes, cudaMemcpyDeviceToHost, down));
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaEventRecord(slot->done, down));
  if (s != SHUNT_OK) return s;
  atomic_fetch_add(&r->bytes_down, bytes);
  if (--*left > 0) return SHUNT_OK;
  s = SHUNT_CUDA(cudaEventRecord(grb_cuda_fetched(r, t->unit), down));
  return s == SHUNT_OK ? advance(r) : s;
}

static void write_piece(struct grb_cuda_run *r, const struct grb_cuda_task *t, const void *from)
{
  struct grb_cuda_strip strip = grb_cuda_host_strip(r, &r->p->c, grb_cuda_strip_of(r, t->unit));
  if (r->p->accumulate)
    grb_cuda_strip_add(&strip, t->first, t->count, from);
  else
    grb_cuda_strip_write(&strip, t->first, t->count, from);
  r->committed[t - r->tasks] = 1;
}

/* ---- enqueueing ------------------------------------------------------------------------------ */

/* Enqueues what is posted, unless another thread is at it, which then sees this thread's slots,
   too: it looks once more after it has let go of `driver`.  */
static void drive(struct grb_cuda_run *r)
{
  while (any_posted(r) && pthread_mutex_trylock(&r->driver) == 0) {
    struct grb_cuda_slot *slot;
    while ((slot = next_posted(r))) {
      shunt_status s = SHUNT_OK;
      if (!failed(r))
        s = slot->task->what == GRB_CUDA_DENSE_DOWN ? enqueue_down(r, slot) : enqueue_up(r, slot);
      if (s != SHUNT_OK) fail(r, s);
      atomic_store(&slot->state, failed(r) ? SLOT_OWN : SLOT_ENQUEUED);
    }
    pthread_mutex_unlock(&r->driver);
  }
}

/* ---- threads --------------------------------------------------------------------------------- */

/* A thread's slots, taken in turns. */
struct hands {
  struct grb_cuda_slot slot[GRB_CUDA_SLOTS];
  unsigned next;
  bool down; /* rather takes pieces of C */
};

/* Until nobody else looks at the slot. */
static void await_enqueued(struct grb_cuda_run *r, struct grb_cuda_slot *slot)
{
  for (drive(r); atomic_load(&slot->state) == SLOT_POSTED; drive(r))
    sched_yield();
}

/* Waits for the copy that the slot is busy with; what came down goes where it belongs. */
static shunt_status free_slot(struct grb_cuda_run *r, struct grb_cuda_slot *slot)
{
  const struct grb_cuda_task *t = slot->task;
  shunt_status s = SHUNT_OK;
  if (!t) return SHUNT_OK;
  await_enqueued(r, slot);
  const bool enqueued = atomic_exchange(&slot->state, SLOT_OWN) == SLOT_ENQUEUED;
  slot->task = NULL;
  if (enqueued) s = SHUNT_CUDA(cudaEventSynchronize(slot->done));
  if (enqueued && s == SHUNT_OK && t->what == GRB_CUDA_DENSE_DOWN) write_piece(r, t, slot->memory);
  return s;
}

/* The slot that was filled first, of those that hold a piece of C; NULL: none does. */
static struct grb_cuda_slot *oldest_down(struct hands *h)
{
  for (unsigned i = 0; i < GRB_CUDA_SLOTS; i++) {
    struct grb_cuda_slot *slot = &h->slot[(h->next + i) % GRB_CUDA_SLOTS];
    if (slot->task && slot->task->what == GRB_CUDA_DENSE_DOWN) return slot;
  }
  return NULL;
}

static bool up_is_ready(const struct grb_cuda_run *r)
{
  return r->next_up < r->up_count && launched(r, last_reader(r, &r->tasks[r->next_up]));
}

static bool down_is_ready(const struct grb_cuda_run *r)
{
  return r->next_down < r->task_count && launched(r, r->tasks[r->next_down].unit);
}

/* The next task; NULL when there is none, or none ready and a slot to be emptied meanwhile. */
static const struct grb_cuda_task *take(struct grb_cuda_run *r, struct hands *h)
{
  const struct grb_cuda_task *t = NULL;
  pthread_mutex_lock(&r->lock);
  while (!failed(r) && (r->next_up < r->up_count || r->next_down < r->task_count)) {
    const bool up = up_is_ready(r), down = down_is_ready(r);
    if (down && (h->down || !up))
      t = &r->tasks[r->next_down++];
    else if (up)
      t = &r->tasks[r->next_up++];
    if (t || oldest_down(h)) break;
    pthread_cond_wait(&r->launch, &r->lock);
  }
  pthread_mutex_unlock(&r->lock);
  return t;
}

static shunt_status take_tasks(struct grb_cuda_run *r, struct hands *h)
{
  shunt_status s = SHUNT_OK;
  while (s == SHUNT_OK && !failed(r)) {
    const struct grb_cuda_task *t = take(r, h);
    struct grb_cuda_slot *slot = t ? &h->slot[h->next % GRB_CUDA_SLOTS] : oldest_down(h);
    if (!slot) break;
    s = free_slot(r, slot);
    if (!t || s != SHUNT_OK) continue;
    h->next++;
    if (t->what != GRB_CUDA_DENSE_DOWN) read_piece(r, t, slot->memory);
    slot->task = t;
    post(r, slot);
    drive(r);
  }
  return s;
}

/* Nobody is to look at the slots any more, and the next device's part uses the same memory. */
static void let_go_of_slots(struct grb_cuda_run *r, struct hands *h)
{
  for (int i = 0; i < GRB_CUDA_SLOTS; i++) {
    if (!h->slot[i].task) continue;
    await_enqueued(r, &h->slot[i]);
    if (atomic_load(&h->slot[i].state) == SLOT_ENQUEUED) cudaEventSynchronize(h->slot[i].done);
  }
  if (!failed(r)) return;
  cudaStreamSynchronize(r->device->up);
  cudaStreamSynchronize(r->device->down);
}

void grb_cuda_run_work(struct grb_cuda_run *r, int number, char *lane, bool down)
{
  CUcontext before;
  struct hands h = {.down = down};
  shunt_status s = grb_cuda_enter(r->device, &before);
  if (s == SHUNT_OK) {
    for (int i = 0; i < GRB_CUDA_SLOTS; i++) {
      h.slot[i].memory = lane + (int64_t)i * GRB_CUDA_SLOT_BYTES;
      h.slot[i].done = r->device->slot_done[number][i];
    }
    s = take_tasks(r, &h);
    if (s != SHUNT_OK) fail(r, s);
    let_go_of_slots(r, &h);
    grb_cuda_leave(before);
  } else {
    fail(r, s);
  }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void make_locks(struct grb_cuda_run *r)
{
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  /* It is held for less than a microsecond, which is no time to sleep. */
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(&r->lock, &kind);
  pthread_mutex_init(&r->driver, NULL);
  pthread_mutexattr_destroy(&kind);
  pthread_cond_init(&r->launch, NULL);
}

shunt_status grb_cuda_run_make(struct grb_cuda_run *r)
{
  r->b_ready = r->b_awaited = 0;
  atomic_init(&r->launched, 0);
  atomic_init(&r->status, SHUNT_OK);
  atomic_init(&r->bytes_up, 0);
  atomic_init(&r->bytes_down, 0);
  make_locks(r);
  r->posted = r->posted_last = NULL;
  shunt_status s = grb_cuda_tasks_make(r);
  r->next_up = 0;
  r->next_down = r->up_count;
  if (s == SHUNT_OK) s = grb_cuda_events(r->device, grb_cuda_event_count(r));
  /* What was allocated in order of this stream is used on others, too. */
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(r->device->compute));
  if (s != SHUNT_OK) return s;
  pthread_mutex_lock(&r->driver);
  s = advance(r); /* everything may be there already */
  pthread_mutex_unlock(&r->driver);
  return s;
}

shunt_status grb_cuda_run_finish(struct grb_cuda_run *r)
{
  cudaStream_t stream[] = {r->device->up, r->device->compute, r->device->down};
  shunt_status s = (shunt_status)atomic_load(&r->status);
  for (int i = 0; i < 3; i++) {
    cudaError_t e = cudaStreamSynchronize(stream[i]);
    if (s == SHUNT_OK) s = shunt_from_cuda(e);
  }
  return s;
}

void grb_cuda_run_free(struct grb_cuda_run *r)
{
  grb_cuda_tasks_free(r);
  pthread_mutex_destroy(&r->lock);
  pthread_mutex_destroy(&r->driver);
  pthread_cond_destroy(&r->launch);
}
