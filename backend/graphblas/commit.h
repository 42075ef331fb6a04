/* commit.h: a finished result put into C, as GraphBLAS itself would have.

   C<M> = accum (C, T) has three ways, and C is not touched before one of them starts:

     in place   C is full, of the result's type, and no input: T was computed in C's array
     packed     no accum, no mask: T's arrays become C's.  Packing sets C's orientation, sparsity
                control and switches to defaults, so they are put back, which also makes
                GraphBLAS choose C's form as it does after its own product
     merged     otherwise: T becomes a matrix of its own, and GraphBLAS' own GrB_apply with the
                identity operator does accum, mask, REPLACE and conversion to C's type  */
#ifndef SHUNT_GRAPHBLAS_COMMIT_H
#define SHUNT_GRAPHBLAS_COMMIT_H

#include "backend/graphblas/product.h"

/* T, in memory of grb_allocate.  Which arrays there are follows from the form. */
struct grb_result {
  int form; /* GRB_FULL, GRB_BITMAP, GRB_SPARSE, GRB_HYPERSPARSE */
  bool by_column;
  int64_t vectors, nvals;
  void *values;
  int8_t *present;
  uint64_t *offsets, *ids, *indices;
};

/* True: done, and T's arrays are GraphBLAS'.  False: C is as it was.  `replaces_all`: C = T,
   whatever C held.  Either way *t is cleared.  */
bool grb_commit(const struct grb_product *p, struct grb_result *t, bool replaces_all);

/* Will T's arrays become C's? */
bool grb_commit_hands_over(const struct grb_product *p, const struct grb_result *t,
                           bool replaces_all);

/* May C's array be written in place?  Reads C. */
bool grb_commit_in_place_possible(struct grb_product *p);
/* Ends a product that was computed in C's array. */
void grb_commit_in_place(const struct grb_product *p);

void grb_result_release(const struct grb_product *p, struct grb_result *t);

#endif
