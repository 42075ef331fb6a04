/* tile_conv.h: CSR to the `tile` format (kernels/tile/tile_format.h) and back.

   The rules of kernels/common/device.h.  Nothing waits for the device: the memory that a
   packed matrix takes is bounded by numbers the host knows, and a matrix that does not keep
   within them, or breaks the format's conditions, is called irregular.

   COO goes through shunt_coo_to_csr_*, whose row offsets with COO's own columns and values are
   a CSR; dense through shunt_dense_to_csr_host.  */
#ifndef SHUNT_CONV_TILE_H
#define SHUNT_CONV_TILE_H

#include "kernels/common/device.h"
#include "kernels/tile/tile_format.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a matrix is to be packed, in bits:

   SHUNT_TILE_REORDER   put columns of a tile in another order where that makes it 2:4.  Of dense
                          tiles so many become 2:4 in magnitude-pruned weights: at sparsity 0.7 some
                          0.6 to 0.83, from 0.8 on nearly all; of finite-element matrices 0.56 to
                          1.0.  What is left has rows of more than 16 entries in a tile, which
                          no order helps.
   SHUNT_TILE_MERGE     tiles of the next 32 columns that have entries, not of aligned ones
   SHUNT_TILE_DENSE     all tiles are dense, 2:4 or not: what the sparse tensor cores are
                          compared with

   sparse_room, dense_room: how many 2:4 tiles and halves of dense tiles there is to be memory for,
   612 (644 where reordered, 736 where merged) and 548 (608) bytes each (and 12 for each 16 x 64 of
   the matrix, where there are more than one tile for eight of those): as a census counted them.
   -1: as many as the sizes allow, one tile an entry, which is far too much for most very sparse
   matrices.  They
   decide the memory only, not the result.  */
enum { SHUNT_TILE_REORDER = 1, SHUNT_TILE_MERGE = 2, SHUNT_TILE_DENSE = 4 };
struct shunt_tile_layout {
  int how;
  int64_t sparse_room, dense_room;
};

/* Counts a's tiles without packing them.  out: host memory; for _cuda device memory, zeroed
   inside, aligned to 8.  out->irregular as below, except that room plays no part.
   SHUNT_E_UNSUPPORTED for the index and value types and sizes that cannot be packed.  On the host
   a->values may be NULL.  */
shunt_status shunt_csr_tile_census_cuda(const struct shunt_csr *a, int how,
                                        struct shunt_tile_census *out, const struct shunt_device *d,
                                        shunt_stream stream);
shunt_status shunt_csr_tile_census_host(const struct shunt_csr *a, int how,
                                        struct shunt_tile_census *out);

/* Shares of all tiles of a rows x cols matrix (zero) and of those that are not zero (sparse,
   reordered, a part of sparse, and dense); fill: entries / values stored, 1 where none are.  */
struct shunt_tile_shares {
  double zero, sparse, reordered, dense, fill;
};
struct shunt_tile_shares shunt_tile_shares(int64_t rows, int64_t cols,
                                           const struct shunt_tile_census *census);

/* Bytes of memory for packing `a`, of which sizes and types are read, no arrays; 0: cannot be
   packed (value type not of 16 bits, a size of 0 or near 2^31, 2^31 tiles or more).  */
size_t shunt_tile_bytes(const struct shunt_csr *a, const struct shunt_tile_layout *layout);

/* The arrays of a packed `a` in `memory` (256-byte aligned, at least that many bytes);
   only pointers are computed.  False when shunt_tile_bytes says 0.  */
int shunt_tile_lay_out(const struct shunt_csr *a, const struct shunt_tile_layout *layout,
                       void *memory, struct shunt_tile *out);

/* Packs a into v, laid out before for a matrix of the same sizes and the same layout.
   v->census->irregular is SHUNT_IRREGULAR afterwards when a row's columns are not strictly
   ascending (unsorted or repeated), an index is out of range, or there are more tiles than room
   for them; v then stands for some other matrix of the same sizes, so that a kernel may run
   on it before the host knows.  Otherwise 0.  Deterministic; the two functions write the
   same bytes, and leave memory beyond the last tile of a list alone.  SHUNT_E_ARGUMENT: v is not
   for a's sizes.  */
shunt_status shunt_csr_to_tile_cuda(const struct shunt_csr *a,
                                    const struct shunt_tile_layout *layout,
                                    const struct shunt_tile *v, const struct shunt_device *d,
                                    shunt_stream stream);
shunt_status shunt_csr_to_tile_host(const struct shunt_csr *a,
                                    const struct shunt_tile_layout *layout,
                                    const struct shunt_tile *v);

/* v as CSR: the very entries it was made from, stored zeros included, columns ascending.
   a's arrays are host memory with room for v->rows + 1 and v->nnz; a's index type and base
   are kept.  SHUNT_E_ARGUMENT when v is irregular.  Host only.  */
shunt_status shunt_tile_to_csr_host(const struct shunt_tile *v, struct shunt_csr *a);

/* Looks for an order of a tile's columns that makes it 2:4 (rows[r]: bit c for column c); true
   when order[] holds one.  Heuristic, deterministic (conv/tile/host_tile_order.c).  Host only.  */
int shunt_tile_order(const uint32_t rows[SHUNT_TILE_ROWS], uint8_t order[SHUNT_TILE_COLS]);
enum { SHUNT_TILE_TRIES = 16 }; /* without and with clashes, each */

#ifdef __cplusplus
}
#endif
#endif
