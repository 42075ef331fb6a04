/* bundle_kernels.h: C = alpha A B + beta C with A in CSR and a hint of which columns each
   group of 8 rows has (kernels/bundle/bundle_format.h).

   The rules of kernels/common/device.h.  Direct: A's offsets, columns and values are those of the
   moment; the hint only says where to expect what.  Each entry of A that is used was compared with
   the hint, and a group whose entries are not the hint's, one and all, is computed row by row in
   the same launch: results are right for any A and any hint, in whatever state A was when the
   hint was made.

     value type of A and B      C      compute
     f32                        f32    f32          FMA
     f64                        f64    f64          FMA, mma.m16n8k8 where rows of B are aligned

   B and C may be row- or column-major, with any leading dimension.  Rows of A may be unsorted
   or repeat columns (they are slow then).  Deterministic: the order of a sum depends on A, the
   hint, the shape and sizes, on nothing that varies from call to call.  */
#ifndef SHUNT_BUNDLE_KERNELS_H
#define SHUNT_BUNDLE_KERNELS_H

#include "kernels/bundle/bundle_format.h"
#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a launch is cut.  Lanes of a warp that share the columns of one row of B, 16 bytes each (an
   element each where rows are not aligned): 2^lanes_log2, 4 .. 32 (f64, aligned: 8 .. 32, 4 is
   taken for 8); warps that share a group: 2^slices_log2, 1 .. 8.  long_slots: blocks of 8 warps
   with 2^long_lanes_log2 lanes for that many long groups; if the hint has more, or 0 are given,
   they are groups like the others.  */
struct shunt_bundle_shape {
  int lanes_log2, slices_log2, long_lanes_log2;
  uint32_t long_slots;
};

/* The shape that takes the fewest turns of a scheduler, as counted in the compiled kernels.

   hint: made by conv/bundle/bundle_conv.h; only its sizes are read.  known: hint->counts as the
   host last saw them, host memory; NULL: nothing is known, long groups get no room of their own.
 */
struct shunt_bundle_shape shunt_bundle_spmm_shape(const struct shunt_spmm *p,
                                                  const struct shunt_bundle *hint,
                                                  const struct shunt_bundle_counts *known,
                                                  const struct shunt_device *d);

/* The product; every shape gives a right result.

   hint: as above, device memory, complete when the stream comes to this launch.  Its lists may be
   those of another pattern; sizes of it and p->a must agree, but nnz need not.

   Workspace: for a row-major copy of B, needed when B is column-major.  Rows of B that are
   not multiples of 16 bytes, or stand at such an address, are read element by element, some three
   times slower.

   SHUNT_E_UNSUPPORTED: other types, `only_if`, sizes of 2^31 - 1024 entries or columns and more,
   rows of B of 4 GiB and more, a shape out of range.  SHUNT_E_ARGUMENT: sizes that do not match or
   are 0.  SHUNT_E_WORKSPACE: too small or misaligned.  SHUNT_E_CUDA: a launch
   failed.  */
size_t shunt_bundle_spmm_workspace(const struct shunt_spmm *p);
shunt_status shunt_bundle_spmm_cuda(const struct shunt_spmm *p, const struct shunt_bundle *hint,
                                    const struct shunt_bundle_shape *shape,
                                    const struct shunt_device *d, void *workspace,
                                    size_t workspace_bytes, shunt_stream stream);

#ifdef __cplusplus
}
#endif
#endif
