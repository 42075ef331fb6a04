/* frontier_single.h: inside of the frontier products: rows of F that are pushed one by one. */
#ifndef SHUNT_SEMIRING_FRONTIER_SINGLE_H
#define SHUNT_SEMIRING_FRONTIER_SINGLE_H

#include "kernels/semiring/frontier/frontier_group.h"

/* Scratch of a worker, aligned to 64 bytes. */
size_t shunt_single_bytes(const struct shunt_frontier *p);
/* Once for each worker, before its first row. */
void shunt_single_start(const struct shunt_frontier *p, char *scratch);
/* Fills T's row s of `to`, and offsets[s + 1] with its entries.  *values: where T has some and does
   not become a bitmap, to be freed.  False: no memory.  */
bool shunt_single_run(const struct shunt_frontier *p, int64_t s, const struct shunt_places *to,
                      char *scratch, uint64_t *offsets, void **values);

#endif
