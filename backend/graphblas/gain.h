/* gain.h: what SuiteSparse:GraphBLAS itself, and the host engine, are expected to take for a
   product, so that a report can say what was saved.  Nothing is decided by it.

   Both were measured on the same machine, so that their quotient also serves others, and busy ones.
   Pure functions, from sizes and forms alone.  */
#ifndef SHUNT_GRAPHBLAS_GAIN_H
#define SHUNT_GRAPHBLAS_GAIN_H

#include "kernels/semiring/semiring_kernels.h"

struct grb_gain {
  double original_us, host_us; /* 0: nothing like it was measured */
  double off; /* the factor that their quotient is usually off by, either way: the geometric
                 standard deviation of what it was fitted to */
};

/* S x D, x without C.  C by column: of the product as x has it.  into: it is added to a full C. */
struct grb_gain grb_gain_spmm(const struct shunt_host_spmm *x, bool c_by_column, bool into);
/* w = S u by a semiring of MIN or MAX. */
struct grb_gain grb_gain_vector(const struct shunt_host_spmm *x);
/* x without pattern, of which so many entries count.  GraphBLAS computes no more than these only
   where U is by row and V by column.  */
struct grb_gain grb_gain_sddmm(const struct shunt_host_sddmm *x, int64_t entries);
/* Two sparse matrices under a mask: what its choice is made by, nanoseconds of one thread. */
struct grb_gain grb_gain_masked_dot(double original_ns, double host_ns, int64_t work, int threads);

/* A step of searches: what its choice is made by, nanoseconds. */
struct grb_gain grb_gain_frontier(double original_ns, double host_ns);

/* What a product saved that took `us`, by the host engine or another; NAN: not known. */
double grb_gain_saved(const struct grb_gain *g, double us, bool by_host);

#endif
