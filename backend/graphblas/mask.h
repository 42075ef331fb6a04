/* mask.h: which entries of a mask count, and what becomes of C outside them. */
#ifndef SHUNT_GRAPHBLAS_MASK_H
#define SHUNT_GRAPHBLAS_MASK_H

#include "backend/graphblas/product.h"

/* Reads a valued mask of floating-point numbers and declines it if it holds -0.0: GraphBLAS counts
   that as true in some orientations and as false in others.  */
struct shunt_outcome grb_mask_check_zeros(struct grb_product *p);

/* Reads a mask that has to be sparse, with entries that may count. */
struct shunt_outcome grb_mask_read_sparse(struct grb_product *p);

/* Of a sparse mask that was read: do all of its entries count? */
bool grb_mask_is_whole(const struct grb_product *p);

/* Fills offsets, indices and, of a hypersparse mask, ids of p->t, which have room for the mask's,
   with the entries that count.  */
void grb_mask_pattern(struct grb_product *p);

/* A hypersparse matrix lists only vectors with entries: GraphBLAS' transpose counts on it. */
void grb_mask_drop_empty_vectors(struct grb_result *t);

/* Does a result under a sparse mask replace all of C?  Without accum C's entries outside M stay,
   unless REPLACE clears them or there are none.  */
bool grb_mask_replaces_all(const struct grb_product *p);

#endif
