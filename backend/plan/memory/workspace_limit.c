#include "backend/plan/memory/workspace_limit.h"

#include <stdatomic.h>
#include <time.h>

#include "backend/plan/cuda_call.h"

enum { ALWAYS = 1 << 20, LEFT = 64, READ_MS = 20 };

static uint64_t now_ms(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000 + 1;
}

static bool renew(struct shunt_workspace_limit *r)
{
  const uint64_t now = now_ms(), before = atomic_load(&r->read_ms);
  size_t available, total;
  if (before && now - before < READ_MS) return true;
  const enum cudaStreamCaptureMode mode = shunt_enter_relaxed();
  const shunt_status s = SHUNT_CUDA(cudaMemGetInfo(&available, &total));
  shunt_leave_relaxed(mode);
  if (s != SHUNT_OK) return false;
  atomic_store(&r->available, available);
  atomic_store(&r->total, total);
  atomic_store(&r->read_ms, now);
  return true;
}

bool shunt_workspace_limit_allows(struct shunt_workspace_limit *r, size_t bytes)
{
  if (bytes <= ALWAYS) return true;
  if (!renew(r)) return false;
  const size_t available = atomic_load(&r->available), left = atomic_load(&r->total) / LEFT;
  return available >= left && available - left >= bytes;
}
