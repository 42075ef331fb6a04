/* no_cuda.c: the device engine of a build without CUDA. */
#include "backend/native/native.h"

const struct shunt_native_engine *shunt_native_cuda(void)
{
  return NULL;
}
