/* dcsr_conv.h: CSR, CSC and COO to the `dcsr` format (kernels/dcsr/dcsr_format.h), whole or in
   strips, and back.

   The rules of kernels/common/device.h: nothing here allocates, prints or decides; all memory is
   the caller's, sizes are asked for first.  Thread-safe for different outputs and scratch.

   The order of use:

     count_host   -> segments     (or most_segments, a bound that needs no look at the arrays)
     bytes, lay_out               memory for the arrays
     to_dcsr_host                 the arrays
     to_csr_host                  and back  */
#ifndef SHUNT_CONV_DCSR_H
#define SHUNT_CONV_DCSR_H

#include "kernels/common/device.h"
#include "kernels/dcsr/dcsr_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a dcsr matrix is made from ------------------------------------------------- */

enum shunt_dcsr_from { SHUNT_DCSR_FROM_CSR, SHUNT_DCSR_FROM_CSC, SHUNT_DCSR_FROM_COO };

/* A borrowed view of a sparse matrix in one of three formats.  Entries may be in any order
   inside a row (CSR), a column (CSC) or altogether (COO), and may repeat.

            offsets       row_indices   columns
     CSR    [rows + 1]    NULL          [nnz]
     CSC    [cols + 1]    [nnz]         NULL
     COO    NULL          [nnz]         [nnz]       values [nnz] always

   Indices are `index_type` (SHUNT_I32, SHUNT_I64) and count from `base` (0 or 1). */
struct shunt_dcsr_source {
  enum shunt_dcsr_from from;
  int64_t rows, cols, nnz;
  const void *offsets, *row_indices, *columns, *values;
  shunt_type index_type, value_type;
  int base;
};

struct shunt_dcsr_source shunt_dcsr_source_csr(const struct shunt_csr *a);

/* Which of an input's rules was broken, and where. */
enum shunt_dcsr_rule {
  SHUNT_DCSR_SOUND,
  SHUNT_DCSR_SIZES,      /* a size is negative */
  SHUNT_DCSR_FIRST,      /* offsets[0] is not the base */
  SHUNT_DCSR_DESCENDING, /* offsets[at] < offsets[at - 1] */
  SHUNT_DCSR_LAST,       /* the last offset is not nnz + base */
  SHUNT_DCSR_ROW,        /* row_indices[at] is not in [base, rows + base) */
  SHUNT_DCSR_COLUMN,     /* columns[at] is not in [base, cols + base) */
  /* the hardware model only: row_indices[at] < row_indices[at - 1] in a column */
  SHUNT_DCSR_UNSORTED
};

struct shunt_dcsr_fault {
  enum shunt_dcsr_rule rule;
  int64_t line;  /* the row (CSR) or column (CSC), from 0, that this is in; -1: none */
  int64_t at;    /* position in the array that the rule names */
  int64_t value; /* what stands there */
};

/* SHUNT_OK: every offset and index is in range.  SHUNT_E_ARGUMENT: *fault (may be NULL) says
   the first that is not, offsets before indices, in the order of storage.  SHUNT_E_UNSUPPORTED:
   index type.  */
shunt_status shunt_dcsr_check_host(const struct shunt_dcsr_source *a,
                                   struct shunt_dcsr_fault *fault);

/* The rule and the position that counts->fault of a dcsr matrix names: the same ones, of several
   the same one, that shunt_dcsr_check_host finds.  SHUNT_DCSR_SOUND: none; the matrix may still be
   irregular because it has more segments than room.  */
enum shunt_dcsr_rule shunt_dcsr_fault_place(uint64_t word, int64_t *at);

/* ---- sizes ------------------------------------------------------------------------------- */

struct shunt_dcsr_layout {
  int64_t width;         /* columns of a strip; 0: the whole matrix is one */
  shunt_type index_type; /* of the result: SHUNT_I32 (sizes and nnz below 2^31) or SHUNT_I64 */
};

/* The width that a layout gives a matrix of `cols` columns, and its number of strips. */
int64_t shunt_dcsr_width(int64_t cols, const struct shunt_dcsr_layout *layout);
int64_t shunt_dcsr_strips(int64_t cols, int64_t width);
/* The most segments a matrix of these sizes can have: min(nnz, rows x strips).  Arrays are
   not read, so that memory can be had before a device has looked at them.  */
int64_t shunt_dcsr_most_segments(const struct shunt_dcsr_source *a,
                                 const struct shunt_dcsr_layout *layout);
/* Bytes of memory for a dcsr matrix with room for `segments`; 0: cannot be made (index type,
   width below 0, sizes too large for it).  */
size_t shunt_dcsr_bytes(const struct shunt_dcsr_source *a, const struct shunt_dcsr_layout *layout,
                        int64_t segments);
/* The arrays in `memory` (256-byte aligned, that many bytes); only pointers are computed.
   False when shunt_dcsr_bytes says 0.  */
int shunt_dcsr_lay_out(const struct shunt_dcsr_source *a, const struct shunt_dcsr_layout *layout,
                       int64_t segments, void *memory, struct shunt_dcsr *out);
/* Bytes of scratch for the two functions below (8-byte aligned). */
size_t shunt_dcsr_scratch_bytes(const struct shunt_dcsr_source *a,
                                const struct shunt_dcsr_layout *layout);

/* ---- there and back ---------------------------------------------------------------------- */

/* The segments that `a` has.  Faults as shunt_dcsr_check_host. */
shunt_status shunt_dcsr_count_host(const struct shunt_dcsr_source *a,
                                   const struct shunt_dcsr_layout *layout, void *scratch,
                                   int64_t *segments, struct shunt_dcsr_fault *fault);

/* Fills `out`, laid out for a matrix of the same sizes and the same layout.  Entries of a segment
   are in the order of `a`: of the row (CSR), of the columns (CSC), of the list (COO).
   SHUNT_E_ARGUMENT: a fault, as above; SHUNT_E_WORKSPACE: more segments than `out` has room
   for.  Then out->counts->irregular is SHUNT_IRREGULAR and nothing else was written.
   O(nnz + rows + strips).  Deterministic.  */
shunt_status shunt_source_to_dcsr_host(const struct shunt_dcsr_source *a,
                                       const struct shunt_dcsr_layout *layout, void *scratch,
                                       const struct shunt_dcsr *out,
                                       struct shunt_dcsr_fault *fault);

/* The same on the device, with the same bytes: a's arrays, scratch and out's arrays are device
   memory, scratch (256-byte aligned) of at least shunt_dcsr_scratch_bytes_cuda bytes, 0: cannot be
   made.  Enqueues only; legal in stream capture.  What a bad matrix or too many segments make
   irregular is told by out->counts, on the device; out then stays inside its memory, and what it
   holds may be read, but stands for nothing.  A radix sort of 64-bit keys: O(nnz) for
   each 8 bits of strips and, but for CSR, of rows; none for whole CSR.
   SHUNT_E_UNSUPPORTED: as shunt_dcsr_bytes, or strips x rows of 2^64 and more;
   SHUNT_E_WORKSPACE: scratch too small or misaligned; SHUNT_E_ARGUMENT: negative sizes;
   SHUNT_E_CUDA: `out` then holds nothing of use, nor say its counts.  */
size_t shunt_dcsr_scratch_bytes_cuda(const struct shunt_dcsr_source *a,
                                     const struct shunt_dcsr_layout *layout);
shunt_status shunt_source_to_dcsr_cuda(const struct shunt_dcsr_source *a,
                                       const struct shunt_dcsr_layout *layout, void *scratch,
                                       size_t scratch_bytes, const struct shunt_dcsr *out,
                                       const struct shunt_device *d, shunt_stream stream);

/* d as CSR: every entry that it was made from, stored zeros and repeats included.
   A row's entries stand strip by strip, in each as they stood in the source: a row whose columns
   ascend (or one strip, made from CSR) comes back byte for byte; an unsorted row made into
   several strips comes back grouped by strip, which no product notices but in rounding.
   a's arrays are host memory with room for d->rows + 1 and d->nnz; a's index type and base are
   kept.  SHUNT_E_ARGUMENT: d is irregular.  SHUNT_E_UNSUPPORTED: sizes that a's index
   type does not hold.  */
shunt_status shunt_dcsr_to_csr_host(const struct shunt_dcsr *d, struct shunt_csr *a);

/* ---- footprint --------------------------------------------------------------------------- */

/* Bytes of the arrays alone, without padding: CSR (CSC: give columns as rows), and dcsr. */
double shunt_csr_footprint(int64_t rows, int64_t nnz, shunt_type index, shunt_type value);
double shunt_dcsr_footprint(int64_t strips, int64_t segments, int64_t nnz, shunt_type index,
                            shunt_type value);

#ifdef __cplusplus
}
#endif
#endif
