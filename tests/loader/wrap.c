/* wrap.c: another preload that wraps cusparseSpMM, before or after us.

   Who it calls:   default       RTLD_NEXT, as is usual
                   -DBY_DEFAULT  RTLD_DEFAULT, which finds the first of that name: us, if
                                 we come first
                   -DBY_HANDLE   dlsym on a handle of libcusparse.so.12
   What it wraps:  default       cusparseSpMM alone
                   -DWHOLE       cusparseGetVersion too, so that it looks like a cuSPARSE  */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "standin.h"

static void *behind(const char *name)
{
#if defined BY_DEFAULT
  return dlsym(RTLD_DEFAULT, name);
#elif defined BY_HANDLE
  void *library = dlopen("./libcusparse.so.12", RTLD_LAZY | RTLD_LOCAL);
  return library ? dlsym(library, name) : NULL;
#else
  return dlsym(RTLD_NEXT, name);
#endif
}

cusparseStatus_t cusparseSpMM(SPMM_PARAMETERS(void *buffer))
{
  __typeof__(cusparseSpMM) *next = (__typeof__(cusparseSpMM) *)behind("cusparseSpMM");
  handle->wrapped++;
  return next ? next(ARGUMENTS(buffer)) : CUSPARSE_STATUS_INTERNAL_ERROR;
}

#ifdef WHOLE
cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int *version)
{
  (void)handle;
  *version = 12000;
  return CUSPARSE_STATUS_SUCCESS;
}
#endif
