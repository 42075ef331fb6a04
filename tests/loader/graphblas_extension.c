/* graphblas_extension.c: what a Python extension does: linked to GraphBLAS, loaded RTLD_LOCAL.
   -DOWN: it starts GraphBLAS with an allocator of its own.  */
#include "graphblas_use.h"

int run(void);
int run(void)
{
#ifdef OWN
  if (use_start(1)) return 2;
#else
  if (use_start(0)) return 2;
#endif
  return use_graphblas(GrB_mxm);
}
