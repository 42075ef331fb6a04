/* graphblas_returns.c: preloaded behind Shunt: ends the program with status 9 where a GrB_mxm that
   comes to it would return to Shunt, and not to the program.  */
#define _GNU_SOURCE
#include <GraphBLAS.h>
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

GrB_Info GrB_mxm(GrB_Matrix c, const GrB_Matrix mask, const GrB_BinaryOp accum,
                 const GrB_Semiring semiring, const GrB_Matrix a, const GrB_Matrix b,
                 const GrB_Descriptor d)
{
  __typeof__(GrB_mxm) *next = (__typeof__(GrB_mxm) *)dlsym(RTLD_NEXT, "GrB_mxm");
  void *first = dlsym(RTLD_DEFAULT, "GrB_mxm"); /* Shunt's, as it is preloaded before */
  Dl_info to, shunt;
  if (!next || !first || !dladdr(__builtin_return_address(0), &to) || !dladdr(first, &shunt) ||
      to.dli_fbase == shunt.dli_fbase) {
    fprintf(stderr, "GrB_mxm returns to Shunt\n");
    _exit(9);
  }
  return next(c, mask, accum, semiring, a, b, d);
}
