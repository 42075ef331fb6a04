/* test_workspace_limit.c: what workspaces may take of a device of 64 MiB, on a runtime of the
   test's own.  */
#include "backend/plan/memory/workspace_limit.h"

#include <cuda_runtime_api.h>

#include "tests/unit/check.h"

enum { MIB = 1 << 20 };
static size_t available;
static int readings;
static bool fails;

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
  readings++;
  *free_bytes = available, *total = (size_t)64 * MIB;
  return fails ? cudaErrorUnknown : cudaSuccess;
}
cudaError_t cudaGetLastError(void)
{
  return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
  return (void)mode, cudaSuccess;
}

/* As if the last reading were long ago. */
static bool holds(size_t bytes)
{
  struct shunt_workspace_limit r = {0};
  return shunt_workspace_limit_allows(&r, bytes);
}

int main(void)
{
  available = 0;
  check(holds(MIB) && readings == 0, "a MiB is asked for without looking");
  check(!holds(MIB + 1), "more is not where nothing is free");
  available = (size_t)9 * MIB;
  check(holds(8 * MIB), "what leaves a 64th of the device");
  check(!holds(8 * MIB + 1), "not what leaves less");
  available = (size_t)1 * MIB;
  check(!holds(2 * MIB), "nor what is not there");

  struct shunt_workspace_limit r = {0};
  available = (size_t)64 * MIB, readings = 0;
  bool all = true;
  for (int i = 0; i < 1000; i++) all = all && shunt_workspace_limit_allows(&r, 2 * MIB);
  check(all && readings >= 1 && readings < 100, "%d readings for 1000 answers", readings);
  available = 0;
  r.read_ms -= 1000;
  check(!shunt_workspace_limit_allows(&r, 2 * MIB), "memory that went is noticed");
  fails = true;
  check(!holds(2 * MIB), "a device that does not say has none");
  return check_finish();
}
