#include "backend/graphblas/gpu/budget.h"

#include "backend/graphblas/gpu/device.h"
#include "backend/plan/cuda_call.h"
#include "backend/plan/memory/budget.h"

/* The others are looked at after so many products: who they are is read from /proc. */
enum { LOOK_EVERY = 64 };

/* What the pool has of the device; what was announced where that is not told. */
static int64_t reserved(const struct grb_gpu_device *d)
{
  uint64_t bytes = 0;
  return SHUNT_CUDA(cudaMemPoolGetAttribute(d->pool, cudaMemPoolAttrReservedMemCurrent, &bytes)) ==
                 SHUNT_OK
             ? (int64_t)bytes
             : d->budget.announced;
}

static void announce(struct grb_gpu_device *d)
{
  d->budget.announced = reserved(d);
  shunt_budget_keep(d->budget.shared, d->budget.announced);
}

void grb_gpu_budget_begin(struct grb_gpu_device *d)
{
  struct grb_gpu_budget *b = &d->budget;
  struct grb_gpu_resident *oldest;
  if (!b->shared) return;
  const bool stirred = shunt_budget_stirred(b->shared);
  if (!stirred && !b->refused && b->products++ % LOOK_EVERY != 0) return;
  b->refused = false;
  const int64_t mine = shunt_budget_allows(b->shared, d->most);
  d->limit = mine < d->most ? mine : d->most;
  while (d->taken > d->limit && (oldest = grb_gpu_resident_oldest(&d->residents)))
    grb_gpu_let_go(d, oldest);
  if (b->announced <= d->limit) return;
  /* The pool gives back only what the host has seen end (backend/plan/packed.c).  Products wait
     anyway. */
  if (SHUNT_CUDA(cudaStreamSynchronize(d->compute)) != SHUNT_OK) return;
  SHUNT_CUDA(cudaMemPoolTrimTo(d->pool, (size_t)(d->taken > 0 ? d->taken : 0)));
  announce(d);
}

bool grb_gpu_budget_take(struct grb_gpu_device *d, int64_t taken)
{
  struct grb_gpu_budget *b = &d->budget;
  if (!b->shared || taken <= b->announced) return true;
  if (shunt_budget_take(b->shared, taken, d->most)) {
    b->announced = taken;
    return true;
  }
  shunt_budget_want(b->shared, taken - b->announced);
  b->refused = true;
  return false;
}

void grb_gpu_budget_end(struct grb_gpu_device *d)
{
  if (d->budget.shared) announce(d);
}
