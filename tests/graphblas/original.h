/* original.h: the products as the program's own symbols give them (the preloaded library's, if
   there is one) and as GraphBLAS itself has them, reached through its handle.

   The library is the object that holds GrB_getVersion, which nobody replaces; its GrB_mxm comes
   from dlsym on that object, so a preloaded one cannot stand in its way.  */
#ifndef TEST_ORIGINAL_H
#define TEST_ORIGINAL_H

#include <GraphBLAS.h>
#include <stdbool.h>

struct products {
  GrB_Info (*mxm)(GrB_Matrix, const GrB_Matrix, const GrB_BinaryOp, const GrB_Semiring,
                  const GrB_Matrix, const GrB_Matrix, const GrB_Descriptor);
  GrB_Info (*mxv)(GrB_Vector, const GrB_Vector, const GrB_BinaryOp, const GrB_Semiring,
                  const GrB_Matrix, const GrB_Vector, const GrB_Descriptor);
  GrB_Info (*vxm)(GrB_Vector, const GrB_Vector, const GrB_BinaryOp, const GrB_Semiring,
                  const GrB_Vector, const GrB_Matrix, const GrB_Descriptor);
};

/* false, with a line on stdout, if the library cannot be found. */
bool products_find(struct products *subject, struct products *original);
/* Are the two different functions? */
bool products_preloaded(const struct products *subject, const struct products *original);

/* How often the original's own GrB_mxm, GrB_mxv and GrB_vxm ran, by its burble, which goes to a
   counter instead of stdout.  Single-threaded programs only.  */
void calls_watch(void);
void calls_reset(void);
long calls_seen(void);

#endif
