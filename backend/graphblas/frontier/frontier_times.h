/* frontier_times.h: inside of the frontier's estimates: nanoseconds of a step by either side, and
   what both count.  */
#ifndef SHUNT_GRAPHBLAS_FRONTIER_TIMES_H
#define SHUNT_GRAPHBLAS_FRONTIER_TIMES_H

#include "kernels/semiring/frontier/frontier_kernels.h"

/* On the threads that there are, and on one. */
struct grb_frontier_time {
  double all, alone;
};

struct grb_frontier_time grb_frontier_by_original(const struct shunt_frontier *x, double f_entries,
                                                  struct shunt_frontier_reads reads);
/* Ours, by groups of rows or one by one. */
struct grb_frontier_time grb_frontier_in_groups(const struct shunt_frontier *x, double f_entries,
                                                struct shunt_frontier_reads reads);
struct grb_frontier_time grb_frontier_one_by_one(const struct shunt_frontier *x, double f_entries,
                                                 struct shunt_frontier_reads reads);

static inline double grb_step_mask_entries(const struct shunt_frontier *x)
{
  return x->m.dense ? 0 : (double)x->m.sparse.nnz;
}

static inline double grb_step_places(const struct shunt_frontier *x)
{
  return (double)x->rows * (double)x->a.cols;
}

/* A share of places, at most all. */
static inline double grb_share(double some, double all)
{
  return some < all ? some / all : 1;
}

static inline double grb_step_mask_share(const struct shunt_frontier *x)
{
  return grb_share(grb_step_mask_entries(x), grb_step_places(x));
}

#endif
