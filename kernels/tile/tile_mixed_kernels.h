/* tile_mixed_kernels.h: launchers of SpMM with A in the `tile` format, its tiles 2:4 or dense,
   aligned or of merged columns (kernels/tile/tile_mixed_spmm*.cu).  No route takes them: for `shunt
   bench` and tests, in libshunt-formats.  Merged tiles that are all dense: tile_kernels.h, too. */
#ifndef SHUNT_TILE_MIXED_KERNELS_H
#define SHUNT_TILE_MIXED_KERNELS_H

#include <stdbool.h>

#include "kernels/tile/tile_kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a product is computed; all ways give right results.

   rows == 16: gathered, as tile_kernels.h says; for matrices with merged columns, and those only.
   rows == 0: direct.  A warp has one block row and `tile` (64 or 128) columns of C; needs compute
   capability 8.0.
   else: blocked.  A block owns rows x tile of C: 128 x 128, 128 x 64 or 64 x 64, in which 1, 2 or 4
   sets of warps split the columns of A.  `split` (1, 2, 4) blocks, a cluster, share the columns of
   A for one part of C and add up.  Needs compute capability 9.0, 209 KB of shared memory, and
   v->chunk.  */
bool shunt_tile_mixed_spmm_fits(const struct shunt_tile_shape *s, const struct shunt_tile *v,
                                const struct shunt_device *d);
/* The gathered shape, or the direct one, whose warps are neither too many nor too few. */
struct shunt_tile_shape shunt_tile_mixed_spmm_unblocked(const struct shunt_spmm *p,
                                                        const struct shunt_tile *v,
                                                        const struct shunt_device *d);

/* As shunt_tile_spmm_cuda, with a workspace as large as it asks for.  SHUNT_E_UNSUPPORTED when the
   shape does not fit.  */
shunt_status shunt_tile_mixed_spmm_shaped_cuda(const struct shunt_spmm *p,
                                               const struct shunt_tile *v,
                                               const struct shunt_tile_shape *shape,
                                               const struct shunt_device *d, void *workspace,
                                               size_t workspace_bytes, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
