/* frontier_cost.h: whether a step of searches is worth while (frontier.c). */
#ifndef SHUNT_GRAPHBLAS_FRONTIER_COST_H
#define SHUNT_GRAPHBLAS_FRONTIER_COST_H

#include "kernels/semiring/frontier/frontier_kernels.h"

struct grb_frontier_cost {
  double original, host;             /* nanoseconds, on the threads that there are */
  double original_alone, host_alone; /* on one */
  bool single;                       /* ours goes through F's rows one by one */
};
struct grb_frontier_cost grb_frontier_cost(const struct shunt_frontier *x, double f_entries,
                                           struct shunt_frontier_reads reads);

#endif
