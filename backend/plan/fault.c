#include "backend/plan/fault.h"

#include <stdatomic.h>

int shunt_fault_armed;
static atomic_long seen;
static long target;

void shunt_fault_arm(long n)
{
  atomic_store(&seen, 0);
  target = n;
  shunt_fault_armed = 1;
}

int shunt_fault_count(void)
{
  return atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed) + 1 == target;
}

long shunt_faults_seen(void)
{
  return atomic_load(&seen);
}
