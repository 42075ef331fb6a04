/* tile_chunk.h: an entry of the `tile` format's table of chunks, from the finished lists.  For
   host and device.

   A block row's tiles stand ascending in both lists, so the first of them in the chunk is found
   by bisection; those behind it, at most two 2:4 tiles and four halves, tell the kinds:

     list of block row b   | .. | 2c - 3 | 2c | 2c + 1 | 2c + 6 | ..      strips of chunk c:
                                          ^ first                          2c, 2c + 1  */
#ifndef SHUNT_CONV_TILE_CHUNK_H
#define SHUNT_CONV_TILE_CHUNK_H

#include "kernels/tile/tile_format.h"

/* The first tile of block row b, of its list, whose column is not below `column`. */
SHUNT_TILE_INLINE uint32_t shunt_tile_first(const struct shunt_tile_list *list, int64_t b,
                                            int64_t column)
{
  uint32_t low = list->begin[b], high = list->begin[b + 1];

  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if ((int64_t)list->column[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Do the columns of a 2:4 tile stand as they are? */
SHUNT_TILE_INLINE int shunt_tile_is_natural(const struct shunt_tile *v, uint32_t tile)
{
  for (int c = 0; v->order && c < SHUNT_TILE_COLS; c++)
    if (v->order[(int64_t)tile * SHUNT_TILE_COLS + c] != c) return 0;
  return 1;
}

SHUNT_TILE_INLINE struct shunt_tile_chunk shunt_tile_find_chunk(const struct shunt_tile *v,
                                                                int64_t b, int64_t chunk)
{
  struct shunt_tile_chunk found = {shunt_tile_first(&v->sparse, b, 2 * chunk),
                                   shunt_tile_first(&v->dense, b, 4 * chunk), 0};

  for (uint32_t i = found.sparse; i < v->sparse.begin[b + 1]; i++) {
    int64_t strip = (int64_t)v->sparse.column[i] - 2 * chunk;
    if (strip > 1) break;
    found.kinds |= UINT32_C(1) << (strip + (shunt_tile_is_natural(v, i) ? 0 : 2));
  }
  for (uint32_t i = found.dense; i < v->dense.begin[b + 1]; i++) {
    int64_t half = (int64_t)v->dense.column[i] - 4 * chunk;
    if (half > 3) break;
    found.kinds |= UINT32_C(1) << (4 + half / 2 + half % 2 * 2);
  }
  return found;
}

#endif
