#include "backend/graphblas/gpu/pins.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "backend/graphblas/epoch/pinned.h"
#include "backend/plan/cuda_call.h"

/* WORTH: products after which an array was worth its pin.  LAST_WISH: pins that never are cost a
   tenth of the time, no more.  */
enum { MOST = 16, FIRST_WISH = 4, LAST_WISH = 16, WORTH = 8, SHARE_OF_MEMORY = 4 };

struct pin {
  const void *handle; /* NULL: free */
  void *values;
  int64_t bytes;
  int met, wish; /* times in this array; times until it is pinned */
  bool pinned;
  int users, used; /* products: now, since it was pinned */
  uint64_t last;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pin pins[MOST];
static const struct grb_gpu_device *device; /* in whose context all are pinned */
static int64_t pinned_bytes;
static uint64_t clock_, pinned_count;

atomic_bool grb_pinned;

static int64_t limit(void)
{
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
  return pages > 0 && size > 0 ? (int64_t)pages / SHARE_OF_MEMORY * size : 0;
}

static struct pin *find(const void *handle)
{
  for (int i = 0; i < MOST; i++)
    if (pins[i].handle == handle) return &pins[i];
  return NULL;
}

/* A place for another matrix: the one that was met longest ago makes room, unless it is pinned. */
static struct pin *place(void)
{
  struct pin *oldest = NULL;
  for (int i = 0; i < MOST; i++)
    if (!pins[i].pinned && (!oldest || pins[i].last < oldest->last)) oldest = &pins[i];
  return oldest;
}

static void tell(void)
{
  atomic_store(&grb_pinned, pinned_bytes > 0);
}

static void pin(struct pin *p)
{
  CUcontext before;
  if (p->bytes > limit() - pinned_bytes || grb_gpu_enter(device, &before) != SHUNT_OK) return;
  p->pinned = SHUNT_CUDA(cudaHostRegister(p->values, (size_t)p->bytes, cudaHostRegisterPortable)) ==
              SHUNT_OK;
  grb_gpu_leave(before);
  if (!p->pinned) {
    p->wish = INT_MAX; /* the program has pinned it, or it can't be */
    return;
  }
  p->used = 0;
  pinned_bytes += p->bytes;
  pinned_count++;
  tell();
}

/* Nobody can do anything about a failure. */
static void unpin(struct pin *p)
{
  CUcontext before;
  if (grb_gpu_enter(device, &before) == SHUNT_OK) {
    cudaHostUnregister(p->values);
    cudaGetLastError();
    grb_gpu_leave(before);
  }
  pinned_bytes -= p->bytes;
  p->pinned = false;
  p->met = 0;
  if (p->used >= WORTH)
    p->wish = FIRST_WISH;
  else if (p->wish < LAST_WISH)
    p->wish *= 2;
  tell();
}

bool grb_gpu_pins_take(const struct grb_gpu_device *d, const void *handle, void *values,
                       int64_t bytes)
{
  pthread_mutex_lock(&lock);
  device = d;
  struct pin *p = find(handle);
  if (!p && (p = place())) *p = (struct pin){.handle = handle, .wish = FIRST_WISH};
  bool yes = false;
  if (p) {
    if (p->values != values || p->bytes != bytes) {
      if (p->pinned) unpin(p);
      p->values = values;
      p->bytes = bytes;
      p->met = 0;
    }
    p->last = ++clock_;
    if (!p->pinned && ++p->met >= p->wish) pin(p);
    yes = p->pinned;
    p->users += yes;
    p->used += yes;
  }
  pthread_mutex_unlock(&lock);
  return yes;
}

void grb_gpu_pins_give_back(const void *handle)
{
  pthread_mutex_lock(&lock);
  struct pin *p = find(handle);
  if (p && p->users > 0) p->users--;
  pthread_mutex_unlock(&lock);
}

void grb_gpu_pins_distrust(const void *handle)
{
  pthread_mutex_lock(&lock);
  struct pin *p = find(handle);
  if (p && p->pinned) unpin(p);
  if (p) p->wish = INT_MAX;
  pthread_mutex_unlock(&lock);
}

static void let_go(struct pin *p)
{
  while (p->users > 0) {
    pthread_mutex_unlock(&lock);
    sched_yield();
    pthread_mutex_lock(&lock);
  }
  if (p->pinned) unpin(p);
}

void grb_gpu_pins_let_go(const void *handle)
{
  if (!atomic_load(&grb_pinned)) return;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < MOST; i++)
    if (pins[i].pinned && (!handle || pins[i].handle == handle)) let_go(&pins[i]);
  pthread_mutex_unlock(&lock);
}

uint64_t grb_gpu_pins_made(void)
{
  pthread_mutex_lock(&lock);
  const uint64_t count = pinned_count;
  pthread_mutex_unlock(&lock);
  return count;
}

void grb_gpu_pins_forget(void)
{
  pthread_mutex_init(&lock, NULL);
  memset(pins, 0, sizeof pins);
  pinned_bytes = 0;
  tell();
}
