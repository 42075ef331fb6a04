/* mask.h: which entries of a valued mask count. */
#ifndef SHUNT_GRAPHBLAS_MASK_H
#define SHUNT_GRAPHBLAS_MASK_H

#include "backend/graphblas/product.h"

/* Bytes of a mask's entries; 0: a type that is not known here. */
size_t grb_mask_value_size(const struct grb_library *l, GrB_Type type);

/* Does entry p count?  GraphBLAS looks at the bits: an entry is false if all are 0, so NaN is
   true.  */
bool grb_mask_is_true(const void *values, size_t size, int64_t p);

/* Reads a valued mask of floating-point numbers and declines it if it holds -0.0: GraphBLAS counts
   that as true in some orientations and as false in others.  */
struct shunt_verdict grb_mask_check_zeros(struct grb_product *p);

#endif
