/* graphblas_linked.c: a program linked to GraphBLAS, in whatever way the compiler was told to.

     linked            its own reference to GrB_mxm
     linked handle     the function that dlsym finds by the library's handle
     linked malloc     GraphBLAS started with an allocator whose blocks free() would not take
     linked early      products before GraphBLAS is started  */
#include "graphblas_use.h"

static use_product *by_handle(void)
{
  Dl_info info;
  void *library = NULL, *p = NULL;
  if (dladdr((void *)GrB_Matrix_nvals, &info))
    library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  if (library) p = dlsym(library, "GrB_mxm");
  return (use_product *)p;
}

int main(int argc, char **argv)
{
  const char *way = argc > 1 ? argv[1] : "";
  use_product *mxm = strcmp(way, "handle") == 0 ? by_handle() : GrB_mxm;
  if (!mxm) return 2;
  if (strcmp(way, "early") == 0) return mxm(NULL, NULL, NULL, NULL, NULL, NULL, NULL) != GrB_PANIC;
  if (use_start(strcmp(way, "malloc") == 0)) return 2;
  int bad = use_graphblas(mxm);
  return GrB_finalize() != GrB_SUCCESS || bad;
}
