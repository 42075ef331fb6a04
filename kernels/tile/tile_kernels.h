/* tile_kernels.h: launchers of SpMM with A in the `tile` format (kernels/tile/spmm*.cu).

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

/* How a product is computed; all ways give right results.

   rows == 16: gathered, for matrices with merged columns, and those only.  `split` (1, 2, 4, 8) warps
   share a block row's tiles for 64 columns of C.  Needs compute capability 8.0.
   rows == 0: direct.  A warp has one block row and `tile` (64 or 128) columns of C; needs compute
   capability 8.0.
   else: blocked.  A block owns rows x tile of C: 128 x 128, 128 x 64 or 64 x 64, in which 1, 2 or 4
   sets of warps split the columns of A.  `split` (1, 2, 4) blocks, a cluster, share the columns of
   A for one part of C and add up.  Needs compute capability 9.0, 209 KB of shared memory, and
   v->chunk.  */
struct shunt_tile_shape {
  int rows, tile, split;
};

/* The shape that shunt_tile_spmm_cuda takes. */
struct shunt_tile_shape shunt_tile_spmm_shape(const struct shunt_spmm *p,
                                              const struct shunt_tile *v,
                                              const struct shunt_device *d);

/* Microseconds that the gathered kernel is expected to take for so many merged tiles, the longest row of
   A having so many entries; 1.1 off.  */
double shunt_tile_spmm_merged_us(const struct shunt_spmm *p, double tiles, double longest_row,
                                 const struct shunt_device *d);

/* p->a gives sizes and types only; its arrays are not read.  v: made from a matrix of
   these sizes.  No `only_if`.  The workspace is needed for a copy of B when B is
   column-major or its rows or pointer are not multiples of 16 bytes.  Needs compute
   capability 8.0.  */
size_t shunt_tile_spmm_workspace(const struct shunt_spmm *p);
shunt_status shunt_tile_spmm_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                  const struct shunt_device *d, void *workspace,
                                  size_t workspace_bytes, shunt_stream stream);
/* The same with a given shape.  SHUNT_E_UNSUPPORTED when it does not fit. */
shunt_status shunt_tile_spmm_shaped_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                         const struct shunt_tile_shape *shape,
                                         const struct shunt_device *d, void *workspace,
                                         size_t workspace_bytes, shunt_stream stream);
/* Is such a product from merged columns proved inside its own launch?  Where its blocks are at work all
   at once, or twice with few to spare: more are dealt out better by the hardware.  */
bool shunt_tile_spmm_proves(const struct shunt_spmm *p, const struct shunt_device *d);
/* C = alpha A B from merged columns, and in the same launch what shunt_guard_repair_cuda(p, r) does
   behind a product: r->product is not looked at, none is needed; p->only_if has the meaning that it
   has there.  A's arrays are read.  SHUNT_E_UNSUPPORTED, and nothing enqueued, where beta is not 0 on
   the host or the tiles are no merged ones.  */
shunt_status shunt_tile_spmm_proved_cuda(const struct shunt_spmm *p, const struct shunt_tile *v,
                                         const struct shunt_guard *r, const struct shunt_device *d,
                                         void *workspace, size_t workspace_bytes,
                                         shunt_stream stream);
/* The twin: decodes fragments and metadata as the instructions do. */
shunt_status shunt_tile_spmm_host(const struct shunt_spmm *p, const struct shunt_tile *v);

#ifdef __cplusplus
}
#endif
#endif
