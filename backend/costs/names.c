#include "backend/costs/coefficients.h"

#include <stddef.h>

#include "backend/costs/names.h"

#define PLACE(line, at, name, member, kind)                                                        \
  {line, #name, offsetof(struct shunt_cost_table, at member), SHUNT_COST_##kind},

static const struct shunt_coefficient ours[] = {SHUNT_KERNEL_LINES(PLACE)};
static const struct shunt_coefficient original[] = {SHUNT_ORIGINAL_LINES(PLACE)};

_Static_assert(sizeof(struct shunt_kernel_costs) == sizeof ours / sizeof *ours * sizeof(double),
               "all coefficients of kernels are doubles, and have a name");
_Static_assert(sizeof(struct shunt_original_costs) ==
                   sizeof original / sizeof *original * sizeof(double),
               "so have those of cuSPARSE");

const struct shunt_coefficients shunt_coefficients_ours = {ours, sizeof ours / sizeof *ours};
const struct shunt_coefficients shunt_coefficients_original = {original,
                                                               sizeof original / sizeof *original};
