/* tile_mixed_cost.h: the shape for tiles of any kind (libshunt-formats). */
#ifndef SHUNT_TILE_MIXED_COST_H
#define SHUNT_TILE_MIXED_COST_H

#include "kernels/tile/tile_mixed_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The shape of shunt_tile_mixed_spmm_shaped_cuda that is expected to take the least. */
struct shunt_tile_shape shunt_choose_tile_shape(const struct shunt_spmm *p,
                                                const struct shunt_tile *v,
                                                const struct shunt_device *d);

#ifdef __cplusplus
}
#endif
#endif
