/* masked_cost.h: nanoseconds that a product of two sparse matrices under a sparse mask takes one
   thread, by each way, from counts alone (masked_cost.c has the rates). */
#ifndef SHUNT_GRAPHBLAS_MASKED_COST_H
#define SHUNT_GRAPHBLAS_MASKED_COST_H

#include "kernels/semiring/masked/masked.h"

struct grb_masked_cost {
  double dot;      /* ours, by dot products */
  double saxpy;    /* ours, by rows added up; INFINITY: not known without a transpose */
  double original; /* GraphBLAS': the least that was seen */
};

/* What is counted of a product (masked.h). */
struct grb_masked_counts {
  struct shunt_masked_reads reads; /* 0: not counted yet */
  struct shunt_masked_terms terms;
  bool has_terms, symmetric;
};
/* All but the reads, which take longest to count. */
struct grb_masked_counts grb_masked_count(const struct shunt_masked_dot *x);
void grb_masked_count_reads(const struct shunt_masked_dot *x, struct grb_masked_counts *n);
struct grb_masked_cost grb_masked_cost(const struct shunt_masked_dot *x,
                                       const struct grb_masked_counts *n);

/* What rows of B added up take at least: for so many terms of so many entries of A, and of M. */
struct grb_masked_size {
  double mask_entries, entries, terms;
  bool values; /* are read */
};
double grb_masked_least(const struct shunt_sparse *b, const struct grb_masked_size *n);

#endif
