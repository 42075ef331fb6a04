/* dcsr_kernels.h: C = alpha A B + beta C for A in the `dcsr` format.

   The rules of kernels/common/device.h.  Only sizes and types of p->a are read (and may be zero);
   A is `d`, its arrays as conv/dcsr/dcsr_conv.h lays them out (columns and values begin at
   multiples of 32 bytes and may be read up to the next).  B and C may be row- or column-major, with
   any leading dimension.

     value type of A and B      C                compute
     f16, bf16                  the same, f32    f32
     f32                        f32              f32
     f64                        f64              f64

   SHUNT_E_UNSUPPORTED: other types.  SHUNT_E_ARGUMENT: shapes that do not match, or d is
   irregular.  */
#ifndef SHUNT_DCSR_KERNELS_H
#define SHUNT_DCSR_KERNELS_H

#include "kernels/common/device.h"
#include "kernels/dcsr/dcsr_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What products of such values are summed in. */
static inline shunt_type shunt_dcsr_sum_type(shunt_type value)
{
  return value == SHUNT_F16 || value == SHUNT_BF16 ? SHUNT_F32 : value;
}

/* ---- C-stationary on the device (kernels/dcsr/dcsr_spmm_rows.cu) --------------------------------

   d is whole (one strip, or none), else SHUNT_E_UNSUPPORTED; regular, and room is the number of
   its segments (as its counts say, which the caller has read).  All types of the table; no
   `only_if`.  The csr kernel, and, unless all rows have entries, one launch before or behind it.
   longest_row: how many entries the longest row had when somebody looked,
   -1 if nobody did; a hint that may be wrong.  Workspace: where some rows are empty, the offsets of
   all or segments x C's columns, and what the csr kernel wants.  */
size_t shunt_dcsr_spmm_rows_workspace(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                                      const struct shunt_device *device);
shunt_status shunt_dcsr_spmm_rows_cuda(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                                       int64_t longest_row, const struct shunt_device *device,
                                       void *workspace, size_t workspace_bytes,
                                       shunt_stream stream);

/* ---- B-stationary: the second phase's matrix (kernels/dcsr/dcsr_sums.cu) ------------------------

   Both B-stationary products write the sums of each segment to a row of P, in whatever order
   segments come, and then C = alpha S P + beta C for the matrix S of ones that says which rows
   of P make up a row of C:

     segments of row i = 1, in strips 0, 2, 3:  g = 0, 5, 9       S = row 0  . . . .
                                                                        1  1 . . . . 1 . . . 1
     S in CSR: columns ascend, that is strip after strip

   so the order of additions is fixed without an atomic on a number.  S depends on the pattern
   alone: for stored strips it is made once and kept.  */
struct shunt_dcsr_sums {
  int64_t rows, room;    /* of S: rows of C; entries that there is memory for */
  shunt_type value_type; /* shunt_dcsr_sum_type of A's: SHUNT_F32 or SHUNT_F64 */
  int32_t *offsets;      /* [rows + 1] */
  int32_t *segments;     /* [room] the first offsets[rows] are used */
  void *ones;            /* [room] */
};
/* Bytes of one allocation (256-byte aligned) for it, and its arrays there.  0: cannot be made
   (negative sizes, 2^30 rows or segments and more, types).  */
size_t shunt_dcsr_sums_bytes(int64_t rows, int64_t room, shunt_type value_type);
int shunt_dcsr_sums_lay_out(int64_t rows, int64_t room, shunt_type value_type, void *memory,
                            struct shunt_dcsr_sums *out);
/* S of d's segments, as many as `out` has room for; the twin writes the same bytes.  scratch:
   256-byte aligned device memory of shunt_dcsr_sums_scratch_bytes; enqueues only.  Integer
   atomics, then each row's list is put in order: O(segments + rows + sum of list length^2 / 32)
   loads.  SHUNT_E_ARGUMENT: sizes of out and d do not match; SHUNT_E_WORKSPACE.  */
size_t shunt_dcsr_sums_scratch_bytes(int64_t rows, int64_t room);
shunt_status shunt_dcsr_sums_cuda(const struct shunt_dcsr *d, const struct shunt_dcsr_sums *out,
                                  void *scratch, size_t scratch_bytes,
                                  const struct shunt_device *device, shunt_stream stream);
shunt_status shunt_dcsr_sums_host(const struct shunt_dcsr *d, const struct shunt_dcsr_sums *out);

/* ---- B-stationary on the device, stored strips (kernels/dcsr/dcsr_spmm_strips.cu) ---------------

   Any d of strips up to SHUNT_DCSR_MOST_WIDTH columns with room for fewer than 2^30 segments (C
   is beta C where d is irregular);
   all types of the table; no `only_if`.  `sums`: of d.  C's columns are taken in panels of 256
   bytes of B, two launches each.  Workspace: room x panel in the type that is summed in, up to 512
   bytes a segment.  Deterministic; legal in stream capture.  The bits are not those of the twin,
   which adds a row's segments one after the other, where a row has more than some.  */
enum { SHUNT_DCSR_MOST_WIDTH = 256 };
size_t shunt_dcsr_spmm_strips_workspace(const struct shunt_spmm *p, const struct shunt_dcsr *d);
shunt_status shunt_dcsr_spmm_strips_cuda(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                                         const struct shunt_dcsr_sums *sums,
                                         const struct shunt_device *device, void *workspace,
                                         size_t workspace_bytes, shunt_stream stream);

/* ---- B-stationary on the device, A in CSC (kernels/dcsr/dcsr_csc_online.cu) ---------------------

   Strips of SHUNT_DCSR_STRIP columns are made in shared memory as they are multiplied: nothing
   is converted before and no strip is ever stored.  `columns` is A in CSC, given as the CSR of
   its transpose: columns->rows = p->a.cols, row_offsets are the column offsets, `columns` the
   row indices, which ascend in each column (they may repeat; where they descend C is
   unspecified, but nothing outside its memory is touched).  Of p->a only sizes and types are
   read.  f32, f64; no `only_if`; fewer than 2^30 entries and rows.
   Workspace: entries x (panel + 12 + value) + 8 x rows bytes, the panel up to 256.
   Deterministic; legal in stream capture.  */
size_t shunt_dcsr_csc_online_workspace(const struct shunt_spmm *p);
shunt_status shunt_dcsr_csc_online_cuda(const struct shunt_spmm *p, const struct shunt_csr *columns,
                                        const struct shunt_device *device, void *workspace,
                                        size_t workspace_bytes, shunt_stream stream);

/* ---- host: the slow twins, one thread (kernels/dcsr/host_dcsr_spmm.c) ------------------------ */

/* C-stationary: each element of C is summed at once, in the order of storage, and written once.
   d is whole (one strip, or none); more strips: SHUNT_E_UNSUPPORTED.  The same bits as
   shunt_csr_spmm_host on the CSR that d was made from.  */
shunt_status shunt_dcsr_spmm_rows_host(const struct shunt_spmm *p, const struct shunt_dcsr *d);

/* B-stationary: strip after strip, each segment is summed by itself and then added to what the
   row has from the strips before, in the compute type.  Any number of strips.
   workspace: shunt_dcsr_spmm_strips_workspace_host(p) bytes, 8-byte aligned, or
   SHUNT_E_WORKSPACE.  */
size_t shunt_dcsr_spmm_strips_workspace_host(const struct shunt_spmm *p);
shunt_status shunt_dcsr_spmm_strips_host(const struct shunt_spmm *p, const struct shunt_dcsr *d,
                                         void *workspace, size_t workspace_bytes);

#ifdef __cplusplus
}
#endif
#endif
