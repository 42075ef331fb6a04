#include "backend/graphblas/gpu/pipeline/pipeline.h"

#include <sched.h>
#include <string.h>

#include "backend/graphblas/gpu/pipeline/enqueue.h"
#include "backend/graphblas/gpu/pipeline/tasks.h"
#include "backend/graphblas/gpu/pipeline/units.h"
#include "backend/plan/cuda_call.h"

/* ---- pieces in host memory ------------------------------------------------------------------- */

static void read_piece(const struct grb_gpu_run *r, const struct grb_gpu_task *t, void *to)
{
  switch (t->what) {
  case GRB_GPU_OFFSETS:
    memcpy(to, r->rows->offsets + t->first, (size_t)t->count * sizeof(int32_t));
    break;
  case GRB_GPU_COLUMNS: grb_gpu_rows_columns(r->rows, t->first, t->count, to); break;
  case GRB_GPU_VALUES: grb_gpu_rows_values(r->rows, t->first, t->count, to); break;
  default: {
    struct grb_gpu_strip strip = grb_gpu_host_strip(r, &r->p->b, grb_gpu_strip_of(r, t->unit));
    grb_gpu_strip_read(&strip, t->first, t->count, to);
  }
  }
}

static void write_piece(struct grb_gpu_run *r, const struct grb_gpu_task *t, const void *from)
{
  struct grb_gpu_strip strip = grb_gpu_host_strip(r, &r->p->c, grb_gpu_strip_of(r, t->unit));
  if (r->p->accumulate)
    grb_gpu_strip_add(&strip, t->first, t->count, from);
  else if (!r->c_pinned)
    grb_gpu_strip_write(&strip, t->first, t->count, from);
  r->committed[t - r->tasks] = 1;
}

/* ---- threads --------------------------------------------------------------------------------- */

/* With one for B a thread that writes C leaves the bus without B. */
enum { UP_SLOTS = 2, DOWN_SLOTS = GRB_GPU_SLOTS - UP_SLOTS };

/* A thread's slots for one way: used in turns, so that the oldest is the next one. */
struct ring {
  struct grb_gpu_slot *slot;
  unsigned count, next;
};

struct hands {
  struct grb_gpu_slot slot[GRB_GPU_SLOTS];
  struct ring up, down;
};

static struct grb_gpu_slot *oldest(const struct ring *ring)
{
  return &ring->slot[ring->next % ring->count];
}

/* NULL: none is busy. */
static struct grb_gpu_slot *oldest_busy(const struct ring *ring)
{
  for (unsigned i = 0; i < ring->count; i++) {
    struct grb_gpu_slot *slot = &ring->slot[(ring->next + i) % ring->count];
    if (slot->task) return slot;
  }
  return NULL;
}

/* The first task that is left, if it is ready; NULL: none is. */
static const struct grb_gpu_task *take(const struct grb_gpu_run *r, atomic_int_fast64_t *next,
                                       int64_t end)
{
  int_fast64_t i = atomic_load(next);
  while (i < end && grb_gpu_task_ready(r, &r->tasks[i]))
    if (atomic_compare_exchange_weak(next, &i, i + 1)) return &r->tasks[i];
  return NULL;
}

/* Is the copy over?  Does not wait. */
static bool is_over(struct grb_gpu_run *r, struct grb_gpu_slot *slot)
{
  if (atomic_load(&slot->state) != SLOT_ENQUEUED) return false;
  const cudaError_t e = cudaEventQuery(slot->done);
  if (e == cudaErrorNotReady) return false;
  const shunt_status s = SHUNT_CUDA(e);
  if (s != SHUNT_OK) grb_gpu_fail(r, s);
  atomic_store(&slot->state, SLOT_OWN);
  return s == SHUNT_OK;
}

static void post(struct grb_gpu_run *r, struct ring *ring, const struct grb_gpu_task *t)
{
  struct grb_gpu_slot *slot = oldest(ring);
  slot->task = t;
  ring->next++;
  grb_gpu_post(r, slot);
}

/* Sends a piece up, if one is ready and there is a slot for it. */
static bool send(struct grb_gpu_run *r, struct hands *h)
{
  struct grb_gpu_slot *slot = oldest(&h->up);
  if (slot->task && !is_over(r, slot)) return false;
  slot->task = NULL;
  const struct grb_gpu_task *t = take(r, &r->next_up, r->up_count);
  if (!t) return false;
  if (!grb_gpu_task_pinned(r, t)) read_piece(r, t, slot->memory);
  post(r, &h->up, t);
  return true;
}

/* Lets a piece of C come down. */
static bool fetch(struct grb_gpu_run *r, struct hands *h)
{
  if (oldest(&h->down)->task) return false;
  const struct grb_gpu_task *t = take(r, &r->next_down, r->task_count);
  if (!t) return false;
  post(r, &h->down, t);
  return true;
}

/* Writes a piece of C that came down. */
static bool store(struct grb_gpu_run *r, struct hands *h)
{
  struct grb_gpu_slot *slot = oldest_busy(&h->down);
  if (!slot || !is_over(r, slot)) return false;
  write_piece(r, slot->task, slot->memory);
  slot->task = NULL;
  return true;
}

static bool any_left(const struct grb_gpu_run *r, const struct hands *h)
{
  return atomic_load(&r->next_up) < r->up_count || atomic_load(&r->next_down) < r->task_count ||
         oldest_busy(&h->down);
}

/* Of a thread that looks for work again and again. */
static inline void pause_briefly(void)
{
#ifdef __SSE2__
  __builtin_ia32_pause();
#endif
}

/* Nothing can be done just now: the bus or the device is at work, or other threads. */
static void idle(struct grb_gpu_run *r, int round)
{
  enum { PATIENCE = 100, PAUSES = 16 };
  if (grb_gpu_pages_left(r->pages))
    grb_gpu_pages_populate(r->pages);
  else if (round > PATIENCE)
    sched_yield();
  else
    for (int i = 0; i < PAUSES; i++) pause_briefly();
}

/* `down`: rather empties slots than fills them. */
static void take_tasks(struct grb_gpu_run *r, struct hands *h, bool down)
{
  for (int idle_rounds = 0; !grb_gpu_failed(r) && any_left(r, h);) {
    const bool moved = fetch(r, h) | (down ? store(r, h) || send(r, h) : send(r, h) || store(r, h));
    idle_rounds = moved ? 0 : idle_rounds + 1;
    if (!moved) idle(r, idle_rounds);
  }
}

/* Nobody is to look at the slots any more, and the next device's shard uses the same memory. */
static void let_go_of_slots(struct grb_gpu_run *r, struct hands *h)
{
  for (int i = 0; i < GRB_GPU_SLOTS; i++) {
    while (atomic_load(&h->slot[i].state) == SLOT_POSTED) sched_yield();
    if (atomic_load(&h->slot[i].state) == SLOT_ENQUEUED) cudaEventSynchronize(h->slot[i].done);
  }
  if (!grb_gpu_failed(r)) return;
  cudaStreamSynchronize(r->device->up);
  cudaStreamSynchronize(r->device->down);
}

void grb_gpu_run_work(struct grb_gpu_run *r, int number, char *lane, bool down)
{
  CUcontext before;
  struct hands h = {.up = {h.slot, UP_SLOTS, 0}, .down = {h.slot + UP_SLOTS, DOWN_SLOTS, 0}};
  shunt_status s = grb_gpu_enter(r->device, &before);
  if (s != SHUNT_OK) {
    grb_gpu_fail(r, s);
    return;
  }
  for (int i = 0; i < GRB_GPU_SLOTS; i++) {
    h.slot[i].memory = lane + (int64_t)i * GRB_GPU_SLOT_BYTES;
    h.slot[i].done = r->device->slot_done[number][i];
  }
  take_tasks(r, &h, down);
  let_go_of_slots(r, &h);
  grb_gpu_leave(before);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void make_locks(struct grb_gpu_run *r)
{
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  /* It is held for less than a microsecond, which is no time to sleep. */
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
  pthread_mutex_init(&r->lock, &kind);
  pthread_mutex_init(&r->driver, NULL);
  pthread_mutexattr_destroy(&kind);
}

shunt_status grb_gpu_run_make(struct grb_gpu_run *r)
{
  r->b_ready = r->b_awaited = 0;
  atomic_init(&r->launched, 0);
  atomic_init(&r->status, SHUNT_OK);
  atomic_init(&r->bytes_up, 0);
  atomic_init(&r->bytes_down, 0);
  make_locks(r);
  r->posted = r->posted_last = NULL;
  shunt_status s = grb_gpu_tasks_make(r);
  atomic_init(&r->next_up, 0);
  atomic_init(&r->next_down, r->up_count);
  if (s == SHUNT_OK) s = grb_gpu_events(r->device, grb_gpu_event_count(r));
  /* What was allocated in order of this stream is used on others, too. */
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(r->device->compute));
  if (s != SHUNT_OK) return s;
  pthread_mutex_lock(&r->driver);
  s = grb_gpu_advance(r); /* everything may be there already */
  pthread_mutex_unlock(&r->driver);
  return s;
}

shunt_status grb_gpu_run_finish(struct grb_gpu_run *r)
{
  cudaStream_t stream[] = {r->device->up, r->device->compute, r->device->down};
  shunt_status s = (shunt_status)atomic_load(&r->status);
  CUcontext before;
  /* Without a context of the thread's own the runtime would leave one behind. */
  const shunt_status entered = grb_gpu_enter(r->device, &before);
  for (int i = 0; i < 3; i++) {
    cudaError_t e = cudaStreamSynchronize(stream[i]);
    if (s == SHUNT_OK) s = shunt_from_cuda(e);
  }
  if (entered == SHUNT_OK) grb_gpu_leave(before);
  return s;
}

void grb_gpu_run_free(struct grb_gpu_run *r)
{
  grb_gpu_tasks_free(r);
  pthread_mutex_destroy(&r->lock);
  pthread_mutex_destroy(&r->driver);
}
