#include "backend/plan/fault.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

int shunt_fault_armed;
static atomic_long seen;
static long target;
static struct shunt_fault_place place; /* of the n-th, */
static atomic_bool failed;             /* once it has come */

void shunt_fault_arm(long n)
{
  atomic_store(&failed, false);
  atomic_store(&seen, 0);
  target = n;
  shunt_fault_armed = 1;
}

int shunt_fault_count(const char *call, const char *file, int line)
{
  if (atomic_fetch_add_explicit(&seen, 1, memory_order_relaxed) + 1 != target) return 0;
  place = (struct shunt_fault_place){call, file, line};
  atomic_store(&failed, true);
  return 1;
}

const struct shunt_fault_place *shunt_fault_failed(void)
{
  return atomic_load(&failed) ? &place : NULL;
}

long shunt_faults_seen(void)
{
  return atomic_load(&seen);
}
