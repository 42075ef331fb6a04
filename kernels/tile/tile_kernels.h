/* tile_kernels.h: launchers of SpMM with A in the `tile` format, its columns merged and all tiles
   dense: what route `tile` runs (kernels/tile/tile_spmm*.cu).  Other tiles: tile_mixed_kernels.h.

     C[m x n] = alpha A[m x k] B[k x n] + beta C,    A packed (kernels/tile/tile_format.h)

   The rules of kernels/common/device.h hold.  Types: f16 or bf16, into the same or f32;
   accumulation in f32.  A zero that only fills a tile up never meets a NaN or Inf of B in
   the result: a sum that became NaN is computed again from A's own entries, in the same
   launch.  */
#ifndef SHUNT_TILE_KERNELS_H
#define SHUNT_TILE_KERNELS_H

#include <stdbool.h>

#include "kernels/guard/guard.h"
#include "kernels/tile/tile_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a product is computed; all ways give right results.  rows == 16, tile == 64: `split` (1, 2,
   4, 8) warps share a block row's tiles for 64 columns of C.  Others: tile_mixed_kernels.h.  */
struct shunt_tile_shape {
  int rows, tile, split;
};

/* The shape that shunt_tile_spmm_cuda takes: a dozen warps a multiprocessor. */
struct shunt_tile_shape shunt_tile_spmm_shape(const struct shunt_spmm *p,
                                              const struct shunt_device *d);

/* p->a gives sizes and types only; its arrays are not read.  v: made from a matrix of
   these sizes, with SHUNT_TILE_MERGE and SHUNT_TILE_DENSE and no room for 2:4 tiles (else
   SHUNT_E_UNSUPPORTED).  No `only_if`.  The workspace is needed for a copy of B when B is
   column-major or its rows or pointer are not multiples of 16 bytes.  Needs compute
   capability 8.0.  */
size_t shunt_tile_spmm_workspace(const struct shunt_spmm *p);
shunt_status shunt_tile_spmm_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                  const struct shunt_device *d, void *workspace,
                                  size_t workspace_bytes, shunt_stream stream);
/* Is such a product from merged columns proved inside its own launch?  Where its blocks are at work
   all at once, or twice with few to spare: more are dealt out better by the hardware. */
bool shunt_tile_spmm_proves(const struct shunt_spmm *p, const struct shunt_device *d);
/* C = alpha A B from merged columns, and in the same launch what shunt_guard_repair_cuda(p, r) does
   behind a product: r->product is not looked at, none is needed; p->only_if has the meaning that it
   has there.  A's arrays are read.  SHUNT_E_UNSUPPORTED, and nothing enqueued, where beta is not 0
   on the host or the tiles are not such. */
shunt_status shunt_tile_spmm_proved_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                         const struct shunt_guard *r, const struct shunt_device *d,
                                         void *workspace, size_t workspace_bytes,
                                         shunt_stream stream);
/* The twin, of tiles of any kind: decodes fragments and metadata as the instructions do. */
shunt_status shunt_tile_spmm_host(const struct shunt_spmm *p, const struct shunt_tile *v);

#ifdef __cplusplus
}
#endif
#endif
