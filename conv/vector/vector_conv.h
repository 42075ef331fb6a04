/* vector_conv.h: CSR to the `vector` format (kernels/vector/vector_format.h) and back.

   The rules of kernels/common/device.h.  Nothing waits for the device: the memory that a
   packed matrix takes is bounded by numbers the host knows, and a matrix that does not keep
   within them, or breaks the format's conditions, is called irregular.  */
#ifndef SHUNT_CONV_VECTOR_H
#define SHUNT_CONV_VECTOR_H

#include "conv/profile/profile.h"
#include "kernels/vector/vector_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a matrix is to be packed.  height: 16, 8, 4, 2 or 1: aligned sets of that many rows are
   expected to share their column lists.  It decides the memory only (vectors of a group <=
   its entries / height, or / 8), and for 16 the kernel, not the result.  listed: rows are packed in
   the order of v->row_of, a permutation that the caller writes between lay_out and packing
   (row_clusters.h makes one).  */
struct shunt_vector_layout {
  enum shunt_vector_order order;
  int height;
  int listed;
};

/* The tallest height of which at least a share `whole` of the groups are whole. */
int shunt_vector_profiled_height(const struct shunt_profile *f, double whole);

/* Bytes of memory for packing `a`, of which sizes and types are read, no arrays; 0: cannot be
   packed (value type not f16, bf16 or f32, height none of the five, 2^31 steps or more).  */
size_t shunt_vector_bytes(const struct shunt_csr *a, const struct shunt_vector_layout *layout);

/* The arrays of a packed `a` in `memory` (256-byte aligned, at least that many bytes);
   only pointers are computed.  False when shunt_vector_bytes says 0.  */
int shunt_vector_lay_out(const struct shunt_csr *a, const struct shunt_vector_layout *layout,
                         void *memory, struct shunt_vector *out);

/* Packs a into v, laid out before for a matrix of the same sizes and the same layout.
   v->counts->irregular is SHUNT_IRREGULAR afterwards when a row's columns are not strictly
   ascending, an index is out of range, or a group needs more steps than there is room for
   (rows that do not share lists of the height planned; WINDOWED: columns that crowd
   in one residue modulo 8); v then stands for some other matrix of the same sizes, so that a
   kernel may run on it before the host knows.  Otherwise 0.  Deterministic; the two functions write
   the same bytes.  A row_of that is no permutation is the caller's mistake: v stands for other rows
   then, and nothing outside of the arrays is touched.  */
shunt_status shunt_csr_to_vector_cuda(const struct shunt_csr *a,
                                      const struct shunt_vector_layout *layout,
                                      const struct shunt_vector *v, const struct shunt_device *d,
                                      shunt_stream stream);
shunt_status shunt_csr_to_vector_host(const struct shunt_csr *a,
                                      const struct shunt_vector_layout *layout,
                                      const struct shunt_vector *v);

/* v as CSR: the very entries it was made from, stored zeros included, columns ascending.
   a's arrays are host memory with room for v->rows + 1 and v->nnz; a's index type and base
   are kept.  SHUNT_E_ARGUMENT when v is irregular.  Host only.  */
shunt_status shunt_vector_to_csr_host(const struct shunt_vector *v, struct shunt_csr *a);

/* What packing would make of a, its rows in the order of row_of (NULL: as they stand).  */
struct shunt_vector_measure {
  uint64_t vectors, steps; /* as of struct shunt_vector_counts, SEQUENTIAL */
  uint64_t crowded[3];     /* groups that have no room with height 8, 4, 2 (SEQUENTIAL) */
  uint32_t irregular;      /* SHUNT_IRREGULAR: the counts mean nothing */
};

/* *out: in device memory for _cuda.  Only enqueues.  Bound on the device by the entries' bytes
   where groups are many, else by the latency of a load for each 32 entries of a row.
   SHUNT_E_UNSUPPORTED: index type.  Values are not read.  */
shunt_status shunt_csr_vector_measure_cuda(const struct shunt_csr *a, const uint32_t *row_of,
                                           struct shunt_vector_measure *out,
                                           const struct shunt_device *d, shunt_stream stream);
shunt_status shunt_csr_vector_measure_host(const struct shunt_csr *a, const uint32_t *row_of,
                                           struct shunt_vector_measure *out);

/* nnz / (8 x vectors). */
double shunt_vector_measured_fill(const struct shunt_csr *a, const struct shunt_vector_measure *m);
/* Of 8, 4, 2, 1 the nearest to the entries of a vector, which a shape is chosen by. */
int shunt_vector_measured_entries(const struct shunt_csr *a, const struct shunt_vector_measure *m);

/* The tallest height with which every group has room. */
int shunt_vector_measured_height(const struct shunt_vector_measure *m);

/* Entries / stored elements of a packed matrix, 0 .. 1; 1 when there are none. */
double shunt_vector_fill(const struct shunt_vector *v, const struct shunt_vector_counts *counts);

/* Where the steps of group g begin, when the groups before it hold `before` entries:

     begin = before * multiplier / divisor + g * slack

   A group of e entries has at most e / min(height, 8) vectors, and a step takes 16 of them.
   WINDOWED orders get half as much again, and some steps for vectors about to leave the window. The
   last group, which may have fewer rows, has room for every column.  With a row_of, entries before
   are those of the rows that it puts before.  */
struct shunt_vector_room {
  int64_t multiplier, divisor, slack;
  int64_t steps; /* in all; 0: cannot be packed */
};
struct shunt_vector_room shunt_vector_room(const struct shunt_csr *a,
                                           const struct shunt_vector_layout *layout);

#ifdef __cplusplus
}
#endif
#endif
