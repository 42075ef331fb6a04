/* fake_driver.c: a libcuda.so.1 that the CUDA runtime finds, asks and cannot use.

     FAKE_CUDA    version that it says it has, as 12040
     FAKE_INIT    what starting it answers: 100, no device; 803, not of its module's version

   The runtime looks all functions up by cuGetProcAddress; those that are not here fail.  */
#include <cuda.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static int of(const char *name)
{
  const char *text = getenv(name);
  return text ? atoi(text) : 0;
}

EXPORT CUresult cuDriverGetVersion(int *version)
{
  return *version = of("FAKE_CUDA"), CUDA_SUCCESS;
}

EXPORT CUresult cuInit(unsigned flags)
{
  (void)flags;
  return (CUresult)of("FAKE_INIT");
}

static CUresult absent(void)
{
  return CUDA_ERROR_UNKNOWN;
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **found, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *result)
{
  CUresult (*version_of)(int *) = cuDriverGetVersion, (*init)(unsigned) = cuInit;
  CUresult (*other)(void) = absent;
  CUresult (*look_up)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) =
      cuGetProcAddress_v2;
  (void)version, (void)flags;
  *found = *(void **)&other;
  if (strcmp(name, "cuDriverGetVersion") == 0) *found = *(void **)&version_of;
  if (strcmp(name, "cuInit") == 0) *found = *(void **)&init;
  if (strcmp(name, "cuGetProcAddress") == 0) *found = *(void **)&look_up;
  if (result) *result = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}
