#include "backend/graphblas/gpu/gpu_engine.h"

#include <pthread.h>
#include <stdatomic.h>

#include "backend/graphblas/gpu/gpu_product.h"
#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/graphblas/gpu/hold.h"
#include "backend/graphblas/gpu/pins.h"
#include "backend/graphblas/gpu/placement.h"
#include "backend/options/options.h"

/* STARTING: a thread is in start().  UNTRIED and STARTING are left with residents_lock held. */
enum state { UNTRIED, STARTING, READY, NONE };
static atomic_int state;

static pthread_mutex_t engine = PTHREAD_MUTEX_INITIALIZER; /* products take turns */
/* Held for the lists of residents, and for what follows. */
static pthread_mutex_t residents_lock = PTHREAD_MUTEX_INITIALIZER;
static struct grb_gpu_devices devices;
static struct grb_gpu_placement placement;
static int failures; /* of CUDA, one after another */
static struct grb_gpu_counts counts;

/* A CUDA context does not survive a fork, and neither does the thread that holds a lock. */
static void forget_in_child(void)
{
  pthread_mutex_init(&engine, NULL);
  pthread_mutex_init(&residents_lock, NULL);
  grb_gpu_pins_forget();
  if (atomic_load(&state) != UNTRIED) atomic_store(&state, NONE);
}

/* Pages that a device has may not be copied on write: older kernels would give the copy to the
   parent.  No product is to pin any until the child has its own.  */
static void before_fork(void)
{
  pthread_mutex_lock(&engine);
  grb_gpu_pins_let_go(NULL);
}

static void in_parent(void)
{
  pthread_mutex_unlock(&engine);
}

__attribute__((constructor)) static void watch_forks(void)
{
  pthread_atfork(before_fork, in_parent, forget_in_child);
}

static void set_state(enum state now)
{
  pthread_mutex_lock(&residents_lock);
  if (now == READY) {
    const struct grb_gpu_device *d = &devices.device[0];
    placement.rates =
        (struct grb_gpu_rates){d->rate_up, d->rate_down, 4e10 * d->about.multiprocessors};
  }
  atomic_store(&state, now);
  pthread_mutex_unlock(&residents_lock);
}

static bool start(void)
{
  pthread_mutex_lock(&engine);
  if (atomic_load(&state) == UNTRIED) {
    set_state(STARTING);
    bool good = grb_gpu_devices_open(&devices, 1, shunt_options()->cache_bytes) == SHUNT_OK;
    set_state(good ? READY : NONE);
  }
  pthread_mutex_unlock(&engine);
  return atomic_load(&state) == READY;
}

bool grb_gpu_ask(grb_gpu_question worth, const void *context)
{
  if (atomic_load(&state) == NONE) return false;
  pthread_mutex_lock(&residents_lock);
  const int at = atomic_load(&state);
  const bool asked = at == READY || at == UNTRIED;
  const bool now = asked && worth(&placement, &devices, at == READY, context);
  pthread_mutex_unlock(&residents_lock);
  return now && (at == READY || start());
}

static bool worth_spmm(struct grb_gpu_placement *l, struct grb_gpu_devices *d, bool started,
                       const void *view)
{
  return started ? grb_gpu_worth_product(l, view, d) : grb_gpu_worth_start(l, view, d);
}

bool grb_gpu_wise(const struct shunt_host_spmm *p, const struct grb_spmm_sources *from)
{
  if (!grb_gpu_may_gain(p) || atomic_load(&state) == NONE) return false;
  struct grb_gpu_view v = grb_gpu_view_make(p, from);
  return grb_gpu_ask(worth_spmm, &v);
}

/* What the devices may take, before a product and after it. */
static void each_budget(int count, void (*act)(struct grb_gpu_device *))
{
  CUcontext before;
  pthread_mutex_lock(&residents_lock);
  for (int i = 0; i < count; i++) {
    struct grb_gpu_device *d = &devices.device[i];
    if (!d->budget.shared || grb_gpu_enter(d, &before) != SHUNT_OK) continue;
    act(d);
    grb_gpu_leave(before);
  }
  pthread_mutex_unlock(&residents_lock);
}

/* Started, if it can be. */
static bool ready(void)
{
  return atomic_load(&state) == READY || (atomic_load(&state) != NONE && start());
}

/* After a product: the device may be gone for good (reset, or broken). */
static void count_failures(shunt_status s)
{
  failures = s == SHUNT_E_CUDA ? failures + 1 : s == SHUNT_OK ? 0 : failures;
  if (failures >= 3) set_state(NONE);
}

struct grb_gpu_devices *grb_gpu_hold(void)
{
  if (!ready()) return NULL;
  pthread_mutex_lock(&engine);
  each_budget(1, grb_gpu_budget_begin);
  return &devices;
}

void grb_gpu_give(shunt_status s)
{
  each_budget(1, grb_gpu_budget_end);
  count_failures(s);
  pthread_mutex_unlock(&engine);
}

struct grb_gpu_counts *grb_gpu_held_counts(void)
{
  return &counts;
}

void grb_gpu_lock_residents(bool lock)
{
  if (lock)
    pthread_mutex_lock(&residents_lock);
  else
    pthread_mutex_unlock(&residents_lock);
}

/* Opens the devices that it wants; residents_lock is held. */
static struct grb_gpu_deal deal_out(const struct grb_gpu_view *v)
{
  const struct grb_gpu_estimate e = grb_gpu_estimate(&placement, v, &devices);
  const int wanted = e.deal.devices;
  if (wanted > devices.count) grb_gpu_devices_open(&devices, wanted, shunt_options()->cache_bytes);
  if (wanted > devices.count) devices.visible = devices.count;
  const bool there = wanted <= devices.count;
  const struct grb_gpu_deal deal = there ? e.deal : grb_gpu_estimate(&placement, v, &devices).deal;
  placement.foregone += e.foregone;
  return deal;
}

shunt_status grb_gpu_spmm(const struct shunt_host_spmm *p, const struct grb_spmm_sources *from)
{
  if (!grb_gpu_built(p) || !ready()) return SHUNT_E_UNSUPPORTED;
  struct grb_gpu_view v = grb_gpu_view_make(p, from);
  pthread_mutex_lock(&engine);
  pthread_mutex_lock(&residents_lock);
  const struct grb_gpu_deal deal = deal_out(&v);
  pthread_mutex_unlock(&residents_lock);
  each_budget(deal.devices, grb_gpu_budget_begin);
  shunt_status s = grb_gpu_product(&v, &devices, deal, &residents_lock, &counts);
  if (s == SHUNT_E_UNSUPPORTED && deal.way != GRB_GPU_IN_TURNS) {
    /* More room was hoped for. */
    pthread_mutex_lock(&residents_lock);
    const struct grb_gpu_deal turns = grb_gpu_turns(&placement, &v, &devices, deal.devices);
    pthread_mutex_unlock(&residents_lock);
    s = grb_gpu_product(&v, &devices, turns, &residents_lock, &counts);
  }
  each_budget(deal.devices, grb_gpu_budget_end);
  counts.products += s == SHUNT_OK;
  count_failures(s);
  pthread_mutex_unlock(&engine);
  return s;
}

void grb_gpu_read_counts(struct grb_gpu_counts *out)
{
  pthread_mutex_lock(&engine);
  *out = counts;
  out->devices = devices.count;
  out->pinned = grb_gpu_pins_made();
  pthread_mutex_unlock(&engine);
}

void grb_gpu_force_devices(int count)
{
  pthread_mutex_lock(&engine);
  placement.forced_devices = count;
  pthread_mutex_unlock(&engine);
}

void grb_gpu_force_way(enum grb_gpu_way way)
{
  pthread_mutex_lock(&engine);
  placement.forced_way = way;
  pthread_mutex_unlock(&engine);
}

void grb_gpu_unpin(const void *handle)
{
  grb_gpu_pins_let_go(handle);
}

void grb_gpu_forget(void)
{
  CUcontext before;
  grb_gpu_pins_let_go(NULL);
  pthread_mutex_lock(&engine);
  pthread_mutex_lock(&residents_lock);
  for (int i = 0; i < devices.count; i++) {
    struct grb_gpu_device *d = &devices.device[i];
    struct grb_gpu_resident *e;
    if (grb_gpu_enter(d, &before) != SHUNT_OK) continue;
    while ((e = grb_gpu_resident_oldest(&d->residents))) grb_gpu_let_go(d, e);
    grb_gpu_leave(before);
  }
  pthread_mutex_unlock(&residents_lock);
  pthread_mutex_unlock(&engine);
}
