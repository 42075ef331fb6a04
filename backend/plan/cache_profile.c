/* cache_profile.c: profiles on their way from the device.

   A profile is written into pinned memory some time after it was asked for, with a serial number
   last.  That memory is a slot, which is its request's until the number has come: an entry that
   went to another matrix meanwhile leaves the slot behind, and no two requests write the same
   one.  */
#include <string.h>
#include <time.h>

#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"

/* A profile that has not come after so many calls with its matrix never will: its stream failed. */
enum { LOST_AFTER = 1 << 16 };

static bool has_arrived(const struct shunt_cache *c, int i)
{
  const volatile uint64_t *serial = &c->arriving[i].serial;
  if (!c->slot[i].serial || *serial != c->slot[i].serial) return false;
  atomic_thread_fence(memory_order_acquire);
  return true;
}

bool shunt_cache_profile_read(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  const int i = e->profile_slot;
  if (i < 0) return false;
  if (has_arrived(c, i)) {
    e->profile = c->arriving[i];
    if (!e->has_profile) e->known_at = e->calls;
    e->has_profile = true;
    e->profile_slot = -1;
    cache_density_tell(c, c->slot[i].density, c->slot[i].serial, &e->profile);
    c->slot[i] = (struct profile_slot){0};
    return true;
  }
  if (e->calls - e->profiled_at > LOST_AFTER) shunt_cache_profile_orphan(c, e);
  return false;
}

void shunt_cache_profile_orphan(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  if (e->profile_slot >= 0) c->slot[e->profile_slot].owner = NULL;
  e->profile_slot = -1;
}

/* A slot for a new request, -1: all are on their way. */
static int claim_slot(struct shunt_cache *c, struct shunt_cache_entry *e)
{
  for (int i = 0; i < PROFILES; i++) {
    if (c->slot[i].serial && (c->slot[i].owner || !has_arrived(c, i))) continue;
    cache_density_release(c, c->slot[i].density);
    c->slot[i] = (struct profile_slot){e, ++c->serials, cache_density_claim(c)};
    e->profile_slot = i;
    e->profiled_at = e->calls;
    return i;
  }
  return -1;
}

shunt_status shunt_cache_profile(struct shunt_cache *c, const struct shunt_lookup *l,
                                 const struct shunt_csr *a, const struct shunt_device *d,
                                 cudaStream_t stream)
{
  struct shunt_cache_entry *e = l->entry;
  struct profile_slot slot = {0};
  int i = -1;
  if (!e) return SHUNT_E_MEMORY;
  pthread_mutex_lock(&c->lock);
  if (e->identity == l->identity && e->profile_slot < 0) i = claim_slot(c, e);
  if (i >= 0) slot = c->slot[i];
  pthread_mutex_unlock(&c->lock);
  if (i < 0) return SHUNT_OK; /* another profile is on its way, or too many are */
  cache_density_enqueue(c, slot.density, slot.serial, a, d, stream);
  shunt_status r = SHUNT_LAUNCH(shunt_profile_csr_cuda(
      a, slot.serial, &c->arriving[i], c->scratch + (size_t)i * SHUNT_PROFILE_SCRATCH, d, stream));
  if (r == SHUNT_OK) return r;
  pthread_mutex_lock(&c->lock);
  if (c->slot[i].owner) c->slot[i].owner->profile_slot = -1;
  c->slot[i] = (struct profile_slot){0}; /* the picture may still come: its place stays taken */
  pthread_mutex_unlock(&c->lock);
  return r;
}

/* ---- settling ------------------------------------------------------------------------------ */

static int claim_settling(struct shunt_cache *c)
{
  int found = -1;
  pthread_mutex_lock(&c->lock);
  for (int i = PROFILES; i < PROFILE_SLOTS && found < 0; i++)
    if (!c->slot[i].serial) {
      c->slot[i] = (struct profile_slot){.serial = ++c->serials};
      found = i;
    }
  pthread_mutex_unlock(&c->lock);
  return found;
}

/* A slot of those that profiles on their way never take.  Other threads may have them all, and wait
   for the device; so does this one.  */
static int await_settling(struct shunt_cache *c)
{
  enum { ROUND_NS = 100000 };
  int i = claim_settling(c);
  while (i < 0) {
    nanosleep(&(struct timespec){0, ROUND_NS}, NULL);
    i = claim_settling(c);
  }
  return i;
}

shunt_status shunt_cache_settle(struct shunt_cache *c, const struct shunt_lookup *l, uint64_t epoch,
                                const struct shunt_csr *a, const struct shunt_device *d,
                                cudaStream_t stream)
{
  struct shunt_cache_entry *e = l->entry;
  if (!e) return SHUNT_E_MEMORY;
  const int i = await_settling(c);
  shunt_status s = SHUNT_LAUNCH(
      shunt_profile_csr_cuda(a, c->slot[i].serial, &c->arriving[i],
                             c->scratch + (size_t)i * SHUNT_PROFILE_SCRATCH, d, stream));
  const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  if (s == SHUNT_OK) s = SHUNT_CUDA(cudaStreamSynchronize(stream));
  shunt_leave_relaxed(mode);
  pthread_mutex_lock(&c->lock);
  if (e->identity == l->identity) {
    const bool found = s == SHUNT_OK && has_arrived(c, i);
    e->settled_epoch = found ? epoch : 0;
    if (found) e->settled = c->arriving[i];
  }
  c->slot[i].serial = 0;
  pthread_mutex_unlock(&c->lock);
  return s;
}
