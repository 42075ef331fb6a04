/* dense_copy.h: the launcher that copies a dense matrix into another layout. */
#ifndef SHUNT_KERNELS_DENSE_COPY_H
#define SHUNT_KERNELS_DENSE_COPY_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* to = from, element by element: two layouts (row-major, column-major, any leading dimension) of
   matrices of one size and type.  They must not overlap.  SHUNT_E_ARGUMENT: sizes or types differ.
   The rules of kernels/common/device.h.  */
shunt_status shunt_dense_copy_cuda(const struct shunt_dense *from, const struct shunt_dense *to,
                                   const struct shunt_device *d, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
