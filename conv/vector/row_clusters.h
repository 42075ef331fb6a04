/* row_clusters.h: an order of a matrix' rows that puts rows with similar columns next to each
   other, eight and eight, for formats that pack groups of 8 rows (kernels/vector/vector_format.h).

     row_of[i] is the row that stands at place i;  groups: places 8g .. 8g + 7

       row 0   a . . b .        place 0   row 0   a . . b .
           1   . c d . .              1       2   e . . f .      groups of two: 2 + 2 vectors
           2   e . . f .              2       1   . c d . .      where there were 4 + 4
           3   . g h . .              3       3   . g h . .

   The product with permuted rows of A has its rows permuted alike, so a kernel only has to store
   place i at row row_of[i].

   1. Rows whose columns are the same set: sorted by a hash of the set, every 8 of a run make a
      group.  All of them are found.  (Different sets with one hash: less than one matrix in 500.
      They cost fill, not correctness.)
   2. The rest is sorted by two minima of hashes over a row's columns (MinHash: rows with similar
      sets come together, the likelier the more similar) and cut into windows of 8192.  In each, a
      row's leader is the first that is at least half as similar to it as the most similar is: rows
      that belong together have one leader.  Eight rows with one leader make a group.
   3. What is left is sorted by two other minima, of the leaders, and cut into windows of 512.  In
      each, the first row that has no group yet and the seven most similar to it make one.

   Similarity, intersection over union, is estimated from 32 more minima, a byte each (one
   permutation hashing: column c belongs to bin h(c) % 32, a bin's minimum is over its columns).  8
   x 1 vectors whose rows were shuffled are found again, at up to 8192 rows, where each row has lost
   30 % of its entries: fill 0.70, from 0.16 (4096 x 4096, 10 %); of 50 %, half of them.

   What it is worth is for the caller to say: shunt_csr_vector_measure_* (conv/vector/vector_conv.h)
   counts vectors with and without an order.  Random patterns gain nothing.

   Any matrix: indices are hashed, never followed; rows whose offsets are out of range count as
   empty.  row_of is always a permutation.  Deterministic; the two functions write the same
   bytes.  Values are not read and may be NULL.  */
#ifndef SHUNT_CONV_ROW_CLUSTERS_H
#define SHUNT_CONV_ROW_CLUSTERS_H

#include "kernels/common/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of scratch for `a`, of which sizes and index type are read, no arrays; 0: not to be had
   (no rows, 2^31 - 1024 rows or more, index type).  */
size_t shunt_row_clusters_cuda_bytes(const struct shunt_csr *a);
size_t shunt_row_clusters_host_bytes(const struct shunt_csr *a);

/* row_of: [a->rows].  scratch: 256-byte aligned, of the memory that row_of lies in.  Device: only
   enqueues (about 70 launches), legal in stream capture.

   SHUNT_E_UNSUPPORTED: bytes says 0.  SHUNT_E_WORKSPACE: scratch too small or misaligned.
   SHUNT_E_CUDA: a launch failed; row_of holds nothing.  */
shunt_status shunt_csr_cluster_rows_cuda(const struct shunt_csr *a, uint32_t *row_of, void *scratch,
                                         size_t scratch_bytes, const struct shunt_device *d,
                                         shunt_stream stream);
shunt_status shunt_csr_cluster_rows_host(const struct shunt_csr *a, uint32_t *row_of, void *scratch,
                                         size_t scratch_bytes);

#ifdef __cplusplus
}
#endif
#endif
