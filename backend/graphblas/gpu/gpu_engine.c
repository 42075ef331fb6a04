#include "backend/graphblas/gpu/gpu_engine.h"

#include <pthread.h>
#include <stdatomic.h>

#include "backend/graphblas/gpu/pins.h"
#include "backend/graphblas/gpu/placement.h"
#include "backend/graphblas/gpu/gpu_product.h"
#include "backend/graphblas/gpu/gpu_semiring.h"
#include "backend/plan/options.h"

/* STARTING: somebody is in start(); left, like the first, with the notes locked. */
enum state { UNTRIED, STARTING, READY, NONE };
static atomic_int state;

static pthread_mutex_t engine = PTHREAD_MUTEX_INITIALIZER; /* products take turns */
static pthread_mutex_t notes = PTHREAD_MUTEX_INITIALIZER;  /* kept lists, below, and what follows */
static struct grb_cuda_devices devices;
static struct grb_cuda_placement placement;
static int forced_devices;
static int failures; /* of CUDA, one after another */
static struct shunt_grb_cuda_counts counts;

/* A CUDA context does not survive a fork, and neither does the thread that holds a lock. */
static void forget_in_child(void)
{
  pthread_mutex_init(&engine, NULL);
  pthread_mutex_init(&notes, NULL);
  grb_cuda_pins_forget();
  if (atomic_load(&state) != UNTRIED) atomic_store(&state, NONE);
}

/* Pages that a device has may not be copied on write: older kernels would give the copy to the
   parent.  No product is to pin any until the child has its own.  */
static void before_fork(void)
{
  pthread_mutex_lock(&engine);
  grb_cuda_pins_let_go(NULL);
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
  pthread_mutex_lock(&notes);
  if (now == READY) {
    const struct grb_cuda_device *d = &devices.device[0];
    placement.rates =
        (struct grb_cuda_rates){d->rate_up, d->rate_down, 4e10 * d->about.multiprocessors};
  }
  atomic_store(&state, now);
  pthread_mutex_unlock(&notes);
}

static bool start(void)
{
  pthread_mutex_lock(&engine);
  if (atomic_load(&state) == UNTRIED) {
    set_state(STARTING);
    bool good = grb_cuda_devices_open(&devices, 1, shunt_options()->cache_bytes) == SHUNT_OK;
    set_state(good ? READY : NONE);
  }
  pthread_mutex_unlock(&engine);
  return atomic_load(&state) == READY;
}

bool shunt_grb_cuda_wise(const struct shunt_host_spmm *p, const struct shunt_grb_identity *sparse,
                         const struct shunt_grb_identity *dense,
                         const struct shunt_grb_identity *out)
{
  if (!grb_cuda_may_gain(p) || atomic_load(&state) == NONE) return false;
  struct grb_cuda_view v = grb_cuda_view_make(p, sparse, dense, out);
  pthread_mutex_lock(&notes);
  const int at = atomic_load(&state);
  bool now = false;
  if (at == READY) now = grb_cuda_worth_product(&placement, &v, &devices);
  if (at == UNTRIED) now = grb_cuda_worth_start(&placement, &v, &devices);
  pthread_mutex_unlock(&notes);
  return now && (at == READY || start());
}

shunt_status shunt_grb_cuda_spmm(const struct shunt_host_spmm *p,
                                 const struct shunt_grb_identity *sparse,
                                 const struct shunt_grb_identity *dense,
                                 const struct shunt_grb_identity *out)
{
  if (!grb_cuda_built(p) || atomic_load(&state) == NONE ||
      (atomic_load(&state) != READY && !start()))
    return SHUNT_E_UNSUPPORTED;
  struct grb_cuda_view v = grb_cuda_view_make(p, sparse, dense, out);
  pthread_mutex_lock(&engine);
  pthread_mutex_lock(&notes);
  int count = forced_devices > 0 ? forced_devices
                                 : grb_cuda_estimate(&v, &devices, &placement.rates).devices;
  if (count > devices.count) grb_cuda_devices_open(&devices, count, shunt_options()->cache_bytes);
  if (count > devices.count) count = devices.count;
  if (count > grb_cuda_pieces(p)) count = (int)grb_cuda_pieces(p);
  pthread_mutex_unlock(&notes);
  shunt_status s = grb_cuda_product(&v, &devices, count, &notes, &counts);
  counts.products += s == SHUNT_OK;
  failures = s == SHUNT_E_CUDA ? failures + 1 : s == SHUNT_OK ? 0 : failures;
  /* The device may be gone for good (reset by somebody, or broken). */
  if (failures >= 3) set_state(NONE);
  pthread_mutex_unlock(&engine);
  return s;
}

void shunt_grb_cuda_read_counts(struct shunt_grb_cuda_counts *out)
{
  pthread_mutex_lock(&engine);
  *out = counts;
  out->devices = devices.count;
  out->pinned = grb_cuda_pins_made();
  pthread_mutex_unlock(&engine);
}

void shunt_grb_cuda_force_devices(int count)
{
  pthread_mutex_lock(&engine);
  forced_devices = count;
  pthread_mutex_unlock(&engine);
}

void shunt_grb_cuda_let_go(const void *handle)
{
  grb_cuda_pins_let_go(handle);
}

void shunt_grb_cuda_forget(void)
{
  CUcontext before;
  grb_cuda_pins_let_go(NULL);
  pthread_mutex_lock(&engine);
  pthread_mutex_lock(&notes);
  for (int i = 0; i < devices.count; i++) {
    struct grb_cuda_device *d = &devices.device[i];
    struct grb_cuda_kept *e;
    if (grb_cuda_enter(d, &before) != SHUNT_OK) continue;
    while ((e = grb_cuda_kept_oldest(&d->kept)))
      grb_cuda_let_go(d, e);
    grb_cuda_leave(before);
  }
  pthread_mutex_unlock(&notes);
  pthread_mutex_unlock(&engine);
}
