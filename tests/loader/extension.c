/* extension.c: a Python extension module that is linked to cuSPARSE, as PyTorch and CuPy
   are.  Also with the library compiled into it (static), or left for its loader to find.  */
#include "use.h"

int extension_use(cusparseHandle_t h);

int extension_use(cusparseHandle_t h)
{
  return use_library(h);
}
