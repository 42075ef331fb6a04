/* slice.c: a driver that shows less memory than the device has, as of a slice of it (MIG).

     program -> CUDA runtime -> libcuda.so.1 (this) -> the driver's, of $DRIVER
                                 '-> cuMemGetInfo, cuDeviceTotalMem: less by what is hidden

   The runtime finds all of the driver's functions by cuGetProcAddress, so that this is all to be
   passed on.  A program that has taken memory says so by slice_hide, and for whatever asks later the
   device never had it.  Put before the driver's folder by LD_LIBRARY_PATH.  */
#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#undef cuMemGetInfo
#undef cuDeviceTotalMem

typedef CUresult look_up(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static size_t hidden;
static CUresult (*real_info)(size_t *, size_t *);
static CUresult (*real_total)(size_t *, CUdevice);

EXPORT void slice_hide(size_t bytes);
void slice_hide(size_t bytes)
{
  hidden = bytes;
}

static CUresult info(size_t *available, size_t *total)
{
  const CUresult e = real_info(available, total);
  if (e == CUDA_SUCCESS) *total -= hidden;
  return e;
}

static CUresult total_memory(size_t *bytes, CUdevice device)
{
  const CUresult e = real_total(bytes, device);
  if (e == CUDA_SUCCESS) *bytes -= hidden;
  return e;
}

/* Of the driver's own: none if it is not there. */
static void *real(const char *name)
{
  static void *driver;
  const char *path = getenv("DRIVER");
  if (!driver) driver = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
  return driver ? dlsym(driver, name) : NULL;
}

/* ---- what the runtime looks up by name --------------------------------------------------------- */

EXPORT CUresult cuDriverGetVersion(int *version)
{
  CUresult (*f)(int *) = NULL;
  *(void **)&f = real("cuDriverGetVersion");
  return f ? f(version) : CUDA_ERROR_NOT_INITIALIZED;
}

EXPORT CUresult cuInit(unsigned flags)
{
  CUresult (*f)(unsigned) = NULL;
  *(void **)&f = real("cuInit");
  return f ? f(flags) : CUDA_ERROR_NOT_INITIALIZED;
}

static CUresult old_look_up(const char *name, void **found, int version, cuuint64_t flags)
{
  return cuGetProcAddress_v2(name, found, version, flags, NULL);
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **found, int version, cuuint64_t flags,
                                    CUdriverProcAddressQueryResult *result)
{
  look_up *f = NULL, *new_look_up = cuGetProcAddress_v2;
  CUresult (*old)(const char *, void **, int, cuuint64_t) = old_look_up;
  *(void **)&f = real("cuGetProcAddress_v2");
  if (!f) return CUDA_ERROR_NOT_INITIALIZED;
  const CUresult e = f(name, found, version, flags, result);
  if (e != CUDA_SUCCESS || !*found) return e;
  if (strcmp(name, "cuGetProcAddress") == 0)
    *found = version >= 12000 ? *(void **)&new_look_up : *(void **)&old;
  if (strcmp(name, "cuMemGetInfo") == 0) {
    CUresult (*ours)(size_t *, size_t *) = info;
    *(void **)&real_info = *found;
    *found = *(void **)&ours;
  }
  if (strcmp(name, "cuDeviceTotalMem") == 0) {
    CUresult (*ours)(size_t *, CUdevice) = total_memory;
    *(void **)&real_total = *found;
    *found = *(void **)&ours;
  }
  return e;
}
