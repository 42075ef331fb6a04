/* cache_density.c: pictures of matrices, for the report (conv/profile/density.h).

   A picture is enqueued in front of the profile of its matrix, so it is there when the profile is,
   in one of a few places that are made where a report is asked for.  Until then the place is the
   profile's.  A matrix that finds none has no picture.  */
#include <string.h>

#include "backend/log/log_upkeep.h"
#include "backend/options/options.h"
#include "backend/plan/cache_inside.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/device_memory.h"

void cache_density_make(struct shunt_cache *c)
{
  const size_t bytes = DENSITIES * sizeof *c->densities;
  if (!shunt_options()->report[0]) return;
  if (SHUNT_CUDA(cudaHostAlloc((void **)&c->densities, bytes, cudaHostAllocPortable)) != SHUNT_OK) {
    c->densities = NULL;
    return;
  }
  memset(c->densities, 0, bytes);
  if (shunt_device_allocate_now((void **)&c->density_scratch,
                                (size_t)DENSITIES * SHUNT_DENSITY_SCRATCH) == SHUNT_OK)
    return;
  c->density_scratch = NULL;
  cache_density_free(c);
}

void cache_density_free(struct shunt_cache *c)
{
  if (c->density_scratch) shunt_device_free_now(c->density_scratch);
  if (c->densities) cudaFreeHost(c->densities);
  c->density_scratch = NULL;
  c->densities = NULL;
}

struct shunt_density *cache_density_claim(struct shunt_cache *c)
{
  if (!c->densities || !shunt_log_wants_density()) return NULL;
  for (int i = 0; i < DENSITIES; i++)
    if (!c->density_taken[i]) {
      c->density_taken[i] = true;
      return &c->densities[i];
    }
  return NULL;
}

void cache_density_release(struct shunt_cache *c, struct shunt_density *d)
{
  if (d) c->density_taken[d - c->densities] = false;
}

void cache_density_enqueue(struct shunt_cache *c, struct shunt_density *out, uint64_t serial,
                           const struct shunt_csr *a, const struct shunt_device *d,
                           cudaStream_t stream)
{
  if (!out) return;
  char *scratch = c->density_scratch + (size_t)(out - c->densities) * SHUNT_DENSITY_SCRATCH;
  /* Where this fails, the serial never comes, and the matrix has no picture. */
  (void)SHUNT_LAUNCH(shunt_density_csr_cuda(a, serial, out, scratch, d, stream));
}

void cache_density_tell(struct shunt_cache *c, struct shunt_density *d, uint64_t serial,
                        const struct shunt_profile *f)
{
  if (d && *(volatile uint64_t *)&d->serial == serial) shunt_log_density(f, d);
  cache_density_release(c, d);
}
