#include "backend/graphblas/epoch/epochs.h"

#include "backend/graphblas/epoch/interposed.h"

_Atomic uint64_t grb_counters[GRB_COUNTERS];
_Atomic uint64_t grb_all_counter;

/* The same as in interposed.c, in C. */
static unsigned counter_of(const void *handle)
{
  uint64_t product = (uint64_t)(uintptr_t)handle * (uint64_t)GRB_COUNTER_FACTOR;
  return (unsigned)(product >> 32) & (GRB_COUNTERS - 1);
}

void grb_bump(const void *handle)
{
  atomic_fetch_add(&grb_counters[counter_of(handle)], 1);
}

#if GRB_HAVE_TRAMPOLINES
uint64_t grb_epoch(const void *handle)
{
  if (!handle || atomic_load(&grb_several_copies)) return 0;
  /* Both terms only ever grow, so an equal sum means that neither has. */
  return 1 + atomic_load(&grb_counters[counter_of(handle)]) + atomic_load(&grb_all_counter);
}
#else
uint64_t grb_epoch(const void *handle)
{
  (void)handle;
  return 0;
}
#endif
