/* commit.h: a finished result put into C, as GraphBLAS itself would have.

   C<M> = accum (C, T) has three ways, and C is not touched before one of them starts:

     in place   C is full, of the result's type, and no input: T was computed in C's array
     packed     no accum, no mask: T's arrays become C's.  Packing sets C's orientation, sparsity
                control and switches to defaults, so they are put back, which also makes
                GraphBLAS choose C's form as it does after its own product
     applied    otherwise: T becomes a matrix of its own, and GraphBLAS' own GrB_apply with the
                identity operator does accum, mask, REPLACE and conversion to C's type  */
#ifndef SHUNT_GRAPHBLAS_COMMIT_H
#define SHUNT_GRAPHBLAS_COMMIT_H

#include "backend/graphblas/product.h"

/* Will T's arrays become C's?  T's orientation and replaces_all are set. */
bool grb_commit_hands_over(const struct grb_product *p);

/* May C's array be written in place?  Reads C. */
bool grb_commit_in_place_possible(struct grb_product *p);

/* For a result that is not committed: T's arrays, and others. */
void grb_arrays_release(const struct grb_library *l, struct grb_result *t);
void grb_result_release(struct grb_product *p);

#endif
