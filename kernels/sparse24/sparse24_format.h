/* sparse24_format.h: the `sparse24` format: a matrix of which every aligned four columns of a row
   hold at most two entries, whole, for wgmma.sp (kernels/ptx/wgmma_sparse.cuh).  Values of 16 bits;
   int8 below.

   Weights pruned to 2:4 are such matrices.  All of A is stored, in tiles of 64 x 64 that follow
   each other along the rows; rows are filled up to an even number of bands, since a block of the
   kernel takes two:

              64 columns
            +------+------+--  --+
         64 |  0   |  1   |  ..  |   band 0
            +------+------+--  --+
            |chunks|  ..         |   band 1       tile = band x chunks + chunk
            +------+------+--  --+

   A tile is so many bytes (shunt_sparse24_tile_bytes), in the order in which shared memory is to
   have it, so that one bulk copy brings it:

     values    [4][8][8][8]   16 columns, 8 rows, row of them, value: matrices of 8 x 16 bytes,
                              K-major, not swizzled; 1024 bytes to the next 16 columns,
                              128 to the next 8 rows
     metadata  [128]          the word of lane l of the warpgroup

   The row's 16 columns are four quads, and of each quad two values are stored at the two positions
   that its four bits of metadata name, the lower one first.  With row = 16 w + 8 h + g
   (h < 2, g < 8), half h of word 32 w + 4 g + t has columns 16 t .. 16 t + 15 of the tile:

     word   bit  31 .. 28      ..   19 .. 16   15 .. 12       ..    3 .. 0
                 row 16 w + 8 + g, quads 3 .. 0   row 16 w + g, quads 3 .. 0
     four bits of a quad: high two: position of the second value; low two: of the first

   so that a tile's two products of 32 columns take their metadata from lanes with t = 0, 1
   (sparsity selector 0) and t = 2, 3 (selector 1) of one register.  (PTX ISA, "Matrix fragments
   for warpgroup-level multiply-accumulate operation with sparse matrix A"; seen right on
   an H200.)

   int8: tiles of 64 x 128, the same bytes for twice the values; metadata [128][2], of the first 64
   columns and of the others, a product each.  A word has 32 columns of one row, its eight quads
   from the low bits on:

     word 32 w + 4 g + 2 t + h:  row 16 w + 8 h + g, columns 32 t .. 32 t + 31 of the 64

   A quad with fewer than two entries is filled up with zeros, at the next position, or at the
   quad's end the one before (shunt_tile_pair).  Such a zero meets a row of B which the
   original never multiplies, and 0 x NaN or 0 x Inf is NaN:

     A sum that is not NaN is right.  Where one is, C has to be computed from A's own entries.

   An entry whose value is +0 cannot be told from a zero that fills up; it needs no telling, since
   it makes NaN of NaN and Inf as well.

   Where every quad of a matrix of 16 bits is full, an entry's place in CSR's array of columns tells
   its quad, and the positions follow the tiles once more, in the array's order, so that it can be
   compared with them (kernels/sparse24/sparse24_columns.cuh).  The array is cut as for a hash
   (kernels/guard/fingerprint.h), into tiles of 4096 bytes and pieces of 16; a piece has 8 bits
   (int32: four entries) or 4 (int64: two), the first entry's in the low ones:

     positions [tiles][32 lanes][8] bytes      piece 32 j + lane of a tile: byte j of the lane

   All arrays are device memory (host memory for *_host functions) that belongs to the caller;
   conv/sparse24/sparse24_conv.h makes them.  */
#ifndef SHUNT_SPARSE24_FORMAT_H
#define SHUNT_SPARSE24_FORMAT_H

#include "kernels/tile/tile_format.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_SPARSE24_ROWS = 64,      /* of a tile */
  SHUNT_SPARSE24_ROW_BYTES = 64, /* of values of a tile's row */
  SHUNT_SPARSE24_VALUE_BYTES = SHUNT_SPARSE24_ROWS * SHUNT_SPARSE24_ROW_BYTES,
  SHUNT_SPARSE24_WORDS = 128 /* of metadata, for a product (int8) or two */
};

struct shunt_sparse24 {
  int64_t rows, cols;
  int64_t bands, chunks; /* of tiles, from top to bottom and from left to right */
  shunt_type value_type;
  void *tiles;     /* [bands][chunks][shunt_sparse24_tile_bytes] */
  void *positions; /* NULL: not every quad is full */
};

/* Does every quad of a have two entries, if it is 2:4? */
SHUNT_TILE_INLINE bool shunt_sparse24_full(const struct shunt_csr *a)
{
  return (a->value_type == SHUNT_F16 || a->value_type == SHUNT_BF16) && a->cols % 16 == 0 &&
         a->nnz == a->rows * (a->cols / 2);
}
/* Bytes of positions for so many pieces, and where a piece's is. */
SHUNT_TILE_INLINE int64_t shunt_sparse24_pieces(const struct shunt_csr *a)
{
  return a->nnz * (a->index_type == SHUNT_I64 ? 8 : 4) / 16;
}
SHUNT_TILE_INLINE int64_t shunt_sparse24_position_bytes(int64_t pieces)
{
  return (pieces + 255) / 256 * 256;
}
SHUNT_TILE_INLINE int64_t shunt_sparse24_position(int64_t piece)
{
  return piece / 256 * 256 + piece % 32 * 8 + piece % 256 / 32;
}

/* By the size of a value: columns of a tile, and its bytes. */
SHUNT_TILE_INLINE int shunt_sparse24_cols(int size)
{
  return 2 * SHUNT_SPARSE24_ROW_BYTES / size;
}
SHUNT_TILE_INLINE int shunt_sparse24_tile_bytes(int size)
{
  return SHUNT_SPARSE24_VALUE_BYTES + SHUNT_SPARSE24_WORDS * 4 * (size == 1 ? 2 : 1);
}
/* In bytes from a tile's begin: where byte `at` of a row's values is, */
SHUNT_TILE_INLINE int shunt_sparse24_value(int row, int at)
{
  return at / 16 * 1024 + row / 8 * 128 + row % 8 * 16 + at % 16;
}
/* and where the 16 bits of metadata of its 16 columns `sixteen` are. */
SHUNT_TILE_INLINE int shunt_sparse24_half(int row, int sixteen, int size)
{
  const int lane = row / 16 * 32 + row % 8 * 4, h = row / 8 % 2;
  if (size == 2) return SHUNT_SPARSE24_VALUE_BYTES + (lane + sixteen) * 4 + h * 2;
  return SHUNT_SPARSE24_VALUE_BYTES + (lane + sixteen % 4 / 2 * 2 + h) * 8 + sixteen / 4 * 4 +
         sixteen % 2 * 2;
}

#ifdef __cplusplus
}
#endif
#endif
