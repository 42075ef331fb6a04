/* coefficients.h: the list of names.h as data, for what reads, carries over or compares tables. */
#ifndef SHUNT_COEFFICIENTS_H
#define SHUNT_COEFFICIENTS_H

#include <stddef.h>

#include "backend/costs/cost_table.h"

/* A time grows as the rate of its kind falls; PER_*: is such a rate. */
enum shunt_cost_kind {
  SHUNT_COST_FIXED,
  SHUNT_COST_COPY,
  SHUNT_COST_NEAR,
  SHUNT_COST_FAR,
  SHUNT_COST_TENSOR,
  SHUNT_COST_PER_COPY,
  SHUNT_COST_PER_NEAR,
  SHUNT_COST_PER_FAR,
  SHUNT_COST_PER_TENSOR
};

struct shunt_coefficient {
  const char *line, *name;
  size_t place; /* in struct shunt_cost_table; of cuSPARSE, in its first original */
  enum shunt_cost_kind kind;
};
struct shunt_coefficients {
  const struct shunt_coefficient *of;
  size_t count;
};
extern const struct shunt_coefficients shunt_coefficients_ours, shunt_coefficients_original;

static inline double *shunt_coefficient_in(struct shunt_cost_table *t,
                                           const struct shunt_coefficient *c, int original)
{
  return (double *)(void *)((char *)t + c->place +
                            (size_t)original * sizeof(struct shunt_original_costs));
}

#endif
