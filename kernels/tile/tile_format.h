/* tile_format.h: the `tile` format: a sparse matrix as tiles of 16 x 32, for the sparse
   tensor cores where a tile is 2:4 and for the dense ones where it is not.  16-bit values.

   (The separate layout of "Using Sparse Tensor Cores for Sparse Matrix-Matrix
   Multiplication", ETH Zurich, 2025.)

              32 columns
            +------+------+------+------+
         16 |      | 2:4  |      |dense |   block row 0      zero tiles are not stored
            +------+------+------+------+
            | 2:4  |dense |      | 2:4  |   block row 1
            +------+------+------+------+

   2:4     no aligned four columns of a row of the tile hold more than two entries, perhaps
           after the tile's columns were put in another order: one mma.sp.m16n8k32 for
           each 8 columns of B
   dense   the others; cut into halves of 16 x 16, each one mma.m16n8k16; a half without an
           entry is not stored

   The two kinds stand in lists of their own, ordered by block row, then by column:

     begin   [blocks + 1]      block row b has tiles begin[b] .. begin[b + 1] - 1
     column  [tiles]           the tile's first column, over 32 (over 16 in the dense list)
     values  [tiles][32][8]    lane l's registers of the A operand: 16 bytes, one load
     present [tiles][32]       bit i of byte l: value i of lane l is an entry of A

   Who holds what (g = l / 4, t = l % 4; a[j] = values 2j and 2j + 1 of the lane):

              2:4, row and quad              dense, row and columns
     a[0]     g,     quad t                  g,     2t,     2t + 1
     a[1]     g + 8, quad t                  g + 8, 2t,     2t + 1
     a[2]     g,     quad t + 4              g,     2t + 8, 2t + 9
     a[3]     g + 8, quad t + 4              g + 8, 2t + 8, 2t + 9

   Quad q is columns 4q .. 4q + 3 of the tile.  Its two values stand at the two positions
   that its four bits of metadata name, the lower one first (ordered metadata):

     metadata [tiles][16]      sparsity selector 0: the words of lanes 4g and 4g + 1

     word 2g      of lane 4g        bit  31 .. 28       ..   19 .. 16  15 .. 12  ..   3 .. 0
                                         row g + 8, quads 3 .. 0       row g, quads 3 .. 0
     word 2g + 1  of lane 4g + 1         row g + 8, quads 7 .. 4       row g, quads 7 .. 4
     four bits of a quad            high two: position of the second value; low two: of the first

   so lane l loads word 2g + t % 2 (what lanes with t > 1 hold is not looked at).  A quad with
   fewer than two entries is filled up with zeros, at the next position, or at the last
   quad's end the one before.  (PTX ISA, "Sparse matrix storage" and "Matrix fragments for sparse
   mma.m16n8k32 with .f16 and .bf16 types"; equal pairs are invalid.)

     order   [tiles][32]       column p of the packed tile is column order[p] of the tile; NULL:
                               all stand as they are

   A kernel undoes the order where it reads B: row order[p] of the strip in the place of row p.
   With ldmatrix that costs one byte a lane, for each lane gives the address of one row.  The
   orders made are, where possible, such that order[8m] .. order[8m + 7] differ modulo 8, so that
   eight rows read at once can lie on different banks.

   A kernel that brings A by chunks of 64 columns finds a block row's tiles there without walking
   its lists:

     chunk   [ceil(cols / 64)][blocks]    where the first of them are in both lists, and what they
                               are; NULL where tiles are few, so that the table would be large

     kinds   bit    7    6  |  5    4  |  3     2   |  1     0
                  right half|left half |  in another|  as they     of the second and the
                  of a dense tile      |  order, 2:4|  stand, 2:4  first strip of the chunk

   Merged columns: instead of aligned 32 columns a tile has the next 32 that any of the block
   row's 16 rows has an entry in.  What few rows share takes fewer tiles, and fewer rows of B
   (of magnitude-pruned weights at 0.9, 0.95, 0.98 some 0.81, 0.56, 0.28 of all):

     block row   a . . b . . . . c . . . . . . . d . e .    ->    tile  a b c d e ..

     gather  [tiles][32]       the column at each position of the packed tile (half); where a tile
             [halves][16]      has fewer columns: its first one again

   then column, order and chunk are NULL; otherwise gather is.

   Zeros that only fill a tile up meet rows of B which the original never multiplies.
   0 x NaN and 0 x Inf are NaN, and a sum never recovers from one; 0 x anything else adds
   nothing.  Hence the rule for every product over this format:

     A sum that is NaN is computed again from the entries alone, as `present` names them.
     All other sums are right as they are.

   If the NaN came from entries, stored zeros included, it comes again.  So B need not be
   looked at beforehand, and one NaN in B costs only the sums that it reaches.

   There is no int8 form: m16n8k64 wants tiles of 16 x 64 with metadata in all four lanes of a
   group, which is another cut of the matrix and not this one with other values.

   All arrays are device memory (host memory for *_host functions) in one allocation that
   belongs to the caller; conv/tile/tile_conv.h makes them.  */
#ifndef SHUNT_TILE_FORMAT_H
#define SHUNT_TILE_FORMAT_H

#include "kernels/common/types.h"

#ifdef __CUDACC__
#define SHUNT_TILE_INLINE static __host__ __device__ __forceinline__
#else
#define SHUNT_TILE_INLINE static inline
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SHUNT_TILE_ROWS = 16,
  SHUNT_TILE_COLS = 32,  /* of a tile */
  SHUNT_TILE_HALF = 16,  /* columns of half a dense tile */
  SHUNT_TILE_CHUNK = 64, /* columns of two tiles */
  SHUNT_TILE_QUADS = 8,  /* of a tile's row */
  SHUNT_TILE_LANES = 32,
  SHUNT_TILE_PER_LANE = 8, /* values */
  SHUNT_TILE_VALUES = 256, /* of a packed tile of either list */
  SHUNT_TILE_WORDS = 16    /* of metadata */
};

/* What a matrix is made of; written by the conversion, all but the last also by the census. */
struct shunt_tile_census {
  uint64_t sparse;         /* tiles in the 2:4 list, */
  uint64_t reordered;      /* of which so many are 2:4 only in another order of columns */
  uint64_t dense;          /* tiles that are not 2:4, */
  uint64_t halves;         /* and the halves of them that hold entries */
  uint64_t sparse_entries; /* of A in the 2:4 list; padding = 256 sparse - sparse_entries */
  uint64_t dense_entries;  /* in the dense list; padding = 256 halves - dense_entries */
  uint32_t irregular;      /* SHUNT_IRREGULAR: the packed matrix must not be used */
};

struct shunt_tile_list {
  int64_t room; /* tiles (halves) that there is memory for */
  uint32_t *begin, *column, *gather;
  uint16_t *values;
  uint8_t *present;
};

struct shunt_tile_chunk {
  uint32_t sparse, dense; /* in the lists: the first tile (half) that is not left of the chunk */
  uint32_t kinds;
};

struct shunt_tile {
  int64_t rows, cols, nnz;
  int64_t blocks; /* rows of tiles */
  shunt_type value_type;
  struct shunt_tile_census *census;
  struct shunt_tile_list sparse, dense;
  uint32_t *metadata;
  uint8_t *order;
  struct shunt_tile_chunk *chunk;
};

/* Where value i of lane l stands: its row; its quad (2:4) or its column in the half (dense). */
SHUNT_TILE_INLINE int shunt_tile_row(int l, int i)
{
  return l / 4 + i / 2 % 2 * 8;
}
SHUNT_TILE_INLINE int shunt_tile_quad(int l, int i)
{
  return l % 4 + i / 4 * 4;
}
SHUNT_TILE_INLINE int shunt_tile_column(int l, int i)
{
  return l % 4 * 2 + i % 2 + i / 4 * 8;
}

/* Is a row of a tile, bit c for column c, 2:4 as it stands? */
SHUNT_TILE_INLINE int shunt_tile_is_24(uint32_t row)
{
  uint32_t a = row, b = row >> 1, c = row >> 2, d = row >> 3;

  return !(((a & b & (c | d)) | (c & d & (a | b))) & 0x11111111u);
}

/* Rows of the table of chunks. */
SHUNT_TILE_INLINE int64_t shunt_tile_chunks(int64_t cols)
{
  return (cols + SHUNT_TILE_CHUNK - 1) / SHUNT_TILE_CHUNK;
}

/* The metadata of a quad with entries at the bits of `quad`, at most two.  Digit i of the table
   is for quad == i; 0 where there are more.  */
SHUNT_TILE_INLINE uint32_t shunt_tile_pair(uint32_t quad)
{
  return (uint32_t)(UINT64_C(0x000e0dce098e4944) >> (4 * (quad & 15))) & 15;
}

#ifdef __cplusplus
}
#endif
#endif
