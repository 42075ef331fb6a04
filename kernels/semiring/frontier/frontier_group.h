/* frontier_group.h: inside of the frontier products: one group of rows. */
#ifndef SHUNT_SEMIRING_FRONTIER_GROUP_H
#define SHUNT_SEMIRING_FRONTIER_GROUP_H

#include "kernels/semiring/frontier/frontier_kernels.h"

enum { SHUNT_GROUP_SUMS = 8 }; /* rows of a group of sums */

struct shunt_group {
  int64_t first;
  int rows; /* 64 at most; of sums SHUNT_GROUP_SUMS */
};

/* Its rows of T, one after the other; to be freed. */
struct shunt_group_result {
  int64_t count[64];
  uint32_t *indices;
  double *values; /* NULL: no sums */
};

/* Scratch for one group, aligned to 64 bytes. */
size_t shunt_group_bytes(const struct shunt_frontier *p);
/* False: no memory; then *out may hold arrays. */
bool shunt_group_run(const struct shunt_frontier *p, struct shunt_group rows, char *scratch,
                     struct shunt_group_result *out);

#endif
